/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cluster/cluster.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/units.h"
#include "sim/cluster/device.h"
#include "sim/cluster/ratios.h"

#include <stdlib.h>

static bool node_up(const struct tl_node_view *node)
{
	return node->state == TL_NODE_UP;
}

static int64_t node_capacity_mgpu(const struct tl_node_view *node)
{
	return (int64_t)node->gpu_count * TL_MGPU_PER_GPU;
}

static bool node_partial(const struct tl_node_view *node)
{
	return node_up(node) && node->free_mgpu > 0 && node->free_mgpu < node_capacity_mgpu(node);
}

/* Every edit of a node stands between these two, which keep the sums over nodes. */
static void node_leave(struct tl_cluster *cluster, const struct tl_node_view *node)
{
	if (!node_up(node))
		return;
	cluster->view.free_gpus -= node->free_gpus;
	cluster->view.free_mgpu -= node->free_mgpu;
	cluster->free_count[node->free_gpus]--;
	cluster->partial_nodes -= node_partial(node);
}

static void node_enter(struct tl_cluster *cluster, struct tl_node_view *node)
{
	struct tl_view *view = &cluster->view;

	node->version = ++view->version;
	if (!node_up(node))
		return;
	view->free_gpus += node->free_gpus;
	view->free_mgpu += node->free_mgpu;
	cluster->free_count[node->free_gpus]++;
	cluster->partial_nodes += node_partial(node);
	if (node->free_gpus > view->max_free_gpus_hint)
		view->max_free_gpus_hint = node->free_gpus;
}

/* Amortised O(1): it falls only as far as it rose. */
static void lower_hint(struct tl_cluster *cluster)
{
	struct tl_view *view = &cluster->view;

	while (view->max_free_gpus_hint > 0 && cluster->free_count[view->max_free_gpus_hint] == 0)
		view->max_free_gpus_hint--;
}

static enum tl_status spec_check(const struct tl_cluster_spec *spec, struct tl_error *error)
{
	uint64_t gpus = 0;

	if (spec->node_count == 0 || spec->node_count >= TL_NO_INDEX)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "cluster `%s`: got %zu nodes, wanted at least 1", spec->name,
		                    spec->node_count);
	for (size_t i = 0; i < spec->node_count; i++) {
		const struct tl_node_spec *node = &spec->nodes[i];

		if (node->gpus > 0 && node->model >= spec->model_count)
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "node `%s`: GPUs without a GPU model", node->name);
		if (node->cpu_milli < 0 || node->ram_bytes < 0)
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "node `%s`: CPU or RAM is negative, wanted 0 or more",
			                    node->name);
		gpus += node->gpus;
	}
	if (gpus >= TL_NO_INDEX)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "cluster `%s`: %llu GPUs are too many", spec->name,
		                    (unsigned long long)gpus);
	return TL_OK;
}

static void node_init(struct tl_cluster *cluster, uint32_t number, uint32_t first_gpu)
{
	const struct tl_node_spec *spec = &cluster->spec->nodes[number];
	struct tl_node_view *node = &cluster->nodes[number];
	int64_t memory = spec->gpus > 0 ? cluster->spec->models[spec->model].memory_bytes : 0;

	*node = (struct tl_node_view){.free_cpu_milli = spec->cpu_milli,
	                              .total_cpu_milli = spec->cpu_milli,
	                              .free_ram_bytes = spec->ram_bytes,
	                              .total_ram_bytes = spec->ram_bytes,
	                              .free_mgpu = (int64_t)spec->gpus * TL_MGPU_PER_GPU,
	                              .first_gpu = first_gpu,
	                              .gpu_count = spec->gpus,
	                              .free_gpus = spec->gpus,
	                              .model = spec->model,
	                              .rack = spec->rack,
	                              .leaf = spec->leaf,
	                              .pod = spec->pod,
	                              .state = TL_NODE_UP};
	for (uint32_t g = first_gpu; g < first_gpu + spec->gpus; g++) {
		cluster->gpus[g] = (struct tl_gpu_view){.free_memory_bytes = memory,
		                                        .total_memory_bytes = memory,
		                                        .node = number,
		                                        .free_mgpu = TL_MGPU_PER_GPU};
		tl_residents_init(&cluster->residents[g]);
	}
}

enum tl_status tl_cluster_init(struct tl_cluster *cluster, const struct tl_cluster_spec *spec,
                               struct tl_error *error)
{
	enum tl_status status = spec_check(spec, error);
	uint32_t node_count = (uint32_t)spec->node_count;
	uint32_t gpu_count = 0;

