/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/sharing.h"

#include "sim/base/rng.h"
#include "sim/base/units.h"

int64_t tl_sharing_speed_ppb(int64_t combined_milli)
{
	if (combined_milli <= 600)
		return 990 * (TL_PPB / 1000);
	if (combined_milli <= 800)
		return 960 * (TL_PPB / 1000);
	if (combined_milli <= 1000)
		return 850 * (TL_PPB / 1000);
	return 800 * TL_PPB / combined_milli;
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

int32_t tl_sharing_draw_utilisation_milli(uint64_t seed, uint64_t row, double median)
{
	/* Pieces [lowest, median] and [median, 1] of equal weight: the mean is
	 * (lowest + 2·median + 1) / 4, so lowest = 0.10 gives 0.52 at the default median. */
	const double mean_over_median = 0.52 / 0.49;
	double lowest = 4.0 * mean_over_median * median - 2.0 * median - 1.0;
	double u = (double)(tl_rng_at(seed, TL_STREAM_UTILISATION, row, 0) >> 11) * 0x1.0p-53;

	if (lowest < 0.0)
		lowest = 0.0;
	if (lowest > median)
		lowest = median;
	double value = u < 0.5 ? lowest + (median - lowest) * 2.0 * u
	                       : median + (1.0 - median) * (2.0 * u - 1.0);
	return (int32_t)(value * 1000.0 + 0.5);
}
