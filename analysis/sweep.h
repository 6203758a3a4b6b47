/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A folder of runs. Each run is a process and leaves one result file, runs/HASH.h5, named
 * by the SHA-256 of all it depends on: the effective scenario (seed included), the bytes
 * of traces and policies, the tool. What is there is never run again; what changed is.
 *
 *   DIR/manifest      what the folder is for (its identity), then a line a finished run:
 *                     replaced as one at the start, appended to and flushed thereafter
 *   DIR/lock          held by the one process that sweeps
 *   DIR/runs/HASH.h5  results
 *   DIR/logs/HASH.log what a run that failed said on standard error
 *
 * `tidelab sweep` has one design and runs it once; a design that holds all runs of the one
 * before, of the same scenario, takes its place in the manifest and adds what is missing.
 * A search (tune, plan) opens a folder
 * with an identity of its own and asks for one design after another; the runs it has had
 * before it finds there, and its manifest has every cell that was ever asked for.
 */
#ifndef TIDELAB_ANALYSIS_SWEEP_H
#define TIDELAB_ANALYSIS_SWEEP_H

#include "analysis/design.h"
#include "analysis/executor.h"
#include "sim/base/checksum.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What is swept. The command line makes it: scenarios are none of analysis' business
 * (sim/cli/cli.h: tl_subject_from_args). */
struct tl_subject {
	void *context;
	const char *name; /* of the scenario */
	const char *text; /* the effective scenario without any cell's settings */
	/* PROGRAM run SCENARIO FLAG...; --set, --seed and --output of a run come behind. */
	char **argv;
	/* Validates one run and names it: the SHA-256 of all it depends on. */
	enum tl_status (*identify)(void *context, const struct tl_design *design, size_t cell,
	                           uint64_t seed, char hash[TL_SHA256_HEX], struct tl_error *error);
};

struct tl_sweep_options {
	const char *dir; /* made where it is not there */
	/* What the folder is for, as lines `key: value`: one that holds another is refused. */
	const char *identity;
	/* The one design that the folder is for: one that holds part of it is completed. NULL:
	 * of a search, which runs one design after another. */
	const struct tl_design *design;
	const struct tl_executor *executor;
	unsigned jobs;         /* as in tl_executor_options */
	const char *arguments; /* likewise */
	size_t chunk;          /* likewise */
	bool dry;              /* for tl_sweep_print() alone: nothing is made or taken */
	FILE *progress;        /* a line with the time left; NULL: none */
	FILE *diagnostics;     /* a line a failed run; NULL: none */
};

/* TL_RUN_UNASKED: a search had the cell run with other seeds alone. */
enum tl_run_state { TL_RUN_MISSING, TL_RUN_DONE, TL_RUN_FAILED, TL_RUN_UNASKED };

struct tl_sweep_run {
	size_t cell;
	uint64_t seed;
	char hash[TL_SHA256_HEX]; /* "": TL_RUN_UNASKED */
	enum tl_run_state state;
	int exit_code; /* TL_RUN_FAILED; -1: by a signal */
	char *reason;  /* TL_RUN_FAILED, one line; else NULL */
};

struct tl_sweep; /* opaque */

/* Takes the folder. TL_E_CANTCREAT: it is a file, cannot be written, holds another sweep,
 * something else, or is being swept just now. tl_stop_catch() (sim/base/stop.h) is on from
 * here. subject must outlive it; what options point to is only looked at here, but for the
 * executor and the streams. */
enum tl_status tl_sweep_open(const struct tl_sweep_options *options,
                             const struct tl_subject *subject, struct tl_sweep **out,
                             struct tl_error *error);
/* Sees to it that every run of the design (cell by cell, seed by seed within) is there:
 * starts what is missing, and again what failed before. *runs, cell_count × seed_count of
 * them in that order, is there whatever is returned but for errors before the start
 * (NULL then); tl_sweep_runs_free. Where some failed, the status is that of the first of
 * them in this order; TL_E_INTERRUPTED: ^C; TL_E_IO: a run could not write its result (the
 * disk is full, say), and no more were started. What finished stays. */
enum tl_status tl_sweep_run(struct tl_sweep *sweep, const struct tl_design *design,
                            struct tl_sweep_run **runs, size_t *count, struct tl_error *error);
void tl_sweep_runs_free(struct tl_sweep_run *runs, size_t count);
/* What tl_sweep_run() would start, as its executor says it. */
enum tl_status tl_sweep_print(struct tl_sweep *sweep, const struct tl_design *design, FILE *out,
                              struct tl_error *error);
/* The result file of a run; malloc'd. */
char *tl_sweep_path(const struct tl_sweep *sweep, const char *hash);
/* What was begun came to nothing: where the folder was for nothing before, nothing is left. */
void tl_sweep_discard(struct tl_sweep *sweep);
void tl_sweep_close(struct tl_sweep *sweep);

/* ---- the manifest's text for a design: the identity of `tidelab sweep` ---- */

/* Scenario, design, axes, cells, seeds; malloc'd. */
char *tl_sweep_identity(const struct tl_subject *subject, const struct tl_design *design);

#endif
