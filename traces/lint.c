/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/lint.h"

#include <inttypes.h>
#include <string.h>

static const struct tl_lint_class classes[TL_LINT_KIND_COUNT] = {
    [TL_LINT_BOM] = {"bom", "byte-order mark: skipped", 0, {0}},
    [TL_LINT_CRLF] = {"crlf", "line ends in CR LF: read as LF", 0, {0}},
    [TL_LINT_BLANK_LINE] = {"blank-line", "skipped; not a row", 0, {0}},
    [TL_LINT_NO_FINAL_NEWLINE] = {"no-final-newline", "last line read all the same", 0, {0}},
    [TL_LINT_LONG_LINE] = {"long-line", "over 1,000 bytes: read (refused above 1 MiB)", 0, {0}},
    [TL_LINT_QUOTED_FIELD] = {"quoted-field", "quotes taken off", 0, {0}},
    [TL_LINT_QUOTED_COMMA] = {"quoted-comma", "comma kept as part of the field", 0, {0}},
    [TL_LINT_QUOTED_NEWLINE] = {"quoted-newline",
                                "line break kept as part of the field; the row is named by its "
                                "first line",
                                0,
                                {0}},
    [TL_LINT_COLUMN_ORDER] = {"column-order", "columns found by name", 0, {0}},
    [TL_LINT_EXTRA_COLUMN] = {"extra-column", "ignored", 0, {0}},
    [TL_LINT_MISSING_COLUMN] = {"missing-column",
                                "optional: its values are unknown (a required one is an error)",
                                0,
                                {0}},
    [TL_LINT_SHORT_ROW] = {"short-row", "fields absent at the end are unknown", 0, {0}},
    [TL_LINT_EXTRA_FIELD] = {"extra-field", "fields beyond the last column are ignored", 0, {0}},
    [TL_LINT_WHOLE_DECIMAL] = {"whole-decimal", "an integer written 66.0: read exactly", 0, {0}},
    [TL_LINT_SCIENTIFIC] = {"scientific", "1.2e3: read exactly", 0, {0}},
    [TL_LINT_LONG_FRACTION] = {"long-fraction",
                               "7 or more digits after the point: read to the nanosecond",
                               0,
                               {0}},
    [TL_LINT_LIST_FIELD] = {"list-field",
                            "kept as text; where one number is wanted it is unknown",
                            0,
                            {0}},
    [TL_LINT_UNKNOWN_VALUE] = {"unknown-value", "-1 or empty: unknown", 0, {0}},
    [TL_LINT_UNREADABLE_VALUE] = {"unreadable-value",
                                  "not a value of its column: the linter drops the row, a run "
                                  "refuses the file at the first one",
                                  0,
                                  {0}},
    [TL_LINT_BACKWARD_TIME] = {"backward-time",
                               "submitted before the row above: sorted by (submit, row)",
                               0,
                               {0}},
    [TL_LINT_DUPLICATE_ROW] = {"duplicate-row",
                               "equal to an earlier row in every field: kept unless "
                               "drop_duplicates",
                               0,
                               {0}},
    [TL_LINT_DUPLICATE_ID] = {"duplicate-id",
                              "another row has this job id: kept, jobs are told apart by row",
                              0,
                              {0}},
    [TL_LINT_DUPLICATES_UNCHECKED] = {"duplicates-unchecked",
                                      "rows beyond the first 131,072 are not checked for "
                                      "duplicates (the linter checks all)",
                                      0,
                                      {0}},
    [TL_LINT_EMPTY_WINDOW] = {"empty-window",
                              "days (24 h from time 0) without a submit: kept as silence; the "
                              "line is the row after",
                              0,
                              {0}},
    [TL_LINT_REPEATED_HOUR] = {"repeated-hour",
                               "submitted in the local hour that DST's end repeats: read as "
                               "written",
                               0,
                               {0}},
    [TL_LINT_SUBMIT_UNKNOWN] = {"submit-unknown", "dropped", 0, {0}},
    [TL_LINT_SUBMIT_IS_START] = {"submit-is-start",
                                 "the submit time is really a start: SWF, no row waits; openb, no "
                                 "creation time, so scheduled is taken: kept as written",
                                 0,
                                 {0}},
    [TL_LINT_START_BEFORE_SUBMIT] = {"start-before-submit", "kept; the submit time stands", 0, {0}},
    [TL_LINT_RUN_TIME_UNKNOWN] = {"run-time-unknown", "dropped", 0, {0}},
    [TL_LINT_RUN_TIME_ZERO] = {"run-time-zero", "kept; ends the instant it starts", 0, {0}},
    [TL_LINT_RUN_TIME_ABSURD] = {"run-time-absurd",
                                 "negative other than -1, or over 10 years: dropped",
                                 0,
                                 {0}},
    [TL_LINT_OVER_REQUESTED_TIME] = {"over-requested-time",
                                     "ran longer than requested: kept, both as written",
                                     0,
                                     {0}},
    [TL_LINT_ESTIMATE_ABSURD] = {"estimate-absurd",
                                 "requested time over 10 years: unknown",
                                 0,
                                 {0}},
    [TL_LINT_NEVER_SCHEDULED] = {"never-scheduled",
                                 "created and deleted, never scheduled, so no run time: dropped "
                                 "(kept in static inputs)",
                                 0,
                                 {0}},
    [TL_LINT_NEVER_DELETED] = {"never-deleted",
                               "scheduled and still there when the recording ended: kept, never "
                               "departs",
                               0,
                               {0}},
    [TL_LINT_DELETION_ONLY] = {"deletion-only",
                               "left-censored, nothing known but its end: dropped (kept in static "
                               "inputs)",
                               0,
                               {0}},
    [TL_LINT_CREATION_ONLY] = {"creation-only",
                               "right-censored, still waiting when the recording ended: dropped "
                               "(kept in static inputs)",
                               0,
                               {0}},
    [TL_LINT_SIZE_UNKNOWN] = {"size-unknown", "no GPU or processor count: dropped", 0, {0}},
    [TL_LINT_PROCESSORS_UNKNOWN] = {"processors-unknown",
                                    "one of allocated and requested is -1: the other is taken",
                                    0,
                                    {0}},
    [TL_LINT_ALLOCATED_DIFFERS] = {"allocated-differs",
                                   "allocated and requested processors differ: requested is taken",
                                   0,
                                   {0}},
    [TL_LINT_LARGER_THAN_CLUSTER] =
	{"larger-than-cluster",
         "asks for more than the cluster (or the SWF header's MaxProcs) "
         "has: kept",
         0,
         {0}},
    [TL_LINT_ZERO_GPU] = {"zero-gpu", "CPU-only job: kept unless drop_zero_gpu", 0, {0}},
    [TL_LINT_FRACTIONAL_GPU] = {"fractional-gpu", "a share of one GPU: kept", 0, {0}},
    [TL_LINT_FRACTION_ROUNDED_UP] = {"fraction-rounded-up",
                                     "shares of more than one GPU: each counted as a whole GPU",
                                     0,
                                     {0}},
    [TL_LINT_GPU_TIME_DIFFERS] = {"gpu-time-differs",
                                  "gpu_time is not duration x num_gpus: the latter two are taken",
                                  0,
                                  {0}},
    [TL_LINT_REPEATED_MODEL] = {"repeated-model", "a name repeated in A|B: taken once", 0, {0}},
    [TL_LINT_HEADER_SPACE] = {"header-space",
                              "spaces at the end of a header line: ignored",
                              0,
                              {0}},
    [TL_LINT_FEWER_THAN_PROMISED] = {"fewer-than-promised",
                                     "the header promises this many rows more than the file has: "
                                     "read to its end",
                                     0,
                                     {0}},
    [TL_LINT_PARTIAL_RUN] = {"partial-run",
                             "SWF status 2, 3 or 4, a piece of a job that has a row of its own: "
                             "dropped",
                             0,
                             {0}},
    [TL_LINT_DEPENDENCY] = {"dependency",
                            "follows a preceding job: ignored, the submit time stands",
                            0,
                            {0}},
    [TL_LINT_OUTSIDE_TENANT] = {"outside-tenant", "another tenant's: left out", 0, {0}},
    [TL_LINT_OUTSIDE_SIZE] = {"outside-size", "outside min_gpus..max_gpus: left out", 0, {0}},
    [TL_LINT_OUTSIDE_WINDOW] = {"outside-window", "submitted outside the window: left out", 0, {0}},
    [TL_LINT_OUTSIDE_LIMIT] = {"outside-limit", "beyond the first `limit` jobs: left out", 0, {0}},
    [TL_LINT_ZERO_GPU_LEFT_OUT] = {"zero-gpu-left-out",
                                   "CPU-only, drop_zero_gpu: left out",
                                   0,
                                   {0}},
    [TL_LINT_DUPLICATE_LEFT_OUT] = {"duplicate-left-out", "drop_duplicates: left out", 0, {0}},
    [TL_LINT_CLAMPED] = {"clamped", "larger than limit_gpus: asks for limit_gpus", 0, {0}},
    [TL_LINT_STATIC_TIMES] = {"static-times",
                              "recorded times not used: row i is submitted at i seconds",
                              0,
                              {0}},
    [TL_LINT_DEMAND_ADDED] = {"demand-added",
                              "copies drawn with replacement to meet demand",
                              0,
                              {0}},
    [TL_LINT_DEMAND_LEFT_OUT] = {"demand-left-out", "drawn out at random to meet demand", 0, {0}},
    [TL_LINT_REQUEST_MIX_CUT] = {"request-mix-cut",
                                 "beyond 65,536 distinct requests: not in the request mix; kept",
                                 0,
                                 {0}},
    [TL_LINT_NOTHING_KEPT] = {"nothing-kept", "no row is left: an empty workload", 0, {0}},
};

