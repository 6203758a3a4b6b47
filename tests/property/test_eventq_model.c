/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event queue against a naive model: a sorted list of all pending events. Random
 * insertions, pops, cancellations, reschedulings and calls with stale handles must
 * give the same answers from both, at every step.
 */
#include "sim/base/rng.h"
#include "sim/engine/eventq.h"

#include <criterion/criterion.h>
#include <string.h>

enum { PENDING_MAX = 400, HISTORY = 4096 };

struct entry {
	int64_t time_ns;
	uint64_t sequence;
	uint64_t subject;
	tl_event_handle handle;
	uint32_t kind;
	uint8_t phase;
};

struct model {
	struct entry list[PENDING_MAX]; /* in order */
	size_t count;
	uint64_t sequence;
	uint64_t subject;
	tl_event_handle history[HISTORY]; /* handles ever given out, the latest ones */
	size_t given;
};

static bool entry_before(const struct entry *a, const struct entry *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->phase != b->phase)
		return a->phase < b->phase;
	return a->sequence < b->sequence;
}

static void model_insert(struct model *model, struct entry entry)
{
	size_t place = model->count;

	entry.sequence = model->sequence++;
	while (place > 0 && entry_before(&entry, &model->list[place - 1]))
		place--;
	memmove(&model->list[place + 1], &model->list[place],
	        (model->count - place) * sizeof entry);
	model->list[place] = entry;
	model->count++;
}

static struct entry model_remove(struct model *model, size_t place)
{
	struct entry entry = model->list[place];

	model->count--;
	memmove(&model->list[place], &model->list[place + 1],
	        (model->count - place) * sizeof entry);
	return entry;
}

/* The place of a handle in the list, or count. */
static size_t model_find(const struct model *model, tl_event_handle handle)
{
	size_t place = 0;

	while (place < model->count && model->list[place].handle != handle)
		place++;
	return place;
}

static void step_insert(struct tl_eventq *queue, struct model *model, struct tl_rng *rng,
                        uint64_t times)
{
	struct entry entry = {
	    .time_ns = (int64_t)tl_rng_below(rng, times) - (int64_t)(times / 8),
	    .subject = model->subject++,
	    .kind = (uint32_t)tl_rng_u64(rng),
	    .phase = (uint8_t)tl_rng_below(rng, TL_PHASE_COUNT),
	};

	if (model->count == PENDING_MAX)
		return;
	entry.handle = tl_eventq_insert(queue, entry.time_ns, (enum tl_phase)entry.phase,
	                                entry.kind, entry.subject);
	cr_assert_neq(entry.handle, 0);
	model_insert(model, entry);
	model->history[model->given++ % HISTORY] = entry.handle;
}

static void check_event(const struct tl_event *event, const struct entry *wanted)
{
	cr_assert(event->time_ns == wanted->time_ns && event->phase == wanted->phase &&
	              event->kind == wanted->kind && event->subject == wanted->subject &&
	              event->handle == wanted->handle,
	          "got subject %llu at %lld, wanted %llu at %lld",
	          (unsigned long long)event->subject, (long long)event->time_ns,
	          (unsigned long long)wanted->subject, (long long)wanted->time_ns);
}

static void step_pop(struct tl_eventq *queue, struct model *model)
{
	struct tl_event event;
	struct entry wanted;
	bool any = tl_eventq_pop(queue, &event);

	cr_assert_eq(any, model->count > 0);
	if (!any)
		return;
	wanted = model_remove(model, 0);
	check_event(&event, &wanted);
	cr_assert_not(tl_eventq_pending(queue, event.handle));
}

/* A handle from the past: most are stale, some pending. */
static tl_event_handle any_handle(const struct model *model, struct tl_rng *rng)
{
	size_t known = model->given < HISTORY ? model->given : HISTORY;

	/* Half of the time from those that pend, so that both answers are common. */
	if (model->count > 0 && tl_rng_below(rng, 2) == 0)
		return model->list[tl_rng_below(rng, model->count)].handle;
	return known == 0 ? 0 : model->history[tl_rng_below(rng, known)];
}

static void step_cancel(struct tl_eventq *queue, struct model *model, struct tl_rng *rng)
{
	tl_event_handle handle = any_handle(model, rng);
	size_t place = model_find(model, handle);
	bool pending = place < model->count;

	cr_assert_eq(tl_eventq_pending(queue, handle), pending);
	cr_assert_eq(tl_eventq_cancel(queue, handle), pending);
	cr_assert_not(tl_eventq_pending(queue, handle));
	if (pending)
		(void)model_remove(model, place);
}

static void step_reschedule(struct tl_eventq *queue, struct model *model, struct tl_rng *rng,
                            uint64_t times)
{
	tl_event_handle handle = any_handle(model, rng);
	int64_t time_ns = (int64_t)tl_rng_below(rng, times);
	size_t place = model_find(model, handle);
	bool pending = place < model->count;
	struct entry entry;

	cr_assert_eq(tl_eventq_reschedule(queue, handle, time_ns), pending);
	cr_assert_eq(tl_eventq_pending(queue, handle), pending);
	if (!pending)
		return;
	entry = model_remove(model, place);
	entry.time_ns = time_ns;
	model_insert(model, entry);
}

static void check_state(const struct tl_eventq *queue, const struct model *model)
{
	size_t by_phase[TL_PHASE_COUNT] = {0};
	struct tl_event event;

	cr_assert_eq(tl_eventq_count(queue), model->count);
	cr_assert_eq(tl_eventq_peek(queue, &event), model->count > 0);
	if (model->count > 0)
		check_event(&event, &model->list[0]);
	for (size_t i = 0; i < model->count; i++)
		by_phase[model->list[i].phase]++;
	for (int phase = 0; phase < TL_PHASE_COUNT; phase++)
		cr_assert_eq(tl_eventq_count_phase(queue, (enum tl_phase)phase), by_phase[phase]);
}

/* Few distinct times make many ties; the mix decides how full the queue runs. */
static void compare(uint64_t entity, size_t operations, uint64_t times, uint64_t insert_of_16)
{
	static struct model model;
	struct tl_eventq *queue = tl_eventq_create(1);
	struct tl_rng rng;

	memset(&model, 0, sizeof model);
	tl_rng_init(&rng, 2024, TL_STREAM_TEST, entity);
	for (size_t i = 0; i < operations; i++) {
		uint64_t choice = tl_rng_below(&rng, 16);

		if (choice < insert_of_16)
			step_insert(queue, &model, &rng, times);
		else if (choice < 12)
			step_pop(queue, &model);
		else if (choice < 14)
			step_cancel(queue, &model, &rng);
		else
			step_reschedule(queue, &model, &rng, times);
		if (i % 64 == 0)
			check_state(queue, &model);
	}
	while (model.count > 0)
		step_pop(queue, &model);
	check_state(queue, &model);
	tl_eventq_destroy(queue);
}

Test(eventq_model, mostly_short_with_ties)
{
	compare(1, 1000000, 16, 6);
}

Test(eventq_model, mostly_short_without_ties)
{
	compare(2, 700000, UINT64_C(1) << 62, 7);
}

Test(eventq_model, mostly_full)
{
	compare(3, 300000, 100000, 10);
}

Test(eventq_model, one_instant_only)
{
	compare(4, 200000, 1, 7);
}
