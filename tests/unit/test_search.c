/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches on functions whose answer is known. */
#include "analysis/plan.h"
#include "analysis/tune.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constraints ---- */

Test(search, constraints_are_read)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_constraint constraint;

	cr_assert_eq(tl_constraint_parse("attainment>=0.999", &constraint, &error), TL_OK);
	cr_expect_str_eq(constraint.metric, "attainment");
	cr_expect(constraint.at_least && constraint.bound == 0.999);
	tl_constraint_fini(&constraint);
	cr_assert_eq(tl_constraint_parse("wait_mean_s <= -2.5", &constraint, &error), TL_OK);
	cr_expect_str_eq(constraint.metric, "wait_mean_s");
	cr_expect(!constraint.at_least && constraint.bound == -2.5);
	tl_constraint_fini(&constraint);
}

Test(search, what_is_no_constraint_is_refused)
{
	static const char *const cases[] = {"",       "a",   ">=1",    "a>1",   "a=1",
	                                    "a==1",   "a>=", "a>=b",   "a>=1s", "a>=nan",
	                                    "a<=inf", "a<1", "a>=1 2", "  >=1"};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tl_error error = TL_ERROR_INIT;
		struct tl_constraint constraint;

		cr_expect_eq(tl_constraint_parse(cases[i], &constraint, &error), TL_E_USAGE, "%s",
		             cases[i]);
		cr_expect(strstr(error.message, "--subject-to: got"), "%s", error.message);
	}
}

Test(search, a_verdict_needs_its_confidence)
{
	const struct tl_constraint least = {.at_least = true, .bound = 10};
	const struct tl_constraint most = {.at_least = false, .bound = 10};
	const double values[] = {11, 12, 13}, close[] = {9, 10.2, 12}, gap[] = {11, (double)NAN};
	struct tl_judgement got = tl_constraint_judge(&least, values, 3, 0.95);

	/* 12 − t(0.95; 2) / √3 */
	cr_expect_eq(got.verdict, TL_VERDICT_HOLDS);
	cr_expect_float_eq(got.limit, 12 - 2.9199855803537256 / sqrt(3), 1e-9);
	cr_expect_eq(got.shortfall, 0);
	got = tl_constraint_judge(&most, values, 3, 0.95);
	cr_expect_eq(got.verdict, TL_VERDICT_FAILS);
	cr_expect_float_eq(got.limit, 12 + 2.9199855803537256 / sqrt(3), 1e-9);
	cr_expect_float_eq(got.shortfall, (got.limit - 10) / 10, 1e-12);
	got = tl_constraint_judge(&least, close, 3, 0.95);
	cr_expect_eq(got.verdict, TL_VERDICT_UNSHOWN);
	cr_expect_gt(got.shortfall, 0);
	got = tl_constraint_judge(&least, values, 1, 0.95);
	cr_expect_eq(got.verdict, TL_VERDICT_UNSHOWN, "one value shows nothing");
	cr_expect_eq(got.shortfall, 0);
	got = tl_constraint_judge(&least, gap, 2, 0.95);
	cr_expect_eq(got.verdict, TL_VERDICT_FAILS);
	cr_expect(isinf(got.shortfall));
	cr_expect_eq(tl_constraint_judge(&least, NULL, 0, 0.95).verdict, TL_VERDICT_FAILS);
}

/* ---- spaces ---- */

static struct tl_axis axes[8];
static size_t axis_count;
static struct tl_space space;

static enum tl_status lay_out(int most, struct tl_error *error, const char *const *texts)
{
	for (axis_count = 0; texts[axis_count]; axis_count++)
		cr_assert_eq(tl_axis_parse("--over", texts[axis_count], &axes[axis_count], error),
		             TL_OK, "%s", error->message);
	return tl_space_of_axes(axes, axis_count, most, &space, error);
}

static void space_of(int most, const char *const *texts)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(lay_out(most, &error, texts), TL_OK, "%s", error.message);
}

static void forget_space(void)
{
	tl_space_fini(&space);
	for (size_t i = 0; i < axis_count; i++)
		tl_axis_fini(&axes[i]);
	axis_count = 0;
}

TestSuite(search_space, .fini = forget_space);

