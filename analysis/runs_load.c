/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs from result files, from folders of them, and from sweeps. */
#include "analysis/runs.h"

#include "analysis/sweep_data.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct tl_runs *append(struct tl_runs_list *list, struct tl_runs *runs)
{
	list->items = tl_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
	list->items[list->count++] = runs;
	return runs;
}

/* ---- result files ---- */

struct result {
	char *path, *scenario;
	uint64_t seed;
	struct tl_row_summary *rows;
	size_t count;
};

static void free_results(struct result *results, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(results[i].path);
		free(results[i].scenario);
		free(results[i].rows);
	}
	free(results);
}

static enum tl_status read_result(const char *path, struct result *out, struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	void *rows = NULL;
	int64_t seed = 0;
	enum tl_status status = tl_results_open(path, &reader, error);

	if (status != TL_OK)
		return status;
	out->path = tl_strdup(path);
	out->scenario = tl_results_get_text(reader, "scenario");
	if (!out->scenario || !tl_results_get_i64(reader, "seed", &seed))
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "has no scenario or no seed, wanted the result of a run");
	else if (!tl_results_has(reader, tl_schema_summary.path))
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "has no /summary: the run was told to leave it out");
	else
		status = tl_results_read(reader, &tl_schema_summary, &rows, &out->count, error);
	tl_results_reader_close(reader);
	out->rows = rows;
	out->seed = (uint64_t)seed;
	return status;
}

/* The line of a scenario that a run of the same setting may have otherwise. */
static bool is_of_the_run(const char *line, size_t length)
{
	return (length > 5 && strncmp(line, "seed:", 5) == 0) ||
	       (length > 5 && strncmp(line, "name:", 5) == 0);
}

/* The first line in which two scenarios differ, as one has it; NULL where in none. */
static const char *first_difference(const char *a, const char *b, size_t *length)
{
	while (*a || *b) {
		const size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");

		*length = lb;
		if ((la != lb || strncmp(a, b, la) != 0) &&
		    !(is_of_the_run(a, la) && is_of_the_run(b, lb)))
			return b;
		a += la + (a[la] == '\n');
		b += lb + (b[lb] == '\n');
	}
	return NULL;
}

static enum tl_status check_alike(const struct result *results, size_t count,
                                  struct tl_error *error)
{
	for (size_t i = 1; i < count; i++) {
		size_t length = 0;
		const char *line =
		    first_difference(results[0].scenario, results[i].scenario, &length);

		if (line)
			return tl_error_set(
			    error, TL_E_DATA, results[i].path, 0, 0,
			    "got another scenario than that of %s (`%.*s`), wanted runs that "
			    "differ in nothing but the seed",
			    results[0].path, (int)(length < 60 ? length : 60), line);
		for (size_t j = 0; j < i; j++)
			if (results[j].seed == results[i].seed)
				return tl_error_set(error, TL_E_DATA, results[i].path, 0, 0,
				                    "got seed %llu, which %s has too, wanted a run "
				                    "of each seed",
				                    (unsigned long long)results[i].seed,
				                    results[j].path);
	}
	return TL_OK;
}

/* Of results that are alike; takes their texts. */
static void make_runs(const char *source, struct result *results, size_t count,
                      struct tl_runs_list *list)
{
	uint64_t *seeds = tl_calloc(count, sizeof *seeds);
	struct tl_runs *runs;

	for (size_t i = 0; i < count; i++)
		seeds[i] = results[i].seed;
	runs = append(list, tl_runs_new(source, seeds, count));
	free(seeds);
	free(runs->scenario);
	runs->scenario = tl_strdup(results[0].scenario);
	for (size_t i = 0; i < count; i++) {
		runs->paths[i] = tl_strdup(results[i].path);
		for (size_t r = 0; r < results[i].count && results[i].rows; r++) {
			const struct tl_row_summary *row = &results[i].rows[r];
			size_t metric = tl_runs_metric(runs, row->metric);

			if (metric == runs->metric_count)
				(void)tl_runs_add_metric(runs, row->metric, row->unit);
			runs->values[metric * count + i] = row->value;
		}
	}
}

enum tl_status tl_runs_load_results(const char *source, char *const *paths, size_t count,
                                    struct tl_runs_list *list, struct tl_error *error)
{
	struct result *results = tl_calloc(count, sizeof *results);
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count && status == TL_OK; i++)
		status = read_result(paths[i], &results[i], error);
	if (status == TL_OK)
		status = check_alike(results, count, error);
	if (status == TL_OK)
		make_runs(source, results, count, list);
	free_results(results, count);
	return status;
}

/* ---- a folder of them ---- */

