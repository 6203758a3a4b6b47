/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep in a paragraph: what to set, what it saves, what it risks, how sure that is. */
#include "analysis/report_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIES_NAMED = 4 };

static const char *unit_of(const struct tl_report_sweep *sweep)
{
	return sweep->data->units[sweep->cost_metric];
}

static void label(struct tl_html *html, const struct tl_report_sweep *sweep, size_t cell)
{
	char *text = tl_report_sweep_label(sweep, cell, true);

	tl_html_text(html, text[0] ? text : "the scenario as it is");
	free(text);
}

/* A number made of a metric's mean over the seeds. */
static void mean(struct tl_html *html, const char *text, const char *metric)
{
	char source[TL_ROW_NAME_SIZE + 40];

	(void)snprintf(source, sizeof(source), "the mean over seeds of %s", metric);
	tl_html_derived(html, text, source);
}

/* ---- what to set, what it saves ---- */

/* The difference to the first setting, in words: what is gained or what it costs more. */
static void saving(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	const struct tl_report_cell *first = &sweep->cells[sweep->first];
	struct tl_stats_test test =
	    tl_report_sweep_test(sweep, sweep->first, sweep->best, sweep->cost_metric);
	bool better = sweep->more_is_better ? test.difference >= 0 : test.difference <= 0;
	double sign = test.difference < 0 ? -1.0 : 1.0, base = fabs(first->cost.mean);
	double low = sign * test.interval.low / base, high = sign * test.interval.high / base;
	char text[TL_NUMBER_SIZE];

	if (sweep->best == sweep->first || !isfinite(test.difference)) {
		tl_html_raw(html,
		            "This is the first of the settings swept, to which the others are "
		            "compared. ");
		return;
	}
	if (sweep->more_is_better)
		tl_html_raw(html, better ? "That is more than at " : "That is less than at ");
	else
		tl_html_raw(html, first->tie
		                      ? (better ? "On average it saves " : "On average it costs ")
		                      : (better ? "It saves " : "It costs "));
	if (!sweep->more_is_better) {
		mean(html, tl_number_of_unit(fabs(test.difference), unit_of(sweep), text),
		     sweep->cost_name);
		tl_html_raw(html, better ? " against " : " more than ");
	}
	label(html, sweep, sweep->first);
	if (first->promise == TL_PROMISE_BROKEN)
		tl_html_raw(html, ", which breaks the promise");
	tl_html_raw(html, ": ");
	mean(html, tl_number_percent(fabs(test.difference) / base, text), sweep->cost_name);
	if (isfinite(low)) {
		tl_html_raw(html, ", 95 % interval ");
		mean(html, tl_number_percent(low < high ? low : high, text), sweep->cost_name);
		tl_html_raw(html, " to ");
		mean(html, tl_number_percent(low < high ? high : low, text), sweep->cost_name);
	}
	tl_html_raw(html, sweep->has_plain ? ", penalties included. " : ". ");
}

/* ---- what it risks ---- */

static void attainment(struct tl_html *html, const struct tl_report_sweep *sweep, size_t cell)
{
	const struct tl_report_cell *at = &sweep->cells[cell];
	char text[TL_NUMBER_SIZE];
	char *service = tl_report_sweep_service(sweep, at->worst);

	tl_html_printf(html, "%s answers ", service);
	mean(html, tl_number_percent(at->attainment.mean, text), "the least NAME.attainment");
	tl_html_raw(html, " of its requests in time");
	if (at->attainment.count > 1) {
		tl_html_raw(html, " (95 % interval from ");
		tl_html_derived(html, tl_number_percent(at->attainment.low, text),
		                "the lower end of the 95 % interval of the least NAME.attainment");
		tl_html_raw(html, " up)");
	}
	free(service);
}

