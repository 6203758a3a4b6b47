/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `attainment>=0.999`: what a setting must keep, judged from its value in each of some seeds. */
#ifndef TIDELAB_ANALYSIS_CONSTRAINT_H
#define TIDELAB_ANALYSIS_CONSTRAINT_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct tl_constraint {
	char *metric;
	bool at_least; /* >=; false: <= */
	double bound;
};

/* TL_E_USAGE: not METRIC>=NUMBER or METRIC<=NUMBER. */
enum tl_status tl_constraint_parse(const char *text, struct tl_constraint *out,
                                   struct tl_error *error);
void tl_constraint_fini(struct tl_constraint *constraint);

enum tl_constraint_verdict {
	TL_VERDICT_HOLDS,   /* the mean keeps it, with the confidence asked for */
	TL_VERDICT_UNSHOWN, /* neither that, nor that it breaks it */
	TL_VERDICT_FAILS    /* the mean breaks it, with that confidence; or a value is not there */
};
extern const char *const tl_verdict_names[]; /* `holds`, `not shown`, `fails` */

struct tl_judgement {
	enum tl_constraint_verdict verdict;
	double mean;
	double limit; /* one-sided confidence limit of the mean, on the side of the bound */
	double
	    shortfall; /* of the limit, as a share of the bound (or whole, where that is 0); 0: none */
};

/* The one-sided limit is an end of Student's interval at 2 × confidence − 1 (analysis/stats.h); of a
 * single value it is that value, and shows nothing but where it is broken. A NaN among the
 * values, and no value at all, fail with an infinite shortfall. */
struct tl_judgement tl_constraint_judge(const struct tl_constraint *constraint,
                                        const double *values, size_t count, double confidence);

/* The worst of several constraints' verdicts. */
enum tl_constraint_verdict tl_verdict_worst(enum tl_constraint_verdict a,
                                            enum tl_constraint_verdict b);

#endif
