/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/service_core.h"

#include "traces/lint.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- setting up ---- */

/* The nodes that keep a loaded minimal instance: the first that could hold a replica. */
static void mark_hot(const struct tl_trial *trial, struct tl_service *service)
{
	uint32_t left = service->setting->hot_nodes;

	for (uint32_t n = 0; n < trial->cluster.view.node_count && left > 0; n++) {
		const struct tl_node_view *node = &trial->cluster.nodes[n];

		if (!tl_node_allowed(node, service->shape->model_mask) ||
		    node->gpu_count < service->shape->full.gpus ||
		    (service->shape->gpus > 0 && node->gpu_count == 0))
			continue;
		service->hot[n] = service->has_image[n] = true;
		left--;
	}
}

/* Rows of a recording that contradict others are taken all the same, and that is said. */
static void note_dirt(const struct tl_trial *trial, const struct tl_service_setting *setting)
{
	static const struct {
		enum tl_lint_kind kind;
		const char *words;
	} dirt[] = {{TL_LINT_BACKWARD_TIME, "come before the row above them: sorted by time"},
	            {TL_LINT_DUPLICATE_ROW, "repeat an earlier row in every field: kept"}};
	const struct tl_request_trace *recording = setting->arrivals.trace;
	const struct tl_request_stats *stats = recording ? tl_request_trace_stats(recording) : NULL;
	FILE *note = trial->options->diagnostics;

	for (size_t i = 0; note != NULL && stats != NULL && i < stats->lint_count; i++)
		for (size_t d = 0; d < sizeof(dirt) / sizeof(dirt[0]); d++)
			if (stats->lint[i].name == tl_lint_class_of(dirt[d].kind)->name)
				fprintf(note,
				        "service `%s`: %" PRIu64 " of %" PRIu64
				        " recorded requests (line %ld the first) %s\n",
				        setting->name, stats->lint[i].count, stats->rows,
				        stats->lint[i].lines[0], dirt[d].words);
}

static enum tl_status create_one(struct tl_trial *trial, uint32_t number,
                                 struct tl_service *service, struct tl_error *error)
{
	const struct tl_scenario *scenario = trial->scenario;
	const struct tl_service_setting *setting = &scenario->services[number];
	const struct tl_request request = {.gpus_mgpu = setting->gpus_mgpu,
	                                   .gpu_memory_bytes = setting->gpu_memory_bytes,
	                                   .cpu_milli = setting->cpu_milli,
	                                   .ram_bytes = setting->ram_bytes,
	                                   .workers = 1,
	                                   .isolated = setting->slice != 0,
	                                   .model_mask = setting->model_mask,
	                                   .pool_mask = setting->pool_mask};
	struct tl_arrival_spec plan = setting->arrivals;

	service->setting = setting;
	note_dirt(trial, setting);
	service->shape = tl_shapes_intern(&trial->shapes, &request, false);
	if (service->shape == NULL || !tl_shapes_feasible(&trial->shapes, service->shape)) {
		const char *why = tl_infeasible_why(trial, &request);

		return tl_error_set(error, TL_E_CONFIG, scenario->path, setting->line,
		                    setting->column,
		                    "service `%s`: a replica of %g GPUs can never fit this "
		                    "cluster%s%s",
		                    setting->name, (double)setting->gpus_mgpu / 1000.0,
		                    why ? ": " : "", why ? why : "");
	}
	service->tenant = tl_intern_put(&trial->tenants, setting->tenant);
	int64_t queue =
	    setting->queue[0] != '\0' ? tl_intern_find(&trial->queues, setting->queue) : 0;

	if (queue < 0)
		return tl_error_set(
		    error, TL_E_CONFIG, scenario->path, setting->line, setting->column,
		    "service `%s`: queue: got `%s`, wanted one of the scenario's queues",
		    setting->name, setting->queue);
	service->queue = (uint32_t)queue;
	enum tl_status status = tl_arrivals_create(&setting->arrivals, scenario->seed, number,
	                                           &service->arrivals, error);

	if (status != TL_OK)
		return status;
	plan.surge_count = 0;
	if (plan.process == TL_ARRIVALS_MMPP)
		plan.process = TL_ARRIVALS_NHPP;
	status = tl_arrivals_create(&plan, scenario->seed, number, &service->plan, error);
	if (status != TL_OK)
		return status;
	service->requests = tl_requests_create(&setting->model, scenario->seed, number, 0);
	service->fluid = tl_fluid_create(&setting->model);
	service->run.latency = tl_calloc(1, sizeof(*service->run.latency));
	tl_histogram_init(service->run.latency);
	service->has_image = tl_calloc(trial->cluster.view.node_count, sizeof(bool));
	service->hot = tl_calloc(trial->cluster.view.node_count, sizeof(bool));
	mark_hot(trial, service);
	return TL_OK;
}

