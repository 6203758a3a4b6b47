/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrivals inside: the parts a window's traffic is made of. */
#ifndef TIDELAB_WORKLOADS_ARRIVALS_PARTS_H
#define TIDELAB_WORKLOADS_ARRIVALS_PARTS_H

#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "workloads/arrivals.h"

/* What a part's draws are keyed by, beside seed and service. Numbers are never moved:
 * results depend on them. Event i: EVENT + i, surge i: SURGE + i. */
enum tl_arrival_component {
	TL_COMPONENT_BASE = 0,
	TL_COMPONENT_BURST = 1,
	TL_COMPONENT_CHAIN = 2, /* the burst state */
	TL_COMPONENT_EVENT = 4,
	TL_COMPONENT_SURGE = 256
};
enum tl_arrival_purpose { TL_PURPOSE_COUNT, TL_PURPOSE_TIME };

enum { TL_ENTITY_WINDOW_BITS = 37, TL_CLIENT_BLOCK_BITS = 24 };

/* One layer over the base; see the public header. */
struct tl_arrival_layer {
	struct tl_arrival_event event;
	unsigned component;
};

/* The window of a client recording that was drawn last for a component. */
struct tl_client_block {
	int64_t index; /* −1: none */
	int64_t *times_ns;
	size_t count, capacity;
};

struct tl_arrivals {
	struct tl_arrival_spec spec; /* events and surges are in layers */
	struct tl_curve_point *points;
	uint64_t seed;
	uint32_t service;
	struct tl_arrival_layer *layers;
	size_t layer_count;
	gsl_rng *gsl;
	/* mmpp */
	bool starts_in_burst;
	int64_t *flips_ns; /* changes of state, ascending */
	size_t flip_count, flip_capacity, flip_near;
	/* recorded requests */
	const struct tl_recorded_request *requests;
	size_t request_count;
	/* client rates */
	const struct tl_client *clients;
	size_t client_count, client_windows;
	int64_t client_window_ns;
	struct tl_client_block *blocks; /* of the base and of each layer */
	/* working space */
	double *sums;
	size_t sum_capacity;
	struct tl_arrival_block extra, counted;
};

uint64_t tl_arrival_entity(const struct tl_arrivals *arrivals, unsigned component,
                           enum tl_arrival_purpose purpose, uint64_t window);

/* Factor of an event at t, and the next instant after t at which it bends. */
double tl_arrival_event_at(const struct tl_arrival_event *event, int64_t t_ns);
int64_t tl_arrival_event_next_bend(const struct tl_arrival_event *event, int64_t t_ns);
/* Of all layers before `end` (a number), multiplied. */
double tl_arrival_layers_at(const struct tl_arrivals *arrivals, size_t end, int64_t t_ns);

/* Room for `more` requests after the block's. */
void tl_arrival_block_room(struct tl_arrival_block *block, size_t more);

/* Appends to out the part of a process for a component in [start, end), out being empty:
 * multiplicity(t) is how many times the base, 0 … `most` (which it never exceeds).
 * copies: recorded requests; clients: client rates. layer: SIZE_MAX: the base's
 * own, multiplicity `scale`; else that event's share over what is below it. */
void tl_arrival_copies(struct tl_arrivals *arrivals, size_t layer, int64_t start_ns, int64_t end_ns,
                       struct tl_arrival_block *out);
void tl_arrival_clients(struct tl_arrivals *arrivals, size_t layer, int64_t start_ns,
                        int64_t end_ns, struct tl_arrival_block *out);
double tl_arrival_copies_rate(const struct tl_arrivals *arrivals, int64_t t_ns);
double tl_arrival_clients_rate(const struct tl_arrivals *arrivals, int64_t t_ns);

/* How many times the base a layer lays over it at t, and at most; SIZE_MAX: `scale`. */
double tl_arrival_multiplicity(const struct tl_arrivals *arrivals, size_t layer, int64_t t_ns);
double tl_arrival_multiplicity_max(const struct tl_arrivals *arrivals, size_t layer);

/* Whether the burst state holds at t, and when it next changes. */
bool tl_arrival_in_burst(struct tl_arrivals *arrivals, int64_t t_ns, int64_t *until_ns);

#endif
