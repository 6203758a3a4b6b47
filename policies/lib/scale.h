/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many replicas: the arithmetic that scaling policies share.
 *
 * A service's load is its arrival rate over what its ready replicas could serve, never
 * the busy fraction; n replicas carry a rate at a target load where
 * n × capacity × target ≥ rate.
 */
#ifndef TIDELAB_LIB_SCALE_H
#define TIDELAB_LIB_SCALE_H

#include "policies/abi/tidelab_policy.h"
#include "policies/lib/module.h"

/* ⌈a / b⌉, a ≥ 0, b > 0. */
static inline int64_t tl_scale_ceil(int64_t a, int64_t b)
{
	return a / b + (a % b != 0);
}

static inline uint32_t tl_scale_clamp(const struct tl_service_view *service, int64_t replicas)
{
	if (replicas < (int64_t)service->replicas_min)
		return service->replicas_min;
	if (replicas > (int64_t)service->replicas_max)
		return service->replicas_max;
	return (uint32_t)replicas;
}

/* Replicas that carry rate_per_ks (requests in 1,000 s) at target_milli of their capacity. */
static inline uint32_t tl_scale_for_rate(const struct tl_service_view *service, int64_t rate_per_ks,
                                         int64_t target_milli)
{
	int64_t capacity_per_ks = service->replica_capacity_per_ks;

	if (rate_per_ks < 0 || capacity_per_ks <= 0 || target_milli <= 0)
		return tl_scale_clamp(service, service->replicas);
	int64_t one_per_ks =
	    capacity_per_ks / 1000 * target_milli + capacity_per_ks % 1000 * target_milli / 1000;

	return tl_scale_clamp(service, tl_scale_ceil(rate_per_ks, one_per_ks > 0 ? one_per_ks : 1));
}

/* Arrivals of the last closed window as a rate; -1 before the first. */
static inline int64_t tl_scale_rate_per_ks(const struct tl_service_view *service)
{
	int64_t span_ns = service->window_end_ns - service->window_start_ns;

	if (span_ns <= 0)
		return -1;
	return (int64_t)((double)service->arrivals * 1e12 / (double)span_ns);
}

/* What a rule looks at, in thousandths of what it should at most be. */
enum tl_scale_metric { TL_SCALE_LOAD, TL_SCALE_LATENCY, TL_SCALE_P99, TL_SCALE_QUEUE };
#define TL_SCALE_METRICS "load|latency|p99|queue"

/* A duration over the SLO's target. Where nobody was served: 0 where nobody came or waits
 * either, else it is not known. */
static inline int64_t tl_scale_over_slo(const struct tl_service_view *service, int64_t value_ns)
{
	if (service->slo_p99_ns <= 0)
		return -1;
	if (value_ns < 0)
		return service->arrivals == 0 && service->queued == 0 ? 0 : -1;
	return (int64_t)((double)value_ns * 1000.0 / (double)service->slo_p99_ns);
}

/* load: of capacity; latency and p99: mean wait and p99 over the SLO's target; queue:
 * requests waiting per ready replica, over ten. -1 where nothing has been measured. */
static inline int64_t tl_scale_measure(const struct tl_service_view *service,
                                       enum tl_scale_metric metric)
{
	if (service->window_end_ns <= service->window_start_ns)
		return -1;
	switch (metric) {
	case TL_SCALE_LOAD:
		return service->load_milli;
	case TL_SCALE_LATENCY:
		return tl_scale_over_slo(service, service->mean_wait_ns);
	case TL_SCALE_P99:
		return tl_scale_over_slo(service, service->p99_ns);
	case TL_SCALE_QUEUE:
		return service->queued * 100 / (service->ready > 0 ? service->ready : 1);
	}
	return -1;
}

/* ---- the threshold rule ------------------------------------------------------------- */

struct tl_scale_rule {
	enum tl_scale_metric metric;
	int64_t high_milli, low_milli, target_milli;
	int64_t down_after_ns; /* low for so long before replicas go */
};

struct tl_scale_state {
	int64_t checked_ns;   /* last look; -1: never */
	int64_t low_since_ns; /* -1: not low */
};

