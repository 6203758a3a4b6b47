/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An order policy in one file: the job that asks for most GPUs goes first, but one that
 * has waited long enough passes them all. See policies/README.md.
 */
#include "policies/lib/module.h"

struct biggest_first {
	const struct tl_host *host;
	int64_t patience_ns;
};

/* The lesser key goes first; ties go by submission. A key holds until valid_until_ns, so
 * that nothing is polled. */
static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	const struct biggest_first *own = self;

	for (uint32_t i = 0; i < n; i++) {
		const struct tl_job_view *job = tl_jobs_at(jobs, ids[i]);
		const struct tl_shape *shape = own->host->shape(own->host, job->shape);
		int64_t patience_ends_ns = TL_TIME_NEVER;

		if (job->waiting_since_ns >= 0 &&
		    job->waiting_since_ns < TL_TIME_NEVER - own->patience_ns)
			patience_ends_ns = job->waiting_since_ns + own->patience_ns;
		out[i] =
		    (struct tl_key){.key = -shape->total_mgpu, .valid_until_ns = patience_ends_ns};
		if (patience_ends_ns <= now_ns)
			out[i] = (struct tl_key){.key = INT32_MIN * INT64_C(1000),
			                         .valid_until_ns = TL_TIME_NEVER};
	}
}

enum { OPTION_PATIENCE, OPTION_COUNT };

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct biggest_first *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->host = host;
	own->patience_ns = with->options[OPTION_PATIENCE].i;
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_PATIENCE] = {.name = "patience",
                         .type = TL_OPTION_DURATION,
                         .unit = "ns",
                         .standard = "1d",
                         .min = 1e9,
                         .max = 31536e12,
                         .help = "a job that has waited so long goes before all others; too long "
                                 "starves small jobs"},
};

static const struct tl_order_ops ops = {.struct_size = sizeof ops, .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .name = "biggest-first",
    .version = "1.0",
    .summary = "example: most GPUs first, the long-waiting before all",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
