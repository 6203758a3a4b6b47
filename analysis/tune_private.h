/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of analysis/tune share. */
#ifndef TIDELAB_ANALYSIS_TUNE_PRIVATE_H
#define TIDELAB_ANALYSIS_TUNE_PRIVATE_H

#include "analysis/tune.h"

struct tl_tuning {
	const struct tl_tune_options *options;
	struct tl_tune *tune;
	size_t capacity;
	size_t reserved; /* runs kept for the last look */
	size_t axes, measures;
	struct tl_error *error;
};

/* Sees to it that the points (rungs, axis by axis) have been run with the first `seeds` seeds.
 * Those come first that the budget has room for; which[] gets the number of each one's try, or SIZE_MAX
 * where it did not. A setting that was met before costs only what is new. */
enum tl_status tl_tune_ask(struct tl_tuning *tuning, const int *points, size_t count, size_t seeds,
                           enum tl_tune_phase phase, size_t *which);
size_t tl_tune_left(const struct tl_tuning *tuning); /* runs */

/* Below 0: a is better. Of two alike, the one tried first. */
int tl_tune_compare(const struct tl_tuning *tuning, size_t a, size_t b);

/* How many settings of one axis are looked at alone, and with how many seeds. */
int tl_tune_screen_rungs(const struct tl_ladder *ladder);
size_t tl_tune_screen_seeds(const struct tl_tune_options *options);

/* The phases, in their order. Each leaves tune->best at the best setting yet that was run with all
 * seeds (after tl_tune_screen: with those of the screening). */
enum tl_status tl_tune_screen(struct tl_tuning *tuning);
enum tl_status tl_tune_spread(struct tl_tuning *tuning);
enum tl_status tl_tune_descend(struct tl_tuning *tuning);

/* What the axis has to it, by tl_tune_screen. */
const struct tl_tune_effect *tl_tune_effect_of(const struct tl_tuning *tuning, size_t axis);

#endif
