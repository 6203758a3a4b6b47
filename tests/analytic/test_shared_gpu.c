/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two tenants on one oversubscribed GPU, worked out by hand: when each ends, what the books
 * say of the GPU's time, and how much slower a service answers.
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

enum { TEXT_ROOM = 4096, PATH_ROOM = 512 };

static char output[PATH_ROOM], trace[PATH_ROOM];

static void setup(void)
{
	const char *folder = getenv("TMPDIR");

	folder = folder ? folder : "/tmp";
	snprintf(output, sizeof output, "%s/shared-%ld.h5", folder, (long)getpid());
	snprintf(trace, sizeof trace, "%s/shared-%ld.csv", folder, (long)getpid());
}

static void teardown(void)
{
	unlink(output);
	unlink(trace);
}

TestSuite(shared_gpu, .init = setup, .fini = teardown, .timeout = 60);

static void write_trace(const char *rows)
{
	FILE *file = fopen(trace, "w");

	cr_assert_not_null(file);
	fprintf(file, "id,submit_s,duration_s,gpus,utilisation,kind\n%s", rows);
	fclose(file);
}

/* Starts cost nothing and nothing is saved, so that sharing alone takes time. Speeds are whole
 * parts per billion, so times of a thousand seconds are right to some microseconds. */
static void run(const char *cluster, const char *work, const char *keys)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_run_options options = {.output_path = output, .force = true};
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "cluster: %s\nworkload: [%s]\nstart: {cold_small: 0s}\n"
	         "checkpoint: {interval: none}\npolicy: {backfill: skip}\n%s\n",
	         cluster, work, keys);
	cr_assert_eq(tl_scenario_parse("shared", text, NULL, 0, &scenario, &error), TL_OK, "%s\n%s",
	             error.message, text);
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_OK, "%s", error.message);
	tl_scenario_destroy(scenario);
}

static void run_jobs(const char *cluster, const char *keys)
{
	char work[2 * PATH_ROOM];

	snprintf(work, sizeof work, "{trace: %s, format: canonical}", trace);
	run(cluster, work, keys);
}

static void *read_rows(const struct tl_table_schema *schema, size_t *count)
{
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;
	void *rows = NULL;

	cr_assert_eq(tl_results_open(output, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, schema, &rows, count, &error), TL_OK, "%s",
	             error.message);
	tl_results_reader_close(reader);
	return rows;
}

static double metric(const char *name)
{
	size_t count = 0;
	struct tl_row_summary *rows = read_rows(&tl_schema_summary, &count);
	double value = (double)NAN;

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].metric, name) == 0)
			value = rows[i].value;
	free(rows);
	cr_assert(!isnan(value), "no metric `%s`", name);
	return value;
}

/* When job number i ended, in seconds. */
static double end_s(size_t i)
{
	size_t count = 0;
	struct tl_row_job *rows = read_rows(&tl_schema_jobs, &count);

	cr_assert_lt(i, count);
	double end = (double)rows[i].end_ns / 1e9;

	free(rows);
	return end;
}

/* A of 1,000 s and B of 600 s; B comes at 100 s and may share A's GPU. While both run, A has
 * speed a and B speed b: B ends first. The GPU's time is split in halves. */
static void check_pair(const char *keys, double a, double b)
{
	double shared = 600 / b, a_end;

	if (100 + a * shared > 1000) { /* A ends first: what is left of B runs alone */
		shared = 900 / a;
		a_end = 100 + shared;
		cr_assert_float_eq(end_s(1), a_end + 600 - shared * b, 1e-5, "%s", keys);
	} else {
		a_end = 100 + shared + 900 - a * shared;
		cr_assert_float_eq(end_s(1), 100 + shared, 1e-5, "%s", keys);
	}
	cr_assert_float_eq(end_s(0), a_end, 1e-5, "%s: got %.9f", keys, end_s(0));
	double all = end_s(0) > end_s(1) ? end_s(0) : end_s(1);

	cr_assert_float_eq(metric("gpu_h_productive") * 3600, all - shared + shared * (a + b) / 2,
	                   1e-5, "%s", keys);
	cr_assert_float_eq(metric("gpu_h_interference") * 3600,
	                   shared * (1 - a) / 2 + shared * (1 - b) / 2, 1e-5, "%s", keys);
	cr_assert_float_eq(metric("useful_gpu_h") * 3600, 1600, 1e-5);
	cr_assert_float_eq(metric("nominal_ratio") * all, all + shared, 1e-5);
	cr_assert_eq(metric("second_starts"), 1);
}

