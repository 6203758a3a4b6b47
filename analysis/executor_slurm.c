/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs as job arrays through sbatch. How a task ended is told by the file its job leaves, and
 * where that does not come, by squeue: nothing asks for accounting, which a cluster may
 * not have. What an earlier process had submitted and did not live to see is adopted where
 * it is wanted again, and cancelled otherwise.
 */
#include "analysis/slurm.h"

#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SILENCE_MAX_S = 600, ELEMENTS_WANTED = 500 };

/* Files of another machine may be seen late; those of a job that was struck down not at all. */
static const int64_t grace_ns = 60 * TL_NS_PER_S, grace_struck_ns = 2 * TL_NS_PER_S;
static const int64_t pause_least_ns = 50 * TL_NS_PER_MS, pause_most_ns = 2 * TL_NS_PER_S;
static const int64_t look_least_ns = TL_NS_PER_S, look_most_ns = 15 * TL_NS_PER_S;

struct slurm {
	char *folder;
	char **extra; /* arguments of sbatch */
	unsigned jobs;
	size_t chunk, most_elements;
	const struct tl_task *tasks;
	struct tl_slurm_arrays arrays;
	bool settled;             /* the arrays of earlier processes have been seen to */
	struct tl_task_end *ends; /* found and not yet told, from the first on */
	size_t end_first, end_count, end_capacity;
	bool cancelled;
	int64_t pause_ns, look_ns, next_look_ns, silent_since_ns;
};

static int64_t now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * TL_NS_PER_S + now.tv_nsec;
}

static void tell(struct slurm *slurm, struct tl_slurm_array *array, size_t number,
                 struct tl_task_end end)
{
	end.task = (size_t)array->places[number].task;
	slurm->ends =
	    tl_grow(slurm->ends, &slurm->end_capacity, slurm->end_count + 1, sizeof *slurm->ends);
	slurm->ends[slurm->end_count++] = end;
	array->places[number].task = TL_SLURM_NOBODY;
	array->waited--;
}

static struct tl_task_end end_of_exit(const struct tl_task *task, int exit_code)
{
	struct tl_task_end end = {.exit_code = exit_code};
	int number = exit_code - 128;

	if (exit_code == 0)
		return end;
	tl_task_last_words(task->log, end.reason, sizeof end.reason);
	/* As a shell tells it; 130 is also how a run says that it was interrupted. */
	if (number > 0 && number != SIGINT) {
		end.exit_code = -1;
		(void)snprintf(end.reason, sizeof end.reason, "ended by signal %d (%s)", number,
		               strsignal(number));
	} else if (end.reason[0] == '\0') {
		(void)snprintf(end.reason, sizeof end.reason, "exit code %d, without a word",
		               exit_code);
	}
	return end;
}

/* ---- ends that jobs have left ---- */

static void collect_array(struct slurm *slurm, struct tl_slurm_array *array)
{
	char *path = tl_join(array->folder, "ended");
	DIR *ended = opendir(path);
	struct dirent *entry;

	free(path);
	while (ended && array->waited > 0 && (entry = readdir(ended))) {
		char *rest;
		size_t number = (size_t)strtoull(entry->d_name, &rest, 10);
		int exit_code;

		if (rest == entry->d_name || *rest != '\0' || number >= array->count ||
		    array->places[number].task == TL_SLURM_NOBODY ||
		    !tl_slurm_array_ended(array->folder, number, &exit_code))
			continue;
		tell(slurm, array, number,
		     end_of_exit(&slurm->tasks[array->places[number].task], exit_code));
	}
	if (ended)
		(void)closedir(ended);
}

static void collect(struct slurm *slurm)
{
	for (size_t i = 0; i < slurm->arrays.count; i++)
		if (slurm->arrays.items[i].waited > 0)
			collect_array(slurm, &slurm->arrays.items[i]);
}

/* ---- ends that Slurm alone knows of ---- */

