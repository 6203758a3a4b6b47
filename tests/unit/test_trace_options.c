/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters, scales, static inputs, and when a trace is streamed. */
#include "tests/unit/test_trace_util.h"

static const char day[] = SAMPLES "day-philly.csv";
static const char pods[] = SAMPLES "static-pods.csv";

Test(trace_options, window)
{
	struct tl_trace_options options = default_options();
	struct tl_trace *all = must_open_plain(day);
	size_t count, kept;
	struct tl_trace_record *records = read_all(all, &count);

	options.window_start_ns = 6 * TL_NS_PER_HOUR;
	options.window_ns = 3 * TL_NS_PER_HOUR;
	struct tl_trace *trace = must_open(day, &options);
	struct tl_trace_record *inside = read_all(trace, &kept);
	size_t at = 0;
	for (size_t i = 0; i < count; i++) {
		if (records[i].submit_ns < 6 * TL_NS_PER_HOUR ||
		    records[i].submit_ns >= 9 * TL_NS_PER_HOUR)
			continue;
		cr_assert_lt(at, kept);
		cr_expect_str_eq(inside[at].id, records[i].id);
		cr_expect_eq(inside[at].submit_ns, records[i].submit_ns - 6 * TL_NS_PER_HOUR);
		cr_expect_eq(inside[at].row, at);
		if (records[i].deadline_ns != TL_NONE)
			cr_expect_eq(inside[at].deadline_ns,
			             records[i].deadline_ns - 6 * TL_NS_PER_HOUR);
		at++;
	}
	cr_expect_eq(at, kept);
	cr_expect_gt(kept, 0);
	cr_expect_eq(find_class(trace, "outside-window")->count, count - kept);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_dropped, count - kept);
	free(records);
	free(inside);
	tl_trace_close(all);
	tl_trace_close(trace);
}

Test(trace_options, filters_do_not_move_the_origin)
{
	struct tl_trace_options options = default_options();
	struct tl_trace *all = must_open_plain(day);
	size_t count, kept, at = 0;
	struct tl_trace_record *records = read_all(all, &count);

	snprintf(options.tenant, sizeof options.tenant, "tenant-3");
	struct tl_trace *trace = must_open(day, &options);
	struct tl_trace_record *some = read_all(trace, &kept);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(tl_trace_tenants(all)->names[records[i].tenant], "tenant-3") != 0)
			continue;
		cr_assert_lt(at, kept);
		cr_expect_eq(some[at++].submit_ns, records[i].submit_ns);
	}
	cr_expect_eq(at, kept);
	cr_expect_gt(kept, 0);
	cr_expect_eq(find_class(trace, "outside-tenant")->count, count - kept);
	free(records);
	free(some);
	tl_trace_close(all);
	tl_trace_close(trace);
}

Test(trace_options, sizes_limit_and_clamp)
{
	struct tl_trace_options options = default_options();
	options.min_gpus_mgpu = 2000;
	options.max_gpus_mgpu = 8000;
	options.limit_gpus_mgpu = 4000;
	options.limit = 10;
	struct tl_trace *trace = must_open(day, &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_assert_eq(count, 10);
	for (size_t i = 0; i < count; i++)
		cr_expect(records[i].gpus_mgpu == 2000 || records[i].gpus_mgpu == 4000);
	cr_expect_not_null(find_class(trace, "outside-size"));
	cr_expect_not_null(find_class(trace, "outside-limit"));
	cr_expect_not_null(find_class(trace, "clamped"));
	free(records);
	tl_trace_close(trace);
}

Test(trace_options, zero_gpu_jobs_can_be_left_out)
{
	struct tl_trace_options options = default_options();
	options.drop_zero_gpu = true;
	struct tl_trace *trace = must_open(day, &options);
	const struct tl_lint_class *zero = find_class(trace, "zero-gpu");
	const struct tl_lint_class *left_out = find_class(trace, "zero-gpu-left-out");
	cr_assert_not_null(left_out);
	cr_expect_eq(left_out->count, zero->count);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_dropped, zero->count);
	tl_trace_close(trace);
}

