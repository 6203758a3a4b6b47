/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of analysis/figures share. */
#ifndef TIDELAB_ANALYSIS_FIGURES_PRIVATE_H
#define TIDELAB_ANALYSIS_FIGURES_PRIVATE_H

#include "results/schema.h"

#include <stdbool.h>
#include <stdio.h>

enum { TL_FIGURE_EXTRAS = 4, TL_FIGURE_EXTRA_SIZE = 128, TL_FIGURE_REASON_SIZE = 160 };

/* What a script gets besides its data: ARG6 to ARG9. */
struct tl_figure_plot {
	char extras[TL_FIGURE_EXTRAS][TL_FIGURE_EXTRA_SIZE];
	char skip[TL_FIGURE_REASON_SIZE]; /* why there is nothing to draw; empty: there is */
};

/* Each writes the data of one picture. Errors are the reader's; whether data could be
 * written is for the caller to see. */
enum tl_status tl_figure_utilisation(struct tl_results_reader *reader, FILE *data,
                                     struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_waiting(struct tl_results_reader *reader, FILE *data,
                                 struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_gantt(struct tl_results_reader *reader, FILE *data,
                               struct tl_figure_plot *plot, struct tl_error *error);

/* Says in plot->skip which of the tables is not there; true where all are. */
bool tl_figure_has(struct tl_results_reader *reader, const char *const *tables,
                   struct tl_figure_plot *plot);

/* A unit that suits the span, and its length. */
const char *tl_figure_time_unit(int64_t span_ns, double *unit_ns);

/* Number of a kind of work by its name; unknown ones are `other`. */
size_t tl_figure_kind(const char *name);

/* Runs `gnuplot script plots_dir data out terminal title extras…`. what names the picture
 * in messages. TL_E_UNAVAILABLE where gnuplot is absent or fails. */
enum tl_status tl_gnuplot_run(const char *plots_dir, const char *script, const char *data,
                              const char *out, const char *terminal, const char *title,
                              const struct tl_figure_plot *plot, struct tl_error *error);

#endif
