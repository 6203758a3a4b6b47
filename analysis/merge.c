/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/merge.h"

#include "analysis/sweep_data.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/stop.h"
#include "sim/base/version.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct merging {
	const struct tl_sweep_data *data;
	struct tl_results *results;
	struct tl_error *error;
};

static enum tl_status put_attributes(const struct merging *merging)
{
	const struct tl_sweep_data *data = merging->data;
	const char *const pairs[][2] = {
	    {"kind", "sweep"},
	    {"tool_version", tl_version},
	    {"tool_commit", tl_commit},
	    {"scenario_name", data->scenario_name},
	    {"design", data->design.name},
	    {"scenario", data->scenario},
	};
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < sizeof pairs / sizeof *pairs && status == TL_OK; i++)
		status = tl_results_attr_text(merging->results, pairs[i][0], pairs[i][1],
		                              merging->error);
	return status;
}

/* No wider in the file than its longest text. */
static size_t *widths_of(const struct tl_table_schema *schema)
{
	return tl_calloc(schema->column_count, sizeof(size_t));
}

static void widen(size_t *widths, const struct tl_table_schema *schema, const char *column,
                  const char *text)
{
	for (size_t i = 0; i < schema->column_count; i++)
		if (strcmp(schema->columns[i].name, column) == 0 && widths[i] < strlen(text) + 1)
			widths[i] = strlen(text) + 1;
}

static enum tl_status check_lengths(const struct merging *merging)
{
	const struct tl_design *design = &merging->data->design;

	for (size_t key = 0; key < design->key_count; key++)
		for (size_t cell = 0; cell < design->cell_count; cell++) {
			const char *value = tl_design_value(design, cell, key);

			if (value && strlen(value) >= TL_ROW_VALUE_SIZE)
				return tl_error_set(
				    merging->error, TL_E_DATA, NULL, 0, 0,
				    "a value of %.100s has %zu bytes, wanted at most "
				    "%d",
				    design->keys[key], strlen(value), TL_ROW_VALUE_SIZE - 1);
		}
	return TL_OK;
}

static enum tl_status put_axes(const struct merging *merging)
{
	const struct tl_design *design = &merging->data->design;
	struct tl_table *table = NULL;
	size_t *widths = widths_of(&tl_schema_axes);
	enum tl_status status;

	for (size_t key = 0; key < design->key_count; key++)
		widen(widths, &tl_schema_axes, "key", design->keys[key]);
	status =
	    tl_results_table(merging->results, &tl_schema_axes, widths, &table, merging->error);
	for (size_t key = 0; key < design->key_count && status == TL_OK; key++) {
		struct tl_row_axis *row = tl_table_next(table);

		(void)snprintf(row->key, sizeof row->key, "%s", design->keys[key]);
		row->numeric = merging->data->numeric[key];
	}
	free(widths);
	return status;
}

static enum tl_status put_cells(const struct merging *merging)
{
	const struct tl_design *design = &merging->data->design;
	struct tl_table *table = NULL;
	size_t *widths = widths_of(&tl_schema_cells);
	enum tl_status status;

	for (size_t i = 0; i < design->cell_count * design->key_count; i++) {
		widen(widths, &tl_schema_cells, "key", design->keys[i % design->key_count]);
		if (design->values[i])
			widen(widths, &tl_schema_cells, "value", design->values[i]);
	}
	status =
	    tl_results_table(merging->results, &tl_schema_cells, widths, &table, merging->error);
	for (size_t i = 0; i < design->cell_count * design->key_count && status == TL_OK; i++) {
		struct tl_row_cell *row = tl_table_next(table);
		const char *value = design->values[i];

		row->cell = (uint32_t)(i / design->key_count);
		(void)snprintf(row->key, sizeof row->key, "%s",
		               design->keys[i % design->key_count]);
		(void)snprintf(row->value, sizeof row->value, "%s", value ? value : "");
		row->own = value == NULL;
	}
	free(widths);
	return status;
}

static enum tl_status put_runs(const struct merging *merging)
{
	const struct tl_sweep_data *data = merging->data;
	size_t count = data->design.cell_count * data->design.seed_count;
	struct tl_table *table = NULL;
	size_t *widths = widths_of(&tl_schema_runs);
	enum tl_status status;

	for (size_t i = 0; i < count; i++)
		if (data->runs[i].reason)
			widen(widths, &tl_schema_runs, "reason", data->runs[i].reason);
	/* Rows are cut to what there is room for. */
	for (size_t i = 0; i < tl_schema_runs.column_count; i++)
		if (widths[i] > tl_schema_runs.columns[i].size)
			widths[i] = 0;
	status =
	    tl_results_table(merging->results, &tl_schema_runs, widths, &table, merging->error);
	for (size_t i = 0; i < count && status == TL_OK; i++) {
		struct tl_row_run *row = tl_table_next(table);
		const struct tl_sweep_run *run = &data->runs[i];

		row->cell = (uint32_t)run->cell;
		row->seed = run->seed;
		row->state = (uint8_t)run->state;
		row->exit_code = run->exit_code;
		(void)snprintf(row->identity, sizeof row->identity, "%s", run->hash);
		(void)snprintf(row->reason, sizeof row->reason, "%s",
		               run->reason ? run->reason : "");
	}
	free(widths);
	return status;
}

