/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The request trace behind requests_read.h, shared by its readers. */
#ifndef TIDELAB_TRACES_RECORDED_H
#define TIDELAB_TRACES_RECORDED_H

#include "traces/lint.h"
#include "traces/requests_read.h"
#include "traces/seen.h"

struct tl_request_trace {
	char *path;
	enum tl_request_format format;
	bool strict; /* what is out of order or repeats another is refused */
	struct tl_recorded_request *requests;
	size_t count, capacity;
	struct tl_client *clients;
	size_t client_count, client_capacity;
	size_t window_count;
	int64_t window_ns; /* 0: not known yet */
	int64_t first_window_ns;
	struct tl_seen seen;
	int64_t before_ns; /* time of the row above */
	struct tl_lint lint;
	struct tl_lint_class classes[TL_LINT_KIND_COUNT];
	struct tl_request_stats stats;
};

/* A row into the trace; time on the file's clock. hash: of all its fields. */
enum tl_status tl_request_add(struct tl_request_trace *trace, long line, uint64_t hash,
                              int64_t time_ns, int64_t context_tokens, int64_t generated_tokens,
                              struct tl_error *error);

enum tl_status tl_requests_read_azure(struct tl_request_trace *trace, struct tl_error *error);
enum tl_status tl_requests_read_mooncake(struct tl_request_trace *trace, struct tl_error *error);
/* Fills clients, windows and sha256. */
enum tl_status tl_requests_read_servegen(struct tl_request_trace *trace, struct tl_error *error);

#endif
