/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What arrives: the scenario's traces, row by row, into jobs. */
#include "sim/plane/world.h"
#include "sim/work/sharing.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- from the trace's numbering to ours ---- */

static void map_names(struct tl_trial *trial, struct tl_source *source)
{
	const struct tl_intern *tenants = tl_trace_tenants(source->trace);
	const struct tl_intern *queues = tl_trace_queues(source->trace);
	const struct tl_intern *models = tl_trace_models(source->trace);
	const char *forced = source->workload->tenant;

	source->tenants = tl_calloc(tenants->count + 1, sizeof(*source->tenants));
	for (size_t i = 0; i < tenants->count; i++)
		source->tenants[i] =
		    tl_intern_put(&trial->tenants, forced[0] != '\0' ? forced : tenants->names[i]);
	source->queues = tl_calloc(queues->count + 1, sizeof(*source->queues));
	source->models = tl_calloc(models->count + 1, sizeof(*source->models));
	for (size_t i = 0; i < models->count; i++)
		source->models[i] =
		    tl_cluster_spec_models(&trial->scenario->cluster, models->names[i]);
}

static uint32_t middle_queue(const struct tl_trial *trial)
{
	return (uint32_t)(trial->queues.count / 2);
}

/* A queue that the trace names and the scenario does not (every site numbers its own) is
 * the middle one, and that is said. */
static enum tl_status map_queues(struct tl_trial *trial, struct tl_source *source,
                                 struct tl_error *error)
{
	const struct tl_intern *queues = tl_trace_queues(source->trace);
	const char *forced = source->workload->queue;
	FILE *note = trial->options->diagnostics;
	uint64_t unknown = 0;

	if (forced[0] != '\0' && tl_intern_find(&trial->queues, forced) < 0)
		return tl_error_set(error, TL_E_CONFIG, trial->scenario->path,
		                    source->workload->line, source->workload->column,
		                    "queue: got `%s`, wanted one of the scenario's queues", forced);
	for (size_t i = 0; i < queues->count; i++) {
		int64_t queue = tl_intern_find(&trial->queues, queues->names[i]);

		source->queues[i] = queue < 0 ? middle_queue(trial) : (uint32_t)queue;
		unknown += queue < 0;
	}
	if (unknown > 0 && forced[0] == '\0' && note != NULL)
		fprintf(note,
		        "%s: names %" PRIu64
		        " queue%s that the scenario has not: jobs there go to `%s`\n",
		        source->workload->path, unknown, unknown == 1 ? "" : "s",
		        trial->queues.names[middle_queue(trial)]);
	return TL_OK;
}

static uint64_t mask_of(const struct tl_source *source, uint32_t models)
{
	return models == UINT32_MAX ? UINT64_MAX : source->models[models];
}

bool tl_source_clamps(const struct tl_source *source)
{
	return source->workload->infeasible == TL_INFEASIBLE_CLAMP;
}

struct tl_request tl_source_request(const struct tl_source *source,
                                    const struct tl_trace_request *r)
{
	return (struct tl_request){.gpus_mgpu = r->gpus_mgpu,
	                           .gpu_memory_bytes = r->gpu_memory_bytes,
	                           .cpu_milli = r->cpu_milli,
	                           .ram_bytes = r->ram_bytes,
	                           .workers = r->workers,
	                           .model_mask = mask_of(source, r->models),
	                           .pool_mask = source->workload->pool_mask};
}

/* Of a file that is not there, the place that names it: what is in it is told by its own. */
static enum tl_status tell_place(const struct tl_trial *trial, const struct tl_source *source,
                                 enum tl_status status, struct tl_error *error)
{
	char why[sizeof error->file + sizeof error->message + 2];

	if (status != TL_E_NOINPUT || error == NULL || trial->scenario->path == NULL ||
	    source->workload->line == 0)
		return status;
	(void)snprintf(why, sizeof why, "%s: %s", error->file, error->message);
	return tl_error_set(error, status, trial->scenario->path, source->workload->line,
	                    source->workload->column, "%s", why);
}

static enum tl_status open_source(struct tl_trial *trial, struct tl_source *source,
                                  struct tl_error *error)
{
	struct tl_trace_options options = source->workload->trace;

