/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a monitor shows is as old as the scenario says: whoever decides by it decides so much
 * later, and not a nanosecond else. The traffic is the same whatever is seen of it.
 */
#include "results/results.h"
#include "sim/base/units.h"
#include "tests/property/services_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_ROOM = 4096 };

TestSuite(observe, .init = world_setup, .fini = world_teardown, .timeout = 60);

/* When the policy first wanted another number of replicas; -1: never. */
static int64_t first_scaling(const char *folder)
{
	char path[WORLD_PATH_ROOM + 32];
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_row_decision *rows = NULL;
	void *read = NULL;
	size_t count = 0;
	int64_t at_ns = -1;

	snprintf(path, sizeof path, "%s/out.h5", folder);
	cr_assert_eq(tl_results_open(path, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, &tl_schema_decisions, &read, &count, &error), TL_OK,
	             "%s", error.message);
	tl_results_reader_close(reader);
	rows = read;
	for (size_t i = 0; i < count && at_ns < 0; i++)
		if (rows[i].kind == TL_DECISION_SCALE)
			at_ns = rows[i].t_ns;
	free(rows);
	return at_ns;
}

/* 95 requests a second on one replica that serves 100: too many from the first window on. */
static const char *run_loaded(const char *folder, const char *observe)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "seed: 3\nhorizon: 3min\ncluster: 1x2\nworkload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: 95}, batch: 1,\n"
	         "     replicas: {min: 1, max: 2, initial: 1}, service_time: {dist: deterministic, "
	         "mean: 10ms}}\n"
	         "policy: {scale: {use: threshold, check: 1s, down_after: 30s}}\n"
	         "metrics: {window: 1s}\noutput: {tables: all}\n%s",
	         observe);
	return services_run(folder, text);
}

static const struct {
	const char *observe;
	int64_t first_ns; /* the monitor shows its first window */
} cases[] = {
    {"", TL_NS_PER_S},
    {"observe: {interval: 1s, delay: 0s}\n", TL_NS_PER_S},
    {"observe: {delay: 1s}\n", 2 * TL_NS_PER_S},
    {"observe: {delay: 1ns}\n", TL_NS_PER_S + 1},
    {"observe: {delay: 2500ms}\n", 3500 * TL_NS_PER_MS},
    {"observe: {delay: 12s}\n", 13 * TL_NS_PER_S},
    {"observe: {interval: 5s}\n", 5 * TL_NS_PER_S},
    {"observe: {interval: 5s, delay: 7s}\n", 12 * TL_NS_PER_S},
    {"observe: {interval: 20s, delay: 1500ms}\n", 21500 * TL_NS_PER_MS},
};

Test(observe, a_policy_reacts_so_much_later_exactly)
{
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *folder = run_loaded("a", cases[i].observe);
		int64_t got_ns = first_scaling(folder);

		cr_expect_eq(got_ns, cases[i].first_ns,
		             "%s\nfirst scaling at %" PRId64 " ns, wanted %" PRId64, world.text,
		             got_ns, cases[i].first_ns);
		world_forget();
	}
}

Test(observe, no_monitor_moves_the_traffic)
{
	struct service_rows at_once = services_rows(run_loaded("a", ""), "s");

	world_forget();
	struct service_rows late = services_rows(run_loaded("b", "observe: {delay: 20s}\n"), "s");

	cr_assert_eq(at_once.count, late.count);
	for (size_t i = 0; i < late.count; i++)
		cr_assert_eq(late.windows[i].arrivals, at_once.windows[i].arrivals);
	cr_assert_eq(at_once.windows[10].ready, 2);
	cr_assert_eq(late.windows[10].ready, 1, "it does matter");
	free(at_once.windows);
	free(late.windows);
	world_forget();
}

Test(observe, the_default_is_a_look_at_each_window_at_once)
{
	/* All but the scenario's own text in the file. */
	struct service_rows a = services_rows(run_loaded("a", ""), "s");

	world_forget();
	struct service_rows b =
	    services_rows(run_loaded("b", "observe: {interval: 1s, delay: 0s}\n"), "s");

	cr_assert_eq(a.count, b.count);
	cr_assert_arr_eq(a.windows, b.windows, a.count * sizeof a.windows[0]);
	free(a.windows);
	free(b.windows);
	world_forget();
}

