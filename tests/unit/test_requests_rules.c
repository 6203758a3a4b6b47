/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rules of the request engine one at a time, with numbers worked out by hand. */
#include "sim/work/requests.h"

#include <criterion/criterion.h>
#include <string.h>

enum { MOST = 256 };

static struct tl_request_left left[MOST];
static bool gone[MOST];

static void observe(void *context, const struct tl_request_left *how)
{
	(void)context;
	left[how->number] = *how;
	gone[how->number] = true;
}

/* Round-robin, one at a time, each takes 10 ns. */
static struct tl_request_model plain(void)
{
	return (struct tl_request_model){
	    .service = {.kind = TL_SERVICE_DETERMINISTIC, .mean_ns = 10},
	    .routing = TL_ROUTE_ROUND_ROBIN,
	    .batch_limit = 1,
	    .queue_limit = TL_REQUESTS_UNBOUNDED,
	    .timeout_ns = TL_NEVER,
	    .target_ns = TL_NEVER,
	};
}

static struct tl_requests *begin(const struct tl_request_model *model, uint64_t replicas)
{
	struct tl_requests *requests = tl_requests_create(model, 1, 0, 0);

	memset(gone, 0, sizeof gone);
	tl_requests_observe(requests, observe, NULL);
	for (uint64_t key = 1; key <= replicas; key++)
		tl_requests_replica_add(requests, 0, key, TL_PPB);
	return requests;
}

static void feed(struct tl_requests *requests, const int64_t *times_ns, size_t n)
{
	cr_assert_eq(tl_requests_feed(requests, times_ns, NULL, n, NULL), TL_OK);
}

static void served_at(uint64_t number, uint64_t replica, int64_t start_ns, int64_t leave_ns)
{
	unsigned long n = (unsigned long)number;

	cr_assert(gone[number], "request %lu is still in", n);
	cr_assert_eq(left[number].fate, TL_REQUEST_SERVED, "request %lu", n);
	cr_assert_eq(left[number].replica, replica, "request %lu at %lu", n,
	             (unsigned long)left[number].replica);
	cr_assert_eq(left[number].start_ns, start_ns, "request %lu starts at %ld", n,
	             (long)left[number].start_ns);
	cr_assert_eq(left[number].leave_ns, leave_ns, "request %lu leaves at %ld", n,
	             (long)left[number].leave_ns);
}

static void missed_at(uint64_t number, enum tl_request_fate fate, int64_t leave_ns)
{
	cr_assert(gone[number]);
	cr_assert_eq(left[number].fate, fate);
	cr_assert_eq(left[number].leave_ns, leave_ns);
}

#define FEED(...) feed(r, (int64_t[]){__VA_ARGS__}, sizeof((int64_t[]){__VA_ARGS__}) / 8)

Test(requests_rules, one_server_in_order)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;
	struct tl_request_window window;

	model.target_ns = 15;
	r = begin(&model, 1);
	FEED(0, 3, 13, 40);
	tl_requests_window(r, 30, &window);
	served_at(0, 1, 0, 10);
	served_at(1, 1, 10, 20);
	served_at(2, 1, 20, 30);
	cr_assert_not(gone[3]);
	cr_assert_eq(window.arrivals, 3);
	cr_assert_eq(window.served, 3);
	cr_assert_eq(window.attained, 1);
	cr_assert_eq((int64_t)window.wait_ns, 0 + 7 + 7);
	cr_assert_eq((int64_t)window.service_ns, 30);
	cr_assert_eq((int64_t)window.in_system_ns, 10 + 17 + 17);
	cr_assert_eq((int64_t)window.busy_ns, 30);
	cr_assert_eq((int64_t)window.present_ns, 30);
	cr_assert_eq(window.mean_wait_ns, 4);
	cr_assert_eq(window.p50_ns, 17);
	cr_assert_eq(window.p999_ns, 17);
	cr_assert_eq(window.latency->count, 3);
	tl_requests_window(r, 35, &window);
	cr_assert_eq(window.start_ns, 30);
	cr_assert_eq(window.arrivals + window.served + window.queued + window.in_service, 0);
	cr_assert_eq(window.mean_wait_ns, -1);
	cr_assert_eq(window.p99_ns, -1);
	tl_requests_window(r, 44, &window);
	cr_assert_eq(window.in_service, 1);
	cr_assert_eq((int64_t)window.busy_ns, 4);
	tl_requests_total(r, &window);
	cr_assert_eq(window.arrivals, 4);
	cr_assert_eq(window.served, 3);
	cr_assert_eq(window.start_ns, 0);
	cr_assert_eq(window.end_ns, 44);
	cr_assert_eq((int64_t)window.busy_ns, 34);
	cr_assert_eq(window.p50_ns, 17);
	cr_assert_eq(tl_requests_clock(r), 44);
	tl_requests_destroy(r);
}

