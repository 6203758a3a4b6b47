/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room made for the head by stopping others, and kept for it.
 *
 * Where a preemption is decided, the head's placement is chosen on the machines as they
 * will be once the victims are gone; until the head starts, nobody else may use what is
 * free there. One claim at a time: it dies when the head starts or changes, or when it
 * cannot come true any more.
 */
#include "policies/pipeline/pipeline.h"

#include <stdlib.h>

static void give_back(struct tl_pipeline *p, struct tl_scratch_view *hypo, tl_job_id id)
{
	struct tl_placement where;
	const struct tl_job_view *job = p->host->job(p->host, id);
	if (job != NULL && job->state != TL_JOB_SUSPENDED &&
	    p->host->allocation(p->host, id, &where) == 0)
		tl_scratch_give(hypo, p->host->shape(p->host, job->shape), &where,
		                job->state == TL_JOB_SUSPENDING);
}

/* p->drained: the machines once all that drains, and the victims to come, are gone. */
static int drain(struct tl_pipeline *p)
{
	uint32_t count = 0;
	if (tl_scratch_copy(&p->drained, p->host, p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	const tl_job_id *ids = p->host->holding(p->host, &count);
	const struct tl_jobs jobs = p->host->jobs(p->host);
	for (uint32_t i = 0; i < count; i++)
		if (tl_jobs_at(&jobs, ids[i])->state == TL_JOB_SUSPENDING)
			give_back(p, &p->drained, ids[i]);
	const struct tl_claim *claim = &p->claim;
	for (uint32_t i = claim->next; i < claim->victim_count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, claim->victims[i]);
		if (job != NULL && job->state == TL_JOB_RUNNING)
			give_back(p, &p->drained, claim->victims[i]);
	}
	return 0;
}

static uint32_t first_node(struct tl_pipeline *p, tl_job_id id)
{
	struct tl_placement where;
	if (p->host->job(p->host, id) == NULL || p->host->allocation(p->host, id, &where) != 0)
		return TL_NO_INDEX;
	return where.worker_count > 0 ? where.nodes[0] : TL_NO_INDEX;
}

/* Stops the victims that are due: all, or those of the next one's node. */
static int stop_victims(struct tl_pipeline *p)
{
	struct tl_claim *claim = &p->claim;
	if (claim->next >= claim->victim_count)
		return 0;
	uint32_t node = first_node(p, claim->victims[claim->next]);
	uint32_t kept = claim->next;
	for (uint32_t i = claim->next; i < claim->victim_count; i++) {
		tl_job_id id = claim->victims[i];
		if (claim->step_ns > 0 && first_node(p, id) != node) {
			claim->victims[kept++] = id;
			continue;
		}
		const struct tl_job_view *job = p->host->job(p->host, id);
		if (job == NULL || job->state != TL_JOB_RUNNING ||
		    p->host->suspend(p->host, id, claim->mode) != TL_ACCEPTED)
			continue;
		/* Its key as a running job is of no use any more. */
		if (tl_queue_forget(&p->queue, id) != 0)
			return tl_pipeline_break(p);
	}
	claim->victim_count = kept;
	claim->rest_version = 0;
	claim->step_at_ns = claim->next < kept ? p->now_ns + claim->step_ns : TL_TIME_NEVER;
	return 0;
}

void tl_claim_drop(struct tl_pipeline *p)
{
	p->claim.job = 0;
	p->claim.next = 0;
	p->claim.victim_count = 0;
	p->claim.step_at_ns = TL_TIME_NEVER;
}

int tl_claim_review(struct tl_pipeline *p)
{
	struct tl_claim *claim = &p->claim;
	if (claim->job == 0)
		return 0;
	const struct tl_job_view *job = p->host->job(p->host, claim->job);
	if (job == NULL || (job->state != TL_JOB_PENDING && job->state != TL_JOB_SUSPENDED)) {
		tl_claim_drop(p);
		return 0;
	}
	if (claim->step_at_ns <= p->now_ns && stop_victims(p) != 0)
		return -1;
	if (drain(p) != 0)
		return -1;
	const struct tl_shape *shape = tl_pipeline_shape(p, claim->job);
	if (tl_hypo_has(&p->drained, shape, &claim->spot.where))
		return 0;
	claim->rest_version = 0;
	if (!tl_pipeline_choose(p, &p->drained.view, shape, &claim->spot))
		tl_claim_drop(p);
	return 0;
}

const struct tl_view *tl_claim_view(struct tl_pipeline *p, tl_job_id id)
{
	struct tl_claim *claim = &p->claim;
	const struct tl_view *live = p->host->view(p->host);
	if (claim->job == 0 || claim->job == id)
		return live;
	if (claim->rest_version == live->version && claim->rest_version != 0)
		return &claim->rest.view;
	if (tl_scratch_copy(&claim->rest, p->host, live) != 0)
		return NULL;
	tl_hypo_withhold(&claim->rest, tl_pipeline_shape(p, claim->job), &claim->spot.where);
	claim->rest_version = live->version;
	return &claim->rest.view;
}

/* ---- whom to stop ------------------------------------------------------------------------ */

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

/* Preemptible running jobs that come after the head by key, into p->list: how many, or -1. */
static int64_t list_candidates(struct tl_pipeline *p, tl_wide key)
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
		if (job->state != TL_JOB_RUNNING || (job->flags & TL_JOB_PREEMPTIBLE) == 0)
			continue;
		tl_wide at = tl_item_key(&p->queue.items[TL_JOB_SLOT(ids[i])], p->now_ns);
		if (at > key)
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
		give_back(p, &p->dry, victims[i]);
	return tl_pipeline_choose(p, &p->dry.view, ask->shape, &p->spare);
}

