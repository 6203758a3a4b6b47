/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Worlds with online services: small random ones, a run of one, its services' rows. Goes on
 * from world.h: scenario and rows of the rest are in `world`. */
#ifndef TIDELAB_TESTS_SERVICES_WORLD_H
#define TIDELAB_TESTS_SERVICES_WORLD_H

#include "results/schema.h"
#include "tests/property/world.h"

#include <stdbool.h>

enum { SERVICES_MAX = 3 };

struct service_rows {
	struct tl_row_window *windows;
	size_t count;
	/* Sums over them. */
	uint64_t arrivals, served, dropped, attained;
};

/* Runs this scenario in folder `a` or `b`, whose path is returned, and reads it into `world`
 * (world_forget frees). */
const char *services_run(const char *name, const char *text);
/* A scenario that no trial is made of, for a reason with this word in it. */
void services_refused(const char *text, const char *word);
struct service_rows services_rows(const char *folder, const char *service);
/* A row of /summary; NaN where it says so. */
double services_metric(const char *folder, const char *metric);
/* GPU time of an account by purpose (NULL: all that belong to no idle one), exactly. */
tl_i128 services_booked(const char *tenant, const char *purpose);
/* Whether the results of folders a and b are the same bytes. */
bool services_same_bytes(const char *a, const char *b);

/* The text of random world `number`, with 1 to SERVICES_MAX services named s0, s1 … beside
 * the jobs of world `number`, but for its policy; returns how many. The buffer is static. */
unsigned services_draw(uint64_t number, const char **text);
/* Most requests that service s of the world drawn last may have in service. */
uint64_t services_most_in_service(unsigned s);

#endif
