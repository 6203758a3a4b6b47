/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab explain: the story of one job. */
#include "sim/cli/cli.h"

#include "sim/base/units.h"
#include "sim/plane/supervise.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static const struct tl_flag flags[] = {
    {"job", 0, "ID", "the job, as its trace calls it, or `#ROW`: its row in /jobs, from 0"},
    {"at", 0, "TIME", "stop there, as in 2h: why does it wait at that moment?"},
    TL_SCENARIO_FLAGS,
};

/* What the run wrote, to stdout; nothing is an answer that misleads. */
static enum tl_status tell(FILE *story, const char *job, struct tl_error *error)
{
	char block[4096];
	size_t got, all = 0;

	rewind(story);
	while ((got = fread(block, 1, sizeof block, story)) > 0) {
		(void)fwrite(block, 1, got, stdout);
		all += got;
	}
	if (all > 0)
		return TL_OK;
	return tl_error_set(
	    error, TL_E_DATA, NULL, 0, 0,
	    "job `%.63s` does not appear: no job of the work has that id (or row, where "
	    "it begins with `#`), or it is submitted later",
	    job);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct tl_scenario *scenario = NULL;
	struct tl_run_options options = {.explain_id = tl_args_value(args, "job"),
	                                 .explain_file = NULL,
	                                 .progress = isatty(STDERR_FILENO) == 1,
	                                 .diagnostics = stderr};
	const char *at = tl_args_value(args, "at");
	int64_t at_ns = 0;
	char horizon[32];
	enum tl_status status;

	(void)command;
	if (!options.explain_id)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--job is missing; see `tidelab explain --help`");
	if (at && (tl_parse_duration(at, &at_ns, NULL) != TL_OK || at_ns == 0))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--at: got `%.60s`, wanted a duration above 0, such as 2h", at);
	status = tl_scenario_from_args(args, &scenario, error);
	if (status != TL_OK)
		return status;
	if (at && at_ns > scenario->horizon_ns)
		(void)fprintf(
		    stderr,
		    "--at: %s is beyond the horizon (%s), where the story ends: --horizon "
		    "moves it\n",
		    at, tl_format_duration(scenario->horizon_ns, horizon, sizeof horizon));
	else if (at)
		scenario->horizon_ns = at_ns;
	/* The trial is another process: it shares the open file. */
	options.explain_file = tmpfile();
	if (!options.explain_file)
		status = tl_error_set(error, TL_E_CANTCREAT, NULL, 0, 0, "a temporary file: %s",
		                      strerror(errno));
	if (status == TL_OK)
		status = tl_supervise_run(scenario, &options, error);
	if (status == TL_OK)
		status = tell(options.explain_file, options.explain_id, error);
	if (options.explain_file)
		(void)fclose(options.explain_file);
	tl_scenario_destroy(scenario);
	return status;
}

const struct tl_command tl_command_explain = {
    .name = "explain",
    .summary = "why a job waits, starts or is stopped",
    .operands = "[SCENARIO]",
    .about =
	"Runs the scenario without writing a result, and prints what happens to one job and the\n"
	"reasons that the policies give.",
    .example = "tidelab explain small --job 155 --at 14h",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
