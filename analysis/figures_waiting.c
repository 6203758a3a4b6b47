/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

/* Of a curve; the axis begins at one second, where shorter waits are put. */
enum { POINTS = 400, SHORTEST_S = 1 };

/* What this picture wants of /jobs. */
struct wait_row {
	char kind[TL_ROW_WORD_SIZE];
	int64_t wait_ns;
};

static const struct tl_column wait_columns[] = {
    {.name = "kind",
     .type = TL_COLUMN_TEXT,
     .offset = offsetof(struct wait_row, kind),
     .size = TL_ROW_WORD_SIZE},
    {.name = "wait_ns", .type = TL_COLUMN_I64, .offset = offsetof(struct wait_row, wait_ns)},
};
static const struct tl_table_schema wait_schema = {.path = "/jobs",
                                                   .row_size = sizeof(struct wait_row),
                                                   .columns = wait_columns,
                                                   .column_count = 2};

struct curve {
	double *waits_s; /* of the jobs that started, ascending */
	size_t started;
	size_t jobs;
};

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort_out(const struct wait_row *rows, size_t count,
                     struct curve curves[static TL_ROW_KIND_COUNT])
{
	for (size_t i = 0; i < count; i++)
		curves[tl_figure_kind(rows[i].kind)].jobs++;
	for (size_t k = 0; k < TL_ROW_KIND_COUNT; k++)
		curves[k].waits_s = tl_calloc(curves[k].jobs, sizeof(double));
	for (size_t i = 0; i < count; i++) {
		struct curve *curve = &curves[tl_figure_kind(rows[i].kind)];

		if (rows[i].wait_ns >= 0)
			curve->waits_s[curve->started++] =
			    (double)rows[i].wait_ns / (double)TL_NS_PER_S;
	}
	for (size_t k = 0; k < TL_ROW_KIND_COUNT; k++)
		qsort(curves[k].waits_s, curves[k].started, sizeof(double), ascending);
}

/* Percent of the started jobs that waited no longer than the one of this rank. */
static double percent(const struct curve *curve, size_t *rank)
{
	while (*rank + 1 < curve->started && curve->waits_s[*rank + 1] <= curve->waits_s[*rank])
		++*rank;
	return 100.0 * (double)(*rank + 1) / (double)curve->started;
}

/* Percent that waited no longer than SHORTEST_S. */
static double percent_at_once(const struct curve *curve)
{
	size_t rank = 0;

	while (rank < curve->started && curve->waits_s[rank] <= SHORTEST_S)
		rank++;
	return 100.0 * (double)rank / (double)curve->started;
}

/* Where the axis of percents begins: curves that all run high up are not pressed together. */
static int axis_begin(double least_percent)
{
	int begin = (int)(least_percent / 10.0) * 10;

	if (least_percent < 50.0)
		return 0;
	return begin > 90 ? 90 : begin;
}

static void print(const struct curve *curve, const char *name, double longest_s, FILE *data)
{
	size_t rank = 0;

	fprintf(data, "\"%s: %zu of %zu jobs started\" percent\n", name, curve->started,
	        curve->jobs);
	while (rank < curve->started && curve->waits_s[rank] <= SHORTEST_S)
		rank++;
	fprintf(data, "%d %.6g\n", SHORTEST_S, 100.0 * (double)rank / (double)curve->started);
	for (size_t i = 0, next = rank; i <= POINTS; i++) {
		rank = i * (curve->started - 1) / POINTS;
		if (rank < next)
			continue;
		double value_s = curve->waits_s[rank];
		double at = percent(curve, &rank);
		fprintf(data, "%.9g %.6g\n", value_s, at);
		next = rank + 1;
	}
	fprintf(data, "%.9g 100\n\n\n", longest_s);
}

static void describe(const struct curve *curve, const char *name, double at_once,
                     struct tl_figure_plot *plot)
{
	char half[32], last[32];
	double half_s = curve->waits_s[(curve->started - 1) / 2];
	double last_s = curve->waits_s[curve->started - 1];

	tl_figure_append(plot->alt, sizeof(plot->alt),
	                 "%s %s: %zu of %zu started, %.3g %% of them within a second, half within "
	                 "%s, the last after %s",
	                 plot->alt[strlen(plot->alt) - 1] == ':' ? "" : ";", name, curve->started,
	                 curve->jobs, at_once,
	                 tl_format_duration((int64_t)(half_s * 1e9), half, sizeof(half)),
	                 tl_format_duration((int64_t)(last_s * 1e9), last, sizeof(last)));
}

enum tl_status tl_figure_waiting(struct tl_results_reader *reader, FILE *data,
                                 struct tl_figure_plot *plot, struct tl_error *error)
{
	const char *const tables[] = {wait_schema.path, NULL};
	struct curve curves[TL_ROW_KIND_COUNT] = {{NULL, 0, 0}};
	double longest_s = 60.0, least_percent = 100.0;
	void *rows = NULL;
	size_t count = 0;
	size_t drawn = 0;

	if (!tl_figure_has(reader, tables, plot))
		return TL_OK;
	enum tl_status status = tl_results_read(reader, &wait_schema, &rows, &count, error);
	if (status != TL_OK)
		return status;
	sort_out(rows, count, curves);
	for (size_t k = 0; k < TL_ROW_KIND_COUNT; k++) {
		size_t started = curves[k].started;

		if (started > 0 && curves[k].waits_s[started - 1] > longest_s)
			longest_s = curves[k].waits_s[started - 1];
	}
	longest_s *= 1.25;
	snprintf(plot->alt, sizeof(plot->alt),
	         "Share of the started jobs that waited no longer, by kind of work:");
	for (size_t k = 0; k < TL_ROW_KIND_COUNT; k++) {
		if (curves[k].started > 0) {
			size_t used = strlen(plot->extras[1]);

			double at_once = percent_at_once(&curves[k]);

			least_percent = at_once < least_percent ? at_once : least_percent;
			print(&curves[k], tl_schema_kind_names[k], longest_s, data);
			describe(&curves[k], tl_schema_kind_names[k], at_once, plot);
			snprintf(plot->extras[1] + used, TL_FIGURE_EXTRA_SIZE - used, "%zu ",
			         k + 1);
			drawn++;
		}
		free(curves[k].waits_s);
	}
	snprintf(plot->extras[0], TL_FIGURE_EXTRA_SIZE, "%.9g", longest_s);
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%d", axis_begin(least_percent));
	tl_figure_append(plot->alt, sizeof(plot->alt), ".");
	if (drawn == 0)
		snprintf(plot->skip, sizeof(plot->skip), "no job ever started");
	free(rows);
	return TL_OK;
}
