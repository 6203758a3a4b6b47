/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the writer and the reader both ask of HDF5. Private to results/.
 */
#ifndef TIDELAB_RESULTS_H5_H
#define TIDELAB_RESULTS_H5_H

#include "results/results.h"

#include <hdf5.h>

enum { TL_H5_CAUSE_MAX = 256, TL_H5_ENUM_MAX = 256 };
/* Attributes stay in the object header, however many: unit and help of each column. */
enum { TL_H5_COMPACT_ATTRIBUTES = 4096 };

/* Call before anything else of HDF5. Notes its errors instead of printing them, and
 * keeps it from closing files at exit: one abandoned after a failed write cannot be
 * closed. */
void tl_h5_start(void);

/* What HDF5 said of the last call that failed: its innermost cause, without addresses,
 * paths or times. Lives until the next one fails. */
const char *tl_h5_cause(void);

/* Access properties used everywhere: format pinned to HDF5 1.10, no file locks. */
hid_t tl_h5_file_access(void);

/* Bytes of a column in memory; 0 for a type that does not exist. */
size_t tl_h5_column_size(const struct tl_column *column);

/* A string of width bytes, NUL-padded, UTF-8. The caller closes it. Negative on failure. */
hid_t tl_h5_text_type(size_t width);

/* The HDF5 type of a column as this machine stores it, strings `width` bytes wide
 * and NUL-padded. The caller closes it. Negative on failure. */
hid_t tl_h5_column_type(const struct tl_column *column, size_t width);

/* A scalar attribute. Negative on failure. */
herr_t tl_h5_write_attribute(hid_t object, const char *name, hid_t type, const void *value);
/* A text, of fixed length: those of variable length lie in the one part of an HDF5 file
 * that has no checksum, and HDF5 crashes where it is damaged. */
herr_t tl_h5_write_text(hid_t object, const char *name, const char *value);

#endif
