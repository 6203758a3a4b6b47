/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The committed form of a result: text, so that a change of it is reviewed as a diff.
 *
 *   # lines that begin so are kept, and say nothing here
 *   metric,value,unit                     of one run, or
 *   metric,seed 1,seed 2,unit             of one run a seed
 *   jobs_completed,412,1
 *
 * A tolerance is the same kind of file. Its first line names its columns, of which all but
 * the first may be left out; the first row whose pattern matches a metric decides.
 *
 *   metric,absolute,relative,test,gate
 *   wait_*,0,0.02,difference,worse
 *
 * A field with a comma or a quote in it (a service may be named so) stands in quotes.
 */
#ifndef TIDELAB_ANALYSIS_BASELINE_H
#define TIDELAB_ANALYSIS_BASELINE_H

#include "analysis/runs.h"

#include <stdio.h>

struct tl_baseline {
	char *comments; /* the `#` lines, each with its newline */
	bool seedless;  /* `value`: the seed of runs is 0 and means nothing */
	struct tl_runs *runs;
};

/* TL_E_NOINPUT; TL_E_DATA with the line. A file of comments alone is a baseline of one run
 * without metrics. */
enum tl_status tl_baseline_read(const char *path, struct tl_baseline *out, struct tl_error *error);
void tl_baseline_fini(struct tl_baseline *baseline);
/* Of runs, one or many. */
void tl_baseline_write(const char *comments, const struct tl_runs *runs, FILE *out);

enum tl_regress_test {
	TL_REGRESS_AUTO,        /* value for one run a side, difference for several */
	TL_REGRESS_VALUE,       /* each run within the margin of its pair */
	TL_REGRESS_DIFFERENCE,  /* fails where a difference beyond the margin is shown */
	TL_REGRESS_EQUIVALENCE, /* fails unless one within the margin is */
	TL_REGRESS_IGNORE
};

struct tl_tolerance {
	char *pattern;
	long line;                 /* of the file */
	double absolute, relative; /* the margin: absolute + relative × |value| */
	bool exact;                /* neither is stated: whole numbers must be equal */
	enum tl_regress_test test;
	bool worse_only; /* what got better does not fail */
};

struct tl_tolerances {
	struct tl_tolerance *items;
	size_t count, capacity;
};

enum tl_status tl_tolerances_read(const char *path, struct tl_tolerances *out,
                                  struct tl_error *error);
void tl_tolerances_fini(struct tl_tolerances *tolerances);
/* That of a metric. Where no row matches: equal if whole, else to a relative 1e-9, the last
 * bits of two machines' libm. */
const struct tl_tolerance *tl_tolerances_find(const struct tl_tolerances *tolerances,
                                              const char *metric);

#endif
