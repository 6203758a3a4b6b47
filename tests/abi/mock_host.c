/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/abi/mock_host.h"

#include "sim/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct tl_mock *mock_of(const struct tl_host *host)
{
	return host->ctx;
}

/* ---- reads ---- */

static int64_t host_now(const struct tl_host *host)
{
	return mock_of(host)->now_ns;
}

static const struct tl_view *host_view(const struct tl_host *host)
{
	return &mock_of(host)->cluster.view;
}

static struct tl_jobs host_jobs(const struct tl_host *host)
{
	const struct tl_mock *mock = mock_of(host);

	return (struct tl_jobs){mock->jobs, sizeof *mock->jobs, (uint32_t)mock->job_count};
}

struct tl_job_view *tl_mock_at(struct tl_mock *mock, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);

	return slot < mock->job_count && id != 0 && mock->jobs[slot].id == id ? &mock->jobs[slot]
	                                                                      : NULL;
}

static const struct tl_job_view *host_job(const struct tl_host *host, tl_job_id id)
{
	return tl_mock_at(mock_of(host), id);
}

static const struct tl_oversubscription *host_oversubscription(const struct tl_host *host,
                                                               uint32_t model)
{
	return tl_cluster_oversubscription(&mock_of(host)->cluster, model);
}

static const char *host_job_name(const struct tl_host *host, tl_job_id id)
{
	return tl_mock_at(mock_of(host), id) != NULL ? "job" : "";
}

static bool waits(const struct tl_job_view *job)
{
	return job->id != 0 && (job->state == TL_JOB_PENDING || job->state == TL_JOB_SUSPENDED);
}

static bool holds(const struct tl_job_view *job)
{
	return job->id != 0 && !waits(job) && job->state != TL_JOB_SUCCEEDED &&
	       job->state != TL_JOB_FAILED;
}

static const tl_job_id *list(struct tl_mock *mock, tl_job_id *out,
                             bool (*is)(const struct tl_job_view *), uint32_t *count)
{
	*count = 0;
	for (size_t s = 0; s < mock->job_count; s++)
		if (is(&mock->jobs[s]))
			out[(*count)++] = mock->jobs[s].id;
	return out;
}

static const tl_job_id *host_waiting(const struct tl_host *host, uint32_t *count)
{
	return list(mock_of(host), mock_of(host)->waiting, waits, count);
}

static const tl_job_id *host_holding(const struct tl_host *host, uint32_t *count)
{
	return list(mock_of(host), mock_of(host)->holding, holds, count);
}

static const struct tl_shape *host_shape(const struct tl_host *host, uint32_t shape)
{
	return shape < mock_of(host)->shape_count ? mock_of(host)->shapes[shape] : NULL;
}

static uint32_t host_shape_count(const struct tl_host *host)
{
	return (uint32_t)mock_of(host)->shape_count;
}

static int host_allocation(const struct tl_host *host, tl_job_id id, struct tl_placement *out)
{
	struct tl_mock *mock = mock_of(host);
	const struct tl_job_view *job = tl_mock_at(mock, id);
	const struct tl_alloc *alloc;

	if (!job || !holds(job))
		return -1;
	alloc = &mock->allocs[TL_JOB_SLOT(id)];
	*out = (struct tl_placement){.nodes = alloc->nodes,
	                             .gpus = alloc->gpus,
	                             .worker_count = alloc->worker_count,
	                             .gpu_count = alloc->gpu_count,
	                             .worker_room = alloc->worker_count,
	                             .gpu_room = alloc->gpu_count};
	return 0;
}

static const tl_job_id *host_gpu_jobs(const struct tl_host *host, uint32_t gpu, uint32_t *count)
{
	return tl_cluster_gpu_jobs(&mock_of(host)->cluster, gpu, count);
}

static enum tl_distance host_distance(const struct tl_host *host, uint32_t gpu_a, uint32_t gpu_b)
{
	return tl_cluster_distance(&mock_of(host)->cluster, gpu_a, gpu_b);
}

