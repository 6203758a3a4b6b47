/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Traffic from recordings: the recording itself, scaled, repeated, under a surge. */
#include "tests/unit/test_trace_util.h"
#include "workloads/arrivals.h"

#include <math.h>

static struct tl_request_trace *read_text(const char *text)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const char *path = write_text_file("arrivals", text);

	cr_assert_eq(tl_request_trace_open(path, TL_REQUESTS_AUTO, false, &trace, &error), TL_OK,
	             "%s", error.message);
	(void)unlink(path);
	return trace;
}

/* 60 requests, one a second and two in each tenth. */
static struct tl_request_trace *regular(void)
{
	char text[8192];
	size_t used = 0;

	for (int i = 0; i < 60; i++) {
		int repeats = i % 10 == 0 ? 2 : 1;
		for (int j = 0; j < repeats; j++)
			used += (size_t)snprintf(text + used, sizeof text - used,
			                         "{\"timestamp\": %d, \"input_length\": %d, "
			                         "\"output_length\": %d}\n",
			                         i * 1000, i + 1, j);
	}
	return read_text(text);
}

static struct tl_arrival_spec spec_of(const struct tl_request_trace *trace)
{
	struct tl_arrival_spec spec;

	tl_arrival_spec_default(&spec);
	spec.process = TL_ARRIVALS_TRACE;
	spec.trace = trace;
	return spec;
}

static struct tl_arrivals *make(const struct tl_arrival_spec *spec)
{
	struct tl_arrivals *arrivals = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_arrivals_create(spec, 77, 4, &arrivals, &error), TL_OK, "%s",
	             error.message);
	return arrivals;
}

static uint64_t total(struct tl_arrivals *arrivals, int64_t from, int64_t to)
{
	struct tl_arrival_block block = {0};
	uint64_t sum = 0;

	for (int64_t i = from; i < to; i++) {
		tl_arrivals_window(arrivals, i, &block);
		cr_assert_eq(tl_arrivals_count(arrivals, i), block.count);
		for (size_t j = 0; j < block.count; j++) {
			cr_assert(block.times_ns[j] >= block.start_ns &&
			          block.times_ns[j] < block.end_ns);
			cr_assert(j == 0 || block.times_ns[j - 1] <= block.times_ns[j]);
		}
		sum += block.count;
	}
	tl_arrival_block_fini(&block);
	return sum;
}

Test(arrivals_file, the_recording_itself)
{
	struct tl_request_trace *trace = regular();
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrival_block block = {0};

	spec.span_ns = TL_NS_PER_MIN;
	struct tl_arrivals *arrivals = make(&spec);
	tl_arrivals_window(arrivals, 2, &block);
	cr_assert(block.has_tokens);
	cr_assert_eq(block.count, 6);
	cr_expect_eq(block.times_ns[0], 10 * TL_NS_PER_S);
	cr_expect_eq(block.times_ns[1], 10 * TL_NS_PER_S);
	cr_expect_eq(block.context_tokens[2], 12);
	cr_expect_eq(block.generated_tokens[1], 1);
	cr_expect_eq(total(arrivals, 0, 12), 66);
	tl_arrivals_window(arrivals, 14, &block);
	cr_assert_eq(block.count, 6, "and over again");
	cr_expect_eq(block.times_ns[0], 70 * TL_NS_PER_S);
	cr_expect_eq(total(arrivals, 0, 120), 660);
	cr_expect_float_eq(tl_arrivals_rate(arrivals, 30 * TL_NS_PER_S), 1.1, 1e-12);
	tl_arrivals_destroy(arrivals);
	spec.repeat = false;
	arrivals = make(&spec);
	cr_expect_eq(total(arrivals, 0, 120), 66);
	cr_expect_float_eq(tl_arrivals_rate(arrivals, 70 * TL_NS_PER_S), 0, 1e-12);
	tl_arrivals_destroy(arrivals);
	tl_arrival_block_fini(&block);
	tl_request_trace_close(trace);
}