/* The next setting on the same line that breaks the promise, beyond the best. */
static size_t next_broken(const struct tl_report_sweep *sweep)
{
	size_t none = sweep->data->design.cell_count, next = none;
	const struct tl_report_cell *best = &sweep->cells[sweep->best];

	for (size_t c = 0; c < none && sweep->numeric; c++) {
		const struct tl_report_cell *cell = &sweep->cells[c];

		if (cell->line == best->line && cell->promise == TL_PROMISE_BROKEN &&
		    (next == none ||
		     fabs(cell->x - best->x) < fabs(sweep->cells[next].x - best->x)))
			next = c;
	}
	return next;
}

static void change(struct tl_html *html, const struct tl_report_sweep *sweep, const char *metric,
                   const char *words)
{
	size_t number = tl_sweep_data_metric(sweep->data, metric);
	double before = tl_report_sweep_stat(sweep, sweep->first, number).mean;
	double now = tl_report_sweep_stat(sweep, sweep->best, number).mean;
	char text[TL_NUMBER_SIZE];

	if (!isfinite(now))
		return;
	tl_html_printf(html, "; %s ", words);
	tl_html_number(html, metric, TL_FORM_UNIT);
	if (sweep->best != sweep->first && isfinite(before)) {
		tl_html_raw(html, " instead of ");
		mean(html, tl_number_of_unit(before, sweep->data->units[number], text), metric);
	}
}

static void risk(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t none = sweep->data->design.cell_count, broken = next_broken(sweep);
	char text[TL_NUMBER_SIZE];

	tl_html_raw(html, "<strong>What it risks:</strong> ");
	if (sweep->service_count == 0) {
		tl_html_raw(html, "there is no service in the scenario, so no promise that binds");
	} else {
		attainment(html, sweep, sweep->best);
		tl_html_raw(html, ", where ");
		tl_html_derived(html, tl_number_percent(sweep->constraint, text), "--attainment");
		tl_html_raw(html, " are promised");
	}
	change(html, sweep, "preemptions_per_day", "preemptions");
	change(html, sweep, "wait_mean_s", "mean wait of jobs");
	if (broken < none) {
		tl_html_raw(html, "; at ");
		label(html, sweep, broken);
		tl_html_raw(html, " the promise is broken (");
		tl_html_derived(html, tl_number_percent(sweep->cells[broken].attainment.mean, text),
		                "the mean over seeds of the least NAME.attainment");
		tl_html_raw(html, ")");
	}
	tl_html_raw(html, ". ");
}

/* ---- how sure ---- */

static void ties(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t count = 0, named = 0;

	for (size_t c = 0; c < sweep->data->design.cell_count; c++)
		count += sweep->cells[c].tie;
	if (count == 0) {
		if (sweep->cells[sweep->best].cost.count > 1)
			tl_html_raw(html,
			            "No other setting that keeps the promise comes as cheap within "
			            "the 95 % interval. ");
		return;
	}
	for (size_t c = 0; c < sweep->data->design.cell_count && named < TIES_NAMED; c++) {
		if (!sweep->cells[c].tie)
			continue;
		tl_html_raw(html, named > 0 ? "; " : "Its cost cannot be told from that of ");
		label(html, sweep, c);
		named++;
	}
	if (count > named)
		tl_html_printf(html, " and %zu more", count - named);
	tl_html_raw(html, ": these are ties. ");
}

/* The best at an end of what was swept: there may be better beyond. */
static bool at_the_end(const struct tl_report_sweep *sweep)
{
	const struct tl_report_cell *best = &sweep->cells[sweep->best];
	bool below = false, above = false;

	for (size_t c = 0; c < sweep->data->design.cell_count; c++)
		if (sweep->cells[c].line == best->line) {
			below = below || sweep->cells[c].x < best->x;
			above = above || sweep->cells[c].x > best->x;
		}
	return sweep->numeric && below != above;
}