Test(requests_rules, round_robin_takes_turns_and_keeps_them)
{
	struct tl_request_model model = plain();
	struct tl_requests *r = begin(&model, 3);

	FEED(0, 1, 2, 3, 4);
	tl_requests_replica_remove(r, 3, 1, TL_REPLICA_DRAIN); /* after request 3 came to it */
	tl_requests_replica_add(r, 4, 9, TL_PPB);              /* after request 4 went to 2 */
	FEED(5, 6);
	tl_requests_advance(r, 100);
	served_at(0, 1, 0, 10);
	served_at(3, 1, 10, 20);
	served_at(4, 2, 11, 21);
	served_at(5, 3, 12, 22);
	served_at(6, 9, 6, 16);
	tl_requests_destroy(r);
}

Test(requests_rules, an_end_beats_an_arrival_at_the_same_instant)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.queue_limit = 0;
	r = begin(&model, 1);
	FEED(0, 9, 10);
	tl_requests_advance(r, 30);
	missed_at(1, TL_REQUEST_DROPPED, 9);
	served_at(2, 1, 10, 20);
	tl_requests_destroy(r);
}

Test(requests_rules, a_batch_starts_full_or_when_its_first_is_due)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.batch_limit = 3;
	model.batch_delay_ns = 20;
	r = begin(&model, 1);
	FEED(0, 5, 6, 7, 50, 70);
	tl_requests_advance(r, 6);
	tl_requests_advance(r, 200);
	for (uint64_t i = 0; i < 3; i++)
		served_at(i, 1, 6, 16);
	served_at(3, 1, 27, 37);
	served_at(4, 1, 70, 80); /* due at 70, when 5 comes */
	served_at(5, 1, 70, 80);
	cr_assert_eq(left[5].batch, 2);
	tl_requests_destroy(r);
}

Test(requests_rules, an_affine_batch_takes_alpha_and_beta_each)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.service =
	    (struct tl_service_time){.kind = TL_SERVICE_AFFINE, .alpha_ns = 12, .beta_ns = 2};
	model.batch_limit = 8;
	r = begin(&model, 1);
	FEED(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
	tl_requests_advance(r, 100);
	served_at(0, 1, 0, 14); /* what is there */
	served_at(1, 1, 14, 42);
	served_at(8, 1, 14, 42);
	served_at(9, 1, 42, 56);
	tl_requests_destroy(r);
}

Test(requests_rules, the_bound_counts_who_waits)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;
	struct tl_request_window window;

	model.queue_limit = 2;
	r = begin(&model, 1);
	FEED(0, 1, 2, 3, 10, 11);
	tl_requests_window(r, 15, &window);
	missed_at(3, TL_REQUEST_DROPPED, 3);
	missed_at(5, TL_REQUEST_DROPPED, 11);
	cr_assert_not(gone[4]);
	cr_assert_eq(window.dropped, 2);
	cr_assert_eq(window.queued, 2);
	cr_assert_eq(window.in_service, 1);
	tl_requests_destroy(r);
}

