/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jobs: the table of live ones and the eight-state machine.
 *
 * A job sits in a slot; its id is the slot and the slot's generation. What a policy may
 * know is kept in the contract's own view struct, in an array parallel to the table, so a
 * policy reads it without a copy. Slots, allocations and lists are reused: memory follows
 * the number of live jobs.
 */
#ifndef TIDELAB_WORK_JOB_H
#define TIDELAB_WORK_JOB_H

#include "policies/abi/tidelab_policy.h"
#include "results/schema.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"
#include "sim/engine/eventq.h"
#include "sim/work/progress.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The one table of legal transitions. */
bool tl_job_transition_legal(enum tl_job_state from, enum tl_job_state to);

struct tl_job {
	char id[TL_TRACE_ID_MAX];
	uint64_t row; /* in input order over all workload entries */
	const struct tl_shape *shape;
	uint32_t account;        /* in the ledger */
	uint32_t source;         /* workload entry */
	enum tl_outcome outcome; /* how it ends if it runs to its end */
	enum tl_reason reason;   /* why it is where it is; the last one */
	struct tl_progress progress;
	int64_t state_since_ns;
	int64_t in_state_ns[TL_JOB_STATE_COUNT];
	int64_t state_bytes; /* of a checkpoint */
	int64_t lost_work_ns;
	int64_t
	    progress_mark_ns;   /* committed work at the last suspension, for the livelock watch */
	uint32_t fruitless;     /* suspensions in a row without committed progress */
	int32_t demand_milli;   /* GPU utilisation when alone, per GPU held; a replica's share */
	int32_t measured_milli; /* what it is seen to use: of a replica, in its last window */
	int32_t slow_milli;     /* communication: 1000 or more */
	int64_t interference_ppb;                 /* of co-tenants; TL_PPB alone */
	tl_i128 held_mgpu_ns, productive_mgpu_ns; /* nominal, whoever shares its GPUs */
	int64_t booked_mgpu;         /* of the GPU time it holds, what goes to its books */
	int64_t booked_at_ns;        /* not Running: they are closed up to here */
	tl_i128 provisional_mgpu_ns; /* booked as productive and not yet safe */
	tl_event_handle event;       /* ready, completion, or end of the save */
	struct tl_alloc alloc;       /* valid while it holds GPUs */
	struct tl_alloc target;      /* migrating: taken already */
	uint32_t list_index;         /* in waiting or holding */
	uint32_t save;               /* in the storage's table while saving; TL_NO_INDEX */
	bool migrating;
	bool draining;                     /* a replica that takes no more requests */
	bool dead;                         /* a node of it has failed and is not seen to have */
	bool starts_at_once;               /* a replica that stands at t = 0 */
	bool save_in_time;                 /* while Suspending: the save ends within the grace */
	uint32_t reservation;              /* place of its reservation + 1; 0: none */
	tl_job_id wait_before, wait_after; /* neighbours in its queue while it waits; 0: none */
	uint32_t struck_by;                /* the fault it has not yet recovered from; 0: none */
	uint32_t listed;                   /* bit per change list of the set being filled */
	uint32_t last_node;                /* of its first worker at the last start; TL_NO_INDEX */
	struct tl_alloc warm;              /* Suspended and warm: where its memory is */
	int64_t rate_mgpu;                 /* Running: share × speed, for the levels */
	int64_t alloc_since_ns, target_since_ns;
};

struct tl_id_list {
	tl_job_id *ids;
	size_t count, capacity;
};
void tl_id_list_push(struct tl_id_list *list, tl_job_id id);

struct tl_job_table {
	struct tl_job *jobs;       /* by slot */
	struct tl_job_view *views; /* by slot; id 0: free */
	uint32_t *generations;
	size_t slot_count, jobs_capacity, views_capacity, generations_capacity;
	uint32_t *free_slots;
	size_t free_count, free_capacity;
	struct tl_id_list waiting; /* Pending and Suspended */
	struct tl_id_list holding; /* Scheduled, Running, Suspending, Resuming */
	uint32_t in_state[TL_JOB_STATE_COUNT];
	int64_t waiting_mgpu; /* Σ requests of waiting jobs */
	uint64_t sequence;
	struct tl_free_allocs *alloc_pools; /* a size class each */
};

void tl_job_table_init(struct tl_job_table *table);
void tl_job_table_fini(struct tl_job_table *table);

/* A new Pending job: id, sequence and shape are set, everything else is zero or none. */
tl_job_id tl_job_table_add(struct tl_job_table *table, const struct tl_shape *shape,
                           int64_t now_ns);
/* Gives the slot back; the id is stale from now on. */
void tl_job_table_remove(struct tl_job_table *table, tl_job_id id);
/* NULL where the id is stale. */
struct tl_job *tl_job_table_get(struct tl_job_table *table, tl_job_id id);

static inline struct tl_job *tl_job_of(struct tl_job_table *table, tl_job_id id)
{
	return &table->jobs[TL_JOB_SLOT(id)];
}

static inline struct tl_job_view *tl_job_view_of(struct tl_job_table *table, tl_job_id id)
{
	return &table->views[TL_JOB_SLOT(id)];
}

/* Moves the job to another state (asserted legal): books the time in the old one, keeps
 * the lists, counts and the view's state. */
void tl_job_set_state(struct tl_job_table *table, tl_job_id id, enum tl_job_state to,
                      int64_t now_ns);

/* Arrays for a placement of the shape, from a pool; give them back with put. */
struct tl_alloc tl_job_table_take_alloc(struct tl_job_table *table, const struct tl_shape *shape,
                                        const struct tl_placement *where);
void tl_job_table_put_alloc(struct tl_job_table *table, struct tl_alloc *alloc);

#endif
