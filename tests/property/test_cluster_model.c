/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The cluster against a model that keeps nothing but the list of what is held and
 * recounts everything from it: random placements, legal or not, of random shapes, with
 * releases, draining and node states in between, with and without oversubscription, in one
 * pool and in two.
 */
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum {
	NODES = 6,
	GPUS = 14,
	SHAPES = 24,
	HELD = 20,
	WORKERS = 3,
	STEPS = 4000000,
	VERIFY_EVERY = 97
};

static int64_t ratios_milli[2]; /* by model */

struct held {
	tl_job_id job; /* 0: free slot */
	const struct tl_shape *shape;
	uint32_t nodes[WORKERS], gpus[WORKERS * 4];
	bool draining;
	int32_t measured_milli;
};

static struct tl_node_spec nodes[NODES];
static struct tl_gpu_model models[2] = {{.name = "a", .memory_bytes = 1000},
                                        {.name = "b", .memory_bytes = -1}};
static const struct tl_cluster_spec spec = {
    .models = models, .model_count = 2, .nodes = nodes, .node_count = NODES};
static struct tl_shape shapes[SHAPES];
static struct held held[HELD];
static struct tl_cluster cluster;
static struct tl_rng rng;

static uint32_t below(uint32_t n)
{
	return (uint32_t)tl_rng_below(&rng, n);
}

static struct tl_worker random_worker(uint32_t gpus, int32_t share)
{
	return (struct tl_worker){.gpus = gpus,
	                          .share_mgpu = gpus > 0 ? share : 0,
	                          .gpu_memory_bytes = gpus > 0 ? (int64_t)below(600) - 50 : 0,
	                          .cpu_milli = below(400),
	                          .ram_bytes = below(400)};
}

static void make_world(bool walls)
{
	static const uint32_t gpu_counts[NODES] = {4, 2, 4, 1, 3, 0};

	for (uint32_t n = 0; n < NODES; n++)
		nodes[n] = (struct tl_node_spec){.gpus = gpu_counts[n],
		                                 .model = gpu_counts[n] ? n % 2 : TL_NO_INDEX,
		                                 .cpu_milli = 1000,
		                                 .ram_bytes = 1000};
	for (uint32_t s = 0; s < SHAPES; s++) {
		int32_t share = below(2) ? 1000 : 1 + (int32_t)below(999);
		struct tl_shape *shape = &shapes[s];

		shape->workers = 1 + below(WORKERS);
		shape->full = random_worker(below(4), share);
		shape->last = random_worker(below(4), share);
		shape->gpus = (shape->workers - 1) * shape->full.gpus + shape->last.gpus;
		shape->flags = below(5) ? 0 : TL_SHAPE_ISOLATED;
		shape->model_mask = below(4) ? UINT64_MAX : 1 + below(3);
	}
	snprintf(models[0].pool, sizeof models[0].pool, "%s", walls ? "x" : "");
	snprintf(models[1].pool, sizeof models[1].pool, "%s", walls ? "y" : "");
	cr_assert_eq(tl_cluster_init(&cluster, &spec, NULL), TL_OK);
}

static const struct tl_worker *worker_at(const struct tl_shape *shape, uint32_t w)
{
	return w == shape->workers - 1 ? &shape->last : &shape->full;
}

static int64_t positive(int64_t value)
{
	return value > 0 ? value : 0;
}

/* What all that is held, and `extra`, ask of a GPU or node. */
struct sums {
	int64_t mgpu[GPUS], memory[GPUS], draining[GPUS], cpu[NODES], ram[NODES];
	int64_t measured[GPUS];
	uint32_t residents[GPUS], slices[GPUS], unmeasured[GPUS];
};

