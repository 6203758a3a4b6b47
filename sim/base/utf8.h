/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is text that any file can hold: UTF-8 without control characters. */
#ifndef TIDELAB_BASE_UTF8_H
#define TIDELAB_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at text; 0: none. Overlong forms, surrogates, what is beyond
 * U+10FFFF, and control characters but line feed and tab, are none. */
size_t tl_utf8_length(const char *text);
/* All of it. */
bool tl_utf8_is(const char *text);

#endif
