/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep at work: what is missing is started, what ends is looked at and noted. */
#include "analysis/sweep_private.h"

#include "sim/base/arena.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INTERRUPTED = 130, CANNOT_CREATE = 73, IO_FAILED = 74 };

struct work {
	struct tl_sweep *sweep;
	const struct tl_design *design;
	struct tl_sweep_run *runs;
	size_t count;
	size_t *order;         /* by hash */
	struct tl_task *tasks; /* what is to be started */
	size_t *subjects;      /* a task: the run it makes, the first with its hash */
	size_t task_count;
	size_t present, failed, ended; /* of distinct results: there at the start; of tasks */
	size_t stopped_by;             /* the run that found the disk full; count: none */
	int64_t started_ns;
	bool line_shown;
	struct tl_error *error;
};

static int64_t clock_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * TL_NS_PER_S + now.tv_nsec;
}

/* ---- which runs ---- */

static enum tl_status identify(struct work *work)
{
	const struct tl_subject *subject = work->sweep->subject;
	size_t seeds = work->design->seed_count;

	for (size_t i = 0; i < work->count; i++) {
		struct tl_sweep_run *run = &work->runs[i];
		enum tl_status status = tl_stop_check(work->error);

		run->cell = i / seeds;
		run->seed = work->design->seeds[i % seeds];
		if (status == TL_OK)
			status = subject->identify(subject->context, work->design, run->cell,
			                           run->seed, run->hash, work->error);
		if (status != TL_OK)
			return status;
	}
	return TL_OK;
}

static bool first_of_hash(const struct work *work, size_t at)
{
	return at == 0 ||
	       strcmp(work->runs[work->order[at]].hash, work->runs[work->order[at - 1]].hash) != 0;
}

static void add_word(char **argv, size_t *count, const char *word)
{
	argv[(*count)++] = tl_strdup(word);
}

static char **command_of(const struct work *work, const struct tl_sweep_run *run,
                         const char *output)
{
	char *const *base = work->sweep->subject->argv;
	size_t length = 0, count = 0;
	char **argv, seed[32];

	while (base[length])
		length++;
	argv = tl_calloc(length + 2 * work->design->key_count + 8, sizeof *argv);
	for (size_t i = 0; i < length; i++)
		add_word(argv, &count, base[i]);
	for (size_t key = 0; key < work->design->key_count; key++) {
		const char *value = tl_design_value(work->design, run->cell, key);
		const char *name = work->design->keys[key];

		if (!value)
			continue;
		add_word(argv, &count, "--set");
		argv[count++] = tl_format("%s=%s", name, value);
	}
	(void)snprintf(seed, sizeof seed, "%" PRIu64, run->seed);
	add_word(argv, &count, "--seed");
	add_word(argv, &count, seed);
	add_word(argv, &count, "--output");
	add_word(argv, &count, output);
	/* What stands there was judged: it is cut short, or a copy from a life before. */
	add_word(argv, &count, "--force");
	return argv;
}

static void add_task(struct work *work, size_t run)
{
	struct tl_task *task = &work->tasks[work->task_count];
	const char *hash = work->runs[run].hash;
	char *output = tl_run_path(work->sweep->dir, hash);

	task->argv = command_of(work, &work->runs[run], output);
	task->output = output;
	task->log = tl_format("%s/logs/%s.log", work->sweep->dir, hash);
	work->subjects[work->task_count++] = run;
}

/* In the order of the design, so that what is wanted first is started first. */
static void find_missing(struct work *work)
{
	bool *wanted = tl_calloc(work->count + 1, sizeof *wanted);

	work->order = tl_runs_by_hash(work->runs, work->count);
	work->tasks = tl_calloc(work->count + 1, sizeof *work->tasks);
	work->subjects = tl_calloc(work->count + 1, sizeof *work->subjects);
	for (size_t at = 0; at < work->count; at++) {
		struct tl_sweep_run *run = &work->runs[work->order[at]];
		char *path;

		if (!first_of_hash(work, at))
			continue;
		path = tl_run_path(work->sweep->dir, run->hash);
		if (tl_run_read(path, run->hash, NULL, NULL, NULL) == TL_OK) {
			run->state = TL_RUN_DONE;
			work->present++;
		} else {
			wanted[work->order[at]] = true;
		}
		free(path);
	}
	for (size_t i = 0; i < work->count; i++)
		if (wanted[i])
			add_task(work, i);
	free(wanted);
}

static void spread_states(struct work *work)
{
	const struct tl_sweep_run *first = NULL;

	for (size_t at = 0; at < work->count; at++) {
		struct tl_sweep_run *run = &work->runs[work->order[at]];

		if (first_of_hash(work, at)) {
			first = run;
			continue;
		}
		run->state = first->state;
		run->exit_code = first->exit_code;
		free(run->reason);
		run->reason = first->reason ? tl_strdup(first->reason) : NULL;
	}
}

