/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrals over time, distributions over jobs, and the summary made of them. */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOWDOWN_FLOOR_S = 10 };

const char *const tl_refusal_names[TL_REFUSAL_COUNT] = {
    [TL_ACCEPTED] = "accepted",
    [TL_REFUSED_STALE_JOB] = "stale-job",
    [TL_REFUSED_STATE] = "state",
    [TL_REFUSED_PLACEMENT_SHAPE] = "placement-shape",
    [TL_REFUSED_NO_SUCH_NODE] = "no-such-node",
    [TL_REFUSED_NO_SUCH_GPU] = "no-such-gpu",
    [TL_REFUSED_GPU_NOT_ON_NODE] = "gpu-not-on-node",
    [TL_REFUSED_DUPLICATE_GPU] = "duplicate-gpu",
    [TL_REFUSED_NODE_NOT_UP] = "node-not-up",
    [TL_REFUSED_MODEL] = "model",
    [TL_REFUSED_GPU_SHARE] = "gpu-share",
    [TL_REFUSED_GPU_MEMORY] = "gpu-memory",
    [TL_REFUSED_CPU] = "cpu",
    [TL_REFUSED_RAM] = "ram",
    [TL_REFUSED_QUOTA] = "quota",
    [TL_REFUSED_RATIO] = "ratio",
    [TL_REFUSED_NOT_PREEMPTIBLE] = "not-preemptible",
    [TL_REFUSED_NOT_ELASTIC] = "not-elastic",
    [TL_REFUSED_NO_SUCH_SERVICE] = "no-such-service",
    [TL_REFUSED_RANGE] = "range",
    [TL_REFUSED_PAST] = "past",
    [TL_REFUSED_OUTSIDE_SCHEDULE] = "outside-schedule",
    [TL_REFUSED_ARGUMENT] = "argument",
};

/* Readings of the static packing: hundredths of capacity asked for. */
enum { FRAG_AT_90, ALLOCATED_AT_100, ALLOCATED_AT_130 };
static const int packing_at[TL_PACKING_READINGS] = {90, 100, 130};
static const char *const packing_names[TL_PACKING_READINGS] = {
    "packing_frag_at_90", "packing_allocated_at_100", "packing_allocated_at_130"};

void tl_metrics_init(struct tl_metrics *metrics, const struct tl_cluster *cluster, bool exact)
{
	*metrics = (struct tl_metrics){.first_submit_ns = TL_NONE, .last_end_ns = TL_NONE};
	metrics->levels = (struct tl_levels){
	    .capacity_mgpu = cluster->view.capacity_mgpu,
	    .down_mgpu = cluster->down_mgpu,
	    .allocated_mgpu = cluster->allocated_mgpu,
	    .nominal_mgpu = cluster->allocated_mgpu,
	    .free_gpus = cluster->view.free_gpus,
	    .partial_nodes = cluster->partial_nodes,
	    .fragmentation_mgpu = TL_NONE,
	};
	tl_dist_init(&metrics->wait, exact);
	tl_dist_init(&metrics->jct, exact);
}

void tl_metrics_fini(struct tl_metrics *metrics)
{
	tl_dist_fini(&metrics->wait);
	tl_dist_fini(&metrics->jct);
	free(metrics->tenants);
	free(metrics->rows);
	free(metrics->told);
}

int64_t tl_metrics_advance(struct tl_metrics *metrics, int64_t now_ns)
{
	const struct tl_levels *levels = &metrics->levels;
	int64_t dt_ns = now_ns - metrics->at_ns;

	TL_ASSERT(dt_ns >= 0);
	if (dt_ns == 0)
		return 0;
	metrics->capacity += (tl_i128)levels->capacity_mgpu * dt_ns;
	metrics->down += (tl_i128)levels->down_mgpu * dt_ns;
	metrics->allocated += (tl_i128)levels->allocated_mgpu * dt_ns;
	metrics->nominal += (tl_i128)levels->nominal_mgpu * dt_ns;
	metrics->progress += (tl_i128)levels->productive_mgpu * dt_ns;
	metrics->partial += (tl_i128)levels->partial_nodes * dt_ns;
	metrics->at_ns = now_ns;
	return dt_ns;
}

