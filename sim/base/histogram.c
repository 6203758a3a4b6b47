/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/histogram.h"

#include "sim/base/assert.h"

#include <math.h>
#include <string.h>

void tl_histogram_init(struct tl_histogram *histogram)
{
	memset(histogram, 0, sizeof *histogram);
	histogram->min = INT64_MAX;
	histogram->max = -1;
}

void tl_histogram_clear(struct tl_histogram *histogram)
{
	if (histogram->count > 0) {
		size_t first = tl_histogram_bucket(histogram->min);
		size_t last = tl_histogram_bucket(histogram->max);

		memset(&histogram->buckets[first], 0,
		       (last - first + 1) * sizeof(histogram->buckets[0]));
	}
	histogram->count = 0;
	histogram->min = INT64_MAX;
	histogram->max = -1;
}

void tl_histogram_merge(struct tl_histogram *into, const struct tl_histogram *from)
{
	if (from->count == 0)
		return;
	into->count += from->count;
	if (from->min < into->min)
		into->min = from->min;
	if (from->max > into->max)
		into->max = from->max;
	size_t last = tl_histogram_bucket(from->max);
	for (size_t i = tl_histogram_bucket(from->min); i <= last; i++)
		into->buckets[i] += from->buckets[i];
}

/* The middle of a bucket, bounded by the extremes. */
static int64_t value_of(const struct tl_histogram *histogram, size_t bucket)
{
	const size_t per_octave = (size_t)1 << TL_HISTOGRAM_BITS;
	int64_t value = (int64_t)bucket;

	if (bucket >= 2 * per_octave) {
		unsigned shift = (unsigned)(bucket >> TL_HISTOGRAM_BITS) - 1;
		uint64_t low = (uint64_t)(per_octave + bucket % per_octave) << shift;

		value = (int64_t)(low + ((UINT64_C(1) << shift) >> 1));
	}
	if (value < histogram->min)
		return histogram->min;
	return value > histogram->max ? histogram->max : value;
}

/* ⌈q · count⌉, at least 1. */
static uint64_t rank_of(const struct tl_histogram *histogram, double q)
{
	double rank = ceil(q * (double)histogram->count);

	if (!(rank >= 1))
		return 1;
	return rank >= (double)histogram->count ? histogram->count : (uint64_t)rank;
}

void tl_histogram_quantiles(const struct tl_histogram *histogram, const double *q, size_t n,
                            int64_t *out)
{
	uint64_t below = 0; /* values in the buckets before this one */
	size_t bucket = histogram->count > 0 ? tl_histogram_bucket(histogram->min) : 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t rank;

		TL_ASSERT(q[i] >= 0 && q[i] <= 1 && (i == 0 || q[i] >= q[i - 1]));
		if (histogram->count == 0) {
			out[i] = -1;
			continue;
		}
		rank = rank_of(histogram, q[i]);
		while (below + histogram->buckets[bucket] < rank)
			below += histogram->buckets[bucket++];
		out[i] = value_of(histogram, bucket);
		if (rank == 1)
			out[i] = histogram->min;
		if (rank == histogram->count)
			out[i] = histogram->max;
	}
}

int64_t tl_histogram_quantile(const struct tl_histogram *histogram, double q)
{
	int64_t value;

	tl_histogram_quantiles(histogram, &q, 1, &value);
	return value;
}
