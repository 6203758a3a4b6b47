/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The node with the least left after the job: the mean of what is left of CPU and GPU
 * shares (of RAM too, if asked), each over the largest node's, least wins; on the node the
 * card with the least left. Defaults as in the published comparison with FGD (Weng et al.,
 * ATC 2023): CPU and GPU, whole points, ties to the first node. O(nodes + their GPUs).
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { OPTION_DIMENSIONS, OPTION_GRAIN, OPTION_TIES, OPTION_COUNT };
enum { DIMENSIONS_CPU_GPU, DIMENSIONS_GPU, DIMENSIONS_CPU_GPU_RAM };
enum { GRAIN_POINTS, GRAIN_EXACT };
enum { PPB = 1000000000, POINTS = 100, MIB_SHIFT = 20 };

struct best_fit {
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct tl_fit_largest largest;
	int64_t dimensions, grain;
};

static int64_t ppb(int64_t part, int64_t whole)
{
	return part * PPB / (whole > 0 ? whole : 1);
}

static int64_t score(void *self, const struct tl_candidate *at)
{
	const struct best_fit *own = self;
	const struct tl_worker *worker = at->worker;
	const struct tl_node_view *node = at->node;
	int64_t gpu =
	    ppb(node->free_mgpu - (int64_t)worker->gpus * worker->share_mgpu, own->largest.mgpu);
	int64_t cpu = ppb(node->free_cpu_milli - worker->cpu_milli, own->largest.cpu_milli);
	int64_t ram = ppb((node->free_ram_bytes - worker->ram_bytes) >> MIB_SHIFT,
	                  own->largest.ram_bytes >> MIB_SHIFT);
	int64_t left = (cpu + gpu) / 2;

	if (own->dimensions == DIMENSIONS_GPU)
		left = gpu;
	else if (own->dimensions == DIMENSIONS_CPU_GPU_RAM)
		left = (cpu + gpu + ram) / 3;
	return own->grain == GRAIN_EXACT ? PPB - left : (PPB - left) * POINTS / PPB;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct best_fit *own = self;

	own->largest = tl_fit_largest(view);
	return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct best_fit *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->placer.host = host;
	own->dimensions = with->options[OPTION_DIMENSIONS].i;
	own->grain = with->options[OPTION_GRAIN].i;
	own->rule = (struct tl_place_rule){
	    .score = score, .self = own, .ties = (enum tl_ties)with->options[OPTION_TIES].i};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_DIMENSIONS] = {.name = "dimensions",
                           .type = TL_OPTION_CHOICE,
                           .unit = "",
                           .standard = "cpu+gpu",
                           .choices = "cpu+gpu|gpu|cpu+gpu+ram",
                           .help = "what is measured of what is left; `gpu` alone leaves nodes "
                                   "with GPUs but no CPU"},
    [OPTION_GRAIN] = {.name = "grain",
                      .type = TL_OPTION_CHOICE,
                      .unit = "",
                      .standard = "points",
                      .choices = "points|exact",
                      .help = "scores as whole points 0 to 100, as published, with many ties; or "
                              "exactly, where ties are rare"},
    [OPTION_TIES] = TL_TIES_OPTION("first"),
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "best-fit",
    .version = "1.0",
    .summary = "the node that has least left afterwards",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
