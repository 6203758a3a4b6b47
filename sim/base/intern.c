/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/intern.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <stdlib.h>
#include <string.h>

enum { TABLE_FIRST = 64 };

/* FNV-1a: it places names in the table and never shows in a number given out. */
static uint64_t hash_name(const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		hash = (hash ^ *p) * UINT64_C(1099511628211);
	return hash ^ (hash >> 32);
}

void tl_intern_init(struct tl_intern *intern)
{
	*intern = (struct tl_intern){0};
}

void tl_intern_fini(struct tl_intern *intern)
{
	for (size_t i = 0; i < intern->count; i++)
		free(intern->names[i]);
	free(intern->names);
	free(intern->table);
	*intern = (struct tl_intern){0};
}

/* The table place where name is, or the empty one where it would go. */
static size_t find_place(const struct tl_intern *intern, const char *name)
{
	size_t mask = intern->table_size - 1;
	size_t place = (size_t)hash_name(name) & mask;

	while (intern->table[place] != 0 &&
	       strcmp(intern->names[intern->table[place] - 1], name) != 0)
		place = (place + 1) & mask;
	return place;
}

static void rebuild_table(struct tl_intern *intern)
{
	size_t size = intern->table_size ? intern->table_size * 2 : TABLE_FIRST;

	free(intern->table);
	intern->table = tl_calloc(size, sizeof *intern->table);
	intern->table_size = size;
	for (size_t i = 0; i < intern->count; i++)
		intern->table[find_place(intern, intern->names[i])] = (uint32_t)(i + 1);
}

uint32_t tl_intern_put(struct tl_intern *intern, const char *name)
{
	size_t place;

	/* At most two thirds full, so that a probe is short. */
	if ((intern->count + 1) * 3 > intern->table_size * 2)
		rebuild_table(intern);
	place = find_place(intern, name);
	if (intern->table[place] != 0)
		return intern->table[place] - 1;
	TL_ASSERT(intern->count < UINT32_MAX);
	intern->names =
	    tl_grow(intern->names, &intern->capacity, intern->count + 1, sizeof *intern->names);
	intern->names[intern->count] = tl_strdup(name);
	intern->count++;
	intern->table[place] = (uint32_t)intern->count;
	return (uint32_t)(intern->count - 1);
}

int64_t tl_intern_find(const struct tl_intern *intern, const char *name)
{
	if (intern->count == 0)
		return -1;
	return (int64_t)intern->table[find_place(intern, name)] - 1;
}
