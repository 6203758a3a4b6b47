/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Online services in whole trials: what the tables claim is worked out again from the rows;
 * requests neither vanish nor appear; traffic depends on nobody's decisions.
 */
#include "sim/base/units.h"
#include "tests/property/services_world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 40, REPEATED = 8, PLAIN = 60, TEXT_ROOM = 4096 };

TestSuite(services, .init = world_setup, .fini = world_teardown, .timeout = 240);

static const char *const scalers[] = {
    "scale: static",
    "scale: {use: static, replicas: 3}",
    "scale: {use: threshold, check: 15s, down_after: 30s}",
    "scale: {use: threshold, metric: queue, down_after: 1min}",
    "scale: {use: hpa, down_window: 60s}",
    "scale: {use: hpa, metric: p99}",
    "scale: {use: calendar, lead: 2min}",
    "scale: {use: calendar-threshold, lead: 2min, down_after: 30s}",
    "scale: predictive, forecast: {use: seasonal-naive, season: 10min, bucket: 1min}",
    "scale: predictive, forecast: {use: holt-winters, season: 10min, bucket: 1min}",
    "scale: predictive, forecast: oracle",
};
enum { SCALERS = sizeof scalers / sizeof scalers[0] };

static bool shares; /* whether GPUs are oversubscribed in the worlds that are run now */
static double shared_s, slowed_s; /* GPU time asked for beyond what there was; that replicas lost */

/* ---- what must hold of every service of every world ---- */

static void check_quantiles(const struct tl_row_window *row)
{
	if (row->p50_ns < 0) {
		cr_assert(row->p99_ns < 0 && row->p999_ns < 0 && row->p95_ns < 0);
		return;
	}
	cr_assert(row->p50_ns <= row->p95_ns && row->p95_ns <= row->p99_ns &&
	              row->p99_ns <= row->p999_ns,
	          "%s\nat %" PRId64, world.text, row->t_ns);
}

/* In every window: who came is served, lost, waiting, or in service at some replica. */
static void check_conserved(const struct service_rows *rows, uint64_t most)
{
	uint64_t came = 0, left = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct tl_row_window *row = &rows->windows[i];

		came += row->arrivals;
		left += row->served + row->dropped + row->queued;
		cr_assert(left <= came && came - left <= most,
		          "%s\nat %" PRId64 ": of %" PRIu64 " that came %" PRIu64
		          " have left or wait; %" PRIu64 " may be in service",
		          world.text, row->t_ns, came, left, most);
		left -= row->queued;
		cr_assert_leq(row->attained, row->served);
		cr_assert(row->load >= 0 && isfinite(row->load));
		check_quantiles(row);
		cr_assert(i == 0 || row->t_ns > row[-1].t_ns);
	}
}

static void expect(const char *folder, const char *service, const char *metric, double wanted,
                   double off)
{
	char name[64];

	snprintf(name, sizeof name, "%s.%s", service, metric);
	double value = services_metric(folder, name);

	cr_assert(isnan(value) ? isnan(wanted) : fabs(value - wanted) <= off,
	          "%s\n%s is %.9g, by its rows %.9g", world.text, name, value, wanted);
}

/* The summary is the sum of the rows. */
static void check_summary(const char *folder, const char *service, const struct service_rows *rows)
{
	double gone = (double)(rows->served + rows->dropped), served = (double)rows->served;
	double wait_ns = 0, breach_s = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct tl_row_window *row = &rows->windows[i];
		int64_t end_ns = i + 1 < rows->count ? row[1].t_ns : 40 * TL_NS_PER_MIN;

		if (row->mean_wait_ns > 0)
			wait_ns += (double)row->mean_wait_ns * (double)row->served;
		breach_s += row->overload ? (double)(end_ns - row->t_ns) / 1e9 : 0;
	}
	expect(folder, service, "requests", (double)rows->arrivals, 0);
	expect(folder, service, "served", served, 0);
	expect(folder, service, "dropped", (double)rows->dropped, 0);
	expect(folder, service, "attainment",
	       gone > 0 ? (double)rows->attained / gone : (double)NAN, 1e-12);
	expect(folder, service, "overload_s", breach_s, 1e-6);
	/* Each window's mean is rounded down to a nanosecond. */
	expect(folder, service, "wait_mean_s", served > 0 ? wait_ns / served / 1e9 : (double)NAN,
	       2e-9);
}

/* Σ ledger = capacity × horizon; what the nodes held is in the placements, of replicas that
 * which was booked for services. */
