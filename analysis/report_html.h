/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The parts that a report's page is made of: escaped text, numbers that say their metric,
 * pictures, tables. Whatever text comes from outside goes through tl_html_text(). */
#ifndef TIDELAB_ANALYSIS_REPORT_HTML_H
#define TIDELAB_ANALYSIS_REPORT_HTML_H

#include "analysis/figures.h"
#include "results/schema.h"
#include "sim/base/error.h"

#include <stddef.h>
#include <stdio.h>

struct tl_html {
	FILE *out;
	/* The metrics that numbers may be of: those of a run, or the means of a sweep's. */
	const struct tl_row_summary *metrics;
	size_t metric_count;
	size_t pictures; /* so far */
};

/* Text as text, in elements and in quoted attributes: & < > " ' are escaped, control
 * characters and what is no UTF-8 become U+FFFD. */
void tl_html_text(struct tl_html *html, const char *text);
/* Markup as it is: for literals of the program. */
void tl_html_raw(struct tl_html *html, const char *markup);
/* The format, a literal, is markup; what it prints is escaped. */
__attribute__((format(printf, 2, 3))) void tl_html_printf(struct tl_html *html, const char *format,
                                                          ...);

/* ---- numbers ---- */

enum { TL_NUMBER_SIZE = 64 };

/* `3,237,305`, `51.75`, `0.00420`; `–` where there is none. Returns buffer. */
const char *tl_number(double value, char buffer[static TL_NUMBER_SIZE]);
/* A ratio as `95.9 %`; from 99 to 100 % with two decimals, and never rounded up to 100: `99.87 %`,
 * `> 99.99 %`. */
const char *tl_number_percent(double ratio, char buffer[static TL_NUMBER_SIZE]);
/* Seconds as `1h 24min`, `133.7 ms`. */
const char *tl_number_duration(double seconds, char buffer[static TL_NUMBER_SIZE]);
/* As people write it: `GPU h` of `gpu.h`, `CNY per GPU h` of `CNY/gpu.h`. */
const char *tl_unit_words(const char *unit, char words[static TL_NUMBER_SIZE]);
/* By the unit: seconds as a duration, else the number with its unit. */
const char *tl_number_of_unit(double value, const char *unit, char buffer[static TL_NUMBER_SIZE]);

/* The metric's value; NaN where there is no such metric. */
double tl_html_value(const struct tl_html *html, const char *metric);
const struct tl_row_summary *tl_html_metric(const struct tl_html *html, const char *metric);

enum tl_number_form { TL_FORM_UNIT, TL_FORM_PERCENT, TL_FORM_PLAIN };
/* The metric's value as a link to its row in the table of all metrics, which is titled
 * by its name. `–` where there is no such metric. */
void tl_html_number(struct tl_html *html, const char *metric, enum tl_number_form form);
/* A number that is no metric: source says what it was made of (`/ledger`, …). */
void tl_html_derived(struct tl_html *html, const char *text, const char *source);

/* ---- the page ---- */

struct tl_html_head {
	const char *title;    /* of the page */
	const char *style;    /* CSS */
	const char *subtitle; /* plain text */
};
/* Up to the opened <main>. */
void tl_html_begin(struct tl_html *html, const struct tl_html_head *head);
void tl_html_end(struct tl_html *html);
/* A section with a heading, for the keyboard and the list of contents; closed by the next
 * or by tl_html_section_end. id and title are literals. */
void tl_html_section(struct tl_html *html, const char *id, const char *title);
void tl_html_section_end(struct tl_html *html);

/* Opens a table that scrolls within itself, with a caption and headings; a heading that
 * begins with `#` is of a column of numbers. Rows are the caller's; then table_end. */
void tl_html_table(struct tl_html *html, const char *caption, const char *const *headings);
void tl_html_table_end(struct tl_html *html);
/* A cell of text, or of a number with what it was made of (may be NULL). */
void tl_html_cell(struct tl_html *html, const char *text);
void tl_html_cell_number(struct tl_html *html, const char *text, const char *source);

/* All metrics in their groups, each with the anchor its numbers link to. */
void tl_html_metrics(struct tl_html *html, const char *value_heading);

/* The picture of that name, drawn or skipped; NULL. */
const struct tl_figure *tl_html_figure(const struct tl_figures *figures, const char *name);
/* The picture's SVG within the page, with a caption and links to the files; one that was
 * skipped is told. TL_E_IO, TL_E_NOINPUT for the file. source: of which tables. */
enum tl_status tl_html_picture(struct tl_html *html, const struct tl_figure *figure,
                               const char *source, struct tl_error *error);

/* ---- report_svg.c ---- */

/* An SVG of gnuplot's as part of a page: without its prolog and its own title, with names
 * that end in number made unique, labelled alt, and with the colours of ink, paper, grid
 * and idle taken from the page (--ink …), so that it suits light and dark. */
enum tl_status tl_svg_inline(FILE *out, const char *path, const char *alt, size_t number,
                             struct tl_error *error);
/* Of tl_html_text(), for those without a page. */
void tl_html_escape(FILE *out, const char *text);

#endif
