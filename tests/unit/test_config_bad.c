/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Scenarios that are wrong: each is refused, with its place and what was wanted. */
#include "sim/base/arena.h"
#include "sim/config/scenario.h"
#include "sim/config/tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORK "workload: [{trace: a}]\n"

struct bad {
	const char *text;
	long line, column; /* 0: not told */
	const char *says;  /* must be in the message */
};

static const struct bad bad[] = {
    /* not YAML, or YAML that we do without */
    {"", 0, 0, "is empty"},
    {"# nothing but a comment\n", 0, 0, "is empty"},
    {"---\n...\n", 2, 1, "wanted a map of keys"},
    {"just words", 1, 1, "wanted a map of keys"},
    {"- a\n- b\n", 1, 1, "got a list, wanted a map of keys"},
    {"~", 1, 1, "got nothing, wanted a map"},
    {"name: [unclosed\n", 2, 1, "not YAML"},
    {"name: 'unclosed\n", 0, 0, "not YAML"},
    {"\tname: x\n", 1, 1, "not YAML"},
    {"name: x\n  seed: 2\n", 2, 7, "not YAML"},
    {"name: \xff\n", 1, 7, "not YAML"},
    {"name: \x01\n", 1, 7, "not YAML"},
    {"name: a\n---\nname: b\n", 2, 1, "second document"},
    {"name: &anchor a\n", 1, 7, "anchors"},
    {"name: *alias\n", 1, 7, "aliases"},
    {"workload: &w [{trace: a}]\n", 1, 11, "anchors"},
    {"seed: !!int 1\n", 1, 7, "tags"},
    {"policy: !mine {order: fifo}\n", 1, 9, "tags"},
    {"<<: {name: a}\n", 1, 1, "unknown key `<<`"},
    {"? [a, b]\n: c\n", 1, 3, "got a list or a map, wanted a name"},
    {"name: a\nseed: 1\nname: b\n", 3, 1, "duplicate key `name` (first at line 1)"},
    {"policy: {order: fifo, order: las}\n", 1, 23, "duplicate key `order`"},
    {"\"na\\0me\": a\n", 1, 1, "NUL"},
    {"name: \"a\\0b\"\n", 1, 7, "NUL"},
    /* unknown keys */
    {WORK "nam: a\n", 2, 1, "unknown key `nam`; did you mean `name`?"},
    {WORK "horizn: 7d\n", 2, 1, "did you mean `horizon`?"},
    {WORK "checkpoint:\n  intervall: 5min\n", 3, 3,
     "checkpoint: unknown key `intervall`; did you mean `interval`?"},
    {"workload: [{trace: a, frmat: philly}]\n", 1, 23,
     "workload[0]: unknown key `frmat`; did you mean `format`?"},
    {WORK "zebra: 1\n", 2, 1, "unknown key `zebra`"},
    /* wrong types */
    {WORK "name: [a]\n", 2, 7, "name: got a list"},
    {WORK "name:\n", 2, 6, "name: got nothing"},
    {WORK "name: \"\"\n", 2, 7, "name: got"},
    {WORK "seed: abc\n", 2, 7, "seed: got `abc`, wanted a whole number"},
    {WORK "seed: \"1\"\n", 2, 7, "seed: got the text \"1\", wanted a whole number"},
    {WORK "seed: 1.5\n", 2, 7, "wanted a whole number"},
    {WORK "seed: 0x10\n", 2, 7, "wanted a whole number"},
    {WORK "seed: {a: 1}\n", 2, 7, "got a map"},
    {WORK "horizon: 7\n", 2, 10, "wanted a duration"},
    {WORK "horizon: 7 d\n", 2, 10, "wanted a duration"},
    {WORK "horizon: [7d]\n", 2, 10, "got a list, wanted a duration"},
    {WORK "policy: fifo\n", 2, 9, "policy: got `fifo`, wanted a map of keys"},
    {WORK "policy: {order: [fifo]}\n", 2, 17, "policy.order: got a list"},
    {WORK "policy: {order: {threshold: 2h}}\n", 2, 17, "key `use` is missing"},
    {WORK "policy: {order: {use: las, a: [1]}}\n", 2, 31, "policy.order.a: got a list"},
    {WORK "policy: {order: {use: \"\", a: 1}}\n", 2, 17, "options for an empty seat"},
    {WORK "policy: {scheduler: {use: pipeline, depth: 1}, depth: 2}\n", 2, 44, "given twice"},
    {WORK "jobs: {kill_at_estimate: yes}\n", 2, 26, "wanted true or false"},
    {WORK "jobs: {kill_at_estimate: 1}\n", 2, 26, "wanted true or false"},
    {WORK "physics: fast\n", 2, 10, "physics: got `fast`, wanted one of full|ideal"},
    {"workload: [{trace: a, shuffle: true}]\n", 1, 32,
     "workload[0].shuffle: got it for a trace with times"},
    {"workload: [{trace: a, demand: 2}]\n", 1, 31,
     "workload[0].demand: got it for a trace with times"},
    {WORK "queues: high\n", 2, 9, "queues: got `high`, wanted a list"},
    {WORK "queues: [high]\n", 2, 10, "queues[0]: got `high`, wanted a map"},
    {WORK "output: {tables: {a: b}}\n", 2, 18, "got a map"},
    {WORK "output: {tables: [jobs, jbs]}\n", 2, 25, "did you mean `jobs`?"},
    {"workload: {trace: a}\n", 1, 11, "workload: got a map, wanted a list"},
    {"workload: [a.csv]\n", 1, 12, "workload[0]: got `a.csv`, wanted a map"},
    {"workload: [{trace: a, window: [1d]}]\n", 1, 31, "got a list"},
    {"workload: [{trace: a, window: {length: x}}]\n", 1, 40, "workload[0].window.length: got `x`"},
    /* impossible values */
    {WORK "seed: -1\n", 2, 7, "seed: got `-1`"},
    {WORK "seed: 99999999999999999999\n", 2, 7, "seed: got"},
    {WORK "horizon: 0s\n", 2, 10, "horizon: got `0s`, wanted a duration"},
    {WORK "horizon: -7d\n", 2, 10, "horizon: got `-7d`"},
    {WORK "horizon: 99999999999d\n", 2, 10, "horizon: got"},
    {WORK "horizon: nan\n", 2, 10, "horizon: got `nan`"},
    {WORK "start: {warm_share: 1.5}\n", 2, 21, "from 0 to 1"},
    {WORK "start: {warm_share: 0.12345}\n", 2, 21, "three decimals"},
    {WORK "start: {cold_small: -45s}\n", 2, 21, "start.cold_small: got `-45s`"},
    {WORK "checkpoint: {bandwidth: 1GB}\n", 2, 25, "bytes a second"},
    {WORK "checkpoint: {bandwidth: 0B/s}\n", 2, 25, "bytes a second"},
    {WORK "checkpoint: {interval: 0s}\n", 2, 24, "or `none`, or `optimal`"},
    {WORK "checkpoint: {state: -4GB}\n", 2, 21, "wanted a size"},
    {WORK "communication: {pod: 0.9}\n", 2, 22, "from 1 to 1000"},
    {WORK "sharing: {utilisation_median: 0}\n", 2, 31, "above 0 and at most 1"},
    {WORK "sharing: {utilisation_median: .nan}\n", 2, 31, "wanted a number"},
    {WORK "sharing: {utilisation_median: nan}\n", 2, 31, "wanted a number"},
    {WORK "sharing: {utilisation_median: inf}\n", 2, 31, "wanted a number"},
    {WORK "sharing: {utilisation_median: 1e999}\n", 2, 31, "wanted a number"},
    {WORK "sharing: {utilisation_mean: 0.2}\n", 2, 29, "of at least 0.25 and at most 1"},
    {WORK "sharing: {utilisation_mean: 0.9, utilisation_median: 0.9}\n", 2, 54,
     "sharing: utilisation_median: does not go with `utilisation_mean`"},
    {WORK "sharing: {utilisation: 0.9}\n", 2, 24, "wanted one of recorded|drawn"},
    {WORK "sharing: {table: mps}\n", 2, 18, "wanted one of lucid|gavel|time-slice|custom"},
    {WORK "sharing: {guaranteed: true}\n", 2, 23, "wanted one of none|services|inference"},
    {WORK "sharing: {table: custom}\n", 2, 18, "sharing.table: got `custom` without `speeds`"},
    {WORK "sharing: {table: custom, speeds: {}}\n", 2, 34, "sharing.speeds: got none"},
    {WORK "sharing: {speeds: {1: 0.9}}\n", 2, 19,
     "speeds: does not go with a table that is not `custom`"},
    {WORK "sharing: {table: custom, speeds: [1]}\n", 2, 34, "a map of utilisations and speeds"},
    {WORK "sharing: {table: custom, speeds: {0: 0.9}}\n", 2, 35, "a sum of utilisations above 0"},
    {WORK "sharing: {table: custom, speeds: {65: 0.9}}\n", 2, 35, "at most 64"},
    {WORK "sharing: {table: custom, speeds: {x: 0.9}}\n", 2, 35, "a sum of utilisations"},
    {WORK "sharing: {table: custom, speeds: {1: 0.9, 0.8: 0.8}}\n", 2, 43,
     "got `0.8` after `1`, wanted them to ascend"},
    {WORK "sharing: {table: custom, speeds: {0.8: 0.8, 1: 0.9}}\n", 2, 48,
     "got 0.9 after a slower one, wanted speeds not to rise"},
    {WORK "sharing: {table: custom, speeds: {1: 0}}\n", 2, 38, "a speed above 0 and at most 1"},
    {WORK "sharing: {table: custom, speeds: {1: 1.1}}\n", 2, 38, "a speed above 0 and at most 1"},
    {WORK "sharing: {table: custom, speeds: {1: nan}}\n", 2, 38, "a speed above 0 and at most 1"},
    {WORK "oversubscription: 0.9\n", 2, 19, "from 1 to 2"},
    {WORK "oversubscription: 2.5\n", 2, 19, "from 1 to 2"},
    {WORK "oversubscription: 1.0005\n", 2, 19, "three decimals"},
    {WORK "oversubscription: -1\n", 2, 19, "from 1 to 2"},
    {WORK "oversubscription: {ratio: 1.3}\n", 2, 20,
     "oversubscription: got `ratio`, wanted a pool of the cluster, which has none"},
    {WORK "oversubscription: [1.3]\n", 2, 19, "got a list"},
    {WORK "oversubscription: {others: 0.9}\n", 2, 28, "oversubscription.others: got"},
    {WORK "oversubscription: {others: [1]}\n", 2, 28, "oversubscription.others: got a list"},
    {WORK "oversubscription: 115%\n", 2, 19, "from 1 to 2"},
    {WORK "estimates: noisy\n", 2, 12, "estimates: got `noisy`"},
    {WORK "estimates: noisy()\n", 2, 12, "noisy(σ)"},
    {WORK "estimates: noisy(-1)\n", 2, 12, "from 0 to 10"},
    {WORK "estimates: noisy(nan)\n", 2, 12, "from 0 to 10"},
    {WORK "estimates: [exact]\n", 2, 12, "got a list"},
    {WORK "failures: {short_share: 0.9, medium_share: 0.2}\n", 2, 11, "more than 1"},
    {WORK "name: a/b\n", 2, 7, "without a slash"},
    {WORK "name: .hidden\n", 2, 7, "without a slash"},
    {WORK "name: \"a\\nb\"\n", 2, 7, "control character"},
    {WORK "name: \"a\\Nb\"\n", 2, 7, "control character"},
    {WORK "name: 0123456789012345678901234567890123456789012345678901234567890123\n", 2, 7,
     "got 64 bytes, wanted a name of at most 63 bytes"},
    {WORK "queues: []\n", 2, 9, "at least one queue"},
    {WORK "queues: [{weight: 1}]\n", 2, 10, "key `name` is missing"},
    {WORK "queues: [{name: a}, {name: a}]\n", 2, 28, "queues[1].name: got `a` again"},
    {WORK "queues: [{name: abcdefghijklmnopqrstuvwxyzabcdef}]\n", 2, 17,
     "queues[0].name: got `abcdefghijklmnopqrstuvwxyzabcdef`, wanted at most 31 bytes"},
    {WORK "queues: [{name: a, weight: 0}]\n", 2, 28, "from 1 to"},
    {WORK "tenants: [{name: a}, {name: a}]\n", 2, 29, "tenants[1].name"},
    {WORK "tenants: [{name: a, quota: -1}]\n", 2, 28, "wanted GPUs"},
    {WORK "faults: [{do: node-down}]\n", 2, 10, "key `at` is missing"},
    {WORK "faults: [{at: 1d}]\n", 2, 10, "key `do` is missing"},
    {WORK "faults: [{at: 1d, do: explode}]\n", 2, 23, "node-down|kill-jobs"},
    {WORK "faults: [{at: 1d, do: node-down, nodes: 33}]\n", 2, 41, "at most the cluster's 32"},
    {WORK "faults: [{at: 1d, do: node-down, node: n9}]\n", 2, 40, "wanted a node of the cluster"},
    {WORK "faults: [{at: 1d, do: node-down, node: node-0001, nodes: 2}]\n", 2, 58,
     "does not go with `node`"},
    {WORK "faults: [{at: 1d, do: node-down, jobs: 3}]\n", 2, 40,
     "does not go with `do: node-down`"},
    {WORK "faults: [{at: 1d, do: kill-jobs, for: 1h}]\n", 2, 39,
     "does not go with `do: kill-jobs`"},
    {WORK "prices: {gpu_hour: -1}\n", 2, 20, "prices.gpu_hour: got `-1`, wanted a price"},
    {WORK "prices: {gpu_hour: 2 per 1000}\n", 2, 20, "wanted a price"},
    {WORK "prices: {gpu_hour: [1]}\n", 2, 20, "prices.gpu_hour: got a list"},
    {WORK "prices: {currency: DOUBLOONS}\n", 2, 20,
     "prices.currency: got 9 bytes, wanted a name of at most 7"},
    {WORK "prices: {currency: \"\"}\n", 2, 20, "wanted a name of at most 7 bytes"},
    {WORK "prices: {gpu_hours: 1}\n", 2, 10, "did you mean `gpu_hour`?"},
    {WORK "observe: {interval: 0s}\n", 2, 21, "from 1ms to 1d, or `as-window`"},
    {WORK "observe: {interval: 7s}\n", 2, 21,
     "observe.interval: got part of a window, wanted whole ones (metrics.window is 5s)"},
    {WORK "observe: {interval: 2s}\n", 2, 21, "got part of a window"},
    {WORK "observe: {delay: -1s}\n", 2, 18, "observe.delay: got `-1s`"},
    {WORK "observe: {delay: 2h}\n", 2, 18, "to 1h"},
    {WORK "metrics: {window: 1ms}\nobserve: {delay: 1h}\n", 3, 18,
     "observe.delay: got more than 100000 times the interval of 1ms"},
    {WORK "observe: {lag: 1s}\n", 2, 11, "unknown key `lag`"},
    {WORK "watchdog: {cpu: 0s}\n", 2, 17, "from 1s"},
    {"name: a\n", 1, 1, "workload: got no entry"},
    {"workload: []\n", 1, 11, "workload: got no entry"},
    {"workload: [{format: philly}]\n", 1, 12, "key `trace` is missing"},
    {"workload: [{trace: }]\n", 1, 20, "workload[0].trace: got nothing"},
    {"workload: [{trace: \"\"}]\n", 1, 20, "empty text"},
    {"workload: [{trace: a, format: excel}]\n", 1, 31, "wanted one of auto|philly"},
    {"workload: [{trace: a, scale_time: 0}]\n", 1, 35, "above 0"},
    {"workload: [{trace: a, scale_size: -2}]\n", 1, 35, "above 0"},
    {"workload: [{trace: a, limit: 0}]\n", 1, 30, "of at least 1, or `none`"},
    {"workload: [{trace: a, demand: 0}]\n", 1, 31, "above 0"},
    {"workload: [{trace: a, min_gpus: 8, max_gpus: 4}]\n", 1, 33, "more than max_gpus"},
    {"workload: [{trace: a, queue: urgent}]\n", 1, 30, "wanted one of `queues`"},
    {"workload: [{trace: a, kind: game}]\n", 1, 29, "wanted one of recorded|training"},
    {"workload: [{trace: a, static: true, window: 1d}]\n", 1, 45, "no times to cut"},
    {"cluster: {groups: [{gpus: 0}]}\nworkload: [{trace: a, static: true, demand: 1}]\n", 2, 45,
     "no GPU to fill"},
    /* made jobs */
    {"workload: [{generate: mars}]\n", 1, 23, "generate: got `mars`, wanted one of philly|helios"},
    {"workload: [{generate: philly, rat: 6/h}]\n", 1, 31,
     "unknown key `rat`; did you mean `rate`?"},
    {"workload: [{generate: philly, seed: 2}]\n", 1, 31, "unknown key `seed`"},
    {"workload: [{generate: philly, limit-gpus: 2}]\n", 1, 31, "did you mean `limit_gpus`?"},
    {"workload: [{generate: philly, rate: -1}]\n", 1, 37,
     "workload[0].rate: got `-1`, wanted 0.001 to 100000 1/h"},
    {"workload: [{generate: philly, rate: [1]}]\n", 1, 37, "rate: got a list"},
    {"workload: [{generate: philly, deadline: soon}]\n", 1, 41, "wanted 0 to 365d"},
    {"workload: [{generate: philly, tasks: 10}]\n", 1, 12, "tasks, got it for philly"},
    {"workload: [{generate: release-evaluation, tasks: 0}]\n", 1, 50, "wanted 1 to 524288"},
    {"workload: [{generate: release-evaluation, every: 1s}]\n", 1, 50, "wanted 1min to 10 years"},
    {"workload: [{generate: release-evaluation, gpus: 1.5}]\n", 1, 12, "gpus, got 1.5"},
    {"workload: [{generate: philly, failed: 0.8, cancelled: 0.4}]\n", 1, 12, "wanted at most 1"},
    {"workload: [{generate: philly, queue: urgent}]\n", 1, 38, "wanted one of `queues`"},
    {"workload: [{generate: philly, trace: a.csv}]\n", 1, 31, "unknown key `trace`"},
    {"workload: [{generate: philly, service: a}]\n", 1, 13, "unknown key `generate`"},
    /* pools */
    {WORK "cluster: {groups: [{pool: a.b}]}\n", 2, 27,
     "pool: got `a.b`, wanted the name of a pool"},
    {WORK "cluster: {groups: [{pool: [a]}]}\n", 2, 27, "pool: got a list"},
    {"cluster: {groups: [{pool: train}]}\nworkload: [{trace: a, pool: trian}]\n", 2, 29,
     "workload[0].pool: got `trian`, wanted a pool of the cluster; did you mean `train`?"},
    {"cluster: {groups: [{pool: a}]}\nworkload: [{generate: pai, pool: [a, b]}]\n", 2, 34,
     "pool: got `b`"},
    {"cluster: {groups: [{pool: a}]}\nworkload: [{service: s, peak_rps: 1, pool: c}]\nhorizon: 1h\n",
     2, 44, "pool: got `c`"},
    {"cluster: {groups: [{pool: train}, {pool: serve}]}\nworkload: [{trace: a}]\n"
     "oversubscription: {trian: 1.2}\n",
     3, 20, "got `trian`, wanted a pool of the cluster; did you mean `train`?"},
    {"cluster: {groups: [{pool: train}]}\nworkload: [{trace: a}]\n"
     "oversubscription: {train: 2.5}\n",
     3, 27, "oversubscription.train: got `2.5`, wanted a number of at most three decimals from 1"},
    {"cluster: 2x4:model=T4\nworkload: [{service: s, peak_rps: 1, slice: 1g.5gb}]\nhorizon: 1h\n",
     2, 45, "slice: got `1g.5gb`, which no GPU in reach has, wanted an A100 of 40 or 80 GiB"},
    {"cluster: {groups: [{pool: a}, {pool: b, model: A100-SXM4-40GB}]}\n"
     "workload: [{service: s, peak_rps: 1, pool: a, slice: 1g.5gb}]\nhorizon: 1h\n",
     2, 54, "wanted one of 1g.10gb, 1g.20gb"},
    {"workload: [{trace: a, pool: [b, b]}]\n", 1, 33, "got `b` again"},
    {"workload: [{trace: a, pool: {b: 1}}]\n", 1, 29, "the name of a pool, or a list of them"},
    {"workload: [{trace: a, pool: a|b}]\n", 1, 29, "letters, digits"},
    {"workload: [{trace: a, pool: \"\", queue: x}]\n", 1, 40, "wanted one of `queues`"},
    /* clusters */
    {WORK "cluster: nowhere\n", 2, 10, "no cluster `nowhere`"},
    {WORK "cluster: [a]\n", 2, 10, "cluster: got a list"},
    {WORK "cluster: {}\n", 2, 10, "got no machines"},
    {WORK "cluster: {groups: []}\n", 2, 19, "cluster.groups: got an empty list"},
    {WORK "cluster: {groups: [{gpus: 8}], list: a}\n", 2, 10, "both `groups` and `list`"},
    {WORK "cluster: {use: 4x8, groups: [{gpus: 8}]}\n", 2, 29,
     "cluster.groups: goes instead of another cluster's name"},
    {WORK "cluster: {groups: [{gpus: 65}]}\n", 2, 27, "from 0 to 64"},
    {WORK "cluster: {groups: [{count: 0}]}\n", 2, 28, "from 1 to 100000"},
    {WORK "cluster: {groups: [{count: -1}]}\n", 2, 28, "from 1 to 100000"},
    {WORK "cluster: {groups: [{model: Unheard}]}\n", 2, 20, "wanted `gpu_memory` as well"},
    {WORK "cluster: {groups: [{model: X, gpu_memory: 1GiB}, {model: X, gpu_memory: 2GiB}]}\n", 2,
     50, "another memory"},
    {WORK "cluster: {groups: [{count: 60000}, {count: 60000}]}\n", 2, 36, "more than 100000 nodes"},
    {WORK "cluster: {groups: [{count: 50000, gpus: 64}]}\n", 2, 10, "wanted at most 1000000"},
    {WORK "cluster: {groups: [{count: 1}, {count: 1}], nodes: 3}\n", 2, 10, "this one has several"},
    {WORK "cluster: {groups: [{}], gpu_memory: 1GiB}\n", 2, 10, "inside each group"},
    {WORK "cluster: {list: /no/such/list.csv}\n", 0, 0, ""},
    {WORK "cluster: /no/such/cluster.yaml\n", 0, 0, "cannot be opened"},
    {WORK "cluster: 0x8\n", 2, 10, "from 1 to 100000"},
    {WORK "cluster: 4x8:\n  a\n", 2, 13, "not YAML"},
    {WORK "cluster: \"4x8:\"\n", 2, 10, "wanted NxG"},
    {WORK "cluster: 4x8:cpus\n", 2, 10, "each as name=value"},
    {WORK "cluster: 4x8:cpu=3\n", 2, 10, "each as name=value"},
    {WORK "cluster: 4x8:cpus=3,\n", 2, 10, "comma at the end"},
    {WORK "cluster: 4x8:cpus=3,cpus=4\n", 2, 10, "given twice"},
    {WORK "cluster: 4x8:mem=lots\n", 2, 10, "wanted a size"},
};

