/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/world.h"

#include "sim/base/assert.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

/* ---- what the other files share ---- */

void tl_trial_fail(struct tl_trial *trial, enum tl_status code, const char *format, ...)
{
	char text[TL_ERROR_MESSAGE_MAX];
	va_list arguments;

	if (trial->failure.code != TL_OK)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	tl_error_set(&trial->failure, code, NULL, 0, 0, "%s", text);
	tl_engine_stop(&trial->engine);
}

struct tl_tenant_view *tl_trial_tenant(struct tl_trial *trial, uint32_t tenant)
{
	struct tl_tenant_view *view = &trial->tenant_views[tenant];

	TL_ASSERT(tenant < trial->tenants.count);
	return view;
}

uint32_t tl_trial_pool(struct tl_trial *trial, const char *names)
{
	return names[0] == '\0' ? TL_NO_INDEX : tl_intern_put(&trial->pools, names);
}

void tl_trial_levels(struct tl_trial *trial)
{
	const struct tl_cluster *cluster = &trial->cluster;
	const struct tl_job_table *jobs = &trial->jobs;
	struct tl_levels levels = {.capacity_mgpu = cluster->view.capacity_mgpu,
	                           .down_mgpu = cluster->down_mgpu,
	                           .allocated_mgpu = cluster->allocated_mgpu,
	                           .nominal_mgpu = cluster->allocated_mgpu + cluster->excess_mgpu,
	                           .productive_mgpu = trial->productive_mgpu,
	                           .reserved_mgpu = tl_reserve_free_mgpu(trial),
	                           .waiting_mgpu = jobs->waiting_mgpu,
	                           .waiting_jobs = (uint32_t)jobs->waiting.count,
	                           .running_jobs = jobs->in_state[TL_JOB_RUNNING],
	                           .starting_jobs = jobs->in_state[TL_JOB_SCHEDULED] +
	                                            jobs->in_state[TL_JOB_RESUMING],
	                           .suspending_jobs = jobs->in_state[TL_JOB_SUSPENDING],
	                           .suspended_jobs = jobs->in_state[TL_JOB_SUSPENDED],
	                           .free_gpus = cluster->view.free_gpus,
	                           .partial_nodes = cluster->partial_nodes,
	                           .fragmentation_mgpu = trial->fragmentation_mgpu};

	tl_account_levels(trial->account, tl_trial_now(trial), &levels);
	atomic_store_explicit(&trial->pulse->waiting, levels.waiting_jobs, memory_order_relaxed);
	atomic_store_explicit(&trial->pulse->holding, (uint32_t)jobs->holding.count,
	                      memory_order_relaxed);
}

/* ---- the engine's callbacks ---- */

static void apply(void *owner, const struct tl_event *event)
{
	struct tl_trial *trial = owner;
	struct tl_pulse *pulse = trial->pulse;

	atomic_store_explicit(&pulse->now_ns, event->time_ns, memory_order_relaxed);
	atomic_store_explicit(&pulse->events, trial->engine.events, memory_order_relaxed);
	if (event->kind != TL_EVENT_WAKE)
		atomic_store_explicit(&pulse->progress, trial->engine.events, memory_order_relaxed);
	switch ((enum tl_event_kind)event->kind) {
	case TL_EVENT_ARRIVAL:
		tl_sources_arrive(trial, (uint32_t)event->subject);
		break;
	case TL_EVENT_READY:
		tl_life_ready(trial, event->subject);
		break;
	case TL_EVENT_COMPLETE:
		tl_life_complete(trial, event->subject);
		break;
	case TL_EVENT_SAVED:
		tl_life_saved(trial, event->subject);
		break;
	case TL_EVENT_WAKE:
		tl_changes_why(trial, TL_WHY_WOKEN);
		break;
	case TL_EVENT_FAULT:
	case TL_EVENT_NODE_FAIL:
	case TL_EVENT_NODE_REPAIR:
	case TL_EVENT_NODE_SEEN:
		tl_chaos_apply(trial, event);
		break;
	case TL_EVENT_WINDOW:
		tl_services_window(trial);
		break;
	case TL_EVENT_SHOW:
		tl_services_show(trial);
		break;
	case TL_EVENT_ROUND:
	case TL_EVENT_SAMPLE:
		break;
	}
}

