/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One trial: a scenario run once, in this process. */
#ifndef TIDELAB_PLANE_TRIAL_H
#define TIDELAB_PLANE_TRIAL_H

#include "sim/base/error.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"

#include <stdint.h>
#include <stdio.h>

struct tl_trial; /* opaque */

struct tl_trial_options {
	const char *results_path; /* written as the trial goes; NULL: nothing is written */
	const char *explain_id;   /* job whose story goes to explain_file; NULL */
	FILE *explain_file;
	FILE *diagnostics; /* infeasible jobs, policies' logs */
};

/* Runs to the end of the scenario. A run that fails leaves no file at results_path. */
enum tl_status tl_trial_run(const struct tl_scenario *scenario,
                            const struct tl_trial_options *options, struct tl_pulse *pulse,
                            struct tl_error *error);

/* Everything short of running: traces, modules, options, infeasible jobs. What was found
 * goes to report, a line each. */
enum tl_status tl_trial_check(const struct tl_scenario *scenario, FILE *report,
                              struct tl_pulse *pulse, struct tl_error *error);

#endif
