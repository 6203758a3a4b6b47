/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An order policy that misbehaves while it is loaded, as TIDELAB_TEST_LOAD says. */
#include "tests/hostile/modules/misbehave.h"

#include <stdlib.h>
#include <string.h>

static __attribute__((constructor)) void at_load(void)
{
	const char *how = getenv("TIDELAB_TEST_LOAD");

	if (how == NULL)
		return;
	if (strcmp(how, "crash") == 0)
		abort();
	if (strcmp(how, "exit") == 0)
		exit(0);
	while (strcmp(how, "hang") == 0)
		;
}

static __attribute__((destructor)) void at_unload(void)
{
	const char *how = getenv("TIDELAB_TEST_LOAD");

	if (how != NULL && strcmp(how, "unload") == 0)
		abort();
}

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
    MISBEHAVE_TEXTS("bad-load"),
    .create = misbehave_create,
    .ops = &ops,
};
