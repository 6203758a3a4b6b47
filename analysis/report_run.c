/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report_run.h"

#include "analysis/stats.h"
#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables ---- */

/* A table that may be absent: then *rows is NULL, and there is no error. */
static enum tl_status read_table(struct tl_results_reader *reader,
                                 const struct tl_table_schema *schema, void **rows, size_t *count,
                                 bool *is_there, struct tl_error *error)
{
	*rows = NULL;
	*count = 0;
	*is_there = tl_results_has(reader, schema->path);
	if (!*is_there)
		return TL_OK;
	return tl_results_read(reader, schema, rows, count, error);
}

static int by_held(const void *a, const void *b)
{
	const struct tl_report_tenant *x = a, *y = b;

	if (x->held_gpu_s != y->held_gpu_s)
		return x->held_gpu_s > y->held_gpu_s ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct tl_report_tenant *tenant_of(struct tl_report_run *run, size_t *room, const char *name)
{
	for (size_t i = 0; i < run->tenant_count; i++)
		if (strcmp(run->tenants[i].name, name) == 0)
			return &run->tenants[i];
	run->tenants = tl_grow(run->tenants, room, run->tenant_count + 1, sizeof(*run->tenants));
	struct tl_report_tenant *tenant = &run->tenants[run->tenant_count++];

	*tenant = (struct tl_report_tenant){.held_gpu_s = 0.0};
	memcpy(tenant->name, name, sizeof(tenant->name));
	return tenant;
}

static void add_ledger(struct tl_report_run *run, const struct tl_row_ledger *rows, size_t count)
{
	size_t room = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tl_row_ledger *row = &rows[i];

		run->capacity_gpu_s += row->gpu_s;
		if (!row->kind[0]) /* of no job */
			continue;
		struct tl_report_tenant *tenant = tenant_of(run, &room, row->tenant);
		const char *purpose = row->purpose;

		tenant->held_gpu_s += row->gpu_s;
		if (strcmp(purpose, "productive") == 0)
			tenant->productive_gpu_s += row->gpu_s;
		else if (strcmp(purpose, "communication") == 0 ||
		         strcmp(purpose, "interference") == 0)
			tenant->slower_gpu_s += row->gpu_s;
		else if (strcmp(purpose, "rework") == 0)
			tenant->rework_gpu_s += row->gpu_s;
		else if (strcmp(purpose, "standby") == 0)
			tenant->standby_gpu_s += row->gpu_s;
		else
			tenant->saving_gpu_s += row->gpu_s;
	}
	if (run->tenant_count > 0)
		qsort(run->tenants, run->tenant_count, sizeof(*run->tenants), by_held);
}

/* ---- services ---- */

static double mean_free(const struct tl_row_timeline *rows, size_t count, int64_t from_ns,
                        int64_t to_ns)
{
	double sum = 0.0, span = 0.0;

	for (size_t i = 0; i + 1 < count; i++) {
		int64_t begin_ns = rows[i].t_ns > from_ns ? rows[i].t_ns : from_ns;
		int64_t end_ns = rows[i + 1].t_ns < to_ns ? rows[i + 1].t_ns : to_ns;

		if (end_ns <= begin_ns)
			continue;
		sum += rows[i].free_whole_gpus * (double)(end_ns - begin_ns);
		span += (double)(end_ns - begin_ns);
	}
	return span > 0.0 ? sum / span : (double)NAN;
}

bool tl_report_few_requests(const struct tl_report_service *service)
{
	return service->window_requests < TL_REPORT_FEW_REQUESTS;
}

