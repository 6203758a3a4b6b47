/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Node failures, repairs and scripted faults, applied. */
#include "sim/plane/world.h"

#include "sim/base/units.h"
#include "sim/faults/faults.h"

#include <stdio.h>
#include <stdlib.h>

struct tl_chaos {
	struct tl_faults *faults;
	bool *dead; /* by node: has failed, seen or not; NULL where policies see it at once */
	tl_job_id *hit;
	size_t hit_capacity;
};

enum tl_status tl_chaos_arm(struct tl_trial *trial, struct tl_error *error)
{
	const struct tl_fault_kinds kinds = {
	    .scripted = TL_EVENT_FAULT, .fail = TL_EVENT_NODE_FAIL, .repair = TL_EVENT_NODE_REPAIR};

	trial->chaos = tl_calloc(1, sizeof(*trial->chaos));
	if (trial->scenario->observe_delay_ns > 0)
		trial->chaos->dead = tl_calloc(trial->cluster.view.node_count, sizeof(bool));
	enum tl_status status = tl_faults_create(trial->scenario, &trial->cluster, &kinds,
	                                         &trial->chaos->faults, error);

	if (status == TL_OK)
		tl_faults_arm(trial->chaos->faults, &trial->engine);
	return status;
}

void tl_chaos_fini(struct tl_trial *trial)
{
	if (trial->chaos == NULL)
		return;
	if (trial->chaos->faults != NULL)
		tl_faults_destroy(trial->chaos->faults);
	free(trial->chaos->dead);
	free(trial->chaos->hit);
	free(trial->chaos);
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

/* A node is seen to have failed: what sits on it is thrown off. */
static void see_down(struct tl_trial *trial, uint32_t node, uint32_t number)
{
	size_t count = collect(trial, node);

	for (size_t i = 0; i < count; i++)
		tl_incident_strike(trial, number, trial->chaos->hit[i], TL_REASON_NODE_FAILURE);
	/* Host memory of suspended jobs is gone too. */
	for (tl_job_id cold; (cold = tl_warm_overflow(&trial->warm, node, -1)) != 0;)
		tl_life_cool(trial, cold);
	tl_cluster_set_node_state(&trial->cluster, node, TL_NODE_DOWN);
	node_changed(trial, node);
	tl_incident_settle(trial, number);
}

static void see_back(struct tl_trial *trial, uint32_t node)
{
	struct tl_alloc where = {.nodes = &node, .worker_count = 1};

	tl_cluster_set_node_state(&trial->cluster, node, TL_NODE_UP);
	tl_changes_nodes(trial, &where, true);
	node_changed(trial, node);
}

/* Policies see a node's change after a while. number: of the incident; 0: it is back. */
static void see_later(struct tl_trial *trial, uint32_t node, uint32_t number)
{
	tl_engine_at(&trial->engine,
	             tl_time_add(tl_trial_now(trial), trial->scenario->observe_delay_ns),
	             TL_PHASE_FAILURE, TL_EVENT_NODE_SEEN, (uint64_t)number << 32 | node);
}

static void take_down(struct tl_trial *trial, uint32_t node, const char *kind, int64_t repaired_ns)
{
	struct tl_chaos *chaos = trial->chaos;
	uint32_t number = tl_incident_begin(trial, kind, node, repaired_ns);

	if (!tl_faults_begin(chaos->faults, node)) {
		tl_incident_settle(trial, number);
		return;
	}
	trial->counts.node_failures++;
	if (chaos->dead == NULL) {
		see_down(trial, node, number);
		return;
	}
	size_t count = collect(trial, node);

	chaos->dead[node] = true;
	for (size_t i = 0; i < count; i++)
		if (sits_on(&tl_job_of(&trial->jobs, chaos->hit[i])->alloc, node))
			tl_incident_deaden(trial, number, chaos->hit[i]);
	see_later(trial, node, number);
}

static void bring_back(struct tl_trial *trial, uint32_t node)
{
	struct tl_chaos *chaos = trial->chaos;

	if (!tl_faults_end(chaos->faults, node))
		return;
	if (chaos->dead == NULL) {
		see_back(trial, node);
		return;
	}
	chaos->dead[node] = false;
	see_later(trial, node, 0);
}

bool tl_chaos_dead(const struct tl_trial *trial, const struct tl_alloc *where)
{
	const bool *dead = trial->chaos->dead;

	for (uint32_t w = 0; dead != NULL && w < where->worker_count; w++)
		if (dead[where->nodes[w]])
			return true;
	return false;
}

/* The running jobs with the least lots. */
static void kill_jobs(struct tl_trial *trial, size_t index, uint32_t wanted)
{
	struct tl_chaos *chaos = trial->chaos;
	uint32_t number = tl_incident_begin(trial, "kill-jobs", TL_NO_INDEX, TL_NONE);
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
		tl_incident_strike(trial, number, id, TL_REASON_KILLED);
	}
	tl_incident_settle(trial, number);
}

void tl_chaos_report_late(const struct tl_trial *trial, int64_t end_ns, FILE *report)
{
	const struct tl_scenario *scenario = trial->scenario;
	char at[48], end[48], line[32] = "";

	for (size_t i = 0; i < scenario->fault_count; i++) {
		const struct tl_fault_setting *fault = &scenario->faults[i];

		if (fault->at_ns <= end_ns)
			continue;
		if (fault->line > 0)
			(void)snprintf(line, sizeof(line), ":%ld", fault->line);
		(void)fprintf(report,
		              "%s%s: faults[%zu]: it never strikes: at %s is after the end of the "
		              "run (%s)\n",
		              scenario->path, line, i,
		              tl_format_duration(fault->at_ns, at, sizeof(at)),
		              tl_format_duration(end_ns, end, sizeof(end)));
	}
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
	if (event->kind == TL_EVENT_NODE_SEEN) {
		uint32_t node = (uint32_t)(event->subject & UINT32_MAX);
		uint32_t number = (uint32_t)(event->subject >> 32);

		if (number != 0)
			see_down(trial, node, number);
		else
			see_back(trial, node);
		return;
	}
	const struct tl_fault_setting *fault = &trial->scenario->faults[event->subject];

	if (fault->what == TL_FAULT_KILL_JOBS) {
		kill_jobs(trial, (size_t)event->subject, fault->count);
		return;
	}
	if (fault->what == TL_FAULT_TRAFFIC) { /* the requests come by themselves */
		tl_incident_surge(
		    trial, fault->service,
		    tl_time_add(tl_time_add(tl_trial_now(trial), fault->for_ns), fault->ramp_ns));
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
