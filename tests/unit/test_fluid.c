/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fluid approximation against the books, and what it does when a queue builds up. */
#include "sim/work/fluid.h"

#include <criterion/criterion.h>
#include <math.h>

static const int64_t long_window_ns = 3600 * TL_NS_PER_S;

static struct tl_request_model model_of(enum tl_service_kind kind, enum tl_routing routing)
{
	return (struct tl_request_model){
	    .service = {.kind = kind, .mean_ns = 20 * TL_NS_PER_MS, .cv = 0.5},
	    .routing = routing,
	    .batch_limit = 1,
	    .queue_limit = TL_REQUESTS_UNBOUNDED,
	    .timeout_ns = TL_NEVER,
	    .target_ns = TL_NEVER,
	};
}

/* One long window at a load. */
static struct tl_request_window steady(const struct tl_request_model *model, uint32_t replicas,
                                       double load, int64_t speed_ppb,
                                       struct tl_fluid_quality *quality)
{
	struct tl_fluid *fluid = tl_fluid_create(model);
	struct tl_fluid_input input = {
	    .end_ns = long_window_ns,
	    .arrival_scv = 1,
	    .replicas = replicas,
	    .speed_ppb = speed_ppb,
	};
	struct tl_request_window window;

	input.arrivals = (uint64_t)(load * tl_fluid_capacity(fluid) * (double)replicas * 3600 *
	                                (double)speed_ppb * 1e-9 +
	                            0.5);
	tl_fluid_window(fluid, &input, &window, quality);
	tl_fluid_destroy(fluid);
	return window;
}

static void expect_near(double got, double wanted, double relative, const char *what)
{
	cr_expect(fabs(got - wanted) <= relative * fabs(wanted), "%s: %g, wanted %g", what, got,
	          wanted);
}

Test(fluid, erlang_known_values)
{
	/* B(1, a) = a / (1 + a); B(2, 1) = 1/5; C(2, 1) = 1/3 */
	expect_near(tl_erlang_b(1, 0.5), 1 / 3.0, 1e-14, "B(1, 0.5)");
	expect_near(tl_erlang_b(2, 1), 0.2, 1e-14, "B(2, 1)");
	expect_near(tl_erlang_c(2, 1), 1 / 3.0, 1e-14, "C(2, 1)");
	expect_near(tl_erlang_c(1, 0.7), 0.7, 1e-14, "C(1, 0.7) is the load");
	/* the sum 10^10/10! / Σ 10^k/k! */
	double term = 1, sum = 1;
	for (int k = 1; k <= 10; k++) {
		term *= 10.0 / k;
		sum += term;
	}
	expect_near(tl_erlang_b(10, 10), term / sum, 1e-13, "B(10, 10)");
	expect_near(tl_erlang_b(0, 3), 1, 0, "no server");
	expect_near(tl_erlang_b(3, 0), 0, 0, "no load");
	expect_near(tl_erlang_c(3, 3), 1, 0, "full");
	cr_expect(tl_erlang_b(100000, 1) >= 0 && tl_erlang_b(100000, 1) < 1e-300);
	double many = tl_erlang_c(100000, 99900);
	cr_expect(many > 0.6 && many < 1, "C(100000, 99900) is %g", many);
}

Test(fluid, mm1_and_mmc)
{
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_RANDOM);
	struct tl_fluid_quality quality;
	struct tl_request_window window = steady(&model, 4, 0.75, TL_PPB, &quality);

	cr_expect(quality.valid, "%s", quality.why);
	expect_near(quality.load, 0.75, 1e-4, "load");
	/* M/M/1: latency is exponential with mean S / (1 − ρ) */
	expect_near((double)window.mean_wait_ns, 60e6, 1e-3, "mean wait");
	expect_near((double)window.p50_ns, 80e6 * log(2), 0.03, "p50");
	expect_near((double)window.p99_ns, 80e6 * log(100), 0.03, "p99");
	expect_near((double)window.p999_ns, 80e6 * log(1000), 0.03, "p999");

	model.routing = TL_ROUTE_SHARED_QUEUE;
	window = steady(&model, 8, 0.75, TL_PPB, &quality);
	double any = tl_erlang_c(8, 6);
	expect_near((double)window.mean_wait_ns, any * 20e6 / (8 * 0.25), 1e-3, "M/M/8");
	window = steady(&model, 8, 0.7421875 + 1 / 256.0, TL_PPB, &quality);
	double a = tl_erlang_c(8, 8 * 0.74609375);
	expect_near((double)window.mean_wait_ns, a * 20e6 / (8 * (1 - 0.74609375)), 5e-3,
	            "between two steps of load");
}

