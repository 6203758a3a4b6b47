/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Who shares a GPU: whose its time is in the books, and how fast each of them is.
 *
 * Up to 1000 m each tenant has the share it asked for, and a slice nobody to share with. On an oversubscribed GPU, which has
 * two tenants, the time is split by what they asked for (1000 · request / nominal, what does
 * not divide going to the first), and a guaranteed one keeps its speed before the other.
 */
#include "sim/plane/life.h"
#include "sim/work/sharing.h"

static int64_t share_of(struct tl_trial *trial, tl_job_id id)
{
	return tl_job_of(&trial->jobs, id)->shape->full.share_mgpu;
}

static bool is_isolated(const struct tl_shape *shape)
{
	return (shape->flags & TL_SHAPE_ISOLATED) != 0;
}

/* ---- whose time it is ---- */

/* What the second of two tenants gets of an oversubscribed GPU; the first gets the rest. */
static int64_t second_part(int64_t first_mgpu, int64_t second_mgpu)
{
	return TL_MGPU_PER_GPU * second_mgpu / (first_mgpu + second_mgpu);
}

static void rebook(struct tl_trial *trial, tl_job_id id, int64_t from_mgpu, int64_t to_mgpu)
{
	tl_life_book_state(trial, id);
	tl_job_of(&trial->jobs, id)->booked_mgpu += to_mgpu - from_mgpu;
}

/* A job is about to take a GPU. */
static void come(struct tl_trial *trial, tl_job_id id, uint32_t gpu)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t own_mgpu = share_of(trial, id);
	uint32_t count = 0;

	if (trial->cluster.gpus[gpu].nominal_mgpu + own_mgpu > TL_MGPU_PER_GPU) {
		tl_job_id first = tl_cluster_gpu_jobs(&trial->cluster, gpu, &count)[0];
		int64_t first_mgpu = share_of(trial, first);

		own_mgpu = second_part(first_mgpu, own_mgpu);
		rebook(trial, first, first_mgpu, TL_MGPU_PER_GPU - own_mgpu);
	}
	job->booked_mgpu += own_mgpu;
}

/* It is about to leave it; its own time has been booked. */
static void go(struct tl_trial *trial, tl_job_id id, uint32_t gpu)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);
	int64_t own_mgpu = share_of(trial, id);
	uint32_t count = 0;

	if (trial->cluster.gpus[gpu].nominal_mgpu > TL_MGPU_PER_GPU) {
		const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, gpu, &count);
		bool was_first = ids[0] == id;
		tl_job_id other = ids[was_first];
		int64_t other_mgpu = share_of(trial, other);
		int64_t second_mgpu = was_first ? second_part(own_mgpu, other_mgpu)
		                                : second_part(other_mgpu, own_mgpu);
		int64_t first_mgpu = TL_MGPU_PER_GPU - second_mgpu;

		own_mgpu = was_first ? first_mgpu : second_mgpu;
		rebook(trial, other, TL_MGPU_PER_GPU - own_mgpu, other_mgpu);
	}
	job->booked_mgpu -= own_mgpu;
}

void tl_cotenants_come(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where)
{
	for (uint32_t g = 0; g < where->gpu_count; g++)
		come(trial, id, where->gpus[g]);
}

void tl_cotenants_go(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where)
{
	for (uint32_t g = 0; g < where->gpu_count; g++)
		go(trial, id, where->gpus[g]);
}

/* ---- how fast each is ---- */

