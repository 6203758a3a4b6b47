/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/engine/eventq.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

/*
 * The heap is held in two arrays, the 16-byte sort keys and the slots they stand for:
 * picking the least of four children reads one cache line and nothing else. What a
 * slot holds besides its place in the heap is only touched on insert and pop.
 */
#ifndef TL_EVENTQ_ARITY
#define TL_EVENTQ_ARITY 4
#endif

enum {
	ARITY = TL_EVENTQ_ARITY,
	CACHE_LINE = 64,
	/* Entry i lives at i + ROOT_OFFSET, so that the children of one parent (ARITY × i + 1
	 * and on) start a cache line. */
	ROOT_OFFSET = ARITY - 1,
	PHASE_SHIFT = 56,
	MIN_CAPACITY = 64
};

#define NO_SLOT UINT32_MAX
#define SEQUENCE_END (UINT64_C(1) << PHASE_SHIFT)

/* time in the upper half, phase and sequence in the lower: one comparison orders events. */
typedef tl_i128 event_key;

#define KEY_LAST ((event_key)(~(tl_u128)0 >> 1))

struct slot {
	uint64_t subject;
	uint32_t kind;
	uint32_t generation; /* of the handle that is valid or comes next; 0: worn out */
};

struct tl_eventq {
	event_key *keys;       /* aligned; unused entries hold KEY_LAST */
	uint32_t *heap_slots;  /* the slot of each heap entry */
	uint32_t *places;      /* by slot: its heap entry, or the next free slot */
	struct slot *slots;
	void *keys_memory;     /* as allocated */
	size_t count, capacity;
	uint32_t used_slots;   /* slots ever handed out */
	uint32_t free_slot;    /* list through places */
	uint64_t sequence;
	size_t by_phase[TL_PHASE_COUNT];
};

static event_key make_key(int64_t time_ns, uint64_t phase, uint64_t sequence)
{
	return (event_key)((tl_u128)(uint64_t)time_ns << 64 | phase << PHASE_SHIFT | sequence);
}

static int64_t key_time(event_key key)
{
	return (int64_t)(key >> 64);
}

static uint64_t key_phase(event_key key)
{
	return (uint64_t)key >> PHASE_SHIFT;
}

/* Room for wanted events. The arrays double, so that steady use allocates nothing. */
static void reserve(struct tl_eventq *queue, size_t wanted)
{
	size_t capacity = queue->capacity ? queue->capacity : MIN_CAPACITY;
	size_t entries;
	void *memory;
	event_key *keys;

	TL_ASSERT(wanted <= NO_SLOT / 2);
	while (capacity < wanted)
		capacity *= 2;
	/* A parent at the end has all its children inside. */
	entries = ROOT_OFFSET + capacity + ARITY;
	memory = tl_alloc(entries * sizeof *keys + CACHE_LINE);
	keys = (event_key *)(((uintptr_t)memory + CACHE_LINE - 1) & ~(uintptr_t)(CACHE_LINE - 1));
	for (size_t i = 0; i < entries; i++)
		keys[i] = i >= ROOT_OFFSET && i < ROOT_OFFSET + queue->count
		              ? queue->keys[i - ROOT_OFFSET]
		              : KEY_LAST;
	free(queue->keys_memory);
	queue->keys_memory = memory;
	queue->keys = keys + ROOT_OFFSET;
	queue->heap_slots =
	    tl_realloc_array(queue->heap_slots, capacity, sizeof *queue->heap_slots);
	queue->places = tl_realloc_array(queue->places, capacity, sizeof *queue->places);
	queue->slots = tl_realloc_array(queue->slots, capacity, sizeof *queue->slots);
	queue->capacity = capacity;
}

struct tl_eventq *tl_eventq_create(size_t expected)
{
	struct tl_eventq *queue = tl_calloc(1, sizeof *queue);

	queue->free_slot = NO_SLOT;
	reserve(queue, expected);
	return queue;
}

void tl_eventq_destroy(struct tl_eventq *queue)
{
	if (!queue)
		return;
	free(queue->keys_memory);
	free(queue->heap_slots);
	free(queue->places);
	free(queue->slots);
	free(queue);
}

size_t tl_eventq_count(const struct tl_eventq *queue)
{
	return queue->count;
}

size_t tl_eventq_count_phase(const struct tl_eventq *queue, enum tl_phase phase)
{
	return queue->by_phase[phase];
}

static void put_entry(struct tl_eventq *queue, size_t entry, event_key key, uint32_t slot)
{
	queue->keys[entry] = key;
	queue->heap_slots[entry] = slot;
	queue->places[slot] = (uint32_t)entry;
}

/* Moves the hole at entry up to where key belongs, and fills it. */
static void sift_up(struct tl_eventq *queue, size_t entry, event_key key, uint32_t slot)
{
	while (entry > 0) {
		size_t parent = (entry - 1) / ARITY;

		if (queue->keys[parent] < key)
			break;
		put_entry(queue, entry, queue->keys[parent], queue->heap_slots[parent]);
		entry = parent;
	}
	put_entry(queue, entry, key, slot);
}

