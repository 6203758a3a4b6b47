/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/regress.h"

#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char file[256];
static struct tl_error error;

static void make_name(void)
{
	const char *temporary = getenv("TMPDIR");
	int made;

	(void)snprintf(file, sizeof file, "%s/tidelab-XXXXXX", temporary ? temporary : "/tmp");
	made = mkstemp(file);
	cr_assert_geq(made, 0);
	(void)close(made);
	error = TL_ERROR_INIT;
}

static void remove_file(void)
{
	(void)unlink(file);
}

TestSuite(regress, .init = make_name, .fini = remove_file);

static void write_text(const char *text)
{
	FILE *out = fopen(file, "w");

	cr_assert_not_null(out);
	cr_assert_geq(fputs(text, out), 0);
	cr_assert_eq(fclose(out), 0);
}

static void bad_baseline(const char *text, long line, const char *says)
{
	struct tl_baseline baseline;

	write_text(text);
	cr_assert_eq(tl_baseline_read(file, &baseline, &error), TL_E_DATA, "%s", text);
	cr_assert_eq(error.line, line, "line %ld of %s: %s", error.line, text, error.message);
	cr_assert_not_null(strstr(error.message, says), "%s", error.message);
}

static void bad_tolerance(const char *text, long line, const char *says)
{
	struct tl_tolerances tolerances;

	write_text(text);
	cr_assert_eq(tl_tolerances_read(file, &tolerances, &error), TL_E_DATA, "%s", text);
	cr_assert_eq(error.line, line, "line %ld of %s: %s", error.line, text, error.message);
	cr_assert_not_null(strstr(error.message, says), "%s", error.message);
}

Test(regress, baseline_comes_back)
{
	static const char text[] = "# scenario: a.yaml\n# b\nmetric,seed 3,seed 1,unit\n"
				   "jobs,3,4,1\nwait,0.1,nan,s\n";
	struct tl_baseline baseline;
	char got[256] = "";
	FILE *out;

	write_text(text);
	cr_assert_eq(tl_baseline_read(file, &baseline, &error), TL_OK, "%s", error.message);
	cr_assert_not(baseline.seedless);
	cr_assert_eq(baseline.runs->count, 2);
	cr_assert_eq(baseline.runs->seeds[0], 3);
	cr_assert(isnan(tl_runs_value(baseline.runs, 1, 1)));
	out = fmemopen(got, sizeof got, "w");
	tl_baseline_write(baseline.comments, baseline.runs, out);
	cr_assert_eq(fclose(out), 0);
	cr_assert_str_eq(got, text);
	tl_baseline_fini(&baseline);

	/* One run, CRLF, no final newline; and nothing but a comment. */
	write_text("metric,value,unit\r\njobs,3,1");
	cr_assert_eq(tl_baseline_read(file, &baseline, &error), TL_OK);
	cr_assert(baseline.seedless);
	cr_assert_eq(tl_runs_value(baseline.runs, 0, 0), 3);
	tl_baseline_fini(&baseline);
	write_text("# scenario: a.yaml\n");
	cr_assert_eq(tl_baseline_read(file, &baseline, &error), TL_OK);
	cr_assert_eq(baseline.runs->metric_count, 0);
	cr_assert_str_eq(baseline.comments, "# scenario: a.yaml\n");
	tl_baseline_fini(&baseline);
}

Test(regress, names_with_commas_and_quotes_come_back)
{
	static const char text[] = "metric,value,unit\n\"x,y.served\",3,1\n"
				   "\"a \"\"b\"\".served\",4,\"\"\"\"\n";
	struct tl_baseline baseline;
	char got[256] = "";
	FILE *out;

	write_text(text);
	cr_assert_eq(tl_baseline_read(file, &baseline, &error), TL_OK, "%s", error.message);
	cr_assert_str_eq(baseline.runs->metrics[0], "x,y.served");
	cr_assert_str_eq(baseline.runs->metrics[1], "a \"b\".served");
	cr_assert_str_eq(baseline.runs->units[1], "\"");
	out = fmemopen(got, sizeof got, "w");
	tl_baseline_write(baseline.comments, baseline.runs, out);
	cr_assert_eq(fclose(out), 0);
	cr_assert_str_eq(got, text);
	tl_baseline_fini(&baseline);
}

