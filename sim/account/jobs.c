/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is kept of each job for /jobs, written at the end in input order. Rows sit in
 * blocks (nothing moves as they grow), ids in text blocks, and what most jobs do not have
 * (preemptions, losses) apart: 120 bytes and the id for a plain job.
 */
#include "sim/account/books.h"
#include "sim/base/arena.h"
#include "sim/base/assert.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 1024, ID_BLOCK = 32 * 1024 };
#define NO_RARE UINT32_MAX

struct kept {
	uint64_t row;
	const char *id;
	int64_t submit_ns, first_start_ns, end_ns, gpus_mgpu, estimate_ns;
	int64_t starting_ns, run_ns;
	double held_gpu_s, productive_gpu_s, speed_mean;
	uint32_t tenant, queue, workers, node, rare;
	uint8_t kind, state, reason;
};
static_assert(sizeof(struct kept) <= 120, "what a plain job costs");

struct tl_kept_block {
	struct kept rows[BLOCK_ROWS];
};

struct tl_kept_rare {
	int64_t requeue_ns, suspending_ns, suspended_ns, resuming_ns, lost_work_ns;
	int64_t deadline_ns; /* -1: none */
	uint32_t preemptions, restarts;
};

void tl_jobs_book_init(struct tl_jobs_book *book)
{
	*book = (struct tl_jobs_book){0};
}

void tl_jobs_book_fini(struct tl_jobs_book *book)
{
	for (size_t i = 0; i < book->block_count; i++)
		free(book->blocks[i]);
	for (size_t i = 0; i < book->id_block_count; i++)
		free(book->id_blocks[i]);
	free(book->blocks);
	free(book->id_blocks);
	free(book->rare);
	*book = (struct tl_jobs_book){0};
}

size_t tl_jobs_book_bytes(const struct tl_jobs_book *book)
{
	return book->block_count * sizeof **book->blocks +
	       book->block_room * sizeof(struct tl_kept_block *) + book->id_block_count * ID_BLOCK +
	       book->id_block_room * sizeof *book->id_blocks + book->rare_room * sizeof *book->rare;
}

static const char *keep_id(struct tl_jobs_book *book, const char *id)
{
	size_t size = strnlen(id, TL_ROW_ID_SIZE - 1) + 1;
	char *kept;

	if (book->id_block_count == 0 || book->ids_used + size > ID_BLOCK) {
		book->id_blocks = tl_grow(book->id_blocks, &book->id_block_room,
		                          book->id_block_count + 1, sizeof *book->id_blocks);
		book->ids = tl_alloc(ID_BLOCK);
		book->id_blocks[book->id_block_count++] = book->ids;
		book->ids_used = 0;
	}
	kept = book->ids + book->ids_used;
	book->ids_used += size;
	memcpy(kept, id, size - 1);
	kept[size - 1] = '\0';
	if (size > book->id_longest)
		book->id_longest = size;
	return kept;
}

static uint32_t keep_rare(struct tl_jobs_book *book, const struct tl_job_account *job)
{
	struct tl_kept_rare rare = {
	    .requeue_ns = tl_job_requeue_ns(job),
	    .suspending_ns = job->in_state_ns[TL_JOB_SUSPENDING],
	    .suspended_ns = job->in_state_ns[TL_JOB_SUSPENDED],
	    .resuming_ns = job->in_state_ns[TL_JOB_RESUMING],
	    .lost_work_ns = job->lost_work_ns,
	    .deadline_ns = job->deadline_ns,
	    .preemptions = job->preemptions,
	    .restarts = job->restarts,
	};

	if (!(rare.requeue_ns | rare.suspending_ns | rare.suspended_ns | rare.resuming_ns |
	      rare.lost_work_ns | rare.preemptions | rare.restarts) &&
	    rare.deadline_ns < 0)
		return NO_RARE;
	TL_ASSERT(book->rare_count < NO_RARE);
	book->rare =
	    tl_grow(book->rare, &book->rare_room, book->rare_count + 1, sizeof *book->rare);
	book->rare[book->rare_count] = rare;
	return (uint32_t)book->rare_count++;
}