/* ---- nodes ---- */

/* A job of an hour on the first of two nodes, which fails at 1,000 s and is back at 2,000 s. */
static struct tl_row_job run_failing(const char *more)
{
	char path[WORLD_PATH_ROOM + 32], text[TEXT_ROOM];

	snprintf(path, sizeof path, "%s/training.csv", world_folder("a"));
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus\nt,0,3600,1\n", file);
	fclose(file);
	snprintf(text, sizeof text,
	         "horizon: 3h\ncluster: 2x1\nworkload: [{trace: training.csv, format: canonical}]\n"
	         "policy: {place: first-fit}\noutput: {tables: all, timeline: 10s}\n"
	         "faults: [{at: 1000s, do: node-down, node: node-0000, for: 1000s}]\n%s",
	         more);
	services_run("a", text);
	return world.jobs[0];
}

/* When the timeline first shows the node down, and up again after. */
static int64_t down_at(bool down, int64_t from_ns)
{
	for (size_t i = 0; i < world.sample_count; i++)
		if (world.samples[i].t_ns >= from_ns && (world.samples[i].down_mgpu > 0) == down)
			return world.samples[i].t_ns;
	return -1;
}

/* It runs from 45 s on and commits each 305 s: at 960 s for the last time before it dies. */
Test(observe, a_node_s_failure_is_seen_so_much_later)
{
	static const int64_t delays_s[] = {0, 60, 990, 3000};
	int64_t end_ns = 0;

	for (size_t i = 0; i < sizeof delays_s / sizeof delays_s[0]; i++) {
		const int64_t delay_ns = delays_s[i] * TL_NS_PER_S;
		char more[64];

		snprintf(more, sizeof more, "observe: {delay: %" PRId64 "s}\n", delays_s[i]);
		struct tl_row_job job = run_failing(more);

		end_ns = i == 0 ? job.end_ns : end_ns;
		cr_assert_eq(job.lost_work_ns, 40 * TL_NS_PER_S, "%s\nlost %" PRId64, world.text,
		             job.lost_work_ns);
		cr_assert_eq(job.end_ns, end_ns + delay_ns, "it is restarted so much later");
		cr_assert_eq(job.restarts, 1);
		cr_assert_eq(down_at(true, 0), 1000 * TL_NS_PER_S + delay_ns);
		cr_assert_eq(down_at(false, 1000 * TL_NS_PER_S + delay_ns),
		             2000 * TL_NS_PER_S + delay_ns);
		cr_assert_eq(world.fault_count, 1);
		cr_assert_eq(world.faults[0].t_ns, 1000 * TL_NS_PER_S);
		cr_assert_eq(world.faults[0].jobs_hit, 1);
		cr_assert_float_eq(world.faults[0].lost_work_gpu_s, 40, 1e-9);
		/* Another node: a cold start of 45 s. */
		cr_assert_eq(world.faults[0].recovered_ns, 1045 * TL_NS_PER_S + delay_ns);
		cr_assert(services_booked("default", "rework") ==
		          (tl_i128)1000 * (40 * TL_NS_PER_S + delay_ns));
		world_forget();
	}
}

/* A replica on a node that has failed serves nobody, seen or not; requests go elsewhere. */
Test(observe, a_dead_replica_serves_nobody_before_it_is_seen)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "seed: 3\nhorizon: 10min\ncluster: 2x1\nworkload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: 50}, batch: 1, replicas: 2,\n"
	         "     service_time: {dist: deterministic, mean: 10ms}}\n"
	         "faults: [{at: 101s, do: node-down, node: node-0001, for: 60s}]\n"
	         "observe: {delay: 100s}\noutput: {tables: all}\n");
	struct service_rows rows = services_rows(services_run("a", text), "s");

	cr_assert_eq(rows.windows[19].ready, 2);
	/* Repaired at 161 s, seen to have failed at 201 s, and to be back at 261 s. */
	for (size_t w = 20; w < 52; w++)
		cr_assert_eq(rows.windows[w].ready, 1, "window %zu", w);
	cr_assert_eq(rows.windows[60].ready, 2);
	cr_assert_eq(rows.dropped, 0);
	free(rows.windows);
	world_forget();
}
