/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the books put into the result file, read back. */
#include "sim/account/account.h"
#include "sim/account/books.h"
#include "sim/config/scenario.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S TL_NS_PER_S
#define TL_TABLES_ALL (TL_TABLES_DEFAULT | TL_TABLE_PLACEMENTS | TL_TABLE_DECISIONS)

static char folder[] = "/tmp/tidelab-account-XXXXXX";
static char path[sizeof folder + 16];
static struct tl_node_view nodes[2];
static struct tl_gpu_view gpus[4];
static struct tl_gpu_model model = {.name = "A100-SXM4-80GB"};
static struct tl_node_spec node_specs[2] = {{.name = "left"}, {.name = "right"}};
static const struct tl_cluster_spec spec = {
    .models = &model, .model_count = 1, .nodes = node_specs, .node_count = 2};
static struct tl_cluster cluster;
static struct tl_intern tenants, queues;
static struct tl_results *results;
static struct tl_results_reader *reader;
static struct tl_account *account;

static void make(uint32_t tables)
{
	static const char *const models[] = {"A100-SXM4-80GB"};
	struct tl_error error = TL_ERROR_INIT;
	struct tl_account_config config = {.tables = tables,
	                                   .cluster = &cluster,
	                                   .tenants = &tenants,
	                                   .queues = &queues,
	                                   .model_names = models};

	cr_assert_eq(tl_results_create(path, &results, &error), TL_OK, "%s", error.message);
	config.results = results;
	cr_assert_eq(tl_account_create(&config, &account, &error), TL_OK, "%s", error.message);
}

