/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any table as CSV or JSON. */
#include "analysis/export.h"

#include "analysis/export_private.h"
#include "analysis/fields.h"
#include "sim/base/number.h"
#include "sim/base/stop.h"
#include "sim/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum tl_status tl_export_walk(struct tl_results_reader *reader,
                              const struct tl_table_schema *schema, bool backwards,
                              tl_export_block block, void *context, FILE *out,
                              struct tl_error *error)
{
	struct tl_results_cursor *cursor = NULL;
	enum tl_status status = tl_results_cursor_open(reader, schema, &cursor, error);

	while (status == TL_OK) {
		const void *rows = NULL;
		size_t count;

		status = backwards ? tl_results_cursor_back(cursor, &rows, &count, error)
		                   : tl_results_cursor_next(cursor, &rows, &count, error);
		if (status == TL_OK)
			status = block(context, rows, count, error);
		if (status == TL_OK)
			status = tl_stop_check(error);
		if (status == TL_OK && ferror(out))
			status = tl_error_set(error, TL_E_IO, NULL, 0, 0, "cannot be written");
	}
	tl_results_cursor_close(cursor);
	return status == TL_END ? TL_OK : status;
}

enum tl_status tl_export_need(struct tl_results_reader *reader,
                              const struct tl_table_schema *schema, struct tl_error *error)
{
	struct tl_results_cursor *cursor = NULL;
	enum tl_status status = tl_results_cursor_open(reader, schema, &cursor, error);

	tl_results_cursor_close(cursor);
	return status;
}

void tl_export_decimal(int64_t ns, int digits, FILE *out)
{
	uint64_t size = ns < 0 ? UINT64_C(0) - (uint64_t)ns : (uint64_t)ns, unit = 1;

	for (int i = 0; i < digits; i++)
		unit *= 10;
	(void)fprintf(out, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", size / unit, digits,
	              size % unit);
}

void tl_export_json_text(const char *text, FILE *out)
{
	(void)fputc('"', out);
	for (size_t length; *text; text += length > 0 ? length : 1) {
		length = tl_utf8_length(text);
		if (*text == '"' || *text == '\\')
			(void)fprintf(out, "\\%c", *text);
		else if ((unsigned char)*text < ' ')
			(void)fprintf(out, "\\u%04x", (unsigned)*text);
		else if (length == 0)
			(void)fputs("\\ufffd", out);
		else
			(void)fwrite(text, 1, length, out);
	}
	(void)fputc('"', out);
}

struct table {
	const struct tl_table_schema *schema;
	FILE *out;
	bool json, first;
};

static int64_t whole(const struct tl_column *column, const char *field)
{
	int64_t i64;
	int32_t i32;
	uint32_t u32;
	uint16_t u16;

	switch (column->type) {
	case TL_COLUMN_I64:
		memcpy(&i64, field, sizeof i64);
		return i64;
	case TL_COLUMN_I32:
		memcpy(&i32, field, sizeof i32);
		return i32;
	case TL_COLUMN_U32:
		memcpy(&u32, field, sizeof u32);
		return u32;
	case TL_COLUMN_U16:
		memcpy(&u16, field, sizeof u16);
		return u16;
	default:
		return *(const unsigned char *)field;
	}
}

static void put_double(const struct table *table, double value)
{
	char text[TL_NUMBER_TEXT];

	if (isfinite(value))
		(void)fputs(tl_number_text(value, text), table->out);
	else if (table->json)
		(void)fputs("null", table->out);
	else
		(void)fprintf(table->out, "%s", isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_field(const struct table *table, const struct tl_column *column, const char *row)
{
	const char *field = row + column->offset;
	uint64_t u64;
	double number;

	switch (column->type) {
	case TL_COLUMN_F64:
		memcpy(&number, field, sizeof number);
		put_double(table, number);
		break;
	case TL_COLUMN_U64:
		memcpy(&u64, field, sizeof u64);
		(void)fprintf(table->out, "%" PRIu64, u64);
		break;
	case TL_COLUMN_ENUM:
		field = column->names[*(const unsigned char *)field];
		/* fall through */
	case TL_COLUMN_TEXT:
		if (table->json)
			tl_export_json_text(field, table->out);
		else
			tl_field_write(field, table->out);
		break;
	default:
		(void)fprintf(table->out, "%" PRId64, whole(column, field));
	}
}

static enum tl_status put_rows(void *context, const void *rows, size_t count,
                               struct tl_error *error)
{
	struct table *table = context;
	const struct tl_table_schema *schema = table->schema;

	(void)error;
	for (size_t i = 0; i < count; i++) {
		const char *row = (const char *)rows + i * schema->row_size;

		if (table->json)
			(void)fputs(table->first ? "\n" : ",\n", table->out);
		table->first = false;
		for (size_t c = 0; c < schema->column_count; c++) {
			if (table->json) {
				(void)fputs(c == 0 ? "{" : ", ", table->out);
				tl_export_json_text(schema->columns[c].name, table->out);
				(void)fputs(": ", table->out);
			} else if (c > 0) {
				(void)fputc(',', table->out);
			}
			put_field(table, &schema->columns[c], row);
		}
		(void)fputs(table->json ? "}" : "\n", table->out);
	}
	return TL_OK;
}

enum tl_status tl_export_csv(struct tl_results_reader *reader, const char *table, FILE *out,
                             struct tl_error *error)
{
	struct table state = {.out = out};
	enum tl_status status = tl_results_schema(reader, table, &state.schema, error);

	if (status != TL_OK)
		return status;
	for (size_t c = 0; c < state.schema->column_count; c++) {
		if (c > 0)
			(void)fputc(',', out);
		tl_field_write(state.schema->columns[c].name, out);
	}
	(void)fputc('\n', out);
	return tl_export_walk(reader, state.schema, false, put_rows, &state, out, error);
}

static enum tl_status json_rows(struct tl_results_reader *reader, const char *table, FILE *out,
                                struct tl_error *error)
{
	struct table state = {.out = out, .json = true, .first = true};
	enum tl_status status = tl_results_schema(reader, table, &state.schema, error);

	if (status != TL_OK)
		return status;
	(void)fputc('[', out);
	status = tl_export_walk(reader, state.schema, false, put_rows, &state, out, error);
	(void)fputs("\n]", out);
	return status;
}

enum tl_status tl_export_json(struct tl_results_reader *reader, const char *table, FILE *out,
                              struct tl_error *error)
{
	const char *const *tables = tl_results_tables(reader);
	enum tl_status status = TL_OK;

	if (table) {
		status = json_rows(reader, table, out, error);
	} else {
		(void)fputc('{', out);
		for (size_t i = 0; tables[i] && status == TL_OK; i++) {
			(void)fputs(i == 0 ? "\n" : ",\n", out);
			tl_export_json_text(tables[i], out);
			(void)fputs(": ", out);
			status = json_rows(reader, tables[i], out, error);
		}
		(void)fputs("\n}", out);
	}
	(void)fputc('\n', out);
	return status;
}