Test(arrivals_file, scaled)
{
	struct tl_request_trace *trace = regular();
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrival_block one = {0}, three = {0};

	spec.span_ns = TL_NS_PER_MIN;
	struct tl_arrivals *plain = make(&spec);
	spec.scale = 3;
	struct tl_arrivals *tripled = make(&spec);
	cr_expect_eq(total(tripled, 0, 12), 3 * 66, "copies stay within the span");
	for (int64_t i = 0; i < 24; i++) { /* the recording is among them */
		tl_arrivals_window(plain, i, &one);
		tl_arrivals_window(tripled, i, &three);
		size_t at = 0;
		for (size_t j = 0; j < one.count; j++, at++) {
			while (at < three.count &&
			       (three.times_ns[at] != one.times_ns[j] ||
			        three.context_tokens[at] != one.context_tokens[j]))
				at++;
			cr_assert_lt(at, three.count);
		}
	}
	tl_arrivals_destroy(tripled);
	spec.scale = 0.25;
	struct tl_arrivals *thinned = make(&spec);
	double kept = (double)total(thinned, 0, 12000) / (double)total(plain, 0, 12000);
	cr_expect_float_eq(kept, 0.25, 0.008, "%g", kept);
	tl_arrivals_destroy(thinned);
	tl_arrivals_destroy(plain);
	tl_arrival_block_fini(&one);
	tl_arrival_block_fini(&three);
	tl_request_trace_close(trace);
}

Test(arrivals_file, surge_over_a_recording)
{
	struct tl_request_trace *trace = regular();
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrival_event surge = {
	    .at_ns = TL_NS_PER_HOUR, .for_ns = TL_NS_PER_HOUR, .factor = 2.5};

	spec.span_ns = TL_NS_PER_MIN;
	struct tl_arrivals *plain = make(&spec);
	spec.surges = &surge;
	spec.surge_count = 1;
	struct tl_arrivals *surged = make(&spec);
	cr_expect_eq(total(surged, 0, 720), total(plain, 0, 720));
	double times = (double)total(surged, 720, 1440) / (double)total(plain, 720, 1440);
	cr_expect_float_eq(times, 2.5, 0.05, "%g", times);
	cr_expect_eq(total(surged, 1440, 2000), total(plain, 1440, 2000));
	cr_expect_float_eq(tl_arrivals_rate(surged, 5400 * TL_NS_PER_S), 2.75, 1e-9);
	tl_arrivals_destroy(plain);
	tl_arrivals_destroy(surged);
	tl_request_trace_close(trace);
}

/* Renewals in equilibrium: the stated rate, whatever the family; and bursts as bursty. */
Test(arrivals_file, client_rates)
{
	struct tl_request_trace *trace =
	    read_text("0,4,3,Gamma,0.111,1\n600,2,2,Weibull,0.5427,1\n1200,3,1,,0,0\n"
	              "1800,0,0,,0,0\n");
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrivals *arrivals = make(&spec);
	double counts[4] = {0}, squares[4] = {0};
	enum { DAYS = 400 };

	spec.window_ns = 600 * TL_NS_PER_S;
	struct tl_arrivals *whole = make(&spec);
	for (int64_t i = 0; i < 4 * DAYS; i++) {
		double n = (double)tl_arrivals_count(whole, i);
		counts[i % 4] += n;
		squares[i % 4] += n * n;
	}
	static const double rates[4] = {4, 2, 3, 0}, scv[4] = {9, 4, 1, 0};
	for (int k = 0; k < 3; k++) {
		double mean = counts[k] / DAYS, expected = rates[k] * 600;
		double variance = squares[k] / DAYS - mean * mean;
		cr_expect(fabs(mean - expected) < 4 * sqrt(scv[k] * expected / DAYS),
		          "window %d: mean %g, wanted %g", k, mean, expected);
		cr_expect_float_eq(variance / expected / scv[k], 1, 0.3, "window %d: %g", k,
		                   variance / expected);
		cr_expect_float_eq(tl_arrivals_rate(arrivals, k * 600 * TL_NS_PER_S), rates[k],
		                   1e-12);
	}
	cr_expect_float_eq(counts[3], 0, 0);
	cr_expect_eq(total(arrivals, 0, 480), total(whole, 0, 4), "cut anywhere, the same");
	uint64_t late = tl_arrivals_count(arrivals, 481), early = tl_arrivals_count(arrivals, 3);
	cr_expect_eq(tl_arrivals_count(arrivals, 481), late);
	cr_expect_eq(tl_arrivals_count(arrivals, 3), early);
	tl_arrivals_destroy(arrivals);
	tl_arrivals_destroy(whole);
	tl_request_trace_close(trace);
}

