/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/engine/eventq.h"

#include <criterion/criterion.h>
#include <signal.h>

static void expect_pop(struct tl_eventq *queue, uint64_t subject)
{
	struct tl_event event;

	cr_assert(tl_eventq_pop(queue, &event));
	cr_assert_eq(event.subject, subject, "got %llu, wanted %llu",
	             (unsigned long long)event.subject, (unsigned long long)subject);
}

Test(eventq, an_empty_queue_gives_nothing)
{
	struct tl_eventq *queue = tl_eventq_create(0);
	struct tl_event event;

	cr_assert_eq(tl_eventq_count(queue), 0);
	cr_assert_not(tl_eventq_peek(queue, &event));
	cr_assert_not(tl_eventq_pop(queue, &event));
	tl_eventq_destroy(queue);
	tl_eventq_destroy(NULL);
}

Test(eventq, time_then_phase_then_sequence)
{
	struct tl_eventq *queue = tl_eventq_create(8);

	tl_eventq_insert(queue, 5, TL_PHASE_SAMPLE, 0, 5);
	tl_eventq_insert(queue, 5, TL_PHASE_ARRIVAL, 0, 2);
	tl_eventq_insert(queue, 5, TL_PHASE_ARRIVAL, 0, 3);
	tl_eventq_insert(queue, 5, TL_PHASE_COMPLETION, 0, 1);
	tl_eventq_insert(queue, 5, TL_PHASE_TIMER, 0, 4);
	tl_eventq_insert(queue, 6, TL_PHASE_COMPLETION, 0, 6);
	tl_eventq_insert(queue, -1, TL_PHASE_SAMPLE, 0, 0);
	for (uint64_t i = 0; i < 7; i++)
		expect_pop(queue, i);
	tl_eventq_destroy(queue);
}

Test(eventq, an_event_comes_out_as_it_went_in)
{
	struct tl_eventq *queue = tl_eventq_create(8);
	tl_event_handle handle =
	    tl_eventq_insert(queue, INT64_MAX, TL_PHASE_SAMPLE, UINT32_MAX, UINT64_MAX);
	struct tl_event event;

	cr_assert_neq(handle, 0);
	cr_assert(tl_eventq_peek(queue, &event));
	cr_assert_eq(tl_eventq_count(queue), 1);
	cr_assert(tl_eventq_pop(queue, &event));
	cr_assert_eq(event.time_ns, INT64_MAX);
	cr_assert_eq(event.phase, TL_PHASE_SAMPLE);
	cr_assert_eq(event.kind, UINT32_MAX);
	cr_assert_eq(event.subject, UINT64_MAX);
	cr_assert_eq(event.handle, handle);
	cr_assert_eq(tl_eventq_count(queue), 0);
	tl_eventq_destroy(queue);
}

Test(eventq, stale_and_made_up_handles_are_refused)
{
	struct tl_eventq *queue = tl_eventq_create(8);
	tl_event_handle fired = tl_eventq_insert(queue, 1, TL_PHASE_TIMER, 0, 1);
	tl_event_handle cancelled = tl_eventq_insert(queue, 2, TL_PHASE_TIMER, 0, 2);
	tl_event_handle fresh;

	expect_pop(queue, 1);
	cr_assert(tl_eventq_cancel(queue, cancelled));
	/* It takes a place that was given up. */
	fresh = tl_eventq_insert(queue, 3, TL_PHASE_TIMER, 0, 3);
	for (int i = 0; i < 5; i++) {
		const tl_event_handle bad[] = {0, fired, cancelled, UINT64_MAX,
		                               UINT64_C(1) << 32 | 7};

		cr_assert_not(tl_eventq_pending(queue, bad[i]));
		cr_assert_not(tl_eventq_cancel(queue, bad[i]));
		cr_assert_not(tl_eventq_reschedule(queue, bad[i], 9));
	}
	cr_assert(tl_eventq_pending(queue, fresh));
	expect_pop(queue, 3);
	tl_eventq_destroy(queue);
}

Test(eventq, a_rescheduled_event_keeps_its_handle_and_goes_behind)
{
	struct tl_eventq *queue = tl_eventq_create(8);
	tl_event_handle first = tl_eventq_insert(queue, 5, TL_PHASE_TIMER, 0, 1);
	tl_event_handle second = tl_eventq_insert(queue, 5, TL_PHASE_TIMER, 0, 2);

	cr_assert(tl_eventq_reschedule(queue, first, 5));
	cr_assert(tl_eventq_pending(queue, first));
	expect_pop(queue, 2);
	cr_assert_not(tl_eventq_pending(queue, second));
	tl_eventq_insert(queue, 3, TL_PHASE_TIMER, 0, 3);
	cr_assert(tl_eventq_reschedule(queue, first, 2));
	expect_pop(queue, 1);
	expect_pop(queue, 3);
	tl_eventq_destroy(queue);
}

Test(eventq, counts_by_phase)
{
	struct tl_eventq *queue = tl_eventq_create(8);
	tl_event_handle timer = tl_eventq_insert(queue, 1, TL_PHASE_TIMER, 0, 1);

	tl_eventq_insert(queue, 2, TL_PHASE_SAMPLE, 0, 2);
	tl_eventq_insert(queue, 3, TL_PHASE_SAMPLE, 0, 3);
	cr_assert_eq(tl_eventq_count_phase(queue, TL_PHASE_SAMPLE), 2);
	cr_assert_eq(tl_eventq_count_phase(queue, TL_PHASE_TIMER), 1);
	cr_assert(tl_eventq_reschedule(queue, timer, 9));
	cr_assert_eq(tl_eventq_count_phase(queue, TL_PHASE_TIMER), 1);
	expect_pop(queue, 2);
	cr_assert(tl_eventq_cancel(queue, timer));
	cr_assert_eq(tl_eventq_count_phase(queue, TL_PHASE_SAMPLE), 1);
	cr_assert_eq(tl_eventq_count_phase(queue, TL_PHASE_TIMER), 0);
	tl_eventq_destroy(queue);
}

Test(eventq, grows_past_what_was_expected)
{
	struct tl_eventq *queue = tl_eventq_create(1);

	for (uint64_t i = 0; i < 100000; i++)
		tl_eventq_insert(queue, (int64_t)(i * 7919 % 100000), TL_PHASE_TIMER, 0,
		                 i * 7919 % 100000);
	for (uint64_t i = 0; i < 100000; i++)
		expect_pop(queue, i);
	tl_eventq_destroy(queue);
}

Test(eventq, an_unknown_phase_trips, .signal = SIGABRT)
{
	struct tl_eventq *queue = tl_eventq_create(1);

	tl_eventq_insert(queue, 1, TL_PHASE_COUNT, 0, 0);
}
