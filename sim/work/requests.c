/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/requests.h"

#include "sim/base/arena.h"
#include "sim/work/requests_core.h"

#include <stdlib.h>
#include <string.h>

static enum tl_status refuse(struct tl_error *error, const char *what, long long got,
                             const char *wanted)
{
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "requests: %s: got %lld, wanted %s",
	                    what, got, wanted);
}

enum tl_status tl_request_model_check(const struct tl_request_model *model, struct tl_error *error)
{
	enum tl_status status = tl_service_time_check(&model->service, error);

	if (status != TL_OK)
		return status;
	if ((int)model->routing < TL_ROUTE_ROUND_ROBIN || model->routing > TL_ROUTE_SHARED_QUEUE)
		return refuse(error, "routing", (long long)model->routing, "one of the five");
	if (model->batch_limit < 1 || model->batch_limit > TL_BATCH_LIMIT_MAX)
		return refuse(error, "batch limit", model->batch_limit, "1 to 4096");
	if (model->batch_delay_ns < 0 || model->batch_delay_ns > TL_SERVICE_MAX_NS)
		return refuse(error, "batching delay (ns)", model->batch_delay_ns, "0 to 10^15");
	if (model->batch_delay_ns > 0 && model->service.kind == TL_SERVICE_LLM)
		return refuse(error, "batching delay (ns)", model->batch_delay_ns,
		              "0: members of an LLM's batch join as they come");
	if (model->batch_delay_ns > 0 && model->queue_limit < 1)
		return refuse(error, "queue limit", model->queue_limit,
		              "at least 1, since requests wait for the batching delay");
	if (model->timeout_ns < model->batch_delay_ns)
		return refuse(error, "timeout (ns)", model->timeout_ns,
		              "at least the batching delay");
	if (model->target_ns < 0)
		return refuse(error, "latency target (ns)", model->target_ns, "at least 0");
	return TL_OK;
}

static void open_window(struct tl_requests *q, int64_t start_ns)
{
	q->latency = q->latency == &q->histograms[0] ? &q->histograms[1] : &q->histograms[0];
	tl_histogram_clear(q->latency);
	q->open = (struct tl_request_window){.start_ns = start_ns, .latency = q->latency};
}

struct tl_requests *tl_requests_create(const struct tl_request_model *model, uint64_t seed,
                                       uint32_t service, int64_t start_ns)
{
	struct tl_requests *q = tl_calloc(1, sizeof *q);

	TL_ASSERT(tl_request_model_check(model, NULL) == TL_OK);
	TL_ASSERT(start_ns >= 0 && start_ns < TL_REQUESTS_TIME_MAX);
	q->model = *model;
	q->seed = seed;
	q->service = service;
	q->clock_ns = q->last_fed_ns = q->room_from_ns = start_ns;
	q->ordered =
	    model->routing == TL_ROUTE_SHORTEST_QUEUE || model->routing == TL_ROUTE_SHARED_QUEUE;
	q->llm = model->service.kind == TL_SERVICE_LLM;
	q->last = SIZE_MAX;
	q->room_key = TL_KEY_NEVER;
	q->draws_from = UINT64_C(1) << 63; /* far from any number: none */
	q->route_block = UINT64_MAX;
	for (size_t i = 0; i < sizeof q->histograms / sizeof q->histograms[0]; i++)
		tl_histogram_init(&q->histograms[i]);
	open_window(q, start_ns);
	q->total = (struct tl_request_window){
	    .start_ns = start_ns, .end_ns = start_ns, .latency = &q->histograms[2]};
	tl_requests_index_rebuild(q);
	return q;
}

void tl_requests_destroy(struct tl_requests *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->replica_count; i++) {
		free(q->replicas[i].queue.items);
		free(q->replicas[i].members);
		free(q->replicas[i].llm.members);
	}
	free(q->replicas);
	free(q->accepting);
	free(q->room.items);
	free(q->tree);
	free(q->masks);
	free(q->times);
	free(q->tokens);
	free(q);
}

static enum tl_status check_fed(const struct tl_requests *q, const int64_t *times_ns,
                                const struct tl_service_tokens *tokens, size_t n,
                                struct tl_error *error)
{
	int64_t last_ns = q->last_fed_ns > q->clock_ns ? q->last_fed_ns : q->clock_ns;

	for (size_t i = 0; i < n; i++) {
		if (times_ns[i] < last_ns || times_ns[i] >= TL_REQUESTS_TIME_MAX)
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "arrival %zu of %zu: got %lld ns, wanted at least "
			                    "%lld and below 2^62",
			                    i, n, (long long)times_ns[i], (long long)last_ns);
		last_ns = times_ns[i];
		if (tokens && (tokens[i].context > TL_SERVICE_MAX_TOKENS ||
		               tokens[i].generated > TL_SERVICE_MAX_TOKENS))
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "arrival %zu of %zu: got %lu context and %lu generated "
			                    "tokens, wanted at most %lu of each",
			                    i, n, (unsigned long)tokens[i].context,
			                    (unsigned long)tokens[i].generated,
			                    (unsigned long)TL_SERVICE_MAX_TOKENS);
	}
	return TL_OK;
}

enum tl_status tl_requests_feed(struct tl_requests *q, const int64_t *times_ns,
                                const struct tl_service_tokens *tokens, size_t n,
                                struct tl_error *error)
{
	enum tl_status status = check_fed(q, times_ns, tokens, n, error);
	size_t left = q->fed - q->consumed;

