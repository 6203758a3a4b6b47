/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A second implementation of the rules in sim/work/requests.h, slow and plain: it looks at
 * every replica at every instant, keeps lists in arrays and integrates by stepping. It
 * shares nothing with the engine but the draws.
 */
#ifndef TIDELAB_TESTS_REQUESTS_REFERENCE_H
#define TIDELAB_TESTS_REQUESTS_REFERENCE_H

#include "sim/work/requests.h"

enum { REF_REQUESTS = 500, REF_REPLICAS = 160, REF_ACTS = 240 };

enum ref_do { REF_ADD, REF_DRAIN, REF_KILL, REF_SPEED, REF_WINDOW };

struct ref_act {
	int64_t at_ns;
	enum ref_do what;
	uint64_t key;
	int64_t speed_ppb;
};

struct ref_case {
	struct tl_request_model model;
	uint64_t seed;
	uint32_t service;
	size_t request_count, act_count;
	int64_t arrivals_ns[REF_REQUESTS]; /* ascending */
	struct tl_service_tokens tokens[REF_REQUESTS];
	struct ref_act acts[REF_ACTS]; /* ascending; the last closes a window */
};

struct ref_result {
	bool left[REF_REQUESTS];
	struct tl_request_left how[REF_REQUESTS]; /* valid where left */
	size_t window_count;
	struct tl_request_window windows[REF_ACTS]; /* without quantiles and histogram */
	int64_t drained_ns[REF_REPLICAS];           /* by key; TL_NONE */
};

void ref_run(const struct ref_case *given, struct ref_result *out);

#endif
