/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/dataset.h"
#include "results/h5.h"
#include "results/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Rows of a block, which is a chunk of the file. Measured from 1,024 to 16,384 on
 * rows of 24 to 250 bytes: fastest here, and within 2 % of the smallest file. */
enum { BLOCK_ROWS = 2048 };

struct tl_table {
	struct tl_results *results;
	struct tl_table *next;
	char *path;
	struct tl_pack *pack;
	hid_t dataset;
	hid_t type;
	uint64_t written; /* rows in the file */
	size_t filled;    /* rows in the block */
	size_t row_size;
	char *block;
	char *packed;
};

struct tl_results {
	char *path;
	hid_t file;
	int descriptor; /* HDF5's own, to free the disk when it cannot close */
	struct tl_table *tables;
	struct tl_table **last;
	bool failed;
	struct tl_error error; /* the first failure */
};

static enum tl_status keep_error(struct tl_results *results, const struct tl_error *error)
{
	if (!results->failed) {
		results->failed = true;
		results->error = *error;
	}
	return results->error.code;
}

static enum tl_status fail_h5(struct tl_results *results, const char *doing, const char *what)
{
	struct tl_error error = TL_ERROR_INIT;

	tl_error_set(&error, TL_E_IO, results->path, 0, 0, "cannot %s %s: %s", doing, what,
	             tl_h5_cause());
	return keep_error(results, &error);
}

static enum tl_status hand_out(const struct tl_results *results, struct tl_error *error)
{
	if (error)
		*error = results->error;
	return results->error.code;
}

/* ---- the file ---- */

/* Opens once by hand: HDF5 says less about why a file cannot be made, and must not
 * be let near what is no plain file. */
static enum tl_status probe(const char *path, struct tl_error *error)
{
	struct stat status;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return tl_error_set(
		    error, TL_E_CANTCREAT, path, 0, 0,
		    "cannot create the result file: it exists and is not a plain file");
	int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (descriptor < 0)
		return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
		                    "cannot create the result file: %s", strerror(errno));
	close(descriptor);
	return TL_OK;
}

static hid_t create_file(const char *path)
{
	hid_t file = H5I_INVALID_HID;
	hid_t access = tl_h5_file_access();
	hid_t creation = H5Pcreate(H5P_FILE_CREATE);

	if (access >= 0 && creation >= 0 && H5Pset_obj_track_times(creation, false) >= 0 &&
	    H5Pset_attr_phase_change(creation, TL_H5_COMPACT_ATTRIBUTES, 0) >= 0)
		file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access);
	if (access >= 0)
		H5Pclose(access);
	if (creation >= 0)
		H5Pclose(creation);
	return file;
}

static void free_results(struct tl_results *results)
{
	struct tl_table *table = results->tables;

	while (table) {
		struct tl_table *next = table->next;

		tl_pack_destroy(table->pack);
		free(table->path);
		free(table->block);
		free(table->packed);
		free(table);
		table = next;
	}
	free(results->path);
	free(results);
}

enum tl_status tl_results_create(const char *path, struct tl_results **out, struct tl_error *error)
{
	enum tl_status status = probe(path, error);
	void *handle = NULL;

	if (status != TL_OK)
		return status;
	tl_h5_start();
	struct tl_results *results = calloc(1, sizeof(*results));
	if (results)
		results->path = strdup(path);
	if (!results || !results->path) {
		free(results);
		unlink(path);
		return tl_error_set(error, TL_E_OS, path, 0, 0, "out of memory");
	}
	results->last = &results->tables;
	results->descriptor = -1;
	results->file = create_file(path);
	if (results->file < 0)
		fail_h5(results, "create", "the result file");
	else if (H5Fget_vfd_handle(results->file, H5P_DEFAULT, &handle) >= 0)
		results->descriptor = *(const int *)handle;
	if (results->failed ||
	    tl_results_attr_text(results, "format", "tidelab-result", NULL) != TL_OK ||
	    tl_results_attr_i64(results, "schema_major", TL_RESULTS_SCHEMA_MAJOR, NULL) != TL_OK ||
	    tl_results_attr_i64(results, "schema_minor", TL_RESULTS_SCHEMA_MINOR, NULL) != TL_OK) {
		status = hand_out(results, error);
		tl_results_abandon(results);
		return status;
	}
	*out = results;
	return TL_OK;
}

