/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each axis alone: which one matters. */
#include "analysis/tune_private.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCREEN_SEEDS = 3, ORDERED_RUNGS = 4, CHOICES_MAX = 8 };

size_t tl_tune_screen_seeds(const struct tl_tune_options *options)
{
	return options->seed_count < SCREEN_SEEDS ? options->seed_count : SCREEN_SEEDS;
}

int tl_tune_screen_rungs(const struct tl_ladder *ladder)
{
	int most = ladder->ordered ? ORDERED_RUNGS : CHOICES_MAX;

	return ladder->count < most ? ladder->count : most;
}

/* Rung i of those looked at: both ends, and evenly between them. */
static int screened(const struct tl_ladder *ladder, int i)
{
	return (int)((int64_t)(ladder->count - 1) * i / (tl_tune_screen_rungs(ladder) - 1));
}

/* Whether two tries differ in any value of any seed. */
static bool differ(const struct tl_tuning *tuning, size_t a, size_t b)
{
	const struct tl_tune_try *x = &tuning->tune->tries[a], *y = &tuning->tune->tries[b];
	size_t stride = tuning->options->seed_count;

	for (size_t m = 0; m < tuning->measures; m++)
		if (memcmp(x->values + m * stride, y->values + m * stride,
		           x->seeds * sizeof *x->values) != 0)
			return true;
	return false;
}

static void weigh(const struct tl_tuning *tuning, size_t axis, const size_t *which, size_t count,
                  struct tl_tune_effect *effect)
{
	const struct tl_tune_try *tries = tuning->tune->tries;
	size_t best = 0, worst = 0; /* own */

	*effect = (struct tl_tune_effect){.axis = axis, .inert = true, .p = (double)NAN};
	for (size_t i = 0; i < count; i++) {
		effect->inert &= !differ(tuning, 0, which[i]);
		if (tl_tune_compare(tuning, which[i], best) < 0)
			best = which[i];
		if (tl_tune_compare(tuning, which[i], worst) > 0)
			worst = which[i];
	}
	effect->best = tries[best].rungs[axis];
	effect->worst = tries[worst].rungs[axis];
	effect->best_verdict = tries[best].verdict;
	effect->worst_verdict = tries[worst].verdict;
	effect->best_mean = tries[best].mean;
	effect->worst_mean = tries[worst].mean;
	if (isfinite(effect->best_mean) && isfinite(effect->worst_mean))
		effect->p = tl_stats_paired_t(tries[best].values, tries[worst].values,
		                              tries[best].seeds, tuning->options->confidence)
		                .p;
}

static double swing(const struct tl_tune_effect *effect)
{
	double size = fabs(effect->best_mean - effect->worst_mean);

	/* One at which runs fail has most to it of all. */
	return effect->inert ? -1 : (isfinite(size) ? size : (double)INFINITY);
}

static int by_swing(const void *a, const void *b)
{
	const struct tl_tune_effect *x = a, *y = b;
	double left = swing(x), right = swing(y);

	if (left < right || left > right)
		return left > right ? -1 : 1;
	return (x->axis > y->axis) - (x->axis < y->axis);
}

static void adjust(struct tl_tune_effect *effects, size_t count)
{
	double *p = tl_calloc(count + 1, sizeof *p);

	for (size_t i = 0; i < count; i++)
		p[i] = effects[i].p;
	tl_stats_holm(p, count, p);
	for (size_t i = 0; i < count; i++)
		effects[i].p = p[i];
	free(p);
}

enum tl_status tl_tune_screen(struct tl_tuning *tuning)
{
	const struct tl_space *space = tuning->options->space;
	size_t axes = tuning->axes, seeds = tl_tune_screen_seeds(tuning->options), count = 0,
	       at = 0;
	int *points, *own = tl_calloc(axes + 1, sizeof *own);
	size_t *which, first;
	enum tl_status status;

	for (size_t i = 0; i < axes; i++) {
		own[i] = TL_SPACE_OWN;
		count += (size_t)tl_tune_screen_rungs(&space->ladders[i]);
	}
	points = tl_calloc(count * axes + 1, sizeof *points);
	which = tl_calloc(count + 1, sizeof *which);
	for (size_t i = 0; i < axes; i++)
		for (int k = 0; k < tl_tune_screen_rungs(&space->ladders[i]); k++, at++) {
			memcpy(points + at * axes, own, axes * sizeof *own);
			points[at * axes + i] = screened(&space->ladders[i], k);
		}
	/* The scenario's own first: what is wrong with it is wrong with all. */
	status = tl_tune_ask(tuning, own, 1, seeds, TL_TUNE_OWN, &first);
	if (status == TL_OK)
		status = tl_tune_ask(tuning, points, count, seeds, TL_TUNE_ONE_FACTOR, which);
	if (status == TL_OK) {
		tuning->tune->effects = tl_calloc(axes + 1, sizeof *tuning->tune->effects);
		at = 0;
		for (size_t i = 0; i < axes; i++) {
			size_t rungs = (size_t)tl_tune_screen_rungs(&space->ladders[i]);

			weigh(tuning, i, which + at, rungs, &tuning->tune->effects[i]);
			at += rungs;
		}
		adjust(tuning->tune->effects, axes);
		qsort(tuning->tune->effects, axes, sizeof *tuning->tune->effects, by_swing);
	}
	free(which);
	free(points);
	free(own);
	return status;
}