/* Replicas wanted by the rule now; service->replicas where nothing is to change. */
static inline uint32_t tl_scale_threshold(const struct tl_scale_rule *rule,
                                          struct tl_scale_state *state,
                                          const struct tl_service_view *service, int64_t now_ns)
{
	int64_t value_milli = tl_scale_measure(service, rule->metric);
	int64_t base = service->ready > 0 ? service->ready : 1;

	if (value_milli < 0)
		return service->replicas;
	if (value_milli >= rule->low_milli)
		state->low_since_ns = -1;
	if (value_milli > rule->high_milli) {
		uint32_t wanted =
		    tl_scale_clamp(service, tl_scale_ceil(base * value_milli, rule->target_milli));

		return wanted > service->replicas ? wanted : service->replicas;
	}
	if (value_milli >= rule->low_milli)
		return service->replicas;
	if (state->low_since_ns < 0)
		state->low_since_ns = now_ns;
	if (now_ns - state->low_since_ns < rule->down_after_ns)
		return service->replicas;
	uint32_t wanted =
	    tl_scale_clamp(service, tl_scale_ceil(base * value_milli, rule->target_milli));

	return wanted < service->replicas ? wanted : service->replicas;
}

/* Whether a look is due: at most once an interval. */
static inline int tl_scale_due(struct tl_scale_state *state, int64_t now_ns, int64_t interval_ns)
{
	if (state->checked_ns >= 0 && now_ns - state->checked_ns < interval_ns)
		return 0;
	state->checked_ns = now_ns;
	return 1;
}

/* Puts a target down where it differs from what is wanted so far; returns the new count. */
static inline uint32_t tl_scale_put(struct tl_scale_target *out, uint32_t count, uint32_t room,
                                    uint32_t service, const struct tl_service_view *view,
                                    uint32_t replicas)
{
	if (replicas == view->replicas || count >= room)
		return count;
	out[count] = (struct tl_scale_target){.service = service, .replicas = replicas};
	return count + 1;
}

/* ---- what the policies share that follow a rule ---------------------------------------- */

/* Replicas wanted of a service that is due. */
typedef uint32_t tl_scale_wanted(void *self, uint32_t service, const struct tl_service_view *view,
                                 int64_t now_ns);

/* The first member of such a policy's instance. */
struct tl_scaler {
	const struct tl_host *host;
	struct tl_scale_state *states; /* a service */
	int64_t interval_ns;           /* between two looks at a service */
	tl_scale_wanted *wanted;
};

/* What create() ends with: 0, or -1 with the reason. */
static inline int tl_scaler_init(struct tl_scaler *scaler, const struct tl_host *host,
                                 const struct tl_create *create, int64_t interval_ns,
                                 tl_scale_wanted *wanted)
{
	uint32_t count = host->service_count(host);
	struct tl_scale_state *states = host->alloc(host, (count + 1) * sizeof(*states));

	for (uint32_t s = 0; states && s < count; s++)
		states[s] = (struct tl_scale_state){.checked_ns = -1, .low_since_ns = -1};
	*scaler = (struct tl_scaler){
	    .host = host, .states = states, .interval_ns = interval_ns, .wanted = wanted};
	return states ? 0 : tl_module_fail(create, "out of memory");
}

/* The policy's targets(): asks the rule for each service that is due, and puts down what
 * differs. */
static inline uint32_t tl_scaler_targets(void *self, int64_t now_ns,
                                         const struct tl_changes *changes,
                                         struct tl_scale_target *out, uint32_t room)
{
	const struct tl_scaler *scaler = self;
	const struct tl_host *host = scaler->host;
	uint32_t services = host->service_count(host), count = 0;

	(void)changes;
	for (uint32_t s = 0; s < services; s++) {
		const struct tl_service_view *view = host->service(host, s);

		if (tl_scale_due(&scaler->states[s], now_ns, scaler->interval_ns))
			count = tl_scale_put(out, count, room, s, view,
			                     scaler->wanted(self, s, view, now_ns));
	}
	return count;
}

/* Rows that more than one of them has in its table. */
#define TL_SCALE_OPTION_CHECK(every_, help_)                                                       \
	{                                                                                          \
		.name = "check", .type = TL_OPTION_DURATION, .unit = "", .standard = (every_),     \
		.min = 1e6, .max = 8.64e13, .help = (help_)                                        \
	}
#define TL_SCALE_OPTION_LOAD(help_)                                                                \
	{                                                                                          \
		.name = "target", .type = TL_OPTION_REAL, .unit = "of capacity",                   \
		.standard = "0.7", .min = 0.01, .max = 1, .help = (help_)                          \
	}
#define TL_SCALE_OPTION_DOWN_AFTER                                                                 \
	{                                                                                          \
		.name = "down_after", .type = TL_OPTION_DURATION, .unit = "", .standard = "5min",  \
		.min = 0, .max = 8.64e13,                                                          \
		.help = "low for so long before replicas go; short ones thrash"                    \
	}

#endif