enum tl_fate tl_fate_of(const struct tl_job_account *job)
{
	if (job->reason == TL_REASON_UNSUBMITTED)
		return TL_FATE_UNSUBMITTED;
	if (job->end_ns < 0)
		return TL_FATE_CENSORED;
	TL_ASSERT(job->state == TL_JOB_SUCCEEDED || job->state == TL_JOB_FAILED);
	if (job->state == TL_JOB_SUCCEEDED)
		return TL_FATE_COMPLETED;
	switch ((enum tl_reason)job->reason) {
	case TL_REASON_CANCELLED:
		return TL_FATE_CANCELLED;
	case TL_REASON_REJECTED:
		return TL_FATE_REJECTED;
	case TL_REASON_INFEASIBLE:
		return TL_FATE_INFEASIBLE;
	case TL_REASON_NO_ROOM:
	case TL_REASON_DROPPED:
		return TL_FATE_DROPPED;
	default:
		return TL_FATE_FAILED;
	}
}

bool tl_job_served(const struct tl_job_account *job)
{
	if (job->end_ns < 0 || job->first_start_ns < 0)
		return false;
	return job->state == TL_JOB_SUCCEEDED || job->reason == TL_REASON_USER_FAILURE ||
	       job->reason == TL_REASON_CANCELLED;
}

/* Queueing after the first start, apart from the first wait (model, Metrics). */
int64_t tl_job_requeue_ns(const struct tl_job_account *job)
{
	if (job->first_start_ns < 0)
		return 0;
	return job->in_state_ns[TL_JOB_PENDING] - (job->first_start_ns - job->submit_ns) +
	       job->in_state_ns[TL_JOB_SUSPENDED];
}

/* max(1, JCT / max(run, 10 s)) (model, Metrics). */
double tl_job_bounded_slowdown(const struct tl_job_account *job)
{
	int64_t run_ns = job->in_state_ns[TL_JOB_RUNNING];

	if (run_ns < SLOWDOWN_FLOOR_S * TL_NS_PER_S)
		run_ns = SLOWDOWN_FLOOR_S * TL_NS_PER_S;
	return fmax(1.0, (double)(job->end_ns - job->submit_ns) / (double)run_ns);
}

static void add_tenant(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	if (job->tenant >= metrics->tenant_count) {
		metrics->tenants = tl_grow(metrics->tenants, &metrics->tenant_room,
		                           (size_t)job->tenant + 1, sizeof *metrics->tenants);
		metrics->tenant_count = (size_t)job->tenant + 1;
	}
	metrics->tenants[job->tenant].jobs++;
	metrics->tenants[job->tenant].held_mgpu_ns += job->held_mgpu_ns;
}

/* A shrinking cluster must not look better for the jobs it never started: their wait so
 * far counts here. */
static void add_wait_so_far(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	enum tl_fate fate = tl_fate_of(job);

	if (fate == TL_FATE_UNSUBMITTED || fate == TL_FATE_INFEASIBLE || fate == TL_FATE_DROPPED)
		return;
	metrics->waited++;
	if (job->first_start_ns >= 0) {
		metrics->waited_ns += job->first_start_ns - job->submit_ns;
		return;
	}
	metrics->never++;
	metrics->waited_ns += job->in_state_ns[TL_JOB_PENDING];
}

/* A job that ended as its user had it end promised no result. */
static void judge_deadline(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	struct tl_deadlines *deadlines = &metrics->deadlines;
	const bool own_end =
	    job->reason == TL_REASON_USER_FAILURE || job->reason == TL_REASON_CANCELLED;

	if (job->deadline_ns < 0 || own_end)
		return;
	if (job->state == TL_JOB_SUCCEEDED && job->end_ns <= job->deadline_ns) {
		deadlines->met++;
	} else if (job->state == TL_JOB_SUCCEEDED) {
		int64_t late_ns = job->end_ns - job->deadline_ns;

		deadlines->late++;
		deadlines->late_ns += late_ns;
		if (late_ns > deadlines->latest_ns)
			deadlines->latest_ns = late_ns;
	} else if (job->end_ns >= 0 || job->deadline_ns <= metrics->at_ns) {
		deadlines->never++;
	} else {
		deadlines->open++;
	}
}

