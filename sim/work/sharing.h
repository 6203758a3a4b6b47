/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What co-tenants of a GPU cost each other, and what distance costs a gang.
 */
#ifndef TIDELAB_WORK_SHARING_H
#define TIDELAB_WORK_SHARING_H

#include "policies/abi/tidelab_policy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How fast co-tenants are, by the sum of what each would use of the GPU alone (Σu). */
enum tl_sharing_kind {
	TL_SHARING_LUCID,      /* measured pairs of Hu et al., "Lucid", ASPLOS'23: 0.99 up to 60 %,
	                          0.96 to 80 %, 0.85 to 100 %, above it 0.80 / Σu */
	TL_SHARING_GAVEL,      /* the median pair of Narayanan et al., "Gavel", OSDI'20: 0.68, and
	                          0.68 / Σu above 100 %: a pessimist's */
	TL_SHARING_TIME_SLICE, /* the n that run get 0.9 / n each, whatever they use */
	TL_SHARING_CUSTOM      /* steps of one's own */
};

/* Up to so much together (thousandths), each is so fast (thousandths). */
struct tl_sharing_step {
	int64_t up_to_milli, speed_milli;
};

enum { TL_SHARING_STEPS_MAX = 32 };

/* Who keeps its speed on an oversubscribed GPU before its co-tenant. */
enum tl_guaranteed { TL_GUARANTEED_NONE, TL_GUARANTEED_SERVICES, TL_GUARANTEED_INFERENCE };

struct tl_sharing {
	bool interference; /* false: co-tenants cost nothing */
	enum tl_sharing_kind kind;
	enum tl_guaranteed guaranteed;
	/* CUSTOM: by utilisation; beyond the last, as much is done together as there. */
	struct tl_sharing_step steps[TL_SHARING_STEPS_MAX];
	size_t step_count;
	/* A job's own utilisation where the trace is silent, or of all jobs. */
	bool all_drawn;
	double utilisation_mean;   /* < 0: what the median brings */
	double utilisation_median; /* default 0.49, which brings a mean of 0.52 */
};

/* Speed of each of the co-tenants that run, in parts per billion; > 0. */
int64_t tl_sharing_speed_ppb(const struct tl_sharing *sharing, int64_t combined_milli,
                             uint32_t tenants);

/* Speed of an opportunistic tenant that alone would use so much of the GPU, beside a
 * guaranteed one, which keeps its own: what is left of all they would do together by the
 * table, but never below a hundredth [A], so that it does not stand still for ever. */
int64_t tl_sharing_left_ppb(const struct tl_sharing *sharing, int64_t guaranteed_milli,
                            int64_t own_milli);

/* Slow-down of a gang by its widest distance, in thousandths; node, pod and across are the
 * scenario's floors (model §5). */
int32_t tl_sharing_slow_milli(enum tl_distance spread, int32_t node_milli, int32_t pod_milli,
                              int32_t across_milli);

/* A job's own utilisation where the trace is silent: a keyed draw, two uniform pieces of
 * equal weight about a median (model §2: median 0.49, mean 0.52 as in Philly). With a mean
 * stated (0.25 … 1), the median is as near to 0.49 / 0.52 of it as such pieces allow. */
int32_t tl_sharing_draw_utilisation_milli(const struct tl_sharing *sharing, uint64_t seed,
                                          uint64_t row);

#endif
