/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conservative backfilling: every waiting job in order is promised a stretch. Promises are
 * made anew in each pass, so only those that begin now are kept for good; once nothing more
 * can begin now, the rest need not be made.
 */
#include "policies/pipeline/pipeline.h"

static int64_t length_of(const struct tl_pipeline *p, const struct tl_job_view *job)
{
	int64_t end_ns = tl_pipeline_end_if_started(p, job);
	return end_ns == TL_TIME_NEVER ? TL_TIME_NEVER : end_ns - p->now_ns;
}

/* Promises the head its stretch, and tells the host. */
static int promise_head(struct tl_pipeline *p)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, p->head);
	int64_t long_ns = length_of(p, p->host->job(p->host, p->head));
	int64_t at_ns = tl_profile_find(p, shape, long_ns, 0);
	if (at_ns < 0)
		return -1;
	if (at_ns == TL_TIME_NEVER)
		return 0;
	tl_pipeline_promise(p, p->head, at_ns, &p->spot);
	return tl_profile_take(p, shape, at_ns, long_ns);
}

/* Starts the job in hand, or promises it a stretch. *promised counts those to come. */
static int place_one(struct tl_pipeline *p, uint32_t lane, uint32_t *promised)
{
	struct tl_queue *queue = &p->queue;
	uint32_t slot = p->cursor_slots[lane], number = queue->lanes[lane].shape;
	tl_job_id id = queue->items[slot].id;
	const struct tl_shape *shape = p->host->shape(p->host, number);
	const struct tl_job_view *job = p->host->job(p->host, id);
	int64_t long_ns = length_of(p, job);
	int now_too = long_ns != TL_TIME_NEVER && !queue->shapes[number].blocked;
	if (!queue->shapes[number].blocked &&
	    !tl_pipeline_choose(p, p->host->view(p->host), shape, &p->spot)) {
		now_too = 0;
		if (tl_queue_block(queue, number) != 0)
			return tl_pipeline_break(p);
	}
	int64_t at_ns = tl_profile_find(p, shape, long_ns, now_too);
	if (at_ns < 0)
		return -1;
	if (at_ns == p->now_ns) {
		if (tl_pipeline_start(p, id) != TL_STARTED)
			return 0;
		if (tl_queue_forget(queue, id) != 0)
			return tl_pipeline_break(p);
		return tl_profile_take(p, shape, at_ns, long_ns);
	}
	(*promised)++;
	return at_ns == TL_TIME_NEVER ? 0 : tl_profile_take(p, shape, at_ns, long_ns);
}

int tl_conservative_run(struct tl_pipeline *p, const struct tl_position *head)
{
	struct tl_queue *queue = &p->queue;
	/* While room is being made for the head, nothing passes it. */
	if (p->claim.job != 0 || tl_queue_first_open(queue, p->now_ns) == TL_NO_INDEX)
		return 0;
	if (tl_profile_begin(p) != 0 || promise_head(p) != 0 ||
	    tl_walk_begin(p, head, 0, TL_TIME_NEVER) != 0)
		return -1;
	uint32_t promised = 1;
	for (uint32_t lane; promised < p->depth && (lane = tl_walk_lane(p)) != TL_NO_INDEX;) {
		if (tl_queue_first_open(queue, p->now_ns) == TL_NO_INDEX)
			return 0;
		tl_job_id id = queue->items[p->cursor_slots[lane]].id;
		if (queue->classes[queue->lanes[lane].class_of].held) {
			tl_walk_leave(p);
			continue;
		}
		if (!tl_pipeline_admits(p, p->host->job(p->host, id))) {
			if (tl_queue_hold(queue, lane) != 0)
				return tl_pipeline_break(p);
			tl_walk_leave(p);
			continue;
		}
		if (place_one(p, lane, &promised) != 0)
			return -1;
		tl_walk_next(p, TL_TIME_NEVER);
	}
	return 0;
}
