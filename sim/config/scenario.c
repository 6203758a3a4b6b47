/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario: read, edited, validated, filled, and made independent of its text. */
#include "sim/config/scenario.h"

#include "sim/base/assert.h"
#include "sim/config/config.h"

#include <stdlib.h>
#include <string.h>

/* ---- from the arena to a scenario of its own ---- */

static void keep_seats(struct tl_config *config)
{
	for (size_t i = 0; i < TL_SEAT_COUNT; i++) {
		struct tl_seat_setting *seat = &config->scenario.seats[i];
		const struct tl_setting *from;

		*seat = config->seats[i].seat;
		seat->flag = seat->flag ? tl_strdup(seat->flag) : NULL;
		from = seat->settings;
		seat->settings = tl_calloc(seat->count, sizeof *seat->settings);
		for (size_t k = 0; k < seat->count; k++) {
			seat->settings[k] = from[k];
			seat->settings[k].name = tl_strdup(from[k].name);
			seat->settings[k].value = tl_strdup(from[k].value);
			seat->settings[k].flag = from[k].flag ? tl_strdup(from[k].flag) : NULL;
		}
	}
}

static void keep_workloads(struct tl_config *config)
{
	struct tl_scenario *scenario = &config->scenario;

	scenario->workloads = tl_calloc(config->workload_count, sizeof *scenario->workloads);
	for (size_t i = 0; i < config->workload_count; i++) {
		struct tl_workload *to = &scenario->workloads[scenario->workload_count];

		if (config->workloads[i].is_service)
			continue;
		*to = config->workloads[i].workload;
		to->path = tl_strdup(config->workloads[i].resolved);
		scenario->workload_count++;
	}
}

static void keep_lists(struct tl_config *config)
{
	struct tl_scenario *scenario = &config->scenario;

	scenario->queue_count = config->queue_count;
	scenario->queues = tl_calloc(config->queue_count, sizeof *scenario->queues);
	for (size_t i = 0; i < config->queue_count; i++)
		scenario->queues[i] = config->queues[i].queue;
	scenario->tenant_count = config->tenant_count;
	scenario->tenants = tl_calloc(config->tenant_count, sizeof *scenario->tenants);
	for (size_t i = 0; i < config->tenant_count; i++)
		scenario->tenants[i] = config->tenants[i].tenant;
	scenario->faults = tl_calloc(config->fault_count, sizeof *scenario->faults);
	/* Those that draw lots first, so that a surge moves none. */
	for (int traffic = 0; traffic < 2; traffic++)
		for (size_t i = 0; i < config->fault_count; i++)
			if ((config->faults[i].fault.what == TL_FAULT_TRAFFIC) == traffic)
				scenario->faults[scenario->fault_count++] = config->faults[i].fault;
}

/* ---- what follows from several keys ---- */

static int64_t capacity_mgpu(const struct tl_cluster_spec *cluster)
{
	int64_t gpus = 0;

	for (size_t i = 0; i < cluster->node_count; i++)
		gpus += cluster->nodes[i].gpus;
	return gpus * TL_MGPU_PER_GPU;
}

/* Recorded jobs; each file's number is among them alone, so that services move no draw. */
static void derive_workloads(struct tl_arena *arena, struct tl_config *config)
{
	const struct tl_scenario *scenario = &config->scenario;
	uint64_t number = 0, of_name[TL_PRESET_COUNT] = {0};

	for (size_t i = 0; i < config->workload_count; i++) {
		struct tl_workload_config *entry = &config->workloads[i];
		const struct tl_tree *path = tl_tree_get(entry->node, "trace");

		entry->is_service = tl_tree_get(entry->node, "service") != NULL;
		if (entry->is_service)
			continue;
		entry->workload.line = entry->node->line;
		entry->workload.column = entry->node->column;
		entry->workload.trace.seed = scenario->seed;
		if (tl_tree_get(entry->node, "generate")) {
			uint64_t *nth = &of_name[entry->workload.generate.preset];

			tl_generate_config_derive(entry, scenario, (*nth)++);
			continue;
		}
		entry->resolved = tl_path_from(arena, path->source, entry->path);
		entry->workload.trace.entity = number++;
		entry->workload.trace.capacity_mgpu = capacity_mgpu(&scenario->cluster);
	}
}

/* Among the services; past the last where there is none of that name. */
static uint32_t service_number(const struct tl_config *config, const char *name)
{
	uint32_t number = 0;

	for (size_t i = 0; i < config->workload_count; i++) {
		if (!config->workloads[i].is_service)
			continue;
		if (strcmp(config->workloads[i].service.name, name) == 0)
			break;
		number++;
	}
	return number;
}

static void derive(struct tl_arena *arena, struct tl_config *config)
{
	config->scenario.estimates = config->estimates.how;
	config->scenario.estimates_sigma = config->estimates.sigma;
	derive_workloads(arena, config);
	tl_config_pools_derive(config);
	for (size_t i = 0; i < config->fault_count; i++) {
		struct tl_fault_config *fault = &config->faults[i];

		if (fault->fault.what == TL_FAULT_KILL_JOBS)
			fault->fault.count = fault->jobs;
		if (fault->fault.what == TL_FAULT_TRAFFIC)
			fault->fault.service = service_number(config, fault->service);
		fault->fault.line = fault->node->line;
		fault->fault.column = fault->node->column;
	}
	tl_config_services_derive(arena, config);
}

