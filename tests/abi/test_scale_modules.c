/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shipped scaling modules, each rule by hand: what a service of known capacity and load
 * is to get. One service, of 2 to 40 replicas that serve 10 requests a second each.
 */
#include "sim/base/units.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <string.h>

enum { REPLICA_RPS = 10, WINDOW_S = 5, ROOM = 4 };

static struct tl_world world;
static void *self;
static const struct tl_scale_ops *ops;

static void setup(void)
{
	tl_world_init(&world, 3, 4, 8);
	world.mock.services[0] =
	    (struct tl_service_view){.name = "s",
	                             .replicas_min = 2,
	                             .replicas_max = 40,
	                             .replicas = 4,
	                             .ready = 4,
	                             .slo_p99_ns = 100 * TL_NS_PER_MS,
	                             .replica_capacity_per_ks = REPLICA_RPS * 1000,
	                             .p50_ns = -1,
	                             .p95_ns = -1,
	                             .p99_ns = -1,
	                             .p999_ns = -1,
	                             .mean_wait_ns = -1,
	                             .breach_since_ns = -1};
	world.mock.service_count = 1;
}

static void teardown(void)
{
	tl_world_fini(&world);
}

TestSuite(scale_modules, .init = setup, .fini = teardown);

static void make(const char *name, const char *option, const char *value)
{
	const struct tl_module *module = tl_suite_find(TL_SEAT_SCALE, name);
	char why[TL_MOCK_TEXT] = "";

	cr_assert_eq(tl_mock_create(&world.mock, module, option, value, &self, why), 0, "%s: %s",
	             name, why);
	ops = module->ops;
}

static void refused(const char *name, const char *option, const char *value, const char *word)
{
	char why[TL_MOCK_TEXT] = "";

	cr_assert_neq(tl_mock_create(&world.mock, tl_suite_find(TL_SEAT_SCALE, name), option, value,
	                             &self, why),
	              0, "%s takes %s: %s", name, option ? option : "nothing", value ? value : "");
	cr_assert_not_null(strstr(why, word), "%s: `%s` does not speak of `%s`", name, why, word);
}

/* A window of these requests a second has closed at at_s. */
static void window(int64_t at_s, int64_t rps)
{
	struct tl_service_view *view = &world.mock.services[0];
	int64_t ready = view->ready > 0 ? view->ready : 1;

	world.mock.now_ns = at_s * TL_NS_PER_S;
	view->window_end_ns = world.mock.now_ns;
	view->window_start_ns = world.mock.now_ns - WINDOW_S * TL_NS_PER_S;
	view->arrivals = view->served = rps * WINDOW_S;
	view->load_milli = rps * 1000 / (ready * REPLICA_RPS);
}

/* Replicas wanted now: as before where nothing is said. */
static uint32_t asked(void)
{
	struct tl_scale_target out[ROOM];
	const struct tl_changes changes = {.struct_size = sizeof changes, .why = TL_WHY_WINDOW};
	uint32_t count = ops->targets(self, world.mock.now_ns, &changes, out, ROOM);

	cr_assert_leq(count, 1);
	if (count == 0)
		return world.mock.services[0].replicas;
	cr_assert_eq(out[0].service, 0);
	cr_assert_neq(out[0].replicas, world.mock.services[0].replicas,
	              "a target that is no change");
	return out[0].replicas;
}

/* The same with the decision carried out, ready at once. */
static uint32_t followed(void)
{
	uint32_t replicas = asked();

	world.mock.services[0].replicas = world.mock.services[0].ready = replicas;
	return replicas;
}

/* ---- static ---- */

Test(scale_modules, static_leaves_all_as_it_is)
{
	make("static", NULL, NULL);
	window(30, 1000);
	cr_assert_eq(asked(), 4);
}

Test(scale_modules, static_sets_once_within_bounds)
{
	make("static", "replicas", "9");
	window(30, 10);
	cr_assert_eq(followed(), 9);
	cr_assert_eq(asked(), 9);
	make("static", "replicas", "1");
	cr_assert_eq(asked(), 2, "never fewer than the service's least");
	make("static", "replicas", "41");
	cr_assert_eq(asked(), 40, "never more than its most");
	refused("static", "replicas", "-1", "replicas");
}

/* ---- threshold ---- */

