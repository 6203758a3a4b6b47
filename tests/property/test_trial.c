/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small random worlds, run through the real pipeline and through a policy that decides at
 * random; then everything the result file claims is worked out again from its raw rows.
 */
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/base/units.h"
#include "sim/config/scenario.h"
#include "sim/plane/pulse.h"
#include "sim/plane/trial.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { JOBS_MAX = 64, NODES_MAX = 8, TEXT_ROOM = 4096, PATH_ROOM = 512, WORLDS = 60 };

/* What was asked for, as the trace file says it. */
static struct {
	int64_t duration_ns, gpus_mgpu;
} asked[JOBS_MAX];
static size_t asked_count;
static char home[PATH_ROOM], text[TEXT_ROOM];
static struct tl_rng rng;

/* The result, read back. */
static struct tl_row_job *jobs;
static struct tl_row_transition *moves;
static struct tl_row_placement *places;
static struct tl_row_timeline *samples;
static struct tl_row_ledger *ledger;
static struct tl_row_fault *faults;
static struct tl_row_node *nodes;
static size_t job_count, move_count, place_count, sample_count, ledger_count, fault_count,
    node_count;

static uint64_t below(uint64_t n)
{
	return tl_rng_below(&rng, n);
}

static const char *pick(const char *const *words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return words[below(count)];
}
#define PICK(...) pick((const char *const[]){__VA_ARGS__, NULL})

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, sizeof text - used, format, arguments);
	va_end(arguments);
	cr_assert_lt(strlen(text), sizeof text - 1);
}

/* ---- a world ---- */

static void write_job(FILE *file, size_t i, int64_t submit_ns)
{
	static const int64_t shares[] = {100, 250, 333, 500, 700};
	int64_t mgpu = 1000 * (1 + (int64_t)below(4));
	int64_t duration_ns = 1 + (int64_t)below((uint64_t)(3000 * TL_NS_PER_S));
	const char *model = PICK("", "", "", "A100-SXM4-80GB", "T4", "T4|A100-SXM4-80GB");
	uint32_t workers = 0;

	switch (below(8)) {
	case 0:
	case 1:
	case 2:
		mgpu = shares[below(5)];
		break;
	case 3:
		mgpu = 1000 * (5 + (int64_t)below(6));
		break; /* a gang */
	case 4:
		workers = 2;
		mgpu = below(2) ? 4000 : 6000;
		break;
	case 5:
		mgpu = 0;
		break;
	default:
		break;
	}
	asked[i].duration_ns = duration_ns;
	asked[i].gpus_mgpu = mgpu;
	fprintf(file, "j%zu,%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64 ",%g,", i,
	        submit_ns / TL_NS_PER_S, submit_ns % TL_NS_PER_S, duration_ns / TL_NS_PER_S,
	        duration_ns % TL_NS_PER_S, (double)mgpu / 1000.0);
	if (workers > 0)
		fprintf(file, "%u", workers);
	fprintf(file, ",%" PRIu64 ",%s,t%" PRIu64 ",%s,%s,%" PRIu64 ",%s\n", 1000 + below(4000),
	        below(2) ? "900" : "", below(3), PICK("high", "normal", "low"),
	        mgpu == 0 ? "" : model, below(3),
	        PICK("completed", "completed", "completed", "failed", "cancelled"));
}

static void write_trace(const char *folder)
{
	char path[PATH_ROOM + 32];
	int64_t submit_ns = 0;

	snprintf(path, sizeof path, "%s/trace.csv", folder);
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file);
	fputs(
	    "id,submit_s,duration_s,gpus,workers,cpu_milli,estimate_s,tenant,queue,models,priority,"
	    "outcome\n",
	    file);
	asked_count = 20 + below(JOBS_MAX - 20);
	for (size_t i = 0; i < asked_count; i++) {
		write_job(file, i, submit_ns);
		submit_ns += below(4) == 0 ? 0 : (int64_t)below((uint64_t)(400 * TL_NS_PER_S));
	}
	fclose(file);
}

