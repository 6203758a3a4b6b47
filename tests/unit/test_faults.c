/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "sim/faults/faults.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { NODES = 32, SCRIPTED = 100, FAIL, REPAIR };

static const struct tl_fault_kinds kinds = {SCRIPTED, FAIL, REPAIR};
static const struct tl_failures standard = {.per_1000_node_days = 4.0,
                                            .repair_short_ns = 15 * TL_NS_PER_MIN,
                                            .repair_medium_ns = 132 * TL_NS_PER_MIN,
                                            .repair_long_ns = 4 * TL_NS_PER_DAY,
                                            .repair_short_milli = 800,
                                            .repair_medium_milli = 170};
static struct tl_node_spec node_specs[NODES];
static struct tl_cluster_spec spec = {.nodes = node_specs, .node_count = NODES};
static struct tl_cluster cluster = {.spec = &spec, .view = {.node_count = NODES}};
static struct tl_fault_setting settings[4];
static struct tl_scenario scenario;

static void setup(void)
{
	for (int i = 0; i < NODES; i++)
		(void)snprintf(node_specs[i].name, sizeof node_specs[i].name, "node-%02d", i);
	memset(settings, 0, sizeof settings);
	scenario = (struct tl_scenario){.seed = 1, .faults = settings};
}

TestSuite(faults, .init = setup);

static struct tl_faults *create(void)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_faults *faults = NULL;

	cr_assert_eq(tl_faults_create(&scenario, &cluster, &kinds, &faults, &error), TL_OK, "%s",
	             error.message);
	return faults;
}

static void node_down(size_t index, uint32_t count, const char *name)
{
	settings[index] = (struct tl_fault_setting){.what = TL_FAULT_NODE_DOWN,
	                                            .at_ns = TL_NS_PER_DAY,
	                                            .count = count,
	                                            .line = 7,
	                                            .column = 5};
	(void)snprintf(settings[index].node, sizeof settings[index].node, "%s", name);
	scenario.fault_count = index + 1;
}

/* ---- random failures ---- */

/* Six sigma of a binomial share: fixed seeds, so this passes always or never. */
static bool near(uint64_t hits, uint64_t n, double p)
{
	return fabs((double)hits / (double)n - p) < 6 * sqrt(p * (1 - p) / (double)n);
}

Test(faults, up_times_are_exponential_at_the_rate)
{
	const double mean_ns = 250.0 * (double)TL_NS_PER_DAY;
	uint64_t n = 0, below_mean = 0, below_half = 0;
	double sum = 0;

	for (uint32_t node = 0; node < 200; node++)
		for (uint64_t i = 0; i < 100; i++, n++) {
			double up = (double)tl_faults_outage(&standard, 11, node, i, 0).fail_ns;

			sum += up;
			below_mean += up < mean_ns;
			below_half += up < mean_ns / 2;
		}
	cr_assert(fabs(sum / (double)n / mean_ns - 1) < 6 / sqrt((double)n));
	cr_assert(near(below_mean, n, 1 - exp(-1)));
	cr_assert(near(below_half, n, 1 - exp(-0.5)));
}

Test(faults, as_many_as_the_rate_says)
{
	/* 1,000 nodes for a year: 1,460 expected, of standard deviation 38. */
	uint64_t count = 0;

	for (uint32_t node = 0; node < 1000; node++) {
		int64_t up_ns = 0;

		for (uint64_t n = 0;; n++) {
			struct tl_outage outage = tl_faults_outage(&standard, 3, node, n, up_ns);

			if (outage.fail_ns >= 365 * TL_NS_PER_DAY)
				break;
			up_ns = outage.repair_ns;
			count++;
		}
	}
	cr_assert(count > 1460 - 4 * 38 && count < 1460 + 4 * 38, "%llu",
	          (unsigned long long)count);
}

Test(faults, repairs_follow_the_mix)
{
	uint64_t n = 0, quick = 0, medium = 0, slow = 0;

	for (uint32_t node = 0; node < 200; node++)
		for (uint64_t i = 0; i < 100; i++, n++) {
			struct tl_outage outage = tl_faults_outage(&standard, 5, node, i, 1000);
			int64_t down_ns = outage.repair_ns - outage.fail_ns;

			quick += down_ns == standard.repair_short_ns;
			medium += down_ns == standard.repair_medium_ns;
			slow += down_ns == standard.repair_long_ns;
		}
	cr_assert_eq(quick + medium + slow, n);
	cr_assert(near(quick, n, 0.80));
	cr_assert(near(medium, n, 0.17));
	cr_assert(near(slow, n, 0.03));
}

