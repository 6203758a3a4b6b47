/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The dataset of a table: groups on the way, type, chunks, filters, and what its
 * attributes say of each column. Private to results/.
 */
#ifndef TIDELAB_RESULTS_DATASET_H
#define TIDELAB_RESULTS_DATASET_H

#include "results/h5.h"
#include "results/pack.h"

/* An empty dataset in chunks of block_rows rows. *type is that of a packed row, to be
 * closed by the caller (negative if it could not be made). Negative on failure. */
hid_t tl_dataset_create(hid_t file, const struct tl_table_schema *schema,
                        const struct tl_pack *pack, size_t block_rows, hid_t *type);

#endif
