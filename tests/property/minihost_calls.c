/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contract as the small host keeps it: decisions and reads. */
#include "policies/lib/hash.h"
#include "tests/property/minihost_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the scheduler is told ---------------------------------------------------- */

void mini_note(struct mini *m, enum mini_list list, tl_job_id id)
{
	static const uint32_t why[LIST_COUNT] = {TL_WHY_QUEUED, TL_WHY_ENDED, TL_WHY_RUNNING,
	                                         TL_WHY_SUSPENDING, TL_WHY_SUSPENDED};
	struct mini_set *set = &m->sets[m->filling];

	for (uint32_t i = 0; i < set->counts[list]; i++)
		if (set->lists[list][i] == id)
			return;
	set->lists[list][set->counts[list]++] = id;
	set->why |= why[list];
}

static void note_nodes(struct mini *m, const struct tl_alloc *where, bool freed)
{
	struct mini_set *set = &m->sets[m->filling];

	set->why |= freed ? TL_WHY_FREED : TL_WHY_TAKEN;
	for (uint32_t w = 0; w < where->worker_count; w++) {
		uint32_t *nodes = freed ? set->freed : set->taken;
		uint32_t *count = freed ? &set->freed_count : &set->taken_count;
		uint32_t i = 0;

		while (i < *count && nodes[i] != where->nodes[w])
			i++;
		if (i == *count)
			nodes[(*count)++] = where->nodes[w];
	}
}

static void remove_id(tl_job_id *ids, uint32_t *count, tl_job_id id)
{
	uint32_t i = 0;

	while (i < *count && ids[i] != id)
		i++;
	cr_assert_lt(i, *count);
	ids[i] = ids[--*count]; /* an order that means nothing */
}

void mini_become(struct mini *m, tl_job_id id, enum tl_job_state to)
{
	struct tl_job_view *view = &m->views[TL_JOB_SLOT(id)];
	enum tl_job_state from = view->state;

	view->state = (uint8_t)to;
	if (waits((uint8_t)from) && !waits((uint8_t)to))
		remove_id(m->waiting, &m->waiting_count, id);
	if (holds((uint8_t)from) && !holds((uint8_t)to))
		remove_id(m->holding, &m->holding_count, id);
	if (waits((uint8_t)to) && !waits((uint8_t)from))
		m->waiting[m->waiting_count++] = id;
	if (holds((uint8_t)to) && !holds((uint8_t)from))
		m->holding[m->holding_count++] = id;
	view->waiting_since_ns = waits((uint8_t)to) ? m->now_ns : -1;
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		const struct mini_seat *seat = &m->seats[s];

		if (seat->created && seat->loaded.module->observer != NULL &&
		    seat->loaded.module->observer->job_state_changed != NULL)
			seat->loaded.module->observer->job_state_changed(seat->self, view, from);
	}
}

static void record(struct mini *m, enum mini_what what, tl_job_id id, int64_t value,
                   const struct tl_placement *where)
{
	struct mini_run *run = m->run;

	run->log = tl_grow(run->log, &run->capacity, run->count + 1, sizeof(*run->log));
	uint64_t hash = 0;
	for (uint32_t i = 0; where != NULL && i < where->worker_count; i++)
		hash = tl_hash_more(hash, where->nodes[i]);
	for (uint32_t i = 0; where != NULL && i < where->gpu_count; i++)
		hash = tl_hash_more(hash, where->gpus[i]);
	run->log[run->count++] = (struct mini_entry){.at_ns = m->now_ns,
	                                             .value = value,
	                                             .job = TL_JOB_SLOT(id),
	                                             .what = what,
	                                             .where = hash};
}

void mini_release(struct mini *m, tl_job_id id)
{
	struct mini_held *held = &m->held[TL_JOB_SLOT(id)];
	const struct tl_job_view *view = &m->views[TL_JOB_SLOT(id)];
	const struct tl_shape *shape = tl_shapes_at(&m->shapes, view->shape);

	tl_cluster_release(&m->cluster, id, shape, &held->alloc);
	note_nodes(m, &held->alloc, true);
	m->tenants[view->tenant].held_mgpu -= shape->total_mgpu;
	free(held->alloc.nodes);
	free(held->alloc.gpus);
	held->alloc = (struct tl_alloc){0};
	held->event_ns = TL_TIME_NEVER;
}

