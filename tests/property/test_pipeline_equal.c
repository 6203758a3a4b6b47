/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pipeline's quick way against its plain way (`reference: true`): the identical
 * schedule, start by start and GPU by GPU, for every combination of shipped modules, on
 * random jobs (shares of a GPU, whole GPUs, gangs, CPU only) and a mixed cluster.
 */
#include "sim/base/rng.h"
#include "tests/property/minihost.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { NODES = 7, JOBS = 90, SECOND = 1000000000, PLACES = 9, RULES = 4, STOPS = 9 };

static const char *const places[PLACES] = {"first-fit", "best-fit",    "worst-fit",
                                           "random",    "topology",    "dot-product",
                                           "fgd",       "gpu-packing", "gpu-clustering"};
static const char *const rules[RULES] = {"none", "skip", "easy", "conservative"};

/* Ways to make room: who is asked, how victims leave, how far apart, for how many at a time. */
static const struct {
	const char *use, *mode, *step, *claims;
} stops[STOPS] = {{NULL, NULL, NULL, "64"},         {"none", NULL, NULL, "64"},
                  {"priority", "save", "0s", "1"},  {"priority", "save", "0s", "64"},
                  {"priority", "kill", "0s", "3"},  {"priority", "save", "2s", "64"},
                  {"priority", "save", "2s", "2"},  {"batch", NULL, NULL, "64"},
                  {"progressive", NULL, "20s", "5"}};

static struct tl_gpu_model models[2] = {{.name = "a", .memory_bytes = 80},
                                        {.name = "b", .memory_bytes = -1}};
static struct tl_node_spec nodes[NODES] = {
    {.gpus = 8, .model = 0, .cpu_milli = 64000, .ram_bytes = 640},
    {.gpus = 4, .model = 0, .cpu_milli = 32000, .ram_bytes = 320, .rack = 1},
    {.gpus = 4, .model = 1, .cpu_milli = 16000, .ram_bytes = 320, .rack = 1},
    {.gpus = 1, .model = 1, .cpu_milli = 8000, .ram_bytes = 100, .rack = 2, .leaf = 1},
    {.gpus = 2, .model = 0, .cpu_milli = 8000, .ram_bytes = 50, .rack = 2, .leaf = 1},
    {.gpus = 0,
     .model = TL_NO_INDEX,
     .cpu_milli = 48000,
     .ram_bytes = 400,
     .rack = 3,
     .leaf = 1,
     .pod = 1},
    {.gpus = 0,
     .model = TL_NO_INDEX,
     .cpu_milli = 16000,
     .ram_bytes = 200,
     .rack = 3,
     .leaf = 1,
     .pod = 1}};
static const struct tl_cluster_spec spec = {
    .name = "mixed", .models = models, .model_count = 2, .nodes = nodes, .node_count = NODES};

static int64_t below(struct tl_rng *rng, uint64_t n)
{
	return (int64_t)tl_rng_below(rng, n);
}

static void shape_job(struct mini_job *job, struct tl_rng *rng)
{
	switch (tl_rng_below(rng, 8)) {
	case 0:
		job->cpu_milli = 4000 * (1 + below(rng, 6));
		return;
	case 1:
	case 2:
		job->gpus_mgpu = 100 + 150 * below(rng, 6);
		break;
	case 3:
		job->gpus_mgpu = 1000 * (2 + 2 * below(rng, 2));
		job->workers = 2;
		break;
	case 4:
		job->gpus_mgpu = 1000 * (8 + below(rng, 4));
		break;
	default:
		job->gpus_mgpu = 1000 * (1 + below(rng, 4));
	}
	job->cpu_milli = 1000 * below(rng, 5);
	job->ram_bytes = 10 * below(rng, 4);
}

