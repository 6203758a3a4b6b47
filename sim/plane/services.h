/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Online services in a trial: replicas are jobs that the scheduler places like any other
 * (flag TL_JOB_REPLICA); the request engine runs lazily between control instants; windows
 * close on a clock, feed the policy's views and the results.
 */
#ifndef TIDELAB_PLANE_SERVICES_H
#define TIDELAB_PLANE_SERVICES_H

#include "policies/abi/tidelab_policy.h"
#include "sim/base/error.h"
#include "sim/base/units.h"

#include <stdbool.h>
#include <stdint.h>

struct tl_instance;
struct tl_trial;
struct tl_job;

/* Engines, arrivals and result tables; initial replicas are submitted, ready at t = 0. */
enum tl_status tl_services_create(struct tl_trial *trial, struct tl_error *error);
/* Ledger account and result table of each, once the books are open. */
enum tl_status tl_services_open_tables(struct tl_trial *trial, struct tl_error *error);
void tl_services_arm(struct tl_trial *trial);
void tl_services_destroy(struct tl_trial *trial);

/* A WINDOW event: every service's window closes and the next one's arrivals are fed. The
 * monitor may look at it. */
void tl_services_window(struct tl_trial *trial);
/* A SHOW event: policies see what the monitor looked at observe.delay ago. What the control
 * plane does itself (replicas wanted, ready, starting) is never old. */
void tl_services_show(struct tl_trial *trial);
/* A decision: wanted replicas. Refused where there is no such service or the scenario does
 * not allow so few or many. More are submitted; of too many, those go first that wait, then
 * those that start, then the youngest, which finish what they have. */
enum tl_refusal tl_services_scale(struct tl_trial *trial, uint32_t number, uint32_t replicas);

/* Replicas' own steps in the life of a job. */
int64_t tl_services_start_ns(const struct tl_trial *trial, const struct tl_job *job);
void tl_services_ready(struct tl_trial *trial, tl_job_id id, int64_t speed_ppb);
void tl_services_speed(struct tl_trial *trial, tl_job_id id, int64_t speed_ppb);
/* It stood by for so long with so much booked, of which it was slower by so much. */
void tl_services_stood_by(struct tl_trial *trial, tl_job_id id, int64_t wall_ns,
                          tl_i128 booked_mgpu_ns, tl_i128 slow_mgpu_ns);
/* It has ended: off the list. */
void tl_services_forget(struct tl_trial *trial, tl_job_id id);
void tl_services_gone(struct tl_trial *trial, tl_job_id id); /* it no longer runs */

const struct tl_service_view *tl_services_view(const struct tl_trial *trial, uint32_t number);
uint32_t tl_services_count(const struct tl_trial *trial);
/* Requests in 1,000 s: as planned (curve and announced events), or as they will come. -1:
 * no such service. */
int64_t tl_services_rate_per_ks(const struct tl_trial *trial, uint32_t number, int64_t at_ns,
                                bool planned);
/* The forecast seat: the module's answers, kept to be compared with what came. */
struct tl_seat tl_forecasts_hear(struct tl_instance *instance);
/* Whole-run figures of every service into the summary. */
void tl_services_finish(struct tl_trial *trial);

#endif