/* What running co-tenants of a GPU that are no slices leave the job, which is none. */
static int64_t speed_on(struct tl_trial *trial, tl_job_id id, uint32_t gpu)
{
	const struct tl_sharing *sharing = &tl_life_physics(trial)->sharing;
	bool oversubscribed = trial->cluster.gpus[gpu].nominal_mgpu > TL_MGPU_PER_GPU;
	uint32_t count = 0, running = 0, guaranteed = 0;
	int64_t combined_milli = 0, guaranteed_milli = 0, own_milli = 0;
	const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, gpu, &count);

	for (uint32_t i = 0; i < count; i++) {
		const struct tl_job_view *view = tl_job_view_of(&trial->jobs, ids[i]);
		const struct tl_job *job = tl_job_of(&trial->jobs, ids[i]);
		int64_t milli = oversubscribed ? job->measured_milli : job->demand_milli;

		if (view->state != TL_JOB_RUNNING || is_isolated(job->shape))
			continue;
		running++;
		combined_milli += milli;
		own_milli = ids[i] == id ? milli : own_milli;
		if (oversubscribed && (view->flags & TL_JOB_GUARANTEED) != 0) {
			guaranteed++;
			guaranteed_milli = milli;
		}
	}
	if (running < 2)
		return TL_PPB;
	if (guaranteed != 1)
		return tl_sharing_speed_ppb(sharing, combined_milli, running);
	if ((tl_job_view_of(&trial->jobs, id)->flags & TL_JOB_GUARANTEED) != 0)
		return TL_PPB;
	return tl_sharing_left_ppb(sharing, guaranteed_milli, own_milli);
}

/* Whether its GPUs may have other tenants that it notices. */
static bool may_share(const struct tl_trial *trial, const struct tl_shape *shape)
{
	return shape->gpus > 0 && !is_isolated(shape) &&
	       (shape->full.share_mgpu < TL_MGPU_PER_GPU || trial->cluster.oversubscribed);
}

int64_t tl_cotenants_speed_ppb(struct tl_trial *trial, tl_job_id id)
{
	const struct tl_job *job = tl_job_of(&trial->jobs, id);
	const struct tl_physics *physics = tl_life_physics(trial);
	int64_t least_ppb = TL_PPB;

	if (physics->ideal || !physics->sharing.interference || !may_share(trial, job->shape))
		return TL_PPB;
	for (uint32_t g = 0; g < job->alloc.gpu_count; g++) {
		int64_t ppb = speed_on(trial, id, job->alloc.gpus[g]);

		least_ppb = ppb < least_ppb ? ppb : least_ppb;
	}
	return least_ppb;
}

void tl_cotenants_refresh(struct tl_trial *trial, const struct tl_shape *shape,
                          const struct tl_alloc *where, tl_job_id self)
{
	tl_job_id last = self;

	if (!may_share(trial, shape))
		return;
	for (uint32_t g = 0; g < where->gpu_count; g++) {
		uint32_t count = 0;
		const tl_job_id *ids = tl_cluster_gpu_jobs(&trial->cluster, where->gpus[g], &count);

		for (uint32_t i = 0; i < count; i++) {
			if (ids[i] == self || ids[i] == last ||
			    tl_job_view_of(&trial->jobs, ids[i])->state != TL_JOB_RUNNING)
				continue;
			tl_running_rerate(trial, ids[i]);
			last = ids[i]; /* a gang is met on many GPUs in a row */
		}
	}
}

void tl_cotenants_measured(struct tl_trial *trial, tl_job_id id, int32_t measured_milli)
{
	struct tl_job *job = tl_job_of(&trial->jobs, id);

	if (job->measured_milli == measured_milli)
		return;
	job->measured_milli = measured_milli;
	if (!trial->cluster.oversubscribed)
		return;
	for (uint32_t g = 0; g < job->alloc.gpu_count; g++)
		if (trial->cluster.gpus[job->alloc.gpus[g]].nominal_mgpu > TL_MGPU_PER_GPU) {
			tl_running_rerate(trial, id);
			tl_cotenants_refresh(trial, job->shape, &job->alloc, id);
			return;
		}
}

void tl_cotenants_seen(struct tl_trial *trial, tl_job_id id, int32_t utilisation_milli)
{
	struct tl_job_view *view = tl_job_view_of(&trial->jobs, id);

	if (view->utilisation_milli == utilisation_milli)
		return; /* its GPUs know, from when it took them */
	view->utilisation_milli = utilisation_milli;
	tl_cluster_measured(&trial->cluster, id, &tl_job_of(&trial->jobs, id)->alloc,
	                    utilisation_milli);
}
