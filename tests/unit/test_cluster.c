/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

enum { NODES = 4, NODE_GPUS = 4 };

static struct tl_node_spec nodes[NODES + 1];
static struct tl_gpu_model models[2] = {{.name = "A100-SXM4-80GB", .memory_bytes = 80 * TL_GIB},
                                        {.name = "G2", .memory_bytes = TL_NONE}};
static struct tl_cluster_spec spec = {.models = models, .model_count = 2, .nodes = nodes};
static struct tl_cluster cluster;

/* Four nodes of four GPUs: racks of one, leaves of two, one pod; the last node of a model
 * whose memory is unknown; a CPU-only node after them in another pod. */
static void set_up(void)
{
	for (uint32_t n = 0; n < NODES; n++)
		nodes[n] = (struct tl_node_spec){.gpus = NODE_GPUS,
		                                 .model = n == NODES - 1,
		                                 .cpu_milli = 16000,
		                                 .ram_bytes = 64 * TL_GIB,
		                                 .rack = n,
		                                 .leaf = n / 2};
	nodes[NODES] = (struct tl_node_spec){.model = TL_NO_INDEX,
	                                     .cpu_milli = 96000,
	                                     .ram_bytes = 512 * TL_GIB,
	                                     .rack = NODES,
	                                     .leaf = NODES,
	                                     .pod = 1};
	spec.node_count = NODES + 1;
	cr_assert_eq(tl_cluster_init(&cluster, &spec, NULL), TL_OK);
}

static void tear_down(void)
{
	tl_cluster_verify(&cluster);
	tl_cluster_fini(&cluster);
}

TestSuite(cluster, .init = set_up, .fini = tear_down);

static struct tl_shape shape_of(uint32_t workers, struct tl_worker full, struct tl_worker last)
{
	struct tl_shape shape = {
	    .workers = workers, .full = full, .last = last, .model_mask = UINT64_MAX};

	shape.gpus = (workers - 1) * full.gpus + last.gpus;
	return shape;
}

static const struct tl_worker whole = {.gpus = 2,
                                       .share_mgpu = 1000,
                                       .cpu_milli = 8000,
                                       .ram_bytes = 8 * TL_GIB,
                                       .gpu_memory_bytes = 10 * TL_GIB};
static const struct tl_worker half = {.gpus = 1,
                                      .share_mgpu = 500,
                                      .cpu_milli = 1000,
                                      .ram_bytes = TL_GIB,
                                      .gpu_memory_bytes = 30 * TL_GIB};
static const struct tl_worker cpu_only = {.cpu_milli = 4000, .ram_bytes = TL_GIB};

static enum tl_refusal check(const struct tl_shape *shape, uint32_t *at, uint32_t *gpus)
{
	struct tl_placement where = {
	    .nodes = at, .gpus = gpus, .worker_count = shape->workers, .gpu_count = shape->gpus};

	return tl_cluster_check(&cluster, shape, &where);
}

static struct tl_alloc alloc_of(const struct tl_shape *shape, uint32_t *at, uint32_t *gpus)
{
	return (struct tl_alloc){
	    .nodes = at, .gpus = gpus, .worker_count = shape->workers, .gpu_count = shape->gpus};
}

Test(cluster, starts_idle)
{
	cr_assert_eq(cluster.view.free_gpus, NODES * NODE_GPUS);
	cr_assert_eq(cluster.view.free_mgpu, NODES * NODE_GPUS * 1000);
	cr_assert_eq(cluster.view.capacity_mgpu, NODES * NODE_GPUS * 1000);
	cr_assert_eq(cluster.view.max_free_gpus_hint, NODE_GPUS);
	cr_assert_eq(cluster.free_count[NODE_GPUS], NODES);
	cr_assert_eq(cluster.free_count[0], 1, "the CPU-only node");
	cr_assert_eq(cluster.largest_node_gpus, NODE_GPUS);
}

