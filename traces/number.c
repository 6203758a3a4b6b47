/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "traces/number.h"

#include "sim/base/units.h"

#include <string.h>

enum { MANTISSA_DIGITS = 30, EXPONENT_MAX = 1000, LONG_FRACTION = 7 };

static const int64_t powers_of_ten[] = {1,      10,      100,      1000,      10000,
                                        100000, 1000000, 10000000, 100000000, 1000000000};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool tl_number_is_list(const char *text)
{
	size_t dashes = 0;
	size_t group[4] = {0};

	while (is_blank(*text))
		text++;
	if (*text == '{' || *text == '[')
		return true;
	if (!is_digit(*text))
		return false;
	for (; *text != '\0'; text++) {
		if (is_digit(*text)) {
			if (dashes < 4)
				group[dashes]++;
		} else if (*text == '-' && is_digit(text[1])) {
			dashes++;
		} else {
			return false;
		}
	}
	bool date = dashes == 2 && group[0] == 4 && group[1] == 2 && group[2] == 2;
	return dashes > 0 && !date;
}

/* mantissa × 10^shift; tells in out what was lost. */
static int64_t scale_mantissa(tl_u128 mantissa, int shift, struct tl_number *out)
{
	while (shift > 0 && mantissa != 0) {
		if (mantissa > (tl_u128)INT64_MAX) {
			out->saturated = true;
			return INT64_MAX;
		}
		mantissa *= 10;
		shift--;
	}
	if (shift < -MANTISSA_DIGITS - 1) {
		out->rounded = out->rounded || mantissa != 0;
		return 0;
	}
	if (shift < 0) {
		tl_u128 divisor = 1;
		for (; shift < 0; shift++)
			divisor *= 10;
		out->rounded = out->rounded || mantissa % divisor != 0;
		mantissa = (mantissa + divisor / 2) / divisor;
	}
	if (mantissa > (tl_u128)INT64_MAX) {
		out->saturated = true;
		return INT64_MAX;
	}
	return (int64_t)mantissa;
}

/* The exponent after an `e`; moves *at past it. False where there is none. */
static bool read_exponent(const char **at, int *out)
{
	const char *c = *at;
	bool negative = *c == '-';
	int exponent = 0;

	if (*c == '-' || *c == '+')
		c++;
	if (!is_digit(*c))
		return false;
	for (; is_digit(*c); c++) {
		if (exponent < EXPONENT_MAX)
			exponent = exponent * 10 + (*c - '0');
	}
	*out = negative ? -exponent : exponent;
	*at = c;
	return true;
}

/* Everything but plain short integers. */
static struct tl_number parse_general(const char *c, bool negative, int digits)
{
	struct tl_number number = {.kind = TL_NUMBER_BAD};
	tl_u128 mantissa = 0;
	int significant = 0, exponent = 0, fraction = 0, written_exponent = 0;
	bool any = false, point = false, fraction_zero = true;

	for (; is_digit(*c) || (*c == '.' && !point); c++) {
		if (*c == '.') {
			point = true;
			continue;
		}
		any = true;
		if (point) {
			fraction++;
			fraction_zero = fraction_zero && *c == '0';
		}
		if (significant < MANTISSA_DIGITS) {
			mantissa = mantissa * 10 + (unsigned)(*c - '0');
			significant += mantissa != 0;
			exponent -= point;
		} else {
			number.rounded = number.rounded || *c != '0';
			exponent += !point && exponent < EXPONENT_MAX;
		}
	}
	if (!any)
		return number;
	if (*c == 'e' || *c == 'E') {
		c++;
		number.scientific = true;
		if (!read_exponent(&c, &written_exponent))
			return number;
	}
	while (is_blank(*c))
		c++;
	if (*c != '\0')
		return number;
	number.kind = TL_NUMBER_VALUE;
	number.whole_decimal = point && fraction_zero && !number.scientific;
	number.long_fraction = fraction >= LONG_FRACTION;
	number.value = scale_mantissa(mantissa, exponent + written_exponent + digits, &number);
	if (negative)
		number.value = -number.value;
	return number;
}

