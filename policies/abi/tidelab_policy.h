/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy contract, version 1.1: all that a scheduling policy and its host know
 * of each other. The simulator is one host; production is another; the same shared
 * object serves both. libc headers only.
 *
 * A module exports one symbol, `tidelab_module`, a const struct tl_module. It has no
 * globals that change, so two instances can live in one process. Everything runs in one
 * thread; no callback is re-entered, except that a scheduler's calls into seats nest.
 *
 * Lifetimes. A pointer that a host function returns, or that a callback is passed, is
 * valid until the outermost callback returns or until the next decision is made through
 * the host, whichever comes first, unless its comment says otherwise. Memory from
 * host->alloc is the trial's: it is freed with the trial, never by the policy.
 *
 * Units: time int64 nanoseconds since the scenario's start; GPU share in thousandths of
 * a GPU (mgpu); memory in bytes; CPU in thousandths of a core. -1 means unknown.
 *
 * Growth. A minor version only adds fields at a struct's end (arrays are walked by the
 * stride the host states) and functions at a table's end; a module states the minor
 * version it needs. Anything else is a new major version. See CHANGES.md.
 */
#ifndef TIDELAB_POLICY_H
#define TIDELAB_POLICY_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define TL_ABI_MAGIC UINT32_C(0x54444c31) /* "TDL1" */
#define TL_ABI_MAJOR 1
#define TL_ABI_MINOR 2
#define TL_MODULE_SYMBOL "tidelab_module"

#if defined(__GNUC__)
#define TL_EXPORT __attribute__((visibility("default")))
#else
#define TL_EXPORT
#endif

#define TL_TIME_NEVER INT64_MAX
#define TL_NO_INDEX UINT32_MAX

/* ---- names of things ---------------------------------------------------------- */

/* A job: slot in the lower half (an index into the job array), generation in the
 * upper. A slot is given to another job after the schedule() that listed its job as
 * ended has returned; an old id is then refused as stale. 0 is no job. */
typedef uint64_t tl_job_id;
#define TL_JOB_SLOT(id) ((uint32_t)((id)&UINT32_MAX))

enum tl_job_state {
	TL_JOB_PENDING,   /* waits for its first start */
	TL_JOB_SCHEDULED, /* holds its GPUs, starting up */
	TL_JOB_RUNNING,
	TL_JOB_SUSPENDING, /* holds its GPUs, saving; no progress */
	TL_JOB_SUSPENDED,  /* holds no GPU; waits to be resumed */
	TL_JOB_RESUMING,   /* holds its GPUs, coming back */
	TL_JOB_SUCCEEDED,
	TL_JOB_FAILED, /* failed, cancelled, rejected or killed: see the reason */
	TL_JOB_STATE_COUNT
};

enum tl_job_kind {
	TL_JOB_TRAINING,
	TL_JOB_INFERENCE,
	TL_JOB_EVALUATION,
	TL_JOB_SIMULATION,
	TL_JOB_OTHER
};

enum tl_tier { TL_TIER_BASE, TL_TIER_ELASTIC, TL_TIER_BID, TL_TIER_COUNT };

enum tl_job_flag {
	TL_JOB_PREEMPTIBLE = 1u << 0,
	TL_JOB_WARM = 1u << 1,       /* suspended with its host memory kept: resumes fast */
	TL_JOB_ELASTIC = 1u << 2,    /* resize() may be asked */
	TL_JOB_GUARANTEED = 1u << 3, /* keeps its speed before its co-tenants */
	TL_JOB_REPLICA = 1u << 4,    /* a replica of a service */
	TL_JOB_STATIC = 1u << 5 /* packing input: never departs; dropped if not started at once */
};

/* What one worker asks of one node. A worker never straddles two nodes. */
struct tl_worker {
	uint32_t gpus;            /* GPUs of the worker; 0: CPU only */
	int32_t share_mgpu;       /* of each of them, 1 … 1000; 0 where gpus is 0 */
	int64_t gpu_memory_bytes; /* on each of them */
	int64_t cpu_milli;        /* of the worker */
	int64_t ram_bytes;        /* of the worker */
};

enum tl_shape_flag {
	TL_SHAPE_ISOLATED =
	    1u << 0 /* a slice of a GPU: neither slows its co-tenants nor is slowed by
	                               them, and never one of two on a GPU whose nominal passes 1000 */
};

