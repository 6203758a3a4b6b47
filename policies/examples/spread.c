/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A place policy in one file: keep jobs apart. Each goes to the node with the fewest jobs
 * on its GPUs, so that one lost node hurts few of them. See policies/README.md.
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

/* One instance: no globals, so that two can live in one process. */
struct spread {
	struct tl_placer placer;
	struct tl_place_rule rule;
	int64_t weight;
};

/* How good a node is for one worker that fits it: higher is better. */
static int64_t score(void *self, const struct tl_candidate *at)
{
	const struct spread *spread = self;
	int64_t residents = 0;

	for (uint32_t g = 0; g < at->node->gpu_count; g++)
		residents += tl_view_gpu(at->view, at->node->first_gpu + g)->residents;
	return at->node->free_gpus - spread->weight * residents;
}

/* Pure: a function of the view and the shape. The library sees to gangs and to ties. */
static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct spread *spread = self;

	return tl_place_by_score(&spread->placer, &spread->rule, view, shape, out);
}

enum { OPTION_WEIGHT, OPTION_COUNT }; /* rows of the table below */

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct spread *spread;

	if (tl_module_instance(host, with, sizeof *spread, self) != 0)
		return -1;
	spread = *self;
	spread->placer.host = host;
	spread->weight = with->options[OPTION_WEIGHT].i;
	spread->rule =
	    (struct tl_place_rule){.score = score, .self = spread, .ties = TL_TIES_FIRST};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_WEIGHT] = {.name = "weight",
                       .type = TL_OPTION_INT,
                       .unit = "free GPUs",
                       .standard = "2",
                       .min = 0,
                       .max = 1000,
                       .help = "free GPUs that one job less is worth; at 0 only free GPUs count"},
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),         .name = "spread",   .version = "1.0",
    .summary = "example: keep jobs apart", .options = options, .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],    .create = create,   .ops = &ops,
};
