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
