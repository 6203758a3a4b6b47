/* SPDX-License-Identifier: GPL-3.0-or-later */
/* For a seat that does not exist. */
#include "tests/hostile/modules/misbehave.h"

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_COUNT),
    MISBEHAVE_TEXTS("no-such-seat"),
    .create = misbehave_create,
    .ops = &ops,
};
