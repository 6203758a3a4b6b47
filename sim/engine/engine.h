/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one loop. It drains an instant phase by phase, lets the owner apply each
 * event, schedules once, repeats the instant while scheduling made new events at
 * it, and samples last.
 */
#ifndef TIDELAB_ENGINE_ENGINE_H
#define TIDELAB_ENGINE_ENGINE_H

#include "sim/base/error.h"
#include "sim/engine/eventq.h"

enum { TL_ENGINE_MAX_ROUNDS = 1000 }; /* at one instant, then the run ends as `loop` */

struct tl_engine_ops {
	/* Before the first event of an instant: bring continuous state (services) to now.
	 * May be NULL. */
	void (*advance)(void *owner, int64_t now_ns);
	/* Each event of phases before SCHEDULE. An event of phase SCHEDULE only makes its
	 * instant have a round. */
	void (*apply)(void *owner, const struct tl_event *event);
	/* Once a round, after all events of the round; not at an instant that only samples, so
	 * that how often one samples changes no decision. False ends the run (the owner knows
	 * why). */
	bool (*schedule)(void *owner, int64_t now_ns);
	/* Each event of phase SAMPLE, once no other event is left at the instant. It looks on:
	 * what it puts in is later than now (asserted). */
	void (*sample)(void *owner, const struct tl_event *event);
};

enum tl_engine_end {
	TL_ENGINE_EMPTY,   /* no event left */
	TL_ENGINE_HORIZON, /* the next event is after the horizon; now = horizon */
	TL_ENGINE_STOPPED, /* schedule() returned false, or tl_engine_stop */
	TL_ENGINE_LOOP     /* more than TL_ENGINE_MAX_ROUNDS rounds at one instant */
};

struct tl_engine {
	struct tl_eventq *queue;
	const struct tl_engine_ops *ops;
	void *owner;
	int64_t now_ns;
	uint64_t events; /* applied, samples included */
	uint64_t rounds; /* schedule() calls */
	bool stop;
	bool sampling; /* inside sample() */
};

void tl_engine_init(struct tl_engine *engine, const struct tl_engine_ops *ops, void *owner,
                    size_t expected_events);
void tl_engine_fini(struct tl_engine *engine);
/* time_ns ≥ now (asserted). TL_NEVER puts nothing in and returns 0, no event. */
tl_event_handle tl_engine_at(struct tl_engine *engine, int64_t time_ns, enum tl_phase phase,
                             uint32_t kind, uint64_t subject);
/* Ends the run as STOPPED once the callback under way returns; for good. */
void tl_engine_stop(struct tl_engine *engine);
/* Runs events with time ≤ horizon_ns (TL_NEVER: all). SAMPLE events alone do not keep
 * the loop alive: with no other event left it ends as EMPTY at the last non-sample instant. */
enum tl_engine_end tl_engine_run(struct tl_engine *engine, int64_t horizon_ns);

#endif
