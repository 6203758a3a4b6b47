/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tidelab's own CSV; columns, units and examples in traces/README.md. */
#include "traces/canonical.h"
#include "traces/reader.h"

#include <string.h>

static const int64_t max_bytes = INT64_C(1) << 60;

static enum tl_status canonical_open(struct tl_reader *reader, struct tl_error *error)
{
	struct tl_csv_column columns[TL_CANONICAL_COLUMNS];

	for (size_t i = 0; i < TL_CANONICAL_COLUMNS; i++) {
		bool required = i == TL_CANONICAL_ID || i == TL_CANONICAL_GPUS ||
		                ((i == TL_CANONICAL_SUBMIT || i == TL_CANONICAL_DURATION) &&
		                 !reader->is_static);
		columns[i] = (struct tl_csv_column){tl_canonical_columns[i], required, !required};
	}
	return tl_reader_open_csv(reader, columns, TL_CANONICAL_COLUMNS, error);
}

static const char *text_of(const struct tl_row *row, enum tl_canonical_column column)
{
	return tl_csv_field(&row->reader->csv, row->reader->positions[column]);
}

static int64_t optional(struct tl_row *row, enum tl_canonical_column column, int digits,
                        int64_t max)
{
	int64_t value = tl_row_optional(row, tl_canonical_columns[column], text_of(row, column),
	                                digits, 0, max);
	return value == TL_UNKNOWN ? TL_NONE : value;
}

static void read_times(struct tl_row *row)
{
	struct tl_trace_record *record = &row->record;

	if (row->reader->is_static)
		return;
	tl_row_submit(row, tl_canonical_columns[TL_CANONICAL_SUBMIT],
	              text_of(row, TL_CANONICAL_SUBMIT));
	if (strcmp(text_of(row, TL_CANONICAL_DURATION), "never") == 0)
		tl_row_set_run_time(row, TL_NEVER);
	else
		tl_row_run_time(row, tl_canonical_columns[TL_CANONICAL_DURATION],
		                text_of(row, TL_CANONICAL_DURATION));
	record->estimate_ns = optional(row, TL_CANONICAL_ESTIMATE, 9, TL_RUN_TIME_MAX);
	int64_t deadline =
	    tl_row_optional(row, tl_canonical_columns[TL_CANONICAL_DEADLINE],
	                    text_of(row, TL_CANONICAL_DEADLINE), 9, -TL_SUBMIT_MAX, TL_SUBMIT_MAX);
	if (deadline != TL_UNKNOWN && deadline < record->submit_ns)
		tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_DEADLINE],
		                  text_of(row, TL_CANONICAL_DEADLINE),
		                  "a time not before submit_s");
	record->deadline_ns = deadline;
	if (record->estimate_ns != TL_NONE && record->duration_ns != TL_NEVER &&
	    record->duration_ns > record->estimate_ns)
		tl_row_hit(row, TL_LINT_OVER_REQUESTED_TIME);
}

static void read_resources(struct tl_row *row)
{
	struct tl_trace_record *record = &row->record;
	int64_t workers = optional(row, TL_CANONICAL_WORKERS, 0, UINT32_MAX);
	int64_t utilisation = optional(row, TL_CANONICAL_UTILISATION, 3, 1000);

	record->workers = workers == TL_NONE ? 0 : (uint32_t)workers;
	record->utilisation_milli = (int32_t)utilisation;
	record->gpu_memory_bytes = optional(row, TL_CANONICAL_GPU_MEMORY, 0, max_bytes);
	record->cpu_milli = optional(row, TL_CANONICAL_CPU, 0, max_bytes);
	record->ram_bytes = optional(row, TL_CANONICAL_RAM, 0, max_bytes);
	record->state_bytes = optional(row, TL_CANONICAL_STATE, 0, max_bytes);
	tl_row_set_gpus(row, tl_row_gpus(row, tl_canonical_columns[TL_CANONICAL_GPUS],
	                                 text_of(row, TL_CANONICAL_GPUS)));
	if (workers == 0)
		tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_WORKERS],
		                  text_of(row, TL_CANONICAL_WORKERS), "at least 1, or nothing");
	if (row->dropped || row->status != TL_OK || workers <= 1)
		return;
	int64_t gpus = record->gpus_mgpu / TL_MGPU_PER_GPU;
	if (record->gpus_mgpu != 0 && (gpus < workers || gpus % workers != 0))
		tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_WORKERS],
		                  text_of(row, TL_CANONICAL_WORKERS),
		                  "workers that share the GPUs evenly, whole GPUs each");
}

