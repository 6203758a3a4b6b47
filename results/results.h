/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result file: HDF5, self-describing, byte-identical on a re-run.
 *
 * A table is a chunked, compressed one-dimensional dataset of a compound type.
 * Rows go in as C structs; a writer keeps one block of rows per table in memory
 * and writes it out when full. Nothing outside results/ touches HDF5.
 */
#ifndef TIDELAB_RESULTS_RESULTS_H
#define TIDELAB_RESULTS_RESULTS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_RESULTS_SCHEMA_MAJOR = 1, TL_RESULTS_SCHEMA_MINOR = 0 };

enum tl_column_type {
	TL_COLUMN_I64,
	TL_COLUMN_U64,
	TL_COLUMN_I32,
	TL_COLUMN_U32,
	TL_COLUMN_U16,
	TL_COLUMN_U8,
	TL_COLUMN_F64,
	TL_COLUMN_TEXT, /* fixed string of `size` bytes, NUL-padded */
	TL_COLUMN_ENUM  /* uint8_t in memory, an HDF5 enum in the file; names: NULL-terminated */
};

struct tl_column {
	const char *name; /* units last: wait_ns */
	enum tl_column_type type;
	size_t offset;            /* in the row struct */
	size_t size;              /* TEXT: bytes with NUL in memory; otherwise 0 */
	const char *unit;         /* `ns`, `mgpu`, `1`, `` … */
	const char *help;         /* one line */
	const char *const *names; /* ENUM */
};

struct tl_table_schema {
	const char *path; /* `/jobs`, `/cluster/timeline`, `/services/<name>/windows` */
	const char *help;
	size_t row_size; /* sizeof the row struct */
	const struct tl_column *columns;
	size_t column_count;
};

/* ---- writing ---- */

struct tl_results; /* opaque */
struct tl_table;   /* opaque; freed with its results */

/* Creates path (truncating: the caller hands a temporary name and renames).
 * On failure nothing is left behind. */
enum tl_status tl_results_create(const char *path, struct tl_results **out, struct tl_error *error);

/* Adds a table; intermediate groups are made. Column units and help become
 * attributes `unit.<column>` and `help.<column>` of the dataset. text_sizes (may be
 * NULL): for each column, the width of TEXT in the file where it is to be narrower than
 * in memory; 0: as in memory. A text wider than that fails the file, it is not cut. */
enum tl_status tl_results_table(struct tl_results *results, const struct tl_table_schema *schema,
                                const size_t *text_sizes, struct tl_table **out,
                                struct tl_error *error);

/* Appends one row (copied). A full block goes to the file; the first failure is
 * kept and returned by every later call and by close. */
enum tl_status tl_table_append(struct tl_table *table, const void *row);
/* Room for the next row inside the block, zeroed, to be filled in place: the
 * fast form of append. Counts as appended. Never NULL (after a failure a scratch row). */
void *tl_table_next(struct tl_table *table);
uint64_t tl_table_rows(const struct tl_table *table);

/* Attributes of the root group. */
enum tl_status tl_results_attr_text(struct tl_results *results, const char *name, const char *value,
                                    struct tl_error *error);
enum tl_status tl_results_attr_i64(struct tl_results *results, const char *name, int64_t value,
                                   struct tl_error *error);

/* Flushes, closes and frees. On failure (a full disk, say) HDF5 is not asked to
 * close cleanly: the file is unlinked and the handle abandoned. */
enum tl_status tl_results_close(struct tl_results *results, struct tl_error *error);
/* Gives up: unlinks the file and frees. */
void tl_results_abandon(struct tl_results *results);

/* ---- reading ---- */

struct tl_results_reader; /* opaque */

/* TL_E_NOINPUT, or TL_E_DATA for a file that is not ours, cut short, or of a newer schema. */
enum tl_status tl_results_open(const char *path, struct tl_results_reader **out,
                               struct tl_error *error);
void tl_results_reader_close(struct tl_results_reader *reader);
bool tl_results_has(struct tl_results_reader *reader, const char *table_path);
/* Paths of all tables, in name order: NULL-terminated; lives as long as the reader. */
const char *const *tl_results_tables(struct tl_results_reader *reader);
/* The whole table as rows of the caller's schema (columns matched by name; a column
 * the file lacks is TL_E_DATA). *rows is malloc'd. */
enum tl_status tl_results_read(struct tl_results_reader *reader,
                               const struct tl_table_schema *schema, void **rows, size_t *count,
                               struct tl_error *error);
/* A table of any length, a block of rows at a time. schema as in tl_results_read(). The
 * reader must outlive it. */
struct tl_results_cursor; /* opaque */
enum tl_status tl_results_cursor_open(struct tl_results_reader *reader,
                                      const struct tl_table_schema *schema,
                                      struct tl_results_cursor **out, struct tl_error *error);
void tl_results_cursor_close(struct tl_results_cursor *cursor);
/* The next block: count ≥ 1 rows, until the next call. TL_END after the last. */
enum tl_status tl_results_cursor_next(struct tl_results_cursor *cursor, const void **rows,
                                      size_t *count, struct tl_error *error);
/* The same from the end of the table; within a block rows stand as in the file. A cursor
 * goes one way. */
enum tl_status tl_results_cursor_back(struct tl_results_cursor *cursor, const void **rows,
                                      size_t *count, struct tl_error *error);
/* The schema as stored (names, types, units, help), for generic export. Lives as long
 * as the reader. */
enum tl_status tl_results_schema(struct tl_results_reader *reader, const char *table_path,
                                 const struct tl_table_schema **out, struct tl_error *error);
/* A text attribute of the root; malloc'd; NULL where absent. */
char *tl_results_get_text(struct tl_results_reader *reader, const char *name);
/* A whole-number attribute of the root; false where absent or of another type. */
bool tl_results_get_i64(struct tl_results_reader *reader, const char *name, int64_t *out);

#endif