/* ---- /metrics: the columns of every sweep, and one an axis ---- */

struct wide {
	struct tl_table_schema schema;
	struct tl_column *columns;
	size_t *widths;
};

static size_t longest(const struct tl_design *design, size_t key)
{
	size_t length = 0;

	for (size_t cell = 0; cell < design->cell_count; cell++) {
		const char *value = tl_design_value(design, cell, key);

		if (value && strlen(value) > length)
			length = strlen(value);
	}
	return length;
}

static struct wide make_wide(const struct tl_sweep_data *data)
{
	const struct tl_design *design = &data->design;
	size_t fixed = tl_schema_metrics.column_count, count = fixed + design->key_count;
	struct wide wide = {.schema = tl_schema_metrics,
	                    .columns = tl_calloc(count, sizeof *wide.columns),
	                    .widths = tl_calloc(count, sizeof *wide.widths)};

	memcpy(wide.columns, tl_schema_metrics.columns, fixed * sizeof *wide.columns);
	for (size_t key = 0; key < design->key_count; key++) {
		bool numeric = data->numeric[key];
		size_t size = longest(design, key) + 1;

		wide.columns[fixed + key] = (struct tl_column){
		    .name = design->keys[key],
		    .type = numeric ? TL_COLUMN_F64 : TL_COLUMN_TEXT,
		    .offset = wide.schema.row_size,
		    .size = numeric ? 0 : size,
		    .unit = "",
		    .help = "the cell's value of this key; an empty text: the scenario's own"};
		/* Numbers stay aligned. */
		wide.schema.row_size += numeric ? sizeof(double) : (size + 7) / 8 * 8;
	}
	wide.schema.columns = wide.columns;
	wide.schema.column_count = count;
	for (size_t metric = 0; metric < data->metric_count; metric++) {
		widen(wide.widths, &wide.schema, "metric", data->metrics[metric]);
		widen(wide.widths, &wide.schema, "unit", data->units[metric]);
	}
	return wide;
}

static void put_run_metrics(const struct merging *merging, const struct wide *wide,
                            struct tl_table *table, const struct tl_sweep_run *run,
                            const struct tl_sweep_value *values)
{
	const struct tl_sweep_data *data = merging->data;

	for (size_t metric = 0; metric < data->metric_count; metric++) {
		struct tl_row_metric *row = tl_table_next(table);

		row->cell = (uint32_t)run->cell;
		row->seed = run->seed;
		(void)snprintf(row->metric, sizeof row->metric, "%s", data->metrics[metric]);
		(void)snprintf(row->unit, sizeof row->unit, "%s", data->units[metric]);
		row->value = values[metric].value;
		row->ci_low = values[metric].ci_low;
		row->ci_high = values[metric].ci_high;
		for (size_t key = 0; key < data->design.key_count; key++) {
			const struct tl_column *column =
			    &wide->columns[tl_schema_metrics.column_count + key];
			const char *value = tl_design_value(&data->design, run->cell, key);
			char *field = (char *)row + column->offset;
			double number = tl_sweep_data_setting(data, run->cell, key);

			if (data->numeric[key])
				memcpy(field, &number, sizeof number);
			else
				(void)snprintf(field, column->size, "%s", value ? value : "");
		}
	}
}

static enum tl_status put_metrics(const struct merging *merging)
{
	const struct tl_sweep_data *data = merging->data;
	size_t count = data->design.cell_count * data->design.seed_count;
	struct wide wide = make_wide(data);
	struct tl_table *table = NULL;
	enum tl_status status =
	    tl_results_table(merging->results, &wide.schema, wide.widths, &table, merging->error);

	for (size_t i = 0; i < count && status == TL_OK; i++) {
		if (data->runs[i].state != TL_RUN_DONE)
			continue;
		put_run_metrics(merging, &wide, table, &data->runs[i],
		                &data->values[i * data->metric_count]);
		status = tl_stop_check(merging->error);
	}
	free(wide.columns);
	free(wide.widths);
	return status;
}

enum tl_status tl_merge(const char *dir, bool partial, const char *path, struct tl_error *error)
{
	struct merging merging = {.error = error};
	struct tl_sweep_data *data = NULL;
	enum tl_status status = tl_sweep_data_read(dir, partial, &data, error);

	if (status != TL_OK)
		return status;
	merging.data = data;
	status = check_lengths(&merging);
	if (status == TL_OK)
		status = tl_results_create(path, &merging.results, error);
	if (status != TL_OK) {
		tl_sweep_data_destroy(data);
		return status;
	}
	status = put_attributes(&merging);
	if (status == TL_OK)
		status = put_axes(&merging);
	if (status == TL_OK)
		status = put_cells(&merging);
	if (status == TL_OK)
		status = put_runs(&merging);
	if (status == TL_OK)
		status = put_metrics(&merging);
	if (status == TL_OK)
		status = tl_results_close(merging.results, error);
	else
		tl_results_abandon(merging.results);
	tl_sweep_data_destroy(data);
	return status;
}