/* ---- decisions ---------------------------------------------------------------------- */

static enum tl_refusal refuse(struct mini *m, enum tl_refusal refusal)
{
	m->run->refused += refusal != TL_ACCEPTED;
	return refusal;
}

static bool two_guaranteed(struct mini *m, const struct tl_job_view *view,
                           const struct tl_shape *shape, const struct tl_placement *where)
{
	for (uint32_t g = 0; g < where->gpu_count && (view->flags & TL_JOB_GUARANTEED); g++) {
		uint32_t count = 0;
		const tl_job_id *ids = tl_cluster_gpu_jobs(&m->cluster, where->gpus[g], &count);

		if (m->cluster.gpus[where->gpus[g]].free_mgpu < shape->full.share_mgpu &&
		    (m->views[TL_JOB_SLOT(ids[0])].flags & TL_JOB_GUARANTEED))
			return true;
	}
	return false;
}

static struct tl_alloc copy_alloc(const struct tl_placement *where)
{
	struct tl_alloc alloc = {.nodes = tl_calloc(where->worker_count, sizeof(uint32_t)),
	                         .gpus = tl_calloc(where->gpu_count + 1, sizeof(uint32_t)),
	                         .worker_count = where->worker_count,
	                         .gpu_count = where->gpu_count};

	memcpy(alloc.nodes, where->nodes, where->worker_count * sizeof(uint32_t));
	if (where->gpu_count > 0)
		memcpy(alloc.gpus, where->gpus, where->gpu_count * sizeof(uint32_t));
	return alloc;
}

void mini_time_start(struct mini *m, tl_job_id id)
{
	struct tl_job_view *view = &m->views[TL_JOB_SLOT(id)];
	struct mini_held *held = &m->held[TL_JOB_SLOT(id)];

	view->started_ns = m->now_ns;
	view->expected_end_ns = TL_TIME_NEVER;
	if (view->estimate_ns >= 0)
		view->expected_end_ns =
		    m->now_ns + view->restart_ns +
		    (view->estimate_ns > held->done_ns ? view->estimate_ns - held->done_ns : 0);
	held->event_ns = m->now_ns + view->restart_ns;
}

static enum tl_refusal start(const struct tl_host *host, tl_job_id id,
                             const struct tl_placement *where)
{
	struct mini *m = mini_of(host);
	uint32_t slot = TL_JOB_SLOT(id);
	struct tl_job_view *view = &m->views[slot];
	struct mini_held *held = &m->held[slot];
	const struct tl_shape *shape = tl_shapes_at(&m->shapes, view->shape);
	struct tl_tenant_view *tenant = &m->tenants[view->tenant];

	cr_assert(m->scheduling);
	if (!waits(view->state))
		return refuse(m, TL_REFUSED_STATE);
	enum tl_refusal refusal = tl_cluster_check(&m->cluster, shape, where);
	cr_assert_neq(refusal, TL_REFUSED_RATIO, "nobody asks in vain");
	if (refusal != TL_ACCEPTED)
		return refuse(m, refusal);
	cr_assert_not(two_guaranteed(m, view, shape, where));
	int64_t excess_mgpu = m->cluster.excess_mgpu;
	if (tenant->quota_mgpu >= 0 && tenant->held_mgpu + shape->total_mgpu > tenant->quota_mgpu)
		return refuse(m, TL_REFUSED_QUOTA);
	record(m, MINI_START, id, 0, where);
	held->alloc = copy_alloc(where);
	tl_cluster_take(&m->cluster, id, shape, &held->alloc);
	tl_cluster_measured(&m->cluster, id, &held->alloc, view->utilisation_milli);
	m->run->seconds += m->cluster.excess_mgpu > excess_mgpu;
	note_nodes(m, &held->alloc, false);
	tenant->held_mgpu += shape->total_mgpu;
	if (m->run->starts_ns[slot] < 0)
		m->run->starts_ns[slot] = m->now_ns;
	if (view->first_start_ns < 0)
		view->first_start_ns = m->now_ns;
	mini_time_start(m, id);
	mini_become(m, id, view->state == TL_JOB_PENDING ? TL_JOB_SCHEDULED : TL_JOB_RESUMING);
	return TL_ACCEPTED;
}

