/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/assert.h"
#include "sim/plane/world.h"
#include "sim/work/sharing.h"

#include <string.h>

static const struct tl_physics *physics_of(const struct tl_trial *trial)
{
	return &trial->scenario->physics;
}

static uint32_t first_node(const struct tl_job *job)
{
	return job->alloc.nodes != NULL ? job->alloc.nodes[0] : TL_NO_INDEX;
}

static void cancel_event(struct tl_trial *trial, struct tl_job *job)
{
	tl_eventq_cancel(trial->engine.queue, job->event);
	job->event = 0;
}

static void set_event(struct tl_trial *trial, tl_job_id id, int64_t at_ns, enum tl_event_kind kind)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	job->event = at_ns == TL_NEVER ? 0
	                               : tl_engine_at(&trial->engine, at_ns, TL_PHASE_COMPLETION,
	                                              (uint32_t)kind, id);
}

static bool is_replica(struct tl_trial *trial, tl_job_id id)
{
	return (tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_REPLICA) != 0;
}

/* ---- running: speed, progress, books ---- */

/* Books what a running job did since its last settling. */
static void settle(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	struct tl_ledger *ledger = tl_account_ledger(trial->account);
	struct tl_stretch stretch = tl_progress_settle(&job->progress, tl_trial_now(trial));
	tl_i128 mgpu = job->shape->total_mgpu;
	int64_t apart_ns = stretch.run_ns - stretch.work_ns; /* lost to distance and co-tenants */
	int64_t near_ns = 0;

	if (stretch.wall_ns == 0)
		return;
	view->attained_ns += stretch.wall_ns;
	view->attained_mark_ns = tl_trial_now(trial);
	if (is_replica(trial, id)) { /* what it served is moved from here, window by window */
		tl_ledger_add(ledger, job->account, TL_PURPOSE_STANDBY, mgpu * stretch.wall_ns);
		return;
	}
	if (job->interference_ppb != TL_PPB) {
		near_ns = tl_work_of_time(stretch.run_ns, TL_PPB * 1000 / job->slow_milli) -
		          stretch.work_ns;
		apart_ns -= near_ns;
	}
	tl_ledger_add(ledger, job->account, TL_PURPOSE_PRODUCTIVE, mgpu * stretch.work_ns);
	tl_ledger_add(ledger, job->account, TL_PURPOSE_COMMUNICATION, mgpu * apart_ns);
	tl_ledger_add(ledger, job->account, TL_PURPOSE_INTERFERENCE, mgpu * near_ns);
	tl_ledger_add(ledger, job->account, TL_PURPOSE_CHECKPOINT,
	              mgpu * (stretch.wall_ns - stretch.run_ns));
	job->productive_mgpu_ns += mgpu * stretch.work_ns;
	view->committed_ns = tl_progress_cycle_start(&job->progress);
}

/* Work since the last commit is gone: its time was rework after all. */
static void roll_back(struct tl_trial *trial, struct tl_job *job)
{
	int64_t lost_ns = tl_progress_roll_back(&job->progress);
	tl_i128 mgpu_ns = (tl_i128)lost_ns * job->shape->total_mgpu;

	if (job->row == TL_ROW_OF_NO_JOB) /* a replica: its requests are served again elsewhere */
		return;
	tl_ledger_move(tl_account_ledger(trial->account), job->account, TL_PURPOSE_PRODUCTIVE,
	               TL_PURPOSE_REWORK, mgpu_ns);
	job->productive_mgpu_ns -= mgpu_ns;
	job->lost_work_ns += lost_ns;
}

static int64_t speed_ppb(const struct tl_job *job)
{
	return job->interference_ppb * 1000 / job->slow_milli;
}

