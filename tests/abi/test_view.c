/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hypothetical views (policies/lib/view.h): edited as the cluster is, told apart by version. */
#include "policies/lib/view.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <string.h>

enum { WORLDS = 60, STEPS = 60 };

/* All but the versions. */
static void compare(const struct tl_view *a, const struct tl_view *b)
{
	cr_assert_eq(a->free_gpus, b->free_gpus);
	cr_assert_eq(a->free_mgpu, b->free_mgpu);
	cr_assert_eq(a->capacity_mgpu, b->capacity_mgpu);
	cr_assert_eq(a->max_free_gpus_hint, b->max_free_gpus_hint);
	for (uint32_t g = 0; g < a->gpu_count; g++)
		cr_assert_eq(
		    memcmp(tl_view_gpu(a, g), tl_view_gpu(b, g), sizeof(struct tl_gpu_view)), 0,
		    "GPU %u differs", g);
	for (uint32_t n = 0; n < a->node_count; n++) {
		struct tl_node_view x = *tl_view_node(a, n), y = *tl_view_node(b, n);

		x.version = y.version = 0;
		cr_assert_eq(memcmp(&x, &y, sizeof x), 0, "node %u differs", n);
	}
}

static struct tl_placement where_is(struct tl_mock *mock, tl_job_id id)
{
	struct tl_placement where;

	cr_assert_eq(mock->host.allocation(&mock->host, id, &where), 0);
	return where;
}

Test(view, is_edited_as_the_cluster_is)
{
	uint32_t steps = 0;

	for (uint64_t seed = 1; seed <= WORLDS; seed++) {
		struct tl_world world;
		struct tl_scratch_view scratch = {0};
		struct tl_mock *mock = &world.mock;

		tl_world_init(&world, seed, 8, 8);
		tl_world_fill(&world, 40);
		cr_assert_eq(tl_scratch_copy(&scratch, &mock->host, &mock->cluster.view), 0);
		compare(&scratch.view, &mock->cluster.view);
		cr_assert_eq(scratch.view.version, mock->cluster.view.version);
		for (uint32_t step = 0; step < STEPS && world.held_count > 0; step++) {
			uint32_t at = tl_world_below(&world, (uint32_t)world.held_count);
			tl_job_id id = world.held[at];
			const struct tl_shape *shape = mock->shapes[tl_mock_at(mock, id)->shape];
			struct tl_placement where = where_is(mock, id);
			int draining = tl_mock_at(mock, id)->state == TL_JOB_SUSPENDING;
			int more = tl_world_below(&world, 3) == 0 && !draining;

			if (more) { /* copied while it drains */
				cr_assert_eq(mock->host.suspend(&mock->host, id, TL_SUSPEND_SAVE),
				             TL_ACCEPTED);
				cr_assert_eq(
				    tl_scratch_copy(&scratch, &mock->host, &mock->cluster.view), 0);
				continue;
			}
			tl_scratch_give(&scratch, shape, &where, draining);
			tl_mock_end(mock, id);
			world.held[at] = world.held[--world.held_count];
			compare(&scratch.view, &mock->cluster.view);
			steps++;
		}
		tl_world_fini(&world);
	}
	cr_assert_gt(steps, WORLDS * 5);
}

/* Two residents that ask for more than there is: leaving frees only what the other leaves. */
Test(view, gives_and_takes_what_is_there_of_an_oversubscribed_gpu)
{
	static const int32_t shares[3] = {1000, 700, 500};
	struct tl_world world;
	struct tl_mock *mock = &world.mock;
	struct tl_scratch_view scratch = {0};
	uint32_t node = 0, gpu;

	tl_world_init(&world, 3, 4, 4);
	tl_cluster_oversubscribe(&mock->cluster, NULL, 2000);
	while (mock->cluster.nodes[node].gpu_count == 0)
		node++;
	gpu = mock->cluster.nodes[node].first_gpu;
	const struct tl_alloc alloc = {&node, &gpu, 1, 1};
	const struct tl_placement where = {
	    .nodes = &node, .gpus = &gpu, .worker_count = 1, .gpu_count = 1};

	for (int i = 0; i < 9; i++) { /* which pair, which leaves first */
		const struct tl_shape *pair[2];

		for (int k = 0; k < 2; k++) {
			const struct tl_worker worker = {.gpus = 1,
			                                 .share_mgpu = shares[k ? i / 3 : i % 3]};
			const struct tl_shape shape = {.workers = 1,
			                               .model_mask = UINT64_MAX,
			                               .full = worker,
			                               .last = worker,
			                               .gpus = 1};

			const uint32_t number = tl_mock_shape(mock, &shape);

			pair[k] = mock->shapes[number];
		}
		cr_assert_eq(tl_scratch_copy(&scratch, &mock->host, &mock->cluster.view), 0);
		for (int k = 0; k < 2; k++) {
			tl_scratch_take(&scratch, pair[k], &where);
			tl_cluster_take(&mock->cluster, (tl_job_id)k + 1, pair[k], &alloc);
			compare(&scratch.view, &mock->cluster.view);
		}
		for (int k = 0; k < 2; k++) {
			tl_scratch_give(&scratch, pair[k], &where, 0);
			tl_cluster_release(&mock->cluster, (tl_job_id)k + 1, pair[k], &alloc);
			compare(&scratch.view, &mock->cluster.view);
		}
		cr_assert_eq(scratch.gpus[gpu].free_mgpu, 1000);
	}
	tl_world_fini(&world);
}