	options.capacity_mgpu = trial->cluster.view.capacity_mgpu;
	options.seed = trial->scenario->seed;
	options.entity = (uint64_t)(source - trial->sources);
	enum tl_status status =
	    source->workload->is_made
		? tl_generate_open(&source->workload->generate, &options, &source->trace, error)
		: tl_trace_open(source->workload->path, &options, &source->trace, error);

	if (status != TL_OK)
		return tell_place(trial, source, status, error);
	map_names(trial, source);
	source->pool = tl_trial_pool(trial, source->workload->pool);
	status = map_queues(trial, source, error);
	size_t count = 0;
	const struct tl_trace_request *requests = tl_trace_requests(source->trace, &count);

	for (size_t i = 0; i < count; i++) {
		struct tl_request request = tl_source_request(source, &requests[i]);
		struct tl_shape *shape =
		    tl_shapes_intern(&trial->shapes, &request, tl_source_clamps(source));

		if (shape != NULL)
			shape->expected_count += requests[i].count;
	}
	source->first_row = trial->row_count;
	trial->row_count += tl_trace_get_stats(source->trace)->rows_kept;
	return status;
}

/* Not the filters: they leave out what they were asked to. */
static bool drops(const struct tl_lint_class *class)
{
	return strstr(class->rule, "dropped") != NULL;
}

/* Rows that the reader dropped are said on every run, class by class. */
static void note_dropped(struct tl_trial *trial, const struct tl_source *source)
{
	const struct tl_trace_stats *stats = tl_trace_get_stats(source->trace);
	FILE *note = trial->options->diagnostics;
	uint64_t dropped = 0;

	for (size_t i = 0; i < stats->lint_count; i++)
		dropped += drops(&stats->lint[i]) ? stats->lint[i].count : 0;
	trial->counts.rows_dropped += dropped;
	if (dropped == 0 || note == NULL)
		return;
	fprintf(note, "%s: %" PRIu64 " of %" PRIu64 " rows dropped:", source->workload->path,
	        dropped, stats->rows_read);
	for (size_t i = 0; i < stats->lint_count; i++)
		if (drops(&stats->lint[i]))
			fprintf(note, " %s %" PRIu64 ";", stats->lint[i].name,
			        stats->lint[i].count);
	fprintf(note, " `tidelab trace lint` tells more\n");
}

enum tl_status tl_sources_open(struct tl_trial *trial, struct tl_error *error)
{
	trial->source_count = trial->scenario->workload_count;
	trial->sources = tl_calloc(trial->source_count + 1, sizeof(*trial->sources));
	for (size_t s = 0; s < trial->source_count; s++) {
		trial->sources[s].workload = &trial->scenario->workloads[s];
		enum tl_status status = open_source(trial, &trial->sources[s], error);

		if (status != TL_OK)
			return status;
		note_dropped(trial, &trial->sources[s]);
	}
	return TL_OK;
}

void tl_sources_close(struct tl_trial *trial)
{
	for (size_t s = 0; s < trial->source_count; s++) {
		struct tl_source *source = &trial->sources[s];

		if (source->trace != NULL)
			tl_trace_close(source->trace);
		free(source->tenants);
		free(source->queues);
		free(source->models);
	}
	free(trial->sources);
}

/* ---- rows into jobs ---- */

static int64_t estimate_of(const struct tl_trial *trial, const struct tl_trace_record *record,
                           uint64_t row)
{
	double u[2];

	switch (trial->scenario->estimates) {
	case TL_ESTIMATES_TRACE:
		return record->estimate_ns;
	case TL_ESTIMATES_EXACT:
		return record->duration_ns;
	case TL_ESTIMATES_NOISY:
		break;
	}
	for (uint64_t n = 0; n < 2; n++)
		u[n] =
		    ((double)(tl_rng_at(trial->scenario->seed, TL_STREAM_ESTIMATE, row, n) >> 11) +
		     0.5) *
		    0x1.0p-53;
	/* Box and Muller: one normal draw a job, whatever the order of arrival. */
	double normal = sqrt(-2.0 * log(u[0])) * cos(6.283185307179586 * u[1]);
	double noisy = (double)record->duration_ns * exp(trial->scenario->estimates_sigma * normal);

	return noisy < 9.0e18 ? (int64_t)noisy : TL_NEVER;
}

