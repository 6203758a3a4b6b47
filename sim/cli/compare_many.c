/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Several comparisons as one table: a row a setting, a column a metric. */
#include "sim/cli/compare.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_MAX = 46, CELL_LEAST = 15, RUNS_WIDTH = 6 };

struct many {
	const struct tl_shown *shown;
	size_t count;
	char **labels; /* a row's */
	size_t width;  /* of the labels */
	bool one_a;    /* all against the same setting */
	FILE *out;
};

static bool has(const struct tl_runs *runs, const char *setting)
{
	const char *const settings[] = {setting};

	return tl_runs_match(runs, settings, 1);
}

/* What tells the settings apart: of a sweep's cell, not what every side has alike. */
static char *label_of(const struct many *many, const struct tl_runs *runs)
{
	char *label = tl_strdup("");

	for (size_t i = 0; i < many->count; i++)
		if (strcmp(many->shown[i].b.runs->source, many->shown[0].b.runs->source) != 0 ||
		    (many->one_a && strcmp(many->shown[i].a.runs->source, runs->source) != 0)) {
			free(label);
			return tl_runs_label(runs);
		}
	for (size_t s = 0; s < runs->setting_count; s++) {
		bool alike = true;

		for (size_t i = 0; i < many->count && alike; i++)
			alike = has(many->shown[i].a.runs, runs->settings[s]) &&
			        has(many->shown[i].b.runs, runs->settings[s]);
		if (!alike)
			tl_append(&label, "%s%s", label[0] ? ", " : "", runs->settings[s]);
	}
	if (label[0] == '\0') {
		free(label);
		label = tl_runs_label(runs);
	}
	return label;
}

/* The comparison of a row that has most runs. */
static const struct tl_comparison *widest(const struct tl_shown *shown)
{
	const struct tl_comparison *most = &shown->rows[0];

	for (size_t i = 1; i < shown->count; i++)
		if (shown->rows[i].a_count + shown->rows[i].b_count > most->a_count + most->b_count)
			most = &shown->rows[i];
	return most;
}

static size_t column_width(const struct many *many, size_t metric)
{
	const size_t length = strlen(many->shown[0].rows[metric].metric);

	return 2 + (length > CELL_LEAST ? length : CELL_LEAST);
}

/* A label that is too long has a line of its own. */
static void print_label(const struct many *many, const char *label, const char *runs)
{
	if (strlen(label) > many->width)
		(void)fprintf(many->out, "%s\n%*s", label, (int)many->width, "");
	else
		(void)fprintf(many->out, "%-*s", (int)many->width, label);
	(void)fprintf(many->out, "%*s", RUNS_WIDTH, runs);
}

static void print_reference(const struct many *many, size_t from, size_t to)
{
	print_label(many, "A", "");
	for (size_t m = from; m < to; m++) {
		const struct tl_comparison *most = &many->shown[0].rows[m];
		char text[TL_COMPARE_NUMBER];

		for (size_t i = 1; i < many->count; i++)
			if (many->shown[i].rows[m].a_count > most->a_count)
				most = &many->shown[i].rows[m];
		(void)fprintf(many->out, "%*s", (int)column_width(many, m),
		              tl_compare_number(most->a, false, text));
	}
	(void)fputc('\n', many->out);
}

/* Nothing where there is no change to tell; what is not shown has no word of its own. */
static void print_cell(const struct many *many, const struct tl_shown *shown, size_t metric)
{
	const struct tl_comparison *row = &shown->rows[metric];
	char number[TL_COMPARE_NUMBER], text[80];
	const char *change = tl_compare_change(row, number);

	if (change[0] == '-' && change[1] == '\0')
		change = tl_compare_number(row->difference, true, number);
	if (row->verdict == TL_COMPARE_SAME || !isfinite(row->difference))
		(void)snprintf(text, sizeof text, "%s", tl_compare_verdict(row));
	else if (row->verdict == TL_COMPARE_NOT_SHOWN || row->verdict == TL_COMPARE_UNTESTED)
		(void)snprintf(text, sizeof text, "%s", change);
	else
		(void)snprintf(text, sizeof text, "%s %s", change, tl_compare_verdict(row));
	(void)fprintf(many->out, "%*s%s",
	              (int)column_width(many, metric) -
	                  (tl_compare_is_meaningless(shown, row) ? 2 : 0),
	              text, tl_compare_is_meaningless(shown, row) ? " !" : "");
}

