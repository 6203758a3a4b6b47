/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The waiting jobs, ordered without ever being walked.
 *
 * A lane holds the waiting jobs of one kind, one slope (and one tenant, where starts are
 * gated by tenant) in a treap on (key at instant 0, sequence), augmented with the least
 * estimate of each subtree. Lanes of one slope form a group; their order among themselves
 * never changes with time, so a group keeps them in a heap by head; the next job is the
 * least head over the groups, of which there are as many as slopes in use.
 *
 * A kind (shape, and whether guaranteed: all that decides where a job may go) that found no
 * room is blocked: its lanes leave the heap of open lanes until it is reopened. A class (shape and tenant) that the gate holds leaves both heaps until released.
 *
 * Records are by job slot, shared with the running jobs whose keys the preempt seat needs.
 * Everything is O(log n) but where stated. Functions that can grow return -1 where memory
 * is out.
 */
#ifndef TIDELAB_PIPELINE_QUEUE_H
#define TIDELAB_PIPELINE_QUEUE_H

#include "policies/pipeline/heap.h"
#include "policies/pipeline/map.h"

__extension__ typedef __int128 tl_wide;

struct tl_item {
	tl_wide key; /* at instant 0 and with the lane's slope from there */
	int64_t slope_per_ns;
	uint64_t sequence;
	tl_job_id id;           /* 0: not known */
	int64_t remaining_ns;   /* by estimate; TL_TIME_NEVER unknown */
	int64_t least_ns;       /* of the subtree below, itself included */
	int64_t valid_until_ns; /* of the key */
	uint32_t left, right;
	uint32_t rank; /* of the treap: the greater is nearer to the root */
	uint32_t lane; /* TL_NO_INDEX: does not wait */
};

struct tl_lane {
	uint32_t shape, kind, class_of, group;
	uint32_t next_of_kind, next_of_class; /* lanes; TL_NO_INDEX ends */
	uint32_t root, head;                  /* slots; TL_NO_INDEX: empty */
	uint32_t waiting;
};

struct tl_lane_kind {
	uint32_t first_lane; /* + 1; 0: none */
	uint32_t blocked;
	uint64_t tried; /* the owner's stamp of the last look for room */
};

struct tl_lane_class {
	uint32_t first_lane;     /* TL_NO_INDEX: none */
	uint32_t next_of_tenant; /* classes */
	uint32_t held;
};

struct tl_lane_group {
	int64_t slope_per_ns;
	struct tl_heap all, open;
};

struct tl_queue {
	const struct tl_host *host;
	int by_tenant;
	struct tl_item *items; /* by slot */
	struct tl_lane *lanes;
	struct tl_lane_kind *kinds;
	struct tl_lane_class *classes;
	struct tl_lane_group *groups;
	uint32_t *tenants;                  /* by tenant: its first class + 1; 0: none */
	uint32_t *all_places, *open_places; /* by lane */
	uint32_t *expiry_places;            /* by slot */
	uint32_t *blocked;                  /* kinds, in order of blocking */
	struct tl_map lane_map, class_map, group_map;
	struct tl_heap expiries;
	uint32_t item_room, lane_room, kind_room, class_room, group_room, tenant_room;
	uint32_t all_room, open_room, expiry_room, blocked_room;
	uint32_t lane_count, class_count, group_count, blocked_count;
	uint32_t waiting;
};

/* A place in the order: everything at or before it has been seen. */
struct tl_position {
	tl_wide value; /* key now */
	uint64_t sequence;
};

void tl_queue_init(struct tl_queue *queue, const struct tl_host *host, int by_tenant);

/* Room for records up to this slot. */
int tl_queue_reserve(struct tl_queue *queue, uint32_t slot);
/* Puts a waiting job in, or moves it to its new key. */
int tl_queue_put(struct tl_queue *queue, const struct tl_job_view *job, const struct tl_key *key,
                 int64_t now_ns);
/* Remembers the key of a job that holds GPUs; it must not wait. */
int tl_queue_track(struct tl_queue *queue, const struct tl_job_view *job, const struct tl_key *key,
                   int64_t now_ns);
/* Takes a job out, waiting or tracked; nothing where it is not known. */
int tl_queue_forget(struct tl_queue *queue, tl_job_id id);
/* Whether this very job waits in it. */
int tl_queue_waits(const struct tl_queue *queue, tl_job_id id);
int tl_queue_tracks(const struct tl_queue *queue, tl_job_id id);

/* The least lane of all that are not held, or of the open ones; TL_NO_INDEX: none. Ties of
 * key by sequence. O(groups). */
uint32_t tl_queue_first(const struct tl_queue *queue, int64_t now_ns);
uint32_t tl_queue_first_open(const struct tl_queue *queue, int64_t now_ns);
/* The first job of a lane after a position whose estimated time to go is at most so much;
 * TL_NO_INDEX: none. */
uint32_t tl_queue_next(const struct tl_queue *queue, uint32_t lane, const struct tl_position *after,
                       int64_t most_ns, int64_t now_ns);
struct tl_position tl_queue_position(const struct tl_queue *queue, uint32_t slot, int64_t now_ns);
int tl_position_before(const struct tl_position *a, const struct tl_position *b);
/* How many waiting jobs are before a position. O(n); for reasons that somebody asked for. */
uint32_t tl_queue_rank(const struct tl_queue *queue, const struct tl_position *at, int64_t now_ns);

/* Blocks a kind; reopens all, or those whose shape is meant. O(lanes of the kinds). */
int tl_queue_block(struct tl_queue *queue, uint32_t kind);
int tl_queue_reopen_all(struct tl_queue *queue);
int tl_queue_reopen_if(struct tl_queue *queue, int (*meant)(const void *ctx, uint32_t shape),
                       const void *ctx);
/* Holds the class of a lane; releases all classes of a tenant, or everything. */
int tl_queue_hold(struct tl_queue *queue, uint32_t lane);
int tl_queue_release(struct tl_queue *queue, uint32_t tenant);
int tl_queue_release_all(struct tl_queue *queue);

/* A slot whose key is no longer valid, taken off the list of expiries (tl_queue_put or
 * tl_queue_track puts it back); TL_NO_INDEX: none. */
uint32_t tl_queue_expired(struct tl_queue *queue, int64_t now_ns);
/* When the next key expires; TL_TIME_NEVER. */
int64_t tl_queue_next_expiry(const struct tl_queue *queue);

/* A key that expires or was given at `now`, as it stands at another instant. */
static inline tl_wide tl_item_key(const struct tl_item *item, int64_t now_ns)
{
	return item->key + (tl_wide)item->slope_per_ns * now_ns;
}

#endif
