/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/assert.h"
#include "sim/base/error.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

Test(error, fills_the_record_and_returns_the_code)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_error_set(&error, TL_E_DATA, "a.csv", 3, 7, "got %d, wanted %s", 5, "6"),
	             TL_E_DATA);
	cr_assert_eq(error.code, TL_E_DATA);
	cr_assert_eq(error.line, 3);
	cr_assert_eq(error.column, 7);
	cr_assert_str_eq(error.file, "a.csv");
	cr_assert_str_eq(error.message, "got 5, wanted 6");
}

Test(error, takes_no_record_and_no_file)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_error_set(NULL, TL_E_IO, "x", 1, 1, "lost"), TL_E_IO);
	cr_assert_eq(tl_error_set(&error, TL_E_OS, NULL, 0, 0, "%s", "full"), TL_E_OS);
	cr_assert_str_eq(error.file, "");
	cr_assert_str_eq(error.message, "full");
}

Test(error, cuts_long_texts)
{
	struct tl_error error = TL_ERROR_INIT;
	char text[2000];

	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	tl_error_set(&error, TL_E_DATA, text, 1, 1, "%s", text);
	cr_assert_eq(strlen(error.file), TL_ERROR_FILE_MAX - 1);
	cr_assert_eq(strlen(error.message), TL_ERROR_MESSAGE_MAX - 1);
}

Test(error, may_wrap_its_own_message)
{
	struct tl_error error = TL_ERROR_INIT;

	tl_error_set(&error, TL_E_DATA, "f", 1, 2, "inner");
	tl_error_set(&error, error.code, error.file, 9, 0, "outer: %s", error.message);
	cr_assert_str_eq(error.message, "outer: inner");
	cr_assert_str_eq(error.file, "f");
	cr_assert_eq(error.line, 9);
}

Test(error, text_says_what_is_known_of_the_place)
{
	static const struct {
		const char *file;
		long line, column;
		const char *text;
	} cases[] = {
	    {"f.yaml", 3, 9, "f.yaml:3:9: bad"}, {"f.yaml", 3, 0, "f.yaml:3: bad"},
	    {"f.yaml", 0, 0, "f.yaml: bad"},     {NULL, 3, 9, "line 3, column 9: bad"},
	    {NULL, 3, 0, "line 3: bad"},         {NULL, 0, 0, "bad"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tl_error error = TL_ERROR_INIT;
		char buffer[TL_ERROR_FILE_MAX + TL_ERROR_MESSAGE_MAX + 48];

		tl_error_set(&error, TL_E_DATA, cases[i].file, cases[i].line, cases[i].column,
		             "bad");
		cr_assert_str_eq(tl_error_text(&error, buffer, sizeof buffer), cases[i].text);
	}
}

Test(error, text_never_overruns)
{
	struct tl_error error = TL_ERROR_INIT;
	char buffer[9] = "????????";

	tl_error_set(&error, TL_E_DATA, "file", 1, 1, "message");
	tl_error_text(&error, buffer, 8);
	cr_assert_str_eq(buffer, "file:1:");
	cr_assert_str_eq(tl_error_text(&error, buffer, 0), "");
}

Test(error, exit_codes_are_those_of_sysexits)
{
	static const struct {
		enum tl_status status;
		int code;
	} cases[] = {
	    {TL_OK, 0},           {TL_END, 0},        {TL_E_USAGE, 64},
	    {TL_E_DATA, 65},      {TL_E_NOINPUT, 66}, {TL_E_UNAVAILABLE, 69},
	    {TL_E_INTERNAL, 70},  {TL_E_OS, 71},      {TL_E_CANTCREAT, 73},
	    {TL_E_IO, 74},        {TL_E_CONFIG, 78},  {TL_E_POLICY, 1},
	    {TL_E_REGRESSION, 1}, {TL_E_UNMET, 1},    {TL_E_INTERRUPTED, 130},
	};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		cr_assert_eq(tl_status_exit_code(cases[i].status), cases[i].code);
}

Test(error, assertion_holds)
{
	TL_ASSERT(1 + 1 == 2);
}

Test(error, assertion_trips, .signal = SIGABRT)
{
	volatile int two = 2;

	TL_ASSERT(two == 3);
}

Test(error, exit_codes_lead_back_to_their_status)
{
	/* Three end with 1; what is asked about is a run, which knows one of them. */
	for (enum tl_status status = TL_E_USAGE; status <= TL_E_INTERRUPTED; status++)
		cr_expect_eq(tl_status_of_exit_code(tl_status_exit_code(status)),
		             status == TL_E_REGRESSION || status == TL_E_UNMET ? TL_E_POLICY
		                                                               : status);
	cr_expect_eq(tl_status_of_exit_code(-1), TL_E_INTERNAL);
	cr_expect_eq(tl_status_of_exit_code(127), TL_E_INTERNAL);
}
