/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pipeline against a scheduler written down here from the textbook, start by start, on
 * nodes of one GPU, where placement is counting: FIFO and SJF under every backfill rule,
 * with exact, wrong and missing estimates.
 */
#include "sim/base/rng.h"
#include "tests/property/minihost.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { GPUS = 8, JOBS = 120, ROUNDS = 60, DEPTH = 5, BUSY_MAX = JOBS * 2 };
enum rule { RULE_NONE, RULE_SKIP, RULE_EASY, RULE_CONSERVATIVE, RULE_COUNT };

static const char *const rule_names[RULE_COUNT] = {"none", "skip", "easy", "conservative"};

struct book_job {
	int64_t ready_ns, end_ns, believed_ns; /* once started */
	bool waits, runs;
	uint32_t width;
};

/* One GPU's promised time. */
struct busy {
	int64_t from_ns, to_ns;
};

struct book {
	const struct mini_job *jobs;
	struct book_job state[JOBS];
	uint32_t on[GPUS]; /* job + 1 */
	int64_t starts_ns[JOBS];
	int64_t restart_ns;
	enum rule rule;
	bool shortest;
	struct busy busy[GPUS][BUSY_MAX];
	uint32_t busy_count[GPUS];
};

static uint32_t free_gpus(const struct book *book)
{
	uint32_t count = 0;

	for (uint32_t g = 0; g < GPUS; g++)
		count += book->on[g] == 0;
	return count;
}

static int64_t believed_end(const struct book *book, uint32_t job, int64_t now_ns)
{
	int64_t end_ns = book->state[job].believed_ns;

	return end_ns > now_ns ? end_ns : now_ns + 1;
}

/* How long a job is believed to stay if it starts. */
static int64_t length(const struct book *book, uint32_t job)
{
	int64_t estimate_ns = book->jobs[job].estimate_ns;

	if (estimate_ns < 0)
		return TL_TIME_NEVER;
	return book->restart_ns + estimate_ns > 0 ? book->restart_ns + estimate_ns : 1;
}

/* On the first free ones of these GPUs. */
static void begin_on(struct book *book, uint32_t job, uint32_t gpus, int64_t now_ns)
{
	struct book_job *state = &book->state[job];
	uint32_t left = state->width;

	for (uint32_t g = 0; g < GPUS && left > 0; g++) {
		if (book->on[g] != 0 || (gpus >> g & 1) == 0)
			continue;
		book->on[g] = job + 1;
		left--;
	}
	cr_assert_eq(left, 0);
	state->waits = false;
	state->runs = true;
	state->ready_ns = now_ns + book->restart_ns;
	state->end_ns = state->ready_ns + book->jobs[job].duration_ns;
	state->believed_ns = book->jobs[job].estimate_ns < 0
	                         ? TL_TIME_NEVER
	                         : state->ready_ns + book->jobs[job].estimate_ns;
	book->starts_ns[job] = now_ns;
}

static void begin(struct book *book, uint32_t job, int64_t now_ns)
{
	begin_on(book, job, UINT32_MAX, now_ns);
}

static bool goes_first(const struct book *book, uint32_t a, uint32_t b)
{
	int64_t x = book->jobs[a].estimate_ns, y = book->jobs[b].estimate_ns;

	if (book->shortest && x != y)
		return y < 0 || (x >= 0 && x < y);
	return a < b;
}