static int by_count(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double tl_report_median_requests(const struct tl_row_window *rows, size_t count)
{
	double *counts = tl_calloc(count + 1, sizeof(*counts)), median = NAN;
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (rows[i].arrivals > 0)
			counts[used++] = (double)rows[i].arrivals;
	if (used > 0) {
		qsort(counts, used, sizeof(*counts), by_count);
		median = counts[used / 2];
	}
	free(counts);
	return median;
}

static void add_windows(struct tl_report_service *service, const struct tl_row_window *rows,
                        size_t count)
{
	int64_t window_ns = count > 1 ? rows[1].t_ns - rows[0].t_ns : 0;

	service->target_ns = rows[0].target_ns;
	service->window_ns = window_ns;
	service->window_requests = tl_report_median_requests(rows, count);
	for (size_t i = 0, j; i < count; i = j) {
		struct tl_breach breach = {.from_ns = rows[i].t_ns};

		for (j = i; j < count && rows[j].overload; j++) {
			breach.wanted += rows[j].replicas;
			breach.ready += rows[j].ready;
			breach.load += rows[j].load;
			breach.dropped = breach.dropped || rows[j].dropped > 0;
		}
		if (j == i) {
			j++;
			continue;
		}
		service->breaches++;
		breach.to_ns = rows[j - 1].t_ns + window_ns;
		breach.wanted /= (double)(j - i);
		breach.ready /= (double)(j - i);
		breach.load /= (double)(j - i);
		if (breach.to_ns - breach.from_ns >
		    service->longest.to_ns - service->longest.from_ns)
			service->longest = breach;
	}
}

static struct tl_report_service *add_service(struct tl_report_run *run, size_t *room,
                                             const char *name, size_t length)
{
	run->services =
	    tl_grow(run->services, room, run->service_count + 1, sizeof(*run->services));
	struct tl_report_service *service = &run->services[run->service_count++];

	*service = (struct tl_report_service){.name = tl_strndup(name, length)};
	return service;
}

/* Services by their metrics: what stands before the last dot of `NAME.attainment`. */
static void find_services(struct tl_report_run *run)
{
	static const char end[] = ".attainment";
	size_t room = 0;

	for (size_t i = 0; i < run->metric_count; i++) {
		const char *metric = run->metrics[i].metric;
		size_t length = strlen(metric);

		if (length >= sizeof(end) && strcmp(metric + length - (sizeof(end) - 1), end) == 0)
			add_service(run, &room, metric, length - (sizeof(end) - 1));
	}
}

/* The table of a service: the metric's name may have cut its own short. */
static const char *windows_of(const struct tl_report_run *run, const char *name)
{
	static const char begin[] = "/services/", end[] = "/windows";
	const char *const *tables = tl_results_tables(run->reader);
	size_t wanted = strlen(name);

	for (size_t i = 0; tables[i]; i++) {
		size_t length = strlen(tables[i]);

		if (strncmp(tables[i], begin, sizeof(begin) - 1) != 0 ||
		    strncmp(tables[i] + sizeof(begin) - 1, name, wanted) != 0 ||
		    length < sizeof(begin) - 1 + wanted + sizeof(end) - 1 ||
		    strcmp(tables[i] + length - (sizeof(end) - 1), end) != 0)
			continue;
		if (length == sizeof(begin) - 1 + wanted + sizeof(end) - 1 ||
		    wanted == TL_REPORT_SERVICE_NAME)
			return tables[i];
	}
	return NULL;
}

static enum tl_status read_windows(struct tl_report_run *run,
                                   const struct tl_row_timeline *timeline, size_t sample_count,
                                   struct tl_error *error)
{
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < run->service_count && status == TL_OK; i++) {
		struct tl_report_service *service = &run->services[i];
		struct tl_table_schema schema = tl_schema_windows;
		void *rows = NULL;
		size_t count = 0;

		schema.path = windows_of(run, service->name);
		if (!schema.path)
			continue;
		status = tl_results_read(run->reader, &schema, &rows, &count, error);
		if (status == TL_OK && count > 0) {
			service->has_windows = true;
			add_windows(service, rows, count);
			service->longest.free_gpus =
			    mean_free(timeline, sample_count, service->longest.from_ns,
			              service->longest.to_ns);
		}
		free(rows);
	}
	return status;
}

/* ---- the run ---- */