/* Reference work done for good or lost, over the time in Running. A job that has not
 * completed did what its productive GPU time says. */
static double speed_mean(const struct tl_job_account *job)
{
	double run_ns = (double)job->in_state_ns[TL_JOB_RUNNING];

	if (run_ns <= 0)
		return (double)NAN;
	if (job->state == TL_JOB_SUCCEEDED)
		return ((double)job->work_ns + (double)job->lost_work_ns) / run_ns;
	if (job->gpus_mgpu <= 0)
		return (double)NAN;
	return ((double)job->productive_mgpu_ns / (double)job->gpus_mgpu +
	        (double)job->lost_work_ns) /
	       run_ns;
}

void tl_jobs_book_add(struct tl_jobs_book *book, const struct tl_job_account *job)
{
	size_t block = (size_t)(book->count / BLOCK_ROWS);

	if (block == book->block_count) {
		book->blocks = tl_grow(book->blocks, &book->block_room, block + 1,
		                       sizeof(struct tl_kept_block *));
		book->blocks[book->block_count++] = tl_alloc(sizeof **book->blocks);
	}
	TL_ASSERT(job->kind < TL_ROW_KIND_COUNT && job->state < TL_ROW_STATE_COUNT);
	TL_ASSERT(job->reason < TL_REASON_COUNT);
	book->blocks[block]->rows[book->count++ % BLOCK_ROWS] = (struct kept){
	    .row = job->row,
	    .id = keep_id(book, job->id),
	    .submit_ns = job->submit_ns,
	    .first_start_ns = job->first_start_ns,
	    .end_ns = job->end_ns,
	    .gpus_mgpu = job->gpus_mgpu,
	    .estimate_ns = job->estimate_ns,
	    .starting_ns = job->in_state_ns[TL_JOB_SCHEDULED],
	    .run_ns = job->in_state_ns[TL_JOB_RUNNING],
	    .held_gpu_s = (double)job->held_mgpu_ns / TL_MGPU_NS_PER_GPU_S,
	    .productive_gpu_s = (double)job->productive_mgpu_ns / TL_MGPU_NS_PER_GPU_S,
	    .speed_mean = speed_mean(job),
	    .tenant = job->tenant,
	    .queue = job->queue,
	    .workers = job->workers,
	    .node = job->node,
	    .rare = keep_rare(book, job),
	    .kind = job->kind,
	    .state = job->state,
	    .reason = job->reason,
	};
}

static int compare_rows(const void *left, const void *right)
{
	uint64_t a = (*(const struct kept *const *)left)->row;
	uint64_t b = (*(const struct kept *const *)right)->row;

	return (a > b) - (a < b);
}

static int64_t late_ns(const struct kept *kept, int64_t deadline_ns)
{
	if (deadline_ns < 0 || kept->state != TL_JOB_SUCCEEDED)
		return TL_NONE;
	return kept->end_ns > deadline_ns ? kept->end_ns - deadline_ns : 0;
}

static void fill_row(const struct tl_jobs_book *book, const struct kept *kept,
                     const struct tl_intern *tenants, const struct tl_intern *queues,
                     struct tl_row_job *row)
{
	static const struct tl_kept_rare nothing = {.deadline_ns = TL_NONE};
	const struct tl_kept_rare *rare =
	    kept->rare == NO_RARE ? &nothing : &book->rare[kept->rare];
	struct tl_job_account job = {.submit_ns = kept->submit_ns, .end_ns = kept->end_ns};

