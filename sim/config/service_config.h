/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the schema fills for a service, before it becomes a struct tl_service_setting. All
 * pointers are the arena's. */
#ifndef TIDELAB_CONFIG_SERVICE_CONFIG_H
#define TIDELAB_CONFIG_SERVICE_CONFIG_H

#include "sim/config/schema.h"
#include "sim/config/service_setting.h"

/* With a dot and the longest of its metrics it is the name of a row of the summary. */
enum { TL_SERVICE_NAME_MAX = 46 };

/* {0h: 0.3, 8h: 0.5} */
struct tl_hours_config {
	int64_t *at_ns;
	struct tl_curve_point *points;
	size_t count;
};

struct tl_curve_config {
	struct tl_curve_spec spec;
	struct tl_hours_config hours;
};

struct tl_event_config {
	const struct tl_tree *node;
	struct tl_arrival_event event;
};

struct tl_calendar_config {
	struct tl_event_config *events;
	size_t count;
};

struct tl_values_config {
	int64_t *ns;
	size_t count;
};

struct tl_service_config {
	char name[TL_SERVICE_NAME_MAX];
	struct tl_service_setting setting; /* the plain fields */
	struct tl_curve_config curve;
	struct tl_calendar_config calendar; /* read in, where it is a file */
	struct tl_event_config *events;
	size_t event_count;
	struct tl_values_config values;
	const char *path;          /* of recorded requests, as written; "": none */
	double peak_rps, rate_rps; /* −1: not given */
	int32_t format;
	bool strict; /* of the recording: see traces/requests_read.h */
};

extern const struct tl_section tl_service_section;      /* base: struct tl_workload_config */
extern const struct tl_section tl_service_time_section; /* the same */
extern const struct tl_section tl_arrivals_section;     /* the same */
extern const struct tl_section tl_curve_section;        /* struct tl_curve_config */

extern const struct tl_custom tl_custom_short;    /* a scalar, or a map; base of its section */
extern const struct tl_custom tl_custom_curve;    /* struct tl_curve_config */
extern const struct tl_custom tl_custom_hours;    /* struct tl_hours_config */
extern const struct tl_custom tl_custom_calendar; /* struct tl_calendar_config */
extern const struct tl_custom tl_custom_values;   /* struct tl_values_config */

/* Which keys go with what others say. */
bool tl_service_applies(const struct tl_config_key *key, const void *base);
bool tl_service_time_applies(const struct tl_config_key *key, const void *base);
bool tl_arrivals_applies(const struct tl_config_key *key, const void *base);
bool tl_curve_applies(const struct tl_config_key *key, const void *base);

#endif
