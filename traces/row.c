/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all readers do alike with the fields of a row. */
#include "traces/reader.h"

#include "sim/base/arena.h"
#include "sim/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tl_row_clear(struct tl_row *row, struct tl_reader *reader, struct tl_error *error)
{
	row->reader = reader;
	row->hash = 0;
	row->line = 0;
	row->dropped = false;
	row->status = TL_OK;
	row->error = error;
	row->record = (struct tl_trace_record){
	    .estimate_ns = TL_NONE,
	    .deadline_ns = TL_UNKNOWN,
	    .gpu_memory_bytes = TL_NONE,
	    .cpu_milli = TL_NONE,
	    .ram_bytes = TL_NONE,
	    .state_bytes = TL_NONE,
	    .utilisation_milli = -1,
	    .queue = UINT32_MAX,
	    .models = UINT32_MAX,
	    .role = UINT32_MAX,
	    .kind = TL_KIND_TRAINING,
	    .outcome = TL_OUTCOME_UNKNOWN,
	};
}

static bool is_over(const struct tl_row *row)
{
	return row->dropped || row->status != TL_OK;
}

void tl_row_hit(struct tl_row *row, enum tl_lint_kind kind)
{
	if (!is_over(row))
		tl_lint_hit(row->reader->lint, kind, row->line);
}

void tl_row_drop(struct tl_row *row, enum tl_lint_kind kind)
{
	tl_row_hit(row, kind);
	if (row->status == TL_OK)
		row->dropped = true;
}

void tl_row_unreadable(struct tl_row *row, const char *column, const char *text, const char *wanted)
{
	if (is_over(row))
		return;
	if (row->reader->lint_mode) {
		tl_row_drop(row, TL_LINT_UNREADABLE_VALUE);
		return;
	}
	row->status = tl_error_set(row->error, TL_E_DATA, row->reader->path, row->line, 0,
	                           "%s, got `%.80s`, wanted %s", column, text, wanted);
}

static int64_t read_number(struct tl_row *row, const char *column, const char *text, int digits,
                           int64_t min, int64_t max, bool optional)
{
	static const int64_t minus_one[] = {-1,      -10,      -100,      -1000,      -10000,
	                                    -100000, -1000000, -10000000, -100000000, -1000000000};
	struct tl_number number;

	if (is_over(row))
		return TL_UNKNOWN;
	number = tl_number_parse(text, digits);
	if (number.whole_decimal && !number.saturated)
		tl_row_hit(row, TL_LINT_WHOLE_DECIMAL);
	if (number.scientific && !number.saturated)
		tl_row_hit(row, TL_LINT_SCIENTIFIC);
	if (number.long_fraction && !number.saturated)
		tl_row_hit(row, TL_LINT_LONG_FRACTION);
	if (number.kind == TL_NUMBER_LIST) {
		tl_row_hit(row, TL_LINT_LIST_FIELD);
		return TL_UNKNOWN;
	}
	bool is_minus_one = number.kind == TL_NUMBER_VALUE && number.value == minus_one[digits];
	if (number.kind == TL_NUMBER_EMPTY || is_minus_one) {
		if (is_minus_one || !optional)
			tl_row_hit(row, TL_LINT_UNKNOWN_VALUE);
		return TL_UNKNOWN;
	}
	if (number.kind == TL_NUMBER_BAD) {
		tl_row_unreadable(row, column, text, "a number");
		return TL_UNKNOWN;
	}
	if (number.value < min || number.value > max) {
		char wanted[64] = "a number of a size that can be";
		if (min >= 0)
			(void)snprintf(wanted, sizeof wanted, "a number from 0 to %g",
			               (double)max / (double)-minus_one[digits]);
		tl_row_unreadable(row, column, text, wanted);
		return TL_UNKNOWN;
	}
	return number.value;
}

int64_t tl_row_number(struct tl_row *row, const char *column, const char *text, int digits,
                      int64_t min, int64_t max)
{
	return read_number(row, column, text, digits, min, max, false);
}

int64_t tl_row_optional(struct tl_row *row, const char *column, const char *text, int digits,
                        int64_t min, int64_t max)
{
	return read_number(row, column, text, digits, min, max, true);
}

void tl_row_submit(struct tl_row *row, const char *column, const char *text)
{
	if (row->reader->is_static)
		return;
	int64_t submit_ns = tl_row_number(row, column, text, 9, -TL_SUBMIT_MAX, TL_SUBMIT_MAX);
	if (submit_ns == TL_UNKNOWN)
		tl_row_drop(row, TL_LINT_SUBMIT_UNKNOWN);
	row->record.submit_ns = submit_ns;
}

void tl_row_run_time(struct tl_row *row, const char *column, const char *text)
{
	if (row->reader->is_static)
		return;
	int64_t duration_ns = tl_row_number(row, column, text, 9, -INT64_MAX, INT64_MAX);

	/* What did not fit is too long, and not the word for never. */
	tl_row_set_run_time(row, duration_ns == TL_NEVER ? TL_NEVER - 1 : duration_ns);
}

void tl_row_set_run_time(struct tl_row *row, int64_t duration_ns)
{
	if (is_over(row))
		return;
	if (duration_ns == TL_UNKNOWN)
		tl_row_drop(row, TL_LINT_RUN_TIME_UNKNOWN);
	else if (duration_ns < 0 || (duration_ns > TL_RUN_TIME_MAX && duration_ns != TL_NEVER))
		tl_row_drop(row, TL_LINT_RUN_TIME_ABSURD);
	else if (duration_ns == 0)
		tl_row_hit(row, TL_LINT_RUN_TIME_ZERO);
	row->record.duration_ns = duration_ns;
}

