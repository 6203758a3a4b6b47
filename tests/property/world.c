/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* realpath */
#include "tests/property/world.h"

#include "results/results.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"
#include "sim/plane/trial.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct world world;

static char home[WORLD_PATH_ROOM];
static struct tl_rng rng;

static uint64_t below(uint64_t n)
{
	return tl_rng_below(&rng, n);
}

static const char *pick(const char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return words[below(count)];
}
#define PICK(...) pick((const char *const[]){__VA_ARGS__, NULL})

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	size_t used = strlen(world.text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(world.text + used, sizeof world.text - used, format, arguments);
	va_end(arguments);
	cr_assert_lt(strlen(world.text), sizeof world.text - 1);
}

/* ---- a world ---- */

static void write_job(FILE *file, size_t i, int64_t submit_ns)
{
	static const int64_t shares[] = {100, 250, 333, 500, 700};
	int64_t mgpu = 1000 * (1 + (int64_t)below(4));
	int64_t duration_ns = 1 + (int64_t)below((uint64_t)(3000 * TL_NS_PER_S));
	const char *model = PICK("", "", "", "A100-SXM4-80GB", "T4", "T4|A100-SXM4-80GB");
	uint32_t workers = 0;

	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		mgpu = shares[below(5)];
		break;
	case 3:
		mgpu = 1000 * (5 + (int64_t)below(6));
		break; /* a gang */
	case 4:
		workers = 2;
		mgpu = below(2) ? 4000 : 6000;
		break;
	case 5:
		mgpu = 0;
		break;
	default:
		break;
	}
	world.asked[i].duration_ns = duration_ns;
	world.asked[i].gpus_mgpu = mgpu;
	fprintf(file, "j%zu,%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64 ",%g,", i,
	        submit_ns / TL_NS_PER_S, submit_ns % TL_NS_PER_S, duration_ns / TL_NS_PER_S,
	        duration_ns % TL_NS_PER_S, (double)mgpu / 1000.0);
	if (workers > 0)
		fprintf(file, "%u", workers);
	fprintf(file, ",%" PRIu64 ",%s,t%" PRIu64 ",%s,%s,%" PRIu64 ",%s\n", 1000 + below(4000),
	        below(2) ? "900" : "", below(3), PICK("high", "normal", "low"),
	        mgpu == 0 ? "" : model, below(3),
	        PICK("completed", "completed", "completed", "failed", "cancelled"));
}

static void write_trace(const char *folder)
{
	char path[WORLD_PATH_ROOM + 32];
	int64_t submit_ns = 0;

	snprintf(path, sizeof path, "%s/trace.csv", folder);
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(
	    "id,submit_s,duration_s,gpus,workers,cpu_milli,estimate_s,tenant,queue,models,priority,"
	    "outcome\n",
	    file);
	world.asked_count = 20 + below(WORLD_JOBS_MAX - 20);
	for (size_t i = 0; i < world.asked_count; i++) {
		write_job(file, i, submit_ns);
		submit_ns += below(4) == 0 ? 0 : (int64_t)below((uint64_t)(400 * TL_NS_PER_S));
	}
	fclose(file);
}

void world_policy(uint64_t kind)
{
	if (kind == 0) {
		const char *build = getenv("TIDELAB_BUILD");
		char absolute[PATH_MAX]; /* the scenario lies in another folder */

		if (!realpath(build ? build : "build/release", absolute))
			cr_skip("build/release is not there: make test-programs builds it");
		add("policy: {scheduler: \"%s/tests/modules/random-walk.so\", calm: %" PRIu64
		    ", admit: \"\", order: \"\", place: \"\", preempt: \"\"}\n",
		    absolute, 20 + below(150));
		return;
	}
	add("policy: {scheduler: pipeline, backfill: %s, order: %s, place: %s, preempt: %s, "
	    "defrag: %s, defrag_every: 20min}\n",
	    PICK("none", "skip", "easy", "conservative"),
	    PICK("fifo", "sjf", "las", "priority-queues"),
	    PICK("topology", "first-fit", "best-fit", "worst-fit", "fgd", "random"),
	    PICK("none", "priority", "batch", "progressive"), PICK("\"\"", "compact"));
}

static void make_costs(void);

const char *const world_pools[WORLD_POOLED] = {"a", "b", "a|b", ""};

void world_make_walls(uint64_t number)
{
	tl_rng_init(&rng, 43, TL_STREAM_TEST, number);
	world.text[0] = '\0';
	add("name: p%" PRIu64 "\nseed: %" PRIu64 "\n", number, number);
	add("cluster: {groups: [{count: %" PRIu64 ", gpus: 4, memory: 64GiB, pool: a}, "
	    "{count: %" PRIu64 ", gpus: 4, pool: b}, {gpus: 2, model: T4, cpus: 16, pool: b}, "
	    "{gpus: 0, cpus: 32, pool: %s}%s]}\n",
	    1 + below(3), 1 + below(2), PICK("a", "b", "\"\""), below(2) ? ", {gpus: 4}" : "");
	add("workload:\n");
	for (size_t i = 0; i < WORLD_POOLED; i++) {
		const char *bar = strchr(world_pools[i], '|');

		add("  - {trace: trace.csv, format: canonical, infeasible: %s, pool: ",
		    PICK("reject", "clamp"));
		if (bar)
			add("[%.*s, %s]}\n", (int)(bar - world_pools[i]), world_pools[i], bar + 1);
		else
			add("\"%s\"}\n", world_pools[i]);
	}
	make_costs();
}

