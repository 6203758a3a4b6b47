/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab report: a page of a run or of a sweep. */
#include "sim/cli/cli.h"

#include "analysis/report.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "FOLDER",
     "where to: made, with index.html and pictures; RESULT-report where not given"},
    {"force", 0, NULL, "replace a report that is there"},
    {"plots", 0, "FOLDER", "gnuplot scripts and style sheet to use instead of the shipped ones"},
    {"json", 'j', NULL, "print what was written as one JSON object"},
};

static char *default_folder(const char *source)
{
	size_t length = strlen(source), size = length + sizeof "-report";
	char *folder = tl_alloc(size);

	while (length > 1 && source[length - 1] == '/')
		length--;
	if (length > 3 && strncmp(source + length - 3, ".h5", 3) == 0)
		length -= 3;
	(void)snprintf(folder, size, "%.*s-report", (int)length, source);
	return folder;
}

static void print(const struct tl_report *report, bool json)
{
	if (json)
		tl_print_json(json_pack("{s:s, s:I, s:I}", "page", report->page, "pictures",
		                        (json_int_t)report->pictures, "skipped",
		                        (json_int_t)report->skipped),
		              stdout);
	else
		(void)puts(report->page);
	if (report->skipped > 0 && !json)
		(void)fprintf(
		    stderr,
		    "tidelab: %zu pictures are skipped for want of data; the page says why\n",
		    report->skipped);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *asked = tl_args_value(args, "output");
	char *folder = asked ? tl_strdup(asked) : default_folder(args->operands[0]);
	const struct tl_report_options options = {.source = args->operands[0],
	                                          .out_dir = folder,
	                                          .plots_dir = tl_args_value(args, "plots"),
	                                          .force = tl_args_has(args, "force")};
	struct tl_report report;
	enum tl_status status;

	(void)command;
	tl_stop_catch();
	status = tl_report_write(&options, &report, error);
	if (status == TL_OK)
		print(&report, tl_args_has(args, "json"));
	tl_report_fini(&report);
	free(folder);
	return status;
}

const struct tl_command tl_command_report = {
    .name = "report",
    .summary = "write a page that says what a run came to",
    .operands = "RESULT.h5",
    .about =
	"One HTML page that needs nothing else (no network, no script), and its pictures as SVG and PNG\n"
	"for slides. The first paragraph says what happened to the services' promises, what it cost,\n"
	"where the GPU time went, and what to look at first; every number links to its metric. Prints\n"
	"well, in light and dark. The folder appears when it is whole.",
    .example = "tidelab report demo.h5 -o demo-report",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