void tl_metrics_job(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	metrics->jobs++;
	metrics->fates[tl_fate_of(job)]++;
	metrics->restarts += job->restarts;
	metrics->lost_mgpu_ns += (tl_i128)job->lost_work_ns * job->gpus_mgpu;
	metrics->useful_mgpu_ns += (tl_i128)job->done_ns * job->gpus_mgpu;
	if (job->preemptions > metrics->preemptions_max)
		metrics->preemptions_max = job->preemptions;
	add_tenant(metrics, job);
	add_wait_so_far(metrics, job);
	if (job->reason == TL_REASON_UNSUBMITTED)
		return;
	judge_deadline(metrics, job);
	if (metrics->first_submit_ns < 0 || job->submit_ns < metrics->first_submit_ns)
		metrics->first_submit_ns = job->submit_ns;
	if (job->first_start_ns < 0)
		return;
	TL_ASSERT(tl_job_requeue_ns(job) >= 0);
	tl_dist_add(&metrics->wait, job->first_start_ns - job->submit_ns);
	metrics->requeue_ns += tl_job_requeue_ns(job);
	if (job->end_ns > metrics->last_end_ns)
		metrics->last_end_ns = job->end_ns;
	if (!tl_job_served(job))
		return;
	tl_dist_add(&metrics->jct, job->end_ns - job->submit_ns);
	metrics->slowdown_sum += tl_job_bounded_slowdown(job);
	metrics->slowdown_squares += tl_job_bounded_slowdown(job) * tl_job_bounded_slowdown(job);
	metrics->served_productive_mgpu_ns += job->productive_mgpu_ns;
	metrics->served_asked_mgpu_ns += (tl_i128)job->gpus_mgpu * (job->end_ns - job->submit_ns);
}

void tl_metrics_service(struct tl_metrics *metrics, const struct tl_service_account *service)
{
	metrics->useful_mgpu_ns += service->useful_mgpu_ns;
	metrics->penalty_micros += service->penalty_micros;
}

void tl_metrics_fault(struct tl_metrics *metrics, const struct tl_row_fault *fault)
{
	int64_t recovery_ns = fault->recovered_ns - fault->t_ns;

	metrics->faults++;
	if (fault->recovered_ns < 0)
		return;
	metrics->recovered++;
	metrics->recovery_ns += recovery_ns;
	if (recovery_ns > metrics->recovery_max_ns)
		metrics->recovery_max_ns = recovery_ns;
}

void tl_metrics_packing(struct tl_metrics *metrics, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu)
{
	struct tl_packing *packing = &metrics->packing;

	TL_ASSERT(request_mgpu >= 0);
	packing->told++;
	packing->placed += placed;
	packing->requested_mgpu += request_mgpu;
	for (int i = 0; i < TL_PACKING_READINGS; i++) {
		if (packing->taken[i] || packing->requested_mgpu * 100 <
		                             (tl_i128)metrics->levels.capacity_mgpu * packing_at[i])
			continue;
		packing->taken[i] = true;
		packing->mgpu[i] = i == FRAG_AT_90 ? fragmented_mgpu : allocated_mgpu;
	}
}

/* ---- the summary ---- */

static struct tl_row_summary row_of(const char *name, const char *unit, double value)
{
	struct tl_row_summary row;

	memset(&row, 0, sizeof row);
	tl_row_text(row.metric, sizeof row.metric, name);
	tl_row_text(row.unit, sizeof row.unit, unit);
	row.value = value;
	row.ci_low = (double)NAN;
	row.ci_high = (double)NAN;
	return row;
}

static void add(struct tl_metrics *metrics, const char *name, const char *unit, double value)
{
	metrics->rows = tl_grow(metrics->rows, &metrics->row_room, metrics->row_count + 1,
	                        sizeof *metrics->rows);
	metrics->rows[metrics->row_count++] = row_of(name, unit, value);
}