/* The next thing to happen to a running job: its work is done, or its estimate is up. */
static void set_completion(struct tl_trial *trial, tl_job_id id)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t end_ns = tl_progress_end(&job->progress);

	if (trial->scenario->kill_at_estimate && view->estimate_ns >= 0) {
		int64_t left_ns = view->estimate_ns - view->attained_ns;
		int64_t kill_ns = tl_time_add(tl_trial_now(trial), left_ns > 0 ? left_ns : 0);

		end_ns = kill_ns < end_ns ? kill_ns : end_ns;
	}
	set_event(trial, id, end_ns, TL_EVENT_COMPLETE);
}

/* What the co-tenants of its GPUs leave a running job: the least over its GPUs. */
static int64_t interference_of(struct tl_trial *trial, const struct tl_job *job)
{
	const struct tl_physics *physics = physics_of(trial);
	int64_t least_ppb = TL_PPB;

	if (physics->ideal || !physics->interference || job->shape->gpus == 0 ||
	    job->shape->full.share_mgpu == TL_MGPU_PER_GPU)
		return TL_PPB;
	for (uint32_t g = 0; g < job->alloc.gpu_count; g++) {
		uint32_t count = 0, running = 0;
		int64_t combined_milli = 0;
		const tl_job_id *ids =
		    tl_cluster_gpu_jobs(&trial->cluster, job->alloc.gpus[g], &count);

		for (uint32_t i = 0; i < count; i++) {
			if (tl_job_view_of(&trial->jobs, ids[i])->state != TL_JOB_RUNNING)
				continue;
			running++;
			combined_milli += tl_job_of(&trial->jobs, ids[i])->demand_milli;
		}
		if (running < 2)
			continue;
		int64_t ppb = tl_sharing_speed_ppb(combined_milli);

		least_ppb = ppb < least_ppb ? ppb : least_ppb;
	}
	return least_ppb;
}

static void set_rate(struct tl_trial *trial, struct tl_job *job, int64_t rate_mgpu)
{
	trial->productive_mgpu += rate_mgpu - job->rate_mgpu;
	job->rate_mgpu = rate_mgpu;
}

/* Checkpoints stall it for a share of the time: the level is their mean. */
static int64_t rate_of(const struct tl_job *job)
{
	const struct tl_checkpoint_plan *plan = &job->progress.plan;
	int64_t rate_mgpu = tl_work_of_time(job->shape->total_mgpu, job->progress.speed_ppb);
	int64_t period_ns = tl_progress_period(plan);

	if (period_ns == 0)
		return rate_mgpu;
	return (int64_t)((tl_i128)rate_mgpu * (period_ns - plan->stall_ns) / period_ns);
}

/* A co-tenant came or went: re-rate what is left, at this instant. */
static void refresh_speed(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t interference_ppb = interference_of(trial, job);

	if (interference_ppb == job->interference_ppb)
		return;
	settle(trial, id);
	job->interference_ppb = interference_ppb;
	job->progress.speed_ppb = speed_ppb(job);
	if (is_replica(trial, id)) {
		tl_services_speed(trial, id, job->progress.speed_ppb);
		return;
	}
	set_rate(trial, job, rate_of(job));
	cancel_event(trial, job);
	set_completion(trial, id);
}

static void refresh_neighbours(struct tl_trial *trial, const struct tl_shape *shape,
                               const struct tl_alloc *where, tl_job_id self)
{
	if (shape->gpus == 0 || shape->full.share_mgpu == TL_MGPU_PER_GPU)
		return;
	for (uint32_t g = 0; g < where->gpu_count; g++) {
		uint32_t count = 0;
		const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, where->gpus[g], &count);

		for (uint32_t i = 0; i < count; i++)
			if (ids[i] != self &&
			    tl_job_view_of(&trial->jobs, ids[i])->state == TL_JOB_RUNNING)
				refresh_speed(trial, ids[i]);
	}
}

/* ---- states ---- */

