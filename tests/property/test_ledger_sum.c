/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whatever the levels do, and whoever holds what, the ledger's sum is capacity × time to
 * the last milli-GPU nanosecond, and one unit too many or too few is noticed.
 */
#include "sim/account/account.h"
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <signal.h>

enum { JOBS = 40, STEPS = 3000, CAPACITY_MGPU = 2048 * 1000 };

struct held {
	int64_t mgpu, since_ns, lost_ns;
	uint32_t account;
	enum tl_purpose purpose;
};

/* What a job held since then goes to its purpose; of productive work some may be lost. */
static void settle(struct tl_ledger *ledger, struct held *job, int64_t now_ns, struct tl_rng *rng)
{
	tl_i128 time = (tl_i128)job->mgpu * (now_ns - job->since_ns);

	tl_ledger_add(ledger, job->account, job->purpose, time);
	if (job->purpose == TL_PURPOSE_PRODUCTIVE && tl_rng_below(rng, 4) == 0)
		tl_ledger_move(ledger, job->account, TL_PURPOSE_PRODUCTIVE, TL_PURPOSE_REWORK,
		               time / 3);
	job->since_ns = now_ns;
}

static void random_run(uint64_t seed, int64_t error_mgpu_ns)
{
	struct tl_cluster cluster = {.view = {.capacity_mgpu = CAPACITY_MGPU}};
	struct tl_account_config config = {.cluster = &cluster};
	struct tl_levels levels = {.capacity_mgpu = CAPACITY_MGPU};
	const struct tl_run_counts counts = {0};
	struct held jobs[JOBS] = {0};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_account *account;
	struct tl_ledger *ledger;
	struct tl_rng rng;
	int64_t now_ns = 0;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 0);
	cr_assert_eq(tl_account_create(&config, &account, &error), TL_OK);
	ledger = tl_account_ledger(account);
	(void)tl_ledger_account(ledger, 0, 0, 0, 0);
	for (int step = 0; step < STEPS; step++) {
		struct held *job = &jobs[tl_rng_below(&rng, JOBS)];
		int64_t room;

		/* Sums pass 2^63 early in a run. */
		now_ns +=
		    (int64_t)tl_rng_below(&rng, 3) * (int64_t)tl_rng_below(&rng, UINT64_C(1) << 45);
		settle(ledger, job, now_ns, &rng);
		levels.allocated_mgpu -= job->mgpu;
		if (tl_rng_below(&rng, 50) == 0 && levels.allocated_mgpu < CAPACITY_MGPU)
			levels.down_mgpu = (int64_t)tl_rng_below(
			    &rng, (uint64_t)(CAPACITY_MGPU - levels.allocated_mgpu));
		room = CAPACITY_MGPU - levels.down_mgpu - levels.allocated_mgpu;
		job->mgpu = (int64_t)tl_rng_below(&rng, (uint64_t)room + 1) / 4;
		job->purpose = (enum tl_purpose)tl_rng_below(&rng, TL_PURPOSE_OF_JOBS);
		job->account = tl_ledger_account(ledger, (uint32_t)tl_rng_below(&rng, 9), 0,
		                                 (uint32_t)tl_rng_below(&rng, 3), 0);
		levels.allocated_mgpu += job->mgpu;
		levels.reserved_mgpu = (int64_t)tl_rng_below(&rng, CAPACITY_MGPU / 2);
		levels.waiting_jobs = (uint32_t)tl_rng_below(&rng, 2);
		tl_account_levels(account, now_ns, &levels);
	}
	now_ns += 12345;
	for (int i = 0; i < JOBS; i++)
		settle(ledger, &jobs[i], now_ns, &rng);
	ledger->idle[TL_PURPOSE_IDLE_FREE] += error_mgpu_ns;
	cr_assert_eq(tl_account_finish(account, now_ns, &counts, &error), TL_OK);
	cr_assert(tl_ledger_sum(ledger) == (tl_i128)CAPACITY_MGPU * now_ns);
	cr_assert(tl_ledger_sum(ledger) > INT64_MAX);
	tl_account_destroy(account);
}

Test(ledger_sum, is_capacity_times_time)
{
	for (uint64_t seed = 1; seed <= 100; seed++)
		random_run(seed, 0);
}

Test(ledger_sum, one_unit_too_many_trips, .signal = SIGABRT)
{
	random_run(1, 1);
}

Test(ledger_sum, one_unit_too_few_trips, .signal = SIGABRT)
{
	random_run(1, -1);
}
