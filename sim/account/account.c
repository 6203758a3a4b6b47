/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/account/account.h"

#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/config/scenario.h"

#include <stdlib.h>

struct tl_account {
	struct tl_account_config config;
	struct tl_ledger ledger;
	struct tl_metrics metrics;
	struct tl_jobs_book jobs;
	struct tl_pools_book pools;
	struct tl_tables tables;
	bool keeps_jobs, finished;
};

enum tl_status tl_account_create(const struct tl_account_config *config, struct tl_account **out,
                                 struct tl_error *error)
{
	struct tl_account *account = tl_calloc(1, sizeof *account);
	bool exact = (config->tables & TL_TABLE_JOBS) != 0;
	enum tl_status status;

	account->config = *config;
	account->keeps_jobs = exact && config->results;
	tl_ledger_init(&account->ledger);
	tl_metrics_init(&account->metrics, config->cluster, exact);
	tl_jobs_book_init(&account->jobs);
	tl_pools_init(&account->pools, config);
	status = tl_tables_init(&account->tables, config, error);
	if (status != TL_OK) {
		tl_account_destroy(account);
		return status;
	}
	*out = account;
	return TL_OK;
}

void tl_account_destroy(struct tl_account *account)
{
	if (!account)
		return;
	tl_tables_fini(&account->tables);
	tl_jobs_book_fini(&account->jobs);
	tl_pools_fini(&account->pools);
	tl_metrics_fini(&account->metrics);
	tl_ledger_fini(&account->ledger);
	free(account);
}

struct tl_ledger *tl_account_ledger(struct tl_account *account)
{
	return &account->ledger;
}

static void integrate(struct tl_account *account, int64_t now_ns)
{
	int64_t dt_ns = tl_metrics_advance(&account->metrics, now_ns);

	if (dt_ns > 0)
		tl_ledger_idle(&account->ledger, &account->metrics.levels, dt_ns);
}

void tl_account_levels(struct tl_account *account, int64_t now_ns, const struct tl_levels *levels)
{
	integrate(account, now_ns);
	account->metrics.levels = *levels;
}

void tl_account_node(struct tl_account *account, int64_t now_ns, uint32_t node)
{
	tl_tables_node(&account->tables, account->config.cluster, now_ns, node);
}

void tl_account_sample(struct tl_account *account, int64_t now_ns)
{
	const struct tl_levels *levels = &account->metrics.levels;
	struct tl_row_timeline *row;

	if (!account->tables.timeline)
		return;
	row = tl_table_next(account->tables.timeline);
	row->t_ns = now_ns;
	row->capacity_mgpu = levels->capacity_mgpu;
	row->down_mgpu = levels->down_mgpu;
	row->allocated_mgpu = levels->allocated_mgpu;
	row->nominal_mgpu = levels->nominal_mgpu;
	row->productive_mgpu = levels->productive_mgpu;
	row->pending_mgpu = levels->waiting_mgpu;
	row->fragmentation_mgpu = levels->fragmentation_mgpu;
	row->free_whole_gpus = levels->free_gpus;
	/* Suspended jobs wait too, and have a column of their own. */
	row->pending_jobs = levels->waiting_jobs - levels->suspended_jobs;
	row->running_jobs = levels->running_jobs;
	row->starting_jobs = levels->starting_jobs;
	row->suspending_jobs = levels->suspending_jobs;
	row->suspended_jobs = levels->suspended_jobs;
	row->partial_nodes = levels->partial_nodes;
}

void tl_account_purposes(struct tl_account *account, int64_t now_ns, tl_open_purposes open)
{
	tl_tables_purposes(&account->tables, now_ns, &account->ledger, open);
}

void tl_account_transition(struct tl_account *account, int64_t now_ns, uint64_t row,
                           enum tl_job_state from, enum tl_job_state to, enum tl_reason cause,
                           uint32_t node)
{
	struct tl_row_transition *out;

	if (!account->tables.transitions)
		return;
	out = tl_table_next(account->tables.transitions);
	out->t_ns = now_ns;
	out->job = row;
	out->node = node;
	out->from = (uint8_t)from;
	out->to = (uint8_t)to;
	out->cause = (uint8_t)cause;
}

