/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A report: one page (HTML that needs nothing else: pictures within it, no script, no
 * network) and the pictures as files, for slides and print. Of one run, or of a sweep.
 */
#ifndef TIDELAB_ANALYSIS_REPORT_H
#define TIDELAB_ANALYSIS_REPORT_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A service keeps its promise where at least this share of its requests was answered in
 * time: its target is one on p99. */
#define TL_REPORT_PROMISE 0.99

struct tl_report_options {
	const char *source;    /* a run's result file; a sweep's folder or merged file */
	const char *out_dir;   /* made: index.html, and pictures/ with a PNG and an SVG of each */
	const char *plots_dir; /* gnuplot scripts and style sheet; NULL: the shipped ones */
	bool force;            /* replace a report that is there */
	const char *against;   /* of a sweep: the key to draw against; NULL: chosen */
	double attainment;     /* of a sweep: what every service is to attain at least */
};

struct tl_report {
	char *page;      /* its path */
	size_t pictures; /* drawn */
	size_t skipped;  /* pictures that the source has no data for: the page says which */
};

/* The folder appears when the whole report is there, and not otherwise.
 * TL_E_CANTCREAT: it exists and force is not given, or it holds something that is no
 * report; TL_E_UNAVAILABLE: no gnuplot, or it refuses; the reader's errors for the source,
 * TL_E_DATA where it has no /summary. tl_report_fini() in any case. */
enum tl_status tl_report_write(const struct tl_report_options *options, struct tl_report *report,
                               struct tl_error *error);
void tl_report_fini(struct tl_report *report);

#endif
