/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shortest remaining time first, by estimate: what is left of it after the time already
 * run. A running job's key falls as it runs, below 0 once it has outrun its estimate. Jobs
 * without an estimate go last. Needs a preempt module to be more than SJF with a memory.
 */
#include "policies/lib/module.h"

#define UNKNOWN_KEY (INT64_C(1) << 61)

static struct tl_key key_of(const struct tl_job_view *job, int64_t now_ns)
{
	struct tl_key key = {.key = UNKNOWN_KEY, .valid_until_ns = TL_TIME_NEVER};
	if (job->estimate_ns < 0 || job->estimate_ns >= UNKNOWN_KEY)
		return key;
	key.key = job->estimate_ns - job->attained_ns;
	if (job->state == TL_JOB_RUNNING) {
		key.key -= now_ns - job->attained_mark_ns;
		key.slope_per_ns = -1;
	}
	return key;
}

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	(void)self;
	for (uint32_t i = 0; i < n; i++)
		out[i] = key_of(tl_jobs_at(jobs, ids[i]), now_ns);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	return tl_module_instance(host, create, sizeof(char), self);
}

static const struct tl_order_ops ops = {.struct_size = sizeof(ops), .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .capabilities = TL_NEEDS_ESTIMATES,
    .name = "srtf",
    .version = "1.0",
    .summary = "shortest remaining time first, by estimate",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
