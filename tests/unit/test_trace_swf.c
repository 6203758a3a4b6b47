/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"

static const char dirty[] = SAMPLES "dirty.swf";

Test(trace_swf, every_class_of_dirt)
{
	static const struct expected_class expected[] = {
	    {"crlf", 1, {23}},
	    {"blank-line", 1, {20}},
	    {"short-row", 1, {15}},
	    {"extra-field", 1, {14}},
	    {"whole-decimal", 1, {16}},
	    {"scientific", 1, {16}},
	    {"list-field", 2, {23, 24}},
	    {"unknown-value", 17, {5, 6, 7, 8, 9}},
	    {"backward-time", 1, {17}},
	    {"duplicate-row", 1, {24}},
	    {"duplicate-id", 1, {18}},
	    {"submit-unknown", 1, {22}},
	    {"start-before-submit", 1, {25}},
	    {"run-time-unknown", 1, {9}},
	    {"run-time-zero", 1, {10}},
	    {"run-time-absurd", 1, {11}},
	    {"over-requested-time", 1, {7}},
	    {"estimate-absurd", 1, {25}},
	    {"size-unknown", 1, {13}},
	    {"processors-unknown", 2, {7, 8}},
	    {"allocated-differs", 1, {6}},
	    {"larger-than-cluster", 1, {12}},
	    {"header-space", 1, {1}},
	    {"fewer-than-promised", 1, {0}},
	    {"partial-run", 1, {19}},
	    {"dependency", 1, {18}},
	};
	struct tl_trace *trace = must_open_plain(dirty);

	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_SWF);
	expect_classes(trace, expected, sizeof expected / sizeof *expected);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_read, 19);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 14);
	tl_trace_close(trace);
}

Test(trace_swf, records)
{
	struct tl_trace *trace = must_open_plain(dirty);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_assert_eq(count, 14);
	cr_expect_str_eq(records[0].id, "1");
	cr_expect_eq(records[0].line, 5);
	cr_expect_eq(records[0].duration_ns, 100 * TL_NS_PER_S);
	cr_expect_eq(records[0].estimate_ns, 200 * TL_NS_PER_S);
	cr_expect_eq(records[0].gpus_mgpu, 4000);
	cr_expect_eq(records[0].ram_bytes, TL_NONE);
	cr_expect_eq(records[0].kind, TL_KIND_OTHER);
	cr_expect_eq(records[0].outcome, TL_OUTCOME_COMPLETED);
	cr_expect_str_eq(tl_trace_tenants(trace)->names[records[0].tenant], "1");
	cr_expect_str_eq(tl_trace_queues(trace)->names[records[0].queue], "1");
	cr_expect_eq(records[1].gpus_mgpu, 4000, "requested, not allocated");
	cr_expect_eq(records[1].ram_bytes, 4 * TL_MIB, "KiB a processor x processors");
	cr_expect_eq(records[2].gpus_mgpu, 8000);
	cr_expect_eq(records[2].outcome, TL_OUTCOME_FAILED);
	cr_expect_eq(records[2].duration_ns, 300 * TL_NS_PER_S);
	cr_expect_eq(records[2].estimate_ns, 200 * TL_NS_PER_S);
	cr_expect_eq(records[3].gpus_mgpu, 8000, "allocated where nothing was requested");
	cr_expect_eq(records[3].estimate_ns, TL_NONE);
	cr_expect_eq(records[3].outcome, TL_OUTCOME_CANCELLED);
	cr_expect_eq(records[3].queue, UINT32_MAX);
	cr_expect_str_eq(tl_trace_tenants(trace)->names[records[3].tenant], "default");
	cr_expect_eq(records[8].line, 17, "sorted before line 16");
	cr_expect_eq(records[9].line, 16);
	cr_expect_eq(records[9].duration_ns, 10 * TL_NS_PER_S);
	free(records);
	tl_trace_close(trace);
}

Test(trace_swf, submits_that_are_starts)
{
	static const struct expected_class expected[] = {
	    {"unknown-value", 6, {2, 3, 4, 5, 6}},
	    {"submit-is-start", 6, {2, 3, 4, 5, 6}},
	};
	struct tl_trace *trace = must_open_plain(SAMPLES "starts.swf");
	expect_classes(trace, expected, 2);
	tl_trace_close(trace);
}

Test(trace_swf, unreadable_rows)
{
	struct tl_trace_options options = default_options();
	options.format = TL_FORMAT_SWF;
	const char *path = write_text_file("bad.swf", "; x\n1 2 3\n");
	expect_refused(path, &options, TL_E_DATA, 2, "wanted 18 fields");
	path = write_text_file("bad.swf", "1 x 0 10 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n");
	expect_refused(path, &options, TL_E_DATA, 1, "submit time (field 2), got `x`");
	path = write_text_file("bad.swf", "1 0 0 10 4 -1 -1 4 100 -1 9 1 1 1 1 1 -1 -1\n");
	expect_refused(path, &options, TL_E_DATA, 1, "status (field 11), got `9`");
	path = write_text_file("bad.swf", "; only\n; headers\n");
	expect_refused(path, &options, TL_E_DATA, 1, "got a header alone");
	unlink(path);
}

Test(trace_swf, recognised_without_header_lines)
{
	const char *path =
	    write_text_file("plain.txt", "1 0 0 10 4 -1 -1 4 100 -1 1 1 1 1 1 1 -1 -1\n");
	struct tl_trace *trace = must_open_plain(path);
	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_SWF);
	tl_trace_close(trace);
	unlink(path);
}
