/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rooms of the account, for the files of this folder alone. */
#ifndef TIDELAB_ACCOUNT_BOOKS_H
#define TIDELAB_ACCOUNT_BOOKS_H

#include "sim/account/account.h"

#define TL_MGPU_NS_PER_GPU_S 1e12

/* A text member of a row; what is longer than the member is cut. */
void tl_row_text(char *to, size_t size, const char *from);

/* ---- metrics.c: integrals over time, distributions over jobs ---- */

/* How a job's story ended, for the counts: each job is of one class. */
enum tl_fate {
	TL_FATE_COMPLETED,
	TL_FATE_FAILED,
	TL_FATE_CANCELLED,
	TL_FATE_REJECTED,
	TL_FATE_INFEASIBLE,
	TL_FATE_DROPPED,
	TL_FATE_CENSORED,
	TL_FATE_UNSUBMITTED,
	TL_FATE_COUNT
};
enum tl_fate tl_fate_of(const struct tl_job_account *job);
/* Started and ended by itself: it has a JCT that says something of the service it got. */
bool tl_job_served(const struct tl_job_account *job);
int64_t tl_job_requeue_ns(const struct tl_job_account *job);
double tl_job_bounded_slowdown(const struct tl_job_account *job);

/* Of the static packing, as so many hundredths of capacity have been asked for. */
enum tl_packing_reading {
	TL_PACKING_FRAG_AT_90,
	TL_PACKING_ALLOCATED_AT_100,
	TL_PACKING_ALLOCATED_AT_130,
	TL_PACKING_READINGS
};

struct tl_packing {
	uint64_t told, placed; /* jobs */
	tl_i128 requested_mgpu;
	bool taken[TL_PACKING_READINGS];
	int64_t mgpu[TL_PACKING_READINGS]; /* fragmented or allocated; -1: not computed */
};

/* Jobs with a deadline, by what became of it. */
struct tl_deadlines {
	uint64_t met, late, never, open; /* late: completed after it; never: not by the run's end */
	tl_i128 late_ns;                 /* Σ over the late */
	int64_t latest_ns;
};

struct tl_tenant_book {
	uint64_t jobs;
	tl_i128 held_mgpu_ns;
};

struct tl_metrics {
	struct tl_levels levels;
	int64_t at_ns;                                        /* integrated up to */
	tl_i128 capacity, down, allocated, nominal, progress; /* ∫, mgpu · ns */
	tl_i128 partial;                                      /* ∫, nodes · ns */
	struct tl_dist wait, jct;
	uint64_t fates[TL_FATE_COUNT];
	int64_t first_submit_ns, last_end_ns; /* -1: none */
	tl_i128 requeue_ns, lost_mgpu_ns;
	tl_i128 waited_ns;      /* until the first start, or so far */
	uint64_t waited, never; /* jobs of that; of them, those that never started */
	tl_i128 served_productive_mgpu_ns, served_asked_mgpu_ns; /* ETTR */
	double slowdown_sum, slowdown_squares;
	uint64_t jobs, restarts;
	uint64_t faults, recovered; /* of them, those that were got over */
	tl_i128 recovery_ns;        /* Σ over those */
	int64_t recovery_max_ns;
	uint32_t preemptions_max; /* of one job */
	tl_i128 useful_mgpu_ns;   /* jobs' and services' */
	tl_i128 penalty_micros;
	struct tl_tenant_book *tenants; /* by number */
	size_t tenant_count, tenant_room;
	struct tl_packing packing;
	struct tl_deadlines deadlines;
	struct tl_row_summary *told; /* by others, to be shown last */
	size_t told_count, told_room;
	struct tl_row_summary *rows;
	size_t row_count, row_room;
};

void tl_metrics_init(struct tl_metrics *metrics, const struct tl_cluster *cluster, bool exact);
void tl_metrics_fini(struct tl_metrics *metrics);
/* The levels so far, up to now; returns the time that was added. */
int64_t tl_metrics_advance(struct tl_metrics *metrics, int64_t now_ns);
void tl_metrics_fault(struct tl_metrics *metrics, const struct tl_row_fault *fault);
void tl_metrics_service(struct tl_metrics *metrics, const struct tl_service_account *service);
void tl_metrics_job(struct tl_metrics *metrics, const struct tl_job_account *job);
void tl_metrics_packing(struct tl_metrics *metrics, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu);

