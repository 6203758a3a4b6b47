/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known answers: Student's sleep data (1908) as every textbook has it, and numbers by hand. */
#include "analysis/stats.h"

#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>

/* Hours of sleep gained by ten patients under two drugs. */
static const double drug_a[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_b[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
enum { PATIENTS = 10 };

static void near(double got, double wanted, double margin)
{
	cr_assert(fabs(got - wanted) <= margin, "got %.12g, wanted %.12g", got, wanted);
}

Test(stats, sample_by_hand)
{
	static const double x[] = {2, 4, 4, 4, 5, 5, 7, 9};
	struct tl_stats_sample sample = tl_stats_sample(x, 8);

	near(sample.mean, 5, 0);
	near(sample.sd, sqrt(32.0 / 7), 1e-15);
	cr_assert_eq(sample.count, 8);
	sample = tl_stats_sample(x, 1);
	near(sample.mean, 2, 0);
	cr_assert(isnan(sample.sd));
	cr_assert(isnan(tl_stats_sample(x, 0).mean));
}

Test(stats, sample_of_large_numbers_keeps_its_spread)
{
	static const double x[] = {1e12 + 1, 1e12 + 2, 1e12 + 3};

	near(tl_stats_sample(x, 3).sd, 1, 1e-9);
}

Test(stats, t_interval_known)
{
	/* t(0.975; 9) = 2.262157 */
	const struct tl_stats_interval i = tl_stats_t_interval(drug_a, PATIENTS, 0.95);
	const double reach = 2.2621571628 * 1.7890096578 / sqrt(10);

	near(i.low, 0.75 - reach, 1e-8);
	near(i.high, 0.75 + reach, 1e-8);
	cr_assert(isnan(tl_stats_t_interval(drug_a, 1, 0.95).low));
}

Test(stats, paired_t_of_the_sleep_data)
{
	const struct tl_stats_test test = tl_stats_paired_t(drug_a, drug_b, PATIENTS, 0.95);

	near(test.difference, 1.58, 1e-12);
	near(test.t, 4.0621, 5e-5);
	near(test.df, 9, 0);
	near(test.p, 0.002833, 5e-7);
	near(test.interval.low, 0.7001142, 5e-8);
	near(test.interval.high, 2.4598858, 5e-8);
}

Test(stats, welch_t_of_the_sleep_data)
{
	const struct tl_stats_test test =
	    tl_stats_welch_t(drug_a, PATIENTS, drug_b, PATIENTS, 0.95);

	near(test.t, 1.8608, 5e-5);
	near(test.df, 17.776, 5e-4);
	near(test.p, 0.07939, 5e-6);
	near(test.interval.low, -0.2054832, 5e-8);
	near(test.interval.high, 3.3654832, 5e-8);
}

Test(stats, nothing_varies)
{
	static const double a[] = {3, 4, 5}, more[] = {4, 5, 6};
	struct tl_stats_test test = tl_stats_paired_t(a, a, 3, 0.95);

	near(test.p, 1, 0);
	near(test.t, 0, 0);
	near(test.interval.low, 0, 0);
	near(tl_stats_cohen_dz(a, a, 3), 0, 0);
	test = tl_stats_paired_t(a, more, 3, 0.95);
	near(test.p, 0, 0);
	near(test.interval.low, 1, 0);
	near(test.interval.high, 1, 0);
	cr_assert(isinf(tl_stats_cohen_dz(a, more, 3)));
	near(tl_stats_within(&test, 2), 0, 0);
	near(tl_stats_within(&test, 0.5), 1, 0);
	near(tl_stats_beyond(&test, 2), 1, 0);
	near(tl_stats_beyond(&test, 0.5), 0, 0);
}

Test(stats, one_pair_has_no_interval)
{
	const struct tl_stats_test test = tl_stats_paired_t(drug_a, drug_b, 1, 0.95);

	near(test.difference, 1.2, 1e-12);
	cr_assert(isnan(test.p));
	cr_assert(isnan(test.interval.low));
	cr_assert(isnan(tl_stats_cohen_dz(drug_a, drug_b, 1)));
	cr_assert(isnan(tl_stats_within(&test, 1)));
	cr_assert(isnan(tl_stats_beyond(&test, 1)));
	cr_assert(isnan(tl_stats_welch_t(drug_a, 1, drug_b, 9, 0.95).p));
	cr_assert(isnan(tl_stats_bootstrap_mean(drug_a, 1, 0.95, TL_STATS_BCA, 1).low));
}

Test(stats, effect_sizes_of_the_sleep_data)
{
	/* 1.58 / 1.229995; and 1.58 / 1.898625 times J(18) = 0.957646. */
	near(tl_stats_cohen_dz(drug_a, drug_b, PATIENTS), 1.284558, 5e-6);
	near(tl_stats_hedges_g(drug_a, PATIENTS, drug_b, PATIENTS), 0.796935, 5e-7);
}

Test(stats, within_and_beyond_a_margin)
{
	const struct tl_stats_test test = tl_stats_paired_t(drug_a, drug_b, PATIENTS, 0.95);

	/* t = (3 - 1.58) / 0.388961 = 3.650773 with 9 degrees: P(T > t) = 0.00265557. */
	near(tl_stats_within(&test, 3), 0.00265557, 5e-9);
	cr_assert_gt(tl_stats_within(&test, 1), 0.5);
	near(tl_stats_beyond(&test, 0), test.p, 1e-15);
	/* t = (1.58 - 1) / 0.388961 = 1.491152; the other, 6.633, adds next to nothing. */
	near(tl_stats_beyond(&test, 1), 0.0851, 5e-5);
	cr_assert_gt(tl_stats_beyond(&test, 3), 0.95);
}

Test(stats, holm_and_benjamini_hochberg_by_hand)
{
	static const double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
	static const double holm[] = {0.03, NAN, 0.06, 0.06, 0.02};
	static const double bh[] = {0.02, NAN, 0.04, 0.04, 0.02};
	double got[5];

	tl_stats_holm(p, 5, got);
	for (int i = 0; i < 5; i++)
		cr_assert(isnan(holm[i]) ? isnan(got[i]) : fabs(got[i] - holm[i]) < 1e-15);
	tl_stats_benjamini_hochberg(p, 5, got);
	for (int i = 0; i < 5; i++)
		cr_assert(isnan(bh[i]) ? isnan(got[i]) : fabs(got[i] - bh[i]) < 1e-15);
	got[0] = got[1] = 0.7;
	tl_stats_holm(got, 2, got);
	near(got[0], 1, 0);
	near(got[1], 1, 0);
}

Test(stats, bootstrap_is_the_same_again_and_near_t)
{
	double x[200];
	struct tl_rng rng;
	struct tl_stats_interval t, first, second, bca;

	tl_rng_init(&rng, 5, TL_STREAM_TEST, 0);
	for (int i = 0; i < 200; i++)
		x[i] = tl_rng_uniform(&rng);
	t = tl_stats_t_interval(x, 200, 0.95);
	first = tl_stats_bootstrap_mean(x, 200, 0.95, TL_STATS_PERCENTILE, 1);
	second = tl_stats_bootstrap_mean(x, 200, 0.95, TL_STATS_PERCENTILE, 1);
	bca = tl_stats_bootstrap_mean(x, 200, 0.95, TL_STATS_BCA, 1);
	cr_assert_eq(first.low, second.low);
	cr_assert_eq(first.high, second.high);
	cr_assert_neq(first.low, tl_stats_bootstrap_mean(x, 200, 0.95, TL_STATS_PERCENTILE, 2).low);
	near(first.low, t.low, 0.006);
	near(first.high, t.high, 0.006);
	near(bca.low, t.low, 0.006);
	near(bca.high, t.high, 0.006);
}

Test(stats, bca_leans_with_the_skew)
{
	/* Of a right-skewed sample, BCa's interval reaches further up than percentile's. */
	static const double x[] = {1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8, 13, 40};
	const struct tl_stats_interval p = tl_stats_bootstrap_mean(x, 13, 0.9, TL_STATS_PERCENTILE,
	                                                           1),
				       b = tl_stats_bootstrap_mean(x, 13, 0.9, TL_STATS_BCA, 1);

	cr_assert_gt(b.high, p.high);
	cr_assert_gt(b.low, p.low);
}

Test(stats, bootstrap_ratio)
{
	static const double a[] = {1, 2, 3, 4, 5}, twice[] = {2, 4, 6, 8, 10},
			    zero[] = {0, 0, 0, 0, 0};
	struct tl_stats_interval i = tl_stats_bootstrap_ratio(a, twice, 5, 0.95, TL_STATS_BCA, 1);

	near(i.low, 2, 1e-12);
	near(i.high, 2, 1e-12);
	i = tl_stats_bootstrap_ratio(zero, a, 5, 0.95, TL_STATS_BCA, 1);
	cr_assert(isnan(i.low) && isnan(i.high));
}

Test(stats, mser5_cuts_the_warm_up)
{
	double x[400];
	struct tl_rng rng;
	struct tl_stats_warmup warmup;

	tl_rng_init(&rng, 3, TL_STREAM_TEST, 0);
	for (int i = 0; i < 400; i++)
		x[i] = (i < 60 ? 100 - i : 10) + tl_rng_uniform(&rng);
	warmup = tl_stats_mser5(x, 400);
	cr_assert(warmup.settled);
	cr_assert(warmup.truncate >= 55 && warmup.truncate <= 75, "%zu", warmup.truncate);
	near(warmup.mean, 10.5, 0.1);
	for (int i = 0; i < 400; i++)
		x[i] = 7;
	warmup = tl_stats_mser5(x, 400);
	cr_assert(warmup.settled && warmup.truncate == 0);
	near(warmup.mean, 7, 0);
	for (int i = 0; i < 400; i++)
		x[i] = i;
	warmup = tl_stats_mser5(x, 400);
	cr_assert(!warmup.settled && warmup.truncate == 0);
	near(warmup.mean, 199.5, 1e-9);
	cr_assert(tl_stats_mser5(x, 19).settled);
	cr_assert(isnan(tl_stats_mser5(x, 0).mean));
}

/* Requests waiting or served by one server, seen at equal distances. */
static void mm1(double load, uint64_t seed, double *queue, size_t n)
{
	struct tl_rng rng;
	double t = 0, at;
	int64_t length = 0;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 1);
	for (size_t i = 0; i < n; i++) {
		for (at = (double)(i + 1) * 20; t < at;) {
			t += -log1p(-tl_rng_uniform(&rng)) / (1 + load);
			if (tl_rng_uniform(&rng) < load / (1 + load))
				length++;
			else if (length > 0)
				length--;
		}
		queue[i] = (double)length;
	}
}

Test(stats, saturation_of_a_queue)
{
	double queue[500];
	int cried = 0;

	for (uint64_t seed = 1; seed <= 200; seed++) {
		mm1(0.9, seed, queue, 500);
		cried += tl_stats_saturated(queue, 500);
	}
	cr_assert_eq(cried, 0, "%d stable queues of 200 called saturated", cried);
	for (uint64_t seed = 1; seed <= 200; seed++) {
		mm1(1.1, seed, queue, 500);
		cried += tl_stats_saturated(queue, 500);
	}
	cr_assert_eq(cried, 200, "%d growing queues of 200 called so", cried);
	/* A backlog that is being worked off. */
	for (int i = 0; i < 500; i++)
		queue[i] = 600 - i;
	cr_assert_not(tl_stats_saturated(queue, 500));
	/* One that has settled at a level. */
	for (int i = 0; i < 500; i++)
		queue[i] = 100 + i % 7;
	cr_assert_not(tl_stats_saturated(queue, 500));
	cr_assert_not(tl_stats_saturated(queue, 39));
}

Test(stats, fisher_of_the_lady_tasting_tea)
{
	near(tl_stats_fisher(3, 4, 1, 4), 34.0 / 70, 1e-12);
	near(tl_stats_fisher(4, 4, 0, 4), 2.0 / 70, 1e-12);
	near(tl_stats_fisher(5, 5, 7, 7), 1, 1e-12);
	near(tl_stats_fisher(0, 5, 0, 7), 1, 1e-12);
}
