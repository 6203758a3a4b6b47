/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/convert.h"
#include "results/h5.h"
#include "results/stored.h"
#include "sim/base/arena.h"
#include "sim/base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is read at a time: the stored form of a table is never whole in memory. */
enum { READ_BYTES = 1 << 20 };

struct tl_results_reader {
	char *path;
	hid_t file;
	char **tables; /* NULL-terminated, in name order */
	size_t table_count;
	size_t table_room;
	struct tl_stored **stored; /* opened on first use */
};

/* ---- opening ---- */

static enum tl_status probe(const char *path, struct tl_error *error)
{
	FILE *stream = NULL;
	enum tl_status status = tl_file_open(path, &stream, error);
	bool empty;

	if (status != TL_OK)
		return status;
	empty = fgetc(stream) == EOF;
	fclose(stream);
	if (empty)
		return tl_error_set(error, TL_E_DATA, path, 0, 0,
		                    "got an empty file, wanted a result file");
	if (H5Fis_hdf5(path) <= 0)
		return tl_error_set(error, TL_E_DATA, path, 0, 0,
		                    "got a file that is not HDF5, wanted a result file");
	return TL_OK;
}

static bool read_i64(hid_t object, const char *name, int64_t *value)
{
	bool read = false;

	if (H5Aexists(object, name) <= 0)
		return false;
	hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
	if (attribute < 0)
		return false;
	hid_t type = H5Aget_type(attribute);
	hid_t space = H5Aget_space(attribute);
	if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_INTEGER &&
	    H5Sget_simple_extent_npoints(space) == 1)
		read = H5Aread(attribute, H5T_NATIVE_INT64, value) >= 0;
	if (type >= 0)
		H5Tclose(type);
	if (space >= 0)
		H5Sclose(space);
	H5Aclose(attribute);
	return read;
}

static enum tl_status check_schema(const struct tl_results_reader *reader, struct tl_error *error)
{
	int64_t major = 0;
	int64_t minor = 0;
	char *format = tl_stored_text(reader->file, "format");
	bool ours = format && strcmp(format, "tidelab-result") == 0;

	free(format);
	if (!ours || !read_i64(reader->file, "schema_major", &major) ||
	    !read_i64(reader->file, "schema_minor", &minor))
		return tl_error_set(
		    error, TL_E_DATA, reader->path, 0, 0,
		    "got an HDF5 file of another make, wanted a result file with the "
		    "root attributes format, schema_major and schema_minor");
	if (major != TL_RESULTS_SCHEMA_MAJOR)
		return tl_error_set(
		    error, TL_E_DATA, reader->path, 0, 0,
		    "got a result file of schema %lld.%lld, wanted %d.x: written by "
		    "%s version",
		    (long long)major, (long long)minor, TL_RESULTS_SCHEMA_MAJOR,
		    major > TL_RESULTS_SCHEMA_MAJOR ? "a newer" : "an older");
	return TL_OK;
}

