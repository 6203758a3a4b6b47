/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Status codes and the error record every fallible function fills.
 *
 * Convention: a function that can fail returns enum tl_status and takes a
 * struct tl_error * last. On TL_OK the record is untouched; otherwise it says
 * what stood there (file:line:column), what was got and what was wanted. Only
 * the command line prints one or exits because of one.
 */
#ifndef TIDELAB_BASE_ERROR_H
#define TIDELAB_BASE_ERROR_H

enum tl_status {
	TL_OK = 0,
	TL_END,           /* an iterator has no more; not an error */
	TL_E_USAGE,       /* the command line; sysexits 64 */
	TL_E_DATA,        /* contents of an input file; 65 */
	TL_E_NOINPUT,     /* an input file is absent or unreadable; 66 */
	TL_E_UNAVAILABLE, /* a module or helper program is missing or refused; 69 */
	TL_E_INTERNAL,    /* an invariant of ours does not hold; 70 */
	TL_E_OS,          /* memory, fork, limits; 71 */
	TL_E_CANTCREAT,   /* an output cannot be created, or exists; 73 */
	TL_E_IO,          /* a read or write failed half-way; 74 */
	TL_E_CONFIG,      /* the scenario is impossible; 78 */
	TL_E_POLICY,      /* the policy stalled, looped, hung or crashed; 1 */
	TL_E_REGRESSION,  /* metrics left the margins of their baseline; 1 */
	TL_E_UNMET,       /* no setting is shown to keep what was asked for; 1 */
	TL_E_INTERRUPTED  /* ^C; 130 */
};

enum { TL_ERROR_FILE_MAX = 256, TL_ERROR_MESSAGE_MAX = 768 };

struct tl_error {
	enum tl_status code;
	long line;                    /* 1-based; 0: unknown */
	long column;                  /* 1-based; 0: unknown */
	char file[TL_ERROR_FILE_MAX]; /* empty: not about a file */
	char message[TL_ERROR_MESSAGE_MAX];
};

#define TL_ERROR_INIT ((struct tl_error){.code = TL_OK})

/* Fills *error and returns code, so that a caller can `return tl_error_set(…)`.
 * error may be NULL. file may be NULL. Long texts are cut, never overrun. */
enum tl_status tl_error_set(struct tl_error *error, enum tl_status code, const char *file,
                            long line, long column, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* Puts `file:line:column: ` (as far as known) and the message into buffer;
 * returns buffer. A size of TL_ERROR_FILE_MAX + TL_ERROR_MESSAGE_MAX + 48 cuts nothing. */
const char *tl_error_text(const struct tl_error *error, char *buffer, unsigned long size);

/* The sysexits code of a status (0 for TL_OK and TL_END). */
int tl_status_exit_code(enum tl_status status);
/* The failure that such a code stands for; TL_E_INTERNAL for any other. */
enum tl_status tl_status_of_exit_code(int code);

#endif
