/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Questions to the seats, and what is told to the host. */
#include "policies/pipeline/pipeline.h"

int tl_pipeline_break(struct tl_pipeline *p)
{
	if (!p->broken)
		p->host->log(p->host, TL_LOG_ERROR,
		             "pipeline: out of memory, nothing more is decided");
	p->broken = 1;
	return -1;
}

int tl_spot_reserve(struct tl_spot *spot, const struct tl_host *host, const struct tl_shape *shape)
{
	int failed = 0, more = 0;
	TL_GROW(host, spot->where.nodes, spot->where.worker_room, shape->workers, failed);
	TL_GROW(host, spot->where.gpus, spot->where.gpu_room, shape->gpus, more);
	return failed != 0 || more != 0 ? -1 : 0;
}

int tl_pipeline_choose(struct tl_pipeline *p, const struct tl_view *view,
                       const struct tl_shape *shape, struct tl_spot *spot)
{
	spot->where.worker_count = 0;
	spot->where.gpu_count = 0;
	return p->place->choose(p->seats[TL_SEAT_PLACE].self, view, shape, &spot->where) == 1;
}

int tl_pipeline_room(struct tl_pipeline *p, tl_job_id id, const struct tl_view *view)
{
	return tl_pipeline_choose(p, view, tl_pipeline_shape(p, id), &p->spot) ||
	       tl_second_choose(p, id, view);
}

const struct tl_shape *tl_pipeline_shape(const struct tl_pipeline *p, tl_job_id id)
{
	return p->host->shape(p->host, p->host->job(p->host, id)->shape);
}

int tl_pipeline_admits(struct tl_pipeline *p, const struct tl_job_view *job)
{
	const struct tl_shape *shape = p->host->shape(p->host, job->shape);
	if (p->queue.by_tenant) {
		/* The host's own quota, whatever sits in the admit seat: what it would refuse
		 * must not stand at the head. */
		const struct tl_tenant_view *tenant = p->host->tenant(p->host, job->tenant);
		if (tenant != NULL && tenant->quota_mgpu >= 0 &&
		    tenant->held_mgpu + shape->total_mgpu > tenant->quota_mgpu) {
			tl_explain_hold(p, job->id, "its tenant's quota is used up");
			return 0;
		}
	}
	if (p->admit == NULL || p->admit->gate == NULL)
		return 1;
	const char *why = NULL;
	if (p->admit->gate(p->seats[TL_SEAT_ADMIT].self, job, shape, &why) == TL_ADMIT)
		return 1;
	tl_explain_hold(p, job->id, why != NULL ? why : "no reason given");
	return 0;
}

enum tl_outcome tl_pipeline_start(struct tl_pipeline *p, tl_job_id id)
{
	tl_explain_start(p, id);
	enum tl_refusal refusal = p->host->start(p->host, id, &p->spot.where);
	if (refusal == TL_ACCEPTED) {
		if (p->promised == id)
			p->promised = 0;
		return TL_STARTED;
	}
	if (refusal == TL_REFUSED_QUOTA && p->queue.by_tenant)
		return TL_HELD;
	p->host->log(p->host, TL_LOG_WARNING,
	             "pipeline: the host refused a placement; the job waits for other room");
	return TL_NO_ROOM;
}

int tl_pipeline_drops(const struct tl_pipeline *p, tl_job_id id)
{
	return (p->host->job(p->host, id)->flags & TL_JOB_STATIC) != 0;
}

int tl_pipeline_keys(struct tl_pipeline *p, uint32_t count)
{
	int failed = 0;
	TL_GROW(p->host, p->keys, p->key_room, count, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	if (count == 0)
		return 0;
	struct tl_jobs jobs = p->host->jobs(p->host);
	p->order->keys(p->seats[TL_SEAT_ORDER].self, &jobs, p->ids, count, p->now_ns, p->keys);
	return 0;
}

static int64_t sum_ns(int64_t a, int64_t b)
{
	return a > TL_TIME_NEVER - b ? TL_TIME_NEVER : a + b;
}

int64_t tl_pipeline_end(const struct tl_pipeline *p, const struct tl_job_view *job)
{
	int64_t end_ns = job->expected_end_ns;
	if (job->state == TL_JOB_SUSPENDING) {
		int64_t saved_ns = sum_ns(p->now_ns, job->save_ns > 0 ? job->save_ns : 0);
		end_ns = saved_ns < end_ns ? saved_ns : end_ns;
	}
	return end_ns > p->now_ns ? end_ns : p->now_ns + 1;
}

int64_t tl_pipeline_end_if_started(const struct tl_pipeline *p, const struct tl_job_view *job)
{
	if (job->estimate_ns < 0)
		return TL_TIME_NEVER;
	int64_t to_go_ns =
	    job->estimate_ns > job->attained_ns ? job->estimate_ns - job->attained_ns : 0;
	int64_t restart_ns = job->restart_ns > 0 ? job->restart_ns : 0;
	int64_t end_ns = sum_ns(sum_ns(p->now_ns, restart_ns), to_go_ns);
	return end_ns > p->now_ns ? end_ns : p->now_ns + 1;
}

void tl_pipeline_promise(struct tl_pipeline *p, tl_job_id id, int64_t at_ns,
                         const struct tl_spot *spot)
{
	uint64_t hash = tl_hash_word((uint64_t)at_ns);
	for (uint32_t i = 0; i < spot->where.gpu_count; i++)
		hash = tl_hash_more(hash, spot->where.gpus[i]);
	if (p->promised == id && p->promised_hash == hash)
		return;
	tl_pipeline_unpromise(p, id);
	p->promised = 0;
	if (p->host->reserve(p->host, id, at_ns, spot->where.gpus, spot->where.gpu_count) !=
	    TL_ACCEPTED)
		return;
	p->promised = id;
	p->promised_hash = hash;
}

void tl_pipeline_unpromise(struct tl_pipeline *p, tl_job_id but)
{
	if (p->promised == 0 || p->promised == but)
		return;
	const struct tl_job_view *job = p->host->job(p->host, p->promised);
	if (job != NULL && (job->state == TL_JOB_PENDING || job->state == TL_JOB_SUSPENDED))
		p->host->reserve(p->host, p->promised, p->now_ns + 1, NULL, 0);
	p->promised = 0;
}
