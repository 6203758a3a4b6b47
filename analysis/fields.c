/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/fields.h"

#include <string.h>

void tl_field_write(const char *text, FILE *out)
{
	if (text[strcspn(text, ",\"\r\n")] == '\0') {
		(void)fputs(text, out);
		return;
	}
	(void)fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			(void)fputc('"', out);
		(void)fputc(*text, out);
	}
	(void)fputc('"', out);
}

/* What follows the quoted field, whose text is written to out; NULL where no quote ends it. */
static char *unquote(char *from, char *out)
{
	for (;; from++) {
		if (*from == '\0')
			return NULL;
		if (*from == '"' && *++from != '"')
			break;
		*out++ = *from;
	}
	/* What follows is one byte further on at least. */
	*out = '\0';
	return from;
}

char *tl_field_next(char **at)
{
	char *field = *at;
	char *end = *field == '"' ? unquote(field + 1, field) : field + strcspn(field, ",\"");

	if (!end || (*end != ',' && *end != '\0'))
		return NULL;
	*at = *end == ',' ? end + 1 : NULL;
	*end = '\0';
	return field;
}