/* ---- attributes ---- */

static enum tl_status check_attribute(struct tl_results *results, const char *name)
{
	struct tl_error error = TL_ERROR_INIT;

	if (results->failed)
		return results->error.code;
	if (H5Aexists(results->file, name) == 0)
		return TL_OK;
	tl_error_set(&error, TL_E_INTERNAL, results->path, 0, 0,
	             "attribute `%s`: written a second time", name);
	return keep_error(results, &error);
}

enum tl_status tl_results_attr_text(struct tl_results *results, const char *name, const char *value,
                                    struct tl_error *error)
{
	if (check_attribute(results, name) == TL_OK &&
	    tl_h5_write_text(results->file, name, value) < 0)
		fail_h5(results, "write the attribute", name);
	return results->failed ? hand_out(results, error) : TL_OK;
}

enum tl_status tl_results_attr_i64(struct tl_results *results, const char *name, int64_t value,
                                   struct tl_error *error)
{
	if (check_attribute(results, name) == TL_OK &&
	    tl_h5_write_attribute(results->file, name, H5T_NATIVE_INT64, &value) < 0)
		fail_h5(results, "write the attribute", name);
	return results->failed ? hand_out(results, error) : TL_OK;
}

/* ---- tables ---- */

static enum tl_status check_path(struct tl_results *results, const struct tl_table_schema *schema)
{
	const char *path = schema->path ? schema->path : "";
	struct tl_error error = TL_ERROR_INIT;

	for (const struct tl_table *table = results->tables; table; table = table->next) {
		if (strcmp(table->path, path) == 0) {
			tl_error_set(&error, TL_E_INTERNAL, results->path, 0, 0,
			             "table %s: added a second time", path);
			return keep_error(results, &error);
		}
	}
	if (path[0] == '/' && path[1] && path[strlen(path) - 1] != '/' && !strstr(path, "//"))
		return TL_OK;
	tl_error_set(&error, TL_E_INTERNAL, results->path, 0, 0,
	             "table `%s`: got a bad path, wanted one such as /cluster/timeline", path);
	return keep_error(results, &error);
}

static enum tl_status fill_table(struct tl_table *table, const struct tl_table_schema *schema,
                                 const size_t *text_sizes)
{
	struct tl_results *results = table->results;
	struct tl_error error = TL_ERROR_INIT;

	if (tl_pack_create(schema, text_sizes, &table->pack, &error) != TL_OK)
		return keep_error(results, &error);
	table->row_size = schema->row_size;
	table->path = strdup(schema->path);
	/* One row more than a block: where rows go after a failure. */
	table->block = calloc(BLOCK_ROWS + 1, schema->row_size);
	table->packed = malloc(BLOCK_ROWS * tl_pack_row_size(table->pack));
	if (!table->path || !table->block || !table->packed) {
		tl_error_set(&error, TL_E_OS, results->path, 0, 0, "table %s: out of memory",
		             schema->path);
		return keep_error(results, &error);
	}
	table->dataset =
	    tl_dataset_create(results->file, schema, table->pack, BLOCK_ROWS, &table->type);
	return table->dataset < 0 ? fail_h5(results, "create the table", schema->path) : TL_OK;
}

enum tl_status tl_results_table(struct tl_results *results, const struct tl_table_schema *schema,
                                const size_t *text_sizes, struct tl_table **out,
                                struct tl_error *error)
{
	if (results->failed || check_path(results, schema) != TL_OK)
		return hand_out(results, error);
	struct tl_table *table = calloc(1, sizeof(*table));
	if (!table)
		return tl_error_set(error, TL_E_OS, results->path, 0, 0, "out of memory");
	table->results = results;
	table->dataset = H5I_INVALID_HID;
	table->type = H5I_INVALID_HID;
	*results->last = table;
	results->last = &table->next;
	if (fill_table(table, schema, text_sizes) != TL_OK)
		return hand_out(results, error);
	*out = table;
	return TL_OK;
}