static void check_books(void)
{
	tl_i128 sum = 0, capacity = 0, held = 0, replicas = 0;
	double allocated = 0;

	for (size_t i = 0; i < world.ledger_count; i++)
		sum += ((tl_i128)world.ledger[i].mgpu_ns_hi << 64) + world.ledger[i].mgpu_ns_lo;
	for (size_t n = 0; n < world.node_count; n++) {
		capacity += world.nodes[n].gpus * TL_MGPU_PER_GPU;
		allocated += world.nodes[n].allocated_gpu_s;
	}
	cr_assert(sum == capacity * 40 * TL_NS_PER_MIN, "%s", world.text);
	for (size_t i = 0; i < world.place_count; i++) {
		tl_i128 mgpu_ns = (tl_i128)world.places[i].gpus_mgpu *
		                  (world.places[i].end_ns - world.places[i].start_ns);

		held += mgpu_ns;
		replicas += world.places[i].job == TL_ROW_NO_JOB ? mgpu_ns : 0;
	}
	shared_s += shares ? (double)held / 1e12 - allocated : 0;
	slowed_s += (double)services_booked("services", "interference") / 1e12;
	cr_assert(fabs(allocated - (double)held / 1e12) <= 1e-6 * allocated + 1e-6 ||
	              (shares && allocated < (double)held / 1e12),
	          "%s\nnodes held %.9f GPU s, placements %.9f", world.text, allocated,
	          (double)held / 1e12);
	cr_assert(replicas == services_booked("services", NULL) ||
	              (shares && replicas > services_booked("services", NULL)),
	          "%s", world.text);
	cr_assert((services_booked("services", "rework") == 0 ||
	           !strstr(world.text, "observe: {delay: 0s}")) && /* dead, unseen */
	          services_booked("services", "checkpoint") == 0);
}

static const char *run_world(uint64_t number, const char *folder, const char *policy)
{
	static char whole[TEXT_ROOM];
	const char *text;

	(void)services_draw(number, &text);
	snprintf(whole, sizeof whole, "%spolicy: {%s}\n%s", text, policy,
	         !shares      ? ""
	         : number % 2 ? "oversubscription: 1.5\nsharing: {guaranteed: none}\n"
	                      : "oversubscription: 2\nsharing: {table: gavel}\n");
	return services_run(folder, whole);
}

static const char *policy_of(uint64_t number)
{
	static const char *const preempts[] = {"none", "priority", "progressive", "staged",
	                                       "surge"};
	static const char *const orders[] = {"{use: priority-queues, mode: strict}", "fifo"};
	static const char *const rules[] = {"none", "easy",         "skip", "easy",
	                                    "easy", "conservative", "easy"};
	static char policy[512];

	snprintf(policy, sizeof policy, "order: %s, place: %s, preempt: %s, backfill: %s, %s",
	         orders[number % 3 == 2], number % 2 ? "topology" : "best-fit",
	         preempts[number % 5], rules[number % 7], scalers[number % SCALERS]);
	return policy;
}

static void check_worlds(void)
{
	for (uint64_t number = 0; number < WORLDS; number++) {
		const char *text;
		unsigned count = services_draw(number, &text);
		const char *folder = run_world(number, "a", policy_of(number));

		check_books();
		for (unsigned s = 0; s < count; s++) {
			char name[16];

			snprintf(name, sizeof name, "s%u", s);
			struct service_rows rows = services_rows(folder, name);

			/* Drained replicas serve on while new ones are ready. */
			check_conserved(&rows, 4 * services_most_in_service(s));
			check_summary(folder, name, &rows);
			free(rows.windows);
		}
		world_forget();
	}
}

Test(services, random_worlds_keep_every_request_and_every_second)
{
	check_worlds();
}

Test(services, random_oversubscribed_worlds_do_too)
{
	shares = true;
	check_worlds();
	cr_assert_gt(shared_s, 10000, "%g GPU s", shared_s);
	cr_assert_gt(slowed_s, 100, "%g GPU s", slowed_s);
}

Test(services, the_same_scenario_gives_the_same_bytes_in_any_folder)
{
	for (uint64_t number = 100; number < 100 + 2 * REPEATED; number++) {
		shares = number >= 100 + REPEATED;
		char first[WORLD_PATH_ROOM];

		snprintf(first, sizeof first, "%s", run_world(number, "a", policy_of(number)));
		world_forget();
		const char *second = run_world(number, "b", policy_of(number));

		cr_assert(services_same_bytes(first, second), "%s", world.text);
		world_forget();
	}
}

