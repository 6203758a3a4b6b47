/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/engine/engine.h"

#include "sim/base/assert.h"
#include "sim/base/units.h"

void tl_engine_init(struct tl_engine *engine, const struct tl_engine_ops *ops, void *owner,
                    size_t expected_events)
{
	*engine = (struct tl_engine){
	    .queue = tl_eventq_create(expected_events),
	    .ops = ops,
	    .owner = owner,
	};
}

void tl_engine_fini(struct tl_engine *engine)
{
	tl_eventq_destroy(engine->queue);
	engine->queue = NULL;
}

tl_event_handle tl_engine_at(struct tl_engine *engine, int64_t time_ns, enum tl_phase phase,
                             uint32_t kind, uint64_t subject)
{
	TL_ASSERT(engine->sampling ? time_ns > engine->now_ns : time_ns >= engine->now_ns);
	if (time_ns == TL_NEVER)
		return 0;
	return tl_eventq_insert(engine->queue, time_ns, phase, kind, subject);
}

void tl_engine_stop(struct tl_engine *engine)
{
	engine->stop = true;
}

/* Whether the next event is of this instant, and no sample. */
static bool round_left(const struct tl_engine *engine, struct tl_event *next)
{
	return tl_eventq_peek(engine->queue, next) && next->time_ns == engine->now_ns &&
	       next->phase != TL_PHASE_SAMPLE;
}

static bool run_round(struct tl_engine *engine)
{
	struct tl_event event;

	while (round_left(engine, &event)) {
		(void)tl_eventq_pop(engine->queue, &event);
		engine->events++;
		if (event.phase != TL_PHASE_SCHEDULE)
			engine->ops->apply(engine->owner, &event);
		if (engine->stop)
			return false;
	}
	engine->rounds++;
	if (!engine->ops->schedule(engine->owner, engine->now_ns))
		engine->stop = true;
	return !engine->stop;
}

static bool run_samples(struct tl_engine *engine)
{
	struct tl_event event;

	while (tl_eventq_peek(engine->queue, &event) && event.time_ns == engine->now_ns) {
		(void)tl_eventq_pop(engine->queue, &event);
		engine->events++;
		engine->sampling = true;
		engine->ops->sample(engine->owner, &event);
		engine->sampling = false;
		if (engine->stop)
			return false;
	}
	return true;
}

/* One instant. False ends the run, for the reason put into *end. */
static bool run_instant(struct tl_engine *engine, enum tl_engine_end *end)
{
	struct tl_event next;
	int rounds = 0;

	if (engine->ops->advance)
		engine->ops->advance(engine->owner, engine->now_ns);
	while (round_left(engine, &next)) {
		if (rounds++ == TL_ENGINE_MAX_ROUNDS) {
			*end = TL_ENGINE_LOOP;
			return false;
		}
		if (!run_round(engine)) {
			*end = TL_ENGINE_STOPPED;
			return false;
		}
	}
	*end = TL_ENGINE_STOPPED;
	return run_samples(engine);
}

enum tl_engine_end tl_engine_run(struct tl_engine *engine, int64_t horizon_ns)
{
	enum tl_engine_end end = TL_ENGINE_STOPPED;
	struct tl_event next;

	TL_ASSERT(horizon_ns >= engine->now_ns);
	for (;;) {
		if (engine->stop)
			return TL_ENGINE_STOPPED;
		if (!tl_eventq_peek(engine->queue, &next) ||
		    tl_eventq_count(engine->queue) ==
		        tl_eventq_count_phase(engine->queue, TL_PHASE_SAMPLE))
			return TL_ENGINE_EMPTY;
		if (next.time_ns > horizon_ns) {
			engine->now_ns = horizon_ns;
			return TL_ENGINE_HORIZON;
		}
		/* Also catches what was put past tl_engine_at into the queue. */
		TL_ASSERT(next.time_ns >= engine->now_ns);
		engine->now_ns = next.time_ns;
		if (!run_instant(engine, &end))
			return end;
	}
}
