/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of a text file, plain or gzip. A line is at most TL_TRACE_LINE_MAX bytes: a
 * longer one is an error as soon as that much was read, and memory stays bounded by it.
 */
#ifndef TIDELAB_TRACES_INPUT_H
#define TIDELAB_TRACES_INPUT_H

#include "sim/base/error.h"
#include "traces/lint.h"

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

struct tl_input {
	gzFile file;
	const char *path; /* the caller's; outlives the input */
	struct tl_lint *lint;
	char *buffer;
	size_t capacity, begin, searched, end;
	bool at_end;
	long line; /* of the line last handed out; 1-based */
};

/* Wants a regular, readable, non-empty file. Nothing to close on failure. */
enum tl_status tl_input_open(struct tl_input *input, const char *path, struct tl_lint *lint,
                             struct tl_error *error);
void tl_input_close(struct tl_input *input);

/* The next line without its LF or CR LF, NUL-terminated; the caller may overwrite
 * text[0 … size]. Valid until the next call. TL_END after the last. */
enum tl_status tl_input_line(struct tl_input *input, char **text, size_t *size,
                             struct tl_error *error);

/* Whether a line holds nothing but spaces and tabs. */
bool tl_input_is_blank(const char *text);

#endif
