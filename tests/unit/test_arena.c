/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

Test(arena, pieces_are_zeroed_aligned_and_apart)
{
	enum { PIECES = 3000 };
	static unsigned char *pieces[PIECES];
	struct tl_arena arena;

	tl_arena_init(&arena);
	for (size_t i = 0; i < PIECES; i++) {
		size_t size = i * 37 % 300;

		pieces[i] = tl_arena_alloc(&arena, size);
		cr_assert_eq((uintptr_t)pieces[i] % 16, 0);
		for (size_t j = 0; j < size; j++) {
			cr_assert_eq(pieces[i][j], 0);
			pieces[i][j] = (unsigned char)i;
		}
	}
	for (size_t i = 0; i < PIECES; i++)
		for (size_t j = 0; j < i * 37 % 300; j++)
			cr_assert_eq(pieces[i][j], (unsigned char)i);
	tl_arena_fini(&arena);
	cr_assert_eq(arena.total, 0);
}

Test(arena, a_large_piece_leaves_the_head_in_use)
{
	struct tl_arena arena;
	unsigned char *before, *after, *large;

	tl_arena_init(&arena);
	before = tl_arena_alloc(&arena, 16);
	large = tl_arena_alloc(&arena, 1000000);
	after = tl_arena_alloc(&arena, 16);
	cr_assert_eq(after, before + 16);
	memset(large, 1, 1000000);
	cr_assert_eq(*before, 0);
	cr_assert_eq(*after, 0);
	tl_arena_fini(&arena);
}

Test(arena, first_piece_may_be_large)
{
	struct tl_arena arena;
	unsigned char *large;

	tl_arena_init(&arena);
	large = tl_arena_alloc(&arena, 1000000);
	memset(large, 1, 1000000);
	cr_assert_eq(((unsigned char *)tl_arena_alloc(&arena, 1))[0], 0);
	tl_arena_fini(&arena);
}

Test(arena, copies_text)
{
	struct tl_arena arena;
	char source[] = "node-7";
	char *own, *copy;

	tl_arena_init(&arena);
	copy = tl_arena_strdup(&arena, source);
	own = tl_strdup(source);
	source[0] = 'X';
	cr_assert_str_eq(copy, "node-7");
	cr_assert_str_eq(own, "node-7");
	free(own);
	tl_arena_fini(&arena);
}

Test(arena, copies_a_span_of_text)
{
	static const char unended[] = {'a', 'b', 'c'};
	char *some = tl_strndup("rack=4,leaf=8", 6), *all = tl_strndup("rack", SIZE_MAX);
	char *bounded = tl_strndup(unended, sizeof unended), *none = tl_strndup("rack", 0);

	cr_assert_str_eq(some, "rack=4");
	cr_assert_str_eq(all, "rack");
	cr_assert_str_eq(bounded, "abc");
	cr_assert_str_eq(none, "");
	free(some);
	free(all);
	free(bounded);
	free(none);
}

Test(arena, formats_a_text_of_any_length)
{
	struct tl_arena arena;
	char *own, *long_one, *piece;

	tl_arena_init(&arena);
	own = tl_format("%s/%.*s-%d", "folder", 3, "result.h5", -7);
	cr_assert_str_eq(own, "folder/res--7");
	long_one = tl_format("%s%*d", own, 100000, 1);
	cr_assert_eq(strlen(long_one), strlen(own) + 100000);
	cr_assert_eq(long_one[strlen(own) + 99999], '1');
	piece = tl_arena_format(&arena, "%s", long_one);
	cr_assert_str_eq(piece, long_one);
	cr_assert_str_eq(tl_arena_format(&arena, "%s.yaml", "small"), "small.yaml");
	cr_assert_str_eq(piece, long_one);
	free(own);
	free(long_one);
	tl_arena_fini(&arena);
}

Test(arena, appends_to_a_text)
{
	char *text = tl_strdup("");

	for (int i = 0; i < 1000; i++)
		tl_append(&text, "%s%03d", text[0] ? ", " : "", i);
	cr_assert_eq(strlen(text), 1000 * 5 - 2);
	cr_assert_str_eq(text + 995 * 5, "995, 996, 997, 998, 999");
	tl_append(&text, "%s", "");
	tl_append(&text, "; all of it again: %s", text);
	cr_assert_eq(strlen(text), 2 * (1000 * 5 - 2) + strlen("; all of it again: "));
	free(text);
}

Test(arena, growth_doubles_keeps_and_zeroes)
{
	size_t capacity = 0, moves = 0;
	int64_t *array = NULL;

	for (size_t i = 0; i < 100000; i++) {
		size_t before = capacity;

		array = tl_grow(array, &capacity, i + 1, sizeof *array);
		moves += capacity != before;
		cr_assert_eq(array[i], 0);
		array[i] = (int64_t)i;
	}
	for (size_t i = 0; i < 100000; i++)
		cr_assert_eq(array[i], (int64_t)i);
	cr_assert_leq(moves, 14);
	array = tl_grow(array, &capacity, 500000, sizeof *array);
	cr_assert_geq(capacity, 500000);
	cr_assert_eq(array[499999], 0);
	free(array);
}

Test(arena, zero_sizes_give_a_pointer)
{
	void *a = tl_alloc(0), *b = tl_calloc(0, 8), *c = tl_realloc_array(NULL, 0, 8);

	cr_assert(a && b && c);
	free(a);
	free(b);
	free(c);
}

Test(arena, an_overflowing_count_ends_with_71, .exit_code = 71)
{
	free(tl_calloc(SIZE_MAX / 4, 8));
}

Test(arena, an_overflowing_growth_ends_with_71, .exit_code = 71)
{
	size_t capacity = 0;

	free(tl_grow(NULL, &capacity, SIZE_MAX / 4, 8));
}

Test(arena, an_overflowing_piece_ends_with_71, .exit_code = 71)
{
	struct tl_arena arena;

	tl_arena_init(&arena);
	(void)tl_arena_alloc(&arena, SIZE_MAX);
}

/* printf refuses half a surrogate pair as it refuses a text longer than INT_MAX, but at once. */
Test(arena, a_text_that_printf_refuses_ends_with_71, .exit_code = 71)
{
	free(tl_format("%lc", (wint_t)0xd800));
}

Test(arena, a_piece_that_printf_refuses_ends_with_71, .exit_code = 71)
{
	struct tl_arena arena;

	tl_arena_init(&arena);
	(void)tl_arena_format(&arena, "%lc", (wint_t)0xd800);
}
