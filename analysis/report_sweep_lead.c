/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep in a paragraph: what to set, what it saves, what decided, what it brings and risks, how
 * sure that is. */
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

/* `7.8 %, 95 % interval 7.1 % to 8.5 %`, of the first setting's. */
static void share_of_first(struct tl_html *html, const struct tl_report_sweep *sweep,
                           const struct tl_comparison *row)
{
	double sign = row->difference < 0 ? -1.0 : 1.0;
	double base = fabs(sweep->cells[sweep->first].cost.mean);
	double low = sign * row->interval.low / base, high = sign * row->interval.high / base;
	char text[TL_NUMBER_SIZE];

	mean(html, tl_number_percent(fabs(row->difference) / base, text), sweep->cost_name);
	if (!isfinite(low))
		return;
	tl_html_raw(html, ", 95 % interval ");
	mean(html, tl_number_percent(low < high ? low : high, text), sweep->cost_name);
	tl_html_raw(html, " to ");
	mean(html, tl_number_percent(low < high ? high : low, text), sweep->cost_name);
}

/* The difference to the first setting, in words: what is gained or what it costs more. */
static void saving(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	const struct tl_report_cell *first = &sweep->cells[sweep->first];
	const struct tl_comparison row =
	    tl_report_sweep_compare(sweep, sweep->first, sweep->best, sweep->cost_name);
	bool better = sweep->more_is_better ? row.difference >= 0 : row.difference <= 0;
	bool shown = row.verdict == TL_COMPARE_LOWER || row.verdict == TL_COMPARE_HIGHER;
	char text[TL_NUMBER_SIZE];

	if (sweep->best == sweep->first || !isfinite(row.difference)) {
		tl_html_raw(html,
		            "This is the first of the settings swept, to which the others are "
		            "compared. ");
		return;
	}
	if (row.verdict == TL_COMPARE_SAME) {
		tl_html_raw(html, "That is the same as at ");
		label(html, sweep, sweep->first);
		tl_html_raw(html, ". ");
		return;
	}
	if (!shown)
		tl_html_raw(html, "A difference in that is not shown: on average it ");
	else
		tl_html_raw(html, "It ");
	if (sweep->more_is_better) {
		tl_html_raw(html, better ? "is more" : "is less");
	} else {
		tl_html_raw(html, better ? "saves " : "costs ");
		mean(html, tl_number_of_unit(fabs(row.difference), unit_of(sweep), text),
		     sweep->cost_name);
		tl_html_raw(html, better ? "" : " more");
	}
	tl_html_raw(html, " against ");
	label(html, sweep, sweep->first);
	if (first->promise == TL_PROMISE_BROKEN)
		tl_html_raw(html, ", which breaks the promise");
	tl_html_raw(html, " (");
	share_of_first(html, sweep, &row);
	tl_html_raw(html, sweep->has_plain ? ", penalties included). " : "). ");
}

/* ---- promises ---- */

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