Test(fluid, md1_and_mg1)
{
	struct tl_fluid_quality quality;
	struct tl_request_model model = model_of(TL_SERVICE_DETERMINISTIC, TL_ROUTE_RANDOM);
	struct tl_request_window window = steady(&model, 1, 0.5, TL_PPB, &quality);

	/* Pollaczek–Khinchine: ρ S (1 + cv²) / (2 (1 − ρ)) */
	expect_near((double)window.mean_wait_ns, 10e6, 1e-3, "M/D/1");
	for (int routing = TL_ROUTE_ROUND_ROBIN; routing <= TL_ROUTE_SHARED_QUEUE; routing++) {
		model = model_of(TL_SERVICE_GAMMA, (enum tl_routing)routing);
		window = steady(&model, 1, 0.5, TL_PPB, &quality);
		expect_near((double)window.mean_wait_ns, 12.5e6, 1e-3, "M/G/1, every routing");
	}
	model = model_of(TL_SERVICE_LOGNORMAL, TL_ROUTE_RANDOM);
	window = steady(&model, 1, 0.5, TL_PPB, &quality);
	expect_near((double)window.mean_wait_ns, 12.5e6, 1e-3, "M/G/1, log-normal");
}

Test(fluid, service_times_at_no_load)
{
	static const int64_t values[] = {30000000, 10000000, 20000000, 40000000};
	struct tl_fluid_quality quality;
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_SHARED_QUEUE);
	struct tl_request_window window = steady(&model, 64, 0.02, TL_PPB, &quality);

	expect_near((double)window.p50_ns, 20e6 * log(2), 0.02, "exponential p50");
	expect_near((double)window.p99_ns, 20e6 * log(100), 0.02, "exponential p99");
	model = model_of(TL_SERVICE_GAMMA, TL_ROUTE_SHARED_QUEUE); /* of shape 4 */
	window = steady(&model, 64, 0.02, TL_PPB, &quality);
	expect_near((double)window.p50_ns, 5e6 * 3.67206, 0.02, "gamma p50");
	expect_near((double)window.p99_ns, 5e6 * 10.04512, 0.02, "gamma p99");
	model = model_of(TL_SERVICE_LOGNORMAL, TL_ROUTE_SHARED_QUEUE);
	window = steady(&model, 64, 0.02, TL_PPB, &quality);
	expect_near((double)window.p50_ns, 20e6 / sqrt(1.25), 0.02, "log-normal p50");
	model = model_of(TL_SERVICE_EMPIRICAL, TL_ROUTE_SHARED_QUEUE);
	model.service.values_ns = values;
	model.service.value_count = 4;
	window = steady(&model, 64, 0.02, TL_PPB, &quality);
	expect_near((double)window.service_ns / (double)window.served, 25e6, 1e-6,
	            "empirical mean");
	expect_near((double)window.p95_ns, 40e6, 0.02, "empirical p95");
}

Test(fluid, speed_scales_time)
{
	struct tl_fluid_quality quality;
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_SHARED_QUEUE);
	struct tl_request_window one = steady(&model, 8, 0.75, TL_PPB, &quality);
	struct tl_request_window half = steady(&model, 8, 0.75, TL_PPB / 2, &quality);

	expect_near((double)half.p99_ns, 2 * (double)one.p99_ns, 1e-3, "p99 at half speed");
	expect_near((double)half.mean_wait_ns, 2 * (double)one.mean_wait_ns, 1e-3, "mean wait");
}