static int by_text(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

static enum tl_status list_folder(const char *folder, char ***paths, size_t *count,
                                  struct tl_error *error)
{
	DIR *stream = opendir(folder);
	size_t room = 0;
	struct dirent *entry;

	if (!stream)
		return tl_error_set(error, TL_E_NOINPUT, folder, 0, 0, "cannot be read: %s",
		                    strerror(errno));
	while ((entry = readdir(stream)) != NULL) {
		const size_t length = strlen(entry->d_name);

		if (entry->d_name[0] == '.' || length < 4 ||
		    strcmp(entry->d_name + length - 3, ".h5") != 0)
			continue;
		*paths = tl_grow(*paths, &room, *count + 1, sizeof **paths);
		(*paths)[(*count)++] = tl_join(folder, entry->d_name);
	}
	(void)closedir(stream);
	if (*count == 0)
		return tl_error_set(error, TL_E_NOINPUT, folder, 0, 0,
		                    "got a folder without results, wanted *.h5 files or a sweep");
	qsort(*paths, *count, sizeof **paths, by_text);
	return TL_OK;
}

static enum tl_status load_folder(const char *folder, struct tl_runs_list *list,
                                  struct tl_error *error)
{
	char **paths = NULL;
	size_t count = 0;
	enum tl_status status = list_folder(folder, &paths, &count, error);

	if (status == TL_OK)
		status = tl_runs_load_results(folder, paths, count, list, error);
	for (size_t i = 0; i < count; i++)
		free(paths[i]);
	free(paths);
	return status;
}

/* ---- sweeps ---- */

static void take_settings(struct tl_runs *runs, const struct tl_design *design, size_t cell)
{
	runs->settings = tl_calloc(design->key_count + 1, sizeof *runs->settings);
	for (size_t key = 0; key < design->key_count; key++) {
		const char *value = tl_design_value(design, cell, key);
		char *text;

		if (!value)
			continue;
		text = tl_format("%s=%s", design->keys[key], value);
		tl_append(&runs->cell, "%s%s", runs->setting_count > 0 ? ", " : "", text);
		runs->settings[runs->setting_count++] = text;
	}
}

static void take_cell(const char *source, const struct tl_sweep_data *data, size_t cell,
                      struct tl_runs_list *list)
{
	const struct tl_design *design = &data->design;
	uint64_t *seeds = tl_calloc(design->seed_count + 1, sizeof *seeds);
	size_t *places = tl_calloc(design->seed_count + 1, sizeof *places), count = 0;
	struct tl_runs *runs;

	for (size_t s = 0; s < design->seed_count; s++)
		if (data->runs[cell * design->seed_count + s].state != TL_RUN_UNASKED) {
			seeds[count] = design->seeds[s];
			places[count++] = s;
		}
	runs = append(list, tl_runs_new(source, seeds, count));
	take_settings(runs, design, cell);
	free(runs->scenario);
	runs->scenario = tl_strdup(data->scenario);
	for (size_t m = 0; m < data->metric_count; m++) {
		double *values = tl_runs_add_metric(runs, data->metrics[m], data->units[m]);

		for (size_t s = 0; s < count; s++)
			values[s] = tl_sweep_data_value(data, cell, places[s], m);
	}
	for (size_t s = 0; s < count; s++) {
		const size_t run = cell * design->seed_count + places[s];
		bool there = false;

		if (data->paths && data->paths[run])
			runs->paths[s] = tl_strdup(data->paths[run]);
		for (size_t m = 0; m < data->metric_count; m++)
			there = there || !isnan(tl_runs_value(runs, m, s));
		runs->missing += !there;
	}
	free(places);
	free(seeds);
}

static bool same_key(const char *a, const char *b)
{
	const size_t length = strcspn(a, "=");

	return strcspn(b, "=") == length && strncmp(a, b, length) == 0;
}

static bool has_setting(const struct tl_runs *runs, const char *setting)
{
	size_t s = 0;

	while (s < runs->setting_count && strcmp(runs->settings[s], setting) != 0)
		s++;
	return s < runs->setting_count;
}

bool tl_runs_match(const struct tl_runs *runs, const char *const *where, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool any = false;

		for (size_t k = 0; k < count && !any; k++)
			any = same_key(where[i], where[k]) && has_setting(runs, where[k]);
		if (!any)
			return false;
	}
	return true;
}

char *tl_runs_where_text(const char *const *where, size_t count)
{
	char *text = tl_strdup(count > 0 ? "" : "any setting");

	for (size_t i = 0; i < count; i++) {
		bool before = false;

		for (size_t k = 0; k < i && !before; k++)
			before = same_key(where[i], where[k]);
		if (before)
			continue;
		tl_append(&text, "%s%s", i > 0 ? " and " : "", where[i]);
		for (size_t k = i + 1; k < count; k++)
			if (same_key(where[i], where[k]))
				tl_append(&text, " or %s", strchr(where[k], '=') + 1);
	}
	return text;
}

static enum tl_status load_sweep(const char *path, const char *const *where, size_t where_count,
                                 struct tl_runs_list *list, struct tl_error *error)
{
	const size_t before = list->count;
	struct tl_sweep_data *data = NULL;
	enum tl_status status = tl_sweep_data_read(path, true, &data, error);

	if (status != TL_OK)
		return status;
	for (size_t cell = 0; cell < data->design.cell_count; cell++) {
		take_cell(path, data, cell, list);
		if (!tl_runs_match(list->items[list->count - 1], where, where_count))
			tl_runs_destroy(list->items[--list->count]);
	}
	if (list->count == before) {
		char *wanted = tl_runs_where_text(where, where_count);

		status =
		    tl_error_set(error, TL_E_DATA, path, 0, 0,
		                 "has no cell with %.300s, wanted settings of this sweep", wanted);
		free(wanted);
	}
	tl_sweep_data_destroy(data);
	return status;
}

enum tl_status tl_runs_load(const char *path, const char *const *where, size_t where_count,
                            struct tl_runs_list *list, struct tl_error *error)
{
	struct stat status;
	char *inside, *kind;
	bool sweep;

	if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
		struct tl_results_reader *reader = NULL;
		char *const paths[1] = {(char *)(uintptr_t)path};
		enum tl_status opened = tl_results_open(path, &reader, error);

		if (opened != TL_OK)
			return opened;
		kind = tl_results_get_text(reader, "kind");
		sweep = kind && strcmp(kind, "sweep") == 0;
		free(kind);
		tl_results_reader_close(reader);
		return sweep ? load_sweep(path, where, where_count, list, error)
		             : tl_runs_load_results(path, paths, 1, list, error);
	}
	inside = tl_join(path, "manifest");
	sweep = stat(inside, &status) == 0;
	free(inside);
	return sweep ? load_sweep(path, where, where_count, list, error)
	             : load_folder(path, list, error);
}
