/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Slurm is given: the script of an array, and the call of sbatch. */
#include "analysis/slurm.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* sbatch takes 4 MiB where its cluster says nothing else. */
enum { SCRIPT_BYTES_MAX = 2 * 1024 * 1024 };

struct words {
	char **items;
	size_t count, capacity;
};

static void add_word(struct words *words, char *word)
{
	words->items =
	    tl_grow(words->items, &words->capacity, words->count + 2, sizeof *words->items);
	words->items[words->count++] = word;
	words->items[words->count] = NULL;
}

/* One word from *text on; false where a quote does not end. */
static bool split_one(const char **text, char *word)
{
	const char *p = *text;
	char quote = '\0';

	for (; *p != '\0' && (quote || !strchr(" \t\n", *p)); p++) {
		if (quote && *p == quote)
			quote = '\0';
		else if (!quote && (*p == '\'' || *p == '"'))
			quote = *p;
		else if (*p == '\\' && p[1] != '\0' &&
		         (!quote || (quote == '"' && strchr("\"\\$`", p[1]))))
			*word++ = *++p;
		else
			*word++ = *p;
	}
	*text = p;
	return quote == '\0';
}

enum tl_status tl_words_split(const char *text, char ***words, struct tl_error *error)
{
	struct words split = {.items = tl_calloc(1, sizeof *split.items), .capacity = 1};

	for (const char *p = text; *(p += strspn(p, " \t\n")) != '\0';) {
		char *word = tl_calloc(strlen(p) + 1, 1);

		add_word(&split, word);
		if (!split_one(&p, word)) {
			tl_words_free(split.items);
			return tl_error_set(
			    error, TL_E_USAGE, NULL, 0, 0,
			    "--slurm-args: got `%.200s`, wanted words whose quotes end", text);
		}
	}
	*words = split.items;
	return TL_OK;
}

void tl_words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* A result is whole once it has its name, and is not made again: a job that Slurm starts
 * twice does no harm. */
static const char prologue[] =
    "run() { # number, output, log, command...\n"
    "\tnumber=$1 output=$2 log=$3 code=0\n"
    "\tshift 3\n"
    "\t[ -e \"$here/stop\" ] && return\n"
    "\t[ -e \"$output\" ] || \"$@\" </dev/null >/dev/null 2>\"$log\" || code=$?\n"
    "\t[ $code -eq 0 ] || status=1\n"
    "\techo $code >\"$here/ended/.$number\" && mv \"$here/ended/.$number\" "
    "\"$here/ended/$number\"\n"
    "}\n"
    "case $SLURM_ARRAY_TASK_ID in\n";

static void write_task(const struct tl_task *task, size_t number, FILE *out)
{
	(void)fprintf(out, "\trun %zu ", number);
	tl_shell_quote(task->output, out);
	(void)fputc(' ', out);
	tl_shell_quote(task->log, out);
	for (char **word = task->argv; *word; word++) {
		(void)fputc(' ', out);
		tl_shell_quote(*word, out);
	}
	(void)fputc('\n', out);
}

void tl_slurm_script(const struct tl_slurm_plan *plan, FILE *out)
{
	(void)fputs(
	    "#!/bin/sh\n"
	    "# An element of the array does its runs one by one, and leaves their exit codes "
	    "in ended/.\n"
	    "status=0 here=",
	    out);
	tl_shell_quote(plan->folder, out);
	(void)fprintf(out, "\n%s", prologue);
	for (size_t i = 0; i < plan->count; i++) {
		if (i % plan->chunk == 0)
			(void)fprintf(out, "%s%zu)\n", i ? "\t;;\n" : "", i / plan->chunk);
		write_task(&plan->tasks[plan->which[i]], i, out);
	}
	(void)fputs("\t;;\nesac\nexit $status\n", out);
}

size_t tl_slurm_script_room(const struct tl_slurm_plan *plan, size_t most_elements)
{
	char *text = NULL;
	size_t bytes = 0, taken = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		tl_out_of_memory(SCRIPT_BYTES_MAX);
	for (size_t elements = 0; taken < plan->count && elements < most_elements; elements++) {
		size_t end = plan->count - taken > plan->chunk ? taken + plan->chunk : plan->count;

		for (size_t i = taken; i < end; i++)
			write_task(&plan->tasks[plan->which[i]], i, out);
		(void)fflush(out);
		if (bytes > SCRIPT_BYTES_MAX && taken > 0)
			break;
		taken = end;
	}
	(void)fclose(out);
	free(text);
	return taken;
}

static void add_text(struct words *words, const char *option, const char *value)
{
	add_word(words, tl_format("%s%s", option, value));
}

/* FOLDER/out-%a; in such a pattern a % of the folder's own is doubled. */
static void add_output(struct words *words, const char *folder)
{
	static const char option[] = "--output=", file[] = "/out-%a";
	char *word = tl_alloc(sizeof option + sizeof file + 2 * strlen(folder)), *p = word;

	p += sprintf(p, "%s", option);
	for (; *folder != '\0'; folder++) {
		*p++ = *folder;
		if (*folder == '%')
			*p++ = '%';
	}
	(void)sprintf(p, "%s", file);
	add_word(words, word);
}

char **tl_slurm_sbatch_words(const struct tl_slurm_plan *plan, char *const *extra, unsigned jobs,
                             long after)
{
	struct words words = {.items = NULL};
	size_t elements = (plan->count + plan->chunk - 1) / plan->chunk;
	const char *name = strrchr(plan->folder, '/') + 1;
	char number[64], *here = getcwd(NULL, 0);

	add_text(&words, "sbatch", "");
	add_text(&words, "--ntasks=1", "");
	for (; *extra; extra++)
		add_text(&words, *extra, "");
	/* The last of an option counts: these are not for others to say. */
	add_text(&words, "--parsable", "");
	add_text(&words, "--job-name=", name);
	(void)snprintf(number, sizeof number, jobs ? "0-%zu%%%u" : "0-%zu", elements - 1, jobs);
	add_text(&words, "--array=", number);
	add_output(&words, plan->folder);
	if (here)
		add_text(&words, "--chdir=", here);
	free(here);
	if (after) {
		(void)snprintf(number, sizeof number, "afterany:%ld", after);
		add_text(&words, "--dependency=", number);
	}
	add_text(&words, plan->folder, "/script");
	return words.items;
}
