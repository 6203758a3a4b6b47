/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the request engine share; see sim/work/requests.h for the rules.
 *
 * An event's key is 2 · time + phase (0: a service ends, 1: a batching delay runs out), so
 * one comparison orders time and phase; the replica's index breaks ties.
 *
 * Where routing does not look at all replicas (round-robin, random, power of two) each is
 * left behind and catches up when it is asked: no order over replicas is kept. Otherwise
 * ("ordered") a tree of minima over the keys gives the next event.
 */
#ifndef TIDELAB_WORK_REQUESTS_CORE_H
#define TIDELAB_WORK_REQUESTS_CORE_H

#include "sim/base/assert.h"
#include "sim/work/requests.h"

#define TL_KEY_NEVER INT64_MAX
#define TL_NO_REPLICA UINT32_MAX

enum {
	TL_REQUEST_DRAWS = 256, /* sizes drawn at a time */
	TL_REQUEST_LEVELS = 64, /* loads that are indexed at a time; bits of a word */
	TL_REQUEST_TRIES_BITS = 8,
	TL_REQUEST_TRIES_MAX = (1 << TL_REQUEST_TRIES_BITS) - 1
};

struct tl_request {
	int64_t arrival_ns;
	union {
		int64_t work_ns; /* its draw */
		struct tl_service_tokens tokens;
	} size;
	uint64_t tag; /* number << TRIES_BITS | tries */
};

/* A double-ended queue; its room is 0 or a power of two. */
struct tl_request_ring {
	struct tl_request *items;
	uint32_t head, count, room;
};

struct tl_llm_member {
	struct tl_request request;
	int64_t start_ns;
	int64_t end_step; /* in 2^-16 steps; the heap's key, then order */
	uint64_t order;   /* of joining */
};

struct tl_llm {
	struct tl_llm_member *members; /* a binary heap of in_service */
	int64_t step;                  /* the count at since_ns, in 2^-16 steps */
	int64_t prefill_ns;            /* outstanding at since_ns */
	uint64_t joined;
};

struct tl_replica {
	int64_t key;      /* of its next event */
	int64_t start_ns; /* of its batch */
	int64_t since_ns; /* work_ns (LLM: the count and prefill) are as of then */
	int64_t work_ns;  /* of its batch, left */
	int64_t speed_ppb;
	int64_t load_from_ns;    /* the load's integral is booked up to here; */
	int64_t busy_from_ns;    /* busy time, while in_service; */
	int64_t present_from_ns; /* presence */
	int64_t drained_ns;      /* TL_NONE: not */
	uint32_t load;           /* waiting and in service */
	uint32_t in_service;
	uint32_t accept; /* its index among the accepting; TL_NO_REPLICA: draining */
	struct tl_request_ring queue;
	struct tl_request *members; /* in_service of batch_limit */
	struct tl_llm llm;
	uint64_t name; /* the owner's key */
};

struct tl_requests {
	struct tl_request_model model;
	uint64_t seed, service;
	int64_t clock_ns;
	bool ordered; /* the tree is kept */
	bool llm;
	struct tl_replica *replicas; /* in order of addition */
	size_t replica_count, replica_room;
	uint32_t *accepting; /* their indices in replicas, ascending */
	size_t accepting_count, accepting_room;
	size_t last; /* index in accepting of the last one chosen; SIZE_MAX */

	struct tl_request_ring room;
	int64_t room_from_ns; /* as a replica's load_from_ns */
	int64_t room_key;     /* shared queue: when the delay of its head runs out */

	int64_t *tree; /* 1-based tree of minima; leaves from tree[leaves] */
	size_t leaves;
	/* Shortest queue: masks[l · words …] are the accepting ones of load base + l, levels
	 * counts them; those beyond are in none. Shared queue: masks[0 …] are those that can
	 * take requests, levels[0] counts them. */
	uint64_t *masks;
	size_t words, mask_room;
	uint32_t base;
	uint64_t levels_used; /* bit l: levels[l] > 0 */
	uint32_t levels[TL_REQUEST_LEVELS];

	int64_t *times;                   /* arrivals fed */
	struct tl_service_tokens *tokens; /* LLM: theirs */
	size_t fed, consumed, times_room, tokens_room;
	uint64_t next_number; /* of the arrival at times[consumed] */
	int64_t last_fed_ns;
	uint64_t draws_from; /* draws[] are those of numbers from here */
	int64_t draws[TL_REQUEST_DRAWS];
	uint64_t route_block; /* route_words are of this block; UINT64_MAX: none */
	uint64_t route_words[4];

	tl_request_observer *observer;
	void *observer_context;
	struct tl_request_window open, total;
	struct tl_histogram *latency;      /* of the open window */
	struct tl_histogram histograms[3]; /* open and last closed, by turns; total */
};

