/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "sim/plane/supervise.h"

#include "policies/abi/tidelab_policy.h"
#include "results/schema.h"
#include "sim/account/account.h"
#include "sim/base/output.h"
#include "sim/base/stop.h"
#include "sim/base/units.h"
#include "sim/plane/module.h"
#include "sim/plane/trial.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#endif

enum {
	TICK_MS = 200,          /* how often the parent looks */
	WALL_PER_CPU_LIMIT = 10 /* a policy that sleeps is given so much longer */
};

struct supervision {
	const struct tl_scenario *scenario;
	const struct tl_run_options *options;
	struct tl_pulse *pulse;
	char *partial_path; /* beside the final name; NULL: no file */
	bool check;         /* everything short of running … */
	FILE *report;       /* … and what was found goes here */
	pid_t child;
	sigset_t before;
	int64_t started_ns;
	/* watchdog */
	uint64_t seen_progress;
	int64_t seen_cpu_ns, seen_wall_ns;
	bool line_shown;
};

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0};

	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (int64_t)now.tv_sec * TL_NS_PER_S + now.tv_nsec;
}

/* ---- the child ---- */

static _Noreturn void child_main(struct supervision *sup, pid_t parent)
{
	const struct tl_trial_options options = {.results_path = sup->partial_path,
	                                         .explain_id = sup->options->explain_id,
	                                         .explain_file = sup->options->explain_file,
	                                         .diagnostics = sup->options->diagnostics};
	struct tl_error error = TL_ERROR_INIT;

	/* ^C reaches the whole group: the parent alone answers it. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is a failed write */
	sigprocmask(SIG_SETMASK, &sup->before, NULL);
#ifdef __linux__
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
	if (getppid() != parent)
		_exit(TL_E_OS);
	enum tl_status status = sup->check
	                            ? tl_trial_check(sup->scenario, sup->report, sup->pulse, &error)
	                            : tl_trial_run(sup->scenario, &options, sup->pulse, &error);

	if (sup->report != NULL && (fflush(sup->report) != 0 || ferror(sup->report)) &&
	    status == TL_OK)
		status =
		    tl_error_set(&error, TL_E_IO, NULL, 0, 0,
		                 "the report of the check cannot be written: %s", strerror(errno));
	sup->pulse->error = error;
	sup->pulse->status = status;
	atomic_store(&sup->pulse->spoken, true);
	fflush(NULL);
	_exit(status == TL_OK ? 0 : 1);
}

/* ---- the parent ---- */

static void show_progress(struct supervision *sup)
{
	const struct tl_pulse *pulse = sup->pulse;
	int64_t spent_ns = clock_ns(CLOCK_MONOTONIC) - sup->started_ns;
	uint64_t done = atomic_load_explicit(&pulse->rows_done, memory_order_relaxed);
	uint64_t total = atomic_load_explicit(&pulse->rows_total, memory_order_relaxed);
	char when[48];

	if (!sup->options->progress || spent_ns < TL_NS_PER_S)
		return;
	sup->line_shown = true;
	fprintf(sup->options->diagnostics,
	        "\r\033[K%s simulated, %" PRIu64 " of %" PRIu64
	        " jobs done, %u running, %u waiting",
	        tl_format_duration(atomic_load_explicit(&pulse->now_ns, memory_order_relaxed), when,
	                           sizeof(when)),
	        done, total, atomic_load_explicit(&pulse->holding, memory_order_relaxed),
	        atomic_load_explicit(&pulse->waiting, memory_order_relaxed));
	if (done > 0 && total > done)
		fprintf(sup->options->diagnostics, ", %s to go",
		        tl_format_duration(
			    (int64_t)((double)spent_ns * (double)(total - done) / (double)done) /
				TL_NS_PER_S * TL_NS_PER_S,
			    when, sizeof(when)));
	fflush(sup->options->diagnostics);
}

static void clear_progress(struct supervision *sup)
{
	if (sup->line_shown)
		fputs("\r\033[K", sup->options->diagnostics);
	sup->line_shown = false;
}

