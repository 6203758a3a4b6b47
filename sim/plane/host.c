/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The contract's host: what a policy may read. Decisions are in decide.c. */
#include "sim/plane/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tl_instance *instance_of(const struct tl_host *host)
{
	return host->ctx;
}

static struct tl_trial *trial_of(const struct tl_host *host)
{
	return instance_of(host)->trial;
}

static int64_t read_now(const struct tl_host *host)
{
	return tl_trial_now(trial_of(host));
}

static const struct tl_view *read_view(const struct tl_host *host)
{
	return &trial_of(host)->cluster.view;
}

static struct tl_jobs read_jobs(const struct tl_host *host)
{
	const struct tl_job_table *table = &trial_of(host)->jobs;

	return (struct tl_jobs){.jobs = table->views,
	                        .stride = sizeof(*table->views),
	                        .count = (uint32_t)table->slot_count};
}

static const struct tl_job_view *read_job(const struct tl_host *host, tl_job_id id)
{
	struct tl_job_table *table = &trial_of(host)->jobs;

	return tl_job_table_get(table, id) != NULL ? tl_job_view_of(table, id) : NULL;
}

static const char *read_job_name(const struct tl_host *host, tl_job_id id)
{
	const struct tl_job *job = tl_job_table_get(&trial_of(host)->jobs, id);

	return job != NULL ? job->id : "";
}

static const tl_job_id *read_list(const struct tl_id_list *list, uint32_t *count)
{
	*count = (uint32_t)list->count;
	return list->ids;
}

static const tl_job_id *read_waiting(const struct tl_host *host, uint32_t *count)
{
	return read_list(&trial_of(host)->jobs.waiting, count);
}

static const tl_job_id *read_holding(const struct tl_host *host, uint32_t *count)
{
	return read_list(&trial_of(host)->jobs.holding, count);
}

static const struct tl_shape *read_shape(const struct tl_host *host, uint32_t shape)
{
	return tl_shapes_at(&trial_of(host)->shapes, shape);
}

static uint32_t read_shape_count(const struct tl_host *host)
{
	return (uint32_t)trial_of(host)->shapes.count;
}

static int read_allocation(const struct tl_host *host, tl_job_id id, struct tl_placement *out)
{
	const struct tl_job *job = tl_job_table_get(&trial_of(host)->jobs, id);

	if (job == NULL)
		return -1;
	const struct tl_alloc *alloc = job->alloc.nodes != NULL ? &job->alloc : &job->warm;

	if (alloc->nodes == NULL)
		return -1;
	*out = (struct tl_placement){.nodes = alloc->nodes,
	                             .gpus = alloc->gpus,
	                             .worker_count = alloc->worker_count,
	                             .gpu_count = alloc->gpu_count,
	                             .worker_room = alloc->worker_count,
	                             .gpu_room = alloc->gpu_count};
	return 0;
}

static const tl_job_id *read_gpu_jobs(const struct tl_host *host, uint32_t gpu, uint32_t *count)
{
	const struct tl_cluster *cluster = &trial_of(host)->cluster;

	*count = 0;
	return gpu < cluster->view.gpu_count ? tl_cluster_gpu_jobs(cluster, gpu, count) : NULL;
}

static enum tl_distance read_distance(const struct tl_host *host, uint32_t gpu_a, uint32_t gpu_b)
{
	const struct tl_cluster *cluster = &trial_of(host)->cluster;

	if (gpu_a >= cluster->view.gpu_count || gpu_b >= cluster->view.gpu_count)
		return TL_ACROSS;
	return tl_cluster_distance(cluster, gpu_a, gpu_b);
}

static const struct tl_model_view *read_model(const struct tl_host *host, uint32_t model)
{
	const struct tl_trial *trial = trial_of(host);

	return model < trial->scenario->cluster.model_count ? &trial->model_views[model] : NULL;
}

static const struct tl_tenant_view *read_tenant(const struct tl_host *host, uint32_t tenant)
{
	struct tl_trial *trial = trial_of(host);

	return tenant < trial->tenants.count ? tl_trial_tenant(trial, tenant) : NULL;
}

static const struct tl_queue_view *read_queue(const struct tl_host *host, uint32_t queue)
{
	struct tl_trial *trial = trial_of(host);

	return queue < trial->queues.count ? tl_queues_view(trial, queue) : NULL;
}

static const struct tl_service_view *read_service(const struct tl_host *host, uint32_t service)
{
	return tl_services_view(trial_of(host), service);
}

static uint32_t read_tenant_count(const struct tl_host *host)
{
	return (uint32_t)trial_of(host)->tenants.count;
}

static uint32_t read_queue_count(const struct tl_host *host)
{
	return (uint32_t)trial_of(host)->queues.count;
}

static uint32_t read_service_count(const struct tl_host *host)
{
	return tl_services_count(trial_of(host));
}

static const struct tl_oversubscription *read_oversubscription(const struct tl_host *host,
                                                               uint32_t model)
{
	return tl_cluster_oversubscription(&trial_of(host)->cluster, model);
}

/* ---- help ---- */

