/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What one key alone does not show: names that must exist or be unique, pairs of limits. */
#include "sim/config/config.h"

#include "results/schema.h"

#include <stdarg.h>
#include <string.h>

enum tl_status tl_fill_fault_at(struct tl_fill *fill, const struct tl_tree *map, const char *key,
                                const char *format, ...)
{
	const struct tl_tree *node = map;
	char text[TL_ERROR_MESSAGE_MAX], step[TL_NAME_MAX];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	for (const char *at = key; node->kind == TL_TREE_MAP && *at != '\0';) {
		size_t length = strcspn(at, ".");
		const struct tl_tree *inner;

		(void)snprintf(step, sizeof step, "%.*s", (int)length, at);
		inner = tl_tree_get(node, step);
		if (!inner)
			break;
		node = inner;
		at += length + (at[length] == '.');
	}
	(void)tl_fill_enter(fill, key);
	return tl_fill_fault(fill, node, "%s", text);
}

static enum tl_status check_name(struct tl_fill *fill, const struct tl_config *config,
                                 const struct tl_tree *root)
{
	const char *name = config->scenario.name;

	if (!strchr(name, '/') && name[0] != '.' && name[0] != '-')
		return TL_OK;
	return tl_fill_fault_at(fill, root, "name",
	                        "got `%s`, wanted one without a slash that starts with neither `.` "
	                        "nor `-`: files are named after it",
	                        name);
}

static struct tl_fill *enter_item(struct tl_fill *fill, const char *list, size_t index)
{
	(void)tl_fill_enter(fill, list);
	(void)tl_fill_enter_index(fill, index);
	return fill;
}

static enum tl_status check_queues(struct tl_fill *fill, const struct tl_config *config,
                                   const struct tl_tree *root)
{
	if (config->queue_count == 0)
		return tl_fill_fault_at(fill, root, "queues",
		                        "got an empty list, wanted at least one queue");
	for (size_t i = 0; i < config->queue_count; i++) {
		if (strlen(config->queues[i].queue.name) >= TL_ROW_QUEUE_SIZE)
			return tl_fill_fault_at(
			    enter_item(fill, "queues", i), config->queues[i].node, "name",
			    "got `%s`, wanted at most %d bytes", config->queues[i].queue.name,
			    TL_ROW_QUEUE_SIZE - 1);
		for (size_t j = 0; j < i; j++)
			if (strcmp(config->queues[i].queue.name, config->queues[j].queue.name) == 0)
				return tl_fill_fault_at(enter_item(fill, "queues", i),
				                        config->queues[i].node, "name",
				                        "got `%s` again, wanted each name once",
				                        config->queues[i].queue.name);
	}
	return TL_OK;
}

static enum tl_status check_tenants(struct tl_fill *fill, const struct tl_config *config)
{
	for (size_t i = 0; i < config->tenant_count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(config->tenants[i].tenant.name,
			           config->tenants[j].tenant.name) == 0)
				return tl_fill_fault_at(enter_item(fill, "tenants", i),
				                        config->tenants[i].node, "name",
				                        "got `%s` again, wanted each name once",
				                        config->tenants[i].tenant.name);
	return TL_OK;
}

bool tl_config_has_queue(const struct tl_config *config, const char *name)
{
	for (size_t i = 0; i < config->queue_count; i++)
		if (strcmp(config->queues[i].queue.name, name) == 0)
			return true;
	return false;
}

static enum tl_status check_workload(struct tl_fill *fill, const struct tl_config *config, size_t i)
{
	const struct tl_workload_config *entry = &config->workloads[i];
	const struct tl_trace_options *trace = &entry->workload.trace;
	static const char *const of_static[] = {"shuffle", "demand"};
	size_t length = tl_fill_enter(fill, "workload");

