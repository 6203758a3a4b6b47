/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What each place policy is for, on worlds small enough to see the right answer. */
#include "sim/base/units.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <string.h>

enum { NODES = 8, GPUS = 8, DRAWS = 4000 };

/* Eight nodes of eight GPUs: two a rack, four a leaf, all one pod. */
static struct tl_node_spec nodes[NODES];
static struct tl_gpu_model model = {.name = "a", .memory_bytes = 80 * TL_GIB};
static struct tl_cluster_spec spec = {
    .models = &model, .model_count = 1, .nodes = nodes, .node_count = NODES};
static struct tl_mock mock;
static void *self;
static const struct tl_place_ops *ops;

static void set_up(void)
{
	for (uint32_t n = 0; n < NODES; n++)
		nodes[n] = (struct tl_node_spec){.gpus = GPUS,
		                                 .cpu_milli = 128000,
		                                 .ram_bytes = 1024 * TL_GIB,
		                                 .rack = n / 2,
		                                 .leaf = n / 4};
	tl_mock_init(&mock, &spec);
}

static void tear_down(void)
{
	tl_mock_fini(&mock);
}

TestSuite(place_policies, .init = set_up, .fini = tear_down);

static const struct tl_module *module_named(const char *name)
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);

	for (size_t m = 0; m < count; m++)
		if (strcmp(modules[m].name, name) == 0)
			return modules[m].module;
	return NULL;
}

static void use(const char *name, const char *option, const char *value)
{
	const struct tl_module *module = module_named(name);
	char why[TL_MOCK_TEXT] = "";

	cr_assert_not_null(module, "no module %s", name);
	ops = module->ops;
	cr_assert_eq(tl_mock_create(&mock, module, option, value, &self, why), 0, "%s", why);
}

static const struct tl_shape *shape(uint32_t workers, uint32_t gpus, int32_t share, int64_t cpu)
{
	struct tl_shape like = {
	    .workers = workers,
	    .model_mask = UINT64_MAX,
	    .expected_count = 1,
	    .full = {.gpus = gpus, .share_mgpu = gpus ? share : 0, .cpu_milli = cpu}};
	uint32_t number;

	like.last = like.full;
	number = tl_mock_shape(&mock, &like);
	return mock.shapes[number];
}

/* Takes these many cards of a node from its front, each in full or in part. */
static void occupy(uint32_t node, uint32_t first, uint32_t cards, int32_t share)
{
	for (uint32_t c = 0; c < cards; c++) {
		const struct tl_shape *one = shape(1, 1, share, 0);
		uint32_t gpu = node * GPUS + first + c;
		tl_job_id id = tl_mock_job(&mock, &(struct tl_job_view){.shape = one->id});

		cr_assert_eq(mock.host.start(&mock.host, id,
		                             &(struct tl_placement){.nodes = &node,
		                                                    .gpus = &gpu,
		                                                    .worker_count = 1,
		                                                    .gpu_count = 1}),
		             TL_ACCEPTED);
	}
}

struct answer {
	uint32_t nodes[NODES], gpus[NODES * GPUS];
	struct tl_placement where;
};

static struct answer *place(const struct tl_shape *what)
{
	static struct answer answer;

	answer.where = (struct tl_placement){.nodes = answer.nodes,
	                                     .gpus = answer.gpus,
	                                     .worker_room = NODES,
	                                     .gpu_room = NODES * GPUS};
	cr_assert_eq(ops->choose(self, &mock.cluster.view, what, &answer.where), 1);
	cr_assert_null(tl_suite_wrong(&mock.cluster.view, what, &answer.where));
	return &answer;
}

Test(place_policies, first_fit_takes_the_first)
{
	occupy(0, 0, 7, 1000);
	use("first-fit", NULL, NULL);
	cr_assert_eq(place(shape(1, 2, 1000, 0))->nodes[0], 1);
	cr_assert_eq(place(shape(1, 1, 1000, 0))->nodes[0], 0);
}

Test(place_policies, best_fit_leaves_least)
{
	occupy(3, 0, 5, 1000);
	occupy(5, 0, 6, 1000);
	use("best-fit", NULL, NULL);
	cr_assert_eq(place(shape(1, 2, 1000, 0))->nodes[0], 5);
	cr_assert_eq(place(shape(1, 3, 1000, 0))->nodes[0], 3);
}

Test(place_policies, best_fit_takes_the_tightest_card)
{
	occupy(0, 0, 1, 300);
	occupy(0, 1, 1, 600);
	use("best-fit", NULL, NULL);
	cr_assert_eq(place(shape(1, 1, 400, 0))->gpus[0], 1);
	cr_assert_eq(place(shape(1, 1, 500, 0))->gpus[0], 0);
}