static void tell_lost(struct slurm *slurm, struct tl_slurm_array *array, size_t number,
                      const struct tl_slurm_element *element)
{
	const struct tl_slurm_place *place = &array->places[number];
	struct tl_task_end end = {.exit_code = -1, .cancelled = slurm->cancelled};
	char *path = tl_format("%s/out-%zu", array->folder, place->element);
	char words[TL_TASK_REASON_MAX];

	tl_task_last_words(path, words, sizeof words);
	free(path);
	if (access(slurm->tasks[place->task].output, F_OK) == 0)
		end = (struct tl_task_end){.exit_code = 0};
	else if (element && element->ended_bad)
		(void)snprintf(end.reason, sizeof end.reason,
		               "Slurm ended job %ld_%zu (%s)%s%.250s", array->job, place->element,
		               element->state, words[0] ? ": " : "", words);
	else
		(void)snprintf(end.reason, sizeof end.reason,
		               "job %ld_%zu is over and left no exit code%s%.250s", array->job,
		               place->element, words[0] ? ": " : "", words);
	tell(slurm, array, number, end);
}

/* Whether any element is over of which a file is still hoped for. */
static bool judge_array(struct slurm *slurm, struct tl_slurm_array *array,
                        const struct tl_slurm_element *elements, size_t count, int64_t now)
{
	bool hoping = false;

	for (size_t i = 0; i < array->count; i++) {
		struct tl_slurm_place *place = &array->places[i];
		const struct tl_slurm_element *element;
		bool struck;

		if (place->task == TL_SLURM_NOBODY)
			continue;
		element = tl_slurm_find(elements, count, array->name, place->element);
		if (element && element->live) {
			place->missed_ns = 0;
			continue;
		}
		struck = slurm->cancelled || (element && element->ended_bad);
		if (place->missed_ns == 0)
			place->missed_ns = now;
		if (now - place->missed_ns >= (struck ? grace_struck_ns : grace_ns))
			tell_lost(slurm, array, i, element);
		else
			hoping = true;
	}
	return hoping;
}

static const char **waited_names(const struct slurm *slurm, size_t *count)
{
	const char **names = tl_calloc(slurm->arrays.count, sizeof *names);

	*count = 0;
	for (size_t i = 0; i < slurm->arrays.count; i++)
		if (slurm->arrays.items[i].waited > 0)
			names[(*count)++] = slurm->arrays.items[i].name;
	return names;
}

static enum tl_status look(struct slurm *slurm, struct tl_error *error)
{
	struct tl_slurm_element *elements = NULL;
	size_t element_count = 0, name_count;
	const char **names = waited_names(slurm, &name_count);
	int64_t now = now_ns();
	bool hoping = false;
	enum tl_status status = TL_OK;

	if (name_count > 0)
		status = tl_slurm_squeue(names, name_count, slurm->cancelled, &elements,
		                         &element_count, error);
	free(names);
	if (status != TL_OK &&
	    status != TL_E_INTERRUPTED) { /* a controller that is started anew is no news */
		if (slurm->silent_since_ns == 0)
			slurm->silent_since_ns = now;
		if (now - slurm->silent_since_ns > SILENCE_MAX_S * TL_NS_PER_S)
			return status;
	}
	if (status == TL_OK) {
		slurm->silent_since_ns = 0;
		for (size_t i = 0; i < slurm->arrays.count; i++)
			hoping |= judge_array(slurm, &slurm->arrays.items[i], elements,
			                      element_count, now);
	}
	free(elements);
	slurm->look_ns = hoping ? look_least_ns : 2 * slurm->look_ns;
	if (slurm->look_ns > look_most_ns)
		slurm->look_ns = look_most_ns;
	slurm->next_look_ns = now_ns() + slurm->look_ns;
	return TL_OK;
}

/* ---- the executor ---- */

static enum tl_status slurm_open(const struct tl_executor_options *options, void **self,
                                 struct tl_error *error)
{
	struct slurm *slurm = tl_calloc(1, sizeof *slurm);
	enum tl_status status =
	    tl_words_split(options->arguments ? options->arguments : "", &slurm->extra, error);

	if (status == TL_OK && slurm->extra[0] && slurm->extra[0][0] != '-')
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "--slurm-args: got `%.200s`, wanted options of sbatch, as in "
		                      "--slurm-args '--partition=long --mem=2G'",
		                      options->arguments);
	if (status == TL_OK)
		status = tl_slurm_limits(&slurm->most_elements, error);
	if (status != TL_OK) {
		tl_words_free(slurm->extra);
		free(slurm);
		return status;
	}
	slurm->folder = tl_join(options->folder, "slurm");
	slurm->jobs = options->jobs;
	slurm->chunk = options->chunk;
	*self = slurm;
	return TL_OK;
}

