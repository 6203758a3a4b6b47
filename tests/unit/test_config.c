/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios that are right: what they fill, and the effective configuration. */
#include "sim/base/units.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tl_scenario *parse(const char *text)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = tl_scenario_parse("test.yaml", text, NULL, 0, &scenario, &error);

	cr_assert_eq(status, TL_OK, "%s", error.message);
	return scenario;
}

Test(config, defaults_are_the_documented_ones)
{
	struct tl_scenario *s = parse("workload: [{trace: jobs.csv}]");

	cr_assert_str_eq(s->name, "scenario");
	cr_assert_null(s->path);
	cr_assert_eq(s->horizon_ns, TL_NEVER);
	cr_assert_eq(s->seed, 1);
	cr_assert_eq(s->cluster.node_count, 32);
	cr_assert_str_eq(s->seats[TL_SEAT_SCHEDULER].use, "pipeline");
	cr_assert_str_eq(s->seats[TL_SEAT_ADMIT].use, "open");
	cr_assert_str_eq(s->seats[TL_SEAT_ORDER].use, "fifo");
	cr_assert_str_eq(s->seats[TL_SEAT_PLACE].use, "topology");
	cr_assert_str_eq(s->seats[TL_SEAT_PREEMPT].use, "none");
	cr_assert_str_eq(s->seats[TL_SEAT_SCALE].use, "");
	cr_assert_not(s->physics.ideal);
	cr_assert_eq(s->physics.cold_small_ns, 45 * TL_NS_PER_S);
	cr_assert_eq(s->physics.cold_large_ns, 70 * TL_NS_PER_S);
	cr_assert_eq(s->physics.cold_small_gpus, 8);
	cr_assert_eq(s->physics.warm_milli, 100);
	cr_assert(s->physics.warm);
	cr_assert_eq(s->physics.checkpoint_interval_ns, 300 * TL_NS_PER_S);
	cr_assert_eq(s->physics.checkpoint_bytes_per_s, 1000000000);
	cr_assert_eq(s->physics.storage_bytes_per_s, 10000000000);
	cr_assert_eq(s->physics.state_bytes, 4000000000);
	cr_assert_not(s->physics.checkpoint_async);
	cr_assert_eq(s->physics.checkpoint_stall_ns, 500 * TL_NS_PER_MS);
	cr_assert_eq(s->physics.grace_ns, 45 * TL_NS_PER_S);
	cr_assert_eq(s->physics.slow_node_milli, 1000);
	cr_assert_eq(s->physics.slow_pod_milli, 1020);
	cr_assert_eq(s->physics.slow_across_milli, 1050);
	cr_assert(s->physics.sharing.interference);
	cr_assert_eq(s->oversubscription_milli, 1000);
	cr_assert_eq(s->physics.sharing.kind, TL_SHARING_LUCID);
	cr_assert_eq(s->physics.sharing.guaranteed, TL_GUARANTEED_SERVICES);
	cr_assert_lt(s->physics.sharing.utilisation_mean, 0);
	cr_assert_not(s->physics.sharing.all_drawn);
	cr_assert_float_eq(s->physics.sharing.utilisation_median, 0.49, 1e-12);
	cr_assert_eq(s->estimates, TL_ESTIMATES_TRACE);
	cr_assert_eq(s->max_restarts, 3);
	cr_assert_not(s->kill_at_estimate);
	cr_assert(s->user_failures);
	cr_assert_eq(s->queue_count, 3);
	cr_assert_str_eq(s->queues[1].name, "normal");
	cr_assert_eq(s->queues[0].weight, 8);
	cr_assert_eq(s->tenant_count, 0);
	cr_assert_eq(s->fault_count, 0);
	cr_assert_float_eq(s->failures.per_1000_node_days, 0, 0);
	cr_assert_eq(s->tables, (uint32_t)TL_TABLES_DEFAULT);
	cr_assert_eq(s->timeline_interval_ns, 60 * TL_NS_PER_S);
	cr_assert_eq(s->observe_interval_ns, 0);
	cr_assert_eq(s->observe_delay_ns, 0);
	cr_assert_eq(s->prices.gpu_hour_micros, 25000000);
	cr_assert_str_eq(s->prices.currency, "CNY");
	cr_assert_eq(s->watchdog_stall_ns, TL_NS_PER_DAY);
	cr_assert_eq(s->watchdog_cpu_ns, 60 * TL_NS_PER_S);
	cr_assert_eq(s->watchdog_preemptions, 100);
	tl_scenario_destroy(s);
}

