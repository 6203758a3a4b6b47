/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How fragmented a node is in the eyes of a workload (Weng et al., "Beware of
 * Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation Gradient Descent",
 * USENIX ATC 2023): what of its free GPU shares a task drawn from the workload could not use.
 *
 *   F_n(m) = Σ_g R_g                   where task m cannot run on node n, or asks no GPU
 *   F_n(m) = Σ_g R_g · 1[R_g < d_m]    otherwise
 *   F_n    = Σ_m p_m F_n(m)
 *
 * R_g is what is free of GPU g, d_m the share that m asks of each of its GPUs, p_m how
 * often m occurs. As in the published implementation, m can run where the GPU model, the
 * GPU shares and the CPU suffice (host RAM and GPU memory are not looked at), the tasks are
 * the most frequent ones that make up 95 % of all, CPU-only ones included, and each worker
 * of a gang is a task. All sums are integers: they depend on no order of summation.
 *
 * Includes the contract alone, so that the simulator's books use the very same figures.
 */
#ifndef TIDELAB_LIB_FRAGMENTATION_H
#define TIDELAB_LIB_FRAGMENTATION_H

#include "policies/abi/tidelab_policy.h"

#include <string.h>

enum {
	TL_FRAG_TASKS = 256, /* kept at most: the most frequent ones */
	TL_FRAG_GPUS = 32,   /* of a node, that are looked at one by one */
	TL_FRAG_COVER_PCT = 95
};

struct tl_frag_task {
	int64_t cpu_milli;
	uint64_t model_mask;
	uint64_t count; /* how often it is expected */
	uint32_t gpus;
	int32_t share_mgpu;
};

/* Tasks that differ in CPU alone. */
struct tl_frag_class {
	uint64_t model_mask;
	int64_t count; /* of all its tasks */
	uint32_t gpus;
	uint32_t level; /* which of the distinct shares */
};

/* About 0.6 MB: from host->alloc, one an instance. */
struct tl_fragmentation {
	struct tl_frag_task tasks[TL_FRAG_TASKS];
	struct tl_frag_class classes[TL_FRAG_TASKS];
	int64_t cpus[TL_FRAG_TASKS];   /* distinct CPU demands of GPU tasks, ascending */
	int32_t shares[TL_FRAG_TASKS]; /* distinct shares, ascending */
	/* within[c × (cpu_count + 1) + r]: tasks of class c that ask at most cpus[r − 1]. */
	int64_t within[TL_FRAG_TASKS * (TL_FRAG_TASKS + 1)];
	uint32_t task_count, class_count, cpu_count, share_count;
	int64_t total;    /* Σ count: F_n is in units of 1/total mgpu */
	int64_t cpu_only; /* of them, those that ask no GPU */
};

/* What is free on a node, in the shape that F_n is computed from. */
struct tl_frag_node {
	int64_t cpu_milli;
	int64_t sum_mgpu;
	uint32_t gpu_count, model;
	int32_t free_mgpu[TL_FRAG_GPUS];
};

/* ---- which tasks ------------------------------------------------------------------- */

/* Descending: more frequent first, then by demand. Total, so that the order is one. */
static inline int tl_frag_before(const struct tl_frag_task *a, const struct tl_frag_task *b)
{
	if (a->count != b->count)
		return a->count > b->count;
	if (a->cpu_milli != b->cpu_milli)
		return a->cpu_milli > b->cpu_milli;
	if (a->share_mgpu != b->share_mgpu)
		return a->share_mgpu > b->share_mgpu;
	if (a->gpus != b->gpus)
		return a->gpus > b->gpus;
	return a->model_mask > b->model_mask;
}

/* Sorts in place by heap: no memory, O(n log n). */
static inline void tl_frag_sift(struct tl_frag_task *tasks, size_t root, size_t count)
{
	for (size_t child; (child = 2 * root + 1) < count; root = child) {
		struct tl_frag_task swap = tasks[root];

		if (child + 1 < count && tl_frag_before(&tasks[child], &tasks[child + 1]))
			child++;
		if (!tl_frag_before(&swap, &tasks[child]))
			return;
		tasks[root] = tasks[child];
		tasks[child] = swap;
	}
}

