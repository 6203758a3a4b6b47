/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small random worlds, run through the real pipeline and through a policy that decides at
 * random; then everything the result file claims is worked out again from its raw rows.
 */
#include "sim/account/account.h"
#include "sim/base/arena.h"
#include "tests/property/world.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WORLDS = 60 };

TestSuite(trial, .init = world_setup, .fini = world_teardown, .timeout = 120);

/* What holds at any ratio is looked at at this one. */
static int64_t ratio_milli = 1000;
static double shared_s; /* GPU time asked for beyond what there was */

/* ---- what must hold ---- */

static int64_t end_of_run(void)
{
	int64_t end_ns = 0;

	for (size_t i = 0; i < world.place_count; i++)
		end_ns = world.places[i].end_ns > end_ns ? world.places[i].end_ns : end_ns;
	for (size_t i = 0; i < world.job_count; i++)
		end_ns = world.jobs[i].end_ns > end_ns ? world.jobs[i].end_ns : end_ns;
	return end_ns;
}

/* Σ placements of a job = what it held; of all = the ledger's purposes of jobs. */
static void check_held(void)
{
	tl_i128 held[WORLD_JOBS_MAX] = {0}, all = 0, booked = 0;
	static const char *const idle[] = {"idle-reserved", "idle-fragmented", "idle-free", "down"};

	for (size_t i = 0; i < world.place_count; i++) {
		tl_i128 mgpu_ns = (tl_i128)world.places[i].gpus_mgpu *
		                  (world.places[i].end_ns - world.places[i].start_ns);

		cr_assert_leq(world.places[i].start_ns, world.places[i].end_ns);
		held[world.places[i].job] += mgpu_ns;
		all += mgpu_ns;
	}
	for (size_t j = 0; j < world.job_count; j++)
		cr_assert(fabs((double)held[j] / 1e12 - world.jobs[j].held_gpu_s) <=
		              1e-9 * world.jobs[j].held_gpu_s,
		          "%s\njob %zu held %.9f, its placements %.9f", world.text, j,
		          world.jobs[j].held_gpu_s, (double)held[j] / 1e12);
	for (size_t i = 0; i < world.ledger_count; i++) {
		bool of_jobs = true;

		for (size_t k = 0; k < 4; k++)
			of_jobs &= strcmp(world.ledger[i].purpose, idle[k]) != 0;
		if (of_jobs)
			booked += ((tl_i128)world.ledger[i].mgpu_ns_hi << 64) +
			          world.ledger[i].mgpu_ns_lo;
	}
	cr_assert(all == booked || (all > booked && ratio_milli > 1000),
	          "%s\nplacements %.9f GPU s, ledger %.9f", world.text, (double)all / 1e12,
	          (double)booked / 1e12);
	shared_s += (double)(all - booked) / 1e12;
}

/* Σ ledger = capacity × time: a whole number of ns, the same for all. */
static void check_capacity(void)
{
	tl_i128 sum = 0, capacity = 0;

	for (size_t i = 0; i < world.ledger_count; i++)
		sum += ((tl_i128)world.ledger[i].mgpu_ns_hi << 64) + world.ledger[i].mgpu_ns_lo;
	for (size_t n = 0; n < world.node_count; n++)
		capacity += world.nodes[n].gpus * TL_MGPU_PER_GPU;
	cr_assert(capacity > 0);
	cr_assert(sum % capacity == 0, "%s", world.text);
	cr_assert(sum / capacity >= end_of_run(), "%s", world.text);
}

/* A purpose's GPU time over all rows, of the ledger or of the intervals. */
static double of_purpose(const char *purpose, bool intervals)
{
	double sum = 0.0;

	for (size_t i = 0; i < (intervals ? world.purpose_count : world.ledger_count); i++)
		if (strcmp(intervals ? world.purposes[i].purpose : world.ledger[i].purpose,
		           purpose) == 0)
			sum += intervals ? world.purposes[i].gpu_s : world.ledger[i].gpu_s;
	return sum;
}

