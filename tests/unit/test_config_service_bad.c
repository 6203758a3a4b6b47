/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services in scenarios: the files they name, and what is refused, at its place. */
#include "sim/base/units.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- files ---- */

static char folder[] = "/tmp/tidelab-service-XXXXXX";

static const char *file(const char *name, const char *text)
{
	static char path[128];
	FILE *out;

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	if (!text) {
		(void)unlink(path);
		return path;
	}
	out = fopen(path, "w");
	cr_assert_not_null(out);
	cr_assert_geq(fputs(text, out), 0);
	cr_assert_eq(fclose(out), 0);
	return path;
}

static enum tl_status load(const char *text, struct tl_scenario **out, struct tl_error *error)
{
	return tl_scenario_load(file("s.yaml", text), NULL, 0, out, error);
}

Test(config_service_bad, recordings_and_calendars_are_relative_to_the_file)
{
	struct tl_scenario *s = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_arrival_spec *spec;
	size_t count = 0;

	cr_assert_not_null(mkdtemp(folder));
	(void)file("r.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	                    "2023-11-16 18:15:46.0000000,100,10\n"
	                    "2023-11-16 18:15:48.0000000,200,20\n");
	(void)file("season.yaml",
	           "- {at: 1h, for: 2h, factor: 1.5}\n- {at: 9h, for: 1h, factor: 2}\n");
	cr_assert_eq(
	    load("horizon: 1d\nworkload: [{service: a, calendar: season.yaml, service_time: "
	         "{dist: llm},\n arrivals: {process: trace, path: r.csv, format: azure-llm, "
	         "scale: 2, repeat: false, span: 1h}}]\n",
	         &s, &error),
	    TL_OK, "%s", error.message);
	spec = &s->services[0].arrivals;
	cr_assert_eq(spec->process, TL_ARRIVALS_TRACE);
	cr_assert_not_null(tl_request_trace_requests(spec->trace, &count));
	cr_assert_eq(count, 2);
	cr_assert_float_eq(spec->scale, 2, 0);
	cr_assert_not(spec->repeat);
	cr_assert_eq(spec->span_ns, TL_NS_PER_HOUR);
	cr_assert_eq(spec->event_count, 2);
	cr_assert_float_eq(spec->events[1].factor, 2, 0);
	cr_assert_str_eq(s->services[0].arrivals_path, file("r.csv", NULL));
	cr_assert_null(strstr(s->text, folder));
	cr_assert_not_null(strstr(s->text, "path: r.csv"));
	cr_assert_not_null(strstr(s->text, "at: 9h"));
	tl_scenario_destroy(s);
	(void)file("season.yaml", NULL);
	(void)file("s.yaml", NULL);
	(void)rmdir(folder);
}

Test(config_service_bad, bad_files_are_refused)
{
	static const char scenario[] =
	    "horizon: 1d\nworkload:\n- {service: a, arrivals: {process: trace, "
	    "path: r.csv}}\n";
	static const struct {
		const char *text; /* NULL: there is none */
		enum tl_status status;
		const char *says;
	} bad[] = {
	    {NULL, TL_E_NOINPUT, "r.csv: "},
	    {"", TL_E_DATA, "r.csv"},
	    {"TIMESTAMP,ContextTokens,GeneratedTokens\n", TL_E_DATA, "got none"},
	    {"a,b,c\n1,2,3\n", TL_E_DATA, "r.csv:1: "},
	    {"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.0,x,1\n", TL_E_DATA,
	     "r.csv:2: "},
	};
	struct tl_scenario *s = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_not_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		error = TL_ERROR_INIT;
		(void)file("r.csv", bad[i].text);
		cr_expect_eq(load(scenario, &s, &error), bad[i].status, "%zu: %s", i,
		             error.message);
		cr_expect_eq(error.code, bad[i].status);
		cr_expect(strstr(error.file, "s.yaml"), "%s", error.file);
		cr_expect_eq(error.line, 3);
		cr_expect_eq(error.column, 49, "%ld", error.column);
		cr_expect(strstr(error.message, "workload[0]: arrivals.path: "), "%s",
		          error.message);
		cr_expect(strstr(error.message, bad[i].says), "%zu: %s", i, error.message);
	}
	(void)file("r.csv", NULL);
	error = TL_ERROR_INIT;
	(void)file("season.yaml",
	           "- {at: 1h, for: 1h, factor: 2}\n- {at: 1h, for: 1h, factor: -2}\n");
	cr_expect_eq(
	    load("horizon: 1d\nworkload: [{service: a, peak_rps: 1, calendar: season.yaml}]\n", &s,
	         &error),
	    TL_E_CONFIG);
	cr_expect(strstr(error.file, "season.yaml"), "%s", error.file);
	cr_expect_eq(error.line, 2);
	cr_expect(strstr(error.message, "workload[0].calendar[1].factor: got `-2`"), "%s",
	          error.message);
	(void)file("season.yaml", NULL);
	cr_expect_eq(
	    load("horizon: 1d\nworkload: [{service: a, peak_rps: 1, calendar: season.yaml}]\n", &s,
	         &error),
	    TL_E_NOINPUT);
	(void)file("s.yaml", NULL);
	(void)rmdir(folder);
}

