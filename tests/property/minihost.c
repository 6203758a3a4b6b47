/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/property/minihost.h"

#include "policies/lib/hash.h"
#include "sim/base/arena.h"
#include "sim/plane/module.h"
#include "sim/work/shapes.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum list { LIST_QUEUED, LIST_ENDED, LIST_RUNNING, LIST_SUSPENDING, LIST_SUSPENDED, LIST_COUNT };

struct held {
	struct tl_alloc alloc;
	int64_t event_ns; /* ready, done or saved; TL_TIME_NEVER */
	int64_t done_ns;  /* of its work */
	int64_t safe_ns;  /* of it, that a kill leaves */
};

struct set {
	tl_job_id *lists[LIST_COUNT];
	uint32_t counts[LIST_COUNT];
	uint32_t *freed, *taken;
	uint32_t freed_count, taken_count, why;
};

struct mini;

struct seat {
	struct mini *mini;
	struct tl_host host;
	struct tl_loaded_module loaded;
	struct tl_option_value *values;
	void *self;
	bool created;
	int64_t wake_ns;
};

struct mini {
	const struct mini_world *world;
	struct mini_run *run;
	struct tl_cluster cluster;
	struct tl_shapes shapes;
	struct tl_arena arena;
	struct tl_job_view *views;
	struct held *held;
	tl_job_id *waiting, *holding;
	uint32_t waiting_count, holding_count;
	struct set sets[2];
	uint32_t filling;
	struct seat seats[TL_SEAT_COUNT];
	struct tl_tenant_view tenants[MINI_TENANTS_MAX];
	struct tl_queue_view queues[MINI_TENANTS_MAX];
	int64_t now_ns;
	uint32_t next; /* job to come */
	bool scheduling;
};

static struct mini *mini_of(const struct tl_host *host)
{
	return ((struct seat *)host->ctx)->mini;
}

static tl_job_id id_of(uint32_t slot)
{
	return UINT64_C(1) << 32 | slot;
}

static bool holds(uint8_t state)
{
	return state == TL_JOB_SCHEDULED || state == TL_JOB_RUNNING || state == TL_JOB_SUSPENDING ||
	       state == TL_JOB_RESUMING;
}

static bool waits(uint8_t state)
{
	return state == TL_JOB_PENDING || state == TL_JOB_SUSPENDED;
}

/* ---- what the scheduler is told ---------------------------------------------------- */

static void note(struct mini *m, enum list list, tl_job_id id)
{
	static const uint32_t why[LIST_COUNT] = {TL_WHY_QUEUED, TL_WHY_ENDED, TL_WHY_RUNNING,
	                                         TL_WHY_SUSPENDING, TL_WHY_SUSPENDED};
	struct set *set = &m->sets[m->filling];

	for (uint32_t i = 0; i < set->counts[list]; i++)
		if (set->lists[list][i] == id)
			return;
	set->lists[list][set->counts[list]++] = id;
	set->why |= why[list];
}

