/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /faults says of an incident is what the windows and jobs say of it; and the incident
 * this tool is for: traffic doubles on a pool that training fills, given back step by step or
 * in stages, on the same traffic bit for bit.
 */
#include "sim/base/units.h"
#include "tests/property/services_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_ROOM = 4096, WORLDS = 24 };

TestSuite(incidents, .init = world_setup, .fini = world_teardown, .timeout = 60);

/* Training of a GPU each, ten hours long, on what a service leaves. */
static void write_training(const char *folder, unsigned jobs)
{
	char path[WORLD_PATH_ROOM + 32];

	snprintf(path, sizeof path, "%s/training.csv", folder);
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus\n", file);
	for (unsigned i = 0; i < jobs; i++)
		fprintf(file, "t%u,%u,36000,1\n", i, i);
	fclose(file);
}

/* Sixteen nodes of a GPU, hot: four replicas at 83 % of their capacity, twelve of training. */
static const char *run_pool(const char *name, const char *service, const char *more)
{
	char text[TEXT_ROOM];

	write_training(world_folder(name), 12);
	snprintf(
	    text, sizeof text,
	    "seed: 11\nhorizon: 40min\ncluster: 16x1\nworkload:\n"
	    "  - {service: s, arrivals: {process: poisson, rate: 330}, batch: 1, queue_limit: "
	    "100,\n"
	    "     replicas: {min: 4, max: 12, initial: 4}, slo: 500ms, queue: high, hot: {nodes: 16},\n"
	    "     service_time: {dist: exponential, mean: 10ms}%s}\n"
	    "  - {trace: training.csv, format: canonical, queue: low}\n"
	    "output: {tables: all}\n%s",
	    service, more);
	return services_run(name, text);
}

static const struct tl_row_fault *the_fault(const char *kind)
{
	const struct tl_row_fault *found = NULL;

	for (size_t i = 0; i < world.fault_count; i++) {
		if (strcmp(world.faults[i].kind, kind) != 0)
			continue;
		cr_assert_null(found, "%s\ntwo of %s", world.text, kind);
		found = &world.faults[i];
	}
	cr_assert_not_null(found, "%s\nno %s", world.text, kind);
	return found;
}

/* Of the windows that ended after it struck and no later than it was got over. */
static void check_windows(const struct tl_row_fault *fault, const struct service_rows *rows,
                          int64_t window_ns, int64_t over_ns)
{
	int64_t breached_ns = 0, last_ns = fault->t_ns;
	uint64_t dropped = 0, late = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct tl_row_window *window = &rows->windows[i];
		int64_t end_ns = window->t_ns + window_ns;

		if (end_ns <= fault->t_ns || end_ns > over_ns)
			continue;
		dropped += window->dropped;
		late += window->served - window->attained;
		if (window->overload == 0)
			continue;
		breached_ns += window_ns;
		last_ns = end_ns;
	}
	cr_expect_eq(fault->overload_ns, breached_ns, "%s", world.text);
	cr_expect_eq(fault->dropped, dropped, "%s", world.text);
	cr_expect_eq(fault->late, late, "%s", world.text);
	cr_expect_eq(fault->recovered_ns, last_ns, "%s\nrecovered at %" PRId64 ", wanted %" PRId64,
	             world.text, fault->recovered_ns, last_ns);
}

/* The end of the first window without breach that ends no earlier than that. */
static int64_t over_at(const struct service_rows *rows, int64_t from_ns, int64_t window_ns)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->windows[i].t_ns + window_ns >= from_ns && rows->windows[i].overload == 0)
			return rows->windows[i].t_ns + window_ns;
	return TL_NEVER;
}

static const char surge[] = "faults: [{at: 602s, do: traffic, service: s, factor: 2.5, for: 10min, "
			    "ramp: 10s}]\n";

struct outcome {
	struct service_rows rows;
	struct tl_row_fault fault;
	double overload_s, recovery_s, preemptions;
};

static struct outcome run_incident(const char *name, const char *preempt)
{
	char more[512];
	struct outcome outcome;

