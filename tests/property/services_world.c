/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/property/services_world.h"

#include "results/results.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"
#include "sim/plane/trial.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- running, reading ---- */

const char *services_run(const char *name, const char *text)
{
	const char *folder = world_folder(name);

	cr_assert_lt((size_t)snprintf(world.text, sizeof world.text, "%s", text),
	             sizeof world.text);
	world_run(folder);
	world_read(folder);
	return folder;
}

void services_refused(const char *text, const char *word)
{
	struct tl_scenario *scenario = NULL;
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_trial_options options = {0};
	enum tl_status status = tl_scenario_parse("refused", text, NULL, 0, &scenario, &error);

	if (status == TL_OK) {
		status = tl_trial_run(scenario, &options, pulse, &error);
		tl_scenario_destroy(scenario);
	}
	free(pulse);
	cr_assert_neq(status, TL_OK, "%s", text);
	cr_assert_not_null(strstr(error.message, word), "%s\n`%s` does not speak of `%s`", text,
	                   error.message, word);
}

static void *read_rows(const char *folder, const struct tl_table_schema *schema, size_t *count)
{
	char path[WORLD_PATH_ROOM + 32];
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;
	void *rows = NULL;

	snprintf(path, sizeof path, "%s/out.h5", folder);
	cr_assert_eq(tl_results_open(path, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, schema, &rows, count, &error), TL_OK, "%s",
	             error.message);
	tl_results_reader_close(reader);
	return rows;
}

struct service_rows services_rows(const char *folder, const char *service)
{
	struct tl_table_schema schema = tl_schema_windows;
	struct service_rows rows = {0};
	char path[128];

	snprintf(path, sizeof path, "/services/%s/windows", service);
	schema.path = path;
	rows.windows = read_rows(folder, &schema, &rows.count);
	for (size_t i = 0; i < rows.count; i++) {
		rows.arrivals += rows.windows[i].arrivals;
		rows.served += rows.windows[i].served;
		rows.dropped += rows.windows[i].dropped;
		rows.attained += rows.windows[i].attained;
	}
	return rows;
}

double services_metric(const char *folder, const char *metric)
{
	size_t count = 0, found = 0;
	struct tl_row_summary *rows = read_rows(folder, &tl_schema_summary, &count);
	double value = (double)NAN;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(rows[i].metric, metric) != 0)
			continue;
		value = rows[i].value;
		found++;
	}
	free(rows);
	cr_assert_eq(found, 1, "%zu rows of `%s`", found, metric);
	return value;
}

tl_i128 services_booked(const char *tenant, const char *purpose)
{
	static const char *const idle[] = {"idle-reserved", "idle-fragmented", "idle-free", "down"};
	tl_i128 sum = 0;

	for (size_t i = 0; i < world.ledger_count; i++) {
		const struct tl_row_ledger *row = &world.ledger[i];
		bool wanted = strcmp(row->tenant, tenant) == 0;

		for (size_t k = 0; k < 4 && !purpose; k++)
			wanted &= strcmp(row->purpose, idle[k]) != 0;
		if (wanted && (!purpose || strcmp(row->purpose, purpose) == 0))
			sum += ((tl_i128)row->mgpu_ns_hi << 64) + row->mgpu_ns_lo;
	}
	return sum;
}

bool services_same_bytes(const char *a, const char *b)
{
	FILE *files[2];
	bool same = true;
	int one = 0, two = 0;

	for (int i = 0; i < 2; i++) {
		char path[WORLD_PATH_ROOM + 32];

		snprintf(path, sizeof path, "%s/out.h5", i == 0 ? a : b);
		files[i] = fopen(path, "rb");
		cr_assert_not_null(files[i], "%s", path);
	}
	while (same && one != EOF) {
		one = getc(files[0]);
		two = getc(files[1]);
		same = one == two;
	}
	fclose(files[0]);
	fclose(files[1]);
	return same;
}

/* ---- a random world ---- */

static struct tl_rng rng;
static char drawn[WORLD_TEXT_ROOM];
static uint64_t in_service_most[SERVICES_MAX];

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
	size_t used = strlen(drawn);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(drawn + used, sizeof drawn - used, format, arguments);
	va_end(arguments);
	cr_assert_lt(strlen(drawn), sizeof drawn - 1);
}