	(void)tl_fill_enter_index(fill, i);
	if (entry->workload.queue[0] != '\0' && !tl_config_has_queue(config, entry->workload.queue))
		return tl_fill_fault_at(fill, entry->node, "queue",
		                        "got `%s`, wanted one of `queues`", entry->workload.queue);
	if (entry->workload.is_made) {
		enum tl_status status = tl_generate_config_check(fill, entry);

		if (status != TL_OK)
			return status;
	}
	if (trace->max_gpus_mgpu > 0 && trace->min_gpus_mgpu > trace->max_gpus_mgpu)
		return tl_fill_fault_at(fill, entry->node, "min_gpus",
		                        "got more than max_gpus, wanted at most that");
	if (trace->is_static && trace->window_ns > 0)
		return tl_fill_fault_at(fill, entry->node, "window",
		                        "a static workload has no times to cut");
	for (size_t k = 0; k < sizeof of_static / sizeof *of_static && !trace->is_static; k++)
		if (k == 0 ? trace->shuffle : trace->demand > 0)
			return tl_fill_fault_at(
			    fill, entry->node, of_static[k],
			    "got it for a trace with times, wanted a static one (static: true)");
	if (trace->demand > 0 && trace->capacity_mgpu == 0)
		return tl_fill_fault_at(fill, entry->node, "demand",
		                        "the cluster has no GPU to fill");
	tl_fill_leave(fill, length);
	return TL_OK;
}

static bool has_node(const struct tl_cluster_spec *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->node_count; i++)
		if (strcmp(cluster->nodes[i].name, name) == 0)
			return true;
	return false;
}

bool tl_fault_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_fault_config *fault = base;
	const bool nodes = fault->fault.what == TL_FAULT_NODE_DOWN;
	const bool named = nodes && fault->fault.node[0] != '\0';

	if (strcmp(key->name, "nodes") == 0)
		return nodes && !named;
	if (strcmp(key->name, "node") == 0)
		return named;
	if (strcmp(key->name, "jobs") == 0)
		return fault->fault.what == TL_FAULT_KILL_JOBS;
	if (strcmp(key->name, "for") == 0)
		return fault->fault.what != TL_FAULT_KILL_JOBS;
	if (tl_choice_index("service|factor|ramp", key->name) >= 0)
		return fault->fault.what == TL_FAULT_TRAFFIC;
	return true;
}

static bool has_service(const struct tl_config *config, const char *name)
{
	for (size_t i = 0; i < config->workload_count; i++)
		if (config->workloads[i].is_service &&
		    strcmp(config->workloads[i].service.name, name) == 0)
			return true;
	return false;
}

static enum tl_status check_traffic(struct tl_fill *fill, const struct tl_config *config,
                                    const struct tl_fault_config *fault)
{
	if (!has_service(config, fault->service))
		return tl_fill_fault_at(fill, fault->node, "service",
		                        "got `%s`, wanted the name of a service of `workload`",
		                        fault->service);
	if (fault->fault.ramp_ns > fault->fault.for_ns)
		return tl_fill_fault_at(fill, fault->node, "ramp",
		                        "got more than `for`, wanted at most that");
	return TL_OK;
}

static enum tl_status check_fault(struct tl_fill *fill, const struct tl_config *config, size_t i)
{
	const struct tl_fault_config *fault = &config->faults[i];
	const struct tl_cluster_spec *cluster = &config->scenario.cluster;
	const bool nodes = fault->fault.what == TL_FAULT_NODE_DOWN;
	size_t length = tl_fill_enter(fill, "faults");
	enum tl_status status;

	(void)tl_fill_enter_index(fill, i);
	status = tl_section_applies(fill, &tl_fault_section, fault->node, fault,
	                            fault->fault.what == TL_FAULT_KILL_JOBS ? "`do: kill-jobs`"
	                            : fault->fault.what == TL_FAULT_TRAFFIC ? "`do: traffic`"
	                            : fault->fault.node[0] ? "`node`, which names one"
	                                                   : "`do: node-down`");
	if (status == TL_OK && fault->fault.what == TL_FAULT_TRAFFIC)
		status = check_traffic(fill, config, fault);
	if (status != TL_OK)
		return status;
	if (nodes && fault->fault.node[0] != '\0' && !has_node(cluster, fault->fault.node))
		return tl_fill_fault_at(fill, fault->node, "node",
		                        "got `%s`, wanted a node of the cluster, such as `%s`",
		                        fault->fault.node, cluster->nodes[0].name);
	if (nodes && fault->fault.count > cluster->node_count)
		return tl_fill_fault_at(fill, fault->node, "nodes",
		                        "got %u, wanted at most the cluster's %zu",
		                        fault->fault.count, cluster->node_count);
	tl_fill_leave(fill, length);
	return TL_OK;
}

