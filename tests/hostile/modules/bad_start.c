/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Starts a job in every wrong way there is, then properly. */
#include "tests/hostile/modules/misbehave.h"

enum how {
	STALE,
	NO_JOB,
	NO_PLACE,
	NO_NODES,
	NO_GPUS,
	WORKERS,
	GPUS,
	HUGE_COUNT,
	NODE,
	GPU,
	ELSEWHERE,
	TWICE,
	FULL,
	RUNNING,
	DOWN
};
MISBEHAVE_HOW("stale|no-job|no-place|no-nodes|no-gpus|workers|gpus|huge-count|node|gpu|elsewhere|"
              "twice|full|running|down",
              "stale");

/* A waiting job of this shape, or with TL_NO_INDEX one that fits; 0. */
static tl_job_id alike(struct misbehave *own, uint32_t shape)
{
	uint32_t count = 0;
	const tl_job_id *waiting = own->host->waiting(own->host, &count);
	struct tl_placement where;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t asked = own->host->job(own->host, waiting[i])->shape;

		if (shape == TL_NO_INDEX
		        ? misbehave_fit(own, own->host->shape(own->host, asked), &where)
		        : asked == shape)
			return waiting[i];
	}
	return 0;
}

static void spoil(struct misbehave *own, tl_job_id id, struct tl_placement *where)
{
	const struct tl_host *host = own->host;
	struct tl_placement *given = where;

	switch ((enum how)own->how) {
	case STALE:
		id ^= UINT64_C(1) << 40;
		break;
	case NO_JOB:
		id = 0;
		break;
	case NO_PLACE:
		given = NULL;
		break;
	case NO_NODES:
		where->nodes = NULL;
		break;
	case NO_GPUS:
		where->gpus = NULL;
		break;
	case WORKERS:
		where->worker_count = 0;
		break;
	case GPUS:
		where->gpu_count--;
		break;
	case HUGE_COUNT:
		where->worker_count = where->gpu_count = UINT32_MAX;
		break;
	case NODE:
		where->nodes[0] = UINT32_MAX;
		break;
	case GPU:
		where->gpus[0] = UINT32_MAX;
		break;
	case ELSEWHERE:
		where->nodes[0] ^= 1;
		break;
	case TWICE:
		where->gpus[1] = where->gpus[0];
		break;
	case FULL: /* where a job like it has just been put */
	case RUNNING:
		(void)host->start(host, id, where);
		if (own->how == FULL)
			id = alike(own, host->job(host, id)->shape);
		if (id == 0)
			return;
		break;
	case DOWN:
		if (tl_view_node(host->view(host), 0)->state == TL_NODE_UP)
			return;
		where->nodes[0] = 0;
		break;
	}
	(void)host->start(host, id, given);
}

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;
	tl_job_id id = alike(own, TL_NO_INDEX);
	struct tl_placement where;

	(void)changes;
	if (id != 0 &&
	    misbehave_fit(own, own->host->shape(own->host, own->host->job(own->host, id)->shape),
	                  &where))
		spoil(own, id, &where);
	misbehave_not(own);
}

MISBEHAVE_MODULE("bad-start", schedule);
