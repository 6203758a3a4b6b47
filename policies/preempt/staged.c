/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The staged trigger: while a service's load is above a bound, progressively; once its p99 has
 * been above target for long enough, at once, those included whose turn by steps is yet to come.
 * Below both it waits for room.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

enum {
	OPTION_STEP = TL_VICTIM_OPTION_COUNT,
	OPTION_PROGRESSIVE_ABOVE,
	OPTION_BATCH_AFTER,
	OPTION_COUNT
};

struct staged {
	const struct tl_host *host;
	struct tl_victim_list list;
	struct tl_victim_pace pace;
	int64_t above_milli, batch_after_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    TL_VICTIM_OPTIONS,
    [OPTION_STEP] = TL_VICTIM_STEP,
    [OPTION_PROGRESSIVE_ABOVE] = {.name = "progressive_above",
                                  .type = TL_OPTION_REAL,
                                  .unit = "of capacity",
                                  .standard = "0.8",
                                  .min = 0,
                                  .max = 100,
                                  .help =
                                      "load of the service from which others are stopped step by "
                                      "step; too low and training is stopped for nothing"},
    [OPTION_BATCH_AFTER] = {.name = "batch_after",
                            .type = TL_OPTION_DURATION,
                            .unit = "",
                            .standard = "30s",
                            .min = 0,
                            .max = 8.64e13,
                            .help =
                                "p99 above target for so long: stop at once; this, a save and a "
                                "start are the floor of an overload"},
};

/* Whether its p99 has been above target for long enough. */
static int breaks(const struct staged *p, const struct tl_service_view *service)
{
	return service && service->breach_since_ns >= 0 &&
	       service->window_end_ns - service->breach_since_ns >= p->batch_after_ns;
}

static const struct tl_service_view *service_of(const struct staged *p,
                                                const struct tl_job_view *job)
{
	return job->service == TL_NO_INDEX ? NULL : p->host->service(p->host, job->service);
}

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct staged *p = self;
	const struct tl_service_view *service = service_of(p, ask->job);

	if (!tl_victims_gather(&p->list, p->host, ask))
		return 0;
	if (breaks(p, service))
		return tl_victims_choose(&p->list, ask, out);
	if (service && service->load_milli <= p->above_milli)
		return 0;
	return tl_victims_step(&p->list, &p->pace, p->host, ask, out);
}

static int64_t pace(void *self, const struct tl_job_view *job, int64_t now_ns, int64_t step_ns)
{
	const struct staged *p = self;

	(void)now_ns;
	return breaks(p, service_of(p, job)) ? 0 : step_ns;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct staged), self) != 0)
		return -1;
	struct staged *p = *self;

	p->host = host;
	tl_victims_init(&p->list, values);
	p->pace = (struct tl_victim_pace){.step_ns = values[OPTION_STEP].i, .last_ns = -1};
	p->above_milli = tl_module_milli(values[OPTION_PROGRESSIVE_ABOVE]);
	p->batch_after_ns = values[OPTION_BATCH_AFTER].i;
	return 0;
}

static const struct tl_preempt_ops ops = {
    .struct_size = sizeof(ops), .choose = choose, .pace = pace};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "staged",
    .version = "1.0",
    .summary = "progressive while load is high, batch once p99 is in breach",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