/* Requests in 1,000 s of one replica at full speed: the batch limit over the time of a full batch. */
static int64_t capacity_per_ks(const struct tl_request_model *model)
{
	double each_ns = tl_service_time_mean_ns(&model->service, model->batch_limit);

	return each_ns > 0.0 ? (int64_t)(1e12 / each_ns) : 0;
}

/* Looks that are under way at one time. */
static uint32_t look_room(const struct tl_scenario *scenario)
{
	int64_t interval_ns =
	    scenario->observe_interval_ns > 0 ? scenario->observe_interval_ns : scenario->window_ns;

	return scenario->observe_delay_ns > 0
	           ? (uint32_t)(scenario->observe_delay_ns / interval_ns) + 2
	           : 0;
}

enum tl_status tl_services_create(struct tl_trial *trial, struct tl_error *error)
{
	const struct tl_scenario *scenario = trial->scenario;
	struct tl_services *services = tl_calloc(1, sizeof(*services));

	trial->services = services;
	services->items = tl_calloc(scenario->service_count + 1, sizeof(*services->items));
	services->window_ns = scenario->window_ns;
	services->look_room = look_room(scenario);
	services->looks =
	    tl_calloc(services->look_room * scenario->service_count + 1, sizeof(*services->looks));
	if (scenario->service_count > 0 && scenario->horizon_ns == TL_NEVER)
		return tl_error_set(error, TL_E_CONFIG, scenario->path, scenario->services[0].line,
		                    scenario->services[0].column,
		                    "horizon: got none, wanted one: a service never ends");
	for (uint32_t s = 0; s < scenario->service_count; s++) {
		services->count = s + 1;
		enum tl_status status = create_one(trial, s, &services->items[s], error);

		if (status != TL_OK)
			return status;
	}
	return TL_OK;
}

enum tl_status tl_services_open_tables(struct tl_trial *trial, struct tl_error *error)
{
	struct tl_services *services = trial->services;

	for (uint32_t s = 0; s < services->count; s++) {
		struct tl_service *service = &services->items[s];
		struct tl_table_schema schema = tl_schema_windows;
		char path[160];

		service->account =
		    tl_ledger_account(tl_account_ledger(trial->account), service->tenant,
		                      TL_JOB_INFERENCE, service->queue, TL_TIER_BASE);
		if (trial->results == NULL || (trial->scenario->tables & TL_TABLE_WINDOWS) == 0)
			continue;
		snprintf(path, sizeof(path), "/services/%s/windows", service->setting->name);
		schema.path = path;
		enum tl_status status =
		    tl_results_table(trial->results, &schema, NULL, &service->table, error);

		if (status != TL_OK)
			return status;
	}
	return TL_OK;
}

void tl_services_destroy(struct tl_trial *trial)
{
	struct tl_services *services = trial->services;

	if (services == NULL)
		return;
	for (uint32_t s = 0; s < services->count; s++) {
		struct tl_service *service = &services->items[s];

		if (service->requests != NULL)
			tl_requests_destroy(service->requests);
		if (service->fluid != NULL)
			tl_fluid_destroy(service->fluid);
		free(service->run.latency);
		if (service->arrivals != NULL)
			tl_arrivals_destroy(service->arrivals);
		if (service->plan != NULL)
			tl_arrivals_destroy(service->plan);
		tl_arrival_block_fini(&service->block);
		free(service->tokens);
		tl_forecasts_fini(&service->forecasts);
		free(service->replicas.ids);
		free(service->has_image);
		free(service->hot);
	}
	free(services->items);
	free(services->looks);
	free(services);
}

/* ---- replicas ---- */

static struct tl_service *service_of(const struct tl_trial *trial, tl_job_id id)
{
	return &trial->services->items[trial->jobs.views[TL_JOB_SLOT(id)].service];
}

