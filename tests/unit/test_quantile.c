/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/quantile.h"

#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>

Test(quantile, empty_is_nan)
{
	for (int keep = 0; keep < 2; keep++) {
		struct tl_dist dist;

		tl_dist_init(&dist, keep);
		cr_assert(isnan(tl_dist_mean(&dist)));
		cr_assert(isnan(tl_dist_quantile(&dist, 0.5)));
		tl_dist_fini(&dist);
	}
}

Test(quantile, one_value_is_every_quantile)
{
	for (int keep = 0; keep < 2; keep++) {
		struct tl_dist dist;

		tl_dist_init(&dist, keep);
		tl_dist_add(&dist, INT64_C(123456789012));
		for (int i = 0; i <= 4; i++)
			cr_assert_eq(tl_dist_quantile(&dist, i / 4.0), 123456789012.0);
		tl_dist_fini(&dist);
	}
}

Test(quantile, type_seven_by_hand)
{
	/* Sorted 10 20 30 40: position 3q, linear between. */
	static const int64_t values[] = {30, 10, 40, 20};
	static const double wanted[][2] = {{0, 10}, {0.25, 17.5}, {0.5, 25}, {0.9, 37}, {1, 40}};

	for (int keep = 0; keep < 2; keep++) {
		struct tl_dist dist;

		tl_dist_init(&dist, keep);
		for (int i = 0; i < 4; i++)
			tl_dist_add(&dist, values[i]);
		for (int i = 0; i < 5; i++)
			cr_assert_float_eq(tl_dist_quantile(&dist, wanted[i][0]), wanted[i][1],
			                   1e-12);
		cr_assert_eq(tl_dist_mean(&dist), 25);
		cr_assert_eq(dist.min, 10);
		cr_assert_eq(dist.max, 40);
		tl_dist_fini(&dist);
	}
}

Test(quantile, values_after_a_query_count)
{
	struct tl_dist dist;

	tl_dist_init(&dist, true);
	tl_dist_add(&dist, 5);
	tl_dist_add(&dist, 3);
	cr_assert_eq(tl_dist_quantile(&dist, 0), 3);
	tl_dist_add(&dist, 1);
	cr_assert_eq(tl_dist_quantile(&dist, 0), 1);
	cr_assert_eq(tl_dist_quantile(&dist, 0.5), 3);
	tl_dist_fini(&dist);
}

Test(quantile, histogram_stays_within_its_error)
{
	struct tl_dist exact, bucketed;
	struct tl_rng rng;

	tl_dist_init(&exact, true);
	tl_dist_init(&bucketed, false);
	tl_rng_init(&rng, 5, TL_STREAM_TEST, 0);
	for (int i = 0; i < 50000; i++) {
		/* Magnitudes from 1 to 2^62. */
		int64_t value = (int64_t)(tl_rng_u64(&rng) >> (1 + tl_rng_below(&rng, 63)));

		tl_dist_add(&exact, value);
		tl_dist_add(&bucketed, value);
	}
	cr_assert(exact.sum == bucketed.sum);
	for (int i = 0; i <= 10000; i++) {
		double q = i / 10000.0;
		double wanted = tl_dist_quantile(&exact, q), got = tl_dist_quantile(&bucketed, q);

		cr_assert_leq(fabs(got - wanted), wanted / 4096 * (1 + 1e-12),
		              "quantile %g: got %.17g, wanted %.17g", q, got, wanted);
	}
	tl_dist_fini(&exact);
	tl_dist_fini(&bucketed);
}

Test(quantile, small_values_are_exact_and_the_largest_fits)
{
	struct tl_dist dist;

	tl_dist_init(&dist, false);
	for (int64_t i = 0; i < 4096; i++)
		tl_dist_add(&dist, i);
	tl_dist_add(&dist, INT64_MAX);
	for (int i = 0; i < 4096; i++)
		cr_assert_float_eq(tl_dist_quantile(&dist, i / 4096.0), i, 1e-9);
	cr_assert_eq(tl_dist_quantile(&dist, 1), (double)INT64_MAX);
	tl_dist_fini(&dist);
}

Test(quantile, the_sum_is_wider_than_64_bits)
{
	struct tl_dist dist;

	tl_dist_init(&dist, false);
	for (int i = 0; i < 4; i++)
		tl_dist_add(&dist, INT64_MAX);
	cr_assert_float_eq(tl_dist_mean(&dist) / 0x1p63, 1, 1e-15);
	tl_dist_fini(&dist);
}

Test(quantile, a_negative_value_trips, .signal = SIGABRT)
{
	struct tl_dist dist;

	tl_dist_init(&dist, true);
	tl_dist_add(&dist, -1);
}

Test(quantile, a_quantile_beyond_one_trips, .signal = SIGABRT)
{
	struct tl_dist dist;

	tl_dist_init(&dist, true);
	(void)tl_dist_quantile(&dist, 1.01);
}