void world_make(uint64_t number)
{
	tl_rng_init(&rng, 41, TL_STREAM_TEST, number);
	world.text[0] = '\0';
	add("name: w%" PRIu64 "\nseed: %" PRIu64 "\n", number, number);
	add("cluster: {groups: [{count: %" PRIu64
	    ", gpus: 4, memory: 64GiB, nodes_per_pod: %" PRIu64 "}, {count: %" PRIu64
	    ", gpus: 2, model: T4, cpus: 16}%s]}\n",
	    1 + below(3), 1 + below(2), 1 + below(2), below(2) ? ", {gpus: 0, cpus: 32}" : "");
	add("workload: [{trace: trace.csv, format: canonical, infeasible: %s}]\n",
	    PICK("reject", "clamp"));
	make_costs();
}

static void make_costs(void)
{
	add("physics: %s\n", PICK("full", "full", "ideal"));
	add("checkpoint: {interval: %s, mode: %s, state: %s}\n",
	    PICK("20s", "100s", "none", "optimal"), PICK("blocking", "async"),
	    PICK("1GB", "8GB", "60GB"));
	add("suspend: {grace: %s, storage_bandwidth: 1GB/s, keep_memory: %s}\n", PICK("2s", "30s"),
	    PICK("true", "false"));
	add("estimates: %s\n", PICK("trace", "exact", "noisy(0.5)"));
	add("jobs: {kill_at_estimate: %s, max_restarts: %" PRIu64 "}\n",
	    PICK("false", "false", "true"), below(6));
	if (below(2))
		add("failures: {enabled: true, per_1000_node_days: 8000, repair_long: 3h}\n");
	if (below(2))
		add("faults: [{at: 500s, do: node-down, nodes: 1, for: 10min}, {at: 20min, do: kill-jobs, "
		    "jobs: 2}, {at: 25min, do: node-down, nodes: 2, for: 1h}]\n");
	world.unseen_ns = below(3) != 0 ? 0 : below(2) ? 45 * TL_NS_PER_S : 20 * TL_NS_PER_MIN;
	if (world.unseen_ns > 0)
		add("observe: {delay: %" PRId64 "s}\n", world.unseen_ns / TL_NS_PER_S);
	add("horizon: %s\noutput: {tables: all, timeline: 97s}\n", PICK("5h", "40min", "60d"));
}

void world_oversubscribe(uint64_t number, const char *ratios)
{
	static const char *const tables[] = {"lucid", "gavel", "time-slice",
	                                     "custom, speeds: {0.5: 1, 1: 0.7}"};

	add("oversubscription: %s\nsharing: {table: %s, guaranteed: %s, utilisation_mean: %s}\n",
	    ratios, tables[number % 4], number % 3 ? "services" : "inference",
	    number % 5 ? "0.5" : "0.9");
}

/* ---- running, reading ---- */

static void read_table(struct tl_results_reader *reader, const struct tl_table_schema *schema,
                       void **rows, size_t *count)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_results_read(reader, schema, rows, count, &error), TL_OK, "%s",
	             error.message);
}

#define READ(schema, rows, count)                                                                  \
	do {                                                                                       \
		void *read_ = NULL;                                                                \
		read_table(reader, &(schema), &read_, &(count));                                   \
		(rows) = read_;                                                                    \
	} while (0)

void world_read(const char *folder)
{
	char path[WORLD_PATH_ROOM + 32];
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;

	snprintf(path, sizeof path, "%s/out.h5", folder);
	cr_assert_eq(tl_results_open(path, &reader, &error), TL_OK, "%s", error.message);
	READ(tl_schema_jobs, world.jobs, world.job_count);
	READ(tl_schema_transitions, world.moves, world.move_count);
	READ(tl_schema_placements, world.places, world.place_count);
	READ(tl_schema_timeline, world.samples, world.sample_count);
	READ(tl_schema_purposes, world.purposes, world.purpose_count);
	READ(tl_schema_ledger, world.ledger, world.ledger_count);
	READ(tl_schema_faults, world.faults, world.fault_count);
	READ(tl_schema_nodes, world.nodes, world.node_count);
	tl_results_reader_close(reader);
}

void world_forget(void)
{
	free(world.jobs);
	free(world.moves);
	free(world.places);
	free(world.samples);
	free(world.purposes);
	free(world.ledger);
	free(world.faults);
	free(world.nodes);
}

void world_run(const char *folder)
{
	struct tl_scenario *scenario = NULL;
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_trial_options options = {.results_path = "out.h5"};
	char here[WORLD_PATH_ROOM];

	cr_assert_not_null(getcwd(here, sizeof here));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(tl_scenario_parse("world", world.text, NULL, 0, &scenario, &error), TL_OK,
	             "%s\n%s", world.text, error.message);
	cr_assert_eq(tl_trial_run(scenario, &options, pulse, &error), TL_OK, "%s\n%s", world.text,
	             error.message);
	tl_scenario_destroy(scenario);
	free(pulse);
	cr_assert_eq(chdir(here), 0);
}

const char *world_folder(const char *name)
{
	static char folder[WORLD_PATH_ROOM + 16];

	snprintf(folder, sizeof folder, "%s/%s", home, name);
	(void)mkdir(folder, 0700);
	write_trace(folder);
	return folder;
}

void world_setup(void)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(home, sizeof home, "%s/trial.XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(home));
}

void world_teardown(void)
{
	static const char *const names[] = {"a/out.h5", "a/trace.csv", "a/training.csv",
	                                    "b/out.h5", "b/trace.csv", "b/training.csv"};
	char path[WORLD_PATH_ROOM + 16];

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		snprintf(path, sizeof path, "%s/%s", home, names[i]);
		unlink(path);
	}
	for (const char *name = "ab"; *name; name++) {
		snprintf(path, sizeof path, "%s/%c", home, *name);
		rmdir(path);
	}
	rmdir(home);
}
