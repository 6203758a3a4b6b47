/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table as it lies in a file: its schema, and the type to read it with.
 * Private to results/.
 */
#ifndef TIDELAB_RESULTS_STORED_H
#define TIDELAB_RESULTS_STORED_H

#include "results/h5.h"

/* A column in the buffer that tl_stored_read() fills. */
struct tl_stored_column {
	size_t offset;
	size_t size;
	size_t choices; /* ENUM: how many names it has */
};

struct tl_stored {
	struct tl_table_schema schema; /* rows as tl_results_read() lays them out for it */
	struct tl_column *columns;     /* those of schema */
	struct tl_stored_column *places;
	char *path;
	char *help;
	hid_t dataset;
	hid_t type;      /* packed, of this machine */
	size_t row_size; /* of that type */
	uint64_t rows;
};

/* file_name is for messages. TL_E_DATA for a dataset that is no table of ours. */
enum tl_status tl_stored_open(hid_t file, const char *file_name, const char *path,
                              struct tl_stored **out, struct tl_error *error);
void tl_stored_close(struct tl_stored *stored);

/* Rows first … first + count into buffer; TL_E_DATA where the file is damaged. */
enum tl_status tl_stored_read(const struct tl_stored *stored, const char *file_name, uint64_t first,
                              size_t count, void *buffer, struct tl_error *error);

/* A text attribute of fixed length, malloc'd; NULL where absent or of another type. */
char *tl_stored_text(hid_t object, const char *name);

#endif
