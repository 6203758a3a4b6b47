/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The request engine against the results of queueing theory: mean waits of M/M/1, M/M/c
 * (Erlang's C), M/D/1 and M/G/1 (Pollaczek and Khinchine), losses (Erlang's B, M/M/1/K) and
 * the tail of M/M/1. Twenty seeds give twenty means; the theory's value has to lie in their
 * own 99 % interval (Student's t, 19 degrees of freedom), which has to be narrow as well.
 * The first tenth of each run is left out: the system starts empty.
 */
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/work/requests.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { SEEDS = 20, BLOCK = 8192, MEAN_NS = 1000000 };

static const double STUDENT_99 = 2.8609; /* 19 degrees of freedom, both sides */

struct queue {
	struct tl_request_model model;
	uint32_t replicas;
	double load; /* of a replica */
	size_t requests;
};

static struct queue queue_of(enum tl_service_kind kind, double cv, double load, size_t requests)
{
	return (struct queue){
	    .model = {.service = {.kind = kind, .mean_ns = MEAN_NS, .cv = cv},
	              .routing = TL_ROUTE_SHARED_QUEUE,
	              .batch_limit = 1,
	              .queue_limit = TL_REQUESTS_UNBOUNDED,
	              .timeout_ns = TL_NEVER,
	              .target_ns = TL_NEVER},
	    .replicas = 1,
	    .load = load,
	    .requests = requests,
	};
}

/* Feeds n Poisson arrivals from *at_ns on, and closes a window at the last. */
static void stretch(struct tl_requests *requests, struct tl_rng *rng, double gap_ns, size_t n,
                    double *at_ns, struct tl_request_window *window)
{
	static int64_t times[BLOCK];

	while (n > 0) {
		size_t block = n < BLOCK ? n : BLOCK;

		for (size_t i = 0; i < block; i++) {
			*at_ns -= log1p(-tl_rng_uniform(rng)) * gap_ns;
			times[i] = (int64_t)*at_ns;
		}
		cr_assert_eq(tl_requests_feed(requests, times, NULL, block, NULL), TL_OK);
		tl_requests_advance(requests, times[block - 1]);
		n -= block;
	}
	tl_requests_window(requests, (int64_t)*at_ns, window);
}

static void run(const struct queue *queue, uint64_t seed, struct tl_request_window *window,
                struct tl_histogram *latency)
{
	struct tl_requests *requests = tl_requests_create(&queue->model, seed, 0, 0);
	double gap_ns = MEAN_NS / (queue->load * queue->replicas), at_ns = 0;
	struct tl_rng rng;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 7);
	for (uint32_t key = 0; key < queue->replicas; key++)
		tl_requests_replica_add(requests, 0, key, TL_PPB);
	stretch(requests, &rng, gap_ns, queue->requests / 10, &at_ns, window);
	stretch(requests, &rng, gap_ns, queue->requests, &at_ns, window);
	*latency = *window->latency;
	window->latency = latency;
	tl_requests_destroy(requests);
}

typedef double measure(const struct tl_request_window *window);

static double mean_wait(const struct tl_request_window *window)
{
	return (double)window->wait_ns / (double)window->served / MEAN_NS;
}

static double loss(const struct tl_request_window *window)
{
	return (double)window->dropped / (double)window->arrivals;
}

static double p99(const struct tl_request_window *window)
{
	return (double)window->p99_ns / MEAN_NS;
}

static double busy_share(const struct tl_request_window *window)
{
	return (double)window->busy_ns / (double)window->present_ns;
}

/* In mean service times. width: the widest that half of the interval may be, of the value. */
static void expect(const struct queue *queue, measure *what, double value, double width,
                   const char *name)
{
	static struct tl_histogram latency;
	double sum = 0, squares = 0, mean, half;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct tl_request_window window;
		double x;

		run(queue, seed, &window, &latency);
		x = what(&window);
		sum += x;
		squares += x * x;
	}
	mean = sum / SEEDS;
	half = STUDENT_99 * sqrt((squares - sum * mean) / (SEEDS - 1) / SEEDS);
	cr_assert_leq(fabs(mean - value), half, "%s: %.5f ± %.5f, theory %.5f", name, mean, half,
	              value);
	cr_assert_leq(half, width * value, "%s: %.5f ± %.5f tells little", name, mean, half);
}

/* Erlang's B by its recursion over servers, offered load a. */
static double erlang_b(uint32_t servers, double a)
{
	double b = 1;

	for (uint32_t n = 1; n <= servers; n++)
		b = a * b / (n + a * b);
	return b;
}

static double erlang_c(uint32_t servers, double a)
{
	double b = erlang_b(servers, a);

	return b / (1 - a / servers * (1 - b));
}

