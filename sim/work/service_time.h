/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long a replica works on requests, in reference nanoseconds (speed 1).
 *
 * Three forms:
 *   affine       a batch of b takes α + β·b, whatever its members are. No draws.
 *   distribution each request has a draw of its own; a batch takes the greatest of its
 *                members' draws (they run side by side and leave together).
 *   LLM          a request has context and generated tokens and is served by continuous
 *                batching: see sim/work/requests.h.
 *
 * Draw n is a function of (seed, service, n) alone, n the number of the request: it is the
 * same under every routing, and however many replicas there are. Real draws are rounded to
 * the nearest ns and kept within [1, TL_SERVICE_MAX_NS].
 *
 * Sources: exponential by inversion; normal by Box and Muller (1958), its cosine half; gamma
 * by Marsaglia and Tsang, "A simple method for generating gamma variables" (2000), with a
 * counter of its own for every attempt, and U^(1/k) for a shape k below 1. A log-normal or
 * gamma is stated by mean m and coefficient of variation c: σ² = ln(1 + c²),
 * μ = ln m − σ²/2; shape 1/c², scale m·c².
 */
#ifndef TIDELAB_WORK_SERVICE_TIME_H
#define TIDELAB_WORK_SERVICE_TIME_H

#include "sim/base/error.h"
#include "sim/base/units.h"

#include <stddef.h>
#include <stdint.h>

#define TL_SERVICE_MAX_NS INT64_C(1000000000000000) /* 11.6 days */
#define TL_SERVICE_MAX_TOKENS UINT32_C(1000000000)
#define TL_SERVICE_CV_MAX 100.0

enum tl_service_kind {
	TL_SERVICE_AFFINE,
	TL_SERVICE_DETERMINISTIC,
	TL_SERVICE_EXPONENTIAL,
	TL_SERVICE_LOGNORMAL,
	TL_SERVICE_GAMMA,
	TL_SERVICE_EMPIRICAL,
	TL_SERVICE_LLM
};

struct tl_service_time {
	enum tl_service_kind kind;
	int64_t alpha_ns, beta_ns; /* affine: each ≥ 0, together ≥ 1 */
	int64_t mean_ns;           /* deterministic … gamma: ≥ 1 */
	double cv;                 /* log-normal, gamma: > 0 */
	const int64_t *values_ns;  /* empirical: drawn alike; the caller's, outlives this */
	size_t value_count;
	/* LLM: of the engine's time, a context token takes prefill_ns, a step that gives every
	 * member of the batch one token step_ns + member_ns · members. */
	int64_t prefill_ns, step_ns, member_ns;
	/* LLM, where the arrivals bring no tokens: log-normal draws of these means, or always
	 * the means where tokens_cv is 0. */
	double context_mean, generated_mean, tokens_cv;
};

struct tl_service_tokens {
	uint32_t context, generated;
};

/* TL_E_CONFIG with what, got and wanted where a member that the kind uses is impossible. */
enum tl_status tl_service_time_check(const struct tl_service_time *service, struct tl_error *error);

/* Draws of requests first … first + n − 1; for affine and LLM all 0. */
void tl_service_time_draw(const struct tl_service_time *service, uint64_t seed, uint64_t entity,
                          uint64_t first, size_t n, int64_t *out_ns);

/* LLM: tokens of request n, where the arrivals bring none. Both at least 1 and at most
 * TL_SERVICE_MAX_TOKENS. */
struct tl_service_tokens tl_service_time_tokens(const struct tl_service_time *service,
                                                uint64_t seed, uint64_t entity, uint64_t number);

/* Work of a batch of b ≥ 1 whose greatest draw is given. Not for LLM. */
static inline int64_t tl_service_time_batch(const struct tl_service_time *service, uint32_t b,
                                            int64_t greatest_ns)
{
	if (service->kind == TL_SERVICE_AFFINE)
		return service->alpha_ns + service->beta_ns * (int64_t)b;
	return greatest_ns;
}

/* Mean work per request at batches of b ≥ 1, for sizing: exact for affine, and for all at
 * b = 1; for a distribution in batches mean / b, a lower bound (the greatest of b draws is
 * above the mean); an LLM's is that of the stated means with b members all the while. */
double tl_service_time_mean_ns(const struct tl_service_time *service, uint32_t b);

#endif
