/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/requests_reference.h"

#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <string.h>

struct list {
	size_t count;
	int items[REF_REQUESTS];
};

struct replica {
	bool present, draining;
	uint64_t key;
	int64_t speed_ppb;
	struct list queue, serving;
	int64_t since_ns, work_ns; /* a batch: work left as of then */
	int64_t prefill_ns, step;  /* LLM, as of then */
};

struct world {
	const struct ref_case *given;
	struct ref_result *out;
	struct replica replicas[REF_REPLICAS]; /* in order of addition */
	size_t replica_count;
	int last; /* index in replicas of the last chosen; −1 */
	struct list room;
	int64_t now_ns, booked_ns;
	int64_t start_ns[REF_REQUESTS], work_ns[REF_REQUESTS], end_step[REF_REQUESTS];
	uint32_t tries[REF_REQUESTS];
	struct tl_request_window *window;
};

static struct world world;

static bool llm(const struct world *w)
{
	return w->given->model.service.kind == TL_SERVICE_LLM;
}

static bool shared(const struct world *w)
{
	return w->given->model.routing == TL_ROUTE_SHARED_QUEUE;
}

static int remove_at(struct list *list, size_t at)
{
	int item = list->items[at];

	list->count--;
	for (size_t i = at; i < list->count; i++)
		list->items[i] = list->items[i + 1];
	return item;
}

static void insert_at(struct list *list, size_t at, int item)
{
	for (size_t i = list->count; i > at; i--)
		list->items[i] = list->items[i - 1];
	list->items[at] = item;
	list->count++;
}

static size_t load_of(const struct replica *replica)
{
	return replica->queue.count + replica->serving.count;
}

static bool accepting(const struct replica *replica)
{
	return replica->present && !replica->draining;
}

static size_t accepting_count(const struct world *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->replica_count; i++)
		count += accepting(&w->replicas[i]);
	return count;
}

static bool can_take(const struct world *w, const struct replica *replica)
{
	return replica->serving.count < (llm(w) ? w->given->model.batch_limit : 1);
}

static void leave(struct world *w, int request, enum tl_request_fate fate, const struct replica *by,
                  size_t batch)
{
	struct tl_request_left *how = &w->out->how[request];
	uint64_t stayed_ns = (uint64_t)(w->now_ns - w->given->arrivals_ns[request]);

	cr_assert_not(w->out->left[request]);
	w->out->left[request] = true;
	*how = (struct tl_request_left){.number = (uint64_t)request,
	                                .arrival_ns = w->given->arrivals_ns[request],
	                                .start_ns = by ? w->start_ns[request] : TL_NONE,
	                                .leave_ns = w->now_ns,
	                                .replica = by ? by->key : 0,
	                                .batch = (uint32_t)batch,
	                                .tries = w->tries[request],
	                                .fate = fate};
	w->window->dropped += fate == TL_REQUEST_DROPPED;
	w->window->timed_out += fate == TL_REQUEST_TIMED_OUT;
	if (fate == TL_REQUEST_TIMED_OUT)
		w->window->timed_out_ns += stayed_ns;
	if (!by)
		return;
	w->window->served++;
	w->window->wait_ns += (uint64_t)(how->start_ns - how->arrival_ns);
	w->window->service_ns += (uint64_t)(how->leave_ns - how->start_ns);
	w->window->attained += stayed_ns <= (uint64_t)w->given->model.target_ns;
}

/* ---- service ---- */

static tl_i128 pace_of(const struct world *w, const struct replica *replica)
{
	return (tl_i128)w->given->model.service.step_ns +
	       (tl_i128)w->given->model.service.member_ns * (tl_i128)replica->serving.count;
}

/* Brings what is left of the work to now. */
static void work_off(const struct world *w, struct replica *replica)
{
	int64_t done_ns =
	    (int64_t)((tl_i128)(w->now_ns - replica->since_ns) * replica->speed_ppb / TL_PPB);

	replica->since_ns = w->now_ns;
	if (!llm(w)) {
		replica->work_ns -= done_ns;
	} else if (done_ns <= replica->prefill_ns) {
		replica->prefill_ns -= done_ns;
	} else if (replica->serving.count > 0) {
		done_ns -= replica->prefill_ns;
		replica->prefill_ns = 0;
		replica->step += (int64_t)((tl_i128)done_ns * 65536 / pace_of(w, replica));
	}
}

