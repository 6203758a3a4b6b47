/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Linked into the coverage flavour alone. A trial's process leaves through _exit,
 * which would lose its counters; this writes them first.
 */
#include <unistd.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);

_Noreturn void __wrap__exit(int status)
{
	__gcov_dump();
	__real__exit(status);
}
