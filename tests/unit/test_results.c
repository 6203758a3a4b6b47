/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/schema.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];
static char file[272];
static struct tl_error error;

static void make_folder(void)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/tidelab-XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/a.h5", folder);
}

static void remove_folder(void)
{
	unlink(file);
	rmdir(folder);
}

TestSuite(results, .init = make_folder, .fini = remove_folder);

#define OK(call)                                                                                   \
	do {                                                                                       \
		error = TL_ERROR_INIT;                                                             \
		enum tl_status status_ = (call);                                                   \
		cr_assert_eq(status_, TL_OK, "%s: %s: %s", #call, error.file, error.message);      \
	} while (0)

static struct tl_row_job job_of(size_t i)
{
	struct tl_row_job row = {.submit_ns = (int64_t)i * 1000,
	                         .first_start_ns = i % 3 ? (int64_t)i * 2000 : -1,
	                         .end_ns = INT64_MAX - (int64_t)i,
	                         .bounded_slowdown = i % 5 ? (double)i / 7.0 : NAN,
	                         .workers = (uint32_t)i,
	                         .node = TL_ROW_NO_NODE};

	snprintf(row.id, sizeof(row.id), "job-%zu", i);
	snprintf(row.tenant, sizeof(row.tenant), "tenant-%zu", i % 7);
	snprintf(row.kind, sizeof(row.kind), "%s", tl_schema_kind_names[i % TL_ROW_KIND_COUNT]);
	snprintf(row.state, sizeof(row.state), "%s", tl_schema_state_names[i % TL_ROW_STATE_COUNT]);
	return row;
}

static struct tl_row_transition transition_of(size_t i)
{
	return (struct tl_row_transition){.t_ns = (int64_t)i * 1000003,
	                                  .job = UINT64_MAX - i,
	                                  .node = (uint32_t)(i % 32),
	                                  .from = (uint8_t)(i % TL_ROW_STATE_COUNT),
	                                  .to = (uint8_t)((i + 1) % TL_ROW_STATE_COUNT),
	                                  .cause = (uint8_t)(i % TL_REASON_COUNT)};
}

/* Two blocks and a bit of transitions, a few jobs, and every other table empty. */
enum { TRANSITIONS = 5000, JOBS = 300 };

static enum tl_status write_sample(const char *path)
{
	struct tl_results *results = NULL;
	struct tl_table *tables[16] = {NULL};
	size_t text_sizes[32] = {16, 12};
	enum tl_status status = tl_results_create(path, &results, &error);

	if (status != TL_OK)
		return status;
	tl_results_attr_text(results, "scenario", "name: π\nseed: 1\n", &error);
	tl_results_attr_text(results, "empty", "", &error);
	tl_results_attr_i64(results, "seed", -42, &error);
	for (size_t i = 0; tl_schema_all[i]; i++) {
		status = tl_results_table(results, tl_schema_all[i], i == 0 ? text_sizes : NULL,
		                          &tables[i], &error);
		if (status != TL_OK)
			return status;
	}
	for (size_t i = 0; i < TRANSITIONS; i++) {
		struct tl_row_transition row = transition_of(i);

		tl_table_append(tables[1], &row);
		if (i < JOBS) {
			struct tl_row_job *job = tl_table_next(tables[0]);
			*job = job_of(i);
		}
	}
	return tl_results_close(results, &error);
}

static void *read_table(const struct tl_table_schema *schema, size_t *count)
{
	struct tl_results_reader *reader = NULL;
	void *rows = NULL;

	OK(tl_results_open(file, &reader, &error));
	OK(tl_results_read(reader, schema, &rows, count, &error));
	tl_results_reader_close(reader);
	return rows;
}

/* ---- the standard schemas ---- */

Test(results, schemas_cover_their_rows)
{
	for (size_t t = 0; tl_schema_all[t]; t++) {
		const struct tl_table_schema *schema = tl_schema_all[t];
		size_t last = 0;

		for (size_t i = 0; i < schema->column_count; i++) {
			const struct tl_column *column = &schema->columns[i];

			cr_assert(column->help[0], "%s.%s has no help", schema->path, column->name);
			for (size_t k = 0; k < i; k++) {
				cr_assert_str_neq(column->name, schema->columns[k].name);
				cr_assert_neq(column->offset, schema->columns[k].offset);
			}
			if (column->offset > last)
				last = column->offset;
			if (strstr(column->name, "_ns"))
				cr_assert(strstr(column->unit, "ns"), "%s.%s", schema->path,
				          column->name);
		}
		cr_assert_lt(schema->row_size - last, 65);
	}
}

Test(results, enum_names_are_whole)
{
	for (size_t i = 0; i < TL_REASON_COUNT; i++)
		cr_assert_not_null(tl_schema_reason_names[i]);
	cr_assert_null(tl_schema_reason_names[TL_REASON_COUNT]);
	cr_assert_str_eq(tl_schema_reason_names[TL_REASON_DROPPED], "dropped");
	for (size_t i = 0; i < TL_DECISION_COUNT; i++)
		cr_assert_not_null(tl_schema_decision_names[i]);
	cr_assert_null(tl_schema_decision_names[TL_DECISION_COUNT]);
	cr_assert_str_eq(tl_schema_state_names[TL_ROW_STATE_COUNT - 1], "failed");
	cr_assert_null(tl_schema_state_names[TL_ROW_STATE_COUNT]);
	cr_assert_null(tl_schema_kind_names[TL_ROW_KIND_COUNT]);
}

/* ---- there and back ---- */

Test(results, rows_come_back)
{
	size_t count = 0;

	OK(write_sample(file));
	struct tl_row_transition *transitions = read_table(&tl_schema_transitions, &count);
	cr_assert_eq(count, TRANSITIONS);
	for (size_t i = 0; i < count; i++) {
		struct tl_row_transition want = transition_of(i);

		cr_assert_eq(transitions[i].t_ns, want.t_ns);
		cr_assert_eq(transitions[i].job, want.job);
		cr_assert_eq(transitions[i].node, want.node);
		cr_assert_eq(transitions[i].from, want.from);
		cr_assert_eq(transitions[i].to, want.to);
		cr_assert_eq(transitions[i].cause, want.cause);
	}
	free(transitions);
	struct tl_row_job *jobs = read_table(&tl_schema_jobs, &count);
	cr_assert_eq(count, JOBS);
	for (size_t i = 0; i < count; i++) {
		struct tl_row_job want = job_of(i);

		cr_assert_str_eq(jobs[i].id, want.id);
		cr_assert_str_eq(jobs[i].tenant, want.tenant);
		cr_assert_str_eq(jobs[i].kind, want.kind);
		cr_assert_str_eq(jobs[i].queue, "");
		cr_assert_eq(jobs[i].first_start_ns, want.first_start_ns);
		cr_assert_eq(jobs[i].end_ns, want.end_ns);
		cr_assert_eq(jobs[i].node, UINT32_MAX);
		cr_assert(isnan(want.bounded_slowdown)
		              ? isnan(jobs[i].bounded_slowdown)
		              : jobs[i].bounded_slowdown == want.bounded_slowdown);
	}
	free(jobs);
}

Test(results, empty_table_comes_back)
{
	size_t count = 1;

	OK(write_sample(file));
	void *rows = read_table(&tl_schema_faults, &count);
	cr_assert_not_null(rows);
	cr_assert_eq(count, 0);
	free(rows);
}

Test(results, row_counts_follow)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	struct tl_row_summary row = {.value = 1.0};

	OK(tl_results_create(file, &results, &error));
	OK(tl_results_table(results, &tl_schema_summary, NULL, &table, &error));
	for (uint64_t i = 0; i < 4100; i++) {
		cr_assert_eq(tl_table_rows(table), i);
		cr_assert_eq(tl_table_append(table, &row), TL_OK);
	}
	OK(tl_results_close(results, &error));
}

