/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows of a service by the fluid approximation: in equilibrium from kept answers, else by
 * the balance of rates. */
#include "sim/work/fluid.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/work/fluid_core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double overload = 0.98; /* from here on by the balance of rates */
static const double mass_unit = 0x1p40;
static const double negligible = 1e-4;

const double tl_fluid_points[TL_FLUID_POINTS] = {
    0,    0.01, 0.05, 0.1,  0.2,   0.3,  0.4,   0.5,   0.6,   0.7,   0.8,    0.85, 0.9,
    0.93, 0.95, 0.97, 0.98, 0.985, 0.99, 0.993, 0.995, 0.998, 0.999, 0.9999, 1};

void tl_fluid_mass_add(struct tl_fluid_mass *mass, double latency_ns, double weight)
{
	struct tl_histogram *histogram = &mass->histogram;
	int64_t value = latency_ns < 4e18 ? (int64_t)latency_ns : INT64_C(4000000000000000000);
	uint64_t units = (uint64_t)(weight * mass_unit);

	if (units == 0)
		return;
	histogram->count += units;
	histogram->min = value < histogram->min ? value : histogram->min;
	histogram->max = value > histogram->max ? value : histogram->max;
	histogram->buckets[tl_histogram_bucket(value)] += units;
}

struct tl_fluid *tl_fluid_create(const struct tl_request_model *model)
{
	struct tl_fluid *fluid = tl_calloc(1, sizeof *fluid);
	const struct tl_service_time *service = &model->service;
	uint32_t limit = model->batch_limit;

	fluid->model = *model;
	tl_fluid_service_fill(fluid);
	if (service->kind == TL_SERVICE_LLM) {
		fluid->capacity = 1 / tl_service_time_mean_ns(service, limit);
		return fluid;
	}
	if (limit > 1) {
		uint32_t kept = limit < TL_FLUID_BATCH_MAX ? limit : TL_FLUID_BATCH_MAX;
		fluid->batch_ns = tl_calloc((size_t)kept + 2, sizeof *fluid->batch_ns);
		fluid->batch_scv = tl_calloc((size_t)kept + 2, sizeof *fluid->batch_scv);
		for (uint32_t b = 1; b <= kept + 1; b++)
			fluid->batch_ns[b] =
			    tl_fluid_batch_mean(fluid, (double)b, &fluid->batch_scv[b]);
	}
	fluid->capacity = (double)limit / tl_fluid_batch_mean(fluid, (double)limit, NULL);
	return fluid;
}

void tl_fluid_destroy(struct tl_fluid *fluid)
{
	if (fluid == NULL)
		return;
	for (size_t i = 0; i < fluid->answer_capacity; i++)
		free(fluid->answers[i]);
	free(fluid->answers);
	free(fluid->batch_ns);
	free(fluid->batch_scv);
	free(fluid);
}

void tl_fluid_set_queue(struct tl_fluid *fluid, double requests)
{
	fluid->queue = requests > 0 ? requests : 0;
}

double tl_fluid_queue(const struct tl_fluid *fluid)
{
	return fluid->queue;
}

double tl_fluid_capacity(const struct tl_fluid *fluid)
{
	return fluid->capacity * 1e9;
}

/* ---- kept answers ---- */

/* Whether replicas that share their load hardly ever find two requests to batch. */
static bool is_single(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	return replicas > 1 && fluid->model.routing != TL_ROUTE_RANDOM &&
	       load * fluid->capacity * fluid->mean_ns < 0.6;
}

static void solve(const struct tl_fluid *fluid, uint32_t replicas, double load,
                  struct tl_fluid_answer *out)
{
	struct tl_fluid_mass *mass = tl_alloc(sizeof *mass);
	double rate = load * fluid->capacity;
	int64_t told[TL_FLUID_POINTS];

	tl_histogram_init(&mass->histogram);
	if (fluid->model.service.kind == TL_SERVICE_LLM)
		tl_fluid_solve_llm(fluid, replicas, rate, mass, out);
	else if (fluid->model.batch_limit > 1 && !is_single(fluid, replicas, load))
		tl_fluid_solve_batch(fluid, replicas, rate, mass, out);
	else
		tl_fluid_solve_single(fluid, replicas, rate, mass, out);
	tl_histogram_quantiles(&mass->histogram, tl_fluid_points, TL_FLUID_POINTS, told);
	for (int i = 0; i < TL_FLUID_POINTS; i++)
		out->latency_ns[i] = (double)told[i];
	out->known = true;
	free(mass);
}

