/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How demand moves with the calendar: a factor on a service's peak rate.
 *
 * factor(t) = day(t) × weekend(t) × launch(t), where
 *   day      1/r + (1 − 1/r) ((1 + cos 2π (hour − peak_hour) / 24) / 2)^sharpness, r being
 *            peak_trough: 1 at the peak, 1/r twelve hours away; or the user's points,
 *            linear between them
 *   weekend  `weekend` on Saturday and Sunday, 1 else; over the four hours around the
 *            midnight between, linear
 *   launch   1 + (launch_factor − 1) e^(−(t − launch) / decay) since the last launch, 1
 *            before the first
 */
#ifndef TIDELAB_WORKLOADS_ARRIVALS_CURVE_H
#define TIDELAB_WORKLOADS_ARRIVALS_CURVE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct tl_curve_point {
	double hour, factor;
};

struct tl_curve_spec {
	int64_t start_ns;        /* of the week at time 0, since Monday 00:00; 0 */
	double peak_trough;      /* 1 (flat) to 1000; 5 */
	double peak_hour;        /* 0 to 24; 20. A night service's lies twelve hours away */
	double sharpness;        /* 0.25 to 8; 1 */
	double weekend;          /* 1.2 */
	double launch_factor;    /* ≥ 1; 1: none */
	int64_t launch_ns;       /* on the scenario's clock; may be < 0 */
	int64_t launch_every_ns; /* 0: once */
	int64_t launch_decay_ns; /* > 0; 7 d */
	/* instead of the daily shape: the first at hour 0, hours ascending, the last before
	 * the period's end, factors ≥ 0. The caller's; must outlive what is made from it. */
	const struct tl_curve_point *points;
	size_t point_count;
	int64_t period_ns; /* after which points repeat; 0: the last one holds; 1 d */
};
void tl_curve_default(struct tl_curve_spec *curve);
/* TL_E_CONFIG: what is impossible, got, wanted. */
enum tl_status tl_curve_check(const struct tl_curve_spec *curve, struct tl_error *error);

double tl_curve_at(const struct tl_curve_spec *curve, int64_t t_ns);
/* The next instant after t at which the curve jumps or bends; TL_NEVER. */
int64_t tl_curve_next_bend(const struct tl_curve_spec *curve, int64_t t_ns);
/* No factor is above. */
double tl_curve_max(const struct tl_curve_spec *curve);

#endif