static void note_nodes(struct mini *m, const struct tl_alloc *where, bool freed)
{
	struct set *set = &m->sets[m->filling];

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

static void become(struct mini *m, tl_job_id id, enum tl_job_state to)
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
		const struct seat *seat = &m->seats[s];

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

static void release(struct mini *m, tl_job_id id)
{
	struct held *held = &m->held[TL_JOB_SLOT(id)];
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

static enum tl_refusal start(const struct tl_host *host, tl_job_id id, const struct tl_placement *where)
{
	struct mini *m = mini_of(host);
	uint32_t slot = TL_JOB_SLOT(id);
	struct tl_job_view *view = &m->views[slot];
	struct held *held = &m->held[slot];
	const struct tl_shape *shape = tl_shapes_at(&m->shapes, view->shape);
	struct tl_tenant_view *tenant = &m->tenants[view->tenant];

	cr_assert(m->scheduling);
	if (!waits(view->state))
		return refuse(m, TL_REFUSED_STATE);
	enum tl_refusal refusal = tl_cluster_check(&m->cluster, shape, where);
	if (refusal != TL_ACCEPTED)
		return refuse(m, refusal);
	if (tenant->quota_mgpu >= 0 && tenant->held_mgpu + shape->total_mgpu > tenant->quota_mgpu)
		return refuse(m, TL_REFUSED_QUOTA);
	record(m, MINI_START, id, 0, where);
	held->alloc = (struct tl_alloc){.nodes = tl_calloc(where->worker_count, sizeof(uint32_t)),
	                                .gpus = tl_calloc(where->gpu_count + 1, sizeof(uint32_t)),
	                                .worker_count = where->worker_count,
	                                .gpu_count = where->gpu_count};
	memcpy(held->alloc.nodes, where->nodes, where->worker_count * sizeof(uint32_t));
	if (where->gpu_count > 0)
		memcpy(held->alloc.gpus, where->gpus, where->gpu_count * sizeof(uint32_t));
	tl_cluster_take(&m->cluster, id, shape, &held->alloc);
	note_nodes(m, &held->alloc, false);
	tenant->held_mgpu += shape->total_mgpu;
	if (m->run->starts_ns[slot] < 0)
		m->run->starts_ns[slot] = m->now_ns;
	if (view->first_start_ns < 0)
		view->first_start_ns = m->now_ns;
	view->started_ns = m->now_ns;
	view->expected_end_ns = TL_TIME_NEVER;
	if (view->estimate_ns >= 0)
		view->expected_end_ns = m->now_ns + view->restart_ns +
		                        (view->estimate_ns > held->done_ns ? view->estimate_ns - held->done_ns : 0);
	held->event_ns = m->now_ns + view->restart_ns;
	become(m, id, view->state == TL_JOB_PENDING ? TL_JOB_SCHEDULED : TL_JOB_RESUMING);
	return TL_ACCEPTED;
}

static void stop_running(struct mini *m, tl_job_id id)
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
	struct held *held = &m->held[slot];

	cr_assert(m->scheduling);
	if (view->state != TL_JOB_RUNNING)
		return refuse(m, TL_REFUSED_STATE);
	if ((view->flags & TL_JOB_PREEMPTIBLE) == 0)
		return refuse(m, TL_REFUSED_NOT_PREEMPTIBLE);
	record(m, MINI_SUSPEND, id, mode, NULL);
	stop_running(m, id);
	view->preemptions++;
	if (mode == TL_SUSPEND_KILL) {
		if (m->world->checkpoint_ns > 0)
			held->safe_ns += (held->done_ns - held->safe_ns) / m->world->checkpoint_ns * m->world->checkpoint_ns;
		held->done_ns = held->safe_ns;
		release(m, id);
		become(m, id, TL_JOB_SUSPENDED);
		note(m, LIST_SUSPENDED, id);
		return TL_ACCEPTED;
	}
	held->safe_ns = held->done_ns;
	tl_cluster_mark_draining(&m->cluster, id, tl_shapes_at(&m->shapes, view->shape), &held->alloc);
	held->event_ns = m->now_ns + m->world->save_ns;
	become(m, id, TL_JOB_SUSPENDING);
	note(m, LIST_SUSPENDING, id);
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
	become(m, id, TL_JOB_FAILED);
	note(m, LIST_ENDED, id);
	return TL_ACCEPTED;
}

static enum tl_refusal wake_at(const struct tl_host *host, int64_t at_ns)
{
	struct seat *seat = host->ctx;

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

	return TL_JOB_SLOT(id) < m->next && id == id_of(TL_JOB_SLOT(id)) ? &m->views[TL_JOB_SLOT(id)] : NULL;
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
	struct seat *seat = &mini_of(host)->seats[kind];
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
		cr_assert_eq(module->create(&seat->host, &create, &seat->self), 0, "%s: %s", module->name,
		             error);
	seat->created = true;
	return (struct tl_seat){.module = module, .ops = module->ops, .self = seat->self};
}

/* ---- set-up ------------------------------------------------------------------------------ */

static void load(struct mini *m, enum tl_seat_kind kind, const struct mini_policy *policy)
{
	struct seat *seat = &m->seats[kind];
	const char *folder = getenv("TIDELAB_POLICIES");
	struct tl_setting settings[MINI_SETTINGS_MAX];
	struct tl_error error = TL_ERROR_INIT;
	size_t count = 0;
	char path[512];

	seat->mini = m;
	seat->wake_ns = TL_TIME_NEVER;
	seat->host = (struct tl_host){.struct_size = sizeof(seat->host), .ctx = seat, .now = read_now,
	                              .view = read_view, .jobs = read_jobs, .job = read_job,
	                              .waiting = read_waiting, .holding = read_holding,
	                              .shape = read_shape, .shape_count = read_shape_count,
	                              .allocation = read_allocation, .gpu_jobs = read_gpu_jobs,
	                              .distance = read_distance, .tenant = read_tenant,
	                              .queue = read_queue, .tenant_count = read_tenant_count,
	                              .queue_count = read_queue_count,
	                              .service_count = read_service_count, .start = start,
	                              .suspend = suspend, .reserve = reserve, .reject = reject,
	                              .wake_at = wake_at, .alloc = allocate, .log = say,
	                              .explaining = explaining, .explain = explain,
	                              .seat = open_seat, .extension = extension};
	if (policy->use[kind] == NULL)
		return;
	for (size_t i = 0; i < MINI_SETTINGS_MAX && policy->settings[i].name != NULL; i++)
		if (policy->settings[i].seat == kind)
			settings[count++] = (struct tl_setting){.name = (char *)(uintptr_t)policy->settings[i].name,
			                                        .value = (char *)(uintptr_t)policy->settings[i].value,
			                                        .line = 1,
			                                        .column = 1};
	snprintf(path, sizeof(path), "%s/%s.so", folder != NULL ? folder : "build/release/policies",
	         policy->use[kind]);
	cr_assert_eq(tl_module_load(path, &seat->loaded, &error), TL_OK, "%s: %s", path, error.message);
	cr_assert_eq(tl_module_options(seat->loaded.module, settings, count, "test", &seat->values, &error),
	             TL_OK, "%s: %s", path, error.message);
}

static void set_up(struct mini *m)
{
	const struct mini_world *world = m->world;
	struct tl_error error = TL_ERROR_INIT;
	size_t jobs = world->job_count;

	cr_assert_eq(tl_cluster_init(&m->cluster, world->spec, &error), TL_OK);
	tl_shapes_init(&m->shapes, &m->cluster, world->spec);
	tl_arena_init(&m->arena);
	m->views = tl_calloc(jobs, sizeof(*m->views));
	m->held = tl_calloc(jobs, sizeof(*m->held));
	m->waiting = tl_calloc(jobs, sizeof(*m->waiting));
	m->holding = tl_calloc(jobs, sizeof(*m->holding));
	m->run->starts_ns = tl_calloc(jobs, sizeof(int64_t));
	m->run->ends_ns = tl_calloc(jobs, sizeof(int64_t));
	for (size_t i = 0; i < jobs; i++)
		m->run->starts_ns[i] = m->run->ends_ns[i] = -1;
	for (size_t s = 0; s < 2; s++) {
		for (size_t l = 0; l < LIST_COUNT; l++)
			m->sets[s].lists[l] = tl_calloc(jobs, sizeof(tl_job_id));
		m->sets[s].freed = tl_calloc(world->spec->node_count, sizeof(uint32_t));
		m->sets[s].taken = tl_calloc(world->spec->node_count, sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < MINI_TENANTS_MAX; i++) {
		m->tenants[i] = (struct tl_tenant_view){
		    .name = "t", .quota_mgpu = world->quotas_mgpu[i] > 0 ? world->quotas_mgpu[i] : -1};
		m->queues[i] = (struct tl_queue_view){
		    .name = "q", .weight = world->weights[i] > 0 ? world->weights[i] : 1};
	}
}

static void tear_down(struct mini *m)
{
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		struct seat *seat = &m->seats[s];

		if (seat->created && seat->loaded.module->destroy != NULL)
			seat->loaded.module->destroy(seat->self);
		free(seat->values);
		if (seat->loaded.module != NULL)
			tl_module_unload(&seat->loaded);
	}
	for (size_t s = 0; s < 2; s++) {
		for (size_t l = 0; l < LIST_COUNT; l++)
			free(m->sets[s].lists[l]);
		free(m->sets[s].freed);
		free(m->sets[s].taken);
	}
	for (uint32_t i = 0; i < m->world->job_count; i++) {
		free(m->held[i].alloc.nodes);
		free(m->held[i].alloc.gpus);
	}
	free(m->views);
	free(m->held);
	free(m->waiting);
	free(m->holding);
	tl_arena_fini(&m->arena);
	tl_shapes_fini(&m->shapes);
	tl_cluster_fini(&m->cluster);
}

/* ---- time --------------------------------------------------------------------------------- */

static void submit(struct mini *m)
{
	const struct mini_job *job = &m->world->jobs[m->next];
	struct tl_request request = {.gpus_mgpu = job->gpus_mgpu,
	                             .gpu_memory_bytes = 0,
	                             .cpu_milli = job->cpu_milli,
	                             .ram_bytes = job->ram_bytes,
	                             .workers = job->workers,
	                             .model_mask = UINT64_MAX};
	const struct tl_shape *shape = tl_shapes_intern(&m->shapes, &request, false);
	tl_job_id id = id_of(m->next);

	cr_assert(shape != NULL && tl_shapes_feasible(&m->shapes, shape));
	m->views[m->next] = (struct tl_job_view){.id = id, .sequence = m->next, .submit_ns = m->now_ns,
	                                         .waiting_since_ns = m->now_ns,
	                                         .estimate_ns = job->estimate_ns, .deadline_ns = -1,
	                                         .first_start_ns = -1, .started_ns = -1,
	                                         .committed_ns = -1, .save_ns = m->world->save_ns,
	                                         .restart_ns = m->world->restart_ns,
	                                         .shape = shape->id, .tenant = job->tenant,
	                                         .queue = job->queue, .service = TL_NO_INDEX,
	                                         .utilisation_milli = -1, .state = TL_JOB_PENDING,
	                                         .flags = job->fixed ? 0 : TL_JOB_PREEMPTIBLE};
	m->held[m->next].event_ns = TL_TIME_NEVER;
	m->waiting[m->waiting_count++] = id;
	m->next++;
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		const struct seat *seat = &m->seats[s];

		if (seat->created && seat->loaded.module->observer != NULL &&
		    seat->loaded.module->observer->job_submitted != NULL)
			seat->loaded.module->observer->job_submitted(seat->self, &m->views[m->next - 1]);
	}
	note(m, LIST_QUEUED, id);
}

