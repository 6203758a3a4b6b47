/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room at once: the cheapest victims that make it, all together. Fast, and the most
 * saves at a time on the storage.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

struct batch {
	const struct tl_host *host;
	struct tl_victim_list list;
};

static const struct tl_option options[TL_VICTIM_OPTION_COUNT] = {
    TL_VICTIM_OPTIONS,
};

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct batch *p = self;

	return tl_victims_gather(&p->list, p->host, ask) && tl_victims_choose(&p->list, ask, out);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct batch), self) != 0)
		return -1;
	struct batch *p = *self;

	p->host = host;
	tl_victims_init(&p->list, values);
	return 0;
}

static const struct tl_preempt_ops ops = {.struct_size = sizeof(ops), .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "batch",
    .version = "1.0",
    .summary = "stops the cheapest at once",
    .options = options,
    .option_count = TL_VICTIM_OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
