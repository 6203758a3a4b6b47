/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab reference: what can be written, what is written, and who decides, as Markdown. */
#include "sim/cli/cli.h"

#include "sim/config/schema.h"

#include <string.h>

static const char *column_type(const struct tl_column *column, char *buffer, size_t size)
{
	static const char *const names[] = {"int64", "uint64",  "int32", "uint32", "uint16",
	                                    "uint8", "float64", "text",  "enum"};

	if (column->type == TL_COLUMN_TEXT)
		(void)snprintf(buffer, size, "text, %zu bytes at most", column->size - 1);
	else
		(void)snprintf(buffer, size, "%s", names[column->type]);
	return buffer;
}

static void table(const struct tl_table_schema *schema, FILE *out)
{
	(void)fprintf(
	    out, "\n## `%s`\n\n%s\n\n| column | type | unit | what it is |\n|---|---|---|---|\n",
	    schema->path, schema->help);
	for (size_t i = 0; i < schema->column_count; i++) {
		const struct tl_column *column = &schema->columns[i];
		char type[64];

		(void)fprintf(out, "| `%s` | %s | %s | %s", column->name,
		              column_type(column, type, sizeof type), column->unit, column->help);
		for (size_t n = 0; column->names && column->names[n]; n++)
			(void)fprintf(out, "%s%zu %s", n ? ", " : ": ", n, column->names[n]);
		(void)fputs(" |\n", out);
	}
}

static void results_reference(FILE *out)
{
	(void)fprintf(
	    out,
	    "# The result file\n\nHDF5, schema %d.%d. Times are ns since the scenario's start; -1: did "
	    "not happen. Columns carry `unit.<column>` and `help.<column>` as attributes of their "
	    "table; `output.tables` of the scenario chooses the tables.\n",
	    TL_RESULTS_SCHEMA_MAJOR, TL_RESULTS_SCHEMA_MINOR);
	for (size_t i = 0; tl_schema_all[i]; i++)
		table(tl_schema_all[i], out);
	(void)fputs(
	    "\n# The file of a sweep\n\nWhat `tidelab merge` makes of a folder of runs. Its root has "
	    "`kind` = `sweep`, the `design`, and the `scenario` that was varied.\n",
	    out);
	for (size_t i = 0; tl_schema_sweep_all[i]; i++)
		table(tl_schema_sweep_all[i], out);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *topic = args->operands[0];

	(void)command;
	if (strcmp(topic, "scenario") == 0)
		tl_scenario_reference(stdout);
	else if (strcmp(topic, "results") == 0)
		results_reference(stdout);
	else if (strcmp(topic, "policies") == 0)
		return tl_policies_reference(stdout, error);
	else
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "got `%.60s`, wanted scenario, results or policies", topic);
	return TL_OK;
}

const struct tl_command tl_command_reference = {
    .name = "reference",
    .summary = "every key, table or policy, as Markdown",
    .operands = "scenario|results|policies",
    .about = "Made from the tables that the program itself works by.",
    .example = "tidelab reference scenario",
    .least = 1,
    .most = 1,
    .run = run,
};
