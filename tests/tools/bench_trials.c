/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole runs, timed from outside: `tidelab run` on Philly's trace (where it is there) under
 * several policies, on 64,000 SWF jobs, and on traces of which one is ten times the other.
 * Prints wall time, CPU time (median of the runs) and the largest peak memory of a process.
 */
#define _DEFAULT_SOURCE /* wait4 */
#include "sim/base/rng.h"
#include "sim/base/units.h"

#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 3, ARGUMENTS = 24 };

extern char **environ;

struct figures {
	double wall_s, cpu_s;
	long peak_kb; /* of the largest process */
};

static char folder[] = "/tmp/tidelab-bench-XXXXXX";
static char result_path[64];
static const char *tidelab;

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double of(struct timeval time)
{
	return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* One run; the trial is a child of the command, so the peak is that of its children too. */
static int run_once(char *const arguments[], struct figures *out)
{
	posix_spawn_file_actions_t actions;
	struct rusage before, after;
	int status = 0;
	pid_t child;
	double began_s = seconds();

	getrusage(RUSAGE_CHILDREN, &before);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
	if (posix_spawn(&child, tidelab, &actions, NULL, arguments, environ) != 0)
		return -1;
	posix_spawn_file_actions_destroy(&actions);
	if (wait4(child, &status, 0, &after) < 0)
		return -1;
	out->wall_s = seconds() - began_s;
	getrusage(RUSAGE_CHILDREN, &after);
	out->cpu_s =
	    of(after.ru_utime) + of(after.ru_stime) - of(before.ru_utime) - of(before.ru_stime);
	out->peak_kb = after.ru_maxrss;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Each case in a process of its own, so that one case's peak is not another's. */
static int measure(const char *name, const char *const options[], double base_s,
                   struct figures *out)
{
	char *arguments[ARGUMENTS + 8] = {(char *)(size_t)tidelab, "run"};
	double wall_s[RUNS], cpu_s[RUNS];
	int n = 2, pipes[2];

	for (int i = 0; options[i] != NULL; i++)
		arguments[n++] = (char *)(size_t)options[i];
	arguments[n++] = "--force";
	arguments[n++] = "-o";
	arguments[n++] = result_path;
	if (pipe(pipes) != 0)
		return -1;
	fflush(stdout);
	pid_t child = fork();

	if (child == 0) {
		struct figures one = {0}, all = {0};

		for (int r = 0; r < RUNS; r++) {
			if (run_once(arguments, &one) != 0)
				_exit(1);
			wall_s[r] = one.wall_s;
			cpu_s[r] = one.cpu_s;
			all.peak_kb = one.peak_kb;
		}
		qsort(wall_s, RUNS, sizeof(*wall_s), by_value);
		qsort(cpu_s, RUNS, sizeof(*cpu_s), by_value);
		all.wall_s = wall_s[RUNS / 2];
		all.cpu_s = cpu_s[RUNS / 2];
		_exit(write(pipes[1], &all, sizeof(all)) == (ssize_t)sizeof(all) ? 0 : 1);
	}
	int status = 1;

	close(pipes[1]);
	ssize_t got = read(pipes[0], out, sizeof(*out));

	close(pipes[0]);
	waitpid(child, &status, 0);
	if (got != (ssize_t)sizeof(*out) || status != 0) {
		printf("%-44s failed\n", name);
		return -1;
	}
	printf("%-44s %7.2f s wall %7.2f s CPU %6.0f MB", name, out->wall_s, out->cpu_s,
	       (double)out->peak_kb / 1024.0);
	if (base_s > 0.0)
		printf("   x %.2f", out->cpu_s / base_s);
	printf("\n");
	return 0;
}

/* An SWF file of `jobs` one-processor jobs that load `processors` to 80 %. */
static int write_swf(const char *path, uint64_t jobs, double processors)
{
	const double mean_s = 1000.0, rate = 0.8 * processors / mean_s;
	FILE *file = fopen(path, "w");
	struct tl_rng rng;
	double t = 0.0;

	if (file == NULL)
		return -1;
	tl_rng_init(&rng, 1, TL_STREAM_TEST, 0);
	fprintf(file, "; MaxProcs: %.0f\n", processors);
	for (uint64_t i = 0; i < jobs; i++) {
		t += -log(1.0 - tl_rng_uniform(&rng)) / rate;
		long run_s = 1 + (long)(-log(1.0 - tl_rng_uniform(&rng)) * mean_s);

		fprintf(file, "%llu %ld -1 %ld 1 -1 -1 1 %ld -1 1 1 1 1 1 1 -1 -1\n",
		        (unsigned long long)i + 1, (long)t, run_s, 2 * run_s);
	}
	return fclose(file);
}

static int philly(void)
{
	const char *trace = "../shared/traces/philly/philly.csv";
	struct figures base, other;
	static const struct {
		const char *name, *policy, *estimates;
	} cases[] = {{"philly, SJF (exact estimates)", "order=sjf,place=topology,backfill=none",
	              "estimates=exact"},
	             {"philly, LAS", "order=las,place=topology,backfill=none", "estimates=trace"},
	             {"philly, FIFO + EASY (exact estimates)",
	              "order=fifo,place=topology,backfill=easy", "estimates=exact"},
	             {"philly, SRTF + EASY (exact estimates)",
	              "order=srtf,place=topology,backfill=easy", "estimates=exact"},
	             {"philly, priority queues + EASY",
	              "order=priority-queues,place=topology,backfill=easy", "estimates=exact"}};

	if (access(trace, R_OK) != 0) {
		printf("skipped, not here: %s\n", trace);
		return 0;
	}
	const char *fifo[] = {
	    "--cluster", "a100-32x8", "--trace",  trace,
	    "--format",  "philly",    "--policy", "order=fifo,place=topology,backfill=none",
	    NULL};
	int failed = measure("philly, FIFO, default tables", fifo, 0.0, &base) != 0;

	for (size_t i = 0; !failed && i < sizeof(cases) / sizeof(*cases); i++) {
		const char *options[] = {
		    "--cluster", "a100-32x8",        "--trace",  trace,
		    "--format",  "philly",           "--policy", cases[i].policy,
		    "--set",     cases[i].estimates, NULL};

		failed = measure(cases[i].name, options, base.cpu_s, &other) != 0;
	}
	return failed;
}

static int synthetic(void)
{
	char small[64], large[64];
	struct figures one, ten;

	snprintf(small, sizeof(small), "%s/small.swf", folder);
	snprintf(large, sizeof(large), "%s/large.swf", folder);
	if (write_swf(small, 64000, 256.0) != 0 || write_swf(large, 640000, 256.0) != 0)
		return 1;
	const char *jobs[] = {"--cluster", "256x1", "--trace",  small,
	                      "--format",  "swf",   "--policy", "order=fifo,place=first-fit",
	                      "--physics", "ideal", "--set",    "output.tables=[jobs, summary]",
	                      NULL};
	const char *bare[] = {"--cluster", "256x1", "--trace",  small,
	                      "--format",  "swf",   "--policy", "order=fifo,place=first-fit",
	                      "--physics", "ideal", "--set",    "output.tables=[summary]",
	                      NULL};
	const char *bare_ten[] = {"--cluster", "256x1", "--trace",  large,
	                          "--format",  "swf",   "--policy", "order=fifo,place=first-fit",
	                          "--physics", "ideal", "--set",    "output.tables=[summary]",
	                          NULL};
	int failed = measure("64,000 SWF jobs, tables jobs and summary", jobs, 0.0, &one) != 0 ||
	             measure("64,000 SWF jobs, summary alone", bare, 0.0, &one) != 0 ||
	             measure("640,000 SWF jobs, summary alone", bare_ten, one.cpu_s, &ten) != 0;

	if (!failed)
		printf("10x the trace: %.1fx the time, %+.0f MB\n", ten.cpu_s / one.cpu_s,
		       (double)(ten.peak_kb - one.peak_kb) / 1024.0);
	unlink(small);
	unlink(large);
	return failed;
}

int main(void)
{
	tidelab = getenv("TIDELAB");
	if (tidelab == NULL || mkdtemp(folder) == NULL) {
		fprintf(stderr, "bench_trials: wanted TIDELAB, the command to time\n");
		return 64;
	}
	snprintf(result_path, sizeof(result_path), "%s/result.h5", folder);
	int failed = philly() + synthetic();

	unlink(result_path);
	rmdir(folder);
	return failed != 0;
}
