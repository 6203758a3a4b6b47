/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Baselines and tolerances: small files of CSV. */
#include "analysis/baseline.h"

#include "analysis/fields.h"
#include "sim/base/arena.h"
#include "sim/base/file.h"
#include "sim/base/number.h"
#include "sim/base/units.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS_MAX = 1024, TOLERANCE_COLUMNS = 5 };

/* ---- lines of fields ---- */

struct reader {
	const char *path;
	FILE *file;
	long line;
	char *text; /* of the line, cut into fields */
	size_t size;
	char *fields[FIELDS_MAX];
	size_t count;
	char *comments; /* collected */
	struct tl_error *error;
};

static enum tl_status reader_open(struct reader *reader, const char *path, struct tl_error *error)
{
	*reader = (struct reader){.path = path, .error = error, .comments = tl_strdup("")};
	return tl_file_open(path, &reader->file, error);
}

static void reader_close(struct reader *reader)
{
	if (reader->file)
		(void)fclose(reader->file);
	free(reader->text);
	free(reader->comments);
}

static enum tl_status split(struct reader *reader)
{
	char *at = reader->text;

	for (reader->count = 0; at; reader->count++) {
		char *field = tl_field_next(&at);

		if (!field)
			return tl_error_set(
			    reader->error, TL_E_DATA, reader->path, reader->line, 0,
			    "got a stray quote in field %zu, wanted quotes around a "
			    "field, and doubled within",
			    reader->count + 1);
		if (reader->count == FIELDS_MAX)
			return tl_error_set(reader->error, TL_E_DATA, reader->path, reader->line, 0,
			                    "got more than %d fields", FIELDS_MAX);
		reader->fields[reader->count] = field;
	}
	return TL_OK;
}

/* The next line that says something, in fields; TL_END after the last. */
static enum tl_status next(struct reader *reader)
{
	ssize_t length;

	while ((length = getline(&reader->text, &reader->size, reader->file)) >= 0) {
		reader->line++;
		if (strlen(reader->text) != (size_t)length)
			return tl_error_set(reader->error, TL_E_DATA, reader->path, reader->line, 0,
			                    "got a NUL byte, wanted text");
		while (length > 0 &&
		       (reader->text[length - 1] == '\n' || reader->text[length - 1] == '\r'))
			reader->text[--length] = '\0';
		if (reader->text[0] == '#')
			tl_append(&reader->comments, "%s\n", reader->text);
		else if (length > 0)
			return split(reader);
	}
	if (ferror(reader->file))
		return tl_error_set(reader->error, TL_E_IO, reader->path, 0, 0,
		                    "cannot be read: %s", strerror(errno));
	return TL_END;
}

static enum tl_status bad(const struct reader *reader, const char *got, const char *wanted)
{
	return tl_error_set(reader->error, TL_E_DATA, reader->path, reader->line, 0,
	                    "got `%.60s`, wanted %s", got, wanted);
}

/* ---- baselines ---- */

static enum tl_status take_header(struct reader *reader, struct tl_baseline *out)
{
	const size_t runs = reader->count - 2;
	static const char wanted[] = "`metric,value,unit` or `metric,seed 1,…,unit`";
	uint64_t *seeds;
	enum tl_status status = TL_OK;

	if (reader->count < 3 || strcmp(reader->fields[0], "metric") != 0 ||
	    strcmp(reader->fields[reader->count - 1], "unit") != 0)
		return bad(reader, reader->fields[0], wanted);
	seeds = tl_calloc(runs, sizeof *seeds);
	out->seedless = runs == 1 && strcmp(reader->fields[1], "value") == 0;
	for (size_t i = 0; i < runs && !out->seedless && status == TL_OK; i++) {
		const char *field = reader->fields[i + 1];
		int64_t seed = 0;

		if (strncmp(field, "seed ", 5) != 0 ||
		    tl_parse_int(field + 5, &seed, NULL) != TL_OK || seed < 0)
			status = bad(reader, field, "`seed` and its number");
		seeds[i] = (uint64_t)seed;
		for (size_t j = 0; j < i && status == TL_OK; j++)
			if (seeds[j] == seeds[i])
				status = bad(reader, field, "each seed once");
	}
	if (status == TL_OK)
		out->runs = tl_runs_new(reader->path, seeds, runs);
	free(seeds);
	return status;
}