/* Books the time in the state that is being left, or up to now at the horizon. */
static void book_state(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	tl_i128 mgpu_ns =
	    (tl_i128)(tl_trial_now(trial) - job->state_since_ns) * job->shape->total_mgpu;
	struct tl_ledger *ledger = tl_account_ledger(trial->account);

	switch ((enum tl_job_state)tl_job_view_of(&trial->jobs, id)->state) {
	case TL_JOB_SCHEDULED:
		tl_ledger_add(ledger, job->account, TL_PURPOSE_START, mgpu_ns);
		break;
	case TL_JOB_RUNNING:
		settle(trial, id);
		break;
	case TL_JOB_SUSPENDING: /* a migrating job holds its target too */
		tl_ledger_add(ledger, job->account, TL_PURPOSE_SUSPEND,
		              job->migrating ? 2 * mgpu_ns : mgpu_ns);
		break;
	case TL_JOB_RESUMING:
		tl_ledger_add(ledger, job->account, TL_PURPOSE_RESUME, mgpu_ns);
		break;
	case TL_JOB_PENDING:
	case TL_JOB_SUSPENDED:
	case TL_JOB_SUCCEEDED:
	case TL_JOB_FAILED:
	case TL_JOB_STATE_COUNT:
		break;
	}
}

static bool waits(enum tl_job_state state)
{
	return state == TL_JOB_PENDING || state == TL_JOB_SUSPENDED;
}

static void change_state(struct tl_trial *trial, tl_job_id id, enum tl_job_state to,
                         enum tl_reason cause)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	enum tl_job_state from = tl_job_view_of(&trial->jobs, id)->state;
	int64_t now_ns = tl_trial_now(trial);

	if (from == TL_JOB_RUNNING)
		set_rate(trial, job, 0);
	if (from == TL_JOB_RUNNING && is_replica(trial, id))
		tl_services_gone(trial, id);
	job->reason = cause;
	if (waits(from) && !waits(to))
		tl_queues_leave(trial, id);
	tl_job_set_state(&trial->jobs, id, to, now_ns);
	if (waits(to) && !waits(from))
		tl_queues_join(trial, id);
	if (job->row != TL_ROW_OF_NO_JOB)
		tl_account_transition(trial->account, now_ns, job->row, from, to, cause,
		                      first_node(job));
	tl_seats_observe_state(trial, id, from);
	if (id == trial->explained)
		tl_trial_explain(trial, id, "%s -> %s (%s)", tl_schema_state_names[from],
		                 tl_schema_state_names[to], tl_schema_reason_names[cause]);
}

/* ---- holding GPUs ---- */

static void hold(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	tl_cluster_take(&trial->cluster, id, job->shape, where);
	trial->nominal_mgpu += job->shape->total_mgpu;
	tl_trial_tenant(trial, tl_job_view_of(&trial->jobs, id)->tenant)->held_mgpu +=
	    job->shape->total_mgpu;
	tl_changes_nodes(trial, where, false);
	for (uint32_t w = 0; w < where->worker_count; w++) {
		uint32_t node = where->nodes[w];

		tl_account_node(trial->account, now_ns, node);
		/* Memory of suspended jobs gives way, the longest suspended first. */
		for (;;) {
			tl_job_id cold = tl_warm_overflow(
			    &trial->warm, node, trial->cluster.nodes[node].free_ram_bytes);
			if (cold == 0)
				break;
			tl_life_cool(trial, cold);
		}
	}
}

/* A segment has ended: what it held, and a row a worker. */
static void book_held(struct tl_trial *trial, struct tl_job *job, const struct tl_alloc *where,
                      int64_t since_ns, enum tl_reason reason)
{
	int64_t now_ns = tl_trial_now(trial);

	job->held_mgpu_ns += (tl_i128)(now_ns - since_ns) * job->shape->total_mgpu;
	for (uint32_t w = 0; w < where->worker_count; w++) {
		const struct tl_worker *worker =
		    w + 1 == where->worker_count ? &job->shape->last : &job->shape->full;

		if (job->row != TL_ROW_OF_NO_JOB)
			tl_account_placement(trial->account, job->row, where->nodes[w],
			                     (int64_t)worker->gpus * worker->share_mgpu, since_ns,
			                     now_ns, reason);
	}
}

