/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whom to stop by least cost: what preempting policies share.
 *
 * Cheapest first: evaluation and simulation runs that have nothing committed, then the job
 * that loses the least GPU time (work since its last checkpoint, and its restart), then the
 * one nearest in size to what is wanted. The fewest of these that make room are taken, and
 * those that turn out not to be needed are let off, the dearest first.
 *
 * Against thrashing: who has run for less than `min_run` comes last of all, and is stopped
 * for a service alone, where the others together do not make room; a job of no service never
 * stops it. Who has been stopped `max_preemptions` times is left in peace.
 *
 * A module's option table begins with TL_VICTIM_OPTIONS, its choose() with tl_victims_gather.
 *
 * Cost: O(candidates log candidates), and a dry run for each halving and each victim.
 */
#ifndef TIDELAB_LIB_VICTIMS_H
#define TIDELAB_LIB_VICTIMS_H

#include "policies/abi/tidelab_policy.h"

#include <stdlib.h>

enum {
	TL_VICTIM_OPTION_MIN_RUN,
	TL_VICTIM_OPTION_MAX_PREEMPTIONS,
	TL_VICTIM_OPTION_WAIT_AFTER,
	TL_VICTIM_OPTION_COUNT
};

struct tl_victim {
	tl_job_id id;
	int64_t cost_mgpu_ns;
	int64_t misfit_mgpu; /* |size − wanted| */
	uint64_t sequence;
	uint32_t node;  /* of its first worker */
	int16_t young;  /* has run for less than min_run */
	int16_t valued; /* 0: nothing would be lost that anybody waits for */
};

struct tl_victim_list {
	struct tl_victim *items;
	uint32_t count, room;
	uint32_t grown; /* of them, those that are not young: the first ones */
	int64_t min_run_ns, max_preemptions, wait_after_ns;
};

#define TL_VICTIM_MAX_PREEMPTIONS                                                                  \
	{                                                                                          \
		.name = "max_preemptions", .type = TL_OPTION_INT, .unit = "", .standard = "0",     \
		.min = 0, .max = 1e9,                                                              \
		.help = "a job that has been stopped so often is not stopped again; 0: no bound. " \
			"Low bounds fill the cluster with work that cannot give way"               \
	}

#define TL_VICTIM_OPTIONS                                                                          \
	[TL_VICTIM_OPTION_MIN_RUN] =                                                               \
	    {.name = "min_run",                                                                    \
	     .type = TL_OPTION_DURATION,                                                           \
	     .unit = "",                                                                           \
	     .standard = "5min",                                                                   \
	     .min = 0,                                                                             \
	     .max = 8.64e13,                                                                       \
	     .help = "a job that has run for less is stopped last, and for services alone; 5min, " \
	             "a checkpoint's period, keeps a start of 45 to 70s below a fifth of what is " \
	             "held; too short and jobs are stopped again and again, too long and the "     \
	             "cheapest are spared"},                                                       \
	[TL_VICTIM_OPTION_MAX_PREEMPTIONS] = TL_VICTIM_MAX_PREEMPTIONS,                            \
	[TL_VICTIM_OPTION_WAIT_AFTER] = {                                                          \
	    .name = "wait_after",                                                                  \
	    .type = TL_OPTION_DURATION,                                                            \
	    .unit = "",                                                                            \
	    .standard = "30min",                                                                   \
	    .min = 0,                                                                              \
	    .max = 8.64e15,                                                                        \
	    .help = "work of no service stops others once it has waited so long; short ones "      \
		    "thrash, long ones leave urgent work standing"}

#define TL_VICTIM_STEP                                                                             \
	{                                                                                          \
		.name = "step", .type = TL_OPTION_DURATION, .unit = "", .standard = "30s",         \
		.min = 0, .max = 8.64e13,                                                          \
		.help = "a node's victims each step, over all who wait for them; long ones leave " \
			"an overload standing, short ones load the storage and stop more than a "  \
			"passing peak needs"                                                       \
	}

static inline void tl_victims_init(struct tl_victim_list *list,
                                   const struct tl_option_value *options)
{
	list->min_run_ns = options[TL_VICTIM_OPTION_MIN_RUN].i;
	list->max_preemptions = options[TL_VICTIM_OPTION_MAX_PREEMPTIONS].i;
	list->wait_after_ns = options[TL_VICTIM_OPTION_WAIT_AFTER].i;
}

