/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/schema.h"
#include "tests/unit/expect.h"
#include "tests/unit/scratch.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file;
static struct tl_error error;

static void set_up(void)
{
	scratch_make();
	file = scratch_path("a.h5");
}

TestSuite(results, .init = set_up, .fini = scratch_remove);

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

/* ---- determinism ---- */

/* Another process, another folder, a second later, and memory that is full of rubbish. */
Test(results, bytes_are_the_same_anywhere)
{
	const char *other = scratch_path("a-longer-name/b.tmp");
	size_t size = 0;
	size_t other_size = 0;
	int status = 0;

	cr_assert_eq(mkdir(scratch_path("a-longer-name"), 0700), 0);
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
	char *bytes = scratch_read(file, &size);
	char *other_bytes = scratch_read(other, &other_size);
	cr_assert_eq(size, other_size);
	cr_assert_eq(memcmp(bytes, other_bytes, size), 0);
	free(bytes);
	free(other_bytes);
}
