/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room at once: the cheapest victims that make it, all together. Fast, and the most
 * saves at a time on the storage.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

enum { OPTION_MIN_RUN, OPTION_WAIT_AFTER, OPTION_COUNT };

struct batch {
	const struct tl_host *host;
	struct tl_victim_list list;
	int64_t wait_after_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_MIN_RUN] = TL_VICTIM_MIN_RUN,
    [OPTION_WAIT_AFTER] = TL_VICTIM_WAITED,
};

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct batch *p = self;

	if (ask->job->service == TL_NO_INDEX && !tl_victim_waited(p->host, ask, p->wait_after_ns))
		return 0;
	if (tl_victims_gather(&p->list, p->host, ask) != 0)
		return 0;
	return tl_victims_choose(&p->list, ask, out);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct batch), self) != 0)
		return -1;
	struct batch *p = *self;

	p->host = host;
	p->list.min_run_ns = values[OPTION_MIN_RUN].i;
	p->wait_after_ns = values[OPTION_WAIT_AFTER].i;
	return 0;
}

static const struct tl_preempt_ops ops = {.struct_size = sizeof(ops), .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),           .name = "batch",    .version = "1.0",
    .summary = "stops the cheapest at once",   .options = options, .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option), .create = create,   .ops = &ops,
};
