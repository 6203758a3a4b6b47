/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report advises from a sweep whose numbers are planted. */
#include "analysis/report_sweep.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RATIOS = 5, SEEDS = 6 };

static char path[256];
static struct tl_error error;
static struct tl_report_sweep sweep;

/* Cost falls with the ratio until penalties set in, attainment falls; noise by seed that is
 * the same in every cell, and a little that is not. */
struct plan {
	size_t ratios, seeds;
	double cost[RATIOS], attainment[RATIOS];
	double own_noise;
	double jct_h[RATIOS];       /* mean time to end; 0: not there */
	double met[RATIOS];         /* share of deadlines; 0: not there */
	double late[RATIOS];        /* of 1000 jobs, those that the horizon came before */
	bool costs, service, words; /* words: the axis' values are names */
};

static const struct plan plain = {.ratios = RATIOS,
                                  .seeds = SEEDS,
                                  .cost = {50.0, 48.0, 46.0, 44.0, 47.0},
                                  .attainment = {0.999, 0.998, 0.996, 0.985, 0.96},
                                  .own_noise = 0.01,
                                  .costs = true,
                                  .service = true};

static struct tl_table *table_of(struct tl_results *results, const struct tl_table_schema *schema)
{
	struct tl_table *table = NULL;

	cr_assert_eq(tl_results_table(results, schema, NULL, &table, &error), TL_OK, "%s",
	             error.message);
	return table;
}

static void add(struct tl_table *table, const char *metric, const char *unit, size_t cell,
                size_t seed, double value)
{
	struct tl_row_metric *row = tl_table_next(table);

	snprintf(row->metric, sizeof(row->metric), "%s", metric);
	snprintf(row->unit, sizeof(row->unit), "%s", unit);
	row->cell = (uint32_t)cell;
	row->seed = seed + 1;
	row->value = value;
	row->ci_low = row->ci_high = NAN;
}

static const char *value_of(const struct plan *plan, size_t cell, char text[static 32])
{
	static const char *const words[RATIOS] = {"alpha", "\"beta\"<b>", "gamma", "delta", "eps"};

	snprintf(text, 32, "%.1f", 1.0 + 0.1 * (double)cell);
	return plan->words ? words[cell] : text;
}

static void write_metrics(struct tl_results *results, const struct plan *plan)
{
	struct tl_table *metrics = table_of(results, &tl_schema_metrics);

	for (size_t c = 0; c < plan->ratios; c++)
		for (size_t s = 0; s < plan->seeds; s++) {
			double luck = 0.4 * (double)s;
			double own = plan->own_noise * (double)((7 * c + 3 * s) % 5);

			if (plan->costs) {
				add(metrics, "cost_total_per_useful_gpu_h", "CNY/gpu.h", c, s,
				    plan->cost[c] + luck + own);
				add(metrics, "cost_per_useful_gpu_h", "CNY/gpu.h", c, s,
				    plan->cost[c] + luck + own - 1.0);
			}
			if (plan->service)
				add(metrics, "pl.ayer.attainment", "1", c, s,
				    plan->attainment[c] - 0.0001 * (double)(s % 3));
			add(metrics, "effective_utilisation", "1", c, s, 0.5 + 0.02 * (double)c);
			add(metrics, "useful_gpu_h", "gpu.h", c, s,
			    900.0 + 20.0 * (double)c + 0.1 * (double)(s % 3));
			if (plan->jct_h[c] > 0)
				add(metrics, "jct_mean_s", "s", c, s,
				    3600.0 * (plan->jct_h[c] + 0.01 * (double)((c + s) % 3)));
			if (plan->met[c] > 0)
				add(metrics, "deadline_met_ratio", "1", c, s,
				    plan->met[c] - 0.001 * (double)((c + s) % 3));
			add(metrics, "jobs", "1", c, s, 1000.0);
			add(metrics, "unsubmitted", "1", c, s, plan->late[c]);
			add(metrics, "wait_mean_s", "s", c, s, 1.0 + 8.0 * (double)(s % 2));
			add(metrics, "pl.ayer.forecast_accuracy", "1", c, s,
			    0.1 + 0.8 * (double)(s % 2));
		}
}

