/* SPDX-License-Identifier: GPL-3.0-or-later */
#define _DEFAULT_SOURCE /* realpath */
/*
 * Policies that misbehave (tests/hostile/modules), each in a supervised run: the run ends
 * with a reason and a dump and leaves no file, or goes on with the misdeed refused and
 * counted. Never longer than it takes a watchdog of one second.
 */
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/units.h"
#include "sim/config/scenario.h"
#include "sim/plane/supervise.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WATCHED "watchdog: {cpu: 1s, stall: 1d, preemptions: 20}\n"

enum { PATH_ROOM = 512, TEXT_ROOM = 8192, LATEST_S = 4 };

static char folder[PATH_ROOM], trace[PATH_ROOM + 16], output[PATH_ROOM + 16], modules[PATH_ROOM];
static char said[TEXT_ROOM]; /* diagnostics of the last run */
static struct tl_error error;

/* Two nodes of four GPUs; six jobs, so that some wait while others run. */
static void write_trace(void)
{
	FILE *file = fopen(trace, "w");

	cr_assert_not_null(file);
	fputs("id,submit_s,duration_s,gpus\n", file);
	for (int i = 0; i < 6; i++)
		fprintf(file, "j%d,%d,%d,%d\n", i, i * 10, 1000 + 100 * i,
		        i == 0   ? 2
		        : i == 1 ? 8
		                 : 3);
	fclose(file);
}

static void setup(void)
{
	const char *build = getenv("TIDELAB_BUILD"), *temporary = getenv("TMPDIR");
	char relative[PATH_ROOM], absolute[PATH_MAX];

	snprintf(relative, sizeof relative, "%s/tests/modules", build ? build : "build/release");
	if (!realpath(relative, absolute) || strlen(absolute) + 40 > sizeof modules)
		cr_skip("%s is not there: make test-programs builds it", relative);
	memcpy(modules, absolute, strlen(absolute) + 1);
	snprintf(folder, sizeof folder, "%s/contain.XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(folder));
	snprintf(trace, sizeof trace, "%s/trace.csv", folder);
	snprintf(output, sizeof output, "%s/out.h5", folder);
	error = TL_ERROR_INIT;
	write_trace();
}

/* Files in the folder beside the trace. */
static int leftovers(void)
{
	DIR *listing = opendir(folder);
	const struct dirent *entry;
	int count = 0;

	while (listing && (entry = readdir(listing)))
		count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		         strcmp(entry->d_name, "trace.csv") != 0;
	if (listing)
		closedir(listing);
	return count;
}

static void teardown(void)
{
	unlink(output);
	unlink(trace);
	rmdir(folder);
}

TestSuite(containment, .init = setup, .fini = teardown, .timeout = 60);

static struct tl_scenario *scenario_of(const char *module, const char *how, const char *more)
{
	char text[TEXT_ROOM];
	struct tl_scenario *scenario = NULL;
	char option[80] = "";

	if (how)
		snprintf(option, sizeof option, ", how: %s", how);
	snprintf(
	    text, sizeof text,
	    "cluster: 2x4\n"
	    "workload: [{trace: %s, format: canonical}]\n"
	    "policy: {scheduler: \"%s%s%s\"%s, admit: \"\", order: \"\", place: \"\", preempt: \"\"}\n"
	    "%s",
	    trace, strchr(module, '/') ? "" : modules, strchr(module, '/') ? "" : "/", module,
	    option, more ? more : WATCHED);
	cr_assert_eq(tl_scenario_parse("test", text, NULL, 0, &scenario, &error), TL_OK, "%s: %s",
	             text, error.message);
	return scenario;
}

/* CPU time of the trials so far. */
static double trials_s(void)
{
	struct rusage usage;

	cr_assert_eq(getrusage(RUSAGE_CHILDREN, &usage), 0);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Runs, within LATEST_S of CPU time (that of the wall is as long as others make it); what was
 * said is in `said`. */
static enum tl_status supervise(const char *module, const char *how, const char *more)
{
	struct tl_scenario *scenario = scenario_of(module, how, more);
	FILE *diagnostics = tmpfile();
	const struct tl_run_options options = {.output_path = output, .diagnostics = diagnostics};
	double began_s = trials_s();
	enum tl_status status = tl_supervise_run(scenario, &options, &error);
	double took_s = trials_s() - began_s;
	size_t length;

	cr_assert_leq(took_s, LATEST_S, "%s %s took %g s", module, how ? how : "", took_s);
	rewind(diagnostics);
	length = fread(said, 1, sizeof said - 1, diagnostics);
	said[length] = '\0';
	fclose(diagnostics);
	tl_scenario_destroy(scenario);
	return status;
}

/* The run fails so, with this in its reason, and leaves nothing. */
static void fails(const char *module, const char *how, const char *more, enum tl_status wanted,
                  const char *reason)
{
	enum tl_status status = supervise(module, how, more);

	cr_assert_eq(status, wanted, "%s %s: status %d, wanted %d: %s", module, how ? how : "",
	             status, wanted, error.message);
	cr_assert_not_null(strstr(error.message, reason), "%s %s: `%s` does not say `%s`", module,
	                   how ? how : "", error.message, reason);
	cr_assert_neq(tl_status_exit_code(status), 0);
	cr_assert_eq(leftovers(), 0, "%s %s leaves a file", module, how ? how : "");
	if (wanted == TL_E_POLICY)
		cr_assert_not_null(strstr(said, "dump: at "), "%s %s: no dump in `%s`", module,
		                   how ? how : "", said);
}

/* A value of the result's summary; 0 where it has no such row. */
static double summary(const char *metric)
{
	struct tl_results_reader *reader = NULL;
	struct tl_row_summary *rows;
	void *read = NULL;
	size_t count = 0;
	double value = 0.0;

	cr_assert_eq(tl_results_open(output, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, &tl_schema_summary, &read, &count, &error), TL_OK);
	rows = read;
	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].metric, metric) == 0)
			value = rows[i].value;
	free(read);
	tl_results_reader_close(reader);
	return value;
}