static const struct tl_model_view *host_model(const struct tl_host *host, uint32_t model)
{
	struct tl_mock *mock = mock_of(host);

	return model < mock->cluster.spec->model_count ? &mock->models[model] : NULL;
}

static const struct tl_tenant_view *host_tenant(const struct tl_host *host, uint32_t tenant)
{
	return tenant < mock_of(host)->tenant_count ? &mock_of(host)->tenants[tenant] : NULL;
}

static const struct tl_queue_view *host_queue(const struct tl_host *host, uint32_t queue)
{
	return queue < mock_of(host)->queue_count ? &mock_of(host)->queues[queue] : NULL;
}

static const struct tl_service_view *host_service(const struct tl_host *host, uint32_t service)
{
	return service < mock_of(host)->service_count ? &mock_of(host)->services[service] : NULL;
}

static uint32_t host_tenant_count(const struct tl_host *host)
{
	return mock_of(host)->tenant_count;
}

static uint32_t host_queue_count(const struct tl_host *host)
{
	return mock_of(host)->queue_count;
}

static uint32_t host_service_count(const struct tl_host *host)
{
	return mock_of(host)->service_count;
}

/* ---- decisions ---- */

static enum tl_refusal decided(struct tl_mock *mock, enum tl_mock_what what, tl_job_id job,
                               int64_t value, enum tl_refusal answer)
{
	mock->decisions = tl_grow(mock->decisions, &mock->decision_room, mock->decision_count + 1,
	                          sizeof *mock->decisions);
	mock->decisions[mock->decision_count++] =
	    (struct tl_mock_decision){what, answer, job, value};
	return answer;
}

static void take(struct tl_mock *mock, tl_job_id id, const struct tl_placement *where)
{
	struct tl_alloc *alloc = &mock->allocs[TL_JOB_SLOT(id)];

	alloc->nodes = tl_calloc(where->worker_count, sizeof *alloc->nodes);
	alloc->gpus = tl_calloc(where->gpu_count, sizeof *alloc->gpus);
	memcpy(alloc->nodes, where->nodes, where->worker_count * sizeof *alloc->nodes);
	if (where->gpu_count > 0)
		memcpy(alloc->gpus, where->gpus, where->gpu_count * sizeof *alloc->gpus);
	alloc->worker_count = where->worker_count;
	alloc->gpu_count = where->gpu_count;
	tl_cluster_take(&mock->cluster, id, mock->shapes[tl_mock_at(mock, id)->shape], alloc);
}

static void release(struct tl_mock *mock, tl_job_id id)
{
	struct tl_alloc *alloc = &mock->allocs[TL_JOB_SLOT(id)];

	tl_cluster_release(&mock->cluster, id, mock->shapes[tl_mock_at(mock, id)->shape], alloc);
	free(alloc->nodes);
	free(alloc->gpus);
	*alloc = (struct tl_alloc){0};
}

static void stop(struct tl_mock *mock, struct tl_job_view *job, enum tl_job_state state)
{
	release(mock, job->id);
	job->state = (uint8_t)state;
	job->waiting_since_ns = state == TL_JOB_SUSPENDED ? mock->now_ns : -1;
	job->expected_end_ns = TL_TIME_NEVER;
}

static enum tl_refusal host_start(const struct tl_host *host, tl_job_id id,
                                  const struct tl_placement *where)
{
	struct tl_mock *mock = mock_of(host);
	struct tl_job_view *job = tl_mock_at(mock, id);
	enum tl_refusal answer = TL_ACCEPTED;

	if (!mock->deciding)
		answer = TL_REFUSED_OUTSIDE_SCHEDULE;
	else if (!job)
		answer = TL_REFUSED_STALE_JOB;
	else if (!waits(job))
		answer = TL_REFUSED_STATE;
	else
		answer = tl_cluster_check(&mock->cluster, mock->shapes[job->shape], where);
	if (answer == TL_ACCEPTED) {
		take(mock, id, where);
		job->state = TL_JOB_RUNNING;
		job->waiting_since_ns = -1;
		job->started_ns = job->attained_mark_ns = job->committed_ns = mock->now_ns;
		if (job->first_start_ns < 0)
			job->first_start_ns = mock->now_ns;
		job->expected_end_ns =
		    job->estimate_ns < 0 ? TL_TIME_NEVER : mock->now_ns + job->estimate_ns + 1;
	}
	return decided(mock, TL_MOCK_START, id, 0, answer);
}

