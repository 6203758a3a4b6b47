/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The pictures themselves, and what keeps them from being drawn. */
#include "analysis/figures.h"
#include "sim/base/units.h"
#include "tests/unit/expect.h"
#include "tests/unit/figures_sample.h"
#include "tests/unit/scratch.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *result, *out;
static struct tl_error error;
static struct tl_figures figures;

static void set_up(void)
{
	scratch_make();
	result = scratch_path("r.h5");
	out = scratch_path("out");
}

static void tear_down(void)
{
	tl_figures_fini(&figures);
	scratch_remove();
}

TestSuite(figures_drawn, .init = set_up, .fini = tear_down);

static size_t entries(const char *path)
{
	DIR *stream = opendir(path);
	size_t count = 0;

	for (struct dirent *entry; stream && (entry = readdir(stream));)
		count += entry->d_name[0] != '.';
	if (stream)
		closedir(stream);
	return count;
}

/* The item of that name; NULL: neither drawn nor skipped. */
static const struct tl_figure *item(const char *name)
{
	for (size_t i = 0; i < figures.count; i++)
		if (strcmp(figures.items[i].name, name) == 0)
			return &figures.items[i];
	return NULL;
}

static void need_gnuplot(void)
{
	if (system("gnuplot --version >/dev/null 2>&1") != 0)
		cr_skip_test("gnuplot is not installed");
}

Test(figures_drawn, all_are_drawn_and_alike_twice)
{
	static const char *const names[] = {"utilisation",   "purposes",       "waiting",
	                                    "fragmentation", "service-a_b__c", "service-a_b__c_",
	                                    "gantt"};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	char *first[2 * NAMES];
	size_t first_size[2 * NAMES];

	need_gnuplot();
	sample_write("");
	for (int round = 0; round < 2; round++) {
		OK(tl_figures_write(result, out, NULL, &figures, &error));
		cr_assert_eq(figures.written, NAMES);
		cr_assert_eq(figures.count, NAMES);
		cr_assert_eq(entries(out), 2 * NAMES, "something else is left");
		for (size_t i = 0; i < 2 * NAMES; i++) {
			const struct tl_figure *figure = &figures.items[i / 2];
			size_t size = 0;
			char *bytes = scratch_read(i % 2 ? figure->svg : figure->png, &size);

			cr_assert_str_eq(figure->name, names[i / 2]);
			cr_assert_neq(figure->alt[0], '\0');
			cr_assert_gt(size, 5000);
			if (round == 0) {
				first[i] = bytes;
				first_size[i] = size;
				continue;
			}
			cr_assert(size == first_size[i] && memcmp(bytes, first[i], size) == 0, "%s",
			          names[i / 2]);
			free(bytes);
			free(first[i]);
		}
		tl_figures_fini(&figures);
	}
}

/* Names come from scenarios, and gnuplot has its own ideas of quotes, _ and $. */
Test(figures_drawn, names_are_taken_literally)
{
	size_t size = 0;

	need_gnuplot();
	sample_write(" <script>\"`date`\"\\n{/:Bold x}");
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	char *svg = scratch_read(item("gantt")->svg, &size);
	cr_assert(strstr(svg, "it's \"a\" $test_1: Jobs by node") ||
	          strstr(svg, "it's &quot;a&quot; $test_1: Jobs by node"));
	cr_assert(strstr(svg, "n_2 &lt;script>'`date`''n{/:Bold x}"));
	free(svg);
}

Test(figures_drawn, tables_not_written_are_told)
{
	struct tl_results *results = sample_begin();
	struct tl_table *table = NULL;

	need_gnuplot();
	sample_jobs(results);
	OK(tl_results_table(results, &tl_schema_timeline, NULL, &table, &error));
	OK(tl_results_close(results, &error));
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(figures.written, 1);
	cr_assert_not_null(item("waiting")->svg);
	cr_assert_str_eq(item("utilisation")->skipped, "the timeline has no samples");
	cr_assert_str_eq(item("fragmentation")->skipped, "the timeline has no samples");
	cr_assert(strstr(item("purposes")->skipped, "the result has no table /cluster/purposes"));
	cr_assert(strstr(item("gantt")->skipped, "the result has no table /placements"));
	cr_assert_null(item("gantt")->png);
	cr_assert_eq(entries(out), 2);
}

