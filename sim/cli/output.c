/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that take their name when they are whole, and JSON. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/base/number.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"
#include "traces/gzip_out.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *open_partial(const char *path, const char *partial)
{
	const size_t length = strlen(path);
	FILE *file = NULL;
	int descriptor, cause;

	/* Left by a process of this number that was killed outright. */
	(void)unlink(partial);
	descriptor = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (descriptor < 0)
		return NULL;
	if (length > 3 && strcmp(path + length - 3, ".gz") == 0)
		file = tl_gzip_out(descriptor);
	else
		file = fdopen(descriptor, "w");
	if (file)
		return file;
	cause = errno;
	(void)close(descriptor);
	(void)unlink(partial);
	errno = cause;
	return NULL;
}

enum tl_status tl_output_open(struct tl_output *output, const char *path, bool force,
                              struct tl_error *error)
{
	enum tl_status status;

	*output = (struct tl_output){.file = stdout, .path = path, .force = force};
	tl_stop_catch();
	if (!path || strcmp(path, "-") == 0)
		return TL_OK;
	status = tl_output_check(path, force, error);
	if (status != TL_OK)
		return status;
	output->partial = tl_output_partial(path);
	output->file = open_partial(path, output->partial);
	if (output->file)
		return TL_OK;
	status = tl_error_set(error, TL_E_CANTCREAT, path, 0, 0, "cannot be written: %s",
	                      strerror(errno));
	free(output->partial);
	return status;
}

/* A write that failed is told of with the name that was asked for. */
static const char *name_of(const struct tl_output *output)
{
	return output->partial ? output->path : "standard output";
}

static enum tl_status failed(const struct tl_output *output, int cause, struct tl_error *error)
{
	return tl_error_set(error, TL_E_IO, name_of(output), 0, 0, "cannot be written: %s",
	                    cause ? strerror(cause) : "the stream failed");
}

enum tl_status tl_output_close(struct tl_output *output, enum tl_status status,
                               struct tl_error *error)
{
	if (status == TL_E_IO && error->file[0] == '\0')
		(void)snprintf(error->file, sizeof error->file, "%s", name_of(output));
	if (output->partial) {
		errno = 0;
		if (fclose(output->file) != 0 && status == TL_OK)
			status = failed(output, errno, error);
	}
	/* Whatever failed, an interrupted write among it, a signal is the reason. */
	if (tl_stop_asked())
		status = tl_stop_check(error);
	if (!output->partial)
		return status;
	if (status == TL_OK)
		status = tl_output_publish(output->partial, output->path, output->force, error);
	if (status != TL_OK)
		(void)unlink(output->partial);
	free(output->partial);
	return status;
}

/* A real keeps its point, so that it reads back as one. */
static void put_real(double value, FILE *out)
{
	char text[TL_NUMBER_TEXT];

	(void)fputs(tl_number_text(value, text), out);
	if (!strpbrk(text, ".e"))
		(void)fputs(".0", out);
}

/* As json_dumpf() does, but for reals, which it prints with a fixed number of digits. */
static void put_json(json_t *json, int depth, FILE *out)
{
	const bool object = json_is_object(json);
	const size_t count = object ? json_object_size(json) : json_array_size(json);
	void *place = object ? json_object_iter(json) : NULL;

	if (json_is_real(json)) {
		put_real(json_real_value(json), out);
		return;
	}
	if ((!object && !json_is_array(json)) || count == 0) {
		(void)json_dumpf(json, out, JSON_ENCODE_ANY);
		return;
	}
	(void)fputc(object ? '{' : '[', out);
	for (size_t i = 0; i < count; i++) {
		(void)fprintf(out, "%s\n%*s", i > 0 ? "," : "", 2 * depth + 2, "");
		if (object) {
			json_t *key = json_string(json_object_iter_key(place));

			(void)json_dumpf(key, out, JSON_ENCODE_ANY);
			json_decref(key);
			(void)fputs(": ", out);
		}
		put_json(object ? json_object_iter_value(place) : json_array_get(json, i),
		         depth + 1, out);
		if (object)
			place = json_object_iter_next(json, place);
	}
	(void)fprintf(out, "\n%*s%c", 2 * depth, "", object ? '}' : ']');
}

void tl_print_json(json_t *json, FILE *out)
{
	if (!json)
		tl_out_of_memory(0);
	put_json(json, 0, out);
	(void)fputc('\n', out);
	json_decref(json);
}

json_t *tl_json_number(double value)
{
	if (!isfinite(value))
		return json_null();
	/* Counts without a point, as they are. */
	if (fabs(value) < 9e15 && !(value > floor(value)))
		return json_integer((json_int_t)value);
	return json_real(value);
}
