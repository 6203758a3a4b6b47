/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the queues of runs settle, from when on, and what the runs were like from there.
 * Judged by what waits for GPUs in /cluster/timeline: the cut by MSER-5, saturation as in
 * analysis/stats.h. Runs without a file of their own or without the table are not judged.
 */
#ifndef TIDELAB_ANALYSIS_SETTLING_H
#define TIDELAB_ANALYSIS_SETTLING_H

#include "analysis/runs.h"

struct tl_settling {
	size_t judged;     /* runs */
	size_t saturated;  /* of them, the queue never settles */
	size_t unsettled;  /* of the others, the warm-up had no end in the first half */
	int64_t warmup_ns; /* the longest warm-up of those that settled */
	int64_t length_ns; /* the longest timeline */
};

enum tl_status tl_settling_judge(const struct tl_runs *runs, struct tl_settling *out,
                                 struct tl_error *error);

/* Adds what the runs were like from from_ns on, NaN where a run has not the table:
 * `steady:pending_gpus`, `steady:allocation_ratio` (means over the timeline's samples),
 * `steady:wait_mean_s` and `steady:jct_mean_s` (over jobs submitted from then on that
 * started, that ended after a start). */
enum tl_status tl_settling_add_steady(struct tl_runs *runs, int64_t from_ns,
                                      struct tl_error *error);

#endif