Test(config, workload_defaults_agree_with_the_readers)
{
	struct tl_scenario *s = parse("workload: [{trace: jobs.csv}]");
	struct tl_trace_options standard;
	const struct tl_workload *w = &s->workloads[0];

	tl_trace_options_default(&standard);
	cr_assert_eq(w->trace.format, standard.format);
	cr_assert_eq(w->trace.window_start_ns, standard.window_start_ns);
	cr_assert_eq(w->trace.window_ns, standard.window_ns);
	cr_assert_eq(w->trace.limit, standard.limit);
	cr_assert_float_eq(w->trace.scale_time, standard.scale_time, 0);
	cr_assert_float_eq(w->trace.scale_size, standard.scale_size, 0);
	cr_assert_eq(w->trace.min_gpus_mgpu, standard.min_gpus_mgpu);
	cr_assert_eq(w->trace.max_gpus_mgpu, standard.max_gpus_mgpu);
	cr_assert_eq(w->trace.limit_gpus_mgpu, standard.limit_gpus_mgpu);
	cr_assert_float_eq(w->trace.demand, standard.demand, 0);
	cr_assert_eq(w->trace.drop_duplicates, standard.drop_duplicates);
	cr_assert_eq(w->trace.drop_zero_gpu, standard.drop_zero_gpu);
	cr_assert_eq(w->trace.is_static, standard.is_static);
	cr_assert_eq(w->kind, -1);
	cr_assert_eq(w->trace.capacity_mgpu, 256000);
	tl_scenario_destroy(s);
}

Test(config, workload_entry)
{
	struct tl_scenario *s =
	    parse("seed: 7\n"
	          "workload:\n"
	          "  - {trace: a.csv, static: true, demand: 1.3, shuffle: true}\n"
	          "  - trace: /data/b.csv\n"
	          "    format: openb\n"
	          "    window: {start: 2d, length: 36h}\n"
	          "    limit: 500\n"
	          "    scale_time: 0.5\n"
	          "    scale_size: 2\n"
	          "    min_gpus: 500m\n"
	          "    max_gpus: 64\n"
	          "    limit_gpus: 32\n"
	          "    tenant: vc1\n"
	          "    assign_tenant: moba\n"
	          "    drop_duplicates: true\n"
	          "    drop_zero_gpu: true\n"
	          "    queue: low\n"
	          "    kind: inference\n"
	          "    infeasible: clamp\n");
	const struct tl_workload *w = &s->workloads[1];

	cr_assert_eq(s->workload_count, 2);
	cr_assert_str_eq(s->workloads[0].path, "a.csv");
	cr_assert_str_eq(w->path, "/data/b.csv");
	cr_assert_eq(w->line, 4);
	cr_assert_eq(w->trace.format, TL_FORMAT_OPENB);
	cr_assert_eq(w->trace.window_start_ns, 2 * TL_NS_PER_DAY);
	cr_assert_eq(w->trace.window_ns, 36 * TL_NS_PER_HOUR);
	cr_assert_eq(w->trace.limit, 500);
	cr_assert_float_eq(w->trace.scale_time, 0.5, 0);
	cr_assert_float_eq(w->trace.scale_size, 2, 0);
	cr_assert_eq(w->trace.min_gpus_mgpu, 500);
	cr_assert_eq(w->trace.max_gpus_mgpu, 64000);
	cr_assert_eq(w->trace.limit_gpus_mgpu, 32000);
	cr_assert_str_eq(w->trace.tenant, "vc1");
	cr_assert_str_eq(w->tenant, "moba");
	cr_assert_float_eq(s->workloads[0].trace.demand, 1.3, 0);
	cr_assert(s->workloads[0].trace.shuffle && !w->trace.shuffle);
	cr_assert(w->trace.drop_duplicates && w->trace.drop_zero_gpu);
	cr_assert_str_eq(w->queue, "low");
	cr_assert_eq(w->kind, TL_KIND_INFERENCE);
	cr_assert_eq(w->infeasible, TL_INFEASIBLE_CLAMP);
	cr_assert_eq(w->trace.seed, 7);
	cr_assert_eq(w->trace.entity, 1);
	tl_scenario_destroy(s);
}

