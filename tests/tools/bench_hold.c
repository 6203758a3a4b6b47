/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The hold model on the event queue: n events pending, each operation pops the first
 * and pushes one at its time + Exp(1). Beside it a plain binary heap of whole event
 * structs, which can neither cancel nor reschedule, on the same increments in the same
 * run: the ratio means more than the nanoseconds, which are the machine's.
 *
 * usage: bench_hold [operations]
 */
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/engine/eventq.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { INCREMENTS = 1 << 16, REPEATS = 3 };

static int64_t increments[INCREMENTS];

/* Of this process: others use the machine too. */
static double seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void draw_increments(void)
{
	struct tl_rng rng;

	tl_rng_init(&rng, 1, TL_STREAM_TEST, 0);
	for (size_t i = 0; i < INCREMENTS; i++)
		increments[i] = (int64_t)(-log1p(-tl_rng_uniform(&rng)) * (double)TL_NS_PER_S);
}

/* The textbook's: parent i, children 2i and 2i + 1, whole structs swapped. */
struct plain_event {
	int64_t time_ns;
	uint64_t sequence;
	uint64_t subject;
	uint32_t kind;
	uint8_t phase;
};

struct plain_heap {
	struct plain_event *events; /* from 1 */
	size_t count;
	uint64_t sequence;
};

static int plain_before(const struct plain_event *a, const struct plain_event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns;
	if (a->phase != b->phase)
		return a->phase < b->phase;
	return a->sequence < b->sequence;
}

static void plain_swap(struct plain_event *a, struct plain_event *b)
{
	struct plain_event kept = *a;

	*a = *b;
	*b = kept;
}

static void plain_push(struct plain_heap *heap, struct plain_event event)
{
	size_t i = ++heap->count;

	event.sequence = heap->sequence++;
	heap->events[i] = event;
	for (; i > 1 && plain_before(&heap->events[i], &heap->events[i / 2]); i /= 2)
		plain_swap(&heap->events[i], &heap->events[i / 2]);
}

static struct plain_event plain_pop(struct plain_heap *heap)
{
	struct plain_event first = heap->events[1];
	size_t i = 1;

	heap->events[1] = heap->events[heap->count--];
	for (;;) {
		size_t child = 2 * i;

		if (child > heap->count)
			break;
		if (child < heap->count &&
		    plain_before(&heap->events[child + 1], &heap->events[child]))
			child++;
		if (!plain_before(&heap->events[child], &heap->events[i]))
			break;
		plain_swap(&heap->events[child], &heap->events[i]);
		i = child;
	}
	return first;
}

/* Nanoseconds a pop and push; *last is the time of the last event, for comparison. */
static double hold_plain(size_t pending, size_t operations, int64_t *last)
{
	struct plain_heap heap = {.events = tl_calloc(pending + 1, sizeof *heap.events)};
	double begin;

	for (size_t i = 0; i < pending; i++)
		plain_push(&heap, (struct plain_event){.time_ns = increments[i % INCREMENTS]});
	begin = seconds_now();
	for (size_t i = 0; i < operations; i++) {
		struct plain_event event = plain_pop(&heap);

		*last = event.time_ns;
		event.time_ns += increments[i % INCREMENTS];
		plain_push(&heap, event);
	}
	begin = seconds_now() - begin;
	free(heap.events);
	return begin / (double)operations * 1e9;
}

static double hold_ours(size_t pending, size_t operations, int64_t *last)
{
	struct tl_eventq *queue = tl_eventq_create(pending);
	double begin;

	for (size_t i = 0; i < pending; i++)
		(void)tl_eventq_insert(queue, increments[i % INCREMENTS], TL_PHASE_COMPLETION, 0,
		                       i);
	begin = seconds_now();
	for (size_t i = 0; i < operations; i++) {
		struct tl_event event;

		(void)tl_eventq_pop(queue, &event);
		*last = event.time_ns;
		(void)tl_eventq_insert(queue, event.time_ns + increments[i % INCREMENTS],
		                       TL_PHASE_COMPLETION, event.kind, event.subject);
	}
	begin = seconds_now() - begin;
	tl_eventq_destroy(queue);
	return begin / (double)operations * 1e9;
}

int main(int argc, char **argv)
{
	static const size_t sizes[] = {1000, 100000, 1000000};
	int64_t operations = 3000000;
	double ours_first = 0;

	if (argc > 1 && (tl_parse_int(argv[1], &operations, NULL) != TL_OK || operations < 1)) {
		(void)fprintf(stderr, "usage: bench_hold [operations]\n");
		return 64;
	}
	draw_increments();
	(void)printf("%10s %14s %14s %12s %12s\n", "pending", "ours ns/op", "plain ns/op",
	             "plain/ours", "ours/10^3");
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		double ours = INFINITY, plain = INFINITY;
		int64_t last_ours = 0, last_plain = 0;

		/* The best of a few: caches are shared as well. */
		for (int repeat = 0; repeat < REPEATS; repeat++) {
			ours = fmin(ours, hold_ours(sizes[i], (size_t)operations, &last_ours));
			plain = fmin(plain, hold_plain(sizes[i], (size_t)operations, &last_plain));
		}
		if (last_ours != last_plain) {
			(void)fprintf(stderr, "bench_hold: the two queues differ\n");
			return 70;
		}
		if (i == 0)
			ours_first = ours;
		(void)printf("%10zu %14.1f %14.1f %12.2f %12.2f\n", sizes[i], ours, plain,
		             plain / ours, ours / ours_first);
	}
	return 0;
}
