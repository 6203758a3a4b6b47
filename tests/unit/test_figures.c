/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the pictures are drawn from. */
#include "analysis/figures_private.h"
#include "sim/base/units.h"
#include "tests/unit/expect.h"
#include "tests/unit/figures_sample.h"
#include "tests/unit/scratch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct tl_error error;

TestSuite(figures, .init = scratch_make, .fini = scratch_remove);

/* What one picture would be drawn from. */
static char *prepare(enum tl_status (*figure)(struct tl_results_reader *, FILE *,
                                              struct tl_figure_plot *, struct tl_error *),
                     struct tl_figure_plot *plot)
{
	struct tl_results_reader *reader = NULL;
	char *text = NULL;
	size_t size = 0;
	FILE *data = open_memstream(&text, &size);

	memset(plot, 0, sizeof(*plot));
	plot->table = "/services/a b\"<c/windows";
	OK(tl_results_open(scratch_path("r.h5"), &reader, &error));
	OK(figure(reader, data, plot, &error));
	tl_results_reader_close(reader);
	fclose(data);
	return text;
}

Test(figures, utilisation_is_averaged_over_time)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_utilisation, &plot);
	cr_assert_str_eq(plot.skip, "");
	/* half the time 4 of 8 productive, 2 more held, 1 down, 1 free; else 8 free */
	cr_assert(strstr(text, "\"held, making progress 25.0 %\""), "%.200s", text);
	cr_assert(strstr(text, "\"held, no progress 12.5 %\""), "%.200s", text);
	cr_assert(strstr(text, "\"free 56.2 %\"") || strstr(text, "\"free 56.3 %\""), "%.200s",
	          text);
	cr_assert(strstr(text, "\"down 6.2 %\"") || strstr(text, "\"down 6.3 %\""), "%.200s", text);
	cr_assert(strstr(text, "\n2.505 0 0 8 8 0\n"));
	cr_assert(strstr(text, "\n7.505 4 6 7 8 3\n"));
	cr_assert_str_eq(plot.extras[0], "hours");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "8");
	cr_assert_str_eq(plot.extras[3], "down pending");
	free(text);
}

Test(figures, purposes_are_stacked)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_purposes, &plot);
	cr_assert(strstr(text, "time \"training 18.8 %\" \"inference, serving 6.2 %\""), "%.300s",
	          text);
	cr_assert(strstr(text, "\"other 6.2 %\""), "%.500s", text);
	/* the bottom, then the top of each of twelve bands */
	cr_assert(strstr(text, "\n2.505 0 0 0 0 0 0 0 0 0 0 0 8 8\n"), "%.900s", text);
	cr_assert(strstr(text, "\n7.505 0 3 4 4 4 4 4 5 6 6 8 8 8\n"));
	cr_assert_str_eq(plot.extras[0], "hours");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "8");
	cr_assert_str_eq(plot.extras[3], "1 2 7 8 10 11 ");
	cr_assert(strstr(plot.alt, "training 18.8 %; inference, serving 6.2 %;"), "%s", plot.alt);
	free(text);
}

Test(figures, fragmentation_is_of_what_is_free)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_fragmentation, &plot);
	/* 8 free for five hours, then 1; of that a half of no use, on three nodes */
	cr_assert(strstr(text, "\"free 56.2 % of capacity\"") ||
	              strstr(text, "\"free 56.3 % of capacity\""),
	          "%.200s", text);
	cr_assert(strstr(text, "\n2.505 8 0 8 0\n"), "%.300s", text);
	cr_assert(strstr(text, "\n7.505 1 0.5 0 3\n"));
	free(text);
}

Test(figures, service_shows_its_breaches)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(text, "0 50 4 3 10 NaN\n1 50 4 3 10 NaN\n2 250 4 3 10 NaN\n"), "%s", text);
	cr_assert(strstr(text, "\n5 NaN 4 4 10 NaN\n"), "%s", text);
	cr_assert(strstr(text, "\n\n\n2 3 1\n\n\n0\n"), "%s", text); /* a breach, an incident */
	cr_assert_str_eq(plot.extras[0], "minutes");
	cr_assert_str_eq(plot.extras[1], "0:10");
	cr_assert_str_eq(plot.extras[2], "100 ms straight 0 270 1 0");
	cr_assert_str_eq(plot.extras[3], "in breach 10 % of the time"
	                                 "|p99 of each window of 1min|target 100ms");
	cr_assert(
	    strstr(plot.alt, "in breach for 1min, 10 % of the time; the worst window has 250ms"),
	    "%s", plot.alt);
	free(text);
}

