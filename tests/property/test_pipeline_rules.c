/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the scheduling rules promise, on random runs: nobody overtakes under `none`, a
 * reservation under `easy` is kept, quotas hold, room made for one job is not taken by
 * another; and that reasons are given to who asks. */
#include "sim/base/rng.h"
#include "tests/property/minihost.h"

#include <criterion/criterion.h>
#include <string.h>

enum { NODES = 3, JOBS = 150, ROUNDS = 20, SECOND = 1000000000 };

static struct tl_gpu_model models[1] = {{.name = "a", .memory_bytes = -1}};
static struct tl_node_spec nodes[NODES] = {{.gpus = 8, .cpu_milli = 64000, .ram_bytes = 1000},
                                           {.gpus = 4, .cpu_milli = 32000, .ram_bytes = 1000},
                                           {.gpus = 4, .cpu_milli = 32000, .ram_bytes = 1000}};
static const struct tl_cluster_spec spec = {
    .name = "three", .models = models, .model_count = 1, .nodes = nodes, .node_count = NODES};

static struct mini_job jobs[JOBS];

static int64_t below(struct tl_rng *rng, uint64_t n)
{
	return (int64_t)tl_rng_below(rng, n);
}

static struct mini_world make_world(uint64_t seed)
{
	struct tl_rng rng;
	int64_t at_ns = 0;

	tl_rng_init(&rng, seed, TL_STREAM_TEST, 3);
	for (uint32_t i = 0; i < JOBS; i++) {
		at_ns += SECOND * below(&rng, 30);
		jobs[i] = (struct mini_job){.submit_ns = at_ns,
		                            .duration_ns = SECOND * (1 + below(&rng, 200)),
		                            .gpus_mgpu =
		                                below(&rng, 3) ? 1000 * (1 + below(&rng, 4)) : 8000,
		                            .tenant = (uint32_t)below(&rng, 3)};
		jobs[i].estimate_ns = jobs[i].duration_ns;
	}
	return (struct mini_world){.spec = &spec,
	                           .jobs = jobs,
	                           .job_count = JOBS,
	                           .restart_ns = SECOND * (int64_t)(seed % 5),
	                           .save_ns = 5LL * SECOND,
	                           .tenant_count = 3,
	                           .queue_count = 1};
}

static struct mini_policy make_policy(const char *order, const char *backfill)
{
	return (struct mini_policy){.use = {[TL_SEAT_SCHEDULER] = "pipeline",
	                                    [TL_SEAT_ORDER] = order,
	                                    [TL_SEAT_PLACE] = "best-fit"},
	                            .settings = {{TL_SEAT_SCHEDULER, "backfill", backfill}}};
}

Test(pipeline_rules, none_overtakes_nobody)
{
	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		const struct mini_world world = make_world(seed);
		const struct mini_policy policy = make_policy("fifo", "none");
		struct mini_run run;

		mini_run(&world, &policy, &run);
		for (uint32_t i = 1; i < JOBS; i++)
			cr_assert_geq(run.starts_ns[i], run.starts_ns[i - 1], "job %u overtakes",
			              i);
		mini_run_fini(&run);
	}
}

/* With exact estimates no job starts later than was ever promised to it; some start before
 * their turn. */
static void check_promises(const char *backfill)
{
	uint32_t promises = 0, overtakings = 0;

	for (uint64_t seed = 0; seed < ROUNDS; seed++) {
		const struct mini_world world = make_world(seed);
		const struct mini_policy policy = make_policy("fifo", backfill);
		struct mini_run run;

		mini_run(&world, &policy, &run);
		for (size_t i = 0; i < run.count; i++) {
			const struct mini_entry *entry = &run.log[i];

			if (entry->what != MINI_RESERVE)
				continue;
			promises++;
			cr_assert_leq(run.starts_ns[entry->job], entry->value,
			              "%s, seed %d: job %u was promised %lld and started at %lld",
			              backfill, (int)seed, entry->job, (long long)entry->value,
			              (long long)run.starts_ns[entry->job]);
		}
		for (uint32_t i = 1; i < JOBS; i++)
			overtakings += run.starts_ns[i] < run.starts_ns[i - 1];
		mini_run_fini(&run);
	}
	cr_assert_gt(promises, 100);
	cr_assert_gt(overtakings, 100);
}

