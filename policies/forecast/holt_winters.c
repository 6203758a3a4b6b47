/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Level, damped trend and multiplicative season, each smoothed exponentially over buckets
 * (P. R. Winters, "Forecasting sales by exponentially weighted moving averages",
 * Management Science 6(3), 1960; damping after Gardner and McKenzie, 1985). The first season
 * gives the factors to begin with; until it has been seen they are 1. O(1) a bucket and a
 * question.
 */
#include "policies/lib/module.h"

enum {
	OPTION_SEASON,
	OPTION_BUCKET,
	OPTION_ALPHA,
	OPTION_BETA,
	OPTION_GAMMA,
	OPTION_DAMPING,
	OPTION_COUNT
};
enum { BUCKETS_MAX = 1 << 16 };

static const double LEVEL_MIN = 1e-9, FACTOR_MIN = 1e-3;

struct service {
	double level, trend;
	double *factors; /* by place in the season; in the first one, rates */
	int64_t bucket;  /* being filled; -1: none */
	int64_t arrivals, span_ns;
	int64_t seen; /* full buckets */
};

struct forecast {
	const struct tl_host *host;
	struct service *services;
	uint32_t bucket_count;
	int64_t bucket_ns;
	double alpha, beta, gamma, damping;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_SEASON] = {.name = "season",
                       .type = TL_OPTION_DURATION,
                       .unit = "",
                       .standard = "1d",
                       .min = 6e10,
                       .max = 2.5e15,
                       .help = "what repeats: a day, or 7d where weekends differ"},
    [OPTION_BUCKET] = {.name = "bucket",
                       .type = TL_OPTION_DURATION,
                       .unit = "",
                       .standard = "5min",
                       .min = 1e9,
                       .max = 8.64e13,
                       .help = "resolution; short ones are noisy, long ones blur a steep rise"},
    [OPTION_ALPHA] = {.name = "alpha",
                      .type = TL_OPTION_REAL,
                      .unit = "",
                      .standard = "0.4",
                      .min = 0.001,
                      .max = 1,
                      .help = "weight of the newest bucket in the level"},
    [OPTION_BETA] = {.name = "beta",
                     .type = TL_OPTION_REAL,
                     .unit = "",
                     .standard = "0.05",
                     .min = 0,
                     .max = 1,
                     .help = "weight of the newest change in the trend; high ones overshoot"},
    [OPTION_GAMMA] = {.name = "gamma",
                      .type = TL_OPTION_REAL,
                      .unit = "",
                      .standard = "0.3",
                      .min = 0,
                      .max = 1,
                      .help = "weight of the newest season in its factors"},
    [OPTION_DAMPING] = {.name = "damping",
                        .type = TL_OPTION_REAL,
                        .unit = "a bucket",
                        .standard = "0.9",
                        .min = 0,
                        .max = 1,
                        .help = "how much of the trend goes on; 1 goes on for ever"},
};

/* Before a season has been seen there are no factors, only its rates. */
static double factor_at(const struct forecast *forecast, const struct service *service,
                        int64_t bucket)
{
	return service->seen < (int64_t)forecast->bucket_count
	           ? 1.0
	           : service->factors[bucket % forecast->bucket_count];
}

static void smooth(const struct forecast *forecast, struct service *service, double level)
{
	double before = service->level;

	service->level = forecast->alpha * level +
	                 (1.0 - forecast->alpha) * (before + forecast->damping * service->trend);
	service->trend = forecast->beta * (service->level - before) +
	                 (1.0 - forecast->beta) * forecast->damping * service->trend;
	if (service->level < LEVEL_MIN)
		service->level = LEVEL_MIN;
}

/* The first season's rates become factors about its mean. */
static void begin_seasons(const struct forecast *forecast, struct service *service)
{
	double mean = 0.0;

	for (uint32_t b = 0; b < forecast->bucket_count; b++)
		mean += service->factors[b] / forecast->bucket_count;
	for (uint32_t b = 0; b < forecast->bucket_count; b++)
		service->factors[b] = mean > LEVEL_MIN ? service->factors[b] / mean : 1.0;
	service->level = mean > LEVEL_MIN ? mean : LEVEL_MIN;
	service->trend = 0.0;
}

