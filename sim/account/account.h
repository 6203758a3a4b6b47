/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The books of a trial: who held which GPU time for what (the ledger, which sums to
 * capacity exactly), the metrics, and the rows of the result tables. It is told; it
 * decides nothing.
 */
#ifndef TIDELAB_ACCOUNT_ACCOUNT_H
#define TIDELAB_ACCOUNT_ACCOUNT_H

#include "policies/abi/tidelab_policy.h"
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/intern.h"
#include "sim/base/quantile.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"
#include "sim/config/scenario.h"

#include <stdbool.h>
#include <stdint.h>

/* What a GPU's time went into. The last four belong to no job. */
enum tl_purpose {
	TL_PURPOSE_PRODUCTIVE,
	TL_PURPOSE_COMMUNICATION, /* slower than in one node */
	TL_PURPOSE_INTERFERENCE,  /* slower for co-tenants */
	TL_PURPOSE_CHECKPOINT,
	TL_PURPOSE_START, /* Scheduled */
	TL_PURPOSE_SUSPEND,
	TL_PURPOSE_RESUME,
	TL_PURPOSE_REWORK,          /* work that was lost */
	TL_PURPOSE_STANDBY,         /* a ready replica with no request in service */
	TL_PURPOSE_IDLE_RESERVED,   /* free, kept for a waiting job */
	TL_PURPOSE_IDLE_FRAGMENTED, /* free while work waits: no fit, or the policy leaves it */
	TL_PURPOSE_IDLE_FREE,       /* free while nothing waits */
	TL_PURPOSE_DOWN,
	TL_PURPOSE_COUNT
};
extern const char *const tl_purpose_names[TL_PURPOSE_COUNT];
extern const char *const tl_tier_names[TL_TIER_COUNT];
extern const char *const tl_refusal_names[TL_REFUSAL_COUNT]; /* `stale-job`, `quota` … */

/* ---- ledger ---- */

enum { TL_PURPOSE_OF_JOBS = TL_PURPOSE_IDLE_RESERVED }; /* purposes below belong to jobs */

struct tl_ledger_line {
	uint32_t tenant, kind, queue, tier;
	tl_i128 mgpu_ns[TL_PURPOSE_OF_JOBS];
};

struct tl_ledger {
	struct tl_ledger_line *lines; /* by account number, in order of first sight */
	size_t count, capacity;
	uint32_t *table; /* open addressing: account + 1, 0 empty */
	size_t table_size;
	tl_i128 idle[TL_PURPOSE_COUNT]; /* of no job: the last four */
};
void tl_ledger_init(struct tl_ledger *ledger);
void tl_ledger_fini(struct tl_ledger *ledger);
/* The account of (tenant, kind, queue, tier): a number to keep with the job. Expected O(1). */
uint32_t tl_ledger_account(struct tl_ledger *ledger, uint32_t tenant, uint32_t kind, uint32_t queue,
                           uint32_t tier);
/* mgpu_ns ≥ 0 of a purpose of jobs (both asserted). */
void tl_ledger_add(struct tl_ledger *ledger, uint32_t account, enum tl_purpose purpose,
                   tl_i128 mgpu_ns);
/* From one purpose to another (provisional work that was lost): no more than is there
 * (asserted). */
void tl_ledger_move(struct tl_ledger *ledger, uint32_t account, enum tl_purpose from,
                    enum tl_purpose to, tl_i128 mgpu_ns);
/* Over all accounts, or of no job. */
tl_i128 tl_ledger_total(const struct tl_ledger *ledger, enum tl_purpose purpose);
tl_i128 tl_ledger_sum(const struct tl_ledger *ledger); /* over everything */
/* dt_ns of a cluster at these levels, to the idle purposes. What is down is down; of the
 * rest, what is not allocated is reserved as far as reservations reach, and otherwise
 * fragmented where any job waits, free where none does. */
struct tl_levels;
void tl_ledger_idle(struct tl_ledger *ledger, const struct tl_levels *levels, int64_t dt_ns);
/* Rows of /ledger: accounts in order, purposes in order (those of 0 left out), then the
 * four idle purposes (always). Names by number. */
void tl_ledger_write(const struct tl_ledger *ledger, struct tl_table *table,
                     const struct tl_intern *tenants, const struct tl_intern *queues);

/* ---- what stands at an instant ---- */

struct tl_levels {
	int64_t capacity_mgpu, down_mgpu;
	int64_t allocated_mgpu; /* physical */
	int64_t nominal_mgpu;
	int64_t productive_mgpu; /* Σ share × speed of Running work */
	int64_t reserved_mgpu;   /* free GPUs kept by reservations */
	int64_t waiting_mgpu;    /* Σ requests of waiting jobs: Pending and Suspended */
	/* waiting_jobs: Pending and Suspended; starting_jobs: Scheduled and Resuming */
	uint32_t waiting_jobs, running_jobs, starting_jobs, suspending_jobs, suspended_jobs;
	uint32_t free_gpus, partial_nodes;
	int64_t fragmentation_mgpu; /* FGD's F, for the next sample; -1: not computed */
};