Test(trace_options, scales)
{
	struct tl_trace_options options = default_options();
	struct tl_trace *all = must_open_plain(day);
	size_t count, scaled_count;
	struct tl_trace_record *records = read_all(all, &count);

	options.scale_time = 0.5;
	options.scale_size = 3;
	struct tl_trace *trace = must_open(day, &options);
	struct tl_trace_record *scaled = read_all(trace, &scaled_count);
	cr_assert_eq(count, scaled_count);
	for (size_t i = 0; i < count; i++) {
		cr_expect_leq(llabs(2 * scaled[i].submit_ns - records[i].submit_ns), 1);
		cr_expect_eq(scaled[i].duration_ns, 3 * records[i].duration_ns);
		cr_expect_eq(scaled[i].estimate_ns, 3 * records[i].estimate_ns);
		if (records[i].deadline_ns != TL_NONE)
			cr_expect_eq(scaled[i].deadline_ns - scaled[i].submit_ns,
			             3 * (records[i].deadline_ns - records[i].submit_ns));
	}
	free(records);
	free(scaled);
	tl_trace_close(all);
	tl_trace_close(trace);
	options.scale_size = 1e12;
	expect_refused(day, &options, TL_E_CONFIG, 2, "scale, got a time beyond");
}

static void refuse_option(struct tl_trace_options options, const char *part)
{
	expect_refused(day, &options, TL_E_CONFIG, 0, part);
}

Test(trace_options, impossible_options)
{
	struct tl_trace_options options = default_options();
	options.scale_time = 0;
	refuse_option(options, "scale");
	options = default_options();
	options.scale_size = -1;
	refuse_option(options, "scale");
	options = default_options();
	options.window_ns = -1;
	refuse_option(options, "window");
	options = default_options();
	options.min_gpus_mgpu = 2;
	options.max_gpus_mgpu = 1;
	refuse_option(options, "min_gpus above max_gpus");
	options = default_options();
	options.shuffle = true;
	refuse_option(options, "wanted a static one");
	options = default_options();
	options.demand = 1.3;
	refuse_option(options, "wanted a static one");
	options.is_static = true;
	refuse_option(options, "no cluster capacity");
	options.demand = -1;
	refuse_option(options, "demand");
	options = default_options();
	options.limit_gpus_mgpu = 1500;
	refuse_option(options, "limit_gpus");
}

Test(trace_options, nothing_kept_is_said)
{
	struct tl_trace_options options = default_options();
	snprintf(options.tenant, sizeof options.tenant, "nobody");
	struct tl_trace *trace = must_open(day, &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);
	cr_expect_eq(count, 0);
	cr_expect_not_null(find_class(trace, "nothing-kept"));
	free(records);
	tl_trace_close(trace);
}

static int64_t sum_of(const struct tl_trace_record *records, size_t count)
{
	int64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += records[i].gpus_mgpu;
	return sum;
}

Test(trace_options, shuffle_is_a_keyed_permutation)
{
	struct tl_trace_options options = default_options();
	size_t count, again_count, other_count;
	options.is_static = true;
	options.shuffle = true;
	options.seed = 1;
	struct tl_trace *trace = must_open(pods, &options), *again = must_open(pods, &options);
	options.seed = 2;
	struct tl_trace *other = must_open(pods, &options);
	struct tl_trace_record *first = read_all(trace, &count);
	struct tl_trace_record *second = read_all(again, &again_count);
	struct tl_trace_record *third = read_all(other, &other_count);
	size_t moved = 0, differ = 0;
	bool seen[20] = {false};

	cr_assert_eq(count, 20);
	cr_assert_eq(again_count, 20);
	cr_assert_eq(other_count, 20);
	for (size_t i = 0; i < count; i++) {
		cr_expect_str_eq(first[i].id, second[i].id);
		cr_expect_eq(first[i].submit_ns, (int64_t)i * TL_NS_PER_S);
		moved += first[i].row != i;
		differ += first[i].row != third[i].row;
		cr_expect_not(seen[first[i].row]);
		seen[first[i].row] = true;
		cr_expect_eq((long)first[i].row + 2, first[i].line);
	}
	cr_expect_gt(moved, 5);
	cr_expect_gt(differ, 5);
	free(first);
	free(second);
	free(third);
	tl_trace_close(trace);
	tl_trace_close(again);
	tl_trace_close(other);
}

