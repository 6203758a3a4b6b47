/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scheduler that cannot schedule: the mandatory callback is missing. */
#include "tests/hostile/modules/misbehave.h"

static const struct tl_scheduler_ops ops = {.struct_size = sizeof ops};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    MISBEHAVE_TEXTS("no-callback"),
    .create = misbehave_create,
    .ops = &ops,
};
