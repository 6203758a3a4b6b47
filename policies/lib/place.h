/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Placement by score: a place module states how good a node is for one worker; this does
 * the rest. Exact: a shape is refused only where it does not fit, gangs included.
 *
 * A job of one worker goes to the best node it fits. A gang is placed worker after worker,
 * each on the best node as the gang's earlier workers leave it: first the last worker, on a
 * node from which the others still fit, then the full ones, any of which leaves room for
 * the rest. Cost: O(nodes), for a gang O(workers × nodes + GPUs).
 */
#ifndef TIDELAB_LIB_PLACE_H
#define TIDELAB_LIB_PLACE_H

#include "policies/abi/tidelab_policy.h"
#include "policies/lib/fit.h"
#include "policies/lib/hash.h"
#include "policies/lib/view.h"

/* A node that has room for a worker of a shape. */
struct tl_candidate {
	const struct tl_view *view; /* a gang's: with its earlier workers on it */
	const struct tl_shape *shape;
	const struct tl_worker *worker;
	const struct tl_node_view *node;
	uint32_t number; /* of the node */
};

enum tl_ties { TL_TIES_FIRST, TL_TIES_RANDOM };
#define TL_TIES_CHOICES "first|random" /* for the option table, in this order */
#define TL_TIES_OPTION(standard_choice)                                                            \
	{                                                                                          \
		.name = "ties", .type = TL_OPTION_CHOICE, .unit = "",                              \
		.standard = (standard_choice), .choices = TL_TIES_CHOICES,                         \
		.help =                                                                            \
		    "which of equally good nodes: the first, or one drawn from view and shape; "   \
		    "`first` fills the cluster in the order of its list"                           \
	}

/* How a policy places. score: higher is better; NULL: the first node that fits. pick: the
 * GPUs for one worker, out[worker->gpus]; NULL: tl_fit_pick in the style named. pick is asked
 * only for workers of one GPU, where any GPU with room will do. */
struct tl_place_rule {
	int64_t (*score)(void *self, const struct tl_candidate *at);
	void (*pick)(void *self, const struct tl_candidate *at, uint32_t *out);
	void *self;
	enum tl_ties ties;
	enum tl_fit_style style;
};

/* Nodes of one rack, leaf or pod; or one node; or all. */
enum tl_place_level {
	TL_PLACE_NODE,
	TL_PLACE_RACK,
	TL_PLACE_LEAF,
	TL_PLACE_POD,
	TL_PLACE_ANYWHERE
};

struct tl_place_group {
	enum tl_place_level level;
	uint32_t number;
};

/* Working memory of an instance; zero before the first use. */
struct tl_placer {
	const struct tl_host *host;
	struct tl_scratch_view scratch;
	int64_t *scores;
	int64_t *room;   /* a node: full workers that fit it */
	int64_t *beside; /* the same beside the last worker; -1: that one does not fit */
	uint32_t node_room;
};

static inline uint32_t tl_place_group_of(const struct tl_node_view *node, uint32_t number,
                                         enum tl_place_level level)
{
	switch (level) {
	case TL_PLACE_NODE:
		return number;
	case TL_PLACE_RACK:
		return node->rack;
	case TL_PLACE_LEAF:
		return node->leaf;
	case TL_PLACE_POD:
		return node->pod;
	case TL_PLACE_ANYWHERE:
		break;
	}
	return 0;
}

/* Whether a further node beats the best so far: by score, then as ties go. */
struct tl_place_best {
	int64_t score;
	uint64_t draw;
	uint32_t node; /* TL_NO_INDEX: none yet */
};

static inline void tl_place_offer(struct tl_place_best *best, const struct tl_place_rule *rule,
                                  uint64_t seed, uint32_t node, int64_t score)
{
	uint64_t draw = 0;

	if (best->node != TL_NO_INDEX) {
		if (score < best->score || (score == best->score && rule->ties == TL_TIES_FIRST))
			return;
		if (rule->ties == TL_TIES_RANDOM)
			draw = tl_hash_more(seed, node);
		if (score == best->score && draw <= best->draw)
			return;
	} else if (rule->ties == TL_TIES_RANDOM) {
		draw = tl_hash_more(seed, node);
	}
	*best = (struct tl_place_best){score, draw, node};
}

/* What ties are drawn from: the view and the shape, nothing else. */
static inline uint64_t tl_place_seed(const struct tl_view *view, const struct tl_shape *shape)
{
	return tl_hash_more(tl_hash_word(view->version), shape->id);
}

