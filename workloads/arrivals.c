/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Poisson parts, what is laid over them, and the windows as a whole. */
#include "workloads/arrivals.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "workloads/arrivals_parts.h"

#include <gsl/gsl_randist.h>
#include <math.h>

enum { ENTITY_COMPONENT_BITS = 10 };

uint64_t tl_arrival_entity(const struct tl_arrivals *arrivals, unsigned component,
                           enum tl_arrival_purpose purpose, uint64_t window)
{
	TL_ASSERT(window >> TL_ENTITY_WINDOW_BITS == 0);
	uint64_t part = ((uint64_t)component << 1) | (uint64_t)purpose;
	part |= (uint64_t)arrivals->service << ENTITY_COMPONENT_BITS;
	return (part << TL_ENTITY_WINDOW_BITS) | window;
}

double tl_arrival_event_at(const struct tl_arrival_event *event, int64_t t_ns)
{
	int64_t into = t_ns - event->at_ns, after = into - event->for_ns;

	if (into < 0 || after >= event->ramp_ns)
		return 1;
	double share = 1;
	if (into < event->ramp_ns)
		share = (double)into / (double)event->ramp_ns;
	else if (after > 0)
		share = 1 - (double)after / (double)event->ramp_ns;
	return 1 + share * (event->factor - 1);
}

int64_t tl_arrival_event_next_bend(const struct tl_arrival_event *event, int64_t t_ns)
{
	const int64_t bends[] = {event->at_ns, event->at_ns + event->ramp_ns,
	                         event->at_ns + event->for_ns,
	                         event->at_ns + event->for_ns + event->ramp_ns};

	for (int i = 0; i < 4; i++) {
		if (bends[i] > t_ns)
			return bends[i];
	}
	return TL_NEVER;
}

double tl_arrival_layers_at(const struct tl_arrivals *arrivals, size_t end, int64_t t_ns)
{
	double product = 1;

	for (size_t i = 0; i < end; i++)
		product *= tl_arrival_event_at(&arrivals->layers[i].event, t_ns);
	return product;
}

double tl_arrival_multiplicity(const struct tl_arrivals *arrivals, size_t layer, int64_t t_ns)
{
	if (layer == SIZE_MAX)
		return arrivals->spec.scale;
	double own = tl_arrival_event_at(&arrivals->layers[layer].event, t_ns) - 1;
	return own > 0 ? arrivals->spec.scale * own * tl_arrival_layers_at(arrivals, layer, t_ns)
	               : 0;
}

double tl_arrival_multiplicity_max(const struct tl_arrivals *arrivals, size_t layer)
{
	if (layer == SIZE_MAX)
		return arrivals->spec.scale;
	const struct tl_arrival_event *event = &arrivals->layers[layer].event;
	double most = arrivals->spec.scale * (event->factor - 1);
	for (size_t i = 0; i < layer; i++) {
		const struct tl_arrival_event *below = &arrivals->layers[i].event;
		bool meet = below->at_ns < event->at_ns + event->for_ns + event->ramp_ns &&
		            event->at_ns < below->at_ns + below->for_ns + below->ramp_ns;
		if (meet && below->factor > 1)
			most *= below->factor;
	}
	return most;
}

/* ---- the burst state ---- */

static void extend_chain(struct tl_arrivals *arrivals, int64_t beyond_ns)
{
	const struct tl_arrival_spec *spec = &arrivals->spec;
	uint64_t entity = tl_arrival_entity(arrivals, TL_COMPONENT_CHAIN, TL_PURPOSE_TIME, 0);

	while (arrivals->flip_count == 0 ||
	       arrivals->flips_ns[arrivals->flip_count - 1] <= beyond_ns) {
		size_t n = arrivals->flip_count;
		bool burst = arrivals->starts_in_burst == (n % 2 == 0);
		double mean = (double)(burst ? spec->burst_ns : spec->calm_ns);
		uint64_t word = tl_rng_at(arrivals->seed, TL_STREAM_REQUEST, entity, n);
		double length = -log(1 - (double)(word >> 11) * 0x1p-53) * mean;
		int64_t from = n > 0 ? arrivals->flips_ns[n - 1] : 0;

		if (n == arrivals->flip_capacity)
			arrivals->flips_ns = tl_grow(arrivals->flips_ns, &arrivals->flip_capacity,
			                             n + 1, sizeof *arrivals->flips_ns);
		int64_t step = length < 4e18 ? (int64_t)length + 1 : INT64_C(4000000000000000000);
		arrivals->flips_ns[n] = tl_time_add(from, step);
		arrivals->flip_count++;
	}
}

