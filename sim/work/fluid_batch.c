/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Batches in equilibrium. A replica that ends a batch takes what waits, up to its limit; if
 * nothing does, the next request starts alone. The queue seen at the ends of batches is a
 * Markov chain: from Q, the batch is min(Q, limit) and the next Q is what is left over plus
 * what arrives while it runs (Bailey 1954; Neuts 1967, with times that depend on the batch).
 * It is cut at some batches' worth and solved by Grassmann, Taksar and Heyman's elimination.
 *
 * What arrives while a batch runs, by routing:
 *   random          Poisson
 *   round-robin     every c-th of a Poisson stream, from a random one on
 *   power of two    taken as round-robin over 2: between random and level
 *   shortest queue  as round-robin: queues are kept level; but a replica gets its requests soon
 *                   after it has ended a batch, when it has few (fitted to the exact engine)
 *   shared queue    one server, c times as fast, takes from the queue: the time between two
 *                   replicas becoming free is that of a batch / c, of an scv from 0 (one
 *                   replica) to 1 (many: their ends are nearly Poisson); the batch itself
 *                   then takes its full time
 */
#include "sim/base/arena.h"
#include "sim/work/fluid_core.h"

#include <math.h>
#include <stdlib.h>

enum { BATCHES_KEPT = 6, MOMENTS = 8, COUNTS_SPARE = 12 };

struct chain {
	const struct tl_fluid *fluid;
	double rate;    /* of what the chain's server serves, requests/ns */
	double servers; /* the shared queue's c; else 1 */
	double one_in;  /* round-robin's c; else 1 */
	bool shared;
	size_t limit, states; /* states: queue 1 … states */
	size_t count_max;
	double *move;  /* states × states */
	double *law;   /* probabilities of 0 … count_max arrivals */
	double *share; /* of the states, stationary */
	double *empty; /* probability that nothing waits after it */
};

/* Poisson probabilities of 0 … n from the mean outward, so that none is lost to underflow. */
static void poisson_law(double mean, double *law, size_t n)
{
	double sum = 0;

	for (size_t k = 0; k <= n; k++) {
		law[k] = mean > 0 ? exp((double)k * log(mean) - mean - lgamma((double)k + 1))
		                  : (double)(k == 0);
		sum += law[k];
	}
	for (size_t k = 0; k <= n; k++)
		law[k] /= sum;
}

/* One in c of a Poisson stream: m arrivals give ⌊(m + u) / c⌋, u uniform on 0 … c − 1, or 0
 * where the time begins or ends with one that counts. */
static void sparse_law(double mean, double c, bool from_one, double *law, size_t n)
{
	double all = mean * c, reach = 8 * sqrt(all) + 8, sum = 0;

	for (size_t k = 0; k <= n; k++) {
		/* m between (k − 1) c and (k + 1) c, weighed by a triangle */
		double low = ((double)k - (from_one ? 0 : 1)) * c, weight = 0;
		double from = fmax(all - reach, low);
		double to = fmin(all + reach, ((double)k + 1) * c - 1);
		size_t first = (size_t)ceil(fmax(from, 0)), end = to < 0 ? 0 : (size_t)to + 1;
		for (size_t i = first; i < end; i++) {
			double m = (double)i;
			double part = from_one ? 1 : 1 - fabs(m - (double)k * c) / c;
			weight += part * exp(m * log(all) - all - lgamma(m + 1));
		}
		law[k] = weight;
		sum += weight;
	}
	for (size_t k = 0; k <= n; k++)
		law[k] = sum > 0 ? law[k] / sum : (double)(k == 0);
}

/* Poisson over a gamma-distributed time of scv v: negative binomial. */
static void mixed_law(double mean, double v, double *law, size_t n)
{
	double shape = 1 / v, success = shape / (shape + mean), sum = 0;

	law[0] = pow(success, shape);
	for (size_t k = 0; k <= n; k++) {
		if (k > 0)
			law[k] = law[k - 1] * (shape + (double)k - 1) / (double)k * (1 - success);
		sum += law[k];
	}
	for (size_t k = 0; k <= n; k++)
		law[k] /= sum;
}

/* scv of the time from one end of a batch to the next. */
static double gap_scv(const struct chain *chain, size_t batch)
{
	double own = chain->fluid->batch_scv[batch];

	if (!chain->shared)
		return own;
	/* two take turns; of many, each end is as good as independent of the last (fitted) */
	double blend = (1 - 1 / chain->servers) * chain->servers / (chain->servers + 10);
	return own + (1 - own) * blend;
}