void mini_stop_running(struct mini *m, tl_job_id id)
{
	struct tl_job_view *view = &m->views[TL_JOB_SLOT(id)];
	int64_t ran_ns = m->now_ns - view->attained_mark_ns;

	view->attained_ns += ran_ns;
	view->attained_mark_ns = m->now_ns;
	m->held[TL_JOB_SLOT(id)].done_ns += ran_ns;
}

static enum tl_refusal suspend(const struct tl_host *host, tl_job_id id, enum tl_suspend_mode mode)
{
	struct mini *m = mini_of(host);
	uint32_t slot = TL_JOB_SLOT(id);
	struct tl_job_view *view = &m->views[slot];
	struct mini_held *held = &m->held[slot];

	cr_assert(m->scheduling);
	if (view->state != TL_JOB_RUNNING)
		return refuse(m, TL_REFUSED_STATE);
	if ((view->flags & TL_JOB_PREEMPTIBLE) == 0)
		return refuse(m, TL_REFUSED_NOT_PREEMPTIBLE);
	record(m, MINI_SUSPEND, id, mode, NULL);
	mini_stop_running(m, id);
	view->preemptions++;
	if (mode == TL_SUSPEND_KILL) {
		if (m->world->checkpoint_ns > 0)
			held->safe_ns += (held->done_ns - held->safe_ns) / m->world->checkpoint_ns *
			                 m->world->checkpoint_ns;
		held->done_ns = held->safe_ns;
		mini_release(m, id);
		mini_become(m, id, TL_JOB_SUSPENDED);
		mini_note(m, LIST_SUSPENDED, id);
		return TL_ACCEPTED;
	}
	held->safe_ns = held->done_ns;
	tl_cluster_mark_draining(&m->cluster, id, tl_shapes_at(&m->shapes, view->shape),
	                         &held->alloc);
	held->event_ns = m->now_ns + m->world->save_ns;
	mini_become(m, id, TL_JOB_SUSPENDING);
	mini_note(m, LIST_SUSPENDING, id);
	return TL_ACCEPTED;
}

static bool on_its_own(const struct mini_held *held, const struct tl_placement *where)
{
	for (uint32_t i = 0; i < where->gpu_count; i++)
		for (uint32_t k = 0; k < held->alloc.gpu_count; k++)
			if (where->gpus[i] == held->alloc.gpus[k])
				return true;
	return false;
}

static enum tl_refusal migrate(const struct tl_host *host, tl_job_id id,
                               const struct tl_placement *where)
{
	struct mini *m = mini_of(host);
	struct tl_job_view *view = &m->views[TL_JOB_SLOT(id)];
	struct mini_held *held = &m->held[TL_JOB_SLOT(id)];
	const struct tl_shape *shape = tl_shapes_at(&m->shapes, view->shape);

	cr_assert(m->scheduling);
	if (view->state != TL_JOB_RUNNING)
		return refuse(m, TL_REFUSED_STATE);
	if ((view->flags & TL_JOB_PREEMPTIBLE) == 0)
		return refuse(m, TL_REFUSED_NOT_PREEMPTIBLE);
	enum tl_refusal refusal = tl_cluster_check(&m->cluster, shape, where);
	if (refusal != TL_ACCEPTED || on_its_own(held, where))
		return refuse(m, refusal != TL_ACCEPTED ? refusal : TL_REFUSED_DUPLICATE_GPU);
	record(m, MINI_MIGRATE, id, 0, where);
	mini_stop_running(m, id);
	held->safe_ns = held->done_ns;
	held->target = copy_alloc(where);
	tl_cluster_take(&m->cluster, id, shape, &held->target);
	tl_cluster_measured(&m->cluster, id, &held->target, view->utilisation_milli);
	note_nodes(m, &held->target, false);
	m->tenants[view->tenant].held_mgpu += shape->total_mgpu;
	tl_cluster_mark_draining(&m->cluster, id, shape, &held->alloc);
	held->event_ns = m->now_ns + m->world->save_ns;
	mini_become(m, id, TL_JOB_SUSPENDING);
	mini_note(m, LIST_SUSPENDING, id);
	return TL_ACCEPTED;
}