static const bool notes[TL_LINT_KIND_COUNT] = {
    [TL_LINT_QUOTED_FIELD] = true,      [TL_LINT_QUOTED_COMMA] = true,
    [TL_LINT_COLUMN_ORDER] = true,      [TL_LINT_EXTRA_COLUMN] = true,
    [TL_LINT_MISSING_COLUMN] = true,    [TL_LINT_WHOLE_DECIMAL] = true,
    [TL_LINT_SCIENTIFIC] = true,        [TL_LINT_LONG_FRACTION] = true,
    [TL_LINT_UNKNOWN_VALUE] = true,     [TL_LINT_DUPLICATES_UNCHECKED] = true,
    [TL_LINT_EMPTY_WINDOW] = true,      [TL_LINT_SUBMIT_IS_START] = true,
    [TL_LINT_RUN_TIME_ZERO] = true,     [TL_LINT_OVER_REQUESTED_TIME] = true,
    [TL_LINT_NEVER_SCHEDULED] = true,   [TL_LINT_NEVER_DELETED] = true,
    [TL_LINT_DELETION_ONLY] = true,     [TL_LINT_CREATION_ONLY] = true,
    [TL_LINT_ALLOCATED_DIFFERS] = true, [TL_LINT_LARGER_THAN_CLUSTER] = true,
    [TL_LINT_ZERO_GPU] = true,          [TL_LINT_FRACTIONAL_GPU] = true,
    [TL_LINT_PARTIAL_RUN] = true,       [TL_LINT_DEPENDENCY] = true,
    [TL_LINT_OUTSIDE_TENANT] = true,    [TL_LINT_OUTSIDE_SIZE] = true,
    [TL_LINT_OUTSIDE_WINDOW] = true,    [TL_LINT_OUTSIDE_LIMIT] = true,
    [TL_LINT_ZERO_GPU_LEFT_OUT] = true, [TL_LINT_DUPLICATE_LEFT_OUT] = true,
    [TL_LINT_CLAMPED] = true,           [TL_LINT_STATIC_TIMES] = true,
    [TL_LINT_DEMAND_ADDED] = true,      [TL_LINT_DEMAND_LEFT_OUT] = true,
    [TL_LINT_REQUEST_MIX_CUT] = true,
};

