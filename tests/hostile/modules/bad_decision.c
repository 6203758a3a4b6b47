/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Every other decision, asked wrongly; garbage to every read; then schedules properly. */
#include "tests/hostile/modules/misbehave.h"

enum how {
	SUSPEND_WAITING,
	SUSPEND_MODE,
	SUSPEND_STALE,
	MIGRATE_WAITING,
	MIGRATE_NOWHERE,
	RESIZE,
	SCALE,
	RESERVE_NULL,
	RESERVE_PAST,
	RESERVE_GPU,
	RESERVE_MANY,
	RESERVE_RUNNING,
	REJECT_RUNNING,
	WAKE_PAST,
	WAKE_NOW,
	GARBAGE
};
MISBEHAVE_HOW(
    "suspend-waiting|suspend-mode|suspend-stale|migrate-waiting|migrate-nowhere|resize|scale|"
    "reserve-null|reserve-past|reserve-gpu|reserve-many|reserve-running|reject-running|"
    "wake-past|wake-now|garbage",
    "suspend-mode");

static int garbage(const struct tl_host *host)
{
	const tl_job_id wrong[] = {0, 1, UINT64_MAX, UINT64_C(1) << 33, UINT32_MAX};
	struct tl_placement where;
	uint32_t count;
	int kept = host->alloc(host, SIZE_MAX / 2) == NULL && host->alloc(host, SIZE_MAX) == NULL;

	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		kept &= host->job(host, wrong[i]) == NULL &&
		        host->allocation(host, wrong[i], &where) == -1;
		host->explain(host, wrong[i], NULL);
		host->explain(host, wrong[i], "nothing");
		kept &= !host->explaining(host, wrong[i]);
		kept &= host->job_name(host, wrong[i])[0] == '\0';
	}
	kept &= host->shape(host, UINT32_MAX) == NULL && host->model(host, UINT32_MAX) == NULL;
	kept &= host->tenant(host, UINT32_MAX) == NULL && host->queue(host, UINT32_MAX) == NULL;
	kept &= host->service(host, 0) == NULL && host->gpu_jobs(host, UINT32_MAX, &count) == NULL;
	kept &=
	    host->distance(host, UINT32_MAX, 0) == TL_ACROSS && host->extension(host, NULL) == NULL;
	kept &= host->extension(host, "tidelab.nothing/9") == NULL;
	kept &= host->seat(host, (enum tl_seat_kind)99).module == NULL;
	kept &= host->seat(host, TL_SEAT_FORECAST).module == NULL;
	host->log(host, (enum tl_log_level)77, "no such level");
	host->log(host, TL_LOG_ERROR, NULL);
	host->log(host, TL_LOG_INFO, kept ? "garbage kept out" : "garbage got in");
	return kept;
}

static void do_wrong(struct misbehave *own, tl_job_id waits, tl_job_id runs)
{
	const struct tl_host *host = own->host;
	const uint32_t gpus[] = {0, UINT32_MAX};
	const int64_t now = host->now(host);
	struct tl_placement nowhere = {0};

	switch ((enum how)own->how) {
	case SUSPEND_WAITING:
		(void)host->suspend(host, waits, TL_SUSPEND_KILL);
		break;
	case SUSPEND_MODE:
		(void)host->suspend(host, runs, (enum tl_suspend_mode) - 7);
		break;
	case SUSPEND_STALE:
		(void)host->suspend(host, runs + (UINT64_C(1) << 32), TL_SUSPEND_SAVE);
		break;
	case MIGRATE_WAITING:
		(void)host->migrate(host, waits, &nowhere);
		break;
	case MIGRATE_NOWHERE:
		(void)host->migrate(host, runs, NULL);
		break;
	case RESIZE:
		(void)host->resize(host, runs, 9, UINT32_MAX, NULL);
		break;
	case SCALE:
		(void)host->scale(host, 0, UINT32_MAX);
		break;
	case RESERVE_NULL:
		(void)host->reserve(host, waits, now + 1, NULL, 3);
		break;
	case RESERVE_PAST:
		(void)host->reserve(host, waits, -1, gpus, 1);
		break;
	case RESERVE_GPU:
		(void)host->reserve(host, waits, now + 1, gpus, 2);
		break;
	case RESERVE_MANY:
		(void)host->reserve(host, waits, now + 1, gpus, UINT32_MAX);
		break;
	case RESERVE_RUNNING:
		(void)host->reserve(host, runs, now + 1, gpus, 1);
		break;
	case REJECT_RUNNING:
		(void)host->reject(host, runs, NULL);
		break;
	case WAKE_PAST:
		(void)host->wake_at(host, INT64_MIN);
		break;
	case WAKE_NOW:
		(void)host->wake_at(host, now);
		break;
	case GARBAGE:
		(void)garbage(host);
		break;
	}
}

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;
	uint32_t count = 0;
	const tl_job_id *waiting = own->host->waiting(own->host, &count);
	tl_job_id runs = misbehave_find(own, TL_JOB_RUNNING);

	(void)changes;
	if (count > 0 && runs != 0)
		do_wrong(own, waiting[0], runs);
	misbehave_not(own);
}

MISBEHAVE_MODULE("bad-decision", schedule);