static void write_sweep(const struct plan *plan)
{
	struct tl_results *results = NULL;
	const char *temporary = getenv("TMPDIR");
	char text[32];

	error = TL_ERROR_INIT;
	snprintf(path, sizeof(path), "%s/tidelab-sweep-%ld.h5", temporary ? temporary : "/tmp",
	         (long)getpid());
	cr_assert_eq(tl_results_create(path, &results, &error), TL_OK, "%s", error.message);
	(void)tl_results_attr_text(results, "kind", "sweep", &error);
	(void)tl_results_attr_text(results, "design", "grid", &error);
	(void)tl_results_attr_text(results, "scenario_name", "planted", &error);
	(void)tl_results_attr_text(results, "scenario", "name: planted\n", &error);
	struct tl_table *axes = table_of(results, &tl_schema_axes);
	struct tl_table *cells = table_of(results, &tl_schema_cells);
	struct tl_table *runs = table_of(results, &tl_schema_runs);
	struct tl_row_axis *axis = tl_table_next(axes);
	snprintf(axis->key, sizeof(axis->key), "oversubscription");
	axis->numeric = !plan->words;
	for (size_t c = 0; c < plan->ratios; c++) {
		struct tl_row_cell *cell = tl_table_next(cells);

		snprintf(cell->key, sizeof(cell->key), "oversubscription");
		snprintf(cell->value, sizeof(cell->value), "%s", value_of(plan, c, text));
		cell->cell = (uint32_t)c;
		for (size_t s = 0; s < plan->seeds; s++) {
			struct tl_row_run *run = tl_table_next(runs);

			snprintf(run->identity, sizeof(run->identity), "%064zu", 100 * c + s);
			run->seed = s + 1;
			run->cell = (uint32_t)c;
			run->state = TL_RUN_DONE;
		}
	}
	write_metrics(results, plan);
	cr_assert_eq(tl_results_close(results, &error), TL_OK, "%s", error.message);
}

static void look(const struct plan *plan, double promise)
{
	const struct tl_report_options options = {.source = path, .attainment = promise};

	write_sweep(plan);
	cr_assert_eq(tl_report_sweep_open(&options, &sweep, &error), TL_OK, "%s", error.message);
}

static void fini(void)
{
	tl_report_sweep_close(&sweep);
	(void)unlink(path);
}

TestSuite(report_sweep, .fini = fini);

/* In the words of the first paragraph, or of the body. */
static void says_in(bool body, const char *wanted)
{
	const struct tl_figures none = {.count = 0};
	struct tl_html html = {.metrics = sweep.metrics, .metric_count = sweep.metric_count};
	char *text = NULL, *plain_text;
	size_t size = 0, used = 0;

	html.out = open_memstream(&text, &size);
	if (body)
		cr_assert_eq(tl_report_sweep_body(&html, &sweep, &none, &error), TL_OK);
	else
		tl_report_sweep_lead(&html, &sweep);
	fclose(html.out);
	plain_text = calloc(size + 1, 1);
	for (const char *at = text; *at; at++) {
		if (*at == '<')
			at = strchr(at, '>');
		else
			plain_text[used++] = *at;
	}
	cr_assert(strstr(plain_text, wanted), "wanted `%s` in: %s", wanted, plain_text);
	free(plain_text);
	free(text);
}

static void says(const char *wanted)
{
	says_in(false, wanted);
}

Test(report_sweep, cheapest_that_keeps_the_promise)
{
	look(&plain, 0.99);
	cr_assert_eq(sweep.best, 2);
	cr_assert_eq(sweep.cheapest, 3);
	cr_assert_eq(sweep.nearest, 0);
	cr_assert_eq(sweep.cells[2].promise, TL_PROMISE_KEPT);
	cr_assert_eq(sweep.cells[3].promise, TL_PROMISE_BROKEN);
	for (size_t c = 0; c < RATIOS; c++)
		cr_assert_not(sweep.cells[c].tie);
	says("Set oversubscription = 1.2: 47.0");
	says("It saves 3.993 CNY per GPU h");
	says("against oversubscription = 1.0 (7.8 %, 95 % interval");
	says("of the 3 settings that keep the promise, 2 are shown to cost more for the useful "
	     "work; this one is left.");
	says("pl.ayer answers 99.59 % of its requests in time");
	says("at oversubscription = 1.3 the promise is broken (98.5 %)");
	says("What it brings: useful work 940.1 GPU h instead of 900.1 GPU h.");
	says("What it risks: pl.ayer 99.59 % instead of 99.89 % in time.");
	says("6 seeds, each with the same traffic and failures in every setting; shown is what");
}

/* Costs that differ by next to nothing, be it in every pair: what jobs wait decides. */
Test(report_sweep, completion_decides_where_cost_does_not)
{
	struct plan plan = plain;

	for (size_t c = 0; c < RATIOS; c++) {
		plan.cost[c] = 46.0 + 0.02 * (double)c;
		plan.attainment[c] = 0.999;
		plan.jct_h[c] = 5.0 - 0.5 * (double)c;
	}
	plan.own_noise = 0.0;
	look(&plan, 0.99);
	cr_assert_eq(tl_report_sweep_change(&sweep, 0, 4, "cost_total_per_useful_gpu_h"),
	             TL_CHANGE_WORSE);
	cr_assert_eq(sweep.best, 4);
	cr_assert_eq(sweep.cheapest, 0);
	cr_assert_eq(sweep.worse[TL_CRITERION_JCT], 4);
	cr_assert_eq(sweep.left, 1);
	says("of the 5 settings that keep the promise, 4 are shown to take longer from submission "
	     "to end; this one is left.");
	says("mean time from submission to end 3h 1min instead of 5h 1min");
}