/* Cheap and sure: the shape does not fit. */
static inline int tl_place_hopeless(const struct tl_view *view, const struct tl_shape *shape)
{
	uint64_t full = shape->workers > 1 ? shape->workers - 1 : 0;
	uint64_t whole = 0;
	uint32_t widest = 0;

	if (full > 0 && shape->full.share_mgpu == TL_FIT_WHOLE_MGPU) {
		whole = full * shape->full.gpus;
		widest = shape->full.gpus;
	}
	if (shape->last.share_mgpu == TL_FIT_WHOLE_MGPU) {
		whole += shape->last.gpus;
		widest = shape->last.gpus > widest ? shape->last.gpus : widest;
	}
	return whole > view->free_gpus || widest > view->max_free_gpus_hint ||
	       (int64_t)full * shape->full.gpus * shape->full.share_mgpu +
	               (int64_t)shape->last.gpus * shape->last.share_mgpu >
	           view->free_mgpu;
}

static inline void tl_place_pick(const struct tl_place_rule *rule, const struct tl_candidate *at,
                                 const struct tl_worker *avoid, uint32_t *out)
{
	if (rule->pick && at->worker->gpus == 1 && tl_fit_alike(at->worker, avoid))
		rule->pick(rule->self, at, out);
	else
		tl_fit_pick(at->view, at->node, at->worker, avoid, rule->style, out);
}

static inline int tl_place_single(const struct tl_place_rule *rule, const struct tl_view *view,
                                  const struct tl_shape *shape, struct tl_placement *out)
{
	struct tl_candidate at = {.view = view, .shape = shape, .worker = &shape->last};
	struct tl_place_best best = {.node = TL_NO_INDEX};
	uint64_t seed = tl_place_seed(view, shape);

	for (uint32_t n = 0; n < view->node_count; n++) {
		at.node = tl_view_node(view, n);
		at.number = n;
		if (!tl_fit_node(view, at.node, shape->model_mask, at.worker))
			continue;
		tl_place_offer(&best, rule, seed, n,
		               rule->score ? rule->score(rule->self, &at) : 0);
		if (!rule->score && rule->ties == TL_TIES_FIRST)
			break;
	}
	if (best.node == TL_NO_INDEX)
		return 0;
	at.node = tl_view_node(view, best.node);
	at.number = best.node;
	tl_place_pick(rule, &at, NULL, out->gpus);
	out->nodes[0] = best.node;
	out->worker_count = 1;
	out->gpu_count = shape->last.gpus;
	return 1;
}

/* ---- gangs ------------------------------------------------------------------------- */

static inline int tl_place_ready(struct tl_placer *placer, const struct tl_view *view)
{
	size_t size = (size_t)view->node_count * sizeof(int64_t);

	if (view->node_count <= placer->node_room)
		return 0;
	placer->node_room = 0;
	placer->scores = placer->host->alloc(placer->host, size);
	placer->room = placer->host->alloc(placer->host, size);
	placer->beside = placer->host->alloc(placer->host, size);
	if (!placer->scores || !placer->room || !placer->beside)
		return -1;
	placer->node_room = view->node_count;
	return 0;
}

/* Fills placer->room and ->beside for the shape: 0, or -1 where memory is out. */
static inline int tl_place_measure(struct tl_placer *placer, const struct tl_view *view,
                                   const struct tl_shape *shape)
{
	uint32_t most = shape->workers - 1;

	if (tl_place_ready(placer, view) != 0)
		return -1;
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);

		placer->room[n] =
		    tl_fit_workers(view, node, shape->model_mask, &shape->full, NULL, most);
		placer->beside[n] =
		    tl_fit_workers(view, node, shape->model_mask, &shape->full, &shape->last, most);
	}
	return 0;
}

/* The GPUs of a fractional gang are distinct: one it is on is closed to its other workers. */
static inline void tl_place_put(struct tl_placer *placer, const struct tl_candidate *at,
                                const uint32_t *gpus)
{
	tl_scratch_take_worker(&placer->scratch, at->worker, at->number, gpus);
	if (at->worker->share_mgpu < TL_FIT_WHOLE_MGPU)
		for (uint32_t i = 0; i < at->worker->gpus; i++)
			tl_scratch_close_gpu(&placer->scratch, gpus[i]);
}

static inline int64_t tl_place_score(const struct tl_place_rule *rule, struct tl_candidate *at,
                                     uint32_t node)
{
	at->node = tl_view_node(at->view, node);
	at->number = node;
	return rule->score ? rule->score(rule->self, at) : 0;
}

