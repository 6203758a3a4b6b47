/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The trace behind trace.h, shared by what scans it, arranges its rows and hands them out. */
#ifndef TIDELAB_TRACES_TRACE_INTERNAL_H
#define TIDELAB_TRACES_TRACE_INTERNAL_H

#include "traces/held.h"
#include "traces/mix.h"
#include "traces/reader.h"
#include "traces/seen.h"

/* How far the rows were handed through the steps that depend on their order. */
struct tl_progress {
	uint64_t offered; /* rows that passed the filters of single rows */
	uint64_t kept;
};

struct tl_trace {
	char *path;
	struct tl_trace_options options;
	const struct tl_reader_ops *ops;
	struct tl_trace_maker maker; /* begin NULL: rows are read from path */
	struct tl_reader reader;
	bool reader_open;
	struct tl_names names;
	struct tl_lint lint;
	struct tl_lint_class classes[TL_LINT_KIND_COUNT];
	struct tl_trace_stats stats;
	struct tl_mix mix;
	struct tl_held held;
	size_t held_next;
	/* of a scan */
	struct tl_seen rows_seen, ids_seen;
	bool any_row;
	int64_t before_ns;    /* submit of the row above */
	int64_t last_day;     /* of the last kept submit */
	uint64_t *duplicates; /* rows_read of rows left out as duplicates */
	size_t duplicate_count, duplicate_capacity;
	/* of streaming */
	struct tl_progress progress;
	size_t duplicate_next;
	uint64_t streamed; /* rows read in the second pass */
};

/* Opens, or closes, the reader at the first row. */
enum tl_status tl_trace_open_reader(struct tl_trace *trace, struct tl_error *error);
void tl_trace_close_reader(struct tl_trace *trace);

/* Reads the file once (twice where it steps back late) and fills stats, lint, mix and
 * what is held; leaves the reader open at the first row where the trace is streamed. */
enum tl_status tl_trace_scan(struct tl_trace *trace, struct tl_error *error);

/* Filters that look at one row alone, and the clamp. */
bool tl_trace_passes(struct tl_trace *trace, struct tl_trace_record *record);

/* What depends on the order of submission: static times, origin, window, limit,
 * scale. *keep tells whether the record is handed out. */
enum tl_status tl_trace_arrange(struct tl_trace *trace, struct tl_progress *progress,
                                struct tl_trace_record *record, bool *keep, struct tl_error *error);

#endif
