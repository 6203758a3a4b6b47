/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The summary's values, each worked out by hand. */
#include "sim/account/account.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#define S TL_NS_PER_S

/* Two nodes of four GPUs, and one without any. */
static struct tl_node_view nodes[3];
static struct tl_gpu_view gpus[8];
static struct tl_cluster cluster;
static struct tl_account *account;
static const struct tl_run_counts no_counts;

static void make_account(uint32_t tables)
{
	struct tl_account_config config = {
	    .tables = tables, .cluster = &cluster, .prices = {25000000, "CNY"}};
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_account_create(&config, &account, &error), TL_OK, "%s", error.message);
}

static void setup(void)
{
	memset(nodes, 0, sizeof nodes);
	memset(gpus, 0, sizeof gpus);
	for (uint32_t i = 0; i < 2; i++) {
		nodes[i].first_gpu = 4 * i;
		nodes[i].gpu_count = 4;
	}
	cluster = (struct tl_cluster){.nodes = nodes, .gpus = gpus};
	cluster.view = (struct tl_view){.nodes = nodes,
	                                .gpus = gpus,
	                                .node_stride = sizeof nodes[0],
	                                .gpu_stride = sizeof gpus[0],
	                                .node_count = 3,
	                                .gpu_count = 8,
	                                .free_gpus = 8,
	                                .capacity_mgpu = 8000};
	make_account(TL_TABLE_JOBS);
}

static void teardown(void)
{
	tl_account_destroy(account);
}

TestSuite(account, .init = setup, .fini = teardown);

static void finish(int64_t end_ns, const struct tl_run_counts *counts)
{
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_account_finish(account, end_ns, counts, &error), TL_OK, "%s",
	             error.message);
}

static const struct tl_row_summary *find(const char *metric)
{
	size_t count;
	const struct tl_row_summary *rows = tl_account_summary(account, &count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].metric, metric) == 0)
			return &rows[i];
	return NULL;
}

static void expect(const char *metric, double want)
{
	const struct tl_row_summary *row = find(metric);

	cr_assert_not_null(row, "%s is missing", metric);
	if (isnan(want))
		cr_assert(isnan(row->value), "%s: got %.17g, wanted NaN", metric, row->value);
	else
		cr_assert(fabs(row->value - want) <= 1e-12 * fmax(1, fabs(want)),
		          "%s: got %.17g, wanted %.17g", metric, row->value, want);
}

/* submit, first start, end, running (s); the rest of the time to `other`. */
static struct tl_job_account make_job(uint64_t row, int64_t submit, int64_t start, int64_t end,
                                      int64_t run, enum tl_job_state state, enum tl_reason reason)
{
	struct tl_job_account job = {.id = "job",
	                             .row = row,
	                             .submit_ns = submit * S,
	                             .first_start_ns = start < 0 ? -1 : start * S,
	                             .end_ns = end < 0 ? -1 : end * S,
	                             .state = (uint8_t)state,
	                             .reason = (uint8_t)reason,
	                             .gpus_mgpu = 1000,
	                             .estimate_ns = -1,
	                             .deadline_ns = -1,
	                             .workers = 1};

	job.in_state_ns[TL_JOB_RUNNING] = run * S;
	if (start >= 0)
		job.in_state_ns[TL_JOB_PENDING] = (start - submit) * S;
	return job;
}