/* Packing input that was not started at once is dropped; readings are taken job by job. */
static void end_static(struct tl_trial *trial)
{
	struct tl_id_list *list = &trial->static_waiting;

	for (size_t i = 0; i < list->count; i++) {
		tl_job_id id = list->ids[i];
		int64_t request_mgpu = tl_job_of(&trial->jobs, id)->shape->total_mgpu;
		enum tl_job_state state = tl_job_view_of(&trial->jobs, id)->state;
		bool placed = state != TL_JOB_PENDING && state != TL_JOB_FAILED;
		int64_t before_mgpu = trial->static_requested_mgpu;
		int64_t mark_mgpu = trial->cluster.view.capacity_mgpu * 9 / 10;

		if (state == TL_JOB_PENDING)
			tl_life_reject(trial, id, TL_REASON_NO_ROOM);
		trial->static_requested_mgpu += request_mgpu;
		/* Fragmentation is dear: computed for the one reading that wants it. */
		int64_t fragmented_mgpu = TL_NONE;

		if (before_mgpu <= mark_mgpu && trial->static_requested_mgpu >= mark_mgpu)
			fragmented_mgpu =
			    tl_frag_book_mgpu(trial->fragmentation, &trial->cluster.view);
		tl_account_packing(trial->account, request_mgpu, placed,
		                   trial->cluster.allocated_mgpu, fragmented_mgpu);
	}
	list->count = 0;
}

static bool all_done(const struct tl_trial *trial)
{
	if (trial->jobs.waiting.count > 0 || trial->jobs.holding.count > 0 ||
	    tl_services_count(trial) > 0)
		return false;
	for (size_t s = 0; s < trial->source_count; s++)
		if (!trial->sources[s].ended)
			return false;
	return true;
}

static bool schedule(void *owner, int64_t now_ns)
{
	struct tl_trial *trial = owner;
	const struct tl_instance *instance = &trial->seats[TL_SEAT_SCHEDULER];
	const struct tl_scheduler_ops *ops = instance->loaded.module->ops;
	struct tl_changes changes;

	(void)now_ns;
	if (trial->failure.code != TL_OK)
		return false;
	if (trial->change_sets[trial->filling].why == 0)
		return true;
	const struct tl_change_set *told = tl_changes_turn(trial, &changes);
	const struct tl_id_list *ended = &told->lists[TL_LIST_ENDED];

	trial->in_schedule = true;
	tl_seats_enter(trial, instance, "schedule");
	ops->schedule(instance->self, &changes);
	tl_seats_enter(trial, NULL, NULL);
	trial->in_schedule = false;
	end_static(trial);
	for (size_t i = 0; i < ended->count; i++)
		tl_job_table_remove(&trial->jobs, ended->ids[i]);
	tl_trial_levels(trial);
	if (!tl_watch_scheduled(trial))
		return false;
	return !all_done(trial);
}

static void sample(void *owner, const struct tl_event *event)
{
	struct tl_trial *trial = owner;
	tl_open_purposes open = {{0}};

	trial->fragmentation_mgpu = tl_frag_book_mgpu(trial->fragmentation, &trial->cluster.view);
	tl_trial_levels(trial);
	tl_account_sample(trial->account, event->time_ns);
	tl_life_open_purposes(trial, open);
	tl_account_purposes(trial->account, event->time_ns, open);
	tl_engine_at(&trial->engine, event->time_ns + trial->scenario->timeline_interval_ns,
	             TL_PHASE_SAMPLE, TL_EVENT_SAMPLE, 0);
}

static const struct tl_engine_ops engine_ops = {
    .apply = apply, .schedule = schedule, .sample = sample};

/* ---- setting up ---- */

