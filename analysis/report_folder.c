/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report_folder.h"

#include "sim/base/arena.h"
#include "sim/base/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Calls what for each entry's path; false as soon as that says so, or the folder cannot be
 * read. */
static bool each(const char *folder, bool (*what)(const char *path, const char *name))
{
	DIR *stream = opendir(folder);
	bool good = stream != NULL;

	for (struct dirent *entry; good && (entry = readdir(stream));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *path = tl_join(folder, entry->d_name);

		good = what(path, entry->d_name);
		free(path);
	}
	if (stream)
		(void)closedir(stream);
	return good;
}

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), wanted = strlen(end);

	return length >= wanted && strcmp(name + length - wanted, end) == 0;
}

static bool is_ours_of_pictures(const char *path, const char *name)
{
	(void)path;
	return ends_in(name, ".png") || ends_in(name, ".svg") || strstr(name, ".partial");
}

static bool is_ours(const char *path, const char *name)
{
	return strcmp(name, "index.html") == 0 ||
	       (strcmp(name, "pictures") == 0 && each(path, is_ours_of_pictures));
}

static bool remove_file(const char *path, const char *name)
{
	(void)name;
	return unlink(path) == 0;
}

static bool remove_entry(const char *path, const char *name)
{
	if (strcmp(name, "pictures") != 0)
		return unlink(path) == 0;
	return each(path, remove_file) && rmdir(path) == 0;
}

/* A folder of ours, with nothing else in it. */
static bool remove_report(const char *path)
{
	return each(path, is_ours) && each(path, remove_entry) && rmdir(path) == 0;
}

static enum tl_status check(const char *path, bool force, struct tl_error *error)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return TL_OK;
	if (!force)
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "is there already; --force replaces a report");
	if (!S_ISDIR(status.st_mode) || !each(path, is_ours))
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "is no report, or holds something else, and is not replaced: "
		                    "wanted a folder with index.html and pictures alone");
	return TL_OK;
}

enum tl_status tl_report_folder_open(struct tl_report_folder *folder, const char *path, bool force,
                                     struct tl_error *error)
{
	*folder = (struct tl_report_folder){.path = tl_strdup(path), .force = force};
	for (size_t length = strlen(path); length > 1 && folder->path[length - 1] == '/'; length--)
		folder->path[length - 1] = '\0';
	enum tl_status status = check(folder->path, force, error);

	if (status != TL_OK)
		return status;
	char *partial = tl_format("%s.partial-XXXXXX", folder->path);

	if (!mkdtemp(partial) || chmod(partial, 0755) != 0) {
		status = tl_error_set(error, TL_E_CANTCREAT, folder->path, 0, 0,
		                      "cannot make the folder of the report: %s", strerror(errno));
		free(partial);
		return status;
	}
	folder->partial = partial;
	folder->pictures = tl_join(partial, "pictures");
	folder->page = tl_join(partial, "index.html");
	if (mkdir(folder->pictures, 0777) != 0)
		return tl_error_set(error, TL_E_CANTCREAT, folder->pictures, 0, 0,
		                    "cannot make the folder of the pictures: %s", strerror(errno));
	return TL_OK;
}

/* The new takes the old one's name, which is removed then. */
static enum tl_status settle(struct tl_report_folder *folder, struct tl_error *error)
{
	struct stat status;
	bool replaces = lstat(folder->path, &status) == 0;
	char *old = tl_format("%s.old", folder->partial);
	enum tl_status done = TL_OK;

	if ((replaces && rename(folder->path, old) != 0) ||
	    rename(folder->partial, folder->path) != 0) {
		done = tl_error_set(error, TL_E_CANTCREAT, folder->path, 0, 0,
		                    "cannot give the report its name: %s", strerror(errno));
		if (replaces)
			(void)rename(old, folder->path);
	} else if (replaces && !remove_report(old)) {
		done =
		    tl_error_set(error, TL_E_IO, old, 0, 0,
		                 "cannot remove the report that was replaced: %s", strerror(errno));
	}
	free(old);
	return done;
}

enum tl_status tl_report_folder_close(struct tl_report_folder *folder, enum tl_status status,
                                      struct tl_error *error)
{
	/* Another may have taken the name meanwhile. */
	if (folder->partial && status == TL_OK)
		status = check(folder->path, folder->force, error);
	if (folder->partial && status == TL_OK)
		status = settle(folder, error);
	if (folder->partial && status != TL_OK)
		(void)remove_report(folder->partial);
	free(folder->path);
	free(folder->partial);
	free(folder->pictures);
	free(folder->page);
	*folder = (struct tl_report_folder){.path = NULL};
	return status;
}
