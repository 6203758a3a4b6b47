/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any node that has room, each as likely, and any card of it: drawn from a hash of view,
 * shape and node (card), so that asking twice gives the same. A floor for comparisons.
 * O(nodes + their GPUs). */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

struct random_fit {
	struct tl_placer placer;
};

static void pick(void *self, const struct tl_candidate *at, uint32_t *out)
{
	uint64_t seed = tl_hash_more(tl_place_seed(at->view, at->shape), at->node->version);
	uint64_t best = 0;

	(void)self;
	out[0] = TL_NO_INDEX;
	for (uint32_t g = at->node->first_gpu; g < at->node->first_gpu + at->node->gpu_count; g++) {
		uint64_t draw = tl_hash_more(seed, g);

		if (tl_fit_gpu(tl_view_gpu(at->view, g), at->worker) &&
		    (out[0] == TL_NO_INDEX || draw > best)) {
			best = draw;
			out[0] = g;
		}
	}
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	static const struct tl_place_rule rule = {.pick = pick, .ties = TL_TIES_RANDOM};
	struct random_fit *own = self;

	return tl_place_by_score(&own->placer, &rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	if (tl_module_instance(host, with, sizeof(struct random_fit), self) != 0)
		return -1;
	((struct random_fit *)*self)->placer.host = host;
	return 0;
}

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "random",
    .version = "1.0",
    .summary = "any node that has room, each as likely",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