/* ---- what is refused ---- */

struct bad {
	const char *keys; /* after `service: a, ` in `workload: [{service: a, …}]` */
	long column;      /* of the fault; those of the keys begin at 25; 0: not told */
	const char *says;
};

static const struct bad bad[] = {
    {"peak_rps: -1", 35, "peak_rps: got `-1`, wanted a number of at least 0"},
    {"peak_rps: lots", 35, "wanted a number"},
    {"peak_rps: nan", 35, "wanted a number"},
    {"peak_rps: 1e10", 35, "at most 1e+09"},
    {"queue: high", 12, "got no rate of requests"},
    {"peak_rps: 1, arrivals: {rate: 1/s}", 55, "one beside `peak_rps`"},
    {"arrivals: {rate: -80/s}", 42, "arrivals.rate: got `-80/s`, wanted a rate"},
    {"arrivals: {rate: 80/w}", 42, "wanted a rate (such as 80/s"},
    {"arrivals: {process: bernoulli, rate: 1}", 45, "poisson|nhpp|mmpp|trace"},
    {"arrivals: {process: trace}", 0, "arrivals.path: got none"},
    {"arrivals: {process: trace, path: /no/such/file}", 58, "/no/such/file"},
    {"peak_rps: 1, arrivals: {path: r.csv}", 55, "path: does not go with `process: nhpp`"},
    {"peak_rps: 1, arrivals: {burst: {factor: 2}}", 56, "burst: does not go with `process: nhpp`"},
    {"peak_rps: 1, arrivals: {process: mmpp, burst: {factor: 0.5}}", 80, "at least 1"},
    {"peak_rps: 1, arrivals: {process: mmpp, burst: {mean: 0s}}", 78, "from 1ms"},
    {"peak_rps: 1, curve: flat, arrivals: {process: poisson}", 45,
     "curve: does not go with `process: poisson`"},
    {"peak_rps: 1, arrivals: {process: trace, path: r.csv}", 35,
     "peak_rps: does not go with `process: trace`"},
    {"peak_rps: 1e9, events: [{at: 0s, for: 1h, factor: 10}]", 12, "requests of a window"},
    {"peak_rps: 1, curve: dayly", 45, "curve: got `dayly`, wanted one of daily|flat"},
    {"peak_rps: 1, curve: [1]", 45, "got a list"},
    {"peak_rps: 1, curve: {1h: 0.3, 8h: 0.5}", 46, "hours start at zero"},
    {"peak_rps: 1, curve: {0h: 0.3, 8h: 0.5, 8h: 1}", 64, "duplicate key `8h`"},
    {"peak_rps: 1, curve: {0h: 0.3, 8h: 0.5, 7h: 1}", 64, "got `7h` after `8h`"},
    {"peak_rps: 1, curve: {0h: 0.3, noon: 0.5}", 55, "wanted a time of the day"},
    {"peak_rps: 1, curve: {0h: -0.3}", 50, "a factor from 0 to 1000"},
    {"peak_rps: 1, curve: {0h: 0.3, 24h: 1}", 45, "before the period's end, 1d"},
    {"peak_rps: 1, curve: {hours: {0h: 1}, peak_hour: 3}", 73, "does not go with `hours`"},
    {"peak_rps: 1, curve: {period: 1d}", 54, "a curve without `hours`"},
    {"peak_rps: 1, curve: {peak_hour: 25}", 57, "at most 24"},
    {"peak_rps: 1, curve: {peak_trough: 0.5}", 59, "at least 1"},
    {"peak_rps: 1, curve: {peak_hours: 2}", 46, "did you mean `peak_hour`?"},
    {"peak_rps: 1, curve: {launch: {factor: 0}}", 63, "at least 1"},
    {"peak_rps: 1, events: [{at: 1h, for: 0s, factor: 2}]", 61, "events[0].for: got `0s`"},
    {"peak_rps: 1, events: [{at: 1h, for: 1h}]", 47, "key `factor` is missing"},
    {"peak_rps: 1, events: [{at: 1h, for: 1h, factor: 2, ramp: 2h}]", 82, "more than `for`"},
    {"peak_rps: 1, calendar: [{at: 1h, for: 1h, factor: -1}]", 75, "calendar[0].factor: got `-1`"},
    {"peak_rps: 1, calendar: {at: 1h}", 48, "wanted a list of events, or a file"},
    {"peak_rps: 1, replicas: {min: 5, max: 2}", 62, "got min 5 and max 2"},
    {"peak_rps: 1, replicas: {min: 0}", 0, "wanted max at least 1"},
    {"peak_rps: 1, replicas: {min: 2, max: 4, initial: 5}", 74, "replicas.initial: got 5"},
    {"peak_rps: 1, replicas: {min: 2, max: 4, initial: 1}", 74, "replicas.initial: got 1"},
    {"peak_rps: 1, replicas: -1", 48, "wanted a whole number"},
    {"peak_rps: 1, replicas: [1]", 48, "got a list"},
    {"peak_rps: 1, gpu_milli: 0", 49, "gpu_milli: got `0`"},
    {"peak_rps: 1, gpu_milli: 1500", 49, "whole GPUs such as 2000"},
    {"peak_rps: 1, memory: 0B", 46, "memory: got `0B`"},
    {"peak_rps: 1, slice: 3g", 45, "slice: got `3g`, wanted one of none|1g.5gb|1g.10gb|1g.20gb"},
    {"peak_rps: 1, slice: 3g.40gb, gpu_milli: 500", 65,
     "gpu_milli: does not go with `slice: 3g.40gb`, which states share and memory"},
    {"peak_rps: 1, memory: 1GiB, slice: 1g.10gb", 46, "memory: does not go with `slice: 1g.10gb`"},
    {"peak_rps: 1, slice: 3g.20gb", 45,
     "which no GPU in reach has, wanted one of 1g.10gb, 1g.20gb, 2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb"},
    {"peak_rps: 1, service_time: 10ms", 52, "wanted a map of keys"},
    {"peak_rps: 1, service_time: {dist: weibull}", 59, "affine|deterministic"},
    {"peak_rps: 1, service_time: {alpha: -1ms}", 60, "wanted a duration"},
    {"peak_rps: 1, service_time: {alpha: 0s, beta: 0s}", 60, "no time at all"},
    {"peak_rps: 1, service_time: {mean: 1ms}", 59, "mean: does not go with `dist: affine`"},
    {"peak_rps: 1, service_time: {dist: exponential}", 0, "service_time.mean: got none"},
    {"peak_rps: 1, service_time: {dist: gamma, mean: 1ms, cv: 0}", 81, "above 0"},
    {"peak_rps: 1, service_time: {dist: exponential, mean: 1ms, cv: 2}", 87,
     "cv: does not go with `dist: exponential`"},
    {"peak_rps: 1, service_time: {dist: empirical}", 0, "service_time.values: got none"},
    {"peak_rps: 1, service_time: {dist: empirical, values: [1ms, 0s]}", 84, "from 1ns"},
    {"peak_rps: 1, service_time: {dist: llm, generated: 0}", 75, "at least 1"},
    {"peak_rps: 1, service_time: {dist: llm}, batch: {delay: 1ms}", 80,
     "does not go with `dist: llm`"},
    {"peak_rps: 1, batch: 0", 45, "from 1 to 4096"},
    {"peak_rps: 1, batch: {limit: 8, delay: -1ms}", 63, "batch.delay: got `-1ms`"},
    {"peak_rps: 1, batch: {delay: 1ms}, queue_limit: 0", 72,
     "queue_limit: got 0, wanted at least 1"},
    {"peak_rps: 1, batch: {delay: 1s}, timeout: 10ms", 67, "less than batch.delay"},
    {"peak_rps: 1, queue_limit: -1", 51, "or `none`"},
    {"peak_rps: 1, timeout: 0s", 47, "timeout: got `0s`"},
    {"peak_rps: 1, routing: fastest", 47, "round-robin|random|join-shortest-queue"},
    {"peak_rps: 1, slo: {p99: 0ms}", 49, "slo.p99: got `0ms`"},
    {"peak_rps: 1, slo: 0s", 43, "got `0s`"},
    {"peak_rps: 1, slo: {penalty: -1 per 1000}", 53, "wanted a price"},
    {"peak_rps: 1, slo: {penalty: 1 per 100}", 53, "wanted a price"},
    {"peak_rps: 1, slo: {p95: 1s}", 44, "unknown key `p95`"},
    {"peak_rps: 1, requests: coarse", 48, "wanted one of auto|exact|fluid"},
    {"peak_rps: 1, start: {pull: 0B/s}", 52, "bytes a second"},
    {"peak_rps: 1, hot: {nodes: -1}", 51, "wanted a whole number"},
    {"peak_rps: 1, queue: urgent", 45, "wanted one of `queues`"},
    {"peak_rps: 1, trace: a.csv", 38, "unknown key `trace`"},
    {"peak_rps: 1, replica: 2", 38, "did you mean `replicas`?"},
};

