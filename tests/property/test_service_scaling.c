/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What it takes to have one more replica, or one less: the chain of a start to the nanosecond,
 * drains that lose nobody, nodes that fail under a service.
 */
#include "sim/base/units.h"
#include "tests/property/services_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 4096 };

/* Container, init; 13 GB of image at 0.2 GB/s; 2 GB of weights at 1.5 GB/s. */
static const int64_t CONTAINER_NS = 3 * TL_NS_PER_S, INIT_NS = 3 * TL_NS_PER_S;
static const int64_t PULL_NS = 65 * TL_NS_PER_S, WEIGHTS_NS = 1333333333;

TestSuite(service_scaling, .init = world_setup, .fini = world_teardown, .timeout = 60);

/* ---- starts ---- */

/* A replica that 95 requests a second load to 0.95, so the first look asks for another: at
 * 1 s, when the first window has closed. */
static const char *run_start(const char *cluster, const char *service, const char *more)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "seed: 1\nhorizon: 10min\ncluster: %s\nworkload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: 95}, batch: 1, routing: "
	         "shared-queue,\n"
	         "     replicas: {min: 1, max: 2, initial: 1}, service_time: {dist: deterministic, "
	         "mean: 10ms}%s}\n"
	         "policy: {scale: {use: threshold, check: 30s, down_after: 30s}}\n"
	         "metrics: {window: 1s}\noutput: {tables: all}\n%s",
	         cluster, service, more);
	return services_run("a", text);
}

/* The first window that closes with so many ready, counted from an instant. */
static int64_t ready_at(const struct service_rows *rows, int64_t from_ns, uint32_t ready)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->windows[i].t_ns >= from_ns && rows->windows[i].ready == ready)
			return rows->windows[i].t_ns;
	return -1;
}

static void check_start(const char *cluster, const char *service, const char *more,
                        int64_t start_ns, double cold_starts)
{
	const char *folder = run_start(cluster, service, more);
	struct service_rows rows = services_rows(folder, "s");
	tl_i128 booked = services_booked("services", "start");
	/* An end at the window's end is in it. */
	int64_t window_ns = (TL_NS_PER_S + start_ns - 1) / TL_NS_PER_S * TL_NS_PER_S;

	cr_assert(booked == (tl_i128)start_ns * 1000, "%s\na start took %.9f s, not %.9f",
	          world.text, (double)booked / 1e12, (double)start_ns / 1e9);
	cr_assert_eq(rows.windows[0].replicas, 1);
	cr_assert_eq(rows.windows[1].replicas, 2, "asked for at 1 s");
	cr_assert_eq(ready_at(&rows, 0, 2), window_ns,
	             "%s\nready in the window at %" PRId64 ", not %" PRId64, world.text,
	             ready_at(&rows, 0, 2), window_ns);
	cr_assert_eq(services_metric(folder, "s.cold_starts"), cold_starts);
	cr_assert_eq(services_metric(folder, "s.replica_starts"), 2);
	free(rows.windows);
	world_forget();
}

Test(service_scaling, a_cold_start_pulls_loads_and_begins)
{
	check_start("2x1", "", "", CONTAINER_NS + PULL_NS + WEIGHTS_NS + INIT_NS, 1);
	check_start("2x1",
	            ", start: {container: 1s, image: 1GB, pull: 0.1GB/s, weights: 3GB, init: "
	            "0s}",
	            "", 1 * TL_NS_PER_S + 10 * TL_NS_PER_S + 2 * TL_NS_PER_S, 1);
}

Test(service_scaling, a_node_that_has_the_image_pulls_nothing)
{
	check_start("1x2", "", "", CONTAINER_NS + WEIGHTS_NS + INIT_NS, 0);
}

Test(service_scaling, a_hot_node_takes_its_own_time)
{
	check_start("2x1", ", hot: {nodes: 2}", "", 3 * TL_NS_PER_S, 0);
	check_start("2x1", ", hot: {nodes: 2, start: 4500ms}", "", 4500 * TL_NS_PER_MS, 0);
}

