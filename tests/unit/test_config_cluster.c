/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Clusters: shipped, compact, inline, from lists; racks and pods; where files are found. */
#include "sim/base/units.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tl_scenario *with_cluster(const char *value)
{
	const struct tl_override set = {.key = "cluster", .value = value};
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(
	    tl_scenario_parse("test", "workload: [{trace: a}]", &set, 1, &scenario, &error), TL_OK,
	    "%s: %s", value, error.message);
	return scenario;
}

Test(config_cluster, the_default_one)
{
	struct tl_scenario *s = with_cluster("a100-32x8");
	const struct tl_node_spec *last = &s->cluster.nodes[31];

	cr_assert_str_eq(s->cluster.name, "a100-32x8");
	cr_assert_eq(s->cluster.node_count, 32);
	cr_assert_eq(s->cluster.model_count, 1);
	cr_assert_str_eq(s->cluster.models[0].name, "A100-SXM4-80GB");
	cr_assert_eq(s->cluster.models[0].memory_bytes, 80 * TL_GIB);
	cr_assert_eq(last->gpus, 8);
	cr_assert_eq(last->cpu_milli, 128000);
	cr_assert_eq(last->ram_bytes, 1024 * TL_GIB);
	cr_assert_eq(last->rack, 7);
	cr_assert_eq(last->pod, 1);
	cr_assert_eq(last->leaf, 1);
	cr_assert_str_eq(last->name, "node-0031");
	cr_assert_eq(s->cluster.nodes[15].pod, 0);
	cr_assert_eq(s->cluster.nodes[16].pod, 1);
	cr_assert_eq(s->cluster.nodes[3].rack, 0);
	cr_assert_eq(s->cluster.nodes[4].rack, 1);
	tl_scenario_destroy(s);
}

Test(config_cluster, every_shipped_one)
{
	static const struct {
		const char *name;
		size_t nodes;
		uint32_t gpus;
	} shipped[] = {{"a100-32x8", 32, 256}, {"a100-4x8", 4, 32},
	               {"small-2x4", 2, 8},    {"a100-32x8-cpu-16", 48, 256},
	               {"mixed-96", 22, 96},   {"separate-42x8", 42, 336}};

	for (size_t i = 0; i < sizeof shipped / sizeof shipped[0]; i++) {
		struct tl_scenario *s = with_cluster(shipped[i].name);
		uint32_t gpus = 0;

		for (size_t k = 0; k < s->cluster.node_count; k++)
			gpus += s->cluster.nodes[k].gpus;
		cr_assert_str_eq(s->cluster.name, shipped[i].name);
		cr_assert_eq(s->cluster.node_count, shipped[i].nodes);
		cr_assert_eq(gpus, shipped[i].gpus);
		tl_scenario_destroy(s);
	}
}

Test(config_cluster, compact)
{
	struct tl_scenario *s = with_cluster("6x2:cpus=48,mem=192GiB,model=T4,rack=2,pod=3,leaf=1");
	const struct tl_node_spec *node = &s->cluster.nodes[5];

	cr_assert_eq(s->cluster.node_count, 6);
	cr_assert_str_eq(s->cluster.name, "6x2");
	cr_assert_str_eq(s->cluster.models[0].name, "T4");
	cr_assert_eq(node->gpus, 2);
	cr_assert_eq(node->cpu_milli, 48000);
	cr_assert_eq(node->ram_bytes, 192 * TL_GIB);
	cr_assert_eq(node->rack, 2);
	cr_assert_eq(node->leaf, 5);
	cr_assert_eq(node->pod, 1);
	tl_scenario_destroy(s);
	s = with_cluster("\"2x1:model=Mine,gpu_mem=12GiB\"");
	cr_assert_eq(s->cluster.models[0].memory_bytes, 12 * TL_GIB);
	tl_scenario_destroy(s);
}

Test(config_cluster, groups_mix)
{
	struct tl_scenario *s = with_cluster(
	    "{name: m, groups: [{count: 2, gpus: 8}, {name: cpu, count: 3, gpus: 0, cpus: 64}, "
	    "{count: 1, gpus: 4, model: T4}]}");
	const struct tl_node_spec *nodes = s->cluster.nodes;

	cr_assert_str_eq(s->cluster.name, "m");
	cr_assert_eq(s->cluster.node_count, 6);
	cr_assert_eq(s->cluster.model_count, 2);
	cr_assert_eq(nodes[2].gpus, 0);
	cr_assert_eq(nodes[2].model, TL_NO_INDEX);
	cr_assert_str_eq(nodes[2].name, "cpu-0002");
	cr_assert_eq(nodes[5].model, 1);
	/* Each group begins anew. */
	cr_assert_eq(nodes[1].rack, 0);
	cr_assert_eq(nodes[2].rack, 1);
	cr_assert_eq(nodes[5].rack, 2);
	cr_assert_eq(nodes[5].pod, 2);
	tl_scenario_destroy(s);
}

static char path[] = "/tmp/tidelab-list-XXXXXX";

