/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any rows as the tables of a sweep's merged file: refused with a reason, or read, and then
 * good for runs, a comparison and a report. HDF5 finds the damage of bytes by checksums; what
 * it cannot know is whether the tables go together. A line of the input is a row:
 *   a KEY NUMERIC, c CELL OWN VALUE, r CELL SEED STATE REASON, m CELL SEED METRIC VALUE UNIT
 */
#include "analysis/compare.h"
#include "analysis/report_sweep.h"
#include "analysis/runs.h"
#include "results/schema.h"
#include "tests/fuzz/input.h"

struct tables {
	struct tl_table *axes, *cells, *runs, *metrics;
};

static void put_row(const struct tables *tables, const char *line)
{
	struct tl_row_axis axis = {.numeric = 0};
	struct tl_row_cell cell = {.cell = 0};
	struct tl_row_run run = {.seed = 0};
	struct tl_row_metric metric = {.seed = 0};
	unsigned long long seed;
	unsigned state;

	if (sscanf(line, "a %255s %u", axis.key, &axis.numeric) >= 1) {
		(void)tl_table_append(tables->axes, &axis);
	} else if (sscanf(line, "c %u %u %511s", &cell.cell, &cell.own, cell.value) >= 2) {
		(void)tl_table_append(tables->cells, &cell);
	} else if (sscanf(line, "r %u %llu %u %399s", &run.cell, &seed, &state, run.reason) >= 3) {
		run.seed = seed;
		run.state = (uint8_t)(state % TL_ROW_RUN_STATE_COUNT);
		(void)memset(run.identity, 'a', sizeof run.identity - 1);
		(void)tl_table_append(tables->runs, &run);
	} else if (sscanf(line, "m %u %llu %63s %lf %15s", &metric.cell, &seed, metric.metric,
	                  &metric.value, metric.unit) >= 4) {
		metric.seed = seed;
		(void)tl_table_append(tables->metrics, &metric);
	}
}

static void make_file(const char *path, char *text)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_results *results = NULL;
	struct tables tables;

	TL_ASSERT(tl_results_create(path, &results, &error) == TL_OK);
	(void)tl_results_attr_text(results, "kind", "sweep", &error);
	(void)tl_results_attr_text(results, "scenario_name", "fuzz", &error);
	(void)tl_results_attr_text(results, "scenario", "seed: 1\n", &error);
	(void)tl_results_attr_text(results, "design", "grid", &error);
	(void)tl_results_table(results, &tl_schema_axes, NULL, &tables.axes, &error);
	(void)tl_results_table(results, &tl_schema_cells, NULL, &tables.cells, &error);
	(void)tl_results_table(results, &tl_schema_runs, NULL, &tables.runs, &error);
	(void)tl_results_table(results, &tl_schema_metrics, NULL, &tables.metrics, &error);
	for (char *line = text, *end; *line != '\0'; line = end) {
		end = line + strcspn(line, "\n");
		if (*end != '\0')
			*end++ = '\0';
		put_row(&tables, line);
	}
	TL_ASSERT(tl_results_close(results, &error) == TL_OK);
}

static void compare(const char *path)
{
	const struct tl_compare_options options = {.confidence = 0.95};
	struct tl_runs_list list = {.items = NULL};
	struct tl_error error = TL_ERROR_INIT;

	if (tl_runs_load(path, NULL, 0, &list, &error) != TL_OK)
		fuzz_refused(&error);
	if (list.count >= 2) {
		const struct tl_runs *first = list.items[0];
		struct tl_comparison *rows = tl_calloc(first->metric_count + 1, sizeof *rows);

		tl_compare(first, list.items[list.count - 1], (const char *const *)first->metrics,
		           first->metric_count, &options, rows);
		free(rows);
	}
	tl_runs_list_fini(&list);
}

static void report(const char *path)
{
	const struct tl_report_options options = {.source = path, .attainment = 0.99};
	const struct tl_figures none = {.count = 0};
	struct tl_report_sweep sweep = {.data = NULL};
	struct tl_error error = TL_ERROR_INIT;

	if (tl_report_sweep_open(&options, &sweep, &error) == TL_OK) {
		struct tl_html html = {.metrics = sweep.metrics,
		                       .metric_count = sweep.metric_count};
		char *text = NULL;
		size_t size = 0;

		html.out = open_memstream(&text, &size);
		TL_ASSERT(html.out != NULL);
		tl_report_sweep_lead(&html, &sweep);
		TL_ASSERT(tl_report_sweep_body(&html, &sweep, &none, &error) == TL_OK);
		(void)fclose(html.out);
		free(text);
	} else {
		fuzz_refused(&error);
	}
	tl_report_sweep_close(&sweep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size);
	char path[FUZZ_PATH_SIZE];

	(void)snprintf(path, sizeof path, "%s/merged.h5", fuzz_folder());
	make_file(path, text);
	compare(path);
	report(path);
	free(text);
	return 0;
}
