/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cli/search.h"

#include "results/metrics.h"
#include "sim/base/arena.h"
#include "sim/base/units.h"
#include "sim/config/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- flags ---- */

static size_t given_times(const struct tl_args *args, const char *flag)
{
	size_t count = 0;

	for (size_t i = 0; i < args->given_count; i++)
		count += strcmp(args->given[i].flag->name, flag) == 0;
	return count;
}

enum tl_status tl_search_number(const struct tl_args *args, const char *flag, size_t most,
                                size_t otherwise, size_t *out, struct tl_error *error)
{
	const char *text = tl_args_value(args, flag);
	int64_t number = 0;

	*out = otherwise;
	if (!text)
		return TL_OK;
	if (tl_parse_int(text, &number, NULL) != TL_OK || number < 1 || (uint64_t)number > most)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--%s: got `%.40s`, wanted a number from 1 to %zu", flag, text,
		                    most);
	*out = (size_t)number;
	return TL_OK;
}

static enum tl_status take_axes(struct tl_search_setup *setup, struct tl_error *error)
{
	const struct tl_args *args = setup->args;

	setup->axes = tl_calloc(given_times(args, "over") + 1, sizeof *setup->axes);
	for (size_t i = 0; i < args->given_count; i++) {
		struct tl_axis *axis = &setup->axes[setup->axis_count];
		enum tl_status status;

		if (strcmp(args->given[i].flag->name, "over") != 0)
			continue;
		status = tl_axis_parse("--over", args->given[i].value, axis, error);
		if (status != TL_OK)
			return status;
		setup->axis_count++;
		if (strcmp(axis->key, "seed") == 0)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--over seed: seeds are no axis, --seeds names them");
	}
	if (setup->axis_count == 0)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--over is missing, wanted an axis, as in "
		                    "--over oversubscription=1.0:1.5");
	if (setup->axis_count > TL_DESIGN_AXES_MAX)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--over: got %zu axes, wanted at most %d", setup->axis_count,
		                    TL_DESIGN_AXES_MAX);
	return TL_OK;
}

static enum tl_status take_constraints(struct tl_search_setup *setup, struct tl_error *error)
{
	const struct tl_args *args = setup->args;
	const char *confidence = tl_args_value(args, "confidence");

	setup->constraints =
	    tl_calloc(given_times(args, "subject-to") + 1, sizeof *setup->constraints);
	for (size_t i = 0; i < args->given_count; i++) {
		enum tl_status status;

		if (strcmp(args->given[i].flag->name, "subject-to") != 0)
			continue;
		status = tl_constraint_parse(args->given[i].value,
		                             &setup->constraints[setup->constraint_count], error);
		if (status != TL_OK)
			return status;
		setup->constraint_count++;
	}
	setup->confidence = 0.95;
	if (confidence && (tl_parse_double(confidence, &setup->confidence, NULL) != TL_OK ||
	                   !(setup->confidence > 0.5 && setup->confidence < 1)))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--confidence: got `%.40s`, wanted a number above 0.5 and "
		                    "below 1",
		                    confidence);
	return TL_OK;
}

/* Those given, and behind them as many fresh ones as wanted. */
static enum tl_status take_seeds(struct tl_search_setup *setup, const struct tl_search_terms *terms,
                                 struct tl_error *error)
{
	const char *given = tl_args_value(setup->args, "seeds");
	struct tl_design *seeds = &setup->seeds;
	uint64_t last = 0;
	size_t count;
	enum tl_status status;

	tl_design_init(seeds, terms->verb, NULL, 0);
	status = tl_design_seeds_parse(seeds, given ? given : terms->seeds, error);
	if (status != TL_OK)
		return status;
	count = seeds->seed_count;
	if (count < 2)
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--seeds: got one seed, wanted two at least: of one run nothing "
		    "can be said with confidence");
	for (size_t i = 0; i < count; i++)
		last = seeds->seeds[i] > last ? seeds->seeds[i] : last;
	if (terms->fresh_seeds_a_seed > 0 && last > INT64_MAX - count * terms->fresh_seeds_a_seed)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--seeds: got %llu, wanted room for fresh seeds behind it",
		                    (unsigned long long)last);
	for (size_t i = 0; i < count * terms->fresh_seeds_a_seed; i++)
		tl_design_seed(seeds, last + 1 + i);
	return TL_OK;
}

/* ---- settings that the scenario does not take ---- */

/* value NULL: the scenario as it is. */
static enum tl_status identify(const struct tl_search_setup *setup, const char *key,
                               const char *value, char hash[TL_SHA256_HEX], struct tl_error *error)
{
	const struct tl_subject *subject = &setup->subject;
	struct tl_design design;
	enum tl_status status;

	tl_design_init(&design, "one", &key, 1);
	(void)tl_design_add(&design, &value);
	status =
	    subject->identify(subject->context, &design, 0, setup->seeds.seeds[0], hash, error);
	tl_design_fini(&design);
	return status;
}

