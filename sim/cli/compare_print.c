/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as a table for people. */
#include "sim/cli/compare.h"

#include "results/metrics.h"
#include "sim/base/units.h"
#include "sim/cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 27, NUMBER_SIZE = TL_COMPARE_NUMBER, DIFFERENCES_SHOWN = 8 };

static const char *const verdicts[] = {"same", "not shown", "lower", "higher", "-"};

/* As many digits as asked for, or the whole part; `-` for none. */
static const char *number_to(int digits, double value, bool sign, char buffer[NUMBER_SIZE])
{
	const double size = fabs(value);
	const bool whole = size < 1e9 && (size >= 1000 || !(fabs(value - rint(value)) > 0));

	if (!isfinite(value))
		return "-";
	if (whole)
		(void)snprintf(buffer, NUMBER_SIZE, sign ? "%+.0f" : "%.0f", value);
	else
		(void)snprintf(buffer, NUMBER_SIZE, sign ? "%+.*g" : "%.*g", digits, value);
	return buffer;
}

const char *tl_compare_number(double value, bool sign, char buffer[NUMBER_SIZE])
{
	return number_to(4, value, sign, buffer);
}

static const char *interval_text(const struct tl_stats_interval *interval, bool sign, char *buffer,
                                 size_t size)
{
	char low[NUMBER_SIZE], high[NUMBER_SIZE];

	if (!isfinite(interval->low) || !isfinite(interval->high))
		return "-";
	(void)snprintf(buffer, size, "[%s, %s]", number_to(3, interval->low, sign, low),
	               number_to(3, interval->high, sign, high));
	return buffer;
}

/* Which of the two is good depends on the metric. */
const char *tl_compare_verdict(const struct tl_comparison *row)
{
	const enum tl_better better = tl_metric_better(row->metric);

	if ((row->verdict != TL_COMPARE_LOWER && row->verdict != TL_COMPARE_HIGHER) ||
	    better == TL_BETTER_NEITHER)
		return verdicts[row->verdict];
	return (row->verdict == TL_COMPARE_LOWER) == (better == TL_BETTER_LOW) ? "better" : "worse";
}

/* In per cent; there where there is a ratio. */
static double change_of(const struct tl_comparison *row)
{
	return 100 * (row->b - row->a) / fabs(row->a);
}

const char *tl_compare_change(const struct tl_comparison *row, char buffer[NUMBER_SIZE])
{
	if (isfinite(row->ratio) && fabs(row->ratio) < 100)
		(void)snprintf(buffer, NUMBER_SIZE, "%+.1f %%", change_of(row));
	else
		(void)snprintf(buffer, NUMBER_SIZE, "-");
	return buffer;
}

static bool is_shown(const struct tl_comparison *row)
{
	return row->verdict == TL_COMPARE_LOWER || row->verdict == TL_COMPARE_HIGHER;
}

bool tl_compare_is_hidden(const struct tl_comparison *row)
{
	return row->verdict == TL_COMPARE_NOT_SHOWN &&
	       (row->interval.low > 0 || row->interval.high < 0);
}

bool tl_compare_is_meaningless(const struct tl_shown *shown, const struct tl_comparison *row)
{
	return shown->a.settling.saturated + shown->b.settling.saturated > 0 &&
	       tl_metric_follows_queue(row->metric);
}

/* ---- before the table ---- */

static void print_side(const char *name, const struct tl_side *side, FILE *out)
{
	const struct tl_runs *runs = side->runs;
	char *label = tl_runs_label(runs);

	(void)fprintf(out, "%s  %s: %zu run%s", name, label, runs->count - runs->missing,
	              runs->count - runs->missing == 1 ? "" : "s");
	if (runs->missing > 0)
		(void)fprintf(out, ", %zu missing", runs->missing);
	(void)fputc('\n', out);
	free(label);
}

/* An empty text is a setting too: no module, no pool. */
static const char *value_text(const char *value)
{
	if (!value)
		return "nothing";
	return value[0] == '\0' ? "none" : value;
}

static void print_differences(const struct tl_differences *differences, FILE *out)
{
	for (size_t i = 0; i < differences->count && i < DIFFERENCES_SHOWN; i++) {
		const struct tl_difference *d = &differences->items[i];

		(void)fprintf(out, "%s%s: %s → %s\n", i == 0 ? "B has " : "      ", d->key,
		              value_text(d->a), value_text(d->b));
	}
	if (differences->count > DIFFERENCES_SHOWN)
		(void)fprintf(out, "      and %zu more differences\n",
		              differences->count - DIFFERENCES_SHOWN);
}

const char *tl_compare_correction(enum tl_correction correction)
{
	static const char *const texts[] = {"Holm's correction",
	                                    "Benjamini and Hochberg's correction", "no correction"};

	return texts[correction];
}