static void let_go(struct tl_trial *trial, tl_job_id id, struct tl_alloc *where, int64_t since_ns,
                   enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_cluster_release(&trial->cluster, id, job->shape, where);
	trial->nominal_mgpu -= job->shape->total_mgpu;
	tl_trial_tenant(trial, tl_job_view_of(&trial->jobs, id)->tenant)->held_mgpu -=
	    job->shape->total_mgpu;
	tl_changes_nodes(trial, where, true);
	for (uint32_t w = 0; w < where->worker_count; w++)
		tl_account_node(trial->account, tl_trial_now(trial), where->nodes[w]);
	book_held(trial, job, where, since_ns, reason);
	refresh_neighbours(trial, job->shape, where, id);
}

/* Gives up everything the job holds. */
static void release(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	cancel_event(trial, job);
	let_go(trial, id, &job->alloc, job->alloc_since_ns, reason);
	tl_job_table_put_alloc(&trial->jobs, &job->alloc);
	if (job->migrating) {
		let_go(trial, id, &job->target, job->target_since_ns, reason);
		tl_job_table_put_alloc(&trial->jobs, &job->target);
		job->migrating = false;
	}
	tl_job_view_of(&trial->jobs, id)->expected_end_ns = TL_NEVER;
}

/* ---- start and resume ---- */

static bool same_nodes(const struct tl_alloc *a, const struct tl_alloc *b)
{
	return a->nodes != NULL && a->worker_count == b->worker_count &&
	       memcmp(a->nodes, b->nodes, (size_t)a->worker_count * sizeof(*a->nodes)) == 0;
}

static int64_t cold_start_ns(const struct tl_trial *trial, const struct tl_job *job)
{
	const struct tl_physics *physics = physics_of(trial);

	if (physics->ideal)
		return 0;
	if (job->row == TL_ROW_OF_NO_JOB)
		return tl_services_start_ns(trial, job);
	return job->shape->gpus <= physics->cold_small_gpus ? physics->cold_small_ns
	                                                    : physics->cold_large_ns;
}

/* Frees the place where a suspended job's memory is. */
static void drop_warm(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (job->warm.nodes == NULL)
		return;
	tl_warm_remove(&trial->warm, id, &job->warm);
	tl_job_table_put_alloc(&trial->jobs, &job->warm);
	tl_job_view_of(&trial->jobs, id)->flags &= (uint8_t)~TL_JOB_WARM;
}

void tl_life_cool(struct tl_trial *trial, tl_job_id id)
{
	drop_warm(trial, id);
	tl_job_view_of(&trial->jobs, id)->restart_ns =
	    cold_start_ns(trial, tl_job_of(&trial->jobs, id));
}

static int64_t warm_start_ns(const struct tl_trial *trial, const struct tl_job *job)
{
	return (int64_t)((tl_i128)cold_start_ns(trial, job) * physics_of(trial)->warm_milli / 1000);
}

/* What is left by the estimate; work that was lost has to be done again. */
static int64_t expected_end_ns(const struct tl_job *job, const struct tl_job_view *view,
                               int64_t from_ns)
{
	if (view->estimate_ns < 0)
		return TL_NEVER;
	int64_t left_ns = view->estimate_ns - view->attained_ns + job->lost_work_ns;

	return tl_time_add(from_ns, left_ns > 0 ? left_ns : 0);
}

