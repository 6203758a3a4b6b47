/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/schema.h"

const char *const tl_schema_kind_names[TL_ROW_KIND_COUNT + 1] = {
    "training", "inference", "evaluation", "simulation", "other", NULL};

const char *const tl_schema_state_names[TL_ROW_STATE_COUNT + 1] = {
    "pending",  "scheduled", "running", "suspending", "suspended",
    "resuming", "succeeded", "failed",  NULL};

const char *const tl_schema_reason_names[TL_REASON_COUNT + 1] = {
    [TL_REASON_NONE] = "none",
    [TL_REASON_START] = "start",
    [TL_REASON_READY] = "ready",
    [TL_REASON_COMPLETE] = "complete",
    [TL_REASON_USER_FAILURE] = "user-failure",
    [TL_REASON_CANCELLED] = "cancelled",
    [TL_REASON_NODE_FAILURE] = "node-failure",
    [TL_REASON_PREEMPTED] = "preempted",
    [TL_REASON_MIGRATED] = "migrated",
    [TL_REASON_RESUMED] = "resumed",
    [TL_REASON_REJECTED] = "rejected",
    [TL_REASON_INFEASIBLE] = "infeasible",
    [TL_REASON_NO_ROOM] = "no-room",
    [TL_REASON_ESTIMATE_EXCEEDED] = "estimate-exceeded",
    [TL_REASON_KILLED] = "killed",
    [TL_REASON_RESTARTS_EXHAUSTED] = "restarts-exhausted",
    [TL_REASON_HORIZON] = "horizon",
    [TL_REASON_DROPPED] = "dropped",
    [TL_REASON_UNSUBMITTED] = "unsubmitted",
    [TL_REASON_SCALED_DOWN] = "scaled-down",
    [TL_REASON_COUNT] = NULL,
};

const char *const tl_schema_decision_names[TL_DECISION_COUNT + 1] = {
    [TL_DECISION_START] = "start",     [TL_DECISION_SUSPEND] = "suspend",
    [TL_DECISION_RESUME] = "resume",   [TL_DECISION_MIGRATE] = "migrate",
    [TL_DECISION_RESIZE] = "resize",   [TL_DECISION_SCALE] = "scale",
    [TL_DECISION_RESERVE] = "reserve", [TL_DECISION_REJECT] = "reject",
    [TL_DECISION_COUNT] = NULL,
};

/* A column is described by its member alone, so that a struct and its schema
 * cannot drift apart: the type follows from the member's. */
#define MEMBER(member) (((const ROW *)0)->member)
#define TYPE_OF(member)                                                                            \
	_Generic(MEMBER(member), int64_t                                                           \
	         : TL_COLUMN_I64, uint64_t                                                         \
	         : TL_COLUMN_U64, uint32_t                                                         \
	         : TL_COLUMN_U32, uint16_t                                                         \
	         : TL_COLUMN_U16, double                                                           \
	         : TL_COLUMN_F64)
#define NUMBER(member, unit_, help_)                                                               \
	{                                                                                          \
		.name = #member, .type = TYPE_OF(member), .offset = offsetof(ROW, member),         \
		.unit = unit_, .help = help_                                                       \
	}
#define TEXT(member, help_)                                                                        \
	{                                                                                          \
		.name = #member, .type = TL_COLUMN_TEXT, .offset = offsetof(ROW, member),          \
		.size = sizeof(MEMBER(member)), .unit = "", .help = help_                          \
	}
#define ENUM(member, names_, help_)                                                                \
	{                                                                                          \
		.name = #member,                                                                   \
		.type = _Generic(MEMBER(member), uint8_t                                           \
		                 : TL_COLUMN_ENUM),                                                \
		.offset = offsetof(ROW, member), .unit = "", .help = help_, .names = names_        \
	}
