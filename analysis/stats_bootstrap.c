/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Intervals by resampling. */
#include "analysis/stats.h"

#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Sorted statistics of the resamples; false where one is not a number. */
static bool resample(tl_stats_statistic statistic, const void *data, size_t n, uint64_t seed,
                     size_t *index, double *out)
{
	struct tl_rng rng;

	tl_rng_init(&rng, seed, TL_STREAM_BOOTSTRAP, 0);
	for (size_t r = 0; r < TL_STATS_RESAMPLES; r++) {
		for (size_t i = 0; i < n; i++)
			index[i] = (size_t)tl_rng_below(&rng, n);
		out[r] = statistic(index, n, data);
		if (!isfinite(out[r]))
			return false;
	}
	qsort(out, TL_STATS_RESAMPLES, sizeof *out, ascending);
	return true;
}

/* The acceleration: a sixth of the skew of the jackknife's values (14.15). */
static double acceleration(tl_stats_statistic statistic, const void *data, size_t n, size_t *index)
{
	double *left_out = tl_calloc(n, sizeof *left_out);
	double mean = 0, square = 0, cube = 0;

	for (size_t skip = 0; skip < n; skip++) {
		size_t count = 0;

		for (size_t i = 0; i < n; i++)
			if (i != skip)
				index[count++] = i;
		left_out[skip] = statistic(index, count, data);
		mean += left_out[skip] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		const double d = mean - left_out[i];

		square += d * d;
		cube += d * d * d;
	}
	free(left_out);
	return square > 0 ? cube / (6 * square * sqrt(square)) : 0;
}

/* Bias (14.14): how much of the resamples lies below the estimate, ties by half. Never all or
 * none of them, whose normal quantile would be infinite. */
static double bias(const double *sorted, double estimate)
{
	double below = 0;

	for (size_t r = 0; r < TL_STATS_RESAMPLES; r++) {
		if (sorted[r] < estimate)
			below += 1;
		else if (!(sorted[r] > estimate))
			below += 0.5;
	}
	return gsl_cdf_ugaussian_Pinv((below + 0.5) / (TL_STATS_RESAMPLES + 1));
}

struct tl_stats_interval tl_stats_bootstrap(tl_stats_statistic statistic, const void *data,
                                            size_t n, double confidence,
                                            enum tl_stats_bootstrap kind, uint64_t seed)
{
	struct tl_stats_interval interval = {NAN, NAN};
	double low = (1 - confidence) / 2, high = (1 + confidence) / 2;
	double *sorted;
	size_t *index;

	if (n < 2)
		return interval;
	sorted = tl_calloc(TL_STATS_RESAMPLES, sizeof *sorted);
	index = tl_calloc(n, sizeof *index);
	if (resample(statistic, data, n, seed, index, sorted)) {
		if (kind == TL_STATS_BCA) {
			double z, a = acceleration(statistic, data, n, index);
			double tail = gsl_cdf_ugaussian_Pinv(high);

			for (size_t i = 0; i < n; i++)
				index[i] = i;
			z = bias(sorted, statistic(index, n, data));
			low = gsl_cdf_ugaussian_P(z + (z - tail) / (1 - a * (z - tail)));
			high = gsl_cdf_ugaussian_P(z + (z + tail) / (1 - a * (z + tail)));
		}
		interval.low =
		    gsl_stats_quantile_from_sorted_data(sorted, 1, TL_STATS_RESAMPLES, low);
		interval.high =
		    gsl_stats_quantile_from_sorted_data(sorted, 1, TL_STATS_RESAMPLES, high);
	}
	free(index);
	free(sorted);
	return interval;
}

static double mean_of(const size_t *index, size_t n, const void *data)
{
	const double *x = data;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[index[i]];
	return sum / (double)n;
}

struct tl_stats_interval tl_stats_bootstrap_mean(const double *x, size_t n, double confidence,
                                                 enum tl_stats_bootstrap kind, uint64_t seed)
{
	return tl_stats_bootstrap(mean_of, x, n, confidence, kind, seed);
}

struct pairs {
	const double *a, *b;
};

static double ratio_of(const size_t *index, size_t n, const void *data)
{
	const struct pairs *pairs = data;
	double above = 0, below = 0;

	for (size_t i = 0; i < n; i++) {
		above += pairs->b[index[i]];
		below += pairs->a[index[i]];
	}
	return above / below;
}

struct tl_stats_interval tl_stats_bootstrap_ratio(const double *a, const double *b, size_t n,
                                                  double confidence, enum tl_stats_bootstrap kind,
                                                  uint64_t seed)
{
	const struct pairs pairs = {a, b};

	return tl_stats_bootstrap(ratio_of, &pairs, n, confidence, kind, seed);
}