Test(faults, an_outage_depends_on_nothing_but_its_name)
{
	struct tl_outage a = tl_faults_outage(&standard, 1, 3, 2, 50);
	struct tl_outage b;

	(void)tl_faults_outage(&standard, 1, 4, 2, 0);
	b = tl_faults_outage(&standard, 1, 3, 2, 50);
	cr_assert_eq(a.fail_ns, b.fail_ns);
	cr_assert_eq(a.repair_ns, b.repair_ns);
	cr_assert_neq(tl_faults_outage(&standard, 2, 3, 2, 50).fail_ns, a.fail_ns);
	cr_assert_neq(tl_faults_outage(&standard, 1, 4, 2, 50).fail_ns, a.fail_ns);
	cr_assert_neq(tl_faults_outage(&standard, 1, 3, 3, 50).fail_ns, a.fail_ns);
	cr_assert_eq(tl_faults_outage(&standard, 1, 3, 2, 60).fail_ns, a.fail_ns + 10);
}

Test(faults, off_means_never)
{
	struct tl_failures off = standard;
	struct tl_outage outage;

	off.per_1000_node_days = 0;
	outage = tl_faults_outage(&off, 1, 0, 0, 0);
	cr_assert_eq(outage.fail_ns, TL_NEVER);
	cr_assert_eq(outage.repair_ns, TL_NEVER);
	off.per_1000_node_days = 1e-300; /* beyond any int64 */
	cr_assert_eq(tl_faults_outage(&off, 1, 0, 0, 0).fail_ns, TL_NEVER);
}

struct seen {
	struct tl_faults *faults;
	struct tl_engine *engine;
	uint64_t fails[NODES], repairs[NODES], scripted;
	int64_t up_ns[NODES];
};

static void apply(void *owner, const struct tl_event *event)
{
	struct seen *seen = owner;
	struct tl_outage want;

	cr_assert_eq(event->phase, TL_PHASE_FAILURE);
	if (event->kind == SCRIPTED) {
		cr_assert_eq(event->subject, seen->scripted++);
		return;
	}
	cr_assert_lt(event->subject, NODES);
	uint32_t node = (uint32_t)event->subject;

	if (event->kind == REPAIR) {
		cr_assert(tl_faults_end(seen->faults, node));
		seen->repairs[node]++;
		seen->up_ns[node] = event->time_ns;
		return;
	}
	want = tl_faults_outage(&scenario.failures, scenario.seed, node, seen->fails[node]++,
	                        seen->up_ns[node]);
	cr_assert_eq(event->time_ns, want.fail_ns);
	cr_assert_eq(tl_faults_failed(seen->faults, seen->engine, node), want.repair_ns);
	cr_assert(tl_faults_begin(seen->faults, node));
}

static bool schedule(void *owner, int64_t now_ns)
{
	(void)owner;
	(void)now_ns;
	return true;
}

static const struct tl_engine_ops ops = {.apply = apply, .schedule = schedule};

static void run(struct seen *seen, int64_t horizon_ns)
{
	struct tl_engine engine;

	tl_engine_init(&engine, &ops, seen, 64);
	*seen = (struct seen){.faults = create(), .engine = &engine};
	tl_faults_arm(seen->faults, &engine);
	(void)tl_engine_run(&engine, horizon_ns);
	tl_engine_fini(&engine);
	tl_faults_destroy(seen->faults);
}

Test(faults, the_engine_meets_the_very_outages)
{
	struct seen seen;
	uint64_t fails = 0;

	scenario.failures = standard;
	scenario.failures.per_1000_node_days = 400;
	node_down(0, 1, "");
	node_down(1, 2, "");
	run(&seen, 60 * TL_NS_PER_DAY);
	cr_assert_eq(seen.scripted, 2);
	for (int i = 0; i < NODES; i++) {
		fails += seen.fails[i];
		cr_assert(seen.fails[i] - seen.repairs[i] <= 1);
	}
	/* 32 nodes × 60 days × 0.4 = 768, less the time they are down (6 %) */
	cr_assert(fails > 600 && fails < 880, "%llu", (unsigned long long)fails);
}

Test(faults, without_failures_only_the_script_happens)
{
	struct seen seen;

	node_down(0, 1, "");
	run(&seen, TL_NEVER);
	cr_assert_eq(seen.scripted, 1);
	for (int i = 0; i < NODES; i++)
		cr_assert_eq(seen.fails[i], 0);
}

/* ---- scripted faults ---- */