static void draw_service(unsigned s)
{
	uint64_t most = 1 + below(6), batch = 1 + below(3) * below(4);
	bool llm = below(6) == 0, tidal = below(3) > 0;

	in_service_most[s] = most * batch;
	add("  - service: s%u\n    replicas: {min: %" PRIu64 ", max: %" PRIu64 ", initial: %" PRIu64
	    "}\n",
	    s, below(2), most, 1 + below(most));
	add("    batch: {limit: %" PRIu64 "%s}\n", batch,
	    llm || below(3) > 0 ? "" : ", delay: 20ms");
	if (llm)
		add("    service_time: {dist: llm, context: 50, generated: 10, step: 5ms}\n");
	else
		add("    service_time: %s\n",
		    PICK("{alpha: 40ms, beta: 10ms}", "{dist: exponential, mean: 50ms}",
		         "{dist: deterministic, mean: 30ms}", "{dist: gamma, mean: 60ms, cv: 0.5}",
		         "{dist: empirical, values: [10ms, 20ms, 90ms]}"));
	add("    arrivals: {process: %s, rate: %" PRIu64 "}\n",
	    tidal ? PICK("nhpp", "mmpp") : "poisson", 5 + below(15 * most));
	if (tidal)
		add("    curve: {0h: 0.2, 12min: 1, 30min: 0.1}\n");
	add("    requests: %s\n    routing: %s\n", PICK("exact", "exact", "auto", "fluid"),
	    PICK("round-robin", "random", "join-shortest-queue", "power-of-two", "shared-queue"));
	if (below(2))
		add("    queue_limit: %" PRIu64 "\n", 1 + below(30));
	if (below(2))
		add("    timeout: %s\n", PICK("200ms", "5s"));
	add("    %s\n", PICK("gpu_milli: 250\n    memory: 8GiB", "gpu_milli: 250\n    memory: 8GiB",
	                     "gpu_milli: 1000", "gpu_milli: 2000"));
	add("    start: {image: %s, weights: 1GB, init: 1s}\n", PICK("1GB", "10GB"));
	add("    hot: {nodes: %" PRIu64 "}\n    slo: %s\n    queue: %s\n", below(3),
	    PICK("100ms", "1s"), PICK("high", "normal"));
}

unsigned services_draw(uint64_t number, const char **text)
{
	unsigned count;

	world_make(number);
	tl_rng_init(&rng, 43, TL_STREAM_TEST, number);
	drawn[0] = '\0';
	add("name: s%" PRIu64 "\nseed: %" PRIu64 "\nhorizon: 40min\n", number, number);
	add("cluster: {groups: [{count: %" PRIu64
	    ", gpus: 4, memory: 64GiB, nodes_per_pod: 2}, {count: 1, gpus: 2, model: T4, cpus: 16}]}\n",
	    1 + below(3));
	add("workload:\n  - {trace: trace.csv, format: canonical, infeasible: reject}\n");
	count = 1 + (unsigned)below(SERVICES_MAX);
	for (unsigned s = 0; s < count; s++)
		draw_service(s);
	add("physics: %s\n", PICK("full", "full", "ideal"));
	add("suspend: {grace: %s, storage_bandwidth: 1GB/s}\n", PICK("2s", "30s"));
	if (below(2))
		add("failures: {enabled: true, per_1000_node_days: 20000, repair_long: 1h}\n");
	add("faults: [{at: 500s, do: node-down, nodes: 1, for: 5min}, {at: 15min, do: kill-jobs, "
	    "jobs: 3}, {at: 20min, do: traffic, service: s0, factor: %s, for: 4min, ramp: 30s}]\n",
	    PICK("0", "0.5", "2", "4"));
	add("observe: {delay: %s}\n", number % 4 == 2 ? "7s" : number % 4 == 3 ? "200s" : "0s");
	add("metrics: {window: %s}\noutput: {tables: all, timeline: 97s}\n",
	    PICK("5s", "13s", "30s"));
	*text = drawn;
	return count;
}

uint64_t services_most_in_service(unsigned s)
{
	return in_service_most[s];
}
