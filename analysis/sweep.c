/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* realpath */
/* A folder of runs: taking it, and giving it back. */
#include "analysis/sweep.h"

#include "analysis/sweep_private.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *tl_run_path(const char *folder, const char *hash)
{
	return tl_format("%s/runs/%s.h5", folder, hash);
}

char *tl_sweep_path(const struct tl_sweep *sweep, const char *hash)
{
	return tl_run_path(sweep->dir, hash);
}

const char *tl_run_describe(const struct tl_design *design, const struct tl_sweep_run *run,
                            char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t key = 0; key < design->key_count && used < size; key++) {
		const char *value = tl_design_value(design, run->cell, key);

		if (value)
			used += (size_t)snprintf(buffer + used, size - used, "%s=%.80s ",
			                         design->keys[key], value);
	}
	if (used < size)
		(void)snprintf(buffer + used, size - used, "seed %llu",
		               (unsigned long long)run->seed);
	return buffer;
}

enum tl_status tl_run_read(const char *path, const char *hash, struct tl_row_summary **rows,
                           size_t *count, struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	enum tl_status status = tl_results_open(path, &reader, error);
	void *read = NULL;
	size_t number = 0;
	char *identity;

	if (status != TL_OK)
		return status;
	identity = tl_results_get_text(reader, "identity");
	if (!identity || strcmp(identity, hash) != 0)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "is not the result its name says: something that the run "
		                      "depends on was changed meanwhile");
	free(identity);
	if (status == TL_OK)
		status = tl_results_read(reader, &tl_schema_summary, &read, &number, error);
	tl_results_reader_close(reader);
	if (status != TL_OK || !rows) {
		free(read);
		return status;
	}
	*rows = read;
	*count = number;
	return TL_OK;
}

/* ---- what the folder is for ---- */

/* The distinct values, as far as a reader would read them: the hash of the cells tells the
 * rest. */
static void put_values(const struct tl_design *design, size_t key, FILE *out)
{
	enum { TOLD_MAX = 50 };
	const char *told[TOLD_MAX];
	size_t count = 0;

	for (size_t cell = 0; cell < design->cell_count; cell++) {
		const char *value = tl_design_value(design, cell, key);
		bool seen = false;

		value = value ? value : "(its own)";
		for (size_t i = 0; i < count && !seen; i++)
			seen = strcmp(told[i], value) == 0;
		if (seen)
			continue;
		if (count == TOLD_MAX) {
			(void)fputs(", ...", out);
			return;
		}
		(void)fprintf(out, "%s %s", count > 0 ? "," : "", value);
		told[count++] = value;
	}
}

static void hash_cells(const struct tl_design *design, char out[TL_SHA256_HEX])
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		tl_out_of_memory(0);
	for (size_t i = 0; i < design->cell_count * design->key_count; i++)
		(void)fprintf(stream, "%s\n", design->values[i] ? design->values[i] : "");
	if (fclose(stream) != 0 || tl_sha256_bytes(text, size, out, NULL) != TL_OK)
		tl_out_of_memory(size);
	free(text);
}

char *tl_sweep_identity(const struct tl_subject *subject, const struct tl_design *design)
{
	char *text = NULL, hash[TL_SHA256_HEX];
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out || tl_sha256_bytes(subject->text, strlen(subject->text), hash, NULL) != TL_OK)
		tl_out_of_memory(0);
	(void)fprintf(out, "design: %s\n", design->name);
	for (size_t key = 0; key < design->key_count; key++) {
		(void)fprintf(out, "%s:", design->keys[key]);
		/* Of a drawn design the values say little, and are many. */
		if (strncmp(design->name, "sobol", 5) != 0)
			put_values(design, key, out);
		(void)fputc('\n', out);
	}
	(void)fprintf(out, "seeds:");
	for (size_t i = 0; i < design->seed_count; i++)
		(void)fprintf(out, "%s %llu", i > 0 ? "," : "",
		              (unsigned long long)design->seeds[i]);
	(void)fprintf(out, "\nscenario: %s, sha256 %s\n", subject->name, hash);
	hash_cells(design, hash);
	(void)fprintf(out, "cells: %zu, sha256 %s\n", design->cell_count, hash);
	if (fclose(out) != 0)
		tl_out_of_memory(size);
	return text;
}

static enum tl_status cannot_create(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0, "cannot be made: %s",
	                    strerror(errno));
}

/* Names the first line in which they differ. */
static enum tl_status refuse_other(const char *dir, const char *held, const char *wanted,
                                   struct tl_error *error)
{
	size_t got_length = strcspn(held, "\n"), wanted_length = strcspn(wanted, "\n");

