/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One experiment, as read from a scenario file (or given by flags): plain data, every
 * field filled (a default where the file is silent). The schema table in schema.c is the
 * one place that names each key, its type, unit, default, range and help.
 */
#ifndef TIDELAB_CONFIG_SCENARIO_H
#define TIDELAB_CONFIG_SCENARIO_H

#include "policies/abi/tidelab_policy.h"
#include "sim/base/checksum.h"
#include "sim/base/error.h"
#include "sim/cluster/cluster.h"
#include "sim/config/service_setting.h"
#include "sim/work/sharing.h"
#include "traces/trace.h"
#include "workloads/generate.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_NAME_MAX = 64, TL_USE_MAX = 512 };

/* `option: value` of a policy module, checked later against the module's own table. */
struct tl_setting {
	char *name, *value;
	char *flag; /* where it came from one: `--set policy.order.queues`; NULL: the file */
	long line, column;
};

/* Whether a flag as told in a message (`--set policy.order`, `--horizon`) itself names the key. */
bool tl_flag_names_key(const char *flag, const char *key);

/* policy.<seat>: NAME or {use: NAME, option: value …}. */
struct tl_seat_setting {
	char use[TL_USE_MAX]; /* empty: seat not filled; with a slash: a resolved path */
	struct tl_setting *settings;
	size_t count;
	char *flag; /* as of a setting */
	long line, column;
};

enum tl_infeasible { TL_INFEASIBLE_REJECT, TL_INFEASIBLE_CLAMP };

/* workload: - {trace: …} or {generate: …} */
struct tl_workload {
	char *path; /* resolved: relative to the scenario's file; made jobs: the generator's name */
	struct tl_trace_options trace;
	bool is_made;
	struct tl_generate_options generate; /* made jobs: settled */
	char queue[TL_NAME_MAX];             /* for rows that state none; empty: the middle queue */
	char tenant[TL_NAME_MAX];            /* all rows to this tenant; empty: as recorded */
	char pool[TL_POOLS_MAX];             /* `A|B`: where its jobs go; empty: anywhere */
	uint64_t pool_mask;                  /* the cluster's models of those; 0: any */
	int kind;                            /* enum tl_work_kind for all rows; -1: as recorded */
	enum tl_infeasible infeasible;
	long line, column;
};

enum tl_estimates { TL_ESTIMATES_TRACE, TL_ESTIMATES_EXACT, TL_ESTIMATES_NOISY };

/* The cost of things (model §4, §5). All zero-cost under `physics: ideal`. */
struct tl_physics {
	bool ideal;
	/* start: flat cold restart, by size of the job; warm resume as a share of it */
	int64_t cold_small_ns, cold_large_ns; /* 45 s, 70 s */
	uint32_t cold_small_gpus;             /* 8 */
	int32_t warm_milli;                   /* 100 = a tenth */
	bool warm;                            /* suspended work keeps its host memory */
	/* checkpoint */
	int64_t checkpoint_interval_ns; /* 300 s; 0: none; -1: optimal (Young/Daly) */
	int64_t checkpoint_base_ns;     /* 1 s */
	int64_t checkpoint_bytes_per_s; /* 1 GB/s a writer */
	int64_t storage_bytes_per_s;    /* 10 GB/s for all grace saves together */
	int64_t state_bytes;            /* where the trace is silent: 4 GB */
	bool checkpoint_async;          /* stall instead of blocking */
	int64_t checkpoint_stall_ns;    /* 0.5 s */
	int64_t grace_ns;               /* 45 s */
	/* communication: slow-down of a gang by its widest distance */
	int32_t slow_node_milli, slow_pod_milli, slow_across_milli; /* 1000, 1020, 1050 */
	struct tl_sharing sharing;
};

struct tl_queue_setting {
	char name[TL_NAME_MAX];
	uint32_t weight;
};

struct tl_pool_setting {
	char name[TL_POOL_NAME_MAX];
	int32_t oversubscription_milli;
};

struct tl_tenant_setting {
	char name[TL_NAME_MAX];
	int64_t quota_mgpu; /* -1: none */
	uint32_t weight;
};

enum tl_fault_do { TL_FAULT_NODE_DOWN, TL_FAULT_KILL_JOBS, TL_FAULT_TRAFFIC };

/* prices: what capacity costs; money is in micro-units of the currency. */
struct tl_prices {
	int64_t gpu_hour_micros;
	char currency[8];
};

/* faults: - {at: 2d, do: node-down, nodes: 1, for: 2h} */
struct tl_fault_setting {
	enum tl_fault_do what;
	int64_t at_ns;
	int64_t for_ns;              /* node-down: until repaired; traffic: how long it holds */
	int64_t ramp_ns;             /* traffic: how long it rises, and falls after `for` */
	uint32_t service;            /* traffic: of this one; what it does is in its arrivals */
	uint32_t count;              /* nodes or jobs, drawn from the seed … */
	char node[TL_NODE_NAME_MAX]; /* … or this node by name; empty: drawn */
	long line, column;
};

/* failures: random ones, off unless asked for. */
struct tl_failures {
	double per_1000_node_days; /* 0: off; model default when asked: 4.0 */
	int64_t repair_short_ns, repair_medium_ns, repair_long_ns; /* 15 min, 2.2 h, 4 d */
	int32_t repair_short_milli, repair_medium_milli;           /* 800, 170; the rest is long */
};