static enum tl_status prepare(struct work *work, struct tl_sweep *sweep,
                              const struct tl_design *design, struct tl_error *error)
{
	*work = (struct work){.sweep = sweep, .design = design, .error = error};
	work->count = design->cell_count * design->seed_count;
	work->stopped_by = work->count;
	work->runs = tl_calloc(work->count + 1, sizeof *work->runs);
	if (work->count > TL_DESIGN_RUNS_MAX) {
		(void)tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                   "got %zu cells of %zu seeds, wanted at most %d runs in all",
		                   design->cell_count, design->seed_count, TL_DESIGN_RUNS_MAX);
		return TL_E_USAGE;
	}
	enum tl_status status = identify(work);

	if (status == TL_OK)
		find_missing(work);
	return status;
}

static void release(struct work *work)
{
	for (size_t i = 0; i < work->task_count; i++) {
		for (char **word = work->tasks[i].argv; *word; word++)
			free(*word);
		free(work->tasks[i].argv);
		free((void *)(uintptr_t)work->tasks[i].output);
		free((void *)(uintptr_t)work->tasks[i].log);
	}
	free(work->tasks);
	free(work->subjects);
	free(work->order);
}

/* ---- what is told meanwhile ---- */

static void clear_line(struct work *work)
{
	if (work->line_shown)
		(void)fputs("\r\033[K", work->sweep->options.progress);
	work->line_shown = false;
}

static void show_progress(struct work *work)
{
	FILE *out = work->sweep->options.progress;
	int64_t spent_ns = clock_ns() - work->started_ns;
	size_t left = work->task_count - work->ended;
	char when[48];

	if (!out || spent_ns < TL_NS_PER_S)
		return;
	work->line_shown = true;
	(void)fprintf(out, "\r\033[K%zu of %zu runs done",
	              work->present + work->ended - work->failed, work->present + work->task_count);
	if (work->failed > 0)
		(void)fprintf(out, ", %zu failed", work->failed);
	if (work->ended > 0 && left > 0)
		(void)fprintf(out, ", %s to go",
		              tl_format_duration(
				  (int64_t)((double)spent_ns * (double)left / (double)work->ended) /
				      TL_NS_PER_S * TL_NS_PER_S,
				  when, sizeof when));
	(void)fflush(out);
}

static void tell_failure(struct work *work, const struct tl_sweep_run *run)
{
	FILE *out = work->sweep->options.diagnostics;
	char text[400];

	if (!out)
		return;
	clear_line(work);
	(void)fprintf(out, "failed: %s: %s\n",
	              tl_run_describe(work->design, run, text, sizeof text), run->reason);
}

/* ---- runs that end ---- */

static void fail(struct tl_sweep_run *run, int exit_code, const char *reason)
{
	run->state = TL_RUN_FAILED;
	run->exit_code = exit_code;
	free(run->reason);
	run->reason = tl_strdup(reason);
}

/* The result is read, and on the disk, before it counts as there. */
static void judge(struct tl_sweep_run *run, const struct tl_task *task,
                  const struct tl_task_end *end)
{
	struct tl_error why = TL_ERROR_INIT;
	enum tl_status status;

	if (end->exit_code != 0) {
		fail(run, end->exit_code, end->reason);
		return;
	}
	status = tl_run_read(task->output, run->hash, NULL, NULL, &why);
	if (status == TL_OK)
		status = tl_sync_path(task->output, &why);
	if (status == TL_OK) {
		run->state = TL_RUN_DONE;
		(void)unlink(task->log);
		return;
	}
	fail(run, tl_status_exit_code(status), why.message);
	/* Of something else than asked for, by now: it would be in the way. */
	(void)unlink(task->output);
}

static enum tl_status take_end(struct work *work, const struct tl_task_end *end,
                               struct tl_error *error)
{
	struct tl_sweep *sweep = work->sweep;
	struct tl_sweep_run *run = &work->runs[work->subjects[end->task]];
	enum tl_status status;

	work->ended++;
	/* Whom ^C reached before us was not at fault. */
	if (end->cancelled || end->exit_code == INTERRUPTED)
		return TL_OK;
	judge(run, &work->tasks[end->task], end);
	status = tl_manifest_note(sweep->manifest, run, error);
	if (run->state != TL_RUN_FAILED)
		return status;
	work->failed++;
	tell_failure(work, run);
	/* A full disk fails them all: what is left is for a later start. */
	if ((run->exit_code == IO_FAILED || run->exit_code == CANNOT_CREATE) &&
	    work->stopped_by == work->count) {
		work->stopped_by = work->subjects[end->task];
		sweep->options.executor->cancel(sweep->executor, false);
	}
	return status;
}

