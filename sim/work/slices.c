/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/slices.h"

#include "sim/base/units.h"

#include <string.h>

enum { SLICED_SMS = 98 };

static const struct tl_slice slices[] = {
    {"1g.5gb", 14, 1, 0},  {"1g.10gb", 14, 2, 1}, {"1g.20gb", 14, 0, 2}, {"2g.10gb", 28, 2, 0},
    {"2g.20gb", 28, 0, 2}, {"3g.20gb", 42, 4, 0}, {"3g.40gb", 42, 0, 4}, {"4g.20gb", 56, 4, 0},
    {"4g.40gb", 56, 0, 4}, {"7g.40gb", 98, 8, 0}, {"7g.80gb", 98, 0, 8},
};
enum { COUNT = sizeof slices / sizeof slices[0] };

const struct tl_slice *tl_slice_at(int32_t number)
{
	return number >= 1 && number <= COUNT ? &slices[number - 1] : NULL;
}

int64_t tl_slice_share_mgpu(const struct tl_slice *slice)
{
	return TL_MGPU_PER_GPU * slice->sms / SLICED_SMS;
}

/* The same of both cards where both have it. */
int64_t tl_slice_memory_bytes(const struct tl_slice *slice)
{
	return slice->eighths_80 > 0 ? slice->eighths_80 * 10 * TL_GIB
	                             : slice->eighths_40 * 5 * TL_GIB;
}

uint64_t tl_slice_models(const struct tl_slice *slice, const struct tl_cluster_spec *spec)
{
	uint64_t mask = 0;

	for (size_t m = 0; m < spec->model_count; m++) {
		const struct tl_gpu_model *model = &spec->models[m];
		int64_t eighths = model->memory_bytes == 40 * TL_GIB   ? slice->eighths_40
		                  : model->memory_bytes == 80 * TL_GIB ? slice->eighths_80
		                                                       : 0;

		if (eighths > 0 && strncmp(model->name, "A100", 4) == 0)
			mask |= UINT64_C(1) << m;
	}
	return mask;
}
