/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests one at a time: waits in equilibrium by routing. And LLMs, where nobody waits. */
#include "sim/work/fluid_core.h"

#include <math.h>

enum { LEVELS = 48, WAIT_PIECES = 2 * LEVELS, TOKEN_RANKS = 128, SPREADS = 5 };

double tl_erlang_b(uint32_t servers, double offered)
{
	double inverse = 1; /* of the probability of loss at k servers */

	if (offered <= 0)
		return servers == 0 ? 1 : 0;
	for (uint32_t k = 1; k <= servers; k++)
		inverse = 1 + inverse * ((double)k / offered);
	return 1 / inverse;
}

double tl_erlang_c(uint32_t servers, double offered)
{
	if (offered >= (double)servers)
		return 1;
	double blocked = tl_erlang_b(servers, offered), load = offered / (double)servers;
	return blocked / (1 - load * (1 - blocked));
}

/* A wait: 0, or above 0 with probability `any` and this mean over all. scv: of those
 * above 0; negative: Whitt's. */
struct wait {
	double any, mean_ns, scv;
};

/* M/D/c against half of M/M/c (Cosmetatos); 1 at c = 1. */
static double steadiness(double c, double load)
{
	return 1 + (1 - load) * (c - 1) * (sqrt(4 + 5 * c) - 2) / (16 * load * c);
}

static struct wait shared_wait(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	double c = (double)replicas;
	struct wait wait = {.any = tl_erlang_c(replicas, c * load), .scv = -1};
	double exponential = wait.any * fluid->mean_ns / (c * (1 - load));
	double steady = exponential / 2 * steadiness(c, load);

	if (steady > exponential)
		steady = exponential;
	if (fluid->scv <= 1)
		wait.mean_ns = fluid->scv * exponential + (1 - fluid->scv) * steady;
	else
		wait.mean_ns = exponential * (1 + fluid->scv) / 2;
	return wait;
}

/* GI/G/1, arrivals of scv ca ≤ 1. */
static struct wait separate_wait(const struct tl_fluid *fluid, double load, double ca)
{
	double cs = fluid->scv, off = 1 - ca;
	struct wait wait = {.scv = -1};
	double shrink = ca + cs > 0 ? exp(-2 * (1 - load) * off * off / (3 * load * (ca + cs))) : 0;

	wait.mean_ns = load / (1 - load) * (ca + cs) / 2 * shrink * fluid->mean_ns;
	double bend = (1 + ca + load * cs) / (1 + load * (cs - 1) + load * load * (4 * ca + cs));
	wait.any = load - off * load * (1 - load) * bend;
	if (wait.any < 0)
		wait.any = 0;
	return wait;
}

/* With fixed service times a round is one FIFO queue, M/D/c; for steady ones the mean of
 * what GI/G/1 tells and of the line between M/D/c and exponential times. */
static struct wait round_robin_wait(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	struct wait wait = separate_wait(fluid, load, 1 / (double)replicas);
	struct tl_fluid other = {.mean_ns = fluid->mean_ns, .scv = 0};

	if (fluid->scv >= 1 || replicas == 1)
		return wait;
	struct wait fixed = shared_wait(&other, replicas, load);
	other.scv = 1;
	struct wait exponential = separate_wait(&other, load, 1 / (double)replicas);
	if (fluid->scv <= 0)
		return fixed;
	double line = fixed.mean_ns + fluid->scv * (exponential.mean_ns - fixed.mean_ns);
	wait.mean_ns = (wait.mean_ns + line) / 2;
	return wait;
}

/* scv of what is left of a service, and then whole services of this mean number and
 * variance. */
static double left_scv(const struct tl_fluid *fluid, double more, double variance)
{
	double left = (1 + fluid->scv) / 2, mean = left + more;
	double spread = fluid->cube / 3 - left * left + variance + more * fluid->scv;

	return spread / (mean * mean);
}

/* c queues are kept level: who finds all c busy joins a queue that has one request, or two
 * where 2c are there, and so on, and waits for whole servers; the mean of what is left
 * of a service is (1 + scv) / 2 of one. With fixed times it is one FIFO queue again. */
