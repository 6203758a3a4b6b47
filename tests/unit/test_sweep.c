/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A folder of runs, with a shell script in the place of the simulator. */
#include "analysis/manifest.h"
#include "analysis/merge.h"
#include "analysis/runs.h"
#include "analysis/sweep.h"
#include "analysis/sweep_data.h"
#include "results/schema.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OK(call) cr_assert_eq(call, TL_OK, "%s", error.message)

static char folder[256], sweep_folder[300]; /* of this test */
static struct tl_error error;

static const char *in_folder(const char *name)
{
	static char paths[8][400];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

/* What a run of these settings makes, under made/HASH.h5, for the script to copy. */
static void make_result(const char *hash, double value)
{
	struct tl_results *results = NULL;
	struct tl_table *table = NULL;
	char name[100];

	snprintf(name, sizeof name, "made/%s.h5", hash);
	OK(tl_results_create(in_folder(name), &results, &error));
	OK(tl_results_attr_text(results, "identity", hash, &error));
	OK(tl_results_attr_text(results, "scenario_name", "fake", &error));
	OK(tl_results_attr_text(results, "scenario", "name: fake\n", &error));
	OK(tl_results_attr_i64(results, "seed", 5, &error));
	OK(tl_results_table(results, &tl_schema_summary, NULL, &table, &error));
	for (int i = 0; i < 3; i++) {
		struct tl_row_summary *row = tl_table_next(table);

		snprintf(row->metric, sizeof row->metric, "metric_%d", i);
		snprintf(row->unit, sizeof row->unit, "s");
		row->value = i == 2 ? (double)NAN : value + i;
		row->ci_low = row->value - 1;
		row->ci_high = row->value + 1;
	}
	OK(tl_results_close(results, &error));
}

/* The hash of the settings; `twin` counts as `one`, and seed 99 has no result to copy. */
static enum tl_status identify(void *context, const struct tl_design *design, size_t cell,
                               uint64_t seed, char hash[TL_SHA256_HEX], struct tl_error *why)
{
	char text[300] = "";

	(void)context;
	for (size_t key = 0; key < design->key_count; key++) {
		const char *value = tl_design_value(design, cell, key);

		if (value && strcmp(value, "impossible") == 0)
			return tl_error_set(why, TL_E_CONFIG, NULL, 0, 0, "got impossible");
		strcat(strcat(text, value && strcmp(value, "twin") == 0 ? "one" : value), ",");
	}
	snprintf(text + strlen(text), 40, "%llu", (unsigned long long)seed);
	if (tl_sha256_bytes(text, strlen(text), hash, why) != TL_OK)
		return TL_E_INTERNAL;
	make_result(hash, 100.0 * (double)cell + (double)seed);
	return TL_OK;
}

static char copies[] = "for a; do before=$last last=$a; done\n"
		       "echo run >>\"$SWEEP_TEST/runs.log\"\n"
		       "case \"$*\" in\n"
		       "*--seed\\ 97*) echo fine; echo 'bad \033[1mnews' >&2; exit 3 ;;\n"
		       "*--seed\\ 98*) kill -9 $$ ;;\n"
		       "*--seed\\ 99*)\n"
		       "  for other in \"$SWEEP_TEST\"/made/*; do\n"
		       "    [ \"${other##*/}\" = \"${before##*/}\" ] || cp \"$other\" \"$before\"\n"
		       "  done; exit 0 ;;\n"
		       "*--seed\\ 74*) echo 'disk full' >&2; exit 74 ;;\n"
		       "esac\n"
		       "cp \"$SWEEP_TEST/made/${before##*/}\" \"$before\"\n";
static char sh[] = "/bin/sh", dash_c[] = "-c", nothing[] = "/nonexistent/tidelab";
static char *command[] = {sh, dash_c, copies, sh, NULL}, *no_command[] = {nothing, NULL};

static struct tl_subject subject = {.name = "fake", .text = "name: fake\n", .argv = command};
static struct tl_sweep_options options = {.executor = &tl_executor_local, .jobs = 2};

static void set_up(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof folder, "%s/tidelab-sweep.XXXXXX", tmp ? tmp : "/tmp");
	cr_assert(mkdtemp(folder));
	setenv("SWEEP_TEST", folder, 1);
	cr_assert_eq(mkdir(in_folder("made"), 0777), 0);
	subject.identify = identify;
	snprintf(sweep_folder, sizeof sweep_folder, "%s/sweep", folder);
	options.dir = sweep_folder;
	options.identity = "for: tests\nkind: a\n";
}

