/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room kept for those it was made for.
 *
 * Where others are stopped for a job, its placement is chosen on the machines as they will be
 * once the victims are gone and the earlier owners of claims have started; until the job
 * starts, nobody else may use what is free there. A claim dies when its owner starts, is held
 * by the gate or is overtaken by a job that finds no room, or when it cannot come true.
 */
#include "policies/pipeline/pipeline.h"

#include <string.h>

static int is_waiting(const struct tl_job_view *job)
{
	return job != NULL && (job->state == TL_JOB_PENDING || job->state == TL_JOB_SUSPENDED);
}

static struct tl_claim *claim_of(const struct tl_pipeline *p, tl_job_id id)
{
	for (uint32_t i = 0; i < p->claims.count; i++)
		if (p->claims.all[i].job == id)
			return &p->claims.all[i];
	return NULL;
}

int tl_claim_owned(const struct tl_pipeline *p, tl_job_id id)
{
	return claim_of(p, id) != NULL;
}

int tl_claim_others(const struct tl_pipeline *p, tl_job_id id)
{
	return p->claims.count > (uint32_t)tl_claim_owned(p, id);
}

int tl_claim_waits(const struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_claim *claim = claim_of(p, id);
	return claim != NULL && claim->tried &&
	       claim->tried_version == p->host->view(p->host)->version;
}

/* ---- the machines as they will be ----------------------------------------------------------- */

void tl_claim_give_back(struct tl_pipeline *p, struct tl_scratch_view *hypo, tl_job_id id)
{
	struct tl_placement where;
	const struct tl_job_view *job = p->host->job(p->host, id);
	if (job != NULL && job->state != TL_JOB_SUSPENDED &&
	    p->host->allocation(p->host, id, &where) == 0)
		tl_scratch_give(hypo, p->host->shape(p->host, job->shape), &where,
		                job->state == TL_JOB_SUSPENDING);
}

int tl_claim_leaves(const struct tl_pipeline *p, const struct tl_job_view *job)
{
	uint32_t slot = TL_JOB_SLOT(job->id);
	if (job->state == TL_JOB_SUSPENDING)
		return 1;
	return job->state == TL_JOB_RUNNING && slot < p->claims.doomed_room &&
	       p->claims.doomed[slot] == job->id;
}

