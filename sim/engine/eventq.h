/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pending-event set: an indexed implicit d-ary heap over a pool of events.
 *
 * Total order: (time, phase, sequence); sequence counts insertions, so two events
 * of one instant and phase come out in the order they were put in.
 * Cost: insert O(log n), pop O(log n), cancel and reschedule O(log n), look-up of a
 * handle O(1). Nothing is allocated while the pool's high-water mark holds.
 */
#ifndef TIDELAB_ENGINE_EVENTQ_H
#define TIDELAB_ENGINE_EVENTQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What happens first at one instant; see the semantics, "One instant". */
enum tl_phase {
	TL_PHASE_COMPLETION,
	TL_PHASE_FAILURE, /* and repair */
	TL_PHASE_ARRIVAL,
	TL_PHASE_TIMER,
	TL_PHASE_SCHEDULE,
	TL_PHASE_SAMPLE,
	TL_PHASE_COUNT
};

/* 0 is no event. A handle of an event that fired or was cancelled is stale: every
 * call refuses it (generation in the upper half). */
typedef uint64_t tl_event_handle;

struct tl_event {
	int64_t time_ns;
	uint8_t phase;    /* enum tl_phase */
	uint32_t kind;    /* the owner's */
	uint64_t subject; /* the owner's: a job id, a node */
	tl_event_handle handle;
};

struct tl_eventq; /* opaque */

struct tl_eventq *tl_eventq_create(size_t expected);
void tl_eventq_destroy(struct tl_eventq *queue);
size_t tl_eventq_count(const struct tl_eventq *queue);
size_t tl_eventq_count_phase(const struct tl_eventq *queue, enum tl_phase phase);
tl_event_handle tl_eventq_insert(struct tl_eventq *queue, int64_t time_ns, enum tl_phase phase,
                                 uint32_t kind, uint64_t subject);
/* False where the queue is empty. peek leaves the event in. */
bool tl_eventq_peek(const struct tl_eventq *queue, struct tl_event *out);
bool tl_eventq_pop(struct tl_eventq *queue, struct tl_event *out);
/* False where the handle is stale. A rescheduled event keeps its handle and gets a
 * new sequence number, as if cancelled and inserted. */
bool tl_eventq_cancel(struct tl_eventq *queue, tl_event_handle handle);
bool tl_eventq_reschedule(struct tl_eventq *queue, tl_event_handle handle, int64_t time_ns);
bool tl_eventq_pending(const struct tl_eventq *queue, tl_event_handle handle);

#endif