static void tear_down(void)
{
	char line[300];

	snprintf(line, sizeof line, "rm -rf '%s'", folder);
	cr_expect_eq(system(line), 0);
}

TestSuite(sweep, .init = set_up, .fini = tear_down);

static struct tl_design design_of(const char *const *values, size_t count, const uint64_t *seeds,
                                  size_t seed_count)
{
	static const char *const keys[] = {"a.key"};
	struct tl_design design;

	tl_design_init(&design, "grid", keys, 1);
	for (size_t i = 0; i < count; i++)
		tl_design_add(&design, &values[i]);
	for (size_t i = 0; i < seed_count; i++)
		tl_design_seed(&design, seeds[i]);
	return design;
}

static size_t started(void)
{
	FILE *file = fopen(in_folder("runs.log"), "r");
	size_t count = 0;

	for (int c; file && (c = fgetc(file)) != EOF;)
		count += c == '\n';
	if (file)
		fclose(file);
	return count;
}

/* Opens, runs, closes. */
static enum tl_status sweep_once(const struct tl_design *design, struct tl_sweep_run **runs,
                                 size_t *count)
{
	struct tl_sweep *sweep = NULL;
	enum tl_status status = tl_sweep_open(&options, &subject, &sweep, &error);

	*runs = NULL;
	*count = 0;
	if (status == TL_OK)
		status = tl_sweep_run(sweep, design, runs, count, &error);
	tl_sweep_close(sweep);
	return status;
}

static const char *const numbers[] = {"1", "2.5", "-3"}, *const texts[] = {"one", "twin", "x,y"};
static const uint64_t seeds[] = {5, 7};

static void expect_same(const struct tl_sweep_data *a, const struct tl_sweep_data *b)
{
	size_t runs = a->design.cell_count * a->design.seed_count;

	cr_assert_eq(a->design.cell_count, b->design.cell_count);
	cr_assert_eq(a->design.seed_count, b->design.seed_count);
	cr_assert_eq(a->design.key_count, b->design.key_count);
	cr_assert_eq(a->metric_count, b->metric_count);
	cr_expect_str_eq(a->scenario, b->scenario);
	cr_expect_str_eq(a->design.name, b->design.name);
	cr_expect_eq(a->missing, b->missing);
	for (size_t key = 0; key < a->design.key_count; key++) {
		cr_expect_str_eq(a->design.keys[key], b->design.keys[key]);
		cr_expect_eq(a->numeric[key], b->numeric[key]);
		for (size_t cell = 0; cell < a->design.cell_count; cell++)
			cr_expect_str_eq(tl_design_value(&a->design, cell, key),
			                 tl_design_value(&b->design, cell, key));
	}
	for (size_t metric = 0; metric < a->metric_count; metric++) {
		cr_expect_str_eq(a->metrics[metric], b->metrics[metric]);
		cr_expect_str_eq(a->units[metric], b->units[metric]);
	}
	cr_expect_arr_eq(a->values, b->values, runs * a->metric_count * sizeof *a->values);
	for (size_t i = 0; i < runs; i++) {
		cr_expect_eq(a->runs[i].state, b->runs[i].state);
		cr_expect_eq(a->runs[i].seed, b->runs[i].seed);
		cr_expect_str_eq(a->runs[i].hash, b->runs[i].hash);
	}
}

