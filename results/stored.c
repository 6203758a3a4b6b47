/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/stored.h"

#include "sim/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum tl_status damaged(const char *file_name, const char *path, struct tl_error *error)
{
	return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
	                    "table %s: the file is damaged or cut short: %s", path, tl_h5_cause());
}

/* ---- attributes ---- */

/* Longer ones are none of ours: whatever a damaged length says, it is not asked for. */
enum { TEXT_MAX = 1 << 28 };

static char *read_fixed(hid_t attribute, hid_t type)
{
	size_t size = H5Tget_size(type);
	char *text = size > 0 && size < TEXT_MAX ? tl_calloc(1, size + 1) : NULL;

	if (text && H5Aread(attribute, type, text) < 0) {
		free(text);
		text = NULL;
	}
	return text;
}

char *tl_stored_text(hid_t object, const char *name)
{
	char *text = NULL;

	if (H5Aexists(object, name) <= 0)
		return NULL;
	hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
	if (attribute < 0)
		return NULL;
	hid_t type = H5Aget_type(attribute);
	hid_t space = H5Aget_space(attribute);
	if (type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
	    H5Tis_variable_str(type) == 0 && H5Sget_simple_extent_npoints(space) == 1)
		text = read_fixed(attribute, type);
	if (type >= 0)
		H5Tclose(type);
	if (space >= 0)
		H5Sclose(space);
	H5Aclose(attribute);
	return text;
}

static char *column_text(hid_t dataset, const char *what, const char *column)
{
	size_t size = strlen(what) + strlen(column) + 2;
	char *name = tl_alloc(size);
	char *text;

	snprintf(name, size, "%s.%s", what, column);
	text = tl_stored_text(dataset, name);
	free(name);
	return text ? text : tl_strdup("");
}

/* ---- types ---- */

/* Every width and sign has a column type that holds it; HDF5 widens on reading. */
static bool integer_type(hid_t member, enum tl_column_type *type)
{
	bool negative = H5Tget_sign(member) != H5T_SGN_NONE;

	switch (H5Tget_size(member)) {
	case 1:
		*type = negative ? TL_COLUMN_I32 : TL_COLUMN_U8;
		return true;
	case 2:
		*type = negative ? TL_COLUMN_I32 : TL_COLUMN_U16;
		return true;
	case 4:
		*type = negative ? TL_COLUMN_I32 : TL_COLUMN_U32;
		return true;
	case 8:
		*type = negative ? TL_COLUMN_I64 : TL_COLUMN_U64;
		return true;
	default:
		return false;
	}
}

static void free_names(const char *const *names)
{
	if (!names)
		return;
	for (size_t i = 0; names[i]; i++)
		free((void *)(uintptr_t)names[i]);
	free((void *)(uintptr_t)names);
}

/* Names by value; NULL unless the values are 0, 1, 2 … in order and fit a byte. */
static const char *const *enum_names(hid_t member, size_t *count)
{
	int names_wanted = H5Tget_nmembers(member);
	hid_t base = H5Tget_super(member);
	bool sound = base >= 0 && H5Tget_size(base) == 1 && names_wanted > 0 &&
	             names_wanted <= TL_H5_ENUM_MAX;

	if (base >= 0)
		H5Tclose(base);
	if (!sound)
		return NULL;
	const char **names = tl_calloc((size_t)names_wanted + 1, sizeof(*names));
	for (int i = 0; names && i < names_wanted; i++) {
		uint8_t value = 0;
		char *theirs = H5Tget_member_name(member, (unsigned)i);

		if (theirs && H5Tget_member_value(member, (unsigned)i, &value) >= 0 && value == i)
			names[i] = tl_strdup(theirs);
		H5free_memory(theirs);
		if (!names[i]) {
			free_names(names);
			names = NULL;
		}
	}
	*count = (size_t)names_wanted;
	return names;
}

/* Fills type, size and names of column from the member's type; false: not ours. */
static bool describe_member(hid_t member, struct tl_column *column, struct tl_stored_column *place)
{
	switch (H5Tget_class(member)) {
	case H5T_INTEGER:
		return integer_type(member, &column->type);
	case H5T_FLOAT:
		column->type = TL_COLUMN_F64;
		return H5Tget_size(member) <= sizeof(double);
	case H5T_STRING:
		column->type = TL_COLUMN_TEXT;
		column->size = H5Tget_size(member) + 1;
		return H5Tis_variable_str(member) == 0 && column->size > 1;
	case H5T_ENUM:
		column->type = TL_COLUMN_ENUM;
		column->names = enum_names(member, &place->choices);
		return column->names != NULL;
	default:
		return false;
	}
}