bool tl_lint_is_note(const struct tl_lint_class *class)
{
	for (size_t i = 0; i < TL_LINT_KIND_COUNT; i++)
		if (strcmp(classes[i].name, class->name) == 0)
			return notes[i];
	return false;
}

size_t tl_lint_dirt_count(const struct tl_trace_stats *stats)
{
	size_t count = 0;
	for (size_t i = 0; i < stats->lint_count; i++)
		count += !tl_lint_is_note(&stats->lint[i]);
	return count;
}

static const char *severity(const struct tl_lint_class *class)
{
	return tl_lint_is_note(class) ? "note" : "dirt";
}

void tl_lint_init(struct tl_lint *lint)
{
	memset(lint, 0, sizeof *lint);
	memcpy(lint->classes, classes, sizeof classes);
}

void tl_lint_add(struct tl_lint *lint, enum tl_lint_kind kind, long line, uint64_t n)
{
	if (lint->off || n == 0)
		return;
	struct tl_lint_class *class = &lint->classes[kind];
	class->count += n;
	lint->last[kind] = line;
	for (size_t i = 0; i < TL_LINT_LINES; i++) {
		if (class->lines[i] == line)
			return;
		if (class->lines[i] == 0) {
			class->lines[i] = line;
			return;
		}
	}
}