static void add_up(struct sums *sums, const struct held *one)
{
	uint32_t next = 0;

	for (uint32_t w = 0; w < one->shape->workers; w++) {
		const struct tl_worker *worker = worker_at(one->shape, w);

		sums->cpu[one->nodes[w]] += worker->cpu_milli;
		sums->ram[one->nodes[w]] += worker->ram_bytes;
		for (uint32_t i = 0; i < worker->gpus; i++, next++) {
			sums->mgpu[one->gpus[next]] += worker->share_mgpu;
			sums->residents[one->gpus[next]]++;
			sums->measured[one->gpus[next]] += positive(one->measured_milli);
			sums->unmeasured[one->gpus[next]] += one->measured_milli < 0;
			sums->slices[one->gpus[next]] += one->shape->flags & TL_SHAPE_ISOLATED;
			sums->memory[one->gpus[next]] += positive(worker->gpu_memory_bytes);
			sums->draining[one->gpus[next]] += one->draining ? worker->share_mgpu : 0;
		}
	}
}

static void recount(struct sums *sums)
{
	memset(sums, 0, sizeof *sums);
	for (uint32_t h = 0; h < HELD; h++)
		if (held[h].job)
			add_up(sums, &held[h]);
}

static bool same_pool(uint32_t model, uint32_t other)
{
	return strcmp(models[model].pool, models[other].pool) == 0;
}

/* What is asked beyond the GPUs that are there in the model's pool. */
static int64_t excess_of(const struct sums *sums, uint32_t model)
{
	int64_t excess = 0;

	for (uint32_t g = 0; g < GPUS; g++)
		if (same_pool(model, nodes[cluster.gpus[g].node].model))
			excess += positive(sums->mgpu[g] - 1000);
	return excess;
}

static int64_t excess_limit(uint32_t model)
{
	int64_t gpus = 0;

	for (uint32_t n = 0; n < NODES; n++)
		if (cluster.nodes[n].state != TL_NODE_DOWN && cluster.nodes[n].gpu_count > 0 &&
		    same_pool(model, nodes[n].model))
			gpus += cluster.nodes[n].gpu_count;
	return gpus * (ratios_milli[model] - 1000);
}

/* Whether a placement is legal, by the plain reading of the rules. */
static bool legal(const struct held *one)
{
	struct sums sums;
	uint32_t next = 0;
	int64_t before[2];

	recount(&sums);
	for (uint32_t m = 0; m < 2; m++)
		before[m] = excess_of(&sums, m);
	add_up(&sums, one);
	for (uint32_t m = 0; m < 2; m++)
		if (excess_of(&sums, m) > before[m] && excess_of(&sums, m) > excess_limit(m))
			return false;
	for (uint32_t w = 0; w < one->shape->workers; w++) {
		const struct tl_worker *worker = worker_at(one->shape, w);
		uint32_t n = one->nodes[w];

		if (cluster.nodes[n].state != TL_NODE_UP || sums.cpu[n] > 1000 ||
		    sums.ram[n] > 1000)
			return false;
		if (one->shape->model_mask != UINT64_MAX &&
		    (nodes[n].model == TL_NO_INDEX ||
		     !(one->shape->model_mask >> nodes[n].model & 1)))
			return false;
		for (uint32_t i = 0; i < worker->gpus; i++, next++) {
			uint32_t g = one->gpus[next];

			for (uint32_t j = 0; j < next; j++)
				if (one->gpus[j] == g)
					return false;
			if (cluster.gpus[g].node != n)
				return false;
			if (sums.mgpu[g] > 1000 && (ratios_milli[nodes[n].model] == 1000 ||
			                            sums.residents[g] > 2 || sums.slices[g] > 0))
				return false;
			if (models[nodes[n].model].memory_bytes >= 0 &&
			    worker->gpu_memory_bytes > 0 &&
			    sums.memory[g] > models[nodes[n].model].memory_bytes)
				return false;
		}
	}
	return true;
}

