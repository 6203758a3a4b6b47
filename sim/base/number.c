/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/number.h"

#include <stdio.h>
#include <stdlib.h>

const char *tl_number_text(double value, char buffer[TL_NUMBER_TEXT])
{
	for (int digits = 15; digits <= 17; digits++) {
		double back;

		(void)snprintf(buffer, TL_NUMBER_TEXT, "%.*g", digits, value);
		back = strtod(buffer, NULL);
		if (back >= value && back <= value)
			break;
	}
	return buffer;
}
