/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Opens a seat from schedule(), then crashes: the blame is the scheduler's. */
#include "tests/hostile/modules/misbehave.h"

#include <stdlib.h>

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;

	(void)changes;
	if (own->host->seat(own->host, TL_SEAT_ORDER).module)
		abort();
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    MISBEHAVE_TEXTS("late-seat"),
    .create = misbehave_create,
    .ops = &ops,
};
