/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Queues with a known answer, run as a cluster: one-GPU nodes, one-GPU jobs, first come
 * first served, ideal physics. Mean wait and the share of jobs that wait lie within a
 * 99.9 % interval from batch means about Erlang's C formula (M/M/c; M/M/1 is c = 1) or
 * Pollaczek and Khinchin's (M/D/1).
 */
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"
#include "sim/plane/trial.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { JOBS = 62000, WARM_UP = 2000, BATCHES = 30, PATH_ROOM = 512 };

static const double T_999 = 3.659; /* Student's t, 29 degrees of freedom, two-sided 0.001 */
static const double SERVICE_S = 100.0;

static char trace[PATH_ROOM], output[PATH_ROOM];

static void setup(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(trace, sizeof trace, "%s/queue-%ld.csv", folder ? folder : "/tmp", (long)getpid());
	snprintf(output, sizeof output, "%s/queue-%ld.h5", folder ? folder : "/tmp",
	         (long)getpid());
}

static void teardown(void)
{
	unlink(trace);
	unlink(output);
}

TestSuite(queueing, .init = setup, .fini = teardown, .timeout = 120);

/* An exponential draw: of stream `entity`, number n. */
static int64_t exponential_ns(uint64_t entity, uint64_t n, double mean_s)
{
	double u = ((double)(tl_rng_at(7, TL_STREAM_TEST, entity, n) >> 11) + 0.5) * 0x1.0p-53;

	return (int64_t)(-log(u) * mean_s * 1e9);
}

/* Arrivals at rate load × servers / SERVICE_S; returns Σ service times. */
static tl_i128 write_trace(uint64_t entity, uint32_t servers, double load, bool fixed)
{
	FILE *file = fopen(trace, "w");
	int64_t submit_ns = 0;
	tl_i128 sum = 0;

	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus\n", file);
	for (uint64_t n = 0; n < JOBS; n++) {
		int64_t service_ns = fixed ? (int64_t)(SERVICE_S * 1e9)
		                           : exponential_ns(2 * entity, n, SERVICE_S) + 1;

		fprintf(file, "%" PRIu64 ",%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64 ",1\n",
		        n, submit_ns / TL_NS_PER_S, submit_ns % TL_NS_PER_S,
		        service_ns / TL_NS_PER_S, service_ns % TL_NS_PER_S);
		sum += service_ns;
		submit_ns += exponential_ns(2 * entity + 1, n, SERVICE_S / (load * servers));
	}
	fclose(file);
	return sum;
}

static struct tl_row_job *run(uint32_t servers)
{
	char text[2048];
	struct tl_scenario *scenario = NULL;
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;
	struct tl_results_reader *reader = NULL;
	const struct tl_trial_options options = {.results_path = output};
	void *rows = NULL;
	size_t count = 0;

	snprintf(text, sizeof text,
	         "cluster: %ux1\nworkload: [{trace: %s, format: canonical}]\nphysics: ideal\n"
	         "policy: {scheduler: pipeline, order: fifo, place: first-fit, backfill: none}\n"
	         "output: {tables: [jobs]}\n",
	         servers, trace);
	cr_assert_eq(tl_scenario_parse("queue", text, NULL, 0, &scenario, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(tl_trial_run(scenario, &options, pulse, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_open(output, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, &tl_schema_jobs, &rows, &count, &error), TL_OK);
	cr_assert_eq(count, JOBS);
	tl_results_reader_close(reader);
	tl_scenario_destroy(scenario);
	free(pulse);
	return rows;
}

/* The mean of n values within T_999 standard errors, by batch means, of what is wanted. */
static void expect_mean(const char *what, const double *values, size_t n, double wanted)
{
	double means[BATCHES] = {0}, mean = 0.0, squares = 0.0;
	size_t size = n / BATCHES;

	for (size_t b = 0; b < BATCHES; b++) {
		for (size_t i = 0; i < size; i++)
			means[b] += values[b * size + i] / (double)size;
		mean += means[b] / BATCHES;
	}
	for (size_t b = 0; b < BATCHES; b++)
		squares += (means[b] - mean) * (means[b] - mean);
	double half = T_999 * sqrt(squares / (BATCHES - 1) / BATCHES);

	cr_log_info("%s: %.4f ± %.4f, wanted %.4f\n", what, mean, half, wanted);
	cr_assert(fabs(mean - wanted) <= half, "%s: %.4f ± %.4f, wanted %.4f", what, mean, half,
	          wanted);
	cr_assert_lt(half, 0.25 * wanted, "%s: the interval says nothing: ± %.4f of %.4f", what,
	             half, wanted);
}

/* Erlang's C: the probability that an arrival waits, a = load × servers. */
static double erlang_c(uint32_t servers, double load)
{
	double a = load * servers, blocked = 1.0; /* Erlang's B by its recursion */

	for (uint32_t k = 1; k <= servers; k++)
		blocked = a * blocked / (k + a * blocked);
	return blocked / (1.0 - load * (1.0 - blocked));
}

static void compare(uint64_t entity, uint32_t servers, double load, bool fixed)
{
	static double waits[JOBS], waited[JOBS];
	tl_i128 service = write_trace(entity, servers, load, fixed), ran = 0;
	struct tl_row_job *jobs = run(servers);
	double busy = erlang_c(servers, load);
	double wait_s = busy * SERVICE_S / (servers * (1.0 - load));

	for (size_t i = 0; i < JOBS; i++) {
		ran += jobs[i].run_ns;
		cr_assert(i == 0 || jobs[i].first_start_ns >= jobs[i - 1].first_start_ns,
		          "first come, first served");
		if (i < WARM_UP)
			continue;
		waits[i - WARM_UP] = (double)jobs[i].wait_ns / 1e9;
		waited[i - WARM_UP] = jobs[i].wait_ns > 0;
	}
	free(jobs);
	cr_assert(ran == service, "ideal physics: what ran is what was asked, to the nanosecond");
	expect_mean("mean wait, s", waits, JOBS - WARM_UP, fixed ? wait_s / 2.0 : wait_s);
	expect_mean("share that waits", waited, JOBS - WARM_UP, busy);
}

Test(queueing, erlang_by_hand)
{
	cr_assert(fabs(erlang_c(1, 0.7) - 0.7) < 1e-12);
	/* Two servers, a = 1: C = (1/2 × 2) / (1 + 1 + 1/2 × 2) = 1/3. */
	cr_assert(fabs(erlang_c(2, 0.5) - 1.0 / 3.0) < 1e-12);
}

Test(queueing, m_m_1)
{
	compare(1, 1, 0.7, false);
}

Test(queueing, m_m_4)
{
	compare(2, 4, 0.8, false);
}

Test(queueing, m_m_16)
{
	compare(3, 16, 0.9, false);
}

Test(queueing, m_d_1)
{
	compare(4, 1, 0.6, true);
}
