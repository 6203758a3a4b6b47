/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/number.h"
#include "sim/base/units.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

typedef enum tl_status parse_function(const char *text, int64_t *out, struct tl_error *error);

struct parse_case {
	const char *text;
	int64_t value;
};

static void expect_values(parse_function *parse, const struct parse_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tl_error error = TL_ERROR_INIT;
		int64_t value = -77;

		cr_assert_eq(parse(cases[i].text, &value, &error), TL_OK, "`%s`: %s", cases[i].text,
		             error.message);
		cr_assert_eq(value, cases[i].value, "`%s`: got %lld", cases[i].text,
		             (long long)value);
		cr_assert_eq(error.code, TL_OK);
	}
}

static void expect_refusals(parse_function *parse, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct tl_error error = TL_ERROR_INIT;
		int64_t value = -77;

		cr_assert_eq(parse(texts[i], &value, &error), TL_E_DATA, "`%s` gave %lld", texts[i],
		             (long long)value);
		cr_assert_eq(value, -77);
		cr_assert(strstr(error.message, "got `"), "%s", error.message);
		cr_assert(strstr(error.message, "wanted "), "%s", error.message);
	}
}

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

Test(units, durations)
{
	static const struct parse_case cases[] = {
	    {"90s", 90 * TL_NS_PER_S},
	    {"5min", 300 * TL_NS_PER_S},
	    {"2h", 7200 * TL_NS_PER_S},
	    {"7d", 7 * TL_NS_PER_DAY},
	    {"100ms", INT64_C(100000000)},
	    {"10us", 10000},
	    {"5ns", 5},
	    {"1.5h", 5400 * TL_NS_PER_S},
	    {"0.1s", INT64_C(100000000)},
	    {"0.7d", INT64_C(60480000000000)},
	    {"0.000000001s", 1},
	    {"1.000000000000000000000000000000s", TL_NS_PER_S},
	    {"000000000000000000000000000000001s", TL_NS_PER_S},
	    {"0", 0},
	    {"0.0", 0},
	    {"0s", 0},
	    {"1.5ns", 2},
	    {"1.4ns", 1},
	    {"0.5ns", 1},
	    {"0.33333333333333333h", INT64_C(1200000000000)},
	    {"9223372036854775806ns", INT64_MAX - 1},
	    {"106751d", 106751 * TL_NS_PER_DAY},
	};

	expect_values(tl_parse_duration, cases, COUNT(cases));
}

Test(units, refused_durations)
{
	static const char *const texts[] = {
	    "",
	    " ",
	    "s",
	    "90",
	    "90 s",
	    " 90s",
	    "90s ",
	    "-5s",
	    "+5s",
	    "5m",
	    "5sec",
	    "5S",
	    "1h30m",
	    "1e3s",
	    ".5s",
	    "5.s",
	    "1.2.3s",
	    "0x10s",
	    "inf",
	    "nan",
	    "1,5h",
	    "0.4ns",
	    "00.0x",
	    "1_000s",
	    "9223372036854775807ns",
	    "106752d",
	    "9999999999999999999999d",
	    "99999999999999999999999999999999999999999999999s",
	    "0.1234567890123456789012345s",
	};

	expect_refusals(tl_parse_duration, texts, COUNT(texts));
}

Test(units, sizes)
{
	static const struct parse_case cases[] = {
	    {"512", 512},
	    {"0", 0},
	    {"512B", 512},
	    {"40GiB", 40 * TL_GIB},
	    {"64MiB", 64 * TL_MIB},
	    {"2TiB", 2048 * TL_GIB},
	    {"1KiB", 1024},
	    {"1.5GiB", 1536 * TL_MIB},
	    {"80GB", INT64_C(80000000000)},
	    {"3MB", 3000000},
	    {"7kB", 7000},
	    {"1.25TB", INT64_C(1250000000000)},
	    {"0.1GiB", 107374182},
	    {"0.5kB", 500},
	};

	expect_values(tl_parse_size, cases, COUNT(cases));
}

Test(units, refused_sizes)
{
	static const char *const texts[] = {
	    "",
	    "GiB",
	    "40 GiB",
	    "40gib",
	    "40G",
	    "40Gi",
	    "40KB",
	    "-1",
	    "1e9",
	    "0.1",
	    "0.0001KiB",
	    "8388608TiB",
	    "9223372036854775807",
	};

	expect_refusals(tl_parse_size, texts, COUNT(texts));
}

