/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For the order seat: of no use as a scheduler. */
#include "tests/hostile/modules/misbehave.h"

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

static const struct tl_order_ops ops = {.struct_size = sizeof ops, .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    MISBEHAVE_TEXTS("order-only"),
    .create = misbehave_create,
    .ops = &ops,
};
