/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --set: edits that work, edits that are refused, and whom the message names. */
#include "sim/base/units.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <string.h>

static const char base[] = "name: base\n"
			   "workload:\n"
			   "  - {trace: a.csv, static: true, demand: 1.1}\n"
			   "  - {trace: b.csv, window: 7d}\n"
			   "policy: {order: las, place: {use: fgd, mode: fast}}\n";

static struct tl_scenario *with(const char *key, const char *value)
{
	const struct tl_override set = {.key = key, .value = value};
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = tl_scenario_parse("base.yaml", base, &set, 1, &scenario, &error);

	cr_assert_eq(status, TL_OK, "%s=%s: %s: %s", key, value, error.file, error.message);
	return scenario;
}

Test(config_set, a_scalar)
{
	struct tl_scenario *s = with("seed", "42");

	cr_assert_eq(s->seed, 42);
	cr_assert_eq(s->workloads[0].trace.seed, 42);
	tl_scenario_destroy(s);
}

Test(config_set, inside_a_list)
{
	struct tl_scenario *s = with("workload[0].demand", "1.3");

	cr_assert_float_eq(s->workloads[0].trace.demand, 1.3, 0);
	cr_assert_float_eq(s->workloads[1].trace.demand, 0, 0);
	tl_scenario_destroy(s);
}

Test(config_set, inside_every_entry_of_a_list)
{
	struct tl_scenario *s = with("workload[*].limit", "14");

	cr_assert_eq(s->workloads[0].trace.limit, 14);
	cr_assert_eq(s->workloads[1].trace.limit, 14);
	tl_scenario_destroy(s);
}

/* Of several kinds of entry, those that have the key; an edit of one of them after it is its
 * own. */
Test(config_set, inside_every_entry_of_a_kind)
{
	static const char mixed[] =
	    "horizon: 1d\n"
	    "workload:\n"
	    "  - {service: a, peak_rps: 10, slo: {p99: 1s}}\n"
	    "  - {trace: a.csv}\n"
	    "  - {service: b, peak_rps: 10, slo: {p99: 1s}, replicas: {max: 3}}\n";
	const struct tl_override sets[] = {
	    {.key = "workload[*].replicas", .value = "{min: 1, max: 7}"},
	    {.key = "workload[2].replicas.max", .value = "5"},
	};
	struct tl_scenario *s = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_scenario_parse("mixed.yaml", mixed, sets, 2, &s, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(s->service_count, 2);
	cr_expect_eq(s->services[0].replicas_max, 7);
	cr_expect_eq(s->services[1].replicas_max, 5);
	cr_expect_null(tl_scenario_own(s, "workload[*].replicas.max"));
	tl_scenario_destroy(s);
}

Test(config_set, inside_a_shorthand)
{
	struct tl_scenario *s = with("workload[1].window.start", "2d");

	cr_assert_eq(s->workloads[1].trace.window_start_ns, 2 * TL_NS_PER_DAY);
	cr_assert_eq(s->workloads[1].trace.window_ns, 7 * TL_NS_PER_DAY);
	tl_scenario_destroy(s);
}

Test(config_set, a_pool_beside_one_ratio_for_all)
{
	static const char walls[] = "cluster: {groups: [{pool: a}, {pool: b}]}\n"
				    "workload: [{trace: x}]\n%s";
	static const struct tl_override set = {.key = "oversubscription.b", .value = "1.3"};
	static const struct {
		const char *line;
		int32_t others_milli;
		size_t count;
	} rows[] = {{"", 1000, 1},
	            {"oversubscription: 1.15\n", 1150, 1},
	            {"oversubscription: {a: 1.2, b: 1.1}\n", 1000, 2}};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct tl_scenario *s = NULL;
		struct tl_error error = TL_ERROR_INIT;
		char text[200];

		snprintf(text, sizeof text, walls, rows[i].line);
		cr_assert_eq(tl_scenario_parse("test", text, &set, 1, &s, &error), TL_OK, "%s",
		             error.message);
		cr_assert_eq(s->oversubscription_milli, rows[i].others_milli);
		cr_assert_eq(s->pool_count, rows[i].count);
		cr_assert_str_eq(s->pools[s->pool_count - 1].name, "b");
		cr_assert_eq(s->pools[s->pool_count - 1].oversubscription_milli, 1300);
		tl_scenario_destroy(s);
	}
}

