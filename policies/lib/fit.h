/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether a worker fits a node, how many fit, and which of the node's GPUs they take.
 * Reads the view it is given and nothing else, so hypothetical views do as well.
 *
 * The GPUs of a job are distinct, over all its workers. A GPU whose memory is unknown
 * (total −1) holds whatever is asked; a worker that states none takes none.
 */
#ifndef TIDELAB_LIB_FIT_H
#define TIDELAB_LIB_FIT_H

#include "policies/abi/tidelab_policy.h"

enum { TL_FIT_WHOLE_MGPU = 1000 };

/* Worker number `worker` of a shape. */
static inline const struct tl_worker *tl_fit_worker(const struct tl_shape *shape, uint32_t worker)
{
	return worker + 1 < shape->workers ? &shape->full : &shape->last;
}

/* What a GPU's residents leave of it: nothing where they ask for more than there is. */
static inline int32_t tl_fit_left(int32_t nominal_mgpu)
{
	return nominal_mgpu < TL_FIT_WHOLE_MGPU ? TL_FIT_WHOLE_MGPU - nominal_mgpu : 0;
}

static inline int64_t tl_fit_memory(const struct tl_gpu_view *gpu, const struct tl_worker *worker)
{
	return gpu->total_memory_bytes < 0 || worker->gpu_memory_bytes < 0
	           ? 0
	           : worker->gpu_memory_bytes;
}

/* Whether a GPU has room for one worker's share and memory. */
static inline int tl_fit_gpu(const struct tl_gpu_view *gpu, const struct tl_worker *worker)
{
	int64_t memory = tl_fit_memory(gpu, worker);

	return gpu->free_mgpu >= worker->share_mgpu &&
	       (memory == 0 || gpu->free_memory_bytes >= memory);
}

/* GPUs of the node with room for the worker, counting at most `enough`. */
static inline uint32_t tl_fit_gpus(const struct tl_view *view, const struct tl_node_view *node,
                                   const struct tl_worker *worker, uint32_t enough)
{
	uint32_t count = 0;

	if (worker->share_mgpu == TL_FIT_WHOLE_MGPU && worker->gpu_memory_bytes <= 0)
		return node->free_gpus < enough ? node->free_gpus : enough;
	for (uint32_t g = 0; g < node->gpu_count && count < enough; g++)
		count += (uint32_t)tl_fit_gpu(tl_view_gpu(view, node->first_gpu + g), worker);
	return count;
}

/* Whether the node may hold the worker at all, and has the CPU, RAM and sum of GPU shares
 * for it: all but the GPUs one by one. Cheap. */
static inline int tl_fit_coarse(const struct tl_node_view *node, uint64_t model_mask,
                                const struct tl_worker *worker)
{
	if (node->state != TL_NODE_UP || node->free_cpu_milli < worker->cpu_milli ||
	    node->free_ram_bytes < worker->ram_bytes)
		return 0;
	if (worker->gpus == 0)
		return tl_node_allowed(node, model_mask);
	if (node->free_mgpu < (int64_t)worker->gpus * worker->share_mgpu)
		return 0;
	if (worker->share_mgpu == TL_FIT_WHOLE_MGPU && node->free_gpus < worker->gpus)
		return 0;
	return tl_node_allowed(node, model_mask);
}

/* Whether the node has room for one such worker. O(GPUs of the node). */
static inline int tl_fit_node(const struct tl_view *view, const struct tl_node_view *node,
                              uint64_t model_mask, const struct tl_worker *worker)
{
	return tl_fit_coarse(node, model_mask, worker) &&
	       (worker->gpus == 0 || tl_fit_gpus(view, node, worker, worker->gpus) == worker->gpus);
}

/* Whether the node that a placement gives a worker is up, and has the CPU and RAM of all the
 * placement's workers that are on it. O(workers). */
static inline int tl_fit_host(const struct tl_view *view, const struct tl_shape *shape,
                              const struct tl_placement *where, uint32_t worker)
{
	const struct tl_node_view *node = tl_view_node(view, where->nodes[worker]);
	int64_t cpu_milli = 0, ram_bytes = 0;

	for (uint32_t w = 0; w < where->worker_count; w++) {
		if (where->nodes[w] != where->nodes[worker])
			continue;
		cpu_milli += tl_fit_worker(shape, w)->cpu_milli;
		ram_bytes += tl_fit_worker(shape, w)->ram_bytes;
	}
	return node->state == TL_NODE_UP && node->free_cpu_milli >= cpu_milli &&
	       node->free_ram_bytes >= ram_bytes;
}

