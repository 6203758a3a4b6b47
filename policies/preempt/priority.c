/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stops those that come later in order, as few as will do.
 *
 * Candidates are taken latest first until the job fits; then those that turn out not to be
 * needed are let off, the largest first. For workers of several GPUs, emptying whole nodes
 * is tried as well, and taken where it stops fewer. Among candidates of one key, those go
 * first that lose least since their last checkpoint. Hysteresis: a victim must have run for
 * `min_run` since its last start-up, and come later by more than `margin`.
 *
 * Cost: O(candidates log candidates), and a dry run for each doubling of the victims and
 * for each victim.
 */
#include "policies/lib/module.h"
#include "policies/lib/victims.h"

#include <stdlib.h>

enum {
	OPTION_MIN_RUN,
	OPTION_MAX_PREEMPTIONS,
	OPTION_MARGIN,
	OPTION_MODE,
	OPTION_STEP,
	OPTION_WHOLE_NODES,
	OPTION_COUNT
};

struct candidate {
	tl_job_id id;
	int64_t key;
	int64_t lost_mgpu_ns; /* GPU-time since the last commit */
	int64_t gpus_mgpu;
	uint64_t sequence;
	uint32_t node; /* the only one it is on; TL_NO_INDEX: several */
	uint8_t chosen, first_choice;
};

struct node_cost {
	int64_t lost_mgpu_ns;
	uint32_t node, count; /* of candidates on it alone */
};

struct priority {
	const struct tl_host *host;
	int64_t min_run_ns, max_preemptions, margin, step_ns;
	enum tl_suspend_mode mode;
	int whole_nodes;
	struct candidate *candidates;
	struct node_cost *nodes;
	uint32_t *places; /* by node: index into nodes + 1 */
	uint32_t room, place_room;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_MIN_RUN] =
	{.name = "min_run",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "60s",
         .min = 0,
         .max = 3.2e16,
         .help = "a job is not stopped before it has run so long; too short and jobs are "
                 "stopped again and again, too long and urgent ones wait"},
    [OPTION_MAX_PREEMPTIONS] = TL_VICTIM_MAX_PREEMPTIONS,
    [OPTION_MARGIN] = {.name = "margin",
                       .type = TL_OPTION_INT,
                       .unit = "of the order's key",
                       .standard = "0",
                       .min = 0,
                       .max = 4.6e18,
                       .help =
                           "a victim's key must be greater by more than this; 0: any difference"},
    [OPTION_MODE] =
	{.name = "mode",
         .type = TL_OPTION_CHOICE,
         .unit = "",
         .standard = "save",
         .choices = "save|kill",
         .help = "save within the grace, or stop at once and lose what is not checkpointed"},
    [OPTION_STEP] =
	{.name = "step",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "0s",
         .min = 0,
         .max = 3.2e16,
         .help = "stop the victims node by node, so long apart; 0: all at once, which loads "
                 "the storage most"},
    [OPTION_WHOLE_NODES] = {.name = "whole_nodes",
                            .type = TL_OPTION_BOOL,
                            .unit = "",
                            .standard = "true",
                            .help = "for workers of several GPUs, prefer emptying whole nodes"},
};

static int64_t lost_gpu_time(const struct tl_job_view *job, int64_t gpus_mgpu, int64_t now_ns)
{
	int64_t lost_ns = tl_victim_lost_ns(job, now_ns);
	return gpus_mgpu > 0 && lost_ns > INT64_MAX / gpus_mgpu ? INT64_MAX : lost_ns * gpus_mgpu;
}

/* Latest in order first; then least lost; then the youngest. */
static int by_order(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	if (x->lost_mgpu_ns != y->lost_mgpu_ns)
		return x->lost_mgpu_ns < y->lost_mgpu_ns ? -1 : 1;
	return x->sequence > y->sequence ? -1 : 1;
}

static uint32_t only_node(const struct tl_host *host, tl_job_id id)
{
	struct tl_placement where;
	if (host->allocation(host, id, &where) != 0 || where.worker_count == 0)
		return TL_NO_INDEX;
	for (uint32_t w = 1; w < where.worker_count; w++)
		if (where.nodes[w] != where.nodes[0])
			return TL_NO_INDEX;
	return where.nodes[0];
}

