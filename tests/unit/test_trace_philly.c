/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"

static const char dirty[] = SAMPLES "dirty-philly.csv";

static const struct expected_class expected[] = {
    {"bom", 1, {1}},
    {"crlf", 1, {5}},
    {"blank-line", 1, {8}},
    {"no-final-newline", 1, {30}},
    {"long-line", 1, {27}},
    {"quoted-field", 4, {6, 7, 24, 25}},
    {"quoted-comma", 1, {7}},
    {"quoted-newline", 1, {25}},
    {"column-order", 1, {1}},
    {"extra-column", 1, {1}},
    {"short-row", 1, {21}},
    {"extra-field", 1, {22}},
    {"whole-decimal", 3, {2, 3, 4}},
    {"scientific", 1, {9}},
    {"long-fraction", 1, {10}},
    {"list-field", 2, {23, 24}},
    {"unknown-value", 3, {11, 12, 18}},
    {"backward-time", 1, {3}},
    {"duplicate-row", 1, {4}},
    {"empty-window", 25, {28}},
    {"repeated-hour", 2, {28, 29}},
    {"submit-unknown", 1, {19}},
    {"run-time-unknown", 2, {11, 12}},
    {"run-time-zero", 1, {13}},
    {"run-time-absurd", 1, {14}},
    {"size-unknown", 1, {18}},
    {"zero-gpu", 1, {15}},
    {"fractional-gpu", 1, {16}},
    {"fraction-rounded-up", 1, {17}},
    {"gpu-time-differs", 2, {17, 20}},
};

Test(trace_philly, every_class_of_dirt)
{
	struct tl_trace *trace = must_open_plain(dirty);
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);

	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_PHILLY);
	expect_classes(trace, expected, sizeof expected / sizeof *expected);
	cr_expect_eq(stats->rows_read, 27);
	cr_expect_eq(stats->rows_dropped, 5);
	cr_expect_eq(stats->rows_kept, 22);
	cr_expect_not(stats->ascending);
	tl_trace_close(trace);
}

Test(trace_philly, records)
{
	struct tl_trace *trace = must_open_plain(dirty);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_assert_eq(count, 22);
	/* sorted by (submit, row): lines 3 and 4 come before line 2 */
	cr_expect_eq(records[0].line, 3);
	cr_expect_eq(records[0].row, 1);
	cr_expect_eq(records[0].submit_ns, 0);
	cr_expect_str_eq(records[0].id, "3");
	cr_expect_eq(records[0].duration_ns, 2951 * TL_NS_PER_S);
	cr_expect_eq(records[1].line, 4);
	cr_expect_eq(records[2].line, 2);
	cr_expect_eq(records[2].row, 0);
	cr_expect_eq(records[2].submit_ns, 2932 * TL_NS_PER_S);
	cr_expect_eq(records[5].line, 7);
	cr_expect_str_eq(tl_trace_tenants(trace)->names[records[5].tenant], "vc, the third");
	cr_expect_eq(records[6].duration_ns, 150 * TL_NS_PER_S);
	cr_expect_eq(records[7].submit_ns % TL_NS_PER_S, 123456700);
	cr_expect_eq(records[7].estimate_ns, TL_NONE);
	cr_expect_eq(records[7].deadline_ns, TL_NONE);
	cr_expect_eq(records[7].cpu_milli, TL_NONE);
	cr_expect_eq(records[7].queue, UINT32_MAX);
	cr_expect_eq(records[7].models, UINT32_MAX);
	cr_expect_eq(records[7].kind, TL_KIND_TRAINING);
	cr_expect_eq(records[8].line, 13);
	cr_expect_eq(records[8].duration_ns, 0);
	cr_expect_eq(records[9].gpus_mgpu, 0);
	cr_expect_eq(records[10].gpus_mgpu, 500);
	cr_expect_eq(records[11].gpus_mgpu, 2000);
	cr_expect_eq(records[17].line, 25);
	/* no zone arithmetic: 01:59:59 and 02:00:00 are a second apart */
	cr_expect_eq(records[21].submit_ns - records[20].submit_ns, TL_NS_PER_S);
	free(records);
	tl_trace_close(trace);
}

Test(trace_philly, duplicates_are_left_out_when_asked)
{
	struct tl_trace_options options = default_options();
	options.drop_duplicates = true;
	struct tl_trace *trace = must_open(dirty, &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect_eq(count, 21);
	cr_expect_eq(find_class(trace, "duplicate-left-out")->lines[0], 4);
	cr_expect_eq(records[1].line, 2);
	free(records);
	tl_trace_close(trace);
}

Test(trace_philly, an_unreadable_value_ends_a_run_and_is_counted_by_the_linter)
{
	static const char *const rows[] = {
	    "2017-10-09,66.0,1,66.0,a", "2017-10-09 07:01:55,abc,1,66.0,a",
	    "2017-10-09 07:01:55,66.0,-3,66.0,a", "2017-10-09 07:01:55,66.0,1e30,66.0,a"};
	static const char *const parts[] = {"timestamp, got `2017-10-09`, wanted YYYY-MM-DD",
	                                    "duration, got `abc`, wanted a number",
	                                    "num_gpus, got `-3`", "num_gpus, got `1e30`"};
	char text[512];

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tl_trace_options options = default_options();
		struct tl_trace *trace = NULL;
		snprintf(
		    text, sizeof text,
		    "timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:50,1,1,1,a\n%s\n",
		    rows[i]);
		const char *path = write_text_file("philly.csv", text);
		expect_refused(path, &options, TL_E_DATA, 3, parts[i]);
		cr_assert_eq(tl_trace_lint(path, &options, &trace, NULL), TL_OK);
		cr_expect_eq(find_class(trace, "unreadable-value")->count, 1);
		cr_expect_eq(find_class(trace, "unreadable-value")->lines[0], 3);
		cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 1);
		cr_expect_eq(tl_trace_get_stats(trace)->rows_dropped, 1);
		tl_trace_close(trace);
		unlink(path);
	}
}

Test(trace_philly, the_report_names_each_class_its_count_lines_and_rule)
{
	struct tl_trace *trace = must_open_plain(dirty);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	tl_lint_write(out, tl_trace_get_stats(trace), false);
	fclose(out);
	cr_expect_not_null(strstr(text, "rows read 27, kept 22, dropped 5"));
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		cr_expect_not_null(strstr(text, expected[i].name));
	cr_expect_not_null(strstr(text, "first lines 6, 7, 24, 25"));
	free(text);
	out = open_memstream(&text, &size);
	tl_lint_write(out, tl_trace_get_stats(trace), true);
	fclose(out);
	cr_expect_not_null(strstr(text, "{\"class\": \"gpu-time-differs\", \"severity\": \"dirt\", "
	                                "\"count\": 2, \"lines\": [17, 20]"));
	cr_expect_not_null(strstr(text, "{\"class\": \"unknown-value\", \"severity\": \"note\""));
	cr_expect(tl_lint_dirt_count(tl_trace_get_stats(trace)) <
	          tl_trace_get_stats(trace)->lint_count);
	free(text);
	tl_trace_close(trace);
}