/* ---- summary.c: a row a metric ---- */

/* A row that others tell, shown after the books' own. */
void tl_metrics_tell(struct tl_metrics *metrics, const char *name, const char *unit, double value);
void tl_metrics_summarise(struct tl_metrics *metrics, const struct tl_ledger *ledger,
                          uint32_t gpu_nodes, const struct tl_prices *prices,
                          const struct tl_run_counts *counts);

/* ---- pools.c: the jobs of each pool, and what is held until they are done ---- */

struct tl_pool_book {
	uint64_t jobs, open; /* open: without an end */
	uint64_t started, served;
	tl_i128 wait_ns, jct_ns, held_mgpu_ns; /* over those that started; served; all */
	int64_t last_end_ns;                   /* -1: none */
};

struct tl_pools_book {
	struct tl_pool_book *books; /* by number; the last: of those that name no pool */
	size_t count;               /* of names */
};

void tl_pools_init(struct tl_pools_book *pools, const struct tl_account_config *config);
void tl_pools_fini(struct tl_pools_book *pools);
void tl_pools_job(struct tl_pools_book *pools, const struct tl_job_account *job);
/* Rows of the summary, to metrics, once every job has been told. */
void tl_pools_tell(const struct tl_pools_book *pools, const struct tl_account_config *config,
                   struct tl_metrics *metrics);

/* ---- jobs.c: what is kept of each job for /jobs ---- */

struct tl_jobs_book {
	struct tl_kept_block **blocks;
	size_t block_count, block_room;
	uint64_t count;
	struct tl_kept_rare *rare; /* what most jobs do not have */
	size_t rare_count, rare_room;
	char *ids; /* the text block being filled */
	size_t ids_used;
	char **id_blocks;
	size_t id_block_count, id_block_room;
	size_t id_longest;
};

void tl_jobs_book_init(struct tl_jobs_book *book);
void tl_jobs_book_fini(struct tl_jobs_book *book);
void tl_jobs_book_add(struct tl_jobs_book *book, const struct tl_job_account *job);
/* Bytes held, all told. */
size_t tl_jobs_book_bytes(const struct tl_jobs_book *book);
/* /jobs, in input order. */
enum tl_status tl_jobs_book_write(const struct tl_jobs_book *book, struct tl_results *results,
                                  const struct tl_intern *tenants, const struct tl_intern *queues,
                                  struct tl_error *error);

/* ---- tables.c: streamed rows, /nodes, /summary, /ledger ---- */

struct tl_node_book {
	int64_t at_ns, allocated_mgpu; /* since */
	tl_i128 allocated, down;       /* ∫, mgpu · ns */
	uint64_t starts;
	uint32_t failures;
	bool is_down;
};

struct tl_tables {
	struct tl_results *results; /* NULL: nothing is written */
	uint32_t wanted;
	/* NULL: not asked for */
	struct tl_table *transitions, *timeline, *purposes, *placements, *decisions, *faults;
	struct tl_node_book *nodes;
	/* told by /cluster/purposes so far; the last kind: of no job */
	tl_i128 told[TL_ROW_KIND_COUNT + 1][TL_PURPOSE_COUNT];
	int64_t told_ns;
};

enum tl_status tl_tables_init(struct tl_tables *tables, const struct tl_account_config *config,
                              struct tl_error *error);
void tl_tables_fini(struct tl_tables *tables);
void tl_tables_node(struct tl_tables *tables, const struct tl_cluster *cluster, int64_t now_ns,
                    uint32_t node);
/* Rows of what has been added since the last call. */
void tl_tables_purposes(struct tl_tables *tables, int64_t now_ns, const struct tl_ledger *ledger,
                        tl_open_purposes open);
enum tl_status tl_tables_finish(struct tl_tables *tables, const struct tl_account_config *config,
                                int64_t end_ns, const struct tl_ledger *ledger,
                                const struct tl_metrics *metrics, struct tl_error *error);

#endif
