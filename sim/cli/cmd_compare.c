/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab compare: settings side by side, and what the differences are worth. */
#include "sim/cli/cli.h"

#include "results/metrics.h"
#include "sim/base/arena.h"
#include "sim/base/units.h"
#include "sim/cli/compare.h"
#include "sim/config/schema.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"metrics", 'm', "METRIC,..",
     "these, in this order; * stands for any letters, attainment for every service's"},
    {"all", 'a', NULL, "every metric, not only the telling ones"},
    {"where", 'w', "KEY=VALUE",
     "of sweeps, only cells with this setting; of one key again: with either; repeatable"},
    {"against", 0, "KEY=VALUE",
     "what the others are compared with: the cell with this setting; repeatable"},
    {"details", 'd', NULL,
     "each comparison in full, with bootstrap interval, ratio, effect size and p"},
    {"steady", 0, NULL, "also means after the warm-up, where runs have a timeline"},
    {"confidence", 0, "SHARE", "of the intervals and of the verdicts together; 0.95"},
    {"correct", 0, "METHOD", "for many metrics: holm, fdr (Benjamini-Hochberg) or none; holm"},
    {"anyway", 0, NULL, "compare other work or another horizon too"},
    {"json", 'j', NULL, "one array of comparisons, with all numbers"},
};

enum { OPERANDS_MAX = 64 };

struct pair {
	size_t a, b; /* numbers of sides */
};

struct job {
	const struct tl_args *args;
	struct tl_compare_options options;
	const char **where, **against;
	size_t where_count, against_count;
	struct tl_runs_list runs;
	size_t first[OPERANDS_MAX + 1]; /* of each operand's runs */
	struct tl_settling *settling;   /* of each of runs */
	int64_t steady_from_ns;
	struct pair *pairs;
	size_t pair_count;
	const char **known; /* every metric of any run */
	size_t known_count;
	const char **metrics; /* those to show */
	size_t metric_count;
	/* A pair: */
	struct tl_differences *differences;
	struct tl_comparison **rows;
	struct tl_shown *shown;
};

static void job_fini(struct job *job)
{
	for (size_t i = 0; i < job->pair_count && job->shown; i++) {
		tl_differences_fini(&job->differences[i]);
		free(job->rows[i]);
	}
	free(job->differences);
	free(job->rows);
	free(job->shown);
	tl_runs_list_fini(&job->runs);
	free(job->where);
	free(job->against);
	free(job->settling);
	free(job->pairs);
	free(job->known);
	free(job->metrics);
}

/* ---- what was asked ---- */

/* The settings by a flag; *out has room for all that were given. */
static enum tl_status take_settings(const struct tl_args *args, const char *flag, const char ***out,
                                    size_t *count, struct tl_error *error)
{
	*out = tl_calloc(args->given_count + 1, sizeof **out);
	for (size_t i = 0; i < args->given_count; i++) {
		const struct tl_given *given = &args->given[i];

		if (strcmp(given->flag->name, flag) != 0)
			continue;
		if (!strchr(given->value, '='))
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--%s: got `%.80s`, wanted KEY=VALUE", flag,
			                    given->value);
		(*out)[(*count)++] = given->value;
	}
	return TL_OK;
}

static enum tl_status take_flags(struct job *job, struct tl_error *error)
{
	static const char *const methods[] = {"holm", "fdr", "none"};
	const char *confidence = tl_args_value(job->args, "confidence");
	const char *method = tl_args_value(job->args, "correct");
	enum tl_status status;
	size_t m = 0;

	job->options = (struct tl_compare_options){.confidence = 0.95};
	job->options.bootstrap =
	    tl_args_has(job->args, "details") || tl_args_has(job->args, "json");
	status = take_settings(job->args, "where", &job->where, &job->where_count, error);
	if (status == TL_OK)
		status =
		    take_settings(job->args, "against", &job->against, &job->against_count, error);
	if (status != TL_OK)
		return status;
	if (confidence && (tl_parse_double(confidence, &job->options.confidence, NULL) != TL_OK ||
	                   !(job->options.confidence >= 0.5 && job->options.confidence < 1)))
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--confidence: got `%.40s`, wanted a number from 0.5 to less than 1",
		    confidence);
	while (method && m < 3 && strcmp(methods[m], method) != 0)
		m++;
	if (m == 3)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--correct: got `%.40s`, wanted holm, fdr or none", method);
	job->options.correction = (enum tl_correction)m;
	if (tl_args_has(job->args, "all") && tl_args_has(job->args, "metrics"))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "got --all and --metrics, wanted one of them");
	return TL_OK;
}

/* ---- which is compared with which ---- */

static bool same_cells(const struct job *job, size_t one, size_t other)
{
	const size_t count = job->first[one + 1] - job->first[one];

	if (job->first[other + 1] - job->first[other] != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(job->runs.items[job->first[one] + i]->cell,
		           job->runs.items[job->first[other] + i]->cell) != 0)
			return false;
	return true;
}

/* The one setting that --against names. */
static enum tl_status choose_reference(const struct job *job, size_t *out, struct tl_error *error)
{
	size_t matched = 0;
	char *wanted, *first, *second;

