/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Node failures, repairs and scripted faults, applied; each gets a row of /faults with
 * its impact and the time until the work it hit runs again. */
#include "sim/plane/world.h"

#include "sim/base/assert.h"
#include "sim/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>

struct strike {
	struct tl_row_fault row;
	uint32_t outstanding; /* jobs hit that do not run again yet */
	bool open;            /* not yet written */
};

struct tl_chaos {
	struct tl_faults *faults;
	struct strike *strikes; /* numbers are kept in jobs: never moved down */
	size_t count, capacity;
	tl_job_id *hit;
	size_t hit_capacity;
};

enum tl_status tl_chaos_arm(struct tl_trial *trial, struct tl_error *error)
{
	const struct tl_fault_kinds kinds = {
	    .scripted = TL_EVENT_FAULT, .fail = TL_EVENT_NODE_FAIL, .repair = TL_EVENT_NODE_REPAIR};

	trial->chaos = tl_calloc(1, sizeof(*trial->chaos));
	enum tl_status status = tl_faults_create(trial->scenario, &trial->cluster, &kinds,
	                                         &trial->chaos->faults, error);

	if (status == TL_OK)
		tl_faults_arm(trial->chaos->faults, &trial->engine);
	return status;
}

static void write_out(struct tl_trial *trial, struct strike *strike)
{
	if (strike->open)
		tl_account_fault(trial->account, &strike->row);
	strike->open = false;
}

void tl_chaos_finish(struct tl_trial *trial)
{
	for (size_t i = 0; i < trial->chaos->count; i++)
		write_out(trial, &trial->chaos->strikes[i]);
}

void tl_chaos_fini(struct tl_trial *trial)
{
	if (trial->chaos == NULL)
		return;
	if (trial->chaos->faults != NULL)
		tl_faults_destroy(trial->chaos->faults);
	free(trial->chaos->strikes);
	free(trial->chaos->hit);
	free(trial->chaos);
}

void tl_chaos_recovered(struct tl_trial *trial, struct tl_job *job)
{
	if (job->struck_by == 0)
		return;
	struct strike *strike = &trial->chaos->strikes[job->struck_by - 1];

	job->struck_by = 0;
	TL_ASSERT(strike->outstanding > 0);
	if (--strike->outstanding > 0)
		return;
	strike->row.recovered_ns = tl_trial_now(trial);
	write_out(trial, strike);
}

static uint32_t new_strike(struct tl_trial *trial, const char *kind, uint32_t node,
                           int64_t repaired_ns)
{
	struct tl_chaos *chaos = trial->chaos;

	chaos->strikes =
	    tl_grow(chaos->strikes, &chaos->capacity, chaos->count + 1, sizeof(*chaos->strikes));
	struct strike *strike = &chaos->strikes[chaos->count++];

	*strike = (struct strike){.open = true,
	                          .row = {.t_ns = tl_trial_now(trial),
	                                  .node = node,
	                                  .repaired_ns = repaired_ns,
	                                  .recovered_ns = TL_NONE}};
	snprintf(strike->row.kind, sizeof(strike->row.kind), "%s", kind);
	return (uint32_t)chaos->count;
}

/* Strikes a job and books the impact with strike `number` (from 1). */
static void strike_job(struct tl_trial *trial, uint32_t number, tl_job_id id, enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct strike *strike = &trial->chaos->strikes[number - 1];
	int64_t lost_before_ns = job->lost_work_ns;

	/* One that was hit before and has not run since now waits for this fault's end. */
	tl_chaos_recovered(trial, job);
	job->struck_by = number;
	strike->outstanding++;
	strike->row.jobs_hit++;
	strike->row.gpus_hit_mgpu += job->shape->total_mgpu;
	tl_life_strike(trial, id, reason);
	strike->row.lost_work_gpu_s +=
	    (double)(job->lost_work_ns - lost_before_ns) * (double)job->shape->total_mgpu / 1e12;
}

static void close_strike(struct tl_trial *trial, uint32_t number)
{
	struct strike *strike = &trial->chaos->strikes[number - 1];

	if (strike->open && strike->outstanding == 0) {
		strike->row.recovered_ns = tl_trial_now(trial);
		write_out(trial, strike);
	}
}

static bool sits_on(const struct tl_alloc *alloc, uint32_t node)
{
	for (uint32_t w = 0; w < alloc->worker_count; w++)
		if (alloc->nodes[w] == node)
			return true;
	return false;
}

