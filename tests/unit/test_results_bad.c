/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/schema.h"
#include "tests/unit/expect.h"
#include "tests/unit/scratch.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
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

TestSuite(results_bad, .init = set_up, .fini = scratch_remove);

static bool exists(const char *path)
{
	struct stat status;

	return lstat(path, &status) == 0;
}

static void write_bytes(const void *bytes, size_t size)
{
	FILE *stream = fopen(file, "wb");

	cr_assert_not_null(stream);
	cr_assert_eq(fwrite(bytes, 1, size, stream), size);
	cr_assert_eq(fclose(stream), 0);
}

/* rows of noise, which does not compress */
static enum tl_status write_noise(size_t rows)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	uint64_t state = 88172645463325252u;
	enum tl_status status = tl_results_create(file, &results, &error);

	if (status != TL_OK)
		return status;
	status = tl_results_table(results, &tl_schema_timeline, NULL, &table, &error);
	for (size_t i = 0; i < rows && status == TL_OK; i++) {
		struct tl_row_timeline *row = tl_table_next(table);

		for (size_t k = 0; k < sizeof(*row) / sizeof(state); k++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			memcpy((char *)row + k * sizeof(state), &state, sizeof(state));
		}
	}
	if (status == TL_OK)
		return tl_results_close(results, &error);
	tl_results_abandon(results);
	return status;
}

static enum tl_status read_all(void)
{
	struct tl_results_reader *reader = NULL;
	enum tl_status status = tl_results_open(file, &reader, &error);

	if (status != TL_OK)
		return status;
	for (const char *const *table = tl_results_tables(reader); *table && status == TL_OK;
	     table++) {
		const struct tl_table_schema *schema = NULL;
		void *rows = NULL;
		size_t count = 0;

		status = tl_results_schema(reader, *table, &schema, &error);
		if (status == TL_OK)
			status = tl_results_read(reader, schema, &rows, &count, &error);
		free(rows);
	}
	tl_results_reader_close(reader);
	return status;
}

/* ---- writing ---- */

Test(results_bad, folder_is_absent)
{
	struct tl_results *results = NULL;

	WANT(TL_E_CANTCREAT, "No such file", tl_results_create("/no/such/x.h5", &results, &error));
	cr_assert_null(results);
}

Test(results_bad, target_is_a_folder_or_device)
{
	struct tl_results *results = NULL;

	WANT(TL_E_CANTCREAT, "not a plain file",
	     tl_results_create(scratch_path(NULL), &results, &error));
	WANT(TL_E_CANTCREAT, "not a plain file", tl_results_create("/dev/full", &results, &error));
	cr_assert(exists(scratch_path(NULL)));
	cr_assert(exists("/dev/full"));
}

/* Wherever in the file the disk ends, the outcome is the same, and HDF5 does not
 * trip over it at exit: the child leaves through exit(), handlers and all. */
Test(results_bad, full_disk_leaves_nothing)
{
	static const rlim_t limits[] = {0,      100,    1000,    4000,   20000,
	                                100000, 300000, 1000000, 2400000};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		int status = 0;
		pid_t child = fork();

		if (child == 0) {
			struct rlimit limit = {.rlim_cur = limits[i], .rlim_max = limits[i]};

			signal(SIGXFSZ, SIG_IGN);
			setrlimit(RLIMIT_FSIZE, &limit);
			enum tl_status written = write_noise(30000);
			bool right = written == TL_E_IO && error.code == TL_E_IO &&
			             strstr(error.message, "File too large") && !exists(file);
			/* and HDF5 is still fit for use afterwards */
			if (limits[i] >= 100000)
				right = right && write_noise(10) == TL_OK && read_all() == TL_OK;
			unlink(file);
			exit(right ? 0 : 1);
		}
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "limit %lu: status %x",
		          (unsigned long)limits[i], (unsigned)status);
	}
}

