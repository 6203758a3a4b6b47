/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The page of a sweep, section by section. */
#include "analysis/report_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_SHOWN = 200, FAILURES_SHOWN = 50, RUNS_SHOWN = 10 };

static const char *const promises[] = {[TL_PROMISE_NONE] = "–",
                                       [TL_PROMISE_KEPT] = "kept",
                                       [TL_PROMISE_BROKEN] = "broken",
                                       [TL_PROMISE_UNKNOWN] = "not known"};

/* ---- settings ---- */

static void figure(double value, enum tl_number_form form, char text[static TL_NUMBER_SIZE])
{
	if (form == TL_FORM_PERCENT)
		(void)tl_number_percent(value, text);
	else if (form == TL_FORM_UNIT)
		(void)tl_number_duration(value, text);
	else
		(void)tl_number(value, text);
}

/* `51.6 ± 0.4`, or where zero cuts the interval off `0.3 (0 to 1.7)`; the unit is in the
 * heading. */
static void stat_cell(struct tl_html *html, const struct tl_sweep_stat *stat,
                      enum tl_number_form form, const char *metric)
{
	char middle[TL_NUMBER_SIZE], reach[TL_NUMBER_SIZE], text[2 * TL_NUMBER_SIZE + 12];
	double width = stat->high - stat->mean;
	bool cut_off = width > stat->mean && !(stat->low < 0.0);

	figure(stat->mean, form, middle);
	if (cut_off)
		figure(stat->high, form, reach);
	else if (form == TL_FORM_UNIT)
		figure(width, form, reach);
	else
		(void)snprintf(reach, sizeof(reach), "%.2g",
		               form == TL_FORM_PERCENT ? 100.0 * width : width);
	if (!isfinite(width))
		(void)snprintf(text, sizeof(text), "%s", middle);
	else if (cut_off)
		(void)snprintf(text, sizeof(text), "%s (0 to %s)", middle, reach);
	else
		(void)snprintf(text, sizeof(text), "%s ± %s", middle, reach);
	tl_html_cell_number(html, text, metric);
}

/* A duration where the form is that of a unit. */
static void metric_cell(struct tl_html *html, const struct tl_report_sweep *sweep, size_t cell,
                        const char *name, enum tl_number_form form)
{
	struct tl_sweep_stat stat =
	    tl_report_sweep_stat(sweep, cell, tl_sweep_data_metric(sweep->data, name));

	stat_cell(html, &stat, form, name);
}

/* Against the first setting, over the pairs of seeds, in percent of its cost. */
static void change_cell(struct tl_html *html, const struct tl_report_sweep *sweep, size_t cell)
{
	struct tl_comparison row = {.difference = NAN};
	double base = fabs(sweep->cells[sweep->first].cost.mean);
	char text[TL_NUMBER_SIZE] = "–";

	if (sweep->cost_name && cell != sweep->first)
		row = tl_report_sweep_compare(sweep, sweep->first, cell, sweep->cost_name);
	double half = (row.interval.high - row.interval.low) / 2.0;

	if (isfinite(row.difference))
		(void)snprintf(text, sizeof(text), "%+.2f %%", 100.0 * row.difference / base);
	if (isfinite(row.difference) && isfinite(half))
		(void)snprintf(text, sizeof(text), "%+.2f %% ± %.2g%s",
		               100.0 * row.difference / base, 100.0 * half / base,
		               row.verdict == TL_COMPARE_NOT_SHOWN ? ", not shown" : "");
	tl_html_cell_number(html, text, "differences of the same seeds, of the cost to its left");
}

static bool has_deadlines(const struct tl_report_sweep *sweep)
{
	return tl_sweep_data_metric(sweep->data, "deadline_met_ratio") < sweep->data->metric_count;
}

static void setting_row(struct tl_html *html, const struct tl_report_sweep *sweep, size_t number)
{
	const struct tl_report_cell *cell = &sweep->cells[number];
	char *label = tl_report_sweep_label(sweep, number, true), count[TL_NUMBER_SIZE];
	bool best = number == sweep->best;

	tl_html_raw(html, best ? "<tr class=\"best\">" : "<tr>");
	tl_html_printf(html, "<th scope=\"row\">%s", label[0] ? label : "as it is");
	tl_html_raw(html, best        ? "<span class=\"mark\">recommended</span></th>"
	                  : cell->tie ? "<span class=\"mark\">tie</span></th>"
	                              : "</th>");
	stat_cell(html, &cell->cost, sweep->more_is_better ? TL_FORM_PERCENT : TL_FORM_PLAIN,
	          sweep->cost_name ? sweep->cost_name : "");
	change_cell(html, sweep, number);
	if (sweep->has_plain)
		stat_cell(html, &cell->cost_plain, TL_FORM_PLAIN, "cost_per_useful_gpu_h");
	if (sweep->service_count > 0) {
		stat_cell(html, &cell->attainment, TL_FORM_PERCENT,
		          "the least NAME.attainment of each run");
		tl_html_cell(html, promises[cell->promise]);
	}
	if (has_deadlines(sweep))
		metric_cell(html, sweep, number, "deadline_met_ratio", TL_FORM_PERCENT);
	metric_cell(html, sweep, number, "useful_gpu_h", TL_FORM_PLAIN);
	metric_cell(html, sweep, number, "wait_mean_s", TL_FORM_UNIT);
	metric_cell(html, sweep, number, "preemptions_per_day", TL_FORM_PLAIN);
	tl_html_cell_number(html, tl_number((double)cell->cost.count, count), "runs with a cost");
	tl_html_raw(html, "</tr>\n");
	free(label);
}

