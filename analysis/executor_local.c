/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Runs on this machine: a pool of child processes, which die with whoever started them. */
#include "analysis/executor.h"

#include "sim/base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

struct slot {
	pid_t child; /* 0: free */
	size_t task;
};

struct local {
	struct slot *slots;
	size_t slot_count;
	const struct tl_task *tasks;
	size_t task_count, next; /* next to be started */
	size_t running;
	bool cancelled, ending;
	sigset_t before; /* signals that were let through */
	struct sigaction on_child_before;
};

static const int64_t ns_per_s = 1000000000;

/* It is enough that it interrupts pselect(). */
static void on_child(int number)
{
	(void)number;
}

static unsigned cores(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	return count > 0 ? (unsigned)count : 1;
}

static enum tl_status local_open(const struct tl_executor_options *options, void **self,
                                 struct tl_error *error)
{
	struct local *local = tl_calloc(1, sizeof *local);
	struct sigaction action = {.sa_handler = on_child};

	(void)error;
	local->slot_count = options->jobs > 0 ? options->jobs : cores();
	local->slots = tl_calloc(local->slot_count, sizeof *local->slots);
	sigemptyset(&action.sa_mask);
	(void)sigaction(SIGCHLD, &action, &local->on_child_before);
	*self = local;
	return TL_OK;
}

/* Async-signal-safe from here to exec(). */
static _Noreturn void child_main(const struct local *local, const struct tl_task *task, int log,
                                 pid_t parent)
{
	int nowhere = open("/dev/null", O_RDWR);

	if (nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
	    dup2(log, STDERR_FILENO) < 0)
		_exit(127);
	(void)signal(SIGCHLD, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &local->before, NULL);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(127);
	execv(task->argv[0], task->argv);
	{
		static const char words[] = "the program cannot be started\n";

		if (write(STDERR_FILENO, words, sizeof words - 1) < 0)
			_exit(127);
	}
	_exit(127);
}