Test(config_bad, each_is_refused_at_its_place)
{
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct tl_scenario *scenario = NULL;
		struct tl_error error = TL_ERROR_INIT;
		enum tl_status status =
		    tl_scenario_parse("bad.yaml", bad[i].text, NULL, 0, &scenario, &error);

		cr_expect_neq(status, TL_OK, "accepted:\n%s", bad[i].text);
		cr_expect_eq(error.code, status);
		cr_expect_null(scenario);
		cr_expect(strstr(error.message, bad[i].says), "%s\nsays: %s\nwanted: %s",
		          bad[i].text, error.message, bad[i].says);
		if (bad[i].line > 0) {
			cr_expect_str_eq(error.file, "bad.yaml", "%s", bad[i].text);
			cr_expect_eq(error.line, bad[i].line, "%s\nline %ld: %s", bad[i].text,
			             error.line, error.message);
		}
		if (bad[i].column > 0)
			cr_expect_eq(error.column, bad[i].column, "%s\ncolumn %ld: %s", bad[i].text,
			             error.column, error.message);
		if (status == TL_OK)
			tl_scenario_destroy(scenario);
	}
}

static enum tl_status parse(const char *text, struct tl_error *error)
{
	struct tl_scenario *scenario = NULL;
	enum tl_status status = tl_scenario_parse("bad.yaml", text, NULL, 0, &scenario, error);