/* The first failure is kept; rows after it go nowhere, safely. */
Test(results_bad, failure_is_kept)
{
	struct rlimit limit = {.rlim_cur = 50000, .rlim_max = 50000};
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	enum tl_status status = TL_OK;
	size_t appended = 0;
	struct tl_row_job row;

	signal(SIGXFSZ, SIG_IGN);
	cr_assert_eq(tl_results_create(file, &results, &error), TL_OK);
	cr_assert_eq(tl_results_table(results, &tl_schema_jobs, NULL, &table, &error), TL_OK);
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	memset(&row, 0, sizeof(row));
	srand(7);
	for (; appended < 20000 && status == TL_OK; appended++) {
		row.submit_ns = (int64_t)rand() * rand();
		row.end_ns = (int64_t)rand() * rand();
		row.held_gpu_s = (double)rand() / 3.0;
		status = tl_table_append(table, &row);
	}
	cr_assert_eq(status, TL_E_IO);
	for (size_t i = 0; i < 5000; i++)
		cr_assert_eq(tl_table_append(table, &row), TL_E_IO);
	cr_assert_not_null(tl_table_next(table));
	WANT(TL_E_IO, "File too large", tl_results_attr_text(results, "late", "x", &error));
	WANT(TL_E_IO, "write rows of /jobs", tl_results_close(results, &error));
	cr_assert_not(exists(file));
}

Test(results_bad, abandoned_file_is_gone)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;

	cr_assert_eq(tl_results_create(file, &results, &error), TL_OK);
	cr_assert_eq(tl_results_table(results, &tl_schema_jobs, NULL, &table, &error), TL_OK);
	tl_table_next(table);
	cr_assert(exists(file));
	tl_results_abandon(results);
	cr_assert_not(exists(file));
}

static struct tl_results *created(void)
{
	struct tl_results *results = NULL;

	cr_assert_eq(tl_results_create(file, &results, &error), TL_OK);
	return results;
}

static void close_spoilt(struct tl_results *results)
{
	cr_assert_eq(tl_results_close(results, &error), TL_E_INTERNAL, "%s", error.message);
	cr_assert_not(exists(file));
}