static inline void tl_frag_sort(struct tl_frag_task *tasks, size_t count)
{
	for (size_t i = count / 2; i > 0; i--)
		tl_frag_sift(tasks, i - 1, count);
	for (size_t end = count; end > 1; end--) {
		struct tl_frag_task swap = tasks[0];

		tasks[0] = tasks[end - 1];
		tasks[end - 1] = swap;
		tl_frag_sift(tasks, 0, end - 1);
	}
}

/* Adds `count` workers to a list of distinct tasks; returns its new length. The list needs
 * room for one more. O(length): for a few hundred shapes, once. */
static inline size_t tl_frag_add(struct tl_frag_task *tasks, size_t length,
                                 const struct tl_worker *worker, uint64_t model_mask,
                                 uint64_t count)
{
	struct tl_frag_task task = {.cpu_milli = worker->cpu_milli,
	                            .model_mask = worker->gpus > 0 ? model_mask : UINT64_MAX,
	                            .count = count,
	                            .gpus = worker->gpus,
	                            .share_mgpu = worker->gpus > 0 ? worker->share_mgpu : 0};

	if (count == 0)
		return length;
	for (size_t i = 0; i < length; i++) {
		if (tasks[i].cpu_milli == task.cpu_milli &&
		    tasks[i].model_mask == task.model_mask && tasks[i].gpus == task.gpus &&
		    tasks[i].share_mgpu == task.share_mgpu) {
			tasks[i].count += count;
			return length;
		}
	}
	tasks[length] = task;
	return length + 1;
}

/* Adds the workers of `jobs` jobs of a shape; the list needs room for two more. */
static inline size_t tl_frag_add_shape(struct tl_frag_task *tasks, size_t length,
                                       const struct tl_shape *shape, uint64_t jobs)
{
	length = tl_frag_add(tasks, length, &shape->full, shape->model_mask,
	                     jobs * (shape->workers - 1));
	return tl_frag_add(tasks, length, &shape->last, shape->model_mask, jobs);
}

/* ---- the tables --------------------------------------------------------------------- */