Test(requests_rules, a_timeout_is_noticed_when_its_turn_comes)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;
	struct tl_request_window window;

	model.timeout_ns = 8;
	r = begin(&model, 1);
	FEED(0, 1, 2, 3);
	tl_requests_window(r, 50, &window);
	missed_at(1, TL_REQUEST_TIMED_OUT, 10); /* has waited 9 */
	served_at(2, 1, 10, 20);                /* 8 */
	missed_at(3, TL_REQUEST_TIMED_OUT, 20);
	cr_assert_eq((int64_t)window.timed_out_ns, 9 + 17);
	cr_assert_eq((int64_t)window.in_system_ns, 10 + 9 + 18 + 17);
	tl_requests_destroy(r);
}

Test(requests_rules, the_shortest_queue_is_taken_in_turn)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.routing = TL_ROUTE_SHORTEST_QUEUE;
	r = begin(&model, 3);
	FEED(0, 1, 2, 3, 11, 12, 30);
	tl_requests_advance(r, 100);
	served_at(0, 1, 0, 10);
	served_at(1, 2, 1, 11);
	served_at(2, 3, 2, 12);
	served_at(3, 1, 10, 20);
	served_at(4, 2, 11, 21); /* 2 is empty since this instant, 1 and 3 have one */
	served_at(5, 3, 12, 22);
	served_at(6, 1, 30, 40); /* all empty: after 3 comes 1 */
	tl_requests_destroy(r);
}

/* Loads are indexed 64 at a time, from a base that follows them. */
Test(requests_rules, the_shortest_queue_is_found_beyond_the_index)
{
	struct tl_request_model model = plain();
	int64_t times_ns[141] = {0};
	struct tl_requests *r;

	model.routing = TL_ROUTE_SHORTEST_QUEUE;
	r = begin(&model, 2);
	tl_requests_replica_speed(r, 0, 2, TL_PPB / 1000);
	times_ns[140] = 500;
	feed(r, times_ns, 141);
	tl_requests_advance(r, 0);
	cr_assert_eq(tl_requests_replica_load(r, 1), 70);
	cr_assert_eq(tl_requests_replica_load(r, 2), 70);
	tl_requests_advance(r, 500);
	cr_assert_eq(tl_requests_replica_load(r, 1), 70 - 50 + 1);
	cr_assert_eq(tl_requests_replica_load(r, 2), 70);
	tl_requests_destroy(r);
}

Test(requests_rules, power_of_two_never_takes_the_worse)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.routing = TL_ROUTE_POWER_OF_TWO;
	r = begin(&model, 2);
	FEED(0, 1, 2, 3);
	tl_requests_advance(r, 5); /* of two replicas both are looked at */
	cr_assert_eq(tl_requests_replica_load(r, 1), 2);
	cr_assert_eq(tl_requests_replica_load(r, 2), 2);
	tl_requests_destroy(r);
}

Test(requests_rules, a_shared_queue_waits_for_any)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.routing = TL_ROUTE_SHARED_QUEUE;
	model.queue_limit = 1; /* of the room: 2 */
	r = begin(&model, 2);
	tl_requests_replica_speed(r, 0, 1, TL_PPB / 10);
	FEED(0, 1, 2, 3, 4);
	tl_requests_advance(r, 200);
	served_at(0, 1, 0, 100);
	served_at(1, 2, 1, 11);
	served_at(2, 2, 11, 21);
	served_at(3, 2, 21, 31);
	missed_at(4, TL_REQUEST_DROPPED, 4);
	tl_requests_destroy(r);
}

Test(requests_rules, requests_wait_in_the_room_for_a_replica)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.queue_limit = 2;
	r = begin(&model, 0);
	FEED(5, 6, 7);
	tl_requests_replica_add(r, 100, 4, TL_PPB);
	tl_requests_advance(r, 200);
	served_at(0, 4, 100, 110);
	served_at(1, 4, 110, 120);
	missed_at(2, TL_REQUEST_DROPPED, 7);
	tl_requests_destroy(r);
}

