/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A spec of arrivals: defaults, what is impossible, and the life of what is made of it. */
#include "sim/base/arena.h"
#include "workloads/arrivals_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_arrival_process_names[TL_ARRIVALS_PROCESS_COUNT] = {"poisson", "nhpp", "mmpp",
                                                                         "trace"};

static const double window_requests_max = 1e8;
static const double request_rate_max = 1e9;
static const int64_t client_window_min_ns = 10 * TL_NS_PER_S;
static const int64_t time_max_ns = INT64_MAX / 4;

void tl_arrival_spec_default(struct tl_arrival_spec *spec)
{
	*spec = (struct tl_arrival_spec){
	    .process = TL_ARRIVALS_NHPP,
	    .window_ns = 5 * TL_NS_PER_S,
	    .rate_rps = 100,
	    .burst_factor = 3,
	    .burst_ns = TL_NS_PER_MIN,
	    .calm_ns = 10 * TL_NS_PER_MIN,
	    .scale = 1,
	    .repeat = true,
	};
	tl_curve_default(&spec->curve);
}

static enum tl_status refuse(struct tl_error *error, const char *what, double got,
                             const char *wanted)
{
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "%s, got %g, wanted %s", what, got,
	                    wanted);
}

static enum tl_status check_events(const char *what, const struct tl_arrival_event *events,
                                   size_t count, struct tl_error *error)
{
	if (count > TL_ARRIVAL_EVENTS_MAX)
		return refuse(error, what, (double)count, "at most 250");
	for (size_t i = 0; i < count; i++) {
		const struct tl_arrival_event *event = &events[i];

		if (!(event->factor >= 0 && event->factor <= 1000))
			return refuse(error, what, event->factor, "a factor from 0 to 1000");
		if (event->at_ns < 0 || event->at_ns > time_max_ns)
			return refuse(error, what, (double)event->at_ns * 1e-9,
			              "a start of 0 s or later");
		if (event->for_ns <= 0 || event->for_ns > time_max_ns)
			return refuse(error, what, (double)event->for_ns * 1e-9,
			              "a length above 0 s");
		if (event->ramp_ns < 0 || event->ramp_ns > event->for_ns)
			return refuse(error, what, (double)event->ramp_ns * 1e-9,
			              "a ramp from 0 s to the event's length");
	}
	return TL_OK;
}

static enum tl_status check_trace(const struct tl_arrival_spec *spec, struct tl_error *error)
{
	size_t count, clients, windows;
	int64_t window_ns;

	if (spec->trace == NULL)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "trace, got none, wanted a recorded file");
	if (!(spec->scale > 0 && spec->scale <= 1000))
		return refuse(error, "scale", spec->scale, "above 0, up to 1000");
	const struct tl_recorded_request *requests = tl_request_trace_requests(spec->trace, &count);
	(void)tl_request_trace_clients(spec->trace, &clients, &windows, &window_ns);
	if (requests != NULL) {
		if (spec->span_ns < 0 || spec->span_ns > time_max_ns ||
		    (spec->span_ns > 0 && spec->span_ns <= requests[count - 1].time_ns))
			return refuse(error, "span", (double)spec->span_ns * 1e-9,
			              "seconds beyond the last request, or 0");
		return TL_OK;
	}
	if (spec->span_ns != 0)
		return refuse(error, "span", (double)spec->span_ns * 1e-9,
		              "0: client rates have their own");
	if (window_ns < client_window_min_ns)
		return refuse(error, "window of the recording", (double)window_ns * 1e-9,
		              "at least 10 s");
	if (clients >= (size_t)1 << (TL_ENTITY_WINDOW_BITS - TL_CLIENT_BLOCK_BITS))
		return refuse(error, "clients", (double)clients, "fewer than 8192");
	return TL_OK;
}

