/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/life.h"
#include "sim/work/sharing.h"

#include <string.h>

static uint32_t first_node(const struct tl_job *job)
{
	return job->alloc.nodes != NULL ? job->alloc.nodes[0] : TL_NO_INDEX;
}

/* ---- states ---- */

/* Adds what the state that the job is in has come to, and is not booked yet. */
static void add_open(struct tl_trial *trial, tl_job_id id, tl_i128 parts[static TL_PURPOSE_OF_JOBS])
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	tl_i128 mgpu_ns = (tl_i128)(tl_trial_now(trial) - job->booked_at_ns) * job->booked_mgpu;

	switch ((enum tl_job_state)tl_job_view_of(&trial->jobs, id)->state) {
	case TL_JOB_SCHEDULED:
		parts[TL_PURPOSE_START] += mgpu_ns;
		break;
	case TL_JOB_RUNNING:
		tl_running_open(trial, id, parts);
		break;
	case TL_JOB_SUSPENDING: /* a migrating job holds its target too */
		parts[TL_PURPOSE_SUSPEND] += mgpu_ns;
		break;
	case TL_JOB_RESUMING:
		parts[TL_PURPOSE_RESUME] += mgpu_ns;
		break;
	case TL_JOB_PENDING:
	case TL_JOB_SUSPENDED:
	case TL_JOB_SUCCEEDED:
	case TL_JOB_FAILED:
	case TL_JOB_STATE_COUNT:
		break;
	}
}

void tl_life_book(struct tl_trial *trial, const struct tl_job *job,
                  const tl_i128 parts[static TL_PURPOSE_OF_JOBS])
{
	struct tl_ledger *ledger = tl_account_ledger(trial->account);

	for (int purpose = 0; purpose < TL_PURPOSE_OF_JOBS; purpose++)
		tl_ledger_add(ledger, job->account, (enum tl_purpose)purpose, parts[purpose]);
}

/* Books the time in the state that is being left, or up to now at the horizon. */
void tl_life_book_state(struct tl_trial *trial, tl_job_id id)
{
	tl_i128 parts[TL_PURPOSE_OF_JOBS] = {0};

	if (tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING) {
		tl_running_settle(trial, id);
		return;
	}
	add_open(trial, id, parts);
	tl_life_book(trial, tl_job_of(&trial->jobs, id), parts);
	tl_job_of(&trial->jobs, id)->booked_at_ns = tl_trial_now(trial);
}

void tl_life_open_purposes(struct tl_trial *trial, tl_open_purposes open)
{
	const struct tl_id_list *holding = &trial->jobs.holding;

	for (size_t i = 0; i < holding->count; i++)
		add_open(trial, holding->ids[i],
		         open[tl_job_view_of(&trial->jobs, holding->ids[i])->kind]);
}

static bool waits(enum tl_job_state state)
{
	return state == TL_JOB_PENDING || state == TL_JOB_SUSPENDED;
}

void tl_life_change_state(struct tl_trial *trial, tl_job_id id, enum tl_job_state to,
                          enum tl_reason cause)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	enum tl_job_state from = tl_job_view_of(&trial->jobs, id)->state;
	int64_t now_ns = tl_trial_now(trial);

	if (from == TL_JOB_RUNNING)
		tl_running_set_rate(trial, job, 0);
	if (from == TL_JOB_RUNNING && tl_life_is_replica(trial, id) && !job->dead)
		tl_services_gone(trial, id);
	job->reason = cause;
	job->booked_at_ns = now_ns;
	if (waits(from) && !waits(to))
		tl_queues_leave(trial, id);
	tl_job_set_state(&trial->jobs, id, to, now_ns);
	if (waits(to) && !waits(from))
		tl_queues_join(trial, id);
	if (job->row != TL_ROW_NO_JOB)
		tl_account_transition(trial->account, now_ns, job->row, from, to, cause,
		                      first_node(job));
	tl_seats_observe_state(trial, id, from);
	if (id == trial->explained)
		tl_trial_explain(trial, id, "%s -> %s (%s)", tl_schema_state_names[from],
		                 tl_schema_state_names[to], tl_schema_reason_names[cause]);
}