/* A request shape, interned by the host: jobs that ask the same share one. Valid for
 * the whole trial, at one address. */
struct tl_shape {
	uint32_t id;      /* dense, from 0 */
	uint32_t workers; /* ≥ 1: workers − 1 times `full` and once `last` */
	struct tl_worker full, last;
	uint32_t gpus;  /* in all */
	uint32_t flags; /* enum tl_shape_flag */
	int64_t total_mgpu;
	int64_t total_cpu_milli;
	int64_t total_ram_bytes;
	uint64_t model_mask; /* bit m: nodes of model m will do; all bits: any node, which is so of
	                            CPU-only work unless it is bound to a pool */
	uint64_t
	    expected_count; /* jobs of this shape in the input, as far as known before the run */
};

/* One job, as a scheduler may know it: the user's estimate, never the truth. */
struct tl_job_view {
	tl_job_id id;
	uint64_t sequence; /* order of submission; unique */
	int64_t submit_ns;
	int64_t waiting_since_ns; /* Pending, Suspended: since when; otherwise -1 */
	int64_t estimate_ns;      /* run time as estimated; -1 unknown */
	int64_t deadline_ns;      /* -1 none */
	int64_t attained_ns;      /* time in Running up to attained_mark_ns */
	int64_t attained_mark_ns; /* Running: attained now = attained_ns + (now − mark) */
	int64_t first_start_ns;   /* -1 */
	int64_t
	    expected_end_ns; /* holding GPUs: by estimate and start-up; where it is not after now, the job
	                             has outrun its estimate: read it as now + 1. TL_TIME_NEVER unknown */
	int64_t started_ns;   /* last start or resume; -1 */
	int64_t committed_ns; /* Running: what was done up to here is safe; as of the last change of
	                             speed, with further commits each checkpoint_period_ns after it. -1 */
	int64_t checkpoint_period_ns; /* 0: no periodic checkpoints */
	int64_t save_ns;              /* how long a save takes, uncontended */
	int64_t restart_ns;           /* start-up cost of the next start or resume */
	uint32_t shape;
	uint32_t tenant;
	uint32_t queue;
	int32_t priority; /* higher is more urgent */
	uint32_t service; /* replica of this service; TL_NO_INDEX */
	uint32_t preemptions;
	uint32_t restarts;
	int32_t utilisation_milli; /* measured mean GPU utilisation, 0 … 1000; -1 not yet known */
	uint8_t state;             /* enum tl_job_state */
	uint8_t kind;              /* enum tl_job_kind */
	uint8_t tier;              /* enum tl_tier */
	uint8_t flags;             /* enum tl_job_flag */
	uint32_t reserved;
};

enum tl_node_state {
	TL_NODE_UP,
	TL_NODE_CORDONED /* runs what it has, takes nothing new */,
	TL_NODE_DOWN
};

struct tl_node_view {
	int64_t free_cpu_milli, total_cpu_milli;
	int64_t free_ram_bytes, total_ram_bytes;
	int64_t free_mgpu;             /* Σ over its GPUs; 0 while not up */
	int64_t draining_mgpu;         /* held by Suspending work */
	uint64_t version;              /* changes with each change of the node or its GPUs, but for
	                                  what they are measured to use */
	uint32_t first_gpu, gpu_count; /* its GPUs: [first_gpu, first_gpu + gpu_count) */
	uint32_t free_gpus;            /* wholly free ones; 0 while not up */
	uint32_t model;                /* of its GPUs, each pool's apart; TL_NO_INDEX: none */
	uint32_t rack, leaf, pod;      /* dense numbers */
	uint32_t state;                /* enum tl_node_state, as the monitor shows it: until a
	                                  failure is seen the node and its jobs look as before */
};

struct tl_gpu_view {
	int64_t free_memory_bytes, total_memory_bytes;
	uint32_t node;
	int32_t
	    free_mgpu; /* of 1000 physical, never below 0 whatever is asked; 0 while the node is not up */
	int32_t
	    nominal_mgpu; /* asked by all residents; may pass 1000 where sharing is oversubscribed */
	int32_t draining_mgpu; /* of them, held by Suspending work */
	uint32_t residents;
	int32_t utilisation_milli; /* the sum of its residents', 1000 at the most; 0 without any, -1
	                              while that of one is not yet known */
};

