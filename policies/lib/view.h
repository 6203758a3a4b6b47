/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A hypothetical view: a copy of a view that can be edited the way the host edits the
 * live one, for reservations, defragmentation, what-if questions and gangs half placed.
 *
 *   struct tl_scratch_view scratch = {0};
 *   if (tl_scratch_copy(&scratch, host, host->view(host)) != 0) …    memory is out
 *   tl_scratch_give(&scratch, shape, &where, 0);                     as if it had ended
 *   place->choose(self, &scratch.view, other_shape, &out);
 *
 * Versions. An edited node's version is a hash of its live version and of what was taken
 * and given since, in whatever order, with the top bit set, which no live version has: a
 * cache by (node, version) stays right whatever is edited, undone or copied anew, and an
 * untouched copy shares the live one's entries. What an edited GPU would be measured to use
 * is not known, unless it is empty. An edit costs O(GPUs edited).
 */
#ifndef TIDELAB_LIB_VIEW_H
#define TIDELAB_LIB_VIEW_H

#include "policies/abi/tidelab_policy.h"
#include "policies/lib/fit.h"
#include "policies/lib/hash.h"

#include <string.h>

#define TL_SCRATCH_VERSION (UINT64_C(1) << 63)

struct tl_scratch_view {
	struct tl_view view; /* points at the arrays below; valid after the first copy */
	struct tl_node_view *nodes;
	struct tl_gpu_view *gpus;
	uint32_t *free_count; /* free_count[k]: nodes with k wholly free GPUs */
	uint32_t node_room, gpu_room, count_room;
	uint64_t base, edits; /* of the view's version */
};

/* Makes room for views of that size: 0, or -1 where memory is out. Copying does it too. */
static inline int tl_scratch_init(struct tl_scratch_view *scratch, const struct tl_host *host,
                                  const struct tl_view *view)
{
	if (view->node_count > scratch->node_room || !scratch->nodes) {
		scratch->node_room = 0;
		scratch->nodes =
		    host->alloc(host, (size_t)view->node_count * sizeof *scratch->nodes + 1);
		if (!scratch->nodes)
			return -1;
		scratch->node_room = view->node_count;
	}
	if (view->gpu_count > scratch->gpu_room || !scratch->gpus) {
		scratch->gpu_room = 0;
		scratch->gpus =
		    host->alloc(host, (size_t)view->gpu_count * sizeof *scratch->gpus + 1);
		if (!scratch->gpus)
			return -1;
		scratch->gpu_room = view->gpu_count;
	}
	if (view->gpu_count >= scratch->count_room) {
		scratch->count_room = 0;
		scratch->free_count =
		    host->alloc(host, ((size_t)view->gpu_count + 1) * sizeof *scratch->free_count);
		if (!scratch->free_count)
			return -1;
		scratch->count_room = view->gpu_count + 1;
	}
	return 0;
}

/* Becomes a copy of the view: 0, or -1 where memory is out. O(nodes + GPUs). */
static inline int tl_scratch_copy(struct tl_scratch_view *scratch, const struct tl_host *host,
                                  const struct tl_view *view)
{
	if (tl_scratch_init(scratch, host, view) != 0)
		return -1;
	if (view->node_stride == sizeof *scratch->nodes)
		memcpy(scratch->nodes, view->nodes, view->node_count * sizeof *scratch->nodes);
	else
		for (uint32_t n = 0; n < view->node_count; n++)
			scratch->nodes[n] = *tl_view_node(view, n);
	if (view->gpu_stride == sizeof *scratch->gpus)
		memcpy(scratch->gpus, view->gpus, view->gpu_count * sizeof *scratch->gpus);
	else
		for (uint32_t g = 0; g < view->gpu_count; g++)
			scratch->gpus[g] = *tl_view_gpu(view, g);
	scratch->view = *view;
	scratch->view.nodes = scratch->nodes;
	scratch->view.gpus = scratch->gpus;
	scratch->view.node_stride = sizeof *scratch->nodes;
	scratch->view.gpu_stride = sizeof *scratch->gpus;
	scratch->base = tl_hash_word(view->version);
	scratch->edits = 0;
	scratch->view.max_free_gpus_hint = 0;
	memset(scratch->free_count, 0, scratch->count_room * sizeof *scratch->free_count);
	for (uint32_t n = 0; n < view->node_count; n++) {
		uint32_t free_gpus = scratch->nodes[n].free_gpus;

		scratch->free_count[free_gpus]++;
		if (free_gpus > scratch->view.max_free_gpus_hint)
			scratch->view.max_free_gpus_hint = free_gpus;
	}
	return 0;
}

/* One worker's part in a node's version: the sum over what it takes. */
static inline uint64_t tl_scratch_part(const struct tl_scratch_view *scratch,
                                       const struct tl_worker *worker, const uint32_t *gpus)
{
	uint64_t part =
	    tl_hash_more(tl_hash_word((uint64_t)worker->cpu_milli), (uint64_t)worker->ram_bytes);

	for (uint32_t i = 0; i < worker->gpus; i++) {
		int64_t memory = tl_fit_memory(&scratch->gpus[gpus[i]], worker);
		uint64_t share = (uint64_t)gpus[i] << 32 | (uint32_t)worker->share_mgpu;

		part += tl_hash_more(tl_hash_word(share), (uint64_t)memory);
	}
	return part;
}

/* Every edit of a node stands between these two; `change`: what the edit adds to the node's
 * version, so that taking and giving back the same cancel out. */
static inline void tl_scratch_leave(struct tl_scratch_view *scratch, uint32_t number)
{
	const struct tl_node_view *node = &scratch->nodes[number];

	scratch->view.free_gpus -= node->free_gpus;
	scratch->view.free_mgpu -= node->free_mgpu;
	scratch->free_count[node->free_gpus]--;
	scratch->edits -= tl_hash_more(node->version, number);
}

