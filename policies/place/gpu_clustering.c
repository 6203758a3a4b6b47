/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Like with like: a node that holds only work of the same kind (shares of a card; or so many
 * whole cards a worker), then one that holds such work among other, then an idle one, then
 * any; within each, the node with the least left. The baseline of that name in Weng et al.,
 * ATC 2023. O(nodes + their GPUs), and a look at the residents of nodes that changed.
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

enum { OPTION_TIES, OPTION_COUNT };
enum { KIND_SHARE = 0, KIND_LAST = 31, RANK_SHIFT = 32 };

/* The kinds of work on a node, as far as a version tells. */
struct seen {
	uint64_t version;
	uint32_t kinds; /* bit per kind */
	uint32_t known;
};

struct gpu_clustering {
	const struct tl_host *host;
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct seen *seen; /* a node */
	uint32_t node_room;
};

/* A share of a card, or so many whole cards a worker. */
static uint32_t kind_of(const struct tl_worker *worker)
{
	if (worker->share_mgpu < TL_FIT_WHOLE_MGPU)
		return KIND_SHARE;
	return worker->gpus < KIND_LAST ? worker->gpus : KIND_LAST;
}

static uint32_t kinds_on_gpu(const struct tl_host *host, uint32_t gpu)
{
	uint32_t count = 0, kinds = 0;
	const tl_job_id *jobs = host->gpu_jobs(host, gpu, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = host->job(host, jobs[i]);
		const struct tl_shape *shape = job ? host->shape(host, job->shape) : NULL;

		if (shape)
			kinds |= UINT32_C(1) << kind_of(tl_fit_worker(shape, 0));
	}
	return kinds;
}

/* A hypothetical view tells how many are on a card, not who: those who are there now. Such
 * an answer is not kept. */
static uint32_t kinds_on(struct gpu_clustering *own, const struct tl_candidate *at)
{
	struct seen *seen = &own->seen[at->number];
	uint32_t kinds = 0;

	if (seen->known && seen->version == at->node->version)
		return seen->kinds;
	for (uint32_t g = at->node->first_gpu; g < at->node->first_gpu + at->node->gpu_count; g++)
		if (tl_view_gpu(at->view, g)->residents > 0)
			kinds |= kinds_on_gpu(own->host, g);
	if (!(at->node->version & TL_SCRATCH_VERSION))
		*seen = (struct seen){at->node->version, kinds, 1};
	return kinds;
}

static int64_t score(void *self, const struct tl_candidate *at)
{
	struct gpu_clustering *own = self;
	uint32_t kinds, same;
	int64_t rank;

	if (at->worker->gpus == 0)
		return 0;
	kinds = kinds_on(own, at);
	same = kinds & UINT32_C(1) << kind_of(at->worker);
	if (same)
		rank = kinds == same ? 3 : 2;
	else
		rank = kinds == 0 ? 1 : 0;
	return rank * (INT64_C(1) << RANK_SHIFT) - at->node->free_mgpu;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct gpu_clustering *own = self;

	if (view->node_count > own->node_room) {
		own->node_room = 0;
		own->seen = own->host->alloc(own->host, view->node_count * sizeof *own->seen);
		if (!own->seen)
			return 0;
		own->node_room = view->node_count;
	}
	return tl_place_by_score(&own->placer, &own->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	struct gpu_clustering *own;

	if (tl_module_instance(host, with, sizeof *own, self) != 0)
		return -1;
	own = *self;
	own->host = host;
	own->placer.host = host;
	own->rule = (struct tl_place_rule){
	    .score = score, .self = own, .ties = (enum tl_ties)with->options[OPTION_TIES].i};
	return 0;
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_TIES] = TL_TIES_OPTION("first"),
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "gpu-clustering",
    .version = "1.0",
    .summary = "work of the same GPU request together",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
