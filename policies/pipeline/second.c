/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Second tenants: where GPUs are oversubscribed, a job that finds no free place may run
 * beside one that is running already, as long as the ratio of its pool allows.
 *
 * Like with like: one slow card slows a whole gang, so a gang goes beside a gang of the same
 * make, card for card, and single cards go beside single cards. Of those that have nobody
 * beside them, the one that was measured to use its GPUs the least, but none that is
 * guaranteed its speed and uses all of them; GPU memory, CPU and RAM
 * must be free, and one of the two at most is guaranteed its speed. What drains, or is to
 * become somebody's claim, is left alone.
 *
 * Where a job may go depends on its shape and on whether it is guaranteed, and on nothing
 * else of it: what failed for one fails for all of its kind.
 */
#include "policies/pipeline/pipeline.h"

#include <string.h>

enum { TL_POOLS = 64 };

static int64_t left_mgpu(const struct tl_oversubscription *pool)
{
	return pool->excess_limit_mgpu - pool->excess_mgpu;
}

/* Whether more may be asked than is there in any pool that the mask leads to. */
static int any_left(const struct tl_pipeline *p, uint64_t model_mask)
{
	const struct tl_oversubscription *pool;
	for (uint32_t m = 0; (pool = p->host->oversubscription(p->host, m)) != NULL; m++)
		if ((model_mask >> m & 1) && pool->residents >= 2 && left_mgpu(pool) > 0)
			return 1;
	return 0;
}

static int alike(const struct tl_shape *a, const struct tl_shape *b)
{
	return !((a->flags | b->flags) & TL_SHAPE_ISOLATED) && a->gpus == b->gpus &&
	       a->workers == b->workers && a->full.gpus == b->full.gpus &&
	       a->last.gpus == b->last.gpus;
}

/* Whether the partner's nodes are ones the shape may go to, and have its CPU and RAM. */
static int nodes_have_room(const struct tl_view *view, const struct tl_shape *shape,
                           const struct tl_placement *where)
{
	for (uint32_t w = 0; w < where->worker_count; w++)
		if (!tl_node_allowed(tl_view_node(view, where->nodes[w]), shape->model_mask) ||
		    !tl_fit_host(view, shape, where, w))
			return 0;
	return 1;
}

/* Whether the job is alone on each of its GPUs, nobody's claim is on them, they have the
 * memory, and what the shape would ask of them beyond what is there is left in their pools. */
static int gpus_have_room(const struct tl_pipeline *p, const struct tl_view *view,
                          const struct tl_shape *shape, const struct tl_placement *where)
{
	const struct tl_view *live = p->host->view(p->host);
	const uint32_t *gpus = where->gpus;
	int64_t excess_mgpu[TL_POOLS] = {0};
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);
		const struct tl_oversubscription *pool =
		    p->host->oversubscription(p->host, tl_view_node(view, where->nodes[w])->model);
		for (uint32_t g = 0; g < worker->gpus; g++, gpus++) {
			const struct tl_gpu_view *gpu = tl_view_gpu(view, *gpus);
			if (gpu->residents != 1 || tl_view_gpu(live, *gpus)->residents != 1 ||
			    (gpu->total_memory_bytes >= 0 &&
			     gpu->free_memory_bytes < tl_fit_memory(gpu, worker)))
				return 0;
			if (gpu->free_mgpu < worker->share_mgpu)
				excess_mgpu[pool->pool] += worker->share_mgpu - gpu->free_mgpu;
		}
		if (excess_mgpu[pool->pool] > left_mgpu(pool))
			return 0;
	}
	return 1;
}

/* Whether the job uses its GPUs too much for another to come: a guaranteed one that uses all
 * of them leaves nothing. A replica may be less busy after another window: that is noted. */
static int is_too_busy(struct tl_pipeline *p, const struct tl_job_view *first)
{
	if (first->utilisation_milli <= p->pair_below_milli &&
	    (first->utilisation_milli < TL_FIT_WHOLE_MGPU || !(first->flags & TL_JOB_GUARANTEED)))
		return 0;
	p->too_busy |= (first->flags & TL_JOB_REPLICA) != 0;
	return 1;
}

/* Whether a second tenant may come beside the job by what is known of the two. */
static int may_pair(struct tl_pipeline *p, const struct tl_job_view *first,
                    const struct tl_job_view *second)
{
	return first->state == TL_JOB_RUNNING && !tl_claim_leaves(p, first) &&
	       first->utilisation_milli >= 0 && !is_too_busy(p, first) &&
	       !(first->flags & second->flags & TL_JOB_GUARANTEED);
}

static int better(const struct tl_job_view *a, const struct tl_job_view *b)
{
	if (a->utilisation_milli != b->utilisation_milli)
		return a->utilisation_milli < b->utilisation_milli;
	return a->sequence < b->sequence;
}

int tl_second_choose(struct tl_pipeline *p, tl_job_id id, const struct tl_view *view)
{
	const struct tl_job_view *job = p->host->job(p->host, id), *best = NULL;
	const struct tl_shape *shape = tl_pipeline_shape(p, id);
	struct tl_placement where;
	uint32_t count = 0;
	/* Who has a claim has room to come, for which others were stopped. */
	if (!any_left(p, shape->model_mask) || shape->gpus == 0 || tl_claim_owned(p, id))
		return 0;
	const tl_job_id *ids = p->host->holding(p->host, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *first = p->host->job(p->host, ids[i]);
		if (!may_pair(p, first, job) || (best != NULL && !better(first, best)) ||
		    !alike(shape, p->host->shape(p->host, first->shape)) ||
		    p->host->allocation(p->host, ids[i], &where) != 0 ||
		    !nodes_have_room(view, shape, &where) ||
		    !gpus_have_room(p, view, shape, &where))
			continue;
		best = first;
	}
	if (best == NULL || p->host->allocation(p->host, best->id, &where) != 0)
		return 0;
	memcpy(p->spot.where.nodes, where.nodes, where.worker_count * sizeof(*where.nodes));
	memcpy(p->spot.where.gpus, where.gpus, where.gpu_count * sizeof(*where.gpus));
	p->spot.where.worker_count = where.worker_count;
	p->spot.where.gpu_count = where.gpu_count;
	return 1;
}

int tl_second_news(struct tl_pipeline *p, const struct tl_changes *changes)
{
	const struct tl_oversubscription *pool;
	uint32_t model = 0;
	while ((pool = p->host->oversubscription(p->host, model)) != NULL && pool->residents < 2)
		model++;
	if (pool == NULL)
		return 0;
	/* One more that runs and has been measured; or, where that is asked, one less busy. */
	if (changes->running_count == 0 && !(p->too_busy && (changes->why & TL_WHY_WINDOW) != 0))
		return 0;
	p->too_busy = 0;
	return 1;
}