/* The last worker, on the best node of the group from which the others still fit. */
static inline uint32_t tl_place_last(const struct tl_placer *placer,
                                     const struct tl_place_rule *rule, struct tl_candidate *at,
                                     struct tl_place_group group, uint64_t seed)
{
	struct tl_place_best best = {.node = TL_NO_INDEX};
	int64_t wanted = (int64_t)at->shape->workers - 1, sum = 0;

	at->worker = &at->shape->last;
	for (uint32_t n = 0; n < at->view->node_count; n++)
		if (tl_place_group_of(tl_view_node(at->view, n), n, group.level) == group.number)
			sum += placer->room[n];
	for (uint32_t n = 0; n < at->view->node_count; n++) {
		if (tl_place_group_of(tl_view_node(at->view, n), n, group.level) != group.number ||
		    placer->beside[n] < 0 || sum - placer->room[n] + placer->beside[n] < wanted)
			continue;
		tl_place_offer(&best, rule, seed, n, tl_place_score(rule, at, n));
	}
	return best.node;
}

/* The full workers, one by one; only a node that took one is scored anew. */
static inline void tl_place_fulls(struct tl_placer *placer, const struct tl_place_rule *rule,
                                  struct tl_candidate *at, struct tl_place_group group,
                                  uint64_t seed, struct tl_placement *out)
{
	uint32_t fulls = at->shape->workers - 1;

	at->worker = &at->shape->full;
	for (uint32_t n = 0; n < at->view->node_count; n++) {
		if (tl_place_group_of(tl_view_node(at->view, n), n, group.level) != group.number)
			placer->room[n] = 0;
		if (placer->room[n] > 0)
			placer->scores[n] = tl_place_score(rule, at, n);
	}
	for (uint32_t w = 0; w < fulls; w++) {
		struct tl_place_best best = {.node = TL_NO_INDEX};
		uint32_t *gpus = out->gpus + (size_t)w * at->worker->gpus;
		uint64_t draw = tl_hash_more(seed, w);

		for (uint32_t n = 0; n < at->view->node_count; n++)
			if (placer->room[n] > 0)
				tl_place_offer(&best, rule, draw, n, placer->scores[n]);
		at->node = tl_view_node(at->view, best.node);
		at->number = best.node;
		tl_place_pick(rule, at, NULL, gpus);
		out->nodes[w] = best.node;
		tl_place_put(placer, at, gpus);
		if (--placer->room[best.node] > 0)
			placer->scores[best.node] = tl_place_score(rule, at, best.node);
	}
}

/* Places a gang within a group, after tl_place_measure. 1, or 0 where it does not fit. */
static inline int tl_place_gang(struct tl_placer *placer, const struct tl_place_rule *rule,
                                const struct tl_view *view, const struct tl_shape *shape,
                                struct tl_place_group group, struct tl_placement *out)
{
	struct tl_candidate at = {.view = view, .shape = shape};
	uint64_t seed = tl_place_seed(view, shape);
	uint32_t last = tl_place_last(placer, rule, &at, group, seed);
	uint32_t *gpus = out->gpus + (size_t)(shape->workers - 1) * shape->full.gpus;

	if (last == TL_NO_INDEX || tl_scratch_copy(&placer->scratch, placer->host, view) != 0)
		return 0;
	at.view = &placer->scratch.view;
	at.node = tl_view_node(at.view, last);
	at.number = last;
	tl_place_pick(rule, &at, &shape->full, gpus);
	out->nodes[shape->workers - 1] = last;
	tl_place_put(placer, &at, gpus);
	placer->room[last] = placer->beside[last];
	tl_place_fulls(placer, rule, &at, group, seed, out);
	out->worker_count = shape->workers;
	out->gpu_count = (shape->workers - 1) * shape->full.gpus + shape->last.gpus;
	return 1;
}

/* Whether the caller's arrays hold the shape. */
static inline int tl_place_has_room(const struct tl_shape *shape, const struct tl_placement *out)
{
	return out->worker_room >= shape->workers && out->gpu_room >= shape->gpus;
}

/* choose() of a module that places by score. */
static inline int tl_place_by_score(struct tl_placer *placer, const struct tl_place_rule *rule,
                                    const struct tl_view *view, const struct tl_shape *shape,
                                    struct tl_placement *out)
{
	if (!tl_place_has_room(shape, out) || tl_place_hopeless(view, shape))
		return 0;
	if (shape->workers == 1)
		return tl_place_single(rule, view, shape, out);
	if (tl_place_measure(placer, view, shape) != 0)
		return 0;
	return tl_place_gang(placer, rule, view, shape,
	                     (struct tl_place_group){.level = TL_PLACE_ANYWHERE}, out);
}

#endif