bool tl_arrival_in_burst(struct tl_arrivals *arrivals, int64_t t_ns, int64_t *until_ns)
{
	extend_chain(arrivals, t_ns);
	const int64_t *flips = arrivals->flips_ns;
	size_t at = arrivals->flip_near; /* the first flip after t */

	if (flips[at] <= t_ns && flips[at + 1] > t_ns) {
		at++; /* there is a later one: flips[at] is not the last */
	} else if (!(flips[at] > t_ns && (at == 0 || flips[at - 1] <= t_ns))) {
		size_t high = arrivals->flip_count - 1;
		at = 0;
		while (at < high) {
			size_t middle = at + (high - at) / 2;
			if (flips[middle] <= t_ns)
				at = middle + 1;
			else
				high = middle;
		}
	}
	arrivals->flip_near = at;
	*until_ns = flips[at];
	return arrivals->starts_in_burst == (at % 2 == 0);
}

/* ---- Poisson parts ---- */

/* Parts are numbered: the base, the burst, the layers. */
enum { PART_BASE, PART_BURST, PART_LAYERS };

static unsigned component_of(const struct tl_arrivals *arrivals, size_t part)
{
	if (part >= PART_LAYERS)
		return arrivals->layers[part - PART_LAYERS].component;
	return part == PART_BASE ? TL_COMPONENT_BASE : TL_COMPONENT_BURST;
}

static double curve_rate(const struct tl_arrivals *arrivals, int64_t t_ns)
{
	const struct tl_arrival_spec *spec = &arrivals->spec;

	if (spec->process == TL_ARRIVALS_POISSON)
		return spec->rate_rps;
	return spec->rate_rps * tl_curve_at(&spec->curve, t_ns);
}

/* A piece of a window over which nothing jumps or bends. */
struct piece {
	int64_t start_ns, end_ns;
	bool burst;
};

/* The piece of a part that begins at `start`. */
static struct piece next_piece(struct tl_arrivals *arrivals, size_t part, int64_t start_ns,
                               int64_t window_end_ns)
{
	const struct tl_arrival_spec *spec = &arrivals->spec;
	struct piece piece = {start_ns, window_end_ns, false};
	int64_t bend;

	if (spec->process != TL_ARRIVALS_POISSON) {
		bend = tl_curve_next_bend(&spec->curve, start_ns);
		piece.end_ns = bend < piece.end_ns ? bend : piece.end_ns;
	}
	if (spec->process == TL_ARRIVALS_MMPP && part >= PART_BURST) {
		piece.burst = tl_arrival_in_burst(arrivals, start_ns, &bend);
		piece.end_ns = bend < piece.end_ns ? bend : piece.end_ns;
	}
	for (size_t i = 0; part >= PART_LAYERS && i <= part - PART_LAYERS; i++) {
		bend = tl_arrival_event_next_bend(&arrivals->layers[i].event, start_ns);
		piece.end_ns = bend < piece.end_ns ? bend : piece.end_ns;
	}
	return piece;
}

/* Requests a second of a part at t. */
static double part_rate(const struct tl_arrivals *arrivals, size_t part, bool burst, int64_t t_ns)
{
	double rate = curve_rate(arrivals, t_ns);

	if (part == PART_BASE)
		return rate;
	if (part == PART_BURST)
		return burst ? rate * (arrivals->spec.burst_factor - 1) : 0;
	size_t layer = part - PART_LAYERS;
	double own = tl_arrival_event_at(&arrivals->layers[layer].event, t_ns) - 1;
	if (own <= 0)
		return 0;
	return rate * (burst ? arrivals->spec.burst_factor : 1) * own *
	       tl_arrival_layers_at(arrivals, layer, t_ns);
}

/* Simpson's rule; the last point is a ns before the end, where the rate may jump. */
static double piece_mean(const struct tl_arrivals *arrivals, size_t part, const struct piece *piece)
{
	int64_t length = piece->end_ns - piece->start_ns;
	double seconds = (double)length * 1e-9;
	double middle = part_rate(arrivals, part, piece->burst, piece->start_ns + length / 2);

	if (arrivals->spec.process == TL_ARRIVALS_POISSON && part == PART_BASE)
		return middle * seconds;
	double first = part_rate(arrivals, part, piece->burst, piece->start_ns);
	double last = part_rate(arrivals, part, piece->burst, piece->end_ns - 1);
	return seconds * (first + 4 * middle + last) / 6;
}

