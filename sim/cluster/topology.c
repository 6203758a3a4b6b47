/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the cluster is made of, what it holds when idle, and how far apart its GPUs are. */
#include "sim/base/arena.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

/* Memory of GPU models as their makers' data sheets state it, under the names that the
 * public traces use (openb: V100M16 …) and the makers' own. What a driver shows is a few
 * per cent less where ECC is kept in band (T4). */
static const struct {
	const char *name;
	int64_t memory_gib;
} known_models[] = {
    {"A100-SXM4-80GB", 80}, /* NVIDIA A100 data sheet (2021): 80 GB HBM2e */
    {"A100-SXM4-40GB", 40}, /* the same: 40 GB HBM2 */
    {"A100-PCIE-80GB", 80},
    {"A100-PCIE-40GB", 40},
    {"A800-SXM4-80GB", 80},
    {"H100-SXM5-80GB", 80}, /* NVIDIA H100 data sheet (2022): 80 GB HBM3 */
    {"H800-SXM5-80GB", 80},
    {"A10", 24},     /* NVIDIA A10 data sheet (2021): 24 GB GDDR6 */
    {"A30", 24},     /* NVIDIA A30 data sheet (2021): 24 GB HBM2 */
    {"L4", 24},      /* NVIDIA L4 data sheet (2023): 24 GB GDDR6 */
    {"L40S", 48},    /* NVIDIA L40S data sheet (2023): 48 GB GDDR6 */
    {"V100M16", 16}, /* NVIDIA V100 data sheet (2018): 16 or 32 GB HBM2 */
    {"V100M32", 32},
    {"V100-SXM2-16GB", 16},
    {"V100-SXM2-32GB", 32},
    {"T4", 16},   /* NVIDIA T4 data sheet (2018): 16 GB GDDR6 */
    {"P100", 16}, /* NVIDIA P100 data sheet (2016): the 16 GB version, openb's */
    {"P4", 8},    /* NVIDIA P4 data sheet (2016): 8 GB GDDR5 */
    {"K80", 12},  /* NVIDIA K80 board specification (2015): 24 GB on two GPUs */
    /* openb's G2 and G3 are masked names: their memory is not published, hence unknown;
	 * so are PAI's V100 (either size) and MISC. */
};

int64_t tl_gpu_model_memory(const char *name)
{
	for (size_t i = 0; i < sizeof known_models / sizeof known_models[0]; i++)
		if (strcmp(known_models[i].name, name) == 0)
			return known_models[i].memory_gib * TL_GIB;
	return TL_NONE;
}

const char *tl_gpu_model_name(size_t number)
{
	return number < sizeof known_models / sizeof known_models[0] ? known_models[number].name
	                                                             : NULL;
}

void tl_cluster_spec_fini(struct tl_cluster_spec *spec)
{
	free(spec->models);
	free(spec->nodes);
	*spec = (struct tl_cluster_spec){0};
}

enum tl_status tl_cluster_spec_model(struct tl_cluster_spec *spec, const char *name,
                                     const char *pool, int64_t memory_bytes, uint32_t *out,
                                     struct tl_error *error)
{
	size_t length = strlen(name), pool_length = strlen(pool);
	struct tl_gpu_model *model;

	for (size_t i = 0; i < spec->model_count; i++) {
		if (strcmp(spec->models[i].name, name) == 0 &&
		    strcmp(spec->models[i].pool, pool) == 0) {
			*out = (uint32_t)i;
			return TL_OK;
		}
	}
	if ((length == 0 && pool_length == 0) || length >= TL_MODEL_NAME_MAX)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "name of a GPU model: got `%s`, wanted 1 to %d bytes", name,
		                    TL_MODEL_NAME_MAX - 1);
	if (pool_length >= TL_POOL_NAME_MAX)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "name of a pool: got `%s`, wanted at most %d bytes", pool,
		                    TL_POOL_NAME_MAX - 1);
	if (spec->model_count == TL_MODELS_MAX)
		return tl_error_set(
		    error, TL_E_CONFIG, NULL, 0, 0,
		    "GPU models: `%s` is one too many, wanted at most %d, each pool's apart", name,
		    TL_MODELS_MAX);
	spec->models = tl_realloc_array(spec->models, spec->model_count + 1, sizeof *spec->models);
	model = &spec->models[spec->model_count];
	*model = (struct tl_gpu_model){.memory_bytes = memory_bytes};
	memcpy(model->name, name, length);
	memcpy(model->pool, pool, pool_length);
	*out = (uint32_t)spec->model_count++;
	return TL_OK;
}

bool tl_cluster_spec_has_pools(const struct tl_cluster_spec *spec)
{
	for (size_t i = 0; i < spec->model_count; i++)
		if (spec->models[i].pool[0] != '\0')
			return true;
	return false;
}

/* Bits of the models of which one text is among `A|B`. */
static uint64_t mask_of(const struct tl_cluster_spec *spec, const char *names, bool pools)
{
	uint64_t mask = 0;

	while (*names != '\0') {
		size_t length = strcspn(names, "|");

		for (size_t m = 0; m < spec->model_count && length > 0; m++) {
			const char *text = pools ? spec->models[m].pool : spec->models[m].name;

			if (strlen(text) == length && memcmp(text, names, length) == 0)
				mask |= UINT64_C(1) << m;
		}
		names += length;
		names += *names == '|';
	}
	return mask;
}

uint64_t tl_cluster_spec_pools(const struct tl_cluster_spec *spec, const char *names)
{
	return mask_of(spec, names, true);
}

uint64_t tl_cluster_spec_models(const struct tl_cluster_spec *spec, const char *names)
{
	return mask_of(spec, names, false);
}

