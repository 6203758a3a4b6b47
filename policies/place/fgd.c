/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fragmentation gradient descent: a task goes where it raises the fragmentation that the
 * expected workload sees (policies/lib/fragmentation.h) least, or lowers it most (Weng et
 * al., USENIX ATC 2023). Scores are integers 0 … 100, as published:
 * floor(100 · sigmoid((F before − F after) / 1 GPU)), so ties are many, and it matters that
 * they go to the first node of the list, as in the published runs: drawn at random they cost
 * five points of allocation. The card for a share is chosen by the same score.
 *
 * A score is a function of shape, node and node version, and kept as such: a choice costs
 * a look at each node and a new score for those that changed since the shape was last
 * placed (measured on 1,213 nodes: see tests/tools/bench_place.c).
 */
#include "policies/lib/fragmentation.h"
#include "policies/lib/module.h"
#include "policies/lib/place.h"

#include <math.h>

enum { OPTION_TIES, OPTION_CACHE, OPTION_COUNT };
enum { POINTS = 100, ROWS_MAX = 65536, TASKS_FIRST = 64, DOES_NOT_FIT = 1, FITS = 2 };

/* What is known of a node for a worker. */
struct entry {
	uint64_t version; /* of the node */
	int32_t score;    /* FITS + points, or DOES_NOT_FIT; 0: nothing known */
	uint32_t gpu;     /* the best card of a one-GPU worker */
};

/* Of one worker of one shape: an entry a node. */
struct row {
	struct entry *entries;
	uint64_t owner; /* 2 × shape + (1: full, 0: last) */
};

struct before {
	uint64_t version;
	int64_t fragmentation;
	uint32_t known;
};

struct fgd {
	const struct tl_host *host;
	struct tl_placer placer;
	struct tl_place_rule rule;
	struct tl_fragmentation *frag;
	int64_t steps[POINTS]; /* the least gain, in F × total, that scores k points */
	struct row *rows;
	struct before *before; /* a node */
	uint32_t row_count, node_room;
	size_t cache_bytes;
	struct tl_frag_task *tasks; /* distinct ones of all shapes */
	size_t task_room;
	uint32_t shapes_seen;
	uint64_t counts_seen;
	struct row *row;                    /* of the worker being scored, and … */
	const struct tl_worker *row_worker; /* … who that is */
};

/* Points of a gain: floor(100 · sigmoid(gain)) ≥ k where gain ≥ ln(k / (100 − k)). */
static void make_steps(struct fgd *fgd)
{
	for (int k = 1; k < POINTS; k++)
		fgd->steps[k] = (int64_t)ceil(log((double)k / (POINTS - k)) * TL_FIT_WHOLE_MGPU *
		                              (double)fgd->frag->total);
}

