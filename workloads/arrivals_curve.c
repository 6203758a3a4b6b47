/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/arrivals_curve.h"

#include "sim/base/units.h"

#include <math.h>

enum { HOURS_A_WEEK = 168 };

static const int64_t week_ns = 7 * TL_NS_PER_DAY;
static const int64_t launch_max_ns = 36500 * TL_NS_PER_DAY;
static const double two_pi = 6.283185307179586476925;

/* The hours of the week between which the weekend comes and goes. */
static const double weekend_hours[] = {118, 122, 166, 170};

void tl_curve_default(struct tl_curve_spec *curve)
{
	*curve = (struct tl_curve_spec){
	    .peak_trough = 5,
	    .peak_hour = 20,
	    .sharpness = 1,
	    .weekend = 1.2,
	    .launch_factor = 1,
	    .launch_decay_ns = 7 * TL_NS_PER_DAY,
	    .period_ns = TL_NS_PER_DAY,
	};
}

static enum tl_status check_range(const char *what, double value, double min, double max,
                                  struct tl_error *error)
{
	if (value >= min && value <= max)
		return TL_OK;
	return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "%s, got %g, wanted %g to %g", what,
	                    value, min, max);
}

static enum tl_status check_points(const struct tl_curve_spec *curve, struct tl_error *error)
{
	const struct tl_curve_point *points = curve->points;
	double end = curve->period_ns > 0 ? (double)curve->period_ns / (double)TL_NS_PER_HOUR
	                                  : 24.0 * 366 * 10;

	if (curve->period_ns < 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "curve's period, got a negative one, wanted 0 or more");
	for (size_t i = 0; i < curve->point_count; i++) {
		enum tl_status status =
		    check_range("curve's factor", points[i].factor, 0, 1000, error);
		if (status != TL_OK)
			return status;
		if (i == 0 && !(points[i].hour >= 0 && points[i].hour <= 0))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "curve's first hour, got %g, wanted 0", points[i].hour);
		if (i > 0 && !(points[i].hour > points[i - 1].hour))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "curve's hours, got %g after %g, wanted them to "
			                    "ascend",
			                    points[i].hour, points[i - 1].hour);
		if (!(points[i].hour < end))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "curve's hour, got %g, wanted one before its end, %g",
			                    points[i].hour, end);
	}
	return TL_OK;
}

enum tl_status tl_curve_check(const struct tl_curve_spec *curve, struct tl_error *error)
{
	enum tl_status status = check_range("peak_trough", curve->peak_trough, 1, 1000, error);

	if (status == TL_OK)
		status = check_range("peak_hour", curve->peak_hour, 0, 24, error);
	if (status == TL_OK)
		status = check_range("sharpness", curve->sharpness, 0.25, 8, error);
	if (status == TL_OK)
		status = check_range("weekend", curve->weekend, 0, 1000, error);
	if (status == TL_OK)
		status = check_range("launch_factor", curve->launch_factor, 1, 1000, error);
	if (status != TL_OK)
		return status;
	if (curve->start_ns < 0 || curve->start_ns >= week_ns)
		return tl_error_set(
		    error, TL_E_CONFIG, NULL, 0, 0,
		    "curve's start, got %g h, wanted a time of the week, 0 to 168 h",
		    (double)curve->start_ns / (double)TL_NS_PER_HOUR);
	if (curve->launch_decay_ns <= 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "launch_decay, got none, wanted more than 0");
	if (curve->launch_ns < -launch_max_ns || curve->launch_ns > launch_max_ns)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "launch, got %g s, wanted a time within 100 years",
		                    (double)curve->launch_ns * 1e-9);
	if (curve->launch_every_ns < 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "launch_every, got a negative one, wanted 0 or more");
	return check_points(curve, error);
}

static double hours_of(int64_t ns)
{
	return (double)ns / (double)TL_NS_PER_HOUR;
}

