/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Integrals over time and distributions over jobs. */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <math.h>
#include <stdlib.h>

enum { SLOWDOWN_FLOOR_S = 10 };

/* Hundredths of the capacity that must have been asked for. */
static const int packing_at[TL_PACKING_READINGS] = {[TL_PACKING_FRAG_AT_90] = 90,
                                                    [TL_PACKING_ALLOCATED_AT_100] = 100,
                                                    [TL_PACKING_ALLOCATED_AT_130] = 130};

void tl_metrics_init(struct tl_metrics *metrics, const struct tl_cluster *cluster, bool exact)
{
	*metrics = (struct tl_metrics){.first_submit_ns = TL_NONE, .last_end_ns = TL_NONE};
	metrics->levels = (struct tl_levels){
	    .capacity_mgpu = cluster->view.capacity_mgpu,
	    .down_mgpu = cluster->down_mgpu,
	    .allocated_mgpu = cluster->allocated_mgpu,
	    .nominal_mgpu = cluster->allocated_mgpu,
	    .free_gpus = cluster->view.free_gpus,
	    .partial_nodes = cluster->partial_nodes,
	    .fragmentation_mgpu = TL_NONE,
	};
	tl_dist_init(&metrics->wait, exact);
	tl_dist_init(&metrics->jct, exact);
}

void tl_metrics_fini(struct tl_metrics *metrics)
{
	tl_dist_fini(&metrics->wait);
	tl_dist_fini(&metrics->jct);
	free(metrics->tenants);
	free(metrics->rows);
	free(metrics->told);
}

int64_t tl_metrics_advance(struct tl_metrics *metrics, int64_t now_ns)
{
	const struct tl_levels *levels = &metrics->levels;
	int64_t dt_ns = now_ns - metrics->at_ns;

	TL_ASSERT(dt_ns >= 0);
	if (dt_ns == 0)
		return 0;
	metrics->capacity += (tl_i128)levels->capacity_mgpu * dt_ns;
	metrics->down += (tl_i128)levels->down_mgpu * dt_ns;
	metrics->allocated += (tl_i128)levels->allocated_mgpu * dt_ns;
	metrics->nominal += (tl_i128)levels->nominal_mgpu * dt_ns;
	metrics->progress += (tl_i128)levels->productive_mgpu * dt_ns;
	metrics->partial += (tl_i128)levels->partial_nodes * dt_ns;
	metrics->at_ns = now_ns;
	return dt_ns;
}

enum tl_fate tl_fate_of(const struct tl_job_account *job)
{
	if (job->reason == TL_REASON_UNSUBMITTED)
		return TL_FATE_UNSUBMITTED;
	if (job->end_ns < 0)
		return TL_FATE_CENSORED;
	TL_ASSERT(job->state == TL_JOB_SUCCEEDED || job->state == TL_JOB_FAILED);
	if (job->state == TL_JOB_SUCCEEDED)
		return TL_FATE_COMPLETED;
	switch ((enum tl_reason)job->reason) {
	case TL_REASON_CANCELLED:
		return TL_FATE_CANCELLED;
	case TL_REASON_REJECTED:
		return TL_FATE_REJECTED;
	case TL_REASON_INFEASIBLE:
		return TL_FATE_INFEASIBLE;
	case TL_REASON_NO_ROOM:
	case TL_REASON_DROPPED:
		return TL_FATE_DROPPED;
	default:
		return TL_FATE_FAILED;
	}
}

bool tl_job_served(const struct tl_job_account *job)
{
	if (job->end_ns < 0 || job->first_start_ns < 0)
		return false;
	return job->state == TL_JOB_SUCCEEDED || job->reason == TL_REASON_USER_FAILURE ||
	       job->reason == TL_REASON_CANCELLED;
}

/* Queueing after the first start, apart from the first wait (model, Metrics). */
int64_t tl_job_requeue_ns(const struct tl_job_account *job)
{
	if (job->first_start_ns < 0)
		return 0;
	return job->in_state_ns[TL_JOB_PENDING] - (job->first_start_ns - job->submit_ns) +
	       job->in_state_ns[TL_JOB_SUSPENDED];
}

/* max(1, JCT / max(run, 10 s)) (model, Metrics). */
double tl_job_bounded_slowdown(const struct tl_job_account *job)
{
	int64_t run_ns = job->in_state_ns[TL_JOB_RUNNING];

	if (run_ns < SLOWDOWN_FLOOR_S * TL_NS_PER_S)
		run_ns = SLOWDOWN_FLOOR_S * TL_NS_PER_S;
	return fmax(1.0, (double)(job->end_ns - job->submit_ns) / (double)run_ns);
}

static void add_tenant(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	if (job->tenant >= metrics->tenant_count) {
		metrics->tenants = tl_grow(metrics->tenants, &metrics->tenant_room,
		                           (size_t)job->tenant + 1, sizeof *metrics->tenants);
		metrics->tenant_count = (size_t)job->tenant + 1;
	}
	metrics->tenants[job->tenant].jobs++;
	metrics->tenants[job->tenant].held_mgpu_ns += job->held_mgpu_ns;
}

