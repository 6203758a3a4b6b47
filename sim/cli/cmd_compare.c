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
    {"metrics", 'm', "METRIC,..", "these, in this order; * stands for any letters"},
    {"all", 'a', NULL, "every metric, not only the telling ones"},
    {"where", 'w', "KEY=VALUE", "of sweeps, only cells with this setting; repeatable"},
    {"details", 'd', NULL, "bootstrap interval, ratio, effect size and p of each metric"},
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
	const char **where;
	size_t where_count;
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
};

static void job_fini(struct job *job)
{
	tl_runs_list_fini(&job->runs);
	free(job->where);
	free(job->settling);
	free(job->pairs);
	free(job->known);
	free(job->metrics);
}

/* ---- what was asked ---- */

static enum tl_status take_flags(struct job *job, struct tl_error *error)
{
	static const char *const methods[] = {"holm", "fdr", "none"};
	const char *confidence = tl_args_value(job->args, "confidence");
	const char *method = tl_args_value(job->args, "correct");
	size_t m = 0;

	job->options = (struct tl_compare_options){.confidence = 0.95};
	job->options.bootstrap =
	    tl_args_has(job->args, "details") || tl_args_has(job->args, "json");
	job->where = tl_calloc(job->args->given_count + 1, sizeof *job->where);
	for (size_t i = 0; i < job->args->given_count; i++) {
		const struct tl_given *given = &job->args->given[i];

		if (strcmp(given->flag->name, "where") != 0)
			continue;
		if (!strchr(given->value, '='))
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--where: got `%.80s`, wanted KEY=VALUE", given->value);
		job->where[job->where_count++] = given->value;
	}
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

/* Sweeps of the same cells: cell by cell. Else each setting against the first. */
static enum tl_status choose_pairs(struct job *job, struct tl_error *error)
{
	const size_t operands = job->args->operand_count, cells = job->first[1];
	bool alike = operands > 1 && cells > 1;

	if (job->runs.count < 2)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "got runs of one setting, %s, wanted two or more to compare",
		                    job->args->operands[0]);
	for (size_t i = 1; i < operands; i++)
		alike = alike && same_cells(job, 0, i);
	job->pairs = tl_calloc(job->runs.count, sizeof *job->pairs);
	for (size_t i = alike ? cells : 1; i < job->runs.count; i++)
		job->pairs[job->pair_count++] = (struct pair){alike ? i % cells : 0, i};
	return TL_OK;
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

/* Those that match and are not there yet; how many matched. */
static size_t add_matching(struct job *job, const char *pattern)
{
	size_t matched = 0;

	for (size_t i = 0; i < job->known_count; i++) {
		size_t m = 0;

		if (fnmatch(pattern, job->known[i], 0) != 0)
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
		if (add_matching(job, name) == 0)
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

static enum tl_status compare_pair(const struct job *job, const struct pair *pair, json_t *json,
                                   struct tl_error *error)
{
	const struct tl_runs *a = job->runs.items[pair->a], *b = job->runs.items[pair->b];
	struct tl_comparison *rows = tl_calloc(job->metric_count + 1, sizeof *rows);
	struct tl_differences differences = {.items = NULL};
	enum tl_status status = tl_differences_find(a, b, &differences, error);

	if (status == TL_OK && !tl_args_has(job->args, "anyway"))
		status = tl_differences_check(a, b, &differences, error);
	if (status == TL_OK) {
		const struct tl_shown shown = {.a = {a, job->settling[pair->a]},
		                               .b = {b, job->settling[pair->b]},
		                               .differences = &differences,
		                               .rows = rows,
		                               .count = job->metric_count,
		                               .options = job->options,
		                               .steady_from_ns = job->steady_from_ns,
		                               .details = tl_args_has(job->args, "details")};

		tl_compare(a, b, job->metrics, job->metric_count, &job->options, rows);
		if (json) {
			(void)json_array_append_new(json, tl_compare_json(&shown));
		} else {
			if (pair != job->pairs)
				(void)puts("");
			tl_compare_print(&shown, stdout);
		}
	}
	tl_differences_fini(&differences);
	free(rows);
	return status;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct job job = {.args = args};
	json_t *json = NULL;
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
	if (status == TL_OK && tl_args_has(args, "json"))
		json = json_array();
	for (size_t i = 0; i < job.pair_count && status == TL_OK; i++)
		status = compare_pair(&job, &job.pairs[i], json, error);
	if (status == TL_OK && json)
		tl_print_json(json, stdout);
	else
		json_decref(json);
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
	"every setting with the first. Runs of one seed are compared as pairs, since they met the same\n"
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
