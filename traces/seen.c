/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/seen.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 1024 };

void tl_seen_init(struct tl_seen *seen)
{
	memset(seen, 0, sizeof *seen);
}

void tl_seen_fini(struct tl_seen *seen)
{
	free(seen->slots);
	tl_seen_init(seen);
}

/* The slot of hash, or the empty one where it would go. */
static uint64_t *find_slot(const struct tl_seen *seen, uint64_t hash)
{
	size_t at = (size_t)hash & (seen->size - 1);
	while (seen->slots[at] != 0 && seen->slots[at] != hash)
		at = (at + 1) & (seen->size - 1);
	return &seen->slots[at];
}

static void enlarge(struct tl_seen *seen)
{
	struct tl_seen wider = {.size = seen->size == 0 ? FIRST_SIZE : 2 * seen->size,
	                        .count = seen->count};

	wider.slots = tl_calloc(wider.size, sizeof *wider.slots);
	for (size_t i = 0; i < seen->size; i++) {
		if (seen->slots[i] != 0)
			*find_slot(&wider, seen->slots[i]) = seen->slots[i];
	}
	free(seen->slots);
	*seen = wider;
}

bool tl_seen_put(struct tl_seen *seen, uint64_t hash)
{
	if (hash == 0)
		hash = 1;
	if (2 * (seen->count + 1) > seen->size)
		enlarge(seen);
	uint64_t *slot = find_slot(seen, hash);
	if (*slot == hash)
		return true;
	*slot = hash;
	seen->count++;
	return false;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 29;
	x *= UINT64_C(0xD6E8FEB86659FD93);
	x ^= x >> 32;
	x *= UINT64_C(0xA3AA57B1C2D8E6F5);
	return x ^ (x >> 31);
}

uint64_t tl_hash_bytes(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) ^ size;

	for (; size >= 8; size -= 8, at += 8) {
		uint64_t word;
		memcpy(&word, at, 8);
		hash = mix(hash ^ word) + UINT64_C(0x632BE59BD9B4E019);
	}
	uint64_t tail = 0;
	memcpy(&tail, at, size);
	return mix(hash ^ tail);
}
