/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/metrics.h"

#include <fnmatch.h>
#include <string.h>

enum { PATTERNS = 12 };

/* By whole name, or by the start of it (ends in `*`). A name with a dot in it is a
 * pool's or a service's. The last takes what the others leave. */
static const struct group {
	const char *title;
	const char *patterns[PATTERNS];
} groups[] = {
    {"Pools", {"pool.*", "until_done_*"}},
    {"Services", {"*.*"}},
    {"Jobs",
     {"jobs", "completed", "failed", "cancelled", "rejected", "infeasible", "dropped", "censored",
      "unsubmitted", "makespan_s"}},
    {"Waiting", {"never_started", "wait_*", "waited_*", "requeue_*"}},
    {"Completion", {"jct_*", "bounded_slowdown_*", "ettr"}},
    {"Deadlines", {"deadline_*"}},
    {"Fairness", {"jain_*"}},
    {"Cluster",
     {"elapsed_s", "allocation_ratio", "nominal_ratio", "second_starts", "goodput",
      "effective_utilisation", "progress_ratio", "down_ratio", "partial_nodes_*", "gfr",
      "fragmentation_*"}},
    {"GPU time", {"gpu_h_*"}},
    {"Packing", {"packing_*"}},
    {"Cost", {"cost", "cost_*", "penalty", "useful_gpu_h"}},
    {"Disturbance",
     {"preemptions", "preemptions_*", "restarts", "lost_work_*", "node_failures", "faults",
      "faults_*", "recovery_*"}},
    {"Simulator",
     {"trace_*", "events", "schedule_calls", "decisions", "decisions_refused", "refused_*",
      "oracle_*", "estimates_*"}},
    {"Settled part", {"steady:*"}},
    {"Other", {"*"}},
};
enum { GROUPS = sizeof groups / sizeof groups[0] };

static bool matches(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	if (strcmp(pattern, "*.*") == 0)
		return strchr(name, '.') != NULL;
	if (pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strcmp(pattern, name) == 0;
}

size_t tl_metric_group(const char *metric)
{
	size_t g = 0;

	for (;; g++)
		for (size_t p = 0; p < PATTERNS && groups[g].patterns[p]; p++)
			if (matches(groups[g].patterns[p], metric))
				return g;
}

const char *tl_metric_group_title(size_t group)
{
	return group < GROUPS ? groups[group].title : NULL;
}

enum { HEADLINE = 1, QUEUE = 2, SIGNED = 4 };

/* The first that matches. A name with a dot in it is a service's, one with a colon was
 * computed from the settled part of a run. */
static const struct kind {
	const char *pattern;
	enum tl_better better;
	int marks;
} kinds[] = {
    {"steady:pending_gpus", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"steady:wait_mean_s", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"steady:jct_mean_s", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"steady:*", TL_BETTER_HIGH, HEADLINE},
    {"*.attainment", TL_BETTER_HIGH, HEADLINE},
    {"*.p99_s", TL_BETTER_LOW, HEADLINE},
    {"*.overload_s", TL_BETTER_LOW, HEADLINE},
    {"*.penalty", TL_BETTER_LOW, 0},
    {"*.dropped", TL_BETTER_LOW, 0},
    {"*.served", TL_BETTER_HIGH, 0},
    {"*.p*_s", TL_BETTER_LOW, 0},
    {"*.wait_mean_s", TL_BETTER_LOW, 0},
    {"*.cold_starts", TL_BETTER_LOW, 0},
    {"*.forecast_accuracy", TL_BETTER_NEITHER, SIGNED},
    {"*.*", TL_BETTER_NEITHER, 0},
    {"cost_total", TL_BETTER_LOW, HEADLINE},
    {"cost_total_per_useful_gpu_h", TL_BETTER_LOW, HEADLINE},
    {"penalty", TL_BETTER_LOW, HEADLINE},
    {"useful_gpu_h", TL_BETTER_HIGH, HEADLINE},
    {"cost*", TL_BETTER_LOW, 0},
    {"deadline_met_ratio", TL_BETTER_HIGH, HEADLINE},
    {"deadline_met", TL_BETTER_HIGH, 0},
    {"deadline_missed", TL_BETTER_LOW, 0},
    {"deadline_lateness_*", TL_BETTER_LOW, 0},
    {"completed", TL_BETTER_HIGH, HEADLINE},
    {"never_started", TL_BETTER_LOW, 0},
    {"makespan_s", TL_BETTER_LOW, 0},
    {"wait_mean_s", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"wait_p99_s", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"wait*", TL_BETTER_LOW, QUEUE},
    {"requeue_mean_s", TL_BETTER_LOW, QUEUE},
    {"jct_mean_s", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"jct_*", TL_BETTER_LOW, QUEUE},
    {"bounded_slowdown_mean", TL_BETTER_LOW, HEADLINE | QUEUE},
    {"jain_*", TL_BETTER_HIGH, 0},
    {"ettr", TL_BETTER_HIGH, QUEUE},
    {"allocation_ratio", TL_BETTER_HIGH, HEADLINE},
    {"goodput", TL_BETTER_HIGH, HEADLINE},
    {"effective_utilisation", TL_BETTER_HIGH, HEADLINE},
    {"progress_ratio", TL_BETTER_HIGH, 0},
    {"gfr", TL_BETTER_LOW, 0},
    {"gpu_h_productive", TL_BETTER_HIGH, 0},
    {"gpu_h_communication", TL_BETTER_LOW, 0},
    {"gpu_h_interference", TL_BETTER_LOW, 0},
    {"gpu_h_checkpoint", TL_BETTER_LOW, 0},
    {"gpu_h_start", TL_BETTER_LOW, 0},
    {"gpu_h_suspend", TL_BETTER_LOW, 0},
    {"gpu_h_resume", TL_BETTER_LOW, 0},
    {"gpu_h_rework", TL_BETTER_LOW, 0},
    {"packing_frag_*", TL_BETTER_LOW, HEADLINE},
    {"packing_*", TL_BETTER_HIGH, HEADLINE},
    {"preemptions", TL_BETTER_LOW, HEADLINE},
    {"preemptions_*", TL_BETTER_LOW, 0},
    {"restarts", TL_BETTER_LOW, 0},
    {"lost_work_gpu_s", TL_BETTER_LOW, HEADLINE},
    {"decisions_refused", TL_BETTER_LOW, 0},
    {"*", TL_BETTER_NEITHER, 0},
};

static const struct kind *kind_of(const char *metric)
{
	const struct kind *kind = kinds;

	while (fnmatch(kind->pattern, metric, 0) != 0)
		kind++;
	return kind;
}

enum tl_better tl_metric_better(const char *metric)
{
	return kind_of(metric)->better;
}

bool tl_metric_is_headline(const char *metric)
{
	return kind_of(metric)->marks & HEADLINE;
}

bool tl_metric_follows_queue(const char *metric)
{
	return kind_of(metric)->marks & QUEUE;
}

bool tl_metric_is_signed(const char *metric)
{
	return kind_of(metric)->marks & SIGNED;
}

bool tl_metric_cut_short(double jobs, double unsubmitted)
{
	return unsubmitted > 0.1 * jobs;
}

bool tl_metric_is_one_of(const char *metric, const char *name)
{
	const size_t whole = strlen(metric), part = strlen(name);

	return whole > part + 1 && metric[whole - part - 1] == '.' &&
	       strcmp(metric + whole - part, name) == 0;
}
