/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/test_trace_util.h"
#include "workloads/generate.h"

#include <math.h>

enum { HOURS_MAX = 24 * 400 };

struct tally {
	uint64_t jobs, hours[HOURS_MAX], hour_of_day[24], day_of_week[7], outcomes[4],
	    kinds[TL_KIND_COUNT];
	double log_sum, log_squares, gpus, over;
	int64_t before_ns, last_ns, span_ns;
	uint64_t night[2], noon[2]; /* of tenants 1 and 3 */
};

static void count_job(struct tally *tally, const struct tl_trace_record *record, const char *tenant)
{
	int64_t hour = record->submit_ns / TL_NS_PER_HOUR;
	double log_s = log((double)record->duration_ns / 1e9);

	cr_assert_geq(record->submit_ns, tally->before_ns);
	tally->before_ns = record->submit_ns;
	tally->jobs++;
	tally->hours[hour]++;
	tally->hour_of_day[hour % 24]++;
	tally->day_of_week[hour / 24 % 7]++;
	tally->outcomes[record->outcome]++;
	tally->kinds[record->kind]++;
	tally->log_sum += log_s;
	tally->log_squares += log_s * log_s;
	tally->gpus += (double)record->gpus_mgpu / 1000;
	tally->over += record->duration_ns > record->estimate_ns;
	bool night = hour % 24 < 6;
	int number = tenant[strlen("tenant-")] - '1';
	if (number == 0 || number == 2) {
		if (night)
			tally->night[number / 2]++;
		else if (hour % 24 >= 12 && hour % 24 < 18)
			tally->noon[number / 2]++;
	}
}

static struct tl_trace *must_generate(const struct tl_generate_options *options,
                                      const struct tl_trace_options *filters)
{
	struct tl_trace_options all = default_options();
	struct tl_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_generate_open(options, filters ? filters : &all, &trace, &error), TL_OK,
	             "%s", error.message);
	return trace;
}

static void expect_impossible(const struct tl_generate_options *options, const char *part)
{
	struct tl_trace_options all = default_options();
	struct tl_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_generate_open(options, &all, &trace, &error), TL_E_CONFIG, "%s", part);
	cr_expect_not_null(strstr(error.message, part), "%s", error.message);
}

static struct tally *run(const struct tl_generate_options *options)
{
	static struct tally tally;
	struct tl_trace *trace = must_generate(options, NULL);
	struct tl_trace_record record;
	memset(&tally, 0, sizeof tally);
	while (tl_trace_next(trace, &record, NULL) == TL_OK)
		count_job(&tally, &record, tl_trace_tenants(trace)->names[record.tenant]);
	tl_trace_close(trace);
	return &tally;
}

static struct tl_generate_options defaults(void)
{
	struct tl_generate_options options;
	tl_generate_options_default(&options);
	return options;
}

Test(generate, run_times_and_sizes_follow_the_presets)
{
	static const double mu[] = {6.77, 5.33, 4.80, 4.82, 6.18};
	static const double sigma[] = {2.46, 2.64, 2.21, 2.15, 2.14};
	static const double gpus[] = {1.93, 3.72, 5.68, 26.8, 0.68};

	for (size_t i = 0; i < TL_PRESET_PUBLISHED; i++) {
		struct tl_generate_options options = defaults();
		options.preset = (int32_t)i;
		options.span_ns = 100 * TL_NS_PER_DAY;
		options.simulation = 0;
		const struct tally *tally = run(&options);
		double n = (double)tally->jobs;
		double mean = tally->log_sum / n;
		double deviation = sqrt(tally->log_squares / n - mean * mean);
		/* four standard errors of a normal sample */
		cr_expect_float_eq(mean, mu[i], 4 * sigma[i] / sqrt(n), "preset %zu: mu %g", i,
		                   mean);
		cr_expect_float_eq(deviation, sigma[i], 4 * sigma[i] / sqrt(2 * n),
		                   "preset %zu: sigma %g", i, deviation);
		cr_expect_float_eq(tally->gpus / n, gpus[i], 0.06 * gpus[i], "preset %zu: %g GPUs",
		                   i, tally->gpus / n);
	}
}

