/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/plan.h"

#include "analysis/stats.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Inside, a size is the distance from the cheap end: 0 is the rung one would like best, and
 * safety grows with it.
 */
struct search {
	const struct tl_plan_options *options;
	struct tl_plan *plan; /* probes by size here */
	size_t capacity;
	int last;
	struct tl_error *error;
};

static int rung_of(const struct search *search, int size)
{
	return search->options->largest ? search->last - size : size;
}

static void judge(const struct search *search, const double *answers, struct tl_plan_probe *probe)
{
	const struct tl_plan_options *options = search->options;
	size_t constraints = options->constraint_count, seeds = options->seed_count;

	probe->values = tl_calloc(constraints * seeds, sizeof *probe->values);
	probe->judgements = tl_calloc(constraints, sizeof *probe->judgements);
	probe->verdict = TL_VERDICT_HOLDS;
	for (size_t i = 0; i < constraints; i++) {
		double *values = probe->values + i * seeds;

		for (size_t seed = 0; seed < seeds; seed++)
			values[seed] = answers[seed * constraints + i];
		probe->judgements[i] = tl_constraint_judge(&options->constraints[i], values, seeds,
		                                           options->confidence);
		probe->verdict = tl_verdict_worst(probe->verdict, probe->judgements[i].verdict);
	}
}

/* The probe of a size, or where it would be. */
static size_t place_of(const struct search *search, int size)
{
	size_t at = 0;

	while (at < search->plan->count && search->plan->probes[at].rung < size)
		at++;
	return at;
}

static bool known(const struct search *search, int size)
{
	size_t at = place_of(search, size);

	return at < search->plan->count && search->plan->probes[at].rung == size;
}

/* Those of the sizes that are not known yet, all at once. */
static enum tl_status probe(struct search *search, const int *sizes, size_t count)
{
	const struct tl_plan_options *options = search->options;
	size_t width = options->seed_count * options->constraint_count, fresh = 0;
	int *points = tl_calloc(count + 1, sizeof *points),
	    *kept = tl_calloc(count + 1, sizeof *kept);
	double *answers = tl_calloc(count * width + 1, sizeof *answers);
	struct tl_plan *plan = search->plan;
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count; i++) {
		bool twice = known(search, sizes[i]);

		for (size_t k = 0; k < fresh; k++)
			twice |= kept[k] == sizes[i];
		if (twice)
			continue;
		points[fresh] = rung_of(search, sizes[i]);
		kept[fresh++] = sizes[i];
	}
	if (fresh > 0)
		status = options->evaluate(
		    options->context,
		    &(struct tl_search_question){points, fresh, 0, options->seed_count}, answers,
		    search->error);
	for (size_t i = 0; i < fresh && status == TL_OK; i++) {
		size_t at = place_of(search, kept[i]);

		plan->probes =
		    tl_grow(plan->probes, &search->capacity, plan->count + 1, sizeof *plan->probes);
		memmove(plan->probes + at + 1, plan->probes + at,
		        (plan->count - at) * sizeof *plan->probes);
		plan->probes[at] = (struct tl_plan_probe){.rung = kept[i]};
		plan->count++;
		judge(search, answers + i * width, &plan->probes[at]);
	}
	free(answers);
	free(points);
	free(kept);
	return status;
}

static bool holds(const struct tl_plan_probe *probe)
{
	return probe->verdict == TL_VERDICT_HOLDS;
}

/* The least probe from which on every probe holds; count where the last does not. */
static size_t frontier(const struct tl_plan *plan)
{
	size_t at = plan->count;

	while (at > 0 && holds(&plan->probes[at - 1]))
		at--;
	return at;
}

/* Between the frontier and the probe below it, until they are neighbours. */
static enum tl_status bisect(struct search *search)
{
	enum tl_status status = TL_OK;

	while (status == TL_OK) {
		size_t at = frontier(search->plan);
		int below, middle;

		if (at == 0 || at == search->plan->count)
			break;
		below = search->plan->probes[at - 1].rung;
		middle = below + (search->plan->probes[at].rung - below) / 2;
		if (middle == below)
			break;
		status = probe(search, &middle, 1);
	}
	return status;
}

/* The neighbour on the safe side, and others spread over both sides. */
static enum tl_status check(struct search *search, int answer)
{
	int count = search->options->checks, last = search->last;
	int *sizes = tl_calloc((size_t)count + 1, sizeof *sizes);
	size_t chosen = 0;
	enum tl_status status;

