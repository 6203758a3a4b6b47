/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The highest planned rate of a service over a stretch to come: what a calendar rule
 * provides for. The host's calendar extension holds known curves and announced events. */
#ifndef TIDELAB_LIB_CALENDAR_H
#define TIDELAB_LIB_CALENDAR_H

#include "policies/abi/tidelab_policy.h"

enum { TL_CALENDAR_LOOKS = 8 }; /* instants of the stretch that are looked at */

static inline int64_t tl_calendar_peak_per_ks(const struct tl_calendar *calendar,
                                              const struct tl_host *host, uint32_t service,
                                              int64_t now_ns, int64_t lead_ns)
{
	int64_t peak_per_ks = -1;

	for (int64_t i = 0; i <= TL_CALENDAR_LOOKS; i++) {
		int64_t rate_per_ks = calendar->planned_per_ks(
		    host, service, now_ns + lead_ns / TL_CALENDAR_LOOKS * i);

		if (rate_per_ks > peak_per_ks)
			peak_per_ks = rate_per_ks;
	}
	return peak_per_ks;
}

/* The row of the lead time in a policy's table. */
#define TL_CALENDAR_OPTION_LEAD                                                                    \
	{                                                                                          \
		.name = "lead", .type = TL_OPTION_DURATION, .unit = "", .standard = "30min",       \
		.min = 0, .max = 8.64e13,                                                          \
		.help =                                                                            \
		    "ahead of the plan; shorter than a cold start it comes late, longer it idles"  \
	}

static inline const struct tl_calendar *tl_calendar_of(const struct tl_host *host)
{
	return host->extension(host, TL_EXTENSION_CALENDAR);
}

#endif