/* 0, or errno of what did not work. */
static int start(struct local *local, struct slot *slot)
{
	const struct tl_task *task = &local->tasks[local->next];
	pid_t parent = getpid();
	int log = open(task->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int failed = 0;

	if (log < 0)
		return errno;
	slot->child = fork();
	if (slot->child == 0)
		child_main(local, task, log, parent);
	if (slot->child < 0) {
		failed = errno;
		slot->child = 0;
	}
	(void)close(log);
	if (failed == 0) {
		slot->task = local->next++;
		local->running++;
	}
	return failed;
}

/* Fills the free slots; *end where the next task could not be started. */
static bool fill(struct local *local, struct tl_task_end *end)
{
	for (size_t i = 0; i < local->slot_count && local->next < local->task_count; i++) {
		int failed;

		if (local->cancelled)
			return false;
		if (local->slots[i].child != 0)
			continue;
		failed = start(local, &local->slots[i]);
		/* Too many processes for now: when one ends there is room again. */
		if (failed == EAGAIN && local->running > 0)
			return false;
		if (failed != 0) {
			*end = (struct tl_task_end){.task = local->next++, .exit_code = -1};
			(void)snprintf(end->reason, sizeof end->reason, "cannot be started: %s",
			               strerror(failed));
			return true;
		}
	}
	return false;
}

static enum tl_status local_submit(void *self, const struct tl_task *tasks, size_t count,
                                   struct tl_error *error)
{
	struct local *local = self;

	(void)error;
	local->tasks = tasks;
	local->task_count = count;
	local->next = 0;
	local->cancelled = local->ending = false;
	return TL_OK;
}

static void judge(const struct local *local, size_t task, int wait_status, struct tl_task_end *end)
{
	*end = (struct tl_task_end){.task = task, .exit_code = -1, .cancelled = local->ending};
	if (WIFEXITED(wait_status))
		end->exit_code = WEXITSTATUS(wait_status);
	if (end->exit_code == 0) {
		end->cancelled = false;
		return;
	}
	tl_task_last_words(local->tasks[task].log, end->reason, sizeof end->reason);
	if (WIFSIGNALED(wait_status))
		(void)snprintf(end->reason, sizeof end->reason, "ended by signal %d (%s)",
		               WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	else if (end->reason[0] == '\0')
		(void)snprintf(end->reason, sizeof end->reason, "exit code %d, without a word",
		               end->exit_code);
}

/* A child that has ended, if any. */
static bool reap(struct local *local, struct tl_task_end *end)
{
	for (size_t i = 0; i < local->slot_count; i++) {
		struct slot *slot = &local->slots[i];
		int wait_status = 0;

		if (slot->child == 0 || waitpid(slot->child, &wait_status, WNOHANG) != slot->child)
			continue;
		slot->child = 0;
		local->running--;
		judge(local, slot->task, wait_status, end);
		return true;
	}
	return false;
}

/* Something to tell, if there is; the free slots are filled first: what is to be told can
 * wait. */
static bool look(struct local *local, struct tl_task_end *end)
{
	struct tl_task_end unstarted;

	if (reap(local, end)) {
		if (fill(local, &unstarted))
			local->next = unstarted.task; /* and is told of the next time */
		return true;
	}
	if (fill(local, end))
		return true;
	if (!local->cancelled || local->running > 0 || local->next == local->task_count)
		return false;
	*end = (struct tl_task_end){.task = local->next++, .exit_code = -1, .cancelled = true};
	return true;
}

static enum tl_status local_wait(void *self, int64_t timeout_ns, struct tl_task_end *end,
                                 bool *ended, struct tl_error *error)
{
	struct local *local = self;
	const struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / ns_per_s),
	                                 .tv_nsec = (long)(timeout_ns % ns_per_s)};
	enum tl_status status = TL_OK;
	sigset_t watched;

	/* Let through only in pselect(): none can come between a look and the wait. */
	sigemptyset(&watched);
	sigaddset(&watched, SIGCHLD);
	sigaddset(&watched, SIGINT);
	sigaddset(&watched, SIGTERM);
	sigaddset(&watched, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &watched, &local->before);
	*ended = look(local, end);
	if (!*ended && pselect(0, NULL, NULL, NULL, &timeout, &local->before) < 0 && errno != EINTR)
		status = tl_error_set(error, TL_E_OS, NULL, 0, 0, "waiting for a run: %s",
		                      strerror(errno));
	else if (!*ended)
		*ended = look(local, end);
	(void)sigprocmask(SIG_SETMASK, &local->before, NULL);
	return status;
}

static void local_cancel(void *self, bool now)
{
	struct local *local = self;

	local->cancelled = true;
	local->ending = local->ending || now;
	for (size_t i = 0; i < local->slot_count && now; i++)
		if (local->slots[i].child != 0)
			(void)kill(local->slots[i].child, SIGTERM);
}

static enum tl_status local_print(void *self, const struct tl_task *tasks, size_t count, FILE *out,
                                  struct tl_error *error)
{
	(void)self;
	(void)error;
	for (size_t i = 0; i < count; i++)
		for (char **word = tasks[i].argv; *word; word++) {
			tl_shell_quote(*word, out);
			(void)fputc(word[1] ? ' ' : '\n', out);
		}
	return TL_OK;
}

static void local_close(void *self)
{
	struct local *local = self;

	local_cancel(local, true);
	for (size_t i = 0; i < local->slot_count; i++)
		while (local->slots[i].child != 0 && waitpid(local->slots[i].child, NULL, 0) < 0 &&
		       errno == EINTR)
			;
	(void)sigaction(SIGCHLD, &local->on_child_before, NULL);
	free(local->slots);
	free(local);
}

const struct tl_executor tl_executor_local = {
    .name = "local",
    .open = local_open,
    .submit = local_submit,
    .wait = local_wait,
    .cancel = local_cancel,
    .print = local_print,
    .close = local_close,
};
