/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every defrag module of the build on random worlds: each move is one that the host accepts, it
 * ends by itself, and what it does not want moved stays. Of `compact`, rule by rule.
 */
#include "sim/base/units.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROUNDS = 300, MOVES_MAX = 1000 };

static struct tl_world world;
static void *self;
static const struct tl_defrag_ops *ops;

static void make(const struct tl_module *module, const char *option, const char *value)
{
	char why[TL_MOCK_TEXT] = "";

	cr_assert_eq(tl_mock_create(&world.mock, module, option, value, &self, why), 0, "%s: %s",
	             module->name, why);
	ops = module->ops;
}

/* A world half full of running jobs that go on for long; every third serves requests. */
static void fill(uint64_t seed)
{
	tl_world_init(&world, seed, 12, 8);
	world.mock.deciding = 1;
	tl_world_fill(&world, 25);
	for (size_t i = 0; i < world.held_count; i++) {
		struct tl_job_view *job = tl_mock_at(&world.mock, world.held[i]);

		job->service = i % 3 == 0 ? 0 : TL_NO_INDEX;
		job->save_ns = 5 * TL_NS_PER_S;
		job->restart_ns = 45 * TL_NS_PER_S;
		job->expected_end_ns = i % 4 == 0 ? 10 * TL_NS_PER_S : TL_TIME_NEVER;
		if (i % 5 == 0)
			job->flags = 0;
	}
}

static uint32_t partly_used(void)
{
	const struct tl_view *view = world.mock.host.view(&world.mock.host);
	uint32_t count = 0;

	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);

		count += node->state == TL_NODE_UP && node->free_mgpu > 0 &&
		         node->free_mgpu < (int64_t)node->gpu_count * 1000;
	}
	return count;
}

/* Carries out a round: how many moves. */
static uint32_t round_of(const char *name)
{
	struct tl_move move;
	uint32_t moves = 0;

	for (;; moves++) {
		const struct tl_view *view = world.mock.host.view(&world.mock.host);

		cr_assert_lt(moves, MOVES_MAX, "%s never ends", name);
		memset(&move, 0xa5, sizeof move);
		if (ops->next(self, view, world.mock.now_ns, &move) != 1)
			return moves;
		const struct tl_job_view *job = tl_mock_at(&world.mock, move.job);

		cr_assert_not_null(job);
		const char *wrong = tl_suite_wrong(
		    view, world.mock.host.shape(&world.mock.host, job->shape), &move.where);

		cr_assert_null(wrong, "%s: %s", name, wrong);
		cr_assert(job->flags & TL_JOB_PREEMPTIBLE, "%s moves what must stay", name);
		cr_assert_eq(world.mock.host.migrate(&world.mock.host, move.job, &move.where),
		             TL_ACCEPTED, "%s", name);
	}
}

Test(defrag_modules, moves_are_legal_and_end)
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);
	uint32_t moves = 0, tested = 0;

	for (size_t m = 0; m < count; m++) {
		if (!modules[m].module || modules[m].module->seat != TL_SEAT_DEFRAG)
			continue;
		tested++;
		for (uint64_t seed = 0; seed < ROUNDS; seed++) {
			fill(seed);
			make(modules[m].module, NULL, NULL);
			moves += round_of(modules[m].name);
			tl_world_fini(&world);
		}
	}
	cr_assert_gt(tested, 0);
	cr_assert_gt(moves, 100);
}

Test(defrag_modules, compact_frees_nodes_within_its_bounds)
{
	uint32_t freed = 0, moved = 0;

	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		fill(seed);
		make(tl_suite_find(TL_SEAT_DEFRAG, "compact"), "gangs", "false");
		uint32_t before = partly_used();
		uint32_t moves = round_of("compact");

		cr_assert_leq(moves, 16);
		cr_assert_leq(partly_used(), before, "seed %d: more nodes are in pieces",
		              (int)seed);
		freed += before - partly_used();
		moved += moves;
		tl_world_fini(&world);
		fill(seed);
		make(tl_suite_find(TL_SEAT_DEFRAG, "compact"), "moves", "3");
		cr_assert_leq(round_of("compact"), 3);
		tl_world_fini(&world);
	}
	cr_assert_gt(freed, 50);
	cr_assert_gt(moved, 50);
}

