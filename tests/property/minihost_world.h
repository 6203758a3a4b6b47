/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small host's world, for its own files. */
#ifndef TIDELAB_TESTS_MINIHOST_WORLD_H
#define TIDELAB_TESTS_MINIHOST_WORLD_H

#include "sim/base/arena.h"
#include "sim/plane/module.h"
#include "sim/work/shapes.h"
#include "tests/property/minihost.h"

enum mini_list {
	LIST_QUEUED,
	LIST_ENDED,
	LIST_RUNNING,
	LIST_SUSPENDING,
	LIST_SUSPENDED,
	LIST_COUNT
};

struct mini_held {
	struct tl_alloc alloc;
	struct tl_alloc target; /* of a move, until its save is done */
	int64_t event_ns;       /* ready, done or saved; TL_TIME_NEVER */
	int64_t done_ns;        /* of its work */
	int64_t safe_ns;        /* of it, that a kill leaves */
};

struct mini_set {
	tl_job_id *lists[LIST_COUNT];
	uint32_t counts[LIST_COUNT];
	uint32_t *freed, *taken;
	uint32_t freed_count, taken_count, why;
};

struct mini;

struct mini_seat {
	struct mini *mini;
	struct tl_host host;
	struct tl_loaded_module loaded;
	struct tl_option_value *values;
	void *self;
	bool created;
	int64_t wake_ns;
};

struct mini {
	const struct mini_world *world;
	struct mini_run *run;
	struct tl_cluster cluster;
	struct tl_shapes shapes;
	struct tl_arena arena;
	struct tl_job_view *views;
	struct mini_held *held;
	tl_job_id *waiting, *holding;
	uint32_t waiting_count, holding_count;
	struct mini_set sets[2];
	uint32_t filling;
	struct mini_seat seats[TL_SEAT_COUNT];
	struct tl_tenant_view tenants[MINI_TENANTS_MAX];
	struct tl_queue_view queues[MINI_TENANTS_MAX];
	int64_t now_ns;
	uint32_t next; /* job to come */
	bool scheduling;
};

static inline struct mini *mini_of(const struct tl_host *host)
{
	return ((struct mini_seat *)host->ctx)->mini;
}

static inline tl_job_id id_of(uint32_t slot)
{
	return UINT64_C(1) << 32 | slot;
}

static inline bool holds(uint8_t state)
{
	return state == TL_JOB_SCHEDULED || state == TL_JOB_RUNNING || state == TL_JOB_SUSPENDING ||
	       state == TL_JOB_RESUMING;
}

static inline bool waits(uint8_t state)
{
	return state == TL_JOB_PENDING || state == TL_JOB_SUSPENDED;
}

/* Puts a job on a list of what the scheduler is told next. */
void mini_note(struct mini *m, enum mini_list list, tl_job_id id);
/* Changes a job's state, and tells the observers. */
void mini_become(struct mini *m, tl_job_id id, enum tl_job_state to);
/* Takes a job's GPUs back; books what a running one has run. */
void mini_release(struct mini *m, tl_job_id id);
void mini_stop_running(struct mini *m, tl_job_id id);
/* A job starts or comes back now: when it is to be ready, and expected to end. */
void mini_time_start(struct mini *m, tl_job_id id);
/* Fills the contract's table. */
void mini_fill_host(struct tl_host *host, void *ctx);

#endif