Test(generate, arrivals_have_their_cycles_and_their_bursts)
{
	enum { DAYS = 392 };
	struct tl_generate_options options = defaults();
	options.span_ns = DAYS * TL_NS_PER_DAY;
	options.rate_per_h = 31;
	const struct tally *tally = run(&options);
	double hours = DAYS * 24, mean = (double)tally->jobs / hours, squares = 0;

	for (size_t i = 0; i < DAYS * 24; i++)
		squares += pow((double)tally->hours[i] - mean, 2);
	cr_expect_float_eq(mean, 31, 1.5, "mean %g", mean);
	double dispersion = squares / hours / mean;
	cr_expect_float_eq(dispersion, 39, 5, "variance / mean %g", dispersion);
	double six = (double)tally->hour_of_day[6] * 24 / (double)tally->jobs;
	double sixteen = (double)tally->hour_of_day[16] * 24 / (double)tally->jobs;
	cr_expect_float_eq(six, 0.19, 0.06, "06 h %g", six);
	cr_expect_float_eq(sixteen, 1.73, 0.3, "16 h %g", sixteen);
	double wednesday = (double)tally->day_of_week[2] * 7 / (double)tally->jobs;
	double sunday = (double)tally->day_of_week[6] * 7 / (double)tally->jobs;
	cr_expect_float_eq(wednesday, 1.27, 0.15, "Wednesday %g", wednesday);
	cr_expect_float_eq(sunday, 0.68, 0.1, "Sunday %g", sunday);
}

Test(generate, flat_arrivals_are_poisson)
{
	struct tl_generate_options options = defaults();
	options.span_ns = 300 * TL_NS_PER_DAY;
	options.daily = 0;
	options.weekly = 0;
	options.dispersion = 1;
	const struct tally *tally = run(&options);
	double hours = 300 * 24, mean = (double)tally->jobs / hours, squares = 0;

	for (size_t i = 0; i < 300 * 24; i++)
		squares += pow((double)tally->hours[i] - mean, 2);
	/* var of the index of dispersion of n Poisson counts is about 2/n: four of them */
	cr_expect_float_eq(squares / hours / mean, 1, 4 * sqrt(2 / hours));
}

Test(generate, shares)
{
	struct tl_generate_options options = defaults();
	options.span_ns = 100 * TL_NS_PER_DAY;
	const struct tally *tally = run(&options);
	double n = (double)tally->jobs;

	cr_expect_float_eq((double)tally->outcomes[TL_OUTCOME_FAILED] / n, 0.31, 0.01);
	cr_expect_float_eq((double)tally->outcomes[TL_OUTCOME_CANCELLED] / n, 0.09, 0.01);
	cr_expect_float_eq((double)tally->outcomes[TL_OUTCOME_COMPLETED] / n, 0.60, 0.01);
	cr_expect_float_eq((double)tally->kinds[TL_KIND_EVALUATION] / n, 0.1, 0.01);
	cr_expect_float_eq((double)tally->kinds[TL_KIND_SIMULATION] / n, 0.05, 0.01);
	/* ln 2 is 1.386 sigma above the run time: 8.3 % run over */
	cr_expect_float_eq(tally->over / n, 0.083, 0.01);
	/* tenant 1 peaks at 15 h, tenant 3 at 3 h */
	double first = (double)tally->night[0] / (double)tally->noon[0];
	double third = (double)tally->night[1] / (double)tally->noon[1];
	cr_expect_lt(first * 1.5, third, "night : noon %g and %g", first, third);
}

static char *text_of(const struct tl_generate_options *options)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	cr_assert_eq(tl_generate(options, out, NULL), TL_OK);
	fclose(out);
	return text;
}

