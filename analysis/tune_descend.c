/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Downhill from the best setting yet: step by step, and by simplex on smooth axes. */
#include "analysis/tune_private.h"

#include "sim/base/arena.h"

#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_MAX = 6, STALE_MAX = 12 };

static bool is_smooth(const struct tl_tuning *tuning, size_t axis)
{
	return tuning->options->space->ladders[axis].smooth;
}

static bool is_inert(const struct tl_tuning *tuning, size_t axis)
{
	return tl_tune_effect_of(tuning, axis)->inert;
}

/* Where the best one is on an axis; of the scenario's own value, the rung nearest to it. */
static int rung_of_best(const struct tl_tuning *tuning, size_t axis)
{
	int rung = tuning->tune->tries[tuning->tune->best].rungs[axis];

	if (rung == TL_SPACE_OWN)
		rung = tuning->options->near[axis];
	if (rung == TL_SPACE_OWN)
		rung = tl_tune_effect_of(tuning, axis)->best;
	return rung == TL_SPACE_OWN ? 0 : rung;
}

/* Runs the points with all seeds; whether one is better than the best before. */
static enum tl_status try_points(struct tl_tuning *tuning, const int *points, size_t count,
                                 enum tl_tune_phase phase, bool *better)
{
	size_t *which = tl_calloc(count + 1, sizeof *which);
	enum tl_status status =
	    tl_tune_ask(tuning, points, count, tuning->options->seed_count, phase, which);

	for (size_t i = 0; i < count && status == TL_OK; i++)
		if (which[i] != SIZE_MAX &&
		    tl_tune_compare(tuning, which[i], tuning->tune->best) < 0) {
			tuning->tune->best = which[i];
			*better = true;
		}
	free(which);
	return status;
}

/* One axis of the best setting, moved: of choices, to each other one; of an order, by so many
 * rungs either way. */
static enum tl_status step_axis(struct tl_tuning *tuning, size_t axis, int stride, bool *better)
{
	const struct tl_ladder *ladder = &tuning->options->space->ladders[axis];
	size_t axes = tuning->axes, count = 0, room = (size_t)ladder->count + 2;
	int *points = tl_calloc(room * axes, sizeof *points), at = rung_of_best(tuning, axis);
	enum tl_status status;

	for (int rung = 0; rung < ladder->count; rung++) {
		int *point = points + count * axes;

		if (ladder->ordered && abs(rung - at) != stride && rung != at)
			continue;
		memcpy(point, tuning->tune->tries[tuning->tune->best].rungs, axes * sizeof *point);
		if (point[axis] == rung)
			continue;
		point[axis] = rung;
		count++;
	}
	status = try_points(tuning, points, count, TL_TUNE_STEP, better);
	free(points);
	return status;
}

static enum tl_status step(struct tl_tuning *tuning, int round, bool *better)
{
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < tuning->axes && status == TL_OK; i++) {
		/* The axis with most to it first. */
		size_t axis = tuning->tune->effects[i].axis;
		int stride = tuning->options->space->ladders[axis].count >> (round + 2);

		if (!is_inert(tuning, axis) && !is_smooth(tuning, axis))
			status = step_axis(tuning, axis, stride > 1 ? stride : 1, better);
	}
	return status;
}

/* ---- the simplex ---- */

struct simplex {
	struct tl_tuning *tuning;
	const int *base; /* rungs of the axes that stay */
	size_t *axes;    /* those that move */
	size_t count;
	double ceiling, spread; /* every setting that keeps the constraints is below the ceiling */
	size_t stale;           /* looks in a row that cost nothing */
	bool better, over;
	enum tl_status status;
};

/* A number that orders settings as tl_tune_compare does. */
static double merit(const struct simplex *simplex, const struct tl_tune_try *try)
{
	double value = simplex->tuning->options->maximize ? -try->mean : try->mean;

	if (!isfinite(value) || !isfinite(try->shortfall))
		return simplex->ceiling + 1e3 * simplex->spread;
	if (try->shortfall > 0)
		return simplex->ceiling + simplex->spread * (1 + try->shortfall);
	return value;
}

