/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/csv_input.h"

#include "sim/base/arena.h"
#include "traces/number.h"
#include "traces/seen.h"

#include <stdlib.h>
#include <string.h>

enum { CSV_OPTIONS = CSV_STRICT | CSV_STRICT_FINI };

/* Only LF ends a row: lines were split at it, and a CR inside one is text. */
static int ends_row(unsigned char c)
{
	return c == '\n';
}

static void on_field(void *text, size_t size, void *context)
{
	struct tl_csv *csv = context;

	if (csv->data_size + size + 1 > csv->data_capacity)
		csv->data = tl_grow(csv->data, &csv->data_capacity, csv->data_size + size + 1, 1);
	if (csv->count + 1 > csv->starts_capacity)
		csv->starts = tl_grow(csv->starts, &csv->starts_capacity, csv->count + 1,
		                      sizeof *csv->starts);
	char *to = csv->data + csv->data_size;
	if (size > 0)
		memcpy(to, text, size);
	to[size] = '\0';
	csv->starts[csv->count++] = csv->data_size;
	csv->data_size += size + 1;
}

static void on_row(int end, void *context)
{
	(void)end;
	((struct tl_csv *)context)->complete = true;
}

enum tl_status tl_csv_open(struct tl_csv *csv, const char *path, struct tl_lint *lint,
                           struct tl_error *error)
{
	memset(csv, 0, sizeof *csv);
	enum tl_status status = tl_input_open(&csv->input, path, lint, error);
	if (status != TL_OK)
		return status;
	csv_init(&csv->parser, CSV_OPTIONS);
	csv_set_term_func(&csv->parser, ends_row);
	return TL_OK;
}

void tl_csv_close(struct tl_csv *csv)
{
	for (size_t i = 0; i < csv->name_count; i++)
		free(csv->names[i]);
	free(csv->names);
	free(csv->data);
	free(csv->starts);
	csv_free(&csv->parser);
	tl_input_close(&csv->input);
	memset(csv, 0, sizeof *csv);
}

static enum tl_status bad_quotes(const struct tl_csv *csv, const char *got, struct tl_error *error)
{
	return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
	                    "quotes, got %s, wanted a quoted field that closes before a comma or "
	                    "the line's end (a quote inside it doubled)",
	                    got);
}

/* What the quotes of a row hid, once it is complete. */
static void count_quotes(const struct tl_csv *csv)
{
	struct tl_lint *lint = csv->input.lint;

	tl_lint_hit(lint, TL_LINT_QUOTED_FIELD, csv->line);
	if (csv->input.line > csv->line)
		tl_lint_hit(lint, TL_LINT_QUOTED_NEWLINE, csv->line);
	for (size_t i = 0; i < csv->count; i++) {
		if (strchr(csv->data + csv->starts[i], ',') != NULL)
			tl_lint_hit(lint, TL_LINT_QUOTED_COMMA, csv->line);
	}
}

static void count_lists(const struct tl_csv *csv)
{
	for (size_t i = 0; i < csv->count; i++) {
		if (tl_number_is_list(csv->data + csv->starts[i])) {
			tl_lint_hit(csv->input.lint, TL_LINT_LIST_FIELD, csv->line);
			return;
		}
	}
}

static enum tl_status feed(struct tl_csv *csv, char *text, size_t size, struct tl_error *error)
{
	text[size] = '\n';
	if (csv_parse(&csv->parser, text, size + 1, on_field, on_row, csv) == size + 1)
		return TL_OK;
	if (csv_error(&csv->parser) == CSV_ENOMEM)
		tl_out_of_memory(size);
	return bad_quotes(csv, "a quote in the middle of a field", error);
}

static enum tl_status read_record(struct tl_csv *csv, struct tl_error *error)
{
	bool begun = false, quoted = false;
	size_t record_size = 0;
	char *text;
	size_t size;