static void compare(void)
{
	struct sums sums;

	recount(&sums);
	for (uint32_t g = 0; g < GPUS; g++) {
		const struct tl_gpu_view *gpu = &cluster.gpus[g];
		bool up = cluster.nodes[gpu->node].state == TL_NODE_UP;

		cr_assert_eq(gpu->free_mgpu, up ? positive(1000 - sums.mgpu[g]) : 0);
		cr_assert_eq(gpu->nominal_mgpu, sums.mgpu[g]);
		cr_assert_eq(gpu->draining_mgpu, sums.draining[g]);
		cr_assert_eq(gpu->utilisation_milli, sums.unmeasured[g] > 0    ? -1
		                                     : sums.measured[g] > 1000 ? 1000
		                                                               : sums.measured[g]);
		if (gpu->total_memory_bytes >= 0)
			cr_assert_eq(gpu->free_memory_bytes,
			             gpu->total_memory_bytes - sums.memory[g]);
	}
	for (uint32_t n = 0; n < NODES; n++) {
		cr_assert_eq(cluster.nodes[n].free_cpu_milli, 1000 - sums.cpu[n]);
		cr_assert_eq(cluster.nodes[n].free_ram_bytes, 1000 - sums.ram[n]);
	}
	for (uint32_t m = 0; m < 2; m++) {
		const struct tl_oversubscription *pool = tl_cluster_oversubscription(&cluster, m);

		cr_assert_eq(pool->excess_mgpu, excess_of(&sums, m));
		cr_assert_eq(pool->excess_limit_mgpu, excess_limit(m));
		cr_assert_eq(pool->residents, ratios_milli[m] > 1000 ? 2 : 0);
		cr_assert_eq(pool->pool, same_pool(0, m) ? 0 : 1);
	}
	cr_assert_null(tl_cluster_oversubscription(&cluster, 2));
	cr_assert_null(tl_cluster_oversubscription(&cluster, TL_NO_INDEX));
	tl_cluster_verify(&cluster);
}

static struct tl_alloc alloc_of(struct held *one)
{
	return (struct tl_alloc){.nodes = one->nodes,
	                         .gpus = one->gpus,
	                         .worker_count = one->shape->workers,
	                         .gpu_count = one->shape->gpus};
}

/* Mostly sensible, so that many are legal: GPUs of the node, ascending from a random one. */
static void random_place(struct held *one)
{
	uint32_t next = 0;

	one->shape = &shapes[below(SHAPES)];
	for (uint32_t w = 0; w < one->shape->workers; w++) {
		const struct tl_worker *worker = worker_at(one->shape, w);
		uint32_t n = below(NODES);
		const struct tl_node_view *node = &cluster.nodes[n];
		uint32_t start = node->gpu_count ? below(node->gpu_count) : 0;

		one->nodes[w] = n;
		for (uint32_t i = 0; i < worker->gpus; i++)
			one->gpus[next++] = node->gpu_count && below(64)
			                        ? node->first_gpu + (start + i) % node->gpu_count
			                        : below(GPUS);
	}
}

static void step_take(tl_job_id job, uint64_t *taken)
{
	struct held one = {.job = job, .measured_milli = -1};
	struct tl_placement where;
	uint32_t slot = below(HELD);
	bool wanted;

	if (held[slot].job)
		return;
	random_place(&one);
	where = (struct tl_placement){.nodes = one.nodes,
	                              .gpus = one.gpus,
	                              .worker_count = one.shape->workers,
	                              .gpu_count = one.shape->gpus};
	wanted = legal(&one);
	cr_assert_eq(tl_cluster_check(&cluster, one.shape, &where) == TL_ACCEPTED, wanted);
	if (!wanted)
		return;
	held[slot] = one;
	tl_cluster_take(
	    &cluster, job, one.shape,
	    &(struct tl_alloc){one.nodes, one.gpus, one.shape->workers, one.shape->gpus});
	(*taken)++;
}

static void step_release(uint32_t slot)
{
	struct tl_alloc where;

	if (!held[slot].job)
		return;
	where = alloc_of(&held[slot]);
	tl_cluster_release(&cluster, held[slot].job, held[slot].shape, &where);
	held[slot].job = 0;
}

static void step_drain(uint32_t slot)
{
	struct tl_alloc where;

	if (!held[slot].job || held[slot].draining)
		return;
	where = alloc_of(&held[slot]);
	tl_cluster_mark_draining(&cluster, held[slot].job, held[slot].shape, &where);
	held[slot].draining = true;
}