/* What is known of a job once it is done with (or at the horizon). */
struct tl_job_account {
	const char *id;
	uint64_t row; /* in input order, over all workload entries; each once */
	uint32_t tenant, queue;
	uint32_t pool; /* by which its entry names its pools; TL_NO_INDEX: it names none */
	uint8_t kind, state,
	    reason; /* enum tl_job_kind, tl_job_state, tl_reason (results/schema.h) */
	int64_t submit_ns, first_start_ns, end_ns;   /* -1 where it did not happen */
	int64_t gpus_mgpu, estimate_ns, deadline_ns; /* estimate, deadline: -1 none */
	uint32_t workers, preemptions, restarts, node;
	int64_t in_state_ns[TL_JOB_STATE_COUNT];
	int64_t lost_work_ns;                     /* reference work done and lost */
	int64_t work_ns;                          /* reference work wanted */
	int64_t done_ns;                          /* reference work done and not lost */
	tl_i128 held_mgpu_ns, productive_mgpu_ns; /* productive: that still counts */
};

/* What a service adds to what the run cost and brought, over the whole run. */
struct tl_service_account {
	tl_i128 useful_mgpu_ns; /* what was served, by its time in full batches × GPUs */
	tl_i128 penalty_micros; /* price of the requests missed */
};

/* Counters that the host keeps and the summary shows. */
struct tl_run_counts {
	uint64_t events, rounds, decisions, refused[TL_REFUSAL_COUNT], preemptions, node_failures;
	uint64_t second_starts;  /* beside another, on oversubscribed GPUs */
	uint64_t futile;         /* preemptions that cost the job more than it had done */
	uint64_t unsaved;        /* preemptions after which work was lost */
	tl_i128 unsaved_mgpu_ns; /* that work: reference time × GPUs */
	uint64_t rows_dropped;   /* by the readers */
	bool oracle_used, estimates_oracle;
};

struct tl_account_config {
	struct tl_results *results;               /* NULL: nothing is written */
	uint32_t tables;                          /* enum tl_output_table (sim/config/scenario.h) */
	const struct tl_cluster *cluster;         /* this and the names outlive the account */
	const struct tl_intern *tenants, *queues; /* names by number */
	const struct tl_intern
	    *pools; /* `A`, `A|B` as entries of the work name them; NULL: none do */
	const bool
	    *pool_serves; /* by number, and last for those that name none: services are there */
	const char *const *model_names;
	struct tl_prices prices;
};

struct tl_account; /* opaque */

/* The books open at t = 0 with the cluster as it is then, idle. Creates the tables that
 * are streamed; /jobs, /nodes, /ledger and /summary come with finish. */
enum tl_status tl_account_create(const struct tl_account_config *config, struct tl_account **out,
                                 struct tl_error *error);
void tl_account_destroy(struct tl_account *account);
struct tl_ledger *tl_account_ledger(struct tl_account *account);

/* Integrates the former levels up to now, then takes these: to be called after every
 * change (once an instant is enough: levels within an instant have no duration). O(1). */
void tl_account_levels(struct tl_account *account, int64_t now_ns, const struct tl_levels *levels);
/* A node's allocation or state has changed; integrates per node. O(GPUs of the node). */
void tl_account_node(struct tl_account *account, int64_t now_ns, uint32_t node);
/* A /cluster/timeline row of the levels as last told: tell those of now before. */
void tl_account_sample(struct tl_account *account, int64_t now_ns);
/* The rows of /cluster/purposes since the last call: what the ledger holds and what is open,
 * held but not booked yet, by kind of work. Tell the levels of now before. */
typedef tl_i128 tl_open_purposes[TL_ROW_KIND_COUNT][TL_PURPOSE_OF_JOBS];
void tl_account_purposes(struct tl_account *account, int64_t now_ns, tl_open_purposes open);
void tl_account_transition(struct tl_account *account, int64_t now_ns, uint64_t row,
                           enum tl_job_state from, enum tl_job_state to, enum tl_reason cause,
                           uint32_t node);
/* A segment of a job (TL_ROW_NO_JOB: of a replica) on a node has ended (also at the horizon). Told whether or not
 * /placements is asked for: /nodes counts the starts. */
void tl_account_placement(struct tl_account *account, uint64_t row, uint32_t node,
                          int64_t gpus_mgpu, int64_t start_ns, int64_t end_ns,
                          enum tl_reason ended);
