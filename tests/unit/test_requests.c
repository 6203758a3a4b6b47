/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The request engine against a plain second implementation, request by request and sum by
 * sum, on small random cases that are full of ties; cut at random instants.
 */
#include "tests/unit/requests_reference.h"

#include "sim/base/arena.h"
#include "sim/base/rng.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct ref_case given;
static struct ref_result wanted, got;
static const int64_t empirical[] = {1, 5, 5, 9, 40};

static uint64_t pick(struct tl_rng *rng, uint64_t n)
{
	return tl_rng_below(rng, n);
}

static void draw_service(struct tl_rng *rng, struct tl_service_time *service)
{
	*service = (struct tl_service_time){
	    .kind = (enum tl_service_kind)pick(rng, 7),
	    .alpha_ns = (int64_t)pick(rng, 20),
	    .beta_ns = 1 + (int64_t)pick(rng, 5),
	    .mean_ns = 1 + (int64_t)pick(rng, 40),
	    .cv = 0.3 + tl_rng_uniform(rng) * 2,
	    .values_ns = empirical,
	    .value_count = sizeof empirical / sizeof empirical[0],
	    .prefill_ns = (int64_t)pick(rng, 4),
	    .step_ns = (int64_t)pick(rng, 6),
	    .member_ns = 1 + (int64_t)pick(rng, 3),
	    .context_mean = 3,
	    .generated_mean = 4,
	};
}

static void draw_model(struct tl_rng *rng, struct tl_request_model *model)
{
	static const uint32_t batches[] = {1, 1, 2, 3, 8};
	static const uint32_t bounds[] = {0, 1, 3, 10, TL_REQUESTS_UNBOUNDED};

	draw_service(rng, &model->service);
	model->routing = (enum tl_routing)pick(rng, 5);
	model->batch_limit = batches[pick(rng, 5)];
	model->queue_limit = bounds[pick(rng, 5)];
	model->batch_delay_ns = pick(rng, 2) ? 0 : (int64_t)pick(rng, 30);
	if (model->service.kind == TL_SERVICE_LLM)
		model->batch_delay_ns = 0;
	if (model->batch_delay_ns > 0 && model->queue_limit == 0)
		model->queue_limit = 2;
	model->timeout_ns =
	    pick(rng, 2) ? TL_NEVER : model->batch_delay_ns + (int64_t)pick(rng, 80);
	model->target_ns = (int64_t)pick(rng, 100);
}

static int compare_acts(const void *a, const void *b)
{
	const struct ref_act *x = a, *y = b;

	return (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns);
}

/* Replicas from the start in most cases; wide: more than a word of them. In some cases they
 * come and are killed all the time. */
static void draw_acts(struct tl_rng *rng, int64_t horizon_ns, bool wide)
{
	uint64_t replicas = wide ? 60 + pick(rng, 70) : pick(rng, 7);
	uint64_t keys = replicas, changes = pick(rng, 3) ? pick(rng, 24) : 0;
	bool storm = pick(rng, 4) == 0;
	size_t n = 0;

	for (uint64_t key = 0; key < replicas; key++)
		given.acts[n++] = (struct ref_act){
		    .what = REF_ADD,
		    .key = key,
		    .speed_ppb = pick(rng, 2) ? TL_PPB : 1 + (int64_t)pick(rng, 2 * TL_PPB)};
	for (uint64_t i = 0; i < changes; i++) {
		static const enum ref_do what[] = {REF_ADD,   REF_DRAIN, REF_KILL,
		                                   REF_SPEED, REF_SPEED, REF_WINDOW};
		struct ref_act *act = &given.acts[n++];

		act->at_ns = (int64_t)pick(rng, (uint64_t)horizon_ns);
		act->what = what[pick(rng, storm ? 3 : 6)];
		act->key = act->what == REF_ADD ? keys++ : pick(rng, keys + 1);
		act->speed_ppb = pick(rng, 3) ? 1 + (int64_t)pick(rng, 2 * TL_PPB) : TL_PPB;
	}
	qsort(given.acts, n, sizeof given.acts[0], compare_acts);
	given.acts[n] = (struct ref_act){.what = REF_WINDOW, .at_ns = horizon_ns};
	given.act_count = n + 1;
}

