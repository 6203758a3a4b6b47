/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sweep_data.h"

#include "analysis/sweep_private.h"
#include "results/metrics.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/intern.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct tl_sweep_value no_value = {(double)NAN, (double)NAN, (double)NAN};

/* Data in the making. */
struct gather {
	struct tl_sweep_data *data;
	struct tl_intern metrics;
	size_t unit_room, width; /* width: metrics a run has room for */
	struct tl_error *error;
};

/* ---- the parts ---- */

static bool to_number(const char *text, double *out)
{
	char *end = NULL;

	if (!text || text[strspn(text, "0123456789+-.eE")] != '\0')
		return false;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(*out);
}

static struct tl_sweep_data *new_data(void)
{
	return tl_calloc(1, sizeof(struct tl_sweep_data));
}

static void copy_design(struct tl_design *out, const struct tl_design *from)
{
	tl_design_init(out, from->name, (const char *const *)from->keys, from->key_count);
	for (size_t cell = 0; cell < from->cell_count; cell++)
		(void)tl_design_add(out,
		                    from->key_count > 0
		                        ? (const char *const *)&from->values[cell * from->key_count]
		                        : NULL);
	for (size_t i = 0; i < from->seed_count; i++)
		tl_design_seed(out, from->seeds[i]);
}

static size_t run_count(const struct tl_sweep_data *data)
{
	return data->design.cell_count * data->design.seed_count;
}

/* Once the design is known. */
static void begin(struct gather *gather, struct tl_sweep_data *data, struct tl_error *error)
{
	const struct tl_design *design = &data->design;

	*gather = (struct gather){.data = data, .error = error};
	tl_intern_init(&gather->metrics);
	data->numeric = tl_calloc(design->key_count + 1, sizeof *data->numeric);
	for (size_t key = 0; key < design->key_count; key++) {
		data->numeric[key] = true;
		for (size_t cell = 0; cell < design->cell_count; cell++) {
			double number;

			if (!to_number(tl_design_value(design, cell, key), &number))
				data->numeric[key] = false;
		}
	}
	if (!data->runs)
		data->runs = tl_calloc(run_count(data) + 1, sizeof *data->runs);
	for (size_t i = 0; i < run_count(data); i++) {
		data->runs[i].cell = i / design->seed_count;
		data->runs[i].seed = design->seeds[i % design->seed_count];
	}
}

/* Room for one metric more in every run; a run's metrics are mostly those of the first. */
static void widen(struct gather *gather)
{
	struct tl_sweep_data *data = gather->data;
	size_t old = gather->width, width = old ? 2 * old : 64, runs = run_count(data);
	struct tl_sweep_value *values = tl_calloc(runs * width + 1, sizeof *values);

	for (size_t run = 0; run < runs; run++)
		for (size_t i = 0; i < width; i++)
			values[run * width + i] = i < old ? data->values[run * old + i] : no_value;
	free(data->values);
	data->values = values;
	gather->width = width;
}

static void take_value(struct gather *gather, size_t run, const char *metric, const char *unit,
                       const struct tl_sweep_value *value)
{
	struct tl_sweep_data *data = gather->data;
	uint32_t number = tl_intern_put(&gather->metrics, metric);

	if (number == data->metric_count) {
		data->units = tl_grow(data->units, &gather->unit_room, data->metric_count + 1,
		                      sizeof *data->units);
		data->units[data->metric_count++] = tl_strdup(unit);
	}
	if (number >= gather->width)
		widen(gather);
	data->values[run * gather->width + number] = *value;
}

static void take_summary(struct gather *gather, size_t run, const struct tl_row_summary *rows,
                         size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tl_sweep_value value = {rows[i].value, rows[i].ci_low,
		                                     rows[i].ci_high};

		take_value(gather, run, rows[i].metric, rows[i].unit, &value);
	}
	gather->data->runs[run].state = TL_RUN_DONE;
}

/* No room between the runs any more, and names of one's own. */
static void end(struct gather *gather)
{
	struct tl_sweep_data *data = gather->data;
	size_t runs = run_count(data);

	data->metrics = tl_calloc(data->metric_count + 1, sizeof *data->metrics);
	for (size_t i = 0; i < data->metric_count; i++)
		data->metrics[i] = tl_strdup(gather->metrics.names[i]);
	for (size_t run = 0; run < runs && data->values; run++)
		memmove(&data->values[run * data->metric_count], &data->values[run * gather->width],
		        data->metric_count * sizeof *data->values);
	for (size_t run = 0; run < runs; run++)
		data->missing += data->runs[run].state != TL_RUN_DONE;
	tl_intern_fini(&gather->metrics);
}