static inline void tl_scratch_enter(struct tl_scratch_view *scratch, uint32_t number,
                                    uint64_t change)
{
	struct tl_node_view *node = &scratch->nodes[number];
	struct tl_view *view = &scratch->view;
	int live = !(node->version & TL_SCRATCH_VERSION);

	node->version = (live ? tl_hash_word(node->version) : node->version) + change;
	node->version |= TL_SCRATCH_VERSION;
	scratch->edits += tl_hash_more(node->version, number);
	view->version = tl_hash_more(scratch->base, scratch->edits) | TL_SCRATCH_VERSION;
	view->free_gpus += node->free_gpus;
	view->free_mgpu += node->free_mgpu;
	scratch->free_count[node->free_gpus]++;
	if (node->free_gpus > view->max_free_gpus_hint)
		view->max_free_gpus_hint = node->free_gpus;
	while (view->max_free_gpus_hint > 0 && scratch->free_count[view->max_free_gpus_hint] == 0)
		view->max_free_gpus_hint--;
}

/* One worker takes (gives back) its part of a node. No check: the placement must fit
 * (be held). draining: it was Suspending, so its share was marked as such. */
static inline void tl_scratch_take_worker(struct tl_scratch_view *scratch,
                                          const struct tl_worker *worker, uint32_t number,
                                          const uint32_t *gpus)
{
	struct tl_node_view *node = &scratch->nodes[number];

	tl_scratch_leave(scratch, number);
	node->free_cpu_milli -= worker->cpu_milli;
	node->free_ram_bytes -= worker->ram_bytes;
	for (uint32_t i = 0; i < worker->gpus; i++) {
		struct tl_gpu_view *gpu = &scratch->gpus[gpus[i]];
		int32_t taken_mgpu = tl_fit_left(gpu->nominal_mgpu);

		gpu->nominal_mgpu += worker->share_mgpu;
		taken_mgpu -= tl_fit_left(gpu->nominal_mgpu);
		node->free_gpus -= gpu->free_mgpu == TL_FIT_WHOLE_MGPU;
		node->free_mgpu -= taken_mgpu;
		gpu->free_mgpu -= taken_mgpu;
		gpu->free_memory_bytes -= tl_fit_memory(gpu, worker);
		gpu->residents++;
		gpu->utilisation_milli = -1;
	}
	tl_scratch_enter(scratch, number, tl_scratch_part(scratch, worker, gpus));
}

static inline void tl_scratch_give_worker(struct tl_scratch_view *scratch,
                                          const struct tl_worker *worker, uint32_t number,
                                          const uint32_t *gpus, int draining)
{
	struct tl_node_view *node = &scratch->nodes[number];
	uint64_t change = tl_scratch_part(scratch, worker, gpus);

	tl_scratch_leave(scratch, number);
	node->free_cpu_milli += worker->cpu_milli;
	node->free_ram_bytes += worker->ram_bytes;
	for (uint32_t i = 0; i < worker->gpus; i++) {
		struct tl_gpu_view *gpu = &scratch->gpus[gpus[i]];
		int32_t given_mgpu = -tl_fit_left(gpu->nominal_mgpu);

		gpu->nominal_mgpu -= worker->share_mgpu;
		given_mgpu += tl_fit_left(gpu->nominal_mgpu);
		/* On a node that is not up, what is given back stays out of reach. */
		if (node->state == TL_NODE_UP && given_mgpu > 0) {
			gpu->free_mgpu += given_mgpu;
			node->free_mgpu += given_mgpu;
			node->free_gpus += gpu->free_mgpu == TL_FIT_WHOLE_MGPU;
		}
		gpu->free_memory_bytes += tl_fit_memory(gpu, worker);
		gpu->residents--;
		gpu->utilisation_milli = gpu->residents > 0 ? -1 : 0;
		if (draining) {
			gpu->draining_mgpu -= worker->share_mgpu;
			node->draining_mgpu -= worker->share_mgpu;
			change += tl_hash_word(gpus[i]);
		}
	}
	tl_scratch_enter(scratch, number, 0 - change);
}

/* A job takes its placement (that fits), or gives back what it holds. O(its GPUs). */
static inline void tl_scratch_take(struct tl_scratch_view *scratch, const struct tl_shape *shape,
                                   const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;

	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);

		tl_scratch_take_worker(scratch, worker, where->nodes[w], gpus);
		gpus += worker->gpus;
	}
}

static inline void tl_scratch_give(struct tl_scratch_view *scratch, const struct tl_shape *shape,
                                   const struct tl_placement *where, int draining)
{
	const uint32_t *gpus = where->gpus;

	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);

		tl_scratch_give_worker(scratch, worker, where->nodes[w], gpus, draining);
		gpus += worker->gpus;
	}
}

/* Nobody may use these GPUs any more (a reservation): what is free of them is taken. */
static inline void tl_scratch_close_gpu(struct tl_scratch_view *scratch, uint32_t number)
{
	struct tl_gpu_view *gpu = &scratch->gpus[number];
	struct tl_node_view *node = &scratch->nodes[gpu->node];
	uint64_t change = tl_hash_word((uint64_t)number << 32 | (uint32_t)gpu->free_mgpu);

	tl_scratch_leave(scratch, gpu->node);
	node->free_gpus -= gpu->free_mgpu == TL_FIT_WHOLE_MGPU;
	node->free_mgpu -= gpu->free_mgpu;
	gpu->free_mgpu = 0;
	tl_scratch_enter(scratch, gpu->node, change);
}

#endif
