/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Replicas come and go, and change speed: what the owner does between stretches. */
#include "sim/work/requests_core.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { RING_FIRST = 16 };

void tl_request_ring_grow(struct tl_request_ring *ring)
{
	uint32_t room = ring->room == 0 ? RING_FIRST : 2 * ring->room;
	struct tl_request *items;

	TL_ASSERT(room > ring->room);
	items = tl_alloc(room * sizeof *items);
	for (uint32_t i = 0; i < ring->count; i++)
		items[i] = ring->items[(ring->head + i) & (ring->room - 1)];
	free(ring->items);
	ring->items = items;
	ring->room = room;
	ring->head = 0;
}

void tl_request_ring_push_front(struct tl_request_ring *ring, const struct tl_request *request)
{
	if (ring->count == ring->room)
		tl_request_ring_grow(ring);
	ring->head = (ring->head - 1) & (ring->room - 1);
	ring->items[ring->head] = *request;
	ring->count++;
}

static struct tl_replica *find(const struct tl_requests *q, uint64_t key)
{
	for (size_t i = 0; i < q->replica_count; i++)
		if (q->replicas[i].name == key)
			return &q->replicas[i];
	return NULL;
}

/* Takes the replica out of the table; its order among the others stays. */
static void forget(struct tl_requests *q, struct tl_replica *replica)
{
	size_t index = (size_t)(replica - q->replicas);

	free(replica->queue.items);
	free(replica->members);
	free(replica->llm.members);
	q->replica_count--;
	memmove(replica, replica + 1, (q->replica_count - index) * sizeof *replica);
	tl_requests_index_rebuild(q);
}

/* It takes nothing new from now on. */
static void close_door(struct tl_requests *q, struct tl_replica *replica)
{
	if (replica->accept == TL_NO_REPLICA)
		return;
	/* The next one stays the next one. */
	if (q->last != SIZE_MAX && replica->accept <= q->last)
		q->last--;
	replica->accept = TL_NO_REPLICA;
}

/* Every free replica looks, in order of addition. */
static void all_look(struct tl_requests *q, int64_t now_ns)
{
	if (q->model.routing == TL_ROUTE_SHARED_QUEUE) {
		tl_requests_room_look(q, now_ns);
		return;
	}
	for (size_t i = 0; i < q->accepting_count; i++)
		tl_requests_look(q, &q->replicas[q->accepting[i]], now_ns);
}

void tl_requests_replica_add(struct tl_requests *q, int64_t now_ns, uint64_t key, int64_t speed_ppb)
{
	struct tl_replica *replica;
	uint32_t limit = q->model.batch_limit;

	TL_ASSERT(speed_ppb > 0 && !find(q, key) && q->replica_count < TL_NO_REPLICA - 1);
	tl_requests_advance(q, now_ns);
	q->replicas =
	    tl_grow(q->replicas, &q->replica_room, q->replica_count + 1, sizeof *q->replicas);
	replica = &q->replicas[q->replica_count++];
	*replica = (struct tl_replica){.key = TL_KEY_NEVER,
	                               .speed_ppb = speed_ppb,
	                               .load_from_ns = now_ns,
	                               .busy_from_ns = now_ns,
	                               .present_from_ns = now_ns,
	                               .drained_ns = TL_NONE,
	                               .name = key};
	if (q->llm)
		replica->llm.members = tl_calloc(limit, sizeof *replica->llm.members);
	else
		replica->members = tl_calloc(limit, sizeof *replica->members);
	tl_requests_index_rebuild(q);
	if (q->model.routing != TL_ROUTE_SHARED_QUEUE && q->room.count > 0) {
		tl_requests_integrate(q, &q->room_from_ns, q->room.count, now_ns);
		for (; q->room.count > 0; tl_request_ring_pop(&q->room)) {
			const struct tl_request *first = tl_request_ring_first(&q->room);

			replica = tl_requests_choose(q, first->tag, 2 * now_ns + 1);
			tl_requests_load_change(q, replica, 1, now_ns);
			tl_request_ring_push(&replica->queue, first);
		}
	}
	all_look(q, now_ns);
}