Test(results_bad, unsound_schemas_are_refused)
{
	static const char *const no_names[] = {NULL};
	static const struct tl_column enum_column = {
	    .name = "x", .type = TL_COLUMN_ENUM, .names = no_names};
	static const struct tl_column outside = {.name = "x", .type = TL_COLUMN_I64, .offset = 1};
	static const struct tl_column no_size = {.name = "x", .type = TL_COLUMN_TEXT};
	static const struct tl_column good = {.name = "x", .type = TL_COLUMN_I64};
	const struct {
		struct tl_table_schema schema;
		const char *part;
	} cases[] = {
	    {{.path = "/x", .row_size = 8, .columns = &enum_column, .column_count = 1}, "0 names"},
	    {{.path = "/x", .row_size = 8, .columns = &outside, .column_count = 1}, "inside"},
	    {{.path = "/x", .row_size = 8, .columns = &no_size, .column_count = 1}, "0 bytes"},
	    {{.path = "/x", .row_size = 8, .columns = &good, .column_count = 0}, "no columns"},
	    {{.path = "x", .row_size = 8, .columns = &good, .column_count = 1}, "bad path"},
	    {{.path = "/", .row_size = 8, .columns = &good, .column_count = 1}, "bad path"},
	    {{.path = "/x/", .row_size = 8, .columns = &good, .column_count = 1}, "bad path"},
	    {{.path = "/x//y", .row_size = 8, .columns = &good, .column_count = 1}, "bad path"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tl_results *results = created();
		struct tl_table *table = NULL;

		WANT(TL_E_INTERNAL, cases[i].part,
		     tl_results_table(results, &cases[i].schema, NULL, &table, &error));
		close_spoilt(results);
	}
}

Test(results_bad, second_time_is_refused)
{
	struct tl_results *results = created();
	struct tl_table *table = NULL;

	cr_assert_eq(tl_results_table(results, &tl_schema_jobs, NULL, &table, &error), TL_OK);
	WANT(TL_E_INTERNAL, "second time",
	     tl_results_table(results, &tl_schema_jobs, NULL, &table, &error));
	close_spoilt(results);
	results = created();
	WANT(TL_E_INTERNAL, "second time", tl_results_attr_i64(results, "schema_major", 9, &error));
	close_spoilt(results);
}

Test(results_bad, text_is_never_cut)
{
	static const size_t narrow[32] = {4};
	struct tl_results *results = created();
	struct tl_table *table = NULL;

	cr_assert_eq(tl_results_table(results, &tl_schema_jobs, narrow, &table, &error), TL_OK);
	struct tl_row_job *row = tl_table_next(table);
	memcpy(row->id, "1234", 5);
	row = tl_table_next(table);
	memcpy(row->id, "12345", 6);
	WANT(TL_E_INTERNAL, "row 1, column `id`: got a text of 5 bytes, wanted at most 4",
	     tl_results_close(results, &error));
	cr_assert_not(exists(file));
	results = created();
	cr_assert_eq(tl_results_table(results, &tl_schema_jobs, NULL, &table, &error), TL_OK);
	row = tl_table_next(table);
	memset(row->id, 'x', sizeof(row->id));
	WANT(TL_E_INTERNAL, "64 bytes or more", tl_results_close(results, &error));
}

Test(results_bad, enum_without_a_name_is_refused)
{
	struct tl_results *results = created();
	struct tl_table *table = NULL;

	cr_assert_eq(tl_results_table(results, &tl_schema_transitions, NULL, &table, &error),
	             TL_OK);
	struct tl_row_transition *row = tl_table_next(table);
	row->from = TL_ROW_STATE_COUNT;
	WANT(TL_E_INTERNAL, "column `from`: got value 8", tl_results_close(results, &error));
}

/* ---- reading ---- */

Test(results_bad, nothing_to_open)
{
	struct tl_results_reader *reader = NULL;

	WANT(TL_E_NOINPUT, "No such file", tl_results_open(file, &reader, &error));
	WANT(TL_E_NOINPUT, "a folder", tl_results_open(scratch_path(NULL), &reader, &error));
	WANT(TL_E_NOINPUT, "wanted a plain file", tl_results_open("/dev/null", &reader, &error));
	cr_assert_null(reader);
}

Test(results_bad, other_files_are_told_apart)
{
	struct tl_results_reader *reader = NULL;
	static const char magic[] = "\211HDF\r\n\032\n";

	write_bytes("", 0);
	WANT(TL_E_DATA, "empty", tl_results_open(file, &reader, &error));
	write_bytes("id,submit\n1,2\n", 14);
	WANT(TL_E_DATA, "not HDF5", tl_results_open(file, &reader, &error));
	write_bytes(magic, 8);
	WANT(TL_E_DATA, "cut short", tl_results_open(file, &reader, &error));
}

static void write_foreign(const char *format, int64_t major, bool with_version)
{
	hid_t foreign = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	hid_t scalar = H5Screate(H5S_SCALAR);

	cr_assert_geq(foreign, 0);
	if (format) {
		hid_t text = H5Tcopy(H5T_C_S1);
		H5Tset_size(text, strlen(format));
		hid_t attribute =
		    H5Acreate2(foreign, "format", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
		cr_assert_geq(H5Awrite(attribute, text, format), 0);
		H5Aclose(attribute);
		H5Tclose(text);
	}
	if (with_version) {
		for (int i = 0; i < 2; i++) {
			hid_t attribute =
			    H5Acreate2(foreign, i ? "schema_minor" : "schema_major", H5T_STD_I64BE,
			               scalar, H5P_DEFAULT, H5P_DEFAULT);
			cr_assert_geq(H5Awrite(attribute, H5T_NATIVE_INT64, &major), 0);
			H5Aclose(attribute);
		}
	}
	H5Sclose(scalar);
	H5Fclose(foreign);
}

Test(results_bad, foreign_and_newer_files)
{
	struct tl_results_reader *reader = NULL;

	write_foreign(NULL, 0, false);
	WANT(TL_E_DATA, "another make", tl_results_open(file, &reader, &error));
	write_foreign("tidelab-result", 0, false);
	WANT(TL_E_DATA, "another make", tl_results_open(file, &reader, &error));
	write_foreign("weather", 1, true);
	WANT(TL_E_DATA, "another make", tl_results_open(file, &reader, &error));
	write_foreign("tidelab-result", 2, true);
	WANT(TL_E_DATA, "schema 2.2, wanted 1.x: written by a newer",
	     tl_results_open(file, &reader, &error));
	write_foreign("tidelab-result", 0, true);
	WANT(TL_E_DATA, "an older", tl_results_open(file, &reader, &error));
	write_foreign("tidelab-result", 1, true);
	cr_assert_eq(tl_results_open(file, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_null(tl_results_tables(reader)[0]);
	tl_results_reader_close(reader);
}

/* Datasets another program put into one of our files. */
Test(results_bad, foreign_datasets)
{
	struct tl_results_reader *reader = NULL;
	const struct tl_table_schema *schema = NULL;
	hsize_t sizes[2] = {3, 4};

	write_foreign("tidelab-result", 1, true);
	hid_t foreign = H5Fopen(file, H5F_ACC_RDWR, H5P_DEFAULT);
	hid_t plane = H5Screate_simple(2, sizes, NULL);
	hid_t line = H5Screate_simple(1, sizes, NULL);
	hid_t one = H5Tcreate(H5T_COMPOUND, 8);
	hid_t odd = H5Tcreate(H5T_COMPOUND, 16);
	hid_t variable = H5Tcopy(H5T_C_S1);
	H5Tset_size(variable, H5T_VARIABLE);
	H5Tinsert(one, "x", 0, H5T_STD_I16BE);
	H5Tinsert(odd, "text", 0, variable);
	H5Dclose(H5Dcreate2(foreign, "plain", H5T_NATIVE_INT, line, H5P_DEFAULT, H5P_DEFAULT,
	                    H5P_DEFAULT));
	H5Dclose(H5Dcreate2(foreign, "plane", one, plane, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	H5Dclose(H5Dcreate2(foreign, "odd", odd, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
	hid_t good = H5Dcreate2(foreign, "good", one, line, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	const struct {
		int16_t x[4];
	} rows[3] = {{{0x0100}}, {{0x0200}}, {{(int16_t)0xfeff}}};
	H5Dwrite(good, one, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows);
	H5Dclose(good);
	H5Fclose(foreign);

	cr_assert_eq(tl_results_open(file, &reader, &error), TL_OK, "%s", error.message);
	WANT(TL_E_DATA, "without columns", tl_results_schema(reader, "/plain", &schema, &error));
	WANT(TL_E_DATA, "2 dimensions", tl_results_schema(reader, "/plane", &schema, &error));
	WANT(TL_E_DATA, "column `text`", tl_results_schema(reader, "/odd", &schema, &error));
	WANT(TL_E_DATA, "no table /jobs", tl_results_schema(reader, "/jobs", &schema, &error));
	void *back = NULL;
	size_t count = 0;
	WANT(TL_E_DATA, "no table /jobs",
	     tl_results_read(reader, &tl_schema_jobs, &back, &count, &error));
	cr_assert_eq(tl_results_schema(reader, "/good", &schema, &error), TL_OK);
	cr_assert_eq(tl_results_read(reader, schema, &back, &count, &error), TL_OK);
	cr_assert_eq(count, 3);
	cr_assert_eq(((const int32_t *)back)[0], 1, "big-endian 16 bits arrive as ours");
	free(back);
	tl_results_reader_close(reader);
}

Test(results_bad, cut_short_is_always_told)
{
	size_t size = 0;

	cr_assert_eq(write_noise(3000), TL_OK);
	cr_assert_eq(read_all(), TL_OK, "%s", error.message);
	char *bytes = scratch_read(file, &size);
	for (size_t cut = 1; cut < size; cut += 1 + size / 97) {
		write_bytes(bytes, cut);
		cr_assert_eq(read_all(), TL_E_DATA, "%zu of %zu bytes", cut, size);
	}
	write_bytes(bytes, size - 1);
	cr_assert_eq(read_all(), TL_E_DATA);
	free(bytes);
}

/* A flipped byte is told or harmless (it may lie in a gap), and never a crash. In a
 * child that skips the check for leaks: HDF5 itself leaks on the way out of some. */
static int flip_bytes(char *bytes, size_t size)
{
	size_t told = 0;
	size_t tried = 0;

	for (size_t i = 0; i < size; i += 1 + size / 701) {
		bytes[i] = (char)~bytes[i];
		write_bytes(bytes, size);
		bytes[i] = (char)~bytes[i];
		enum tl_status status = read_all();
		if (status != TL_OK && status != TL_E_DATA)
			return 1;
		told += status == TL_E_DATA;
		tried++;
	}
	return told * 10 > tried * 8 ? 0 : 2;
}

Test(results_bad, damage_never_crashes)
{
	size_t size = 0;
	int status = 0;

	cr_assert_eq(write_noise(300), TL_OK);
	char *bytes = scratch_read(file, &size);
	pid_t child = fork();
	if (child == 0)
		_exit(flip_bytes(bytes, size));
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "status %x", (unsigned)status);
	free(bytes);
}