Test(trace_options, demand_adds_copies_until_it_is_met)
{
	struct tl_trace_options options = default_options();
	options.is_static = true;
	options.demand = 1.3;
	options.capacity_mgpu = 40000;
	options.seed = 3;
	struct tl_trace *trace = must_open(pods, &options);
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect_eq(stats->rows_read, 20);
	cr_expect_eq(stats->rows_dropped, 0);
	cr_expect_eq(stats->rows_added, count - 20);
	cr_expect_eq(find_class(trace, "demand-added")->count, count - 20);
	/* reached, and not before the last */
	cr_expect_geq(sum_of(records, count), 52000);
	cr_expect_lt(sum_of(records, count - 1), 52000);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(records[i].row, i);
		cr_expect_eq(strchr(records[i].id, '#') == NULL, i < 20, "%s", records[i].id);
		for (size_t j = 0; j < i; j++)
			cr_expect_str_neq(records[i].id, records[j].id);
	}
	free(records);
	tl_trace_close(trace);
}

Test(trace_options, demand_leaves_rows_out_where_they_exceed_it)
{
	struct tl_trace_options options = default_options();
	options.is_static = true;
	options.demand = 0.5;
	options.capacity_mgpu = 20000;
	struct tl_trace *trace = must_open(pods, &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect_geq(sum_of(records, count), 10000);
	cr_expect_lt(sum_of(records, count), 12000);
	cr_expect_eq(find_class(trace, "demand-left-out")->count, 20 - count);
	for (size_t i = 1; i < count; i++)
		cr_expect_lt(records[i - 1].line, records[i].line, "in the order read");
	free(records);
	tl_trace_close(trace);
	options.max_gpus_mgpu = 1;
	options.demand = 1;
	options.min_gpus_mgpu = 0;
	expect_refused(pods, &options, TL_E_CONFIG, 0, "without any GPU");
}

Test(trace_options, larger_than_the_cluster_is_said)
{
	struct tl_trace_options options = default_options();
	options.capacity_mgpu = 8000;
	struct tl_trace *trace = must_open(SAMPLES "canonical.csv", &options);
	cr_expect_eq(find_class(trace, "larger-than-cluster")->count, 1);
	cr_expect_eq(find_class(trace, "larger-than-cluster")->lines[0], 2);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 6);
	tl_trace_close(trace);
}

Test(trace_options, requests_are_counted_in_order_of_first_sight)
{
	struct tl_trace *trace = must_open_plain(SAMPLES "dirty-philly.csv");
	size_t count;
	const struct tl_trace_request *requests = tl_trace_requests(trace, &count);
	uint64_t rows = 0;

	cr_assert_eq(count, 4);
	cr_expect_eq(requests[0].gpus_mgpu, 1000);
	cr_expect_eq(requests[0].first_line, 3);
	for (size_t i = 0; i < count; i++)
		rows += requests[i].count;
	cr_expect_eq(rows, 22);
	tl_trace_close(trace);
}

/* Writes rows with ascending submit times, but the one at `back` (0: none). */
static const char *write_long(const char *name, long rows, long back)
{
	static char path[128];
	snprintf(path, sizeof path, "/tmp/tidelab-%ld-%s", (long)getpid(), name);
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus,tenant\n", file);
	for (long i = 1; i <= rows; i++)
		fprintf(file, "j%ld,%ld,%ld,%d,t%ld\n", i, i == back ? 5 : 10 + i, i % 977 + 1,
		        i % 3 == 0 ? 2 : 1, i % 5);
	fclose(file);
	return path;
}

