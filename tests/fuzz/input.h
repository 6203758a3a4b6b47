/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the fuzz targets share: an input as a text, and as a file. */
#ifndef TIDELAB_TESTS_FUZZ_INPUT_H
#define TIDELAB_TESTS_FUZZ_INPUT_H

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* malloc'd, with a NUL behind it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = tl_calloc(size + 1, 1);

	if (size > 0)
		memcpy(text, data, size);
	return text;
}

enum { FUZZ_PATH_SIZE = 128 };

/* A folder of this process' own in $TMPDIR; made once, and removed by whoever set that. */
static inline const char *fuzz_folder(void)
{
	static char folder[FUZZ_PATH_SIZE / 2];

	if (folder[0] == '\0') {
		const char *parent = getenv("TMPDIR");

		(void)snprintf(folder, sizeof folder, "%s/fuzz.XXXXXX", parent ? parent : "/tmp");
		TL_ASSERT(mkdtemp(folder) != NULL);
	}
	return folder;
}

/* Writes the input to folder/name, and says in path where that is. */
static inline void fuzz_file(const char *name, const uint8_t *data, size_t size,
                             char path[FUZZ_PATH_SIZE])
{
	FILE *file;

	(void)snprintf(path, FUZZ_PATH_SIZE, "%s/%s", fuzz_folder(), name);
	file = fopen(path, "wb");
	TL_ASSERT(file != NULL);
	TL_ASSERT(fwrite(data, 1, size, file) == size);
	TL_ASSERT(fclose(file) == 0);
}

/* Whoever refuses says why. */
static inline void fuzz_refused(const struct tl_error *error)
{
	TL_ASSERT(error->code != TL_OK && error->message[0] != '\0');
}

#endif
