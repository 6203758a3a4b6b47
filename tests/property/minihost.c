/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The small host: set-up, time, and the comparison of runs. */
#include "tests/property/minihost_world.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- set-up ------------------------------------------------------------------------------ */

static void load(struct mini *m, enum tl_seat_kind kind, const struct mini_policy *policy)
{
	struct mini_seat *seat = &m->seats[kind];
	const char *folder = getenv("TIDELAB_POLICIES");
	struct tl_setting settings[MINI_SETTINGS_MAX];
	struct tl_error error = TL_ERROR_INIT;
	size_t count = 0;
	char path[512];

	seat->mini = m;
	seat->wake_ns = TL_TIME_NEVER;
	mini_fill_host(&seat->host, seat);
	if (policy->use[kind] == NULL)
		return;
	for (size_t i = 0; i < MINI_SETTINGS_MAX && policy->settings[i].name != NULL; i++)
		if (policy->settings[i].seat == kind)
			settings[count++] = (struct tl_setting){
			    .name = (char *)(uintptr_t)policy->settings[i].name,
			    .value = (char *)(uintptr_t)policy->settings[i].value,
			    .line = 1,
			    .column = 1};
	snprintf(path, sizeof(path), "%s/%s.so", folder != NULL ? folder : "build/release/policies",
	         policy->use[kind]);
	cr_assert_eq(tl_module_load(path, &seat->loaded, &error), TL_OK, "%s: %s", path,
	             error.message);
	cr_assert_eq(
	    tl_module_options(seat->loaded.module, settings, count, "test", &seat->values, &error),
	    TL_OK, "%s: %s", path, error.message);
}

static void set_up(struct mini *m)
{
	const struct mini_world *world = m->world;
	struct tl_error error = TL_ERROR_INIT;
	size_t jobs = world->job_count;

	cr_assert_eq(tl_cluster_init(&m->cluster, world->spec, &error), TL_OK);
	if (world->ratio_milli > 0)
		tl_cluster_oversubscribe(&m->cluster, NULL, world->ratio_milli);
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
		    .name = "t",
		    .quota_mgpu = world->quotas_mgpu[i] > 0 ? world->quotas_mgpu[i] : -1};
		m->queues[i] = (struct tl_queue_view){
		    .name = "q", .weight = world->weights[i] > 0 ? world->weights[i] : 1};
	}
}

static void tear_down(struct mini *m)
{
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		struct mini_seat *seat = &m->seats[s];

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
	m->views[m->next] = (struct tl_job_view){.id = id,
	                                         .sequence = m->next,
	                                         .submit_ns = m->now_ns,
	                                         .waiting_since_ns = m->now_ns,
	                                         .estimate_ns = job->estimate_ns,
	                                         .deadline_ns = -1,
	                                         .first_start_ns = -1,
	                                         .started_ns = -1,
	                                         .committed_ns = -1,
	                                         .save_ns = m->world->save_ns,
	                                         .restart_ns = m->world->restart_ns,
	                                         .shape = shape->id,
	                                         .tenant = job->tenant,
	                                         .queue = job->queue,
	                                         .service = job->replica ? 0 : TL_NO_INDEX,
	                                         .utilisation_milli = -1,
	                                         .state = TL_JOB_PENDING,
	                                         .flags = job->fixed ? 0 : TL_JOB_PREEMPTIBLE};
	m->views[m->next].flags |= job->guaranteed ? TL_JOB_GUARANTEED : 0;
	m->held[m->next].event_ns = TL_TIME_NEVER;
	m->waiting[m->waiting_count++] = id;
	m->next++;
	for (int s = 0; s < TL_SEAT_COUNT; s++) {
		const struct mini_seat *seat = &m->seats[s];

		if (seat->created && seat->loaded.module->observer != NULL &&
		    seat->loaded.module->observer->job_submitted != NULL)
			seat->loaded.module->observer->job_submitted(seat->self,
			                                             &m->views[m->next - 1]);
	}
	mini_note(m, LIST_QUEUED, id);
}

