/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides at random, but never impossibly: starts, saves, kills, moves, reserves, rejects.
 * Whatever it does has to leave the books straight. With `calm` it stops stopping things
 * after so many calls, so that a run comes to its end. It also looks whether what a GPU is
 * said to use is what its residents are.
 */
#include "tests/hostile/modules/misbehave.h"

#include <stdlib.h>

static const struct tl_option options[] = {{.name = "calm",
                                            .type = TL_OPTION_INT,
                                            .unit = "calls",
                                            .standard = "200",
                                            .min = 1,
                                            .max = 1e6,
                                            .help = "schedules in peace after so many calls"}};

static void stir(struct misbehave *own, tl_job_id id)
{
	const struct tl_host *host = own->host;
	const struct tl_job_view *job = host->job(host, id);
	struct tl_placement where;
	const uint32_t gpu = 0;

	switch (host->random(host) % 12) {
	case 0:
		(void)host->suspend(host, id, TL_SUSPEND_SAVE);
		break;
	case 1:
		(void)host->suspend(host, id, TL_SUSPEND_KILL);
		break;
	case 2:
	case 3:
		if (misbehave_fit(own, host->shape(host, job->shape), &where))
			(void)host->migrate(host, id, &where);
		break;
	default:
		break;
	}
	uint32_t count = 0;
	const tl_job_id *waiting = host->waiting(host, &count);

	if (count == 0)
		return;
	tl_job_id beside = id;

	id = waiting[host->random(host) % count];
	if (host->allocation(host, beside, &where) == 0 && where.gpu_count > 0 &&
	    host->oversubscription(host, tl_view_node(host->view(host), where.nodes[0])->model)
	            ->residents > 0)
		(void)host->start(host, id, &where); /* where it is the wrong shape, refused */
	switch (host->random(host) % 40) {
	case 0:
		(void)host->reject(host, id, "at random");
		break;
	case 1:
		(void)host->reserve(host, id, host->now(host) + 1000, &gpu, 1);
		break;
	case 2:
		(void)host->reserve(host, id, 0, NULL, 0);
		break;
	default:
		break;
	}
}

/* Residents that come to a GPU beside their old ones (a move) are not listed for it. */
static void check_utilisation(const struct tl_host *host, uint32_t gpu)
{
	const struct tl_gpu_view *view = tl_view_gpu(host->view(host), gpu);
	uint32_t count = 0, residents = 0, unknown = 0;
	const tl_job_id *holding = host->holding(host, &count);
	int64_t sum_milli = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *job = host->job(host, holding[i]);
		struct tl_placement where;

		if (host->allocation(host, holding[i], &where) != 0)
			continue;
		for (uint32_t g = 0; g < where.gpu_count; g++) {
			if (where.gpus[g] != gpu)
				continue;
			residents++;
			unknown += job->utilisation_milli < 0;
			sum_milli += job->utilisation_milli;
		}
	}
	if (residents != view->residents)
		return;
	if (view->utilisation_milli != (unknown > 0 ? -1 : sum_milli > 1000 ? 1000 : sum_milli))
		abort();
}

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;
	const struct tl_host *host = own->host;
	uint32_t count = 0;
	const tl_job_id *holding = host->holding(host, &count);

	(void)changes;
	for (uint32_t g = 0; g < host->view(host)->gpu_count; g++)
		check_utilisation(host, g);
	if (own->calls++ < (uint64_t)own->how) {
		tl_job_id held[MISBEHAVE_ROOM];

		count = misbehave_copy(own, holding, count);
		memcpy(held, own->ids, sizeof held);
		for (uint32_t i = 0; i < count; i++)
			stir(own, held[i]);
		if (host->random(host) % 3 == 0)
			(void)host->wake_at(host, host->now(host) + 1 +
			                              (int64_t)(host->random(host) % 90000000000));
		(void)host->wake_at(host, host->now(host) + INT64_C(1800000000000));
		if (host->random(host) % 4 == 0)
			return; /* idles, for once */
	}
	misbehave_not(own);
	(void)host->holding(host, &count);
	if (count > 0 || own->calls <= (uint64_t)own->how)
		return;
	/* Nothing runs, so what still waits does not fit a node a worker. */
	const tl_job_id *waiting = host->waiting(host, &count);

	count = misbehave_copy(own, waiting, count);
	for (uint32_t i = 0; i < count; i++)
		(void)host->reject(host, own->ids[i], "does not fit");
}

MISBEHAVE_MODULE("random-walk", schedule);