static void make_policy(uint64_t kind)
{
	if (kind == 0) {
		const char *build = getenv("TIDELAB_BUILD");

		add("policy: {scheduler: \"%s/tests/modules/random-walk.so\", calm: %" PRIu64
		    ", admit: \"\", order: \"\", place: \"\", preempt: \"\"}\n",
		    build ? build : "build/release", 20 + below(150));
		return;
	}
	add("policy: {scheduler: pipeline, backfill: %s, order: %s, place: %s, preempt: %s}\n",
	    PICK("none", "skip", "easy", "conservative"),
	    PICK("fifo", "sjf", "las", "priority-queues"),
	    PICK("topology", "first-fit", "best-fit", "worst-fit", "fgd", "random"),
	    PICK("none", "priority"));
}

/* All but the policy: the same draws whatever it is. */
static void make_world(uint64_t number)
{
	tl_rng_init(&rng, 41, TL_STREAM_TEST, number);
	text[0] = '\0';
	add("name: w%" PRIu64 "\nseed: %" PRIu64 "\n", number, number);
	add("cluster: {groups: [{count: %" PRIu64
	    ", gpus: 4, memory: 64GiB, nodes_per_pod: %" PRIu64 "}, {count: %" PRIu64
	    ", gpus: 2, model: T4, cpus: 16}%s]}\n",
	    1 + below(3), 1 + below(2), 1 + below(2), below(2) ? ", {gpus: 0, cpus: 32}" : "");
	add("workload: [{trace: trace.csv, format: canonical, infeasible: %s}]\n",
	    PICK("reject", "clamp"));
	add("physics: %s\n", PICK("full", "full", "ideal"));
	add("checkpoint: {interval: %s, mode: %s, state: %s}\n",
	    PICK("20s", "100s", "none", "optimal"), PICK("blocking", "async"),
	    PICK("1GB", "8GB", "60GB"));
	add("suspend: {grace: %s, storage_bandwidth: 1GB/s, keep_memory: %s}\n", PICK("2s", "30s"),
	    PICK("true", "false"));
	add("estimates: %s\n", PICK("trace", "exact", "noisy(0.5)"));
	add("jobs: {kill_at_estimate: %s, max_restarts: %" PRIu64 "}\n",
	    PICK("false", "false", "true"), below(6));
	if (below(2))
		add("failures: {enabled: true, per_1000_node_days: 8000, repair_long: 3h}\n");
	if (below(2))
		add("faults: [{at: 500s, do: node-down, nodes: 1, for: 10min}, {at: 20min, do: kill-jobs, "
		    "jobs: 2}, {at: 25min, do: node-down, nodes: 2, for: 1h}]\n");
	add("horizon: %s\noutput: {tables: all, timeline: 97s}\n", PICK("5h", "40min", "60d"));
}

/* ---- running, reading ---- */

static void read_table(struct tl_results_reader *reader, const struct tl_table_schema *schema,
                       void **rows, size_t *count)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_results_read(reader, schema, rows, count, &error), TL_OK, "%s",
	             error.message);
}

#define READ(schema, rows, count)                                                                  \
	do {                                                                                       \
		void *read_ = NULL;                                                                \
		read_table(reader, &(schema), &read_, &(count));                                   \
		(rows) = read_;                                                                    \
	} while (0)

static void read_results(const char *path)
{
	struct tl_results_reader *reader = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_results_open(path, &reader, &error), TL_OK, "%s", error.message);
	READ(tl_schema_jobs, jobs, job_count);
	READ(tl_schema_transitions, moves, move_count);
	READ(tl_schema_placements, places, place_count);
	READ(tl_schema_timeline, samples, sample_count);
	READ(tl_schema_ledger, ledger, ledger_count);
	READ(tl_schema_faults, faults, fault_count);
	READ(tl_schema_nodes, nodes, node_count);
	tl_results_reader_close(reader);
}