static void submit_replica(struct tl_trial *trial, uint32_t number, bool at_once)
{
	struct tl_service *service = &trial->services->items[number];
	tl_job_id id = tl_job_table_add(&trial->jobs, service->shape, tl_trial_now(trial));
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);

	snprintf(job->id, sizeof(job->id), "%.40s/%" PRIu64, service->setting->name,
	         service->starts++);
	job->row = TL_ROW_NO_JOB;
	job->progress.work_ns = TL_NEVER;
	job->progress.plan.interval_ns = TL_NEVER;
	job->account = service->account;
	/* Its share at the most, until it has been measured. */
	job->demand_milli = job->measured_milli = service->shape->full.share_mgpu;
	job->starts_at_once = at_once;
	view->tenant = service->tenant;
	view->queue = service->queue;
	view->kind = TL_JOB_INFERENCE;
	view->tier = TL_TIER_BASE;
	view->service = number;
	view->flags = TL_JOB_REPLICA;
	if (trial->scenario->physics.sharing.guaranteed != TL_GUARANTEED_NONE)
		view->flags |= TL_JOB_GUARANTEED;
	view->restart_ns = tl_services_start_ns(trial, job);
	tl_id_list_push(&service->replicas, id);
	tl_queues_join(trial, id);
	tl_seats_observe_submitted(trial, id);
	tl_changes_job(trial, TL_LIST_QUEUED, id);
}

void tl_services_arm(struct tl_trial *trial)
{
	struct tl_services *services = trial->services;

	for (uint32_t s = 0; s < services->count; s++) {
		struct tl_service *service = &services->items[s];
		const struct tl_service_setting *setting = service->setting;

		service->view = (struct tl_service_view){
		    .name = setting->name,
		    .shape = service->shape->id,
		    .tenant = service->tenant,
		    .replicas_min = setting->replicas_min,
		    .replicas_max = setting->replicas_max,
		    .replicas = setting->replicas_initial,
		    .slo_p99_ns =
			setting->model.target_ns == TL_NEVER ? 0 : setting->model.target_ns,
		    .replica_capacity_per_ks = capacity_per_ks(&setting->model),
		    .p50_ns = TL_NONE,
		    .breach_since_ns = TL_NONE};
		service->breach_since_ns = TL_NONE;
		for (uint32_t r = 0; r < setting->replicas_initial; r++)
			submit_replica(trial, s, true);
	}
	if (services->count > 0)
		tl_engine_at(&trial->engine, 0, TL_PHASE_TIMER, TL_EVENT_WINDOW, 0);
}

int64_t tl_services_start_ns(const struct tl_trial *trial, const struct tl_job *job)
{
	const struct tl_service *service =
	    &trial->services->items[trial->jobs.views[job - trial->jobs.jobs].service];
	const struct tl_service_setting *setting = service->setting;
	uint32_t node = job->alloc.nodes != NULL ? job->alloc.nodes[0] : TL_NO_INDEX;

	if (trial->scenario->physics.ideal || job->starts_at_once)
		return 0;
	if (node != TL_NO_INDEX && service->hot[node])
		return setting->hot_start_ns;
	int64_t start_ns = setting->container_ns + setting->init_ns;

	if (setting->load_bytes_per_s > 0)
		start_ns += (int64_t)((tl_i128)setting->weights_bytes * TL_NS_PER_S /
		                      setting->load_bytes_per_s);
	if ((node == TL_NO_INDEX || !service->has_image[node]) && setting->pull_bytes_per_s > 0)
		start_ns += (int64_t)((tl_i128)setting->image_bytes * TL_NS_PER_S /
		                      setting->pull_bytes_per_s);
	return start_ns;
}

void tl_services_ready(struct tl_trial *trial, tl_job_id id, int64_t speed_ppb)
{
	struct tl_service *service = service_of(trial, id);
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	uint32_t node = job->alloc.nodes[0];

	if (!service->has_image[node] && !job->starts_at_once)
		service->cold_starts++;
	service->has_image[node] = true;
	job->starts_at_once = false;
	tl_service_materialise(trial, service);
	tl_requests_replica_add(service->requests, tl_trial_now(trial), id, speed_ppb);
	service->view.ready++;
}

void tl_services_speed(struct tl_trial *trial, tl_job_id id, int64_t speed_ppb)
{
	struct tl_service *service = service_of(trial, id);

	tl_service_materialise(trial, service);
	tl_requests_replica_speed(service->requests, tl_trial_now(trial), id, speed_ppb);
}

void tl_services_stood_by(struct tl_trial *trial, tl_job_id id, int64_t wall_ns,
                          tl_i128 booked_mgpu_ns, tl_i128 slow_mgpu_ns)
{
	struct tl_service *service = service_of(trial, id);

	service->wall_ns += wall_ns;
	service->booked_mgpu_ns += booked_mgpu_ns;
	service->slow_mgpu_ns += slow_mgpu_ns;
}