Test(cluster, takes_and_releases)
{
	struct tl_shape shape = shape_of(2, whole, half);
	uint32_t at[] = {0, 1}, gpus[] = {2, 3, 4};
	struct tl_alloc where = alloc_of(&shape, at, gpus);
	uint64_t version = cluster.view.version;
	uint32_t count;

	cr_assert_eq(check(&shape, at, gpus), TL_ACCEPTED);
	tl_cluster_take(&cluster, 7, &shape, &where);
	tl_cluster_verify(&cluster);
	cr_assert_eq(cluster.nodes[0].free_gpus, 2);
	cr_assert_eq(cluster.nodes[0].free_cpu_milli, 8000);
	cr_assert_eq(cluster.nodes[1].free_gpus, 3);
	cr_assert_eq(cluster.nodes[1].free_mgpu, 3500);
	cr_assert_eq(cluster.gpus[2].free_memory_bytes, 70 * TL_GIB,
	             "a whole share takes what it states");
	cr_assert_eq(cluster.gpus[4].free_memory_bytes, 50 * TL_GIB);
	cr_assert_eq(cluster.view.free_gpus, 13);
	cr_assert_eq(cluster.allocated_mgpu, 2500);
	cr_assert_eq(cluster.partial_nodes, 2);
	cr_assert_gt(cluster.view.version, version);
	cr_assert_neq(cluster.nodes[0].version, cluster.nodes[2].version);
	cr_assert_eq(tl_cluster_gpu_jobs(&cluster, 4, &count)[0], 7);
	cr_assert_eq(count, 1);
	tl_cluster_mark_draining(&cluster, 7, &shape, &where);
	cr_assert_eq(cluster.nodes[0].draining_mgpu, 2000);
	cr_assert_eq(cluster.gpus[4].draining_mgpu, 500);
	tl_cluster_release(&cluster, 7, &shape, &where);
	cr_assert_eq(cluster.nodes[0].draining_mgpu, 0);
	cr_assert_eq(cluster.view.free_gpus, 16);
	cr_assert_eq(cluster.allocated_mgpu, 0);
	cr_assert_eq(cluster.partial_nodes, 0);
}

Test(cluster, draining_is_told_apart_by_job)
{
	struct tl_shape shape = shape_of(1, half, half);
	uint32_t at[] = {0}, gpus[] = {0};
	struct tl_alloc where = alloc_of(&shape, at, gpus);

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_take(&cluster, 2, &shape, &where);
	tl_cluster_mark_draining(&cluster, 2, &shape, &where);
	tl_cluster_release(&cluster, 1, &shape, &where);
	cr_assert_eq(cluster.gpus[0].draining_mgpu, 500, "job 2 still drains");
	tl_cluster_release(&cluster, 2, &shape, &where);
	cr_assert_eq(cluster.gpus[0].draining_mgpu, 0);
}

Test(cluster, keeps_residents_in_order_of_arrival)
{
	struct tl_worker small = {.gpus = 1, .share_mgpu = 100, .gpu_memory_bytes = -1};
	struct tl_shape shape = shape_of(1, small, small);
	uint32_t at[] = {0}, gpus[] = {1}, count;
	struct tl_alloc where = alloc_of(&shape, at, gpus);
	const tl_job_id *jobs;

	for (tl_job_id job = 10; job < 20; job++)
		tl_cluster_take(&cluster, job, &shape, &where);
	cr_assert_eq(check(&shape, at, gpus), TL_REFUSED_GPU_SHARE);
	tl_cluster_release(&cluster, 13, &shape, &where);
	jobs = tl_cluster_gpu_jobs(&cluster, 1, &count);
	cr_assert_eq(count, 9);
	for (uint32_t i = 0; i < count; i++)
		cr_assert_eq(jobs[i], i < 3 ? 10 + i : 11 + i);
	cr_assert_eq(cluster.gpus[1].free_memory_bytes, 80 * TL_GIB, "unknown memory takes none");
}