static inline uint32_t tl_frag_rank(const struct tl_fragmentation *frag, int64_t cpu_milli)
{
	uint32_t low = 0, high = frag->cpu_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (frag->cpus[middle] <= cpu_milli)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline void tl_frag_axes(struct tl_fragmentation *frag, const struct tl_frag_task *task)
{
	uint32_t at = tl_frag_rank(frag, task->cpu_milli);
	uint32_t level = 0;

	if (at == 0 || frag->cpus[at - 1] != task->cpu_milli) {
		memmove(&frag->cpus[at + 1], &frag->cpus[at],
		        (frag->cpu_count - at) * sizeof frag->cpus[0]);
		frag->cpus[at] = task->cpu_milli;
		frag->cpu_count++;
	}
	while (level < frag->share_count && frag->shares[level] < task->share_mgpu)
		level++;
	if (level == frag->share_count || frag->shares[level] != task->share_mgpu) {
		memmove(&frag->shares[level + 1], &frag->shares[level],
		        (frag->share_count - level) * sizeof frag->shares[0]);
		frag->shares[level] = task->share_mgpu;
		frag->share_count++;
	}
}

static inline void tl_frag_tabulate(struct tl_fragmentation *frag, const struct tl_frag_task *task)
{
	size_t width = (size_t)frag->cpu_count + 1;
	uint32_t level = 0, c = 0;

	while (frag->shares[level] != task->share_mgpu)
		level++;
	while (c < frag->class_count &&
	       !(frag->classes[c].gpus == task->gpus && frag->classes[c].level == level &&
	         frag->classes[c].model_mask == task->model_mask))
		c++;
	if (c == frag->class_count) {
		frag->classes[c] = (struct tl_frag_class){task->model_mask, 0, task->gpus, level};
		memset(&frag->within[c * width], 0, width * sizeof frag->within[0]);
		frag->class_count++;
	}
	frag->classes[c].count += (int64_t)task->count;
	for (uint32_t r = tl_frag_rank(frag, task->cpu_milli); r <= frag->cpu_count; r++)
		frag->within[c * width + r] += (int64_t)task->count;
}

/* Builds the tables from the distinct tasks of a workload; sorts them on the way. */
static inline void tl_frag_build(struct tl_fragmentation *frag, struct tl_frag_task *tasks,
                                 size_t count)
{
	uint64_t all = 0, covered = 0;

	frag->task_count = frag->class_count = frag->cpu_count = frag->share_count = 0;
	frag->total = frag->cpu_only = 0;
	for (size_t i = 0; i < count; i++)
		all += tasks[i].count;
	tl_frag_sort(tasks, count);
	for (size_t i = 0; i < count && frag->task_count < TL_FRAG_TASKS &&
	                   covered * 100 < all * TL_FRAG_COVER_PCT;
	     i++) {
		frag->tasks[frag->task_count++] = tasks[i];
		covered += tasks[i].count;
	}
	frag->total = (int64_t)covered;
	for (uint32_t i = 0; i < frag->task_count; i++)
		if (frag->tasks[i].gpus > 0)
			tl_frag_axes(frag, &frag->tasks[i]);
		else
			frag->cpu_only += (int64_t)frag->tasks[i].count;
	for (uint32_t i = 0; i < frag->task_count; i++)
		if (frag->tasks[i].gpus > 0)
			tl_frag_tabulate(frag, &frag->tasks[i]);
}

/* ---- F_n ---------------------------------------------------------------------------- */

static inline void tl_frag_read(struct tl_frag_node *out, const struct tl_view *view,
                                const struct tl_node_view *node)
{
	out->cpu_milli = node->free_cpu_milli;
	out->model = node->model;
	out->sum_mgpu = node->free_mgpu;
	out->gpu_count = node->gpu_count < TL_FRAG_GPUS ? node->gpu_count : TL_FRAG_GPUS;
	for (uint32_t g = 0; g < out->gpu_count; g++)
		out->free_mgpu[g] = tl_view_gpu(view, node->first_gpu + g)->free_mgpu;
}

/* F_n × frag->total, in mgpu. Exact. O(classes + shares × GPUs). */
static inline int64_t tl_frag_of(const struct tl_fragmentation *frag,
                                 const struct tl_frag_node *node)
{
	size_t width = (size_t)frag->cpu_count + 1;
	const int64_t *within = &frag->within[tl_frag_rank(frag, node->cpu_milli)];
	int64_t low[TL_FRAG_TASKS];   /* Σ of GPUs with less than the share */
	uint32_t able[TL_FRAG_TASKS]; /* number of the others */
	int64_t sum = frag->total * node->sum_mgpu;

	for (uint32_t s = 0; s < frag->share_count; s++) {
		int32_t share = frag->shares[s], below = 0;
		uint32_t count = 0;

		for (uint32_t g = 0; g < node->gpu_count; g++) {
			int32_t free_mgpu = node->free_mgpu[g];

			below += free_mgpu < share ? free_mgpu : 0;
			count += free_mgpu >= share;
		}
		low[s] = below;
		able[s] = count;
	}
	/* Those that can run leave only the cards that are too small for them unused. */
	for (uint32_t c = 0; c < frag->class_count; c++) {
		const struct tl_frag_class *class = &frag->classes[c];

		if (able[class->level] >= class->gpus && node->model < 64 &&
		    (class->model_mask >> node->model & 1))
			sum -= within[c * width] * (node->sum_mgpu - low[class->level]);
	}
	return sum;
}

/* F_n in mgpu, rounded down; 0 where no task is known. */
static inline int64_t tl_frag_mgpu(const struct tl_fragmentation *frag, const struct tl_view *view,
                                   const struct tl_node_view *node)
{
	struct tl_frag_node state;

	if (frag->total == 0 || node->free_mgpu == 0)
		return 0;
	tl_frag_read(&state, view, node);
	return tl_frag_of(frag, &state) / frag->total;
}

#endif
