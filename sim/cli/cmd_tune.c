/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab tune: the setting that makes a metric least, or most, while others hold. */
#include "sim/cli/search.h"

#include "analysis/fields.h"
#include "analysis/tune.h"
#include "sim/base/arena.h"
#include "sim/base/number.h"
#include "sim/base/output.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"minimize", 0, "METRIC", "what is to be least"},
    {"maximize", 0, "METRIC", "what is to be most"},
    {"budget", 0, "N", "runs in all, those found in DIR among them; 200"},
    TL_SEARCH_FLAGS,
};

enum { MOST_RUNGS = 200, BUDGET = 200 };

struct outcome {
	const struct tl_search_setup *setup;
	const struct tl_tune_options *options;
	const struct tl_tune *tune;
};

static const char *rung_text(const struct outcome *outcome, size_t axis, int rung)
{
	const char *text = rung == TL_SPACE_OWN
	                       ? outcome->setup->own[axis]
	                       : tl_space_value(&outcome->setup->space, axis, rung);

	return text ? text : "(own)";
}

static const struct tl_tune_try *best_of(const struct outcome *outcome)
{
	return &outcome->tune->tries[outcome->tune->best];
}

/* What was found, with the seeds that the search did not see: the difference of the objective. */
static struct tl_stats_test gain_of(const struct outcome *outcome)
{
	return tl_stats_paired_t(outcome->tune->own_fresh, outcome->tune->best_fresh,
	                         outcome->options->fresh_count, outcome->options->confidence);
}

static struct tl_judgement judgement_of(const struct outcome *outcome, const double *fresh,
                                        size_t constraint)
{
	size_t count = outcome->options->fresh_count;

	return tl_constraint_judge(&outcome->setup->constraints[constraint],
	                           fresh + (constraint + 1) * count, count,
	                           outcome->options->confidence);
}

/* The best of all is no answer where it does not keep what was asked. */
static enum tl_status check_promise(const struct outcome *outcome, struct tl_error *error)
{
	const struct tl_search_setup *setup = outcome->setup;
	char text[200];

	for (size_t i = 0; i < setup->constraint_count; i++) {
		struct tl_judgement judged = judgement_of(outcome, outcome->tune->best_fresh, i);

		if (judged.verdict != TL_VERDICT_HOLDS)
			return tl_error_set(
			    error, TL_E_UNMET, NULL, 0, 0,
			    "the best setting found is not shown to keep %s",
			    tl_search_constraint_text(&setup->constraints[i], text, sizeof text));
	}
	return TL_OK;
}

/* ---- for people ---- */

static void print_end(const struct outcome *outcome, size_t axis, int rung, double mean,
                      enum tl_constraint_verdict verdict)
{
	char value[64];

	(void)snprintf(value, sizeof value, "%s%s", rung_text(outcome, axis, rung),
	               rung == TL_SPACE_OWN && outcome->setup->own[axis] ? " (own)" : "");
	(void)printf("%-16s %12.6g", value, mean);
	if (outcome->setup->constraint_count > 0)
		(void)printf(" %-9s", tl_verdict_names[verdict]);
	(void)printf("   ");
}

static void print_effects(const struct outcome *outcome)
{
	const struct tl_search_setup *setup = outcome->setup;
	bool bound = setup->constraint_count > 0;

	(void)printf("each axis alone, the others as the scenario has them (own): its best and its "
	             "worst value,\nthe mean %s with it, %sand p of no difference\n",
	             setup->objective, bound ? "whether the bounds hold, " : "");
	if (bound)
		(void)printf("best is what holds the bounds, or misses them by least; only among "
		             "equals the %s mean\n",
		             outcome->options->maximize ? "largest" : "smallest");
	(void)printf("  %-28s %-16s %12.12s%s   %-16s %12.12s%s   %9s\n", "axis", "best",
	             setup->objective, bound ? " bounds   " : "", "worst", setup->objective,
	             bound ? " bounds   " : "", "p");
	for (size_t i = 0; i < setup->space.count; i++) {
		const struct tl_tune_effect *effect = &outcome->tune->effects[i];

		(void)printf("  %-28s ", setup->space.ladders[effect->axis].key);
		if (effect->inert) {
			(void)printf("makes no difference in any run, and is left alone\n");
			continue;
		}
		print_end(outcome, effect->axis, effect->best, effect->best_mean,
		          effect->best_verdict);
		print_end(outcome, effect->axis, effect->worst, effect->worst_mean,
		          effect->worst_verdict);
		(void)printf("%9.2g\n", effect->p);
	}
}

