/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs of a run as the input of other simulators. */
#include "analysis/export.h"

#include "analysis/export_private.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/intern.h"
#include "sim/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct jobs {
	FILE *out;
	struct tl_export_counts *counts;
	uint64_t row; /* of /jobs, of the next */
	struct tl_intern tenants, queues;
	bool begun;    /* Batsim's list: one is written */
	bool profiles; /* Batsim's second half */
};

static int64_t whole_gpus(const struct tl_row_job *job)
{
	return (job->gpus_milli + TL_MGPU_PER_GPU - 1) / TL_MGPU_PER_GPU;
}

/* Only what ran to an end has a run time. */
static bool is_finished(const struct tl_row_job *job)
{
	return job->first_start_ns >= 0 && job->end_ns >= job->first_start_ns;
}

static bool takes(struct jobs *jobs, const struct tl_row_job *job)
{
	const bool finished = is_finished(job), gpus = job->gpus_milli > 0;

	if (!jobs->profiles) {
		jobs->counts->unfinished += !finished;
		jobs->counts->gpuless += finished && !gpus;
		jobs->counts->written += finished && gpus;
	}
	return finished && gpus;
}

/* All GPUs of the cluster. */
static enum tl_status count_gpus(void *context, const void *rows, size_t count,
                                 struct tl_error *error)
{
	const struct tl_row_node *nodes = rows;

	(void)error;
	for (size_t i = 0; i < count; i++)
		*(uint64_t *)context += nodes[i].gpus;
	return TL_OK;
}

/* ---- Batsim ---- */

static enum tl_status put_batsim(void *context, const void *rows, size_t count,
                                 struct tl_error *error)
{
	struct jobs *jobs = context;
	const struct tl_row_job *job = rows;

	(void)error;
	for (const struct tl_row_job *end = job + count; job < end; job++, jobs->row++) {
		const uint64_t row = jobs->row;

		if (!takes(jobs, job))
			continue;
		(void)fputs(jobs->begun ? ",\n" : "\n", jobs->out);
		jobs->begun = true;
		if (jobs->profiles) {
			(void)fprintf(
			    jobs->out,
			    "    \"job-%" PRIu64 "\": {\"type\": \"delay\", \"delay\": ", row);
			tl_export_decimal(job->run_ns, 9, jobs->out);
			(void)fputc('}', jobs->out);
			continue;
		}
		(void)fprintf(jobs->out,
		              "    {\"id\": \"%" PRIu64 "\", \"profile\": \"job-%" PRIu64
		              "\", \"res\": %" PRId64 ", \"subtime\": ",
		              row, row, whole_gpus(job));
		tl_export_decimal(job->submit_ns, 9, jobs->out);
		if (job->estimate_ns > 0) {
			(void)fputs(", \"walltime\": ", jobs->out);
			tl_export_decimal(job->estimate_ns, 9, jobs->out);
		}
		(void)fputc('}', jobs->out);
	}
	return TL_OK;
}

enum tl_status tl_export_batsim(struct tl_results_reader *reader, FILE *out,
                                struct tl_export_counts *counts, struct tl_error *error)
{
	struct jobs jobs = {.out = out, .counts = counts};
	uint64_t gpus = 0;
	enum tl_status status =
	    tl_export_walk(reader, &tl_schema_nodes, false, count_gpus, &gpus, out, error);

	*counts = (struct tl_export_counts){.written = 0};
	if (status == TL_OK)
		status = tl_export_need(reader, &tl_schema_jobs, error);
	if (status != TL_OK)
		return status;
	(void)fprintf(out, "{\n  \"nb_res\": %" PRIu64 ",\n  \"jobs\": [", gpus);
	status = tl_export_walk(reader, &tl_schema_jobs, false, put_batsim, &jobs, out, error);
	(void)fputs("\n  ],\n  \"profiles\": {", out);
	jobs = (struct jobs){.out = out, .counts = counts, .profiles = true};
	if (status == TL_OK)
		status =
		    tl_export_walk(reader, &tl_schema_jobs, false, put_batsim, &jobs, out, error);
	(void)fputs("\n  }\n}\n", out);
	return status;
}

/* ---- SWF ---- */

static int64_t seconds(int64_t ns)
{
	return (ns + TL_NS_PER_S / 2) / TL_NS_PER_S;
}

static int swf_status(const struct tl_row_job *job)
{
	if (strcmp(job->reason, tl_schema_reason_names[TL_REASON_COMPLETE]) == 0)
		return 1;
	return strcmp(job->reason, tl_schema_reason_names[TL_REASON_CANCELLED]) == 0 ? 5 : 0;
}