Test(config, a_window_may_be_a_length)
{
	struct tl_scenario *s = parse("workload: [{trace: a, window: 7d}]");

	cr_assert_eq(s->workloads[0].trace.window_start_ns, 0);
	cr_assert_eq(s->workloads[0].trace.window_ns, 7 * TL_NS_PER_DAY);
	tl_scenario_destroy(s);
}

Test(config, policy_seats_and_options)
{
	struct tl_scenario *s = parse("workload: [{trace: a}]\n"
	                              "policy:\n"
	                              "  order: {use: las, threshold: 2h, levels: 3}\n"
	                              "  place: ./my/place.so\n"
	                              "  backfill: easy\n"
	                              "  depth: 4\n");
	const struct tl_seat_setting *order = &s->seats[TL_SEAT_ORDER];
	const struct tl_seat_setting *scheduler = &s->seats[TL_SEAT_SCHEDULER];

	cr_assert_str_eq(order->use, "las");
	cr_assert_eq(order->count, 2);
	cr_assert_str_eq(order->settings[0].name, "threshold");
	cr_assert_str_eq(order->settings[0].value, "2h");
	cr_assert_eq(order->settings[0].line, 3);
	cr_assert_eq(order->settings[0].column, 32);
	cr_assert_str_eq(s->seats[TL_SEAT_PLACE].use, "./my/place.so");
	cr_assert_str_eq(scheduler->use, "pipeline");
	cr_assert_eq(scheduler->count, 2);
	cr_assert_str_eq(scheduler->settings[0].name, "backfill");
	cr_assert_str_eq(scheduler->settings[0].value, "easy");
	cr_assert_str_eq(scheduler->settings[1].name, "depth");
	tl_scenario_destroy(s);
}

Test(config, words_stand_for_values)
{
	struct tl_scenario *s = parse(
	    "workload: [{trace: a}]\nhorizon: none\ncheckpoint: {interval: optimal, mode: async}\n"
	    "tenants: [{name: a, quota: 8}, {name: b}]\nestimates: noisy(0.3)\n"
	    "physics: ideal\noutput: {tables: [jobs, placements]}\nfailures: {enabled: true}\n"
	    "faults: [{at: 2d, do: node-down, for: ever}, {at: 1h, do: kill-jobs, jobs: 5}]\n");

	cr_assert_eq(s->horizon_ns, TL_NEVER);
	cr_assert_eq(s->physics.checkpoint_interval_ns, -1);
	cr_assert(s->physics.checkpoint_async);
	cr_assert(s->physics.ideal);
	cr_assert_eq(s->tenants[0].quota_mgpu, 8000);
	cr_assert_eq(s->tenants[1].quota_mgpu, TL_NONE);
	cr_assert_eq(s->estimates, TL_ESTIMATES_NOISY);
	cr_assert_float_eq(s->estimates_sigma, 0.3, 0);
	cr_assert_eq(s->tables, (uint32_t)(TL_TABLE_JOBS | TL_TABLE_PLACEMENTS));
	cr_assert_float_eq(s->failures.per_1000_node_days, 4, 0);
	cr_assert_eq(s->faults[0].what, TL_FAULT_NODE_DOWN);
	cr_assert_eq(s->faults[0].for_ns, TL_NEVER);
	cr_assert_eq(s->faults[0].count, 1);
	cr_assert_eq(s->faults[1].what, TL_FAULT_KILL_JOBS);
	cr_assert_eq(s->faults[1].count, 5);
	cr_assert_eq(s->faults[1].at_ns, TL_NS_PER_HOUR);
	tl_scenario_destroy(s);
}

