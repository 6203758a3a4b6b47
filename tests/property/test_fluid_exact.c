/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fluid approximation against the exact engine, over loads, replicas, routings, service
 * times and batches: wherever it calls itself valid, mean, p50, p95 and p99 of latency are
 * within its bound and p999 within twice that. Allowed on top is what the exact run itself may
 * be off by: the spread between its ten parts, three standard errors (quantiles: of each part's),
 * and the histogram's 0.8 %.
 */
#include "sim/base/rng.h"
#include "sim/work/fluid.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

enum { PARTS = 10, REQUESTS_A_PART = 10000, FIGURES = 5 };

struct figures {
	double value[FIGURES]; /* latency: mean, p50, p95, p99, p999 */
};

static struct figures figures_of(const struct tl_request_window *window)
{
	double mean = (double)(window->wait_ns + window->service_ns) / (double)window->served;

	return (struct figures){{mean, (double)window->p50_ns, (double)window->p95_ns,
	                         (double)window->p99_ns, (double)window->p999_ns}};
}

/* Poisson times of one part; returns how many. */
static size_t draw_times(struct tl_rng *rng, double rate_per_ns, int64_t from_ns, int64_t to_ns,
                         double *at, int64_t *times)
{
	size_t n = 0;

	for (; *at < (double)to_ns; *at -= log1p(-tl_rng_uniform(rng)) / rate_per_ns) {
		if (*at >= (double)from_ns && n < 2 * REQUESTS_A_PART)
			times[n++] = (int64_t)*at;
	}
	return n;
}

/* The exact engine's parts, after one to warm up; and its total. */
static void run_exact(const struct tl_request_model *model, uint32_t replicas, double rate_per_ns,
                      struct figures *parts, struct tl_request_window *total, int64_t length_ns)
{
	struct tl_requests *requests = tl_requests_create(model, 5, 0, 0);
	int64_t *times = malloc(2 * REQUESTS_A_PART * sizeof *times);
	struct tl_error error = TL_ERROR_INIT;
	struct tl_request_window window;
	struct tl_rng rng;
	double at = 0;

	*total = (struct tl_request_window){.end_ns = PARTS * length_ns};
	tl_rng_init(&rng, 31, TL_STREAM_TEST, replicas);
	for (uint32_t i = 0; i < replicas; i++)
		tl_requests_replica_add(requests, 0, i, TL_PPB);
	for (int part = 0; part <= PARTS; part++) {
		int64_t from = part * length_ns, to = from + length_ns;
		size_t n = draw_times(&rng, rate_per_ns, from, to, &at, times);
		cr_assert_eq(tl_requests_feed(requests, times, NULL, n, &error), TL_OK, "%s",
		             error.message);
		tl_requests_window(requests, to, &window);
		if (part == 0)
			continue;
		parts[part - 1] = figures_of(&window);
		total->arrivals += window.arrivals;
	}
	free(times);
	tl_requests_destroy(requests);
}

static const char *const routing_names[] = {"round-robin", "random", "shortest", "two choices",
                                            "shared"};
static const char *const figure_names[FIGURES] = {"mean", "p50", "p95", "p99", "p999"};

/* Whether it was valid. */
static bool compare(const struct tl_request_model *model, uint32_t replicas, double load)
{
	struct tl_fluid *fluid = tl_fluid_create(model);
	double rate = load * tl_fluid_capacity(fluid) * (double)replicas * 1e-9;
	int64_t length = (int64_t)(REQUESTS_A_PART / rate);
	struct figures parts[PARTS];
	struct tl_request_window total, told;
	struct tl_fluid_quality quality;

	run_exact(model, replicas, rate, parts, &total, length);
	struct tl_fluid_input input = {.end_ns = PARTS * length,
	                               .arrivals = total.arrivals,
	                               .arrival_scv = 1,
	                               .replicas = replicas,
	                               .speed_ppb = TL_PPB};
	tl_fluid_window(fluid, &input, &told, &quality);
	tl_fluid_destroy(fluid);
	if (!quality.valid)
		return false;
	struct figures fluid_figures = figures_of(&told);
	for (int i = 0; i < FIGURES; i++) {
		double mean = 0, spread = 0;
		for (int part = 0; part < PARTS; part++)
			mean += parts[part].value[i] / PARTS;
		for (int part = 0; part < PARTS; part++)
			spread += pow(parts[part].value[i] - mean, 2) / (PARTS - 1);
		double noise = 3 * sqrt(spread / PARTS) / mean + 1 / 128.0;
		double bound = quality.error_bound * (i == FIGURES - 1 ? 2 : 1);
		double off = fluid_figures.value[i] / mean - 1;
		cr_expect(fabs(off) <= bound + noise,
		          "%s, kind %d, batch %u, %u replicas, load %.2f: %s %.1f %% off, bound "
		          "%.1f %%, noise %.1f %%",
		          routing_names[model->routing], (int)model->service.kind,
		          model->batch_limit, replicas, load, figure_names[i], 100 * off,
		          100 * bound, 100 * noise);
	}
	return true;
}

static const double loads[] = {0.1, 0.35, 0.6, 0.79};
static const uint32_t replica_counts[] = {1, 2, 5, 24};
enum { LOADS = 4, REPLICA_COUNTS = 4 };

/* How many of the grid were valid. */
static int compare_grid(const struct tl_request_model *model)
{
	int valid = 0;

	for (int i = 0; i < LOADS; i++) {
		for (int j = 0; j < REPLICA_COUNTS; j++)
			valid += compare(model, replica_counts[j], loads[i]);
	}
	return valid;
}

static struct tl_request_model plain(enum tl_routing routing, enum tl_service_kind kind, double cv)
{
	return (struct tl_request_model){
	    .service = {.kind = kind, .mean_ns = 20 * TL_NS_PER_MS, .cv = cv},
	    .routing = routing,
	    .batch_limit = 1,
	    .queue_limit = TL_REQUESTS_UNBOUNDED,
	    .timeout_ns = TL_NEVER,
	    .target_ns = TL_NEVER,
	};
}

static void every_routing(enum tl_service_kind kind, double cv, int least)
{
	for (int routing = TL_ROUTE_ROUND_ROBIN; routing <= TL_ROUTE_SHARED_QUEUE; routing++) {
		struct tl_request_model model = plain((enum tl_routing)routing, kind, cv);
		int valid = compare_grid(&model);
		cr_expect_geq(valid, least, "%s: only %d valid", routing_names[routing], valid);
	}
}

Test(fluid_exact, exponential)
{
	every_routing(TL_SERVICE_EXPONENTIAL, 1, 16);
}

Test(fluid_exact, deterministic)
{
	every_routing(TL_SERVICE_DETERMINISTIC, 0, 16);
}

Test(fluid_exact, gamma)
{
	every_routing(TL_SERVICE_GAMMA, 0.5, 16);
}

Test(fluid_exact, lognormal)
{
	every_routing(TL_SERVICE_LOGNORMAL, 0.7, 16);
}

Test(fluid_exact, heavy_lognormal)
{
	every_routing(TL_SERVICE_LOGNORMAL, 1.5, 12);
}

Test(fluid_exact, batches)
{
	for (int routing = TL_ROUTE_ROUND_ROBIN; routing <= TL_ROUTE_SHARED_QUEUE; routing++) {
		struct tl_request_model model =
		    plain((enum tl_routing)routing, TL_SERVICE_AFFINE, 0);
		model.service.alpha_ns = 12 * TL_NS_PER_MS;
		model.service.beta_ns = 2 * TL_NS_PER_MS;
		model.batch_limit = 8;
		cr_expect_geq(compare_grid(&model), 9);
		/* ResNet-50's */
		model.service.alpha_ns = 1590000;
		model.service.beta_ns = 293000;
		model.batch_limit = 32;
		(void)compare_grid(&model);
	}
}

Test(fluid_exact, llm)
{
	struct tl_request_model model = plain(TL_ROUTE_SHORTEST_QUEUE, TL_SERVICE_LLM, 0);

	model.service = (struct tl_service_time){.kind = TL_SERVICE_LLM,
	                                         .prefill_ns = 100000,
	                                         .step_ns = 20 * TL_NS_PER_MS,
	                                         .member_ns = 500000,
	                                         .context_mean = 1000,
	                                         .generated_mean = 200,
	                                         .tokens_cv = 1};
	model.batch_limit = 32;
	cr_expect(compare(&model, 2, 0.3));
	cr_expect(compare(&model, 8, 0.45));
	model.routing = TL_ROUTE_RANDOM;
	cr_expect(compare(&model, 4, 0.3));
	model.service.tokens_cv = 0;
	cr_expect(compare(&model, 4, 0.3));
}
