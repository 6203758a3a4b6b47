/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/warm.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>

struct tl_warm_entry {
	tl_job_id job;
	int64_t bytes;
};

struct tl_warm_node {
	struct tl_warm_entry *entries; /* in order of suspension */
	size_t count, capacity;
	int64_t total_bytes;
};

void tl_warm_init(struct tl_warm *warm, uint32_t node_count)
{
	warm->nodes = tl_calloc(node_count, sizeof(*warm->nodes));
	warm->node_count = node_count;
}

void tl_warm_fini(struct tl_warm *warm)
{
	for (uint32_t n = 0; n < warm->node_count; n++)
		free(warm->nodes[n].entries);
	free(warm->nodes);
	*warm = (struct tl_warm){0};
}

void tl_warm_add(struct tl_warm *warm, tl_job_id job, const struct tl_alloc *where, int64_t bytes)
{
	for (uint32_t w = 0; w < where->worker_count; w++) {
		struct tl_warm_node *node = &warm->nodes[where->nodes[w]];

		node->entries = tl_grow(node->entries, &node->capacity, node->count + 1,
		                        sizeof(*node->entries));
		node->entries[node->count++] = (struct tl_warm_entry){.job = job, .bytes = bytes};
		node->total_bytes += bytes;
	}
}

void tl_warm_remove(struct tl_warm *warm, tl_job_id job, const struct tl_alloc *where)
{
	for (uint32_t w = 0; w < where->worker_count; w++) {
		struct tl_warm_node *node = &warm->nodes[where->nodes[w]];
		size_t kept = 0;

		for (size_t i = 0; i < node->count; i++) {
			if (node->entries[i].job == job)
				node->total_bytes -= node->entries[i].bytes;
			else
				node->entries[kept++] = node->entries[i];
		}
		node->count = kept;
	}
}

tl_job_id tl_warm_overflow(const struct tl_warm *warm, uint32_t node, int64_t free_ram_bytes)
{
	const struct tl_warm_node *held = &warm->nodes[node];

	return held->count > 0 && held->total_bytes > free_ram_bytes ? held->entries[0].job : 0;
}
