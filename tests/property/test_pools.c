/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small random worlds with walls between their nodes: whatever the policy (the pipeline's seats,
 * or one that decides at random), no worker of a job ever sits outside the pools it is bound to,
 * and work that is bound to none may sit in any. No pool ever holds more than its own ratio allows.
 */
#include "tests/property/world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

enum { WORLDS = 40 };

TestSuite(pools, .init = world_setup, .fini = world_teardown, .timeout = 120);

/* Whether `A|B` holds the pool. */
static bool holds(const char *pools, const char *pool)
{
	size_t length = strlen(pool);

	for (const char *at = pools; length > 0 && *at != '\0';
	     at += strcspn(at, "|"), at += *at == '|')
		if (strcspn(at, "|") == length && memcmp(at, pool, length) == 0)
			return true;
	return false;
}

/* Entry of a job: each has as many rows as the trace. */
static size_t entry_of(uint64_t job)
{
	return job / (world.job_count / WORLD_POOLED);
}

/* Of pool a, b and none. */
static size_t number_of(const char *pool)
{
	return pool[0] == 'a' ? 0 : pool[0] == 'b' ? 1 : 2;
}

/* Placements by entry, and those of them in pools a, b and none. */
static uint64_t seen[WORLD_POOLED][3];

static void check_walls(void)
{
	cr_assert_eq(world.job_count % WORLD_POOLED, 0);
	for (size_t i = 0; i < world.place_count; i++) {
		size_t entry = entry_of(world.places[i].job);
		const char *pool = world.nodes[world.places[i].node].pool;

		cr_assert(world_pools[entry][0] == '\0' || holds(world_pools[entry], pool),
		          "%s\njob %" PRIu64 " of pool `%s` sat on %s of pool `%s`", world.text,
		          world.places[i].job, world_pools[entry],
		          world.nodes[world.places[i].node].name, pool);
		seen[entry][number_of(pool)]++;
	}
}

/* What may be asked of pools a, b and none, and as a scenario says it. */
struct ratios {
	const char *text;
	int64_t milli[3];
};
static const struct ratios ratios[] = {{"{a: 1.5}", {1500, 1000, 1000}},
                                       {"{b: 1.25, others: 1}", {1000, 1250, 1000}},
                                       {"{a: 1, others: 1.7}", {1000, 1700, 1700}},
                                       {"1", {1000, 1000, 1000}}};
enum { RATIOS = sizeof ratios / sizeof ratios[0] };

/* Placements made while a pool was asked for more than there is of it. */
static uint64_t beyond[3];

/* At each start: what work holds of each pool, against the pool's capacity. */
static void check_ratios(const struct ratios *ratio)
{
	int64_t capacity_mgpu[3] = {0};

	for (size_t n = 0; n < world.node_count; n++)
		capacity_mgpu[number_of(world.nodes[n].pool)] +=
		    world.nodes[n].gpus * INT64_C(1000);
	for (size_t i = 0; i < world.place_count; i++) {
		int64_t held_mgpu[3] = {0}, t_ns = world.places[i].start_ns;

		for (size_t k = 0; k < world.place_count; k++)
			if (world.places[k].start_ns <= t_ns && t_ns < world.places[k].end_ns)
				held_mgpu[number_of(world.nodes[world.places[k].node].pool)] +=
				    world.places[k].gpus_mgpu;
		for (size_t pool = 0; pool < 3; pool++) {
			cr_assert_leq(held_mgpu[pool] * 1000,
			              capacity_mgpu[pool] * ratio->milli[pool],
			              "%s\npool %zu at %" PRId64 ": %" PRId64, world.text, pool,
			              t_ns, held_mgpu[pool]);
			beyond[pool] += held_mgpu[pool] > capacity_mgpu[pool];
		}
	}
}

static void run_worlds(bool at_random)
{
	memset(seen, 0, sizeof seen);
	memset(beyond, 0, sizeof beyond);
	for (uint64_t number = 0; number < WORLDS; number++) {
		const struct ratios *ratio = &ratios[number % RATIOS];

		world_make_walls(number);
		world_oversubscribe(number, ratio->text);
		const char *folder = world_folder("a");

		world_policy(at_random ? 0 : 1);
		world_run(folder);
		world_read(folder);
		check_walls();
		check_ratios(ratio);
		world_forget();
	}
	/* The walls were worth testing: work came to all the places it may go to. */
	cr_assert_gt(seen[0][0], 100);
	cr_assert_gt(seen[1][1], 100);
	for (size_t pool = 0; pool < 2; pool++)
		cr_assert_gt(seen[2][pool], 50);
	for (size_t pool = 0; pool < 3; pool++)
		cr_assert_gt(seen[3][pool], 20);
	for (size_t pool = 0; pool < 2; pool++)
		cr_assert_gt(beyond[pool], 10, "pool %zu: %" PRIu64, pool, beyond[pool]);
}

Test(pools, nothing_sits_outside_its_pool)
{
	run_worlds(false);
}

Test(pools, not_even_at_random)
{
	run_worlds(true);
}
