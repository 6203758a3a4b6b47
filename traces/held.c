/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/held.h"

#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 1 << 26 }; /* that a demand may make of a trace */

void tl_held_init(struct tl_held *held)
{
	memset(held, 0, sizeof *held);
}

void tl_held_fini(struct tl_held *held)
{
	free(held->rows);
	free(held->ids);
	free(held->order);
	tl_held_init(held);
}

static size_t keep_id(struct tl_held *held, const char *id)
{
	size_t size = strlen(id) + 1, at = held->ids_size;

	if (size == 1)
		return SIZE_MAX;
	held->ids = tl_grow(held->ids, &held->ids_capacity, at + size, 1);
	memcpy(held->ids + at, id, size);
	held->ids_size += size;
	return at;
}

void tl_held_add(struct tl_held *held, const struct tl_trace_record *record)
{
	held->rows = tl_grow(held->rows, &held->capacity, held->count + 1, sizeof *held->rows);
	held->rows[held->count++] = (struct tl_held_row){
	    .submit_ns = record->submit_ns,
	    .duration_ns = record->duration_ns,
	    .estimate_ns = record->estimate_ns,
	    .deadline_ns = record->deadline_ns,
	    .gpus_mgpu = record->gpus_mgpu,
	    .gpu_memory_bytes = record->gpu_memory_bytes,
	    .cpu_milli = record->cpu_milli,
	    .ram_bytes = record->ram_bytes,
	    .state_bytes = record->state_bytes,
	    .row = record->row,
	    .id_at = keep_id(held, record->id),
	    .line = record->line,
	    .workers = record->workers,
	    .tenant = record->tenant,
	    .queue = record->queue,
	    .models = record->models,
	    .role = record->role,
	    .utilisation_milli = record->utilisation_milli,
	    .priority = record->priority,
	    .kind = (uint8_t)record->kind,
	    .outcome = (uint8_t)record->outcome,
	};
}

static void write_id(const struct tl_held *held, const struct tl_held_row *row,
                     char out[TL_TRACE_ID_MAX])
{
	char number[24], suffix[16] = "";
	const char *id = number;

	if (row->id_at != SIZE_MAX)
		id = held->ids + row->id_at;
	else if (row->copy == 0)
		id = "";
	else
		snprintf(number, sizeof number, "%ld", row->line);
	if (row->copy > 0)
		snprintf(suffix, sizeof suffix, "#%" PRIu32, row->copy);
	size_t tail = strlen(suffix), length = strlen(id);
	if (length + tail >= TL_TRACE_ID_MAX)
		length = TL_TRACE_ID_MAX - 1 - tail;
	memcpy(out, id, length);
	memcpy(out + length, suffix, tail + 1);
}

void tl_held_get(const struct tl_held *held, size_t i, struct tl_trace_record *out)
{
	const struct tl_held_row *row = &held->rows[i];

	*out = (struct tl_trace_record){
	    .line = row->line,
	    .row = row->row,
	    .submit_ns = row->submit_ns,
	    .duration_ns = row->duration_ns,
	    .estimate_ns = row->estimate_ns,
	    .deadline_ns = row->deadline_ns,
	    .gpus_mgpu = row->gpus_mgpu,
	    .workers = row->workers,
	    .gpu_memory_bytes = row->gpu_memory_bytes,
	    .cpu_milli = row->cpu_milli,
	    .ram_bytes = row->ram_bytes,
	    .state_bytes = row->state_bytes,
	    .utilisation_milli = row->utilisation_milli,
	    .tenant = row->tenant,
	    .queue = row->queue,
	    .models = row->models,
	    .role = row->role,
	    .priority = row->priority,
	    .kind = (enum tl_work_kind)row->kind,
	    .outcome = (enum tl_outcome)row->outcome,
	};
	write_id(held, row, out->id);
}

void tl_held_set_times(struct tl_held *held, size_t i, const struct tl_trace_record *record)
{
	struct tl_held_row *row = &held->rows[i];

	row->submit_ns = record->submit_ns;
	row->duration_ns = record->duration_ns;
	row->estimate_ns = record->estimate_ns;
	row->deadline_ns = record->deadline_ns;
	row->row = record->row;
}

