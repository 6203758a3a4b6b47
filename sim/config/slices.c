/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slice: what a replica holds by the name of a MIG slice. */
#include "sim/work/slices.h"

#include "sim/config/config.h"

#include <string.h>

void tl_config_slice_derive(struct tl_service_setting *setting,
                            const struct tl_cluster_spec *cluster)
{
	const struct tl_slice *slice = tl_slice_at(setting->slice);

	setting->model_mask = UINT64_MAX;
	if (!slice)
		return;
	setting->gpus_mgpu = tl_slice_share_mgpu(slice);
	setting->gpu_memory_bytes = tl_slice_memory_bytes(slice);
	setting->model_mask = tl_slice_models(slice, cluster);
	if (setting->pool_mask != 0)
		setting->model_mask &= setting->pool_mask;
}

/* The slices that the nodes in reach give, `1g.5gb, 2g.10gb`, or what there would have to be. */
static const char *in_reach(const struct tl_service_setting *setting,
                            const struct tl_cluster_spec *cluster, char *buffer, size_t size)
{
	uint64_t reach = setting->pool_mask != 0 ? setting->pool_mask : UINT64_MAX;
	const struct tl_slice *slice;
	size_t used = 0;

	for (int32_t i = 1; (slice = tl_slice_at(i)) != NULL; i++) {
		if ((tl_slice_models(slice, cluster) & reach) == 0)
			continue;
		used += (size_t)snprintf(buffer + used, size - used, "%s%s",
		                         used > 0 ? ", " : "one of ", slice->name);
	}
	return used > 0 ? buffer : "an A100 of 40 or 80 GiB among the nodes that it may go to";
}

enum tl_status tl_config_slice_check(struct tl_fill *fill, const struct tl_workload_config *entry,
                                     const struct tl_cluster_spec *cluster)
{
	const struct tl_service_setting *setting = &entry->service.setting;
	const struct tl_slice *slice = tl_slice_at(setting->slice);
	static const char *const stated[] = {"gpu_milli", "memory"};
	char names[160];

	if (!slice)
		return TL_OK;
	for (size_t i = 0; i < sizeof stated / sizeof stated[0]; i++)
		if (tl_tree_get(entry->node, stated[i]))
			return tl_fill_fault(
			    fill, tl_tree_get(entry->node, stated[i]),
			    "%s: does not go with `slice: %s`, which states share and memory",
			    stated[i], slice->name);
	if (setting->model_mask == 0)
		return tl_fill_fault_at(
		    fill, entry->node, "slice", "got `%s`, which no GPU in reach has, wanted %s",
		    slice->name, in_reach(setting, cluster, names, sizeof names));
	return TL_OK;
}