/* How many arrive in a time of scv v; or in a fixed one that ends with an arrival. */
static void count_law(const struct chain *chain, double time_ns, double v, bool to_one)
{
	double mean = chain->rate * time_ns;

	if (v > 0.01 && !to_one)
		mixed_law(mean, v, chain->law, chain->count_max);
	else if (chain->one_in > 1 && mean > 0)
		sparse_law(mean, chain->one_in, to_one, chain->law, chain->count_max);
	else
		poisson_law(mean, chain->law, chain->count_max);
}

static size_t batch_of(const struct chain *chain, size_t queue)
{
	return queue < chain->limit ? queue : chain->limit;
}

static double time_of(const struct chain *chain, size_t batch)
{
	return chain->fluid->batch_ns[batch] / chain->servers;
}

/* Row q: from a queue of q to the next one, which counts as 1 when it is 0. */
static void fill_moves(struct chain *chain)
{
	size_t n = chain->states, known = 0;

	for (size_t queue = 1; queue <= n; queue++) {
		size_t batch = batch_of(chain, queue), left = queue - batch;
		double *row = chain->move + (queue - 1) * n;

		if (batch != known) /* all full batches have the same law */
			count_law(chain, time_of(chain, batch), gap_scv(chain, batch), false);
		known = batch;
		for (size_t k = 0; k <= chain->count_max; k++) {
			size_t next = left + k;
			if (next == 0)
				chain->empty[queue - 1] = chain->law[k];
			next = next < 1 ? 1 : next > n ? n : next;
			row[next - 1] += chain->law[k];
		}
	}
}

/* Stationary shares without a subtraction. Destroys move. */
static void solve(struct chain *chain)
{
	static const double never = 1e-30, many = 1e100;
	size_t n = chain->states, lowest = 0;
	double *p = chain->move, *share = chain->share, sum = 1;

	for (size_t k = n - 1; k > 0; k--) {
		double out = 0;
		for (size_t j = 0; j < k; j++)
			out += p[k * n + j];
		if (out <
		    never) { /* busy replicas whose queues are level do not come down so far */
			lowest = k;
			break;
		}
		for (size_t i = 0; i < k; i++)
			p[i * n + k] /= out;
		for (size_t i = 0; i < k; i++) {
			double into = p[i * n + k];
			if (into <= 0)
				continue;
			for (size_t j = 0; j < k; j++)
				p[i * n + j] += into * p[k * n + j];
		}
	}
	share[lowest] = 1;
	for (size_t k = lowest + 1; k < n; k++) {
		for (size_t i = lowest; i < k; i++)
			share[k] += share[i] * p[i * n + k];
		sum += share[k];
		for (size_t i = lowest; sum > many && i <= k; i++)
			share[i] /= sum;
		sum = sum > many ? 1 : sum;
	}
	for (size_t k = 0; k < n; k++)
		share[k] /= sum;
}

/* What a request that starts in a batch of b (b whole or between) goes through. */
struct sums {
	double requests, wait, service;
};

static void add_request(const struct chain *chain, double weight, double wait_ns, double batch,
                        struct sums *sums, struct tl_fluid_mass *mass)
{
	const struct tl_fluid *fluid = chain->fluid;
	double most = (double)chain->limit;
	double members = batch < most ? batch : most;
	size_t low = (size_t)members;
	double part = members - (double)low;
	double service = fluid->batch_ns[low];

	if (part > 0)
		service += part * (fluid->batch_ns[low + 1] - service);
	sums->requests += weight;
	sums->wait += weight * wait_ns;
	sums->service += weight * service;
	if (fluid->scv <= 0) {
		tl_fluid_mass_add(mass, wait_ns + service, weight);
		return;
	}
	for (size_t i = 0; i < 32; i++) { /* the greatest of the members' draws */
		double rank = pow(((double)i + 0.5) / 32, 1 / members);
		size_t at = 0;
		for (size_t step = TL_FLUID_ATOMS / 2; step > 0; step /= 2)
			at += fluid->ranks[at + step] <= rank ? step : 0;
		tl_fluid_mass_add(mass, wait_ns + fluid->atoms_ns[at], weight / 32);
	}
}

/* Those that arrive while a batch from a queue of `queue` runs: at the middles of some
 * equal parts of it, behind what is left over and what came before them. */
static void add_arrivals(struct chain *chain, size_t queue, struct sums *sums,
                         struct tl_fluid_mass *mass)
{
	size_t batch = batch_of(chain, queue), left = queue - batch;
	double time = time_of(chain, batch), full = time_of(chain, chain->limit);
	/* the gap an arrival falls into is, of gaps of scv v, 1 + v times the mean */
	double biased = time * (1 + gap_scv(chain, batch));
	double early = 1; /* moments are those of u^early, u even on 0 … 1 */
	enum tl_routing routing = chain->fluid->model.routing;
	bool level = routing != TL_ROUTE_RANDOM && routing != TL_ROUTE_ROUND_ROBIN;
	if (routing == TL_ROUTE_SHORTEST_QUEUE)
		early = 2 * pow(chain->one_in, 0.3) - 1;
	double passed = (chain->one_in - 1) / chain->one_in / 2; /* of those to come, at least */

