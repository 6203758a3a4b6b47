/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What searches over settings (tune, plan) ask: what do these settings come to, with these seeds? */
#ifndef TIDELAB_ANALYSIS_SEARCH_H
#define TIDELAB_ANALYSIS_SEARCH_H

#include "analysis/constraint.h"
#include "analysis/space.h"
#include "analysis/sweep.h"
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

/* ---- answers from runs, in a folder of runs (analysis/sweep.h) ---- */

/* A metric; of several (each service's, say) the worst. */
struct tl_measure {
	char **metrics;
	size_t count;
	bool high_is_worse;
};

struct tl_search {
	struct tl_sweep *sweep;
	const struct tl_subject *subject;
	const struct tl_space *space;
	/* An axis: the scenario's own value, where giving it makes the same run; NULL. */
	char *const *own;
	const uint64_t *seeds;
	const struct tl_measure *measures;
	size_t measure_count;
	double left_out; /* the largest share of its jobs that a horizon left out of a run */
	bool begun;      /* a run has gone well: one that fails from here on is of a bad setting */
};

/* A tl_search_evaluate: its context is a struct tl_search. */
enum tl_status tl_search_ask(void *context, const struct tl_search_question *question,
                             double *answers, struct tl_error *error);
/* The metrics that the scenario's own setting has with the first seed; malloc'd, free with
 * tl_search_names_free. */
enum tl_status tl_search_names(struct tl_search *search, char ***names, size_t *count,
                               struct tl_error *error);
void tl_search_names_free(char **names, size_t count);

#endif