void tl_requests_replica_speed(struct tl_requests *q, int64_t now_ns, uint64_t key,
                               int64_t speed_ppb)
{
	struct tl_replica *replica;

	TL_ASSERT(speed_ppb > 0);
	tl_requests_advance(q, now_ns);
	replica = find(q, key);
	TL_ASSERT(replica);
	if (replica->speed_ppb == speed_ppb)
		return;
	if (replica->in_service > 0 && q->llm) {
		tl_requests_llm_speed(q, replica, now_ns, speed_ppb);
		return;
	}
	if (replica->in_service > 0)
		tl_requests_batch_speed(q, replica, now_ns, speed_ppb);
	replica->speed_ppb = speed_ppb;
}

/* Copies what a replica has, in the order it is to be served again. */
static struct tl_request *contents(struct tl_replica *replica, bool llm)
{
	struct tl_request *all = tl_alloc(replica->load * sizeof *all);
	struct tl_request_ring *queue = &replica->queue;
	size_t n = 0;

	if (llm)
		tl_requests_llm_sort(replica);
	for (uint32_t i = 0; i < replica->in_service; i++)
		all[n++] = llm ? replica->llm.members[i].request : replica->members[i];
	for (; queue->count > 0; tl_request_ring_pop(queue))
		all[n++] = *tl_request_ring_first(queue);
	TL_ASSERT(n == replica->load);
	return all;
}

static void send_back(struct tl_requests *q, const struct tl_request *all, size_t n, int64_t now_ns)
{
	bool to_room = q->accepting_count == 0 || q->model.routing == TL_ROUTE_SHARED_QUEUE;

	if (to_room)
		tl_requests_integrate(q, &q->room_from_ns, q->room.count, now_ns);
	while (n-- > 0) {
		struct tl_request request = all[n];

		if ((request.tag & TL_REQUEST_TRIES_MAX) < TL_REQUEST_TRIES_MAX)
			request.tag++;
		q->open.retried++;
		if (to_room) {
			tl_request_ring_push_front(&q->room, &request);
		} else {
			struct tl_replica *replica =
			    tl_requests_choose(q, request.tag, 2 * now_ns + 1);

			tl_requests_load_change(q, replica, 1, now_ns);
			tl_request_ring_push_front(&replica->queue, &request);
		}
	}
}

static void kill_replica(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns)
{
	uint32_t load = replica->load;
	struct tl_request *all = contents(replica, q->llm);

	if (replica->in_service > 0)
		q->open.busy_ns += (uint64_t)(now_ns - replica->busy_from_ns);
	if (replica->drained_ns == TL_NONE)
		q->open.present_ns += (uint64_t)(now_ns - replica->present_from_ns);
	tl_requests_integrate(q, &replica->load_from_ns, load, now_ns);
	close_door(q, replica);
	forget(q, replica);
	send_back(q, all, load, now_ns);
	free(all);
	all_look(q, now_ns);
}

void tl_requests_replica_remove(struct tl_requests *q, int64_t now_ns, uint64_t key,
                                enum tl_replica_removal mode)
{
	struct tl_replica *replica;

	tl_requests_advance(q, now_ns);
	replica = find(q, key);
	TL_ASSERT(replica);
	if (mode == TL_REPLICA_KILL) {
		kill_replica(q, replica, now_ns);
		return;
	}
	TL_ASSERT(replica->accept != TL_NO_REPLICA);
	close_door(q, replica);
	if (replica->load == 0) {
		replica->drained_ns = now_ns;
		q->open.present_ns += (uint64_t)(now_ns - replica->present_from_ns);
	}
	tl_requests_index_rebuild(q);
}

bool tl_requests_replica_drained(struct tl_requests *q, uint64_t *key, int64_t *at_ns)
{
	for (size_t i = 0; i < q->replica_count; i++) {
		struct tl_replica *replica = &q->replicas[i];

		if (replica->drained_ns == TL_NONE)
			continue;
		*key = replica->name;
		*at_ns = replica->drained_ns;
		forget(q, replica);
		return true;
	}
	return false;
}

uint64_t tl_requests_replica_load(const struct tl_requests *q, uint64_t key)
{
	const struct tl_replica *replica = find(q, key);

	TL_ASSERT(replica);
	return replica->load;
}