static enum tl_refusal reserve(const struct tl_host *host, tl_job_id id, int64_t at_ns,
                               const uint32_t *gpus, uint32_t count)
{
	struct mini *m = mini_of(host);

	(void)gpus;
	if (!waits(m->views[TL_JOB_SLOT(id)].state))
		return refuse(m, TL_REFUSED_STATE);
	if (at_ns <= m->now_ns)
		return refuse(m, TL_REFUSED_PAST);
	if (count > 0)
		record(m, MINI_RESERVE, id, at_ns, NULL);
	return TL_ACCEPTED;
}

static enum tl_refusal reject(const struct tl_host *host, tl_job_id id, const char *why)
{
	struct mini *m = mini_of(host);

	(void)why;
	if (!waits(m->views[TL_JOB_SLOT(id)].state))
		return refuse(m, TL_REFUSED_STATE);
	record(m, MINI_REJECT, id, 0, NULL);
	mini_become(m, id, TL_JOB_FAILED);
	mini_note(m, LIST_ENDED, id);
	return TL_ACCEPTED;
}

static enum tl_refusal wake_at(const struct tl_host *host, int64_t at_ns)
{
	struct mini_seat *seat = host->ctx;

	if (at_ns <= seat->mini->now_ns)
		return refuse(seat->mini, TL_REFUSED_PAST);
	if (at_ns < seat->wake_ns)
		seat->wake_ns = at_ns;
	return TL_ACCEPTED;
}

/* ---- reads ------------------------------------------------------------------------------ */

static int64_t read_now(const struct tl_host *host)
{
	return mini_of(host)->now_ns;
}

static const struct tl_view *read_view(const struct tl_host *host)
{
	return &mini_of(host)->cluster.view;
}

static struct tl_jobs read_jobs(const struct tl_host *host)
{
	return (struct tl_jobs){.jobs = mini_of(host)->views,
	                        .stride = sizeof(struct tl_job_view),
	                        .count = mini_of(host)->next};
}

static const struct tl_job_view *read_job(const struct tl_host *host, tl_job_id id)
{
	const struct mini *m = mini_of(host);

	return TL_JOB_SLOT(id) < m->next && id == id_of(TL_JOB_SLOT(id))
	           ? &m->views[TL_JOB_SLOT(id)]
	           : NULL;
}

static const tl_job_id *read_waiting(const struct tl_host *host, uint32_t *count)
{
	*count = mini_of(host)->waiting_count;
	return mini_of(host)->waiting;
}

static const tl_job_id *read_holding(const struct tl_host *host, uint32_t *count)
{
	*count = mini_of(host)->holding_count;
	return mini_of(host)->holding;
}

static const struct tl_shape *read_shape(const struct tl_host *host, uint32_t shape)
{
	return tl_shapes_at(&mini_of(host)->shapes, shape);
}

static uint32_t read_shape_count(const struct tl_host *host)
{
	return (uint32_t)mini_of(host)->shapes.count;
}

static int read_allocation(const struct tl_host *host, tl_job_id id, struct tl_placement *out)
{
	const struct tl_alloc *alloc = &mini_of(host)->held[TL_JOB_SLOT(id)].alloc;

	if (alloc->nodes == NULL)
		return -1;
	*out = (struct tl_placement){.nodes = alloc->nodes,
	                             .gpus = alloc->gpus,
	                             .worker_count = alloc->worker_count,
	                             .gpu_count = alloc->gpu_count};
	return 0;
}

static const struct tl_tenant_view *read_tenant(const struct tl_host *host, uint32_t tenant)
{
	return tenant < mini_of(host)->world->tenant_count ? &mini_of(host)->tenants[tenant] : NULL;
}