Test(fluid, attained_and_target)
{
	struct tl_fluid_quality quality;
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_RANDOM);

	model.target_ns = 160 * TL_NS_PER_MS; /* M/M/1 at 3/4: mean 80 ms */
	struct tl_request_window window = steady(&model, 4, 0.75, TL_PPB, &quality);
	expect_near((double)window.attained / (double)window.served, 1 - exp(-2), 0.01, "attained");
	model.target_ns = 1;
	window = steady(&model, 4, 0.75, TL_PPB, &quality);
	cr_expect_leq(window.attained, window.served / 50);
	expect_near((double)window.busy_ns, 0.75 * 4 * (double)long_window_ns, 1e-3, "busy");
}

Test(fluid, batches_grow_with_load)
{
	struct tl_fluid_quality quality;
	struct tl_request_model model = model_of(TL_SERVICE_AFFINE, TL_ROUTE_RANDOM);
	double before = 0;

	model.service.alpha_ns = 12 * TL_NS_PER_MS;
	model.service.beta_ns = 2 * TL_NS_PER_MS;
	model.batch_limit = 8;
	struct tl_fluid *fluid = tl_fluid_create(&model);
	expect_near(tl_fluid_capacity(fluid), 8 / 0.028, 1e-12, "286 requests a second");
	tl_fluid_destroy(fluid);
	for (int tenths = 1; tenths <= 9; tenths++) {
		double load = tenths / 10.0;
		struct tl_request_window window = steady(&model, 10, load, TL_PPB, &quality);
		double batch = (double)window.served / (double)window.batches;
		cr_expect_gt(batch, before);
		cr_expect_leq(batch, 8);
		/* all that comes is served: rate = batch × busy / time */
		double busy = (double)window.busy_ns / (double)window.present_ns;
		expect_near(batch * busy / (0.012 + 0.002 * batch), load * 8 / 0.028, 0.005,
		            "work conserved");
		before = batch;
	}
	cr_expect_gt(before, 6);
}

/* Near full load level queues hardly vary: whatever the chain makes of that, latencies grow with
 * load from that of one request, and next to nothing is lost of a long queue's. */
Test(fluid, batches_are_sane_up_to_full_load)
{
	static const enum tl_routing routings[] = {TL_ROUTE_RANDOM, TL_ROUTE_ROUND_ROBIN,
	                                           TL_ROUTE_SHORTEST_QUEUE, TL_ROUTE_POWER_OF_TWO,
	                                           TL_ROUTE_SHARED_QUEUE};
	static const uint32_t replicas[] = {1, 2, 8, 31, 64, 96, 300};
	static const uint32_t limits[] = {2, 8, 32};

	for (size_t i = 0; i < 5 * 7 * 3; i++) {
		struct tl_request_model model = model_of(TL_SERVICE_AFFINE, routings[i % 5]);
		uint32_t count = replicas[i / 5 % 7];
		double before = 0;

		model.service.alpha_ns = 12 * TL_NS_PER_MS;
		model.service.beta_ns = 2 * TL_NS_PER_MS;
		model.batch_limit = limits[i / 35];
		model.timeout_ns = 10 * TL_NS_PER_S;
		for (int load = 40; load <= 62; load += 2) {
			struct tl_fluid_quality quality;
			struct tl_request_window window =
			    steady(&model, count, load / 64.0, TL_PPB, &quality);
			double p50 = (double)window.p50_ns;

			cr_assert_geq(window.p50_ns, 14 * TL_NS_PER_MS, "%u replicas, %d/64: %g ms",
			              count, load, p50 / 1e6);
			cr_assert_geq(window.p99_ns, window.p50_ns);
			cr_assert_geq(p50, 0.97 * before, "%u of %u at %d/64: %g ms, before %g",
			              model.batch_limit, count, load, p50 / 1e6, before / 1e6);
			cr_assert_leq(window.timed_out, window.arrivals / 100, "%u replicas, %d/64",
			              count, load);
			before = p50;
		}
	}
}

