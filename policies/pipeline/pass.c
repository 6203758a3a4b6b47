/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pass over the waiting jobs that never walks them: in order up to the head, then what
 * the backfill rule lets past it. */
#include "policies/pipeline/pipeline.h"

/* ---- walks over lanes --------------------------------------------------------------- */

static int cursor_before(const void *ctx, uint32_t a, uint32_t b)
{
	const struct tl_pipeline *p = ctx;
	struct tl_position x = tl_queue_position(&p->queue, p->cursor_slots[a], p->now_ns);
	struct tl_position y = tl_queue_position(&p->queue, p->cursor_slots[b], p->now_ns);
	return tl_position_before(&x, &y);
}

static struct tl_heap_order cursor_order(const struct tl_pipeline *p)
{
	return (struct tl_heap_order){.before = cursor_before, .ctx = p, .place = p->cursor_places};
}

int tl_walk_begin(struct tl_pipeline *p, const struct tl_position *after, int open_only,
                  int64_t most_ns)
{
	const struct tl_queue *queue = &p->queue;
	int a = 0, b = 0, c = 0;
	TL_GROW(p->host, p->cursor_places, p->cursor_place_room, queue->lane_count, a);
	TL_GROW(p->host, p->cursor_slots, p->cursor_slot_room, queue->lane_count, b);
	TL_GROW(p->host, p->cursor_tested, p->cursor_tested_room, queue->lane_count, c);
	if (queue->lane_count > 0 && (a != 0 || b != 0 || c != 0))
		return tl_pipeline_break(p);
	const struct tl_heap_order order = cursor_order(p);
	while (p->walk.count > 0)
		p->cursor_places[p->walk.items[--p->walk.count]] = 0;
	for (uint32_t g = 0; g < queue->group_count; g++) {
		const struct tl_heap *heap =
		    open_only ? &queue->groups[g].open : &queue->groups[g].all;
		for (uint32_t i = 0; i < heap->count; i++) {
			uint32_t lane = heap->items[i];
			p->cursor_slots[lane] =
			    tl_queue_next(queue, lane, after, most_ns, p->now_ns);
			p->cursor_tested[lane] = 0;
			if (p->cursor_slots[lane] != TL_NO_INDEX &&
			    tl_heap_add(p->host, &p->walk, &order, lane) != 0)
				return tl_pipeline_break(p);
		}
	}
	return 0;
}

uint32_t tl_walk_lane(const struct tl_pipeline *p)
{
	return p->walk.count > 0 ? p->walk.items[0] : TL_NO_INDEX;
}

void tl_walk_next(struct tl_pipeline *p, int64_t most_ns)
{
	uint32_t lane = p->walk.items[0];
	struct tl_position at = tl_queue_position(&p->queue, p->cursor_slots[lane], p->now_ns);
	uint32_t slot = tl_queue_next(&p->queue, lane, &at, most_ns, p->now_ns);
	if (slot == TL_NO_INDEX) {
		tl_walk_leave(p);
		return;
	}
	const struct tl_heap_order order = cursor_order(p);
	p->cursor_slots[lane] = slot;
	tl_heap_down(&p->walk, &order, 0);
}

void tl_walk_leave(struct tl_pipeline *p)
{
	const struct tl_heap_order order = cursor_order(p);
	tl_heap_remove(&p->walk, &order, p->walk.items[0]);
}

/* ---- one job -------------------------------------------------------------------------- */

/* Tries to start a job that the gate lets through, on what claims leave it. */
static int try_start(struct tl_pipeline *p, tl_job_id id, enum tl_outcome *out)
{
	const struct tl_view *view = tl_claim_view(p, id);
	if (view == NULL)
		return tl_pipeline_break(p);
	*out = TL_NO_ROOM;
	if (!tl_pipeline_room(p, id, view))
		return 0;
	*out = tl_pipeline_start(p, id);
	if (*out != TL_STARTED)
		return 0;
	if (tl_queue_forget(&p->queue, id) != 0)
		return tl_pipeline_break(p);
	return tl_claim_end(p, id);
}

/* ---- in order --------------------------------------------------------------------------- */

/* In order: from the least on, or, once an owner of a claim has been let past, by a walk. */
struct tl_turn {
	int walking;
	uint32_t lane, slot;
	tl_job_id id;
	struct tl_position at;
};

