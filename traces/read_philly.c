/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Philly: timestamp,duration,num_gpus,gpu_time,cluster; the line number is the id. */
#include "traces/reader.h"

enum { TIMESTAMP, DURATION, GPUS, GPU_TIME, CLUSTER, COLUMNS };

static const struct tl_csv_column columns[COLUMNS] = {
    [TIMESTAMP] = {.name = "timestamp", .required = true},
    [DURATION] = {.name = "duration", .required = true},
    [GPUS] = {.name = "num_gpus", .required = true},
    [GPU_TIME] = {.name = "gpu_time"},
    [CLUSTER] = {.name = "cluster", .required = true},
};

static enum tl_status philly_open(struct tl_reader *reader, struct tl_error *error)
{
	return tl_reader_open_csv(reader, columns, COLUMNS, error);
}

static void read_timestamp(struct tl_row *row, const char *text)
{
	struct tl_timestamp stamp;

	if (row->reader->is_static)
		return;
	if (tl_input_is_blank(text)) {
		tl_row_drop(row, TL_LINT_SUBMIT_UNKNOWN);
		return;
	}
	if (!tl_timestamp_parse(text, &stamp)) {
		tl_row_unreadable(row, columns[TIMESTAMP].name, text, "YYYY-MM-DD HH:MM:SS");
		return;
	}
	if (stamp.long_fraction)
		tl_row_hit(row, TL_LINT_LONG_FRACTION);
	if (stamp.repeated_hour)
		tl_row_hit(row, TL_LINT_REPEATED_HOUR);
	row->record.submit_ns = stamp.ns;
}

static void check_gpu_time(struct tl_row *row, const char *text)
{
	if (row->dropped || row->status != TL_OK || row->reader->is_static || text[0] == '\0')
		return;
	struct tl_number number = tl_number_parse(text, 3);
	tl_i128 product = (tl_i128)row->record.duration_ns * row->record.gpus_mgpu;
	if (number.kind != TL_NUMBER_VALUE || (tl_i128)number.value * TL_NS_PER_S != product)
		tl_row_hit(row, TL_LINT_GPU_TIME_DIFFERS);
}

static enum tl_status philly_next(struct tl_reader *reader, struct tl_row *row,
                                  struct tl_error *error)
{
	enum tl_status status = tl_reader_next_csv(reader, row, error);
	const struct tl_csv *csv = &reader->csv;
	const int *at = reader->positions;

	if (status != TL_OK)
		return status;
	read_timestamp(row, tl_csv_field(csv, at[TIMESTAMP]));
	tl_row_run_time(row, columns[DURATION].name, tl_csv_field(csv, at[DURATION]));
	tl_row_set_gpus(row, tl_row_gpus(row, columns[GPUS].name, tl_csv_field(csv, at[GPUS])));
	check_gpu_time(row, tl_csv_field(csv, at[GPU_TIME]));
	tl_row_set_tenant(row, columns[CLUSTER].name, tl_csv_field(csv, at[CLUSTER]));
	return row->status;
}

const struct tl_reader_ops tl_read_philly = {
    .format = TL_FORMAT_PHILLY,
    .open = philly_open,
    .close = tl_reader_close_csv,
    .next = philly_next,
};