/* Each axis alone: the ends of an order and its first step, and every choice. */
static enum tl_status try_axes(struct tl_search_setup *setup, struct tl_error *error)
{
	for (size_t i = 0; i < setup->axis_count; i++) {
		const struct tl_ladder *ladder = &setup->space.ladders[i];

		for (int rung = 0; rung < ladder->count; rung++) {
			char hash[TL_SHA256_HEX];
			enum tl_status status = TL_OK;

			if (!ladder->ordered || rung < 2 || rung == ladder->count - 1)
				status =
				    identify(setup, setup->axes[i].key,
				             tl_space_value(&setup->space, i, rung), hash, error);
			if (status != TL_OK)
				return status;
		}
	}
	return TL_OK;
}

/* The scenario's own value of each axis: only where the run that has it given is that of the
 * scenario as it is (a module's options go where the module is named anew). */
static enum tl_status learn_own(struct tl_search_setup *setup, struct tl_error *error)
{
	const struct tl_subject *subject = &setup->subject;
	char plain[TL_SHA256_HEX], hash[TL_SHA256_HEX];
	const char *key = setup->axes[0].key, *value = NULL;
	enum tl_status status = identify(setup, key, value, plain, error);

	setup->own = tl_calloc(setup->axis_count + 1, sizeof *setup->own);
	for (size_t i = 0; i < setup->axis_count && status == TL_OK; i++) {
		struct tl_error unwanted = TL_ERROR_INIT;

		setup->own[i] = tl_subject_own(subject, setup->axes[i].key);
		if (!setup->own[i] ||
		    (identify(setup, setup->axes[i].key, setup->own[i], hash, &unwanted) == TL_OK &&
		     strcmp(hash, plain) == 0))
			continue;
		free(setup->own[i]);
		setup->own[i] = NULL;
	}
	return status;
}

/* ---- metrics by their names ---- */

static enum tl_status resolve(const char *flag, const char *name, char *const *names, size_t count,
                              struct tl_measure *out, struct tl_error *error)
{
	char near[300];

	out->metrics = tl_calloc(count + 1, sizeof *out->metrics);
	out->count = 0;
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			out->metrics[out->count++] = tl_strdup(name);
	for (size_t i = 0; i < count && (out->count == 0 || strcmp(out->metrics[0], name) != 0);
	     i++)
		if (tl_metric_is_one_of(names[i], name))
			out->metrics[out->count++] = tl_strdup(names[i]);
	if (out->count > 0)
		return TL_OK;
	return tl_error_set(
	    error, TL_E_USAGE, NULL, 0, 0, "--%s: this scenario has no metric `%.60s`%s", flag,
	    name, tl_suggest_text((const char *const *)names, count, name, near, sizeof near));
}

static enum tl_status resolve_objective(struct tl_search_setup *setup, const char *flag,
                                        char *const *names, size_t count, struct tl_error *error)
{
	struct tl_measure *measure = &setup->measures[setup->measure_count];
	const char *name = tl_args_value(setup->args, flag);
	enum tl_status status = resolve(flag, name, names, count, measure, error);

	setup->measure_count++;
	if (status == TL_OK && measure->count > 1)
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--%s: got `%.60s`, which several services have, wanted that of "
		    "one, as in %s",
		    flag, name, measure->metrics[0]);
	if (status == TL_OK)
		setup->objective = tl_strdup(measure->metrics[0]);
	return status;
}

static enum tl_status take_measures(struct tl_search_setup *setup,
                                    const struct tl_search_terms *terms, struct tl_error *error)
{
	char **names = NULL;
	size_t count = 0;
	enum tl_status status = tl_search_names(&setup->search, &names, &count, error);

	setup->measures = tl_calloc(setup->constraint_count + 1, sizeof *setup->measures);
	if (status == TL_OK && terms->objective_flag)
		status = resolve_objective(setup, terms->objective_flag, names, count, error);
	for (size_t i = 0; i < setup->constraint_count && status == TL_OK; i++) {
		struct tl_measure *measure = &setup->measures[setup->measure_count++];

		measure->high_is_worse = !setup->constraints[i].at_least;
		status = resolve("subject-to", setup->constraints[i].metric, names, count, measure,
		                 error);
	}
	setup->search.measures = setup->measures;
	setup->search.measure_count = setup->measure_count;
	tl_search_names_free(names, count);
	return status;
}

/* ---- the whole ---- */

/* Not of it: seeds, budget and confidence, with which a search may go on. */
static char *identity_of(const struct tl_search_setup *setup, const struct tl_search_terms *terms)
{
	char *text = NULL, hash[TL_SHA256_HEX], bound[200];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out ||
	    tl_sha256_bytes(setup->subject.text, strlen(setup->subject.text), hash, NULL) != TL_OK)
		tl_out_of_memory(0);
	(void)fprintf(out, "search: %s\n", terms->verb);
	for (size_t i = 0; i < setup->args->given_count; i++)
		if (strcmp(setup->args->given[i].flag->name, "over") == 0)
			(void)fprintf(out, "over: %s\n", setup->args->given[i].value);
	if (terms->objective_flag)
		(void)fprintf(out, "%s: %s\n", terms->objective_flag,
		              tl_args_value(setup->args, terms->objective_flag));
	for (size_t i = 0; i < setup->constraint_count; i++)
		(void)fprintf(
		    out, "subject to: %s\n",
		    tl_search_constraint_text(&setup->constraints[i], bound, sizeof bound));
	(void)fprintf(out, "scenario: %s, sha256 %s\n", setup->subject.name, hash);
	if (fclose(out) != 0)
		tl_out_of_memory(size);
	return text;
}