/* The answer at a step of load; step 0 is next to no load. */
static const struct tl_fluid_answer *kept(struct tl_fluid *fluid, uint32_t replicas, size_t step)
{
	if (replicas >= fluid->answer_capacity)
		fluid->answers = tl_grow(fluid->answers, &fluid->answer_capacity,
		                         (size_t)replicas + 1, sizeof *fluid->answers);
	struct tl_fluid_answer **row = &fluid->answers[replicas];
	if (*row == NULL)
		*row = tl_calloc(TL_FLUID_LOADS, sizeof **row);
	struct tl_fluid_answer *answer = *row + step;
	if (!answer->known)
		solve(fluid, replicas, step > 0 ? (double)step / TL_FLUID_LOADS : 1e-6, answer);
	return answer;
}

static double between(double a, double b, double share)
{
	return a + share * (b - a);
}

static struct tl_fluid_answer answer_at(struct tl_fluid *fluid, uint32_t replicas, double load)
{
	double at = load * TL_FLUID_LOADS;
	size_t step = (size_t)at;

	if (step > TL_FLUID_LOADS - 2)
		step = TL_FLUID_LOADS - 2;
	const struct tl_fluid_answer *low = kept(fluid, replicas, step);
	const struct tl_fluid_answer *high = kept(fluid, replicas, step + 1);
	double share = at - (double)step;
	struct tl_fluid_answer answer = {
	    .known = true,
	    .wait_ns = between(low->wait_ns, high->wait_ns, share),
	    .service_ns = between(low->service_ns, high->service_ns, share),
	    .batch = between(low->batch, high->batch, share),
	    .busy = between(low->busy, high->busy, share),
	    .lost = between(low->lost, high->lost, share),
	    .full = between(low->full, high->full, share),
	};
	for (int i = 0; i < TL_FLUID_POINTS; i++)
		answer.latency_ns[i] = between(low->latency_ns[i], high->latency_ns[i], share);
	return answer;
}

/* ---- telling a window ---- */

static double latency_at(const struct tl_fluid_answer *answer, double q)
{
	int i = 0;

	while (i + 2 < TL_FLUID_POINTS && tl_fluid_points[i + 1] < q)
		i++;
	double share = (q - tl_fluid_points[i]) / (tl_fluid_points[i + 1] - tl_fluid_points[i]);
	return between(answer->latency_ns[i], answer->latency_ns[i + 1], share);
}

/* The share of latencies up to a limit. */
static double share_within(const struct tl_fluid_answer *answer, double limit_ns)
{
	const double *latency = answer->latency_ns;
	int i = 0;

	if (limit_ns < latency[0])
		return 0;
	if (limit_ns >= latency[TL_FLUID_POINTS - 1])
		return 1;
	while (i + 2 < TL_FLUID_POINTS && latency[i + 1] <= limit_ns)
		i++;
	double width = latency[i + 1] - latency[i];
	double share = width > 0 ? (limit_ns - latency[i]) / width : 1;
	return between(tl_fluid_points[i], tl_fluid_points[i + 1], share < 1 ? share : 1);
}

static int64_t whole(double ns)
{
	return ns < 4e18 ? (int64_t)(ns + 0.5) : INT64_C(4000000000000000000);
}

/* What both ways tell alike: answer's times are at speed 1 but for waits already scaled. */
static void tell(const struct tl_fluid *fluid, const struct tl_fluid_input *input,
                 const struct tl_fluid_answer *answer, struct tl_request_window *out)
{
	double served = (double)out->served;
	double length = (double)(input->end_ns - input->start_ns);

	if (out->served > 0) {
		out->wait_ns = (tl_u128)(answer->wait_ns * served);
		out->service_ns = (tl_u128)(answer->service_ns * served);
		out->mean_wait_ns = whole(answer->wait_ns);
		out->p50_ns = whole(latency_at(answer, 0.5));
		out->p95_ns = whole(latency_at(answer, 0.95));
		out->p99_ns = whole(latency_at(answer, 0.99));
		out->p999_ns = whole(latency_at(answer, 0.999));
		double within = fluid->model.target_ns == TL_NEVER
		                    ? 1
		                    : share_within(answer, (double)fluid->model.target_ns);
		out->attained = (uint64_t)(within * served + 0.5);
		out->batches = (uint64_t)(served / (answer->batch > 1 ? answer->batch : 1) + 0.5);
	}
	out->accepting = input->replicas;
	out->present_ns = (tl_u128)input->replicas * (uint64_t)(input->end_ns - input->start_ns);
	out->busy_ns = (tl_u128)(answer->busy * length * (double)input->replicas);
	out->in_system_ns = out->wait_ns + out->service_ns + out->timed_out_ns;
}

