/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Slices by name: what each holds, and whose they are. */
#include "sim/base/units.h"
#include "sim/config/schema.h"
#include "sim/work/slices.h"

#include <criterion/criterion.h>

static const struct {
	const char *name;
	int64_t share_mgpu, memory_gib;
	uint64_t models; /* of those below */
} wanted[] = {{"1g.5gb", 142, 5, 2},    {"1g.10gb", 142, 10, 3}, {"1g.20gb", 142, 20, 1},
              {"2g.10gb", 285, 10, 2},  {"2g.20gb", 285, 20, 1}, {"3g.20gb", 428, 20, 2},
              {"3g.40gb", 428, 40, 1},  {"4g.20gb", 571, 20, 2}, {"4g.40gb", 571, 40, 1},
              {"7g.40gb", 1000, 40, 2}, {"7g.80gb", 1000, 80, 1}};
enum { COUNT = sizeof wanted / sizeof wanted[0] };

Test(slices, hold_what_the_card_s_list_says)
{
	struct tl_gpu_model models[] = {{.name = "A100-SXM4-80GB", .memory_bytes = 80 * TL_GIB},
	                                {.name = "A100-PCIE-40GB", .memory_bytes = 40 * TL_GIB},
	                                {.name = "H100-SXM5-80GB", .memory_bytes = 80 * TL_GIB},
	                                {.name = "A100-odd", .memory_bytes = 64 * TL_GIB},
	                                {.name = "A100-unknown", .memory_bytes = TL_NONE}};
	const struct tl_cluster_spec spec = {.models = models, .model_count = 5};

	for (int32_t i = 0; i < COUNT; i++) {
		const struct tl_slice *slice = tl_slice_at(i + 1);

		cr_assert_str_eq(slice->name, wanted[i].name);
		cr_assert_eq(tl_choice_index(TL_SLICE_CHOICES, slice->name), i + 1);
		cr_assert_eq(tl_slice_share_mgpu(slice), wanted[i].share_mgpu);
		cr_assert_eq(tl_slice_memory_bytes(slice), wanted[i].memory_gib * TL_GIB);
		cr_assert_eq(tl_slice_models(slice, &spec), wanted[i].models, "%s", slice->name);
	}
	cr_assert_null(tl_slice_at(0));
	cr_assert_null(tl_slice_at(COUNT + 1));
	cr_assert_null(tl_slice_at(-1));
}