Test(units, shares)
{
	static const struct parse_case cases[] = {
	    {"0.5", 500}, {"500m", 500},   {"1", 1000},  {"8", 8000},    {"0", 0},
	    {"0.001", 1}, {"1500m", 1500}, {"0.1", 100}, {"0.290", 290}, {"0m", 0},
	};

	expect_values(tl_parse_share, cases, COUNT(cases));
}

Test(units, refused_shares)
{
	static const char *const texts[] = {
	    "",     "m",      "0.0001",
	    "0.5m", "500 m",  "50%",
	    "-0.5", "0.3333", "9223372036854775.807",
	    "half", "5e-1",
	};

	expect_refusals(tl_parse_share, texts, COUNT(texts));
}

Test(units, rates)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
	    {"6/h", 6.0 / 3600}, {"80/s", 80}, {"3/min", 3.0 / 60}, {"2/d", 2.0 / 86400},
	    {"2.5", 2.5},        {"0", 0},     {"1e3/s", 1000},     {".5/s", 0.5},
	};
	static const char *const texts[] = {
	    "", "/h", "6/", "6/hour", "6 /h", "-6/h", "-0", "inf", "nan/s", "1e999", "0x6/h", " 6",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		double value = -1;

		cr_assert_eq(tl_parse_rate(cases[i].text, &value, NULL), TL_OK, "`%s`",
		             cases[i].text);
		cr_assert_eq(value, cases[i].value);
	}
	for (size_t i = 0; i < COUNT(texts); i++) {
		double value = -1;

		cr_assert_eq(tl_parse_rate(texts[i], &value, NULL), TL_E_DATA, "`%s`", texts[i]);
		cr_assert_eq(value, -1);
	}
}

Test(units, integers)
{
	static const struct parse_case cases[] = {
	    {"0", 0},
	    {"-1", -1},
	    {"+7", 7},
	    {"007", 7},
	    {"9223372036854775807", INT64_MAX},
	    {"-9223372036854775808", INT64_MIN},
	};
	static const char *const texts[] = {
	    "",
	    "-",
	    "+",
	    " 1",
	    "1 ",
	    "1.0",
	    "1e3",
	    "0x10",
	    "9223372036854775808",
	    "-9223372036854775809",
	    "--1",
	    "one",
	    "1\n",
	};

	expect_values(tl_parse_int, cases, COUNT(cases));
	expect_refusals(tl_parse_int, texts, COUNT(texts));
}

Test(units, doubles)
{
	static const struct {
		const char *text;
		double value;
	} cases[] = {
	    {"0.1", 0.1}, {"-2.5e-3", -0.0025}, {"5.", 5},
	    {".5", 0.5},  {"+1E2", 100},        {"1e-999", 0},
	};
	static const char *const texts[] = {
	    "",       ".",     "e5", "1e", "1e+", "inf",   "-nan", "1e999",
	    "-1e999", "0x1p3", " 1", "1 ", "1,5", "1.2.3", "1f",
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		double value = -1;

		cr_assert_eq(tl_parse_double(cases[i].text, &value, NULL), TL_OK, "`%s`",
		             cases[i].text);
		cr_assert_eq(value, cases[i].value);
	}
	for (size_t i = 0; i < COUNT(texts); i++) {
		double value = -1;

		cr_assert_eq(tl_parse_double(texts[i], &value, NULL), TL_E_DATA, "`%s`", texts[i]);
		cr_assert_eq(value, -1);
	}
}

Test(units, formatted_durations)
{
	static const struct parse_case cases[] = {
	    {"0s", 0},
	    {"45s", 45 * TL_NS_PER_S},
	    {"120ms", 120 * TL_NS_PER_MS},
	    {"1d 3h", 27 * TL_NS_PER_HOUR},
	    {"7d", 7 * TL_NS_PER_DAY},
	    {"2h 5min", 125 * TL_NS_PER_MIN},
	    {"1s 500ms", 1500 * TL_NS_PER_MS},
	    {"5ns", 5},
	    {"1us 1ns", 1001},
	    {"1d", TL_NS_PER_DAY - 1},
	    {"1min", TL_NS_PER_MIN - 1},
	    {"2h", 2 * TL_NS_PER_HOUR - 1},
	    {"-3s", -3 * TL_NS_PER_S},
	    {"never", TL_NEVER},
	    {"none", TL_NONE},
	    {"-106751d 23h", -106751 * TL_NS_PER_DAY - 23 * TL_NS_PER_HOUR},
	    {"-106752d", INT64_MIN},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char buffer[32];

		cr_assert_str_eq(tl_format_duration(cases[i].value, buffer, sizeof buffer),
		                 cases[i].text);
	}
}

