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
	const struct tl_host *host;
	const struct tl_calendar *plan;
	struct tl_scale_state *states;
	struct tl_scale_rule rule;
	int64_t lead_ns, check_ns;
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
                       .help = "load that both parts aim at"},
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
    [OPTION_CHECK] = {.name = "check",
                      .type = TL_OPTION_DURATION,
                      .unit = "",
                      .standard = "30s",
                      .min = 1e6,
                      .max = 8.64e13,
                      .help = "between looks; long ones add to every reaction"},
    [OPTION_DOWN_AFTER] = {.name = "down_after",
                           .type = TL_OPTION_DURATION,
                           .unit = "",
                           .standard = "5min",
                           .min = 0,
                           .max = 8.64e13,
                           .help = "low for so long before replicas go; short ones thrash"},
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct calendar_threshold *c = self;
	int64_t rate_per_ks =
	    tl_calendar_peak_per_ks(c->plan, c->host, service, now_ns, c->lead_ns);
	uint32_t planned = tl_scale_for_rate(view, rate_per_ks, c->rule.target_milli);
	uint32_t ruled = tl_scale_threshold(&c->rule, &c->states[service], view, now_ns);

	return planned > ruled ? planned : ruled;
}

static uint32_t targets(void *self, int64_t now_ns, const struct tl_changes *changes,
                        struct tl_scale_target *out, uint32_t room)
{
	struct calendar_threshold *c = self;

	(void)changes;
	return tl_scale_each(c->host, c->states, c->check_ns, now_ns, wanted, c, out, room);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct calendar_threshold), self) != 0)
		return -1;
	struct calendar_threshold *c = *self;

	c->host = host;
	c->lead_ns = values[OPTION_LEAD].i;
	c->check_ns = values[OPTION_CHECK].i;
	c->rule = (struct tl_scale_rule){
	    .metric = TL_SCALE_LOAD,
	    .high_milli = (int64_t)(values[OPTION_HIGH].f * 1000.0 + 0.5),
	    .low_milli = (int64_t)(values[OPTION_LOW].f * 1000.0 + 0.5),
	    .target_milli = (int64_t)(values[OPTION_TARGET].f * 1000.0 + 0.5),
	    .down_after_ns = values[OPTION_DOWN_AFTER].i};
	if (c->rule.low_milli >= c->rule.high_milli)
		return tl_module_fail(create, "low: wanted less than high");
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
    .name = "calendar-threshold",
    .version = "1.0",
    .summary = "the plan for the tide, a threshold for what was not planned",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