void tl_account_placement(struct tl_account *account, uint64_t row, uint32_t node,
                          int64_t gpus_mgpu, int64_t start_ns, int64_t end_ns, enum tl_reason ended)
{
	struct tl_row_placement *out;

	TL_ASSERT(node < account->config.cluster->view.node_count);
	TL_ASSERT(start_ns <= end_ns);
	account->tables.nodes[node].starts += row != TL_ROW_NO_JOB;
	if (!account->tables.placements)
		return;
	out = tl_table_next(account->tables.placements);
	out->job = row;
	out->gpus_mgpu = gpus_mgpu;
	out->start_ns = start_ns;
	out->end_ns = end_ns;
	out->node = node;
	out->ended = (uint8_t)ended;
}

void tl_account_decision(struct tl_account *account, int64_t now_ns, enum tl_decision what,
                         uint64_t row, enum tl_refusal answer, uint32_t node, uint32_t nodes)
{
	struct tl_row_decision *out;

	if (!account->tables.decisions)
		return;
	out = tl_table_next(account->tables.decisions);
	out->t_ns = now_ns;
	out->job = row;
	out->nodes = nodes;
	out->node = node;
	out->refusal = (uint16_t)answer;
	out->kind = (uint8_t)what;
}

void tl_account_fault(struct tl_account *account, const struct tl_row_fault *fault)
{
	tl_metrics_fault(&account->metrics, fault);
	if (account->tables.faults)
		/* The first failure is kept by the writer and comes back from its close. */
		(void)tl_table_append(account->tables.faults, fault);
}

void tl_account_job(struct tl_account *account, const struct tl_job_account *job)
{
	tl_metrics_job(&account->metrics, job);
	tl_pools_job(&account->pools, job);
	if (account->keeps_jobs)
		tl_jobs_book_add(&account->jobs, job);
}

void tl_account_service(struct tl_account *account, const struct tl_service_account *service)
{
	tl_metrics_service(&account->metrics, service);
}

void tl_account_packing(struct tl_account *account, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu)
{
	tl_metrics_packing(&account->metrics, request_mgpu, placed, allocated_mgpu,
	                   fragmented_mgpu);
}

static uint32_t count_gpu_nodes(const struct tl_cluster *cluster)
{
	uint32_t count = 0;

	for (uint32_t node = 0; node < cluster->view.node_count; node++)
		count += tl_view_node(&cluster->view, node)->gpu_count > 0;
	return count;
}

void tl_account_metric(struct tl_account *account, const char *metric, const char *unit,
                       double value)
{
	tl_metrics_tell(&account->metrics, metric, unit, value);
}

enum tl_status tl_account_finish(struct tl_account *account, int64_t end_ns,
                                 const struct tl_run_counts *counts, struct tl_error *error)
{
	const struct tl_account_config *config = &account->config;
	enum tl_status status = TL_OK;

	TL_ASSERT(!account->finished);
	account->finished = true;
	integrate(account, end_ns);
	TL_ASSERT(tl_ledger_sum(&account->ledger) ==
	          (tl_i128)config->cluster->view.capacity_mgpu * end_ns);
	tl_pools_tell(&account->pools, config, &account->metrics);
	tl_metrics_summarise(&account->metrics, &account->ledger, count_gpu_nodes(config->cluster),
	                     &config->prices, counts);
	if (account->keeps_jobs)
		status = tl_jobs_book_write(&account->jobs, config->results, config->tenants,
		                            config->queues, error);
	if (status != TL_OK)
		return status;
	return tl_tables_finish(&account->tables, config, end_ns, &account->ledger,
	                        &account->metrics, error);
}

const struct tl_row_summary *tl_account_summary(const struct tl_account *account, size_t *count)
{
	*count = account->metrics.row_count;
	return account->metrics.rows;
}
