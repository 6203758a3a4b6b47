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
}

void tl_residents_fini(struct tl_residents *residents)
{
	if (residents->jobs != residents->inline_jobs) {
		free(residents->jobs);
		free(residents->draining);
	}
}

static void residents_grow(struct tl_residents *residents)
{
	uint32_t room = residents->capacity * 2;
	tl_job_id *jobs = tl_calloc(room, sizeof *jobs);
	uint8_t *draining = tl_calloc(room, sizeof *draining);

	memcpy(jobs, residents->jobs, residents->count * sizeof *jobs);
	memcpy(draining, residents->draining, residents->count * sizeof *draining);
	tl_residents_fini(residents);
	residents->jobs = jobs;
	residents->draining = draining;
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
	residents->count++;
	residents->used_mgpu += worker->share_mgpu;
	TL_ASSERT(residents->used_mgpu <= TL_MGPU_PER_GPU ||
	          residents->count <= TL_SECOND_RESIDENTS);
	gpu->free_mgpu = tl_residents_free_mgpu(residents);
	gpu->free_memory_bytes -= memory;
	gpu->nominal_mgpu += worker->share_mgpu;
	gpu->residents = residents->count;
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
	memmove(&residents->jobs[at], &residents->jobs[at + 1], after * sizeof residents->jobs[0]);
	memmove(&residents->draining[at], &residents->draining[at + 1], after);
	residents->count--;
	residents->used_mgpu -= worker->share_mgpu;
	if (up)
		gpu->free_mgpu = tl_residents_free_mgpu(residents);
	gpu->free_memory_bytes += tl_device_memory(gpu, worker);
	gpu->nominal_mgpu -= worker->share_mgpu;
	gpu->residents = residents->count;
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