enum tl_distance tl_cluster_distance(const struct tl_cluster *cluster, uint32_t gpu_a,
                                     uint32_t gpu_b)
{
	uint32_t at_a = cluster->gpus[gpu_a].node;
	uint32_t at_b = cluster->gpus[gpu_b].node;
	const struct tl_node_view *a = &cluster->nodes[at_a];
	const struct tl_node_view *b = &cluster->nodes[at_b];

	if (gpu_a == gpu_b)
		return TL_SAME_GPU;
	if (at_a == at_b) {
		/* Two GPUs a PCIe switch: (0,1) (2,3) … of the node. */
		if ((gpu_a - a->first_gpu) / 2 == (gpu_b - a->first_gpu) / 2)
			return TL_SAME_PAIR;
		return TL_SAME_NODE;
	}
	if (a->rack == b->rack)
		return TL_SAME_RACK;
	if (a->leaf == b->leaf)
		return TL_SAME_LEAF;
	if (a->pod == b->pod)
		return TL_SAME_POD;
	return TL_ACROSS;
}

/* The narrowest class that holds all GPUs is that of the first and each other: racks,
 * leaves and pods partition the nodes. */
enum tl_distance tl_cluster_spread(const struct tl_cluster *cluster, const struct tl_alloc *where)
{
	enum { PAIR, NODE, RACK, LEAF, POD, LEVELS };
	static const enum tl_distance level_distance[LEVELS] = {
	    TL_SAME_PAIR, TL_SAME_NODE, TL_SAME_RACK, TL_SAME_LEAF, TL_SAME_POD};
	bool same[LEVELS] = {true, true, true, true, true};
	const struct tl_node_view *first;
	uint32_t first_node;

	if (where->gpu_count <= 1)
		return TL_SAME_GPU;
	first_node = cluster->gpus[where->gpus[0]].node;
	first = &cluster->nodes[first_node];
	for (uint32_t i = 1; i < where->gpu_count; i++) {
		uint32_t gpu = where->gpus[i];
		uint32_t at = cluster->gpus[gpu].node;
		const struct tl_node_view *node = &cluster->nodes[at];

		same[NODE] = same[NODE] && at == first_node;
		same[PAIR] = same[PAIR] && at == first_node &&
		             (gpu - node->first_gpu) / 2 == (where->gpus[0] - node->first_gpu) / 2;
		same[RACK] = same[RACK] && node->rack == first->rack;
		same[LEAF] = same[LEAF] && node->leaf == first->leaf;
		same[POD] = same[POD] && node->pod == first->pod;
	}
	for (int level = 0; level < LEVELS; level++)
		if (same[level])
			return level_distance[level];
	return TL_ACROSS;
}

/* How many workers of a kind fit an idle node that keeps `rest` for another worker; -1
 * where not even that one fits. */
static int64_t idle_workers(const struct tl_node_view *node, int64_t memory_bytes,
                            uint64_t model_mask, const struct tl_worker *worker,
                            const struct tl_worker *rest)
{
	bool model = node->gpu_count > 0 && (model_mask >> node->model & 1);
	bool unknown = memory_bytes < 0;
	int64_t gpus = (int64_t)node->gpu_count - rest->gpus;
	int64_t cpu = node->total_cpu_milli - rest->cpu_milli;
	int64_t ram = node->total_ram_bytes - rest->ram_bytes;
	int64_t fit = INT64_MAX;

	if (gpus < 0 || cpu < 0 || ram < 0 || (rest->gpus > 0 && !model) ||
	    (rest->gpus > 0 && !unknown && rest->gpu_memory_bytes > memory_bytes))
		return -1;
	if (worker->gpus > 0) {
		if (!model || (!unknown && worker->gpu_memory_bytes > memory_bytes))
			return 0;
		fit = gpus / worker->gpus;
	}
	if (worker->cpu_milli > 0 && cpu / worker->cpu_milli < fit)
		fit = cpu / worker->cpu_milli;
	if (worker->ram_bytes > 0 && ram / worker->ram_bytes < fit)
		fit = ram / worker->ram_bytes;
	return fit;
}

static int64_t capped(int64_t value, int64_t cap)
{
	return value < cap ? value : cap;
}

static bool fits_idle(const struct tl_cluster *cluster, const struct tl_shape *shape, bool up_only)
{
	static const struct tl_worker nothing = {0};
	int64_t wanted = (int64_t)shape->workers - 1;
	int64_t sum = 0;

	if (shape->full.share_mgpu > TL_MGPU_PER_GPU || shape->last.share_mgpu > TL_MGPU_PER_GPU)
		return false;
	/* All nodes' room for full workers; then the last one takes some of one node's. */
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t n = 0; n < cluster->view.node_count; n++) {
			const struct tl_node_view *node = &cluster->nodes[n];
			if ((up_only && node->state != TL_NODE_UP) ||
			    !tl_node_allowed(node, shape->model_mask))
				continue;
			int64_t memory = node->gpu_count > 0
			                     ? cluster->gpus[node->first_gpu].total_memory_bytes
			                     : 0;
			int64_t alone = capped(
			    idle_workers(node, memory, shape->model_mask, &shape->full, &nothing),
			    wanted);
			int64_t beside;

			if (pass == 0) {
				sum += alone;
				continue;
			}
			beside = capped(idle_workers(node, memory, shape->model_mask, &shape->full,
			                             &shape->last),
			                wanted);
			if (beside >= 0 && sum - alone + beside >= wanted)
				return true;
		}
	}
	return false;
}

bool tl_cluster_could_fit(const struct tl_cluster *cluster, const struct tl_shape *shape)
{
	return fits_idle(cluster, shape, false);
}

bool tl_cluster_could_fit_up(const struct tl_cluster *cluster, const struct tl_shape *shape)
{
	return fits_idle(cluster, shape, true);
}
