/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/arena.h"

#include "sim/base/error.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_ALIGN = 16, ARENA_BLOCK = 64 * 1024, GROW_FIRST = 16 };

struct tl_arena_block {
	struct tl_arena_block *next;
	size_t size; /* of data */
	_Alignas(ARENA_ALIGN) unsigned char data[];
};

void tl_out_of_memory(size_t wanted_bytes)
{
	/* No stdio buffer: it may want memory. */
	char text[80];
	int length =
	    snprintf(text, sizeof text, "tidelab: out of memory: wanted %zu bytes\n", wanted_bytes);

	if (length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(tl_status_exit_code(TL_E_OS));
	_exit(tl_status_exit_code(TL_E_OS));
}

static size_t checked_product(size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size)
		tl_out_of_memory(SIZE_MAX);
	return count * size;
}

void *tl_alloc(size_t size)
{
	void *pointer = malloc(size ? size : 1);

	if (!pointer)
		tl_out_of_memory(size);
	return pointer;
}

void *tl_calloc(size_t count, size_t size)
{
	size_t total = checked_product(count, size);
	void *pointer = calloc(total ? total : 1, 1);

	if (!pointer)
		tl_out_of_memory(total);
	return pointer;
}

void *tl_realloc_array(void *pointer, size_t count, size_t size)
{
	size_t total = checked_product(count, size);
	void *moved = realloc(pointer, total ? total : 1);

	if (!moved)
		tl_out_of_memory(total);
	return moved;
}

char *tl_strdup(const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(tl_alloc(size), text, size);
}

char *tl_strndup(const char *text, size_t length)
{
	size_t size = strnlen(text, length);
	char *copy = tl_alloc(size + 1);

	copy[size] = '\0';
	return memcpy(copy, text, size);
}

void *tl_grow(void *array, size_t *capacity, size_t wanted, size_t size)
{
	size_t old = *capacity;
	size_t room = old;

	if (wanted <= old)
		return array;
	if (room < GROW_FIRST)
		room = GROW_FIRST;
	while (room < wanted)
		room = room > SIZE_MAX / 2 ? wanted : room * 2;
	array = tl_realloc_array(array, room, size);
	memset((unsigned char *)array + old * size, 0, (room - old) * size);
	*capacity = room;
	return array;
}

void tl_arena_init(struct tl_arena *arena)
{
	*arena = (struct tl_arena){0};
}

void tl_arena_fini(struct tl_arena *arena)
{
	struct tl_arena_block *block = arena->head;

	while (block) {
		struct tl_arena_block *next = block->next;

		free(block);
		block = next;
	}
	*arena = (struct tl_arena){0};
}

static struct tl_arena_block *block_create(struct tl_arena *arena, size_t size)
{
	struct tl_arena_block *block;

	if (size > SIZE_MAX - sizeof *block)
		tl_out_of_memory(size);
	block = tl_calloc(1, sizeof *block + size);
	block->size = size;
	arena->total += size;
	return block;
}

void *tl_arena_alloc(struct tl_arena *arena, size_t size)
{
	struct tl_arena_block *block = arena->head;
	void *pointer;

	if (size > SIZE_MAX - ARENA_ALIGN)
		tl_out_of_memory(size);
	size = size == 0 ? ARENA_ALIGN : (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	if (block && size > ARENA_BLOCK / 4 && size > block->size - arena->used) {
		/* A block of its own, behind the head, whose rest stays in use. */
		struct tl_arena_block *large = block_create(arena, size);

		large->next = block->next;
		block->next = large;
		return large->data;
	}
	if (!block || size > block->size - arena->used) {
		struct tl_arena_block *fresh =
		    block_create(arena, size > ARENA_BLOCK ? size : ARENA_BLOCK);

		fresh->next = block;
		arena->head = block = fresh;
		arena->used = 0;
	}
	pointer = block->data + arena->used;
	arena->used += size;
	return pointer;
}

char *tl_arena_strdup(struct tl_arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;

	return memcpy(tl_arena_alloc(arena, size), text, size);
}

/* In the arena, or malloc'd without one. */
static char *formatted(struct tl_arena *arena, const char *format, va_list arguments)
{
	va_list again;
	int length;
	size_t size;
	char *text;

	va_copy(again, arguments);
	length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (length < 0)
		tl_out_of_memory(SIZE_MAX);
	size = (size_t)length + 1;
	text = arena ? tl_arena_alloc(arena, size) : tl_alloc(size);
	(void)vsnprintf(text, size, format, arguments);
	return text;
}

char *tl_format(const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = formatted(NULL, format, arguments);
	va_end(arguments);
	return text;
}

void tl_append(char **text, const char *format, ...)
{
	size_t used = strlen(*text), size;
	va_list arguments;
	char *more;

	va_start(arguments, format);
	more = formatted(NULL, format, arguments);
	va_end(arguments);
	size = strlen(more) + 1;
	*text = tl_realloc_array(*text, used + size, 1);
	memcpy(*text + used, more, size);
	free(more);
}

char *tl_arena_format(struct tl_arena *arena, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = formatted(arena, format, arguments);
	va_end(arguments);
	return text;
}
