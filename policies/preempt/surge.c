/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The surge rule: growth is the last window's arrivals over the mean of the minutes before.
 * Below a bound progressively, from it on at once: a surge need not first break the p99.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

enum { OPTION_STEP = TL_VICTIM_OPTION_COUNT, OPTION_GROWTH, OPTION_MEMORY, OPTION_COUNT };

/* Arrivals of the windows before: a ring. */
struct history {
	int64_t *arrivals;
	int64_t sum;
	uint32_t room, count, next;
	int surges; /* as of the last window */
};

struct surge {
	const struct tl_host *host;
	struct tl_victim_list list;
	struct tl_victim_pace pace;
	struct history *histories; /* a service each */
	int64_t growth_milli, memory_ns;
};

static const struct tl_option options[OPTION_COUNT] = {
    TL_VICTIM_OPTIONS,
    [OPTION_STEP] = TL_VICTIM_STEP,
    [OPTION_GROWTH] = {.name = "growth",
                       .type = TL_OPTION_REAL,
                       .unit = "of the mean before",
                       .standard = "0.2",
                       .min = 0,
                       .max = 100,
                       .help = "growth from which it is a surge; low ones take noise for one"},
    [OPTION_MEMORY] = {.name = "memory",
                       .type = TL_OPTION_DURATION,
                       .unit = "",
                       .standard = "5min",
                       .min = 1e9,
                       .max = 8.64e13,
                       .help = "how far back the mean before reaches"},
};

static void window_closed(void *self, uint32_t service, const struct tl_service_view *view)
{
	struct surge *p = self;
	struct history *history = &p->histories[service];
	int64_t span_ns = view->window_end_ns - view->window_start_ns;

	if (span_ns <= 0)
		return;
	if (!history->arrivals) {
		uint32_t room = (uint32_t)(p->memory_ns / span_ns);

		history->room = room > 0 ? room : 1;
		history->arrivals = p->host->alloc(p->host, history->room * sizeof(int64_t));
		if (!history->arrivals)
			return;
	}
	/* arrivals / (sum / count) ≥ 1 + growth, in whole numbers. */
	history->surges = history->sum > 0 && view->arrivals * history->count * 1000 >=
	                                          history->sum * (1000 + p->growth_milli);
	history->sum += view->arrivals - history->arrivals[history->next];
	history->arrivals[history->next] = view->arrivals;
	history->next = (history->next + 1) % history->room;
	if (history->count < history->room)
		history->count++;
}

static int in_surge(const struct surge *p, uint32_t service)
{
	return service != TL_NO_INDEX && p->histories[service].surges;
}

static int64_t pace(void *self, const struct tl_job_view *job, int64_t now_ns, int64_t step_ns)
{
	(void)now_ns;
	return in_surge(self, job->service) ? 0 : step_ns;
}

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct surge *p = self;

	if (!tl_victims_gather(&p->list, p->host, ask))
		return 0;
	if (in_surge(p, ask->job->service))
		return tl_victims_choose(&p->list, ask, out);
	return tl_victims_step(&p->list, &p->pace, p->host, ask, out);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct surge), self) != 0)
		return -1;
	struct surge *p = *self;

	p->host = host;
	tl_victims_init(&p->list, values);
	p->pace = (struct tl_victim_pace){.step_ns = values[OPTION_STEP].i, .last_ns = -1};
	p->growth_milli = tl_module_milli(values[OPTION_GROWTH]);
	p->memory_ns = values[OPTION_MEMORY].i;
	p->histories = host->alloc(host, (host->service_count(host) + 1) * sizeof(*p->histories));
	if (!p->histories)
		return tl_module_fail(create, "out of memory");
	return 0;
}

static const struct tl_observer_ops observer = {.struct_size = sizeof(observer),
                                                .window_closed = window_closed};
static const struct tl_preempt_ops ops = {
    .struct_size = sizeof(ops), .choose = choose, .pace = pace};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "surge",
    .version = "1.0",
    .summary = "progressive while traffic grows slowly, batch when it surges",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
