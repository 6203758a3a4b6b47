/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Never gets anywhere: by doing nothing, by doing it for ever, or by undoing it. */
#include "tests/hostile/modules/misbehave.h"

enum how { NOTHING, WAKE, WAKE_HOURLY, SPIN, SUSPEND, KILL, MIGRATE, NIBBLE };
MISBEHAVE_HOW("nothing|wake|wake-hourly|spin|suspend|kill|migrate|nibble", "nothing");

/* A second of work each time: it does get on, at what price. */
static void nibble(struct misbehave *own, tl_job_id id)
{
	const struct tl_host *host = own->host;
	const int64_t until = host->job(host, id)->attained_mark_ns + INT64_C(1000000000);

	if (host->now(host) >= until)
		(void)host->suspend(host, id, TL_SUSPEND_SAVE);
	else
		(void)host->wake_at(host, until);
}

static void undo(struct misbehave *own)
{
	const struct tl_host *host = own->host;
	tl_job_id id = misbehave_find(own, TL_JOB_RUNNING);
	struct tl_placement where;

	if (id == 0)
		return;
	if (own->how == MIGRATE &&
	    misbehave_fit(own, host->shape(host, host->job(host, id)->shape), &where))
		(void)host->migrate(host, id, &where);
	if (own->how == SUSPEND)
		(void)host->suspend(host, id, TL_SUSPEND_SAVE);
	if (own->how == NIBBLE)
		nibble(own, id);
	if (own->how == KILL)
		(void)host->suspend(host, id, TL_SUSPEND_KILL);
}

static void schedule(void *self, const struct tl_changes *changes)
{
	static volatile int for_ever = 1;
	struct misbehave *own = self;
	const int64_t now = own->host->now(own->host);

	(void)changes;
	if (own->how == SPIN)
		while (for_ever)
			;
	if (own->how == WAKE)
		(void)own->host->wake_at(own->host, now + 1);
	if (own->how == WAKE_HOURLY)
		(void)own->host->wake_at(own->host, now + INT64_C(3600000000000));
	if (own->how < SPIN)
		return;
	undo(own);
	misbehave_not(own);
}

MISBEHAVE_MODULE("stuck", schedule);
