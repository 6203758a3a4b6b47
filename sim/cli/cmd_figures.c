/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab figures: pictures of a result file. */
#include "sim/cli/cli.h"

#include "analysis/figures.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"output", 'o', "FOLDER", "where to; RESULT-figures where not given; made where absent"},
    {"plots", 0, "FOLDER", "gnuplot scripts to use instead of the shipped ones"},
    {"json", 'j', NULL, "print what was written and skipped as one JSON object"},
};

static char *default_folder(const char *result)
{
	size_t length = strlen(result), size = length + sizeof "-figures";
	char *folder = tl_alloc(size);

	if (length > 3 && strcmp(result + length - 3, ".h5") == 0)
		length -= 3;
	(void)snprintf(folder, size, "%.*s-figures", (int)length, result);
	return folder;
}

static json_t *texts_json(char *const *texts, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		(void)json_array_append_new(all, json_string(texts[i]));
	return all;
}

static void report(const struct tl_figures *figures, bool json)
{
	json_t *all;

	if (json) {
		all = json_object();
		(void)json_object_set_new(all, "written",
		                          texts_json(figures->written, figures->written_count));
		(void)json_object_set_new(all, "skipped",
		                          texts_json(figures->skipped, figures->skipped_count));
		tl_print_json(all, stdout);
		return;
	}
	for (size_t i = 0; i < figures->written_count; i++)
		(void)puts(figures->written[i]);
	for (size_t i = 0; i < figures->skipped_count; i++)
		(void)fprintf(stderr, "tidelab: skipped %s\n", figures->skipped[i]);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *result = args->operands[0], *asked = tl_args_value(args, "output");
	char *folder = asked ? tl_strdup(asked) : default_folder(result);
	struct tl_figures figures = {.written_count = 0};
	enum tl_status status;

	(void)command;
	tl_stop_catch();
	status = tl_figures_write(result, folder, tl_args_value(args, "plots"), &figures, error);
	if (status == TL_OK)
		report(&figures, tl_args_has(args, "json"));
	if (status == TL_OK && figures.written_count == 0)
		status = tl_error_set(error, TL_E_DATA, result, 0, 0,
		                      "holds nothing that could be drawn");
	tl_figures_fini(&figures);
	free(folder);
	return status;
}

const struct tl_command tl_command_figures = {
    .name = "figures",
    .summary = "draw the pictures of a result file",
    .operands = "RESULT.h5",
    .about =
	"Utilisation over time, waiting times, and who sat where, each as PNG and SVG, by gnuplot.\n"
	"Pictures of these names are replaced. One whose tables the run did not write is skipped: who\n"
	"sat where needs the placements table, which `run --tables all` writes.",
    .example = "tidelab figures demo.h5 -o pictures",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
