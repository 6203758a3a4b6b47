/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "sim/base/arena.h"
#include "sim/base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { SAID_SIZE = 4096, LOOK_MS = 100 };

/* The caller's environment, but for what changes how gnuplot reads and writes numbers or
 * where it draws. */
static char **plain_environment(void)
{
	static const char *const dropped[] = {"LC_", "LANG", "GNUTERM", "GNUPLOT_", "GDFONTPATH"};
	size_t count = 0;
	size_t kept = 0;

	while (environ[count])
		count++;
	char **plain = tl_calloc(count + 2, sizeof(*plain));
	for (size_t i = 0; i < count; i++) {
		bool keep = true;

		for (size_t k = 0; k < sizeof(dropped) / sizeof(dropped[0]); k++)
			keep = keep && strncmp(environ[i], dropped[k], strlen(dropped[k])) != 0;
		if (keep)
			plain[kept++] = environ[i];
	}
	static char utf8[] = "LC_ALL=C.UTF-8";
	plain[kept] = utf8;
	return plain;
}

/* All that is written to the pipe is read, so that the writer never waits; the beginning
 * is kept. Ends early where a signal asks to stop. */
static void read_all(int descriptor, char said[static SAID_SIZE])
{
	struct pollfd waiting = {.fd = descriptor, .events = POLLIN};
	char rest[1024];
	size_t filled = 0;

	while (!tl_stop_asked()) {
		bool full = filled == SAID_SIZE - 1;

		if (poll(&waiting, 1, LOOK_MS) <= 0)
			continue; /* a signal between the look and the wait is seen soon */
		ssize_t got = full ? read(descriptor, rest, sizeof(rest))
		                   : read(descriptor, said + filled, SAID_SIZE - 1 - filled);

		if (got == 0 || (got < 0 && errno != EINTR))
			break;
		if (got > 0 && !full)
			filled += (size_t)got;
	}
	said[filled] = '\0';
}

/* gnuplot shows the command and a caret, then says `"file" line N: what`, and on the next
 * line perhaps why. */
static const char *what_it_said(char *said)
{
	char *what = strstr(said, "\" line ");

	what = what ? what + 2 : said;
	for (char *end = what + strlen(what); end > what && strchr(" \n", end[-1]);)
		*--end = '\0';
	for (char *newline = what; (newline = strchr(newline, '\n'));)
		*newline = ' ';
	return what[0] ? what : "it said nothing";
}

static int spawn(pid_t *child, char *const *arguments, int errors)
{
	posix_spawn_file_actions_t actions;
	char **environment = plain_environment();
	int failed = posix_spawn_file_actions_init(&actions);

	if (failed == 0) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
		failed = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environment);
		posix_spawn_file_actions_destroy(&actions);
	}
	free(environment);
	return failed;
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

static enum tl_status run(char *const *arguments, const char *what, struct tl_error *error)
{
	char said[SAID_SIZE];
	int ends[2];
	pid_t child = 0;

	if (pipe(ends) != 0)
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "gnuplot: %s", strerror(errno));
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	int failed = spawn(&child, arguments, ends[1]);
	close(ends[1]);
	if (failed != 0) {
		close(ends[0]);
		return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                    "cannot run gnuplot, which draws the pictures: %s",
		                    failed == ENOENT ? "it is not installed, or not on PATH"
		                                     : strerror(failed));
	}
	read_all(ends[0], said);
	close(ends[0]);
	if (tl_stop_asked())
		kill(child, SIGKILL);
	int status = wait_for(child);
	if (tl_stop_asked())
		return tl_stop_check(error);
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                    "gnuplot failed on the picture `%s`: %s", what,
		                    what_it_said(said));
	return TL_OK;
}

enum tl_status tl_gnuplot_run(const char *plots_dir, const char *script, const char *data,
                              const char *out, const char *terminal, const char *title,
                              const struct tl_figure_plot *plot, struct tl_error *error)
{
	const char *const plain[] = {plots_dir, data, out, terminal, title};
	enum { PLAIN = sizeof(plain) / sizeof(plain[0]) };
	size_t size = strlen(plots_dir) + strlen(script) + sizeof("/.gp");
	char *path = tl_alloc(size);
	char *arguments[4 + PLAIN + TL_FIGURE_EXTRAS + 1];
	size_t count = 0;

	snprintf(path, size, "%s/%s.gp", plots_dir, script);
	arguments[count++] = tl_strdup("gnuplot");
	arguments[count++] = tl_strdup("-d"); /* not the user's own settings */
	arguments[count++] = tl_strdup("-c");
	arguments[count++] = path;
	for (size_t i = 0; i < PLAIN; i++)
		arguments[count++] = tl_strdup(plain[i]);
	for (size_t i = 0; i < TL_FIGURE_EXTRAS; i++)
		arguments[count++] = tl_strdup(plot->extras[i]);
	arguments[count] = NULL;
	enum tl_status status = run(arguments, script, error);
	for (size_t i = 0; i < count; i++)
		free(arguments[i]);
	return status;
}
