/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/job.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <stdlib.h>
#include <string.h>

#define BIT(state) (1u << (state))

/* From (row) to (bits). A start that is broken off before the job ever ran goes back to
 * Pending; a running job that loses its node, or is stopped without a save, is Suspended
 * at its last checkpoint. */
static const unsigned legal[TL_JOB_STATE_COUNT] = {
    [TL_JOB_PENDING] = BIT(TL_JOB_SCHEDULED) | BIT(TL_JOB_FAILED),
    [TL_JOB_SCHEDULED] = BIT(TL_JOB_RUNNING) | BIT(TL_JOB_PENDING) | BIT(TL_JOB_FAILED),
    [TL_JOB_RUNNING] =
	BIT(TL_JOB_SUSPENDING) | BIT(TL_JOB_SUSPENDED) | BIT(TL_JOB_SUCCEEDED) | BIT(TL_JOB_FAILED),
    [TL_JOB_SUSPENDING] = BIT(TL_JOB_SUSPENDED) | BIT(TL_JOB_RESUMING) | BIT(TL_JOB_FAILED),
    [TL_JOB_SUSPENDED] = BIT(TL_JOB_RESUMING) | BIT(TL_JOB_FAILED),
    [TL_JOB_RESUMING] = BIT(TL_JOB_RUNNING) | BIT(TL_JOB_SUSPENDED) | BIT(TL_JOB_FAILED),
};

bool tl_job_transition_legal(enum tl_job_state from, enum tl_job_state to)
{
	return (legal[from] & BIT(to)) != 0;
}

/* ---- lists ---- */

void tl_id_list_push(struct tl_id_list *list, tl_job_id id)
{
	list->ids = tl_grow(list->ids, &list->capacity, list->count + 1, sizeof(*list->ids));
	list->ids[list->count++] = id;
}

static struct tl_id_list *list_of(struct tl_job_table *table, enum tl_job_state state)
{
	switch (state) {
	case TL_JOB_PENDING:
	case TL_JOB_SUSPENDED:
		return &table->waiting;
	case TL_JOB_SCHEDULED:
	case TL_JOB_RUNNING:
	case TL_JOB_SUSPENDING:
	case TL_JOB_RESUMING:
		return &table->holding;
	case TL_JOB_SUCCEEDED:
	case TL_JOB_FAILED:
	case TL_JOB_STATE_COUNT:
		break;
	}
	return NULL;
}

static void list_add(struct tl_job_table *table, struct tl_id_list *list, tl_job_id id)
{
	tl_job_of(table, id)->list_index = (uint32_t)list->count;
	tl_id_list_push(list, id);
}

static void list_take(struct tl_job_table *table, struct tl_id_list *list, tl_job_id id)
{
	uint32_t index = tl_job_of(table, id)->list_index;
	tl_job_id last = list->ids[--list->count];

	TL_ASSERT(list->ids[index] == id);
	list->ids[index] = last;
	tl_job_of(table, last)->list_index = index;
}

/* ---- the table ---- */

/* A size class holds placements of up to 2^class workers and GPUs, so that arrays are
 * reused whatever the shape. */
enum { ALLOC_CLASSES = 24 };

struct tl_free_allocs {
	uint32_t **blocks;
	size_t count, capacity;
};

void tl_job_table_init(struct tl_job_table *table)
{
	*table = (struct tl_job_table){0};
	table->alloc_pools = tl_calloc(ALLOC_CLASSES, sizeof(*table->alloc_pools));
}

void tl_job_table_fini(struct tl_job_table *table)
{
	for (size_t slot = 0; slot < table->slot_count; slot++) {
		free(table->jobs[slot].alloc.nodes);
		free(table->jobs[slot].target.nodes);
		free(table->jobs[slot].warm.nodes);
	}
	for (size_t class = 0; class < ALLOC_CLASSES; class ++) {
		for (size_t i = 0; i < table->alloc_pools[class].count; i++)
			free(table->alloc_pools[class].blocks[i]);
		free(table->alloc_pools[class].blocks);
	}
	free(table->alloc_pools);
	free(table->jobs);
	free(table->views);
	free(table->generations);
	free(table->free_slots);
	free(table->waiting.ids);
	free(table->holding.ids);
	*table = (struct tl_job_table){0};
}

static uint32_t new_slot(struct tl_job_table *table)
{
	if (table->free_count > 0)
		return table->free_slots[--table->free_count];
	size_t wanted = table->slot_count + 1;

	table->jobs = tl_grow(table->jobs, &table->jobs_capacity, wanted, sizeof(*table->jobs));
	table->views = tl_grow(table->views, &table->views_capacity, wanted, sizeof(*table->views));
	table->generations = tl_grow(table->generations, &table->generations_capacity, wanted,
	                             sizeof(*table->generations));
	table->generations[table->slot_count] = 1; /* so that no id is 0 */
	return (uint32_t)table->slot_count++;
}

