/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The requests of one service, a window at a time: what sim/work/requests.h works out one
 * by one, told from arrival rate, ready replicas and speed by queueing formulas, with a bound of
 * its own error.
 *
 * In equilibrium (load < 1, nothing left over from before). c replicas, load ρ:
 *   shared queue     M/G/c. P(wait) by Erlang's C. Mean wait between M/M/c and M/D/c by the
 *                    scv of service (Kimura, "Approximations for multi-server queues",
 *                    1994), M/D/c by Cosmetatos (1976); exact for M/M/c, and for c = 1
 *                    (Pollaczek–Khinchine). Arrivals of another scv: × (ca² + cs²)/(1 + cs²)
 *                    (Allen, Cunneen)
 *   random           c separate M/G/1
 *   round-robin      c separate GI/G/1 whose arrivals have scv ca²/c: mean wait by Kraemer
 *                    and Langenbach-Belz, P(wait) by Whitt ("The queueing network
 *                    analyzer", BSTJ 1983)
 *   shortest queue   that of the shared queue, but a request that waits does so for a whole
 *                    server: see sim/work/fluid_queue.c
 *   power of two     the mean-field limit, P(queue ≥ k) = ρ^(2^k − 1) (Vvedenskaya et al.
 *                    1996; Mitzenmacher 2001), between it and shortest queue at few replicas
 * The wait is 0 or exponential (exact for M/M/c, asymptotically for light tails), and is
 * added to a service time drawn apart from it.
 *
 * Batches: the chain of queue lengths at the ends of batches, solved exactly for Poisson
 * arrivals at each replica (random); see sim/work/fluid_batch.c for the others. A batch's
 * time is α + β b, or the mean of the greatest of b draws.
 *
 * LLM: members share the engine: T = (prefill C + step G) / (1 − λ (prefill C + member G)),
 * nobody waits for a place.
 *
 * Out of equilibrium (load ≥ 0.98, or a queue left over): the queue grows or drains at
 * the difference of rates, up to its bound, and a request waits for what is before it, and
 * no less than in equilibrium just below full load.
 *
 * `valid` says that error_bound holds. It does where load is at most a limit by routing
 * and replicas, no queue is left over, replicas and speed have not changed, the window is long
 * against the queue's relaxation, and loss, timeout and batching delay play no part.
 * error_bound is relative, of the stationary mean latency and its p50, p95 and p99;
 * p999 within twice that. A window of n requests scatters around those by itself, and
 * `attained` is off by what the bound moves over the target: little where the target is far in
 * the tail, much where most requests are close to it.
 * Measured against the exact engine in tests/property/test_fluid_exact.c.
 *
 * Cost: answers are kept by replicas and load (steps of 1/64, between them linear): some 0.3 µs
 * a window, and 0.1 to 10 ms (batch limit 32) for one not seen before. They do not depend
 * on the order of asking.
 */
#ifndef TIDELAB_WORK_FLUID_H
#define TIDELAB_WORK_FLUID_H

#include "sim/work/requests.h"

struct tl_fluid; /* opaque */

/* The model is copied (an empirical list is borrowed) and must have passed its check. */
struct tl_fluid *tl_fluid_create(const struct tl_request_model *model);
void tl_fluid_destroy(struct tl_fluid *fluid);

struct tl_fluid_input {
	int64_t start_ns, end_ns;
	uint64_t arrivals;
	double arrival_scv; /* of gaps; 1: Poisson */
	uint32_t replicas;  /* ready, all window long */
	int64_t speed_ppb;  /* their mean; > 0 where replicas > 0 */
	bool changed;       /* replicas or speeds changed in the window, or are not alike */
};

struct tl_fluid_quality {
	bool valid;
	double error_bound; /* 0.1: 10 % */
	double load;        /* arrival rate / (replicas × capacity); INFINITY without replicas */
	const char *why;    /* it is not valid (static); "" */
};

/* One window after the other; the queue at its end is carried into the next. Fills all of
 * out but draining, retried and latency (0, 0 and NULL). */
void tl_fluid_window(struct tl_fluid *fluid, const struct tl_fluid_input *input,
                     struct tl_request_window *out, struct tl_fluid_quality *quality);

/* Waiting requests carried over, for a service that goes from exact to fluid; and back. */
void tl_fluid_set_queue(struct tl_fluid *fluid, double requests);
double tl_fluid_queue(const struct tl_fluid *fluid);

/* Requests a second of one replica at speed 1 and full batches. */
double tl_fluid_capacity(const struct tl_fluid *fluid);

/* Erlang's loss and delay formulas for c servers and a offered erlangs; C is 1 for a ≥ c.
 * Relative error below 10^-12 for c up to 10^6. O(c). */
double tl_erlang_b(uint32_t servers, double offered);
double tl_erlang_c(uint32_t servers, double offered);

#endif
