/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab merge: the metrics of a sweep's runs in one file. */
#include "sim/cli/cli.h"

#include "analysis/merge.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "FILE", "the file; DIR.h5 where not given"},
    {"force", 0, NULL, "replace the file where it exists"},
    {"partial", 0, NULL, "take the runs there are, where some failed or are missing"},
};

/* `a/sweep/` gives `a/sweep.h5`. */
static char *default_output(const char *dir)
{
	size_t length = strlen(dir);

	while (length > 1 && dir[length - 1] == '/')
		length--;
	return tl_format("%.*s.h5", (int)length, dir);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *dir = args->operands[0], *asked = tl_args_value(args, "output");
	bool force = tl_args_has(args, "force");
	char *path = asked ? tl_strdup(asked) : default_output(dir);
	enum tl_status status = tl_output_check(path, force, error);
	char *partial = tl_output_partial(path);

	(void)command;
	tl_stop_catch();
	if (status == TL_OK)
		status = tl_merge(dir, tl_args_has(args, "partial"), partial, error);
	if (status == TL_OK)
		status = tl_stop_check(error);
	if (status == TL_OK)
		status = tl_output_publish(partial, path, force, error);
	if (status == TL_OK) {
		(void)printf("merged: %s\n", path);
	} else {
		tl_output_rename_error(partial, path, error);
		(void)unlink(partial);
	}
	free(partial);
	free(path);
	return status;
}

const struct tl_command tl_command_merge = {
    .name = "merge",
    .summary = "one file of a sweep's metrics",
    .operands = "DIR",
    .about =
	"Reads the results of `tidelab sweep -o DIR` and writes one HDF5 file: /metrics, a row a run\n"
	"and metric beside the values of the axes; /runs, a row a run; /axes. The bytes depend on the\n"
	"results alone, not on how or in what order they came to be. A sweep that is not whole is\n"
	"refused, unless --partial.",
    .example = "tidelab merge placing -o placing.h5",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
