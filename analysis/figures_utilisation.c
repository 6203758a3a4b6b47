/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of the timeline: GPUs held and free, and what fragmentation leaves of the free. */
#include "analysis/figures_private.h"
#include "analysis/report_html.h"

#include "sim/base/units.h"

#include <stdlib.h>

enum series { CAPACITY, DOWN, ALLOCATED, PRODUCTIVE, PENDING, FRAGMENTED, WHOLE, PARTIAL, SERIES };

static void take_values(const struct tl_row_timeline *row, double values[static SERIES])
{
	int64_t fragmented_mgpu = row->fragmentation_mgpu > 0 ? row->fragmentation_mgpu : 0;
	const int64_t mgpu[] = {[CAPACITY] = row->capacity_mgpu,
	                        [DOWN] = row->down_mgpu,
	                        [ALLOCATED] = row->allocated_mgpu,
	                        [PRODUCTIVE] = row->productive_mgpu,
	                        [PENDING] = row->pending_mgpu,
	                        [FRAGMENTED] = fragmented_mgpu,
	                        [WHOLE] = (int64_t)row->free_whole_gpus * TL_MGPU_PER_GPU};

	for (int s = 0; s <= WHOLE; s++)
		values[s] = (double)mgpu[s] / (double)TL_MGPU_PER_GPU;
	/* Faster GPUs than the reference make progress beyond their number. */
	if (values[PRODUCTIVE] > values[ALLOCATED])
		values[PRODUCTIVE] = values[ALLOCATED];
	values[PARTIAL] = row->partial_nodes;
}

/* A sample holds until the next one. */
static void fill(struct tl_figure_bins *bins, const struct tl_row_timeline *rows, size_t count)
{
	double values[SERIES];

	tl_figure_bins_init(bins, SERIES, rows[0].t_ns, rows[count - 1].t_ns);
	for (size_t i = 0; i + 1 < count; i++) {
		take_values(&rows[i], values);
		tl_figure_bins_add(bins, values, rows[i].t_ns, rows[i + 1].t_ns);
	}
	take_values(&rows[count - 1], values); /* for the most there was; alone, for a second */
	tl_figure_bins_add(bins, values, rows[count - 1].t_ns,
	                   rows[count - 1].t_ns + (count == 1 ? TL_NS_PER_S : 0));
}

/* Reads the timeline into bins and sets the axis of time; false: skipped, or status. */
static bool prepare(struct tl_results_reader *reader, struct tl_figure_plot *plot,
                    struct tl_figure_bins *bins, double *unit_ns, enum tl_status *status,
                    struct tl_error *error)
{
	struct tl_row_timeline *rows = NULL;
	size_t count = 0;

	*status = tl_figure_timeline(reader, &rows, &count, plot, error);
	if (!rows)
		return false;
	fill(bins, rows, count);
	*unit_ns = tl_figure_time_axis(
	    plot, rows[0].t_ns, rows[0].t_ns + (int64_t)(bins->width_ns * TL_FIGURE_BINS + 0.5));
	free(rows);
	return true;
}

/* ---- utilisation ---- */

static void print_utilisation(const struct tl_figure_bins *bins, FILE *data, double unit_ns,
                              struct tl_figure_plot *plot)
{
	const double *total = bins->total;
	double all = total[CAPACITY] > 0 ? total[CAPACITY] / 100.0 : 1.0;
	double held = (total[ALLOCATED] - total[PRODUCTIVE]) / all;
	double up_free = (total[CAPACITY] - total[DOWN] - total[ALLOCATED]) / all;