static void name_things(struct tl_trial *trial)
{
	const struct tl_scenario *scenario = trial->scenario;

	trial->queue_views = tl_calloc(scenario->queue_count + 1, sizeof(*trial->queue_views));
	trial->queue_lists = tl_calloc(scenario->queue_count + 1, sizeof(*trial->queue_lists));
	for (size_t i = 0; i < scenario->queue_count; i++) {
		uint32_t queue = tl_intern_put(&trial->queues, scenario->queues[i].name);

		trial->queue_views[queue] =
		    (struct tl_queue_view){.name = scenario->queues[i].name,
		                           .weight = scenario->queues[i].weight,
		                           .oldest_wait_since_ns = TL_NONE};
	}
	for (size_t i = 0; i < scenario->tenant_count; i++)
		tl_intern_put(&trial->tenants, scenario->tenants[i].name);
	trial->model_views =
	    tl_calloc(scenario->cluster.model_count + 1, sizeof(*trial->model_views));
	for (size_t i = 0; i < scenario->cluster.model_count; i++)
		trial->model_views[i] = (struct tl_model_view){
		    .name = scenario->cluster.models[i].name,
		    .memory_bytes = scenario->cluster.models[i].memory_bytes};
}

/* The mix of requests that fragmentation is measured against. */
static void expect_shapes(struct tl_trial *trial)
{
	size_t count = trial->shapes.count;
	const struct tl_shape **shapes = tl_calloc(count + 1, sizeof(*shapes));

	for (size_t i = 0; i < count; i++)
		shapes[i] = tl_shapes_at(&trial->shapes, (uint32_t)i);
	trial->fragmentation = tl_frag_book_create(shapes, count, trial->cluster.view.node_count);
	free(shapes);
}

/* Once every source has been scanned, all tenants are known. */
static void view_tenants(struct tl_trial *trial)
{
	trial->tenant_views = tl_calloc(trial->tenants.count + 1, sizeof(*trial->tenant_views));
	for (size_t i = 0; i < trial->tenants.count; i++)
		trial->tenant_views[i] = (struct tl_tenant_view){
		    .name = trial->tenants.names[i], .quota_mgpu = TL_NONE, .weight = 1};
	for (size_t i = 0; i < trial->scenario->tenant_count; i++) {
		trial->tenant_views[i].quota_mgpu = trial->scenario->tenants[i].quota_mgpu;
		trial->tenant_views[i].weight = trial->scenario->tenants[i].weight;
	}
}

static enum tl_status set_up(struct tl_trial *trial, struct tl_error *error)
{
	const struct tl_scenario *scenario = trial->scenario;

	tl_engine_init(&trial->engine, &engine_ops, trial, 1024);
	tl_arena_init(&trial->arena);
	tl_job_table_init(&trial->jobs);
	tl_intern_init(&trial->tenants);
	tl_intern_init(&trial->queues);
	tl_intern_init(&trial->pools);
	trial->idle_since_ns = TL_NONE;
	trial->fragmentation_mgpu = TL_NONE;
	tl_storage_init(&trial->storage, scenario->physics.checkpoint_bytes_per_s,
	                scenario->physics.storage_bytes_per_s);
	enum tl_status status = tl_cluster_init(&trial->cluster, &scenario->cluster, error);

	if (status != TL_OK)
		return status;
	tl_cluster_oversubscribe(&trial->cluster, NULL, scenario->oversubscription_milli);
	for (size_t i = 0; i < scenario->pool_count; i++)
		tl_cluster_oversubscribe(&trial->cluster, scenario->pools[i].name,
		                         scenario->pools[i].oversubscription_milli);
	tl_shapes_init(&trial->shapes, &trial->cluster, &scenario->cluster);
	tl_warm_init(&trial->warm, trial->cluster.view.node_count);
	tl_changes_init(trial);
	tl_reserve_init(trial);
	name_things(trial);
	status = tl_seats_load(trial, error);
	if (status == TL_OK)
		status = tl_sources_open(trial, error);
	if (status == TL_OK)
		status = tl_services_create(trial, error);
	if (status == TL_OK) {
		view_tenants(trial);
		expect_shapes(trial);
	}
	return status;
}

