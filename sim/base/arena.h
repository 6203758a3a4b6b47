/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory: an arena a trial (freed as one), and growable arrays. Running out of
 * memory ends the process through tl_out_of_memory (exit 71): a trial lives in its
 * own process, so nothing else is lost.
 */
#ifndef TIDELAB_BASE_ARENA_H
#define TIDELAB_BASE_ARENA_H

#include <stddef.h>

_Noreturn void tl_out_of_memory(size_t wanted_bytes);

/* malloc, calloc (count × size, checked) and realloc that never return NULL
 * (for size 0 they return a unique pointer). Free with free(). */
void *tl_alloc(size_t size);
void *tl_calloc(size_t count, size_t size);
void *tl_realloc_array(void *pointer, size_t count, size_t size);
char *tl_strdup(const char *text);
char *tl_strndup(const char *text, size_t length); /* at most so much of it */
/* As printf would print it; one longer than INT_MAX counts as out of memory. */
char *tl_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Puts more behind a malloc'd text, and moves it. */
void tl_append(char **text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Makes room for at least `wanted` elements in a growable array; doubles, so that
 * n appends cost O(n). New room is zeroed. Returns the (moved) array. */
void *tl_grow(void *array, size_t *capacity, size_t wanted, size_t size);

struct tl_arena {
	struct tl_arena_block *head;
	size_t used;  /* of the head block */
	size_t total; /* bytes in all blocks */
};

void tl_arena_init(struct tl_arena *arena);
void tl_arena_fini(struct tl_arena *arena);
/* Zeroed, aligned to 16; lives until tl_arena_fini. */
void *tl_arena_alloc(struct tl_arena *arena, size_t size);
char *tl_arena_strdup(struct tl_arena *arena, const char *text);
char *tl_arena_format(struct tl_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
