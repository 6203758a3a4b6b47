/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab check: everything short of running. */
#include "sim/cli/cli.h"

#include "sim/plane/supervise.h"

static const struct tl_flag flags[] = {
    {"effective", 'e', NULL, "print the effective configuration, every key of it, and no report"},
    TL_SCENARIO_FLAGS,
};

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const bool effective = tl_args_has(args, "effective");
	struct tl_scenario *scenario = NULL;
	enum tl_status status = tl_scenario_from_args(args, &scenario, error);

	(void)command;
	if (status == TL_OK)
		status = tl_supervise_check(scenario, effective ? NULL : stdout, stderr, error);
	if (status == TL_OK && effective)
		(void)fputs(scenario->text, stdout);
	tl_scenario_destroy(scenario);
	return status;
}

const struct tl_command tl_command_check = {
    .name = "check",
    .summary = "validate a scenario without running it",
    .operands = "[SCENARIO]",
    .about =
	"Reads the scenario, opens its traces, loads its policies and judges their options, and\n"
	"lists the jobs that do not fit the cluster. Exit code 0: it can be run.",
    .example = "tidelab check demo --set policy.order=las",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
