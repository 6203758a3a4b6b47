/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab report: a page of a run or of a sweep. */
#include "sim/cli/cli.h"

#include "analysis/report.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "FOLDER",
     "where to: made, with index.html and pictures; RESULT-report where not given"},
    {"force", 0, NULL, "replace a report that is there"},
    {"plots", 0, "FOLDER", "gnuplot scripts and style sheet to use instead of the shipped ones"},
    {"against", 0, "KEY",
     "of a sweep: the key on the axis; oversubscription where not given, or the first number"},
    {"attainment", 0, "SHARE",
     "of a sweep: share of requests in time that every service promises; 0.99 where not given"},
    {"json", 'j', NULL, "print what was written as one JSON object"},
};

static char *default_folder(const char *source)
{
	size_t length = strlen(source);

	while (length > 1 && source[length - 1] == '/')
		length--;
	if (length > 3 && strncmp(source + length - 3, ".h5", 3) == 0)
		length -= 3;
	return tl_format("%.*s-report", (int)length, source);
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
		    stderr, "tidelab: %zu %s skipped for want of data; the page says why\n",
		    report->skipped, report->skipped == 1 ? "picture is" : "pictures are");
}

static enum tl_status read_share(const struct tl_args *args, double *share, struct tl_error *error)
{
	const char *text = tl_args_value(args, "attainment");

	*share = TL_REPORT_PROMISE;
	if (!text)
		return TL_OK;
	if (tl_parse_double(text, share, NULL) != TL_OK || !(*share > 0 && *share < 1))
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--attainment: got `%.40s`, wanted a share above 0 and below 1, "
		    "such as 0.99",
		    text);
	return TL_OK;
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *asked = tl_args_value(args, "output");
	char *folder = asked ? tl_strdup(asked) : default_folder(args->operands[0]);
	struct tl_report_options options = {.source = args->operands[0],
	                                    .out_dir = folder,
	                                    .plots_dir = tl_args_value(args, "plots"),
	                                    .force = tl_args_has(args, "force"),
	                                    .against = tl_args_value(args, "against")};
	struct tl_report report = {.page = NULL};
	enum tl_status status = read_share(args, &options.attainment, error);

	(void)command;
	tl_stop_catch();
	if (status == TL_OK)
		status = tl_report_write(&options, &report, error);
	if (status == TL_OK)
		print(&report, tl_args_has(args, "json"));
	tl_report_fini(&report);
	free(folder);
	return status;
}

const struct tl_command tl_command_report = {
    .name = "report",
    .summary = "write a page that says what a run came to, or what a sweep advises",
    .operands = "RESULT.h5|SWEEP",
    .about =
	"One HTML page that needs nothing else (no network, no script), and its pictures as SVG and PNG\n"
	"for slides. Of a run (its result file), the first paragraph says what happened to the services'\n"
	"promises, what it cost, where the GPU time went, and what to look at first. Of a sweep (its\n"
	"folder, or the file merged of it): what to set, what it saves, what it risks, how sure that is;\n"
	"it advises the cheapest setting whose worst service keeps its promise with 95 % confidence.\n"
	"Every number says its metric. The folder appears when it is whole.",
    .example = "tidelab report demo.h5 -o demo-report",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