/* p->drained without those that leave: how many they are, or -1. */
static int64_t drain(struct tl_pipeline *p)
{
	uint32_t count = 0;
	int64_t leaving = 0;
	if (tl_scratch_copy(&p->drained, p->host, p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	const tl_job_id *ids = p->host->holding(p->host, &count);
	const struct tl_jobs jobs = p->host->jobs(p->host);
	for (uint32_t i = 0; i < count; i++) {
		if (!tl_claim_leaves(p, tl_jobs_at(&jobs, ids[i])))
			continue;
		tl_claim_give_back(p, &p->drained, ids[i]);
		leaving++;
	}
	return leaving;
}

static void withhold(struct tl_pipeline *p, struct tl_scratch_view *hypo, tl_job_id but)
{
	for (uint32_t i = 0; i < p->claims.count; i++) {
		const struct tl_claim *claim = &p->claims.all[i];
		if (claim->job != but)
			tl_hypo_withhold(hypo, tl_pipeline_shape(p, claim->job),
			                 &claim->spot.where);
	}
}

int64_t tl_claim_settle(struct tl_pipeline *p, tl_job_id but)
{
	int64_t leaving = drain(p);
	if (leaving >= 0)
		withhold(p, &p->drained, but);
	return leaving;
}

const struct tl_view *tl_claim_view(struct tl_pipeline *p, tl_job_id id)
{
	struct tl_claims *claims = &p->claims;
	const struct tl_view *live = p->host->view(p->host);
	if (!tl_claim_others(p, id))
		return live;
	int owned = tl_claim_owned(p, id);
	if (!owned && claims->rest_known && claims->rest_version == live->version)
		return &claims->rest.view;
	struct tl_scratch_view *view = owned ? &claims->others : &claims->rest;
	if (tl_scratch_copy(view, p->host, live) != 0)
		return NULL;
	withhold(p, view, id);
	if (!owned) {
		claims->rest_known = 1;
		claims->rest_version = live->version;
	}
	return &view->view;
}

/* ---- their making and end -------------------------------------------------------------------- */

/* What is claimed has changed: what was known of the rest is void. */
static void forget_views(struct tl_pipeline *p)
{
	p->claims.rest_known = 0;
	for (uint32_t i = 0; i < p->claims.count; i++)
		p->claims.all[i].tried = 0;
}

/* Tells the host what is kept for the owner, in place of what was promised to it. */
static void tell(struct tl_pipeline *p, const struct tl_claim *claim)
{
	const struct tl_placement *where = &claim->spot.where;
	if (p->promised == claim->job)
		p->promised = 0;
	p->host->reserve(p->host, claim->job, p->now_ns + 1, where->gpus, where->gpu_count);
}

static void set_doomed(struct tl_pipeline *p, tl_job_id id, int doomed)
{
	p->claims.doomed[TL_JOB_SLOT(id)] = doomed ? id : 0;
	p->partners.known = 0;
}

static void doom(struct tl_pipeline *p, const struct tl_claim *claim, int doomed)
{
	for (uint32_t i = 0; i < claim->victim_count; i++)
		set_doomed(p, claim->victims[i], doomed);
}

/* The record goes to the end of the array with what memory it has. */
static void drop(struct tl_pipeline *p, uint32_t index)
{
	struct tl_claims *claims = &p->claims;
	struct tl_claim one = claims->all[index];
	doom(p, &one, 0);
	if (is_waiting(p->host->job(p->host, one.job)))
		p->host->reserve(p->host, one.job, p->now_ns + 1, NULL, 0);
	claims->count--;
	memmove(&claims->all[index], &claims->all[index + 1],
	        (claims->count - index) * sizeof(one));
	one.job = 0;
	one.victim_count = 0;
	claims->all[claims->count] = one;
	forget_views(p);
}

int tl_claim_end(struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_claim *claim = claim_of(p, id);
	if (claim == NULL)
		return 0;
	drop(p, (uint32_t)(claim - p->claims.all));
	return tl_queue_reopen_all(&p->queue) != 0 ? tl_pipeline_break(p) : 0;
}

void tl_claim_restart(struct tl_pipeline *p)
{
	for (uint32_t i = 0; i < p->claims.count; i++)
		p->claims.all[i].passed = 0;
}

int tl_claim_yield(struct tl_pipeline *p)
{
	uint32_t before = p->claims.count;
	for (uint32_t i = before; i-- > 0;)
		if (!p->claims.all[i].passed)
			drop(p, i);
	if (p->claims.count == before)
		return 0;
	return tl_queue_reopen_all(&p->queue) != 0 ? tl_pipeline_break(p) : 0;
}

uint32_t tl_claim_set_aside(struct tl_pipeline *p)
{
	struct tl_claims *claims = &p->claims;
	uint32_t before = claims->count;
	for (uint32_t i = 0, left = before; left > 0; left--) {
		struct tl_claim one = claims->all[i];
		if (one.passed) {
			i++;
			continue;
		}
		/* To the end, so that both parts keep their order. */
		memmove(&claims->all[i], &claims->all[i + 1], (before - i - 1) * sizeof(one));
		claims->all[before - 1] = one;
		doom(p, &one, 0);
		claims->count--;
	}
	if (claims->count < before)
		claims->rest_known = 0;
	return before - claims->count;
}

void tl_claim_put_back(struct tl_pipeline *p, uint32_t aside)
{
	for (uint32_t i = 0; i < aside; i++)
		doom(p, &p->claims.all[p->claims.count++], 1);
	if (aside > 0)
		p->claims.rest_known = 0;
}

int tl_claim_pass(struct tl_pipeline *p, tl_job_id id)
{
	struct tl_claim *claim = claim_of(p, id);
	uint32_t passed = 0;
	claim->passed = 1;
	claim->tried = 1;
	claim->tried_version = p->host->view(p->host)->version;
	for (uint32_t i = 0; i < p->claims.count; i++)
		passed += p->claims.all[i].passed != 0;
	return passed < p->claims.most;
}

/* ---- victims ----------------------------------------------------------------------------------- */

static uint32_t first_node(struct tl_pipeline *p, tl_job_id id)
{
	struct tl_placement where;
	if (p->host->job(p->host, id) == NULL || p->host->allocation(p->host, id, &where) != 0)
		return TL_NO_INDEX;
	return where.worker_count > 0 ? where.nodes[0] : TL_NO_INDEX;
}

/* Whether a victim's turn has come. Steps are those of all claims together: a node each. */
static int is_due(struct tl_pipeline *p, const struct tl_claim *claim, tl_job_id id)
{
	struct tl_claims *claims = &p->claims;
	if (claim->step_ns == 0)
		return 1;
	uint32_t node = first_node(p, id);
	if (p->now_ns < claims->step_at_ns)
		return node == claims->step_node;
	claims->step_at_ns = p->now_ns + claim->step_ns;
	claims->step_node = node;
	return 1;
}

/* The pace of a claim's victims may be another by now. */
static void revise_pace(struct tl_pipeline *p, struct tl_claim *claim)
{
	const struct tl_preempt_ops *ops = p->preempt;
	if (claim->victim_count == 0 || claim->step_ns == 0 ||
	    ops->struct_size <= offsetof(struct tl_preempt_ops, pace) || ops->pace == NULL)
		return;
	int64_t step_ns = ops->pace(p->seats[TL_SEAT_PREEMPT].self,
	                            p->host->job(p->host, claim->job), p->now_ns, claim->step_ns);
	claim->step_ns = step_ns > 0 ? step_ns : 0;
}

static int stop_victims(struct tl_pipeline *p, struct tl_claim *claim)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < claim->victim_count; i++) {
		tl_job_id id = claim->victims[i];
		const struct tl_job_view *job = p->host->job(p->host, id);
		int runs = job != NULL && job->state == TL_JOB_RUNNING;
		if (runs && !is_due(p, claim, id)) {
			claim->victims[kept++] = id;
			continue;
		}
		set_doomed(p, id, 0);
		if (!runs || p->host->suspend(p->host, id, claim->mode) != TL_ACCEPTED)
			continue;
		/* Its key as a running job is of no use any more. */
		if (tl_queue_forget(&p->queue, id) != 0)
			return tl_pipeline_break(p);
	}
	claim->victim_count = kept;
	return 0;
}

