/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of a job's life share, and nobody else:
 *   lifecycle.c   states, holding GPUs, starts, ends, reports
 *   running.c     progress, speed and books of running work
 *   cotenants.c   who shares a GPU: whose its time is, how fast each is
 *   suspension.c  saves, migration, strikes
 */
#ifndef TIDELAB_PLANE_LIFE_H
#define TIDELAB_PLANE_LIFE_H

#include "sim/plane/world.h"

const struct tl_physics *tl_life_physics(const struct tl_trial *trial);
bool tl_life_is_replica(struct tl_trial *trial, tl_job_id id);
/* The one event a job has: ready, completion or end of the save. TL_NEVER: none. */
void tl_life_cancel_event(struct tl_trial *trial, struct tl_job *job);
void tl_life_set_event(struct tl_trial *trial, tl_job_id id, int64_t at_ns,
                       enum tl_event_kind kind);
/* Adds what a running job did since its last settling, by purpose; or books it. */
void tl_running_open(struct tl_trial *trial, tl_job_id id,
                     tl_i128 parts[static TL_PURPOSE_OF_JOBS]);
void tl_running_settle(struct tl_trial *trial, tl_job_id id);
/* Falls back to what is safe; the rest becomes rework. */
void tl_running_roll_back(struct tl_trial *trial, struct tl_job *job);
int64_t tl_running_speed_ppb(const struct tl_job *job);
int64_t tl_running_rate_mgpu(const struct tl_job *job);
/* Its part of the productive level. */
void tl_running_set_rate(struct tl_trial *trial, struct tl_job *job, int64_t rate_mgpu);
void tl_running_set_completion(struct tl_trial *trial, tl_job_id id);
/* Its co-tenants have changed, or what they use: what is left is timed anew, at this instant. */
void tl_running_rerate(struct tl_trial *trial, tl_job_id id);
/* Before a placement is taken, or given back with the job's own time booked: whose the time
 * of its GPUs is from now on. */
void tl_cotenants_come(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where);
void tl_cotenants_go(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where);
/* What the co-tenants of its GPUs leave a running job: the least over its GPUs. */
int64_t tl_cotenants_speed_ppb(struct tl_trial *trial, tl_job_id id);
/* Running co-tenants on a placement get the speed they now have. */
void tl_cotenants_refresh(struct tl_trial *trial, const struct tl_shape *shape,
                          const struct tl_alloc *where, tl_job_id self);
/* GPU time by purpose, to the job's account. */
void tl_life_book(struct tl_trial *trial, const struct tl_job *job,
                  const tl_i128 parts[static TL_PURPOSE_OF_JOBS]);
/* Books the time in the state that is about to be left. */
void tl_life_book_state(struct tl_trial *trial, tl_job_id id);
void tl_life_change_state(struct tl_trial *trial, tl_job_id id, enum tl_job_state to,
                          enum tl_reason cause);
/* Takes a placement, and lets suspended memory give way; gives one back with its books. */
void tl_life_hold(struct tl_trial *trial, tl_job_id id, const struct tl_alloc *where);
void tl_life_let_go(struct tl_trial *trial, tl_job_id id, struct tl_alloc *where, int64_t since_ns,
                    enum tl_reason reason);
/* Gives up everything the job holds. */
void tl_life_release(struct tl_trial *trial, tl_job_id id, enum tl_reason reason);
int64_t tl_life_warm_start_ns(const struct tl_trial *trial, const struct tl_job *job);
/* Scheduled or Resuming, on what the job now holds. */
void tl_life_begin_start(struct tl_trial *trial, tl_job_id id, bool warm, enum tl_reason reason);
void tl_life_end_job(struct tl_trial *trial, tl_job_id id, enum tl_job_state state,
                     enum tl_reason reason);

#endif
