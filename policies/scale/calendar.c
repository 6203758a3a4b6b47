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
	struct tl_scaler scaler;
	const struct tl_calendar *plan;
	int64_t lead_ns, target_milli;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_LEAD] = TL_CALENDAR_OPTION_LEAD,
    [OPTION_TARGET] = TL_SCALE_OPTION_LOAD("load at the planned rate"),
    [OPTION_CHECK] = TL_SCALE_OPTION_CHECK("60s", "between looks"),
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct calendar *c = self;

	return tl_scale_for_rate(
	    view, tl_calendar_peak_per_ks(c->plan, c->scaler.host, service, now_ns, c->lead_ns),
	    c->target_milli);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct calendar), self) != 0)
		return -1;
	struct calendar *c = *self;

	c->lead_ns = values[OPTION_LEAD].i;
	c->target_milli = tl_module_milli(values[OPTION_TARGET]);
	c->plan = tl_calendar_of(host);
	if (!c->plan)
		return tl_module_fail(create, "the host has no calendar");
	return tl_scaler_init(&c->scaler, host, create, values[OPTION_CHECK].i, wanted);
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = tl_scaler_targets};

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
