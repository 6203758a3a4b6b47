/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/program.h"

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

enum { ERRORS_MAX = 4096, LOOK_MS = 100 };

/* What a descriptor has given. */
struct heard {
	int descriptor; /* -1: at its end */
	size_t most;    /* bytes kept; 0: all */
	char *text;
	size_t length, capacity;
};

static bool begins_with_any(const char *text, const char *const *prefixes)
{
	for (; prefixes && *prefixes; prefixes++)
		if (strncmp(text, *prefixes, strlen(*prefixes)) == 0)
			return true;
	return false;
}

static char **environment_without(const char *const *dropped)
{
	static const char *const locale[] = {"LC_", "LANG", NULL};
	static char plain[] = "LC_ALL=C.UTF-8";
	size_t count = 0, kept = 0;
	char **environment;

	while (environ[count])
		count++;
	environment = tl_calloc(count + 2, sizeof *environment);
	for (size_t i = 0; i < count; i++)
		if (!begins_with_any(environ[i], locale) && !begins_with_any(environ[i], dropped))
			environment[kept++] = environ[i];
	environment[kept] = plain;
	return environment;
}

static void hear(struct heard *heard)
{
	char block[4096];
	ssize_t got = read(heard->descriptor, block, sizeof block);
	size_t keep;

	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0) {
		(void)close(heard->descriptor);
		heard->descriptor = -1;
		return;
	}
	keep = (size_t)got;
	if (heard->most && keep > heard->most - heard->length)
		keep = heard->most - heard->length;
	heard->text = tl_grow(heard->text, &heard->capacity, heard->length + keep + 1, 1);
	memcpy(heard->text + heard->length, block, keep);
	heard->length += keep;
	heard->text[heard->length] = '\0';
}

/* All that is written is read, so that the writer never waits; poll leaves out negative
 * descriptors. Ends early where a signal asks to stop. */
static void hear_all(struct heard heard[2], bool undisturbed)
{
	while ((heard[0].descriptor >= 0 || heard[1].descriptor >= 0) &&
	       (undisturbed || !tl_stop_asked())) {
		struct pollfd waiting[2] = {{.fd = heard[0].descriptor, .events = POLLIN},
		                            {.fd = heard[1].descriptor, .events = POLLIN}};

		/* A signal between the look and the wait is seen soon. */
		if (poll(waiting, 2, LOOK_MS) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (waiting[i].revents)
				hear(&heard[i]);
	}
}

static int spawn(pid_t *child, const struct tl_program *program, int out, int errors)
{
	posix_spawn_file_actions_t actions;
	char **environment = environment_without(program->dropped);
	size_t count = 0;
	char **arguments;
	int failed = posix_spawn_file_actions_init(&actions);

	while (program->arguments[count])
		count++;
	arguments = tl_calloc(count + 1, sizeof *arguments);
	for (size_t i = 0; i < count; i++)
		arguments[i] = tl_strdup(program->arguments[i]);
	if (failed == 0) {
		posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
		failed = posix_spawnp(child, arguments[0], &actions, NULL, arguments, environment);
		posix_spawn_file_actions_destroy(&actions);
	}
	for (size_t i = 0; i < count; i++)
		free(arguments[i]);
	free(arguments);
	free(environment);
	return failed;
}

static int wait_for(pid_t child)
{
	int status = 0;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static enum tl_status cannot_start(const struct tl_program *program, int failed,
                                   struct tl_error *error)
{
	return tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0, "cannot run %s, %s: %s",
	                    program->arguments[0], program->what_for,
	                    failed == ENOENT ? "it is not installed, or not on PATH"
	                                     : strerror(failed));
}

static bool open_pipe(int ends[2])
{
	if (pipe(ends) != 0)
		return false;
	(void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	(void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
	return true;
}

enum tl_status tl_program_run(const struct tl_program *program, struct tl_program_end *end,
                              struct tl_error *error)
{
	struct heard heard[2] = {{.most = 0}, {.most = ERRORS_MAX}};
	int out[2], errors[2];
	pid_t child = 0;
	int failed;

	if (!open_pipe(out))
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "%s: %s", program->arguments[0],
		                    strerror(errno));
	if (!open_pipe(errors)) {
		(void)close(out[0]);
		(void)close(out[1]);
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "%s: %s", program->arguments[0],
		                    strerror(errno));
	}
	failed = spawn(&child, program, out[1], errors[1]);
	(void)close(out[1]);
	(void)close(errors[1]);
	for (int i = 0; i < 2; i++) {
		heard[i].descriptor = i == 0 ? out[0] : errors[0];
		heard[i].text = tl_grow(NULL, &heard[i].capacity, 1, 1);
	}
	if (failed == 0)
		hear_all(heard, program->undisturbed);
	for (int i = 0; i < 2; i++)
		if (heard[i].descriptor >= 0)
			(void)close(heard[i].descriptor);
	*end = (struct tl_program_end){.out = heard[0].text, .errors = heard[1].text};
	if (failed == 0 && !program->undisturbed && tl_stop_asked())
		(void)kill(child, SIGKILL);
	if (failed == 0)
		end->exit_code = wait_for(child);
	if (failed == 0 && (program->undisturbed || !tl_stop_asked()))
		return TL_OK;
	tl_program_end_fini(end);
	return failed ? cannot_start(program, failed, error) : tl_stop_check(error);
}

void tl_program_end_fini(struct tl_program_end *end)
{
	free(end->out);
	free(end->errors);
	*end = (struct tl_program_end){.out = NULL};
}
