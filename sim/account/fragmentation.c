/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/account/fragmentation.h"

#include "policies/lib/fragmentation.h"
#include "sim/base/arena.h"

#include <stdlib.h>

struct cached {
	uint64_t version;
	int64_t mgpu;
};

struct tl_frag_book {
	struct tl_fragmentation frag;
	struct cached *nodes;
	int64_t sum_mgpu;
};

struct tl_frag_book *tl_frag_book_create(const struct tl_shape *const *shapes, size_t count,
                                         uint32_t node_count)
{
	struct tl_frag_book *book = tl_calloc(1, sizeof(*book));
	struct tl_frag_task *tasks = tl_calloc(2 * count + 1, sizeof(*tasks));
	size_t length = 0;

	for (size_t i = 0; i < count; i++)
		length = tl_frag_add_shape(tasks, length, shapes[i], shapes[i]->expected_count);
	tl_frag_build(&book->frag, tasks, length);
	free(tasks);
	book->nodes = tl_calloc(node_count, sizeof(*book->nodes));
	for (uint32_t n = 0; n < node_count; n++)
		book->nodes[n].version = UINT64_MAX;
	return book;
}

void tl_frag_book_destroy(struct tl_frag_book *book)
{
	if (book == NULL)
		return;
	free(book->nodes);
	free(book);
}

int64_t tl_frag_book_mgpu(struct tl_frag_book *book, const struct tl_view *view)
{
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);
		struct cached *cached = &book->nodes[n];

		if (cached->version == node->version)
			continue;
		book->sum_mgpu -= cached->mgpu;
		cached->version = node->version;
		cached->mgpu = tl_frag_mgpu(&book->frag, view, node);
		book->sum_mgpu += cached->mgpu;
	}
	return book->sum_mgpu;
}
