/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/metrics.h"

#include <stdbool.h>
#include <string.h>

enum { PATTERNS = 12 };

/* By whole name, or by the start of it (ends in `*`). A name with a dot in it is a
 * service's. The last takes what the others leave. */
static const struct group {
	const char *title;
	const char *patterns[PATTERNS];
} groups[] = {
    {"Services", {"*.*"}},
    {"Jobs",
     {"jobs", "completed", "failed", "cancelled", "rejected", "infeasible", "dropped", "censored",
      "unsubmitted", "makespan_s"}},
    {"Waiting", {"never_started", "wait_*", "waited_*", "requeue_*"}},
    {"Completion", {"jct_*", "bounded_slowdown_*", "ettr"}},
    {"Deadlines", {"deadline_*"}},
    {"Fairness", {"jain_*"}},
    {"Cluster",
     {"elapsed_s", "allocation_ratio", "nominal_ratio", "goodput", "effective_utilisation",
      "progress_ratio", "down_ratio", "partial_nodes_*", "gfr", "fragmentation_*"}},
    {"GPU time", {"gpu_h_*"}},
    {"Packing", {"packing_*"}},
    {"Cost", {"cost", "cost_*", "penalty", "useful_gpu_h"}},
    {"Disturbance",
     {"preemptions", "preemptions_*", "restarts", "lost_work_*", "node_failures", "faults",
      "faults_*", "recovery_*"}},
    {"Simulator",
     {"trace_*", "events", "schedule_calls", "decisions", "decisions_refused", "refused_*",
      "oracle_*", "estimates_*"}},
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
