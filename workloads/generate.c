/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "workloads/generate.h"

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

enum {
	SIZES_MAX = 12,
	HOURS = 24,
	DAYS = 7,
	JOBS_AN_HOUR_MAX = 1 << 20, /* a job's key has this many bits for its number in the hour */
	ENTITY_BITS = 40
};

struct size_share {
	int32_t mgpu;
	double share;
};

struct preset {
	double mu, sigma, cancelled, failed, utilisation;
	struct size_share sizes[SIZES_MAX]; /* ends with mgpu 0 */
};

/* PAI's list has no outcomes: Philly's stand in. Utilisation: Philly's mean; Kalos and
 * PAI by their medians, 0.97 and 0.03; Helios and Seren assumed as Philly. */
static const struct preset presets[TL_PRESET_COUNT] = {
    [TL_PRESET_PHILLY] = {6.77,
                          2.46,
                          0.09,
                          0.31,
                          0.52,
                          {{1000, 0.81},
                           {2000, 0.07},
                           {4000, 0.06},
                           {8000, 0.043},
                           {16000, 0.013},
                           {32000, 0.003},
                           {64000, 0.001}}},
    [TL_PRESET_HELIOS] = {5.33,
                          2.64,
                          0.22,
                          0.16,
                          0.52,
                          {{1000, 0.664},
                           {2000, 0.09},
                           {4000, 0.08},
                           {8000, 0.11},
                           {16000, 0.03},
                           {32000, 0.015},
                           {64000, 0.011}}},
    [TL_PRESET_SEREN] = {4.80,
                         2.21,
                         0.08,
                         0.43,
                         0.52,
                         {{1000, 0.628},
                          {2000, 0.05},
                          {4000, 0.06},
                          {8000, 0.18},
                          {16000, 0.04},
                          {32000, 0.02},
                          {64000, 0.013},
                          {128000, 0.009}}},
    [TL_PRESET_KALOS] = {4.82,
                         2.15,
                         0.06,
                         0.40,
                         0.93,
                         {{1000, 0.47},
                          {2000, 0.03},
                          {4000, 0.02},
                          {8000, 0.30},
                          {16000, 0.04},
                          {32000, 0.04},
                          {64000, 0.03},
                          {128000, 0.03},
                          {256000, 0.019},
                          {512000, 0.02},
                          {1024000, 0.001}}},
    [TL_PRESET_PAI] =
	{6.18,
         2.14,
         0.09,
         0.31,
         0.09,
         {{250, 0.31}, {500, 0.30}, {1000, 0.36}, {2000, 0.02}, {4000, 0.005}, {8000, 0.005}}},
};

/* Mean 1. Published: 0.19 at 06 h, 1.73 at 16–17 h; between them a power of a cosine. */
static const double hour_factor[HOURS] = {0.88, 0.70, 0.54, 0.39, 0.29, 0.22, 0.19, 0.23,
                                          0.35, 0.52, 0.74, 0.97, 1.21, 1.42, 1.59, 1.69,
                                          1.73, 1.73, 1.71, 1.64, 1.54, 1.41, 1.24, 1.07};
/* Mean 1, Monday first. Published: 1.27 to 0.68; which day is which is assumed. */
static const double day_factor[DAYS] = {1.06, 1.20, 1.27, 1.14, 0.96, 0.69, 0.68};

struct generator {
	struct tl_generate_options options; /* preset's values filled in */
	const struct preset *preset;
	gsl_rng *rng;
	double burst_variance;
	double *tenant_weights;
	int64_t *arrivals; /* of one hour, ns within it */
	size_t arrivals_capacity;
	uint64_t count;
};

static double or_preset(double value, double preset)
{
	return isnan(value) ? preset : value;
}

static double season(const struct tl_generate_options *options, int64_t hour)
{
	double day = 1 + options->weekly * (day_factor[hour / HOURS % DAYS] - 1);
	return day * (1 + options->daily * (hour_factor[hour % HOURS] - 1));
}

/* Variance of the hourly gamma factor that gives the dispersion; see the header. */
static double solve_burst_variance(const struct tl_generate_options *options)
{
	double squares = 0;

	for (int64_t hour = 0; hour < HOURS * DAYS; hour++)
		squares += pow(season(options, hour), 2);
	squares /= HOURS * DAYS;
	double variance = ((options->dispersion - 1) / options->rate_per_h + 1) / squares - 1;
	return variance > 0 ? variance : 0;
}

static void key(struct generator *generator, enum tl_stream stream, int64_t hour, size_t number)
{
	uint64_t entity = generator->options.entity << ENTITY_BITS;
	entity |= (uint64_t)hour * JOBS_AN_HOUR_MAX + number;
	tl_rng_gsl_key(generator->rng, generator->options.seed, stream, entity);
}