Test(figures_drawn, nothing_to_draw_is_told)
{
	struct tl_results *results = sample_begin();
	struct tl_table *table = NULL;

	for (size_t i = 0; tl_schema_all[i]; i++)
		OK(tl_results_table(results, tl_schema_all[i], NULL, &table, &error));
	OK(tl_results_close(results, &error));
	OK(tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(figures.written, 0);
	cr_assert_eq(figures.count, 5);
	cr_assert_eq(entries(out), 0);
}

/* ---- what goes wrong ---- */

Test(figures_drawn, no_result_no_folder)
{
	WANT(TL_E_NOINPUT, "No such file",
	     tl_figures_write("/no/such.h5", out, NULL, &figures, &error));
	cr_assert_neq(access(out, F_OK), 0, "the folder was made all the same");
	sample_write("");
	WANT(TL_E_CANTCREAT, "File exists",
	     tl_figures_write(result, result, NULL, &figures, &error));
	WANT(TL_E_CANTCREAT, "No such file",
	     tl_figures_write(result, "/no/such/folder", NULL, &figures, &error));
	WANT(TL_E_UNAVAILABLE, "scripts",
	     tl_figures_write(result, out, "/no/such/plots", &figures, &error));
}

Test(figures_drawn, gnuplot_is_absent)
{
	sample_write("");
	setenv("PATH", scratch_path(NULL), 1);
	WANT(TL_E_UNAVAILABLE, "not installed, or not on PATH",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_eq(entries(out), 0);
}

Test(figures_drawn, script_fails_or_draws_nothing)
{
	need_gnuplot();
	sample_write("");
	scratch_write("utilisation.gp", "set output ARG3\nset nonsense 1\n");
	scratch_write("purposes.gp", "");
	scratch_write("waiting.gp", "");
	scratch_write("fragmentation.gp", "");
	scratch_write("service.gp", "");
	scratch_write("gantt.gp", "");
	WANT(TL_E_UNAVAILABLE, "picture `utilisation`: line 2: ",
	     tl_figures_write(result, out, scratch_path(NULL), &figures, &error));
	cr_assert_eq(entries(out), 0);
	scratch_write("utilisation.gp", "");
	WANT(TL_E_IO, "to its end",
	     tl_figures_write(result, out, scratch_path(NULL), &figures, &error));
	cr_assert_eq(entries(out), 0);
}

Test(figures_drawn, windows_that_go_back_are_refused)
{
	struct tl_results *results = sample_begin();

	need_gnuplot();
	sample_windows(results, "a", false);
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "/services/a/windows, row 1: got a time not after",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_str_eq(error.file, result);
	cr_assert_eq(entries(out), 0);
}

Test(figures_drawn, intervals_that_go_back_are_refused)
{
	struct tl_results *results = sample_begin();
	struct tl_table *table = NULL;

	need_gnuplot();
	for (int64_t i = 0; i < 3; i++) {
		struct tl_row_purpose *row = sample_add(results, &table, &tl_schema_purposes);

		row->t_ns = (3 - i) * TL_NS_PER_S;
	}
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "/cluster/purposes, row 1: got an interval",
	     tl_figures_write(result, out, NULL, &figures, &error));
}

Test(figures_drawn, time_that_goes_back_is_refused)
{
	struct tl_results *results = sample_begin();

	sample_timeline(results, false);
	OK(tl_results_close(results, &error));
	WANT(TL_E_DATA, "row 1: got a time before",
	     tl_figures_write(result, out, NULL, &figures, &error));
	cr_assert_str_eq(error.file, result);
}

Test(figures_drawn, placement_of_no_job_is_refused)
{
	struct tl_results *results = sample_begin();

	sample_jobs(results);
	sample_nodes(results, "");
	sample_placements(results, 6);
	OK(tl_results_close(results, &error));
	need_gnuplot();
	WANT(TL_E_DATA, "row 5: got job 6", tl_figures_write(result, out, NULL, &figures, &error));
}
