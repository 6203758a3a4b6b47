/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The setting to choose: by the verdicts of `tidelab compare`, one criterion after another. */
#include "analysis/report_sweep.h"

#include "results/metrics.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t cells_of(const struct tl_report_sweep *sweep)
{
	return sweep->data->design.cell_count;
}

/* ---- verdicts ---- */

void tl_report_sweep_gather(struct tl_report_sweep *sweep)
{
	const struct tl_sweep_data *data = sweep->data;
	const struct tl_design *design = &data->design;

	sweep->judged = tl_calloc(data->metric_count + 1, sizeof(*sweep->judged));
	for (size_t m = 0; m < data->metric_count; m++)
		if (m == sweep->cost_metric || tl_metric_is_headline(data->metrics[m]))
			sweep->judged[sweep->judged_count++] = data->metrics[m];
	sweep->runs = tl_calloc(cells_of(sweep) + 1, sizeof(struct tl_runs *));
	for (size_t c = 0; c < cells_of(sweep); c++) {
		sweep->runs[c] = tl_runs_new("", design->seeds, design->seed_count);
		for (size_t j = 0; j < sweep->judged_count; j++) {
			size_t m = tl_sweep_data_metric(data, sweep->judged[j]);
			double *values =
			    tl_runs_add_metric(sweep->runs[c], data->metrics[m], data->units[m]);

			for (size_t s = 0; s < design->seed_count; s++)
				values[s] = tl_sweep_data_value(data, c, s, m);
		}
	}
}

struct tl_comparison tl_report_sweep_compare(const struct tl_report_sweep *sweep, size_t a,
                                             size_t b, const char *metric)
{
	const struct tl_compare_options options = {.confidence = TL_REPORT_CONFIDENCE,
	                                           .correction = TL_CORRECT_HOLM};
	struct tl_comparison *rows = tl_calloc(sweep->judged_count + 1, sizeof(*rows));
	struct tl_comparison found = {.metric = metric,
	                              .difference = NAN,
	                              .interval = {NAN, NAN},
	                              .verdict = TL_COMPARE_UNTESTED};

	tl_compare(sweep->runs[a], sweep->runs[b], sweep->judged, sweep->judged_count, &options,
	           rows);
	for (size_t j = 0; j < sweep->judged_count; j++)
		if (strcmp(sweep->judged[j], metric) == 0)
			found = rows[j];
	free(rows);
	return found;
}

enum tl_report_change tl_report_sweep_change(const struct tl_report_sweep *sweep, size_t a,
                                             size_t b, const char *metric)
{
	const struct tl_comparison row = tl_report_sweep_compare(sweep, a, b, metric);
	const enum tl_better way = tl_metric_better(metric);

	if ((row.verdict != TL_COMPARE_LOWER && row.verdict != TL_COMPARE_HIGHER) ||
	    way == TL_BETTER_NEITHER)
		return TL_CHANGE_NOT_SHOWN;
	return (row.verdict == TL_COMPARE_LOWER) == (way == TL_BETTER_LOW) ? TL_CHANGE_BETTER
	                                                                   : TL_CHANGE_WORSE;
}

/* ---- choice ---- */

const char *tl_report_sweep_criterion(const struct tl_report_sweep *sweep,
                                      enum tl_criterion criterion)
{
	static const char *const metrics[] = {[TL_CRITERION_DEADLINES] = "deadline_met_ratio",
	                                      [TL_CRITERION_COST] = NULL,
	                                      [TL_CRITERION_JCT] = "jct_mean_s",
	                                      [TL_CRITERION_WAIT] = "wait_mean_s",
	                                      [TL_CRITERION_PREEMPTIONS] = "preemptions"};

	return criterion == TL_CRITERION_COST ? sweep->cost_name : metrics[criterion];
}

static double mean_of(const struct tl_report_sweep *sweep, size_t cell, const char *metric)
{
	return tl_report_sweep_stat(sweep, cell, tl_sweep_data_metric(sweep->data, metric)).mean;
}

/* Of those that are in, the one of the best mean, the first of equals; cells_of: none has one. */
static size_t best_mean(const struct tl_report_sweep *sweep, const bool *in, const char *metric)
{
	const double sign = tl_metric_better(metric) == TL_BETTER_HIGH ? -1.0 : 1.0;
	size_t best = cells_of(sweep);
	double least = INFINITY;

	for (size_t c = 0; c < cells_of(sweep); c++) {
		double mean = in[c] ? sign * mean_of(sweep, c, metric) : (double)NAN;

		if (mean < least) {
			least = mean;
			best = c;
		}
	}
	return best;
}

/* A difference that is shown may still be too small to choose by. */
static bool matters(double mean, double than)
{
	return fabs(mean - than) >= TL_REPORT_MATTERS * fabs(than);
}

