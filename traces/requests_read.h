/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded requests of online services, read whole into memory.
 *
 * azure-llm  CSV `TIMESTAMP,ContextTokens,GeneratedTokens`, columns by name
 * mooncake   JSON lines: `timestamp` ms, `input_length`, `output_length`, `hash_ids`
 *            (optional; counted, not kept)
 * servegen   CSV without header, a file a client: window start s, requests/s, coefficient
 *            of variation, family (`Gamma`, `Weibull`, empty), its shape and scale; a
 *            folder of `chunk-<n>-trace.csv`, or one such file. Windows are equally long
 *            and follow each other, the same ones in each file.
 *
 * The first two hold requests, servegen holds rates. Requests are sorted by (time, row);
 * time 0 is the earliest. Equal times are counted and kept. A row before the one above it,
 * and one that repeats another in every field, are refused where reading is `strict`, else
 * counted and kept. A value that is none of its column ends the reading with `file:line: what,
 * got, wanted`. Files may be gzip-compressed.
 */
#ifndef TIDELAB_TRACES_REQUESTS_READ_H
#define TIDELAB_TRACES_REQUESTS_READ_H

#include "sim/base/error.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tl_request_format {
	TL_REQUESTS_AUTO, /* by the first line; a folder is servegen */
	TL_REQUESTS_AZURE_LLM,
	TL_REQUESTS_MOONCAKE,
	TL_REQUESTS_SERVEGEN,
	TL_REQUESTS_FORMAT_COUNT
};
extern const char *const tl_request_format_names[TL_REQUESTS_FORMAT_COUNT];
/* False where unknown. */
bool tl_request_format_parse(const char *name, enum tl_request_format *out);

struct tl_recorded_request {
	int64_t time_ns; /* since the earliest */
	int32_t context_tokens, generated_tokens;
	uint32_t row; /* in the file, 0-based */
};

enum tl_gap_family { TL_GAP_EXPONENTIAL, TL_GAP_GAMMA, TL_GAP_WEIBULL };

/* How one client's requests come in one window. The published scale is a fit that does
 * not always give the stated rate: the rate stands, and the mean gap is 1 / rate. */
struct tl_client_window {
	double rate_rps;
	double cv;    /* as stated; 0 where the client is silent */
	double shape; /* of the family; 1 for EXPONENTIAL */
	enum tl_gap_family family;
};

struct tl_client {
	uint32_t number;                        /* <n> of its file's name; 0 for a single file */
	const struct tl_client_window *windows; /* window_count of them */
};

struct tl_request_stats {
	uint64_t rows;        /* read, all kept */
	uint64_t equal_times; /* requests at the time of the one before them, once sorted */
	uint64_t hash_ids;
	int64_t context_tokens, generated_tokens; /* sums */
	int64_t origin_ns; /* of time 0 on the file's own clock (azure-llm: since 1970) */
	int64_t span_ns;   /* last − first request; servegen: all windows */
	const struct tl_lint_class *lint; /* those with count > 0, in a fixed order */
	size_t lint_count;
	char sha256[65]; /* of the file; of a folder: of its files' sums, a line each in order */
};

struct tl_request_trace; /* opaque */

/* Nothing is created on failure. */
enum tl_status tl_request_trace_open(const char *path, enum tl_request_format format, bool strict,
                                     struct tl_request_trace **out, struct tl_error *error);
void tl_request_trace_close(struct tl_request_trace *trace);

/* All valid until close. */
enum tl_request_format tl_request_trace_format(const struct tl_request_trace *trace);
const struct tl_request_stats *tl_request_trace_stats(const struct tl_request_trace *trace);
/* NULL and 0 for servegen. */
const struct tl_recorded_request *tl_request_trace_requests(const struct tl_request_trace *trace,
                                                            size_t *count);
/* By number, ascending. NULL and 0 for formats that hold requests. */
const struct tl_client *tl_request_trace_clients(const struct tl_request_trace *trace,
                                                 size_t *count, size_t *window_count,
                                                 int64_t *window_ns);

#endif
