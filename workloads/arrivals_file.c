/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traffic from recordings: copies of requests, and clients that send at recorded rates. */
#include "sim/base/arena.h"
#include "workloads/arrivals_parts.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>

static const int64_t copy_offset_max_ns = 10 * TL_NS_PER_MIN;
/* Cycles of a recording a request's draws are told apart in. */
#define CYCLE_MASK ((UINT64_C(1) << TL_ENTITY_WINDOW_BITS) - 1)
enum { COPY_BITS = 20 };

static unsigned component_of(const struct tl_arrivals *arrivals, size_t layer)
{
	return layer == SIZE_MAX ? TL_COMPONENT_BASE : arrivals->layers[layer].component;
}

static double uniform_of(uint64_t word)
{
	return (double)(word >> 11) * 0x1p-53;
}

/* By how much a copy is moved; the recording itself is not. */
static int64_t copy_offset(const struct tl_arrivals *arrivals, unsigned component, uint64_t copy)
{
	int64_t most = arrivals->spec.span_ns < copy_offset_max_ns ? arrivals->spec.span_ns
	                                                           : copy_offset_max_ns;
	if (component == TL_COMPONENT_BASE && copy == 0)
		return 0;
	uint64_t word =
	    tl_rng_at(arrivals->seed, TL_STREAM_REQUEST,
	              tl_arrival_entity(arrivals, component, TL_PURPOSE_COUNT, 0), copy);
	return (int64_t)(((tl_u128)word * (uint64_t)most) >> 64);
}