static inline int64_t tl_fit_quotient(int64_t room, int64_t each, int64_t most)
{
	return each > 0 && room / each < most ? room / each : most;
}

/* How many `worker`s (at most `most`) the node has room for beside one `beside` (NULL:
 * none); -1 where not even that one fits. Exact. O(GPUs of the node). */
static inline int64_t tl_fit_workers(const struct tl_view *view, const struct tl_node_view *node,
                                     uint64_t model_mask, const struct tl_worker *worker,
                                     const struct tl_worker *beside, uint32_t most)
{
	int64_t cpu = node->free_cpu_milli, ram = node->free_ram_bytes;
	int64_t both = 0, first = 0,
		second = 0; /* GPUs with room for either, only one, only the other */
	int64_t fit;

	if (beside) {
		if (!tl_fit_coarse(node, model_mask, beside))
			return -1;
		cpu -= beside->cpu_milli;
		ram -= beside->ram_bytes;
	}
	for (uint32_t g = 0; g < node->gpu_count; g++) {
		const struct tl_gpu_view *gpu = tl_view_gpu(view, node->first_gpu + g);
		int for_worker = tl_fit_gpu(gpu, worker);
		int for_beside = beside && tl_fit_gpu(gpu, beside);

		both += for_worker && for_beside;
		first += for_worker && !for_beside;
		second += !for_worker && for_beside;
	}
	if (beside && beside->gpus > both + second)
		return -1;
	if (!tl_fit_coarse(node, model_mask, worker))
		return 0;
	/* The one beside takes GPUs that are of no use to the others first. */
	if (beside && beside->gpus > second)
		both -= (int64_t)beside->gpus - second;
	fit = tl_fit_quotient(cpu, worker->cpu_milli, most);
	fit = tl_fit_quotient(ram, worker->ram_bytes, fit);
	return tl_fit_quotient(first + both, worker->gpus, fit);
}

/* ---- which GPUs -------------------------------------------------------------------- */

enum tl_fit_style {
	TL_FIT_TIGHT, /* shares: the card with the least left; whole: keep GPU pairs intact */
	TL_FIT_LOOSE  /* shares: the card with the most left */
};

/* k GPUs with room for the worker, the tightest (loosest) first, ties to the lower number;
 * GPUs with room for `avoid` (may be NULL) only after all others. */
static inline void tl_fit_pick_shares(const struct tl_view *view, const struct tl_node_view *node,
                                      const struct tl_worker *worker, const struct tl_worker *avoid,
                                      enum tl_fit_style style, uint32_t *out)
{
	int64_t last_rank = INT64_MIN;
	uint32_t last = 0;

	for (uint32_t i = 0; i < worker->gpus; i++) {
		int64_t best_rank = INT64_MAX;
		uint32_t best = 0;

		/* The least (rank, number) after the last one taken. */
		for (uint32_t g = node->first_gpu; g < node->first_gpu + node->gpu_count; g++) {
			const struct tl_gpu_view *gpu = tl_view_gpu(view, g);
			int64_t rank = style == TL_FIT_TIGHT ? gpu->free_mgpu : -gpu->free_mgpu;

			if (!tl_fit_gpu(gpu, worker))
				continue;
			if (avoid && tl_fit_gpu(gpu, avoid))
				rank += 4 * TL_FIT_WHOLE_MGPU;
			if (rank < best_rank &&
			    (rank > last_rank || (rank == last_rank && g > last))) {
				best_rank = rank;
				best = g;
			}
		}
		out[i] = best;
		last_rank = best_rank;
		last = best;
	}
}

static inline int tl_fit_whole(const struct tl_view *view, const struct tl_node_view *node,
                               const struct tl_worker *worker, uint32_t g)
{
	return g < node->gpu_count && tl_fit_gpu(tl_view_gpu(view, node->first_gpu + g), worker);
}

/* The pair from which `pairs` intact pairs in a row begin, within the shortest row that
 * holds so many; TL_NO_INDEX where no row does. */