	while (got_length == wanted_length && strncmp(held, wanted, got_length) == 0 &&
	       held[got_length] != '\0') {
		held += got_length + 1;
		wanted += wanted_length + 1;
		got_length = strcspn(held, "\n");
		wanted_length = strcspn(wanted, "\n");
	}
	return tl_error_set(error, TL_E_CANTCREAT, dir, 0, 0,
	                    "holds another sweep: its `%.*s` is not `%.*s`; name another folder",
	                    got_length > 200 ? 200 : (int)got_length, held,
	                    wanted_length > 200 ? 200 : (int)wanted_length, wanted);
}

/* What a sweep that was killed at its very start may have left, and its lock. */
static bool is_ours(const char *name)
{
	static const char *const names[] = {".", "..", "lock", "runs", "logs", "manifest.new"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static enum tl_status check_empty(const char *dir, struct tl_error *error)
{
	DIR *folder = opendir(dir);
	enum tl_status status = TL_OK;

	if (!folder)
		return tl_error_set(error, TL_E_CANTCREAT, dir, 0, 0, "cannot be read: %s",
		                    strerror(errno));
	for (struct dirent *entry; status == TL_OK && (entry = readdir(folder)) != NULL;)
		if (!is_ours(entry->d_name))
			status = tl_error_set(error, TL_E_CANTCREAT, dir, 0, 0,
			                      "holds `%.80s` and no sweep, wanted an empty folder, "
			                      "one of this sweep, or a new name",
			                      entry->d_name);
	(void)closedir(folder);
	return status;
}

/* A sweep of the same scenario, all of whose runs are among those wanted now. */
static bool is_part(const struct tl_sweep *sweep, const struct tl_manifest *held)
{
	const struct tl_design *design = sweep->options.design;
	char *identity = tl_sweep_identity(sweep->subject, &held->design);
	bool same = strcmp(identity, held->identity) == 0;

	free(identity);
	return same && design && tl_design_covers(design, &held->design);
}

/* Refuses a folder that is for something else; one that is for nothing yet is marked once
 * it is known what is to be run. */
static enum tl_status check_purpose(struct tl_sweep *sweep, struct tl_error *error)
{
	struct tl_manifest held;
	enum tl_status status;

	if (access(sweep->manifest, F_OK) != 0) {
		status = check_empty(sweep->dir, error);
		sweep->fresh = status == TL_OK;
		return status;
	}
	status = tl_manifest_read(sweep->manifest, &held, error);
	if (status != TL_OK)
		return status;
	if (strcmp(held.identity, sweep->identity) != 0 && !is_part(sweep, &held))
		status = refuse_other(sweep->options.dir, held.identity, sweep->identity, error);
	else if (!sweep->options.design)
		status = tl_asked_begin(sweep, &held, error);
	tl_manifest_fini(&held);
	return status;
}

/* ---- taking it ---- */

static enum tl_status make_folder(const char *path, bool *made, struct tl_error *error)
{
	struct stat info;

	if (path[0] == '\0')
		return tl_error_set(error, TL_E_CANTCREAT, NULL, 0, 0,
		                    "output, got an empty name, wanted the name of a folder");
	*made = mkdir(path, 0777) == 0;
	if (*made)
		return TL_OK;
	if (errno != EEXIST)
		return cannot_create(path, error);
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		return TL_OK;
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
	                    "is a file, wanted the name of a folder");
}

static enum tl_status take_lock(struct tl_sweep *sweep, struct tl_error *error)
{
	char *path = tl_join(sweep->dir, "lock");
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET}, holder = lock;
	enum tl_status status = TL_OK;

	sweep->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	if (sweep->lock < 0) {
		status = tl_error_set(error, TL_E_CANTCREAT, sweep->options.dir, 0, 0,
		                      "cannot be written: %s", strerror(errno));
	} else if (fcntl(sweep->lock, F_SETLK, &lock) != 0) {
		status = tl_error_set(error, TL_E_CANTCREAT, sweep->options.dir, 0, 0,
		                      "cannot be locked: %s", strerror(errno));
		if (fcntl(sweep->lock, F_GETLK, &holder) == 0 && holder.l_type != F_UNLCK)
			status = tl_error_set(error, TL_E_CANTCREAT, sweep->options.dir, 0, 0,
			                      "is being swept just now, by process %ld",
			                      (long)holder.l_pid);
	}
	free(path);
	return status;
}

