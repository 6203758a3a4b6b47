/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/requests_read.h"

#include "sim/base/arena.h"
#include "sim/base/checksum.h"
#include "traces/input.h"
#include "traces/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *const tl_request_format_names[TL_REQUESTS_FORMAT_COUNT] = {"auto", "azure-llm",
                                                                       "mooncake", "servegen"};

bool tl_request_format_parse(const char *name, enum tl_request_format *out)
{
	for (int i = 0; i < TL_REQUESTS_FORMAT_COUNT; i++) {
		if (strcmp(name, tl_request_format_names[i]) == 0) {
			*out = (enum tl_request_format)i;
			return true;
		}
	}
	return false;
}

static enum tl_status detect_line(const char *path, const char *line, enum tl_request_format *out,
                                  struct tl_error *error)
{
	size_t commas = 0;

	for (const char *c = line; *c != '\0'; c++)
		commas += *c == ',';
	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == '{')
		*out = TL_REQUESTS_MOONCAKE;
	else if (strstr(line, "ContextTokens") != NULL)
		*out = TL_REQUESTS_AZURE_LLM;
	else if (*line >= '0' && *line <= '9' && commas == 5)
		*out = TL_REQUESTS_SERVEGEN;
	else
		return tl_error_set(error, TL_E_DATA, path, 1, 0,
		                    "format, got a first line `%.80s` of none, wanted azure-llm, "
		                    "mooncake or servegen",
		                    line);
	return TL_OK;
}

static enum tl_status detect(const char *path, enum tl_request_format *out, struct tl_error *error)
{
	struct stat info;
	struct tl_input input;
	struct tl_lint lint;
	char *text;
	size_t size;

	if (stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
		*out = TL_REQUESTS_SERVEGEN;
		return TL_OK;
	}
	tl_lint_init(&lint);
	enum tl_status status = tl_input_open(&input, path, &lint, error);
	if (status != TL_OK)
		return status;
	do
		status = tl_input_line(&input, &text, &size, error);
	while (status == TL_OK && tl_input_is_blank(text));
	if (status == TL_END)
		status = tl_error_set(error, TL_E_DATA, path, 1, 0,
		                      "format, got blank lines alone, wanted requests");
	else if (status == TL_OK)
		status = detect_line(path, text, out, error);
	tl_input_close(&input);
	return status;
}

/* A row that steps back or repeats another. */
static enum tl_status note_dirt(struct tl_request_trace *trace, enum tl_lint_kind kind, long line,
                                const char *what, struct tl_error *error)
{
	if (trace->strict)
		return tl_error_set(error, TL_E_DATA, trace->path, line, 0,
		                    "request, got one %s, or `strict: false` to take it so", what);
	tl_lint_hit(&trace->lint, kind, line);
	return TL_OK;
}

enum tl_status tl_request_add(struct tl_request_trace *trace, long line, uint64_t hash,
                              int64_t time_ns, int64_t context_tokens, int64_t generated_tokens,
                              struct tl_error *error)
{
	enum tl_status status = TL_OK;

	if (trace->count == UINT32_MAX)
		return tl_error_set(error, TL_E_DATA, trace->path, line, 0,
		                    "requests, got more than %u, wanted at most that many",
		                    (unsigned)UINT32_MAX);
	if (trace->count == trace->capacity)
		trace->requests = tl_grow(trace->requests, &trace->capacity, trace->count + 1,
		                          sizeof *trace->requests);
	if (trace->count > 0 && time_ns < trace->before_ns)
		status =
		    note_dirt(trace, TL_LINT_BACKWARD_TIME, line,
		              "before that of the row above, wanted them in order of time", error);
	if (status == TL_OK && tl_seen_put(&trace->seen, hash))
		status = note_dirt(trace, TL_LINT_DUPLICATE_ROW, line,
		                   "that repeats an earlier row in every field, wanted each once",
		                   error);
	if (status != TL_OK)
		return status;
	trace->before_ns = time_ns;
	trace->requests[trace->count] = (struct tl_recorded_request){
	    .time_ns = time_ns,
	    .context_tokens = (int32_t)context_tokens,
	    .generated_tokens = (int32_t)generated_tokens,
	    .row = (uint32_t)trace->count,
	};
	trace->count++;
	trace->stats.context_tokens += context_tokens;
	trace->stats.generated_tokens += generated_tokens;
	return TL_OK;
}

