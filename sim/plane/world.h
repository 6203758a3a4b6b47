/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One trial's world, for the files of this folder alone:
 *   trial.c      sets it up, runs it, closes the books
 *   sources.c    what arrives: traces into jobs;  infeasible.c  what of it can never fit
 *   lifecycle.c  what happens to a job: start, ready, completion;  suspension.c  saves,
 *                migration, strikes;  running.c  progress, speed;  cotenants.c  who shares
 *                a GPU (life.h)
 *   chaos.c      node failures, repairs, scripted faults;  incident.c  what comes of each
 *   changes.c    what the next schedule() is told
 *   seats.c      instances of policy modules
 *   host.c       the contract's reads;  decide.c  its decisions, validated
 *   queues.c     who waits in which queue;  reserve.c  what is kept for whom
 *   services.c   online services: replicas, requests, windows;  forecasts.c  of them
 *   watch.c      stall and livelock
 */
#ifndef TIDELAB_PLANE_WORLD_H
#define TIDELAB_PLANE_WORLD_H

#include "policies/abi/tidelab_policy.h"
#include "sim/account/account.h"
#include "sim/account/fragmentation.h"
#include "sim/base/arena.h"
#include "sim/base/intern.h"
#include "sim/base/rng.h"
#include "sim/cluster/cluster.h"
#include "sim/config/scenario.h"
#include "sim/engine/engine.h"
#include "sim/plane/module.h"
#include "sim/plane/pulse.h"
#include "sim/plane/services.h"
#include "sim/plane/trial.h"
#include "sim/work/job.h"
#include "sim/work/shapes.h"
#include "sim/work/storage.h"
#include "sim/work/warm.h"
#include "traces/trace.h"

enum tl_event_kind {
	TL_EVENT_ARRIVAL,  /* subject: source */
	TL_EVENT_READY,    /* job: start-up or resume is done */
	TL_EVENT_COMPLETE, /* job: its work is done, or its estimate is up */
	TL_EVENT_SAVED,    /* job: its save is done, or its grace is up */
	TL_EVENT_WAKE,     /* instance */
	TL_EVENT_SAMPLE,
	TL_EVENT_WINDOW, /* of the services */
	TL_EVENT_SHOW,   /* of what the monitor saw of them */
	TL_EVENT_ROUND,  /* another round of scheduling at this instant */
	TL_EVENT_FAULT,  /* entry of faults: */
	TL_EVENT_NODE_FAIL,
	TL_EVENT_NODE_REPAIR,
	TL_EVENT_NODE_SEEN /* node: its change is seen; upper half: number of the incident, 0: back */
};

/* ---- changes ---- */

enum tl_change_list {
	TL_LIST_QUEUED,
	TL_LIST_ENDED,
	TL_LIST_RUNNING,
	TL_LIST_SUSPENDING,
	TL_LIST_SUSPENDED,
	TL_LIST_COUNT
};

struct tl_node_list {
	uint32_t *nodes;
	size_t count, capacity;
	uint64_t *stamps; /* by node: set number in which it was listed last */
};

struct tl_change_set {
	struct tl_id_list lists[TL_LIST_COUNT];
	struct tl_node_list freed, taken;
	uint32_t *windows; /* services */
	size_t window_count, window_capacity;
	uint32_t why;
};

void tl_changes_init(struct tl_trial *trial);
void tl_changes_fini(struct tl_trial *trial);
void tl_changes_job(struct tl_trial *trial, enum tl_change_list list, tl_job_id id);
void tl_changes_nodes(struct tl_trial *trial, const struct tl_alloc *where, bool freed);
/* A service's window has closed. */
void tl_changes_window(struct tl_trial *trial, uint32_t service);
void tl_changes_why(struct tl_trial *trial, enum tl_why why);
/* Closes the set being filled and opens the other; out points into the closed one. */
const struct tl_change_set *tl_changes_turn(struct tl_trial *trial, struct tl_changes *out);

/* ---- seats ---- */

struct tl_instance {
	struct tl_trial *trial;
	struct tl_host host; /* its own: host.ctx is this instance */
	struct tl_loaded_module loaded;
	struct tl_option_value *values;
	void *self;
	uint32_t number;
	enum tl_seat_kind seat;
	bool created, failed;
	struct tl_rng rng;
	tl_event_handle wake;
	int64_t wake_ns;
};