static void settings(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	const char *headings[12];
	char cost[2 * TL_NUMBER_SIZE], unit[TL_NUMBER_SIZE];
	size_t n = 0, count = sweep->data->design.cell_count;
	size_t seeds = sweep->data->design.seed_count;

	headings[n++] = "setting";
	(void)snprintf(cost, sizeof(cost), "#cost of useful work%s, %s",
	               sweep->has_plain ? " with penalty" : "",
	               sweep->cost_name
	                   ? tl_unit_words(sweep->data->units[sweep->cost_metric], unit)
	                   : "not in these runs");
	headings[n++] = sweep->more_is_better ? "#productive GPU time" : cost;
	headings[n++] = "#against the first";
	if (sweep->has_plain)
		headings[n++] = "#without penalty";
	if (sweep->service_count > 0) {
		headings[n++] = "#in time, worst service";
		headings[n++] = "promise";
	}
	if (has_deadlines(sweep))
		headings[n++] = "#deadlines met";
	headings[n++] = "#useful work, GPU h";
	headings[n++] = "#mean wait";
	headings[n++] = "#preemptions a day";
	headings[n++] = "#runs";
	headings[n] = NULL;
	tl_html_section(html, "settings", "Every setting");
	tl_html_table(
	    html,
	    "Means over the seeds, ± half of the 95 % interval, or its ends where zero cuts "
	    "it off",
	    headings);
	for (size_t c = 0; c < count; c++)
		if (c < CELLS_SHOWN || c == sweep->best)
			setting_row(html, sweep, c);
	tl_html_table_end(html);
	if (seeds > 1 && seeds < TL_REPORT_FEW_SEEDS)
		tl_html_printf(
		    html, "<p>Intervals over %zu seeds are wide; more seeds narrow them.</p>\n",
		    seeds);
	if (count > CELLS_SHOWN)
		tl_html_printf(html,
		               "<p>The first %zu of %zu settings, and the recommended one; "
		               "<code>tidelab export</code> gives all.</p>\n",
		               (size_t)CELLS_SHOWN, count);
	tl_html_section_end(html);
}

/* ---- rule, failures ---- */

static void rule(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	char text[TL_NUMBER_SIZE];

	tl_html_section(html, "rule", "How the recommendation is made");
	tl_html_printf(
	    html,
	    "<p>A setting keeps the promise where the lower end of the 95 %% interval (Student's t "
	    "over the seeds) of the attainment of its worst service in each run is at "
	    "least %s. Of those that do, the ones fall that are worse than the best of them in "
	    "<code>deadline_met_ratio</code>; of the rest, those worse in <code>%s</code>; then "
	    "in <code>jct_mean_s</code>, <code>wait_mean_s</code> and "
	    "<code>preemptions</code>, in this order. Of what is left, those within %.1f %% of the "
	    "least mean cost, and of them the one of least mean <code>jct_mean_s</code>%s. ",
	    tl_number_percent(sweep->constraint, text),
	    sweep->cost_name ? sweep->cost_name : "cost_total_per_useful_gpu_h",
	    100.0 * TL_REPORT_MATTERS,
	    sweep->numeric ? ", or the nearest to the first setting whose paired interval does not "
			     "tell it from that one"
			   : "");
	tl_html_printf(
	    html,
	    "Worse is what <code>tidelab compare</code> shows to be (paired t over the seeds, 95 "
	    "%%, Holm's correction over all the headline metrics that vary), by at least %.1f %%. "
	    "Intervals are of one metric by itself, so one may leave out zero where nothing is "
	    "shown once all are judged together. A tie is told from the recommended setting by "
	    "none of these. Changes are against the first setting of the sweep. ",
	    100.0 * TL_REPORT_MATTERS);
	if (!sweep->has_plain && !sweep->more_is_better)
		tl_html_raw(html,
		            "There is no cost with penalty in these runs: "
		            "<code>slo: {p99: …, penalty: … per 1000}</code> of a service and "
		            "<code>prices:</code> give it. ");
	if (sweep->more_is_better)
		tl_html_raw(
		    html, "There is no cost in these runs, so the share of GPU time in productive "
			  "use stands for it: <code>prices: {gpu_hour: …}</code> gives the "
			  "cost. ");
	tl_html_raw(
	    html, "Below, <em>all metrics</em> are those of the recommended setting (or the first, "
		  "where none is): means over its seeds and their 95 % intervals.</p>\n");
	tl_html_section_end(html);
}