void tl_lint_hit(struct tl_lint *lint, enum tl_lint_kind kind, long line)
{
	if (line > 0 && lint->last[kind] == line)
		return;
	tl_lint_add(lint, kind, line, 1);
}

size_t tl_lint_collect(const struct tl_lint *lint, struct tl_lint_class *out)
{
	size_t count = 0;
	for (size_t i = 0; i < TL_LINT_KIND_COUNT; i++) {
		if (lint->classes[i].count > 0)
			out[count++] = lint->classes[i];
	}
	return count;
}

const struct tl_lint_class *tl_lint_class_of(enum tl_lint_kind kind)
{
	return &classes[kind];
}

enum tl_status tl_trace_lint(const char *path, const struct tl_trace_options *options,
                             struct tl_trace **out, struct tl_error *error)
{
	struct tl_trace_options all = *options;
	all.lint = true;
	return tl_trace_open(path, &all, out, error);
}

static void write_lines(FILE *out, const struct tl_lint_class *class, const char *between)
{
	for (size_t i = 0; i < TL_LINT_LINES && class->lines[i] != 0; i++)
		fprintf(out, "%s%ld", i == 0 ? "" : between, class->lines[i]);
}

static void write_json(FILE *out, const struct tl_trace_stats *stats)
{
	fprintf(out,
	        "{\"rows_read\": %" PRIu64 ", \"rows_kept\": %" PRIu64
	        ", \"rows_dropped\": %" PRIu64 ", \"rows_added\": %" PRIu64
	        ", \"ascending\": %s, \"sha256\": \"%s\", \"classes\": [",
	        stats->rows_read, stats->rows_kept, stats->rows_dropped, stats->rows_added,
	        stats->ascending ? "true" : "false", stats->sha256);
	for (size_t i = 0; i < stats->lint_count; i++) {
		const struct tl_lint_class *class = &stats->lint[i];
		fprintf(out,
		        "%s\n  {\"class\": \"%s\", \"severity\": \"%s\", \"count\": %" PRIu64
		        ", \"lines\": [",
		        i == 0 ? "" : ",", class->name, severity(class), class->count);
		write_lines(out, class, ", ");
		fprintf(out, "], \"rule\": \"%s\"}", class->rule);
	}
	fputs("]}\n", out);
}

void tl_lint_write(FILE *out, const struct tl_trace_stats *stats, bool json)
{
	if (json) {
		write_json(out, stats);
		return;
	}
	fprintf(out, "rows read %" PRIu64 ", kept %" PRIu64 ", dropped %" PRIu64, stats->rows_read,
	        stats->rows_kept, stats->rows_dropped);
	if (stats->rows_added > 0)
		fprintf(out, ", added %" PRIu64, stats->rows_added);
	fprintf(out, "; submit times %s\nsha256 %s\n",
	        stats->ascending ? "ascend" : "do not ascend", stats->sha256);
	for (size_t i = 0; i < stats->lint_count; i++) {
		const struct tl_lint_class *class = &stats->lint[i];
		fprintf(out, "%s  %-20s %10" PRIu64 "  %s", severity(class), class->name,
		        class->count, class->rule);
		if (class->lines[0] != 0) {
			fputs("; first lines ", out);
			write_lines(out, class, ", ");
		}
		fputc('\n', out);
	}
}