static enum tl_status check_order(const struct tl_search_setup *setup, struct tl_error *error)
{
	for (size_t i = 0; i < setup->space.count; i++)
		if (!setup->space.ladders[i].ordered)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--over %s: got choices, wanted numbers",
			                    setup->axes[i].key);
	return TL_OK;
}

enum tl_status tl_search_setup_read(const struct tl_args *args, const struct tl_search_terms *terms,
                                    struct tl_search_setup *out, struct tl_error *error)
{
	enum tl_status status;

	*out = (struct tl_search_setup){.args = args};
	out->options.dir = tl_args_value(args, "output");
	out->options.diagnostics = stderr;
	status = tl_sweep_options_from_args(args, &out->options, error);
	if (status == TL_OK && !out->options.dir)
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "--output DIR is missing, wanted the folder of the runs");
	if (status == TL_OK)
		status = tl_subject_check_seed(args, error);
	if (status == TL_OK)
		status = take_axes(out, error);
	if (status == TL_OK)
		status = take_constraints(out, error);
	if (status == TL_OK)
		status = take_seeds(out, terms, error);
	if (status == TL_OK)
		status = tl_space_of_axes(out->axes, out->axis_count, terms->most_rungs,
		                          &out->space, error);
	if (status == TL_OK && terms->ordered)
		status = check_order(out, error);
	if (status == TL_OK)
		status = tl_subject_from_args(args, &out->subject, error);
	if (status == TL_OK)
		status = try_axes(out, error);
	if (status == TL_OK)
		status = learn_own(out, error);
	return status;
}

enum tl_status tl_search_setup_begin(struct tl_search_setup *setup,
                                     const struct tl_search_terms *terms, struct tl_error *error)
{
	char *identity = identity_of(setup, terms);
	enum tl_status status;

	setup->options.identity = identity;
	status = tl_sweep_open(&setup->options, &setup->subject, &setup->search.sweep, error);
	free(identity);
	setup->search.subject = &setup->subject;
	setup->search.space = &setup->space;
	setup->search.own = setup->own;
	setup->search.seeds = setup->seeds.seeds;
	if (status != TL_OK)
		return status;
	status = take_measures(setup, terms, error);
	/* A metric that there is not: no run of these terms will be asked for again. */
	if (status == TL_E_USAGE)
		tl_sweep_discard(setup->search.sweep);
	return status;
}

void tl_search_setup_close(struct tl_search_setup *setup)
{
	tl_sweep_close(setup->search.sweep);
	for (size_t i = 0; i < setup->measure_count; i++)
		tl_search_names_free(setup->measures[i].metrics, setup->measures[i].count);
	free(setup->measures);
	for (size_t i = 0; i < setup->constraint_count; i++)
		tl_constraint_fini(&setup->constraints[i]);
	free(setup->constraints);
	if (setup->seeds.name)
		tl_design_fini(&setup->seeds);
	tl_space_fini(&setup->space);
	if (setup->own)
		tl_search_names_free(setup->own, setup->axis_count);
	for (size_t i = 0; i < setup->axis_count; i++)
		tl_axis_fini(&setup->axes[i]);
	free(setup->axes);
	if (setup->subject.context)
		tl_subject_fini(&setup->subject);
	free(setup->objective);
	*setup = (struct tl_search_setup){.args = NULL};
}

void tl_search_note(const struct tl_search *search, FILE *out)
{
	if (search->left_out > 0.0)
		(void)fprintf(out,
		              "in some runs the horizon came before up to %.3g %% of the jobs were "
		              "submitted: the metrics tell nothing of those\n",
		              100.0 * search->left_out);
}

const char *tl_search_constraint_text(const struct tl_constraint *constraint, char *buffer,
                                      size_t size)
{
	(void)snprintf(buffer, size, "%s %s %.15g", constraint->metric,
	               constraint->at_least ? ">=" : "<=", constraint->bound);
	return buffer;
}

json_t *tl_search_judgement_json(const struct tl_constraint *constraint,
                                 const struct tl_judgement *judgement)
{
	json_t *one = json_object();

	(void)json_object_set_new(one, "metric", json_string(constraint->metric));
	(void)json_object_set_new(one, constraint->at_least ? "at_least" : "at_most",
	                          json_real(constraint->bound));
	(void)json_object_set_new(one, "verdict",
	                          json_string(tl_verdict_names[judgement->verdict]));
	(void)json_object_set_new(one, "mean", tl_json_number(judgement->mean));
	(void)json_object_set_new(one, "limit", tl_json_number(judgement->limit));
	return one;
}
