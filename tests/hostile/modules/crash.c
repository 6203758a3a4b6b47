/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Takes its process down, in schedule(). */
#include "tests/hostile/modules/misbehave.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum how { NOTHING, NULL_READ, ABORT, EXIT_0, EXIT_3, EXIT_NOW, STACK, TERMINATE, WAIT };
MISBEHAVE_HOW("nothing|null-read|abort|exit-0|exit-3|exit-now|stack|terminate|wait", "null-read");

static volatile int64_t depth;
static const int64_t *volatile nothing;

static int64_t deeper(volatile char *before)
{
	volatile char here[4096] = {(char)depth++};

	if (depth < 0)
		return 0;
	return before[0] + deeper(here) + here[depth % 4096];
}

static void schedule(void *self, const struct tl_changes *changes)
{
	struct misbehave *own = self;
	char first = 0;

	(void)changes;
	misbehave_not(own); /* so that there is something to dump */
	switch ((enum how)own->how) {
	case NOTHING:
		break;
	case NULL_READ:
		own->calls += (uint64_t)*nothing;
		break;
	case ABORT:
		abort();
	case EXIT_0:
		exit(0);
	case EXIT_3:
		exit(3);
	case EXIT_NOW:
		_exit(0);
	case STACK:
		own->calls += (uint64_t)deeper(&first);
		break;
	case TERMINATE:
		(void)raise(SIGTERM);
		break;
	case WAIT:
		(void)sleep(1000);
		break;
	}
}

MISBEHAVE_MODULE("crash", schedule);
