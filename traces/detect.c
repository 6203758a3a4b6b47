/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which format a file is of, by its header line, then by its name. */
#include "traces/reader.h"

#include <string.h>

const char *const tl_trace_format_names[] = {
    [TL_FORMAT_AUTO] = "auto",         [TL_FORMAT_PHILLY] = "philly",
    [TL_FORMAT_OPENB] = "openb",       [TL_FORMAT_SWF] = "swf",
    [TL_FORMAT_TIRESIAS] = "tiresias", [TL_FORMAT_CANONICAL] = "canonical",
    [TL_FORMAT_CANONICAL + 1] = NULL,
};

bool tl_trace_format_parse(const char *name, enum tl_trace_format *out)
{
	for (size_t i = 0; tl_trace_format_names[i] != NULL; i++) {
		if (strcmp(name, tl_trace_format_names[i]) == 0) {
			*out = (enum tl_trace_format)i;
			return true;
		}
	}
	return false;
}

static const struct tl_reader_ops *const readers[] = {&tl_read_philly, &tl_read_openb, &tl_read_swf,
                                                      &tl_read_tiresias, &tl_read_canonical};

enum { MARKS = 4 };

/* Columns that only one format has all of. */
static const struct {
	const struct tl_reader_ops *reader;
	const char *columns[MARKS];
} marks[] = {
    {&tl_read_philly, {"timestamp", "duration", "num_gpus", "cluster"}},
    {&tl_read_openb, {"name", "cpu_milli", "num_gpu", "gpu_milli"}},
    {&tl_read_tiresias, {"job_id", "num_gpu", "submit_time", "duration"}},
    {&tl_read_canonical, {"id", "submit_s", "duration_s", "gpus"}},
    {&tl_read_canonical, {"id", "gpus", "workers", "gpu_memory_bytes"}},
};

/* Whether the header line has a column of that name, quoted or not. */
static bool has_column(const char *header, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = header; *at != '\0';) {
		size_t size = strcspn(at, ",");
		const char *from = at, *to = at + size;
		while (from < to && (*from == ' ' || *from == '\t' || *from == '"'))
			from++;
		while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '"'))
			to--;
		if ((size_t)(to - from) == length && memcmp(from, name, length) == 0)
			return true;
		at += size;
		if (*at == ',')
			at++;
	}
	return false;
}

/* A `;` line, or at least five numbers with spaces between. */
static bool looks_like_swf(const char *line)
{
	size_t numbers = 0;

	while (*line == ' ' || *line == '\t')
		line++;
	if (*line == ';')
		return true;
	while (*line != '\0') {
		size_t size = strspn(line, "+-.0123456789eE");
		if (size == 0 || (line[size] != ' ' && line[size] != '\t' && line[size] != '\0'))
			return false;
		numbers++;
		line += size;
		line += strspn(line, " \t");
	}
	return numbers >= 5;
}

static bool is_named_swf(const char *path)
{
	size_t length = strlen(path);
	return (length >= 4 && strcmp(path + length - 4, ".swf") == 0) ||
	       (length >= 7 && strcmp(path + length - 7, ".swf.gz") == 0);
}

static const struct tl_reader_ops *detect(const char *line, const char *path)
{
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
		size_t found = 0;
		while (found < MARKS && has_column(line, marks[i].columns[found]))
			found++;
		if (found == MARKS)
			return marks[i].reader;
	}
	return looks_like_swf(line) || is_named_swf(path) ? &tl_read_swf : NULL;
}

static enum tl_status look_into(const char *path, const struct tl_reader_ops **out,
                                struct tl_error *error)
{
	static struct tl_lint unused = {.off = true};
	struct tl_input input;
	char *text;
	size_t size;
	enum tl_status status = tl_input_open(&input, path, &unused, error);

	if (status != TL_OK)
		return status;
	do {
		status = tl_input_line(&input, &text, &size, error);
	} while (status == TL_OK && tl_input_is_blank(text));
	if (status == TL_END)
		status = tl_error_set(error, TL_E_DATA, path, 1, 0,
		                      "input, got blank lines alone, wanted a header and rows");
	if (status == TL_OK) {
		*out = detect(text, path);
		if (*out == NULL)
			status =
			    tl_error_set(error, TL_E_DATA, path, input.line, 0,
			                 "format is unclear, got `%.120s`, wanted a header of "
			                 "philly, openb, swf, tiresias or canonical (or the format "
			                 "said)",
			                 text);
	}
	tl_input_close(&input);
	return status;
}

enum tl_status tl_reader_choose(const char *path, enum tl_trace_format format,
                                const struct tl_reader_ops **out, struct tl_error *error)
{
	if (format == TL_FORMAT_AUTO)
		return look_into(path, out, error);
	for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
		if (readers[i]->format == format)
			*out = readers[i];
	}
	return TL_OK;
}
