/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Request shapes, interned: jobs that ask the same share one struct tl_shape at one
 * address for the whole trial.
 *
 * g GPUs become ⌈g / G⌉ workers (G: GPUs of the largest node), all full but the last;
 * a trace may state workers itself. What a trace does not state of CPU and RAM is not asked
 * for; GPU memory not stated is the share's part of the smallest card that will do, and
 * half of it for whole cards.
 */
#ifndef TIDELAB_WORK_SHAPES_H
#define TIDELAB_WORK_SHAPES_H

#include "policies/abi/tidelab_policy.h"
#include "sim/cluster/cluster.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A request as recorded; TL_NONE where unknown. */
struct tl_request {
	int64_t gpus_mgpu;
	int64_t gpu_memory_bytes;
	int64_t cpu_milli, ram_bytes; /* of the whole job */
	uint32_t workers;             /* 0: derive */
	bool isolated;                /* a slice: no neighbour is noticed */
	uint64_t model_mask;          /* of GPUs; all ones: any */
	uint64_t pool_mask;           /* models of the pools it is bound to; 0: none, any node */
};

struct tl_shapes {
	const struct tl_cluster *cluster;
	const struct tl_cluster_spec *spec;
	struct tl_shape_entry **entries; /* by id; each at a fixed address */
	size_t count, capacity;
	uint32_t *table; /* open addressing by request; id + 1 */
	size_t table_size;
};

void tl_shapes_init(struct tl_shapes *shapes, const struct tl_cluster *cluster,
                    const struct tl_cluster_spec *spec);
void tl_shapes_fini(struct tl_shapes *shapes);

/* The shape of a request; NULL where it cannot be one (1,500 mgpu in one worker, say).
 * With clamp, a request larger than the empty cluster is cut down to what fits. Expected O(1). */
struct tl_shape *tl_shapes_intern(struct tl_shapes *shapes, const struct tl_request *request,
                                  bool clamp);
/* Whether it fits the empty cluster; kept with the shape. */
bool tl_shapes_feasible(const struct tl_shapes *shapes, const struct tl_shape *shape);
const struct tl_shape *tl_shapes_at(const struct tl_shapes *shapes, uint32_t id);

#endif
