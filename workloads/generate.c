/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/generate.h"

#include "workloads/generate_parts.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/rng.h"
#include "sim/base/stop.h"
#include "traces/canonical.h"

#include <errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_randist.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HOURS_OF_WEEK = TL_HOURS_OF_DAY * TL_DAYS_OF_WEEK };

struct generator {
	struct tl_generate_options options; /* settled */
	const struct tl_preset *preset;
	gsl_rng *rng;
	double burst_variance;
	double *tenant_weights;
	int64_t batch;     /* under way: an hour, or a release */
	int64_t *arrivals; /* of it, since its start */
	size_t arrivals_capacity, arrival_count, arrival_next;
	uint64_t count; /* of jobs made */
	char tenant[32];
};

static double season(const struct tl_generate_options *options, int64_t hour)
{
	double of_day = tl_day_factor[hour / TL_HOURS_OF_DAY % TL_DAYS_OF_WEEK];
	double of_hour = tl_hour_factor[hour % TL_HOURS_OF_DAY];

	return (1 + options->weekly * (of_day - 1)) * (1 + options->daily * (of_hour - 1));
}

/* Variance of the hourly gamma factor that gives the dispersion; see the header. */
static double solve_burst_variance(const struct tl_generate_options *options)
{
	double squares = 0;

	for (int64_t hour = 0; hour < HOURS_OF_WEEK; hour++)
		squares += pow(season(options, hour), 2);
	squares /= HOURS_OF_WEEK;
	double variance = ((options->dispersion - 1) / options->rate_per_h + 1) / squares - 1;
	return variance > 0 ? variance : 0;
}

static void key(struct generator *generator, enum tl_stream stream, size_t number)
{
	uint64_t entity = generator->options.entity << (64 - TL_ENTITY_BITS);
	entity |= (uint64_t)generator->batch * TL_BATCH_JOBS_MAX + number;
	tl_rng_gsl_key(generator->rng, generator->options.seed, stream, entity);
}

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

static void reserve(struct generator *generator, size_t count)
{
	generator->arrivals = tl_grow(generator->arrivals, &generator->arrivals_capacity, count + 1,
	                              sizeof *generator->arrivals);
	generator->arrival_count = count;
	generator->arrival_next = 0;
}

/* Draws the arrivals of the hour under way, in order. */
static enum tl_status draw_hour(struct generator *generator, struct tl_error *error)
{
	const struct tl_generate_options *options = &generator->options;
	double rate = options->rate_per_h * season(options, generator->batch);
	double variance = generator->burst_variance;

	key(generator, TL_STREAM_ARRIVAL, 0);
	if (variance > 0)
		rate *= gsl_ran_gamma(generator->rng, 1 / variance, variance);
	if (rate > TL_BATCH_JOBS_MAX / 2.0)
		return tl_error_set(
		    error, TL_E_CONFIG, NULL, 0, 0,
		    "rate, got a burst of %.0f jobs in an hour, wanted at most %d: lower "
		    "rate or dispersion",
		    rate, TL_BATCH_JOBS_MAX / 2);
	reserve(generator, gsl_ran_poisson(generator->rng, rate));
	for (size_t i = 0; i < generator->arrival_count; i++)
		generator->arrivals[i] =
		    (int64_t)(gsl_rng_uniform(generator->rng) * 3600e3) * TL_NS_PER_MS;
	qsort(generator->arrivals, generator->arrival_count, sizeof *generator->arrivals,
	      compare_times);
	return TL_OK;
}

static bool is_released(const struct generator *generator)
{
	return generator->options.preset == TL_PRESET_RELEASE_EVALUATION;
}

static int64_t batch_start_ns(const struct generator *generator)
{
	const struct tl_generate_options *options = &generator->options;

	if (is_released(generator))
		return options->at_ns + generator->batch * options->every_ns;
	return generator->batch * TL_NS_PER_HOUR;
}

