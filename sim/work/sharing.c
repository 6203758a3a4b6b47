/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/sharing.h"

#include "sim/base/rng.h"
#include "sim/base/units.h"

#include <math.h>

#define PPB_PER_MILLI (TL_PPB / 1000)

/* Steps, and what is done together beyond the last, in millionths of the GPU. */
static int64_t by_steps(const struct tl_sharing_step *steps, size_t count, int64_t beyond_micro,
                        int64_t combined_milli)
{
	for (size_t i = 0; i < count; i++)
		if (combined_milli <= steps[i].up_to_milli)
			return steps[i].speed_milli * PPB_PER_MILLI;
	return beyond_micro * PPB_PER_MILLI / combined_milli;
}

int64_t tl_sharing_speed_ppb(const struct tl_sharing *sharing, int64_t combined_milli,
                             uint32_t tenants)
{
	static const struct tl_sharing_step lucid[] = {{600, 990}, {800, 960}, {1000, 850}};
	static const struct tl_sharing_step gavel[] = {{1000, 680}};
	const struct tl_sharing_step *last;

	switch (sharing->kind) {
	case TL_SHARING_LUCID:
		return by_steps(lucid, sizeof lucid / sizeof lucid[0], 800 * 1000, combined_milli);
	case TL_SHARING_GAVEL:
		return by_steps(gavel, 1, 680 * 1000, combined_milli);
	case TL_SHARING_TIME_SLICE:
		return 900 * PPB_PER_MILLI / tenants;
	case TL_SHARING_CUSTOM:
		break;
	}
	last = &sharing->steps[sharing->step_count - 1];
	return by_steps(sharing->steps, sharing->step_count, last->up_to_milli * last->speed_milli,
	                combined_milli);
}

int64_t tl_sharing_left_ppb(const struct tl_sharing *sharing, int64_t guaranteed_milli,
                            int64_t own_milli)
{
	int64_t together_milli = guaranteed_milli + own_milli;
	int64_t each_ppb = tl_sharing_speed_ppb(sharing, together_milli, 2);
	int64_t least_ppb = 10 * PPB_PER_MILLI, left_ppb = each_ppb;

	if (own_milli > 0)
		left_ppb = (together_milli * each_ppb - guaranteed_milli * TL_PPB) / own_milli;
	return left_ppb > least_ppb ? left_ppb : least_ppb;
}

int32_t tl_sharing_slow_milli(enum tl_distance spread, int32_t node_milli, int32_t pod_milli,
                              int32_t across_milli)
{
	switch (spread) {
	case TL_SAME_GPU:
	case TL_SAME_PAIR:
	case TL_SAME_NODE:
		return node_milli;
	case TL_SAME_RACK:
	case TL_SAME_LEAF:
	case TL_SAME_POD:
		return pod_milli;
	case TL_ACROSS:
		break;
	}
	return across_milli;
}

/* The median of the pieces, and where the lower one begins: their mean is
 * (lowest + 2·median + 1) / 4, with 0 ≤ lowest ≤ median ≤ 1. */
static void pieces(const struct tl_sharing *sharing, double *lowest, double *median)
{
	const double mean_over_median = 0.52 / 0.49;
	double mean = sharing->utilisation_mean;

	*median = sharing->utilisation_median;
	if (mean >= 0.0) {
		*median = mean / mean_over_median;
		*median = fmax(*median, (4.0 * mean - 1.0) / 3.0);
		*median = fmin(*median, (4.0 * mean - 1.0) / 2.0);
	} else {
		mean = mean_over_median * *median;
	}
	*lowest = fmin(fmax(4.0 * mean - 2.0 * *median - 1.0, 0.0), *median);
}

int32_t tl_sharing_draw_utilisation_milli(const struct tl_sharing *sharing, uint64_t seed,
                                          uint64_t row)
{
	double u = (double)(tl_rng_at(seed, TL_STREAM_UTILISATION, row, 0) >> 11) * 0x1.0p-53;
	double lowest, median;

	pieces(sharing, &lowest, &median);
	double value = u < 0.5 ? lowest + (median - lowest) * 2.0 * u
	                       : median + (1.0 - median) * (2.0 * u - 1.0);
	return (int32_t)(value * 1000.0 + 0.5);
}
