/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"

Test(trace_tiresias, every_class_of_dirt)
{
	static const struct expected_class expected[] = {
	    {"blank-line", 1, {10}},      {"quoted-field", 1, {4}},  {"quoted-comma", 1, {4}},
	    {"whole-decimal", 1, {3}},    {"scientific", 1, {6}},    {"unknown-value", 2, {6, 7}},
	    {"backward-time", 1, {5}},    {"duplicate-row", 1, {9}}, {"duplicate-id", 1, {4}},
	    {"run-time-unknown", 1, {6}}, {"size-unknown", 1, {7}},
	};
	struct tl_trace *trace = must_open_plain(SAMPLES "dirty-tiresias.csv");

	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_TIRESIAS);
	expect_classes(trace, expected, sizeof expected / sizeof *expected);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_read, 8);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 6);
	tl_trace_close(trace);
}

Test(trace_tiresias, records)
{
	struct tl_trace *trace = must_open_plain(SAMPLES "dirty-tiresias.csv");
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_assert_eq(count, 6);
	cr_expect_str_eq(records[0].id, "1");
	cr_expect_eq(records[0].gpus_mgpu, 8000);
	cr_expect_eq(records[0].duration_ns, TL_NS_PER_HOUR);
	cr_expect_eq(records[0].models, UINT32_MAX, "model_name is a network");
	cr_expect_str_eq(records[2].id, "3");
	cr_expect_eq(records[2].submit_ns, 150 * TL_NS_PER_S);
	cr_expect_eq(records[2].row, 3);
	free(records);
	tl_trace_close(trace);
}
