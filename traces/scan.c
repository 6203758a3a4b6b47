/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first reading of a trace: order, statistics, lint, and what is held in memory. */
#include "sim/base/arena.h"
#include "sim/base/checksum.h"
#include "traces/trace_internal.h"

#include <math.h>
#include <string.h>

/* Takes a record that is handed out into the statistics, in order of submission. */
static void account(struct tl_trace *trace, const struct tl_trace_record *record)
{
	struct tl_trace_stats *stats = &trace->stats;
	int64_t day = record->submit_ns / TL_NS_PER_DAY;

	if (stats->rows_kept == 0)
		stats->first_submit_ns = record->submit_ns;
	else if (day > trace->last_day + 1)
		tl_lint_add(&trace->lint, TL_LINT_EMPTY_WINDOW, record->line,
		            (uint64_t)(day - trace->last_day - 1));
	trace->last_day = day;
	stats->last_submit_ns = record->submit_ns;
	stats->rows_kept++;
	if (record->duration_ns != TL_NEVER)
		stats->gpu_time_mgpu_ns += (tl_i128)record->gpus_mgpu * record->duration_ns;
	if (!tl_mix_add(&trace->mix, record))
		tl_lint_hit(&trace->lint, TL_LINT_REQUEST_MIX_CUT, record->line);
}

/* Made rows know no dirt, and their time 0 is their maker's. */
static bool is_made(const struct tl_trace *trace)
{
	return trace->maker.begin != NULL;
}

/* Looks for the row and its id among those before; true where it is to be left out. */
static bool is_left_out_duplicate(struct tl_trace *trace, const struct tl_row *row)
{
	const struct tl_trace_options *options = &trace->options;

	if (is_made(trace))
		return false;
	if (trace->stats.rows_read > TL_TRACE_SEEN_MAX && !options->lint &&
	    !options->drop_duplicates) {
		tl_lint_hit(&trace->lint, TL_LINT_DUPLICATES_UNCHECKED, row->line);
		return false;
	}
	bool seen = tl_seen_put(&trace->rows_seen, row->hash);
	if (seen)
		tl_lint_hit(&trace->lint, TL_LINT_DUPLICATE_ROW, row->line);
	if (row->record.id[0] != '\0' && !row->dropped) {
		uint64_t id = tl_hash_bytes(row->record.id, strlen(row->record.id));
		if (tl_seen_put(&trace->ids_seen, id) && !seen)
			tl_lint_hit(&trace->lint, TL_LINT_DUPLICATE_ID, row->line);
	}
	if (!seen || row->dropped || !options->drop_duplicates)
		return false;
	tl_lint_hit(&trace->lint, TL_LINT_DUPLICATE_LEFT_OUT, row->line);
	trace->duplicates = tl_grow(trace->duplicates, &trace->duplicate_capacity,
	                            trace->duplicate_count + 1, sizeof *trace->duplicates);
	trace->duplicates[trace->duplicate_count++] = trace->stats.rows_read;
	return true;
}

/* Forgets all that a scan gathered, for another. */
static void reset_scan(struct tl_trace *trace)
{
	tl_lint_init(&trace->lint);
	memset(&trace->stats, 0, sizeof trace->stats);
	tl_mix_fini(&trace->mix);
	tl_held_fini(&trace->held);
	tl_seen_fini(&trace->rows_seen);
	tl_seen_fini(&trace->ids_seen);
	trace->duplicate_count = 0;
	trace->any_row = false;
	trace->last_day = 0;
	trace->progress = (struct tl_progress){0};
}

enum holding {
	HOLD_WHILE_FEW, /* in order so far */
	HOLD_NONE,      /* in order and many: dropped */
	HOLD_ALL        /* out of order, or to be resampled */
};

/* Arranges and accounts for a record in its turn. */
static enum tl_status take_in_order(struct tl_trace *trace, struct tl_trace_record *record,
                                    struct tl_error *error)
{
	bool keep;
	enum tl_status status = tl_trace_arrange(trace, &trace->progress, record, &keep, error);

	if (status == TL_OK && keep)
		account(trace, record);
	return status;
}

/* The file is in order and long: what was held is accounted for and let go. */
static enum tl_status let_go(struct tl_trace *trace, struct tl_error *error)
{
	struct tl_trace_record record;
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < trace->held.count && status == TL_OK; i++) {
		tl_held_get(&trace->held, i, &record);
		status = take_in_order(trace, &record, error);
	}
	tl_held_fini(&trace->held);
	return status;
}

/* Notes the order of submit times among all repaired rows. False: out of order now. */
static bool note_order(struct tl_trace *trace, const struct tl_row *row)
{
	struct tl_trace_stats *stats = &trace->stats;
	int64_t submit_ns = row->record.submit_ns;
	bool backward = trace->any_row && submit_ns < trace->before_ns;

	if (backward) {
		tl_lint_hit(&trace->lint, TL_LINT_BACKWARD_TIME, row->line);
		stats->ascending = false;
	}
	if (!is_made(trace) && (!trace->any_row || submit_ns < stats->origin_ns))
		stats->origin_ns = submit_ns;
	trace->before_ns = submit_ns;
	trace->any_row = true;
	return !backward;
}

