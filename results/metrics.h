/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of the metrics of /summary beyond their names: which stand together when they
 * are shown, which way is better, what they hang on. */
#ifndef TIDELAB_RESULTS_METRICS_H
#define TIDELAB_RESULTS_METRICS_H

#include <stdbool.h>
#include <stddef.h>

/* A metric's group, numbered in the order in which they are shown: each has one. */
size_t tl_metric_group(const char *metric);
/* `Waiting` …; NULL beyond the last. */
const char *tl_metric_group_title(size_t group);

enum tl_better {
	TL_BETTER_NEITHER, /* it describes the work, or depends on what one wants */
	TL_BETTER_LOW,
	TL_BETTER_HIGH
};

enum tl_better tl_metric_better(const char *metric);
/* Among the few that a comparison shows unless told otherwise. */
bool tl_metric_is_headline(const char *metric);
/* Its mean means nothing where the queue never settles. */
bool tl_metric_follows_queue(const char *metric);
/* It may be below zero; all others count, time, price or share something. */
bool tl_metric_is_signed(const char *metric);
/* It is that of one service or pool by this bare name: `player.attainment`, of `attainment`. */
bool tl_metric_is_one_of(const char *metric, const char *name);
/* By `jobs` and `unsubmitted`: so many came after the horizon that the rest do not stand for
 * the work asked for, and who shows metrics says so. */
bool tl_metric_cut_short(double jobs, double unsubmitted);

#endif
