/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The treap of one lane, over records by slot: expected O(log n), its shape a function of
 * what is in it and never of the order of coming. */
#ifndef TIDELAB_PIPELINE_TREAP_H
#define TIDELAB_PIPELINE_TREAP_H

#include "policies/pipeline/queue.h"

static inline int tl_treap_before(const struct tl_item *item, tl_wide key, uint64_t sequence)
{
	return item->key != key ? item->key < key : item->sequence < sequence;
}

static inline void tl_treap_sum(struct tl_item *items, uint32_t at)
{
	struct tl_item *item = &items[at];
	item->least_ns = item->remaining_ns;
	if (item->left != TL_NO_INDEX && items[item->left].least_ns < item->least_ns)
		item->least_ns = items[item->left].least_ns;
	if (item->right != TL_NO_INDEX && items[item->right].least_ns < item->least_ns)
		item->least_ns = items[item->right].least_ns;
}

static inline void tl_treap_split(struct tl_item *items, uint32_t root, const struct tl_item *by,
                                  uint32_t *low, uint32_t *high)
{
	if (root == TL_NO_INDEX) {
		*low = TL_NO_INDEX;
		*high = TL_NO_INDEX;
		return;
	}
	struct tl_item *item = &items[root];
	if (tl_treap_before(item, by->key, by->sequence)) {
		*low = root;
		tl_treap_split(items, item->right, by, &item->right, high);
	} else {
		*high = root;
		tl_treap_split(items, item->left, by, low, &item->left);
	}
	tl_treap_sum(items, root);
}

static inline uint32_t tl_treap_join(struct tl_item *items, uint32_t low, uint32_t high)
{
	if (low == TL_NO_INDEX)
		return high;
	if (high == TL_NO_INDEX)
		return low;
	uint32_t root;
	if (items[low].rank > items[high].rank) {
		root = low;
		items[low].right = tl_treap_join(items, items[low].right, high);
	} else {
		root = high;
		items[high].left = tl_treap_join(items, low, items[high].left);
	}
	tl_treap_sum(items, root);
	return root;
}

static inline uint32_t tl_treap_add(struct tl_item *items, uint32_t root, uint32_t slot)
{
	struct tl_item *item = &items[slot];
	if (root == TL_NO_INDEX || item->rank > items[root].rank) {
		tl_treap_split(items, root, item, &item->left, &item->right);
		root = slot;
	} else if (tl_treap_before(item, items[root].key, items[root].sequence)) {
		items[root].left = tl_treap_add(items, items[root].left, slot);
	} else {
		items[root].right = tl_treap_add(items, items[root].right, slot);
	}
	tl_treap_sum(items, root);
	return root;
}

/* The slot must be in it. */
static inline uint32_t tl_treap_take(struct tl_item *items, uint32_t root, uint32_t slot)
{
	if (root == slot)
		return tl_treap_join(items, items[slot].left, items[slot].right);
	if (tl_treap_before(&items[slot], items[root].key, items[root].sequence))
		items[root].left = tl_treap_take(items, items[root].left, slot);
	else
		items[root].right = tl_treap_take(items, items[root].right, slot);
	tl_treap_sum(items, root);
	return root;
}

static inline uint32_t tl_treap_first(const struct tl_item *items, uint32_t root)
{
	while (root != TL_NO_INDEX && items[root].left != TL_NO_INDEX)
		root = items[root].left;
	return root;
}

/* The first after (key, sequence) with at most so much to go. */
static inline uint32_t tl_treap_next(const struct tl_item *items, uint32_t root, tl_wide key,
                                     uint64_t sequence, int64_t most_ns)
{
	if (root == TL_NO_INDEX || items[root].least_ns > most_ns)
		return TL_NO_INDEX;
	const struct tl_item *item = &items[root];
	int after = item->key != key ? item->key > key : item->sequence > sequence;
	if (after) {
		uint32_t found = tl_treap_next(items, item->left, key, sequence, most_ns);
		if (found != TL_NO_INDEX)
			return found;
		if (item->remaining_ns <= most_ns)
			return root;
	}
	return tl_treap_next(items, item->right, key, sequence, most_ns);
}

static inline uint32_t tl_treap_count(const struct tl_item *items, uint32_t root, tl_wide key,
                                      uint64_t sequence)
{
	if (root == TL_NO_INDEX)
		return 0;
	const struct tl_item *item = &items[root];
	uint32_t count = tl_treap_count(items, item->left, key, sequence);
	if (tl_treap_before(item, key, sequence))
		count += 1 + tl_treap_count(items, item->right, key, sequence);
	return count;
}

#endif
