/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/trace.h"

#include "sim/base/arena.h"
#include "traces/trace_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_work_kind_names[TL_KIND_COUNT] = {
    [TL_KIND_TRAINING] = "training",     [TL_KIND_INFERENCE] = "inference",
    [TL_KIND_EVALUATION] = "evaluation", [TL_KIND_SIMULATION] = "simulation",
    [TL_KIND_OTHER] = "other",
};

const char *const tl_outcome_names[TL_OUTCOME_UNKNOWN + 1] = {
    [TL_OUTCOME_COMPLETED] = "completed",
    [TL_OUTCOME_FAILED] = "failed",
    [TL_OUTCOME_CANCELLED] = "cancelled",
    [TL_OUTCOME_UNKNOWN] = "unknown",
};

void tl_trace_options_default(struct tl_trace_options *options)
{
	memset(options, 0, sizeof *options);
	options->scale_time = 1;
	options->scale_size = 1;
}

static enum tl_status bad_option(struct tl_error *error, const char *text)
{
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "%s", text);
}

static bool is_positive(double value)
{
	return isfinite(value) && value > 0;
}

static enum tl_status check_options(const struct tl_trace_options *options, struct tl_error *error)
{
	if (!is_positive(options->scale_time) || !is_positive(options->scale_size))
		return bad_option(error,
		                  "scale, got a factor that is not above 0, wanted one above 0");
	if (options->window_start_ns < 0 || options->window_start_ns > TL_SUBMIT_MAX ||
	    options->window_ns < 0)
		return bad_option(error, "window, got a time that cannot be, wanted 0 or more");
	if (options->min_gpus_mgpu < 0 || options->max_gpus_mgpu < 0 ||
	    options->limit_gpus_mgpu < 0)
		return bad_option(error, "GPU bounds, got a negative one, wanted 0 or more");
	if (options->max_gpus_mgpu > 0 && options->min_gpus_mgpu > options->max_gpus_mgpu)
		return bad_option(error,
		                  "GPU bounds, got min_gpus above max_gpus, wanted min <= max");
	if (options->limit_gpus_mgpu > TL_MGPU_PER_GPU &&
	    options->limit_gpus_mgpu % TL_MGPU_PER_GPU != 0)
		return bad_option(error, "limit_gpus, got a fraction above one, wanted whole GPUs");
	if (options->shuffle && !options->is_static)
		return bad_option(error, "shuffle, got a trace with times, wanted a static one");
	if (options->demand != 0 && !options->is_static)
		return bad_option(error, "demand, got a trace with times, wanted a static one");
	if (options->demand != 0 && !is_positive(options->demand))
		return bad_option(error,
		                  "demand, got a factor that is not above 0, wanted one above 0");
	if (options->demand != 0 && options->capacity_mgpu <= 0)
		return bad_option(error,
		                  "demand, got no cluster capacity, wanted one to measure it by");
	return TL_OK;
}

enum tl_status tl_trace_open_reader(struct tl_trace *trace, struct tl_error *error)
{
	trace->reader = (struct tl_reader){
	    .ops = trace->ops,
	    .path = trace->path,
	    .lint = &trace->lint,
	    .names = &trace->names,
	    .lint_mode = trace->options.lint,
	    .maker = &trace->maker,
	    .is_static = trace->options.is_static,
	};
	enum tl_status status = trace->ops->open(&trace->reader, error);
	trace->reader_open = status == TL_OK;
	return status;
}

void tl_trace_close_reader(struct tl_trace *trace)
{
	if (trace->reader_open)
		trace->ops->close(&trace->reader);
	trace->reader_open = false;
}

static struct tl_trace *new_trace(const char *path, const struct tl_trace_options *options)
{
	struct tl_trace *trace = tl_calloc(1, sizeof *trace);

	trace->path = tl_strdup(path);
	trace->options = *options;
	tl_intern_init(&trace->names.tenants);
	tl_intern_init(&trace->names.queues);
	tl_intern_init(&trace->names.models);
	tl_intern_init(&trace->names.roles);
	return trace;
}

/* Scans a trace that is set up, unless that failed: it is the caller's then, or gone. */
static enum tl_status scan(struct tl_trace *trace, enum tl_status status, struct tl_trace **out,
                           struct tl_error *error)
{
	if (status == TL_OK)
		status = tl_trace_scan(trace, error);
	if (status != TL_OK) {
		tl_trace_close(trace);
		return status;
	}
	*out = trace;
	return TL_OK;
}

