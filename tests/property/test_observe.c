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
