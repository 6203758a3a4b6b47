/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The numbers of the generator's presets, and of the day and the week. */
#include "workloads/generate_parts.h"

#include <math.h>

/* Laid out by hand: a preset a paragraph. */
/* clang-format off */

/* Published: run times, outcomes, mean sizes (model §9). PAI's list has no outcomes: Philly's
 * stand in. Utilisation: Philly's mean; Kalos and PAI by their medians, 0.97 and 0.03; Helios
 * and Seren assumed as Philly. The rate is ours: what a few hundred GPUs see.
 *
 * RL training, assumed: groups of learners and as many actors, so one or two nodes; most runs
 * are tries of half an hour, few last the day; GPUs wait for environments half of the time. A
 * learner GPU wants 16 to 400 cores, so one of both 8 to 200; 16 is what the default node has.
 * Release evaluation, assumed: matches of minutes on a quarter, a half or all of a GPU. */
const struct tl_preset tl_presets[TL_PRESET_COUNT] = {
    [TL_PRESET_PHILLY] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 6.77, .sigma = 2.46,
        .cancelled = 0.09, .failed = 0.31, .utilisation = 0.52,
        .inference = 0.05, .evaluation = 0.1, .simulation = 0.05,
        .sizes = {{1000, 0.81}, {2000, 0.07}, {4000, 0.06}, {8000, 0.043}, {16000, 0.013}, {32000, 0.003}, {64000, 0.001}}},
    [TL_PRESET_HELIOS] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 5.33, .sigma = 2.64,
        .cancelled = 0.22, .failed = 0.16, .utilisation = 0.52,
        .inference = 0.05, .evaluation = 0.1, .simulation = 0.05,
        .sizes = {{1000, 0.664}, {2000, 0.09}, {4000, 0.08}, {8000, 0.11}, {16000, 0.03}, {32000, 0.015}, {64000, 0.011}}},
    [TL_PRESET_SEREN] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 4.80, .sigma = 2.21,
        .cancelled = 0.08, .failed = 0.43, .utilisation = 0.52,
        .inference = 0.05, .evaluation = 0.1, .simulation = 0.05,
        .sizes = {{1000, 0.628}, {2000, 0.05}, {4000, 0.06}, {8000, 0.18}, {16000, 0.04}, {32000, 0.02}, {64000, 0.013}, {128000, 0.009}}},
    [TL_PRESET_KALOS] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 4.82, .sigma = 2.15,
        .cancelled = 0.06, .failed = 0.40, .utilisation = 0.93,
        .inference = 0.05, .evaluation = 0.1, .simulation = 0.05,
        .sizes = {{1000, 0.47}, {2000, 0.03}, {4000, 0.02}, {8000, 0.30}, {16000, 0.04}, {32000, 0.04}, {64000, 0.03}, {128000, 0.03}, {256000, 0.019}, {512000, 0.02}, {1024000, 0.001}}},
    [TL_PRESET_PAI] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 6.18, .sigma = 2.14,
        .cancelled = 0.09, .failed = 0.31, .utilisation = 0.09,
        .inference = 0.05, .evaluation = 0.1, .simulation = 0.05,
        .sizes = {{250, 0.31}, {500, 0.30}, {1000, 0.36}, {2000, 0.02}, {4000, 0.005}, {8000, 0.005}}},
    [TL_PRESET_RL_TRAINING] = {
        .rate_per_h = 6, .dispersion = 4, .mu = 7.5, .sigma = 1.2,
        .cancelled = 0.1, .failed = 0.1, .utilisation = 0.5, .cores = 16,
        .sizes = {{8000, 0.7}, {16000, 0.3}}},
    [TL_PRESET_RELEASE_EVALUATION] = {
        .rate_per_h = 20, .dispersion = 39, .mu = 6.4, .sigma = 0.5, .utilisation = 0.4,
        .evaluation = 1,
        .sizes = {{250, 0.4}, {500, 0.4}, {1000, 0.2}}},
};

/* Published: 0.19 at 06 h, 1.73 at 16–17 h; between them a power of a cosine. */
const double tl_hour_factor[TL_HOURS_OF_DAY] = {
    0.88, 0.70, 0.54, 0.39, 0.29, 0.22, 0.19, 0.23, 0.35, 0.52, 0.74, 0.97,
    1.21, 1.42, 1.59, 1.69, 1.73, 1.73, 1.71, 1.64, 1.54, 1.41, 1.24, 1.07};
/* Published: 1.27 to 0.68; which day is which is assumed. */
const double tl_day_factor[TL_DAYS_OF_WEEK] = {1.06, 1.20, 1.27, 1.14, 0.96, 0.69, 0.68};

/* clang-format on */

static void settle(double *value, double preset)
{
	if (isnan(*value))
		*value = preset;
}

void tl_generate_settle(struct tl_generate_options *options)
{
	const struct tl_preset *preset = &tl_presets[options->preset];

	settle(&options->rate_per_h, preset->rate_per_h);
	settle(&options->dispersion, preset->dispersion);
	settle(&options->mu, preset->mu);
	settle(&options->sigma, preset->sigma);
	settle(&options->cancelled, preset->cancelled);
	settle(&options->failed, preset->failed);
	settle(&options->utilisation, preset->utilisation);
	settle(&options->cores, preset->cores);
	settle(&options->inference, preset->inference);
	settle(&options->evaluation, preset->evaluation);
	settle(&options->simulation, preset->simulation);
}
