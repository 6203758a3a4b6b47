/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A running job: its progress, speed and books. */
#include "sim/plane/life.h"

const struct tl_physics *tl_life_physics(const struct tl_trial *trial)
{
	return &trial->scenario->physics;
}

void tl_life_cancel_event(struct tl_trial *trial, struct tl_job *job)
{
	tl_eventq_cancel(trial->engine.queue, job->event);
	job->event = 0;
}

void tl_life_set_event(struct tl_trial *trial, tl_job_id id, int64_t at_ns, enum tl_event_kind kind)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	job->event = at_ns == TL_NEVER ? 0
	                               : tl_engine_at(&trial->engine, at_ns, TL_PHASE_COMPLETION,
	                                              (uint32_t)kind, id);
}

bool tl_life_is_replica(struct tl_trial *trial, tl_job_id id)
{
	return (tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_REPLICA) != 0;
}

/* What a stretch of a running job is for. */
static void split(const struct tl_job *job, bool is_replica, struct tl_stretch stretch,
                  tl_i128 parts[static TL_PURPOSE_OF_JOBS])
{
	tl_i128 mgpu = job->booked_mgpu;
	int64_t apart_ns = stretch.run_ns - stretch.work_ns; /* lost to distance and co-tenants */
	int64_t near_ns = 0;

	if (job->dead) { /* whatever it was to do is to be done again */
		parts[TL_PURPOSE_REWORK] += mgpu * stretch.wall_ns;
		return;
	}
	if (is_replica) { /* what it served is moved from here, window by window */
		parts[TL_PURPOSE_STANDBY] += mgpu * stretch.wall_ns;
		return;
	}
	if (job->interference_ppb != TL_PPB) {
		near_ns = tl_work_of_time(stretch.run_ns, TL_PPB * 1000 / job->slow_milli) -
		          stretch.work_ns;
		apart_ns -= near_ns;
	}
	parts[TL_PURPOSE_PRODUCTIVE] += mgpu * stretch.work_ns;
	parts[TL_PURPOSE_COMMUNICATION] += mgpu * apart_ns;
	parts[TL_PURPOSE_INTERFERENCE] += mgpu * near_ns;
	parts[TL_PURPOSE_CHECKPOINT] += mgpu * (stretch.wall_ns - stretch.run_ns);
}

/* Brings a job's progress up to now; a dead one makes none. */
static struct tl_stretch advance(const struct tl_job *job, struct tl_progress *progress,
                                 int64_t now_ns)
{
	struct tl_stretch still = {.wall_ns = now_ns - progress->anchor_ns};

	if (!job->dead)
		return tl_progress_settle(progress, now_ns);
	progress->anchor_ns = now_ns;
	return still;
}

void tl_running_open(struct tl_trial *trial, tl_job_id id, tl_i128 parts[static TL_PURPOSE_OF_JOBS])
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_progress progress = job->progress; /* a look ahead: the job stays as it is */

	split(job, tl_life_is_replica(trial, id), advance(job, &progress, tl_trial_now(trial)),
	      parts);
}

/* What of the time booked as productive is not safe yet. Former work becomes safe first. */
static tl_i128 provisional(const struct tl_job *job, int64_t before_ns, int64_t work_ns)
{
	int64_t open_ns = job->progress.done_ns - job->progress.committed_ns;
	int64_t former_ns = open_ns - work_ns;

	if (former_ns <= 0)
		return (tl_i128)job->booked_mgpu * open_ns;
	return job->provisional_mgpu_ns / before_ns * former_ns +
	       (tl_i128)job->booked_mgpu * work_ns;
}

/* A replica's time stands by; on an oversubscribed GPU, what of it is slower. */
static void settle_replica(struct tl_trial *trial, tl_job_id id, struct tl_stretch stretch)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	tl_i128 slow_mgpu_ns = 0;

	if (job->booked_mgpu < job->shape->total_mgpu)
		slow_mgpu_ns = (tl_i128)job->booked_mgpu * (stretch.wall_ns - stretch.work_ns);
	tl_services_stood_by(trial, id, stretch.wall_ns,
	                     (tl_i128)job->booked_mgpu * stretch.wall_ns, slow_mgpu_ns);
}