static void make_world(struct mini_world *world, struct mini_job *jobs, uint64_t seed)
{
	struct tl_rng rng;
	int64_t at_ns = 0;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 2);
	for (uint32_t i = 0; i < JOBS; i++) {
		struct mini_job *job = &jobs[i];

		*job = (struct mini_job){.duration_ns = SECOND * (1 + below(&rng, 300)),
		                         .tenant = (uint32_t)below(&rng, 3),
		                         .queue = (uint32_t)below(&rng, 3),
		                         .fixed = below(&rng, 6) == 0};
		/* A replica has no estimate, and is not stopped. */
		job->replica = below(&rng, 5) == 0;
		at_ns += SECOND * below(&rng, 40) * below(&rng, 2);
		job->submit_ns = at_ns;
		job->estimate_ns =
		    below(&rng, 3) != 0 ? job->duration_ns : SECOND * below(&rng, 400);
		if (below(&rng, 10) == 0 || job->replica)
			job->estimate_ns = -1;
		job->fixed = job->fixed || job->replica;
		shape_job(job, &rng);
	}
	*world = (struct mini_world){.spec = &spec,
	                             .jobs = jobs,
	                             .job_count = JOBS,
	                             .restart_ns = SECOND * below(&rng, 20),
	                             .save_ns = SECOND * (1 + below(&rng, 10)),
	                             .checkpoint_ns = 20LL * SECOND,
	                             .tenant_count = 3,
	                             .queue_count = 3,
	                             .weights = {4, 2, 1}};
	if (seed % 3 == 1)
		world->quotas_mgpu[0] = 11000;
}

/* The same world with GPUs shared beyond what is there. */
static void oversubscribe(struct mini_world *world, struct mini_job *jobs, int64_t ratio_milli)
{
	struct tl_rng rng;

	tl_rng_init(&rng, (uint64_t)ratio_milli, TL_STREAM_TEST, 3);
	world->ratio_milli = ratio_milli;
	for (uint32_t i = 0; i < JOBS; i++) {
		jobs[i].guaranteed = below(&rng, 4) == 0;
		jobs[i].utilisation_milli = (int32_t)below(&rng, 11) * 100;
	}
}

static void set(struct mini_policy *policy, enum tl_seat_kind seat, const char *name,
                const char *value)
{
	size_t i = 0;

	while (policy->settings[i].name != NULL)
		i++;
	policy->settings[i] = (struct mini_setting){seat, name, value};
}

/* Moves of the defrag seat in all of a test. */
static size_t moves;

/* One combination, both ways. Returns how many suspensions there were; with a ratio, how many
 * starts beside another. */
