/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tiresias: job_id,num_gpu,submit_time,iterations,model_name,duration,interval; seconds.
 * iterations, model_name (a network, not a GPU) and interval are not used. */
#include "traces/reader.h"

enum { JOB_ID, GPUS, SUBMIT, ITERATIONS, MODEL, DURATION, INTERVAL, COLUMNS };

static const struct tl_csv_column columns[COLUMNS] = {
    [JOB_ID] = {.name = "job_id", .required = true},
    [GPUS] = {.name = "num_gpu", .required = true},
    [SUBMIT] = {.name = "submit_time", .required = true},
    [ITERATIONS] = {.name = "iterations"},
    [MODEL] = {.name = "model_name"},
    [DURATION] = {.name = "duration", .required = true},
    [INTERVAL] = {.name = "interval"},
};

static enum tl_status tiresias_open(struct tl_reader *reader, struct tl_error *error)
{
	return tl_reader_open_csv(reader, columns, COLUMNS, error);
}

static enum tl_status tiresias_next(struct tl_reader *reader, struct tl_row *row,
                                    struct tl_error *error)
{
	enum tl_status status = tl_reader_next_csv(reader, row, error);
	const struct tl_csv *csv = &reader->csv;
	const int *at = reader->positions;

	if (status != TL_OK)
		return status;
	tl_row_set_id(row, columns[JOB_ID].name, tl_csv_field(csv, at[JOB_ID]));
	tl_row_submit(row, columns[SUBMIT].name, tl_csv_field(csv, at[SUBMIT]));
	tl_row_run_time(row, columns[DURATION].name, tl_csv_field(csv, at[DURATION]));
	tl_row_set_gpus(row, tl_row_gpus(row, columns[GPUS].name, tl_csv_field(csv, at[GPUS])));
	tl_row_set_tenant(row, "tenant", "");
	return row->status;
}

const struct tl_reader_ops tl_read_tiresias = {
    .format = TL_FORMAT_TIRESIAS,
    .open = tiresias_open,
    .close = tl_reader_close_csv,
    .next = tiresias_next,
};
