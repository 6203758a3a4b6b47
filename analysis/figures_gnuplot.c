/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "analysis/program.h"
#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>

/* What changes how gnuplot reads and writes numbers, or where it draws. */
static const char *const dropped[] = {"GNUTERM", "GNUPLOT_", "GDFONTPATH", NULL};

/* gnuplot shows the command and a caret, then says `"file" line N: what`, and on the next
 * line perhaps why. */
static const char *what_it_said(char *said)
{
	char *what = strstr(said, "\" line ");

	what = what ? what + 2 : said;
	for (char *end = what + strlen(what); end > what && strchr(" \n", end[-1]);)
		*--end = '\0';
	for (char *newline = what; (newline = strchr(newline, '\n'));)
		*newline = ' ';
	return what[0] ? what : "it said nothing";
}

static enum tl_status run(const char *const *arguments, const char *what, struct tl_error *error)
{
	const struct tl_program gnuplot = {
	    .arguments = arguments, .dropped = dropped, .what_for = "which draws the pictures"};
	struct tl_program_end end;
	enum tl_status status = tl_program_run(&gnuplot, &end, error);

	if (status != TL_OK)
		return status;
	if (end.exit_code != 0)
		status = tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                      "gnuplot failed on the picture `%s`: %s", what,
		                      what_it_said(end.errors));
	tl_program_end_fini(&end);
	return status;
}

enum tl_status tl_gnuplot_run(const char *plots_dir, const char *script, const char *data,
                              const char *out, const char *terminal, const char *title,
                              const struct tl_figure_plot *plot, struct tl_error *error)
{
	char *path = tl_format("%s/%s.gp", plots_dir, script);
	/* -d: not the user's own settings */
	const char *arguments[9 + TL_FIGURE_EXTRAS + 1] = {
	    "gnuplot", "-d", "-c", path, plots_dir, data, out, terminal, title};

	for (size_t i = 0; i < TL_FIGURE_EXTRAS; i++)
		arguments[9 + i] = plot->extras[i];
	enum tl_status status = run(arguments, script, error);
	free(path);
	return status;
}