/* Where to look further: the runs of the setting that the page is about. */
static void runs_of_it(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	size_t seeds = sweep->data->design.seed_count;
	size_t cell = sweep->best < sweep->data->design.cell_count ? sweep->best : sweep->first;

	tl_html_raw(html,
	            "<p>Its runs, each of which <code>tidelab report</code> shows from within: ");
	for (size_t s = 0; s < seeds && s < RUNS_SHOWN; s++) {
		const struct tl_sweep_run *run = &sweep->data->runs[cell * seeds + s];
		char seed[32];

		(void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
		tl_html_printf(html, "%sseed %s <code>runs/%s.h5</code>", s > 0 ? ", " : "", seed,
		               run->hash);
	}
	tl_html_raw(html, seeds > RUNS_SHOWN ? " …</p>\n" : ".</p>\n");
}

static void failures(struct tl_html *html, const struct tl_report_sweep *sweep)
{
	static const char *const headings[] = {"setting", "#seed", "why", NULL};
	size_t count = sweep->data->design.cell_count * sweep->data->design.seed_count, shown = 0;

	if (sweep->data->missing == 0)
		return;
	tl_html_section(html, "failures", "Runs that are not there");
	tl_html_table(html, "Left out of every number", headings);
	for (size_t i = 0; i < count && shown < FAILURES_SHOWN; i++) {
		const struct tl_sweep_run *run = &sweep->data->runs[i];
		char *label, seed[32];

		if (run->state == TL_RUN_DONE || run->state == TL_RUN_UNASKED)
			continue;
		shown++;
		label = tl_report_sweep_label(sweep, run->cell, true);
		(void)snprintf(seed, sizeof(seed), "%llu", (unsigned long long)run->seed);
		tl_html_printf(html, "<tr><th scope=\"row\">%s</th>", label);
		tl_html_cell_number(html, seed, NULL);
		tl_html_cell(html, run->state == TL_RUN_MISSING ? "not run yet"
		                   : run->reason                ? run->reason
		                                                : "failed");
		tl_html_raw(html, "</tr>\n");
		free(label);
	}
	tl_html_table_end(html);
	if (shown < sweep->data->missing)
		tl_html_printf(html, "<p>The first %zu of %zu.</p>\n", shown, sweep->data->missing);
	tl_html_section_end(html);
}

/* ---- the whole ---- */

static enum tl_status picture(struct tl_html *html, const struct tl_figures *figures,
                              const char *name, const char *source, struct tl_error *error)
{
	const struct tl_figure *figure = tl_html_figure(figures, name);

	return figure ? tl_html_picture(html, figure, source, error) : TL_OK;
}

enum tl_status tl_report_sweep_body(struct tl_html *html, const struct tl_report_sweep *sweep,
                                    const struct tl_figures *figures, struct tl_error *error)
{
	enum tl_status status;

	tl_html_raw(html, "<nav aria-label=\"Contents\"><ul>\n"
	                  "<li><a href=\"#cost\">Cost</a></li>\n"
	                  "<li><a href=\"#promise\">Promises</a></li>\n"
	                  "<li><a href=\"#effects\">Side effects</a></li>\n"
	                  "<li><a href=\"#settings\">Every setting</a></li>\n"
	                  "<li><a href=\"#rule\">The rule</a></li>\n"
	                  "<li><a href=\"#metrics\">All metrics</a></li>\n</ul></nav>\n");
	tl_html_section(html, "cost", "What it costs");
	status =
	    picture(html, figures, "sweep-cost", sweep->cost_name ? sweep->cost_name : "", error);
	if (status == TL_OK)
		status = picture(html, figures, "sweep-change",
		                 sweep->cost_name ? sweep->cost_name : "", error);
	tl_html_section_end(html);
	tl_html_section(html, "promise", "What becomes of the promises");
	if (status == TL_OK)
		status = picture(html, figures, "sweep-attainment", "NAME.attainment", error);
	tl_html_section_end(html);
	tl_html_section(html, "effects", "What else changes");
	if (status == TL_OK)
		status =
		    picture(html, figures, "sweep-effects",
		            "useful_gpu_h, wait_mean_s, jct_mean_s, preemptions_per_day", error);
	tl_html_section_end(html);
	settings(html, sweep);
	failures(html, sweep);
	rule(html, sweep);
	tl_html_section(html, "metrics", "All metrics");
	runs_of_it(html, sweep);
	tl_html_metrics(html, "#mean");
	if (sweep->data->scenario)
		tl_html_printf(html,
		               "<details><summary>The scenario that was varied</summary>\n<pre "
		               "tabindex=\"0\">%s</pre>\n</details>\n",
		               sweep->data->scenario);
	tl_html_section_end(html);
	return status;
}
