/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decides where only schedule() may: in create(), in observers, and amid its own decisions. */
#include "tests/hostile/modules/misbehave.h"

static void decide(struct misbehave *own, tl_job_id id)
{
	const struct tl_host *host = own->host;
	struct tl_placement where = {.nodes = own->nodes, .gpus = own->gpus};

	(void)host->start(host, id, &where);
	(void)host->suspend(host, id, TL_SUSPEND_KILL);
	(void)host->migrate(host, id, &where);
	(void)host->resize(host, id, 0, 1, &where);
	(void)host->scale(host, 0, 1);
	(void)host->reserve(host, id, INT64_MAX, NULL, 0);
	(void)host->reject(host, id, "outside");
}

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	if (misbehave_create(host, with, self) != 0)
		return -1;
	decide(*self, 1);
	return 0;
}

static void submitted(void *self, const struct tl_job_view *job)
{
	decide(self, job->id);
}

static void changed(void *self, const struct tl_job_view *job, enum tl_job_state from)
{
	(void)from;
	decide(self, job->id);
}

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

static const struct tl_observer_ops observer = {
    .struct_size = sizeof observer, .job_submitted = submitted, .job_state_changed = changed};
static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    MISBEHAVE_TEXTS("outside"),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
