/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Gathers what is free: empties partly used nodes into others that are partly used, and brings
 * gangs that are spread over racks into one.
 *
 * A move costs (save + start) × GPUs. To empty a node costs the sum over its jobs, and gains
 * its GPUs as a whole node; to gather a gang gains the gang's GPUs. Either is done where the
 * cost is at most the gain × `worth`: the node that is cheapest a GPU first, whose jobs must
 * all find room, then gangs in order of submission. Who ends before it would be back stays
 * where it is. At most `moves` jobs a round; a node is emptied whole or not begun.
 *
 * Cost of a round: O(nodes² + moves × nodes × jobs of a node), and for each gang that is spread
 * O(racks × workers × nodes).
 */
#include "policies/lib/module.h"
#include "policies/lib/place.h"

#include <string.h>

enum { OPTION_WORTH, OPTION_MOVES, OPTION_GANGS, OPTION_SERVICES, OPTION_COUNT };
enum { FIRST_ROOM = 64 };

struct move {
	tl_job_id job;
	uint32_t first_gpu; /* in the plan's list */
	uint32_t node;
};

/* A node to be emptied. */
struct source {
	double cost; /* per GPU gained, in ns */
	uint32_t node;
	int tried;
};

struct compact {
	const struct tl_host *host;
	int64_t worth_ns;
	uint32_t moves;
	int gangs, services;
	int64_t round_ns;
	uint32_t left; /* of this round's moves */
	struct move *plan;
	uint32_t plan_room, plan_count, plan_next;
	struct source *sources;
	uint32_t source_room;
	uint32_t *gpus, *nodes; /* of the plan's single workers; of a gang */
	uint32_t gpu_room, gpu_count, node_room;
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct tl_scratch_view after; /* the machines as the plan leaves them */
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_WORTH] =
	{.name = "worth",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "5min",
         .min = 0,
         .max = 8.64e13,
         .help = "a move is made where it costs at most so much time of each GPU that it gains "
                 "in a whole node or a gathered gang; high values move more than waits save, "
                 "low ones leave room in pieces"},
    [OPTION_MOVES] = {.name = "moves",
                      .type = TL_OPTION_INT,
                      .unit = "jobs",
                      .standard = "16",
                      .min = 1,
                      .max = 1e6,
                      .help = "jobs moved at a time at most; many saves at once load the storage, "
                              "few leave large nodes as they are"},
    [OPTION_GANGS] = {.name = "gangs",
                      .type = TL_OPTION_BOOL,
                      .unit = "",
                      .standard = "true",
                      .help = "bring gangs that are spread over racks into one"},
    [OPTION_SERVICES] = {.name = "services",
                         .type = TL_OPTION_BOOL,
                         .unit = "",
                         .standard = "false",
                         .help = "move replicas of services too, which serve nothing meanwhile"},
};

static int grow(const struct tl_host *host, void **array, uint32_t *room, uint32_t need,
                size_t size)
{
	uint32_t wanted = *room > 0 ? *room : FIRST_ROOM;

	if (need <= *room)
		return 0;
	while (wanted < need)
		wanted *= 2;
	void *fresh = host->alloc(host, (size_t)wanted * size);

	if (!fresh)
		return -1;
	if (*room > 0)
		memcpy(fresh, *array, (size_t)*room * size);
	*array = fresh;
	*room = wanted;
	return 0;
}

#define GROW(own, array, room, need)                                                               \
	grow((own)->host, (void **)&(own)->array, &(own)->room, (need), sizeof(*(own)->array))

static int64_t move_ns(const struct tl_job_view *job)
{
	return (job->save_ns > 0 ? job->save_ns : 0) + (job->restart_ns > 0 ? job->restart_ns : 0);
}

