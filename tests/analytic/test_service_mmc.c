/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An online service as M/M/c: Poisson arrivals, exponential service, one queue in front of c
 * replicas that nobody scales. Each seed is a whole supervised run that gives a mean wait in
 * its summary; Erlang's C gives the mean that they scatter around. It has to lie in their 99 %
 * interval (Student's t), which has to be narrow as well.
 */
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/units.h"
#include "sim/config/scenario.h"
#include "sim/plane/supervise.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SEEDS = 10, REQUESTS = 120000, TEXT_ROOM = 2048, PATH_ROOM = 512 };

static const double STUDENT_99 = 3.2498; /* 9 degrees of freedom, both sides */
static const double SERVICE_S = 0.02;

static char output[PATH_ROOM];

static void setup(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(output, sizeof output, "%s/mmc-%ld.h5", folder ? folder : "/tmp", (long)getpid());
}

static void teardown(void)
{
	unlink(output);
}

TestSuite(service_mmc, .init = setup, .fini = teardown, .timeout = 120);

static double metric(const char *name)
{
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_row_summary *rows;
	void *read = NULL;
	size_t count = 0;
	double value = (double)NAN;

	cr_assert_eq(tl_results_open(output, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, &tl_schema_summary, &read, &count, &error), TL_OK,
	             "%s", error.message);
	tl_results_reader_close(reader);
	rows = read;
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].metric, name) == 0)
			value = rows[i].value;
	free(rows);
	cr_assert(!isnan(value), "no metric `%s`", name);
	return value;
}

/* The mean wait of one run, in mean service times. */
static double run(unsigned seed, unsigned replicas, double load)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_run_options options = {.output_path = output, .force = true};
	double rate = load * replicas / SERVICE_S;
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "horizon: %.0fs\nseed: %u\ncluster: 1x%u\nworkload:\n"
	         "  - {service: q, arrivals: {process: poisson, rate: %g}, replicas: %u,\n"
	         "     service_time: {dist: exponential, mean: 20ms}, batch: 1,\n"
	         "     routing: shared-queue}\n"
	         "policy: {scale: static}\nmetrics: {window: 10min}\noutput: {tables: [summary]}\n",
	         REQUESTS / rate, seed, replicas, rate, replicas);
	cr_assert_eq(tl_scenario_parse("mmc", text, NULL, 0, &scenario, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_OK, "%s", error.message);
	tl_scenario_destroy(scenario);
	cr_assert_float_eq(metric("q.requests"), REQUESTS, 5 * sqrt(REQUESTS));
	cr_assert_eq(metric("q.dropped"), 0);
	return metric("q.wait_mean_s") / SERVICE_S;
}

/* Erlang's C by the recursion of his B over servers; a: load × servers. */
static double erlang_c(unsigned servers, double load)
{
	double a = load * servers, b = 1;

	for (unsigned n = 1; n <= servers; n++)
		b = a * b / (n + a * b);
	return b / (1 - load * (1 - b));
}

static void check(unsigned replicas, double load, double width)
{
	double value = erlang_c(replicas, load) / (replicas * (1 - load));
	double sum = 0, squares = 0;

	for (unsigned seed = 1; seed <= SEEDS; seed++) {
		double wait = run(seed, replicas, load);

		sum += wait;
		squares += wait * wait;
	}
	double mean = sum / SEEDS;
	double half = STUDENT_99 * sqrt((squares - sum * mean) / (SEEDS - 1) / SEEDS);

	cr_log_info("M/M/%u at %g: %.5f ± %.5f, theory %.5f\n", replicas, load, mean, half, value);
	cr_assert_leq(fabs(mean - value), half, "M/M/%u at %g: %.5f ± %.5f, theory %.5f", replicas,
	              load, mean, half, value);
	cr_assert_leq(half, width * value, "M/M/%u at %g: %.5f ± %.5f tells little", replicas, load,
	              mean, half);
}

Test(service_mmc, by_hand)
{
	cr_assert_float_eq(erlang_c(1, 0.8), 0.8, 1e-12);
	/* Two servers, a = 1: C = 1/3. */
	cr_assert_float_eq(erlang_c(2, 0.5), 1.0 / 3.0, 1e-12);
}

Test(service_mmc, one_replica)
{
	check(1, 0.5, 0.03);
	check(1, 0.8, 0.05);
}

Test(service_mmc, four_replicas)
{
	check(4, 0.5, 0.04);
	check(4, 0.8, 0.05);
}