/* The machines at one instant. The live one comes from host->view; a policy may make a
 * hypothetical one of its own by copying the two arrays (policies/lib/view.h). */
struct tl_view {
	const struct tl_node_view *nodes; /* walk by node_stride */
	const struct tl_gpu_view *gpus;   /* walk by gpu_stride */
	uint32_t node_stride, gpu_stride;
	uint32_t node_count, gpu_count;
	uint32_t free_gpus;          /* wholly free, on nodes that are up */
	uint32_t max_free_gpus_hint; /* no node has more wholly free GPUs than this */
	int64_t free_mgpu;
	int64_t capacity_mgpu; /* all GPUs × 1000, whatever their state */
	uint64_t version;      /* changes with each change of any node */
};

static inline const struct tl_node_view *tl_view_node(const struct tl_view *view, uint32_t node)
{
	return (const struct tl_node_view *)(const void *)((const char *)view->nodes +
	                                                   (size_t)node * view->node_stride);
}

/* Whether work of that mask may go to the node at all. */
static inline int tl_node_allowed(const struct tl_node_view *node, uint64_t model_mask)
{
	return model_mask == UINT64_MAX || (node->model < 64 && (model_mask >> node->model & 1));
}

static inline const struct tl_gpu_view *tl_view_gpu(const struct tl_view *view, uint32_t gpu)
{
	return (const struct tl_gpu_view *)(const void *)((const char *)view->gpus +
	                                                  (size_t)gpu * view->gpu_stride);
}

/* All jobs that have not been recycled, by slot. */
struct tl_jobs {
	const struct tl_job_view *jobs; /* walk by stride */
	uint32_t stride, count;         /* count: slots, used or not (id 0: unused) */
};

static inline const struct tl_job_view *tl_jobs_at(const struct tl_jobs *jobs, tl_job_id id)
{
	return (const struct tl_job_view *)(const void *)((const char *)jobs->jobs +
	                                                  (size_t)TL_JOB_SLOT(id) * jobs->stride);
}

/* Where a job goes: the caller owns the arrays and states their room. */
struct tl_placement {
	uint32_t *nodes; /* one a worker; the last worker last */
	uint32_t *gpus;  /* GPU numbers (of the view), worker after worker */
	uint32_t worker_count, gpu_count;
	uint32_t worker_room, gpu_room;
};

/* Distance of two GPUs, nearest first (model, Machine). */
enum tl_distance {
	TL_SAME_GPU,
	TL_SAME_PAIR, /* one PCIe switch */
	TL_SAME_NODE,
	TL_SAME_RACK,
	TL_SAME_LEAF,
	TL_SAME_POD,
	TL_ACROSS
};

struct tl_tenant_view {
	const char *name;
	int64_t quota_mgpu; /* hard; -1: none */
	int64_t held_mgpu;  /* nominal, by all its work that holds GPUs */
	uint32_t weight;
	uint32_t reserved;
};

struct tl_queue_view {
	const char *name;
	uint32_t weight;
	uint32_t waiting;             /* jobs Pending or Suspended */
	int64_t oldest_wait_since_ns; /* -1: none waits */
};

/* A service, by its last closed window as a monitor shows it. */
struct tl_service_view {
	const char *name;
	uint32_t shape;
	uint32_t tenant;
	uint32_t replicas_min, replicas_max;
	uint32_t replicas; /* wanted */
	uint32_t ready, starting;
	uint32_t reserved;
	int64_t window_start_ns, window_end_ns;
	int64_t arrivals, served, dropped, queued;
	int64_t p50_ns, p95_ns, p99_ns, p999_ns, mean_wait_ns;
	int64_t slo_p99_ns;
	int64_t
	    replica_capacity_per_ks; /* requests in 1,000 s of one ready replica at full speed */
	int64_t load_milli;          /* arrival rate / (ready × capacity) */
	int64_t breach_since_ns;     /* start of the run of breached windows up to now; -1 none */
};

struct tl_model_view {
	const char *name;
	int64_t memory_bytes;
};

/* How far all that is asked for passes what there is, in one pool of nodes (a cluster without
 * pools is one). A job may start where a GPU's share is not free, as its second resident, as
 * long as the excess of each pool it is in stays within its limit; GPU memory, CPU and RAM are
 * never oversubscribed, and one of the two at most is TL_JOB_GUARANTEED. */