/* Scheduled or Resuming, on what the job now holds. */
static void begin_start(struct tl_trial *trial, tl_job_id id, bool warm, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	const struct tl_physics *physics = physics_of(trial);
	int64_t now_ns = tl_trial_now(trial);
	int64_t start_ns = warm ? warm_start_ns(trial, job) : cold_start_ns(trial, job);

	job->last_node = job->alloc.nodes[0];
	job->slow_milli = 1000;
	if (!physics->ideal && job->alloc.gpu_count > 1)
		job->slow_milli = tl_sharing_slow_milli(
		    tl_cluster_spread(&trial->cluster, &job->alloc), physics->slow_node_milli,
		    physics->slow_pod_milli, physics->slow_across_milli);
	view->started_ns = now_ns;
	if (view->first_start_ns < 0)
		view->first_start_ns = now_ns;
	view->restart_ns = cold_start_ns(trial, job);
	view->expected_end_ns = expected_end_ns(job, view, tl_time_add(now_ns, start_ns));
	change_state(trial, id, view->state == TL_JOB_PENDING ? TL_JOB_SCHEDULED : TL_JOB_RESUMING,
	             reason);
	set_event(trial, id, now_ns + start_ns, TL_EVENT_READY);
}

void tl_life_start(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	bool resume = tl_job_view_of(&trial->jobs, id)->state == TL_JOB_SUSPENDED;
	bool warm;

	job->alloc = tl_job_table_take_alloc(&trial->jobs, job->shape, where);
	warm = same_nodes(&job->warm, &job->alloc);
	drop_warm(trial, id);
	job->alloc_since_ns = tl_trial_now(trial);
	hold(trial, id, &job->alloc);
	tl_reserve_drop(trial, id);
	trial->starts++;
	begin_start(trial, id, warm, resume ? TL_REASON_RESUMED : TL_REASON_START);
}

void tl_life_ready(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	job->event = 0;
	book_state(trial, id);
	change_state(trial, id, TL_JOB_RUNNING, TL_REASON_READY);
	job->interference_ppb = interference_of(trial, job);
	tl_progress_begin(&job->progress, now_ns, speed_ppb(job));
	if (is_replica(trial, id))
		tl_services_ready(trial, id, job->progress.speed_ppb);
	else
		set_rate(trial, job, rate_of(job));
	view->attained_mark_ns = now_ns;
	view->committed_ns = now_ns;
	view->utilisation_milli = job->demand_milli;
	view->expected_end_ns = expected_end_ns(job, view, now_ns);
	set_completion(trial, id);
	refresh_neighbours(trial, job->shape, &job->alloc, id);
	tl_chaos_recovered(trial, job);
	tl_changes_job(trial, TL_LIST_RUNNING, id);
}

/* ---- ends ---- */

static void end_job(struct tl_trial *trial, tl_job_id id, enum tl_job_state state,
                    enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	change_state(trial, id, state, reason);
	if (job->alloc.nodes != NULL)
		release(trial, id, reason);
	drop_warm(trial, id);
	tl_reserve_drop(trial, id);
	tl_chaos_recovered(trial, job);
	tl_changes_job(trial, TL_LIST_ENDED, id);
	if (job->row == TL_ROW_OF_NO_JOB)
		return;
	tl_life_report(trial, id);
	atomic_fetch_add_explicit(&trial->pulse->rows_done, 1, memory_order_relaxed);
}

void tl_life_complete(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	job->event = 0;
	book_state(trial, id);
	if (job->progress.done_ns < job->progress.work_ns) {
		roll_back(trial, job);
		end_job(trial, id, TL_JOB_FAILED, TL_REASON_ESTIMATE_EXCEEDED);
	} else if (trial->scenario->user_failures && job->outcome == TL_OUTCOME_FAILED) {
		end_job(trial, id, TL_JOB_FAILED, TL_REASON_USER_FAILURE);
	} else if (trial->scenario->user_failures && job->outcome == TL_OUTCOME_CANCELLED) {
		end_job(trial, id, TL_JOB_FAILED, TL_REASON_CANCELLED);
	} else {
		end_job(trial, id, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	}
}

void tl_life_reject(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	end_job(trial, id, TL_JOB_FAILED, reason);
}

void tl_life_end_replica(struct tl_trial *trial, tl_job_id id)
{
	bool running = tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING;

	book_state(trial, id);
	tl_services_forget(trial, id);
	end_job(trial, id, running ? TL_JOB_SUCCEEDED : TL_JOB_FAILED, TL_REASON_SCALED_DOWN);
}

void tl_life_book_replica(struct tl_trial *trial, tl_job_id id, int64_t busy_ppb)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (tl_job_view_of(&trial->jobs, id)->state != TL_JOB_RUNNING)
		return;
	settle(trial, id);
	set_rate(trial, job, tl_work_of_time(job->shape->total_mgpu, busy_ppb));
}