/* What was to happen to a job that holds GPUs. */
static void happen(struct mini *m, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	struct tl_job_view *view = &m->views[slot];
	struct held *held = &m->held[slot];

	if (view->state == TL_JOB_SCHEDULED || view->state == TL_JOB_RESUMING) {
		view->attained_mark_ns = m->now_ns;
		view->committed_ns = m->now_ns;
		held->event_ns = m->now_ns + m->world->jobs[slot].duration_ns - held->done_ns;
		become(m, id, TL_JOB_RUNNING);
		note(m, LIST_RUNNING, id);
	} else if (view->state == TL_JOB_SUSPENDING) {
		release(m, id);
		become(m, id, TL_JOB_SUSPENDED);
		note(m, LIST_SUSPENDED, id);
	} else {
		stop_running(m, id);
		release(m, id);
		m->run->ends_ns[slot] = m->now_ns;
		become(m, id, TL_JOB_SUCCEEDED);
		note(m, LIST_ENDED, id);
	}
}

static int64_t next_event(const struct mini *m)
{
	int64_t at_ns = m->next < m->world->job_count ? m->world->jobs[m->next].submit_ns : TL_TIME_NEVER;

	for (uint32_t i = 0; i < m->holding_count; i++) {
		int64_t event_ns = m->held[TL_JOB_SLOT(m->holding[i])].event_ns;
		at_ns = event_ns < at_ns ? event_ns : at_ns;
	}
	for (int s = 0; s < TL_SEAT_COUNT; s++)
		at_ns = m->seats[s].wake_ns < at_ns ? m->seats[s].wake_ns : at_ns;
	return at_ns;
}

