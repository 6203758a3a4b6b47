/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Requests a second on one core, by routing, replicas and batch limit: Poisson arrivals at
 * 80 % of what the replicas can serve, in windows of a hundred thousand or so, each closed.
 * Batch 1 draws exponential service times; batches of up to 32 take 1.59 + 0.293 b ms (and
 * draw nothing). Drawing the arrivals is not timed.
 *
 * usage: bench_requests [requests]
 */
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/work/requests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WINDOW = 100000, REPEATS = 3 };

/* Of this process: others use the machine too. */
static double seconds_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static struct tl_request_model model_of(enum tl_routing routing, uint32_t batch)
{
	return (struct tl_request_model){
	    .service = {.kind = batch == 1 ? TL_SERVICE_EXPONENTIAL : TL_SERVICE_AFFINE,
	                .mean_ns = TL_NS_PER_MS,
	                .alpha_ns = 1590000,
	                .beta_ns = 293000},
	    .routing = routing,
	    .batch_limit = batch,
	    .queue_limit = 256,
	    .timeout_ns = TL_NEVER,
	    .target_ns = 100 * TL_NS_PER_MS,
	};
}

/* Requests a second. */
static double measure(const struct tl_request_model *model, uint64_t replicas, size_t requests)
{
	struct tl_requests *engine = tl_requests_create(model, 1, 0, 0);
	double per_ns =
	    0.8 * (double)replicas / tl_service_time_mean_ns(&model->service, model->batch_limit);
	int64_t *times = tl_calloc(WINDOW, sizeof *times);
	struct tl_request_window window;
	double spent = 0, at_ns = 0;
	struct tl_rng rng;

	tl_rng_init(&rng, 1, TL_STREAM_TEST, 0);
	for (uint64_t key = 0; key < replicas; key++)
		tl_requests_replica_add(engine, 0, key, TL_PPB);
	for (size_t done = 0; done < requests; done += WINDOW) {
		double begin;

		for (size_t i = 0; i < WINDOW; i++) {
			at_ns -= log1p(-tl_rng_uniform(&rng)) / per_ns;
			times[i] = (int64_t)at_ns;
		}
		begin = seconds_now();
		if (tl_requests_feed(engine, times, NULL, WINDOW, NULL) != TL_OK)
			abort();
		tl_requests_window(engine, times[WINDOW - 1], &window);
		spent += seconds_now() - begin;
	}
	free(times);
	tl_requests_destroy(engine);
	return (double)requests / spent;
}

int main(int argc, char **argv)
{
	static const struct {
		enum tl_routing routing;
		const char *name;
	} rules[] = {{TL_ROUTE_ROUND_ROBIN, "round-robin"},
	             {TL_ROUTE_RANDOM, "random"},
	             {TL_ROUTE_POWER_OF_TWO, "power of two"},
	             {TL_ROUTE_SHORTEST_QUEUE, "shortest queue"},
	             {TL_ROUTE_SHARED_QUEUE, "shared queue"}};
	static const uint64_t replicas[] = {1, 8, 64};
	static const uint32_t batches[] = {1, 32};
	int64_t requests = 2000000;

	if (argc > 1 && (tl_parse_int(argv[1], &requests, NULL) != TL_OK || requests < 1)) {
		(void)fprintf(stderr, "usage: bench_requests [requests]\n");
		return 64;
	}
	requests = (requests + WINDOW - 1) / WINDOW * WINDOW;
	(void)printf("%-16s %6s %10s %10s %10s   M requests/s\n", "routing", "batch", "c = 1",
	             "c = 8", "c = 64");
	for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
		for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
			struct tl_request_model model = model_of(rules[r].routing, batches[b]);

			(void)printf("%-16s %6u", rules[r].name, (unsigned)batches[b]);
			for (size_t c = 0; c < sizeof replicas / sizeof replicas[0]; c++) {
				double best = 0;

				for (int repeat = 0; repeat < REPEATS; repeat++)
					best = fmax(best,
					            measure(&model, replicas[c], (size_t)requests));
				(void)printf(" %10.1f", best / 1e6);
			}
			(void)printf("\n");
		}
	}
	return 0;
}