void tl_sweep_data_destroy(struct tl_sweep_data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < run_count(data) && data->paths; i++)
		free(data->paths[i]);
	for (size_t i = 0; i < data->metric_count; i++) {
		if (data->metrics)
			free(data->metrics[i]);
		free(data->units[i]);
	}
	free(data->paths);
	free(data->metrics);
	free(data->units);
	free(data->values);
	free(data->numeric);
	tl_sweep_runs_free(data->runs, run_count(data));
	tl_design_fini(&data->design);
	free(data->scenario_name);
	free(data->scenario);
	free(data);
}

/* ---- of a folder ---- */

/* Reads what the runs say that are there; a result that is damaged counts as missing. */
static enum tl_status gather_runs(struct gather *gather, const char *dir)
{
	struct tl_sweep_data *data = gather->data;
	size_t count = run_count(data);

	data->paths = tl_calloc(count + 1, sizeof *data->paths);
	for (size_t i = 0; i < count; i++) {
		struct tl_sweep_run *run = &data->runs[i];
		struct tl_row_summary *rows = NULL;
		struct tl_error error = TL_ERROR_INIT;
		char *path = tl_run_path(dir, run->hash);
		size_t row_count = 0;
		enum tl_status status = tl_run_read(path, run->hash, &rows, &row_count, &error);

		if (status == TL_OK) {
			take_summary(gather, i, rows, row_count);
			data->paths[i] = path;
			free(rows);
			continue;
		}
		free(path);
		/* Of another tool, say: whoever reads must know. */
		if (status != TL_E_NOINPUT) {
			*gather->error = error;
			return status;
		}
		if (run->state == TL_RUN_DONE)
			run->state = TL_RUN_MISSING;
	}
	return TL_OK;
}

static enum tl_status read_folder(const char *dir, struct tl_sweep_data **out,
                                  struct tl_error *error)
{
	struct tl_sweep_data *data;
	struct tl_manifest manifest;
	struct gather gather;
	char *path = tl_join(dir, "manifest");
	enum tl_status status = tl_manifest_read(path, &manifest, error);

	free(path);
	if (status != TL_OK)
		return status;
	data = new_data();
	data->scenario_name = manifest.scenario_name;
	data->scenario = manifest.scenario;
	data->design = manifest.design;
	data->runs = manifest.runs;
	free(manifest.identity);
	begin(&gather, data, error);
	status = gather_runs(&gather, dir);
	end(&gather);
	*out = data;
	return status;
}

enum tl_status tl_sweep_data_of_runs(const struct tl_sweep *sweep, const struct tl_design *design,
                                     const struct tl_sweep_run *runs, struct tl_sweep_data **out,
                                     struct tl_error *error)
{
	struct tl_sweep_data *data = new_data();
	struct tl_error unwanted = TL_ERROR_INIT;
	struct gather gather;
	enum tl_status status;

	data->scenario_name = tl_strdup(sweep->subject->name);
	data->scenario = tl_strdup(sweep->subject->text);
	copy_design(&data->design, design);
	data->runs = tl_calloc(run_count(data) + 1, sizeof *data->runs);
	for (size_t i = 0; i < run_count(data); i++) {
		data->runs[i] = runs[i];
		data->runs[i].reason = runs[i].reason ? tl_strdup(runs[i].reason) : NULL;
	}
	begin(&gather, data, error ? error : &unwanted);
	status = gather_runs(&gather, sweep->dir);
	end(&gather);
	if (status != TL_OK) {
		tl_sweep_data_destroy(data);
		return status;
	}
	*out = data;
	return TL_OK;
}

/* ---- of a file ---- */

struct file {
	const char *path;
	struct tl_results_reader *reader;
	struct tl_error *error;
};

static enum tl_status damaged(const struct file *file, const char *table)
{
	return tl_error_set(file->error, TL_E_DATA, file->path, 0, 0,
	                    "the file of a sweep is damaged: %s does not go with the others",
	                    table);
}

static enum tl_status read_table(const struct file *file, const struct tl_table_schema *schema,
                                 void *rows, size_t *count)
{
	void *read = NULL;
	enum tl_status status = tl_results_read(file->reader, schema, &read, count, file->error);

	if (status == TL_OK)
		memcpy(rows, &read, sizeof read);
	return status;
}

