/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/engine/engine.h"

#include "sim/base/units.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* An owner that writes down what happens, and can be told to react. */
struct world {
	struct tl_engine engine;
	char log[4096];
	size_t length;
	int again;       /* schedule() puts in this many more events at now */
	int64_t past_ns; /* apply() puts event 99 in here, if ≥ 0 */
	bool refuse;     /* schedule() returns false */
	bool stop_on_apply;
	int64_t resample_ns; /* sample() puts in the next one, if > 0 */
	bool sample_now;     /* sample() wrongly puts one in at now */
	tl_event_handle to_cancel;
};

/* Writes `<what><now>` or `<what><now>.<subject>`; a full log takes no more. */
static void note(struct world *world, char what, int64_t now_ns, int64_t subject)
{
	char text[64];
	size_t length;

	if (subject < 0)
		(void)snprintf(text, sizeof text, "%c%lld ", what, (long long)now_ns);
	else
		(void)snprintf(text, sizeof text, "%c%lld.%lld ", what, (long long)now_ns,
		               (long long)subject);
	length = strlen(text);
	if (world->length + length >= sizeof world->log)
		return;
	memcpy(world->log + world->length, text, length + 1);
	world->length += length;
}

static void world_advance(void *owner, int64_t now_ns)
{
	note(owner, 'a', now_ns, -1);
}

static void world_apply(void *owner, const struct tl_event *event)
{
	struct world *world = owner;

	note(world, 'e', event->time_ns, (int64_t)event->subject);
	cr_assert_eq(world->engine.now_ns, event->time_ns);
	if (world->past_ns >= 0 && event->subject != 99)
		tl_engine_at(&world->engine, world->past_ns, TL_PHASE_TIMER, 0, 99);
	if (world->to_cancel)
		(void)tl_eventq_cancel(world->engine.queue, world->to_cancel);
	if (world->stop_on_apply)
		tl_engine_stop(&world->engine);
}

static bool world_schedule(void *owner, int64_t now_ns)
{
	struct world *world = owner;

	note(world, 'S', now_ns, -1);
	if (world->again > 0) {
		world->again--;
		tl_engine_at(&world->engine, now_ns, TL_PHASE_COMPLETION, 0, 50);
	}
	return !world->refuse;
}

static void world_sample(void *owner, const struct tl_event *event)
{
	struct world *world = owner;

	note(world, 's', event->time_ns, (int64_t)event->subject);
	if (world->resample_ns > 0)
		tl_engine_at(&world->engine, event->time_ns + world->resample_ns, TL_PHASE_SAMPLE,
		             0, event->subject);
	if (world->sample_now)
		tl_engine_at(&world->engine, event->time_ns, TL_PHASE_TIMER, 0, 0);
}

static const struct tl_engine_ops world_ops = {
    .advance = world_advance,
    .apply = world_apply,
    .schedule = world_schedule,
    .sample = world_sample,
};

static const struct tl_engine_ops blunt_ops = {
    .apply = world_apply,
    .schedule = world_schedule,
    .sample = world_sample,
};

static struct world world;

static void world_init(void)
{
	memset(&world, 0, sizeof world);
	world.past_ns = -1;
	tl_engine_init(&world.engine, &world_ops, &world, 4);
}

static void world_fini(void)
{
	tl_engine_fini(&world.engine);
}

static void put(int64_t time_ns, enum tl_phase phase, uint64_t subject)
{
	(void)tl_engine_at(&world.engine, time_ns, phase, 0, subject);
}

TestSuite(engine, .init = world_init, .fini = world_fini);

Test(engine, nothing_to_do_is_empty)
{
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "");
	cr_assert_eq(world.engine.now_ns, 0);
}

Test(engine, an_instant_runs_by_phase_and_samples_last)
{
	put(7, TL_PHASE_SAMPLE, 6);
	put(7, TL_PHASE_SCHEDULE, 5);
	put(7, TL_PHASE_TIMER, 4);
	put(7, TL_PHASE_ARRIVAL, 3);
	put(7, TL_PHASE_FAILURE, 2);
	put(7, TL_PHASE_COMPLETION, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "a7 e7.1 e7.2 e7.3 e7.4 S7 s7.6 ");
	cr_assert_eq(world.engine.events, 6);
	cr_assert_eq(world.engine.rounds, 1);
}

Test(engine, a_schedule_event_alone_makes_a_round)
{
	put(7, TL_PHASE_SCHEDULE, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "a7 S7 ");
}

Test(engine, the_instant_repeats_while_scheduling_makes_events)
{
	world.again = 2;
	put(3, TL_PHASE_SAMPLE, 8);
	put(3, TL_PHASE_ARRIVAL, 1);
	put(4, TL_PHASE_ARRIVAL, 2);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "a3 e3.1 S3 e3.50 S3 e3.50 S3 s3.8 a4 e4.2 S4 ");
	cr_assert_eq(world.engine.rounds, 4);
}

Test(engine, what_is_applied_may_make_an_event_of_the_same_round)
{
	world.past_ns = 3;
	put(3, TL_PHASE_ARRIVAL, 1);
	put(3, TL_PHASE_SAMPLE, 2);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "a3 e3.1 e3.99 S3 s3.2 ");
}

Test(engine, a_stop_takes_effect_after_the_callback)
{
	world.stop_on_apply = true;
	put(3, TL_PHASE_ARRIVAL, 1);
	put(3, TL_PHASE_ARRIVAL, 2);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_STOPPED);
	cr_assert_str_eq(world.log, "a3 e3.1 ");
	cr_assert_eq(tl_eventq_count(world.engine.queue), 1);
}

