/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From row structs to the bytes of the file: columns in the schema's order, no
 * padding, strings filled up with NULs. Private to results/.
 */
#ifndef TIDELAB_RESULTS_PACK_H
#define TIDELAB_RESULTS_PACK_H

#include "results/results.h"

struct tl_pack; /* opaque */

/* text_sizes as in tl_results_table(). TL_E_INTERNAL for a schema that is not sound:
 * no columns, a column outside the row, a string of no size, an enum without names. */
enum tl_status tl_pack_create(const struct tl_table_schema *schema, const size_t *text_sizes,
                              struct tl_pack **out, struct tl_error *error);
void tl_pack_destroy(struct tl_pack *pack);

/* Bytes of a packed row, of a column in it, and where that column begins. */
size_t tl_pack_row_size(const struct tl_pack *pack);
size_t tl_pack_column_size(const struct tl_pack *pack, size_t column);
size_t tl_pack_column_offset(const struct tl_pack *pack, size_t column);

/* Packs count rows; first is the number of the first of them, for messages.
 * TL_E_INTERNAL for a text that does not fit its column or an enum value without a name. */
enum tl_status tl_pack_rows(const struct tl_pack *pack, const void *rows, size_t count,
                            uint64_t first, void *packed, struct tl_error *error);

#endif