static enum tl_refusal host_suspend(const struct tl_host *host, tl_job_id id,
                                    enum tl_suspend_mode mode)
{
	struct tl_mock *mock = mock_of(host);
	struct tl_job_view *job = tl_mock_at(mock, id);
	enum tl_refusal answer = TL_ACCEPTED;

	if (!mock->deciding)
		answer = TL_REFUSED_OUTSIDE_SCHEDULE;
	else if (!job)
		answer = TL_REFUSED_STALE_JOB;
	else if (job->state != TL_JOB_RUNNING)
		answer = TL_REFUSED_STATE;
	else if (!(job->flags & TL_JOB_PREEMPTIBLE))
		answer = TL_REFUSED_NOT_PREEMPTIBLE;
	if (answer == TL_ACCEPTED) {
		job->preemptions++;
		job->attained_ns += mock->now_ns - job->attained_mark_ns;
		if (mode == TL_SUSPEND_KILL) {
			stop(mock, job, TL_JOB_SUSPENDED);
		} else {
			job->state = TL_JOB_SUSPENDING;
			job->expected_end_ns = mock->now_ns + (job->save_ns > 0 ? job->save_ns : 1);
			tl_cluster_mark_draining(&mock->cluster, id, mock->shapes[job->shape],
			                         &mock->allocs[TL_JOB_SLOT(id)]);
		}
	}
	return decided(mock, TL_MOCK_SUSPEND, id, mode, answer);
}

void tl_mock_saved(struct tl_mock *mock, tl_job_id id)
{
	stop(mock, tl_mock_at(mock, id), TL_JOB_SUSPENDED);
}

void tl_mock_end(struct tl_mock *mock, tl_job_id id)
{
	stop(mock, tl_mock_at(mock, id), TL_JOB_SUCCEEDED);
}

/* Moves at once. */
static enum tl_refusal host_migrate(const struct tl_host *host, tl_job_id id,
                                    const struct tl_placement *where)
{
	struct tl_mock *mock = mock_of(host);
	struct tl_job_view *job = tl_mock_at(mock, id);
	enum tl_refusal answer;

	if (!mock->deciding)
		return decided(mock, TL_MOCK_MIGRATE, id, 0, TL_REFUSED_OUTSIDE_SCHEDULE);
	if (!job)
		return decided(mock, TL_MOCK_MIGRATE, id, 0, TL_REFUSED_STALE_JOB);
	if (job->state != TL_JOB_RUNNING)
		return decided(mock, TL_MOCK_MIGRATE, id, 0, TL_REFUSED_STATE);
	answer = tl_cluster_check(&mock->cluster, mock->shapes[job->shape], where);
	for (uint32_t i = 0; answer == TL_ACCEPTED && i < where->gpu_count; i++)
		for (uint32_t j = 0; j < where->gpu_count; j++)
			if (where->gpus[i] == mock->allocs[TL_JOB_SLOT(id)].gpus[j])
				answer = TL_REFUSED_DUPLICATE_GPU;
	if (answer == TL_ACCEPTED) {
		release(mock, id);
		take(mock, id, where);
	}
	return decided(mock, TL_MOCK_MIGRATE, id, 0, answer);
}

static enum tl_refusal host_resize(const struct tl_host *host, tl_job_id id, uint32_t role,
                                   uint32_t workers, const struct tl_placement *where)
{
	(void)role;
	(void)where;
	return decided(mock_of(host), TL_MOCK_RESIZE, id, workers, TL_REFUSED_NOT_ELASTIC);
}