static enum tl_status take_row(struct reader *reader, struct tl_runs *runs)
{
	double *values;

	if (reader->count != runs->count + 2)
		return tl_error_set(reader->error, TL_E_DATA, reader->path, reader->line, 0,
		                    "got %zu fields, wanted the %zu of the first line",
		                    reader->count, runs->count + 2);
	if (reader->fields[0][0] == '\0')
		return bad(reader, "", "a metric's name");
	if (tl_runs_metric(runs, reader->fields[0]) < runs->metric_count)
		return bad(reader, reader->fields[0], "each metric once");
	values = tl_runs_add_metric(runs, reader->fields[0], reader->fields[reader->count - 1]);
	for (size_t i = 0; i < runs->count; i++) {
		const char *field = reader->fields[i + 1];

		if (strcmp(field, "nan") != 0 && tl_parse_double(field, &values[i], NULL) != TL_OK)
			return bad(reader, field, "a number, or nan");
	}
	return TL_OK;
}

enum tl_status tl_baseline_read(const char *path, struct tl_baseline *out, struct tl_error *error)
{
	static const uint64_t none = 0;
	struct reader reader;
	enum tl_status status = reader_open(&reader, path, error);

	*out = (struct tl_baseline){.comments = NULL};
	if (status == TL_OK)
		status = next(&reader);
	if (status == TL_OK)
		status = take_header(&reader, out);
	while (status == TL_OK) {
		status = next(&reader);
		if (status == TL_OK)
			status = take_row(&reader, out->runs);
	}
	if (status == TL_END) {
		status = TL_OK;
		if (!out->runs) {
			out->runs = tl_runs_new(path, &none, 1);
			out->seedless = true;
		}
	}
	out->comments = tl_strdup(reader.comments);
	reader_close(&reader);
	if (status != TL_OK)
		tl_baseline_fini(out);
	return status;
}

void tl_baseline_fini(struct tl_baseline *baseline)
{
	free(baseline->comments);
	tl_runs_destroy(baseline->runs);
	*baseline = (struct tl_baseline){.comments = NULL};
}

void tl_baseline_write(const char *comments, const struct tl_runs *runs, FILE *out)
{
	(void)fprintf(out, "%smetric", comments);
	for (size_t i = 0; i < runs->count; i++) {
		if (runs->count == 1)
			(void)fputs(",value", out);
		else
			(void)fprintf(out, ",seed %llu", (unsigned long long)runs->seeds[i]);
	}
	(void)fputs(",unit\n", out);
	for (size_t m = 0; m < runs->metric_count; m++) {
		tl_field_write(runs->metrics[m], out);
		for (size_t i = 0; i < runs->count; i++) {
			const double value = tl_runs_value(runs, m, i);
			char text[TL_NUMBER_TEXT];

			if (isnan(value))
				(void)fputs(",nan", out);
			else
				(void)fprintf(out, ",%s", tl_number_text(value, text));
		}
		(void)fputc(',', out);
		tl_field_write(runs->units[m], out);
		(void)fputc('\n', out);
	}
}

/* ---- tolerances ---- */

static const char *const tolerance_columns[TOLERANCE_COLUMNS] = {"metric", "absolute", "relative",
                                                                 "test", "gate"};
static const char *const test_names[] = {"", "value", "difference", "equivalence", "ignore"};

/* Which column stands where. */
static enum tl_status take_columns(struct reader *reader, size_t columns[FIELDS_MAX])
{
	for (size_t i = 0; i < reader->count; i++) {
		size_t c = 0;

		while (c < TOLERANCE_COLUMNS &&
		       strcmp(reader->fields[i], tolerance_columns[c]) != 0)
			c++;
		if (c == TOLERANCE_COLUMNS || (i == 0) != (c == 0))
			return bad(reader, reader->fields[i],
			           "the columns metric, then of absolute, relative, test, gate");
		for (size_t before = 0; before < i; before++)
			if (columns[before] == c)
				return bad(reader, reader->fields[i], "each column once");
		columns[i] = c;
	}
	return TL_OK;
}