static enum tl_status carry_out(struct work *work)
{
	struct tl_sweep *sweep = work->sweep;
	const struct tl_executor *executor = sweep->options.executor;
	enum tl_status status =
	    executor->submit(sweep->executor, work->tasks, work->task_count, work->error);
	bool stopping = false;

	if (status != TL_OK)
		return status;
	while (work->ended < work->task_count) {
		/* The first failure is the one to be told. */
		struct tl_error *error = status == TL_OK ? work->error : NULL;
		struct tl_task_end end;
		bool ended = false;
		enum tl_status now;

		if (!stopping && (status != TL_OK || tl_stop_asked())) {
			stopping = true;
			executor->cancel(sweep->executor, true);
		}
		now = executor->wait(sweep->executor, TL_NS_PER_S, &end, &ended, error);
		if (now != TL_OK)
			return status == TL_OK ? now : status;
		if (ended)
			now = take_end(work, &end, error);
		if (status == TL_OK)
			status = now;
		show_progress(work);
	}
	return status;
}

/* ---- the verdict ---- */

static enum tl_status verdict(const struct work *work)
{
	const struct tl_sweep_run *first = NULL;
	size_t done = 0, missing = 0, failed = 0;
	char text[300];

	for (size_t i = 0; i < work->count; i++) {
		const struct tl_sweep_run *run = &work->runs[i];

		done += run->state == TL_RUN_DONE;
		missing += run->state == TL_RUN_MISSING;
		failed += run->state == TL_RUN_FAILED;
		if (run->state == TL_RUN_FAILED && !first)
			first = run;
	}
	if (work->stopped_by < work->count)
		return tl_error_set(work->error, TL_E_IO, work->sweep->dir, 0, 0,
		                    "a run could not write its result, and no more were started: "
		                    "%.300s; %zu of %zu runs are there, the same command goes on",
		                    work->runs[work->stopped_by].reason, done, work->count);
	if (tl_stop_asked() || missing > 0)
		return tl_error_set(work->error, TL_E_INTERRUPTED, NULL, 0, 0,
		                    "interrupted: %zu of %zu runs are there, the same command "
		                    "goes on",
		                    done, work->count);
	if (!first)
		return TL_OK;
	return tl_error_set(work->error, tl_status_of_exit_code(first->exit_code), NULL, 0, 0,
	                    "%zu of %zu runs failed; the first, %s: %s", failed, work->count,
	                    tl_run_describe(work->design, first, text, sizeof text), first->reason);
}

/* A search's manifest tells of all it asked for so far. */
static enum tl_status mark(struct work *work)
{
	struct tl_sweep *sweep = work->sweep;
	const struct tl_design *design = work->design;
	const struct tl_sweep_run *runs = work->runs;
	size_t count = work->count;
	enum tl_status status;

	if (!sweep->options.design) {
		tl_asked_add(sweep, design, runs);
		design = &sweep->asked;
		runs = sweep->asked_runs;
		count = design->cell_count * design->seed_count;
	}
	status = tl_manifest_write(sweep->manifest, sweep->identity, sweep->subject, design, runs,
	                           count, work->error);
	sweep->marked |= status == TL_OK;
	return status;
}

enum tl_status tl_sweep_run(struct tl_sweep *sweep, const struct tl_design *design,
                            struct tl_sweep_run **runs, size_t *count, struct tl_error *error)
{
	struct tl_error unwanted = TL_ERROR_INIT;
	struct work work;
	enum tl_status status = prepare(&work, sweep, design, error ? error : &unwanted);

	*runs = NULL;
	*count = 0;
	if (status == TL_OK) {
		spread_states(&work);
		status = mark(&work);
	}
	if (status != TL_OK) {
		tl_sweep_runs_free(work.runs, work.count);
		release(&work);
		return status;
	}
	work.started_ns = clock_ns();
	status = carry_out(&work);
	clear_line(&work);
	spread_states(&work);
	if (!sweep->options.design)
		tl_asked_add(sweep, design, work.runs);
	if (status == TL_OK)
		status = verdict(&work);
	*runs = work.runs;
	*count = work.count;
	release(&work);
	return status;
}

enum tl_status tl_sweep_print(struct tl_sweep *sweep, const struct tl_design *design, FILE *out,
                              struct tl_error *error)
{
	struct work work;
	enum tl_status status = prepare(&work, sweep, design, error);

	if (status == TL_OK)
		status = sweep->options.executor->print(sweep->executor, work.tasks,
		                                        work.task_count, out, error);
	tl_sweep_runs_free(work.runs, work.count);
	release(&work);
	return status;
}
