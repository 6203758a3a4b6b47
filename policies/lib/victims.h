/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whom to stop by least cost: what preempting policies of services share.
 *
 * Cheapest first: evaluation and simulation runs that have nothing committed, then the job
 * that loses the least GPU time (work since its last checkpoint, and its restart), then the
 * one nearest in size to what is wanted. The fewest of these that make room are taken, and
 * those that turn out not to be needed are let off, the dearest first.
 *
 * Cost: O(candidates log candidates), and a dry run for each halving and each victim.
 */
#ifndef TIDELAB_LIB_VICTIMS_H
#define TIDELAB_LIB_VICTIMS_H

#include "policies/abi/tidelab_policy.h"

#include <stdlib.h>

struct tl_victim {
	tl_job_id id;
	int64_t cost_mgpu_ns;
	int64_t misfit_mgpu; /* |size − wanted| */
	uint64_t sequence;
	uint32_t node;  /* of its first worker */
	int32_t valued; /* 0: nothing would be lost that anybody waits for */
};

struct tl_victim_list {
	struct tl_victim *items;
	uint32_t count, room;
	int64_t min_run_ns; /* option: who has not run so long stays */
};

#define TL_VICTIM_MIN_RUN                                                                          \
	{                                                                                          \
		.name = "min_run", .type = TL_OPTION_DURATION, .unit = "", .standard = "60s",      \
		.min = 0, .max = 8.64e13,                                                          \
		.help = "a job is not stopped before it has run so long; too short and jobs are "  \
			"stopped again and again, too long and requests wait"                      \
	}

static inline int64_t tl_victim_lost_ns(const struct tl_job_view *job, int64_t now_ns)
{
	int64_t from_ns = job->committed_ns >= 0 ? job->committed_ns : job->started_ns;
	int64_t lost_ns = from_ns >= 0 && now_ns > from_ns ? now_ns - from_ns : 0;

	return job->checkpoint_period_ns > 0 ? lost_ns % job->checkpoint_period_ns : lost_ns;
}

static inline int tl_victim_before(const void *a, const void *b)
{
	const struct tl_victim *x = a, *y = b;

	if (x->valued != y->valued)
		return x->valued < y->valued ? -1 : 1;
	if (x->cost_mgpu_ns != y->cost_mgpu_ns)
		return x->cost_mgpu_ns < y->cost_mgpu_ns ? -1 : 1;
	if (x->misfit_mgpu != y->misfit_mgpu)
		return x->misfit_mgpu < y->misfit_mgpu ? -1 : 1;
	return x->sequence > y->sequence ? -1 : 1; /* the younger */
}

/* Fills the list, cheapest first: 0, or -1 where memory is out. Asks to be woken when a
 * further candidate has run long enough. */
static inline int tl_victims_gather(struct tl_victim_list *list, const struct tl_host *host,
                                    const struct tl_shortfall *ask)
{
	int64_t ripe_ns = TL_TIME_NEVER;

	if (ask->candidate_count > list->room) {
		uint32_t room = list->room > 0 ? list->room : 64;

		while (room < ask->candidate_count)
			room *= 2;
		list->items = host->alloc(host, room * sizeof(*list->items));
		list->room = list->items ? room : 0;
		if (!list->items)
			return -1;
	}
	list->count = 0;
	for (uint32_t i = 0; i < ask->candidate_count; i++) {
		const struct tl_job_view *job = tl_jobs_at(&ask->jobs, ask->candidates[i]);
		int64_t ready_ns = job->started_ns + list->min_run_ns;
		int64_t size_mgpu = host->shape(host, job->shape)->total_mgpu;
		int64_t misfit_mgpu = size_mgpu - ask->shape->total_mgpu;
		int64_t lost_ns = tl_victim_lost_ns(job, ask->now_ns);
		struct tl_placement where;

		if (ready_ns > ask->now_ns) {
			ripe_ns = ready_ns < ripe_ns ? ready_ns : ripe_ns;
			continue;
		}
		if (host->allocation(host, job->id, &where) != 0 || where.worker_count == 0)
			continue;
		list->items[list->count++] = (struct tl_victim){
		    .id = job->id,
		    .cost_mgpu_ns = (int64_t)(((double)lost_ns + (double)job->restart_ns) *
		                              (double)size_mgpu / 1000.0),
		    .misfit_mgpu = misfit_mgpu < 0 ? -misfit_mgpu : misfit_mgpu,
		    .sequence = job->sequence,
		    .node = where.nodes[0],
		    .valued = (job->kind != TL_JOB_EVALUATION && job->kind != TL_JOB_SIMULATION) ||
		              job->committed_ns > job->started_ns};
	}
	if (ripe_ns != TL_TIME_NEVER)
		host->wake_at(host, ripe_ns);
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), tl_victim_before);
	return 0;
}