Test(sweep, runs_once_and_says_the_same_from_folder_and_file)
{
	struct tl_design design = design_of(numbers, 3, seeds, 2);
	struct tl_sweep_data *of_folder = NULL, *of_file = NULL, *of_run = NULL;
	struct tl_sweep_run *runs = NULL;
	size_t count = 0, metric;

	for (int time = 0; time < 2; time++) {
		OK(sweep_once(&design, &runs, &count));
		cr_assert_eq(count, 6);
		for (size_t i = 0; i < count; i++)
			cr_expect_eq(runs[i].state, TL_RUN_DONE);
		tl_sweep_runs_free(runs, count);
		cr_expect_eq(started(), 6);
	}
	OK(tl_sweep_data_read(options.dir, false, &of_folder, &error));
	OK(tl_merge(options.dir, false, in_folder("merged.h5"), &error));
	OK(tl_sweep_data_read(in_folder("merged.h5"), false, &of_file, &error));
	expect_same(of_folder, of_file);
	cr_expect(of_folder->numeric[0]);
	cr_expect_float_eq(tl_sweep_data_setting(of_file, 1, 0), 2.5, 0);
	metric = tl_sweep_data_metric(of_file, "metric_1");
	cr_expect_eq(metric, 1);
	cr_expect_float_eq(tl_sweep_data_value(of_file, 2, 1, metric), 208, 0);
	cr_expect(isnan(tl_sweep_data_value(of_file, 2, 1, 2)));
	cr_expect_eq(tl_sweep_data_metric(of_file, "none"), 3);
	cr_expect(of_folder->paths && of_folder->paths[5] && !of_file->paths);
	OK(tl_sweep_data_read(of_folder->paths[2], false, &of_run, &error));
	cr_expect_eq(of_run->design.cell_count, 1);
	cr_expect_eq(of_run->design.seeds[0], 5);
	cr_expect_float_eq(tl_sweep_data_value(of_run, 0, 0, 0), 105, 0);
	tl_sweep_data_destroy(of_folder);
	tl_sweep_data_destroy(of_file);
	tl_sweep_data_destroy(of_run);
	tl_design_fini(&design);
}

Test(sweep, cells_of_one_meaning_are_run_once)
{
	struct tl_design design = design_of(texts, 3, seeds, 2);
	struct tl_sweep_run *runs = NULL;
	struct tl_sweep_data *data = NULL;
	size_t count = 0;

	OK(sweep_once(&design, &runs, &count));
	cr_expect_eq(started(), 4);
	cr_expect_eq(runs[2].state, TL_RUN_DONE);
	cr_expect_str_eq(runs[0].hash, runs[2].hash);
	OK(tl_sweep_data_read(options.dir, false, &data, &error));
	cr_expect(!data->numeric[0]);
	cr_expect(isnan(tl_sweep_data_setting(data, 0, 0)));
	tl_sweep_data_destroy(data);
	tl_sweep_runs_free(runs, count);
	tl_design_fini(&design);
}

Test(sweep, a_run_that_fails_costs_itself_alone)
{
	const uint64_t some[] = {5, 97, 98, 99, 7};
	struct tl_design design = design_of(numbers, 1, some, 5);
	struct tl_sweep_data *data = NULL, *of_file = NULL;
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_INTERNAL);
	cr_expect(strstr(error.message, "3 of 5 runs failed; the first, a.key=1 seed 97"), "%s",
	          error.message);
	cr_expect_eq(runs[0].state, TL_RUN_DONE);
	cr_expect_eq(runs[1].state, TL_RUN_FAILED);
	cr_expect_eq(runs[1].exit_code, 3);
	cr_expect_str_eq(runs[1].reason, "bad  [1mnews");
	cr_expect_eq(runs[2].exit_code, -1);
	cr_expect(strstr(runs[2].reason, "signal 9"), "%s", runs[2].reason);
	cr_expect_eq(runs[3].exit_code, 65);
	cr_expect(strstr(runs[3].reason, "not the result its name says"), "%s", runs[3].reason);
	cr_expect_eq(runs[4].state, TL_RUN_DONE);
	tl_sweep_runs_free(runs, count);
	cr_assert_eq(tl_sweep_data_read(options.dir, false, &data, &error), TL_E_DATA);
	cr_expect(strstr(error.message, "3 of 5"));
	OK(tl_sweep_data_read(options.dir, true, &data, &error));
	cr_expect_eq(data->missing, 3);
	cr_expect(isnan(tl_sweep_data_value(data, 0, 1, 0)));
	cr_expect_str_eq(data->runs[1].reason, "bad  [1mnews");
	OK(tl_merge(options.dir, true, in_folder("part.h5"), &error));
	OK(tl_sweep_data_read(in_folder("part.h5"), true, &of_file, &error));
	expect_same(data, of_file);
	tl_sweep_data_destroy(data);
	tl_sweep_data_destroy(of_file);
	/* What failed is tried again, and nothing else. */
	(void)sweep_once(&design, &runs, &count);
	cr_expect_eq(started(), 5 + 3);
	tl_sweep_runs_free(runs, count);
	tl_design_fini(&design);
}

