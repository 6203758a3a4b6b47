/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Host memory of suspended jobs. It is not taken from a node's free RAM: when a start
 * needs the room, the jobs suspended longest lose theirs and become cold.
 */
#ifndef TIDELAB_WORK_WARM_H
#define TIDELAB_WORK_WARM_H

#include "policies/abi/tidelab_policy.h"
#include "sim/cluster/cluster.h"

#include <stdint.h>

struct tl_warm {
	struct tl_warm_node *nodes;
	uint32_t node_count;
};

void tl_warm_init(struct tl_warm *warm, uint32_t node_count);
void tl_warm_fini(struct tl_warm *warm);
/* The job leaves `bytes` on each of the nodes of where (a node a worker). */
void tl_warm_add(struct tl_warm *warm, tl_job_id job, const struct tl_alloc *where, int64_t bytes);
void tl_warm_remove(struct tl_warm *warm, tl_job_id job, const struct tl_alloc *where);
/* A job that must go so that the node's warm memory fits in its free RAM: the one
 * suspended first; 0 where all fit. */
tl_job_id tl_warm_overflow(const struct tl_warm *warm, uint32_t node, int64_t free_ram_bytes);

#endif
