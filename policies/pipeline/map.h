/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From a pair of numbers to a small one: open addressing, nothing is ever removed. Only
 * looked up, never walked, so its order shows nowhere. */
#ifndef TIDELAB_PIPELINE_MAP_H
#define TIDELAB_PIPELINE_MAP_H

#include "policies/lib/hash.h"
#include "policies/pipeline/grow.h"

struct tl_map_entry {
	uint64_t a;
	int64_t b;
	uint32_t value; /* + 1; 0: empty */
	uint32_t reserved;
};

struct tl_map {
	struct tl_map_entry *entries;
	uint32_t room, count; /* room: a power of two */
};

static inline struct tl_map_entry *tl_map_slot(const struct tl_map *map, uint64_t a, int64_t b)
{
	uint64_t at = tl_hash_more(a, (uint64_t)b);
	for (;; at++) {
		struct tl_map_entry *entry = &map->entries[at & (map->room - 1)];
		if (entry->value == 0 || (entry->a == a && entry->b == b))
			return entry;
	}
}

/* TL_NO_INDEX where it is not there. */
static inline uint32_t tl_map_find(const struct tl_map *map, uint64_t a, int64_t b)
{
	if (map->room == 0)
		return TL_NO_INDEX;
	return tl_map_slot(map, a, b)->value - 1;
}

/* 0, or -1 where memory is out. */
static inline int tl_map_add(const struct tl_host *host, struct tl_map *map, uint64_t a, int64_t b,
                             uint32_t value)
{
	if (2 * (map->count + 1) > map->room) {
		struct tl_map old = *map;
		uint32_t room = old.room > 0 ? 2 * old.room : TL_GROW_FIRST;
		map->entries = host->alloc(host, (size_t)room * sizeof(*map->entries));
		if (map->entries == NULL) {
			*map = old;
			return -1;
		}
		map->room = room;
		for (uint32_t i = 0; i < old.room; i++)
			if (old.entries[i].value != 0)
				*tl_map_slot(map, old.entries[i].a, old.entries[i].b) =
				    old.entries[i];
	}
	*tl_map_slot(map, a, b) = (struct tl_map_entry){.a = a, .b = b, .value = value + 1};
	map->count++;
	return 0;
}

#endif