struct tl_oversubscription {
	uint32_t struct_size;
	uint32_t residents;   /* most on a GPU whose nominal passes 1000; 0: no GPU's ever may */
	int64_t nominal_mgpu; /* asked by all that hold GPUs there, Suspending work included */
	int64_t excess_mgpu;  /* of it, beyond the 1000 of its GPU */
	int64_t excess_limit_mgpu; /* (ratio − 1) × capacity that is not down; may be passed only by
	                              losing nodes */
	uint32_t pool;             /* its number: dense, from 0, at most 64 of them */
	uint32_t reserved;
};

/* ---- answers ------------------------------------------------------------------- */

/* What became of a decision. Anything but ACCEPTED is counted, logged on request, and
 * changes nothing. */
enum tl_refusal {
	TL_ACCEPTED = 0,
	TL_REFUSED_STALE_JOB,       /* no such job, or its slot has been reused */
	TL_REFUSED_STATE,           /* the job's state does not allow it */
	TL_REFUSED_PLACEMENT_SHAPE, /* wrong number of workers or GPUs */
	TL_REFUSED_NO_SUCH_NODE,
	TL_REFUSED_NO_SUCH_GPU,
	TL_REFUSED_GPU_NOT_ON_NODE,
	TL_REFUSED_DUPLICATE_GPU,
	TL_REFUSED_NODE_NOT_UP,
	TL_REFUSED_MODEL,     /* the GPU model is not one the job accepts */
	TL_REFUSED_GPU_SHARE, /* not so much of the GPU is free, and a second resident may not come */
	TL_REFUSED_GPU_MEMORY,
	TL_REFUSED_CPU,
	TL_REFUSED_RAM,
	TL_REFUSED_QUOTA, /* the tenant's hard quota */
	TL_REFUSED_RATIO, /* the cluster's oversubscription ratio */
	TL_REFUSED_NOT_PREEMPTIBLE,
	TL_REFUSED_NOT_ELASTIC,
	TL_REFUSED_NO_SUCH_SERVICE,
	TL_REFUSED_RANGE,            /* a number outside what the scenario allows */
	TL_REFUSED_PAST,             /* an instant that is not after now */
	TL_REFUSED_OUTSIDE_SCHEDULE, /* decided outside schedule() */
	TL_REFUSED_ARGUMENT,         /* a null pointer, a negative count */
	TL_REFUSAL_COUNT
};

/* How a victim leaves. */
enum tl_suspend_mode {
	TL_SUSPEND_SAVE, /* within the scenario's grace: saved if the save ends in time */
	TL_SUSPEND_KILL  /* at once: work since the last checkpoint is lost */
};

enum tl_log_level { TL_LOG_ERROR, TL_LOG_WARNING, TL_LOG_INFO, TL_LOG_DEBUG };

/* ---- seats ---------------------------------------------------------------------- */

enum tl_seat_kind {
	TL_SEAT_SCHEDULER, /* fills the scheduling loop: `pipeline`, or a whole scheduler */
	TL_SEAT_ADMIT,
	TL_SEAT_ORDER,
	TL_SEAT_PLACE,
	TL_SEAT_PREEMPT,
	TL_SEAT_SCALE,
	TL_SEAT_DEFRAG,
	TL_SEAT_FORECAST,
	TL_SEAT_COUNT
};

struct tl_module;

/* A seat as filled by the scenario; module NULL where it is empty. Valid for the trial. */
struct tl_seat {
	const struct tl_module *module;
	const void *ops; /* the seat's ops struct, e.g. const struct tl_order_ops * */
	void *self;
};

/* ---- the host -------------------------------------------------------------------- */

/* Handed to create(); valid for the whole trial. Functions take the host first. */
struct tl_host {
	uint32_t struct_size;
	uint32_t abi_minor;
	void *ctx; /* the host's own */

