/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Many settings with few seeds, and ever fewer with more. */
#include "analysis/tune_private.h"

#include "sim/base/arena.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KEEP_ONE_OF = 3, FIRST_SEEDS_MIN = 2, SHARE_PERCENT = 60, CANDIDATES_MAX = 2000 };

/* Seeds at each round: the last has all, each before it a third, two at least (of one, nothing
 * is known of a constraint). Returns how many rounds. */
static size_t rounds(size_t seeds, size_t out[16])
{
	size_t count = 1;

	out[0] = seeds;
	while (count < 16 && out[count - 1] > FIRST_SEEDS_MIN) {
		size_t fewer = (out[count - 1] + KEEP_ONE_OF - 1) / KEEP_ONE_OF;

		out[count++] = fewer < FIRST_SEEDS_MIN ? FIRST_SEEDS_MIN : fewer;
	}
	for (size_t i = 0; i < count / 2; i++) {
		size_t kept = out[i];

		out[i] = out[count - 1 - i];
		out[count - 1 - i] = kept;
	}
	return count;
}

static size_t cost(size_t candidates, const size_t *seeds, size_t round_count)
{
	size_t runs = 0, before = 0;

	for (size_t i = 0; i < round_count; i++) {
		runs += candidates * (seeds[i] - before);
		before = seeds[i];
		candidates = (candidates + KEEP_ONE_OF - 1) / KEEP_ONE_OF;
	}
	return runs;
}

/* Own, each axis' own best at once, and from there a sequence that fills the space evenly. */
static void make_points(const struct tl_tuning *tuning, int *points, size_t count)
{
	const struct tl_space *space = tuning->options->space;
	size_t axes = tuning->axes;
	gsl_qrng *sequence = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)axes);
	double *place = tl_calloc(axes + 1, sizeof *place);

	if (!sequence)
		tl_out_of_memory(axes * sizeof *place);
	for (size_t point = 0; point < count; point++) {
		if (point >= 2)
			(void)gsl_qrng_get(sequence, place);
		for (size_t i = 0; i < axes; i++) {
			const struct tl_tune_effect *effect = tl_tune_effect_of(tuning, i);
			const struct tl_ladder *ladder = &space->ladders[i];
			int rung = TL_SPACE_OWN;

			if (point == 1)
				rung = effect->best;
			else if (point >= 2 && !effect->inert)
				rung = (int)(place[i] * ladder->count);
			points[point * axes + i] = rung;
		}
	}
	gsl_qrng_free(sequence);
	free(place);
}

/* The best of them first. */
static void sort(const struct tl_tuning *tuning, size_t *which, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		size_t one = which[i], k = i;

		for (; k > 0 && tl_tune_compare(tuning, one, which[k - 1]) < 0; k--)
			which[k] = which[k - 1];
		which[k] = one;
	}
}

/* Each once, and none that the budget had no room for. */
static size_t distinct(size_t *which, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		bool twice = which[i] == SIZE_MAX;

		for (size_t k = 0; k < kept; k++)
			twice |= which[k] == which[i];
		if (!twice)
			which[kept++] = which[i];
	}
	return kept;
}

enum tl_status tl_tune_spread(struct tl_tuning *tuning)
{
	size_t seeds[16], round_count = rounds(tuning->options->seed_count, seeds), count = 2;
	size_t axes = tuning->axes, budget = tl_tune_left(tuning) * SHARE_PERCENT / 100, *which;
	enum tl_status status = TL_OK;
	bool any = false;
	int *points;

	for (size_t i = 0; i < axes; i++)
		any |= !tuning->tune->effects[i].inert;
	while (any && count < CANDIDATES_MAX && cost(count + 1, seeds, round_count) <= budget)
		count++;
	points = tl_calloc(count * axes + 1, sizeof *points);
	which = tl_calloc(count + 1, sizeof *which);
	make_points(tuning, points, count);
	for (size_t round = 0; round < round_count && status == TL_OK; round++) {
		status = tl_tune_ask(tuning, points, count, seeds[round], TL_TUNE_SPREAD, which);
		if (status != TL_OK)
			break;
		count = distinct(which, count);
		sort(tuning, which, count);
		if (round + 1 < round_count)
			count = (count + KEEP_ONE_OF - 1) / KEEP_ONE_OF;
		for (size_t i = 0; i < count; i++)
			memcpy(points + i * axes, tuning->tune->tries[which[i]].rungs,
			       axes * sizeof *points);
	}
	tuning->tune->best = which[0];
	free(which);
	free(points);
	return status;
}
