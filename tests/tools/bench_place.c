/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Static packing by one place module: openb's pods in shuffled order, drawn again with
 * replacement past the list's end until 130 % of the GPUs have been asked for, onto openb's
 * GPU nodes; nothing ever departs. Prints what share of the GPUs was allocated once 100 %
 * had been asked for, the fragmentation at 90 %, and the time of a choice.
 *
 *   bench_place NODES.csv PODS.csv MODULE.so [SEED] [OPTION=CHOICE …]
 */
#include "policies/lib/fragmentation.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
	LINE = 512,
	NODES_MAX = 4096,
	PODS_MAX = 16384,
	SHAPES_MAX = 1024,
	OPTIONS_MAX = 16,
	CARDS = 64
};

static struct tl_cluster_spec spec;
static struct tl_cluster cluster;
static struct tl_shape shapes[SHAPES_MAX];
static uint32_t shape_count, pods[PODS_MAX], pod_count;
static struct tl_arena arena;

static const struct tl_view *host_view(const struct tl_host *host)
{
	(void)host;
	return &cluster.view;
}

static const struct tl_shape *host_shape(const struct tl_host *host, uint32_t shape)
{
	(void)host;
	return shape < shape_count ? &shapes[shape] : NULL;
}

static uint32_t host_shape_count(const struct tl_host *host)
{
	(void)host;
	return shape_count;
}

static void *host_alloc(const struct tl_host *host, size_t size)
{
	(void)host;
	return tl_arena_alloc(&arena, size);
}

static const tl_job_id *host_gpu_jobs(const struct tl_host *host, uint32_t gpu, uint32_t *count)
{
	(void)host;
	return tl_cluster_gpu_jobs(&cluster, gpu, count);
}

/* A job's id is its shape + 1 and a serial number: enough to know what sits where. */
static const struct tl_job_view *host_job(const struct tl_host *host, tl_job_id id)
{
	static struct tl_job_view job;

	(void)host;
	job.shape = (uint32_t)(id & UINT32_MAX) - 1;
	return &job;
}

static const struct tl_host host = {.struct_size = sizeof host,
                                    .abi_minor = TL_ABI_MINOR,
                                    .view = host_view,
                                    .shape = host_shape,
                                    .shape_count = host_shape_count,
                                    .gpu_jobs = host_gpu_jobs,
                                    .job = host_job,
                                    .alloc = host_alloc};

static FILE *open_csv(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[LINE];

	if (!file || !fgets(line, sizeof line, file)) {
		(void)fprintf(stderr, "bench_place: cannot read %s\n", path);
		exit(66);
	}
	return file;
}

static void read_nodes(const char *path)
{
	FILE *file = open_csv(path);
	char line[LINE], model[TL_MODEL_NAME_MAX];
	long long cpu, memory;
	unsigned gpus;

	spec.nodes = tl_calloc(NODES_MAX, sizeof *spec.nodes);
	while (fgets(line, sizeof line, file) && spec.node_count < NODES_MAX) {
		struct tl_node_spec *node = &spec.nodes[spec.node_count++];

		if (sscanf(line, "%*[^,],%lld,%lld,%u,%31[^\r\n]", &cpu, &memory, &gpus, model) < 4)
			exit(65);
		*node = (struct tl_node_spec){
		    .gpus = gpus, .cpu_milli = cpu, .ram_bytes = memory * TL_MIB};
		if (tl_cluster_spec_model(&spec, model, "", tl_gpu_model_memory(model),
		                          &node->model, NULL))
			exit(78);
	}
	(void)fclose(file);
}

/* A|B: those models; empty: any. */
static uint64_t mask_of(char *models)
{
	uint64_t mask = 0;

	for (char *at = strtok(models, "|"); at; at = strtok(NULL, "|"))
		for (size_t m = 0; m < spec.model_count; m++)
			if (strcmp(spec.models[m].name, at) == 0)
				mask |= UINT64_C(1) << m;
	return mask;
}

static uint32_t intern(struct tl_worker worker, uint64_t mask)
{
	uint32_t s = 0;

	while (s < shape_count && (memcmp(&shapes[s].last, &worker, sizeof worker) != 0 ||
	                           shapes[s].model_mask != mask))
		s++;
	if (s == shape_count)
		shapes[shape_count++] =
		    (struct tl_shape){.id = s,
		                      .workers = 1,
		                      .full = worker,
		                      .last = worker,
		                      .gpus = worker.gpus,
		                      .model_mask = mask,
		                      .total_mgpu = (int64_t)worker.gpus * worker.share_mgpu};
	return s;
}

static void read_pods(const char *path)
{
	FILE *file = open_csv(path);
	char line[LINE];
	long long cpu, memory;
	unsigned gpus;
	int share;

	while (fgets(line, sizeof line, file) && pod_count < PODS_MAX) {
		char models[LINE] = "";
		struct tl_worker worker;

		if (sscanf(line, "%*[^,],%lld,%lld,%u,%d,%511[^,]", &cpu, &memory, &gpus, &share,
		           models) < 4)
			exit(65);
		memset(&worker, 0, sizeof worker);
		worker.gpus = gpus;
		worker.share_mgpu = gpus > 0 ? share : 0;
		worker.cpu_milli = cpu;
		worker.ram_bytes = memory * TL_MIB;
		pods[pod_count++] =
		    intern(worker, gpus > 0 && models[0] ? mask_of(models) : UINT64_MAX);
	}
	(void)fclose(file);
}

