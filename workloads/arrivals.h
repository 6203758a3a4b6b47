/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests that reach an online service, window by window.
 *
 * Window i is [i W, (i + 1) W). What arrives in it is a function of (seed, service, i)
 * alone: windows may be asked in any order, once, again or never, so a window that is
 * only counted (fluid) leaves all other traffic as it was.
 *
 * Traffic is a base and what is laid over it, each part from streams of its own:
 *   base     Poisson of the process's rate, or the recording
 *   burst    mmpp: in the burst state, a further (factor − 1) × rate. States alternate,
 *            their lengths exponential; the state at time 0 is the stationary one
 *   events   calendar events, then scripted surges, in the order given. One of factor
 *            m(t) ≥ 1 lays a further (m − 1) × of all traffic before it over it; one
 *            below 1 keeps each request with probability m(t)
 * So another surge, event or burst changes no request of the base: an incident and the
 * day without it share theirs bit for bit, and a surge of 0.5 keeps a subset of what
 * 0.8 keeps.
 *
 * Poisson parts: a window is cut where the rate jumps or bends; the count of each piece is
 * Poisson of the rate's integral (Simpson's rule), its times are uniform, drawn in order
 * as normalised sums of exponentials (Devroye, Non-Uniform Random Variate Generation,
 * 1986, V.3): the rate is constant within a piece.
 *
 * Recorded requests: `scale` whole or broken copies. The first is the recording itself,
 * each further one (and each of an event's) is the recording moved by up to ten minutes,
 * around its end; of the last only its share is kept, request by request. Client rates
 * (servegen): each client is a renewal process of its family, started in equilibrium in each
 * of the recording's windows, at its rate × `scale`.
 */
#ifndef TIDELAB_WORKLOADS_ARRIVALS_H
#define TIDELAB_WORKLOADS_ARRIVALS_H

#include "sim/base/error.h"
#include "traces/requests_read.h"
#include "workloads/arrivals_curve.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_ARRIVAL_EVENTS_MAX = 250, TL_ARRIVAL_SERVICES_MAX = 1 << 16 };

enum tl_arrival_process {
	TL_ARRIVALS_POISSON, /* rate_rps, always */
	TL_ARRIVALS_NHPP,    /* rate_rps × curve */
	TL_ARRIVALS_MMPP,    /* the same with bursts */
	TL_ARRIVALS_TRACE,
	TL_ARRIVALS_PROCESS_COUNT
};
extern const char *const tl_arrival_process_names[TL_ARRIVALS_PROCESS_COUNT];

/* Factor 1 → factor over [at, at + ramp), factor until at + for, back to 1 until
 * at + for + ramp. */
struct tl_arrival_event {
	int64_t at_ns, for_ns, ramp_ns; /* for ≥ ramp ≥ 0, for > 0 */
	double factor;                  /* 0 to 1000 */
};

struct tl_arrival_spec {
	enum tl_arrival_process process;
	int64_t window_ns; /* 1 ms to 1 h; 5 s */
	double rate_rps;   /* mean (poisson), at the curve's 1 (nhpp, mmpp) */
	struct tl_curve_spec curve;
	double burst_factor;       /* ≥ 1; 3 */
	int64_t burst_ns, calm_ns; /* mean lengths, ≥ 1 ms; 1 min, 10 min */
	const struct tl_request_trace *trace;
	double scale; /* of the recording; > 0; 1 */
	bool repeat;  /* it starts over after its span, else it ends; true */
	/* 0: so long that the recording's mean rate holds across the seam; else at least up to
	 * its last request. Client rates: all windows, not to be set. */
	int64_t span_ns;
	const struct tl_arrival_event *events, *surges;
	size_t event_count, surge_count; /* ≤ TL_ARRIVAL_EVENTS_MAX each */
};
void tl_arrival_spec_default(struct tl_arrival_spec *spec);

/* One window's requests. Zeroed by the caller at first; buffers are reused. */
struct tl_arrival_block {
	int64_t start_ns, end_ns;
	size_t count;
	int64_t *times_ns; /* ascending, in [start, end) */
	/* of each, where the process has them (has_tokens), else not to be read */
	int32_t *context_tokens, *generated_tokens;
	bool has_tokens;
	size_t capacity;
};
void tl_arrival_block_fini(struct tl_arrival_block *block);

struct tl_arrivals; /* opaque; one thread */

/* The spec is copied; its trace must outlive the arrivals, its arrays need not. service: its
 * number, < TL_ARRIVAL_SERVICES_MAX. TL_E_CONFIG: an impossible spec. */
enum tl_status tl_arrivals_create(const struct tl_arrival_spec *spec, uint64_t seed,
                                  uint32_t service, struct tl_arrivals **out,
                                  struct tl_error *error);
void tl_arrivals_destroy(struct tl_arrivals *arrivals);

/* index in 0 … 2^37 − 1 (of 2^24 windows of a client recording). */
void tl_arrivals_window(struct tl_arrivals *arrivals, int64_t index, struct tl_arrival_block *out);
/* out->count of the same window; Poisson parts are not materialised for it unless an
 * event below 1 touches the window. */
uint64_t tl_arrivals_count(struct tl_arrivals *arrivals, int64_t index);
/* Requests a second expected at t ≥ 0, knowing curve, events, burst state; for recorded requests
 * the mean of the minute around t. What an oracle forecasts. */
double tl_arrivals_rate(struct tl_arrivals *arrivals, int64_t t_ns);
int64_t tl_arrivals_window_ns(const struct tl_arrivals *arrivals);

#endif
