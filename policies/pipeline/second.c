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

#include <stdlib.h>
#include <string.h>

enum { TL_POOLS = 64 };

static int64_t left_mgpu(const struct tl_oversubscription *pool)
{
	return pool->excess_limit_mgpu - pool->excess_mgpu;
}

/* No more than this may be asked beyond what is there in all that the mask leads to. */
static int64_t most_left_mgpu(const struct tl_pipeline *p, uint64_t model_mask)
{
	const struct tl_oversubscription *pool;
	int64_t sum_mgpu = 0;
	for (uint32_t m = 0; (pool = p->host->oversubscription(p->host, m)) != NULL; m++)
		if ((model_mask >> m & 1) && pool->residents >= 2 && left_mgpu(pool) > 0)
			sum_mgpu += left_mgpu(pool);
	return sum_mgpu;
}

/* By make: 0 where a gang of the one goes beside a gang of the other card for card. */
static int by_make(const struct tl_shape *a, const struct tl_shape *b)
{
	if (a->gpus != b->gpus)
		return a->gpus < b->gpus ? -1 : 1;
	if (a->workers != b->workers)
		return a->workers < b->workers ? -1 : 1;
	if (a->full.gpus != b->full.gpus)
		return a->full.gpus < b->full.gpus ? -1 : 1;
	return a->last.gpus < b->last.gpus ? -1 : a->last.gpus > b->last.gpus;
}

