/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room a node at a time: the cheapest victims, no faster than a node each step. Gentle to
 * the storage and to training, slow where traffic doubles.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

enum { OPTION_STEP = TL_VICTIM_OPTION_COUNT, OPTION_COUNT };

struct progressive {
	const struct tl_host *host;
	struct tl_victim_list list;
	struct tl_victim_pace pace;
};

static const struct tl_option options[OPTION_COUNT] = {
    TL_VICTIM_OPTIONS,
    [OPTION_STEP] = TL_VICTIM_STEP,
};

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct progressive *p = self;

	return tl_victims_gather(&p->list, p->host, ask) &&
	       tl_victims_step(&p->list, &p->pace, p->host, ask, out);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct progressive), self) != 0)
		return -1;
	struct progressive *p = *self;

	p->host = host;
	tl_victims_init(&p->list, values);
	p->pace = (struct tl_victim_pace){.step_ns = values[OPTION_STEP].i, .last_ns = -1};
	return 0;
}

static const struct tl_preempt_ops ops = {.struct_size = sizeof(ops), .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "progressive",
    .version = "1.0",
    .summary = "stops the cheapest, a node each step",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