static uint32_t sort_waiting(const struct book *book, uint32_t *order)
{
	uint32_t count = 0;

	for (uint32_t job = 0; job < JOBS; job++) {
		if (!book->state[job].waits)
			continue;
		uint32_t at = count++;

		for (; at > 0 && goes_first(book, job, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = job;
	}
	return count;
}

/* EASY with shadow time and extra GPUs. */
static void pass_easy(struct book *book, const uint32_t *order, uint32_t head, uint32_t count,
                      int64_t now_ns)
{
	int64_t shadow_ns = now_ns;
	uint32_t wanted = book->state[order[head]].width, there = 0;

	while (there < wanted && shadow_ns < TL_TIME_NEVER) {
		int64_t next_ns = TL_TIME_NEVER;

		for (uint32_t g = 0; g < GPUS; g++)
			if (book->on[g] != 0 &&
			    believed_end(book, book->on[g] - 1, now_ns) > shadow_ns &&
			    believed_end(book, book->on[g] - 1, now_ns) < next_ns)
				next_ns = believed_end(book, book->on[g] - 1, now_ns);
		shadow_ns = next_ns;
		there = free_gpus(book);
		for (uint32_t g = 0; g < GPUS; g++)
			there += book->on[g] != 0 && shadow_ns < TL_TIME_NEVER &&
			         believed_end(book, book->on[g] - 1, now_ns) <= shadow_ns;
	}
	uint32_t extra = there - wanted;

	for (uint32_t i = head + 1; i < count; i++) {
		uint32_t job = order[i], width = book->state[job].width;
		int64_t long_ns = length(book, job);

		if (width > free_gpus(book) || long_ns == TL_TIME_NEVER)
			continue;
		if (shadow_ns < TL_TIME_NEVER && now_ns + long_ns > shadow_ns) {
			if (width > extra)
				continue;
			extra -= width;
		}
		begin(book, job, now_ns);
	}
}

static bool idle(const struct book *book, uint32_t gpu, int64_t from_ns, int64_t to_ns)
{
	for (uint32_t i = 0; i < book->busy_count[gpu]; i++)
		if (book->busy[gpu][i].from_ns < to_ns && from_ns < book->busy[gpu][i].to_ns)
			return false;
	return true;
}

static void occupy(struct book *book, uint32_t gpu, int64_t from_ns, int64_t to_ns)
{
	cr_assert_lt(book->busy_count[gpu], (uint32_t)BUSY_MAX);
	book->busy[gpu][book->busy_count[gpu]++] = (struct busy){from_ns, to_ns};
}

/* Promises the earliest stretch in which enough GPUs are idle throughout: its start, and
 * which GPUs. */
static int64_t promise(struct book *book, uint32_t job, int64_t now_ns, bool now_too,
                       uint32_t *gpus)
{
	int64_t long_ns = length(book, job), at_ns = now_too ? now_ns : now_ns + 1;
	uint32_t width = book->state[job].width;

	*gpus = 0;
	for (;;) {
		int64_t next_ns = TL_TIME_NEVER;
		int64_t to_ns = long_ns > TL_TIME_NEVER - at_ns ? TL_TIME_NEVER : at_ns + long_ns;
		uint32_t found = 0;

		for (uint32_t g = 0; g < GPUS; g++)
			found += idle(book, g, at_ns, to_ns);
		/* Only instants at which something ends are worth a look. */
		bool ends = at_ns == now_ns;
		for (uint32_t g = 0; g < GPUS; g++)
			for (uint32_t i = 0; i < book->busy_count[g]; i++)
				ends |= book->busy[g][i].to_ns == at_ns;
		if (found >= width && ends) {
			for (uint32_t g = 0; g < GPUS && width > 0; g++) {
				if (!idle(book, g, at_ns, to_ns))
					continue;
				occupy(book, g, at_ns, to_ns);
				*gpus |= UINT32_C(1) << g;
				width--;
			}
			return at_ns;
		}
		for (uint32_t g = 0; g < GPUS; g++)
			for (uint32_t i = 0; i < book->busy_count[g]; i++)
				if (book->busy[g][i].to_ns > at_ns &&
				    book->busy[g][i].to_ns < next_ns)
					next_ns = book->busy[g][i].to_ns;
		if (next_ns == TL_TIME_NEVER)
			return TL_TIME_NEVER;
		at_ns = next_ns;
	}
}

static void pass_conservative(struct book *book, const uint32_t *order, uint32_t head,
                              uint32_t count, int64_t now_ns)
{
	uint32_t promised = 0;

	for (uint32_t g = 0; g < GPUS; g++) {
		book->busy_count[g] = 0;
		if (book->on[g] != 0)
			occupy(book, g, 0, believed_end(book, book->on[g] - 1, now_ns));
	}
	for (uint32_t i = head; i < count && promised < DEPTH; i++) {
		bool known = length(book, order[i]) < TL_TIME_NEVER;

		uint32_t gpus;

		if (promise(book, order[i], now_ns, i > head && known, &gpus) == now_ns)
			begin_on(book, order[i], gpus, now_ns);
		else
			promised++;
	}
}

static void pass(struct book *book, int64_t now_ns)
{
	uint32_t order[JOBS];
	uint32_t count = sort_waiting(book, order), head = 0;

	for (; head < count; head++) {
		if (book->state[order[head]].width > free_gpus(book))
			break;
		begin(book, order[head], now_ns);
	}
	if (head == count)
		return;
	if (book->rule == RULE_SKIP)
		for (uint32_t i = head; i < count; i++)
			if (book->state[order[i]].width <= free_gpus(book))
				begin(book, order[i], now_ns);
	if (book->rule == RULE_EASY)
		pass_easy(book, order, head, count, now_ns);
	if (book->rule == RULE_CONSERVATIVE)
		pass_conservative(book, order, head, count, now_ns);
}

static void run_book(struct book *book)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < JOBS; i++) {
		book->state[i] =
		    (struct book_job){.width = (uint32_t)(book->jobs[i].gpus_mgpu / 1000)};
		book->starts_ns[i] = -1;
	}
	for (int64_t now_ns = -1;;) {
		int64_t at_ns = next < JOBS ? book->jobs[next].submit_ns : TL_TIME_NEVER;

		for (uint32_t i = 0; i < JOBS; i++) {
			const struct book_job *job = &book->state[i];

			if (job->runs && job->ready_ns > now_ns && job->ready_ns < at_ns)
				at_ns = job->ready_ns;
			if (job->runs && job->end_ns < at_ns)
				at_ns = job->end_ns;
		}
		if (at_ns == TL_TIME_NEVER)
			return;
		now_ns = at_ns;
		for (uint32_t i = 0; i < JOBS; i++) {
			if (!book->state[i].runs || book->state[i].end_ns > now_ns)
				continue;
			book->state[i].runs = false;
			for (uint32_t g = 0; g < GPUS; g++)
				if (book->on[g] == i + 1)
					book->on[g] = 0;
		}
		while (next < JOBS && book->jobs[next].submit_ns <= now_ns)
			book->state[next++].waits = true;
		pass(book, now_ns);
	}
}