void tl_metrics_tell(struct tl_metrics *metrics, const char *name, const char *unit, double value)
{
	metrics->told = tl_grow(metrics->told, &metrics->told_room, metrics->told_count + 1,
	                        sizeof *metrics->told);
	metrics->told[metrics->told_count++] = row_of(name, unit, value);
}

/* A metric of a family: `gpu_h_` and `idle-free` make gpu_h_idle_free. */
static void add_of(struct tl_metrics *metrics, const char *prefix, const char *word,
                   const char *unit, double value)
{
	char name[TL_ROW_NAME_SIZE];
	int length = snprintf(name, sizeof name, "%s%s", prefix, word);

	TL_ASSERT(length > 0 && (size_t)length < sizeof name);
	for (char *c = name; *c; c++)
		if (*c == '-')
			*c = '_';
	add(metrics, name, unit, value);
}

static double ratio(tl_i128 part, tl_i128 whole)
{
	return whole == 0 ? (double)NAN : (double)part / (double)whole;
}

static double seconds(double ns)
{
	return ns / (double)TL_NS_PER_S;
}

static void add_dist(struct tl_metrics *metrics, const char *prefix, struct tl_dist *dist)
{
	add_of(metrics, prefix, "mean_s", "s", seconds(tl_dist_mean(dist)));
	add_of(metrics, prefix, "p50_s", "s", seconds(tl_dist_quantile(dist, 0.50)));
	add_of(metrics, prefix, "p90_s", "s", seconds(tl_dist_quantile(dist, 0.90)));
	add_of(metrics, prefix, "p99_s", "s", seconds(tl_dist_quantile(dist, 0.99)));
}

/* (Σx)² / (n Σx²) (model, Metrics). */
static double jain(double sum, double squares, uint64_t count)
{
	return squares == 0 ? (double)NAN : sum * sum / ((double)count * squares);
}

static double jain_tenants(const struct tl_metrics *metrics)
{
	double sum = 0, squares = 0;
	uint64_t count = 0;

	for (size_t i = 0; i < metrics->tenant_count; i++) {
		double held = (double)metrics->tenants[i].held_mgpu_ns;

		if (metrics->tenants[i].jobs == 0)
			continue;
		count++;
		sum += held;
		squares += held * held;
	}
	return jain(sum, squares, count);
}

static void summarise_jobs(struct tl_metrics *metrics)
{
	static const char *const fates[TL_FATE_COUNT] = {
	    [TL_FATE_COMPLETED] = "completed",   [TL_FATE_FAILED] = "failed",
	    [TL_FATE_CANCELLED] = "cancelled",   [TL_FATE_REJECTED] = "rejected",
	    [TL_FATE_INFEASIBLE] = "infeasible", [TL_FATE_DROPPED] = "dropped",
	    [TL_FATE_CENSORED] = "censored",     [TL_FATE_UNSUBMITTED] = "unsubmitted",
	};
	uint64_t served = metrics->jct.count;

	add(metrics, "jobs", "1", (double)metrics->jobs);
	for (int i = 0; i < TL_FATE_COUNT; i++)
		add(metrics, fates[i], "1", (double)metrics->fates[i]);
	add(metrics, "makespan_s", "s",
	    metrics->last_end_ns < 0
	        ? (double)NAN
	        : seconds((double)(metrics->last_end_ns - metrics->first_submit_ns)));
	add(metrics, "never_started", "1", (double)metrics->never);
	add_dist(metrics, "wait_", &metrics->wait);
	add(metrics, "waited_so_far_mean_s", "s",
	    seconds(ratio(metrics->waited_ns, (tl_i128)metrics->waited)));
	add_dist(metrics, "jct_", &metrics->jct);
	add(metrics, "bounded_slowdown_mean", "1",
	    served == 0 ? (double)NAN : metrics->slowdown_sum / (double)served);
	add(metrics, "requeue_mean_s", "s",
	    seconds(ratio(metrics->requeue_ns, (tl_i128)metrics->wait.count)));
	add(metrics, "jain_slowdown", "1",
	    jain(metrics->slowdown_sum, metrics->slowdown_squares, served));
	add(metrics, "jain_tenant_gpu_time", "1", jain_tenants(metrics));
	add(metrics, "ettr", "1",
	    ratio(metrics->served_productive_mgpu_ns, metrics->served_asked_mgpu_ns));
}

