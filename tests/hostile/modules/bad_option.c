/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A choice without choices. */
#include "tests/hostile/modules/misbehave.h"

static const struct tl_option options[] = {
    {.name = "how", .type = TL_OPTION_CHOICE, .unit = "", .standard = "soft", .help = "which"}};

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

MISBEHAVE_MODULE("bad-option", schedule);
