/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same pass without a shortcut: all keys asked anew, all waiting jobs sorted, every one
 * tried in turn, every promise computed by its definition. What the quick way must equal,
 * start by start; O(pending) a call and more.
 */
#include "policies/pipeline/pipeline.h"

#include <stdlib.h>

static int in_order(const void *a, const void *b)
{
	const struct tl_listed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->sequence < y->sequence ? -1 : 1;
}

static int ask(struct tl_pipeline *p, const tl_job_id *ids, uint32_t count)
{
	int failed = 0;
	TL_GROW(p->host, p->ids, p->id_room, count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < count; i++)
		p->ids[i] = ids[i];
	if (tl_pipeline_keys(p, count) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		if (p->keys[i].valid_until_ns < p->wake_ns)
			p->wake_ns = p->keys[i].valid_until_ns;
	return 0;
}

/* All waiting jobs in order into p->plain: how many, or -1. */
static int64_t list_waiting(struct tl_pipeline *p)
{
	uint32_t count = 0, holding = 0, running = 0;
	int failed = 0;
	const tl_job_id *held = p->host->holding(p->host, &holding);
	TL_GROW(p->host, p->running, p->running_room, holding + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < holding; i++)
		if (p->host->job(p->host, held[i])->state == TL_JOB_RUNNING)
			p->running[running++] = held[i];
	/* Running jobs' keys matter for when they change, where jobs can be stopped. */
	if (p->preempt != NULL && ask(p, p->running, running) != 0)
		return -1;
	const tl_job_id *ids = p->host->waiting(p->host, &count);
	TL_GROW(p->host, p->plain, p->plain_room, count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	if (ask(p, ids, count) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		p->plain[i] =
		    (struct tl_listed){.key = p->keys[i].key,
		                       .sequence = p->host->job(p->host, ids[i])->sequence,
		                       .id = ids[i]};
	if (count > 0)
		qsort(p->plain, count, sizeof(*p->plain), in_order);
	return count;
}

static uint64_t class_name(const struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_job_view *job = p->host->job(p->host, id);
	return (uint64_t)job->shape << 32 | (p->queue.by_tenant ? job->tenant : 0);
}

static int is_held(const struct tl_pipeline *p, tl_job_id id)
{
	for (uint32_t i = 0; i < p->held_count; i++)
		if (p->held[i] == class_name(p, id))
			return 1;
	return 0;
}

/* Whether the gate holds it, or held one like it in this pass: 1, 0, or -1. */
static int hold(struct tl_pipeline *p, tl_job_id id)
{
	int failed = 0;
	TL_GROW(p->host, p->held, p->held_room, p->held_count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	p->held[p->held_count++] = class_name(p, id);
	return 0;
}

static enum tl_outcome try_one(struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_view *view = tl_claim_view(p, id);
	if (view == NULL || !tl_pipeline_room(p, id, view))
		return TL_NO_ROOM;
	return tl_pipeline_start(p, id);
}

static int is_waiting(const struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_job_view *job = p->host->job(p->host, id);
	return job->state == TL_JOB_PENDING || job->state == TL_JOB_SUSPENDED;
}

/* The turn of one job: what becomes of it, enum tl_eviction, or -1. */
static int take_turn(struct tl_pipeline *p, const struct tl_listed *turn)
{
	enum tl_outcome outcome = TL_HELD;
	int owned = tl_claim_owned(p, turn->id);
	if (tl_pipeline_admits(p, p->host->job(p->host, turn->id)))
		outcome = try_one(p, turn->id);
	if (outcome == TL_HELD)
		return hold(p, turn->id) != 0 ? -1 : TL_EVICT_GONE;
	if (outcome == TL_NO_ROOM)
		return tl_evict_for(p, turn->id, turn->key);
	if (tl_claim_end(p, turn->id) != 0)
		return -1;
	return owned ? TL_EVICT_AGAIN : TL_EVICT_GONE;
}

/* Starts jobs in order; the index of the head, or of the end. */
static int64_t run_in_order(struct tl_pipeline *p, uint32_t count)
{
	uint32_t i = 0;
	p->head = 0;
	tl_claim_restart(p);
	while (i < count) {
		tl_job_id id = p->plain[i].id;
		int became = TL_EVICT_GONE;
		if (id != 0 && !is_held(p, id) && is_waiting(p, id))
			became = take_turn(p, &p->plain[i]);
		if (became == TL_EVICT_NOT) {
			p->head = id;
			became = tl_evict_behind(p);
		}
		if (became < 0 || became == TL_EVICT_NOT)
			return became < 0 ? -1 : (int64_t)i;
		p->head = 0;
		if (became == TL_EVICT_OVER)
			return count;
		if (became == TL_EVICT_GONE)
			p->plain[i].id = 0;
		i++;
		if (became == TL_EVICT_AGAIN) {
			tl_claim_restart(p);
			i = 0;
		}
	}
	return tl_claim_yield(p) < 0 ? -1 : (int64_t)count;
}

/* ---- EASY by definition ------------------------------------------------------------------- */

/* The machines at an instant by estimates, into p->trial: 0 or -1. */
static int look_ahead(struct tl_pipeline *p, int64_t at_ns)
{
	uint32_t count = 0;
	int settled = tl_claim_others(p, p->head);
	if (settled && tl_claim_settle(p, p->head) < 0)
		return -1;
	if (tl_scratch_copy(&p->trial, p->host,
	                    settled ? &p->drained.view : p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	const tl_job_id *ids = p->host->holding(p->host, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, ids[i]);
		if (tl_pipeline_end(p, job) <= at_ns && !(settled && tl_claim_leaves(p, job)))
			tl_claim_give_back(p, &p->trial, ids[i]);
	}
	return 0;
}

/* The next instant at which somebody leaves by estimates; TL_TIME_NEVER. */
static int64_t next_leaving(const struct tl_pipeline *p, int64_t after_ns)
{
	uint32_t count = 0;
	int64_t next_ns = TL_TIME_NEVER;
	const tl_job_id *ids = p->host->holding(p->host, &count);
	for (uint32_t i = 0; i < count; i++) {
		int64_t end_ns = tl_pipeline_end(p, p->host->job(p->host, ids[i]));
		if (end_ns > after_ns && end_ns < next_ns)
			next_ns = end_ns;
	}
	return next_ns;
}

/* The earliest instant at which the head fits by estimates; -1: memory is out. */
static int64_t find_shadow(struct tl_pipeline *p)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, p->head);
	/* What others have claimed is theirs from the next instant on. */
	int64_t at_ns = tl_claim_others(p, p->head) ? p->now_ns + 1 : next_leaving(p, p->now_ns);
	for (; at_ns != TL_TIME_NEVER; at_ns = next_leaving(p, at_ns)) {
		if (look_ahead(p, at_ns) != 0)
			return -1;
		if (tl_pipeline_choose(p, &p->trial.view, shape, &p->shadow.spot))
			return at_ns;
	}
	return TL_TIME_NEVER;
}

/* Whether a job at p->spot from now on leaves the head its promise: 1, 0, or -1. */
static int leaves_head(struct tl_pipeline *p, tl_job_id id)
{
	int64_t shadow_ns = find_shadow(p);
	if (shadow_ns < 0)
		return -1;
	if (tl_pipeline_end_if_started(p, p->host->job(p->host, id)) <= shadow_ns)
		return 1;
	/* p->trial is the view at the shadow. */
	tl_scratch_take(&p->trial, tl_pipeline_shape(p, id), &p->spot.where);
	return tl_pipeline_choose(p, &p->trial.view, tl_pipeline_shape(p, p->head), &p->spare);
}

static int run_easy(struct tl_pipeline *p, uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < count; i++) {
		tl_job_id id = p->plain[i].id;
		if (is_held(p, id) || p->host->job(p->host, id)->estimate_ns < 0)
			continue;
		const struct tl_view *view = tl_claim_view(p, id);
		if (view == NULL || !tl_pipeline_room(p, id, view))
			continue;
		int leaves = leaves_head(p, id);
		if (leaves < 0)
			return -1;
		if (leaves == 0)
			continue;
		enum tl_outcome outcome = TL_HELD;
		if (tl_pipeline_admits(p, p->host->job(p->host, id)))
			outcome = tl_pipeline_start(p, id);
		if (outcome == TL_STARTED)
			p->plain[i].id = 0;
		if (outcome == TL_HELD && hold(p, id) != 0)
			return -1;
	}
	return 0;
}

/* ---- skip, conservative -------------------------------------------------------------------- */

static int run_skip(struct tl_pipeline *p, uint32_t from, uint32_t count)
{
	for (uint32_t i = from; i < count; i++) {
		tl_job_id id = p->plain[i].id;
		if (is_held(p, id))
			continue;
		enum tl_outcome outcome = TL_HELD;
		if (tl_pipeline_admits(p, p->host->job(p->host, id)))
			outcome = try_one(p, id);
		if (outcome == TL_STARTED)
			p->plain[i].id = 0;
		if (outcome == TL_HELD && hold(p, id) != 0)
			return -1;
	}
	return 0;
}

static int run_conservative(struct tl_pipeline *p, uint32_t head, uint32_t count)
{
	uint32_t promised = 0;
	if (p->claims.count > 0)
		return 0;
	if (tl_profile_begin(p) != 0)
		return -1;
	for (uint32_t i = head; i < count && promised < p->depth; i++) {
		tl_job_id id = p->plain[i].id;
		if (i > head && is_held(p, id))
			continue;
		const struct tl_job_view *job = p->host->job(p->host, id);
		if (i > head && !tl_pipeline_admits(p, job)) {
			if (hold(p, id) != 0)
				return -1;
			continue;
		}
		const struct tl_shape *shape = p->host->shape(p->host, job->shape);
		int64_t end_ns = tl_pipeline_end_if_started(p, job);
		int known = end_ns != TL_TIME_NEVER;
		int64_t long_ns = known ? end_ns - p->now_ns : TL_TIME_NEVER;
		int64_t at_ns = tl_profile_find(p, shape, long_ns, known && i > head);
		if (at_ns < 0)
			return -1;
		if (at_ns == p->now_ns) {
			if (tl_pipeline_start(p, id) != TL_STARTED)
				continue;
			p->plain[i].id = 0;
		}
		if (at_ns > p->now_ns)
			promised++;
		if (at_ns < TL_TIME_NEVER && tl_profile_take(p, shape, at_ns, long_ns) != 0)
			return -1;
	}
	return 0;
}

static int run(struct tl_pipeline *p)
{
	p->held_count = 0;
	int64_t listed = list_waiting(p);
	if (listed < 0)
		return -1;
	uint32_t count = (uint32_t)listed;
	int64_t head = run_in_order(p, count);
	if (head < 0)
		return -1;
	if (p->head == 0)
		return 0;
	uint32_t at = (uint32_t)head;
	int failed = 0;
	if (p->backfill == TL_BACKFILL_SKIP)
		failed = run_skip(p, at + 1, count);
	else if (p->backfill == TL_BACKFILL_EASY)
		failed = run_easy(p, at + 1, count);
	else if (p->backfill == TL_BACKFILL_CONSERVATIVE)
		failed = run_conservative(p, at, count);
	return failed != 0 ? -1 : 0;
}

int tl_reference_run(struct tl_pipeline *p)
{
	if (run(p) < 0)
		return -1;
	/* When a key of those that wait or run now changes. */
	p->wake_ns = TL_TIME_NEVER;
	return list_waiting(p) < 0 ? -1 : 0;
}
