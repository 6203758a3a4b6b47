/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/shapes.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

enum { WORKERS_MAX = 1 << 20 }; /* a placement names a node a worker */

struct tl_shape_entry {
	struct tl_shape shape;
	struct tl_request request; /* as asked, before any clamp */
	bool clamp, feasible;
};

void tl_shapes_init(struct tl_shapes *shapes, const struct tl_cluster *cluster,
                    const struct tl_cluster_spec *spec)
{
	*shapes = (struct tl_shapes){.cluster = cluster, .spec = spec, .table_size = 64};
	shapes->table = tl_calloc(shapes->table_size, sizeof(*shapes->table));
}

void tl_shapes_fini(struct tl_shapes *shapes)
{
	for (size_t i = 0; i < shapes->count; i++)
		free(shapes->entries[i]);
	free(shapes->entries);
	free(shapes->table);
	*shapes = (struct tl_shapes){0};
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct tl_request *r, bool clamp)
{
	uint64_t hash = mix(clamp, (uint64_t)r->gpus_mgpu);

	hash = mix(hash, (uint64_t)r->gpu_memory_bytes);
	hash = mix(hash, (uint64_t)r->cpu_milli);
	hash = mix(hash, (uint64_t)r->ram_bytes);
	hash = mix(hash, (uint64_t)r->workers << 1 | r->isolated);
	return mix(mix(hash, r->model_mask), r->pool_mask);
}

static bool same(const struct tl_request *a, const struct tl_request *b)
{
	return a->gpus_mgpu == b->gpus_mgpu && a->gpu_memory_bytes == b->gpu_memory_bytes &&
	       a->cpu_milli == b->cpu_milli && a->ram_bytes == b->ram_bytes &&
	       a->workers == b->workers && a->isolated == b->isolated &&
	       a->model_mask == b->model_mask && a->pool_mask == b->pool_mask;
}

/* Memory of the smallest card the mask allows. */
static int64_t smallest_card_bytes(const struct tl_cluster_spec *spec, uint64_t model_mask)
{
	int64_t least = INT64_MAX;

	for (size_t m = 0; m < spec->model_count; m++)
		if ((model_mask >> m & 1) != 0 && spec->models[m].name[0] != '\0' &&
		    spec->models[m].memory_bytes < least)
			least = spec->models[m].memory_bytes;
	return least == INT64_MAX ? 0 : least;
}

/* Splits a total over workers in proportion to their GPUs: full ones rounded up, the
 * last takes the rest. */
static void split(int64_t total, uint32_t workers, uint32_t full_gpus, uint32_t gpus, int64_t *full,
                  int64_t *last)
{
	if (total <= 0) {
		*full = *last = 0;
		return;
	}
	tl_i128 parts = gpus > 0 ? gpus : workers, mine = gpus > 0 ? full_gpus : 1;

	*full = (int64_t)(((tl_i128)total * mine + parts - 1) / parts);
	if (workers > 1 && (tl_i128)*full * (workers - 1) > total)
		*full = total / (workers - 1);
	*last = total - *full * (workers - 1);
}

/* Fills GPUs and workers; false where the request is neither whole GPUs nor one share a worker. */
static bool set_gpus(struct tl_shape *shape, const struct tl_request *request, uint32_t largest)
{
	int64_t mgpu = request->gpus_mgpu;
	uint32_t workers = request->workers;

	if (mgpu < 0 || mgpu > (int64_t)INT32_MAX || workers > WORKERS_MAX)
		return false;
	if (mgpu == 0) {
		shape->workers = workers > 0 ? workers : 1;
		return true;
	}
	if (mgpu % TL_MGPU_PER_GPU != 0 || (workers > 1 && mgpu / workers < TL_MGPU_PER_GPU)) {
		shape->workers = workers > 0 ? workers : 1;
		if (mgpu % shape->workers != 0 || mgpu / shape->workers > TL_MGPU_PER_GPU)
			return false;
		int32_t share_mgpu = (int32_t)(mgpu / shape->workers);

		shape->full = shape->last = (struct tl_worker){.gpus = 1, .share_mgpu = share_mgpu};
		shape->gpus = shape->workers;
		return true;
	}
	shape->gpus = (uint32_t)(mgpu / TL_MGPU_PER_GPU);
	if (workers == 0) {
		uint32_t size = largest > 0 ? largest : 1;

		workers = (shape->gpus + size - 1) / size;
		shape->full.gpus = workers > 1 ? size : shape->gpus;
	} else {
		shape->full.gpus = (shape->gpus + workers - 1) / workers;
	}
	if ((uint64_t)shape->full.gpus * (workers - 1) >= shape->gpus)
		return false; /* 10 GPUs over 6 workers: the last would have none */
	shape->workers = workers;
	shape->last.gpus = shape->gpus - shape->full.gpus * (workers - 1);
	shape->full.share_mgpu = shape->last.share_mgpu = (int32_t)TL_MGPU_PER_GPU;
	return true;
}

/* Models of nodes that will do. */
static uint64_t mask_of(const struct tl_request *request, bool gpus)
{
	return (gpus ? request->model_mask : UINT64_MAX) &
	       (request->pool_mask != 0 ? request->pool_mask : UINT64_MAX);
}

static bool shape_of(const struct tl_shapes *shapes, const struct tl_request *request,
                     struct tl_shape *shape)
{
	if (!set_gpus(shape, request, shapes->cluster->largest_node_gpus))
		return false;
	shape->model_mask = mask_of(request, shape->gpus > 0);
	int64_t memory_bytes = request->gpu_memory_bytes;