/* The run goes on to its end: all six jobs complete, and the misdeed is counted. */
static void goes_on(const char *module, const char *how, const char *more, const char *refused)
{
	char metric[64];
	enum tl_status status = supervise(module, how, more);

	cr_assert_eq(status, TL_OK, "%s %s: %s", module, how ? how : "", error.message);
	cr_assert_eq(leftovers(), 1);
	cr_assert_eq(summary("completed"), 6.0, "%s %s", module, how ? how : "");
	if (refused) {
		snprintf(metric, sizeof metric, "refused_%s", refused);
		for (char *c = metric; *c; c++)
			*c = *c == '-' ? '_' : *c;
		cr_assert_gt(summary(metric), 0.0, "%s %s: no %s", module, how ? how : "", metric);
		cr_assert_eq(summary(metric), summary("decisions_refused"),
		             "%s %s: other refusals too", module, how ? how : "");
	} else {
		cr_assert_eq(summary("decisions_refused"), 0.0, "%s %s", module, how ? how : "");
	}
	unlink(output);
}

/* ---- refused, counted, and on ---- */

Test(containment, an_honest_run)
{
	goes_on("crash.so", "nothing", NULL, NULL);
	goes_on("crash.so", "nothing", "physics: ideal\n" WATCHED, NULL);
}