Test(pipeline_rules, easy_keeps_its_promise)
{
	check_promises("easy");
}

Test(pipeline_rules, conservative_keeps_its_promise)
{
	check_promises("conservative");
}

Test(pipeline_rules, quotas_hold_and_do_not_block_others)
{
	const char *const admits[] = {NULL, "quota"};

	for (uint64_t seed = 0; seed < ROUNDS; seed++)
		for (int admit = 0; admit < 2; admit++) {
			struct mini_world world = make_world(seed);
			struct mini_policy policy = make_policy("fifo", "none");
			struct mini_run run;
			int64_t open_ns = 0;

			/* Tenant 0 may hold one large job at a time. */
			world.quotas_mgpu[0] = 8000;
			policy.use[TL_SEAT_ADMIT] = admits[admit];
			mini_run(&world, &policy, &run);
			cr_assert_eq(run.refused, 0, "the host had to refuse a start");
			for (uint32_t i = 0; i < JOBS; i++)
				cr_assert_geq(run.ends_ns[i], 0);
			/* The others keep their order among themselves, and some pass tenant 0. */
			for (uint32_t i = 0; i < JOBS; i++) {
				if (jobs[i].tenant == 0)
					continue;
				cr_assert_geq(run.starts_ns[i], open_ns, "seed %d: job %u",
				              (int)seed, i);
				open_ns = run.starts_ns[i];
			}
			mini_run_fini(&run);
		}
}

Test(pipeline_rules, job_cap_refuses_at_submission)
{
	const struct mini_world world = make_world(1);
	struct mini_policy policy = make_policy("fifo", "easy");
	struct mini_run run;
	uint32_t large = 0, rejected = 0;

	policy.use[TL_SEAT_ADMIT] = "quota";
	policy.settings[1] = (struct mini_setting){TL_SEAT_ADMIT, "job_cap", "0.25"};
	mini_run(&world, &policy, &run);
	for (uint32_t i = 0; i < JOBS; i++)
		large += jobs[i].gpus_mgpu > 4000;
	for (size_t i = 0; i < run.count; i++) {
		rejected += run.log[i].what == MINI_REJECT;
		cr_assert(run.log[i].what != MINI_START || jobs[run.log[i].job].gpus_mgpu <= 4000);
	}
	cr_assert_gt(large, 0);
	cr_assert_eq(rejected, large);
	mini_run_fini(&run);
}

/* Eight small jobs run; a short one that needs the whole large node comes, then more small
 * ones, that must not take what is freed for it bit by bit. */
Test(pipeline_rules, what_is_freed_for_one_is_not_taken_by_another)
{
	enum { SMALL = 16, LATER = 8, COUNT = SMALL + 1 + LATER };
	struct mini_job list[COUNT];
	struct mini_run run;
	struct mini_policy policy = make_policy("sjf", "skip");

	for (uint32_t i = 0; i < COUNT; i++)
		list[i] = (struct mini_job){.submit_ns = (int64_t)SECOND * (i < SMALL    ? 0
		                                                            : i == SMALL ? 100
		                                                                         : 103),
		                            .duration_ns = 1000LL * SECOND,
		                            .estimate_ns = 1000LL * SECOND,
		                            .gpus_mgpu = i == SMALL ? 8000 : 1000};
	list[SMALL].estimate_ns = list[SMALL].duration_ns = 10LL * SECOND;
	const struct mini_world world = {.spec = &spec,
	                                 .jobs = list,
	                                 .job_count = COUNT,
	                                 .save_ns = 7LL * SECOND,
	                                 .tenant_count = 1,
	                                 .queue_count = 1};
	policy.use[TL_SEAT_PREEMPT] = "priority";
	policy.settings[1] = (struct mini_setting){TL_SEAT_PREEMPT, "step", "2s"};
	mini_run(&world, &policy, &run);
	cr_assert_eq(run.starts_ns[SMALL], 107LL * SECOND,
	             "the victims' save is all it waits for, got %lld",
	             (long long)run.starts_ns[SMALL]);
	for (uint32_t i = SMALL + 1; i < COUNT; i++)
		cr_assert_gt(run.starts_ns[i], 107LL * SECOND);
	uint32_t stopped = 0;
	for (size_t i = 0; i < run.count; i++)
		stopped += run.log[i].what == MINI_SUSPEND;
	cr_assert_eq(stopped, 8, "those on the large node and no others: %u", stopped);
	mini_run_fini(&run);
}

