/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/input.h"

#include "sim/base/arena.h"
#include "sim/base/file.h"
#include "sim/base/stop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16, LONG_LINE = 1000 };

static bool ends_in(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);
	return length >= tail && strcmp(text + length - tail, ending) == 0;
}

/* Reads until the buffer has a chunk more, or the file ends. */
static enum tl_status fill(struct tl_input *input, struct tl_error *error)
{
	if (input->begin > 0) {
		memmove(input->buffer, input->buffer + input->begin, input->end - input->begin);
		input->end -= input->begin;
		input->searched -= input->begin;
		input->begin = 0;
	}
	/* one byte to spare: a last line without newline gets a NUL too */
	input->buffer = tl_grow(input->buffer, &input->capacity, input->end + CHUNK + 1, 1);
	if (tl_stop_asked())
		return tl_stop_check(error);
	int got = gzread(input->file, input->buffer + input->end, CHUNK);
	int code = Z_OK;
	const char *why = gzerror(input->file, &code);

	if (got > 0)
		input->end += (size_t)got;
	if (code == Z_BUF_ERROR) /* reported once all that could be inflated was handed out */
		return tl_error_set(error, TL_E_DATA, input->path, input->line + 1, 0,
		                    "gzip data, got a file cut short, wanted a whole one");
	if (code == Z_MEM_ERROR)
		tl_out_of_memory(CHUNK);
	if (code == Z_ERRNO)
		return tl_error_set(error, TL_E_IO, input->path, input->line + 1, 0,
		                    "cannot read on: %s", strerror(errno));
	if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
		return tl_error_set(error, TL_E_DATA, input->path, input->line + 1, 0,
		                    "gzip data, got damage (%s), wanted a sound file", why);
	input->at_end = got < CHUNK;
	return TL_OK;
}

static enum tl_status start(struct tl_input *input, struct tl_error *error)
{
	static const char bom[] = "\xEF\xBB\xBF";
	enum tl_status status = fill(input, error);

	if (status != TL_OK)
		return status;
	if (input->end == 0)
		return tl_error_set(error, TL_E_DATA, input->path, 1, 0,
		                    "input, got an empty file, wanted a header and rows");
	if (ends_in(input->path, ".gz") && gzdirect(input->file))
		return tl_error_set(
		    error, TL_E_DATA, input->path, 0, 0,
		    "gzip data, got a file that does not start as one, wanted what its "
		    "name says");
	if (input->end >= 3 && memcmp(input->buffer, bom, 3) == 0) {
		input->begin = 3;
		input->searched = 3;
		tl_lint_hit(input->lint, TL_LINT_BOM, 1);
	}
	return TL_OK;
}

enum tl_status tl_input_open(struct tl_input *input, const char *path, struct tl_lint *lint,
                             struct tl_error *error)
{
	enum tl_status status = tl_file_check(path, error);

	if (status != TL_OK)
		return status;
	memset(input, 0, sizeof *input);
	input->path = path;
	input->lint = lint;
	errno = 0;
	input->file = gzopen(path, "rb");
	if (input->file == NULL && (errno == 0 || errno == ENOMEM))
		tl_out_of_memory(CHUNK);
	if (input->file == NULL)
		return tl_error_set(error, TL_E_NOINPUT, path, 0, 0, "cannot be opened: %s",
		                    strerror(errno));
	gzbuffer(input->file, CHUNK);
	status = start(input, error);
	if (status != TL_OK)
		tl_input_close(input);
	return status;
}

void tl_input_close(struct tl_input *input)
{
	if (input->file != NULL)
		gzclose(input->file);
	input->file = NULL;
	free(input->buffer);
	input->buffer = NULL;
}

static enum tl_status too_long(const struct tl_input *input, struct tl_error *error)
{
	return tl_error_set(error, TL_E_DATA, input->path, input->line + 1, 0,
	                    "line, got more than %d bytes, wanted at most that", TL_TRACE_LINE_MAX);
}

/* Puts *end at the newline of the line at begin, or at the end of the data. */
static enum tl_status find_end(struct tl_input *input, char **end, struct tl_error *error)
{
	for (;;) {
		size_t left = input->end - input->searched;
		*end = left > 0 ? memchr(input->buffer + input->searched, '\n', left) : NULL;
		if (*end != NULL)
			break;
		input->searched = input->end;
		if (input->end - input->begin > TL_TRACE_LINE_MAX)
			return too_long(input, error);
		if (input->at_end) {
			if (input->begin == input->end)
				return TL_END;
			tl_lint_hit(input->lint, TL_LINT_NO_FINAL_NEWLINE, input->line + 1);
			*end = input->buffer + input->end;
			break;
		}
		enum tl_status status = fill(input, error);
		if (status != TL_OK)
			return status;
	}
	if (*end - (input->buffer + input->begin) > TL_TRACE_LINE_MAX)
		return too_long(input, error);
	return TL_OK;
}

enum tl_status tl_input_line(struct tl_input *input, char **text, size_t *size,
                             struct tl_error *error)
{
	char *end;
	enum tl_status status = find_end(input, &end, error);

	if (status != TL_OK)
		return status;
	char *from = input->buffer + input->begin;
	size_t length = (size_t)(end - from);
	bool last = end == input->buffer + input->end;

	input->line++;
	if (memchr(from, '\0', length) != NULL)
		return tl_error_set(error, TL_E_DATA, input->path, input->line, 0,
		                    "line, got a NUL byte, wanted text");
	input->begin += length + (last ? 0 : 1);
	input->searched = input->begin;
	if (length > LONG_LINE)
		tl_lint_hit(input->lint, TL_LINT_LONG_LINE, input->line);
	if (length > 0 && from[length - 1] == '\r') {
		length--;
		tl_lint_hit(input->lint, TL_LINT_CRLF, input->line);
	}
	from[length] = '\0';
	*text = from;
	*size = length;
	return TL_OK;
}

bool tl_input_is_blank(const char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return *text == '\0';
}
