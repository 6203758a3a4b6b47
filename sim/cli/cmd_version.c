/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab version: what this build is. */
#include "sim/cli/cli.h"

#include "sim/base/version.h"

static const struct tl_flag flags[] = {
    {"json", 'j', NULL, "one JSON object"},
};

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	(void)command;
	(void)error;
	if (tl_args_has(args, "json")) {
		json_t *all = json_object();

		(void)json_object_set_new(all, "version", json_string(tl_version));
		(void)json_object_set_new(all, "commit", json_string(tl_commit));
		(void)json_object_set_new(all, "policy_contract_major", json_integer(TL_ABI_MAJOR));
		(void)json_object_set_new(all, "policy_contract_minor", json_integer(TL_ABI_MINOR));
		(void)json_object_set_new(all, "result_schema_major",
		                          json_integer(TL_RESULTS_SCHEMA_MAJOR));
		(void)json_object_set_new(all, "result_schema_minor",
		                          json_integer(TL_RESULTS_SCHEMA_MINOR));
		tl_print_json(all, stdout);
		return TL_OK;
	}
	(void)printf("tidelab %s (%s)\npolicy contract %d.%d, result schema %d.%d\n", tl_version,
	             tl_commit, TL_ABI_MAJOR, TL_ABI_MINOR, TL_RESULTS_SCHEMA_MAJOR,
	             TL_RESULTS_SCHEMA_MINOR);
	return TL_OK;
}

const struct tl_command tl_command_version = {
    .name = "version",
    .summary = "what this build is",
    .example = "tidelab version --json",
    TL_FLAGS(flags),
    .run = run,
};