Test(faults, a_node_by_name)
{
	struct tl_faults *faults;
	const uint32_t *nodes;
	uint32_t count;

	node_down(0, 1, "node-17");
	faults = create();
	nodes = tl_faults_nodes(faults, 0, &count);
	cr_assert_eq(count, 1);
	cr_assert_eq(nodes[0], 17);
	tl_faults_destroy(faults);
}

Test(faults, nodes_by_lot_are_distinct_and_ascend)
{
	struct tl_faults *faults;
	uint64_t hits[NODES] = {0};
	const uint32_t *nodes;
	uint32_t count;

	node_down(0, NODES, "");
	node_down(1, 3, "");
	for (scenario.seed = 0; scenario.seed < 4000; scenario.seed++) {
		faults = create();
		nodes = tl_faults_nodes(faults, 0, &count);
		cr_assert_eq(count, NODES);
		for (uint32_t i = 0; i < count; i++)
			cr_assert_eq(nodes[i], i);
		nodes = tl_faults_nodes(faults, 1, &count);
		cr_assert_eq(count, 3);
		cr_assert(nodes[0] < nodes[1] && nodes[1] < nodes[2] && nodes[2] < NODES);
		for (uint32_t i = 0; i < count; i++)
			hits[nodes[i]]++;
		tl_faults_destroy(faults);
	}
	for (int i = 0; i < NODES; i++)
		cr_assert(near(hits[i], 4000, 3.0 / NODES), "node %d: %llu", i,
		          (unsigned long long)hits[i]);
}

Test(faults, two_entries_draw_apart_and_a_run_draws_the_same)
{
	struct tl_faults *a, *b;
	uint32_t count;

	node_down(0, 8, "");
	node_down(1, 8, "");
	a = create();
	b = create();
	cr_assert_arr_eq(tl_faults_nodes(a, 0, &count), tl_faults_nodes(b, 0, &count),
	                 8 * sizeof(uint32_t));
	cr_assert_arr_neq(tl_faults_nodes(a, 0, &count), tl_faults_nodes(a, 1, &count),
	                  8 * sizeof(uint32_t));
	cr_assert_eq(tl_faults_lot(a, 1, 99), tl_faults_lot(b, 1, 99));
	cr_assert_neq(tl_faults_lot(a, 0, 99), tl_faults_lot(a, 1, 99));
	cr_assert_neq(tl_faults_lot(a, 0, 99), tl_faults_lot(a, 0, 98));
	tl_faults_destroy(a);
	tl_faults_destroy(b);
}

Test(faults, killing_jobs_takes_no_node)
{
	struct tl_faults *faults;
	uint32_t count = 1;

	settings[0] = (struct tl_fault_setting){.what = TL_FAULT_KILL_JOBS, .count = 1000};
	scenario.fault_count = 1;
	faults = create();
	cr_assert_null(tl_faults_nodes(faults, 0, &count));
	cr_assert_eq(count, 0);
	tl_faults_destroy(faults);
}

static void refused(const char *wanted)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_faults *faults = NULL;
	static char path[] = "s.yaml";

	scenario.path = path;
	cr_assert_eq(tl_faults_create(&scenario, &cluster, &kinds, &faults, &error), TL_E_CONFIG);
	cr_assert_null(faults);
	cr_assert_eq(error.line, 7);
	cr_assert_eq(error.column, 5);
	cr_assert_str_eq(error.file, "s.yaml");
	cr_assert_not_null(strstr(error.message, wanted), "%s", error.message);
}

Test(faults, an_unknown_node_is_refused)
{
	node_down(0, 1, "");
	node_down(1, 1, "node-32");
	refused("faults[1].node: got `node-32`");
}

Test(faults, more_nodes_than_there_are_is_refused)
{
	node_down(0, NODES + 1, "");
	refused("faults[0].nodes: got 33, wanted at most the cluster's 32");
}

Test(faults, overlapping_outages_hold_a_node_down_until_the_last)
{
	struct tl_faults *faults = create();

	cr_assert(tl_faults_begin(faults, 4));
	cr_assert_not(tl_faults_begin(faults, 4));
	cr_assert(tl_faults_begin(faults, 5));
	cr_assert_not(tl_faults_end(faults, 4));
	cr_assert(tl_faults_end(faults, 4));
	cr_assert(tl_faults_begin(faults, 4));
	tl_faults_destroy(faults);
}

Test(faults, a_repair_without_an_outage_trips, .signal = SIGABRT)
{
	(void)tl_faults_end(create(), 0);
}