static void scale_times(struct tl_fluid_answer *answer, double times)
{
	answer->wait_ns *= times;
	answer->service_ns *= times;
	for (int i = 0; i < TL_FLUID_POINTS; i++)
		answer->latency_ns[i] *= times;
}

static void steady(const struct tl_fluid *fluid, const struct tl_fluid_input *input,
                   const struct tl_fluid_answer *answer, struct tl_request_window *out)
{
	double arrivals = (double)input->arrivals;

	out->dropped = (uint64_t)(arrivals * answer->lost + 0.5);
	if (fluid->model.timeout_ns != TL_NEVER)
		out->timed_out = (uint64_t)(arrivals * answer->late + 0.5);
	if (out->dropped > out->arrivals)
		out->dropped = out->arrivals;
	if (out->timed_out > out->arrivals - out->dropped)
		out->timed_out = out->arrivals - out->dropped;
	if (fluid->model.timeout_ns != TL_NEVER)
		out->timed_out_ns = (tl_u128)out->timed_out * (uint64_t)fluid->model.timeout_ns;
	out->served = out->arrivals - out->dropped - out->timed_out;
	tell(fluid, input, answer, out);
}

/* The queue moves from `from` to `to` in a straight line over the window (or drains early):
 * waits are evenly spread between what the first and the last meet, and no shorter than they are
 * in equilibrium just below full load. */
static void moving(struct tl_fluid *fluid, const struct tl_fluid_input *input, double capacity,
                   double load, double speed, struct tl_request_window *out)
{
	double length = (double)(input->end_ns - input->start_ns);
	double from = fluid->queue, offered = from + (double)input->arrivals;
	double most = HUGE_VAL, patient = HUGE_VAL;
	double served = fmin(offered, capacity * length), left = offered - served;

	if (fluid->model.queue_limit != TL_REQUESTS_UNBOUNDED)
		most = (double)fluid->model.queue_limit * fmax(1, (double)input->replicas);
	if (fluid->model.timeout_ns != TL_NEVER && capacity > 0)
		patient = capacity * (double)fluid->model.timeout_ns;
	double dropped = left > most ? left - most : 0;
	double late = left - dropped > patient ? left - dropped - patient : 0;
	double to = floor(left - dropped - late);

	fluid->queue = to;
	out->queued = (uint64_t)to;
	out->dropped = (uint64_t)dropped;
	out->timed_out = (uint64_t)late;
	if (fluid->model.timeout_ns != TL_NEVER)
		out->timed_out_ns = (tl_u128)out->timed_out * (uint64_t)fluid->model.timeout_ns;
	/* the balance closes in whole requests */
	out->served = (uint64_t)from + out->arrivals - out->queued - out->dropped - out->timed_out;
	if (input->replicas == 0)
		return;
	struct tl_fluid_answer least = answer_at(fluid, input->replicas, fmin(load, overload));
	scale_times(&least, 1 / speed);
	double service = fluid->model.service.kind == TL_SERVICE_LLM
	                     ? (double)fluid->model.batch_limit / fluid->capacity
	                     : tl_fluid_batch_mean(fluid, (double)fluid->model.batch_limit, NULL);
	double first = fmin(from, patient) / capacity, last = to / capacity;
	double low = fmin(first, last), high = fmax(first, last);
	struct tl_fluid_answer answer = {
	    .wait_ns = fmax((low + high) / 2, least.wait_ns),
	    .service_ns = service / speed,
	    .batch = (double)fluid->model.batch_limit,
	    .busy = fmin(1, served / (capacity * length)),
	};
	for (int i = 0; i < TL_FLUID_POINTS; i++)
		answer.latency_ns[i] =
		    fmax(between(low, high, tl_fluid_points[i]) + answer.service_ns,
		         least.latency_ns[i]);
	tell(fluid, input, &answer, out);
}

/* ---- how far to trust it ---- */

/* Measured against the exact engine over loads, replicas, routings and service times; see
 * tests/property/test_fluid_exact.c. */
static double load_max(const struct tl_fluid *fluid)
{
	if (fluid->model.service.kind == TL_SERVICE_LLM)
		return 0.5;
	return fluid->scv > 1 ? 0.65 : 0.8;
}

static double bound_of(const struct tl_fluid *fluid)
{
	enum tl_routing routing = fluid->model.routing;

	if (fluid->model.service.kind == TL_SERVICE_LLM)
		return 0.25;
	if (routing == TL_ROUTE_POWER_OF_TWO || fluid->scv > 1)
		return 0.25;
	if (fluid->model.batch_limit > 1)
		return routing == TL_ROUTE_RANDOM || routing == TL_ROUTE_ROUND_ROBIN ? 0.12 : 0.2;
	return routing == TL_ROUTE_SHORTEST_QUEUE ? 0.15 : 0.12;
}