	if (status != TL_OK || n == 0)
		return status;
	if (q->consumed > 0) {
		memmove(q->times, q->times + q->consumed, left * sizeof *q->times);
		if (q->llm)
			memmove(q->tokens, q->tokens + q->consumed, left * sizeof *q->tokens);
		q->consumed = 0;
		q->fed = left;
	}
	q->times = tl_grow(q->times, &q->times_room, left + n, sizeof *q->times);
	memcpy(q->times + left, times_ns, n * sizeof *q->times);
	if (q->llm) {
		q->tokens = tl_grow(q->tokens, &q->tokens_room, left + n, sizeof *q->tokens);
		for (size_t i = 0; i < n; i++)
			q->tokens[left + i] =
			    tokens ? tokens[i]
				   : tl_service_time_tokens(&q->model.service, q->seed, q->service,
			                                    q->next_number + left + i);
	}
	q->fed = left + n;
	q->last_fed_ns = times_ns[n - 1];
	return TL_OK;
}

static inline int64_t draw_of(struct tl_requests *q, uint64_t number)
{
	if (number - q->draws_from >= TL_REQUEST_DRAWS) {
		q->draws_from = number;
		tl_service_time_draw(&q->model.service, q->seed, q->service, number,
		                     TL_REQUEST_DRAWS, q->draws);
	}
	return q->draws[number - q->draws_from];
}

void tl_requests_advance(struct tl_requests *q, int64_t to_ns)
{
	TL_ASSERT(to_ns >= q->clock_ns && to_ns < TL_REQUESTS_TIME_MAX);
	while (q->consumed < q->fed && q->times[q->consumed] <= to_ns) {
		struct tl_request request = {.arrival_ns = q->times[q->consumed],
		                             .tag = q->next_number << TL_REQUEST_TRIES_BITS};

		if (q->llm)
			request.size.tokens = q->tokens[q->consumed];
		else
			request.size.work_ns = draw_of(q, q->next_number);
		q->consumed++;
		q->next_number++;
		tl_requests_arrive(q, &request);
	}
	tl_requests_run(q, 2 * to_ns + 1);
	q->clock_ns = to_ns;
}

/* Books what is going on up to the end of the window, and counts what is there. */
static void settle(struct tl_requests *q, int64_t end_ns)
{
	struct tl_request_window *open = &q->open;

	tl_requests_integrate(q, &q->room_from_ns, q->room.count, end_ns);
	open->queued = q->room.count;
	for (size_t i = 0; i < q->replica_count; i++) {
		struct tl_replica *replica = &q->replicas[i];

		TL_ASSERT(replica->load == replica->in_service + replica->queue.count);
		tl_requests_integrate(q, &replica->load_from_ns, replica->load, end_ns);
		open->queued += replica->queue.count;
		open->in_service += replica->in_service;
		if (replica->in_service > 0) {
			open->busy_ns += (uint64_t)(end_ns - replica->busy_from_ns);
			replica->busy_from_ns = end_ns;
		}
		if (replica->drained_ns != TL_NONE)
			continue;
		open->present_ns += (uint64_t)(end_ns - replica->present_from_ns);
		replica->present_from_ns = end_ns;
		if (replica->accept == TL_NO_REPLICA)
			open->draining++;
	}
	open->accepting = (uint32_t)q->accepting_count;
	open->end_ns = end_ns;
}

static void derive(struct tl_request_window *window)
{
	static const double q[] = {0.5, 0.95, 0.99, 0.999};
	int64_t values[sizeof q / sizeof q[0]];

	window->served = window->latency->count;
	window->mean_wait_ns =
	    window->served > 0 ? (int64_t)(window->wait_ns / window->served) : TL_NONE;
	tl_histogram_quantiles(window->latency, q, sizeof q / sizeof q[0], values);
	window->p50_ns = values[0];
	window->p95_ns = values[1];
	window->p99_ns = values[2];
	window->p999_ns = values[3];
}

static void add_to_total(struct tl_requests *q)
{
	const struct tl_request_window *from = &q->open;
	struct tl_request_window *total = &q->total;

	total->end_ns = from->end_ns;
	total->arrivals += from->arrivals;
	total->dropped += from->dropped;
	total->timed_out += from->timed_out;
	total->attained += from->attained;
	total->retried += from->retried;
	total->batches += from->batches;
	total->queued = from->queued;
	total->in_service = from->in_service;
	total->accepting = from->accepting;
	total->draining = from->draining;
	total->wait_ns += from->wait_ns;
	total->service_ns += from->service_ns;
	total->timed_out_ns += from->timed_out_ns;
	total->in_system_ns += from->in_system_ns;
	total->busy_ns += from->busy_ns;
	total->present_ns += from->present_ns;
	tl_histogram_merge(&q->histograms[2], q->latency);
}

void tl_requests_window(struct tl_requests *q, int64_t end_ns, struct tl_request_window *out)
{
	tl_requests_advance(q, end_ns);
	settle(q, end_ns);
	derive(&q->open);
	add_to_total(q);
	/* Conservation, over the run: what came is gone or there. */
	TL_ASSERT(q->total.arrivals == q->histograms[2].count + q->total.dropped +
	                                   q->total.timed_out + q->open.queued +
	                                   q->open.in_service);
	*out = q->open;
	open_window(q, end_ns);
}

void tl_requests_total(const struct tl_requests *q, struct tl_request_window *out)
{
	*out = q->total;
	derive(out);
}

int64_t tl_requests_clock(const struct tl_requests *q)
{
	return q->clock_ns;
}

void tl_requests_observe(struct tl_requests *q, tl_request_observer *observer, void *context)
{
	q->observer = observer;
	q->observer_context = context;
}