static void plan_checkpoints(const struct tl_trial *trial, struct tl_job *job, int64_t save_ns)
{
	const struct tl_physics *physics = &trial->scenario->physics;
	struct tl_checkpoint_plan *plan = &job->progress.plan;

	*plan = (struct tl_checkpoint_plan){.interval_ns = TL_NEVER};
	if (physics->ideal || physics->checkpoint_interval_ns == 0 ||
	    job->progress.work_ns == TL_NEVER)
		return;
	plan->stall_ns = physics->checkpoint_async && physics->checkpoint_stall_ns < save_ns
	                     ? physics->checkpoint_stall_ns
	                     : save_ns;
	plan->drain_ns = save_ns - plan->stall_ns;
	plan->interval_ns = physics->checkpoint_interval_ns;
	if (plan->interval_ns < 0) {
		double rate = trial->scenario->failures.per_1000_node_days;
		double days = 1000.0 / (rate > 0.0 ? rate : 4.0) / (double)job->shape->workers;

		plan->interval_ns = tl_checkpoint_optimal_ns(
		    plan->stall_ns, (int64_t)(days * (double)TL_NS_PER_DAY));
	}
}

static void fill_job(struct tl_trial *trial, const struct tl_source *source,
                     const struct tl_trace_record *record, tl_job_id id)
{
	const struct tl_physics *physics = &trial->scenario->physics;
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);
	bool is_static = record->duration_ns == TL_NEVER;

	memcpy(job->id, record->id, sizeof(job->id));
	job->row = source->first_row + record->row;
	job->source = (uint32_t)(source - trial->sources);
	job->outcome = record->outcome;
	job->progress.work_ns = record->duration_ns;
	job->state_bytes = record->state_bytes >= 0 ? record->state_bytes : physics->state_bytes;
	view->estimate_ns = is_static ? TL_NONE : estimate_of(trial, record, job->row);
	view->deadline_ns = record->deadline_ns;
	view->tenant = source->tenants[record->tenant];
	view->queue = source->workload->queue[0] != '\0'
	                  ? (uint32_t)tl_intern_find(&trial->queues, source->workload->queue)
	              : record->queue == UINT32_MAX ? middle_queue(trial)
	                                            : source->queues[record->queue];
	view->kind = (uint8_t)(source->workload->kind >= 0 ? (int)source->workload->kind
	                                                   : (int)record->kind);
	view->priority = record->priority;
	view->tier = TL_TIER_BASE;
	view->flags = is_static ? TL_JOB_STATIC : TL_JOB_PREEMPTIBLE;
	if (view->kind == TL_JOB_INFERENCE &&
	    physics->sharing.guaranteed == TL_GUARANTEED_INFERENCE)
		view->flags |= TL_JOB_GUARANTEED;
	view->save_ns = physics->ideal ? 0
	                               : physics->checkpoint_base_ns +
	                                     (int64_t)((tl_i128)job->state_bytes * TL_NS_PER_S /
	                                               physics->checkpoint_bytes_per_s);
	view->restart_ns = physics->ideal                                 ? 0
	                   : job->shape->gpus <= physics->cold_small_gpus ? physics->cold_small_ns
	                                                                  : physics->cold_large_ns;
	plan_checkpoints(trial, job, view->save_ns);
	view->checkpoint_period_ns = tl_progress_period(&job->progress.plan);
	int32_t utilisation_milli = record->utilisation_milli;

	if (utilisation_milli < 0 || physics->sharing.all_drawn) {
		utilisation_milli = tl_sharing_draw_utilisation_milli(
		    &physics->sharing, trial->scenario->seed, job->row);
		if (job->shape->full.share_mgpu < TL_MGPU_PER_GPU)
			utilisation_milli = (int32_t)((int64_t)utilisation_milli *
			                              job->shape->full.share_mgpu / 1000);
	}
	job->demand_milli = job->measured_milli = utilisation_milli;
	job->account = tl_ledger_account(tl_account_ledger(trial->account), view->tenant,
	                                 view->kind, view->queue, view->tier);
}