static struct tl_request_window next(struct tl_fluid *fluid, int64_t *now_ns, uint64_t arrivals,
                                     uint32_t replicas, struct tl_fluid_quality *quality)
{
	struct tl_request_window window;
	struct tl_fluid_input input = {.start_ns = *now_ns,
	                               .end_ns = *now_ns + 5 * TL_NS_PER_S,
	                               .arrivals = arrivals,
	                               .arrival_scv = 1,
	                               .replicas = replicas,
	                               .speed_ppb = TL_PPB};
	uint64_t queued = (uint64_t)tl_fluid_queue(fluid);

	tl_fluid_window(fluid, &input, &window, quality);
	cr_expect_eq(queued + arrivals,
	             window.served + window.dropped + window.timed_out + window.queued);
	cr_expect_eq(window.queued, (uint64_t)tl_fluid_queue(fluid));
	*now_ns = input.end_ns;
	return window;
}

/* 10 replicas serve 500/s. 750/s for 10 s leave 2,500, which 250/s drain in 10 s. */
Test(fluid, a_queue_builds_and_drains)
{
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_SHARED_QUEUE);
	struct tl_fluid *fluid = tl_fluid_create(&model);
	struct tl_fluid_quality quality;
	int64_t now = 0;

	struct tl_request_window window = next(fluid, &now, 3750, 10, &quality);
	cr_expect_not(quality.valid);
	cr_expect_eq(window.queued, 1250);
	expect_near((double)window.mean_wait_ns, 1.25e9, 0.01, "mean wait while it grows");
	window = next(fluid, &now, 3750, 10, &quality);
	cr_expect_eq(window.queued, 2500);
	expect_near((double)window.p99_ns, 5e9, 0.02, "p99 at its end");
	window = next(fluid, &now, 1250, 10, &quality);
	cr_expect_eq(window.queued, 1250);
	cr_expect_not(quality.valid);
	window = next(fluid, &now, 1250, 10, &quality);
	cr_expect_eq(window.queued, 0);
	(void)next(fluid, &now, 1250, 10, &quality);
	cr_expect(quality.valid, "%s", quality.why);
	window = next(fluid, &now, 100, 0, &quality);
	cr_expect_eq(window.queued, 100, "nobody is there");
	cr_expect_eq(window.p99_ns, TL_NONE);
	cr_expect_not(quality.valid);
	tl_fluid_set_queue(fluid, 7);
	window = next(fluid, &now, 0, 10, &quality);
	cr_expect_eq(window.served, 7);
	tl_fluid_destroy(fluid);
}

/* Latency does not fall where the formulas of equilibrium end and the queue begins to grow. */
Test(fluid, full_load_is_no_relief)
{
	struct tl_request_model model = model_of(TL_SERVICE_AFFINE, TL_ROUTE_SHORTEST_QUEUE);
	struct tl_fluid_quality quality;
	int64_t before = 0;

	model.service.alpha_ns = 12 * TL_NS_PER_MS;
	model.service.beta_ns = 2 * TL_NS_PER_MS;
	model.batch_limit = 8;
	model.queue_limit = 64;
	for (int percent = 90; percent <= 104; percent++) {
		struct tl_fluid *fluid = tl_fluid_create(&model);
		int64_t now = 0;
		double rate = percent / 100.0 * 96 * tl_fluid_capacity(fluid);
		struct tl_request_window window =
		    next(fluid, &now, (uint64_t)(rate * 5), 96, &quality);

		cr_expect_geq(window.p99_ns, before, "%d %%: %g ms, before %g", percent,
		              (double)window.p99_ns / 1e6, (double)before / 1e6);
		before = window.p99_ns;
		tl_fluid_destroy(fluid);
	}
}