Test(trace_options, a_long_ascending_file_is_streamed)
{
	enum { ROWS = 40000 };
	const char *path = write_long("long.csv", ROWS, 0);
	struct tl_trace *trace = must_open_plain(path);
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect(stats->ascending);
	cr_expect_not(stats->held);
	cr_expect_eq(stats->rows_kept, ROWS);
	cr_assert_eq(count, ROWS);
	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(records[i].row, i);
		cr_assert_eq(records[i].submit_ns, (int64_t)i * TL_NS_PER_S);
	}
	free(records);
	tl_trace_close(trace);
	unlink(path);
}

Test(trace_options, a_late_step_back_is_held_and_sorted)
{
	enum { ROWS = 40000, BACK = 30000 };
	const char *path = write_long("back.csv", ROWS, BACK);
	struct tl_trace *trace = must_open_plain(path);
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect_not(stats->ascending);
	cr_expect(stats->held);
	cr_expect_eq(find_class(trace, "backward-time")->count, 1);
	cr_expect_eq(find_class(trace, "backward-time")->lines[0], BACK + 1);
	cr_expect_eq(stats->rows_read, ROWS, "counted once, though read twice");
	cr_assert_eq(count, ROWS);
	cr_expect_str_eq(records[0].id, "j30000");
	cr_expect_eq(records[0].row, BACK - 1);
	cr_expect_eq(records[1].submit_ns, 6 * TL_NS_PER_S);
	free(records);
	tl_trace_close(trace);
	unlink(path);
}

/* The same selection, streamed and held (a step back far behind the window). */
Test(trace_options, streamed_and_held_agree)
{
	enum { ROWS = 80000 };
	struct tl_trace_options options = default_options();
	size_t count, held_count;
	options.window_start_ns = 1000 * TL_NS_PER_S;
	options.window_ns = 30000 * TL_NS_PER_S;
	options.limit = 4000;
	options.min_gpus_mgpu = 2000;
	struct tl_trace *streamed = must_open(write_long("a.csv", ROWS, 0), &options);
	struct tl_trace *held = must_open(write_long("b.csv", ROWS + 1, ROWS + 1), &options);
	struct tl_trace_record *a = read_all(streamed, &count), *b = read_all(held, &held_count);

	cr_expect_not(tl_trace_get_stats(streamed)->held);
	cr_expect(tl_trace_get_stats(held)->held);
	cr_expect_gt(count, 1000);
	/* its origin is 6 s earlier, so compare from there */
	size_t shift = 0;
	while (shift < held_count && strcmp(b[shift].id, a[0].id) != 0)
		shift++;
	for (size_t i = 0; i < count && i + shift < held_count; i++)
		cr_assert_str_eq(a[i].id, b[i + shift].id);
	free(a);
	free(b);
	tl_trace_close(streamed);
	tl_trace_close(held);
	unlink(write_long("a.csv", 1, 0));
	unlink(write_long("b.csv", 1, 0));
}

Test(trace_options, a_file_that_changes_meanwhile_is_an_error)
{
	enum { ROWS = 40000 };
	struct tl_trace *trace = must_open_plain(write_long("changing.csv", ROWS, 0));
	struct tl_trace_record record;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status;
	const char *path = tl_trace_path(trace);

	cr_assert_eq(truncate(path, 400000), 0);
	do {
		status = tl_trace_next(trace, &record, &error);
	} while (status == TL_OK);
	cr_expect_neq(status, TL_END);
	unlink(path);
	tl_trace_close(trace);
}

Test(trace_options, names_of_formats)
{
	enum tl_trace_format format;
	for (size_t i = 0; tl_trace_format_names[i] != NULL; i++) {
		cr_assert(tl_trace_format_parse(tl_trace_format_names[i], &format));
		cr_expect_eq((size_t)format, i);
	}
	cr_expect_not(tl_trace_format_parse("csv", &format));
}
