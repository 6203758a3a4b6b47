/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * As near together as can be: a gang goes into one node, else one rack, else one leaf, else
 * one pod, else anywhere; of several such groups into the tightest, and there into the
 * tightest nodes. Whole GPUs are taken as intact pairs side by side (two a PCIe switch)
 * where there are such, single ones from broken pairs. O(nodes + their GPUs) a level.
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { CONTIGUOUS = 1 << 30 };

/* What a group of nodes holds for the gang being placed. */
struct group {
	int64_t room;      /* full workers that fit */
	int64_t last_cost; /* how many fewer beside the last one, at best; -1: it does not fit */
	int64_t free_mgpu;
	uint32_t nodes;
};

struct topology {
	const struct tl_host *host;
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct group *groups;
	uint32_t group_room;
};

/* The tightest node; for several whole cards one that has them side by side goes first. */
static int64_t score(void *self, const struct tl_candidate *at)
{
	const struct tl_worker *worker = at->worker;
	int64_t cpu = at->node->free_cpu_milli;
	int64_t value = -at->node->free_mgpu * (1 << 16);

	(void)self;
	value -= cpu / 1000 < (1 << 16) ? cpu / 1000 : (1 << 16) - 1;
	if (worker->gpus >= 2 && worker->share_mgpu == TL_FIT_WHOLE_MGPU &&
	    tl_fit_pair_row(at->view, at->node, worker, worker->gpus / 2) != TL_NO_INDEX)
		value += (int64_t)CONTIGUOUS * (1 << 16);
	return value;
}

static void measure(struct topology *own, const struct tl_view *view, enum tl_place_level level)
{
	memset(own->groups, 0, view->node_count * sizeof *own->groups);
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);
		uint32_t number = tl_place_group_of(node, n, level);
		int64_t cost = own->placer.room[n] - own->placer.beside[n];
		struct group *group;

		/* Numbers are dense; a wild one is left to the wider levels. */
		if (number >= view->node_count)
			continue;
		group = &own->groups[number];
		if (group->nodes++ == 0)
			group->last_cost = -1;
		group->room += own->placer.room[n];
		group->free_mgpu += node->free_mgpu;
		if (own->placer.beside[n] >= 0 && (group->last_cost < 0 || cost < group->last_cost))
			group->last_cost = cost;
	}
}

/* The tightest group of a level that holds the whole gang, or TL_NO_INDEX. */
static uint32_t tightest(const struct topology *own, uint32_t count, const struct tl_shape *shape)
{
	uint32_t best = TL_NO_INDEX;

	for (uint32_t i = 0; i < count; i++) {
		const struct group *group = &own->groups[i];

		if (group->nodes == 0 || group->last_cost < 0 ||
		    group->room - group->last_cost < (int64_t)shape->workers - 1)
			continue;
		if (best == TL_NO_INDEX || group->free_mgpu < own->groups[best].free_mgpu)
			best = i;
	}
	return best;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct topology *own = self;

	if (shape->workers == 1)
		return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
	if (!tl_place_has_room(shape, out) || tl_place_hopeless(view, shape))
		return 0;
	if (view->node_count > own->group_room) {
		own->group_room = 0;
		own->groups = own->host->alloc(own->host, view->node_count * sizeof *own->groups);
		if (!own->groups)
			return 0;
		own->group_room = view->node_count;
	}
	if (tl_place_measure(&own->placer, view, shape) != 0)
		return 0;
	for (int level = TL_PLACE_NODE; level <= TL_PLACE_ANYWHERE; level++) {
		struct tl_place_group group = {.level = (enum tl_place_level)level};

		measure(own, view, group.level);
		group.number = tightest(own, view->node_count, shape);
		if (group.number != TL_NO_INDEX)
			return tl_place_gang(&own->placer, &own->rule, view, shape, group, out);
	}
	return 0;
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct topology *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->host = host;
	own->placer.host = host;
	own->rule = (struct tl_place_rule){.score = score, .ties = TL_TIES_FIRST};
	return 0;
}

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "topology",
    .version = "1.0",
    .summary = "as near together as can be: node, rack, leaf, pod, anywhere",
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