/* Where a second tenant may come hangs on what replicas were measured to use, and on when that
 * is seen; replicas that scaling asks for or lets go are there for both or for none. */
Test(services, the_plain_way_decides_the_same_on_shared_gpus)
{
	static const char *const bounds[] = {"0.4", "0.7", "1"};

	shares = true;
	for (uint64_t number = 560; number < 560 + PLAIN; number++) {
		char policy[640];
		struct tl_row_transition *moves;
		size_t count;

		snprintf(policy, sizeof policy, "%s, pair_below: %s", policy_of(number),
		         bounds[number / 5 % 3]);
		(void)run_world(number, "a", policy);
		moves = world.moves;
		count = world.move_count;
		world.moves = NULL;
		world_forget();
		strcat(policy, ", reference: true");
		(void)run_world(number, "a", policy);
		cr_assert_eq(count, world.move_count, "%s", world.text);
		for (size_t i = 0; i < count; i++)
			cr_assert(moves[i].t_ns == world.moves[i].t_ns &&
			              moves[i].job == world.moves[i].job &&
			              moves[i].to == world.moves[i].to &&
			              moves[i].node == world.moves[i].node,
			          "%s\ntransition %zu", world.text, i);
		free(moves);
		world_forget();
	}
}

/* ---- traffic ---- */

static void same_arrivals(const struct service_rows *a, const struct service_rows *b,
                          int64_t from_ns, int64_t to_ns)
{
	cr_assert_eq(a->count, b->count);
	for (size_t i = 0; i < a->count; i++)
		if (a->windows[i].t_ns < from_ns || a->windows[i].t_ns >= to_ns)
			cr_assert_eq(a->windows[i].arrivals, b->windows[i].arrivals,
			             "%s\nat %" PRId64, world.text, a->windows[i].t_ns);
}

Test(services, every_policy_meets_the_same_requests)
{
	static const size_t policies[] = {0, 2, 4, 7};

	for (uint64_t number = 200; number < 206; number++) {
		struct service_rows first = {0};

		for (size_t p = 0; p < 4; p++) {
			const char *folder = run_world(number, "a", scalers[policies[p]]);
			struct service_rows rows = services_rows(folder, "s0");

			world_forget();
			if (p == 0) {
				first = rows;
				continue;
			}
			same_arrivals(&first, &rows, 0, 0);
			free(rows.windows);
		}
		free(first.windows);
	}
}

#define DAY                                                                                        \
	"seed: 5\nhorizon: 1h\ncluster: 1x8\nworkload:\n"                                          \
	"  - {service: s, peak_rps: 40, curve: {0h: 0.3, 30min: 1, 1h: 0.3}, replicas: 4,\n"       \
	"     arrivals: {process: mmpp}, service_time: {alpha: 20ms, beta: 10ms}}\n"               \
	"metrics: {window: 10s}\noutput: {tables: all}\n"

Test(services, a_surge_leaves_the_rest_of_the_day_alone)
{
	struct service_rows calm, surge;
	uint64_t inside[2] = {0, 0};

	calm = services_rows(services_run("a", DAY), "s");
	world_forget();
	surge = services_rows(
	    services_run("b", DAY "faults: [{at: 20min, do: traffic, service: s, factor: 3, for: "
	                          "5min, ramp: 1min}]\n"),
	    "s");
	world_forget();
	same_arrivals(&calm, &surge, 20 * TL_NS_PER_MIN, 26 * TL_NS_PER_MIN);
	for (size_t i = 0; i < calm.count; i++) {
		cr_assert_leq(calm.windows[i].arrivals, surge.windows[i].arrivals);
		if (calm.windows[i].t_ns >= 21 * TL_NS_PER_MIN &&
		    calm.windows[i].t_ns < 25 * TL_NS_PER_MIN) {
			inside[0] += calm.windows[i].arrivals;
			inside[1] += surge.windows[i].arrivals;
		}
	}
	cr_assert_float_eq((double)inside[1] / (double)inside[0], 3, 0.1);
	free(calm.windows);
	free(surge.windows);
}

/* ---- nobody scales: all is known ---- */

