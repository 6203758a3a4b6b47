/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cluster/ratios.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/units.h"
#include "sim/cluster/device.h"

#include <stdlib.h>
#include <string.h>

static uint32_t number_of(const struct tl_cluster *cluster, const char *name)
{
	uint32_t number = 0;

	while (number < cluster->ratio_count && strcmp(cluster->ratios[number].name, name) != 0)
		number++;
	return number;
}

void tl_ratios_init(struct tl_cluster *cluster)
{
	const struct tl_cluster_spec *spec = cluster->spec;

	cluster->ratios = tl_calloc(spec->model_count, sizeof *cluster->ratios);
	for (size_t m = 0; m < spec->model_count; m++) {
		uint32_t number = number_of(cluster, spec->models[m].pool);

		cluster->model_ratios[m] = number;
		if (number < cluster->ratio_count)
			continue;
		cluster->ratios[number] = (struct tl_ratio){
		    .view = {.struct_size = sizeof(struct tl_oversubscription), .pool = number},
		    .name = spec->models[m].pool,
		    .ratio_milli = TL_MGPU_PER_GPU};
		cluster->ratio_count++;
	}
	for (size_t n = 0; n < spec->node_count; n++)
		if (spec->nodes[n].gpus > 0)
			cluster->ratios[cluster->model_ratios[spec->nodes[n].model]].gpus +=
			    spec->nodes[n].gpus;
}

void tl_ratios_fini(struct tl_cluster *cluster)
{
	free(cluster->ratios);
}

struct tl_ratio *tl_ratio_of(const struct tl_cluster *cluster, const struct tl_node_view *node)
{
	return node->model == TL_NO_INDEX ? NULL
	                                  : &cluster->ratios[cluster->model_ratios[node->model]];
}

static int64_t limit_mgpu(const struct tl_ratio *ratio)
{
	return ratio->gpus * (ratio->ratio_milli - TL_MGPU_PER_GPU);
}

void tl_ratio_add_gpus(struct tl_ratio *ratio, int64_t gpus)
{
	ratio->gpus += gpus;
	ratio->view.excess_limit_mgpu = limit_mgpu(ratio);
}

void tl_ratio_take(struct tl_ratio *ratio, int64_t physical_mgpu, int64_t excess_mgpu)
{
	ratio->view.nominal_mgpu += physical_mgpu + excess_mgpu;
	ratio->view.excess_mgpu += excess_mgpu;
}

void tl_cluster_oversubscribe(struct tl_cluster *cluster, const char *pool, int64_t ratio_milli)
{
	TL_ASSERT(ratio_milli >= TL_MGPU_PER_GPU);
	cluster->oversubscribed = false;
	for (uint32_t p = 0; p < cluster->ratio_count; p++) {
		struct tl_ratio *at = &cluster->ratios[p];

		if (!pool || strcmp(pool, at->name) == 0) {
			at->ratio_milli = ratio_milli;
			at->view.residents =
			    ratio_milli > TL_MGPU_PER_GPU ? TL_SECOND_RESIDENTS : 0;
			at->view.excess_limit_mgpu = limit_mgpu(at);
		}
		cluster->oversubscribed =
		    cluster->oversubscribed || at->ratio_milli > TL_MGPU_PER_GPU;
	}
}

const struct tl_oversubscription *tl_cluster_oversubscription(const struct tl_cluster *cluster,
                                                              uint32_t model)
{
	return model < cluster->spec->model_count
	           ? &cluster->ratios[cluster->model_ratios[model]].view
	           : NULL;
}

void tl_ratios_verify(const struct tl_cluster *cluster)
{
	for (uint32_t p = 0; p < cluster->ratio_count; p++) {
		const struct tl_ratio *ratio = &cluster->ratios[p];
		int64_t nominal = 0, excess = 0, gpus = 0;

		for (uint32_t n = 0; n < cluster->view.node_count; n++) {
			const struct tl_node_view *node = &cluster->nodes[n];

			if (node->model == TL_NO_INDEX || cluster->model_ratios[node->model] != p)
				continue;
			gpus += node->state == TL_NODE_DOWN ? 0 : node->gpu_count;
			for (uint32_t g = 0; g < node->gpu_count; g++) {
				const struct tl_residents *residents =
				    &cluster->residents[node->first_gpu + g];

				nominal += residents->used_mgpu;
				excess += tl_residents_excess_mgpu(residents);
			}
		}
		TL_ASSERT(ratio->gpus == gpus && ratio->asked_mgpu == 0);
		TL_ASSERT(ratio->view.nominal_mgpu == nominal && ratio->view.excess_mgpu == excess);
		TL_ASSERT(ratio->view.excess_limit_mgpu == limit_mgpu(ratio));
	}
}