Test(shared_gpu, two_jobs_by_each_table)
{
	static const struct {
		double u; /* of each */
		const char *sharing;
		double speed;
	} rows[] = {{0.5, "{table: lucid}", 0.85},
	            {0.3, "{table: lucid}", 0.99},
	            {0.9, "{table: lucid}", 0.8 / 1.8},
	            {0.5, "{table: gavel}", 0.68},
	            {0.8, "{table: gavel}", 0.68 / 1.6},
	            {0.5, "{table: time-slice}", 0.45},
	            {0.5, "{table: custom, speeds: {0.8: 1, 1: 0.7}}", 0.7},
	            {0.7, "{table: custom, speeds: {0.8: 1, 1: 0.7}}", 0.5},
	            {0.9, "{interference: none}", 1}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char text[256];

		snprintf(text, sizeof text, "A,0,1000,1,%g,\nB,100,600,1,%g,\n", rows[i].u,
		         rows[i].u);
		write_trace(text);
		snprintf(text, sizeof text, "oversubscription: 2\nsharing: %s", rows[i].sharing);
		run_jobs("1x1", text);
		check_pair(text, rows[i].speed, rows[i].speed);
	}
}

Test(shared_gpu, utilisation_can_be_drawn_for_all)
{
	write_trace("A,0,1000,1,0.1,\nB,100,600,1,0.1,\n");
	run_jobs("1x1", "oversubscription: 2\nsharing: {utilisation: drawn, utilisation_mean: 1}");
	check_pair("drawn", 0.4, 0.4);
}

Test(shared_gpu, a_guaranteed_tenant_keeps_its_speed)
{
	static const char *const keys = "oversubscription: 2\nsharing: {guaranteed: inference}";
	/* 0.5 + 0.4 at 0.85: 0.765 together, less 0.5 or 0.4 for the guaranteed one. */
	write_trace("A,0,1000,1,0.5,inference\nB,100,600,1,0.4,training\n");
	run_jobs("1x1", keys);
	check_pair(keys, 1, 0.265 / 0.4);
	write_trace("A,0,1000,1,0.5,training\nB,100,600,1,0.4,inference\n");
	run_jobs("1x1", keys);
	check_pair(keys, 0.365 / 0.5, 1);
	/* 0.9 + 0.9 leaves nothing: a hundredth. */
	write_trace("A,0,1000,1,0.9,inference\nB,100,600,1,0.9,training\n");
	run_jobs("1x1", keys);
	check_pair(keys, 1, 0.01);
	/* Two guaranteed ones do not share. */
	write_trace("A,0,1000,1,0.1,inference\nB,100,600,1,0.1,inference\n");
	run_jobs("1x1", keys);
	cr_assert_float_eq(end_s(1), 1600, 1e-5);
	cr_assert_eq(metric("second_starts"), 0);
}

Test(shared_gpu, the_ratio_bounds_who_shares)
{
	/* 10 GPUs at 1.15: one second tenant, and a tenth of a GPU over. */
	write_trace("a,0,500,1,0.2,\nb,0,500,1,0.3,\nc,0,500,1,0.1,\nd,0,500,1,0.4,\n"
	            "e,0,500,1,0.5,\nf,0,500,1,0.3,\ng,0,500,1,0.3,\nh,0,500,1,0.3,\n"
	            "i,0,500,1,0.3,\nj,0,500,1,0.3,\nk,10,100,1,0.3,\nl,10,100,1,0.3,\n");
	run_jobs("1x10", "oversubscription: 1.15");
	/* Beside c, the least busy: 0.4 together, so 0.99. The next one waits for k's place. */
	cr_assert_float_eq(end_s(10), 10 + 100 / 0.99, 1e-5);
	cr_assert_float_eq(end_s(11), 10 + 200 / 0.99, 1e-5);
	cr_assert_eq(metric("second_starts"), 2);
	run_jobs("1x10", "oversubscription: 1");
	cr_assert_float_eq(end_s(10), 600, 1e-5);
	cr_assert_eq(metric("second_starts"), 0);
}