Test(figures, service_within_its_target_says_its_own_worst)
{
	struct tl_results *results = sample_begin();
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	schema.path = "/services/a b\"<c/windows";
	for (int64_t i = 0; i < 3; i++) {
		struct tl_row_window *row = sample_add(results, &table, &schema);

		row->t_ns = i * TL_NS_PER_MIN;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = 40 * TL_NS_PER_MS;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(plot.alt, "the worst window has 40ms"), "%s", plot.alt);
	cr_assert_str_eq(plot.extras[2], "100 ms straight 0 108 0 0");
	free(text);
}

Test(figures, more_windows_than_pixels_tell_what_part_was_in_breach)
{
	struct tl_results *results = sample_begin();
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	schema.path = "/services/a b\"<c/windows";
	for (int64_t i = 0; i < 3999; i++) { /* four a point, three the last */
		struct tl_row_window *row = sample_add(results, &table, &schema);

		row->t_ns = i * TL_NS_PER_MIN;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = 40 * TL_NS_PER_MS;
		row->overload = i == 5 || (i >= 8 && i < 16) || i == 3998;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(text, "\n0.0666666667 0.133333333 0.25\n0.133333333 0.266666667 1\n"
	                       "66.6 66.65 0.333\n"));
	cr_assert(strstr(plot.alt, "in breach for 10min"), "%s", plot.alt);
	free(text);
}

/* p99 of ten requests is the slowest of them: stretches of over 500 are judged as a whole. */
Test(figures, windows_of_few_requests_are_pooled)
{
	struct tl_results *results = sample_begin();
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	schema.path = "/services/a b\"<c/windows";
	for (int64_t i = 0; i < 200; i++) {
		struct tl_row_window *row = sample_add(results, &table, &schema);

		row->t_ns = i * TL_NS_PER_MIN;
		row->arrivals = row->served = 10;
		row->attained = i % 25 == 0 || i >= 150 ? 9 : 10;
		row->target_ns = 100 * TL_NS_PER_MS;
		row->p99_ns = (row->attained < 10 ? 400 : 40) * TL_NS_PER_MS;
		row->overload = row->attained < 10;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_service, &plot);
	cr_assert(strstr(text, "0 40 0 0 0.166667 400\n"), "%s", text);
	cr_assert(strstr(text, "\n\n\n2.5 3.33333333 1\n"), "%s", text);
	cr_assert(
	    strstr(plot.extras[3], "over 1 % late: 25 % of the time|p99, middle of 50 windows"),
	    "%s", plot.extras[3]);
	cr_assert(strstr(plot.alt, "judged over stretches of 50min"), "%s", plot.alt);
	free(text);
}

Test(figures, waits_are_counted_by_kind)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_waiting, &plot);
	cr_assert(strstr(text, "\"training: 3 of 4 jobs started\" percent\n1 33.3333\n10 66.6667\n"
	                       "100 100\n9000 100\n\n\n"),
	          "%s", text);
	cr_assert(strstr(text, "\"evaluation: 1 of 1 jobs started\" percent\n1 0\n7200 100\n"),
	          "%s", text);
	cr_assert(strstr(text, "\"other: 1 of 1 jobs started\" percent\n1 0\n3 100\n"), "%s", text);
	cr_assert_null(strstr(text, "inference"));
	cr_assert_str_eq(plot.extras[1], "1 3 5 ");
	cr_assert_str_eq(plot.extras[2], "0");
	free(text);
}

/* Four of five start at once: the axis begins at 80 %. */
Test(figures, short_waits_are_drawn_from_where_they_begin)
{
	struct tl_results *results = sample_begin();
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;

	for (int64_t i = 0; i < 5; i++) {
		struct tl_row_job *row = sample_add(results, &table, &tl_schema_jobs);

		memcpy(row->kind, "training", sizeof "training");
		row->wait_ns = i == 4 ? TL_NS_PER_HOUR : 0;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_waiting, &plot);
	cr_assert_str_eq(plot.extras[2], "80");
	free(text);
}