static int32_t points_of(const struct fgd *fgd, int64_t gain)
{
	int32_t low = 0, high = POINTS - 1;

	while (low < high) {
		int32_t middle = (low + high + 1) / 2;

		if (gain >= fgd->steps[middle])
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

static void forget(struct fgd *fgd)
{
	for (uint32_t r = 0; r < fgd->row_count; r++)
		if (fgd->rows[r].entries)
			memset(fgd->rows[r].entries, 0, fgd->node_room * sizeof(struct entry));
	if (fgd->before)
		memset(fgd->before, 0, fgd->node_room * sizeof *fgd->before);
}

/* The workload as the shapes state it: by expected counts, or each shape once where none
 * is known. Looks again when the host has met new shapes. */
static int learn(struct fgd *fgd)
{
	const struct tl_host *host = fgd->host;
	uint32_t shapes = host->shape_count(host);
	uint64_t counts = 0;
	size_t length = 0;

	if (shapes == fgd->shapes_seen)
		return 0;
	for (uint32_t s = 0; s < shapes; s++)
		counts += host->shape(host, s)->expected_count;
	fgd->shapes_seen = shapes;
	if (counts > 0 && counts == fgd->counts_seen)
		return 0;
	if (2 * (size_t)shapes > fgd->task_room) {
		size_t room = fgd->task_room > 0 ? fgd->task_room : TASKS_FIRST;

		while (room < 2 * (size_t)shapes)
			room *= 2;
		fgd->tasks = host->alloc(host, room * sizeof *fgd->tasks);
		fgd->task_room = fgd->tasks ? room : 0;
		if (!fgd->tasks)
			return -1;
	}
	for (uint32_t s = 0; s < shapes; s++) {
		const struct tl_shape *shape = host->shape(host, s);

		length = tl_frag_add_shape(fgd->tasks, length, shape,
		                           counts > 0 ? shape->expected_count : 1);
	}
	fgd->counts_seen = counts;
	tl_frag_build(fgd->frag, fgd->tasks, length);
	make_steps(fgd);
	forget(fgd);
	return 0;
}

/* Room for the view's nodes: rows come when they are used, and are shared out anew once
 * the cache is full. */
static int make_room(struct fgd *fgd, const struct tl_view *view)
{
	size_t row_bytes = view->node_count * sizeof(struct entry);
	size_t rows = fgd->cache_bytes / (row_bytes + 1) + 1;

	if (view->node_count <= fgd->node_room)
		return 0;
	fgd->node_room = 0;
	fgd->row_count = 0;
	fgd->before = fgd->host->alloc(fgd->host, view->node_count * sizeof *fgd->before);
	rows = rows < ROWS_MAX ? rows : ROWS_MAX;
	fgd->rows = fgd->host->alloc(fgd->host, rows * sizeof *fgd->rows);
	if (!fgd->before || !fgd->rows)
		return -1;
	fgd->row_count = (uint32_t)rows;
	fgd->node_room = view->node_count;
	return 0;
}

static int choose_row(struct fgd *fgd, const struct tl_shape *shape, const struct tl_worker *worker)
{
	uint64_t owner = 2 * (uint64_t)shape->id + (worker == &shape->full);
	struct row *row = &fgd->rows[owner % fgd->row_count];

	if (!row->entries) {
		row->entries = fgd->host->alloc(fgd->host, fgd->node_room * sizeof *row->entries);
		if (!row->entries)
			return -1;
	} else if (row->owner != owner) {
		memset(row->entries, 0, fgd->node_room * sizeof *row->entries);
	}
	row->owner = owner;
	fgd->row = row;
	fgd->row_worker = worker;
	return 0;
}

static int64_t before_of(struct fgd *fgd, const struct tl_node_view *node, uint32_t number,
                         const struct tl_frag_node *state)
{
	struct before *before = &fgd->before[number];

	if (!before->known || before->version != node->version) {
		before->fragmentation = tl_frag_of(fgd->frag, state);
		before->version = node->version;
		before->known = 1;
	}
	return before->fragmentation;
}

/* The score of a share on the best card: cards with the same left score the same. */
static void score_share(struct fgd *fgd, const struct tl_candidate *at, struct tl_frag_node *state,
                        int64_t before, struct entry *entry)
{
	int32_t share = at->worker->share_mgpu;

	entry->score = 0;
	for (uint32_t g = 0; g < at->node->gpu_count; g++) {
		uint32_t gpu = at->node->first_gpu + g;
		int32_t points, left, seen = 0;

		if (!tl_fit_gpu(tl_view_gpu(at->view, gpu), at->worker))
			continue;
		if (g >= TL_FRAG_GPUS) {
			if (entry->score == 0)
				*entry = (struct entry){entry->version, FITS, gpu};
			continue;
		}
		left = state->free_mgpu[g];
		for (uint32_t i = 0; i < g && !seen; i++)
			seen =
			    state->free_mgpu[i] == left &&
			    tl_fit_gpu(tl_view_gpu(at->view, at->node->first_gpu + i), at->worker);
		if (seen)
			continue;
		state->free_mgpu[g] = left - share;
		points = points_of(fgd, before - tl_frag_of(fgd->frag, state));
		state->free_mgpu[g] = left;
		if (FITS + points > entry->score)
			*entry = (struct entry){entry->version, FITS + points, gpu};
	}
}

static void score_others(struct fgd *fgd, const struct tl_candidate *at, struct tl_frag_node *state,
                         int64_t before, struct entry *entry)
{
	uint32_t left = at->worker->gpus;

	/* The cards that will be taken, as far as F can tell them apart: the tightest. */
	while (left > 0) {
		uint32_t best = TL_NO_INDEX;

		for (uint32_t g = 0; g < state->gpu_count; g++)
			if (state->free_mgpu[g] >= at->worker->share_mgpu &&
			    (best == TL_NO_INDEX || state->free_mgpu[g] < state->free_mgpu[best]))
				best = g;
		if (best == TL_NO_INDEX)
			break;
		state->free_mgpu[best] -= at->worker->share_mgpu;
		left--;
	}
	entry->score = FITS + points_of(fgd, before - tl_frag_of(fgd->frag, state));
}

static void score_node(struct fgd *fgd, const struct tl_candidate *at, struct entry *entry)
{
	struct tl_frag_node state;
	int64_t before;

	entry->version = at->node->version;
	if (!tl_fit_node(at->view, at->node, at->shape->model_mask, at->worker)) {
		entry->score = DOES_NOT_FIT;
		return;
	}
	tl_frag_read(&state, at->view, at->node);
	before = before_of(fgd, at->node, at->number, &state);
	state.cpu_milli -= at->worker->cpu_milli;
	state.sum_mgpu -= (int64_t)at->worker->gpus * at->worker->share_mgpu;
	if (at->worker->gpus == 1)
		score_share(fgd, at, &state, before, entry);
	else
		score_others(fgd, at, &state, before, entry);
}

static const struct entry *entry_of(struct fgd *fgd, const struct tl_candidate *at)
{
	struct entry *entry = &fgd->row->entries[at->number];

	if (entry->score == 0 || entry->version != at->node->version)
		score_node(fgd, at, entry);
	return entry;
}

/* For gangs: the worker scored changes from the last to the full ones. */
static int64_t score(void *self, const struct tl_candidate *at)
{
	struct fgd *fgd = self;

	if (fgd->row_worker != at->worker && choose_row(fgd, at->shape, at->worker) != 0)
		return 0;
	return entry_of(fgd, at)->score;
}

static void pick(void *self, const struct tl_candidate *at, uint32_t *out)
{
	struct fgd *fgd = self;

	if (fgd->row_worker != at->worker && choose_row(fgd, at->shape, at->worker) != 0)
		tl_fit_pick(at->view, at->node, at->worker, NULL, TL_FIT_TIGHT, out);
	else if (at->worker->share_mgpu == TL_FIT_WHOLE_MGPU)
		tl_fit_pick(at->view, at->node, at->worker, NULL, TL_FIT_TIGHT, out);
	else
		out[0] = entry_of(fgd, at)->gpu;
}

/* As tl_place_single, but whether a node has room is remembered too. */
static int choose_single(struct fgd *fgd, const struct tl_view *view, const struct tl_shape *shape,
                         struct tl_placement *out)
{
	struct tl_candidate at = {.view = view, .shape = shape, .worker = &shape->last};
	struct tl_place_best best = {.node = TL_NO_INDEX};
	uint64_t seed = tl_place_seed(view, shape);

	if (choose_row(fgd, shape, at.worker) != 0)
		return 0;
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct entry *entry;

		at.node = tl_view_node(view, n);
		at.number = n;
		entry = entry_of(fgd, &at);
		if (entry->score >= FITS)
			tl_place_offer(&best, &fgd->rule, seed, n, entry->score);
	}
	if (best.node == TL_NO_INDEX)
		return 0;
	at.node = tl_view_node(view, best.node);
	at.number = best.node;
	tl_place_pick(&fgd->rule, &at, NULL, out->gpus);
	out->nodes[0] = best.node;
	out->worker_count = 1;
	out->gpu_count = shape->last.gpus;
	return 1;
}

static int choose(void *self, const struct tl_view *view, const struct tl_shape *shape,
                  struct tl_placement *out)
{
	struct fgd *fgd = self;

	if (!tl_place_has_room(shape, out) || tl_place_hopeless(view, shape) || learn(fgd) != 0 ||
	    make_room(fgd, view) != 0)
		return 0;
	fgd->row_worker = NULL;
	if (shape->workers == 1)
		return choose_single(fgd, view, shape, out);
	return tl_place_by_score(&fgd->placer, &fgd->rule, view, shape, out);
}

static int create(const struct tl_host *host, const struct tl_create *create_with, void **self)
{
	struct fgd *fgd;

	if (tl_module_instance(host, create_with, sizeof *fgd, self) != 0)
		return -1;
	fgd = *self;
	fgd->host = host;
	fgd->placer.host = host;
	fgd->cache_bytes = (size_t)create_with->options[OPTION_CACHE].i;
	fgd->rule =
	    (struct tl_place_rule){.score = score,
	                           .pick = pick,
	                           .self = fgd,
	                           .ties = (enum tl_ties)create_with->options[OPTION_TIES].i};
	fgd->frag = host->alloc(host, sizeof *fgd->frag);
	return fgd->frag ? 0 : tl_module_fail(create_with, "out of memory");
}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_TIES] = TL_TIES_OPTION("first"),
    [OPTION_CACHE] = {.name = "cache",
                      .type = TL_OPTION_SIZE,
                      .unit = "bytes",
                      .standard = "64MiB",
                      .min = 1048576,
                      .max = 4294967296,
                      .help = "memory for remembered scores (16 bytes a node and shape); too "
                              "little costs time, never changes a choice"},
};

static const struct tl_place_ops ops = {.struct_size = sizeof ops, .choose = choose};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_PLACE),
    .name = "fgd",
    .version = "1.0",
    .summary = "fragmentation gradient descent: where the expected workload loses least",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof options[0],
    .create = create,
    .ops = &ops,
};