static void setup(void)
{
	cr_assert_not_null(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/r.h5", folder);
	for (uint32_t i = 0; i < 2; i++)
		nodes[i] = (struct tl_node_view){.first_gpu = 2 * i,
		                                 .gpu_count = 2,
		                                 .rack = i,
		                                 .leaf = 3,
		                                 .pod = 4,
		                                 .total_cpu_milli = 128000,
		                                 .total_ram_bytes = TL_GIB};
	cluster = (struct tl_cluster){.nodes = nodes, .gpus = gpus, .spec = &spec};
	cluster.view = (struct tl_view){.nodes = nodes,
	                                .gpus = gpus,
	                                .node_stride = sizeof nodes[0],
	                                .gpu_stride = sizeof gpus[0],
	                                .node_count = 2,
	                                .gpu_count = 4,
	                                .capacity_mgpu = 4000};
	tl_intern_init(&tenants);
	tl_intern_init(&queues);
	(void)tl_intern_put(&tenants, "moba");
	(void)tl_intern_put(&tenants, "shooter");
	(void)tl_intern_put(&queues, "normal");
}

static void teardown(void)
{
	tl_results_reader_close(reader);
	tl_account_destroy(account);
	tl_intern_fini(&tenants);
	tl_intern_fini(&queues);
	(void)unlink(path);
	(void)rmdir(folder);
}

TestSuite(account_tables, .init = setup, .fini = teardown);

static void finish(int64_t end_ns)
{
	const struct tl_run_counts counts = {0};
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_account_finish(account, end_ns, &counts, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(tl_results_close(results, &error), TL_OK, "%s", error.message);
	cr_assert_eq(tl_results_open(path, &reader, &error), TL_OK, "%s", error.message);
}

static void *rows_of(const struct tl_table_schema *schema, size_t want)
{
	struct tl_error error = TL_ERROR_INIT;
	void *rows = NULL;
	size_t count = 0;

	cr_assert_eq(tl_results_read(reader, schema, &rows, &count, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(count, want, "%s: got %zu rows, wanted %zu", schema->path, count, want);
	return rows;
}

static struct tl_job_account make_job(uint64_t row, const char *id)
{
	struct tl_job_account job = {.id = id,
	                             .row = row,
	                             .state = TL_JOB_SUCCEEDED,
	                             .reason = TL_REASON_COMPLETE,
	                             .submit_ns = 5 * S,
	                             .first_start_ns = 10 * S,
	                             .end_ns = 100 * S,
	                             .gpus_mgpu = 2000,
	                             .estimate_ns = -1,
	                             .deadline_ns = -1,
	                             .workers = 1,
	                             .node = 1};

	job.in_state_ns[TL_JOB_PENDING] = 5 * S;
	job.in_state_ns[TL_JOB_SCHEDULED] = 30 * S;
	job.in_state_ns[TL_JOB_RUNNING] = 60 * S;
	job.work_ns = 30 * S;
	job.held_mgpu_ns = (tl_i128)2000 * 90 * S;
	job.productive_mgpu_ns = (tl_i128)2000 * 30 * S;
	return job;
}

Test(account_tables, jobs_in_input_order)
{
	struct tl_job_account job;
	struct tl_row_job *rows;
	char id[32];

	make(TL_TABLE_JOBS);
	/* 5,003 is prime and 1,237 is coprime to it: every row once, in a wild order. */
	for (uint64_t i = 0; i < 5003; i++) {
		uint64_t row = i * 1237 % 5003;

		(void)snprintf(id, sizeof id, "job-%llu", (unsigned long long)row);
		job = make_job(row, id);
		job.preemptions = row % 3 == 0 ? (uint32_t)row : 0;
		tl_account_job(account, &job);
	}
	finish(0);
	rows = rows_of(&tl_schema_jobs, 5003);
	for (uint64_t row = 0; row < 5003; row++) {
		(void)snprintf(id, sizeof id, "job-%llu", (unsigned long long)row);
		cr_assert_str_eq(rows[row].id, id);
		cr_assert_eq(rows[row].preemptions, row % 3 == 0 ? row : 0);
	}
	free(rows);
}

Test(account_tables, a_job_s_row_by_hand)
{
	struct tl_job_account job;
	struct tl_row_job *rows;

	make(TL_TABLE_JOBS);
	job = make_job(0, "plain");
	tl_account_job(account, &job);
	job = make_job(1, "stopped");
	job.tenant = 1;
	job.kind = TL_JOB_EVALUATION;
	job.state = TL_JOB_FAILED;
	job.reason = TL_REASON_KILLED;
	job.end_ns = 200 * S;
	job.estimate_ns = 7;
	job.in_state_ns[TL_JOB_PENDING] += 3 * S;
	job.in_state_ns[TL_JOB_SUSPENDING] = 1 * S;
	job.in_state_ns[TL_JOB_SUSPENDED] = 90 * S;
	job.in_state_ns[TL_JOB_RESUMING] = 6 * S;
	job.lost_work_ns = 15 * S;
	job.restarts = 2;
	tl_account_job(account, &job);
	job = make_job(2, "never");
	job.state = TL_JOB_PENDING;
	job.reason = TL_REASON_HORIZON;
	job.first_start_ns = job.end_ns = -1;
	job.node = TL_ROW_NO_NODE;
	memset(job.in_state_ns, 0, sizeof job.in_state_ns);
	job.in_state_ns[TL_JOB_PENDING] = 100 * S;
	job.held_mgpu_ns = job.productive_mgpu_ns = 0;
	tl_account_job(account, &job);
	job = make_job(3, "late");
	job.deadline_ns = 98 * S;
	tl_account_job(account, &job);
	job = make_job(4, "in time");
	job.deadline_ns = 100 * S;
	tl_account_job(account, &job);
	finish(0);
	rows = rows_of(&tl_schema_jobs, 5);

	cr_assert_str_eq(rows[0].tenant, "moba");
	cr_assert_str_eq(rows[0].queue, "normal");
	cr_assert_str_eq(rows[0].kind, "training");
	cr_assert_str_eq(rows[0].state, "succeeded");
	cr_assert_str_eq(rows[0].reason, "complete");
	cr_assert_eq(rows[0].wait_ns, 5 * S);
	cr_assert_eq(rows[0].jct_ns, 95 * S);
	cr_assert_eq(rows[0].run_ns, 60 * S);
	cr_assert_eq(rows[0].starting_ns, 30 * S);
	cr_assert_eq(rows[0].requeue_ns, 0);
	cr_assert_eq(rows[0].gpus_milli, 2000);
	cr_assert_eq(rows[0].bounded_slowdown, 95.0 / 60);
	cr_assert_eq(rows[0].held_gpu_s, 180);
	cr_assert_eq(rows[0].productive_gpu_s, 60);
	cr_assert_eq(rows[0].speed_mean, 0.5);
	cr_assert_eq(rows[0].node, 1);

	cr_assert_str_eq(rows[1].tenant, "shooter");
	cr_assert_str_eq(rows[1].kind, "evaluation");
	cr_assert_str_eq(rows[1].state, "failed");
	cr_assert_str_eq(rows[1].reason, "killed");
	cr_assert_eq(rows[1].requeue_ns, 93 * S);
	cr_assert_eq(rows[1].suspending_ns, 1 * S);
	cr_assert_eq(rows[1].suspended_ns, 90 * S);
	cr_assert_eq(rows[1].resuming_ns, 6 * S);
	cr_assert_eq(rows[1].lost_work_ns, 15 * S);
	cr_assert_eq(rows[1].restarts, 2);
	cr_assert_eq(rows[1].estimate_ns, 7);
	cr_assert_eq(rows[1].speed_mean, 0.75); /* (30 + 15) / 60 */

	cr_assert_eq(rows[2].wait_ns, -1);
	cr_assert_eq(rows[2].jct_ns, -1);
	cr_assert_eq(rows[2].end_ns, -1);
	cr_assert(isnan(rows[2].bounded_slowdown));
	cr_assert(isnan(rows[2].speed_mean));
	cr_assert_eq(rows[2].node, TL_ROW_NO_NODE);

	cr_assert_eq(rows[0].deadline_ns, -1);
	cr_assert_eq(rows[0].late_ns, -1);
	cr_assert_eq(rows[3].deadline_ns, 98 * S);
	cr_assert_eq(rows[3].late_ns, 2 * S);
	cr_assert_eq(rows[4].late_ns, 0);
	free(rows);
}

Test(account_tables, a_row_told_twice_trips, .signal = SIGABRT)
{
	struct tl_job_account job;

	make(TL_TABLE_JOBS);
	job = make_job(3, "twice");
	tl_account_job(account, &job);
	tl_account_job(account, &job);
	/* The abort below leaves no time to tidy up. */
	(void)unlink(path);
	(void)rmdir(folder);
	finish(0);
}

Test(account_tables, a_plain_job_costs_at_most_150_bytes_and_its_id)
{
	struct tl_jobs_book book;
	struct tl_job_account job = make_job(0, "0123456789");

	tl_jobs_book_init(&book);
	for (uint64_t i = 0; i < 100000; i++) {
		job.row = i;
		tl_jobs_book_add(&book, &job);
	}
	/* two distributions keep 8 bytes of it besides */
	cr_assert_leq(tl_jobs_book_bytes(&book) / 100000 + 16, 150 + strlen(job.id) + 1);
	tl_jobs_book_fini(&book);
}

/* Resident pages of this process. */
static long resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	long size = 0, pages = 0;

	if (!file)
		return -1;
	if (fscanf(file, "%ld %ld", &size, &pages) != 2)
		pages = -1;
	(void)fclose(file);
	return pages;
}

Test(account_tables, without_jobs_a_million_jobs_leave_nothing_behind)
{
	struct tl_job_account job = make_job(0, "gone");
	long before = -1, after;

	make(TL_TABLES_DEFAULT & ~(uint32_t)TL_TABLE_JOBS);
	for (uint64_t i = 0; i < 1001000; i++) {
		if (i == 1000)
			before = resident();
		job.row = i;
		tl_account_job(account, &job);
	}
	after = resident();
	if (before < 0 || after < 0)
		cr_skip_test("no /proc/self/statm here");
	cr_assert_lt((after - before) * sysconf(_SC_PAGESIZE), 1000 * 1000); /* a byte a job */
	finish(0);
	cr_assert_not(tl_results_has(reader, "/jobs"));
}

Test(account_tables, nodes_by_hand)
{
	struct tl_row_node *rows;

	make(TL_TABLE_NODES);
	/* left: 1.5 GPUs held 10–30 s, a GPU shared beyond 1 as one; right: down 20–50 s */
	gpus[0].nominal_mgpu = 1300;
	gpus[1].nominal_mgpu = 500;
	tl_account_node(account, 10 * S, 0);
	nodes[1].state = TL_NODE_DOWN;
	tl_account_node(account, 20 * S, 1);
	/* cordoned, it still holds what it holds */
	nodes[0].state = TL_NODE_CORDONED;
	tl_account_node(account, 25 * S, 0);
	gpus[0].nominal_mgpu = gpus[1].nominal_mgpu = 0;
	tl_account_node(account, 30 * S, 0);
	nodes[1].state = TL_NODE_UP;
	tl_account_node(account, 50 * S, 1);
	nodes[1].state = TL_NODE_DOWN;
	tl_account_node(account, 90 * S, 1);
	tl_account_placement(account, 0, 0, 1000, 10 * S, 30 * S, TL_REASON_COMPLETE);
	tl_account_placement(account, 1, 0, 500, 10 * S, 30 * S, TL_REASON_COMPLETE);
	tl_account_levels(account, 0, &(struct tl_levels){.capacity_mgpu = 4000});
	finish(100 * S);
	rows = rows_of(&tl_schema_nodes, 2);
	cr_assert_str_eq(rows[0].name, "left");
	cr_assert_str_eq(rows[0].model, "A100-SXM4-80GB");
	cr_assert_eq(rows[0].allocated_gpu_s, 30);
	cr_assert_eq(rows[0].down_gpu_s, 0);
	cr_assert_eq(rows[0].idle_gpu_s, 170);
	cr_assert_eq(rows[0].jobs_started, 2);
	cr_assert_eq(rows[0].gpus, 2);
	cr_assert_eq(rows[0].cpus_milli, 128000);
	cr_assert_str_eq(rows[1].name, "right");
	cr_assert_eq(rows[1].allocated_gpu_s, 0);
	cr_assert_eq(rows[1].down_gpu_s, 80);
	cr_assert_eq(rows[1].idle_gpu_s, 120);
	cr_assert_eq(rows[1].failures, 2);
	cr_assert_eq(rows[1].rack, 1);
	cr_assert_eq(rows[1].leaf, 3);
	cr_assert_eq(rows[1].pod, 4);
	free(rows);
}

Test(account_tables, streamed_rows)
{
	struct tl_levels levels = {.capacity_mgpu = 4000,
	                           .down_mgpu = 1,
	                           .nominal_mgpu = 3,
	                           .productive_mgpu = 4,
	                           .waiting_mgpu = 5,
	                           .waiting_jobs = 9,
	                           .running_jobs = 7,
	                           .starting_jobs = 8,
	                           .suspending_jobs = 10,
	                           .suspended_jobs = 3,
	                           .free_gpus = 2,
	                           .partial_nodes = 1,
	                           .fragmentation_mgpu = 77};
	struct tl_row_fault fault = {
	    .kind = "node-down", .t_ns = 4, .node = 1, .jobs_hit = 2, .recovered_ns = -1};
	struct tl_row_transition *transitions;
	struct tl_row_placement *placements;
	struct tl_row_decision *decisions;
	struct tl_row_timeline *timeline;
	struct tl_row_fault *faults;

	make(TL_TABLES_ALL);
	tl_account_levels(account, 0, &levels);
	tl_account_sample(account, 0);
	tl_account_transition(account, 3, 42, TL_JOB_PENDING, TL_JOB_SCHEDULED, TL_REASON_START, 1);
	tl_account_decision(account, 3, TL_DECISION_START, 42, TL_REFUSED_QUOTA, 1, 4);
	tl_account_placement(account, 42, 1, 1500, 3, 9, TL_REASON_PREEMPTED);
	tl_account_fault(account, &fault);
	finish(0);

	timeline = rows_of(&tl_schema_timeline, 1);
	cr_assert_eq(timeline->down_mgpu, 1);
	cr_assert_eq(timeline->nominal_mgpu, 3);
	cr_assert_eq(timeline->productive_mgpu, 4);
	cr_assert_eq(timeline->pending_mgpu, 5);
	cr_assert_eq(timeline->pending_jobs, 6); /* nine wait, three of them suspended */
	cr_assert_eq(timeline->suspended_jobs, 3);
	cr_assert_eq(timeline->running_jobs, 7);
	cr_assert_eq(timeline->starting_jobs, 8);
	cr_assert_eq(timeline->suspending_jobs, 10);
	cr_assert_eq(timeline->free_whole_gpus, 2);
	cr_assert_eq(timeline->partial_nodes, 1);
	cr_assert_eq(timeline->fragmentation_mgpu, 77);
	transitions = rows_of(&tl_schema_transitions, 1);
	cr_assert_eq(transitions->t_ns, 3);
	cr_assert_eq(transitions->job, 42);
	cr_assert_eq(transitions->from, TL_JOB_PENDING);
	cr_assert_eq(transitions->to, TL_JOB_SCHEDULED);
	cr_assert_eq(transitions->cause, TL_REASON_START);
	cr_assert_eq(transitions->node, 1);
	decisions = rows_of(&tl_schema_decisions, 1);
	cr_assert_eq(decisions->kind, TL_DECISION_START);
	cr_assert_eq(decisions->refusal, TL_REFUSED_QUOTA);
	cr_assert_eq(decisions->nodes, 4);
	placements = rows_of(&tl_schema_placements, 1);
	cr_assert_eq(placements->gpus_mgpu, 1500);
	cr_assert_eq(placements->start_ns, 3);
	cr_assert_eq(placements->end_ns, 9);
	cr_assert_eq(placements->ended, TL_REASON_PREEMPTED);
	faults = rows_of(&tl_schema_faults, 1);
	cr_assert_str_eq(faults->kind, "node-down");
	cr_assert_eq(faults->jobs_hit, 2);
	free(timeline);
	free(transitions);
	free(decisions);
	free(placements);
	free(faults);
}

Test(account_tables, ledger_rows_sum_to_capacity_exactly)
{
	const int64_t end_ns = 90 * TL_NS_PER_DAY; /* the sum does not fit 64 bits */
	struct tl_levels levels = {.capacity_mgpu = 4000, .allocated_mgpu = 3000};
	struct tl_ledger *ledger;
	struct tl_row_ledger *rows;
	tl_i128 sum = 0;

	make(TL_TABLE_LEDGER);
	ledger = tl_account_ledger(account);
	tl_account_levels(account, 0, &levels);
	tl_ledger_add(ledger, tl_ledger_account(ledger, 1, TL_JOB_SIMULATION, 0, TL_TIER_BID),
	              TL_PURPOSE_PRODUCTIVE, (tl_i128)3000 * end_ns - 1);
	tl_ledger_add(ledger, 0, TL_PURPOSE_REWORK, 1);
	finish(end_ns);
	rows = rows_of(&tl_schema_ledger, 6);
	for (int i = 0; i < 6; i++)
		sum += ((tl_i128)rows[i].mgpu_ns_hi << 64) + rows[i].mgpu_ns_lo;
	cr_assert(sum == (tl_i128)4000 * end_ns);
	cr_assert_gt(rows[0].mgpu_ns_hi, 0);
	cr_assert_str_eq(rows[0].tenant, "shooter");
	cr_assert_str_eq(rows[0].kind, "simulation");
	cr_assert_str_eq(rows[0].queue, "normal");
	cr_assert_str_eq(rows[0].tier, "bid");
	cr_assert_str_eq(rows[0].purpose, "productive");
	cr_assert_str_eq(rows[1].purpose, "rework");
	cr_assert_eq(rows[1].mgpu_ns_lo, 1);
	cr_assert_str_eq(rows[2].tenant, "");
	cr_assert_str_eq(rows[2].purpose, "idle-reserved");
	cr_assert_str_eq(rows[4].purpose, "idle-free");
	cr_assert_eq(rows[4].gpu_s, 90.0 * 86400);
	cr_assert_str_eq(rows[5].purpose, "down");
	free(rows);
}

Test(account_tables, the_summary_in_the_file_is_the_summary)
{
	const struct tl_row_summary *want;
	struct tl_row_summary *rows;
	struct tl_job_account job = make_job(0, "one");
	size_t count;

	make(TL_TABLE_SUMMARY);
	tl_account_job(account, &job);
	finish(10 * S);
	want = tl_account_summary(account, &count);
	cr_assert_geq(count, 40);
	rows = rows_of(&tl_schema_summary, count);
	for (size_t i = 0; i < count; i++) {
		cr_assert_str_eq(rows[i].metric, want[i].metric);
		cr_assert_str_eq(rows[i].unit, want[i].unit);
		cr_assert(rows[i].value == want[i].value ||
		          (isnan(rows[i].value) && isnan(want[i].value)));
		cr_assert(isnan(rows[i].ci_low) && isnan(rows[i].ci_high));
		cr_assert_neq(rows[i].metric[0], '\0');
		for (size_t j = 0; j < i; j++)
			cr_assert_str_neq(rows[i].metric, rows[j].metric);
	}
	free(rows);
}

Test(account_tables, only_what_is_asked_for_is_there)
{
	make(TL_TABLE_NODES | TL_TABLE_FAULTS);
	tl_account_sample(account, 0);
	tl_account_transition(account, 0, 0, TL_JOB_PENDING, TL_JOB_SCHEDULED, TL_REASON_START, 0);
	finish(0);
	for (size_t i = 0; tl_schema_all[i]; i++)
		cr_assert_eq(tl_results_has(reader, tl_schema_all[i]->path),
		             tl_schema_all[i] == &tl_schema_nodes ||
		                 tl_schema_all[i] == &tl_schema_faults,
		             "%s", tl_schema_all[i]->path);
}