static enum tl_status check_process(const struct tl_arrival_spec *spec, struct tl_error *error)
{
	if ((unsigned)spec->process >= TL_ARRIVALS_PROCESS_COUNT)
		return refuse(error, "process", (double)spec->process, "a known one");
	if (spec->window_ns < TL_NS_PER_MS || spec->window_ns > TL_NS_PER_HOUR)
		return refuse(error, "window", (double)spec->window_ns * 1e-9, "0.001 s to 3600 s");
	if (spec->process == TL_ARRIVALS_TRACE)
		return check_trace(spec, error);
	if (!(spec->rate_rps >= 0 && spec->rate_rps <= request_rate_max))
		return refuse(error, "rate", spec->rate_rps, "0 to 10^9 requests a second");
	if (spec->process == TL_ARRIVALS_MMPP) {
		if (!(spec->burst_factor >= 1 && spec->burst_factor <= 1000))
			return refuse(error, "burst factor", spec->burst_factor, "1 to 1000");
		if (spec->burst_ns < TL_NS_PER_MS || spec->burst_ns > time_max_ns)
			return refuse(error, "burst", (double)spec->burst_ns * 1e-9,
			              "a mean of 1 ms or more");
		if (spec->calm_ns < TL_NS_PER_MS || spec->calm_ns > time_max_ns)
			return refuse(error, "calm", (double)spec->calm_ns * 1e-9,
			              "a mean of 1 ms or more");
	}
	return spec->process == TL_ARRIVALS_POISSON ? TL_OK : tl_curve_check(&spec->curve, error);
}

static double base_max(const struct tl_arrivals *arrivals)
{
	const struct tl_arrival_spec *spec = &arrivals->spec;
	size_t most = 0, low = 0;

	if (spec->process == TL_ARRIVALS_POISSON)
		return spec->rate_rps;
	if (spec->process != TL_ARRIVALS_TRACE)
		return spec->rate_rps * tl_curve_max(&spec->curve) *
		       (spec->process == TL_ARRIVALS_MMPP ? spec->burst_factor : 1);
	for (size_t high = 0; high < arrivals->request_count; high++) {
		while (arrivals->requests[high].time_ns - arrivals->requests[low].time_ns >=
		       spec->window_ns)
			low++;
		most = high - low + 1 > most ? high - low + 1 : most;
	}
	double rate = (double)most / ((double)spec->window_ns * 1e-9);
	if (arrivals->requests != NULL && spec->repeat) /* a short one comes many times */
		rate = fmax(rate, (double)arrivals->request_count / ((double)spec->span_ns * 1e-9));
	for (size_t window = 0; window < arrivals->client_windows; window++) {
		double sum = 0;
		for (size_t i = 0; i < arrivals->client_count; i++)
			sum += arrivals->clients[i].windows[window].rate_rps;
		rate = fmax(rate, sum);
	}
	return rate * fmax(1, spec->scale); /* all are looked at, however few are kept */
}

/* The greatest product of layers: it begins to hold where some ramp has ended. */
static double layers_max(const struct tl_arrivals *arrivals)
{
	double most = 1;

	for (size_t i = 0; i < arrivals->layer_count; i++) {
		const struct tl_arrival_event *event = &arrivals->layers[i].event;
		double product = 1;
		for (size_t j = 0; j < arrivals->layer_count; j++) {
			const struct tl_arrival_event *other = &arrivals->layers[j].event;
			bool meet = other->at_ns < event->at_ns + event->for_ns + event->ramp_ns &&
			            event->at_ns < other->at_ns + other->for_ns + other->ramp_ns;
			if (meet)
				product *= fmax(1, other->factor);
		}
		most = fmax(most, product);
	}
	return most;
}

static enum tl_status check_size(const struct tl_arrivals *arrivals, struct tl_error *error)
{
	double seconds = (double)arrivals->spec.window_ns * 1e-9;

	if (arrivals->client_count > 0) /* these are drawn by their own windows */
		seconds = fmax(seconds, (double)arrivals->client_window_ns * 1e-9);
	double most = base_max(arrivals) * layers_max(arrivals) * seconds;
	if (most > window_requests_max)
		return refuse(error, "requests of a window", most,
		              "at most 10^8: lower the rate, its factors or the window");
	return TL_OK;
}

static void take_layers(struct tl_arrivals *arrivals, const struct tl_arrival_spec *spec)
{
	arrivals->layer_count = spec->event_count + spec->surge_count;
	arrivals->layers = tl_calloc(arrivals->layer_count + 1, sizeof *arrivals->layers);
	for (size_t i = 0; i < spec->event_count; i++)
		arrivals->layers[i] =
		    (struct tl_arrival_layer){spec->events[i], TL_COMPONENT_EVENT + (unsigned)i};
	for (size_t i = 0; i < spec->surge_count; i++)
		arrivals->layers[spec->event_count + i] =
		    (struct tl_arrival_layer){spec->surges[i], TL_COMPONENT_SURGE + (unsigned)i};
	arrivals->spec.events = arrivals->spec.surges = NULL;
}