	if (status == TL_OK)
		tl_scenario_destroy(scenario);
	return status;
}

Test(config_bad, deep_nesting_is_refused)
{
	static const char *const pieces[] = {"[", "{a: ", "- "};

	for (size_t k = 0; k < 3; k++) {
		struct tl_error error = TL_ERROR_INIT;
		size_t step = strlen(pieces[k]);
		char *text = tl_calloc(100000, step + 1);

		for (size_t i = 0; i < 100000; i++)
			memcpy(text + i * step, pieces[k], step);
		cr_assert_eq(parse(text, &error), TL_E_CONFIG);
		cr_assert(strstr(error.message, "nested too deeply"), "%s", error.message);
		free(text);
	}
}

Test(config_bad, a_map_of_very_many_keys_is_refused)
{
	struct tl_error error = TL_ERROR_INIT;
	char *text = tl_calloc(100000, 12);
	size_t used = 0;

	for (int i = 0; i < 100000; i++)
		used += (size_t)snprintf(text + used, 12, "k%d: 1\n", i);
	cr_assert_eq(parse(text, &error), TL_E_CONFIG);
	cr_assert(strstr(error.message, "too many keys"), "%s", error.message);
	cr_assert_eq(error.line, TL_TREE_KEYS_MAX + 1);
	free(text);
}

