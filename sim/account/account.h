/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The books of a trial: who held which GPU time for what (the ledger, which sums to
 * capacity exactly), the metrics, and the rows of the result tables. It is told; it
 * decides nothing.
 */
#ifndef TIDELAB_ACCOUNT_ACCOUNT_H
#define TIDELAB_ACCOUNT_ACCOUNT_H

#include "policies/abi/tidelab_policy.h"
#include "results/results.h"
#include "results/schema.h"
#include "sim/base/quantile.h"
#include "sim/base/units.h"
#include "sim/cluster/cluster.h"

#include <stdbool.h>
#include <stdint.h>

/* What a GPU's time went into. The last four belong to no job. */
enum tl_purpose {
	TL_PURPOSE_PRODUCTIVE,
	TL_PURPOSE_COMMUNICATION, /* slower than in one node */
	TL_PURPOSE_INTERFERENCE,  /* slower for co-tenants */
	TL_PURPOSE_CHECKPOINT,
	TL_PURPOSE_START,         /* Scheduled */
	TL_PURPOSE_SUSPEND,
	TL_PURPOSE_RESUME,
	TL_PURPOSE_REWORK,        /* work that was lost */
	TL_PURPOSE_IDLE_RESERVED, /* free, kept for a waiting job */
	TL_PURPOSE_IDLE_FRAGMENTED, /* free while work waits: it does not fit, or the policy leaves it */
	TL_PURPOSE_IDLE_FREE,     /* free while nothing waits */
	TL_PURPOSE_DOWN,
	TL_PURPOSE_COUNT
};
extern const char *const tl_purpose_names[TL_PURPOSE_COUNT];

/* ---- ledger ---- */

struct tl_ledger {
	struct tl_ledger_line *lines; /* by account number */
	size_t count, capacity;
	tl_i128 idle[TL_PURPOSE_COUNT]; /* of no job */
};
void tl_ledger_init(struct tl_ledger *ledger);
void tl_ledger_fini(struct tl_ledger *ledger);
/* The account of (tenant, kind, queue, tier): a number to keep with the job. */
uint32_t tl_ledger_account(struct tl_ledger *ledger, uint32_t tenant, uint32_t kind, uint32_t queue,
                           uint32_t tier);
void tl_ledger_add(struct tl_ledger *ledger, uint32_t account, enum tl_purpose purpose,
                   tl_i128 mgpu_ns);
/* From one purpose to another (provisional work that was lost). */
void tl_ledger_move(struct tl_ledger *ledger, uint32_t account, enum tl_purpose from,
                    enum tl_purpose to, tl_i128 mgpu_ns);
tl_i128 tl_ledger_total(const struct tl_ledger *ledger, enum tl_purpose purpose); /* over all accounts */
tl_i128 tl_ledger_sum(const struct tl_ledger *ledger); /* over everything */

/* ---- what stands at an instant ---- */

struct tl_levels {
	int64_t capacity_mgpu, down_mgpu;
	int64_t allocated_mgpu;  /* physical */
	int64_t nominal_mgpu;
	int64_t productive_mgpu; /* Σ share × speed of Running work */
	int64_t reserved_mgpu;   /* free GPUs kept by reservations */
	int64_t waiting_mgpu;    /* Σ requests of waiting jobs */
	uint32_t waiting_jobs, running_jobs, starting_jobs, suspending_jobs, suspended_jobs;
	uint32_t free_gpus, partial_nodes;
};

/* What is known of a job once it is done with (or at the horizon). */
struct tl_job_account {
	const char *id;
	uint64_t row;            /* in input order, over all workload entries */
	uint32_t tenant, queue;
	uint8_t kind, state, reason; /* enum tl_job_kind, tl_job_state, tl_reason (results/schema.h) */
	int64_t submit_ns, first_start_ns, end_ns; /* -1 where it did not happen */
	int64_t gpus_mgpu, estimate_ns;
	uint32_t workers, preemptions, restarts, node;
	int64_t in_state_ns[TL_JOB_STATE_COUNT];
	int64_t lost_work_ns;    /* reference work done and lost */
	int64_t work_ns;         /* reference work wanted */
	tl_i128 held_mgpu_ns, productive_mgpu_ns; /* productive: that still counts */
};

/* Counters that the host keeps and the summary shows. */
struct tl_run_counts {
	uint64_t events, rounds, decisions, refused[TL_REFUSAL_COUNT], preemptions, node_failures;
	bool oracle_used, estimates_oracle;
};

struct tl_account_config {
	struct tl_results *results;       /* NULL: nothing is written */
	uint32_t tables;                  /* enum tl_output_table */
	const struct tl_cluster *cluster;
	const struct tl_intern *tenants, *queues; /* names by number */
	const char *const *model_names;
};

struct tl_account; /* opaque */

enum tl_status tl_account_create(const struct tl_account_config *config, struct tl_account **out,
                                 struct tl_error *error);
void tl_account_destroy(struct tl_account *account);
struct tl_ledger *tl_account_ledger(struct tl_account *account);

/* Integrates the former levels up to now, then takes these: to be called after every
 * change (once an instant is enough: levels within an instant have no duration). O(1). */
void tl_account_levels(struct tl_account *account, int64_t now_ns, const struct tl_levels *levels);
/* A node's allocation or state changed; integrates per node. O(1). */
void tl_account_node(struct tl_account *account, int64_t now_ns, uint32_t node);
void tl_account_sample(struct tl_account *account, int64_t now_ns); /* a /cluster/timeline row */
void tl_account_transition(struct tl_account *account, int64_t now_ns, uint64_t row,
                           enum tl_job_state from, enum tl_job_state to, enum tl_reason cause,
                           uint32_t node);
void tl_account_placement(struct tl_account *account, uint64_t row, uint32_t node,
                          int64_t gpus_mgpu, int64_t start_ns, int64_t end_ns, enum tl_reason ended);
void tl_account_decision(struct tl_account *account, int64_t now_ns, enum tl_decision what,
                         uint64_t row, enum tl_refusal answer, uint32_t node);
void tl_account_fault(struct tl_account *account, const struct tl_row_fault *fault);
/* A job is done with: O(1) amortised; keeps a compact row only where /jobs is asked for. */
void tl_account_job(struct tl_account *account, const struct tl_job_account *job);
/* Static packing (model §11): a job of this demand arrived, and was placed or not. */
void tl_account_packing(struct tl_account *account, int64_t request_mgpu, bool placed,
                        int64_t allocated_mgpu, int64_t fragmented_mgpu);

/* Closes the books at the run's end: asserts that the ledger equals capacity × time
 * exactly, writes /jobs, /nodes, /ledger, /summary. */
enum tl_status tl_account_finish(struct tl_account *account, int64_t end_ns,
                                 const struct tl_run_counts *counts, struct tl_error *error);
/* The summary's rows after finish: valid until destroy. */
const struct tl_row_summary *tl_account_summary(const struct tl_account *account, size_t *count);

#endif
