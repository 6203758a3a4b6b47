/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Continuous batching: a count of steps that all members share runs slower the more there
 * are, and stands still while prefill is outstanding. A member leaves when the count reaches
 * its last token, so members are kept in a heap by that count.
 */
#include "sim/work/requests_core.h"

enum { STEP_BITS = 16 };
#define REBASE_STEP (INT64_C(1) << 50)

static bool before(const struct tl_llm_member *a, const struct tl_llm_member *b)
{
	return a->end_step != b->end_step ? a->end_step < b->end_step : a->order < b->order;
}

static void swap(struct tl_llm_member *a, struct tl_llm_member *b)
{
	struct tl_llm_member kept = *a;

	*a = *b;
	*b = kept;
}

static void heap_push(struct tl_llm_member *heap, uint32_t count, const struct tl_llm_member *new)
{
	uint32_t i = count;

	heap[i] = *new;
	for (; i > 0 && before(&heap[i], &heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

/* Takes the first of `count` out. */
static void heap_pop(struct tl_llm_member *heap, uint32_t count)
{
	uint32_t i = 0;

	heap[0] = heap[--count];
	for (;;) {
		uint32_t child = 2 * i + 1;

		if (child >= count)
			return;
		if (child + 1 < count && before(&heap[child + 1], &heap[child]))
			child++;
		if (!before(&heap[child], &heap[i]))
			return;
		swap(&heap[child], &heap[i]);
		i = child;
	}
}

/* Engine time of one step, at the present members. */
static tl_u128 pace_ns(const struct tl_requests *q, const struct tl_replica *replica)
{
	return (tl_u128)q->model.service.step_ns +
	       (tl_u128)q->model.service.member_ns * replica->in_service;
}

/* Brings prefill and the count to now. There are members. */
static void progress(const struct tl_requests *q, struct tl_replica *replica, int64_t now_ns)
{
	struct tl_llm *llm = &replica->llm;
	int64_t work_ns = tl_work_of_time(now_ns - replica->since_ns, replica->speed_ppb);
	int64_t prefill_ns = work_ns < llm->prefill_ns ? work_ns : llm->prefill_ns;

	llm->prefill_ns -= prefill_ns;
	llm->step +=
	    (int64_t)(((tl_u128)(work_ns - prefill_ns) << STEP_BITS) / pace_ns(q, replica));
	replica->since_ns = now_ns;
}

/* When the first member leaves, if nothing changes. */
static void set_key(struct tl_requests *q, struct tl_replica *replica)
{
	const struct tl_llm *llm = &replica->llm;
	uint64_t steps = (uint64_t)(llm->members[0].end_step - llm->step);
	tl_u128 work_ns = (steps * pace_ns(q, replica) + (1U << STEP_BITS) - 1) >> STEP_BITS;
	int64_t time_ns = TL_NEVER;

	work_ns += (uint64_t)llm->prefill_ns;
	if (work_ns < TL_REQUESTS_TIME_MAX)
		time_ns = tl_time_add(replica->since_ns,
		                      tl_time_of_work((int64_t)work_ns, replica->speed_ppb));
	tl_requests_set_key(q, replica, tl_request_key(time_ns, 0));
}

void tl_requests_llm_join(struct tl_requests *q, struct tl_replica *replica,
                          const struct tl_request *request, int64_t now_ns)
{
	struct tl_service_tokens tokens = request->size.tokens;
	struct tl_llm *llm = &replica->llm;
	tl_u128 prefill_ns = (tl_u128)tokens.context * (uint64_t)q->model.service.prefill_ns;
	struct tl_llm_member member = {
	    .request = *request, .start_ns = now_ns, .order = llm->joined++};

	if (replica->in_service == 0) {
		llm->step = llm->prefill_ns = 0;
		replica->since_ns = replica->busy_from_ns = now_ns;
	} else {
		progress(q, replica, now_ns);
	}
	if (llm->step > REBASE_STEP) {
		for (uint32_t i = 0; i < replica->in_service; i++)
			llm->members[i].end_step -= llm->step;
		llm->step = 0;
	}
	llm->prefill_ns += prefill_ns < TL_SERVICE_MAX_NS ? (int64_t)prefill_ns : TL_SERVICE_MAX_NS;
	member.end_step =
	    llm->step + ((int64_t)(tokens.generated > 0 ? tokens.generated : 1) << STEP_BITS);
	heap_push(llm->members, replica->in_service++, &member);
	set_key(q, replica);
}

void tl_requests_llm_leave(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns)
{
	struct tl_llm *llm = &replica->llm;
	uint32_t members = replica->in_service;

	/* Rounding up the time brought the count to the member's end, and not beyond. */
	llm->step = llm->members[0].end_step;
	llm->prefill_ns = 0;
	replica->since_ns = now_ns;
	while (replica->in_service > 0 && llm->members[0].end_step <= llm->step) {
		const struct tl_llm_member *first = &llm->members[0];

		tl_requests_served(q, replica, &first->request, first->start_ns, now_ns, members);
		q->open.service_ns += (uint64_t)(now_ns - first->start_ns);
		q->open.batches++;
		heap_pop(llm->members, replica->in_service--);
	}
	tl_requests_load_change(q, replica, (int64_t)replica->in_service - members, now_ns);
	if (replica->in_service > 0)
		set_key(q, replica);
	else
		q->open.busy_ns += (uint64_t)(now_ns - replica->busy_from_ns);
}

void tl_requests_llm_speed(struct tl_requests *q, struct tl_replica *replica, int64_t now_ns,
                           int64_t speed_ppb)
{
	progress(q, replica, now_ns);
	replica->speed_ppb = speed_ppb;
	set_key(q, replica);
}

void tl_requests_llm_sort(struct tl_replica *replica)
{
	struct tl_llm_member *members = replica->llm.members;

	for (uint32_t i = 1; i < replica->in_service; i++)
		for (uint32_t j = i; j > 0 && members[j].order < members[j - 1].order; j--)
			swap(&members[j], &members[j - 1]);
}