#define TABLE(path_, columns_, help_)                                                              \
	{                                                                                          \
		.path = path_, .help = help_, .row_size = sizeof(ROW), .columns = columns_,        \
		.column_count = sizeof(columns_) / sizeof(columns_[0])                             \
	}

#define ROW struct tl_row_job
static const struct tl_column job_columns[] = {
    TEXT(id, "the trace's own name of the job"),
    TEXT(tenant, "who pays"),
    TEXT(kind, "kind of work"),
    TEXT(queue, "queue or priority class it was submitted to"),
    TEXT(state, "last state; succeeded and failed are final"),
    TEXT(reason, "why it is in that state"),
    NUMBER(submit_ns, "ns", "when it was submitted"),
    NUMBER(first_start_ns, "ns", "when it first got its GPUs; -1: never"),
    NUMBER(end_ns, "ns", "when it ended; -1: still there at the horizon"),
    NUMBER(gpus_milli, "mgpu", "GPUs asked for, over all workers"),
    NUMBER(wait_ns, "ns", "first start less submit; -1: never started"),
    NUMBER(jct_ns, "ns", "job completion time: end less submit; -1: not ended"),
    NUMBER(run_ns, "ns", "time in state running"),
    NUMBER(requeue_ns, "ns", "waiting for GPUs after the first start: suspended, or pending again"),
    NUMBER(starting_ns, "ns", "time in state scheduled: holding GPUs, starting up"),
    NUMBER(suspending_ns, "ns", "time in state suspending"),
    NUMBER(suspended_ns, "ns", "time in state suspended"),
    NUMBER(resuming_ns, "ns", "time in state resuming"),
    NUMBER(lost_work_ns, "ns", "reference work done and lost, to be done again"),
    NUMBER(estimate_ns, "ns", "run time the user stated; -1: none"),
    NUMBER(deadline_ns, "ns", "when its result is due; -1: no deadline"),
    NUMBER(late_ns, "ns", "completion after the deadline, 0 in time; -1: none, or not completed"),
    NUMBER(bounded_slowdown, "1", "max(1, JCT / max(run, 10 s)); NaN: not ended"),
    NUMBER(productive_gpu_s, "gpu.s",
           "work done and kept x GPUs; may pass its part of an oversubscribed GPU's time"),
    NUMBER(held_gpu_s, "gpu.s", "GPUs asked for x time held, for whatever purpose"),
    NUMBER(speed_mean, "1", "mean speed while running, 1: reference; NaN: never ran"),
    NUMBER(workers, "1", "workers of the gang"),
    NUMBER(preemptions, "1", "times it was preempted"),
    NUMBER(restarts, "1", "times it started over after a failure"),
    NUMBER(node, "", "row in /nodes of the first worker at the last start; 4294967295: none"),
};
const struct tl_table_schema tl_schema_jobs =
    TABLE("/jobs", job_columns, "one row a job, in input order");
#undef ROW

#define ROW struct tl_row_transition
static const struct tl_column transition_columns[] = {
    NUMBER(t_ns, "ns", "when"),
    NUMBER(job, "", "row in /jobs"),
    NUMBER(node, "", "row in /nodes of the first worker; 4294967295: none"),
    ENUM(from, tl_schema_state_names, "state left"),
    ENUM(to, tl_schema_state_names, "state entered"),
    ENUM(cause, tl_schema_reason_names, "why"),
};
const struct tl_table_schema tl_schema_transitions =
    TABLE("/transitions", transition_columns, "one row a change of a job's state, in order");
#undef ROW