Test(services, standing_replicas_are_booked_to_the_nanosecond)
{
	const char *folder = services_run(
	    "a",
	    "seed: 2\nhorizon: 10min\ncluster: 1x4\nworkload:\n"
	    "  - {service: s, arrivals: {process: poisson, rate: 120}, replicas: 3, batch: 1, requests: exact,\n"
	    "     events: [{at: 9min, for: 1h, factor: 0}], routing: shared-queue,\n"
	    "     service_time: {dist: deterministic, mean: 20ms}}\n"
	    "policy: {scale: static}\noutput: {tables: all}\n");
	struct service_rows rows = services_rows(folder, "s");
	tl_i128 productive = services_booked("services", "productive");
	tl_i128 standby = services_booked("services", "standby");

	cr_assert_eq(rows.arrivals, rows.served, "the last minute lets all be served");
	/* Utilisation: busy replicas = rate × time of service, exactly. */
	cr_assert(productive == (tl_i128)rows.served * 20 * TL_NS_PER_MS * 1000);
	cr_assert(productive + standby == (tl_i128)3 * 600 * TL_NS_PER_S * 1000);
	cr_assert(services_booked("services", NULL) == productive + standby);
	cr_assert_float_eq(services_metric(folder, "s.occupied_ratio"),
	                   (double)productive / (double)(productive + standby), 1e-12);
	cr_assert_eq(services_metric(folder, "s.replica_starts"), 3);
	cr_assert_eq(services_metric(folder, "s.cold_starts"), 0);
	for (size_t i = 0; i < rows.count; i++) {
		cr_assert(rows.windows[i].ready == 3 && rows.windows[i].replicas == 3);
		cr_assert_float_eq(rows.windows[i].load,
		                   (double)rows.windows[i].arrivals / (5 * 3 * 50.0), 0.001);
	}
	free(rows.windows);
	world_forget();
}

/* ---- one by one, or by formulas ---- */

struct told {
	uint64_t arrivals, served;
	double attainment, p50_s, p99_s, wait_s, fluid;
};

static struct told tell(const char *mode, const char *service)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "seed: 3\nhorizon: 2h\ncluster: 1x8\nworkload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: 200}, replicas: 8, requests: "
	         "%s, %s}\n"
	         "policy: {scale: static}\nmetrics: {window: 30s}\noutput: {tables: all}\n",
	         mode, service);
	const char *folder = services_run("a", text);
	struct service_rows rows = services_rows(folder, "s");
	struct told told = {.arrivals = rows.arrivals,
	                    .served = rows.served,
	                    .attainment = services_metric(folder, "s.attainment"),
	                    .p50_s = services_metric(folder, "s.p50_s"),
	                    .p99_s = services_metric(folder, "s.p99_s"),
	                    .wait_s = services_metric(folder, "s.wait_mean_s"),
	                    .fluid = services_metric(folder, "s.requests_fluid")};

	free(rows.windows);
	world_forget();
	return told;
}

static void expect_near(const char *what, double value, double wanted, double part)
{
	cr_expect(fabs(value - wanted) <= part * wanted,
	          "%s: %s is %.6f by formulas, %.6f by requests", world.text, what, value, wanted);
}

/* bound: what sim/work/fluid.h promises of this routing and service time, and the histogram's
 * 0.8 %. */
static void agree(const char *service, double bound)
{
	static const char *const modes[] = {"auto", "fluid"};
	struct told exact = tell("exact", service);

	cr_assert_eq(exact.fluid, 0);
	for (int m = 0; m < 2; m++) {
		struct told told = tell(modes[m], service);

		cr_expect_eq(told.arrivals, exact.arrivals, "%s", world.text);
		cr_expect_geq(told.fluid, 0.98 * (double)told.arrivals, "%s", world.text);
		cr_expect_leq(told.served, told.arrivals);
		cr_expect_leq(told.arrivals - told.served, 64);
		expect_near("p50", told.p50_s, exact.p50_s, bound);
		expect_near("p99", told.p99_s, exact.p99_s, bound);
		cr_expect_float_eq(told.attainment, exact.attainment, 0.002, "%s\n%.5f, not %.5f",
		                   world.text, told.attainment, exact.attainment);
	}
}

Test(services, formulas_agree_with_requests_in_quiet_times)
{
	agree(
	    "batch: 1, routing: shared-queue, slo: 100ms, service_time: {dist: exponential, mean: "
	    "20ms}",
	    0.128);
	agree("batch: 1, routing: random, slo: 60ms, service_time: {dist: gamma, mean: 12ms, cv: "
	      "0.5}",
	      0.128);
	agree("batch: 8, slo: 60ms, service_time: {alpha: 12ms, beta: 2ms}", 0.208);
}