static int compare_times(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return a < b ? -1 : a > b;
}

/* Draws the arrivals of an hour, in order. */
static enum tl_status draw_arrivals(struct generator *generator, int64_t hour, size_t *count,
                                    struct tl_error *error)
{
	const struct tl_generate_options *options = &generator->options;
	double rate = options->rate_per_h * season(options, hour);
	double variance = generator->burst_variance;

	key(generator, TL_STREAM_ARRIVAL, hour, 0);
	if (variance > 0)
		rate *= gsl_ran_gamma(generator->rng, 1 / variance, variance);
	*count = 0;
	if (rate > JOBS_AN_HOUR_MAX / 2.0)
		return tl_error_set(
		    error, TL_E_CONFIG, NULL, 0, 0,
		    "rate, got a burst of %.0f jobs in an hour, wanted at most %d: lower "
		    "rate or dispersion",
		    rate, JOBS_AN_HOUR_MAX / 2);
	*count = gsl_ran_poisson(generator->rng, rate);
	generator->arrivals = tl_grow(generator->arrivals, &generator->arrivals_capacity,
	                              *count + 1, sizeof *generator->arrivals);
	for (size_t i = 0; i < *count; i++)
		generator->arrivals[i] =
		    (int64_t)(gsl_rng_uniform(generator->rng) * 3600e3) * TL_NS_PER_MS;
	qsort(generator->arrivals, *count, sizeof *generator->arrivals, compare_times);
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
	const struct size_share *sizes = generator->preset->sizes;
	int64_t limit = generator->options.max_gpus * TL_MGPU_PER_GPU;
	size_t i = 0;

	while (i + 1 < SIZES_MAX && sizes[i + 1].mgpu != 0 && uniform >= sizes[i].share)
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
                      struct tl_generated *job)
{
	enum { CORES_STEP = 8, STEPS = 8 };
	const struct tl_generate_options *options = &generator->options;
	struct tl_trace_record *record = &job->record;

	job->queue = "low";
	record->queue = 2;
	if (uniform < options->inference) {
		record->kind = TL_KIND_INFERENCE;
		job->queue = "high";
		record->queue = 0;
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
		record->queue = 1;
	}
}

/* Draws of the job's own stream, always the same number in the same order. */
static void draw_work(struct generator *generator, int64_t hour, size_t number,
                      struct tl_generated *job)
{
	const struct tl_generate_options *options = &generator->options;
	struct tl_trace_record *record = &job->record;
	gsl_rng *rng = generator->rng;

	key(generator, TL_STREAM_JOB, hour, number);
	double tenant = gsl_rng_uniform(rng), size = gsl_rng_uniform(rng);
	double outcome = gsl_rng_uniform(rng), kind = gsl_rng_uniform(rng);
	double memory = gsl_rng_uniform(rng), state = gsl_rng_uniform(rng);
	double run_s = gsl_ran_lognormal(rng, options->mu, options->sigma);

	record->tenant = (uint32_t)pick_tenant(generator, record->submit_ns, tenant);
	snprintf(job->tenant, sizeof job->tenant, "tenant-%" PRIu32, record->tenant + 1);
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
}

/* Beta with the mean asked for and the spread of Philly's (a + b = 2.4). */
static void draw_utilisation(struct generator *generator, int64_t hour, size_t number,
                             struct tl_trace_record *record)
{
	double mean = generator->options.utilisation;

	if (record->gpus_mgpu == 0)
		return;
	key(generator, TL_STREAM_UTILISATION, hour, number);
	record->utilisation_milli =
	    (int32_t)lround(1000 * gsl_ran_beta(generator->rng, 2.4 * mean, 2.4 * (1 - mean)));
}

static void draw_estimate(struct generator *generator, int64_t hour, size_t number,
                          struct tl_trace_record *record)
{
	const struct tl_generate_options *options = &generator->options;

	key(generator, TL_STREAM_ESTIMATE, hour, number);
	if (gsl_rng_uniform(generator->rng) >= options->estimates)
		return;
	double noise = gsl_ran_lognormal(generator->rng, log(options->estimate_factor),
	                                 options->estimate_sigma);
	record->estimate_ns =
	    seconds_to_ns((double)record->duration_ns / 1e9 * noise, 3650 * TL_NS_PER_DAY);
}

