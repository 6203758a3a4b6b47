/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the slurm executor writes and reads. Slurm's commands are stand-ins here; the real
 * ones are met in tests/cli/slurm.sh. */
#include "analysis/slurm.h"
#include "sim/base/output.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *quoted(const char *word)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	cr_assert_not_null(out);
	tl_shell_quote(word, out);
	(void)fclose(out);
	return text;
}

Test(slurm, quoting_is_a_shells)
{
	static const struct {
		const char *word, *wanted;
	} cases[] = {{"plain-1.5:a/b", "plain-1.5:a/b"},
	             {"", "''"},
	             {"a b", "'a b'"},
	             {"it's", "'it'\\''s'"},
	             {"$HOME`x`\"\\*", "'$HOME`x`\"\\*'"},
	             {"~", "'~'"}};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *got = quoted(cases[i].word);

		cr_expect_str_eq(got, cases[i].wanted);
		free(got);
	}
}

Test(slurm, a_shell_reads_what_was_quoted)
{
	static const char word[] = " a'b\"c\\d$e`f`\n*;& ~ \xc3\xa9";
	char *text = quoted(word), command[200], got[100] = "";
	FILE *shell;

	(void)snprintf(command, sizeof command, "printf %%s %s", text);
	shell = popen(command, "r");
	cr_assert_not_null(shell);
	cr_expect_eq(fread(got, 1, sizeof got - 1, shell), strlen(word));
	(void)pclose(shell);
	cr_expect_str_eq(got, word);
	free(text);
}

static void expect_words(const char *text, const char *const *wanted)
{
	struct tl_error error = TL_ERROR_INIT;
	char **words = NULL;
	size_t i = 0;

	cr_assert_eq(tl_words_split(text, &words, &error), TL_OK, "%s", error.message);
	for (; words[i] && wanted[i]; i++)
		cr_expect_str_eq(words[i], wanted[i]);
	cr_expect(!words[i] && !wanted[i], "`%s` has another number of words", text);
	tl_words_free(words);
}

Test(slurm, words_split_as_a_shells)
{
	expect_words("", (const char *const[]){NULL});
	expect_words(" \t ", (const char *const[]){NULL});
	expect_words("-p long  --mem=2G", (const char *const[]){"-p", "long", "--mem=2G", NULL});
	expect_words("--comment='a \"b\" $c' x",
	             (const char *const[]){"--comment=a \"b\" $c", "x", NULL});
	expect_words("\"a \\\" b\\c\" d\\ e ''",
	             (const char *const[]){"a \" b\\c", "d e", "", NULL});
}

Test(slurm, words_whose_quotes_do_not_end_are_refused)
{
	static const char *const cases[] = {"-p 'long", "\"", "a \"b'"};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tl_error error = TL_ERROR_INIT;
		char **words = NULL;

		cr_expect_eq(tl_words_split(cases[i], &words, &error), TL_E_USAGE);
		cr_expect(strstr(error.message, "--slurm-args: got"), "%s", error.message);
	}
}

/* ---- scripts ---- */

enum { TASKS = 5 };

static struct tl_task tasks[TASKS];
static size_t which[TASKS];

static struct tl_slurm_plan plan_of(size_t chunk, const char *folder)
{
	static char program[] = "/bin/x y", word[] = "run";
	static char *argv[] = {program, word, NULL};
	static char outputs[TASKS][16], logs[TASKS][16];

	for (size_t i = 0; i < TASKS; i++) {
		(void)snprintf(outputs[i], sizeof outputs[i], "/d/%zu.h5", i);
		(void)snprintf(logs[i], sizeof logs[i], "/d/%zu.log", i);
		tasks[i] = (struct tl_task){.argv = argv, .output = outputs[i], .log = logs[i]};
		which[i] = TASKS - 1 - i;
	}
	return (struct tl_slurm_plan){
	    .tasks = tasks, .which = which, .count = TASKS, .chunk = chunk, .folder = folder};
}

Test(slurm, a_script_has_each_task_once_in_its_element)
{
	struct tl_slurm_plan plan = plan_of(2, "/d/slurm/tidelab-1");
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	tl_slurm_script(&plan, out);
	(void)fclose(out);
	cr_expect(strstr(text, "here=/d/slurm/tidelab-1\n"));
	cr_expect(strstr(text, "\n0)\n"
	                       "\trun 0 /d/4.h5 /d/4.log '/bin/x y' run\n"
	                       "\trun 1 /d/3.h5 /d/3.log '/bin/x y' run\n"
	                       "\t;;\n1)\n"
	                       "\trun 2 /d/2.h5 /d/2.log '/bin/x y' run\n"
	                       "\trun 3 /d/1.h5 /d/1.log '/bin/x y' run\n"
	                       "\t;;\n2)\n"
	                       "\trun 4 /d/0.h5 /d/0.log '/bin/x y' run\n"
	                       "\t;;\nesac\n"));
	free(text);
}

