/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arrivals of services: any order, the same base under any incident, the right rates. */
#include "sim/base/units.h"
#include "workloads/arrivals.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static struct tl_arrival_spec default_spec(enum tl_arrival_process process, double rate_rps)
{
	struct tl_arrival_spec spec;

	tl_arrival_spec_default(&spec);
	spec.process = process;
	spec.rate_rps = rate_rps;
	return spec;
}

static struct tl_arrivals *make(const struct tl_arrival_spec *spec, uint64_t seed, uint32_t service)
{
	struct tl_arrivals *arrivals = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_arrivals_create(spec, seed, service, &arrivals, &error), TL_OK, "%s",
	             error.message);
	return arrivals;
}

static void expect_same(const struct tl_arrival_block *a, const struct tl_arrival_block *b)
{
	cr_assert_eq(a->count, b->count);
	cr_assert_eq(a->start_ns, b->start_ns);
	for (size_t i = 0; i < a->count; i++)
		cr_assert_eq(a->times_ns[i], b->times_ns[i]);
}

static void expect_ordered(const struct tl_arrival_block *block)
{
	for (size_t i = 0; i < block->count; i++) {
		cr_assert(block->times_ns[i] >= block->start_ns);
		cr_assert(block->times_ns[i] < block->end_ns);
		cr_assert(i == 0 || block->times_ns[i - 1] <= block->times_ns[i]);
	}
}

/* Every time of `small` is in `large`, as often. */
static void expect_subset(const struct tl_arrival_block *small,
                          const struct tl_arrival_block *large)
{
	size_t j = 0;

	for (size_t i = 0; i < small->count; i++, j++) {
		while (j < large->count && large->times_ns[j] < small->times_ns[i])
			j++;
		cr_assert(j < large->count && large->times_ns[j] == small->times_ns[i]);
	}
}

Test(arrivals, windows_in_any_order)
{
	struct tl_arrival_event surge = {
	    .at_ns = 12 * TL_NS_PER_S, .for_ns = 60 * TL_NS_PER_S, .factor = 0.7};
	for (int process = TL_ARRIVALS_POISSON; process <= TL_ARRIVALS_MMPP; process++) {
		struct tl_arrival_spec spec = default_spec((enum tl_arrival_process)process, 300);
		struct tl_arrival_block forth = {0}, back = {0};

		spec.burst_ns = spec.calm_ns = 20 * TL_NS_PER_S;
		spec.surges = &surge;
		spec.surge_count = 1;
		struct tl_arrivals *one = make(&spec, 5, 3), *other = make(&spec, 5, 3);
		for (int64_t i = 199; i >= 0; i -= 3)
			tl_arrivals_window(other, i, &back);
		for (int64_t i = 0; i < 200; i++) {
			tl_arrivals_window(one, i, &forth);
			cr_expect_eq(tl_arrivals_count(other, 199 - i),
			             tl_arrivals_count(other, 199 - i));
			tl_arrivals_window(other, i, &back);
			expect_same(&forth, &back);
			expect_ordered(&forth);
			cr_assert_eq(tl_arrivals_count(one, i), forth.count);
		}
		tl_arrival_block_fini(&forth);
		tl_arrival_block_fini(&back);
		tl_arrivals_destroy(one);
		tl_arrivals_destroy(other);
	}
}

Test(arrivals, seeds_and_services_differ)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_POISSON, 200);
	struct tl_arrivals *all[3] = {make(&spec, 1, 0), make(&spec, 2, 0), make(&spec, 1, 1)};
	struct tl_arrival_block first = {0}, block = {0};

	tl_arrivals_window(all[0], 7, &first);
	for (int i = 1; i < 3; i++) {
		tl_arrivals_window(all[i], 7, &block);
		cr_expect(block.count != first.count || block.times_ns[0] != first.times_ns[0]);
	}
	for (int i = 0; i < 3; i++)
		tl_arrivals_destroy(all[i]);
	tl_arrival_block_fini(&first);
	tl_arrival_block_fini(&block);
}

/* Counts have mean and variance λ W; gaps are exponential; positions are even. */
Test(arrivals, poisson_counts_and_gaps)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_POISSON, 40);
	struct tl_arrivals *arrivals = make(&spec, 11, 0);
	struct tl_arrival_block block = {0};
	double sum = 0, squares = 0, gaps = 0, gap_squares = 0, place = 0;
	int64_t before = -1, gap_count = 0;
	enum { WINDOWS = 4000 };

	for (int64_t i = 0; i < WINDOWS; i++) {
		tl_arrivals_window(arrivals, i, &block);
		sum += (double)block.count;
		squares += pow((double)block.count - 200, 2);
		for (size_t j = 0; j < block.count; j++) {
			double gap = (double)(block.times_ns[j] - before) * 40e-9;
			if (before >= 0) {
				gaps += gap;
				gap_squares += gap * gap;
				gap_count++;
			}
			before = block.times_ns[j];
			place += (double)(before - block.start_ns) / 5e9;
		}
	}
	double mean = sum / WINDOWS, gap = gaps / (double)gap_count;
	double se = sqrt(200.0 / WINDOWS);
	cr_expect(fabs(mean - 200) < 4 * se, "mean %g", mean);
	cr_expect(fabs(squares / WINDOWS / 200 - 1) < 4 * sqrt(2.0 / WINDOWS), "variance %g",
	          squares / WINDOWS);
	cr_expect_float_eq(gap, 1, 0.006);
	cr_expect_float_eq(gap_squares / (double)gap_count / gap / gap, 2, 0.03);
	cr_expect_float_eq(place / sum, 0.5, 4 * sqrt(1 / 12.0 / sum));
	tl_arrival_block_fini(&block);
	tl_arrivals_destroy(arrivals);
}