static char path[] = "/tmp/tidelab-bad-XXXXXX";

static void load_bytes(const char *bytes, size_t size, enum tl_status wanted, const char *says)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	FILE *file = fopen(path, "wb");

	cr_assert_not_null(file);
	cr_assert_eq(fwrite(bytes, 1, size, file), size);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(tl_scenario_load(path, NULL, 0, &scenario, &error), wanted, "%s",
	             error.message);
	cr_assert_str_eq(error.file, path);
	cr_assert(strstr(error.message, says), "%s", error.message);
}

Test(config_bad, files_that_are_no_scenarios)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	char *huge = tl_calloc(TL_TREE_BYTES_MAX + 1, 1);
	unsigned char noise[4096];
	uint64_t state = 88172645463325252u;
	int file = mkstemp(path);

	cr_assert_geq(file, 0);
	(void)close(file);
	load_bytes("", 0, TL_E_CONFIG, "is empty");
	load_bytes("\n\n\n", 3, TL_E_CONFIG, "is empty");
	memset(huge, ' ', TL_TREE_BYTES_MAX + 1);
	load_bytes(huge, TL_TREE_BYTES_MAX + 1, TL_E_CONFIG, "larger than 4 MiB");
	load_bytes(huge, TL_TREE_BYTES_MAX, TL_E_CONFIG, "is empty");
	memset(huge, '\0', TL_TREE_BYTES_MAX);
	load_bytes(huge, TL_TREE_BYTES_MAX, TL_E_CONFIG, "not YAML");
	load_bytes("name: a\0b\n", 10, TL_E_CONFIG, "not YAML");
	load_bytes("\x1f\x8b\x08\x00\x00", 5, TL_E_CONFIG, "not YAML");
	load_bytes("\x89HDF\r\n\x1a\n", 8, TL_E_CONFIG, "is a result file");
	/* Noise of any kind is refused, never a crash. */
	for (int round = 0; round < 200; round++) {
		FILE *out = fopen(path, "wb");

		for (size_t i = 0; i < sizeof noise; i++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			noise[i] =
			    (unsigned char)(round % 2 ? "[]{}:,-# \n'\"&*!|>%@`?a1"[state % 24]
			                              : (char)(state >> 24));
		}
		cr_assert_not_null(out);
		cr_assert_eq(fwrite(noise, 1, sizeof noise, out), sizeof noise);
		cr_assert_eq(fclose(out), 0);
		cr_assert_neq(tl_scenario_load(path, NULL, 0, &scenario, &error), TL_OK);
	}
	free(huge);
	(void)unlink(path);
	cr_assert_eq(tl_scenario_load(path, NULL, 0, &scenario, &error), TL_E_NOINPUT);
	cr_assert_eq(tl_scenario_load("/", NULL, 0, &scenario, &error), TL_E_NOINPUT);
	cr_assert(strstr(error.message, "is a folder"), "%s", error.message);
	cr_assert_eq(tl_scenario_load("", NULL, 0, &scenario, &error), TL_E_NOINPUT);
}
