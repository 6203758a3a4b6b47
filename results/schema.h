/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The standard tables: one row struct and one schema each, used by whoever
 * writes and whoever reads.
 *
 * Conventions of all rows: times are ns since the scenario's start, durations ns,
 * GPU quantities milli-GPU; -1 in a time or a duration says that it did not happen
 * or has no value; TL_ROW_NO_NODE in a node number says `none`; NaN in a double says
 * `no value`. TEXT members hold a terminated string. Node numbers are rows of /nodes,
 * job numbers are input rows, that is rows of /jobs.
 */
#ifndef TIDELAB_RESULTS_SCHEMA_H
#define TIDELAB_RESULTS_SCHEMA_H

#include "results/results.h"

#include <stdint.h>

enum {
	TL_ROW_ID_SIZE = 64,
	TL_ROW_NAME_SIZE = 64,
	TL_ROW_QUEUE_SIZE = 32,
	TL_ROW_MODEL_SIZE = 32,
	TL_ROW_REASON_SIZE = 32,
	TL_ROW_PURPOSE_SIZE = 24,
	TL_ROW_WORD_SIZE = 16
};

#define TL_ROW_NO_NODE UINT32_MAX
#define TL_ROW_NO_JOB UINT64_MAX /* of a placement: a replica of a service */

/* Names of the enumerations, by value; each ends with NULL. */

enum { TL_ROW_KIND_COUNT = 5 };
/* training, inference, evaluation, simulation, other: the order of enum tl_work_kind */
extern const char *const tl_schema_kind_names[TL_ROW_KIND_COUNT + 1];

enum { TL_ROW_STATE_COUNT = 8 };
/* pending, scheduled, running, suspending, suspended, resuming, succeeded, failed */
extern const char *const tl_schema_state_names[TL_ROW_STATE_COUNT + 1];

/* Why a job changed its state, ended, or a segment of it did. */
enum tl_reason {
	TL_REASON_NONE,
	TL_REASON_START,
	TL_REASON_READY,
	TL_REASON_COMPLETE,
	TL_REASON_USER_FAILURE,
	TL_REASON_CANCELLED,
	TL_REASON_NODE_FAILURE,
	TL_REASON_PREEMPTED,
	TL_REASON_MIGRATED,
	TL_REASON_RESUMED,
	TL_REASON_REJECTED,
	TL_REASON_INFEASIBLE,
	TL_REASON_NO_ROOM,
	TL_REASON_ESTIMATE_EXCEEDED,
	TL_REASON_KILLED,
	TL_REASON_RESTARTS_EXHAUSTED,
	TL_REASON_HORIZON,
	TL_REASON_DROPPED,
	TL_REASON_UNSUBMITTED, /* the horizon came before it */
	TL_REASON_SCALED_DOWN,
	TL_REASON_COUNT
};
extern const char *const tl_schema_reason_names[TL_REASON_COUNT + 1];

enum tl_decision {
	TL_DECISION_START,
	TL_DECISION_SUSPEND,
	TL_DECISION_RESUME,
	TL_DECISION_MIGRATE,
	TL_DECISION_RESIZE,
	TL_DECISION_SCALE,
	TL_DECISION_RESERVE,
	TL_DECISION_REJECT,
	TL_DECISION_COUNT
};
extern const char *const tl_schema_decision_names[TL_DECISION_COUNT + 1];

/* /jobs: one row a job, in input order. */
struct tl_row_job {
	char id[TL_ROW_ID_SIZE];
	char tenant[TL_ROW_NAME_SIZE];
	char kind[TL_ROW_WORD_SIZE];
	char queue[TL_ROW_QUEUE_SIZE];
	char state[TL_ROW_WORD_SIZE];
	char reason[TL_ROW_REASON_SIZE];
	int64_t submit_ns;
	int64_t first_start_ns;
	int64_t end_ns;
	int64_t gpus_milli;
	int64_t wait_ns;
	int64_t jct_ns;
	int64_t run_ns;
	int64_t requeue_ns;
	int64_t starting_ns;
	int64_t suspending_ns;
	int64_t suspended_ns;
	int64_t resuming_ns;
	int64_t lost_work_ns;
	int64_t estimate_ns;
	int64_t deadline_ns;
	int64_t late_ns;
	double bounded_slowdown;
	double productive_gpu_s;
	double held_gpu_s;
	double speed_mean;
	uint32_t workers;
	uint32_t preemptions;
	uint32_t restarts;
	uint32_t node;
};
extern const struct tl_table_schema tl_schema_jobs;

/* /transitions: one row a change of a job's state. */
struct tl_row_transition {
	int64_t t_ns;
	uint64_t job;
	uint32_t node;
	uint8_t from;  /* state */
	uint8_t to;    /* state */
	uint8_t cause; /* enum tl_reason */
};
extern const struct tl_table_schema tl_schema_transitions;

/* /cluster/timeline: one row a sample. */
struct tl_row_timeline {
	int64_t t_ns;
	int64_t capacity_mgpu;
	int64_t down_mgpu;
	int64_t allocated_mgpu;
	int64_t nominal_mgpu;
	int64_t productive_mgpu;
	int64_t pending_mgpu;
	int64_t fragmentation_mgpu;
	uint32_t free_whole_gpus;
	uint32_t pending_jobs;
	uint32_t running_jobs;
	uint32_t starting_jobs;
	uint32_t suspending_jobs;
	uint32_t suspended_jobs;
	uint32_t partial_nodes;
};
extern const struct tl_table_schema tl_schema_timeline;

