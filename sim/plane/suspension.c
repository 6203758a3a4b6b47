/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How work stops before its end: saves within a grace, migration, strikes. */
#include "sim/plane/life.h"

/* All saves under way have a new speed. */
static void rerate_saves(struct tl_trial *trial)
{
	for (uint32_t i = 0; i < trial->storage.count; i++) {
		tl_job_id id = trial->storage.saves[i].job;
		struct tl_job *job = tl_job_of(&trial->jobs, id);
		int in_time = 0;
		int64_t end_ns = tl_storage_end(&trial->storage, i, &in_time);

		job->save_in_time = in_time != 0;
		if (!tl_eventq_reschedule(trial->engine.queue, job->event, end_ns))
			tl_life_set_event(trial, id, end_ns, TL_EVENT_SAVED);
	}
}

static void begin_save(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	tl_storage_settle(&trial->storage, now_ns);
	job->save = tl_storage_add(&trial->storage, id, tl_job_view_of(&trial->jobs, id)->save_ns,
	                           tl_time_add(now_ns, tl_life_physics(trial)->grace_ns));
	rerate_saves(trial);
}

static void end_save(struct tl_trial *trial, struct tl_job *job)
{
	if (job->save == TL_NO_INDEX)
		return;
	tl_storage_settle(&trial->storage, tl_trial_now(trial));
	tl_job_id moved = tl_storage_remove(&trial->storage, job->save);

	if (moved != 0)
		tl_job_of(&trial->jobs, moved)->save = job->save;
	job->save = TL_NO_INDEX;
	tl_life_cancel_event(trial, job);
	rerate_saves(trial);
}

/* Stopped by decision without all of its work saved. */
static void lose_unsaved(struct tl_trial *trial, struct tl_job *job)
{
	int64_t before_ns = job->lost_work_ns;

	tl_running_roll_back(trial, job);
	if (job->lost_work_ns == before_ns)
		return;
	trial->counts.unsaved++;
	trial->counts.unsaved_mgpu_ns +=
	    (tl_i128)(job->lost_work_ns - before_ns) * job->shape->total_mgpu;
}

/* Suspended with nothing held: its memory stays on the nodes where that is wanted. */
static void settle_down(struct tl_trial *trial, tl_job_id id, bool saved, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	struct tl_placement where = {.nodes = job->alloc.nodes, .gpus = job->alloc.gpus};
	const struct tl_physics *physics = tl_life_physics(trial);

	if (saved && physics->warm && !physics->ideal) {
		int64_t bytes = job->shape->full.ram_bytes;
		int64_t state_bytes = job->state_bytes / job->shape->workers;

		job->warm = tl_job_table_take_alloc(&trial->jobs, job->shape, &where);
		tl_warm_add(&trial->warm, id, &job->warm,
		            bytes > state_bytes ? bytes : state_bytes);
		view->flags |= TL_JOB_WARM;
		view->restart_ns = tl_life_warm_start_ns(trial, job);
	}
	tl_life_release(trial, id, reason);
	tl_life_change_state(trial, id, TL_JOB_SUSPENDED, reason);
	tl_changes_job(trial, TL_LIST_SUSPENDED, id);
}

void tl_life_saved(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	bool saved = job->save_in_time;

	end_save(trial, job);
	tl_life_book_state(trial, id);
	if (saved)
		tl_progress_commit(&job->progress);
	else
		lose_unsaved(trial, job);
	tl_watch_suspended(trial, id);
	if (!job->migrating) {
		settle_down(trial, id, saved, job->reason);
		return;
	}
	tl_life_let_go(trial, id, &job->alloc, job->alloc_since_ns, TL_REASON_MIGRATED);
	tl_job_table_put_alloc(&trial->jobs, &job->alloc);
	job->alloc = job->target;
	job->target = (struct tl_alloc){0};
	job->migrating = false;
	job->alloc_since_ns = job->target_since_ns;
	tl_life_begin_start(trial, id, false, TL_REASON_MIGRATED);
}

