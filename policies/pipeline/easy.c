/* SPDX-License-Identifier: GPL-3.0-or-later */
/* EASY: whatever does not delay the head may pass it. */
#include "policies/pipeline/pipeline.h"

/* A job of an open lane, seen in order, fits now (p->spot). 1: it may pass the head; 0: it
 * may not, nor any that stays longer; -1. */
static int may_pass(struct tl_pipeline *p, uint32_t lane, const struct tl_shape *shape,
                    tl_job_id id)
{
	if (tl_shadow_find(p) != 0)
		return -1;
	const struct tl_job_view *job = p->host->job(p->host, id);
	if (tl_pipeline_end_if_started(p, job) <= p->shadow.at_ns)
		return 1;
	/* Whether it keeps the head's room depends on the shape alone until something starts. */
	if (p->cursor_tested[lane] == 0)
		p->cursor_tested[lane] = tl_shadow_keeps(p, shape) ? 2 : 1;
	return p->cursor_tested[lane] == 2;
}

/* A job has started at p->spot that was expected to end then. The host knows better (work
 * that was lost is done again): where that matters, the shadow is looked for anew. */
static void note_started(struct tl_pipeline *p, const struct tl_shape *shape, tl_job_id id,
                         int64_t expected_ns)
{
	int64_t shadow_ns = p->shadow.at_ns;
	int64_t end_ns = tl_pipeline_end(p, p->host->job(p->host, id));
	if ((end_ns > shadow_ns) != (expected_ns > shadow_ns))
		p->shadow.known = 0;
	else if (end_ns > shadow_ns)
		tl_shadow_take(p, shape);
}

int tl_easy_run(struct tl_pipeline *p, const struct tl_position *head)
{
	struct tl_queue *queue = &p->queue;
	const int64_t known_ns = TL_TIME_NEVER - 1;
	if (tl_walk_begin(p, head, 1, known_ns) != 0)
		return -1;
	for (uint32_t lane; (lane = tl_walk_lane(p)) != TL_NO_INDEX;) {
		uint32_t slot = p->cursor_slots[lane], kind = queue->lanes[lane].kind;
		tl_job_id id = queue->items[slot].id;
		const struct tl_shape *shape = p->host->shape(p->host, queue->lanes[lane].shape);
		const struct tl_view *view = tl_claim_view(p, id);
		if (view == NULL)
			return tl_pipeline_break(p);
		if (queue->kinds[kind].blocked ||
		    queue->classes[queue->lanes[lane].class_of].held) {
			tl_walk_leave(p);
			continue;
		}
		enum tl_outcome outcome = TL_NO_ROOM;
		if (tl_pipeline_room(p, id, view)) {
			int pass = may_pass(p, lane, shape, id);
			if (pass < 0)
				return -1;
			if (pass == 0) {
				tl_walk_next(p, p->shadow.at_ns - p->now_ns);
				continue;
			}
			outcome = TL_HELD;
			int64_t end_ns = tl_pipeline_end_if_started(p, p->host->job(p->host, id));
			struct tl_position at = tl_queue_position(queue, slot, p->now_ns);
			if (tl_pipeline_admits(p, p->host->job(p->host, id)))
				outcome = tl_pipeline_start(p, id);
			if (outcome == TL_STARTED) {
				note_started(p, shape, id, end_ns);
				if (tl_queue_forget(queue, id) != 0)
					return tl_pipeline_break(p);
				if (tl_walk_begin(p, &at, 1, known_ns) != 0)
					return -1;
				continue;
			}
		}
		if ((outcome == TL_HELD && tl_queue_hold(queue, lane) != 0) ||
		    (outcome == TL_NO_ROOM && tl_queue_block(queue, kind) != 0))
			return tl_pipeline_break(p);
		tl_walk_leave(p);
	}
	return 0;
}