/* What of its work a job would lose by its last checkpoint. */
static inline int64_t tl_victim_lost_ns(const struct tl_job_view *job, int64_t now_ns)
{
	int64_t from_ns = job->committed_ns >= 0 ? job->committed_ns : job->started_ns;
	int64_t lost_ns = from_ns >= 0 && now_ns > from_ns ? now_ns - from_ns : 0;

	return job->checkpoint_period_ns > 0 ? lost_ns % job->checkpoint_period_ns : lost_ns;
}

/* When a job will have run for so long: since its last start, but for a start-up as its next
 * one would be. */
static inline int64_t tl_victim_grown_ns(const struct tl_job_view *job, int64_t min_run_ns)
{
	return job->started_ns + (job->restart_ns > 0 ? job->restart_ns : 0) + min_run_ns;
}

/* Whether it has been stopped so often that it is left in peace; 0: no bound. */
static inline int tl_victim_spared(const struct tl_job_view *job, int64_t max_preemptions)
{
	return max_preemptions > 0 && job->preemptions >= max_preemptions;
}

/* Whether anything would be missed: work of an evaluation or a simulation is, once a save or a
 * checkpoint has kept some. */
static inline int tl_victim_valued(const struct tl_job_view *job, int64_t now_ns)
{
	if (job->kind != TL_JOB_EVALUATION && job->kind != TL_JOB_SIMULATION)
		return 1;
	return job->preemptions > 0 ||
	       (job->checkpoint_period_ns > 0 &&
	        job->attained_ns + (now_ns - job->attained_mark_ns) >= job->checkpoint_period_ns);
}

static inline int tl_victim_before(const void *a, const void *b)
{
	const struct tl_victim *x = a, *y = b;

	if (x->young != y->young)
		return x->young < y->young ? -1 : 1;
	if (x->valued != y->valued)
		return x->valued < y->valued ? -1 : 1;
	if (x->cost_mgpu_ns != y->cost_mgpu_ns)
		return x->cost_mgpu_ns < y->cost_mgpu_ns ? -1 : 1;
	if (x->misfit_mgpu != y->misfit_mgpu)
		return x->misfit_mgpu < y->misfit_mgpu ? -1 : 1;
	return x->sequence > y->sequence ? -1 : 1; /* the younger */
}

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

static inline struct tl_victim tl_victim_of(const struct tl_shortfall *ask,
                                            const struct tl_job_view *job,
                                            const struct tl_shape *shape, uint32_t node)
{
	int64_t misfit_mgpu = shape->total_mgpu - ask->shape->total_mgpu;
	double cost_ns = (double)tl_victim_lost_ns(job, ask->now_ns) +
	                 (double)(job->restart_ns > 0 ? job->restart_ns : 0);

	return (struct tl_victim){.id = job->id,
	                          .cost_mgpu_ns =
	                              (int64_t)(cost_ns * (double)shape->total_mgpu / 1000.0),
	                          .misfit_mgpu = misfit_mgpu < 0 ? -misfit_mgpu : misfit_mgpu,
	                          .sequence = job->sequence,
	                          .node = node,
	                          .valued = (int16_t)tl_victim_valued(job, ask->now_ns)};
}

/* Room for so many: 0, or -1 where memory is out. */
static inline int tl_victims_reserve(struct tl_victim_list *list, const struct tl_host *host,
                                     uint32_t count)
{
	uint32_t room = list->room > 0 ? list->room : 64;

	if (count <= list->room)
		return 0;
	while (room < count)
		room *= 2;
	list->items = host->alloc(host, room * sizeof(*list->items));
	list->room = list->items ? room : 0;
	return list->items ? 0 : -1;
}

/* Fills the list, cheapest first: 1, or 0 where the job is not worth it yet or memory is out.
 * Asks to be woken when that, or whom it may stop, changes with time. */
