/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the GPUs did over time, stacked: work by kind, what it costs besides, what lies idle. */
#include "analysis/figures_private.h"

#include <stdlib.h>
#include <string.h>

/* From the bottom of the stack, as plots/purposes.gp colours them. A purpose that a newer
 * run may have and this does not know is `other`. */
static const struct band {
	const char *name;
	const char *kind;     /* NULL: any */
	const char *purposes; /* words */
} bands[] = {
    {"training", "training", " productive rework "},
    {"inference, serving", "inference", " productive rework "},
    {"evaluation", "evaluation", " productive rework "},
    {"simulation and other work", NULL, " productive rework "},
    {"standby replicas", NULL, " standby "},
    {"slower: distance, co-tenants", NULL, " communication interference "},
    {"start, save, resume", NULL, " start suspend resume checkpoint "},
    {"other", NULL, NULL},
    {"idle: kept for a job", NULL, " idle-reserved "},
    {"idle while work waits", NULL, " idle-fragmented "},
    {"idle, nothing waits", NULL, " idle-free "},
    {"down", NULL, " down "},
};
enum { BANDS = sizeof(bands) / sizeof(bands[0]), BAND_OTHER = 7 };

static size_t band_of(const struct tl_row_purpose *row)
{
	char word[TL_ROW_PURPOSE_SIZE + 2];

	snprintf(word, sizeof(word), " %s ", row->purpose);
	for (size_t b = 0; b < BANDS; b++)
		if (bands[b].purposes && strstr(bands[b].purposes, word) &&
		    (!bands[b].kind || strcmp(bands[b].kind, row->kind) == 0))
			return b;
	return BAND_OTHER;
}

static enum tl_status fill(struct tl_figure_bins *bins, const struct tl_row_purpose *rows,
                           size_t count, struct tl_error *error)
{
	int64_t begin_ns = 0;

	tl_figure_bins_init(bins, BANDS, 0, rows[count - 1].t_ns);
	for (size_t i = 0; i < count;) {
		double values[BANDS] = {0.0};
		int64_t end_ns = rows[i].t_ns;

		if (end_ns <= begin_ns)
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "table %s, row %zu: got an interval that ends at or "
			                    "before its begin, wanted rows in order of time",
			                    tl_schema_purposes.path, i);
		for (; i < count && rows[i].t_ns == end_ns; i++)
			values[band_of(&rows[i])] +=
			    rows[i].gpu_s * 1e9 / (double)(end_ns - begin_ns);
		/* Standby and serving are told apart a window at a time: an interval that ends
		 * within one may owe a little. */
		for (size_t b = 0; b < BANDS; b++)
			values[b] = values[b] > 0.0 ? values[b] : 0.0;
		tl_figure_bins_add(bins, values, begin_ns, end_ns);
		begin_ns = end_ns;
	}
	return TL_OK;
}

/* Heading: the bands that occur, with their share of all; then the tops of the stack. */
static void print(const struct tl_figure_bins *bins, FILE *data, double unit_ns,
                  struct tl_figure_plot *plot)
{
	double all = 0.0;

	for (size_t b = 0; b < BANDS; b++)
		all += bins->total[b] / 100.0;
	all = all > 0.0 ? all : 1.0;
	snprintf(plot->alt, sizeof(plot->alt), "What the GPUs did, stacked over time:");
	fputs("time", data);
	for (size_t b = 0; b < BANDS; b++) {
		double share = bins->total[b] / all;

		fprintf(data, " \"%s %.1f %%\"", bands[b].name, share);
		if (bins->total[b] <= 0.0)
			continue;
		tl_figure_append(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%zu ", b + 1);
		tl_figure_append(plot->alt, sizeof(plot->alt), " %s %.1f %%;", bands[b].name,
		                 share);
	}
	fputs("\n", data);
	plot->alt[strlen(plot->alt) - 1] = '.';
	for (int i = 0; i < TL_FIGURE_BINS; i++) {
		double top = 0.0;

		fprintf(data, "%.6g 0", tl_figure_bins_time_ns(bins, i) / unit_ns);
		for (size_t b = 0; b < BANDS; b++) {
			top += tl_figure_bins_mean(bins, i, b);
			fprintf(data, " %.6g", top);
		}
		fputs("\n", data);
	}
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%.9g",
	         all * 100.0 / (bins->width_ns * TL_FIGURE_BINS));
}

enum tl_status tl_figure_purposes(struct tl_results_reader *reader, FILE *data,
                                  struct tl_figure_plot *plot, struct tl_error *error)
{
	const char *const tables[] = {tl_schema_purposes.path, NULL};
	struct tl_figure_bins bins;
	void *rows = NULL;
	size_t count = 0;

	if (!tl_figure_has(reader, tables, plot))
		return TL_OK;
	enum tl_status status = tl_results_read(reader, &tl_schema_purposes, &rows, &count, error);
	if (status != TL_OK)
		return status;
	if (count == 0) {
		snprintf(plot->skip, sizeof(plot->skip), "the timeline has no intervals");
		free(rows);
		return TL_OK;
	}
	status = fill(&bins, rows, count, error);
	if (status == TL_OK)
		print(&bins, data,
		      tl_figure_time_axis(plot, 0,
		                          ((const struct tl_row_purpose *)rows)[count - 1].t_ns),
		      plot);
	tl_figure_bins_fini(&bins);
	free(rows);
	return status;
}