static bool all_zero(const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (((const char *)bytes)[i])
			return false;
	}
	return true;
}

Test(results, next_row_is_zeroed)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	size_t count = 0;

	OK(tl_results_create(file, &results, &error));
	OK(tl_results_table(results, &tl_schema_faults, NULL, &table, &error));
	for (size_t i = 0; i < 5000; i++) {
		struct tl_row_fault *row = tl_table_next(table);

		cr_assert(all_zero(row, sizeof(*row)), "row %zu", i);
		memset(row, 0x55, sizeof(*row));
		memset(row->kind, 0, sizeof(row->kind));
		memset(row->service, 0, sizeof(row->service));
	}
	OK(tl_results_close(results, &error));
	struct tl_row_fault *rows = read_table(&tl_schema_faults, &count);
	cr_assert_eq(count, 5000);
	cr_assert_eq(rows[4999].node, 0x55555555);
	free(rows);
}

Test(results, attributes_come_back)
{
	struct tl_results_reader *reader = NULL;

	OK(write_sample(file));
	OK(tl_results_open(file, &reader, &error));
	char *scenario = tl_results_get_text(reader, "scenario");
	char *empty = tl_results_get_text(reader, "empty");
	cr_assert_str_eq(scenario, "name: π\nseed: 1\n");
	cr_assert_str_eq(empty, "");
	cr_assert_null(tl_results_get_text(reader, "absent"));
	cr_assert_null(tl_results_get_text(reader, "seed"), "a number is no text");
	free(scenario);
	free(empty);
	tl_results_reader_close(reader);
}