/* What was to happen to a job that holds GPUs. */
static void happen(struct mini *m, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	struct tl_job_view *view = &m->views[slot];
	struct mini_held *held = &m->held[slot];

	if (view->state == TL_JOB_SCHEDULED || view->state == TL_JOB_RESUMING) {
		view->attained_mark_ns = m->now_ns;
		view->committed_ns = m->now_ns;
		view->utilisation_milli = m->world->jobs[slot].utilisation_milli;
		tl_cluster_measured(&m->cluster, id, &held->alloc, view->utilisation_milli);
		held->event_ns = m->now_ns + m->world->jobs[slot].duration_ns - held->done_ns;
		mini_become(m, id, TL_JOB_RUNNING);
		mini_note(m, LIST_RUNNING, id);
	} else if (view->state == TL_JOB_SUSPENDING && held->target.nodes != NULL) {
		mini_release(m, id);
		held->alloc = held->target;
		held->target = (struct tl_alloc){0};
		mini_time_start(m, id);
		mini_become(m, id, TL_JOB_RESUMING);
	} else if (view->state == TL_JOB_SUSPENDING) {
		mini_release(m, id);
		mini_become(m, id, TL_JOB_SUSPENDED);
		mini_note(m, LIST_SUSPENDED, id);
	} else {
		mini_stop_running(m, id);
		mini_release(m, id);
		m->run->ends_ns[slot] = m->now_ns;
		mini_become(m, id, TL_JOB_SUCCEEDED);
		mini_note(m, LIST_ENDED, id);
	}
}

static int64_t next_event(const struct mini *m)
{
	int64_t at_ns =
	    m->next < m->world->job_count ? m->world->jobs[m->next].submit_ns : TL_TIME_NEVER;

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
	const struct mini_seat *seat = &m->seats[TL_SEAT_SCHEDULER];
	const struct tl_scheduler_ops *ops = seat->loaded.module->ops;
	const struct mini_set *set = &m->sets[m->filling];
	struct tl_changes changes = {.struct_size = sizeof(changes),
	                             .why = set->why,
	                             .queued = set->lists[LIST_QUEUED],
	                             .queued_count = set->counts[LIST_QUEUED],
	                             .ended = set->lists[LIST_ENDED],
	                             .ended_count = set->counts[LIST_ENDED],
	                             .running = set->lists[LIST_RUNNING],
	                             .running_count = set->counts[LIST_RUNNING],
	                             .suspending = set->lists[LIST_SUSPENDING],
	                             .suspending_count = set->counts[LIST_SUSPENDING],
	                             .suspended = set->lists[LIST_SUSPENDED],
	                             .suspended_count = set->counts[LIST_SUSPENDED],
	                             .freed = set->freed,
	                             .freed_count = set->freed_count,
	                             .taken = set->taken,
	                             .taken_count = set->taken_count};

	m->filling = 1 - m->filling;
	struct mini_set *open = &m->sets[m->filling];
	memset(open->counts, 0, sizeof(open->counts));
	open->freed_count = open->taken_count = open->why = 0;
	m->scheduling = true;
	ops->schedule(seat->self, &changes);
	m->scheduling = false;
	m->run->calls++;
}

void mini_run(const struct mini_world *world, const struct mini_policy *policy,
              struct mini_run *run)
{
	struct mini m = {.world = world, .run = run};

	*run = (struct mini_run){0};
	set_up(&m);
	for (int s = 0; s < TL_SEAT_COUNT; s++)
		load(&m, (enum tl_seat_kind)s, policy);
	const struct tl_host *host = &m.seats[TL_SEAT_SCHEDULER].host;
	host->seat(host, TL_SEAT_SCHEDULER);
	for (int64_t at_ns; (at_ns = next_event(&m)) != TL_TIME_NEVER;) {
		m.now_ns = at_ns;
		run_instant(&m);
		schedule(&m);
		/* What it decided (a kill, say) is told before time goes on. */
		for (int round = 0; (m.sets[m.filling].why & ~(uint32_t)TL_WHY_TAKEN) != 0;
		     round++) {
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

	for (; i < a->count && j < b->count;
	     i = skip_reserves(a, i + 1), j = skip_reserves(b, j + 1)) {
		const struct mini_entry *x = &a->log[i], *y = &b->log[j];

		if (x->at_ns != y->at_ns || x->job != y->job || x->what != y->what ||
		    x->where != y->where)
			return (long)i;
	}
	return i < a->count || j < b->count ? (long)i : -1;
}
