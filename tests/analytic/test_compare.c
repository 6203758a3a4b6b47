/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a comparison says of worlds in which the truth is known: of the same policy under
 * other seeds, and of one that is two per cent better.
 */
#include "analysis/compare.h"

#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>

enum { METRICS = 16, SEEDS = 10, CASES = 1000 };

static const struct tl_compare_options usual = {.confidence = 0.95, .correction = TL_CORRECT_HOLM};
static const char *const names[METRICS] = {"m0", "m1", "m2",  "m3",  "m4",  "m5",  "m6",  "m7",
                                           "m8", "m9", "m10", "m11", "m12", "m13", "m14", "m15"};

/* Irwin and Hall's sum of twelve: normal enough. */
static double normal(struct tl_rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += tl_rng_uniform(rng);
	return sum;
}

/*
 * Sixteen metrics of one run, correlated as those of a run are: a busy day (shared, keyed
 * by the seed) and luck of each metric's own. Every other is skewed, as waiting times are
 * (log-normal, σ = 1), the rest lie close together (σ = 5 %); one never varies.
 */
static void fill(struct tl_runs *runs, uint64_t world, double noise, double factor)
{
	for (size_t m = 0; m < METRICS; m++) {
		double *values = tl_runs_add_metric(runs, names[m], "s");

		for (size_t i = 0; i < runs->count; i++) {
			struct tl_rng day, luck;
			double z;

			tl_rng_init(&day, runs->seeds[i], TL_STREAM_TEST, 100);
			tl_rng_init(&luck, world, TL_STREAM_TEST, runs->seeds[i] * METRICS + m);
			z = 0.7 * normal(&day) + noise * normal(&luck);
			values[i] = 100 * factor * exp((m % 2 ? 1 : 0.05) * z);
			if (m == 15)
				values[i] = 42;
		}
	}
}

static struct tl_runs *make(uint64_t first_seed, uint64_t world, double noise, double factor)
{
	uint64_t seeds[SEEDS];
	struct tl_runs *runs;

	for (uint64_t i = 0; i < SEEDS; i++)
		seeds[i] = first_seed + i;
	runs = tl_runs_new("synthetic", seeds, SEEDS);
	fill(runs, world, noise, factor);
	return runs;
}

/* How many rows say that there is a difference. */
static size_t cries(const struct tl_runs *a, const struct tl_runs *b)
{
	struct tl_comparison rows[METRICS];
	size_t cried = 0;

	tl_compare(a, b, names, METRICS, &usual, rows);
	for (size_t m = 0; m < METRICS; m++)
		cried +=
		    rows[m].verdict == TL_COMPARE_LOWER || rows[m].verdict == TL_COMPARE_HIGHER;
	cr_assert_eq(rows[15].verdict, TL_COMPARE_SAME);
	return cried;
}

Test(compare, null_of_other_seeds_cries_in_one_of_twenty_at_most)
{
	size_t false_cries = 0;

	for (uint64_t c = 0; c < CASES; c++) {
		struct tl_runs *a = make(1 + c * 100, 1, 0.7, 1),
			       *b = make(51 + c * 100, 1, 0.7, 1);

		false_cries += cries(a, b) > 0;
		tl_runs_destroy(a);
		tl_runs_destroy(b);
	}
	cr_log_info("null, other seeds: %zu of %d", false_cries, CASES);
	cr_assert_leq(false_cries, CASES / 20);
}

Test(compare, null_in_pairs_cries_in_one_of_twenty_at_most)
{
	size_t false_cries = 0;

	/* The same seeds, and two policies alike that nevertheless decide otherwise. */
	for (uint64_t c = 0; c < CASES; c++) {
		struct tl_runs *a = make(1 + c * 100, 1, 0.7, 1), *b = make(1 + c * 100, 2, 0.7, 1);

		false_cries += cries(a, b) > 0;
		tl_runs_destroy(a);
		tl_runs_destroy(b);
	}
	cr_log_info("null, pairs: %zu of %d", false_cries, CASES);
	cr_assert_leq(false_cries, CASES / 20);
}

Test(compare, a_planted_two_per_cent_is_found)
{
	size_t found = 0;

	/* Days differ by much (σ of 3.5 % and 70 %), pairs by little: what pairing is for. */
	for (uint64_t c = 0; c < 100; c++) {
		struct tl_runs *a = make(1 + c * 100, 1, 0.1, 1),
			       *b = make(1 + c * 100, 2, 0.1, 1.02);
		struct tl_comparison row;

		tl_compare(a, b, names, 1, &usual, &row);
		found += row.verdict == TL_COMPARE_HIGHER;
		cr_assert(row.paired && row.a_count == SEEDS);
		cr_assert(fabs(row.ratio - 1.02) < 0.01);
		/* Among all sixteen, whose correction it must stand, too. */
		cr_assert_gt(cries(a, b), 0, "case %d", (int)c);
		tl_runs_destroy(a);
		tl_runs_destroy(b);
	}
	cr_log_info("2 %%: found in %zu of 100", found);
	cr_assert_geq(found, 99);
}