Test(engine, a_thousand_rounds_are_allowed)
{
	world.again = TL_ENGINE_MAX_ROUNDS - 1;
	put(3, TL_PHASE_ARRIVAL, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_eq(world.engine.rounds, TL_ENGINE_MAX_ROUNDS);
}

Test(engine, more_than_a_thousand_rounds_are_a_loop)
{
	world.again = TL_ENGINE_MAX_ROUNDS;
	put(3, TL_PHASE_ARRIVAL, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_LOOP);
	cr_assert_eq(world.engine.rounds, TL_ENGINE_MAX_ROUNDS);
	cr_assert_eq(world.engine.now_ns, 3);
}

Test(engine, the_horizon_is_included)
{
	put(10, TL_PHASE_ARRIVAL, 1);
	put(11, TL_PHASE_ARRIVAL, 2);
	cr_assert_eq(tl_engine_run(&world.engine, 10), TL_ENGINE_HORIZON);
	cr_assert_str_eq(world.log, "a10 e10.1 S10 ");
	cr_assert_eq(world.engine.now_ns, 10);
	cr_assert_eq(tl_engine_run(&world.engine, 20), TL_ENGINE_EMPTY);
	cr_assert_eq(world.engine.now_ns, 11);
}

Test(engine, the_horizon_moves_now)
{
	put(30, TL_PHASE_ARRIVAL, 1);
	cr_assert_eq(tl_engine_run(&world.engine, 20), TL_ENGINE_HORIZON);
	cr_assert_eq(world.engine.now_ns, 20);
	cr_assert_str_eq(world.log, "");
}

Test(engine, samples_do_not_keep_the_run_alive)
{
	world.resample_ns = 2;
	put(2, TL_PHASE_SAMPLE, 9);
	put(5, TL_PHASE_ARRIVAL, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	/* An instant that only samples schedules nothing. */
	cr_assert_str_eq(world.log, "a2 s2.9 a4 s4.9 a5 e5.1 S5 ");
	cr_assert_eq(world.engine.now_ns, 5);
}

Test(engine, samples_alone_before_the_horizon_are_empty)
{
	put(2, TL_PHASE_SAMPLE, 9);
	cr_assert_eq(tl_engine_run(&world.engine, 100), TL_ENGINE_EMPTY);
	cr_assert_eq(world.engine.now_ns, 0);
	cr_assert_str_eq(world.log, "");
}

Test(engine, samples_run_to_the_horizon_while_work_is_left)
{
	world.resample_ns = 4;
	put(4, TL_PHASE_SAMPLE, 9);
	put(50, TL_PHASE_COMPLETION, 1);
	cr_assert_eq(tl_engine_run(&world.engine, 12), TL_ENGINE_HORIZON);
	cr_assert_str_eq(world.log, "a4 s4.9 a8 s8.9 a12 s12.9 ");
}

Test(engine, a_cancelled_event_does_not_keep_the_run_alive)
{
	put(1, TL_PHASE_ARRIVAL, 1);
	world.to_cancel = tl_engine_at(&world.engine, 8, TL_PHASE_COMPLETION, 0, 2);
	put(9, TL_PHASE_SAMPLE, 3);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "a1 e1.1 S1 ");
}

Test(engine, scheduling_may_end_the_run)
{
	world.refuse = true;
	put(1, TL_PHASE_ARRIVAL, 1);
	put(1, TL_PHASE_SAMPLE, 2);
	put(2, TL_PHASE_ARRIVAL, 3);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_STOPPED);
	cr_assert_str_eq(world.log, "a1 e1.1 S1 ");
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_STOPPED);
}

Test(engine, advance_is_optional)
{
	world.engine.ops = &blunt_ops;
	put(1, TL_PHASE_ARRIVAL, 1);
	cr_assert_eq(tl_engine_run(&world.engine, TL_NEVER), TL_ENGINE_EMPTY);
	cr_assert_str_eq(world.log, "e1.1 S1 ");
}

Test(engine, never_is_no_event)
{
	cr_assert_eq(tl_engine_at(&world.engine, TL_NEVER, TL_PHASE_COMPLETION, 0, 1), 0);
	cr_assert_eq(tl_eventq_count(world.engine.queue), 0);
}

Test(engine, scheduling_into_the_past_trips, .signal = SIGABRT)
{
	world.past_ns = 4;
	put(5, TL_PHASE_ARRIVAL, 1);
	(void)tl_engine_run(&world.engine, TL_NEVER);
}

Test(engine, an_event_put_past_the_engine_into_the_past_trips, .signal = SIGABRT)
{
	put(5, TL_PHASE_ARRIVAL, 1);
	(void)tl_engine_run(&world.engine, TL_NEVER);
	(void)tl_eventq_insert(world.engine.queue, 4, TL_PHASE_ARRIVAL, 0, 1);
	(void)tl_engine_run(&world.engine, TL_NEVER);
}

Test(engine, a_sample_that_makes_events_at_once_trips, .signal = SIGABRT)
{
	world.sample_now = true;
	put(5, TL_PHASE_ARRIVAL, 1);
	put(5, TL_PHASE_SAMPLE, 2);
	(void)tl_engine_run(&world.engine, TL_NEVER);
}

Test(engine, a_horizon_in_the_past_trips, .signal = SIGABRT)
{
	put(5, TL_PHASE_ARRIVAL, 1);
	(void)tl_engine_run(&world.engine, TL_NEVER);
	(void)tl_engine_run(&world.engine, 4);
}
