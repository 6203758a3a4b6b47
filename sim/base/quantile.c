/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/quantile.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <math.h>
#include <stdlib.h>

/*
 * Buckets: values below 2,048 have one each; an octave [2^e, 2^(e+1)) above is cut
 * into 2,048 of equal width 2^(e−11). Its middle stands for a bucket, so a value is
 * off by at most half a width, 1/4096 of it.
 */
enum {
	SUB_BITS = 11,
	SUB_COUNT = 1 << SUB_BITS,
	OCTAVES = 63 - SUB_BITS,
	BUCKETS = (OCTAVES + 1) * SUB_COUNT
};

static size_t bucket_of(int64_t value)
{
	int exponent;

	if (value < SUB_COUNT)
		return (size_t)value;
	exponent = 63 - __builtin_clzll((unsigned long long)value);
	return (size_t)(exponent - SUB_BITS) * SUB_COUNT + (size_t)(value >> (exponent - SUB_BITS));
}

static double bucket_middle(size_t bucket)
{
	size_t octave = bucket / SUB_COUNT;
	double low;

	if (octave <= 1)
		return (double)bucket;
	low = ldexp((double)(SUB_COUNT + bucket % SUB_COUNT), (int)octave - 1);
	return low + ldexp(0.5, (int)octave - 1);
}

void tl_dist_init(struct tl_dist *dist, bool keep_all)
{
	*dist = (struct tl_dist){.keep_all = keep_all, .sorted = true};
}

void tl_dist_fini(struct tl_dist *dist)
{
	free(dist->values);
	free(dist->buckets);
	*dist = (struct tl_dist){0};
}

void tl_dist_add(struct tl_dist *dist, int64_t value)
{
	TL_ASSERT(value >= 0);
	if (dist->keep_all) {
		dist->values = tl_grow(dist->values, &dist->capacity, (size_t)dist->count + 1,
		                       sizeof *dist->values);
		dist->values[dist->count] = value;
		dist->sorted = dist->sorted && (dist->count == 0 || value >= dist->max);
	} else {
		/* Most of it stays untouched, and calloc's untouched pages cost nothing. */
		if (!dist->buckets)
			dist->buckets = tl_calloc(BUCKETS, sizeof *dist->buckets);
		dist->buckets[bucket_of(value)]++;
	}
	if (dist->count == 0 || value < dist->min)
		dist->min = value;
	if (dist->count == 0 || value > dist->max)
		dist->max = value;
	dist->sum += value;
	dist->count++;
}

double tl_dist_mean(const struct tl_dist *dist)
{
	return dist->count == 0 ? (double)NAN : (double)dist->sum / (double)dist->count;
}

static int compare_values(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

	return (a > b) - (a < b);
}

/* The order statistics `rank` and `rank + 1` (0-based; the last twice at the end). */
static void order_pair(const struct tl_dist *dist, uint64_t rank, double pair[2])
{
	uint64_t wanted[2] = {rank, rank + 1 < dist->count ? rank + 1 : rank};
	uint64_t below = 0;
	size_t bucket = 0;

	for (int i = 0; i < 2; i++) {
		if (dist->keep_all) {
			pair[i] = (double)dist->values[wanted[i]];
			continue;
		}
		while (below + dist->buckets[bucket] <= wanted[i])
			below += dist->buckets[bucket++];
		/* The extremes are known exactly, and bound every other. */
		pair[i] = fmin(fmax(bucket_middle(bucket), (double)dist->min), (double)dist->max);
		if (wanted[i] == 0)
			pair[i] = (double)dist->min;
		else if (wanted[i] == dist->count - 1)
			pair[i] = (double)dist->max;
	}
}

double tl_dist_quantile(struct tl_dist *dist, double q)
{
	double position, pair[2];
	uint64_t rank;

	TL_ASSERT(q >= 0 && q <= 1);
	if (dist->count == 0)
		return (double)NAN;
	if (dist->keep_all && !dist->sorted) {
		qsort(dist->values, (size_t)dist->count, sizeof *dist->values, compare_values);
		dist->sorted = true;
	}
	position = (double)(dist->count - 1) * q;
	rank = (uint64_t)position;
	if (rank > dist->count - 1)
		rank = dist->count - 1;
	order_pair(dist, rank, pair);
	return pair[0] + (position - (double)rank) * (pair[1] - pair[0]);
}