/* A row that never became a job: it can never fit, or the horizon came before it. */
static void report_row(struct tl_trial *trial, const struct tl_source *source,
                       const struct tl_trace_record *record, enum tl_job_state state,
                       enum tl_reason reason)
{
	bool ended = state == TL_JOB_FAILED;
	struct tl_job_account told = {.id = record->id,
	                              .row = source->first_row + record->row,
	                              .tenant = source->tenants[record->tenant],
	                              .queue = record->queue == UINT32_MAX
	                                           ? middle_queue(trial)
	                                           : source->queues[record->queue],
	                              .pool = source->pool,
	                              .kind = (uint8_t)record->kind,
	                              .state = (uint8_t)state,
	                              .reason = (uint8_t)reason,
	                              .submit_ns = record->submit_ns,
	                              .first_start_ns = TL_NONE,
	                              .end_ns = ended ? record->submit_ns : TL_NONE,
	                              .gpus_mgpu = record->gpus_mgpu,
	                              .estimate_ns = record->estimate_ns,
	                              .deadline_ns = record->deadline_ns,
	                              .workers = record->workers,
	                              .node = TL_NO_INDEX,
	                              .work_ns = record->duration_ns};

	if (ended)
		tl_account_transition(trial->account, record->submit_ns, told.row, TL_JOB_PENDING,
		                      state, reason, TL_NO_INDEX);
	tl_account_job(trial->account, &told);
	atomic_fetch_add_explicit(&trial->pulse->rows_done, 1, memory_order_relaxed);
}

static void submit(struct tl_trial *trial, const struct tl_source *source,
                   const struct tl_trace_record *record)
{
	struct tl_request request = {.gpus_mgpu = record->gpus_mgpu,
	                             .gpu_memory_bytes = record->gpu_memory_bytes,
	                             .cpu_milli = record->cpu_milli,
	                             .ram_bytes = record->ram_bytes,
	                             .workers = record->workers,
	                             .model_mask = mask_of(source, record->models),
	                             .pool_mask = source->workload->pool_mask};
	const struct tl_shape *shape =
	    tl_shapes_intern(&trial->shapes, &request, tl_source_clamps(source));

	if (shape == NULL || !tl_shapes_feasible(&trial->shapes, shape)) {
		report_row(trial, source, record, TL_JOB_FAILED, TL_REASON_INFEASIBLE);
		tl_explain_submitted(trial, record, source->first_row + record->row, 0);
		return;
	}
	tl_job_id id = tl_job_table_add(&trial->jobs, shape, tl_trial_now(trial));

	fill_job(trial, source, record, id);
	tl_queues_join(trial, id);
	tl_explain_submitted(trial, record, tl_job_of(&trial->jobs, id)->row, id);
	if (record->duration_ns == TL_NEVER)
		tl_id_list_push(&trial->static_waiting, id);
	tl_seats_observe_submitted(trial, id);
	tl_changes_job(trial, TL_LIST_QUEUED, id);
}

/* ---- the engine's arrivals ---- */

static enum tl_status advance(struct tl_source *source, struct tl_error *error)
{
	enum tl_status status = tl_trace_next(source->trace, &source->next, error);

	source->ended = status != TL_OK;
	return status == TL_END ? TL_OK : status;
}

static void arm(struct tl_trial *trial, uint32_t s)
{
	const struct tl_source *source = &trial->sources[s];

	if (!source->ended)
		tl_engine_at(&trial->engine, source->next.submit_ns, TL_PHASE_ARRIVAL,
		             TL_EVENT_ARRIVAL, s);
}

enum tl_status tl_sources_arm(struct tl_trial *trial, struct tl_error *error)
{
	for (uint32_t s = 0; s < trial->source_count; s++) {
		enum tl_status status = advance(&trial->sources[s], error);

		if (status != TL_OK)
			return status;
		arm(trial, s);
	}
	return TL_OK;
}

void tl_sources_arrive(struct tl_trial *trial, uint32_t s)
{
	struct tl_source *source = &trial->sources[s];
	struct tl_error error = TL_ERROR_INIT;

	while (!source->ended && source->next.submit_ns == tl_trial_now(trial)) {
		submit(trial, source, &source->next);
		if (advance(source, &error) != TL_OK) {
			trial->failure = error;
			tl_engine_stop(&trial->engine);
			return;
		}
	}
	arm(trial, s);
}

enum tl_status tl_sources_report_rest(struct tl_trial *trial, struct tl_error *error)
{
	for (size_t s = 0; s < trial->source_count; s++) {
		struct tl_source *source = &trial->sources[s];

		while (!source->ended) {
			report_row(trial, source, &source->next, TL_JOB_PENDING,
			           TL_REASON_UNSUBMITTED);
			enum tl_status status = advance(source, error);

			if (status != TL_OK)
				return status;
		}
	}
	return TL_OK;
}
