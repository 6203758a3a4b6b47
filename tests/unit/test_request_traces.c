/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recorded requests: what each format holds, its dirt, what is refused; and the public
 * traces' known totals, skipped where they are absent. */
#include "tests/unit/test_trace_util.h"
#include "traces/requests_read.h"

#define HEADER "TIMESTAMP,ContextTokens,GeneratedTokens\n"

static struct tl_request_trace *must_read(const char *path, enum tl_request_format format)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;

	cr_assert_eq(tl_request_trace_open(path, format, false, &trace, &error), TL_OK, "%s: %s",
	             path, error.message);
	return trace;
}

static struct tl_request_trace *must_read_text(const char *text)
{
	const char *path = write_text_file("requests", text);
	struct tl_request_trace *trace = must_read(path, TL_REQUESTS_AUTO);

	(void)unlink(path);
	return trace;
}

static void refused(const char *text, enum tl_request_format format, long line, const char *part)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	const char *path = write_text_file("requests-bad", text);
	enum tl_status status = tl_request_trace_open(path, format, false, &trace, &error);

	(void)unlink(path);
	cr_assert_eq(status, TL_E_DATA, "status %d of `%s`: %s", (int)status, text, error.message);
	cr_expect_null(trace);
	cr_expect_eq(error.line, line, "line %ld of `%s`: %s", error.line, text, error.message);
	cr_expect_not_null(strstr(error.message, part), "`%s` is not in `%s`", part, error.message);
}

static uint64_t lint_count(const struct tl_request_trace *trace, const char *name)
{
	const struct tl_request_stats *stats = tl_request_trace_stats(trace);

	for (size_t i = 0; i < stats->lint_count; i++) {
		if (strcmp(stats->lint[i].name, name) == 0)
			return stats->lint[i].count;
	}
	return 0;
}

Test(request_traces, strict_reading_refuses_what_is_out_of_order_or_twice)
{
	static const struct {
		const char *rows;
		long line;
	} cases[] = {
	    {"2023-01-01 00:00:01,1,1\n2023-01-01 00:00:00,1,1\n", 3},
	    {"2023-01-01 00:00:01,1,1\n2023-01-01 00:00:01,1,2\n2023-01-01 00:00:01,1,1\n", 4},
	    {"2023-01-01 00:00:01,1,1\n2023-01-01 00:00:01,1,2\n", 0}};

	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct tl_request_trace *trace = NULL;
		struct tl_error error = TL_ERROR_INIT;
		char text[256];

		snprintf(text, sizeof text, HEADER "%s", cases[i].rows);
		const char *path = write_text_file("strict", text);

		cr_expect_eq(tl_request_trace_open(path, TL_REQUESTS_AUTO, true, &trace, &error),
		             cases[i].line == 0 ? TL_OK : TL_E_DATA, "%s: %s", text, error.message);
		cr_expect_eq(error.line, cases[i].line, "%s: %s", text, error.message);
		tl_request_trace_close(trace);
		(void)unlink(path);
	}
}

Test(request_traces, azure_rows_are_sorted_and_counted)
{
	struct tl_request_trace *trace =
	    must_read_text("GeneratedTokens,TIMESTAMP,ContextTokens\r\n"
	                   "5,2023-11-16 18:15:50.5000001,20\r\n"
	                   "7,2023-11-16 18:15:46.5000000,10\r\n"
	                   "5,2023-11-16 18:15:50.5000001,20\r\n"
	                   "9.0,2023-11-16 18:15:46.5000000,0");
	size_t count;
	const struct tl_recorded_request *requests = tl_request_trace_requests(trace, &count);
	const struct tl_request_stats *stats = tl_request_trace_stats(trace);

	cr_assert_eq(tl_request_trace_format(trace), TL_REQUESTS_AZURE_LLM);
	cr_assert_eq(count, 4);
	cr_expect_eq(requests[0].time_ns, 0);
	cr_expect_eq(requests[0].row, 1, "equal times keep the file's order");
	cr_expect_eq(requests[1].row, 3);
	cr_expect_eq(requests[1].generated_tokens, 9);
	cr_expect_eq(requests[2].time_ns, INT64_C(4000000100));
	cr_expect_eq(requests[3].context_tokens, 20);
	cr_expect_eq(stats->span_ns, INT64_C(4000000100));
	cr_expect_eq(stats->context_tokens, 50);
	cr_expect_eq(stats->generated_tokens, 26);
	cr_expect_eq(stats->equal_times, 2);
	cr_expect_eq(lint_count(trace, "duplicate-row"), 1, "reported and kept");
	cr_expect_eq(lint_count(trace, "backward-time"), 2);
	cr_expect_eq(lint_count(trace, "column-order"), 1);
	tl_request_trace_close(trace);
}