Test(generate, keyed)
{
	struct tl_generate_options options = defaults();
	options.span_ns = 2 * TL_NS_PER_DAY;
	char *first = text_of(&options), *again = text_of(&options);
	cr_expect_str_eq(first, again);
	options.span_ns = 3 * TL_NS_PER_DAY;
	char *longer = text_of(&options);
	cr_expect_eq(strncmp(first, longer, strlen(first)), 0,
	             "a longer span keeps the first days");
	options.seed = 2;
	char *other = text_of(&options);
	cr_expect_str_neq(longer, other);
	options.seed = 1;
	options.entity = 1;
	char *apart = text_of(&options);
	cr_expect_str_neq(longer, apart);
	free(first);
	free(again);
	free(longer);
	free(other);
	free(apart);
}

Test(generate, what_is_written_is_a_clean_trace)
{
	struct tl_generate_options options = defaults();
	options.span_ns = 2 * TL_NS_PER_DAY;
	options.jobs = 300;
	char *text = text_of(&options);
	const char *path = write_text_file("generated.csv", text);
	struct tl_trace *trace = must_open_plain(path);
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);

	cr_expect_eq(tl_trace_format_of(trace), TL_FORMAT_CANONICAL);
	cr_expect(stats->ascending);
	cr_expect_eq(stats->rows_kept, 300);
	cr_expect_eq(stats->rows_dropped, 0);
	for (size_t i = 0; i < stats->lint_count; i++) {
		cr_expect(strcmp(stats->lint[i].name, "over-requested-time") == 0 ||
		              strcmp(stats->lint[i].name, "zero-gpu") == 0,
		          "%s", stats->lint[i].name);
	}
	tl_trace_close(trace);
	unlink(path);
	free(text);
}

Test(generate, options_are_set_and_checked_by_the_table)
{
	struct tl_generate_options options = defaults();
	struct tl_error error = TL_ERROR_INIT;

	cr_expect_eq(tl_generate_set(&options, "preset", "kalos", &error), TL_OK);
	cr_expect_eq(options.preset, TL_PRESET_KALOS);
	cr_expect_eq(tl_generate_set(&options, "span", "36h", &error), TL_OK);
	cr_expect_eq(options.span_ns, 36 * TL_NS_PER_HOUR);
	cr_expect_eq(tl_generate_set(&options, "rate", "12.5", &error), TL_OK);
	cr_expect_eq(options.rate_per_h, 12.5);
	cr_expect_eq(tl_generate_set(&options, "card-memory", "40GiB", &error), TL_OK);
	cr_expect_eq(options.card_memory_bytes, 40 * TL_GIB);
	cr_expect_eq(tl_generate_set(&options, "card-memory", "1000TB", &error), TL_OK);
	cr_expect_eq(tl_generate_set(&options, "jobs", "7", &error), TL_OK);
	cr_expect_eq(options.jobs, 7);
	static const char *const bad[][3] = {
	    {"preset", "mars", "wanted philly"},      {"rate", "0", "wanted 0.001 to 100000"},
	    {"rate", "nan", "rate, got `nan`"},       {"tenants", "0", "wanted 1 to 1000"},
	    {"span", "soon", "span, got `soon`"},     {"failed", "1.1", "wanted 0 to 1"},
	    {"colour", "red", "option, got `colour`"}};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		cr_expect_eq(tl_generate_set(&options, bad[i][0], bad[i][1], &error), TL_E_USAGE);
		cr_expect_not_null(strstr(error.message, bad[i][2]), "%s", error.message);
	}
	/* every default stated is the default, unless it is the preset's */
	struct tl_generate_options stated = defaults(), plain = defaults();
	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];
		if (strcmp(desc->default_text, "the preset's") == 0 ||
		    strcmp(desc->name, "seed") == 0)
			continue;
		cr_expect_eq(tl_generate_set(&stated, desc->name, desc->default_text, &error),
		             TL_OK, "%s", error.message);
		cr_expect_eq(memcmp((char *)&stated + desc->offset, (char *)&plain + desc->offset,
		                    desc->type == TL_GENERATE_PRESET ? 4 : 8),
		             0, "%s", desc->name);
	}
}

