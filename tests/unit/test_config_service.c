/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Services in scenarios: what they fill, and that it reads back. */
#include "sim/base/units.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static struct tl_scenario *parse(const char *text)
{
	struct tl_scenario *scenario = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = tl_scenario_parse("test.yaml", text, NULL, 0, &scenario, &error);

	cr_assert_eq(status, TL_OK, "%s\n%s", text, error.message);
	return scenario;
}

/* ---- what is filled ---- */

Test(config_service, defaults_are_the_documented_ones)
{
	struct tl_scenario *s = parse("horizon: 1d\nworkload: [{service: a, peak_rps: 10}]");
	const struct tl_service_setting *a = s->services;
	struct tl_arrival_spec standard;

	tl_arrival_spec_default(&standard);
	cr_assert_eq(s->workload_count, 0);
	cr_assert_eq(s->service_count, 1);
	cr_assert_eq(s->window_ns, 5 * TL_NS_PER_S);
	cr_assert_str_eq(a->name, "a");
	cr_assert_str_eq(a->tenant, "services");
	cr_assert_str_eq(a->queue, "");
	cr_assert_eq(a->mode, TL_MODE_AUTO);
	cr_assert(a->replicas_min == 1 && a->replicas_max == 1 && a->replicas_initial == 1);
	cr_assert_eq(a->gpus_mgpu, 1000);
	cr_assert_eq(a->gpu_memory_bytes, TL_NONE);
	cr_assert_eq(a->model.service.kind, TL_SERVICE_AFFINE);
	cr_assert_eq(a->model.service.alpha_ns, 12 * TL_NS_PER_MS);
	cr_assert_eq(a->model.service.beta_ns, 2 * TL_NS_PER_MS);
	cr_assert_eq(a->model.batch_limit, 8);
	cr_assert_eq(a->model.batch_delay_ns, 0);
	cr_assert_eq(a->model.queue_limit, TL_REQUESTS_UNBOUNDED);
	cr_assert_eq(a->model.timeout_ns, TL_NEVER);
	cr_assert_eq(a->model.target_ns, 100 * TL_NS_PER_MS);
	cr_assert_eq(a->model.routing, TL_ROUTE_SHORTEST_QUEUE);
	cr_assert_eq(a->penalty_micros_per_1000, 0);
	cr_assert_eq(a->container_ns, 3 * TL_NS_PER_S);
	cr_assert_eq(a->image_bytes, INT64_C(13000000000));
	cr_assert_eq(a->pull_bytes_per_s, INT64_C(200000000));
	cr_assert_eq(a->weights_bytes, INT64_C(2000000000));
	cr_assert_eq(a->load_bytes_per_s, INT64_C(1500000000));
	cr_assert_eq(a->init_ns, 3 * TL_NS_PER_S);
	cr_assert_eq(a->hot_nodes, 0);
	cr_assert_eq(a->arrivals.process, standard.process);
	cr_assert_eq(a->arrivals.window_ns, standard.window_ns);
	cr_assert_float_eq(a->arrivals.rate_rps, 10, 0);
	cr_assert_float_eq(a->arrivals.curve.peak_trough, standard.curve.peak_trough, 0);
	cr_assert_float_eq(a->arrivals.curve.peak_hour, standard.curve.peak_hour, 0);
	cr_assert_float_eq(a->arrivals.curve.sharpness, standard.curve.sharpness, 0);
	cr_assert_float_eq(a->arrivals.curve.weekend, standard.curve.weekend, 0);
	cr_assert_float_eq(a->arrivals.curve.launch_factor, standard.curve.launch_factor, 0);
	cr_assert_eq(a->arrivals.curve.launch_decay_ns, standard.curve.launch_decay_ns);
	cr_assert_eq(a->arrivals.curve.period_ns, standard.curve.period_ns);
	cr_assert_float_eq(a->arrivals.burst_factor, standard.burst_factor, 0);
	cr_assert_eq(a->arrivals.burst_ns, standard.burst_ns);
	cr_assert_eq(a->arrivals.calm_ns, standard.calm_ns);
	cr_assert_float_eq(a->arrivals.scale, standard.scale, 0);
	cr_assert_eq(a->arrivals.repeat, standard.repeat);
	cr_assert_eq(a->arrivals.event_count + a->arrivals.surge_count, 0);
	cr_assert_null(a->arrivals.trace);
	cr_assert_null(a->arrivals_path);
	cr_assert_eq(a->line, 2);
	tl_scenario_destroy(s);
}