tl_job_id tl_job_table_add(struct tl_job_table *table, const struct tl_shape *shape, int64_t now_ns)
{
	uint32_t slot = new_slot(table);
	tl_job_id id = (uint64_t)table->generations[slot] << 32 | slot;
	struct tl_job *job = &table->jobs[slot];
	struct tl_job_view *view = &table->views[slot];

	*job = (struct tl_job){.shape = shape,
	                       .state_since_ns = now_ns,
	                       .slow_milli = 1000,
	                       .interference_ppb = TL_PPB,
	                       .save = TL_NO_INDEX,
	                       .last_node = TL_NO_INDEX};
	*view = (struct tl_job_view){.id = id,
	                             .sequence = table->sequence++,
	                             .submit_ns = now_ns,
	                             .waiting_since_ns = now_ns,
	                             .estimate_ns = TL_NONE,
	                             .deadline_ns = TL_NONE,
	                             .first_start_ns = TL_NONE,
	                             .expected_end_ns = TL_NEVER,
	                             .started_ns = TL_NONE,
	                             .committed_ns = TL_NONE,
	                             .shape = shape->id,
	                             .service = TL_NO_INDEX,
	                             .utilisation_milli = -1,
	                             .state = TL_JOB_PENDING};
	table->in_state[TL_JOB_PENDING]++;
	table->waiting_mgpu += shape->total_mgpu;
	list_add(table, &table->waiting, id);
	return id;
}

void tl_job_table_remove(struct tl_job_table *table, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);

	TL_ASSERT(tl_job_table_get(table, id) != NULL);
	TL_ASSERT(list_of(table, table->views[slot].state) == NULL);
	TL_ASSERT(table->jobs[slot].alloc.nodes == NULL && table->jobs[slot].target.nodes == NULL &&
	          table->jobs[slot].warm.nodes == NULL);
	table->in_state[table->views[slot].state]--;
	table->views[slot].id = 0;
	if (++table->generations[slot] == 0)
		table->generations[slot] = 1;
	table->free_slots = tl_grow(table->free_slots, &table->free_capacity, table->free_count + 1,
	                            sizeof(*table->free_slots));
	table->free_slots[table->free_count++] = slot;
}

struct tl_job *tl_job_table_get(struct tl_job_table *table, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);

	if (id == 0 || slot >= table->slot_count || table->views[slot].id != id)
		return NULL;
	return &table->jobs[slot];
}

void tl_job_set_state(struct tl_job_table *table, tl_job_id id, enum tl_job_state to,
                      int64_t now_ns)
{
	struct tl_job *job = tl_job_of(table, id);
	struct tl_job_view *view = tl_job_view_of(table, id);
	enum tl_job_state from = view->state;

	TL_ASSERT(tl_job_transition_legal(from, to));
	job->in_state_ns[from] += now_ns - job->state_since_ns;
	job->state_since_ns = now_ns;
	struct tl_id_list *old = list_of(table, from), *new = list_of(table, to);

	if (old != new) {
		if (old != NULL)
			list_take(table, old, id);
		if (new != NULL)
			list_add(table, new, id);
		if (old == &table->waiting)
			table->waiting_mgpu -= job->shape->total_mgpu;
		if (new == &table->waiting)
			table->waiting_mgpu += job->shape->total_mgpu;
	}
	view->waiting_since_ns = new == &table->waiting ? now_ns : TL_NONE;
	view->state = (uint8_t)to;
	table->in_state[from]--;
	table->in_state[to]++;
}

/* ---- placements ---- */

static uint32_t alloc_class(uint32_t workers, uint32_t gpus)
{
	uint32_t wanted = workers > gpus ? workers : gpus, class = 0;

	while ((UINT32_C(1) << class) < wanted)
		class ++;
	TL_ASSERT(class < ALLOC_CLASSES);
	return class;
}

struct tl_alloc tl_job_table_take_alloc(struct tl_job_table *table, const struct tl_shape *shape,
                                        const struct tl_placement *where)
{
	uint32_t class = alloc_class(shape->workers, shape->gpus);
	struct tl_free_allocs *pool = &table->alloc_pools[class];
	uint32_t room = UINT32_C(1) << class;
	/* One block: the nodes, then the GPUs. */
	uint32_t *block = pool->count > 0 ? pool->blocks[--pool->count]
	                                  : tl_alloc((size_t)room * 2 * sizeof(*block));
	struct tl_alloc alloc = {.nodes = block,
	                         .gpus = block + room,
	                         .worker_count = shape->workers,
	                         .gpu_count = shape->gpus};

	memcpy(alloc.nodes, where->nodes, (size_t)alloc.worker_count * sizeof(*alloc.nodes));
	if (alloc.gpu_count > 0)
		memcpy(alloc.gpus, where->gpus, (size_t)alloc.gpu_count * sizeof(*alloc.gpus));
	return alloc;
}

void tl_job_table_put_alloc(struct tl_job_table *table, struct tl_alloc *alloc)
{
	struct tl_free_allocs *pool =
	    &table->alloc_pools[alloc_class(alloc->worker_count, alloc->gpu_count)];

	pool->blocks =
	    tl_grow(pool->blocks, &pool->capacity, pool->count + 1, sizeof(*pool->blocks));
	pool->blocks[pool->count++] = alloc->nodes;
	*alloc = (struct tl_alloc){0};
}