/* The intervals' rows: each interval's are its capacity, all of a purpose the ledger's. */
static void check_purposes(void)
{
	double capacity_gpus = 0.0;
	int64_t begin_ns = 0;

	for (size_t n = 0; n < world.node_count; n++)
		capacity_gpus += world.nodes[n].gpus;
	for (size_t i = 0; i < world.purpose_count;) {
		int64_t end_ns = world.purposes[i].t_ns;
		double sum = 0.0, want = capacity_gpus * (double)(end_ns - begin_ns) / 1e9;

		for (; i < world.purpose_count && world.purposes[i].t_ns == end_ns; i++) {
			cr_assert(world.purposes[i].gpu_s > 0.0, "%s\n%s", world.text,
			          world.purposes[i].purpose);
			sum += world.purposes[i].gpu_s;
		}
		cr_assert(fabs(sum - want) <= 1e-9 * want, "%s\nup to %.9f s: %.9f of %.9f GPU s",
		          world.text, (double)end_ns / 1e9, sum, want);
		begin_ns = end_ns;
	}
	for (int p = 0; p < TL_PURPOSE_COUNT; p++) {
		double want = of_purpose(tl_purpose_names[p], false);

		if (p == TL_PURPOSE_REWORK)
			want = 0.0;
		if (p == TL_PURPOSE_PRODUCTIVE)
			want += of_purpose(tl_purpose_names[TL_PURPOSE_REWORK], false);
		cr_assert(fabs(of_purpose(tl_purpose_names[p], true) - want) <= 1e-9 * want,
		          "%s\n%s", world.text, tl_purpose_names[p]);
	}
}

static int64_t held_at(uint32_t node, int64_t t_ns)
{
	int64_t held_mgpu = 0;

	for (size_t i = 0; i < world.place_count; i++)
		if ((node == TL_ROW_NO_NODE || world.places[i].node == node) &&
		    world.places[i].start_ns <= t_ns && t_ns < world.places[i].end_ns)
			held_mgpu += world.places[i].gpus_mgpu;
	return held_mgpu;
}

/* A node's sum can only rise where something starts on it. */
static void check_room(void)
{
	for (size_t i = 0; i < world.place_count; i++) {
		int64_t held_mgpu = held_at(world.places[i].node, world.places[i].start_ns);
		int64_t room_mgpu = world.nodes[world.places[i].node].gpus *
		                    (ratio_milli > 1000 ? 2 : 1) * TL_MGPU_PER_GPU;

		cr_assert_leq(held_mgpu, room_mgpu, "%s\nnode %u holds %" PRId64 " at %" PRId64,
		              world.text, world.places[i].node, held_mgpu,
		              world.places[i].start_ns);
	}
	for (size_t f = 0; f < world.fault_count; f++) {
		const struct tl_row_fault *fault = &world.faults[f];
		int64_t seen_ns = fault->t_ns + world.unseen_ns;
		int64_t back_ns =
		    fault->repaired_ns < 0 ? TL_NEVER : fault->repaired_ns + world.unseen_ns;

		for (size_t i = 0; i < world.place_count && fault->node != TL_ROW_NO_NODE; i++)
			cr_assert(world.places[i].node != fault->node ||
			              world.places[i].end_ns <= seen_ns ||
			              world.places[i].start_ns >= back_ns,
			          "%s\njob %" PRIu64 " sits on node %u while it is down",
			          world.text, world.places[i].job, world.places[i].node);
	}
}