Test(containment, wrong_starts_are_refused)
{
	static const struct {
		const char *how, *refused;
	} rows[] = {
	    {"stale", "stale-job"},
	    {"no-job", "stale-job"},
	    {"no-place", "argument"},
	    {"no-nodes", "argument"},
	    {"no-gpus", "argument"},
	    {"workers", "placement-shape"},
	    {"gpus", "placement-shape"},
	    {"huge-count", "placement-shape"},
	    {"node", "no-such-node"},
	    {"gpu", "no-such-gpu"},
	    {"elsewhere", "gpu-not-on-node"},
	    {"twice", "duplicate-gpu"},
	    {"running", "state"},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		goes_on("bad-start.so", rows[i].how, NULL, rows[i].refused);
}

Test(containment, a_start_where_another_job_is)
{
	goes_on("bad-start.so", "full", NULL, "gpu-share");
}

Test(containment, a_start_on_a_node_that_is_down)
{
	goes_on("bad-start.so", "down",
	        WATCHED "faults: [{at: 1s, do: node-down, node: node-0000, for: 1h}]\n",
	        "node-not-up");
}

Test(containment, other_wrong_decisions_are_refused)
{
	static const struct {
		const char *how, *refused;
	} rows[] = {
	    {"suspend-waiting", "state"},
	    {"suspend-mode", "argument"},
	    {"suspend-stale", "stale-job"},
	    {"migrate-waiting", "state"},
	    {"migrate-nowhere", "argument"},
	    {"resize", "not-elastic"},
	    {"scale", "no-such-service"},
	    {"reserve-null", "argument"},
	    {"reserve-past", "past"},
	    {"reserve-gpu", "no-such-gpu"},
	    {"reserve-many", "range"},
	    {"reserve-running", "state"},
	    {"reject-running", "state"},
	    {"wake-past", NULL},
	    {"wake-now", NULL},
	    {"garbage", NULL},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		goes_on("bad-decision.so", rows[i].how, NULL, rows[i].refused);
	cr_assert_not_null(strstr(said, "garbage kept out"), "%s", said);
	cr_assert_null(strstr(said, "garbage got in"));
}

Test(containment, nobody_decides_outside_schedule)
{
	goes_on("outside.so", NULL, NULL, "outside-schedule");
	goes_on("outside.so", NULL, "physics: ideal\n" WATCHED, "outside-schedule");
}

Test(containment, a_create_that_takes_its_time_is_no_hang)
{
	goes_on("bad-create.so", "slow", NULL, NULL);
}

/* ---- nothing gets anywhere ---- */

Test(containment, stalls)
{
	fails("stuck.so", "nothing", NULL, TL_E_POLICY, "stall: 6 jobs wait");
	fails("stuck.so", "wake-hourly", NULL, TL_E_POLICY, "stall: 6 jobs wait and every node");
}

Test(containment, a_node_that_is_down_excuses_nobody)
{
	fails("stuck.so", "wake-hourly",
	      WATCHED "faults: [{at: 1s, do: node-down, nodes: 1, for: ever}]\n", TL_E_POLICY,
	      "stall: 5 jobs wait and every node"); /* the sixth wants both nodes */
}

/* A run like these ends well, with so many jobs left waiting. */
static void left_waiting(const char *more, double wanted)
{
	cr_assert_eq(supervise("crash.so", "nothing", more), TL_OK, "%s", error.message);
	cr_assert_eq(summary("censored"), wanted, "%s: %g", more, summary("censored"));
	cr_assert_not_null(strstr(said, "left waiting for ever"), "%s", said);
	unlink(output);
}

Test(containment, what_no_policy_could_start_is_no_stall)
{
	left_waiting("faults: [{at: 1s, do: node-down, nodes: 1, for: ever}]\n", 1.0);
	left_waiting("faults: [{at: 1s, do: node-down, nodes: 2, for: ever}]\n"
	             "jobs: {max_restarts: 9}\n",
	             6.0);
	left_waiting("tenants: [{name: default, quota: 2}]\n", 5.0);
}

Test(containment, hangs)
{
	fails("stuck.so", "wake", NULL, TL_E_POLICY, "hang: no progress for 1s");
	fails("stuck.so", "spin", NULL, TL_E_POLICY,
	      "hang: no progress for 1s, in schedule() of policy `stuck`");
}

Test(containment, loops)
{
	fails("stuck.so", "suspend", NULL, TL_E_POLICY, "loop: job ");
	fails("stuck.so", "kill", NULL, TL_E_POLICY, "loop: job ");
	fails("stuck.so", "migrate", NULL, TL_E_POLICY, "loop: job ");
}

/* However little, it is progress: the run goes on, and says how it went. */
Test(containment, nibbling_is_no_loop_and_is_told)
{
	cr_assert_eq(supervise("stuck.so", "nibble", NULL), TL_OK, "%s", error.message);
	cr_assert_gt(summary("preemptions"), 100);
	cr_assert_gt(summary("preemptions_max"), 10);
	cr_assert_eq(summary("preemptions_futile"), summary("preemptions"));
	cr_assert_eq(summary("preemptions_unsaved"), 0);
	unlink(output);
}

Test(containment, loops_at_one_instant)
{
	static const char *const how[] = {"suspend", "migrate"};

	for (size_t i = 0; i < 2; i++) {
		fails("stuck.so", how[i], "physics: ideal\n" WATCHED, TL_E_POLICY, "loop: job ");
		fails("stuck.so", how[i],
		      "physics: ideal\nwatchdog: {cpu: 1s, preemptions: 1000000}\n", TL_E_POLICY,
		      "loop: more than 1000 rounds");
	}
}

/* ---- the process goes down ---- */

/* A sanitiser turns some signals, and leaks at exit(), into a status of its own. */
Test(containment, crashes)
{
	static const char *const how[] = {"null-read", "abort", "stack", "terminate"};

	for (size_t i = 0; i < 4; i++) {
		fails("crash.so", how[i], NULL, TL_E_POLICY, "crash: ");
		cr_assert_not_null(strstr(error.message, "in schedule() of policy `crash`"), "%s",
		                   error.message);
	}
	fails("crash.so", "abort", NULL, TL_E_POLICY, "(Aborted) in schedule()");
	fails("crash.so", "terminate", NULL, TL_E_POLICY, "(Terminated) in schedule()");
}

Test(containment, exits)
{
	static const char *const how[] = {"exit-0", "exit-3", "exit-now"};

	for (size_t i = 0; i < 3; i++) {
		fails("crash.so", how[i], NULL, TL_E_POLICY, "crash: the trial left with status ");
		cr_assert_not_null(strstr(error.message, "in schedule() of policy `crash`"), "%s",
		                   error.message);
	}
	fails("crash.so", "exit-now", NULL, TL_E_POLICY, "left with status 0");
}

Test(containment, the_dump_tells_the_last_decisions)
{
	fails("crash.so", "abort", NULL, TL_E_POLICY, "crash");
	cr_assert_not_null(strstr(said, "1 decisions, the last ones:"), "%s", said);
	cr_assert_not_null(strstr(said, "start job row 0 on node 0: accepted"), "%s", said);
}

/* ---- creating and destroying ---- */

Test(containment, create_fails)
{
	fails("bad-create.so", "fail", NULL, TL_E_UNAVAILABLE,
	      "`bad-create` could not be created: the moon is in the wrong quarter");
	fails("bad-create.so", "fail-silent", NULL, TL_E_UNAVAILABLE, "gives no reason");
	fails("bad-create.so", "fail-long", NULL, TL_E_UNAVAILABLE, "could not be created: xxxx");
}

Test(containment, create_and_destroy_crash_or_hang)
{
	fails("bad-create.so", "crash", NULL, TL_E_POLICY,
	      "(Aborted) in create() of policy `bad-create`");
	fails("bad-create.so", "spin", NULL, TL_E_POLICY, "hang: no progress for 1s, in create()");
	fails("bad-create.so", "crash-late", NULL, TL_E_POLICY, "(Aborted) in destroy()");
}

Test(containment, the_blame_comes_back_from_a_seat_that_was_opened_late)
{
	struct tl_override order = {.key = "policy.order"};
	char path[PATH_ROOM + 32], text[TEXT_ROOM];
	struct tl_scenario *scenario = NULL;
	FILE *quiet = tmpfile();
	const struct tl_run_options options = {.diagnostics = quiet};

	snprintf(path, sizeof path, "%s/order-only.so", modules);
	order.value = path;
	snprintf(
	    text, sizeof text,
	    "cluster: 2x4\nworkload: [{trace: %s, format: canonical}]\n"
	    "policy: {scheduler: \"%s/late-seat.so\", admit: \"\", place: \"\", preempt: \"\"}\n",
	    trace, modules);
	cr_assert_eq(tl_scenario_parse("test", text, &order, 1, &scenario, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_E_POLICY, "%s",
	             error.message);
	cr_assert_not_null(strstr(error.message, "in schedule() of policy `late-seat`"), "%s",
	                   error.message);
	tl_scenario_destroy(scenario);
	fclose(quiet);
}

/* ---- the handshake ---- */

Test(containment, modules_that_are_none)
{
	static const struct {
		const char *module, *reason;
		enum tl_status status;
	} rows[] = {
	    {"bad-magic.so", "magic: got 0x", TL_E_UNAVAILABLE},
	    {"wrong-major.so", "abi_major: got 2, wanted 1", TL_E_UNAVAILABLE},
	    {"newer-minor.so", "abi_minor: got 3, wanted at most 2", TL_E_UNAVAILABLE},
	    {"unknown-capability.so", "capabilities: got 0x8000000000000000", TL_E_UNAVAILABLE},
	    {"no-such-seat.so", "seat: got 8, wanted below 8", TL_E_UNAVAILABLE},
	    {"no-callback.so", "mandatory callback of the scheduler seat", TL_E_UNAVAILABLE},
	    {"no-symbol.so", "exports no `tidelab_module`", TL_E_UNAVAILABLE},
	    {"bad-option.so", "and choices", TL_E_UNAVAILABLE},
	    {"bad-default.so", "option `how`: got `sometimes`, wanted one of never|always",
	     TL_E_CONFIG},
	    {"order-only.so", "a module for the order seat", TL_E_CONFIG},
	    {"not-there.so", "cannot be opened", TL_E_NOINPUT},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		fails(rows[i].module, NULL, NULL, rows[i].status, rows[i].reason);
	fails("crash.so", "sideways", NULL, TL_E_CONFIG, "got `sideways`, wanted one of");
	fails(trace, NULL, NULL, TL_E_UNAVAILABLE, "cannot be loaded");
}

/* ---- interruption, and disks that are full ---- */

/* A child of ours supervises a run that waits; it is interrupted. */
Test(containment, an_interrupt_leaves_no_file)
{
	struct tl_scenario *scenario = scenario_of("crash.so", "wait", "watchdog: {cpu: 1min}\n");
	struct timespec half = {.tv_nsec = 500000000};
	int wait_status = 0;
	pid_t child = fork();

	if (child == 0) {
		const struct tl_run_options options = {.output_path = output};

		_exit(tl_status_exit_code(tl_supervise_run(scenario, &options, &error)));
	}
	nanosleep(&half, NULL);
	cr_assert_eq(leftovers(), 1, "it writes under another name");
	cr_assert_neq(access(output, F_OK), 0, "never under the final one");
	kill(child, SIGINT);
	cr_assert_eq(waitpid(child, &wait_status, 0), child);
	cr_assert(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 130, "status 0x%x",
	          wait_status);
	cr_assert_eq(leftovers(), 0);
	tl_scenario_destroy(scenario);
}

Test(containment, a_file_that_may_not_grow_is_a_failed_write)
{
	static const rlim_t most[] = {0, 1, 100, 4096, 10000, 20000};
	struct rlimit before;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
		struct rlimit limit = {.rlim_cur = most[i], .rlim_max = before.rlim_max};
		struct tl_scenario *scenario = scenario_of("crash.so", "nothing", NULL);
		const struct tl_run_options options = {.output_path = output};

		cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
		enum tl_status status = tl_supervise_run(scenario, &options, &error);

		setrlimit(RLIMIT_FSIZE, &before);
		cr_assert(status == TL_E_IO || (most[i] == 0 && status == TL_E_CANTCREAT),
		          "at %lu bytes: status %d: %s", (unsigned long)most[i], status,
		          error.message);
		cr_assert_eq(leftovers(), 0, "at %lu bytes", (unsigned long)most[i]);
		tl_scenario_destroy(scenario);
	}
}

Test(containment, what_is_no_plain_file_is_not_replaced)
{
	struct tl_scenario *scenario = scenario_of("crash.so", "nothing", NULL);
	const struct tl_run_options options = {.output_path = output, .force = true};
	struct stat info;

	cr_assert_eq(mkfifo(output, 0600), 0);
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_E_CANTCREAT);
	cr_assert_eq(stat(output, &info), 0);
	cr_assert(S_ISFIFO(info.st_mode), "the pipe is still there");
	tl_scenario_destroy(scenario);
}

Test(containment, an_existing_file_is_kept_unless_forced)
{
	struct tl_scenario *scenario = scenario_of("crash.so", "nothing", NULL);
	struct tl_run_options options = {.output_path = output};
	FILE *file = fopen(output, "w");

	fputs("precious", file);
	fclose(file);
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_E_CANTCREAT);
	cr_assert_not_null(strstr(error.message, "--force"));
	options.force = true;
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_OK, "%s", error.message);
	cr_assert_eq(summary("completed"), 6.0);
	cr_assert_eq(leftovers(), 1);
	options.output_path = folder;
	cr_assert_eq(tl_supervise_run(scenario, &options, &error), TL_E_CANTCREAT);
	tl_scenario_destroy(scenario);
}

Test(containment, a_folder_that_is_not_there)
{
	struct tl_scenario *scenario = scenario_of("crash.so", "nothing", NULL);
	const struct tl_run_options options = {.output_path = "/nowhere/at/all/out.h5"};
	enum tl_status status = tl_supervise_run(scenario, &options, &error);

	cr_assert_eq(status, TL_E_CANTCREAT, "status %d: %s", status, error.message);
	tl_scenario_destroy(scenario);
}