/* ---- the comparison --------------------------------------------------------------------- */

static struct tl_gpu_model models[1] = {{.name = "a", .memory_bytes = -1}};
static struct tl_node_spec nodes[GPUS];
static const struct tl_cluster_spec spec = {
    .name = "singles", .models = models, .model_count = 1, .nodes = nodes, .node_count = GPUS};

static void make_jobs(struct mini_job *jobs, uint64_t seed)
{
	struct tl_rng rng;
	int64_t at_ns = 0;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 1);
	for (uint32_t i = 0; i < JOBS; i++) {
		uint64_t draw = tl_rng_below(&rng, 10);
		int64_t long_ns = 1 + (int64_t)tl_rng_below(&rng, 40);
		int64_t estimate_ns = long_ns;

		if (draw >= 5)
			estimate_ns = (int64_t)tl_rng_below(&rng, 60);
		if (draw == 9)
			estimate_ns = -1;
		at_ns += (int64_t)tl_rng_below(&rng, 8);
		jobs[i] = (struct mini_job){
		    .submit_ns = at_ns,
		    .duration_ns = long_ns,
		    .estimate_ns = seed % 3 == 0 && draw < 9 ? long_ns : estimate_ns,
		    .gpus_mgpu = 1000 * (1 + (int64_t)tl_rng_below(&rng, seed % 2 ? 4 : GPUS))};
	}
}

static void compare(enum rule rule, bool shortest)
{
	static struct book book;
	static struct mini_job jobs[JOBS];

	for (uint32_t g = 0; g < GPUS; g++)
		nodes[g] = (struct tl_node_spec){.gpus = 1, .cpu_milli = 1000, .ram_bytes = 1000};
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		make_jobs(jobs, seed);
		book = (struct book){.jobs = jobs,
		                     .restart_ns = (int64_t)(seed % 4),
		                     .rule = rule,
		                     .shortest = shortest};
		run_book(&book);
		const struct mini_world world = {.spec = &spec,
		                                 .jobs = jobs,
		                                 .job_count = JOBS,
		                                 .restart_ns = book.restart_ns,
		                                 .tenant_count = 1,
		                                 .queue_count = 1};
		const struct mini_policy policy = {
		    .use = {[TL_SEAT_SCHEDULER] = "pipeline",
		            [TL_SEAT_ORDER] = shortest ? "sjf" : "fifo",
		            [TL_SEAT_PLACE] = "first-fit"},
		    .settings = {{TL_SEAT_SCHEDULER, "backfill", rule_names[rule]},
		                 {TL_SEAT_SCHEDULER, "depth", "5"}}};
		struct mini_run run;

		mini_run(&world, &policy, &run);
		cr_assert_eq(run.refused, 0);
		for (uint32_t i = 0; i < JOBS; i++)
			cr_assert_eq(run.starts_ns[i], book.starts_ns[i],
			             "%s, seed %d: job %u starts at %lld, by the book at %lld",
			             rule_names[rule], (int)seed, i, (long long)run.starts_ns[i],
			             (long long)book.starts_ns[i]);
		mini_run_fini(&run);
	}
}

Test(pipeline_exact, none)
{
	compare(RULE_NONE, false);
	compare(RULE_NONE, true);
}

Test(pipeline_exact, skip)
{
	compare(RULE_SKIP, false);
	compare(RULE_SKIP, true);
}

Test(pipeline_exact, easy)
{
	compare(RULE_EASY, false);
	compare(RULE_EASY, true);
}

Test(pipeline_exact, conservative)
{
	compare(RULE_CONSERVATIVE, false);
	compare(RULE_CONSERVATIVE, true);
}