	*cluster = (struct tl_cluster){.spec = spec};
	if (status != TL_OK)
		return status;
	for (uint32_t n = 0; n < node_count; n++) {
		gpu_count += spec->nodes[n].gpus;
		if (spec->nodes[n].gpus > cluster->largest_node_gpus)
			cluster->largest_node_gpus = spec->nodes[n].gpus;
	}
	cluster->nodes = tl_calloc(node_count, sizeof *cluster->nodes);
	cluster->gpus = tl_calloc(gpu_count, sizeof *cluster->gpus);
	cluster->residents = tl_calloc(gpu_count, sizeof *cluster->residents);
	cluster->demands = tl_calloc(node_count, sizeof *cluster->demands);
	cluster->marks = tl_calloc(gpu_count, sizeof *cluster->marks);
	tl_ratios_init(cluster);
	cluster->free_count =
	    tl_calloc((size_t)cluster->largest_node_gpus + 1, sizeof *cluster->free_count);
	cluster->view = (struct tl_view){.nodes = cluster->nodes,
	                                 .gpus = cluster->gpus,
	                                 .node_stride = sizeof *cluster->nodes,
	                                 .gpu_stride = sizeof *cluster->gpus,
	                                 .node_count = node_count,
	                                 .gpu_count = gpu_count,
	                                 .capacity_mgpu = (int64_t)gpu_count * TL_MGPU_PER_GPU};
	gpu_count = 0;
	for (uint32_t n = 0; n < node_count; n++) {
		node_init(cluster, n, gpu_count);
		node_enter(cluster, &cluster->nodes[n]);
		gpu_count += spec->nodes[n].gpus;
	}
	return TL_OK;
}

void tl_cluster_fini(struct tl_cluster *cluster)
{
	for (uint32_t g = 0; g < cluster->view.gpu_count; g++)
		tl_residents_fini(&cluster->residents[g]);
	free(cluster->nodes);
	free(cluster->gpus);
	free(cluster->residents);
	free(cluster->demands);
	free(cluster->marks);
	free(cluster->free_count);
	tl_ratios_fini(cluster);
	*cluster = (struct tl_cluster){0};
}

static bool is_isolated(const struct tl_shape *shape)
{
	return (shape->flags & TL_SHAPE_ISOLATED) != 0;
}

static const struct tl_worker *worker_of(const struct tl_shape *shape, uint32_t worker)
{
	return worker + 1 < shape->workers ? &shape->full : &shape->last;
}

/* One worker against its node, but for CPU and RAM, which all workers of the node share.
 * Adds what it would ask of its GPUs beyond what is there to what is asked of their pool. */
static enum tl_refusal check_worker(const struct tl_cluster *cluster, const struct tl_shape *shape,
                                    const struct tl_worker *worker, uint32_t at,
                                    const uint32_t *gpus)
{
	const struct tl_node_view *node;
	struct tl_ratio *ratio;

	if (at >= cluster->view.node_count)
		return TL_REFUSED_NO_SUCH_NODE;
	node = &cluster->nodes[at];
	ratio = tl_ratio_of(cluster, node);
	if (!node_up(node))
		return TL_REFUSED_NODE_NOT_UP;
	for (uint32_t i = 0; i < worker->gpus; i++) {
		const struct tl_gpu_view *gpu;

		if (gpus[i] >= cluster->view.gpu_count)
			return TL_REFUSED_NO_SUCH_GPU;
		gpu = &cluster->gpus[gpus[i]];
		if (gpu->node != at)
			return TL_REFUSED_GPU_NOT_ON_NODE;
		if (cluster->marks[gpus[i]])
			return TL_REFUSED_DUPLICATE_GPU;
		cluster->marks[gpus[i]] = 1;
		if (!tl_node_allowed(node, shape->model_mask))
			return TL_REFUSED_MODEL;
		if (gpu->free_mgpu < worker->share_mgpu) {
			if (gpu->residents >= ratio->view.residents || is_isolated(shape) ||
			    cluster->residents[gpus[i]].isolated > 0)
				return TL_REFUSED_GPU_SHARE;
			ratio->asked_mgpu += worker->share_mgpu - gpu->free_mgpu;
		}
		if (tl_device_memory(gpu, worker) > 0 &&
		    gpu->free_memory_bytes < worker->gpu_memory_bytes)
			return TL_REFUSED_GPU_MEMORY;
	}
	return tl_node_allowed(node, shape->model_mask) ? TL_ACCEPTED : TL_REFUSED_MODEL;
}

