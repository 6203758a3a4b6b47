/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two settings held against each other, metric by metric.
 *
 * Runs of the same seed met the same arrivals and failures, so they are compared as pairs
 * (Student's t over their differences). Where no seed is common the sides are independent
 * samples (Welch's t). A metric that is equal in every run is not a test; the p-values of
 * the others are corrected together, so that the chance of any false cry is at most
 * 1 - confidence (Holm), or the expected share of false cries is (Benjamini, Hochberg).
 */
#ifndef TIDELAB_ANALYSIS_COMPARE_H
#define TIDELAB_ANALYSIS_COMPARE_H

#include "analysis/runs.h"
#include "analysis/stats.h"

enum tl_correction { TL_CORRECT_HOLM, TL_CORRECT_FDR, TL_CORRECT_NOT };

enum tl_compare_verdict {
	TL_COMPARE_SAME,      /* equal in every run */
	TL_COMPARE_NOT_SHOWN, /* no difference shown */
	TL_COMPARE_LOWER,     /* b is lower than a */
	TL_COMPARE_HIGHER,
	TL_COMPARE_UNTESTED /* one run a side, or no value to compare */
};

struct tl_comparison {
	const char *metric, *unit; /* the sides' own */
	size_t a_count, b_count;   /* values that were compared; equal where paired */
	bool paired;
	double a, b;                        /* means */
	double difference;                  /* b - a */
	double ratio;                       /* b / a; NaN where there is none */
	struct tl_stats_interval interval;  /* of the difference, by t */
	struct tl_stats_interval bootstrap; /* of the difference, BCa; pairs alone, if asked for */
	struct tl_stats_interval ratio_interval; /* likewise */
	double effect;                           /* Cohen's d_z of pairs, else Hedges' g */
	double p, p_corrected;
	enum tl_compare_verdict verdict;
};

struct tl_compare_options {
	double confidence; /* 0.95 */
	enum tl_correction correction;
	bool bootstrap; /* fill in the intervals that cost thousands of resamples */
};

/* The metrics named, in their order; one that either side lacks, or gives in another unit, is
 * there with its counts 0. rows: metric_count of them. */
void tl_compare(const struct tl_runs *a, const struct tl_runs *b, const char *const *metrics,
                size_t metric_count, const struct tl_compare_options *options,
                struct tl_comparison *rows);

/* About how many seeds (a side, where there are no pairs) would show the difference if it and
 * its spread stayed as they are, at the level that the strictest step of the correction over so
 * many tests asks for; 0: more than anybody runs, or nothing to tell it by. */
size_t tl_compare_seeds(const struct tl_comparison *row, size_t tested,
                        const struct tl_compare_options *options);

/* Values of a metric in both sides: of the seeds that both have, pair by pair, or, where they
 * have none in common, all there are. a and b have room for all runs of their side. */
struct tl_pairing {
	bool paired;
	size_t a_count, b_count;
};
struct tl_pairing tl_compare_pairs(const struct tl_runs *a, size_t a_metric,
                                   const struct tl_runs *b, size_t b_metric, double *a_values,
                                   double *b_values);

#endif