Test(fluid, bounds_drop_and_time_out)
{
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_SHARED_QUEUE);
	struct tl_fluid_quality quality;
	int64_t now = 0;

	model.queue_limit = 20;
	struct tl_fluid *fluid = tl_fluid_create(&model);
	struct tl_request_window window = next(fluid, &now, 3750, 10, &quality);
	cr_expect_eq(window.queued, 200);
	cr_expect_eq(window.dropped, 1050);
	tl_fluid_destroy(fluid);

	model.queue_limit = TL_REQUESTS_UNBOUNDED;
	model.timeout_ns = TL_NS_PER_S;
	fluid = tl_fluid_create(&model);
	window = next(fluid, &now, 3750, 10, &quality);
	cr_expect_eq(window.queued, 500);
	cr_expect_eq(window.timed_out, 750);
	tl_fluid_destroy(fluid);

	model.timeout_ns = TL_NEVER;
	model.queue_limit = 0;
	window = steady(&model, 4, 0.5, TL_PPB, &quality);
	cr_expect_not(quality.valid);
	expect_near((double)window.dropped / (double)window.arrivals, tl_erlang_b(4, 2), 0.001,
	            "Erlang B");
}

Test(fluid, says_when_it_does_not_hold)
{
	struct tl_request_model model = model_of(TL_SERVICE_EXPONENTIAL, TL_ROUTE_SHARED_QUEUE);
	struct tl_fluid *fluid = tl_fluid_create(&model);
	struct tl_request_window window;
	struct tl_fluid_quality quality;
	struct tl_fluid_input good = {.end_ns = 5 * TL_NS_PER_S,
	                              .arrivals = 1500,
	                              .arrival_scv = 1,
	                              .replicas = 10,
	                              .speed_ppb = TL_PPB};
	struct tl_fluid_input bad = good;

	tl_fluid_window(fluid, &good, &window, &quality);
	cr_assert(quality.valid, "%s", quality.why);
	cr_expect_gt(quality.error_bound, 0);
	bad.changed = true;
	tl_fluid_window(fluid, &bad, &window, &quality);
	cr_expect_not(quality.valid);
	bad = good;
	bad.arrivals = 2300;
	tl_fluid_window(fluid, &bad, &window, &quality);
	cr_expect_str_eq(quality.why, "load is high");
	bad = good;
	bad.end_ns = TL_NS_PER_S / 10;
	bad.arrivals = 30;
	tl_fluid_window(fluid, &bad, &window, &quality);
	cr_expect_not(quality.valid);
	bad = good;
	bad.arrival_scv = 4;
	tl_fluid_window(fluid, &bad, &window, &quality);
	cr_expect_not(quality.valid);
	bad = good;
	bad.arrivals = 0;
	tl_fluid_window(fluid, &bad, &window, &quality);
	cr_expect_eq(window.served, 0);
	cr_expect_eq(window.p50_ns, TL_NONE);
	tl_fluid_destroy(fluid);
}

/* Answers do not depend on what was asked before. */
Test(fluid, order_does_not_matter)
{
	struct tl_request_model model = model_of(TL_SERVICE_GAMMA, TL_ROUTE_POWER_OF_TWO);
	struct tl_fluid_quality quality;
	struct tl_fluid *fluid = tl_fluid_create(&model);
	struct tl_request_window first, window;
	struct tl_fluid_input input = {.end_ns = 60 * TL_NS_PER_S,
	                               .arrivals = 12345,
	                               .arrival_scv = 1,
	                               .replicas = 7,
	                               .speed_ppb = 900000000};

	tl_fluid_window(fluid, &input, &first, &quality);
	for (uint32_t c = 1; c < 20; c++) {
		struct tl_fluid_input other = input;
		other.replicas = c;
		other.arrivals = c * 1700;
		tl_fluid_window(fluid, &other, &window, &quality);
		tl_fluid_set_queue(fluid, 0);
	}
	tl_fluid_window(fluid, &input, &window, &quality);
	cr_expect_eq(window.p99_ns, first.p99_ns);
	cr_expect_eq(window.mean_wait_ns, first.mean_wait_ns);
	tl_fluid_destroy(fluid);
}
