/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where runs are carried out. An executor is handed a list of commands, each a process of
 * its own that writes one result file, and tells how each ended. It may be handed another
 * list once all of the last have ended.
 *
 * It knows nothing of scenarios or sweeps: an exit code and the last words on standard
 * error are all it tells. Tasks run in the caller's working folder, with its environment.
 * What a task leaves at its output is judged by its caller.
 */
#ifndef TIDELAB_ANALYSIS_EXECUTOR_H
#define TIDELAB_ANALYSIS_EXECUTOR_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tl_task {
	char **argv;        /* NULL-terminated; argv[0] is the path of a program */
	const char *output; /* the file it makes, absolute */
	const char *log;    /* its standard error goes here, absolute; truncated at its start */
};

enum { TL_TASK_REASON_MAX = 400 };

struct tl_task_end {
	size_t task;    /* of the list */
	int exit_code;  /* of the process; -1: a signal ended it, or it could not be started */
	bool cancelled; /* it was not started, or stopped, because of cancel() */
	char reason[TL_TASK_REASON_MAX]; /* where exit_code is not 0; one line */
};

struct tl_executor_options {
	const char *folder;    /* absolute, of the sweep: for state of its own, in folder/NAME */
	unsigned jobs;         /* at a time; 0: as many as there are cores, or as the cluster has */
	const char *arguments; /* for the scheduler: --slurm-args; NULL */
	size_t chunk;          /* tasks to a job of a scheduler's, one by one; 0: it chooses */
};

struct tl_executor {
	const char *name; /* `local`, `slurm` */
	/* Its tasks may outlive whoever started them: what is half-written at the start may
	 * be being written. */
	bool outlives;

	/* TL_E_UNAVAILABLE where what it needs is not installed. */
	enum tl_status (*open)(const struct tl_executor_options *options, void **self,
	                       struct tl_error *error);
	/* Takes the list, which lives until all its tasks have ended, and begins. */
	enum tl_status (*submit)(void *self, const struct tl_task *tasks, size_t count,
	                         struct tl_error *error);
	/* Blocks, without spinning, until a task has ended or timeout_ns have passed (*ended
	 * is false then), or a signal that sim/base/stop.h catches has come. */
	enum tl_status (*wait)(void *self, int64_t timeout_ns, struct tl_task_end *end, bool *ended,
	                       struct tl_error *error);
	/* Starts no more; with `now`, also ends those that run. wait() then tells of every task
	 * not yet told of, as cancelled where that is so. */
	void (*cancel)(void *self, bool now);
	/* What it would do for these tasks: a script or commands. Nothing is started. */
	enum tl_status (*print)(void *self, const struct tl_task *tasks, size_t count, FILE *out,
	                        struct tl_error *error);
	/* Ends what still runs. */
	void (*close)(void *self);
};

extern const struct tl_executor tl_executor_local;
extern const struct tl_executor tl_executor_slurm; /* job arrays through sbatch */
/* All of them, NULL-terminated; the first is the default. */
extern const struct tl_executor *const tl_executors[];

/* As one word of sh. */
void tl_shell_quote(const char *word, FILE *out);

/* The last line with anything on it, without control characters, of a log; "" where there
 * is none. What executors give as a reason. */
void tl_task_last_words(const char *log, char *out, size_t size);

#endif