Test(defrag_modules, compact_moves_nothing_that_is_not_worth_it)
{
	uint32_t moves[3] = {0};
	static const char *const worth[3] = {"0s", "20s", "1h"};

	for (int w = 0; w < 3; w++)
		for (uint64_t seed = 0; seed < ROUNDS; seed++) {
			fill(seed);
			make(tl_suite_find(TL_SEAT_DEFRAG, "compact"), "worth", worth[w]);
			moves[w] += round_of("compact");
			tl_world_fini(&world);
		}
	cr_assert_eq(moves[0], 0);
	cr_assert_gt(moves[1], 0);
	cr_assert_gt(moves[2], moves[1]);
}

Test(defrag_modules, compact_leaves_services_and_who_ends_soon)
{
	uint32_t moved[2] = {0};

	for (int services = 0; services < 2; services++)
		for (uint64_t seed = 0; seed < ROUNDS; seed++) {
			struct tl_move move;

			fill(seed);
			make(tl_suite_find(TL_SEAT_DEFRAG, "compact"), "services",
			     services ? "true" : "false");
			while (ops->next(self, world.mock.host.view(&world.mock.host), 0, &move) ==
			       1) {
				const struct tl_job_view *job = tl_mock_at(&world.mock, move.job);

				cr_assert_eq(job->expected_end_ns, TL_TIME_NEVER);
				moved[services] += job->service != TL_NO_INDEX;
				world.mock.host.migrate(&world.mock.host, move.job, &move.where);
			}
			tl_world_fini(&world);
		}
	cr_assert_eq(moved[0], 0);
	cr_assert_gt(moved[1], 0);
}

/* ---- gangs ------------------------------------------------------------------------------ */

static struct tl_gpu_model models[1] = {{.name = "a", .memory_bytes = -1}};
static struct tl_node_spec nodes[4] = {{.gpus = 2, .cpu_milli = 1000, .ram_bytes = 1},
                                       {.gpus = 2, .cpu_milli = 1000, .ram_bytes = 1, .rack = 1},
                                       {.gpus = 2, .cpu_milli = 1000, .ram_bytes = 1, .rack = 2},
                                       {.gpus = 2, .cpu_milli = 1000, .ram_bytes = 1, .rack = 2}};
static const struct tl_cluster_spec spec = {
    .name = "racks", .models = models, .model_count = 1, .nodes = nodes, .node_count = 4};

/* Two workers of two GPUs in two racks; a third rack is free. */
static void check_gang(const char *option, const char *value, bool moves)
{
	uint32_t on[2] = {0, 1}, gpus[4] = {0, 1, 2, 3};
	const struct tl_placement where = {
	    .nodes = on, .gpus = gpus, .worker_count = 2, .gpu_count = 4};
	const struct tl_worker worker = {.gpus = 2, .share_mgpu = 1000};
	struct tl_move move;

	tl_mock_init(&world.mock, &spec);
	world.mock.deciding = 1;
	uint32_t shape = tl_mock_shape(&world.mock, &(struct tl_shape){.workers = 2,
	                                                               .full = worker,
	                                                               .last = worker,
	                                                               .model_mask = UINT64_MAX});
	tl_job_id id = tl_mock_job(&world.mock, &(struct tl_job_view){.shape = shape,
	                                                              .service = TL_NO_INDEX,
	                                                              .flags = TL_JOB_PREEMPTIBLE});

	cr_assert_eq(world.mock.host.start(&world.mock.host, id, &where), TL_ACCEPTED);
	tl_mock_at(&world.mock, id)->restart_ns = 60 * TL_NS_PER_S;
	tl_mock_at(&world.mock, id)->expected_end_ns = TL_TIME_NEVER;
	make(tl_suite_find(TL_SEAT_DEFRAG, "compact"), option, value);
	const struct tl_view *view = world.mock.host.view(&world.mock.host);

	cr_assert_eq(ops->next(self, view, 0, &move), moves);
	if (moves) {
		cr_assert_eq(move.job, id);
		cr_assert_eq(move.where.worker_count, 2);
		cr_assert_eq(tl_view_node(view, move.where.nodes[0])->rack, 2);
		cr_assert_eq(tl_view_node(view, move.where.nodes[1])->rack, 2);
		cr_assert_eq(world.mock.host.migrate(&world.mock.host, id, &move.where),
		             TL_ACCEPTED);
		cr_assert_eq(ops->next(self, view, 0, &move), 0, "it is together now");
	}
	tl_mock_fini(&world.mock);
}

Test(defrag_modules, compact_gathers_gangs)
{
	check_gang(NULL, NULL, true);
	check_gang("gangs", "false", false);
	check_gang("worth", "59s", false);
	check_gang("worth", "60s", true);
}