/* Of a search: every cell it asked for, with the seeds it asked for, whoever asked. */
Test(sweep, a_search_tells_of_all_it_asked)
{
	static const uint64_t later[] = {7, 9};
	struct tl_design first = design_of(numbers, 2, seeds, 1);
	struct tl_design second = design_of(numbers + 1, 2, later, 2);
	struct tl_sweep_data *data = NULL, *of_file = NULL;
	struct tl_runs_list list = {.items = NULL};
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	options.design = NULL;
	OK(sweep_once(&first, &runs, &count));
	tl_sweep_runs_free(runs, count);
	OK(sweep_once(&second, &runs, &count));
	cr_expect_eq(count, 4);
	tl_sweep_runs_free(runs, count);
	OK(tl_sweep_data_read(options.dir, false, &data, &error));
	cr_assert_eq(data->design.cell_count, 3);
	cr_assert_eq(data->design.seed_count, 3);
	cr_expect_eq(data->missing, 0);
	cr_expect_eq(data->runs[0].state, TL_RUN_DONE);
	cr_expect_eq(data->runs[1].state, TL_RUN_UNASKED);
	cr_expect_str_eq(data->runs[1].hash, "");
	cr_expect_eq(data->runs[3].state, TL_RUN_DONE);
	cr_expect_eq(data->runs[6].state, TL_RUN_UNASKED);
	cr_expect_eq(data->runs[8].state, TL_RUN_DONE);
	OK(tl_merge(options.dir, false, in_folder("all.h5"), &error));
	OK(tl_sweep_data_read(in_folder("all.h5"), false, &of_file, &error));
	expect_same(data, of_file);
	cr_expect_eq(of_file->runs[6].state, TL_RUN_UNASKED);
	OK(tl_runs_load(in_folder("all.h5"), NULL, 0, &list, &error));
	cr_assert_eq(list.count, 3);
	cr_expect_eq(list.items[0]->count, 1);
	cr_expect_eq(list.items[0]->missing, 0);
	cr_expect_eq(list.items[1]->count, 3);
	cr_expect_eq(list.items[2]->seeds[0], 7);
	tl_runs_list_fini(&list);
	tl_sweep_data_destroy(data);
	tl_sweep_data_destroy(of_file);
	tl_design_fini(&first);
	tl_design_fini(&second);
}

Test(sweep, a_full_disk_starts_no_more)
{
	const uint64_t some[] = {5, 74, 6, 7, 8, 9};
	struct tl_design design = design_of(numbers, 3, some, 6);
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	options.jobs = 1;
	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_IO);
	cr_expect(strstr(error.message, "no more were started: disk full"), "%s", error.message);
	cr_expect(started() <= 3, "%zu", started()); /* one was under way when it was judged */
	cr_expect_eq(runs[0].state, TL_RUN_DONE);
	cr_expect_eq(runs[17].state, TL_RUN_MISSING);
	tl_sweep_runs_free(runs, count);
	tl_design_fini(&design);
}