static double look(const gsl_vector *at, void *context)
{
	struct simplex *simplex = context;
	struct tl_tuning *tuning = simplex->tuning;
	size_t axes = tuning->axes, runs = tuning->tune->runs, which;
	int *rungs = tl_calloc(axes + 1, sizeof *rungs);
	double value = simplex->ceiling + 1e3 * simplex->spread, beyond = 0;

	memcpy(rungs, simplex->base, axes * sizeof *rungs);
	for (size_t i = 0; i < simplex->count; i++) {
		double place = gsl_vector_get(at, i);

		rungs[simplex->axes[i]] =
		    tl_space_rung(&tuning->options->space->ladders[simplex->axes[i]], place);
		beyond += place < 0 ? -place : (place > 1 ? place - 1 : 0);
	}
	if (simplex->status == TL_OK && !simplex->over) {
		simplex->status = tl_tune_ask(tuning, rungs, 1, tuning->options->seed_count,
		                              TL_TUNE_SIMPLEX, &which);
		if (simplex->status == TL_OK && which == SIZE_MAX) {
			simplex->over = true;
		} else if (simplex->status == TL_OK) {
			/* Outside it is as at the edge, and uphill. */
			value =
			    merit(simplex, &tuning->tune->tries[which]) + beyond * simplex->spread;
			simplex->stale = tuning->tune->runs == runs ? simplex->stale + 1 : 0;
			if (tl_tune_compare(tuning, which, tuning->tune->best) < 0) {
				tuning->tune->best = which;
				simplex->better = true;
			}
		}
	}
	free(rungs);
	return value;
}

static void measure(struct simplex *simplex)
{
	const struct tl_tune *tune = simplex->tuning->tune;
	double side = simplex->tuning->options->maximize ? -1 : 1;
	double low = (double)INFINITY, high = (double)-INFINITY;

	for (size_t i = 0; i < tune->count; i++) {
		double value = side * tune->tries[i].mean;

		if (isfinite(value)) {
			low = value < low ? value : low;
			high = value > high ? value : high;
		}
	}
	simplex->spread = high > low ? high - low : 1;
	simplex->ceiling = isfinite(high) ? high + simplex->spread : 1;
}

static enum tl_status descend(struct simplex *simplex, int round)
{
	gsl_multimin_function function = {.f = look, .n = simplex->count, .params = simplex};
	gsl_vector *start = gsl_vector_alloc(simplex->count),
		   *size = gsl_vector_alloc(simplex->count);
	gsl_multimin_fminimizer *minimizer =
	    gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, simplex->count);
	const struct tl_space *space = simplex->tuning->options->space;
	double finest = 1;

	if (!start || !size || !minimizer)
		tl_out_of_memory(simplex->count * sizeof(double));
	for (size_t i = 0; i < simplex->count; i++) {
		const struct tl_ladder *ladder = &space->ladders[simplex->axes[i]];
		double place =
		    tl_space_place(ladder, rung_of_best(simplex->tuning, simplex->axes[i]));
		double stride = ldexp(0.25, -round);

		gsl_vector_set(start, i, place);
		gsl_vector_set(size, i, place + stride <= 1 ? stride : -stride);
		finest = 1.0 / (ladder->count - 1) < finest ? 1.0 / (ladder->count - 1) : finest;
	}
	(void)gsl_multimin_fminimizer_set(minimizer, &function, start, size);
	while (simplex->status == TL_OK && !simplex->over && simplex->stale < STALE_MAX &&
	       gsl_multimin_fminimizer_size(minimizer) > finest / 2)
		if (gsl_multimin_fminimizer_iterate(minimizer) != 0)
			break;
	gsl_multimin_fminimizer_free(minimizer);
	gsl_vector_free(start);
	gsl_vector_free(size);
	return simplex->status;
}

static enum tl_status slide(struct tl_tuning *tuning, int round, bool *better)
{
	int *base = tl_calloc(tuning->axes + 1, sizeof *base);
	struct simplex simplex = {.tuning = tuning,
	                          .base = base,
	                          .axes = tl_calloc(tuning->axes + 1, sizeof *simplex.axes)};
	enum tl_status status = TL_OK;

	memcpy(base, tuning->tune->tries[tuning->tune->best].rungs, tuning->axes * sizeof *base);
	for (size_t i = 0; i < tuning->axes; i++)
		if (is_smooth(tuning, i) && !is_inert(tuning, i))
			simplex.axes[simplex.count++] = i;
	if (simplex.count > 0) {
		measure(&simplex);
		status = descend(&simplex, round);
	}
	*better |= simplex.better;
	free(simplex.axes);
	free(base);
	return status;
}

enum tl_status tl_tune_descend(struct tl_tuning *tuning)
{
	enum tl_status status = TL_OK;
	bool better = true;

	/* A round without a gain is followed by one of smaller strides, down to the smallest. */
	for (int round = 0; round < ROUNDS_MAX && status == TL_OK &&
	                    tl_tune_left(tuning) >= tuning->options->seed_count;
	     round++) {
		do {
			better = false;
			status = step(tuning, round, &better);
			if (status == TL_OK)
				status = slide(tuning, round, &better);
		} while (status == TL_OK && better &&
		         tl_tune_left(tuning) >= tuning->options->seed_count);
	}
	return status;
}