enum tl_output_table {
	TL_TABLE_JOBS = 1u << 0,
	TL_TABLE_TRANSITIONS = 1u << 1,
	TL_TABLE_TIMELINE = 1u << 2,
	TL_TABLE_NODES = 1u << 3,
	TL_TABLE_LEDGER = 1u << 4,
	TL_TABLE_SUMMARY = 1u << 5,
	TL_TABLE_PLACEMENTS = 1u << 6,
	TL_TABLE_DECISIONS = 1u << 7,
	TL_TABLE_FAULTS = 1u << 8,
	TL_TABLE_WINDOWS = 1u << 9 /* of every service */
};
#define TL_TABLES_DEFAULT                                                                          \
	(TL_TABLE_JOBS | TL_TABLE_TRANSITIONS | TL_TABLE_TIMELINE | TL_TABLE_NODES |               \
	 TL_TABLE_LEDGER | TL_TABLE_SUMMARY | TL_TABLE_FAULTS | TL_TABLE_WINDOWS)

struct tl_scenario {
	char name[TL_NAME_MAX];
	char *path; /* of the file; NULL: by flags */
	char *
	    text; /* effective configuration, as YAML, defaults and --set included: echoed into the result */
	int64_t horizon_ns; /* TL_NEVER: until all work has ended */
	uint64_t seed;
	struct tl_cluster_spec cluster;
	int32_t oversubscription_milli; /* nominal against physical GPUs; 1000: none */
	struct tl_pool_setting *pools;  /* those with a ratio of their own */
	size_t pool_count;
	char cluster_sha256[TL_SHA256_HEX]; /* of its list of machines; empty: by groups */
	struct tl_workload *workloads;
	size_t workload_count;
	struct tl_service_setting *services;
	size_t service_count;
	int64_t window_ns; /* of services: metrics.window; 5 s */
	/* observe: what policies see is looked at so often (0: at each window's end), and so old */
	int64_t observe_interval_ns, observe_delay_ns;
	struct tl_seat_setting
	    seats[TL_SEAT_COUNT]; /* SCHEDULER's settings: every key of policy: that is no seat */
	struct tl_physics physics;
	enum tl_estimates estimates;
	double estimates_sigma; /* noisy(σ): estimate = truth × exp(σ·N(0,1)) */
	bool kill_at_estimate;
	uint32_t max_restarts; /* after failures; 3 */
	bool user_failures;    /* jobs recorded as failed or cancelled end so; else they complete */
	struct tl_queue_setting *queues; /* high 8, normal 3, low 1 */
	size_t queue_count;
	struct tl_tenant_setting *tenants; /* those with a quota or weight; others appear as met */
	size_t tenant_count;
	struct tl_fault_setting *faults;
	size_t fault_count;
	struct tl_failures failures;
	struct tl_prices prices;
	uint32_t tables;               /* enum tl_output_table */
	int64_t timeline_interval_ns;  /* 60 s */
	int64_t watchdog_stall_ns;     /* simulated time; 1 d */
	int64_t watchdog_cpu_ns;       /* CPU time without progress; 60 s */
	uint32_t watchdog_preemptions; /* of one job without progress; 100 */
};

/* One --set key=value (path `workload[0].demand`, or `workload[*].requests`: of every entry
 * that takes it), applied to the document before it is
 * validated. */
struct tl_override {
	const char *key, *value;
	const char *
	    flag; /* for messages, where it came from another flag: `--cluster`; NULL: `--set key` */
};

/* Reads, edits, validates and fills. cluster files are looked up relative to the scenario,
 * then in the data folder (workloads/clusters). *out is to be freed with tl_scenario_destroy. */
enum tl_status tl_scenario_load(const char *path, const struct tl_override *overrides,
                                size_t override_count, struct tl_scenario **out,
                                struct tl_error *error);
/* The same from text; paths in it are relative to the working folder. name stands for the
 * file in error messages. */
enum tl_status tl_scenario_parse(const char *name, const char *text,
                                 const struct tl_override *overrides, size_t override_count,
                                 struct tl_scenario **out, struct tl_error *error);
void tl_scenario_destroy(struct tl_scenario *scenario);
/* What the effective configuration says of a key, as one would write it; malloc'd. NULL
 * where that is no scalar, or nothing. */
char *tl_scenario_own(const struct tl_scenario *scenario, const char *key);

/* Where shipped data and modules are: relative to the executable (build tree), then the
 * environment (modules: TIDELAB_POLICY_PATH), then the installed place. Set once by main. */
void tl_paths_set_executable(const char *argv0);
/* Full path of a shipped cluster or scenario file (kind `clusters`, `scenarios`), or of a
 * module NAME.so; malloc'd; NULL where there is none. */
char *tl_paths_data(const char *kind, const char *name);
char *tl_paths_module(const char *name);
/* Names of the shipped files of a kind, without `.yaml`; as tl_paths_modules. */
char **tl_paths_data_names(const char *kind);
/* Names of all modules found, sorted, NULL-terminated; free with tl_paths_free. */
char **tl_paths_modules(void);
void tl_paths_free(char **names);
/* `; did you mean `x`?` or `; there are a, b, c`, of the shipped files of a kind (`clusters`,
 * `scenarios`) or the modules (NULL); returns buffer. */
const char *tl_paths_near(const char *kind, const char *got, char *buffer, size_t size);

#endif