static void draw_case(uint64_t number)
{
	struct tl_rng rng;
	int64_t now_ns = 0;
	bool wide = number % 16 == 0, bursts;
	uint64_t gap;

	tl_rng_init(&rng, 11, TL_STREAM_TEST, number);
	memset(&given, 0, sizeof given);
	given.seed = tl_rng_u64(&rng);
	given.service = (uint32_t)pick(&rng, 5);
	draw_model(&rng, &given.model);
	given.request_count = pick(&rng, wide || pick(&rng, 4) == 0 ? REF_REQUESTS + 1 : 60);
	gap = 1 + pick(&rng, wide ? 3 : 40);
	bursts = pick(&rng, 4) == 0;
	for (size_t i = 0; i < given.request_count; i++) {
		if (!bursts)
			now_ns += (int64_t)pick(&rng, gap);
		else if (pick(&rng, 32) == 0)
			now_ns += (int64_t)pick(&rng, 400);
		given.arrivals_ns[i] = now_ns;
		given.tokens[i] = (struct tl_service_tokens){.context = (uint32_t)pick(&rng, 8),
		                                             .generated = (uint32_t)pick(&rng, 8)};
	}
	draw_acts(&rng, now_ns + 1 + (int64_t)pick(&rng, 400), wide);
}

static void observe(void *context, const struct tl_request_left *left)
{
	struct ref_result *result = context;

	cr_assert_not(result->left[left->number], "request %lu leaves twice",
	              (unsigned long)left->number);
	result->left[left->number] = true;
	result->how[left->number] = *left;
}

struct drive {
	struct tl_requests *requests;
	struct tl_rng rng; /* where to cut */
	size_t fed;
	bool gone[REF_REPLICAS], known[REF_REPLICAS], draining[REF_REPLICAS];
};

/* Advances in some steps to the instant, feeding no more than must be. */
static void drive_to(struct drive *drive, int64_t to_ns)
{
	struct tl_requests *requests = drive->requests;

	for (;;) {
		int64_t now_ns = tl_requests_clock(requests);
		int64_t step_ns = (int64_t)pick(&drive->rng, (uint64_t)(to_ns - now_ns) + 1);
		int64_t next_ns = pick(&drive->rng, 3) ? to_ns : now_ns + step_ns;
		size_t n = 0;

		while (drive->fed + n < given.request_count &&
		       given.arrivals_ns[drive->fed + n] <= next_ns)
			n++;
		if (drive->fed + n < given.request_count)
			n += pick(&drive->rng, given.request_count - drive->fed - n + 1);
		cr_assert_eq(tl_requests_feed(requests, given.arrivals_ns + drive->fed,
		                              given.tokens + drive->fed, n, NULL),
		             TL_OK);
		drive->fed += n;
		tl_requests_advance(requests, next_ns);
		if (next_ns == to_ns)
			return;
	}
}

static void drive_act(struct drive *drive, const struct ref_act *act)
{
	struct tl_requests *requests = drive->requests;
	bool there = drive->known[act->key] && !drive->gone[act->key];

	if (act->what == REF_WINDOW) {
		tl_requests_window(requests, act->at_ns, &got.windows[got.window_count++]);
	} else if (act->what == REF_ADD) {
		tl_requests_replica_add(requests, act->at_ns, act->key, act->speed_ppb);
		drive->known[act->key] = true;
	} else if (there && act->what == REF_SPEED) {
		tl_requests_replica_speed(requests, act->at_ns, act->key, act->speed_ppb);
	} else if (there && act->what == REF_KILL) {
		tl_requests_replica_remove(requests, act->at_ns, act->key, TL_REPLICA_KILL);
		drive->gone[act->key] = true;
	} else if (there && !drive->draining[act->key]) {
		tl_requests_replica_remove(requests, act->at_ns, act->key, TL_REPLICA_DRAIN);
		drive->draining[act->key] = true;
	}
}