static enum tl_refusal check_workers(const struct tl_cluster *cluster, const struct tl_shape *shape,
                                     const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;

	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_worker *worker = worker_of(shape, w);
		uint32_t at = where->nodes[w];
		enum tl_refusal refusal = check_worker(cluster, shape, worker, at, gpus);
		struct tl_demand *demand;

		if (refusal != TL_ACCEPTED)
			return refusal;
		demand = &cluster->demands[at];
		demand->cpu_milli += worker->cpu_milli;
		demand->ram_bytes += worker->ram_bytes;
		if (demand->cpu_milli > cluster->nodes[at].free_cpu_milli)
			return TL_REFUSED_CPU;
		if (demand->ram_bytes > cluster->nodes[at].free_ram_bytes)
			return TL_REFUSED_RAM;
		gpus += worker->gpus;
	}
	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_ratio *ratio =
		    tl_ratio_of(cluster, &cluster->nodes[where->nodes[w]]);

		if (ratio && ratio->asked_mgpu > 0 &&
		    ratio->view.excess_mgpu + ratio->asked_mgpu > ratio->view.excess_limit_mgpu)
			return TL_REFUSED_RATIO;
	}
	return TL_ACCEPTED;
}

enum tl_refusal tl_cluster_check(const struct tl_cluster *cluster, const struct tl_shape *shape,
                                 const struct tl_placement *where)
{
	enum tl_refusal refusal;

	if (!where || (where->worker_count > 0 && !where->nodes) ||
	    (where->gpu_count > 0 && !where->gpus))
		return TL_REFUSED_ARGUMENT;
	if (where->worker_count != shape->workers || where->gpu_count != shape->gpus)
		return TL_REFUSED_PLACEMENT_SHAPE;
	refusal = check_workers(cluster, shape, where);
	for (uint32_t w = 0; w < where->worker_count; w++) {
		struct tl_ratio *ratio;

		if (where->nodes[w] >= cluster->view.node_count)
			continue;
		cluster->demands[where->nodes[w]] = (struct tl_demand){0};
		ratio = tl_ratio_of(cluster, &cluster->nodes[where->nodes[w]]);
		if (ratio)
			ratio->asked_mgpu = 0;
	}
	for (uint32_t i = 0; i < where->gpu_count; i++)
		if (where->gpus[i] < cluster->view.gpu_count)
			cluster->marks[where->gpus[i]] = 0;
	return refusal;
}

/* Work took so much of one of the node's GPUs, and beyond it; negative: gave back. */
static void count_taken(struct tl_cluster *cluster, const struct tl_node_view *node,
                        int64_t physical_mgpu, int64_t excess_mgpu)
{
	cluster->allocated_mgpu += physical_mgpu;
	cluster->excess_mgpu += excess_mgpu;
	tl_ratio_take(tl_ratio_of(cluster, node), physical_mgpu, excess_mgpu);
}

void tl_cluster_take(struct tl_cluster *cluster, tl_job_id job, const struct tl_shape *shape,
                     const struct tl_alloc *where)
{
	const struct tl_placement placement = {.nodes = where->nodes,
	                                       .gpus = where->gpus,
	                                       .worker_count = where->worker_count,
	                                       .gpu_count = where->gpu_count};
	const uint32_t *gpus = where->gpus;

	TL_ASSERT(tl_cluster_check(cluster, shape, &placement) == TL_ACCEPTED);
	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_worker *worker = worker_of(shape, w);
		struct tl_node_view *node = &cluster->nodes[where->nodes[w]];

		node_leave(cluster, node);
		node->free_cpu_milli -= worker->cpu_milli;
		node->free_ram_bytes -= worker->ram_bytes;
		for (uint32_t i = 0; i < worker->gpus; i++) {
			struct tl_gpu_view *gpu = &cluster->gpus[gpus[i]];
			int32_t taken_mgpu = gpu->free_mgpu;

			node->free_gpus -= gpu->free_mgpu == TL_MGPU_PER_GPU;
			tl_device_take(gpu, &cluster->residents[gpus[i]], job, worker);
			cluster->residents[gpus[i]].isolated += is_isolated(shape);
			taken_mgpu -= gpu->free_mgpu;
			node->free_mgpu -= taken_mgpu;
			count_taken(cluster, node, taken_mgpu, worker->share_mgpu - taken_mgpu);
		}
		node_enter(cluster, node);
		gpus += worker->gpus;
	}
	lower_hint(cluster);
}