/* /cluster/purposes: one row an interval of the timeline, kind of work and purpose that had
 * GPUs in it. */
struct tl_row_purpose {
	int64_t t_ns; /* end of the interval, which begins where the one before it ends */
	char kind[TL_ROW_WORD_SIZE];
	char purpose[TL_ROW_PURPOSE_SIZE];
	double gpu_s;
};
extern const struct tl_table_schema tl_schema_purposes;

/* /nodes: one row a node, in topology order. */
struct tl_row_node {
	char name[TL_ROW_NAME_SIZE];
	char model[TL_ROW_MODEL_SIZE];
	char pool[TL_ROW_MODEL_SIZE];
	int64_t cpus_milli;
	int64_t ram_bytes;
	uint64_t jobs_started;
	double allocated_gpu_s;
	double idle_gpu_s;
	double down_gpu_s;
	uint32_t gpus;
	uint32_t rack;
	uint32_t leaf;
	uint32_t pod;
	uint32_t failures;
};
extern const struct tl_table_schema tl_schema_nodes;

/* /placements: one row a segment of a job and a node, written when the segment ends. */
struct tl_row_placement {
	uint64_t job;
	int64_t gpus_mgpu;
	int64_t start_ns;
	int64_t end_ns;
	uint32_t node;
	uint8_t ended; /* enum tl_reason */
};
extern const struct tl_table_schema tl_schema_placements;

/* /decisions: one row a decision a policy asked for, carried out or refused. */
struct tl_row_decision {
	int64_t t_ns;
	uint64_t job;
	uint32_t nodes;
	uint32_t node;
	uint16_t refusal; /* 0: carried out; else the contract's status code */
	uint8_t kind;     /* enum tl_decision */
};
extern const struct tl_table_schema tl_schema_decisions;

/* /ledger: every GPU-second of capacity, once; mgpu_ns = hi × 2^64 + lo is exact. */
struct tl_row_ledger {
	char tenant[TL_ROW_NAME_SIZE];
	char kind[TL_ROW_WORD_SIZE];
	char queue[TL_ROW_QUEUE_SIZE];
	char tier[TL_ROW_WORD_SIZE];
	char purpose[TL_ROW_PURPOSE_SIZE];
	double gpu_s;
	int64_t mgpu_ns_hi;
	uint64_t mgpu_ns_lo;
};
extern const struct tl_table_schema tl_schema_ledger;

/* /faults: one row a fault that struck. */
struct tl_row_fault {
	char kind[TL_ROW_PURPOSE_SIZE];
	char service[TL_ROW_NAME_SIZE];
	int64_t t_ns;
	int64_t gpus_hit_mgpu;
	int64_t repaired_ns;
	int64_t recovered_ns;
	int64_t overload_ns;
	uint64_t dropped;
	uint64_t late;
	uint64_t preemptions;
	double lost_work_gpu_s;
	double preempted_lost_gpu_s;
	uint32_t node;
	uint32_t jobs_hit;
};
extern const struct tl_table_schema tl_schema_faults;

/* /services/<name>/windows: one row a window; the path is filled in a service. */
struct tl_row_window {
	int64_t t_ns;
	uint64_t arrivals, served, dropped, attained, queued;
	int64_t p50_ns, p95_ns, p99_ns, p999_ns, mean_wait_ns, target_ns;
	double load;
	uint32_t replicas, ready, overload;
};
extern const struct tl_table_schema tl_schema_windows;

/* /summary: one row a metric. */
struct tl_row_summary {
	char metric[TL_ROW_NAME_SIZE];
	char unit[TL_ROW_WORD_SIZE];
	double value;
	double ci_low;
	double ci_high;
};
extern const struct tl_table_schema tl_schema_summary;

/* All of the above, in the order of this header; NULL-terminated. */
extern const struct tl_table_schema *const tl_schema_all[];

/* ---- the file of a sweep ---- */

enum { TL_ROW_KEY_SIZE = 256, TL_ROW_VALUE_SIZE = 512, TL_ROW_WHY_SIZE = 400 };
enum { TL_ROW_RUN_STATE_COUNT = 4 };
extern const char *const tl_schema_run_state_names[TL_ROW_RUN_STATE_COUNT + 1];

/* /axes: one row a key that is varied, in the order given. */
struct tl_row_axis {
	char key[TL_ROW_KEY_SIZE];
	uint32_t numeric;
};
extern const struct tl_table_schema tl_schema_axes;

/* /cells: one row a cell and key. */
struct tl_row_cell {
	char key[TL_ROW_KEY_SIZE];
	char value[TL_ROW_VALUE_SIZE];
	uint32_t cell;
	uint32_t own;
};
extern const struct tl_table_schema tl_schema_cells;

/* /runs: one row a cell and seed. */
struct tl_row_run {
	char identity[TL_ROW_NAME_SIZE + 1];
	char reason[TL_ROW_WHY_SIZE];
	uint64_t seed;
	int64_t exit_code;
	uint32_t cell;
	uint8_t state; /* missing, done, failed */
};
extern const struct tl_table_schema tl_schema_runs;

/* /metrics: one row a run that is there and a metric; behind these a column an axis, of
 * its name: a number where every value of the axis is one, else a text. */
struct tl_row_metric {
	char metric[TL_ROW_NAME_SIZE];
	char unit[TL_ROW_WORD_SIZE];
	uint64_t seed;
	double value;
	double ci_low;
	double ci_high;
	uint32_t cell;
};
extern const struct tl_table_schema tl_schema_metrics;

extern const struct tl_table_schema *const tl_schema_sweep_all[];

#endif
