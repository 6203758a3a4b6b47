/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any node that has room, each as likely: drawn from a hash of view, shape and node, so that
 * asking twice gives the same. A floor for comparisons. O(nodes). */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

struct random_fit {
	struct tl_placer placer;
};

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	static const struct tl_place_rule rule = {.ties = TL_TIES_RANDOM};
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
