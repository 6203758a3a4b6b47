/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arrival times a second of one core, by rate of the service; windows that are only
 * counted; and the fluid approximation of a week of windows.
 *
 * usage: bench_arrivals [times]
 */
#include "sim/base/units.h"
#include "sim/work/fluid.h"
#include "workloads/arrivals.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 3, WINDOWS_A_WEEK = 120960 };

/* Of this process: others use the machine too. */
static double seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct tl_arrivals *make(enum tl_arrival_process process, double rate_rps)
{
	struct tl_arrival_spec spec;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_arrivals *arrivals;

	tl_arrival_spec_default(&spec);
	spec.process = process;
	spec.rate_rps = rate_rps;
	if (tl_arrivals_create(&spec, 1, 0, &arrivals, &error) != TL_OK) {
		(void)fprintf(stderr, "%s\n", error.message);
		exit(1);
	}
	return arrivals;
}

static void bench_times(enum tl_arrival_process process, double rate_rps, double wanted)
{
	struct tl_arrivals *arrivals = make(process, rate_rps);
	struct tl_arrival_block block = {0};
	double best = 0;
	int64_t sum = 0;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		double begin = seconds_now(), count = 0;

		for (int64_t i = 0; count < wanted; i++) {
			tl_arrivals_window(arrivals, i, &block);
			count += (double)block.count;
			sum += block.count > 0 ? block.times_ns[block.count - 1] : 0;
		}
		double rate = count / (seconds_now() - begin);
		best = rate > best ? rate : best;
	}
	printf("%-8s %8.0f rps: %6.1f M times/s (check %lld)\n", tl_arrival_process_names[process],
	       rate_rps, best * 1e-6, (long long)(sum % 1000));
	tl_arrival_block_fini(&block);
	tl_arrivals_destroy(arrivals);
}

static void bench_count(enum tl_arrival_process process, double rate_rps)
{
	struct tl_arrivals *arrivals = make(process, rate_rps);
	double begin = seconds_now(), count = 0;

	for (int64_t i = 0; i < WINDOWS_A_WEEK; i++)
		count += (double)tl_arrivals_count(arrivals, i);
	double seconds = seconds_now() - begin;
	printf("%-8s %8.0f rps: a week counted in %.3f s, %.0f ns a window (%.4g requests)\n",
	       tl_arrival_process_names[process], rate_rps, seconds, seconds / WINDOWS_A_WEEK * 1e9,
	       count);
	tl_arrivals_destroy(arrivals);
}

/* A week of windows whose load follows the day, replicas changing by the hour. */
static void bench_fluid(const char *what, const struct tl_request_model *model)
{
	struct tl_fluid *fluid = tl_fluid_create(model);
	double capacity = tl_fluid_capacity(fluid), begin = seconds_now();
	struct tl_request_window window;
	struct tl_fluid_quality quality;
	int64_t sum = 0, valid = 0;

	for (int64_t i = 0; i < WINDOWS_A_WEEK; i++) {
		int64_t hour = i / 720 % 24;
		double day = (double)(hour < 12 ? hour : 24 - hour) / 12;
		uint32_t replicas = (uint32_t)(20 + 68 * day);
		struct tl_fluid_input input = {
		    .start_ns = i * 5 * TL_NS_PER_S,
		    .end_ns = (i + 1) * 5 * TL_NS_PER_S,
		    .arrivals = (uint64_t)((0.55 + 0.0003 * (double)(i % 720)) * capacity * 5 *
		                           (double)replicas),
		    .arrival_scv = 1,
		    .replicas = replicas,
		    .speed_ppb = TL_PPB,
		};
		tl_fluid_window(fluid, &input, &window, &quality);
		sum += window.p99_ns;
		valid += quality.valid;
	}
	double seconds = seconds_now() - begin;
	printf("fluid %-22s a week in %.3f s, %.0f ns a window, %.0f %% valid (check %lld)\n", what,
	       seconds, seconds / WINDOWS_A_WEEK * 1e9, 100.0 * (double)valid / WINDOWS_A_WEEK,
	       (long long)(sum % 1000));
	tl_fluid_destroy(fluid);
}

int main(int argc, char **argv)
{
	double wanted = argc > 1 ? strtod(argv[1], NULL) : 2e7;

	bench_times(TL_ARRIVALS_POISSON, 40000, wanted);
	bench_times(TL_ARRIVALS_NHPP, 40000, wanted);
	bench_times(TL_ARRIVALS_NHPP, 2000, wanted);
	bench_times(TL_ARRIVALS_MMPP, 2000, wanted);
	bench_times(TL_ARRIVALS_NHPP, 100, wanted / 10);
	bench_count(TL_ARRIVALS_NHPP, 20000);
	bench_count(TL_ARRIVALS_MMPP, 20000);
	struct tl_request_model model = {.service = {.kind = TL_SERVICE_LOGNORMAL,
	                                             .mean_ns = 20 * TL_NS_PER_MS,
	                                             .cv = 0.5,
	                                             .alpha_ns = 12 * TL_NS_PER_MS,
	                                             .beta_ns = 2 * TL_NS_PER_MS},
	                                 .routing = TL_ROUTE_SHORTEST_QUEUE,
	                                 .batch_limit = 1,
	                                 .queue_limit = TL_REQUESTS_UNBOUNDED,
	                                 .timeout_ns = TL_NEVER,
	                                 .target_ns = 100 * TL_NS_PER_MS};
	bench_fluid("one by one", &model);
	model.service.kind = TL_SERVICE_AFFINE;
	model.batch_limit = 8;
	bench_fluid("batches of 8", &model);
	model.routing = TL_ROUTE_RANDOM;
	bench_fluid("batches of 8, random", &model);
	return 0;
}
