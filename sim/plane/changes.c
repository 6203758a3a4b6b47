/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the next schedule() is told: two sets, so that decisions made inside it append
 * to the one that is being filled while the policy reads the other. */
#include "sim/plane/world.h"

#include <stdlib.h>

static const enum tl_why list_why[TL_LIST_COUNT] = {TL_WHY_QUEUED, TL_WHY_ENDED, TL_WHY_RUNNING,
                                                    TL_WHY_SUSPENDING, TL_WHY_SUSPENDED};

void tl_changes_init(struct tl_trial *trial)
{
	for (size_t i = 0; i < 2; i++) {
		struct tl_change_set *set = &trial->change_sets[i];

		*set = (struct tl_change_set){0};
		set->freed.stamps = tl_calloc(trial->cluster.view.node_count, sizeof(uint64_t));
		set->taken.stamps = tl_calloc(trial->cluster.view.node_count, sizeof(uint64_t));
	}
	trial->set_number = 1;
}

void tl_changes_fini(struct tl_trial *trial)
{
	for (size_t i = 0; i < 2; i++) {
		struct tl_change_set *set = &trial->change_sets[i];

		for (size_t l = 0; l < TL_LIST_COUNT; l++)
			free(set->lists[l].ids);
		free(set->freed.nodes);
		free(set->freed.stamps);
		free(set->taken.nodes);
		free(set->taken.stamps);
		free(set->windows);
	}
}

void tl_changes_job(struct tl_trial *trial, enum tl_change_list list, tl_job_id id)
{
	struct tl_change_set *set = &trial->change_sets[trial->filling];
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	/* Bits of this set alone: those of the other are cleared as it is turned. */
	uint32_t bit = UINT32_C(1) << ((uint32_t)list + trial->filling * TL_LIST_COUNT);

	if ((job->listed & bit) != 0)
		return;
	job->listed |= bit;
	tl_id_list_push(&set->lists[list], id);
	set->why |= list_why[list];
}

static void list_node(struct tl_node_list *list, uint32_t node, uint64_t stamp)
{
	if (list->stamps[node] == stamp)
		return;
	list->stamps[node] = stamp;
	list->nodes = tl_grow(list->nodes, &list->capacity, list->count + 1, sizeof(*list->nodes));
	list->nodes[list->count++] = node;
}

void tl_changes_nodes(struct tl_trial *trial, const struct tl_alloc *where, bool freed)
{
	struct tl_change_set *set = &trial->change_sets[trial->filling];

	set->why |= freed ? TL_WHY_FREED : TL_WHY_TAKEN;
	for (uint32_t w = 0; w < where->worker_count; w++)
		list_node(freed ? &set->freed : &set->taken, where->nodes[w], trial->set_number);
}

void tl_changes_window(struct tl_trial *trial, uint32_t service)
{
	struct tl_change_set *set = &trial->change_sets[trial->filling];

	set->windows = tl_grow(set->windows, &set->window_capacity, set->window_count + 1,
	                       sizeof(*set->windows));
	set->windows[set->window_count++] = service;
	set->why |= TL_WHY_WINDOW;
}

void tl_changes_why(struct tl_trial *trial, enum tl_why why)
{
	trial->change_sets[trial->filling].why |= (uint32_t)why;
}

const struct tl_change_set *tl_changes_turn(struct tl_trial *trial, struct tl_changes *out)
{
	struct tl_change_set *closed = &trial->change_sets[trial->filling];
	struct tl_change_set *open = &trial->change_sets[1 - trial->filling];
	const struct tl_id_list *lists = closed->lists;
	uint32_t bits = ((UINT32_C(1) << TL_LIST_COUNT) - 1) << (trial->filling * TL_LIST_COUNT);

	for (size_t l = 0; l < TL_LIST_COUNT; l++) {
		for (size_t i = 0; i < lists[l].count; i++)
			tl_job_of(&trial->jobs, lists[l].ids[i])->listed &= ~bits;
		open->lists[l].count = 0;
	}
	open->freed.count = open->taken.count = 0;
	open->window_count = 0;
	open->why = 0;
	trial->filling = 1 - trial->filling;
	trial->set_number++;
	*out = (struct tl_changes){.struct_size = sizeof(*out),
	                           .why = closed->why,
	                           .queued = lists[TL_LIST_QUEUED].ids,
	                           .ended = lists[TL_LIST_ENDED].ids,
	                           .running = lists[TL_LIST_RUNNING].ids,
	                           .suspending = lists[TL_LIST_SUSPENDING].ids,
	                           .suspended = lists[TL_LIST_SUSPENDED].ids,
	                           .queued_count = (uint32_t)lists[TL_LIST_QUEUED].count,
	                           .ended_count = (uint32_t)lists[TL_LIST_ENDED].count,
	                           .running_count = (uint32_t)lists[TL_LIST_RUNNING].count,
	                           .suspending_count = (uint32_t)lists[TL_LIST_SUSPENDING].count,
	                           .suspended_count = (uint32_t)lists[TL_LIST_SUSPENDED].count,
	                           .freed = closed->freed.nodes,
	                           .taken = closed->taken.nodes,
	                           .freed_count = (uint32_t)closed->freed.count,
	                           .taken_count = (uint32_t)closed->taken.count,
	                           .windows = closed->windows,
	                           .window_count = (uint32_t)closed->window_count};
	return closed;
}