/* All tasks of a release come at once. */
static enum tl_status draw_batch(struct generator *generator, struct tl_error *error)
{
	if (!is_released(generator))
		return draw_hour(generator, error);
	reserve(generator, (size_t)generator->options.tasks);
	memset(generator->arrivals, 0, generator->arrival_count * sizeof *generator->arrivals);
	return TL_OK;
}

/* Weight 1/k, swinging over the day; peaks a day / tenants apart, the first at 15 h. */
static size_t pick_tenant(struct generator *generator, int64_t submit_ns, double uniform)
{
	const struct tl_generate_options *options = &generator->options;
	size_t tenants = (size_t)options->tenants;
	double hour = (double)(submit_ns % TL_NS_PER_DAY) / (double)TL_NS_PER_HOUR, sum = 0;

	for (size_t k = 0; k < tenants; k++) {
		double peak = 15 + 24 * (double)k / (double)tenants;
		double swing = 1 + options->tide * cos(2 * M_PI * (hour - peak) / 24);
		generator->tenant_weights[k] = swing / (double)(k + 1);
		sum += generator->tenant_weights[k];
	}
	double left = uniform * sum;
	size_t k = 0;
	while (k + 1 < tenants && left >= generator->tenant_weights[k])
		left -= generator->tenant_weights[k++];
	return k;
}

static int64_t pick_size(const struct generator *generator, double uniform)
{
	const struct tl_size_share *sizes = generator->preset->sizes;
	int64_t limit = generator->options.limit_gpus * TL_MGPU_PER_GPU;
	size_t i = 0;

	if (generator->options.gpus > 0)
		return llround(generator->options.gpus * TL_MGPU_PER_GPU);
	while (i + 1 < TL_PRESET_SIZES_MAX && sizes[i + 1].mgpu != 0 && uniform >= sizes[i].share)
		uniform -= sizes[i++].share;
	return sizes[i].mgpu < limit ? sizes[i].mgpu : limit;
}

static int64_t seconds_to_ns(double seconds, int64_t limit_ns)
{
	double ms = round(seconds * 1e3);
	const int64_t limit_ms = limit_ns / TL_NS_PER_MS;
	int64_t ns;

	if (ms < 1)
		ms = 1;
	if (ms >= (double)limit_ms)
		ns = limit_ns;
	else
		ns = (int64_t)ms * TL_NS_PER_MS;
	return ns;
}

static void pick_kind(const struct generator *generator, double uniform, double size_uniform,
                      struct tl_trace_made *job)
{
	enum { CORES_STEP = 8, STEPS = 8 };
	const struct tl_generate_options *options = &generator->options;
	struct tl_trace_record *record = &job->record;

	job->queue = "low";
	if (uniform < options->inference) {
		record->kind = TL_KIND_INFERENCE;
		job->queue = "high";
	} else if (uniform < options->inference + options->evaluation) {
		record->kind = TL_KIND_EVALUATION;
		if (options->deadline_ns > 0)
			record->deadline_ns = record->submit_ns + options->deadline_ns;
	} else if (uniform < options->inference + options->evaluation + options->simulation) {
		int64_t cores = CORES_STEP * (1 + (int64_t)(size_uniform * STEPS));
		record->kind = TL_KIND_SIMULATION;
		record->gpus_mgpu = 0;
		record->gpu_memory_bytes = TL_NONE;
		record->state_bytes = TL_NONE;
		record->cpu_milli = cores * 1000;
		record->ram_bytes = cores * 4 * TL_GIB;
	} else {
		record->kind = TL_KIND_TRAINING;
		job->queue = "normal";
	}
}

/* A task is a match between two nets: it takes its share of a card's memory, and has nothing
 * to save before its result. */
static void shrink_task(struct tl_trace_record *record)
{
	record->gpu_memory_bytes = TL_NONE;
	record->state_bytes = 0;
}

/* Cores go with the GPUs; workers are stated where their size is. */
static void ask_for_cores(const struct tl_generate_options *options, struct tl_trace_record *record)
{
	int64_t worker_mgpu = options->worker_gpus * TL_MGPU_PER_GPU;

	if (record->gpus_mgpu == 0)
		return;
	if (options->cores > 0)
		record->cpu_milli = llround((double)record->gpus_mgpu * options->cores);
	if (worker_mgpu > 0)
		record->workers = (uint32_t)((record->gpus_mgpu + worker_mgpu - 1) / worker_mgpu);
}