static double points_at(const struct tl_curve_spec *curve, int64_t t_ns)
{
	const struct tl_curve_point *points = curve->points;
	size_t low = 0, high = curve->point_count;
	int64_t into = curve->start_ns + t_ns;
	if (curve->period_ns > 0)
		into %= curve->period_ns;
	double hour = hours_of(into);

	while (high - low > 1) { /* the last point at or before hour */
		size_t middle = low + (high - low) / 2;
		if (points[middle].hour <= hour)
			low = middle;
		else
			high = middle;
	}
	double end_hour, end_factor;
	if (low + 1 < curve->point_count) {
		end_hour = points[low + 1].hour;
		end_factor = points[low + 1].factor;
	} else if (curve->period_ns > 0) {
		end_hour = hours_of(curve->period_ns);
		end_factor = points[0].factor;
	} else {
		return points[low].factor;
	}
	double share = (hour - points[low].hour) / (end_hour - points[low].hour);
	return points[low].factor + share * (end_factor - points[low].factor);
}

static double day_at(const struct tl_curve_spec *curve, double hour)
{
	if (curve->peak_trough <= 1)
		return 1;
	double low = 1 / curve->peak_trough;
	double wave = (1 + cos(two_pi * (hour - curve->peak_hour) / 24)) / 2;
	if (curve->sharpness < 1 || curve->sharpness > 1)
		wave = pow(wave, curve->sharpness);
	return low + (1 - low) * wave;
}

static double weekend_at(const struct tl_curve_spec *curve, double hour)
{
	const double *edge = weekend_hours;
	double share;

	if (hour < edge[3] - HOURS_A_WEEK) /* Monday's first two hours */
		hour += HOURS_A_WEEK;
	if (hour < edge[0])
		return 1;
	if (hour < edge[1])
		share = (hour - edge[0]) / (edge[1] - edge[0]);
	else if (hour < edge[2])
		share = 1;
	else
		share = (edge[3] - hour) / (edge[3] - edge[2]);
	return 1 + share * (curve->weekend - 1);
}

static double launch_at(const struct tl_curve_spec *curve, int64_t t_ns)
{
	if (curve->launch_factor <= 1 || t_ns < curve->launch_ns)
		return 1;
	int64_t since = t_ns - curve->launch_ns;
	if (curve->launch_every_ns > 0)
		since %= curve->launch_every_ns;
	return 1 +
	       (curve->launch_factor - 1) * exp(-(double)since / (double)curve->launch_decay_ns);
}

double tl_curve_at(const struct tl_curve_spec *curve, int64_t t_ns)
{
	double hour = hours_of((curve->start_ns + t_ns) % week_ns);
	double factor =
	    curve->point_count > 0 ? points_at(curve, t_ns) : day_at(curve, fmod(hour, 24));

	return factor * weekend_at(curve, hour) * launch_at(curve, t_ns);
}

static void lower(int64_t *least, int64_t candidate)
{
	if (candidate < *least)
		*least = candidate;
}

int64_t tl_curve_next_bend(const struct tl_curve_spec *curve, int64_t t_ns)
{
	int64_t next = TL_NEVER;

	if (curve->weekend < 1 || curve->weekend > 1) {
		int64_t into = (curve->start_ns + t_ns) % week_ns;
		for (int i = 0; i < 4; i++) {
			int64_t edge = (int64_t)weekend_hours[i] * TL_NS_PER_HOUR % week_ns;
			lower(&next, t_ns - into + edge + (edge <= into ? week_ns : 0));
		}
	}
	if (curve->launch_factor > 1) {
		if (t_ns < curve->launch_ns)
			lower(&next, curve->launch_ns);
		else if (curve->launch_every_ns > 0)
			lower(&next, t_ns + curve->launch_every_ns -
			                 (t_ns - curve->launch_ns) % curve->launch_every_ns);
	}
	if (curve->point_count > 0) {
		int64_t period = curve->period_ns;
		int64_t into = curve->start_ns + t_ns;
		into = period > 0 ? into % period : into;
		size_t low = 0, high = curve->point_count;
		while (low < high) { /* the first point after into */
			size_t middle = low + (high - low) / 2;
			if ((int64_t)(curve->points[middle].hour * (double)TL_NS_PER_HOUR) <= into)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < curve->point_count)
			lower(&next,
			      t_ns - into +
			          (int64_t)(curve->points[low].hour * (double)TL_NS_PER_HOUR));
		else if (period > 0)
			lower(&next, t_ns - into + period);
	}
	return next;
}

double tl_curve_max(const struct tl_curve_spec *curve)
{
	double day = curve->point_count > 0 ? 0 : 1;

	for (size_t i = 0; i < curve->point_count; i++)
		day = fmax(day, curve->points[i].factor);
	return day * fmax(1, curve->weekend) * curve->launch_factor;
}
