/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The setting that makes one metric least (or most) while constraints hold, within a budget of
 * runs. First each axis alone, from the scenario's own setting: what matters, and how much.
 * Then many settings with few seeds and ever fewer with more (successive halving: Jamieson and
 * Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization", AISTATS
 * 2016), of a Sobol sequence. Then from the best of them downhill, on smooth axes by the simplex of Nelder
 * and Mead (The Computer Journal 7, 1965), on others step by step. Who is best of many on some
 * seeds owes part of it to these seeds: last it is run with fresh ones, beside the scenario's own
 * setting, and what it is said to bring is what it brings there.
 *
 * All settings meet the same seeds. A setting is as good as its mean; one with a constraint not
 * shown to hold is worse than any with all shown, the more so the farther it is from it.
 */
#ifndef TIDELAB_ANALYSIS_TUNE_H
#define TIDELAB_ANALYSIS_TUNE_H

#include "analysis/search.h"
#include "analysis/stats.h"

struct tl_tune_options {
	const struct tl_space *space;
	const int
	    *near; /* an axis: the rung nearest to the scenario's own value; TL_SPACE_OWN: none */
	bool maximize;
	const struct tl_constraint *constraints;
	size_t constraint_count;
	size_t seed_count;  /* seeds of the search … */
	size_t fresh_count; /* … and, behind them, those of the last look */
	size_t budget;      /* runs in all */
	double confidence;
	tl_search_evaluate evaluate; /* measures: what is minimized, then the constraints' */
	void *context;
};

enum tl_tune_phase {
	TL_TUNE_OWN,
	TL_TUNE_ONE_FACTOR,
	TL_TUNE_SPREAD, /* successive halving */
	TL_TUNE_STEP,
	TL_TUNE_SIMPLEX,
	TL_TUNE_PHASES
};
extern const char *const tl_tune_phase_names[TL_TUNE_PHASES];

/* A setting and what is known of it. */
struct tl_tune_try {
	int *rungs; /* an axis */
	enum tl_tune_phase phase;
	size_t seeds;   /* that it was run with */
	double *values; /* [measure × seed_count + seed] */
	double mean;    /* of what is minimized; NaN where a run says nothing */
	enum tl_constraint_verdict verdict;
	struct tl_judgement *judgements; /* a constraint */
	double shortfall;                /* the sum of the judgements' */
};

/* What one axis does alone. */
struct tl_tune_effect {
	size_t axis;
	int best, worst; /* rungs, or TL_SPACE_OWN */
	double best_mean, worst_mean;
	enum tl_constraint_verdict best_verdict, worst_verdict; /* a broken constraint is worst */
	double p;   /* of no difference between them: paired t, by Holm over the axes */
	bool inert; /* no run came out in any way different: left alone from there on */
};

struct tl_tune {
	struct tl_tune_try *tries; /* in the order in which they were first tried; 0: own */
	size_t count;
	struct tl_tune_effect *effects; /* the one with most to it first */
	size_t best;
	size_t runs; /* spent */
	/* With fresh seeds: [measure × fresh_count + seed]. */
	double *best_fresh, *own_fresh;
};

/* TL_E_USAGE: the budget is below what the axes alone and a last look cost. */
enum tl_status tl_tune_check_budget(const struct tl_tune_options *options, struct tl_error *error);
enum tl_status tl_tune_search(const struct tl_tune_options *options, struct tl_tune *out,
                              struct tl_error *error);
void tl_tune_fini(struct tl_tune *tune);

#endif