Test(shared_gpu, like_with_like)
{
	/* A gang of two goes beside a gang of two, not beside two single cards, and slows as one. */
	write_trace("a,0,1000,2,0.5,\nb,0,1000,1,0.1,\nc,0,1000,1,0.1,\n"
	            "d,10,100,2,0.5,\ne,20,100,1,0.1,\n");
	run_jobs("1x4", "oversubscription: 2");
	cr_assert_float_eq(end_s(3), 10 + 100 / 0.85, 1e-5);
	cr_assert_float_eq(end_s(4), 20 + 100 / 0.99, 1e-5);
	cr_assert_float_eq(end_s(0), 1000 + 100 / 0.85 - 100, 1e-5);
	cr_assert_float_eq(end_s(1), 1000 + 100 / 0.99 - 100, 1e-5);
	cr_assert_float_eq(end_s(2), 1000, 1e-5);
}

Test(shared_gpu, memory_is_never_oversubscribed)
{
	FILE *file = fopen(trace, "w");

	cr_assert_not_null(file);
	fputs(
	    "id,submit_s,duration_s,gpus,gpu_memory_bytes,utilisation\n"
	    "a,0,1000,1,50000000000,0.1\nb,10,100,1,40000000000,0.1\nc,20,100,1,30000000000,0.1\n",
	    file);
	fclose(file);
	run_jobs("1x1", "oversubscription: 2");
	cr_assert_float_eq(end_s(2), 20 + 100 / 0.99, 1e-5);
	cr_assert_geq(end_s(1), 1000);
}

/* Five requests a second at 10 ms each, and work that comes beside the replica. */
static void serve_beside(const char *holds, const char *rows, const char *guaranteed)
{
	char work[2 * PATH_ROOM], keys[256];

	write_trace(rows);
	snprintf(work, sizeof work,
	         "{service: s, arrivals: {process: poisson, rate: 5/s}, replicas: 1, batch: 1, %s, "
	         "requests: exact, service_time: {dist: deterministic, mean: 10ms}}, "
	         "{trace: %s, format: canonical}",
	         holds, trace);
	snprintf(keys, sizeof keys,
	         "horizon: 8000s\noversubscription: 2\n"
	         "sharing: {table: custom, speeds: {2: 0.5}, guaranteed: %s}",
	         guaranteed);
	run("1x1", work, keys);
}

static void serve(const char *guaranteed)
{
	/* Times count from the first row. */
	serve_beside("gpu_milli: 1000", "z,0,1,0,,\nA,1000,2000,1,0.9,training\n", guaranteed);
}

/* The median latency of windows wholly in a stretch: most requests find the replica free. */
static double median_ms(double from_s, double to_s)
{
	struct tl_table_schema schema = tl_schema_windows;
	struct tl_row_window *rows;
	size_t count = 0, taken = 0;
	double sum = 0;

	schema.path = "/services/s/windows";
	rows = read_rows(&schema, &count);
	for (size_t i = 0; i < count; i++) {
		double t = (double)rows[i].t_ns / 1e9;

		if (t < from_s || t + 5 > to_s || rows[i].served == 0)
			continue;
		sum += (double)rows[i].p50_ns / 1e6;
		taken++;
	}
	free(rows);
	cr_assert_gt(taken, 20);
	return sum / (double)taken;
}

Test(shared_gpu, a_replica_with_a_co_tenant_serves_slower)
{
	serve("none");
	cr_assert_float_eq(median_ms(0, 1000), 10, 0.3);
	cr_assert_float_eq(median_ms(1000, 5000), 20, 1);
	cr_assert_float_eq(median_ms(5000, 8000), 10, 0.3);
	cr_assert_float_eq(end_s(1), 5000, 1e-5);
	serve("services");
	cr_assert_float_eq(median_ms(1000, 1900), 10, 0.3);
	/* The replica uses 0.05; of (0.9 + u) / 2 together that leaves about 0.44 of 0.9. */
	double speed = 2000 / (end_s(1) - 1000);

	cr_assert_float_eq(speed, (0.95 * 0.5 - 0.05) / 0.9, 0.01, "%g", speed);
}

/* Batches of up to eight at 12 ms + 2 ms a request: 286 requests/s a replica. At half of that it
 * has a request in service almost always, but uses half of its card, and that is what a
 * co-tenant is told to leave it. */