void tl_life_suspend(struct tl_trial *trial, tl_job_id id, enum tl_suspend_mode mode,
                     enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	enum tl_job_state from = view->state;

	view->preemptions++;
	trial->counts.preemptions++;
	tl_life_book_state(trial, id);
	tl_life_cancel_event(trial, job);
	if (from == TL_JOB_RUNNING && mode == TL_SUSPEND_SAVE) {
		tl_life_change_state(trial, id, TL_JOB_SUSPENDING, reason);
		tl_cluster_mark_draining(&trial->cluster, id, job->shape, &job->alloc);
		tl_cotenants_refresh(trial, job->shape, &job->alloc, id);
		begin_save(trial, id);
		view->expected_end_ns = tl_time_add(
		    tl_trial_now(trial), tl_life_physics(trial)->ideal ? 0 : view->save_ns);
		tl_changes_job(trial, TL_LIST_SUSPENDING, id);
		return;
	}
	if (from == TL_JOB_RUNNING)
		lose_unsaved(trial, job);
	tl_watch_suspended(trial, id);
	if (from == TL_JOB_SCHEDULED) { /* it never ran: as if it had not been started */
		tl_life_release(trial, id, reason);
		tl_life_change_state(trial, id, TL_JOB_PENDING, reason);
		tl_changes_job(trial, TL_LIST_QUEUED, id);
		return;
	}
	settle_down(trial, id, false, reason);
}

void tl_life_migrate(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_life_book_state(trial, id);
	tl_life_cancel_event(trial, job);
	job->target = tl_job_table_take_alloc(&trial->jobs, job->shape, where);
	job->migrating = true;
	job->target_since_ns = tl_trial_now(trial);
	tl_life_hold(trial, id, &job->target);
	tl_life_change_state(trial, id, TL_JOB_SUSPENDING, TL_REASON_MIGRATED);
	tl_cluster_mark_draining(&trial->cluster, id, job->shape, &job->alloc);
	tl_cotenants_refresh(trial, job->shape, &job->alloc, id);
	begin_save(trial, id);
	tl_changes_job(trial, TL_LIST_SUSPENDING, id);
}

void tl_life_deaden(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	enum tl_job_state state = tl_job_view_of(&trial->jobs, id)->state;

	if (job->dead)
		return;
	tl_life_book_state(trial, id);
	end_save(trial, job);
	tl_life_cancel_event(trial, job);
	if (state == TL_JOB_RUNNING || state == TL_JOB_SUSPENDING)
		tl_running_roll_back(trial, job);
	if (state == TL_JOB_RUNNING) {
		tl_running_set_rate(trial, job, 0);
		if (tl_life_is_replica(trial, id)) /* whoever routes its requests knows at once */
			tl_services_gone(trial, id);
	}
	job->dead = true;
}

void tl_life_strike(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	enum tl_job_state from = view->state;

	tl_life_book_state(trial, id);
	end_save(trial, job);
	tl_life_cancel_event(trial, job);
	if (from == TL_JOB_RUNNING || from == TL_JOB_SUSPENDING)
		tl_running_roll_back(trial, job);
	view->restarts++;
	if (job->draining) { /* it was to go anyway */
		tl_life_end_replica(trial, id);
		return;
	}
	if (!tl_life_is_replica(trial, id) && view->restarts > trial->scenario->max_restarts) {
		tl_life_end_job(trial, id, TL_JOB_FAILED, TL_REASON_RESTARTS_EXHAUSTED);
		return;
	}
	if (from == TL_JOB_SCHEDULED) {
		tl_life_release(trial, id, reason);
		tl_life_change_state(trial, id, TL_JOB_PENDING, reason);
		tl_changes_job(trial, TL_LIST_QUEUED, id);
		return;
	}
	settle_down(trial, id, false, reason);
}
