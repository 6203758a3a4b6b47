/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "policies/pipeline/hypo.h"

static int64_t lesser(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What an edit to something that is not a difference adds to a node's version. */
static uint64_t mark(uint64_t part, uint32_t gpu, int64_t share, int64_t memory)
{
	return part + tl_hash_more(tl_hash_more(tl_hash_word(~(uint64_t)gpu), (uint64_t)share),
	                           (uint64_t)memory);
}

/* Sets what is free of a GPU; between tl_scratch_leave and _enter of its node. */
static void set_free(struct tl_node_view *node, struct tl_gpu_view *gpu, int32_t free_mgpu)
{
	node->free_gpus -= gpu->free_mgpu == TL_FIT_WHOLE_MGPU;
	node->free_gpus += free_mgpu == TL_FIT_WHOLE_MGPU;
	node->free_mgpu += free_mgpu - gpu->free_mgpu;
	gpu->free_mgpu = free_mgpu;
}

void tl_hypo_withhold(struct tl_scratch_view *hypo, const struct tl_shape *shape,
                      const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);
		struct tl_node_view *node = &hypo->nodes[where->nodes[w]];
		tl_scratch_leave(hypo, where->nodes[w]);
		node->free_cpu_milli -= lesser(node->free_cpu_milli, worker->cpu_milli);
		node->free_ram_bytes -= lesser(node->free_ram_bytes, worker->ram_bytes);
		uint64_t change = mark(0, TL_NO_INDEX, node->free_cpu_milli, node->free_ram_bytes);
		for (uint32_t i = 0; i < worker->gpus; i++) {
			struct tl_gpu_view *gpu = &hypo->gpus[*gpus++];
			int32_t cut = (int32_t)lesser(gpu->free_mgpu, worker->share_mgpu);
			set_free(node, gpu, gpu->free_mgpu - cut);
			gpu->nominal_mgpu += cut;
			gpu->residents++;
			gpu->free_memory_bytes -=
			    lesser(gpu->free_memory_bytes, tl_fit_memory(gpu, worker));
			change = mark(change, gpus[-1], gpu->free_mgpu, gpu->free_memory_bytes);
		}
		tl_scratch_enter(hypo, where->nodes[w], change);
	}
}

int tl_hypo_has(const struct tl_scratch_view *hypo, const struct tl_shape *shape,
                const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);
		if (!tl_fit_host(&hypo->view, shape, where, w))
			return 0;
		for (uint32_t i = 0; i < worker->gpus; i++)
			if (!tl_fit_gpu(&hypo->gpus[*gpus++], worker))
				return 0;
	}
	return 1;
}

void tl_hypo_lower(struct tl_scratch_view *hypo, const struct tl_scratch_view *to,
                   const struct tl_shape *shape, const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);
		const struct tl_node_view *low = &to->nodes[where->nodes[w]];
		struct tl_node_view *node = &hypo->nodes[where->nodes[w]];
		tl_scratch_leave(hypo, where->nodes[w]);
		node->free_cpu_milli = lesser(node->free_cpu_milli, low->free_cpu_milli);
		node->free_ram_bytes = lesser(node->free_ram_bytes, low->free_ram_bytes);
		uint64_t change = mark(0, TL_NO_INDEX, node->free_cpu_milli, node->free_ram_bytes);
		for (uint32_t i = 0; i < worker->gpus; i++, gpus++) {
			const struct tl_gpu_view *other = &to->gpus[*gpus];
			struct tl_gpu_view *gpu = &hypo->gpus[*gpus];
			set_free(node, gpu, (int32_t)lesser(gpu->free_mgpu, other->free_mgpu));
			gpu->free_memory_bytes =
			    lesser(gpu->free_memory_bytes, other->free_memory_bytes);
			if (other->nominal_mgpu > gpu->nominal_mgpu)
				gpu->nominal_mgpu = other->nominal_mgpu;
			if (other->residents > gpu->residents)
				gpu->residents = other->residents;
			change = mark(change, *gpus, gpu->free_mgpu, gpu->free_memory_bytes);
		}
		tl_scratch_enter(hypo, where->nodes[w], change);
	}
}