static void print_setting(const struct outcome *outcome)
{
	const struct tl_tune_try *best = best_of(outcome);
	const struct tl_space *space = &outcome->setup->space;
	bool any = false;

	(void)printf("\nbest setting of %zu tried (%zu runs):\n ", outcome->tune->count,
	             outcome->tune->runs);
	for (size_t i = 0; i < space->count; i++) {
		const char *value = tl_space_value(space, i, best->rungs[i]);

		if (!value)
			continue;
		any = true;
		(void)printf(" --set ");
		(void)printf("%s=", space->ladders[i].key);
		tl_shell_quote(value, stdout);
	}
	(void)printf("%s\n", any ? "" : " the scenario's own: nothing better was found");
}

static void print_gain(const struct outcome *outcome)
{
	const struct tl_search_setup *setup = outcome->setup;
	const struct tl_tune_options *options = outcome->options;
	size_t count = options->fresh_count;
	struct tl_stats_interval interval =
	    tl_stats_t_interval(outcome->tune->best_fresh, count, options->confidence);
	struct tl_stats_test gain = gain_of(outcome);
	char text[200];

	(void)printf("with %zu fresh seeds, which the search has not seen:\n", count);
	if (interval.low == interval.high && gain.interval.low == gain.interval.high)
		(void)printf(
		    "  (every seed gave the same: this scenario draws nothing that matters)\n");
	(void)printf("  %s: %.9g, %g %% interval %.9g to %.9g\n", setup->objective,
	             tl_stats_sample(outcome->tune->best_fresh, count).mean,
	             100 * options->confidence, interval.low, interval.high);
	if (outcome->tune->best != 0)
		(void)printf("  against the scenario's own setting (%.9g): %+.6g (%+.6g to %+.6g), "
		             "p = %.2g%s\n",
		             tl_stats_sample(outcome->tune->own_fresh, count).mean, gain.difference,
		             gain.interval.low, gain.interval.high, gain.p,
		             gain.p < 1 - options->confidence ? "" : ": no difference shown");
	for (size_t i = 0; i < setup->constraint_count; i++) {
		struct tl_judgement judged = judgement_of(outcome, outcome->tune->best_fresh, i);

		(void)printf("  %s: %.9g, %s %.9g with %g %% confidence: %s\n",
		             tl_search_constraint_text(&setup->constraints[i], text, sizeof text),
		             judged.mean, setup->constraints[i].at_least ? "at least" : "at most",
		             judged.limit, 100 * options->confidence,
		             tl_verdict_names[judged.verdict]);
		if (outcome->tune->best == 0)
			continue;
		judged = judgement_of(outcome, outcome->tune->own_fresh, i);
		(void)printf("    the scenario's own setting: %.9g: %s\n", judged.mean,
		             tl_verdict_names[judged.verdict]);
	}
}

/* ---- for machines ---- */

static json_t *setting_json(const struct outcome *outcome, const int *rungs)
{
	json_t *all = json_object();

	for (size_t i = 0; i < outcome->setup->space.count; i++)
		if (rungs[i] != TL_SPACE_OWN)
			(void)json_object_set_new(
			    all, outcome->setup->space.ladders[i].key,
			    json_string(tl_space_value(&outcome->setup->space, i, rungs[i])));
	return all;
}

static json_t *effects_json(const struct outcome *outcome)
{
	json_t *all = json_array();

	for (size_t i = 0; i < outcome->setup->space.count; i++) {
		const struct tl_tune_effect *effect = &outcome->tune->effects[i];
		json_t *one = json_object();

		(void)json_object_set_new(
		    one, "key", json_string(outcome->setup->space.ladders[effect->axis].key));
		(void)json_object_set_new(one, "inert", json_boolean(effect->inert));
		(void)json_object_set_new(
		    one, "best", json_string(rung_text(outcome, effect->axis, effect->best)));
		(void)json_object_set_new(one, "best_mean", tl_json_number(effect->best_mean));
		(void)json_object_set_new(
		    one, "worst", json_string(rung_text(outcome, effect->axis, effect->worst)));
		(void)json_object_set_new(one, "worst_mean", tl_json_number(effect->worst_mean));
		(void)json_object_set_new(one, "best_verdict",
		                          json_string(tl_verdict_names[effect->best_verdict]));
		(void)json_object_set_new(one, "worst_verdict",
		                          json_string(tl_verdict_names[effect->worst_verdict]));
		(void)json_object_set_new(one, "p", tl_json_number(effect->p));
		(void)json_array_append_new(all, one);
	}
	return all;
}

