/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What happens at a replica: requests come, batches begin and end, delays run out. */
#include "sim/work/requests_core.h"

void tl_requests_left(struct tl_requests *q, const struct tl_request *request,
                      const struct tl_request_left *left)
{
	struct tl_request_left full = *left;

	if (!q->observer)
		return;
	full.number = request->tag >> TL_REQUEST_TRIES_BITS;
	full.tries = (uint32_t)(request->tag & TL_REQUEST_TRIES_MAX);
	full.arrival_ns = request->arrival_ns;
	q->observer(q->observer_context, &full);
}

static inline void served(struct tl_requests *q, const struct tl_replica *replica,
                          const struct tl_request *request, int64_t start_ns, int64_t now_ns,
                          uint32_t batch)
{
	int64_t latency_ns = now_ns - request->arrival_ns;

	tl_histogram_add(q->latency, latency_ns);
	q->open.attained += latency_ns <= q->model.target_ns;
	q->open.wait_ns += (uint64_t)(start_ns - request->arrival_ns);
	if (__builtin_expect(q->observer != NULL, 0))
		tl_requests_left(q, request,
		                 &(struct tl_request_left){.start_ns = start_ns,
		                                           .leave_ns = now_ns,
		                                           .replica = replica->name,
		                                           .batch = batch,
		                                           .fate = TL_REQUEST_SERVED});
}

void tl_requests_served(struct tl_requests *q, const struct tl_replica *replica,
                        const struct tl_request *request, int64_t start_ns, int64_t now_ns,
                        uint32_t batch)
{
	served(q, replica, request, start_ns, now_ns, batch);
}

static inline void load_change(struct tl_requests *q, struct tl_replica *replica, int64_t change,
                               int64_t now_ns)
{
	uint32_t old = replica->load;

	tl_requests_integrate(q, &replica->load_from_ns, old, now_ns);
	replica->load = (uint32_t)((int64_t)old + change);
	if (q->model.routing == TL_ROUTE_SHORTEST_QUEUE && replica->accept != TL_NO_REPLICA)
		tl_requests_level_move(q, replica, old);
}

void tl_requests_load_change(struct tl_requests *q, struct tl_replica *replica, int64_t change,
                             int64_t now_ns)
{
	load_change(q, replica, change, now_ns);
}

static void drop(struct tl_requests *q, const struct tl_request *request)
{
	q->open.dropped++;
	tl_requests_left(q, request,
	                 &(struct tl_request_left){.start_ns = TL_NONE,
	                                           .leave_ns = request->arrival_ns,
	                                           .fate = TL_REQUEST_DROPPED});
}

static inline bool expired(const struct tl_requests *q, const struct tl_request *request,
                           int64_t now_ns)
{
	return now_ns - request->arrival_ns > q->model.timeout_ns;
}

static void time_out(struct tl_requests *q, const struct tl_request *request, int64_t now_ns)
{
	q->open.timed_out++;
	q->open.timed_out_ns += (uint64_t)(now_ns - request->arrival_ns);
	tl_requests_left(q, request,
	                 &(struct tl_request_left){.start_ns = TL_NONE,
	                                           .leave_ns = now_ns,
	                                           .fate = TL_REQUEST_TIMED_OUT});
}

/* The count of a queue that requests were taken from: a replica's is in its load. */
static void booked_out(struct tl_requests *q, struct tl_replica *owner, uint32_t taken,
                       int64_t now_ns)
{
	if (owner)
		load_change(q, owner, -(int64_t)taken, now_ns);
	else
		tl_requests_integrate(q, &q->room_from_ns, (uint64_t)q->room.count + taken, now_ns);
}

/* Times out the head of the queue while it has waited too long. owner: whose queue it is;
 * NULL: the room. */
static void expire(struct tl_requests *q, struct tl_request_ring *queue, struct tl_replica *owner,
                   int64_t now_ns)
{
	uint32_t gone = 0;

	if (q->model.timeout_ns == TL_NEVER)
		return;
	while (queue->count > 0 && expired(q, tl_request_ring_first(queue), now_ns)) {
		time_out(q, tl_request_ring_first(queue), now_ns);
		tl_request_ring_pop(queue);
		gone++;
	}
	if (gone > 0)
		booked_out(q, owner, gone, now_ns);
}