static int make_room(struct priority *p, uint32_t count)
{
	if (count <= p->room)
		return 0;
	uint32_t room = p->room > 0 ? p->room : 64;
	while (room < count)
		room *= 2;
	uint32_t nodes = p->host->view(p->host)->node_count;
	if (p->place_room < nodes) {
		p->places = p->host->alloc(p->host, nodes * sizeof(*p->places));
		p->place_room = p->places != NULL ? nodes : 0;
		if (p->places == NULL)
			return -1;
	}
	p->room = 0;
	p->candidates = p->host->alloc(p->host, room * sizeof(*p->candidates));
	p->nodes = p->host->alloc(p->host, room * sizeof(*p->nodes));
	if (p->candidates == NULL || p->nodes == NULL)
		return -1;
	p->room = room;
	return 0;
}

/* Those that may be stopped, in order of stopping: how many. Asks to be woken when a
 * further one has run long enough. */
static uint32_t gather(struct priority *p, const struct tl_shortfall *ask)
{
	uint32_t count = 0;
	int64_t ripe_ns = TL_TIME_NEVER;
	for (uint32_t i = 0; i < ask->candidate_count; i++) {
		tl_job_id id = ask->candidates[i];
		const struct tl_job_view *job = tl_jobs_at(&ask->jobs, id);
		int64_t key = ask->candidate_keys[i];
		if (key - p->margin <= ask->key)
			continue;
		if (tl_victim_spared(job, p->max_preemptions))
			continue;
		int64_t grown_ns = tl_victim_grown_ns(job, p->min_run_ns);
		if (grown_ns > ask->now_ns) {
			ripe_ns = grown_ns < ripe_ns ? grown_ns : ripe_ns;
			continue;
		}
		int64_t gpus_mgpu = p->host->shape(p->host, job->shape)->total_mgpu;
		p->candidates[count++] =
		    (struct candidate){.id = id,
		                       .key = key,
		                       .lost_mgpu_ns = lost_gpu_time(job, gpus_mgpu, ask->now_ns),
		                       .gpus_mgpu = gpus_mgpu,
		                       .sequence = job->sequence,
		                       .node = only_node(p->host, id)};
	}
	if (ripe_ns != TL_TIME_NEVER)
		p->host->wake_at(p->host, ripe_ns);
	if (count > 0)
		qsort(p->candidates, count, sizeof(*p->candidates), by_order);
	return count;
}

static uint32_t list_chosen(const struct priority *p, uint32_t count, tl_job_id *ids, uint32_t but)
{
	uint32_t listed = 0;
	for (uint32_t i = 0; i < count; i++)
		if (p->candidates[i].chosen && i != but)
			ids[listed++] = p->candidates[i].id;
	return listed;
}

/* Lets off whoever is not needed, the largest first, of the same size the earliest in
 * order. Leaves the victims in `out`. */
static void let_off(struct priority *p, const struct tl_shortfall *ask, uint32_t count,
                    struct tl_victims *out)
{
	int64_t below = INT64_MAX;
	for (;;) {
		int64_t size = -1;
		for (uint32_t i = 0; i < count; i++)
			if (p->candidates[i].chosen && p->candidates[i].gpus_mgpu < below &&
			    p->candidates[i].gpus_mgpu > size)
				size = p->candidates[i].gpus_mgpu;
		if (size < 0)
			break;
		for (uint32_t i = count; i-- > 0;) {
			if (!p->candidates[i].chosen || p->candidates[i].gpus_mgpu != size)
				continue;
			uint32_t left = list_chosen(p, count, out->ids, i);
			if (ask->fits(ask, out->ids, left))
				p->candidates[i].chosen = 0;
		}
		below = size;
	}
	out->count = list_chosen(p, count, out->ids, TL_NO_INDEX);
}

/* Fewest candidates first, then least lost. */
static int by_cost(const void *a, const void *b)
{
	const struct node_cost *x = a, *y = b;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	if (x->lost_mgpu_ns != y->lost_mgpu_ns)
		return x->lost_mgpu_ns < y->lost_mgpu_ns ? -1 : 1;
	return x->node < y->node ? -1 : 1;
}

