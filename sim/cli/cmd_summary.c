/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab summary: the metrics of a result file. */
#include "analysis/fields.h"
#include "sim/base/number.h"
#include "sim/cli/cli.h"

#include <stdlib.h>

static const struct tl_flag flags[] = {
    {"json", 'j', NULL, "one object: {\"METRIC\": {\"value\": V, \"unit\": \"U\"}, ...}"},
    {"csv", 0, NULL, "metric,value,unit lines, values in full precision"},
};

static void print_csv(const struct tl_row_summary *rows, size_t count)
{
	char number[TL_NUMBER_TEXT];

	(void)puts("metric,value,unit");
	for (size_t i = 0; i < count; i++) {
		tl_field_write(rows[i].metric, stdout);
		(void)printf(",%s,", tl_number_text(rows[i].value, number));
		tl_field_write(rows[i].unit, stdout);
		(void)putchar('\n');
	}
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	struct tl_row_summary *rows = NULL;
	size_t count = 0;
	enum tl_status status;

	(void)command;
	if (tl_args_has(args, "json") && tl_args_has(args, "csv"))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "got --json and --csv, wanted one of them");
	status = tl_summary_read(args->operands[0], &rows, &count, error);
	if (status == TL_OK) {
		tl_summary_note(rows, count, stderr);
		if (tl_args_has(args, "json"))
			tl_print_json(tl_summary_json(rows, count), stdout);
		else if (tl_args_has(args, "csv"))
			print_csv(rows, count);
		else
			tl_summary_print(rows, count, stdout);
	}
	free(rows);
	return status;
}

const struct tl_command tl_command_summary = {
    .name = "summary",
    .summary = "the metrics of a result file",
    .operands = "RESULT.h5",
    .about =
	"A value that does not exist (a mean over no job, say) is `-`, null in JSON, nan in CSV.",
    .example = "tidelab summary --json demo.h5",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
