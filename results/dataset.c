/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/dataset.h"

#include "sim/base/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Level 1: three quarters of the time of writing is deflate as it is. */
enum { DEFLATE_LEVEL = 1 };

/* One at a time and by hand: groups HDF5 makes on the way carry the time of day. */
static herr_t make_groups(hid_t file, const char *path)
{
	herr_t done = 0;
	char *prefix = tl_strdup(path);
	hid_t creation = H5Pcreate(H5P_GROUP_CREATE);

	if (creation < 0 || H5Pset_obj_track_times(creation, false) < 0)
		done = -1;
	for (char *slash = prefix; done >= 0 && (slash = strchr(slash + 1, '/'));) {
		*slash = '\0';
		htri_t there = H5Lexists(file, prefix, H5P_DEFAULT);
		hid_t group = there == 0
		                  ? H5Gcreate2(file, prefix, H5P_DEFAULT, creation, H5P_DEFAULT)
		                  : H5I_INVALID_HID;
		if (there < 0 || (there == 0 && group < 0))
			done = -1;
		if (group >= 0)
			H5Gclose(group);
		*slash = '/';
	}
	if (creation >= 0)
		H5Pclose(creation);
	free(prefix);
	return done;
}

static hid_t row_type(const struct tl_table_schema *schema, const struct tl_pack *pack)
{
	hid_t row = H5Tcreate(H5T_COMPOUND, tl_pack_row_size(pack));

	for (size_t i = 0; row >= 0 && i < schema->column_count; i++) {
		hid_t type = tl_h5_column_type(&schema->columns[i], tl_pack_column_size(pack, i));

		if (type < 0 || H5Tinsert(row, schema->columns[i].name,
		                          tl_pack_column_offset(pack, i), type) < 0) {
			H5Tclose(row);
			row = H5I_INVALID_HID;
		}
		if (type >= 0)
			H5Tclose(type);
	}
	return row;
}

static hid_t create_dataset(hid_t file, const char *path, hid_t type, hsize_t block)
{
	hsize_t none = 0;
	hsize_t unlimited = H5S_UNLIMITED;
	hid_t dataset = H5I_INVALID_HID;
	hid_t space = H5Screate_simple(1, &none, &unlimited);
	hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
	hid_t access = H5Pcreate(H5P_DATASET_ACCESS);

	/* No chunk cache: blocks are written whole, and a failure shows at once. */
	if (space >= 0 && creation >= 0 && access >= 0 &&
	    H5Pset_obj_track_times(creation, false) >= 0 &&
	    H5Pset_chunk(creation, 1, &block) >= 0 &&
	    H5Pset_fill_time(creation, H5D_FILL_TIME_ALLOC) >= 0 && H5Pset_shuffle(creation) >= 0 &&
	    H5Pset_deflate(creation, DEFLATE_LEVEL) >= 0 &&
	    H5Pset_attr_phase_change(creation, TL_H5_COMPACT_ATTRIBUTES, 0) >= 0 &&
	    H5Pset_chunk_cache(access, 1, 0, 1.0) >= 0)
		dataset = H5Dcreate2(file, path, type, space, H5P_DEFAULT, creation, access);
	if (space >= 0)
		H5Sclose(space);
	if (creation >= 0)
		H5Pclose(creation);
	if (access >= 0)
		H5Pclose(access);
	return dataset;
}

static herr_t describe_column(hid_t dataset, const char *what, const char *column, const char *text)
{
	char name[128];
	int length = snprintf(name, sizeof(name), "%s.%s", what, column);

	if (length < 0 || (size_t)length >= sizeof(name))
		return -1;
	return tl_h5_write_text(dataset, name, text ? text : "");
}

static herr_t describe(hid_t dataset, const struct tl_table_schema *schema)
{
	if (tl_h5_write_text(dataset, "help", schema->help ? schema->help : "") < 0)
		return -1;
	for (size_t i = 0; i < schema->column_count; i++) {
		const struct tl_column *column = &schema->columns[i];

		if (describe_column(dataset, "unit", column->name, column->unit) < 0 ||
		    describe_column(dataset, "help", column->name, column->help) < 0)
			return -1;
	}
	return 0;
}

hid_t tl_dataset_create(hid_t file, const struct tl_table_schema *schema,
                        const struct tl_pack *pack, size_t block_rows, hid_t *type)
{
	hid_t dataset = H5I_INVALID_HID;

	*type = row_type(schema, pack);
	if (*type >= 0 && make_groups(file, schema->path) >= 0)
		dataset = create_dataset(file, schema->path, *type, block_rows);
	if (dataset >= 0 && describe(dataset, schema) < 0) {
		H5Dclose(dataset);
		return H5I_INVALID_HID;
	}
	return dataset;
}