/* The callback under way, as the pulse shows it; instance NULL: ours. */
struct tl_calling {
	const struct tl_instance *instance;
	const char *callback;
};

/* Loads every module that the scenario names and parses its options; creates none. */
enum tl_status tl_seats_load(struct tl_trial *trial, struct tl_error *error);
void tl_seats_unload(struct tl_trial *trial);
/* Creates the instance on first call; module NULL where the seat is empty. A create()
 * that fails is kept in trial->failure. */
struct tl_seat tl_seats_open(struct tl_trial *trial, enum tl_seat_kind seat);
/* Says in the pulse which callback is under way; NULL: ours again. */
void tl_seats_enter(struct tl_trial *trial, const struct tl_instance *instance,
                    const char *callback);
void tl_seats_observe_submitted(struct tl_trial *trial, tl_job_id id);
void tl_seats_observe_state(struct tl_trial *trial, tl_job_id id, enum tl_job_state from);
void tl_seats_observe_window(struct tl_trial *trial, uint32_t service);
void tl_seats_observe_node(struct tl_trial *trial, uint32_t node);
/* Fills the host's function table (host.c) for an instance. */
void tl_host_fill(struct tl_instance *instance);
/* The decisions' part of it (decide.c). */
void tl_host_fill_decisions(struct tl_host *host);

/* ---- sources ---- */

struct tl_source {
	const struct tl_workload *workload;
	struct tl_trace *trace;
	struct tl_trace_record next;
	bool ended;
	uint64_t first_row;         /* rows of the sources before it */
	uint32_t *tenants, *queues; /* the trace's numbers to ours */
	uint64_t *models;           /* the trace's numbers to masks */
	uint32_t pool;              /* in trial->pools; TL_NO_INDEX: it names none */
};

/* Opens and scans every trace, interns its requests. */
enum tl_status tl_sources_open(struct tl_trial *trial, struct tl_error *error);
void tl_sources_close(struct tl_trial *trial);
/* Inserts the first arrival of each source. */
enum tl_status tl_sources_arm(struct tl_trial *trial, struct tl_error *error);
/* An ARRIVAL event: submits every row of the source that is due now. */
void tl_sources_arrive(struct tl_trial *trial, uint32_t source);
/* At the horizon: rows that were still to come are told to the account. */
enum tl_status tl_sources_report_rest(struct tl_trial *trial, struct tl_error *error);
/* A distinct request of the source as the cluster sees it, and whether too large a one is cut
 * down to what fits. */
struct tl_request tl_source_request(const struct tl_source *source,
                                    const struct tl_trace_request *request);
bool tl_source_clamps(const struct tl_source *source);
/* infeasible.c: requests that can never fit, a line each (report may be NULL); returns the number of jobs. */
uint64_t tl_sources_report_infeasible(struct tl_trial *trial, FILE *report);
/* The one resource that keeps such a request from fitting ("no GPU has the memory asked for");
 * NULL: not one alone, or the GPUs themselves. */
const char *tl_infeasible_why(const struct tl_trial *trial, const struct tl_request *request);

/* ---- what happens to a job ---- */

/* Takes the placement and begins the start or resume. Everything has been checked. */
void tl_life_start(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where);
void tl_life_ready(struct tl_trial *trial, tl_job_id id);
void tl_life_complete(struct tl_trial *trial, tl_job_id id);
void tl_life_saved(struct tl_trial *trial, tl_job_id id);
/* Stops a job that holds GPUs, by decision. */
void tl_life_suspend(struct tl_trial *trial, tl_job_id id, enum tl_suspend_mode mode,
                     enum tl_reason reason);