Test(place_policies, best_fit_by_dimension)
{
	const struct tl_shape *hog = shape(1, 0, 0, 100000);
	uint32_t node = 2;
	tl_job_id id = tl_mock_job(&mock, &(struct tl_job_view){.shape = hog->id});

	cr_assert_eq(mock.host.start(&mock.host, id,
	                             &(struct tl_placement){.nodes = &node, .worker_count = 1}),
	             TL_ACCEPTED);
	occupy(6, 0, 1, 1000);
	use("best-fit", NULL, NULL);
	cr_assert_eq(place(shape(1, 1, 1000, 1000))->nodes[0], 2, "CPU counts");
	use("best-fit", "dimensions", "gpu");
	cr_assert_eq(place(shape(1, 1, 1000, 1000))->nodes[0], 6, "GPUs alone");
}

Test(place_policies, worst_fit_spreads)
{
	for (uint32_t n = 0; n < NODES; n++)
		if (n != 4)
			occupy(n, 0, 1, 500);
	use("worst-fit", NULL, NULL);
	cr_assert_eq(place(shape(1, 1, 500, 0))->nodes[0], 4);
	occupy(4, 0, GPUS, 200);
	occupy(4, 3, 1, 100);
	occupy(4, 0, 3, 300);
	for (uint32_t n = 0; n < NODES; n++)
		if (n != 4)
			occupy(n, 1, 4, 1000);
	cr_assert_eq(place(shape(1, 1, 500, 0))->gpus[0], 4 * GPUS + 4,
	             "the card with the most left");
}

Test(place_policies, random_is_even)
{
	const struct tl_shape *one = shape(1, 1, 500, 0);
	uint32_t hits[NODES] = {0}, cards[GPUS] = {0};

	use("random", NULL, NULL);
	for (uint32_t d = 0; d < DRAWS; d++) {
		struct answer *answer = place(one);

		hits[answer->nodes[0]]++;
		cards[answer->gpus[0] % GPUS]++;
		mock.cluster.view.version++; /* another view: another draw */
	}
	/* 4,000 draws of 1/8: 500, standard deviation 21. */
	for (uint32_t i = 0; i < NODES; i++) {
		cr_assert(hits[i] > 400 && hits[i] < 600, "node %u: %u of %d", i, hits[i], DRAWS);
	}
	cr_assert(cards[0] > 0 && cards[GPUS - 1] > 0);
}

Test(place_policies, topology_goes_up_the_levels)
{
	struct answer *answer;

	use("topology", NULL, NULL);
	for (uint32_t n = 0; n < NODES; n++)
		occupy(n, 0, n == 0 ? 6 : 4, 1000); /* free: 2 on node 0, 4 on the others */
	answer = place(shape(2, 2, 1000, 0));
	cr_assert(answer->nodes[0] == answer->nodes[1] && answer->nodes[0] == 1, "one node");
	answer = place(shape(2, 4, 1000, 0));
	cr_assert(answer->nodes[0] / 2 == answer->nodes[1] / 2 &&
	              answer->nodes[0] != answer->nodes[1],
	          "one rack");
	answer = place(shape(3, 4, 1000, 0));
	for (uint32_t w = 0; w < 3; w++)
		cr_assert_eq(answer->nodes[w] / 4, answer->nodes[0] / 4, "one leaf");
	cr_assert_eq(answer->nodes[0] / 4, 0, "the tighter leaf");
	answer = place(shape(7, 4, 1000, 0));
	cr_assert_eq(answer->where.worker_count, 7, "anywhere");
}

Test(place_policies, topology_keeps_pairs)
{
	struct answer *answer;

	use("topology", NULL, NULL);
	for (uint32_t n = 1; n < NODES; n++)
		occupy(n, 0, GPUS, 1000);
	occupy(0, 1, 1, 1000); /* breaks the first pair */
	answer = place(shape(1, 1, 1000, 0));
	cr_assert_eq(answer->gpus[0], 0, "a single one from the broken pair");
	answer = place(shape(1, 2, 1000, 0));
	cr_assert(answer->gpus[0] == 2 && answer->gpus[1] == 3, "an intact pair");
	answer = place(shape(1, 4, 1000, 0));
	for (uint32_t i = 0; i < 4; i++)
		cr_assert_eq(answer->gpus[i], 2 + i, "pairs side by side");
	answer = place(shape(1, 5, 1000, 0));
	cr_assert_eq(answer->gpus[4], 0, "the odd one from the broken pair");
	answer = place(shape(1, 7, 1000, 0));
	cr_assert_eq(answer->where.gpu_count, 7);
}

Test(place_policies, topology_prefers_cards_side_by_side)
{
	use("topology", NULL, NULL);
	for (uint32_t c = 0; c < GPUS; c += 2)
		occupy(0, c, 1, 1000); /* node 0: four free, no pair */
	occupy(1, 0, 2, 1000);         /* node 1: six free, three pairs */
	cr_assert_eq(place(shape(1, 4, 1000, 0))->nodes[0], 1);
	cr_assert_eq(place(shape(1, 1, 1000, 0))->nodes[0], 0);
}

