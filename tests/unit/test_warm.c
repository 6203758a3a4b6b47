/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "sim/work/warm.h"

#include <criterion/criterion.h>

static struct tl_warm warm;
static uint32_t places[4] = {0, 1, 2, 0};

static void setup(void)
{
	tl_warm_init(&warm, 3);
}

static void teardown(void)
{
	tl_warm_fini(&warm);
}

TestSuite(warm, .init = setup, .fini = teardown);

static struct tl_alloc on(uint32_t first, uint32_t workers)
{
	return (struct tl_alloc){.nodes = places + first, .worker_count = workers};
}

Test(warm, the_longest_suspended_goes_first)
{
	struct tl_alloc node0 = on(0, 1);

	for (tl_job_id job = 11; job <= 13; job++)
		tl_warm_add(&warm, job, &node0, TL_GIB);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 3 * TL_GIB), 0, "what just fits stays");
	cr_assert_eq(tl_warm_overflow(&warm, 0, 3 * TL_GIB - 1), 11);
	tl_warm_remove(&warm, 11, &node0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 2 * TL_GIB), 0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 2 * TL_GIB - 1), 12);
	cr_assert_eq(tl_warm_overflow(&warm, 1, 0), 0, "other nodes hold nothing");
}

Test(warm, a_job_out_of_the_middle_leaves_the_order)
{
	struct tl_alloc node0 = on(0, 1);

	for (tl_job_id job = 1; job <= 3; job++)
		tl_warm_add(&warm, job, &node0, 10 * (int64_t)job);
	tl_warm_remove(&warm, 2, &node0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 40), 0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 39), 1);
	tl_warm_remove(&warm, 1, &node0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 29), 3);
}

Test(warm, a_gang_leaves_memory_with_each_of_its_workers)
{
	struct tl_alloc gang = on(0, 4); /* twice on node 0 */

	tl_warm_add(&warm, 9, &gang, 100);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 199), 9, "two workers there");
	cr_assert_eq(tl_warm_overflow(&warm, 0, 200), 0);
	cr_assert_eq(tl_warm_overflow(&warm, 2, 99), 9);
	tl_warm_remove(&warm, 9, &gang);
	for (uint32_t node = 0; node < 3; node++)
		cr_assert_eq(tl_warm_overflow(&warm, node, -1), 0, "a lost node keeps nothing");
}

Test(warm, a_lost_node_is_emptied_job_by_job)
{
	struct tl_alloc node0 = on(0, 1);
	tl_job_id gone = 0;
	int count = 0;

	for (tl_job_id job = 1; job <= 5; job++)
		tl_warm_add(&warm, job, &node0, 0);
	while ((gone = tl_warm_overflow(&warm, 0, -1)) != 0) {
		tl_warm_remove(&warm, gone, &node0);
		count++;
	}
	cr_assert_eq(count, 5, "even those that hold nothing");
}

Test(warm, removing_a_stranger_changes_nothing)
{
	struct tl_alloc node0 = on(0, 1);

	tl_warm_add(&warm, 1, &node0, 10);
	tl_warm_remove(&warm, 2, &node0);
	cr_assert_eq(tl_warm_overflow(&warm, 0, 9), 1);
}
