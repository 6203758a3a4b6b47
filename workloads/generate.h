/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Synthetic work, job by job: a published cluster's, training by reinforcement learning, or
 * a release's evaluation.
 *
 * Arrivals of the published clusters and of RL training are a Poisson process whose rate
 * changes by the hour: mean rate × hour of day × day of week × a gamma factor of mean 1,
 * drawn anew each hour, whose variance is chosen so that hourly counts have the
 * variance-to-mean ratio asked for. With mean m an hour, daily and weekly factor s and
 * gamma variance v that ratio is 1 + m (E[s²] (1 + v) − 1); where s alone exceeds it, v
 * is 0. Time 0 is a Monday 00:00. An evaluation's tasks all come at the instant of their
 * release. Run times are log-normal; sizes, outcomes and utilisation follow the preset.
 *
 * Every draw is keyed by (seed, entity, batch, number within the batch), a batch being an
 * hour or a release, streams apart: another estimate or utilisation changes no arrival,
 * run time or size, and a longer span leaves the first days as they were.
 */
#ifndef TIDELAB_WORKLOADS_GENERATE_H
#define TIDELAB_WORKLOADS_GENERATE_H

#include "sim/base/error.h"
#include "traces/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Statistics of one published cluster: run time mean 18,006 / 6,652 / 1,414 / 1,260 /
 * 4,787 s and GPUs 1.93 / 3.72 / 5.68 / 26.8 / 0.68 a job (philly, helios, seren,
 * kalos, pai; Acme's cluster summary). The size mixes are ours, made to meet the mean.
 * RL training and release evaluation have no published statistics: theirs are assumed. */
enum tl_generate_preset {
	TL_PRESET_PHILLY,
	TL_PRESET_HELIOS,
	TL_PRESET_SEREN,
	TL_PRESET_KALOS,
	TL_PRESET_PAI,
	TL_PRESET_RL_TRAINING,        /* whole nodes, and CPU cores for the environments */
	TL_PRESET_RELEASE_EVALUATION, /* thousands of small tasks at once, with a deadline */
	TL_PRESET_COUNT
};
enum { TL_PRESET_PUBLISHED = TL_PRESET_RL_TRAINING }; /* those before it are a cluster's */
extern const char *const tl_generate_preset_names[TL_PRESET_COUNT];

/* NaN: as the preset has it, until settled. */
struct tl_generate_options {
	int32_t preset;          /* enum tl_generate_preset */
	uint64_t given;          /* bit k: option k was set by name */
	uint64_t seed, entity;   /* entity: apart from other generators of a seed; < 2^24 */
	int64_t span_ns;         /* arrivals in [0, span) */
	uint64_t jobs;           /* at most this many; 0: no bound */
	double rate_per_h;       /* mean arrivals an hour */
	int64_t tasks;           /* of a release */
	int64_t at_ns, every_ns; /* the first release, and the time to the next */
	double mu, sigma;        /* of ln(run time in s) */
	int64_t max_run_ns;      /* longer run times are cut to this */
	double gpus;             /* of every job; 0: the preset's mix */
	int64_t limit_gpus;      /* larger jobs are cut to this */
	int64_t worker_gpus;     /* GPUs of a worker; 0: as many as a node has */
	double cores;            /* CPU cores for each GPU; 0: none are asked for */
	double dispersion;       /* variance / mean of hourly counts; ≥ 1 */
	double daily, weekly;    /* depth of the cycles: 0 flat, 1 as published */
	int64_t tenants;
	double tide;              /* 0–1: how far a tenant's share swings over its day */
	double cancelled, failed; /* shares of jobs; the rest completes */
	double inference, evaluation, simulation; /* shares of jobs; the rest trains */
	int64_t deadline_ns;                      /* of evaluations, after submit; 0: none */
	double estimates;                         /* share of jobs with an estimate */
	double estimate_factor;                   /* median of estimate / run time */
	double estimate_sigma;                    /* of ln(estimate / run time) */
	double utilisation;                       /* mean GPU utilisation of a job alone */
	int64_t card_memory_bytes;                /* jobs want 0.3–0.9 of it */
};
void tl_generate_options_default(struct tl_generate_options *options);

enum tl_generate_type {
	TL_GENERATE_PRESET,
	TL_GENERATE_INT,
	TL_GENERATE_DOUBLE,
	TL_GENERATE_RATE, /* an hour, or with its own unit: `20`, `6/h`, `2/min` */
	TL_GENERATE_DURATION,
	TL_GENERATE_SIZE
};

/* One option, for flags, scenarios and documentation. */
struct tl_generate_option_desc {
	const char *name; /* `rate`, also the flag's; in a scenario with `_` for `-` */
	enum tl_generate_type type;
	size_t offset;    /* in struct tl_generate_options */
	double min, max;  /* in the unit the struct holds; INT, DOUBLE, DURATION, SIZE */
	const char *unit; /* `1/h`, `` */
	const char *default_text;
	const char *range;
	const char *help;
	uint32_t presets; /* bit p: it goes with preset p */
};
extern const struct tl_generate_option_desc tl_generate_option_descs[];
extern const size_t tl_generate_option_count;

/* Sets an option from text. TL_E_USAGE: unknown name, or a value out of range (the message
 * has both the value and the range). */
enum tl_status tl_generate_set(struct tl_generate_options *options, const char *name,
                               const char *value_text, struct tl_error *error);
bool tl_generate_goes_with(const struct tl_generate_option_desc *desc, int32_t preset);

/* NaN becomes the preset's value. */
void tl_generate_settle(struct tl_generate_options *options);
/* TL_E_CONFIG where settled options contradict each other, or one was given that the preset
 * has no use for. */
enum tl_status tl_generate_check(const struct tl_generate_options *options, struct tl_error *error);

/* The jobs, in order of submission, behind the iterator of traces; settles a copy of the
 * options. Queues are high (inference), normal (training), low (evaluation, simulation);
 * tenants tenant-1, tenant-2 …; ids `<preset>-1` … TL_E_CONFIG where options contradict each
 * other, or a burst is beyond reason. Memory: one hour, or one release. */
enum tl_status tl_generate_open(const struct tl_generate_options *options,
                                const struct tl_trace_options *filters, struct tl_trace **out,
                                struct tl_error *error);

/* The same as canonical CSV, header included, job by job. */
enum tl_status tl_generate(const struct tl_generate_options *options, FILE *out,
                           struct tl_error *error);

#endif