Test(shared_gpu, a_replica_uses_its_card_by_what_it_serves)
{
	char work[2 * PATH_ROOM];

	write_trace("z,0,1,0,,\nA,1000,2000,1,0.5,training\n");
	snprintf(work, sizeof work,
	         "{service: s, arrivals: {process: poisson, rate: 143/s}, replicas: 1, batch: 8, "
	         "gpu_milli: 1000, requests: exact, service_time: {alpha: 12ms, beta: 2ms}}, "
	         "{trace: %s, format: canonical}",
	         trace);
	run("1x1", work,
	    "horizon: 8000s\noversubscription: 2\n"
	    "sharing: {table: custom, speeds: {1: 0.9}, guaranteed: services}");
	cr_assert_gt(metric("s.occupied_ratio"), 0.9);
	/* 3.5 ms a request in batches of eight. */
	cr_assert_float_eq(metric("useful_gpu_h") * 3600, 2000 + metric("s.served") * 0.0035, 1);
	/* 1.0 together at 0.9, less the replica's 0.5: 0.4 of the job's 0.5. */
	double speed = 2000 / (end_s(1) - 1000);

	cr_assert_float_eq(speed, 0.8, 0.02, "%g", speed);
}

/* A replica that gets four times what it can serve uses all of its card, until the surge is
 * over: nothing is left for another before that. */
Test(shared_gpu, nobody_comes_beside_a_guaranteed_replica_that_uses_all)
{
	char work[2 * PATH_ROOM];

	write_trace("z,0,1,0,,\nA,1000,2000,1,0.5,training\n");
	snprintf(work, sizeof work,
	         "{service: s, arrivals: {process: poisson, rate: 20/s}, replicas: 1, batch: 1, "
	         "gpu_milli: 1000, requests: exact, queue_limit: 4, "
	         "service_time: {dist: deterministic, mean: 10ms}}, "
	         "{trace: %s, format: canonical}",
	         trace);
	run("1x1", work,
	    "horizon: 8000s\noversubscription: 2\nsharing: {guaranteed: services}\n"
	    "faults: [{at: 500s, do: traffic, service: s, factor: 20, for: 1500s}]");
	size_t count = 0;
	struct tl_row_job *rows = read_rows(&tl_schema_jobs, &count);

	cr_assert_eq(rows[1].first_start_ns, 2005 * TL_NS_PER_S, "%g",
	             (double)rows[1].first_start_ns / 1e9);
	free(rows);
}

/* Half a card and what is left of it: by the table each of two goes at half its speed, but a
 * slice has no neighbours, nor is it one. */
Test(shared_gpu, a_slice_neither_slows_nor_is_slowed)
{
	static const char half[] = "z,0,1,0,,\nA,1000,2000,0.5,0.9,training\n";
	static const char quarters[] = "z,0,1,0,,\nA,1000,2000,0.25,0.9,training\n"
				       "B,1000,2000,0.25,0.9,training\n";

	serve_beside("gpu_milli: 428, memory: 40GiB", half, "services");
	cr_assert_float_eq(median_ms(1000, 5000), 20, 1);
	cr_assert_float_eq(end_s(1), 5000, 1e-5);
	serve_beside("slice: 3g.40gb", half, "services");
	cr_assert_float_eq(median_ms(1000, 3000), 10, 0.3);
	cr_assert_float_eq(end_s(1), 3000, 1e-5);
	/* Two jobs notice each other, and nobody else. */
	serve_beside("slice: 3g.40gb", quarters, "none");
	cr_assert_float_eq(median_ms(1000, 5000), 10, 0.3);
	cr_assert_float_eq(end_s(1), 5000, 1e-5);
	cr_assert_float_eq(end_s(2), 5000, 1e-5);
}

/* The least of a card is one slice's: the ratio of 2 lets nobody take the rest and more. */
Test(shared_gpu, a_slice_is_never_one_of_two_that_ask_for_more_than_there_is)
{
	serve_beside("slice: 1g.10gb", "z,0,1,0,,\nA,1000,2000,1,0.9,training\n", "none");
	cr_assert_lt(end_s(1), 0);
	cr_assert_float_eq(metric("second_starts"), 0, 0);
	serve_beside("gpu_milli: 142, memory: 10GiB", "z,0,1,0,,\nA,1000,2000,1,0.9,training\n",
	             "none");
	cr_assert_float_eq(end_s(1), 5000, 1e-5);
}
