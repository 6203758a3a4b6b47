/* SPDX-License-Identifier: GPL-3.0-or-later */
/* From repaired rows to what is handed out: filters, origin of time, scales. */
#include "traces/trace_internal.h"

#include <math.h>
#include <string.h>

bool tl_trace_passes(struct tl_trace *trace, struct tl_trace_record *record)
{
	const struct tl_trace_options *options = &trace->options;
	struct tl_lint *lint = &trace->lint;

	if (options->tenant[0] != '\0' &&
	    strcmp(trace->names.tenants.names[record->tenant], options->tenant) != 0) {
		tl_lint_hit(lint, TL_LINT_OUTSIDE_TENANT, record->line);
		return false;
	}
	if (options->drop_zero_gpu && record->gpus_mgpu == 0) {
		tl_lint_hit(lint, TL_LINT_ZERO_GPU_LEFT_OUT, record->line);
		return false;
	}
	if (record->gpus_mgpu < options->min_gpus_mgpu ||
	    (options->max_gpus_mgpu > 0 && record->gpus_mgpu > options->max_gpus_mgpu)) {
		tl_lint_hit(lint, TL_LINT_OUTSIDE_SIZE, record->line);
		return false;
	}
	if (options->limit_gpus_mgpu > 0 && record->gpus_mgpu > options->limit_gpus_mgpu) {
		tl_lint_hit(lint, TL_LINT_CLAMPED, record->line);
		record->gpus_mgpu = options->limit_gpus_mgpu;
		record->workers = 0; /* the stated shape is gone: derive it */
	}
	if (options->capacity_mgpu > 0 && record->gpus_mgpu > options->capacity_mgpu)
		tl_lint_hit(lint, TL_LINT_LARGER_THAN_CLUSTER, record->line);
	return true;
}

/* value × factor, to the nearest nanosecond; false where it does not fit. */
static bool scale(int64_t *value, double factor)
{
	double scaled = round((double)*value * factor);
	if (factor == 1)
		return true;
	if (fabs(scaled) > (double)TL_SUBMIT_MAX)
		return false;
	*value = (int64_t)scaled;
	return true;
}

static enum tl_status scale_times(struct tl_trace *trace, struct tl_trace_record *record,
                                  struct tl_error *error)
{
	const struct tl_trace_options *options = &trace->options;
	int64_t to_deadline = 0;
	bool fits = true;

	if (record->deadline_ns != TL_NONE)
		to_deadline = record->deadline_ns - record->submit_ns;
	fits = scale(&record->submit_ns, options->scale_time);
	if (record->duration_ns != TL_NEVER)
		fits = scale(&record->duration_ns, options->scale_size) && fits;
	if (record->estimate_ns != TL_NONE)
		fits = scale(&record->estimate_ns, options->scale_size) && fits;
	fits = scale(&to_deadline, options->scale_size) && fits;
	if (record->deadline_ns != TL_NONE)
		record->deadline_ns = record->submit_ns + to_deadline;
	if (fits)
		return TL_OK;
	return tl_error_set(error, TL_E_CONFIG, trace->path, record->line, 0,
	                    "scale, got a time beyond 142 years, wanted a smaller factor");
}

enum tl_status tl_trace_arrange(struct tl_trace *trace, struct tl_progress *progress,
                                struct tl_trace_record *record, bool *keep, struct tl_error *error)
{
	const struct tl_trace_options *options = &trace->options;
	int64_t origin_ns = options->is_static ? 0 : trace->stats.origin_ns;

	*keep = false;
	if (options->is_static) {
		record->submit_ns = (int64_t)progress->offered * TL_NS_PER_S;
		record->duration_ns = TL_NEVER;
		record->estimate_ns = TL_NONE;
		record->deadline_ns = TL_UNKNOWN;
	}
	progress->offered++;
	/* both fit: a deadline is not before its submit, nor that before the origin */
	record->submit_ns = record->submit_ns - origin_ns - options->window_start_ns;
	if (record->deadline_ns == TL_UNKNOWN)
		record->deadline_ns = TL_NONE;
	else
		record->deadline_ns = record->deadline_ns - origin_ns - options->window_start_ns;
	if (record->submit_ns < 0 ||
	    (options->window_ns > 0 && record->submit_ns >= options->window_ns)) {
		tl_lint_hit(&trace->lint, TL_LINT_OUTSIDE_WINDOW, record->line);
		return TL_OK;
	}
	if (options->limit > 0 && progress->kept >= options->limit) {
		tl_lint_hit(&trace->lint, TL_LINT_OUTSIDE_LIMIT, record->line);
		return TL_OK;
	}
	*keep = true;
	record->row = progress->kept++;
	return scale_times(trace, record, error);
}