void tl_row_set_gpus(struct tl_row *row, int64_t gpus_mgpu)
{
	if (is_over(row))
		return;
	if (gpus_mgpu == TL_UNKNOWN) {
		tl_row_drop(row, TL_LINT_SIZE_UNKNOWN);
		return;
	}
	if (gpus_mgpu == 0)
		tl_row_hit(row, TL_LINT_ZERO_GPU);
	else if (gpus_mgpu < TL_MGPU_PER_GPU)
		tl_row_hit(row, TL_LINT_FRACTIONAL_GPU);
	if (gpus_mgpu > TL_MGPU_PER_GPU && gpus_mgpu % TL_MGPU_PER_GPU != 0) {
		tl_row_hit(row, TL_LINT_FRACTION_ROUNDED_UP);
		gpus_mgpu += TL_MGPU_PER_GPU - gpus_mgpu % TL_MGPU_PER_GPU;
	}
	row->record.gpus_mgpu = gpus_mgpu;
}

int64_t tl_row_gpus(struct tl_row *row, const char *column, const char *text)
{
	int64_t gpus_mgpu = tl_row_number(row, column, text, 3, 0, TL_GPUS_MAX_MGPU);

	if (!is_over(row) && gpus_mgpu != TL_UNKNOWN && tl_number_parse(text, 3).rounded)
		tl_row_unreadable(row, column, text, "whole thousandths of a GPU");
	return is_over(row) ? TL_UNKNOWN : gpus_mgpu;
}

/* A name of fewer than size bytes, as long as the column that shows it, that any output can
 * write. */
static bool fits(struct tl_row *row, const char *column, const char *name, size_t size)
{
	char wanted[48];

	if (strlen(name) >= size)
		(void)snprintf(wanted, sizeof wanted, "a name of at most %zu bytes", size - 1);
	else if (!tl_utf8_is(name))
		(void)snprintf(wanted, sizeof wanted, "UTF-8 without control characters");
	else
		return true;
	tl_row_unreadable(row, column, name, wanted);
	return false;
}

void tl_row_set_id(struct tl_row *row, const char *column, const char *id)
{
	if (fits(row, column, id, TL_TRACE_ID_MAX))
		memcpy(row->record.id, id, strlen(id) + 1);
}

/* Whether the `|`-separated list of `used` bytes holds the name. */
static bool holds_name(const char *list, size_t used, const char *name, size_t length)
{
	for (size_t at = 0; at < used;) {
		const char *bar = memchr(list + at, '|', used - at);
		size_t size = bar != NULL ? (size_t)(bar - list) - at : used - at;
		if (size == length && memcmp(list + at, name, length) == 0)
			return true;
		at += size + 1;
	}
	return false;
}

uint32_t tl_row_models(struct tl_row *row, const char *text)
{
	enum { SMALL = 256 };
	char small[SMALL];
	size_t size = strlen(text), used = 0;

	if (is_over(row) || size == 0)
		return UINT32_MAX;
	char *list = size < SMALL ? small : tl_alloc(size + 1);
	for (const char *name = text; name <= text + size;) {
		size_t length = strcspn(name, "|");
		if (length > 0 && holds_name(list, used, name, length)) {
			tl_row_hit(row, TL_LINT_REPEATED_MODEL);
		} else if (length > 0) {
			if (used > 0)
				list[used++] = '|';
			memcpy(list + used, name, length);
			used += length;
		}
		name += length + 1;
	}
	list[used] = '\0';
	uint32_t models = used > 0 ? tl_intern_put(&row->reader->names->models, list) : UINT32_MAX;
	if (list != small)
		free(list);
	return models;
}

void tl_row_set_tenant(struct tl_row *row, const char *column, const char *name)
{
	if (!is_over(row) && fits(row, column, name, TL_TRACE_NAME_MAX))
		row->record.tenant =
		    tl_intern_put(&row->reader->names->tenants, name[0] != '\0' ? name : "default");
}

void tl_row_set_queue(struct tl_row *row, const char *column, const char *name)
{
	if (!is_over(row) && name[0] != '\0' && fits(row, column, name, TL_TRACE_QUEUE_MAX))
		row->record.queue = tl_intern_put(&row->reader->names->queues, name);
}

enum tl_status tl_reader_open_csv(struct tl_reader *reader, const struct tl_csv_column *columns,
                                  size_t count, struct tl_error *error)
{
	enum tl_status status = tl_csv_open(&reader->csv, reader->path, reader->lint, error);

	if (status != TL_OK)
		return status;
	status = tl_csv_header(&reader->csv, columns, count, reader->positions, error);
	if (status != TL_OK)
		tl_csv_close(&reader->csv);
	return status;
}

void tl_reader_close_csv(struct tl_reader *reader)
{
	tl_csv_close(&reader->csv);
}

enum tl_status tl_reader_next_csv(struct tl_reader *reader, struct tl_row *row,
                                  struct tl_error *error)
{
	enum tl_status status = tl_csv_row(&reader->csv, error);

	if (status != TL_OK)
		return status;
	tl_row_clear(row, reader, error);
	row->line = reader->csv.line;
	row->record.line = row->line;
	if (!reader->lint->off)
		row->hash = tl_csv_hash(&reader->csv);
	return TL_OK;
}
