/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of a run, drawn by gnuplot from its result file, each as PNG and as SVG: GPUs
 * over time, what they did, waiting times, fragmentation, each service's latency, and the
 * nodes' occupation job by job.
 */
#ifndef TIDELAB_ANALYSIS_FIGURES_H
#define TIDELAB_ANALYSIS_FIGURES_H

#include "sim/base/error.h"

#include <stddef.h>

struct tl_figure {
	char *name;  /* of its files, without ending: `utilisation`, `service-player` */
	char *title; /* `GPUs over time` */
	char *alt;   /* what is to be seen, in words */
	char *png;   /* paths; NULL where it was skipped */
	char *svg;
	char *skipped; /* `the result has no table /placements …`; NULL where it was drawn */
};

struct tl_figures {
	struct tl_figure *items;
	size_t count, room;
	size_t written; /* of them */
};

/* Writes utilisation, purposes, waiting, fragmentation, service-NAME (one a service; what
 * is no plain letter of the name is `_`) and gantt, each .png and .svg, into out_dir,
 * which is made where it is absent; files of these names are replaced. A picture whose
 * tables were not written by the run, or hold nothing to draw, is skipped and says so.
 * plots_dir holds the gnuplot scripts; NULL: those of the build tree or of the
 * installation.
 * TL_E_UNAVAILABLE without gnuplot or scripts, or if gnuplot refuses; TL_E_CANTCREAT,
 * TL_E_IO for out_dir; the reader's errors for the result. Nothing half-written is left,
 * but pictures already drawn stay and are listed. tl_figures_fini() in any case. */
enum tl_status tl_figures_write(const char *result_path, const char *out_dir, const char *plots_dir,
                                struct tl_figures *figures, struct tl_error *error);
void tl_figures_fini(struct tl_figures *figures);

#endif