	/* Reads. */
	int64_t (*now)(const struct tl_host *host);
	const struct tl_view *(*view)(const struct tl_host *host);
	struct tl_jobs (*jobs)(const struct tl_host *host);
	/* NULL where the id is stale. */
	const struct tl_job_view *(*job)(const struct tl_host *host, tl_job_id id);
	/* Pending and Suspended jobs; jobs that hold GPUs. Contiguous, in a deterministic
	 * order that means nothing. */
	const tl_job_id *(*waiting)(const struct tl_host *host, uint32_t *count);
	const tl_job_id *(*holding)(const struct tl_host *host, uint32_t *count);
	/* NULL where there is no such shape. Shapes live as long as the trial. */
	const struct tl_shape *(*shape)(const struct tl_host *host, uint32_t shape);
	uint32_t (*shape_count)(const struct tl_host *host);
	/* Where a job that holds GPUs sits, or where a warm Suspended one left its memory (it
	 * resumes fast only on those nodes): 0, or -1 where there is no such place. The arrays
	 * are the host's. */
	int (*allocation)(const struct tl_host *host, tl_job_id id, struct tl_placement *out);
	/* Jobs on a GPU, in order of their coming. */
	const tl_job_id *(*gpu_jobs)(const struct tl_host *host, uint32_t gpu, uint32_t *count);
	enum tl_distance (*distance)(const struct tl_host *host, uint32_t gpu_a, uint32_t gpu_b);
	const struct tl_model_view *(*model)(const struct tl_host *host, uint32_t model);
	const struct tl_tenant_view *(*tenant)(const struct tl_host *host, uint32_t tenant);
	const struct tl_queue_view *(*queue)(const struct tl_host *host, uint32_t queue);
	const struct tl_service_view *(*service)(const struct tl_host *host, uint32_t service);
	uint32_t (*tenant_count)(const struct tl_host *host);
	uint32_t (*queue_count)(const struct tl_host *host);
	uint32_t (*service_count)(const struct tl_host *host);

	/* Decisions: inside schedule() only. Each is carried out before it returns, so the
	 * next read sees it. */
	enum tl_refusal (*start)(const struct tl_host *host, tl_job_id id,
	                         const struct tl_placement *where); /* a Pending or Suspended job */
	enum tl_refusal (*suspend)(const struct tl_host *host, tl_job_id id,
	                           enum tl_suspend_mode mode);
	/* Takes the target now, saves, then resumes there. None of the target's GPUs may be one
	 * that the job is on. */
	enum tl_refusal (*migrate)(const struct tl_host *host, tl_job_id id,
	                           const struct tl_placement *where);
	/* role: 0 but in groups of roles. */
	enum tl_refusal (*resize)(const struct tl_host *host, tl_job_id id, uint32_t role,
	                          uint32_t workers, const struct tl_placement *where);
	enum tl_refusal (*scale)(const struct tl_host *host, uint32_t service, uint32_t replicas);
	/* States that these GPUs are kept for a waiting job until it starts (for the books and
	 * for explain; the policy itself must keep others off). Replaces the job's former
	 * reservation; count 0 withdraws it. */
	enum tl_refusal (*reserve)(const struct tl_host *host, tl_job_id id, int64_t at_ns,
	                           const uint32_t *gpus, uint32_t count);
	/* Ends a waiting job as Failed. The text is copied. */
	enum tl_refusal (*reject)(const struct tl_host *host, tl_job_id id, const char *why);

	/* schedule() is called at that instant (> now), with TL_WHY_WOKEN. An instance has one
	 * wake: the earliest asked and not yet come; ask again when woken. Also allowed in
	 * create() and observers. */
	enum tl_refusal (*wake_at)(const struct tl_host *host, int64_t at_ns);

	/* Help. */
	uint64_t (*random)(const struct tl_host *host); /* the instance's own stream */
	/* Zeroed, for the trial's life; NULL where memory is out. For set-up and growth, not
	 * for each event. */
	void *(*alloc)(const struct tl_host *host, size_t size);
	void (*log)(const struct tl_host *host, enum tl_log_level level, const char *text);
	/* Whether anybody asks why this job waits or starts: format a reason only then. */
	int (*explaining)(const struct tl_host *host, tl_job_id id);
	void (*explain)(const struct tl_host *host, tl_job_id id, const char *text);
	/* The seats of this scenario, each created on first call. For schedulers. */
	struct tl_seat (*seat)(const struct tl_host *host, enum tl_seat_kind kind);
	/* NULL where the host does not have it. */
	const void *(*extension)(const struct tl_host *host, const char *id);
	/* The job's id as its owner knows it, for people; need not be unique. Valid until the
	 * outermost callback returns; "" for a stale id. */
	const char *(*job_name)(const struct tl_host *host, tl_job_id id);

