/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requests one by one: azure-llm (CSV) and mooncake (JSON lines). */
#include "traces/csv_input.h"
#include "traces/input.h"
#include "traces/number.h"
#include "traces/recorded.h"

#include <jansson.h>
#include <stdlib.h>

static const char tokens_wanted[] = "an integer from 0 to 2147483647";

static enum tl_status bad_value(const struct tl_request_trace *trace, long line, const char *what,
                                const char *got, const char *wanted, struct tl_error *error)
{
	return tl_error_set(error, TL_E_DATA, trace->path, line, 0, "%s, got `%.80s`, wanted %s",
	                    what, got, wanted);
}

static enum tl_status read_tokens(struct tl_request_trace *trace, long line, const char *what,
                                  const char *text, int64_t *out, struct tl_error *error)
{
	struct tl_number milli = tl_number_parse(text, 3); /* to see a fraction */

	if (milli.kind != TL_NUMBER_VALUE || milli.saturated || milli.value < 0 ||
	    milli.value % 1000 != 0 || milli.value / 1000 > INT32_MAX)
		return bad_value(trace, line, what, text, tokens_wanted, error);
	if (milli.whole_decimal)
		tl_lint_hit(&trace->lint, TL_LINT_WHOLE_DECIMAL, line);
	if (milli.scientific)
		tl_lint_hit(&trace->lint, TL_LINT_SCIENTIFIC, line);
	*out = milli.value / 1000;
	return TL_OK;
}

enum { AZURE_TIME, AZURE_CONTEXT, AZURE_GENERATED, AZURE_COLUMNS };

static const struct tl_csv_column azure_columns[AZURE_COLUMNS] = {
    [AZURE_TIME] = {"TIMESTAMP", true, false},
    [AZURE_CONTEXT] = {"ContextTokens", true, false},
    [AZURE_GENERATED] = {"GeneratedTokens", true, false},
};

static enum tl_status azure_row(struct tl_request_trace *trace, const struct tl_csv *csv,
                                const int *positions, struct tl_error *error)
{
	const char *time_text = tl_csv_field(csv, positions[AZURE_TIME]);
	struct tl_timestamp time;
	int64_t context = 0, generated = 0;

	if (!tl_timestamp_parse(time_text, &time))
		return bad_value(trace, csv->line, "TIMESTAMP", time_text,
		                 "YYYY-MM-DD HH:MM:SS[.fraction]", error);
	if (time.long_fraction)
		tl_lint_hit(&trace->lint, TL_LINT_LONG_FRACTION, csv->line);
	if (time.repeated_hour)
		tl_lint_hit(&trace->lint, TL_LINT_REPEATED_HOUR, csv->line);
	enum tl_status status =
	    read_tokens(trace, csv->line, "ContextTokens",
	                tl_csv_field(csv, positions[AZURE_CONTEXT]), &context, error);
	if (status == TL_OK)
		status =
		    read_tokens(trace, csv->line, "GeneratedTokens",
		                tl_csv_field(csv, positions[AZURE_GENERATED]), &generated, error);
	if (status != TL_OK)
		return status;
	return tl_request_add(trace, csv->line, tl_csv_hash(csv), time.ns, context, generated,
	                      error);
}

enum tl_status tl_requests_read_azure(struct tl_request_trace *trace, struct tl_error *error)
{
	struct tl_csv csv;
	int positions[AZURE_COLUMNS];
	enum tl_status status = tl_csv_open(&csv, trace->path, &trace->lint, error);

	if (status != TL_OK)
		return status;
	status = tl_csv_header(&csv, azure_columns, AZURE_COLUMNS, positions, error);
	while (status == TL_OK) {
		status = tl_csv_row(&csv, error);
		if (status == TL_OK)
			status = azure_row(trace, &csv, positions, error);
	}
	tl_csv_close(&csv);
	return status == TL_END ? TL_OK : status;
}

/* A number of an object; integers and, for times, decimals. */
static enum tl_status json_tokens(const struct tl_request_trace *trace, long line,
                                  const json_t *object, const char *key, int64_t *out,
                                  struct tl_error *error)
{
	const json_t *value = json_object_get(object, key);

	if (value == NULL)
		return bad_value(trace, line, key, "no such key", tokens_wanted, error);
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    json_integer_value(value) > INT32_MAX) {
		char *text = json_dumps(value, JSON_ENCODE_ANY);
		enum tl_status status =
		    bad_value(trace, line, key, text != NULL ? text : "?", tokens_wanted, error);
		free(text);
		return status;
	}
	*out = json_integer_value(value);
	return TL_OK;
}

static enum tl_status json_time(const struct tl_request_trace *trace, long line,
                                const json_t *object, int64_t *out_ns, struct tl_error *error)
{
	static const char wanted[] = "milliseconds, 0 to 10^12";
	const json_t *value = json_object_get(object, "timestamp");
	double ms = json_is_number(value) ? json_number_value(value) : -1;

	if (value == NULL)
		return bad_value(trace, line, "timestamp", "no such key", wanted, error);
	if (!(ms >= 0 && ms <= 1e12)) {
		char *text = json_dumps(value, JSON_ENCODE_ANY);
		enum tl_status status =
		    bad_value(trace, line, "timestamp", text != NULL ? text : "?", wanted, error);
		free(text);
		return status;
	}
	if (json_is_integer(value))
		*out_ns = json_integer_value(value) * TL_NS_PER_MS;
	else
		*out_ns = (int64_t)(ms * (double)TL_NS_PER_MS + 0.5);
	return TL_OK;
}

static enum tl_status mooncake_row(struct tl_request_trace *trace, long line, const char *text,
                                   size_t size, struct tl_error *error)
{
	json_error_t why;
	json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &why);
	int64_t time_ns = 0, context = 0, generated = 0;

	if (object == NULL)
		return tl_error_set(error, TL_E_DATA, trace->path, line,
		                    why.column > 0 ? why.column : 0,
		                    "JSON, got text that is none (%s), wanted an object", why.text);
	enum tl_status status = TL_OK;
	const json_t *ids = json_object_get(object, "hash_ids");
	if (!json_is_object(object))
		status = bad_value(trace, line, "JSON", "another value", "an object", error);
	else if (ids != NULL && !json_is_array(ids))
		status = bad_value(trace, line, "hash_ids", "another value", "an array", error);
	if (status == TL_OK)
		status = json_time(trace, line, object, &time_ns, error);
	if (status == TL_OK)
		status = json_tokens(trace, line, object, "input_length", &context, error);
	if (status == TL_OK)
		status = json_tokens(trace, line, object, "output_length", &generated, error);
	if (status == TL_OK) {
		trace->stats.hash_ids += json_array_size(ids);
		status = tl_request_add(trace, line, tl_hash_bytes(text, size), time_ns, context,
		                        generated, error);
	}
	json_decref(object);
	return status;
}

enum tl_status tl_requests_read_mooncake(struct tl_request_trace *trace, struct tl_error *error)
{
	struct tl_input input;
	char *text;
	size_t size;
	enum tl_status status = tl_input_open(&input, trace->path, &trace->lint, error);

	if (status != TL_OK)
		return status;
	while ((status = tl_input_line(&input, &text, &size, error)) == TL_OK) {
		if (tl_input_is_blank(text)) {
			tl_lint_hit(&trace->lint, TL_LINT_BLANK_LINE, input.line);
			continue;
		}
		status = mooncake_row(trace, input.line, text, size, error);
		if (status != TL_OK)
			break;
	}
	tl_input_close(&input);
	return status == TL_END ? TL_OK : status;
}