static size_t check(const char *order, const char *place, const char *rule, int stop, bool quota,
                    uint64_t seed, int64_t ratio_milli)
{
	static struct mini_job jobs[JOBS];
	const bool moved = stop % 2 == 0;
	struct mini_world world;
	struct mini_run quick, plain;
	struct mini_policy policy = {.use = {[TL_SEAT_SCHEDULER] = "pipeline",
	                                     [TL_SEAT_ORDER] = order,
	                                     [TL_SEAT_PLACE] = place,
	                                     [TL_SEAT_PREEMPT] = stops[stop].use,
	                                     [TL_SEAT_ADMIT] = quota ? "quota" : NULL,
	                                     [TL_SEAT_DEFRAG] = moved ? "compact" : NULL}};
	size_t suspensions = 0;

	make_world(&world, jobs, seed);
	if (moved) {
		set(&policy, TL_SEAT_SCHEDULER, "defrag_every", "50s");
		set(&policy, TL_SEAT_DEFRAG, "worth", "1h");
	}
	if (ratio_milli > 0) {
		oversubscribe(&world, jobs, ratio_milli);
		set(&policy, TL_SEAT_SCHEDULER, "pair_below", seed % 2 ? "0.6" : "1");
	}
	set(&policy, TL_SEAT_SCHEDULER, "backfill", rule);
	set(&policy, TL_SEAT_SCHEDULER, "depth", "7");
	set(&policy, TL_SEAT_SCHEDULER, "claims", stops[stop].claims);
	if (quota) {
		set(&policy, TL_SEAT_ADMIT, "tenant_cap", "0.6");
		set(&policy, TL_SEAT_ADMIT, "job_cap", "0.5");
	}
	if (stops[stop].mode != NULL)
		set(&policy, TL_SEAT_PREEMPT, "mode", stops[stop].mode);
	if (stops[stop].step != NULL)
		set(&policy, TL_SEAT_PREEMPT, "step", stops[stop].step);
	if (stop > 1)
		set(&policy, TL_SEAT_PREEMPT, "min_run", "30s");
	if (order[0] == 'l') {
		set(&policy, TL_SEAT_ORDER, "threshold", "100s");
		set(&policy, TL_SEAT_ORDER, "queues", "3");
		set(&policy, TL_SEAT_ORDER, "factor", "4");
		set(&policy, TL_SEAT_ORDER, "promote", "2");
	}
	mini_run(&world, &policy, &quick);
	set(&policy, TL_SEAT_SCHEDULER, "reference", "true");
	mini_run(&world, &policy, &plain);
	long at = mini_differ(&quick, &plain);
	cr_assert_eq(at, -1, "%s, %s, %s, stop %d, quota %d, seed %d: entry %ld differs", order,
	             place, rule, stop, quota, (int)seed, at);
	for (size_t i = 0; i < quick.count; i++) {
		suspensions += quick.log[i].what == MINI_SUSPEND;
		moves += quick.log[i].what == MINI_MIGRATE;
	}
	for (uint32_t i = 0; i < JOBS && !quota && seed % 3 != 1; i++)
		cr_assert_geq(quick.ends_ns[i], 0,
		              "%s, %s, %s, stop %d, seed %d: job %u never ends", order, place, rule,
		              stop, (int)seed, i);
	if (ratio_milli > 0)
		suspensions = quick.seconds;
	mini_run_fini(&quick);
	mini_run_fini(&plain);
	return suspensions;
}

static void check_order(const char *order)
{
	size_t suspensions = 0;

	for (int place = 0; place < PLACES; place++)
		for (int rule = 0; rule < RULES; rule++)
			for (int stop = 0; stop < STOPS; stop++)
				/* Every rule and stop meets quotas, with half of the places. */
				suspensions += check(order, places[place], rules[rule], stop,
				                     (place + rule + stop) % 2,
				                     (uint64_t)(place * 100 + rule * 10 + stop), 0);
	/* With FIFO nobody waiting is ahead of anybody running by key. */
	if (order[0] != 'f')
		cr_assert_gt(suspensions, 100);
	cr_assert_gt(moves, 100);
}

Test(pipeline_equal, fifo)
{
	check_order("fifo");
}

Test(pipeline_equal, sjf)
{
	check_order("sjf");
}

Test(pipeline_equal, srtf)
{
	check_order("srtf");
}

Test(pipeline_equal, priority_queues)
{
	check_order("priority-queues");
}

Test(pipeline_equal, las)
{
	check_order("las");
}

static void check_shared(const char *order)
{
	static const int64_t ratios[] = {1150, 1500, 2000};
	size_t seconds = 0;

	for (int rule = 0; rule < RULES; rule++)
		for (int stop = 0; stop < STOPS; stop++)
			for (size_t i = 0; i < 3; i++)
				for (uint64_t seed = 0; seed < 4; seed++)
					seconds +=
					    check(order, places[(rule + stop + (int)seed) % PLACES],
					          rules[rule], stop, seed == 3,
					          1000 + seed * 40 + (uint64_t)(rule * 5 + stop),
					          ratios[i]);
	cr_assert_gt(seconds, 1000);
}

Test(pipeline_equal, fifo_shared)
{
	check_shared("fifo");
}

Test(pipeline_equal, srtf_shared)
{
	check_shared("srtf");
}

Test(pipeline_equal, priority_queues_shared)
{
	check_shared("priority-queues");
}

Test(pipeline_equal, las_shared)
{
	check_shared("las");
}