Test(requests_rules, a_drained_replica_is_told_once)
{
	struct tl_request_model model = plain();
	struct tl_requests *r = begin(&model, 2);
	struct tl_request_window window;
	uint64_t key = 0;
	int64_t at_ns = 0;

	FEED(0, 1, 2);
	tl_requests_replica_remove(r, 4, 1, TL_REPLICA_DRAIN);
	cr_assert_not(tl_requests_replica_drained(r, &key, &at_ns));
	tl_requests_advance(r, 30);
	served_at(2, 1, 10, 20);
	cr_assert(tl_requests_replica_drained(r, &key, &at_ns));
	cr_assert_eq(key, 1);
	cr_assert_eq(at_ns, 20);
	cr_assert_not(tl_requests_replica_drained(r, &key, &at_ns));
	tl_requests_window(r, 40, &window);
	cr_assert_eq((int64_t)window.present_ns, 20 + 40);
	cr_assert_eq(window.accepting, 1);
	cr_assert_eq(window.draining, 0);
	tl_requests_replica_add(r, 40, 1, TL_PPB); /* the key is free again */
	tl_requests_destroy(r);
}

Test(requests_rules, a_killed_replica_sends_back_to_the_front)
{
	struct tl_request_model model = plain();
	struct tl_requests *r = begin(&model, 2);
	struct tl_request_window window;

	FEED(0, 1, 2, 3); /* 1: 0 and 2; 2: 1 and 3 */
	tl_requests_replica_remove(r, 5, 1, TL_REPLICA_KILL);
	tl_requests_window(r, 100, &window);
	served_at(1, 2, 1, 11);
	served_at(0, 2, 11, 21);
	served_at(2, 2, 21, 31);
	served_at(3, 2, 31, 41);
	cr_assert_eq(left[0].tries, 1);
	cr_assert_eq(left[3].tries, 0);
	cr_assert_eq(window.retried, 2);
	cr_assert_eq(window.arrivals, 4);
	cr_assert_eq((int64_t)window.busy_ns, 5 + 40);
	cr_assert_eq((int64_t)window.wait_ns, 11 + 0 + 19 + 28);
	tl_requests_destroy(r);
}

/* Those sent back last are ahead of those sent back before, though they are younger. */
Test(requests_rules, one_behind_the_head_may_time_out)
{
	struct tl_request_model model = plain();
	struct tl_requests *r;
	struct tl_request_window window;

	model.routing = TL_ROUTE_SHARED_QUEUE;
	model.service.mean_ns = 100;
	model.batch_limit = 3;
	model.timeout_ns = 20;
	r = begin(&model, 2);
	FEED(0, 15);
	tl_requests_replica_remove(r, 20, 1, TL_REPLICA_KILL);
	tl_requests_replica_remove(r, 21, 2, TL_REPLICA_KILL);
	tl_requests_replica_add(r, 30, 3, TL_PPB);
	tl_requests_window(r, 130, &window);
	missed_at(0, TL_REQUEST_TIMED_OUT, 30);
	served_at(1, 3, 30, 130);
	cr_assert_eq((int64_t)window.in_system_ns, 30 + 115);
	tl_requests_destroy(r);
}

Test(requests_rules, a_change_of_speed_times_the_rest_anew)
{
	struct tl_request_model model = plain();
	struct tl_requests *r = begin(&model, 1);

	FEED(0, 1);
	tl_requests_replica_speed(r, 4, 1, TL_PPB / 2); /* 6 left: 12 */
	tl_requests_replica_speed(r, 7, 1, TL_PPB);     /* 1 done (of 1.5): 5 left */
	tl_requests_advance(r, 100);
	served_at(0, 1, 0, 12);
	served_at(1, 1, 12, 22);
	tl_requests_destroy(r);
}