static void sureness(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t seeds = sweep->cells[sweep->best].cost.count;

	tl_html_raw(html, "<strong>How sure:</strong> ");
	if (seeds < 2)
		tl_html_raw(html,
		            "there is one seed, so chance cannot be told from effect; sweep with "
		            "<code>--seeds 1..10</code>. ");
	else
		tl_html_printf(
		    html,
		    "%zu seeds, each with the same traffic and failures in every "
		    "setting%s. ",
		    seeds,
		    seeds < TL_REPORT_FEW_SEEDS
			? ", which is few: the intervals are wide, more seeds narrow them"
			: "");
	ties(html, sweep);
	if (at_the_end(sweep))
		tl_html_raw(html,
		            "It is at an end of the range swept: what lies beyond is not known. ");
	if (sweep->data->missing > 0)
		tl_html_printf(html, "%zu runs failed or are missing, and are left out. ",
		               sweep->data->missing);
}

/* ---- none to recommend ---- */

static void none_keeps(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t none = sweep->data->design.cell_count;
	char text[TL_NUMBER_SIZE];

	if (!sweep->cost_name) {
		tl_html_raw(
		    html,
		    "<strong class=\"bad\">Nothing can be recommended</strong>: the runs tell "
		    "neither a cost nor how much of the GPU time was useful. A scenario with "
		    "<code>prices: {gpu_hour: …}</code> and the summary among its "
		    "<code>output.tables</code> does. ");
		return;
	}
	tl_html_raw(html, "<strong class=\"bad\">No setting keeps the promise</strong> that ");
	tl_html_derived(html, tl_number_percent(sweep->constraint, text), "--attainment");
	tl_html_raw(html,
	            " of every service's requests are answered in time, with 95 % confidence. ");
	if (sweep->nearest < none) {
		tl_html_raw(html, "Nearest is <strong>");
		label(html, sweep, sweep->nearest);
		tl_html_raw(html, "</strong>, where ");
		attainment(html, sweep, sweep->nearest);
		tl_html_raw(html, ". ");
	}
	if (sweep->cheapest < none) {
		tl_html_raw(html, "Cheapest, whatever it breaks, is ");
		label(html, sweep, sweep->cheapest);
		tl_html_raw(html, " at ");
		mean(html,
		     tl_number_of_unit(sweep->cells[sweep->cheapest].cost.mean, unit_of(sweep),
		                       text),
		     sweep->cost_name);
		tl_html_raw(html, ". ");
	}
	tl_html_raw(html, "Sweep more capacity or other scaling, or promise less "
	                  "(<code>--attainment</code>). ");
}

static void horizon(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	double most;
	size_t count = tl_sweep_data_short(sweep->data, &most);
	char text[TL_NUMBER_SIZE];

	if (count == 0)
		return;
	tl_html_printf(
	    html,
	    "<strong class=\"bad\">Short runs</strong>: in %zu, the horizon came before up "
	    "to ",
	    count);
	tl_html_derived(html, tl_number_percent(most, text), "unsubmitted / jobs");
	tl_html_raw(html, " of the jobs were submitted, and nothing here tells of those. ");
}

void tl_report_sweep_lead(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	tl_html_raw(html, "<p class=\"lead\">");
	if (sweep->best < sweep->data->design.cell_count) {
		tl_html_raw(html, "<strong>Set ");
		label(html, sweep, sweep->best);
		tl_html_raw(html, "</strong>");
		if (sweep->cells[sweep->first].tie) {
			tl_html_raw(html, ", or keep ");
			label(html, sweep, sweep->first);
			tl_html_raw(html, ", as no difference between them is shown");
		}
		tl_html_raw(html, ": ");
		tl_html_number(html, sweep->cost_name,
		               sweep->more_is_better ? TL_FORM_PERCENT : TL_FORM_UNIT);
		tl_html_raw(html, sweep->more_is_better ? " of all GPU time becomes useful work. "
		                                        : " of useful work. ");
		saving(html, sweep);
		risk(html, sweep);
		sureness(html, sweep);
	} else {
		none_keeps(html, sweep);
	}
	horizon(html, sweep);
	tl_html_raw(html, "</p>\n");
}