static enum tl_refusal host_scale(const struct tl_host *host, uint32_t service, uint32_t replicas)
{
	struct tl_mock *mock = mock_of(host);
	enum tl_refusal answer = TL_ACCEPTED;

	if (service >= mock->service_count)
		answer = TL_REFUSED_NO_SUCH_SERVICE;
	else if (replicas < mock->services[service].replicas_min ||
	         replicas > mock->services[service].replicas_max)
		answer = TL_REFUSED_RANGE;
	else
		mock->services[service].replicas = replicas;
	return decided(mock, TL_MOCK_SCALE, service, replicas, answer);
}

static enum tl_refusal host_reserve(const struct tl_host *host, tl_job_id id, int64_t at_ns,
                                    const uint32_t *gpus, uint32_t count)
{
	enum tl_refusal answer = TL_ACCEPTED;

	if (!tl_mock_at(mock_of(host), id))
		answer = TL_REFUSED_STALE_JOB;
	else if (count > 0 && !gpus)
		answer = TL_REFUSED_ARGUMENT;
	return decided(mock_of(host), TL_MOCK_RESERVE, id, at_ns, answer);
}

static void keep_text(struct tl_mock *mock, const char *text)
{
	(void)snprintf(mock->last_text, sizeof mock->last_text, "%s", text);
}

static enum tl_refusal host_reject(const struct tl_host *host, tl_job_id id, const char *why)
{
	struct tl_mock *mock = mock_of(host);
	struct tl_job_view *job = tl_mock_at(mock, id);
	enum tl_refusal answer = TL_ACCEPTED;

	if (!job)
		answer = TL_REFUSED_STALE_JOB;
	else if (!waits(job))
		answer = TL_REFUSED_STATE;
	else
		job->state = TL_JOB_FAILED;
	keep_text(mock, why);
	return decided(mock, TL_MOCK_REJECT, id, 0, answer);
}

static enum tl_refusal host_wake_at(const struct tl_host *host, int64_t at_ns)
{
	struct tl_mock *mock = mock_of(host);

	if (at_ns <= mock->now_ns)
		return TL_REFUSED_PAST;
	if (mock->wake_ns <= mock->now_ns || at_ns < mock->wake_ns)
		mock->wake_ns = at_ns;
	return TL_ACCEPTED;
}

/* ---- help ---- */

static uint64_t host_random(const struct tl_host *host)
{
	return tl_rng_u64(&mock_of(host)->rng);
}

static void *host_alloc(const struct tl_host *host, size_t size)
{
	struct tl_mock *mock = mock_of(host);

	if (mock->allocs_left == 0)
		return NULL;
	if (mock->allocs_left > 0)
		mock->allocs_left--;
	return tl_arena_alloc(&mock->arena, size);
}

static void host_log(const struct tl_host *host, enum tl_log_level level, const char *text)
{
	(void)level;
	mock_of(host)->log_count++;
	keep_text(mock_of(host), text);
}

static int host_explaining(const struct tl_host *host, tl_job_id id)
{
	(void)host;
	(void)id;
	return 1;
}

static void host_explain(const struct tl_host *host, tl_job_id id, const char *text)
{
	(void)id;
	mock_of(host)->explain_count++;
	keep_text(mock_of(host), text);
}

static struct tl_seat host_seat(const struct tl_host *host, enum tl_seat_kind kind)
{
	return mock_of(host)->seats[kind];
}

/* The truth of a mock's job is its estimate. */
static int64_t oracle_remaining(const struct tl_host *host, tl_job_id id)
{
	const struct tl_job_view *job = tl_mock_at(mock_of(host), id);

	return job ? job->estimate_ns : -1;
}