Test(arrivals, follow_the_curve)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_NHPP, 50);
	spec.curve.weekend = 1;
	struct tl_arrivals *arrivals = make(&spec, 3, 0);
	double expected = 0, got = 0;

	for (int64_t i = 0; i < 24 * 720; i++) {
		got += (double)tl_arrivals_count(arrivals, i);
		expected += 5 * tl_arrivals_rate(arrivals, i * 5 * TL_NS_PER_S);
	}
	cr_expect(fabs(got - expected) < 5 * sqrt(expected), "%g, expected %g", got, expected);
	/* the mean of the curve is (1 + 1/5) / 2 of its peak */
	cr_expect_float_eq(expected, 50 * 0.6 * 86400, 50);
	cr_expect_float_eq(tl_arrivals_rate(arrivals, 20 * TL_NS_PER_HOUR), 50, 1e-9);
	cr_expect_float_eq(tl_arrivals_rate(arrivals, 8 * TL_NS_PER_HOUR), 10, 1e-9);
	tl_arrivals_destroy(arrivals);
}

Test(arrivals, surge_keeps_the_base)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_NHPP, 100);
	struct tl_arrival_event surge = {.at_ns = 31 * TL_NS_PER_S,
	                                 .for_ns = 107 * TL_NS_PER_S,
	                                 .ramp_ns = 10 * TL_NS_PER_S,
	                                 .factor = 2};
	struct tl_arrivals *plain = make(&spec, 9, 0);
	spec.surges = &surge;
	spec.surge_count = 1;
	struct tl_arrivals *surged = make(&spec, 9, 0);
	spec.process = TL_ARRIVALS_MMPP;
	spec.burst_ns = spec.calm_ns = 30 * TL_NS_PER_S;
	struct tl_arrivals *bursty = make(&spec, 9, 0);
	struct tl_arrival_block base = {0}, more = {0}, most = {0};
	double extra = 0, expected = 0;

	for (int64_t i = 0; i < 60; i++) {
		tl_arrivals_window(plain, i, &base);
		tl_arrivals_window(surged, i, &more);
		tl_arrivals_window(bursty, i, &most);
		expect_subset(&base, &more);
		expect_subset(&base, &most);
		expect_ordered(&more);
		expect_ordered(&most);
		if (base.end_ns <= surge.at_ns || base.start_ns >= 148 * TL_NS_PER_S)
			expect_same(&base, &more);
		extra += (double)(more.count - base.count);
		for (int64_t t = base.start_ns; t < base.end_ns; t += TL_NS_PER_S / 4)
			expected += (tl_arrivals_rate(surged, t) - tl_arrivals_rate(plain, t)) / 4;
	}
	cr_expect(fabs(extra - expected) < 5 * sqrt(expected), "%g, expected %g", extra, expected);
	tl_arrival_block_fini(&base);
	tl_arrival_block_fini(&more);
	tl_arrival_block_fini(&most);
	tl_arrivals_destroy(plain);
	tl_arrivals_destroy(surged);
	tl_arrivals_destroy(bursty);
}

Test(arrivals, falls_are_nested)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_POISSON, 1000);
	struct tl_arrival_event fall = {.for_ns = 500 * TL_NS_PER_S, .factor = 0.8};
	struct tl_arrivals *all[3];
	struct tl_arrival_block blocks[3] = {0};
	double counts[3] = {0};

	all[0] = make(&spec, 9, 0);
	spec.surges = &fall;
	spec.surge_count = 1;
	all[1] = make(&spec, 9, 0);
	fall.factor = 0.5;
	all[2] = make(&spec, 9, 0);
	for (int64_t i = 0; i < 100; i++) {
		for (int j = 0; j < 3; j++) {
			tl_arrivals_window(all[j], i, &blocks[j]);
			counts[j] += (double)blocks[j].count;
			cr_assert_eq(tl_arrivals_count(all[j], i), blocks[j].count);
		}
		expect_subset(&blocks[1], &blocks[0]);
		expect_subset(&blocks[2], &blocks[1]);
	}
	cr_expect_float_eq(counts[1] / counts[0], 0.8, 0.004);
	cr_expect_float_eq(counts[2] / counts[0], 0.5, 0.005);
	for (int j = 0; j < 3; j++) {
		tl_arrival_block_fini(&blocks[j]);
		tl_arrivals_destroy(all[j]);
	}
}