static enum tl_status take_keys(const struct file *file, struct tl_design *design)
{
	struct tl_row_axis *axes = NULL;
	size_t count = 0;
	enum tl_status status = read_table(file, &tl_schema_axes, &axes, &count);
	char *name = tl_results_get_text(file->reader, "design");
	const char **keys;

	if (status == TL_OK) {
		keys = tl_calloc(count + 1, sizeof *keys);
		for (size_t i = 0; i < count; i++)
			keys[i] = axes[i].key;
		tl_design_init(design, name ? name : "", keys, count);
		free(keys);
	}
	free(name);
	free(axes);
	return status;
}

/* cell_count is that of the runs: without axes there is one cell, and no row of it. */
static enum tl_status take_cells(const struct file *file, struct tl_design *design,
                                 size_t cell_count)
{
	struct tl_row_cell *cells = NULL;
	size_t count = 0, width = design->key_count;
	enum tl_status status = read_table(file, &tl_schema_cells, &cells, &count);
	const char **values = tl_calloc(width + 1, sizeof *values);

	if (status == TL_OK && count != cell_count * width)
		status = damaged(file, tl_schema_cells.path);
	for (size_t cell = 0; cell < cell_count && status == TL_OK; cell++) {
		for (size_t key = 0; key < width; key++) {
			const struct tl_row_cell *row = &cells[cell * width + key];

			values[key] = row->own ? NULL : row->value;
		}
		(void)tl_design_add(design, values);
	}
	free(values);
	free(cells);
	return status;
}

static enum tl_status take_runs(const struct file *file, struct tl_sweep_data *data)
{
	struct tl_row_run *rows = NULL;
	size_t count = 0, seeds = 0;
	enum tl_status status = read_table(file, &tl_schema_runs, &rows, &count);

	while (status == TL_OK && seeds < count && rows[seeds].cell == 0)
		tl_design_seed(&data->design, rows[seeds++].seed);
	if (status == TL_OK && (seeds == 0 || count % seeds != 0)) {
		(void)damaged(file, tl_schema_runs.path);
		status = TL_E_DATA;
	}
	if (status == TL_OK)
		status = take_cells(file, &data->design, count / seeds);
	if (status == TL_OK)
		data->runs = tl_calloc(count + 1, sizeof *data->runs);
	for (size_t i = 0; i < count && status == TL_OK; i++) {
		struct tl_sweep_run *run = &data->runs[i];

		if (rows[i].cell != i / seeds || rows[i].seed != data->design.seeds[i % seeds] ||
		    rows[i].state > TL_RUN_FAILED) {
			status = damaged(file, tl_schema_runs.path);
			break;
		}
		run->state = (enum tl_run_state)rows[i].state;
		run->exit_code = (int)rows[i].exit_code;
		memcpy(run->hash, rows[i].identity, sizeof run->hash);
		if (run->state == TL_RUN_FAILED)
			run->reason = tl_strdup(rows[i].reason);
	}
	free(rows);
	return status;
}

/* Rows stand in the order of the runs. */
static enum tl_status take_metrics(const struct file *file, struct gather *gather)
{
	const struct tl_sweep_data *data = gather->data;
	struct tl_row_metric *rows = NULL;
	size_t count = 0, run = 0, runs = run_count(data);
	enum tl_status status = read_table(file, &tl_schema_metrics, &rows, &count);

	for (size_t i = 0; i < count && status == TL_OK; i++) {
		const struct tl_sweep_value value = {rows[i].value, rows[i].ci_low,
		                                     rows[i].ci_high};

		while (run < runs && (data->runs[run].cell != rows[i].cell ||
		                      data->runs[run].seed != rows[i].seed))
			run++;
		if (run == runs)
			status = damaged(file, tl_schema_metrics.path);
		else
			take_value(gather, run, rows[i].metric, rows[i].unit, &value);
	}
	free(rows);
	return status;
}

static enum tl_status read_merged(const struct file *file, struct tl_sweep_data *data)
{
	struct gather gather;
	enum tl_status status = take_keys(file, &data->design);

	if (status == TL_OK)
		status = take_runs(file, data);
	if (status != TL_OK)
		return status;
	begin(&gather, data, file->error);
	status = take_metrics(file, &gather);
	end(&gather);
	return status;
}