static void tear_down(struct tl_trial *trial)
{
	tl_seats_unload(trial);
	tl_sources_close(trial);
	tl_chaos_fini(trial);
	tl_incidents_fini(trial);
	tl_services_destroy(trial);
	tl_account_destroy(trial->account);
	if (trial->results != NULL)
		tl_results_abandon(trial->results);
	tl_changes_fini(trial);
	tl_reserve_fini(trial);
	tl_warm_fini(&trial->warm);
	tl_shapes_fini(&trial->shapes);
	tl_cluster_fini(&trial->cluster);
	tl_storage_fini(&trial->storage);
	free(trial->static_waiting.ids);
	tl_frag_book_destroy(trial->fragmentation);
	free(trial->queue_views);
	free(trial->queue_lists);
	free(trial->tenant_views);
	free(trial->model_views);
	tl_intern_fini(&trial->tenants);
	tl_intern_fini(&trial->queues);
	tl_intern_fini(&trial->pools);
	tl_job_table_fini(&trial->jobs);
	tl_arena_fini(&trial->arena);
	tl_engine_fini(&trial->engine);
	free(trial);
}

static struct tl_trial *new_trial(const struct tl_scenario *scenario,
                                  const struct tl_trial_options *options, struct tl_pulse *pulse)
{
	struct tl_trial *trial = tl_calloc(1, sizeof(*trial));

	trial->scenario = scenario;
	trial->options = options;
	trial->pulse = pulse;
	atomic_store_explicit(&pulse->seat, TL_SEAT_COUNT, memory_order_relaxed);
	return trial;
}

/* ---- running ---- */

static enum tl_status run(struct tl_trial *trial, struct tl_error *error)
{
	enum tl_status status = tl_trial_open_result(trial, error);

	if (status == TL_OK)
		status = tl_chaos_arm(trial, error);
	if (status != TL_OK)
		return status;
	tl_sources_report_infeasible(trial, trial->options->diagnostics);
	atomic_store_explicit(&trial->pulse->rows_total, trial->row_count, memory_order_relaxed);
	tl_seats_open(trial, TL_SEAT_SCHEDULER);
	tl_services_arm(trial);
	if (trial->failure.code == TL_OK)
		status = tl_sources_arm(trial, error);
	if (status != TL_OK)
		return status;
	if ((trial->scenario->tables & TL_TABLE_TIMELINE) != 0)
		tl_engine_at(&trial->engine, 0, TL_PHASE_SAMPLE, TL_EVENT_SAMPLE, 0);
	if (trial->failure.code == TL_OK) {
		enum tl_engine_end end = tl_engine_run(&trial->engine, trial->scenario->horizon_ns);

		tl_watch_ended(trial, end);
	}
	if (trial->failure.code != TL_OK) {
		*error = trial->failure;
		return trial->failure.code;
	}
	return tl_trial_close_result(trial, error);
}

enum tl_status tl_trial_run(const struct tl_scenario *scenario,
                            const struct tl_trial_options *options, struct tl_pulse *pulse,
                            struct tl_error *error)
{
	struct tl_trial *trial = new_trial(scenario, options, pulse);
	enum tl_status status = set_up(trial, error);

	if (status == TL_OK)
		status = run(trial, error);
	tear_down(trial);
	return status;
}

enum tl_status tl_trial_check(const struct tl_scenario *scenario, FILE *report,
                              struct tl_pulse *pulse, struct tl_error *error)
{
	const struct tl_trial_options options = {.diagnostics = report};
	struct tl_trial *trial = new_trial(scenario, &options, pulse);
	enum tl_status status = set_up(trial, error);

	if (status == TL_OK)
		status = tl_trial_open_result(trial, error);
	if (status == TL_OK)
		status = tl_chaos_arm(trial, error);
	if (status == TL_OK) {
		tl_seats_open(trial, TL_SEAT_SCHEDULER);
		if (trial->failure.code != TL_OK) {
			*error = trial->failure;
			status = trial->failure.code;
		}
	}
	if (status == TL_OK && report != NULL) {
		tl_chaos_report_late(trial, scenario->horizon_ns, report);

		uint64_t infeasible = tl_sources_report_infeasible(trial, report);

		fprintf(report, "%" PRIu64 " jobs, %" PRIu64 " of them infeasible; ",
		        trial->row_count, infeasible);
		if (scenario->service_count > 0)
			fprintf(report, "%zu service%s; ", scenario->service_count,
			        scenario->service_count == 1 ? "" : "s");
		fprintf(report, "%zu nodes, %u GPUs\n", scenario->cluster.node_count,
		        trial->cluster.view.gpu_count);
	}
	tear_down(trial);
	return status;
}