	snprintf(more, sizeof more,
	         "policy: {order: {use: priority-queues, mode: strict}, preempt: %s,\n"
	         "  scale: {use: threshold, check: 5s}}\n%s",
	         preempt, surge);
	const char *folder = run_pool(name, "", more);

	outcome.rows = services_rows(folder, "s");
	outcome.fault = *the_fault("traffic");
	outcome.overload_s = services_metric(folder, "s.overload_s");
	outcome.recovery_s = services_metric(folder, "recovery_max_s");
	outcome.preemptions = services_metric(folder, "preemptions");
	cr_expect_eq(services_metric(folder, "faults"), 1);
	cr_expect_eq(services_metric(folder, "faults_unrecovered"), 0);
	world_forget();
	return outcome;
}

Test(incidents, staged_ends_sooner_than_progressive_on_the_same_traffic)
{
	struct outcome step = run_incident("a", "progressive");
	struct outcome staged = run_incident("b", "staged");

	cr_assert_eq(step.rows.count, staged.rows.count);
	for (size_t i = 0; i < step.rows.count; i++)
		cr_assert_eq(step.rows.windows[i].arrivals, staged.rows.windows[i].arrivals);
	cr_assert_gt(step.fault.overload_ns, 30 * TL_NS_PER_S);
	cr_assert_lt(staged.fault.overload_ns, step.fault.overload_ns);
	cr_assert_lt(staged.recovery_s, step.recovery_s);
	cr_assert_gt(step.preemptions, 0);
	cr_assert_gt(staged.preemptions, 0);
	free(step.rows.windows);
	free(staged.rows.windows);
}

/* Who is in the way of the service's second replica, a whole node: a job of a GPU, and the last
 * workers of three gangs of five GPUs, each of which fills a node of its own besides. */
static const char *run_gangs(const char *preempt)
{
	char path[WORLD_PATH_ROOM + 32], more[TEXT_ROOM];

	snprintf(path, sizeof path, "%s/training.csv", world_folder("a"));
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus\nt0,0,36000,1\nt1,1,36000,5\nt2,2,36000,5\n"
	      "t3,3,36000,5\n",
	      file);
	fclose(file);
	snprintf(more, sizeof more,
	         "seed: 11\nhorizon: 40min\n"
	         "cluster: {groups: [{count: 2, gpus: 4, pool: p}, {count: 3, gpus: 4, pool: q}]}\n"
	         "workload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: 50}, batch: 1, pool: p,\n"
	         "     queue_limit: 100, replicas: {min: 1, max: 2, initial: 1}, slo: 500ms,\n"
	         "     queue: high, service_time: {dist: exponential, mean: 10ms},\n"
	         "     gpu_milli: 4000, hot: {nodes: 5, start: 3s}}\n"
	         "  - {trace: training.csv, format: canonical, queue: low, pool: [p, q]}\n"
	         "output: {tables: all}\nsuspend: {grace: 10s}\n"
	         "policy: {order: {use: priority-queues, mode: strict}, place: best-fit,\n"
	         "  preempt: %s, scale: {use: threshold, check: 5s}}\n"
	         "faults: [{at: 602s, do: traffic, service: s, factor: 3, for: 10min}]\n",
	         preempt);
	return services_run("a", more);
}

/* Progressive stops the victims of one claim a node each step; staged, those that are left once
 * the breach has lasted, all together. */
Test(incidents, staged_hurries_victims_that_are_being_stopped_step_by_step)
{
	double overload_s[2];

	for (int staged = 0; staged < 2; staged++) {
		const char *folder = run_gangs(staged ? "staged" : "progressive");

		overload_s[staged] = (double)the_fault("traffic")->overload_ns / 1e9;
		cr_assert_eq(services_metric(folder, "preemptions"), 4, "%s", world.text);
		world_forget();
	}
	/* A window until it is seen, 30 s of breach, a grace, a start, two windows to be over it. */
	cr_assert_leq(overload_s[1], 5 + 30 + 10 + 3 + 10, "staged took %g s", overload_s[1]);
	/* Four nodes are three steps. */
	cr_assert_geq(overload_s[0], 90, "progressive took %g s", overload_s[0]);
}

