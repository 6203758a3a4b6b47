/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab regress: CI's gate on the metrics of a policy. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/base/file.h"
#include "sim/cli/compare.h"
#include "sim/cli/regress.h"
#include "sim/config/schema.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct tl_flag flags[] = {
    {"tolerance", 't', "FILE", "margins a metric: metric,absolute,relative,test,gate lines"},
    {"junit", 0, "FILE", "write what was found as JUnit's XML too; replaced where it exists"},
    {"update", 'u', NULL, "write the candidate into the baseline, a text file; `#` lines stay"},
    {"where", 'w', "KEY=VALUE", "of sweeps, the cell with this setting; repeatable"},
    {"anyway", 0, NULL, "also where a baseline of runs has other work or another horizon"},
    {"all", 'a', NULL, "print every metric, not only those that moved"},
    {"json", 'j', NULL, "one object, a metric each"},
};

enum { OPERANDS_MAX = 1024 };

struct job {
	const struct tl_args *args;
	const char *path; /* of the baseline */
	const char **where;
	size_t where_count;
	bool text;                    /* the baseline is text, or will be */
	struct tl_baseline baseline;  /* text */
	struct tl_runs_list old, now; /* old: a baseline of runs */
	struct tl_tolerances tolerances;
};

static void job_fini(struct job *job)
{
	free(job->where);
	tl_baseline_fini(&job->baseline);
	tl_runs_list_fini(&job->old);
	tl_runs_list_fini(&job->now);
	tl_tolerances_fini(&job->tolerances);
}

static void take_where(struct job *job)
{
	job->where = tl_calloc(job->args->given_count + 1, sizeof *job->where);
	for (size_t i = 0; i < job->args->given_count; i++)
		if (strcmp(job->args->given[i].flag->name, "where") == 0)
			job->where[job->where_count++] = job->args->given[i].value;
}

/* ---- reading ---- */

/* Of one setting, and all of it: runs that failed would pass as values that nobody has. */
static enum tl_status one_setting(const struct tl_runs_list *list, struct tl_error *error)
{
	const struct tl_runs *first = list->items[0];

	if (list->count == 1 && first->missing > 0)
		return tl_error_set(error, TL_E_DATA, first->source, 0, 0,
		                    "%zu of %zu runs failed or are missing, wanted all",
		                    first->missing, first->count);
	if (list->count == 1)
		return TL_OK;
	return tl_error_set(
	    error, TL_E_DATA, first->source, 0, 0,
	    "got %zu settings, wanted one: --where KEY=VALUE takes a cell of a sweep "
	    "(here `%.80s` …)",
	    list->count, first->cell);
}

static enum tl_status read_candidate(struct job *job, struct tl_error *error)
{
	char *const *paths = job->args->operands + 1;
	const size_t count = job->args->operand_count - 1;
	enum tl_status status;

	if (count > 1)
		status = tl_runs_load_results("candidates", paths, count, &job->now, error);
	else
		status = tl_runs_load(paths[0], job->where, job->where_count, &job->now, error);
	return status == TL_OK ? one_setting(&job->now, error) : status;
}

/* HDF5 begins so; a folder holds runs; all else is a baseline's text. */
static bool holds_runs(const char *path)
{
	static const char mark[8] = "\x89HDF\r\n\x1a\n";
	char begins[sizeof mark];
	struct stat status;
	FILE *file = NULL;
	bool hdf5;

	if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return true;
	if (tl_file_open(path, &file, NULL) != TL_OK)
		return false;
	hdf5 = fread(begins, 1, sizeof begins, file) == sizeof begins &&
	       memcmp(begins, mark, sizeof mark) == 0;
	(void)fclose(file);
	return hdf5;
}

static enum tl_status read_baseline(struct job *job, struct tl_error *error)
{
	const bool update = tl_args_has(job->args, "update");
	struct stat there;
	enum tl_status status;