Test(cluster, names_the_first_thing_wrong)
{
	struct tl_shape pair = shape_of(1, whole, whole);
	struct tl_shape gang = shape_of(3, whole, whole);
	struct tl_shape fraction = shape_of(1, half, half);
	struct tl_shape picky = shape_of(1, half, half);
	struct tl_worker hog = {.gpus = 1, .share_mgpu = 100, .gpu_memory_bytes = 81 * TL_GIB};
	struct tl_shape memory = shape_of(1, hog, hog);
	struct tl_worker fat = {.cpu_milli = 1, .ram_bytes = 65 * TL_GIB};
	struct tl_shape ram = shape_of(1, fat, fat);
	struct tl_placement where = {.worker_count = 1, .gpu_count = 2};
	uint32_t at[] = {0, 0, 0}, gpus[] = {0, 1, 2, 3, 4, 5};

	picky.model_mask = 1;
	cr_assert_eq(tl_cluster_check(&cluster, &pair, NULL), TL_REFUSED_ARGUMENT);
	cr_assert_eq(tl_cluster_check(&cluster, &pair, &where), TL_REFUSED_ARGUMENT);
	where = (struct tl_placement){.nodes = at, .gpus = gpus, .worker_count = 1, .gpu_count = 1};
	cr_assert_eq(tl_cluster_check(&cluster, &pair, &where), TL_REFUSED_PLACEMENT_SHAPE);
	cr_assert_eq(check(&pair, (uint32_t[]){9}, gpus), TL_REFUSED_NO_SUCH_NODE);
	cr_assert_eq(check(&pair, at, (uint32_t[]){0, 99}), TL_REFUSED_NO_SUCH_GPU);
	cr_assert_eq(check(&pair, at, (uint32_t[]){0, 4}), TL_REFUSED_GPU_NOT_ON_NODE);
	cr_assert_eq(check(&pair, at, (uint32_t[]){1, 1}), TL_REFUSED_DUPLICATE_GPU);
	cr_assert_eq(check(&gang, (uint32_t[]){0, 1, 0}, (uint32_t[]){0, 1, 4, 5, 1, 2}),
	             TL_REFUSED_DUPLICATE_GPU, "over all workers of a job");
	cr_assert_eq(check(&picky, (uint32_t[]){3}, (uint32_t[]){12}), TL_REFUSED_MODEL);
	cr_assert_eq(check(&memory, at, gpus), TL_REFUSED_GPU_MEMORY);
	cr_assert_eq(check(&memory, (uint32_t[]){3}, (uint32_t[]){12}), TL_ACCEPTED,
	             "a GPU of unknown memory is not checked");
	cr_assert_eq(check(&gang, at, (uint32_t[]){0, 1, 2, 3, 4, 5}), TL_REFUSED_GPU_NOT_ON_NODE);
	cr_assert_eq(check(&ram, at, gpus), TL_REFUSED_RAM);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_CORDONED);
	cr_assert_eq(check(&fraction, at, gpus), TL_REFUSED_NODE_NOT_UP);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_DOWN);
	cr_assert_eq(check(&fraction, at, gpus), TL_REFUSED_NODE_NOT_UP);
	cr_assert_eq(cluster.view.free_gpus, 12);
	cr_assert_eq(cluster.down_mgpu, 4000);
}

Test(cluster, workers_of_a_node_add_up)
{
	struct tl_worker greedy = {
	    .gpus = 1, .share_mgpu = 1000, .cpu_milli = 6000, .ram_bytes = TL_GIB};
	struct tl_shape gang = shape_of(3, greedy, greedy);

	cr_assert_eq(check(&gang, (uint32_t[]){0, 0, 0}, (uint32_t[]){0, 1, 2}), TL_REFUSED_CPU);
	cr_assert_eq(check(&gang, (uint32_t[]){0, 0, 1}, (uint32_t[]){0, 1, 4}), TL_ACCEPTED);
}

Test(cluster, cordoned_nodes_run_what_they_have)
{
	struct tl_shape shape = shape_of(1, half, half);
	uint32_t at[] = {0}, gpus[] = {0};
	struct tl_alloc where = alloc_of(&shape, at, gpus);

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_CORDONED);
	tl_cluster_verify(&cluster);
	cr_assert_eq(cluster.gpus[0].free_mgpu, 0);
	cr_assert_eq(cluster.nodes[0].free_gpus, 0);
	cr_assert_eq(cluster.allocated_mgpu, 500);
	cr_assert_eq(cluster.down_mgpu, 0);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_UP);
	cr_assert_eq(cluster.gpus[0].free_mgpu, 500);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_CORDONED);
	tl_cluster_release(&cluster, 1, &shape, &where);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_DOWN);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_UP);
	cr_assert_eq(cluster.view.free_gpus, 16);
}

Test(cluster, could_fit_is_about_the_idle_cluster)
{
	struct tl_worker node_wide = {
	    .gpus = 4, .share_mgpu = 1000, .gpu_memory_bytes = 80 * TL_GIB};
	struct tl_worker too_wide = {.gpus = 5, .share_mgpu = 1000};
	struct tl_worker remote = {.gpus = 1, .share_mgpu = 1000, .cpu_milli = 17000};
	struct tl_shape shape = shape_of(4, node_wide, node_wide);
	uint32_t at[] = {0};
	struct tl_alloc where;
	struct tl_shape one = shape_of(1, node_wide, node_wide);

	where = alloc_of(&one, at, (uint32_t[]){0, 1, 2, 3});
	tl_cluster_take(&cluster, 1, &one, &where);
	tl_cluster_set_node_state(&cluster, 1, TL_NODE_DOWN);
	cr_assert(tl_cluster_could_fit(&cluster, &shape), "whatever is taken or down now");
	shape.model_mask = 1;
	cr_assert_not(tl_cluster_could_fit(&cluster, &shape), "three nodes of that model");
	shape = shape_of(5, node_wide, node_wide);
	cr_assert_not(tl_cluster_could_fit(&cluster, &shape));
	shape = shape_of(5, node_wide, cpu_only);
	cr_assert(tl_cluster_could_fit(&cluster, &shape), "the last on the CPU-only node");
	shape = shape_of(1, too_wide, too_wide);
	cr_assert_not(tl_cluster_could_fit(&cluster, &shape));
	shape = shape_of(1, remote, remote);
	cr_assert_not(tl_cluster_could_fit(&cluster, &shape), "CPU is elsewhere");
	/* Two a node by CPU, eight full ones on four nodes; the last takes the place of one. */
	shape = shape_of(9, whole, half);
	cr_assert_not(tl_cluster_could_fit(&cluster, &shape));
	shape = shape_of(8, whole, half);
	cr_assert(tl_cluster_could_fit(&cluster, &shape));
}

