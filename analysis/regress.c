/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/regress.h"

#include "analysis/compare.h"
#include "results/metrics.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two machines' libm differ in the last bits. */
#define LIBM_RELATIVE 1e-9

struct regress {
	const struct tl_runs *a, *b;
	const struct tl_tolerances *tolerances;
	double *x, *y; /* room for the values of a metric */
	double *p;     /* of each row's difference, before the correction */
	struct tl_error *error;
};

static bool is_whole(double value)
{
	return fabs(value) < 9e15 && !(fabs(value - rint(value)) > 0);
}

static double margin_of(const struct tl_tolerance *tolerance, double size)
{
	return tolerance->absolute + tolerance->relative * size;
}

/* What a pair of values may differ by. */
static double value_margin(const struct tl_tolerance *tolerance, double a, double b)
{
	const double size = fmax(fabs(a), fabs(b));

	if (!tolerance->exact)
		return margin_of(tolerance, size);
	return is_whole(a) && is_whole(b) ? 0 : LIBM_RELATIVE * size;
}

/* Moved from a to b: which way is that? */
static enum tl_regress_state direction(const struct tl_tolerance *tolerance,
                                       const struct tl_regression *row)
{
	const enum tl_better better = tl_metric_better(row->metric);
	const bool lower = row->b < row->a;

	/* Where there is no value any more, no way is known. */
	if (better == TL_BETTER_NEITHER || isnan(row->a) || isnan(row->b))
		return TL_REGRESS_MOVED;
	if (lower != (better == TL_BETTER_LOW))
		return TL_REGRESS_WORSE;
	return tolerance->worse_only ? TL_REGRESS_BETTER : TL_REGRESS_MOVED;
}

static size_t find_seed(const struct tl_runs *runs, uint64_t seed)
{
	size_t i = 0;

	while (i < runs->count && runs->seeds[i] != seed)
		i++;
	return i;
}

/* Every run of the baseline against that of the same seed; the worst of them is told. */
static enum tl_status test_values(const struct regress *regress,
                                  const struct tl_tolerance *tolerance, size_t in_a, size_t in_b,
                                  struct tl_regression *row)
{
	const struct tl_runs *a = regress->a, *b = regress->b;
	double worst = -INFINITY;
	bool moved = false;

	for (size_t i = 0; i < a->count; i++) {
		const size_t j = find_seed(b, a->seeds[i]);
		double x, y, beyond;

		if (j == b->count)
			return tl_error_set(regress->error, TL_E_DATA, b->source, 0, 0,
			                    "has no run of seed %llu, wanted one for each of %s: "
			                    "metric %s is compared value by value",
			                    (unsigned long long)a->seeds[i], a->source,
			                    row->metric);
		x = tl_runs_value(a, in_a, i);
		y = tl_runs_value(b, in_b, j);
		if (isnan(x) != isnan(y))
			beyond = INFINITY;
		else if (isnan(x))
			beyond = -INFINITY;
		else
			beyond = fabs(y - x) - value_margin(tolerance, x, y);
		moved = moved || beyond > 0;
		if (i > 0 && !(beyond > worst))
			continue;
		worst = beyond;
		row->a = x;
		row->b = y;
		row->margin = isnan(x) || isnan(y) ? 0 : value_margin(tolerance, x, y);
	}
	row->a_count = a->count;
	row->b_count = b->count;
	if (moved)
		row->state = direction(tolerance, row);
	return TL_OK;
}

static size_t count_values(const struct tl_runs *runs, size_t metric)
{
	size_t count = 0;

	for (size_t i = 0; i < runs->count; i++)
		if (!isnan(tl_runs_value(runs, metric, i)))
			count++;
	return count;
}

/* Whether a seed that both have has a value on one side alone. */
static bool differ_in_values(const struct tl_runs *a, size_t in_a, const struct tl_runs *b,
                             size_t in_b)
{
	for (size_t i = 0; i < a->count; i++) {
		const size_t j = find_seed(b, a->seeds[i]);

		if (j < b->count &&
		    isnan(tl_runs_value(a, in_a, i)) != isnan(tl_runs_value(b, in_b, j)))
			return true;
	}
	return false;
}

/* Two questions of one metric, the values and how many runs have one: by the surer answer,
 * Bonferroni's factor on it. */
static void weigh_shares(struct tl_regression *row, double *p)
{
	const double shares = tl_stats_fisher(row->a_count, row->a_runs, row->b_count, row->b_runs);

	row->uneven = !(*p <= shares);
	*p = fmin(1, 2 * (row->uneven ? shares : *p));
}

static enum tl_status test_samples(const struct regress *regress,
                                   const struct tl_tolerance *tolerance, size_t in_a, size_t in_b,
                                   struct tl_regression *row, double *p)
{
	const struct tl_runs *a = regress->a, *b = regress->b;
	struct tl_pairing pairing;
	struct tl_stats_test test;

