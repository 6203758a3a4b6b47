/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Text to exact integers: decimals and naive timestamps, without locale or zone. */
#ifndef TIDELAB_TRACES_NUMBER_H
#define TIDELAB_TRACES_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

enum tl_number_kind {
	TL_NUMBER_VALUE,
	TL_NUMBER_EMPTY,
	TL_NUMBER_LIST, /* `159-189-229-289`, `{…}`, `[…]` where one number was wanted */
	TL_NUMBER_BAD
};

/* value: the number × 10^digits, rounded half away from zero. */
struct tl_number {
	enum tl_number_kind kind;
	int64_t value;
	bool rounded;       /* digits beyond the scale were lost */
	bool saturated;     /* |value| did not fit: INT64_MAX or −INT64_MAX */
	bool whole_decimal; /* an integer written `66.0` */
	bool scientific;    /* `1.2e3` */
	bool long_fraction; /* 7 or more digits after the point */
};

/* Reads the whole of text (spaces around it allowed). digits ≤ 9. */
struct tl_number tl_number_parse(const char *text, int digits);

/* Whether text is a list rather than one value. A date is not one. */
bool tl_number_is_list(const char *text);

struct tl_timestamp {
	int64_t ns; /* since 1970-01-01 00:00:00 on the same clock */
	bool long_fraction;
	bool repeated_hour; /* 01:00–01:59 of the first Sunday in November (end of US DST) */
};

/* `YYYY-MM-DD HH:MM:SS[.fraction]`, also with a `T`; years 1900–2100. Read as
 * written. False where it is anything else. */
bool tl_timestamp_parse(const char *text, struct tl_timestamp *out);

/* Days from 1970-01-01 to a date of the Gregorian calendar; year ≥ 1, month 1–12. */
int64_t tl_days_from_date(int year, int month, int day);

#endif
