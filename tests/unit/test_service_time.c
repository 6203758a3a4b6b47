/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/work/service_time.h"

#include <criterion/criterion.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200000 };

static const int64_t listed[] = {7, 100, 100, 2000};

static struct tl_service_time of_kind(enum tl_service_kind kind)
{
	return (struct tl_service_time){.kind = kind,
	                                .alpha_ns = 12 * TL_NS_PER_MS,
	                                .beta_ns = 2 * TL_NS_PER_MS,
	                                .mean_ns = 5 * TL_NS_PER_MS,
	                                .cv = 1.5,
	                                .values_ns = listed,
	                                .value_count = 4,
	                                .prefill_ns = 100000,
	                                .step_ns = 20 * TL_NS_PER_MS,
	                                .member_ns = TL_NS_PER_MS,
	                                .context_mean = 1000,
	                                .generated_mean = 200,
	                                .tokens_cv = 1};
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov and Smirnov's distance of N draws from the distribution function, which stays
 * below 1.95 / √N in 99.9 % of samples. */
static double distance(const struct tl_service_time *service, double (*below)(double))
{
	int64_t *draws = tl_alloc(N * sizeof *draws);
	double most = 0;

	tl_service_time_draw(service, 3, 1, 0, N, draws);
	qsort(draws, N, sizeof *draws, compare);
	for (int i = 0; i < N; i++) {
		double p = below((double)draws[i]);

		most = fmax(most, fmax(fabs(p - (double)i / N), fabs(p - (double)(i + 1) / N)));
	}
	free(draws);
	return most * sqrt(N);
}

static double exponential(double x)
{
	return gsl_cdf_exponential_P(x, 5e6);
}

static double lognormal(double x)
{
	return gsl_cdf_lognormal_P(x, log(5e6) - log(3.25) / 2, sqrt(log(3.25)));
}

static double gamma_wide(double x)
{
	return gsl_cdf_gamma_P(x, 1 / 2.25, 5e6 * 2.25);
}

static double gamma_narrow(double x)
{
	return gsl_cdf_gamma_P(x, 16, 5e6 / 16);
}

Test(service_time, draws_have_their_distribution)
{
	struct tl_service_time service = of_kind(TL_SERVICE_EXPONENTIAL);

	cr_assert_lt(distance(&service, exponential), 1.95);
	cr_assert_gt(distance(&service, lognormal), 1.95, "the test can fail");
	service.kind = TL_SERVICE_LOGNORMAL;
	cr_assert_lt(distance(&service, lognormal), 1.95);
	service.kind = TL_SERVICE_GAMMA;
	cr_assert_lt(distance(&service, gamma_wide), 1.95);
	service.cv = 0.25;
	cr_assert_lt(distance(&service, gamma_narrow), 1.95);
}

Test(service_time, an_empirical_list_is_drawn_alike)
{
	struct tl_service_time service = of_kind(TL_SERVICE_EMPIRICAL);
	int64_t *draws = tl_alloc(N * sizeof *draws);
	double count[3] = {0};

	tl_service_time_draw(&service, 3, 1, 0, N, draws);
	for (int i = 0; i < N; i++)
		count[draws[i] == 7 ? 0 : draws[i] == 100 ? 1 : 2]++;
	/* Four standard deviations. */
	cr_assert_lt(fabs(count[0] / N - 0.25), 4 * sqrt(0.25 * 0.75 / N));
	cr_assert_lt(fabs(count[1] / N - 0.5), 4 * sqrt(0.5 * 0.5 / N));
	free(draws);
}

/* Draw n depends on (seed, service, n) alone, not on how many are drawn at a time. */
Test(service_time, draws_are_keyed)
{
	enum { FEW = 300 };
	int64_t all[FEW], part[FEW];

	for (int kind = TL_SERVICE_AFFINE; kind <= TL_SERVICE_LLM; kind++) {
		struct tl_service_time service = of_kind((enum tl_service_kind)kind);

		tl_service_time_draw(&service, 9, 2, 0, FEW, all);
		for (uint64_t from = 0; from < FEW; from += 7)
			tl_service_time_draw(&service, 9, 2, from, FEW - from < 7 ? FEW - from : 7,
			                     part + from);
		cr_assert_arr_eq(all, part, sizeof all, "kind %d", kind);
		tl_service_time_draw(&service, 9, 3, 0, FEW, part);
		if (kind >= TL_SERVICE_EXPONENTIAL && kind <= TL_SERVICE_EMPIRICAL)
			cr_assert(memcmp(all, part, sizeof all) != 0, "kind %d: another service",
			          kind);
		tl_service_time_draw(&service, 10, 2, 0, FEW, part);
		if (kind >= TL_SERVICE_EXPONENTIAL && kind <= TL_SERVICE_EMPIRICAL)
			cr_assert(memcmp(all, part, sizeof all) != 0, "kind %d: another seed",
			          kind);
	}
}

Test(service_time, draws_stay_within_bounds)
{
	struct tl_service_time service = of_kind(TL_SERVICE_LOGNORMAL);
	int64_t draws[1000];

	service.cv = TL_SERVICE_CV_MAX;
	service.mean_ns = 1;
	tl_service_time_draw(&service, 1, 1, 0, 1000, draws);
	for (int i = 0; i < 1000; i++)
		cr_assert_geq(draws[i], 1);
	service.mean_ns = TL_SERVICE_MAX_NS;
	tl_service_time_draw(&service, 1, 1, 0, 1000, draws);
	for (int i = 0; i < 1000; i++)
		cr_assert(draws[i] >= 1 && draws[i] <= TL_SERVICE_MAX_NS);
}

Test(service_time, tokens_have_their_means)
{
	struct tl_service_time service = of_kind(TL_SERVICE_LLM);
	double context = 0, generated = 0;

	for (uint64_t n = 0; n < N; n++) {
		struct tl_service_tokens tokens = tl_service_time_tokens(&service, 3, 1, n);

		context += tokens.context;
		generated += tokens.generated;
	}
	/* The coefficient of variation is 1: four standard deviations. */
	cr_assert_lt(fabs(context / N / 1000 - 1), 4 / sqrt(N));
	cr_assert_lt(fabs(generated / N / 200 - 1), 4 / sqrt(N));
	service.tokens_cv = 0;
	cr_assert_eq(tl_service_time_tokens(&service, 3, 1, 5).context, 1000);
	cr_assert_eq(tl_service_time_tokens(&service, 3, 1, 5).generated, 200);
}

Test(service_time, means_for_sizing)
{
	struct tl_service_time service = of_kind(TL_SERVICE_AFFINE);

	/* 12 + 2·8 ms for 8: 286 requests a second. */
	cr_assert_float_eq(1e9 / tl_service_time_mean_ns(&service, 8), 285.714, 1e-3);
	cr_assert_eq(tl_service_time_batch(&service, 8, 0), 28 * TL_NS_PER_MS);
	service.kind = TL_SERVICE_GAMMA;
	cr_assert_eq(tl_service_time_batch(&service, 8, 77), 77);
	cr_assert_float_eq(tl_service_time_mean_ns(&service, 1), 5e6, 1e-6);
	service.kind = TL_SERVICE_EMPIRICAL;
	cr_assert_float_eq(tl_service_time_mean_ns(&service, 1), 2207.0 / 4, 1e-9);
	service.kind = TL_SERVICE_LLM;
	cr_assert_float_eq(tl_service_time_mean_ns(&service, 4), 1000 * 1e5 + 200 * 6e6, 1);
}

static void refused(const struct tl_service_time *service, const char *what)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_service_time_check(service, &error), TL_E_CONFIG, "%s is accepted", what);
	cr_assert(strstr(error.message, what), "%s: %s", what, error.message);
	cr_assert(strstr(error.message, "wanted"), "%s", error.message);
}

