/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/stop.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t asked;

static void on_signal(int number)
{
	(void)number;
	asked = 1;
}

void tl_stop_catch(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
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