	job.in_state_ns[TL_JOB_RUNNING] = kept->run_ns;
	TL_ASSERT(kept->tenant < tenants->count && kept->queue < queues->count);
	tl_row_text(row->id, sizeof row->id, kept->id);
	tl_row_text(row->tenant, sizeof row->tenant, tenants->names[kept->tenant]);
	tl_row_text(row->kind, sizeof row->kind, tl_schema_kind_names[kept->kind]);
	tl_row_text(row->queue, sizeof row->queue, queues->names[kept->queue]);
	tl_row_text(row->state, sizeof row->state, tl_schema_state_names[kept->state]);
	tl_row_text(row->reason, sizeof row->reason, tl_schema_reason_names[kept->reason]);
	row->submit_ns = kept->submit_ns;
	row->first_start_ns = kept->first_start_ns;
	row->end_ns = kept->end_ns;
	row->gpus_milli = kept->gpus_mgpu;
	row->wait_ns = kept->first_start_ns < 0 ? TL_NONE : kept->first_start_ns - kept->submit_ns;
	row->jct_ns = kept->end_ns < 0 ? TL_NONE : kept->end_ns - kept->submit_ns;
	row->run_ns = kept->run_ns;
	row->requeue_ns = rare->requeue_ns;
	row->starting_ns = kept->starting_ns;
	row->suspending_ns = rare->suspending_ns;
	row->suspended_ns = rare->suspended_ns;
	row->resuming_ns = rare->resuming_ns;
	row->lost_work_ns = rare->lost_work_ns;
	row->estimate_ns = kept->estimate_ns;
	row->deadline_ns = rare->deadline_ns;
	row->late_ns = late_ns(kept, rare->deadline_ns);
	row->bounded_slowdown = kept->end_ns < 0 || kept->first_start_ns < 0
	                            ? (double)NAN
	                            : tl_job_bounded_slowdown(&job);
	row->productive_gpu_s = kept->productive_gpu_s;
	row->held_gpu_s = kept->held_gpu_s;
	row->speed_mean = kept->speed_mean;
	row->workers = kept->workers;
	row->preemptions = rare->preemptions;
	row->restarts = rare->restarts;
	row->node = kept->node;
}

static size_t longest_name(const struct tl_intern *names, size_t room)
{
	size_t longest = 1;

	for (size_t i = 0; i < names->count; i++) {
		size_t size = strnlen(names->names[i], room - 1) + 1;

		longest = size > longest ? size : longest;
	}
	return longest;
}

enum tl_status tl_jobs_book_write(const struct tl_jobs_book *book, struct tl_results *results,
                                  const struct tl_intern *tenants, const struct tl_intern *queues,
                                  struct tl_error *error)
{
	size_t sizes[sizeof(struct tl_row_job) / sizeof(uint32_t)] = {0}; /* more than columns */
	const struct kept **order;
	struct tl_table *table;
	enum tl_status status;

	TL_ASSERT(tl_schema_jobs.column_count <= sizeof sizes / sizeof sizes[0]);
	for (size_t i = 0; i < tl_schema_jobs.column_count; i++) {
		size_t offset = tl_schema_jobs.columns[i].offset;

		if (offset == offsetof(struct tl_row_job, id))
			sizes[i] = book->id_longest;
		else if (offset == offsetof(struct tl_row_job, tenant))
			sizes[i] = longest_name(tenants, TL_ROW_NAME_SIZE);
		else if (offset == offsetof(struct tl_row_job, queue))
			sizes[i] = longest_name(queues, TL_ROW_QUEUE_SIZE);
	}
	status = tl_results_table(results, &tl_schema_jobs, sizes, &table, error);
	if (status != TL_OK)
		return status;
	order = tl_calloc((size_t)book->count, sizeof(const struct kept *));
	for (uint64_t i = 0; i < book->count; i++)
		order[i] = &book->blocks[i / BLOCK_ROWS]->rows[i % BLOCK_ROWS];
	qsort(order, (size_t)book->count, sizeof(const struct kept *), compare_rows);
	for (uint64_t i = 0; i < book->count; i++) {
		TL_ASSERT(i == 0 || order[i]->row != order[i - 1]->row);
		fill_row(book, order[i], tenants, queues, tl_table_next(table));
	}
	free(order);
	return TL_OK;
}