static const struct tl_queue_view *read_queue(const struct tl_host *host, uint32_t queue)
{
	return queue < mini_of(host)->world->queue_count ? &mini_of(host)->queues[queue] : NULL;
}

static uint32_t read_tenant_count(const struct tl_host *host)
{
	return mini_of(host)->world->tenant_count;
}

static uint32_t read_queue_count(const struct tl_host *host)
{
	return mini_of(host)->world->queue_count;
}

static uint32_t read_service_count(const struct tl_host *host)
{
	(void)host;
	return 0;
}

static const tl_job_id *read_gpu_jobs(const struct tl_host *host, uint32_t gpu, uint32_t *count)
{
	return tl_cluster_gpu_jobs(&mini_of(host)->cluster, gpu, count);
}

static enum tl_distance read_distance(const struct tl_host *host, uint32_t gpu_a, uint32_t gpu_b)
{
	return tl_cluster_distance(&mini_of(host)->cluster, gpu_a, gpu_b);
}

static void *allocate(const struct tl_host *host, size_t size)
{
	void *memory = tl_arena_alloc(&mini_of(host)->arena, size);

	return memset(memory, 0, size);
}

static void say(const struct tl_host *host, enum tl_log_level level, const char *text)
{
	(void)host;
	(void)level;
	(void)text;
}

static const char *job_name(const struct tl_host *host, tl_job_id id)
{
	return read_job(host, id) != NULL ? "job" : "";
}

static const struct tl_oversubscription *oversubscription(const struct tl_host *host,
                                                          uint32_t model)
{
	return tl_cluster_oversubscription(&mini_of(host)->cluster, model);
}

static int explaining(const struct tl_host *host, tl_job_id id)
{
	return mini_of(host)->world->watch == TL_JOB_SLOT(id) + 1;
}

static void explain(const struct tl_host *host, tl_job_id id, const char *text)
{
	struct mini *m = mini_of(host);

	cr_assert(explaining(host, id));
	snprintf(m->run->said, sizeof(m->run->said), "%s", text);
}

static const void *extension(const struct tl_host *host, const char *id)
{
	(void)host;
	(void)id;
	return NULL;
}

static struct tl_seat open_seat(const struct tl_host *host, enum tl_seat_kind kind)
{
	struct mini_seat *seat = &mini_of(host)->seats[kind];
	const struct tl_module *module = seat->loaded.module;
	char error[256] = "";
	struct tl_create create = {.struct_size = sizeof(create),
	                           .instance = (uint32_t)kind,
	                           .options = seat->values,
	                           .error = error,
	                           .error_size = sizeof(error)};

	if (module == NULL)
		return (struct tl_seat){0};
	if (!seat->created)
		cr_assert_eq(module->create(&seat->host, &create, &seat->self), 0, "%s: %s",
		             module->name, error);
	seat->created = true;
	return (struct tl_seat){.module = module, .ops = module->ops, .self = seat->self};
}

void mini_fill_host(struct tl_host *host, void *ctx)
{
	*host = (struct tl_host){.struct_size = sizeof(*host),
	                         .ctx = ctx,
	                         .now = read_now,
	                         .view = read_view,
	                         .jobs = read_jobs,
	                         .job = read_job,
	                         .waiting = read_waiting,
	                         .holding = read_holding,
	                         .shape = read_shape,
	                         .shape_count = read_shape_count,
	                         .allocation = read_allocation,
	                         .gpu_jobs = read_gpu_jobs,
	                         .distance = read_distance,
	                         .tenant = read_tenant,
	                         .queue = read_queue,
	                         .tenant_count = read_tenant_count,
	                         .queue_count = read_queue_count,
	                         .service_count = read_service_count,
	                         .start = start,
	                         .suspend = suspend,
	                         .migrate = migrate,
	                         .reserve = reserve,
	                         .reject = reject,
	                         .wake_at = wake_at,
	                         .alloc = allocate,
	                         .log = say,
	                         .explaining = explaining,
	                         .explain = explain,
	                         .seat = open_seat,
	                         .extension = extension,
	                         .job_name = job_name,
	                         .oversubscription = oversubscription};
}
