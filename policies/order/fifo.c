/* SPDX-License-Identifier: GPL-3.0-or-later */
/* First come, first served: by order of submission. */
#include "policies/lib/module.h"

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	(void)self;
	(void)jobs;
	(void)ids;
	(void)now_ns;
	for (uint32_t i = 0; i < n; i++)
		out[i] = (struct tl_key){.valid_until_ns = TL_TIME_NEVER};
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_order_ops ops = {.struct_size = sizeof(ops), .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .name = "fifo",
    .version = "1.0",
    .summary = "first come, first served",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
