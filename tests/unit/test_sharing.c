/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "sim/work/sharing.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(sharing, the_measured_table_at_its_edges)
{
	static const struct {
		int64_t combined, ppb;
	} rows[] = {{0, 990000000},    {600, 990000000},  {601, 960000000},  {800, 960000000},
	            {801, 850000000},  {1000, 850000000}, {1001, 799200799}, {1600, 500000000},
	            {2000, 400000000}, {8000, 100000000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_assert_eq(tl_sharing_speed_ppb(rows[i].combined), rows[i].ppb,
		             "at %lld: got %lld", (long long)rows[i].combined,
		             (long long)tl_sharing_speed_ppb(rows[i].combined));
}

Test(sharing, more_company_is_never_faster_and_nobody_stands_still)
{
	for (int64_t combined = 1; combined <= 64000; combined++) {
		cr_assert_leq(tl_sharing_speed_ppb(combined), tl_sharing_speed_ppb(combined - 1));
		cr_assert_gt(tl_sharing_speed_ppb(combined), 0);
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
		drawn[row] = tl_sharing_draw_utilisation_milli(1, row, 0.49);
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
	cr_assert_eq(tl_sharing_draw_utilisation_milli(3, 8, 0.49),
	             tl_sharing_draw_utilisation_milli(3, 8, 0.49));
	int same_row = 0, same_seed = 0;

	for (uint64_t n = 1; n < 100; n++) {
		same_row += tl_sharing_draw_utilisation_milli(n, 8, 0.49) ==
		            tl_sharing_draw_utilisation_milli(n + 100, 8, 0.49);
		same_seed += tl_sharing_draw_utilisation_milli(3, n, 0.49) ==
		             tl_sharing_draw_utilisation_milli(3, n + 100, 0.49);
	}
	cr_assert_lt(same_row, 10);
	cr_assert_lt(same_seed, 10);
}

Test(sharing, any_median_stays_in_range)
{
	static const double medians[] = {1e-9, 0.01, 0.3, 0.49, 0.7, 0.99, 1.0};

	for (size_t m = 0; m < sizeof(medians) / sizeof(medians[0]); m++)
		for (uint64_t row = 0; row < 2000; row++) {
			int32_t drawn = tl_sharing_draw_utilisation_milli(5, row, medians[m]);

			cr_assert(drawn >= 0 && drawn <= 1000, "median %g drew %d", medians[m],
			          drawn);
		}
}
