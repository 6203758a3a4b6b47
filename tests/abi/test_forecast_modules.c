/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shipped forecasts on series whose future is known: seasons of 24 buckets of 5 min. */
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/plane/module.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

enum { BUCKETS = 24, WINDOWS_A_BUCKET = 5 };

static const double TURN = 6.283185307179586;
static const int64_t WINDOW_NS = TL_NS_PER_MIN;

/* Requests in a window; the same as a rate. */
typedef int64_t series(int64_t window);

static struct tl_world world;

struct forecast {
	const struct tl_module *module;
	void *self;
};

static void setup(void)
{
	tl_world_init(&world, 3, 4, 8);
	world.mock.services[0] = (struct tl_service_view){.name = "s"};
	world.mock.service_count = 1;
}

static void teardown(void)
{
	tl_world_fini(&world);
}

TestSuite(forecast_modules, .init = setup, .fini = teardown);

static struct forecast make(const char *name)
{
	struct forecast forecast = {.module = tl_suite_find(TL_SEAT_FORECAST, name)};
	char why[TL_MOCK_TEXT] = "";

	cr_assert_eq(
	    tl_mock_create(&world.mock, forecast.module, "season", "2h", &forecast.self, why), 0,
	    "%s: %s", name, why);
	return forecast;
}

static void refused(const char *name, const char *option, const char *value, const char *word)
{
	char why[TL_MOCK_TEXT] = "";
	void *self = NULL;

	cr_assert_neq(tl_mock_create(&world.mock, tl_suite_find(TL_SEAT_FORECAST, name), option,
	                             value, &self, why),
	              0, "%s takes %s: %s", name, option, value);
	cr_assert_not_null(strstr(why, word), "%s: `%s` does not speak of `%s`", name, why, word);
}

/* The window closes: it is its end now. */
static void tell(const struct forecast *forecast, int64_t window, int64_t arrivals)
{
	struct tl_service_view *view = &world.mock.services[0];

	view->window_start_ns = window * WINDOW_NS;
	view->window_end_ns = (window + 1) * WINDOW_NS;
	view->arrivals = arrivals;
	world.mock.now_ns = view->window_end_ns;
	forecast->module->observer->window_closed(forecast->self, 0, view);
}

/* Requests in a window, from now + ahead on, as forecast. */
static double expected(const struct forecast *forecast, int64_t ahead_ns)
{
	const struct tl_forecast_ops *ops = forecast->module->ops;
	int64_t per_ks = ops->rate_per_ks(forecast->self, 0, world.mock.now_ns + ahead_ns);

	return per_ks < 0 ? -1.0 : (double)per_ks * (double)WINDOW_NS / 1e12;
}

/* Mean relative error over the windows [from, to) of forecasts so far ahead. */
static double error_of(const struct forecast *forecast, series *truth, int64_t from, int64_t to,
                       int64_t ahead)
{
	double sum = 0;

	for (int64_t w = 0; w < to; w++) {
		tell(forecast, w, truth(w));
		if (w >= from) {
			double real = (double)truth(w + 1 + ahead);

			sum += fabs(expected(forecast, ahead * WINDOW_NS) - real) / real;
		}
	}
	return sum / (double)(to - from);
}

enum { SEASON = BUCKETS * WINDOWS_A_BUCKET }; /* windows */

/* A level in each bucket, all different, the same in every season. */
static int64_t steps(int64_t window)
{
	return 6000 + 1000 * (window % SEASON / WINDOWS_A_BUCKET * 7 % BUCKETS);
}

/* Every season a tenth more than the one before. */
static int64_t growing_steps(int64_t window)
{
	return (int64_t)((double)steps(window) * pow(1.1, (double)(window / SEASON)));
}

static int64_t wave(int64_t window)
{
	double bucket = (double)(window / WINDOWS_A_BUCKET);

	return (int64_t)(60000 * (1 + 0.6 * sin(bucket / BUCKETS * TURN)));
}

/* Flat for a season, then the wave: its factors have to be learned anew. */
static int64_t late_wave(int64_t window)
{
	return window < SEASON ? 60000 : wave(window);
}

