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
	size_t length = strlen(result);

	if (length > 3 && strcmp(result + length - 3, ".h5") == 0)
		length -= 3;
	return tl_format("%.*s-figures", (int)length, result);
}

static void report(const struct tl_figures *figures, bool json)
{
	json_t *written = json_array(), *skipped = json_array();

	for (size_t i = 0; i < figures->count; i++) {
		const struct tl_figure *figure = &figures->items[i];

		if (figure->skipped) {
			(void)json_array_append_new(
			    skipped, json_sprintf("%s: %s", figure->name, figure->skipped));
			if (!json)
				(void)fprintf(stderr, "tidelab: skipped %s: %s\n", figure->name,
				              figure->skipped);
			continue;
		}
		(void)json_array_append_new(written, json_string(figure->png));
		(void)json_array_append_new(written, json_string(figure->svg));
		if (!json)
			(void)printf("%s\n%s\n", figure->png, figure->svg);
	}
	json_t *all = json_pack("{s:o, s:o}", "written", written, "skipped", skipped);
	if (json)
		tl_print_json(all, stdout);
	else
		json_decref(all);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const char *result = args->operands[0], *asked = tl_args_value(args, "output");
	char *folder = asked ? tl_strdup(asked) : default_folder(result);
	struct tl_figures figures = {.count = 0};
	enum tl_status status;

	(void)command;
	tl_stop_catch();
	status = tl_figures_write(result, folder, tl_args_value(args, "plots"), &figures, error);
	if (status == TL_OK)
		report(&figures, tl_args_has(args, "json"));
	if (status == TL_OK && figures.written == 0)
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
	"GPUs over time and what they did, waiting times, fragmentation, each service's latency with its\n"
	"breaches and replicas, and who sat where, each as PNG and SVG, by gnuplot. Pictures of these\n"
	"names are replaced (they are drawn of the result alone, and can be again). One whose tables the run did not write is skipped: who sat where needs the\n"
	"placements table, which `run --tables all` writes.",
    .example = "tidelab figures demo.h5 -o pictures",
    TL_FLAGS(flags),
    .least = 1,
    .most = 1,
    .run = run,
};