Test(scale_modules, threshold_grows_above_high)
{
	make("threshold", NULL, NULL);
	cr_assert_eq(asked(), 4, "nothing has been measured yet");
	make("threshold", NULL, NULL);
	window(30, 32);
	cr_assert_eq(asked(), 4, "0.8 is not above 0.8");
	window(60, 36);
	cr_assert_eq(asked(), 6, "0.9 x 4 / 0.7 = 5.14");
	window(75, 40);
	cr_assert_eq(asked(), 4, "looks once in 30 s");
	window(90, 4000);
	cr_assert_eq(asked(), 40, "never more than its most");
}

Test(scale_modules, threshold_counts_those_that_start)
{
	make("threshold", NULL, NULL);
	window(30, 40);
	world.mock.services[0].replicas = asked();
	cr_assert_eq(world.mock.services[0].replicas, 6, "40 / 7");
	window(60, 40);
	cr_assert_eq(asked(), 6, "two that start are on their way: no more for the same load");
	window(90, 56);
	cr_assert_eq(asked(), 8);
}

Test(scale_modules, threshold_shrinks_when_low_for_long)
{
	make("threshold", "down_after", "5min");
	world.mock.services[0].replicas = world.mock.services[0].ready = 10;
	window(30, 49);
	cr_assert_eq(asked(), 10);
	window(300, 49);
	cr_assert_eq(asked(), 10, "270 s below");
	window(330, 49);
	cr_assert_eq(followed(), 7, "300 s below: 49 / 7");
	window(360, 36);
	cr_assert_eq(asked(), 7, "0.51: not low any more");
	window(390, 20);
	cr_assert_eq(asked(), 7, "low anew, from here");
	window(690, 0);
	cr_assert_eq(asked(), 2, "never fewer than its least");
}

Test(scale_modules, threshold_looks_at_what_it_is_told_to)
{
	struct tl_service_view *view = &world.mock.services[0];

	make("threshold", "metric", "p99");
	window(30, 400);
	view->p99_ns = 79 * TL_NS_PER_MS;
	cr_assert_eq(asked(), 4, "p99 is well, whatever the load");
	window(60, 20);
	view->p99_ns = 140 * TL_NS_PER_MS;
	cr_assert_eq(asked(), 8, "1.4 x 4 / 0.7");
	make("threshold", "metric", "latency");
	view->mean_wait_ns = 90 * TL_NS_PER_MS;
	cr_assert_eq(asked(), 6);
	make("threshold", "metric", "queue");
	view->queued = 4 * 21;
	cr_assert_eq(asked(), 12, "2.1 tens a replica: 2.1 x 4 / 0.7");
}

/* Nobody was served while all wait: that is no sign of ease. */
Test(scale_modules, threshold_is_not_fooled_by_a_standstill)
{
	static const char *const metrics[] = {"p99", "latency"};

	for (size_t m = 0; m < 2; m++) {
		make("threshold", "metric", metrics[m]);
		for (int64_t at_s = 30; at_s <= 900; at_s += 30) {
			window(at_s, 50);
			world.mock.services[0].served = 0;
			world.mock.services[0].queued = 50 * at_s;
			cr_assert_eq(asked(), 4, "%s", metrics[m]);
		}
		window(930, 0);
		world.mock.services[0].served = world.mock.services[0].queued = 0;
		(void)asked();
		window(1230, 0);
		cr_assert_eq(asked(), 2, "%s: nobody comes, and nobody waits", metrics[m]);
	}
}

Test(scale_modules, threshold_refuses_nonsense)
{
	refused("threshold", "low", "0.8", "low");
	refused("threshold", "high", "0.5", "low");
	refused("threshold", "target", "0", "target");
	refused("threshold", "check", "0s", "check");
	refused("threshold", "metric", "mood", "metric");
	refused("threshold", "hihg", "0.9", "hihg");
}

/* ---- hpa ---- */

Test(scale_modules, hpa_keeps_still_within_its_tolerance)
{
	make("hpa", NULL, NULL);
	window(15, 30);
	cr_assert_eq(asked(), 4, "0.75 / 0.7 = 1.07");
	window(30, 26);
	cr_assert_eq(asked(), 4, "0.65 / 0.7 = 0.93");
	window(45, 32);
	cr_assert_eq(asked(), 5, "0.8 x 4 / 0.7 = 4.57");
	make("hpa", "tolerance", "0.2");
	cr_assert_eq(asked(), 4);
}

Test(scale_modules, hpa_goes_down_to_the_highest_of_its_window)
{
	make("hpa", NULL, NULL);
	window(15, 70);
	cr_assert_eq(followed(), 10);
	window(30, 28);
	cr_assert_eq(asked(), 10, "10 was wanted 15 s ago");
	window(165, 56);
	cr_assert_eq(asked(), 10);
	window(330, 28);
	cr_assert_eq(followed(), 8, "10 has left the window of 300 s, 8 has not");
	window(480, 28);
	cr_assert_eq(followed(), 4, "4 is all that was wanted since 180 s");
}

