/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rule of Kubernetes' horizontal autoscaler: replicas x metric / target, rounded up,
 * unless the ratio is within a tolerance; of the answers within a stabilisation window the
 * highest counts on the way down, the lowest on the way up. O(services) a look.
 */
#include "policies/lib/module.h"
#include "policies/lib/scale.h"

enum {
	OPTION_METRIC,
	OPTION_TARGET,
	OPTION_SYNC,
	OPTION_TOLERANCE,
	OPTION_DOWN_WINDOW,
	OPTION_UP_WINDOW,
	OPTION_COUNT
};

enum { MEMORY = 64 }; /* answers kept a service: the most a window can weigh */

struct answer {
	int64_t t_ns;
	uint32_t replicas;
};

struct service {
	struct answer answers[MEMORY]; /* a ring */
	uint32_t next, count;
};

struct hpa {
	struct tl_scaler scaler;
	struct service *services;
	enum tl_scale_metric metric;
	int64_t target_milli, tolerance_milli, down_window_ns, up_window_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_METRIC] = {.name = "metric",
                       .type = TL_OPTION_CHOICE,
                       .unit = "",
                       .standard = "load",
                       .choices = TL_SCALE_METRICS,
                       .help = "what is held at the target"},
    [OPTION_TARGET] = {.name = "target",
                       .type = TL_OPTION_REAL,
                       .unit = "of the measure",
                       .standard = "0.7",
                       .min = 0.01,
                       .max = 100,
                       .help = "too high breaks p99 at each rise, too low idles GPUs"},
    [OPTION_SYNC] = {.name = "sync",
                     .type = TL_OPTION_DURATION,
                     .unit = "",
                     .standard = "15s",
                     .min = 1e6,
                     .max = 8.64e13,
                     .help = "between looks"},
    [OPTION_TOLERANCE] = {.name = "tolerance",
                          .type = TL_OPTION_REAL,
                          .unit = "of the target",
                          .standard = "0.1",
                          .min = 0,
                          .max = 1,
                          .help = "no change within it; 0 follows every noise"},
    [OPTION_DOWN_WINDOW] = {.name = "down_window",
                            .type = TL_OPTION_DURATION,
                            .unit = "",
                            .standard = "300s",
                            .min = 0,
                            .max = 8.64e13,
                            .help =
                                "down only to the highest answer of this long; short ones thrash"},
    [OPTION_UP_WINDOW] = {.name = "up_window",
                          .type = TL_OPTION_DURATION,
                          .unit = "",
                          .standard = "0s",
                          .min = 0,
                          .max = 8.64e13,
                          .help =
                              "up only to the lowest answer of this long; long ones react late"},
};

/* The highest or lowest answer not older than a window. */
static uint32_t extreme(const struct service *service, int64_t now_ns, int64_t window_ns,
                        int highest, uint32_t latest)
{
	for (uint32_t i = 0; i < service->count; i++) {
		const struct answer *answer = &service->answers[i];

		if (now_ns - answer->t_ns > window_ns)
			continue;
		if (highest ? answer->replicas > latest : answer->replicas < latest)
			latest = answer->replicas;
	}
	return latest;
}

static uint32_t wanted(void *self, uint32_t number, const struct tl_service_view *view,
                       int64_t now_ns)
{
	struct hpa *hpa = self;
	struct service *service = &hpa->services[number];
	int64_t value_milli = tl_scale_measure(view, hpa->metric);

	if (value_milli < 0)
		return view->replicas;
	int64_t base = view->ready > 0 ? view->ready : 1;
	int64_t ratio_milli = value_milli * 1000 / hpa->target_milli;
	int64_t off_milli = ratio_milli > 1000 ? ratio_milli - 1000 : 1000 - ratio_milli;
	uint32_t answer =
	    off_milli <= hpa->tolerance_milli
		? view->replicas
		: tl_scale_clamp(view, tl_scale_ceil(base * value_milli, hpa->target_milli));

	service->answers[service->next] = (struct answer){.t_ns = now_ns, .replicas = answer};
	service->next = (service->next + 1) % MEMORY;
	if (service->count < MEMORY)
		service->count++;
	if (answer < view->replicas) {
		uint32_t held = extreme(service, now_ns, hpa->down_window_ns, 1, answer);

		return held < view->replicas ? held : view->replicas;
	}
	uint32_t held = extreme(service, now_ns, hpa->up_window_ns, 0, answer);

	return held > view->replicas ? held : view->replicas;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct hpa), self) != 0)
		return -1;
	struct hpa *hpa = *self;
	int64_t sync_ns = values[OPTION_SYNC].i;

	hpa->metric = (enum tl_scale_metric)values[OPTION_METRIC].i;
	hpa->target_milli = tl_module_milli(values[OPTION_TARGET]);
	hpa->tolerance_milli = tl_module_milli(values[OPTION_TOLERANCE]);
	hpa->down_window_ns = values[OPTION_DOWN_WINDOW].i;
	hpa->up_window_ns = values[OPTION_UP_WINDOW].i;
	if (hpa->down_window_ns / sync_ns >= MEMORY || hpa->up_window_ns / sync_ns >= MEMORY)
		return tl_module_fail(create, "down_window, up_window: wanted less than 64 x sync");
	hpa->services = host->alloc(host, (host->service_count(host) + 1) * sizeof(*hpa->services));
	if (!hpa->services)
		return tl_module_fail(create, "out of memory");
	return tl_scaler_init(&hpa->scaler, host, create, sync_ns, wanted);
}

static const struct tl_scale_ops ops = {.struct_size = sizeof(ops), .targets = tl_scaler_targets};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCALE),
    .name = "hpa",
    .version = "1.0",
    .summary = "Kubernetes' rule: replicas x metric / target, with tolerance and stabilisation",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
