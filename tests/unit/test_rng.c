/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <signal.h>

/* The published known answers of Random123 (kat_vectors: philox4x64, 10 rounds). */
static const struct {
	uint64_t counter[4], key[2], out[4];
} known[] = {
    {{0, 0, 0, 0},
     {0, 0},
     {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
    {{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX},
     {UINT64_MAX, UINT64_MAX},
     {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
    {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
     {0x452821e638d01377, 0xbe5466cf34e90c6c},
     {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
};

Test(rng, philox_known_answers)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		uint64_t out[4];

		tl_philox4x64(known[i].counter, known[i].key, out);
		for (int j = 0; j < 4; j++)
			cr_assert_eq(out[j], known[i].out[j], "vector %zu, word %d", i, j);
	}
}

Test(rng, the_stream_is_the_blocks_in_order)
{
	const uint64_t key[2] = {42, TL_STREAM_ARRIVAL};
	struct tl_rng rng;

	tl_rng_init(&rng, 42, TL_STREAM_ARRIVAL, 9);
	for (uint64_t block = 0; block < 500; block++) {
		const uint64_t counter[4] = {block, 9, 0, 0};
		uint64_t out[4];

		tl_philox4x64(counter, key, out);
		for (uint64_t j = 0; j < 4; j++) {
			cr_assert_eq(tl_rng_u64(&rng), out[j]);
			cr_assert_eq(tl_rng_at(42, TL_STREAM_ARRIVAL, 9, block * 4 + j), out[j]);
		}
	}
}

Test(rng, another_key_is_another_stream)
{
	uint64_t base = tl_rng_at(1, TL_STREAM_JOB, 1, 0);

	cr_assert_neq(base, tl_rng_at(2, TL_STREAM_JOB, 1, 0));
	cr_assert_neq(base, tl_rng_at(1, TL_STREAM_REPAIR, 1, 0));
	cr_assert_neq(base, tl_rng_at(1, TL_STREAM_JOB, 2, 0));
	cr_assert_neq(base, tl_rng_at(1, TL_STREAM_JOB, 1, 1));
}

Test(rng, stream_numbers_stay)
{
	/* Results of old runs depend on them. */
	cr_assert_eq(TL_STREAM_POLICY, 1);
	cr_assert_eq(TL_STREAM_ARRIVAL, 4);
	cr_assert_eq(TL_STREAM_NODE_FAILURE, 8);
	cr_assert_eq(TL_STREAM_REQUEST, 12);
	cr_assert_eq(TL_STREAM_TEST, 13);
}

Test(rng, uniform_has_the_right_moments)
{
	enum { DRAWS = 1000000 };
	struct tl_rng rng;
	double sum = 0, squares = 0;

	tl_rng_init(&rng, 7, TL_STREAM_TEST, 0);
	for (int i = 0; i < DRAWS; i++) {
		double u = tl_rng_uniform(&rng);

		cr_assert(u >= 0 && u < 1);
		sum += u;
		squares += u * u;
	}
	/* Five standard errors. */
	cr_assert_float_eq(sum / DRAWS, 0.5, 5 * sqrt(1.0 / 12 / DRAWS));
	cr_assert_float_eq(squares / DRAWS, 1.0 / 3, 5 * sqrt(4.0 / 45 / DRAWS));
}

Test(rng, below_is_even_and_within)
{
	enum { SIDES = 7, DRAWS = 700000 };
	struct tl_rng rng;
	double counts[SIDES] = {0}, chi2 = 0;

	tl_rng_init(&rng, 7, TL_STREAM_TEST, 1);
	for (int i = 0; i < DRAWS; i++) {
		uint64_t side = tl_rng_below(&rng, SIDES);

		cr_assert_lt(side, SIDES);
		counts[side]++;
	}
	for (int i = 0; i < SIDES; i++)
		chi2 += pow(counts[i] - DRAWS / SIDES, 2) / (DRAWS / SIDES);
	/* 99.99 % of chi-square with six degrees. */
	cr_assert_lt(chi2, 27.9);
	cr_assert_eq(tl_rng_below(&rng, 1), 0);
	/* Three quarters of the range: the rejecting path is taken every fourth time. */
	for (int i = 0; i < 1000; i++)
		cr_assert_lt(tl_rng_below(&rng, UINT64_C(3) << 62), UINT64_C(3) << 62);
}

Test(rng, below_is_unbiased_where_it_rejects)
{
	enum { DRAWS = 100000 };
	const uint64_t n = UINT64_C(3) << 62;
	struct tl_rng rng;
	int low = 0;

	/* Without rejection four words would share three results, and multiples of 3 come
	 * twice as often as others. */
	tl_rng_init(&rng, 7, TL_STREAM_TEST, 2);
	for (int i = 0; i < DRAWS; i++)
		low += tl_rng_below(&rng, n) % 3 == 0;
	cr_assert_float_eq((double)low / DRAWS, 1.0 / 3, 5 * sqrt(2.0 / 9 / DRAWS));
}

Test(rng, below_zero_trips, .signal = SIGABRT)
{
	struct tl_rng rng;

	tl_rng_init(&rng, 1, TL_STREAM_TEST, 0);
	(void)tl_rng_below(&rng, 0);
}

Test(rng, gsl_sees_the_same_stream)
{
	gsl_rng *gsl = gsl_rng_alloc(tl_rng_gsl_type());
	struct tl_rng rng;

	tl_rng_gsl_key(gsl, 3, TL_STREAM_SERVICE, 8);
	tl_rng_init(&rng, 3, TL_STREAM_SERVICE, 8);
	for (int i = 0; i < 300; i++) {
		cr_assert_eq(gsl_rng_uniform(gsl), tl_rng_uniform(&rng));
		cr_assert_eq(gsl_rng_get(gsl), tl_rng_u64(&rng) >> 11);
	}
	gsl_rng_set(gsl, 5);
	cr_assert_eq(gsl_rng_get(gsl), tl_rng_at(5, TL_STREAM_TEST, 0, 0) >> 11);
	cr_assert_eq(gsl_rng_max(gsl), (UINT64_C(1) << 53) - 1);
	cr_assert_eq(gsl_rng_min(gsl), 0);
	cr_assert_eq(gsl_rng_size(gsl), sizeof(struct tl_rng));
	gsl_rng_free(gsl);
}

Test(rng, gsl_distributions_come_out_right)
{
	enum { DRAWS = 200000 };
	gsl_rng *gsl = gsl_rng_alloc(tl_rng_gsl_type());
	double exponential = 0, gaussian = 0, squares = 0, whole = 0;

	tl_rng_gsl_key(gsl, 11, TL_STREAM_TEST, 3);
	for (int i = 0; i < DRAWS; i++) {
		double z = gsl_ran_gaussian_ziggurat(gsl, 1);

		exponential += gsl_ran_exponential(gsl, 2);
		gaussian += z;
		squares += z * z;
		whole += (double)gsl_rng_uniform_int(gsl, 10);
	}
	gsl_rng_free(gsl);
	cr_assert_float_eq(exponential / DRAWS, 2, 5 * 2 / sqrt(DRAWS));
	cr_assert_float_eq(gaussian / DRAWS, 0, 5 / sqrt(DRAWS));
	cr_assert_float_eq(squares / DRAWS, 1, 5 * sqrt(2.0 / DRAWS));
	cr_assert_float_eq(whole / DRAWS, 4.5, 5 * sqrt(8.25 / DRAWS));
}

Test(rng, keying_another_generator_trips, .signal = SIGABRT)
{
	gsl_rng *gsl = gsl_rng_alloc(gsl_rng_mt19937);

	tl_rng_gsl_key(gsl, 1, TL_STREAM_TEST, 0);
}