static void take(const struct forecast *forecast, struct service *service)
{
	double rate = (double)service->arrivals * 1e12 / (double)service->span_ns;
	double *factor = &service->factors[service->bucket % forecast->bucket_count];

	if (service->seen < (int64_t)forecast->bucket_count) {
		*factor = rate;
		if (service->seen == 0)
			service->level = rate;
		else
			smooth(forecast, service, rate);
		if (++service->seen == (int64_t)forecast->bucket_count)
			begin_seasons(forecast, service);
		return;
	}
	/* A dead hour says nothing of the level. */
	smooth(forecast, service,
	       *factor > FACTOR_MIN ? rate / *factor
	                            : service->level + forecast->damping * service->trend);
	*factor = forecast->gamma * rate / service->level + (1.0 - forecast->gamma) * *factor;
}

static void window_closed(void *self, uint32_t number, const struct tl_service_view *view)
{
	struct forecast *forecast = self;
	struct service *service = &forecast->services[number];
	int64_t bucket = view->window_start_ns / forecast->bucket_ns;

	if (bucket != service->bucket) {
		if (service->bucket >= 0 && service->span_ns > 0)
			take(forecast, service);
		service->bucket = bucket;
		service->arrivals = service->span_ns = 0;
	}
	service->arrivals += view->arrivals;
	service->span_ns += view->window_end_ns - view->window_start_ns;
}

static int64_t rate_per_ks(void *self, uint32_t number, int64_t at_ns)
{
	const struct forecast *forecast = self;
	const struct service *service = &forecast->services[number];
	int64_t steps = at_ns / forecast->bucket_ns - service->bucket + 1;

	if (service->seen == 0)
		return -1;
	double damped = 0.0, weight = 1.0;

	for (int64_t i = 0; i < steps && i < (int64_t)BUCKETS_MAX && weight > 1e-6; i++)
		damped += weight *= forecast->damping;
	double rate = (service->level + damped * service->trend) *
	              factor_at(forecast, service, at_ns / forecast->bucket_ns);

	return rate > 0.0 ? (int64_t)rate : 0;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	const struct tl_option_value *values = create->options;

	if (tl_module_instance(host, create, sizeof(struct forecast), self) != 0)
		return -1;
	struct forecast *forecast = *self;
	uint32_t services = host->service_count(host);
	int64_t season_ns = values[OPTION_SEASON].i;

	forecast->host = host;
	forecast->bucket_ns = values[OPTION_BUCKET].i;
	forecast->alpha = values[OPTION_ALPHA].f;
	forecast->beta = values[OPTION_BETA].f;
	forecast->gamma = values[OPTION_GAMMA].f;
	forecast->damping = values[OPTION_DAMPING].f;
	if (season_ns % forecast->bucket_ns != 0 || season_ns / forecast->bucket_ns > BUCKETS_MAX)
		return tl_module_fail(
		    create, "bucket: wanted a part of the season, at most 65,536 of them");
	forecast->bucket_count = (uint32_t)(season_ns / forecast->bucket_ns);
	forecast->services = host->alloc(host, (services + 1) * sizeof(*forecast->services));
	if (!forecast->services)
		return tl_module_fail(create, "out of memory");
	for (uint32_t s = 0; s < services; s++) {
		forecast->services[s].bucket = -1;
		forecast->services[s].factors =
		    host->alloc(host, forecast->bucket_count * sizeof(double));
		if (!forecast->services[s].factors)
			return tl_module_fail(create, "out of memory");
	}
	return 0;
}

static const struct tl_observer_ops observer = {.struct_size = sizeof(observer),
                                                .window_closed = window_closed};
static const struct tl_forecast_ops ops = {.struct_size = sizeof(ops), .rate_per_ks = rate_per_ks};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_FORECAST),
    .capabilities = TL_NEEDS_SERVICES,
    .name = "holt-winters",
    .version = "1.0",
    .summary = "level, damped trend and season, smoothed exponentially",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
