/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Distribution of a non-negative int64 quantity. Exact while every value is kept
 * (keep_all), else a log-bucketed histogram of fixed size: 2,048 buckets an octave,
 * relative error of a quantile ≤ 1/4096.
 */
#ifndef TIDELAB_BASE_QUANTILE_H
#define TIDELAB_BASE_QUANTILE_H

#include "sim/base/units.h"

#include <stdbool.h>
#include <stddef.h>

struct tl_dist {
	bool keep_all;
	bool sorted;
	int64_t *values; /* keep_all: count of them */
	size_t capacity;
	uint64_t *buckets; /* otherwise */
	uint64_t count;
	tl_i128 sum;
	int64_t min, max;
};

void tl_dist_init(struct tl_dist *dist, bool keep_all);
void tl_dist_fini(struct tl_dist *dist);
void tl_dist_add(struct tl_dist *dist, int64_t value); /* value ≥ 0; amortised O(1) */
double tl_dist_mean(const struct tl_dist *dist);       /* NaN where count is 0 */
/* Quantile q in [0, 1] by linear interpolation between order statistics (Hyndman
 * and Fan's type 7, numpy's default). NaN where count is 0. Sorts on first use. */
double tl_dist_quantile(struct tl_dist *dist, double q);

#endif
