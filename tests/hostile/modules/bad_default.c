/* SPDX-License-Identifier: GPL-3.0-or-later */
/* An option whose default is not one of its own values. */
#include "tests/hostile/modules/misbehave.h"

MISBEHAVE_HOW("never|always", "sometimes");

static void schedule(void *self, const struct tl_changes *changes)
{
	(void)changes;
	misbehave_not(self);
}

MISBEHAVE_MODULE("bad-default", schedule);
