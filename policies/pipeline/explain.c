/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reasons, a line each, for those jobs somebody asks about. */
#include "policies/pipeline/pipeline.h"

#include "policies/lib/fit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

enum { LINE_SIZE = 480 };

/* A line that grows; what does not fit is cut. */
struct line {
	char text[LINE_SIZE];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	int length =
	    vsnprintf(line->text + line->length, LINE_SIZE - line->length, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->length += (size_t)length;
	if (line->length > LINE_SIZE - 1)
		line->length = LINE_SIZE - 1;
}

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static const struct tl_worker *worker_of(const struct tl_shape *shape)
{
	return shape->workers > 1 ? &shape->full : &shape->last;
}

void tl_explain_start(struct tl_pipeline *p, tl_job_id id)
{
	if (!p->host->explaining(p->host, id))
		return;
	const struct tl_placement *where = &p->spot.where;
	struct line line = {.length = 0};
	add(&line, "started%s: placed by %s on ",
	    p->head != 0 && p->head != id ? " ahead of the head" : "",
	    p->seats[TL_SEAT_PLACE].module->name);
	if (where->worker_count > 1)
		add(&line, "%" PRIu32 " workers, the first on ", where->worker_count);
	add(&line, "node %" PRIu32, where->nodes[0]);
	if (where->gpu_count > 0 && tl_view_gpu(p->host->view(p->host), where->gpus[0])->free_mgpu <
	                                worker_of(tl_pipeline_shape(p, id))->share_mgpu)
		add(&line, ", beside the job on its GPU%s: no room is free",
		    plural(where->gpu_count));
	p->host->explain(p->host, id, line.text);
}

void tl_explain_hold(struct tl_pipeline *p, tl_job_id id, const char *why)
{
	if (!p->host->explaining(p->host, id))
		return;
	struct line line = {.length = 0};
	add(&line, "waits: held by %s: %s",
	    p->admit != NULL ? p->seats[TL_SEAT_ADMIT].module->name : "the host", why);
	p->host->explain(p->host, id, line.text);
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

/* ---- what binds ------------------------------------------------------------------------ */

/* How many such workers there is room for, counting up to the shape's. */
static uint32_t room_for(const struct tl_view *view, const struct tl_shape *shape,
                         const struct tl_worker *worker)
{
	uint32_t room = 0;
	for (uint32_t n = 0; n < view->node_count && room < shape->workers; n++)
		room += (uint32_t)tl_fit_workers(view, tl_view_node(view, n), shape->model_mask,
		                                 worker, NULL, shape->workers - room);
	return room;
}

/* The resource without which all the workers would have room; "" where it takes several. */
static const char *binding(const struct tl_view *view, const struct tl_shape *shape)
{
	struct tl_worker without = *worker_of(shape);
	without.cpu_milli = 0;
	if (room_for(view, shape, &without) == shape->workers)
		return "CPU cores";
	without = *worker_of(shape);
	without.ram_bytes = 0;
	if (room_for(view, shape, &without) == shape->workers)
		return "RAM";
	without = *worker_of(shape);
	without.gpu_memory_bytes = 0;
	if (without.gpus > 0 && room_for(view, shape, &without) == shape->workers)
		return "GPU memory";
	without = *worker_of(shape);
	without.gpus = 0;
	without.share_mgpu = 0;
	without.gpu_memory_bytes = 0;
	return room_for(view, shape, &without) == shape->workers ? "GPUs" : "";
}

/* GPUs that one worker could use, on nodes that have its CPU and RAM. */
static void add_gpus(struct line *line, const struct tl_view *view, const struct tl_shape *shape)
{
	struct tl_worker one = *worker_of(shape);
	uint32_t wanted = one.gpus, all = 0, most = 0;
	one.gpus = 1;
	for (uint32_t n = 0; n < view->node_count; n++) {
		const struct tl_node_view *node = tl_view_node(view, n);
		if (!tl_fit_coarse(node, shape->model_mask, &one))
			continue;
		uint32_t gpus = tl_fit_gpus(view, node, &one, node->gpu_count);
		all += gpus;
		most = gpus > most ? gpus : most;
	}
	add(line, " (GPUs free that would do: %" PRIu32, all);
	if (wanted > 1)
		add(line, ", at most %" PRIu32 " on one node", most);
	add(line, ")");
}

/* What a job needs, and what of it there is. 1 where there is room for all of it. */
static int add_need(struct line *line, struct tl_pipeline *p, tl_job_id id)
{
	const struct tl_shape *shape = tl_pipeline_shape(p, id);
	const struct tl_worker *worker = worker_of(shape);
	const struct tl_view *view = p->host->view(p->host);
	uint32_t room = room_for(view, shape, worker);
	add(line, "needs ");
	if (shape->workers > 1)
		add(line, "%" PRIu32 " workers of ", shape->workers);
	if (worker->gpus == 0)
		add(line, "CPUs only");
	else if (worker->share_mgpu < TL_FIT_WHOLE_MGPU)
		add(line, "%" PRId32 " thousandths of %" PRIu32 " GPU%s", worker->share_mgpu,
		    worker->gpus, plural(worker->gpus));
	else
		add(line, "%" PRIu32 " GPU%s%s", worker->gpus, plural(worker->gpus),
		    worker->gpus > 1 && shape->workers == 1 ? " on one node" : "");
	if (room >= shape->workers)
		return 1;
	const char *what = binding(view, shape);
	if (shape->workers > 1)
		add(line, ": there is room for %" PRIu32 " of the %" PRIu32, room, shape->workers);
	else
		add(line, ": there is no room");
	if (what[0] != '\0')
		add(line, ", for want of %s", what);
	if (worker->gpus > 0)
		add_gpus(line, view, shape);
	return 0;
}

/* ---- a waiting job ------------------------------------------------------------------------- */

/* The head, or the owner of a claim. */
static void explain_first(struct tl_pipeline *p, tl_job_id id, struct line *line)
{
	add(line, id == p->head ? "waits: first in order, " : "waits: it ");
	if (add_need(line, p, id))
		add(line, ": there is room, but not as %s would place it",
		    p->seats[TL_SEAT_PLACE].module->name);
	if (tl_claim_owned(p, id))
		add(line, "; room is being made for it");
}

/* `1d 01:23:45` */
static void add_instant(struct line *line, int64_t at_ns)
{
	long long s = (long long)(at_ns / 1000000000);
	if (s >= 86400)
		add(line, "%lldd ", s / 86400);
	add(line, "%02lld:%02lld:%02lld", s / 3600 % 24, s / 60 % 60, s % 60);
}

/* What keeps the others back, and since when it will not. */
static void add_head(struct line *line, struct tl_pipeline *p)
{
	add(line, "; the first, job %.64s, ", p->host->job_name(p->host, p->head));
	if (add_need(line, p, p->head))
		add(line, ": there is room, but not as %s would place it",
		    p->seats[TL_SEAT_PLACE].module->name);
	if (p->shadow.known && p->shadow.at_ns != TL_TIME_NEVER) {
		add(line, "; its place is reserved from ");
		add_instant(line, p->shadow.at_ns);
	}
}

static void explain_behind(struct tl_pipeline *p, tl_job_id id, struct line *line)
{
	struct tl_position at = tl_queue_position(&p->queue, TL_JOB_SLOT(id), p->now_ns);
	uint32_t place = tl_queue_rank(&p->queue, &at, p->now_ns) + 1;
	int estimated = p->host->job(p->host, id)->estimate_ns >= 0;
	add(line, "waits: number %" PRIu32 " in order", place);
	if (p->backfill == TL_BACKFILL_NONE) {
		add(line, "; none passes another (backfill: none)");
		add_head(line, p);
		return;
	}
	if (p->backfill != TL_BACKFILL_SKIP && !estimated) {
		add(line, "; it has no estimate, so it never passes those before it");
		add_head(line, p);
		return;
	}
	add(line, "; it ");
	if (add_need(line, p, id)) {
		add(line, ", for which there is room, but it would delay others");
		add_head(line, p);
	}
}

static void explain_one(struct tl_pipeline *p, tl_job_id id)
{
	struct line line = {.length = 0};
	int headed = p->head != 0 && p->host->job(p->host, p->head) != NULL;
	if (id == p->head || tl_claim_owned(p, id))
		explain_first(p, id, &line);
	else if (headed)
		explain_behind(p, id, &line);
	else
		return;
	p->host->explain(p->host, id, line.text);
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
