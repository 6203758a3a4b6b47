/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "sim/work/sharing.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static const struct tl_sharing lucid = {
    .kind = TL_SHARING_LUCID, .utilisation_mean = -1, .utilisation_median = 0.49};

Test(sharing, the_measured_table_at_its_edges)
{
	static const struct {
		int64_t combined, ppb;
	} rows[] = {{0, 990000000},    {600, 990000000},  {601, 960000000},  {800, 960000000},
	            {801, 850000000},  {1000, 850000000}, {1001, 799200799}, {1600, 500000000},
	            {2000, 400000000}, {8000, 100000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(tl_sharing_speed_ppb(&lucid, rows[i].combined, 2), rows[i].ppb,
		             "at %lld: got %lld", (long long)rows[i].combined,
		             (long long)tl_sharing_speed_ppb(&lucid, rows[i].combined, 2));
}

static const struct tl_sharing tables[] = {
    {.kind = TL_SHARING_LUCID},
    {.kind = TL_SHARING_GAVEL},
    {.kind = TL_SHARING_TIME_SLICE},
    {.kind = TL_SHARING_CUSTOM, .steps = {{500, 1000}, {1500, 700}}, .step_count = 2},
    {.kind = TL_SHARING_CUSTOM, .steps = {{1, 1}}, .step_count = 1}};
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

Test(sharing, more_company_is_never_faster_and_nobody_stands_still)
{
	for (size_t t = 0; t < TABLES; t++)
		for (int64_t combined = 1; combined <= 64000; combined++) {
			int64_t ppb = tl_sharing_speed_ppb(&tables[t], combined, 2);

			cr_assert_leq(ppb, tl_sharing_speed_ppb(&tables[t], combined - 1, 2));
			cr_assert_gt(ppb, 0);
			cr_assert_leq(tl_sharing_speed_ppb(&tables[t], combined, 3), ppb);
		}
}

Test(sharing, the_other_tables)
{
	static const struct {
		int table;
		int64_t combined;
		uint32_t tenants;
		int64_t ppb;
	} rows[] = {{1, 200, 2, 680000000},  {1, 1000, 2, 680000000}, {1, 1700, 2, 400000000},
	            {2, 200, 2, 450000000},  {2, 1900, 2, 450000000}, {2, 200, 3, 300000000},
	            {3, 500, 2, 1000000000}, {3, 501, 2, 700000000},  {3, 1500, 2, 700000000},
	            {3, 3000, 2, 350000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(
		    tl_sharing_speed_ppb(&tables[rows[i].table], rows[i].combined, rows[i].tenants),
		    rows[i].ppb, "row %zu", i);
}

Test(sharing, an_opportunistic_tenant_gets_what_is_left)
{
	/* 0.5 + 0.5 at 0.85: 0.85 of the GPU together, 0.35 left of the 0.5. */
	cr_assert_eq(tl_sharing_left_ppb(&tables[0], 500, 500), 700000000);
	/* 0.9 + 0.9 at 0.80 / 1.8: 0.8 together, nothing left: a hundredth all the same. */
	cr_assert_eq(tl_sharing_left_ppb(&tables[0], 900, 900), 10000000);
	/* A guaranteed one that idles leaves what the table gives. */
	cr_assert_eq(tl_sharing_left_ppb(&tables[0], 0, 500), 990000000);
	cr_assert_eq(tl_sharing_left_ppb(&tables[0], 500, 0), 990000000);
	/* Together they never do more than the table allows, but for the floor. */
	for (size_t t = 0; t < TABLES; t++)
		for (int64_t g = 0; g <= 1000; g += 20)
			for (int64_t o = 20; o <= 1000; o += 20) {
				int64_t left = tl_sharing_left_ppb(&tables[t], g, o);
				int64_t all = (g + o) * tl_sharing_speed_ppb(&tables[t], g + o, 2);

				cr_assert(left == 10000000 || g * 1000000000 + o * left <= all);
				cr_assert_leq(left,
				              tl_sharing_speed_ppb(&tables[t], g + o, 2) > left
				                  ? left
				                  : 1000000000);
			}
}

Test(sharing, distance_costs_by_its_widest_link)
{
	static const int32_t wanted[] = {
	    [TL_SAME_GPU] = 1000,  [TL_SAME_PAIR] = 1000, [TL_SAME_NODE] = 1000,
	    [TL_SAME_RACK] = 1020, [TL_SAME_LEAF] = 1020, [TL_SAME_POD] = 1020,
	    [TL_ACROSS] = 1050};

	for (int d = TL_SAME_GPU; d <= TL_ACROSS; d++)
		cr_assert_eq(tl_sharing_slow_milli((enum tl_distance)d, 1000, 1020, 1050),
		             wanted[d]);
}

static int by_value(const void *a, const void *b)
{
	return *(const int32_t *)a - *(const int32_t *)b;
}

Test(sharing, drawn_utilisation_has_the_published_median_and_mean)
{
	enum { N = 20000 };
	static int32_t drawn[N];
	int64_t sum = 0;

	for (uint64_t row = 0; row < N; row++) {
		drawn[row] = tl_sharing_draw_utilisation_milli(&lucid, 1, row);
		cr_assert(drawn[row] >= 0 && drawn[row] <= 1000);
		sum += drawn[row];
	}
	qsort(drawn, N, sizeof drawn[0], by_value);
	/* Six standard errors: σ ≈ 0.26, so 11 thousandths of the mean, 18 of the median. */
	cr_assert_leq(llabs(sum / N - 520), 11, "mean %lld", (long long)(sum / N));
	cr_assert_leq(abs(drawn[N / 2] - 490), 18, "median %d", drawn[N / 2]);
}

Test(sharing, a_draw_is_of_its_seed_and_row_alone)
{
	cr_assert_eq(tl_sharing_draw_utilisation_milli(&lucid, 3, 8),
	             tl_sharing_draw_utilisation_milli(&lucid, 3, 8));
	int same_row = 0, same_seed = 0;

	for (uint64_t n = 1; n < 100; n++) {
		same_row += tl_sharing_draw_utilisation_milli(&lucid, n, 8) ==
		            tl_sharing_draw_utilisation_milli(&lucid, n + 100, 8);
		same_seed += tl_sharing_draw_utilisation_milli(&lucid, 3, n) ==
		             tl_sharing_draw_utilisation_milli(&lucid, 3, n + 100);
	}
	cr_assert_lt(same_row, 10);
	cr_assert_lt(same_seed, 10);
}

Test(sharing, any_median_stays_in_range)
{
	static const double medians[] = {1e-9, 0.01, 0.3, 0.49, 0.7, 0.99, 1.0};

	for (size_t m = 0; m < sizeof(medians) / sizeof(medians[0]); m++)
		for (uint64_t row = 0; row < 2000; row++) {
			const struct tl_sharing sharing = {.utilisation_mean = -1,
			                                   .utilisation_median = medians[m]};
			int32_t drawn = tl_sharing_draw_utilisation_milli(&sharing, 5, row);

			cr_assert(drawn >= 0 && drawn <= 1000, "median %g drew %d", medians[m],
			          drawn);
		}
}

Test(sharing, a_stated_mean_is_the_mean_drawn)
{
	static const double means[] = {0.25, 0.3, 0.5, 0.52, 0.7, 0.9, 0.99, 1.0};
	enum { N = 20000 };

	for (size_t m = 0; m < sizeof(means) / sizeof(means[0]); m++) {
		const struct tl_sharing sharing = {.utilisation_mean = means[m],
		                                   .utilisation_median = 0.49};
		double sum = 0;

		for (uint64_t row = 0; row < N; row++) {
			int32_t drawn = tl_sharing_draw_utilisation_milli(&sharing, 1, row);

			cr_assert(drawn >= 0 && drawn <= 1000);
			sum += drawn;
		}
		/* Six standard errors of the widest. */
		cr_assert_leq(fabs(sum / N - means[m] * 1000), 13, "mean %g drew %g", means[m],
		              sum / N / 1000);
	}
}