/* The least of the children from first on; unused entries hold KEY_LAST and lose. */
static size_t least_child(const event_key *keys, size_t first)
{
	size_t least = first;
	event_key least_key = keys[first];

	for (size_t i = 1; i < ARITY; i++) {
		event_key key = keys[first + i];
		bool smaller = key < least_key;

		least = smaller ? first + i : least;
		least_key = smaller ? key : least_key;
	}
	return least;
}

/* Moves the hole at entry down to where key belongs, and fills it. */
static void sift_down(struct tl_eventq *queue, size_t entry, event_key key, uint32_t slot)
{
	const event_key *keys = queue->keys;
	size_t first;

	while ((first = entry * ARITY + 1) < queue->count) {
		size_t least = least_child(keys, first);

		if (key < keys[least])
			break;
		put_entry(queue, entry, keys[least], queue->heap_slots[least]);
		entry = least;
	}
	put_entry(queue, entry, key, slot);
}

/* Takes entry out of the heap: the last entry fills the hole. */
static void remove_entry(struct tl_eventq *queue, size_t entry)
{
	size_t last = --queue->count;
	event_key key = queue->keys[last];
	uint32_t slot = queue->heap_slots[last];

	queue->keys[last] = KEY_LAST;
	if (entry == last)
		return;
	if (entry > 0 && key < queue->keys[(entry - 1) / ARITY])
		sift_up(queue, entry, key, slot);
	else
		sift_down(queue, entry, key, slot);
}

static uint32_t take_slot(struct tl_eventq *queue)
{
	uint32_t slot = queue->free_slot;

	if (slot != NO_SLOT) {
		queue->free_slot = queue->places[slot];
		return slot;
	}
	if (queue->used_slots == queue->capacity)
		reserve(queue, queue->capacity + 1);
	slot = queue->used_slots++;
	queue->slots[slot].generation = 1;
	return slot;
}

/* Makes every handle of slot stale. A slot whose generations are used up stays out. */
static void release_slot(struct tl_eventq *queue, uint32_t slot)
{
	if (++queue->slots[slot].generation == 0)
		return;
	queue->places[slot] = queue->free_slot;
	queue->free_slot = slot;
}

static uint64_t next_sequence(struct tl_eventq *queue)
{
	TL_ASSERT(queue->sequence < SEQUENCE_END);
	return queue->sequence++;
}

tl_event_handle tl_eventq_insert(struct tl_eventq *queue, int64_t time_ns, enum tl_phase phase,
                                 uint32_t kind, uint64_t subject)
{
	uint32_t slot;

	TL_ASSERT((unsigned)phase < TL_PHASE_COUNT);
	slot = take_slot(queue);
	queue->slots[slot].kind = kind;
	queue->slots[slot].subject = subject;
	queue->by_phase[phase]++;
	sift_up(queue, queue->count++, make_key(time_ns, (uint64_t)phase, next_sequence(queue)),
	        slot);
	return (uint64_t)queue->slots[slot].generation << 32 | slot;
}

bool tl_eventq_peek(const struct tl_eventq *queue, struct tl_event *out)
{
	const struct slot *slot;

	if (queue->count == 0)
		return false;
	slot = &queue->slots[queue->heap_slots[0]];
	out->time_ns = key_time(queue->keys[0]);
	out->phase = (uint8_t)key_phase(queue->keys[0]);
	out->kind = slot->kind;
	out->subject = slot->subject;
	out->handle = (uint64_t)slot->generation << 32 | queue->heap_slots[0];
	return true;
}

bool tl_eventq_pop(struct tl_eventq *queue, struct tl_event *out)
{
	uint32_t slot;

	if (!tl_eventq_peek(queue, out))
		return false;
	slot = queue->heap_slots[0];
	queue->by_phase[out->phase]--;
	remove_entry(queue, 0);
	release_slot(queue, slot);
	return true;
}

bool tl_eventq_pending(const struct tl_eventq *queue, tl_event_handle handle)
{
	uint32_t slot = (uint32_t)handle;
	uint32_t generation = (uint32_t)(handle >> 32);

	/* A free slot's generation has not been handed out yet, so no caller can hold it;
	 * a made-up handle is caught by the slot of its place. */
	return generation != 0 && slot < queue->used_slots &&
	       queue->slots[slot].generation == generation &&
	       queue->places[slot] < queue->count &&
	       queue->heap_slots[queue->places[slot]] == slot;
}

bool tl_eventq_cancel(struct tl_eventq *queue, tl_event_handle handle)
{
	uint32_t slot = (uint32_t)handle;
	size_t entry;

	if (!tl_eventq_pending(queue, handle))
		return false;
	entry = queue->places[slot];
	queue->by_phase[key_phase(queue->keys[entry])]--;
	remove_entry(queue, entry);
	release_slot(queue, slot);
	return true;
}

bool tl_eventq_reschedule(struct tl_eventq *queue, tl_event_handle handle, int64_t time_ns)
{
	uint32_t slot = (uint32_t)handle;
	event_key key;
	size_t entry;

	if (!tl_eventq_pending(queue, handle))
		return false;
	entry = queue->places[slot];
	key = make_key(time_ns, key_phase(queue->keys[entry]), next_sequence(queue));
	if (key < queue->keys[entry])
		sift_up(queue, entry, key, slot);
	else
		sift_down(queue, entry, key, slot);
	return true;
}