static void summarise_deadlines(struct tl_metrics *metrics)
{
	const struct tl_deadlines *deadlines = &metrics->deadlines;
	uint64_t missed = deadlines->late + deadlines->never, judged = deadlines->met + missed;

	add(metrics, "deadline_jobs", "1", (double)judged);
	add(metrics, "deadline_met", "1", (double)deadlines->met);
	add(metrics, "deadline_missed", "1", (double)missed);
	add(metrics, "deadline_open", "1", (double)deadlines->open);
	add(metrics, "deadline_met_ratio", "1", ratio(deadlines->met, (tl_i128)judged));
	add(metrics, "deadline_lateness_mean_s", "s",
	    seconds(ratio(deadlines->late_ns, (tl_i128)deadlines->late)));
	add(metrics, "deadline_lateness_max_s", "s",
	    deadlines->late == 0 ? (double)NAN : seconds((double)deadlines->latest_ns));
}

static bool has_deadlines(const struct tl_deadlines *deadlines)
{
	return deadlines->met + deadlines->late + deadlines->never + deadlines->open > 0;
}

static void summarise_cluster(struct tl_metrics *metrics, const struct tl_ledger *ledger,
                              uint32_t gpu_nodes)
{
	tl_i128 productive = tl_ledger_total(ledger, TL_PURPOSE_PRODUCTIVE);

	add(metrics, "elapsed_s", "s", seconds((double)metrics->at_ns));
	add(metrics, "allocation_ratio", "1", ratio(metrics->allocated, metrics->capacity));
	add(metrics, "nominal_ratio", "1", ratio(metrics->nominal, metrics->capacity));
	add(metrics, "goodput", "1", ratio(productive, metrics->allocated));
	add(metrics, "effective_utilisation", "1", ratio(productive, metrics->capacity));
	add(metrics, "progress_ratio", "1", ratio(metrics->progress, metrics->capacity));
	add(metrics, "down_ratio", "1", ratio(metrics->down, metrics->capacity));
	add(metrics, "partial_nodes_mean", "1", ratio(metrics->partial, metrics->at_ns));
	add(metrics, "gfr", "1", ratio(metrics->partial, (tl_i128)metrics->at_ns * gpu_nodes));
	for (int purpose = 0; purpose < TL_PURPOSE_COUNT; purpose++)
		add_of(metrics, "gpu_h_", tl_purpose_names[purpose], "gpu.h",
		       (double)tl_ledger_total(ledger, (enum tl_purpose)purpose) /
		           (3600 * TL_MGPU_NS_PER_GPU_S));
}

