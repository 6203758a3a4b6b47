/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A result in the forms of other tools. Tables are gone through block by block: memory
 * follows neither the rows of a table nor the length of a run, but for some bytes a job
 * where their order (SWF) or their names (Perfetto) want it. What fails while writing
 * shows at the stream's close, or as TL_E_IO here; a signal ends it (sim/base/stop.h).
 */
#ifndef TIDELAB_ANALYSIS_EXPORT_H
#define TIDELAB_ANALYSIS_EXPORT_H

#include "results/results.h"
#include "sim/base/error.h"

#include <stdint.h>
#include <stdio.h>

/* RFC 4180: a header line of the columns' names, then a line a row. Enumerations by name,
 * doubles in full precision, a number that does not exist as `nan`. TL_E_DATA where the
 * table is not there. */
enum tl_status tl_export_csv(struct tl_results_reader *reader, const char *table, FILE *out,
                             struct tl_error *error);

/* An array of objects, one a row; of all tables (table NULL), an object of such arrays by
 * the tables' paths. A number that does not exist is null. */
enum tl_status tl_export_json(struct tl_results_reader *reader, const char *table, FILE *out,
                              struct tl_error *error);

/* The schedule as a trace of Chrome's JSON format, which ui.perfetto.dev opens: a process a
 * node; in it a track a GPU slot for whole GPUs, and one a share; jobs as slices, with
 * tenant, kind, size and how they ended; preemptions, node failures and migrations as
 * instants; outages as slices of a track of their own; the timeline as counters. A slot
 * is any free one, the lowest: results do not say which GPU of a node it was. Needs
 * /placements, /jobs and /nodes; /faults and /cluster/timeline where they are. */
enum tl_status tl_export_perfetto(struct tl_results_reader *reader, FILE *out,
                                  struct tl_error *error);

/* What a list of jobs cannot say is left out of it, and counted. */
struct tl_export_counts {
	uint64_t written;
	uint64_t unfinished; /* never started, or without an end */
	uint64_t gpuless;    /* asked for no GPU */
};

/* Batsim's workload: jobs with a profile of type `delay`, as long as they were running; the
 * estimate is the walltime; shares are rounded up to whole GPUs. */
enum tl_status tl_export_batsim(struct tl_results_reader *reader, FILE *out,
                                struct tl_export_counts *counts, struct tl_error *error);

/* Standard Workload Format 2.2: submit, wait and run (first start to end) in whole seconds,
 * GPUs as processors, rounded up; by submit time; tenants as users and queues as
 * numbers, in order of first sight, named in the header. */
enum tl_status tl_export_swf(struct tl_results_reader *reader, FILE *out,
                             struct tl_export_counts *counts, struct tl_error *error);

#endif
