/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The node with the most left of GPU shares and CPU, each over the largest node's, and on it
 * the card with the most left: spreads load, and so spares neighbours and fragments. O(nodes
 * + their GPUs). */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { OPTION_TIES, OPTION_COUNT };
enum { PPB = 1000000000 };

struct worst_fit {
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct tl_fit_largest largest;
};

static int64_t score(void *self, const struct tl_candidate *at)
{
	const struct worst_fit *own = self;

	return at->node->free_mgpu * PPB / own->largest.mgpu +
	       at->node->free_cpu_milli * PPB / own->largest.cpu_milli;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct worst_fit *own = self;

	own->largest = tl_fit_largest(view);
	return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct worst_fit *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->placer.host = host;
	own->rule = (struct tl_place_rule){.score = score,
	                                   .self = own,
	                                   .ties = (enum tl_ties)with->options[OPTION_TIES].i,
	                                   .style = TL_FIT_LOOSE};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_TIES] = TL_TIES_OPTION("first"),
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "worst-fit",
    .version = "1.0",
    .summary = "the node that has most left: spreads load",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