	/* Since 1.1. */
	/* Of the pool that nodes of this model are in, as it stands now; NULL: no such model. */
	const struct tl_oversubscription *(*oversubscription)(const struct tl_host *host,
	                                                      uint32_t model);
};

/* Extension: the truth, for bounds. Its use is stamped into the results. */
#define TL_EXTENSION_ORACLE "tidelab.oracle/1"
struct tl_oracle {
	uint32_t struct_size;
	uint32_t reserved;
	/* Run time still to go at full speed; -1 for a stale id. */
	int64_t (*remaining_ns)(const struct tl_host *host, tl_job_id id);
	/* Requests in 1,000 s that will come at an instant, bursts and incidents included; -1:
	 * no such service. */
	int64_t (*arrivals_per_ks)(const struct tl_host *host, uint32_t service, int64_t at_ns);
};

/* Extension: the plan. What a calendar of known curves and announced events says of a
 * service's traffic: no bursts, no incidents. NULL in a world without services. */
#define TL_EXTENSION_CALENDAR "tidelab.calendar/1"
struct tl_calendar {
	uint32_t struct_size;
	uint32_t reserved;
	/* Requests in 1,000 s planned at an instant, past or to come; -1: no such service. */
	int64_t (*planned_per_ks)(const struct tl_host *host, uint32_t service, int64_t at_ns);
};

/* ---- why schedule() is called ------------------------------------------------------ */

enum tl_why {
	TL_WHY_QUEUED = 1u << 0,
	TL_WHY_ENDED = 1u << 1,
	TL_WHY_RUNNING = 1u << 2,
	TL_WHY_SUSPENDING = 1u << 3,
	TL_WHY_SUSPENDED = 1u << 4,
	TL_WHY_FREED = 1u << 5, /* room on some node */
	TL_WHY_TAKEN = 1u << 6,
	TL_WHY_WINDOW = 1u << 7, /* service windows closed */
	TL_WHY_WOKEN = 1u << 8,
	TL_WHY_NODES = 1u << 9 /* a node failed or came back */
};

/* What happened since the last schedule() was entered, the policy's own decisions
 * included. Each id at most once a list, in order of happening. Ended jobs can still be
 * read until schedule() returns. Valid until schedule() returns, whatever is decided
 * (the host keeps two sets). */
struct tl_changes {
	uint32_t struct_size;
	uint32_t why; /* enum tl_why */
	const tl_job_id *queued, *ended, *running, *suspending, *suspended;
	uint32_t queued_count, ended_count, running_count, suspending_count, suspended_count;
	const uint32_t *freed, *taken; /* nodes */
	uint32_t freed_count, taken_count;
	const uint32_t *windows; /* services with a closed window */
	uint32_t window_count;
	uint32_t reserved;
};

/* ---- module ---------------------------------------------------------------------- */

enum tl_option_type {
	TL_OPTION_BOOL,     /* i: 0 or 1 */
	TL_OPTION_INT,      /* i */
	TL_OPTION_REAL,     /* f */
	TL_OPTION_DURATION, /* i: ns */
	TL_OPTION_SIZE,     /* i: bytes */
	TL_OPTION_SHARE,    /* i: mgpu */
	TL_OPTION_CHOICE,   /* i: which of `choices` */
	TL_OPTION_TEXT      /* text */
};

struct tl_option {
	const char *name; /* as in the scenario */
	enum tl_option_type type;
	const char *unit;     /* for people; "" where it has none */
	const char *standard; /* the default, as one would write it */
	double min, max; /* inclusive, in the value's unit (ns, bytes, mgpu); both 0: no range */
	const char *choices; /* CHOICE: `a|b|c` */
	const char *help;    /* one line: what it does, what goes wrong if too high or low */
};

/* One a row of the module's option table, in its order. */
struct tl_option_value {
	int64_t i;
	double f;
	const char *text; /* valid for the trial */
};

enum tl_capability {
	TL_NEEDS_ESTIMATES = 1u << 0, /* poor without; the host warns */
	TL_NEEDS_ORACLE = 1u << 1,    /* refused where there is none */
	TL_NEEDS_SERVICES = 1u << 2,
	TL_NEVER_STARTS = 1u << 16 /* a measuring device: the stall watchdog lets it be */
};