Test(generate, impossible_options)
{
	struct tl_generate_options options = defaults();

	options.failed = 0.8;
	options.cancelled = 0.3;
	expect_impossible(&options, "cancelled + failed, got 1.1");
	options = defaults();
	options.inference = 0.6;
	options.evaluation = 0.6;
	expect_impossible(&options, "inference + evaluation + simulation, got 1.25");
	options = defaults();
	options.rate_per_h = INFINITY;
	expect_impossible(&options, "rate, got inf");
	options = defaults();
	options.entity = UINT64_C(1) << 24;
	expect_impossible(&options, "entity");
	options = defaults();
	options.gpus = 1.5;
	expect_impossible(&options, "gpus, got 1.5");
	options = defaults();
	cr_assert_eq(tl_generate_set(&options, "tasks", "10", NULL), TL_OK);
	expect_impossible(&options, "tasks, got it for philly");
	options = defaults();
	cr_assert_eq(tl_generate_set(&options, "preset", "release-evaluation", NULL), TL_OK);
	cr_assert_eq(tl_generate_set(&options, "rate", "6/h", NULL), TL_OK);
	expect_impossible(&options, "rate, got it for release-evaluation");
	options = defaults();
	options.rate_per_h = 1e5;
	options.dispersion = 1e4;
	options.daily = 0;
	options.span_ns = TL_NS_PER_HOUR;
	tl_trace_close(must_generate(&options, NULL));
}

Test(generate, a_release_comes_at_once_and_has_its_deadline)
{
	struct tl_generate_options options = defaults();
	static const char *const set[][2] = {{"preset", "release-evaluation"},
	                                     {"tasks", "300"},
	                                     {"at", "6h"},
	                                     {"every", "2d"},
	                                     {"deadline", "24h"},
	                                     {"span", "5d"}};
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		cr_assert_eq(tl_generate_set(&options, set[i][0], set[i][1], NULL), TL_OK);
	struct tl_trace *trace = must_generate(&options, NULL);
	size_t count = 0, shares[3] = {0};
	struct tl_trace_record *tasks = read_all(trace, &count);

	cr_assert_eq(count, 900);
	for (size_t i = 0; i < count; i++) {
		int64_t release_ns = 6 * TL_NS_PER_HOUR + (int64_t)(i / 300) * 2 * TL_NS_PER_DAY;
		cr_expect_eq(tasks[i].submit_ns, release_ns);
		cr_expect_eq(tasks[i].deadline_ns, release_ns + TL_NS_PER_DAY);
		cr_expect_eq(tasks[i].kind, TL_KIND_EVALUATION);
		cr_expect_eq(tasks[i].outcome, TL_OUTCOME_COMPLETED);
		cr_expect_eq(tasks[i].state_bytes, 0);
		shares[tasks[i].gpus_mgpu == 250 ? 0 : tasks[i].gpus_mgpu == 500 ? 1 : 2]++;
		cr_expect_leq(tasks[i].utilisation_milli, tasks[i].gpus_mgpu);
	}
	cr_expect_float_eq((double)shares[0] / 900, 0.4, 0.07);
	cr_expect_float_eq((double)shares[2] / 900, 0.2, 0.06);
	cr_expect_str_eq(tasks[899].id, "release-evaluation-900");
	cr_expect_neq(tasks[0].duration_ns, tasks[300].duration_ns, "each release its own");
	free(tasks);
	tl_trace_close(trace);
}

