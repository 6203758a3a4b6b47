/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/mix.h"

#include "sim/base/arena.h"
#include "traces/seen.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SIZE = 256 };

void tl_mix_init(struct tl_mix *mix)
{
	memset(mix, 0, sizeof *mix);
}

void tl_mix_fini(struct tl_mix *mix)
{
	free(mix->requests);
	free(mix->table);
	tl_mix_init(mix);
}

static uint64_t hash_of(const struct tl_trace_request *request)
{
	const int64_t key[] = {request->gpus_mgpu, request->gpu_memory_bytes, request->cpu_milli,
	                       request->ram_bytes, request->workers,          request->models};
	return tl_hash_bytes(key, sizeof key);
}

static bool is_same(const struct tl_trace_request *a, const struct tl_trace_request *b)
{
	return a->gpus_mgpu == b->gpus_mgpu && a->gpu_memory_bytes == b->gpu_memory_bytes &&
	       a->cpu_milli == b->cpu_milli && a->ram_bytes == b->ram_bytes &&
	       a->workers == b->workers && a->models == b->models;
}

static uint32_t *find_slot(const struct tl_mix *mix, const struct tl_trace_request *request)
{
	size_t at = (size_t)hash_of(request) & (mix->table_size - 1);
	while (mix->table[at] != 0 && !is_same(&mix->requests[mix->table[at] - 1], request))
		at = (at + 1) & (mix->table_size - 1);
	return &mix->table[at];
}

static void enlarge(struct tl_mix *mix)
{
	free(mix->table);
	mix->table_size = mix->table_size == 0 ? FIRST_SIZE : 2 * mix->table_size;
	mix->table = tl_calloc(mix->table_size, sizeof *mix->table);
	for (size_t i = 0; i < mix->count; i++)
		*find_slot(mix, &mix->requests[i]) = (uint32_t)i + 1;
}

bool tl_mix_add(struct tl_mix *mix, const struct tl_trace_record *record)
{
	struct tl_trace_request request = {
	    .gpus_mgpu = record->gpus_mgpu,
	    .gpu_memory_bytes = record->gpu_memory_bytes,
	    .cpu_milli = record->cpu_milli,
	    .ram_bytes = record->ram_bytes,
	    .workers = record->workers,
	    .models = record->models,
	    .count = 1,
	    .first_line = record->line,
	};

	if (2 * (mix->count + 1) > mix->table_size)
		enlarge(mix);
	uint32_t *slot = find_slot(mix, &request);
	if (*slot != 0) {
		mix->requests[*slot - 1].count++;
		return true;
	}
	if (mix->count == TL_TRACE_MIX_MAX)
		return false;
	mix->requests = tl_grow(mix->requests, &mix->capacity, mix->count + 1, sizeof request);
	mix->requests[mix->count++] = request;
	*slot = (uint32_t)mix->count;
	return true;
}