Test(place_policies, gpu_packing_in_its_order)
{
	use("gpu-packing", NULL, NULL);
	occupy(2, 0, 1, 300);
	occupy(3, 0, 1, 600);
	cr_assert_eq(place(shape(1, 1, 300, 0))->gpus[0], 3 * GPUS, "the fuller of the used cards");
	cr_assert_eq(place(shape(1, 1, 500, 0))->gpus[0], 2 * GPUS, "a used card");
	cr_assert_eq(place(shape(1, 1, 900, 0))->nodes[0], 2, "an idle card of a used node");
	cr_assert_eq(place(shape(1, 8, 1000, 0))->nodes[0], 0, "an idle node");
}

Test(place_policies, gpu_clustering_keeps_like_with_like)
{
	use("gpu-clustering", NULL, NULL);
	occupy(2, 0, 1, 300);
	occupy(3, 0, 1, 1000);
	occupy(4, 0, 1, 1000);
	occupy(4, 1, 1, 300);
	cr_assert_eq(place(shape(1, 1, 300, 0))->nodes[0], 2, "shares with shares");
	cr_assert_eq(place(shape(1, 1, 1000, 0))->nodes[0], 3, "whole cards with whole cards");
	cr_assert_eq(place(shape(1, 2, 1000, 0))->nodes[0], 0, "a new kind on an idle node");
}

Test(place_policies, dot_product_both_ways)
{
	occupy(5, 0, 6, 1000);
	use("dot-product", NULL, NULL);
	cr_assert_eq(place(shape(1, 1, 1000, 1000))->nodes[0], 5, "the least");
	use("dot-product", "prefer", "most");
	cr_assert_neq(place(shape(1, 1, 1000, 1000))->nodes[0], 5, "the most");
}

/* The workload asks halves and wholes: a half goes onto the card that is half free. */
Test(place_policies, fgd_mends_the_card)
{
	const struct tl_shape *half = shape(1, 1, 500, 1000);

	(void)shape(1, 1, 1000, 1000);
	occupy(3, 2, 1, 500);
	use("fgd", NULL, NULL);
	cr_assert_eq(place(half)->gpus[0], 3 * GPUS + 2);
}

/* More shapes than a small cache has rows for: 1 MiB / (60 nodes × 16 bytes) = 1,092. */
Test(place_policies, fgd_choices_do_not_hang_on_the_cache)
{
	enum { SHAPES = 3000, ASKED = 4000 };
	const struct tl_module *fgd = module_named("fgd");
	struct tl_placement room = {.worker_room = NODES, .gpu_room = NODES * GPUS};
	void *small, *large;
	struct tl_world world;
	uint32_t placed = 0;

	tl_world_init(&world, 21, 60, 8);
	for (uint32_t i = 0; i < SHAPES; i++)
		(void)tl_world_shape(&world, 1, 8);
	cr_assert_not_null(fgd);
	ops = fgd->ops;
	cr_assert_eq(tl_mock_create(&world.mock, fgd, "cache", "1MiB", &small, NULL), 0);
	cr_assert_eq(tl_mock_create(&world.mock, fgd, "cache", "1GiB", &large, NULL), 0);
	for (uint32_t round = 0; round < ASKED; round++) {
		const struct tl_shape *what = world.mock.shapes[tl_world_below(&world, SHAPES)];
		struct answer one = {.where = room}, two = {.where = room};
		int found;

		one.where.nodes = one.nodes;
		one.where.gpus = one.gpus;
		two.where.nodes = two.nodes;
		two.where.gpus = two.gpus;
		found = ops->choose(small, &world.mock.cluster.view, what, &one.where);
		cr_assert_eq(found, ops->choose(large, &world.mock.cluster.view, what, &two.where));
		if (!found)
			continue;
		cr_assert_eq(one.nodes[0], two.nodes[0]);
		cr_assert(what->gpus == 0 || one.gpus[0] == two.gpus[0]);
		tl_cluster_take(&world.mock.cluster, round + 1, what,
		                &(struct tl_alloc){two.nodes, two.gpus, what->workers, what->gpus});
		placed++;
	}
	cr_assert_gt(placed, 100);
	tl_world_fini(&world);
}

Test(place_policies, the_example_keeps_jobs_apart)
{
	use("spread", NULL, NULL);
	occupy(0, 0, 1, 100);
	cr_assert_eq(place(shape(1, 1, 500, 0))->nodes[0], 1);
	use("spread", "weight", "0");
	for (uint32_t n = 1; n < NODES; n++)
		occupy(n, 0, 2, 1000);
	cr_assert_eq(place(shape(1, 1, 500, 0))->nodes[0], 0);
}