Test(generate, rl_training_asks_for_cores)
{
	struct tl_generate_options options = defaults();
	static const char *const set[][2] = {{"preset", "rl-training"}, {"span", "60d"}};
	cr_expect_eq(tl_generate_set(&options, "rate", "6/year", NULL), TL_E_USAGE);
	for (size_t i = 0; i < sizeof set / sizeof *set; i++)
		cr_assert_eq(tl_generate_set(&options, set[i][0], set[i][1], NULL), TL_OK);
	const struct tally *tally = run(&options);
	double n = (double)tally->jobs;

	cr_expect_float_eq(n / (60 * 24), 6, 0.6, "six an hour unless told: %g", n / (60 * 24));
	cr_expect_eq(tally->kinds[TL_KIND_TRAINING], tally->jobs);
	cr_expect_float_eq(tally->gpus / n, 10.4, 0.4);
	cr_expect_float_eq(tally->log_sum / n, 7.5, 0.1);

	cr_assert_eq(tl_generate_set(&options, "cores", "32", NULL), TL_OK);
	cr_assert_eq(tl_generate_set(&options, "worker-gpus", "4", NULL), TL_OK);
	cr_assert_eq(tl_generate_set(&options, "rate", "2/min", NULL), TL_OK);
	cr_expect_float_eq(options.rate_per_h, 120, 1e-9);
	options.jobs = 50;
	struct tl_trace *trace = must_generate(&options, NULL);
	struct tl_trace_record record;
	while (tl_trace_next(trace, &record, NULL) == TL_OK) {
		cr_expect_eq(record.cpu_milli, record.gpus_mgpu * 32);
		cr_expect_eq(record.workers, (uint32_t)(record.gpus_mgpu / 4000));
	}
	tl_trace_close(trace);
}

Test(generate, made_rows_keep_their_time_and_pass_the_filters)
{
	struct tl_generate_options options = defaults();
	struct tl_trace_options filters = default_options();
	size_t count = 0, more = 0;

	options.preset = TL_PRESET_KALOS;
	options.span_ns = 20 * TL_NS_PER_DAY;
	options.rate_per_h = 60; /* more than are held: streamed */
	struct tl_trace *trace = must_generate(&options, NULL);
	cr_expect_not(tl_trace_get_stats(trace)->held);
	struct tl_trace_record *streamed = read_all(trace, &count);
	tl_trace_close(trace);
	cr_assert_gt(count, TL_TRACE_HOLD_MAX);

	options.span_ns = 5 * TL_NS_PER_DAY;
	filters.limit_gpus_mgpu = 64000;
	trace = must_generate(&options, &filters);
	cr_expect(tl_trace_get_stats(trace)->held);
	cr_expect_eq(tl_trace_get_stats(trace)->origin_ns, 0);
	cr_expect_str_eq(tl_trace_get_stats(trace)->sha256, "");
	struct tl_trace_record *held = read_all(trace, &more);
	tl_trace_close(trace);
	cr_assert_lt(more, count);
	cr_expect_gt(held[0].submit_ns, 0);
	for (size_t i = 0; i < more; i++) {
		int64_t cut = streamed[i].gpus_mgpu < 64000 ? streamed[i].gpus_mgpu : 64000;
		cr_assert_eq(held[i].submit_ns, streamed[i].submit_ns);
		cr_assert_eq(held[i].duration_ns, streamed[i].duration_ns);
		cr_assert_eq(held[i].gpus_mgpu, cut);
		cr_assert_str_eq(held[i].id, streamed[i].id);
	}
	free(held);
	free(streamed);
}

Test(generate, nothing_within_the_span_is_no_error)
{
	struct tl_generate_options options = defaults();
	struct tl_trace_record record;

	options.preset = TL_PRESET_RELEASE_EVALUATION;
	options.at_ns = 8 * TL_NS_PER_DAY;
	struct tl_trace *trace = must_generate(&options, NULL);
	cr_expect_eq(tl_trace_get_stats(trace)->rows_kept, 0);
	cr_expect_eq(tl_trace_next(trace, &record, NULL), TL_END);
	tl_trace_close(trace);
}
