/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ^C and its kin, for commands that work in their own process: once caught, a signal sets
 * a flag that long loops look at, so that they end as on any other failure.
 */
#ifndef TIDELAB_BASE_STOP_H
#define TIDELAB_BASE_STOP_H

#include "sim/base/error.h"

#include <signal.h>
#include <stdbool.h>

/* Those that ask for an end: SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE. */
void tl_stop_signals(sigset_t *out);

/* They set the flag from now on (one that is ignored stays so), and a file that grows too
 * large is a failed write. Waiting system calls end with EINTR. */
void tl_stop_catch(void);
bool tl_stop_asked(void);
/* TL_E_INTERRUPTED once a signal came. */
enum tl_status tl_stop_check(struct tl_error *error);
/* Once all is put away: whoever was stopped because nobody reads on ends by that signal,
 * without a word, as those do who did not catch it. */
void tl_stop_end(void);

#endif