static void refused(const char *text, long line, long column, const char *says)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = tl_scenario_parse("bad.yaml", text, NULL, 0, &scenario, &error);

	cr_expect_neq(status, TL_OK, "accepted:\n%s", text);
	cr_expect_eq(error.code, status);
	cr_expect_null(scenario);
	cr_expect_str_eq(error.file, "bad.yaml", "%s", text);
	cr_expect(strstr(error.message, says), "%s\nsays: %s\nwanted: %s", text, error.message,
	          says);
	cr_expect_eq(error.line, line, "%s\nline %ld: %s", text, error.line, error.message);
	if (column > 0)
		cr_expect_eq(error.column, column, "%s\ncolumn %ld: %s", text, error.column,
		             error.message);
	tl_scenario_destroy(scenario);
}

Test(config_service_bad, each_bad_key_is_refused_at_its_place)
{
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char text[300];

		(void)snprintf(text, sizeof text, "horizon: 1d\nworkload: [{service: a, %s}]\n",
		               bad[i].keys);
		refused(text, 2, bad[i].column, bad[i].says);
	}
}

#define SERVICE "horizon: 1d\nworkload: [{service: a, peak_rps: 1}]\n"

Test(config_service_bad, what_does_not_fit_together_is_refused)
{
	refused("workload: [{service: a, peak_rps: 1}]\n", 1, 0, "horizon: got none");
	refused("workload: [{service: a, peak_rps: 1}]\nhorizon: none\n", 2, 10,
	        "a service never ends by itself");
	refused(
	    "horizon: 1d\nworkload:\n- {service: a, peak_rps: 1}\n- {service: a, peak_rps: 2}\n", 4,
	    13, "got `a` again");
	refused("horizon: 1d\nworkload: [{service: a/b, peak_rps: 1}]\n", 2, 22, "without a slash");
	refused("horizon: 1d\nworkload: [{service: .., peak_rps: 1}]\n", 2, 22,
	        "does not start with");
	refused("horizon: 1d\nworkload: [{service: \"\", peak_rps: 1}]\n", 2, 22, "wanted a name");
	refused("horizon: 1d\nworkload: [{service: [a], peak_rps: 1}]\n", 2, 22, "got a list");
	refused("horizon: 1d\nworkload: [{peak_rps: 1, "
	        "service: a234567890123456789012345678901234567890123456789}]\n",
	        2, 35, "wanted a name of at most 45 bytes");
	refused("horizon: 1d\nworkload: [{peak_rps: 1}]\n", 2, 13, "unknown key `peak_rps`");
	refused(SERVICE "metrics: {window: 0s}\n", 3, 19, "metrics.window: got `0s`");
	refused(SERVICE "metrics: {window: 2h}\n", 3, 19, "from 1ms to 1h");
	refused(SERVICE "faults: [{at: 1h, do: traffic}]\n", 3, 10, "wanted the name of a service");
	refused(SERVICE "faults: [{at: 1h, do: traffic, service: b}]\n", 3, 41, "got `b`");
	refused(SERVICE "faults: [{at: 1h, do: traffic, service: a, factor: -2}]\n", 3, 52,
	        "factor: got `-2`");
	refused(SERVICE "faults: [{at: 1h, do: traffic, service: a, for: 0s}]\n", 3, 49,
	        "for: got");
	refused(SERVICE "faults: [{at: 1h, do: traffic, service: a, for: 1h, ramp: 2h}]\n", 3, 59,
	        "more than `for`");
	refused(SERVICE "faults: [{at: 1h, do: traffic, service: a, nodes: 2}]\n", 3, 51,
	        "nodes: does not go with `do: traffic`");
	refused(SERVICE "faults: [{at: 1h, do: kill-jobs, service: a}]\n", 3, 43,
	        "service: does not go with `do: kill-jobs`");
}

Test(config_service_bad, too_many_events_are_refused)
{
	static const char one[] = "{at: 1h, for: 1h, factor: 2},";
	char *text = calloc(400, sizeof one);
	size_t used;

	cr_assert_not_null(text);
	used = (size_t)sprintf(text,
	                       "horizon: 1d\nworkload: [{service: a, peak_rps: 0.001, events: [");
	for (int i = 0; i < 251; i++)
		used += (size_t)sprintf(text + used, "%s", one);
	(void)sprintf(text + used, "]}]\n");
	refused(text, 2, 12, "got 251, wanted at most 250");
	free(text);
}
