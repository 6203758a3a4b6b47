/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/compare.h"

#include "sim/base/arena.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTSTRAP_SEED = 1 };

static const struct tl_stats_interval no_interval = {(double)NAN, (double)NAN};

static size_t find_seed(const struct tl_runs *runs, uint64_t seed)
{
	size_t i = 0;

	while (i < runs->count && runs->seeds[i] != seed)
		i++;
	return i;
}

static bool share_seeds(const struct tl_runs *a, const struct tl_runs *b)
{
	for (size_t i = 0; i < a->count; i++)
		if (find_seed(b, a->seeds[i]) < b->count)
			return true;
	return false;
}

static size_t take_all(const struct tl_runs *runs, size_t metric, double *values)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const double value = tl_runs_value(runs, metric, i);

		if (isfinite(value))
			values[count++] = value;
	}
	return count;
}

struct tl_pairing tl_compare_pairs(const struct tl_runs *a, size_t a_metric,
                                   const struct tl_runs *b, size_t b_metric, double *a_values,
                                   double *b_values)
{
	struct tl_pairing pairing = {.paired = share_seeds(a, b)};

	if (!pairing.paired) {
		pairing.a_count = take_all(a, a_metric, a_values);
		pairing.b_count = take_all(b, b_metric, b_values);
		return pairing;
	}
	for (size_t i = 0; i < a->count; i++) {
		const size_t j = find_seed(b, a->seeds[i]);
		double x, y;

		if (j == b->count)
			continue;
		x = tl_runs_value(a, a_metric, i);
		y = tl_runs_value(b, b_metric, j);
		if (!isfinite(x) || !isfinite(y))
			continue;
		a_values[pairing.a_count++] = x;
		b_values[pairing.b_count++] = y;
	}
	return pairing;
}

static bool all_equal(const double *a, size_t na, const double *b, size_t nb, bool paired)
{
	for (size_t i = 0; i < nb; i++)
		if (fabs(b[i] - a[paired ? i : 0]) > 0)
			return false;
	for (size_t i = 0; i < na && !paired; i++)
		if (fabs(a[i] - a[0]) > 0)
			return false;
	return true;
}

static void of_pairs(const double *a, const double *b, size_t n, double confidence,
                     struct tl_comparison *out)
{
	const struct tl_stats_test test = tl_stats_paired_t(a, b, n, confidence);

	out->interval = test.interval;
	out->p = test.p;
	out->effect = tl_stats_cohen_dz(a, b, n);
}

static void resample_pairs(const double *a, const double *b, size_t n, double confidence,
                           struct tl_comparison *out)
{
	double *d = tl_calloc(n, sizeof *d);

	for (size_t i = 0; i < n; i++)
		d[i] = b[i] - a[i];
	out->bootstrap = tl_stats_bootstrap_mean(d, n, confidence, TL_STATS_BCA, BOOTSTRAP_SEED);
	out->ratio_interval =
	    tl_stats_bootstrap_ratio(a, b, n, confidence, TL_STATS_BCA, BOOTSTRAP_SEED);
	free(d);
}

static void of_samples(const double *a, size_t na, const double *b, size_t nb, double confidence,
                       struct tl_comparison *out)
{
	const struct tl_stats_test test = tl_stats_welch_t(a, na, b, nb, confidence);

	out->interval = test.interval;
	out->p = test.p;
	out->effect = tl_stats_hedges_g(a, na, b, nb);
}

/* All but the verdict of what was tested. */
static void compare_one(const struct tl_runs *a, const struct tl_runs *b, const char *metric,
                        const struct tl_compare_options *options, double *x, double *y,
                        struct tl_comparison *out)
{
	const size_t in_a = tl_runs_metric(a, metric), in_b = tl_runs_metric(b, metric);
	struct tl_pairing pairing;

