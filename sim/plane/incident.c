/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What comes of a fault: a row of /faults, written once it has been got over.
 *
 * It has been got over when all that it hits has been struck, its cause has gone (a surge's
 * traffic), all work that it threw off runs again or has ended, and the services that it hit
 * have closed a window without breach after that. The recovery is the last of these: of a
 * surge, the end of the last breached window.
 */
#include "sim/plane/world.h"

#include "sim/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

/* A service that the fault hit. */
struct tl_incident_watch {
	uint32_t service;
	bool breached; /* its last closed window */
};

struct tl_incident {
	struct tl_row_fault row;
	int64_t until_ns; /* its cause is gone then */
	int64_t
	    recovered_ns; /* so far: the last job hit ran again, the last breached window ended */
	uint32_t outstanding; /* jobs hit that do not run again yet */
	bool struck;          /* all that it hits: a failure that nobody has seen yet has not */
	bool open;            /* not yet written */
	struct tl_incident_watch *watches;
	size_t watch_count, watch_capacity;
	/* The run's counts when it struck. */
	uint64_t preemptions;
	tl_i128 unsaved_mgpu_ns;
};

static struct tl_incident *incident_of(struct tl_trial *trial, uint32_t number)
{
	TL_ASSERT(number > 0 && number <= trial->incidents.count);
	return &trial->incidents.items[number - 1];
}

static void write_out(struct tl_trial *trial, struct tl_incident *incident, int64_t recovered_ns)
{
	struct tl_row_fault *row = &incident->row;

	TL_ASSERT(incident->open);
	row->recovered_ns = recovered_ns;
	row->preemptions = trial->counts.preemptions - incident->preemptions;
	row->preempted_lost_gpu_s =
	    (double)(trial->counts.unsaved_mgpu_ns - incident->unsaved_mgpu_ns) / 1e12;
	tl_account_fault(trial->account, row);
	free(incident->watches);
	incident->watches = NULL;
	incident->watch_count = incident->watch_capacity = 0;
	incident->open = false;
}

uint32_t tl_incident_begin(struct tl_trial *trial, const char *kind, uint32_t node,
                           int64_t repaired_ns)
{
	struct tl_incidents *incidents = &trial->incidents;
	int64_t now_ns = tl_trial_now(trial);

	incidents->items = tl_grow(incidents->items, &incidents->capacity, incidents->count + 1,
	                           sizeof(*incidents->items));
	struct tl_incident *incident = &incidents->items[incidents->count++];

	*incident = (struct tl_incident){
	    .open = true,
	    .until_ns = now_ns,
	    .recovered_ns = now_ns,
	    .preemptions = trial->counts.preemptions,
	    .unsaved_mgpu_ns = trial->counts.unsaved_mgpu_ns,
	    .row = {.t_ns = now_ns,
	            .node = node,
	            .repaired_ns = repaired_ns == TL_NEVER ? TL_NONE : repaired_ns}};
	snprintf(incident->row.kind, sizeof(incident->row.kind), "%s", kind);
	return (uint32_t)incidents->count;
}

/* From now on the service's windows belong to the incident. */
static void watch(struct tl_trial *trial, uint32_t number, uint32_t service)
{
	struct tl_incidents *incidents = &trial->incidents;
	struct tl_incident *incident = incident_of(trial, number);

	for (size_t i = 0; i < incident->watch_count; i++)
		if (incident->watches[i].service == service)
			return;
	if (incident->watch_count == 0) {
		incidents->watching =
		    tl_grow(incidents->watching, &incidents->watching_capacity,
		            incidents->watching_count + 1, sizeof(*incidents->watching));
		incidents->watching[incidents->watching_count++] = number;
	}
	incident->watches = tl_grow(incident->watches, &incident->watch_capacity,
	                            incident->watch_count + 1, sizeof(*incident->watches));
	incident->watches[incident->watch_count++] = (struct tl_incident_watch){.service = service};
}

void tl_incident_surge(struct tl_trial *trial, uint32_t service, int64_t until_ns)
{
	uint32_t number = tl_incident_begin(trial, "traffic", TL_NO_INDEX, until_ns);
	struct tl_incident *incident = incident_of(trial, number);

	incident->until_ns = until_ns;
	incident->struck = true;
	snprintf(incident->row.service, sizeof(incident->row.service), "%s",
	         trial->scenario->services[service].name);
	watch(trial, number, service);
}

