/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Standard Workload Format 2.2: 18 numbers a row, separated by spaces, after header
 * lines that begin with `;`. A processor is taken as one GPU; the requested count
 * where stated, else the allocated one; memory (KiB a processor) becomes RAM; the
 * user is the tenant. The requested time is the estimate.
 */
#include "traces/reader.h"

#include "sim/base/arena.h"
#include "traces/seen.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	JOB,
	SUBMIT,
	WAIT,
	RUN,
	ALLOCATED,
	CPU_TIME,
	USED_MEMORY,
	REQUESTED,
	REQUESTED_TIME,
	REQUESTED_MEMORY,
	STATUS,
	USER,
	GROUP,
	APPLICATION,
	QUEUE,
	PARTITION,
	PRECEDING,
	THINK_TIME,
	FIELDS
};

enum { FIELDS_NEEDED = ALLOCATED + 1 };

static const char *const field_names[FIELDS] = {
    "job number (field 1)",
    "submit time (field 2)",
    "wait time (field 3)",
    "run time (field 4)",
    "allocated processors (field 5)",
    "average CPU time (field 6)",
    "used memory (field 7)",
    "requested processors (field 8)",
    "requested time (field 9)",
    "requested memory (field 10)",
    "status (field 11)",
    "user (field 12)",
    "group (field 13)",
    "application (field 14)",
    "queue (field 15)",
    "partition (field 16)",
    "preceding job (field 17)",
    "think time (field 18)",
};

struct tl_swf {
	struct tl_input input;
	const char *tokens[FIELDS];
	int64_t max_procs; /* of the header; 0: not stated */
	int64_t max_jobs;
	uint64_t waits;      /* rows that state a wait */
	uint64_t zero_waits; /* of which 0 */
	long zero_lines[TL_LINT_LINES];
};

static enum tl_status swf_open(struct tl_reader *reader, struct tl_error *error)
{
	reader->swf = tl_calloc(1, sizeof *reader->swf);
	enum tl_status status =
	    tl_input_open(&reader->swf->input, reader->path, reader->lint, error);
	if (status != TL_OK) {
		free(reader->swf);
		reader->swf = NULL;
	}
	return status;
}

