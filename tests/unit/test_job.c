/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The eight-state machine: all 64 transitions, and the table of live jobs. */
#include "sim/work/job.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <signal.h>
#include <string.h>

enum { STATES = TL_JOB_STATE_COUNT, MOVES = STATES * STATES };

/* Written out, row by row, apart from the code: from each state, where a job may go.
 * P S R G(suspending) D(suspended) E(resuming) K(succeeded) F */
static const char legal[STATES][STATES + 1] = {
    /*                     PSRGDEKF */
    [TL_JOB_PENDING] = "01000001",   [TL_JOB_SCHEDULED] = "10100001",
    [TL_JOB_RUNNING] = "00011011",   [TL_JOB_SUSPENDING] = "00001101",
    [TL_JOB_SUSPENDED] = "00000101", [TL_JOB_RESUMING] = "00101001",
    [TL_JOB_SUCCEEDED] = "00000000", [TL_JOB_FAILED] = "00000000",
};

/* How a new job gets into each state. */
static const enum tl_job_state ways[STATES][4] = {
    [TL_JOB_PENDING] = {TL_JOB_PENDING},
    [TL_JOB_SCHEDULED] = {TL_JOB_SCHEDULED},
    [TL_JOB_RUNNING] = {TL_JOB_SCHEDULED, TL_JOB_RUNNING},
    [TL_JOB_SUSPENDING] = {TL_JOB_SCHEDULED, TL_JOB_RUNNING, TL_JOB_SUSPENDING},
    [TL_JOB_SUSPENDED] = {TL_JOB_SCHEDULED, TL_JOB_RUNNING, TL_JOB_SUSPENDED},
    [TL_JOB_RESUMING] = {TL_JOB_SCHEDULED, TL_JOB_RUNNING, TL_JOB_SUSPENDED, TL_JOB_RESUMING},
    [TL_JOB_SUCCEEDED] = {TL_JOB_SCHEDULED, TL_JOB_RUNNING, TL_JOB_SUCCEEDED},
    [TL_JOB_FAILED] = {TL_JOB_FAILED},
};

static const struct tl_shape shape = {.id = 3, .workers = 2, .gpus = 4, .total_mgpu = 4000};
static struct tl_job_table table;

static void setup(void)
{
	tl_job_table_init(&table);
}

static void teardown(void)
{
	tl_job_table_fini(&table);
}

TestSuite(job, .init = setup, .fini = teardown);

static tl_job_id in_state(enum tl_job_state state)
{
	tl_job_id id = tl_job_table_add(&table, &shape, 0);

	for (size_t i = 0; i < 4 && tl_job_view_of(&table, id)->state != state; i++)
		tl_job_set_state(&table, id, ways[state][i], 0);
	cr_assert_eq(tl_job_view_of(&table, id)->state, state);
	return id;
}

Test(job, all_64_transitions_against_the_table)
{
	for (int from = 0; from < STATES; from++)
		for (int to = 0; to < STATES; to++)
			cr_assert_eq(
			    tl_job_transition_legal((enum tl_job_state)from, (enum tl_job_state)to),
			    legal[from][to] == '1', "%s -> %s", tl_schema_state_names[from],
			    tl_schema_state_names[to]);
}

Test(job, every_legal_transition_is_carried_out)
{
	for (int from = 0; from < STATES; from++)
		for (int to = 0; to < STATES; to++) {
			if (legal[from][to] != '1')
				continue;
			tl_job_id id = in_state((enum tl_job_state)from);
			uint32_t was = table.in_state[from], is = table.in_state[to];

			tl_job_set_state(&table, id, (enum tl_job_state)to, 7);
			cr_assert_eq(tl_job_view_of(&table, id)->state, to);
			cr_assert_eq(tl_job_of(&table, id)->in_state_ns[from], 7);
			cr_assert_eq(table.in_state[from], was - 1);
			cr_assert_eq(table.in_state[to], is + 1);
		}
}

ParameterizedTestParameters(job, an_illegal_transition_aborts)
{
	static int moves[MOVES];
	size_t count = 0;

	for (int from = 0; from < STATES; from++)
		for (int to = 0; to < STATES; to++)
			if (legal[from][to] == '0')
				moves[count++] = from * STATES + to;
	return cr_make_param_array(int, moves, count);
}

ParameterizedTest(const int *move, job, an_illegal_transition_aborts, .signal = SIGABRT)
{
	tl_job_id id = in_state((enum tl_job_state)(*move / STATES));

	tl_job_set_state(&table, id, (enum tl_job_state)(*move % STATES), 1);
}

