/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/utf8.h"

#include <criterion/criterion.h>

Test(utf8, characters_and_what_is_none)
{
	static const struct {
		const char *text;
		size_t length;
	} cases[] = {
	    {"a", 1},
	    {"\n", 1},
	    {"\x01", 0},
	    {"\x7f", 0},
	    {"\xc3\xa9", 2},
	    {"\xc3", 0},
	    {"\xc0\xaf", 0}, /* overlong */
	    {"\xe2\x82\xac", 3},
	    {"\xed\xa0\x80", 0}, /* a surrogate */
	    {"\xf0\x9f\x98\x80", 4},
	    {"\xf4\x90\x80\x80", 0}, /* beyond U+10FFFF */
	    {"\x80", 0},
	    {"\xff", 0},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		cr_expect_eq(tl_utf8_length(cases[i].text), cases[i].length, "case %zu", i);
		cr_expect_eq(tl_utf8_is(cases[i].text), cases[i].length > 0, "case %zu", i);
	}
	cr_expect(tl_utf8_is(""));
	cr_expect(tl_utf8_is("caf\xc3\xa9 4"));
	cr_expect_not(tl_utf8_is("caf\xe9"));
}