/* The slice says what the replica holds and where; the effective text says it once. */
Test(config_service, a_slice_is_a_share_and_memory_of_certain_cards)
{
	struct tl_scenario *s =
	    parse("cluster: {groups: [{model: T4}, {}, {model: A100-SXM4-40GB}]}\nhorizon: 1h\n"
	          "workload: [{service: s, peak_rps: 1, slice: 1g.10gb},\n"
	          "  {service: t, peak_rps: 1, gpu_milli: 142, memory: 10GiB}]\n");

	for (size_t i = 0; i < 2; i++) {
		cr_assert_eq(s->services[i].gpus_mgpu, 142);
		cr_assert_eq(s->services[i].gpu_memory_bytes, 10 * TL_GIB);
	}
	cr_assert_eq(s->services[0].model_mask, 6u);
	cr_assert_eq(s->services[1].model_mask, UINT64_MAX);
	cr_assert_eq(s->services[1].slice, 0);

	struct tl_scenario *again = parse(s->text);

	cr_assert_str_eq(again->text, s->text);
	cr_assert_eq(again->services[0].slice, s->services[0].slice);
	tl_scenario_destroy(again);
	tl_scenario_destroy(s);
}

static const char full[] =
    "horizon: 2d\n"
    "metrics: {window: 10s}\n"
    "workload:\n"
    "  - trace: jobs.csv\n"
    "  - service: player\n"
    "    peak_rps: 400\n"
    "    curve: {start: 4d, peak_hour: 21.5, peak_trough: 3, sharpness: 2, weekend: 1.1,\n"
    "            launch: {factor: 1.5, at: 6h, every: 28d, decay: 3d}}\n"
    "    arrivals: {process: mmpp, burst: {factor: 2.5, mean: 30s, calm: 5min}}\n"
    "    calendar: [{at: 1h, for: 2h, factor: 1.5, ramp: 10min}]\n"
    "    events: [{at: 5h, for: 1h, factor: 0.5}]\n"
    "    replicas: {min: 2, max: 9, initial: 3}\n"
    "    gpu_milli: 250\n"
    "    memory: 10GiB\n"
    "    cpus: 1.5\n"
    "    ram: 8GiB\n"
    "    service_time: {alpha: 3ms, beta: 1ms}\n"
    "    batch: {limit: 16, delay: 2ms}\n"
    "    queue_limit: 100\n"
    "    timeout: 1s\n"
    "    routing: power-of-two\n"
    "    slo: {p99: 80ms, penalty: 2.5 per 1000}\n"
    "    start: {container: 1s, image: 5GB, pull: 1GB/s, weights: 1GB, load: 2GB/s, init: 4s}\n"
    "    hot: {nodes: 2, start: 1s}\n"
    "    queue: high\n"
    "    tenant: games\n"
    "  - {service: chat, arrivals: {process: poisson, rate: 6/min}, service_time: {dist: llm},\n"
    "     replicas: 2, slo: 30s, requests: fluid}\n"
    "faults:\n"
    "  - {at: 3h, do: traffic, service: player, factor: 2, for: 1h}\n"
    "  - {at: 4h, do: node-down}\n"
    "  - {at: 9h, do: traffic, service: player, factor: 3, for: ever, ramp: 5min}\n";

