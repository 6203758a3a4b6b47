/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>

/* A little under one a pixel of the plot. */
enum { BINS = 1000 };

enum series { CAPACITY, DOWN, ALLOCATED, PRODUCTIVE, PENDING, SERIES };

struct bins {
	double sum[BINS][SERIES]; /* GPU × ns */
	double total[SERIES];
	double most[SERIES];
	int64_t begin_ns;
	double width_ns;
};

static void take_values(const struct tl_row_timeline *row, double values[static SERIES])
{
	const int64_t mgpu[SERIES] = {[CAPACITY] = row->capacity_mgpu,
	                              [DOWN] = row->down_mgpu,
	                              [ALLOCATED] = row->allocated_mgpu,
	                              [PRODUCTIVE] = row->productive_mgpu,
	                              [PENDING] = row->pending_mgpu};

	for (int s = 0; s < SERIES; s++)
		values[s] = (double)mgpu[s] / (double)TL_MGPU_PER_GPU;
	/* Faster GPUs than the reference make progress beyond their number. */
	if (values[PRODUCTIVE] > values[ALLOCATED])
		values[PRODUCTIVE] = values[ALLOCATED];
}

/* A sample holds until the next one; each bin gets its share of that time. */
static void add_span(struct bins *bins, const double values[static SERIES], double from, double to)
{
	int first = (int)(from / bins->width_ns);
	int last = (int)(to / bins->width_ns);

	for (int b = first; b <= last && b < BINS; b++) {
		double begin = b * bins->width_ns;
		double end = begin + bins->width_ns;
		double held = (to < end ? to : end) - (from > begin ? from : begin);

		for (int s = 0; s < SERIES && held > 0; s++)
			bins->sum[b][s] += values[s] * held;
	}
	for (int s = 0; s < SERIES; s++) {
		bins->total[s] += values[s] * (to - from);
		if (values[s] > bins->most[s])
			bins->most[s] = values[s];
	}
}

static enum tl_status fill(struct bins *bins, const struct tl_row_timeline *rows, size_t count,
                           struct tl_error *error)
{
	int64_t span_ns = rows[count - 1].t_ns - rows[0].t_ns;

	bins->begin_ns = rows[0].t_ns;
	bins->width_ns = (double)(span_ns > 0 ? span_ns : TL_NS_PER_S) / BINS;
	for (size_t i = 0; i < count; i++) {
		double values[SERIES];
		int64_t end_ns = i + 1 < count ? rows[i + 1].t_ns : rows[i].t_ns;

		if (end_ns < rows[i].t_ns)
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "table %s, row %zu: got a time before that of the row "
			                    "above it, wanted rows in order of time",
			                    tl_schema_timeline.path, i + 1);
		take_values(&rows[i], values);
		double from = (double)(rows[i].t_ns - bins->begin_ns);
		double to = (double)(end_ns - bins->begin_ns);
		if (span_ns == 0 && i + 1 == count)
			to = from + bins->width_ns * BINS;
		add_span(bins, values, from, to);
	}
	return TL_OK;
}

static void print(const struct bins *bins, FILE *data, double unit_ns)
{
	double all = bins->total[CAPACITY] > 0 ? bins->total[CAPACITY] / 100.0 : 1.0;
	double up_free = bins->total[CAPACITY] - bins->total[DOWN] - bins->total[ALLOCATED];

	fprintf(data,
	        "time \"productive %.1f %%\" \"held, not productive %.1f %%\" \"free %.1f %%\" "
	        "\"down %.1f %%\" pending\n",
	        bins->total[PRODUCTIVE] / all,
	        (bins->total[ALLOCATED] - bins->total[PRODUCTIVE]) / all, up_free / all,
	        bins->total[DOWN] / all);
	for (int b = 0; b < BINS; b++) {
		double mean[SERIES];

		for (int s = 0; s < SERIES; s++)
			mean[s] = bins->sum[b][s] / bins->width_ns;
		fprintf(data, "%.6g %.6g %.6g %.6g %.6g %.6g\n",
		        ((double)bins->begin_ns + (b + 0.5) * bins->width_ns) / unit_ns,
		        mean[PRODUCTIVE], mean[ALLOCATED], mean[CAPACITY] - mean[DOWN],
		        mean[CAPACITY], mean[PENDING]);
	}
}

enum tl_status tl_figure_utilisation(struct tl_results_reader *reader, FILE *data,
                                     struct tl_figure_plot *plot, struct tl_error *error)
{
	const char *const tables[] = {tl_schema_timeline.path, NULL};
	struct tl_row_timeline *rows = NULL;
	void *read = NULL;
	size_t count = 0;
	double unit_ns = 1.0;

	if (!tl_figure_has(reader, tables, plot))
		return TL_OK;
	enum tl_status status = tl_results_read(reader, &tl_schema_timeline, &read, &count, error);
	if (status != TL_OK)
		return status;
	rows = read;
	if (count == 0) {
		snprintf(plot->skip, sizeof(plot->skip), "the timeline has no samples");
		free(read);
		return TL_OK;
	}
	struct bins *bins = tl_calloc(1, sizeof(*bins));
	status = fill(bins, rows, count, error);
	if (status == TL_OK) {
		double length_ns = bins->width_ns * BINS;
		const char *unit = tl_figure_time_unit((int64_t)length_ns, &unit_ns);

		print(bins, data, unit_ns);
		snprintf(plot->extras[0], TL_FIGURE_EXTRA_SIZE, "%s", unit);
		snprintf(plot->extras[1], TL_FIGURE_EXTRA_SIZE, "%.9g:%.9g",
		         (double)bins->begin_ns / unit_ns,
		         ((double)bins->begin_ns + length_ns) / unit_ns);
		snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%.9g",
		         bins->most[CAPACITY] > 0 ? bins->most[CAPACITY] : 1.0);
		snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s%s",
		         bins->most[DOWN] > 0 ? "down " : "",
		         bins->most[PENDING] > 0 ? "pending" : "");
	}
	free(bins);
	free(read);
	return status;
}