void tl_cluster_release(struct tl_cluster *cluster, tl_job_id job, const struct tl_shape *shape,
                        const struct tl_alloc *where)
{
	const uint32_t *gpus = where->gpus;

	TL_ASSERT(where->worker_count == shape->workers && where->gpu_count == shape->gpus);
	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_worker *worker = worker_of(shape, w);
		struct tl_node_view *node = &cluster->nodes[where->nodes[w]];
		bool up = node_up(node);

		TL_ASSERT(where->nodes[w] < cluster->view.node_count &&
		          node->state != TL_NODE_DOWN);
		node_leave(cluster, node);
		node->free_cpu_milli += worker->cpu_milli;
		node->free_ram_bytes += worker->ram_bytes;
		TL_ASSERT(node->free_cpu_milli <= node->total_cpu_milli);
		TL_ASSERT(node->free_ram_bytes <= node->total_ram_bytes);
		for (uint32_t i = 0; i < worker->gpus; i++) {
			struct tl_gpu_view *gpu = &cluster->gpus[gpus[i]];
			struct tl_residents *residents = &cluster->residents[gpus[i]];
			int64_t excess_mgpu = tl_residents_excess_mgpu(residents), given_mgpu;

			TL_ASSERT(gpus[i] < cluster->view.gpu_count &&
			          gpu->node == where->nodes[w]);
			if (tl_device_release(gpu, residents, job, worker, up))
				node->draining_mgpu -= worker->share_mgpu;
			residents->isolated -= is_isolated(shape);
			excess_mgpu -= tl_residents_excess_mgpu(residents);
			given_mgpu = worker->share_mgpu - excess_mgpu;
			node->free_gpus += gpu->free_mgpu == TL_MGPU_PER_GPU;
			node->free_mgpu += up ? given_mgpu : 0;
			count_taken(cluster, node, -given_mgpu, -excess_mgpu);
		}
		node_enter(cluster, node);
		gpus += worker->gpus;
	}
}

void tl_cluster_mark_draining(struct tl_cluster *cluster, tl_job_id job,
                              const struct tl_shape *shape, const struct tl_alloc *where)
{
	const uint32_t *gpus = where->gpus;

	TL_ASSERT(where->worker_count == shape->workers && where->gpu_count == shape->gpus);
	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_worker *worker = worker_of(shape, w);
		struct tl_node_view *node = &cluster->nodes[where->nodes[w]];

		for (uint32_t i = 0; i < worker->gpus; i++) {
			tl_device_drain(&cluster->gpus[gpus[i]], &cluster->residents[gpus[i]], job,
			                worker);
			node->draining_mgpu += worker->share_mgpu;
		}
		node->version = ++cluster->view.version;
		gpus += worker->gpus;
	}
}

/* The node's GPUs are lost (sign 1) or back (−1). */
static void count_down(struct tl_cluster *cluster, const struct tl_node_view *node, int sign)
{
	cluster->down_mgpu += sign * node_capacity_mgpu(node);
	if (node->gpu_count > 0)
		tl_ratio_add_gpus(tl_ratio_of(cluster, node), -sign * (int64_t)node->gpu_count);
}

void tl_cluster_set_node_state(struct tl_cluster *cluster, uint32_t number,
                               enum tl_node_state state)
{
	struct tl_node_view *node = &cluster->nodes[number];
	uint32_t last = node->first_gpu + node->gpu_count;
	bool up = state == TL_NODE_UP;

	TL_ASSERT(number < cluster->view.node_count);
	if (node->state == (uint32_t)state)
		return;
	node_leave(cluster, node);
	if (node->state == TL_NODE_DOWN)
		count_down(cluster, node, -1);
	if (state == TL_NODE_DOWN) {
		TL_ASSERT(node->free_cpu_milli == node->total_cpu_milli);
		TL_ASSERT(node->free_ram_bytes == node->total_ram_bytes);
		count_down(cluster, node, 1);
	}
	node->state = (uint32_t)state;
	node->free_mgpu = 0;
	node->free_gpus = 0;
	for (uint32_t g = node->first_gpu; g < last; g++) {
		struct tl_gpu_view *gpu = &cluster->gpus[g];
		const struct tl_residents *residents = &cluster->residents[g];

		TL_ASSERT(state != TL_NODE_DOWN || residents->count == 0);
		gpu->free_mgpu = up ? tl_residents_free_mgpu(residents) : 0;
		node->free_mgpu += gpu->free_mgpu;
		node->free_gpus += gpu->free_mgpu == TL_MGPU_PER_GPU;
	}
	node_enter(cluster, node);
	lower_hint(cluster);
}

