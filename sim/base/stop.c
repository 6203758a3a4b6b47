/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/stop.h"

#include <stddef.h>

static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE};
static volatile sig_atomic_t asked; /* the first of them that came */

static void on_signal(int number)
{
	if (!asked)
		asked = number;
}

void tl_stop_signals(sigset_t *out)
{
	sigemptyset(out);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		sigaddset(out, caught[i]);
}

void tl_stop_catch(void)
{
	struct sigaction before, action = {.sa_handler = on_signal};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
		if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			(void)sigaction(caught[i], &action, NULL);
	(void)signal(SIGXFSZ, SIG_IGN);
}

bool tl_stop_asked(void)
{
	return asked != 0;
}

enum tl_status tl_stop_check(struct tl_error *error)
{
	if (!asked)
		return TL_OK;
	return tl_error_set(error, TL_E_INTERRUPTED, NULL, 0, 0,
	                    "interrupted: what was not whole is removed");
}

void tl_stop_end(void)
{
	if (asked != SIGPIPE)
		return;
	(void)signal(SIGPIPE, SIG_DFL);
	(void)raise(SIGPIPE);
}