static int movable(const struct compact *own, const struct tl_job_view *job, int64_t now_ns)
{
	int64_t end_ns = job->expected_end_ns;

	return job->state == TL_JOB_RUNNING && (job->flags & TL_JOB_PREEMPTIBLE) != 0 &&
	       (own->services || job->service == TL_NO_INDEX) && end_ns > now_ns &&
	       end_ns - now_ns > move_ns(job);
}

/* ---- emptying a node ---------------------------------------------------------------------- */

/* Puts a job into the plan, once. */
static int note_job(struct compact *own, tl_job_id id)
{
	for (uint32_t i = 0; i < own->plan_count; i++)
		if (own->plan[i].job == id)
			return 0;
	if (GROW(own, plan, plan_room, own->plan_count + 1) != 0)
		return -1;
	own->plan[own->plan_count++] = (struct move){.job = id};
	return 0;
}

/* The jobs of a node into the plan: what moving them costs a GPU gained; -1: they cannot all
 * be moved, or memory is out. */
static double list_jobs(struct compact *own, const struct tl_node_view *node, int64_t now_ns)
{
	double cost = 0.0;
	int64_t used_mgpu = 0;

	own->plan_count = own->plan_next = 0;
	for (uint32_t g = 0; g < node->gpu_count; g++) {
		uint32_t count = 0;
		const tl_job_id *ids = own->host->gpu_jobs(own->host, node->first_gpu + g, &count);

		for (uint32_t i = 0; i < count; i++)
			if (note_job(own, ids[i]) != 0)
				return -1.0;
		if (own->plan_count > own->left)
			return -1.0;
	}
	for (uint32_t i = 0; i < own->plan_count; i++) {
		const struct tl_job_view *job = own->host->job(own->host, own->plan[i].job);
		const struct tl_shape *shape = own->host->shape(own->host, job->shape);

		if (shape->workers > 1 || !movable(own, job, now_ns))
			return -1.0;
		cost += (double)move_ns(job) * (double)shape->total_mgpu;
		used_mgpu += shape->total_mgpu;
	}
	/* By its jobs: what the view shows as taken may be kept for somebody. */
	if (used_mgpu >= (int64_t)node->gpu_count * TL_FIT_WHOLE_MGPU)
		return -1.0;
	return cost / (1000.0 * node->gpu_count);
}

static int partly_used(const struct tl_node_view *node)
{
	return node->state == TL_NODE_UP && node->gpu_count > 0 && node->draining_mgpu == 0 &&
	       node->free_mgpu < (int64_t)node->gpu_count * TL_FIT_WHOLE_MGPU;
}

/* The fullest of the partly used nodes that has room; TL_NO_INDEX: none. */
static uint32_t target_of(const struct tl_view *view, uint32_t from, const struct tl_shape *shape)
{
	uint32_t best = TL_NO_INDEX;

	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);

		if (n == from || !partly_used(node) || node->free_mgpu == 0 ||
		    !tl_fit_node(view, node, shape->model_mask, tl_fit_worker(shape, 0)))
			continue;
		if (best == TL_NO_INDEX || node->free_mgpu < tl_view_node(view, best)->free_mgpu)
			best = n;
	}
	return best;
}