/* ---- rows ---- */

static herr_t write_block(struct tl_table *table)
{
	hsize_t first = table->written;
	hsize_t count = table->filled;
	hsize_t extent = first + count;
	herr_t done = -1;

	if (H5Dset_extent(table->dataset, &extent) < 0)
		return -1;
	hid_t file_space = H5Dget_space(table->dataset);
	hid_t memory_space = H5Screate_simple(1, &count, NULL);
	if (file_space >= 0 && memory_space >= 0 &&
	    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0)
		done = H5Dwrite(table->dataset, table->type, memory_space, file_space, H5P_DEFAULT,
		                table->packed);
	if (file_space >= 0)
		H5Sclose(file_space);
	if (memory_space >= 0)
		H5Sclose(memory_space);
	return done;
}

static enum tl_status flush(struct tl_table *table)
{
	struct tl_error error = TL_ERROR_INIT;

	if (table->results->failed)
		return table->results->error.code;
	if (table->filled == 0)
		return TL_OK;
	if (tl_pack_rows(table->pack, table->block, table->filled, table->written, table->packed,
	                 &error) != TL_OK)
		return keep_error(table->results, &error);
	if (write_block(table) < 0)
		return fail_h5(table->results, "write rows of", table->path);
	table->written += table->filled;
	table->filled = 0;
	return TL_OK;
}

void *tl_table_next(struct tl_table *table)
{
	if (table->filled == BLOCK_ROWS || table->results->failed) {
		if (flush(table) != TL_OK) {
			char *scratch = table->block + BLOCK_ROWS * table->row_size;

			memset(scratch, 0, table->row_size);
			return scratch;
		}
	}
	char *row = table->block + table->filled * table->row_size;
	memset(row, 0, table->row_size);
	table->filled++;
	return row;
}

enum tl_status tl_table_append(struct tl_table *table, const void *row)
{
	memcpy(tl_table_next(table), row, table->row_size);
	return table->results->failed ? table->results->error.code : TL_OK;
}

uint64_t tl_table_rows(const struct tl_table *table)
{
	return table->written + table->filled;
}

/* ---- the end ---- */

static enum tl_status finish(struct tl_results *results)
{
	for (struct tl_table *table = results->tables; table; table = table->next) {
		if (flush(table) != TL_OK)
			return results->error.code;
	}
	/* Flushed first, while a failure can still be told from a file half closed. */
	if (!results->failed && H5Fflush(results->file, H5F_SCOPE_GLOBAL) < 0)
		fail_h5(results, "write", "the result file");
	return results->failed ? results->error.code : TL_OK;
}

/* Types live outside the file; datasets are closed with it. */
static herr_t close_file(struct tl_results *results)
{
	for (struct tl_table *table = results->tables; table; table = table->next) {
		if (table->type >= 0)
			H5Tclose(table->type);
	}
	return H5Fclose(results->file);
}

enum tl_status tl_results_close(struct tl_results *results, struct tl_error *error)
{
	if (finish(results) == TL_OK && close_file(results) < 0) {
		/* The descriptor may be gone, or someone else's, by now. */
		results->descriptor = -1;
		fail_h5(results, "close", "the result file");
	}
	if (results->failed) {
		enum tl_status status = hand_out(results, error);

		tl_results_abandon(results);
		return status;
	}
	free_results(results);
	return TL_OK;
}

void tl_results_abandon(struct tl_results *results)
{
	unlink(results->path);
	if (!results->failed)
		close_file(results);
	else if (results->descriptor >= 0 && ftruncate(results->descriptor, 0) != 0)
		results->descriptor = -1; /* the disk is given back at exit, then */
	free_results(results);
}