static int64_t least_end(const struct world *w, const struct replica *replica)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < replica->serving.count; i++)
		if (w->end_step[replica->serving.items[i]] < least)
			least = w->end_step[replica->serving.items[i]];
	return least;
}

/* When the replica's batch, or its first member, ends. */
static int64_t end_of(const struct world *w, const struct replica *replica)
{
	tl_i128 work_ns = replica->work_ns;

	if (!replica->present || replica->serving.count == 0)
		return TL_NEVER;
	if (llm(w))
		work_ns =
		    replica->prefill_ns +
		    ((least_end(w, replica) - replica->step) * pace_of(w, replica) + 65535) / 65536;
	return replica->since_ns +
	       (int64_t)((work_ns * TL_PPB + replica->speed_ppb - 1) / replica->speed_ppb);
}

static void join(struct world *w, struct replica *replica, int request)
{
	const struct tl_service_tokens *tokens = &w->given->tokens[request];

	work_off(w, replica);
	if (replica->serving.count == 0)
		replica->step = replica->prefill_ns = 0;
	replica->prefill_ns += (int64_t)tokens->context * w->given->model.service.prefill_ns;
	w->end_step[request] =
	    replica->step + 65536 * (int64_t)(tokens->generated > 0 ? tokens->generated : 1);
	w->start_ns[request] = w->now_ns;
	insert_at(&replica->serving, replica->serving.count, request);
}

static void begin_batch(struct world *w, struct replica *replica, const struct list *batch)
{
	const struct tl_service_time *service = &w->given->model.service;

	replica->work_ns = 0;
	for (size_t i = 0; i < batch->count; i++) {
		w->start_ns[batch->items[i]] = w->now_ns;
		if (w->work_ns[batch->items[i]] > replica->work_ns)
			replica->work_ns = w->work_ns[batch->items[i]];
	}
	if (service->kind == TL_SERVICE_AFFINE)
		replica->work_ns = service->alpha_ns + service->beta_ns * (int64_t)batch->count;
	replica->serving = *batch;
	replica->since_ns = w->now_ns;
}

static bool expired(const struct world *w, int request)
{
	return w->now_ns - w->given->arrivals_ns[request] > w->given->model.timeout_ns;
}

/* A replica that can take requests looks at a queue; true if it took something. */
static bool look(struct world *w, struct replica *replica, struct list *queue)
{
	const struct tl_request_model *model = &w->given->model;
	struct list batch = {0};

	if (!can_take(w, replica))
		return false;
	while (queue->count > 0 && expired(w, queue->items[0]))
		leave(w, remove_at(queue, 0), TL_REQUEST_TIMED_OUT, NULL, 0);
	if (queue->count == 0)
		return false;
	if (queue->count < model->batch_limit &&
	    w->now_ns < w->given->arrivals_ns[queue->items[0]] + model->batch_delay_ns)
		return false;
	if (llm(w)) {
		join(w, replica, remove_at(queue, 0));
		return true;
	}
	while (queue->count > 0 && batch.count < model->batch_limit) {
		int request = remove_at(queue, 0);

		if (expired(w, request))
			leave(w, request, TL_REQUEST_TIMED_OUT, NULL, 0);
		else
			insert_at(&batch, batch.count, request);
	}
	begin_batch(w, replica, &batch);
	return true;
}

/* The first candidate after the last chosen; load SIZE_MAX: any; NULL: none. */
static struct replica *next_of(struct world *w, size_t load, bool free)
{
	for (size_t n = 0; n < w->replica_count; n++) {
		size_t i = ((size_t)(w->last + 1) + n) % w->replica_count;
		struct replica *replica = &w->replicas[i];

		if (!accepting(replica) || (load != SIZE_MAX && load_of(replica) != load) ||
		    (free && !can_take(w, replica)))
			continue;
		w->last = (int)i;
		return replica;
	}
	return NULL;
}

