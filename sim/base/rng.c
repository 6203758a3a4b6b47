/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/rng.h"

#include "sim/base/assert.h"
#include "sim/base/units.h"

#include <limits.h>

enum { PHILOX_ROUNDS = 10, PHILOX_WORDS = 4 };

_Static_assert(TL_RNG_BUFFER % PHILOX_WORDS == 0, "the buffer holds whole blocks");
_Static_assert(ULONG_MAX >= (UINT64_C(1) << 53) - 1, "GSL's get() passes 53 bits");

/* The paper's multipliers for 4 × 64 bits, and the Weyl steps that bump the key each round. */
#define PHILOX_M0 UINT64_C(0xd2e7470ee14c6c93)
#define PHILOX_M1 UINT64_C(0xca5a826395121157)
#define PHILOX_W0 UINT64_C(0x9e3779b97f4a7c15) /* golden ratio */
#define PHILOX_W1 UINT64_C(0xbb67ae8584caa73b) /* √3 − 1 */

void tl_philox4x64(const uint64_t counter[4], const uint64_t key[2], uint64_t out[4])
{
	uint64_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
	uint64_t k0 = key[0], k1 = key[1];

	for (int round = 0; round < PHILOX_ROUNDS; round++) {
		tl_u128 p0 = (tl_u128)PHILOX_M0 * c0;
		tl_u128 p1 = (tl_u128)PHILOX_M1 * c2;

		c0 = (uint64_t)(p1 >> 64) ^ c1 ^ k0;
		c1 = (uint64_t)p1;
		c2 = (uint64_t)(p0 >> 64) ^ c3 ^ k1;
		c3 = (uint64_t)p0;
		k0 += PHILOX_W0;
		k1 += PHILOX_W1;
	}
	out[0] = c0;
	out[1] = c1;
	out[2] = c2;
	out[3] = c3;
}

void tl_rng_init(struct tl_rng *rng, uint64_t seed, enum tl_stream stream, uint64_t entity)
{
	rng->key[0] = seed;
	rng->key[1] = (uint64_t)stream;
	rng->entity = entity;
	rng->block = 0;
	rng->next = 0;
	rng->filled = 0;
}

/* One block at first, then twice as many each time: many streams give a draw or two
 * (one a job), few give millions. */
static void fill(struct tl_rng *rng)
{
	uint32_t words = rng->filled == 0 ? PHILOX_WORDS : rng->filled * 2;

	if (words > TL_RNG_BUFFER)
		words = TL_RNG_BUFFER;
	for (uint32_t i = 0; i < words; i += PHILOX_WORDS) {
		const uint64_t counter[4] = {rng->block++, rng->entity, 0, 0};

		tl_philox4x64(counter, rng->key, rng->buffer + i);
	}
	rng->filled = words;
	rng->next = 0;
}

uint64_t tl_rng_u64(struct tl_rng *rng)
{
	if (rng->next == rng->filled)
		fill(rng);
	return rng->buffer[rng->next++];
}

double tl_rng_uniform(struct tl_rng *rng)
{
	return (double)(tl_rng_u64(rng) >> 11) * 0x1p-53;
}

/* The high half of word × n, drawing again in the short first interval that would
 * favour some results (Lemire, "Fast random integer generation in an interval", 2019). */
uint64_t tl_rng_below(struct tl_rng *rng, uint64_t n)
{
	tl_u128 product;

	TL_ASSERT(n > 0);
	product = (tl_u128)tl_rng_u64(rng) * n;
	if ((uint64_t)product < n) {
		uint64_t threshold = (0 - n) % n;

		while ((uint64_t)product < threshold)
			product = (tl_u128)tl_rng_u64(rng) * n;
	}
	return (uint64_t)(product >> 64);
}

uint64_t tl_rng_at(uint64_t seed, enum tl_stream stream, uint64_t entity, uint64_t n)
{
	const uint64_t key[2] = {seed, (uint64_t)stream};
	const uint64_t counter[4] = {n / PHILOX_WORDS, entity, 0, 0};
	uint64_t out[PHILOX_WORDS];

	tl_philox4x64(counter, key, out);
	return out[n % PHILOX_WORDS];
}

static void gsl_set_seed(void *state, unsigned long seed)
{
	tl_rng_init(state, seed, TL_STREAM_TEST, 0);
}

static unsigned long gsl_get(void *state)
{
	return (unsigned long)(tl_rng_u64(state) >> 11);
}

static double gsl_get_double(void *state)
{
	return tl_rng_uniform(state);
}

static const gsl_rng_type philox_type = {
    .name = "philox4x64-10",
    .max = (1UL << 53) - 1,
    .min = 0,
    .size = sizeof(struct tl_rng),
    .set = gsl_set_seed,
    .get = gsl_get,
    .get_double = gsl_get_double,
};

const gsl_rng_type *tl_rng_gsl_type(void)
{
	return &philox_type;
}

void tl_rng_gsl_key(gsl_rng *gsl, uint64_t seed, enum tl_stream stream, uint64_t entity)
{
	TL_ASSERT(gsl->type == &philox_type);
	tl_rng_init(gsl->state, seed, stream, entity);
}