static inline uint32_t tl_fit_pair_row(const struct tl_view *view, const struct tl_node_view *node,
                                       const struct tl_worker *worker, uint32_t pairs)
{
	uint32_t best = TL_NO_INDEX, best_length = UINT32_MAX, length = 0;

	for (uint32_t g = 0; g <= node->gpu_count; g += 2) {
		if (tl_fit_whole(view, node, worker, g) &&
		    tl_fit_whole(view, node, worker, g + 1)) {
			length++;
			continue;
		}
		if (length >= pairs && length < best_length) {
			best = g / 2 - length;
			best_length = length;
		}
		length = 0;
	}
	return best;
}

/* Whole GPUs: an odd one from a pair that is already broken, the others as intact pairs
 * in a row where there is one, else pairs from the front, then what is left. */
static inline void tl_fit_pick_whole(const struct tl_view *view, const struct tl_node_view *node,
                                     const struct tl_worker *worker, uint32_t *out)
{
	uint32_t wanted = worker->gpus, got = 0;
	uint32_t row = wanted >= 2 ? tl_fit_pair_row(view, node, worker, wanted / 2) : TL_NO_INDEX;

	if (row != TL_NO_INDEX)
		for (; got < wanted / 2 * 2; got++)
			out[got] = node->first_gpu + 2 * row + got;
	/* Pass 0: intact pairs; 1: halves of broken pairs; 2: whatever is left. */
	for (int pass = row == TL_NO_INDEX ? 0 : 1; pass < 3 && got < wanted; pass++) {
		for (uint32_t g = 0; g < node->gpu_count && got < wanted; g++) {
			int intact = tl_fit_whole(view, node, worker, g ^ 1);
			int taken = 0;

			if (!tl_fit_whole(view, node, worker, g) || (pass == 1 && intact) ||
			    (pass == 0 && (!intact || (g % 2 == 0 && wanted - got < 2))))
				continue;
			for (uint32_t i = 0; i < got && !taken; i++)
				taken = out[i] == node->first_gpu + g;
			if (pass == 0 && g % 2 == 1 &&
			    !(got > 0 && out[got - 1] == node->first_gpu + g - 1))
				continue;
			if (!taken)
				out[got++] = node->first_gpu + g;
		}
	}
}

/* The most that any one node has in all, to measure what is left against. O(nodes). */
struct tl_fit_largest {
	int64_t cpu_milli, ram_bytes, mgpu;
};

static inline struct tl_fit_largest tl_fit_largest(const struct tl_view *view)
{
	struct tl_fit_largest most = {1, 1, 1};

	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);
		int64_t mgpu = (int64_t)node->gpu_count * TL_FIT_WHOLE_MGPU;

		most.cpu_milli =
		    node->total_cpu_milli > most.cpu_milli ? node->total_cpu_milli : most.cpu_milli;
		most.ram_bytes =
		    node->total_ram_bytes > most.ram_bytes ? node->total_ram_bytes : most.ram_bytes;
		most.mgpu = mgpu > most.mgpu ? mgpu : most.mgpu;
	}
	return most;
}

/* Whether sparing GPUs for `avoid` (NULL: nobody) is no question: each GPU that one of the
 * two can use is as good for the other. */
static inline int tl_fit_alike(const struct tl_worker *worker, const struct tl_worker *avoid)
{
	return !avoid || avoid->gpus == 0 ||
	       (avoid->share_mgpu == worker->share_mgpu &&
	        avoid->gpu_memory_bytes == worker->gpu_memory_bytes);
}

/* GPUs of the node for one worker that fits it: out[worker->gpus]. avoid: a worker that is
 * still to come to this node (NULL: none), whose GPUs are spared where that is possible. */
static inline void tl_fit_pick(const struct tl_view *view, const struct tl_node_view *node,
                               const struct tl_worker *worker, const struct tl_worker *avoid,
                               enum tl_fit_style style, uint32_t *out)
{
	int alike = tl_fit_alike(worker, avoid);

	if (worker->gpus == 0)
		return;
	if (worker->share_mgpu == TL_FIT_WHOLE_MGPU && alike)
		tl_fit_pick_whole(view, node, worker, out);
	else
		tl_fit_pick_shares(view, node, worker, alike ? NULL : avoid, style, out);
}

#endif
