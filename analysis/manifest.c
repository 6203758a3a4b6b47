/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/manifest.h"

#include "sim/base/arena.h"
#include "sim/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VERSION = 1 };

static const char format_name[] = "tidelab-sweep";
/* As far as a line tells them: one that was not asked for has no hash, and no ending. */
static const char *const state_names[] = {"missing", "done", "failed"};

/* ---- runs in the order of their hashes ---- */

struct keyed {
	const char *hash;
	size_t run;
};

static int by_hash(const void *a, const void *b)
{
	const struct keyed *left = a, *right = b;
	int order = strcmp(left->hash, right->hash);

	if (order != 0)
		return order;
	return left->run < right->run ? -1 : left->run > right->run;
}

size_t *tl_runs_by_hash(const struct tl_sweep_run *runs, size_t count)
{
	struct keyed *keyed = tl_calloc(count + 1, sizeof *keyed);
	size_t *order = tl_calloc(count + 1, sizeof *order);

	for (size_t i = 0; i < count; i++)
		keyed[i] = (struct keyed){runs[i].hash, i};
	qsort(keyed, count, sizeof *keyed, by_hash);
	for (size_t i = 0; i < count; i++)
		order[i] = keyed[i].run;
	free(keyed);
	return order;
}

/* ---- writing ---- */

static enum tl_status cannot_write(const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
}

enum tl_status tl_sync_path(const char *path, struct tl_error *error)
{
	int descriptor = open(path, O_RDONLY | O_CLOEXEC);
	bool done;

	if (descriptor < 0)
		return cannot_write(path, error);
	/* Some file systems cannot flush a folder: they say so with EINVAL. */
	done = fsync(descriptor) == 0 || errno == EINVAL;
	if (!done)
		(void)cannot_write(path, error);
	(void)close(descriptor);
	return done ? TL_OK : TL_E_IO;
}

/* Writes the object as a line, and frees it. */
static void put(FILE *out, json_t *object)
{
	(void)json_dumpf(object, out, JSON_COMPACT);
	(void)fputc('\n', out);
	json_decref(object);
}

static json_t *ending(const struct tl_sweep_run *run)
{
	json_t *line = json_object();

	(void)json_object_set_new(line, "run", json_string(run->hash));
	(void)json_object_set_new(line, "state", json_string(state_names[run->state]));
	if (run->state == TL_RUN_FAILED) {
		(void)json_object_set_new(line, "exit_code", json_integer(run->exit_code));
		(void)json_object_set_new(line, "reason", json_string(run->reason));
	}
	return line;
}

static json_t *design_line(const struct tl_design *design)
{
	json_t *line = json_object(), *keys = json_array(), *seeds = json_array();
	json_t *cells = json_array();

	for (size_t i = 0; i < design->key_count; i++)
		(void)json_array_append_new(keys, json_string(design->keys[i]));
	for (size_t i = 0; i < design->seed_count; i++)
		(void)json_array_append_new(seeds, json_integer((json_int_t)design->seeds[i]));
	for (size_t cell = 0; cell < design->cell_count; cell++) {
		json_t *values = json_array();

		for (size_t key = 0; key < design->key_count; key++) {
			const char *value = tl_design_value(design, cell, key);

			(void)json_array_append_new(values,
			                            value ? json_string(value) : json_null());
		}
		(void)json_array_append_new(cells, values);
	}
	(void)json_object_set_new(line, "design", json_string(design->name));
	(void)json_object_set_new(line, "keys", keys);
	(void)json_object_set_new(line, "seeds", seeds);
	(void)json_object_set_new(line, "cells", cells);
	return line;
}

static void put_body(FILE *out, const char *identity, const struct tl_subject *subject,
                     const struct tl_design *design, const struct tl_sweep_run *runs, size_t count)
{
	json_t *line = json_object();

	(void)json_object_set_new(line, "format", json_string(format_name));
	(void)json_object_set_new(line, "version", json_integer(VERSION));
	(void)json_object_set_new(line, "identity", json_string(identity));
	(void)json_object_set_new(line, "scenario_name", json_string(subject->name));
	(void)json_object_set_new(line, "scenario", json_string(subject->text));
	put(out, line);
	put(out, design_line(design));
	for (size_t i = 0; i < count; i++) {
		line = json_object();
		(void)json_object_set_new(line, "cell", json_integer((json_int_t)runs[i].cell));
		(void)json_object_set_new(line, "seed", json_integer((json_int_t)runs[i].seed));
		(void)json_object_set_new(
		    line, "run",
		    runs[i].state == TL_RUN_UNASKED ? json_null() : json_string(runs[i].hash));
		put(out, line);
	}
}

