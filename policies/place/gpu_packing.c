/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that are partly used first, then idle GPUs of nodes in use, then idle nodes: the
 * baseline of that name in Weng et al., ATC 2023. CPU-only work goes anywhere. O(nodes +
 * their GPUs). */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { OPTION_TIES, OPTION_COUNT };
enum { CARDS_MAX = 64, RANK = 1 << 24 };

struct gpu_packing {
	struct tl_placer placer;
	struct tl_place_rule rule;
};

static int64_t score(void *self, const struct tl_candidate *at)
{
	uint32_t cards[CARDS_MAX], idle = 0;
	int64_t left = 0;

	(void)self;
	if (at->worker->gpus == 0 || at->worker->gpus > CARDS_MAX)
		return 0;
	/* An idle node: last, and the smallest of them first. */
	if (at->node->free_gpus == at->node->gpu_count)
		return RANK - (int64_t)at->node->gpu_count;
	tl_fit_pick(at->view, at->node, at->worker, NULL, TL_FIT_TIGHT, cards);
	for (uint32_t i = 0; i < at->worker->gpus; i++) {
		int32_t free_mgpu = tl_view_gpu(at->view, cards[i])->free_mgpu;

		idle += free_mgpu == TL_FIT_WHOLE_MGPU;
		left += free_mgpu;
	}
	/* Idle cards of a node in use: as few as can be. Cards in use: with the least left. */
	return idle > 0 ? 2 * (int64_t)RANK - idle : 3 * (int64_t)RANK - left;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct gpu_packing *own = self;

	return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct gpu_packing *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->placer.host = host;
	own->rule = (struct tl_place_rule){.score = score,
	                                   .ties = (enum tl_ties)with->options[OPTION_TIES].i};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_TIES] = TL_TIES_OPTION("first"),
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "gpu-packing",
    .version = "1.0",
    .summary = "used GPUs first, then idle GPUs of used nodes, then idle nodes",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