/* Between serving requests one at a time and always in batches, replicas that share their
 * load are neither idle nor busy as a whole; and two or three do batch now and then. */
static bool is_between(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	double alone = load * fluid->capacity * fluid->mean_ns;

	if (replicas == 1 || fluid->model.routing == TL_ROUTE_RANDOM)
		return false;
	if (fluid->model.routing == TL_ROUTE_SHARED_QUEUE && alone > 0.5 && alone < 3)
		return true;
	return alone < (replicas < 4 ? 1.2 : 0) || (alone > 0.5 && alone < 1.2);
}

/* How long a queue remembers: a service, or M/G/1's time to settle. */
static double relaxation(const struct tl_fluid *fluid, const struct tl_fluid_input *input,
                         double load, double service_ns, double speed)
{
	enum tl_routing routing = fluid->model.routing;
	bool pooled = routing == TL_ROUTE_SHARED_QUEUE || routing == TL_ROUTE_SHORTEST_QUEUE;
	double turn = (1 + fluid->scv) / 2 / (fluid->capacity * speed);
	double settle = turn / pow(1 - sqrt(load), 2) / (pooled ? (double)input->replicas : 1);

	return fmax(service_ns, settle);
}

static const char *doubt(const struct tl_fluid *fluid, const struct tl_fluid_input *input,
                         const struct tl_fluid_answer *answer, double load, double speed)
{
	double length = (double)(input->end_ns - input->start_ns);
	const struct tl_request_model *model = &fluid->model;

	if (input->changed)
		return "replicas or speeds change";
	if (load > load_max(fluid))
		return "load is high";
	if (model->batch_delay_ns > 0)
		return "batching delay";
	if (model->batch_limit > TL_FLUID_BATCH_MAX && model->service.kind != TL_SERVICE_LLM)
		return "batch limit is large";
	if (fluid->scv > 2.5)
		return "service times vary too much";
	if (model->batch_limit > 1 && model->service.kind != TL_SERVICE_LLM) {
		if (fluid->scv > 0)
			return "batches of random times";
		if (is_between(fluid, input->replicas, load))
			return "between single requests and batches";
	}
	if (input->arrival_scv < 0.9 || input->arrival_scv > 1.1)
		return "arrivals are not Poisson";
	if (answer->lost > negligible || answer->late > negligible || answer->full > negligible)
		return "queue bound, timeout or places play a part";
	if (length < 10 * relaxation(fluid, input, load, answer->service_ns, speed))
		return "window is short against the queue's memory";
	return "";
}

void tl_fluid_window(struct tl_fluid *fluid, const struct tl_fluid_input *input,
                     struct tl_request_window *out, struct tl_fluid_quality *quality)
{
	double length = (double)(input->end_ns - input->start_ns);
	double speed = (double)input->speed_ppb / (double)TL_PPB;
	double capacity = fluid->capacity * speed * (double)input->replicas;

	TL_ASSERT(input->end_ns > input->start_ns);
	TL_ASSERT(input->replicas == 0 || input->speed_ppb > 0);
	memset(out, 0, sizeof *out);
	out->start_ns = input->start_ns;
	out->end_ns = input->end_ns;
	out->arrivals = input->arrivals;
	out->mean_wait_ns = out->p50_ns = out->p95_ns = out->p99_ns = out->p999_ns = TL_NONE;
	*quality = (struct tl_fluid_quality){.load = INFINITY, .why = "no replica is ready"};
	if (input->replicas > 0) {
		quality->load = (double)input->arrivals / length / capacity;
		quality->why = fluid->queue > 0 ? "a queue is left over" : "load is high";
	}
	if (input->replicas == 0 || fluid->queue >= 1 || quality->load >= overload) {
		moving(fluid, input, capacity, quality->load, speed, out);
		return;
	}
	fluid->queue = 0;
	struct tl_fluid_answer answer = answer_at(fluid, input->replicas, quality->load);
	scale_times(&answer, 1 / speed);
	if (fluid->model.batch_limit == 1) /* Allen and Cunneen's */
		answer.wait_ns *= (input->arrival_scv + fluid->scv) / (1 + fluid->scv);
	if (fluid->model.timeout_ns != TL_NEVER)
		answer.late =
		    1 - share_within(&answer, (double)fluid->model.timeout_ns + answer.service_ns);
	steady(fluid, input, &answer, out);
	quality->why = doubt(fluid, input, &answer, quality->load, speed);
	quality->valid = quality->why[0] == '\0';
	quality->error_bound = bound_of(fluid);
}