static void take_trace(struct tl_arrivals *arrivals)
{
	struct tl_arrival_spec *spec = &arrivals->spec;
	size_t count;

	arrivals->requests = tl_request_trace_requests(spec->trace, &count);
	arrivals->request_count = count;
	arrivals->clients =
	    tl_request_trace_clients(spec->trace, &arrivals->client_count,
	                             &arrivals->client_windows, &arrivals->client_window_ns);
	if (arrivals->requests != NULL && spec->span_ns == 0) {
		int64_t last = arrivals->requests[count - 1].time_ns;
		int64_t gap = count > 1 ? last / (int64_t)(count - 1) : TL_NS_PER_S;
		spec->span_ns = last + (gap > 0 ? gap : 1);
	}
	if (arrivals->requests == NULL) {
		spec->span_ns = (int64_t)arrivals->client_windows * arrivals->client_window_ns;
		arrivals->blocks = tl_calloc(arrivals->layer_count + 1, sizeof *arrivals->blocks);
		for (size_t i = 0; i <= arrivals->layer_count; i++)
			arrivals->blocks[i].index = -1;
	}
}

enum tl_status tl_arrivals_create(const struct tl_arrival_spec *spec, uint64_t seed,
                                  uint32_t service, struct tl_arrivals **out,
                                  struct tl_error *error)
{
	enum tl_status status = check_process(spec, error);

	if (status == TL_OK && service >= TL_ARRIVAL_SERVICES_MAX)
		status = refuse(error, "services", (double)service, "numbers below 65536");
	if (status == TL_OK)
		status = check_events("event", spec->events, spec->event_count, error);
	if (status == TL_OK)
		status = check_events("surge", spec->surges, spec->surge_count, error);
	if (status != TL_OK)
		return status;
	struct tl_arrivals *arrivals = tl_calloc(1, sizeof *arrivals);
	arrivals->spec = *spec;
	arrivals->seed = seed;
	arrivals->service = service;
	take_layers(arrivals, spec);
	if (spec->process == TL_ARRIVALS_TRACE)
		take_trace(arrivals);
	if (spec->curve.point_count > 0) {
		size_t size = spec->curve.point_count * sizeof *arrivals->points;
		arrivals->points = tl_alloc(size);
		memcpy(arrivals->points, spec->curve.points, size);
		arrivals->spec.curve.points = arrivals->points;
	}
	arrivals->gsl = gsl_rng_alloc(tl_rng_gsl_type());
	if (arrivals->gsl == NULL)
		tl_out_of_memory(sizeof(struct tl_rng));
	arrivals->starts_in_burst =
	    (double)(tl_rng_at(seed, TL_STREAM_REQUEST,
	                       tl_arrival_entity(arrivals, TL_COMPONENT_CHAIN, TL_PURPOSE_COUNT, 0),
	                       0) >>
	             11) *
		0x1p-53 <
	    (double)spec->burst_ns / ((double)spec->burst_ns + (double)spec->calm_ns);
	status = check_size(arrivals, error);
	if (status != TL_OK) {
		tl_arrivals_destroy(arrivals);
		return status;
	}
	*out = arrivals;
	return TL_OK;
}

void tl_arrivals_destroy(struct tl_arrivals *arrivals)
{
	if (arrivals == NULL)
		return;
	for (size_t i = 0; arrivals->blocks != NULL && i <= arrivals->layer_count; i++)
		free(arrivals->blocks[i].times_ns);
	free(arrivals->blocks);
	tl_arrival_block_fini(&arrivals->extra);
	tl_arrival_block_fini(&arrivals->counted);
	free(arrivals->layers);
	free(arrivals->points);
	free(arrivals->flips_ns);
	free(arrivals->sums);
	gsl_rng_free(arrivals->gsl);
	free(arrivals);
}

void tl_arrival_block_fini(struct tl_arrival_block *block)
{
	free(block->times_ns);
	free(block->context_tokens);
	free(block->generated_tokens);
	memset(block, 0, sizeof *block);
}

void tl_arrival_block_room(struct tl_arrival_block *block, size_t more)
{
	size_t wanted = block->count + more, room = block->capacity;

	if (wanted <= block->capacity && block->times_ns != NULL)
		return;
	block->times_ns = tl_grow(block->times_ns, &room, wanted + 1, sizeof *block->times_ns);
	if (block->has_tokens) {
		block->context_tokens =
		    tl_realloc_array(block->context_tokens, room, sizeof *block->context_tokens);
		block->generated_tokens = tl_realloc_array(block->generated_tokens, room,
		                                           sizeof *block->generated_tokens);
	}
	block->capacity = room;
}