Test(request_traces, mooncake_lines)
{
	struct tl_request_trace *trace = must_read_text(
	    "{\"timestamp\": 3000, \"input_length\": 7, \"output_length\": 2, \"hash_ids\": [1, "
	    "2]}\n\n"
	    "{\"output_length\": 3, \"timestamp\": 0.5, \"input_length\": 8}\n");
	size_t count;
	const struct tl_recorded_request *requests = tl_request_trace_requests(trace, &count);

	cr_assert_eq(tl_request_trace_format(trace), TL_REQUESTS_MOONCAKE);
	cr_assert_eq(count, 2);
	cr_expect_eq(requests[0].context_tokens, 8);
	cr_expect_eq(requests[1].time_ns, INT64_C(2999500000));
	cr_expect_eq(tl_request_trace_stats(trace)->hash_ids, 2);
	cr_expect_eq(lint_count(trace, "blank-line"), 1);
	tl_request_trace_close(trace);
}

Test(request_traces, servegen_rows)
{
	struct tl_request_trace *trace = must_read_text("0,0,0,,0,0\n"
	                                                "600,0.5,2,Gamma,0.25,8\n"
	                                                "1200,1.5,0.9,Weibull,1.1,0.7\n"
	                                                "1800,0.1,1,,0,0\n");
	size_t count, windows;
	int64_t window_ns;
	const struct tl_client *clients =
	    tl_request_trace_clients(trace, &count, &windows, &window_ns);

	cr_assert_eq(tl_request_trace_format(trace), TL_REQUESTS_SERVEGEN);
	cr_assert_eq(count, 1);
	cr_assert_eq(windows, 4);
	cr_expect_eq(window_ns, 600 * TL_NS_PER_S);
	cr_expect_eq(clients[0].windows[1].family, TL_GAP_GAMMA);
	cr_expect_float_eq(clients[0].windows[1].shape, 0.25, 1e-12);
	cr_expect_eq(clients[0].windows[2].family, TL_GAP_WEIBULL);
	cr_expect_float_eq(clients[0].windows[3].shape, 1, 1e-12);
	cr_expect_eq(tl_request_trace_stats(trace)->lint_count, 0);
	cr_expect_eq(tl_request_trace_stats(trace)->span_ns, 2400 * TL_NS_PER_S);
	tl_request_trace_close(trace);
}