	for (size_t i = 0; i < MOMENTS; i++) {
		double gone = biased * pow(((double)i + 0.5) / MOMENTS, early);
		double ahead = biased - gone;
		double weight = chain->share[queue - 1] * chain->rate * time / (double)MOMENTS;

		count_law(chain, gone, 0, true);
		for (size_t k = 0; k <= chain->count_max; k++) {
			if (chain->law[k] < 1e-9)
				continue;
			size_t before = left + k, turns = before / chain->limit;
			double wait = ahead + (double)turns * full;
			/* with those that come after it, while it waits: one deviation more or
			 * less of them, where queues are not kept level */
			double own = (double)(before % chain->limit) + 1;
			double while_ns = chain->shared ? ahead : wait;
			double more = fmax(0, chain->rate * while_ns - passed);
			double deviation = level ? 0 : sqrt(more / chain->one_in);
			for (int side = -1; side <= 1; side += 2)
				add_request(chain, weight * chain->law[k] / 2, wait,
				            own + fmax(0, more + side * deviation), sums, mass);
		}
	}
}

static void answer_of(struct chain *chain, double load, struct tl_fluid_mass *mass,
                      struct tl_fluid_answer *out)
{
	const struct tl_request_model *model = &chain->fluid->model;
	struct sums sums = {0};
	double cycle = 0, busy = 0;

	for (size_t queue = 1; queue <= chain->states; queue++) {
		double share = chain->share[queue - 1];
		if (share < 1e-12)
			continue;
		add_arrivals(chain, queue, &sums, mass);
		add_request(chain, share * chain->empty[queue - 1], 0, 1, &sums, mass);
		busy += share * time_of(chain, batch_of(chain, queue));
		out->batch += share * (double)batch_of(chain, queue);
		cycle += share * chain->empty[queue - 1] / chain->rate;
	}
	out->wait_ns = sums.wait / sums.requests;
	out->service_ns = sums.service / sums.requests;
	out->busy = busy / (busy + cycle);
	if (model->queue_limit == TL_REQUESTS_UNBOUNDED)
		return;
	for (size_t queue = 1; queue <= chain->states; queue++) { /* those near the bound */
		double left = (double)(queue - batch_of(chain, queue)) / chain->servers;
		if (left + (double)chain->limit > (double)model->queue_limit)
			out->lost += chain->share[queue - 1] * load;
	}
}

void tl_fluid_solve_batch(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                          struct tl_fluid_mass *mass, struct tl_fluid_answer *out)
{
	enum tl_routing routing = fluid->model.routing;
	struct chain chain = {.fluid = fluid, .rate = rate, .servers = 1, .one_in = 1};

	chain.limit = fluid->model.batch_limit < TL_FLUID_BATCH_MAX ? fluid->model.batch_limit
	                                                            : TL_FLUID_BATCH_MAX;
	chain.states = chain.limit * BATCHES_KEPT;
	chain.shared = routing == TL_ROUTE_SHARED_QUEUE;
	if (chain.shared) {
		chain.servers = (double)replicas;
		chain.rate *= (double)replicas;
	}
	if (routing == TL_ROUTE_ROUND_ROBIN || routing == TL_ROUTE_SHORTEST_QUEUE)
		chain.one_in = (double)(replicas < 64 ? replicas : 64); /* as good as even */
	if (routing == TL_ROUTE_POWER_OF_TWO)
		chain.one_in = replicas < 2 ? 1 : 2;
	double most = chain.rate * time_of(&chain, chain.limit);
	double spread =
	    sqrt(most + most * most * fmax(gap_scv(&chain, chain.limit), gap_scv(&chain, 1)));
	chain.count_max = (size_t)(most + 8 * spread) + COUNTS_SPARE;
	size_t n = chain.states;
	chain.move = tl_calloc(n * n, sizeof *chain.move);
	chain.law = tl_calloc(chain.count_max + 1, sizeof *chain.law);
	chain.share = tl_calloc(n, sizeof *chain.share);
	chain.empty = tl_calloc(n, sizeof *chain.empty);
	fill_moves(&chain);
	solve(&chain);
	answer_of(&chain, rate / fluid->capacity, mass, out);
	free(chain.move);
	free(chain.law);
	free(chain.share);
	free(chain.empty);
}
