/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/output.h"

#include "sim/base/arena.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *tl_join(const char *folder, const char *name)
{
	return tl_format("%s/%s", folder, name);
}

/* The file is written beside its final name: without the folder there is nothing. */
static enum tl_status check_folder(const char *path, struct tl_error *error)
{
	const char *slash = strrchr(path, '/');
	enum tl_status status = TL_OK;
	struct stat info;
	char *folder;

	if (!slash || slash == path)
		return TL_OK;
	folder = tl_strndup(path, (size_t)(slash - path));
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

static enum tl_status exists(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
	                    "exists already: --force replaces it");
}

enum tl_status tl_output_check(const char *path, bool force, struct tl_error *error)
{
	struct stat info;

	if (path[0] == '\0')
		return tl_error_set(error, TL_E_CANTCREAT, NULL, 0, 0,
		                    "output, got an empty name, wanted the name of a file");
	if (stat(path, &info) != 0)
		return check_folder(path, error);
	if (S_ISDIR(info.st_mode))
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "is a folder, wanted a file name");
	if (!S_ISREG(info.st_mode)) /* a rename would replace a device by a file */
		return tl_error_set(
		    error, TL_E_CANTCREAT, path, 0, 0,
		    "got a device, pipe or socket, wanted the name of a plain file");
	return force ? TL_OK : exists(path, error);
}

char *tl_output_partial(const char *path)
{
	const char *slash = strrchr(path, '/');
	int folder = slash == NULL ? 0 : (int)(slash - path + 1);

	return tl_format("%.*s.%s.%ld.partial", folder, path, path + folder, (long)getpid());
}

void tl_output_rename_error(const char *partial, const char *path, struct tl_error *error)
{
	/* Long names are cut there. */
	if (strncmp(error->file, partial, sizeof error->file - 1) == 0)
		(void)snprintf(error->file, sizeof error->file, "%s", path);
}

enum tl_status tl_output_publish(const char *partial, const char *path, bool force,
                                 struct tl_error *error)
{
	if (!force) {
		if (link(partial, path) == 0) {
			(void)unlink(partial);
			return TL_OK;
		}
		if (errno == EEXIST)
			return exists(path, error);
		/* A file system without hard links: rename does. */
	}
	if (rename(partial, path) != 0)
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0, "cannot be written: %s",
		                    strerror(errno));
	return TL_OK;
}
