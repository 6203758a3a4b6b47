/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Columns read as another type than they were written as, and what a row leaves in the file. */
#include "results/schema.h"
#include "tests/unit/expect.h"
#include "tests/unit/scratch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *file;
static struct tl_error error;

static void set_up(void)
{
	scratch_make();
	file = scratch_path("a.h5");
}

TestSuite(results_convert, .init = set_up, .fini = scratch_remove);

struct mixed {
	int64_t i64;
	uint64_t u64;
	double f64;
	int32_t i32;
	uint32_t u32;
	uint16_t u16;
	uint8_t u8;
	uint8_t colour;
	char text[8];
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const colours_moved[] = {"blue", "violet", "red", "green", NULL};

#define MIXED(m, t)                                                                                \
	{                                                                                          \
		.name = #m, .type = t, .offset = offsetof(struct mixed, m)                         \
	}
static const struct tl_column mixed_columns[] = {
    MIXED(i64, TL_COLUMN_I64),
    MIXED(u64, TL_COLUMN_U64),
    MIXED(f64, TL_COLUMN_F64),
    MIXED(i32, TL_COLUMN_I32),
    MIXED(u32, TL_COLUMN_U32),
    MIXED(u16, TL_COLUMN_U16),
    MIXED(u8, TL_COLUMN_U8),
    {.name = "colour",
     .type = TL_COLUMN_ENUM,
     .offset = offsetof(struct mixed, colour),
     .names = colours},
    {.name = "text", .type = TL_COLUMN_TEXT, .offset = offsetof(struct mixed, text), .size = 8},
};
static const struct tl_table_schema mixed_schema = {.path = "/deep/er/mixed",
                                                    .row_size = sizeof(struct mixed),
                                                    .columns = mixed_columns,
                                                    .column_count = sizeof(mixed_columns) /
                                                                    sizeof(mixed_columns[0])};

static void write_mixed(const struct mixed *row)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;

	OK(tl_results_create(file, &results, &error));
	OK(tl_results_table(results, &mixed_schema, NULL, &table, &error));
	cr_assert_eq(tl_table_append(table, row), TL_OK);
	OK(tl_results_close(results, &error));
}

/* Reads one column of the file as another type into 8 bytes. */
static enum tl_status read_as(const char *name, enum tl_column_type type, void *value,
                              char message[static TL_ERROR_MESSAGE_MAX])
{
	const struct tl_column column = {
	    .name = name, .type = type, .size = 8, .names = colours_moved};
	const struct tl_table_schema schema = {
	    .path = "/deep/er/mixed", .row_size = 8, .columns = &column, .column_count = 1};
	struct tl_results_reader *reader = NULL;
	void *rows = NULL;
	size_t count = 0;

	OK(tl_results_open(file, &reader, &error));
	enum tl_status status = tl_results_read(reader, &schema, &rows, &count, &error);
	if (status == TL_OK)
		memcpy(value, rows, 8);
	memcpy(message, error.message, TL_ERROR_MESSAGE_MAX);
	free(rows);
	tl_results_reader_close(reader);
	return status;
}

Test(results_convert, numbers_convert_where_they_fit)
{
	const struct mixed row = {.i64 = -1,
	                          .u64 = 70000,
	                          .f64 = 2.5,
	                          .i32 = 255,
	                          .u32 = UINT32_MAX,
	                          .u16 = 9,
	                          .u8 = 200,
	                          .text = "seven77"};
	char message[TL_ERROR_MESSAGE_MAX];
	union {
		int64_t i64;
		uint64_t u64;
		int32_t i32;
		uint32_t u32;
		uint8_t u8;
		double f64;
	} v;

	write_mixed(&row);
	cr_assert(read_as("i64", TL_COLUMN_I32, &v, message) == TL_OK && v.i32 == -1);
	cr_assert(read_as("i64", TL_COLUMN_F64, &v, message) == TL_OK && v.f64 == -1.0);
	cr_assert(read_as("u64", TL_COLUMN_U32, &v, message) == TL_OK && v.u32 == 70000);
	cr_assert(read_as("i32", TL_COLUMN_U8, &v, message) == TL_OK && v.u8 == 255);
	cr_assert(read_as("u32", TL_COLUMN_I64, &v, message) == TL_OK && v.i64 == UINT32_MAX);
	cr_assert(read_as("u8", TL_COLUMN_U64, &v, message) == TL_OK && v.u64 == 200);

	cr_assert_eq(read_as("i64", TL_COLUMN_U64, &v, message), TL_E_DATA);
	cr_assert(strstr(message, "/deep/er/mixed, row 0, column `i64`"), "%s", message);
	cr_assert_eq(read_as("u64", TL_COLUMN_U16, &v, message), TL_E_DATA);
	cr_assert_eq(read_as("u32", TL_COLUMN_I32, &v, message), TL_E_DATA);
	cr_assert_eq(read_as("f64", TL_COLUMN_I64, &v, message), TL_E_DATA);
	cr_assert(strstr(message, "got float64, wanted int64"), "%s", message);
	cr_assert_eq(read_as("text", TL_COLUMN_I64, &v, message), TL_E_DATA);
	cr_assert_eq(read_as("i64", TL_COLUMN_TEXT, &v, message), TL_E_DATA);
	cr_assert_eq(read_as("i65", TL_COLUMN_I64, &v, message), TL_E_DATA);
	cr_assert(strstr(message, "no column `i65`"), "%s", message);
}

Test(results_convert, enums_convert_by_name)
{
	struct mixed row = {.colour = 2, .text = "x"};
	char message[TL_ERROR_MESSAGE_MAX];
	uint8_t value[8];

	write_mixed(&row);
	cr_assert_eq(read_as("colour", TL_COLUMN_ENUM, value, message), TL_OK, "%s", message);
	cr_assert_str_eq(colours_moved[value[0]], "blue");
}

Test(results_convert, text_keeps_its_last_byte)
{
	const struct mixed row = {.text = "seven77"};
	char message[TL_ERROR_MESSAGE_MAX];
	char value[8];

	write_mixed(&row);
	cr_assert_eq(read_as("text", TL_COLUMN_TEXT, value, message), TL_OK, "%s", message);
	cr_assert_str_eq(value, "seven77");
}

/* What stands behind the NUL of a text, and between members, is the caller's rubbish. */
Test(results_convert, rubbish_in_rows_stays_out)
{
	const char *second = scratch_path("second");
	size_t size = 0;
	size_t second_size = 0;
	struct mixed clean = {.i64 = 1, .text = "ab"};
	struct mixed dirty;

	memset(&dirty, 0x7f, sizeof(dirty));
	memcpy(dirty.text, "ab\0trash", 8);
	dirty.i64 = 1;
	dirty.u64 = 0;
	dirty.f64 = 0.0;
	dirty.i32 = 0;
	dirty.u32 = 0;
	dirty.u16 = 0;
	dirty.u8 = 0;
	dirty.colour = 0;
	dirty.text[7] = '\0';
	write_mixed(&clean);
	cr_assert_eq(rename(file, second), 0);
	write_mixed(&dirty);
	char *bytes = scratch_read(file, &size);
	char *second_bytes = scratch_read(second, &second_size);
	cr_assert_eq(size, second_size);
	cr_assert_eq(memcmp(bytes, second_bytes, size), 0);
	free(bytes);
	free(second_bytes);
}