static enum tl_status take_margin(const struct reader *reader, const char *field, double *out)
{
	if (field[0] == '\0')
		return TL_OK;
	if (tl_parse_double(field, out, NULL) != TL_OK || *out < 0)
		return bad(reader, field, "a margin: a number from 0 on");
	return TL_OK;
}

static enum tl_status take_test(const struct reader *reader, const char *field,
                                struct tl_tolerance *out)
{
	size_t t = 0;

	while (t < sizeof test_names / sizeof test_names[0] && strcmp(test_names[t], field) != 0)
		t++;
	if (t == sizeof test_names / sizeof test_names[0])
		return bad(reader, field, "value, difference, equivalence, ignore or nothing");
	out->test = (enum tl_regress_test)t;
	return TL_OK;
}

static enum tl_status take_field(const struct reader *reader, size_t column, const char *field,
                                 struct tl_tolerance *out)
{
	switch (column) {
	case 0:
		if (field[0] == '\0')
			return bad(reader, field, "a metric's name or pattern");
		out->pattern = tl_strdup(field);
		return TL_OK;
	case 1:
		return take_margin(reader, field, &out->absolute);
	case 2:
		return take_margin(reader, field, &out->relative);
	case 3:
		return take_test(reader, field, out);
	default:
		if (field[0] && strcmp(field, "any") != 0 && strcmp(field, "worse") != 0)
			return bad(reader, field, "any, worse or nothing");
		out->worse_only = strcmp(field, "worse") == 0;
		return TL_OK;
	}
}

static enum tl_status take_tolerance(struct reader *reader, const size_t *columns, size_t count,
                                     struct tl_tolerances *out)
{
	struct tl_tolerance *tolerance;
	enum tl_status status = TL_OK;

	if (reader->count != count)
		return tl_error_set(reader->error, TL_E_DATA, reader->path, reader->line, 0,
		                    "got %zu fields, wanted the %zu of the first line",
		                    reader->count, count);
	out->items = tl_grow(out->items, &out->capacity, out->count + 1, sizeof *out->items);
	tolerance = &out->items[out->count++];
	*tolerance = (struct tl_tolerance){.line = reader->line};
	for (size_t i = 0; i < count && status == TL_OK; i++)
		status = take_field(reader, columns[i], reader->fields[i], tolerance);
	tolerance->exact = !(tolerance->absolute > 0) && !(tolerance->relative > 0);
	if (status == TL_OK && tolerance->test == TL_REGRESS_EQUIVALENCE && tolerance->exact)
		status =
		    bad(reader, "equivalence without a margin", "an absolute or a relative one");
	return status;
}

enum tl_status tl_tolerances_read(const char *path, struct tl_tolerances *out,
                                  struct tl_error *error)
{
	size_t columns[FIELDS_MAX] = {0}, count;
	struct reader reader;
	enum tl_status status = reader_open(&reader, path, error);

	*out = (struct tl_tolerances){.items = NULL};
	if (status == TL_OK)
		status = next(&reader);
	if (status == TL_OK)
		status = take_columns(&reader, columns);
	count = reader.count;
	while (status == TL_OK) {
		status = next(&reader);
		if (status == TL_OK)
			status = take_tolerance(&reader, columns, count, out);
	}
	reader_close(&reader);
	if (status == TL_END)
		return TL_OK;
	tl_tolerances_fini(out);
	return status;
}

void tl_tolerances_fini(struct tl_tolerances *tolerances)
{
	for (size_t i = 0; i < tolerances->count; i++)
		free(tolerances->items[i].pattern);
	free(tolerances->items);
	*tolerances = (struct tl_tolerances){.items = NULL};
}

const struct tl_tolerance *tl_tolerances_find(const struct tl_tolerances *tolerances,
                                              const char *metric)
{
	static const struct tl_tolerance standard = {.exact = true};

	for (size_t i = 0; i < tolerances->count; i++)
		if (fnmatch(tolerances->items[i].pattern, metric, 0) == 0)
			return &tolerances->items[i];
	return &standard;
}
