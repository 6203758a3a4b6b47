/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"

#include "sim/base/assert.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest text quoted back in a message. */
#define QUOTED "%.60s"

const struct tl_unit tl_duration_units[TL_DURATION_UNITS + 1] = {
    {"d", TL_NS_PER_DAY},
    {"h", TL_NS_PER_HOUR},
    {"min", TL_NS_PER_MIN},
    {"s", TL_NS_PER_S},
    {"ms", TL_NS_PER_MS},
    {"us", TL_NS_PER_US},
    {"ns", 1},
    {NULL, 0},
};

static const struct tl_unit size_suffixes[] = {
    {"", 1},
    {"B", 1},
    {"KiB", TL_KIB},
    {"MiB", TL_MIB},
    {"GiB", TL_GIB},
    {"TiB", 1024 * TL_GIB},
    {"kB", 1000},
    {"MB", 1000000},
    {"GB", 1000000000},
    {"TB", INT64_C(1000000000000)},
    {NULL, 0},
};

static const struct tl_unit share_suffixes[] = {
    {"", TL_MGPU_PER_GPU},
    {"m", 1},
    {NULL, 0},
};

static const struct tl_unit rate_suffixes[] = {
    {"", 1}, {"/s", 1}, {"/min", 60}, {"/h", 3600}, {"/d", 86400}, {NULL, 0},
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const struct tl_unit *find_suffix(const struct tl_unit *table, const char *name)
{
	for (; table->name; table++)
		if (strcmp(table->name, name) == 0)
			return table;
	return NULL;
}

/* A decimal number as digits / 10^decimals, so that nothing is lost to binary fractions. */
struct decimal {
	tl_i128 digits;
	int decimals;
};

enum { DECIMAL_DIGITS = 24 }; /* 10^24 × a day in ns stays within 128 bits */

enum decimal_fault { DECIMAL_FINE, DECIMAL_MALFORMED, DECIMAL_TOO_LONG };

/* Reads `12` or `12.5` at the start of text; *rest is what follows. */
static enum decimal_fault read_decimal(const char *text, struct decimal *out, const char **rest)
{
	tl_i128 limit = 1;
	tl_i128 digits = 0;
	int decimals = 0;
	const char *p = text;
	bool too_long = false;

	for (int i = 0; i < DECIMAL_DIGITS - 1; i++)
		limit *= 10;
	if (!is_digit(*p))
		return DECIMAL_MALFORMED;
	for (; is_digit(*p); p++) {
		too_long = too_long || digits >= limit;
		digits = too_long ? limit : digits * 10 + (*p - '0');
	}
	if (*p == '.') {
		const char *end = ++p;

		if (!is_digit(*p))
			return DECIMAL_MALFORMED;
		for (const char *q = p; is_digit(*q); q++)
			if (*q != '0')
				end = q + 1;
		/* Noughts at the end add no information. */
		for (; p < end; p++, decimals++) {
			too_long = too_long || digits >= limit || decimals >= DECIMAL_DIGITS;
			digits = too_long ? limit : digits * 10 + (*p - '0');
		}
		while (is_digit(*p))
			p++;
	}
	*out = (struct decimal){digits, decimals};
	*rest = p;
	return too_long ? DECIMAL_TOO_LONG : DECIMAL_FINE;
}

/* What a kind of quantity accepts, and how a refusal words it. */
struct quantity {
	const char *what;   /* "duration" */
	const char *wanted; /* "a number and …, such as 90s" */
	const char *least;  /* "1 ns" */
	const struct tl_unit *suffixes;
	bool rounds;    /* to the nearest whole, halves up; else a finer value is refused */
	bool bare_zero; /* `0` needs no suffix */
};

static enum tl_status parse_quantity(const struct quantity *kind, const char *text, int64_t *out,
                                     struct tl_error *error)
{
	struct decimal number;
	const struct tl_unit *suffix;
	const char *rest;
	tl_i128 divisor = 1, product, value;
	enum decimal_fault fault = read_decimal(text, &number, &rest);

	if (fault == DECIMAL_MALFORMED)
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0, "%s: got `" QUOTED "`, wanted %s",
		                    kind->what, text, kind->wanted);
	suffix = find_suffix(kind->suffixes, rest);
	if (!suffix && !(kind->bare_zero && number.digits == 0 && *rest == '\0'))
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0, "%s: got `" QUOTED "`, wanted %s",
		                    kind->what, text, kind->wanted);
	if (fault == DECIMAL_TOO_LONG)
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "%s: got `" QUOTED "`, wanted at most %d digits", kind->what,
		                    text, DECIMAL_DIGITS);
	for (int i = 0; i < number.decimals; i++)
		divisor *= 10;
	product = number.digits * (suffix ? suffix->factor : 1);
	value = product / divisor;
	if (product % divisor != 0) {
		if (!kind->rounds || (value == 0 && product * 2 < divisor))
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "%s: got `" QUOTED "`, wanted nothing finer than %s",
			                    kind->what, text, kind->least);
		if (product % divisor * 2 >= divisor)
			value++;
	}
	/* INT64_MAX itself is TL_NEVER. */
	if (value >= INT64_MAX)
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "%s: got `" QUOTED "`, wanted less than 2^63 × %s", kind->what,
		                    text, kind->least);
	*out = (int64_t)value;
	return TL_OK;
}

