/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Replicas for what the forecast seat expects a little ahead, or for what is there now
 * where that is more. O(services) a look, and what the forecast costs.
 */
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum { OPTION_AHEAD, OPTION_TARGET, OPTION_CHECK, OPTION_COUNT };

struct predictive {
	struct tl_scaler scaler;
	struct tl_seat forecast;
	int64_t ahead_ns, target_milli;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_AHEAD] =
	{.name = "ahead",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "5min",
         .min = 0,
         .max = 8.64e13,
         .help =
             "how far ahead; shorter than a start-up it comes late, the farther the worse the forecast"},
    [OPTION_TARGET] = TL_SCALE_OPTION_LOAD("load at the expected rate"),
    [OPTION_CHECK] = TL_SCALE_OPTION_CHECK("30s", "between looks"),
};

static uint32_t wanted(void *self, uint32_t service, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct predictive *p = self;
	const struct tl_forecast_ops *forecast = p->forecast.ops;
	int64_t expected_per_ks =
	    forecast->rate_per_ks(p->forecast.self, service, now_ns + p->ahead_ns);
	int64_t rate_per_ks = tl_scale_rate_per_ks(view);

	return tl_scale_for_rate(
	    view, expected_per_ks > rate_per_ks ? expected_per_ks : rate_per_ks, p->target_milli);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct predictive), self) != 0)
		return -1;
	struct predictive *p = *self;

	p->ahead_ns = values[OPTION_AHEAD].i;
	p->target_milli = tl_module_milli(values[OPTION_TARGET]);
	p->forecast = host->seat(host, TL_SEAT_FORECAST);
	if (!p->forecast.module)
		return tl_module_fail(create, "wanted a module in the forecast seat");
	return tl_scaler_init(&p->scaler, host, create, values[OPTION_CHECK].i, wanted);
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = tl_scaler_targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .capabilities = TL_NEEDS_SERVICES,
    .name = "predictive",
    .version = "1.0",
    .summary = "replicas for what the forecast seat expects a little ahead",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
