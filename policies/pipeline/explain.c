/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons, a line each, for those jobs somebody asks about. Jobs are named by their number
 * of submission. */
#include "policies/pipeline/pipeline.h"

#include <inttypes.h>
#include <stdio.h>

enum { LINE_SIZE = 240 };

void tl_explain_start(struct tl_pipeline *p, tl_job_id id)
{
	if (!p->host->explaining(p->host, id))
		return;
	const struct tl_placement *where = &p->spot.where;
	char line[LINE_SIZE];
	const char *name = p->seats[TL_SEAT_PLACE].module->name;
	int passes = p->head != 0 && p->head != id;
	if (where->worker_count > 1)
		snprintf(
		    line, sizeof(line),
		    "started%s: placed by %s on %" PRIu32 " workers, the first on node %" PRIu32,
		    passes ? " ahead of the head" : "", name, where->worker_count, where->nodes[0]);
	else
		snprintf(line, sizeof(line), "started%s: placed by %s on node %" PRIu32,
		         passes ? " ahead of the head" : "", name, where->nodes[0]);
	p->host->explain(p->host, id, line);
}

void tl_explain_hold(struct tl_pipeline *p, tl_job_id id, const char *why)
{
	if (!p->host->explaining(p->host, id))
		return;
	char line[LINE_SIZE];
	snprintf(line, sizeof(line), "waits: held by %s: %s",
	         p->admit != NULL ? p->seats[TL_SEAT_ADMIT].module->name : "the host", why);
	p->host->explain(p->host, id, line);
}

int tl_explain_watch(struct tl_pipeline *p, tl_job_id id)
{
	if (!p->host->explaining(p->host, id))
		return 0;
	int failed = 0;
	TL_GROW(p->host, p->watched, p->watched_room, p->watched_count + 1, failed);
	if (failed != 0)
		return -1;
	p->watched[p->watched_count++] = id;
	return 0;
}

/* What a job needs and what there is. */
static void describe_need(struct tl_pipeline *p, tl_job_id id, char *line, size_t size)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, id);
	const struct tl_worker *worker = shape->workers > 1 ? &shape->full : &shape->last;
	const struct tl_view *view = p->host->view(p->host);
	uint32_t most = 0;
	for (uint32_t n = 0; n < view->node_count; n++) {
		uint32_t free_gpus = tl_view_node(view, n)->free_gpus;
		most = free_gpus > most ? free_gpus : most;
	}
	snprintf(line, size,
	         "needs %" PRIu32 " worker%s of %" PRIu32 " GPU%s at %" PRId32 " m; %" PRIu32
	         " GPUs are wholly free, at most %" PRIu32 " on one node",
	         shape->workers, shape->workers == 1 ? "" : "s", worker->gpus,
	         worker->gpus == 1 ? "" : "s", worker->share_mgpu, view->free_gpus, most);
}

static void explain_one(struct tl_pipeline *p, tl_job_id id)
{
	char need[LINE_SIZE / 2 + 32], line[LINE_SIZE];
	if (p->head == 0 || p->host->job(p->host, p->head) == NULL)
		return;
	describe_need(p, p->head, need, sizeof(need));
	if (id == p->head) {
		snprintf(line, sizeof(line), "waits: first in order, %s%s", need,
		         p->claim.job == id ? "; room is being made for it" : "");
	} else {
		struct tl_position at = tl_queue_position(&p->queue, TL_JOB_SLOT(id), p->now_ns);
		snprintf(line, sizeof(line),
		         "waits: %" PRIu32 " jobs before it in order; the first, number %" PRIu64
		         ", %s",
		         tl_queue_rank(&p->queue, &at, p->now_ns),
		         p->host->job(p->host, p->head)->sequence, need);
	}
	p->host->explain(p->host, id, line);
}

void tl_explain_waiting(struct tl_pipeline *p)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < p->watched_count; i++) {
		tl_job_id id = p->watched[i];
		if (!tl_queue_waits(&p->queue, id))
			continue;
		p->watched[kept++] = id;
		const struct tl_lane *lane = &p->queue.lanes[p->queue.items[TL_JOB_SLOT(id)].lane];
		if (!p->queue.classes[lane->class_of].held)
			explain_one(p, id);
	}
	p->watched_count = kept;
}
