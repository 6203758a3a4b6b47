/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Request rates of clients, window by window: servegen. */
#include "sim/base/arena.h"
#include "sim/base/output.h"
#include "sim/base/checksum.h"
#include "traces/csv_input.h"
#include "traces/number.h"
#include "traces/recorded.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { START, RATE, CV, FAMILY, SHAPE, SCALE, COLUMNS };
enum { WINDOWS_MAX = 1 << 20 };
static const int64_t default_window_ns = 600 * TL_NS_PER_S; /* of a file with one row */
static const int64_t start_max_ns = 3650 * TL_NS_PER_DAY;

struct windows {
	struct tl_client_window *list;
	size_t count, capacity;
};

static enum tl_status read_double(const struct tl_csv *csv, int column, const char *what,
                                  double max, double *out, struct tl_error *error)
{
	const char *text = tl_csv_field(csv, column);

	if (tl_parse_double(text, out, NULL) != TL_OK || !(*out >= 0 && *out <= max))
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "%s, got `%.80s`, wanted a number from 0 to %g", what, text,
		                    max);
	return TL_OK;
}

static enum tl_status read_family(const struct tl_csv *csv, struct tl_client_window *window,
                                  struct tl_error *error)
{
	const char *text = tl_csv_field(csv, FAMILY);

	if (strcmp(text, "Gamma") == 0)
		window->family = TL_GAP_GAMMA;
	else if (strcmp(text, "Weibull") == 0)
		window->family = TL_GAP_WEIBULL;
	else if (text[0] == '\0')
		window->family = TL_GAP_EXPONENTIAL;
	else
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "family, got `%.80s`, wanted Gamma, Weibull or nothing", text);
	if (window->family == TL_GAP_EXPONENTIAL) {
		window->shape = 1;
		return TL_OK;
	}
	enum tl_status status = read_double(csv, SHAPE, "shape", 1e6, &window->shape, error);
	/* below, most gaps fall under the least double */
	double least = window->family == TL_GAP_GAMMA ? 1e-3 : 0.05;
	if (status == TL_OK && window->rate_rps > 0 && window->shape < least)
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "shape, got `%.80s`, wanted at least %g",
		                    tl_csv_field(csv, SHAPE), least);
	return status;
}

/* Windows follow each other without a gap, in this file as in those before. */
static enum tl_status check_start(struct tl_request_trace *trace, const struct tl_csv *csv,
                                  size_t index, struct tl_error *error)
{
	const char *text = tl_csv_field(csv, START);
	struct tl_number start = tl_number_parse(text, 9);

	if (start.kind != TL_NUMBER_VALUE || start.value < 0 || start.value > start_max_ns)
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "window start, got `%.80s`, wanted seconds from 0 to 10 years",
		                    text);
	if (index == 0 && trace->client_count == 0)
		trace->first_window_ns = start.value;
	if (index == 1 && trace->window_ns == 0)
		trace->window_ns = start.value - trace->first_window_ns;
	int64_t length = trace->window_ns > 0 ? trace->window_ns : 0;
	int64_t wanted = trace->first_window_ns + (int64_t)index * length;
	if (start.value != wanted || (index == 1 && length <= 0))
		return tl_error_set(
		    error, TL_E_DATA, csv->input.path, csv->line, 0,
		    "window start, got `%.80s` s, wanted %.9g s: windows are "
		    "equally long and follow each other",
		    text, (double)(length > 0 ? wanted : wanted + default_window_ns) * 1e-9);
	return TL_OK;
}

static enum tl_status read_window(struct tl_request_trace *trace, const struct tl_csv *csv,
                                  struct windows *windows, struct tl_error *error)
{
	struct tl_client_window window = {0};

	if (csv->count != COLUMNS)
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "row, got %zu fields, wanted %d: start, rate, cv, family, "
		                    "shape, scale",
		                    csv->count, (int)COLUMNS);
	if (windows->count == WINDOWS_MAX)
		return tl_error_set(error, TL_E_DATA, csv->input.path, csv->line, 0,
		                    "windows, got more than %d, wanted at most that many",
		                    (int)WINDOWS_MAX);
	enum tl_status status = check_start(trace, csv, windows->count, error);
	if (status == TL_OK)
		status = read_double(csv, RATE, "rate", 1e6, &window.rate_rps, error);
	if (status == TL_OK)
		status = read_double(csv, CV, "coefficient of variation", 1e6, &window.cv, error);
	if (status == TL_OK)
		status = read_family(csv, &window, error);
	if (status != TL_OK)
		return status;
	if (windows->count == windows->capacity)
		windows->list = tl_grow(windows->list, &windows->capacity, windows->count + 1,
		                        sizeof *windows->list);
	windows->list[windows->count++] = window;
	trace->stats.rows++;
	return TL_OK;
}

static enum tl_status read_client(struct tl_request_trace *trace, const char *path, uint32_t number,
                                  struct tl_error *error)
{
	struct windows windows = {0};
	struct tl_csv csv;
	enum tl_status status = tl_csv_open(&csv, path, &trace->lint, error);

