/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _GNU_SOURCE /* fopencookie */
#include "traces/gzip_out.h"

#include <errno.h>
#include <zlib.h>

static ssize_t put(void *cookie, const char *text, size_t size)
{
	const unsigned piece = size > 1u << 30 ? 1u << 30 : (unsigned)size;

	return size == 0 ? 0 : (ssize_t)gzwrite(cookie, text, piece);
}

static int end(void *cookie)
{
	int code = gzclose(cookie);

	if (code == Z_OK)
		return 0;
	if (code != Z_ERRNO)
		errno = EIO;
	return EOF;
}

FILE *tl_gzip_out(int descriptor)
{
	const cookie_io_functions_t functions = {.write = put, .close = end};
	gzFile file = gzdopen(descriptor, "wb");
	FILE *out = file == NULL ? NULL : fopencookie(file, "w", functions);

	if (file != NULL && out == NULL)
		(void)gzclose(file);
	return out;
}
