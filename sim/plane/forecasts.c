/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How good the forecasts were that a policy went by: each answer of the forecast seat about an
 * instant to come is kept until the window of that instant closes, and compared with the
 * requests that came in it. At the leads that were asked for, so of what was used.
 */
#include "sim/plane/service_core.h"

#include <math.h>
#include <stdlib.h>

struct tl_forecast {
	int64_t asked_ns, at_ns;
	int64_t rate_per_ks;
};

/* The seat as policies see it: the module's own answer, heard. self: the instance. */
static int64_t heard_rate_per_ks(void *self, uint32_t service, int64_t at_ns)
{
	struct tl_instance *instance = self;
	struct tl_trial *trial = instance->trial;
	const struct tl_forecast_ops *ops = instance->loaded.module->ops;
	int64_t rate_per_ks = ops->rate_per_ks(instance->self, service, at_ns);
	int64_t now_ns = tl_trial_now(trial);

	if (rate_per_ks < 0 || at_ns <= now_ns || service >= trial->services->count)
		return rate_per_ks;
	struct tl_forecasts *forecasts = &trial->services->items[service].forecasts;
	const struct tl_forecast *last =
	    forecasts->count > 0 ? &forecasts->items[forecasts->count - 1] : NULL;

	if (last != NULL && last->asked_ns == now_ns && last->at_ns == at_ns) /* again */
		return rate_per_ks;
	forecasts->items = tl_grow(forecasts->items, &forecasts->capacity, forecasts->count + 1,
	                           sizeof(*forecasts->items));
	forecasts->items[forecasts->count++] =
	    (struct tl_forecast){.asked_ns = now_ns, .at_ns = at_ns, .rate_per_ks = rate_per_ks};
	return rate_per_ks;
}

static const struct tl_forecast_ops heard = {.struct_size = sizeof(heard),
                                             .rate_per_ks = heard_rate_per_ks};

struct tl_seat tl_forecasts_hear(struct tl_instance *instance)
{
	return (struct tl_seat){.module = instance->loaded.module, .ops = &heard, .self = instance};
}

void tl_forecasts_window(struct tl_forecasts *forecasts, const struct tl_request_window *window)
{
	double came_per_ks =
	    (double)window->arrivals * 1e12 / (double)(window->end_ns - window->start_ns);
	size_t kept = 0;

	for (size_t i = 0; i < forecasts->count; i++) {
		const struct tl_forecast *forecast = &forecasts->items[i];

		if (forecast->at_ns >= window->end_ns) {
			forecasts->items[kept++] = *forecast;
			continue;
		}
		if (window->arrivals == 0) /* no share of nothing */
			continue;
		forecasts->compared++;
		forecasts->error += fabs((double)forecast->rate_per_ks - came_per_ks) / came_per_ks;
		forecasts->lead_ns += forecast->at_ns - forecast->asked_ns;
	}
	forecasts->count = kept;
}

void tl_forecasts_fini(struct tl_forecasts *forecasts)
{
	free(forecasts->items);
}
