/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The options of the generator: one table that sets, checks and documents them. */
#include "workloads/generate.h"

#include <math.h>
#include <string.h>

const char *const tl_generate_preset_names[TL_PRESET_COUNT] = {
    [TL_PRESET_PHILLY] = "philly", [TL_PRESET_HELIOS] = "helios", [TL_PRESET_SEREN] = "seren",
    [TL_PRESET_KALOS] = "kalos",   [TL_PRESET_PAI] = "pai",
};

#define AT(field) offsetof(struct tl_generate_options, field)
#define YEAR_NS (365.0 * 86400e9)

const struct tl_generate_option_desc tl_generate_option_descs[] = {
    {"preset", TL_GENERATE_PRESET, AT(preset), 0, 0, "", "philly",
     "philly, helios, seren, kalos, pai", "whose run times, sizes and outcomes"},
    {"seed", TL_GENERATE_INT, AT(seed), 0, 9223372036854775807.0, "", "1",
     "0 to 9223372036854775807", "of every draw"},
    {"span", TL_GENERATE_DURATION, AT(span_ns), 1e9, 10 * YEAR_NS, "", "7d", "1s to 10 years",
     "arrivals from time 0, a Monday 00:00, until here"},
    {"jobs", TL_GENERATE_INT, AT(jobs), 0, 1e12, "", "0", ">= 0",
     "at most this many (0: no bound)"},
    {"rate", TL_GENERATE_DOUBLE, AT(rate_per_h), 1e-3, 1e5, "1/h", "20", "0.001 to 100000",
     "mean arrivals an hour"},
    {"mu", TL_GENERATE_DOUBLE, AT(mu), -5, 15, "ln s", "the preset's", "-5 to 15",
     "mean of the logarithm of run times"},
    {"sigma", TL_GENERATE_DOUBLE, AT(sigma), 0, 4, "ln s", "the preset's", "0 to 4",
     "standard deviation of the logarithm of run times"},
    {"max-run", TL_GENERATE_DURATION, AT(max_run_ns), 1e9, 10 * YEAR_NS, "", "3650d", "1s to 3650d",
     "longer run times are cut to this"},
    {"max-gpus", TL_GENERATE_INT, AT(max_gpus), 1, 1e6, "GPUs", "1024", "1 to 1000000",
     "larger jobs are cut to this"},
    {"dispersion", TL_GENERATE_DOUBLE, AT(dispersion), 1, 1e4, "", "39", "1 to 10000",
     "variance / mean of hourly arrivals (1: nothing but the cycles)"},
    {"daily", TL_GENERATE_DOUBLE, AT(daily), 0, 1, "", "1", "0 to 1",
     "depth of the daily cycle (1: 0.19 at 06 h, 1.73 at 16-17 h)"},
    {"weekly", TL_GENERATE_DOUBLE, AT(weekly), 0, 1, "", "1", "0 to 1",
     "depth of the weekly cycle (1: 0.68 to 1.27)"},
    {"tenants", TL_GENERATE_INT, AT(tenants), 1, 1000, "", "4", "1 to 1000",
     "tenant k has weight 1/k"},
    {"tide", TL_GENERATE_DOUBLE, AT(tide), 0, 1, "", "0.5", "0 to 1",
     "how far a tenant's share swings; their peaks are spread over the day"},
    {"cancelled", TL_GENERATE_DOUBLE, AT(cancelled), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs cancelled"},
    {"failed", TL_GENERATE_DOUBLE, AT(failed), 0, 1, "", "the preset's", "0 to 1",
     "share of jobs that fail"},
    {"inference", TL_GENERATE_DOUBLE, AT(inference), 0, 1, "", "0.05", "0 to 1",
     "share of jobs, queue high"},
    {"evaluation", TL_GENERATE_DOUBLE, AT(evaluation), 0, 1, "", "0.1", "0 to 1",
     "share of jobs, queue low, with a deadline"},
    {"simulation", TL_GENERATE_DOUBLE, AT(simulation), 0, 1, "", "0.05", "0 to 1",
     "share of jobs, queue low, CPU only"},
    {"deadline", TL_GENERATE_DURATION, AT(deadline_ns), 0, YEAR_NS, "", "24h", "0 to 365d",
     "of evaluations, after their submit (0: none)"},
    {"estimates", TL_GENERATE_DOUBLE, AT(estimates), 0, 1, "", "1", "0 to 1",
     "share of jobs with a run-time estimate"},
    {"estimate-factor", TL_GENERATE_DOUBLE, AT(estimate_factor), 0.01, 100, "", "2", "0.01 to 100",
     "median of estimate / run time"},
    {"estimate-sigma", TL_GENERATE_DOUBLE, AT(estimate_sigma), 0, 4, "", "0.5", "0 to 4",
     "standard deviation of ln(estimate / run time)"},
    {"utilisation", TL_GENERATE_DOUBLE, AT(utilisation), 0.01, 0.99, "", "the preset's",
     "0.01 to 0.99", "mean GPU utilisation of a job alone"},
    {"card-memory", TL_GENERATE_SIZE, AT(card_memory_bytes), 1048576, 1e15, "", "80GiB",
     "1MiB to 1PB", "of a GPU; jobs want 0.3 to 0.9 of it"},
};
const size_t tl_generate_option_count =
    sizeof tl_generate_option_descs / sizeof *tl_generate_option_descs;

void tl_generate_options_default(struct tl_generate_options *options)
{
	*options = (struct tl_generate_options){
	    .preset = TL_PRESET_PHILLY,
	    .seed = 1,
	    .span_ns = 7 * TL_NS_PER_DAY,
	    .rate_per_h = 20,
	    .mu = NAN,
	    .sigma = NAN,
	    .max_run_ns = 3650 * TL_NS_PER_DAY,
	    .max_gpus = 1024,
	    .dispersion = 39,
	    .daily = 1,
	    .weekly = 1,
	    .tenants = 4,
	    .tide = 0.5,
	    .cancelled = NAN,
	    .failed = NAN,
	    .inference = 0.05,
	    .evaluation = 0.1,
	    .simulation = 0.05,
	    .deadline_ns = TL_NS_PER_DAY,
	    .estimates = 1,
	    .estimate_factor = 2,
	    .estimate_sigma = 0.5,
	    .utilisation = NAN,
	    .card_memory_bytes = 80 * TL_GIB,
	};
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
			*(enum tl_generate_preset *)at = (enum tl_generate_preset)i;
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

enum tl_status tl_generate_set(struct tl_generate_options *options, const char *name,
                               const char *value_text, struct tl_error *error)
{
	const struct tl_generate_option_desc *desc = NULL;

	for (size_t i = 0; i < tl_generate_option_count && desc == NULL; i++) {
		if (strcmp(tl_generate_option_descs[i].name, name) == 0)
			desc = &tl_generate_option_descs[i];
	}
	if (desc == NULL)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "option, got `%.80s`, wanted one of the generator's", name);
	void *at = (char *)options + desc->offset;
	if (desc->type == TL_GENERATE_PRESET)
		return set_preset(desc, at, value_text, error);
	if (desc->type != TL_GENERATE_DOUBLE)
		return set_integer(desc, at, value_text, error);
	double value = 0;
	if (tl_parse_double(value_text, &value, NULL) != TL_OK || !(value >= desc->min) ||
	    !(value <= desc->max))
		return out_of_range(desc, value_text, error);
	memcpy(at, &value, sizeof value);
	return TL_OK;
}