static int is_isolated(const struct tl_shape *shape)
{
	return (shape->flags & TL_SHAPE_ISOLATED) != 0;
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

/* Whether nobody's claim is on the partner's GPUs, they have the memory, and what the shape
 * would ask of them beyond what is there is left in their pools. */
static int gpus_have_room(const struct tl_pipeline *p, const struct tl_view *view,
                          const struct tl_shape *shape, const struct tl_placement *where)
{
	const uint32_t *gpus = where->gpus;
	int64_t excess_mgpu[TL_POOLS] = {0};
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker = tl_fit_worker(shape, w);
		const struct tl_oversubscription *pool =
		    p->host->oversubscription(p->host, tl_view_node(view, where->nodes[w])->model);
		for (uint32_t g = 0; g < worker->gpus; g++, gpus++) {
			const struct tl_gpu_view *gpu = tl_view_gpu(view, *gpus);
			if (gpu->residents != 1 ||
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

/* ---- who may have somebody beside him -------------------------------------------------- */

/* Fills in what is free beside the job: 0 where it is not alone. */
static int measure(const struct tl_view *live, const struct tl_placement *where,
                   struct tl_partner *out)
{
	out->free_mgpu = 0;
	out->free_memory_bytes = INT64_MAX;
	for (uint32_t g = 0; g < where->gpu_count; g++) {
		const struct tl_gpu_view *gpu = tl_view_gpu(live, where->gpus[g]);
		if (gpu->residents != 1)
			return 0;
		out->free_mgpu += gpu->free_mgpu;
		if (gpu->total_memory_bytes >= 0 && gpu->free_memory_bytes < out->free_memory_bytes)
			out->free_memory_bytes = gpu->free_memory_bytes;
	}
	return 1;
}

static int may_have_second(const struct tl_pipeline *p, const struct tl_job_view *job)
{
	return job->state == TL_JOB_RUNNING && !tl_claim_leaves(p, job) &&
	       job->utilisation_milli >= 0;
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

static int by_make_then_use(const void *a, const void *b)
{
	const struct tl_partner *x = a, *y = b;
	int make = by_make(x->shape, y->shape);
	if (make != 0)
		return make;
	if (x->utilisation_milli != y->utilisation_milli)
		return x->utilisation_milli < y->utilisation_milli ? -1 : 1;
	return x->sequence < y->sequence ? -1 : 1;
}

/* Brings p->partners up to date: 0 or -1. */
static int list_partners(struct tl_pipeline *p)
{
	struct tl_partners *partners = &p->partners;
	const struct tl_view *live = p->host->view(p->host);
	struct tl_placement where;
	uint32_t count = 0;
	int failed = 0;
	if (partners->known && partners->version == live->version && !p->reference)
		return 0;
	const tl_job_id *ids = p->host->holding(p->host, &count);
	const struct tl_jobs jobs = p->host->jobs(p->host);
	TL_GROW(p->host, partners->all, partners->room, count, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	partners->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct tl_partner *one = &partners->all[partners->count];
		const struct tl_job_view *job = tl_jobs_at(&jobs, ids[i]);
		if (!may_have_second(p, job) || p->host->allocation(p->host, ids[i], &where) != 0 ||
		    !measure(live, &where, one) || is_too_busy(p, job))
			continue;
		one->id = ids[i];
		one->sequence = job->sequence;
		one->shape = p->host->shape(p->host, job->shape);
		one->utilisation_milli = job->utilisation_milli;
		one->guaranteed = (job->flags & TL_JOB_GUARANTEED) != 0;
		partners->count += !is_isolated(one->shape);
	}
	if (partners->count > 0)
		qsort(partners->all, partners->count, sizeof(*partners->all), by_make_then_use);
	partners->known = 1;
	partners->version = live->version;
	return 0;
}

/* The first partner that is not of a lesser make than the shape. */
static uint32_t first_of_make(const struct tl_partners *partners, const struct tl_shape *shape)
{
	uint32_t low = 0, high = partners->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (by_make(partners->all[middle].shape, shape) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- a place ------------------------------------------------------------------------------ */

/* GPU memory that each GPU of the shape takes at the least. */
static int64_t least_memory(const struct tl_shape *shape)
{
	int64_t last = shape->last.gpu_memory_bytes, full = shape->full.gpu_memory_bytes;
	return shape->workers > 1 && full < last ? full : last;
}

int tl_second_choose(struct tl_pipeline *p, tl_job_id id, const struct tl_view *view)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, id);
	const int guaranteed = (p->host->job(p->host, id)->flags & TL_JOB_GUARANTEED) != 0;
	const int64_t least_bytes = least_memory(shape);
	const int64_t left_mgpu_most = most_left_mgpu(p, shape->model_mask);
	const struct tl_partners *partners = &p->partners;
	struct tl_placement where;
	/* Who has a claim has room to come, for which others were stopped. */
	if (left_mgpu_most == 0 || shape->gpus == 0 || is_isolated(shape) ||
	    tl_claim_owned(p, id) || list_partners(p) != 0)
		return 0;
	for (uint32_t i = first_of_make(partners, shape);
	     i < partners->count && by_make(partners->all[i].shape, shape) == 0; i++) {
		const struct tl_partner *first = &partners->all[i];
		/* What the live view has not is on none that a job may use. */
		if ((guaranteed && first->guaranteed) || first->free_memory_bytes < least_bytes ||
		    shape->total_mgpu - first->free_mgpu > left_mgpu_most ||
		    p->host->allocation(p->host, first->id, &where) != 0 ||
		    !nodes_have_room(view, shape, &where) ||
		    !gpus_have_room(p, view, shape, &where))
			continue;
		memcpy(p->spot.where.nodes, where.nodes, where.worker_count * sizeof(*where.nodes));
		memcpy(p->spot.where.gpus, where.gpus, where.gpu_count * sizeof(*where.gpus));
		p->spot.where.worker_count = where.worker_count;
		p->spot.where.gpu_count = where.gpu_count;
		return 1;
	}
	return 0;
}

/* ---- when to look again ------------------------------------------------------------------ */

struct tl_news {
	const struct tl_pipeline *p;
	const struct tl_changes *changes;
};

/* Whether a job of the shape's make is running now that was not before: then it has been
 * measured, too. */
static int has_new_partner(const void *ctx, uint32_t number)
{
	const struct tl_news *news = ctx;
	const struct tl_host *host = news->p->host;
	const struct tl_shape *shape = host->shape(host, number);
	for (uint32_t i = 0; i < news->changes->running_count; i++) {
		const struct tl_job_view *job = host->job(host, news->changes->running[i]);
		if (job != NULL && by_make(host->shape(host, job->shape), shape) == 0)
			return 1;
	}
	return 0;
}

int tl_second_news(struct tl_pipeline *p, const struct tl_changes *changes)
{
	const struct tl_news news = {.p = p, .changes = changes};
	const struct tl_oversubscription *pool;
	uint32_t model = 0;
	while ((pool = p->host->oversubscription(p->host, model)) != NULL && pool->residents < 2)
		model++;
	if (pool == NULL)
		return 0;
	/* Somebody may be less busy. */
	if (p->too_busy && (changes->why & TL_WHY_WINDOW) != 0) {
		p->too_busy = 0;
		return tl_queue_reopen_all(&p->queue);
	}
	return tl_queue_reopen_if(&p->queue, has_new_partner, &news);
}
