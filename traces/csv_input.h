/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of a CSV file, through libcsv, with the line each starts on; columns by name. */
#ifndef TIDELAB_TRACES_CSV_INPUT_H
#define TIDELAB_TRACES_CSV_INPUT_H

#include "traces/input.h"

#include <csv.h>

struct tl_csv_column {
	const char *name;
	bool required;
	bool silent; /* optional, and its absence is not worth a word */
};

struct tl_csv {
	struct tl_input input;
	struct csv_parser parser;
	/* the current row */
	char *data; /* fields, each with its NUL, one after the other */
	size_t data_size, data_capacity;
	size_t *starts; /* of fields in data */
	size_t count, starts_capacity;
	long line; /* it starts on; 1-based */
	bool complete;
	/* the header */
	char **names;
	size_t name_count;
};

enum tl_status tl_csv_open(struct tl_csv *csv, const char *path, struct tl_lint *lint,
                           struct tl_error *error);
void tl_csv_close(struct tl_csv *csv);

/* Reads the first row as column names and finds each wanted column: positions[i] is
 * its place or -1. Unknown columns and another order are counted; a required column
 * that is missing, or a name that stands twice, is an error. */
enum tl_status tl_csv_header(struct tl_csv *csv, const struct tl_csv_column *columns, size_t count,
                             int *positions, struct tl_error *error);

/* The next row: fields through tl_csv_field. Blank lines are skipped and counted. */
enum tl_status tl_csv_row(struct tl_csv *csv, struct tl_error *error);

/* Field at a position of the header; empty where the row or the column is missing. */
const char *tl_csv_field(const struct tl_csv *csv, int position);

/* 64-bit hash of the row's fields. */
uint64_t tl_csv_hash(const struct tl_csv *csv);

#endif