/* Whether a part can have anything in a window. */
static bool part_touches(const struct tl_arrivals *arrivals, size_t part, int64_t start_ns,
                         int64_t end_ns)
{
	if (part == PART_BASE)
		return true;
	if (part == PART_BURST)
		return arrivals->spec.process == TL_ARRIVALS_MMPP &&
		       arrivals->spec.burst_factor > 1;
	const struct tl_arrival_event *event = &arrivals->layers[part - PART_LAYERS].event;
	return event->at_ns < end_ns && event->at_ns + event->for_ns + event->ramp_ns > start_ns;
}

/* n ordered uniform times of [start, end) after out's last. */
static void fill_ordered(struct tl_arrivals *arrivals, struct tl_rng *rng,
                         const struct piece *piece, size_t n, struct tl_arrival_block *out)
{
	if (n == 0)
		return;
	tl_arrival_block_room(out, n);
	if (n > arrivals->sum_capacity)
		arrivals->sums =
		    tl_grow(arrivals->sums, &arrivals->sum_capacity, n, sizeof *arrivals->sums);
	double sum = 0, *sums = arrivals->sums;
	for (size_t i = 0; i < n; i++) {
		sum -= log(1 - tl_rng_uniform(rng));
		sums[i] = sum;
	}
	sum -= log(1 - tl_rng_uniform(rng));
	int64_t length = piece->end_ns - piece->start_ns, *times = out->times_ns + out->count;
	double scale = (double)length / sum;
	for (size_t i = 0; i < n; i++) {
		int64_t into = (int64_t)(sums[i] * scale);
		times[i] = piece->start_ns + (into < length ? into : length - 1);
	}
	out->count += n;
}

/* One part of a window; times too unless out is NULL. Returns how many. */
static uint64_t poisson_part(struct tl_arrivals *arrivals, size_t part, int64_t index,
                             struct tl_arrival_block *out)
{
	int64_t start = index * arrivals->spec.window_ns, end = start + arrivals->spec.window_ns;
	unsigned component = component_of(arrivals, part);
	struct tl_rng rng;
	uint64_t total = 0;

	tl_rng_gsl_key(arrivals->gsl, arrivals->seed, TL_STREAM_REQUEST,
	               tl_arrival_entity(arrivals, component, TL_PURPOSE_COUNT, (uint64_t)index));
	if (out != NULL)
		tl_rng_init(
		    &rng, arrivals->seed, TL_STREAM_REQUEST,
		    tl_arrival_entity(arrivals, component, TL_PURPOSE_TIME, (uint64_t)index));
	while (start < end) {
		struct piece piece = next_piece(arrivals, part, start, end);
		double mean = piece_mean(arrivals, part, &piece);
		uint64_t n = mean > 0 ? gsl_ran_poisson(arrivals->gsl, mean) : 0;

		if (out != NULL)
			fill_ordered(arrivals, &rng, &piece, n, out);
		total += n;
		start = piece.end_ns;
	}
	return total;
}

/* ---- windows ---- */

/* Merges extra into out; of equal times out's own come first. */
static void merge(struct tl_arrival_block *out, const struct tl_arrival_block *extra)
{
	size_t i = out->count, j = extra->count, k = i + j;

	tl_arrival_block_room(out, j);
	out->count = k;
	while (j > 0) {
		bool own = i > 0 && out->times_ns[i - 1] > extra->times_ns[j - 1];
		const struct tl_arrival_block *from = own ? out : extra;
		size_t at = own ? --i : --j;

		k--;
		out->times_ns[k] = from->times_ns[at];
		if (out->has_tokens) {
			out->context_tokens[k] = from->context_tokens[at];
			out->generated_tokens[k] = from->generated_tokens[at];
		}
	}
}

