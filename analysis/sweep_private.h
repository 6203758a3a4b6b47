/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of a sweep share. Private to analysis/. */
#ifndef TIDELAB_ANALYSIS_SWEEP_PRIVATE_H
#define TIDELAB_ANALYSIS_SWEEP_PRIVATE_H

#include "analysis/manifest.h"
#include "analysis/sweep.h"
#include "results/schema.h"

struct tl_sweep {
	struct tl_sweep_options options;
	const struct tl_subject *subject;
	char *dir; /* absolute */
	char *manifest;
	char *identity;
	int lock;    /* -1: none */
	bool made;   /* the folder was not there */
	bool fresh;  /* it held nothing of any sweep … */
	bool marked; /* … and by now has a manifest */
	void *executor;
	/* Of a search: every cell and run asked for so far, by those before it too. */
	struct tl_design asked;
	struct tl_sweep_run *asked_runs; /* asked.cell_count × asked.seed_count */
};

/* A search has asked for these runs too, or they have ended by now. Those that are
 * TL_RUN_UNASKED, and cells of nothing else, are passed over. */
void tl_asked_add(struct tl_sweep *sweep, const struct tl_design *design,
                  const struct tl_sweep_run *runs);
/* What those before it asked for, but for what would be another run by now. */
enum tl_status tl_asked_begin(struct tl_sweep *sweep, struct tl_manifest *held,
                              struct tl_error *error);
void tl_asked_fini(struct tl_sweep *sweep);

/* FOLDER/runs/HASH.h5; malloc'd. */
char *tl_run_path(const char *folder, const char *hash);

/* The summary of a result that is whole and is what its name says. TL_E_NOINPUT where
 * there is none, TL_E_DATA where it is another, or damaged. rows may be NULL. */
enum tl_status tl_run_read(const char *path, const char *hash, struct tl_row_summary **rows,
                           size_t *count, struct tl_error *error);

/* `oversubscription=1.2 policy.place=fgd, seed 3`, cut where it does not fit. */
const char *tl_run_describe(const struct tl_design *design, const struct tl_sweep_run *run,
                            char *buffer, size_t size);

#endif
