/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules worked out by hand, run through the whole simulator under ideal physics: when
 * each job starts and ends is known to the second.
 */
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"
#include "sim/plane/trial.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PATH_ROOM = 512, SECOND = 1000000000 };

static char trace[PATH_ROOM], output[PATH_ROOM];

static void setup(void)
{
	const char *folder = getenv("TMPDIR");

	snprintf(trace, sizeof trace, "%s/schedule-%ld.csv", folder ? folder : "/tmp",
	         (long)getpid());
	snprintf(output, sizeof output, "%s/schedule-%ld.h5", folder ? folder : "/tmp",
	         (long)getpid());
}

static void teardown(void)
{
	unlink(trace);
	unlink(output);
}

TestSuite(schedules, .init = setup, .fini = teardown, .timeout = 60);

/* Runs the jobs on a cluster under a policy; the rows in input order, to be freed. */
static struct tl_row_job *run(const char *cluster, const char *policy, const char *jobs,
                              size_t wanted)
{
	char text[1024];
	FILE *file = fopen(trace, "w");
	struct tl_scenario *scenario = NULL;
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;
	struct tl_results_reader *reader = NULL;
	const struct tl_trial_options options = {.results_path = output};
	void *rows = NULL;
	size_t count = 0;

	cr_assert_not_null(file);
	fprintf(file, "id,submit_s,duration_s,gpus,estimate_s\n%s", jobs);
	fclose(file);
	snprintf(text, sizeof text,
	         "cluster: %s\nworkload: [{trace: %s, format: canonical}]\nphysics: ideal\n"
	         "policy: {%s}\noutput: {tables: [jobs]}\n",
	         cluster, trace, policy);
	cr_assert_eq(tl_scenario_parse("schedule", text, NULL, 0, &scenario, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(tl_trial_run(scenario, &options, pulse, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_open(output, &reader, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_read(reader, &tl_schema_jobs, &rows, &count, &error), TL_OK);
	cr_assert_eq(count, wanted);
	tl_results_reader_close(reader);
	tl_scenario_destroy(scenario);
	free(pulse);
	return rows;
}

static void expect(const char *cluster, const char *policy, const char *jobs,
                   const int64_t *starts_s, const int64_t *ends_s, size_t count)
{
	struct tl_row_job *rows = run(cluster, policy, jobs, count);

	for (size_t i = 0; i < count; i++) {
		cr_assert_eq(rows[i].first_start_ns, starts_s[i] * SECOND,
		             "%s: job %zu starts at %lld ns, wanted %lld s", policy, i,
		             (long long)rows[i].first_start_ns, (long long)starts_s[i]);
		cr_assert_eq(rows[i].end_ns, ends_s[i] * SECOND,
		             "%s: job %zu ends at %lld ns, wanted %lld s", policy, i,
		             (long long)rows[i].end_ns, (long long)ends_s[i]);
	}
	free(rows);
}

/* Two GPUs: a runs 10 s on one; b wants both; c fits beside a but is too long to end by 10;
 * d fits beside a and ends by 10. */
static const char *const four = "a,0,10,1,10\nb,1,5,2,5\nc,2,20,1,20\nd,3,4,1,4\n";

Test(schedules, none_waits_for_the_first)
{
	expect("1x2", "order: fifo, place: first-fit, backfill: none", four,
	       (int64_t[]){0, 10, 15, 15}, (int64_t[]){10, 15, 35, 19}, 4);
}

Test(schedules, skip_takes_whatever_fits)
{
	/* c takes the other GPU until 22, d follows a until 14, b waits for both. */
	expect("1x2", "order: fifo, place: first-fit, backfill: skip", four,
	       (int64_t[]){0, 22, 2, 10}, (int64_t[]){10, 27, 22, 14}, 4);
}

Test(schedules, easy_lets_pass_who_is_done_in_time)
{
	expect("1x2", "order: fifo, place: first-fit, backfill: easy", four,
	       (int64_t[]){0, 10, 15, 3}, (int64_t[]){10, 15, 35, 7}, 4);
}

Test(schedules, easy_lets_pass_who_stays_aside)
{
	/* Four GPUs. At 10 b's three are there and one is left over: c may keep it; d, as long
	 * but with no GPU left over, may not. */
	expect("1x4", "order: fifo, place: first-fit, backfill: easy",
	       "a,0,10,2,10\nb,1,5,3,5\nc,2,20,1,20\nd,3,20,1,20\n", (int64_t[]){0, 10, 2, 15},
	       (int64_t[]){10, 15, 22, 35}, 4);
}

Test(schedules, conservative_disturbs_no_one)
{
	/* Four GPUs. b is promised [10, 20) on four, c [20, 30) on three; d, on one from 2 for
	 * 8 s, disturbs neither; e would be in b's way. */
	expect("1x4", "order: fifo, place: first-fit, backfill: conservative",
	       "a,0,10,3,10\nb,1,10,4,10\nc,1,10,3,10\nd,2,8,1,8\ne,2,9,1,9\n",
	       (int64_t[]){0, 10, 20, 2, 20}, (int64_t[]){10, 20, 30, 10, 29}, 5);
}

Test(schedules, shapes_of_nodes_count)
{
	/* Two nodes of two GPUs with one free on each: two GPUs are free, but b needs two on one
	 * node. Its promise is at 8, when node 1 is empty; c may stay on node 0. */
	expect("2x2", "order: fifo, place: worst-fit, backfill: easy",
	       "a,0,20,1,20\na2,0,8,1,8\nb,1,5,2,5\nc,2,30,1,30\n", (int64_t[]){0, 0, 8, 2},
	       (int64_t[]){20, 8, 13, 32}, 4);
}

Test(schedules, shortest_first)
{
	expect("1x1", "order: sjf, place: first-fit, backfill: none",
	       "a,0,10,1,10\nb,1,9,1,9\nc,2,3,1,3\nd,3,5,1,5\n", (int64_t[]){0, 18, 10, 13},
	       (int64_t[]){10, 27, 13, 18}, 4);
}

Test(schedules, shortest_remaining_first)
{
	/* b interrupts a at 2 with 8 s to go; d, with 9 s, interrupts nobody. */
	expect(
	    "1x1",
	    "order: srtf, place: first-fit, backfill: none, preempt: {use: priority, min_run: 0s}",
	    "a,0,10,1,10\nb,2,3,1,3\nd,3,9,1,9\n", (int64_t[]){0, 2, 13}, (int64_t[]){13, 5, 22},
	    3);
}

Test(schedules, least_attained_service_first)
{
	/* One GPU, first level up to 4 GPU-seconds. a falls to the second level at 4 and makes
	 * way for b, which falls at 8: among the fallen, who started first goes on. */
	expect("1x1",
	       "order: {use: las, threshold: 4s}, place: first-fit, backfill: none, "
	       "preempt: {use: priority, min_run: 0s}",
	       "a,0,10,1,10\nb,1,6,1,6\n", (int64_t[]){0, 4}, (int64_t[]){14, 16}, 2);
}