	for (int i = 0; i < count; i++) {
		int size = i == 0 ? answer + 1 : (int)((int64_t)last * i / count);

		if (size >= 0 && size <= last)
			sizes[chosen++] = size;
	}
	status = probe(search, sizes, chosen);
	free(sizes);
	return status;
}

/* The least p, over the constraints, of the two probes being alike. */
static double chance(const struct tl_plan_options *options, const struct tl_plan_probe *a,
                     const struct tl_plan_probe *b)
{
	double least = (double)NAN;

	for (size_t i = 0; i < options->constraint_count; i++) {
		struct tl_stats_test test = tl_stats_paired_t(
		    a->values + i * options->seed_count, b->values + i * options->seed_count,
		    options->seed_count, options->confidence);

		if (!(least <= test.p))
			least = test.p;
	}
	return least;
}

/* A probe that holds, with the first one above it that does not. */
static void contradict(const struct search *search)
{
	struct tl_plan *plan = search->plan;
	size_t at = frontier(plan);

	plan->monotone = true;
	for (size_t i = 0; i < at && plan->monotone; i++) {
		if (!holds(&plan->probes[i]))
			continue;
		plan->monotone = false;
		plan->holds = i;
		plan->breaks = i + 1;
		while (holds(&plan->probes[plan->breaks]))
			plan->breaks++;
		plan->chance = chance(search->options, &plan->probes[plan->holds],
		                      &plan->probes[plan->breaks]);
	}
}

/* From sizes to rungs. */
static void turn(const struct search *search)
{
	struct tl_plan *plan = search->plan;

	for (size_t i = 0; i < plan->count; i++)
		plan->probes[i].rung = rung_of(search, plan->probes[i].rung);
	if (!search->options->largest)
		return;
	for (size_t i = 0; i < plan->count / 2; i++) {
		struct tl_plan_probe kept = plan->probes[i];

		plan->probes[i] = plan->probes[plan->count - 1 - i];
		plan->probes[plan->count - 1 - i] = kept;
	}
	if (!plan->monotone) {
		plan->holds = plan->count - 1 - plan->holds;
		plan->breaks = plan->count - 1 - plan->breaks;
	}
}

enum tl_status tl_plan_search(const struct tl_plan_options *options, struct tl_plan *out,
                              struct tl_error *error)
{
	struct search search = {.options = options,
	                        .plan = out,
	                        .last = options->space->ladders[0].count - 1,
	                        .error = error};
	const int ends[] = {0, search.last};
	enum tl_status status;
	size_t at, seen = 0;

	*out = (struct tl_plan){.answer = -1};
	status = probe(&search, ends, 2);
	/* A check may move the frontier, and what it moves to is checked again. */
	while (status == TL_OK && out->count > seen) {
		seen = out->count;
		status = bisect(&search);
		at = frontier(out);
		if (status == TL_OK)
			status =
			    check(&search, at < out->count ? out->probes[at].rung : search.last);
	}
	if (status == TL_OK) {
		at = frontier(out);
		contradict(&search);
		if (at < out->count) {
			out->answer = rung_of(&search, out->probes[at].rung);
			out->at_end = out->probes[at].rung == 0;
		}
		turn(&search);
	} else {
		tl_plan_fini(out);
	}
	return status;
}

size_t tl_plan_flat(const struct tl_plan_options *options, const struct tl_plan *plan,
                    size_t constraint)
{
	const size_t seeds = options->seed_count, end = options->largest ? 0 : plan->count - 1;
	const double *last = plan->probes[end].values + constraint * seeds;
	size_t flat = end;

	for (size_t i = 1; i < plan->count; i++) {
		const size_t at = options->largest ? i : plan->count - 1 - i;
		const double *values = plan->probes[at].values + constraint * seeds;

		for (size_t seed = 0; seed < seeds; seed++)
			if (!(values[seed] >= last[seed] && values[seed] <= last[seed]))
				return flat;
		flat = at;
	}
	return flat;
}

void tl_plan_fini(struct tl_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++) {
		free(plan->probes[i].judgements);
		free(plan->probes[i].values);
	}
	free(plan->probes);
	*plan = (struct tl_plan){.answer = -1};
}