static void step_measure(uint32_t slot)
{
	uint64_t version = cluster.view.version;
	struct tl_alloc where;

	if (!held[slot].job)
		return;
	where = alloc_of(&held[slot]);
	held[slot].measured_milli = (int32_t)below(8) * 100 - 100;
	tl_cluster_measured(&cluster, held[slot].job, &where, held[slot].measured_milli);
	cr_assert_eq(cluster.view.version, version);
}

static void step_state(void)
{
	uint32_t n = below(NODES);
	enum tl_node_state state = (enum tl_node_state)below(3);

	if (state == TL_NODE_DOWN)
		for (uint32_t h = 0; h < HELD; h++)
			for (uint32_t w = 0; held[h].job && w < held[h].shape->workers; w++)
				if (held[h].nodes[w] == n)
					step_release(h);
	tl_cluster_set_node_state(&cluster, n, state);
	tl_cluster_set_node_state(&cluster, below(NODES), TL_NODE_UP);
}

/* Ratios of the pools of the two models: one where they are the same. */
static void agree_at(bool walls, int64_t ratio, int64_t other_ratio, uint32_t steps)
{
	static const int64_t gpus[2] = {11, 3};
	uint64_t taken = 0;
	int64_t most_excess[2] = {0, 0};

	ratios_milli[0] = ratio;
	ratios_milli[1] = other_ratio;
	tl_rng_init(&rng, 1, TL_STREAM_TEST, 0);
	make_world(walls);
	tl_cluster_oversubscribe(&cluster, NULL, ratio);
	if (walls)
		tl_cluster_oversubscribe(&cluster, "y", other_ratio);
	for (uint32_t step = 0; step < steps; step++) {
		uint32_t what = below(100);

		if (what < 55)
			step_take(step + 1, &taken);
		else if (what < 65)
			step_measure(below(HELD));
		else if (what < 96)
			step_release(below(HELD));
		else if (what < 99)
			step_drain(below(HELD));
		else
			step_state();
		if (step % VERIFY_EVERY == 0)
			compare();
		for (uint32_t m = 0; m < 2; m++) {
			int64_t excess = tl_cluster_oversubscription(&cluster, m)->excess_mgpu;

			most_excess[m] = excess > most_excess[m] ? excess : most_excess[m];
		}
	}
	compare();
	for (uint32_t m = 0; m < 2; m++) {
		cr_assert_eq(most_excess[m] > 0, ratios_milli[m] > 1000);
		cr_assert_leq(most_excess[m], (walls ? gpus[m] : GPUS) * (ratios_milli[m] - 1000));
	}
	cr_assert_gt(taken, steps / 20, "too few legal placements to mean anything: %llu",
	             (unsigned long long)taken);
	for (uint32_t h = 0; h < HELD; h++)
		step_release(h);
	for (uint32_t n = 0; n < NODES; n++)
		tl_cluster_set_node_state(&cluster, n, TL_NODE_UP);
	compare();
	cr_assert_eq(cluster.view.free_gpus, GPUS);
	cr_assert_eq(cluster.allocated_mgpu, 0);
	tl_cluster_fini(&cluster);
	memset(held, 0, sizeof held);
}

Test(cluster_model, agrees_with_a_recount)
{
	agree_at(false, 1000, 1000, STEPS);
}

Test(cluster_model, agrees_with_a_recount_when_oversubscribed)
{
	agree_at(false, 1150, 1150, STEPS / 8);
	agree_at(false, 1500, 1500, STEPS / 8);
	agree_at(false, 2000, 2000, STEPS / 8);
}

Test(cluster_model, agrees_with_a_recount_of_each_pool)
{
	agree_at(true, 1000, 1000, STEPS / 16);
	agree_at(true, 1000, 2000, STEPS / 8);
	agree_at(true, 1300, 1000, STEPS / 8);
	agree_at(true, 1150, 1700, STEPS / 8);
}
