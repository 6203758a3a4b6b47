/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of a test's own: a suite's .init and .fini are scratch_make and scratch_remove. */
#ifndef TIDELAB_TESTS_SCRATCH_H
#define TIDELAB_TESTS_SCRATCH_H

#include <stddef.h>

void scratch_make(void);
/* With all that is in it. */
void scratch_remove(void);

/* FOLDER/NAME, or the folder for NULL; until scratch_remove. */
const char *scratch_path(const char *name);

void scratch_write(const char *name, const char *text);
/* The bytes of a file anywhere, and a NUL; malloc'd. */
char *scratch_read(const char *path, size_t *size);

#endif
