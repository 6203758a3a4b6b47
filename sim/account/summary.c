/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary: a row a metric, of what the books hold. */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
	static const struct {
		enum tl_packing_reading at;
		const char *name;
	} readings[TL_PACKING_READINGS] = {
	    {TL_PACKING_ALLOCATED_AT_100, "packing_allocated_at_100"},
	    {TL_PACKING_ALLOCATED_AT_130, "packing_allocated_at_130"},
	    {TL_PACKING_FRAG_AT_90, "packing_frag_at_90"},
	};

	for (int i = 0; i < TL_PACKING_READINGS; i++) {
		enum tl_packing_reading at = readings[i].at;

		add(metrics, readings[i].name, "1",
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
