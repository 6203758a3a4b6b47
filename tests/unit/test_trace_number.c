/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/units.h"
#include "traces/number.h"

#include <criterion/criterion.h>

static int64_t value_of(const char *text, int digits)
{
	struct tl_number number = tl_number_parse(text, digits);
	cr_assert_eq(number.kind, TL_NUMBER_VALUE, "`%s`", text);
	return number.value;
}

Test(trace_number, decimals_are_exact)
{
	cr_expect_eq(value_of("0", 9), 0);
	cr_expect_eq(value_of("66.0", 9), 66 * TL_NS_PER_S);
	cr_expect_eq(value_of("-1", 9), -TL_NS_PER_S);
	cr_expect_eq(value_of("+7", 0), 7);
	cr_expect_eq(value_of(" 12 ", 0), 12);
	cr_expect_eq(value_of("0.000000001", 9), 1);
	cr_expect_eq(value_of("0.0000000005", 9), 1);
	cr_expect_eq(value_of("0.0000000004", 9), 0);
	cr_expect_eq(value_of("-0.0000000005", 9), -1);
	cr_expect_eq(value_of("9223372036.854775807", 9), INT64_MAX);
	cr_expect_eq(value_of("-1359980917", 9), -1359980917 * TL_NS_PER_S);
	cr_expect_eq(value_of("1.5e2", 0), 150);
	cr_expect_eq(value_of("15E-1", 3), 1500);
	cr_expect_eq(value_of(".5", 3), 500);
	cr_expect_eq(value_of("5.", 0), 5);
	cr_expect_eq(value_of("1234567890123", 0), INT64_C(1234567890123));
	cr_expect_eq(value_of("0.46", 3), 460);
}

Test(trace_number, notes_how_it_was_written)
{
	cr_expect(tl_number_parse("66.0", 9).whole_decimal);
	cr_expect_not(tl_number_parse("66.5", 9).whole_decimal);
	cr_expect_not(tl_number_parse("66", 9).whole_decimal);
	cr_expect(tl_number_parse("1e3", 9).scientific);
	cr_expect(tl_number_parse("0.1234567", 9).long_fraction);
	cr_expect_not(tl_number_parse("0.123456", 9).long_fraction);
}

Test(trace_number, too_large_saturates)
{
	struct tl_number number = tl_number_parse("1e300", 9);
	cr_expect(number.saturated);
	cr_expect_eq(number.value, INT64_MAX);
	number = tl_number_parse("-99999999999999999999999999999999999999999999999999", 0);
	cr_expect(number.saturated);
	cr_expect_eq(number.value, -INT64_MAX);
	cr_expect_eq(value_of("1e-300", 9), 0);
	cr_expect_eq(value_of("1e-999999999999", 9), 0);
	cr_expect_eq(value_of("0e999999999999", 9), 0);
}

Test(trace_number, what_is_lost_is_told)
{
	static const char *const exact[] = {"0.125", "1e-3", "12.500", "0", "1000000000.000000"};
	static const char *const rounded[] = {
	    "0.0001", "0.9999", "1e-4", "1e-300", "0.12500000000000000000000000000000000000000001",
	};

	for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
		cr_expect_not(tl_number_parse(exact[i], 3).rounded, "%s", exact[i]);
	for (size_t i = 0; i < sizeof rounded / sizeof *rounded; i++)
		cr_expect(tl_number_parse(rounded[i], 3).rounded, "%s", rounded[i]);
}

Test(trace_number, what_is_no_number)
{
	static const char *const bad[] = {"abc", "1x",   "1.2.3", "--1", "e5",  "1e", "nan",
	                                  "inf", "0x10", ".",     "-",   "1,5", "1 2"};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_eq(tl_number_parse(bad[i], 9).kind, TL_NUMBER_BAD, "`%s`", bad[i]);
	cr_expect_eq(tl_number_parse("", 9).kind, TL_NUMBER_EMPTY);
	cr_expect_eq(tl_number_parse("  ", 9).kind, TL_NUMBER_EMPTY);
	cr_expect_eq(tl_number_parse("159-189-229-289", 9).kind, TL_NUMBER_LIST);
	cr_expect_eq(tl_number_parse("{1, 2}", 9).kind, TL_NUMBER_LIST);
}

Test(trace_number, lists_are_told_from_dates)
{
	cr_expect(tl_number_is_list("159-189-229-289"));
	cr_expect(tl_number_is_list("1-2"));
	cr_expect(tl_number_is_list("{a}"));
	cr_expect(tl_number_is_list("[1]"));
	cr_expect_not(tl_number_is_list("2017-10-09"));
	cr_expect_not(tl_number_is_list("2017-10-09 07:01:55"));
	cr_expect_not(tl_number_is_list("-5"));
	cr_expect_not(tl_number_is_list("1-"));
	cr_expect_not(tl_number_is_list("vc-1"));
	cr_expect_not(tl_number_is_list("66.0"));
	cr_expect_not(tl_number_is_list(""));
}

static int64_t seconds_of(const char *text)
{
	struct tl_timestamp stamp;
	cr_assert(tl_timestamp_parse(text, &stamp), "`%s`", text);
	return stamp.ns / TL_NS_PER_S;
}

Test(trace_number, timestamps)
{
	cr_expect_eq(seconds_of("1970-01-01 00:00:00"), 0);
	cr_expect_eq(seconds_of("1969-12-31 23:59:59"), -1);
	cr_expect_eq(seconds_of("2017-10-07 01:11:39"), 1507338699);
	cr_expect_eq(seconds_of("2000-02-29 12:00:00"), 951825600);
	cr_expect_eq(seconds_of("2100-03-01T00:00:00"), INT64_C(4107542400));
	struct tl_timestamp stamp;
	cr_assert(tl_timestamp_parse("1970-01-01 00:00:01.1234567", &stamp));
	cr_expect_eq(stamp.ns, 1123456700);
	cr_expect(stamp.long_fraction);
	cr_assert(tl_timestamp_parse("2017-11-05 01:00:00", &stamp));
	cr_expect(stamp.repeated_hour);
	cr_assert(tl_timestamp_parse("2017-11-05 02:00:00", &stamp));
	cr_expect_not(stamp.repeated_hour);
	cr_assert(tl_timestamp_parse("2017-11-12 01:00:00", &stamp));
	cr_expect_not(stamp.repeated_hour);
}

Test(trace_number, what_is_no_timestamp)
{
	static const char *const bad[] = {"",
	                                  "2017-10-07",
	                                  "2017-13-07 00:00:00",
	                                  "2017-02-29 00:00:00",
	                                  "2100-02-29 00:00:00",
	                                  "2017-10-07 24:00:00",
	                                  "2017-10-07 00:60:00",
	                                  "2017-10-07 00:00:60",
	                                  "2017-10-07 00:00:00Z",
	                                  "2017-10-07 00:00:00.",
	                                  "17-10-07 00:00:00",
	                                  "1507338699",
	                                  "2017-00-01 00:00:00",
	                                  "2017-01-00 00:00:00",
	                                  "1492-01-01 00:00:00"};
	struct tl_timestamp stamp;

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		cr_expect_not(tl_timestamp_parse(bad[i], &stamp), "`%s`", bad[i]);
}