static void check_mmc(uint32_t servers, double load, size_t requests, double width)
{
	struct queue queue = queue_of(TL_SERVICE_EXPONENTIAL, 0, load, requests);
	double value = erlang_c(servers, load * servers) / (servers * (1 - load));
	char name[64];

	queue.replicas = servers;
	(void)snprintf(name, sizeof name, "M/M/%u at %g", (unsigned)servers, load);
	expect(&queue, mean_wait, value, width, name);
}

Test(requests_queueing, erlang_c)
{
	/* Known: C(1, ρ) = ρ; Erlang's own table has B(4, 3) = 0.2061. */
	cr_assert_float_eq(erlang_c(1, 0.8), 0.8, 1e-12);
	cr_assert_float_eq(erlang_b(4, 3), 0.2061, 5e-5);
}

Test(requests_queueing, mm1)
{
	check_mmc(1, 0.5, 100000, 0.02);
	check_mmc(1, 0.8, 150000, 0.03);
	check_mmc(1, 0.95, 250000, 0.12);
}

Test(requests_queueing, mm4)
{
	check_mmc(4, 0.5, 100000, 0.02);
	check_mmc(4, 0.8, 150000, 0.03);
	check_mmc(4, 0.95, 250000, 0.12);
}

Test(requests_queueing, mm16)
{
	check_mmc(16, 0.5, 200000, 0.08);
	check_mmc(16, 0.8, 150000, 0.04);
	check_mmc(16, 0.95, 250000, 0.12);
}

/* Wq = ρ (1 + c²) / (2 (1 − ρ)) mean service times. */
static void check_mg1(enum tl_service_kind kind, double cv, double load, size_t requests,
                      const char *name)
{
	struct queue queue = queue_of(kind, cv, load, requests);

	expect(&queue, mean_wait, load * (1 + cv * cv) / (2 * (1 - load)), 0.08, name);
}

Test(requests_queueing, md1)
{
	check_mg1(TL_SERVICE_DETERMINISTIC, 0, 0.5, 100000, "M/D/1 at 0.5");
	check_mg1(TL_SERVICE_DETERMINISTIC, 0, 0.8, 150000, "M/D/1 at 0.8");
	check_mg1(TL_SERVICE_DETERMINISTIC, 0, 0.95, 250000, "M/D/1 at 0.95");
}

Test(requests_queueing, mg1)
{
	check_mg1(TL_SERVICE_LOGNORMAL, 1.5, 0.5, 150000, "M/G/1, log-normal, at 0.5");
	check_mg1(TL_SERVICE_LOGNORMAL, 1.5, 0.8, 300000, "M/G/1, log-normal, at 0.8");
	check_mg1(TL_SERVICE_GAMMA, 0.5, 0.8, 100000, "M/G/1, gamma, at 0.8");
	check_mg1(TL_SERVICE_GAMMA, 2, 0.5, 150000, "M/G/1, wide gamma, at 0.5");
}

/* Drawn routing splits a Poisson stream into Poisson streams; half the speed is twice the
 * load. */
Test(requests_queueing, random_routing_makes_mm1s)
{
	struct queue queue = queue_of(TL_SERVICE_EXPONENTIAL, 0, 0.6, 200000);

	queue.model.routing = TL_ROUTE_RANDOM;
	queue.replicas = 5;
	expect(&queue, mean_wait, 0.6 / 0.4, 0.02, "five M/M/1 at 0.6");
	expect(&queue, busy_share, 0.6, 0.005, "busy share at 0.6");
}

/* The time in an M/M/1 system is exponential with mean 1 / (1 − ρ). The histogram's own
 * error, 1/128 at most, is of neither sign: it is half of the width that is asked for. */
Test(requests_queueing, the_tail_of_mm1)
{
	struct queue queue = queue_of(TL_SERVICE_EXPONENTIAL, 0, 0.7, 150000);

	expect(&queue, p99, log(100) / 0.3, 0.02, "p99 of M/M/1 at 0.7");
}

Test(requests_queueing, losses)
{
	struct queue queue = queue_of(TL_SERVICE_EXPONENTIAL, 0, 0.75, 100000);
	double k = 1 + 4;

	queue.replicas = 4;
	queue.model.queue_limit = 0;
	expect(&queue, loss, erlang_b(4, 3), 0.01, "Erlang's B");
	/* M/M/1/K: (1 − ρ) ρ^K / (1 − ρ^(K+1)), one in service and four waiting. */
	queue.replicas = 1;
	queue.model.queue_limit = 4;
	expect(&queue, loss, 0.25 * pow(0.75, k) / (1 - pow(0.75, k + 1)), 0.03, "M/M/1/5");
	/* Erlang's B depends on the mean service alone. */
	queue.replicas = 4;
	queue.model.queue_limit = 0;
	queue.model.service.kind = TL_SERVICE_LOGNORMAL;
	queue.model.service.cv = 2;
	expect(&queue, loss, erlang_b(4, 3), 0.02, "Erlang's B, log-normal");
}