/* Text and enums are read as they lie, so that a foreign padding or value is seen by
 * us and not mended on the way. */
static hid_t memory_type(hid_t member, const struct tl_column *column)
{
	if (column->type == TL_COLUMN_TEXT || column->type == TL_COLUMN_ENUM)
		return H5Tcopy(member);
	return tl_h5_column_type(column, 0);
}

static bool load_column(struct tl_stored *stored, hid_t row, unsigned i, hid_t *memory)
{
	struct tl_column *column = &stored->columns[i];
	struct tl_stored_column *place = &stored->places[i];
	hid_t member = H5Tget_member_type(row, i);
	char *name = H5Tget_member_name(row, i);

	*memory = H5I_INVALID_HID;
	column->name = tl_strdup(name ? name : "");
	H5free_memory(name);
	if (member >= 0) {
		column->unit = column_text(stored->dataset, "unit", column->name);
		column->help = column_text(stored->dataset, "help", column->name);
		if (describe_member(member, column, place))
			*memory = memory_type(member, column);
	}
	if (member >= 0)
		H5Tclose(member);
	if (*memory < 0)
		return false;
	place->size = H5Tget_size(*memory);
	return true;
}

/* ---- opening ---- */

/* Rows for the generic reader: each column where its alignment allows. */
static void lay_out(struct tl_stored *stored)
{
	size_t at = 0;

	for (size_t i = 0; i < stored->schema.column_count; i++) {
		struct tl_column *column = &stored->columns[i];
		size_t size = tl_h5_column_size(column);
		size_t align = column->type == TL_COLUMN_TEXT ? 1 : size;

		at = (at + align - 1) / align * align;
		column->offset = at;
		at += size;
	}
	stored->schema.row_size = (at + 7) / 8 * 8;
}

static enum tl_status load_columns(struct tl_stored *stored, hid_t row, const char *file_name,
                                   struct tl_error *error)
{
	int count = H5Tget_class(row) == H5T_COMPOUND ? H5Tget_nmembers(row) : 0;

	if (count <= 0)
		return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                    "%s: got a dataset without columns, wanted a table",
		                    stored->path);
	stored->columns = tl_calloc((size_t)count, sizeof(*stored->columns));
	stored->places = tl_calloc((size_t)count, sizeof(*stored->places));
	hid_t *memory = tl_calloc((size_t)count, sizeof(*memory));
	enum tl_status status = TL_OK;
	stored->schema.column_count = (size_t)count;
	stored->schema.columns = stored->columns;
	int loaded = 0;
	for (; loaded < count && status == TL_OK; loaded++) {
		if (!load_column(stored, row, (unsigned)loaded, &memory[loaded])) {
			status =
			    tl_error_set(error, TL_E_DATA, file_name, 0, 0,
			                 "table %s, column `%s`: got a type this version does "
			                 "not know, wanted an integer of 1 to 8 bytes, a float, "
			                 "a fixed string or an enum of one byte counting from 0",
			                 stored->path, stored->columns[loaded].name);
			memory[loaded] = H5I_INVALID_HID;
		}
		stored->places[loaded].offset = stored->row_size;
		stored->row_size += stored->places[loaded].size;
	}
	if (status == TL_OK) {
		stored->type = H5Tcreate(H5T_COMPOUND, stored->row_size);
		for (int i = 0; i < count; i++) {
			if (H5Tinsert(stored->type, stored->columns[i].name,
			              stored->places[i].offset, memory[i]) < 0)
				status = damaged(file_name, stored->path, error);
		}
	}
	for (int i = 0; i < loaded; i++) {
		if (memory[i] >= 0)
			H5Tclose(memory[i]);
	}
	free(memory);
	return status;
}

