/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As it was a season ago: the mean rate of the same bucket of the season before, scaled by
 * how the last bucket compares with its own; before a season has passed, as it is now.
 * O(1) a window and a question; memory: a season of buckets a service.
 */
#include "policies/lib/module.h"

enum { OPTION_SEASON, OPTION_BUCKET, OPTION_LEVEL, OPTION_COUNT };
enum { BUCKETS_MAX = 1 << 16 };

struct bucket {
	int64_t arrivals, span_ns; /* summed over the windows that ended in it */
	int64_t season;            /* which one; -1: none */
};

struct service {
	struct bucket *buckets, *before; /* this season's, and the one's before */
	uint32_t place, full_place;      /* being measured; the one before it; TL_NO_INDEX: none */
	int64_t last_per_ks;
};

struct forecast {
	const struct tl_host *host;
	struct service *services;
	uint32_t bucket_count;
	int64_t season_ns, bucket_ns;
	int level;
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
    [OPTION_LEVEL] = {.name = "level",
                      .type = TL_OPTION_BOOL,
                      .unit = "",
                      .standard = "true",
                      .help = "scale by today's level against the season before"},
};

static uint32_t place_of(const struct forecast *forecast, int64_t at_ns)
{
	return (uint32_t)(at_ns % forecast->season_ns / forecast->bucket_ns);
}

static int64_t rate_of(const struct bucket *bucket)
{
	return bucket->span_ns > 0
	           ? (int64_t)((double)bucket->arrivals * 1e12 / (double)bucket->span_ns)
	           : -1;
}

/* The newest measurement of an instant's place from a season before its own; what is being
 * measured now is not one. */
static int64_t known_per_ks(const struct forecast *forecast, const struct service *service,
                            int64_t at_ns)
{
	uint32_t place = place_of(forecast, at_ns);
	const struct bucket *bucket = &service->buckets[place];

	if (bucket->season < at_ns / forecast->season_ns && place != service->place)
		return rate_of(bucket);
	return rate_of(&service->before[place]);
}

static void window_closed(void *self, uint32_t service, const struct tl_service_view *view)
{
	struct forecast *forecast = self;
	struct service *known = &forecast->services[service];
	int64_t span_ns = view->window_end_ns - view->window_start_ns;
	int64_t season = view->window_start_ns / forecast->season_ns;
	uint32_t place = place_of(forecast, view->window_start_ns);
	struct bucket *bucket = &known->buckets[place];

	if (span_ns <= 0)
		return;
	if (bucket->season != season) {
		known->before[place] = *bucket;
		*bucket = (struct bucket){.season = season};
	}
	bucket->arrivals += view->arrivals;
	bucket->span_ns += span_ns;
	if (place != known->place) {
		known->full_place = known->place;
		known->place = place;
	}
	known->last_per_ks = (int64_t)((double)view->arrivals * 1e12 / (double)span_ns);
}

static int64_t rate_per_ks(void *self, uint32_t service, int64_t at_ns)
{
	const struct forecast *forecast = self;
	const struct service *known = &forecast->services[service];
	int64_t then_per_ks = known_per_ks(forecast, known, at_ns);

	if (then_per_ks < 0)
		return known->last_per_ks;
	if (!forecast->level || known->full_place == TL_NO_INDEX)
		return then_per_ks;
	int64_t was_per_ks = rate_of(&known->before[known->full_place]);
	int64_t is_per_ks = rate_of(&known->buckets[known->full_place]);

	if (was_per_ks <= 0 || is_per_ks < 0)
		return then_per_ks;
	return (int64_t)((double)then_per_ks * (double)is_per_ks / (double)was_per_ks);
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct forecast), self) != 0)
		return -1;
	struct forecast *forecast = *self;
	uint32_t services = host->service_count(host);

	forecast->host = host;
	forecast->season_ns = create->options[OPTION_SEASON].i;
	forecast->bucket_ns = create->options[OPTION_BUCKET].i;
	forecast->level = create->options[OPTION_LEVEL].i != 0;
	if (forecast->season_ns % forecast->bucket_ns != 0 ||
	    forecast->season_ns / forecast->bucket_ns > BUCKETS_MAX)
		return tl_module_fail(
		    create, "bucket: wanted a part of the season, at most 65,536 of them");
	forecast->bucket_count = (uint32_t)(forecast->season_ns / forecast->bucket_ns);
	forecast->services = host->alloc(host, (services + 1) * sizeof(*forecast->services));
	if (!forecast->services)
		return tl_module_fail(create, "out of memory");
	for (uint32_t s = 0; s < services; s++) {
		struct service *known = &forecast->services[s];

		known->buckets =
		    host->alloc(host, forecast->bucket_count * sizeof(*known->buckets));
		known->before = host->alloc(host, forecast->bucket_count * sizeof(*known->before));
		if (!known->buckets || !known->before)
			return tl_module_fail(create, "out of memory");
		for (uint32_t b = 0; b < forecast->bucket_count; b++)
			known->buckets[b].season = known->before[b].season = -1;
		known->place = known->full_place = TL_NO_INDEX;
		known->last_per_ks = -1;
	}
	return 0;
}

static const struct tl_observer_ops observer = {.struct_size = sizeof(observer),
                                                .window_closed = window_closed};
static const struct tl_forecast_ops ops = {.struct_size = sizeof(ops), .rate_per_ks = rate_per_ks};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_FORECAST),
    .capabilities = TL_NEEDS_SERVICES,
    .name = "seasonal-naive",
    .version = "1.0",
    .summary = "as it was a season ago, at today's level",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
