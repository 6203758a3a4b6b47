/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/arena.h"
#include "sim/base/histogram.h"
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>

static struct tl_histogram histogram, other;

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

Test(histogram, buckets_are_in_order_and_within_bounds)
{
	size_t last = 0;

	for (int64_t v = 0; v < 128; v++)
		cr_assert_eq(tl_histogram_bucket(v), (size_t)v);
	for (int e = 7; e < 63; e++) {
		for (int64_t i = 0; i < 64; i++) {
			int64_t low = (INT64_C(1) << e) + (i << (e - 6));
			int64_t high = low + ((INT64_C(1) << (e - 6)) - 1);
			size_t bucket = tl_histogram_bucket(low);

			cr_assert(bucket > last || e == 7);
			cr_assert_eq(tl_histogram_bucket(high), bucket);
			last = bucket;
		}
	}
	cr_assert_eq(tl_histogram_bucket(INT64_MAX), TL_HISTOGRAM_BUCKETS - 1);
}

Test(histogram, empty_tells_none)
{
	tl_histogram_init(&histogram);
	cr_assert_eq(tl_histogram_quantile(&histogram, 0.5), -1);
	tl_histogram_add(&histogram, 0);
	cr_assert_eq(tl_histogram_quantile(&histogram, 0.5), 0);
	cr_assert_eq(histogram.min, 0);
}

Test(histogram, extremes_are_exact)
{
	tl_histogram_init(&histogram);
	tl_histogram_add(&histogram, 1000003);
	cr_assert_eq(tl_histogram_quantile(&histogram, 0), 1000003);
	cr_assert_eq(tl_histogram_quantile(&histogram, 1), 1000003);
	tl_histogram_add(&histogram, INT64_MAX);
	cr_assert_eq(tl_histogram_quantile(&histogram, 0), 1000003);
	cr_assert_eq(tl_histogram_quantile(&histogram, 1), INT64_MAX);
}

/* Against the sorted values, over 18 decades. */
Test(histogram, quantiles_are_within_a_hundredth)
{
	enum { N = 20000 };
	static const double q[] = {0, 0.001, 0.1, 0.5, 0.9, 0.95, 0.99, 0.999, 1};
	int64_t *values = tl_alloc(N * sizeof *values);
	int64_t out[sizeof q / sizeof q[0]];
	struct tl_rng rng;

	tl_histogram_init(&histogram);
	tl_rng_init(&rng, 5, TL_STREAM_TEST, 1);
	for (size_t i = 0; i < N; i++) {
		values[i] = (int64_t)pow(10, 18 * tl_rng_uniform(&rng));
		tl_histogram_add(&histogram, values[i]);
	}
	qsort(values, N, sizeof *values, compare);
	tl_histogram_quantiles(&histogram, q, sizeof q / sizeof q[0], out);
	for (size_t i = 0; i < sizeof q / sizeof q[0]; i++) {
		size_t rank = q[i] > 0 ? (size_t)ceil(q[i] * N) : 1;
		double exact = (double)values[rank - 1];

		cr_assert_leq(fabs((double)out[i] - exact), exact / 128, "q %g: %g, got %g", q[i],
		              exact, (double)out[i]);
		cr_assert_eq(out[i], tl_histogram_quantile(&histogram, q[i]));
	}
	free(values);
}

Test(histogram, merged_is_as_if_added_to_one)
{
	static struct tl_histogram both;
	struct tl_rng rng;

	tl_histogram_init(&histogram);
	tl_histogram_init(&other);
	tl_histogram_init(&both);
	tl_rng_init(&rng, 6, TL_STREAM_TEST, 2);
	for (int i = 0; i < 5000; i++) {
		int64_t value = (int64_t)(tl_rng_u64(&rng) >> (1 + i % 60));

		tl_histogram_add(i % 3 ? &histogram : &other, value);
		tl_histogram_add(&both, value);
	}
	tl_histogram_merge(&histogram, &other);
	cr_assert_eq(histogram.count, both.count);
	cr_assert_eq(histogram.min, both.min);
	cr_assert_eq(histogram.max, both.max);
	cr_assert_arr_eq(histogram.buckets, both.buckets, sizeof both.buckets);
	tl_histogram_init(&other);
	tl_histogram_merge(&histogram, &other);
	cr_assert_eq(histogram.min, both.min, "merging an empty one changes nothing");
}

Test(histogram, cleared_is_as_new)
{
	static const int64_t values[] = {0, 1, 127, 128, 1000000, INT64_MAX};
	const size_t count = sizeof values / sizeof values[0];

	tl_histogram_init(&histogram);
	tl_histogram_init(&other);
	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++) {
			tl_histogram_add_many(&histogram, values[i], 3);
			tl_histogram_add(&histogram, values[j]);
			tl_histogram_clear(&histogram);
			cr_assert_eq(memcmp(&histogram, &other, sizeof histogram), 0);
		}
	tl_histogram_clear(&histogram);
	tl_histogram_merge(&histogram, &other);
	cr_assert_eq(memcmp(&histogram, &other, sizeof histogram), 0);
}

Test(histogram, a_quantile_beyond_one_is_our_error, .signal = SIGABRT)
{
	tl_histogram_init(&histogram);
	(void)tl_histogram_quantile(&histogram, 1.5);
}
