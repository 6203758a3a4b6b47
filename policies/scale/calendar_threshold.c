/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calendar's replicas or the threshold rule's, whichever are more: the plan for the
 * tide, the rule for what was not planned. O(services) a look.
 */
#include "policies/lib/calendar.h"
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum {
	OPTION_LEAD,
	OPTION_TARGET,
	OPTION_HIGH,
	OPTION_LOW,
	OPTION_CHECK,
	OPTION_DOWN_AFTER,
	OPTION_COUNT
};

struct calendar_threshold {
	struct tl_scaler scaler;
	const struct tl_calendar *plan;
	struct tl_scale_rule rule;
	int64_t lead_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_LEAD] = TL_CALENDAR_OPTION_LEAD,
    [OPTION_TARGET] = TL_SCALE_OPTION_LOAD("load that both parts aim at"),
    [OPTION_HIGH] = {.name = "high",
                     .type = TL_OPTION_REAL,
                     .unit = "of capacity",
                     .standard = "0.8",
                     .min = 0.01,
                     .max = 100,
                     .help = "beyond the plan, grow above this load"},
    [OPTION_LOW] = {.name = "low",
                    .type = TL_OPTION_REAL,
                    .unit = "of capacity",
                    .standard = "0.5",
                    .min = 0,
                    .max = 100,
                    .help = "shrink below this load, never below the plan"},
    [OPTION_CHECK] = TL_SCALE_OPTION_CHECK("30s", "between looks; long ones add to every reaction"),
    [OPTION_DOWN_AFTER] = TL_SCALE_OPTION_DOWN_AFTER,
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct calendar_threshold *c = self;
	int64_t rate_per_ks =
	    tl_calendar_peak_per_ks(c->plan, c->scaler.host, service, now_ns, c->lead_ns);
	uint32_t planned = tl_scale_for_rate(view, rate_per_ks, c->rule.target_milli);
	uint32_t ruled = tl_scale_threshold(&c->rule, &c->scaler.states[service], view, now_ns);

	return planned > ruled ? planned : ruled;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct calendar_threshold), self) != 0)
		return -1;
	struct calendar_threshold *c = *self;

	c->lead_ns = values[OPTION_LEAD].i;
	c->rule = (struct tl_scale_rule){.metric = TL_SCALE_LOAD,
	                                 .high_milli = tl_module_milli(values[OPTION_HIGH]),
	                                 .low_milli = tl_module_milli(values[OPTION_LOW]),
	                                 .target_milli = tl_module_milli(values[OPTION_TARGET]),
	                                 .down_after_ns = values[OPTION_DOWN_AFTER].i};
	if (c->rule.low_milli >= c->rule.high_milli)
		return tl_module_fail(create, "low: wanted less than high");
	c->plan = tl_calendar_of(host);
	if (!c->plan)
		return tl_module_fail(create, "the host has no calendar");
	return tl_scaler_init(&c->scaler, host, create, values[OPTION_CHECK].i, wanted);
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = tl_scaler_targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .capabilities = TL_NEEDS_SERVICES,
    .name = "calendar-threshold",
    .version = "1.0",
    .summary = "the plan for the tide, a threshold for what was not planned",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