static enum tl_refusal wake_at(const struct tl_host *host, int64_t at_ns)
{
	struct tl_instance *instance = instance_of(host);
	struct tl_trial *trial = instance->trial;

	if (at_ns <= tl_trial_now(trial))
		return TL_REFUSED_PAST;
	if (tl_eventq_pending(trial->engine.queue, instance->wake)) {
		if (at_ns < instance->wake_ns) {
			tl_eventq_reschedule(trial->engine.queue, instance->wake, at_ns);
			instance->wake_ns = at_ns;
		}
		return TL_ACCEPTED;
	}
	instance->wake_ns = at_ns;
	instance->wake =
	    tl_engine_at(&trial->engine, at_ns, TL_PHASE_TIMER, TL_EVENT_WAKE, instance->number);
	return TL_ACCEPTED;
}

static uint64_t draw(const struct tl_host *host)
{
	return tl_rng_u64(&instance_of(host)->rng);
}

#define ALLOC_ABSURD_BYTES ((size_t)1 << 40)

static void *allocate(const struct tl_host *host, size_t size)
{
	/* Asked for first: an arena that finds no memory ends the process. */
	void *room = malloc(size > 0 ? size : 1);

	if (room == NULL) {
		/* A wish that no machine grants is the policy's affair; real want of memory ends
		 * the run, whatever the policy makes of it. */
		if (size < ALLOC_ABSURD_BYTES)
			tl_trial_fail(trial_of(host), TL_E_OS,
			              "out of memory: policy `%s` asked for %zu bytes",
			              instance_of(host)->loaded.module->name, size);
		return NULL;
	}
	free(room);
	return tl_arena_alloc(&trial_of(host)->arena, size);
}

static void write_log(const struct tl_host *host, enum tl_log_level level, const char *text)
{
	static const char *const names[] = {"error", "warning", "info", "debug"};
	struct tl_trial *trial = trial_of(host);
	char when[48];

	if (trial->options->diagnostics == NULL || text == NULL || (unsigned)level > TL_LOG_INFO)
		return;
	fprintf(trial->options->diagnostics, "%s: %s: [%s] %s\n",
	        instance_of(host)->loaded.module->name, names[level],
	        tl_format_duration(tl_trial_now(trial), when, sizeof(when)), text);
}

static int explaining(const struct tl_host *host, tl_job_id id)
{
	return id != 0 && id == trial_of(host)->explained;
}

static void explain(const struct tl_host *host, tl_job_id id, const char *text)
{
	struct tl_trial *trial = trial_of(host);

	if (text != NULL && explaining(host, id))
		tl_trial_explain(trial, id, "%s: %s", instance_of(host)->loaded.module->name, text);
}

static struct tl_seat open_seat(const struct tl_host *host, enum tl_seat_kind kind)
{
	return tl_seats_open(trial_of(host), kind);
}

static int64_t oracle_remaining(const struct tl_host *host, tl_job_id id)
{
	const struct tl_job *job = tl_job_table_get(&trial_of(host)->jobs, id);

	if (job == NULL || job->progress.work_ns == TL_NEVER)
		return job == NULL ? TL_NONE : TL_NEVER;
	return job->progress.work_ns - job->progress.done_ns;
}

static int64_t oracle_arrivals(const struct tl_host *host, uint32_t service, int64_t at_ns)
{
	return tl_services_rate_per_ks(trial_of(host), service, at_ns, false);
}

static const struct tl_oracle oracle = {.struct_size = sizeof(oracle),
                                        .remaining_ns = oracle_remaining,
                                        .arrivals_per_ks = oracle_arrivals};

static int64_t calendar_planned(const struct tl_host *host, uint32_t service, int64_t at_ns)
{
	return tl_services_rate_per_ks(trial_of(host), service, at_ns, true);
}

static const struct tl_calendar calendar = {.struct_size = sizeof(calendar),
                                            .planned_per_ks = calendar_planned};

static const void *extension(const struct tl_host *host, const char *id)
{
	if (id != NULL && strcmp(id, TL_EXTENSION_CALENDAR) == 0)
		return tl_services_count(trial_of(host)) > 0 ? &calendar : NULL;
	if (id == NULL || strcmp(id, TL_EXTENSION_ORACLE) != 0)
		return NULL;
	trial_of(host)->counts.oracle_used = true;
	return &oracle;
}

void tl_host_fill(struct tl_instance *instance)
{
	instance->host = (struct tl_host){.struct_size = sizeof(struct tl_host),
	                                  .abi_minor = TL_ABI_MINOR,
	                                  .ctx = instance,
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
	                                  .model = read_model,
	                                  .tenant = read_tenant,
	                                  .queue = read_queue,
	                                  .service = read_service,
	                                  .tenant_count = read_tenant_count,
	                                  .queue_count = read_queue_count,
	                                  .service_count = read_service_count,
	                                  .wake_at = wake_at,
	                                  .random = draw,
	                                  .alloc = allocate,
	                                  .log = write_log,
	                                  .explaining = explaining,
	                                  .explain = explain,
	                                  .seat = open_seat,
	                                  .extension = extension,
	                                  .job_name = read_job_name,
	                                  .oversubscription = read_oversubscription};
	tl_host_fill_decisions(&instance->host);
}
