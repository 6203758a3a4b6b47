/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * For policies that misbehave: an instance, an honest first fit to fall back on, and the
 * module's description. A misbehaving scheduler does its worst, then schedules properly.
 */
#ifndef TIDELAB_TESTS_MISBEHAVE_H
#define TIDELAB_TESTS_MISBEHAVE_H

#include "policies/lib/fit.h"
#include "policies/lib/module.h"

enum { MISBEHAVE_ROOM = 256 };

struct misbehave {
	const struct tl_host *host;
	int64_t how;    /* the module's first option */
	uint64_t calls; /* of schedule() */
	/* Of the placement being made. */
	uint32_t nodes[MISBEHAVE_ROOM], gpus[MISBEHAVE_ROOM];
	tl_job_id ids[MISBEHAVE_ROOM]; /* a copy of a list that decisions change */
};

/* The first nodes that fit, a node a worker; 1, or 0 where the shape does not fit so. */
static inline int misbehave_fit(struct misbehave *own, const struct tl_shape *shape,
                                struct tl_placement *out)
{
	const struct tl_view *view = own->host->view(own->host);
	uint32_t worker = 0, gpu = 0;

	*out = (struct tl_placement){.nodes = own->nodes,
	                             .gpus = own->gpus,
	                             .worker_room = MISBEHAVE_ROOM,
	                             .gpu_room = MISBEHAVE_ROOM};
	if (shape->workers > MISBEHAVE_ROOM || shape->gpus > MISBEHAVE_ROOM)
		return 0;
	for (uint32_t n = 0; n < view->node_count && worker < shape->workers; n++) {
		const struct tl_worker *one = tl_fit_worker(shape, worker);

		if (!tl_fit_node(view, tl_view_node(view, n), shape->model_mask, one))
			continue;
		if (one->gpus > 0)
			tl_fit_pick(view, tl_view_node(view, n), one, NULL, TL_FIT_TIGHT,
			            own->gpus + gpu);
		gpu += one->gpus;
		own->nodes[worker++] = n;
	}
	out->worker_count = worker;
	out->gpu_count = gpu;
	return worker == shape->workers;
}

static inline uint32_t misbehave_copy(struct misbehave *own, const tl_job_id *ids, uint32_t count)
{
	if (count > MISBEHAVE_ROOM)
		count = MISBEHAVE_ROOM;
	for (uint32_t i = 0; i < count; i++)
		own->ids[i] = ids[i];
	return count;
}

/* Starts what fits, in the order of the waiting list. */
static inline void misbehave_not(struct misbehave *own)
{
	uint32_t count = 0;
	const tl_job_id *waiting = own->host->waiting(own->host, &count);

	count = misbehave_copy(own, waiting, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = own->host->job(own->host, own->ids[i]);
		struct tl_placement where;

		if (job && misbehave_fit(own, own->host->shape(own->host, job->shape), &where))
			(void)own->host->start(own->host, own->ids[i], &where);
	}
}

/* Some job that holds GPUs in this state; 0. */
static inline tl_job_id misbehave_find(const struct misbehave *own, enum tl_job_state state)
{
	uint32_t count = 0;
	const tl_job_id *ids = own->host->holding(own->host, &count);

	for (uint32_t i = 0; i < count; i++)
		if (own->host->job(own->host, ids[i])->state == (uint8_t)state)
			return ids[i];
	return 0;
}

static inline int misbehave_create(const struct tl_host *host, const struct tl_create *with,
                                   void **self)
{
	if (tl_module_instance(host, with, sizeof(struct misbehave), self) != 0)
		return -1;
	((struct misbehave *)*self)->host = host;
	if (with->options)
		((struct misbehave *)*self)->how = with->options[0].i;
	return 0;
}

/* An option `how` with these words. */
#define MISBEHAVE_HOW(words, first)                                                                \
	static const struct tl_option options[] = {{.name = "how",                                 \
	                                            .type = TL_OPTION_CHOICE,                      \
	                                            .unit = "",                                    \
	                                            .standard = (first),                           \
	                                            .choices = (words),                            \
	                                            .help = "which misdeed"}}

#define MISBEHAVE_TEXTS(module_name)                                                               \
	.name = (module_name), .version = "1.0", .summary = "misbehaves, for the tests"

/* What most of these modules end with. */
#define MISBEHAVE_MODULE(module_name, schedule_function)                                           \
	static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops,                     \
	                                            .schedule = (schedule_function)};              \
	TL_MODULE = {TL_MODULE_HEAD(TL_SEAT_SCHEDULER),                                            \
	             MISBEHAVE_TEXTS(module_name),                                                 \
	             .options = options,                                                           \
	             .option_count = 1,                                                            \
	             .option_stride = sizeof(struct tl_option),                                    \
	             .create = misbehave_create,                                                   \
	             .ops = &ops}

#endif
