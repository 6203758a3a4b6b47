/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void copy_cut(char *out, size_t size, const char *text)
{
	size_t length = strlen(text);

	if (length >= size)
		length = size - 1;
	memmove(out, text, length);
	out[length] = '\0';
}

enum tl_status tl_error_set(struct tl_error *error, enum tl_status code, const char *file,
                            long line, long column, const char *format, ...)
{
	/* Built aside first: the arguments may point into *error, where a caller adds to it. */
	char message[TL_ERROR_MESSAGE_MAX];
	va_list arguments;

	if (!error)
		return code;
	va_start(arguments, format);
	if (vsnprintf(message, sizeof message, format, arguments) < 0)
		copy_cut(message, sizeof message, "(message could not be formatted)");
	va_end(arguments);
	error->code = code;
	error->line = line;
	error->column = column;
	copy_cut(error->file, sizeof error->file, file ? file : "");
	copy_cut(error->message, sizeof error->message, message);
	return code;
}

const char *tl_error_text(const struct tl_error *error, char *buffer, unsigned long size)
{
	char place[TL_ERROR_FILE_MAX + 48] = "";

	if (size == 0)
		return "";
	if (error->file[0] != '\0' && error->line > 0 && error->column > 0)
		(void)snprintf(place, sizeof place, "%s:%ld:%ld: ", error->file, error->line,
		               error->column);
	else if (error->file[0] != '\0' && error->line > 0)
		(void)snprintf(place, sizeof place, "%s:%ld: ", error->file, error->line);
	else if (error->file[0] != '\0')
		(void)snprintf(place, sizeof place, "%s: ", error->file);
	else if (error->line > 0 && error->column > 0)
		(void)snprintf(place, sizeof place, "line %ld, column %ld: ", error->line,
		               error->column);
	else if (error->line > 0)
		(void)snprintf(place, sizeof place, "line %ld: ", error->line);
	(void)snprintf(buffer, size, "%s%s", place, error->message);
	return buffer;
}

int tl_status_exit_code(enum tl_status status)
{
	switch (status) {
	case TL_OK:
	case TL_END:
		return 0;
	case TL_E_USAGE:
		return 64;
	case TL_E_DATA:
		return 65;
	case TL_E_NOINPUT:
		return 66;
	case TL_E_UNAVAILABLE:
		return 69;
	case TL_E_INTERNAL:
		return 70;
	case TL_E_OS:
		return 71;
	case TL_E_CANTCREAT:
		return 73;
	case TL_E_IO:
		return 74;
	case TL_E_CONFIG:
		return 78;
	case TL_E_POLICY:
	case TL_E_REGRESSION:
	case TL_E_UNMET:
		return 1;
	case TL_E_INTERRUPTED:
		return 130;
	}
	return 70;
}

enum tl_status tl_status_of_exit_code(int code)
{
	for (enum tl_status status = TL_E_USAGE; status <= TL_E_INTERRUPTED; status++)
		if (tl_status_exit_code(status) == code)
			return status;
	return TL_E_INTERNAL;
}