/* When the first of a queue with something in it may be taken, if nothing more comes. */
static inline int64_t due_ns(const struct tl_requests *q, const struct tl_request_ring *queue)
{
	if (queue->count >= q->model.batch_limit)
		return 0;
	return tl_time_add(tl_request_ring_first(queue)->arrival_ns, q->model.batch_delay_ns);
}

/* The members are in place and in the load: off it goes. */
static inline void start(struct tl_requests *q, struct tl_replica *replica, uint32_t batch,
                         int64_t now_ns)
{
	const struct tl_service_time *service = &q->model.service;
	int64_t greatest_ns = replica->members[0].size.work_ns;
	int64_t work_ns;

	for (uint32_t i = 1; i < batch; i++)
		if (replica->members[i].size.work_ns > greatest_ns)
			greatest_ns = replica->members[i].size.work_ns;
	work_ns = tl_service_time_batch(service, batch, greatest_ns);
	replica->in_service = batch;
	replica->start_ns = now_ns;
	replica->busy_from_ns = now_ns;
	replica->since_ns = now_ns;
	replica->work_ns = work_ns;
	if (replica->speed_ppb != TL_PPB)
		work_ns = tl_time_of_work(work_ns, replica->speed_ppb);
	tl_requests_set_key(q, replica, tl_request_key(tl_time_add(now_ns, work_ns), 0));
}

/* Takes a batch out of the queue, whose head is due and has not waited too long. */
static void take(struct tl_requests *q, struct tl_request_ring *queue, struct tl_replica *owner,
                 struct tl_replica *replica, int64_t now_ns)
{
	uint32_t batch = 0, gone = 0;

	if (q->llm) {
		tl_requests_llm_join(q, replica, tl_request_ring_first(queue), now_ns);
		tl_request_ring_pop(queue);
		batch = 1;
	}
	while (!q->llm && queue->count > 0 && batch < q->model.batch_limit) {
		const struct tl_request *first = tl_request_ring_first(queue);

		/* Those sent back are ahead of older ones. */
		if (expired(q, first, now_ns)) {
			time_out(q, first, now_ns);
			gone++;
		} else {
			replica->members[batch++] = *first;
		}
		tl_request_ring_pop(queue);
	}
	if (!owner || gone > 0)
		booked_out(q, owner, owner ? gone : batch + gone, now_ns);
	if (!owner)
		load_change(q, replica, batch, now_ns);
	if (!q->llm)
		start(q, replica, batch, now_ns);
}

static inline bool can_take(const struct tl_requests *q, const struct tl_replica *replica)
{
	return q->llm ? replica->in_service < q->model.batch_limit : replica->in_service == 0;
}

void tl_requests_look(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns)
{
	while (replica->queue.count > 0 && can_take(q, replica)) {
		int64_t due;

		expire(q, &replica->queue, replica, now_ns);
		if (replica->queue.count == 0)
			break;
		due = due_ns(q, &replica->queue);
		if (due > now_ns) {
			tl_requests_set_key(q, replica, tl_request_key(due, 1));
			return;
		}
		take(q, &replica->queue, replica, replica, now_ns);
	}
	if (replica->in_service == 0)
		tl_requests_set_key(q, replica, TL_KEY_NEVER);
}

void tl_requests_room_look(struct tl_requests *q, int64_t now_ns)
{
	q->room_key = TL_KEY_NEVER;
	while (q->room.count > 0 && q->levels[0] > 0) {
		struct tl_replica *replica;
		int64_t due;

		expire(q, &q->room, NULL, now_ns);
		if (q->room.count == 0)
			return;
		due = due_ns(q, &q->room);
		if (due > now_ns) {
			q->room_key = tl_request_key(due, 1);
			return;
		}
		replica = tl_requests_free_next(q);
		take(q, &q->room, NULL, replica, now_ns);
		tl_requests_free_set(q, replica, can_take(q, replica));
	}
}

static inline void finish(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns)
{
	uint32_t batch = replica->in_service;
	int64_t start_ns = replica->start_ns;

	for (uint32_t i = 0; i < batch; i++)
		served(q, replica, &replica->members[i], start_ns, now_ns, batch);
	q->open.service_ns += (tl_u128)batch * (uint64_t)(now_ns - start_ns);
	q->open.batches++;
	q->open.busy_ns += (uint64_t)(now_ns - replica->busy_from_ns);
	replica->in_service = 0;
	load_change(q, replica, -(int64_t)batch, now_ns);
}

