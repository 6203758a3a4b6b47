/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/work/storage.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/units.h"

#include <stdlib.h>

void tl_storage_init(struct tl_storage *storage, int64_t writer_bytes_per_s,
                     int64_t aggregate_bytes_per_s)
{
	*storage = (struct tl_storage){.writer_bytes_per_s = writer_bytes_per_s,
	                               .aggregate_bytes_per_s = aggregate_bytes_per_s};
}

void tl_storage_fini(struct tl_storage *storage)
{
	free(storage->saves);
	*storage = (struct tl_storage){0};
}

int64_t tl_storage_speed_ppb(const struct tl_storage *storage)
{
	tl_i128 wanted = (tl_i128)storage->writer_bytes_per_s * (tl_i128)storage->count;

	if (wanted <= storage->aggregate_bytes_per_s)
		return TL_PPB;
	int64_t speed_ppb = (int64_t)((tl_i128)storage->aggregate_bytes_per_s * TL_PPB / wanted);

	return speed_ppb > 0 ? speed_ppb : 1;
}

void tl_storage_settle(struct tl_storage *storage, int64_t now_ns)
{
	int64_t done_ns =
	    tl_work_of_time(now_ns - storage->anchor_ns, tl_storage_speed_ppb(storage));

	for (size_t i = 0; i < storage->count; i++) {
		struct tl_save *save = &storage->saves[i];

		save->left_ns = save->left_ns > done_ns ? save->left_ns - done_ns : 0;
	}
	storage->anchor_ns = now_ns;
}

uint32_t tl_storage_add(struct tl_storage *storage, tl_job_id job, int64_t save_ns,
                        int64_t deadline_ns)
{
	storage->saves = tl_grow(storage->saves, &storage->capacity, storage->count + 1,
	                         sizeof(*storage->saves));
	storage->saves[storage->count] =
	    (struct tl_save){.job = job, .left_ns = save_ns, .deadline_ns = deadline_ns};
	return (uint32_t)storage->count++;
}

tl_job_id tl_storage_remove(struct tl_storage *storage, uint32_t index)
{
	TL_ASSERT(index < storage->count);
	storage->count--;
	if (index == storage->count)
		return 0;
	storage->saves[index] = storage->saves[storage->count];
	return storage->saves[index].job;
}

int64_t tl_storage_end(const struct tl_storage *storage, uint32_t index, int *in_time)
{
	const struct tl_save *save = &storage->saves[index];
	int64_t end_ns = tl_time_add(storage->anchor_ns,
	                             tl_time_of_work(save->left_ns, tl_storage_speed_ppb(storage)));

	*in_time = end_ns <= save->deadline_ns;
	return *in_time ? end_ns : save->deadline_ns;
}