static bool never_settles(const struct tl_row_timeline *rows, size_t count)
{
	double *waiting = tl_calloc(count + 1, sizeof(*waiting));

	for (size_t i = 0; i < count; i++)
		waiting[i] = (double)rows[i].pending_mgpu;
	bool saturated = tl_stats_saturated(waiting, count);

	free(waiting);
	return saturated;
}

/* A sample stands for the time up to the next. */
static void add_waiting(struct tl_report_run *run, const struct tl_row_timeline *rows, size_t count)
{
	int64_t waiting_ns = 0;

	for (size_t i = 0; i < count; i++) {
		double gpus = (double)rows[i].pending_mgpu / 1000.0;

		if (gpus > run->most_waited_gpus)
			run->most_waited_gpus = gpus;
		if (i + 1 < count && rows[i].pending_jobs > 0)
			waiting_ns += rows[i + 1].t_ns - rows[i].t_ns;
	}
	if (count > 1 && rows[count - 1].t_ns > rows[0].t_ns)
		run->waiting_share =
		    (double)waiting_ns / (double)(rows[count - 1].t_ns - rows[0].t_ns);
}

static enum tl_status read_all(struct tl_report_run *run, struct tl_error *error)
{
	void *summary = NULL, *ledger = NULL, *timeline = NULL, *faults = NULL, *nodes = NULL;
	size_t ledger_count = 0, sample_count = 0;
	bool has_summary, has_nodes;
	enum tl_status status = read_table(run->reader, &tl_schema_summary, &summary,
	                                   &run->metric_count, &has_summary, error);

	run->metrics = summary;
	if (status == TL_OK && !has_summary)
		status = tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                      "has no /summary: the run was told to leave it out");
	if (status == TL_OK)
		status = read_table(run->reader, &tl_schema_ledger, &ledger, &ledger_count,
		                    &run->has_ledger, error);
	if (status == TL_OK)
		status = read_table(run->reader, &tl_schema_timeline, &timeline, &sample_count,
		                    &run->has_timeline, error);
	if (status == TL_OK)
		status = read_table(run->reader, &tl_schema_faults, &faults, &run->fault_count,
		                    &run->has_faults, error);
	run->faults = faults;
	if (status == TL_OK)
		status = read_table(run->reader, &tl_schema_nodes, &nodes, &run->node_count,
		                    &has_nodes, error);
	run->nodes = nodes;
	if (status == TL_OK) {
		add_ledger(run, ledger, ledger_count);
		run->saturated = never_settles(timeline, sample_count);
		add_waiting(run, timeline, sample_count);
		find_services(run);
		status = read_windows(run, timeline, sample_count, error);
	}
	free(ledger);
	free(timeline);
	return status;
}

enum tl_status tl_report_run_open(const char *path, struct tl_report_run *run,
                                  struct tl_error *error)
{
	memset(run, 0, sizeof(*run));
	enum tl_status status = tl_results_open(path, &run->reader, error);

	if (status != TL_OK)
		return status;
	run->name = tl_results_get_text(run->reader, "scenario_name");
	run->scenario = tl_results_get_text(run->reader, "scenario");
	run->tool_version = tl_results_get_text(run->reader, "tool_version");
	run->tool_commit = tl_results_get_text(run->reader, "tool_commit");
	run->has_seed = tl_results_get_i64(run->reader, "seed", &run->seed);
	if (!run->name || !run->name[0]) {
		free(run->name);
		run->name = tl_strdup("run");
	}
	status = read_all(run, error);
	if (status == TL_E_DATA && error && !error->file[0])
		tl_error_set(error, status, path, 0, 0, "%s", error->message);
	return status;
}

void tl_report_run_close(struct tl_report_run *run)
{
	for (size_t i = 0; i < run->service_count; i++)
		free(run->services[i].name);
	free(run->services);
	free(run->tenants);
	free(run->metrics);
	free(run->faults);
	free(run->nodes);
	free(run->name);
	free(run->scenario);
	free(run->tool_version);
	free(run->tool_commit);
	if (run->reader)
		tl_results_reader_close(run->reader);
}