/* Finds each job of the plan a place elsewhere, the largest first: 1, or 0. */
static int find_targets(struct compact *own, const struct tl_view *view, uint32_t from)
{
	own->gpu_count = 0;
	if (tl_scratch_copy(&own->after, own->host, view) != 0)
		return 0;
	for (uint32_t i = 0; i < own->plan_count; i++) {
		uint32_t largest = i;

		for (uint32_t k = i + 1; k < own->plan_count; k++) {
			const struct tl_job_view *a = own->host->job(own->host, own->plan[k].job);
			const struct tl_job_view *b =
			    own->host->job(own->host, own->plan[largest].job);

			if (own->host->shape(own->host, a->shape)->total_mgpu >
			    own->host->shape(own->host, b->shape)->total_mgpu)
				largest = k;
		}
		struct move move = own->plan[largest];
		const struct tl_job_view *job = own->host->job(own->host, move.job);
		const struct tl_shape *shape = own->host->shape(own->host, job->shape);
		const struct tl_worker *worker = tl_fit_worker(shape, 0);

		own->plan[largest] = own->plan[i];
		move.node = target_of(&own->after.view, from, shape);
		move.first_gpu = own->gpu_count;
		if (move.node == TL_NO_INDEX ||
		    GROW(own, gpus, gpu_room, own->gpu_count + worker->gpus) != 0)
			return 0;
		tl_fit_pick(&own->after.view, tl_view_node(&own->after.view, move.node), worker,
		            NULL, TL_FIT_TIGHT, own->gpus + move.first_gpu);
		tl_scratch_take_worker(&own->after, worker, move.node, own->gpus + move.first_gpu);
		own->gpu_count += worker->gpus;
		own->plan[i] = move;
	}
	return 1;
}

/* Plans to empty the cheapest node that is worth it: 1, or 0. */
static int plan_node(struct compact *own, const struct tl_view *view, int64_t now_ns)
{
	uint32_t count = 0;

	if (GROW(own, sources, source_room, view->node_count) != 0)
		return 0;
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);
		double cost = partly_used(node) ? list_jobs(own, node, now_ns) : -1.0;

		if (cost >= 0.0 && own->plan_count > 0 && cost <= (double)own->worth_ns)
			own->sources[count++] = (struct source){.cost = cost, .node = n};
	}
	for (uint32_t tries = 0; tries < count; tries++) {
		struct source *best = NULL;

		for (uint32_t i = 0; i < count; i++)
			if (!own->sources[i].tried && (!best || own->sources[i].cost < best->cost))
				best = &own->sources[i];
		best->tried = 1;
		if (list_jobs(own, tl_view_node(view, best->node), now_ns) >= 0.0 &&
		    find_targets(own, view, best->node))
			return 1;
	}
	own->plan_count = 0;
	return 0;
}

/* The next move of the plan, if it still holds: 1, or 0. */
static int take_move(struct compact *own, const struct tl_view *view, int64_t now_ns,
                     struct tl_move *out)
{
	struct move *move = &own->plan[own->plan_next++];
	const struct tl_job_view *job = own->host->job(own->host, move->job);
	const struct tl_node_view *node = tl_view_node(view, move->node);

	if (!job || !movable(own, job, now_ns))
		return 0;
	const struct tl_shape *shape = own->host->shape(own->host, job->shape);
	const struct tl_worker *worker = tl_fit_worker(shape, 0);

	if (!tl_fit_node(view, node, shape->model_mask, worker))
		return 0;
	for (uint32_t g = 0; g < worker->gpus; g++)
		if (!tl_fit_gpu(tl_view_gpu(view, own->gpus[move->first_gpu + g]), worker))
			return 0;
	out->job = move->job;
	out->where = (struct tl_placement){.nodes = &move->node,
	                                   .gpus = own->gpus + move->first_gpu,
	                                   .worker_count = 1,
	                                   .gpu_count = worker->gpus,
	                                   .worker_room = 1,
	                                   .gpu_room = worker->gpus};
	return 1;
}

/* ---- gathering a gang ---------------------------------------------------------------------- */

static int spread(const struct tl_view *view, const struct tl_placement *where)
{
	for (uint32_t w = 1; w < where->worker_count; w++)
		if (tl_view_node(view, where->nodes[w])->rack !=
		    tl_view_node(view, where->nodes[0])->rack)
			return 1;
	return 0;
}

/* A rack that holds the whole gang beside what is there, on none of its own GPUs: 1 with
 * out->where, or 0. */