#define REFUSED(of, member, value, what)                                                           \
	do {                                                                                       \
		struct tl_service_time service = of_kind(of);                                      \
		service.member = value;                                                            \
		refused(&service, what);                                                           \
	} while (0)

Test(service_time, impossible_ones_are_refused)
{
	for (int kind = TL_SERVICE_AFFINE; kind <= TL_SERVICE_LLM; kind++) {
		struct tl_service_time service = of_kind((enum tl_service_kind)kind);

		cr_assert_eq(tl_service_time_check(&service, NULL), TL_OK);
	}
	REFUSED((enum tl_service_kind)9, cv, 1, "kind");
	REFUSED(TL_SERVICE_AFFINE, alpha_ns, -1, "alpha");
	REFUSED(TL_SERVICE_AFFINE, beta_ns, -1, "beta");
	REFUSED(TL_SERVICE_AFFINE, beta_ns, TL_SERVICE_MAX_NS, "alpha + beta");
	REFUSED(TL_SERVICE_DETERMINISTIC, mean_ns, 0, "mean");
	REFUSED(TL_SERVICE_EXPONENTIAL, mean_ns, TL_SERVICE_MAX_NS + 1, "mean");
	REFUSED(TL_SERVICE_LOGNORMAL, cv, 0, "cv");
	REFUSED(TL_SERVICE_LOGNORMAL, mean_ns, -5, "mean");
	REFUSED(TL_SERVICE_GAMMA, cv, NAN, "cv");
	REFUSED(TL_SERVICE_GAMMA, cv, 101, "cv");
	REFUSED(TL_SERVICE_EMPIRICAL, value_count, 0, "values");
	REFUSED(TL_SERVICE_EMPIRICAL, values_ns, NULL, "values");
	REFUSED(TL_SERVICE_EMPIRICAL, values_ns, ((int64_t[]){1, 2, 0, 4}), "a value");
	REFUSED(TL_SERVICE_LLM, prefill_ns, -1, "prefill");
	REFUSED(TL_SERVICE_LLM, step_ns, -1, "step");
	REFUSED(TL_SERVICE_LLM, member_ns, -1, "member");
	REFUSED(TL_SERVICE_LLM, tokens_cv, -1, "tokens' cv");
	REFUSED(TL_SERVICE_LLM, context_mean, 0.5, "mean context");
	REFUSED(TL_SERVICE_LLM, generated_mean, INFINITY, "mean generated");
	refused(&(struct tl_service_time){.kind = TL_SERVICE_AFFINE}, "alpha + beta");
	refused(&(struct tl_service_time){.kind = TL_SERVICE_LLM}, "step + member");
}
