/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The smallest (or largest) rung of one axis at which every constraint holds: by bisection, with
 * the same seeds at each, so that sizes differ by their size alone. That is the answer only
 * where more never makes it worse; so further rungs on either side are looked at, and where one
 * contradicts, the answer is the rung from which on all that were looked at hold.
 */
#ifndef TIDELAB_ANALYSIS_PLAN_H
#define TIDELAB_ANALYSIS_PLAN_H

#include "analysis/search.h"

#include <stdbool.h>

struct tl_plan_options {
	const struct tl_space *space; /* of one ordered axis */
	bool largest;                 /* the largest rung that holds; false: the smallest */
	const struct tl_constraint *constraints;
	size_t constraint_count;
	size_t seed_count;
	double confidence;
	int checks;                  /* rungs to look at besides, spread evenly */
	tl_search_evaluate evaluate; /* its measures are the constraints' */
	void *context;
};

struct tl_plan_probe {
	int rung;
	enum tl_constraint_verdict verdict; /* of all constraints */
	struct tl_judgement *judgements;    /* a constraint */
	double *values;                     /* [constraint × seeds + seed] */
};

struct tl_plan {
	struct tl_plan_probe *probes; /* by rung */
	size_t count;
	int answer;    /* the rung; -1: none is shown to hold */
	bool at_end;   /* the answer is the axis' own end: it may go on beyond */
	bool monotone; /* no probe contradicts */
	/* Where not: a probe that holds, and one further to the safe side that does not … */
	size_t holds, breaks;
	/* … and how likely such a difference is by chance alone: the least paired t of a constraint. */
	double chance;
};

enum tl_status tl_plan_search(const struct tl_plan_options *options, struct tl_plan *out,
                              struct tl_error *error);
/* The first probe from which on, to the safe end, a constraint's metric is the same in every
 * run: size helps no further. That end itself where it changes up to there. */
size_t tl_plan_flat(const struct tl_plan_options *options, const struct tl_plan *plan,
                    size_t constraint);
void tl_plan_fini(struct tl_plan *plan);

#endif
