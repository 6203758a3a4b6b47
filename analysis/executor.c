/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/executor.h"

#include <stdio.h>
#include <string.h>

const struct tl_executor *const tl_executors[] = {&tl_executor_local, &tl_executor_slurm, NULL};

/* Without control characters, which a terminal would obey; UTF-8 stays. */
static void tidy(char *line)
{
	for (; *line != '\0'; line++)
		if ((unsigned char)*line < 0x20 || (unsigned char)*line == 0x7f)
			*line = ' ';
}

void tl_task_last_words(const char *log, char *out, size_t size)
{
	char line[TL_TASK_REASON_MAX];
	FILE *file = fopen(log, "rb");
	bool begins = true;

	out[0] = '\0';
	if (!file)
		return;
	/* The end is enough of a log, however long it is. */
	if (fseek(file, -(64L << 10), SEEK_END) != 0)
		rewind(file);
	while (fgets(line, sizeof line, file)) {
		size_t length = strlen(line);
		bool ends = length > 0 && line[length - 1] == '\n';

		line[strcspn(line, "\n")] = '\0';
		tidy(line);
		/* Of a line that is longer than fits, its beginning. */
		if (begins && line[strspn(line, " ")] != '\0')
			(void)snprintf(out, size, "%s", line + strspn(line, " "));
		begins = ends;
	}
	(void)fclose(file);
}

static const char needs_no_quotes[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+=.,:/%@";

void tl_shell_quote(const char *word, FILE *out)
{
	if (word[0] != '\0' && word[strspn(word, needs_no_quotes)] == '\0') {
		(void)fputs(word, out);
		return;
	}
	(void)fputc('\'', out);
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			(void)fputs("'\\''", out);
		else
			(void)fputc(*word, out);
	}
	(void)fputc('\'', out);
}
