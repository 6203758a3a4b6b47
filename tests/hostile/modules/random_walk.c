/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decides at random, but never impossibly: starts, saves, kills, moves, reserves, rejects.
 * Whatever it does has to leave the books straight. With `calm` it stops stopping things
 * after so many calls, so that a run comes to its end.
 */
#include "tests/hostile/modules/misbehave.h"

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

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;
	const struct tl_host *host = own->host;
	uint32_t count = 0;
	const tl_job_id *holding = host->holding(host, &count);

	(void)changes;
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
