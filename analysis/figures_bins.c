/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>

void tl_figure_bins_init(struct tl_figure_bins *bins, size_t series, int64_t begin_ns,
                         int64_t end_ns)
{
	int64_t span_ns = end_ns > begin_ns ? end_ns - begin_ns : TL_NS_PER_S;

	*bins = (struct tl_figure_bins){
	    .series = series, .begin_ns = begin_ns, .width_ns = (double)span_ns / TL_FIGURE_BINS};
	bins->sum = tl_calloc(TL_FIGURE_BINS * series, sizeof(*bins->sum));
	bins->total = tl_calloc(series, sizeof(*bins->total));
	bins->most = tl_calloc(series, sizeof(*bins->most));
}

void tl_figure_bins_fini(struct tl_figure_bins *bins)
{
	free(bins->sum);
	free(bins->total);
	free(bins->most);
}

void tl_figure_bins_add(struct tl_figure_bins *bins, const double *values, int64_t from_ns,
                        int64_t to_ns)
{
	double from = (double)(from_ns - bins->begin_ns);
	double to = (double)(to_ns - bins->begin_ns);

	for (int b = (int)(from / bins->width_ns); b < TL_FIGURE_BINS; b++) {
		double begin = b * bins->width_ns;
		double end = begin + bins->width_ns;
		double held = (to < end ? to : end) - (from > begin ? from : begin);

		if (begin >= to)
			break;
		for (size_t s = 0; s < bins->series && held > 0; s++)
			bins->sum[(size_t)b * bins->series + s] += values[s] * held;
	}
	for (size_t s = 0; s < bins->series; s++) {
		bins->total[s] += values[s] * (to - from);
		if (values[s] > bins->most[s])
			bins->most[s] = values[s];
	}
}

double tl_figure_bins_mean(const struct tl_figure_bins *bins, int bin, size_t series)
{
	return bins->sum[(size_t)bin * bins->series + series] / bins->width_ns;
}

double tl_figure_bins_time_ns(const struct tl_figure_bins *bins, int bin)
{
	return (double)bins->begin_ns + (bin + 0.5) * bins->width_ns;
}