bool tl_sharing_applies(const struct tl_config_key *key, const void *base)
{
	const struct tl_sharing *sharing = &((const struct tl_scenario *)base)->physics.sharing;

	if (strcmp(key->name, "speeds") == 0)
		return sharing->kind == TL_SHARING_CUSTOM;
	if (strcmp(key->name, "utilisation_median") == 0)
		return sharing->utilisation_mean < 0;
	return true;
}

static enum tl_status check_sharing(struct tl_fill *fill, const struct tl_config *config,
                                    const struct tl_tree *root)
{
	const struct tl_sharing *sharing = &config->scenario.physics.sharing;
	const struct tl_tree *node = tl_tree_get(root, "sharing");
	const struct tl_tree *speeds = node ? tl_tree_get(node, "speeds") : NULL;
	size_t length;
	enum tl_status status;

	if (!node)
		return TL_OK;
	length = tl_fill_enter(fill, "sharing");
	if (sharing->kind == TL_SHARING_CUSTOM && sharing->step_count == 0)
		return tl_fill_fault_at(fill, node, speeds ? "speeds" : "table",
		                        "got %s, wanted at least one speed",
		                        speeds ? "none" : "`custom` without `speeds`");
	status = tl_section_applies(fill, &tl_sharing_section, node, &config->scenario,
	                            speeds && sharing->kind != TL_SHARING_CUSTOM
	                                ? "a table that is not `custom`"
	                                : "`utilisation_mean`");
	if (status == TL_OK)
		tl_fill_leave(fill, length);
	return status;
}

static enum tl_status check_failures(struct tl_fill *fill, const struct tl_config *config,
                                     const struct tl_tree *root)
{
	const struct tl_failures *failures = &config->scenario.failures;

	if (failures->repair_short_milli + failures->repair_medium_milli <= 1000)
		return TL_OK;
	return tl_fill_fault_at(fill, root, "failures",
	                        "short_share and medium_share together: got more than 1, wanted "
	                        "at most 1");
}

static enum tl_status check_observe(struct tl_fill *fill, const struct tl_config *config,
                                    const struct tl_tree *root)
{
	enum { LOOKS_MAX = 100000 };
	const struct tl_scenario *scenario = &config->scenario;
	int64_t interval_ns = scenario->observe_interval_ns;
	char window[48];

	if (interval_ns % scenario->window_ns != 0)
		return tl_fill_fault_at(
		    fill, root, "observe.interval",
		    "got part of a window, wanted whole ones (metrics.window is %s)",
		    tl_format_duration(scenario->window_ns, window, sizeof(window)));
	interval_ns = interval_ns > 0 ? interval_ns : scenario->window_ns;
	if (scenario->observe_delay_ns / interval_ns > LOOKS_MAX)
		return tl_fill_fault_at(fill, root, "observe.delay",
		                        "got more than %d times the interval of %s, "
		                        "wanted at most that",
		                        LOOKS_MAX,
		                        tl_format_duration(interval_ns, window, sizeof(window)));
	return TL_OK;
}

enum tl_status tl_config_check(struct tl_fill *fill, const struct tl_config *config,
                               const struct tl_tree *root)
{
	enum tl_status status = check_name(fill, config, root);

	if (status == TL_OK)
		status = check_queues(fill, config, root);
	if (status == TL_OK)
		status = check_tenants(fill, config);
	if (status == TL_OK && config->workload_count == 0)
		status =
		    tl_fill_fault_at(fill, root, "workload", "got no entry, wanted at least one");
	for (size_t i = 0; i < config->workload_count && status == TL_OK; i++)
		if (!config->workloads[i].is_service)
			status = check_workload(fill, config, i);
	for (size_t i = 0; i < config->fault_count && status == TL_OK; i++)
		status = check_fault(fill, config, i);
	if (status == TL_OK)
		status = check_sharing(fill, config, root);
	if (status == TL_OK)
		status = check_failures(fill, config, root);
	if (status == TL_OK)
		status = check_observe(fill, config, root);
	return status;
}
