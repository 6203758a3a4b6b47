/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lets everything in. */
#include "policies/lib/module.h"

static enum tl_verdict screen(void *self, const struct tl_job_view *job,
                              const struct tl_shape *shape, const char **why)
{
	(void)self;
	(void)job;
	(void)shape;
	(void)why;
	return TL_ADMIT;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_admit_ops ops = {.struct_size = sizeof(ops), .screen = screen};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ADMIT),
    .name = "open",
    .version = "1.0",
    .summary = "lets everything in",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
