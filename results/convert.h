/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From rows as stored to rows as the caller wants them: columns matched by name,
 * numbers widened or narrowed where they fit, enums by the names of their values.
 * Private to results/.
 */
#ifndef TIDELAB_RESULTS_CONVERT_H
#define TIDELAB_RESULTS_CONVERT_H

#include "results/stored.h"

struct tl_convert; /* opaque */

/* TL_E_DATA where a column is absent or of a kind that does not convert. stored and
 * wanted must outlive the result. */
enum tl_status tl_convert_create(const struct tl_stored *stored,
                                 const struct tl_table_schema *wanted, const char *file_name,
                                 struct tl_convert **out, struct tl_error *error);
void tl_convert_destroy(struct tl_convert *convert);

/* count rows as tl_stored_read() gave them, the first being row `first` of the table,
 * into rows of the wanted schema. TL_E_DATA for a value that has no place there. */
enum tl_status tl_convert_rows(const struct tl_convert *convert, const char *file_name,
                               const void *from, uint64_t first, size_t count, void *to,
                               struct tl_error *error);

#endif