#define ROW struct tl_row_timeline
static const struct tl_column timeline_columns[] = {
    NUMBER(t_ns, "ns", "when the sample was taken"),
    NUMBER(capacity_mgpu, "mgpu", "all GPUs, down ones included"),
    NUMBER(down_mgpu, "mgpu", "GPUs on nodes that are down"),
    NUMBER(allocated_mgpu, "mgpu", "physical GPUs held by jobs"),
    NUMBER(nominal_mgpu, "mgpu", "GPUs promised to jobs, beyond physical if oversubscribed"),
    NUMBER(productive_mgpu, "mgpu", "share times speed, summed over running jobs"),
    NUMBER(pending_mgpu, "mgpu", "GPUs asked for by jobs that wait: pending or suspended"),
    NUMBER(fragmentation_mgpu, "mgpu", "free GPUs that the request mix cannot use, expected"),
    NUMBER(free_whole_gpus, "1", "GPUs that are up and wholly free"),
    NUMBER(pending_jobs, "1", "jobs in state pending"),
    NUMBER(running_jobs, "1", "jobs in state running"),
    NUMBER(starting_jobs, "1", "jobs in state scheduled or resuming"),
    NUMBER(suspending_jobs, "1", "jobs in state suspending"),
    NUMBER(suspended_jobs, "1", "jobs in state suspended"),
    NUMBER(partial_nodes, "1", "nodes partly allocated: the numerator of GFR"),
};
const struct tl_table_schema tl_schema_timeline =
    TABLE("/cluster/timeline", timeline_columns, "one row a sample of the cluster");
#undef ROW

#define ROW struct tl_row_purpose
static const struct tl_column purpose_columns[] = {
    NUMBER(t_ns, "ns", "end of the interval, which begins where the one before it ends"),
    TEXT(kind, "kind of work; empty: GPUs of no job"),
    TEXT(purpose, "what the GPUs did; work is productive as it is done, though it be lost later"),
    NUMBER(gpu_s, "gpu.s", "GPU time; over an interval the sum is its capacity"),
};
const struct tl_table_schema tl_schema_purposes =
    TABLE("/cluster/purposes", purpose_columns, "GPU time by interval of the timeline and purpose");
#undef ROW

#define ROW struct tl_row_node
static const struct tl_column node_columns[] = {
    TEXT(name, "name of the node"),
    TEXT(model, "GPU model"),
    TEXT(pool, "pool it is walled off in; empty: none"),
    NUMBER(cpus_milli, "mcpu", "CPU cores"),
    NUMBER(ram_bytes, "B", "host memory"),
    NUMBER(jobs_started, "1", "starts of a job with at least one worker here"),
    NUMBER(allocated_gpu_s, "gpu.s", "GPU time held by jobs"),
    NUMBER(idle_gpu_s, "gpu.s", "GPU time up and free"),
    NUMBER(down_gpu_s, "gpu.s", "GPU time down"),
    NUMBER(gpus, "1", "GPUs"),
    NUMBER(rack, "", "number of its rack"),
    NUMBER(leaf, "", "number of its leaf switch"),
    NUMBER(pod, "", "number of its pod"),
    NUMBER(failures, "1", "times it went down"),
};
const struct tl_table_schema tl_schema_nodes =
    TABLE("/nodes", node_columns, "one row a node, in topology order");
#undef ROW

#define ROW struct tl_row_placement
static const struct tl_column placement_columns[] = {
    NUMBER(job, "", "row in /jobs; 18446744073709551615: a replica of a service"),
    NUMBER(gpus_mgpu, "mgpu", "GPUs of that job on that node"),
    NUMBER(start_ns, "ns", "when the segment began to hold them"),
    NUMBER(end_ns, "ns", "when it let go, or the horizon"),
    NUMBER(node, "", "row in /nodes"),
    ENUM(ended, tl_schema_reason_names, "why the segment ended"),
};
const struct tl_table_schema tl_schema_placements =
    TABLE("/placements", placement_columns, "one row a segment of a job and a node, by end");
#undef ROW