size_t tl_compare_tested(const struct tl_shown *shown)
{
	size_t tested = 0;

	for (size_t i = 0; i < shown->count; i++)
		tested += isfinite(shown->rows[i].p) != 0;
	return tested;
}

/* Of what was tested, or the only thing that could be: one run a side. */
static void print_method(const struct tl_shown *shown, FILE *out)
{
	const struct tl_comparison *widest = NULL;
	const size_t tested = tl_compare_tested(shown);

	for (size_t i = 0; i < shown->count; i++) {
		const struct tl_comparison *row = &shown->rows[i];

		if (!widest || row->a_count + row->b_count > widest->a_count + widest->b_count)
			widest = row;
	}
	if (!widest)
		return;
	if (tested > 0 && widest->paired)
		(void)fprintf(out, "%zu pairs of the same seed; %g %% intervals by Student's t",
		              widest->a_count, 100 * shown->options.confidence);
	else if (tested > 0)
		(void)fprintf(
		    out, "no seed in common: %zu and %zu samples; %g %% intervals by Welch's t",
		    widest->a_count, widest->b_count, 100 * shown->options.confidence);
	else if (widest->a_count <= 1 || widest->b_count <= 1)
		(void)fprintf(out, "one run a side: differences, and nothing to judge them by; "
		                   "more seeds give intervals");
	else
		(void)fprintf(out, "nothing varies");
	if (tested > 0)
		(void)fprintf(out, "; %s over %zu metric%s",
		              tl_compare_correction(shown->options.correction), tested,
		              tested == 1 ? "" : "s");
	(void)fputs("\n\n", out);
}

/* ---- the table ---- */

static void print_details(const struct tl_comparison *row, FILE *out)
{
	char ratio[NUMBER_SIZE], effect[NUMBER_SIZE], p[NUMBER_SIZE], corrected[NUMBER_SIZE];
	char bootstrap[80], ratios[80];

	if (!isfinite(row->p))
		return;
	(void)fprintf(out, "      bootstrap %s; ratio %s %s; %s %s; p %s, corrected %s\n",
	              interval_text(&row->bootstrap, true, bootstrap, sizeof bootstrap),
	              tl_compare_number(row->ratio, false, ratio),
	              interval_text(&row->ratio_interval, false, ratios, sizeof ratios),
	              row->paired ? "d_z" : "g", tl_compare_number(row->effect, true, effect),
	              tl_compare_number(row->p, false, p),
	              tl_compare_number(row->p_corrected, false, corrected));
}

static void print_row(const struct tl_shown *shown, const struct tl_comparison *row, FILE *out)
{
	char a[NUMBER_SIZE], b[NUMBER_SIZE], difference[NUMBER_SIZE], interval[80],
	    change[NUMBER_SIZE];
	const char *unit = strcmp(row->unit, "1") == 0 ? "" : row->unit;
	int left = NAME_WIDTH - (int)strlen(row->metric);

	(void)fprintf(out, "  %s", row->metric);
	if (left < (int)strlen(unit) + (unit[0] != '\0')) {
		(void)fputs("\n  ", out);
		left = NAME_WIDTH;
	}
	(void)fprintf(out, "%*s", left, unit);
	(void)fprintf(out, " %9s %9s %9s %-20s %8s  %s%s\n", tl_compare_number(row->a, false, a),
	              tl_compare_number(row->b, false, b),
	              tl_compare_number(row->difference, true, difference),
	              interval_text(&row->interval, true, interval, sizeof interval),
	              tl_compare_change(row, change), tl_compare_verdict(row),
	              tl_compare_is_meaningless(shown, row) ? " !" : "");
	if (shown->details)
		print_details(row, out);
}

static void print_table(const struct tl_shown *shown, FILE *out)
{
	(void)fprintf(out, "  %-*s %9s %9s %9s %-20s %8s  %s\n", NAME_WIDTH, "mean of the runs",
	              "A", "B", "B - A", "interval of B - A", "change", "verdict");
	for (size_t g = 0; tl_metric_group_title(g); g++) {
		bool titled = false;

		for (size_t i = 0; i < shown->count; i++) {
			if (tl_metric_group(shown->rows[i].metric) != g)
				continue;
			if (!titled)
				(void)fprintf(out, "%s\n", tl_metric_group_title(g));
			titled = true;
			print_row(shown, &shown->rows[i], out);
		}
	}
}

/* ---- after it ---- */