Test(cluster, distances)
{
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 0), TL_SAME_GPU);
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 1), TL_SAME_PAIR);
	cr_assert_eq(tl_cluster_distance(&cluster, 1, 2), TL_SAME_NODE);
	cr_assert_eq(tl_cluster_distance(&cluster, 2, 3), TL_SAME_PAIR);
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 4), TL_SAME_LEAF);
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 8), TL_SAME_POD);
	cluster.nodes[3].pod = 1;
	cluster.nodes[1].rack = 0;
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 12), TL_ACROSS);
	cr_assert_eq(tl_cluster_distance(&cluster, 0, 4), TL_SAME_RACK);
}

Test(cluster, spread_is_the_widest)
{
	struct {
		uint32_t gpus[3], count;
		enum tl_distance wanted;
	} cases[] = {{{5}, 1, TL_SAME_GPU},        {{0}, 0, TL_SAME_GPU},
	             {{2, 3}, 2, TL_SAME_PAIR},    {{0, 1, 2}, 3, TL_SAME_NODE},
	             {{0, 1, 4}, 3, TL_SAME_LEAF}, {{0, 4, 9}, 3, TL_SAME_POD}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tl_alloc where = {.gpus = cases[i].gpus, .gpu_count = cases[i].count};

		cr_assert_eq(tl_cluster_spread(&cluster, &where), cases[i].wanted, "case %zu", i);
	}
	cluster.nodes[2].pod = 2;
	cr_assert_eq(tl_cluster_spread(&cluster, &(struct tl_alloc){.gpus = (uint32_t[]){0, 4, 9},
	                                                            .gpu_count = 3}),
	             TL_ACROSS);
}

Test(cluster, taking_what_is_taken_aborts, .signal = SIGABRT)
{
	struct tl_shape shape = shape_of(1, whole, whole);
	struct tl_alloc where = alloc_of(&shape, (uint32_t[]){0}, (uint32_t[]){0, 1});

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_take(&cluster, 2, &shape, &where);
}

Test(cluster, releasing_what_is_not_held_aborts, .signal = SIGABRT)
{
	struct tl_shape shape = shape_of(1, half, half);
	struct tl_alloc where = alloc_of(&shape, (uint32_t[]){0}, (uint32_t[]){0});

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_release(&cluster, 2, &shape, &where);
}

Test(cluster, releasing_twice_aborts, .signal = SIGABRT)
{
	struct tl_shape shape = shape_of(1, cpu_only, cpu_only);
	struct tl_alloc where = alloc_of(&shape, (uint32_t[]){4}, NULL);

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_release(&cluster, 1, &shape, &where);
	tl_cluster_release(&cluster, 1, &shape, &where);
}

Test(cluster, draining_twice_aborts, .signal = SIGABRT)
{
	struct tl_shape shape = shape_of(1, half, half);
	struct tl_alloc where = alloc_of(&shape, (uint32_t[]){0}, (uint32_t[]){0});

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_mark_draining(&cluster, 1, &shape, &where);
	tl_cluster_mark_draining(&cluster, 1, &shape, &where);
}

Test(cluster, downing_a_busy_node_aborts, .signal = SIGABRT)
{
	struct tl_shape shape = shape_of(1, half, half);
	struct tl_alloc where = alloc_of(&shape, (uint32_t[]){0}, (uint32_t[]){0});

	tl_cluster_take(&cluster, 1, &shape, &where);
	tl_cluster_set_node_state(&cluster, 0, TL_NODE_DOWN);
}

Test(cluster, verify_finds_a_bent_sum, .signal = SIGABRT)
{
	cluster.gpus[3].free_mgpu = 999;
	tl_cluster_verify(&cluster);
}