Test(job, lists_and_demand_follow_the_state)
{
	tl_job_id a = tl_job_table_add(&table, &shape, 10),
		  b = tl_job_table_add(&table, &shape, 10);

	cr_assert_eq(table.waiting.count, 2);
	cr_assert_eq(table.waiting_mgpu, 8000);
	cr_assert_eq(tl_job_view_of(&table, a)->waiting_since_ns, 10);
	tl_job_set_state(&table, a, TL_JOB_SCHEDULED, 20);
	cr_assert_eq(table.waiting.count, 1);
	cr_assert_eq(table.waiting.ids[0], b);
	cr_assert_eq(table.holding.ids[0], a);
	cr_assert_eq(table.waiting_mgpu, 4000);
	cr_assert_eq(tl_job_view_of(&table, a)->waiting_since_ns, TL_NONE);
	tl_job_set_state(&table, a, TL_JOB_RUNNING, 30);
	tl_job_set_state(&table, a, TL_JOB_SUSPENDING, 35);
	cr_assert_eq(table.holding.count, 1);
	tl_job_set_state(&table, a, TL_JOB_SUSPENDED, 41);
	cr_assert_eq(table.holding.count, 0);
	cr_assert_eq(table.waiting_mgpu, 8000);
	cr_assert_eq(tl_job_view_of(&table, a)->waiting_since_ns, 41);
	const int64_t *spent = tl_job_of(&table, a)->in_state_ns;

	cr_assert(spent[TL_JOB_PENDING] == 10 && spent[TL_JOB_SCHEDULED] == 10 &&
	          spent[TL_JOB_RUNNING] == 5 && spent[TL_JOB_SUSPENDING] == 6);
}

Test(job, an_id_goes_stale_with_its_job_and_a_slot_is_used_again)
{
	tl_job_id old = in_state(TL_JOB_FAILED);

	cr_assert_not_null(tl_job_table_get(&table, old));
	tl_job_table_remove(&table, old);
	cr_assert_null(tl_job_table_get(&table, old));
	tl_job_id fresh = tl_job_table_add(&table, &shape, 0);

	cr_assert_eq(TL_JOB_SLOT(fresh), TL_JOB_SLOT(old));
	cr_assert_neq(fresh, old);
	cr_assert_null(tl_job_table_get(&table, old), "the old id does not name the new job");
	cr_assert_not_null(tl_job_table_get(&table, fresh));
	cr_assert_gt(tl_job_view_of(&table, fresh)->sequence, 0u);
}

Test(job, ids_that_never_were_are_stale)
{
	static const tl_job_id wrong[] = {0, 1, UINT64_MAX, UINT64_C(1) << 32 | 99, UINT32_MAX};

	(void)tl_job_table_add(&table, &shape, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		cr_assert_null(tl_job_table_get(&table, wrong[i]));
}

Test(job, a_generation_that_wraps_skips_zero)
{
	tl_job_id id = in_state(TL_JOB_FAILED);

	table.generations[TL_JOB_SLOT(id)] = UINT32_MAX;
	tl_job_table_remove(&table, id);
	cr_assert_neq(tl_job_table_add(&table, &shape, 0), 0u);
}

Test(job, removing_a_live_job_aborts, .signal = SIGABRT)
{
	tl_job_table_remove(&table, tl_job_table_add(&table, &shape, 0));
}

Test(job, removing_twice_aborts, .signal = SIGABRT)
{
	tl_job_id id = in_state(TL_JOB_FAILED);

	tl_job_table_remove(&table, id);
	tl_job_table_remove(&table, id);
}

Test(job, allocations_are_copied_and_used_again)
{
	uint32_t nodes[2] = {4, 5}, gpus[4] = {30, 31, 40, 41};
	const struct tl_placement where = {
	    .nodes = nodes, .gpus = gpus, .worker_count = 2, .gpu_count = 4};
	struct tl_alloc alloc = tl_job_table_take_alloc(&table, &shape, &where);
	const uint32_t *block = alloc.nodes;

	memset(nodes, 0xff, sizeof nodes);
	memset(gpus, 0xff, sizeof gpus);
	cr_assert(alloc.nodes[0] == 4 && alloc.nodes[1] == 5 && alloc.worker_count == 2);
	cr_assert(alloc.gpus[0] == 30 && alloc.gpus[3] == 41 && alloc.gpu_count == 4);
	tl_job_table_put_alloc(&table, &alloc);
	cr_assert_null(alloc.nodes);
	alloc = tl_job_table_take_alloc(&table, &shape, &where);
	cr_assert_eq(alloc.nodes, block, "no new memory in the steady state");
	tl_job_table_put_alloc(&table, &alloc);
}

Test(job, memory_follows_the_live_jobs)
{
	for (int round = 0; round < 10000; round++)
		tl_job_table_remove(&table, in_state(TL_JOB_SUCCEEDED));
	cr_assert_eq(table.slot_count, 1);
	cr_assert_eq(table.in_state[TL_JOB_SUCCEEDED], 0);
	cr_assert_eq(table.waiting_mgpu, 0);
}