Test(compare, intervals_hold_the_truth_as_often_as_they_say)
{
	size_t by_t = 0, by_bootstrap = 0;

	for (uint64_t c = 0; c < 400; c++) {
		struct tl_runs *a = make(1 + c * 100, 1, 0.5, 1), *b = make(1 + c * 100, 2, 0.5, 1);
		const struct tl_compare_options all = {
		    .confidence = 0.95, .correction = TL_CORRECT_HOLM, .bootstrap = true};
		struct tl_comparison row;

		tl_compare(a, b, names, 1, &all, &row);
		by_t += row.interval.low <= 0 && row.interval.high >= 0;
		by_bootstrap += row.bootstrap.low <= 0 && row.bootstrap.high >= 0;
		tl_runs_destroy(a);
		tl_runs_destroy(b);
	}
	cr_log_info("coverage of 400: t %zu, BCa %zu", by_t, by_bootstrap);
	/* 380 ± 3 × 4.4; BCa of ten pairs is known to be too narrow. */
	cr_assert(by_t >= 367 && by_t <= 393, "%zu", by_t);
	cr_assert(by_bootstrap >= 340 && by_bootstrap <= 393, "%zu", by_bootstrap);
}

Test(compare, sides_that_share_some_seeds_or_values)
{
	static const uint64_t seeds[] = {1, 2, 3, 4}, others[] = {3, 4, 5};
	struct tl_runs *a = tl_runs_new("a", seeds, 4), *b = tl_runs_new("b", others, 3);
	struct tl_comparison rows[4];
	const char *const asked[] = {"x", "hole", "unit", "absent"};
	double *x = tl_runs_add_metric(a, "x", "s"), *y = tl_runs_add_metric(b, "x", "s");

	for (int i = 0; i < 4; i++)
		x[i] = i;
	y[0] = 12;
	y[1] = 14;
	y[2] = 99;
	x = tl_runs_add_metric(a, "hole", "s");
	y = tl_runs_add_metric(b, "hole", "s");
	x[2] = 1;
	y[0] = 2; /* seed 3 alone has both */
	y[1] = 2;
	(void)tl_runs_add_metric(a, "unit", "s");
	(void)tl_runs_add_metric(b, "unit", "ms");
	tl_compare(a, b, asked, 4, &usual, rows);
	cr_assert(rows[0].paired);
	cr_assert_eq(rows[0].a_count, 2);
	cr_assert_float_eq(rows[0].a, 2.5, 1e-12);
	cr_assert_float_eq(rows[0].difference, 10.5, 1e-12);
	cr_assert_eq(rows[1].a_count, 1);
	cr_assert_float_eq(rows[1].difference, 1, 1e-12);
	cr_assert(isnan(rows[1].interval.low));
	for (int i = 1; i < 4; i++)
		cr_assert_eq(rows[i].verdict, TL_COMPARE_UNTESTED);
	cr_assert_eq(rows[2].a_count, 0);
	cr_assert_eq(rows[3].a_count, 0);
	tl_runs_destroy(a);
	tl_runs_destroy(b);
}

/* Cohen's d_z = 1: t = √n, and P(|T| > √n) of n - 1 degrees first falls to 5 % at 7
 * pairs: t = 2.646, where 6 degrees ask for 2.447; at 6, 2.449 where 5 ask for 2.571. */
Test(compare, seeds_that_would_show_a_difference)
{
	const struct tl_compare_options plain = {.confidence = 0.95, .correction = TL_CORRECT_NOT};
	struct tl_comparison row = {.paired = true, .effect = -1};
	size_t alone = tl_compare_seeds(&row, METRICS, &plain);
	size_t corrected = tl_compare_seeds(&row, METRICS, &usual);

	cr_expect_eq(alone, 7);
	cr_expect_eq(tl_compare_seeds(&row, 1, &usual), alone);
	cr_expect(corrected > 12 && corrected < 16, "%zu", corrected);
	/* Independent samples of that g: df = 2n - 2, t = √(n / 2): 9 a side (t = 2.121 of 16: 2.120). */
	row.paired = false;
	cr_expect_eq(tl_compare_seeds(&row, METRICS, &plain), 9);
	row.effect = 0;
	cr_expect_eq(tl_compare_seeds(&row, METRICS, &plain), 0);
	row.effect = NAN;
	cr_expect_eq(tl_compare_seeds(&row, METRICS, &plain), 0);
}
