/* SPDX-License-Identifier: GPL-3.0-or-later */
/* KEY=VALUES: a list, a range in exact decimals, or an interval. */
#include "analysis/design.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 15 }; /* of a number in all: its value fits 64 bits at any scale used */

/* A decimal as written: mantissa / 10^digits, then a unit. */
struct decimal {
	int64_t mantissa;
	int digits;
	char unit[16];
};

static const char wanted[] = "KEY=VALUE,.. or KEY=FIRST:LAST:STEP";

static int64_t power_of_ten(int digits)
{
	int64_t power = 1;

	while (digits-- > 0)
		power *= 10;
	return power;
}

static bool read_decimal(const char *text, size_t length, struct decimal *out)
{
	const char *p = text, *end = text + length;
	bool negative = p < end && *p == '-', point = false;
	int count = 0;

	*out = (struct decimal){.digits = 0};
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	for (; p < end && ((*p >= '0' && *p <= '9') || (*p == '.' && !point)); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		if (++count > DIGITS_MAX)
			return false;
		out->mantissa = out->mantissa * 10 + (*p - '0');
		out->digits += point;
	}
	if (count == 0 || (size_t)(end - p) >= sizeof out->unit)
		return false;
	/* A unit begins with a letter: `1d`, not `1_000` or `1e5`. */
	if (p < end && (strchr("eE", *p) != NULL ||
	                strspn(p, "abcdefghijklmnopqrstuvwxyz"
	                          "ABCDEFGHIJKLMNOPQRSTUVWXYZ/%") < (size_t)(end - p)))
		return false;
	memcpy(out->unit, p, (size_t)(end - p));
	if (negative)
		out->mantissa = -out->mantissa;
	return true;
}

/* Up to three parts between colons; 0 where the text is not made of numbers. */
static size_t read_range(const char *text, struct decimal parts[3])
{
	size_t count = 0;

	for (;;) {
		size_t length = strcspn(text, ":");

		if (count == 3 || !read_decimal(text, length, &parts[count]))
			return 0;
		count++;
		if (text[length] == '\0')
			return count > 1 ? count : 0;
		text += length + 1;
	}
}

static void add_value(struct tl_axis *axis, const char *text, size_t length)
{
	axis->values = tl_grow(axis->values, &axis->room, axis->count + 1, sizeof *axis->values);
	axis->values[axis->count++] = tl_strndup(text, length);
}

/* The shortest form: 1.05, 1.1, 1. */
static void add_decimal(struct tl_axis *axis, int64_t mantissa, int digits, const char *unit)
{
	uint64_t size = mantissa < 0 ? 0 - (uint64_t)mantissa : (uint64_t)mantissa;
	uint64_t scale;
	char text[64];
	int length;

	while (digits > 0 && size % 10 == 0) {
		size /= 10;
		digits--;
	}
	scale = (uint64_t)power_of_ten(digits);
	if (digits == 0)
		length = snprintf(text, sizeof text, "%s%llu%s", mantissa < 0 ? "-" : "",
		                  (unsigned long long)size, unit);
	else
		length = snprintf(text, sizeof text, "%s%llu.%0*llu%s", mantissa < 0 ? "-" : "",
		                  (unsigned long long)(size / scale), digits,
		                  (unsigned long long)(size % scale), unit);
	add_value(axis, text, (size_t)length);
}

static double value_of(const struct decimal *decimal)
{
	return (double)decimal->mantissa / (double)power_of_ten(decimal->digits);
}

static enum tl_status step_through(struct tl_axis *axis, const char *text, struct decimal parts[3],
                                   struct tl_error *error)
{
	int digits = 0;
	int64_t first, last, step;
	uint64_t steps;

