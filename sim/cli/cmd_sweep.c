/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab sweep: one scenario in many variants, a process and a result file a run. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "DIR", "the folder of the sweep; one that holds part of it is completed"},
    {"vary", 'v', "KEY=VALUES",
     "an axis: x,y,z or FIRST:LAST:STEP, of any key --set knows; repeatable"},
    {"design", 0, "DESIGN", "grid (default), one-at-a-time or sobol:N"},
    {"seeds", 0, "SEEDS", "of every cell: 1..10 or 1,5,9; the scenario's own where not given"},
    TL_EXECUTOR_FLAGS,
    {"print", 0, NULL, "print what would be run, and run nothing"},
    {"json", 0, NULL, "print the outcome as one JSON object"},
    TL_SCENARIO_FLAGS,
};

static enum tl_status take_axes(const struct tl_args *args, struct tl_axis *axes, size_t *count,
                                struct tl_error *error)
{
	for (size_t i = 0; i < args->given_count; i++) {
		enum tl_status status;

		if (strcmp(args->given[i].flag->name, "vary") != 0)
			continue;
		status = tl_axis_parse("--vary", args->given[i].value, &axes[*count], error);
		if (status != TL_OK)
			return status;
		(*count)++;
	}
	return TL_OK;
}

static enum tl_status take_design(const struct tl_args *args, const struct tl_subject *subject,
                                  struct tl_design *out, struct tl_error *error)
{
	struct tl_axis *axes = tl_calloc(args->given_count + 1, sizeof *axes);
	char **own = tl_calloc(args->given_count + 1, sizeof *own);
	const char *seeds = tl_args_value(args, "seeds");
	size_t count = 0;
	enum tl_status status = take_axes(args, axes, &count, error);

	for (size_t i = 0; i < count; i++)
		own[i] = tl_subject_own(subject, axes[i].key);
	if (status == TL_OK)
		status = tl_design_of_axes(tl_args_value(args, "design"), axes, count,
		                           (const char *const *)own, out, error);
	if (status == TL_OK && !seeds)
		tl_design_seed(out, tl_subject_seed(subject));
	else if (status == TL_OK)
		status = tl_design_seeds_parse(out, seeds, error);
	for (size_t i = 0; i < count; i++) {
		free(own[i]);
		tl_axis_fini(&axes[i]);
	}
	free(own);
	free(axes);
	return status;
}

static void report(const struct tl_design *design, const struct tl_sweep_run *runs, size_t count,
                   const char *dir, bool as_json)
{
	size_t done = 0, failed = 0;

	for (size_t i = 0; i < count; i++) {
		done += runs[i].state == TL_RUN_DONE;
		failed += runs[i].state == TL_RUN_FAILED;
	}
	if (as_json) {
		json_t *all = json_object();

		(void)json_object_set_new(all, "folder", json_string(dir));
		(void)json_object_set_new(all, "cells",
		                          json_integer((json_int_t)design->cell_count));
		(void)json_object_set_new(all, "seeds",
		                          json_integer((json_int_t)design->seed_count));
		(void)json_object_set_new(all, "done", json_integer((json_int_t)done));
		(void)json_object_set_new(all, "failed", json_integer((json_int_t)failed));
		tl_print_json(all, stdout);
	} else if (done == count) {
		(void)printf("%zu runs (cells: %zu, seeds: %zu)\nsweep: %s\n", count,
		             design->cell_count, design->seed_count, dir);
	}
}

static enum tl_status sweep(const struct tl_args *args, const struct tl_subject *subject,
                            const struct tl_design *design, struct tl_sweep_options *options,
                            struct tl_error *error)
{
	char *identity = tl_sweep_identity(subject, design);
	struct tl_sweep *folder = NULL;
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;
	enum tl_status status;

	options->identity = identity;
	options->design = design;
	status = tl_sweep_open(options, subject, &folder, error);
	if (status == TL_OK && options->dry)
		status = tl_sweep_print(folder, design, stdout, error);
	else if (status == TL_OK)
		status = tl_sweep_run(folder, design, &runs, &count, error);
	if (runs)
		report(design, runs, count, options->dir, tl_args_has(args, "json"));
	tl_sweep_runs_free(runs, count);
	tl_sweep_close(folder);
	free(identity);
	return status;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct tl_sweep_options options = {.dir = tl_args_value(args, "output"),
	                                   .dry = tl_args_has(args, "print"),
	                                   .diagnostics = stderr};
	struct tl_subject subject;
	struct tl_design design = {.name = NULL};
	enum tl_status status = tl_sweep_options_from_args(args, &options, error);

	(void)command;
	if (status == TL_OK && !options.dir)
		status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                      "--output DIR is missing, wanted the folder of the sweep");
	if (status == TL_OK && tl_args_has(args, "seeds"))
		status = tl_subject_check_seed(args, error);
	if (status == TL_OK)
		status = tl_subject_from_args(args, &subject, error);
	if (status != TL_OK)
		return status;
	status = take_design(args, &subject, &design, error);
	if (status == TL_OK)
		status = sweep(args, &subject, &design, &options, error);
	tl_design_fini(&design);
	tl_subject_fini(&subject);
	return status;
}

const struct tl_command tl_command_sweep = {
    .name = "sweep",
    .summary = "run a scenario in many variants, with the same seeds each",
    .operands = "[SCENARIO]",
    .about =
	"Each run is a process of its own and one result file in DIR/runs, named by the hash of all it\n"
	"depends on. The same command again runs only what is missing: after ^C, a crash, a full disk,\n"
	"or another trace or policy. With more seeds, or more values of the same axes, it adds to what is\n"
	"there. `tidelab merge DIR` makes one table of the metrics.\n"
	"\n"
	"A range ends with LAST where a step falls on it; values may carry a unit (1d:7d:2d). Commas in\n"
	"braces, brackets and quotes do not split a list. grid: every combination; one-at-a-time: the\n"
	"scenario's own values, then each axis alone; sobol:N: N points that fill the space of all axes\n"
	"evenly, where LOW:HIGH is an interval (of whole numbers where both are).\n"
	"\n"
	"Where runs failed, each is named with its reason, its words are in DIR/logs, and the exit code\n"
	"is that of the first of them.\n"
	"\n"
	"With --executor slurm the runs are job arrays; what was under way when the command was killed is\n"
	"waited for by the next, and ^C cancels it. DIR, this program, traces and policies must be seen\n"
	"under the same names by the nodes.",
    .example = "tidelab sweep demo --vary policy.place=topology,fgd --vary horizon=12h:36h:12h \\\n"
	       "    --seeds 1..5 -o placing && tidelab merge placing -o placing.h5",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