/* Plan and truth of a mock's service: as the test says, or what the last window brought. */
static int64_t arrivals_per_ks(const struct tl_host *host, uint32_t service, int64_t at_ns)
{
	const struct tl_service_view *view = host_service(host, service);
	int64_t length_ns = view ? view->window_end_ns - view->window_start_ns : 0;

	if (!view)
		return -1;
	if (mock_of(host)->traffic_per_ks)
		return mock_of(host)->traffic_per_ks(service, at_ns);
	return length_ns > 0 ? view->arrivals * 1000 * TL_NS_PER_S / length_ns : 0;
}

static const void *host_extension(const struct tl_host *host, const char *id)
{
	static const struct tl_oracle oracle = {.struct_size = sizeof oracle,
	                                        .remaining_ns = oracle_remaining,
	                                        .arrivals_per_ks = arrivals_per_ks};
	static const struct tl_calendar calendar = {.struct_size = sizeof calendar,
	                                            .planned_per_ks = arrivals_per_ks};

	if (strcmp(id, TL_EXTENSION_ORACLE) == 0)
		return &oracle;
	if (strcmp(id, TL_EXTENSION_CALENDAR) == 0 && mock_of(host)->service_count > 0)
		return &calendar;
	return NULL;
}

/* ---- set-up ---- */

void tl_mock_init(struct tl_mock *mock, const struct tl_cluster_spec *spec)
{
	struct tl_error error = TL_ERROR_INIT;

	*mock = (struct tl_mock){.wake_ns = TL_TIME_NEVER, .allocs_left = -1, .deciding = 1};
	if (tl_cluster_init(&mock->cluster, spec, &error) != TL_OK) {
		(void)fprintf(stderr, "mock host: %s\n", error.message);
		abort();
	}
	for (size_t m = 0; m < spec->model_count; m++)
		mock->models[m] =
		    (struct tl_model_view){spec->models[m].name, spec->models[m].memory_bytes};
	tl_arena_init(&mock->arena);
	tl_rng_init(&mock->rng, 1, TL_STREAM_POLICY, 0);
	mock->host = (struct tl_host){.struct_size = sizeof mock->host,
	                              .abi_minor = TL_ABI_MINOR,
	                              .ctx = mock,
	                              .now = host_now,
	                              .view = host_view,
	                              .jobs = host_jobs,
	                              .job = host_job,
	                              .waiting = host_waiting,
	                              .holding = host_holding,
	                              .shape = host_shape,
	                              .shape_count = host_shape_count,
	                              .allocation = host_allocation,
	                              .gpu_jobs = host_gpu_jobs,
	                              .distance = host_distance,
	                              .model = host_model,
	                              .tenant = host_tenant,
	                              .queue = host_queue,
	                              .service = host_service,
	                              .tenant_count = host_tenant_count,
	                              .queue_count = host_queue_count,
	                              .service_count = host_service_count,
	                              .start = host_start,
	                              .suspend = host_suspend,
	                              .migrate = host_migrate,
	                              .resize = host_resize,
	                              .scale = host_scale,
	                              .reserve = host_reserve,
	                              .reject = host_reject,
	                              .wake_at = host_wake_at,
	                              .random = host_random,
	                              .alloc = host_alloc,
	                              .log = host_log,
	                              .explaining = host_explaining,
	                              .explain = host_explain,
	                              .seat = host_seat,
	                              .extension = host_extension,
	                              .job_name = host_job_name,
	                              .oversubscription = host_oversubscription};
}

void tl_mock_fini(struct tl_mock *mock)
{
	for (size_t s = 0; s < mock->job_count; s++) {
		free(mock->allocs[s].nodes);
		free(mock->allocs[s].gpus);
	}
	for (size_t s = 0; s < mock->shape_count; s++)
		free(mock->shapes[s]);
	free(mock->jobs);
	free(mock->allocs);
	free(mock->waiting);
	free(mock->holding);
	free(mock->shapes);
	free(mock->decisions);
	tl_arena_fini(&mock->arena);
	tl_cluster_fini(&mock->cluster);
}
