/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Needs something that nobody has. */
#include "tests/hostile/modules/misbehave.h"

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    .capabilities = UINT64_C(1) << 63,
    MISBEHAVE_TEXTS("unknown-capability"),
    .create = misbehave_create,
    .ops = &ops,
};
