/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures of a run, drawn by gnuplot from its result file: utilisation over time,
 * waiting times, and the nodes' occupation job by job; each as PNG and as SVG.
 */
#ifndef TIDELAB_ANALYSIS_FIGURES_H
#define TIDELAB_ANALYSIS_FIGURES_H

#include "sim/base/error.h"

#include <stddef.h>

enum { TL_FIGURES_MAX = 8 };

struct tl_figures {
	size_t written_count;
	char *written[TL_FIGURES_MAX]; /* paths, PNG before SVG */
	size_t skipped_count;
	char *skipped[TL_FIGURES_MAX]; /* `gantt: the result has no table /placements …` */
};

/* Writes utilisation.{png,svg}, waiting.{png,svg} and gantt.{png,svg} into out_dir,
 * which is made where it is absent; files of these names are replaced. A picture whose
 * tables were not written by the run, or hold nothing to draw, is skipped and named in
 * *figures. plots_dir holds the gnuplot scripts; NULL: those of the build tree or of the
 * installation.
 * TL_E_UNAVAILABLE without gnuplot or scripts, or if gnuplot refuses; TL_E_CANTCREAT,
 * TL_E_IO for out_dir; the reader's errors for the result. Nothing half-written is left,
 * but pictures already drawn stay and are listed. tl_figures_fini() in any case. */
enum tl_status tl_figures_write(const char *result_path, const char *out_dir, const char *plots_dir,
                                struct tl_figures *figures, struct tl_error *error);
void tl_figures_fini(struct tl_figures *figures);

#endif
