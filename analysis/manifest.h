/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The manifest of a folder of runs: JSON, a line an object. The first says what the folder
 * is for, the second what is varied, then comes a line a run of the design (of a search, without
 * a hash where it had that cell not run with that seed); these are replaced as one. A line a finished run is appended, and on the disk before anything else
 * is said of that run; one cut short by a crash is none. Private to analysis/.
 */
#ifndef TIDELAB_ANALYSIS_MANIFEST_H
#define TIDELAB_ANALYSIS_MANIFEST_H

#include "analysis/sweep.h"

struct tl_manifest {
	char *identity;
	char *scenario_name, *scenario;
	struct tl_design design;
	struct tl_sweep_run *runs; /* of the design, in its order */
	size_t run_count;
};

/* TL_E_NOINPUT: there is none; TL_E_DATA: it is not ours, damaged, or of a newer version. */
enum tl_status tl_manifest_read(const char *path, struct tl_manifest *out, struct tl_error *error);
void tl_manifest_fini(struct tl_manifest *manifest);

/* Replaces it as one: after a crash it is the old one or the new one. */
enum tl_status tl_manifest_write(const char *path, const char *identity,
                                 const struct tl_subject *subject, const struct tl_design *design,
                                 const struct tl_sweep_run *runs, size_t run_count,
                                 struct tl_error *error);
/* Appends how a run ended, and sees it to the disk. */
enum tl_status tl_manifest_note(const char *path, const struct tl_sweep_run *run,
                                struct tl_error *error);

/* Numbers of the runs in the order of their hashes, equal ones in their own; malloc'd. */
size_t *tl_runs_by_hash(const struct tl_sweep_run *runs, size_t count);

/* Opens, flushes to the disk, closes. */
enum tl_status tl_sync_path(const char *path, struct tl_error *error);

#endif
