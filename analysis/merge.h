/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A sweep's folder as one file: the tables of tl_schema_sweep_all. */
#ifndef TIDELAB_ANALYSIS_MERGE_H
#define TIDELAB_ANALYSIS_MERGE_H

#include "sim/base/error.h"

#include <stdbool.h>

/* The bytes at `path` follow from the runs alone. TL_E_NOINPUT: dir is no sweep; TL_E_DATA:
 * runs failed or are missing, and not partial. On failure nothing is left at path. */
enum tl_status tl_merge(const char *dir, bool partial, const char *path, struct tl_error *error);

#endif
