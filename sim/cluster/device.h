/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One GPU of the cluster: its shares, its memory and who is on it. Private to
 * sim/cluster; the sums over nodes and the cluster are kept in cluster.c.
 */
#ifndef TIDELAB_CLUSTER_DEVICE_H
#define TIDELAB_CLUSTER_DEVICE_H

#include "sim/cluster/cluster.h"

enum { TL_RESIDENTS_INLINE = 2 };

/* Most GPUs have one resident or two; the lists move to the heap past that. */
struct tl_residents {
	tl_job_id *jobs;   /* in order of arrival */
	uint8_t *draining; /* of each: holds its share while saving */
	int32_t *measured; /* of each: what it uses of the GPU, in thousandths; -1 not yet known */
	uint32_t count, capacity;
	uint32_t isolated;      /* of them, slices */
	uint32_t unmeasured;    /* of them, not yet known */
	int64_t measured_milli; /* of the others, together */
	int32_t used_mgpu;      /* nominal, whatever the node's state; may pass the GPU's 1000 */
	tl_job_id inline_jobs[TL_RESIDENTS_INLINE];
	uint8_t inline_draining[TL_RESIDENTS_INLINE];
	int32_t inline_measured[TL_RESIDENTS_INLINE];
};

/* What the placement being checked asks of a node. */
struct tl_demand {
	int64_t cpu_milli, ram_bytes;
};

void tl_residents_init(struct tl_residents *residents); /* at its final address */
void tl_residents_fini(struct tl_residents *residents);

/* What they leave of the GPU; nothing where their sum passes it. */
int32_t tl_residents_free_mgpu(const struct tl_residents *residents);
/* What they ask for beyond it. */
int64_t tl_residents_excess_mgpu(const struct tl_residents *residents);

/* What they use of it together; -1 while that of one is not known. */
int32_t tl_residents_utilisation_milli(const struct tl_residents *residents);
/* Asserts the sums over residents against a recount. */
void tl_residents_verify(const struct tl_residents *residents);

/* Memory that a worker takes on each of its GPUs: stated, or none. */
int64_t tl_device_memory(const struct tl_gpu_view *gpu, const struct tl_worker *worker);

/* Edits GPU and residents; up: the node takes work, so what is free shows in the view.
 * release tells whether the job was draining. Assert what they need. */
void tl_device_take(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                    const struct tl_worker *worker);
bool tl_device_release(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                       const struct tl_worker *worker, bool up);
void tl_device_drain(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                     const struct tl_worker *worker);

#endif