/* ---- holding GPUs ---- */

void tl_life_hold(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	tl_cotenants_come(trial, id, where);
	tl_cluster_take(&trial->cluster, id, job->shape, where);
	tl_cluster_measured(&trial->cluster, id, where,
	                    tl_job_view_of(&trial->jobs, id)->utilisation_milli);
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

		tl_account_placement(trial->account, job->row, where->nodes[w],
		                     (int64_t)worker->gpus * worker->share_mgpu, since_ns, now_ns,
		                     reason);
	}
}

void tl_life_let_go(struct tl_trial *trial, tl_job_id id, struct tl_alloc *where, int64_t since_ns,
                    enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_cotenants_go(trial, id, where);
	tl_cluster_release(&trial->cluster, id, job->shape, where);
	tl_trial_tenant(trial, tl_job_view_of(&trial->jobs, id)->tenant)->held_mgpu -=
	    job->shape->total_mgpu;
	tl_changes_nodes(trial, where, true);
	for (uint32_t w = 0; w < where->worker_count; w++)
		tl_account_node(trial->account, tl_trial_now(trial), where->nodes[w]);
	book_held(trial, job, where, since_ns, reason);
	tl_cotenants_refresh(trial, job->shape, where, id);
}

/* Gives up everything the job holds. */
void tl_life_release(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_life_cancel_event(trial, job);
	tl_life_let_go(trial, id, &job->alloc, job->alloc_since_ns, reason);
	tl_job_table_put_alloc(&trial->jobs, &job->alloc);
	if (job->migrating) {
		tl_life_let_go(trial, id, &job->target, job->target_since_ns, reason);
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
	const struct tl_physics *physics = tl_life_physics(trial);

	if (physics->ideal)
		return 0;
	if (job->row == TL_ROW_NO_JOB)
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

int64_t tl_life_warm_start_ns(const struct tl_trial *trial, const struct tl_job *job)
{
	return (int64_t)((tl_i128)cold_start_ns(trial, job) * tl_life_physics(trial)->warm_milli /
	                 1000);
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
void tl_life_begin_start(struct tl_trial *trial, tl_job_id id, bool warm, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	const struct tl_physics *physics = tl_life_physics(trial);
	int64_t now_ns = tl_trial_now(trial);
	int64_t start_ns = warm ? tl_life_warm_start_ns(trial, job) : cold_start_ns(trial, job);

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
	tl_life_change_state(
	    trial, id, view->state == TL_JOB_PENDING ? TL_JOB_SCHEDULED : TL_JOB_RESUMING, reason);
	tl_life_set_event(trial, id, now_ns + start_ns, TL_EVENT_READY);
	job->dead = false;
	if (tl_chaos_dead(trial, &job->alloc))
		tl_life_deaden(trial, id);
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
	int64_t excess_mgpu = trial->cluster.excess_mgpu;

	tl_life_hold(trial, id, &job->alloc);
	trial->counts.second_starts += trial->cluster.excess_mgpu > excess_mgpu;
	tl_reserve_drop(trial, id);
	trial->starts++;
	tl_life_begin_start(trial, id, warm, resume ? TL_REASON_RESUMED : TL_REASON_START);
}

void tl_life_ready(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	int64_t now_ns = tl_trial_now(trial);

	job->event = 0;
	tl_life_book_state(trial, id);
	tl_life_change_state(trial, id, TL_JOB_RUNNING, TL_REASON_READY);
	job->interference_ppb = tl_cotenants_speed_ppb(trial, id);
	tl_progress_begin(&job->progress, now_ns, tl_running_speed_ppb(job));
	if (tl_life_is_replica(trial, id))
		tl_services_ready(trial, id, job->progress.speed_ppb);
	else
		tl_running_set_rate(trial, job, tl_running_rate_mgpu(job));
	view->attained_mark_ns = now_ns;
	view->committed_ns = now_ns;
	tl_cotenants_seen(trial, id, job->demand_milli);
	view->expected_end_ns = expected_end_ns(job, view, now_ns);
	tl_running_set_completion(trial, id);
	tl_cotenants_refresh(trial, job->shape, &job->alloc, id);
	tl_incident_recovered(trial, job);
	tl_changes_job(trial, TL_LIST_RUNNING, id);
}

/* ---- ends ---- */

void tl_life_end_job(struct tl_trial *trial, tl_job_id id, enum tl_job_state state,
                     enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_life_change_state(trial, id, state, reason);
	if (job->alloc.nodes != NULL)
		tl_life_release(trial, id, reason);
	drop_warm(trial, id);
	tl_reserve_drop(trial, id);
	tl_incident_recovered(trial, job);
	tl_changes_job(trial, TL_LIST_ENDED, id);
	if (job->row == TL_ROW_NO_JOB)
		return;
	tl_life_report(trial, id);
	atomic_fetch_add_explicit(&trial->pulse->rows_done, 1, memory_order_relaxed);
}

void tl_life_complete(struct tl_trial *trial, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	job->event = 0;
	tl_life_book_state(trial, id);
	if (job->progress.done_ns < job->progress.work_ns) {
		tl_running_roll_back(trial, job);
		tl_life_end_job(trial, id, TL_JOB_FAILED, TL_REASON_ESTIMATE_EXCEEDED);
	} else if (trial->scenario->user_failures && job->outcome == TL_OUTCOME_FAILED) {
		tl_life_end_job(trial, id, TL_JOB_FAILED, TL_REASON_USER_FAILURE);
	} else if (trial->scenario->user_failures && job->outcome == TL_OUTCOME_CANCELLED) {
		tl_life_end_job(trial, id, TL_JOB_FAILED, TL_REASON_CANCELLED);
	} else {
		tl_life_end_job(trial, id, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	}
}

void tl_life_reject(struct tl_trial *trial, tl_job_id id, enum tl_reason reason)
{
	tl_life_end_job(trial, id, TL_JOB_FAILED, reason);
}

void tl_life_end_replica(struct tl_trial *trial, tl_job_id id)
{
	bool running = tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING;

	tl_life_book_state(trial, id);
	tl_services_forget(trial, id);
	tl_life_end_job(trial, id, running ? TL_JOB_SUCCEEDED : TL_JOB_FAILED,
	                TL_REASON_SCALED_DOWN);
}

void tl_life_book_replica(struct tl_trial *trial, tl_job_id id, int64_t busy_ppb)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (tl_job_view_of(&trial->jobs, id)->state != TL_JOB_RUNNING || job->dead)
		return;
	tl_running_settle(trial, id);
	tl_running_set_rate(trial, job, tl_work_of_time(job->shape->total_mgpu, busy_ppb));
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
	                              .pool = trial->sources[job->source].pool,
	                              .kind = view->kind,
	                              .state = view->state,
	                              .reason = (uint8_t)(ended ? job->reason : TL_REASON_HORIZON),
	                              .submit_ns = view->submit_ns,
	                              .first_start_ns = view->first_start_ns,
	                              .end_ns = ended ? tl_trial_now(trial) : TL_NONE,
	                              .gpus_mgpu = job->shape->total_mgpu,
	                              .estimate_ns = view->estimate_ns,
	                              .deadline_ns = view->deadline_ns,
	                              .workers = job->shape->workers,
	                              .preemptions = view->preemptions,
	                              .restarts = view->restarts,
	                              .node = job->last_node,
	                              .lost_work_ns = job->lost_work_ns,
	                              .work_ns = job->progress.work_ns,
	                              .done_ns = job->progress.done_ns,
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

		tl_life_book_state(trial, id);
		book_held(trial, job, &job->alloc, job->alloc_since_ns, TL_REASON_HORIZON);
		if (job->migrating)
			book_held(trial, job, &job->target, job->target_since_ns,
			          TL_REASON_HORIZON);
	}
}
