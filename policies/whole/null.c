/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never starts anything: what is left is the cost of the simulator itself. */
#include "policies/lib/module.h"

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)self;
	(void)changes;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof(ops), .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    .capabilities = TL_NEVER_STARTS,
    .name = "null",
    .version = "1.0",
    .summary = "never starts anything, to measure the simulator alone",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