Test(scale_modules, hpa_goes_up_to_the_lowest_of_its_window)
{
	make("hpa", "up_window", "60s");
	window(15, 28);
	cr_assert_eq(asked(), 4);
	window(30, 70);
	cr_assert_eq(asked(), 4, "4 was wanted 15 s ago");
	window(60, 56);
	cr_assert_eq(asked(), 4);
	window(90, 70);
	cr_assert_eq(asked(), 8, "8 is the least of 60 s");
}

Test(scale_modules, hpa_refuses_windows_beyond_its_memory)
{
	refused("hpa", "down_window", "960s", "down_window");
	refused("hpa", "up_window", "1h", "up_window");
	refused("hpa", "sync", "1s", "sync");
	refused("hpa", "tolerance", "1.5", "tolerance");
}

/* ---- calendar ---- */

/* 35 requests a second, and 140 from an hour on for half an hour. */
static int64_t tide(uint32_t service, int64_t at_ns)
{
	(void)service;
	return at_ns >= TL_NS_PER_HOUR && at_ns < TL_NS_PER_HOUR + 30 * TL_NS_PER_MIN ? 140000
	                                                                              : 35000;
}

Test(scale_modules, calendar_leads)
{
	world.mock.traffic_per_ks = tide;
	make("calendar", "lead", "10min");
	window(60, 0);
	cr_assert_eq(followed(), 5, "35 / 7, whatever comes in truth");
	window(49 * 60, 35);
	cr_assert_eq(asked(), 5);
	window(50 * 60, 35);
	cr_assert_eq(followed(), 20, "ten minutes ahead of the tide");
	window(89 * 60, 140);
	cr_assert_eq(asked(), 20, "until it has gone");
	window(90 * 60, 35);
	cr_assert_eq(asked(), 5);
	window(90 * 60 + 30, 35);
	cr_assert_eq(asked(), 20, "looks once a minute");
}

Test(scale_modules, calendar_threshold_takes_the_more)
{
	world.mock.traffic_per_ks = tide;
	make("calendar-threshold", "lead", "10min");
	window(30, 35);
	cr_assert_eq(followed(), 5);
	window(60, 60);
	cr_assert_eq(followed(), 9, "60 / 7: more than was planned");
	window(50 * 60, 60);
	cr_assert_eq(followed(), 20, "the plan");
	window(55 * 60, 60);
	(void)followed();
	window(61 * 60, 60);
	cr_assert_eq(followed(), 20, "low for long, but planned");
	window(80 * 60, 230);
	cr_assert_eq(asked(), 33, "230 / 7");
}

Test(scale_modules, calendars_need_one)
{
	world.mock.service_count = 0;
	refused("calendar", NULL, NULL, "calendar");
	refused("calendar-threshold", NULL, NULL, "calendar");
	world.mock.service_count = 1;
	refused("calendar", "target", "0", "target");
	refused("calendar", "target", "1.1", "target");
	refused("calendar", "lead", "-1s", "lead");
	refused("calendar-threshold", "low", "0.9", "low");
}

/* ---- predictive ---- */

static int64_t expected_per_ks;
static int64_t asked_at_ns;

static int64_t expect_it(void *it, uint32_t service, int64_t at_ns)
{
	(void)it;
	(void)service;
	asked_at_ns = at_ns;
	return expected_per_ks;
}

Test(scale_modules, predictive_needs_a_forecast)
{
	static const struct tl_module module = {.name = "test"};
	static const struct tl_forecast_ops forecast = {.struct_size = sizeof forecast,
	                                                .rate_per_ks = expect_it};

	refused("predictive", NULL, NULL, "forecast");
	world.mock.seats[TL_SEAT_FORECAST] = (struct tl_seat){.module = &module, .ops = &forecast};
	make("predictive", "ahead", "2min");
	expected_per_ks = 63000;
	window(30, 35);
	cr_assert_eq(asked(), 9, "what is expected");
	cr_assert_eq(asked_at_ns, 150 * TL_NS_PER_S);
	expected_per_ks = 14000;
	window(60, 35);
	cr_assert_eq(asked(), 5, "what is there is more");
	expected_per_ks = -1;
	window(90, 42);
	cr_assert_eq(asked(), 6, "it cannot say: what is there");
	refused("predictive", "target", "2", "target");
}