/* The place of text in a list of names; count where it is in none. */
static size_t find(const char *text, const char *const *names, size_t count)
{
	size_t i = 0;
	while (i < count && strcmp(text, names[i]) != 0)
		i++;
	return i;
}

static void read_words(struct tl_row *row)
{
	struct tl_names *names = row->reader->names;
	struct tl_trace_record *record = &row->record;
	const char *kind = text_of(row, TL_CANONICAL_KIND);
	const char *outcome = text_of(row, TL_CANONICAL_OUTCOME);

	if (kind[0] != '\0') {
		size_t at = find(kind, tl_work_kind_names, TL_KIND_COUNT);
		if (at == TL_KIND_COUNT)
			tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_KIND], kind,
			                  "training, inference, evaluation, simulation or other");
		else
			record->kind = (enum tl_work_kind)at;
	}
	if (outcome[0] != '\0') {
		size_t at = find(outcome, tl_outcome_names, TL_OUTCOME_UNKNOWN + 1);
		if (at > TL_OUTCOME_UNKNOWN)
			tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_OUTCOME], outcome,
			                  "completed, failed, cancelled or unknown");
		else
			record->outcome = (enum tl_outcome)at;
	}
	if (row->dropped || row->status != TL_OK)
		return;
	tl_row_set_tenant(row, tl_canonical_columns[TL_CANONICAL_TENANT],
	                  text_of(row, TL_CANONICAL_TENANT));
	tl_row_set_queue(row, tl_canonical_columns[TL_CANONICAL_QUEUE],
	                 text_of(row, TL_CANONICAL_QUEUE));
	if (text_of(row, TL_CANONICAL_ROLE)[0] != '\0')
		record->role = tl_intern_put(&names->roles, text_of(row, TL_CANONICAL_ROLE));
	record->models = tl_row_models(row, text_of(row, TL_CANONICAL_MODELS));
}

/* A priority may be −1, so it is no tl_row_number. */
static void read_priority(struct tl_row *row)
{
	const char *text = text_of(row, TL_CANONICAL_PRIORITY);
	struct tl_number number = tl_number_parse(text, 0);

	if (number.kind == TL_NUMBER_EMPTY)
		return;
	if (number.kind != TL_NUMBER_VALUE || number.value < INT32_MIN || number.value > INT32_MAX)
		tl_row_unreadable(row, tl_canonical_columns[TL_CANONICAL_PRIORITY], text,
		                  "a whole number of 32 bits");
	else
		row->record.priority = (int32_t)number.value;
}

static enum tl_status canonical_next(struct tl_reader *reader, struct tl_row *row,
                                     struct tl_error *error)
{
	enum tl_status status = tl_reader_next_csv(reader, row, error);

	if (status != TL_OK)
		return status;
	tl_row_set_id(row, tl_canonical_columns[TL_CANONICAL_ID], text_of(row, TL_CANONICAL_ID));
	read_times(row);
	read_resources(row);
	read_priority(row);
	read_words(row);
	return row->status;
}

const struct tl_reader_ops tl_read_canonical = {
    .format = TL_FORMAT_CANONICAL,
    .open = canonical_open,
    .close = tl_reader_close_csv,
    .next = canonical_next,
};