Test(incidents, a_surge_is_over_with_its_last_breached_window)
{
	static const char *const seats[] = {"none", "progressive", "staged", "batch"};

	for (size_t i = 0; i < sizeof seats / sizeof seats[0]; i++) {
		struct outcome got = run_incident("a", seats[i]);
		/* At 602 s, with ramps: gone at 602 + 600 + 10 s; then to the first clean window. */
		int64_t over_ns = over_at(&got.rows, 1212 * TL_NS_PER_S, 5 * TL_NS_PER_S);

		cr_assert_str_eq(got.fault.service, "s");
		cr_assert_eq(got.fault.node, TL_ROW_NO_NODE);
		cr_assert_eq(got.fault.t_ns, 602 * TL_NS_PER_S);
		cr_assert_eq(got.fault.repaired_ns, 1212 * TL_NS_PER_S);
		check_windows(&got.fault, &got.rows, 5 * TL_NS_PER_S, over_ns);
		cr_expect_leq((double)got.fault.preemptions, got.preemptions);
		cr_expect_float_eq(got.recovery_s,
		                   (double)(got.fault.recovered_ns - got.fault.t_ns) / 1e9, 1e-9);
		free(got.rows.windows);
	}
}

Test(incidents, a_surge_that_nobody_feels_is_over_at_once)
{
	run_pool("a", "",
	         "faults: [{at: 602s, do: traffic, service: s, factor: 1.01, for: 1min}]\n");
	const struct tl_row_fault *fault = the_fault("traffic");

	cr_assert_eq(fault->recovered_ns, fault->t_ns);
	cr_assert_eq(fault->overload_ns, 0);
	cr_assert_eq(fault->preemptions, 0);
	world_forget();
}

Test(incidents, who_is_still_in_breach_at_the_end_has_not_recovered)
{
	const char *folder = run_pool(
	    "a", "", "faults: [{at: 30min, do: traffic, service: s, factor: 9, for: ever}]\n");
	const struct tl_row_fault *fault = the_fault("traffic");

	cr_assert_eq(fault->recovered_ns, -1);
	cr_assert_eq(fault->repaired_ns, -1);
	cr_assert_gt(fault->dropped, 0);
	cr_assert_eq(services_metric(folder, "faults_unrecovered"), 1);
	cr_assert(isnan(services_metric(folder, "recovery_mean_s")));
	world_forget();
}

/* A node with a replica on it, and nobody makes room: the service's windows until the node is
 * back, the replica ready and a window clean are the fault's. */
Test(incidents, a_node_that_takes_a_replica_with_it_hits_its_service)
{
	const char *folder =
	    run_pool("a", ", timeout: 1s",
	             "policy: {preempt: none}\n"
	             "faults: [{at: 602s, do: node-down, node: node-0000, for: 20min}]\n");
	struct service_rows rows = services_rows(folder, "s");
	const struct tl_row_fault *fault = the_fault("node-down");

	cr_assert_eq(fault->jobs_hit, 1);
	cr_assert_gt(fault->overload_ns, 19 * TL_NS_PER_MIN, "3 replicas of the 3.3 it takes");
	cr_assert_str_eq(fault->service, "");
	cr_assert_eq(fault->preemptions, 0);
	check_windows(fault, &rows, 5 * TL_NS_PER_S,
	              over_at(&rows, (602 + 1200 + 3) * TL_NS_PER_S, 5 * TL_NS_PER_S));
	free(rows.windows);
	world_forget();
}

/* Training alone is hit: no window is its affair, and it is over once the last one runs. */
Test(incidents, killed_training_is_over_once_it_runs)
{
	run_pool("a", "", "faults: [{at: 602s, do: kill-jobs, jobs: 16}]\n");
	const struct tl_row_fault *fault = the_fault("kill-jobs");

	cr_assert_eq(fault->jobs_hit, 16);
	cr_assert_gt(fault->lost_work_gpu_s, 0);
	cr_assert_gt(fault->recovered_ns, fault->t_ns);
	world_forget();
}