	if (status != TL_OK)
		return status;
	while ((status = tl_csv_row(&csv, error)) == TL_OK) {
		status = read_window(trace, &csv, &windows, error);
		if (status != TL_OK)
			break;
	}
	long line = csv.line;
	tl_csv_close(&csv);
	if (status == TL_END)
		status = TL_OK;
	if (status == TL_OK && windows.count == 0)
		status = tl_error_set(error, TL_E_DATA, path, 1, 0,
		                      "windows, got none, wanted at least one");
	if (status == TL_OK && trace->client_count > 0 && windows.count != trace->window_count)
		status = tl_error_set(error, TL_E_DATA, path, line, 0,
		                      "windows, got %zu, wanted %zu as in the files before",
		                      windows.count, trace->window_count);
	if (status != TL_OK) {
		free(windows.list);
		return status;
	}
	trace->window_count = windows.count;
	trace->clients = tl_grow(trace->clients, &trace->client_capacity, trace->client_count + 1,
	                         sizeof *trace->clients);
	trace->clients[trace->client_count++] =
	    (struct tl_client){.number = number, .windows = windows.list};
	return TL_OK;
}

/* <n> of `chunk-<n>-trace.csv[.gz]`; false for any other name. */
static bool chunk_number(const char *name, uint32_t *out)
{
	static const char prefix[] = "chunk-", ending[] = "-trace.csv";
	uint32_t number = 0;
	size_t digits = 0;

	if (strncmp(name, prefix, sizeof prefix - 1) != 0)
		return false;
	const char *c = name + sizeof prefix - 1;
	for (; *c >= '0' && *c <= '9' && digits < 9; c++, digits++)
		number = number * 10 + (uint32_t)(*c - '0');
	if (digits == 0 || strncmp(c, ending, sizeof ending - 1) != 0)
		return false;
	c += sizeof ending - 1;
	*out = number;
	return *c == '\0' || strcmp(c, ".gz") == 0;
}

struct chunk {
	char *path;
	uint32_t number;
};

struct chunks {
	struct chunk *list;
	size_t count, capacity;
};

static int compare_chunks(const void *left, const void *right)
{
	const struct chunk *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->path, b->path);
}

static enum tl_status list_chunks(const char *folder, struct chunks *chunks, struct tl_error *error)
{
	DIR *directory = opendir(folder);
	uint32_t number;

	if (directory == NULL)
		return tl_error_set(error, TL_E_NOINPUT, folder, 0, 0, "cannot list: %s",
		                    strerror(errno));
	for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
		if (!chunk_number(entry->d_name, &number))
			continue;
		chunks->list = tl_grow(chunks->list, &chunks->capacity, chunks->count + 1,
		                       sizeof *chunks->list);
		chunks->list[chunks->count++] =
		    (struct chunk){.path = tl_join(folder, entry->d_name), .number = number};
	}
	(void)closedir(directory);
	if (chunks->count == 0)
		return tl_error_set(error, TL_E_DATA, folder, 0, 0,
		                    "folder, got no client's file, wanted chunk-<n>-trace.csv");
	qsort(chunks->list, chunks->count, sizeof *chunks->list, compare_chunks);
	for (size_t i = 1; i < chunks->count; i++) {
		if (chunks->list[i].number == chunks->list[i - 1].number)
			return tl_error_set(error, TL_E_DATA, chunks->list[i].path, 0, 0,
			                    "client %u, got two files, wanted one",
			                    (unsigned)chunks->list[i].number);
	}
	return TL_OK;
}

static enum tl_status read_folder(struct tl_request_trace *trace, struct tl_error *error)
{
	struct chunks chunks = {0};
	enum tl_status status = list_chunks(trace->path, &chunks, error);
	char *sums = tl_calloc(chunks.count + 1, TL_SHA256_HEX);

	for (size_t i = 0; i < chunks.count && status == TL_OK; i++) {
		char *sum = sums + i * TL_SHA256_HEX;

		status = read_client(trace, chunks.list[i].path, chunks.list[i].number, error);
		if (status == TL_OK)
			status = tl_sha256_file(chunks.list[i].path, sum, error);
		sum[TL_SHA256_HEX - 1] = '\n';
	}
	if (status == TL_OK)
		status =
		    tl_sha256_bytes(sums, chunks.count * TL_SHA256_HEX, trace->stats.sha256, error);
	free(sums);
	for (size_t i = 0; i < chunks.count; i++)
		free(chunks.list[i].path);
	free(chunks.list);
	return status;
}

enum tl_status tl_requests_read_servegen(struct tl_request_trace *trace, struct tl_error *error)
{
	struct stat info;
	enum tl_status status;

	if (stat(trace->path, &info) == 0 && S_ISDIR(info.st_mode)) {
		status = read_folder(trace, error);
	} else {
		status = read_client(trace, trace->path, 0, error);
		if (status == TL_OK)
			status = tl_sha256_file(trace->path, trace->stats.sha256, error);
	}
	if (status != TL_OK)
		return status;
	if (trace->window_ns == 0)
		trace->window_ns = default_window_ns;
	/* these files have no header to go beyond */
	trace->lint.classes[TL_LINT_EXTRA_FIELD].count = 0;
	trace->stats.origin_ns = trace->first_window_ns;
	trace->stats.span_ns = (int64_t)trace->window_count * trace->window_ns;
	return TL_OK;
}