/* node: the first one named, or TL_NO_INDEX; nodes: how many are named. */
void tl_account_decision(struct tl_account *account, int64_t now_ns, enum tl_decision what,
                         uint64_t row, enum tl_refusal answer, uint32_t node, uint32_t nodes);
/* Each fault of the run, once. */
void tl_account_fault(struct tl_account *account, const struct tl_row_fault *fault);
/* A job is done with, or stands so at the horizon: once a job, in any order. O(1)
 * amortised; keeps a compact row (≤ 150 bytes and the id) only where /jobs is asked for,
 * and nothing otherwise. */
void tl_account_job(struct tl_account *account, const struct tl_job_account *job);
/* Once a service, before finish. */
void tl_account_service(struct tl_account *account, const struct tl_service_account *service);
/* Static packing (model, Known answers), told at each static arrival once it has been
 * scheduled: the job's demand, and the cluster's allocation and fragmentation (-1: not
 * computed) as they then stand. */
void tl_account_packing(struct tl_account *account, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu);

/* A row of the summary that is not the books' own (a service's), shown after theirs in the
 * order told. Before finish. */
void tl_account_metric(struct tl_account *account, const char *metric, const char *unit,
                       double value);

/* Closes the books at the run's end, once every job has been told and every segment
 * settled up to it: asserts that the ledger equals capacity × time exactly, writes /jobs,
 * /nodes, /ledger, /summary. A table that could not be written is reported by
 * tl_results_close. */
enum tl_status tl_account_finish(struct tl_account *account, int64_t end_ns,
                                 const struct tl_run_counts *counts, struct tl_error *error);

/*
 * The summary's rows after finish: valid until destroy. The order is fixed. A value that
 * does not exist (a mean over nothing) is NaN.
 *
 *   jobs            all told; = completed + failed + cancelled + rejected + infeasible +
 *                   dropped (static packing: no room) + censored + unsubmitted
 *   censored        without an end at the horizon: counted here, left out of everything
 *                   below that needs an end
 *   unsubmitted     rows that the horizon came before: in `jobs`, and in nothing else
 *   never_started   submitted, feasible, and without a start when the run ended
 *   waited_so_far_mean_s  over those and all that started: the wait until the first start, or
 *                   until the end of the run or of the job
 *   makespan_s      first submit to the last end of a job that had started
 *   wait_*          first start − submit, over jobs that started, whether or not they ended
 *   jct_*           end − submit, over jobs that started and ended by themselves (complete,
 *                   failed or cancelled as recorded). Not over those ended from outside
 *                   (rejected, killed, out of restarts): an early death is no fast service
 *   requeue_mean_s  waiting for GPUs after the first start (suspended, or pending again),
 *                   over the jobs of wait_*
 *   bounded_slowdown_mean, jain_slowdown, ettr   over the jobs of jct_*
 *   jain_tenant_gpu_time  over tenants with a job: the GPU time each has held
 *   ettr            Σ productive / Σ (GPUs × JCT)
 *   allocation_ratio  ∫ allocated / ∫ capacity (SOR); goodput productive / allocated;
 *                   effective_utilisation productive / capacity, where productive is what
 *                   the ledger holds as such: shares, and work that was not lost
 *   progress_ratio  ∫ Σ share × speed / ∫ capacity: all progress, also such as was lost, and
 *                   above 1 where oversubscription pays
 *   gfr             mean of partly allocated nodes / nodes
 *   preemptions_*   of jobs, by the policy; unsaved: those that lost work
 *   cost            capacity × time × price, whatever the GPUs did; penalty: of the services
 *   useful_gpu_h    Σ jobs' work done and kept × GPUs, at reference speed, and of
 *                   services what they served × its time in full batches × GPUs
 *   deadline_*      only where a job had one. Judged: those that completed, or did not by the
 *                   deadline or the run's end, whichever came first; not those that ended as
 *                   recorded failures or cancellations, and not those whose deadline is beyond
 *                   the run's end. Lateness is over those that completed too late
 *   pool.NAME.*     only where the work names pools: of the jobs that name this one, whether
 *                   or not the cluster has walls
 *   until_done_*    the same: what was held until the jobs were done, and its price. With
 *                   walls a pool is held until its own jobs have ended; where services are,
 *                   until all have. NaN while any has not
 *   packing_*       share of capacity, read after the first static arrival that brings
 *                   what has been asked for to at least 0.90, 1.00, 1.30 of capacity;
 *                   only where packing was told; packing_placed: share of those jobs
 *
 * Quantiles are exact (type 7) where /jobs is asked for; otherwise within 1/4096 of the
 * value. Times and GPU times are added up as integers, so their means and ratios are right
 * to the last bits of a double whichever table is asked for.
 */
const struct tl_row_summary *tl_account_summary(const struct tl_account *account, size_t *count);

#endif