	csv->count = 0;
	csv->data_size = 0;
	csv->complete = false;
	while (!csv->complete) {
		enum tl_status status = tl_input_line(&csv->input, &text, &size, error);
		if (status == TL_END && begun)
			return bad_quotes(csv, "one that never closes", error);
		if (status != TL_OK)
			return status;
		if (!begun && tl_input_is_blank(text)) {
			tl_lint_hit(csv->input.lint, TL_LINT_BLANK_LINE, csv->input.line);
			continue;
		}
		if (!begun)
			csv->line = csv->input.line;
		begun = true;
		quoted = quoted || memchr(text, '"', size) != NULL;
		record_size += size + 1;
		if (record_size > TL_TRACE_LINE_MAX)
			return bad_quotes(csv, "one still open after 1 MiB", error);
		status = feed(csv, text, size, error);
		if (status != TL_OK)
			return status;
	}
	if (quoted)
		count_quotes(csv);
	return TL_OK;
}

enum tl_status tl_csv_row(struct tl_csv *csv, struct tl_error *error)
{
	enum tl_status status = read_record(csv, error);

	if (status != TL_OK)
		return status;
	if (csv->count < csv->name_count)
		tl_lint_hit(csv->input.lint, TL_LINT_SHORT_ROW, csv->line);
	if (csv->count > csv->name_count)
		tl_lint_hit(csv->input.lint, TL_LINT_EXTRA_FIELD, csv->line);
	if (!csv->input.lint->off)
		count_lists(csv);
	return TL_OK;
}

static int find_name(const struct tl_csv *csv, const char *name)
{
	for (size_t i = 0; i < csv->name_count; i++) {
		if (strcmp(csv->names[i], name) == 0)
			return (int)i;
	}
	return -1;
}

/* The header's names as one text for a message, cut where long. */
static void join_names(const struct tl_csv *csv, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < csv->name_count && used + 1 < size; i++) {
		size_t length = strlen(csv->names[i]);
		if (i > 0)
			out[used++] = ',';
		if (length > size - 1 - used)
			length = size - 1 - used;
		memcpy(out + used, csv->names[i], length);
		used += length;
		out[used] = '\0';
	}
}

static enum tl_status read_names(struct tl_csv *csv, struct tl_error *error)
{
	enum tl_status status = read_record(csv, error);

	if (status == TL_END)
		return tl_error_set(error, TL_E_DATA, csv->input.path, 1, 0,
		                    "header, got blank lines alone, wanted column names");
	if (status != TL_OK)
		return status;
	csv->names = tl_calloc(csv->count + 1, sizeof *csv->names);
	for (size_t i = 0; i < csv->count; i++) {
		const char *name = csv->data + csv->starts[i];
		/* a name twice makes `by name` ambiguous; nameless columns are merely extra */
		if (name[0] != '\0' && find_name(csv, name) >= 0)
			return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
			                    "header, got column `%s` twice, wanted it once", name);
		csv->names[csv->name_count++] = tl_strdup(name);
	}
	return TL_OK;
}

enum tl_status tl_csv_header(struct tl_csv *csv, const struct tl_csv_column *columns, size_t count,
                             int *positions, struct tl_error *error)
{
	enum tl_status status = read_names(csv, error);
	struct tl_lint *lint = csv->input.lint;
	size_t found = 0;
	int before = -1;

	if (status != TL_OK)
		return status;
	for (size_t i = 0; i < count; i++) {
		positions[i] = find_name(csv, columns[i].name);
		if (positions[i] < 0 && columns[i].required) {
			char names[256];
			join_names(csv, names, sizeof names);
			return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
			                    "column `%s` is missing, got %s, wanted it among them",
			                    columns[i].name, names);
		}
		if (positions[i] < 0) {
			if (!columns[i].silent)
				tl_lint_add(lint, TL_LINT_MISSING_COLUMN, csv->line, 1);
			continue;
		}
		found++;
		if (positions[i] < before)
			tl_lint_hit(lint, TL_LINT_COLUMN_ORDER, csv->line);
		before = positions[i];
	}
	tl_lint_add(lint, TL_LINT_EXTRA_COLUMN, csv->line, csv->name_count - found);
	return TL_OK;
}

const char *tl_csv_field(const struct tl_csv *csv, int position)
{
	if (position < 0 || (size_t)position >= csv->count)
		return "";
	return csv->data + csv->starts[position];
}

uint64_t tl_csv_hash(const struct tl_csv *csv)
{
	return tl_hash_bytes(csv->data, csv->data_size);
}
