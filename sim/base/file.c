/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

static enum tl_status cannot_open(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_NOINPUT, path, 0, 0, "cannot be opened: %s",
	                    strerror(errno));
}

enum tl_status tl_file_check(const char *path, struct tl_error *error)
{
	struct stat info;

	if (path[0] == '\0')
		return tl_error_set(error, TL_E_NOINPUT, NULL, 0, 0,
		                    "got an empty name, wanted that of a file");
	if (stat(path, &info) != 0)
		return cannot_open(path, error);
	if (S_ISREG(info.st_mode))
		return TL_OK;
	return tl_error_set(error, TL_E_NOINPUT, path, 0, 0, "is a %s, wanted a plain file",
	                    S_ISDIR(info.st_mode) ? "folder" : "device, pipe or socket");
}

enum tl_status tl_file_open(const char *path, FILE **out, struct tl_error *error)
{
	enum tl_status status = tl_file_check(path, error);

	if (status != TL_OK)
		return status;
	*out = fopen(path, "rb");
	return *out ? TL_OK : cannot_open(path, error);
}