/* The rows of /transitions as a walk of each job, and its times in every state. */
static void check_times(void)
{
	int64_t spent[WORLD_JOBS_MAX][TL_ROW_STATE_COUNT] = {0}, since[WORLD_JOBS_MAX] = {0};
	uint8_t state[WORLD_JOBS_MAX] = {0};

	for (size_t j = 0; j < world.job_count; j++)
		since[j] = world.jobs[j].submit_ns;
	for (size_t i = 0; i < world.move_count; i++) {
		size_t j = world.moves[i].job;

		cr_assert_lt(j, world.job_count);
		cr_assert(i == 0 || world.moves[i - 1].t_ns <= world.moves[i].t_ns);
		cr_assert_eq(world.moves[i].from, state[j], "%s\njob %zu", world.text, j);
		cr_assert_geq(world.moves[i].t_ns, since[j]);
		spent[j][state[j]] += world.moves[i].t_ns - since[j];
		since[j] = world.moves[i].t_ns;
		state[j] = world.moves[i].to;
	}
	for (size_t j = 0; j < world.job_count; j++) {
		const struct tl_row_job *job = &world.jobs[j];

		cr_assert_str_eq(job->state, tl_schema_state_names[state[j]], "%s\njob %zu",
		                 world.text, j);
		if (job->end_ns < 0)
			continue;
		cr_assert_eq(since[j], job->end_ns, "%s\njob %zu", world.text, j);
		cr_assert_eq(spent[j][2], job->run_ns, "%s\njob %zu", world.text, j);
		cr_assert_eq(spent[j][1], job->starting_ns);
		cr_assert_eq(spent[j][3], job->suspending_ns);
		cr_assert_eq(spent[j][4], job->suspended_ns);
		cr_assert_eq(spent[j][5], job->resuming_ns);
		if (job->first_start_ns >= 0)
			cr_assert_eq(job->wait_ns + job->requeue_ns + job->starting_ns +
			                 job->run_ns + job->suspending_ns + job->resuming_ns,
			             job->end_ns - job->submit_ns, "%s\njob %zu", world.text, j);
	}
}

/* What a job that has run to its end has done is what was asked, to the nanosecond. */
static void check_work(void)
{
	cr_assert_eq(world.job_count, world.asked_count, "%s", world.text);
	for (size_t j = 0; j < world.job_count; j++) {
		const struct tl_row_job *job = &world.jobs[j];
		double whole =
		    (double)((tl_i128)world.asked[j].duration_ns * job->gpus_milli) / 1e12;
		bool done = strcmp(job->reason, "complete") == 0 ||
		            strcmp(job->reason, "user-failure") == 0 ||
		            strcmp(job->reason, "cancelled") == 0;

		if (done)
			cr_assert(fabs(job->productive_gpu_s - whole) <= 1e-12 * whole,
			          "%s\njob %zu: productive %.9f of %.9f", world.text, j,
			          job->productive_gpu_s, whole);
		else
			cr_assert(job->productive_gpu_s <= whole + 1e-9, "%s\njob %zu", world.text,
			          j);
		cr_assert(job->lost_work_ns >= 0 && job->productive_gpu_s >= 0);
		cr_assert(job->productive_gpu_s <= job->held_gpu_s + 1e-9, "%s\njob %zu",
		          world.text, j);
		if (done && strcmp(job->state, "succeeded") == 0)
			cr_assert_geq(job->run_ns, world.asked[j].duration_ns);
	}
}

/* Jobs in each state at an instant, once everything at it has happened. */
static void count_states(int64_t t_ns, uint32_t counts[TL_ROW_STATE_COUNT])
{
	memset(counts, 0, TL_ROW_STATE_COUNT * sizeof counts[0]);
	for (size_t j = 0; j < world.job_count; j++)
		counts[0] += world.jobs[j].submit_ns <= t_ns;
	for (size_t i = 0; i < world.move_count && world.moves[i].t_ns <= t_ns; i++) {
		counts[world.moves[i].from]--;
		counts[world.moves[i].to]++;
	}
}