int64_t tl_claim_wake(const struct tl_pipeline *p)
{
	for (uint32_t i = 0; i < p->claims.count; i++)
		if (p->claims.all[i].victim_count > 0)
			return p->claims.step_at_ns;
	return TL_TIME_NEVER;
}

static void copy_spot(struct tl_spot *to, const struct tl_spot *from)
{
	const struct tl_placement *where = &from->where;
	to->where.worker_count = where->worker_count;
	to->where.gpu_count = where->gpu_count;
	memcpy(to->where.nodes, where->nodes, where->worker_count * sizeof(*where->nodes));
	if (where->gpu_count > 0)
		memcpy(to->where.gpus, where->gpus, where->gpu_count * sizeof(*where->gpus));
}

int tl_claim_add(struct tl_pipeline *p, tl_job_id id, const struct tl_spot *spot,
                 const struct tl_victims *victims)
{
	struct tl_claims *claims = &p->claims;
	int a = 0, b = 0, c = 0;
	TL_GROW(p->host, claims->all, claims->room, claims->count + 1, a);
	TL_GROW(p->host, claims->doomed, claims->doomed_room, p->host->jobs(p->host).count + 1, b);
	if (a != 0 || b != 0)
		return tl_pipeline_break(p);
	struct tl_claim *claim = &claims->all[claims->count];
	TL_GROW(p->host, claim->victims, claim->victim_room, victims->count, c);
	if (c != 0 || tl_spot_reserve(&claim->spot, p->host, tl_pipeline_shape(p, id)) != 0)
		return tl_pipeline_break(p);
	claim->job = id;
	claim->passed = 0;
	copy_spot(&claim->spot, spot);
	claim->mode = victims->mode;
	claim->step_ns = victims->step_ns > 0 ? victims->step_ns : 0;
	claim->victim_count = victims->count;
	for (uint32_t i = 0; i < victims->count; i++)
		claim->victims[i] = victims->ids[i];
	doom(p, claim, 1);
	claims->count++;
	forget_views(p);
	tell(p, claim);
	return stop_victims(p, claim);
}

/* ---- at the beginning of a pass ---------------------------------------------------------------- */

/* Finds each claim a spot among those that leave, in order; one that has none dies, and with
 * it the hope of what its victims would have left. *changed is set where spots are others. */
static int find_spots(struct tl_pipeline *p, int *changed)
{
	while (p->claims.count > 0) {
		uint32_t i = 0;
		if (drain(p) < 0)
			return -1;
		for (; i < p->claims.count; i++) {
			struct tl_claim *claim = &p->claims.all[i];
			const struct tl_shape *shape = tl_pipeline_shape(p, claim->job);
			if (!tl_hypo_has(&p->drained, shape, &claim->spot.where)) {
				*changed = 1;
				if (!tl_pipeline_choose(p, &p->drained.view, shape, &claim->spot))
					break;
				forget_views(p);
				tell(p, claim);
			}
			tl_hypo_withhold(&p->drained, shape, &claim->spot.where);
		}
		if (i == p->claims.count)
			return 0;
		drop(p, i);
	}
	return 0;
}

int tl_claim_review(struct tl_pipeline *p)
{
	struct tl_claims *claims = &p->claims;
	int changed = 0;
	for (uint32_t i = 0; i < claims->count;) {
		const struct tl_job_view *job = p->host->job(p->host, claims->all[i].job);
		if (is_waiting(job) && tl_pipeline_admits(p, job)) {
			i++;
			continue;
		}
		drop(p, i);
		changed = 1;
	}
	for (uint32_t i = 0; i < claims->count; i++) {
		revise_pace(p, &claims->all[i]);
		if (stop_victims(p, &claims->all[i]) != 0)
			return -1;
	}
	if (find_spots(p, &changed) != 0)
		return -1;
	return changed && tl_queue_reopen_all(&p->queue) != 0 ? tl_pipeline_break(p) : 0;
}
