/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/abi/suite.h"

#include "sim/base/units.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- modules ---- */

static struct tl_suite_module modules[TL_SUITE_MODULES];
static size_t module_count;

static void add_folder(const char *folder)
{
	DIR *open = opendir(folder);

	for (struct dirent *entry; open && (entry = readdir(open));) {
		size_t length = strlen(entry->d_name);
		struct tl_suite_module *module = &modules[module_count];

		if (length < 4 || length >= TL_MOCK_TEXT ||
		    strcmp(entry->d_name + length - 3, ".so") != 0 ||
		    module_count == TL_SUITE_MODULES)
			continue;
		if (snprintf(module->path, sizeof module->path, "%s/%s", folder, entry->d_name) >=
		    (int)sizeof module->path)
			continue;
		memcpy(module->name, entry->d_name, length - 3);
		module_count++;
	}
	if (open)
		(void)closedir(open);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct tl_suite_module *)a)->name,
	              ((const struct tl_suite_module *)b)->name);
}

static void find_folder(char *out, size_t size)
{
	const char *given = getenv("TIDELAB_POLICIES");
	ssize_t length;

	if (given) {
		(void)snprintf(out, size, "%s", given);
		return;
	}
	length = readlink("/proc/self/exe", out, size - 1);
	out[length > 0 ? length : 0] = '\0';
	/* …/tests/abi → …/policies */
	for (int up = 0; up < 2; up++)
		if (strrchr(out, '/'))
			*strrchr(out, '/') = '\0';
	(void)strncat(out, "/policies", size - strlen(out) - 1);
}

const struct tl_suite_module *tl_suite_modules(size_t *count)
{
	char folder[TL_SUITE_PATH / 2], more[TL_SUITE_PATH];
	const char *path = getenv("TIDELAB_POLICY_PATH");

	if (module_count == 0) {
		find_folder(folder, sizeof folder);
		(void)snprintf(more, sizeof more, "%s/examples", folder);
		add_folder(folder);
		add_folder(more);
		for (; path && *path; path += strspn(path, ":")) {
			(void)snprintf(more, sizeof more, "%.*s", (int)strcspn(path, ":"), path);
			add_folder(more);
			path += strcspn(path, ":");
		}
		qsort(modules, module_count, sizeof modules[0], by_name);
		for (size_t m = 0; m < module_count; m++) {
			void *handle = dlopen(modules[m].path, RTLD_NOW | RTLD_LOCAL);

			modules[m].module = handle ? dlsym(handle, TL_MODULE_SYMBOL) : NULL;
		}
	}
	*count = module_count;
	return modules;
}

const struct tl_module *tl_suite_find(enum tl_seat_kind seat, const char *name)
{
	size_t count;

	(void)tl_suite_modules(&count);
	for (size_t m = 0; m < count; m++)
		if (modules[m].module && modules[m].module->seat == seat &&
		    strcmp(modules[m].name, name) == 0)
			return modules[m].module;
	cr_assert_fail("no module `%s`", name);
	return NULL;
}

/* ---- worlds ---- */

uint32_t tl_world_below(struct tl_world *world, uint32_t n)
{
	return (uint32_t)tl_rng_below(&world->rng, n);
}

void tl_world_init(struct tl_world *world, uint64_t seed, uint32_t nodes, uint32_t max_gpus)
{
	memset(world, 0, sizeof *world);
	tl_rng_init(&world->rng, seed, TL_STREAM_TEST, 0);
	for (uint32_t m = 0; m < 3; m++) {
		world->models[m].name[0] = (char)('a' + m);
		world->models[m].memory_bytes = m == 2 ? -1 : (int64_t)(m + 1) * 16 * TL_GIB;
	}
	for (uint32_t n = 0; n < nodes; n++) {
		uint32_t gpus = tl_world_below(world, 8) ? 1 + tl_world_below(world, max_gpus) : 0;

		world->nodes[n] = (struct tl_node_spec){
		    .gpus = gpus,
		    .model = gpus ? tl_world_below(world, 3) : TL_NO_INDEX,
		    .cpu_milli = 1000 * (8 + (int64_t)tl_world_below(world, 56)),
		    .ram_bytes = TL_GIB * (32 + (int64_t)tl_world_below(world, 96)),
		    .rack = n / 3,
		    .leaf = n / 6,
		    .pod = n / 12};
	}
	world->spec = (struct tl_cluster_spec){
	    .models = world->models, .model_count = 3, .nodes = world->nodes, .node_count = nodes};
	tl_mock_init(&world->mock, &world->spec);
}

void tl_world_fini(struct tl_world *world)
{
	tl_mock_fini(&world->mock);
	free(world->held);
}

static struct tl_worker random_worker(struct tl_world *world, uint32_t gpus, int32_t share)
{
	struct tl_worker worker;