void tl_life_migrate(struct tl_trial *trial, tl_job_id id, const struct tl_placement *where);
/* A node that it sits on has failed, unseen: it looks as it did, and does nothing any more. */
void tl_life_deaden(struct tl_trial *trial, tl_job_id id);
/* Its node went down, or it was struck: back to the last checkpoint, or failed for good. */
void tl_life_strike(struct tl_trial *trial, tl_job_id id, enum tl_reason reason);
/* A suspended job loses its host memory. */
void tl_life_cool(struct tl_trial *trial, tl_job_id id);
/* A replica is no longer wanted: it ends as Succeeded, wherever it stands. */
void tl_life_end_replica(struct tl_trial *trial, tl_job_id id);
/* Adds what running and starting work has come to and is not booked yet. O(jobs that hold). */
void tl_life_open_purposes(struct tl_trial *trial, tl_open_purposes open);
/* Books a running replica up to now; busy_ppb: what of its time it served, for the levels. */
void tl_life_book_replica(struct tl_trial *trial, tl_job_id id, int64_t busy_ppb);
/* What a running replica was seen to use of each of its GPUs, in thousandths. */
void tl_cotenants_measured(struct tl_trial *trial, tl_job_id id, int32_t measured_milli);
/* What a job that runs uses of each of its GPUs, as policies see it from now on. */
void tl_cotenants_seen(struct tl_trial *trial, tl_job_id id, int32_t utilisation_milli);
/* Ends a job that waits. */
void tl_life_reject(struct tl_trial *trial, tl_job_id id, enum tl_reason reason);
/* Tells the account of a job that is done with, or of one the horizon cut off. */
void tl_life_report(struct tl_trial *trial, tl_job_id id);
/* Books running jobs' progress up to now (at the end of the run). */
void tl_life_settle_all(struct tl_trial *trial);

/* ---- chaos ---- */

enum tl_status tl_chaos_arm(struct tl_trial *trial, struct tl_error *error);
void tl_chaos_fini(struct tl_trial *trial);
void tl_chaos_apply(struct tl_trial *trial, const struct tl_event *event);
/* Tells of the scenario's faults that come after the end of the run, and so never strike. */
void tl_chaos_report_late(const struct tl_trial *trial, int64_t end_ns, FILE *report);
/* Whether a node of it has failed and policies do not see it yet (observe.delay). */
bool tl_chaos_dead(const struct tl_trial *trial, const struct tl_alloc *where);

/* ---- incidents ---- */

struct tl_incidents {
	struct tl_incident *items; /* numbers from 1 are kept in jobs: never moved down */
	size_t count, capacity;
	uint32_t *watching; /* numbers of those that wait for services' windows */
	size_t watching_count, watching_capacity;
};

/* A fault strikes: its number, to be settled once all that it hits has been struck. */
uint32_t tl_incident_begin(struct tl_trial *trial, const char *kind, uint32_t node,
                           int64_t repaired_ns);
/* A job of it stands still from now on, unseen. */
void tl_incident_deaden(struct tl_trial *trial, uint32_t number, tl_job_id id);
/* It throws a job off its GPUs. */
void tl_incident_strike(struct tl_trial *trial, uint32_t number, tl_job_id id,
                        enum tl_reason reason);
/* All that it hits has been struck: it may be over before it began, and is not before this. */
void tl_incident_settle(struct tl_trial *trial, uint32_t number);
/* Requests of a service surge until then; TL_NEVER. */
void tl_incident_surge(struct tl_trial *trial, uint32_t service, int64_t until_ns);
/* A job that was struck runs again, or has ended. */
void tl_incident_recovered(struct tl_trial *trial, struct tl_job *job);
/* A service's window closed, so long; once all of this instant have: what is over? */
void tl_incident_window(struct tl_trial *trial, uint32_t service,
                        const struct tl_row_window *window, int64_t span_ns);
void tl_incidents_review(struct tl_trial *trial);
/* Writes those that have not been got over. */
void tl_incidents_finish(struct tl_trial *trial);
void tl_incidents_fini(struct tl_trial *trial);

/* ---- watch ---- */

/* After a schedule(): false where the run must end; trial->failure says why. */
bool tl_watch_scheduled(struct tl_trial *trial);
/* A suspension of a job: counts those without progress in a row, which end the run, and
 * preemptions after less than it costs to stop and start it, which the summary tells. */
void tl_watch_suspended(struct tl_trial *trial, tl_job_id id);
/* At the end: work waits and nothing will ever happen. */
void tl_watch_ended(struct tl_trial *trial, enum tl_engine_end end);

/* ---- queues ---- */

struct tl_queue_list {
	tl_job_id first, last; /* 0: none waits */
	uint32_t count;
};

/* A job begins to wait, or no longer does. */
void tl_queues_join(struct tl_trial *trial, tl_job_id id);
void tl_queues_leave(struct tl_trial *trial, tl_job_id id);
/* The queue's view, brought up to date. */
const struct tl_queue_view *tl_queues_view(struct tl_trial *trial, uint32_t queue);

