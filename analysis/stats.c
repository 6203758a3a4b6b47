/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples, tests between two of them, and corrections for many. */
#include "analysis/stats.h"

#include "sim/base/arena.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

static const struct tl_stats_interval none = {NAN, NAN};

struct tl_stats_sample tl_stats_sample(const double *x, size_t n)
{
	struct tl_stats_sample sample = {.count = n, .mean = NAN, .sd = NAN};
	double sum = 0, square = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	if (n > 0)
		sample.mean = sum / (double)n;
	/* In two passes: the spread of large numbers that lie close is not lost. */
	for (size_t i = 0; i < n; i++)
		square += (x[i] - sample.mean) * (x[i] - sample.mean);
	if (n > 1)
		sample.sd = sqrt(square / (double)(n - 1));
	return sample;
}

static struct tl_stats_interval around(double middle, double error, double df, double confidence)
{
	const double reach = error > 0 ? error * gsl_cdf_tdist_Qinv((1 - confidence) / 2, df) : 0;

	return (struct tl_stats_interval){middle - reach, middle + reach};
}

struct tl_stats_interval tl_stats_t_interval(const double *x, size_t n, double confidence)
{
	const struct tl_stats_sample sample = tl_stats_sample(x, n);

	if (n < 2)
		return none;
	return around(sample.mean, sample.sd / sqrt((double)n), (double)(n - 1), confidence);
}

/* Of a difference and its standard error, both finite. */
static struct tl_stats_test test_of(double difference, double error, double df, double confidence)
{
	struct tl_stats_test test = {.difference = difference, .error = error, .df = df};

	test.interval = around(difference, error, df, confidence);
	if (error > 0) {
		test.t = difference / error;
		test.p = 2 * gsl_cdf_tdist_Q(fabs(test.t), df);
	} else {
		const bool differs = fabs(difference) > 0;

		test.t = differs ? copysign(INFINITY, difference) : 0;
		test.p = differs ? 0 : 1;
	}
	return test;
}

static struct tl_stats_test no_test(double difference)
{
	return (struct tl_stats_test){.difference = difference,
	                              .error = NAN,
	                              .interval = none,
	                              .t = NAN,
	                              .df = NAN,
	                              .p = NAN};
}

static struct tl_stats_sample differences(const double *a, const double *b, size_t n)
{
	double *d = tl_calloc(n + 1, sizeof *d);
	struct tl_stats_sample sample;

	for (size_t i = 0; i < n; i++)
		d[i] = b[i] - a[i];
	sample = tl_stats_sample(d, n);
	free(d);
	return sample;
}

struct tl_stats_test tl_stats_paired_t(const double *a, const double *b, size_t n,
                                       double confidence)
{
	const struct tl_stats_sample d = differences(a, b, n);

	if (n < 2)
		return no_test(d.mean);
	return test_of(d.mean, d.sd / sqrt((double)n), (double)(n - 1), confidence);
}

struct tl_stats_test tl_stats_welch_t(const double *a, size_t na, const double *b, size_t nb,
                                      double confidence)
{
	const struct tl_stats_sample sa = tl_stats_sample(a, na), sb = tl_stats_sample(b, nb);
	double va, vb, df;

	if (na < 2 || nb < 2)
		return no_test(sb.mean - sa.mean);
	va = sa.sd * sa.sd / (double)na;
	vb = sb.sd * sb.sd / (double)nb;
	df = va + vb > 0
	         ? (va + vb) * (va + vb) / (va * va / (double)(na - 1) + vb * vb / (double)(nb - 1))
	         : (double)(na + nb - 2);
	return test_of(sb.mean - sa.mean, sqrt(va + vb), df, confidence);
}

/* Of a size in units of a spread, which may be none. */
static double standardised(double size, double spread)
{
	if (spread > 0)
		return size / spread;
	return fabs(size) > 0 ? copysign(INFINITY, size) : 0;
}

double tl_stats_cohen_dz(const double *a, const double *b, size_t n)
{
	const struct tl_stats_sample d = differences(a, b, n);

	return n < 2 ? NAN : standardised(d.mean, d.sd);
}

double tl_stats_hedges_g(const double *a, size_t na, const double *b, size_t nb)
{
	const struct tl_stats_sample sa = tl_stats_sample(a, na), sb = tl_stats_sample(b, nb);
	double df, pooled, correction;

	if (na < 2 || nb < 2)
		return NAN;
	df = (double)(na + nb - 2);
	pooled = sqrt(((double)(na - 1) * sa.sd * sa.sd + (double)(nb - 1) * sb.sd * sb.sd) / df);
	correction = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2);
	return correction * standardised(sb.mean - sa.mean, pooled);
}

double tl_stats_within(const struct tl_stats_test *test, double margin)
{
	const double size = fabs(test->difference);

	if (isnan(test->p))
		return NAN;
	if (!(test->error > 0))
		return size < margin ? 0 : 1;
	/* The bound that lies nearer is the harder to keep. */
	return gsl_cdf_tdist_P((size - margin) / test->error, test->df);
}

double tl_stats_beyond(const struct tl_stats_test *test, double margin)
{
	const double size = fabs(test->difference);

	if (isnan(test->p))
		return NAN;
	if (!(test->error > 0))
		return size > margin ? 0 : 1;
	return gsl_cdf_tdist_Q((size - margin) / test->error, test->df) +
	       gsl_cdf_tdist_Q((size + margin) / test->error, test->df);
}

/* ---- many tests at once ---- */

struct ranked {
	double p;
	size_t at;
};

static int by_p(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->p < b->p || a->p > b->p)
		return a->p < b->p ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

/* Those of p that are numbers, ascending; NaN is handed on. */
static struct ranked *rank(const double *p, size_t n, double *adjusted, size_t *count)
{
	struct ranked *order = tl_calloc(n + 1, sizeof *order);

	*count = 0;
	for (size_t i = 0; i < n; i++) {
		if (isnan(p[i]))
			adjusted[i] = NAN;
		else
			order[(*count)++] = (struct ranked){p[i], i};
	}
	qsort(order, *count, sizeof *order, by_p);
	return order;
}

void tl_stats_holm(const double *p, size_t n, double *adjusted)
{
	size_t count;
	struct ranked *order = rank(p, n, adjusted, &count);
	double largest = 0;

	for (size_t i = 0; i < count; i++) {
		largest = fmax(largest, fmin(1, (double)(count - i) * order[i].p));
		adjusted[order[i].at] = largest;
	}
	free(order);
}

void tl_stats_benjamini_hochberg(const double *p, size_t n, double *adjusted)
{
	size_t count;
	struct ranked *order = rank(p, n, adjusted, &count);
	double least = 1;

	for (size_t i = count; i-- > 0;) {
		least = fmin(least, (double)count / (double)(i + 1) * order[i].p);
		adjusted[order[i].at] = least;
	}
	free(order);
}

double tl_stats_fisher(size_t a_hits, size_t a, size_t b_hits, size_t b)
{
	const unsigned hits = (unsigned)(a_hits + b_hits), misses = (unsigned)(a + b) - hits;
	const double seen = gsl_ran_hypergeometric_pdf((unsigned)a_hits, hits, misses, (unsigned)a);
	double p = 0;

	/* What ties with it counts, rounding aside. */
	for (unsigned k = 0; k <= hits && k <= a; k++) {
		const double here = gsl_ran_hypergeometric_pdf(k, hits, misses, (unsigned)a);

		p += here <= seen * (1 + 1e-7) ? here : 0;
	}
	return p < 1 ? p : 1;
}
