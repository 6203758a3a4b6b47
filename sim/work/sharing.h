/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What co-tenants of a GPU cost each other, and what distance costs a gang.
 */
#ifndef TIDELAB_WORK_SHARING_H
#define TIDELAB_WORK_SHARING_H

#include "policies/abi/tidelab_policy.h"

#include <stdint.h>

/* Speed of each co-tenant by their combined GPU utilisation in thousandths (of the whole
 * GPU, may pass 1000), in parts per billion: 0.99 up to 60 %, 0.96 to 80 %, 0.85 to
 * 100 %, above it 0.80 / Σu (measured pairs of Hu et al., "Lucid", ASPLOS'23; model §2). */
int64_t tl_sharing_speed_ppb(int64_t combined_milli);

/* Slow-down of a gang by its widest distance, in thousandths; node, pod and across are the
 * scenario's floors (model §5). */
int32_t tl_sharing_slow_milli(enum tl_distance spread, int32_t node_milli, int32_t pod_milli,
                              int32_t across_milli);

/* A job's own utilisation where the trace is silent: a keyed draw, two uniform pieces
 * about the median with mean 0.52 (model §2: median 0.49, mean 0.52 as in Philly). */
int32_t tl_sharing_draw_utilisation_milli(uint64_t seed, uint64_t row, double median);

#endif
