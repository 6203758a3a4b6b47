/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Saves within a grace period share the storage: each of n writers gets
 * min(writer's bandwidth, aggregate / n). Only such saves contend; periodic
 * checkpoints do not (semantics 9).
 *
 * A save is work in nanoseconds at a writer's full bandwidth; all saves under way run at
 * one speed, so one re-rating is one pass over them.
 */
#ifndef TIDELAB_WORK_STORAGE_H
#define TIDELAB_WORK_STORAGE_H

#include "policies/abi/tidelab_policy.h"

#include <stddef.h>
#include <stdint.h>

struct tl_save {
	tl_job_id job;
	int64_t left_ns;     /* at full bandwidth, as of the storage's anchor */
	int64_t deadline_ns; /* end of the grace */
};

struct tl_storage {
	int64_t writer_bytes_per_s, aggregate_bytes_per_s;
	struct tl_save *saves; /* swap-removed: a job keeps its index up to date */
	size_t count, capacity;
	int64_t anchor_ns;
};

void tl_storage_init(struct tl_storage *storage, int64_t writer_bytes_per_s,
                     int64_t aggregate_bytes_per_s);
void tl_storage_fini(struct tl_storage *storage);
/* Speed of each of the saves under way, parts per billion of a writer's full bandwidth. */
int64_t tl_storage_speed_ppb(const struct tl_storage *storage);
/* Brings what is left of every save to now. To be called before add, remove and end. O(saves). */
void tl_storage_settle(struct tl_storage *storage, int64_t now_ns);
/* The new save's index. */
uint32_t tl_storage_add(struct tl_storage *storage, tl_job_id job, int64_t save_ns,
                        int64_t deadline_ns);
/* Removes by index; returns the job that now has that index (0: none moved). */
tl_job_id tl_storage_remove(struct tl_storage *storage, uint32_t index);
/* When the save ends at the present speed, or its grace, whichever comes first;
 * *in_time says whether the save was whole by then. */
int64_t tl_storage_end(const struct tl_storage *storage, uint32_t index, int *in_time);

#endif