static void run_instant(struct mini *m)
{
	for (uint32_t i = 0; i < m->holding_count;) {
		tl_job_id id = m->holding[i];

		if (m->held[TL_JOB_SLOT(id)].event_ns <= m->now_ns)
			happen(m, id);
		if (i < m->holding_count && m->holding[i] == id)
			i++;
	}
	while (m->next < m->world->job_count && m->world->jobs[m->next].submit_ns <= m->now_ns)
		submit(m);
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		if (m->seats[s].wake_ns > m->now_ns)
			continue;
		m->seats[s].wake_ns = TL_TIME_NEVER;
		m->sets[m->filling].why |= TL_WHY_WOKEN;
	}
}

static void schedule(struct mini *m)
{
	const struct seat *seat = &m->seats[TL_SEAT_SCHEDULER];
	const struct tl_scheduler_ops *ops = seat->loaded.module->ops;
	const struct set *set = &m->sets[m->filling];
	struct tl_changes changes = {
	    .struct_size = sizeof(changes), .why = set->why,
	    .queued = set->lists[LIST_QUEUED], .queued_count = set->counts[LIST_QUEUED],
	    .ended = set->lists[LIST_ENDED], .ended_count = set->counts[LIST_ENDED],
	    .running = set->lists[LIST_RUNNING], .running_count = set->counts[LIST_RUNNING],
	    .suspending = set->lists[LIST_SUSPENDING], .suspending_count = set->counts[LIST_SUSPENDING],
	    .suspended = set->lists[LIST_SUSPENDED], .suspended_count = set->counts[LIST_SUSPENDED],
	    .freed = set->freed, .freed_count = set->freed_count,
	    .taken = set->taken, .taken_count = set->taken_count};

	m->filling = 1 - m->filling;
	struct set *open = &m->sets[m->filling];
	memset(open->counts, 0, sizeof(open->counts));
	open->freed_count = open->taken_count = open->why = 0;
	m->scheduling = true;
	ops->schedule(seat->self, &changes);
	m->scheduling = false;
	m->run->calls++;
}

