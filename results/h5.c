/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/h5.h"

#include <stdio.h>
#include <string.h>

/* Of the last call that failed. HDF5 itself forgets with the next call, be it only
 * one that tidies up. */
static char last_cause[TL_H5_CAUSE_MAX];

static herr_t keep_innermost(unsigned depth, const H5E_error2_t *entry, void *into)
{
	const char **cause = into;

	if (depth == 0)
		*cause = entry->desc;
	return 0;
}

static herr_t on_failure(hid_t stack, void *unused)
{
	static const char mark[] = "error message = '";
	const char *cause = NULL;

	(void)unused;
	(void)H5Ewalk2(stack, H5E_WALK_UPWARD, keep_innermost, &cause);
	if (!cause)
		return 0;
	/* A failed system call is described with its buffer's address and the time of
	 * day; only what errno said may get out. */
	const char *said = strstr(cause, mark);
	if (said) {
		said += sizeof(mark) - 1;
		snprintf(last_cause, sizeof(last_cause), "%.*s", (int)strcspn(said, "'"), said);
	} else {
		snprintf(last_cause, sizeof(last_cause), "%s", cause);
	}
	return 0;
}

void tl_h5_start(void)
{
	(void)H5dont_atexit(); /* refuses the second time, which is as good */
	(void)H5open();
	(void)H5Eset_auto2(H5E_DEFAULT, on_failure, NULL);
}

const char *tl_h5_cause(void)
{
	return last_cause[0] ? last_cause : "no cause given";
}

hid_t tl_h5_file_access(void)
{
	hid_t access = H5Pcreate(H5P_FILE_ACCESS);

	if (access < 0)
		return access;
	if (H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
	    H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) < 0 ||
	    H5Pset_file_locking(access, false, true) < 0) {
		H5Pclose(access);
		return H5I_INVALID_HID;
	}
	return access;
}

size_t tl_h5_column_size(const struct tl_column *column)
{
	switch (column->type) {
	case TL_COLUMN_I64:
	case TL_COLUMN_U64:
	case TL_COLUMN_F64:
		return 8;
	case TL_COLUMN_I32:
	case TL_COLUMN_U32:
		return 4;
	case TL_COLUMN_U16:
		return 2;
	case TL_COLUMN_U8:
	case TL_COLUMN_ENUM:
		return 1;
	case TL_COLUMN_TEXT:
		return column->size;
	}
	return 0;
}

hid_t tl_h5_text_type(size_t width)
{
	hid_t type = H5Tcopy(H5T_C_S1);

	if (type >= 0 &&
	    (H5Tset_size(type, width) < 0 || H5Tset_strpad(type, H5T_STR_NULLPAD) < 0 ||
	     H5Tset_cset(type, H5T_CSET_UTF8) < 0)) {
		H5Tclose(type);
		return H5I_INVALID_HID;
	}
	return type;
}

static hid_t enum_type(const char *const *names)
{
	hid_t type = H5Tenum_create(H5T_NATIVE_UINT8);

	if (type < 0)
		return type;
	for (unsigned i = 0; names[i]; i++) {
		uint8_t value = (uint8_t)i;

		if (i >= TL_H5_ENUM_MAX || H5Tenum_insert(type, names[i], &value) < 0) {
			H5Tclose(type);
			return H5I_INVALID_HID;
		}
	}
	return type;
}

hid_t tl_h5_column_type(const struct tl_column *column, size_t width)
{
	switch (column->type) {
	case TL_COLUMN_I64:
		return H5Tcopy(H5T_NATIVE_INT64);
	case TL_COLUMN_U64:
		return H5Tcopy(H5T_NATIVE_UINT64);
	case TL_COLUMN_I32:
		return H5Tcopy(H5T_NATIVE_INT32);
	case TL_COLUMN_U32:
		return H5Tcopy(H5T_NATIVE_UINT32);
	case TL_COLUMN_U16:
		return H5Tcopy(H5T_NATIVE_UINT16);
	case TL_COLUMN_U8:
		return H5Tcopy(H5T_NATIVE_UINT8);
	case TL_COLUMN_F64:
		return H5Tcopy(H5T_NATIVE_DOUBLE);
	case TL_COLUMN_TEXT:
		return tl_h5_text_type(width);
	case TL_COLUMN_ENUM:
		return enum_type(column->names);
	}
	return H5I_INVALID_HID;
}

herr_t tl_h5_write_attribute(hid_t object, const char *name, hid_t type, const void *value)
{
	herr_t done = -1;
	hid_t space = H5Screate(H5S_SCALAR);

	if (space < 0)
		return -1;
	hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
	if (attribute >= 0) {
		done = H5Awrite(attribute, type, value);
		if (H5Aclose(attribute) < 0)
			done = -1;
	}
	H5Sclose(space);
	return done;
}

herr_t tl_h5_write_text(hid_t object, const char *name, const char *value)
{
	size_t length = strlen(value);
	hid_t type = tl_h5_text_type(length > 0 ? length : 1);

	if (type < 0)
		return -1;
	herr_t done = tl_h5_write_attribute(object, name, type, value);
	H5Tclose(type);
	return done;
}