Test(regress, malformed_baselines_are_told_by_line)
{
	struct tl_baseline baseline;

	bad_baseline("jobs,3,1\n", 1, "wanted `metric,value,unit`");
	bad_baseline("metric,unit\n", 1, "wanted `metric,value,unit`");
	bad_baseline("# c\nmetric,seed x,unit\n", 2, "wanted `seed` and its number");
	bad_baseline("metric,seed 1,seed 1,unit\n", 1, "each seed once");
	bad_baseline("metric,value,unit\n\njobs,3\n", 3, "got 2 fields, wanted the 3");
	bad_baseline("metric,value,unit\njobs,many,1\n", 2, "got `many`, wanted a number, or nan");
	bad_baseline("metric,value,unit\njobs,,1\n", 2, "got ``, wanted a number");
	bad_baseline("metric,value,unit\njobs,inf,1\n", 2, "wanted a number");
	bad_baseline("metric,value,unit\njobs,3,1\njobs,3,1\n", 3, "each metric once");
	bad_baseline("metric,value,unit\n\"jobs,3,1\n", 2, "got a stray quote in field 1");
	bad_baseline("metric,value,unit\njo\"bs,3,1\n", 2, "got a stray quote in field 1");
	bad_baseline("metric,value,unit\njobs,\"3\"4,1\n", 2, "got a stray quote in field 2");
	bad_baseline("metric,value,unit\n,3,1\n", 2, "a metric's name");
	cr_assert_eq(tl_baseline_read("/no/such/file", &baseline, &error), TL_E_NOINPUT);
}

Test(regress, malformed_tolerances_are_told_by_line)
{
	bad_tolerance("wait,1\n", 1, "wanted the columns");
	bad_tolerance("absolute,metric\n", 1, "wanted the columns");
	bad_tolerance("metric,relativ\n", 1, "got `relativ`");
	bad_tolerance("metric,relative,relative\nwait,1,2\n", 1, "each column once");
	bad_tolerance("metric,relative\nwait,-1\n", 2, "a margin");
	bad_tolerance("metric,relative\nwait\n", 2, "got 1 fields, wanted the 2");
	bad_tolerance("metric,test\nwait,guess\n", 2, "wanted value, difference");
	bad_tolerance("metric,gate\nwait,better\n", 2, "wanted any, worse");
	bad_tolerance("metric,test\nwait,equivalence\n", 2, "equivalence without a margin");
}

/* ---- judging ---- */

static struct tl_runs *one(double jobs, double wait)
{
	static const uint64_t seed = 1;
	struct tl_runs *runs = tl_runs_new("one", &seed, 1);

	*tl_runs_add_metric(runs, "jobs", "1") = jobs;
	*tl_runs_add_metric(runs, "wait_mean_s", "s") = wait;
	return runs;
}

static void expect(struct tl_runs *a, struct tl_runs *b, const char *tolerance,
                   enum tl_regress_state jobs, enum tl_regress_state wait)
{
	struct tl_tolerances tolerances = {.items = NULL};
	struct tl_regression *rows;
	size_t count;

	if (tolerance) {
		write_text(tolerance);
		cr_assert_eq(tl_tolerances_read(file, &tolerances, &error), TL_OK, "%s",
		             error.message);
	}
	cr_assert_eq(tl_regress(a, b, &tolerances, &rows, &count, &error), TL_OK, "%s",
	             error.message);
	cr_assert_geq(count, 2);
	cr_assert_eq(rows[0].state, jobs, "jobs: %d", (int)rows[0].state);
	cr_assert_eq(rows[1].state, wait, "wait: %d", (int)rows[1].state);
	free(rows);
	tl_tolerances_fini(&tolerances);
	tl_runs_destroy(a);
	tl_runs_destroy(b);
}

Test(regress, values_of_one_run)
{
	expect(one(3, 2.5), one(3, 2.5 * (1 + 1e-12)), NULL, TL_REGRESS_OK, TL_REGRESS_OK);
	expect(one(3, 2.5), one(4, 2.5), NULL, TL_REGRESS_MOVED, TL_REGRESS_OK);
	expect(one(3, 2.5), one(3, 2.6), NULL, TL_REGRESS_OK, TL_REGRESS_WORSE);
	expect(one(3, 2.5), one(3, 2.4), NULL, TL_REGRESS_OK, TL_REGRESS_MOVED);
	expect(one(3, 2.5), one(3, NAN), NULL, TL_REGRESS_OK, TL_REGRESS_MOVED);
	expect(one(3, NAN), one(3, NAN), NULL, TL_REGRESS_OK, TL_REGRESS_OK);
	/* Margins: the first that matches; the absolute and the relative one add up. */
	expect(one(3, 2.5), one(4, 2.6), "metric,absolute,relative\nwait*,0.05,0.02\n*,1,\n",
	       TL_REGRESS_OK, TL_REGRESS_OK);
	expect(one(3, 2.5), one(5, 2.61), "metric,absolute,relative\nwait*,0.05,0.02\n*,1,\n",
	       TL_REGRESS_MOVED, TL_REGRESS_WORSE);
	expect(one(3, 2.5), one(3, 2.4), "metric,gate\n*,worse\n", TL_REGRESS_OK,
	       TL_REGRESS_BETTER);
	expect(one(3, 2.5), one(9, 99), "metric,test\nwait*,ignore\n", TL_REGRESS_MOVED,
	       TL_REGRESS_IGNORED);
}