static herr_t collect(hid_t root, const char *name, const H5O_info_t *info, void *into)
{
	struct tl_results_reader *reader = into;
	size_t size = strlen(name) + 2;

	(void)root;
	if (info->type != H5O_TYPE_DATASET)
		return 0;
	if (reader->table_count + 1 >= reader->table_room) {
		reader->table_room = reader->table_room * 2 + 16;
		reader->tables =
		    tl_realloc_array(reader->tables, reader->table_room, sizeof(*reader->tables));
	}
	char *path = tl_alloc(size);
	snprintf(path, size, "/%s", name);
	reader->tables[reader->table_count++] = path;
	reader->tables[reader->table_count] = NULL;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum tl_status list_tables(struct tl_results_reader *reader, struct tl_error *error)
{
	if (H5Ovisit2(reader->file, H5_INDEX_NAME, H5_ITER_NATIVE, collect, reader,
	              H5O_INFO_BASIC) < 0)
		return tl_error_set(error, TL_E_DATA, reader->path, 0, 0,
		                    "the file is damaged or cut short: %s", tl_h5_cause());
	if (!reader->tables)
		reader->tables = tl_calloc(1, sizeof(*reader->tables));
	reader->stored = tl_calloc(reader->table_count + 1, sizeof(*reader->stored));
	qsort(reader->tables, reader->table_count, sizeof(*reader->tables), by_name);
	return TL_OK;
}

static enum tl_status open_file(struct tl_results_reader *reader, struct tl_error *error)
{
	hid_t access = tl_h5_file_access();

	if (access >= 0) {
		reader->file = H5Fopen(reader->path, H5F_ACC_RDONLY, access);
		H5Pclose(access);
	}
	if (reader->file < 0)
		return tl_error_set(error, TL_E_DATA, reader->path, 0, 0,
		                    "the file is damaged, cut short or still being written: %s",
		                    tl_h5_cause());
	enum tl_status status = check_schema(reader, error);
	return status == TL_OK ? list_tables(reader, error) : status;
}

enum tl_status tl_results_open(const char *path, struct tl_results_reader **out,
                               struct tl_error *error)
{
	tl_h5_start();
	enum tl_status status = probe(path, error);
	if (status != TL_OK)
		return status;
	struct tl_results_reader *reader = tl_calloc(1, sizeof(*reader));
	reader->file = H5I_INVALID_HID;
	reader->path = tl_strdup(path);
	status = open_file(reader, error);
	if (status != TL_OK) {
		tl_results_reader_close(reader);
		return status;
	}
	*out = reader;
	return TL_OK;
}

void tl_results_reader_close(struct tl_results_reader *reader)
{
	if (!reader)
		return;
	for (size_t i = 0; i < reader->table_count; i++) {
		free(reader->tables[i]);
		if (reader->stored)
			tl_stored_close(reader->stored[i]);
	}
	if (reader->file >= 0)
		H5Fclose(reader->file);
	free(reader->tables);
	free(reader->stored);
	free(reader->path);
	free(reader);
}

/* ---- tables ---- */

static size_t find(const struct tl_results_reader *reader, const char *table_path)
{
	size_t i = 0;

	while (i < reader->table_count && strcmp(reader->tables[i], table_path) != 0)
		i++;
	return i;
}

bool tl_results_has(struct tl_results_reader *reader, const char *table_path)
{
	return find(reader, table_path) < reader->table_count;
}

const char *const *tl_results_tables(struct tl_results_reader *reader)
{
	return (const char *const *)reader->tables;
}

static enum tl_status get_stored(struct tl_results_reader *reader, const char *table_path,
                                 const struct tl_stored **out, struct tl_error *error)
{
	size_t i = find(reader, table_path);

	if (i == reader->table_count)
		return tl_error_set(
		    error, TL_E_DATA, reader->path, 0, 0,
		    "got no table %s, wanted one: it is for the run to write (--tables all, or "
		    "output.tables)",
		    table_path);
	if (!reader->stored[i]) {
		enum tl_status status = tl_stored_open(reader->file, reader->path, table_path,
		                                       &reader->stored[i], error);

		if (status != TL_OK)
			return status;
	}
	*out = reader->stored[i];
	return TL_OK;
}

enum tl_status tl_results_schema(struct tl_results_reader *reader, const char *table_path,
                                 const struct tl_table_schema **out, struct tl_error *error)
{
	const struct tl_stored *stored = NULL;
	enum tl_status status = get_stored(reader, table_path, &stored, error);

	if (stored)
		*out = &stored->schema;
	return status;
}

struct tl_results_cursor {
	const struct tl_results_reader *reader;
	const struct tl_stored *stored;
	struct tl_convert *convert;
	char *buffer; /* a block as stored */
	char *rows;   /* a block as wanted; NULL until asked for */
	size_t row_size, block;
	uint64_t from, to; /* rows not yet handed out */
};

enum tl_status tl_results_cursor_open(struct tl_results_reader *reader,
                                      const struct tl_table_schema *schema,
                                      struct tl_results_cursor **out, struct tl_error *error)
{
	const struct tl_stored *stored = NULL;
	enum tl_status status = get_stored(reader, schema->path, &stored, error);
	struct tl_results_cursor *cursor;

	if (!stored)
		return status;
	cursor = calloc(1, sizeof(*cursor));
	if (cursor) {
		cursor->block = READ_BYTES / stored->row_size + 1;
		cursor->buffer = malloc(cursor->block * stored->row_size);
	}
	if (!cursor || !cursor->buffer) {
		free(cursor);
		return tl_error_set(error, TL_E_OS, reader->path, 0, 0, "table %s: out of memory",
		                    stored->path);
	}
	cursor->reader = reader;
	cursor->stored = stored;
	cursor->row_size = schema->row_size;
	cursor->to = stored->rows;
	status = tl_convert_create(stored, schema, reader->path, &cursor->convert, error);
	if (status != TL_OK) {
		tl_results_cursor_close(cursor);
		return status;
	}
	*out = cursor;
	return TL_OK;
}

void tl_results_cursor_close(struct tl_results_cursor *cursor)
{
	if (!cursor)
		return;
	tl_convert_destroy(cursor->convert);
	free(cursor->rows);
	free(cursor->buffer);
	free(cursor);
}

/* How many rows the next block has. */
static size_t next_count(const struct tl_results_cursor *cursor)
{
	const uint64_t left = cursor->to - cursor->from;

	return left < cursor->block ? (size_t)left : cursor->block;
}

static enum tl_status read_block(struct tl_results_cursor *cursor, uint64_t first, size_t count,
                                 char *rows, struct tl_error *error)
{
	const char *name = cursor->reader->path;
	enum tl_status status =
	    tl_stored_read(cursor->stored, name, first, count, cursor->buffer, error);

	if (status == TL_OK)
		status = tl_convert_rows(cursor->convert, name, cursor->buffer, first, count, rows,
		                         error);
	return status;
}

static enum tl_status hand_out(struct tl_results_cursor *cursor, uint64_t first, size_t count,
                               const void **rows, struct tl_error *error)
{
	if (!cursor->rows)
		cursor->rows = malloc(cursor->block * cursor->row_size);
	if (!cursor->rows)
		return tl_error_set(error, TL_E_OS, cursor->reader->path, 0, 0,
		                    "table %s: out of memory", cursor->stored->path);
	*rows = cursor->rows;
	return read_block(cursor, first, count, cursor->rows, error);
}

enum tl_status tl_results_cursor_next(struct tl_results_cursor *cursor, const void **rows,
                                      size_t *count, struct tl_error *error)
{
	const uint64_t first = cursor->from;

	*count = next_count(cursor);
	cursor->from += *count;
	return *count == 0 ? TL_END : hand_out(cursor, first, *count, rows, error);
}

enum tl_status tl_results_cursor_back(struct tl_results_cursor *cursor, const void **rows,
                                      size_t *count, struct tl_error *error)
{
	*count = next_count(cursor);
	cursor->to -= *count;
	return *count == 0 ? TL_END : hand_out(cursor, cursor->to, *count, rows, error);
}

enum tl_status tl_results_read(struct tl_results_reader *reader,
                               const struct tl_table_schema *schema, void **rows, size_t *count,
                               struct tl_error *error)
{
	struct tl_results_cursor *cursor = NULL;
	enum tl_status status = tl_results_cursor_open(reader, schema, &cursor, error);
	uint64_t total;
	char *all = NULL;

	if (!cursor)
		return status;
	total = cursor->to;
	if (total < SIZE_MAX / schema->row_size)
		all = malloc(((size_t)total + 1) * schema->row_size);
	if (!all)
		status = tl_error_set(error, TL_E_OS, reader->path, 0, 0,
		                      "table %s: no memory for %llu rows", cursor->stored->path,
		                      (unsigned long long)total);
	while (status == TL_OK && cursor->from < total) {
		const uint64_t first = cursor->from;
		const size_t block = next_count(cursor);

		cursor->from += block;
		status = read_block(cursor, first, block, all + first * schema->row_size, error);
	}
	tl_results_cursor_close(cursor);
	if (status != TL_OK) {
		free(all);
		return status;
	}
	*rows = all;
	*count = (size_t)total;
	return TL_OK;
}

char *tl_results_get_text(struct tl_results_reader *reader, const char *name)
{
	return tl_stored_text(reader->file, name);
}

bool tl_results_get_i64(struct tl_results_reader *reader, const char *name, int64_t *out)
{
	return read_i64(reader->file, name, out);
}
