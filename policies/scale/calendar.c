/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replicas for the traffic that the calendar plans, a lead time ahead: they are ready when
 * the tide comes, and stay until it has gone. O(services) a look.
 */
#include "policies/lib/calendar.h"
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum { OPTION_LEAD, OPTION_TARGET, OPTION_CHECK, OPTION_COUNT };

struct calendar {
	const struct tl_host *host;
	const struct tl_calendar *plan;
	struct tl_scale_state *states;
	int64_t lead_ns, target_milli, check_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_LEAD] =
	{.name = "lead",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "30min",
         .min = 0,
         .max = 8.64e13,
         .help = "ahead of the plan; shorter than a cold start it comes late, longer it idles"},
    [OPTION_TARGET] = {.name = "target",
                       .type = TL_OPTION_REAL,
                       .unit = "of capacity",
                       .standard = "0.7",
                       .min = 0.01,
                       .max = 1,
                       .help = "load at the planned rate"},
    [OPTION_CHECK] = {.name = "check",
                      .type = TL_OPTION_DURATION,
                      .unit = "",
                      .standard = "60s",
                      .min = 1e6,
                      .max = 8.64e13,
                      .help = "between looks"},
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct calendar *c = self;

	return tl_scale_for_rate(
	    view, tl_calendar_peak_per_ks(c->plan, c->host, service, now_ns, c->lead_ns),
	    c->target_milli);
}

static uint32_t targets(void *self, int64_t now_ns, const struct tl_changes *changes,
                        struct tl_scale_target *out, uint32_t room)
{
	struct calendar *c = self;

	(void)changes;
	return tl_scale_each(c->host, c->states, c->check_ns, now_ns, wanted, c, out, room);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct calendar), self) != 0)
		return -1;
	struct calendar *c = *self;

	c->host = host;
	c->lead_ns = values[OPTION_LEAD].i;
	c->target_milli = (int64_t)(values[OPTION_TARGET].f * 1000.0 + 0.5);
	c->check_ns = values[OPTION_CHECK].i;
	c->plan = tl_calendar_of(host);
	if (!c->plan)
		return tl_module_fail(create, "the host has no calendar");
	c->states = tl_scale_states(host);
	return c->states ? 0 : tl_module_fail(create, "out of memory");
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .capabilities = TL_NEEDS_SERVICES,
    .name = "calendar",
    .version = "1.0",
    .summary = "replicas for the planned traffic, a lead time ahead",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