static void tell_five_jobs(void)
{
	struct tl_job_account job;

	/* waits 10 s, JCT 110 s, slowdown 1.1 */
	job = make_job(0, 0, 10, 110, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	job.held_mgpu_ns = job.productive_mgpu_ns = (tl_i128)1000 * 100 * S;
	tl_account_job(account, &job);
	/* no wait, JCT 20 s; a run of 4 s counts as 10: slowdown 2 */
	job = make_job(1, 10, 10, 30, 4, TL_JOB_FAILED, TL_REASON_USER_FAILURE);
	job.tenant = 2;
	job.held_mgpu_ns = (tl_i128)1000 * 20 * S;
	job.productive_mgpu_ns = (tl_i128)1000 * 4 * S;
	tl_account_job(account, &job);
	/* waits 20 s, later 80 s suspended; JCT 200 s over a run of 100: slowdown 2 */
	job = make_job(2, 20, 40, 220, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	job.in_state_ns[TL_JOB_SUSPENDED] = 80 * S;
	job.gpus_mgpu = 4000;
	job.preemptions = 1;
	job.restarts = 2;
	job.lost_work_ns = 5 * S;
	job.held_mgpu_ns = (tl_i128)4000 * 100 * S;
	job.productive_mgpu_ns = (tl_i128)4000 * 95 * S;
	tl_account_job(account, &job);
	/* at the horizon still running: its wait of 10 s counts, no JCT */
	job = make_job(4, 50, 60, -1, 170, TL_JOB_RUNNING, TL_REASON_HORIZON);
	job.held_mgpu_ns = job.productive_mgpu_ns = (tl_i128)1000 * 170 * S;
	tl_account_job(account, &job);
	/* rejected: neither */
	job = make_job(3, 5, -1, 5, 0, TL_JOB_FAILED, TL_REASON_REJECTED);
	tl_account_job(account, &job);
}

Test(account, job_metrics_by_hand)
{
	tell_five_jobs();
	finish(0, &no_counts);
	expect("jobs", 5);
	expect("completed", 2);
	expect("failed", 1);
	expect("rejected", 1);
	expect("censored", 1);
	expect("cancelled", 0);
	expect("makespan_s", 220);
	expect("wait_mean_s", 10);
	expect("wait_p50_s", 10);
	expect("wait_p90_s", 17); /* of 0 10 10 20: position 2.7 */
	expect("wait_p99_s", 19.7);
	expect("jct_mean_s", 110);
	expect("jct_p50_s", 110);
	expect("jct_p90_s", 182);
	expect("bounded_slowdown_mean", (1.1 + 2 + 2) / 3);
	expect("requeue_mean_s", 20);
	expect("jain_slowdown", 5.1 * 5.1 / (3 * (1.21 + 4 + 4)));
	/* tenants 0 and 2 held 670 and 20 GPU-seconds; tenant 1 has no job */
	expect("jain_tenant_gpu_time", 690.0 * 690 / (2 * (670.0 * 670 + 400)));
	/* (100 + 4 + 4 × 95) / (110 + 20 + 4 × 200) */
	expect("ettr", 484.0 / 930);
	expect("restarts", 2);
	expect("lost_work_gpu_s", 20);
}

Test(account, deadlines_are_judged)
{
	/* end, deadline (s), state, reason; the run ends at 500 s */
	static const struct {
		int64_t end, deadline;
		enum tl_job_state state;
		enum tl_reason reason;
	} jobs[] = {
	    {100, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE},       /* met, to the nanosecond */
	    {50, 400, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE},        /* met */
	    {90, 80, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE},         /* 10 s late */
	    {450, 420, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE},       /* 30 s late */
	    {-1, 490, TL_JOB_RUNNING, TL_REASON_HORIZON},           /* never */
	    {-1, 501, TL_JOB_RUNNING, TL_REASON_HORIZON},           /* open */
	    {60, 400, TL_JOB_FAILED, TL_REASON_RESTARTS_EXHAUSTED}, /* never */
	    {60, 400, TL_JOB_FAILED, TL_REASON_USER_FAILURE},       /* not judged */
	    {60, 40, TL_JOB_FAILED, TL_REASON_CANCELLED},           /* not judged */
	    {60, -1, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE},         /* none */
	    {-1, 600, TL_JOB_PENDING, TL_REASON_UNSUBMITTED},       /* not judged */
	};
	struct tl_levels levels = {.capacity_mgpu = 4000};

	tl_account_levels(account, 500 * S, &levels);
	for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
		struct tl_job_account job =
		    make_job(i, 0, 10, jobs[i].end, 10, jobs[i].state, jobs[i].reason);
		job.deadline_ns = jobs[i].deadline < 0 ? -1 : jobs[i].deadline * S;
		tl_account_job(account, &job);
	}
	finish(500 * S, &no_counts);
	expect("deadline_jobs", 6);
	expect("deadline_met", 2);
	expect("deadline_missed", 4);
	expect("deadline_open", 1);
	expect("deadline_met_ratio", 2.0 / 6);
	expect("deadline_lateness_mean_s", 20);
	expect("deadline_lateness_max_s", 30);
}

Test(account, no_deadline_no_row)
{
	tell_five_jobs();
	finish(0, &no_counts);
	cr_assert_null(find("deadline_jobs"));
}

/* Two pools and one between them, on walls of 4 and 2 GPUs and 2 of none; a service in b. */
static void tell_pooled_jobs(bool walls, bool all_end)
{
	static const char *const names[] = {"a", "b", "a|b"};
	static const bool serves[] = {false, true, false, false};
	static struct tl_gpu_model models[] = {
	    {.name = "M", .pool = "a"}, {.name = "M", .pool = "b"}, {.name = "M"}};
	static struct tl_node_spec specs[] = {
	    {.gpus = 4, .model = 0}, {.gpus = 2, .model = 1}, {.gpus = 2, .model = 2}};
	static struct tl_cluster_spec spec = {
	    .models = models, .model_count = 3, .nodes = specs, .node_count = 3};
	struct tl_intern pools;
	struct tl_job_account job;

	tl_account_destroy(account);
	tl_intern_init(&pools);
	for (size_t i = 0; i < 3; i++)
		tl_intern_put(&pools, names[i]);
	models[0].pool[0] = walls ? 'a' : '\0';
	models[1].pool[0] = walls ? 'b' : '\0';
	cluster.spec = &spec;
	const struct tl_account_config config = {.cluster = &cluster,
	                                         .pools = &pools,
	                                         .pool_serves = serves,
	                                         .prices = {2000000, "CNY"}};
	cr_assert_eq(tl_account_create(&config, &account, NULL), TL_OK);
	/* a: ends at 7,200 s and 3,600 s; b: at 1,800 s; either: at 10,800 s */
	job = make_job(0, 0, 600, 7200, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	job.held_mgpu_ns = (tl_i128)1000 * 6600 * S;
	tl_account_job(account, &job);
	job = make_job(1, 600, 1600, 3600, 100, TL_JOB_FAILED, TL_REASON_USER_FAILURE);
	tl_account_job(account, &job);
	job = make_job(2, 0, 0, 1800, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	job.pool = 1;
	tl_account_job(account, &job);
	job = make_job(3, 0, 0, all_end ? 10800 : -1, 100,
	               all_end ? TL_JOB_SUCCEEDED : TL_JOB_RUNNING,
	               all_end ? TL_REASON_COMPLETE : TL_REASON_HORIZON);
	job.pool = 2;
	tl_account_job(account, &job);
	/* of no pool */
	job = make_job(4, 0, 0, 5400, 100, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	job.pool = TL_NO_INDEX;
	tl_account_job(account, &job);
	finish(0, &no_counts);
	tl_intern_fini(&pools);
}

Test(account, pools_are_held_until_their_work_is_done)
{
	tell_pooled_jobs(true, true);
	expect("pool.a.jobs", 2);
	expect("pool.a.unfinished", 0);
	expect("pool.a.wait_mean_s", 800);
	expect("pool.a.jct_mean_s", (7200 + 3000) / 2.0);
	expect("pool.a.gpu_h", 6600.0 / 3600);
	expect("pool.a.done_s", 7200);
	expect("pool.b.done_s", 1800);
	expect("pool.a|b.jct_mean_s", 10800);
	/* a waits for what may be there, b and the bare nodes' last jobs; services keep b on */
	expect("until_done_gpu_h", (4 * 10800 + 2 * 10800 + 2 * 5400) / 3600.0);
	expect("until_done_cost", 2.0 * (4 * 10800 + 2 * 10800 + 2 * 5400) / 3600);
}

Test(account, without_walls_all_is_held_until_all_is_done)
{
	tell_pooled_jobs(false, true);
	expect("pool.a.done_s", 7200);
	expect("until_done_gpu_h", 8 * 3.0);
	expect("until_done_cost", 48);
}

Test(account, work_that_is_not_done_has_no_price)
{
	tell_pooled_jobs(true, false);
	expect("pool.a|b.unfinished", 1);
	expect("pool.a|b.done_s", (double)NAN);
	expect("until_done_gpu_h", (double)NAN);
	expect("until_done_cost", (double)NAN);
}

Test(account, fates_add_up)
{
	static const enum tl_reason reasons[] = {
	    TL_REASON_USER_FAILURE, TL_REASON_CANCELLED, TL_REASON_REJECTED,
	    TL_REASON_INFEASIBLE,   TL_REASON_NO_ROOM,   TL_REASON_ESTIMATE_EXCEEDED,
	    TL_REASON_KILLED,       TL_REASON_DROPPED,   TL_REASON_RESTARTS_EXHAUSTED};
	struct tl_job_account job;

	for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
		job = make_job(i, 0, 0, 10 + (int64_t)i, 10, TL_JOB_FAILED, reasons[i]);
		tl_account_job(account, &job);
	}
	job = make_job(20, 0, -1, -1, 0, TL_JOB_PENDING, TL_REASON_HORIZON);
	tl_account_job(account, &job);
	finish(0, &no_counts);
	expect("jobs", 10);
	expect("completed", 0);
	expect("failed", 4);
	expect("cancelled", 1);
	expect("rejected", 1);
	expect("infeasible", 1);
	expect("dropped", 2);
	expect("censored", 1);
	/* Only the failure and the cancellation ran to an end of their own. */
	expect("jct_mean_s", 10.5);
	expect("jain_slowdown", 2.1 * 2.1 / (2 * (1 + 1.21)));
}

Test(account, nothing_has_no_mean)
{
	finish(0, &no_counts);
	expect("jobs", 0);
	expect("makespan_s", (double)NAN);
	expect("wait_mean_s", (double)NAN);
	expect("jct_p99_s", (double)NAN);
	expect("bounded_slowdown_mean", (double)NAN);
	expect("jain_slowdown", (double)NAN);
	expect("jain_tenant_gpu_time", (double)NAN);
	expect("allocation_ratio", (double)NAN);
	expect("gfr", (double)NAN);
	cr_assert_null(find("packing_allocated_at_100"));
}

Test(account, cluster_metrics_by_hand)
{
	struct tl_ledger *ledger = tl_account_ledger(account);
	uint32_t who = tl_ledger_account(ledger, 0, 0, 0, 0);
	struct tl_levels levels = {.capacity_mgpu = 8000};

	/* 0–10 s idle; 10–30 s 4 GPUs held at half speed; 30–40 s one node down */
	levels.allocated_mgpu = 4000;
	levels.nominal_mgpu = 6000;
	levels.productive_mgpu = 2000;
	levels.partial_nodes = 1;
	levels.waiting_jobs = 1;
	levels.reserved_mgpu = 1000;
	tl_account_levels(account, 10 * S, &levels);
	levels = (struct tl_levels){.capacity_mgpu = 8000, .down_mgpu = 4000};
	tl_account_levels(account, 30 * S, &levels);
	tl_ledger_add(ledger, who, TL_PURPOSE_PRODUCTIVE, (tl_i128)2000 * 20 * S);
	tl_ledger_add(ledger, who, TL_PURPOSE_COMMUNICATION, (tl_i128)2000 * 20 * S);
	tl_ledger_move(ledger, who, TL_PURPOSE_PRODUCTIVE, TL_PURPOSE_REWORK,
	               (tl_i128)1000 * 8 * S);
	finish(40 * S, &no_counts);
	expect("elapsed_s", 40);
	expect("allocation_ratio", 80.0 / 320);
	expect("nominal_ratio", 120.0 / 320);
	expect("goodput", 32.0 / 80);
	expect("effective_utilisation", 32.0 / 320);
	expect("progress_ratio", 40.0 / 320);
	expect("down_ratio", 40.0 / 320);
	expect("partial_nodes_mean", 0.5);
	expect("gfr", 0.25); /* of the two nodes that have GPUs */
	expect("gpu_h_productive", 32.0 / 3600);
	expect("gpu_h_communication", 40.0 / 3600);
	expect("gpu_h_rework", 8.0 / 3600);
	expect("gpu_h_idle_reserved", 20.0 / 3600);
	expect("gpu_h_idle_fragmented", 60.0 / 3600);
	expect("gpu_h_idle_free", (80.0 + 40.0) / 3600);
	expect("gpu_h_down", 40.0 / 3600);
}

Test(account, a_sum_that_does_not_close_trips, .signal = SIGABRT)
{
	struct tl_levels levels = {.capacity_mgpu = 8000, .allocated_mgpu = 1};
	struct tl_error error = TL_ERROR_INIT;

	/* One milli-GPU held for one nanosecond, and nobody says what for. */
	tl_account_levels(account, 1, &levels);
	tl_account_levels(account, 2, &(struct tl_levels){.capacity_mgpu = 8000});
	(void)tl_account_finish(account, 40 * S, &no_counts, &error);
}

Test(account, time_running_backwards_trips, .signal = SIGABRT)
{
	struct tl_levels levels = {.capacity_mgpu = 8000};

	tl_account_levels(account, 10, &levels);
	tl_account_levels(account, 9, &levels);
}

Test(account, an_end_without_a_final_state_trips, .signal = SIGABRT)
{
	struct tl_job_account job = make_job(0, 0, 0, 10, 10, TL_JOB_RUNNING, TL_REASON_COMPLETE);

	tl_account_job(account, &job);
}

Test(account, counters_and_refusals)
{
	struct tl_run_counts counts = {.events = 11,
	                               .rounds = 7,
	                               .decisions = 5,
	                               .preemptions = 3,
	                               .node_failures = 2,
	                               .oracle_used = true};

	counts.refused[TL_ACCEPTED] = 99; /* no refusal */
	counts.refused[TL_REFUSED_STALE_JOB] = 1;
	counts.refused[TL_REFUSED_ARGUMENT] = 4;
	finish(0, &counts);
	expect("events", 11);
	expect("schedule_calls", 7);
	expect("decisions", 5);
	expect("decisions_refused", 5);
	expect("refused_stale_job", 1);
	expect("refused_argument", 4);
	cr_assert_null(find("refused_cpu"));
	cr_assert_null(find("refused_accepted"));
	expect("preemptions", 3);
	expect("node_failures", 2);
	expect("oracle_used", 1);
	expect("estimates_oracle", 0);
	for (int i = 0; i < TL_REFUSAL_COUNT; i++)
		cr_assert_not_null(tl_refusal_names[i]);
}

/* A month of 8 GPUs at 25 is 144,000. */
Test(account, capacity_is_paid_for_whatever_it_does)
{
	const int64_t day = TL_NS_PER_DAY, month = 30 * day;
	struct tl_levels levels = {.capacity_mgpu = 8000, .down_mgpu = 4000};
	struct tl_job_account job =
	    make_job(0, 0, 0, day / S, day / S, TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);
	const struct tl_run_counts counts = {
	    .preemptions = 60, .unsaved = 2, .unsaved_mgpu_ns = (tl_i128)3000 * S};

	tl_account_levels(account, 10 * day, &levels);
	job.gpus_mgpu = 4000;
	job.done_ns = 15 * day;
	job.preemptions = 7;
	tl_account_job(account, &job);
	tl_account_service(account,
	                   &(struct tl_service_account){.useful_mgpu_ns = (tl_i128)2000 * 10 * day,
	                                                .penalty_micros = 2500000});
	tl_account_service(account, &(struct tl_service_account){.penalty_micros = 500000});
	finish(month, &counts);
	expect("cost", 144000);
	expect("penalty", 3);
	expect("cost_total", 144003);
	expect("useful_gpu_h", (60 + 20) * 24);
	expect("cost_per_useful_gpu_h", 144000.0 / 1920);
	expect("cost_total_per_useful_gpu_h", 144003.0 / 1920);
	cr_assert_str_eq(find("cost")->unit, "CNY");
	cr_assert_str_eq(find("cost_per_useful_gpu_h")->unit, "CNY/gpu.h");
	expect("preemptions_per_day", 2);
	expect("preemptions_max", 7);
	expect("preemptions_unsaved", 2);
	expect("preemptions_lost_gpu_s", 3);
}

Test(account, nothing_useful_has_no_price)
{
	finish(S, &no_counts);
	expect("cost", 8 * 25 / 3600.0);
	expect("useful_gpu_h", 0);
	expect("cost_per_useful_gpu_h", (double)NAN);
	expect("cost_total_per_useful_gpu_h", (double)NAN);
}

Test(account, packing_is_read_at_the_arrival_that_crosses)
{
	/* capacity 8000: 0.90 at 7200, 1.00 at 8000, 1.30 at 10400 asked for */
	tl_account_packing(account, 7000, true, 7000, 100);
	tl_account_packing(account, 200, true, 7200, 200); /* 0.90 exactly */
	tl_account_packing(account, 700, true, 7900, 300);
	tl_account_packing(account, 200, false, 7900, 400); /* past 1.00 */
	tl_account_packing(account, 100, true, 8000, 500);
	tl_account_packing(account, 2199, false, 8000, 600); /* 10,399: not yet */
	finish(0, &no_counts);
	expect("packing_frag_at_90", 0.025);
	expect("packing_allocated_at_100", 7900.0 / 8000);
	expect("packing_allocated_at_130", (double)NAN);
	expect("packing_placed", 4.0 / 6);
}

Test(account, fragmentation_not_computed_is_no_value)
{
	tl_account_packing(account, 8000, true, 8000, -1);
	finish(0, &no_counts);
	expect("packing_frag_at_90", (double)NAN);
	expect("packing_allocated_at_100", 1);
}

Test(account, without_jobs_quantiles_stay_within_the_stated_error)
{
	static const char *const metrics[] = {"jct_p50_s", "jct_p90_s", "jct_p99_s", "jct_mean_s"};
	double exact[4];

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < 2000; i++) {
			struct tl_job_account job =
			    make_job(i, 0, 0, (int64_t)(i * i * 7919 % 1000003 + 1), 1,
			             TL_JOB_SUCCEEDED, TL_REASON_COMPLETE);

			tl_account_job(account, &job);
		}
		finish(0, &no_counts);
		for (int m = 0; m < 4; m++) {
			double value = find(metrics[m])->value;

			if (round == 0)
				exact[m] = value;
			else if (m == 3)
				cr_assert_eq(value, exact[m]);
			else
				cr_assert(fabs(value - exact[m]) <= exact[m] / 4096);
		}
		if (round == 0) {
			tl_account_destroy(account);
			make_account(0);
		}
	}
}
