/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Conservative backfilling: every waiting job in order is promised a stretch. Promises are
 * made anew in each pass, so only those that begin now are kept for good: they are made up
 * to the last job that could begin now at all, and no further.
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

/* Whether the job in hand could start now, were it not for promises. A kind that has no
 * room is blocked on the way: 1, 0, or -1. */
static int hopeful(struct tl_pipeline *p, uint32_t lane)
{
	struct tl_queue *queue = &p->queue;
	uint32_t kind = queue->lanes[lane].kind;
	tl_job_id id = queue->items[p->cursor_slots[lane]].id;
	const struct tl_view *view = p->host->view(p->host);
	if (queue->kinds[kind].blocked)
		return 0;
	if (p->cursor_tested[lane] == 0) {
		/* A place beside another is for whom the order brings to it, not for who passes. */
		if (!tl_pipeline_choose(p, view, tl_pipeline_shape(p, id), &p->spot))
			return !tl_second_choose(p, id, view) && tl_queue_block(queue, kind) != 0
			           ? tl_pipeline_break(p)
			           : 0;
		p->cursor_tested[lane] = 1;
	}
	return queue->items[p->cursor_slots[lane]].remaining_ns != TL_TIME_NEVER;
}

/* The lane whose job is next in the walk and is not held; TL_NO_INDEX: none. *held is set
 * where the gate holds one on the way. */
static uint32_t next_lane(struct tl_pipeline *p, int *held)
{
	struct tl_queue *queue = &p->queue;
	for (uint32_t lane; (lane = tl_walk_lane(p)) != TL_NO_INDEX; tl_walk_leave(p)) {
		tl_job_id id = queue->items[p->cursor_slots[lane]].id;
		if (queue->classes[queue->lanes[lane].class_of].held)
			continue;
		if (tl_pipeline_admits(p, p->host->job(p->host, id)))
			return lane;
		*held = 1;
		if (tl_queue_hold(queue, lane) != 0)
			tl_pipeline_break(p);
	}
	return TL_NO_INDEX;
}

/* Of so many jobs after a position, how many there are up to the last hopeful one; or -1. */
static int64_t reach(struct tl_pipeline *p, const struct tl_position *after, uint32_t most)
{
	int64_t last = 0;
	uint32_t seen = 0;
	int held = 0;
	if (tl_walk_begin(p, after, 0, TL_TIME_NEVER) != 0)
		return -1;
	for (uint32_t lane; seen < most && (lane = next_lane(p, &held)) != TL_NO_INDEX; seen++) {
		int hope = hopeful(p, lane);
		if (hope < 0)
			return -1;
		if (hope)
			last = seen + 1;
		tl_walk_next(p, TL_TIME_NEVER);
	}
	return p->broken ? -1 : last;
}

/* Starts the job in hand, or promises it a stretch. *promised counts those to come. */
static int place_one(struct tl_pipeline *p, uint32_t lane, uint32_t *promised)
{
	struct tl_queue *queue = &p->queue;
	tl_job_id id = queue->items[p->cursor_slots[lane]].id;
	const struct tl_shape *shape = p->host->shape(p->host, queue->lanes[lane].shape);
	int64_t long_ns = length_of(p, p->host->job(p->host, id));
	int now_too = hopeful(p, lane);
	if (now_too < 0)
		return -1;
	int64_t at_ns = tl_profile_find(p, shape, long_ns, now_too);
	if (at_ns < 0)
		return -1;
	if (at_ns == p->now_ns) {
		if (tl_pipeline_start(p, id) != TL_STARTED)
			return 0;
		if (tl_queue_forget(queue, id) != 0)
			return tl_pipeline_break(p);
		return tl_profile_take(p, shape, at_ns, long_ns) != 0 ? -1 : 1;
	}
	(*promised)++;
	return at_ns == TL_TIME_NEVER ? 0 : tl_profile_take(p, shape, at_ns, long_ns);
}

/* Goes through so many jobs after a position, which follows; stops where one started. 1
 * where one started or was held, so that there are more to go through; 0, or -1. */
static int run_stretch(struct tl_pipeline *p, struct tl_position *after, int64_t jobs,
                       uint32_t *promised)
{
	int held = 0;
	if (tl_walk_begin(p, after, 0, TL_TIME_NEVER) != 0)
		return -1;
	for (uint32_t lane; jobs > 0 && (lane = next_lane(p, &held)) != TL_NO_INDEX; jobs--) {
		*after = tl_queue_position(&p->queue, p->cursor_slots[lane], p->now_ns);
		int started = place_one(p, lane, promised);
		if (started != 0)
			return started;
		tl_walk_next(p, TL_TIME_NEVER);
	}
	return p->broken ? -1 : held;
}

int tl_conservative_run(struct tl_pipeline *p, const struct tl_position *head)
{
	struct tl_position after = *head;
	uint32_t promised = 1;
	int begun = 0;
	/* While room is being made for somebody, nothing is let past. */
	if (p->claims.count > 0)
		return 0;
	while (promised < p->depth && tl_queue_first_open(&p->queue, p->now_ns) != TL_NO_INDEX) {
		int64_t jobs = reach(p, &after, p->depth - promised);
		if (jobs <= 0)
			return (int)jobs;
		if (!begun && (tl_profile_begin(p) != 0 || promise_head(p) != 0))
			return -1;
		begun = 1;
		int more = run_stretch(p, &after, jobs, &promised);
		if (more <= 0)
			return more;
	}
	return 0;
}