	fprintf(
	    data,
	    "time \"held, making progress %.1f %%\" \"held, no progress %.1f %%\" \"free %.1f %%\" "
	    "\"down %.1f %%\" pending\n",
	    total[PRODUCTIVE] / all, held, up_free, total[DOWN] / all);
	for (int b = 0; b < TL_FIGURE_BINS; b++) {
		double capacity = tl_figure_bins_mean(bins, b, CAPACITY);

		fprintf(data, "%.6g %.6g %.6g %.6g %.6g %.6g\n",
		        tl_figure_bins_time_ns(bins, b) / unit_ns,
		        tl_figure_bins_mean(bins, b, PRODUCTIVE),
		        tl_figure_bins_mean(bins, b, ALLOCATED),
		        capacity - tl_figure_bins_mean(bins, b, DOWN), capacity,
		        tl_figure_bins_mean(bins, b, PENDING));
	}
	char most[TL_NUMBER_SIZE], pending[TL_NUMBER_SIZE];

	snprintf(
	    plot->alt, sizeof(plot->alt),
	    "GPUs over time, stacked to the capacity of %s: held by work that makes progress "
	    "%.1f %%, held without progress %.1f %%, free %.1f %%, down %.1f %% of the time; at "
	    "most %s GPUs were waited for.",
	    tl_number(bins->most[CAPACITY], most), total[PRODUCTIVE] / all, held, up_free,
	    total[DOWN] / all, tl_number(bins->most[PENDING], pending));
}

enum tl_status tl_figure_utilisation(struct tl_results_reader *reader, FILE *data,
                                     struct tl_figure_plot *plot, struct tl_error *error)
{
	struct tl_figure_bins bins;
	double unit_ns = 1.0;
	enum tl_status status;

	if (!prepare(reader, plot, &bins, &unit_ns, &status, error))
		return status;
	print_utilisation(&bins, data, unit_ns, plot);
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%.9g",
	         bins.most[CAPACITY] > 0 ? bins.most[CAPACITY] : 1.0);
	snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s%s", bins.most[DOWN] > 0 ? "down " : "",
	         bins.most[PENDING] > 0 ? "pending" : "");
	tl_figure_bins_fini(&bins);
	return TL_OK;
}

/* ---- fragmentation ---- */

static void print_fragmentation(const struct tl_figure_bins *bins, FILE *data, double unit_ns,
                                struct tl_figure_plot *plot)
{
	const double *total = bins->total;
	double all = total[CAPACITY] > 0 ? total[CAPACITY] / 100.0 : 1.0;
	double up_free = (total[CAPACITY] - total[DOWN] - total[ALLOCATED]) / all;

	fprintf(data,
	        "time \"free %.1f %% of capacity\" \"too scattered for the jobs asked for "
	        "%.1f %%\" \"wholly free %.1f %%\" nodes\n",
	        up_free, total[FRAGMENTED] / all, total[WHOLE] / all);
	for (int b = 0; b < TL_FIGURE_BINS; b++)
		fprintf(
		    data, "%.6g %.6g %.6g %.6g %.6g\n", tl_figure_bins_time_ns(bins, b) / unit_ns,
		    tl_figure_bins_mean(bins, b, CAPACITY) - tl_figure_bins_mean(bins, b, DOWN) -
			tl_figure_bins_mean(bins, b, ALLOCATED),
		    tl_figure_bins_mean(bins, b, FRAGMENTED), tl_figure_bins_mean(bins, b, WHOLE),
		    tl_figure_bins_mean(bins, b, PARTIAL));
	snprintf(
	    plot->alt, sizeof(plot->alt),
	    "Free GPUs over time: on average %.1f %% of capacity is free, %.1f %% in GPUs that "
	    "are wholly free; %.1f %% is expected to be of no use to the mix of requests. At "
	    "most %.6g nodes were partly held.",
	    up_free, total[WHOLE] / all, total[FRAGMENTED] / all, bins->most[PARTIAL]);
}

enum tl_status tl_figure_fragmentation(struct tl_results_reader *reader, FILE *data,
                                       struct tl_figure_plot *plot, struct tl_error *error)
{
	struct tl_figure_bins bins;
	double unit_ns = 1.0;
	enum tl_status status;

	if (!prepare(reader, plot, &bins, &unit_ns, &status, error))
		return status;
	print_fragmentation(&bins, data, unit_ns, plot);
	tl_figure_bins_fini(&bins);
	return TL_OK;
}