/* ---- room for many at once ---------------------------------------------------------------- */

enum { HOLDERS = 16, COMERS = 12 };

/* Every GPU is held by a long job; at 100 s short ones of one GPU come. */
static struct mini_world make_rush(struct mini_job *list)
{
	for (uint32_t i = 0; i < HOLDERS + COMERS; i++) {
		list[i] = (struct mini_job){.duration_ns = 1000LL * SECOND, .gpus_mgpu = 1000};
		if (i >= HOLDERS) {
			list[i].submit_ns = 100LL * SECOND;
			list[i].duration_ns = 50LL * SECOND;
		}
		list[i].estimate_ns = list[i].duration_ns;
	}
	return (struct mini_world){.spec = &spec,
	                           .jobs = list,
	                           .job_count = HOLDERS + COMERS,
	                           .save_ns = 7LL * SECOND,
	                           .tenant_count = 1,
	                           .queue_count = 1};
}

static struct mini_policy make_rush_policy(const char *claims, const char *step)
{
	struct mini_policy policy = make_policy("sjf", "none");

	policy.use[TL_SEAT_PREEMPT] = "priority";
	policy.settings[1] = (struct mini_setting){TL_SEAT_PREEMPT, "step", step};
	policy.settings[2] = (struct mini_setting){TL_SEAT_SCHEDULER, "claims", claims};
	return policy;
}

Test(pipeline_rules, room_is_made_for_many_at_once)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	const struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("64", "0s");

	mini_run(&world, &policy, &run);
	for (uint32_t i = HOLDERS; i < HOLDERS + COMERS; i++)
		cr_assert_eq(run.starts_ns[i], 107LL * SECOND, "job %u waits for one save", i);
	cr_assert_eq(run.refused, 0);
	mini_run_fini(&run);
}

Test(pipeline_rules, of_one_claim_at_a_time_each_waits_for_the_one_before)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	const struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("1", "0s");

	mini_run(&world, &policy, &run);
	for (uint32_t i = 0; i < 7; i++)
		cr_assert_eq(run.starts_ns[HOLDERS + i], (107LL + 7 * i) * SECOND, "number %u", i);
	mini_run_fini(&run);
}

Test(pipeline_rules, claims_are_bounded)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	const struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("5", "0s");
	uint32_t stopped = 0;

	mini_run(&world, &policy, &run);
	for (size_t i = 0; i < run.count; i++)
		stopped += run.log[i].what == MINI_SUSPEND && run.log[i].at_ns == 100LL * SECOND;
	cr_assert_eq(stopped, 5);
	mini_run_fini(&run);
}

/* Paced, the steps are those of all claims together: a node each. */
Test(pipeline_rules, a_step_empties_one_node_whoever_claims_it)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	const struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("64", "2s");
	uint64_t node_of[HOLDERS] = {0};
	int64_t last_ns = -1;
	uint32_t stopped = 0, steps = 0;
	uint64_t node = 0;

	mini_run(&world, &policy, &run);
	/* With one worker of one GPU, best fit fills the nodes of four before that of eight. */
	for (uint32_t i = 0; i < HOLDERS; i++)
		node_of[i] = i / 4 < 2 ? i / 4 : 2;
	for (size_t i = 0; i < run.count && stopped < COMERS; i++) {
		const struct mini_entry *entry = &run.log[i];

		if (entry->what != MINI_SUSPEND)
			continue;
		cr_assert_lt(entry->job, HOLDERS);
		stopped++;
		if (entry->at_ns == last_ns) {
			cr_assert_eq(node_of[entry->job], node, "two nodes at one instant");
			continue;
		}
		cr_assert(last_ns < 0 || entry->at_ns - last_ns >= 2LL * SECOND);
		last_ns = entry->at_ns;
		node = node_of[entry->job];
		steps++;
	}
	cr_assert_eq(stopped, COMERS);
	cr_assert_geq(steps, 2);
	mini_run_fini(&run);
}