/* The first request at or after a time of the recording. */
static size_t first_at(const struct tl_arrivals *arrivals, int64_t time_ns)
{
	size_t low = 0, high = arrivals->request_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (arrivals->requests[middle].time_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct copy {
	size_t layer;
	unsigned component;
	uint64_t number;
	int64_t offset_ns;
};

/* Requests recorded in [from, to), which happen `shift` later, as far as the copy keeps
 * them. */
static void take_run(const struct tl_arrivals *arrivals, const struct copy *copy, uint64_t cycle,
                     int64_t from_ns, int64_t to_ns, int64_t shift_ns, struct tl_arrival_block *out)
{
	uint64_t entity =
	    tl_arrival_entity(arrivals, copy->component, TL_PURPOSE_TIME, cycle & CYCLE_MASK);

	for (size_t i = first_at(arrivals, from_ns);
	     i < arrivals->request_count && arrivals->requests[i].time_ns < to_ns; i++) {
		const struct tl_recorded_request *request = &arrivals->requests[i];
		int64_t time = request->time_ns + shift_ns;
		double share =
		    tl_arrival_multiplicity(arrivals, copy->layer, time) - (double)copy->number;

		if (share <= 0)
			continue;
		if (share < 1) {
			uint64_t number = ((uint64_t)i << COPY_BITS) | copy->number;
			uint64_t word =
			    tl_rng_at(arrivals->seed, TL_STREAM_REQUEST, entity, number);
			if (uniform_of(word) >= share)
				continue;
		}
		tl_arrival_block_room(out, 1);
		out->times_ns[out->count] = time;
		out->context_tokens[out->count] = request->context_tokens;
		out->generated_tokens[out->count] = request->generated_tokens;
		out->count++;
	}
}

/* One copy's requests in [start, end), in order. */
static void take_copy(const struct tl_arrivals *arrivals, const struct copy *copy, int64_t start_ns,
                      int64_t end_ns, struct tl_arrival_block *out)
{
	int64_t span = arrivals->spec.span_ns, offset = copy->offset_ns;
	int64_t cycle = start_ns / span;

	for (; cycle * span < end_ns && (cycle == 0 || arrivals->spec.repeat); cycle++) {
		int64_t zero = cycle * span;
		int64_t from = start_ns > zero ? start_ns - zero : 0;
		int64_t to = end_ns - zero < span ? end_ns - zero : span;
		/* what went around the end comes first */
		if (from < offset)
			take_run(arrivals, copy, (uint64_t)cycle, from - offset + span,
			         (to < offset ? to : offset) - offset + span, zero + offset - span,
			         out);
		if (to > offset)
			take_run(arrivals, copy, (uint64_t)cycle,
			         (from > offset ? from : offset) - offset, to - offset,
			         zero + offset, out);
	}
}

static int compare_order(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

/* A request with what belongs to it, to be sorted. */
struct whole_request {
	int64_t time_ns;
	size_t order;
	int32_t context, generated;
};

static int compare_whole(const void *left, const void *right)
{
	const struct whole_request *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_block(struct tl_arrival_block *block)
{
	struct whole_request *all = tl_alloc((block->count + 1) * sizeof *all);

	for (size_t i = 0; i < block->count; i++)
		all[i] = (struct whole_request){block->times_ns[i], i, block->context_tokens[i],
		                                block->generated_tokens[i]};
	qsort(all, block->count, sizeof *all, compare_whole);
	for (size_t i = 0; i < block->count; i++) {
		block->times_ns[i] = all[i].time_ns;
		block->context_tokens[i] = all[i].context;
		block->generated_tokens[i] = all[i].generated;
	}
	free(all);
}

void tl_arrival_copies(struct tl_arrivals *arrivals, size_t layer, int64_t start_ns, int64_t end_ns,
                       struct tl_arrival_block *out)
{
	uint64_t copies = (uint64_t)ceil(tl_arrival_multiplicity_max(arrivals, layer));
	struct copy copy = {.layer = layer, .component = component_of(arrivals, layer)};

	for (copy.number = 0; copy.number < copies; copy.number++) {
		copy.offset_ns = copy_offset(arrivals, copy.component, copy.number);
		take_copy(arrivals, &copy, start_ns, end_ns, out);
	}
	if (copies > 1)
		sort_block(out);
}

double tl_arrival_copies_rate(const struct tl_arrivals *arrivals, int64_t t_ns)
{
	int64_t span = arrivals->spec.span_ns;

	if (t_ns >= span && !arrivals->spec.repeat)
		return 0;
	int64_t middle = t_ns % span, half = TL_NS_PER_MIN / 2;
	int64_t from = middle > half ? middle - half : 0;
	int64_t to = middle + half < span ? middle + half : span;
	size_t count = first_at(arrivals, to) - first_at(arrivals, from);
	return arrivals->spec.scale * (double)count / ((double)(to - from) * 1e-9);
}

/* ---- client rates ---- */

/* A gap of mean 1; residual: what is left of the gap that an instant falls into. The gap
 * an instant falls into is drawn in proportion to its length (Cox, Renewal Theory, 1962,
 * ch. 5): for a gamma that is a gamma of shape + 1. */
static double draw_gap(const gsl_rng *rng, const struct tl_client_window *window, bool residual)
{
	double shape = window->shape, gap;

	switch (window->family) {
	case TL_GAP_GAMMA:
		gap = gsl_ran_gamma(rng, residual ? shape + 1 : shape, 1 / shape);
		break;
	case TL_GAP_WEIBULL: /* its power `shape` is exponential, or a gamma */
		gap = residual ? gsl_ran_gamma(rng, 1 + 1 / shape, 1) : gsl_ran_exponential(rng, 1);
		gap = pow(gap, 1 / shape) / tgamma(1 + 1 / shape);
		break;
	case TL_GAP_EXPONENTIAL:
	default: /* forgets where it is */
		return gsl_ran_exponential(rng, 1);
	}
	return residual ? gap * gsl_rng_uniform(rng) : gap;
}

static void add_time(struct tl_client_block *block, int64_t time_ns)
{
	if (block->count == block->capacity)
		block->times_ns = tl_grow(block->times_ns, &block->capacity, block->count + 1,
		                          sizeof *block->times_ns);
	block->times_ns[block->count++] = time_ns;
}

/* All clients' requests in a window of the recording, at `times` their rate. */
static void draw_block(struct tl_arrivals *arrivals, struct tl_client_block *block,
                       unsigned component, int64_t index, double times)
{
	size_t window = (size_t)(index % (int64_t)arrivals->client_windows);
	double length = (double)arrivals->client_window_ns;

	block->index = index;
	block->count = 0;
	for (size_t i = 0; i < arrivals->client_count; i++) {
		const struct tl_client_window *client = &arrivals->clients[i].windows[window];
		double rate = client->rate_rps * 1e-9 * times;

		if (rate <= 0)
			continue;
		uint64_t key = ((uint64_t)i << TL_CLIENT_BLOCK_BITS) | (uint64_t)index;
		tl_rng_gsl_key(arrivals->gsl, arrivals->seed, TL_STREAM_REQUEST,
		               tl_arrival_entity(arrivals, component, TL_PURPOSE_COUNT, key));
		double at = draw_gap(arrivals->gsl, client, true) / rate;
		while (at < length) {
			add_time(block, index * arrivals->client_window_ns + (int64_t)at);
			at += draw_gap(arrivals->gsl, client, false) / rate;
		}
	}
	if (block->count > 1)
		qsort(block->times_ns, block->count, sizeof *block->times_ns, compare_order);
}

static size_t first_of_block(const struct tl_client_block *block, int64_t time_ns)
{
	size_t low = 0, high = block->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (block->times_ns[middle] < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void tl_arrival_clients(struct tl_arrivals *arrivals, size_t layer, int64_t start_ns,
                        int64_t end_ns, struct tl_arrival_block *out)
{
	struct tl_client_block *block = &arrivals->blocks[layer == SIZE_MAX ? 0 : layer + 1];
	unsigned component = component_of(arrivals, layer);
	double most = tl_arrival_multiplicity_max(arrivals, layer);
	int64_t length = arrivals->client_window_ns, index = start_ns / length;

	for (; index * length < end_ns; index++) {
		if (!arrivals->spec.repeat && index >= (int64_t)arrivals->client_windows)
			return;
		if (block->index != index)
			draw_block(arrivals, block, component, index, most);
		for (size_t i = first_of_block(block, start_ns);
		     i < block->count && block->times_ns[i] < end_ns; i++) {
			int64_t time = block->times_ns[i];
			double share = tl_arrival_multiplicity(arrivals, layer, time) / most;

			if (share < 1) {
				uint64_t word =
				    tl_rng_at(arrivals->seed, TL_STREAM_REQUEST,
				              tl_arrival_entity(arrivals, component,
				                                TL_PURPOSE_TIME, (uint64_t)index),
				              i);
				if (uniform_of(word) >= share)
					continue;
			}
			tl_arrival_block_room(out, 1);
			out->times_ns[out->count++] = time;
		}
	}
}

double tl_arrival_clients_rate(const struct tl_arrivals *arrivals, int64_t t_ns)
{
	int64_t index = t_ns / arrivals->client_window_ns;
	double rate = 0;

	if (index >= (int64_t)arrivals->client_windows && !arrivals->spec.repeat)
		return 0;
	for (size_t i = 0; i < arrivals->client_count; i++)
		rate += arrivals->clients[i]
		            .windows[index % (int64_t)arrivals->client_windows]
		            .rate_rps;
	return rate * arrivals->spec.scale;
}
