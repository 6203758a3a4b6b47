/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The nodes of a cluster, from its groups or its list. */
#include "sim/config/config.h"

#include "sim/base/units.h"
#include "traces/machines.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MAX = 100000, GPUS_MAX = 1000000 };

/* `A100` is no slip for `A10`: all of them. */
static const char *known_models(char *buffer, size_t size)
{
	const char *names[64];
	size_t count = 0;

	while (count < sizeof names / sizeof names[0] && (names[count] = tl_gpu_model_name(count)))
		count++;
	return tl_suggest_text(names, count, "", buffer, size);
}

static enum tl_status group_model(struct tl_fill *fill, const struct tl_cluster_group *group,
                                  struct tl_cluster_spec *spec, uint32_t *model)
{
	int64_t memory = group->gpu_memory_bytes;
	struct tl_error cause;
	char near[400];

	*model = TL_NO_INDEX;
	if (group->gpus == 0 && group->pool[0] == '\0')
		return TL_OK;
	if (group->gpus == 0)
		memory = 0;
	else if (memory < 0)
		memory = tl_gpu_model_memory(group->model);
	if (memory < 0)
		return tl_fill_fault(
		    fill, group->node,
		    "GPU model `%s` is not a known one: wanted `gpu_memory` as well%s",
		    group->model, known_models(near, sizeof near));
	if (tl_cluster_spec_model(spec, group->gpus > 0 ? group->model : "", group->pool, memory,
	                          model, &cause) != TL_OK)
		return tl_fill_fault(fill, group->node, "%s", cause.message);
	if (spec->models[*model].memory_bytes != memory)
		return tl_fill_fault(fill, group->node,
		                     "GPU model `%s` has another memory than in a group before",
		                     group->model);
	return TL_OK;
}

/* Each group begins a rack, a leaf and a pod of its own. */
static enum tl_status add_group(struct tl_fill *fill, const struct tl_cluster_group *group,
                                struct tl_cluster_spec *spec)
{
	const struct tl_node_spec *last =
	    spec->node_count ? &spec->nodes[spec->node_count - 1] : NULL;
	uint32_t rack = last ? last->rack + 1 : 0;
	uint32_t leaf = last ? last->leaf + 1 : 0;
	uint32_t pod = last ? last->pod + 1 : 0;
	uint32_t per_leaf = group->nodes_per_leaf ? group->nodes_per_leaf : group->nodes_per_pod;
	uint32_t model;
	enum tl_status status = tl_pool_check(fill, group);

	if (status == TL_OK)
		status = group_model(fill, group, spec, &model);
	if (status != TL_OK)
		return status;
	if (spec->node_count + group->count > NODES_MAX)
		return tl_fill_fault(fill, group->node, "got more than %d nodes in all", NODES_MAX);
	spec->nodes =
	    tl_realloc_array(spec->nodes, spec->node_count + group->count, sizeof *spec->nodes);
	for (uint32_t i = 0; i < group->count; i++) {
		struct tl_node_spec *node = &spec->nodes[spec->node_count];

		*node = (struct tl_node_spec){.gpus = group->gpus,
		                              .model = model,
		                              .cpu_milli = group->cpu_milli,
		                              .ram_bytes = group->ram_bytes,
		                              .rack = rack + i / group->nodes_per_rack,
		                              .leaf = leaf + i / per_leaf,
		                              .pod = pod + i / group->nodes_per_pod};
		(void)snprintf(node->name, sizeof node->name, "%s-%04zu", group->name,
		               spec->node_count++);
	}
	return TL_OK;
}

/* A list that says nothing of racks and pods is taken as racked in its own order, as the
 * default cluster is: racks of 4 nodes, pods of 16. */
enum { LISTED_PER_RACK = 4, LISTED_PER_POD = 16 };

/* Public lists mask some models (openb's G2 and G3, pai's MISC): a card of the usual size,
 * assumed. It matters only to jobs that state GPU memory. */