static void forget_results(void)
{
	free(jobs);
	free(moves);
	free(places);
	free(samples);
	free(ledger);
	free(faults);
	free(nodes);
}

/* Runs `text` in a folder of home, whose trace is there; the result is folder/out.h5. */
static void run_in(const char *folder)
{
	struct tl_scenario *scenario = NULL;
	struct tl_pulse *pulse = tl_calloc(1, sizeof *pulse);
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_trial_options options = {.results_path = "out.h5"};
	char here[PATH_ROOM];

	cr_assert_not_null(getcwd(here, sizeof here));
	cr_assert_eq(chdir(folder), 0);
	cr_assert_eq(tl_scenario_parse("world", text, NULL, 0, &scenario, &error), TL_OK, "%s\n%s",
	             text, error.message);
	cr_assert_eq(tl_trial_run(scenario, &options, pulse, &error), TL_OK, "%s\n%s", text,
	             error.message);
	tl_scenario_destroy(scenario);
	free(pulse);
	cr_assert_eq(chdir(here), 0);
}

/* A world's folder, with its trace. */
static const char *folder_of(const char *name)
{
	static char folder[PATH_ROOM + 16];

	snprintf(folder, sizeof folder, "%s/%s", home, name);
	(void)mkdir(folder, 0700);
	write_trace(folder);
	return folder;
}

static void setup(void)
{
	const char *temporary = getenv("TMPDIR");

	snprintf(home, sizeof home, "%s/trial.XXXXXX", temporary ? temporary : "/tmp");
	cr_assert_not_null(mkdtemp(home));
}

static void teardown(void)
{
	static const char *const names[] = {"a/out.h5", "a/trace.csv", "b/out.h5", "b/trace.csv"};
	char path[PATH_ROOM + 16];

	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof path, "%s/%s", home, names[i]);
		unlink(path);
	}
	for (const char *name = "ab"; *name; name++) {
		snprintf(path, sizeof path, "%s/%c", home, *name);
		rmdir(path);
	}
	rmdir(home);
}

TestSuite(trial, .init = setup, .fini = teardown, .timeout = 120);

/* ---- what must hold ---- */

static int64_t end_of_run(void)
{
	int64_t end_ns = 0;

	for (size_t i = 0; i < place_count; i++)
		end_ns = places[i].end_ns > end_ns ? places[i].end_ns : end_ns;
	for (size_t i = 0; i < job_count; i++)
		end_ns = jobs[i].end_ns > end_ns ? jobs[i].end_ns : end_ns;
	return end_ns;
}

/* Σ placements of a job = what it held; of all = the ledger's purposes of jobs. */
static void check_held(void)
{
	tl_i128 held[JOBS_MAX] = {0}, all = 0, booked = 0;
	static const char *const idle[] = {"idle-reserved", "idle-fragmented", "idle-free", "down"};

	for (size_t i = 0; i < place_count; i++) {
		tl_i128 mgpu_ns =
		    (tl_i128)places[i].gpus_mgpu * (places[i].end_ns - places[i].start_ns);

		cr_assert_leq(places[i].start_ns, places[i].end_ns);
		held[places[i].job] += mgpu_ns;
		all += mgpu_ns;
	}
	for (size_t j = 0; j < job_count; j++)
		cr_assert(fabs((double)held[j] / 1e12 - jobs[j].held_gpu_s) <=
		              1e-9 * jobs[j].held_gpu_s,
		          "%s\njob %zu held %.9f, its placements %.9f", text, j, jobs[j].held_gpu_s,
		          (double)held[j] / 1e12);
	for (size_t i = 0; i < ledger_count; i++) {
		bool of_jobs = true;

		for (size_t k = 0; k < 4; k++)
			of_jobs &= strcmp(ledger[i].purpose, idle[k]) != 0;
		if (of_jobs)
			booked += ((tl_i128)ledger[i].mgpu_ns_hi << 64) + ledger[i].mgpu_ns_lo;
	}
	cr_assert(all == booked, "%s\nplacements %.9f GPU s, ledger %.9f", text, (double)all / 1e12,
	          (double)booked / 1e12);
}