Test(config, effective_text_reads_back_as_itself)
{
	static const char *const texts[] = {
	    "workload: [{trace: a}]",
	    ("name: \"x: y #z\"\nworkload: [{trace: \"sp ace.csv\", static: true, demand: 1.3, limit: 7}]\n"
	     "cluster: 3x4:cpus=7.5,mem=100GB\npolicy: {order: {use: las, threshold: 2h}, backfill: easy}\n"
	     "estimates: noisy(0.1)\nsharing: {utilisation_median: 0.333333333333333}\n"
	     "tenants: [{name: \"a \\\"b\\\" \\\\\", quota: 0.5}]\n"),
	    ("workload: [{trace: a}]\nfaults: [{at: 1d, do: node-down, node: node-0003}, {at: 2d, do: "
	     "kill-jobs, jobs: 2}, {at: 3d, do: node-down, nodes: 2, for: ever}]\n"),
	    ("horizon: 9d\nworkload: [{generate: philly, rate: 7/min, limit_gpus: 64, queue: low}, "
	     "{generate: rl-training, cores: 0.3, worker_gpus: 4, tenant: moba}, {trace: a},\n"
	     "{generate: release-evaluation, tasks: 70, every: 90min, deadline: 3h, gpus: 0.25}]"),
	    ("cluster: {groups: [{pool: x}, {pool: y}]}\nworkload: [{trace: a, pool: x}, "
	     "{generate: pai, pool: [y, x]}]"),
	    "workload: [{trace: a}]\nhorizon: 1ns\noutput: {tables: [], timeline: 1h}\n",
	    ("cluster: {groups: [{pool: x}, {pool: y}]}\nworkload: [{trace: a}]\n"
	     "oversubscription: {y: 1.25, others: 1.1}\n"),
	    ("workload: [{trace: a}]\noversubscription: 1.15\nsharing: {table: custom, speeds: {0.6: "
	     "0.99, 1: 0.8}, guaranteed: none, utilisation_mean: 0.9}\n"),
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct tl_scenario *once = parse(texts[i]);
		struct tl_scenario *twice = parse(once->text);

		cr_assert_str_eq(once->text, twice->text);
		cr_assert_str_eq(once->name, twice->name);
		cr_assert_eq(once->horizon_ns, twice->horizon_ns);
		cr_assert_eq(once->tables, twice->tables);
		cr_assert_eq(once->cluster.node_count, twice->cluster.node_count);
		cr_assert_eq(once->oversubscription_milli, twice->oversubscription_milli);
		cr_assert_eq(once->pool_count, twice->pool_count);
		for (size_t p = 0; p < once->pool_count; p++)
			cr_assert_eq(once->pools[p].oversubscription_milli,
			             twice->pools[p].oversubscription_milli);
		cr_assert_eq(memcmp(once->physics.sharing.steps, twice->physics.sharing.steps,
		                    sizeof once->physics.sharing.steps),
		             0);
		cr_assert_float_eq(once->physics.sharing.utilisation_median,
		                   twice->physics.sharing.utilisation_median, 0);
		tl_scenario_destroy(once);
		tl_scenario_destroy(twice);
	}
}

/* The generator's options, as the trial will use them. */
static const struct tl_generate_options *made(const struct tl_scenario *s, size_t i)
{
	cr_assert_lt(i, s->workload_count);
	cr_assert(s->workloads[i].is_made);
	return &s->workloads[i].generate;
}

Test(config, generated_work)
{
	struct tl_scenario *s =
	    parse("seed: 9\nhorizon: 3d\nworkload:\n"
	          "  - {generate: philly, rate: 6/h, limit_gpus: 64, tenant: moba, queue: low}\n"
	          "  - {service: s, peak_rps: 1}\n"
	          "  - {generate: release-evaluation, tasks: 12, every: 1d, at: 4h, deadline: 2h}\n"
	          "  - {generate: philly, span: 1h}\n");
	const struct tl_generate_options *first = made(s, 0), *release = made(s, 1),
					 *second = made(s, 2);

	cr_assert_eq(s->workload_count, 3);
	cr_assert_str_eq(s->workloads[0].tenant, "moba");
	cr_assert_str_eq(s->workloads[0].queue, "low");
	cr_assert_str_eq(s->workloads[0].path, "philly");
	cr_assert_eq(s->workloads[0].kind, -1);
	cr_assert_float_eq(first->rate_per_h, 6, 1e-9);
	cr_assert_float_eq(first->mu, 6.77, 1e-9);
	cr_assert_eq(first->limit_gpus, 64);
	cr_assert_eq(first->seed, 9);
	cr_assert_eq(first->span_ns, 3 * TL_NS_PER_DAY, "the horizon");
	cr_assert_eq(second->span_ns, TL_NS_PER_HOUR);
	cr_assert_eq(release->preset, TL_PRESET_RELEASE_EVALUATION);
	cr_assert_eq(release->tasks, 12);
	cr_assert_eq(release->every_ns, TL_NS_PER_DAY);
	cr_assert_eq(release->at_ns, 4 * TL_NS_PER_HOUR);
	cr_assert_eq(release->deadline_ns, 2 * TL_NS_PER_HOUR);

	/* An entry draws what it drew, whatever stands before it. */
	struct tl_scenario *alone = parse("seed: 9\nhorizon: 3d\nworkload:\n"
	                                  "  - {generate: release-evaluation, tasks: 12}\n");
	cr_assert_eq(made(alone, 0)->entity, release->entity);
	cr_assert_neq(first->entity, second->entity);
	cr_assert_neq(first->entity, release->entity);
	tl_scenario_destroy(s);
	tl_scenario_destroy(alone);
}

