/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Strings to small dense numbers, in order of first sight (so the numbering is
 * that of the input, never of a hash table). */
#ifndef TIDELAB_BASE_INTERN_H
#define TIDELAB_BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

struct tl_intern {
	char **names;    /* names[i], i < count; valid until fini */
	uint32_t *table; /* open addressing: index + 1, 0 empty */
	size_t count, capacity, table_size;
};

void tl_intern_init(struct tl_intern *intern);
void tl_intern_fini(struct tl_intern *intern);
/* The number of name, a new one where it was not seen before. Expected O(length). */
uint32_t tl_intern_put(struct tl_intern *intern, const char *name);
/* The number of name, or -1. */
int64_t tl_intern_find(const struct tl_intern *intern, const char *name);

#endif
