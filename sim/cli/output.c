/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files that take their name when they are whole, and JSON. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file is written beside its final name: without the folder there is nothing. */
static enum tl_status check_folder(const char *path, struct tl_error *error)
{
	const char *slash = strrchr(path, '/');
	enum tl_status status = TL_OK;
	struct stat info;
	char *folder;

	if (!slash || slash == path)
		return TL_OK;
	folder = tl_strdup(path);
	folder[slash - path] = '\0';
	if (stat(folder, &info) != 0)
		status =
		    tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                 "cannot be written: folder `%.200s`: %s", folder, strerror(errno));
	else if (!S_ISDIR(info.st_mode))
		status = tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                      "cannot be written: `%.200s` is not a folder", folder);
	free(folder);
	return status;
}

enum tl_status tl_check_output(const char *path, bool force, struct tl_error *error)
{
	struct stat info;

	if (stat(path, &info) != 0)
		return check_folder(path, error);
	if (S_ISDIR(info.st_mode))
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "is a folder, wanted a file name");
	if (force)
		return TL_OK;
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
	                    "exists already: --force replaces it");
}

enum tl_status tl_output_open(struct tl_output *output, const char *path, bool force,
                              struct tl_error *error)
{
	enum tl_status status;
	size_t size;

	*output = (struct tl_output){.file = stdout, .path = path};
	if (!path || strcmp(path, "-") == 0)
		return TL_OK;
	status = tl_check_output(path, force, error);
	if (status != TL_OK)
		return status;
	size = strlen(path) + 32;
	output->partial = tl_alloc(size);
	(void)snprintf(output->partial, size, "%s.%ld.part", path, (long)getpid());
	output->file = fopen(output->partial, "w");
	if (output->file)
		return TL_OK;
	status = tl_error_set(error, TL_E_CANTCREAT, path, 0, 0, "cannot be written: %s",
	                      strerror(errno));
	free(output->partial);
	return status;
}

enum tl_status tl_output_close(struct tl_output *output, struct tl_error *error)
{
	enum tl_status status = TL_OK;
	bool failed;

	if (!output->partial)
		return TL_OK; /* stdout: looked at when the command ends */
	failed = ferror(output->file) != 0;
	failed = fclose(output->file) != 0 || failed;
	if (failed || rename(output->partial, output->path) != 0) {
		status = tl_error_set(error, TL_E_IO, output->path, 0, 0, "cannot be written: %s",
		                      strerror(errno));
		(void)unlink(output->partial);
	}
	free(output->partial);
	return status;
}

void tl_output_abandon(struct tl_output *output)
{
	if (!output->partial)
		return;
	(void)fclose(output->file);
	(void)unlink(output->partial);
	free(output->partial);
}

void tl_print_json(json_t *json, FILE *out)
{
	if (!json)
		tl_out_of_memory(0);
	(void)json_dumpf(json, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
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
