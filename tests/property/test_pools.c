/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small random worlds with walls between their nodes: whatever the policy (the pipeline's seats,
 * or one that decides at random), no worker of a job ever sits outside the pools it is bound to,
 * and work that is bound to none may sit in any.
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
		seen[entry][pool[0] == 'a' ? 0 : pool[0] == 'b' ? 1 : 2]++;
	}
}

static void run_worlds(bool at_random)
{
	memset(seen, 0, sizeof seen);
	for (uint64_t number = 0; number < WORLDS; number++) {
		world_make_walls(number);
		const char *folder = world_folder("a");

		world_policy(at_random ? 0 : 1);
		world_run(folder);
		world_read(folder);
		check_walls();
		world_forget();
	}
	/* The walls were worth testing: work came to all the places it may go to. */
	cr_assert_gt(seen[0][0], 100);
	cr_assert_gt(seen[1][1], 100);
	for (size_t pool = 0; pool < 2; pool++)
		cr_assert_gt(seen[2][pool], 50);
	for (size_t pool = 0; pool < 3; pool++)
		cr_assert_gt(seen[3][pool], 20);
}

Test(pools, nothing_sits_outside_its_pool)
{
	run_worlds(false);
}

Test(pools, not_even_at_random)
{
	run_worlds(true);
}
