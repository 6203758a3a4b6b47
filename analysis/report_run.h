/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a report says of one run, apart from how it is written down. */
#ifndef TIDELAB_ANALYSIS_REPORT_RUN_H
#define TIDELAB_ANALYSIS_REPORT_RUN_H

#include "analysis/figures.h"
#include "analysis/report_html.h"
#include "results/schema.h"

#include <stdbool.h>

/* A stretch of windows in breach. */
struct tl_breach {
	int64_t from_ns, to_ns; /* to 0: none */
	double wanted, ready;   /* replicas, mean */
	double load;            /* mean */
	double free_gpus;       /* wholly free, mean over the timeline; NaN: not known */
	bool dropped;           /* requests were lost in it */
};

struct tl_report_service {
	char *name;
	bool has_windows;
	int64_t target_ns, window_ns;
	double window_requests; /* median over the windows that had any; NaN: none had */
	size_t breaches;
	struct tl_breach longest;
};

/* Of fewer requests, p99 is nearly the slowest of them. */
enum { TL_REPORT_FEW_REQUESTS = 500 };

struct tl_report_tenant {
	char name[TL_ROW_NAME_SIZE];
	double held_gpu_s;
	double productive_gpu_s, slower_gpu_s, saving_gpu_s, rework_gpu_s, standby_gpu_s;
};

struct tl_report_run {
	struct tl_results_reader *reader;
	char *name, *scenario, *tool_version, *tool_commit;
	int64_t seed;
	bool has_seed;
	struct tl_row_summary *metrics;
	size_t metric_count;
	struct tl_report_service *services; /* in the order of their metrics */
	size_t service_count;
	struct tl_report_tenant *tenants; /* by GPU time held, most first; none without /ledger */
	size_t tenant_count;
	double capacity_gpu_s; /* Σ ledger */
	struct tl_row_fault *faults;
	size_t fault_count;
	bool has_ledger, has_faults;
	struct tl_row_node *nodes; /* for their names; may be none */
	size_t node_count;
	bool saturated; /* the GPUs waited for never settle */
	bool has_timeline;
	double waiting_share;    /* of the time, in which GPUs were waited for */
	double most_waited_gpus; /* at once */
};

/* Of the windows that had any; NaN: none had. */
double tl_report_median_requests(const struct tl_row_window *rows, size_t count);
/* Whether p99 of its windows is made of too few requests each. */
bool tl_report_few_requests(const struct tl_report_service *service);

/* TL_E_DATA where the file has no /summary. tl_report_run_close() in any case. */
enum tl_status tl_report_run_open(const char *path, struct tl_report_run *run,
                                  struct tl_error *error);
void tl_report_run_close(struct tl_report_run *run);

/* The first paragraph: what happened to the promises, what it cost, where the GPU time
 * went, what to look at first. */
void tl_report_run_lead(struct tl_html *html, const struct tl_report_run *run);
/* The page's <main>, after the first paragraph. */
enum tl_status tl_report_run_body(struct tl_html *html, const struct tl_report_run *run,
                                  const struct tl_figures *figures, struct tl_error *error);

/* Longest name of a service that its metrics show whole. */
enum { TL_REPORT_SERVICE_NAME = 48 };

#endif