/* The next array of the tasks that are left. */
static struct tl_slurm_plan next_plan(const struct slurm *slurm, const struct tl_task *tasks,
                                      const size_t *which, size_t count, size_t chunk)
{
	struct tl_slurm_plan plan = {
	    .tasks = tasks, .which = which, .count = count, .chunk = chunk};

	plan.count = tl_slurm_script_room(&plan, slurm->most_elements);
	return plan;
}

static size_t chunk_of(const struct slurm *slurm, size_t count)
{
	if (slurm->chunk > 0)
		return slurm->chunk;
	return count > ELEMENTS_WANTED ? (count + ELEMENTS_WANTED - 1) / ELEMENTS_WANTED : 1;
}

/* after: the job before it, where only so many may run at a time. */
static enum tl_status submit_array(struct slurm *slurm, struct tl_slurm_plan *plan, long *after,
                                   struct tl_error *error)
{
	char *folder = tl_slurm_array_path(slurm->folder), **words;
	struct tl_slurm_array *array;
	enum tl_status status;

	plan->folder = folder;
	array = tl_slurm_arrays_add(&slurm->arrays, folder, plan->count);
	status = tl_slurm_array_write(plan, error);
	if (status != TL_OK)
		return status;
	words = tl_slurm_sbatch_words(plan, slurm->extra, slurm->jobs, slurm->jobs ? *after : 0);
	status = tl_slurm_sbatch(words, &array->job, error);
	tl_words_free(words);
	if (status != TL_OK)
		return status;
	*after = array->job;
	for (size_t i = 0; i < plan->count; i++)
		array->places[i] = (struct tl_slurm_place){.element = i / plan->chunk,
		                                           .task = (ptrdiff_t)plan->which[i]};
	array->waited = plan->count;
	return TL_OK;
}

static enum tl_status slurm_submit(void *self, const struct tl_task *tasks, size_t count,
                                   struct tl_error *error)
{
	struct slurm *slurm = self;
	bool *taken = tl_calloc(count + 1, sizeof *taken);
	size_t *which = tl_calloc(count + 1, sizeof *which), left = 0, chunk;
	enum tl_status status = TL_OK;
	long after = 0;

	slurm->tasks = tasks;
	slurm->cancelled = false;
	if (!slurm->settled)
		status = tl_slurm_adopt(slurm->folder, tasks, count, taken, &slurm->arrays, error);
	slurm->settled = status == TL_OK;
	for (size_t i = 0; i < count; i++)
		if (!taken[i])
			which[left++] = i;
	if (status == TL_OK && left > 0 && mkdir(slurm->folder, 0777) != 0 && errno != EEXIST)
		status = tl_error_set(error, TL_E_CANTCREAT, slurm->folder, 0, 0,
		                      "cannot be written: %s", strerror(errno));
	chunk = chunk_of(slurm, left);
	for (size_t done = 0; done < left && status == TL_OK;) {
		struct tl_slurm_plan plan =
		    next_plan(slurm, tasks, which + done, left - done, chunk);

		done += plan.count;
		status = submit_array(slurm, &plan, &after, error);
	}
	slurm->pause_ns = pause_least_ns;
	slurm->look_ns = look_least_ns;
	slurm->next_look_ns = now_ns() + look_least_ns;
	free(which);
	free(taken);
	return status;
}

static bool any_waited(const struct slurm *slurm)
{
	for (size_t i = 0; i < slurm->arrays.count; i++)
		if (slurm->arrays.items[i].waited > 0)
			return true;
	return false;
}

static void drop_finished(struct slurm *slurm)
{
	size_t kept = 0;

	for (size_t i = 0; i < slurm->arrays.count; i++) {
		if (slurm->arrays.items[i].waited > 0)
			slurm->arrays.items[kept++] = slurm->arrays.items[i];
		else
			tl_slurm_array_drop(&slurm->arrays.items[i]);
	}
	slurm->arrays.count = kept;
}