Test(service_scaling, ideal_starts_cost_nothing)
{
	const char *folder = run_start("2x1", "", "physics: ideal\n");
	struct service_rows rows = services_rows(folder, "s");

	cr_assert_eq(services_booked("services", "start"), 0);
	cr_assert_eq(rows.windows[1].ready, 2);
	free(rows.windows);
	world_forget();
}

/* Up, down when the load is a fifth for 200 s, up again: the image is still there. */
Test(service_scaling, an_image_is_pulled_once_by_a_node)
{
	const char *folder = run_start("2x1", ", events: [{at: 200s, for: 200s, factor: 0.2}]", "");
	struct service_rows rows = services_rows(folder, "s");
	tl_i128 start_ns = 2 * (CONTAINER_NS + WEIGHTS_NS + INIT_NS) + PULL_NS;

	cr_assert_eq(services_metric(folder, "s.scale_ups"), 2);
	cr_assert_eq(services_metric(folder, "s.scale_downs"), 1);
	cr_assert_eq(services_metric(folder, "s.cold_starts"), 1);
	cr_assert(services_booked("services", "start") == start_ns * 1000);
	cr_assert_gt(ready_at(&rows, 200 * TL_NS_PER_S, 1), 230 * TL_NS_PER_S, "low for 30 s");
	cr_assert_gt(ready_at(&rows, 400 * TL_NS_PER_S, 2), 400 * TL_NS_PER_S);
	free(rows.windows);
	world_forget();
}

/* ---- nobody is lost ---- */

/* Twenty minutes of a tide that ebbs; nobody comes in the last two, so that all can leave. */
static struct service_rows run_ebb(const char *service, const char *more, double *scale_downs)
{
	char text[TEXT_ROOM];

	snprintf(
	    text, sizeof text,
	    "seed: 9\nhorizon: 22min\ncluster: 3x4\nworkload:\n"
	    "  - {service: s, peak_rps: 150, curve: {0h: 0.6, 6min: 1, 16min: 0.05}, replicas: "
	    "{min: 1, max: 10, initial: 8},\n"
	    "     events: [{at: 20min, for: 1h, factor: 0}], %s}\n"
	    "metrics: {window: 5s}\noutput: {tables: all}\n%s",
	    service, more);
	const char *folder = services_run("a", text);
	struct service_rows rows = services_rows(folder, "s");

	*scale_downs = services_metric(folder, "s.scale_downs");
	world_forget();
	return rows;
}

static void expect_all_served(const struct service_rows *rows)
{
	cr_expect_eq(rows->dropped, 0, "%s", world.text);
	cr_expect_eq(rows->served, rows->arrivals, "%s\n%" PRIu64 " of %" PRIu64, world.text,
	             rows->served, rows->arrivals);
	cr_expect_eq(rows->windows[rows->count - 1].queued, 0);
}

static const char *const services[] = {
    "batch: 1, routing: round-robin, service_time: {dist: exponential, mean: 40ms}",
    "batch: 4, routing: random, service_time: {alpha: 100ms, beta: 10ms}",
    "batch: {limit: 4, delay: 500ms}, routing: power-of-two, service_time: {alpha: 100ms, beta: 10ms}",
    "batch: 1, routing: shared-queue, service_time: {dist: gamma, mean: 30ms, cv: 2}",
    "batch: 8, service_time: {dist: llm, context: 100, generated: 20, step: 10ms}",
};
enum { SERVICES = sizeof services / sizeof services[0] };

Test(service_scaling, who_is_let_go_ends_what_it_has)
{
	for (size_t s = 0; s < SERVICES; s++) {
		double downs;
		struct service_rows rows =
		    run_ebb(services[s], "policy: {scale: {use: hpa, down_window: 15s}}\n", &downs);

		expect_all_served(&rows);
		cr_expect_gt(downs, 2, "%s", world.text);
		cr_expect_eq(rows.windows[rows.count - 1].ready, 1);
		free(rows.windows);
	}
}

