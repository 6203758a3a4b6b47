/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a report says of a sweep, apart from how it is written down: each setting's cost and
 * attainment over its seeds, and the setting to choose.
 *
 * The rule: of the settings whose attainment (that of the worst service, in each run) has
 * the lower end of its 95 % confidence interval at or above the constraint, the one of
 * least mean cost. Settings that keep the promise too, and whose cost cannot be told from
 * its (paired t over the seeds, 95 %), are ties. Money saved is against the first setting.
 */
#ifndef TIDELAB_ANALYSIS_REPORT_SWEEP_H
#define TIDELAB_ANALYSIS_REPORT_SWEEP_H

#include "analysis/figures.h"
#include "analysis/report.h"
#include "analysis/report_html.h"
#include "analysis/stats.h"
#include "analysis/sweep_data.h"

#include <stdbool.h>

#define TL_REPORT_CONFIDENCE 0.95
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
	bool tie; /* with the best */
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
	size_t first;                   /* cell that savings are against */
	size_t best;                    /* cell_count: none keeps the promise, or none has a cost */
	size_t cheapest;                /* whatever it attains; cell_count: none has a cost */
	size_t nearest;                 /* of most attainment; cell_count: none has one */
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
/* b less a over the seeds that have both; NaN where there are none. */
struct tl_stats_test tl_report_sweep_test(const struct tl_report_sweep *sweep, size_t a, size_t b,
                                          size_t metric);
/* `oversubscription = 1.2, policy.place = fgd` with the names of all keys, or of all but the
 * one drawn against; malloc'd. */
char *tl_report_sweep_label(const struct tl_report_sweep *sweep, size_t cell, bool all);
/* A service's name, from its metric; malloc'd. */
char *tl_report_sweep_service(const struct tl_report_sweep *sweep, size_t service);

void tl_report_sweep_lead(struct tl_html *html, const struct tl_report_sweep *sweep);
enum tl_status tl_report_sweep_body(struct tl_html *html, const struct tl_report_sweep *sweep,
                                    const struct tl_figures *figures, struct tl_error *error);
/* figures_sweep.c: sweep-cost, sweep-change, sweep-attainment and sweep-effects. */
enum tl_status tl_report_sweep_draw(const struct tl_report_sweep *sweep, const char *source,
                                    const char *out_dir, const char *plots_dir,
                                    struct tl_figures *figures, struct tl_error *error);

#endif