/* Σ ledger = capacity × time: a whole number of ns, the same for all. */
static void check_capacity(void)
{
	tl_i128 sum = 0, capacity = 0;

	for (size_t i = 0; i < ledger_count; i++)
		sum += ((tl_i128)ledger[i].mgpu_ns_hi << 64) + ledger[i].mgpu_ns_lo;
	for (size_t n = 0; n < node_count; n++)
		capacity += nodes[n].gpus * TL_MGPU_PER_GPU;
	cr_assert(sum % capacity == 0, "%s", text);
	cr_assert(sum / capacity >= end_of_run(), "%s", text);
}

static int64_t held_at(uint32_t node, int64_t t_ns)
{
	int64_t held_mgpu = 0;

	for (size_t i = 0; i < place_count; i++)
		if ((node == TL_ROW_NO_NODE || places[i].node == node) &&
		    places[i].start_ns <= t_ns && t_ns < places[i].end_ns)
			held_mgpu += places[i].gpus_mgpu;
	return held_mgpu;
}

/* A node's sum can only rise where something starts on it. */
static void check_room(void)
{
	for (size_t i = 0; i < place_count; i++) {
		int64_t held_mgpu = held_at(places[i].node, places[i].start_ns);
		int64_t room_mgpu = nodes[places[i].node].gpus * TL_MGPU_PER_GPU;

		cr_assert_leq(held_mgpu, room_mgpu, "%s\nnode %u holds %" PRId64 " at %" PRId64,
		              text, places[i].node, held_mgpu, places[i].start_ns);
	}
	for (size_t f = 0; f < fault_count; f++)
		for (size_t i = 0; i < place_count && faults[f].node != TL_ROW_NO_NODE; i++)
			cr_assert(places[i].node != faults[f].node ||
			              places[i].end_ns <= faults[f].t_ns ||
			              places[i].start_ns >= faults[f].repaired_ns,
			          "%s\njob %" PRIu64 " sits on node %u while it is down", text,
			          places[i].job, places[i].node);
}

/* The rows of /transitions as a walk of each job, and its times in every state. */
static void check_times(void)
{
	int64_t spent[JOBS_MAX][TL_ROW_STATE_COUNT] = {0}, since[JOBS_MAX];
	uint8_t state[JOBS_MAX] = {0};

	for (size_t j = 0; j < job_count; j++)
		since[j] = jobs[j].submit_ns;
	for (size_t i = 0; i < move_count; i++) {
		size_t j = moves[i].job;

		cr_assert(i == 0 || moves[i - 1].t_ns <= moves[i].t_ns);
		cr_assert_eq(moves[i].from, state[j], "%s\njob %zu", text, j);
		cr_assert_geq(moves[i].t_ns, since[j]);
		spent[j][state[j]] += moves[i].t_ns - since[j];
		since[j] = moves[i].t_ns;
		state[j] = moves[i].to;
	}
	for (size_t j = 0; j < job_count; j++) {
		const struct tl_row_job *job = &jobs[j];

		cr_assert_str_eq(job->state, tl_schema_state_names[state[j]], "%s\njob %zu", text,
		                 j);
		if (job->end_ns < 0)
			continue;
		cr_assert_eq(since[j], job->end_ns, "%s\njob %zu", text, j);
		cr_assert_eq(spent[j][2], job->run_ns, "%s\njob %zu", text, j);
		cr_assert_eq(spent[j][1], job->starting_ns);
		cr_assert_eq(spent[j][3], job->suspending_ns);
		cr_assert_eq(spent[j][4], job->suspended_ns);
		cr_assert_eq(spent[j][5], job->resuming_ns);
		if (job->first_start_ns >= 0)
			cr_assert_eq(job->wait_ns + job->requeue_ns + job->starting_ns +
			                 job->run_ns + job->suspending_ns + job->resuming_ns,
			             job->end_ns - job->submit_ns, "%s\njob %zu", text, j);
	}
}