static char *effective_text(const struct tl_config *config)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		tl_out_of_memory(0);
	tl_section_emit(&tl_scenario_section, config, 0, out);
	if (fclose(out) != 0)
		tl_out_of_memory(size);
	return text;
}

/* ---- loading ---- */

static enum tl_status fill_config(struct tl_fill *fill, struct tl_tree *root,
                                  struct tl_config *config)
{
	enum tl_status status = tl_section_fill(fill, &tl_scenario_section, root, config);
	size_t length;

	if (status != TL_OK)
		return status;
	length = tl_fill_enter(fill, "cluster");
	status = tl_cluster_build(fill, &config->cluster, &config->scenario.cluster);
	if (status != TL_OK)
		return status;
	tl_fill_leave(fill, length);
	derive(fill->arena, config);
	status = tl_cluster_checksum(fill, &config->cluster, config->scenario.cluster_sha256);
	if (status == TL_OK)
		status = tl_config_check(fill, config, root);
	if (status == TL_OK)
		status = tl_config_pools_check(fill, config);
	if (status == TL_OK)
		status = tl_config_services_check(fill, config, root);
	if (status != TL_OK) {
		tl_config_services_release(config);
		tl_cluster_spec_fini(&config->scenario.cluster);
	}
	return status;
}

static enum tl_status from_tree(struct tl_arena *arena, struct tl_tree *root,
                                const struct tl_override *overrides, size_t override_count,
                                struct tl_scenario **out, struct tl_error *error)
{
	struct tl_config config = {.failures = false};
	struct tl_fill fill = {.arena = arena, .error = error};
	enum tl_status status = TL_OK;

	TL_ASSERT(root);
	if (root->kind != TL_TREE_MAP)
		return tl_fill_refuse(&fill, root, "a map of keys");
	for (size_t i = 0; i < override_count && status == TL_OK; i++)
		status = tl_set_apply(arena, root, &overrides[i], error);
	if (status == TL_OK)
		status = fill_config(&fill, root, &config);
	if (status != TL_OK)
		return status;
	config.scenario.text = effective_text(&config);
	if (!config.failures)
		config.scenario.failures.per_1000_node_days = 0;
	keep_seats(&config);
	keep_workloads(&config);
	keep_lists(&config);
	tl_config_pools_keep(&config);
	tl_config_services_keep(&config);
	*out = tl_alloc(sizeof **out);
	**out = config.scenario;
	return TL_OK;
}

enum tl_status tl_scenario_load(const char *path, const struct tl_override *overrides,
                                size_t override_count, struct tl_scenario **out,
                                struct tl_error *error)
{
	struct tl_arena arena;
	struct tl_tree *root;
	enum tl_status status;

	tl_arena_init(&arena);
	status = tl_tree_read(&arena, path, &root, error);
	if (status == TL_OK)
		status = from_tree(&arena, root, overrides, override_count, out, error);
	if (status == TL_OK)
		(*out)->path = tl_strdup(path);
	tl_arena_fini(&arena);
	return status;
}

enum tl_status tl_scenario_parse(const char *name, const char *text,
                                 const struct tl_override *overrides, size_t override_count,
                                 struct tl_scenario **out, struct tl_error *error)
{
	struct tl_arena arena;
	struct tl_source *source;
	struct tl_tree *root = NULL;
	enum tl_status status;

	tl_arena_init(&arena);
	source = tl_source_new(&arena, name, "", false);
	status = tl_tree_parse(&arena, source, text, strlen(text), &root, error);
	if (status == TL_OK && !root)
		status =
		    tl_error_set(error, TL_E_CONFIG, name, 0, 0, "is empty, wanted a map of keys");
	if (status == TL_OK)
		status = from_tree(&arena, root, overrides, override_count, out, error);
	tl_arena_fini(&arena);
	return status;
}

/* The scenario made these itself; to all others they are const. */
static void release(const void *own)
{
	free((void *)(uintptr_t)own);
}

static void destroy_service(struct tl_service_setting *service)
{
	release(service->model.service.values_ns);
	release(service->arrivals.curve.points);
	release(service->arrivals.events);
	release(service->arrivals.surges);
	tl_request_trace_close((struct tl_request_trace *)(uintptr_t)service->arrivals.trace);
	free(service->arrivals_path);
}

void tl_scenario_destroy(struct tl_scenario *scenario)
{
	if (!scenario)
		return;
	for (size_t i = 0; i < TL_SEAT_COUNT; i++) {
		for (size_t k = 0; k < scenario->seats[i].count; k++) {
			free(scenario->seats[i].settings[k].name);
			free(scenario->seats[i].settings[k].value);
			free(scenario->seats[i].settings[k].flag);
		}
		free(scenario->seats[i].settings);
		free(scenario->seats[i].flag);
	}
	for (size_t i = 0; i < scenario->workload_count; i++)
		free(scenario->workloads[i].path);
	free(scenario->workloads);
	for (size_t i = 0; i < scenario->service_count; i++)
		destroy_service(&scenario->services[i]);
	free(scenario->services);
	free(scenario->queues);
	free(scenario->tenants);
	free(scenario->pools);
	free(scenario->faults);
	tl_cluster_spec_fini(&scenario->cluster);
	free(scenario->path);
	free(scenario->text);
	free(scenario);
}
