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

int tl_shadow_find(struct tl_pipeline *p)
{
	struct tl_shadow *shadow = &p->shadow;
	if (shadow->known)
		return 0;
	if (tl_leavers_sort(p) != 0 ||
	    tl_scratch_copy(&shadow->then, p->host, p->host->view(p->host)) != 0)
		return tl_pipeline_break(p);
	const struct tl_shape *shape = tl_pipeline_shape(p, p->head);
	shadow->known = 1;
	shadow->at_ns = TL_TIME_NEVER;
	for (uint32_t i = 0; i < p->leavers.count; i++) {
		const struct tl_leaving *one = &p->leavers.jobs[i];
		struct tl_placement where;
		if (one->end_ns == TL_TIME_NEVER)
			return 0;
		if (p->host->allocation(p->host, one->id, &where) == 0)
			tl_scratch_give(&shadow->then, tl_pipeline_shape(p, one->id), &where,
			                p->host->job(p->host, one->id)->state == TL_JOB_SUSPENDING);
		if (i + 1 < p->leavers.count && one[1].end_ns == one->end_ns)
			continue;
		if (!tl_pipeline_choose(p, &shadow->then.view, shape, &shadow->spot))
			continue;
		shadow->at_ns = one->end_ns;
		tl_pipeline_promise(p, p->head, shadow->at_ns, &shadow->spot);
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
