/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void tl_assert_fail(const char *condition, const char *file, int line, const char *function)
{
	/* The one place where the library speaks: after this there is no caller to tell. */
	(void)fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, function, condition);
	abort();
}