/* Rising, each window off by up to a fifth. */
static int64_t rising_wave(int64_t window)
{
	double noise = (double)(tl_rng_at(5, TL_STREAM_TEST, 1, (uint64_t)window) >> 11) * 0x1p-53;

	return (int64_t)((double)wave(window) * (2 + noise) / 2.5 *
	                 (1 + 0.004 * (double)(window / WINDOWS_A_BUCKET)));
}

/* ---- seasonal-naive ---- */

Test(forecast_modules, seasonal_naive_begins_with_what_is)
{
	struct forecast naive = make("seasonal-naive");

	cr_assert_eq(expected(&naive, 0), -1, "nothing is known");
	tell(&naive, 0, 600);
	cr_assert_eq(expected(&naive, 0), 600);
	cr_assert_eq(expected(&naive, TL_NS_PER_HOUR), 600);
	tell(&naive, 1, 1200);
	cr_assert_eq(expected(&naive, TL_NS_PER_HOUR), 1200);
}

/* From the second season on it is exact, wherever it is asked within the season to come. */
Test(forecast_modules, seasonal_naive_repeats_a_season)
{
	for (int64_t ahead = 0; ahead < SEASON; ahead += 7) {
		struct forecast naive = make("seasonal-naive");

		for (int64_t w = 0; w < 4 * SEASON; w++) {
			tell(&naive, w, steps(w));
			if (w < SEASON + WINDOWS_A_BUCKET)
				continue;
			cr_assert_float_eq(
			    expected(&naive, ahead * WINDOW_NS), (double)steps(w + 1 + ahead), 0.1,
			    "after %d windows, %d ahead: %g, not %d", (int)w + 1, (int)ahead,
			    expected(&naive, ahead * WINDOW_NS), (int)steps(w + 1 + ahead));
		}
	}
}

Test(forecast_modules, seasonal_naive_scales_by_today_s_level)
{
	struct forecast naive = make("seasonal-naive");

	for (int64_t w = 0; w < 5 * SEASON; w++) {
		tell(&naive, w, growing_steps(w));
		/* Up to the end of this season: the level of the next is not known. */
		if (w < SEASON + WINDOWS_A_BUCKET || (w + 6) % SEASON < 12)
			continue;
		cr_assert_float_eq(expected(&naive, 5 * WINDOW_NS) / (double)growing_steps(w + 6),
		                   1, 0.001, "after %d windows", (int)w + 1);
	}
}

Test(forecast_modules, seasonal_naive_without_level_is_the_season_before)
{
	struct forecast naive = {.module = tl_suite_find(TL_SEAT_FORECAST, "seasonal-naive")};

	world.mock.now_ns = 0;
	cr_assert_eq(tl_mock_create(&world.mock, naive.module, "level", "false", &naive.self, NULL),
	             0);
	for (int64_t w = 0; w < 3 * 1440; w++) { /* its season is a day */
		tell(&naive, w, 600 * (1 + w / 1440));
		if (w >= 1440 && w % 1440 < 1400)
			cr_assert_float_eq(expected(&naive, 0), (double)(600 * (w / 1440)), 0.1,
			                   "after %d windows", (int)w + 1);
	}
}

/* ---- holt-winters ---- */

Test(forecast_modules, holt_winters_knows_a_season_once_it_has_passed)
{
	struct forecast smooth = make("holt-winters");

	cr_assert_eq(expected(&smooth, 0), -1, "nothing is known");
	cr_assert_lt(error_of(&smooth, wave, SEASON, 4 * SEASON, 5), 0.001);
}

