/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Room made for a job that has none, by stopping some that come after it. */
#include "policies/pipeline/pipeline.h"

#include <stdlib.h>

static int latest_first(const void *a, const void *b)
{
	const struct tl_listed *x = a, *y = b;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->sequence > y->sequence ? -1 : 1;
}

/* Keys of running jobs not known yet (all of them, the plain way). */
static int ask_keys(struct tl_pipeline *p, const tl_job_id *ids, uint32_t count)
{
	uint32_t fresh = 0;
	int failed = 0;
	TL_GROW(p->host, p->ids, p->id_room, count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	const struct tl_jobs jobs = p->host->jobs(p->host);
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = tl_jobs_at(&jobs, ids[i]);
		if (job->state == TL_JOB_RUNNING &&
		    (p->reference || !tl_queue_tracks(&p->queue, ids[i])))
			p->ids[fresh++] = ids[i];
	}
	if (tl_pipeline_keys(p, fresh) != 0)
		return -1;
	for (uint32_t i = 0; i < fresh; i++) {
		const struct tl_job_view *job = p->host->job(p->host, p->ids[i]);
		if (tl_queue_reserve(&p->queue, TL_JOB_SLOT(job->id)) != 0 ||
		    tl_queue_track(&p->queue, job, &p->keys[i], p->now_ns) != 0)
			return tl_pipeline_break(p);
	}
	return 0;
}

/* Whether the job holds anything where the shape may go. */
static int is_in_the_way(struct tl_pipeline *p, tl_job_id id, const struct tl_shape *shape)
{
	const struct tl_view *view = p->host->view(p->host);
	struct tl_placement where;
	if (shape->model_mask == UINT64_MAX)
		return 1;
	if (p->host->allocation(p->host, id, &where) != 0)
		return 0;
	for (uint32_t w = 0; w < where.worker_count; w++)
		if (tl_node_allowed(tl_view_node(view, where.nodes[w]), shape->model_mask))
			return 1;
	return 0;
}

/* Preemptible running jobs that come after a key, that nobody stops yet, and whose going might
 * make room for the shape, into p->list: how many, or -1. */
static int64_t list_candidates(struct tl_pipeline *p, const struct tl_shape *shape, tl_wide key)
{
	uint32_t count = 0, found = 0;
	int a = 0, b = 0;
	const tl_job_id *ids = p->host->holding(p->host, &count);
	TL_GROW(p->host, p->list, p->list_room, count + 1, a);
	TL_GROW(p->host, p->list_keys, p->list_key_room, count + 1, b);
	if (a != 0 || b != 0)
		return tl_pipeline_break(p);
	if (ask_keys(p, ids, count) != 0)
		return -1;
	const struct tl_jobs jobs = p->host->jobs(p->host);
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = tl_jobs_at(&jobs, ids[i]);
		if (job->state != TL_JOB_RUNNING || (job->flags & TL_JOB_PREEMPTIBLE) == 0 ||
		    tl_claim_leaves(p, job))
			continue;
		tl_wide at = tl_item_key(&p->queue.items[TL_JOB_SLOT(ids[i])], p->now_ns);
		if (at > key && is_in_the_way(p, ids[i], shape))
			p->list[found++] =
			    (struct tl_listed){.key = at, .sequence = job->sequence, .id = ids[i]};
	}
	if (found > 0)
		qsort(p->list, found, sizeof(*p->list), latest_first);
	return found;
}