static void event(struct tl_requests *q, struct tl_replica *replica)
{
	int64_t now_ns = replica->key / 2;

	if (replica->key % 2 == 0) {
		if (q->llm)
			tl_requests_llm_leave(q, replica, now_ns);
		else
			finish(q, replica, now_ns);
	}
	/* Under a shared queue its own is empty, and looking just clears the key. */
	tl_requests_look(q, replica, now_ns);
	if (q->model.routing == TL_ROUTE_SHARED_QUEUE && replica->accept != TL_NO_REPLICA) {
		tl_requests_free_set(q, replica, true);
		tl_requests_room_look(q, now_ns);
	}
	if (replica->accept == TL_NO_REPLICA && replica->load == 0) {
		replica->drained_ns = now_ns;
		q->open.present_ns += (uint64_t)(now_ns - replica->present_from_ns);
	}
}

void tl_requests_catch_up(struct tl_requests *q, struct tl_replica *replica, int64_t limit)
{
	while (replica->key <= limit)
		event(q, replica);
}

void tl_requests_run(struct tl_requests *q, int64_t limit)
{
	if (!q->ordered) {
		for (size_t i = 0; i < q->replica_count; i++)
			tl_requests_catch_up(q, &q->replicas[i], limit);
		return;
	}
	for (;;) {
		if (q->room_key < q->tree[1]) {
			if (q->room_key > limit)
				return;
			tl_requests_room_look(q, q->room_key / 2);
		} else {
			if (q->tree[1] > limit)
				return;
			event(q, tl_requests_first_due(q));
		}
	}
}

/* To a replica that was chosen and has room in service. */
static inline void serve_at_once(struct tl_requests *q, struct tl_replica *replica,
                                 const struct tl_request *request)
{
	int64_t now_ns = request->arrival_ns;

	load_change(q, replica, 1, now_ns);
	if (q->llm) {
		tl_requests_llm_join(q, replica, request, now_ns);
		return;
	}
	replica->members[0] = *request;
	start(q, replica, 1, now_ns);
}

static void arrive_at_room(struct tl_requests *q, const struct tl_request *request)
{
	bool shared = q->model.routing == TL_ROUTE_SHARED_QUEUE;
	uint64_t bound = q->model.queue_limit;

	if (shared && q->levels[0] > 0 && q->model.batch_delay_ns == 0) {
		struct tl_replica *replica = tl_requests_free_next(q);

		serve_at_once(q, replica, request);
		tl_requests_free_set(q, replica, can_take(q, replica));
		return;
	}
	if (q->accepting_count > 1)
		bound *= q->accepting_count;
	if (q->room.count >= bound && q->model.queue_limit != TL_REQUESTS_UNBOUNDED) {
		drop(q, request);
		return;
	}
	tl_requests_integrate(q, &q->room_from_ns, q->room.count, request->arrival_ns);
	tl_request_ring_push(&q->room, request);
	if (shared)
		tl_requests_room_look(q, request->arrival_ns);
}

void tl_requests_arrive(struct tl_requests *q, const struct tl_request *request)
{
	int64_t now_ns = request->arrival_ns;
	struct tl_replica *replica;

	q->open.arrivals++;
	if (q->ordered)
		tl_requests_run(q, 2 * now_ns);
	if (q->accepting_count == 0 || q->model.routing == TL_ROUTE_SHARED_QUEUE) {
		arrive_at_room(q, request);
		return;
	}
	replica = tl_requests_choose(q, request->tag, 2 * now_ns);
	if (q->model.batch_delay_ns == 0 && can_take(q, replica)) {
		serve_at_once(q, replica, request);
		return;
	}
	if (replica->queue.count >= q->model.queue_limit &&
	    q->model.queue_limit != TL_REQUESTS_UNBOUNDED) {
		drop(q, request);
		return;
	}
	load_change(q, replica, 1, now_ns);
	tl_request_ring_push(&replica->queue, request);
	if (can_take(q, replica))
		tl_requests_look(q, replica, now_ns);
}

void tl_requests_batch_speed(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns,
                             int64_t speed_ppb)
{
	int64_t done_ns = tl_work_of_time(now_ns - replica->since_ns, replica->speed_ppb);

	replica->work_ns -= done_ns;
	replica->since_ns = now_ns;
	tl_requests_set_key(
	    q, replica,
	    tl_request_key(tl_time_add(now_ns, tl_time_of_work(replica->work_ns, speed_ppb)), 0));
}