/* Takes one repaired row of a scan. TL_END: the scan has to start over and hold. */
static enum tl_status take(struct tl_trace *trace, struct tl_row *row, enum holding *holding,
                           struct tl_error *error)
{
	if (!note_order(trace, row)) {
		if (*holding == HOLD_NONE)
			return TL_END;
		*holding = HOLD_ALL;
	}
	if (!tl_trace_passes(trace, &row->record))
		return TL_OK;
	if (*holding == HOLD_NONE)
		return take_in_order(trace, &row->record, error);
	tl_held_add(&trace->held, &row->record);
	if (*holding == HOLD_WHILE_FEW && trace->held.count > TL_TRACE_HOLD_MAX) {
		*holding = HOLD_NONE;
		return let_go(trace, error);
	}
	return TL_OK;
}

/* Reads all rows once. TL_END as of take(). */
static enum tl_status read_rows(struct tl_trace *trace, enum holding *holding,
                                struct tl_error *error)
{
	struct tl_row row;
	enum tl_status status;

	trace->stats.ascending = true;
	while ((status = trace->ops->next(&trace->reader, &row, error)) == TL_OK) {
		trace->stats.rows_read++;
		if (is_left_out_duplicate(trace, &row) || row.dropped)
			continue;
		status = take(trace, &row, holding, error);
		if (status != TL_OK)
			return status;
	}
	if (status != TL_END)
		return status;
	if (trace->stats.rows_read == 0 && !is_made(trace))
		return tl_error_set(error, TL_E_DATA, trace->path, 1, 0,
		                    "input, got a header alone, wanted rows");
	if (trace->ops->finish != NULL)
		trace->ops->finish(&trace->reader, trace->stats.rows_read);
	return TL_OK;
}

/* Brings held records into the order they are handed out in, and accounts for them. */
static enum tl_status settle_held(struct tl_trace *trace, struct tl_error *error)
{
	const struct tl_trace_options *options = &trace->options;
	struct tl_held *held = &trace->held;
	uint64_t left_out = 0;
	enum tl_status status = TL_OK;

	if (trace->stats.ascending)
		tl_held_as_read(held);
	else
		tl_held_sort(held);
	if (options->demand > 0 && held->count > 0) {
		double target = ceil(options->demand * (double)options->capacity_mgpu);
		if (target > 1e18)
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "demand, got over 10^15 GPUs, wanted less");
		status = tl_held_meet_demand(held, (tl_i128)target, options->seed, options->entity,
		                             &trace->stats.rows_added, &left_out, error);
		tl_lint_add(&trace->lint, TL_LINT_DEMAND_ADDED, 0, trace->stats.rows_added);
		tl_lint_add(&trace->lint, TL_LINT_DEMAND_LEFT_OUT, 0, left_out);
	}
	if (options->shuffle)
		tl_held_shuffle(held, options->seed, options->entity);
	size_t kept = 0;
	for (size_t i = 0; i < held->order_count && status == TL_OK; i++) {
		struct tl_trace_record record;
		bool keep = false;
		tl_held_get(held, held->order[i], &record);
		status = tl_trace_arrange(trace, &trace->progress, &record, &keep, error);
		if (status == TL_OK && keep) {
			account(trace, &record);
			tl_held_set_times(held, held->order[i], &record);
			held->order[kept++] = held->order[i];
		}
	}
	held->order_count = kept;
	return status;
}

/* `row` counts kept jobs in input order, which is not the order they are kept in. */
static void number_held(struct tl_held *held)
{
	for (size_t i = 0; i < held->count; i++)
		held->rows[i].row = UINT64_MAX;
	for (size_t i = 0; i < held->order_count; i++)
		held->rows[held->order[i]].row = 0;
	uint64_t next = 0;
	for (size_t i = 0; i < held->count; i++) {
		if (held->rows[i].row == 0)
			held->rows[i].row = next++;
	}
}

static enum tl_status scan_once(struct tl_trace *trace, enum holding *holding,
                                struct tl_error *error)
{
	reset_scan(trace);
	enum tl_status status = tl_trace_open_reader(trace, error);
	if (status != TL_OK)
		return status;
	status = read_rows(trace, holding, error);
	tl_trace_close_reader(trace);
	return status;
}

static void finish_stats(struct tl_trace *trace)
{
	struct tl_trace_stats *stats = &trace->stats;

	stats->rows_dropped = stats->rows_read + stats->rows_added - stats->rows_kept;
	if (stats->rows_kept == 0)
		tl_lint_hit(&trace->lint, TL_LINT_NOTHING_KEPT, 0);
	if (trace->options.is_static)
		tl_lint_add(&trace->lint, TL_LINT_STATIC_TIMES, 0, stats->rows_kept);
	stats->lint = trace->classes;
	stats->lint_count = tl_lint_collect(&trace->lint, trace->classes);
	tl_seen_fini(&trace->rows_seen);
	tl_seen_fini(&trace->ids_seen);
}

enum tl_status tl_trace_scan(struct tl_trace *trace, struct tl_error *error)
{
	const struct tl_trace_options *options = &trace->options;
	enum holding holding = options->shuffle || options->demand > 0 ? HOLD_ALL : HOLD_WHILE_FEW;
	enum tl_status status = scan_once(trace, &holding, error);

	if (status == TL_END) {
		holding = HOLD_ALL;
		status = scan_once(trace, &holding, error);
	}
	if (status != TL_OK)
		return status;
	trace->stats.held = holding != HOLD_NONE;
	if (trace->stats.held) {
		status = settle_held(trace, error);
		number_held(&trace->held);
	}
	if (status != TL_OK)
		return status;
	if (!is_made(trace))
		status = tl_sha256_file(trace->path, trace->stats.sha256, error);
	finish_stats(trace);
	trace->lint.off = true;
	trace->progress = (struct tl_progress){0};
	trace->any_row = false;
	if (status == TL_OK && !trace->stats.held)
		status = tl_trace_open_reader(trace, error);
	return status;
}