	for (size_t i = 0; i < 3; i++)
		if (parts[i].digits > digits)
			digits = parts[i].digits;
	for (size_t i = 0; i < 3; i++) {
		int64_t scale = power_of_ten(digits - parts[i].digits);

		if (llabs(parts[i].mantissa) > INT64_MAX / 4 / scale)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "%s %s: the range `%.60s` has too many digits, "
			                    "wanted at most 18 in all",
			                    axis->flag, axis->key, text);
		parts[i].mantissa *= scale;
	}
	first = parts[0].mantissa;
	last = parts[1].mantissa;
	step = parts[2].mantissa;
	if (step == 0 || (step > 0 && last < first) || (step < 0 && last > first))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "%s %s: the range never ends: got `%.60s`, wanted a step "
		                    "that leads from the first value to the last",
		                    axis->flag, axis->key, text);
	steps = (uint64_t)((last - first) / step);
	if (steps >= TL_DESIGN_RUNS_MAX)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "%s %s: got `%.60s`, which is %llu values, wanted at most "
		                    "%d",
		                    axis->flag, axis->key, text, (unsigned long long)steps + 1,
		                    TL_DESIGN_RUNS_MAX);
	for (uint64_t i = 0; i <= steps; i++)
		add_decimal(axis, first + (int64_t)i * step, digits, parts[0].unit);
	return TL_OK;
}

/* The end of a list's element: commas inside brackets and quotes do not split. */
static size_t element(const char *text)
{
	size_t i = 0;
	unsigned depth = 0;
	char quote = '\0';

	for (; text[i] != '\0'; i++) {
		if (quote != '\0') {
			if (text[i] == '\\' && quote == '"' && text[i + 1] != '\0')
				i++;
			else if (text[i] == quote)
				quote = '\0';
		} else if (text[i] == '"' || text[i] == '\'') {
			quote = text[i];
		} else if (text[i] == '{' || text[i] == '[') {
			depth++;
		} else if ((text[i] == '}' || text[i] == ']') && depth > 0) {
			depth--;
		} else if (text[i] == ',' && depth == 0) {
			break;
		}
	}
	return i;
}

static enum tl_status take_list(struct tl_axis *axis, const char *text, struct tl_error *error)
{
	for (const char *p = text;; p++) {
		size_t length = element(p);

		if (length == 0)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "%s %s: got `%.60s`, in which a value is empty, "
			                    "wanted %s",
			                    axis->flag, axis->key, text, wanted);
		if (axis->count == TL_DESIGN_RUNS_MAX)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "%s %s: wanted at most %d values", axis->flag,
			                    axis->key, TL_DESIGN_RUNS_MAX);
		for (size_t i = 0; i < axis->count; i++)
			if (strlen(axis->values[i]) == length &&
			    strncmp(axis->values[i], p, length) == 0)
				return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
				                    "%s %s: got `%.*s` twice", axis->flag,
				                    axis->key, length > 60 ? 60 : (int)length, p);
		add_value(axis, p, length);
		p += length;
		if (*p == '\0')
			return TL_OK;
	}
}

enum tl_status tl_axis_parse(const char *flag, const char *text, struct tl_axis *out,
                             struct tl_error *error)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;
	struct decimal parts[3];
	enum tl_status status = TL_OK;
	size_t count;

	*out = (struct tl_axis){.flag = flag, .low = (double)NAN, .high = (double)NAN};
	if (length == 0)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "%s: got `%.100s`, wanted %s",
		                    flag, text, wanted);
	out->key = tl_strndup(text, length);
	count = read_range(equals + 1, parts);
	for (size_t i = 1; i < count && status == TL_OK; i++)
		if (strcmp(parts[i].unit, parts[0].unit) != 0)
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "%s %s: got `%.60s`, wanted one unit throughout",
			                      out->flag, out->key, equals + 1);
	if (count == 2 && status == TL_OK) {
		out->low = value_of(&parts[0]);
		out->high = value_of(&parts[1]);
		out->whole = parts[0].digits == 0 && parts[1].digits == 0;
		memcpy(out->unit, parts[0].unit, sizeof out->unit);
		if (!(out->low < out->high))
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "%s %s: got the interval `%.60s`, wanted LOW:HIGH",
			                      out->flag, out->key, equals + 1);
	} else if (count == 3 && status == TL_OK) {
		status = step_through(out, equals + 1, parts, error);
	} else if (status == TL_OK) {
		status = take_list(out, equals + 1, error);
	}
	if (status != TL_OK)
		tl_axis_fini(out);
	return status;
}

void tl_axis_fini(struct tl_axis *axis)
{
	for (size_t i = 0; i < axis->count; i++)
		free(axis->values[i]);
	free(axis->values);
	free(axis->key);
	*axis = (struct tl_axis){.count = 0};
}
