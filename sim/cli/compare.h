/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings side by side: in what their scenarios differ, and the tables of their metrics. */
#ifndef TIDELAB_CLI_COMPARE_H
#define TIDELAB_CLI_COMPARE_H

#include "analysis/compare.h"
#include "analysis/settling.h"

#include <jansson.h>
#include <stdio.h>

/* ---- scenarios ---- */

struct tl_difference {
	char *key, *a, *b; /* NULL: the side has no such key */
	/* The work or the length of the run: totals of such sides are no answer to the same
	 * question. */
	bool decides;
};

struct tl_differences {
	struct tl_difference *items;
	size_t count, capacity;
};

/* Of the effective scenarios, a sweep's settings included, and of the contents of traces as far
 * as the runs have files. Names, seeds, output and watchdogs do not count. */
enum tl_status tl_differences_find(const struct tl_runs *a, const struct tl_runs *b,
                                   struct tl_differences *out, struct tl_error *error);
/* TL_E_DATA where one of them decides. */
enum tl_status tl_differences_check(const struct tl_runs *a, const struct tl_runs *b,
                                    const struct tl_differences *differences,
                                    struct tl_error *error);
void tl_differences_fini(struct tl_differences *differences);

/* ---- one comparison, shown ---- */

struct tl_side {
	const struct tl_runs *runs;
	struct tl_settling settling;
};

struct tl_shown {
	struct tl_side a, b;
	const struct tl_differences *differences;
	const struct tl_comparison *rows;
	size_t count;
	struct tl_compare_options options;
	int64_t steady_from_ns; /* negative: no steady metrics were asked for */
	bool details;           /* a second line a metric: bootstrap, ratio, effect, p */
};

/* At most 100 columns wide, but for long names. */
void tl_compare_print(const struct tl_shown *shown, FILE *out);
/* Several at once: a row a setting and a column a metric, its change and verdict. */
void tl_compare_print_many(const struct tl_shown *shown, size_t count, FILE *out);
json_t *tl_compare_json(const struct tl_shown *shown);
/* A mean that hangs on a queue that never settles. */
bool tl_compare_is_meaningless(const struct tl_shown *shown, const struct tl_comparison *row);
/* Its own interval leaves out 0, and the correction for many metrics hides it. */
bool tl_compare_is_hidden(const struct tl_comparison *row);
/* How many of the metrics were tested. */
size_t tl_compare_tested(const struct tl_shown *shown);

/* ---- what the two ways to print share ---- */

enum { TL_COMPARE_WIDTH = 100, TL_COMPARE_NUMBER = 32 };

/* Four digits, or the whole part; `-` for none. Returns buffer, or a constant. */
const char *tl_compare_number(double value, bool sign, char buffer[TL_COMPARE_NUMBER]);
/* `-12.3 %`; `-` where there is no ratio to tell. */
const char *tl_compare_change(const struct tl_comparison *row, char buffer[TL_COMPARE_NUMBER]);
/* `better`, `worse`, `higher`, `lower`, `same`, `not shown`, `-`. */
const char *tl_compare_verdict(const struct tl_comparison *row);
const char *tl_compare_correction(enum tl_correction correction);
/* What the correction hides, and about how many seeds would show it; nothing where nothing. */
void tl_compare_print_hidden(const struct tl_shown *shown, FILE *out);
/* A queue that never settles, in the runs of what is called name. */
void tl_compare_print_saturated(const char *name, const struct tl_settling *settling, FILE *out);

#endif