#define MASKED_CARD_BYTES (32 * TL_GIB)

static enum tl_status add_machine(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                                  const struct tl_machine *machine, struct tl_cluster_spec *spec)
{
	const uint32_t i = (uint32_t)spec->node_count;
	const bool wired = machine->leaf != UINT32_MAX && machine->pod != UINT32_MAX;
	const char *model = machine->model[0] != '\0' ? machine->model : "unknown";
	struct tl_node_spec node = {.gpus = machine->gpus,
	                            .model = TL_NO_INDEX,
	                            .cpu_milli = machine->cpu_milli,
	                            .ram_bytes = machine->ram_bytes,
	                            .rack = wired ? machine->leaf : i / LISTED_PER_RACK,
	                            .leaf = wired ? machine->leaf : i / LISTED_PER_POD,
	                            .pod = wired ? machine->pod : i / LISTED_PER_POD};
	int64_t memory = tl_gpu_model_memory(model);
	struct tl_error cause;

	if (memory < 0)
		memory = cluster->gpu_memory_bytes;
	if (memory < 0)
		memory = MASKED_CARD_BYTES;
	if (machine->gpus > 0 &&
	    tl_cluster_spec_model(spec, model, "", memory, &node.model, &cause) != TL_OK)
		return tl_fill_fault(fill, cluster->node, "%s", cause.message);
	(void)snprintf(node.name, sizeof node.name, "%s", machine->name);
	spec->nodes[spec->node_count++] = node;
	return TL_OK;
}

static const char *list_path(struct tl_fill *fill, const struct tl_cluster_config *cluster)
{
	return tl_path_from(fill->arena, tl_tree_get(cluster->node, "list")->source, cluster->list);
}

static enum tl_status add_list(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                               struct tl_cluster_spec *spec)
{
	const struct tl_tree *list = tl_tree_get(cluster->node, "list");
	struct tl_machine *machines;
	size_t count;
	enum tl_status status =
	    tl_machines_read(list_path(fill, cluster), (enum tl_machine_format)cluster->list_format,
	                     &machines, &count, fill->error);

	if (status != TL_OK)
		return status;
	if (count == 0 || count > NODES_MAX)
		status = tl_fill_fault(fill, list, "got %zu machines, wanted from 1 to %d", count,
		                       NODES_MAX);
	spec->nodes = tl_calloc(count, sizeof *spec->nodes);
	for (size_t i = 0; i < count && status == TL_OK; i++)
		status = add_machine(fill, cluster, &machines[i], spec);
	free(machines);
	return status;
}

enum tl_status tl_cluster_build(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                                struct tl_cluster_spec *spec)
{
	enum tl_status status = TL_OK;
	uint64_t gpus = 0;

	*spec = (struct tl_cluster_spec){.node_count = 0};
	memcpy(spec->name, cluster->name, sizeof spec->name);
	if (cluster->list[0] != '\0')
		status = add_list(fill, cluster, spec);
	for (size_t i = 0; i < cluster->group_count && status == TL_OK; i++)
		status = add_group(fill, &cluster->groups[i], spec);
	for (size_t i = 0; i < spec->node_count && status == TL_OK; i++)
		gpus += spec->nodes[i].gpus;
	if (status == TL_OK && gpus > GPUS_MAX)
		status =
		    tl_fill_fault(fill, cluster->node, "got %llu GPUs in all, wanted at most %d",
		                  (unsigned long long)gpus, GPUS_MAX);
	if (status != TL_OK)
		tl_cluster_spec_fini(spec);
	return status;
}

enum tl_status tl_cluster_checksum(struct tl_fill *fill, const struct tl_cluster_config *cluster,
                                   char out[TL_SHA256_HEX])
{
	out[0] = '\0';
	if (cluster->list[0] == '\0')
		return TL_OK;
	return tl_sha256_file(list_path(fill, cluster), out, fill->error);
}
