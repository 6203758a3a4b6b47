/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tidelab's own trace format: its columns and its writer. See traces/README.md. */
#ifndef TIDELAB_TRACES_CANONICAL_H
#define TIDELAB_TRACES_CANONICAL_H

#include "traces/trace.h"

#include <stdio.h>

enum tl_canonical_column {
	TL_CANONICAL_ID,
	TL_CANONICAL_SUBMIT,
	TL_CANONICAL_DURATION,
	TL_CANONICAL_GPUS,
	TL_CANONICAL_WORKERS,
	TL_CANONICAL_GPU_MEMORY,
	TL_CANONICAL_CPU,
	TL_CANONICAL_RAM,
	TL_CANONICAL_ESTIMATE,
	TL_CANONICAL_DEADLINE,
	TL_CANONICAL_STATE,
	TL_CANONICAL_UTILISATION,
	TL_CANONICAL_TENANT,
	TL_CANONICAL_QUEUE,
	TL_CANONICAL_MODELS,
	TL_CANONICAL_ROLE,
	TL_CANONICAL_PRIORITY,
	TL_CANONICAL_KIND,
	TL_CANONICAL_OUTCOME,
	TL_CANONICAL_COLUMNS
};
extern const char *const tl_canonical_columns[TL_CANONICAL_COLUMNS];

/* Names of a record's numbers, where they do not come from a trace's tables. NULL: none. */
struct tl_canonical_names {
	const char *tenant, *queue, *models, *role;
};

void tl_canonical_write_header(FILE *out);
void tl_canonical_write_record(FILE *out, const struct tl_trace_record *record,
                               const struct tl_canonical_names *names);

/* Writes all that is left of trace. TL_E_IO where the stream fails, TL_E_INTERRUPTED once a
 * signal was caught. */
enum tl_status tl_canonical_write(struct tl_trace *trace, FILE *out, struct tl_error *error);

/* TL_E_IO, with errno's reason. */
enum tl_status tl_canonical_failed(struct tl_error *error);

#endif