enum tl_status tl_parse_duration(const char *text, int64_t *out_ns, struct tl_error *error)
{
	static const struct quantity duration = {
	    .what = "duration",
	    .wanted = "a number and ns, us, ms, s, min, h or d, such as 90s",
	    .least = "1 ns",
	    .suffixes = tl_duration_units,
	    .rounds = true,
	    .bare_zero = true,
	};

	return parse_quantity(&duration, text, out_ns, error);
}

enum tl_status tl_parse_size(const char *text, int64_t *out_bytes, struct tl_error *error)
{
	static const struct quantity size = {
	    .what = "size",
	    .wanted = "bytes, or a number and KiB, MiB, GiB, TiB, kB, MB, GB or TB, such as 40GiB",
	    .least = "1 byte",
	    .suffixes = size_suffixes,
	    .rounds = true,
	};

	return parse_quantity(&size, text, out_bytes, error);
}

enum tl_status tl_parse_share(const char *text, int64_t *out_mgpu, struct tl_error *error)
{
	static const struct quantity share = {
	    .what = "GPU share",
	    .wanted = "GPUs or milli-GPUs, such as 0.5 or 500m",
	    .least = "1 milli-GPU",
	    .suffixes = share_suffixes,
	};

	return parse_quantity(&share, text, out_mgpu, error);
}

/* The end of a plain decimal number with an optional exponent; NULL where there is
 * none. strtod alone would also take ` 1`, `inf`, `nan` and `0x1p3`. */
static const char *number_end(const char *text)
{
	const char *p = text;
	bool digits = false;

	if (*p == '+' || *p == '-')
		p++;
	for (; is_digit(*p); p++)
		digits = true;
	if (*p == '.')
		for (p++; is_digit(*p); p++)
			digits = true;
	if (!digits)
		return NULL;
	if (*p == 'e' || *p == 'E') {
		const char *exponent = p + 1;

		if (*exponent == '+' || *exponent == '-')
			exponent++;
		if (!is_digit(*exponent))
			return NULL;
		for (p = exponent; is_digit(*p);)
			p++;
	}
	return p;
}

enum tl_status tl_parse_rate(const char *text, double *out_per_s, struct tl_error *error)
{
	const char *end = number_end(text);
	const struct tl_unit *suffix = end ? find_suffix(rate_suffixes, end) : NULL;
	double value;

	if (!suffix || *text == '-')
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "rate: got `" QUOTED
		                    "`, wanted a number a second, or a number and "
		                    "/s, /min, /h or /d, such as 6/h",
		                    text);
	value = strtod(text, NULL);
	if (!isfinite(value))
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "rate: got `" QUOTED "`, wanted a finite number", text);
	*out_per_s = value / (double)suffix->factor;
	return TL_OK;
}

enum tl_status tl_parse_int(const char *text, int64_t *out, struct tl_error *error)
{
	const char *p = text + (*text == '-' || *text == '+');
	long long value;

	_Static_assert(sizeof value == sizeof *out, "strtoll reads an int64_t");
	if (!is_digit(*p) || p[strspn(p, "0123456789")] != '\0')
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "got `" QUOTED "`, wanted a whole number", text);
	errno = 0;
	value = strtoll(text, NULL, 10);
	if (errno == ERANGE)
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "got `" QUOTED "`, wanted a whole number that fits 64 bits",
		                    text);
	*out = value;
	return TL_OK;
}

enum tl_status tl_parse_double(const char *text, double *out, struct tl_error *error)
{
	const char *end = number_end(text);
	double value;

	if (!end || *end != '\0')
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "got `" QUOTED "`, wanted a number", text);
	value = strtod(text, NULL);
	if (!isfinite(value))
		return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
		                    "got `" QUOTED "`, wanted a finite number", text);
	*out = value;
	return TL_OK;
}