#define ROW struct tl_row_decision
static const struct tl_column decision_columns[] = {
    NUMBER(t_ns, "ns", "when"),
    NUMBER(job, "", "row in /jobs, or of the service"),
    NUMBER(nodes, "1", "nodes named by the decision"),
    NUMBER(node, "", "row in /nodes of the first of them; 4294967295: none"),
    NUMBER(refusal, "", "0: carried out; else the status code of the policy contract"),
    ENUM(kind, tl_schema_decision_names, "what was asked for"),
};
const struct tl_table_schema tl_schema_decisions =
    TABLE("/decisions", decision_columns, "one row a decision of the policy, in order");
#undef ROW

#define ROW struct tl_row_ledger
static const struct tl_column ledger_columns[] = {
    TEXT(tenant, "who pays"),
    TEXT(kind, "kind of work"),
    TEXT(queue, "queue or priority class"),
    TEXT(tier, "tier of the quota it ran on"),
    TEXT(purpose, "what the GPUs did"),
    NUMBER(gpu_s, "gpu.s", "GPU time, rounded once"),
    NUMBER(mgpu_ns_hi, "mgpu.ns", "the same exactly, times 2^64"),
    NUMBER(mgpu_ns_lo, "mgpu.ns", "the same exactly, remainder below 2^64"),
};
const struct tl_table_schema tl_schema_ledger =
    TABLE("/ledger", ledger_columns, "GPU time by account and purpose; the sum is the capacity");
#undef ROW

#define ROW struct tl_row_fault
static const struct tl_column fault_columns[] = {
    TEXT(kind, "what struck: node-failure, or node-down, kill-jobs, traffic of the script"),
    TEXT(service, "traffic: the service whose requests surged; else empty"),
    NUMBER(t_ns, "ns", "when it struck"),
    NUMBER(gpus_hit_mgpu, "mgpu", "GPUs held by the jobs thrown off"),
    NUMBER(repaired_ns, "ns",
           "when its cause ends: the node is back, traffic is as before; -1: there is no such end"),
    NUMBER(
	recovered_ns, "ns",
	"when the last job hit ran again and the last breached window ended; -1: not in the run"),
    NUMBER(overload_ns, "ns", "windows in breach of the services hit, until it was got over"),
    NUMBER(dropped, "1", "requests that these services lost in that time"),
    NUMBER(late, "1", "requests that they served past the target in that time"),
    NUMBER(preemptions, "1", "jobs that the policy stopped in that time"),
    NUMBER(lost_work_gpu_s, "gpu.s", "work that the jobs thrown off lost"),
    NUMBER(preempted_lost_gpu_s, "gpu.s", "work that the jobs stopped in that time lost"),
    NUMBER(node, "", "row in /nodes; 4294967295: none"),
    NUMBER(jobs_hit, "1", "jobs thrown off"),
};
const struct tl_table_schema tl_schema_faults =
    TABLE("/faults", fault_columns, "one row a fault, as they were got over");
#undef ROW

#define ROW struct tl_row_window
static const struct tl_column window_columns[] = {
    NUMBER(t_ns, "ns", "the window's start"),
    NUMBER(arrivals, "1", "requests that came"),
    NUMBER(served, "1", "requests that were served, whenever they came"),
    NUMBER(dropped, "1", "requests refused by a bound, or timed out"),
    NUMBER(attained, "1", "of the served: within the target"),
    NUMBER(queued, "1", "requests that wait at the window's end"),
    NUMBER(p50_ns, "ns", "median latency of the served; -1: none"),
    NUMBER(p95_ns, "ns", "95th percentile"),
    NUMBER(p99_ns, "ns", "99th percentile"),
    NUMBER(p999_ns, "ns", "99.9th percentile"),
    NUMBER(mean_wait_ns, "ns", "mean wait before service; -1: none served"),
    NUMBER(target_ns, "ns", "latency that 99 % of the requests are to keep within"),
    NUMBER(load, "1", "arrival rate over the capacity of the ready replicas"),
    NUMBER(replicas, "1", "replicas wanted at the window's end"),
    NUMBER(ready, "1", "replicas that take requests at the window's end"),
    NUMBER(overload, "1", "1: the window is in breach (p99 above target, or requests lost)"),
};
const struct tl_table_schema tl_schema_windows =
    TABLE("/services/<name>/windows", window_columns, "one row a window of a service");