	for (size_t i = job->runs.count; i-- > 0;)
		if (tl_runs_match(job->runs.items[i], job->against, job->against_count)) {
			matched++;
			*out = i;
		}
	if (matched == 1)
		return TL_OK;
	wanted = tl_runs_where_text(job->against, job->against_count);
	if (matched == 0) {
		(void)tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                   "--against: no setting compared here has %.200s", wanted);
	} else {
		size_t other = *out + 1;

		while (!tl_runs_match(job->runs.items[other], job->against, job->against_count))
			other++;
		first = tl_runs_label(job->runs.items[*out]);
		second = tl_runs_label(job->runs.items[other]);
		(void)tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                   "--against: %zu settings have %.100s, as %.150s and %.150s, "
		                   "wanted one: name more of it",
		                   matched, wanted, first, second);
		free(first);
		free(second);
	}
	free(wanted);
	return TL_E_DATA;
}

/* Sweeps of the same cells: cell by cell. Else each setting against one, the first unless
 * --against says which. */
static enum tl_status choose_pairs(struct job *job, struct tl_error *error)
{
	const size_t operands = job->args->operand_count, cells = job->first[1];
	bool alike = operands > 1 && cells > 1 && job->against_count == 0;
	size_t reference = 0;
	enum tl_status status = TL_OK;

	if (job->runs.count < 2)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "got runs of one setting, %s, wanted two or more to compare",
		                    job->args->operands[0]);
	if (job->against_count > 0)
		status = choose_reference(job, &reference, error);
	for (size_t i = 1; i < operands; i++)
		alike = alike && same_cells(job, 0, i);
	job->pairs = tl_calloc(job->runs.count, sizeof *job->pairs);
	for (size_t i = alike ? cells : 0; i < job->runs.count && status == TL_OK; i++)
		if (alike || i != reference)
			job->pairs[job->pair_count++] =
			    (struct pair){alike ? i % cells : reference, i};
	return status;
}

/* ---- which metrics ---- */

static void learn_metrics(struct job *job)
{
	size_t room = 0;

	for (size_t r = 0; r < job->runs.count; r++)
		for (size_t m = 0; m < job->runs.items[r]->metric_count; m++) {
			const char *name = job->runs.items[r]->metrics[m];
			size_t i = 0;

			while (i < job->known_count && strcmp(job->known[i], name) != 0)
				i++;
			if (i < job->known_count)
				continue;
			job->known =
			    tl_grow(job->known, &room, job->known_count + 1, sizeof *job->known);
			job->known[job->known_count++] = name;
		}
	job->metrics = tl_calloc(job->known_count + 1, sizeof *job->metrics);
}

static bool has_value(const struct job *job, const char *metric)
{
	for (size_t r = 0; r < job->runs.count; r++) {
		const struct tl_runs *runs = job->runs.items[r];
		const size_t m = tl_runs_metric(runs, metric);

		for (size_t i = 0; i < runs->count && m < runs->metric_count; i++)
			if (!isnan(tl_runs_value(runs, m, i)))
				return true;
	}
	return false;
}

/* Those of the pattern that are not there yet; how many matched. Bare: each service's own. */
static size_t add_matching(struct job *job, const char *pattern, bool bare)
{
	size_t matched = 0;

	for (size_t i = 0; i < job->known_count; i++) {
		size_t m = 0;

		if (bare ? !tl_metric_is_one_of(job->known[i], pattern)
		         : fnmatch(pattern, job->known[i], 0) != 0)
			continue;
		matched++;
		while (m < job->metric_count && strcmp(job->metrics[m], job->known[i]) != 0)
			m++;
		if (m == job->metric_count)
			job->metrics[job->metric_count++] = job->known[i];
	}
	return matched;
}

static enum tl_status choose_metrics(struct job *job, struct tl_error *error)
{
	const char *asked = tl_args_value(job->args, "metrics");
	enum tl_status status = TL_OK;
	char *names, *name, *rest = NULL, hint[200];

	learn_metrics(job);
	for (size_t i = 0; i < job->known_count && !asked; i++)
		if (tl_args_has(job->args, "all") ||
		    (tl_metric_is_headline(job->known[i]) && has_value(job, job->known[i])))
			job->metrics[job->metric_count++] = job->known[i];
	if (!asked)
		return TL_OK;
	names = tl_strdup(asked);
	for (name = strtok_r(names, ",", &rest); name && status == TL_OK;
	     name = strtok_r(NULL, ",", &rest))
		if (add_matching(job, name, false) == 0 && add_matching(job, name, true) == 0)
			status = tl_error_set(
			    error, TL_E_USAGE, NULL, 0, 0, "--metrics: no metric `%.60s`%s", name,
			    tl_suggest_text(job->known, job->known_count, name, hint, sizeof hint));
	free(names);
	if (status == TL_OK && job->metric_count == 0)
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "--metrics: got no name, wanted METRIC,..");
	return status;
}

/* ---- reading ---- */