Test(config, pools_are_masks_of_models)
{
	static const char walls[] =
	    "horizon: 1h\n"
	    "cluster: {groups: [{pool: a}, {pool: b}, {gpus: 0, pool: b}, {gpus: 0}, {gpus: 4}]}\n"
	    "workload: [{trace: x, pool: b}, {generate: pai, pool: [b, a]}, {trace: y},\n"
	    "  {service: s, peak_rps: 1, pool: a}]\n";
	struct tl_scenario *s = parse(walls);

	cr_assert_eq(s->cluster.model_count, 4); /* A100 in a, in b, none in b, A100 in none */
	cr_assert_eq(s->cluster.nodes[3].model, TL_NO_INDEX);
	cr_assert_eq(s->workloads[0].pool_mask, 6u);
	cr_assert_eq(s->workloads[1].pool_mask, 7u);
	cr_assert_str_eq(s->workloads[1].pool, "b|a");
	cr_assert_eq(s->workloads[2].pool_mask, 0u);
	cr_assert_eq(s->services[0].pool_mask, 1u);
	cr_assert(strstr(s->text, "pool: [b, a]\n"));
	tl_scenario_destroy(s);

	/* A cluster without walls is one pool for all, whatever they ask for. */
	s = parse("workload: [{trace: x, pool: b}, {generate: pai, pool: [b, a]}]\n");
	cr_assert_eq(s->workloads[0].pool_mask, 0u);
	cr_assert_eq(s->workloads[1].pool_mask, 0u);
	cr_assert_str_eq(s->workloads[0].pool, "b");
	tl_scenario_destroy(s);
}

static char folder[] = "/tmp/tidelab-config-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[128];
	FILE *file;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_geq(fputs(text, file), 0);
	cr_assert_eq(fclose(file), 0);
}

static void remove_file(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	(void)unlink(path);
}

Test(config, paths_are_relative_to_where_they_are_written)
{
	const struct tl_override set[] = {{.key = "workload[1].trace", .value = "flag.csv"}};
	struct tl_scenario *s = NULL;
	struct tl_error error = TL_ERROR_INIT;
	char path[128], wanted[128];

	cr_assert_not_null(mkdtemp(folder));
	write_file("s.yaml", "cluster: mine\nworkload: [{trace: sub/a.csv}, {trace: b.csv}]\n"
	                     "policy: {place: ./p.so}\n");
	write_file("mine.yaml", "groups: [{count: 2, gpus: 4}]\n");
	(void)snprintf(path, sizeof path, "%s/s.yaml", folder);
	cr_assert_eq(tl_scenario_load(path, set, 1, &s, &error), TL_OK, "%s", error.message);
	(void)snprintf(wanted, sizeof wanted, "%s/sub/a.csv", folder);
	cr_assert_str_eq(s->workloads[0].path, wanted);
	cr_assert_str_eq(s->workloads[1].path, "flag.csv");
	(void)snprintf(wanted, sizeof wanted, "%s/./p.so", folder);
	cr_assert_str_eq(s->seats[TL_SEAT_PLACE].use, wanted);
	cr_assert_str_eq(s->cluster.name, "mine");
	cr_assert_eq(s->cluster.node_count, 2);
	cr_assert_str_eq(s->path, path);
	/* The text must be the same in any folder. */
	cr_assert_null(strstr(s->text, folder));
	cr_assert_not_null(strstr(s->text, "trace: sub/a.csv"));
	cr_assert_not_null(strstr(s->text, "place: ./p.so"));
	tl_scenario_destroy(s);
	remove_file("s.yaml");
	remove_file("mine.yaml");
	(void)rmdir(folder);
}
