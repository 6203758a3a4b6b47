/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of the generator: one table that sets, checks and documents them. */
#include "workloads/generate_parts.h"

#include "sim/base/units.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const tl_generate_preset_names[TL_PRESET_COUNT] = {
    [TL_PRESET_PHILLY] = "philly",
    [TL_PRESET_HELIOS] = "helios",
    [TL_PRESET_SEREN] = "seren",
    [TL_PRESET_KALOS] = "kalos",
    [TL_PRESET_PAI] = "pai",
    [TL_PRESET_RL_TRAINING] = "rl-training",
    [TL_PRESET_RELEASE_EVALUATION] = "release-evaluation",
};

#define AT(field) offsetof(struct tl_generate_options, field)
#define YEAR_NS (365.0 * 86400e9)

/* Which presets an option goes with. */
#define PUBLISHED ((1u << TL_PRESET_PUBLISHED) - 1)
#define RELEASE (1u << TL_PRESET_RELEASE_EVALUATION)
#define DRAWN (PUBLISHED | 1u << TL_PRESET_RL_TRAINING) /* come hour by hour */
#define ALL (DRAWN | RELEASE)

const struct tl_generate_option_desc tl_generate_option_descs[] = {
    {"preset", TL_GENERATE_PRESET, AT(preset), 0, 0, "", "philly",
     "philly, helios, seren, kalos, pai, rl-training, release-evaluation",
     "whose arrivals, run times, sizes and outcomes", ALL},
    {"seed", TL_GENERATE_INT, AT(seed), 0, 9223372036854775807.0, "", "1",
     "0 to 9223372036854775807", "of every draw", ALL},
    {"span", TL_GENERATE_DURATION, AT(span_ns), 1e9, 10 * YEAR_NS, "", "7d", "1s to 10 years",
     "arrivals from time 0, a Monday 00:00, until here", ALL},
    {"jobs", TL_GENERATE_INT, AT(jobs), 0, 1e12, "", "0", ">= 0", "at most this many (0: no bound)",
     ALL},
    {"rate", TL_GENERATE_RATE, AT(rate_per_h), 1e-3, 1e5, "1/h", "the preset's", "0.001 to 100000",
     "mean arrivals an hour (20; rl-training 6) [A]", DRAWN},
    {"tasks", TL_GENERATE_INT, AT(tasks), 1, 524288, "", "5000", "1 to 524288",
     "tasks of a release [A]", RELEASE},
    {"at", TL_GENERATE_DURATION, AT(at_ns), 0, 10 * YEAR_NS, "", "0s", "0 to 10 years",
     "the first release", RELEASE},
    {"every", TL_GENERATE_DURATION, AT(every_ns), 60e9, 10 * YEAR_NS, "", "7d", "1min to 10 years",
     "time to the next release [A]", RELEASE},
    {"mu", TL_GENERATE_DOUBLE, AT(mu), -5, 15, "ln s", "the preset's", "-5 to 15",
     "mean of the logarithm of run times (rl-training 7.5, half an hour in the middle; "
     "release-evaluation 6.4, ten minutes [A])",
     ALL},
    {"sigma", TL_GENERATE_DOUBLE, AT(sigma), 0, 4, "ln s", "the preset's", "0 to 4",
     "standard deviation of the logarithm of run times", ALL},
    {"max-run", TL_GENERATE_DURATION, AT(max_run_ns), 1e9, 10 * YEAR_NS, "", "3650d", "1s to 3650d",
     "longer run times are cut to this", ALL},
    {"gpus", TL_GENERATE_DOUBLE, AT(gpus), 0, 1e6, "GPUs", "0",
     "0 to 1000000, below 1 in thousandths, above 1 whole",
     "of every job (0: the preset's mix of sizes)", ALL},
    {"limit-gpus", TL_GENERATE_INT, AT(limit_gpus), 1, 1e6, "GPUs", "1024", "1 to 1000000",
     "larger jobs are cut to this", DRAWN},
    {"worker-gpus", TL_GENERATE_INT, AT(worker_gpus), 0, 1e6, "GPUs", "0", "0 to 1000000",
     "of one worker (0: as many as a node has): fewer where a node has not the cores", DRAWN},
    {"cores", TL_GENERATE_DOUBLE, AT(cores), 0, 10000, "cores", "the preset's", "0 to 10000",
     "CPU cores for each GPU (rl-training 16, of 8 to 200 [D]; else 0: none are asked for)", ALL},
    {"dispersion", TL_GENERATE_DOUBLE, AT(dispersion), 1, 1e4, "", "the preset's", "1 to 10000",
     "variance / mean of hourly arrivals (39 [S]; rl-training 4 [A]; 1: the cycles alone)", DRAWN},
    {"daily", TL_GENERATE_DOUBLE, AT(daily), 0, 1, "", "1", "0 to 1",
     "depth of the daily cycle (1: 0.19 at 06 h, 1.73 at 16-17 h) [S]", DRAWN},
    {"weekly", TL_GENERATE_DOUBLE, AT(weekly), 0, 1, "", "1", "0 to 1",
     "depth of the weekly cycle (1: 0.68 to 1.27) [S]", DRAWN},
    {"tenants", TL_GENERATE_INT, AT(tenants), 1, 1000, "", "4", "1 to 1000",
     "tenant k has weight 1/k", ALL},
    {"tide", TL_GENERATE_DOUBLE, AT(tide), 0, 1, "", "0.5", "0 to 1",
     "how far a tenant's share swings; their peaks are spread over the day", DRAWN},
    {"cancelled", TL_GENERATE_DOUBLE, AT(cancelled), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs cancelled", ALL},
    {"failed", TL_GENERATE_DOUBLE, AT(failed), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs that fail", ALL},
    {"inference", TL_GENERATE_DOUBLE, AT(inference), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs, queue high (0.05)", PUBLISHED},
    {"evaluation", TL_GENERATE_DOUBLE, AT(evaluation), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs, queue low, with a deadline (0.1)", PUBLISHED},
    {"simulation", TL_GENERATE_DOUBLE, AT(simulation), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs, queue low, CPU only (0.05)", PUBLISHED},
    {"deadline", TL_GENERATE_DURATION, AT(deadline_ns), 0, YEAR_NS, "", "24h", "0 to 365d",
     "of evaluations, after their submit (0: none)", PUBLISHED | RELEASE},
    {"estimates", TL_GENERATE_DOUBLE, AT(estimates), 0, 1, "", "1", "0 to 1",
     "share of jobs with a run-time estimate", ALL},
    {"estimate-factor", TL_GENERATE_DOUBLE, AT(estimate_factor), 0.01, 100, "", "2", "0.01 to 100",
     "median of estimate / run time", ALL},
    {"estimate-sigma", TL_GENERATE_DOUBLE, AT(estimate_sigma), 0, 4, "", "0.5", "0 to 4",
     "standard deviation of ln(estimate / run time)", ALL},
    {"utilisation", TL_GENERATE_DOUBLE, AT(utilisation), 0.01, 0.99, "", "the preset's",
     "0.01 to 0.99", "mean GPU utilisation of a job alone (of a release's task: of its share)",
     ALL},
    {"card-memory", TL_GENERATE_SIZE, AT(card_memory_bytes), 1048576, 1e15, "", "80GiB",
     "1MiB to 1000TB", "of a GPU; jobs want 0.3 to 0.9 of it", DRAWN},
};
const size_t tl_generate_option_count =
    sizeof tl_generate_option_descs / sizeof *tl_generate_option_descs;

void tl_generate_options_default(struct tl_generate_options *options)
{
	*options = (struct tl_generate_options){
	    .preset = TL_PRESET_PHILLY,
	    .seed = 1,
	    .span_ns = 7 * TL_NS_PER_DAY,
	    .rate_per_h = NAN,
	    .tasks = 5000,
	    .every_ns = 7 * TL_NS_PER_DAY,
	    .mu = NAN,
	    .sigma = NAN,
	    .max_run_ns = 3650 * TL_NS_PER_DAY,
	    .limit_gpus = 1024,
	    .cores = NAN,
	    .dispersion = NAN,
	    .daily = 1,
	    .weekly = 1,
	    .tenants = 4,
	    .tide = 0.5,
	    .cancelled = NAN,
	    .failed = NAN,
	    .inference = NAN,
	    .evaluation = NAN,
	    .simulation = NAN,
	    .deadline_ns = TL_NS_PER_DAY,
	    .estimates = 1,
	    .estimate_factor = 2,
	    .estimate_sigma = 0.5,
	    .utilisation = NAN,
	    .card_memory_bytes = 80 * TL_GIB,
	};
}

bool tl_generate_goes_with(const struct tl_generate_option_desc *desc, int32_t preset)
{
	return (desc->presets >> preset & 1) != 0;
}

static enum tl_status out_of_range(const struct tl_generate_option_desc *desc, const char *got,
                                   struct tl_error *error)
{
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "%s, got `%.80s`, wanted %s", desc->name,
	                    got, desc->range);
}

static enum tl_status set_preset(const struct tl_generate_option_desc *desc, void *at,
                                 const char *text, struct tl_error *error)
{
	for (size_t i = 0; i < TL_PRESET_COUNT; i++) {
		if (strcmp(text, tl_generate_preset_names[i]) == 0) {
			*(int32_t *)at = (int32_t)i;
			return TL_OK;
		}
	}
	return out_of_range(desc, text, error);
}

static enum tl_status set_integer(const struct tl_generate_option_desc *desc, void *at,
                                  const char *text, struct tl_error *error)
{
	int64_t value = 0;
	enum tl_status status;

	if (desc->type == TL_GENERATE_INT)
		status = tl_parse_int(text, &value, NULL);
	else if (desc->type == TL_GENERATE_DURATION)
		status = tl_parse_duration(text, &value, NULL);
	else
		status = tl_parse_size(text, &value, NULL);
	if (status != TL_OK || (double)value < desc->min || (double)value > desc->max)
		return out_of_range(desc, text, error);
	memcpy(at, &value, sizeof value);
	return TL_OK;
}

static bool is_real(const struct tl_generate_option_desc *desc)
{
	return desc->type == TL_GENERATE_DOUBLE || desc->type == TL_GENERATE_RATE;
}

static enum tl_status set_real(const struct tl_generate_option_desc *desc, void *at,
                               const char *text, struct tl_error *error)
{
	const bool unit = desc->type == TL_GENERATE_RATE && strchr(text, '/') != NULL;
	double value = 0;
	enum tl_status status =
	    unit ? tl_parse_rate(text, &value, NULL) : tl_parse_double(text, &value, NULL);

	if (unit)
		value *= 3600;
	if (status != TL_OK || !(value >= desc->min) || !(value <= desc->max))
		return out_of_range(desc, text, error);
	memcpy(at, &value, sizeof value);
	return TL_OK;
}

enum tl_status tl_generate_set(struct tl_generate_options *options, const char *name,
                               const char *value_text, struct tl_error *error)
{
	size_t number = 0;
	enum tl_status status;

	while (number < tl_generate_option_count &&
	       strcmp(tl_generate_option_descs[number].name, name) != 0)
		number++;
	if (number == tl_generate_option_count)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "option, got `%.80s`, wanted one of the generator's", name);
	const struct tl_generate_option_desc *desc = &tl_generate_option_descs[number];
	void *at = (char *)options + desc->offset;

	if (desc->type == TL_GENERATE_PRESET)
		status = set_preset(desc, at, value_text, error);
	else if (is_real(desc))
		status = set_real(desc, at, value_text, error);
	else
		status = set_integer(desc, at, value_text, error);
	if (status == TL_OK)
		options->given |= UINT64_C(1) << number;
	return status;
}

/* ---- what one option alone does not show ---- */

static enum tl_status check_ranges(const struct tl_generate_options *options,
                                   struct tl_error *error)
{
	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];
		const void *at = (const char *)options + desc->offset;
		int64_t integer;
		double value;

		if ((options->given >> i & 1) != 0 && !tl_generate_goes_with(desc, options->preset))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
			                    "%s, got it for %s, wanted none: it has no use there",
			                    desc->name, tl_generate_preset_names[options->preset]);
		if (desc->type == TL_GENERATE_PRESET)
			continue;
		memcpy(&value, at, sizeof value);
		memcpy(&integer, at, sizeof integer);
		if (!is_real(desc))
			value = (double)integer;
		if (!(value >= desc->min) || !(value <= desc->max))
			return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0, "%s, got %g, wanted %s",
			                    desc->name, value, desc->range);
	}
	return TL_OK;
}

/* A share of a card in thousandths, or whole cards. */
static bool is_size(double gpus)
{
	double mgpu = gpus * TL_MGPU_PER_GPU;

	return fabs(mgpu - round(mgpu)) < 1e-6 && (gpus < 1 || fabs(gpus - round(gpus)) < 1e-9);
}

enum tl_status tl_generate_check(const struct tl_generate_options *options, struct tl_error *error)
{
	double kinds = options->inference + options->evaluation + options->simulation;
	enum tl_status status = check_ranges(options, error);

	if (status != TL_OK)
		return status;
	if (options->cancelled + options->failed > 1)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "cancelled + failed, got %g, wanted at most 1",
		                    options->cancelled + options->failed);
	if (kinds > 1)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "inference + evaluation + simulation, got %g, wanted at most 1",
		                    kinds);
	if (!is_size(options->gpus))
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "gpus, got %g, wanted thousandths below 1 and whole ones above",
		                    options->gpus);
	if (options->entity >> TL_ENTITY_BITS != 0)
		return tl_error_set(error, TL_E_CONFIG, NULL, 0, 0,
		                    "entity, got %" PRIu64 ", wanted less than 2^24",
		                    options->entity);
	return TL_OK;
}
