/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Service-time distributions as quantiles, for the fluid approximation. */
#include "sim/base/arena.h"
#include "sim/work/fluid_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BISECTIONS = 80, TAIL_ATOMS = 96, SERIES_MAX = 10000 };

static const double tail_from = 0.9;

static double normal_below(double x)
{
	return 0.5 * erfc(-x * 0.70710678118654752440);
}

/* The regularised lower incomplete gamma function: its series, or Lentz's continued
 * fraction of the upper one beyond the bulk. */
static double gamma_below(double shape, double x)
{
	if (x <= 0)
		return 0;
	double front = exp(shape * log(x) - x - lgamma(shape));
	if (x < shape + 1) {
		double term = 1 / shape, sum = term;
		for (int n = 1; n < SERIES_MAX && term > sum * 1e-15; n++) {
			term *= x / (shape + n);
			sum += term;
		}
		return sum * front;
	}
	double b = x + 1 - shape, c = 1e300, d = 1 / b, h = d;
	for (int n = 1; n < SERIES_MAX; n++) {
		double a = -n * (n - shape);
		b += 2;
		d = 1 / (a * d + b);
		c = b + a / c;
		h *= c * d;
		if (fabs(c * d - 1) < 1e-15)
			break;
	}
	return 1 - front * h;
}

/* x with below(x) = p, for the two that have no closed inverse. Gammas are sought in ln x. */
static double invert(double shape, double p)
{
	double low = shape > 0 ? -700 : -40, high = shape > 0 ? 50 : 40;

	for (int i = 0; i < BISECTIONS; i++) {
		double middle = (low + high) / 2;
		double below = shape > 0 ? gamma_below(shape, exp(middle)) : normal_below(middle);
		if (below < p)
			low = middle;
		else
			high = middle;
	}
	return shape > 0 ? exp(high) : high;
}

static int compare_values(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

double tl_fluid_service_quantile(const struct tl_service_time *service, double p)
{
	double mean = (double)service->mean_ns, cv = service->cv;

	switch (service->kind) {
	case TL_SERVICE_EXPONENTIAL:
		return -mean * log1p(-p);
	case TL_SERVICE_LOGNORMAL: {
		double variance = log1p(cv * cv);
		return mean * exp(sqrt(variance) * invert(0, p) - variance / 2);
	}
	case TL_SERVICE_GAMMA:
		return mean * cv * cv * invert(1 / (cv * cv), p);
	case TL_SERVICE_AFFINE:
		return (double)(service->alpha_ns + service->beta_ns);
	default:
		return mean;
	}
}

/* Ranks: evenly up to tail_from, then by equal ratios of what is above. */
static void fill_ranks(struct tl_fluid *fluid)
{
	enum { BODY = TL_FLUID_ATOMS - TAIL_ATOMS };
	double above = 1 - tail_from, ratio = pow(1e-5, 1.0 / TAIL_ATOMS);

	for (int i = 0; i < BODY; i++) {
		fluid->weights[i] = tail_from / BODY;
		fluid->ranks[i] = (i + 0.5) * fluid->weights[i];
	}
	for (int i = 0; i < TAIL_ATOMS; i++) {
		double next = i + 1 < TAIL_ATOMS ? above * ratio : 0;
		fluid->weights[BODY + i] = above - next;
		fluid->ranks[BODY + i] = 1 - (above + next) / 2;
		above = next;
	}
}

static void fill_moments(struct tl_fluid *fluid)
{
	const struct tl_service_time *service = &fluid->model.service;

	fluid->mean_ns = service->kind == TL_SERVICE_AFFINE
	                     ? (double)(service->alpha_ns + service->beta_ns)
	                     : (double)service->mean_ns;
	double square = service->cv * service->cv;
	fluid->scv = 0;
	fluid->cube = 1;
	if (service->kind == TL_SERVICE_EXPONENTIAL)
		square = 1;
	if (service->kind == TL_SERVICE_EXPONENTIAL || service->kind == TL_SERVICE_GAMMA) {
		fluid->scv = square;
		fluid->cube = (1 + square) * (1 + 2 * square);
	}
	if (service->kind == TL_SERVICE_LOGNORMAL) {
		fluid->scv = square;
		fluid->cube = pow(1 + square, 3);
	}
}

static void fill_empirical(struct tl_fluid *fluid)
{
	const struct tl_service_time *service = &fluid->model.service;
	size_t n = service->value_count;
	int64_t *sorted = tl_alloc(n * sizeof *sorted);
	double sum = 0, squares = 0, cubes = 0;

	memcpy(sorted, service->values_ns, n * sizeof *sorted);
	qsort(sorted, n, sizeof *sorted, compare_values);
	for (size_t i = 0; i < n; i++)
		sum += (double)sorted[i];
	fluid->mean_ns = sum / (double)n;
	for (size_t i = 0; i < n; i++) {
		double part = (double)sorted[i] / fluid->mean_ns;
		squares += (part - 1) * (part - 1);
		cubes += part * part * part;
	}
	fluid->scv = squares / (double)n;
	fluid->cube = cubes / (double)n;
	for (int i = 0; i < TL_FLUID_ATOMS; i++)
		fluid->atoms_ns[i] = (double)sorted[(size_t)(fluid->ranks[i] * (double)n)];
	free(sorted);
}

void tl_fluid_service_fill(struct tl_fluid *fluid)
{
	const struct tl_service_time *service = &fluid->model.service;

	fill_ranks(fluid);
	if (service->kind == TL_SERVICE_EMPIRICAL) {
		fill_empirical(fluid);
		return;
	}
	fill_moments(fluid);
	if (service->kind == TL_SERVICE_LLM)
		return;
	for (int i = 0; i < TL_FLUID_ATOMS; i++)
		fluid->atoms_ns[i] = tl_fluid_service_quantile(service, fluid->ranks[i]);
}

/* The greatest of b is below the quantile p with probability p^b. */
double tl_fluid_batch_mean(const struct tl_fluid *fluid, double b, double *scv)
{
	const struct tl_service_time *service = &fluid->model.service;
	double mean = 0, square = 0, before = 0, reached = 0;
	bool plain =
	    service->kind == TL_SERVICE_AFFINE || service->kind == TL_SERVICE_DETERMINISTIC;

	if (scv != NULL)
		*scv = plain ? 0 : fluid->scv;
	if (service->kind == TL_SERVICE_AFFINE)
		return (double)service->alpha_ns + (double)service->beta_ns * b;
	if (b <= 1 || plain)
		return fluid->mean_ns;
	for (int i = 0; i < TL_FLUID_ATOMS; i++) {
		reached += fluid->weights[i];
		double below = i + 1 < TL_FLUID_ATOMS ? pow(reached, b) : 1;
		mean += fluid->atoms_ns[i] * (below - before);
		square += fluid->atoms_ns[i] * fluid->atoms_ns[i] * (below - before);
		before = below;
	}
	if (scv != NULL)
		*scv = square / (mean * mean) - 1;
	return mean;
}