/* The order of arrival: shuffled, then drawn with replacement. Also the counts. */
static uint32_t *make_order(uint64_t seed, uint32_t *length)
{
	uint32_t room = PODS_MAX, *order = tl_calloc(room, sizeof *order);
	struct tl_rng rng;
	int64_t asked = 0;

	tl_rng_init(&rng, seed, TL_STREAM_SHUFFLE, 0);
	for (uint32_t i = 0; i < pod_count; i++) {
		uint32_t j = (uint32_t)tl_rng_below(&rng, i + 1);

		order[i] = order[j];
		order[j] = pods[i];
	}
	*length = 0;
	while (*length < room && asked * 10 < cluster.view.capacity_mgpu * 13) {
		if (*length >= pod_count)
			order[*length] = pods[tl_rng_below(&rng, pod_count)];
		asked += shapes[order[*length]].total_mgpu;
		shapes[order[*length]].expected_count++;
		(*length)++;
	}
	return order;
}

static void set_options(const struct tl_module *module, struct tl_option_value *values,
                        char **given, int count)
{
	for (uint32_t o = 0; o < module->option_count; o++) {
		const struct tl_option *option = &module->options[o];
		const char *wanted = option->standard;
		const char *at = option->choices;

		for (int i = 0; i < count; i++)
			if (strncmp(given[i], option->name, strlen(option->name)) == 0)
				wanted = strchr(given[i], '=') + 1;
		if (option->type == TL_OPTION_SIZE)
			(void)tl_parse_size(wanted, &values[o].i, NULL);
		for (; at && strncmp(at, wanted, strcspn(at, "|")) != 0; values[o].i++)
			at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL;
	}
}

static double seconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double fragmentation_pct(void)
{
	static struct tl_frag_task tasks[2 * SHAPES_MAX];
	struct tl_fragmentation *frag = tl_calloc(1, sizeof *frag);
	size_t length = 0;
	int64_t sum = 0;

	for (uint32_t s = 0; s < shape_count; s++)
		length = tl_frag_add_shape(tasks, length, &shapes[s], shapes[s].expected_count);
	tl_frag_build(frag, tasks, length);
	for (uint32_t n = 0; n < cluster.view.node_count; n++)
		sum += tl_frag_mgpu(frag, &cluster.view, &cluster.nodes[n]);
	free(frag);
	return 100.0 * (double)sum / (double)cluster.view.capacity_mgpu;
}

static void pack(const struct tl_place_ops *ops, void *self, const uint32_t *order, uint32_t length)
{
	double spent = 0, fragmented = -1, allocated = -1;
	double capacity = (double)cluster.view.capacity_mgpu;
	int64_t asked = 0;

	for (uint32_t i = 0; i < length; i++) {
		const struct tl_shape *shape = &shapes[order[i]];
		uint32_t node, cards[CARDS];
		struct tl_placement where = {
		    .nodes = &node, .gpus = cards, .worker_room = 1, .gpu_room = CARDS};
		double start = seconds();
		int found = ops->choose(self, &cluster.view, shape, &where);

		spent += seconds() - start;
		if (found)
			tl_cluster_take(&cluster, (uint64_t)(i + 1) << 32 | (order[i] + 1), shape,
			                &(struct tl_alloc){&node, cards, 1, shape->gpus});
		asked += shape->total_mgpu;
		if (fragmented < 0 && (double)asked >= 0.9 * capacity)
			fragmented = fragmentation_pct();
		if (allocated < 0 && (double)asked >= capacity)
			allocated = 100.0 * (double)cluster.allocated_mgpu / capacity;
	}
	(void)printf(
	    "allocated %.2f %% at 100 %% asked, %.2f %% at the end; fragmented %.2f %% at 90 %%; "
	    "%u choices, %.3f s, %.2f us each\n",
	    allocated, 100.0 * (double)cluster.allocated_mgpu / capacity, fragmented, length, spent,
	    1e6 * spent / length);
}

int main(int argc, char **argv)
{
	struct tl_option_value values[OPTIONS_MAX] = {0};
	char why[LINE] = "";
	struct tl_create with = {
	    .struct_size = sizeof with, .options = values, .error = why, .error_size = sizeof why};
	const struct tl_module *module;
	void *self = NULL, *library;
	uint32_t *order, length;

	if (argc < 4) {
		(void)fprintf(
		    stderr,
		    "usage: bench_place NODES.csv PODS.csv MODULE.so [SEED] [OPTION=CHOICE ...]\n");
		return 64;
	}
	library = dlopen(argv[3], RTLD_NOW | RTLD_LOCAL);
	module = library ? dlsym(library, TL_MODULE_SYMBOL) : NULL;
	if (!module || module->seat != TL_SEAT_PLACE) {
		(void)fprintf(stderr, "bench_place: %s is no place module\n", argv[3]);
		return 69;
	}
	read_nodes(argv[1]);
	read_pods(argv[2]);
	if (tl_cluster_init(&cluster, &spec, NULL) != TL_OK)
		return 78;
	tl_arena_init(&arena);
	order = make_order(argc > 4 ? strtoull(argv[4], NULL, 10) : 1, &length);
	set_options(module, values, argv + 5, argc > 5 ? argc - 5 : 0);
	if (module->create(&host, &with, &self) != 0) {
		(void)fprintf(stderr, "bench_place: %s\n", why);
		return 69;
	}
	pack(module->ops, self, order, length);
	free(order);
	tl_arena_fini(&arena);
	tl_cluster_fini(&cluster);
	tl_cluster_spec_fini(&spec);
	return 0;
}
