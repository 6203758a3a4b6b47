/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The shipped preempting modules, each rule by hand: whom they stop, how many, and when, on
 * four nodes of four GPUs that are all held.
 */
#include "policies/lib/view.h"
#include "sim/base/units.h"
#include "tests/abi/suite.h"

#include <criterion/criterion.h>
#include <string.h>

enum { NODES = 4, GPUS = 4, ALL = NODES * GPUS, START_S = 60, NOW_S = 10000 };

static struct tl_gpu_model models[1] = {{.name = "a", .memory_bytes = -1}};
static struct tl_node_spec nodes[NODES] = {{.gpus = GPUS, .cpu_milli = 64000, .ram_bytes = 64},
                                           {.gpus = GPUS, .cpu_milli = 64000, .ram_bytes = 64},
                                           {.gpus = GPUS, .cpu_milli = 64000, .ram_bytes = 64},
                                           {.gpus = GPUS, .cpu_milli = 64000, .ram_bytes = 64}};
static const struct tl_cluster_spec spec = {
    .name = "four", .models = models, .model_count = 1, .nodes = nodes, .node_count = NODES};

static struct tl_mock mock;
static void *self;
static const struct tl_preempt_ops *ops;
static uint32_t shapes[GPUS + 1]; /* of one worker with so many GPUs */
static tl_job_id jobs[ALL], chosen[ALL];
static uint32_t job_count;
static struct tl_scratch_view scratch;

static void setup(void)
{
	tl_mock_init(&mock, &spec);
	mock.deciding = 1;
	mock.now_ns = NOW_S * TL_NS_PER_S;
	for (uint32_t g = 1; g <= GPUS; g++)
		shapes[g] =
		    tl_mock_shape(&mock, &(struct tl_shape){.workers = 1,
		                                            .last = {.gpus = g, .share_mgpu = 1000},
		                                            .model_mask = UINT64_MAX});
	mock.services[0] = (struct tl_service_view){
	    .name = "s", .ready = 4, .load_milli = 900, .breach_since_ns = -1};
	mock.service_count = 1;
	scratch = (struct tl_scratch_view){0};
	job_count = 0;
}

static void teardown(void)
{
	tl_mock_fini(&mock);
}

TestSuite(preempt_modules, .init = setup, .fini = teardown);

/* A job that has held so many GPUs of a node since a while ago. */
static struct tl_job_view *hold(uint32_t node, uint32_t first, uint32_t gpus, int64_t ran_s)
{
	uint32_t numbers[GPUS];
	struct tl_placement where = {
	    .nodes = &node, .gpus = numbers, .worker_count = 1, .gpu_count = gpus};
	tl_job_id id = tl_mock_job(&mock, &(struct tl_job_view){.shape = shapes[gpus],
	                                                        .service = TL_NO_INDEX,
	                                                        .flags = TL_JOB_PREEMPTIBLE});

	for (uint32_t i = 0; i < gpus; i++)
		numbers[i] = node * GPUS + first + i;
	cr_assert_eq(mock.host.start(&mock.host, id, &where), TL_ACCEPTED);
	struct tl_job_view *job = tl_mock_at(&mock, id);

	job->restart_ns = START_S * TL_NS_PER_S;
	job->checkpoint_period_ns = 300 * TL_NS_PER_S;
	job->started_ns = mock.now_ns - ran_s * TL_NS_PER_S - job->restart_ns;
	job->attained_mark_ns = job->committed_ns = mock.now_ns - ran_s * TL_NS_PER_S;
	jobs[job_count++] = id;
	return job;
}

/* Every GPU by a job of its own, each of which loses two seconds more than the one before. */
static void hold_all(void)
{
	for (uint32_t i = 0; i < ALL; i++)
		hold(i / GPUS, i % GPUS, 1, 610 + 2 * (int64_t)i);
}

static void make(const char *name, const char *option, const char *value)
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);
	char why[TL_MOCK_TEXT] = "";

	for (size_t m = 0; m < count; m++) {
		if (strcmp(modules[m].name, name) != 0)
			continue;
		cr_assert_eq(tl_mock_create(&mock, modules[m].module, option, value, &self, why), 0,
		             "%s: %s", name, why);
		ops = modules[m].module->ops;
		return;
	}
	cr_assert_fail("no module `%s`", name);
}

static int fits(const struct tl_shortfall *ask, const tl_job_id *victims, uint32_t count)
{
	struct tl_placement where;

	cr_assert_eq(tl_scratch_copy(&scratch, &mock.host, mock.host.view(&mock.host)), 0);
	for (uint32_t i = 0; i < count; i++) {
		cr_assert_eq(mock.host.allocation(&mock.host, victims[i], &where), 0);
		tl_scratch_give(&scratch,
		                mock.host.shape(&mock.host, tl_mock_at(&mock, victims[i])->shape),
		                &where, 0);
	}
	return tl_suite_fits(&scratch.view, ask->shape);
}