static bool is_worse(const struct tl_report_sweep *sweep, size_t than, size_t cell,
                     const char *metric)
{
	return tl_report_sweep_change(sweep, than, cell, metric) == TL_CHANGE_WORSE &&
	       matters(mean_of(sweep, cell, metric), mean_of(sweep, than, metric));
}

/* Leaves out what is worse than the best of those that are in. */
static void narrow(struct tl_report_sweep *sweep, bool *in, enum tl_criterion criterion)
{
	const char *metric = tl_report_sweep_criterion(sweep, criterion);
	size_t best = best_mean(sweep, in, metric);

	for (size_t c = 0; c < cells_of(sweep) && best < cells_of(sweep); c++)
		if (in[c] && c != best && is_worse(sweep, best, c, metric)) {
			in[c] = false;
			sweep->worse[criterion]++;
		}
}

static double change_of(const struct tl_report_sweep *sweep, size_t cell)
{
	return fabs(sweep->cells[cell].x - sweep->cells[sweep->first].x);
}

/* Of those that are in, leaves those that the interval of this metric by itself does not tell from
 * the best, and of these the nearest to the setting that all are compared with. */
static void keep_nearest(const struct tl_report_sweep *sweep, bool *in, const char *metric)
{
	size_t best = best_mean(sweep, in, metric);
	double least = INFINITY;

	for (size_t c = 0; c < cells_of(sweep) && best < cells_of(sweep); c++)
		in[c] =
		    in[c] && !(tl_report_sweep_compare(sweep, best, c, metric).interval.low > 0);

	for (size_t c = 0; c < cells_of(sweep); c++)
		least = in[c] ? fmin(least, change_of(sweep, c)) : least;
	for (size_t c = 0; c < cells_of(sweep); c++)
		in[c] = in[c] && change_of(sweep, c) <= least;
}

/* What cannot be told apart: of about the least cost, the one that ends jobs soonest; or, where
 * the key is a number, the least change that is about as soon. */
static size_t pick(const struct tl_report_sweep *sweep, const bool *in)
{
	const char *completion = tl_report_sweep_criterion(sweep, TL_CRITERION_JCT);
	size_t cheapest = best_mean(sweep, in, sweep->cost_name);
	bool *alike = tl_calloc(cells_of(sweep) + 1, sizeof(*alike));

	for (size_t c = 0; c < cells_of(sweep) && cheapest < cells_of(sweep); c++)
		alike[c] = in[c] && (c == cheapest || !matters(sweep->cells[c].cost.mean,
		                                               sweep->cells[cheapest].cost.mean));
	if (sweep->numeric)
		keep_nearest(sweep, alike, completion);
	size_t soonest = best_mean(sweep, alike, completion);

	free(alike);
	return soonest < cells_of(sweep) ? soonest : cheapest;
}

/* No criterion tells it from the best. */
static bool is_tie(const struct tl_report_sweep *sweep, size_t cell)
{
	bool tie = sweep->cells[cell].cost.count > 1;

	for (enum tl_criterion k = TL_CRITERION_DEADLINES; k < TL_CRITERION_COUNT && tie; k++) {
		const char *metric = tl_report_sweep_criterion(sweep, k);

		tie = !is_worse(sweep, sweep->best, cell, metric) &&
		      !is_worse(sweep, cell, sweep->best, metric);
	}
	return tie;
}

void tl_report_sweep_choose(struct tl_report_sweep *sweep)
{
	bool *in = tl_calloc(cells_of(sweep) + 1, sizeof(*in));
	bool *any = tl_calloc(cells_of(sweep) + 1, sizeof(*any));

	sweep->best = sweep->cheapest = sweep->nearest = cells_of(sweep);
	for (size_t c = 0; c < cells_of(sweep); c++) {
		const struct tl_report_cell *cell = &sweep->cells[c];

		if (isfinite(cell->attainment.mean) &&
		    (sweep->nearest == cells_of(sweep) ||
		     cell->attainment.mean > sweep->cells[sweep->nearest].attainment.mean))
			sweep->nearest = c;
		any[c] = cell->cost.count > 0;
		in[c] = any[c] &&
		        (cell->promise == TL_PROMISE_KEPT || cell->promise == TL_PROMISE_NONE);
		sweep->keeping += in[c];
	}
	if (sweep->cost_name)
		sweep->cheapest = best_mean(sweep, any, sweep->cost_name);
	for (enum tl_criterion k = TL_CRITERION_DEADLINES;
	     k < TL_CRITERION_COUNT && sweep->keeping > 0; k++)
		narrow(sweep, in, k);
	if (sweep->keeping > 0)
		sweep->best = pick(sweep, in);
	for (size_t c = 0; c < cells_of(sweep) && sweep->keeping > 0; c++)
		if (in[c]) {
			sweep->left++;
			sweep->cells[c].tie = c != sweep->best && is_tie(sweep, c);
		}
	free(in);
	free(any);
}
