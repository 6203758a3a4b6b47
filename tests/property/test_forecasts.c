/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the summary says of forecasts is what follows from the windows and what was asked. */
#include "sim/base/units.h"
#include "tests/property/services_world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_ROOM = 4096, RATE = 100 };

TestSuite(forecasts, .init = world_setup, .fini = world_teardown, .timeout = 60);

/* A steady rate, so that the truth at any instant is known; asked each 10 s from 5 s on, for
 * a minute ahead. */
static const char *run_steady(const char *policy, const char *more)
{
	char text[TEXT_ROOM];

	snprintf(text, sizeof text,
	         "seed: 5\nhorizon: 20min\ncluster: 1x4\nworkload:\n"
	         "  - {service: s, arrivals: {process: poisson, rate: %d}, batch: 1,\n"
	         "     replicas: {min: 2, max: 4}, service_time: {dist: deterministic, mean: "
	         "10ms}%s}\n"
	         "policy: %s\noutput: {tables: all}\n",
	         RATE, more, policy);
	return services_run("a", text);
}

static const char predictive[] =
    "{scale: {use: predictive, ahead: 1min, check: 10s}, forecast: oracle}";

Test(forecasts, accuracy_is_that_of_the_asked_instants_windows)
{
	const char *folder = run_steady(predictive, "");
	struct service_rows rows = services_rows(folder, "s");
	double error = 0, compared = 0;

	for (size_t i = 0; i < rows.count; i++) {
		double came = (double)rows.windows[i].arrivals / 5;

		if (rows.windows[i].t_ns < 65 * TL_NS_PER_S ||
		    (rows.windows[i].t_ns - 65 * TL_NS_PER_S) % (10 * TL_NS_PER_S) != 0)
			continue;
		error += fabs(RATE - came) / came;
		compared++;
	}
	cr_assert_gt(compared, 100);
	cr_assert_eq(services_metric(folder, "s.forecasts"), compared, "%g asked",
	             services_metric(folder, "s.forecasts"));
	cr_assert_float_eq(services_metric(folder, "s.forecast_accuracy"), 1 - error / compared,
	                   1e-9);
	cr_assert_eq(services_metric(folder, "s.forecast_lead_s"), 60);
	/* The truth is as good as a window of 500 requests lets it be. */
	cr_assert_gt(services_metric(folder, "s.forecast_accuracy"), 0.95);
	cr_assert_lt(services_metric(folder, "s.forecast_accuracy"), 0.98);
	free(rows.windows);
	world_forget();
}

/* A doubling that the season before had not: the naive forecast is wrong for that long. */
Test(forecasts, a_surge_makes_a_plain_forecast_worse_and_not_the_truth)
{
	static const char *const seats[] = {"oracle", "seasonal-naive"};
	double accuracy[2];

	for (int i = 0; i < 2; i++) {
		char policy[256];

		snprintf(policy, sizeof policy,
		         "{scale: {use: predictive, ahead: 1min, check: 10s}, forecast: %s}\n"
		         "faults: [{at: 10min, do: traffic, service: s, factor: 3, for: 10min}]",
		         seats[i]);
		const char *folder = run_steady(policy, "");

		accuracy[i] = services_metric(folder, "s.forecast_accuracy");
		world_forget();
	}
	cr_assert_gt(accuracy[0], 0.95);
	cr_assert_lt(accuracy[1], accuracy[0] - 0.03, "%g against %g", accuracy[1], accuracy[0]);
}

/* Nobody comes in the second half: windows without requests have no share to be wrong by. */
Test(forecasts, windows_without_requests_are_left_out)
{
	const char *folder = run_steady(predictive, ", events: [{at: 10min, for: 1h, factor: 0}]");

	cr_assert_eq(services_metric(folder, "s.forecasts"), 54, "at 65, 75 … 595 s");
	cr_assert_gt(services_metric(folder, "s.forecast_accuracy"), 0.9);
	world_forget();
}