static inline uint32_t tl_victims_list(const struct tl_victim_list *list, uint32_t from,
                                       uint32_t to, tl_job_id *out)
{
	for (uint32_t i = from; i < to; i++)
		out[i - from] = list->items[i].id;
	return to - from;
}

/* The fewest cheapest that make room: 1, or 0 where all together do not. */
static inline int tl_victims_choose(struct tl_victim_list *list, const struct tl_shortfall *ask,
                                    struct tl_victims *out)
{
	uint32_t low = 1, high = list->count;

	if (list->count == 0 || !ask->fits(ask, out->ids, tl_victims_list(list, 0, high, out->ids)))
		return 0;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (ask->fits(ask, out->ids, tl_victims_list(list, 0, middle, out->ids)))
			high = middle;
		else
			low = middle + 1;
	}
	out->count = tl_victims_list(list, 0, low, out->ids);
	/* The last is needed; of those before it, the dearest are let off first. */
	for (uint32_t i = out->count; i-- > 0 && out->count > 1;) {
		tl_job_id one = out->ids[i];

		for (uint32_t k = i; k + 1 < out->count; k++)
			out->ids[k] = out->ids[k + 1];
		if (ask->fits(ask, out->ids, out->count - 1)) {
			out->count--;
			continue;
		}
		for (uint32_t k = out->count - 1; k > i; k--)
			out->ids[k] = out->ids[k - 1];
		out->ids[i] = one;
	}
	out->mode = TL_SUSPEND_SAVE;
	out->step_ns = 0;
	return 1;
}

/* Paced: a node's worth of victims each step. */
struct tl_victim_pace {
	int64_t step_ns;
	int64_t last_ns; /* of the last step; -1: none yet */
};

/* Whether a step is due; else asks to be woken when it is. */
static inline int tl_victim_step_due(const struct tl_victim_pace *pace, const struct tl_host *host,
                                     int64_t now_ns)
{
	if (pace->last_ns < 0 || now_ns - pace->last_ns >= pace->step_ns)
		return 1;
	host->wake_at(host, pace->last_ns + pace->step_ns);
	return 0;
}

/* As choose, but no faster than the pace; victims on several nodes go node by node. */
static inline int tl_victims_step(struct tl_victim_list *list, struct tl_victim_pace *pace,
                                  const struct tl_host *host, const struct tl_shortfall *ask,
                                  struct tl_victims *out)
{
	if (!tl_victim_step_due(pace, host, ask->now_ns) || !tl_victims_choose(list, ask, out))
		return 0;
	pace->last_ns = ask->now_ns;
	out->step_ns = pace->step_ns;
	return 1;
}

/* ---- who asks, and since when -------------------------------------------------------- */

/* A job of no service is worth stopping others for once it has waited so long. */
static inline int tl_victim_waited(const struct tl_host *host, const struct tl_shortfall *ask,
                                   int64_t after_ns)
{
	int64_t since_ns = ask->job->waiting_since_ns;

	if (since_ns < 0)
		return 0;
	if (ask->now_ns - since_ns >= after_ns)
		return 1;
	if (after_ns < TL_TIME_NEVER - since_ns)
		host->wake_at(host, since_ns + after_ns);
	return 0;
}

#define TL_VICTIM_WAITED                                                                           \
	{                                                                                          \
		.name = "wait_after", .type = TL_OPTION_DURATION, .unit = "", .standard = "30min", \
		.min = 0, .max = 8.64e15,                                                          \
		.help = "work of no service stops others once it has waited so long; short ones "  \
			"thrash, long ones leave urgent work standing"                             \
	}

#endif
