/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Other programs (gnuplot, Slurm's commands): run to their end, and what they said. */
#ifndef TIDELAB_ANALYSIS_PROGRAM_H
#define TIDELAB_ANALYSIS_PROGRAM_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct tl_program {
	const char *const *arguments; /* NULL-terminated; the first is found on PATH */
	/* Variables it does not get, each a prefix of a name; NULL-terminated. It always runs
	 * with LC_ALL=C.UTF-8. */
	const char *const *dropped;
	const char *what_for; /* `which draws the pictures`, for the message where it is absent */
	bool undisturbed;     /* runs to its end whatever signal asks to stop */
};

struct tl_program_end {
	int exit_code; /* -1: a signal ended it */
	char *out;     /* all of its standard output; terminated */
	char *errors;  /* the beginning of its standard error, 4 KiB at most; terminated */
};

/* Standard input is empty. *end is there on TL_OK alone, whatever the exit code; to be freed with
 * tl_program_end_fini. TL_E_UNAVAILABLE: it could not be started; TL_E_INTERRUPTED: a
 * signal (sim/base/stop.h) came, and it was killed. */
enum tl_status tl_program_run(const struct tl_program *program, struct tl_program_end *end,
                              struct tl_error *error);
void tl_program_end_fini(struct tl_program_end *end);

#endif
