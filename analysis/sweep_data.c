/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sweep_data.h"

#include "analysis/sweep_gather.h"
#include "analysis/sweep_private.h"
#include "results/metrics.h"
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void tl_sweep_data_destroy(struct tl_sweep_data *data)
{
	if (!data)
		return;
	for (size_t i = 0; i < tl_sweep_data_runs(data) && data->paths; i++)
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
	tl_sweep_runs_free(data->runs, tl_sweep_data_runs(data));
	tl_design_fini(&data->design);
	free(data->scenario_name);
	free(data->scenario);
	free(data);
}

/* ---- of a folder ---- */

/* Reads what the runs say that are there; a result that is damaged counts as missing. */
static enum tl_status gather_runs(struct tl_sweep_gather *gather, const char *dir)
{
	struct tl_sweep_data *data = gather->data;
	size_t count = tl_sweep_data_runs(data);

	data->paths = tl_calloc(count + 1, sizeof *data->paths);
	for (size_t i = 0; i < count; i++) {
		struct tl_sweep_run *run = &data->runs[i];
		struct tl_row_summary *rows = NULL;
		struct tl_error error = TL_ERROR_INIT;
		char *path = tl_run_path(dir, run->hash);
		size_t row_count = 0;
		enum tl_status status = tl_stop_check(&error);

		if (status == TL_OK && run->state == TL_RUN_UNASKED) {
			free(path);
			continue;
		}
		if (status == TL_OK)
			status = tl_run_read(path, run->hash, &rows, &row_count, &error);
		if (status == TL_OK) {
			tl_sweep_gather_summary(gather, i, rows, row_count);
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
	struct tl_sweep_gather gather;
	char *path = tl_join(dir, "manifest");
	enum tl_status status = tl_manifest_read(path, &manifest, error);

	free(path);
	if (status != TL_OK)
		return status;
	data = tl_calloc(1, sizeof *data);
	data->scenario_name = manifest.scenario_name;
	data->scenario = manifest.scenario;
	data->design = manifest.design;
	data->runs = manifest.runs;
	free(manifest.identity);
	tl_sweep_gather_begin(&gather, data, error);
	status = gather_runs(&gather, dir);
	tl_sweep_gather_end(&gather);
	*out = data;
	return status;
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

enum tl_status tl_sweep_data_of_runs(const struct tl_sweep *sweep, const struct tl_design *design,
                                     const struct tl_sweep_run *runs, struct tl_sweep_data **out,
                                     struct tl_error *error)
{
	struct tl_sweep_data *data = tl_calloc(1, sizeof *data);
	struct tl_error unwanted = TL_ERROR_INIT;
	struct tl_sweep_gather gather;
	enum tl_status status;

	data->scenario_name = tl_strdup(sweep->subject->name);
	data->scenario = tl_strdup(sweep->subject->text);
	copy_design(&data->design, design);
	data->runs = tl_calloc(tl_sweep_data_runs(data) + 1, sizeof *data->runs);
	for (size_t i = 0; i < tl_sweep_data_runs(data); i++) {
		data->runs[i] = runs[i];
		data->runs[i].reason = runs[i].reason ? tl_strdup(runs[i].reason) : NULL;
	}
	tl_sweep_gather_begin(&gather, data, error ? error : &unwanted);
	status = gather_runs(&gather, sweep->dir);
	tl_sweep_gather_end(&gather);
	if (status != TL_OK) {
		tl_sweep_data_destroy(data);
		return status;
	}
	*out = data;
	return TL_OK;
}

/* ---- of either ---- */

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
		status = tl_sweep_data_read_file(path, &data, error);
	if (status == TL_OK && tl_sweep_data_runs(data) == 0)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "the sweep was stopped before its first run");
	if (status == TL_OK && data->missing > 0 && !partial)
		status = tl_error_set(error, TL_E_DATA, path, 0, 0,
		                      "%zu of %zu runs failed or are missing: the command that "
		                      "made it, again, runs them, --partial does without",
		                      data->missing, tl_sweep_data_runs(data));
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

	return tl_sweep_number(tl_design_value(&data->design, cell, key), &number) ? number
	                                                                           : (double)NAN;
}