/* A shrinking cluster must not look better for the jobs it never started: their wait so
 * far counts here. */
static void add_wait_so_far(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	enum tl_fate fate = tl_fate_of(job);

	if (fate == TL_FATE_UNSUBMITTED || fate == TL_FATE_INFEASIBLE || fate == TL_FATE_DROPPED)
		return;
	metrics->waited++;
	if (job->first_start_ns >= 0) {
		metrics->waited_ns += job->first_start_ns - job->submit_ns;
		return;
	}
	metrics->never++;
	metrics->waited_ns += job->in_state_ns[TL_JOB_PENDING];
}

/* A job that ended as its user had it end promised no result. */
static void judge_deadline(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	struct tl_deadlines *deadlines = &metrics->deadlines;
	const bool own_end =
	    job->reason == TL_REASON_USER_FAILURE || job->reason == TL_REASON_CANCELLED;

	if (job->deadline_ns < 0 || own_end)
		return;
	if (job->state == TL_JOB_SUCCEEDED && job->end_ns <= job->deadline_ns) {
		deadlines->met++;
	} else if (job->state == TL_JOB_SUCCEEDED) {
		int64_t late_ns = job->end_ns - job->deadline_ns;

		deadlines->late++;
		deadlines->late_ns += late_ns;
		if (late_ns > deadlines->latest_ns)
			deadlines->latest_ns = late_ns;
	} else if (job->end_ns >= 0 || job->deadline_ns <= metrics->at_ns) {
		deadlines->never++;
	} else {
		deadlines->open++;
	}
}

void tl_metrics_job(struct tl_metrics *metrics, const struct tl_job_account *job)
{
	metrics->jobs++;
	metrics->fates[tl_fate_of(job)]++;
	metrics->restarts += job->restarts;
	metrics->lost_mgpu_ns += (tl_i128)job->lost_work_ns * job->gpus_mgpu;
	metrics->useful_mgpu_ns += (tl_i128)job->done_ns * job->gpus_mgpu;
	if (job->preemptions > metrics->preemptions_max)
		metrics->preemptions_max = job->preemptions;
	add_tenant(metrics, job);
	add_wait_so_far(metrics, job);
	if (job->reason == TL_REASON_UNSUBMITTED)
		return;
	judge_deadline(metrics, job);
	if (metrics->first_submit_ns < 0 || job->submit_ns < metrics->first_submit_ns)
		metrics->first_submit_ns = job->submit_ns;
	if (job->first_start_ns < 0)
		return;
	TL_ASSERT(tl_job_requeue_ns(job) >= 0);
	tl_dist_add(&metrics->wait, job->first_start_ns - job->submit_ns);
	metrics->requeue_ns += tl_job_requeue_ns(job);
	if (job->end_ns > metrics->last_end_ns)
		metrics->last_end_ns = job->end_ns;
	if (!tl_job_served(job))
		return;
	tl_dist_add(&metrics->jct, job->end_ns - job->submit_ns);
	metrics->slowdown_sum += tl_job_bounded_slowdown(job);
	metrics->slowdown_squares += tl_job_bounded_slowdown(job) * tl_job_bounded_slowdown(job);
	metrics->served_productive_mgpu_ns += job->productive_mgpu_ns;
	metrics->served_asked_mgpu_ns += (tl_i128)job->gpus_mgpu * (job->end_ns - job->submit_ns);
}

void tl_metrics_service(struct tl_metrics *metrics, const struct tl_service_account *service)
{
	metrics->useful_mgpu_ns += service->useful_mgpu_ns;
	metrics->penalty_micros += service->penalty_micros;
}

void tl_metrics_fault(struct tl_metrics *metrics, const struct tl_row_fault *fault)
{
	int64_t recovery_ns = fault->recovered_ns - fault->t_ns;

	metrics->faults++;
	if (fault->recovered_ns < 0)
		return;
	metrics->recovered++;
	metrics->recovery_ns += recovery_ns;
	if (recovery_ns > metrics->recovery_max_ns)
		metrics->recovery_max_ns = recovery_ns;
}

void tl_metrics_packing(struct tl_metrics *metrics, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu)
{
	struct tl_packing *packing = &metrics->packing;

	TL_ASSERT(request_mgpu >= 0);
	packing->told++;
	packing->placed += placed;
	packing->requested_mgpu += request_mgpu;
	for (int i = 0; i < TL_PACKING_READINGS; i++) {
		if (packing->taken[i] || packing->requested_mgpu * 100 <
		                             (tl_i128)metrics->levels.capacity_mgpu * packing_at[i])
			continue;
		packing->taken[i] = true;
		packing->mgpu[i] = i == TL_PACKING_FRAG_AT_90 ? fragmented_mgpu : allocated_mgpu;
	}
}