static void drive_case(uint64_t cut)
{
	static struct drive drive;

	memset(&got, 0, sizeof got);
	memset(&drive, 0, sizeof drive);
	for (size_t i = 0; i < REF_REPLICAS; i++)
		got.drained_ns[i] = TL_NONE;
	tl_rng_init(&drive.rng, 12, TL_STREAM_TEST, cut);
	drive.requests = tl_requests_create(&given.model, given.seed, given.service, 0);
	tl_requests_observe(drive.requests, observe, &got);
	for (size_t i = 0; i < given.act_count; i++) {
		uint64_t key;
		int64_t at_ns;

		drive_to(&drive, given.acts[i].at_ns);
		while (tl_requests_replica_drained(drive.requests, &key, &at_ns)) {
			got.drained_ns[key] = at_ns;
			drive.gone[key] = true;
		}
		drive_act(&drive, &given.acts[i]);
	}
	tl_requests_destroy(drive.requests);
}

#define SAME(name)                                                                                 \
	cr_assert(a->name == b->name, "case %lu, %s %zu: " #name ": wanted %ld, got %ld",          \
	          (unsigned long)number, what, i, (long)a->name, (long)b->name)

static void compare_windows(uint64_t number)
{
	const char *what = "window";

	cr_assert_eq(wanted.window_count, got.window_count);
	for (size_t i = 0; i < got.window_count; i++) {
		const struct tl_request_window *a = &wanted.windows[i], *b = &got.windows[i];

		SAME(start_ns);
		SAME(end_ns);
		SAME(arrivals);
		SAME(served);
		SAME(dropped);
		SAME(timed_out);
		SAME(attained);
		SAME(retried);
		SAME(batches);
		SAME(queued);
		SAME(in_service);
		SAME(accepting);
		SAME(draining);
		SAME(wait_ns);
		SAME(service_ns);
		SAME(timed_out_ns);
		SAME(in_system_ns);
		SAME(busy_ns);
		SAME(present_ns);
	}
}

static void compare_requests(uint64_t number)
{
	const char *what = "request";

	for (size_t i = 0; i < given.request_count; i++) {
		const struct tl_request_left *a = &wanted.how[i], *b = &got.how[i];

		cr_assert_eq(wanted.left[i], got.left[i], "case %lu, request %zu: left %d, got %d",
		             (unsigned long)number, i, wanted.left[i], got.left[i]);
		SAME(number);
		SAME(arrival_ns);
		SAME(fate);
		SAME(start_ns);
		SAME(leave_ns);
		SAME(replica);
		SAME(batch);
		SAME(tries);
	}
}

/* Little's law in integers: the integral is what those that left have had, and the rest. */
static void check_little(uint64_t number)
{
	int64_t end_ns = given.acts[given.act_count - 1].at_ns;
	tl_u128 integral = 0, stays = 0;

	for (size_t i = 0; i < got.window_count; i++) {
		integral += got.windows[i].in_system_ns;
		stays += got.windows[i].wait_ns + got.windows[i].service_ns +
		         got.windows[i].timed_out_ns;
	}
	for (size_t i = 0; i < given.request_count; i++)
		if (!got.left[i])
			stays += (uint64_t)(end_ns - given.arrivals_ns[i]);
	cr_assert(integral == stays, "case %lu", (unsigned long)number);
}

static void check_cases(uint64_t from, uint64_t to)
{
	for (uint64_t number = from; number < to; number++) {
		draw_case(number);
		cr_assert_eq(tl_request_model_check(&given.model, NULL), TL_OK);
		ref_run(&given, &wanted);
		for (uint64_t cut = 0; cut < 2; cut++) {
			drive_case(2 * number + cut);
			compare_requests(number);
			compare_windows(number);
			for (size_t i = 0; i < REF_REPLICAS; i++)
				cr_assert(got.drained_ns[i] == wanted.drained_ns[i] ||
				              got.drained_ns[i] == TL_NONE,
				          "case %lu, replica %zu", (unsigned long)number, i);
			check_little(number);
		}
	}
}

Test(requests, agrees_with_the_reference)
{
	check_cases(0, 4000);
}
