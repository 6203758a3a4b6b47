/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/progress.h"

#include "sim/base/assert.h"

int64_t tl_progress_period(const struct tl_checkpoint_plan *plan)
{
	if (plan->interval_ns == TL_NEVER)
		return 0;
	return plan->interval_ns + plan->stall_ns + plan->drain_ns;
}

/* Running time between a cycle's start and `position` wall time after it, over any
 * number of cycles. */
static int64_t run_until(const struct tl_checkpoint_plan *plan, int64_t position_ns)
{
	int64_t period_ns = tl_progress_period(plan);

	if (period_ns == 0)
		return position_ns;
	int64_t cycles = position_ns / period_ns;
	int64_t rest_ns = position_ns % period_ns;
	int64_t run_ns = cycles * (plan->interval_ns + plan->drain_ns);

	if (rest_ns <= plan->interval_ns)
		return run_ns + rest_ns;
	if (rest_ns <= plan->interval_ns + plan->stall_ns)
		return run_ns + plan->interval_ns;
	return run_ns + rest_ns - plan->stall_ns;
}

void tl_progress_begin(struct tl_progress *progress, int64_t now_ns, int64_t speed_ppb)
{
	TL_ASSERT(speed_ppb > 0);
	progress->anchor_ns = now_ns;
	progress->cycle_ns = 0;
	progress->speed_ppb = speed_ppb;
	progress->snapshot_ns = progress->done_ns;
}

/* Work done at `position`, floored; never past what is wanted. */
static int64_t done_at(const struct tl_progress *progress, int64_t position_ns)
{
	int64_t run_ns = run_until(&progress->plan, position_ns) -
	                 run_until(&progress->plan, progress->cycle_ns);
	int64_t done_ns = progress->done_ns + tl_work_of_time(run_ns, progress->speed_ppb);

	return done_ns < progress->work_ns ? done_ns : progress->work_ns;
}

struct tl_stretch tl_progress_settle(struct tl_progress *progress, int64_t now_ns)
{
	const struct tl_checkpoint_plan *plan = &progress->plan;
	int64_t period_ns = tl_progress_period(plan);
	struct tl_stretch stretch = {.wall_ns = now_ns - progress->anchor_ns};

	TL_ASSERT(stretch.wall_ns >= 0);
	int64_t position_ns = progress->cycle_ns + stretch.wall_ns;
	int64_t done_ns = done_at(progress, position_ns);

	stretch.run_ns = run_until(plan, position_ns) - run_until(plan, progress->cycle_ns);
	stretch.work_ns = done_ns - progress->done_ns;
	if (period_ns > 0) {
		int64_t cycles = position_ns / period_ns;
		int64_t write_began_ns = (cycles - 1) * period_ns + plan->interval_ns;
		int64_t snapshot_ns = progress->snapshot_ns;

		if (cycles > 0)
			progress->committed_ns = write_began_ns >= progress->cycle_ns
			                             ? done_at(progress, write_began_ns)
			                             : snapshot_ns;
		/* A write under way at the new anchor. */
		int64_t began_ns = cycles * period_ns + plan->interval_ns;
		if (position_ns >= began_ns && began_ns >= progress->cycle_ns)
			snapshot_ns = done_at(progress, began_ns);
		progress->snapshot_ns = snapshot_ns;
		progress->cycle_ns = position_ns % period_ns;
	} else {
		progress->cycle_ns = position_ns;
	}
	progress->done_ns = done_ns;
	progress->anchor_ns = now_ns;
	return stretch;
}

void tl_progress_commit(struct tl_progress *progress)
{
	progress->committed_ns = progress->done_ns;
}

int64_t tl_progress_roll_back(struct tl_progress *progress)
{
	int64_t lost_ns = progress->done_ns - progress->committed_ns;

	TL_ASSERT(lost_ns >= 0);
	progress->done_ns = progress->committed_ns;
	return lost_ns;
}

int64_t tl_progress_end(const struct tl_progress *progress)
{
	const struct tl_checkpoint_plan *plan = &progress->plan;

	if (progress->work_ns == TL_NEVER)
		return TL_NEVER;
	int64_t left_ns = progress->work_ns - progress->done_ns;

	if (left_ns <= 0)
		return progress->anchor_ns;
	int64_t run_ns = tl_time_of_work(left_ns, progress->speed_ppb);
	int64_t period_ns = tl_progress_period(plan);

	if (period_ns == 0 || run_ns == TL_NEVER)
		return tl_time_add(progress->anchor_ns, run_ns);
	/* The least position whose running time reaches the target: work that ends with an
	 * interval does not wait for the checkpoint after it. */
	tl_i128 target_ns = (tl_i128)run_until(plan, progress->cycle_ns) + run_ns;
	tl_i128 per_cycle_ns = (tl_i128)plan->interval_ns + plan->drain_ns;
	tl_i128 cycles = (target_ns - 1) / per_cycle_ns;
	tl_i128 rest_ns = target_ns - cycles * per_cycle_ns;
	tl_i128 position_ns = cycles * period_ns +
	                      (rest_ns <= plan->interval_ns ? rest_ns : rest_ns + plan->stall_ns);
	tl_i128 end_ns = position_ns - progress->cycle_ns + progress->anchor_ns;

	return end_ns < TL_NEVER ? (int64_t)end_ns : TL_NEVER;
}

int64_t tl_progress_cycle_start(const struct tl_progress *progress)
{
	return progress->anchor_ns - progress->cycle_ns;
}

int64_t tl_checkpoint_optimal_ns(int64_t write_ns, int64_t mean_time_between_ns)
{
	tl_u128 square = (tl_u128)2 * (tl_u128)write_ns * (tl_u128)mean_time_between_ns;
	uint64_t low = 0, high = (uint64_t)INT64_MAX;

	while (low < high) { /* the integer root: no libm in a result */
		uint64_t middle = low + (high - low + 1) / 2;

		if ((tl_u128)middle * middle <= square)
			low = middle;
		else
			high = middle - 1;
	}
	return (int64_t)low > TL_NS_PER_S ? (int64_t)low : TL_NS_PER_S;
}