Test(service_scaling, requests_of_a_failed_node_go_elsewhere)
{
	for (size_t s = 0; s < SERVICES; s++) {
		double downs;
		struct service_rows rows = run_ebb(
		    services[s],
		    "policy: {scale: {use: hpa, down_window: 15s}}\n"
		    "faults: [{at: 5min, do: node-down, nodes: 1, for: 3min}, {at: 8min, do: "
		    "node-down, nodes: 2, for: 1min}, {at: 12min, do: kill-jobs, jobs: 3}]\n",
		    &downs);

		expect_all_served(&rows);
		free(rows.windows);
	}
}

/* Two nodes, a replica each: while one is down the other serves alone; the repaired node has
 * its image still. */
Test(service_scaling, a_failed_node_s_replica_comes_back_with_it)
{
	const char *folder = services_run(
	    "a", "seed: 4\nhorizon: 15min\ncluster: 2x1\nworkload:\n"
		 "  - {service: s, arrivals: {process: poisson, rate: 50}, replicas: 2, batch: 1,\n"
		 "     service_time: {dist: deterministic, mean: 10ms}, events: [{at: 14min, for: "
		 "1h, factor: 0}]}\n"
		 "policy: {scale: static}\nfaults: [{at: 300s, do: node-down, nodes: 1, for: "
		 "200s}]\n"
		 "metrics: {window: 1s}\noutput: {tables: all}\n");
	struct service_rows rows = services_rows(folder, "s");
	tl_i128 resume_ns = CONTAINER_NS + WEIGHTS_NS + INIT_NS;

	expect_all_served(&rows);
	cr_assert_eq(ready_at(&rows, 0, 1), 300 * TL_NS_PER_S - TL_NS_PER_S,
	             "down as the window closes at 300 s");
	cr_assert_eq(ready_at(&rows, 301 * TL_NS_PER_S, 2), 507 * TL_NS_PER_S);
	cr_assert(services_booked("services", "resume") == resume_ns * 1000);
	cr_assert(services_booked("services", "rework") == 0);
	cr_assert_eq(services_metric(folder, "node_failures"), 1);
	free(rows.windows);
	world_forget();
}

/* Down with a node in the middle of its drain: what it had is served by the others. */
Test(service_scaling, a_failure_in_the_middle_of_a_drain)
{
	static const char *const how[] = {"node-down, nodes: 3, for: 1min", "kill-jobs, jobs: 12"};

	for (int64_t second = 0; second < 20; second++) {
		char text[TEXT_ROOM];

		snprintf(
		    text, sizeof text,
		    "seed: 4\nhorizon: 10min\ncluster: 3x4\nworkload:\n"
		    "  - {service: s, arrivals: {process: poisson, rate: %d}, replicas: {min: 1, "
		    "max: 8, initial: 8},\n"
		    "     batch: 1, routing: random, service_time: {dist: deterministic, mean: "
		    "%s},\n"
		    "     events: [{at: 1min, for: 1h, factor: 0}]}\n"
		    "policy: {scale: {use: threshold, down_after: 30s}}\n"
		    "faults: [{at: %" PRId64 "s, do: %s}]\nmetrics: {window: 5s}\n"
		    "output: {tables: all}\n",
		    second % 2 ? 48 : 5, second % 2 ? "150ms" : "1500ms", 91 + second,
		    how[second % 4 / 2]);
		struct service_rows rows = services_rows(services_run("a", text), "s");

		expect_all_served(&rows);
		free(rows.windows);
		world_forget();
	}
}

/* ---- wrong ones ---- */

Test(service_scaling, a_replica_that_can_never_fit_is_refused)
{
	static const char *const texts[] = {
	    "horizon: 1min\ncluster: 1x2\nworkload: [{service: s, peak_rps: 1, gpu_milli: 3000}]\n",
	    "cluster: 1x2\nworkload: [{service: s, peak_rps: 1}]\n",
	    "horizon: 1min\ncluster: 1x2\nworkload: [{service: s, peak_rps: 1, queue: nowhere}]\n",
	};
	static const char *const words[] = {"never fit", "horizon", "nowhere"};

	for (size_t i = 0; i < 3; i++)
		services_refused(texts[i], words[i]);
}