enum tl_status tl_trace_open(const char *path, const struct tl_trace_options *options,
                             struct tl_trace **out, struct tl_error *error)
{
	struct tl_trace *trace = new_trace(path, options);
	enum tl_status status = check_options(options, error);

	if (status == TL_OK)
		status = tl_reader_choose(path, options->format, &trace->ops, error);
	return scan(trace, status, out, error);
}

enum tl_status tl_trace_open_made(const struct tl_trace_maker *maker,
                                  const struct tl_trace_options *options, struct tl_trace **out,
                                  struct tl_error *error)
{
	struct tl_trace *trace = new_trace(maker->name, options);
	enum tl_status status = check_options(options, error);

	trace->maker = *maker;
	trace->ops = &tl_read_made;
	return scan(trace, status, out, error);
}

void tl_trace_close(struct tl_trace *trace)
{
	if (trace == NULL)
		return;
	tl_trace_close_reader(trace);
	if (trace->maker.forget != NULL)
		trace->maker.forget(trace->maker.of);
	tl_intern_fini(&trace->names.tenants);
	tl_intern_fini(&trace->names.queues);
	tl_intern_fini(&trace->names.models);
	tl_intern_fini(&trace->names.roles);
	tl_mix_fini(&trace->mix);
	tl_held_fini(&trace->held);
	tl_seen_fini(&trace->rows_seen);
	tl_seen_fini(&trace->ids_seen);
	free(trace->duplicates);
	free(trace->path);
	free(trace);
}

/* Whether the row just streamed was found to be a duplicate by the scan. */
static bool is_known_duplicate(struct tl_trace *trace)
{
	if (trace->duplicate_next >= trace->duplicate_count ||
	    trace->duplicates[trace->duplicate_next] != trace->streamed)
		return false;
	trace->duplicate_next++;
	return true;
}

static enum tl_status file_changed(const struct tl_trace *trace, struct tl_error *error)
{
	return tl_error_set(error, TL_E_IO, trace->path, 0, 0,
	                    "input, got other rows than when it was first read, wanted a file that "
	                    "does not change meanwhile");
}

static enum tl_status stream_next(struct tl_trace *trace, struct tl_trace_record *out,
                                  struct tl_error *error)
{
	struct tl_row row;
	enum tl_status status;
	bool keep = false;

	while (!keep) {
		if (trace->progress.kept == trace->stats.rows_kept)
			return TL_END;
		status = trace->ops->next(&trace->reader, &row, error);
		if (status == TL_END)
			return file_changed(trace, error);
		if (status != TL_OK)
			return status;
		trace->streamed++;
		if (is_known_duplicate(trace) || row.dropped)
			continue;
		if (trace->any_row && row.record.submit_ns < trace->before_ns)
			return file_changed(trace, error);
		trace->any_row = true;
		trace->before_ns = row.record.submit_ns;
		if (!tl_trace_passes(trace, &row.record))
			continue;
		status = tl_trace_arrange(trace, &trace->progress, &row.record, &keep, error);
		if (status != TL_OK)
			return status;
	}
	*out = row.record;
	return TL_OK;
}

enum tl_status tl_trace_next(struct tl_trace *trace, struct tl_trace_record *out,
                             struct tl_error *error)
{
	if (trace->stats.held) {
		if (trace->held_next == trace->held.order_count)
			return TL_END;
		tl_held_get(&trace->held, trace->held.order[trace->held_next++], out);
	} else {
		enum tl_status status = stream_next(trace, out, error);
		if (status != TL_OK)
			return status;
	}
	if (out->id[0] == '\0')
		snprintf(out->id, sizeof out->id, "%ld", out->line);
	return TL_OK;
}

const struct tl_trace_stats *tl_trace_get_stats(const struct tl_trace *trace)
{
	return &trace->stats;
}

const struct tl_trace_request *tl_trace_requests(const struct tl_trace *trace, size_t *count)
{
	*count = trace->mix.count;
	return trace->mix.requests;
}

const struct tl_intern *tl_trace_tenants(const struct tl_trace *trace)
{
	return &trace->names.tenants;
}

const struct tl_intern *tl_trace_queues(const struct tl_trace *trace)
{
	return &trace->names.queues;
}

const struct tl_intern *tl_trace_models(const struct tl_trace *trace)
{
	return &trace->names.models;
}

const struct tl_intern *tl_trace_roles(const struct tl_trace *trace)
{
	return &trace->names.roles;
}

const char *tl_trace_path(const struct tl_trace *trace)
{
	return trace->path;
}

enum tl_trace_format tl_trace_format_of(const struct tl_trace *trace)
{
	return trace->ops->format;
}