static void put_all(FILE *out, const char *identity, const struct tl_subject *subject,
                    const struct tl_design *design, const struct tl_sweep_run *runs, size_t count)
{
	char *body = NULL, sum[TL_SHA256_HEX];
	size_t size = 0;
	FILE *stream = open_memstream(&body, &size);
	json_t *line = json_object();

	if (!stream)
		tl_out_of_memory(0);
	put_body(stream, identity, subject, design, runs, count);
	if (fclose(stream) != 0 || tl_sha256_bytes(body, size, sum, NULL) != TL_OK)
		tl_out_of_memory(size);
	(void)fwrite(body, 1, size, out);
	free(body);
	(void)json_object_set_new(line, "sha256", json_string(sum));
	put(out, line);
	for (size_t i = 0; i < count; i++)
		if (runs[i].state == TL_RUN_DONE || runs[i].state == TL_RUN_FAILED)
			put(out, ending(&runs[i]));
}

enum tl_status tl_manifest_write(const char *path, const char *identity,
                                 const struct tl_subject *subject, const struct tl_design *design,
                                 const struct tl_sweep_run *runs, size_t run_count,
                                 struct tl_error *error)
{
	char *fresh = tl_format("%s.new", path);
	FILE *out = fopen(fresh, "w");
	enum tl_status status = TL_OK;
	bool whole;

	if (!out) {
		status = cannot_write(fresh, error);
		free(fresh);
		return status;
	}
	put_all(out, identity, subject, design, runs, run_count);
	whole = fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
	whole = fclose(out) == 0 && whole;
	if (!whole || rename(fresh, path) != 0) {
		status = cannot_write(path, error);
		(void)unlink(fresh);
	} else {
		char *slash = strrchr(fresh, '/');

		/* The name too is on the disk. */
		*slash = '\0';
		status = tl_sync_path(fresh, error);
	}
	free(fresh);
	return status;
}

enum tl_status tl_manifest_note(const char *path, const struct tl_sweep_run *run,
                                struct tl_error *error)
{
	FILE *out = fopen(path, "a");
	bool whole;

	if (!out)
		return cannot_write(path, error);
	put(out, ending(run));
	whole = fflush(out) == 0 && !ferror(out) && fsync(fileno(out)) == 0;
	if (!whole)
		(void)cannot_write(path, error);
	(void)fclose(out);
	return whole ? TL_OK : TL_E_IO;
}

/* ---- reading ---- */

struct reading {
	const char *path;
	FILE *file;
	char *line;
	size_t room;
	long number;
	char *body; /* the lines read so far, until all are whose sum is kept */
	size_t body_length, body_size;
	bool whole; /* they are */
	struct tl_error *error;
};

static enum tl_status damaged(const struct reading *reading, const char *wanted)
{
	return tl_error_set(reading->error, TL_E_DATA, reading->path, reading->number, 0,
	                    "the manifest is damaged: wanted %s", wanted);
}

/* The next whole line as an object; NULL at the end, or where the line is none. A line that
 * a crash cut short, or ran into by the next, says nothing. */
static json_t *next_line(struct reading *reading, bool *end)
{
	ssize_t length = getline(&reading->line, &reading->room, reading->file);

	*end = length <= 0;
	reading->number++;
	if (*end)
		return NULL;
	if (!reading->whole) {
		reading->body = tl_grow(reading->body, &reading->body_size,
		                        reading->body_length + (size_t)length, 1);
		memcpy(reading->body + reading->body_length, reading->line, (size_t)length);
		reading->body_length += (size_t)length;
	}
	return json_loadb(reading->line, (size_t)length, 0, NULL);
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

static bool all_texts(const json_t *array, bool null_too)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);

		if (!json_is_string(item) && !(null_too && json_is_null(item)))
			return false;
	}
	return json_is_array(array);
}

