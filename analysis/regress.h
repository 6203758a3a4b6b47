/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Did metrics leave the margins that a baseline allows them?
 *
 * With one run a side every value is compared: the simulator is deterministic, so the same
 * seed gives the same number. With several seeds, what matters is whether they show a
 * movement beyond the margin (a t test with the margin as its null, over pairs of a seed or
 * as samples, corrected by Holm over all metrics): other seeds alone fail one gate in twenty
 * at most, however many metrics it has. A run may have no value of a metric (no job started:
 * no mean wait). What is left would be judged by those that have one; so it fails where a
 * shared seed has a value on one side alone, or, of other seeds, where the shares of runs with
 * a value differ beyond chance (Fisher's exact test, within the same correction).
 */
#ifndef TIDELAB_ANALYSIS_REGRESS_H
#define TIDELAB_ANALYSIS_REGRESS_H

#include "analysis/baseline.h"
#include "analysis/stats.h"

enum tl_regress_state {
	TL_REGRESS_OK,
	TL_REGRESS_IGNORED,
	TL_REGRESS_BETTER, /* moved, and its gate is for the worse alone */
	/* From here on the gate fails. */
	TL_REGRESS_MOVED,
	TL_REGRESS_WORSE,     /* moved the wrong way, of a metric that has one */
	TL_REGRESS_UNCERTAIN, /* equivalence was asked for, and not shown */
	TL_REGRESS_UNEVEN,    /* other runs than before have a value: the rest would flatter */
	TL_REGRESS_GONE,      /* only the baseline has it */
	TL_REGRESS_NEW,       /* only the candidate has it */
	TL_REGRESS_UNIT       /* in another unit */
};

struct tl_regression {
	const char *metric;
	const char *a_unit, *b_unit; /* NULL where a side has not the metric */
	enum tl_regress_test test;   /* that was made; never AUTO */
	enum tl_regress_state state;
	size_t a_count, b_count; /* runs with a value … */
	size_t a_runs, b_runs;   /* … of so many */
	double a, b;             /* means; of the value test, of the pair farthest apart */
	double margin;           /* that was allowed */
	bool uneven;             /* p is of how many runs have a value */
	bool exact;              /* none was stated: it is that of the last bits */
	struct tl_stats_interval interval; /* of b - a at 95 %; NaN for the value test */
	double p;                          /* corrected, of a difference; plain, of equivalence */
};

#define TL_REGRESS_ALPHA 0.05

/* Rows: the baseline's metrics in their order, then what is new. *rows is malloc'd.
 * TL_E_DATA where a test that needs several runs has one, where a value test has no pairs
 * of the same seed, where nothing is in common. */
enum tl_status tl_regress(const struct tl_runs *baseline, const struct tl_runs *candidate,
                          const struct tl_tolerances *tolerances, struct tl_regression **rows,
                          size_t *count, struct tl_error *error);

static inline bool tl_regress_fails(const struct tl_regression *row)
{
	return row->state >= TL_REGRESS_MOVED;
}

#endif