	memset(&worker, 0, sizeof worker);
	worker.gpus = tl_world_below(world, 8) ? 1 + tl_world_below(world, gpus) : 0;
	worker.share_mgpu = worker.gpus ? share : 0;
	if (worker.gpus)
		worker.gpu_memory_bytes = TL_GIB * ((int64_t)tl_world_below(world, 20) - 1);
	if (worker.gpu_memory_bytes < 0)
		worker.gpu_memory_bytes = -1;
	worker.cpu_milli = 1000 * (int64_t)tl_world_below(world, 12);
	worker.ram_bytes = TL_GIB * (int64_t)tl_world_below(world, 24);
	return worker;
}

const struct tl_shape *tl_world_shape(struct tl_world *world, uint32_t workers, uint32_t gpus)
{
	int32_t share =
	    tl_world_below(world, 2) ? 1000 : 10 * (1 + (int32_t)tl_world_below(world, 99));
	struct tl_shape like = {
	    .workers = tl_world_below(world, 2) ? 1 : 1 + tl_world_below(world, workers),
	    .model_mask = UINT64_MAX,
	    .expected_count = tl_world_below(world, 50)};
	uint32_t number;

	like.full = random_worker(world, gpus, share);
	like.last = like.full;
	/* Most gangs are alike; some end in a smaller worker, some in a quite different one. */
	if (like.workers > 1 && tl_world_below(world, 2))
		like.last = random_worker(world, like.full.gpus ? like.full.gpus : 1, share);
	if (like.workers > 1 && !tl_world_below(world, 6))
		like.last = random_worker(world, gpus, 100 + (int32_t)tl_world_below(world, 900));
	if (!tl_world_below(world, 4)) /* work without GPUs may be bound to a pool */
		like.model_mask = 1 + tl_world_below(world, 7);
	number = tl_mock_shape(&world->mock, &like);
	return world->mock.shapes[number];
}

/* Where a random placement lands: anywhere; most are refused. */
static void random_placement(struct tl_world *world, const struct tl_shape *shape,
                             struct tl_placement *where)
{
	uint32_t next = 0;

	for (uint32_t w = 0; w < shape->workers; w++) {
		uint32_t gpus = w + 1 < shape->workers ? shape->full.gpus : shape->last.gpus;
		uint32_t number = tl_world_below(world, (uint32_t)world->spec.node_count);
		const struct tl_node_view *node = &world->mock.cluster.nodes[number];
		uint32_t start = node->gpu_count ? tl_world_below(world, node->gpu_count) : 0;

		where->nodes[w] = number;
		for (uint32_t i = 0; i < gpus; i++)
			where->gpus[next++] =
			    node->gpu_count ? node->first_gpu + (start + i) % node->gpu_count : 0;
	}
	where->worker_count = shape->workers;
	where->gpu_count = shape->gpus;
}

void tl_world_fill(struct tl_world *world, uint32_t tries)
{
	uint32_t nodes[TL_SUITE_WORKERS], gpus[TL_SUITE_GPUS];
	struct tl_placement where = {.nodes = nodes, .gpus = gpus};

	world->held = tl_realloc_array(world->held, world->held_count + tries, sizeof *world->held);
	for (uint32_t t = 0; t < tries; t++) {
		const struct tl_shape *shape = tl_world_shape(world, 2, 4);
		tl_job_id id;

		random_placement(world, shape, &where);
		if (tl_cluster_check(&world->mock.cluster, shape, &where) != TL_ACCEPTED)
			continue;
		id = tl_mock_job(&world->mock, &(struct tl_job_view){.shape = shape->id,
		                                                     .flags = TL_JOB_PREEMPTIBLE});
		if (world->mock.host.start(&world->mock.host, id, &where) == TL_ACCEPTED)
			world->held[world->held_count++] = id;
	}
	for (uint32_t n = 0; n < world->spec.node_count; n++) {
		const struct tl_node_view *node = &world->mock.cluster.nodes[n];

		if (tl_world_below(world, 12) == 0)
			tl_cluster_set_node_state(&world->mock.cluster, n, TL_NODE_CORDONED);
		if (tl_world_below(world, 24) == 0 &&
		    node->free_cpu_milli == node->total_cpu_milli &&
		    node->free_ram_bytes == node->total_ram_bytes &&
		    node->free_mgpu == (int64_t)node->gpu_count * 1000)
			tl_cluster_set_node_state(&world->mock.cluster, n, TL_NODE_DOWN);
	}
}

/* ---- plain readings ---- */

static const struct tl_worker *worker_at(const struct tl_shape *shape, uint32_t w)
{
	return w == shape->workers - 1 ? &shape->last : &shape->full;
}