Test(config_service, every_key_is_taken)
{
	struct tl_scenario *s = parse(full);
	const struct tl_service_setting *a = &s->services[0], *b = &s->services[1];
	const struct tl_arrival_spec *spec = &a->arrivals;

	cr_assert_eq(s->workload_count, 1);
	cr_assert_str_eq(s->workloads[0].path, "jobs.csv");
	cr_assert_eq(s->service_count, 2);
	cr_assert_str_eq(a->name, "player");
	cr_assert_eq(spec->process, TL_ARRIVALS_MMPP);
	cr_assert_eq(spec->window_ns, 10 * TL_NS_PER_S);
	cr_assert_eq(s->window_ns, 10 * TL_NS_PER_S);
	cr_assert_float_eq(spec->rate_rps, 400, 0);
	cr_assert_eq(spec->curve.start_ns, 4 * TL_NS_PER_DAY);
	cr_assert_float_eq(spec->curve.peak_hour, 21.5, 0);
	cr_assert_float_eq(spec->curve.peak_trough, 3, 0);
	cr_assert_float_eq(spec->curve.sharpness, 2, 0);
	cr_assert_float_eq(spec->curve.weekend, 1.1, 0);
	cr_assert_float_eq(spec->curve.launch_factor, 1.5, 0);
	cr_assert_eq(spec->curve.launch_ns, 6 * TL_NS_PER_HOUR);
	cr_assert_eq(spec->curve.launch_every_ns, 28 * TL_NS_PER_DAY);
	cr_assert_eq(spec->curve.launch_decay_ns, 3 * TL_NS_PER_DAY);
	cr_assert_float_eq(spec->burst_factor, 2.5, 0);
	cr_assert_eq(spec->burst_ns, 30 * TL_NS_PER_S);
	cr_assert_eq(spec->calm_ns, 5 * TL_NS_PER_MIN);
	cr_assert_eq(spec->event_count, 2);
	cr_assert_eq(spec->events[0].at_ns, TL_NS_PER_HOUR);
	cr_assert_eq(spec->events[0].for_ns, 2 * TL_NS_PER_HOUR);
	cr_assert_eq(spec->events[0].ramp_ns, 10 * TL_NS_PER_MIN);
	cr_assert_float_eq(spec->events[1].factor, 0.5, 0);
	cr_assert(a->replicas_min == 2 && a->replicas_max == 9 && a->replicas_initial == 3);
	cr_assert_eq(a->gpus_mgpu, 250);
	cr_assert_eq(a->gpu_memory_bytes, 10 * TL_GIB);
	cr_assert_eq(a->cpu_milli, 1500);
	cr_assert_eq(a->ram_bytes, 8 * TL_GIB);
	cr_assert_eq(a->model.service.alpha_ns, 3 * TL_NS_PER_MS);
	cr_assert_eq(a->model.batch_limit, 16);
	cr_assert_eq(a->model.batch_delay_ns, 2 * TL_NS_PER_MS);
	cr_assert_eq(a->model.queue_limit, 100);
	cr_assert_eq(a->model.timeout_ns, TL_NS_PER_S);
	cr_assert_eq(a->model.routing, TL_ROUTE_POWER_OF_TWO);
	cr_assert_eq(a->model.target_ns, 80 * TL_NS_PER_MS);
	cr_assert_eq(a->penalty_micros_per_1000, 2500000);
	cr_assert_eq(a->container_ns, TL_NS_PER_S);
	cr_assert_eq(a->weights_bytes, INT64_C(1000000000));
	cr_assert_eq(a->init_ns, 4 * TL_NS_PER_S);
	cr_assert_eq(a->hot_nodes, 2);
	cr_assert_eq(a->hot_start_ns, TL_NS_PER_S);
	cr_assert_str_eq(a->queue, "high");
	cr_assert_str_eq(a->tenant, "games");
	cr_assert_eq(b->arrivals.process, TL_ARRIVALS_POISSON);
	cr_assert_float_eq(b->arrivals.rate_rps, 0.1, 1e-15);
	cr_assert_eq(b->model.service.kind, TL_SERVICE_LLM);
	cr_assert_eq(b->weights_bytes, INT64_C(26000000000));
	cr_assert_eq(b->init_ns, 60 * TL_NS_PER_S);
	cr_assert(b->replicas_min == 2 && b->replicas_max == 2 && b->replicas_initial == 2);
	cr_assert_eq(b->model.target_ns, 30 * TL_NS_PER_S);
	cr_assert_eq(b->arrivals.surge_count, 0);
	cr_assert_eq(b->mode, TL_MODE_FLUID);
	tl_scenario_destroy(s);
}

Test(config_service, traffic_becomes_a_surge_of_its_service)
{
	struct tl_scenario *s = parse(full);
	const struct tl_arrival_spec *spec = &s->services[0].arrivals;

	cr_assert_eq(s->fault_count, 3);
	cr_assert_eq(s->faults[0].what, TL_FAULT_NODE_DOWN);
	cr_assert_eq(s->faults[0].at_ns, 4 * TL_NS_PER_HOUR);
	cr_assert_eq(spec->surge_count, 2);
	cr_assert_eq(spec->surges[0].at_ns, 3 * TL_NS_PER_HOUR);
	cr_assert_eq(spec->surges[0].for_ns, TL_NS_PER_HOUR);
	cr_assert_float_eq(spec->surges[0].factor, 2, 0);
	cr_assert_eq(spec->surges[0].ramp_ns, 0);
	cr_assert_gt(spec->surges[1].for_ns, s->horizon_ns);
	cr_assert_eq(spec->surges[1].ramp_ns, 5 * TL_NS_PER_MIN);
	tl_scenario_destroy(s);
}