/* ---- suspension ---- */

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
			set_event(trial, id, end_ns, TL_EVENT_SAVED);
	}
}

static void begin_save(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	tl_storage_settle(&trial->storage, now_ns);
	job->save = tl_storage_add(&trial->storage, id, tl_job_view_of(&trial->jobs, id)->save_ns,
	                           tl_time_add(now_ns, physics_of(trial)->grace_ns));
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
	cancel_event(trial, job);
	rerate_saves(trial);
}

/* Suspended with nothing held: its memory stays on the nodes where that is wanted. */
static void settle_down(struct tl_trial *trial, tl_job_id id, bool saved, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	struct tl_placement where = {.nodes = job->alloc.nodes, .gpus = job->alloc.gpus};
	const struct tl_physics *physics = physics_of(trial);

	if (saved && physics->warm && !physics->ideal) {
		int64_t bytes = job->shape->full.ram_bytes;
		int64_t state_bytes = job->state_bytes / job->shape->workers;

		job->warm = tl_job_table_take_alloc(&trial->jobs, job->shape, &where);
		tl_warm_add(&trial->warm, id, &job->warm,
		            bytes > state_bytes ? bytes : state_bytes);
		view->flags |= TL_JOB_WARM;
		view->restart_ns = warm_start_ns(trial, job);
	}
	release(trial, id, reason);
	change_state(trial, id, TL_JOB_SUSPENDED, reason);
	tl_changes_job(trial, TL_LIST_SUSPENDED, id);
}

void tl_life_saved(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	bool saved = job->save_in_time;

	end_save(trial, job);
	book_state(trial, id);
	if (saved)
		tl_progress_commit(&job->progress);
	else
		roll_back(trial, job);
	tl_watch_suspended(trial, id);
	if (!job->migrating) {
		settle_down(trial, id, saved, job->reason);
		return;
	}
	let_go(trial, id, &job->alloc, job->alloc_since_ns, TL_REASON_MIGRATED);
	tl_job_table_put_alloc(&trial->jobs, &job->alloc);
	job->alloc = job->target;
	job->target = (struct tl_alloc){0};
	job->migrating = false;
	job->alloc_since_ns = job->target_since_ns;
	begin_start(trial, id, false, TL_REASON_MIGRATED);
}

void tl_life_suspend(struct tl_trial *trial, tl_job_id id, enum tl_suspend_mode mode,
                     enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	enum tl_job_state from = view->state;

	view->preemptions++;
	trial->counts.preemptions++;
	book_state(trial, id);
	cancel_event(trial, job);
	if (from == TL_JOB_RUNNING && mode == TL_SUSPEND_SAVE) {
		change_state(trial, id, TL_JOB_SUSPENDING, reason);
		tl_cluster_mark_draining(&trial->cluster, id, job->shape, &job->alloc);
		refresh_neighbours(trial, job->shape, &job->alloc, id);
		begin_save(trial, id);
		view->expected_end_ns =
		    tl_time_add(tl_trial_now(trial), physics_of(trial)->ideal ? 0 : view->save_ns);
		tl_changes_job(trial, TL_LIST_SUSPENDING, id);
		return;
	}
	if (from == TL_JOB_RUNNING)
		roll_back(trial, job);
	tl_watch_suspended(trial, id);
	if (from == TL_JOB_SCHEDULED) { /* it never ran: as if it had not been started */
		release(trial, id, reason);
		change_state(trial, id, TL_JOB_PENDING, reason);
		tl_changes_job(trial, TL_LIST_QUEUED, id);
		return;
	}
	settle_down(trial, id, false, reason);
}