/* Of two-state bursts: share of time, mean rate, and counts far from Poisson. */
Test(arrivals, bursts)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_MMPP, 20);
	spec.curve.peak_trough = 1;
	spec.curve.weekend = 1;
	spec.burst_factor = 4;
	spec.burst_ns = TL_NS_PER_MIN;
	spec.calm_ns = 3 * TL_NS_PER_MIN;
	struct tl_arrivals *arrivals = make(&spec, 21, 0);
	double sum = 0, squares = 0, bursts = 0;
	enum { WINDOWS = 100000 };

	for (int64_t i = 0; i < WINDOWS; i++) {
		double count = (double)tl_arrivals_count(arrivals, i);
		sum += count;
		squares += count * count;
		bursts += tl_arrivals_rate(arrivals, i * 5 * TL_NS_PER_S) > 40;
	}
	double mean = sum / WINDOWS, variance = squares / WINDOWS - mean * mean;
	cr_expect_float_eq(bursts / WINDOWS, 0.25, 0.03, "%g of time", bursts / WINDOWS);
	cr_expect_float_eq(mean, 100 * (1 + 0.25 * 3), 10, "mean %g", mean);
	cr_expect_gt(variance / mean, 50);
	tl_arrivals_destroy(arrivals);
}

Test(arrivals, edges_inside_a_window_are_exact)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_POISSON, 1000);
	struct tl_arrival_event off = {
	    .at_ns = 2 * TL_NS_PER_S, .for_ns = TL_NS_PER_S, .factor = 0};
	struct tl_arrival_block block = {0};

	spec.events = &off;
	spec.event_count = 1;
	struct tl_arrivals *arrivals = make(&spec, 1, 0);
	tl_arrivals_window(arrivals, 0, &block);
	cr_assert_gt(block.count, 3500);
	for (size_t i = 0; i < block.count; i++)
		cr_assert(block.times_ns[i] < 2 * TL_NS_PER_S ||
		          block.times_ns[i] >= 3 * TL_NS_PER_S);
	tl_arrival_block_fini(&block);
	tl_arrivals_destroy(arrivals);
}

Test(arrivals, no_rate_no_requests)
{
	struct tl_arrival_spec spec = default_spec(TL_ARRIVALS_POISSON, 0);
	struct tl_arrivals *arrivals = make(&spec, 1, 0);
	struct tl_arrival_block block = {0};

	tl_arrivals_window(arrivals, 0, &block);
	cr_expect_eq(block.count, 0);
	cr_expect_eq(tl_arrivals_count(arrivals, 1), 0);
	cr_expect_eq(tl_arrivals_window_ns(arrivals), 5 * TL_NS_PER_S);
	tl_arrival_block_fini(&block);
	tl_arrivals_destroy(arrivals);
}

static void refused(const struct tl_arrival_spec *spec, uint32_t service, const char *part)
{
	struct tl_arrivals *arrivals = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_expect_eq(tl_arrivals_create(spec, 1, service, &arrivals, &error), TL_E_CONFIG,
	             "wanted `%s`", part);
	cr_expect_null(arrivals);
	cr_expect_not_null(strstr(error.message, part), "`%s` is not in `%s`", part, error.message);
}

Test(arrivals, refused)
{
	const struct tl_arrival_spec good = default_spec(TL_ARRIVALS_MMPP, 100);
	struct tl_arrival_event event = {.for_ns = 1, .factor = 2};
	struct tl_arrival_spec bad;

#define REFUSED(field, value, part) (bad = good, bad.field = (value), refused(&bad, 0, part))
	REFUSED(rate_rps, -1, "rate, got -1");
	REFUSED(rate_rps, NAN, "rate");
	REFUSED(rate_rps, 1e8, "10^8");
	REFUSED(window_ns, 0, "window");
	REFUSED(burst_factor, 0.5, "burst factor");
	REFUSED(burst_ns, 0, "burst");
	REFUSED(calm_ns, -1, "calm");
	REFUSED(curve.peak_trough, 0.5, "peak_trough");
	REFUSED(process, (enum tl_arrival_process)9, "process");
	REFUSED(process, TL_ARRIVALS_TRACE, "recorded file");
	refused(&good, TL_ARRIVAL_SERVICES_MAX, "65536");
	bad = good;
	bad.events = &event;
	bad.event_count = 1;
	event.factor = -1;
	refused(&bad, 0, "factor");
	event.factor = 2;
	event.for_ns = 0;
	refused(&bad, 0, "length");
	event.for_ns = 5;
	event.ramp_ns = 6;
	refused(&bad, 0, "ramp");
	event.ramp_ns = 0;
	event.at_ns = -1;
	refused(&bad, 0, "start");
	bad.event_count = TL_ARRIVAL_EVENTS_MAX + 1;
	refused(&bad, 0, "at most 250");
}