static void print_json(const struct outcome *outcome)
{
	const struct tl_search_setup *setup = outcome->setup;
	const struct tl_tune_options *options = outcome->options;
	struct tl_stats_test gain = gain_of(outcome);
	struct tl_stats_interval interval = tl_stats_t_interval(
	    outcome->tune->best_fresh, options->fresh_count, options->confidence);
	json_t *all = json_object(), *constraints = json_array();

	(void)json_object_set_new(all, options->maximize ? "maximize" : "minimize",
	                          json_string(setup->objective));
	(void)json_object_set_new(all, "runs", json_integer((json_int_t)outcome->tune->runs));
	(void)json_object_set_new(all, "tried", json_integer((json_int_t)outcome->tune->count));
	(void)json_object_set_new(all, "confidence", json_real(options->confidence));
	(void)json_object_set_new(all, "effects", effects_json(outcome));
	(void)json_object_set_new(all, "best", setting_json(outcome, best_of(outcome)->rungs));
	(void)json_object_set_new(all, "fresh_seeds",
	                          json_integer((json_int_t)options->fresh_count));
	(void)json_object_set_new(
	    all, "mean",
	    tl_json_number(tl_stats_sample(outcome->tune->best_fresh, options->fresh_count).mean));
	(void)json_object_set_new(all, "low", tl_json_number(interval.low));
	(void)json_object_set_new(all, "high", tl_json_number(interval.high));
	(void)json_object_set_new(
	    all, "own_mean",
	    tl_json_number(tl_stats_sample(outcome->tune->own_fresh, options->fresh_count).mean));
	(void)json_object_set_new(all, "difference", tl_json_number(gain.difference));
	(void)json_object_set_new(all, "difference_low", tl_json_number(gain.interval.low));
	(void)json_object_set_new(all, "difference_high", tl_json_number(gain.interval.high));
	(void)json_object_set_new(all, "p", tl_json_number(gain.p));
	for (size_t i = 0; i < setup->constraint_count; i++) {
		struct tl_judgement judged = judgement_of(outcome, outcome->tune->best_fresh, i);

		(void)json_array_append_new(
		    constraints, tl_search_judgement_json(&setup->constraints[i], &judged));
	}
	(void)json_object_set_new(all, "constraints", constraints);
	tl_print_json(all, stdout);
}

/* ---- the trace of what was tried ---- */

static void write_number(double value, FILE *out)
{
	char text[TL_NUMBER_TEXT];

	if (isfinite(value))
		(void)fprintf(out, ",%s", tl_number_text(value, text));
	else
		(void)fputc(',', out);
}

static void write_trace(const struct outcome *outcome, FILE *out)
{
	const struct tl_search_setup *setup = outcome->setup;
	const struct tl_space *space = &setup->space;

	(void)fputs("try,phase,seeds", out);
	for (size_t i = 0; i < space->count; i++) {
		(void)fputc(',', out);
		tl_field_write(space->ladders[i].key, out);
	}
	(void)fputc(',', out);
	tl_field_write(setup->objective, out);
	(void)fputs(",low,high", out);
	for (size_t i = 0; i < setup->constraint_count; i++) {
		(void)fputc(',', out);
		tl_field_write(setup->constraints[i].metric, out);
		(void)fputs(",limit,verdict", out);
	}
	(void)fputs(",best\n", out);
	for (size_t i = 0; i < outcome->tune->count; i++) {
		const struct tl_tune_try *try = &outcome->tune->tries[i];
		struct tl_stats_interval interval =
		    tl_stats_t_interval(try->values, try->seeds, outcome->options->confidence);

		(void)fprintf(out, "%zu,%s,%zu", i, tl_tune_phase_names[try->phase], try->seeds);
		for (size_t k = 0; k < space->count; k++) {
			const char *value = tl_space_value(space, k, try->rungs[k]);

			(void)fputc(',', out);
			tl_field_write(value ? value : "", out);
		}
		write_number(try->mean, out);
		write_number(interval.low, out);
		write_number(interval.high, out);
		for (size_t k = 0; k < setup->constraint_count; k++) {
			write_number(try->judgements[k].mean, out);
			write_number(try->judgements[k].limit, out);
			(void)fprintf(out, ",%s", tl_verdict_names[try->judgements[k].verdict]);
		}
		(void)fprintf(out, ",%d\n", i == outcome->tune->best);
	}
}

static enum tl_status keep_trace(const struct outcome *outcome, const char *dir,
                                 struct tl_error *error)
{
	char *path = tl_join(dir, "trace.csv");
	struct tl_output output;
	enum tl_status status = tl_output_open(&output, path, true, error);

	if (status == TL_OK) {
		write_trace(outcome, output.file);
		status = tl_output_close(&output, TL_OK, error);
	}
	free(path);
	return status;
}