static void room_looks(struct world *w)
{
	int kept;
	struct replica *replica;

	do {
		kept = w->last;
		replica = next_of(w, SIZE_MAX, true);
		if (!replica || !look(w, replica, &w->room)) {
			w->last = kept; /* nothing was chosen */
			return;
		}
	} while (w->room.count > 0);
}

static void all_look(struct world *w)
{
	for (size_t i = 0; i < w->replica_count && !shared(w); i++)
		while (w->replicas[i].present && look(w, &w->replicas[i], &w->replicas[i].queue))
			continue;
	if (shared(w))
		room_looks(w);
}

static void note_drained(struct world *w, struct replica *replica)
{
	if (replica->present && replica->draining && load_of(replica) == 0) {
		replica->present = false;
		w->out->drained_ns[replica->key] = w->now_ns;
	}
}

static void end_service(struct world *w, struct replica *replica)
{
	size_t batch = replica->serving.count;
	int64_t end = llm(w) ? least_end(w, replica) : 0;

	replica->step = end;
	replica->prefill_ns = 0;
	replica->since_ns = w->now_ns;
	for (size_t i = 0; i < replica->serving.count;) {
		if (llm(w) && w->end_step[replica->serving.items[i]] > end) {
			i++;
			continue;
		}
		leave(w, remove_at(&replica->serving, i), TL_REQUEST_SERVED, replica, batch);
		w->window->batches += llm(w);
	}
	w->window->batches += !llm(w);
	if (shared(w) && !replica->draining)
		room_looks(w);
	else
		while (look(w, replica, &replica->queue))
			continue;
	note_drained(w, replica);
}

/* ---- routing ---- */

static struct replica *nth_accepting(struct world *w, uint64_t n)
{
	for (size_t i = 0; i < w->replica_count; i++)
		if (accepting(&w->replicas[i]) && n-- == 0)
			return &w->replicas[i];
	return NULL;
}

static struct replica *choose(struct world *w, int request)
{
	const uint64_t key[2] = {w->given->seed, TL_STREAM_ROUTE};
	const uint64_t counter[4] = {(uint64_t)request / 4, w->given->service, w->tries[request],
	                             0};
	uint64_t words[4], word, n = accepting_count(w), least = SIZE_MAX, a, b;

	tl_philox4x64(counter, key, words);
	word = words[request % 4];
	switch (w->given->model.routing) {
	case TL_ROUTE_RANDOM:
		return nth_accepting(w, (uint64_t)(((tl_u128)word * n) >> 64));
	case TL_ROUTE_POWER_OF_TWO:
		a = ((word >> 32) * n) >> 32;
		b = n > 1 ? ((word & UINT32_MAX) * (n - 1)) >> 32 : 0;
		b += n > 1 && b >= a;
		return load_of(nth_accepting(w, b)) < load_of(nth_accepting(w, a))
		           ? nth_accepting(w, b)
		           : nth_accepting(w, a);
	case TL_ROUTE_SHORTEST_QUEUE:
		for (size_t i = 0; i < w->replica_count; i++)
			if (accepting(&w->replicas[i]) && load_of(&w->replicas[i]) < least)
				least = load_of(&w->replicas[i]);
		return next_of(w, least, false);
	default:
		return next_of(w, SIZE_MAX, false);
	}
}

static void arrive(struct world *w, int request)
{
	const struct tl_request_model *model = &w->given->model;
	bool to_room = shared(w) || accepting_count(w) == 0;
	struct replica *replica = to_room ? NULL : choose(w, request);
	struct list *queue = to_room ? &w->room : &replica->queue;
	uint64_t bound = model->queue_limit;
	bool at_once = false;

	w->window->arrivals++;
	if (to_room && accepting_count(w) > 1)
		bound *= accepting_count(w);
	for (size_t i = 0; i < w->replica_count && model->batch_delay_ns == 0; i++)
		at_once |= accepting(&w->replicas[i]) && can_take(w, &w->replicas[i]) &&
		           (shared(w) || &w->replicas[i] == replica);
	if (!at_once && model->queue_limit != TL_REQUESTS_UNBOUNDED && queue->count >= bound) {
		leave(w, request, TL_REQUEST_DROPPED, NULL, 0);
		return;
	}
	insert_at(queue, queue->count, request);
	if (shared(w))
		room_looks(w);
	else if (replica)
		(void)look(w, replica, queue);
}