/* ---- reservations ---- */

struct tl_reservations {
	struct tl_reservation *items; /* [count]; a job keeps its place + 1 */
	size_t count, capacity;
	uint32_t *holders, *places; /* by GPU: jobs it is kept for; its place in gpus */
	uint32_t *gpus;             /* those kept for anybody */
	size_t gpu_count;
};

void tl_reserve_init(struct tl_trial *trial);
void tl_reserve_fini(struct tl_trial *trial);
/* Replaces the job's reservation; count 0: none. O(count). */
void tl_reserve_set(struct tl_trial *trial, tl_job_id id, const uint32_t *gpus, uint32_t count);
void tl_reserve_drop(struct tl_trial *trial, tl_job_id id);
/* What is free now of all GPUs that are kept. O(those). */
int64_t tl_reserve_free_mgpu(const struct tl_trial *trial);

/* ---- the trial ---- */

struct tl_trial {
	const struct tl_scenario *scenario;
	const struct tl_trial_options *options;
	struct tl_pulse *pulse;
	struct tl_engine engine;
	struct tl_cluster cluster;
	struct tl_arena arena;
	struct tl_job_table jobs;
	struct tl_shapes shapes;
	struct tl_storage storage;
	struct tl_warm warm;
	struct tl_results *results;
	struct tl_account *account;
	struct tl_intern tenants, queues, pools; /* pools: `A|B` as entries name them */
	struct tl_tenant_view *tenant_views;
	struct tl_queue_view *queue_views;
	struct tl_queue_list *queue_lists;
	struct tl_model_view *model_views;
	struct tl_source *sources;
	size_t source_count;
	uint64_t row_count;
	struct tl_instance seats[TL_SEAT_COUNT];
	struct tl_instance *observers[TL_SEAT_COUNT];
	uint32_t observer_count;
	struct tl_change_set change_sets[2];
	uint32_t filling;
	uint64_t set_number;
	struct tl_id_list static_waiting; /* to be dropped unless started at once */
	struct tl_chaos *chaos;
	struct tl_incidents incidents;
	struct tl_services *services;
	struct tl_run_counts counts;
	struct tl_reservations reservations;
	int64_t productive_mgpu; /* a level */
	int64_t static_requested_mgpu;
	struct tl_frag_book *fragmentation;
	int64_t fragmentation_mgpu; /* at the last sample; -1: none taken */
	int64_t idle_since_ns;      /* nothing holds GPUs though work waits; -1 */
	uint64_t starts;
	bool in_schedule;
	struct tl_calling calling;
	bool never_starts;
	tl_job_id explained;      /* 0 */
	char explained_text[512]; /* the last line told, without its numbers */
	int64_t explained_at_ns;  /* when that was */
	uint64_t explained_count; /* jobs submitted that the asked name fits */
	struct tl_error failure;  /* code TL_OK: none */
};

static inline int64_t tl_trial_now(const struct tl_trial *trial)
{
	return trial->engine.now_ns;
}

/* Ends the run with a reason; the first one stays. */
void tl_trial_fail(struct tl_trial *trial, enum tl_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The tenant's view by number, grown where a source brings new ones. */
struct tl_tenant_view *tl_trial_tenant(struct tl_trial *trial, uint32_t tenant);

/* The number of `A|B` among the pools that the work names; TL_NO_INDEX where it is empty. */
uint32_t tl_trial_pool(struct tl_trial *trial, const char *names);

/* Tells the books and the pulse what the cluster and the jobs stand at now. */
void tl_trial_levels(struct tl_trial *trial);

/* ---- trial_result.c ---- */

/* The result file, where one is asked for, and the books that fill it. */
enum tl_status tl_trial_open_result(struct tl_trial *trial, struct tl_error *error);
/* Settles what stands at the horizon, and gives the file its end. */
enum tl_status tl_trial_close_result(struct tl_trial *trial, struct tl_error *error);

/* ---- explain.c ---- */

/* A line about the job that is being explained. */
void tl_trial_explain(struct tl_trial *trial, tl_job_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A row has been submitted as that job (0: it can never fit): its story begins if it is asked
 * for. */
void tl_explain_submitted(struct tl_trial *trial, const struct tl_trace_record *record,
                          uint64_t row, tl_job_id id);
/* The run is over. */
void tl_explain_finish(struct tl_trial *trial);

#endif
