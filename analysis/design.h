/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sweep varies: keys of the scenario, the values each cell gives them, and the
 * seeds each cell is run with (the same for all: common random numbers).
 *
 * An axis is written KEY=VALUES: a list `x,y,z` (commas inside brackets or quotes do not
 * split), a range `FIRST:LAST:STEP` in exact decimals (1.0:1.5:0.05 ends with 1.5, never
 * with 1.4999…), or, for designs that draw their own points, an interval `LOW:HIGH`.
 */
#ifndef TIDELAB_ANALYSIS_DESIGN_H
#define TIDELAB_ANALYSIS_DESIGN_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TL_DESIGN_RUNS_MAX = 100000, TL_DESIGN_AXES_MAX = 40 };

struct tl_axis {
	const char *flag; /* `--vary`: how it was given, for messages; the caller's */
	char *key;
	char **values; /* as given to --set; none for an interval */
	size_t count, room;
	double low, high; /* of an interval; NaN otherwise */
	bool whole;       /* an interval of whole numbers */
	char unit[16];    /* an interval's: `1d:7d` */
};

/* TL_E_USAGE for what is no axis: no key, an empty value, a range that never ends. */
enum tl_status tl_axis_parse(const char *flag, const char *text, struct tl_axis *out,
                             struct tl_error *error);
void tl_axis_fini(struct tl_axis *axis);

/* Cells by hand: whoever searches adds keys first, then cells as it goes. */
struct tl_design {
	char *name; /* `grid`, `one-at-a-time`, `sobol:64`, … */
	char **keys;
	size_t key_count;
	char **values; /* [cell × key_count + key]; NULL: as the scenario has it */
	size_t cell_count, cell_room;
	uint64_t *seeds;
	size_t seed_count, seed_room;
};

void tl_design_init(struct tl_design *design, const char *name, const char *const *keys,
                    size_t key_count);
void tl_design_fini(struct tl_design *design);
/* values: one a key; all copied. Returns the cell's number. */
size_t tl_design_add(struct tl_design *design, const char *const *values);
const char *tl_design_value(const struct tl_design *design, size_t cell, size_t key);
void tl_design_seed(struct tl_design *design, uint64_t seed);
/* `1..10`, `3,5,8..9`: appended. TL_E_USAGE: not that, twice the same, too many. */
enum tl_status tl_design_seeds_parse(struct tl_design *design, const char *text,
                                     struct tl_error *error);

/* The cell of these values; cell_count where there is none. */
size_t tl_design_find(const struct tl_design *design, const char *const *values);

/* The same keys, and every cell and seed of the part among those of the whole. */
bool tl_design_covers(const struct tl_design *whole, const struct tl_design *part);

/* `grid` (NULL), `one-at-a-time` (the first cell is the scenario's own values) or
 * `sobol:N`, of these axes; seeds are still to be added. own: the scenario's own value of
 * each axis' key, NULL where it has none to tell; one-at-a-time alone looks at it.
 * TL_E_USAGE: no such design, axes it cannot use, more than TL_DESIGN_RUNS_MAX cells. */
enum tl_status tl_design_of_axes(const char *text, const struct tl_axis *axes, size_t axis_count,
                                 const char *const *own, struct tl_design *out,
                                 struct tl_error *error);

#endif
