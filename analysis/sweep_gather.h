/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep's metrics in the making: how each reader of them fills one. Private to analysis/. */
#ifndef TIDELAB_ANALYSIS_SWEEP_GATHER_H
#define TIDELAB_ANALYSIS_SWEEP_GATHER_H

#include "analysis/sweep_data.h"
#include "results/schema.h"
#include "sim/base/intern.h"

struct tl_sweep_gather {
	struct tl_sweep_data *data;
	struct tl_intern metrics;
	size_t unit_room, width; /* width: metrics a run has room for */
	struct tl_error *error;
};

static inline size_t tl_sweep_data_runs(const struct tl_sweep_data *data)
{
	return data->design.cell_count * data->design.seed_count;
}

/* A setting's value; false where it is no number. */
bool tl_sweep_number(const char *text, double *out);

/* Once the design is known; data->runs may hold what is known of the runs. */
void tl_sweep_gather_begin(struct tl_sweep_gather *gather, struct tl_sweep_data *data,
                           struct tl_error *error);
void tl_sweep_gather_value(struct tl_sweep_gather *gather, size_t run, const char *metric,
                           const char *unit, const struct tl_sweep_value *value);
/* All that a run says; it is done. */
void tl_sweep_gather_summary(struct tl_sweep_gather *gather, size_t run,
                             const struct tl_row_summary *rows, size_t count);
void tl_sweep_gather_end(struct tl_sweep_gather *gather);

/* sweep_data_file.c: *out is set, and to be destroyed, even where it fails but for opening. */
enum tl_status tl_sweep_data_read_file(const char *path, struct tl_sweep_data **out,
                                       struct tl_error *error);

#endif