/* As many metrics as a line has room for. */
static void print_block(const struct many *many, size_t from, size_t to)
{
	char runs[40];

	print_label(many, "", "runs");
	for (size_t m = from; m < to; m++)
		(void)fprintf(many->out, "%*s", (int)column_width(many, m),
		              many->shown[0].rows[m].metric);
	(void)fputc('\n', many->out);
	print_label(many, "", "");
	for (size_t m = from; m < to; m++)
		(void)fprintf(many->out, "%*s", (int)column_width(many, m),
		              strcmp(many->shown[0].rows[m].unit, "1") == 0
		                  ? ""
		                  : many->shown[0].rows[m].unit);
	(void)fputc('\n', many->out);
	if (many->one_a)
		print_reference(many, from, to);
	for (size_t i = 0; i < many->count; i++) {
		const struct tl_comparison *most = widest(&many->shown[i]);

		(void)snprintf(runs, sizeof runs, most->paired ? "%zu" : "%zu+%zu", most->a_count,
		               most->b_count);
		print_label(many, many->labels[i], runs);
		for (size_t m = from; m < to; m++)
			print_cell(many, &many->shown[i], m);
		(void)fputc('\n', many->out);
	}
}

static void print_head(const struct many *many)
{
	const struct tl_shown *first = &many->shown[0];
	char *label = tl_runs_label(first->a.runs);

	if (many->one_a)
		(void)fprintf(many->out, "A  %s\n", label);
	else
		(void)fprintf(many->out, "cell by cell against %s\n", first->a.runs->source);
	(void)fprintf(
	    many->out,
	    "change of the mean against %s; a word beside it: the difference is shown, with "
	    "%g %% confidence\n(%s over a row's metrics); runs: pairs of a seed, or A's + "
	    "its own\n\n",
	    many->one_a ? "A" : "it", 100 * first->options.confidence,
	    tl_compare_correction(first->options.correction));
	free(label);
}

static void print_notes(const struct many *many)
{
	for (size_t i = 0; i < many->count; i++) {
		const struct tl_shown *shown = &many->shown[i];
		bool any = false;

		for (size_t m = 0; m < shown->count; m++)
			any |= tl_compare_is_hidden(&shown->rows[m]);
		if (any)
			(void)fprintf(many->out, "%s: ", many->labels[i]);
		tl_compare_print_hidden(shown, many->out);
	}
	if (many->one_a)
		tl_compare_print_saturated("A", &many->shown[0].a.settling, many->out);
	for (size_t i = 0; i < many->count; i++)
		tl_compare_print_saturated(many->labels[i], &many->shown[i].b.settling, many->out);
	(void)fputs("--details: each of them in full, with intervals\n", many->out);
}

void tl_compare_print_many(const struct tl_shown *shown, size_t count, FILE *out)
{
	struct many many = {.shown = shown, .count = count, .one_a = true, .out = out};
	const size_t metrics = shown[0].count;
	size_t to;

	many.labels = tl_calloc(count, sizeof *many.labels);
	for (size_t i = 0; i < count; i++)
		many.one_a &= shown[i].a.runs == shown[0].a.runs;
	for (size_t i = 0; i < count; i++) {
		size_t length;

		many.labels[i] = label_of(&many, shown[i].b.runs);
		length = strlen(many.labels[i]);
		if (length <= LABEL_MAX && length > many.width)
			many.width = length;
	}
	print_head(&many);
	for (size_t from = 0; from < metrics; from = to) {
		size_t column = many.width + RUNS_WIDTH + column_width(&many, from);

		to = from + 1;
		while (to < metrics && column + column_width(&many, to) <= TL_COMPARE_WIDTH)
			column += column_width(&many, to++);
		print_block(&many, from, to);
		(void)fputc('\n', out);
	}
	print_notes(&many);
	for (size_t i = 0; i < count; i++)
		free(many.labels[i]);
	free(many.labels);
}
