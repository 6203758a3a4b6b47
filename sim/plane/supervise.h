/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Crash containment: the trial runs in a child process. The parent shows progress, keeps
 * the CPU-time watchdog, tells a crash or a hang from a clean end, and renames the result
 * when it is whole. ^C, a crash and a full disk leave no file behind.
 */
#ifndef TIDELAB_PLANE_SUPERVISE_H
#define TIDELAB_PLANE_SUPERVISE_H

#include "sim/base/error.h"
#include "sim/config/scenario.h"

#include <stdbool.h>
#include <stdio.h>

struct tl_run_options {
	const char *output_path; /* final name; NULL: no file */
	bool force;              /* replace an existing file */
	bool progress;           /* a line on diagnostics, for a run longer than a second */
	const char *explain_id;  /* NULL; its story goes to explain_file */
	FILE *explain_file;
	FILE *diagnostics;
};

/* TL_OK only where the run ended as the scenario asked. TL_E_POLICY: the policy stalled,
 * looped, hung or crashed; a dump has gone to diagnostics. TL_E_INTERRUPTED: ^C. */
enum tl_status tl_supervise_run(const struct tl_scenario *scenario,
                                const struct tl_run_options *options, struct tl_error *error);

/* The same for everything short of running (tl_trial_check): modules are created there. */
enum tl_status tl_supervise_check(const struct tl_scenario *scenario, FILE *report,
                                  FILE *diagnostics, struct tl_error *error);

#endif
