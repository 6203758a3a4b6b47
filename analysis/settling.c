/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/settling.h"

#include "analysis/stats.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* The columns that are looked at. */
struct sample {
	int64_t t_ns, capacity_mgpu, allocated_mgpu, pending_mgpu;
};

#define SAMPLE(member)                                                                             \
	{                                                                                          \
		.name = #member, .type = TL_COLUMN_I64, .offset = offsetof(struct sample, member)  \
	}
static const struct tl_column sample_columns[] = {SAMPLE(t_ns), SAMPLE(capacity_mgpu),
                                                  SAMPLE(allocated_mgpu), SAMPLE(pending_mgpu)};
static const struct tl_table_schema sample_schema = {.path = "/cluster/timeline",
                                                     .row_size = sizeof(struct sample),
                                                     .columns = sample_columns,
                                                     .column_count = 4};

struct job {
	int64_t submit_ns, first_start_ns, end_ns;
};

#define JOB(member)                                                                                \
	{                                                                                          \
		.name = #member, .type = TL_COLUMN_I64, .offset = offsetof(struct job, member)     \
	}
static const struct tl_column job_columns[] = {JOB(submit_ns), JOB(first_start_ns), JOB(end_ns)};
static const struct tl_table_schema job_schema = {
    .path = "/jobs", .row_size = sizeof(struct job), .columns = job_columns, .column_count = 3};

/* *rows is NULL and *count 0 where the run has no such table. */
static enum tl_status read_table(const char *path, const struct tl_table_schema *schema,
                                 void **rows, size_t *count, struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	enum tl_status status;

	*rows = NULL;
	*count = 0;
	if (!path)
		return TL_OK;
	status = tl_results_open(path, &reader, error);
	if (status != TL_OK)
		return status;
	if (tl_results_has(reader, schema->path))
		status = tl_results_read(reader, schema, rows, count, error);
	tl_results_reader_close(reader);
	return status;
}

static void judge(const struct sample *samples, size_t count, struct tl_settling *out)
{
	double *queue = tl_calloc(count, sizeof *queue);
	struct tl_stats_warmup warmup;

	for (size_t i = 0; i < count; i++)
		queue[i] = (double)samples[i].pending_mgpu;
	warmup = tl_stats_mser5(queue, count);
	out->judged++;
	if (tl_stats_saturated(queue, count))
		out->saturated++;
	else if (!warmup.settled)
		out->unsettled++;
	else if (samples[warmup.truncate].t_ns > out->warmup_ns && warmup.truncate > 0)
		out->warmup_ns = samples[warmup.truncate].t_ns;
	if (samples[count - 1].t_ns > out->length_ns)
		out->length_ns = samples[count - 1].t_ns;
	free(queue);
}

enum tl_status tl_settling_judge(const struct tl_runs *runs, struct tl_settling *out,
                                 struct tl_error *error)
{
	enum tl_status status = TL_OK;

	*out = (struct tl_settling){.judged = 0};
	for (size_t i = 0; i < runs->count && status == TL_OK; i++) {
		void *rows;
		size_t count;

		status = read_table(runs->paths[i], &sample_schema, &rows, &count, error);
		if (status == TL_OK && count > 0)
			judge(rows, count, out);
		free(rows);
	}
	return status;
}

struct steady {
	double pending_gpus, allocation_ratio, wait_s, jct_s;
};

static double over(double sum, double count)
{
	return count > 0 ? sum / count : (double)NAN;
}

static enum tl_status steady_of(const char *path, int64_t from_ns, struct steady *out,
                                struct tl_error *error)
{
	double samples = 0, pending = 0, capacity = 0, allocated = 0;
	double started = 0, wait = 0, ended = 0, jct = 0;
	void *rows = NULL;
	size_t count = 0;
	enum tl_status status = read_table(path, &sample_schema, &rows, &count, error);
	const struct sample *sample = rows;
	const struct job *job;

	for (size_t i = 0; i < count; i++) {
		if (sample[i].t_ns < from_ns)
			continue;
		samples++;
		pending += (double)sample[i].pending_mgpu / (double)TL_MGPU_PER_GPU;
		capacity += (double)sample[i].capacity_mgpu;
		allocated += (double)sample[i].allocated_mgpu;
	}
	free(rows);
	rows = NULL;
	count = 0;
	if (status == TL_OK)
		status = read_table(path, &job_schema, &rows, &count, error);
	job = rows;
	for (size_t i = 0; i < count; i++) {
		if (job[i].submit_ns < from_ns || job[i].first_start_ns < job[i].submit_ns)
			continue;
		started++;
		wait += (double)(job[i].first_start_ns - job[i].submit_ns) / (double)TL_NS_PER_S;
		if (job[i].end_ns < job[i].first_start_ns)
			continue;
		ended++;
		jct += (double)(job[i].end_ns - job[i].submit_ns) / (double)TL_NS_PER_S;
	}
	free(rows);
	*out = (struct steady){over(pending, samples), over(allocated, capacity),
	                       over(wait, started), over(jct, ended)};
	return status;
}

enum tl_status tl_settling_add_steady(struct tl_runs *runs, int64_t from_ns, struct tl_error *error)
{
	const size_t first = runs->metric_count;
	enum tl_status status = TL_OK;

	(void)tl_runs_add_metric(runs, "steady:pending_gpus", "gpu");
	(void)tl_runs_add_metric(runs, "steady:allocation_ratio", "1");
	(void)tl_runs_add_metric(runs, "steady:wait_mean_s", "s");
	(void)tl_runs_add_metric(runs, "steady:jct_mean_s", "s");
	for (size_t i = 0; i < runs->count && status == TL_OK; i++) {
		struct steady steady;
		double *value = &runs->values[first * runs->count + i];

		status = steady_of(runs->paths[i], from_ns, &steady, error);
		value[0] = steady.pending_gpus;
		value[runs->count] = steady.allocation_ratio;
		value[2 * runs->count] = steady.wait_s;
		value[3 * runs->count] = steady.jct_s;
	}
	return status;
}