/* A world of idle nodes, and one job's placement on node 0. */
struct pair {
	struct tl_world world;
	struct tl_scratch_view one, two;
	const struct tl_shape *shape;
	uint32_t node, gpus[1];
	struct tl_placement where;
};

static void set_pair(struct pair *pair)
{
	struct tl_shape like = {.workers = 1,
	                        .model_mask = UINT64_MAX,
	                        .last = {.gpus = 1, .share_mgpu = 400, .cpu_milli = 1000}};
	uint32_t number;

	memset(pair, 0, sizeof *pair);
	tl_world_init(&pair->world, 3, 4, 4);
	like.full = like.last;
	number = tl_mock_shape(&pair->world.mock, &like);
	pair->shape = pair->world.mock.shapes[number];
	while (pair->world.mock.cluster.nodes[pair->node].gpu_count == 0)
		pair->node++;
	pair->gpus[0] = pair->world.mock.cluster.nodes[pair->node].first_gpu;
	pair->where = (struct tl_placement){
	    .nodes = &pair->node, .gpus = pair->gpus, .worker_count = 1, .gpu_count = 1};
	cr_assert_eq(
	    tl_scratch_copy(&pair->one, &pair->world.mock.host, &pair->world.mock.cluster.view), 0);
	cr_assert_eq(
	    tl_scratch_copy(&pair->two, &pair->world.mock.host, &pair->world.mock.cluster.view), 0);
}

Test(view, versions_tell_contents_apart)
{
	struct pair pair;
	uint64_t live, taken;

	set_pair(&pair);
	live = pair.one.nodes[pair.node].version;
	tl_scratch_take(&pair.one, pair.shape, &pair.where);
	taken = pair.one.nodes[pair.node].version;
	cr_assert_neq(taken, live);
	cr_assert(taken & TL_SCRATCH_VERSION, "never a live version");
	cr_assert(pair.one.view.version & TL_SCRATCH_VERSION);
	cr_assert_neq(pair.one.view.version, pair.two.view.version);
	tl_scratch_take(&pair.two, pair.shape, &pair.where);
	cr_assert_eq(pair.two.nodes[pair.node].version, taken,
	             "the same contents, the same version");
	cr_assert_eq(pair.two.view.version, pair.one.view.version);
	tl_scratch_take(&pair.two, pair.shape, &pair.where);
	cr_assert_neq(pair.two.nodes[pair.node].version, taken);
	tl_scratch_give(&pair.two, pair.shape, &pair.where, 0);
	cr_assert_eq(pair.two.nodes[pair.node].version, taken, "undone");
	cr_assert_eq(pair.two.view.version, pair.one.view.version);
	/* The real thing takes the same: still another version, since that one is counted. */
	tl_cluster_take(&pair.world.mock.cluster, 1, pair.shape,
	                &(struct tl_alloc){&pair.node, pair.gpus, 1, 1});
	cr_assert_eq(pair.world.mock.cluster.nodes[pair.node].version & TL_SCRATCH_VERSION, 0);
	tl_world_fini(&pair.world);
}

Test(view, closed_gpus_are_out_of_reach)
{
	struct pair pair;
	uint32_t before;

	set_pair(&pair);
	before = pair.one.view.free_gpus;
	tl_scratch_close_gpu(&pair.one, pair.gpus[0]);
	cr_assert_eq(pair.one.view.free_gpus, before - 1);
	cr_assert_eq(pair.one.gpus[pair.gpus[0]].free_mgpu, 0);
	tl_scratch_close_gpu(&pair.one, pair.gpus[0]);
	cr_assert_eq(pair.one.view.free_gpus, before - 1, "closing twice changes nothing more");
	tl_world_fini(&pair.world);
}

/* A newer host's structs are longer: views are walked by stride. */
Test(view, follows_the_strides)
{
	struct wide_node {
		struct tl_node_view node;
		uint64_t more;
	} nodes[4];
	struct wide_gpu {
		struct tl_gpu_view gpu;
		uint64_t more;
	} gpus[16];
	struct pair pair;
	struct tl_view wide;
	const struct tl_cluster *cluster = &pair.world.mock.cluster;

	set_pair(&pair);
	memset(nodes, 0xff, sizeof nodes);
	memset(gpus, 0xff, sizeof gpus);
	wide = cluster->view;
	cr_assert(wide.node_count <= 4 && wide.gpu_count <= 16);
	for (uint32_t n = 0; n < wide.node_count; n++)
		nodes[n].node = cluster->nodes[n];
	for (uint32_t g = 0; g < wide.gpu_count; g++)
		gpus[g].gpu = cluster->gpus[g];
	wide.nodes = &nodes[0].node;
	wide.gpus = &gpus[0].gpu;
	wide.node_stride = sizeof nodes[0];
	wide.gpu_stride = sizeof gpus[0];
	cr_assert_eq(tl_scratch_copy(&pair.one, &pair.world.mock.host, &wide), 0);
	compare(&pair.one.view, &cluster->view);
	tl_world_fini(&pair.world);
}