/* What drains for one is claimed by another that comes before it; the first claims anew. */
Test(pipeline_rules, what_drains_goes_to_who_comes_first)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("64", "0s");
	uint32_t stopped = 0;

	list[HOLDERS + 1].submit_ns = 103LL * SECOND;
	list[HOLDERS + 1].duration_ns = list[HOLDERS + 1].estimate_ns = 10LL * SECOND;
	world.job_count = HOLDERS + 2;
	mini_run(&world, &policy, &run);
	cr_assert_eq(run.starts_ns[HOLDERS + 1], 107LL * SECOND);
	cr_assert_eq(run.starts_ns[HOLDERS], 110LL * SECOND);
	for (size_t i = 0; i < run.count; i++)
		stopped += run.log[i].what == MINI_SUSPEND;
	cr_assert_eq(stopped, 2, "one each: %u", stopped);
	mini_run_fini(&run);
}

/* Behind owners of claims others start in order, in room that nobody claims. */
Test(pipeline_rules, owners_of_claims_do_not_hold_up_those_behind)
{
	struct mini_job list[HOLDERS + COMERS];
	struct mini_run run;
	struct mini_world world = make_rush(list);
	const struct mini_policy policy = make_rush_policy("64", "0s");

	/* The owner wants the whole large node; a long job behind it fits beside. */
	list[HOLDERS].gpus_mgpu = 8000;
	list[HOLDERS + 1].submit_ns = 101LL * SECOND;
	list[HOLDERS + 1].duration_ns = list[HOLDERS + 1].estimate_ns = 2000LL * SECOND;
	list[0].duration_ns = list[0].estimate_ns = 102LL * SECOND;
	world.job_count = HOLDERS + 2;
	mini_run(&world, &policy, &run);
	cr_assert_eq(run.starts_ns[HOLDERS], 107LL * SECOND);
	cr_assert_eq(run.starts_ns[HOLDERS + 1], 102LL * SECOND);
	mini_run_fini(&run);
}

/* A large job comes first that no room is made for yet; replicas behind it do not wait for it
 * where the backfill rule lets others past, unless that breaks the large one's promise. */
Test(pipeline_rules, replicas_behind_the_head_have_room_made_for_them)
{
	static const struct {
		const char *backfill;
		bool known; /* when those that hold the GPUs leave */
		bool passes;
	} cases[] = {{"none", false, false}, {"skip", false, true}, {"skip", true, true},
	             {"easy", false, true},  {"easy", true, false}, {"conservative", false, false}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct mini_job list[HOLDERS + COMERS];
		struct mini_run run;
		struct mini_world world = make_rush(list);
		struct mini_policy policy = make_policy("priority-queues", cases[c].backfill);

		for (uint32_t i = 0; i < HOLDERS; i++) {
			list[i].queue = 1;
			if (!cases[c].known)
				list[i].estimate_ns = -1;
		}
		/* All sixteen GPUs: whoever stays for good is in its way. */
		list[HOLDERS].gpus_mgpu = 16000;
		list[HOLDERS].workers = 4;
		for (uint32_t i = 1; i <= 3; i++) {
			list[HOLDERS + i].submit_ns = 101LL * SECOND;
			list[HOLDERS + i].replica = list[HOLDERS + i].fixed = true;
			list[HOLDERS + i].estimate_ns = -1;
		}
		world.job_count = HOLDERS + 4;
		world.queue_count = 2;
		policy.use[TL_SEAT_PREEMPT] = "batch";
		policy.settings[1] = (struct mini_setting){TL_SEAT_ORDER, "mode", "strict"};
		policy.settings[2] =
		    (struct mini_setting){TL_SEAT_ORDER, "services_first", "false"};
		mini_run(&world, &policy, &run);
		for (uint32_t i = 1; i <= 3; i++)
			cr_assert_eq(run.starts_ns[HOLDERS + i] == 108LL * SECOND, cases[c].passes,
			             "case %d: replica %u at %lld", (int)c, i,
			             (long long)run.starts_ns[HOLDERS + i]);
		cr_assert_geq(run.starts_ns[HOLDERS], 1000LL * SECOND);
		mini_run_fini(&run);
	}
}