static int fits(const struct tl_shortfall *ask, const tl_job_id *victims, uint32_t count)
{
	struct tl_pipeline *p = ask->ctx;
	if (tl_scratch_copy(&p->dry, p->host, &p->drained.view) != 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		tl_claim_give_back(p, &p->dry, victims[i]);
	return tl_pipeline_choose(p, &p->dry.view, ask->shape, &p->spare);
}

static int64_t narrow(tl_wide key)
{
	if (key > INT64_MAX)
		return INT64_MAX;
	return key < INT64_MIN ? INT64_MIN : (int64_t)key;
}

/* Asks the seat for victims into p->victims, and their room into p->spare: 1, 0, or -1. */
static int ask_module(struct tl_pipeline *p, const struct tl_job_view *job,
                      const struct tl_shape *shape, tl_wide key, uint32_t count,
                      struct tl_victims *victims)
{
	int failed = 0, more = 0;
	TL_GROW(p->host, p->ids, p->id_room, count, failed);
	TL_GROW(p->host, p->victims, p->victim_room, count, more);
	if (failed != 0 || more != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < count; i++) {
		p->ids[i] = p->list[i].id;
		p->list_keys[i] = narrow(p->list[i].key);
	}
	const struct tl_shortfall ask = {.struct_size = sizeof(ask),
	                                 .candidate_count = count,
	                                 .job = job,
	                                 .shape = shape,
	                                 .key = narrow(key),
	                                 .candidates = p->ids,
	                                 .candidate_keys = p->list_keys,
	                                 .jobs = p->host->jobs(p->host),
	                                 .now_ns = p->now_ns,
	                                 .fits = fits,
	                                 .ctx = p};
	*victims = (struct tl_victims){.ids = p->victims};
	if (p->preempt->choose(p->seats[TL_SEAT_PREEMPT].self, &ask, victims) != 1 ||
	    victims->count == 0 || victims->count > count)
		return 0;
	/* The last dry run is the one that counts. */
	if (fits(&ask, victims->ids, victims->count))
		return 1;
	p->host->log(p->host, TL_LOG_WARNING, "pipeline: the victims named do not make room");
	return 0;
}

/* What leaves already may be enough; else the seat is asked: 1 with the victims and p->spare,
 * 0, or -1. */
static int find_room(struct tl_pipeline *p, tl_job_id id, tl_wide key, struct tl_victims *victims)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, id);
	int64_t leaving = tl_claim_settle(p, 0);
	if (leaving < 0)
		return -1;
	if (leaving > 0 && tl_pipeline_choose(p, &p->drained.view, shape, &p->spare))
		return 1;
	int64_t count = list_candidates(p, shape, key);
	if (count <= 0)
		return (int)count;
	return ask_module(p, p->host->job(p->host, id), shape, key, (uint32_t)count, victims);
}

/* Starts the owner of a claim if there is room for it now: 1, 0, or -1. */
static int start_owner(struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_view *view = tl_claim_view(p, id);
	if (view == NULL)
		return tl_pipeline_break(p);
	if (!tl_pipeline_choose(p, view, tl_pipeline_shape(p, id), &p->spot) ||
	    tl_pipeline_start(p, id) != TL_STARTED)
		return 0;
	if (tl_queue_forget(&p->queue, id) != 0)
		return tl_pipeline_break(p);
	return tl_claim_end(p, id) != 0 ? -1 : 1;
}

/* Claims p->spare: TL_EVICT_PASS, TL_EVICT_OVER where victims were killed, or -1. */
static int claim_spare(struct tl_pipeline *p, tl_job_id id, const struct tl_victims *victims)
{
	uint64_t version = p->host->view(p->host)->version;
	if (tl_claim_add(p, id, &p->spare, victims) != 0)
		return -1;
	p->shadow.known = 0;
	if (victims->mode != TL_SUSPEND_KILL || p->host->view(p->host)->version == version)
		return TL_EVICT_PASS;
	/* Their room is free now. */
	return start_owner(p, id) < 0 ? -1 : TL_EVICT_OVER;
}

/* A job that owns no claim, as if there were none but those that come before it: 1 with room in
 * p->spare, 0, or -1. *now is set where it is free. */
static int find_room_first(struct tl_pipeline *p, tl_job_id id, tl_wide key,
                           struct tl_victims *victims, int *now)
{
	uint32_t later = tl_claim_set_aside(p);
	int found = 0;
	if (later > 0) {
		const struct tl_view *view = tl_claim_view(p, id);
		if (view == NULL)
			return tl_pipeline_break(p);
		*now = tl_pipeline_choose(p, view, tl_pipeline_shape(p, id), &p->spare);
	}
	if (!*now && p->preempt != NULL)
		found = find_room(p, id, key, victims);
	tl_claim_put_back(p, later);
	return found < 0 ? -1 : found || *now;
}

int tl_evict_for(struct tl_pipeline *p, tl_job_id id, tl_wide key)
{
	struct tl_victims victims = {.count = 0};
	int now = 0;
	if (tl_claim_owned(p, id))
		return tl_claim_pass(p, id) ? TL_EVICT_PASS : TL_EVICT_NOT;
	if (tl_pipeline_drops(p, id))
		return TL_EVICT_GONE;
	int found = find_room_first(p, id, key, &victims, &now);
	if (found <= 0)
		return found < 0 ? -1 : TL_EVICT_NOT;
	if (tl_claim_yield(p) != 0)
		return -1;
	if (now)
		return TL_EVICT_AGAIN;
	int became = claim_spare(p, id, &victims);
	if (became != TL_EVICT_PASS)
		return became;
	return tl_claim_pass(p, id) ? TL_EVICT_PASS : TL_EVICT_NOT;
}

