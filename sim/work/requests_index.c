/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which replica is next: to be routed to, to take from the room, to have an event. */
#include "sim/work/requests_core.h"

#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <string.h>

enum { WORD_BITS = 64, MARGIN = TL_REQUEST_LEVELS / 2, WORDS_OF_BLOCK = 4 };

/* The first set bit at or after `from`, cyclic; one is set. */
static size_t next_set(const uint64_t *mask, size_t words, size_t from)
{
	size_t word = from / WORD_BITS;
	uint64_t bits = mask[word] & (~UINT64_C(0) << from % WORD_BITS);

	while (bits == 0) {
		word = word + 1 == words ? 0 : word + 1;
		bits = mask[word];
	}
	return word * WORD_BITS + (size_t)__builtin_ctzll(bits);
}

/* The index in accepting after the last one chosen. */
static inline size_t after_last(const struct tl_requests *q)
{
	size_t next = q->last + 1; /* SIZE_MAX wraps to 0 */

	return next >= q->accepting_count ? 0 : next;
}

static inline struct tl_replica *chosen(struct tl_requests *q, size_t index)
{
	q->last = index;
	return &q->replicas[q->accepting[index]];
}

/* ---- shortest queue: the accepting by load, from a floating base ---- */

static void level_set(struct tl_requests *q, uint32_t accept, uint32_t load)
{
	uint32_t level = load - q->base;

	if (load < q->base || level >= TL_REQUEST_LEVELS)
		return;
	q->masks[level * q->words + accept / WORD_BITS] |= UINT64_C(1) << accept % WORD_BITS;
	q->levels[level]++;
	q->levels_used |= UINT64_C(1) << level;
}

static void levels_rebuild(struct tl_requests *q, uint32_t least)
{
	q->base = least - (least < MARGIN ? least : MARGIN);
	q->levels_used = 0;
	memset(q->levels, 0, sizeof q->levels);
	memset(q->masks, 0, TL_REQUEST_LEVELS * q->words * sizeof *q->masks);
	for (size_t i = 0; i < q->accepting_count; i++)
		level_set(q, (uint32_t)i, q->replicas[q->accepting[i]].load);
}

static uint32_t least_load(const struct tl_requests *q)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < q->accepting_count; i++)
		if (q->replicas[q->accepting[i]].load < least)
			least = q->replicas[q->accepting[i]].load;
	return least;
}

void tl_requests_level_move(struct tl_requests *q, const struct tl_replica *replica, uint32_t old)
{
	uint32_t level = old - q->base, accept = replica->accept;

	if (replica->load < q->base) {
		levels_rebuild(q, replica->load);
		return;
	}
	if (level < TL_REQUEST_LEVELS) { /* old ≥ base: all loads are */
		q->masks[level * q->words + accept / WORD_BITS] &=
		    ~(UINT64_C(1) << accept % WORD_BITS);
		if (--q->levels[level] == 0)
			q->levels_used &= ~(UINT64_C(1) << level);
	}
	level_set(q, accept, replica->load);
}

static struct tl_replica *choose_shortest(struct tl_requests *q)
{
	size_t level;

	if (q->levels_used == 0)
		levels_rebuild(q, least_load(q));
	level = (size_t)__builtin_ctzll(q->levels_used);
	return chosen(q, next_set(q->masks + level * q->words, q->words, after_last(q)));
}

/* ---- shared queue: those that can take requests ---- */

void tl_requests_free_set(struct tl_requests *q, const struct tl_replica *replica, bool can)
{
	uint64_t *word = &q->masks[replica->accept / WORD_BITS];
	uint64_t bit = UINT64_C(1) << replica->accept % WORD_BITS;

	if (((*word & bit) != 0) == can)
		return;
	*word ^= bit;
	if (can)
		q->levels[0]++;
	else
		q->levels[0]--;
}

struct tl_replica *tl_requests_free_next(struct tl_requests *q)
{
	return chosen(q, next_set(q->masks, q->words, after_last(q)));
}

/* ---- the tree ---- */

struct tl_replica *tl_requests_first_due(struct tl_requests *q)
{
	const int64_t *tree = q->tree;
	int64_t least = tree[1];
	size_t i = 1;

	while (i < q->leaves)
		i = 2 * i + (tree[2 * i] != least);
	return &q->replicas[i - q->leaves];
}

