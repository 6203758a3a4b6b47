/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of analysis/figures share. */
#ifndef TIDELAB_ANALYSIS_FIGURES_PRIVATE_H
#define TIDELAB_ANALYSIS_FIGURES_PRIVATE_H

#include "results/schema.h"

#include <stdbool.h>
#include <stdio.h>

enum {
	TL_FIGURE_EXTRAS = 4,
	TL_FIGURE_EXTRA_SIZE = 256,
	TL_FIGURE_REASON_SIZE = 192,
	TL_FIGURE_ALT_SIZE = 1024
};

/* What a script gets besides its data: ARG6 to ARG9. */
struct tl_figure_plot {
	const char *table; /* given: the table of the service to be drawn */
	char extras[TL_FIGURE_EXTRAS][TL_FIGURE_EXTRA_SIZE];
	char alt[TL_FIGURE_ALT_SIZE];     /* what is to be seen, for those who do not see it */
	char skip[TL_FIGURE_REASON_SIZE]; /* why there is nothing to draw; empty: there is */
};

/* Each writes the data of one picture. Errors are the reader's; whether data could be
 * written is for the caller to see. */
enum tl_status tl_figure_utilisation(struct tl_results_reader *reader, FILE *data,
                                     struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_purposes(struct tl_results_reader *reader, FILE *data,
                                  struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_waiting(struct tl_results_reader *reader, FILE *data,
                                 struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_fragmentation(struct tl_results_reader *reader, FILE *data,
                                       struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_service(struct tl_results_reader *reader, FILE *data,
                                 struct tl_figure_plot *plot, struct tl_error *error);
enum tl_status tl_figure_gantt(struct tl_results_reader *reader, FILE *data,
                               struct tl_figure_plot *plot, struct tl_error *error);

/* Says in plot->skip which of the tables is not there; true where all are. */
bool tl_figure_has(struct tl_results_reader *reader, const char *const *tables,
                   struct tl_figure_plot *plot);

/* The timeline, malloc'd; NULL where plot->skip says why. Rows that are out of order are
 * TL_E_DATA. */
enum tl_status tl_figure_timeline(struct tl_results_reader *reader, struct tl_row_timeline **rows,
                                  size_t *count, struct tl_figure_plot *plot,
                                  struct tl_error *error);

/* A unit that suits the span, and its length. */
const char *tl_figure_time_unit(int64_t span_ns, double *unit_ns);

/* The axis of time as the scripts take it: ARG6 the unit, ARG7 from:to. Returns its length. */
double tl_figure_time_axis(struct tl_figure_plot *plot, int64_t begin_ns, int64_t end_ns);

/* Number of a kind of work by its name; unknown ones are `other`. */
size_t tl_figure_kind(const char *name);

/* Goes on with a text of that size; what finds no room is cut. */
__attribute__((format(printf, 3, 4))) void tl_figure_append(char *text, size_t size,
                                                            const char *format, ...);

/* What gnuplot would not take as it is within "" in data becomes ' or a space; in place. */
char *tl_figure_quotable(char *text);

/* ---- figures.c: a picture of whatever source ---- */

struct tl_figures;

struct tl_drawing {
	const char *source_path; /* named in messages */
	const char *out_dir;
	const char *plots_dir;
	const char *of; /* begins the titles: name of the run; may be empty */
	struct tl_figures *figures;
};

typedef enum tl_status (*tl_figure_prepare)(void *source, FILE *data, struct tl_figure_plot *plot,
                                            struct tl_error *error);

/* Prepares the data, draws name.png and name.svg by script.gp and lists them, or says why
 * not. plot: zero but for what is given. */
enum tl_status tl_figure_draw(const struct tl_drawing *drawing, const char *script,
                              const char *name, const char *title, tl_figure_prepare prepare,
                              void *source, struct tl_figure_plot *plot, struct tl_error *error);

/* A path that gnuplot takes for none of its own signs; the folder of the scripts (asked:
 * may be NULL), or TL_E_UNAVAILABLE; a folder, made where it is absent. Malloc'd. */
char *tl_figure_plain_path(const char *path);
enum tl_status tl_figure_scripts(const char *asked, char **out, struct tl_error *error);
/* The style sheet of reports, which stands among the scripts; malloc'd. */
enum tl_status tl_figure_style(const char *scripts, char **out, struct tl_error *error);
/* A whole file as text; malloc'd. what names it in messages. */
enum tl_status tl_figure_slurp(const char *path, const char *what, char **out,
                               struct tl_error *error);

/* ---- figures_bins.c: means over time, a little under one a pixel of the plot ---- */

enum { TL_FIGURE_BINS = 1000 };

struct tl_figure_bins {
	size_t series;
	int64_t begin_ns;
	double width_ns;
	double *sum;   /* [bin × series + number], value × ns */
	double *total; /* a series, value × ns */
	double *most;  /* a series */
};

/* An empty span is taken as a second. */
void tl_figure_bins_init(struct tl_figure_bins *bins, size_t series, int64_t begin_ns,
                         int64_t end_ns);
void tl_figure_bins_fini(struct tl_figure_bins *bins);
/* A value a series, held from from_ns to to_ns: each bin gets its share of that time. */
void tl_figure_bins_add(struct tl_figure_bins *bins, const double *values, int64_t from_ns,
                        int64_t to_ns);
double tl_figure_bins_mean(const struct tl_figure_bins *bins, int bin, size_t series);
/* The middle of a bin. */
double tl_figure_bins_time_ns(const struct tl_figure_bins *bins, int bin);

/* ---- figures_gnuplot.c ---- */

/* Runs `gnuplot script plots_dir data out terminal title extras…`. what names the picture
 * in messages. TL_E_UNAVAILABLE where gnuplot is absent or fails. */
enum tl_status tl_gnuplot_run(const char *plots_dir, const char *script, const char *data,
                              const char *out, const char *terminal, const char *title,
                              const struct tl_figure_plot *plot, struct tl_error *error);

#endif
