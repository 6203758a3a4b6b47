/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Saves that share the storage, worked out by hand. */
#include "sim/base/units.h"
#include "sim/work/storage.h"

#include <criterion/criterion.h>
#include <signal.h>

#define GB INT64_C(1000000000)

static struct tl_storage storage;
static int in_time;

static void setup(void)
{
	tl_storage_init(&storage, GB, 10 * GB);
}

static void teardown(void)
{
	tl_storage_fini(&storage);
}

TestSuite(storage, .init = setup, .fini = teardown);

Test(storage, ten_writers_go_at_full_speed_and_an_eleventh_slows_all)
{
	for (tl_job_id job = 1; job <= 10; job++)
		tl_storage_add(&storage, job, 4 * TL_NS_PER_S, TL_NEVER);
	cr_assert_eq(tl_storage_speed_ppb(&storage), TL_PPB);
	tl_storage_add(&storage, 11, 4 * TL_NS_PER_S, TL_NEVER);
	cr_assert_eq(tl_storage_speed_ppb(&storage), INT64_C(909090909), "10/11, rounded down");
}

Test(storage, twenty_writers_take_twice_as_long)
{
	for (tl_job_id job = 1; job <= 20; job++)
		cr_assert_eq(tl_storage_add(&storage, job, 4 * TL_NS_PER_S, 100 * TL_NS_PER_S),
		             job - 1);
	for (uint32_t i = 0; i < 20; i++) {
		cr_assert_eq(tl_storage_end(&storage, i, &in_time), 8 * TL_NS_PER_S);
		cr_assert(in_time);
	}
	/* At 4 s half is written; ten leave, and the rest has full speed: 2 s more. */
	tl_storage_settle(&storage, 4 * TL_NS_PER_S);
	for (uint32_t i = 20; i-- > 10;)
		cr_assert_eq(tl_storage_remove(&storage, i), 0, "the last one moves none");
	cr_assert_eq(tl_storage_end(&storage, 0, &in_time), 6 * TL_NS_PER_S);
}

Test(storage, a_grace_that_is_up_ends_a_save_that_is_not_whole)
{
	uint32_t save = tl_storage_add(&storage, 7, 5 * TL_NS_PER_S, 5 * TL_NS_PER_S - 1);

	cr_assert_eq(tl_storage_end(&storage, save, &in_time), 5 * TL_NS_PER_S - 1);
	cr_assert_not(in_time);
}

Test(storage, a_save_that_ends_with_its_grace_is_whole)
{
	uint32_t save = tl_storage_add(&storage, 7, 5 * TL_NS_PER_S, 5 * TL_NS_PER_S);

	cr_assert_eq(tl_storage_end(&storage, save, &in_time), 5 * TL_NS_PER_S);
	cr_assert(in_time);
}

Test(storage, removing_says_who_has_the_index_now)
{
	tl_storage_add(&storage, 101, 1, TL_NEVER);
	tl_storage_add(&storage, 102, 2, TL_NEVER);
	tl_storage_add(&storage, 103, 3, TL_NEVER);
	cr_assert_eq(tl_storage_remove(&storage, 0), 103);
	cr_assert_eq(storage.saves[0].job, 103);
	cr_assert_eq(storage.saves[0].left_ns, 3);
	cr_assert_eq(tl_storage_remove(&storage, 1), 0);
	cr_assert_eq(storage.count, 1);
}

Test(storage, what_is_done_is_not_done_again)
{
	uint32_t save = tl_storage_add(&storage, 1, TL_NS_PER_S, TL_NEVER);

	tl_storage_settle(&storage, 3 * TL_NS_PER_S);
	cr_assert_eq(storage.saves[save].left_ns, 0, "never below zero");
	cr_assert_eq(tl_storage_end(&storage, save, &in_time), 3 * TL_NS_PER_S);
}

Test(storage, a_trickle_still_has_a_speed)
{
	tl_storage_fini(&storage);
	tl_storage_init(&storage, INT64_C(1000000000000000), 1000);
	for (tl_job_id job = 1; job <= 100; job++)
		tl_storage_add(&storage, job, 1, TL_NEVER);
	cr_assert_eq(tl_storage_speed_ppb(&storage), 1);
}

Test(storage, removing_what_is_not_there_is_an_error_of_ours, .signal = SIGABRT)
{
	tl_storage_remove(&storage, 0);
}
