/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The daily, weekly and seasonal curve of a service. */
#include "sim/base/units.h"
#include "workloads/arrivals_curve.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#define HOUR TL_NS_PER_HOUR
#define DAY TL_NS_PER_DAY

static struct tl_curve_spec flat(void)
{
	struct tl_curve_spec curve;

	tl_curve_default(&curve);
	curve.peak_trough = 1;
	curve.weekend = 1;
	return curve;
}

Test(arrivals_curve, day)
{
	struct tl_curve_spec curve = flat();

	curve.peak_trough = 5;
	curve.peak_hour = 21;
	cr_expect_float_eq(tl_curve_at(&curve, 21 * HOUR), 1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 9 * HOUR), 0.2, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 15 * HOUR), 0.6, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 3 * DAY + 9 * HOUR), 0.2, 1e-12);
	curve.start_ns = 2 * HOUR;
	cr_expect_float_eq(tl_curve_at(&curve, 19 * HOUR), 1, 1e-12);
	curve.sharpness = 2;
	cr_expect_float_eq(tl_curve_at(&curve, 13 * HOUR), 0.2 + 0.8 / 4, 1e-12);
	cr_expect_float_eq(tl_curve_max(&curve), 1, 1e-12);
}

Test(arrivals_curve, weekend)
{
	struct tl_curve_spec curve = flat();

	curve.weekend = 1.2;
	cr_expect_float_eq(tl_curve_at(&curve, 4 * DAY + 20 * HOUR), 1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 5 * DAY), 1.1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 6 * DAY + 12 * HOUR), 1.2, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 7 * DAY), 1.1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 0), 1.1, 1e-12, "of Sunday before time 0");
	cr_expect_float_eq(tl_curve_at(&curve, 7 * DAY + 2 * HOUR), 1, 1e-12);
	cr_expect_eq(tl_curve_next_bend(&curve, 0), 2 * HOUR);
	cr_expect_eq(tl_curve_next_bend(&curve, 2 * HOUR), 118 * HOUR);
	cr_expect_eq(tl_curve_next_bend(&curve, 166 * HOUR), 170 * HOUR);
	cr_expect_float_eq(tl_curve_max(&curve), 1.2, 1e-12);
}

Test(arrivals_curve, launch)
{
	struct tl_curve_spec curve = flat();

	curve.launch_factor = 1.5;
	curve.launch_ns = 10 * HOUR;
	curve.launch_decay_ns = 2 * DAY;
	cr_expect_float_eq(tl_curve_at(&curve, 10 * HOUR - 1), 1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 10 * HOUR), 1.5, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 10 * HOUR + 2 * DAY), 1 + 0.5 * exp(-1), 1e-12);
	cr_expect_eq(tl_curve_next_bend(&curve, 0), 10 * HOUR);
	cr_expect_eq(tl_curve_next_bend(&curve, 10 * HOUR), TL_NEVER);
	curve.launch_every_ns = 30 * DAY;
	cr_expect_float_eq(tl_curve_at(&curve, 10 * HOUR + 30 * DAY), 1.5, 1e-12);
	cr_expect_eq(tl_curve_next_bend(&curve, 10 * HOUR), 10 * HOUR + 30 * DAY);
}

Test(arrivals_curve, points)
{
	static const struct tl_curve_point points[] = {{0, 1}, {6, 0.5}, {18, 2}};
	struct tl_curve_spec curve = flat();

	curve.points = points;
	curve.point_count = 3;
	cr_expect_float_eq(tl_curve_at(&curve, 0), 1, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 3 * HOUR), 0.75, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 18 * HOUR), 2, 1e-12);
	cr_expect_float_eq(tl_curve_at(&curve, 21 * HOUR), 1.5, 1e-12, "back to the first");
	cr_expect_float_eq(tl_curve_at(&curve, DAY + 3 * HOUR), 0.75, 1e-12);
	cr_expect_eq(tl_curve_next_bend(&curve, 0), 6 * HOUR);
	cr_expect_eq(tl_curve_next_bend(&curve, 18 * HOUR), DAY);
	cr_expect_float_eq(tl_curve_max(&curve), 2, 1e-12);
	curve.period_ns = 0;
	cr_expect_float_eq(tl_curve_at(&curve, 3 * DAY), 2, 1e-12, "the last one holds");
	cr_expect_eq(tl_curve_next_bend(&curve, DAY), TL_NEVER);
}

static void refused(const struct tl_curve_spec *curve, const char *part)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_expect_eq(tl_curve_check(curve, &error), TL_E_CONFIG, "wanted `%s`", part);
	cr_expect_not_null(strstr(error.message, part), "`%s` is not in `%s`", part, error.message);
}

Test(arrivals_curve, refused)
{
	struct tl_curve_point points[] = {{0, 1}, {6, 0.5}, {18, 2}};
	struct tl_curve_spec good = flat(), bad;
	struct tl_error error = TL_ERROR_INIT;

	good.points = points;
	good.point_count = 3;
	cr_assert_eq(tl_curve_check(&good, &error), TL_OK, "%s", error.message);
#define REFUSED(field, value, part) (bad = good, bad.field = (value), refused(&bad, part))
	REFUSED(peak_trough, 0.9, "peak_trough");
	REFUSED(peak_trough, NAN, "peak_trough");
	REFUSED(peak_hour, 25, "peak_hour");
	REFUSED(sharpness, 0, "sharpness");
	REFUSED(weekend, -1, "weekend");
	REFUSED(launch_factor, 0.5, "launch_factor");
	REFUSED(launch_decay_ns, 0, "launch_decay");
	REFUSED(launch_every_ns, -1, "launch_every");
	REFUSED(launch_ns, INT64_MIN, "launch");
	REFUSED(start_ns, 7 * DAY, "time of the week");
	REFUSED(period_ns, -1, "period");
	REFUSED(period_ns, 12 * HOUR, "before its end");
	points[0].hour = 1;
	refused(&good, "first hour, got 1, wanted 0");
	points[0].hour = 0;
	points[2].hour = 6;
	refused(&good, "ascend");
	points[2].hour = 18;
	points[1].factor = -0.1;
	refused(&good, "factor");
}