static int compare_requests(const void *left, const void *right)
{
	const struct tl_recorded_request *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Sorts, and moves time 0 to the earliest. */
static enum tl_status settle(struct tl_request_trace *trace, struct tl_error *error)
{
	struct tl_request_stats *stats = &trace->stats;

	if (trace->count == 0)
		return tl_error_set(error, TL_E_DATA, trace->path, 0, 0,
		                    "requests, got none, wanted at least one");
	qsort(trace->requests, trace->count, sizeof *trace->requests, compare_requests);
	stats->origin_ns = trace->requests[0].time_ns;
	stats->span_ns = trace->requests[trace->count - 1].time_ns - stats->origin_ns;
	stats->rows = trace->count;
	for (size_t i = 0; i < trace->count; i++) {
		trace->requests[i].time_ns -= stats->origin_ns;
		stats->equal_times +=
		    i > 0 && trace->requests[i].time_ns == trace->requests[i - 1].time_ns;
	}
	return tl_sha256_file(trace->path, stats->sha256, error);
}

enum tl_status tl_request_trace_open(const char *path, enum tl_request_format format, bool strict,
                                     struct tl_request_trace **out, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	if (format == TL_REQUESTS_AUTO)
		status = detect(path, &format, error);
	if (status != TL_OK)
		return status;
	struct tl_request_trace *trace = tl_calloc(1, sizeof *trace);
	trace->path = tl_strdup(path);
	trace->format = format;
	trace->strict = strict;
	tl_lint_init(&trace->lint);
	tl_seen_init(&trace->seen);
	if (format == TL_REQUESTS_SERVEGEN) {
		status = tl_requests_read_servegen(trace, error);
	} else {
		status = format == TL_REQUESTS_AZURE_LLM ? tl_requests_read_azure(trace, error)
		                                         : tl_requests_read_mooncake(trace, error);
		if (status == TL_OK)
			status = settle(trace, error);
	}
	tl_seen_fini(&trace->seen);
	if (status != TL_OK) {
		tl_request_trace_close(trace);
		return status;
	}
	trace->stats.lint_count = tl_lint_collect(&trace->lint, trace->classes);
	trace->stats.lint = trace->classes;
	*out = trace;
	return TL_OK;
}

void tl_request_trace_close(struct tl_request_trace *trace)
{
	if (trace == NULL)
		return;
	for (size_t i = 0; i < trace->client_count; i++)
		free((void *)(uintptr_t)trace->clients[i].windows);
	free(trace->clients);
	free(trace->requests);
	free(trace->path);
	free(trace);
}

enum tl_request_format tl_request_trace_format(const struct tl_request_trace *trace)
{
	return trace->format;
}

const struct tl_request_stats *tl_request_trace_stats(const struct tl_request_trace *trace)
{
	return &trace->stats;
}

const struct tl_recorded_request *tl_request_trace_requests(const struct tl_request_trace *trace,
                                                            size_t *count)
{
	*count = trace->count;
	return trace->count > 0 ? trace->requests : NULL;
}

const struct tl_client *tl_request_trace_clients(const struct tl_request_trace *trace,
                                                 size_t *count, size_t *window_count,
                                                 int64_t *window_ns)
{
	*count = trace->client_count;
	*window_count = trace->window_count;
	*window_ns = trace->window_ns;
	return trace->client_count > 0 ? trace->clients : NULL;
}
