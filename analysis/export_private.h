/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the exports share. Private to analysis/. */
#ifndef TIDELAB_ANALYSIS_EXPORT_PRIVATE_H
#define TIDELAB_ANALYSIS_EXPORT_PRIVATE_H

#include "results/results.h"

#include <stdio.h>

/* Called with each block of a table. */
typedef enum tl_status (*tl_export_block)(void *context, const void *rows, size_t count,
                                          struct tl_error *error);

/* A whole table through one function, from its start (or its end, rows of a block still
 * ascending); looks for signals and failed writes between blocks. */
enum tl_status tl_export_walk(struct tl_results_reader *reader,
                              const struct tl_table_schema *schema, bool backwards,
                              tl_export_block block, void *context, FILE *out,
                              struct tl_error *error);

/* TL_E_DATA where the result lacks the table: asked before the first byte is written. */
enum tl_status tl_export_need(struct tl_results_reader *reader,
                              const struct tl_table_schema *schema, struct tl_error *error);

/* A text in quotes. */
void tl_export_json_text(const char *text, FILE *out);

/* ns as a decimal of a unit of 10^digits ns, exactly: 1234 with 3 digits is 1.234. */
void tl_export_decimal(int64_t ns, int digits, FILE *out);

#endif