Test(regress, metrics_that_came_went_or_changed_their_unit)
{
	static const uint64_t seed = 1;
	const struct tl_tolerances none = {.items = NULL};
	struct tl_runs *a = tl_runs_new("a", &seed, 1), *b = tl_runs_new("b", &seed, 1);
	struct tl_regression *rows;
	size_t count;

	*tl_runs_add_metric(a, "gone", "s") = 1;
	*tl_runs_add_metric(a, "unit", "s") = 1;
	*tl_runs_add_metric(b, "new", "s") = 1;
	*tl_runs_add_metric(b, "unit", "ms") = 1;
	cr_assert_eq(tl_regress(a, b, &none, &rows, &count, &error), TL_OK);
	cr_assert_eq(count, 3);
	cr_assert_eq(rows[0].state, TL_REGRESS_GONE);
	cr_assert_eq(rows[1].state, TL_REGRESS_UNIT);
	cr_assert_eq(rows[2].state, TL_REGRESS_NEW);
	cr_assert(tl_regress_fails(&rows[0]) && tl_regress_fails(&rows[2]));
	free(rows);
	tl_runs_destroy(a);
	tl_runs_destroy(b);
}

enum { SEEDS = 8, METRICS = 20 };

/* Runs of seeds from `first` on, the metrics of luck of their own; the first is `factor`
 * times what it would be. */
static struct tl_runs *many(uint64_t first, double factor)
{
	uint64_t seeds[SEEDS];
	struct tl_runs *runs;

	for (uint64_t i = 0; i < SEEDS; i++)
		seeds[i] = first + i;
	runs = tl_runs_new("many", seeds, SEEDS);
	for (uint64_t m = 0; m < METRICS; m++) {
		char name[32];
		double *values;

		(void)snprintf(name, sizeof name, "%s%d", m == 0 ? "jct_" : "m", (int)m);
		values = tl_runs_add_metric(runs, name, "s");
		for (int i = 0; i < SEEDS; i++)
			values[i] =
			    (m == 0 ? factor : 1) *
			    (100 + 5 * (double)(tl_rng_at(seeds[i], TL_STREAM_TEST, m, 0) >> 11) *
			               0x1p-53);
	}
	return runs;
}

static size_t failures(struct tl_runs *a, struct tl_runs *b, const char *tolerance,
                       enum tl_regress_state *first)
{
	struct tl_tolerances tolerances = {.items = NULL};
	struct tl_regression *rows;
	size_t count, failed = 0;

	if (tolerance) {
		write_text(tolerance);
		cr_assert_eq(tl_tolerances_read(file, &tolerances, &error), TL_OK);
	}
	cr_assert_eq(tl_regress(a, b, &tolerances, &rows, &count, &error), TL_OK);
	cr_assert_eq(count, METRICS);
	for (size_t i = 0; i < count; i++)
		failed += tl_regress_fails(&rows[i]);
	*first = rows[0].state;
	free(rows);
	tl_tolerances_fini(&tolerances);
	tl_runs_destroy(a);
	tl_runs_destroy(b);
	return failed;
}

Test(regress, other_seeds_fail_one_gate_in_twenty)
{
	enum tl_regress_state first;
	size_t failed = 0;

	for (uint64_t c = 0; c < 1000; c++)
		failed += failures(many(1 + 20 * c, 1), many(11 + 20 * c, 1), NULL, &first) > 0;
	/* Metrics that have nothing to do with each other are the worst case: Holm's 50, ± 3σ. */
	cr_assert_leq(failed, 50 + 21, "%zu of 1000", failed);
	cr_assert_geq(failed, 50 - 21, "%zu of 1000", failed);
}

