/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Does not come into being as it should, or does not go. */
#include "tests/hostile/modules/misbehave.h"

#include <stdlib.h>
#include <time.h>

enum how { SLOW, FAIL, FAIL_SILENT, FAIL_LONG, CRASH, SPIN, CRASH_LATE };
MISBEHAVE_HOW("slow|fail|fail-silent|fail-long|crash|spin|crash-late", "slow");

static int create(const struct tl_host *host, const struct tl_create *with, void **self)
{
	static volatile int for_ever = 1;
	const struct timespec while_asleep = {.tv_nsec = 700000000};

	if (misbehave_create(host, with, self) != 0)
		return -1;
	switch ((enum how)with->options[0].i) {
	case SLOW:
		(void)nanosleep(&while_asleep, NULL);
		return 0;
	case FAIL:
		return tl_module_fail(with, "the moon is in the wrong quarter");
	case FAIL_SILENT:
		return -1;
	case FAIL_LONG:
		memset(with->error, 'x', with->error_size);
		return 1;
	case CRASH:
		abort();
	case SPIN:
		while (for_ever)
			;
		return 0;
	case CRASH_LATE:
		break;
	}
	return 0;
}

static void destroy(void *self)
{
	if (((struct misbehave *)self)->how == CRASH_LATE)
		abort();
}

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    MISBEHAVE_TEXTS("bad-create"),
    .options = options,
    .option_count = 1,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .destroy = destroy,
    .ops = &ops,
};
