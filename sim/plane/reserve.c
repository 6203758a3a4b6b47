/* SPDX-License-Identifier: GPL-3.0-or-later */
/* GPUs that policies state they keep for waiting jobs: for the books alone. A GPU may be
 * kept for several; what of it is free counts once. */
#include "sim/plane/world.h"

#include <stdlib.h>
#include <string.h>

struct tl_reservation {
	tl_job_id job;
	uint32_t *gpus;
	size_t count, capacity;
};

static void count_gpus(struct tl_reservations *all, const struct tl_reservation *one, bool add)
{
	for (size_t i = 0; i < one->count; i++) {
		uint32_t gpu = one->gpus[i];

		if (add && all->holders[gpu]++ == 0) {
			all->places[gpu] = (uint32_t)all->gpu_count;
			all->gpus[all->gpu_count++] = gpu;
		} else if (!add && --all->holders[gpu] == 0) {
			uint32_t last = all->gpus[--all->gpu_count];

			all->gpus[all->places[gpu]] = last;
			all->places[last] = all->places[gpu];
		}
	}
}

void tl_reserve_init(struct tl_trial *trial)
{
	uint32_t gpus = trial->cluster.view.gpu_count;
	struct tl_reservations *all = &trial->reservations;

	all->holders = tl_calloc(gpus, sizeof(*all->holders));
	all->places = tl_calloc(gpus, sizeof(*all->places));
	all->gpus = tl_calloc(gpus, sizeof(*all->gpus));
}

void tl_reserve_fini(struct tl_trial *trial)
{
	struct tl_reservations *all = &trial->reservations;

	for (size_t i = 0; i < all->capacity; i++)
		free(all->items[i].gpus);
	free(all->items);
	free(all->holders);
	free(all->places);
	free(all->gpus);
}

void tl_reserve_set(struct tl_trial *trial, tl_job_id id, const uint32_t *gpus, uint32_t count)
{
	struct tl_reservations *all = &trial->reservations;
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	tl_reserve_drop(trial, id);
	if (count == 0)
		return;
	all->items = tl_grow(all->items, &all->capacity, all->count + 1, sizeof(*all->items));
	struct tl_reservation *one = &all->items[all->count++];

	one->job = id;
	one->gpus = tl_grow(one->gpus, &one->capacity, count, sizeof(*one->gpus));
	memcpy(one->gpus, gpus, count * sizeof(*gpus));
	one->count = count;
	job->reservation = (uint32_t)all->count;
	count_gpus(all, one, true);
}

void tl_reserve_drop(struct tl_trial *trial, tl_job_id id)
{
	struct tl_reservations *all = &trial->reservations;
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (job->reservation == 0)
		return;
	struct tl_reservation *one = &all->items[job->reservation - 1];
	struct tl_reservation *last = &all->items[--all->count];
	struct tl_reservation mine = *one;

	count_gpus(all, one, false);
	if (one != last) {
		tl_job_of(&trial->jobs, last->job)->reservation = job->reservation;
		*one = *last;
		*last = mine; /* its array is used again */
	}
	job->reservation = 0;
}

int64_t tl_reserve_free_mgpu(const struct tl_trial *trial)
{
	const struct tl_reservations *all = &trial->reservations;
	int64_t free_mgpu = 0;

	for (size_t i = 0; i < all->gpu_count; i++)
		free_mgpu += trial->cluster.gpus[all->gpus[i]].free_mgpu;
	return free_mgpu;
}
