/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Known facts of the public traces; skipped where they are absent. */
#include "tests/unit/test_trace_util.h"
#include "traces/machines.h"

Test(trace_real, philly)
{
	skip_without(SHARED "philly/philly.csv");
	struct tl_trace *trace = must_open_plain(SHARED "philly/philly.csv");
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	size_t count, kinds;
	struct tl_trace_record *records = read_all(trace, &count);

	cr_expect_eq(stats->rows_read, 82247);
	cr_expect_eq(stats->rows_kept, 82247);
	cr_expect_eq(stats->rows_dropped, 0);
	cr_expect(stats->gpu_time_mgpu_ns == (tl_i128)3521082502 * TL_MGPU_PER_GPU * TL_NS_PER_S);
	cr_expect_not(stats->ascending);
	cr_expect_eq(find_class(trace, "blank-line")->count, 1);
	cr_expect_eq(find_class(trace, "blank-line")->lines[0], 82249);
	cr_expect_eq(find_class(trace, "duplicate-row")->count, 65);
	cr_expect_eq(find_class(trace, "backward-time")->count, 44878);
	cr_expect_eq(find_class(trace, "repeated-hour")->count, 7);
	cr_assert_eq(count, 82247);
	bool found = false;
	for (size_t i = 0; i < count; i++) {
		cr_assert(i == 0 || records[i - 1].submit_ns <= records[i].submit_ns);
		if (records[i].line != 55)
			continue;
		found = true;
		cr_expect_str_eq(records[i].id, "55");
		cr_expect_eq(records[i].duration_ns, 193256 * TL_NS_PER_S);
		cr_expect_eq(records[i].gpus_mgpu, 8000);
		cr_expect_str_eq(tl_trace_tenants(trace)->names[records[i].tenant], "ee9e8c");
		/* 2017-10-07 01:11:39, the first submit being 2017-09-04 10:30:41 */
		cr_expect_eq(records[i].submit_ns,
		             ((32 * 24 + 14) * 3600 + 40 * 60 + 58) * TL_NS_PER_S);
	}
	cr_expect(found);
	tl_trace_requests(trace, &kinds);
	cr_expect_eq(kinds, 10);
	cr_expect_eq(tl_trace_tenants(trace)->count, 15);
	free(records);
	tl_trace_close(trace);
}

Test(trace_real, openb_with_times)
{
	skip_without(SHARED "openb/openb_pod_list_default.csv");
	struct tl_trace *trace = must_open_plain(SHARED "openb/openb_pod_list_default.csv");
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);

	cr_expect_eq(stats->rows_read, 8152);
	cr_expect_eq(stats->rows_kept, 7255);
	cr_expect_eq(find_class(trace, "never-scheduled")->count, 897);
	cr_expect(stats->ascending);
	tl_trace_close(trace);
}

Test(trace_real, openb_with_models)
{
	skip_without(SHARED "openb/openb_pod_list_gpuspec33.csv");
	struct tl_trace_options options = default_options();
	options.is_static = true;
	struct tl_trace *trace = must_open(SHARED "openb/openb_pod_list_gpuspec33.csv", &options);
	cr_expect_eq(find_class(trace, "repeated-model")->count, 25);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 8152);
	cr_expect_eq(find_class(trace, "zero-gpu")->count, 1088);
	tl_trace_close(trace);
}

Test(trace_real, openb_static)
{
	skip_without(SHARED "openb/openb_pod_list_multigpu20.csv");
	struct tl_trace_options options = default_options();
	options.is_static = true;
	struct tl_trace *trace = must_open(SHARED "openb/openb_pod_list_multigpu20.csv", &options);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 8324);
	tl_trace_close(trace);
}

Test(trace_real, openb_demand)
{
	skip_without(SHARED "openb/openb_pod_list_default.csv");
	struct tl_trace_options options = default_options();
	options.is_static = true;
	options.shuffle = true;
	options.demand = 1.3;
	options.capacity_mgpu = 6212000;
	options.seed = 42;
	struct tl_trace *trace = must_open(SHARED "openb/openb_pod_list_default.csv", &options);
	size_t count;
	struct tl_trace_record *records = read_all(trace, &count);
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += records[i].gpus_mgpu;
	cr_expect_geq(sum, 8075600);
	cr_expect_lt(sum, 8075600 + 8000);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_added, count - 8152);
	free(records);
	tl_trace_close(trace);
}

/* A Slurm accounting export is none of the formats: said, whatever format is claimed. */
Test(trace_real, eagle_is_refused)
{
	skip_without(SHARED "eagle/sample_eagle_data.csv");
	struct tl_trace_options options = default_options();
	expect_refused(SHARED "eagle/sample_eagle_data.csv", &options, TL_E_DATA, 1,
	               "format is unclear");
	for (size_t i = 1; tl_trace_format_names[i] != NULL; i++) {
		options.format = (enum tl_trace_format)i;
		expect_refused(SHARED "eagle/sample_eagle_data.csv", &options, TL_E_DATA, 1, "got");
	}
}

Test(trace_real, machine_lists)
{
	skip_without(SHARED "clusters/lingjun_topo.csv");
	struct tl_machine *machines;
	size_t count;
	uint32_t gpus = 0, leaves = 0, pods = 0;

	cr_assert_eq(tl_machines_read(SHARED "openb/openb_node_list_all_node.csv",
	                              TL_MACHINES_OPENB, &machines, &count, NULL),
	             TL_OK);
	for (size_t i = 0; i < count; i++)
		gpus += machines[i].gpus;
	cr_expect_eq(count, 1523);
	cr_expect_eq(gpus, 6212);
	free(machines);
	cr_assert_eq(tl_machines_read(SHARED "clusters/pai_machine_spec.csv", TL_MACHINES_PAI,
	                              &machines, &count, NULL),
	             TL_OK);
	cr_expect_eq(count, 1897);
	free(machines);
	cr_assert_eq(tl_machines_read(SHARED "clusters/lingjun_topo.csv", TL_MACHINES_LINGJUN,
	                              &machines, &count, NULL),
	             TL_OK);
	for (size_t i = 0; i < count; i++) {
		leaves = machines[i].leaf >= leaves ? machines[i].leaf + 1 : leaves;
		pods = machines[i].pod >= pods ? machines[i].pod + 1 : pods;
	}
	cr_expect_eq(count, 847);
	cr_expect_eq(leaves, 119);
	cr_expect_eq(pods, 3);
	free(machines);
}
