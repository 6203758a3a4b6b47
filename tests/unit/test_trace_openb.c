/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"

static const char dirty[] = SAMPLES "dirty-openb.csv";

Test(trace_openb, every_class_of_dirt)
{
	static const struct expected_class expected[] = {
	    {"unknown-value", 8, {7, 8, 9, 10, 11}},
	    {"backward-time", 1, {16}},
	    {"duplicate-id", 1, {14}},
	    {"submit-unknown", 1, {18}},
	    {"submit-is-start", 1, {11}},
	    {"start-before-submit", 1, {12}},
	    {"run-time-absurd", 1, {13}},
	    {"never-scheduled", 1, {7}},
	    {"never-deleted", 1, {8}},
	    {"deletion-only", 1, {9}},
	    {"creation-only", 1, {10}},
	    {"size-unknown", 1, {17}},
	    {"zero-gpu", 1, {4}},
	    {"fractional-gpu", 2, {3, 6}},
	    {"fraction-rounded-up", 1, {14}},
	    {"repeated-model", 1, {6}},
	};
	struct tl_trace *trace = must_open_plain(dirty);

	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_OPENB);
	expect_classes(trace, expected, sizeof expected / sizeof *expected);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_read, 18);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_dropped, 6);
	tl_trace_close(trace);
}

static const struct tl_trace_record *by_id(const struct tl_trace_record *records, size_t count,
                                           const char *id)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(records[i].id, id) == 0)
			return &records[i];
	}
	cr_assert_fail("%s is missing", id);
	return NULL;
}

Test(trace_openb, records)
{
	struct tl_trace *trace = must_open_plain(dirty);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);
	char *const *queues = tl_trace_queues(trace)->names;
	const struct tl_trace_record *pod = by_id(records, count, "pod-0");

	cr_expect_eq(pod->submit_ns, 0);
	cr_expect_eq(pod->duration_ns, 95 * TL_NS_PER_S);
	cr_expect_eq(pod->gpus_mgpu, 1000);
	cr_expect_eq(pod->cpu_milli, 12000);
	cr_expect_eq(pod->ram_bytes, 16384 * TL_MIB);
	cr_expect_eq(pod->kind, TL_KIND_INFERENCE);
	cr_expect_str_eq(queues[pod->queue], "high");
	cr_expect_eq(pod->outcome, TL_OUTCOME_UNKNOWN);
	pod = by_id(records, count, "pod-1");
	cr_expect_eq(pod->gpus_mgpu, 460);
	cr_expect_eq(pod->kind, TL_KIND_EVALUATION);
	cr_expect_str_eq(queues[pod->queue], "low");
	cr_expect_eq(pod->outcome, TL_OUTCOME_FAILED);
	pod = by_id(records, count, "pod-2");
	cr_expect_eq(pod->gpus_mgpu, 0);
	cr_expect_eq(pod->kind, TL_KIND_TRAINING);
	cr_expect_str_eq(queues[pod->queue], "normal");
	cr_expect_eq(pod->outcome, TL_OUTCOME_COMPLETED);
	pod = by_id(records, count, "pod-3");
	cr_expect_eq(pod->gpus_mgpu, 8000);
	/* a repeated name is one name: both ask for the same models */
	cr_expect_str_eq(tl_trace_models(trace)->names[pod->models], "V100M16|V100M32");
	cr_expect_eq(by_id(records, count, "pod-4")->models, pod->models);
	cr_expect_eq(by_id(records, count, "pod-6")->duration_ns, TL_NEVER);
	cr_expect_eq(by_id(records, count, "pod-9")->submit_ns, 90 * TL_NS_PER_S);
	pod = by_id(records, count, "pod-13");
	cr_expect_eq(pod->cpu_milli, TL_NONE);
	cr_expect_eq(pod->ram_bytes, TL_NONE);
	cr_expect_eq(pod->gpus_mgpu, 1000);
	free(records);
	tl_trace_close(trace);
}

Test(trace_openb, gpus_that_run_forever_are_no_gpu_time)
{
	struct tl_trace *trace = must_open_plain(dirty);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);
	tl_i128 sum = 0;

	for (size_t i = 0; i < count; i++) {
		if (records[i].duration_ns != TL_NEVER)
			sum += (tl_i128)records[i].gpus_mgpu * records[i].duration_ns;
	}
	cr_expect(tl_trace_get_stats(trace)->gpu_time_mgpu_ns == sum);
	free(records);
	tl_trace_close(trace);
}

Test(trace_openb, without_times_only_as_a_static_input)
{
	struct tl_trace_options options = default_options();

	expect_refused(SAMPLES "static-pods.csv", &options, TL_E_DATA, 1,
	               "column `creation_time` is missing");
	options.is_static = true;
	struct tl_trace *trace = must_open(SAMPLES "static-pods.csv", &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);
	cr_assert_eq(count, 20);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(records[i].submit_ns, (int64_t)i * TL_NS_PER_S);
		cr_expect_eq(records[i].duration_ns, TL_NEVER);
		cr_expect_eq(records[i].row, i);
	}
	cr_expect_eq(find_class(trace, "static-times")->count, 20);
	free(records);
	tl_trace_close(trace);
	trace = must_open(dirty, &options); /* never scheduled and censored rows stay */
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 17);
	tl_trace_close(trace);
}

Test(trace_openb, a_gpu_without_a_share_is_unreadable)
{
	struct tl_trace_options options = default_options();
	const char *path = write_text_file(
	    "share.csv", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,0\n");
	options.is_static = true;
	expect_refused(path, &options, TL_E_DATA, 2, "gpu_milli, got `0`, wanted 1 to 1000");
	path = write_text_file("share.csv",
	                       "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1001\n");
	expect_refused(path, &options, TL_E_DATA, 2, "gpu_milli, got `1001`");
	unlink(path);
}
