/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The requests of one service, one by one: each arrives, is routed to a replica, waits, is
 * served in a batch and leaves. No engine events: the owner feeds the arrivals of a stretch
 * of time and advances it; between two such control instants all is done in tight loops.
 *
 * Units: time int64 ns on the simulation's clock, below 2^62; speed in parts per billion
 * (TL_PPB: the reference). All of it is integer arithmetic, but for the draws of sizes, so
 * sums close exactly and cutting advance() at any instants changes nothing.
 *
 * What happens at one instant t, in this order:
 *   1. services end and requests leave, replica by replica in order of addition (the order
 *      in which the replicas were added); a replica that becomes free looks at its queue;
 *   2. arrivals at t, in the order they were fed;
 *   3. batching delays run out, in the order of addition;
 *   then what the owner does at t: adding, removing, changing speed, closing a window.
 *
 * Routing. Every rule sees the accepting replicas (present, not draining) in order of
 * addition. "Next" is the first candidate after the last one chosen, in that order, cyclic.
 *   round-robin        the next of all
 *   random             a keyed draw, uniform
 *   shortest queue     the next of those with the least load (requests waiting and in service)
 *   power of two       two different ones by a keyed draw; the lesser load, ties to the first
 *   shared queue       one central FIFO in front of all; a replica that can take requests
 *                      takes them, the next one where several can (M/M/c of the books)
 * A draw is that of (seed, service, number of the request, tries): word w gives
 * ⌊w·n / 2^64⌋ of n; power of two uses the two halves of w.
 *
 * A room holds requests that no replica has: the central FIFO of `shared queue`, and under
 * the other rules those that come while no replica accepts; when one does, they are routed
 * in order, then all idle replicas look.
 *
 * Batches. A replica that is free starts a batch when batch_limit requests wait or the first
 * of them has waited batch_delay_ns since it arrived; it takes what is there, up to the limit,
 * in order. With delay 0 a request that finds a free replica starts at once. Who takes a batch
 * keeps it to its end; members leave together. "First" is the head of the queue. A draining
 * replica waits for its delay too. A delay that runs out at t is seen by whoever looks at t:
 * an arrival that joins then starts the batch, and one after it at t is too late.
 *
 * Bound. A new request that cannot start at once and finds queue_limit requests waiting (in
 * service does not count) at the replica it was routed to is dropped; 0 makes a loss system.
 * The bound of the room is queue_limit × max(1, accepting replicas). Requests that are
 * already in are never dropped by a bound.
 *
 * Timeout. A request that has waited longer than timeout_ns when its turn comes (it is at
 * the head, or would be taken into a batch, of a replica that is free) is not served but
 * leaves, timed out. Until then it takes a place in the queue.
 *
 * Speed. Work is in reference ns; a batch with work w takes ⌈w · 10^9 / speed⌉. When the
 * speed changes, what is done (floored) is taken off and the rest is timed anew.
 *
 * LLM (continuous batching). A replica has batch_limit members at most, each joins at once
 * if there is room (no delay) and leaves with its own last token. The engine's time goes to
 * prefill first: a joining member adds context × prefill_ns, and while prefill is outstanding
 * nobody decodes; else all m members get a token each step_ns + member_ns · m. Steps are a
 * continuous count of 2^-16 steps, floored at each change of membership or speed; a member
 * that joins at step V leaves when the count reaches V + max(1, generated). With batches that
 * start and end together this is T = prefill · Σ context + step · max generated +
 * member · Σ generated. What it leaves out: chunked prefill, memory of the cache, paging.
 *
 * Cost a request: O(1) for round-robin, random and power of two (amortised); O(log n) on n
 * replicas for the end of a batch under shortest queue and shared queue, O(n / 64) to choose;
 * O(log batch_limit) more for an LLM. Adding, removing and changing speed are O(n), killing
 * O(requests there) more (an LLM's members are sorted, O(members²)). Memory: 24 bytes a
 * request that waits, 8 one that is fed (an LLM's 16), 90 KiB the engine.
 */
#ifndef TIDELAB_WORK_REQUESTS_H
#define TIDELAB_WORK_REQUESTS_H

#include "sim/base/error.h"
#include "sim/base/histogram.h"
#include "sim/base/units.h"
#include "sim/work/service_time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tl_routing {
	TL_ROUTE_ROUND_ROBIN,
	TL_ROUTE_RANDOM,
	TL_ROUTE_SHORTEST_QUEUE,
	TL_ROUTE_POWER_OF_TWO,
	TL_ROUTE_SHARED_QUEUE
};

#define TL_REQUESTS_UNBOUNDED UINT32_MAX /* queue_limit: none */
#define TL_BATCH_LIMIT_MAX UINT32_C(4096)
#define TL_REQUESTS_TIME_MAX (INT64_C(1) << 62)

struct tl_request_model {
	struct tl_service_time service;
	enum tl_routing routing;
	uint32_t batch_limit;   /* 1 … TL_BATCH_LIMIT_MAX */
	uint32_t queue_limit;   /* ≥ 1 with a batching delay */
	int64_t batch_delay_ns; /* 0 for an LLM */
	int64_t timeout_ns;     /* ≥ batch_delay_ns; TL_NEVER: none */
	int64_t target_ns;      /* of latency; TL_NEVER: every served request attains it */
};

/* TL_E_CONFIG with what, got and wanted. */
enum tl_status tl_request_model_check(const struct tl_request_model *model, struct tl_error *error);

/* What happened in a window (open at its start, closed at its end), or up to now.
 *
 *   queued + in_service at the start + arrivals
 *       = served + dropped + timed_out + queued + in_service at the end
 * and over a run, in integers (Little's law):
 *   Σ in_system_ns = Σ (wait_ns + service_ns + timed_out_ns) + what those still in have had.
 */
struct tl_request_window {
	int64_t start_ns, end_ns;
	uint64_t arrivals;
	uint64_t served;  /* left in this window, whenever they arrived */
	uint64_t dropped; /* refused by a bound */
	uint64_t timed_out;
	uint64_t attained;            /* of the served: latency ≤ target_ns */
	uint64_t retried;             /* sent back by a killed replica; not a new arrival */
	uint64_t batches;             /* ended (LLM: members that left) */
	uint64_t queued;              /* at the end, in the room too */
	uint64_t in_service;          /* at the end */
	uint32_t accepting, draining; /* replicas at the end */
	tl_u128 wait_ns;              /* Σ over served: (last) start of service − arrival */
	tl_u128 service_ns;           /* Σ over served: end − start of service */
	tl_u128 timed_out_ns;         /* Σ over timed out: leaving − arrival */
	tl_u128 in_system_ns;         /* ∫ requests queued and in service dt */
	tl_u128 busy_ns;              /* ∫ replicas with something in service dt */
	tl_u128 present_ns;           /* ∫ replicas, accepting or draining, dt */
	int64_t mean_wait_ns;         /* of served, rounded down; −1: none. Quantiles too */
	int64_t p50_ns, p95_ns, p99_ns, p999_ns; /* of latency = wait + service, served */
	/* Latencies; the engine's, valid until the window after is closed. */
	const struct tl_histogram *latency;
};

struct tl_requests;

/* The model is copied (an empirical list is borrowed) and must have passed the check. The
 * clock begins at start_ns. */
struct tl_requests *tl_requests_create(const struct tl_request_model *model, uint64_t seed,
                                       uint32_t service, int64_t start_ns);
void tl_requests_destroy(struct tl_requests *q);

/* Takes over (copies) the next n arrivals, ascending, none before the clock or the last fed
 * one; equal times are kept in order. They are numbered on from the last. tokens: an LLM's,
 * one a request, or NULL: drawn. TL_E_DATA, and nothing taken, where the order or a token
 * count (≤ TL_SERVICE_MAX_TOKENS) is broken. */
enum tl_status tl_requests_feed(struct tl_requests *q, const int64_t *times_ns,
                                const struct tl_service_tokens *tokens, size_t n,
                                struct tl_error *error);

/* Everything that happens before or at to_ns ≥ the clock. The arrivals up to then must have
 * been fed. Those below begin with an advance to now_ns. */
void tl_requests_advance(struct tl_requests *q, int64_t to_ns);

/* Keys are the owner's names of replicas, one a present replica. A wrong key, instant or
 * speed is the caller's error, and asserted. speed_ppb > 0. */
void tl_requests_replica_add(struct tl_requests *q, int64_t now_ns, uint64_t key,
                             int64_t speed_ppb);
void tl_requests_replica_speed(struct tl_requests *q, int64_t now_ns, uint64_t key,
                               int64_t speed_ppb);

enum tl_replica_removal {
	TL_REPLICA_DRAIN, /* takes nothing new, ends what it has (its queue too), then is gone */
	/* Gone at once. What it had goes back to be routed, from the last to the first each to
	 * the front of the queue it is routed to (or of the room), so their order is kept; with
	 * the original time of arrival and the same draw of its size, the service done so far
	 * lost. Then all free replicas look, in order of addition. A draining one may be killed. */
	TL_REPLICA_KILL
};
void tl_requests_replica_remove(struct tl_requests *q, int64_t now_ns, uint64_t key,
                                enum tl_replica_removal mode);

/* The next drained replica, in order of addition, that has nothing left and has not been
 * told yet: its key (free to be used again) and the instant from which it was empty. */
bool tl_requests_replica_drained(struct tl_requests *q, uint64_t *key, int64_t *at_ns);

/* Requests waiting at and in service of a present replica, at the clock. */
uint64_t tl_requests_replica_load(const struct tl_requests *q, uint64_t key);

/* Advances to end_ns, tells the window since the last one closed and opens the next. */
void tl_requests_window(struct tl_requests *q, int64_t end_ns, struct tl_request_window *out);
/* The same over all closed windows; its histogram is valid until the next window. */
void tl_requests_total(const struct tl_requests *q, struct tl_request_window *out);

int64_t tl_requests_clock(const struct tl_requests *q);

enum tl_request_fate { TL_REQUEST_SERVED, TL_REQUEST_DROPPED, TL_REQUEST_TIMED_OUT };

struct tl_request_left {
	uint64_t number; /* from 0, in the order fed */
	int64_t arrival_ns;
	int64_t start_ns; /* served: of its last service; else −1 */
	int64_t leave_ns;
	uint64_t replica; /* served: the key; else 0 */
	uint32_t batch;   /* served: members of its batch (LLM: when it left, itself too) */
	uint32_t tries;   /* times it was sent back */
	enum tl_request_fate fate;
};

/* Called for every request that leaves, before advance() returns; those of one replica in
 * order, but of several in none that means anything. NULL: nobody (the default). */
typedef void tl_request_observer(void *context, const struct tl_request_left *left);
void tl_requests_observe(struct tl_requests *q, tl_request_observer *observer, void *context);

#endif