/* Half-written results of runs that are no more: what writes them dies with its sweep. */
static void remove_partials(const struct tl_sweep *sweep)
{
	char *runs = tl_join(sweep->dir, "runs");
	DIR *folder = opendir(runs);

	for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
		const char *ending = strstr(entry->d_name, ".partial");
		char *path;

		if (entry->d_name[0] != '.' || !ending || strcmp(ending, ".partial") != 0)
			continue;
		path = tl_join(runs, entry->d_name);
		(void)unlink(path);
		free(path);
	}
	if (folder)
		(void)closedir(folder);
	free(runs);
}

static enum tl_status make_inner(const struct tl_sweep *sweep, struct tl_error *error)
{
	static const char *const names[] = {"runs", "logs"};
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < sizeof names / sizeof *names && status == TL_OK; i++) {
		char *path = tl_join(sweep->dir, names[i]);
		bool made;

		status = make_folder(path, &made, error);
		free(path);
	}
	return status;
}

/* As seen from anywhere; of a folder that need not be there. */
static char *absolute(const char *dir)
{
	char *real = realpath(dir, NULL), *here, *path;

	if (real || dir[0] == '/')
		return real ? real : tl_strdup(dir);
	here = getcwd(NULL, 0);
	path = tl_join(here ? here : ".", dir);
	free(here);
	return path;
}

static enum tl_status take(struct tl_sweep *sweep, struct tl_error *error)
{
	enum tl_status status = make_folder(sweep->options.dir, &sweep->made, error);

	if (status != TL_OK)
		return status;
	free(sweep->dir);
	free(sweep->manifest);
	sweep->dir = absolute(sweep->options.dir);
	sweep->manifest = tl_join(sweep->dir, "manifest");
	status = take_lock(sweep, error);
	if (status == TL_OK)
		status = check_purpose(sweep, error);
	if (status == TL_OK)
		status = make_inner(sweep, error);
	return status;
}

enum tl_status tl_sweep_open(const struct tl_sweep_options *options,
                             const struct tl_subject *subject, struct tl_sweep **out,
                             struct tl_error *error)
{
	struct tl_sweep *sweep = tl_calloc(1, sizeof *sweep);
	struct tl_executor_options how = {
	    .jobs = options->jobs, .arguments = options->arguments, .chunk = options->chunk};
	enum tl_status status = TL_OK;

	sweep->options = *options;
	sweep->subject = subject;
	sweep->identity = tl_strdup(options->identity);
	sweep->lock = -1;
	sweep->dir = absolute(options->dir);
	sweep->manifest = tl_join(sweep->dir, "manifest");
	if (!options->dry)
		status = take(sweep, error);
	how.folder = sweep->dir;
	if (status == TL_OK)
		status = options->executor->open(&how, &sweep->executor, error);
	if (status != TL_OK) {
		tl_sweep_close(sweep);
		return status;
	}
	if (!options->dry) {
		tl_stop_catch();
		if (!options->executor->outlives)
			remove_partials(sweep);
	}
	*out = sweep;
	return TL_OK;
}

static void remove_files(const struct tl_sweep *sweep, const char *name)
{
	char *path = tl_join(sweep->dir, name);
	DIR *folder = opendir(path);

	for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
		char *file = tl_join(path, entry->d_name);

		(void)unlink(file);
		free(file);
	}
	if (folder)
		(void)closedir(folder);
	free(path);
}

void tl_sweep_discard(struct tl_sweep *sweep)
{
	if (!sweep->fresh)
		return;
	remove_files(sweep, "runs");
	remove_files(sweep, "logs");
	(void)unlink(sweep->manifest);
	sweep->marked = false;
}

/* Nothing came of it: nothing is left. */
static void remove_empty(const struct tl_sweep *sweep)
{
	static const char *const names[] = {"runs", "logs", "slurm", "lock"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *path = tl_join(sweep->dir, names[i]);

		if (unlink(path) != 0)
			(void)rmdir(path);
		free(path);
	}
	if (sweep->made)
		(void)rmdir(sweep->dir);
}

void tl_sweep_close(struct tl_sweep *sweep)
{
	if (!sweep)
		return;
	if (sweep->executor)
		sweep->options.executor->close(sweep->executor);
	if ((sweep->made || sweep->fresh) && !sweep->marked)
		remove_empty(sweep);
	if (sweep->lock >= 0)
		(void)close(sweep->lock);
	tl_asked_fini(sweep);
	free(sweep->identity);
	free(sweep->manifest);
	free(sweep->dir);
	free(sweep);
}
