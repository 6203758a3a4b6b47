/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab VERB …: finds the verb. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/config/schema.h"

#include <stdlib.h>
#include <string.h>

/* A verb a line, in the order of the help. */
/* clang-format off */
const struct tl_command *const tl_commands[] = {
    &tl_command_run,
    &tl_command_check,
    &tl_command_summary,
    &tl_command_sweep,
    &tl_command_merge,
    &tl_command_compare,
    &tl_command_regress,
    &tl_command_tune,
    &tl_command_plan,
    &tl_command_figures,
    &tl_command_report,
    &tl_command_export,
    &tl_command_explain,
    &tl_command_policies,
    &tl_command_trace,
    &tl_command_reference,
    &tl_command_version,
    &tl_command_help_verb,
    NULL,
};
/* clang-format on */

static void print_help(FILE *out)
{
	(void)fputs(
	    "tidelab: a simulator of a GPU cluster, and a lab for the policies that schedule it\n\n"
	    "Usage: tidelab VERB [FLAG]... [OPERAND]...\n\n",
	    out);
	for (size_t i = 0; tl_commands[i]; i++)
		(void)fprintf(out, "  %-12s%s\n", tl_commands[i]->name, tl_commands[i]->summary);
	(void)fputs(
	    "\n`tidelab VERB --help` tells more of each. Data goes to standard output, diagnostics to\n"
	    "standard error; the exit code is 0, 1 where a policy ended the run, a gate failed or nothing\n"
	    "keeps what was asked, or one of sysexits.\n\n"
	    "Example:\n  tidelab run demo -o demo.h5 && tidelab summary demo.h5\n",
	    out);
}

static const struct tl_command *find(const char *name)
{
	for (size_t i = 0; tl_commands[i]; i++)
		if (strcmp(tl_commands[i]->name, name) == 0)
			return tl_commands[i];
	return NULL;
}

static enum tl_status unknown_verb(const char *got, struct tl_error *error)
{
	const char *names[32], *near;
	size_t count = 0;

	for (; tl_commands[count]; count++)
		names[count] = tl_commands[count]->name;
	near = tl_suggest(names, count, got);
	if (!near)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "unknown verb `%.60s`; see `tidelab --help`", got);
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
	                    "unknown verb `%.60s`; did you mean `%s`? See `tidelab --help`", got,
	                    near);
}

static enum tl_status run_help(const struct tl_command *command, const struct tl_args *args,
                               struct tl_error *error)
{
	const struct tl_command *asked = NULL;

	(void)command;
	if (args->operand_count == 0) {
		print_help(stdout);
		return TL_OK;
	}
	asked = find(args->operands[0]);
	if (!asked)
		return unknown_verb(args->operands[0], error);
	tl_command_help(asked, stdout);
	return TL_OK;
}

const struct tl_command tl_command_help_verb = {
    .name = "help",
    .summary = "what there is, or the help of one verb",
    .operands = "[VERB]",
    .example = "tidelab help run",
    .most = 1,
    .run = run_help,
};

int main(int argc, char **argv)
{
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_command *command;

	/* Out of memory ends the process here too, before half a JSON text is printed. */
	json_set_alloc_funcs(tl_alloc, free);
	tl_paths_set_executable(argc > 0 ? argv[0] : "tidelab");
	if (argc < 2) {
		print_help(stderr);
		return tl_status_exit_code(TL_E_USAGE);
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
		command = &tl_command_help_verb;
	else if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
		command = &tl_command_version;
	else
		command = find(argv[1]);
	if (!command) {
		(void)unknown_verb(argv[1], &error);
		tl_print_error(&error);
		return tl_status_exit_code(error.code);
	}
	return tl_command_main(command, argc - 1, argv + 1);
}