/* What a row says; kept, since the format wants them by submit time. */
struct swf_row {
	uint64_t row;
	int64_t submit_s, start_s, end_s, gpus, estimate_s;
	uint32_t user, queue;
	int status;
};

struct swf {
	struct jobs jobs;
	struct swf_row *rows;
	size_t count, room;
};

static enum tl_status keep_rows(void *context, const void *rows, size_t count,
                                struct tl_error *error)
{
	struct swf *swf = context;
	const struct tl_row_job *job = rows;

	(void)error;
	for (const struct tl_row_job *end = job + count; job < end; job++, swf->jobs.row++) {
		if (!takes(&swf->jobs, job))
			continue;
		swf->rows = tl_grow(swf->rows, &swf->room, swf->count + 1, sizeof *swf->rows);
		/* Rounded as instants, so that what follows upon something still does. */
		swf->rows[swf->count++] = (struct swf_row){
		    .row = swf->jobs.row,
		    .submit_s = seconds(job->submit_ns),
		    .start_s = seconds(job->first_start_ns),
		    .end_s = seconds(job->end_ns),
		    .gpus = whole_gpus(job),
		    .estimate_s = job->estimate_ns > 0 ? seconds(job->estimate_ns) : -1,
		    .user = tl_intern_put(&swf->jobs.tenants, job->tenant) + 1,
		    .queue = tl_intern_put(&swf->jobs.queues, job->queue) + 1,
		    .status = swf_status(job)};
	}
	return TL_OK;
}

static int by_submit(const void *left, const void *right)
{
	const struct swf_row *a = left, *b = right;

	if (a->submit_s != b->submit_s)
		return a->submit_s < b->submit_s ? -1 : 1;
	return (a->row > b->row) - (a->row < b->row);
}

/* A text on one line of the header. */
static void put_name(const char *label, size_t number, const char *name, FILE *out)
{
	(void)fprintf(out, "; %s: %zu ", label, number);
	for (; *name; name++)
		(void)fputc((unsigned char)*name < ' ' ? '?' : *name, out);
	(void)fputc('\n', out);
}

static void put_swf(const struct swf_row *row, FILE *out)
{
	(void)fprintf(out,
	              "%" PRIu64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " -1 -1 %" PRId64
	              " %" PRId64 " -1 %d %" PRIu32 " -1 -1 %" PRIu32 " -1 -1 -1\n",
	              row->row + 1, row->submit_s, row->start_s - row->submit_s,
	              row->end_s - row->start_s, row->gpus, row->gpus, row->estimate_s, row->status,
	              row->user, row->queue);
}

static void put_header(const struct jobs *jobs, uint64_t gpus)
{
	(void)fprintf(jobs->out,
	              "; Version: 2.2\n; Computer: simulated\n; MaxJobs: %" PRIu64
	              "\n; MaxRecords: %" PRIu64 "\n; MaxProcs: %" PRIu64
	              "\n; Note: a processor is a GPU; written by tidelab\n",
	              jobs->counts->written, jobs->counts->written, gpus);
	for (size_t i = 0; i < jobs->tenants.count; i++)
		put_name("User", i + 1, jobs->tenants.names[i], jobs->out);
	for (size_t i = 0; i < jobs->queues.count; i++)
		put_name("Queue", i + 1, jobs->queues.names[i], jobs->out);
}

enum tl_status tl_export_swf(struct tl_results_reader *reader, FILE *out,
                             struct tl_export_counts *counts, struct tl_error *error)
{
	struct swf swf = {.jobs = {.out = out, .counts = counts}};
	uint64_t gpus = 0;
	enum tl_status status =
	    tl_export_walk(reader, &tl_schema_nodes, false, count_gpus, &gpus, out, error);

	*counts = (struct tl_export_counts){.written = 0};
	tl_intern_init(&swf.jobs.tenants);
	tl_intern_init(&swf.jobs.queues);
	if (status == TL_OK)
		status =
		    tl_export_walk(reader, &tl_schema_jobs, false, keep_rows, &swf, out, error);
	if (status == TL_OK) {
		if (swf.count > 0)
			qsort(swf.rows, swf.count, sizeof *swf.rows, by_submit);
		put_header(&swf.jobs, gpus);
		for (size_t i = 0; i < swf.count; i++)
			put_swf(&swf.rows[i], out);
	}
	free(swf.rows);
	tl_intern_fini(&swf.jobs.tenants);
	tl_intern_fini(&swf.jobs.queues);
	return status;
}