void tl_services_gone(struct tl_trial *trial, tl_job_id id)
{
	struct tl_service *service = service_of(trial, id);

	if (service->departing == id) /* it has nothing left and is out already */
		return;
	tl_service_materialise(trial, service);
	tl_requests_replica_remove(service->requests, tl_trial_now(trial), id, TL_REPLICA_KILL);
	if (!tl_job_of(&trial->jobs, id)->draining)
		service->view.ready--;
}

void tl_services_forget(struct tl_trial *trial, tl_job_id id)
{
	struct tl_service *service = service_of(trial, id);
	size_t kept = 0;

	for (size_t i = 0; i < service->replicas.count; i++)
		if (service->replicas.ids[i] != id)
			service->replicas.ids[kept++] = service->replicas.ids[i];
	service->replicas.count = kept;
}

/* ---- scaling ---- */

/* How gladly a replica is let go: waiting, then starting, then running; the youngest first. */
static int rank(enum tl_job_state state)
{
	switch (state) {
	case TL_JOB_PENDING:
	case TL_JOB_SUSPENDED:
		return 0;
	case TL_JOB_SCHEDULED:
	case TL_JOB_RESUMING:
		return 1;
	case TL_JOB_RUNNING:
		return 2;
	case TL_JOB_SUSPENDING:
	case TL_JOB_SUCCEEDED:
	case TL_JOB_FAILED:
	case TL_JOB_STATE_COUNT:
		break;
	}
	return 3;
}

static tl_job_id least_wanted(struct tl_trial *trial, const struct tl_service *service)
{
	tl_job_id best = 0;
	int best_rank = 3;

	for (size_t i = service->replicas.count; i-- > 0;) {
		tl_job_id id = service->replicas.ids[i];
		int its = rank(tl_job_view_of(&trial->jobs, id)->state);

		if (!tl_job_of(&trial->jobs, id)->draining && its < best_rank) {
			best = id;
			best_rank = its;
		}
	}
	return best;
}

static void let_go(struct tl_trial *trial, struct tl_service *service, tl_job_id id)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (tl_job_view_of(&trial->jobs, id)->state == TL_JOB_RUNNING && !job->dead) {
		job->draining = true;
		service->view.ready--;
		tl_service_materialise(trial, service);
		tl_requests_replica_remove(service->requests, tl_trial_now(trial), id,
		                           TL_REPLICA_DRAIN);
		return;
	}
	tl_life_end_replica(trial, id);
}

static uint32_t kept_count(struct tl_trial *trial, const struct tl_service *service)
{
	uint32_t count = 0;

	for (size_t i = 0; i < service->replicas.count; i++)
		if (!tl_job_of(&trial->jobs, service->replicas.ids[i])->draining)
			count++;
	return count;
}

enum tl_refusal tl_services_scale(struct tl_trial *trial, uint32_t number, uint32_t replicas)
{
	if (number >= trial->services->count)
		return TL_REFUSED_NO_SUCH_SERVICE;
	struct tl_service *service = &trial->services->items[number];

	if (replicas < service->setting->replicas_min || replicas > service->setting->replicas_max)
		return TL_REFUSED_RANGE;
	uint32_t have = kept_count(trial, service);

	if (replicas > service->view.replicas)
		service->scale_ups++;
	if (replicas < service->view.replicas)
		service->scale_downs++;
	/* Who is new, and what is free, is for the policy to see now, not at the next event. */
	if (replicas != have)
		tl_engine_at(&trial->engine, tl_trial_now(trial), TL_PHASE_TIMER, TL_EVENT_ROUND,
		             0);
	service->view.replicas = replicas;
	for (; have < replicas; have++)
		submit_replica(trial, number, false);
	for (; have > replicas; have--) {
		tl_job_id id = least_wanted(trial, service);

		if (id == 0)
			break;
		let_go(trial, service, id);
	}
	return TL_ACCEPTED;
}

/* ---- reads ---- */

const struct tl_service_view *tl_services_view(const struct tl_trial *trial, uint32_t number)
{
	return number < trial->services->count ? &trial->services->items[number].view : NULL;
}

uint32_t tl_services_count(const struct tl_trial *trial)
{
	return trial->services->count;
}

int64_t tl_services_rate_per_ks(const struct tl_trial *trial, uint32_t number, int64_t at_ns,
                                bool planned)
{
	if (number >= trial->services->count || at_ns < 0)
		return TL_NONE;
	const struct tl_service *service = &trial->services->items[number];

	return (int64_t)(tl_arrivals_rate(planned ? service->plan : service->arrivals, at_ns) *
	                 1000.0);
}
