/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * openb pods: name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,
 * creation_time,deletion_time,scheduled_time; seconds. Submit is the creation, run
 * time is deletion − scheduled. Static inputs need only the first five columns.
 * num_gpu > 1 means whole GPUs, num_gpu = 1 a share of gpu_milli. qos LS: queue high,
 * inference; BE: queue low, evaluation; any other: queue normal, training.
 */
#include "traces/reader.h"

#include <string.h>

enum { NAME, CPU, MEMORY, GPUS, SHARE, SPEC, QOS, PHASE, CREATION, DELETION, SCHEDULED, COLUMNS };

static const struct tl_csv_column timed_columns[COLUMNS] = {
    [NAME] = {.name = "name", .required = true},
    [CPU] = {.name = "cpu_milli", .required = true},
    [MEMORY] = {.name = "memory_mib", .required = true},
    [GPUS] = {.name = "num_gpu", .required = true},
    [SHARE] = {.name = "gpu_milli", .required = true},
    [SPEC] = {.name = "gpu_spec"},
    [QOS] = {.name = "qos"},
    [PHASE] = {.name = "pod_phase"},
    [CREATION] = {.name = "creation_time", .required = true},
    [DELETION] = {.name = "deletion_time", .required = true},
    [SCHEDULED] = {.name = "scheduled_time", .required = true},
};

static enum tl_status openb_open(struct tl_reader *reader, struct tl_error *error)
{
	struct tl_csv_column columns[COLUMNS];

	memcpy(columns, timed_columns, sizeof columns);
	if (reader->is_static) {
		for (size_t i = CREATION; i < COLUMNS; i++)
			columns[i].required = false;
	}
	enum tl_status status = tl_reader_open_csv(reader, columns, COLUMNS, error);
	if (status == TL_E_DATA && error != NULL &&
	    strstr(error->message, "_time` is missing") != NULL) {
		size_t used = strlen(error->message);
		strncat(error->message, " (or a static input)", sizeof error->message - used - 1);
	}
	return status;
}

static int64_t read_time(struct tl_row *row, int column)
{
	const struct tl_reader *reader = row->reader;
	return tl_row_number(row, timed_columns[column].name,
	                     tl_csv_field(&reader->csv, reader->positions[column]), 9,
	                     -TL_SUBMIT_MAX, TL_SUBMIT_MAX);
}

static void read_times(struct tl_row *row)
{
	int64_t created = read_time(row, CREATION);
	int64_t deleted = read_time(row, DELETION);
	int64_t scheduled = read_time(row, SCHEDULED);

	if (row->status != TL_OK || row->dropped)
		return;
	if (scheduled == TL_UNKNOWN) {
		if (created == TL_UNKNOWN)
			tl_row_drop(row, deleted == TL_UNKNOWN ? TL_LINT_SUBMIT_UNKNOWN
			                                       : TL_LINT_DELETION_ONLY);
		else
			tl_row_drop(row, deleted == TL_UNKNOWN ? TL_LINT_CREATION_ONLY
			                                       : TL_LINT_NEVER_SCHEDULED);
		return;
	}
	if (created == TL_UNKNOWN) {
		tl_row_hit(row, TL_LINT_SUBMIT_IS_START);
		created = scheduled;
	}
	if (scheduled < created)
		tl_row_hit(row, TL_LINT_START_BEFORE_SUBMIT);
	row->record.submit_ns = created;
	if (deleted == TL_UNKNOWN) {
		tl_row_hit(row, TL_LINT_NEVER_DELETED);
		tl_row_set_run_time(row, TL_NEVER);
	} else if (deleted < scheduled) {
		tl_row_drop(row, TL_LINT_RUN_TIME_ABSURD);
	} else {
		tl_row_set_run_time(row, deleted - scheduled);
	}
}

static void read_size(struct tl_row *row)
{
	const struct tl_csv *csv = &row->reader->csv;
	const int *at = row->reader->positions;
	const char *share_text = tl_csv_field(csv, at[SHARE]);
	int64_t gpus = tl_row_number(row, timed_columns[GPUS].name, tl_csv_field(csv, at[GPUS]), 0,
	                             0, TL_GPUS_MAX_MGPU / TL_MGPU_PER_GPU);
	int64_t share =
	    tl_row_number(row, timed_columns[SHARE].name, share_text, 0, 0, TL_MGPU_PER_GPU);

	if (share == TL_UNKNOWN)
		share = TL_MGPU_PER_GPU;
	if (gpus == TL_UNKNOWN) {
		tl_row_set_gpus(row, TL_UNKNOWN);
	} else if (gpus == 1 && share == 0) {
		tl_row_unreadable(row, timed_columns[SHARE].name, share_text,
		                  "1 to 1000 for a GPU");
	} else if (gpus == 1) {
		tl_row_set_gpus(row, share);
	} else {
		if (gpus > 1 && share < TL_MGPU_PER_GPU)
			tl_row_hit(row, TL_LINT_FRACTION_ROUNDED_UP);
		tl_row_set_gpus(row, gpus * TL_MGPU_PER_GPU);
	}
}

static void read_rest(struct tl_row *row)
{
	enum { CPU_MAX_MILLI = 1000000000, MEMORY_MAX_MIB = 1 << 30 };
	const struct tl_csv *csv = &row->reader->csv;
	const int *at = row->reader->positions;
	struct tl_names *names = row->reader->names;
	struct tl_trace_record *record = &row->record;
	int64_t cpu = tl_row_number(row, timed_columns[CPU].name, tl_csv_field(csv, at[CPU]), 0, 0,
	                            CPU_MAX_MILLI);
	int64_t memory = tl_row_number(row, timed_columns[MEMORY].name,
	                               tl_csv_field(csv, at[MEMORY]), 0, 0, MEMORY_MAX_MIB);
	const char *qos = tl_csv_field(csv, at[QOS]);
	const char *phase = tl_csv_field(csv, at[PHASE]);

	record->cpu_milli = cpu == TL_UNKNOWN ? TL_NONE : cpu;
	record->ram_bytes = memory == TL_UNKNOWN ? TL_NONE : memory * TL_MIB;
	record->models = tl_row_models(row, tl_csv_field(csv, at[SPEC]));
	tl_row_set_tenant(row, "tenant", "");
	if (strcmp(qos, "LS") == 0) {
		record->queue = tl_intern_put(&names->queues, "high");
		record->kind = TL_KIND_INFERENCE;
	} else if (strcmp(qos, "BE") == 0) {
		record->queue = tl_intern_put(&names->queues, "low");
		record->kind = TL_KIND_EVALUATION;
	} else {
		record->queue = tl_intern_put(&names->queues, "normal");
	}
	if (strcmp(phase, "Succeeded") == 0)
		record->outcome = TL_OUTCOME_COMPLETED;
	else if (strcmp(phase, "Failed") == 0)
		record->outcome = TL_OUTCOME_FAILED;
}

static enum tl_status openb_next(struct tl_reader *reader, struct tl_row *row,
                                 struct tl_error *error)
{
	enum tl_status status = tl_reader_next_csv(reader, row, error);

	if (status != TL_OK)
		return status;
	tl_row_set_id(row, timed_columns[NAME].name,
	              tl_csv_field(&reader->csv, reader->positions[NAME]));
	if (!reader->is_static)
		read_times(row);
	read_size(row);
	read_rest(row);
	return row->status;
}

const struct tl_reader_ops tl_read_openb = {
    .format = TL_FORMAT_OPENB,
    .open = openb_open,
    .close = tl_reader_close_csv,
    .next = openb_next,
};
