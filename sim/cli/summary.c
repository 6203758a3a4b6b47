/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary of a result file: read, and shown to a person or to a machine. */
#include "sim/cli/cli.h"

#include "results/metrics.h"
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
	if (tl_results_has(reader, tl_schema_runs.path))
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "is the file of a sweep, wanted the result of a run: "
		                      "`tidelab compare` and `report` read it");
	else if (!tl_results_has(reader, tl_schema_summary.path))
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "has no /summary: the run was told to leave it out");
	else
		status = tl_results_read(reader, &tl_schema_summary, &read, count, error);
	tl_results_reader_close(reader);
	*rows = read;
	return status;
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

	for (size_t g = 0; tl_metric_group_title(g); g++) {
		bool titled = false;

		for (size_t i = 0; i < count; i++) {
			if (tl_metric_group(rows[i].metric) != g)
				continue;
			if (!titled)
				(void)fprintf(out, "%s%s\n", first ? "" : "\n",
				              tl_metric_group_title(g));
			titled = true;
			first = false;
			print_row(&rows[i], out);
		}
	}
}

static double value_of(const struct tl_row_summary *rows, size_t count, const char *metric)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].metric, metric) == 0)
			return rows[i].value;
	return (double)NAN;
}

void tl_summary_note(const struct tl_row_summary *rows, size_t count, FILE *out)
{
	double jobs = value_of(rows, count, "jobs");
	double late = value_of(rows, count, "unsubmitted");

	if (tl_metric_cut_short(jobs, late))
		(void)fprintf(
		    out,
		    "the horizon came before %.0f of %.0f jobs were submitted: the metrics "
		    "tell nothing of them\n",
		    late, jobs);
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