static enum tl_status slurm_wait(void *self, int64_t timeout_ns, struct tl_task_end *end,
                                 bool *ended, struct tl_error *error)
{
	struct slurm *slurm = self;
	int64_t deadline_ns = tl_time_add(now_ns(), timeout_ns);

	*ended = false;
	for (;;) {
		int64_t now, pause_ns;
		enum tl_status status;

		if (slurm->end_first == slurm->end_count) {
			slurm->end_first = slurm->end_count = 0;
			collect(slurm);
			if (slurm->end_count == 0 && now_ns() >= slurm->next_look_ns) {
				status = look(slurm, error);
				if (status != TL_OK)
					return status;
			}
			drop_finished(slurm);
		}
		if (slurm->end_first < slurm->end_count) {
			*end = slurm->ends[slurm->end_first++];
			*ended = true;
			slurm->pause_ns = pause_least_ns;
			return TL_OK;
		}
		now = now_ns();
		if (now >= deadline_ns || (tl_stop_asked() && !slurm->cancelled) ||
		    !any_waited(slurm))
			return TL_OK;
		pause_ns =
		    slurm->pause_ns < deadline_ns - now ? slurm->pause_ns : deadline_ns - now;
		(void)nanosleep(&(struct timespec){.tv_sec = (time_t)(pause_ns / TL_NS_PER_S),
		                                   .tv_nsec = (long)(pause_ns % TL_NS_PER_S)},
		                NULL);
		slurm->pause_ns += slurm->pause_ns / 2;
		if (slurm->pause_ns > pause_most_ns)
			slurm->pause_ns = pause_most_ns;
	}
}

/* Those of an array that have not begun, or all. */
static void cancel_array(struct tl_slurm_array *array, bool pending, struct tl_error *error)
{
	char id[32];
	const char *const ids[] = {id};
	char *stop = tl_join(array->folder, "stop");
	FILE *file = fopen(stop, "w");

	if (file)
		(void)fclose(file);
	free(stop);
	(void)snprintf(id, sizeof id, "%ld", array->job);
	array->leave = tl_slurm_scancel(ids, 1, pending, error) != TL_OK;
}

static void slurm_cancel(void *self, bool now)
{
	struct slurm *slurm = self;

	slurm->cancelled = true;
	collect(slurm);
	for (size_t i = 0; i < slurm->arrays.count; i++) {
		struct tl_slurm_array *array = &slurm->arrays.items[i];
		struct tl_task_end end = {.exit_code = -1, .cancelled = true};
		struct tl_error error = TL_ERROR_INIT;

		if (array->waited == 0)
			continue;
		cancel_array(array, !now, &error);
		(void)snprintf(end.reason, sizeof end.reason, "%.300s",
		               array->leave ? error.message : "cancelled");
		for (size_t number = 0; number < array->count && now; number++)
			if (array->places[number].task != TL_SLURM_NOBODY)
				tell(slurm, array, number, end);
	}
	slurm->look_ns = look_least_ns;
	slurm->next_look_ns = now_ns();
}

static void print_words(char *const *words, FILE *out)
{
	for (; *words; words++) {
		tl_shell_quote(*words, out);
		(void)fputc(words[1] ? ' ' : '\n', out);
	}
}

static enum tl_status slurm_print(void *self, const struct tl_task *tasks, size_t count, FILE *out,
                                  struct tl_error *error)
{
	struct slurm *slurm = self;
	size_t *which = tl_calloc(count + 1, sizeof *which);

	(void)error;
	for (size_t i = 0; i < count; i++)
		which[i] = i;
	for (size_t done = 0; done < count;) {
		struct tl_slurm_plan plan =
		    next_plan(slurm, tasks, which + done, count - done, chunk_of(slurm, count));
		char *folder = tl_slurm_array_path(slurm->folder), **words;

		done += plan.count;
		plan.folder = folder;
		words = tl_slurm_sbatch_words(&plan, slurm->extra, slurm->jobs, 0);
		tl_slurm_script(&plan, out);
		(void)fputs("# ", out);
		print_words(words, out);
		tl_words_free(words);
		free(folder);
	}
	free(which);
	return TL_OK;
}

static void slurm_close(void *self)
{
	struct slurm *slurm = self;

	if (any_waited(slurm))
		slurm_cancel(slurm, true);
	for (size_t i = 0; i < slurm->arrays.count; i++)
		tl_slurm_array_drop(&slurm->arrays.items[i]);
	(void)rmdir(slurm->folder); /* where nothing is left in it */
	tl_words_free(slurm->extra);
	free(slurm->folder);
	free(slurm->arrays.items);
	free(slurm->ends);
	free(slurm);
}

const struct tl_executor tl_executor_slurm = {
    .name = "slurm",
    .outlives = true,
    .open = slurm_open,
    .submit = slurm_submit,
    .wait = slurm_wait,
    .cancel = slurm_cancel,
    .print = slurm_print,
    .close = slurm_close,
};