/* ---- the verb ---- */

static enum tl_status take_options(const struct tl_args *args, const struct tl_search_setup *setup,
                                   int *near, struct tl_tune_options *out, struct tl_error *error)
{
	size_t count = setup->seeds.seed_count / 2;

	for (size_t i = 0; i < setup->axis_count; i++) {
		char *own = tl_subject_own(&setup->subject, setup->axes[i].key);

		near[i] = tl_space_near(&setup->space.ladders[i], own);
		free(own);
	}
	*out = (struct tl_tune_options){.space = &setup->space,
	                                .near = near,
	                                .maximize = tl_args_has(args, "maximize"),
	                                .constraints = setup->constraints,
	                                .constraint_count = setup->constraint_count,
	                                .seed_count = count,
	                                .fresh_count = count,
	                                .confidence = setup->confidence,
	                                .evaluate = tl_search_ask,
	                                .context = (void *)&setup->search};
	return tl_search_number(args, "budget", TL_DESIGN_RUNS_MAX, BUDGET, &out->budget, error);
}

static enum tl_status tune(const struct tl_args *args, struct tl_search_setup *setup,
                           const struct tl_search_terms *terms, struct tl_error *error)
{
	int *near = tl_calloc(setup->axis_count + 1, sizeof *near);
	const char *dir = tl_args_value(args, "output");
	struct tl_tune_options options;
	struct tl_tune found = {.count = 0};
	struct outcome outcome = {.setup = setup, .options = &options, .tune = &found};
	enum tl_status status = take_options(args, setup, near, &options, error);

	if (status == TL_OK)
		status = tl_tune_check_budget(&options, error);
	if (status == TL_OK)
		status = tl_search_setup_begin(setup, terms, error);
	if (status == TL_OK)
		status = tl_tune_search(&options, &found, error);
	if (status == TL_OK)
		status = keep_trace(&outcome, dir, error);
	if (status == TL_OK && !isfinite(best_of(&outcome)->mean))
		status = tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                      "%s has no value in any run: nothing can be said of it",
		                      setup->objective);
	if (status == TL_OK && tl_args_has(args, "json")) {
		print_json(&outcome);
	} else if (status == TL_OK) {
		print_effects(&outcome);
		print_setting(&outcome);
		print_gain(&outcome);
		(void)printf("what was tried: %s/trace.csv\n", dir);
	}
	if (status == TL_OK) {
		tl_search_note(&setup->search, stderr);
		status = check_promise(&outcome, error);
	}
	tl_tune_fini(&found);
	free(near);
	return status;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	bool least = tl_args_has(args, "minimize"), most = tl_args_has(args, "maximize");
	const struct tl_search_terms terms = {.verb = "tune",
	                                      .seeds = "1..5",
	                                      .fresh_seeds_a_seed = 1,
	                                      .most_rungs = MOST_RUNGS,
	                                      .objective_flag = most ? "maximize" : "minimize"};
	struct tl_search_setup setup = {.args = args};
	enum tl_status status = TL_OK;

	(void)command;
	if (least == most)
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "got %s, wanted --minimize METRIC or --maximize METRIC",
		                      least ? "both" : "no objective");
	if (status == TL_OK)
		status = tl_search_setup_read(args, &terms, &setup, error);
	if (status == TL_OK)
		status = tune(args, &setup, &terms, error);
	tl_search_setup_close(&setup);
	return status;
}

const struct tl_command tl_command_tune = {
    .name = "tune",
    .summary = "search for the setting that makes a metric least or most",
    .operands = "[SCENARIO]",
    .about =
	"First each axis alone, from the scenario's own setting: a table of what matters. Then a search\n"
	"over all that do: many settings with two seeds and ever fewer with more (successive halving),\n"
	"then downhill from the best, by the simplex of Nelder and Mead on intervals and step by step on\n"
	"lists. A setting whose constraints are not shown to hold is worse than any whose are.\n"
	"\n"
	"Who is best of many owes part of it to the seeds it was chosen by. So the best is run with as many\n"
	"fresh seeds, beside the scenario's own setting, and what is printed of it is from those. The exit\n"
	"code is 1 where with them it is not shown to keep what it is subject to.\n"
	"\n"
	"All settings meet the same seeds. DIR keeps the runs and trace.csv, a line a setting tried; the\n"
	"same command again, or with a larger budget, goes on from there.",
    .example =
	"tidelab tune service --minimize cost_total --subject-to 'attainment>=0.99' \\\n"
	"    --over cluster.nodes=3:8 --over policy.place=topology,best-fit --budget 120 \\\n"
	"    --seeds 1..3 -o tuned",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
