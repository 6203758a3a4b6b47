/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Room a node at a time: the cheapest victims, no faster than a node each step. Gentle to
 * the storage and to training, slow where traffic doubles.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

enum { OPTION_MIN_RUN, OPTION_WAIT_AFTER, OPTION_STEP, OPTION_COUNT };

struct progressive {
	const struct tl_host *host;
	struct tl_victim_list list;
	struct tl_victim_pace pace;
	int64_t wait_after_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_MIN_RUN] = TL_VICTIM_MIN_RUN,
    [OPTION_WAIT_AFTER] = TL_VICTIM_WAITED,
    [OPTION_STEP] = {.name = "step",
                     .type = TL_OPTION_DURATION,
                     .unit = "",
                     .standard = "30s",
                     .min = 0,
                     .max = 8.64e13,
                     .help = "a node's victims each step; long ones leave an overload standing, "
                             "short ones load the storage and stop more than a passing peak needs"},
};

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct progressive *p = self;

	if (ask->job->service == TL_NO_INDEX && !tl_victim_waited(p->host, ask, p->wait_after_ns))
		return 0;
	if (tl_victims_gather(&p->list, p->host, ask) != 0)
		return 0;
	return tl_victims_step(&p->list, &p->pace, p->host, ask, out);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct progressive), self) != 0)
		return -1;
	struct progressive *p = *self;

	p->host = host;
	p->list.min_run_ns = values[OPTION_MIN_RUN].i;
	p->wait_after_ns = values[OPTION_WAIT_AFTER].i;
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
