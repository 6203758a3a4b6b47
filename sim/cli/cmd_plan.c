/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab plan: the smallest size that keeps what is asked. */
#include "sim/cli/search.h"

#include "analysis/plan.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"largest", 0, NULL, "look for the largest value instead, as of an oversubscription ratio"},
    {"checks", 0, "N", "further values to look at, against surprises; 4"},
    TL_SEARCH_FLAGS,
};

enum { MOST_SIZES = 100000, CHECKS = 4, CHECKS_MAX = 10000 };

static const char *size_text(const struct tl_search_setup *setup, int rung)
{
	return tl_space_value(&setup->space, 0, rung);
}

/* The name of the constraint that decided a probe: of the worst verdict, the farthest off. */
static size_t weakest(const struct tl_search_setup *setup, const struct tl_plan_probe *probe)
{
	size_t at = 0;

	for (size_t i = 1; i < setup->constraint_count; i++)
		if (probe->judgements[i].verdict > probe->judgements[at].verdict ||
		    (probe->judgements[i].verdict == probe->judgements[at].verdict &&
		     probe->judgements[i].shortfall > probe->judgements[at].shortfall))
			at = i;
	return at;
}

static void print_table(const struct tl_search_setup *setup, const struct tl_plan *plan)
{
	char text[200];

	(void)printf("mean over %zu seeds, and its one-sided %g %% confidence limit\n%-24s",
	             setup->seeds.seed_count, 100 * setup->confidence, setup->space.ladders[0].key);
	for (size_t i = 0; i < setup->constraint_count; i++)
		(void)printf("  %-28s %12s",
		             tl_search_constraint_text(&setup->constraints[i], text, sizeof text),
		             "limit");
	(void)printf("  verdict\n");
	for (size_t i = 0; i < plan->count; i++) {
		const struct tl_plan_probe *probe = &plan->probes[i];

		(void)printf("%-24s", size_text(setup, probe->rung));
		for (size_t k = 0; k < setup->constraint_count; k++)
			(void)printf("  %-28.9g %12.9g", probe->judgements[k].mean,
			             probe->judgements[k].limit);
		(void)printf("  %s%s\n", tl_verdict_names[probe->verdict],
		             probe->rung == plan->answer ? "  <" : "");
	}
}

/* Where going on to the safe side did nothing, it is not for want of this. */
static void print_flat(const struct tl_search_setup *setup, const struct tl_plan_options *options,
                       const struct tl_plan *plan)
{
	const size_t end = options->largest ? 0 : plan->count - 1;
	const char *key = setup->space.ladders[0].key;

	for (size_t i = 0; i < setup->constraint_count; i++) {
		const size_t flat = tl_plan_flat(options, plan, i);

		if (flat == end || plan->probes[end].judgements[i].verdict == TL_VERDICT_HOLDS)
			continue;
		(void)printf(
		    "%s from %s %s changes nothing: %s is the same in every run there; look at "
		    "what else limits it\n",
		    key, size_text(setup, plan->probes[flat].rung),
		    options->largest ? "down" : "on", setup->constraints[i].metric);
	}
}

static void print_answer(const struct tl_search_setup *setup, const struct tl_plan *plan,
                         bool largest)
{
	const char *key = setup->space.ladders[0].key, *most = largest ? "largest" : "smallest";

	if (plan->answer < 0)
		(void)printf("\nno value of %s is shown to keep it, up to the %s end (%s)\n", key,
		             largest ? "low" : "high",
		             size_text(setup, largest ? 0 : setup->space.ladders[0].count - 1));
	else
		(void)printf(
		    "\n%s=%s: the %s value that keeps it with %g %% confidence, and so do "
		    "all on its safe side that were looked at%s\n",
		    key, size_text(setup, plan->answer), most, 100 * setup->confidence,
		    plan->at_end ? "; it is the end of the range, the answer may lie beyond" : "");
	if (!plan->monotone) {
		const struct tl_plan_probe *holds = &plan->probes[plan->holds];
		const struct tl_plan_probe *breaks = &plan->probes[plan->breaks];
		size_t at = weakest(setup, breaks);

		(void)printf("not monotone: %s=%s holds, yet on the safe side of it %s %s %s; ",
		             key, size_text(setup, holds->rung), size_text(setup, breaks->rung),
		             breaks->verdict == TL_VERDICT_FAILS ? "fails" : "is not shown to keep",
		             setup->constraints[at].metric);
		if (plan->chance < 1 - setup->confidence)
			(void)printf("the two differ beyond chance (p = %.2g)\n", plan->chance);
		else
			(void)printf("the two may differ by chance alone (p = %.2g): more seeds "
			             "would tell\n",
			             plan->chance);
	}
}

/* A constraint's metric: the value from which on it is the same in every run. */
static json_t *flat_json(const struct tl_search_setup *setup, const struct tl_plan_options *options,
                         const struct tl_plan *plan)
{
	json_t *all = json_object();

	for (size_t i = 0; i < setup->constraint_count; i++) {
		const size_t flat = tl_plan_flat(options, plan, i);

		if (flat != (options->largest ? 0 : plan->count - 1))
			(void)json_object_set_new(
			    all, setup->constraints[i].metric,
			    json_string(size_text(setup, plan->probes[flat].rung)));
	}
	return all;
}

static json_t *probe_json(const struct tl_search_setup *setup, const struct tl_plan_probe *probe)
{
	json_t *one = json_object(), *all = json_array();

	(void)json_object_set_new(one, "value", json_string(size_text(setup, probe->rung)));
	(void)json_object_set_new(one, "verdict", json_string(tl_verdict_names[probe->verdict]));
	for (size_t i = 0; i < setup->constraint_count; i++)
		(void)json_array_append_new(
		    all, tl_search_judgement_json(&setup->constraints[i], &probe->judgements[i]));
	(void)json_object_set_new(one, "constraints", all);
	return one;
}

