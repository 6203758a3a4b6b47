/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fluid approximation inside: one answer in equilibrium, and what it is worked out from. */
#ifndef TIDELAB_WORK_FLUID_CORE_H
#define TIDELAB_WORK_FLUID_CORE_H

#include "sim/work/fluid.h"

enum {
	TL_FLUID_LOADS = 64,    /* load steps an answer is kept for */
	TL_FLUID_POINTS = 25,   /* of a latency distribution */
	TL_FLUID_ATOMS = 256,   /* of a service-time distribution */
	TL_FLUID_BATCH_MAX = 32 /* larger limits are not solved as chains */
};
extern const double tl_fluid_points[TL_FLUID_POINTS]; /* probabilities, ascending, 0 to 1 */

/* At speed 1. */
struct tl_fluid_answer {
	bool known;
	double wait_ns, service_ns; /* means */
	double batch;               /* mean members */
	double busy;                /* share of time a replica has something in service */
	double lost;                /* share of arrivals that find the queue full */
	double full;                /* an LLM: share that finds no place */
	double late;                /* share that waits beyond the timeout; at the window's speed */
	double latency_ns[TL_FLUID_POINTS];
};

struct tl_fluid {
	struct tl_request_model model;
	double mean_ns, scv; /* of one request alone */
	double cube;         /* third moment / mean³ */
	double capacity;     /* requests/ns of a replica, full batches */
	/* quantiles of one request's service and the probability around each */
	double atoms_ns[TL_FLUID_ATOMS], weights[TL_FLUID_ATOMS], ranks[TL_FLUID_ATOMS];
	/* of a batch of b, [1 … limit + 1], up to TL_FLUID_BATCH_MAX: mean time and its scv */
	double *batch_ns, *batch_scv;
	struct tl_fluid_answer **answers; /* by replicas; NULL: none yet */
	size_t answer_capacity;
	double queue; /* left over */
};

/* Weighted latencies, to be told as quantiles. */
struct tl_fluid_mass {
	struct tl_histogram histogram;
};
void tl_fluid_mass_add(struct tl_fluid_mass *mass, double latency_ns, double weight);

/* Quantile p of one request's service time at speed 1. */
double tl_fluid_service_quantile(const struct tl_service_time *service, double p);
/* Fills mean, scv and atoms. */
void tl_fluid_service_fill(struct tl_fluid *fluid);
/* Mean time of a batch of b, which may lie between two numbers; its scv unless NULL. */
double tl_fluid_batch_mean(const struct tl_fluid *fluid, double b, double *scv);

/* One answer: `rate` requests/ns at each of `replicas`, load < 1. */
void tl_fluid_solve_single(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                           struct tl_fluid_mass *mass, struct tl_fluid_answer *out);
void tl_fluid_solve_batch(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                          struct tl_fluid_mass *mass, struct tl_fluid_answer *out);
void tl_fluid_solve_llm(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                        struct tl_fluid_mass *mass, struct tl_fluid_answer *out);

#endif
