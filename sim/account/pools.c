/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The jobs of each pool that the work names, and what has to be held until they are done: so
 * that one cluster for all and a cluster for each compare at equal work.
 */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MGPU_NS_PER_GPU_H (3600 * TL_MGPU_NS_PER_GPU_S)

void tl_pools_init(struct tl_pools_book *pools, const struct tl_account_config *config)
{
	*pools = (struct tl_pools_book){.count = config->pools ? config->pools->count : 0};
	pools->books = tl_calloc(pools->count + 1, sizeof *pools->books);
	for (size_t i = 0; i <= pools->count; i++)
		pools->books[i].last_end_ns = TL_NONE;
}

void tl_pools_fini(struct tl_pools_book *pools)
{
	free(pools->books);
	*pools = (struct tl_pools_book){0};
}

void tl_pools_job(struct tl_pools_book *pools, const struct tl_job_account *job)
{
	struct tl_pool_book *book =
	    &pools->books[job->pool < pools->count ? job->pool : pools->count];

	book->jobs++;
	book->open += job->end_ns < 0;
	book->held_mgpu_ns += job->held_mgpu_ns;
	if (job->first_start_ns >= 0) {
		book->started++;
		book->wait_ns += job->first_start_ns - job->submit_ns;
	}
	if (job->end_ns > book->last_end_ns)
		book->last_end_ns = job->end_ns;
	if (tl_job_served(job)) {
		book->served++;
		book->jct_ns += job->end_ns - job->submit_ns;
	}
}

static double mean_s(tl_i128 sum_ns, uint64_t count)
{
	return count == 0 ? (double)NAN : (double)sum_ns / (double)count / (double)TL_NS_PER_S;
}

static void tell_pool(const struct tl_pool_book *book, const char *name, struct tl_metrics *metrics)
{
	const struct {
		const char *metric, *unit;
		double value;
	} rows[] = {
	    {"jobs", "1", (double)book->jobs},
	    {"unfinished", "1", (double)book->open},
	    {"gpu_h", "gpu.h", (double)book->held_mgpu_ns / MGPU_NS_PER_GPU_H},
	    {"wait_mean_s", "s", mean_s(book->wait_ns, book->started)},
	    {"jct_mean_s", "s", mean_s(book->jct_ns, book->served)},
	    {"done_s", "s",
	     book->open > 0 || book->last_end_ns < 0 ? (double)NAN
	                                             : (double)book->last_end_ns / 1e9},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char metric[TL_ROW_NAME_SIZE];

		(void)snprintf(metric, sizeof metric, "pool.%s.%s", name, rows[i].metric);
		tl_metrics_tell(metrics, metric, rows[i].unit, rows[i].value);
	}
}

/* `A|B` holds the pool. */
static bool names_pool(const char *names, const char *pool)
{
	size_t length = strlen(pool);

	for (const char *at = names; *at != '\0'; at += strcspn(at, "|"), at += *at == '|')
		if (strcspn(at, "|") == length && memcmp(at, pool, length) == 0)
			return true;
	return false;
}

/* Until when a pool is held (empty: nodes of none): until the last of the jobs that may be
 * there has ended, or `all_ns`, the last of all, where services may be. */
static int64_t held_until_ns(const struct tl_pools_book *pools,
                             const struct tl_account_config *config, const char *pool,
                             int64_t all_ns)
{
	int64_t until_ns = 0;

	for (size_t i = 0; i <= pools->count; i++) {
		const struct tl_pool_book *book = &pools->books[i];

		if (i < pools->count && !names_pool(config->pools->names[i], pool))
			continue;
		if (config->pool_serves[i])
			return all_ns;
		if (book->last_end_ns > until_ns)
			until_ns = book->last_end_ns;
	}
	return until_ns;
}

/* Σ GPUs × time held, in mgpu · ns. */
static tl_i128 until_done(const struct tl_pools_book *pools, const struct tl_account_config *config,
                          int64_t all_ns)
{
	const struct tl_cluster_spec *spec = config->cluster->spec;
	tl_i128 held = 0;

	if (!tl_cluster_spec_has_pools(spec))
		return (tl_i128)config->cluster->view.capacity_mgpu * all_ns;
	for (size_t n = 0; n < spec->node_count; n++) {
		const struct tl_node_spec *node = &spec->nodes[n];

		if (node->gpus == 0)
			continue;
		held += (tl_i128)node->gpus * TL_MGPU_PER_GPU *
		        held_until_ns(pools, config, spec->models[node->model].pool, all_ns);
	}
	return held;
}

void tl_pools_tell(const struct tl_pools_book *pools, const struct tl_account_config *config,
                   struct tl_metrics *metrics)
{
	int64_t all_ns = 0;
	uint64_t open = 0;
	double gpu_h = (double)NAN;

	if (pools->count == 0)
		return;
	for (size_t i = 0; i < pools->count; i++)
		if (pools->books[i].jobs > 0) /* else services alone */
			tell_pool(&pools->books[i], config->pools->names[i], metrics);
	for (size_t i = 0; i <= pools->count; i++) {
		open += pools->books[i].open;
		if (pools->books[i].last_end_ns > all_ns)
			all_ns = pools->books[i].last_end_ns;
	}
	if (open == 0)
		gpu_h = (double)until_done(pools, config, all_ns) / MGPU_NS_PER_GPU_H;
	tl_metrics_tell(metrics, "until_done_gpu_h", "gpu.h", gpu_h);
	tl_metrics_tell(metrics, "until_done_cost", config->prices.currency,
	                gpu_h * (double)config->prices.gpu_hour_micros / 1e6);
}
