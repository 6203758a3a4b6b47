/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/plane/probe.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { PROBE_SECONDS = 5 };

/* What the child sends; the description follows. */
struct answer {
	struct tl_error error; /* its code is the status */
	uint32_t seat;
};

/* ---- the child ---- */

static void send_all(int descriptor, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size > 0) {
		ssize_t sent = write(descriptor, at, size);

		if (sent <= 0)
			_exit(EXIT_FAILURE);
		at += sent;
		size -= (size_t)sent;
	}
}

static _Noreturn void child_main(const char *name,
                                 void (*describe)(const struct tl_loaded_module *, FILE *),
                                 int descriptor)
{
	struct tl_loaded_module loaded;
	struct answer answer;
	char *text = NULL;
	size_t size = 0;

#ifdef __linux__
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	memset(&answer, 0, sizeof answer);
	if (tl_module_load(name, &loaded, &answer.error) == TL_OK) {
		FILE *out = open_memstream(&text, &size);

		if (out == NULL)
			tl_out_of_memory(0);
		answer.seat = loaded.module->seat;
		describe(&loaded, out);
		if (fclose(out) != 0)
			tl_out_of_memory(0);
		tl_module_unload(&loaded);
	}
	send_all(descriptor, &answer, sizeof answer);
	send_all(descriptor, text, size);
	free(text);
	_exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

static int64_t now_ms(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / TL_NS_PER_MS;
}

/* Reads to the end. False: the time is up. */
static bool receive(int descriptor, char **bytes, size_t *used)
{
	struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
	const int64_t end_ms = now_ms() + PROBE_SECONDS * 1000;
	size_t capacity = 0;

	for (;;) {
		int64_t left_ms = end_ms - now_ms();
		ssize_t got;

		if (left_ms <= 0)
			return false;
		if (poll(&waiting, 1, (int)left_ms) <= 0)
			continue;
		*bytes = tl_grow(*bytes, &capacity, *used + 4096, 1);
		got = read(descriptor, *bytes + *used, 4095);
		if (got == 0 || (got < 0 && errno != EINTR))
			return true;
		if (got > 0)
			*used += (size_t)got;
	}
}

static enum tl_status judge(const char *name, int wait_status, bool in_time, struct tl_error *error)
{
	if (!in_time)
		return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                    "`%.200s`: cannot be loaded: hang: not done after %d s", name,
		                    PROBE_SECONDS);
	if (WIFSIGNALED(wait_status))
		return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                    "`%.200s`: cannot be loaded: crash: signal %d (%s)", name,
		                    WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
	                    "`%.200s`: cannot be loaded: crash: it left with status %d", name,
	                    WEXITSTATUS(wait_status));
}

static enum tl_status take(const char *name, pid_t child, int descriptor, uint32_t *seat,
                           char **text, struct tl_error *error)
{
	struct answer answer;
	char *bytes = NULL;
	size_t used = 0;
	int wait_status = 0;
	const bool in_time = receive(descriptor, &bytes, &used);

	if (!in_time)
		(void)kill(child, SIGKILL);
	while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
		;
	if (!in_time || !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != EXIT_SUCCESS ||
	    used < sizeof answer) {
		free(bytes);
		return judge(name, wait_status, in_time, error);
	}
	memcpy(&answer, bytes, sizeof answer);
	if (answer.error.code != TL_OK) {
		free(bytes);
		*error = answer.error;
		return error->code;
	}
	memmove(bytes, bytes + sizeof answer, used - sizeof answer);
	bytes[used - sizeof answer] = '\0';
	*seat = answer.seat;
	*text = bytes;
	return TL_OK;
}

enum tl_status tl_module_probe(const char *name,
                               void (*describe)(const struct tl_loaded_module *, FILE *),
                               uint32_t *seat, char **text, struct tl_error *error)
{
	enum tl_status status;
	int ends[2];
	pid_t child;

	if (pipe(ends) != 0)
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "pipe: %s", strerror(errno));
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	(void)fflush(NULL);
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		child_main(name, describe, ends[1]);
	}
	(void)close(ends[1]);
	if (child < 0)
		status = tl_error_set(error, TL_E_OS, NULL, 0, 0, "fork: %s", strerror(errno));
	else
		status = take(name, child, ends[0], seat, text, error);
	(void)close(ends[0]);
	return status;
}