	if (a->count < 2 || b->count < 2)
		return tl_error_set(
		    regress->error, TL_E_DATA, b->source, 0, 0,
		    "metric %s: got %zu and %zu runs, wanted two a side for a test of "
		    "%s",
		    row->metric, a->count, b->count,
		    row->test == TL_REGRESS_EQUIVALENCE ? "equivalence" : "a difference");
	row->a_count = count_values(a, in_a);
	row->b_count = count_values(b, in_b);
	/* Values that were there for none are there, or the other way round. */
	if ((row->a_count == 0) != (row->b_count == 0))
		row->state = TL_REGRESS_MOVED;
	if (row->a_count == 0 || row->b_count == 0)
		return TL_OK;
	if (differ_in_values(a, in_a, b, in_b)) {
		row->state = TL_REGRESS_UNEVEN;
		return TL_OK;
	}
	pairing = tl_compare_pairs(a, in_a, b, in_b, regress->x, regress->y);
	test = pairing.paired ? tl_stats_paired_t(regress->x, regress->y, pairing.a_count,
	                                          1 - TL_REGRESS_ALPHA)
	                      : tl_stats_welch_t(regress->x, pairing.a_count, regress->y,
	                                         pairing.b_count, 1 - TL_REGRESS_ALPHA);
	row->a = tl_stats_sample(regress->x, pairing.a_count).mean;
	row->b = tl_stats_sample(regress->y, pairing.b_count).mean;
	row->interval = test.interval;
	row->margin =
	    tolerance->exact ? LIBM_RELATIVE * fabs(row->a) : margin_of(tolerance, fabs(row->a));
	if (row->test == TL_REGRESS_DIFFERENCE) {
		/* Nothing varies and nothing moved: that is no test to be corrected for. */
		if (test.error > 0 || fabs(test.difference) > row->margin)
			*p = tl_stats_beyond(&test, row->margin);
		if (!pairing.paired && (row->a_count < a->count || row->b_count < b->count))
			weigh_shares(row, p);
		return TL_OK;
	}
	row->p = tl_stats_within(&test, row->margin);
	if (!(row->p <= TL_REGRESS_ALPHA))
		row->state = TL_REGRESS_UNCERTAIN;
	return TL_OK;
}

/* Over all runs; NaN where one has no value. */
static double mean_of(const struct tl_runs *runs, size_t metric)
{
	return tl_stats_sample(&runs->values[metric * runs->count], runs->count).mean;
}

static enum tl_status judge(const struct regress *regress, const char *metric,
                            struct tl_regression *row, double *p)
{
	const struct tl_tolerance *tolerance = tl_tolerances_find(regress->tolerances, metric);
	const size_t in_a = tl_runs_metric(regress->a, metric);
	const size_t in_b = tl_runs_metric(regress->b, metric);
	const bool single = regress->a->count == 1 && regress->b->count == 1;

	*row = (struct tl_regression){.metric = metric,
	                              .test = tolerance->test,
	                              .exact = tolerance->exact,
	                              .a_runs = regress->a->count,
	                              .b_runs = regress->b->count,
	                              .a = NAN,
	                              .b = NAN,
	                              .interval = {NAN, NAN},
	                              .p = NAN};
	*p = NAN;
	if (in_a < regress->a->metric_count)
		row->a_unit = regress->a->units[in_a];
	if (in_b < regress->b->metric_count)
		row->b_unit = regress->b->units[in_b];
	if (row->test == TL_REGRESS_AUTO)
		row->test = single ? TL_REGRESS_VALUE : TL_REGRESS_DIFFERENCE;
	if (row->test == TL_REGRESS_IGNORE)
		row->state = TL_REGRESS_IGNORED;
	else if (!row->b_unit)
		row->state = TL_REGRESS_GONE;
	else if (!row->a_unit)
		row->state = TL_REGRESS_NEW;
	else if (strcmp(row->a_unit, row->b_unit) != 0)
		row->state = TL_REGRESS_UNIT;
	else if (row->test == TL_REGRESS_VALUE)
		return test_values(regress, tolerance, in_a, in_b, row);
	else
		return test_samples(regress, tolerance, in_a, in_b, row, p);
	if (row->a_unit)
		row->a = mean_of(regress->a, in_a);
	if (row->b_unit)
		row->b = mean_of(regress->b, in_b);
	return TL_OK;
}

/* The differences, all at once. */
static void correct(const struct regress *regress, struct tl_regression *rows, size_t count)
{
	tl_stats_holm(regress->p, count, regress->p);
	for (size_t i = 0; i < count; i++) {
		if (isnan(regress->p[i]))
			continue;
		rows[i].p = regress->p[i];
		if (!(rows[i].p <= TL_REGRESS_ALPHA))
			continue;
		rows[i].state =
		    rows[i].uneven
			? TL_REGRESS_UNEVEN
			: direction(tl_tolerances_find(regress->tolerances, rows[i].metric),
		                    &rows[i]);
	}
}

enum tl_status tl_regress(const struct tl_runs *baseline, const struct tl_runs *candidate,
                          const struct tl_tolerances *tolerances, struct tl_regression **rows,
                          size_t *count, struct tl_error *error)
{
	const size_t most = baseline->metric_count + candidate->metric_count;
	struct regress regress = {.a = baseline,
	                          .b = candidate,
	                          .tolerances = tolerances,
	                          .x = tl_calloc(baseline->count + 1, sizeof(double)),
	                          .y = tl_calloc(candidate->count + 1, sizeof(double)),
	                          .p = tl_calloc(most + 1, sizeof(double)),
	                          .error = error};
	enum tl_status status = TL_OK;

	*count = 0;
	*rows = tl_calloc(most + 1, sizeof **rows);
	for (size_t i = 0; i < most && status == TL_OK; i++) {
		const bool old = i < baseline->metric_count;
		const char *metric =
		    old ? baseline->metrics[i] : candidate->metrics[i - baseline->metric_count];

		if (!old && tl_runs_metric(baseline, metric) < baseline->metric_count)
			continue;
		status = judge(&regress, metric, &(*rows)[*count], &regress.p[*count]);
		(*count)++;
	}
	if (status == TL_OK)
		correct(&regress, *rows, *count);
	free(regress.x);
	free(regress.y);
	free(regress.p);
	if (status == TL_OK)
		return TL_OK;
	free(*rows);
	*rows = NULL;
	*count = 0;
	return status;
}
