/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The allocator of the hostile flavour, put before libc's by the linker (--wrap).
 *
 * Fresh memory is filled with 0xA5 and freed memory with 0x5A, so that reading what was
 * never written, or was given back, shows; realloc always moves, so that a pointer kept
 * across it is caught. Sizes are libc's own (malloc_usable_size), hence memory that a
 * library allocated may be freed here and the other way round.
 *
 * TL_HOSTILE_FAIL_AT=N fails the N-th allocation (from 1) of the process, `N+` it and all
 * after; a forked child counts on from its parent's count.
 */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FRESH = 0xA5, FREED = 0x5A };

void *__real_malloc(size_t size);
void __real_free(void *pointer);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void __wrap_free(void *pointer);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t size);

static unsigned long fail_at; /* 0: never */
static bool fail_on;          /* every one after it too */
static unsigned long allocations;
static bool asked;

static bool must_fail(void)
{
	if (!asked) {
		const char *wanted = getenv("TL_HOSTILE_FAIL_AT");
		char *end = NULL;
		asked = true;
		if (wanted != NULL) {
			fail_at = strtoul(wanted, &end, 10);
			fail_on = *end == '+';
		}
	}
	/* Workers of a sweep are processes, but a library may run threads. */
	unsigned long mine = __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
	return fail_at != 0 && (mine == fail_at || (fail_on && mine > fail_at));
}

static void *fresh(size_t size)
{
	if (must_fail()) {
		errno = ENOMEM;
		return NULL;
	}
	void *pointer = __real_malloc(size);
	if (pointer != NULL) {
		memset(pointer, FRESH, malloc_usable_size(pointer));
	}
	return pointer;
}

void *__wrap_malloc(size_t size)
{
	return fresh(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	if (size != 0 && count > SIZE_MAX / size) {
		errno = ENOMEM;
		return NULL;
	}
	void *pointer = fresh(count * size);
	if (pointer != NULL) {
		memset(pointer, 0, count * size);
	}
	return pointer;
}

void __wrap_free(void *pointer)
{
	if (pointer != NULL) {
		int kept = errno;
		memset(pointer, FREED, malloc_usable_size(pointer));
		__real_free(pointer);
		errno = kept;
	}
}

void *__wrap_realloc(void *pointer, size_t size)
{
	if (pointer == NULL) {
		return fresh(size);
	}
	void *moved = fresh(size);
	if (moved == NULL) {
		return NULL;
	}
	size_t old = malloc_usable_size(pointer);
	memcpy(moved, pointer, old < size ? old : size);
	__wrap_free(pointer);
	return moved;
}

char *__wrap_strndup(const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	char *copy = fresh(length + 1);
	if (copy != NULL) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, SIZE_MAX);
}