/* A surge in the script moves no lot of the others. */
Test(incidents, a_surge_moves_no_lot)
{
	uint32_t nodes[2];

	for (int with = 0; with < 2; with++) {
		char more[512];

		snprintf(more, sizeof more,
		         "faults: [%s{at: 900s, do: node-down, nodes: 1, for: 1min}]\n",
		         with ? "{at: 602s, do: traffic, service: s, for: 1min}, " : "");
		run_pool("a", "", more);
		nodes[with] = the_fault("node-down")->node;
		world_forget();
	}
	cr_assert_eq(nodes[0], nodes[1]);
}

/* A repair that never comes, and one after this row began, leave its node down. */
static bool down_already(const struct tl_row_fault *fault)
{
	for (size_t i = 0; i < world.fault_count; i++) {
		const struct tl_row_fault *other = &world.faults[i];

		if (other->node == fault->node && other->t_ns < fault->t_ns &&
		    (other->repaired_ns < 0 || other->repaired_ns > fault->t_ns))
			return true;
	}
	return false;
}

/* Each node failure of the run, and each fault of the script (a node, a kill, a surge), is one
 * row, whenever policies see it. */
static void check_one_row_each(const char *folder)
{
	size_t failures = 0, kills = 0, surges = 0, scripted = 0;

	for (size_t i = 0; i < world.fault_count; i++) {
		const struct tl_row_fault *fault = &world.faults[i];

		for (size_t k = 0; k < i; k++)
			cr_assert(fault->t_ns != world.faults[k].t_ns ||
			              fault->node != world.faults[k].node ||
			              strcmp(fault->kind, world.faults[k].kind) != 0,
			          "%s\ntwo of %s", world.text, fault->kind);
		cr_assert(fault->recovered_ns < 0 || fault->recovered_ns >= fault->t_ns);
		kills += strcmp(fault->kind, "kill-jobs") == 0;
		surges += strcmp(fault->kind, "traffic") == 0;
		scripted += strcmp(fault->kind, "node-down") == 0;
		failures += fault->node != TL_ROW_NO_NODE && !down_already(fault);
	}
	cr_expect_eq(kills, 1, "%s", world.text);
	cr_expect_eq(surges, 1, "%s", world.text);
	cr_expect_eq(scripted, 1, "%s", world.text);
	cr_expect_eq((double)failures, services_metric(folder, "node_failures"), "%s", world.text);
	cr_expect_eq((double)world.fault_count, services_metric(folder, "faults"));
}

Test(incidents, each_fault_has_one_row_whenever_it_is_seen)
{
	static const char *const seats[] = {"none", "progressive", "staged", "batch"};
	size_t failures = 0;

	for (uint64_t number = 0; number < WORLDS; number++) {
		static char whole[TEXT_ROOM];
		const char *text;

		(void)services_draw(number, &text);
		snprintf(whole, sizeof whole,
		         "%spolicy: {order: {use: priority-queues, mode: strict}, preempt: %s,\n"
		         "  scale: {use: threshold, check: 5s}}\n",
		         text, seats[number % 4]);
		check_one_row_each(services_run("a", whole));
		failures += world.fault_count - 3;
		world_forget();
	}
	cr_assert_gt(failures, WORLDS / 4, "nodes hardly fail by themselves");
}

/* Who sees it only after the run has ended has not got over it. */
Test(incidents, a_failure_that_nobody_saw_is_not_got_over)
{
	run_pool("a", "",
	         "faults: [{at: 35min, do: node-down, node: node-0000, for: 1min}]\n"
	         "observe: {delay: 10min}\n");
	const struct tl_row_fault *fault = the_fault("node-down");

	cr_assert_eq(fault->jobs_hit, 0);
	cr_assert_eq(fault->recovered_ns, -1);
	world_forget();
}