	*out = (struct tl_comparison){.metric = metric,
	                              .unit = "",
	                              .a = NAN,
	                              .b = NAN,
	                              .difference = NAN,
	                              .ratio = NAN,
	                              .interval = no_interval,
	                              .bootstrap = no_interval,
	                              .ratio_interval = no_interval,
	                              .effect = NAN,
	                              .p = NAN,
	                              .p_corrected = NAN,
	                              .verdict = TL_COMPARE_UNTESTED};
	if (in_a < a->metric_count)
		out->unit = a->units[in_a];
	else if (in_b < b->metric_count)
		out->unit = b->units[in_b];
	if (in_a == a->metric_count || in_b == b->metric_count ||
	    strcmp(a->units[in_a], b->units[in_b]) != 0)
		return;
	pairing = tl_compare_pairs(a, in_a, b, in_b, x, y);
	out->paired = pairing.paired;
	out->a_count = pairing.a_count;
	out->b_count = pairing.b_count;
	if (pairing.a_count == 0 || pairing.b_count == 0)
		return;
	out->a = tl_stats_sample(x, pairing.a_count).mean;
	out->b = tl_stats_sample(y, pairing.b_count).mean;
	out->difference = out->b - out->a;
	if (fabs(out->a) > 0)
		out->ratio = out->b / out->a;
	if (all_equal(x, pairing.a_count, y, pairing.b_count, pairing.paired))
		out->verdict = TL_COMPARE_SAME;
	else if (pairing.paired && pairing.a_count > 1)
		of_pairs(x, y, pairing.a_count, options->confidence, out);
	else if (!pairing.paired)
		of_samples(x, pairing.a_count, y, pairing.b_count, options->confidence, out);
	if (options->bootstrap && pairing.paired && pairing.a_count > 1)
		resample_pairs(x, y, pairing.a_count, options->confidence, out);
}

static void correct(struct tl_comparison *rows, size_t count, enum tl_correction correction)
{
	double *p = tl_calloc(count + 1, sizeof *p);

	for (size_t i = 0; i < count; i++)
		p[i] = rows[i].p;
	if (correction == TL_CORRECT_HOLM)
		tl_stats_holm(p, count, p);
	else if (correction == TL_CORRECT_FDR)
		tl_stats_benjamini_hochberg(p, count, p);
	for (size_t i = 0; i < count; i++)
		rows[i].p_corrected = p[i];
	free(p);
}

void tl_compare(const struct tl_runs *a, const struct tl_runs *b, const char *const *metrics,
                size_t metric_count, const struct tl_compare_options *options,
                struct tl_comparison *rows)
{
	double *x = tl_calloc(a->count + b->count + 1, sizeof *x), *y = x + a->count;

	for (size_t i = 0; i < metric_count; i++)
		compare_one(a, b, metrics[i], options, x, y, &rows[i]);
	free(x);
	correct(rows, metric_count, options->correction);
	for (size_t i = 0; i < metric_count; i++) {
		struct tl_comparison *row = &rows[i];

		if (isnan(row->p_corrected))
			continue;
		if (row->p_corrected > 1 - options->confidence)
			row->verdict = TL_COMPARE_NOT_SHOWN;
		else
			row->verdict = row->difference < 0 ? TL_COMPARE_LOWER : TL_COMPARE_HIGHER;
	}
}

size_t tl_compare_seeds(const struct tl_comparison *row, size_t tested,
                        const struct tl_compare_options *options)
{
	enum { SEEDS_MAX = 1000 };
	const double tests = options->correction == TL_CORRECT_NOT ? 1 : (double)tested;
	const double level = (1 - options->confidence) / tests;

	for (size_t n = 2; n <= SEEDS_MAX && isfinite(row->effect); n++) {
		const double t = fabs(row->effect) * sqrt((double)n / (row->paired ? 1 : 2));
		const double df = (double)(n - 1) * (row->paired ? 1 : 2);

		if (2 * gsl_cdf_tdist_Q(t, df) <= level)
			return n;
	}
	return 0;
}