/* Draws of the job's own stream, always the same number in the same order. */
static void draw_work(struct generator *generator, size_t number, struct tl_trace_made *job)
{
	const struct tl_generate_options *options = &generator->options;
	struct tl_trace_record *record = &job->record;
	gsl_rng *rng = generator->rng;

	key(generator, TL_STREAM_JOB, number);
	double tenant = gsl_rng_uniform(rng), size = gsl_rng_uniform(rng);
	double outcome = gsl_rng_uniform(rng), kind = gsl_rng_uniform(rng);
	double memory = gsl_rng_uniform(rng), state = gsl_rng_uniform(rng);
	double run_s = gsl_ran_lognormal(rng, options->mu, options->sigma);
	size_t owner = pick_tenant(generator, record->submit_ns, tenant);

	snprintf(generator->tenant, sizeof generator->tenant, "tenant-%zu", owner + 1);
	job->tenant = generator->tenant;
	record->gpus_mgpu = pick_size(generator, size);
	record->duration_ns = seconds_to_ns(run_s, options->max_run_ns);
	record->outcome = TL_OUTCOME_COMPLETED;
	if (outcome < options->failed)
		record->outcome = TL_OUTCOME_FAILED;
	else if (outcome < options->failed + options->cancelled)
		record->outcome = TL_OUTCOME_CANCELLED;
	int64_t percent = 30 + (int64_t)(61 * memory); /* whole ones: few distinct requests */
	record->gpu_memory_bytes = options->card_memory_bytes / TL_MIB * percent / 100 * TL_MIB;
	record->state_bytes = (3000 + (int64_t)(2000 * state)) * 1000000; /* 3–5 GB */
	pick_kind(generator, kind, size, job);
	ask_for_cores(options, record);
	if (is_released(generator))
		shrink_task(record);
}

/* Beta with the mean asked for and the spread of Philly's (a + b = 2.4). */
static void draw_utilisation(struct generator *generator, size_t number,
                             struct tl_trace_record *record)
{
	double mean = generator->options.utilisation;

	if (record->gpus_mgpu == 0)
		return;
	key(generator, TL_STREAM_UTILISATION, number);
	double drawn = gsl_ran_beta(generator->rng, 2.4 * mean, 2.4 * (1 - mean));
	if (is_released(generator) && record->gpus_mgpu < TL_MGPU_PER_GPU)
		drawn *= (double)record->gpus_mgpu / TL_MGPU_PER_GPU;
	record->utilisation_milli = (int32_t)lround(1000 * drawn);
}

static void draw_estimate(struct generator *generator, size_t number,
                          struct tl_trace_record *record)
{
	const struct tl_generate_options *options = &generator->options;

	key(generator, TL_STREAM_ESTIMATE, number);
	if (gsl_rng_uniform(generator->rng) >= options->estimates)
		return;
	double noise = gsl_ran_lognormal(generator->rng, log(options->estimate_factor),
	                                 options->estimate_sigma);
	record->estimate_ns =
	    seconds_to_ns((double)record->duration_ns / 1e9 * noise, 3650 * TL_NS_PER_DAY);
}

static void make_job(struct generator *generator, size_t number, struct tl_trace_made *job)
{
	*job = (struct tl_trace_made){
	    .record = {.row = generator->count,
	               .submit_ns = batch_start_ns(generator) + generator->arrivals[number],
	               .estimate_ns = TL_NONE,
	               .deadline_ns = TL_NONE,
	               .cpu_milli = TL_NONE,
	               .ram_bytes = TL_NONE,
	               .utilisation_milli = -1,
	               .models = UINT32_MAX,
	               .role = UINT32_MAX},
	};
	generator->count++;
	snprintf(job->record.id, sizeof job->record.id, "%s-%" PRIu64,
	         tl_generate_preset_names[generator->options.preset], generator->count);
	job->record.line = (long)generator->count + 1;
	draw_work(generator, number, job);
	draw_utilisation(generator, number, &job->record);
	draw_estimate(generator, number, &job->record);
}