static int gather(struct compact *own, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_move *out)
{
	const struct tl_view *rest = &own->after.view;
	struct tl_placement where;
	uint32_t racks = 0;

	if (GROW(own, gpus, gpu_room, shape->gpus) != 0 ||
	    GROW(own, nodes, node_room, shape->workers) != 0 ||
	    tl_scratch_copy(&own->after, own->host, view) != 0 ||
	    own->host->allocation(own->host, out->job, &where) != 0)
		return 0;
	for (uint32_t g = 0; g < where.gpu_count; g++)
		tl_scratch_close_gpu(&own->after, where.gpus[g]);
	if (tl_place_measure(&own->placer, rest, shape) != 0)
		return 0;
	out->where = (struct tl_placement){.nodes = own->nodes,
	                                   .gpus = own->gpus,
	                                   .worker_room = shape->workers,
	                                   .gpu_room = shape->gpus};
	for (uint32_t n = 0; n < rest->node_count; n++)
		if (tl_view_node(rest, n)->rack >= racks)
			racks = tl_view_node(rest, n)->rack + 1;
	for (uint32_t rack = 0; rack < racks; rack++)
		if (tl_place_gang(&own->placer, &own->rule, rest, shape,
		                  (struct tl_place_group){.level = TL_PLACE_RACK, .number = rack},
		                  &out->where))
			return 1;
	return 0;
}

/* The first gang by submission that is worth gathering: 1, or 0. */
static int move_gang(struct compact *own, const struct tl_view *view, int64_t now_ns,
                     struct tl_move *out)
{
	uint64_t after = 0;

	for (int first = 1;; first = 0) {
		const struct tl_job_view *next = NULL;
		uint32_t count = 0;
		const tl_job_id *ids = own->host->holding(own->host, &count);

		for (uint32_t i = 0; i < count; i++) {
			const struct tl_job_view *job = own->host->job(own->host, ids[i]);
			struct tl_placement where;

			if ((!first && job->sequence <= after) ||
			    (next && job->sequence > next->sequence) ||
			    own->host->shape(own->host, job->shape)->workers < 2 ||
			    !movable(own, job, now_ns) || move_ns(job) > own->worth_ns ||
			    own->host->allocation(own->host, ids[i], &where) != 0 ||
			    !spread(view, &where))
				continue;
			next = job;
		}
		if (!next)
			return 0;
		out->job = next->id;
		if (gather(own, view, own->host->shape(own->host, next->shape), out))
			return 1;
		after = next->sequence;
	}
}

/* ---- the seat ------------------------------------------------------------------------------- */

static int next(void *self, const struct tl_view *view, int64_t now_ns, struct tl_move *out)
{
	struct compact *own = self;

	if (own->round_ns != now_ns) {
		own->round_ns = now_ns;
		own->left = own->moves;
		own->plan_count = own->plan_next = 0;
	}
	if (own->left == 0)
		return 0;
	int found = 0;

	if (own->plan_next < own->plan_count || plan_node(own, view, now_ns))
		found = take_move(own, view, now_ns, out);
	else if (own->gangs)
		found = move_gang(own, view, now_ns, out);
	own->left -= (uint32_t)found;
	return found;
}

/* The fullest node first. */
static int64_t score(void *self, const struct tl_candidate *at)
{
	(void)self;
	return -at->node->free_mgpu;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct compact), self) != 0)
		return -1;
	struct compact *own = *self;

	own->host = host;
	own->worth_ns = create->options[OPTION_WORTH].i;
	own->moves = (uint32_t)create->options[OPTION_MOVES].i;
	own->gangs = create->options[OPTION_GANGS].i != 0;
	own->services = create->options[OPTION_SERVICES].i != 0;
	own->round_ns = -1;
	own->placer.host = host;
	own->rule = (struct tl_place_rule){.score = score, .ties = TL_TIES_FIRST};
	return 0;
}

static const struct tl_defrag_ops ops = {.struct_size = sizeof(ops), .next = next};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_DEFRAG),
    .name = "compact",
    .version = "1.0",
    .summary = "empties partly used nodes into others, and gathers gangs into a rack",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
