/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where shipped data and modules are. */
#define _XOPEN_SOURCE 700 /* realpath */

#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/version.h"
#include "sim/config/scenario.h"
#include "sim/config/schema.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The executable's folder, or empty. Set before any look-up and never changed after. */
static char executable_folder[PATH_MAX];

/* A command without a slash was found along PATH. */
static char *find_command(const char *name)
{
	const char *path = getenv("PATH");

	while (path && *path != '\0') {
		size_t length = strcspn(path, ":");
		char *candidate = tl_format("%.*s/%s", (int)length, path, name);

		if (length > 0 && access(candidate, X_OK) == 0)
			return candidate;
		free(candidate);
		path += length + (path[length] == ':');
	}
	return NULL;
}

void tl_paths_set_executable(const char *argv0)
{
	char *command = strchr(argv0, '/') ? tl_strdup(argv0) : find_command(argv0);
	char resolved[PATH_MAX];
	char *slash;

	executable_folder[0] = '\0';
	if (command && realpath(command, resolved)) {
		slash = strrchr(resolved, '/');
		*slash = '\0';
		memcpy(executable_folder, resolved, strlen(resolved) + 1);
	}
	free(command);
}

/* A program that never said where it is (a test, say) is looked up in the system. */
static const char *executable(void)
{
	ssize_t length;
	char *slash;

	if (executable_folder[0] != '\0')
		return executable_folder;
	length = readlink("/proc/self/exe", executable_folder, sizeof executable_folder - 1);
	executable_folder[length > 0 ? length : 0] = '\0';
	slash = strrchr(executable_folder, '/');
	if (slash)
		*slash = '\0';
	return executable_folder;
}

/* Folders in order of preference: the build tree, a moved installation, the installed place. */
static const char *const data_places[] = {"../../workloads", "../../../workloads",
                                          "../share/tidelab"};
static const char *const module_places[] = {"policies", "../policies", "../lib/tidelab/policies"};

enum { PLACES = 3 };

static char *data_path(size_t place, const char *name)
{
	return place < PLACES ? tl_format("%s/%s/%s", executable(), data_places[place], name)
	                      : tl_join(tl_datadir, name);
}

char *tl_paths_data(const char *kind, const char *name)
{
	size_t length = strlen(name);
	bool has_suffix = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
	char *file = tl_format("%s/%s%s", kind, name, has_suffix ? "" : ".yaml");
	char resolved[PATH_MAX];
	char *found = NULL;

	for (size_t i = 0; i <= PLACES && !found; i++) {
		char *path = data_path(i, file);

		if (access(path, R_OK) == 0 && realpath(path, resolved))
			found = tl_strdup(resolved);
		free(path);
	}
	free(file);
	return found;
}

/* Module folder number i in order of search, or NULL past the last. */
static char *module_folder(size_t i)
{
	const char *extra = getenv("TIDELAB_POLICY_PATH");

	if (i == 0)
		return tl_join(executable(), module_places[0]);
	if (i == 1)
		return tl_join(executable(), module_places[1]);
	i -= 2;
	while (extra && *extra != '\0') {
		size_t length = strcspn(extra, ":");

		if (length > 0 && i-- == 0)
			return tl_strndup(extra, length);
		extra += length + (extra[length] == ':');
	}
	if (i == 0)
		return tl_join(executable(), module_places[2]);
	return i == 1 ? tl_join(tl_libdir, "policies") : NULL;
}

char *tl_paths_module(const char *name)
{
	char *folder, *path = NULL;

	if (strchr(name, '/'))
		return access(name, R_OK) == 0 ? tl_strdup(name) : NULL;
	for (size_t i = 0; !path && (folder = module_folder(i)); i++) {
		path = tl_format("%s/%s.so", folder, name);
		if (access(path, R_OK) != 0) {
			free(path);
			path = NULL;
		}
		free(folder);
	}
	return path;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct names {
	char **names;
	size_t count, capacity;
};

static void collect(struct names *out, const char *folder, const char *suffix)
{
	DIR *listing = opendir(folder);
	const struct dirent *entry;
	const size_t end = strlen(suffix);

	while (listing && (entry = readdir(listing))) {
		size_t length = strlen(entry->d_name);

		if (length <= end || entry->d_name[0] == '.' ||
		    strcmp(entry->d_name + length - end, suffix) != 0)
			continue;
		out->names =
		    tl_grow(out->names, &out->capacity, out->count + 2, sizeof *out->names);
		out->names[out->count] = tl_strdup(entry->d_name);
		out->names[out->count++][length - end] = '\0';
	}
	if (listing)
		(void)closedir(listing);
}

/* Sorts them, drops doubles and ends the list. */
static char **finish(struct names *all)
{
	size_t kept = 0;

	all->names = tl_grow(all->names, &all->capacity, all->count + 1, sizeof *all->names);
	qsort(all->names, all->count, sizeof *all->names, compare_names);
	for (size_t i = 0; i < all->count; i++) {
		if (kept > 0 && strcmp(all->names[kept - 1], all->names[i]) == 0)
			free(all->names[i]);
		else
			all->names[kept++] = all->names[i];
	}
	all->names[kept] = NULL;
	return all->names;
}

char **tl_paths_modules(void)
{
	struct names all = {.names = NULL};
	char *folder;

	for (size_t i = 0; (folder = module_folder(i)); i++) {
		collect(&all, folder, ".so");
		free(folder);
	}
	return finish(&all);
}

char **tl_paths_data_names(const char *kind)
{
	struct names all = {.names = NULL};

	for (size_t i = 0; i <= PLACES; i++) {
		char *folder = data_path(i, kind);

		collect(&all, folder, ".yaml");
		free(folder);
	}
	return finish(&all);
}

void tl_paths_free(char **names)
{
	for (size_t i = 0; names && names[i]; i++)
		free(names[i]);
	free(names);
}

const char *tl_paths_near(const char *kind, const char *got, char *buffer, size_t size)
{
	char **names = kind ? tl_paths_data_names(kind) : tl_paths_modules();
	size_t count = 0;

	while (names[count])
		count++;
	(void)tl_suggest_text((const char *const *)names, count, got, buffer, size);
	tl_paths_free(names);
	return buffer;
}