#undef ROW

#define ROW struct tl_row_summary
static const struct tl_column summary_columns[] = {
    TEXT(metric, "name of the metric"),
    TEXT(unit, "its unit"),
    NUMBER(value, "", "its value, in the unit of the row"),
    NUMBER(ci_low, "", "lower end of the confidence interval; NaN: none"),
    NUMBER(ci_high, "", "upper end of the confidence interval; NaN: none"),
};
const struct tl_table_schema tl_schema_summary =
    TABLE("/summary", summary_columns, "one row a metric of the whole run");
#undef ROW

const struct tl_table_schema *const tl_schema_all[] = {
    &tl_schema_jobs,
    &tl_schema_transitions,
    &tl_schema_timeline,
    &tl_schema_purposes,
    &tl_schema_nodes,
    &tl_schema_placements,
    &tl_schema_decisions,
    &tl_schema_ledger,
    &tl_schema_faults,
    &tl_schema_summary,
    NULL,
};

/* ---- the file of a sweep ---- */

const char *const tl_schema_run_state_names[TL_ROW_RUN_STATE_COUNT + 1] = {
    "missing", "done", "failed", "unasked", NULL};

#define ROW struct tl_row_axis
static const struct tl_column axis_columns[] = {
    TEXT(key, "the key of the scenario that is varied, as --set names it"),
    NUMBER(numeric, "", "1: all its values are numbers, and so is its column in /metrics"),
};
const struct tl_table_schema tl_schema_axes =
    TABLE("/axes", axis_columns, "one row a key that is varied, in the order given");
#undef ROW

#define ROW struct tl_row_cell
static const struct tl_column cell_columns[] = {
    NUMBER(cell, "", "number of the cell, from 0, in the order of the design"),
    TEXT(key, "the key"),
    TEXT(value, "its value in the cell, as --set takes it"),
    NUMBER(own, "", "1: left as the scenario has it, and that is no single value"),
};
const struct tl_table_schema tl_schema_cells =
    TABLE("/cells", cell_columns, "one row a cell and key that is varied");
#undef ROW

#define ROW struct tl_row_run
static const struct tl_column run_columns[] = {
    NUMBER(cell, "", "the cell"),
    NUMBER(seed, "", "the seed; the same rows in every cell"),
    ENUM(
	state, tl_schema_run_state_names,
	"whether the run is among /metrics; unasked: a search had the cell run with other seeds alone"),
    NUMBER(exit_code, "", "of a run that failed; -1: a signal ended it"),
    TEXT(identity, "hash of all that the run depends on: the name of its result file"),
    TEXT(reason, "of a run that failed: its last words"),
};
const struct tl_table_schema tl_schema_runs =
    TABLE("/runs", run_columns, "one row a run: a cell and a seed");
#undef ROW

#define ROW struct tl_row_metric
static const struct tl_column metric_columns[] = {
    NUMBER(cell, "", "the cell"),
    NUMBER(seed, "", "the seed"),
    TEXT(metric, "name of the metric, as in /summary of the run"),
    TEXT(unit, "its unit"),
    NUMBER(value, "", "its value, in the unit of the row"),
    NUMBER(ci_low, "", "lower end of the confidence interval within the run; NaN: none"),
    NUMBER(ci_high, "", "upper end of the confidence interval within the run; NaN: none"),
};
const struct tl_table_schema tl_schema_metrics =
    TABLE("/metrics", metric_columns,
          "one row a run and metric; behind these stands a column an axis, called by its key");
#undef ROW

const struct tl_table_schema *const tl_schema_sweep_all[] = {
    &tl_schema_metrics, &tl_schema_runs, &tl_schema_cells, &tl_schema_axes, NULL,
};
