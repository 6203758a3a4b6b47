/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One service of a trial, for services.c (replicas, scaling) and service_windows.c
 * (requests, windows, figures) alone. */
#ifndef TIDELAB_PLANE_SERVICE_CORE_H
#define TIDELAB_PLANE_SERVICE_CORE_H

#include "sim/base/histogram.h"
#include "sim/plane/world.h"
#include "sim/work/fluid.h"
#include "sim/work/requests.h"
#include "workloads/arrivals.h"

/* Between the quantiles that a fluid window tells, and above the last. */
enum { TL_SPREAD_PARTS = 5, TL_SPREAD_STEPS = 32 };

/* Sums over closed windows, exact and fluid alike. */
struct tl_service_run {
	uint64_t arrivals, served, lost, attained, fluid_requests;
	uint64_t unsure_requests; /* of fluid ones, those beyond the formulas' bound */
	tl_u128 wait_ns, busy_ns, present_ns;
	struct tl_histogram *latency;
	double owed[TL_SPREAD_PARTS][TL_SPREAD_STEPS]; /* of it, by fluid windows: below 1 each */
};

/* Of one service: those whose window has not closed yet, and how the others did. */
struct tl_forecasts {
	struct tl_forecast *items; /* in order of asking */
	size_t count, capacity;
	uint64_t compared;
	double error; /* Σ |forecast − what came| / what came */
	tl_i128 lead_ns;
};

struct tl_service {
	const struct tl_service_setting *setting;
	struct tl_requests *requests;
	struct tl_fluid *fluid;
	/* The window that is open is not simulated yet: told by formulas at its end, unless a
	 * change of replicas or speeds asks for the requests themselves before. */
	bool deferred;
	int64_t index;    /* of the open window */
	uint32_t changes; /* of replicas or speeds in it */
	struct tl_service_run run;
	struct tl_forecasts forecasts;
	struct tl_arrivals *arrivals;
	struct tl_arrivals *plan; /* the same without bursts and surges */
	struct tl_arrival_block block;
	struct tl_service_tokens *tokens;
	size_t token_capacity;
	const struct tl_shape *shape;
	uint32_t tenant, queue, account;
	struct tl_id_list replicas; /* every live one, in order of submission */
	struct tl_table *table;
	bool *has_image; /* by node */
	bool *hot;
	struct tl_service_view view; /* as policies see it: measurements as old as the monitor */
	int64_t breach_ns;           /* Σ over windows with p99 above target */
	int64_t breach_since_ns;     /* start of the run of breached windows up to now; TL_NONE */
	/* Of its replicas' time booked since the last window closed. */
	tl_i128 wall_ns, booked_mgpu_ns, slow_mgpu_ns;
	int32_t measured_milli; /* of the last closed window: what each replica used of a GPU */
	uint64_t starts, cold_starts;
	uint64_t scale_ups, scale_downs;
	tl_job_id departing; /* drained, being ended; 0 */
};

/* What a monitor saw of a service. */
struct tl_look {
	struct tl_service_view view;
	int32_t measured_milli; /* what each replica used of a GPU */
};

struct tl_services {
	struct tl_service *items;
	uint32_t count;
	int64_t window_ns;
	int64_t next_window;
	/* What the monitor has looked at and does not show yet: a row of all services a look. */
	struct tl_look *looks;
	uint32_t look_room, look_first, look_count;
};

/* A window has closed: what was said of its instants is compared. O(forecasts to come). */
void tl_forecasts_window(struct tl_forecasts *forecasts, const struct tl_request_window *window);
void tl_forecasts_fini(struct tl_forecasts *forecasts);

/* The service's part of a window that is being closed: see service_windows.c. */
void tl_service_materialise(struct tl_trial *trial, struct tl_service *service);

#endif
