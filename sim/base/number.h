/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as text that reads back to the same number. */
#ifndef TIDELAB_BASE_NUMBER_H
#define TIDELAB_BASE_NUMBER_H

enum { TL_NUMBER_TEXT = 32 };

/* With the fewest of 15 to 17 digits that reads back to it: 0.95, not 0.94999999999999996.
 * Returns buffer. */
const char *tl_number_text(double value, char buffer[TL_NUMBER_TEXT]);

#endif