void mini_run(const struct mini_world *world, const struct mini_policy *policy, struct mini_run *run)
{
	struct mini m = {.world = world, .run = run};

	*run = (struct mini_run){0};
	set_up(&m);
	for (int s = 0; s < TL_SEAT_COUNT; s++)
		load(&m, (enum tl_seat_kind)s, policy);
	open_seat(&m.seats[TL_SEAT_SCHEDULER].host, TL_SEAT_SCHEDULER);
	for (int64_t at_ns; (at_ns = next_event(&m)) != TL_TIME_NEVER;) {
		m.now_ns = at_ns;
		run_instant(&m);
		schedule(&m);
		/* What it decided (a kill, say) is told before time goes on. */
		for (int round = 0; (m.sets[m.filling].why & ~(uint32_t)TL_WHY_TAKEN) != 0; round++) {
			cr_assert_lt(round, 1000);
			schedule(&m);
		}
	}
	tl_cluster_verify(&m.cluster);
	tear_down(&m);
}

void mini_run_fini(struct mini_run *run)
{
	free(run->log);
	free(run->starts_ns);
	free(run->ends_ns);
}

static size_t skip_reserves(const struct mini_run *run, size_t i)
{
	while (i < run->count && run->log[i].what == MINI_RESERVE)
		i++;
	return i;
}

long mini_differ(const struct mini_run *a, const struct mini_run *b)
{
	size_t i = skip_reserves(a, 0), j = skip_reserves(b, 0);

	for (; i < a->count && j < b->count; i = skip_reserves(a, i + 1), j = skip_reserves(b, j + 1)) {
		const struct mini_entry *x = &a->log[i], *y = &b->log[j];

		if (x->at_ns != y->at_ns || x->job != y->job || x->what != y->what || x->where != y->where)
			return (long)i;
	}
	return i < a->count || j < b->count ? (long)i : -1;
}