static void summarise_run(struct tl_metrics *metrics, const struct tl_run_counts *counts)
{
	uint64_t refused = 0;

	for (int i = TL_ACCEPTED + 1; i < TL_REFUSAL_COUNT; i++)
		refused += counts->refused[i];
	add(metrics, "second_starts", "1", (double)counts->second_starts);
	add(metrics, "preemptions", "1", (double)counts->preemptions);
	add(metrics, "preemptions_per_day", "1/d",
	    ratio((tl_i128)counts->preemptions * TL_NS_PER_DAY, metrics->at_ns));
	add(metrics, "preemptions_max", "1", (double)metrics->preemptions_max);
	add(metrics, "preemptions_futile", "1", (double)counts->futile);
	add(metrics, "preemptions_unsaved", "1", (double)counts->unsaved);
	add(metrics, "preemptions_lost_gpu_s", "gpu.s",
	    (double)counts->unsaved_mgpu_ns / TL_MGPU_NS_PER_GPU_S);
	add(metrics, "restarts", "1", (double)metrics->restarts);
	add(metrics, "lost_work_gpu_s", "gpu.s",
	    (double)metrics->lost_mgpu_ns / TL_MGPU_NS_PER_GPU_S);
	add(metrics, "node_failures", "1", (double)counts->node_failures);
	add(metrics, "faults", "1", (double)metrics->faults);
	add(metrics, "faults_unrecovered", "1", (double)(metrics->faults - metrics->recovered));
	add(metrics, "recovery_mean_s", "s",
	    seconds(ratio(metrics->recovery_ns, (tl_i128)metrics->recovered)));
	add(metrics, "recovery_max_s", "s",
	    metrics->recovered > 0 ? seconds((double)metrics->recovery_max_ns) : (double)NAN);
	add(metrics, "events", "1", (double)counts->events);
	add(metrics, "schedule_calls", "1", (double)counts->rounds);
	add(metrics, "decisions", "1", (double)counts->decisions);
	add(metrics, "decisions_refused", "1", (double)refused);
	for (int i = TL_ACCEPTED + 1; i < TL_REFUSAL_COUNT; i++)
		if (counts->refused[i] > 0)
			add_of(metrics, "refused_", tl_refusal_names[i], "1",
			       (double)counts->refused[i]);
	add(metrics, "trace_rows_dropped", "1", (double)counts->rows_dropped);
	add(metrics, "oracle_used", "1", counts->oracle_used ? 1 : 0);
	add(metrics, "estimates_oracle", "1", counts->estimates_oracle ? 1 : 0);
}

static void summarise_cost(struct tl_metrics *metrics, const struct tl_prices *prices)
{
	const double hour = 3600 * TL_MGPU_NS_PER_GPU_S;
	double cost = (double)metrics->capacity / hour * ((double)prices->gpu_hour_micros / 1e6);
	double penalty = (double)metrics->penalty_micros / 1e6;
	double useful = (double)metrics->useful_mgpu_ns / hour;
	const char *money = prices->currency;
	char per_hour[TL_ROW_WORD_SIZE];

	snprintf(per_hour, sizeof per_hour, "%s/gpu.h", money);
	add(metrics, "cost", money, cost);
	add(metrics, "penalty", money, penalty);
	add(metrics, "cost_total", money, cost + penalty);
	add(metrics, "useful_gpu_h", "gpu.h", useful);
	add(metrics, "cost_per_useful_gpu_h", per_hour, useful > 0 ? cost / useful : (double)NAN);
	add(metrics, "cost_total_per_useful_gpu_h", per_hour,
	    useful > 0 ? (cost + penalty) / useful : (double)NAN);
}

static void summarise_packing(struct tl_metrics *metrics)
{
	const struct tl_packing *packing = &metrics->packing;
	/* As people ask for them: allocation first. */
	static const int order[TL_PACKING_READINGS] = {ALLOCATED_AT_100, ALLOCATED_AT_130,
	                                               FRAG_AT_90};

	for (int i = 0; i < TL_PACKING_READINGS; i++) {
		int at = order[i];

		add(metrics, packing_names[at], "1",
		    packing->taken[at] && packing->mgpu[at] >= 0
		        ? ratio(packing->mgpu[at], metrics->levels.capacity_mgpu)
		        : (double)NAN);
	}
	add(metrics, "packing_placed", "1",
	    ratio((tl_i128)packing->placed, (tl_i128)packing->told));
}

void tl_metrics_summarise(struct tl_metrics *metrics, const struct tl_ledger *ledger,
                          uint32_t gpu_nodes, const struct tl_prices *prices,
                          const struct tl_run_counts *counts)
{
	metrics->row_count = 0;
	summarise_jobs(metrics);
	if (has_deadlines(&metrics->deadlines))
		summarise_deadlines(metrics);
	summarise_cluster(metrics, ledger, gpu_nodes);
	summarise_run(metrics, counts);
	summarise_cost(metrics, prices);
	if (metrics->packing.told > 0)
		summarise_packing(metrics);
	for (size_t i = 0; i < metrics->told_count; i++)
		add(metrics, metrics->told[i].metric, metrics->told[i].unit,
		    metrics->told[i].value);
}