Test(sweep, nothing_is_made_where_a_cell_is_impossible)
{
	const char *const values[] = {"1", "impossible"};
	struct tl_design design = design_of(values, 2, seeds, 2);
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_CONFIG);
	cr_expect_null(runs);
	cr_expect_neq(access(options.dir, F_OK), 0);
	cr_expect_eq(started(), 0);
	tl_design_fini(&design);
}

Test(sweep, a_program_that_is_not_there)
{
	struct tl_design design = design_of(numbers, 1, seeds, 2);
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	subject.argv = no_command;
	cr_assert_neq(sweep_once(&design, &runs, &count), TL_OK);
	cr_expect_eq(runs[1].exit_code, 127);
	cr_expect(strstr(runs[1].reason, "cannot be started"));
	tl_sweep_runs_free(runs, count);
	tl_design_fini(&design);
}

Test(sweep, another_purpose_is_refused)
{
	struct tl_design design = design_of(numbers, 1, seeds, 1);
	struct tl_sweep_run *runs = NULL;
	size_t count = 0;

	OK(sweep_once(&design, &runs, &count));
	tl_sweep_runs_free(runs, count);
	options.identity = "for: tests\nkind: b\n";
	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_CANTCREAT);
	cr_expect(strstr(error.message, "`kind: a` is not `kind: b`"), "%s", error.message);
	options.identity = "for: tests\nkind: a\nmore: c\n";
	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_CANTCREAT);
	options.identity = "for: tests\n";
	cr_assert_eq(sweep_once(&design, &runs, &count), TL_E_CANTCREAT);
	tl_design_fini(&design);
}

static void append(const char *path, const char *text)
{
	FILE *file = fopen(path, "a");

	cr_assert(file);
	fputs(text, file);
	fclose(file);
}

Test(sweep, what_a_crash_leaves_is_no_obstacle)
{
	struct tl_design design = design_of(numbers, 3, seeds, 2);
	struct tl_sweep_run *runs = NULL;
	struct tl_manifest manifest;
	char partial[300], result[400];
	size_t count = 0;

	OK(sweep_once(&design, &runs, &count));
	snprintf(result, sizeof result, "%s/runs/%s.h5", options.dir, runs[4].hash);
	cr_assert_eq(truncate(result, 5000), 0);
	tl_sweep_runs_free(runs, count);
	snprintf(partial, sizeof partial, "%s/runs/.x.h5.77.partial", options.dir);
	append(partial, "half");
	append(in_folder("sweep/manifest"), "{\"run\":\"abc");
	append(in_folder("sweep/manifest.new"), "half");
	OK(tl_manifest_read(in_folder("sweep/manifest"), &manifest, &error));
	cr_expect_eq(manifest.run_count, 6);
	cr_expect_eq(manifest.runs[4].state, TL_RUN_DONE);
	tl_manifest_fini(&manifest);
	OK(sweep_once(&design, &runs, &count));
	tl_sweep_runs_free(runs, count);
	cr_expect_eq(started(), 7);
	cr_expect_neq(access(partial, F_OK), 0);
	tl_design_fini(&design);
}

static void bad_manifest(const char *text, const char *words)
{
	const char *path = in_folder("manifest");
	struct tl_manifest manifest;

	(void)unlink(path);
	append(path, text);
	cr_assert_eq(tl_manifest_read(path, &manifest, &error), TL_E_DATA, "%s", text);
	cr_expect(strstr(error.message, words), "%s: %s", text, error.message);
}

#define HEAD "\"format\":\"tidelab-sweep\",\"version\":1,\"identity\":\"a\",\"scenario_name\":\"s\""
#define WHOLE "{" HEAD ",\"scenario\":\"t\"}\n"