static bool all_integers(const json_t *array)
{
	for (size_t i = 0; i < json_array_size(array); i++)
		if (!json_is_integer(json_array_get(array, i)))
			return false;
	return json_is_array(array);
}

static const char **texts_of(const json_t *array)
{
	size_t count = json_array_size(array);
	const char **texts = tl_calloc(count + 1, sizeof *texts);

	for (size_t i = 0; i < count; i++)
		texts[i] = json_string_value(json_array_get(array, i));
	return texts;
}

static enum tl_status take_head(struct reading *reading, struct tl_manifest *out)
{
	bool end;
	json_t *line = next_line(reading, &end);
	const char *format = text_of(line, "format"), *identity = text_of(line, "identity");
	const char *name = text_of(line, "scenario_name"), *scenario = text_of(line, "scenario");
	json_int_t version = json_integer_value(json_object_get(line, "version"));
	enum tl_status status = TL_OK;

	if (!format || strcmp(format, format_name) != 0)
		status = tl_error_set(reading->error, TL_E_DATA, reading->path, 0, 0,
		                      "is not the manifest of a sweep");
	else if (version != VERSION)
		status = tl_error_set(reading->error, TL_E_DATA, reading->path, 0, 0,
		                      "got a manifest of version %lld, wanted %d: written by "
		                      "%s tool",
		                      (long long)version, VERSION,
		                      version > VERSION ? "a newer" : "another");
	else if (!identity || !name || !scenario)
		status = damaged(reading, "identity and scenario");
	if (status == TL_OK) {
		out->identity = tl_strdup(identity);
		out->scenario_name = tl_strdup(name);
		out->scenario = tl_strdup(scenario);
	}
	json_decref(line);
	return status;
}

static enum tl_status take_cells(struct reading *reading, const json_t *cells,
                                 struct tl_design *design)
{
	for (size_t i = 0; i < json_array_size(cells); i++) {
		const json_t *cell = json_array_get(cells, i);
		const char **values;

		if (json_array_size(cell) != design->key_count || !all_texts(cell, true))
			return damaged(reading, "a value a key in each cell");
		values = texts_of(cell);
		(void)tl_design_add(design, values);
		free(values);
	}
	return TL_OK;
}

static enum tl_status take_design(struct reading *reading, struct tl_manifest *out)
{
	bool end;
	json_t *line = next_line(reading, &end);
	const json_t *keys = json_object_get(line, "keys"), *seeds = json_object_get(line, "seeds");
	const json_t *cells = json_object_get(line, "cells");
	const char *name = text_of(line, "design");
	const char **key_texts;
	enum tl_status status;

	if (!name || !all_texts(keys, false) || !all_integers(seeds) || !json_is_array(cells)) {
		json_decref(line);
		return damaged(reading, "design, keys, seeds and cells");
	}
	key_texts = texts_of(keys);
	tl_design_init(&out->design, name, key_texts, json_array_size(keys));
	free(key_texts);
	for (size_t i = 0; i < json_array_size(seeds); i++)
		tl_design_seed(&out->design,
		               (uint64_t)json_integer_value(json_array_get(seeds, i)));
	status = take_cells(reading, cells, &out->design);
	json_decref(line);
	return status;
}

static enum tl_status take_runs(struct reading *reading, struct tl_manifest *out)
{
	const struct tl_design *design = &out->design;
	size_t count = design->cell_count * design->seed_count, room = 0;

	/* As many as there are lines of, whatever cells and seeds would make. */
	for (; out->run_count < count; out->run_count++) {
		struct tl_sweep_run *run;
		bool end;
		json_t *line = next_line(reading, &end);
		const char *hash = text_of(line, "run");
		bool unasked = json_is_null(json_object_get(line, "run"));
		bool good = unasked || (hash && strlen(hash) == TL_SHA256_HEX - 1);

		out->runs = tl_grow(out->runs, &room, out->run_count + 1, sizeof *out->runs);
		run = &out->runs[out->run_count];
		if (unasked)
			run->state = TL_RUN_UNASKED;
		else if (good)
			memcpy(run->hash, hash, TL_SHA256_HEX);
		json_decref(line);
		run->cell = out->run_count / design->seed_count;
		run->seed = design->seeds[out->run_count % design->seed_count];
		if (!good)
			return damaged(reading, "a run of the design");
	}
	return TL_OK;
}

