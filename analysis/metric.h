/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is known of a metric beyond its name: which way is better, and what it hangs on. */
#ifndef TIDELAB_ANALYSIS_METRIC_H
#define TIDELAB_ANALYSIS_METRIC_H

#include <stdbool.h>

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

#endif