static struct tl_victims victims;

/* Asks for room for one worker: how many are stopped, in `chosen`. */
static uint32_t ask_for(uint32_t gpus, uint32_t service, int64_t waits_s)
{
	int64_t keys[ALL] = {0};
	const struct tl_job_view job = {.id = 1,
	                                .shape = shapes[gpus],
	                                .service = service,
	                                .waiting_since_ns = mock.now_ns - waits_s * TL_NS_PER_S};
	const struct tl_shortfall ask = {.struct_size = sizeof ask,
	                                 .candidate_count = job_count,
	                                 .job = &job,
	                                 .shape = mock.host.shape(&mock.host, shapes[gpus]),
	                                 .key = -1,
	                                 .candidates = jobs,
	                                 .candidate_keys = keys,
	                                 .jobs = mock.host.jobs(&mock.host),
	                                 .now_ns = mock.now_ns,
	                                 .fits = fits};

	mock.wake_ns = TL_TIME_NEVER;
	victims = (struct tl_victims){.ids = chosen};
	if (ops->choose(self, &ask, &victims) == 0)
		return 0;
	cr_assert_gt(victims.count, 0);
	return victims.count;
}

/* What was chosen is gone. */
static void carry_out(void)
{
	for (uint32_t v = 0; v < victims.count; v++)
		for (uint32_t i = 0; i < job_count; i++)
			if (jobs[i] == chosen[v])
				jobs[i] = jobs[--job_count];
}

static void later(int64_t s)
{
	mock.now_ns += s * TL_NS_PER_S;
}

/* ---- whom ----------------------------------------------------------------------------- */

Test(preempt_modules, the_one_that_loses_least_since_its_checkpoint)
{
	hold_all();
	make("batch", NULL, NULL);
	/* Running for 610 s, checkpoints every 300 s: 10 s are not safe, of the others more. */
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[0]);
	cr_assert_eq(victims.mode, TL_SUSPEND_SAVE);
	cr_assert_eq(victims.step_ns, 0);
	/* Just before a commit there is most to lose, just after it least. */
	tl_mock_at(&mock, jobs[0])->committed_ns -= 285 * TL_NS_PER_S;
	tl_mock_at(&mock, jobs[5])->committed_ns -= 281 * TL_NS_PER_S;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[5], "of 901 s it loses one");
}

Test(preempt_modules, a_start_is_part_of_the_cost)
{
	hold_all();
	make("batch", NULL, NULL);
	tl_mock_at(&mock, jobs[0])->restart_ns += 3 * TL_NS_PER_S;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[1]);
}

Test(preempt_modules, evaluation_without_results_first)
{
	hold_all();
	make("batch", NULL, NULL);
	struct tl_job_view *trial = tl_mock_at(&mock, jobs[9]);

	/* It has run for longer than a checkpoint's period: something is safe. */
	trial->kind = TL_JOB_EVALUATION;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[0]);
	/* Without checkpoints there is nothing before its end. */
	trial->checkpoint_period_ns = 0;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], trial->id);
	/* What a save has kept is a result. */
	trial->preemptions = 1;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[0]);
}

Test(preempt_modules, of_one_cost_the_nearest_in_size)
{
	/* The same GPU time lost by four GPUs and by one. */
	hold(0, 0, 4, 605)->restart_ns = 0;
	hold(1, 0, 1, 620)->restart_ns = 0;
	for (uint32_t i = 2; i < ALL; i++)
		if (i >= 2 * GPUS || i > GPUS)
			hold(i / GPUS, i % GPUS, 1, 700);
	make("batch", NULL, NULL);
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[1]);
	cr_assert_eq(ask_for(4, 0, 0), 1);
	cr_assert_eq(chosen[0], jobs[0]);
}

Test(preempt_modules, who_is_not_needed_is_let_off)
{
	hold_all();
	make("batch", NULL, NULL);
	/* A whole node: its four, not those that are cheaper elsewhere. */
	tl_mock_at(&mock, jobs[3])->committed_ns -= 250 * TL_NS_PER_S;
	cr_assert_eq(ask_for(4, 0, 0), 4);
	for (uint32_t v = 0; v < 4; v++)
		cr_assert(chosen[v] >= jobs[4] && chosen[v] <= jobs[7]);
}

/* ---- against thrashing ------------------------------------------------------------------ */