/* Whether the trial has spent its allowance of CPU time without an event. */
static bool hangs(struct supervision *sup)
{
	uint64_t progress = atomic_load_explicit(&sup->pulse->progress, memory_order_relaxed);
	bool in_policy =
	    atomic_load_explicit(&sup->pulse->seat, memory_order_relaxed) != TL_SEAT_COUNT;
	clockid_t clock;
	int64_t cpu_ns = clock_getcpuclockid(sup->child, &clock) == 0 ? clock_ns(clock) : 0;
	int64_t wall_ns = clock_ns(CLOCK_MONOTONIC);

	if (progress != sup->seen_progress || (progress == 0 && !in_policy)) {
		sup->seen_progress = progress;
		sup->seen_cpu_ns = cpu_ns;
		sup->seen_wall_ns = wall_ns;
		return false;
	}
	return cpu_ns - sup->seen_cpu_ns > sup->scenario->watchdog_cpu_ns ||
	       (in_policy && (wall_ns - sup->seen_wall_ns) / WALL_PER_CPU_LIMIT >
	                         sup->scenario->watchdog_cpu_ns);
}

static const char *where_it_was(const struct tl_pulse *pulse, char *buffer, size_t size)
{
	uint32_t seat = atomic_load_explicit(&pulse->seat, memory_order_relaxed);

	if (seat < TL_SEAT_COUNT && strstr(pulse->callback, "load") != NULL)
		snprintf(buffer, size, "in the %sing of policy `%s`", pulse->callback,
		         pulse->module);
	else if (seat < TL_SEAT_COUNT)
		snprintf(buffer, size, "in %s() of policy `%s`", pulse->callback, pulse->module);
	else
		snprintf(buffer, size, "in the simulator itself");
	return buffer;
}

/* What was going on: for a run that the policy ended. */
static void dump(struct supervision *sup)
{
	const struct tl_pulse *pulse = sup->pulse;
	FILE *out = sup->options->diagnostics;
	uint64_t made = atomic_load_explicit(&pulse->decisions, memory_order_relaxed);
	uint64_t first = made > TL_PULSE_DECISIONS ? made - TL_PULSE_DECISIONS : 0;
	char text[192], when[48];

	if (out == NULL)
		return;
	fprintf(out,
	        "dump: at %s, %s; %" PRIu64 " events, %u jobs hold GPUs, %u wait; %" PRIu64
	        " decisions, the last ones:\n",
	        tl_format_duration(atomic_load_explicit(&pulse->now_ns, memory_order_relaxed), when,
	                           sizeof(when)),
	        where_it_was(pulse, text, sizeof(text)),
	        atomic_load_explicit(&pulse->events, memory_order_relaxed),
	        atomic_load_explicit(&pulse->holding, memory_order_relaxed),
	        atomic_load_explicit(&pulse->waiting, memory_order_relaxed), made);
	for (uint64_t n = first; n < made; n++) {
		const struct tl_pulse_decision *decision = &pulse->ring[n % TL_PULSE_DECISIONS];

		fprintf(
		    out, "dump:   %s %s", tl_format_duration(decision->t_ns, when, sizeof(when)),
		    decision->kind < TL_DECISION_COUNT ? tl_schema_decision_names[decision->kind]
						       : "?");
		if (decision->row != UINT64_MAX)
			fprintf(out, " job row %" PRIu64, decision->row);
		if (decision->node != TL_NO_INDEX)
			fprintf(out, " on node %u", decision->node);
		fprintf(out, ": %s\n",
		        decision->refusal < TL_REFUSAL_COUNT ? tl_refusal_names[decision->refusal]
		                                             : "?");
	}
}

