/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/scratch.h"

#include "sim/base/arena.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* A test is a process: this is one test's. */
static struct tl_arena names;
static char *folder;

void scratch_make(void)
{
	const char *temporary = getenv("TMPDIR");

	tl_arena_init(&names);
	folder = tl_arena_format(&names, "%s/tidelab-XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(folder));
}

void scratch_remove(void)
{
	cr_expect_eq(system(tl_arena_format(&names, "/bin/rm -rf '%s'", folder)), 0);
	tl_arena_fini(&names);
}

const char *scratch_path(const char *name)
{
	return name ? tl_arena_format(&names, "%s/%s", folder, name) : folder;
}

void scratch_write(const char *name, const char *text)
{
	FILE *stream = fopen(scratch_path(name), "w");

	cr_assert_not_null(stream, "%s", name);
	cr_assert_geq(fputs(text, stream), 0);
	cr_assert_eq(fclose(stream), 0);
}

char *scratch_read(const char *path, size_t *size)
{
	FILE *stream = fopen(path, "rb");
	struct stat status;
	char *bytes;

	cr_assert_not_null(stream, "%s", path);
	cr_assert_eq(fstat(fileno(stream), &status), 0);
	*size = (size_t)status.st_size;
	bytes = tl_calloc(*size + 1, 1);
	cr_assert_eq(fread(bytes, 1, *size, stream), *size);
	(void)fclose(stream);
	return bytes;
}
