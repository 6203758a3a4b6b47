/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/utf8.h"

size_t tl_utf8_length(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	static const struct {
		unsigned char low, high, second_low, second_high;
		size_t length;
	} forms[] = {
	    {0x20, 0x7e, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (at[0] < forms[i].low || at[0] > forms[i].high)
			continue;
		if (forms[i].length > 1 &&
		    (at[1] < forms[i].second_low || at[1] > forms[i].second_high))
			return 0;
		for (size_t k = 2; k < forms[i].length; k++)
			if (at[k] < 0x80 || at[k] > 0xbf)
				return 0;
		return forms[i].length;
	}
	return at[0] == '\n' || at[0] == '\t' ? 1 : 0;
}

bool tl_utf8_is(const char *text)
{
	for (size_t length; *text != '\0'; text += length) {
		length = tl_utf8_length(text);
		if (length == 0)
			return false;
	}
	return true;
}
