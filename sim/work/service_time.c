/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/service_time.h"

#include "sim/base/assert.h"
#include "sim/base/rng.h"

#include <math.h>
#include <stdbool.h>

enum { WORDS = 4 /* of a block of the generator */, GAMMA_COUNTER = 1 };

static const double TWO_PI = 6.283185307179586476925;

static enum tl_status refuse(struct tl_error *error, const char *what, double got,
                             const char *wanted)
{
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "service time: %s: got %g, wanted %s",
	                    what, got, wanted);
}

static enum tl_status check_ns(int64_t ns, int64_t least, const char *what, struct tl_error *error)
{
	if (ns >= least && ns <= TL_SERVICE_MAX_NS)
		return TL_OK;
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
	                    "service time: %s: got %lld ns, wanted %lld to %lld", what,
	                    (long long)ns, (long long)least, (long long)TL_SERVICE_MAX_NS);
}

static enum tl_status check_cv(double cv, bool zero, const char *what, struct tl_error *error)
{
	if ((cv > 0 || (zero && cv == 0)) && cv <= TL_SERVICE_CV_MAX)
		return TL_OK;
	return refuse(error, what, cv, zero ? "0 to 100" : "above 0, to 100");
}

static enum tl_status check_affine(const struct tl_service_time *service, struct tl_error *error)
{
	enum tl_status status = check_ns(service->alpha_ns, 0, "alpha", error);

	if (status == TL_OK)
		status = check_ns(service->beta_ns, 0, "beta", error);
	if (status == TL_OK)
		status = check_ns(service->alpha_ns + service->beta_ns, 1, "alpha + beta", error);
	return status;
}

static enum tl_status check_empirical(const struct tl_service_time *service, struct tl_error *error)
{
	if (service->value_count == 0 || !service->values_ns)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "service time: values: got none, wanted at least one");
	for (size_t i = 0; i < service->value_count; i++) {
		enum tl_status status = check_ns(service->values_ns[i], 1, "a value", error);

		if (status != TL_OK)
			return status;
	}
	return TL_OK;
}

static enum tl_status check_llm(const struct tl_service_time *service, struct tl_error *error)
{
	const double most = TL_SERVICE_MAX_TOKENS;
	enum tl_status status = check_ns(service->prefill_ns, 0, "prefill", error);

	if (status == TL_OK)
		status = check_ns(service->step_ns, 0, "step", error);
	if (status == TL_OK)
		status = check_ns(service->member_ns, 0, "member", error);
	if (status == TL_OK)
		status = check_ns(service->step_ns + service->member_ns, 1, "step + member", error);
	if (status == TL_OK)
		status = check_cv(service->tokens_cv, true, "tokens' cv", error);
	if (status != TL_OK)
		return status;
	if (!(service->context_mean >= 1 && service->context_mean <= most))
		return refuse(error, "mean context", service->context_mean, "1 to 1e9 tokens");
	if (!(service->generated_mean >= 1 && service->generated_mean <= most))
		return refuse(error, "mean generated", service->generated_mean, "1 to 1e9 tokens");
	return TL_OK;
}

enum tl_status tl_service_time_check(const struct tl_service_time *service, struct tl_error *error)
{
	enum tl_status status;

	switch (service->kind) {
	case TL_SERVICE_AFFINE:
		return check_affine(service, error);
	case TL_SERVICE_DETERMINISTIC:
	case TL_SERVICE_EXPONENTIAL:
		return check_ns(service->mean_ns, 1, "mean", error);
	case TL_SERVICE_LOGNORMAL:
	case TL_SERVICE_GAMMA:
		status = check_ns(service->mean_ns, 1, "mean", error);
		return status == TL_OK ? check_cv(service->cv, false, "cv", error) : status;
	case TL_SERVICE_EMPIRICAL:
		return check_empirical(service, error);
	case TL_SERVICE_LLM:
		return check_llm(service, error);
	}
	return refuse(error, "kind", (double)service->kind, "one of the seven");
}

/* Uniform in (0, 1]: a logarithm can be taken. */
static double unit(uint64_t word)
{
	return (double)((word >> 11) + 1) * 0x1p-53;
}

static double normal(uint64_t a, uint64_t b)
{
	return sqrt(-2 * log(unit(a))) * cos(TWO_PI * unit(b));
}

static int64_t whole(double value, int64_t most)
{
	if (!(value < (double)most))
		return most;
	return value < 1.5 ? 1 : (int64_t)(value + 0.5);
}

/* Words first … first + n − 1 of the stream, n ≤ CHUNK. */
enum { CHUNK = 64 };

static const uint64_t *words(uint64_t seed, uint64_t entity, uint64_t first, size_t n,
                             uint64_t buffer[CHUNK + 2 * WORDS])
{
	const uint64_t key[2] = {seed, TL_STREAM_SIZE};
	uint64_t block = first / WORDS;
	size_t skip = (size_t)(first % WORDS);

	for (size_t i = 0; i < skip + n; i += WORDS) {
		const uint64_t counter[4] = {block++, entity, 0, 0};

		tl_philox4x64(counter, key, buffer + i);
	}
	return buffer + skip;
}