/* ---- the iterator ---- */

static void end(void *state)
{
	struct generator *generator = state;

	gsl_rng_free(generator->rng);
	free(generator->tenant_weights);
	free(generator->arrivals);
	free(generator);
}

static enum tl_status begin(const void *of, void **out, struct tl_error *error)
{
	const struct tl_generate_options *options = of;
	struct generator *generator = tl_calloc(1, sizeof *generator);

	*generator = (struct generator){.options = *options,
	                                .preset = &tl_presets[options->preset],
	                                .rng = gsl_rng_alloc(tl_rng_gsl_type()),
	                                .batch = -1};
	if (generator->rng == NULL)
		tl_out_of_memory(sizeof(gsl_rng));
	generator->tenant_weights = tl_calloc((size_t)options->tenants, sizeof(double));
	generator->burst_variance = solve_burst_variance(options);
	(void)error;
	*out = generator;
	return TL_OK;
}

static enum tl_status next(void *state, struct tl_trace_made *out, struct tl_error *error)
{
	struct generator *generator = state;
	const struct tl_generate_options *options = &generator->options;
	enum tl_status status;

	while (generator->arrival_next == generator->arrival_count) {
		generator->batch++;
		if (batch_start_ns(generator) >= options->span_ns)
			return TL_END;
		status = draw_batch(generator, error);
		if (status != TL_OK)
			return status;
	}
	size_t number = generator->arrival_next++;
	if (batch_start_ns(generator) + generator->arrivals[number] >= options->span_ns ||
	    (options->jobs > 0 && generator->count >= options->jobs)) {
		generator->arrival_next--; /* stays at the end */
		return TL_END;
	}
	make_job(generator, number, out);
	return tl_stop_check(error);
}

static void forget(const void *of)
{
	free((void *)(uintptr_t)of);
}

/* A settled copy, checked; NULL where it is refused. */
static struct tl_generate_options *copy_of(const struct tl_generate_options *options,
                                           struct tl_error *error)
{
	TL_ASSERT(options->preset >= 0 && options->preset < TL_PRESET_COUNT);
	struct tl_generate_options *own = tl_alloc(sizeof *own);

	*own = *options;
	tl_generate_settle(own);
	if (tl_generate_check(own, error) == TL_OK)
		return own;
	free(own);
	return NULL;
}

enum tl_status tl_generate_open(const struct tl_generate_options *options,
                                const struct tl_trace_options *filters, struct tl_trace **out,
                                struct tl_error *error)
{
	const struct tl_trace_maker maker = {.name = tl_generate_preset_names[options->preset],
	                                     .of = copy_of(options, error),
	                                     .begin = begin,
	                                     .next = next,
	                                     .end = end,
	                                     .forget = forget};

	return maker.of == NULL ? TL_E_CONFIG : tl_trace_open_made(&maker, filters, out, error);
}

static enum tl_status write_all(void *generator, FILE *out, struct tl_error *error)
{
	struct tl_trace_made job;
	enum tl_status status;

	errno = 0;
	tl_canonical_write_header(out);
	while ((status = next(generator, &job, error)) == TL_OK) {
		struct tl_canonical_names names = {.tenant = job.tenant, .queue = job.queue};

		tl_canonical_write_record(out, &job.record, &names);
		if (ferror(out))
			return tl_canonical_failed(error);
	}
	if (status != TL_END)
		return status;
	return fflush(out) != 0 ? tl_canonical_failed(error) : TL_OK;
}

enum tl_status tl_generate(const struct tl_generate_options *options, FILE *out,
                           struct tl_error *error)
{
	struct tl_generate_options *own = copy_of(options, error);
	void *generator;

	if (own == NULL)
		return TL_E_CONFIG;
	enum tl_status status = begin(own, &generator, error);
	if (status == TL_OK) {
		status = write_all(generator, out, error);
		end(generator);
	}
	free(own);
	return status;
}