Test(regress, several_seeds_find_what_moved)
{
	enum tl_regress_state first;

	/* Pairs are equal but for the factor. */
	cr_assert_eq(failures(many(1, 1), many(1, 1), NULL, &first), 0);
	cr_assert_eq(failures(many(1, 1), many(1, 1.01), NULL, &first), 1);
	cr_assert_eq(first, TL_REGRESS_WORSE);
	/* Within a margin of 2 %, beyond one of half a per cent. */
	cr_assert_eq(failures(many(1, 1), many(1, 1.01), "metric,relative\n*,0.02\n", &first), 0);
	cr_assert_eq(failures(many(1, 1), many(1, 1.01), "metric,relative\n*,0.005\n", &first), 1);
	/* Value by value: every run. */
	cr_assert_eq(
	    failures(many(1, 1), many(1, 1.01), "metric,relative,test\n*,0.02,value\n", &first), 0);
	/* Equivalence wants proof: eight seeds of ±1.5 % show 5 %, and do not show 0.1 %. */
	cr_assert_eq(
	    failures(many(1, 1), many(11, 1), "metric,relative,test\n*,0.05,equivalence\n", &first),
	    0);
	cr_assert_eq(failures(many(1, 1), many(11, 1),
	                      "metric,relative,test\n*,0.001,equivalence\n", &first),
	             METRICS);
	cr_assert_eq(first, TL_REGRESS_UNCERTAIN);
}

Test(regress, tests_that_cannot_be_made)
{
	const struct tl_tolerance difference = {.pattern = (char[]){"*"},
	                                        .exact = true,
	                                        .test = TL_REGRESS_DIFFERENCE},
				  value = {.pattern = (char[]){"*"}, .test = TL_REGRESS_VALUE};
	struct tl_tolerances tolerances = {.items = (struct tl_tolerance[]){difference},
	                                   .count = 1};
	struct tl_runs *a = one(1, 2), *b = one(1, 2), *c = many(5, 1), *d = many(50, 1);
	struct tl_regression *rows;
	size_t count;

	cr_assert_eq(tl_regress(a, b, &tolerances, &rows, &count, &error), TL_E_DATA);
	cr_assert_not_null(strstr(error.message, "wanted two a side"), "%s", error.message);
	tolerances.items[0] = value;
	cr_assert_eq(tl_regress(c, d, &tolerances, &rows, &count, &error), TL_E_DATA);
	cr_assert_not_null(strstr(error.message, "has no run of seed 5"), "%s", error.message);
	tl_runs_destroy(a);
	tl_runs_destroy(b);
	tl_runs_destroy(c);
	tl_runs_destroy(d);
}

/* Of 10 runs, from the seed on; only those whose bit is set have a mean wait. */
static struct tl_runs *some(uint64_t first, unsigned with)
{
	uint64_t seeds[10];
	struct tl_runs *runs;
	double *jobs, *wait;

	for (size_t i = 0; i < 10; i++)
		seeds[i] = first + i;
	runs = tl_runs_new("some", seeds, 10);
	jobs = tl_runs_add_metric(runs, "jobs", "1");
	for (size_t i = 0; i < 10; i++)
		jobs[i] = (double)(100 + seeds[i] % 3);
	wait = tl_runs_add_metric(runs, "wait_mean_s", "s");
	for (size_t i = 0; i < 10; i++)
		wait[i] = with >> i & 1 ? (double)(50 + seeds[i] % 7) : NAN;
	return runs;
}

Test(regress, runs_without_a_value_are_not_judged_by_the_rest)
{
	static const char equivalence[] =
	    "metric,absolute,test\nwait*,9,equivalence\njobs,9,equivalence\n";

	expect(some(1, 0x3ff), some(1, 0x3ff), NULL, TL_REGRESS_OK, TL_REGRESS_OK);
	expect(some(1, 0x0ff), some(1, 0x0ff), NULL, TL_REGRESS_OK, TL_REGRESS_OK);
	/* A seed that lost its value, or gained one, whatever the others say. */
	expect(some(1, 0x3ff), some(1, 0x1ff), NULL, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
	expect(some(1, 0x1ff), some(1, 0x3ff), NULL, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
	expect(some(1, 0x1ff), some(1, 0x3fe), NULL, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
	expect(some(1, 0x3ff), some(1, 0x1ff), equivalence, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
	expect(some(1, 0x3ff), some(1, 0), NULL, TL_REGRESS_OK, TL_REGRESS_MOVED);
	/* Of other seeds: shares that differ beyond chance, and only those. */
	expect(some(1, 0x3ff), some(101, 0x3fe), NULL, TL_REGRESS_OK, TL_REGRESS_OK);
	expect(some(1, 0x3ff), some(101, 0x003), NULL, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
	expect(some(1, 0x003), some(101, 0x3ff), NULL, TL_REGRESS_OK, TL_REGRESS_UNEVEN);
}
