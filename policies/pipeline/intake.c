/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happened since the last call: who waits now, who no longer does, whose key is new. */
#include "policies/pipeline/pipeline.h"

static int is_waiting(const struct tl_job_view *job)
{
	return job != NULL && (job->state == TL_JOB_PENDING || job->state == TL_JOB_SUSPENDED);
}

static int note_id(struct tl_pipeline *p, uint32_t *count, tl_job_id id)
{
	int failed = 0;
	TL_GROW(p->host, p->ids, p->id_room, *count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	p->ids[(*count)++] = id;
	return 0;
}

/* A job that has left its GPUs or the system: its tenant may start others. */
static int note_left(struct tl_pipeline *p, const tl_job_id *ids, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, ids[i]);
		if (job != NULL && tl_queue_release(&p->queue, job->tenant) != 0)
			return tl_pipeline_break(p);
		if (!is_waiting(job) && tl_queue_forget(&p->queue, ids[i]) != 0)
			return tl_pipeline_break(p);
	}
	return 0;
}

/* Whether the job may join the queue; a job that the screen refuses ends here. */
static int screened(struct tl_pipeline *p, const struct tl_job_view *job)
{
	if (p->admit == NULL || job->first_start_ns >= 0 || job->restarts > 0)
		return 1;
	const char *why = NULL;
	const struct tl_shape *shape = p->host->shape(p->host, job->shape);
	if (p->admit->screen(p->seats[TL_SEAT_ADMIT].self, job, shape, &why) != TL_REJECT)
		return 1;
	p->host->reject(p->host, job->id, why != NULL ? why : "refused at submission");
	return 0;
}

/* Room may be made for it out of turn. */
static int note_replica(struct tl_pipeline *p, tl_job_id id)
{
	int failed = 0;
	uint32_t kept = 0;
	if (p->preempt == NULL)
		return 0;
	for (uint32_t i = 0; i < p->replica_count; i++)
		if (p->replicas[i] != id && is_waiting(p->host->job(p->host, p->replicas[i])))
			p->replicas[kept++] = p->replicas[i];
	p->replica_count = kept;
	TL_GROW(p->host, p->replicas, p->replica_room, p->replica_count + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	p->replicas[p->replica_count++] = id;
	return 0;
}

static int note_waiting(struct tl_pipeline *p, const tl_job_id *ids, uint32_t count,
                        uint32_t *fresh)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, ids[i]);
		if (!is_waiting(job) || tl_queue_waits(&p->queue, ids[i]) || !screened(p, job))
			continue;
		const struct tl_shape *shape = tl_pipeline_shape(p, ids[i]);
		if (tl_spot_reserve(&p->spot, p->host, shape) != 0 ||
		    tl_spot_reserve(&p->spare, p->host, shape) != 0 ||
		    tl_spot_reserve(&p->shadow.spot, p->host, shape) != 0 ||
		    tl_queue_reserve(&p->queue, TL_JOB_SLOT(ids[i])) != 0)
			return tl_pipeline_break(p);
		if (tl_queue_forget(&p->queue, ids[i]) != 0 || tl_explain_watch(p, ids[i]) != 0)
			return tl_pipeline_break(p);
		if (note_id(p, fresh, ids[i]) != 0 ||
		    (job->service != TL_NO_INDEX && note_replica(p, ids[i]) != 0))
			return -1;
	}
	return 0;
}

/* Jobs that run: their keys matter where they can be stopped for others. */
static int note_running(struct tl_pipeline *p, const struct tl_changes *changes, uint32_t *fresh)
{
	for (uint32_t i = 0; i < changes->suspending_count; i++)
		if (!tl_queue_waits(&p->queue, changes->suspending[i]) &&
		    tl_queue_forget(&p->queue, changes->suspending[i]) != 0)
			return tl_pipeline_break(p);
	if (p->preempt == NULL)
		return 0;
	for (uint32_t i = 0; i < changes->running_count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, changes->running[i]);
		if (job == NULL || job->state != TL_JOB_RUNNING)
			continue;
		if (tl_queue_reserve(&p->queue, TL_JOB_SLOT(job->id)) != 0)
			return tl_pipeline_break(p);
		if (note_id(p, fresh, job->id) != 0)
			return -1;
	}
	return 0;
}

static int take_keys(struct tl_pipeline *p, uint32_t count)
{
	if (tl_pipeline_keys(p, count) != 0)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = p->host->job(p->host, p->ids[i]);
		int failed = is_waiting(job)
		                 ? tl_queue_put(&p->queue, job, &p->keys[i], p->now_ns)
		                 : tl_queue_track(&p->queue, job, &p->keys[i], p->now_ns);
		if (failed != 0)
			return tl_pipeline_break(p);
	}
	return 0;
}

int tl_intake(struct tl_pipeline *p, const struct tl_changes *changes)
{
	if (note_left(p, changes->ended, changes->ended_count) != 0 ||
	    note_left(p, changes->suspended, changes->suspended_count) != 0)
		return -1;
	uint32_t left = changes->ended_count + changes->suspended_count;
	/* A job that was moved has left one place of two, of which no list tells. */
	if (changes->freed_count > 0 && (left == 0 || p->defrag != NULL) &&
	    tl_queue_release_all(&p->queue) != 0)
		return tl_pipeline_break(p);
	/* Room was freed: all deserve another look. */
	if ((changes->why & (TL_WHY_FREED | TL_WHY_NODES)) != 0 &&
	    tl_queue_reopen_all(&p->queue) != 0)
		return tl_pipeline_break(p);
	if (tl_second_news(p, changes) != 0)
		return tl_pipeline_break(p);

	uint32_t fresh = 0;
	if (note_waiting(p, changes->queued, changes->queued_count, &fresh) != 0 ||
	    note_waiting(p, changes->suspended, changes->suspended_count, &fresh) != 0 ||
	    note_running(p, changes, &fresh) != 0)
		return -1;
	if (p->reference)
		return 0;
	for (uint32_t slot; (slot = tl_queue_expired(&p->queue, p->now_ns)) != TL_NO_INDEX;)
		if (note_id(p, &fresh, p->queue.items[slot].id) != 0)
			return -1;
	return take_keys(p, fresh);
}
