/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which metrics of /summary stand together when they are shown. */
#ifndef TIDELAB_RESULTS_METRICS_H
#define TIDELAB_RESULTS_METRICS_H

#include <stddef.h>

/* A metric's group, numbered in the order in which they are shown: each has one. */
size_t tl_metric_group(const char *metric);
/* `Waiting` …; NULL beyond the last. */
const char *tl_metric_group_title(size_t group);

#endif
