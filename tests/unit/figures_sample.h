/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A small result to draw, r.h5 in the scratch folder: two nodes of 4 GPUs, 10 hours. */
#ifndef TIDELAB_TESTS_FIGURES_SAMPLE_H
#define TIDELAB_TESTS_FIGURES_SAMPLE_H

#include "results/schema.h"

#include <stdbool.h>

/* All of it; the nodes' names end so. */
void sample_write(const char *suffix);

/* Piece by piece. */
struct tl_results *sample_begin(void);
/* A row more of the table, which the first one makes. */
void *sample_add(struct tl_results *results, struct tl_table **table,
                 const struct tl_table_schema *schema);
void sample_timeline(struct tl_results *results, bool ordered);
void sample_jobs(struct tl_results *results);
void sample_nodes(struct tl_results *results, const char *suffix);
void sample_placements(struct tl_results *results, uint64_t last_job);
void sample_windows(struct tl_results *results, const char *service, bool ordered);

#endif