/* Prefill first, then steps that are the slower the more there are. */
Test(requests_rules, members_of_an_llm_leave_with_their_last_token)
{
	const struct tl_service_tokens tokens[] = {{10, 5}, {20, 3}, {1, 0}, {1, 1}};
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.service = (struct tl_service_time){.kind = TL_SERVICE_LLM,
	                                         .prefill_ns = 2,
	                                         .step_ns = 100,
	                                         .member_ns = 10,
	                                         .context_mean = 1,
	                                         .generated_mean = 1};
	model.batch_limit = 3;
	r = begin(&model, 1);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){0, 0, 0, 1}, tokens, 4, NULL), TL_OK);
	tl_requests_advance(r, 10000);
	/* Prefill to 62; three decode at 130 a step; no token counts as one. */
	served_at(2, 1, 0, 62 + 130);
	/* 3 joins then: prefill to 194, and its step ends with three members. */
	served_at(3, 1, 192, 194 + 130);
	/* 0 and 1 have had two steps: one more of the two, two of the last. */
	served_at(1, 1, 0, 324 + 120);
	served_at(0, 1, 0, 444 + 2 * 110);
	tl_requests_destroy(r);
}

/* Never without a member, over more steps than the count keeps. */
Test(requests_rules, an_llm_may_go_on_for_long)
{
	enum { CHAIN = 40 };
	const int64_t each_ns = TL_SERVICE_MAX_TOKENS, gap_ns = each_ns / 10 * 9;
	struct tl_request_model model = plain();
	struct tl_requests *r;

	model.service = (struct tl_service_time){
	    .kind = TL_SERVICE_LLM, .step_ns = 1, .context_mean = 1, .generated_mean = 1};
	model.batch_limit = 2;
	r = begin(&model, 1);
	for (int64_t i = 0; i < CHAIN; i++) {
		const struct tl_service_tokens tokens = {.generated = TL_SERVICE_MAX_TOKENS};
		const int64_t at_ns = i * gap_ns;

		cr_assert_eq(tl_requests_feed(r, &at_ns, &tokens, 1, NULL), TL_OK);
	}
	tl_requests_advance(r, CHAIN * each_ns);
	for (int64_t i = 0; i < CHAIN; i++)
		served_at((uint64_t)i, 1, i * gap_ns, i * gap_ns + each_ns);
	tl_requests_destroy(r);
}

static void note_service(void *context, const struct tl_request_left *how)
{
	int64_t *service_ns = context;

	cr_assert_eq(how->fate, TL_REQUEST_SERVED);
	service_ns[how->number] = how->leave_ns - how->start_ns;
}

/* Request n meets the same draw whatever the routing and however many replicas. */
Test(requests_rules, sizes_are_common_to_all_policies)
{
	int64_t times_ns[MOST], first[MOST] = {0}, service_ns[MOST];
	struct tl_request_model model = plain();

	model.service.kind = TL_SERVICE_EXPONENTIAL;
	model.service.mean_ns = 1000;
	for (int64_t i = 0; i < MOST; i++)
		times_ns[i] = 300 * i;
	for (int routing = TL_ROUTE_ROUND_ROBIN; routing <= TL_ROUTE_SHARED_QUEUE; routing++) {
		struct tl_requests *r;

		model.routing = (enum tl_routing)routing;
		r = begin(&model, 2 + (uint64_t)routing);
		tl_requests_observe(r, note_service, service_ns);
		feed(r, times_ns, MOST);
		tl_requests_replica_remove(r, 9000, 1, TL_REPLICA_KILL);
		tl_requests_advance(r, 1000 * 1000);
		tl_requests_destroy(r);
		if (routing == TL_ROUTE_ROUND_ROBIN)
			memcpy(first, service_ns, sizeof first);
		cr_assert_arr_eq(first, service_ns, sizeof first, "routing %d", routing);
	}
	cr_assert_neq(first[0], first[1]);
}
