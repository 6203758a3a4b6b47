/* SPDX-License-Identifier: GPL-3.0-or-later */
/* F_n by hand, and against its definition term by term. */
#include "policies/lib/fragmentation.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { ROUNDS = 300, NODES_A_ROUND = 100, TASKS = 300 };

static struct tl_fragmentation *frag;

static void set_up(void)
{
	frag = tl_calloc(1, sizeof *frag);
}

static void tear_down(void)
{
	free(frag);
}

TestSuite(fragmentation, .init = set_up, .fini = tear_down);

static struct tl_frag_task task(uint32_t gpus, int32_t share, int64_t cpu, uint64_t count)
{
	return (struct tl_frag_task){.cpu_milli = cpu,
	                             .model_mask = UINT64_MAX,
	                             .count = count,
	                             .gpus = gpus,
	                             .share_mgpu = share};
}

static struct tl_frag_node node_of(int64_t cpu, uint32_t count, const int32_t *free_mgpu)
{
	struct tl_frag_node node = {.cpu_milli = cpu, .gpu_count = count};

	for (uint32_t g = 0; g < count; g++) {
		node.free_mgpu[g] = free_mgpu[g];
		node.sum_mgpu += free_mgpu[g];
	}
	return node;
}

/* Half the tasks ask 0.5 of a card, a quarter one card, a quarter no GPU. */
Test(fragmentation, by_hand)
{
	struct tl_frag_task tasks[] = {task(1, 500, 4000, 2), task(1, 1000, 8000, 1),
	                               task(0, 0, 1000, 1)};
	struct tl_frag_node node = node_of(8000, 3, (int32_t[]){1000, 600, 300});

	tl_frag_build(frag, tasks, 3);
	cr_assert_eq(frag->total, 4);
	/* 0.5: 300 of 1,900 are of no use, twice; 1.0: 900; no GPU: 1,900. */
	cr_assert_eq(tl_frag_of(frag, &node), 2 * 300 + 900 + 1900);
	node.cpu_milli = 5000; /* the whole card's CPU is gone: all is lost to it */
	cr_assert_eq(tl_frag_of(frag, &node), 2 * 300 + 1900 + 1900);
	node.cpu_milli = 0;
	cr_assert_eq(tl_frag_of(frag, &node), 4 * 1900);
}

Test(fragmentation, several_gpus_and_models)
{
	struct tl_frag_task tasks[] = {task(2, 1000, 0, 3), task(1, 1000, 0, 1)};
	struct tl_frag_node one = node_of(1, 2, (int32_t[]){1000, 900});
	struct tl_frag_node two = node_of(1, 2, (int32_t[]){1000, 1000});

	tasks[0].model_mask = 2;
	two.model = one.model = 1;
	tl_frag_build(frag, tasks, 2);
	cr_assert_eq(tl_frag_of(frag, &one), 3 * 1900 + 900);
	cr_assert_eq(tl_frag_of(frag, &two), 0);
	two.model = 0;
	cr_assert_eq(tl_frag_of(frag, &two), 3 * 2000,
	             "of a model that the two-GPU tasks do not accept");
}

Test(fragmentation, keeps_the_most_frequent_95_percent)
{
	struct tl_frag_task tasks[] = {task(1, 100, 1, 4), task(1, 200, 1, 50), task(1, 300, 1, 45),
	                               task(1, 400, 1, 1)};

	tl_frag_build(frag, tasks, 4);
	cr_assert_eq(frag->task_count, 2, "50 + 45 of 100 are 95 %%");
	cr_assert_eq(frag->total, 95);
	cr_assert_eq(frag->tasks[0].share_mgpu, 200);
	tasks[0].count = 6;
	tl_frag_build(frag, tasks, 4);
	cr_assert_eq(frag->task_count, 3, "95 of 102 are less");
}

Test(fragmentation, adds_up_shapes)
{
	struct tl_frag_task tasks[8];
	struct tl_shape gang = {.workers = 4,
	                        .model_mask = UINT64_MAX,
	                        .full = {.gpus = 8, .share_mgpu = 1000, .cpu_milli = 64},
	                        .last = {.gpus = 2, .share_mgpu = 1000, .cpu_milli = 16}};
	struct tl_shape single = {
	    .workers = 1, .model_mask = UINT64_MAX, .full = gang.last, .last = gang.last};
	size_t length = tl_frag_add_shape(tasks, 0, &gang, 10);

	length = tl_frag_add_shape(tasks, length, &single, 5);
	cr_assert_eq(length, 2, "each worker is a task, and like ones are one");
	cr_assert_eq(tasks[0].count, 30);
	cr_assert_eq(tasks[1].count, 15);
}

Test(fragmentation, nothing_known_is_no_fragmentation)
{
	struct tl_node_view node = {.free_mgpu = 500};

	tl_frag_build(frag, NULL, 0);
	cr_assert_eq(tl_frag_mgpu(frag, NULL, &node), 0);
}

/* The definition, read aloud. */
static int64_t by_definition(const struct tl_frag_node *node)
{
	int64_t sum = 0;

	for (uint32_t t = 0; t < frag->task_count; t++) {
		const struct tl_frag_task *m = &frag->tasks[t];
		int64_t small = 0;
		uint32_t able = 0;
		int can_run;

		for (uint32_t g = 0; g < node->gpu_count; g++) {
			if (node->free_mgpu[g] < m->share_mgpu)
				small += node->free_mgpu[g];
			else
				able++;
		}
		can_run = m->gpus > 0 && able >= m->gpus && node->cpu_milli >= m->cpu_milli &&
		          (m->model_mask >> node->model & 1);
		sum += (int64_t)m->count * (can_run ? small : node->sum_mgpu);
	}
	return sum;
}

Test(fragmentation, agrees_with_its_definition)
{
	static struct tl_frag_task tasks[TASKS];
	struct tl_rng rng;

	tl_rng_init(&rng, 1, TL_STREAM_TEST, 3);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		size_t count = 1 + tl_rng_below(&rng, TASKS);

		for (size_t t = 0; t < count; t++) {
			uint32_t gpus = (uint32_t)tl_rng_below(&rng, 5);

			tasks[t] = task(
			    gpus, gpus ? 10 * (1 + (int32_t)tl_rng_below(&rng, 100)) : 0,
			    1000 * (int64_t)tl_rng_below(&rng, 40), 1 + tl_rng_below(&rng, 200));
			if (gpus && tl_rng_below(&rng, 2))
				tasks[t].model_mask = 1 + tl_rng_below(&rng, 7);
		}
		tl_frag_build(frag, tasks, count);
		for (uint32_t n = 0; n < NODES_A_ROUND; n++) {
			int32_t free_mgpu[8];
			struct tl_frag_node node;

			for (uint32_t g = 0; g < 8; g++)
				free_mgpu[g] = tl_rng_below(&rng, 2)
				                   ? 1000
				                   : 10 * (int32_t)tl_rng_below(&rng, 101);
			node = node_of(1000 * (int64_t)tl_rng_below(&rng, 45),
			               (uint32_t)tl_rng_below(&rng, 9), free_mgpu);
			node.model = (uint32_t)tl_rng_below(&rng, 3);
			cr_assert_eq(tl_frag_of(frag, &node), by_definition(&node));
		}
	}
}