static bool card_ok(const struct tl_gpu_view *gpu, const struct tl_worker *worker)
{
	if (gpu->free_mgpu < worker->share_mgpu)
		return false;
	return worker->gpu_memory_bytes <= 0 || gpu->total_memory_bytes < 0 ||
	       gpu->free_memory_bytes >= worker->gpu_memory_bytes;
}

static bool node_ok(const struct tl_node_view *node, const struct tl_shape *shape)
{
	return node->state == TL_NODE_UP &&
	       (shape->model_mask == UINT64_MAX ||
	        (node->model < 64 && (shape->model_mask >> node->model & 1)));
}

const char *tl_suite_wrong(const struct tl_view *view, const struct tl_shape *shape,
                           const struct tl_placement *where)
{
	uint32_t next = 0;

	if (where->worker_count != shape->workers || where->gpu_count != shape->gpus)
		return "wrong number of workers or GPUs";
	for (uint32_t w = 0; w < shape->workers; w++) {
		const struct tl_worker *worker = worker_at(shape, w);
		const struct tl_node_view *node;
		int64_t cpu = 0, ram = 0;

		if (where->nodes[w] >= view->node_count)
			return "no such node";
		node = tl_view_node(view, where->nodes[w]);
		if (!node_ok(node, shape))
			return "node not up, or of a model that will not do";
		for (uint32_t v = 0; v < shape->workers; v++) {
			cpu +=
			    where->nodes[v] == where->nodes[w] ? worker_at(shape, v)->cpu_milli : 0;
			ram +=
			    where->nodes[v] == where->nodes[w] ? worker_at(shape, v)->ram_bytes : 0;
		}
		if (cpu > node->free_cpu_milli || ram > node->free_ram_bytes)
			return "not so much CPU or RAM is free";
		for (uint32_t i = 0; i < worker->gpus; i++, next++) {
			if (where->gpus[next] < node->first_gpu ||
			    where->gpus[next] >= node->first_gpu + node->gpu_count)
				return "GPU not on the node";
			if (!card_ok(tl_view_gpu(view, where->gpus[next]), worker))
				return "not so much of the GPU is free";
			for (uint32_t j = 0; j < next; j++)
				if (where->gpus[j] == where->gpus[next])
					return "a GPU twice";
		}
	}
	return NULL;
}

struct search {
	const struct tl_view *view;
	const struct tl_shape *shape;
	int64_t cpu[TL_SUITE_NODES], ram[TL_SUITE_NODES];
	bool used[TL_SUITE_GPUS];
};

static bool place_from(struct search *search, uint32_t worker, uint32_t first_node);

/* Every way to choose the worker's remaining cards from number `gpu` on. */
static bool choose_cards(struct search *search, uint32_t worker, uint32_t node, uint32_t gpu,
                         uint32_t wanted)
{
	const struct tl_node_view *at = tl_view_node(search->view, node);

	if (wanted == 0)
		return place_from(search, worker + 1, node);
	for (; gpu < at->first_gpu + at->gpu_count; gpu++) {
		bool found;

		if (search->used[gpu] ||
		    !card_ok(tl_view_gpu(search->view, gpu), worker_at(search->shape, worker)))
			continue;
		search->used[gpu] = true;
		found = choose_cards(search, worker, node, gpu + 1, wanted - 1);
		search->used[gpu] = false;
		if (found)
			return true;
	}
	return false;
}

static bool place_from(struct search *search, uint32_t worker, uint32_t first_node)
{
	const struct tl_worker *asks;

	if (worker == search->shape->workers)
		return true;
	asks = worker_at(search->shape, worker);
	/* Full workers are alike: their order does not matter. */
	if (worker == 0 || worker == search->shape->workers - 1)
		first_node = 0;
	for (uint32_t n = first_node; n < search->view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(search->view, n);
		bool found;

		if (!node_ok(node, search->shape) || search->cpu[n] < asks->cpu_milli ||
		    search->ram[n] < asks->ram_bytes)
			continue;
		search->cpu[n] -= asks->cpu_milli;
		search->ram[n] -= asks->ram_bytes;
		found = choose_cards(search, worker, n, node->first_gpu, asks->gpus);
		search->cpu[n] += asks->cpu_milli;
		search->ram[n] += asks->ram_bytes;
		if (found)
			return true;
	}
	return false;
}

bool tl_suite_fits(const struct tl_view *view, const struct tl_shape *shape)
{
	struct search search = {.view = view, .shape = shape};

	for (uint32_t n = 0; n < view->node_count; n++) {
		search.cpu[n] = tl_view_node(view, n)->free_cpu_milli;
		search.ram[n] = tl_view_node(view, n)->free_ram_bytes;
	}
	return place_from(&search, 0, 0);
}