/* A damaged length must not make us ask for memory, or hand out rows, without end. */
static bool rows_exist(hid_t dataset, hid_t space, uint64_t rows)
{
	hsize_t chunk = 0;
	hsize_t chunks = 0;
	bool exist = false;
	hid_t creation = H5Dget_create_plist(dataset);
	hid_t type = H5Dget_type(dataset);

	if (rows == 0) {
		exist = true;
	} else if (creation >= 0 && type >= 0 && H5Pget_layout(creation) == H5D_CHUNKED) {
		exist = H5Pget_chunk(creation, 1, &chunk) == 1 && chunk > 0 &&
		        H5Dget_num_chunks(dataset, space, &chunks) >= 0 &&
		        (rows - 1) / chunk < chunks;
	} else if (creation >= 0 && type >= 0) {
		exist = H5Dget_storage_size(dataset) / H5Tget_size(type) >= rows;
	}
	if (creation >= 0)
		H5Pclose(creation);
	if (type >= 0)
		H5Tclose(type);
	return exist;
}

static enum tl_status load_extent(struct tl_stored *stored, const char *file_name,
                                  struct tl_error *error)
{
	hsize_t rows = 0;
	enum tl_status status = TL_OK;
	hid_t space = H5Dget_space(stored->dataset);

	if (space < 0)
		return damaged(file_name, stored->path, error);
	if (H5Sget_simple_extent_ndims(space) != 1 ||
	    H5Sget_simple_extent_dims(space, &rows, NULL) != 1)
		status = tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                      "%s: got a dataset of %d dimensions, wanted a table of one",
		                      stored->path, H5Sget_simple_extent_ndims(space));
	else if (!rows_exist(stored->dataset, space, rows))
		status = tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                      "table %s: the file is damaged or cut short: it claims %llu "
		                      "rows and holds fewer",
		                      stored->path, (unsigned long long)rows);
	H5Sclose(space);
	stored->rows = rows;
	return status;
}

enum tl_status tl_stored_open(hid_t file, const char *file_name, const char *path,
                              struct tl_stored **out, struct tl_error *error)
{
	enum tl_status status = TL_OK;
	struct tl_stored *stored = tl_calloc(1, sizeof(*stored));

	stored->path = tl_strdup(path);
	stored->type = H5I_INVALID_HID;
	stored->dataset = H5Dopen2(file, path, H5P_DEFAULT);
	hid_t row = stored->dataset >= 0 ? H5Dget_type(stored->dataset) : H5I_INVALID_HID;
	if (row < 0)
		status = damaged(file_name, path, error);
	if (status == TL_OK)
		status = load_columns(stored, row, file_name, error);
	if (status == TL_OK)
		status = load_extent(stored, file_name, error);
	if (row >= 0)
		H5Tclose(row);
	if (status != TL_OK) {
		tl_stored_close(stored);
		return status;
	}
	stored->help = tl_stored_text(stored->dataset, "help");
	stored->schema.path = stored->path;
	stored->schema.help = stored->help ? stored->help : "";
	lay_out(stored);
	*out = stored;
	return TL_OK;
}

void tl_stored_close(struct tl_stored *stored)
{
	if (!stored)
		return;
	for (size_t i = 0; i < stored->schema.column_count; i++) {
		struct tl_column *column = &stored->columns[i];

		free((void *)(uintptr_t)column->name);
		free((void *)(uintptr_t)column->unit);
		free((void *)(uintptr_t)column->help);
		free_names(column->names);
	}
	if (stored->type >= 0)
		H5Tclose(stored->type);
	if (stored->dataset >= 0)
		H5Dclose(stored->dataset);
	free(stored->columns);
	free(stored->places);
	free(stored->path);
	free(stored->help);
	free(stored);
}

enum tl_status tl_stored_read(const struct tl_stored *stored, const char *file_name, uint64_t first,
                              size_t count, void *buffer, struct tl_error *error)
{
	hsize_t start = first;
	hsize_t block = count;
	herr_t done = -1;
	hid_t file_space = H5Dget_space(stored->dataset);
	hid_t memory_space = H5Screate_simple(1, &block, NULL);

	if (file_space >= 0 && memory_space >= 0 &&
	    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &start, NULL, &block, NULL) >= 0)
		done = H5Dread(stored->dataset, stored->type, memory_space, file_space, H5P_DEFAULT,
		               buffer);
	if (file_space >= 0)
		H5Sclose(file_space);
	if (memory_space >= 0)
		H5Sclose(memory_space);
	return done < 0 ? damaged(file_name, stored->path, error) : TL_OK;
}
