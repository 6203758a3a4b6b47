/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A running job's progress in closed form: periodic checkpoints are never events.
 *
 * While a job runs, wall time is cut into cycles of three parts:
 *   run `interval` (progress) | stall (none) | drain (progress), then the commit.
 * A blocking checkpoint stalls for its whole write and drains for nothing; an
 * asynchronous one stalls briefly and drains for the rest of the write. What a commit
 * makes safe is the work done when the write began. Without checkpoints a cycle never ends.
 *
 * Work is whole reference nanoseconds, speed whole parts per billion: a job ends at
 * anchor + the least time after which floor(run time × speed) covers what is left.
 */
#ifndef TIDELAB_WORK_PROGRESS_H
#define TIDELAB_WORK_PROGRESS_H

#include "sim/base/units.h"

struct tl_checkpoint_plan {
	int64_t interval_ns; /* running time before a write; TL_NEVER: no checkpoints */
	int64_t stall_ns, drain_ns;
};

struct tl_progress {
	struct tl_checkpoint_plan plan;
	int64_t work_ns;      /* wanted, reference; TL_NEVER: never ends */
	int64_t done_ns;      /* at the anchor, provisional included */
	int64_t committed_ns; /* of it, safe */
	int64_t snapshot_ns;  /* of it, in the write under way at the anchor */
	int64_t anchor_ns;    /* instant */
	int64_t cycle_ns;     /* position in the cycle at the anchor */
	int64_t speed_ppb;    /* > 0 */
};

/* What a stretch of running brought. wall = run + stalled. */
struct tl_stretch {
	int64_t wall_ns, run_ns, work_ns;
};

/* Begins a segment (a start or resume): a fresh cycle at now. */
void tl_progress_begin(struct tl_progress *progress, int64_t now_ns, int64_t speed_ppb);
/* Brings done, committed, snapshot and cycle to now ≥ anchor and anchors there. */
struct tl_stretch tl_progress_settle(struct tl_progress *progress, int64_t now_ns);
/* Everything done so far is safe (a save has finished). */
void tl_progress_commit(struct tl_progress *progress);
/* Falls back to what is safe; returns the work lost. */
int64_t tl_progress_roll_back(struct tl_progress *progress);
/* The instant at which the work is complete at this speed; TL_NEVER. */
int64_t tl_progress_end(const struct tl_progress *progress);
/* The instant of the last commit (or the segment's begin) as of the anchor, from which
 * further ones follow each period. */
int64_t tl_progress_cycle_start(const struct tl_progress *progress);
/* Length of a cycle; 0 without checkpoints. */
int64_t tl_progress_period(const struct tl_checkpoint_plan *plan);

/* Young's interval √(2 δ M) for a write of δ and a mean time M between interruptions
 * (J. W. Young, "A first order approximation to the optimum checkpoint interval",
 * CACM 17(9), 1974). Whole nanoseconds, rounded down, at least 1 s. */
int64_t tl_checkpoint_optimal_ns(int64_t write_ns, int64_t mean_time_between_ns);

#endif