/* Little weight on the level, lest it follows the season that the factors are to learn. */
Test(forecast_modules, holt_winters_learns_another_season)
{
	static char season[] = "season", length[] = "2h", alpha[] = "alpha", weight[] = "0.05";
	const struct tl_setting settings[] = {{.name = season, .value = length},
	                                      {.name = alpha, .value = weight}};
	struct forecast smooth = {.module = tl_suite_find(TL_SEAT_FORECAST, "holt-winters")};
	double errors[2];

	for (int late = 0; late < 2; late++) {
		int64_t from = late ? 15 * SEASON : SEASON;

		cr_assert_eq(tl_mock_create_with(&world.mock, smooth.module, settings, 2,
		                                 &smooth.self, NULL),
		             0);
		errors[late] = error_of(&smooth, late_wave, from, from + SEASON, 5);
	}
	cr_assert_gt(errors[0], 0.1, "%g", errors[0]);
	cr_assert_lt(errors[1], 0.03, "%g, at first %g", errors[1], errors[0]);
}

Test(forecast_modules, holt_winters_beats_naive_on_a_noisy_trend)
{
	struct forecast smooth = make("holt-winters"), naive = make("seasonal-naive");
	double its = error_of(&smooth, rising_wave, 4 * SEASON, 16 * SEASON, 10);
	double other = error_of(&naive, rising_wave, 4 * SEASON, 16 * SEASON, 10);

	cr_log_info("on a noisy trend: holt-winters %.4f, seasonal-naive %.4f\n", its, other);
	cr_assert_lt(its, 0.95 * other, "%g, naive %g", its, other);
}

Test(forecast_modules, holt_winters_is_never_negative)
{
	struct forecast smooth = make("holt-winters");

	for (int64_t w = 0; w < 3 * SEASON; w++) {
		tell(&smooth, w, w < SEASON ? 60000 - 500 * w : 0);
		cr_assert(isfinite(expected(&smooth, WINDOW_NS)));
		if (w >= WINDOWS_A_BUCKET)
			for (int64_t ahead = 0; ahead < SEASON; ahead += 11)
				cr_assert_geq(expected(&smooth, ahead * WINDOW_NS), 0);
	}
}

/* ---- all ---- */

static int64_t hourly(uint32_t service, int64_t at_ns)
{
	(void)service;
	return at_ns / TL_NS_PER_HOUR * 1000;
}

Test(forecast_modules, oracle_tells_the_truth)
{
	struct forecast oracle = {.module = tl_suite_find(TL_SEAT_FORECAST, "oracle")};
	const struct tl_forecast_ops *ops = oracle.module->ops;

	world.mock.traffic_per_ks = hourly;
	cr_assert_eq(tl_mock_create(&world.mock, oracle.module, NULL, NULL, &oracle.self, NULL), 0);
	cr_assert_eq(ops->rate_per_ks(oracle.self, 0, 7 * TL_NS_PER_HOUR), 7000);
	cr_assert(oracle.module->capabilities & TL_NEEDS_ORACLE);
}

Test(forecast_modules, bad_options_are_refused)
{
	static const char *const names[] = {"seasonal-naive", "holt-winters"};

	for (size_t n = 0; n < 2; n++) {
		refused(names[n], "season", "7min", "bucket");
		refused(names[n], "season", "0s", "season");
		refused(names[n], "bucket", "7min", "bucket");
		refused(names[n], "bucket", "0s", "bucket");
		refused(names[n], "bucket", "1s", "bucket");
		refused(names[n], "mood", "1", "mood");
	}
	refused("holt-winters", "alpha", "0", "alpha");
	refused("holt-winters", "beta", "1.1", "beta");
	refused("holt-winters", "damping", "2", "damping");
	refused("seasonal-naive", "level", "maybe", "level");
}

/* The level of what is being forecast does not depend on when it is asked for. */
Test(forecast_modules, asking_changes_nothing)
{
	static const char *const names[] = {"seasonal-naive", "holt-winters"};

	for (size_t n = 0; n < 2; n++) {
		struct forecast asked = make(names[n]), left = make(names[n]);

		for (int64_t w = 0; w < 3 * SEASON; w++) {
			tell(&asked, w, rising_wave(w));
			tell(&left, w, rising_wave(w));
			(void)expected(&asked, w % 13 * WINDOW_NS);
		}
		for (int64_t ahead = 0; ahead < SEASON; ahead++)
			cr_assert_eq(expected(&asked, ahead * WINDOW_NS),
			             expected(&left, ahead * WINDOW_NS));
	}
}