/* What a job loses in doing so belongs to the incident. */
static void lose(struct tl_trial *trial, uint32_t number, tl_job_id id, int64_t before_ns)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);

	incident_of(trial, number)->row.lost_work_gpu_s +=
	    (double)(job->lost_work_ns - before_ns) * (double)job->shape->total_mgpu / 1e12;
}

void tl_incident_deaden(struct tl_trial *trial, uint32_t number, tl_job_id id)
{
	int64_t before_ns = tl_job_of(&trial->jobs, id)->lost_work_ns;

	if ((tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_REPLICA) != 0)
		watch(trial, number, tl_job_view_of(&trial->jobs, id)->service);
	tl_life_deaden(trial, id);
	lose(trial, number, id, before_ns);
}

void tl_incident_strike(struct tl_trial *trial, uint32_t number, tl_job_id id,
                        enum tl_reason reason)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_incident *incident = incident_of(trial, number);
	int64_t lost_before_ns = job->lost_work_ns;

	/* One that was hit before and has not run since now waits for this fault's end. */
	tl_incident_recovered(trial, job);
	job->struck_by = number;
	incident->outstanding++;
	incident->row.jobs_hit++;
	incident->row.gpus_hit_mgpu += job->shape->total_mgpu;
	if ((tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_REPLICA) != 0)
		watch(trial, number, tl_job_view_of(&trial->jobs, id)->service);
	tl_life_strike(trial, id, reason);
	lose(trial, number, id, lost_before_ns);
}

/* Whether it is over as far as can be told now; services' windows tell more. */
static bool over(const struct tl_incident *incident)
{
	if (!incident->struck || incident->outstanding > 0)
		return false;
	for (size_t w = 0; w < incident->watch_count; w++)
		if (incident->watches[w].breached)
			return false;
	return true;
}

/* One that hit a service waits for the service's next window: tl_incidents_review. */
static void close_unwatched(struct tl_trial *trial, struct tl_incident *incident)
{
	if (incident->open && incident->watch_count == 0 && over(incident))
		write_out(trial, incident, incident->recovered_ns);
}

void tl_incident_settle(struct tl_trial *trial, uint32_t number)
{
	struct tl_incident *incident = incident_of(trial, number);

	incident->struck = true;
	close_unwatched(trial, incident);
}

void tl_incident_recovered(struct tl_trial *trial, struct tl_job *job)
{
	uint32_t number = job->struck_by;

	if (number == 0)
		return;
	struct tl_incident *incident = incident_of(trial, number);

	job->struck_by = 0;
	TL_ASSERT(incident->outstanding > 0);
	incident->outstanding--;
	incident->recovered_ns = tl_trial_now(trial);
	close_unwatched(trial, incident);
}

void tl_incident_window(struct tl_trial *trial, uint32_t service,
                        const struct tl_row_window *window, int64_t span_ns)
{
	for (size_t i = 0; i < trial->incidents.watching_count; i++) {
		struct tl_incident *incident = incident_of(trial, trial->incidents.watching[i]);

		for (size_t w = 0; w < incident->watch_count; w++) {
			if (incident->watches[w].service != service)
				continue;
			incident->watches[w].breached = window->overload != 0;
			incident->row.dropped += window->dropped;
			incident->row.late += window->served - window->attained;
			if (window->overload == 0)
				continue;
			incident->row.overload_ns += span_ns;
			incident->recovered_ns = tl_trial_now(trial);
		}
	}
}

void tl_incidents_review(struct tl_trial *trial)
{
	struct tl_incidents *incidents = &trial->incidents;
	size_t kept = 0;

	for (size_t i = 0; i < incidents->watching_count; i++) {
		uint32_t number = incidents->watching[i];
		struct tl_incident *incident = incident_of(trial, number);

		if (over(incident) && tl_trial_now(trial) >= incident->until_ns)
			write_out(trial, incident, incident->recovered_ns);
		else
			incidents->watching[kept++] = number;
	}
	incidents->watching_count = kept;
}

void tl_incidents_finish(struct tl_trial *trial)
{
	for (size_t i = 0; i < trial->incidents.count; i++) {
		struct tl_incident *incident = &trial->incidents.items[i];

		if (incident->open)
			write_out(trial, incident,
			          over(incident) ? incident->recovered_ns : TL_NONE);
	}
}

void tl_incidents_fini(struct tl_trial *trial)
{
	for (size_t i = 0; i < trial->incidents.count; i++)
		free(trial->incidents.items[i].watches);
	free(trial->incidents.items);
	free(trial->incidents.watching);
}
