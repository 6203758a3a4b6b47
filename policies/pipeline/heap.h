/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A binary heap of small numbers that knows where each one sits, so that any can be
 * removed or moved in O(log n). The order is the owner's. */
#ifndef TIDELAB_PIPELINE_HEAP_H
#define TIDELAB_PIPELINE_HEAP_H

#include "policies/pipeline/grow.h"

struct tl_heap {
	uint32_t *items;
	uint32_t count, room;
};

/* The owner's side: `place` is an array by number with the heap index + 1, 0: not in it. */
struct tl_heap_order {
	int (*before)(const void *ctx, uint32_t a, uint32_t b);
	const void *ctx;
	uint32_t *place;
};

static inline void tl_heap_set(struct tl_heap *heap, const struct tl_heap_order *order, uint32_t at,
                               uint32_t item)
{
	heap->items[at] = item;
	order->place[item] = at + 1;
}

static inline void tl_heap_up(struct tl_heap *heap, const struct tl_heap_order *order, uint32_t at)
{
	uint32_t item = heap->items[at];
	while (at > 0) {
		uint32_t parent = (at - 1) / 2;
		if (!order->before(order->ctx, item, heap->items[parent]))
			break;
		tl_heap_set(heap, order, at, heap->items[parent]);
		at = parent;
	}
	tl_heap_set(heap, order, at, item);
}

static inline void tl_heap_down(struct tl_heap *heap, const struct tl_heap_order *order,
                                uint32_t at)
{
	uint32_t item = heap->items[at];
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child >= heap->count)
			break;
		if (child + 1 < heap->count &&
		    order->before(order->ctx, heap->items[child + 1], heap->items[child]))
			child++;
		if (!order->before(order->ctx, heap->items[child], item))
			break;
		tl_heap_set(heap, order, at, heap->items[child]);
		at = child;
	}
	tl_heap_set(heap, order, at, item);
}

/* 0, or -1 where memory is out. The item must not be in the heap. */
static inline int tl_heap_add(const struct tl_host *host, struct tl_heap *heap,
                              const struct tl_heap_order *order, uint32_t item)
{
	int grown = 0;
	TL_GROW(host, heap->items, heap->room, heap->count + 1, grown);
	if (grown != 0)
		return -1;
	heap->items[heap->count++] = item;
	tl_heap_up(heap, order, heap->count - 1);
	return 0;
}

/* Nothing where the item is not in the heap. */
static inline void tl_heap_remove(struct tl_heap *heap, const struct tl_heap_order *order,
                                  uint32_t item)
{
	if (order->place[item] == 0)
		return;
	uint32_t at = order->place[item] - 1;
	order->place[item] = 0;
	uint32_t last = heap->items[--heap->count];
	if (at == heap->count)
		return;
	tl_heap_set(heap, order, at, last);
	tl_heap_up(heap, order, at);
	tl_heap_down(heap, order, order->place[last] - 1);
}

#endif