/* Collects first: striking a job changes the list. */
static size_t collect(struct tl_trial *trial, uint32_t node)
{
	struct tl_chaos *chaos = trial->chaos;
	const struct tl_id_list *holding = &trial->jobs.holding;
	size_t count = 0;

	chaos->hit =
	    tl_grow(chaos->hit, &chaos->hit_capacity, holding->count + 1, sizeof(*chaos->hit));
	for (size_t i = 0; i < holding->count; i++) {
		const struct tl_job *job = tl_job_of(&trial->jobs, holding->ids[i]);
		bool running =
		    tl_job_view_of(&trial->jobs, holding->ids[i])->state == TL_JOB_RUNNING;

		if (node == TL_NO_INDEX ? running
		                        : sits_on(&job->alloc, node) || sits_on(&job->target, node))
			chaos->hit[count++] = holding->ids[i];
	}
	return count;
}

static void node_changed(struct tl_trial *trial, uint32_t node)
{
	tl_account_node(trial->account, tl_trial_now(trial), node);
	tl_changes_why(trial, TL_WHY_NODES);
	tl_seats_observe_node(trial, node);
}

static void take_down(struct tl_trial *trial, uint32_t node, const char *kind, int64_t repaired_ns)
{
	uint32_t number = new_strike(trial, kind, node, repaired_ns);

	if (tl_faults_begin(trial->chaos->faults, node)) {
		size_t count = collect(trial, node);

		trial->counts.node_failures++;
		for (size_t i = 0; i < count; i++)
			strike_job(trial, number, trial->chaos->hit[i], TL_REASON_NODE_FAILURE);
		/* Host memory of suspended jobs is gone too. */
		for (tl_job_id cold; (cold = tl_warm_overflow(&trial->warm, node, -1)) != 0;)
			tl_life_cool(trial, cold);
		tl_cluster_set_node_state(&trial->cluster, node, TL_NODE_DOWN);
		node_changed(trial, node);
	}
	close_strike(trial, number);
}

static void bring_back(struct tl_trial *trial, uint32_t node)
{
	struct tl_alloc where = {.nodes = &node, .worker_count = 1};

	if (!tl_faults_end(trial->chaos->faults, node))
		return;
	tl_cluster_set_node_state(&trial->cluster, node, TL_NODE_UP);
	tl_changes_nodes(trial, &where, true);
	node_changed(trial, node);
}

/* The running jobs with the least lots. */
static void kill_jobs(struct tl_trial *trial, size_t index, uint32_t wanted)
{
	struct tl_chaos *chaos = trial->chaos;
	uint32_t number = new_strike(trial, "kill-jobs", TL_NO_INDEX, TL_NONE);
	size_t count = collect(trial, TL_NO_INDEX);

	for (uint32_t n = 0; n < wanted && n < count; n++) {
		size_t least = n;
		uint64_t least_lot = UINT64_MAX;

		for (size_t i = n; i < count; i++) {
			uint64_t row = tl_job_of(&trial->jobs, chaos->hit[i])->row;
			uint64_t lot = tl_faults_lot(chaos->faults, index, row);

			if (lot < least_lot ||
			    (lot == least_lot &&
			     row < tl_job_of(&trial->jobs, chaos->hit[least])->row)) {
				least = i;
				least_lot = lot;
			}
		}
		tl_job_id id = chaos->hit[least];

		chaos->hit[least] = chaos->hit[n];
		strike_job(trial, number, id, TL_REASON_KILLED);
	}
	close_strike(trial, number);
}

void tl_chaos_apply(struct tl_trial *trial, const struct tl_event *event)
{
	struct tl_faults *faults = trial->chaos->faults;

	if (event->kind == TL_EVENT_NODE_FAIL) {
		uint32_t node = (uint32_t)event->subject;

		take_down(trial, node, "node-failure",
		          tl_faults_failed(faults, &trial->engine, node));
		return;
	}
	if (event->kind == TL_EVENT_NODE_REPAIR) {
		bring_back(trial, (uint32_t)event->subject);
		return;
	}
	const struct tl_fault_setting *fault = &trial->scenario->faults[event->subject];

	if (fault->what == TL_FAULT_KILL_JOBS) {
		kill_jobs(trial, (size_t)event->subject, fault->count);
		return;
	}
	uint32_t count = 0;
	const uint32_t *nodes = tl_faults_nodes(faults, (size_t)event->subject, &count);
	int64_t repaired_ns = tl_time_add(tl_trial_now(trial), fault->for_ns);

	for (uint32_t i = 0; i < count; i++) {
		take_down(trial, nodes[i], "node-down", repaired_ns);
		if (repaired_ns != TL_NEVER)
			tl_engine_at(&trial->engine, repaired_ns, TL_PHASE_FAILURE,
			             TL_EVENT_NODE_REPAIR, nodes[i]);
	}
}
