/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stops nobody. */
#include "policies/lib/module.h"

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	(void)self;
	(void)ask;
	(void)out;
	return 0;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_preempt_ops ops = {.struct_size = sizeof(ops), .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "none",
    .version = "1.0",
    .summary = "stops nobody",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