/* ---- behind the head ---------------------------------------------------------------------------- */

/* Whether the head keeps what it is promised if a job of this shape sits at p->spare from now on,
 * and the victims are gone: 1, 0, or -1. */
static int keeps_promise(struct tl_pipeline *p, const struct tl_shape *shape,
                         const struct tl_victims *victims)
{
	if (p->backfill != TL_BACKFILL_EASY)
		return 1;
	if (tl_shadow_find(p) != 0)
		return -1;
	if (p->shadow.at_ns == TL_TIME_NEVER)
		return 1;
	if (tl_scratch_copy(&p->trial, p->host, &p->shadow.then.view) != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < victims->count; i++)
		if (tl_pipeline_end(p, p->host->job(p->host, victims->ids[i])) > p->shadow.at_ns)
			tl_claim_give_back(p, &p->trial, victims->ids[i]);
	tl_hypo_withhold(&p->trial, shape, &p->spare.where);
	return tl_pipeline_choose(p, &p->trial.view, tl_pipeline_shape(p, p->head), &p->spot);
}

static int by_key(const void *a, const void *b)
{
	const struct tl_listed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->sequence < y->sequence ? -1 : 1;
}

/* The waiting replicas that have had no turn, in order, in p->behind: how many, or -1. */
static int64_t list_replicas(struct tl_pipeline *p)
{
	uint32_t count = 0;
	int a = 0, b = 0;
	TL_GROW(p->host, p->ids, p->id_room, p->replica_count + 1, a);
	TL_GROW(p->host, p->behind, p->behind_room, p->replica_count + 1, b);
	if (a != 0 || b != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < p->replica_count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, p->replicas[i]);
		if (job != NULL && job->waiting_since_ns >= 0 && job->id != p->head &&
		    !tl_claim_owned(p, job->id))
			p->ids[count++] = job->id;
	}
	if (tl_pipeline_keys(p, count) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		p->behind[i] =
		    (struct tl_listed){.key = p->keys[i].key,
		                       .sequence = p->host->job(p->host, p->ids[i])->sequence,
		                       .id = p->ids[i]};
	if (count > 0)
		qsort(p->behind, count, sizeof(*p->behind), by_key);
	return count;
}

/* Makes room for replicas behind the head. Where a service's first gets none, its later ones are
 * not asked about. */
static int claim_for_replicas(struct tl_pipeline *p)
{
	uint32_t refused = TL_NO_INDEX;
	if (p->replica_count == 0 || p->claims.count >= p->claims.most)
		return TL_EVICT_NOT;
	int64_t count = list_replicas(p);
	for (int64_t i = 0; i < count && p->claims.count < p->claims.most; i++) {
		const struct tl_listed *one = &p->behind[i];
		const struct tl_job_view *job = p->host->job(p->host, one->id);
		struct tl_victims victims = {.count = 0};
		if (job->service == refused || !tl_pipeline_admits(p, job))
			continue;
		refused = job->service;
		int found = find_room(p, one->id, one->key, &victims);
		if (found > 0)
			found = keeps_promise(p, tl_pipeline_shape(p, one->id), &victims);
		if (found < 0)
			return -1;
		if (found == 0)
			continue;
		refused = TL_NO_INDEX;
		int became = claim_spare(p, one->id, &victims);
		if (became != TL_EVICT_PASS)
			return became;
		int started = start_owner(p, one->id);
		if (started != 0)
			return started < 0 ? -1 : TL_EVICT_AGAIN;
	}
	return count < 0 ? -1 : TL_EVICT_NOT;
}

int tl_evict_behind(struct tl_pipeline *p)
{
	if (p->preempt == NULL)
		return TL_EVICT_NOT;
	if (p->backfill == TL_BACKFILL_NONE || p->backfill == TL_BACKFILL_CONSERVATIVE)
		return tl_claim_yield(p) != 0 ? -1 : TL_EVICT_NOT;
	for (uint32_t i = 0; i < p->claims.count; i++) {
		if (p->claims.all[i].passed || tl_claim_waits(p, p->claims.all[i].job))
			continue;
		int started = start_owner(p, p->claims.all[i].job);
		if (started != 0)
			return started < 0 ? -1 : TL_EVICT_AGAIN;
	}
	return claim_for_replicas(p);
}