/* A job of two GPUs keeps a whole node from one that wants it; the defrag seat moves it to a
 * node that is partly used anyway. */
Test(pipeline_rules, a_node_is_freed_for_who_wants_it_whole)
{
	static const struct {
		const char *use, *worth;
		int64_t start_s;
	} cases[] = {{NULL, NULL, 1000}, {"compact", "5min", 45}, {"compact", "1s", 1000}};

	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct mini_job list[5] = {
		    {.duration_ns = 20LL * SECOND, .gpus_mgpu = 4000},
		    {.duration_ns = 20LL * SECOND, .gpus_mgpu = 4000},
		    {.duration_ns = 1000LL * SECOND, .gpus_mgpu = 2000},
		    {.submit_ns = 21LL * SECOND, .duration_ns = 2000LL * SECOND, .gpus_mgpu = 1000},
		    {.submit_ns = 30LL * SECOND, .duration_ns = 10LL * SECOND, .gpus_mgpu = 8000}};
		struct mini_policy policy = make_policy("fifo", "easy");
		struct mini_run run;

		for (uint32_t i = 0; i < 5; i++)
			list[i].estimate_ns = list[i].duration_ns;
		const struct mini_world world = {.spec = &spec,
		                                 .jobs = list,
		                                 .job_count = 5,
		                                 .save_ns = 5LL * SECOND,
		                                 .tenant_count = 1,
		                                 .queue_count = 1};
		policy.use[TL_SEAT_DEFRAG] = cases[c].use;
		policy.settings[1] =
		    (struct mini_setting){TL_SEAT_SCHEDULER, "defrag_every", "40s"};
		if (cases[c].use != NULL)
			policy.settings[2] =
			    (struct mini_setting){TL_SEAT_DEFRAG, "worth", cases[c].worth};
		mini_run(&world, &policy, &run);
		cr_assert_eq(run.starts_ns[4], cases[c].start_s * SECOND, "case %d: at %lld",
		             (int)c, (long long)run.starts_ns[4]);
		cr_assert_eq(run.refused, 0);
		mini_run_fini(&run);
	}
}

Test(pipeline_rules, null_starts_nothing)
{
	const struct mini_world world = make_world(2);
	const struct mini_policy policy = {.use = {[TL_SEAT_SCHEDULER] = "null"}};
	struct mini_run run;

	mini_run(&world, &policy, &run);
	cr_assert_eq(run.count, 0);
	mini_run_fini(&run);
}

Test(pipeline_rules, reasons_are_given)
{
	struct mini_job list[3] = {
	    {.duration_ns = 50LL * SECOND, .estimate_ns = -1, .gpus_mgpu = 2000},
	    {.submit_ns = SECOND, .duration_ns = SECOND, .estimate_ns = -1, .gpus_mgpu = 16000},
	    {.submit_ns = 2LL * SECOND,
	     .duration_ns = SECOND,
	     .estimate_ns = -1,
	     .gpus_mgpu = 1000}};
	struct mini_world world = {
	    .spec = &spec, .jobs = list, .job_count = 3, .tenant_count = 1, .queue_count = 1};
	const struct mini_policy policy = make_policy("fifo", "easy");
	struct mini_run run;

	list[1].workers = 4; /* four workers of four GPUs: every GPU */
	for (uint32_t i = 0; i < 3; i++) {
		static const char *const wanted[3] = {"started: placed by best-fit on node 1",
		                                      "started: placed by best-fit on 4 workers",
		                                      "started: placed by best-fit on node"};

		world.watch = i + 1;
		mini_run(&world, &policy, &run);
		cr_assert(strncmp(run.said, wanted[i], strlen(wanted[i])) == 0, "%s", run.said);
		mini_run_fini(&run);
	}
	/* The job behind is cut off before it starts: what was said of it while it waited stays. */
	list[0].duration_ns = TL_TIME_NEVER / 2;
	list[2].submit_ns = TL_TIME_NEVER / 2 - 1;
	world.watch = 2;
	mini_run(&world, &policy, &run);
	cr_assert_eq(run.starts_ns[1], TL_TIME_NEVER / 2);
	mini_run_fini(&run);
}