/* What a job that has run to its end has done is what was asked, to the nanosecond. */
static void check_work(void)
{
	cr_assert_eq(job_count, asked_count, "%s", text);
	for (size_t j = 0; j < job_count; j++) {
		const struct tl_row_job *job = &jobs[j];
		double whole = (double)((tl_i128)asked[j].duration_ns * job->gpus_milli) / 1e12;
		bool done = strcmp(job->reason, "complete") == 0 ||
		            strcmp(job->reason, "user-failure") == 0 ||
		            strcmp(job->reason, "cancelled") == 0;

		if (done)
			cr_assert(fabs(job->productive_gpu_s - whole) <= 1e-12 * whole,
			          "%s\njob %zu: productive %.9f of %.9f", text, j,
			          job->productive_gpu_s, whole);
		else
			cr_assert(job->productive_gpu_s <= whole + 1e-9, "%s\njob %zu", text, j);
		cr_assert(job->lost_work_ns >= 0 && job->productive_gpu_s >= 0);
		cr_assert(job->productive_gpu_s <= job->held_gpu_s + 1e-9, "%s\njob %zu", text, j);
		if (done && strcmp(job->state, "succeeded") == 0)
			cr_assert_geq(job->run_ns, asked[j].duration_ns);
	}
}

/* Jobs in each state at an instant, once everything at it has happened. */
static void count_states(int64_t t_ns, uint32_t counts[TL_ROW_STATE_COUNT])
{
	memset(counts, 0, TL_ROW_STATE_COUNT * sizeof counts[0]);
	for (size_t j = 0; j < job_count; j++)
		counts[0] += jobs[j].submit_ns <= t_ns;
	for (size_t i = 0; i < move_count && moves[i].t_ns <= t_ns; i++) {
		counts[moves[i].from]--;
		counts[moves[i].to]++;
	}
}

static void check_timeline(void)
{
	for (size_t s = 0; s < sample_count; s++) {
		const struct tl_row_timeline *row = &samples[s];
		uint32_t counts[TL_ROW_STATE_COUNT];

		count_states(row->t_ns, counts);
		cr_assert_eq(row->running_jobs, counts[2], "%s\nat %" PRId64, text, row->t_ns);
		cr_assert_eq(row->suspending_jobs, counts[3]);
		cr_assert_eq(row->suspended_jobs, counts[4]);
		cr_assert_eq(row->starting_jobs, counts[1] + counts[5]);
		cr_assert_eq(row->pending_jobs, counts[0], "%s\nat %" PRId64 ": %u, not %u", text,
		             row->t_ns, row->pending_jobs, counts[0]);
		cr_assert_eq(row->allocated_mgpu, held_at(TL_ROW_NO_NODE, row->t_ns),
		             "%s\nat %" PRId64, text, row->t_ns);
		cr_assert_leq(row->allocated_mgpu + row->down_mgpu, row->capacity_mgpu);
	}
}