/* Of settings that end jobs about as soon, the one that changes least; names have no distance. */
Test(report_sweep, no_more_change_than_helps)
{
	static const double jct_h[RATIOS] = {6.0, 5.004, 4.998, 5.002, 5.0};
	struct plan plan = plain;

	for (size_t c = 0; c < RATIOS; c++) {
		plan.cost[c] = 46.0;
		plan.attainment[c] = 0.999;
		plan.jct_h[c] = jct_h[c];
	}
	look(&plan, 0.99);
	cr_assert_eq(sweep.left, 4);
	cr_assert_eq(sweep.best, 1);
	says("the other 4 are not told apart");
	says("the least change of about the least mean cost that ends jobs about as soon as any");
	says_in(true, "jct_mean_s, or the nearest to the first setting whose paired interval");
	fini();
	plan.words = true;
	look(&plan, 0.99);
	cr_assert_eq(sweep.best, 2);
}

/* What is cheapest is not chosen where it is shown to meet fewer deadlines. */
Test(report_sweep, deadlines_come_before_cost)
{
	struct plan plan = plain;

	for (size_t c = 0; c < RATIOS; c++)
		plan.met[c] = c == 2 ? 0.8 : 0.99;
	look(&plan, 0.99);
	cr_assert_eq(sweep.best, 1);
	cr_assert_eq(sweep.worse[TL_CRITERION_DEADLINES], 1);
	says("1 is shown to meet fewer deadlines, then 1 is shown to cost more");
}

/* Word for word what compare says: a saving whose own interval leaves out zero is not shown
 * where the correction over all that is compared takes it away. */
Test(report_sweep, verdicts_are_those_of_compare)
{
	const struct tl_compare_options options = {.confidence = 0.95,
	                                           .correction = TL_CORRECT_HOLM};
	static const char *const metrics[] = {"cost_total_per_useful_gpu_h", "pl.ayer.attainment",
	                                      "wait_mean_s", "useful_gpu_h",
	                                      "effective_utilisation"};
	struct tl_runs_list list = {.items = NULL};
	struct tl_comparison rows[5];
	struct plan plan = plain;

	plan.own_noise = 0.5;
	plan.cost[1] = 49.0;
	look(&plan, 0.99);
	cr_assert_eq(tl_runs_load(path, NULL, 0, &list, &error), TL_OK, "%s", error.message);
	for (size_t c = 1; c < RATIOS; c++) {
		tl_compare(list.items[0], list.items[c], metrics, 5, &options, rows);
		for (size_t m = 0; m < 5; m++) {
			struct tl_comparison row =
			    tl_report_sweep_compare(&sweep, 0, c, metrics[m]);

			cr_assert_eq(row.verdict, rows[m].verdict, "%s", metrics[m]);
			cr_assert(!(row.p_corrected < rows[m].p_corrected) &&
			          !(row.p_corrected > rows[m].p_corrected));
		}
	}
	tl_runs_list_fini(&list);
}

/* The mean is above the promise, the interval's lower end is not. */
Test(report_sweep, doubt_is_no_promise_kept)
{
	struct plan plan = plain;

	plan.attainment[2] = 0.9902;
	look(&plan, 0.99008);
	cr_assert(sweep.cells[2].attainment.mean > 0.99008);
	cr_assert(sweep.cells[2].attainment.low < 0.99008);
	cr_assert_eq(sweep.best, 1);
}

Test(report_sweep, ties_are_named)
{
	struct plan plan = plain;

	plan.cost[1] = 46.001;
	plan.own_noise = 0.5;
	look(&plan, 0.99);
	cr_assert_eq(sweep.cells[1].tie + sweep.cells[2].tie, 1);
	cr_assert_not(sweep.cells[0].tie);
	cr_assert_not(sweep.cells[3].tie, "it breaks the promise");
	says("It cannot be told from oversubscription = 1.");
	says("these are ties");
}

Test(report_sweep, a_tie_with_the_first_is_no_advice_to_change)
{
	struct plan plan = plain;

	plan.cost[0] = 46.5;
	plan.cost[1] = plan.cost[2] = 46.0;
	plan.own_noise = 0.5;
	look(&plan, 0.99);
	cr_assert(sweep.cells[0].tie);
	cr_assert_neq(sweep.best, 0);
	says(", or keep oversubscription = 1.0, as no difference between them is shown: ");
	says("A difference in that is not shown: on average it saves ");
}