Test(search_space, rungs_are_round_numbers_between_the_ends)
{
	space_of(200, (const char *const[]){"a=1.0:1.5", "b=8:64", "c=90s:1000s", "d=x,y",
	                                    "e=0.5:0.75:0.125", "f=0.123:0.129", NULL});
	cr_expect_eq(space.ladders[0].count, 101);
	cr_expect_str_eq(space.ladders[0].rungs[0], "1");
	cr_expect_str_eq(space.ladders[0].rungs[1], "1.005");
	cr_expect_str_eq(space.ladders[0].rungs[100], "1.5");
	cr_expect(space.ladders[0].smooth);
	cr_expect_eq(space.ladders[1].count, 57);
	cr_expect_str_eq(space.ladders[1].rungs[1], "9");
	cr_expect_str_eq(space.ladders[2].rungs[0], "90s");
	cr_expect_str_eq(space.ladders[2].rungs[1], "95s");
	cr_expect_str_eq(space.ladders[2].rungs[space.ladders[2].count - 1], "1000s");
	cr_expect(!space.ladders[3].ordered && space.ladders[3].count == 2);
	cr_expect(space.ladders[4].ordered && !space.ladders[4].smooth);
	cr_expect_str_eq(space.ladders[5].rungs[0], "0.123");
	cr_expect_str_eq(space.ladders[5].rungs[space.ladders[5].count - 1], "0.129");
}

Test(search_space, the_nearest_rung_to_a_value)
{
	space_of(200, (const char *const[]){"a=1.0:1.5", "b=x,y", "c=1d:7d", NULL});
	cr_expect_eq(tl_space_near(&space.ladders[0], "1.0149"), 3);
	cr_expect_eq(tl_space_near(&space.ladders[0], "9"), 100);
	cr_expect_eq(tl_space_near(&space.ladders[0], "none"), TL_SPACE_OWN);
	cr_expect_eq(tl_space_near(&space.ladders[0], NULL), TL_SPACE_OWN);
	cr_expect_eq(tl_space_near(&space.ladders[1], "y"), 1);
	cr_expect_eq(tl_space_near(&space.ladders[1], "z"), TL_SPACE_OWN);
	cr_expect_str_eq(space.ladders[2].rungs[tl_space_near(&space.ladders[2], "3d")], "3d");
	cr_expect_eq(tl_space_near(&space.ladders[2], "3h"), TL_SPACE_OWN);
}

Test(search_space, what_is_no_axis_is_refused)
{
	static const char *const bad[][3] = {{"a=1", NULL, NULL},
	                                     {"a=1,3,2", NULL, NULL},
	                                     {"a=5:1:-1", NULL, NULL},
	                                     {"a=1:2", "a=3:4", NULL}};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct tl_error error = TL_ERROR_INIT;

		cr_expect_eq(lay_out(200, &error, bad[i]), TL_E_USAGE);
		cr_expect(strstr(error.message, "--over a: "), "%s", error.message);
		forget_space();
	}
}

/* ---- plans ---- */

struct world {
	double (*measure)(int rung, size_t seed);
	size_t asked; /* runs */
};

static double noise(uint64_t entity, size_t seed)
{
	struct tl_rng rng;

	tl_rng_init(&rng, 42 + seed, TL_STREAM_TEST, entity);
	return tl_rng_uniform(&rng) - 0.5;
}

static enum tl_status measure_one(void *context, const struct tl_search_question *question,
                                  double *answers, struct tl_error *error)
{
	struct world *world = context;

	(void)error;
	for (size_t i = 0; i < question->point_count; i++)
		for (size_t seed = 0; seed < question->seed_count; seed++)
			*answers++ =
			    world->measure(question->points[i], question->first_seed + seed);
	world->asked += question->point_count * question->seed_count;
	return TL_OK;
}

static struct tl_plan plan_with(struct world *world, const char *axis, bool at_least, double bound,
                                bool largest, int checks)
{
	static struct tl_constraint constraint;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_plan plan;

	constraint = (struct tl_constraint){.at_least = at_least, .bound = bound};
	space_of(1000, (const char *const[]){axis, NULL});
	cr_assert_eq(tl_plan_search(&(struct tl_plan_options){.space = &space,
	                                                      .largest = largest,
	                                                      .constraints = &constraint,
	                                                      .constraint_count = 1,
	                                                      .seed_count = 5,
	                                                      .confidence = 0.95,
	                                                      .checks = checks,
	                                                      .evaluate = measure_one,
	                                                      .context = world},
	                            &plan, &error),
	             TL_OK, "%s", error.message);
	for (size_t i = 1; i < plan.count; i++)
		cr_expect_lt(plan.probes[i - 1].rung, plan.probes[i].rung);
	return plan;
}