static void print_json(const struct tl_search_setup *setup, const struct tl_plan_options *options,
                       const struct tl_plan *plan)
{
	const bool largest = options->largest;
	json_t *all = json_object(), *probes = json_array();

	(void)json_object_set_new(all, "key", json_string(setup->space.ladders[0].key));
	(void)json_object_set_new(all, "wanted", json_string(largest ? "largest" : "smallest"));
	(void)json_object_set_new(all, "answer",
	                          plan->answer < 0 ? json_null()
	                                           : json_string(size_text(setup, plan->answer)));
	(void)json_object_set_new(all, "at_end", json_boolean(plan->at_end));
	(void)json_object_set_new(all, "confidence", json_real(setup->confidence));
	(void)json_object_set_new(all, "seeds", json_integer((json_int_t)setup->seeds.seed_count));
	(void)json_object_set_new(all, "monotone", json_boolean(plan->monotone));
	if (!plan->monotone) {
		(void)json_object_set_new(
		    all, "holds", json_string(size_text(setup, plan->probes[plan->holds].rung)));
		(void)json_object_set_new(
		    all, "breaks", json_string(size_text(setup, plan->probes[plan->breaks].rung)));
		(void)json_object_set_new(all, "chance", tl_json_number(plan->chance));
	}
	for (size_t i = 0; i < plan->count; i++)
		(void)json_array_append_new(probes, probe_json(setup, &plan->probes[i]));
	(void)json_object_set_new(all, "same_from", flat_json(setup, options, plan));
	(void)json_object_set_new(all, "probes", probes);
	tl_print_json(all, stdout);
}

static enum tl_status check_axis(const struct tl_args *args, struct tl_error *error)
{
	const char *over = NULL;
	struct tl_axis axis;
	size_t count = 0;
	enum tl_status status;

	for (size_t i = 0; i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, "over") == 0) {
			over = args->given[i].value;
			count++;
		}
	if (count > 1)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--over: got %zu axes, wanted one", count);
	if (!tl_args_has(args, "subject-to"))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--subject-to is missing, wanted what must hold, as in "
		                    "'attainment>=0.999'");
	if (!over)
		return TL_OK; /* told with the other flags */
	status = tl_axis_parse("--over", over, &axis, error);
	if (status != TL_OK)
		return status;
	if (axis.count == 0 && !axis.whole)
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "--over: got the interval `%.80s`, wanted one of whole "
		                      "numbers, or FIRST:LAST:STEP",
		                      over);
	tl_axis_fini(&axis);
	return status;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	static const struct tl_search_terms terms = {
	    .verb = "plan", .seeds = "1..10", .most_rungs = MOST_SIZES, .ordered = true};
	bool largest = tl_args_has(args, "largest");
	struct tl_search_setup setup = {.args = args};
	struct tl_plan plan;
	size_t checks = CHECKS;
	enum tl_status status = check_axis(args, error);

	(void)command;
	if (status == TL_OK)
		status = tl_search_number(args, "checks", CHECKS_MAX, CHECKS, &checks, error);
	if (status == TL_OK)
		status = tl_search_setup_read(args, &terms, &setup, error);
	if (status == TL_OK)
		status = tl_search_setup_begin(&setup, &terms, error);
	const struct tl_plan_options options = {.space = &setup.space,
	                                        .largest = largest,
	                                        .constraints = setup.constraints,
	                                        .constraint_count = setup.constraint_count,
	                                        .seed_count = setup.seeds.seed_count,
	                                        .confidence = setup.confidence,
	                                        .checks = (int)checks,
	                                        .evaluate = tl_search_ask,
	                                        .context = &setup.search};

	if (status == TL_OK)
		status = tl_plan_search(&options, &plan, error);
	if (status == TL_OK) {
		if (tl_args_has(args, "json")) {
			print_json(&setup, &options, &plan);
		} else {
			print_table(&setup, &plan);
			print_answer(&setup, &plan, largest);
			print_flat(&setup, &options, &plan);
		}
		tl_search_note(&setup.search, stderr);
		if (plan.answer < 0)
			status = tl_error_set(error, TL_E_UNMET, NULL, 0, 0,
			                      "no value of %s is shown to keep what was asked",
			                      setup.space.ladders[0].key);
		tl_plan_fini(&plan);
	}
	tl_search_setup_close(&setup);
	return status;
}

const struct tl_command tl_command_plan = {
    .name = "plan",
    .summary = "find the smallest cluster that keeps what is asked",
    .operands = "[SCENARIO]",
    .about =
	"Bisects one axis with the same seeds at each value, so that values differ by nothing else. A\n"
	"constraint holds where the one-sided confidence limit of its mean over the seeds (Student's t)\n"
	"keeps the bound. Further values on either side are looked at besides: where more makes it\n"
	"worse somewhere, that is said, and the answer is the value from which on all that were looked\n"
	"at hold; where it does not hold at the far end, and from some value on nothing changes, that\n"
	"is said too: something else is the limit. A metric of services without a name (attainment) must hold for each of them. The exit\n"
	"code is 1 where no value is shown to keep what was asked.\n"
	"\n"
	"The runs are kept in DIR: the same command again, with more seeds or checks, runs only what is\n"
	"missing.",
    .example = "tidelab plan service --over cluster.nodes=2:12 --subject-to 'attainment>=0.99' \\\n"
	       "    --seeds 1..5 -o sizes",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