static void promises(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t none = sweep->data->design.cell_count, broken = next_broken(sweep);
	char text[TL_NUMBER_SIZE];

	tl_html_raw(html, "<strong>Promises:</strong> ");
	if (sweep->service_count == 0) {
		tl_html_raw(html, "there is no service in the scenario, so no promise that binds");
	} else {
		attainment(html, sweep, sweep->best);
		tl_html_raw(html, ", where ");
		tl_html_derived(html, tl_number_percent(sweep->constraint, text), "--attainment");
		tl_html_raw(html, " are promised");
	}
	if (isfinite(tl_html_value(html, "deadline_met_ratio"))) {
		tl_html_raw(html, "; of the jobs with a deadline ");
		tl_html_number(html, "deadline_met_ratio", TL_FORM_PERCENT);
		tl_html_raw(html, " meet it");
	}
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

/* ---- what changes against the first ---- */

/* judged: the metric that the verdict is on; shown: the one that tells the same in the unit
 * of the table of settings. */
static const struct concern {
	const char *judged, *shown, *words;
	enum tl_number_form form;
} concerns[] = {
    {"useful_gpu_h", "useful_gpu_h", "useful work", TL_FORM_UNIT},
    {"deadline_met_ratio", "deadline_met_ratio", "deadlines met", TL_FORM_PERCENT},
    {"jct_mean_s", "jct_mean_s", "mean time from submission to end", TL_FORM_UNIT},
    {"wait_mean_s", "wait_mean_s", "mean wait of jobs", TL_FORM_UNIT},
    {"preemptions", "preemptions_per_day", "preemptions", TL_FORM_UNIT},
};
enum { CONCERNS = sizeof(concerns) / sizeof(concerns[0]) };

static void one_change(struct tl_html *html, const struct tl_report_sweep *sweep,
                       const struct concern *concern, bool is_first)
{
	size_t number = tl_sweep_data_metric(sweep->data, concern->shown);
	double before = tl_report_sweep_stat(sweep, sweep->first, number).mean;
	char text[TL_NUMBER_SIZE];

	tl_html_printf(html, "%s%s ", is_first ? "" : "; ", concern->words);
	tl_html_number(html, concern->shown, concern->form);
	tl_html_raw(html, " instead of ");
	mean(html,
	     concern->form == TL_FORM_PERCENT
	         ? tl_number_percent(before, text)
	         : tl_number_of_unit(before, sweep->data->units[number], text),
	     concern->shown);
}

/* What is shown to change that way against the first, or is not shown to; returns how many. */
static size_t changes(struct tl_html *html, const struct tl_report_sweep *sweep,
                      enum tl_report_change way, const char *lead)
{
	size_t count = 0;

	for (size_t i = 0; i < CONCERNS; i++) {
		const struct tl_comparison row =
		    tl_report_sweep_compare(sweep, sweep->first, sweep->best, concerns[i].judged);

		if (!isfinite(tl_html_value(html, concerns[i].shown)) ||
		    row.verdict == TL_COMPARE_SAME ||
		    tl_report_sweep_change(sweep, sweep->first, sweep->best, concerns[i].judged) !=
		        way)
			continue;
		if (count == 0)
			tl_html_raw(html, lead);
		one_change(html, sweep, &concerns[i], count == 0);
		count++;
	}
	for (size_t v = 0; v < sweep->service_count && way != TL_CHANGE_NOT_SHOWN; v++) {
		const char *metric = sweep->data->metrics[sweep->services[v]];
		char *service = tl_report_sweep_service(sweep, v);
		const struct concern of_service = {metric, metric, service, TL_FORM_PERCENT};

		if (tl_report_sweep_change(sweep, sweep->first, sweep->best, metric) == way) {
			if (count == 0)
				tl_html_raw(html, lead);
			one_change(html, sweep, &of_service, count == 0);
			tl_html_raw(html, " in time");
			count++;
		}
		free(service);
	}
	if (count > 0)
		tl_html_raw(html, ". ");
	return count;
}

static void against_first(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	static const char risks[] = "<strong>What it risks:</strong> ";

	if (sweep->best == sweep->first) {
		tl_html_raw(html, risks);
		tl_html_raw(html, "no change: it is the setting that changes are told against. ");
		return;
	}
	(void)changes(html, sweep, TL_CHANGE_BETTER, "<strong>What it brings:</strong> ");
	if (changes(html, sweep, TL_CHANGE_WORSE, risks) == 0) {
		tl_html_raw(html, risks);
		tl_html_raw(html, "nothing is shown to get worse. ");
	}
	(void)changes(html, sweep, TL_CHANGE_NOT_SHOWN, "Not shown to differ: ");
}

/* ---- what decided ---- */

static void decision(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	static const char *const words[] = {
	    [TL_CRITERION_DEADLINES] = "to meet fewer deadlines",
	    [TL_CRITERION_COST] = "to cost more for the useful work",
	    [TL_CRITERION_JCT] = "to take longer from submission to end",
	    [TL_CRITERION_WAIT] = "to keep jobs waiting longer",
	    [TL_CRITERION_PREEMPTIONS] = "to preempt more"};
	size_t fallen = 0;

	tl_html_raw(html, "<strong>What decided:</strong> ");
	if (sweep->keeping == 1) {
		tl_html_raw(html, "no other setting keeps the promise. ");
		return;
	}
	tl_html_printf(html, "of the %zu settings that keep the promise, ", sweep->keeping);
	for (enum tl_criterion k = TL_CRITERION_DEADLINES; k < TL_CRITERION_COUNT; k++) {
		if (sweep->worse[k] == 0)
			continue;
		tl_html_printf(html, "%s%zu %s shown %s", fallen > 0 ? ", then " : "",
		               sweep->worse[k], sweep->worse[k] > 1 ? "are" : "is",
		               k == TL_CRITERION_COST && sweep->more_is_better
		                   ? "to use the GPUs less"
		                   : words[k]);
		fallen += sweep->worse[k];
	}
	if (sweep->left == 1)
		tl_html_raw(html, "; this one is left. ");
	else
		tl_html_printf(
		    html,
		    "%s%zu are not told apart by deadlines, cost, completion, waits or "
		    "preemptions, and this is %s. ",
		    fallen > 0 ? "; the other " : "all ", sweep->left,
		    sweep->numeric
			? "the least change of about the least mean cost that ends jobs about as soon as any"
		    : isfinite(tl_html_value(html, "jct_mean_s"))
			? "the one of about the least mean cost that ends jobs soonest on average"
			: "the one of the best mean cost");
}

/* ---- how sure ---- */

static void ties(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t count = 0, named = 0;

	for (size_t c = 0; c < sweep->data->design.cell_count; c++)
		count += sweep->cells[c].tie;
	if (count == 0)
		return;
	for (size_t c = 0; c < sweep->data->design.cell_count && named < TIES_NAMED; c++) {
		if (!sweep->cells[c].tie)
			continue;
		tl_html_raw(html, named > 0 ? "; " : "It cannot be told from ");
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
		    "setting%s; shown is what <code>tidelab compare</code> shows. ",
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
		tl_html_raw(html, sweep->more_is_better ? " of all GPU time is in productive use. "
		                                        : " of useful work. ");
		saving(html, sweep);
		decision(html, sweep);
		promises(html, sweep);
		against_first(html, sweep);
		sureness(html, sweep);
	} else {
		none_keeps(html, sweep);
	}
	horizon(html, sweep);
	tl_html_raw(html, "</p>\n");
}