struct tl_create {
	uint32_t struct_size;
	uint32_t instance; /* number of this instance in the trial */
	const struct tl_option_value *options;
	char *error; /* why create() failed: a line, at most error_size bytes with NUL */
	size_t error_size;
};

/* Observers inform and never decide; each may be NULL. Called as it happens. */
struct tl_observer_ops {
	uint32_t struct_size;
	uint32_t reserved;
	void (*job_submitted)(void *self, const struct tl_job_view *job);
	/* After every change of state, the first start and the end included. */
	void (*job_state_changed)(void *self, const struct tl_job_view *job,
	                          enum tl_job_state from);
	void (*node_changed)(void *self, uint32_t node, const struct tl_node_view *view);
	void (*window_closed)(void *self, uint32_t service, const struct tl_service_view *view);
};

struct tl_module {
	uint32_t magic;       /* TL_ABI_MAGIC */
	uint32_t struct_size; /* sizeof(struct tl_module) */
	uint16_t abi_major, abi_minor;
	uint32_t seat; /* enum tl_seat_kind */
	uint64_t capabilities;
	const char *name; /* as in the scenario; equals the file's name */
	const char *version;
	const char *summary; /* one line */
	const struct tl_option *options;
	uint32_t option_count;
	uint32_t option_stride; /* sizeof(struct tl_option) */
	/* Makes an instance: 0, or -1 with a line in create->error. The host lives as long as
	 * the instance. Called before the first event. Mandatory. */
	int (*create)(const struct tl_host *host, const struct tl_create *create, void **self);
	/* Last call. May be NULL: host->alloc memory needs no freeing. */
	void (*destroy)(void *self);
	const struct tl_observer_ops *observer; /* may be NULL */
	const void *ops;                        /* struct tl_<seat>_ops of the seat; mandatory */
};

/* ---- the seats' operations ---------------------------------------------------------- */

struct tl_scheduler_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Once an instant, after all that happens at it, and again at the same instant if its
	 * decisions brought about events at it. Mandatory. */
	void (*schedule)(void *self, const struct tl_changes *changes);
};

enum tl_verdict { TL_ADMIT, TL_HOLD, TL_REJECT };

struct tl_admit_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* At submission: ADMIT or REJECT (then *why is a line, valid for the trial). Mandatory. */
	enum tl_verdict (*screen)(void *self, const struct tl_job_view *job,
	                          const struct tl_shape *shape, const char **why);
	/* Just before a start: ADMIT or HOLD. A held job is asked again once work of its tenant
	 * has freed room. May be NULL. */
	enum tl_verdict (*gate)(void *self, const struct tl_job_view *job,
	                        const struct tl_shape *shape, const char **why);
};

/* Order at instant t ≥ now: key + slope × (t − now); the lesser goes first, ties by the
 * job's sequence number. Keep |key| below 2^62. */
struct tl_key {
	int64_t key;
	int64_t slope_per_ns;
	int64_t valid_until_ns; /* from then on keys() is asked again; TL_TIME_NEVER */
};

struct tl_order_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Keys of n jobs, waiting or holding. A function of the jobs' views, now, and what the
	 * observers have told; asking twice gives the same. Mandatory. */
	void (*keys)(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
	             int64_t now_ns, struct tl_key *out);
};

struct tl_place_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Room for the shape on this view, which may be hypothetical: 1 with *out filled, or 0
	 * with *out undefined. A pure function of view and shape (draw ties from a hash of
	 * view->version and shape, not from host->random), and complete: it returns 0 only
	 * where the shape does not fit. Cost: state it. Mandatory. */
	int (*choose)(void *self, const struct tl_view *view, const struct tl_shape *shape,
	              struct tl_placement *out);
};

/* A job that does not fit, and whom it could displace. */
struct tl_shortfall {
	uint32_t struct_size;
	uint32_t candidate_count;
	const struct tl_job_view *job; /* who needs room */
	const struct tl_shape *shape;
	int64_t key;                   /* its order key now */
	const tl_job_id *candidates;   /* preemptible, Running, latest in order first */
	const int64_t *candidate_keys; /* their keys now */
	struct tl_jobs jobs;
	int64_t now_ns;
	/* Whether the job would fit once these victims (and all that drains already) are gone:
	 * a dry run on a hypothetical view. */
	int (*fits)(const struct tl_shortfall *ask, const tl_job_id *victims, uint32_t count);
	void *ctx; /* the caller's */
};