Test(arrivals_file, client_rates_under_a_surge)
{
	struct tl_request_trace *trace = read_text("0,4,3,Gamma,0.5,1\n600,2,2,,0,0\n");
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrival_event layers[] = {
	    {.at_ns = 0, .for_ns = 100 * TL_NS_PER_HOUR, .factor = 2},
	    {.at_ns = 0, .for_ns = 100 * TL_NS_PER_HOUR, .factor = 0.5}};

	struct tl_arrivals *plain = make(&spec);
	spec.surges = layers;
	spec.surge_count = 1;
	struct tl_arrivals *doubled = make(&spec);
	spec.surge_count = 2;
	struct tl_arrivals *both = make(&spec);
	double base = (double)total(plain, 0, 7200);
	double more = (double)total(doubled, 0, 7200), same = (double)total(both, 0, 7200);
	cr_expect_float_eq(base, 36000 * 3, 3000, "%g", base);
	cr_expect_float_eq(more / base, 2, 0.05, "%g", more / base);
	cr_expect_float_eq(same / more, 0.5, 0.01, "%g", same / more);
	tl_arrivals_destroy(plain);
	tl_arrivals_destroy(doubled);
	tl_arrivals_destroy(both);
	tl_request_trace_close(trace);
}

Test(arrivals_file, refused)
{
	struct tl_request_trace *trace = regular(), *short_windows = NULL;
	struct tl_arrival_spec spec = spec_of(trace);
	struct tl_arrivals *arrivals = NULL;
	struct tl_error error = TL_ERROR_INIT;

	spec.span_ns = 59 * TL_NS_PER_S;
	cr_expect_eq(tl_arrivals_create(&spec, 1, 0, &arrivals, &error), TL_E_CONFIG);
	cr_expect_not_null(strstr(error.message, "span, got 59"), "%s", error.message);
	spec.span_ns = 0;
	spec.scale = 0;
	cr_expect_eq(tl_arrivals_create(&spec, 1, 0, &arrivals, &error), TL_E_CONFIG);
	cr_expect_not_null(strstr(error.message, "scale"), "%s", error.message);
	struct tl_request_trace *instant =
	    read_text("{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1}\n"
	              "{\"timestamp\": 5, \"input_length\": 1, \"output_length\": 1}\n");
	spec = spec_of(instant); /* no rate can be told from it */
	cr_expect_eq(tl_arrivals_create(&spec, 1, 0, &arrivals, &error), TL_E_CONFIG);
	cr_expect_not_null(strstr(error.message, "requests of a window"), "%s", error.message);
	tl_request_trace_close(instant);
	short_windows = read_text("0,1,1,,0,0\n5,1,1,,0,0\n");
	spec = spec_of(short_windows);
	cr_expect_eq(tl_arrivals_create(&spec, 1, 0, &arrivals, &error), TL_E_CONFIG);
	cr_expect_not_null(strstr(error.message, "at least 10 s"), "%s", error.message);
	cr_expect_null(arrivals);
	tl_request_trace_close(trace);
	tl_request_trace_close(short_windows);
}

Test(arrivals_file, real_azure)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const char *path = SHARED "azure-llm/AzureLLMInferenceTrace_conv.csv";

	skip_without(path);
	cr_assert_eq(tl_request_trace_open(path, TL_REQUESTS_AUTO, false, &trace, &error), TL_OK);
	struct tl_arrival_spec spec = spec_of(trace);
	spec.repeat = false;
	struct tl_arrivals *arrivals = make(&spec);
	cr_expect_eq(total(arrivals, 0, 800), 19366);
	tl_arrivals_destroy(arrivals);
	tl_request_trace_close(trace);
}

/* A day of all clients: the sum of their rates. */
Test(arrivals_file, real_servegen)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const char *path = SHARED "servegen/deepseek-r1";

	skip_without(path);
	cr_assert_eq(tl_request_trace_open(path, TL_REQUESTS_AUTO, false, &trace, &error), TL_OK);
	struct tl_arrival_spec spec = spec_of(trace);
	spec.window_ns = TL_NS_PER_MIN;
	struct tl_arrivals *arrivals = make(&spec);
	double expected = 0, got = (double)total(arrivals, 0, 1440);
	for (int64_t i = 0; i < 144; i++)
		expected += 600 * tl_arrivals_rate(arrivals, i * 600 * TL_NS_PER_S);
	cr_expect_float_eq(expected, 1383669, 1);
	cr_expect_float_eq(got / expected, 1, 0.03, "%g of %g", got, expected);
	tl_arrivals_destroy(arrivals);
	tl_request_trace_close(trace);
}
