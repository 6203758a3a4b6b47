/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contract's decisions: each is validated in full, then carried out; one that is
 * impossible or stale is refused with a code, counted, and changes nothing. */
#include "sim/plane/world.h"

#include <stdio.h>

static struct tl_trial *trial_of(const struct tl_host *host)
{
	return ((struct tl_instance *)host->ctx)->trial;
}

/* Counts, logs and shows what became of a decision. */
static enum tl_refusal answer(struct tl_trial *trial, enum tl_decision what, tl_job_id id,
                              const struct tl_placement *where, enum tl_refusal refusal)
{
	const struct tl_job *job = tl_job_table_get(&trial->jobs, id);
	struct tl_pulse *pulse = trial->pulse;
	uint64_t number = atomic_load_explicit(&pulse->decisions, memory_order_relaxed);
	uint64_t row = job != NULL ? job->row : UINT64_MAX;
	uint32_t nodes = where != NULL && where->nodes != NULL ? where->worker_count : 0;
	uint32_t node = nodes > 0 ? where->nodes[0] : TL_NO_INDEX;

	pulse->ring[number % TL_PULSE_DECISIONS] =
	    (struct tl_pulse_decision){.t_ns = tl_trial_now(trial),
	                               .row = row,
	                               .node = node,
	                               .refusal = (uint16_t)refusal,
	                               .kind = (uint8_t)what};
	atomic_store_explicit(&pulse->decisions, number + 1, memory_order_relaxed);
	trial->counts.decisions++;
	trial->counts.refused[refusal]++;
	tl_account_decision(trial->account, tl_trial_now(trial), what, row, refusal, node, nodes);
	if (refusal != TL_ACCEPTED && id != 0 && id == trial->explained)
		tl_trial_explain(trial, id, "%s refused: %s", tl_schema_decision_names[what],
		                 tl_refusal_names[refusal]);
	return refusal;
}

static bool waits(const struct tl_job_view *view)
{
	return view->state == TL_JOB_PENDING || view->state == TL_JOB_SUSPENDED;
}

/* What has to hold for any decision on a job. */
static enum tl_refusal check_job(struct tl_trial *trial, tl_job_id id)
{
	if (!trial->in_schedule)
		return TL_REFUSED_OUTSIDE_SCHEDULE;
	return tl_job_table_get(&trial->jobs, id) != NULL ? TL_ACCEPTED : TL_REFUSED_STALE_JOB;
}

/* Whether the placement would put two guaranteed tenants on an oversubscribed GPU. */
static bool breaks_guarantee(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where)
{
	const struct tl_shape *shape = tl_job_of(&trial->jobs, id)->shape;

	if (!trial->cluster.oversubscribed ||
	    (tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_GUARANTEED) == 0)
		return false;
	for (uint32_t g = 0; g < where->gpu_count; g++) {
		uint32_t count = 0;
		const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, where->gpus[g], &count);

		if (trial->cluster.gpus[where->gpus[g]].free_mgpu >= shape->full.share_mgpu)
			continue;
		for (uint32_t i = 0; i < count; i++)
			if (tl_job_view_of(&trial->jobs, ids[i])->flags & TL_JOB_GUARANTEED)
				return true;
	}
	return false;
}

static enum tl_refusal check_placement(struct tl_trial *trial, tl_job_id id,
                                       const struct tl_placement *where)
{
	const struct tl_shape *shape = tl_job_of(&trial->jobs, id)->shape;

	if (where == NULL || where->nodes == NULL || (shape->gpus > 0 && where->gpus == NULL))
		return TL_REFUSED_ARGUMENT;
	enum tl_refusal refusal = tl_cluster_check(&trial->cluster, shape, where);

	if (refusal != TL_ACCEPTED)
		return refusal;
	if (breaks_guarantee(trial, id, where))
		return TL_REFUSED_GPU_SHARE;
	const struct tl_tenant_view *tenant =
	    tl_trial_tenant(trial, tl_job_view_of(&trial->jobs, id)->tenant);

	if (tenant->quota_mgpu >= 0 && tenant->held_mgpu + shape->total_mgpu > tenant->quota_mgpu)
		return TL_REFUSED_QUOTA;
	return TL_ACCEPTED;
}

static enum tl_refusal decide_start(const struct tl_host *host, tl_job_id id,
                                    const struct tl_placement *where)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);
	enum tl_decision what = TL_DECISION_START;

	if (refusal == TL_ACCEPTED) {
		const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);

		if (view->state == TL_JOB_SUSPENDED)
			what = TL_DECISION_RESUME;
		refusal = waits(view) ? check_placement(trial, id, where) : TL_REFUSED_STATE;
	}
	if (refusal == TL_ACCEPTED)
		tl_life_start(trial, id, where);
	return answer(trial, what, id, where, refusal);
}

