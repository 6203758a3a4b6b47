/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/tune_private.h"

#include "sim/base/arena.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_tune_phase_names[TL_TUNE_PHASES] = {"own", "one-factor", "spread", "step",
                                                         "simplex"};

/* ---- settings ---- */

static size_t find(const struct tl_tuning *tuning, const int *rungs)
{
	for (size_t i = 0; i < tuning->tune->count; i++)
		if (memcmp(tuning->tune->tries[i].rungs, rungs, tuning->axes * sizeof *rungs) == 0)
			return i;
	return SIZE_MAX;
}

static size_t find_or_add(struct tl_tuning *tuning, const int *rungs, enum tl_tune_phase phase)
{
	const struct tl_tune_options *options = tuning->options;
	struct tl_tune *tune = tuning->tune;
	size_t at = find(tuning, rungs);
	struct tl_tune_try *try;

	if (at != SIZE_MAX)
		return at;
	tune->tries = tl_grow(tune->tries, &tuning->capacity, tune->count + 1, sizeof *tune->tries);
	try = &tune->tries[tune->count];
	*try = (struct tl_tune_try){.phase = phase, .mean = (double)NAN};
	try->rungs = tl_calloc(tuning->axes + 1, sizeof *try->rungs);
	memcpy(try->rungs, rungs, tuning->axes * sizeof *rungs);
	try->values = tl_calloc(tuning->measures * options->seed_count, sizeof *try->values);
	try->judgements = tl_calloc(options->constraint_count + 1, sizeof *try->judgements);
	return tune->count++;
}

static void judge(const struct tl_tuning *tuning, struct tl_tune_try *try)
{
	const struct tl_tune_options *options = tuning->options;

	try->mean = tl_stats_sample(try->values, try->seeds).mean;
	try->verdict = TL_VERDICT_HOLDS;
	try->shortfall = 0;
	for (size_t i = 0; i < options->constraint_count; i++) {
		try->judgements[i] = tl_constraint_judge(
		    &options->constraints[i], try->values + (i + 1) * options->seed_count,
		    try->seeds, options->confidence);
		try->verdict = tl_verdict_worst(try->verdict, try->judgements[i].verdict);
		try->shortfall += try->judgements[i].shortfall;
	}
}

/* Runs those of the tries that have `from` seeds up to `to`. */
static enum tl_status extend(struct tl_tuning *tuning, const size_t *which, size_t count,
                             size_t from, size_t to)
{
	const struct tl_tune_options *options = tuning->options;
	struct tl_search_question question = {.first_seed = from, .seed_count = to - from};
	size_t measures = tuning->measures, *chosen = tl_calloc(count + 1, sizeof *chosen);
	int *points = tl_calloc(count * tuning->axes + 1, sizeof *points);
	double *answers = tl_calloc(count * (to - from) * measures + 1, sizeof *answers);
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count; i++) {
		const struct tl_tune_try *try = &tuning->tune->tries[which[i]];

		if (try->seeds != from)
			continue;
		memcpy(points + question.point_count * tuning->axes, try->rungs,
		       tuning->axes * sizeof *points);
		chosen[question.point_count++] = which[i];
	}
	question.points = points;
	if (question.point_count > 0)
		status = options->evaluate(options->context, &question, answers, tuning->error);
	for (size_t i = 0; i < question.point_count && status == TL_OK; i++) {
		struct tl_tune_try *try = &tuning->tune->tries[chosen[i]];

		for (size_t seed = 0; seed < to - from; seed++)
			for (size_t m = 0; m < measures; m++)
				try->values[m * options->seed_count + from + seed] =
				    answers[(i * (to - from) + seed) * measures + m];
		try->seeds = to;
		judge(tuning, try);
		tuning->tune->runs += to - from;
	}
	free(answers);
	free(points);
	free(chosen);
	return status;
}

size_t tl_tune_left(const struct tl_tuning *tuning)
{
	size_t used = tuning->tune->runs + tuning->reserved;

	return used < tuning->options->budget ? tuning->options->budget - used : 0;
}

enum tl_status tl_tune_ask(struct tl_tuning *tuning, const int *points, size_t count, size_t seeds,
                           enum tl_tune_phase phase, size_t *which)
{
	size_t *wanted = tl_calloc(count + 1, sizeof *wanted), wanted_count = 0;
	size_t left = tl_tune_left(tuning);
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count; i++) {
		const int *rungs = points + i * tuning->axes;
		size_t at = find(tuning, rungs);
		size_t has = at == SIZE_MAX ? 0 : tuning->tune->tries[at].seeds;
		bool twice = false;

		which[i] = SIZE_MAX;
		if (has < seeds && seeds - has > left)
			continue;
		which[i] = find_or_add(tuning, rungs, phase);
		for (size_t k = 0; k < wanted_count; k++)
			twice |= wanted[k] == which[i];
		if (has >= seeds || twice)
			continue;
		left -= seeds - has;
		wanted[wanted_count++] = which[i];
	}
	/* What has the same seeds is run together. */
	for (size_t from = 0; from < seeds && status == TL_OK; from++)
		status = extend(tuning, wanted, wanted_count, from, seeds);
	free(wanted);
	return status;
}

