/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab export: a result in the forms of other tools. */
#include "sim/cli/cli.h"

#include "analysis/export.h"
#include "sim/base/arena.h"
#include "sim/config/schema.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"format", 'f', "FORMAT", "csv, json, perfetto, batsim-jobs or swf"},
    {"table", 't', "TABLE", "the table, for csv and json, as in /jobs; json without it: all"},
    {"output", 'o', "FILE", "where to; `-` or nothing: standard output; .gz: compressed"},
    {"force", 0, NULL, "replace the output where it exists"},
};

enum format { CSV, JSON, PERFETTO, BATSIM, SWF, FORMATS };

static const char *const format_names[FORMATS] = {"csv", "json", "perfetto", "batsim-jobs", "swf"};

static enum tl_status find_format(const char *asked, enum format *out, struct tl_error *error)
{
	char hint[160];

	for (size_t i = 0; asked && i < FORMATS; i++) {
		if (strcmp(format_names[i], asked) == 0) {
			*out = (enum format)i;
			return TL_OK;
		}
	}
	if (!asked)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--format is missing, wanted csv, json, perfetto, batsim-jobs "
		                    "or swf");
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
	                    "--format: got `%.60s`, wanted a format%s", asked,
	                    tl_suggest_text(format_names, FORMATS, asked, hint, sizeof hint));
}

/* The path of a table as the file has it, for `jobs` and `/jobs`; NULL where not asked for. */
static enum tl_status find_table(struct tl_results_reader *reader, const char *path,
                                 const char *asked, const char **out, struct tl_error *error)
{
	const char *const *tables = tl_results_tables(reader);
	size_t count = 0;
	char hint[400];

	for (*out = NULL; tables[count]; count++)
		if (asked &&
		    (strcmp(tables[count], asked) == 0 || strcmp(tables[count] + 1, asked) == 0))
			*out = tables[count];
	if (*out || !asked)
		return TL_OK;
	return tl_error_set(error, TL_E_DATA, path, 0, 0, "has no table `%.80s`%s", asked,
	                    tl_suggest_text(tables, count, asked, hint, sizeof hint));
}

static enum tl_status check(enum format format, const char *table, struct tl_error *error)
{
	if (table && format != CSV && format != JSON)
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "got --table %s with --format %s, which has its own, wanted one "
		    "of them",
		    table, format_names[format]);
	if (!table && format == CSV)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--table is missing: a CSV file holds one");
	return TL_OK;
}

static enum tl_status write_as(enum format format, struct tl_results_reader *reader,
                               const char *table, FILE *out, struct tl_export_counts *counts,
                               struct tl_error *error)
{
	switch (format) {
	case CSV:
		return tl_export_csv(reader, table, out, error);
	case JSON:
		return tl_export_json(reader, table, out, error);
	case PERFETTO:
		return tl_export_perfetto(reader, out, error);
	case BATSIM:
		return tl_export_batsim(reader, out, counts, error);
	default:
		return tl_export_swf(reader, out, counts, error);
	}
}

static void tell(const struct tl_export_counts *counts)
{
	if (counts->unfinished + counts->gpuless == 0)
		return;
	(void)fprintf(stderr,
	              "tidelab: %llu jobs written; left out: %llu that did not run to an end, %llu "
	              "without a GPU\n",
	              (unsigned long long)counts->written, (unsigned long long)counts->unfinished,
	              (unsigned long long)counts->gpuless);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *path = args->operands[0], *asked = tl_args_value(args, "table"), *table = NULL;
	struct tl_results_reader *reader = NULL;
	struct tl_export_counts counts = {.written = 0};
	struct tl_output output;
	enum format format = CSV;
	enum tl_status status = find_format(tl_args_value(args, "format"), &format, error);

	(void)command;
	if (status == TL_OK)
		status = check(format, asked, error);
	if (status == TL_OK)
		status = tl_results_open(path, &reader, error);
	if (status == TL_OK)
		status = find_table(reader, path, asked, &table, error);
	if (status == TL_OK)
		status = tl_output_open(&output, tl_args_value(args, "output"),
		                        tl_args_has(args, "force"), error);
	if (status == TL_OK) {
		status = write_as(format, reader, table, output.file, &counts, error);
		if (status == TL_E_DATA && error->file[0] == '\0')
			(void)snprintf(error->file, sizeof error->file, "%s", path);
		status = tl_output_close(&output, status, error);
	}
	tl_results_reader_close(reader);
	if (status == TL_OK)
		tell(&counts);
	return status;
}

const struct tl_command tl_command_export = {
    .name = "export",
    .summary = "a result for other tools: CSV, JSON, Perfetto, Batsim, SWF",
    .operands = "RESULT.h5",
    .about =
	"csv, json     any table; json without --table: an object of all of them\n"
	"perfetto      the schedule for ui.perfetto.dev or chrome://tracing: nodes as processes,\n"
	"              GPU slots as tracks, jobs as slices, preemptions and faults as instants;\n"
	"              needs the placements table, which `run --tables all` writes\n"
	"batsim-jobs   the jobs that ran to an end, each a delay of its time in running\n"
	"swf           the same jobs with submit, wait and run time, in whole seconds\n"
	"A processor of batsim-jobs and swf is a GPU; shares are rounded up. What these two leave out\n"
	"is counted on standard error.",
    .example = "tidelab export demo.h5 --format perfetto -o demo.json.gz",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
