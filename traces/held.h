/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records in memory, compactly (about 130 bytes and the id each), and what is only
 * possible there: sorting, resampling to a demand, shuffling. */
#ifndef TIDELAB_TRACES_HELD_H
#define TIDELAB_TRACES_HELD_H

#include "traces/trace.h"

struct tl_held_row {
	int64_t submit_ns, duration_ns, estimate_ns, deadline_ns;
	int64_t gpus_mgpu, gpu_memory_bytes, cpu_milli, ram_bytes, state_bytes;
	uint64_t row;
	size_t id_at; /* in ids; SIZE_MAX: the line number */
	long line;
	uint32_t workers, tenant, queue, models, role;
	uint32_t copy; /* k of the k-th copy drawn for a demand; 0: the row itself */
	int32_t utilisation_milli, priority;
	uint8_t kind, outcome;
};

struct tl_held {
	struct tl_held_row *rows; /* in input order */
	size_t count, capacity;
	char *ids;
	size_t ids_size, ids_capacity;
	size_t *order; /* once ordered: places in rows, as they are handed out */
	size_t order_count;
};

void tl_held_init(struct tl_held *held);
void tl_held_fini(struct tl_held *held);
void tl_held_add(struct tl_held *held, const struct tl_trace_record *record);
/* Row i as a record (id of a copy: `<id>#k`, cut to fit). */
void tl_held_get(const struct tl_held *held, size_t i, struct tl_trace_record *out);
/* Writes back what time's origin and the scales changed, and the number among the kept. */
void tl_held_set_times(struct tl_held *held, size_t i, const struct tl_trace_record *record);

/* order = all rows by (submit, input row). */
void tl_held_sort(struct tl_held *held);
/* order = all rows as read. */
void tl_held_as_read(struct tl_held *held);
/* Permutes order, each permutation equally likely. */
void tl_held_shuffle(struct tl_held *held, uint64_t seed, uint64_t entity);
/* Adds copies of rows, or takes rows out of order, until the sum of GPUs first
 * reaches target_mgpu. TL_E_CONFIG where no row has a GPU or it takes too many rows. */
enum tl_status tl_held_meet_demand(struct tl_held *held, tl_i128 target_mgpu, uint64_t seed,
                                   uint64_t entity, uint64_t *added, uint64_t *left_out,
                                   struct tl_error *error);

#endif