static void tree_rebuild(struct tl_requests *q)
{
	size_t leaves = 1;

	while (leaves < q->replica_count)
		leaves *= 2;
	if (leaves != q->leaves) {
		q->leaves = leaves;
		q->tree = tl_realloc_array(q->tree, 2 * leaves, sizeof *q->tree);
	}
	for (size_t i = 0; i < leaves; i++)
		q->tree[leaves + i] = i < q->replica_count ? q->replicas[i].key : TL_KEY_NEVER;
	q->tree[0] = TL_KEY_NEVER;
	if (leaves == 1)
		return;
	for (size_t i = leaves - 1; i > 0; i--)
		q->tree[i] =
		    q->tree[2 * i] < q->tree[2 * i + 1] ? q->tree[2 * i] : q->tree[2 * i + 1];
}

void tl_requests_index_rebuild(struct tl_requests *q)
{
	size_t count = 0;

	q->accepting =
	    tl_grow(q->accepting, &q->accepting_room, q->replica_count, sizeof *q->accepting);
	for (size_t i = 0; i < q->replica_count; i++) {
		if (q->replicas[i].accept == TL_NO_REPLICA)
			continue;
		q->replicas[i].accept = (uint32_t)count;
		q->accepting[count++] = (uint32_t)i;
	}
	q->accepting_count = count;
	if (!q->ordered)
		return;
	tree_rebuild(q);
	q->words = count / WORD_BITS + 1;
	q->masks = tl_grow(q->masks, &q->mask_room, TL_REQUEST_LEVELS * q->words, sizeof *q->masks);
	if (q->model.routing == TL_ROUTE_SHORTEST_QUEUE) {
		levels_rebuild(q, count > 0 ? least_load(q) : 0);
		return;
	}
	q->levels[0] = 0;
	memset(q->masks, 0, q->words * sizeof *q->masks);
	for (size_t i = 0; i < count; i++) {
		const struct tl_replica *replica = &q->replicas[q->accepting[i]];

		tl_requests_free_set(q, replica,
		                     replica->in_service < (q->llm ? q->model.batch_limit : 1));
	}
}

/* ---- the rules ---- */

static uint64_t route_draw(struct tl_requests *q, uint64_t tag)
{
	uint64_t number = tag >> TL_REQUEST_TRIES_BITS, tries = tag & TL_REQUEST_TRIES_MAX;
	uint64_t block = number / WORDS_OF_BLOCK;

	if (tries > 0 || block != q->route_block) {
		const uint64_t key[2] = {q->seed, TL_STREAM_ROUTE};
		const uint64_t counter[4] = {block, q->service, tries, 0};

		tl_philox4x64(counter, key, q->route_words);
		q->route_block = tries > 0 ? UINT64_MAX : block;
	}
	return q->route_words[number % WORDS_OF_BLOCK];
}

static struct tl_replica *choose_of_two(struct tl_requests *q, uint64_t tag, int64_t limit)
{
	uint64_t word = route_draw(q, tag), n = q->accepting_count;
	uint64_t a = ((word >> 32) * n) >> 32, b = ((word & UINT32_MAX) * (n - 1)) >> 32;
	struct tl_replica *first = &q->replicas[q->accepting[a]], *second;

	if (n == 1) {
		tl_requests_catch_up(q, first, limit);
		return first;
	}
	b += b >= a;
	second = &q->replicas[q->accepting[b]];
	tl_requests_catch_up(q, first, limit);
	tl_requests_catch_up(q, second, limit);
	return second->load < first->load ? second : first;
}

struct tl_replica *tl_requests_choose(struct tl_requests *q, uint64_t tag, int64_t limit)
{
	struct tl_replica *replica;

	switch (q->model.routing) {
	case TL_ROUTE_SHORTEST_QUEUE:
		return choose_shortest(q);
	case TL_ROUTE_POWER_OF_TWO:
		return choose_of_two(q, tag, limit);
	case TL_ROUTE_RANDOM:
		replica =
		    &q->replicas[q->accepting[((tl_u128)route_draw(q, tag) * q->accepting_count) >>
		                              64]];
		break;
	default:
		replica = chosen(q, after_last(q));
		break;
	}
	tl_requests_catch_up(q, replica, limit);
	return replica;
}