Test(request_traces, servegen_folder_is_ordered_by_number)
{
	char folder[] = "/tmp/tidelab-clients-XXXXXX", path[256];
	static const int numbers[] = {10, 2, 1};
	size_t count, windows;
	int64_t window_ns;

	cr_assert_not_null(mkdtemp(folder));
	for (int i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s/chunk-%d-trace.csv", folder, numbers[i]);
		FILE *file = fopen(path, "w");
		cr_assert_not_null(file);
		(void)fprintf(file, "0,%d,1,,0,0\n60,0,0,,0,0\n", numbers[i]);
		(void)fclose(file);
	}
	struct tl_request_trace *trace = must_read(folder, TL_REQUESTS_AUTO);
	const struct tl_client *clients =
	    tl_request_trace_clients(trace, &count, &windows, &window_ns);
	cr_assert_eq(count, 3);
	cr_expect_eq(clients[0].number, 1);
	cr_expect_eq(clients[1].number, 2);
	cr_expect_eq(clients[2].number, 10);
	cr_expect_float_eq(clients[2].windows[0].rate_rps, 10, 1e-12);
	cr_expect_eq(window_ns, 60 * TL_NS_PER_S);
	tl_request_trace_close(trace);

	/* one that has other windows */
	FILE *file = fopen(path, "w");
	cr_assert_not_null(file);
	(void)fprintf(file, "0,1,1,,0,0\n30,0,0,,0,0\n");
	(void)fclose(file);
	struct tl_error error = TL_ERROR_INIT;
	cr_expect_eq(tl_request_trace_open(folder, TL_REQUESTS_AUTO, false, &trace, &error),
	             TL_E_DATA);
	cr_expect_not_null(strstr(error.message, "equally long"), "%s", error.message);
	for (int i = 0; i < 3; i++) {
		(void)snprintf(path, sizeof path, "%s/chunk-%d-trace.csv", folder, numbers[i]);
		(void)unlink(path);
	}
	cr_expect_eq(tl_request_trace_open(folder, TL_REQUESTS_AUTO, false, &trace, &error),
	             TL_E_DATA);
	cr_expect_not_null(strstr(error.message, "chunk-<n>-trace.csv"), "%s", error.message);
	(void)rmdir(folder);
}

Test(request_traces, azure_refused)
{
	const enum tl_request_format azure = TL_REQUESTS_AZURE_LLM;

	refused("TIMESTAMP,ContextTokens\n2023-11-16 18:15:46,1\n", azure, 1, "GeneratedTokens");
	refused(HEADER "2023-11-16 18:15:46,1,2\nyesterday,1,2\n", azure, 3, "yesterday");
	refused(HEADER "2023-11-16 18:15:46,-1,2\n", azure, 2, "ContextTokens, got `-1`");
	refused(HEADER "2023-11-16 18:15:46,1,\n", azure, 2, "GeneratedTokens");
	refused(HEADER "2023-11-16 18:15:46,1\n", azure, 2, "GeneratedTokens");
	refused(HEADER "2023-11-16 18:15:46,1.5,2\n", azure, 2, "1.5");
	refused(HEADER "2023-11-16 18:15:46,99999999999,2\n", azure, 2, "2147483647");
	refused(HEADER "2023-02-30 18:15:46,1,2\n", azure, 2, "TIMESTAMP");
	refused(HEADER, azure, 0, "got none");
}

Test(request_traces, mooncake_refused)
{
	const enum tl_request_format mooncake = TL_REQUESTS_MOONCAKE;

	refused("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1}\n{\"timestamp\": 1",
	        mooncake, 2, "JSON");
	refused("{\"timestamp\": 0, \"input_length\": 1}\n", mooncake, 1, "output_length");
	refused("{\"input_length\": 1, \"output_length\": 1}\n", mooncake, 1, "timestamp");
	refused("{\"timestamp\": -1, \"input_length\": 1, \"output_length\": 1}\n", mooncake, 1,
	        "got `-1`");
	refused("{\"timestamp\": \"a\", \"input_length\": 1, \"output_length\": 1}\n", mooncake, 1,
	        "timestamp");
	refused("{\"timestamp\": 0, \"input_length\": 1.5, \"output_length\": 1}\n", mooncake, 1,
	        "input_length, got `1.5`");
	refused("{\"timestamp\": 0, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": 3}\n",
	        mooncake, 1, "hash_ids");
	refused("[1]\n", mooncake, 1, "an object");
}