static struct wait shortest_wait(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	double c = (double)replicas, round = pow(load, c), turns = round / (1 - round);
	struct wait wait = {.any = tl_erlang_c(replicas, c * load)};
	struct tl_fluid fixed = {.mean_ns = fluid->mean_ns, .scv = 0};

	if (replicas == 1)
		return separate_wait(fluid, load, 1);
	if (fluid->scv >= 1) {
		wait.mean_ns = wait.any * (1 + fluid->scv) / 2 * fluid->mean_ns * (1 + turns);
	} else {
		double least = shared_wait(&fixed, replicas, load).mean_ns;
		wait.mean_ns = wait.any * fluid->mean_ns * (1 + turns);
		wait.mean_ns = least + fluid->scv * (wait.mean_ns - least);
	}
	wait.scv = left_scv(fluid, turns, round / ((1 - round) * (1 - round)));
	return wait;
}

static struct wait two_choices_wait(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	struct wait level = shortest_wait(fluid, replicas, load);
	struct wait wait = {.any = load * load};
	double left = (1 + fluid->scv) / 2, more = 0, square = 0, power = 1;

	if (replicas <= 2)
		return level;
	for (double k = 2; power > 1e-12 && k < 40; k++) { /* of those that wait */
		power = pow(load, 2 * (pow(2, k) - 1) - 2);
		more += power;
		square += (2 * k - 3) * power;
	}
	/* longer queues are rarer with steadier times */
	wait.mean_ns = wait.any * left * (1 + more) * fluid->mean_ns;
	wait.scv = left_scv(fluid, left * more, left * square - left * more * left * more);
	/* the limit is of many; at two choices of two it is the level one */
	double few = 2 / (double)replicas;
	wait.any += few * (level.any - wait.any);
	wait.mean_ns += few * (level.mean_ns - wait.mean_ns);
	wait.scv += few * (level.scv - wait.scv);
	return wait;
}

static struct wait wait_of(const struct tl_fluid *fluid, uint32_t replicas, double load)
{
	switch (fluid->model.routing) {
	case TL_ROUTE_SHARED_QUEUE:
		return shared_wait(fluid, replicas, load);
	case TL_ROUTE_SHORTEST_QUEUE:
		return shortest_wait(fluid, replicas, load);
	case TL_ROUTE_POWER_OF_TWO:
		return two_choices_wait(fluid, replicas, load);
	case TL_ROUTE_ROUND_ROBIN:
		return round_robin_wait(fluid, replicas, load);
	case TL_ROUTE_RANDOM:
	default:
		return separate_wait(fluid, load, 1);
	}
}

/* Waits above 0 as equally likely pieces of ever smaller probability, by mean and scv
 * (by default Whitt's, from the third moment of service): exponential; two exponentials of balanced
 * means above scv 1; below, a uniform part (of a service) and an exponential one. */
static void fill_pieces(const struct tl_fluid *fluid, const struct wait *wait, double load,
                        double *pieces, double *weights)
{
	double mean = wait->any > 0 ? wait->mean_ns / wait->any : 0, above = 1;
	double ratio = pow(1e-6, 1.0 / LEVELS), half = 1 + fluid->scv;
	double scv = 2 * load - 1 + 4 * (1 - load) * fluid->cube / (3 * half * half);
	if (wait->scv >= 0)
		scv = wait->scv;
	double more = scv > 1 ? (1 + sqrt((scv - 1) / (scv + 1))) / 2 : 0.5;
	double flat = scv < 1 ? 1.5 * mean * (1 - sqrt(fmax(0, 1 - (1 - scv) * 4 / 3))) : 0;
	double rest = mean - flat / 2;

	for (int i = 0; i < LEVELS; i++) {
		double next = i + 1 < LEVELS ? above * ratio : 0;
		double level = -log((above + next) / 2), weight = (above - next) * wait->any;
		for (int side = 0; side < 2; side++) {
			int at = 2 * i + side;
			double share = side == 0 ? more : 1 - more;
			weights[at] = weight * share;
			if (scv > 1)
				pieces[at] = level * mean / (2 * share);
			else
				pieces[at] = level * rest + flat * (side == 0 ? 0.25 : 0.75);
		}
		above = next;
	}
}

/* Service times alone, and with each piece of the wait. */
static void add_sums(const struct tl_fluid *fluid, const struct wait *wait, double load,
                     struct tl_fluid_mass *mass)
{
	double pieces[WAIT_PIECES], weights[WAIT_PIECES];

