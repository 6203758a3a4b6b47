/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shortest job first, by the estimate of the whole run time; jobs without one go last. */
#include "policies/lib/module.h"

#define UNKNOWN_KEY (INT64_C(1) << 61)

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	(void)self;
	(void)now_ns;
	for (uint32_t i = 0; i < n; i++) {
		int64_t estimate_ns = tl_jobs_at(jobs, ids[i])->estimate_ns;
		int known = estimate_ns >= 0 && estimate_ns < UNKNOWN_KEY;
		out[i] = (struct tl_key){.key = known ? estimate_ns : UNKNOWN_KEY,
		                         .valid_until_ns = TL_TIME_NEVER};
	}
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_order_ops ops = {.struct_size = sizeof(ops), .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .capabilities = TL_NEEDS_ESTIMATES,
    .name = "sjf",
    .version = "1.0",
    .summary = "shortest job first, by estimate",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
