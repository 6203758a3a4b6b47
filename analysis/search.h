/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What searches over settings (tune, plan) ask: what do these settings come to, with these seeds? */
#ifndef TIDELAB_ANALYSIS_SEARCH_H
#define TIDELAB_ANALYSIS_SEARCH_H

#include "analysis/constraint.h"
#include "analysis/space.h"
#include "sim/base/error.h"

#include <stddef.h>

struct tl_search_question {
	const int *points; /* [point × axes + axis]: rungs, or TL_SPACE_OWN */
	size_t point_count;
	size_t first_seed, seed_count; /* of the search's list of seeds */
};

/* Of each point and seed, point by point, one value a measure: NaN where the run failed or says
 * nothing. The same question has the same answer. An error ends the search. */
typedef enum tl_status (*tl_search_evaluate)(void *context,
                                             const struct tl_search_question *question,
                                             double *answers, struct tl_error *error);

#endif