Test(report_sweep, no_setting_keeps_it)
{
	look(&plain, 0.9999);
	cr_assert_eq(sweep.best, RATIOS);
	says("No setting keeps the promise that 99.99 % of every");
	says("Nearest is oversubscription = 1.0, where pl.ayer answers 99.89 %");
	says("Cheapest, whatever it breaks, is oversubscription = 1.3 at 45.0");
}

Test(report_sweep, the_end_of_the_range_is_no_optimum)
{
	struct plan plan = plain;

	plan.ratios = 3;
	look(&plan, 0.99);
	cr_assert_eq(sweep.best, 2);
	says("It is at an end of the range swept");
}

Test(report_sweep, one_seed_is_not_sure)
{
	struct plan plan = plain;

	plan.seeds = 1;
	look(&plan, 0.99);
	cr_assert_eq(sweep.best, 2);
	cr_assert(isnan(sweep.cells[2].cost.low));
	cr_assert_not(sweep.cells[1].tie);
	says("there is one seed, so chance cannot be told from effect");
}

/* Two seeds give intervals beyond what can be. */
Test(report_sweep, no_interval_below_what_can_be)
{
	struct plan plan = plain;

	plan.seeds = 2;
	look(&plan, 0.99);
	struct tl_sweep_stat wait =
	    tl_report_sweep_stat(&sweep, 0, tl_sweep_data_metric(sweep.data, "wait_mean_s"));
	struct tl_sweep_stat accuracy = tl_report_sweep_stat(
	    &sweep, 0, tl_sweep_data_metric(sweep.data, "pl.ayer.forecast_accuracy"));

	cr_assert_eq(wait.low, 0.0);
	cr_assert_gt(wait.high, 2 * wait.mean);
	cr_assert_lt(accuracy.low, 0.0);
	says_in(true, "5s (0 to 55.82s)");
	says_in(true, "Intervals over 2 seeds are wide; more seeds narrow them.");
	says("2 seeds, each with the same traffic and failures in every setting, which is few");
}

Test(report_sweep, short_runs_are_said_to_be)
{
	struct plan plan = plain;

	plan.late[1] = 100.0; /* a tenth: not yet */
	plan.late[2] = 101.0;
	plan.late[3] = 720.0;
	look(&plan, 0.99);
	says("Short runs: in 12, the horizon came before up to 72.0 % of the jobs were submitted");
}

Test(report_sweep, without_costs_by_useful_time)
{
	struct plan plan = plain;

	plan.costs = false;
	plan.service = false;
	look(&plan, 0.99);
	cr_assert(sweep.more_is_better);
	cr_assert_eq(sweep.best, 4);
	says("58.0 % of all GPU time is in productive use");
	says("It is more against oversubscription = 1.0 (16.0 %");
	says("no service in the scenario");
}

Test(report_sweep, names_instead_of_numbers)
{
	struct plan plan = plain;

	plan.words = true;
	look(&plan, 0.99);
	cr_assert_not(sweep.numeric);
	cr_assert_eq(sweep.cells[4].x, 5.0);
	cr_assert_eq(sweep.line_count, 1);
	cr_assert_eq(sweep.best, 2);
	says("Set oversubscription = gamma");
}

Test(report_sweep, key_that_is_not_swept)
{
	const struct tl_report_options options = {
	    .source = path, .attainment = 0.99, .against = "cluster.nodes"};

	write_sweep(&plain);
	cr_assert_eq(tl_report_sweep_open(&options, &sweep, &error), TL_E_USAGE);
	cr_assert(strstr(error.message, "wanted a key that the sweep varies"), "%s", error.message);
}

/* ---- the pictures: hostile names and all ---- */

Test(report_sweep, pictures_are_drawn)
{
	struct plan plan = plain;
	struct tl_figures figures = {.count = 0};
	char folder[] = "/tmp/tidelab-sweep-XXXXXX";

	if (system("gnuplot --version >/dev/null 2>&1") != 0)
		cr_skip_test("gnuplot is not installed");
	plan.words = true;
	look(&plan, 0.99);
	cr_assert_not_null(mkdtemp(folder));
	cr_assert_eq(tl_report_sweep_draw(&sweep, path, folder, NULL, &figures, &error), TL_OK,
	             "%s", error.message);
	cr_assert_eq(figures.written, 4);
	for (size_t i = 0; i < figures.count; i++) {
		cr_assert_not_null(figures.items[i].svg, "%s", figures.items[i].name);
		(void)unlink(figures.items[i].svg);
		(void)unlink(figures.items[i].png);
	}
	tl_figures_fini(&figures);
	(void)rmdir(folder);
}