static size_t largest_unit(tl_i128 ns)
{
	size_t unit = 0;

	while (unit < TL_DURATION_UNITS - 1 && ns < tl_duration_units[unit].factor)
		unit++;
	return unit;
}

const char *tl_format_duration(int64_t ns, char *buffer, unsigned long size)
{
	tl_i128 rest = ns < 0 ? -(tl_i128)ns : ns;
	const struct tl_unit *first, *second;
	const char *sign = ns < 0 ? "-" : "";
	int64_t firsts, seconds;
	size_t unit;

	if (ns == 0 || ns == TL_NEVER || ns == TL_NONE) {
		(void)snprintf(buffer, size, "%s",
		               ns == 0          ? "0s"
		               : ns == TL_NEVER ? "never"
		                                : "none");
		return buffer;
	}
	/* The two largest units; what they leave is rounded away, which may carry. */
	unit = largest_unit(rest);
	if (unit < TL_DURATION_UNITS - 1) {
		tl_i128 step = tl_duration_units[unit + 1].factor;

		rest = (rest + step / 2) / step * step;
		unit = largest_unit(rest);
	}
	first = &tl_duration_units[unit];
	firsts = (int64_t)(rest / first->factor);
	second = unit < TL_DURATION_UNITS - 1 ? first + 1 : first;
	seconds = (int64_t)(rest % first->factor / second->factor);
	if (seconds == 0)
		(void)snprintf(buffer, size, "%s%lld%s", sign, (long long)firsts, first->name);
	else
		(void)snprintf(buffer, size, "%s%lld%s %lld%s", sign, (long long)firsts,
		               first->name, (long long)seconds, second->name);
	return buffer;
}

const char *tl_format_size(int64_t bytes, char *buffer, unsigned long size)
{
	static const char *const names[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	tl_i128 magnitude = bytes < 0 ? -(tl_i128)bytes : bytes;
	const char *sign = bytes < 0 ? "-" : "";
	tl_i128 unit = 1, tenths;
	size_t i = 0;

	while (i + 1 < sizeof names / sizeof names[0] && magnitude >= unit * 1024) {
		unit *= 1024;
		i++;
	}
	tenths = (magnitude * 10 + unit / 2) / unit;
	if (tenths >= 10240 && i + 1 < sizeof names / sizeof names[0]) {
		tenths = 10;
		i++;
	}
	if (tenths % 10 == 0)
		(void)snprintf(buffer, size, "%s%lld%s", sign, (long long)(tenths / 10), names[i]);
	else
		(void)snprintf(buffer, size, "%s%lld.%lld%s", sign, (long long)(tenths / 10),
		               (long long)(tenths % 10), names[i]);
	return buffer;
}

const char *tl_format_instant(int64_t at_ns, char *buffer, unsigned long size)
{
	long long seconds = at_ns / TL_NS_PER_S, days = seconds / 86400;
	char day[16] = "";

	if (at_ns < 0 || at_ns == TL_NEVER) {
		(void)snprintf(buffer, size, at_ns < 0 ? "none" : "never");
		return buffer;
	}
	if (days > 0)
		(void)snprintf(day, sizeof day, "%lldd ", days);
	(void)snprintf(buffer, size, "%s%02lld:%02lld:%02lld", day, seconds / 3600 % 24,
	               seconds / 60 % 60, seconds % 60);
	return buffer;
}

int64_t tl_time_of_work(int64_t work_ns, int64_t speed_ppb)
{
	tl_i128 time;

	TL_ASSERT(work_ns >= 0 && speed_ppb > 0);
	if (speed_ppb == TL_PPB)
		return work_ns;
	time = ((tl_i128)work_ns * TL_PPB + speed_ppb - 1) / speed_ppb;
	return time < TL_NEVER ? (int64_t)time : TL_NEVER;
}

int64_t tl_work_of_time(int64_t time_ns, int64_t speed_ppb)
{
	tl_i128 work;

	TL_ASSERT(time_ns >= 0 && speed_ppb >= 0);
	if (speed_ppb == TL_PPB)
		return time_ns;
	work = (tl_i128)time_ns * speed_ppb / TL_PPB;
	return work < INT64_MAX ? (int64_t)work : INT64_MAX;
}

int64_t tl_time_add(int64_t a_ns, int64_t b_ns)
{
	TL_ASSERT(a_ns >= 0 && b_ns >= 0);
	return a_ns > TL_NEVER - b_ns ? TL_NEVER : a_ns + b_ns;
}
