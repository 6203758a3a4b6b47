/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A trial's result: the file and its books, opened before the run and closed after it. */
#include "sim/plane/world.h"

#include "sim/plane/provenance.h"

#include <stdio.h>

/* Who and what made this result: enough to make it again. */
static enum tl_status stamp(struct tl_trial *trial, struct tl_error *error)
{
	struct tl_results *results = trial->results;
	struct tl_provenance made_of;
	char identity[TL_SHA256_HEX];
	enum tl_status status =
	    tl_results_attr_i64(results, "seed", (int64_t)trial->scenario->seed, error);

	tl_provenance_init(&made_of, trial->scenario);
	for (size_t s = 0; s < trial->source_count; s++)
		if (!trial->sources[s].workload->is_made)
			tl_provenance_add_trace(
			    &made_of, s, tl_trace_get_stats(trial->sources[s].trace)->sha256);
	for (size_t seat = 0; seat < TL_SEAT_COUNT; seat++)
		if (trial->seats[seat].loaded.module != NULL)
			tl_provenance_add_module(&made_of, seat, trial->seats[seat].loaded.sha256);
	for (size_t i = 0; i < made_of.count && status == TL_OK; i++)
		status = tl_results_attr_text(results, made_of.facts[i].name,
		                              made_of.facts[i].value, error);
	tl_provenance_identity(&made_of, identity);
	if (status == TL_OK)
		status = tl_results_attr_text(results, "identity", identity, error);
	tl_provenance_fini(&made_of);
	return status;
}

/* By number of the pools that the work names, and last for none: whether a service does. */
static const bool *serving_pools(struct tl_trial *trial)
{
	const struct tl_scenario *scenario = trial->scenario;
	bool *serves;

	for (size_t s = 0; s < scenario->service_count; s++)
		(void)tl_trial_pool(trial, scenario->services[s].pool);
	serves = tl_arena_alloc(&trial->arena, trial->pools.count + 1);
	for (size_t s = 0; s < scenario->service_count; s++) {
		uint32_t pool = tl_trial_pool(trial, scenario->services[s].pool);

		serves[pool == TL_NO_INDEX ? trial->pools.count : pool] = true;
	}
	return serves;
}

enum tl_status tl_trial_open_result(struct tl_trial *trial, struct tl_error *error)
{
	const struct tl_cluster_spec *spec = &trial->scenario->cluster;
	const char **names =
	    tl_arena_alloc(&trial->arena, (spec->model_count + 1) * sizeof(*names));
	enum tl_status status = TL_OK;

	for (size_t m = 0; m < spec->model_count; m++)
		names[m] = spec->models[m].name;
	if (trial->options->results_path != NULL)
		status = tl_results_create(trial->options->results_path, &trial->results, error);
	if (status == TL_OK && trial->results != NULL)
		status = stamp(trial, error);
	if (status != TL_OK)
		return status;
	const struct tl_account_config config = {.results = trial->results,
	                                         .tables = trial->scenario->tables,
	                                         .cluster = &trial->cluster,
	                                         .tenants = &trial->tenants,
	                                         .queues = &trial->queues,
	                                         .pools = &trial->pools,
	                                         .pool_serves = serving_pools(trial),
	                                         .model_names = names,
	                                         .prices = trial->scenario->prices};

	status = tl_account_create(&config, &trial->account, error);
	return status == TL_OK ? tl_services_open_tables(trial, error) : status;
}

static void report_input(struct tl_trial *trial, tl_job_id id)
{
	if (tl_job_of(&trial->jobs, id)->row != TL_ROW_NO_JOB)
		tl_life_report(trial, id);
}

/* Of a list, but for replicas, which never end. */
static size_t count_jobs(const struct tl_trial *trial, const tl_job_id *ids, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if ((trial->jobs.views[TL_JOB_SLOT(ids[i])].flags & TL_JOB_REPLICA) == 0)
			count++;
	return count;
}

/* Means are over what came to its end: say when that is not all. */
static void note_unfinished(const struct tl_trial *trial)
{
	const struct tl_job_table *jobs = &trial->jobs;
	size_t waiting = count_jobs(trial, jobs->waiting.ids, jobs->waiting.count);
	size_t left = waiting + count_jobs(trial, jobs->holding.ids, jobs->holding.count);
	char when[48];

	/* The story of one job has no means. */
	if (left == 0 || trial->options->diagnostics == NULL || trial->options->explain_id != NULL)
		return;
	fprintf(
	    trial->options->diagnostics,
	    "at the end of the run (%s) %zu jobs were unfinished, %zu of them waiting: wait_*, jct_* "
	    "and slowdown leave them out, waited_so_far_mean_s does not\n",
	    tl_format_duration(tl_trial_now(trial), when, sizeof(when)), left, waiting);
}

enum tl_status tl_trial_close_result(struct tl_trial *trial, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	tl_life_settle_all(trial);
	tl_services_finish(trial);
	tl_trial_levels(trial);
	note_unfinished(trial);
	if (trial->options->diagnostics != NULL && trial->options->explain_id == NULL)
		tl_chaos_report_late(trial, tl_trial_now(trial), trial->options->diagnostics);
	tl_explain_finish(trial);
	for (size_t i = 0; i < trial->jobs.waiting.count; i++)
		report_input(trial, trial->jobs.waiting.ids[i]);
	for (size_t i = 0; i < trial->jobs.holding.count; i++)
		report_input(trial, trial->jobs.holding.ids[i]);
	tl_incidents_finish(trial);
	status = tl_sources_report_rest(trial, error);
	if (status != TL_OK)
		return status;
	tl_cluster_verify(&trial->cluster);
	trial->counts.events = trial->engine.events;
	trial->counts.rounds = trial->engine.rounds;
	trial->counts.estimates_oracle = trial->scenario->estimates != TL_ESTIMATES_TRACE;
	status = tl_account_finish(trial->account, tl_trial_now(trial), &trial->counts, error);
	if (status == TL_OK && trial->results != NULL) {
		struct tl_results *results = trial->results;

		status =
		    tl_results_attr_i64(results, "oracle_used", trial->counts.oracle_used, error);
		if (status == TL_OK)
			status = tl_results_attr_i64(results, "estimates_oracle",
			                             trial->counts.estimates_oracle, error);
		if (status == TL_OK) {
			trial->results = NULL;
			status = tl_results_close(results, error);
		}
	}
	return status;
}
