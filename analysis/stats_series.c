/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whether a series has settled, and from when on. */
#include "analysis/stats.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>

enum { MSER_BATCHES_LEAST = 4, SATURATION_LEAST = 2 * TL_STATS_SATURATION_BATCHES };
#define SATURATION_TAU 0.5
#define SATURATION_GROWTH 1.25

static double mean_between(const double *x, size_t from, size_t to)
{
	return tl_stats_sample(x + from, to - from).mean;
}

struct tl_stats_warmup tl_stats_mser5(const double *x, size_t n)
{
	const size_t batches = n / TL_STATS_MSER_BATCH, half = batches / 2;
	struct tl_stats_warmup warmup = {.settled = true};
	size_t best = 0;
	double least = INFINITY, mean = 0, square = 0;

	/* From the end backwards, mean and sum of squared deviations by Welford's recurrence:
	 * all cuts in one pass. */
	for (size_t i = batches; batches >= MSER_BATCHES_LEAST && i-- > 0;) {
		const double y =
		    mean_between(x, i * TL_STATS_MSER_BATCH, (i + 1) * TL_STATS_MSER_BATCH);
		const double count = (double)(batches - i), step = y - mean;

		mean += step / count;
		square += step * (y - mean);
		if (i <= half && square / (count * count) <= least) {
			least = square / (count * count);
			best = i;
		}
	}
	/* The least at the last cut allowed: the end of the warm-up was not seen. */
	if (best > 0 && best == half) {
		warmup.settled = false;
		best = 0;
	}
	warmup.truncate = best * TL_STATS_MSER_BATCH;
	warmup.mean = mean_between(x, warmup.truncate, n);
	return warmup;
}

/* Kendall's τ of the values against their order; ties count for neither side. */
static double tau(const double *y, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++)
			sum += (y[j] > y[i]) - (y[j] < y[i]);
	return sum / ((double)n * (double)(n - 1) / 2);
}

bool tl_stats_saturated(const double *queue, size_t n)
{
	double y[TL_STATS_SATURATION_BATCHES];

	if (n < SATURATION_LEAST)
		return false;
	for (size_t i = n / 2; i < n; i++)
		if (!(queue[i] > 0))
			return false;
	for (size_t i = 0; i < TL_STATS_SATURATION_BATCHES; i++)
		y[i] = mean_between(queue, i * n / TL_STATS_SATURATION_BATCHES,
		                    (i + 1) * n / TL_STATS_SATURATION_BATCHES);
	return tau(y, TL_STATS_SATURATION_BATCHES) >= SATURATION_TAU &&
	       mean_between(queue, 3 * n / 4, n) >
	           SATURATION_GROWTH * mean_between(queue, n / 4, 3 * n / 4);
}
