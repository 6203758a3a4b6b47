/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Wants more of the contract than this host has. */
#include "tests/hostile/modules/misbehave.h"

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops, .schedule = schedule};

TL_MODULE = {
    .magic = TL_ABI_MAGIC,
    .struct_size = sizeof(struct tl_module),
    .abi_major = TL_ABI_MAJOR,
    .abi_minor = TL_ABI_MINOR + 1,
    .seat = TL_SEAT_SCHEDULER,
    MISBEHAVE_TEXTS("newer-minor"),
    .create = misbehave_create,
    .ops = &ops,
};