	job->text = !holds_runs(job->path);
	if (!job->text && update)
		return tl_error_set(error, TL_E_USAGE, job->path, 0, 0,
		                    "holds runs, wanted a text baseline to --update");
	if (job->text && update && stat(job->path, &there) != 0) {
		job->baseline =
		    (struct tl_baseline){.comments = tl_strdup(""),
		                         .seedless = true,
		                         .runs = tl_runs_new(job->path, &(uint64_t){0}, 1)};
		return TL_OK;
	}
	if (job->text)
		return tl_baseline_read(job->path, &job->baseline, error);
	status = tl_runs_load(job->path, job->where, job->where_count, &job->old, error);
	return status == TL_OK ? one_setting(&job->old, error) : status;
}

static enum tl_status check_question(const struct job *job, struct tl_error *error)
{
	struct tl_differences differences = {.items = NULL};
	enum tl_status status = TL_OK;

	if (job->text || tl_args_has(job->args, "anyway"))
		return TL_OK;
	status = tl_differences_find(job->old.items[0], job->now.items[0], &differences, error);
	if (status == TL_OK)
		status =
		    tl_differences_check(job->old.items[0], job->now.items[0], &differences, error);
	tl_differences_fini(&differences);
	return status;
}

/* A baseline of one run that does not say its seed is for whichever run there is. */
static enum tl_status settle_seed(struct job *job, struct tl_error *error)
{
	const struct tl_runs *now = job->now.items[0];

	if (!job->text || !job->baseline.seedless || tl_args_has(job->args, "update"))
		return TL_OK;
	if (job->baseline.runs->metric_count == 0)
		return tl_error_set(error, TL_E_DATA, job->path, 0, 0,
		                    "holds no metric; --update writes them");
	if (now->count != 1)
		return tl_error_set(error, TL_E_DATA, now->source, 0, 0,
		                    "got %zu runs, wanted one: %s is of one run", now->count,
		                    job->path);
	job->baseline.runs->seeds[0] = now->seeds[0];
	return TL_OK;
}

/* ---- judging ---- */

/* Margins of a metric that nobody has: a slip, or of a file for many scenarios. */
static void tell_unmatched(const struct job *job, const struct tl_gate *gate)
{
	const char **names = tl_calloc(gate->count + 1, sizeof *names);

	for (size_t i = 0; i < gate->count; i++)
		names[i] = gate->rows[i].metric;
	for (size_t i = 0; i < job->tolerances.count; i++) {
		const struct tl_tolerance *tolerance = &job->tolerances.items[i];
		const char *near = tl_suggest(names, gate->count, tolerance->pattern);
		bool matched = false;

		for (size_t m = 0; m < gate->count && !matched; m++)
			matched = fnmatch(tolerance->pattern, names[m], 0) == 0;
		if (matched)
			continue;
		(void)fprintf(stderr, "%s:%ld: `%.100s` matches no metric here%s%s%s\n",
		              tl_args_value(job->args, "tolerance"), tolerance->line,
		              tolerance->pattern, near ? "; did you mean `" : "", near ? near : "",
		              near ? "`?" : "");
	}
	free(names);
}

static enum tl_status write_junit(const struct tl_gate *gate, const char *path,
                                  struct tl_error *error)
{
	struct tl_output output;
	enum tl_status status = tl_output_open(&output, path, true, error);

	if (status != TL_OK)
		return status;
	tl_gate_junit(gate, output.file);
	return tl_output_close(&output, TL_OK, error);
}

static enum tl_status fail(const struct tl_gate *gate, struct tl_error *error)
{
	char names[240] = "";
	size_t used = 0;

	for (size_t i = 0; i < gate->count; i++) {
		const char *metric = gate->rows[i].metric;

		if (!tl_regress_fails(&gate->rows[i]))
			continue;
		if (used + strlen(metric) + 8 > sizeof names) {
			(void)snprintf(names + used, sizeof names - used, ", …");
			break;
		}
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
		                         used ? ", " : "", metric);
	}
	return tl_error_set(error, TL_E_REGRESSION, gate->baseline, 0, 0,
	                    "%zu of %zu metrics left their margins: %s", gate->failed,
	                    gate->count - gate->ignored, names);
}