static void check_timeline(void)
{
	for (size_t s = 0; s < world.sample_count; s++) {
		const struct tl_row_timeline *row = &world.samples[s];
		uint32_t counts[TL_ROW_STATE_COUNT];

		count_states(row->t_ns, counts);
		cr_assert_eq(row->running_jobs, counts[2], "%s\nat %" PRId64, world.text,
		             row->t_ns);
		cr_assert_eq(row->suspending_jobs, counts[3]);
		cr_assert_eq(row->suspended_jobs, counts[4]);
		cr_assert_eq(row->starting_jobs, counts[1] + counts[5]);
		cr_assert_eq(row->pending_jobs, counts[0], "%s\nat %" PRId64 ": %u, not %u",
		             world.text, row->t_ns, row->pending_jobs, counts[0]);
		cr_assert_eq(row->nominal_mgpu, held_at(TL_ROW_NO_NODE, row->t_ns),
		             "%s\nat %" PRId64, world.text, row->t_ns);
		cr_assert_leq(row->nominal_mgpu, row->capacity_mgpu / 1000 * ratio_milli);
		cr_assert(row->allocated_mgpu == row->nominal_mgpu ||
		          (row->allocated_mgpu < row->nominal_mgpu && ratio_milli > 1000));
		cr_assert_leq(row->allocated_mgpu + row->down_mgpu, row->capacity_mgpu);
	}
}

/* Little: the integral over time of how many wait, and run, is the sum of their times. */
static void check_little(void)
{
	int64_t end_ns = 0, at_ns = 0;
	tl_i128 waiting = 0, running = 0, wait_sum = 0, run_sum = 0;

	for (size_t i = 0; i < world.move_count; i++)
		end_ns = world.moves[i].t_ns; /* ascending */
	/* Steps of the sum: at each arrival and each transition. */
	for (size_t i = 0; i < world.move_count + world.job_count; i++) {
		int64_t next_ns = end_ns;
		uint32_t counts[TL_ROW_STATE_COUNT];

		count_states(at_ns, counts);
		for (size_t m = 0; m < world.move_count; m++)
			if (world.moves[m].t_ns > at_ns && world.moves[m].t_ns < next_ns)
				next_ns = world.moves[m].t_ns;
		for (size_t j = 0; j < world.job_count; j++)
			if (world.jobs[j].submit_ns > at_ns && world.jobs[j].submit_ns < next_ns)
				next_ns = world.jobs[j].submit_ns;
		waiting += (tl_i128)(counts[0] + counts[4]) * (next_ns - at_ns);
		running += (tl_i128)counts[2] * (next_ns - at_ns);
		at_ns = next_ns;
	}
	for (size_t j = 0; j < world.job_count; j++) {
		if (world.jobs[j].end_ns < 0)
			return; /* cut off by the horizon: their rows say nothing of this */
		run_sum += world.jobs[j].run_ns;
		wait_sum += (world.jobs[j].first_start_ns < 0
		                 ? world.jobs[j].end_ns - world.jobs[j].submit_ns
		                 : world.jobs[j].wait_ns) +
		            world.jobs[j].requeue_ns;
	}
	cr_assert(waiting == wait_sum, "%s\n∫ waiting %.9f s, Σ waits %.9f s", world.text,
	          (double)waiting / 1e9, (double)wait_sum / 1e9);
	cr_assert(running == run_sum, "%s\n∫ running %.9f s, Σ runs %.9f s", world.text,
	          (double)running / 1e9, (double)run_sum / 1e9);
}

static void check_world(uint64_t number, uint64_t kind)
{
	world_make(number);
	if (ratio_milli > 1000) {
		char ratio[16];

		snprintf(ratio, sizeof ratio, "%g", (double)ratio_milli / 1000.0);
		world_oversubscribe(number, ratio);
	}
	const char *folder = world_folder("a");

	world_policy(kind);
	world_run(folder);
	world_read(folder);
	check_work();
	check_times();
	check_held();
	check_capacity();
	check_purposes();
	check_room();
	check_timeline();
	check_little();
	world_forget();
}

Test(trial, the_pipeline_s_books_are_straight)
{
	for (uint64_t number = 0; number < WORLDS; number++)
		check_world(number, 1);
}