Test(config_service, a_service_moves_no_draw_of_the_jobs)
{
	struct tl_scenario *s =
	    parse("horizon: 1d\nworkload: [{service: a, peak_rps: 1}, {trace: x}, "
	          "{service: b, peak_rps: 1}, {trace: y}]");

	cr_assert_eq(s->workloads[0].trace.entity, 0);
	cr_assert_eq(s->workloads[1].trace.entity, 1);
	cr_assert_str_eq(s->services[1].name, "b");
	tl_scenario_destroy(s);
}

static void one_dist(const char *text, enum tl_service_kind kind, int64_t mean_ns, double cv)
{
	char scenario[300];
	struct tl_scenario *s;
	const struct tl_service_time *time;

	(void)snprintf(scenario, sizeof scenario,
	               "horizon: 1d\nworkload: [{service: a, peak_rps: 1, service_time: %s}]",
	               text);
	s = parse(scenario);
	time = &s->services[0].model.service;
	cr_expect_eq(time->kind, kind, "%s", text);
	cr_expect_eq(time->mean_ns, mean_ns, "%s", text);
	cr_expect_float_eq(time->cv, cv, 0, "%s", text);
	tl_scenario_destroy(s);
}

Test(config_service, distributions)
{
	struct tl_scenario *s;
	const struct tl_service_time *time;

	one_dist("{dist: deterministic, mean: 10ms}", TL_SERVICE_DETERMINISTIC, 10000000, 1);
	one_dist("{dist: exponential, mean: 10ms}", TL_SERVICE_EXPONENTIAL, 10000000, 1);
	one_dist("{dist: lognormal, mean: 1s, cv: 2.5}", TL_SERVICE_LOGNORMAL, TL_NS_PER_S, 2.5);
	one_dist("{dist: gamma, mean: 5ms, cv: 0.5}", TL_SERVICE_GAMMA, 5000000, 0.5);
	s = parse(
	    "horizon: 1d\nworkload:\n"
	    "  - {service: a, peak_rps: 1, service_time: {dist: empirical, values: [8ms, 3ms]}}\n"
	    "  - {service: b, peak_rps: 1, service_time: {dist: llm, prefill: 200us, step: 30ms,\n"
	    "     member: 1ms, context: 500, generated: 50, cv: 0.7}}");
	time = &s->services[0].model.service;
	cr_assert_eq(time->value_count, 2);
	cr_assert_eq(time->values_ns[1], 3 * TL_NS_PER_MS);
	time = &s->services[1].model.service;
	cr_assert_eq(time->prefill_ns, 200000);
	cr_assert_eq(time->step_ns, 30 * TL_NS_PER_MS);
	cr_assert_eq(time->member_ns, TL_NS_PER_MS);
	cr_assert_float_eq(time->context_mean, 500, 0);
	cr_assert_float_eq(time->generated_mean, 50, 0);
	cr_assert_float_eq(time->tokens_cv, 0.7, 0);
	tl_scenario_destroy(s);
}

/* The factor at an hour of the first day. */
static double curve_at(const char *curve, double hour)
{
	char text[300];
	struct tl_scenario *s;
	double factor;

	(void)snprintf(text, sizeof text,
	               "horizon: 1d\nworkload: [{service: a, peak_rps: 1, curve: %s}]", curve);
	s = parse(text);
	factor =
	    tl_curve_at(&s->services[0].arrivals.curve, (int64_t)(hour * (double)TL_NS_PER_HOUR));
	tl_scenario_destroy(s);
	return factor;
}

Test(config_service, curves)
{
	cr_expect_float_eq(curve_at("daily", 20), 1, 1e-12);
	cr_expect_float_eq(curve_at("daily", 8), 0.2, 1e-12);
	cr_expect_float_eq(curve_at("flat", 8), 1, 1e-12);
	cr_expect_float_eq(curve_at("flat", 5 * 24 + 12), 1, 1e-12);
	cr_expect_float_eq(curve_at("night", 8), 1, 1e-12);
	cr_expect_float_eq(curve_at("season", 0) / curve_at("daily", 0), 1.5, 1e-12);
	cr_expect_float_eq(curve_at("{peak_hour: 3, peak_trough: 2}", 15), 0.5, 1e-12);
	cr_expect_float_eq(curve_at("{0h: 0.3, 8h: 0.5, 20h: 1}", 4), 0.4, 1e-12);
	cr_expect_float_eq(curve_at("{0h: 0.3, 8h: 0.5, 20h: 1}", 5 * 24 + 14), 0.75, 1e-12);
	cr_expect_float_eq(curve_at("{hours: {0: 1, 90min: 4}, weekend: 1, period: 2h}", 1.5), 4,
	                   1e-12);
	cr_expect_float_eq(curve_at("{hours: {0: 1}, period: none}", 5 * 24 + 12), 1.2, 1e-12);
}