/* The metrics of a verdict, in lines of the table's width. */
static void print_those(const struct tl_shown *shown, const char *verdict, FILE *out)
{
	size_t column = 0;

	for (size_t i = 0; i < shown->count; i++) {
		const struct tl_comparison *row = &shown->rows[i];
		char change[NUMBER_SIZE] = "", text[160];
		size_t length;

		if (!is_shown(row) || strcmp(tl_compare_verdict(row), verdict) != 0)
			continue;
		if (isfinite(row->ratio) && fabs(row->ratio) < 100)
			(void)snprintf(change, sizeof change, " (%+.1f %%)", change_of(row));
		length = (size_t)snprintf(text, sizeof text, "%s%s", row->metric, change);
		if (column == 0)
			column = (size_t)fprintf(out, "%s: ", verdict);
		else if (column + length + 2 > TL_COMPARE_WIDTH)
			column = (size_t)fprintf(out, ",\n  ") - 2;
		else
			column += (size_t)fprintf(out, ", ");
		column += (size_t)fprintf(out, "%s", text);
	}
	if (column > 0)
		(void)fputc('\n', out);
}

static void print_conclusion(const struct tl_shown *shown, FILE *out)
{
	const size_t tested = tl_compare_tested(shown);
	size_t differ = 0, same = 0;
	char others[64] = "";

	for (size_t i = 0; i < shown->count; i++) {
		differ += is_shown(&shown->rows[i]);
		same += shown->rows[i].verdict == TL_COMPARE_SAME;
	}
	if (same > 0)
		(void)snprintf(others, sizeof others, "; %zu more %s the same in every run", same,
		               same == 1 ? "is" : "are");
	(void)fputc('\n', out);
	if (differ > 0)
		(void)fprintf(out, "of %zu metrics tested %zu differ%s%s:\n", tested, differ,
		              differ == 1 ? "s" : "", others);
	else if (tested > 0)
		(void)fprintf(out, "no difference shown in any of %zu metrics tested%s\n", tested,
		              others);
	else if (same == shown->count && same > 0)
		(void)fprintf(out, "every metric is the same in every run\n");
	for (size_t v = 0; v < 4; v++)
		print_those(shown, (const char *const[]){"better", "worse", "lower", "higher"}[v],
		            out);
}

/* An interval that leaves out 0 beside `not shown` looks like a slip, and is the correction. */
void tl_compare_print_hidden(const struct tl_shown *shown, FILE *out)
{
	const size_t tested = tl_compare_tested(shown);
	size_t column = 0;

	for (size_t i = 0; i < shown->count; i++) {
		const struct tl_comparison *row = &shown->rows[i];
		size_t seeds, length;
		char text[160];

		if (!tl_compare_is_hidden(row))
			continue;
		seeds = tl_compare_seeds(row, tested, &shown->options);
		if (column == 0) {
			(void)fprintf(out,
			              "hidden by %s over %zu metrics alone; about so many seeds "
			              "would show them:\n",
			              tl_compare_correction(shown->options.correction), tested);
			column = (size_t)fprintf(out, "  ");
		} else {
			column += (size_t)fprintf(out, ", ");
		}
		length = (size_t)snprintf(text, sizeof text, seeds > 0 ? "%s %zu" : "%s -",
		                          row->metric, seeds);
		if (column + length + 1 > TL_COMPARE_WIDTH)
			column = (size_t)fprintf(out, "\n  ") - 1;
		column += (size_t)fprintf(out, "%s", text);
	}
	if (column > 0)
		(void)fputc('\n', out);
}

void tl_compare_print_saturated(const char *name, const struct tl_settling *s, FILE *out)
{
	if (s->saturated > 0)
		(void)fprintf(out,
		              "! the queue never settles in %zu of %zu runs of %s: where marked, "
		              "means tell of the\n  length of the run and of nothing else\n",
		              s->saturated, s->judged, name);
}

static void print_settling(const char *name, const struct tl_settling *s, FILE *out)
{
	char warmup[32], length[32];

	tl_compare_print_saturated(name, s, out);
	if (s->unsettled > 0)
		(void)fprintf(out,
		              "%s: in %zu of %zu runs the warm-up had no end in the first half of "
		              "the run\n",
		              name, s->unsettled, s->judged);
	if (s->warmup_ns > 0)
		(void)fprintf(out,
		              "%s: the queue warms up for as long as %s of %s (MSER-5); --steady "
		              "leaves that out\n",
		              name, tl_format_duration(s->warmup_ns, warmup, sizeof warmup),
		              tl_format_duration(s->length_ns, length, sizeof length));
}

void tl_compare_print(const struct tl_shown *shown, FILE *out)
{
	char from[32];

	print_side("A", &shown->a, out);
	print_side("B", &shown->b, out);
	print_differences(shown->differences, out);
	print_method(shown, out);
	print_table(shown, out);
	print_conclusion(shown, out);
	tl_compare_print_hidden(shown, out);
	print_settling("A", &shown->a.settling, out);
	print_settling("B", &shown->b.settling, out);
	if (shown->steady_from_ns >= 0)
		(void)fprintf(out, "steady: from %s on\n",
		              tl_format_duration(shown->steady_from_ns, from, sizeof from));
}