/* ---- what the owner does ---- */

static struct replica *by_key(struct world *w, uint64_t key)
{
	for (size_t i = 0; i < w->replica_count; i++)
		if (w->replicas[i].present && w->replicas[i].key == key)
			return &w->replicas[i];
	return NULL;
}

static void kill_it(struct world *w, struct replica *replica)
{
	struct list all = replica->serving;

	for (size_t i = 0; i < replica->queue.count; i++)
		insert_at(&all, all.count, replica->queue.items[i]);
	replica->present = false;
	for (size_t i = all.count; i-- > 0;) {
		int request = all.items[i];

		w->tries[request]++;
		w->window->retried++;
		if (shared(w) || accepting_count(w) == 0)
			insert_at(&w->room, 0, request);
		else
			insert_at(&choose(w, request)->queue, 0, request);
	}
}

static void act(struct world *w, const struct ref_act *what)
{
	struct replica *replica = by_key(w, what->key);

	if (what->what == REF_ADD) {
		w->replicas[w->replica_count++] = (struct replica){.present = true,
		                                                   .key = what->key,
		                                                   .speed_ppb = what->speed_ppb,
		                                                   .since_ns = w->now_ns};
		while (!shared(w) && w->room.count > 0) {
			struct list *queue = &choose(w, w->room.items[0])->queue;

			insert_at(queue, queue->count, remove_at(&w->room, 0));
		}
	} else if (what->what == REF_WINDOW) {
		for (size_t i = 0; i < w->replica_count; i++) {
			const struct replica *each = &w->replicas[i];

			if (!each->present)
				continue;
			w->window->queued += each->queue.count;
			w->window->in_service += each->serving.count;
			w->window->accepting += !each->draining;
			w->window->draining += each->draining;
		}
		w->window->queued += w->room.count;
		w->window->end_ns = w->now_ns;
		w->window = &w->out->windows[++w->out->window_count];
		w->window->start_ns = w->now_ns;
	} else if (replica && what->what == REF_KILL) {
		kill_it(w, replica);
	} else if (replica && what->what == REF_DRAIN) {
		replica->draining = true;
		note_drained(w, replica);
	} else if (replica && replica->speed_ppb != what->speed_ppb) {
		work_off(w, replica);
		replica->speed_ppb = what->speed_ppb;
	}
	all_look(w);
}

/* ---- time ---- */

static void book(struct world *w)
{
	uint64_t dt = (uint64_t)(w->now_ns - w->booked_ns);

	w->window->in_system_ns += dt * w->room.count;
	for (size_t i = 0; i < w->replica_count; i++) {
		const struct replica *replica = &w->replicas[i];

		if (!replica->present)
			continue;
		w->window->in_system_ns += dt * load_of(replica);
		w->window->busy_ns += replica->serving.count > 0 ? dt : 0;
		w->window->present_ns += dt;
	}
	w->booked_ns = w->now_ns;
}

void ref_run(const struct ref_case *given, struct ref_result *out)
{
	struct world *w = &world;
	size_t arrived = 0, acted = 0;

	memset(w, 0, sizeof *w);
	memset(out, 0, sizeof *out);
	for (size_t i = 0; i < REF_REPLICAS; i++)
		out->drained_ns[i] = TL_NONE;
	w->given = given;
	w->out = out;
	w->last = -1;
	w->window = &out->windows[0];
	for (size_t i = 0; i < given->request_count; i++)
		tl_service_time_draw(&given->model.service, given->seed, given->service, i, 1,
		                     &w->work_ns[i]);
	/* Every instant, whether or not something happens then. */
	for (; acted < given->act_count; w->now_ns++) {
		book(w);
		for (size_t i = 0; i < w->replica_count; i++)
			if (end_of(w, &w->replicas[i]) == w->now_ns)
				end_service(w, &w->replicas[i]);
		while (arrived < given->request_count && given->arrivals_ns[arrived] == w->now_ns)
			arrive(w, (int)arrived++);
		all_look(w);
		while (acted < given->act_count && given->acts[acted].at_ns == w->now_ns)
			act(w, &given->acts[acted++]);
	}
}