Test(results, long_attribute_comes_back)
{
	enum { LENGTH = 300000 };
	struct tl_results *results = NULL;
	struct tl_results_reader *reader = NULL;
	char *text = malloc(LENGTH + 1);

	for (size_t i = 0; i < LENGTH; i++)
		text[i] = (char)('a' + i % 26);
	text[LENGTH] = '\0';
	OK(tl_results_create(file, &results, &error));
	OK(tl_results_attr_text(results, "scenario", text, &error));
	OK(tl_results_close(results, &error));
	OK(tl_results_open(file, &reader, &error));
	char *back = tl_results_get_text(reader, "scenario");
	cr_assert_str_eq(back, text);
	free(back);
	free(text);
	tl_results_reader_close(reader);
}

Test(results, tables_are_listed_by_name)
{
	static const char *const want[] = {"/cluster/purposes",
	                                   "/cluster/timeline",
	                                   "/decisions",
	                                   "/faults",
	                                   "/jobs",
	                                   "/ledger",
	                                   "/nodes",
	                                   "/placements",
	                                   "/summary",
	                                   "/transitions"};
	struct tl_results_reader *reader = NULL;

	OK(write_sample(file));
	OK(tl_results_open(file, &reader, &error));
	const char *const *tables = tl_results_tables(reader);
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		cr_assert_str_eq(tables[i], want[i]);
	cr_assert_null(tables[sizeof(want) / sizeof(want[0])]);
	cr_assert(tl_results_has(reader, "/cluster/timeline"));
	cr_assert_not(tl_results_has(reader, "/cluster"));
	cr_assert_not(tl_results_has(reader, "/services/x/windows"));
	tl_results_reader_close(reader);
}

/* ---- the schema as stored ---- */

/* Three blocks as they are read. */
static void check_block(const void *rows, size_t count, size_t first)
{
	const struct tl_row_transition *got = rows;

	for (size_t i = 0; i < count; i++)
		cr_assert_eq(got[i].t_ns, transition_of(first + i).t_ns, "row %zu", first + i);
}

Test(results, cursor_goes_through_both_ways)
{
	enum { ROWS = 100000 };
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	struct tl_results_reader *reader = NULL;
	struct tl_results_cursor *cursor = NULL;
	size_t count, at = 0, blocks = 0;
	const void *rows;

	OK(tl_results_create(file, &results, &error));
	OK(tl_results_table(results, &tl_schema_transitions, NULL, &table, &error));
	for (size_t i = 0; i < ROWS; i++) {
		const struct tl_row_transition row = transition_of(i);

		tl_table_append(table, &row);
	}
	OK(tl_results_attr_i64(results, "seed", INT64_MAX, &error));
	OK(tl_results_close(results, &error));
	OK(tl_results_open(file, &reader, &error));
	OK(tl_results_cursor_open(reader, &tl_schema_transitions, &cursor, &error));
	for (; tl_results_cursor_next(cursor, &rows, &count, &error) == TL_OK; blocks++) {
		check_block(rows, count, at);
		at += count;
	}
	cr_assert_eq(at, ROWS);
	cr_assert_gt(blocks, 1);
	cr_assert_eq(tl_results_cursor_next(cursor, &rows, &count, &error), TL_END);
	tl_results_cursor_close(cursor);
	OK(tl_results_cursor_open(reader, &tl_schema_transitions, &cursor, &error));
	while (tl_results_cursor_back(cursor, &rows, &count, &error) == TL_OK) {
		at -= count;
		check_block(rows, count, at);
	}
	cr_assert_eq(at, 0);
	tl_results_cursor_close(cursor);
	cr_assert_eq(tl_results_cursor_open(reader, &tl_schema_jobs, &cursor, &error), TL_E_DATA);

	int64_t seed = 0;
	cr_assert(tl_results_get_i64(reader, "seed", &seed));
	cr_assert_eq(seed, INT64_MAX);
	cr_assert_not(tl_results_get_i64(reader, "format", &seed));
	cr_assert_not(tl_results_get_i64(reader, "absent", &seed));
	tl_results_reader_close(reader);
}

