/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep's metrics from a file: the merged one of a sweep, or the result of one run. */
#include "analysis/sweep_gather.h"

#include "results/results.h"
#include "results/schema.h"
#include "sim/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
		    rows[i].state > TL_RUN_UNASKED) {
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
static enum tl_status take_metrics(const struct file *file, struct tl_sweep_gather *gather)
{
	const struct tl_sweep_data *data = gather->data;
	struct tl_row_metric *rows = NULL;
	size_t count = 0, run = 0, runs = tl_sweep_data_runs(data);
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
			tl_sweep_gather_value(gather, run, rows[i].metric, rows[i].unit, &value);
	}
	free(rows);
	return status;
}

static enum tl_status read_merged(const struct file *file, struct tl_sweep_data *data)
{
	struct tl_sweep_gather gather;
	enum tl_status status = take_keys(file, &data->design);

	if (status == TL_OK)
		status = take_runs(file, data);
	if (status != TL_OK)
		return status;
	tl_sweep_gather_begin(&gather, data, file->error);
	status = take_metrics(file, &gather);
	tl_sweep_gather_end(&gather);
	return status;
}

/* One run alone: a cell without settings. */
static enum tl_status read_result(const struct file *file, struct tl_sweep_data *data)
{
	struct tl_row_summary *rows = NULL;
	struct tl_sweep_gather gather;
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
		tl_sweep_gather_begin(&gather, data, file->error);
		tl_sweep_gather_summary(&gather, 0, rows, count);
		(void)snprintf(data->runs[0].hash, sizeof data->runs[0].hash, "%s",
		               identity ? identity : "");
		data->paths = tl_calloc(1, sizeof *data->paths);
		data->paths[0] = tl_strdup(file->path);
		tl_sweep_gather_end(&gather);
	}
	free(identity);
	free(rows);
	return status;
}

enum tl_status tl_sweep_data_read_file(const char *path, struct tl_sweep_data **out,
                                       struct tl_error *error)
{
	struct file file = {.path = path, .error = error};
	enum tl_status status = tl_results_open(path, &file.reader, error);
	struct tl_sweep_data *data;
	char *kind;

	if (status != TL_OK)
		return status;
	data = tl_calloc(1, sizeof *data);
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
