/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * By the dot product of what is free on the node and what the job asks, (CPU, GPU shares)
 * over the largest node's. Tetris (Grandl et al., SIGCOMM 2014) takes the largest: demand
 * goes where it is aligned with what is free. The baseline of that name in the comparison
 * with FGD (Weng et al., ATC 2023) takes the least. O(nodes + their GPUs).
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { OPTION_PREFER, OPTION_TIES, OPTION_COUNT };
enum { PREFER_LEAST, PREFER_MOST };
enum { SCALE = 1000000000 };

struct dot_product {
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct tl_fit_largest largest;
	int64_t prefer;
};

static int64_t score(void *self, const struct tl_candidate *at)
{
	const struct dot_product *own = self;
	double cpu = (double)own->largest.cpu_milli, gpu = (double)own->largest.mgpu;
	double demand_mgpu = (double)at->worker->gpus * at->worker->share_mgpu;
	double product =
	    (double)at->node->free_cpu_milli / cpu * ((double)at->worker->cpu_milli / cpu) +
	    (double)at->node->free_mgpu / gpu * (demand_mgpu / gpu);
	int64_t scaled = (int64_t)(product * SCALE);

	return own->prefer == PREFER_MOST ? scaled : -scaled;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct dot_product *own = self;

	own->largest = tl_fit_largest(view);
	return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct dot_product *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->placer.host = host;
	own->prefer = with->options[OPTION_PREFER].i;
	own->rule = (struct tl_place_rule){
	    .score = score, .self = own, .ties = (enum tl_ties)with->options[OPTION_TIES].i};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_PREFER] = {.name = "prefer",
                       .type = TL_OPTION_CHOICE,
                       .unit = "",
                       .standard = "least",
                       .choices = "least|most",
                       .help = "the least product packs tightly; the most follows Tetris and "
                               "spreads"},
    [OPTION_TIES] = TL_TIES_OPTION("first"),
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "dot-product",
    .version = "1.0",
    .summary = "by the dot product of what is free and what is asked",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
