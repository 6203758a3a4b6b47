/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"
#include "analysis/report_html.h"

#include <stdlib.h>
#include <string.h>

/* As gnuplot writes them for what plots/style.gp sets, and what stands in their place. */
static const struct swap {
	const char *from, *to;
} swaps[] = {
    {"rgb( 51,  51,  51)", "var(--ink)"},        {"rgb(51,51,51)", "var(--ink)"},
    {"rgb(  0,   0,   0)", "var(--ink)"},        {"rgb(0,0,0)", "var(--ink)"},
    {"rgb(216, 216, 216)", "var(--grid)"},       {"rgb(216,216,216)", "var(--grid)"},
    {"rgb(228, 228, 228)", "var(--idle)"},       {"rgb(228,228,228)", "var(--idle)"},
    {"rgb(194, 194, 194)", "var(--idle2)"},      {"rgb(154, 154, 154)", "var(--idle3)"},
    {"rgb( 58,  58,  58)", "var(--down)"},       {"rgb(58,58,58)", "var(--down)"},
    {"rgb(  0, 114, 178)", "var(--blue)"},       {"#ffffff", "var(--paper)"},
    {"color=\"black\"", "color=\"var(--ink)\""},
};

/* Names are made unique by the picture's number. */
static const char *const named[] = {"id=\"gnuplot_", "id='gp", "'#gp", "id='textbox'",
                                    "id='greybox'"};

static void write_body(FILE *out, const char *body, size_t number)
{
	while (*body) {
		bool swapped = false;

		for (size_t i = 0; i < sizeof(swaps) / sizeof(swaps[0]) && !swapped; i++) {
			size_t length = strlen(swaps[i].from);

			swapped = strncmp(body, swaps[i].from, length) == 0;
			if (swapped) {
				fputs(swaps[i].to, out);
				body += length;
			}
		}
		for (size_t i = 0; i < sizeof(named) / sizeof(named[0]) && !swapped; i++) {
			size_t quote = strcspn(named[i], "\"'#");
			size_t kept = named[i][quote + 1] == '#' ? quote + 2 : quote + 1;

			swapped = strncmp(body, named[i], strlen(named[i])) == 0;
			if (swapped) {
				fprintf(out, "%.*sp%zu-%s", (int)kept, named[i], number,
				        named[i] + kept);
				body += strlen(named[i]);
			}
		}
		if (!swapped)
			fputc(*body++, out);
	}
}

enum tl_status tl_svg_inline(FILE *out, const char *path, const char *alt, size_t number,
                             struct tl_error *error)
{
	char *text = NULL;
	enum tl_status status = tl_figure_slurp(path, "picture", &text, error);

	if (status != TL_OK)
		return status;
	const char *box = strstr(text, "viewBox=\""), *body = strstr(text, "<g id=");
	if (!box || !body || body < box || !strchr(box + 9, '"')) {
		free(text);
		return tl_error_set(error, TL_E_DATA, path, 0, 0,
		                    "got no SVG as gnuplot writes it, wanted one with a viewBox");
	}
	fprintf(out,
	        "<svg %.*s\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" role=\"img\" "
	        "aria-label=\"",
	        (int)strcspn(box + 9, "\"") + 9, box);
	tl_html_escape(out, alt);
	fputs("\">\n", out);
	write_body(out, body, number);
	free(text);
	return TL_OK;
}