Test(config_set, appends_to_a_list)
{
	struct tl_scenario *s = with("workload[2].trace", "c.csv");

	cr_assert_eq(s->workload_count, 3);
	cr_assert_str_eq(s->workloads[2].path, "c.csv");
	tl_scenario_destroy(s);
}

Test(config_set, flow_lists_and_maps)
{
	struct tl_scenario *s =
	    with("faults", "[{at: 1h, do: kill-jobs}, {at: 2h, do: node-down}]");

	cr_assert_eq(s->fault_count, 2);
	tl_scenario_destroy(s);
	s = with("output.tables", "[jobs, summary]");
	cr_assert_eq(s->tables, (uint32_t)(TL_TABLE_JOBS | TL_TABLE_SUMMARY));
	tl_scenario_destroy(s);
}

Test(config_set, policy_seats)
{
	struct tl_scenario *s = with("policy.place", "best-fit");

	cr_assert_str_eq(s->seats[TL_SEAT_PLACE].use, "best-fit");
	cr_assert_eq(s->seats[TL_SEAT_PLACE].count, 0);
	tl_scenario_destroy(s);
	/* A seat that is a name becomes a map; one that is a map keeps its options. */
	s = with("policy.order.threshold", "2h");
	cr_assert_str_eq(s->seats[TL_SEAT_ORDER].use, "las");
	cr_assert_str_eq(s->seats[TL_SEAT_ORDER].settings[0].value, "2h");
	tl_scenario_destroy(s);
	s = with("policy.place.mode", "slow");
	cr_assert_eq(s->seats[TL_SEAT_PLACE].count, 1);
	cr_assert_str_eq(s->seats[TL_SEAT_PLACE].settings[0].value, "slow");
	tl_scenario_destroy(s);
	/* A seat that is not written starts from its default. */
	s = with("policy.admit.cap", "4");
	cr_assert_str_eq(s->seats[TL_SEAT_ADMIT].use, "open");
	cr_assert_str_eq(s->seats[TL_SEAT_ADMIT].settings[0].name, "cap");
	tl_scenario_destroy(s);
	s = with("policy.backfill", "easy");
	cr_assert_str_eq(s->seats[TL_SEAT_SCHEDULER].settings[0].name, "backfill");
	tl_scenario_destroy(s);
	s = with("policy.scheduler.backfill", "easy");
	cr_assert_str_eq(s->seats[TL_SEAT_SCHEDULER].settings[0].name, "backfill");
	tl_scenario_destroy(s);
}

Test(config_set, nodes_of_a_cluster)
{
	struct tl_scenario *s = with("cluster.nodes", "24");

	cr_assert_eq(s->cluster.node_count, 24);
	cr_assert_str_eq(s->cluster.name, "a100-32x8");
	cr_assert_not_null(strstr(s->text, "count: 24"));
	tl_scenario_destroy(s);
	s = with("cluster", "{use: 3x4, nodes: 5}");
	cr_assert_eq(s->cluster.node_count, 5);
	cr_assert_eq(s->cluster.nodes[4].gpus, 4);
	tl_scenario_destroy(s);
	s = with("cluster", "{groups: [{count: 2, gpus: 2}], nodes: 7}");
	cr_assert_eq(s->cluster.node_count, 7);
	tl_scenario_destroy(s);
}

Test(config_set, a_list_that_is_a_default)
{
	struct tl_scenario *s = with("queues[0].weight", "9");

	cr_assert_eq(s->queue_count, 3);
	cr_assert_str_eq(s->queues[0].name, "high");
	cr_assert_eq(s->queues[0].weight, 9);
	tl_scenario_destroy(s);
}

Test(config_set, the_last_of_two_wins)
{
	const struct tl_override set[] = {{.key = "seed", .value = "1"},
	                                  {.key = "seed", .value = "2"}};
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_scenario_parse("base.yaml", base, set, 2, &scenario, &error), TL_OK);
	cr_assert_eq(scenario->seed, 2);
	tl_scenario_destroy(scenario);
}

struct bad {
	const char *key, *value, *says;
};