static inline int64_t tl_request_key(int64_t time_ns, int phase)
{
	return time_ns < TL_REQUESTS_TIME_MAX ? 2 * time_ns + phase : TL_KEY_NEVER;
}

/* Makes room for one more. */
void tl_request_ring_grow(struct tl_request_ring *ring);
void tl_request_ring_push_front(struct tl_request_ring *ring, const struct tl_request *request);

static inline void tl_request_ring_push(struct tl_request_ring *ring,
                                        const struct tl_request *request)
{
	if (ring->count == ring->room)
		tl_request_ring_grow(ring);
	ring->items[(ring->head + ring->count++) & (ring->room - 1)] = *request;
}

static inline const struct tl_request *tl_request_ring_first(const struct tl_request_ring *ring)
{
	return &ring->items[ring->head];
}

static inline void tl_request_ring_pop(struct tl_request_ring *ring)
{
	ring->head = (ring->head + 1) & (ring->room - 1);
	ring->count--;
}

/* The replica's next event is at `key`. */
static inline void tl_requests_set_key(struct tl_requests *q, struct tl_replica *replica,
                                       int64_t key)
{
	int64_t *tree = q->tree;
	size_t i;

	replica->key = key;
	if (!q->ordered)
		return;
	i = q->leaves + (size_t)(replica - q->replicas);
	tree[i] = key;
	for (i /= 2; i > 0; i /= 2) {
		int64_t least = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];

		if (tree[i] == least)
			break;
		tree[i] = least;
	}
}

/* Books the integral of a count from *from_ns to now. */
static inline void tl_requests_integrate(struct tl_requests *q, int64_t *from_ns, uint64_t count,
                                         int64_t now_ns)
{
	q->open.in_system_ns += (tl_u128)count * (uint64_t)(now_ns - *from_ns);
	*from_ns = now_ns;
}

/* ---- requests_index.c: which replica next ---- */

/* Sizes and fills the tree and the masks for the present replicas, and their accept. */
void tl_requests_index_rebuild(struct tl_requests *q);
/* Shortest queue: an accepting replica's load was `old`. */
void tl_requests_level_move(struct tl_requests *q, const struct tl_replica *replica, uint32_t old);
/* Shared queue: an accepting replica can, or can no longer, take requests. */
void tl_requests_free_set(struct tl_requests *q, const struct tl_replica *replica, bool can);
/* The next one that can take requests (there is one), and it becomes the last chosen. */
struct tl_replica *tl_requests_free_next(struct tl_requests *q);
/* The replica of the tree's least key, the first of equals. */
struct tl_replica *tl_requests_first_due(struct tl_requests *q);
/* Routes by any rule but shared queue; at least one accepts. Those that are looked at
 * catch up to `limit`, where not ordered. */
struct tl_replica *tl_requests_choose(struct tl_requests *q, uint64_t tag, int64_t limit);

/* ---- requests_batch.c: what happens at a replica ---- */

/* A request goes; asks the observer. */
void tl_requests_left(struct tl_requests *q, const struct tl_request *request,
                      const struct tl_request_left *left);
/* One was served: the sums, all but service_ns and the counts of batches. */
void tl_requests_served(struct tl_requests *q, const struct tl_replica *replica,
                        const struct tl_request *request, int64_t start_ns, int64_t now_ns,
                        uint32_t batch);
/* Load changes by `change` at now. */
void tl_requests_load_change(struct tl_requests *q, struct tl_replica *replica, int64_t change,
                             int64_t now_ns);
/* All of the replica's events with keys ≤ limit. */
void tl_requests_catch_up(struct tl_requests *q, struct tl_replica *replica, int64_t limit);
/* All events of all replicas and of the room with keys ≤ limit, in order. */
void tl_requests_run(struct tl_requests *q, int64_t limit);
/* A new request; what happens before it has been done. */
void tl_requests_arrive(struct tl_requests *q, const struct tl_request *request);
/* A free replica takes from its queue what it may; sets its key. */
void tl_requests_look(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns);
/* Shared queue: replicas that can take requests take from the room what they may. */
void tl_requests_room_look(struct tl_requests *q, int64_t now_ns);
/* The batch in flight is at another speed from now on. */
void tl_requests_batch_speed(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns,
                             int64_t speed_ppb);

/* ---- requests_llm.c: continuous batching ---- */

void tl_requests_llm_join(struct tl_requests *q, struct tl_replica *replica,
                          const struct tl_request *request, int64_t now_ns);
/* Those whose last token is out at now leave. */
void tl_requests_llm_leave(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns);
void tl_requests_llm_speed(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns,
                           int64_t speed_ppb);
/* Puts the members into the order of joining (and no longer of a heap). */
void tl_requests_llm_sort(struct tl_replica *replica);

#endif
