/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a line of CSV, as RFC 4180 has them. */
#ifndef TIDELAB_ANALYSIS_FIELDS_H
#define TIDELAB_ANALYSIS_FIELDS_H

#include <stddef.h>
#include <stdio.h>

/* A text, in quotes where a comma, a quote or a line's end is in it. */
void tl_field_write(const char *text, FILE *out);

/* The next field of a line, whose text is cut and taken out of its quotes in place; *at moves
 * on to what follows its comma, NULL after the last. NULL: a quote that does not end, or that
 * begins or ends within a field. */
char *tl_field_next(char **at);

#endif
