/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report says of a sweep, apart from how it is written down: each setting's cost and
 * attainment over its seeds, and the setting to choose.
 *
 * The rule: of the settings whose attainment (that of the worst service, in each run) has
 * the lower end of its 95 % confidence interval at or above the constraint, those fall that
 * are worse than the best of those left in deadlines met, then in cost, then in mean
 * completion time, wait and preemptions. Worse is what `tidelab compare` shows to be (all
 * headline metrics corrected together) and is by TL_REPORT_MATTERS of the better one's. Of what
 * is left and costs as little, but for as much, the one that ends jobs soonest on average; or,
 * where the key is a number, the least change that is not told from it by the interval of that
 * metric alone.
 * Changes are against the first setting.
 */
#ifndef TIDELAB_ANALYSIS_REPORT_SWEEP_H
#define TIDELAB_ANALYSIS_REPORT_SWEEP_H

#include "analysis/compare.h"
#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/report_html.h"
#include "analysis/stats.h"
#include "analysis/sweep_data.h"

#include <stdbool.h>

#define TL_REPORT_CONFIDENCE 0.95
/* A difference below this share is too small to choose by, shown or not. */
#define TL_REPORT_MATTERS 0.005
enum { TL_REPORT_FEW_SEEDS = 5 }; /* with fewer, intervals are said to be wide */

/* Over the seeds of a cell that have the metric. */
struct tl_sweep_stat {
	size_t count;
	double mean, low, high; /* NaN: none; low and high need two seeds */
};

enum tl_promise { TL_PROMISE_NONE, TL_PROMISE_KEPT, TL_PROMISE_BROKEN, TL_PROMISE_UNKNOWN };

struct tl_report_cell {
	double x;                        /* on the axis drawn against */
	size_t line;                     /* cells alike in all but that axis */
	struct tl_sweep_stat cost;       /* what is compared */
	struct tl_sweep_stat cost_plain; /* without penalties */
	struct tl_sweep_stat attainment; /* of the worst service of each run */
	size_t worst;                    /* the service that is worst on average */
	enum tl_promise promise;
	bool tie; /* no criterion tells it from the best */
};

/* What the choice is made by, in this order. */
enum tl_criterion {
	TL_CRITERION_DEADLINES,
	TL_CRITERION_COST,
	TL_CRITERION_JCT,
	TL_CRITERION_WAIT,
	TL_CRITERION_PREEMPTIONS,
	TL_CRITERION_COUNT
};

struct tl_report_sweep {
	struct tl_sweep_data *data;
	size_t against;    /* key */
	bool numeric;      /* that key's values are numbers; else x counts them from 1 */
	double constraint; /* attainment */
	/* What is compared: the first of cost with penalty, cost without, useful share that the
	 * runs have. */
	const char *cost_name; /* NULL: none of them is in the data */
	bool more_is_better;
	size_t cost_metric;
	bool has_plain;
	size_t *services; /* metrics NAME.attainment */
	size_t service_count;
	struct tl_report_cell *cells;
	size_t line_count;
	size_t first;   /* cell that savings are against */
	size_t best;    /* cell_count: none keeps the promise, or none has a cost */
	size_t keeping; /* settings that keep the promise and have a cost */
	size_t worse[TL_CRITERION_COUNT]; /* of them, those that fell by each criterion */
	size_t left;         /* of them, those that did not fall, the best among them */
	size_t cheapest;     /* whatever it attains; cell_count: none has a cost */
	size_t nearest;      /* of most attainment; cell_count: none has one */
	const char **judged; /* the metrics that verdicts are corrected over */
	size_t judged_count;
	struct tl_runs **runs;          /* a cell's, of these metrics */
	struct tl_row_summary *metrics; /* of the best (or else the first) over its seeds */
	size_t metric_count;
};

/* against: a key, or NULL: oversubscription where it is swept, else the first key whose
 * values are numbers, else the first. TL_E_USAGE for a key that is not swept.
 * tl_report_sweep_close() in any case. */
enum tl_status tl_report_sweep_open(const struct tl_report_options *options,
                                    struct tl_report_sweep *sweep, struct tl_error *error);
void tl_report_sweep_close(struct tl_report_sweep *sweep);

/* A cell's statistic of a metric; all NaN for metric_count. */
struct tl_sweep_stat tl_report_sweep_stat(const struct tl_report_sweep *sweep, size_t cell,
                                          size_t metric);
/* b against a in a metric that is judged, as `tidelab compare` does: pairs of the same seeds,
 * the p-values of all that are judged corrected together (Holm). */
struct tl_comparison tl_report_sweep_compare(const struct tl_report_sweep *sweep, size_t a,
                                             size_t b, const char *metric);
enum tl_report_change { TL_CHANGE_NOT_SHOWN, TL_CHANGE_BETTER, TL_CHANGE_WORSE };
/* What that shows b to be. */
enum tl_report_change tl_report_sweep_change(const struct tl_report_sweep *sweep, size_t a,
                                             size_t b, const char *metric);
/* Its metric. */
const char *tl_report_sweep_criterion(const struct tl_report_sweep *sweep,
                                      enum tl_criterion criterion);
/* `oversubscription = 1.2, policy.place = fgd` with the names of all keys, or of all but the
 * one drawn against; malloc'd. */
char *tl_report_sweep_label(const struct tl_report_sweep *sweep, size_t cell, bool all);
/* A service's name, from its metric; malloc'd. */
char *tl_report_sweep_service(const struct tl_report_sweep *sweep, size_t service);

/* report_sweep_choose.c, for tl_report_sweep_open(): what verdicts are made of; the choice. */
void tl_report_sweep_gather(struct tl_report_sweep *sweep);
void tl_report_sweep_choose(struct tl_report_sweep *sweep);

void tl_report_sweep_lead(struct tl_html *html, const struct tl_report_sweep *sweep);
enum tl_status tl_report_sweep_body(struct tl_html *html, const struct tl_report_sweep *sweep,
                                    const struct tl_figures *figures, struct tl_error *error);
/* figures_sweep.c: sweep-cost, sweep-change, sweep-attainment and sweep-effects. */
enum tl_status tl_report_sweep_draw(const struct tl_report_sweep *sweep, const char *source,
                                    const char *out_dir, const char *plots_dir,
                                    struct tl_figures *figures, struct tl_error *error);

#endif