	fill_pieces(fluid, wait, load, pieces, weights);
	for (int i = 0; i < TL_FLUID_ATOMS; i++) {
		double own = fluid->weights[i];
		tl_fluid_mass_add(mass, fluid->atoms_ns[i], own * (1 - wait->any));
		for (int j = 0; j < WAIT_PIECES; j++)
			tl_fluid_mass_add(mass, fluid->atoms_ns[i] + pieces[j], own * weights[j]);
	}
}

static double beyond(const struct wait *wait, double limit_ns)
{
	if (wait->any <= 0 || wait->mean_ns <= 0)
		return 0;
	return wait->any * exp(-limit_ns * wait->any / wait->mean_ns);
}

void tl_fluid_solve_single(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                           struct tl_fluid_mass *mass, struct tl_fluid_answer *out)
{
	const struct tl_request_model *model = &fluid->model;
	double load = rate * fluid->mean_ns;
	struct wait wait = wait_of(fluid, replicas, load);

	out->wait_ns = wait.mean_ns;
	out->service_ns = fluid->mean_ns;
	out->batch = 1;
	out->busy = load;
	if (model->queue_limit != TL_REQUESTS_UNBOUNDED) {
		/* as M/M/1/K from M/M/1: what would wait for more than K services */
		double tail = beyond(&wait, (double)model->queue_limit * fluid->mean_ns);
		out->lost = tail * (1 - load) / (1 - load * tail);
		if (model->queue_limit == 0 && model->routing == TL_ROUTE_SHARED_QUEUE)
			out->lost = tl_erlang_b(replicas, load * (double)replicas);
	}
	add_sums(fluid, &wait, load, mass);
}

/* How much of the fluctuation of a replica's own arrivals a routing lets through. */
static double unevenness(enum tl_routing routing, uint32_t replicas)
{
	if (routing == TL_ROUTE_RANDOM)
		return 1;
	if (routing == TL_ROUTE_ROUND_ROBIN)
		return fmax(0.5, 1 / sqrt((double)replicas));
	return 1 / sqrt((double)replicas);
}

void tl_fluid_solve_llm(const struct tl_fluid *fluid, uint32_t replicas, double rate,
                        struct tl_fluid_mass *mass, struct tl_fluid_answer *out)
{
	/* of a normal: the middles of five equal parts */
	static const double spread[SPREADS] = {-1.4, -0.532, 0, 0.532, 1.4};
	const struct tl_service_time *service = &fluid->model.service;
	double prefill = (double)service->prefill_ns * service->context_mean;
	double step = (double)service->step_ns, member = (double)service->member_ns;
	double generated = service->generated_mean;
	double stalled = rate * prefill; /* share of time in which nobody decodes */
	double left = fmax(1 - stalled - rate * member * generated, 1e-6);
	double time = (prefill + step * generated) / left;
	double members = rate * time, decode = time - prefill / (1 - stalled);
	struct tl_service_time unit = {
	    .kind = TL_SERVICE_LOGNORMAL, .mean_ns = TL_NS_PER_MS, .cv = service->tokens_cv};

	out->service_ns = time;
	out->batch = 1; /* each leaves by itself */
	out->busy = 1 - exp(-members);
	/* places run out where a Poisson number of members exceeds the limit */
	double limit = (double)fluid->model.batch_limit;
	out->full = 0.5 * erfc((limit - members) / sqrt(2 * fmax(members, 1)));
	/* prefills met, and members met, differ from request to request */
	double stalls = prefill * sqrt(members) / (1 - stalled);
	double company = generated * member * sqrt(members);
	double uneven = unevenness(fluid->model.routing, replicas) * (stalls + company);
	for (int i = 0; i < TOKEN_RANKS; i++) { /* one log-normal against the other */
		double p = ((double)i + 0.5) / TOKEN_RANKS;
		int other = i * 53 % TOKEN_RANKS; /* 53 and the ranks share no factor */
		double q = ((double)other + 0.5) / TOKEN_RANKS;
		double tokens = 1, context = 1;
		if (service->tokens_cv > 0) {
			tokens = tl_fluid_service_quantile(&unit, p) * 1e-6;
			context = tl_fluid_service_quantile(&unit, q) * 1e-6;
		}
		double alone = prefill * context / (1 - stalled) + decode * tokens;
		for (int j = 0; j < SPREADS; j++)
			tl_fluid_mass_add(mass, fmax(0, alone + spread[j] * uneven * sqrt(tokens)),
			                  1.0 / (TOKEN_RANKS * SPREADS));
	}
}
