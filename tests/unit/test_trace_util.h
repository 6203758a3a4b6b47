/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the tests of traces share. */
#ifndef TIDELAB_TESTS_TRACE_UTIL_H
#define TIDELAB_TESTS_TRACE_UTIL_H

#include "traces/lint.h"
#include "traces/trace.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAMPLES "traces/samples/"
#define SHARED "../shared/traces/"

static inline struct tl_trace_options default_options(void)
{
	struct tl_trace_options options;
	tl_trace_options_default(&options);
	return options;
}

static inline struct tl_trace *must_open(const char *path, const struct tl_trace_options *options)
{
	struct tl_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	char text[1200];
	enum tl_status status = tl_trace_open(path, options, &trace, &error);
	cr_assert_eq(status, TL_OK, "%s", tl_error_text(&error, text, sizeof text));
	return trace;
}

static inline struct tl_trace *must_open_plain(const char *path)
{
	struct tl_trace_options options = default_options();
	return must_open(path, &options);
}

/* The records of a trace from where it stands, malloc'd. */
static inline struct tl_trace_record *read_all(struct tl_trace *trace, size_t *count)
{
	struct tl_trace_record *records = NULL, record;
	struct tl_error error = TL_ERROR_INIT;
	size_t capacity = 0;
	enum tl_status status;

	*count = 0;
	while ((status = tl_trace_next(trace, &record, &error)) == TL_OK) {
		if (*count == capacity) {
			capacity = capacity == 0 ? 64 : 2 * capacity;
			records = realloc(records, capacity * sizeof *records);
			cr_assert_not_null(records);
		}
		records[(*count)++] = record;
	}
	cr_assert_eq(status, TL_END, "%s", error.message);
	return records;
}

static inline const struct tl_lint_class *find_class(const struct tl_trace *trace, const char *name)
{
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	for (size_t i = 0; i < stats->lint_count; i++) {
		if (strcmp(stats->lint[i].name, name) == 0)
			return &stats->lint[i];
	}
	return NULL;
}

struct expected_class {
	const char *name;
	uint64_t count;
	long lines[TL_LINT_LINES];
};

/* Exactly these classes, with these counts and lines, each with a rule. */
static inline void expect_classes(const struct tl_trace *trace,
                                  const struct expected_class *expected, size_t count)
{
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);

	for (size_t i = 0; i < count; i++) {
		const struct tl_lint_class *class = find_class(trace, expected[i].name);
		cr_assert_not_null(class, "class %s is missing", expected[i].name);
		cr_expect_eq(class->count, expected[i].count, "%s: %lu", class->name,
		             (unsigned long)class->count);
		cr_expect(strlen(class->rule) > 0);
		for (size_t j = 0; j < TL_LINT_LINES; j++)
			cr_expect_eq(class->lines[j], expected[i].lines[j], "%s line %zu: %ld",
			             class->name, j, class->lines[j]);
	}
	for (size_t i = 0; i < stats->lint_count; i++) {
		bool found = false;
		for (size_t j = 0; j < count; j++)
			found = found || strcmp(stats->lint[i].name, expected[j].name) == 0;
		cr_expect(found, "class %s was not expected", stats->lint[i].name);
	}
	cr_expect_eq(stats->rows_kept, stats->rows_read - stats->rows_dropped + stats->rows_added);
}

/* Writes a file of its own under /tmp; the path lives until the test ends. */
static inline const char *write_bytes(const char *name, const void *data, size_t size)
{
	static char path[256];
	snprintf(path, sizeof path, "/tmp/tidelab-%ld-%s", (long)getpid(), name);
	FILE *file = fopen(path, "wb");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
	return path;
}

static inline const char *write_text_file(const char *name, const char *text)
{
	return write_bytes(name, text, strlen(text));
}

/* Opening fails with the status, and the message holds `part`. Removes nothing. */
static inline void expect_refused(const char *path, const struct tl_trace_options *options,
                                  enum tl_status wanted, long line, const char *part)
{
	struct tl_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = tl_trace_open(path, options, &trace, &error);

	cr_assert_eq(status, wanted, "status %d, wanted %d: %s", (int)status, (int)wanted,
	             error.message);
	cr_assert_null(trace);
	cr_expect_not_null(strstr(error.message, part), "`%s` is not in `%s`", part, error.message);
	cr_expect_eq(error.line, line, "line %ld, wanted %ld: %s", error.line, line, error.message);
}

static inline void skip_without(const char *path)
{
	if (access(path, R_OK) != 0)
		cr_skip_test("%s is not here", path);
}

#endif