static enum tl_status load(struct job *job, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < job->args->operand_count && status == TL_OK; i++) {
		status = tl_runs_load(job->args->operands[i], job->where, job->where_count,
		                      &job->runs, error);
		job->first[i + 1] = job->runs.count;
	}
	return status;
}

static enum tl_status judge_settling(struct job *job, struct tl_error *error)
{
	const bool steady = tl_args_has(job->args, "steady");
	size_t judged = 0;
	enum tl_status status = TL_OK;

	job->steady_from_ns = -1;
	job->settling = tl_calloc(job->runs.count, sizeof *job->settling);
	for (size_t i = 0; i < job->runs.count && status == TL_OK; i++) {
		struct tl_settling *settling = &job->settling[i];

		status = tl_settling_judge(job->runs.items[i], settling, error);
		judged += settling->judged;
		/* One cut for all: what is left was met by all alike. */
		if (steady && settling->warmup_ns > job->steady_from_ns)
			job->steady_from_ns = settling->warmup_ns;
	}
	if (status == TL_OK && steady && judged == 0)
		status = tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                      "--steady: no run has a file with the table "
		                      "/cluster/timeline, wanted one");
	for (size_t i = 0; i < job->runs.count && status == TL_OK && steady; i++)
		status = tl_settling_add_steady(job->runs.items[i], job->steady_from_ns, error);
	return status;
}

/* ---- comparing ---- */

static enum tl_status compare_pair(struct job *job, size_t number, struct tl_error *error)
{
	const struct pair *pair = &job->pairs[number];
	const struct tl_runs *a = job->runs.items[pair->a], *b = job->runs.items[pair->b];
	struct tl_differences *differences = &job->differences[number];
	enum tl_status status = tl_differences_find(a, b, differences, error);

	if (status == TL_OK && !tl_args_has(job->args, "anyway"))
		status = tl_differences_check(a, b, differences, error);
	if (status != TL_OK)
		return status;
	job->rows[number] = tl_calloc(job->metric_count + 1, sizeof **job->rows);
	tl_compare(a, b, job->metrics, job->metric_count, &job->options, job->rows[number]);
	job->shown[number] = (struct tl_shown){.a = {a, job->settling[pair->a]},
	                                       .b = {b, job->settling[pair->b]},
	                                       .differences = differences,
	                                       .rows = job->rows[number],
	                                       .count = job->metric_count,
	                                       .options = job->options,
	                                       .steady_from_ns = job->steady_from_ns,
	                                       .details = tl_args_has(job->args, "details")};
	return TL_OK;
}

static enum tl_status compare_all(struct job *job, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	job->differences = tl_calloc(job->pair_count, sizeof *job->differences);
	job->rows = tl_calloc(job->pair_count, sizeof *job->rows);
	job->shown = tl_calloc(job->pair_count, sizeof *job->shown);
	for (size_t i = 0; i < job->pair_count && status == TL_OK; i++)
		status = compare_pair(job, i, error);
	return status;
}

/* Two settings in full, more of them a row each. */
static void print_all(const struct job *job)
{
	if (tl_args_has(job->args, "json")) {
		json_t *json = json_array();

		for (size_t i = 0; i < job->pair_count; i++)
			(void)json_array_append_new(json, tl_compare_json(&job->shown[i]));
		tl_print_json(json, stdout);
		return;
	}
	if (job->pair_count > 1 && !tl_args_has(job->args, "details")) {
		tl_compare_print_many(job->shown, job->pair_count, stdout);
		return;
	}
	for (size_t i = 0; i < job->pair_count; i++) {
		if (i > 0)
			(void)puts("");
		tl_compare_print(&job->shown[i], stdout);
	}
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct job job = {.args = args};
	enum tl_status status = take_flags(&job, error);

	(void)command;
	if (status == TL_OK)
		status = load(&job, error);
	if (status == TL_OK)
		status = choose_pairs(&job, error);
	if (status == TL_OK)
		status = judge_settling(&job, error);
	if (status == TL_OK)
		status = choose_metrics(&job, error);
	if (status == TL_OK)
		status = compare_all(&job, error);
	if (status == TL_OK)
		print_all(&job);
	job_fini(&job);
	return status;
}

const struct tl_command tl_command_compare = {
    .name = "compare",
    .summary = "settings side by side: what differs, by how much, and how sure",
    .operands = "RUNS...",
    .about =
	"RUNS is a result file, a folder of them (the same scenario under several seeds), a sweep's\n"
	"folder or the file merged of it. Two sweeps of the same cells are compared cell by cell; else\n"
	"every setting with the first, or with the one that --against names: two in full, more of them\n"
	"in a table of a row each, unless --details. Runs of one seed are compared as pairs, since they met the same\n"
	"arrivals and failures; without a common seed as samples. A difference counts as shown where\n"
	"its p-value, corrected for the number of metrics, is below 1 - SHARE; `not shown` says that\n"
	"these runs show none, not that there is none. Refused is what answers different questions:\n"
	"other work, or another horizon.",
    .example = "tidelab compare fifo.h5 sjf.h5 --metrics 'wait_*,cost_total'",
    TL_FLAGS(flags),
    .least = 1,
    .most = OPERANDS_MAX,
    .run = run,
};