/* One run alone: a cell without settings. */
static enum tl_status read_result(const struct file *file, struct tl_sweep_data *data)
{
	struct tl_row_summary *rows = NULL;
	struct gather gather;
	size_t count = 0;
	int64_t seed = 0;
	enum tl_status status = read_table(file, &tl_schema_summary, &rows, &count);
	char *identity = tl_results_get_text(file->reader, "identity");

	if (status == TL_OK && !tl_results_get_i64(file->reader, "seed", &seed))
		status = tl_error_set(file->error, TL_E_DATA, file->path, 0, 0,
		                      "got a result without a seed, wanted one of a run");
	if (status == TL_OK) {
		tl_design_init(&data->design, "run", NULL, 0);
		(void)tl_design_add(&data->design, NULL);
		tl_design_seed(&data->design, (uint64_t)seed);
		begin(&gather, data, file->error);
		take_summary(&gather, 0, rows, count);
		(void)snprintf(data->runs[0].hash, sizeof data->runs[0].hash, "%s",
		               identity ? identity : "");
		data->paths = tl_calloc(1, sizeof *data->paths);
		data->paths[0] = tl_strdup(file->path);
		end(&gather);
	}
	free(identity);
	free(rows);
	return status;
}

static enum tl_status read_file(const char *path, struct tl_sweep_data **out,
                                struct tl_error *error)
{
	struct file file = {.path = path, .error = error};
	enum tl_status status = tl_results_open(path, &file.reader, error);
	struct tl_sweep_data *data;
	char *kind;

	if (status != TL_OK)
		return status;
	data = new_data();
	data->scenario_name = tl_results_get_text(file.reader, "scenario_name");
	data->scenario = tl_results_get_text(file.reader, "scenario");
	kind = tl_results_get_text(file.reader, "kind");
	if (!data->scenario_name || !data->scenario)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "got a file that names no scenario, wanted a result or the "
		                      "file of a sweep");
	else if (kind && strcmp(kind, "sweep") == 0)
		status = read_merged(&file, data);
	else
		status = read_result(&file, data);
	free(kind);
	tl_results_reader_close(file.reader);
	*out = data;
	return status;
}

/* ---- both ---- */

enum tl_status tl_sweep_data_read(const char *path, bool partial, struct tl_sweep_data **out,
                                  struct tl_error *error)
{
	struct tl_error unwanted = TL_ERROR_INIT;
	struct tl_sweep_data *data = NULL;
	struct stat info;
	enum tl_status status;

	error = error ? error : &unwanted;
	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
		status = read_folder(path, &data, error);
	else
		status = read_file(path, &data, error);
	if (status == TL_OK && run_count(data) == 0)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "the sweep was stopped before its first run");
	if (status == TL_OK && data->missing > 0 && !partial)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "%zu of %zu runs failed or are missing: `tidelab sweep` "
		                      "again runs them, --partial does without",
		                      data->missing, run_count(data));
	if (status != TL_OK) {
		tl_sweep_data_destroy(data);
		return status;
	}
	*out = data;
	return TL_OK;
}

size_t tl_sweep_data_metric(const struct tl_sweep_data *data, const char *name)
{
	size_t metric = 0;

	while (metric < data->metric_count && strcmp(data->metrics[metric], name) != 0)
		metric++;
	return metric;
}

double tl_sweep_data_value(const struct tl_sweep_data *data, size_t cell, size_t seed,
                           size_t metric)
{
	size_t run = cell * data->design.seed_count + seed;

	if (metric >= data->metric_count)
		return (double)NAN;
	return data->values[run * data->metric_count + metric].value;
}

size_t tl_sweep_data_short(const struct tl_sweep_data *data, double *most)
{
	size_t jobs = tl_sweep_data_metric(data, "jobs");
	size_t late = tl_sweep_data_metric(data, "unsubmitted"), count = 0;

	*most = 0.0;
	for (size_t c = 0; c < data->design.cell_count; c++)
		for (size_t s = 0; s < data->design.seed_count; s++) {
			double of = tl_sweep_data_value(data, c, s, jobs);
			double missed = tl_sweep_data_value(data, c, s, late);

			if (!tl_metric_cut_short(of, missed))
				continue;
			count++;
			*most = fmax(*most, missed / of);
		}
	return count;
}

double tl_sweep_data_setting(const struct tl_sweep_data *data, size_t cell, size_t key)
{
	double number;

	return to_number(tl_design_value(&data->design, cell, key), &number) ? number : (double)NAN;
}
