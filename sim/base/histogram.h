/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A log-bucketed histogram of int64 values ≥ 0: fixed size (29 KiB), O(1) add, mergeable.
 * For windows that are closed by the thousand, where struct tl_dist (finer, 50 times as
 * large) is too much.
 *
 * Values below 128 have a bucket each; above, every octave [2^e, 2^(e+1)) is cut into 64
 * buckets of equal width, and a value is told by the middle of its bucket: the relative
 * error is at most 1/128 (0.78 %), and 0 below 128. The least and the greatest value are
 * kept exactly, told where the rank is theirs, and bound what is told.
 */
#ifndef TIDELAB_BASE_HISTOGRAM_H
#define TIDELAB_BASE_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

enum {
	TL_HISTOGRAM_BITS = 6, /* log2 of the buckets of an octave */
	TL_HISTOGRAM_BUCKETS = (63 - TL_HISTOGRAM_BITS + 1) << TL_HISTOGRAM_BITS
};

struct tl_histogram {
	uint64_t count;
	int64_t min, max; /* INT64_MAX and −1 where count is 0 */
	uint64_t buckets[TL_HISTOGRAM_BUCKETS];
};

void tl_histogram_init(struct tl_histogram *histogram);

/* Empties it for the next window. O(buckets from its least to its greatest value). */
void tl_histogram_clear(struct tl_histogram *histogram);

/* The bucket of a value ≥ 0. */
static inline size_t tl_histogram_bucket(int64_t value)
{
	uint64_t v = (uint64_t)value;
	/* Its highest bit, but never below BITS, so that small values are their own bucket. */
	unsigned octave = 63U - (unsigned)__builtin_clzll(v | (UINT64_C(1) << TL_HISTOGRAM_BITS));
	unsigned shift = octave - TL_HISTOGRAM_BITS;

	return ((size_t)shift << TL_HISTOGRAM_BITS) + (size_t)(v >> shift);
}

/* value ≥ 0. */
static inline void tl_histogram_add(struct tl_histogram *histogram, int64_t value)
{
	histogram->count++;
	histogram->min = value < histogram->min ? value : histogram->min;
	histogram->max = value > histogram->max ? value : histogram->max;
	histogram->buckets[tl_histogram_bucket(value)]++;
}

/* The same value n times. */
static inline void tl_histogram_add_many(struct tl_histogram *histogram, int64_t value, uint64_t n)
{
	if (n == 0)
		return;
	tl_histogram_add(histogram, value);
	histogram->count += n - 1;
	histogram->buckets[tl_histogram_bucket(value)] += n - 1;
}

/* Adds all of `from` to `into`. O(buckets from its least to its greatest value). */
void tl_histogram_merge(struct tl_histogram *into, const struct tl_histogram *from);

/* The ⌈q · count⌉-th least value (the least for q = 0), within the error above; q in
 * [0, 1]. −1 where count is 0. O(buckets from the least value on). */
int64_t tl_histogram_quantile(const struct tl_histogram *histogram, double q);

/* The same for several q at once, ascending: one pass. */
void tl_histogram_quantiles(const struct tl_histogram *histogram, const double *q, size_t n,
                            int64_t *out);

#endif