Test(request_traces, servegen_refused)
{
	const enum tl_request_format servegen = TL_REQUESTS_SERVEGEN;

	refused("0,0,0,,0\n", servegen, 1, "got 5 fields");
	refused("0,0,0,,0,0\n600,-1,0,,0,0\n", servegen, 2, "rate");
	refused("0,0,0,,0,0\n600,x,0,,0,0\n", servegen, 2, "got `x`");
	refused("0,1,1,Pareto,1,1\n", servegen, 1, "Gamma, Weibull or nothing");
	refused("0,1,1,Gamma,0,1\n", servegen, 1, "shape");
	refused("0,1,1,Weibull,0.01,1\n", servegen, 1, "at least 0.05");
	refused("0,0,0,,0,0\n0,0,0,,0,0\n", servegen, 2, "600 s");
	refused("0,0,0,,0,0\n600,0,0,,0,0\n1800,0,0,,0,0\n", servegen, 3, "1200 s");
	refused("-5,0,0,,0,0\n", servegen, 1, "window start");
	refused("0,nan,0,,0,0\n", servegen, 1, "rate");
}

Test(request_traces, unknown_and_absent)
{
	struct tl_request_trace *trace = NULL;
	struct tl_error error = TL_ERROR_INIT;
	enum tl_request_format format;

	refused("a,b\n1,2\n", TL_REQUESTS_AUTO, 1, "azure-llm");
	refused("\n\n", TL_REQUESTS_AUTO, 1, "blank lines");
	cr_expect_eq(
	    tl_request_trace_open("/tmp/tidelab-not-here", TL_REQUESTS_AUTO, false, &trace, &error),
	    TL_E_NOINPUT);
	const char *path = write_text_file("requests-empty", "");
	cr_expect_eq(tl_request_trace_open(path, TL_REQUESTS_AUTO, false, &trace, &error),
	             TL_E_DATA, "%s", error.message);
	(void)unlink(path);
	cr_expect(tl_request_format_parse("servegen", &format));
	cr_expect_eq(format, TL_REQUESTS_SERVEGEN);
	cr_expect_not(tl_request_format_parse("openb", &format));
}

Test(request_traces, real_azure)
{
	skip_without(SHARED "azure-llm/AzureLLMInferenceTrace_conv.csv");
	struct tl_request_trace *trace =
	    must_read(SHARED "azure-llm/AzureLLMInferenceTrace_conv.csv", TL_REQUESTS_AUTO);
	const struct tl_request_stats *stats = tl_request_trace_stats(trace);

	cr_expect_eq(stats->rows, 19366);
	cr_expect_eq(stats->context_tokens, 22361870);
	cr_expect_eq(stats->generated_tokens, 4088665);
	tl_request_trace_close(trace);
	trace = must_read(SHARED "azure-llm/AzureLLMInferenceTrace_code.csv", TL_REQUESTS_AUTO);
	cr_expect_eq(tl_request_trace_stats(trace)->rows, 8819);
	tl_request_trace_close(trace);
}

Test(request_traces, real_mooncake)
{
	skip_without(SHARED "mooncake/conversation_trace.jsonl");
	struct tl_request_trace *trace =
	    must_read(SHARED "mooncake/conversation_trace.jsonl", TL_REQUESTS_AUTO);

	cr_expect_eq(tl_request_trace_stats(trace)->rows, 12031);
	cr_expect_gt(tl_request_trace_stats(trace)->hash_ids, 100000);
	tl_request_trace_close(trace);
}

Test(request_traces, real_servegen)
{
	skip_without(SHARED "servegen/deepseek-r1/chunk-0-trace.csv");
	struct tl_request_trace *trace = must_read(SHARED "servegen/deepseek-r1", TL_REQUESTS_AUTO);
	size_t count, windows;
	int64_t window_ns;
	const struct tl_client *clients =
	    tl_request_trace_clients(trace, &count, &windows, &window_ns);
	double expected = 0;

	cr_assert_eq(count, 73);
	cr_assert_eq(windows, 144);
	cr_expect_eq(window_ns, 600 * TL_NS_PER_S);
	cr_expect_eq(clients[17].number, 17);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < windows; j++)
			expected += clients[i].windows[j].rate_rps * 600;
	}
	cr_expect_float_eq(expected, 1383669, 1, "%.1f requests a day", expected);
	tl_request_trace_close(trace);
}