Test(preempt_modules, who_has_just_started_is_stopped_last_and_for_services_alone)
{
	static const char *const names[] = {"batch", "progressive", "staged", "surge"};

	hold_all();
	for (uint32_t i = 0; i < ALL; i++)
		tl_mock_at(&mock, jobs[i])->started_ns =
		    mock.now_ns - (START_S + (i == 12 ? 300 : 299)) * TL_NS_PER_S;
	for (size_t n = 0; n < 4; n++) {
		make(names[n], NULL, NULL);
		cr_assert_eq(ask_for(1, 0, 0), 1, "%s", names[n]);
		cr_assert_eq(chosen[0], jobs[12], "%s stops one that has just started", names[n]);
		make(names[n], NULL, NULL);
		cr_assert_eq(ask_for(4, 0, 0), 4, "%s: a service does not wait for it", names[n]);
		make(names[n], NULL, NULL);
		cr_assert_eq(ask_for(4, TL_NO_INDEX, 3600), 0, "%s: others do", names[n]);
		cr_assert_eq(mock.wake_ns, mock.now_ns + TL_NS_PER_S);
		cr_assert_eq(ask_for(1, TL_NO_INDEX, 3600), 1, "%s", names[n]);
		cr_assert_eq(chosen[0], jobs[12]);
	}
}

Test(preempt_modules, min_run_is_an_option)
{
	hold_all();
	make("batch", "min_run", "20min");
	cr_assert_eq(ask_for(1, TL_NO_INDEX, 3600), 0);
	make("batch", "min_run", "10min");
	cr_assert_eq(ask_for(1, TL_NO_INDEX, 3600), 1);
}

Test(preempt_modules, who_was_stopped_too_often_is_left_in_peace)
{
	static const char *const names[] = {"batch", "progressive", "staged", "surge", "priority"};

	hold_all();
	for (uint32_t i = 0; i < ALL; i++)
		tl_mock_at(&mock, jobs[i])->preemptions = i == 7 ? 2 : 3;
	for (size_t n = 0; n < 5; n++) {
		make(names[n], "max_preemptions", "3");
		cr_assert_eq(ask_for(1, 0, 0), 1, "%s", names[n]);
		cr_assert_eq(chosen[0], jobs[7], "%s", names[n]);
		make(names[n], "max_preemptions", "2");
		cr_assert_eq(ask_for(1, 0, 0), 0, "%s", names[n]);
		make(names[n], NULL, NULL);
		cr_assert_eq(ask_for(1, 0, 0), 1, "%s: no bound by default", names[n]);
	}
}

/* ---- when --------------------------------------------------------------------------------- */

Test(preempt_modules, work_of_no_service_waits_first)
{
	static const char *const names[] = {"batch", "progressive", "staged", "surge"};

	hold_all();
	for (size_t n = 0; n < 4; n++) {
		make(names[n], "wait_after", "10min");
		cr_assert_eq(ask_for(1, TL_NO_INDEX, 599), 0, "%s", names[n]);
		cr_assert_eq(mock.wake_ns, mock.now_ns + TL_NS_PER_S, "%s", names[n]);
		cr_assert_eq(ask_for(1, TL_NO_INDEX, 600), 1, "%s", names[n]);
	}
}

/* Several replicas ask at one instant: those that the node being emptied has room for. */
static void check_pace(void)
{
	uint32_t asked = 0;

	while (asked < ALL && ask_for(1, 0, 0) == 1) {
		tl_job_id id = chosen[0];
		struct tl_placement where;

		cr_assert_eq(mock.host.allocation(&mock.host, id, &where), 0);
		cr_assert_eq(where.nodes[0], 0, "the cheapest is on node 0");
		cr_assert_eq(victims.step_ns, 30 * TL_NS_PER_S);
		carry_out();
		asked++;
	}
	cr_assert_eq(asked, GPUS, "a node's victims each step: %u", asked);
	cr_assert_eq(mock.wake_ns, mock.now_ns + 30 * TL_NS_PER_S);
	later(29);
	cr_assert_eq(ask_for(1, 0, 0), 0);
	later(1);
	cr_assert_eq(ask_for(1, 0, 0), 1, "the next node's turn");
}

Test(preempt_modules, progressive_empties_a_node_each_step)
{
	hold_all();
	make("progressive", NULL, NULL);
	check_pace();
}

Test(preempt_modules, progressive_on_several_nodes_takes_as_many_steps)
{
	hold_all();
	make("progressive", NULL, NULL);
	const struct tl_shape gang = {.workers = 2,
	                              .full = {.gpus = GPUS, .share_mgpu = 1000},
	                              .last = {.gpus = GPUS, .share_mgpu = 1000},
	                              .model_mask = UINT64_MAX};
	shapes[2] = tl_mock_shape(&mock, &gang);
	cr_assert_eq(ask_for(2, 0, 0), 2 * GPUS);
	carry_out();
	cr_assert_eq(ask_for(1, 0, 0), 0);
	later(30);
	cr_assert_eq(ask_for(1, 0, 0), 0, "the gang's second node is emptied now");
	later(30);
	cr_assert_eq(ask_for(1, 0, 0), 1);
}