const tl_job_id *tl_cluster_gpu_jobs(const struct tl_cluster *cluster, uint32_t gpu,
                                     uint32_t *count)
{
	*count = cluster->residents[gpu].count;
	return cluster->residents[gpu].jobs;
}

static void verify_node(const struct tl_cluster *cluster, uint32_t number, int64_t *used,
                        int64_t *excess)
{
	const struct tl_node_view *node = &cluster->nodes[number];
	int64_t free_mgpu = 0, draining = 0;
	uint32_t free_gpus = 0;

	for (uint32_t g = node->first_gpu; g < node->first_gpu + node->gpu_count; g++) {
		const struct tl_gpu_view *gpu = &cluster->gpus[g];
		const struct tl_residents *residents = &cluster->residents[g];

		TL_ASSERT(gpu->node == number && gpu->residents == residents->count);
		TL_ASSERT(residents->used_mgpu >= 0);
		TL_ASSERT(residents->used_mgpu <= TL_MGPU_PER_GPU ||
		          (residents->count == tl_ratio_of(cluster, node)->view.residents &&
		           residents->isolated == 0));
		tl_residents_verify(residents);
		TL_ASSERT(gpu->utilisation_milli == tl_residents_utilisation_milli(residents));
		TL_ASSERT(gpu->free_mgpu ==
		          (node_up(node) ? tl_residents_free_mgpu(residents) : 0));
		TL_ASSERT(gpu->nominal_mgpu == residents->used_mgpu);
		TL_ASSERT(gpu->draining_mgpu >= 0 && gpu->draining_mgpu <= residents->used_mgpu);
		TL_ASSERT(gpu->total_memory_bytes < 0 ||
		          (gpu->free_memory_bytes >= 0 &&
		           gpu->free_memory_bytes <= gpu->total_memory_bytes));
		TL_ASSERT(cluster->marks[g] == 0);
		free_mgpu += gpu->free_mgpu;
		free_gpus += gpu->free_mgpu == TL_MGPU_PER_GPU;
		draining += gpu->draining_mgpu;
		*used += residents->used_mgpu;
		*excess += tl_residents_excess_mgpu(residents);
	}
	TL_ASSERT(node->free_mgpu == free_mgpu && node->free_gpus == free_gpus);
	TL_ASSERT(node->draining_mgpu == draining);
	TL_ASSERT(node->free_cpu_milli >= 0 && node->free_cpu_milli <= node->total_cpu_milli);
	TL_ASSERT(node->free_ram_bytes >= 0 && node->free_ram_bytes <= node->total_ram_bytes);
	TL_ASSERT(node->version <= cluster->view.version);
	TL_ASSERT(cluster->demands[number].cpu_milli == 0 &&
	          cluster->demands[number].ram_bytes == 0);
}

void tl_cluster_verify(const struct tl_cluster *cluster)
{
	const struct tl_view *view = &cluster->view;
	int64_t used = 0, excess = 0, free_mgpu = 0, down = 0;
	uint32_t free_gpus = 0, most = 0, partial = 0;
	uint32_t *count = tl_calloc((size_t)cluster->largest_node_gpus + 1, sizeof *count);

	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = &cluster->nodes[n];

		verify_node(cluster, n, &used, &excess);
		free_mgpu += node->free_mgpu;
		free_gpus += node->free_gpus;
		partial += node_partial(node);
		most = node->free_gpus > most ? node->free_gpus : most;
		down += node->state == TL_NODE_DOWN ? node_capacity_mgpu(node) : 0;
		if (node_up(node))
			count[node->free_gpus]++;
	}
	TL_ASSERT(cluster->allocated_mgpu == used - excess);
	TL_ASSERT(cluster->excess_mgpu == excess);
	tl_ratios_verify(cluster);
	TL_ASSERT(cluster->down_mgpu == down);
	TL_ASSERT(cluster->partial_nodes == partial);
	TL_ASSERT(view->free_gpus == free_gpus && view->free_mgpu == free_mgpu);
	TL_ASSERT(view->max_free_gpus_hint == most);
	for (uint32_t k = 0; k <= cluster->largest_node_gpus; k++)
		TL_ASSERT(cluster->free_count[k] == count[k]);
	free(count);
}