Test(sweep, bad_manifests)
{
	struct tl_manifest manifest;

	cr_assert_eq(tl_manifest_read(in_folder("none"), &manifest, &error), TL_E_NOINPUT);
	bad_manifest("", "not the manifest");
	bad_manifest("text\n", "not the manifest");
	bad_manifest("{\"format\":\"x\"}\n", "not the manifest");
	bad_manifest("{\"format\":\"tidelab-sweep\",\"version\":2}\n", "version 2");
	bad_manifest("{" HEAD "}\n", "identity and scenario");
	bad_manifest(WHOLE, "design, keys");
	bad_manifest(WHOLE "[]\n", "design, keys");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[1],\"seeds\":[1],\"cells\":[[]]}\n",
	             "design, keys");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[\"1\"],\"cells\":[[]]}\n",
	             "design, keys");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[\"k\"],\"seeds\":[1],\"cells\":[[]]}\n",
	             "a value a key");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[1],\"cells\":[[]]}\n",
	             "a run of the design");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[1],\"cells\":[[]]}\n"
	                   "{\"run\":\"short\"}\n",
	             "a run of the design");
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[],\"cells\":[]}\n"
	                   "{\"sha256\":\"0\"}\n",
	             "the SHA-256 of the lines above");
	/* Whole until the sum is there. */
	bad_manifest(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[],\"cells\":[]}\n",
	             "the SHA-256 of the lines above");
}

/* Cells and seeds that would make more runs than there is memory for, and no line of one. */
Test(sweep, a_manifest_that_promises_too_much)
{
	enum { MANY = 200000 };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	fputs(WHOLE "{\"design\":\"g\",\"keys\":[],\"seeds\":[1", out);
	for (int i = 1; i < MANY; i++)
		fputs(",1", out);
	fputs("],\"cells\":[[]", out);
	for (int i = 1; i < MANY; i++)
		fputs(",[]", out);
	fputs("]}\n", out);
	fclose(out);
	bad_manifest(text, "a run of the design");
	free(text);
}

/* A byte of another value anywhere in what is replaced as one: none is taken for another. */
Test(sweep, a_garbled_manifest_is_told)
{
	struct tl_design design = design_of(numbers, 2, seeds, 2);
	struct tl_sweep_run *runs = NULL;
	struct tl_manifest manifest;
	const char *path = in_folder("sweep/manifest");
	size_t count = 0;
	long end = 0;

	OK(sweep_once(&design, &runs, &count));
	tl_sweep_runs_free(runs, count);
	tl_design_fini(&design);
	OK(tl_manifest_read(path, &manifest, &error));
	tl_manifest_fini(&manifest);

	FILE *file = fopen(path, "r+");
	char line[8192];

	cr_assert(file);
	while (!strstr(fgets(line, sizeof line, file), "\"sha256\":\""))
		end = ftell(file);
	for (long at = 0; at < end; at++) {
		(void)fseek(file, at, SEEK_SET);
		int byte = fgetc(file);

		(void)fseek(file, at, SEEK_SET);
		(void)fputc(byte ^ 1, file);
		(void)fflush(file);
		cr_expect_eq(tl_manifest_read(path, &manifest, &error), TL_E_DATA, "byte %ld", at);
		(void)fseek(file, at, SEEK_SET);
		(void)fputc(byte, file);
		(void)fflush(file);
	}
	OK(tl_manifest_read(path, &manifest, &error));
	tl_manifest_fini(&manifest);
	(void)fclose(file);
}

Test(sweep, last_words)
{
	const char *path = in_folder("log");
	char words[TL_TASK_REASON_MAX];

	tl_task_last_words(in_folder("none"), words, sizeof words);
	cr_expect_str_eq(words, "");
	append(path, "first\nlast \x1b[31mwords\n  \n\n");
	tl_task_last_words(path, words, sizeof words);
	cr_expect_str_eq(words, "last  [31mwords");
	append(path, "no newline");
	tl_task_last_words(path, words, sizeof words);
	cr_expect_str_eq(words, "no newline");
	append(path, "\n");
	for (int i = 0; i < 2000; i++)
		append(path, i == 0 ? "long " : "x");
	tl_task_last_words(path, words, 20);
	cr_expect_eq(strlen(words), 19);
}
