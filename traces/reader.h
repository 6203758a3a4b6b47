/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a format's reader is made of: it turns one input row into one record, or says
 * that the row is dropped, and counts all dirt it met. Times are on the file's own
 * clock; order, filters and time's origin are the business of trace.c.
 */
#ifndef TIDELAB_TRACES_READER_H
#define TIDELAB_TRACES_READER_H

#include "traces/csv_input.h"
#include "traces/lint.h"
#include "traces/number.h"
#include "traces/trace.h"

/* A quantity the row does not state. Not TL_NONE: −1 ns is a value. */
#define TL_UNKNOWN INT64_MIN

#define TL_SUBMIT_MAX (INT64_C(4500000000) * TL_NS_PER_S) /* so that differences fit */
#define TL_RUN_TIME_MAX (3650 * TL_NS_PER_DAY)
#define TL_GPUS_MAX_MGPU (INT64_C(1000000000) * TL_MGPU_PER_GPU)

struct tl_names {
	struct tl_intern tenants, queues, models, roles;
};

struct tl_swf; /* read_swf.c's own */
struct tl_row;
struct tl_reader_ops;

struct tl_reader {
	const struct tl_reader_ops *ops;
	const char *path;
	struct tl_lint *lint;
	struct tl_names *names;
	bool lint_mode; /* options->lint: count an unreadable value instead of failing */
	bool is_static;
	struct tl_csv csv;
	int positions[32];
	struct tl_swf *swf;
	const struct tl_trace_maker *maker; /* of records that are made */
	void *making;                       /* its state */
};

struct tl_reader_ops {
	enum tl_trace_format format;
	enum tl_status (*open)(struct tl_reader *reader, struct tl_error *error);
	void (*close)(struct tl_reader *reader);
	/* Next input row into the record of row (cleared by the caller): TL_OK with
	 * row->dropped told, TL_END, or an error. */
	enum tl_status (*next)(struct tl_reader *reader, struct tl_row *row,
	                       struct tl_error *error);
	/* Once after the last row of a scan: what only the whole file shows. May be NULL. */
	void (*finish)(struct tl_reader *reader, uint64_t rows_read);
};

/* One row being read. Once status is not TL_OK or dropped is set, the tl_row_
 * functions change nothing any more and return TL_UNKNOWN: a reader asks for field
 * after field and looks at the end. */
struct tl_row {
	struct tl_reader *reader;
	struct tl_trace_record record; /* id empty: the line number is the id */
	uint64_t hash;                 /* of all fields, to find duplicates */
	long line;
	bool dropped;
	enum tl_status status;
	struct tl_error *error;
};

/* A record with everything unknown. */
void tl_row_clear(struct tl_row *row, struct tl_reader *reader, struct tl_error *error);
void tl_row_hit(struct tl_row *row, enum tl_lint_kind kind);
/* Counts the row in a class and drops it. */
void tl_row_drop(struct tl_row *row, enum tl_lint_kind kind);
/* text is no value of a column: fails, or in lint mode counts and drops. */
void tl_row_unreadable(struct tl_row *row, const char *column, const char *text,
                       const char *wanted);

/* A number × 10^digits within [min, max], or TL_UNKNOWN for empty, −1 or a list. */
int64_t tl_row_number(struct tl_row *row, const char *column, const char *text, int digits,
                      int64_t min, int64_t max);
/* The same of a number that may well be empty (no word about it then). */
int64_t tl_row_optional(struct tl_row *row, const char *column, const char *text, int digits,
                        int64_t min, int64_t max);

/* Submit time, seconds as a decimal; drops the row where unknown. */
void tl_row_submit(struct tl_row *row, const char *column, const char *text);
/* Run time, seconds as a decimal; drops the row where unknown or absurd. Static
 * inputs need none. */
void tl_row_run_time(struct tl_row *row, const char *column, const char *text);
/* Checks a run time already known (TL_UNKNOWN: drops). */
void tl_row_set_run_time(struct tl_row *row, int64_t duration_ns);
/* Size of the job; TL_UNKNOWN drops. A fraction above one GPU is rounded up. */
void tl_row_set_gpus(struct tl_row *row, int64_t gpus_mgpu);
/* A number of GPUs as such a column has it, in thousandths; finer ones are unreadable. */
int64_t tl_row_gpus(struct tl_row *row, const char *column, const char *text);
/* The job's own id; empty: the line number. Too long a name is unreadable, here and below. */
void tl_row_set_id(struct tl_row *row, const char *column, const char *id);
/* Empty: the tenant `default`. */
void tl_row_set_tenant(struct tl_row *row, const char *column, const char *name);
/* Empty: none. */
void tl_row_set_queue(struct tl_row *row, const char *column, const char *name);
/* `A|B` without its repeats, interned; UINT32_MAX where empty. */
uint32_t tl_row_models(struct tl_row *row, const char *text);

/* Opens, reads and closes CSV readers alike; columns and positions by the reader's enum. */
enum tl_status tl_reader_open_csv(struct tl_reader *reader, const struct tl_csv_column *columns,
                                  size_t count, struct tl_error *error);
void tl_reader_close_csv(struct tl_reader *reader);
/* The next CSV row into the fields row has before any column is read (line, hash). */
enum tl_status tl_reader_next_csv(struct tl_reader *reader, struct tl_row *row,
                                  struct tl_error *error);

extern const struct tl_reader_ops tl_read_philly, tl_read_openb, tl_read_swf, tl_read_tiresias,
    tl_read_canonical, tl_read_made;

/* The reader of a format; AUTO looks into the file. TL_E_DATA where that is unclear. */
enum tl_status tl_reader_choose(const char *path, enum tl_trace_format format,
                                const struct tl_reader_ops **out, struct tl_error *error);

#endif