/* Behind the lines that are replaced as one: endings are appended, and may be cut short. */
static enum tl_status take_sum(struct reading *reading)
{
	char sum[TL_SHA256_HEX];
	enum tl_status status =
	    tl_sha256_bytes(reading->body, reading->body_length, sum, reading->error);
	const char *kept;
	json_t *line;
	bool end;

	if (status != TL_OK)
		return status;
	reading->whole = true;
	line = next_line(reading, &end);
	kept = text_of(line, "sha256");
	if (!kept || strcmp(kept, sum) != 0)
		status = damaged(reading, "the SHA-256 of the lines above");
	json_decref(line);
	return status;
}

static void apply_ending(struct tl_sweep_run *run, const json_t *line)
{
	const char *state = text_of(line, "state"), *reason = text_of(line, "reason");

	if (!state)
		return;
	free(run->reason);
	run->reason = NULL;
	run->state = strcmp(state, state_names[TL_RUN_DONE]) == 0     ? TL_RUN_DONE
	             : strcmp(state, state_names[TL_RUN_FAILED]) == 0 ? TL_RUN_FAILED
	                                                              : TL_RUN_MISSING;
	if (run->state != TL_RUN_FAILED)
		return;
	run->reason = tl_strdup(reason ? reason : "");
	run->exit_code = (int)json_integer_value(json_object_get(line, "exit_code"));
}

/* The first of the runs, in the order of hashes, that has it; count where none has. */
static size_t find(const struct tl_manifest *manifest, const size_t *order, const char *hash)
{
	size_t low = 0, high = manifest->run_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(manifest->runs[order[middle]].hash, hash) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void take_endings(struct reading *reading, struct tl_manifest *out)
{
	size_t *order = tl_runs_by_hash(out->runs, out->run_count);
	bool end = false;

	while (!end) {
		json_t *line = next_line(reading, &end);
		const char *hash = text_of(line, "run");

		for (size_t i = hash ? find(out, order, hash) : out->run_count;
		     i < out->run_count && strcmp(out->runs[order[i]].hash, hash) == 0; i++)
			apply_ending(&out->runs[order[i]], line);
		json_decref(line);
	}
	free(order);
}

enum tl_status tl_manifest_read(const char *path, struct tl_manifest *out, struct tl_error *error)
{
	struct reading reading = {.path = path, .error = error};
	enum tl_status status;

	*out = (struct tl_manifest){.run_count = 0};
	status = tl_file_open(path, &reading.file, error);
	if (status != TL_OK)
		return tl_error_set(error, status, path, 0, 0,
		                    "%s; a sweep's folder has a manifest", error->message);
	status = take_head(&reading, out);
	if (status == TL_OK)
		status = take_design(&reading, out);
	if (status == TL_OK)
		status = take_runs(&reading, out);
	if (status == TL_OK)
		status = take_sum(&reading);
	if (status == TL_OK)
		take_endings(&reading, out);
	if (status == TL_OK && ferror(reading.file))
		status = tl_error_set(error, TL_E_NOINPUT, path, 0, 0, "cannot be read");
	(void)fclose(reading.file);
	free(reading.line);
	free(reading.body);
	if (status != TL_OK)
		tl_manifest_fini(out);
	return status;
}

void tl_sweep_runs_free(struct tl_sweep_run *runs, size_t count)
{
	for (size_t i = 0; runs && i < count; i++)
		free(runs[i].reason);
	free(runs);
}

void tl_manifest_fini(struct tl_manifest *manifest)
{
	free(manifest->identity);
	free(manifest->scenario_name);
	free(manifest->scenario);
	tl_sweep_runs_free(manifest->runs, manifest->run_count);
	tl_design_fini(&manifest->design);
	*manifest = (struct tl_manifest){.run_count = 0};
}