struct tl_number tl_number_parse(const char *text, int digits)
{
	struct tl_number number = {.kind = TL_NUMBER_EMPTY};

	while (is_blank(*text))
		text++;
	if (*text == '\0')
		return number;
	const char *c = text;
	bool negative = *c == '-';
	if (*c == '-' || *c == '+')
		c++;
	int64_t value = 0;
	const char *end = c;
	while (is_digit(*end) && end - c < 9) {
		value = value * 10 + (*end - '0');
		end++;
	}
	if (*end == '\0' && end > c) { /* at most 9 digits: 10^18 at the largest scale */
		number.kind = TL_NUMBER_VALUE;
		number.value = (negative ? -value : value) * powers_of_ten[digits];
		return number;
	}
	number = parse_general(c, negative, digits);
	if (number.kind == TL_NUMBER_BAD && tl_number_is_list(text))
		number.kind = TL_NUMBER_LIST;
	return number;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static int days_in_month(int year, int month)
{
	static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	return days[month - 1] + (month == 2 && is_leap(year));
}

int64_t tl_days_from_date(int year, int month, int day)
{
	static const int before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	enum { DAYS_BEFORE_1970 = 719162 }; /* from 0001-01-01 */
	int64_t whole = year - 1;
	int64_t days = whole * 365 + whole / 4 - whole / 100 + whole / 400;

	days += before[month - 1] + (month > 2 && is_leap(year)) + day - 1;
	return days - DAYS_BEFORE_1970;
}

/* Exactly count digits; moves *at past them. */
static bool read_digits(const char **at, int count, int *out)
{
	int value = 0;
	for (int i = 0; i < count; i++) {
		if (!is_digit((*at)[i]))
			return false;
		value = value * 10 + ((*at)[i] - '0');
	}
	*at += count;
	*out = value;
	return true;
}

static bool read_mark(const char **at, char mark)
{
	if (**at != mark)
		return false;
	(*at)++;
	return true;
}

static bool read_fraction(const char *c, int64_t *out_ns, bool *is_long)
{
	int64_t ns = 0;
	int count = 0;

	*out_ns = 0;
	if (*c == '.') {
		for (c++; is_digit(*c); c++, count++) {
			if (count < 9)
				ns += (*c - '0') * powers_of_ten[8 - count];
		}
		if (count == 0)
			return false;
	}
	while (is_blank(*c))
		c++;
	*out_ns = ns;
	*is_long = count >= LONG_FRACTION;
	return *c == '\0';
}

bool tl_timestamp_parse(const char *text, struct tl_timestamp *out)
{
	int year, month, day, hour, minute, second;
	int64_t fraction;
	const char *c = text;

	while (is_blank(*c))
		c++;
	if (!read_digits(&c, 4, &year) || !read_mark(&c, '-') || !read_digits(&c, 2, &month) ||
	    !read_mark(&c, '-') || !read_digits(&c, 2, &day))
		return false;
	if (*c != ' ' && *c != 'T')
		return false;
	c++;
	if (!read_digits(&c, 2, &hour) || !read_mark(&c, ':') || !read_digits(&c, 2, &minute) ||
	    !read_mark(&c, ':') || !read_digits(&c, 2, &second))
		return false;
	if (!read_fraction(c, &fraction, &out->long_fraction))
		return false;
	if (year < 1900 || year > 2100 || month < 1 || month > 12 || day < 1 ||
	    day > days_in_month(year, month) || hour > 23 || minute > 59 || second > 59)
		return false;
	int64_t days = tl_days_from_date(year, month, day);
	int64_t seconds = days * 86400 + hour * 3600 + minute * 60 + second;
	bool sunday = (days % 7 + 11) % 7 == 0; /* 1970-01-01 was a Thursday */
	out->repeated_hour = month == 11 && day <= 7 && sunday && hour == 1;
	out->ns = seconds * TL_NS_PER_S + fraction;
	return true;
}