Test(preempt_modules, batch_has_no_pace)
{
	hold_all();
	make("batch", NULL, NULL);
	for (uint32_t i = 0; i < ALL; i++) {
		cr_assert_eq(ask_for(1, 0, 0), 1);
		cr_assert_eq(victims.step_ns, 0);
		carry_out();
	}
}

Test(preempt_modules, staged_by_load_and_breach)
{
	struct tl_service_view *service = &mock.services[0];

	hold_all();
	make("staged", NULL, NULL);
	service->window_end_ns = mock.now_ns;
	service->load_milli = 800;
	cr_assert_eq(ask_for(1, 0, 0), 0, "load is not above 80 %%");
	/* In breach, but not for 30 s yet. */
	service->breach_since_ns = mock.now_ns - 29 * TL_NS_PER_S;
	cr_assert_eq(ask_for(1, 0, 0), 0);
	service->breach_since_ns = mock.now_ns - 30 * TL_NS_PER_S;
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_eq(victims.step_ns, 0, "at once");
	service->breach_since_ns = -1;
	service->load_milli = 801;
	check_pace();
	/* A breach ends the pace. */
	service->window_end_ns = mock.now_ns;
	service->breach_since_ns = mock.now_ns - 30 * TL_NS_PER_S;
	carry_out();
	for (uint32_t i = 0; i < GPUS + 1; i++) {
		cr_assert_eq(ask_for(1, 0, 0), 1);
		carry_out();
	}
}

/* Victims whose turn by steps is yet to come go at once as soon as the breach has lasted. */
Test(preempt_modules, staged_hurries_those_that_stand)
{
	struct tl_service_view *service = &mock.services[0];
	struct tl_job_view job = {.id = 1, .service = 0};
	const int64_t step_ns = 30 * TL_NS_PER_S;

	make("staged", NULL, NULL);
	service->window_end_ns = mock.now_ns;
	cr_assert_eq(ops->pace(self, &job, mock.now_ns, step_ns), step_ns, "no breach");
	service->breach_since_ns = mock.now_ns - 29 * TL_NS_PER_S;
	cr_assert_eq(ops->pace(self, &job, mock.now_ns, step_ns), step_ns, "not for long");
	service->breach_since_ns = mock.now_ns - 30 * TL_NS_PER_S;
	cr_assert_eq(ops->pace(self, &job, mock.now_ns, step_ns), 0);
	job.service = TL_NO_INDEX;
	cr_assert_eq(ops->pace(self, &job, mock.now_ns, step_ns), step_ns, "serves nobody");
	make("progressive", NULL, NULL);
	cr_assert_null(ops->pace, "progressive never hurries");
}

static void tell_window(const struct tl_module *module, int64_t arrivals)
{
	struct tl_service_view view = mock.services[0];

	later(5);
	view.window_end_ns = mock.now_ns;
	view.window_start_ns = mock.now_ns - 5 * TL_NS_PER_S;
	view.arrivals = arrivals;
	module->observer->window_closed(self, 0, &view);
}

/* Growth: the last window over the mean of the five minutes before it. */
Test(preempt_modules, surge_by_growth)
{
	size_t count;
	const struct tl_suite_module *modules = tl_suite_modules(&count);
	const struct tl_module *module = NULL;

	hold_all();
	make("surge", NULL, NULL);
	for (size_t m = 0; m < count; m++)
		if (strcmp(modules[m].name, "surge") == 0)
			module = modules[m].module;
	for (int i = 0; i < 60; i++)
		tell_window(module, 2000);
	/* What is older than five minutes does not count. */
	for (int i = 0; i < 60; i++)
		tell_window(module, 1000);
	tell_window(module, 1199);
	cr_assert_eq(ask_for(1, 0, 0), 1);
	cr_assert_gt(victims.step_ns, 0, "below 20 %%: step by step");
	cr_assert_eq(ops->pace(self, &(struct tl_job_view){.service = 0}, mock.now_ns, 7), 7);
	make("surge", NULL, NULL);
	for (int i = 0; i < 60; i++)
		tell_window(module, 1000);
	tell_window(module, 1200);
	cr_assert_eq(ops->pace(self, &(struct tl_job_view){.service = 0}, mock.now_ns, 7), 0);
	cr_assert_eq(ops->pace(self, &(struct tl_job_view){.service = TL_NO_INDEX}, mock.now_ns, 7),
	             7);
	for (uint32_t i = 0; i < GPUS + 2; i++) {
		cr_assert_eq(ask_for(1, 0, 0), 1);
		cr_assert_eq(victims.step_ns, 0, "from 20 %% on: at once");
		carry_out();
	}
}
