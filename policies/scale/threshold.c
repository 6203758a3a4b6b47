/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Above a threshold, as many replicas as bring the measure to its target; below another
 * one for long enough, as many fewer. Looks once a check interval. O(services) a look.
 */
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum {
	OPTION_METRIC,
	OPTION_HIGH,
	OPTION_LOW,
	OPTION_TARGET,
	OPTION_CHECK,
	OPTION_DOWN_AFTER,
	OPTION_COUNT
};

struct threshold {
	struct tl_scaler scaler;
	struct tl_scale_rule rule;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_METRIC] = {.name = "metric",
                       .type = TL_OPTION_CHOICE,
                       .unit = "",
                       .standard = "load",
                       .choices = TL_SCALE_METRICS,
                       .help =
                           "load of capacity, mean wait or p99 over the SLO's target, or requests "
                           "queued per replica over ten"},
    [OPTION_HIGH] = {.name = "high",
                     .type = TL_OPTION_REAL,
                     .unit = "of the measure",
                     .standard = "0.8",
                     .min = 0.01,
                     .max = 100,
                     .help = "grow above it; too high and p99 breaks first, too low and GPUs idle"},
    [OPTION_LOW] = {.name = "low",
                    .type = TL_OPTION_REAL,
                    .unit = "of the measure",
                    .standard = "0.5",
                    .min = 0,
                    .max = 100,
                    .help = "shrink below it; close to `high` it swings"},
    [OPTION_TARGET] = {.name = "target",
                       .type = TL_OPTION_REAL,
                       .unit = "of the measure",
                       .standard = "0.7",
                       .min = 0.01,
                       .max = 100,
                       .help = "what a change aims at"},
    [OPTION_CHECK] = TL_SCALE_OPTION_CHECK("30s", "between looks; long ones add to every reaction"),
    [OPTION_DOWN_AFTER] = TL_SCALE_OPTION_DOWN_AFTER,
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct threshold *t = self;

	return tl_scale_threshold(&t->rule, &t->scaler.states[service], view, now_ns);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct threshold), self) != 0)
		return -1;
	struct threshold *t = *self;

	t->rule = (struct tl_scale_rule){.metric = (enum tl_scale_metric)values[OPTION_METRIC].i,
	                                 .high_milli = tl_module_milli(values[OPTION_HIGH]),
	                                 .low_milli = tl_module_milli(values[OPTION_LOW]),
	                                 .target_milli = tl_module_milli(values[OPTION_TARGET]),
	                                 .down_after_ns = values[OPTION_DOWN_AFTER].i};
	if (t->rule.low_milli >= t->rule.high_milli)
		return tl_module_fail(create, "low: wanted less than high");
	return tl_scaler_init(&t->scaler, host, create, values[OPTION_CHECK].i, wanted);
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = tl_scaler_targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .name = "threshold",
    .version = "1.0",
    .summary = "grows above a threshold, shrinks below another",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