static void reap(struct supervision *sup)
{
	kill(sup->child, SIGKILL);
	while (waitpid(sup->child, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Waits for the child: its wait status, or an error of its own making. */
static enum tl_status wait_for(struct supervision *sup, const sigset_t *watched, int *wait_status,
                               struct tl_error *error)
{
	const struct timespec tick = {.tv_nsec = TICK_MS * TL_NS_PER_MS};
	char text[192], spent[48];

	for (;;) {
		pid_t got = waitpid(sup->child, wait_status, WNOHANG);

		if (got == sup->child)
			return TL_OK;
		if (got < 0 && errno != EINTR)
			return tl_error_set(error, TL_E_OS, NULL, 0, 0, "waiting for the trial: %s",
			                    strerror(errno));
		int signal_number = sigtimedwait(watched, NULL, &tick);

		if (signal_number > 0 && signal_number != SIGCHLD) {
			reap(sup);
			return tl_error_set(error, TL_E_INTERRUPTED, NULL, 0, 0,
			                    sup->partial_path != NULL
			                        ? "interrupted: no result was written"
			                    : sup->options->explain_id != NULL
			                        ? "interrupted: nothing is told of the job"
			                        : "interrupted");
		}
		show_progress(sup);
		if (hangs(sup)) {
			reap(sup);
			clear_progress(sup);
			dump(sup);
			return tl_error_set(error, TL_E_POLICY, NULL, 0, 0,
			                    "hang: no progress for %s, %s",
			                    tl_format_duration(sup->scenario->watchdog_cpu_ns,
			                                       spent, sizeof(spent)),
			                    where_it_was(sup->pulse, text, sizeof(text)));
		}
	}
}

static enum tl_status judge(struct supervision *sup, int wait_status, struct tl_error *error)
{
	struct tl_pulse *pulse = sup->pulse;
	bool in_policy = atomic_load_explicit(&pulse->seat, memory_order_relaxed) < TL_SEAT_COUNT;
	char text[192];

	if (WIFEXITED(wait_status) && atomic_load(&pulse->spoken)) {
		if (pulse->status == TL_OK)
			return TL_OK;
		*error = pulse->error;
		if (pulse->status == TL_E_POLICY)
			dump(sup);
		return pulse->status;
	}
	dump(sup);
	if (WIFSIGNALED(wait_status))
		return tl_error_set(error, in_policy ? TL_E_POLICY : TL_E_INTERNAL, NULL, 0, 0,
		                    "crash: signal %d (%s) %s", WTERMSIG(wait_status),
		                    strsignal(WTERMSIG(wait_status)),
		                    where_it_was(pulse, text, sizeof(text)));
	/* An exit that was not ours: a policy called exit(), or memory ran out. */
	if (WEXITSTATUS(wait_status) == tl_status_exit_code(TL_E_OS))
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "out of memory, %s",
		                    where_it_was(pulse, text, sizeof(text)));
	return tl_error_set(error, in_policy ? TL_E_POLICY : TL_E_INTERNAL, NULL, 0, 0,
	                    "crash: the trial left with status %d, %s", WEXITSTATUS(wait_status),
	                    where_it_was(pulse, text, sizeof(text)));
}

/* Has a child do it: forks, watches, judges. */
static enum tl_status contain(struct supervision *sup, struct tl_error *error)
{
	enum tl_status status;
	sigset_t watched;
	int wait_status = 0;
	pid_t parent = getpid();

	sup->started_ns = sup->seen_wall_ns = clock_ns(CLOCK_MONOTONIC);
	sup->pulse = mmap(NULL, sizeof(*sup->pulse), PROT_READ | PROT_WRITE,
	                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (sup->pulse == MAP_FAILED)
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "shared memory: %s",
		                    strerror(errno));
	atomic_store(&sup->pulse->seat, TL_SEAT_COUNT);
	tl_stop_signals(&watched);
	sigaddset(&watched, SIGCHLD);
	sigprocmask(SIG_BLOCK, &watched, &sup->before);
	fflush(NULL);
	sup->child = fork();
	if (sup->child == 0)
		child_main(sup, parent);
	if (sup->child < 0)
		status = tl_error_set(error, TL_E_OS, NULL, 0, 0, "fork: %s", strerror(errno));
	else
		status = wait_for(sup, &watched, &wait_status, error);
	clear_progress(sup);
	if (status == TL_OK)
		status = judge(sup, wait_status, error);
	/* The name is taken while ^C still waits: it comes before the file, or after it. */
	if (status == TL_OK && sup->partial_path != NULL)
		status = tl_output_publish(sup->partial_path, sup->options->output_path,
		                           sup->options->force, error);
	if (status != TL_OK && sup->partial_path != NULL) {
		tl_output_rename_error(sup->partial_path, sup->options->output_path, error);
		unlink(sup->partial_path);
	}
	sigprocmask(SIG_SETMASK, &sup->before, NULL);
	munmap(sup->pulse, sizeof(*sup->pulse));
	return status;
}

enum tl_status tl_supervise_run(const struct tl_scenario *scenario,
                                const struct tl_run_options *options, struct tl_error *error)
{
	struct supervision sup = {.scenario = scenario, .options = options};
	const char *path = options->output_path;
	enum tl_status status = path == NULL ? TL_OK : tl_output_check(path, options->force, error);

	if (status == TL_OK && path != NULL)
		sup.partial_path = tl_output_partial(path);
	if (status == TL_OK)
		status = contain(&sup, error);
	free(sup.partial_path);
	return status;
}

enum tl_status tl_supervise_check(const struct tl_scenario *scenario, FILE *report,
                                  FILE *diagnostics, struct tl_error *error)
{
	const struct tl_run_options options = {.diagnostics = diagnostics};
	struct supervision sup = {
	    .scenario = scenario, .options = &options, .check = true, .report = report};

	return contain(&sup, error);
}