	if (shape->gpus == 0) {
		memory_bytes = 0;
	} else if (memory_bytes < 0) {
		int64_t card_bytes = smallest_card_bytes(shapes->spec, shape->model_mask);
		int32_t share_mgpu = shape->full.share_mgpu;

		memory_bytes = share_mgpu == TL_MGPU_PER_GPU
		                   ? card_bytes / 2
		                   : (int64_t)((tl_i128)card_bytes * share_mgpu / TL_MGPU_PER_GPU);
	}
	shape->full.gpu_memory_bytes = shape->last.gpu_memory_bytes = memory_bytes;
	split(request->cpu_milli, shape->workers, shape->full.gpus, shape->gpus,
	      &shape->full.cpu_milli, &shape->last.cpu_milli);
	split(request->ram_bytes, shape->workers, shape->full.gpus, shape->gpus,
	      &shape->full.ram_bytes, &shape->last.ram_bytes);
	shape->flags = request->isolated ? TL_SHAPE_ISOLATED : 0;
	shape->total_mgpu = request->gpus_mgpu;
	shape->total_cpu_milli = request->cpu_milli > 0 ? request->cpu_milli : 0;
	shape->total_ram_bytes = request->ram_bytes > 0 ? request->ram_bytes : 0;
	return true;
}

/* Cuts a request down until it fits the empty cluster: stated workers go first, then GPUs
 * to what the models hold, then CPU and RAM per worker to a node's. */
static void clamp_request(const struct tl_shapes *shapes, struct tl_request *request)
{
	int64_t gpus = 0, cpu_milli = INT64_MAX, ram_bytes = INT64_MAX;

	for (size_t n = 0; n < shapes->spec->node_count; n++) {
		const struct tl_node_spec *node = &shapes->spec->nodes[n];

		if (node->gpus == 0 || (mask_of(request, true) >> node->model & 1) == 0)
			continue;
		gpus += node->gpus;
		cpu_milli = node->cpu_milli < cpu_milli ? node->cpu_milli : cpu_milli;
		ram_bytes = node->ram_bytes < ram_bytes ? node->ram_bytes : ram_bytes;
	}
	if (gpus == 0)
		return;
	request->workers = 0;
	if (request->gpus_mgpu > gpus * TL_MGPU_PER_GPU)
		request->gpus_mgpu = gpus * TL_MGPU_PER_GPU;
	int64_t largest_mgpu = (int64_t)shapes->cluster->largest_node_gpus * TL_MGPU_PER_GPU;
	int64_t workers = (request->gpus_mgpu + largest_mgpu - 1) / largest_mgpu;

	if (workers < 1)
		workers = 1;
	if (request->cpu_milli > cpu_milli * workers)
		request->cpu_milli = cpu_milli * workers;
	if (request->ram_bytes > ram_bytes * workers)
		request->ram_bytes = ram_bytes * workers;
}

static void rehash(struct tl_shapes *shapes)
{
	free(shapes->table);
	shapes->table_size *= 2;
	shapes->table = tl_calloc(shapes->table_size, sizeof(*shapes->table));
	for (size_t i = 0; i < shapes->count; i++) {
		const struct tl_shape_entry *entry = shapes->entries[i];
		size_t slot = hash_of(&entry->request, entry->clamp) & (shapes->table_size - 1);

		while (shapes->table[slot] != 0)
			slot = (slot + 1) & (shapes->table_size - 1);
		shapes->table[slot] = (uint32_t)i + 1;
	}
}

struct tl_shape *tl_shapes_intern(struct tl_shapes *shapes, const struct tl_request *request,
                                  bool clamp)
{
	size_t slot = hash_of(request, clamp) & (shapes->table_size - 1);

	for (; shapes->table[slot] != 0; slot = (slot + 1) & (shapes->table_size - 1)) {
		struct tl_shape_entry *entry = shapes->entries[shapes->table[slot] - 1];

		if (entry->clamp == clamp && same(&entry->request, request))
			return &entry->shape;
	}
	struct tl_shape_entry *entry = tl_calloc(1, sizeof(*entry));

	entry->request = *request;
	entry->clamp = clamp;
	entry->shape.id = (uint32_t)shapes->count;
	bool valid = shape_of(shapes, request, &entry->shape);

	entry->feasible = valid && tl_cluster_could_fit(shapes->cluster, &entry->shape);
	if (clamp && !entry->feasible) {
		struct tl_request cut = *request;

		clamp_request(shapes, &cut);
		entry->shape = (struct tl_shape){.id = (uint32_t)shapes->count};
		valid = shape_of(shapes, &cut, &entry->shape);
		entry->feasible = valid && tl_cluster_could_fit(shapes->cluster, &entry->shape);
	}
	if (!valid) { /* no shape: ids stay dense, a policy never sees it */
		free(entry);
		return NULL;
	}
	shapes->entries = tl_grow(shapes->entries, &shapes->capacity, shapes->count + 1,
	                          sizeof(*shapes->entries));
	shapes->entries[shapes->count++] = entry;
	shapes->table[slot] = (uint32_t)shapes->count;
	if (shapes->count * 2 > shapes->table_size)
		rehash(shapes);
	return &entry->shape;
}

bool tl_shapes_feasible(const struct tl_shapes *shapes, const struct tl_shape *shape)
{
	return shapes->entries[shape->id]->feasible;
}

const struct tl_shape *tl_shapes_at(const struct tl_shapes *shapes, uint32_t id)
{
	if (id >= shapes->count)
		return NULL;
	return &shapes->entries[id]->shape;
}