/* Little: the integral over time of how many wait, and run, is the sum of their times. */
static void check_little(void)
{
	int64_t end_ns = 0, at_ns = 0;
	tl_i128 waiting = 0, running = 0, wait_sum = 0, run_sum = 0;

	for (size_t i = 0; i < move_count; i++)
		end_ns = moves[i].t_ns; /* ascending */
	/* Steps of the sum: at each arrival and each transition. */
	for (size_t i = 0; i < move_count + job_count; i++) {
		int64_t next_ns = end_ns;
		uint32_t counts[TL_ROW_STATE_COUNT];

		count_states(at_ns, counts);
		for (size_t m = 0; m < move_count; m++)
			if (moves[m].t_ns > at_ns && moves[m].t_ns < next_ns)
				next_ns = moves[m].t_ns;
		for (size_t j = 0; j < job_count; j++)
			if (jobs[j].submit_ns > at_ns && jobs[j].submit_ns < next_ns)
				next_ns = jobs[j].submit_ns;
		waiting += (tl_i128)(counts[0] + counts[4]) * (next_ns - at_ns);
		running += (tl_i128)counts[2] * (next_ns - at_ns);
		at_ns = next_ns;
	}
	for (size_t j = 0; j < job_count; j++) {
		if (jobs[j].end_ns < 0)
			return; /* cut off by the horizon: their rows say nothing of this */
		run_sum += jobs[j].run_ns;
		wait_sum += (jobs[j].first_start_ns < 0 ? jobs[j].end_ns - jobs[j].submit_ns
		                                        : jobs[j].wait_ns) +
		            jobs[j].requeue_ns;
	}
	cr_assert(waiting == wait_sum, "%s\n∫ waiting %.9f s, Σ waits %.9f s", text,
	          (double)waiting / 1e9, (double)wait_sum / 1e9);
	cr_assert(running == run_sum, "%s\n∫ running %.9f s, Σ runs %.9f s", text,
	          (double)running / 1e9, (double)run_sum / 1e9);
}

static void check_world(uint64_t number, uint64_t kind)
{
	char path[PATH_ROOM + 32];

	make_world(number);
	const char *folder = folder_of("a");

	make_policy(kind);
	run_in(folder);
	snprintf(path, sizeof path, "%s/out.h5", folder);
	read_results(path);
	check_work();
	check_times();
	check_held();
	check_capacity();
	check_room();
	check_timeline();
	check_little();
	forget_results();
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

/* ---- the same again ---- */

static char *contents(const char *folder, size_t *size)
{
	char path[PATH_ROOM + 32];
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
	for (uint64_t number = 0; number < 12; number++) {
		size_t sizes[2];
		char *bytes[2];

		for (int which = 0; which < 2; which++) {
			make_world(number);
			const char *folder = folder_of(which == 0 ? "a" : "b");

			make_policy(number % 3);
			run_in(folder);
			bytes[which] = contents(folder, &sizes[which]);
		}
		cr_assert_eq(sizes[0], sizes[1], "%s", text);
		cr_assert_eq(memcmp(bytes[0], bytes[1], sizes[0]), 0, "%s", text);
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
		char path[PATH_ROOM + 32];

		for (uint64_t kind = 0; kind < 2; kind++) {
			make_world(number);
			const char *folder = folder_of("a");

			make_policy(kind);
			run_in(folder);
			snprintf(path, sizeof path, "%s/out.h5", folder);
			read_results(path);
			for (size_t j = 0; first && j < job_count; j++)
				cr_assert(jobs[j].submit_ns == first[j].submit_ns &&
				              jobs[j].estimate_ns == first[j].estimate_ns &&
				              jobs[j].gpus_milli == first[j].gpus_milli &&
				              strcmp(jobs[j].id, first[j].id) == 0,
				          "%s\njob %zu", text, j);
			/* A fault's row is written when its work has recovered: look each up. */
			for (size_t f = 0; first && f < fault_count; f++) {
				bool found = struck_count == 0 ||
				             faults[f].t_ns > struck[struck_count - 1].t_ns;

				for (size_t k = 0; k < struck_count && !found; k++)
					found = faults[f].t_ns == struck[k].t_ns &&
					        faults[f].node == struck[k].node;
				cr_assert(found, "%s\nfault at %" PRId64 " on node %u", text,
				          faults[f].t_ns, faults[f].node);
			}
			if (kind == 1)
				break;
			first = jobs;
			struck = faults;
			struck_count = fault_count;
			jobs = NULL;
			faults = NULL;
			forget_results();
		}
		forget_results();
		free(first);
		free(struck);
	}
}