int tl_tune_compare(const struct tl_tuning *tuning, size_t a, size_t b)
{
	const struct tl_tune_try *x = &tuning->tune->tries[a], *y = &tuning->tune->tries[b];
	double side = tuning->options->maximize ? -1 : 1;
	bool x_none = !isfinite(x->mean), y_none = !isfinite(y->mean);
	int order = (a > b) - (a < b);

	if (x_none || y_none)
		return x_none != y_none ? x_none - y_none : order;
	if (x->shortfall < y->shortfall || x->shortfall > y->shortfall)
		return x->shortfall < y->shortfall ? -1 : 1;
	if (x->mean < y->mean || x->mean > y->mean)
		return (x->mean < y->mean ? -1 : 1) * (int)side;
	return order;
}

const struct tl_tune_effect *tl_tune_effect_of(const struct tl_tuning *tuning, size_t axis)
{
	const struct tl_tune_effect *effect = tuning->tune->effects;

	while (effect->axis != axis)
		effect++;
	return effect;
}

/* ---- the whole ---- */

static size_t least_budget(const struct tl_tune_options *options)
{
	size_t settings = 1;

	for (size_t i = 0; i < options->space->count; i++)
		settings += (size_t)tl_tune_screen_rungs(&options->space->ladders[i]);
	/* The screening, two settings with all seeds, and the last look. */
	return settings * tl_tune_screen_seeds(options) + 2 * options->seed_count +
	       2 * options->fresh_count;
}

enum tl_status tl_tune_check_budget(const struct tl_tune_options *options, struct tl_error *error)
{
	size_t least = least_budget(options);

	if (options->budget >= least)
		return TL_OK;
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
	                    "--budget: got %zu, wanted at least %zu runs for these axes and seeds",
	                    options->budget, least);
}

static enum tl_status look_again(struct tl_tuning *tuning, size_t which, double *fresh)
{
	const struct tl_tune_options *options = tuning->options;
	size_t count = options->fresh_count, measures = tuning->measures;
	const struct tl_search_question question = {.points = tuning->tune->tries[which].rungs,
	                                            .point_count = 1,
	                                            .first_seed = options->seed_count,
	                                            .seed_count = count};
	double *answers = tl_calloc(count * measures + 1, sizeof *answers);
	enum tl_status status =
	    options->evaluate(options->context, &question, answers, tuning->error);

	for (size_t seed = 0; seed < count; seed++)
		for (size_t m = 0; m < measures; m++)
			fresh[m * count + seed] = answers[seed * measures + m];
	tuning->tune->runs += count;
	free(answers);
	return status;
}

enum tl_status tl_tune_search(const struct tl_tune_options *options, struct tl_tune *out,
                              struct tl_error *error)
{
	struct tl_tuning tuning = {.options = options,
	                           .tune = out,
	                           .reserved = 2 * options->fresh_count,
	                           .axes = options->space->count,
	                           .measures = 1 + options->constraint_count,
	                           .error = error};
	size_t cells = tuning.measures * options->fresh_count;
	enum tl_status status;

	gsl_error_handler_t *before;

	*out = (struct tl_tune){.runs = 0};
	status = tl_tune_check_budget(options, error);
	if (status != TL_OK)
		return status;
	out->best_fresh = tl_calloc(cells + 1, sizeof *out->best_fresh);
	out->own_fresh = tl_calloc(cells + 1, sizeof *out->own_fresh);
	before = gsl_set_error_handler_off();
	status = tl_tune_screen(&tuning);
	if (status == TL_OK)
		status = tl_tune_spread(&tuning);
	if (status == TL_OK)
		status = tl_tune_descend(&tuning);
	(void)gsl_set_error_handler(before);
	if (status == TL_OK)
		status = look_again(&tuning, out->best, out->best_fresh);
	if (status == TL_OK && out->best != 0)
		status = look_again(&tuning, 0, out->own_fresh);
	else if (status == TL_OK)
		memcpy(out->own_fresh, out->best_fresh, cells * sizeof *out->own_fresh);
	if (status != TL_OK)
		tl_tune_fini(out);
	return status;
}

void tl_tune_fini(struct tl_tune *tune)
{
	for (size_t i = 0; i < tune->count; i++) {
		free(tune->tries[i].rungs);
		free(tune->tries[i].values);
		free(tune->tries[i].judgements);
	}
	free(tune->tries);
	free(tune->effects);
	free(tune->best_fresh);
	free(tune->own_fresh);
	*tune = (struct tl_tune){.count = 0};
}
