/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every class of dirt the readers know, what is done about it, and the linter.
 *
 * A row counts once in a class, however many of its fields show it. Reports list
 * classes in the order of enum tl_lint_kind.
 */
#ifndef TIDELAB_TRACES_LINT_H
#define TIDELAB_TRACES_LINT_H

#include "traces/trace.h"

#include <stdio.h>

enum tl_lint_kind {
	/* the text */
	TL_LINT_BOM,
	TL_LINT_CRLF,
	TL_LINT_BLANK_LINE,
	TL_LINT_NO_FINAL_NEWLINE,
	TL_LINT_LONG_LINE,
	TL_LINT_QUOTED_FIELD,
	TL_LINT_QUOTED_COMMA,
	TL_LINT_QUOTED_NEWLINE,
	/* the columns */
	TL_LINT_COLUMN_ORDER,
	TL_LINT_EXTRA_COLUMN,
	TL_LINT_MISSING_COLUMN,
	TL_LINT_SHORT_ROW,
	TL_LINT_EXTRA_FIELD,
	/* how values are written */
	TL_LINT_WHOLE_DECIMAL,
	TL_LINT_SCIENTIFIC,
	TL_LINT_LONG_FRACTION,
	TL_LINT_LIST_FIELD,
	TL_LINT_UNKNOWN_VALUE,
	TL_LINT_UNREADABLE_VALUE,
	/* rows among rows */
	TL_LINT_BACKWARD_TIME,
	TL_LINT_DUPLICATE_ROW,
	TL_LINT_DUPLICATE_ID,
	TL_LINT_DUPLICATES_UNCHECKED,
	TL_LINT_EMPTY_WINDOW,
	/* time */
	TL_LINT_REPEATED_HOUR,
	TL_LINT_SUBMIT_UNKNOWN,
	TL_LINT_SUBMIT_IS_START,
	TL_LINT_START_BEFORE_SUBMIT,
	TL_LINT_RUN_TIME_UNKNOWN,
	TL_LINT_RUN_TIME_ZERO,
	TL_LINT_RUN_TIME_ABSURD,
	TL_LINT_OVER_REQUESTED_TIME,
	TL_LINT_ESTIMATE_ABSURD,
	TL_LINT_NEVER_SCHEDULED,
	TL_LINT_NEVER_DELETED,
	TL_LINT_DELETION_ONLY,
	TL_LINT_CREATION_ONLY,
	/* size */
	TL_LINT_SIZE_UNKNOWN,
	TL_LINT_PROCESSORS_UNKNOWN,
	TL_LINT_ALLOCATED_DIFFERS,
	TL_LINT_LARGER_THAN_CLUSTER,
	TL_LINT_ZERO_GPU,
	TL_LINT_FRACTIONAL_GPU,
	TL_LINT_FRACTION_ROUNDED_UP,
	TL_LINT_GPU_TIME_DIFFERS,
	TL_LINT_REPEATED_MODEL,
	/* SWF */
	TL_LINT_HEADER_SPACE,
	TL_LINT_FEWER_THAN_PROMISED,
	TL_LINT_PARTIAL_RUN,
	TL_LINT_DEPENDENCY,
	/* what the options did */
	TL_LINT_OUTSIDE_TENANT,
	TL_LINT_OUTSIDE_SIZE,
	TL_LINT_OUTSIDE_WINDOW,
	TL_LINT_OUTSIDE_LIMIT,
	TL_LINT_ZERO_GPU_LEFT_OUT,
	TL_LINT_DUPLICATE_LEFT_OUT,
	TL_LINT_CLAMPED,
	TL_LINT_STATIC_TIMES,
	TL_LINT_DEMAND_ADDED,
	TL_LINT_DEMAND_LEFT_OUT,
	TL_LINT_REQUEST_MIX_CUT,
	TL_LINT_NOTHING_KEPT,
	TL_LINT_KIND_COUNT
};

/* Counters of one scan. Not counting while `off` (the second reading of a file). */
struct tl_lint {
	bool off;
	struct tl_lint_class classes[TL_LINT_KIND_COUNT];
	long last[TL_LINT_KIND_COUNT]; /* line last counted */
};

void tl_lint_init(struct tl_lint *lint);
/* Counts a line once a class. line 0 (the file as a whole) is always counted. */
void tl_lint_hit(struct tl_lint *lint, enum tl_lint_kind kind, long line);
/* Adds n at a line. */
void tl_lint_add(struct tl_lint *lint, enum tl_lint_kind kind, long line, uint64_t n);
/* Copies the classes with count > 0 into out[TL_LINT_KIND_COUNT]; returns how many. */
size_t tl_lint_collect(const struct tl_lint *lint, struct tl_lint_class *out);

/* Dirt: the text breaks its format, a value or a row could not be read as meant, or rows
 * contradict themselves or each other. A note: a fact about well-formed rows, a way of
 * writing that loses nothing, or what an option did. */
bool tl_lint_is_note(const struct tl_lint_class *class);
/* Classes of dirt in a report. */
size_t tl_lint_dirt_count(const struct tl_trace_stats *stats);

/* Every class with its rule (counts 0), for documentation. */
const struct tl_lint_class *tl_lint_class_of(enum tl_lint_kind kind);

/* Opens path as tl_trace_open does with options->lint set: what a run would refuse
 * is counted (`unreadable-value`), and every row is checked for duplicates. The
 * report is tl_trace_get_stats(*out). */
enum tl_status tl_trace_lint(const char *path, const struct tl_trace_options *options,
                             struct tl_trace **out, struct tl_error *error);

/* Writes the report as text for a person, or as one JSON object. */
void tl_lint_write(FILE *out, const struct tl_trace_stats *stats, bool json);

#endif
