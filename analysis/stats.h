/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Statistics of runs: intervals, tests, and whether a series has settled.
 *
 * A sample is one finite number a run (a seed); a pair is one seed under two settings, and
 * difference i is b[i] - a[i]. Whoever has NaN leaves the observation out before coming here.
 * What does not exist (an interval of one number) is NaN. Nothing here fails, and the same
 * numbers in the same order give the same answers: resampling draws from keyed streams.
 */
#ifndef TIDELAB_ANALYSIS_STATS_H
#define TIDELAB_ANALYSIS_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tl_stats_interval {
	double low, high; /* NaN: there is none */
};

/* ---- one sample ---- */

struct tl_stats_sample {
	size_t count;
	double mean; /* NaN where count is 0 */
	double sd;   /* of the population, as estimated (n - 1); NaN where count < 2 */
};

struct tl_stats_sample tl_stats_sample(const double *x, size_t n);

/* mean ± t(1 - (1 - confidence) / 2; n - 1) sd / √n. Student, "The probable error of a mean",
 * Biometrika 6 (1908). A one-sided bound at 95 % is the end of the interval at 90 %. */
struct tl_stats_interval tl_stats_t_interval(const double *x, size_t n, double confidence);

/* ---- two samples ---- */

struct tl_stats_test {
	double difference; /* mean of b less mean of a */
	double error;      /* standard error of that */
	struct tl_stats_interval interval;
	double t, df;
	double p; /* two-sided, of no difference; where nothing varies: 1 for none, 0 for any */
};

/* Student's t over the differences of pairs. */
struct tl_stats_test tl_stats_paired_t(const double *a, const double *b, size_t n,
                                       double confidence);

/* Samples without pairs, of unequal variance: Welch, "The generalization of Student's problem
 * when several different population variances are involved", Biometrika 34 (1947), with
 * Satterthwaite's degrees of freedom. Each needs two numbers. */
struct tl_stats_test tl_stats_welch_t(const double *a, size_t na, const double *b, size_t nb,
                                      double confidence);

/* Cohen's d_z: mean of the differences over their sd. Cohen, "Statistical power analysis for
 * the behavioral sciences", 2nd ed. (1988), 2.3.5. Infinite where the differences are equal
 * and not zero, 0 where they are zero. */
double tl_stats_cohen_dz(const double *a, const double *b, size_t n);

/* Hedges' g: the difference of means over the pooled sd, times the exact correction for small
 * samples J(df) = Γ(df/2) / (√(df/2) Γ((df-1)/2)), df = na + nb - 2. Hedges, "Distribution
 * theory for Glass's estimator of effect size", J. Educational Statistics 6 (1981). */
double tl_stats_hedges_g(const double *a, size_t na, const double *b, size_t nb);

/* The p of a test's opposite, so that small says: the true difference is within ± margin.
 * Schuirmann, "A comparison of the two one-sided tests procedure …", J. Pharmacokinetics and
 * Biopharmaceutics 15 (1987). NaN where there is no test. */
double tl_stats_within(const struct tl_stats_test *test, double margin);

/* The p of |true difference| ≤ margin, so that small says: it is beyond. With a margin of 0
 * the test's own p. Murphy and Myors, "Testing the hypothesis that treatments have negligible
 * effects", J. Applied Psychology 84 (1999), with t for F. */
double tl_stats_beyond(const struct tl_stats_test *test, double margin);

/* ---- many tests at once ---- */

/* p-values such that comparing each with α keeps the chance of any false cry below α. Holm, "A
 * simple sequentially rejective multiple test procedure", Scand. J. Statistics 6 (1979). p of
 * NaN stays NaN and is none of the family. adjusted may be p. */
void tl_stats_holm(const double *p, size_t n, double *adjusted);

/* The same for the expected share of false cries among all cries. Benjamini and Hochberg,
 * "Controlling the false discovery rate", J. Royal Statistical Society B 57 (1995). */
void tl_stats_benjamini_hochberg(const double *p, size_t n, double *adjusted);

/* ---- bootstrap ---- */

enum tl_stats_bootstrap {
	TL_STATS_PERCENTILE, /* quantiles of the resampled statistic (type 7) */
	TL_STATS_BCA         /* corrected for bias and skew, which costs n statistics more */
};

enum { TL_STATS_RESAMPLES = 2000 };

/* The statistic over the n observations named by index; an observation may come twice. */
typedef double (*tl_stats_statistic)(const size_t *index, size_t n, const void *data);

/* Efron and Tibshirani, "An introduction to the bootstrap" (1993), 13.3 and 14.3. Draws come
 * from the stream TL_STREAM_BOOTSTRAP of seed, so two statistics of the same n meet the same
 * resamples. NaN where n < 2 or the statistic of any resample is not finite. With few observations it is
 * narrower than it claims: below some 20, go by t. */
struct tl_stats_interval tl_stats_bootstrap(tl_stats_statistic statistic, const void *data,
                                            size_t n, double confidence,
                                            enum tl_stats_bootstrap kind, uint64_t seed);

/* The mean of x; of the differences, pass them. */
struct tl_stats_interval tl_stats_bootstrap_mean(const double *x, size_t n, double confidence,
                                                 enum tl_stats_bootstrap kind, uint64_t seed);

/* Σb / Σa over pairs. */
struct tl_stats_interval tl_stats_bootstrap_ratio(const double *a, const double *b, size_t n,
                                                  double confidence, enum tl_stats_bootstrap kind,
                                                  uint64_t seed);

/* ---- a series over time, at equal distances ---- */

enum { TL_STATS_MSER_BATCH = 5 };

struct tl_stats_warmup {
	size_t truncate; /* leading observations to leave out */
	bool settled;    /* false: no end of the warm-up in the first half; leave out nothing */
	double mean;     /* of what is left */
};

/* MSER-5: means of batches of five, cut where the squared standard error of the rest's mean is
 * least, over cuts in the first half. White, Cobb and Spratt, "A comparison of five steady-state
 * truncation heuristics for simulation", Winter Simulation Conference 2000. A series of fewer
 * than four batches is taken as it is. What does not fill a last batch is not judged. */
struct tl_stats_warmup tl_stats_mser5(const double *x, size_t n);

enum { TL_STATS_SATURATION_BATCHES = 20 };

/* The queue never settles, so its mean tells of the length of the run and of nothing else. A
 * queue that is empty at any time of the second half has settled. Of another, the means of
 * twenty batches grow: Kendall's τ of them against time (Kendall, "A new measure of rank
 * correlation", Biometrika 30 (1938)) is at least 1/2, which twenty independent draws reach
 * once in a thousand times, and the mean of the last quarter is above that of the half before it by
 * a quarter. Fewer than 40 observations are not judged: false. */
bool tl_stats_saturated(const double *queue, size_t n);

/* Fisher's exact test, two-sided: the chance of shares at least as unlike as these, a_hits of a and
 * b_hits of b, where both are of one kind. */
double tl_stats_fisher(size_t a_hits, size_t a, size_t b_hits, size_t b);

#endif