Test(slurm, an_array_takes_whole_chunks_up_to_its_limit)
{
	struct tl_slurm_plan plan = plan_of(2, "/d");

	cr_expect_eq(tl_slurm_script_room(&plan, 1001), TASKS);
	cr_expect_eq(tl_slurm_script_room(&plan, 3), TASKS);
	cr_expect_eq(tl_slurm_script_room(&plan, 2), 4);
	cr_expect_eq(tl_slurm_script_room(&plan, 1), 2);
	plan.chunk = 9;
	cr_expect_eq(tl_slurm_script_room(&plan, 1), TASKS);
}

Test(slurm, a_script_does_not_outgrow_what_sbatch_takes)
{
	static char long_word[900 * 1024];
	char *argv[] = {long_word, NULL};
	struct tl_slurm_plan plan = plan_of(1, "/d");

	memset(long_word, 'x', sizeof long_word - 1);
	for (size_t i = 0; i < TASKS; i++)
		tasks[i].argv = argv;
	cr_expect_eq(tl_slurm_script_room(&plan, 1001), 2);
	/* A chunk stays whole. */
	plan.chunk = 4;
	cr_expect_eq(tl_slurm_script_room(&plan, 1001), 4);
}

static bool has_word(char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

Test(slurm, sbatch_is_called_with_our_options_last)
{
	struct tl_slurm_plan plan = plan_of(2, "/d/50%/tidelab-1");
	char option[] = "--array=0-9";
	char *extra[] = {option, NULL};
	char **words = tl_slurm_sbatch_words(&plan, extra, 3, 17);
	size_t at = 0, ours = 0;

	for (size_t i = 0; words[i]; i++) {
		if (strcmp(words[i], option) == 0)
			at = i;
		if (strcmp(words[i], "--array=0-2%3") == 0)
			ours = i;
	}
	cr_expect_str_eq(words[0], "sbatch");
	cr_expect(at > 0 && ours > at);
	cr_expect(has_word(words, "--job-name=tidelab-1"));
	cr_expect(has_word(words, "--output=/d/50%%/tidelab-1/out-%a"));
	cr_expect(has_word(words, "--dependency=afterany:17"));
	cr_expect(has_word(words, "/d/50%/tidelab-1/script"));
	tl_words_free(words);
	words = tl_slurm_sbatch_words(&plan, extra + 1, 0, 0);
	cr_expect(has_word(words, "--array=0-2"));
	cr_expect(!has_word(words, "--dependency=afterany:0"));
	tl_words_free(words);
}

/* ---- folders ---- */

static char scratch[64];

static void make_scratch(void)
{
	(void)snprintf(scratch, sizeof scratch, "/tmp/tidelab-slurm.XXXXXX");
	cr_assert_not_null(mkdtemp(scratch));
}

static void remove_scratch(void)
{
	char command[100];

	(void)snprintf(command, sizeof command, "/bin/rm -rf %s", scratch);
	cr_expect_eq(system(command), 0);
}

static void put(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	cr_assert_not_null(file, "%s", path);
	(void)fputs(text, file);
	(void)fclose(file);
}

TestSuite(slurm_folder, .init = make_scratch, .fini = remove_scratch);

Test(slurm_folder, an_array_is_read_as_it_was_written)
{
	struct tl_slurm_plan plan = plan_of(2, NULL);
	struct tl_error error = TL_ERROR_INIT;
	struct tl_slurm_record *records;
	char *folder, *again, *ended;
	size_t count;
	int exit_code = 0;

	folder = tl_slurm_array_path(scratch);
	plan.folder = folder;
	cr_assert_eq(tl_slurm_array_write(&plan, &error), TL_OK, "%s", error.message);
	tl_slurm_array_read(folder, &records, &count);
	cr_assert_eq(count, TASKS);
	for (size_t i = 0; i < count; i++) {
		cr_expect_eq(records[i].element, i / 2);
		cr_expect_str_eq(records[i].output, tasks[which[i]].output);
	}
	tl_slurm_records_free(records, count);

	again = tl_slurm_array_path(scratch);
	cr_expect_str_neq(again, folder);
	cr_expect_lt(strlen(strrchr(folder, '/') + 1), TL_SLURM_NAME_MAX);
	free(again);
	cr_expect_not(tl_slurm_array_ended(folder, 3, &exit_code));
	ended = tl_join(folder, "ended/3");
	put(ended, "");
	cr_expect_not(tl_slurm_array_ended(folder, 3, &exit_code), "an empty file is no end");
	put(ended, "65\n");
	cr_expect(tl_slurm_array_ended(folder, 3, &exit_code));
	cr_expect_eq(exit_code, 65);
	tl_slurm_array_remove(folder);
	cr_expect_neq(access(folder, F_OK), 0);
	free(ended);
	free(folder);
}

Test(slurm_folder, what_is_no_array_has_no_tasks)
{
	struct tl_slurm_record *records;
	char *path = tl_join(scratch, "tasks");
	size_t count;

	tl_slurm_array_read(scratch, &records, &count);
	cr_expect_eq(count, 0);
	put(path, "not a number\n");
	tl_slurm_array_read(scratch, &records, &count);
	cr_expect_eq(count, 0);
	tl_slurm_records_free(records, count);
	free(path);
}

/* ---- Slurm's commands ---- */

/* A stand-in that says so and ends so. */
static void stand_in(const char *name, const char *script)
{
	char *path = tl_join(scratch, name), text[600];

	(void)snprintf(text, sizeof text, "#!/bin/sh\n%s\n", script);
	put(path, text);
	cr_assert_eq(chmod(path, 0755), 0);
	free(path);
	cr_assert_eq(setenv("PATH", scratch, 1), 0);
}

static enum tl_status squeue(struct tl_slurm_element **elements, size_t *count,
                             struct tl_error *error)
{
	static const char *const names[] = {"a", "b"};

	return tl_slurm_squeue(names, 2, false, elements, count, error);
}

Test(slurm_folder, squeue_is_understood)
{
	struct tl_slurm_element *elements = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const struct tl_slurm_element *found;
	size_t count = 0;

	stand_in("squeue", "[ -z \"$SQUEUE_FORMAT\" ] || exit 9\n"
	                   "case \"$*\" in *--name=a,b*) ;; *) exit 8 ;; esac\n"
	                   "echo 'b|17|2|PENDING'; echo 'a|16|10|TIMEOUT'\n"
	                   "echo 'a|16|N/A|CANCELLED'; echo 'a|16|9|COMPLETED'; echo nonsense\n"
	                   "echo 'a|16|11|COMPLETING'");
	cr_assert_eq(setenv("SQUEUE_FORMAT", "%i", 1), 0);
	cr_assert_eq(squeue(&elements, &count, &error), TL_OK, "%s", error.message);
	cr_assert_eq(count, 5);
	found = tl_slurm_find(elements, count, "a", 10);
	cr_assert_not_null(found);
	cr_expect(found->ended_bad && !found->live && found->job == 16);
	cr_expect_str_eq(found->state, "TIMEOUT");
	found = tl_slurm_find(elements, count, "a", 9);
	cr_expect(found && !found->ended_bad && !found->live);
	found = tl_slurm_find(elements, count, "a", 11);
	cr_expect(found && found->live);
	found = tl_slurm_find(elements, count, "b", 2);
	cr_expect(found && found->live && found->job == 17);
	found = tl_slurm_find(elements, count, "a", 12);
	cr_expect(found && found->ended_bad && !found->live && found->job == 16);
	cr_expect_null(tl_slurm_find(elements, count, "b", 3));
	cr_expect_null(tl_slurm_find(NULL, 0, "b", 3));
	free(elements);
}

Test(slurm_folder, what_slurm_refuses_is_said_in_its_words)
{
	char word[] = "sbatch";
	char *words[] = {word, NULL};
	struct tl_slurm_element *elements = NULL;
	struct tl_error error = TL_ERROR_INIT;
	size_t most = 0, count = 0;
	long job = 0;

	cr_assert_eq(setenv("PATH", scratch, 1), 0);
	cr_expect_eq(tl_slurm_limits(&most, &error), TL_E_UNAVAILABLE);
	cr_expect(strstr(error.message, "scontrol"), "%s", error.message);
	cr_expect(strstr(error.message, "not installed"), "%s", error.message);
	stand_in("scontrol", "echo 'MaxArraySize            = 0'");
	cr_expect_eq(tl_slurm_limits(&most, &error), TL_E_UNAVAILABLE);
	cr_expect(strstr(error.message, "no job arrays"), "%s", error.message);
	stand_in("scontrol", "echo 'MaxArraySize            = 77'");
	cr_expect_eq(tl_slurm_limits(&most, &error), TL_OK);
	cr_expect_eq(most, 77);
	stand_in("sbatch", "echo 'sbatch: error: no such partition' >&2; echo more >&2; exit 1");
	cr_expect_eq(tl_slurm_sbatch(words, &job, &error), TL_E_UNAVAILABLE);
	cr_expect(strstr(error.message, "no such partition"), "%s", error.message);
	cr_expect(!strstr(error.message, "more"), "%s", error.message);
	stand_in("sbatch", "echo hello");
	cr_expect_eq(tl_slurm_sbatch(words, &job, &error), TL_E_UNAVAILABLE);
	stand_in("sbatch", "echo '41;west'");
	cr_expect_eq(tl_slurm_sbatch(words, &job, &error), TL_OK);
	cr_expect_eq(job, 41);
	stand_in("squeue", "exit 1");
	cr_expect_eq(squeue(&elements, &count, &error), TL_E_UNAVAILABLE);
	cr_expect(strstr(error.message, "said nothing"), "%s", error.message);
}

/* What was under way is waited for, and not submitted again; what nobody wants any more is
 * cancelled, by its element. */
Test(slurm_folder, what_was_left_is_adopted_or_cancelled)
{
	struct tl_slurm_plan plan = plan_of(1, NULL);
	struct tl_slurm_arrays arrays = {.count = 0};
	struct tl_error error = TL_ERROR_INIT;
	bool taken[TASKS] = {false};
	char *folder, *path, text[400], said[100] = "";
	FILE *file;

	folder = tl_slurm_array_path(scratch);
	plan.folder = folder;
	cr_assert_eq(tl_slurm_array_write(&plan, &error), TL_OK);
	/* Number i is task 4 - i: 0 done, 1 failed, 2 lost, 3 and 4 run; only 0 to 3 are wanted. */
	path = tl_join(folder, "ended/0");
	put(path, "0\n");
	free(path);
	path = tl_join(folder, "ended/1");
	put(path, "65\n");
	free(path);
	(void)snprintf(text, sizeof text,
	               "for i in 3 4; do echo \"%s|9|$i|RUNNING\"; done; "
	               "for i in 0 1 2; do echo \"%s|9|$i|COMPLETED\"; done",
	               strrchr(folder, '/') + 1, strrchr(folder, '/') + 1);
	stand_in("squeue", text);
	(void)snprintf(text, sizeof text, "echo $* >%s/said", scratch);
	stand_in("scancel", text);
	cr_assert_eq(tl_slurm_adopt(scratch, tasks + 1, TASKS - 1, taken, &arrays, &error), TL_OK,
	             "%s", error.message);
	cr_expect(taken[0] && !taken[1] && !taken[2] && taken[3], "%d %d %d %d", taken[0], taken[1],
	          taken[2], taken[3]);
	(void)snprintf(text, sizeof text, "%s/said", scratch);
	file = fopen(text, "r");
	cr_assert_not_null(file);
	cr_assert_not_null(fgets(said, sizeof said, file));
	(void)fclose(file);
	cr_expect(strstr(said, "9_4"), "%s", said);
	cr_expect(!strstr(said, "9_3"), "%s", said);
	cr_assert_eq(arrays.count, 1);
	cr_expect_eq(arrays.items[0].waited, 2);
	cr_expect_eq(arrays.items[0].job, 9);
	tl_slurm_array_drop(&arrays.items[0]);
	free(arrays.items);
	free(folder);
}

Test(slurm_folder, what_cannot_be_cancelled_is_left_for_the_next)
{
	struct tl_slurm_plan plan = plan_of(1, NULL);
	struct tl_slurm_arrays arrays = {.count = 0};
	struct tl_error error = TL_ERROR_INIT;
	char *folder, text[200];

	folder = tl_slurm_array_path(scratch);
	plan.folder = folder;
	cr_assert_eq(tl_slurm_array_write(&plan, &error), TL_OK);
	(void)snprintf(text, sizeof text, "echo '%s|9|0|RUNNING'", strrchr(folder, '/') + 1);
	stand_in("squeue", text);
	stand_in("scancel", "echo 'scancel: error: away' >&2; exit 1");
	cr_expect_eq(tl_slurm_adopt(scratch, NULL, 0, NULL, &arrays, &error), TL_E_UNAVAILABLE);
	cr_expect(strstr(error.message, "away"), "%s", error.message);
	cr_expect_eq(access(folder, F_OK), 0);
	stand_in("scancel", "exit 0");
	cr_expect_eq(tl_slurm_adopt(scratch, NULL, 0, NULL, &arrays, &error), TL_OK);
	cr_expect_neq(access(folder, F_OK), 0);
	cr_expect_eq(arrays.count, 0);
	free(arrays.items);
	free(folder);
}