struct tl_victims {
	tl_job_id *ids; /* room for candidate_count */
	uint32_t count;
	enum tl_suspend_mode mode;
	/* 0: all at once; otherwise stop victims of one node, wait so long, go on. The pace is
	 * the cluster's: while several jobs wait for victims, it is theirs together. */
	int64_t step_ns;
};

struct tl_preempt_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* 1 with victims that make room, or 0 to let the job wait. Mandatory. */
	int (*choose)(void *self, const struct tl_shortfall *ask, struct tl_victims *out);

	/* Since 1.2. The step_ns from now on of victims that are being stopped step by step for
	 * this waiting job; 0: the rest go at once. Asked at each schedule() in which some of them
	 * still run, with the step they have now. Decided by the job, what is known of its service,
	 * and now alone. May be NULL: the step stays. */
	int64_t (*pace)(void *self, const struct tl_job_view *job, int64_t now_ns, int64_t step_ns);
};

struct tl_scale_target {
	uint32_t service;
	uint32_t replicas;
};

struct tl_scale_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* After windows closed or on a wake: wanted replica counts, at most `room` of them;
	 * returns how many. Mandatory. */
	uint32_t (*targets)(void *self, int64_t now_ns, const struct tl_changes *changes,
	                    struct tl_scale_target *out, uint32_t room);
};

struct tl_move {
	tl_job_id job;
	struct tl_placement where; /* arrays from the policy, valid until the next call */
};

struct tl_defrag_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* The next move worth making on this view: 1, or 0 for none now. Asked until it says 0.
	 * Mandatory. */
	int (*next)(void *self, const struct tl_view *view, int64_t now_ns, struct tl_move *out);
};

struct tl_forecast_ops {
	uint32_t struct_size;
	uint32_t reserved;
	/* Expected requests in 1,000 s of a service at an instant to come; -1: cannot say. */
	int64_t (*rate_per_ks)(void *self, uint32_t service, int64_t at_ns);
};

/* ---- layout ------------------------------------------------------------------------- */

static_assert(sizeof(void *) == 8, "the contract is for 64-bit platforms");
static_assert(sizeof(struct tl_worker) == 32, "layout of tl_worker");
static_assert(offsetof(struct tl_shape, total_mgpu) == 80, "layout of tl_shape");
static_assert(sizeof(struct tl_shape) == 120, "layout of tl_shape");
static_assert(offsetof(struct tl_job_view, shape) == 120, "layout of tl_job_view");
static_assert(sizeof(struct tl_job_view) == 160, "layout of tl_job_view");
static_assert(sizeof(struct tl_node_view) == 88, "layout of tl_node_view");
static_assert(sizeof(struct tl_gpu_view) == 40, "layout of tl_gpu_view");
static_assert(sizeof(struct tl_view) == 64, "layout of tl_view");
static_assert(sizeof(struct tl_placement) == 32, "layout of tl_placement");
static_assert(sizeof(struct tl_oversubscription) == 40, "layout of tl_oversubscription");
static_assert(offsetof(struct tl_host, oversubscription) == 288, "layout of tl_host");
static_assert(sizeof(struct tl_changes) == 112, "layout of tl_changes");
static_assert(sizeof(struct tl_option) == 64, "layout of tl_option");
static_assert(offsetof(struct tl_module, name) == 24, "layout of tl_module");
static_assert(sizeof(struct tl_module) == 96, "layout of tl_module");
static_assert(sizeof(struct tl_key) == 24, "layout of tl_key");
static_assert(offsetof(struct tl_preempt_ops, pace) == 16, "layout of tl_preempt_ops");

/* What a module's source ends with: `TL_MODULE = { … };` */
extern TL_EXPORT const struct tl_module tidelab_module;
#define TL_MODULE TL_EXPORT const struct tl_module tidelab_module
/* The first five fields of every module. */
#define TL_MODULE_HEAD(seat_kind)                                                                  \
	.magic = TL_ABI_MAGIC, .struct_size = sizeof(struct tl_module), .abi_major = TL_ABI_MAJOR, \
	.abi_minor = TL_ABI_MINOR, .seat = (seat_kind)

#endif
