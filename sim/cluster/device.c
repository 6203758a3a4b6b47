/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/cluster/device.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

void tl_residents_init(struct tl_residents *residents)
{
	*residents = (struct tl_residents){.capacity = TL_RESIDENTS_INLINE};
	residents->jobs = residents->inline_jobs;
	residents->draining = residents->inline_draining;
	residents->measured = residents->inline_measured;
}

void tl_residents_fini(struct tl_residents *residents)
{
	if (residents->jobs != residents->inline_jobs) {
		free(residents->jobs);
		free(residents->draining);
		free(residents->measured);
	}
}

static void residents_grow(struct tl_residents *residents)
{
	uint32_t room = residents->capacity * 2;
	tl_job_id *jobs = tl_calloc(room, sizeof *jobs);
	uint8_t *draining = tl_calloc(room, sizeof *draining);
	int32_t *measured = tl_calloc(room, sizeof *measured);

	memcpy(jobs, residents->jobs, residents->count * sizeof *jobs);
	memcpy(draining, residents->draining, residents->count * sizeof *draining);
	memcpy(measured, residents->measured, residents->count * sizeof *measured);
	tl_residents_fini(residents);
	residents->jobs = jobs;
	residents->draining = draining;
	residents->measured = measured;
	residents->capacity = room;
}

static uint32_t residents_find(const struct tl_residents *residents, tl_job_id job)
{
	uint32_t at = 0;

	while (at < residents->count && residents->jobs[at] != job)
		at++;
	return at;
}

int32_t tl_residents_free_mgpu(const struct tl_residents *residents)
{
	int32_t left = (int32_t)TL_MGPU_PER_GPU - residents->used_mgpu;

	return left > 0 ? left : 0;
}

int64_t tl_residents_excess_mgpu(const struct tl_residents *residents)
{
	int64_t excess = (int64_t)residents->used_mgpu - TL_MGPU_PER_GPU;

	return excess > 0 ? excess : 0;
}

int32_t tl_residents_utilisation_milli(const struct tl_residents *residents)
{
	if (residents->unmeasured > 0)
		return -1;
	return (int32_t)(residents->measured_milli < TL_MGPU_PER_GPU ? residents->measured_milli
	                                                             : TL_MGPU_PER_GPU);
}

/* One resident counts (sign 1) or no longer does (−1). */
static void count_measured(struct tl_residents *residents, uint32_t at, int sign)
{
	if (residents->measured[at] < 0)
		residents->unmeasured += (uint32_t)sign;
	else
		residents->measured_milli += sign * residents->measured[at];
}

void tl_residents_verify(const struct tl_residents *residents)
{
	uint32_t unmeasured = 0;
	int64_t measured_milli = 0;

	for (uint32_t i = 0; i < residents->count; i++) {
		unmeasured += residents->measured[i] < 0;
		measured_milli += residents->measured[i] < 0 ? 0 : residents->measured[i];
	}
	TL_ASSERT(residents->unmeasured == unmeasured);
	TL_ASSERT(residents->measured_milli == measured_milli);
	TL_ASSERT(residents->isolated <= residents->count);
}

int64_t tl_device_memory(const struct tl_gpu_view *gpu, const struct tl_worker *worker)
{
	if (gpu->total_memory_bytes < 0 || worker->gpu_memory_bytes < 0)
		return 0;
	return worker->gpu_memory_bytes;
}

void tl_device_take(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                    const struct tl_worker *worker)
{
	int64_t memory = tl_device_memory(gpu, worker);

	TL_ASSERT(worker->share_mgpu > 0);
	TL_ASSERT(memory == 0 || gpu->free_memory_bytes >= memory);
	TL_ASSERT(residents_find(residents, job) == residents->count);
	if (residents->count == residents->capacity)
		residents_grow(residents);
	residents->jobs[residents->count] = job;
	residents->draining[residents->count] = 0;
	residents->measured[residents->count] = -1;
	count_measured(residents, residents->count, 1);
	residents->count++;
	residents->used_mgpu += worker->share_mgpu;
	TL_ASSERT(residents->used_mgpu <= TL_MGPU_PER_GPU ||
	          residents->count <= TL_SECOND_RESIDENTS);
	gpu->free_mgpu = tl_residents_free_mgpu(residents);
	gpu->free_memory_bytes -= memory;
	gpu->nominal_mgpu += worker->share_mgpu;
	gpu->residents = residents->count;
	gpu->utilisation_milli = tl_residents_utilisation_milli(residents);
}

bool tl_device_release(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                       const struct tl_worker *worker, bool up)
{
	uint32_t at = residents_find(residents, job);
	uint32_t after;
	bool was_draining;

	TL_ASSERT(at < residents->count);
	TL_ASSERT(residents->used_mgpu >= worker->share_mgpu);
	after = residents->count - at - 1;
	was_draining = residents->draining[at] != 0;
	count_measured(residents, at, -1);
	memmove(&residents->jobs[at], &residents->jobs[at + 1], after * sizeof residents->jobs[0]);
	memmove(&residents->draining[at], &residents->draining[at + 1], after);
	memmove(&residents->measured[at], &residents->measured[at + 1],
	        after * sizeof residents->measured[0]);
	residents->count--;
	residents->used_mgpu -= worker->share_mgpu;
	if (up)
		gpu->free_mgpu = tl_residents_free_mgpu(residents);
	gpu->free_memory_bytes += tl_device_memory(gpu, worker);
	gpu->nominal_mgpu -= worker->share_mgpu;
	gpu->residents = residents->count;
	gpu->utilisation_milli = tl_residents_utilisation_milli(residents);
	if (was_draining)
		gpu->draining_mgpu -= worker->share_mgpu;
	TL_ASSERT(gpu->free_memory_bytes <= gpu->total_memory_bytes);
	TL_ASSERT(gpu->draining_mgpu >= 0);
	TL_ASSERT(residents->count > 0 || residents->used_mgpu == 0);
	return was_draining;
}

void tl_device_drain(struct tl_gpu_view *gpu, struct tl_residents *residents, tl_job_id job,
                     const struct tl_worker *worker)
{
	uint32_t at = residents_find(residents, job);

	TL_ASSERT(at < residents->count);
	TL_ASSERT(!residents->draining[at]);
	residents->draining[at] = 1;
	gpu->draining_mgpu += worker->share_mgpu;
}

void tl_cluster_measured(struct tl_cluster *cluster, tl_job_id job, const struct tl_alloc *where,
                         int32_t milli)
{
	for (uint32_t i = 0; i < where->gpu_count; i++) {
		struct tl_residents *residents = &cluster->residents[where->gpus[i]];
		uint32_t at = residents_find(residents, job);

		TL_ASSERT(at < residents->count);
		count_measured(residents, at, -1);
		residents->measured[at] = milli;
		count_measured(residents, at, 1);
		cluster->gpus[where->gpus[i]].utilisation_milli =
		    tl_residents_utilisation_milli(residents);
	}
}