/* Common noise of a seed: sizes differ by their size alone. */
static double rises(int rung, size_t seed)
{
	return rung + 0.2 * noise(0, seed);
}

Test(search_space, the_smallest_size_is_found_by_bisection)
{
	for (int edge = 1; edge <= 56; edge++) {
		struct world world = {.measure = rises};
		struct tl_plan plan = plan_with(&world, "n=8:64", true, edge - 0.5, false, 3);

		cr_expect_eq(plan.answer, edge, "got %d, wanted %d", plan.answer, edge);
		cr_expect(plan.monotone && !plan.at_end);
		cr_expect_leq(world.asked, 5 * (2 + 6 + 3));
		tl_plan_fini(&plan);
		forget_space();
	}
}

Test(search_space, the_largest_size_is_the_mirror)
{
	struct world world = {.measure = rises};
	struct tl_plan plan = plan_with(&world, "ratio=1.0:1.5:0.01", false, 20.5, true, 4);

	cr_expect_eq(plan.answer, 20);
	cr_expect(plan.monotone);
	tl_plan_fini(&plan);
}

Test(search_space, a_range_that_ends_too_soon_is_said)
{
	struct world world = {.measure = rises};
	struct tl_plan plan = plan_with(&world, "n=8:64", true, -5, false, 2);

	cr_expect_eq(plan.answer, 0);
	cr_expect(plan.at_end);
	tl_plan_fini(&plan);
	forget_space();
	plan = plan_with(&world, "n=8:64", true, 100, false, 2);
	cr_expect_eq(plan.answer, -1);
	cr_expect(plan.monotone);
	tl_plan_fini(&plan);
}

/* Good at 10, bad from 20 to 29 (a rung that the checks look at), good from 30 on. */
static double dips(int rung, size_t seed)
{
	return (rung >= 10 && rung < 20) || rung >= 30 ? 1 + 0.01 * noise(1, seed) : 0;
}

Test(search_space, what_is_not_monotone_is_said)
{
	struct world world = {.measure = dips};
	struct tl_plan plan = plan_with(&world, "n=0:40", true, 0.5, false, 8);

	cr_expect_eq(plan.answer, 30);
	cr_assert(!plan.monotone);
	cr_expect_eq(plan.probes[plan.holds].verdict, TL_VERDICT_HOLDS);
	cr_expect_neq(plan.probes[plan.breaks].verdict, TL_VERDICT_HOLDS);
	cr_expect_lt(plan.probes[plan.holds].rung, plan.probes[plan.breaks].rung);
	cr_expect_lt(plan.chance, 0.001);
	tl_plan_fini(&plan);
}

static double fails_late(int rung, size_t seed)
{
	return rung < 35 ? 1 + 0.01 * noise(1, seed) : (double)NAN;
}

Test(search_space, runs_that_fail_hold_nothing)
{
	struct world world = {.measure = fails_late};
	struct tl_plan plan = plan_with(&world, "n=0:40", true, 0.5, false, 4);

	cr_expect_eq(plan.answer, -1, "nothing holds from some size on");
	cr_expect(!plan.monotone);
	tl_plan_fini(&plan);
	forget_space();
	plan = plan_with(&world, "n=0:40", true, 0.5, true, 4);
	cr_expect_eq(plan.answer, 34);
	tl_plan_fini(&plan);
}

/* ---- tuning ---- */

/* Of the places (0 to 1) on each axis, the first measure, then a second. */
struct landscape {
	double (*objective)(const double *place, size_t count);
	double (*limit)(const double *place, size_t count);
	double own[4]; /* where the scenario is */
	double noise;
	size_t asked;
	bool breaks; /* its second question fails */
};

static enum tl_status measure_all(void *context, const struct tl_search_question *question,
                                  double *answers, struct tl_error *error)
{
	struct landscape *land = context;

	for (size_t i = 0; i < question->point_count; i++) {
		double place[8];

		for (size_t k = 0; k < space.count; k++) {
			int rung = question->points[i * space.count + k];

			place[k] = rung == TL_SPACE_OWN ? land->own[k]
			                                : tl_space_place(&space.ladders[k], rung);
		}
		for (size_t seed = 0; seed < question->seed_count; seed++) {
			double shared = land->noise * noise(7, question->first_seed + seed);

			*answers++ = land->objective(place, space.count) + shared;
			if (land->limit)
				*answers++ = land->limit(place, space.count) + shared;
		}
	}
	if (land->breaks && land->asked > 0)
		return tl_error_set(error, TL_E_INTERRUPTED, NULL, 0, 0, "stopped");
	land->asked += question->point_count * question->seed_count;
	return TL_OK;
}