static inline int tl_victims_gather(struct tl_victim_list *list, const struct tl_host *host,
                                    const struct tl_shortfall *ask)
{
	int served = ask->job->service != TL_NO_INDEX;
	int64_t ripe_ns = TL_TIME_NEVER;

	if ((!served && !tl_victim_waited(host, ask, list->wait_after_ns)) ||
	    tl_victims_reserve(list, host, ask->candidate_count) != 0)
		return 0;
	list->count = list->grown = 0;
	for (uint32_t i = 0; i < ask->candidate_count; i++) {
		const struct tl_job_view *job = tl_jobs_at(&ask->jobs, ask->candidates[i]);
		int64_t grown_ns = tl_victim_grown_ns(job, list->min_run_ns);
		int young = grown_ns > ask->now_ns;
		struct tl_placement where;

		if (tl_victim_spared(job, list->max_preemptions))
			continue;
		if (young && !served) {
			ripe_ns = grown_ns < ripe_ns ? grown_ns : ripe_ns;
			continue;
		}
		if (host->allocation(host, job->id, &where) != 0 || where.worker_count == 0)
			continue;
		list->items[list->count] =
		    tl_victim_of(ask, job, host->shape(host, job->shape), where.nodes[0]);
		list->items[list->count++].young = (int16_t)young;
		list->grown += !young;
	}
	if (ripe_ns != TL_TIME_NEVER)
		host->wake_at(host, ripe_ns);
	if (list->count > 0)
		qsort(list->items, list->count, sizeof(*list->items), tl_victim_before);
	return 1;
}

/* Leaves those on one node in the list. */
static inline void tl_victims_keep(struct tl_victim_list *list, uint32_t node)
{
	uint32_t kept = 0, grown = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (list->items[i].node != node)
			continue;
		grown += i < list->grown;
		list->items[kept++] = list->items[i];
	}
	list->count = kept;
	list->grown = grown;
}

static inline uint32_t tl_victims_list(const struct tl_victim_list *list, uint32_t count,
                                       tl_job_id *out)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = list->items[i].id;
	return count;
}

/* Whether the first so many make room. */
static inline int tl_victims_fit(const struct tl_victim_list *list, const struct tl_shortfall *ask,
                                 uint32_t count, tl_job_id *ids)
{
	return count > 0 && ask->fits(ask, ids, tl_victims_list(list, count, ids));
}

/* The fewest cheapest that make room: 1, or 0 where all together do not. */
static inline int tl_victims_choose(struct tl_victim_list *list, const struct tl_shortfall *ask,
                                    struct tl_victims *out)
{
	uint32_t low = 1, high = list->grown;

	if (!tl_victims_fit(list, ask, high, out->ids)) {
		low = high + 1;
		high = list->count;
		if (high < low || !tl_victims_fit(list, ask, high, out->ids))
			return 0;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (tl_victims_fit(list, ask, middle, out->ids))
			high = middle;
		else
			low = middle + 1;
	}
	out->count = tl_victims_list(list, low, out->ids);
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

/* Paced: a node's victims each step, whoever they make room for. */
struct tl_victim_pace {
	int64_t step_ns;
	int64_t last_ns; /* of the last step, which may be yet to come; -1: none yet */
	uint32_t node;   /* whose victims the last step stops; TL_NO_INDEX: several */
};

/* On how many nodes the chosen are; *node is one of them. O(chosen × listed + chosen²). */
static inline uint32_t tl_victims_nodes(struct tl_victim_list *list,
                                        const struct tl_victims *chosen, uint32_t *node)
{
	uint32_t nodes = 0;

	/* Brings the chosen to the front of the list, in which they are. */
	for (uint32_t k = 0; k < chosen->count; k++) {
		uint32_t i = k, seen = 0;

		while (list->items[i].id != chosen->ids[k])
			i++;
		struct tl_victim one = list->items[i];

		list->items[i] = list->items[k];
		list->items[k] = one;
		while (seen < k && list->items[seen].node != one.node)
			seen++;
		nodes += seen == k;
		*node = one.node;
	}
	return nodes;
}

/* As choose, but no faster than the pace: once a step has been taken, only its node's victims
 * until the next is due. Victims on several nodes take as many steps. */
static inline int tl_victims_step(struct tl_victim_list *list, struct tl_victim_pace *pace,
                                  const struct tl_host *host, const struct tl_shortfall *ask,
                                  struct tl_victims *out)
{
	int due = pace->last_ns < 0 || ask->now_ns - pace->last_ns >= pace->step_ns;
	uint32_t node = TL_NO_INDEX;

	if (!due)
		tl_victims_keep(list, pace->node);
	if (!tl_victims_choose(list, ask, out)) {
		if (!due)
			host->wake_at(host, pace->last_ns + pace->step_ns);
		return 0;
	}
	out->step_ns = pace->step_ns;
	if (!due)
		return 1;
	uint32_t nodes = tl_victims_nodes(list, out, &node);

	pace->last_ns = ask->now_ns + (nodes - 1) * pace->step_ns;
	pace->node = nodes == 1 ? node : TL_NO_INDEX;
	return 1;
}

#endif