Test(figures, gantt_splits_a_job_over_the_gaps)
{
	struct tl_figure_plot plot;

	sample_write("");
	char *text = prepare(tl_figure_gantt, &plot);
	/* four GPUs of node 0, of 0.21 of a line each: job 0, job 1 on two, job 2 */
	cr_assert(strstr(text, "\n0 4 0.08 0.29 1 0\n"), "%s", text);
	cr_assert(strstr(text, "\n0 2 0.29 0.71 1 1\n"), "%s", text);
	cr_assert(strstr(text, "\n0 8 0.71 0.92 1 2\n"), "%s", text);
	cr_assert(strstr(text, "\n3 9 0.29 0.71 3 1\n"), "%s", text);
	/* half a GPU of the next line, a kind unknown, a replica, and the time it was down */
	cr_assert(strstr(text, "\n1 10 1.08 1.185 5 2\n"), "%s", text);
	cr_assert(strstr(text, "\n0 1 1.08 1.29 2 0\n"), "%s", text);
	cr_assert(strstr(text, "\n0 1 1.08 1.92 7 0\n"), "%s", text);
	cr_assert(strstr(text, "\n\n\n0.5 \"n_0\"\n1.5 \"n_2\"\n"), "%s", text);
	cr_assert_str_eq(plot.extras[2], "2");
	cr_assert_str_eq(plot.extras[3], "1 2 3 5 6 7");
	free(text);
}

/* More than can be told apart: a stretch about the middle is shown, and said to be. */
Test(figures, gantt_of_a_long_run_shows_a_part)
{
	struct tl_results *results = sample_begin();
	struct tl_table *table = NULL;
	struct tl_figure_plot plot;
	size_t lines = 0;

	sample_jobs(results);
	sample_nodes(results, "");
	for (int64_t i = 0; i < 10000; i++) {
		struct tl_row_placement *row = sample_add(results, &table, &tl_schema_placements);

		row->gpus_mgpu = 4000;
		row->start_ns = i * TL_NS_PER_HOUR;
		row->end_ns = (i + 1) * TL_NS_PER_HOUR;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_gantt, &plot);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	cr_assert(lines > 1900 && lines < 2100, "%zu", lines);
	cr_assert(strstr(plot.extras[0], "[days]; part of a run of 416.7"), "%s", plot.extras[0]);
	free(text);
}

Test(figures, gantt_of_many_nodes_shows_the_busiest)
{
	struct tl_results *results = sample_begin();
	struct tl_table *nodes = NULL;
	struct tl_table *placements = NULL;
	struct tl_figure_plot plot;

	sample_jobs(results);
	for (uint32_t i = 0; i < 100; i++) {
		struct tl_row_node *node = sample_add(results, &nodes, &tl_schema_nodes);
		struct tl_row_placement *row =
		    sample_add(results, &placements, &tl_schema_placements);

		snprintf(node->name, sizeof(node->name), "n%u", i);
		node->gpus = 1;
		row->node = i;
		row->gpus_mgpu = 1000;
		row->end_ns = (i % 2 ? 2 : 1) * TL_NS_PER_HOUR + i;
	}
	OK(tl_results_close(results, &error));
	char *text = prepare(tl_figure_gantt, &plot);
	cr_assert_str_eq(plot.extras[2], "48");
	cr_assert(strstr(plot.extras[0], "the busiest 48 of 100 nodes"), "%s", plot.extras[0]);
	/* of 50 that ran for two hours, all but the two that ran a shade less */
	cr_assert(strstr(text, "\n\n\n0.5 \"n5\"\n1.5 \"n7\"\n"), "%s", text);
	cr_assert(strstr(text, "\n47.5 \"n99\"\n"));
	free(text);
}

Test(figures, units_of_time_suit_the_span)
{
	double unit_ns = 0;

	cr_assert_str_eq(tl_figure_time_unit(TL_NS_PER_S, &unit_ns), "minutes");
	cr_assert_str_eq(tl_figure_time_unit(TL_NS_PER_DAY, &unit_ns), "hours");
	cr_assert_str_eq(tl_figure_time_unit(30 * TL_NS_PER_DAY, &unit_ns), "days");
	cr_assert_eq(unit_ns, (double)TL_NS_PER_DAY);
}