static enum tl_refusal decide_suspend(const struct tl_host *host, tl_job_id id,
                                      enum tl_suspend_mode mode)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);

	if (refusal == TL_ACCEPTED) {
		const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);

		if (mode != TL_SUSPEND_SAVE && mode != TL_SUSPEND_KILL)
			refusal = TL_REFUSED_ARGUMENT;
		else if (view->state != TL_JOB_RUNNING && view->state != TL_JOB_SCHEDULED &&
		         view->state != TL_JOB_RESUMING)
			refusal = TL_REFUSED_STATE;
		else if ((view->flags & TL_JOB_PREEMPTIBLE) == 0)
			refusal = TL_REFUSED_NOT_PREEMPTIBLE;
	}
	if (refusal == TL_ACCEPTED)
		tl_life_suspend(trial, id, mode, TL_REASON_PREEMPTED);
	return answer(trial, TL_DECISION_SUSPEND, id, NULL, refusal);
}

/* Whether a job sits on a GPU of its own target: it would hold that one twice. */
static bool overlaps(const struct tl_trial *trial, tl_job_id id, const struct tl_placement *where)
{
	for (uint32_t g = 0; g < where->gpu_count; g++) {
		uint32_t count = 0;
		const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, where->gpus[g], &count);

		for (uint32_t i = 0; i < count; i++)
			if (ids[i] == id)
				return true;
	}
	return false;
}

static enum tl_refusal decide_migrate(const struct tl_host *host, tl_job_id id,
                                      const struct tl_placement *where)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);

	if (refusal == TL_ACCEPTED) {
		const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);

		if (view->state != TL_JOB_RUNNING)
			refusal = TL_REFUSED_STATE;
		else if ((view->flags & TL_JOB_PREEMPTIBLE) == 0)
			refusal = TL_REFUSED_NOT_PREEMPTIBLE;
		else
			refusal = check_placement(trial, id, where);
		if (refusal == TL_ACCEPTED && overlaps(trial, id, where))
			refusal = TL_REFUSED_DUPLICATE_GPU;
	}
	if (refusal == TL_ACCEPTED)
		tl_life_migrate(trial, id, where);
	return answer(trial, TL_DECISION_MIGRATE, id, where, refusal);
}

static enum tl_refusal decide_resize(const struct tl_host *host, tl_job_id id, uint32_t role,
                                     uint32_t workers, const struct tl_placement *where)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);

	(void)role;
	(void)workers;
	/* Recorded jobs have one size: none is flagged elastic. */
	if (refusal == TL_ACCEPTED)
		refusal = TL_REFUSED_NOT_ELASTIC;
	return answer(trial, TL_DECISION_RESIZE, id, where, refusal);
}

static enum tl_refusal decide_scale(const struct tl_host *host, uint32_t service, uint32_t replicas)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = TL_REFUSED_OUTSIDE_SCHEDULE;

	if (trial->in_schedule)
		refusal = tl_services_scale(trial, service, replicas);
	return answer(trial, TL_DECISION_SCALE, 0, NULL, refusal);
}

static enum tl_refusal decide_reserve(const struct tl_host *host, tl_job_id id, int64_t at_ns,
                                      const uint32_t *gpus, uint32_t count)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);

	if (refusal == TL_ACCEPTED) {
		if (!waits(tl_job_view_of(&trial->jobs, id)))
			refusal = TL_REFUSED_STATE;
		else if (count > trial->cluster.view.gpu_count)
			refusal = TL_REFUSED_RANGE;
		else if (count > 0 && gpus == NULL)
			refusal = TL_REFUSED_ARGUMENT;
		else if (count > 0 && at_ns <= tl_trial_now(trial))
			refusal = TL_REFUSED_PAST;
		for (uint32_t i = 0; i < count && refusal == TL_ACCEPTED; i++)
			if (gpus[i] >= trial->cluster.view.gpu_count)
				refusal = TL_REFUSED_NO_SUCH_GPU;
	}
	if (refusal == TL_ACCEPTED) {
		tl_reserve_set(trial, id, gpus, count);
		if (id == trial->explained && count > 0) {
			char when[48];

			tl_trial_explain(trial, id, "%u GPUs reserved from %s", count,
			                 tl_format_instant(at_ns, when, sizeof(when)));
		}
	}
	return answer(trial, TL_DECISION_RESERVE, id, NULL, refusal);
}

static enum tl_refusal decide_reject(const struct tl_host *host, tl_job_id id, const char *why)
{
	struct tl_trial *trial = trial_of(host);
	enum tl_refusal refusal = check_job(trial, id);

	if (refusal == TL_ACCEPTED && !waits(tl_job_view_of(&trial->jobs, id)))
		refusal = TL_REFUSED_STATE;
	answer(trial, TL_DECISION_REJECT, id, NULL, refusal);
	if (refusal == TL_ACCEPTED) {
		if (id == trial->explained)
			tl_trial_explain(trial, id, "rejected: %s",
			                 why != NULL ? why : "no reason given");
		tl_life_reject(trial, id, TL_REASON_REJECTED);
	}
	return refusal;
}

void tl_host_fill_decisions(struct tl_host *host)
{
	host->start = decide_start;
	host->suspend = decide_suspend;
	host->migrate = decide_migrate;
	host->resize = decide_resize;
	host->scale = decide_scale;
	host->reserve = decide_reserve;
	host->reject = decide_reject;
}