static enum tl_status tune(struct landscape *land, size_t budget, bool maximize, double bound,
                           struct tl_tune *out, struct tl_error *error)
{
	static struct tl_constraint constraint;
	static int near[4];

	constraint = (struct tl_constraint){.at_least = true, .bound = bound};
	for (size_t i = 0; i < space.count; i++)
		near[i] = tl_space_rung(&space.ladders[i], land->own[i]);
	return tl_tune_search(&(struct tl_tune_options){.space = &space,
	                                                .near = near,
	                                                .maximize = maximize,
	                                                .constraints = &constraint,
	                                                .constraint_count = land->limit ? 1 : 0,
	                                                .seed_count = 4,
	                                                .fresh_count = 4,
	                                                .budget = budget,
	                                                .confidence = 0.95,
	                                                .evaluate = measure_all,
	                                                .context = land},
	                      out, error);
}

static double bowl(const double *place, size_t count)
{
	static const double bottom[] = {0.3, 0.7, 0.45, 0.6};
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)(i + 1) * (place[i] - bottom[i]) * (place[i] - bottom[i]);
	return sum;
}

static double hill(const double *place, size_t count)
{
	return 5 - bowl(place, count);
}

Test(search_space, the_bottom_of_a_bowl_is_found)
{
	struct landscape land = {.objective = bowl, .own = {1, 0}, .noise = 0.1};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;
	const int *rungs;

	space_of(200, (const char *const[]){"a=0.0:1.0", "b=0:100", NULL});
	cr_assert_eq(tune(&land, 600, false, 0, &found, &error), TL_OK, "%s", error.message);
	rungs = found.tries[found.best].rungs;
	cr_expect_float_eq(tl_space_place(&space.ladders[0], rungs[0]), 0.3, 0.03);
	cr_expect_float_eq(tl_space_place(&space.ladders[1], rungs[1]), 0.7, 0.03);
	cr_expect_leq(found.runs, 600);
	cr_expect_eq(found.runs, land.asked);
	/* The axis with the larger weight and the farther bottom has more to it. */
	cr_expect_eq(found.effects[0].axis, 1);
	cr_expect_lt(found.effects[0].p, 0.05);
	cr_expect(!found.effects[0].inert);
	/* Fresh seeds: what it brings over the scenario's own. */
	for (size_t i = 0; i < 4; i++)
		cr_expect_gt(found.own_fresh[i] - found.best_fresh[i], 0.9);
	tl_tune_fini(&found);
}

Test(search_space, the_top_of_a_hill_is_found_by_steps)
{
	struct landscape land = {.objective = hill, .own = {1, 0, 0}, .noise = 0.1};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;
	const int *rungs;

	/* Not smooth: ten rungs, four choices, and a smooth one. */
	space_of(200, (const char *const[]){"a=0:10", "b=p,q,r,s", "c=0.0:1.0", NULL});
	cr_assert_eq(tune(&land, 800, true, 0, &found, &error), TL_OK, "%s", error.message);
	rungs = found.tries[found.best].rungs;
	cr_expect_eq(rungs[0], 3);
	cr_expect_eq(rungs[1], 2);
	cr_expect_float_eq(tl_space_place(&space.ladders[2], rungs[2]), 0.45, 0.04);
	tl_tune_fini(&found);
}

/* Cheaper to the left; allowed from 0.62 on. */
static double cheaper_left(const double *place, size_t count)
{
	(void)count;
	return place[0];
}