static uint32_t list_nodes(struct priority *p, uint32_t count)
{
	uint32_t nodes = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct candidate *one = &p->candidates[i];
		if (one->node == TL_NO_INDEX)
			continue;
		if (p->places[one->node] == 0) {
			p->nodes[nodes++] = (struct node_cost){.node = one->node};
			p->places[one->node] = nodes;
		}
		struct node_cost *node = &p->nodes[p->places[one->node] - 1];
		int64_t room = INT64_MAX - node->lost_mgpu_ns;
		node->lost_mgpu_ns += one->lost_mgpu_ns < room ? one->lost_mgpu_ns : room;
		node->count++;
	}
	for (uint32_t n = 0; n < nodes; n++)
		p->places[p->nodes[n].node] = 0;
	if (nodes > 0)
		qsort(p->nodes, nodes, sizeof(*p->nodes), by_cost);
	return nodes;
}

/* Chooses the candidates of whole nodes until the job fits, or `most` are chosen: 1, or 0. */
static int choose_nodes(struct priority *p, const struct tl_shortfall *ask, uint32_t count,
                        uint32_t most, struct tl_victims *out)
{
	uint32_t nodes = list_nodes(p, count), chosen = 0;
	for (uint32_t n = 0; n < nodes; n++) {
		chosen += p->nodes[n].count;
		if (chosen >= most)
			return 0;
		for (uint32_t i = 0; i < count; i++)
			if (p->candidates[i].node == p->nodes[n].node)
				p->candidates[i].chosen = 1;
		uint32_t listed = list_chosen(p, count, out->ids, TL_NO_INDEX);
		if (ask->fits(ask, out->ids, listed))
			return 1;
	}
	return 0;
}

static int choose_latest(struct priority *p, const struct tl_shortfall *ask, uint32_t count,
                         struct tl_victims *out)
{
	for (uint32_t i = 0; i < count; i++)
		out->ids[i] = p->candidates[i].id;
	if (!ask->fits(ask, out->ids, count))
		return 0;
	/* The more are gone the more fits: the least number by halving. */
	uint32_t low = 1, high = count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (ask->fits(ask, out->ids, middle))
			high = middle;
		else
			low = middle + 1;
	}
	for (uint32_t i = 0; i < low; i++)
		p->candidates[i].chosen = 1;
	return 1;
}

static int choose(void *self, const struct tl_shortfall *ask, struct tl_victims *out)
{
	struct priority *p = self;
	if (make_room(p, ask->candidate_count) != 0)
		return 0;
	uint32_t count = gather(p, ask);
	if (count == 0 || !choose_latest(p, ask, count, out))
		return 0;
	let_off(p, ask, count, out);
	uint32_t fewest = out->count;
	for (uint32_t i = 0; i < count; i++) {
		p->candidates[i].first_choice = p->candidates[i].chosen;
		p->candidates[i].chosen = 0;
	}
	if (!p->whole_nodes ||
	    (ask->shape->workers > 1 ? ask->shape->full.gpus : ask->shape->last.gpus) < 2 ||
	    fewest < 2 || !choose_nodes(p, ask, count, fewest, out))
		for (uint32_t i = 0; i < count; i++)
			p->candidates[i].chosen = p->candidates[i].first_choice;
	out->count = list_chosen(p, count, out->ids, TL_NO_INDEX);
	out->mode = p->mode;
	out->step_ns = p->step_ns;
	return 1;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct priority), self) != 0)
		return -1;
	struct priority *p = *self;
	p->host = host;
	p->min_run_ns = create->options[OPTION_MIN_RUN].i;
	p->max_preemptions = create->options[OPTION_MAX_PREEMPTIONS].i;
	p->margin = create->options[OPTION_MARGIN].i;
	p->mode = create->options[OPTION_MODE].i == 1 ? TL_SUSPEND_KILL : TL_SUSPEND_SAVE;
	p->step_ns = create->options[OPTION_STEP].i;
	p->whole_nodes = create->options[OPTION_WHOLE_NODES].i != 0;
	return 0;
}

static const struct tl_preempt_ops ops = {.struct_size = sizeof(ops), .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PREEMPT),
    .name = "priority",
    .version = "1.0",
    .summary = "stops the fewest of those that come later in order",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