static enum tl_status judge(const struct job *job, struct tl_error *error)
{
	const struct tl_runs *old = job->text ? job->baseline.runs : job->old.items[0];
	const struct tl_runs *now = job->now.items[0];
	const char *junit = tl_args_value(job->args, "junit");
	struct tl_regression *rows = NULL;
	struct tl_gate gate = {.baseline = job->path, .candidate = now->source};
	enum tl_status status = tl_regress(old, now, &job->tolerances, &rows, &gate.count, error);

	if (status != TL_OK)
		return status;
	gate.rows = rows;
	for (size_t i = 0; i < gate.count; i++) {
		gate.failed += tl_regress_fails(&rows[i]);
		gate.ignored += rows[i].state == TL_REGRESS_IGNORED;
	}
	tell_unmatched(job, &gate);
	if (tl_args_has(job->args, "json"))
		tl_print_json(tl_gate_json(&gate), stdout);
	else
		tl_gate_print(&gate, tl_args_has(job->args, "all"), stdout);
	if (junit)
		status = write_junit(&gate, junit, error);
	if (status == TL_OK && gate.failed > 0)
		status = fail(&gate, error);
	free(rows);
	return status;
}

static enum tl_status update(const struct job *job, struct tl_error *error)
{
	struct tl_output output;
	enum tl_status status = tl_output_open(&output, job->path, true, error);

	if (status != TL_OK)
		return status;
	tl_baseline_write(job->baseline.comments, job->now.items[0], output.file);
	status = tl_output_close(&output, TL_OK, error);
	if (status == TL_OK)
		(void)printf("%s: %zu metrics of %zu run%s\n", job->path,
		             job->now.items[0]->metric_count, job->now.items[0]->count,
		             job->now.items[0]->count == 1 ? "" : "s");
	return status;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct job job = {.args = args, .path = args->operands[0]};
	const char *tolerance = tl_args_value(args, "tolerance");
	enum tl_status status;

	(void)command;
	take_where(&job);
	status = read_baseline(&job, error);
	if (status == TL_OK && tolerance)
		status = tl_tolerances_read(tolerance, &job.tolerances, error);
	if (status == TL_OK)
		status = read_candidate(&job, error);
	if (status == TL_OK)
		status = check_question(&job, error);
	if (status == TL_OK)
		status = settle_seed(&job, error);
	if (status == TL_OK && tl_args_has(args, "update"))
		status = update(&job, error);
	else if (status == TL_OK)
		status = judge(&job, error);
	job_fini(&job);
	return status;
}

const struct tl_command tl_command_regress = {
    .name = "regress",
    .summary = "did metrics leave the margins of their baseline? CI's gate",
    .operands = "BASELINE RUNS...",
    .about =
	"BASELINE is a committed text file that --update writes, or runs: a result file, a folder of\n"
	"them, a sweep with --where. RUNS is one of the latter, or several result files of one scenario.\n"
	"One run a side: every value is compared, exactly where nothing else is said. Several seeds: a\n"
	"metric fails where they show a movement beyond its margin, paired by seed where they share\n"
	"seeds, with Holm's correction, so that other seeds alone fail one gate in twenty at most. It fails\n"
	"too where other runs than before have a value of it: those left would be judged alone.\n"
	"In a tolerance file the first line names its columns; the first pattern that matches decides:\n"
	"the margin is absolute + relative x size; test is value, difference, equivalence (fails unless\n"
	"the seeds show that the metric is within the margin) or ignore; gate worse lets improve.\n"
	"The exit code is 0 where all held, 1 where a metric left its margin.",
    .example =
	"tidelab regress baselines/mine.csv mine.h5 --tolerance margins.csv --junit gate.xml",
    TL_FLAGS(flags),
    .least = 2,
    .most = OPERANDS_MAX,
    .run = run,
};