Test(units, formatted_instants)
{
	static const struct parse_case cases[] = {
	    {"00:00:00", 0},
	    {"00:00:01", 2 * TL_NS_PER_S - 1},
	    {"00:01:00", TL_NS_PER_MIN},
	    {"23:59:59", TL_NS_PER_DAY - 1},
	    {"1d 00:00:00", TL_NS_PER_DAY},
	    {"1d 01:23:45", TL_NS_PER_DAY + 5025 * TL_NS_PER_S},
	    {"106751d 23:47:16", TL_NEVER - 1},
	    {"never", TL_NEVER},
	    {"none", TL_NONE},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char buffer[32];

		cr_assert_str_eq(tl_format_instant(cases[i].value, buffer, sizeof buffer),
		                 cases[i].text);
	}
}

Test(units, formatted_sizes)
{
	static const struct parse_case cases[] = {
	    {"0B", 0},
	    {"512B", 512},
	    {"40GiB", 40 * TL_GIB},
	    {"1.5MiB", 1536 * TL_KIB},
	    {"1MiB", TL_MIB - 1},
	    {"1023.9KiB", TL_MIB - 100},
	    {"8EiB", INT64_MAX},
	    {"-2KiB", -2048},
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		char buffer[32];

		cr_assert_str_eq(tl_format_size(cases[i].value, buffer, sizeof buffer),
		                 cases[i].text);
	}
}

Test(units, work_and_time_round_so_that_work_is_done)
{
	static const int64_t speeds[] = {1, 3, 333333333, 999999999, 1000000000, 1500000000};

	cr_assert_eq(tl_time_of_work(10, TL_PPB / 2), 20);
	cr_assert_eq(tl_time_of_work(10, 3 * TL_PPB), 4);
	cr_assert_eq(tl_work_of_time(3, TL_PPB / 2), 1);
	cr_assert_eq(tl_time_of_work(0, 5), 0);
	for (size_t i = 0; i < COUNT(speeds); i++)
		for (int64_t work = 1; work < INT64_C(8000000000); work = work * 7 + 3) {
			int64_t time = tl_time_of_work(work, speeds[i]);

			cr_assert_geq(tl_work_of_time(time, speeds[i]), work);
			cr_assert_lt(tl_work_of_time(time - 1, speeds[i]), work);
		}
}

Test(units, what_does_not_fit_saturates)
{
	cr_assert_eq(tl_time_of_work(INT64_MAX / 2, 1), TL_NEVER);
	cr_assert_eq(tl_work_of_time(INT64_MAX / 2, 3 * TL_PPB), INT64_MAX);
	cr_assert_eq(tl_time_add(TL_NEVER, 1), TL_NEVER);
	cr_assert_eq(tl_time_add(TL_NEVER - 1, 1), TL_NEVER);
	cr_assert_eq(tl_time_add(INT64_MAX / 2, 5), INT64_MAX / 2 + 5);
}

Test(units, no_speed_trips, .signal = SIGABRT)
{
	(void)tl_time_of_work(1, 0);
}

Test(units, the_shortest_text_that_reads_back)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0.95, "0.95"},
	             {0.1 + 0.2, "0.30000000000000004"},
	             {-1.0 / 3, "-0.3333333333333333"},
	             {0, "0"},
	             {1e300, "1e+300"},
	             {5e-324, "4.94065645841247e-324"},
	             {123456789012345678.0, "1.2345678901234568e+17"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[TL_NUMBER_TEXT];

		cr_expect_str_eq(tl_number_text(cases[i].value, text), cases[i].text, "%s", text);
		cr_expect_float_eq(strtod(text, NULL), cases[i].value, 0);
	}
}
