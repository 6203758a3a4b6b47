/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/metrics.h"

#include <criterion/criterion.h>
#include <string.h>

static void expect(const char *metric, const char *title)
{
	const char *got = tl_metric_group_title(tl_metric_group(metric));

	cr_assert_str_eq(got, title, "%s: got %s, wanted %s", metric, got, title);
}

Test(metric_groups, by_name_start_and_dot)
{
	expect("jobs", "Jobs");
	expect("jobs_of_mars", "Other");
	expect("wait_p99_s", "Waiting");
	expect("cost", "Cost");
	expect("cost_total", "Cost");
	expect("player.cost", "Services");
	expect("", "Other");
	cr_assert_null(tl_metric_group_title(tl_metric_group("no such") + 1));
}

Test(metric_groups, which_way_is_better)
{
	cr_assert_eq(tl_metric_better("wait_mean_s"), TL_BETTER_LOW);
	cr_assert_eq(tl_metric_better("player.attainment"), TL_BETTER_HIGH);
	cr_assert_eq(tl_metric_better("player.p999_s"), TL_BETTER_LOW);
	cr_assert_eq(tl_metric_better("goodput"), TL_BETTER_HIGH);
	cr_assert_eq(tl_metric_better("jobs"), TL_BETTER_NEITHER);
	cr_assert(tl_metric_is_headline("cost_total"));
	cr_assert_not(tl_metric_is_headline("events"));
	cr_assert(tl_metric_follows_queue("wait_p50_s"));
	cr_assert(tl_metric_follows_queue("steady:wait_mean_s"));
	cr_assert_not(tl_metric_follows_queue("allocation_ratio"));
	cr_assert_not(tl_metric_follows_queue("player.wait_mean_s"));
	cr_assert(tl_metric_is_signed("player.forecast_accuracy"));
	cr_assert_not(tl_metric_is_signed("player.forecasts"));
	cr_assert_not(tl_metric_is_signed("wait_mean_s"));
}
