/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab run: one scenario, one result file. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/plane/supervise.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "FILE", "the result file; NAME.h5 where not given"},
    {"force", 0, NULL, "replace the result file where it exists"},
    {"json", 'j', NULL, "print the outcome as one JSON object"},
    TL_SCENARIO_FLAGS,
};

static enum tl_status report(const struct tl_scenario *scenario, const char *path, bool json,
                             struct tl_error *error)
{
	struct tl_row_summary *rows = NULL;
	size_t count = 0;
	enum tl_status status = TL_OK;

	if (scenario->tables & TL_TABLE_SUMMARY)
		status = tl_summary_read(path, &rows, &count, error);
	if (status != TL_OK)
		return status;
	tl_summary_note(rows, count, stderr);
	if (json) {
		json_t *all = json_object();

		(void)json_object_set_new(all, "scenario", json_string(scenario->name));
		(void)json_object_set_new(all, "seed", json_integer((json_int_t)scenario->seed));
		(void)json_object_set_new(all, "result", json_string(path));
		(void)json_object_set_new(all, "summary", tl_summary_json(rows, count));
		tl_print_json(all, stdout);
	} else {
		tl_summary_print(rows, count, stdout);
		(void)printf("%sresult: %s\n", count ? "\n" : "", path);
	}
	free(rows);
	return TL_OK;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct tl_scenario *scenario = NULL;
	struct tl_run_options options = {.force = tl_args_has(args, "force"),
	                                 .progress = isatty(STDERR_FILENO) == 1,
	                                 .diagnostics = stderr};
	enum tl_status status = tl_scenario_from_args(args, &scenario, error);
	const char *asked = tl_args_value(args, "output");
	char *path;

	(void)command;
	if (status != TL_OK)
		return status;
	if (asked && strcmp(asked, "-") == 0) {
		tl_scenario_destroy(scenario);
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--output: got `-`, wanted the name of a file: a result does "
		                    "not go to standard output");
	}
	path = asked ? tl_strdup(asked) : tl_format("%s.h5", scenario->name);
	options.output_path = path;
	status = tl_supervise_run(scenario, &options, error);
	if (status == TL_OK)
		status = report(scenario, path, tl_args_has(args, "json"), error);
	tl_scenario_destroy(scenario);
	free(path);
	return status;
}

const struct tl_command tl_command_run = {
    .name = "run",
    .summary = "run a scenario and write its result file",
    .operands = "[SCENARIO]",
    .about =
	"SCENARIO is a YAML file or the name of a shipped one (`tidelab reference scenario` tells\n"
	"every key); without it the flags alone make one, called `run`. Flags change the scenario in\n"
	"their order. Paths in a scenario are relative to its file, paths in flags to the working\n"
	"folder.",
    .example = "tidelab run demo --set policy.place=fgd --seed 7 -o fgd.h5\n"
	       "  tidelab run --cluster a100-32x8 --trace philly.csv --format philly \\\n"
	       "    --policy order=fifo,place=topology --physics ideal -o philly.h5",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
