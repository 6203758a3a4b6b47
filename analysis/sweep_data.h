/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A sweep's metrics in memory: from its folder, or from the file that `tidelab merge`
 * made of it; or those of one result, which is a sweep of one cell and one seed.
 */
#ifndef TIDELAB_ANALYSIS_SWEEP_DATA_H
#define TIDELAB_ANALYSIS_SWEEP_DATA_H

#include "analysis/sweep.h"

/* What a run says of a metric; all NaN where it says nothing. */
struct tl_sweep_value {
	double value, ci_low, ci_high;
};

struct tl_sweep_data {
	char *scenario_name;
	char *scenario; /* the effective scenario that was varied */
	struct tl_design design;
	bool *numeric; /* a key: whether all its values are numbers */
	/* In the order in which the runs, cell by cell and seed by seed, first name them. */
	char **metrics, **units;
	size_t metric_count;
	struct tl_sweep_value *values; /* [(cell × seed_count + seed) × metric_count + metric] */
	struct tl_sweep_run *runs;     /* cell_count × seed_count; TL_RUN_DONE has values */
	/* A run: its result file; NULL: failed or missing. paths itself is NULL where the data
	 * is of a merged file. */
	char **paths;
	size_t missing; /* runs without values, but for those that no search asked for */
};

/* TL_E_NOINPUT, TL_E_DATA: not a sweep, cut short, of a newer schema. A sweep that is not
 * whole is TL_E_DATA unless partial. */
enum tl_status tl_sweep_data_read(const char *path, bool partial, struct tl_sweep_data **out,
                                  struct tl_error *error);
/* Of runs that tl_sweep_run() saw to; what failed has NaN. */
enum tl_status tl_sweep_data_of_runs(const struct tl_sweep *sweep, const struct tl_design *design,
                                     const struct tl_sweep_run *runs, struct tl_sweep_data **out,
                                     struct tl_error *error);
void tl_sweep_data_destroy(struct tl_sweep_data *data);

/* The number of a metric; metric_count where there is none of that name. */
size_t tl_sweep_data_metric(const struct tl_sweep_data *data, const char *name);
/* seed: its place in design.seeds. */
double tl_sweep_data_value(const struct tl_sweep_data *data, size_t cell, size_t seed,
                           size_t metric);
/* How many runs the horizon cut short (results/metrics.h), and the largest share of its jobs
 * that it left out of one of them; 0: of none. */
size_t tl_sweep_data_short(const struct tl_sweep_data *data, double *most);
/* A cell's value of a key as a number; NaN. */
double tl_sweep_data_setting(const struct tl_sweep_data *data, size_t cell, size_t key);

#endif
