/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/account/account.h"

#include <criterion/criterion.h>
#include <signal.h>

static struct tl_ledger ledger;

static void setup(void)
{
	tl_ledger_init(&ledger);
}

static void teardown(void)
{
	tl_ledger_fini(&ledger);
}

TestSuite(ledger, .init = setup, .fini = teardown);

Test(ledger, one_account_a_key_in_order_of_first_sight)
{
	cr_assert_eq(tl_ledger_account(&ledger, 7, 0, 1, 0), 0);
	cr_assert_eq(tl_ledger_account(&ledger, 7, 0, 1, 1), 1);
	cr_assert_eq(tl_ledger_account(&ledger, 7, 1, 0, 0), 2);
	cr_assert_eq(tl_ledger_account(&ledger, 0, 7, 1, 0), 3);
	cr_assert_eq(tl_ledger_account(&ledger, 7, 0, 1, 0), 0);
	cr_assert_eq(ledger.count, 4);
}

Test(ledger, many_accounts_are_found_again)
{
	for (uint32_t i = 0; i < 5000; i++)
		cr_assert_eq(tl_ledger_account(&ledger, i % 1000, i / 1000, i % 3, 0), i);
	for (uint32_t i = 0; i < 5000; i++)
		cr_assert_eq(tl_ledger_account(&ledger, i % 1000, i / 1000, i % 3, 0), i);
}

Test(ledger, adds_moves_and_totals)
{
	uint32_t a = tl_ledger_account(&ledger, 0, 0, 0, 0);
	uint32_t b = tl_ledger_account(&ledger, 1, 0, 0, 0);

	tl_ledger_add(&ledger, a, TL_PURPOSE_PRODUCTIVE, 100);
	tl_ledger_add(&ledger, b, TL_PURPOSE_PRODUCTIVE, 50);
	tl_ledger_add(&ledger, b, TL_PURPOSE_START, 7);
	tl_ledger_move(&ledger, a, TL_PURPOSE_PRODUCTIVE, TL_PURPOSE_REWORK, 100);
	cr_assert(tl_ledger_total(&ledger, TL_PURPOSE_PRODUCTIVE) == 50);
	cr_assert(tl_ledger_total(&ledger, TL_PURPOSE_REWORK) == 100);
	cr_assert(tl_ledger_total(&ledger, TL_PURPOSE_START) == 7);
	cr_assert(tl_ledger_sum(&ledger) == 157);
}

Test(ledger, holds_what_overflows_64_bits)
{
	uint32_t a = tl_ledger_account(&ledger, 0, 0, 0, 0);
	tl_i128 want = (tl_i128)INT64_MAX * 3;

	for (int i = 0; i < 3; i++)
		tl_ledger_add(&ledger, a, TL_PURPOSE_PRODUCTIVE, INT64_MAX);
	cr_assert(tl_ledger_sum(&ledger) == want);
}

struct idle_case {
	int64_t capacity, down, allocated, reserved;
	uint32_t waiting;
	int64_t want_reserved, want_fragmented, want_free;
};

Test(ledger, idle_time_by_what_stands)
{
	static const struct idle_case cases[] = {
	    {8000, 0, 0, 0, 0, 0, 0, 8000},       /* nothing to do */
	    {8000, 0, 3000, 0, 2, 0, 5000, 0},    /* work waits */
	    {8000, 1000, 3000, 0, 0, 0, 0, 4000}, /* down is not idle */
	    {8000, 1000, 3000, 1500, 1, 1500, 2500, 0},
	    {8000, 0, 7000, 4000, 1, 1000, 0, 0}, /* reserved but still held */
	    {8000, 8000, 0, 4000, 1, 0, 0, 0},
	    {8000, 0, 3000, 1000, 0, 1000, 0, 4000},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tl_levels levels = {.capacity_mgpu = cases[i].capacity,
		                           .down_mgpu = cases[i].down,
		                           .allocated_mgpu = cases[i].allocated,
		                           .reserved_mgpu = cases[i].reserved,
		                           .waiting_jobs = cases[i].waiting};
		struct tl_ledger own;

		tl_ledger_init(&own);
		tl_ledger_idle(&own, &levels, 10);
		cr_assert(own.idle[TL_PURPOSE_IDLE_RESERVED] == 10 * cases[i].want_reserved,
		          "case %zu", i);
		cr_assert(own.idle[TL_PURPOSE_IDLE_FRAGMENTED] == 10 * cases[i].want_fragmented,
		          "case %zu", i);
		cr_assert(own.idle[TL_PURPOSE_IDLE_FREE] == 10 * cases[i].want_free, "case %zu", i);
		cr_assert(own.idle[TL_PURPOSE_DOWN] == 10 * cases[i].down, "case %zu", i);
		tl_ledger_fini(&own);
	}
}

Test(ledger, over_allocation_trips, .signal = SIGABRT)
{
	struct tl_levels levels = {
	    .capacity_mgpu = 8000, .down_mgpu = 1000, .allocated_mgpu = 7001};

	tl_ledger_idle(&ledger, &levels, 1);
}

Test(ledger, moving_more_than_is_there_trips, .signal = SIGABRT)
{
	uint32_t a = tl_ledger_account(&ledger, 0, 0, 0, 0);

	tl_ledger_add(&ledger, a, TL_PURPOSE_PRODUCTIVE, 10);
	tl_ledger_move(&ledger, a, TL_PURPOSE_PRODUCTIVE, TL_PURPOSE_REWORK, 11);
}

Test(ledger, a_negative_time_trips, .signal = SIGABRT)
{
	uint32_t a = tl_ledger_account(&ledger, 0, 0, 0, 0);

	tl_ledger_add(&ledger, a, TL_PURPOSE_START, -1);
}

Test(ledger, idle_time_of_a_job_trips, .signal = SIGABRT)
{
	uint32_t a = tl_ledger_account(&ledger, 0, 0, 0, 0);

	tl_ledger_add(&ledger, a, TL_PURPOSE_IDLE_FREE, 1);
}

Test(ledger, an_unknown_account_trips, .signal = SIGABRT)
{
	tl_ledger_add(&ledger, 0, TL_PURPOSE_START, 1);
}