struct sort_key {
	int64_t submit_ns;
	size_t place;
};

static int compare_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	if (a->submit_ns != b->submit_ns)
		return a->submit_ns < b->submit_ns ? -1 : 1;
	return a->place < b->place ? -1 : a->place > b->place;
}

void tl_held_sort(struct tl_held *held)
{
	struct sort_key *keys = tl_alloc((held->count + 1) * sizeof *keys);

	for (size_t i = 0; i < held->count; i++)
		keys[i] = (struct sort_key){held->rows[i].submit_ns, i};
	qsort(keys, held->count, sizeof *keys, compare_keys);
	tl_held_as_read(held);
	for (size_t i = 0; i < held->count; i++)
		held->order[i] = keys[i].place;
	free(keys);
}

void tl_held_as_read(struct tl_held *held)
{
	held->order = tl_realloc_array(held->order, held->count + 1, sizeof *held->order);
	held->order_count = held->count;
	for (size_t i = 0; i < held->count; i++)
		held->order[i] = i;
}

static void permute(size_t *order, size_t count, struct tl_rng *rng)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)tl_rng_below(rng, i);
		size_t moved = order[i - 1];
		order[i - 1] = order[j];
		order[j] = moved;
	}
}

void tl_held_shuffle(struct tl_held *held, uint64_t seed, uint64_t entity)
{
	struct tl_rng rng;

	tl_rng_init(&rng, seed, TL_STREAM_SHUFFLE, entity);
	permute(held->order, held->order_count, &rng);
}

static int compare_places(const void *left, const void *right)
{
	size_t a = *(const size_t *)left, b = *(const size_t *)right;
	return a < b ? -1 : a > b;
}

/* Keeps rows in a random order until they reach the target; then as read again. */
static uint64_t leave_out(struct tl_held *held, tl_i128 target_mgpu, struct tl_rng *rng)
{
	tl_i128 sum = 0;
	size_t kept = 0;

	permute(held->order, held->order_count, rng);
	while (kept < held->order_count && sum < target_mgpu)
		sum += held->rows[held->order[kept++]].gpus_mgpu;
	uint64_t out = held->order_count - kept;
	held->order_count = kept;
	qsort(held->order, kept, sizeof *held->order, compare_places);
	return out;
}

static enum tl_status add_copies(struct tl_held *held, tl_i128 sum, tl_i128 target_mgpu,
                                 struct tl_rng *rng, struct tl_error *error)
{
	size_t pool = held->count;
	uint32_t *copies = tl_calloc(pool, sizeof *copies);
	enum tl_status status = TL_OK;

	while (sum < target_mgpu) {
		if (held->count >= ROWS_MAX) {
			status = tl_error_set(
			    error, TL_E_CONFIG, NULL, 0, 0,
			    "demand, got one that takes over %d rows, wanted less", ROWS_MAX);
			break;
		}
		size_t drawn = (size_t)tl_rng_below(rng, pool);
		held->rows =
		    tl_grow(held->rows, &held->capacity, held->count + 1, sizeof *held->rows);
		held->rows[held->count] = held->rows[drawn];
		held->rows[held->count].copy = ++copies[drawn];
		held->count++;
		sum += held->rows[drawn].gpus_mgpu;
	}
	free(copies);
	return status;
}

enum tl_status tl_held_meet_demand(struct tl_held *held, tl_i128 target_mgpu, uint64_t seed,
                                   uint64_t entity, uint64_t *added, uint64_t *left_out,
                                   struct tl_error *error)
{
	struct tl_rng rng;
	tl_i128 sum = 0;
	size_t before = held->count;

	*added = 0;
	*left_out = 0;
	for (size_t i = 0; i < held->count; i++)
		sum += held->rows[i].gpus_mgpu;
	if (sum == 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "demand, got rows without any GPU, wanted some to resample");
	tl_rng_init(&rng, seed, TL_STREAM_RESAMPLE, entity);
	if (sum >= target_mgpu) {
		*left_out = leave_out(held, target_mgpu, &rng);
		return TL_OK;
	}
	enum tl_status status = add_copies(held, sum, target_mgpu, &rng, error);
	*added = held->count - before;
	tl_held_as_read(held);
	return status;
}