/* Books what a running job did since its last settling. */
void tl_running_settle(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t before_ns = job->progress.done_ns - job->progress.committed_ns;
	struct tl_stretch stretch = advance(job, &job->progress, tl_trial_now(trial));
	bool is_replica = tl_life_is_replica(trial, id);
	tl_i128 parts[TL_PURPOSE_OF_JOBS] = {0};

	if (stretch.wall_ns == 0)
		return;
	view->attained_ns += stretch.wall_ns;
	view->attained_mark_ns = tl_trial_now(trial);
	split(job, is_replica, stretch, parts);
	tl_life_book(trial, job, parts);
	if (job->dead)
		return;
	if (is_replica) {
		settle_replica(trial, id, stretch);
		return;
	}
	job->productive_mgpu_ns += (tl_i128)job->shape->total_mgpu * stretch.work_ns;
	job->provisional_mgpu_ns = provisional(job, before_ns, stretch.work_ns);
	view->committed_ns = tl_progress_cycle_start(&job->progress);
}

/* Work since the last commit is gone: its time was rework after all. */
void tl_running_roll_back(struct tl_trial *trial, struct tl_job *job)
{
	int64_t lost_ns = tl_progress_roll_back(&job->progress);

	if (job->row == TL_ROW_NO_JOB) /* a replica: its requests are served again elsewhere */
		return;
	tl_ledger_move(tl_account_ledger(trial->account), job->account, TL_PURPOSE_PRODUCTIVE,
	               TL_PURPOSE_REWORK, lost_ns > 0 ? job->provisional_mgpu_ns : 0);
	job->productive_mgpu_ns -= (tl_i128)lost_ns * job->shape->total_mgpu;
	job->lost_work_ns += lost_ns;
}

int64_t tl_running_speed_ppb(const struct tl_job *job)
{
	return job->interference_ppb * 1000 / job->slow_milli;
}

/* The next thing to happen to a running job: its work is done, or its estimate is up. */
void tl_running_set_completion(struct tl_trial *trial, tl_job_id id)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t end_ns = tl_progress_end(&job->progress);

	if (trial->scenario->kill_at_estimate && view->estimate_ns >= 0) {
		int64_t left_ns = view->estimate_ns - view->attained_ns;
		int64_t kill_ns = tl_time_add(tl_trial_now(trial), left_ns > 0 ? left_ns : 0);

		end_ns = kill_ns < end_ns ? kill_ns : end_ns;
	}
	tl_life_set_event(trial, id, end_ns, TL_EVENT_COMPLETE);
}

void tl_running_set_rate(struct tl_trial *trial, struct tl_job *job, int64_t rate_mgpu)
{
	trial->productive_mgpu += rate_mgpu - job->rate_mgpu;
	job->rate_mgpu = rate_mgpu;
}

/* Checkpoints stall it for a share of the time: the level is their mean. */
int64_t tl_running_rate_mgpu(const struct tl_job *job)
{
	const struct tl_checkpoint_plan *plan = &job->progress.plan;
	int64_t rate_mgpu = tl_work_of_time(job->shape->total_mgpu, job->progress.speed_ppb);
	int64_t period_ns = tl_progress_period(plan);

	if (period_ns == 0)
		return rate_mgpu;
	return (int64_t)((tl_i128)rate_mgpu * (period_ns - plan->stall_ns) / period_ns);
}

/* A co-tenant came or went: re-rate what is left, at this instant. */
void tl_running_rerate(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t interference_ppb = tl_cotenants_speed_ppb(trial, id);

	if (job->dead || interference_ppb == job->interference_ppb)
		return;
	tl_running_settle(trial, id);
	job->interference_ppb = interference_ppb;
	job->progress.speed_ppb = tl_running_speed_ppb(job);
	if (tl_life_is_replica(trial, id)) {
		tl_services_speed(trial, id, job->progress.speed_ppb);
		return;
	}
	tl_running_set_rate(trial, job, tl_running_rate_mgpu(job));
	tl_life_cancel_event(trial, job);
	tl_running_set_completion(trial, id);
}