Test(config_service, effective_text_reads_back_as_itself)
{
	static const char *const texts[] = {
	    full,
	    "horizon: 1d\nworkload: [{service: a, peak_rps: 0.1, curve: {0h: 0.3, 8h: 0.123456789}}]",
	    "horizon: 1d\nworkload: [{service: \"a b\", arrivals: {rate: 1/d}, curve: season, slo: {p99: "
	    "none, penalty: 0.000001}, batch: 3, queue_limit: 0, replicas: {min: 0, max: 5}}]",
	    "horizon: 1d\nworkload: [{service: a, peak_rps: 12345678, arrivals: {process: poisson},\n"
	    "service_time: {dist: empirical, values: [1ns, 2us]}}, {service: b, peak_rps: 2,\n"
	    "service_time: {dist: gamma, mean: 1ms}}, {service: c, peak_rps: 1, curve: {hours: {0: 1}}}]",
	};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct tl_scenario *once = parse(texts[i]);
		struct tl_scenario *twice = parse(once->text);

		cr_assert_str_eq(once->text, twice->text);
		cr_assert_eq(once->service_count, twice->service_count);
		for (size_t k = 0; k < once->service_count; k++) {
			const struct tl_service_setting *a = &once->services[k],
							*b = &twice->services[k];

			cr_assert_float_eq(a->arrivals.rate_rps, b->arrivals.rate_rps, 0);
			cr_assert_eq(a->arrivals.event_count, b->arrivals.event_count);
			cr_assert_eq(a->arrivals.surge_count, b->arrivals.surge_count);
			cr_assert_eq(a->penalty_micros_per_1000, b->penalty_micros_per_1000);
			for (int64_t t = 0; t < 8 * 24; t++)
				cr_assert_float_eq(
				    tl_curve_at(&a->arrivals.curve, t * TL_NS_PER_HOUR),
				    tl_curve_at(&b->arrivals.curve, t * TL_NS_PER_HOUR), 0);
		}
		tl_scenario_destroy(once);
		tl_scenario_destroy(twice);
	}
}

Test(config_service, set_edits_them)
{
	static const struct tl_override set[] = {
	    {.key = "workload[0].peak_rps", .value = "7"},
	    {.key = "workload[0].replicas.max", .value = "4"},
	    {.key = "workload[0].curve.peak_hour", .value = "3"},
	    {.key = "workload[0].slo.penalty", .value = "1"},
	    {.key = "workload[0].batch.delay", .value = "1ms"},
	    {.key = "workload[1].service", .value = "b"},
	    {.key = "workload[1].arrivals.rate", .value = "3/min"},
	    {.key = "faults[0].factor", .value = "5"},
	    {.key = "metrics.window", .value = "1s"}};
	struct tl_scenario *s = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(
	    tl_scenario_parse("s.yaml",
	                      "horizon: 1d\nworkload: [{service: a, peak_rps: 1, replicas: 2, "
	                      "slo: 50ms, batch: 4}]\n"
	                      "faults: [{at: 1h, do: traffic, service: a}]\n",
	                      set, sizeof set / sizeof set[0], &s, &error),
	    TL_OK, "%s %s", error.file, error.message);
	cr_assert_float_eq(s->services[0].arrivals.rate_rps, 7, 0);
	cr_assert_eq(s->services[0].replicas_min, 2);
	cr_assert_eq(s->services[0].replicas_max, 4);
	cr_assert_float_eq(s->services[0].arrivals.curve.peak_hour, 3, 0);
	cr_assert_eq(s->services[0].model.target_ns, 50 * TL_NS_PER_MS);
	cr_assert_eq(s->services[0].model.batch_limit, 4);
	cr_assert_eq(s->services[0].penalty_micros_per_1000, 1000000);
	cr_assert_float_eq(s->services[0].arrivals.surges[0].factor, 5, 0);
	cr_assert_float_eq(s->services[1].arrivals.rate_rps, 0.05, 1e-15);
	cr_assert_eq(s->services[1].arrivals.window_ns, TL_NS_PER_S);
	tl_scenario_destroy(s);
}