Test(trial, random_decisions_leave_the_books_straight)
{
	for (uint64_t number = 0; number < WORLDS; number++)
		check_world(1000 + number, 0);
}

Test(trial, oversubscribed_books_are_straight)
{
	for (uint64_t number = 0; number < WORLDS; number++) {
		ratio_milli = 1100 + 100 * (int64_t)(number % 10);
		check_world(number, 1);
	}
	cr_assert_gt(shared_s, 10000);
}

Test(trial, random_decisions_leave_oversubscribed_books_straight)
{
	for (uint64_t number = 0; number < WORLDS; number++) {
		ratio_milli = 1100 + 100 * (int64_t)(number % 10);
		check_world(1000 + number, 0);
	}
	cr_assert_gt(shared_s, 1000, "%g GPU s", shared_s);
}

/* ---- the same again ---- */

static char *contents(const char *folder, size_t *size)
{
	char path[WORLD_PATH_ROOM + 32];
	struct stat info;

	snprintf(path, sizeof path, "%s/out.h5", folder);
	FILE *file = fopen(path, "rb");

	cr_assert_not_null(file);
	cr_assert_eq(fstat(fileno(file), &info), 0);
	*size = (size_t)info.st_size;
	char *bytes = tl_alloc(*size);

	cr_assert_eq(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

Test(trial, the_same_scenario_gives_the_same_bytes_in_any_folder)
{
	for (uint64_t number = 0; number < 24; number++) {
		size_t sizes[2];
		char *bytes[2];

		for (int which = 0; which < 2; which++) {
			world_make(number);
			if (number >= 12)
				world_oversubscribe(number, "1.5");
			const char *folder = world_folder(which == 0 ? "a" : "b");

			world_policy(number % 3);
			world_run(folder);
			bytes[which] = contents(folder, &sizes[which]);
		}
		cr_assert_eq(sizes[0], sizes[1], "%s", world.text);
		cr_assert_eq(memcmp(bytes[0], bytes[1], sizes[0]), 0, "%s", world.text);
		free(bytes[0]);
		free(bytes[1]);
	}
}

/* Arrivals, estimates and failures of nodes do not depend on who decides. */
Test(trial, every_policy_meets_the_same_world)
{
	for (uint64_t number = 0; number < 20; number++) {
		struct tl_row_job *first = NULL;
		struct tl_row_fault *struck = NULL;
		size_t struck_count = 0;

		for (uint64_t kind = 0; kind < 2; kind++) {
			world_make(number);
			const char *folder = world_folder("a");

			world_policy(kind);
			world_run(folder);
			world_read(folder);
			for (size_t j = 0; first && j < world.job_count; j++)
				cr_assert(world.jobs[j].submit_ns == first[j].submit_ns &&
				              world.jobs[j].estimate_ns == first[j].estimate_ns &&
				              world.jobs[j].gpus_milli == first[j].gpus_milli &&
				              strcmp(world.jobs[j].id, first[j].id) == 0,
				          "%s\njob %zu", world.text, j);
			/* A fault's row is written when its work has recovered: look each up. */
			for (size_t f = 0; first && f < world.fault_count; f++) {
				bool found = struck_count == 0 ||
				             world.faults[f].t_ns > struck[struck_count - 1].t_ns;

				for (size_t k = 0; k < struck_count && !found; k++)
					found = world.faults[f].t_ns == struck[k].t_ns &&
					        world.faults[f].node == struck[k].node;
				cr_assert(found, "%s\nfault at %" PRId64 " on node %u", world.text,
				          world.faults[f].t_ns, world.faults[f].node);
			}
			if (kind == 1)
				break;
			first = world.jobs;
			struck = world.faults;
			struck_count = world.fault_count;
			world.jobs = NULL;
			world.faults = NULL;
			world_forget();
		}
		world_forget();
		free(first);
		free(struck);
	}
}