static const struct bad bad[] = {
    {"", "1", "malformed key"},
    {".", "1", "malformed key"},
    {"a..b", "1", "malformed key"},
    {"seed.", "1", "malformed key"},
    {"workload[", "1", "malformed key"},
    {"workload[]", "1", "malformed key"},
    {"workload[x]", "1", "malformed key"},
    {"workload[-1]", "1", "malformed key"},
    {"workload[0", "1", "malformed key"},
    {"workload[0]demand", "1", "malformed key"},
    {"workload[0].", "1", "malformed key"},
    {"[0]", "1", "malformed key"},
    {"se ed", "1", "malformed key"},
    {"policy.order\xbc", "1", "malformed key"},
    {"workload[99999999999999]", "1", "malformed key"},
    {"workload[*]", "1", "malformed key"},
    {"workload[*]demand", "1", "malformed key"},
    {"workload[**].demand", "1", "malformed key"},
    {"workload[*].requests", "fluid", "none of the 2 entries takes `requests`"},
    {"workload[*].demand.x", "1", "wanted a map"},
    {"seed[*].x", "1", "got `1`, wanted a list"},
    {"policy[*].x", "1", "got a map, wanted a list"},
    {"workload[*].demand", "much", "got `much`"},
    {"workload[7].demand", "1", "index: got 7, wanted one from 0 to 2"},
    {"workload.demand", "1", "got a list, wanted a map of keys"},
    {"seed[0]", "1", "got `1`, wanted a list"},
    {"seed.x", "1", "got `1`, wanted a map"},
    {"name.x", "1", "got `base`, wanted a map"},
    {"policy[0]", "1", "got a map, wanted a list"},
    {"sed", "1", "unknown key `sed`; did you mean `seed`?"},
    {"workload[0].demnd", "1", "did you mean `demand`?"},
    {"seed", "abc", "got `abc`, wanted a whole number"},
    {"seed", "", "got nothing"},
    {"seed", "[1", "not YAML"},
    {"seed", "&a 1", "anchors"},
    {"seed", "1\n---\n2", "second document"},
    {"seed", "[1]", "got a list"},
    {"output", "{tables: all, tables: jobs}", "duplicate key `tables`"},
    {"horizon", "-5s", "wanted a duration"},
    {"cluster.nodes", "0", "from 1 to 100000"},
    {"cluster", "nowhere", "no cluster `nowhere`"},
};

Test(config_set, refusals_name_the_flag)
{
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		const struct tl_override set = {.key = bad[i].key, .value = bad[i].value};
		struct tl_scenario *scenario = NULL;
		struct tl_error error = TL_ERROR_INIT;
		enum tl_status status =
		    tl_scenario_parse("base.yaml", base, &set, 1, &scenario, &error);

		cr_expect_eq(status, TL_E_USAGE, "%s=%s: %d", bad[i].key, bad[i].value,
		             (int)status);
		cr_expect_eq(strncmp(error.file, "--set ", 6), 0, "%s=%s: %s", bad[i].key,
		             bad[i].value, error.file);
		cr_expect_eq(strcmp(error.file + 6, bad[i].key), 0, "%s", error.file);
		cr_expect_eq(error.line, 0);
		cr_expect(strstr(error.message, bad[i].says), "%s=%s: %s", bad[i].key, bad[i].value,
		          error.message);
		cr_expect_null(strstr(error.message, "line 0"), "%s", error.message);
	}
}

Test(config_set, another_flag_is_named_as_the_user_wrote_it)
{
	const struct tl_override set = {.key = "cluster", .value = "nowhere", .flag = "--cluster"};
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_scenario_parse("base.yaml", base, &set, 1, &scenario, &error), TL_E_USAGE);
	cr_assert_str_eq(error.file, "--cluster");
}

Test(config_set, a_wrong_line_of_the_file_still_names_the_file)
{
	const struct tl_override set = {.key = "seed", .value = "2"};
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_scenario_parse("f.yaml", "workload: [{trace: a}]\nhorizon: x\n", &set, 1,
	                               &scenario, &error),
	             TL_E_CONFIG);
	cr_assert_str_eq(error.file, "f.yaml");
	cr_assert_eq(error.line, 2);
}