Test(cluster_spec, models)
{
	struct tl_cluster_spec own = {0};
	struct tl_error error = TL_ERROR_INIT;
	uint32_t a = 9, b = 9, again = 9;
	char name[TL_MODEL_NAME_MAX + 1];

	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "", 16 * TL_GIB, &a, &error), TL_OK);
	cr_assert_eq(tl_cluster_spec_model(&own, "P100", "", 16 * TL_GIB, &b, &error), TL_OK);
	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "", 1, &again, &error), TL_OK);
	cr_assert(a == 0 && b == 1 && again == 0);
	cr_assert_eq(own.models[0].memory_bytes, 16 * TL_GIB, "the first one counts");
	cr_assert_eq(tl_cluster_spec_model(&own, "", "", 1, &a, &error), TL_E_CONFIG);
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = 0;
	cr_assert_eq(tl_cluster_spec_model(&own, name, "", 1, &a, &error), TL_E_CONFIG);
	for (int i = 2; i < TL_MODELS_MAX; i++) {
		name[0] = (char)('0' + i % 10);
		name[1] = (char)('0' + i / 10);
		name[2] = 0;
		cr_assert_eq(tl_cluster_spec_model(&own, name, "", 1, &a, &error), TL_OK);
	}
	cr_assert_eq(tl_cluster_spec_model(&own, "more", "", 1, &a, &error), TL_E_CONFIG);
	cr_assert(strstr(error.message, "more") && strstr(error.message, "64"));
	tl_cluster_spec_fini(&own);
}

Test(cluster_spec, known_memory)
{
	cr_assert_eq(tl_gpu_model_memory("A100-SXM4-80GB"), 80 * TL_GIB);
	cr_assert_eq(tl_gpu_model_memory("A100-SXM4-40GB"), 40 * TL_GIB);
	cr_assert_eq(tl_gpu_model_memory("V100M32"), 32 * TL_GIB);
	cr_assert_eq(tl_gpu_model_memory("G2"), -1);
	cr_assert_eq(tl_gpu_model_memory(""), -1);
}

Test(cluster_spec, impossible_clusters_are_refused)
{
	struct tl_node_spec bad = {.name = "n0", .gpus = 1, .model = 0};
	struct tl_cluster_spec own = {.name = "c", .nodes = &bad};
	struct tl_cluster made;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_cluster_init(&made, &own, &error), TL_E_CONFIG, "no nodes");
	own.node_count = 1;
	cr_assert_eq(tl_cluster_init(&made, &own, &error), TL_E_CONFIG, "no such model");
	cr_assert(strstr(error.message, "n0"));
	bad = (struct tl_node_spec){.name = "n1", .model = TL_NO_INDEX, .cpu_milli = -1};
	cr_assert_eq(tl_cluster_init(&made, &own, &error), TL_E_CONFIG, "negative CPU");
	tl_cluster_fini(&made);
}

Test(cluster, a_model_in_two_pools_is_two_numbers)
{
	struct tl_cluster_spec own = {.node_count = 0};
	struct tl_error error = TL_ERROR_INIT;
	uint32_t plain, left, right, again, bare;
	char name[TL_POOL_NAME_MAX + 1];

	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "", 16 * TL_GIB, &plain, &error), TL_OK);
	cr_assert_not(tl_cluster_spec_has_pools(&own));
	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "left", 16 * TL_GIB, &left, &error), TL_OK);
	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "right", 16 * TL_GIB, &right, &error),
	             TL_OK);
	cr_assert_eq(tl_cluster_spec_model(&own, "", "right", 0, &bare, &error), TL_OK);
	cr_assert_eq(tl_cluster_spec_model(&own, "T4", "left", 1, &again, &error), TL_OK);
	cr_assert_eq(again, left);
	cr_assert_eq(own.model_count, 4);
	cr_assert(tl_cluster_spec_has_pools(&own));
	cr_assert_eq(tl_cluster_spec_models(&own, "T4"), 1u << plain | 1u << left | 1u << right);
	cr_assert_eq(tl_cluster_spec_pools(&own, "right"), 1u << right | 1u << bare);
	cr_assert_eq(tl_cluster_spec_pools(&own, "left|right"),
	             1u << left | 1u << right | 1u << bare);
	cr_assert_eq(tl_cluster_spec_pools(&own, "righ|rightt||"), 0u, "whole names");
	cr_assert_eq(tl_cluster_spec_pools(&own, ""), 0u);
	memset(name, 'p', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	cr_assert_eq(tl_cluster_spec_model(&own, "T4", name, 1, &again, &error), TL_E_CONFIG);
	cr_assert(strstr(error.message, "name of a pool"), "%s", error.message);
	tl_cluster_spec_fini(&own);
}