static int64_t narrow(tl_wide key)
{
	if (key > INT64_MAX)
		return INT64_MAX;
	return key < INT64_MIN ? INT64_MIN : (int64_t)key;
}

/* Takes what the last dry run chose as the claim of the head. */
static int claim_spare(struct tl_pipeline *p, const struct tl_shape *shape)
{
	struct tl_claim *claim = &p->claim;
	struct tl_spot chosen = p->spare;
	if (tl_spot_reserve(&claim->spot, p->host, shape) != 0)
		return tl_pipeline_break(p);
	p->spare = claim->spot;
	claim->spot = chosen;
	claim->job = p->head;
	claim->rest_version = 0;
	return 0;
}

static int ask_module(struct tl_pipeline *p, const struct tl_job_view *job,
                      const struct tl_shape *shape, tl_wide key, uint32_t count)
{
	struct tl_claim *claim = &p->claim;
	int failed = 0, more = 0;
	TL_GROW(p->host, p->ids, p->id_room, count, failed);
	TL_GROW(p->host, claim->victims, claim->victim_room, count, more);
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
	struct tl_victims victims = {.ids = claim->victims};
	if (p->preempt->choose(p->seats[TL_SEAT_PREEMPT].self, &ask, &victims) != 1 ||
	    victims.count == 0 || victims.count > count)
		return 0;
	/* The last dry run is the one that counts. */
	if (!fits(&ask, victims.ids, victims.count)) {
		p->host->log(p->host, TL_LOG_WARNING,
		             "pipeline: the victims named do not make room");
		return 0;
	}
	claim->next = 0;
	claim->victim_count = victims.count;
	claim->mode = victims.mode;
	claim->step_ns = victims.step_ns > 0 ? victims.step_ns : 0;
	return 1;
}

int tl_claim_make(struct tl_pipeline *p, tl_wide key)
{
	if (p->claim.job != 0)
		return 0;
	tl_claim_drop(p);
	const struct tl_shape *shape = tl_pipeline_shape(p, p->head);
	if (drain(p) != 0)
		return -1;
	/* What drains already may be enough. */
	if (p->drained.view.version != p->host->view(p->host)->version &&
	    tl_pipeline_choose(p, &p->drained.view, shape, &p->spare))
		return claim_spare(p, shape);
	int64_t count = list_candidates(p, key);
	if (count <= 0)
		return (int)count;
	int made = ask_module(p, p->host->job(p->host, p->head), shape, key, (uint32_t)count);
	if (made <= 0)
		return made;
	if (claim_spare(p, shape) != 0 || stop_victims(p) != 0)
		return -1;
	if (tl_pipeline_choose(p, p->host->view(p->host), shape, &p->spot) &&
	    tl_pipeline_start(p, p->head) == TL_STARTED) {
		tl_claim_drop(p);
		p->head = 0;
		return 1;
	}
	tl_pipeline_promise(p, p->head, p->now_ns + 1, &p->claim.spot);
	return 0;
}