static double gamma_draw(double shape, uint64_t seed, uint64_t entity, uint64_t number)
{
	const uint64_t key[2] = {seed, TL_STREAM_SIZE};
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;
	double c = 1 / sqrt(9 * d);

	for (uint64_t attempt = 0;; attempt++) {
		const uint64_t counter[4] = {number, entity, attempt, GAMMA_COUNTER};
		uint64_t word[WORDS];
		double x, v;

		tl_philox4x64(counter, key, word);
		x = normal(word[0], word[1]);
		v = 1 + c * x;
		if (v <= 0)
			continue;
		v = v * v * v;
		if (log(unit(word[2])) >= x * x / 2 + d - d * v + d * log(v))
			continue;
		return shape < 1 ? d * v * pow(unit(word[3]), 1 / shape) : d * v;
	}
}

static void draw_chunk(const struct tl_service_time *service, uint64_t seed, uint64_t entity,
                       uint64_t first, size_t n, int64_t *out)
{
	uint64_t buffer[CHUNK + 2 * WORDS];
	double mean = (double)service->mean_ns;

	if (service->kind == TL_SERVICE_LOGNORMAL) {
		double variance = log1p(service->cv * service->cv);
		double mu = log(mean) - variance / 2, sigma = sqrt(variance);
		const uint64_t *word = words(seed, entity, 2 * first, 2 * n, buffer);

		for (size_t i = 0; i < n; i++)
			out[i] = whole(exp(mu + sigma * normal(word[2 * i], word[2 * i + 1])),
			               TL_SERVICE_MAX_NS);
	} else if (service->kind == TL_SERVICE_EXPONENTIAL) {
		const uint64_t *word = words(seed, entity, first, n, buffer);

		for (size_t i = 0; i < n; i++)
			out[i] = whole(-log(unit(word[i])) * mean, TL_SERVICE_MAX_NS);
	} else {
		const uint64_t *word = words(seed, entity, first, n, buffer);

		for (size_t i = 0; i < n; i++)
			out[i] =
			    service->values_ns[((tl_u128)word[i] * service->value_count) >> 64];
	}
}

void tl_service_time_draw(const struct tl_service_time *service, uint64_t seed, uint64_t entity,
                          uint64_t first, size_t n, int64_t *out_ns)
{
	const size_t chunk = service->kind == TL_SERVICE_LOGNORMAL ? CHUNK / 2 : CHUNK;
	double square = service->cv * service->cv;

	switch (service->kind) {
	case TL_SERVICE_AFFINE:
	case TL_SERVICE_LLM:
	case TL_SERVICE_DETERMINISTIC:
		for (size_t i = 0; i < n; i++)
			out_ns[i] =
			    service->kind == TL_SERVICE_DETERMINISTIC ? service->mean_ns : 0;
		return;
	case TL_SERVICE_GAMMA:
		for (size_t i = 0; i < n; i++)
			out_ns[i] = whole(gamma_draw(1 / square, seed, entity, first + i) *
			                      (double)service->mean_ns * square,
			                  TL_SERVICE_MAX_NS);
		return;
	case TL_SERVICE_EXPONENTIAL:
	case TL_SERVICE_LOGNORMAL:
	case TL_SERVICE_EMPIRICAL:
		for (size_t i = 0; i < n; i += chunk)
			draw_chunk(service, seed, entity, first + i, n - i < chunk ? n - i : chunk,
			           out_ns + i);
		return;
	}
	TL_ASSERT(false && service);
}

struct tl_service_tokens tl_service_time_tokens(const struct tl_service_time *service,
                                                uint64_t seed, uint64_t entity, uint64_t number)
{
	double context = service->context_mean, generated = service->generated_mean;

	if (service->tokens_cv > 0) {
		double variance = log1p(service->tokens_cv * service->tokens_cv);
		uint64_t buffer[CHUNK + 2 * WORDS];
		const uint64_t *word = words(seed, entity, WORDS * number, WORDS, buffer);

		context *= exp(sqrt(variance) * normal(word[0], word[1]) - variance / 2);
		generated *= exp(sqrt(variance) * normal(word[2], word[3]) - variance / 2);
	}
	return (struct tl_service_tokens){
	    .context = (uint32_t)whole(context, TL_SERVICE_MAX_TOKENS),
	    .generated = (uint32_t)whole(generated, TL_SERVICE_MAX_TOKENS),
	};
}

double tl_service_time_mean_ns(const struct tl_service_time *service, uint32_t b)
{
	double sum = 0;

	switch (service->kind) {
	case TL_SERVICE_AFFINE:
		return (double)service->alpha_ns / b + (double)service->beta_ns;
	case TL_SERVICE_LLM:
		return service->context_mean * (double)service->prefill_ns +
		       service->generated_mean *
		           ((double)service->step_ns / b + (double)service->member_ns);
	case TL_SERVICE_EMPIRICAL:
		for (size_t i = 0; i < service->value_count; i++)
			sum += (double)service->values_ns[i];
		return sum / (double)service->value_count / b;
	case TL_SERVICE_DETERMINISTIC:
	case TL_SERVICE_EXPONENTIAL:
	case TL_SERVICE_LOGNORMAL:
	case TL_SERVICE_GAMMA:
		break;
	}
	return (double)service->mean_ns / b;
}
