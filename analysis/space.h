/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a search goes: each axis a ladder of settings, a point one rung of each. An interval's
 * rungs are round numbers no closer than a few hundredths of its length, so that what is
 * found can be read, and is the same run when met again.
 */
#ifndef TIDELAB_ANALYSIS_SPACE_H
#define TIDELAB_ANALYSIS_SPACE_H

#include "analysis/design.h"

struct tl_ladder {
	const char *key; /* the axis' own */
	char **rungs;    /* as given to --set */
	size_t room;     /* for rungs */
	int count;
	bool ordered; /* numbers, from low to high; otherwise choices without an order */
	bool smooth;  /* of an interval, and of many rungs */
};

struct tl_space {
	struct tl_ladder *ladders;
	size_t count;
};

enum {
	TL_SPACE_OWN = -1,   /* in place of a rung: as the scenario has it */
	TL_SPACE_SMOOTH = 12 /* rungs of a smooth axis at least */
};

/* Takes a list as it is (ordered where it is all numbers of one unit, which must then rise), and
 * of an interval at most about `most` rungs, 2 at least. axes must outlive it. TL_E_USAGE: an axis of one
 * value, numbers that do not rise, a key twice. */
enum tl_status tl_space_of_axes(const struct tl_axis *axes, size_t count, int most,
                                struct tl_space *out, struct tl_error *error);
void tl_space_fini(struct tl_space *space);

/* A rung's text; NULL for TL_SPACE_OWN. */
const char *tl_space_value(const struct tl_space *space, size_t axis, int rung);
/* Where it is between the ends, 0 to 1, and the nearest rung to such a place. */
double tl_space_place(const struct tl_ladder *ladder, int rung);
int tl_space_rung(const struct tl_ladder *ladder, double place);
/* The rung nearest to the scenario's own value; TL_SPACE_OWN: it has none, or of another kind. */
int tl_space_near(const struct tl_ladder *ladder, const char *own);

#endif