static enum tl_status emit_job(struct generator *generator, int64_t hour, size_t number,
                               tl_generate_sink sink, void *context, struct tl_error *error)
{
	struct tl_generated job = {
	    .record = {.row = generator->count,
	               .submit_ns = hour * TL_NS_PER_HOUR + generator->arrivals[number],
	               .estimate_ns = TL_NONE,
	               .deadline_ns = TL_NONE,
	               .cpu_milli = TL_NONE,
	               .ram_bytes = TL_NONE,
	               .utilisation_milli = -1,
	               .models = UINT32_MAX,
	               .role = UINT32_MAX},
	};

	generator->count++;
	snprintf(job.record.id, sizeof job.record.id, "%" PRIu64, generator->count);
	job.record.line = (long)generator->count + 1;
	draw_work(generator, hour, number, &job);
	draw_utilisation(generator, hour, number, &job.record);
	draw_estimate(generator, hour, number, &job.record);
	return sink(context, &job, error);
}

static enum tl_status generate_hours(struct generator *generator, tl_generate_sink sink,
                                     void *context, struct tl_error *error)
{
	const struct tl_generate_options *options = &generator->options;

	for (int64_t hour = 0; hour * TL_NS_PER_HOUR < options->span_ns; hour++) {
		size_t count;
		enum tl_status status = draw_arrivals(generator, hour, &count, error);
		if (status != TL_OK)
			return status;
		for (size_t i = 0; i < count; i++) {
			if (hour * TL_NS_PER_HOUR + generator->arrivals[i] >= options->span_ns ||
			    (options->jobs > 0 && generator->count >= options->jobs))
				return TL_OK;
			status = emit_job(generator, hour, i, sink, context, error);
			if (status != TL_OK)
				return status;
		}
	}
	return TL_OK;
}

/* NaN stands for the preset's. */
static void fill_in(struct tl_generate_options *options)
{
	const struct preset *preset = &presets[options->preset];

	options->mu = or_preset(options->mu, preset->mu);
	options->sigma = or_preset(options->sigma, preset->sigma);
	options->cancelled = or_preset(options->cancelled, preset->cancelled);
	options->failed = or_preset(options->failed, preset->failed);
	options->utilisation = or_preset(options->utilisation, preset->utilisation);
}

static enum tl_status check(const struct tl_generate_options *options, struct tl_error *error)
{
	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];
		const void *at = (const char *)options + desc->offset;
		double value;
		int64_t integer;
		if (desc->type == TL_GENERATE_PRESET)
			continue;
		memcpy(&value, at, sizeof value);
		memcpy(&integer, at, sizeof integer);
		if (desc->type != TL_GENERATE_DOUBLE)
			value = (double)integer;
		if (!(value >= desc->min) || !(value <= desc->max))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "%s, got %g, wanted %s",
			                    desc->name, value, desc->range);
	}
	if (options->cancelled + options->failed > 1)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "cancelled + failed, got %g, wanted at most 1",
		                    options->cancelled + options->failed);
	double kinds = options->inference + options->evaluation + options->simulation;
	if (kinds > 1)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "inference + evaluation + simulation, got %g, wanted at most 1",
		                    kinds);
	if (options->entity >> (64 - ENTITY_BITS) != 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "entity, got %" PRIu64 ", wanted less than 2^24",
		                    options->entity);
	return TL_OK;
}

enum tl_status tl_generate_check(const struct tl_generate_options *options, struct tl_error *error)
{
	struct tl_generate_options filled = *options;

	fill_in(&filled);
	return check(&filled, error);
}

enum tl_status tl_generate_each(const struct tl_generate_options *options, tl_generate_sink sink,
                                void *context, struct tl_error *error)
{
	TL_ASSERT(options->preset < TL_PRESET_COUNT);
	struct generator generator = {.options = *options, .preset = &presets[options->preset]};
	struct tl_generate_options *own = &generator.options;

	fill_in(own);
	enum tl_status status = check(own, error);
	if (status != TL_OK)
		return status;
	generator.rng = gsl_rng_alloc(tl_rng_gsl_type());
	if (generator.rng == NULL)
		tl_out_of_memory(sizeof(gsl_rng));
	generator.tenant_weights = tl_calloc((size_t)own->tenants, sizeof(double));
	generator.burst_variance = solve_burst_variance(own);
	status = generate_hours(&generator, sink, context, error);
	gsl_rng_free(generator.rng);
	free(generator.tenant_weights);
	free(generator.arrivals);
	return status;
}

static enum tl_status write_job(void *context, const struct tl_generated *job,
                                struct tl_error *error)
{
	FILE *out = context;
	struct tl_canonical_names names = {.tenant = job->tenant, .queue = job->queue};

	tl_canonical_write_record(out, &job->record, &names);
	if (ferror(out))
		return tl_canonical_failed(error);
	return tl_stop_check(error);
}

enum tl_status tl_generate(const struct tl_generate_options *options, FILE *out,
                           struct tl_error *error)
{
	errno = 0;
	tl_canonical_write_header(out);
	enum tl_status status = tl_generate_each(options, write_job, out, error);
	if (status == TL_OK && fflush(out) != 0)
		status = tl_canonical_failed(error);
	return status;
}
