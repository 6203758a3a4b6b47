/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of a result file: read, and shown to a person or to a machine. */
#include "sim/cli/cli.h"

#include "sim/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum tl_status tl_summary_read(const char *path, struct tl_row_summary **rows, size_t *count,
                               struct tl_error *error)
{
	struct tl_results_reader *reader;
	void *read = NULL;
	enum tl_status status = tl_results_open(path, &reader, error);

	if (status != TL_OK)
		return status;
	if (!tl_results_has(reader, tl_schema_summary.path))
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "has no /summary: the run was told to leave it out");
	else
		status = tl_results_read(reader, &tl_schema_summary, &read, count, error);
	tl_results_reader_close(reader);
	*rows = read;
	return status;
}

/* Which metrics stand together; by whole name, or by the start of it (ends in `*`). A name
 * with a dot in it is a service's. */
static const struct group {
	const char *title;
	const char *patterns[12];
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
    {"Disturbance", {"preemptions", "preemptions_*", "restarts", "lost_work_*", "node_failures"}},
    {"Simulator",
     {"trace_*", "events", "schedule_calls", "decisions", "decisions_refused", "refused_*",
      "oracle_*", "estimates_*"}},
};
enum { GROUPS = sizeof groups / sizeof groups[0], OTHER = GROUPS };

static bool matches(const char *pattern, const char *name)
{
	size_t length = strlen(pattern);

	if (strcmp(pattern, "*.*") == 0)
		return strchr(name, '.') != NULL;
	if (pattern[length - 1] == '*')
		return strncmp(pattern, name, length - 1) == 0;
	return strcmp(pattern, name) == 0;
}

static size_t group_of(const char *metric)
{
	for (size_t g = 0; g < GROUPS; g++)
		for (size_t p = 0; p < 12 && groups[g].patterns[p]; p++)
			if (matches(groups[g].patterns[p], metric))
				return g;
	return OTHER;
}

static void print_row(const struct tl_row_summary *row, FILE *out)
{
	const char *unit = strcmp(row->unit, "1") == 0 ? "" : row->unit;
	double value = row->value;
	char plain[64], words[48] = "", duration[32];

	if (!isfinite(value))
		(void)snprintf(plain, sizeof plain, "-");
	else if (fabs(value) < 1e15 && !(fabs(value - rint(value)) > 0))
		(void)snprintf(plain, sizeof plain, "%.0f", value);
	else if (fabs(value) >= 1000)
		(void)snprintf(plain, sizeof plain, "%.1f", value);
	else
		(void)snprintf(plain, sizeof plain, "%.4g", value);
	if (isfinite(value) && strcmp(unit, "s") == 0 && value >= 60 && value < 9e9)
		(void)snprintf(
		    words, sizeof words, "  (%s)",
		    tl_format_duration((int64_t)(value * 1e9), duration, sizeof duration));
	(void)fprintf(out, "  %-28s %14s %s%s\n", row->metric, plain, unit, words);
}

void tl_summary_print(const struct tl_row_summary *rows, size_t count, FILE *out)
{
	bool first = true;

	for (size_t g = 0; g <= OTHER; g++) {
		bool titled = false;

		for (size_t i = 0; i < count; i++) {
			if (group_of(rows[i].metric) != g)
				continue;
			if (!titled)
				(void)fprintf(out, "%s%s\n", first ? "" : "\n",
				              g == OTHER ? "Other" : groups[g].title);
			titled = true;
			first = false;
			print_row(&rows[i], out);
		}
	}
}

json_t *tl_summary_json(const struct tl_row_summary *rows, size_t count)
{
	json_t *all = json_object();

	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();

		(void)json_object_set_new(one, "value", tl_json_number(rows[i].value));
		(void)json_object_set_new(one, "unit", json_string(rows[i].unit));
		if (isfinite(rows[i].ci_low) && isfinite(rows[i].ci_high)) {
			(void)json_object_set_new(one, "ci_low", json_real(rows[i].ci_low));
			(void)json_object_set_new(one, "ci_high", json_real(rows[i].ci_high));
		}
		(void)json_object_set_new(all, rows[i].metric, one);
	}
	return all;
}
