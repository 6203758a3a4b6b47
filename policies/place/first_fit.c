/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first node that has room, in the order of the cluster's list. O(nodes) at worst. */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

struct first_fit {
	struct tl_placer placer;
};

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	static const struct tl_place_rule rule = {.ties = TL_TIES_FIRST};
	struct first_fit *own = self;

	return tl_place_by_score(&own->placer, &rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	if (tl_module_instance(host, with, sizeof(struct first_fit), self) != 0)
		return -1;
	((struct first_fit *)*self)->placer.host = host;
	return 0;
}

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "first-fit",
    .version = "1.0",
    .summary = "the first node that has room",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