/* Finds whose turn it is: 1, or 0 at the end. */
static int find_turn(struct tl_pipeline *p, struct tl_turn *turn)
{
	struct tl_queue *queue = &p->queue;
	turn->lane = turn->walking ? tl_walk_lane(p) : tl_queue_first(queue, p->now_ns);
	if (turn->lane == TL_NO_INDEX)
		return 0;
	turn->slot = turn->walking ? p->cursor_slots[turn->lane] : queue->lanes[turn->lane].head;
	turn->id = queue->items[turn->slot].id;
	turn->at = tl_queue_position(queue, turn->slot, p->now_ns);
	return 1;
}

/* The turn of one job: what becomes of it, enum tl_eviction, or -1. */
static int take_turn(struct tl_pipeline *p, const struct tl_turn *turn)
{
	struct tl_queue *queue = &p->queue;
	uint32_t kind = queue->lanes[turn->lane].kind;
	enum tl_outcome outcome = TL_NO_ROOM;
	int owned = tl_claim_owned(p, turn->id);
	if (!tl_pipeline_admits(p, p->host->job(p->host, turn->id)))
		outcome = TL_HELD;
	else if ((owned ? !tl_claim_waits(p, turn->id) : !queue->kinds[kind].blocked) &&
	         try_start(p, turn->id, &outcome) != 0)
		return -1;
	if (outcome == TL_STARTED)
		return owned ? TL_EVICT_AGAIN : TL_EVICT_GONE;
	if ((outcome == TL_HELD ? tl_queue_hold(queue, turn->lane) : tl_queue_block(queue, kind)) !=
	    0)
		return tl_pipeline_break(p);
	if (outcome == TL_HELD)
		return TL_EVICT_GONE;
	int became = tl_evict_for(p, turn->id, turn->at.value);
	if (became == TL_EVICT_GONE && tl_queue_forget(queue, turn->id) != 0)
		return tl_pipeline_break(p);
	return became;
}

/* Starts jobs in order. 1 with *head where one is not let past, 0 at the end, or -1. */
static int run_in_order(struct tl_pipeline *p, struct tl_position *head)
{
	struct tl_turn turn = {.walking = 0};
	tl_claim_restart(p);
	while (find_turn(p, &turn)) {
		int became = take_turn(p, &turn);
		if (became == TL_EVICT_NOT) {
			p->head = turn.id;
			*head = turn.at;
			became = tl_evict_behind(p);
		}
		if (became < 0 || became == TL_EVICT_NOT)
			return became < 0 ? -1 : 1;
		p->head = 0;
		if (became == TL_EVICT_OVER)
			return 0;
		if (became == TL_EVICT_AGAIN) {
			turn.walking = 0;
			tl_claim_restart(p);
		}
		if (became == TL_EVICT_PASS || (became == TL_EVICT_GONE && turn.walking)) {
			turn.walking = 1;
			if (tl_walk_begin(p, &turn.at, 0, TL_TIME_NEVER) != 0)
				return -1;
		}
	}
	/* Whoever owns a claim and has had no turn is held. */
	return tl_claim_yield(p) < 0 ? -1 : 0;
}

static int run_skip(struct tl_pipeline *p)
{
	struct tl_queue *queue = &p->queue;
	for (uint32_t lane; (lane = tl_queue_first_open(queue, p->now_ns)) != TL_NO_INDEX;) {
		tl_job_id id = queue->items[queue->lanes[lane].head].id;
		uint32_t kind = queue->lanes[lane].kind;
		enum tl_outcome outcome = TL_HELD;
		if (tl_pipeline_admits(p, p->host->job(p->host, id)) &&
		    try_start(p, id, &outcome) != 0)
			return -1;
		if ((outcome == TL_HELD && tl_queue_hold(queue, lane) != 0) ||
		    (outcome == TL_NO_ROOM && tl_queue_block(queue, kind) != 0))
			return tl_pipeline_break(p);
	}
	return 0;
}

int tl_pass_run(struct tl_pipeline *p)
{
	struct tl_position head = {0};
	p->head = 0;
	p->shadow.known = 0;
	int found = run_in_order(p, &head);
	if (found <= 0)
		return found;
	if (p->backfill == TL_BACKFILL_SKIP && run_skip(p) != 0)
		return -1;
	if (p->backfill == TL_BACKFILL_EASY && tl_easy_run(p, &head) != 0)
		return -1;
	if (p->backfill == TL_BACKFILL_CONSERVATIVE && tl_conservative_run(p, &head) != 0)
		return -1;
	return 0;
}