void tl_life_migrate(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	book_state(trial, id);
	cancel_event(trial, job);
	job->target = tl_job_table_take_alloc(&trial->jobs, job->shape, where);
	job->migrating = true;
	job->target_since_ns = tl_trial_now(trial);
	hold(trial, id, &job->target);
	change_state(trial, id, TL_JOB_SUSPENDING, TL_REASON_MIGRATED);
	tl_cluster_mark_draining(&trial->cluster, id, job->shape, &job->alloc);
	refresh_neighbours(trial, job->shape, &job->alloc, id);
	begin_save(trial, id);
	tl_changes_job(trial, TL_LIST_SUSPENDING, id);
}

void tl_life_strike(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	enum tl_job_state from = view->state;

	book_state(trial, id);
	end_save(trial, job);
	cancel_event(trial, job);
	if (from == TL_JOB_RUNNING || from == TL_JOB_SUSPENDING)
		roll_back(trial, job);
	view->restarts++;
	if (job->draining) { /* it was to go anyway */
		tl_life_end_replica(trial, id);
		return;
	}
	if (!is_replica(trial, id) && view->restarts > trial->scenario->max_restarts) {
		end_job(trial, id, TL_JOB_FAILED, TL_REASON_RESTARTS_EXHAUSTED);
		return;
	}
	if (from == TL_JOB_SCHEDULED) {
		release(trial, id, reason);
		change_state(trial, id, TL_JOB_PENDING, reason);
		tl_changes_job(trial, TL_LIST_QUEUED, id);
		return;
	}
	settle_down(trial, id, false, reason);
}

/* ---- reports ---- */

void tl_life_report(struct tl_trial *trial, tl_job_id id)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	const struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	bool ended = view->state == TL_JOB_SUCCEEDED || view->state == TL_JOB_FAILED;
	struct tl_job_account told = {.id = job->id,
	                              .row = job->row,
	                              .tenant = view->tenant,
	                              .queue = view->queue,
	                              .kind = view->kind,
	                              .state = view->state,
	                              .reason = (uint8_t)(ended ? job->reason : TL_REASON_HORIZON),
	                              .submit_ns = view->submit_ns,
	                              .first_start_ns = view->first_start_ns,
	                              .end_ns = ended ? tl_trial_now(trial) : TL_NONE,
	                              .gpus_mgpu = job->shape->total_mgpu,
	                              .estimate_ns = view->estimate_ns,
	                              .workers = job->shape->workers,
	                              .preemptions = view->preemptions,
	                              .restarts = view->restarts,
	                              .node = job->last_node,
	                              .lost_work_ns = job->lost_work_ns,
	                              .work_ns = job->progress.work_ns,
	                              .held_mgpu_ns = job->held_mgpu_ns,
	                              .productive_mgpu_ns = job->productive_mgpu_ns};

	memcpy(told.in_state_ns, job->in_state_ns, sizeof(told.in_state_ns));
	if (!ended)
		told.in_state_ns[view->state] += tl_trial_now(trial) - job->state_since_ns;
	tl_account_job(trial->account, &told);
}

void tl_life_settle_all(struct tl_trial *trial)
{
	for (size_t i = 0; i < trial->jobs.holding.count; i++) {
		tl_job_id id = trial->jobs.holding.ids[i];
		struct tl_job *job = tl_job_of(&trial->jobs, id);

		book_state(trial, id);
		book_held(trial, job, &job->alloc, job->alloc_since_ns, TL_REASON_HORIZON);
		if (job->migrating)
			book_held(trial, job, &job->target, job->target_since_ns,
			          TL_REASON_HORIZON);
	}
}