Test(results, stored_schema_says_all)
{
	struct tl_results_reader *reader = NULL;
	const struct tl_table_schema *stored = NULL;
	void *rows = NULL;
	size_t count = 0;

	OK(write_sample(file));
	OK(tl_results_open(file, &reader, &error));
	for (size_t t = 0; tl_schema_all[t]; t++) {
		const struct tl_table_schema *want = tl_schema_all[t];

		OK(tl_results_schema(reader, want->path, &stored, &error));
		cr_assert_str_eq(stored->path, want->path);
		cr_assert_str_eq(stored->help, want->help);
		cr_assert_eq(stored->column_count, want->column_count);
		for (size_t i = 0; i < want->column_count; i++) {
			cr_assert_str_eq(stored->columns[i].name, want->columns[i].name);
			cr_assert_str_eq(stored->columns[i].unit, want->columns[i].unit);
			cr_assert_str_eq(stored->columns[i].help, want->columns[i].help);
			cr_assert_eq(stored->columns[i].type, want->columns[i].type);
		}
	}
	OK(tl_results_schema(reader, "/transitions", &stored, &error));
	const struct tl_column *cause = &stored->columns[5];
	for (size_t i = 0; i <= TL_REASON_COUNT; i++)
		cr_assert(i == TL_REASON_COUNT
		              ? !cause->names[i]
		              : strcmp(cause->names[i], tl_schema_reason_names[i]) == 0);
	OK(tl_results_read(reader, stored, &rows, &count, &error));
	cr_assert_eq(count, TRANSITIONS);
	const char *row = (const char *)rows + 17 * stored->row_size;
	int64_t t_ns = 0;
	memcpy(&t_ns, row + stored->columns[0].offset, sizeof(t_ns));
	cr_assert_eq(t_ns, transition_of(17).t_ns);
	cr_assert_eq(*(const uint8_t *)(row + cause->offset), transition_of(17).cause);
	free(rows);
	tl_results_reader_close(reader);
}

Test(results, text_is_narrower_in_the_file)
{
	struct tl_results_reader *reader = NULL;
	const struct tl_table_schema *stored = NULL;

	OK(write_sample(file));
	OK(tl_results_open(file, &reader, &error));
	OK(tl_results_schema(reader, "/jobs", &stored, &error));
	cr_assert_eq(stored->columns[0].size, 16 + 1);
	cr_assert_eq(stored->columns[1].size, 12 + 1);
	cr_assert_eq(stored->columns[2].size, TL_ROW_WORD_SIZE + 1);
	tl_results_reader_close(reader);
}

/* ---- conversion ---- */

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

Test(results, numbers_convert_where_they_fit)
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

Test(results, enums_convert_by_name)
{
	struct mixed row = {.colour = 2, .text = "x"};
	char message[TL_ERROR_MESSAGE_MAX];
	uint8_t value[8];

	write_mixed(&row);
	cr_assert_eq(read_as("colour", TL_COLUMN_ENUM, value, message), TL_OK, "%s", message);
	cr_assert_str_eq(colours_moved[value[0]], "blue");
}

Test(results, text_keeps_its_last_byte)
{
	const struct mixed row = {.text = "seven77"};
	char message[TL_ERROR_MESSAGE_MAX];
	char value[8];

	write_mixed(&row);
	cr_assert_eq(read_as("text", TL_COLUMN_TEXT, value, message), TL_OK, "%s", message);
	cr_assert_str_eq(value, "seven77");
}

/* ---- determinism ---- */

static char *slurp(const char *path, size_t *size)
{
	FILE *stream = fopen(path, "rb");
	struct stat status;

	cr_assert_not_null(stream);
	cr_assert_eq(fstat(fileno(stream), &status), 0);
	*size = (size_t)status.st_size;
	char *bytes = malloc(*size);
	cr_assert_eq(fread(bytes, 1, *size, stream), *size);
	fclose(stream);
	return bytes;
}

/* Another process, another folder, a second later, and memory that is full of rubbish. */
Test(results, bytes_are_the_same_anywhere)
{
	char other_folder[288];
	char other[304];
	size_t size = 0;
	size_t other_size = 0;
	int status = 0;

	snprintf(other_folder, sizeof(other_folder), "%s/a-longer-name", folder);
	snprintf(other, sizeof(other), "%s/b.tmp", other_folder);
	cr_assert_eq(mkdir(other_folder, 0700), 0);
	OK(write_sample(file));
	sleep(1);
	pid_t child = fork();
	if (child == 0) {
		mallopt(M_PERTURB, 0xA5);
		void *shift = malloc(123457);
		bool done = shift && write_sample(other) == TL_OK;
		free(shift);
		_exit(done ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	char *bytes = slurp(file, &size);
	char *other_bytes = slurp(other, &other_size);
	cr_assert_eq(size, other_size);
	cr_assert_eq(memcmp(bytes, other_bytes, size), 0);
	free(bytes);
	free(other_bytes);
	unlink(other);
	rmdir(other_folder);
}

/* What stands behind the NUL of a text, and between members, is the caller's rubbish. */
Test(results, rubbish_in_rows_stays_out)
{
	char second[288];
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
	snprintf(second, sizeof(second), "%s/second", folder);
	write_mixed(&clean);
	cr_assert_eq(rename(file, second), 0);
	write_mixed(&dirty);
	char *bytes = slurp(file, &size);
	char *second_bytes = slurp(second, &second_size);
	cr_assert_eq(size, second_size);
	cr_assert_eq(memcmp(bytes, second_bytes, size), 0);
	free(bytes);
	free(second_bytes);
	unlink(second);
}
