/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the request engine refuses, and what it asserts of its caller. */
#include "sim/work/requests.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

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

static struct tl_requests *begin(void)
{
	struct tl_request_model model = plain();
	struct tl_requests *requests = tl_requests_create(&model, 1, 0, 0);

	tl_requests_replica_add(requests, 0, 1, TL_PPB);
	return requests;
}

Test(requests_bad, bad_arrivals_are_refused_whole)
{
	struct tl_requests *r = begin();
	struct tl_service_tokens many = {.context = TL_SERVICE_MAX_TOKENS + 1};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_request_window window;

	tl_requests_advance(r, 10);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){12, 11}, NULL, 2, &error), TL_E_DATA);
	cr_assert(strstr(error.message, "arrival 1 of 2: got 11 ns, wanted at least 12"), "%s",
	          error.message);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){9}, NULL, 1, &error), TL_E_DATA);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){INT64_MAX}, NULL, 1, &error), TL_E_DATA);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){12}, &many, 1, &error), TL_E_DATA);
	cr_assert(strstr(error.message, "tokens"), "%s", error.message);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){12}, NULL, 1, &error), TL_OK);
	cr_assert_eq(tl_requests_feed(r, (int64_t[]){11}, NULL, 1, &error), TL_E_DATA);
	cr_assert_eq(tl_requests_feed(r, NULL, NULL, 0, &error), TL_OK);
	tl_requests_window(r, 100, &window);
	cr_assert_eq(window.arrivals, 1);
	tl_requests_destroy(r);
	tl_requests_destroy(NULL);
}

#define REFUSED(change, what)                                                                      \
	do {                                                                                       \
		struct tl_request_model wrong = plain();                                           \
		struct tl_error error = TL_ERROR_INIT;                                             \
		wrong.change;                                                                      \
		cr_assert_eq(tl_request_model_check(&wrong, &error), TL_E_CONFIG);                 \
		cr_assert(strstr(error.message, what) && strstr(error.message, "wanted"), "%s",    \
		          error.message);                                                          \
	} while (0)

Test(requests_bad, impossible_models_are_refused)
{
	struct tl_request_model model = plain();

	cr_assert_eq(tl_request_model_check(&model, NULL), TL_OK);
	REFUSED(service.mean_ns = 0, "mean");
	REFUSED(routing = (enum tl_routing)5, "routing");
	REFUSED(batch_limit = 0, "batch limit");
	REFUSED(batch_limit = 4097, "batch limit");
	REFUSED(batch_delay_ns = -1, "batching delay");
	REFUSED(timeout_ns = -1, "timeout");
	REFUSED(target_ns = -1, "target");
	model.batch_delay_ns = 5;
	model.queue_limit = 0;
	cr_assert_eq(tl_request_model_check(&model, NULL), TL_E_CONFIG);
	model.queue_limit = 1;
	cr_assert_eq(tl_request_model_check(&model, NULL), TL_OK);
	model.timeout_ns = 4;
	cr_assert_eq(tl_request_model_check(&model, NULL), TL_E_CONFIG);
	model.timeout_ns = TL_NEVER;
	model.service = (struct tl_service_time){
	    .kind = TL_SERVICE_LLM, .step_ns = 1, .context_mean = 1, .generated_mean = 1};
	cr_assert_eq(tl_request_model_check(&model, NULL), TL_E_CONFIG);
}

#define OUR_ERROR(name, what)                                                                      \
	Test(requests_bad, name, .signal = SIGABRT)                                                \
	{                                                                                          \
		struct tl_requests *r = begin();                                                   \
		tl_requests_advance(r, 10);                                                        \
		what;                                                                              \
	}

OUR_ERROR(time_does_not_run_back, tl_requests_advance(r, 9))
OUR_ERROR(a_key_is_of_one_replica, tl_requests_replica_add(r, 10, 1, TL_PPB))
OUR_ERROR(an_unknown_key_is_not_removed, tl_requests_replica_remove(r, 10, 2, TL_REPLICA_KILL))
OUR_ERROR(a_speed_is_above_zero, tl_requests_replica_speed(r, 10, 1, 0))