/* An event below 1: keeps each request of out with its factor at that instant. */
static void thin(const struct tl_arrivals *arrivals, const struct tl_arrival_layer *layer,
                 int64_t index, struct tl_arrival_block *out)
{
	struct tl_rng rng;
	size_t kept = 0;

	tl_rng_init(
	    &rng, arrivals->seed, TL_STREAM_REQUEST,
	    tl_arrival_entity(arrivals, layer->component, TL_PURPOSE_TIME, (uint64_t)index));
	for (size_t i = 0; i < out->count; i++) {
		if (tl_rng_uniform(&rng) >= tl_arrival_event_at(&layer->event, out->times_ns[i]))
			continue;
		out->times_ns[kept] = out->times_ns[i];
		if (out->has_tokens) {
			out->context_tokens[kept] = out->context_tokens[i];
			out->generated_tokens[kept] = out->generated_tokens[i];
		}
		kept++;
	}
	out->count = kept;
}

/* A part's requests into an empty block. */
static void draw_part(struct tl_arrivals *arrivals, size_t part, int64_t index,
                      struct tl_arrival_block *out)
{
	size_t layer = part >= PART_LAYERS ? part - PART_LAYERS : SIZE_MAX;

	if (arrivals->requests != NULL)
		tl_arrival_copies(arrivals, layer, out->start_ns, out->end_ns, out);
	else if (arrivals->clients != NULL)
		tl_arrival_clients(arrivals, layer, out->start_ns, out->end_ns, out);
	else
		(void)poisson_part(arrivals, part, index, out);
}

static void clear(const struct tl_arrivals *arrivals, int64_t index, struct tl_arrival_block *block)
{
	bool tokens = arrivals->requests != NULL;

	if (tokens && !block->has_tokens) /* its room was made without them */
		tl_arrival_block_fini(block);
	block->has_tokens = tokens;
	block->count = 0;
	block->start_ns = index * arrivals->spec.window_ns;
	block->end_ns = block->start_ns + arrivals->spec.window_ns;
	tl_arrival_block_room(block, 0);
}

void tl_arrivals_window(struct tl_arrivals *arrivals, int64_t index, struct tl_arrival_block *out)
{
	TL_ASSERT(index >= 0 && index < (INT64_MAX / 2) / arrivals->spec.window_ns);
	clear(arrivals, index, out);
	for (size_t part = 0; part < PART_LAYERS + arrivals->layer_count; part++) {
		if (!part_touches(arrivals, part, out->start_ns, out->end_ns))
			continue;
		if (part == PART_BASE) {
			draw_part(arrivals, part, index, out);
			continue;
		}
		if (part >= PART_LAYERS && arrivals->layers[part - PART_LAYERS].event.factor < 1) {
			thin(arrivals, &arrivals->layers[part - PART_LAYERS], index, out);
			continue;
		}
		clear(arrivals, index, &arrivals->extra);
		draw_part(arrivals, part, index, &arrivals->extra);
		merge(out, &arrivals->extra);
	}
}

uint64_t tl_arrivals_count(struct tl_arrivals *arrivals, int64_t index)
{
	int64_t start = index * arrivals->spec.window_ns, end = start + arrivals->spec.window_ns;
	bool whole = arrivals->spec.process == TL_ARRIVALS_TRACE;
	uint64_t total = 0;

	for (size_t i = 0; i < arrivals->layer_count && !whole; i++)
		whole = arrivals->layers[i].event.factor < 1 &&
		        part_touches(arrivals, PART_LAYERS + i, start, end);
	if (whole) {
		tl_arrivals_window(arrivals, index, &arrivals->counted);
		return arrivals->counted.count;
	}
	for (size_t part = 0; part < PART_LAYERS + arrivals->layer_count; part++) {
		if (part_touches(arrivals, part, start, end))
			total += poisson_part(arrivals, part, index, NULL);
	}
	return total;
}

double tl_arrivals_rate(struct tl_arrivals *arrivals, int64_t t_ns)
{
	double layers = tl_arrival_layers_at(arrivals, arrivals->layer_count, t_ns);
	int64_t until;

	TL_ASSERT(t_ns >= 0);
	if (arrivals->requests != NULL)
		return layers * tl_arrival_copies_rate(arrivals, t_ns);
	if (arrivals->clients != NULL)
		return layers * tl_arrival_clients_rate(arrivals, t_ns);
	if (arrivals->spec.process == TL_ARRIVALS_MMPP &&
	    tl_arrival_in_burst(arrivals, t_ns, &until))
		layers *= arrivals->spec.burst_factor;
	return layers * curve_rate(arrivals, t_ns);
}

int64_t tl_arrivals_window_ns(const struct tl_arrivals *arrivals)
{
	return arrivals->spec.window_ns;
}