Test(config_cluster, a_list_of_machines)
{
	struct tl_scenario *s;
	char value[128];
	FILE *file = fdopen(mkstemp(path), "w");

	cr_assert_not_null(file);
	cr_assert_geq(fputs("sn,cpu_milli,memory_mib,gpu,model\n"
	                    "one,64000,262144,2,T4\n"
	                    "two,96000,393216,8,Mystery\n"
	                    "three,32000,131072,0,\n",
	                    file),
	              0);
	cr_assert_eq(fclose(file), 0);
	(void)snprintf(value, sizeof value, "{list: %s, format: openb, gpu_memory: 24GiB}", path);
	s = with_cluster(value);
	cr_assert_eq(s->cluster.node_count, 3);
	cr_assert_str_eq(s->cluster.nodes[1].name, "two");
	cr_assert_eq(s->cluster.nodes[1].gpus, 8);
	cr_assert_eq(s->cluster.models[1].memory_bytes, 24 * TL_GIB);
	cr_assert_eq(s->cluster.nodes[2].model, TL_NO_INDEX);
	cr_assert_not_null(strstr(s->text, "format: openb"));
	tl_scenario_destroy(s);
	(void)unlink(path);
}

Test(config_cluster, public_lists)
{
	static const struct {
		const char *value;
		size_t nodes;
		uint64_t gpus;
	} lists[] = {
	    {"{list: ../shared/traces/openb/openb_node_list_gpu_node.csv, gpu_memory: 32GiB}", 1213,
	     6212},
	    {"{list: ../shared/traces/clusters/pai_machine_spec.csv, format: pai, gpu_memory: 16GiB}",
	     1897, 6742},
	};

	if (access("../shared/traces/openb", R_OK) != 0)
		cr_skip_test("the public traces are not there");
	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		struct tl_scenario *s = with_cluster(lists[i].value);
		uint64_t gpus = 0;

		for (size_t k = 0; k < s->cluster.node_count; k++)
			gpus += s->cluster.nodes[k].gpus;
		cr_expect_eq(s->cluster.node_count, lists[i].nodes);
		cr_expect_eq(gpus, lists[i].gpus, "%llu", (unsigned long long)gpus);
		tl_scenario_destroy(s);
	}
}

Test(config_cluster, a_file_of_a_cluster_is_validated_where_it_stands)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	char file[64], value[96];
	struct tl_override set = {.key = "cluster", .value = value};
	FILE *out;

	(void)snprintf(file, sizeof file, "/tmp/tidelab-cluster-%ld.yaml", (long)getpid());
	(void)snprintf(value, sizeof value, "%s", file);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	cr_assert_geq(fputs("groups:\n  - gpus: 8\n    cpu: 3\n", out), 0);
	cr_assert_eq(fclose(out), 0);
	cr_assert_eq(tl_scenario_parse("t", "workload: [{trace: a}]", &set, 1, &scenario, &error),
	             TL_E_CONFIG);
	cr_assert_str_eq(error.file, file);
	cr_assert_eq(error.line, 3);
	cr_assert(strstr(error.message, "did you mean `cpus`?"), "%s", error.message);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	cr_assert_geq(fputs("use: a100-32x8\n", out), 0);
	cr_assert_eq(fclose(out), 0);
	cr_assert_eq(tl_scenario_parse("t", "workload: [{trace: a}]", &set, 1, &scenario, &error),
	             TL_E_CONFIG);
	cr_assert(strstr(error.message, "`use` stands in a scenario only"), "%s", error.message);
	(void)unlink(file);
}

Test(config_cluster, places_of_data_and_modules)
{
	char folder[] = "/tmp/tidelab-modules-XXXXXX", file[64], name[96];
	char *found, **modules;
	bool listed = false;
	FILE *out;

	found = tl_paths_data("clusters", "a100-32x8");
	cr_assert_not_null(found);
	free(found);
	found = tl_paths_data("clusters", "a100-32x8.yaml");
	cr_assert_not_null(found);
	free(found);
	cr_assert_null(tl_paths_data("clusters", "nowhere"));
	cr_assert_null(tl_paths_module("no-such-module"));
	cr_assert_null(tl_paths_module("./no-such-module.so"));
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(file, sizeof file, "%s/zz-test.so", folder);
	out = fopen(file, "w");
	cr_assert_not_null(out);
	cr_assert_eq(fclose(out), 0);
	(void)snprintf(name, sizeof name, "/no/such/folder::%s", folder);
	cr_assert_eq(setenv("TIDELAB_POLICY_PATH", name, 1), 0);
	found = tl_paths_module("zz-test");
	cr_assert_not_null(found);
	cr_assert_str_eq(found, file);
	free(found);
	found = tl_paths_module(file);
	cr_assert_str_eq(found, file);
	free(found);
	modules = tl_paths_modules();
	for (size_t i = 0; modules[i]; i++) {
		listed = listed || strcmp(modules[i], "zz-test") == 0;
		cr_assert(i == 0 || strcmp(modules[i - 1], modules[i]) < 0);
	}
	cr_assert(listed);
	tl_paths_free(modules);
	(void)unlink(file);
	(void)rmdir(folder);
}