Test(search_space, a_constraint_is_kept_with_confidence)
{
	struct landscape land = {
	    .objective = cheaper_left, .limit = cheaper_left, .own = {1}, .noise = 0.01};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;
	double place;

	space_of(200, (const char *const[]){"a=0.0:1.0", NULL});
	cr_assert_eq(tune(&land, 300, false, 0.62, &found, &error), TL_OK, "%s", error.message);
	place = tl_space_place(&space.ladders[0], found.tries[found.best].rungs[0]);
	cr_expect_eq(found.tries[found.best].verdict, TL_VERDICT_HOLDS);
	cr_expect(place >= 0.62 && place < 0.66, "got %g", place);
	tl_tune_fini(&found);
	/* One that nothing keeps: the nearest to it, and it says so. */
	cr_assert_eq(tune(&land, 300, false, 2, &found, &error), TL_OK);
	cr_expect_eq(found.tries[found.best].verdict, TL_VERDICT_FAILS);
	cr_expect_gt(found.tries[found.best].mean, 0.98);
	tl_tune_fini(&found);
}

static double first_alone(const double *place, size_t count)
{
	(void)count;
	return (place[0] - 0.5) * (place[0] - 0.5);
}

static double nowhere(const double *place, size_t count)
{
	(void)place;
	(void)count;
	return (double)NAN;
}

/* Runs fail on the right half; the best of what is left is its edge. */
static double half(const double *place, size_t count)
{
	(void)count;
	return place[0] > 0.5 ? (double)NAN : 1 - place[0];
}

Test(search_space, an_axis_that_does_nothing_is_left_alone)
{
	struct landscape land = {.objective = first_alone, .own = {0, 0.25}};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;

	space_of(200, (const char *const[]){"a=0.0:1.0", "b=0.0:1.0", NULL});
	cr_assert_eq(tune(&land, 200, false, 0, &found, &error), TL_OK);
	cr_expect_eq(found.effects[1].axis, 1);
	cr_expect(found.effects[1].inert);
	cr_expect_eq(found.tries[found.best].rungs[1], TL_SPACE_OWN);
	cr_expect_float_eq(found.tries[found.best].mean, 0, 1e-3);
	tl_tune_fini(&found);
}

Test(search_space, settings_whose_runs_fail_are_never_best)
{
	struct landscape land = {.objective = half, .own = {0}};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;

	space_of(200, (const char *const[]){"a=0.0:1.0", NULL});
	cr_assert_eq(tune(&land, 300, false, 0, &found, &error), TL_OK);
	cr_expect_float_eq(found.tries[found.best].mean, 0.5, 0.02);
	tl_tune_fini(&found);
	land.objective = nowhere;
	cr_assert_eq(tune(&land, 300, false, 0, &found, &error), TL_OK);
	cr_expect(isnan(found.tries[found.best].mean));
	tl_tune_fini(&found);
}

Test(search_space, a_budget_is_kept_and_the_least_is_said)
{
	struct landscape land = {.objective = bowl, .own = {1, 0}, .noise = 0.1};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune found;

	space_of(200, (const char *const[]){"a=0.0:1.0", "b=p,q,r", NULL});
	/* (1 + 4 + 3) × 3 to screen, 2 × 4 of the search, 2 × 4 fresh */
	for (size_t budget = 40; budget < 120; budget += 7) {
		land.asked = 0;
		cr_assert_eq(tune(&land, budget, false, 0, &found, &error), TL_OK, "%s",
		             error.message);
		cr_expect_leq(land.asked, budget);
		cr_expect_eq(found.runs, land.asked);
		tl_tune_fini(&found);
	}
	cr_expect_eq(tune(&land, 39, false, 0, &found, &error), TL_E_USAGE);
	cr_expect(strstr(error.message, "--budget: got 39, wanted at least 40"), "%s",
	          error.message);
}

Test(search_space, a_search_repeats_itself_and_ends_where_it_is_stopped)
{
	struct landscape land = {.objective = bowl, .own = {1, 0}, .noise = 0.1};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_tune one, two;

	space_of(200, (const char *const[]){"a=0.0:1.0", "b=0:9", NULL});
	cr_assert_eq(tune(&land, 300, false, 0, &one, &error), TL_OK);
	cr_assert_eq(tune(&land, 300, false, 0, &two, &error), TL_OK);
	cr_assert_eq(one.count, two.count);
	for (size_t i = 0; i < one.count; i++)
		cr_expect_arr_eq(one.tries[i].rungs, two.tries[i].rungs, 2 * sizeof(int));
	cr_expect_eq(one.best, two.best);
	tl_tune_fini(&one);
	tl_tune_fini(&two);
	land.breaks = true;
	land.asked = 0;
	cr_expect_eq(tune(&land, 300, false, 0, &one, &error), TL_E_INTERRUPTED);
	cr_expect_eq(one.count, 0);
}