static void swf_close(struct tl_reader *reader)
{
	if (reader->swf == NULL)
		return;
	tl_input_close(&reader->swf->input);
	free(reader->swf);
	reader->swf = NULL;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* `; MaxProcs: 128`: takes the number where the label is the one. */
static void take_label(const char *text, const char *label, int64_t *out)
{
	size_t length = strlen(label);

	if (strncasecmp(text, label, length) != 0)
		return;
	text += length;
	while (is_space(*text))
		text++;
	if (*text != ':')
		return;
	text++;
	while (is_space(*text))
		text++;
	char number[24];
	size_t size = strspn(text, "0123456789");
	if (size == 0 || size >= sizeof number)
		return;
	memcpy(number, text, size);
	number[size] = '\0';
	struct tl_number value = tl_number_parse(number, 0);
	if (!value.saturated)
		*out = value.value;
}

static void read_header_line(struct tl_reader *reader, const char *text, size_t size)
{
	struct tl_swf *swf = reader->swf;

	if (size > 0 && is_space(text[size - 1]))
		tl_lint_hit(reader->lint, TL_LINT_HEADER_SPACE, swf->input.line);
	while (*text == ';' || is_space(*text))
		text++;
	take_label(text, "MaxProcs", &swf->max_procs);
	take_label(text, "MaxJobs", &swf->max_jobs);
}

/* Cuts the line into tokens (with NULs, in place); returns how many there are. */
static size_t split(struct tl_swf *swf, char *text)
{
	size_t count = 0;

	for (;;) {
		while (is_space(*text))
			text++;
		if (*text == '\0')
			return count;
		if (count < FIELDS)
			swf->tokens[count] = text;
		count++;
		while (*text != '\0' && !is_space(*text))
			text++;
		if (*text != '\0')
			*text++ = '\0';
	}
}

static int64_t field(struct tl_row *row, int index, int digits, int64_t min, int64_t max)
{
	return tl_row_number(row, field_names[index], row->reader->swf->tokens[index], digits, min,
	                     max);
}

static void read_size(struct tl_row *row)
{
	const struct tl_swf *swf = row->reader->swf;
	int64_t allocated = tl_row_gpus(row, field_names[ALLOCATED], swf->tokens[ALLOCATED]);
	int64_t requested = tl_row_gpus(row, field_names[REQUESTED], swf->tokens[REQUESTED]);

	if (requested == 0) /* written for unknown by some logs: nobody requests nothing */
		requested = TL_UNKNOWN;
	if ((allocated == TL_UNKNOWN) != (requested == TL_UNKNOWN))
		tl_row_hit(row, TL_LINT_PROCESSORS_UNKNOWN);
	else if (allocated != requested)
		tl_row_hit(row, TL_LINT_ALLOCATED_DIFFERS);
	tl_row_set_gpus(row, requested != TL_UNKNOWN ? requested : allocated);
	if (swf->max_procs > 0 && row->record.gpus_mgpu / TL_MGPU_PER_GPU > swf->max_procs)
		tl_row_hit(row, TL_LINT_LARGER_THAN_CLUSTER);
}

static void read_memory(struct tl_row *row)
{
	enum { MEMORY_MAX_KIB = 1 << 30 };
	int64_t kib = field(row, REQUESTED_MEMORY, 0, 0, MEMORY_MAX_KIB);
	int64_t processors = row->record.gpus_mgpu / TL_MGPU_PER_GPU;

	if (kib == TL_UNKNOWN || row->dropped || row->status != TL_OK)
		return;
	if (processors > 0 && kib > INT64_MAX / TL_KIB / processors)
		tl_row_unreadable(row, field_names[REQUESTED_MEMORY],
		                  row->reader->swf->tokens[REQUESTED_MEMORY], "less memory");
	else
		row->record.ram_bytes = kib * TL_KIB * processors;
}

static void read_times(struct tl_row *row)
{
	const struct tl_swf *swf = row->reader->swf;

	tl_row_submit(row, field_names[SUBMIT], swf->tokens[SUBMIT]);
	tl_row_run_time(row, field_names[RUN], swf->tokens[RUN]);
	int64_t estimate = field(row, REQUESTED_TIME, 9, 0, INT64_MAX);
	if (row->reader->is_static || estimate == TL_UNKNOWN)
		return;
	if (estimate > TL_RUN_TIME_MAX) {
		tl_row_hit(row, TL_LINT_ESTIMATE_ABSURD);
		return;
	}
	row->record.estimate_ns = estimate;
	if (row->record.duration_ns > estimate)
		tl_row_hit(row, TL_LINT_OVER_REQUESTED_TIME);
}

static void read_wait(struct tl_row *row)
{
	struct tl_swf *swf = row->reader->swf;
	int64_t wait = field(row, WAIT, 9, -INT64_MAX, INT64_MAX);

	if (wait == TL_UNKNOWN || row->reader->lint->off)
		return;
	swf->waits++;
	if (wait < 0) {
		tl_row_hit(row, TL_LINT_START_BEFORE_SUBMIT);
	} else if (wait == 0) {
		if (swf->zero_waits < TL_LINT_LINES)
			swf->zero_lines[swf->zero_waits] = row->line;
		swf->zero_waits++;
	}
}

static void read_status(struct tl_row *row)
{
	int64_t status = field(row, STATUS, 0, -INT64_MAX, INT64_MAX);

	if (status == 1)
		row->record.outcome = TL_OUTCOME_COMPLETED;
	else if (status == 0)
		row->record.outcome = TL_OUTCOME_FAILED;
	else if (status == 5)
		row->record.outcome = TL_OUTCOME_CANCELLED;
	else if (status >= 2 && status <= 4)
		tl_row_drop(row, TL_LINT_PARTIAL_RUN);
	else if (status != TL_UNKNOWN)
		tl_row_unreadable(row, field_names[STATUS], row->reader->swf->tokens[STATUS],
		                  "-1 to 5");
}

static void read_people(struct tl_row *row)
{
	const char *const *tokens = row->reader->swf->tokens;
	int64_t user = field(row, USER, 0, 0, INT64_MAX);
	int64_t queue = field(row, QUEUE, 0, 0, INT64_MAX);
	int64_t preceding = field(row, PRECEDING, 0, 0, INT64_MAX);

	if (row->dropped || row->status != TL_OK)
		return;
	tl_row_set_tenant(row, field_names[USER], user == TL_UNKNOWN ? "" : tokens[USER]);
	tl_row_set_queue(row, field_names[QUEUE], queue == TL_UNKNOWN ? "" : tokens[QUEUE]);
	if (preceding > 0)
		tl_row_hit(row, TL_LINT_DEPENDENCY);
}

/* The next line that is a row, in text; header and blank lines are taken on the way. */
static enum tl_status next_line(struct tl_reader *reader, char **text, size_t *size,
                                struct tl_error *error)
{
	struct tl_swf *swf = reader->swf;

	for (;;) {
		enum tl_status status = tl_input_line(&swf->input, text, size, error);
		if (status != TL_OK)
			return status;
		const char *first = *text;
		while (is_space(*first))
			first++;
		if (*first == ';')
			read_header_line(reader, *text, *size);
		else if (*first == '\0')
			tl_lint_hit(reader->lint, TL_LINT_BLANK_LINE, swf->input.line);
		else
			return TL_OK;
	}
}

static void check_count(struct tl_row *row, size_t count)
{
	struct tl_swf *swf = row->reader->swf;

	if (count > FIELDS)
		tl_row_hit(row, TL_LINT_EXTRA_FIELD);
	if (count >= FIELDS)
		return;
	for (size_t i = count; i < FIELDS; i++)
		swf->tokens[i] = "-1";
	if (count < FIELDS_NEEDED)
		tl_row_unreadable(row, "row", swf->tokens[0], "18 fields, at least the first 5");
	else
		tl_row_hit(row, TL_LINT_SHORT_ROW);
}

static enum tl_status swf_next(struct tl_reader *reader, struct tl_row *row, struct tl_error *error)
{
	char *text;
	size_t size;
	enum tl_status status = next_line(reader, &text, &size, error);

	if (status != TL_OK)
		return status;
	tl_row_clear(row, reader, error);
	row->line = reader->swf->input.line;
	row->record.line = row->line;
	row->record.kind = TL_KIND_OTHER;
	while (size > 0 && is_space(text[size - 1]))
		size--;
	if (!reader->lint->off)
		row->hash = tl_hash_bytes(text, size);
	check_count(row, split(reader->swf, text));
	for (size_t i = 0; i < FIELDS && !reader->lint->off; i++) {
		if (tl_number_is_list(reader->swf->tokens[i]))
			tl_row_hit(row, TL_LINT_LIST_FIELD);
	}
	tl_row_set_id(row, field_names[JOB], reader->swf->tokens[JOB]);
	read_status(row);
	read_times(row);
	read_wait(row);
	read_size(row);
	read_memory(row);
	read_people(row);
	return row->status;
}

/* No row of a log that states waits ever waited: its submit times are starts. */
static void swf_finish(struct tl_reader *reader, uint64_t rows_read)
{
	struct tl_swf *swf = reader->swf;

	if (swf->waits > 1 && swf->zero_waits == swf->waits) {
		for (size_t i = 0; i < TL_LINT_LINES && i < swf->zero_waits; i++)
			tl_lint_hit(reader->lint, TL_LINT_SUBMIT_IS_START, swf->zero_lines[i]);
		if (swf->zero_waits > TL_LINT_LINES)
			tl_lint_add(reader->lint, TL_LINT_SUBMIT_IS_START, swf->zero_lines[0],
			            swf->zero_waits - TL_LINT_LINES);
	}
	if (swf->max_jobs > 0 && (uint64_t)swf->max_jobs > rows_read)
		tl_lint_add(reader->lint, TL_LINT_FEWER_THAN_PROMISED, 0,
		            (uint64_t)swf->max_jobs - rows_read);
}

const struct tl_reader_ops tl_read_swf = {
    .format = TL_FORMAT_SWF,
    .open = swf_open,
    .close = swf_close,
    .next = swf_next,
    .finish = swf_finish,
};
