/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The instant at which the head fits by estimates, and the machines at it. */
#include "policies/pipeline/pipeline.h"

static int leaves_before(const struct tl_leaving *a, const struct tl_leaving *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->sequence < b->sequence;
}

/* A slot may have gone to another job since. */
static int holds(const struct tl_jobs *jobs, tl_job_id id)
{
	const struct tl_job_view *job = tl_jobs_at(jobs, id);
	return job->id == id && (job->state == TL_JOB_SCHEDULED || job->state == TL_JOB_RUNNING ||
	                         job->state == TL_JOB_SUSPENDING || job->state == TL_JOB_RESUMING);
}

/* As the list is nearly in order from the last time, insertion sorts it in about one walk. */
int tl_leavers_sort(struct tl_pipeline *p)
{
	struct tl_leavers *leavers = &p->leavers;
	const struct tl_jobs jobs = p->host->jobs(p->host);
	uint32_t holding = 0, kept = 0;
	const tl_job_id *ids = p->host->holding(p->host, &holding);
	int failed = 0, more = 0;
	TL_GROW(p->host, leavers->jobs, leavers->room, leavers->count + holding + 1, failed);
	TL_GROW(p->host, leavers->places, leavers->place_room, jobs.count + 1, more);
	if (failed != 0 || more != 0)
		return tl_pipeline_break(p);
	for (uint32_t i = 0; i < leavers->count; i++) {
		struct tl_leaving one = leavers->jobs[i];
		leavers->places[TL_JOB_SLOT(one.id)] = 0;
		if (holds(&jobs, one.id))
			leavers->jobs[kept++] = one;
	}
	for (uint32_t i = 0; i < kept; i++)
		leavers->places[TL_JOB_SLOT(leavers->jobs[i].id)] = 1;
	leavers->count = kept;
	for (uint32_t i = 0; i < holding; i++)
		if (leavers->places[TL_JOB_SLOT(ids[i])] == 0)
			leavers->jobs[leavers->count++] = (struct tl_leaving){.id = ids[i]};
	for (uint32_t i = 0; i < leavers->count; i++) {
		struct tl_leaving one = leavers->jobs[i];
		const struct tl_job_view *job = tl_jobs_at(&jobs, one.id);
		one.end_ns = tl_pipeline_end(p, job);
		one.sequence = job->sequence;
		uint32_t at = i;
		for (; at > 0 && leaves_before(&one, &leavers->jobs[at - 1]); at--)
			leavers->jobs[at] = leavers->jobs[at - 1];
		leavers->jobs[at] = one;
	}
	return 0;
}

static int64_t first_end(const struct tl_leaving *next, const struct tl_leaving *end)
{
	return next < end ? next->end_ns : TL_TIME_NEVER;
}

static int fits_head(struct tl_pipeline *p)
{
	return tl_pipeline_choose(p, &p->shadow.then.view, tl_pipeline_shape(p, p->head),
	                          &p->shadow.spot);
}

int tl_shadow_find(struct tl_pipeline *p)
{
	struct tl_shadow *shadow = &p->shadow;
	if (shadow->known)
		return 0;
	/* What others have claimed is theirs from the next instant on. */
	int settled = tl_claim_others(p, p->head);
	if (settled && tl_claim_settle(p, p->head) < 0)
		return -1;
	if (tl_leavers_sort(p) != 0 ||
	    tl_scratch_copy(&shadow->then, p->host,
	                    settled ? &p->drained.view : p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	shadow->known = 1;
	shadow->at_ns = TL_TIME_NEVER;
	const struct tl_leaving *next = p->leavers.jobs, *end = next + p->leavers.count;
	for (int64_t at_ns = settled ? p->now_ns + 1 : first_end(next, end); at_ns != TL_TIME_NEVER;
	     at_ns = first_end(next, end)) {
		for (; next < end && next->end_ns <= at_ns; next++)
			if (!settled || !tl_claim_leaves(p, p->host->job(p->host, next->id)))
				tl_claim_give_back(p, &shadow->then, next->id);
		if (!fits_head(p))
			continue;
		shadow->at_ns = at_ns;
		if (!tl_claim_owned(p, p->head))
			tl_pipeline_promise(p, p->head, at_ns, &shadow->spot);
		return 0;
	}
	return 0;
}

int tl_shadow_keeps(struct tl_pipeline *p, const struct tl_shape *shape)
{
	if (p->shadow.at_ns == TL_TIME_NEVER)
		return 1;
	if (tl_scratch_copy(&p->trial, p->host, &p->shadow.then.view) != 0)
		return 0;
	tl_scratch_take(&p->trial, shape, &p->spot.where);
	return tl_pipeline_choose(p, &p->trial.view, tl_pipeline_shape(p, p->head), &p->spare);
}

void tl_shadow_take(struct tl_pipeline *p, const struct tl_shape *shape)
{
	tl_scratch_take(&p->shadow.then, shape, &p->spot.where);
}
