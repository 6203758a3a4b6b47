/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the generator's files share: the presets' numbers, and the cycles. */
#ifndef TIDELAB_WORKLOADS_GENERATE_PARTS_H
#define TIDELAB_WORKLOADS_GENERATE_PARTS_H

#include "workloads/generate.h"

enum {
	TL_PRESET_SIZES_MAX = 12,
	TL_HOURS_OF_DAY = 24,
	TL_DAYS_OF_WEEK = 7,
	TL_BATCH_JOBS_MAX = 1 << 20 /* a job's key has this many bits for its number in a batch */
};
enum { TL_ENTITY_BITS = 24 }; /* of 64 in a key */

struct tl_size_share {
	int32_t mgpu;
	double share;
};

struct tl_preset {
	double rate_per_h, dispersion;
	double mu, sigma, cancelled, failed, utilisation, cores;
	double inference, evaluation, simulation;
	struct tl_size_share sizes[TL_PRESET_SIZES_MAX]; /* ends with mgpu 0 */
};
extern const struct tl_preset tl_presets[TL_PRESET_COUNT];
extern const double tl_hour_factor[TL_HOURS_OF_DAY]; /* mean 1 */
extern const double tl_day_factor[TL_DAYS_OF_WEEK];  /* mean 1, Monday first */

#endif
