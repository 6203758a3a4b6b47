/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab trace: what a file of recorded jobs holds. */
#include "sim/cli/cli.h"

#include "sim/base/quantile.h"
#include "sim/base/units.h"
#include "traces/lint.h"
#include "traces/trace.h"

#include <inttypes.h>

static const struct tl_command *const verbs[] = {&tl_command_trace_inspect, &tl_command_trace_lint,
                                                 &tl_command_trace_convert,
                                                 &tl_command_trace_generate, NULL};

const struct tl_command tl_command_trace = {
    .name = "trace",
    .summary = "inspect, lint, convert or generate recorded work",
    .operands = "VERB",
    .example = "tidelab trace lint philly.csv",
    .verbs = verbs,
};

/* ---- inspect ---- */

static const struct tl_flag inspect_flags[] = {
    {"json", 'j', NULL, "one JSON object"},
    {"top", 'n', "N", "show so many of the most frequent requests; 10 where not given"},
    TL_TRACE_FLAGS,
};

/* What a pass over the records tells. */
struct contents {
	uint64_t jobs, outcomes[TL_OUTCOME_UNKNOWN + 1], kinds[TL_KIND_COUNT], estimated;
	struct tl_dist run, gpus;
	tl_i128 gpu_time_mgpu_ns;
	int64_t last_submit_ns;
};

static const char *const outcome_names[] = {"completed", "failed", "cancelled", "unknown"};

static enum tl_status look(struct tl_trace *trace, struct contents *out, struct tl_error *error)
{
	struct tl_trace_record record;
	enum tl_status status;

	while ((status = tl_trace_next(trace, &record, error)) == TL_OK) {
		out->jobs++;
		out->outcomes[record.outcome]++;
		out->kinds[record.kind]++;
		out->estimated += record.estimate_ns >= 0;
		out->last_submit_ns = record.submit_ns;
		tl_dist_add(&out->gpus, record.gpus_mgpu);
		if (record.duration_ns == TL_NEVER)
			continue;
		tl_dist_add(&out->run, record.duration_ns);
		out->gpu_time_mgpu_ns += (tl_i128)record.gpus_mgpu * record.duration_ns;
	}
	return status == TL_END ? TL_OK : status;
}

static void print_shape(const struct tl_trace *trace, const struct tl_trace_request *request)
{
	char size[32];

	(void)printf("  %10" PRIu64 "  %g GPU%s", request->count, (double)request->gpus_mgpu / 1000,
	             request->gpus_mgpu == TL_MGPU_PER_GPU ? "" : "s");
	if (request->workers > 0)
		(void)printf(", %u worker%s", request->workers, request->workers == 1 ? "" : "s");
	if (request->gpu_memory_bytes >= 0)
		(void)printf(", %s a GPU",
		             tl_format_size(request->gpu_memory_bytes, size, sizeof size));
	if (request->cpu_milli >= 0)
		(void)printf(", %g cores", (double)request->cpu_milli / 1000);
	if (request->ram_bytes >= 0)
		(void)printf(", %s RAM", tl_format_size(request->ram_bytes, size, sizeof size));
	if (request->models != UINT32_MAX)
		(void)printf(", %s", tl_trace_models(trace)->names[request->models]);
	(void)printf("  (line %ld)\n", request->first_line);
}

/* Calls show for the most frequent requests, each once; equals in the trace's own order. */
static void most_frequent(const struct tl_trace *trace, uint64_t top,
                          void (*show)(const struct tl_trace *, const struct tl_trace_request *,
                                       void *),
                          void *context)
{
	size_t count;
	const struct tl_trace_request *requests = tl_trace_requests(trace, &count);
	uint64_t bound = UINT64_MAX;
	size_t after = 0;

	for (uint64_t shown = 0; shown < top && shown < count; shown++) {
		size_t best = count;

		/* Next in (count descending, index ascending) behind the last one shown. */
		for (size_t i = 0; i < count; i++) {
			uint64_t n = requests[i].count;

			if ((n < bound || (n == bound && i >= after)) &&
			    (best == count || n > requests[best].count))
				best = i;
		}
		if (best == count)
			return;
		bound = requests[best].count;
		after = best + 1;
		show(trace, &requests[best], context);
	}
}

static void show_text(const struct tl_trace *trace, const struct tl_trace_request *request,
                      void *context)
{
	(void)context;
	print_shape(trace, request);
}

static void show_json(const struct tl_trace *trace, const struct tl_trace_request *request,
                      void *context)
{
	json_t *one = json_object();

	(void)json_object_set_new(one, "count", json_integer((json_int_t)request->count));
	(void)json_object_set_new(one, "gpus", json_real((double)request->gpus_mgpu / 1000));
	(void)json_object_set_new(one, "workers", json_integer(request->workers));
	(void)json_object_set_new(one, "gpu_memory_bytes", json_integer(request->gpu_memory_bytes));
	(void)json_object_set_new(one, "cpu_milli", json_integer(request->cpu_milli));
	(void)json_object_set_new(one, "ram_bytes", json_integer(request->ram_bytes));
	if (request->models != UINT32_MAX)
		(void)json_object_set_new(
		    one, "models", json_string(tl_trace_models(trace)->names[request->models]));
	(void)json_object_set_new(one, "first_line", json_integer(request->first_line));
	(void)json_array_append_new(context, one);
}

static void print_contents(const struct tl_trace *trace, struct contents *c, uint64_t top)
{
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	char a[32], b[32];

	(void)printf("%s: %s, sha256 %s\n", tl_trace_path(trace),
	             tl_trace_format_names[tl_trace_format_of(trace)], stats->sha256);
	(void)printf("rows: %" PRIu64 " read, %" PRIu64 " kept, %" PRIu64 " dropped; %s\n",
	             stats->rows_read, stats->rows_kept, stats->rows_dropped,
	             stats->ascending ? "in order of submission" : "not in order: held and sorted");
	(void)printf("jobs: %" PRIu64 " over %s; %zu tenants, %zu queues; %" PRIu64
	             " with an estimate\n",
	             c->jobs, tl_format_duration(c->last_submit_ns, a, sizeof a),
	             tl_trace_tenants(trace)->count, tl_trace_queues(trace)->count, c->estimated);
	if (c->run.count > 0)
		(void)printf(
		    "run time: mean %s, median %s\n",
		    tl_format_duration((int64_t)tl_dist_mean(&c->run), a, sizeof a),
		    tl_format_duration((int64_t)tl_dist_quantile(&c->run, 0.5), b, sizeof b));
	if (c->jobs > 0)
		(void)printf("GPUs: mean %.4g, median %.4g, most %.4g; GPU time %.1f gpu.h\n",
		             tl_dist_mean(&c->gpus) / 1000, tl_dist_quantile(&c->gpus, 0.5) / 1000,
		             (double)c->gpus.max / 1000, (double)c->gpu_time_mgpu_ns / 3600e12);
	(void)printf("kinds:");
	for (int i = 0; i < TL_KIND_COUNT; i++)
		if (c->kinds[i] > 0)
			(void)printf(" %s %" PRIu64, tl_work_kind_names[i], c->kinds[i]);
	(void)printf("\noutcomes:");
	for (int i = 0; i <= TL_OUTCOME_UNKNOWN; i++)
		if (c->outcomes[i] > 0)
			(void)printf(" %s %" PRIu64, outcome_names[i], c->outcomes[i]);
	(void)printf("\nlint: %zu classes%s\n", stats->lint_count,
	             stats->lint_count ? "; see `tidelab trace lint`" : "");
	(void)puts("most frequent requests:");
	most_frequent(trace, top, show_text, NULL);
}

static json_t *contents_json(const struct tl_trace *trace, struct contents *c, uint64_t top)
{
	const struct tl_trace_stats *stats = tl_trace_get_stats(trace);
	json_t *all = json_object(), *kinds = json_object(), *outcomes = json_object();
	json_t *requests = json_array();

	(void)json_object_set_new(all, "path", json_string(tl_trace_path(trace)));
	(void)json_object_set_new(all, "format",
	                          json_string(tl_trace_format_names[tl_trace_format_of(trace)]));
	(void)json_object_set_new(all, "sha256", json_string(stats->sha256));
	(void)json_object_set_new(all, "rows_read", json_integer((json_int_t)stats->rows_read));
	(void)json_object_set_new(all, "rows_kept", json_integer((json_int_t)stats->rows_kept));
	(void)json_object_set_new(all, "rows_dropped",
	                          json_integer((json_int_t)stats->rows_dropped));
	(void)json_object_set_new(all, "ascending", json_boolean(stats->ascending));
	(void)json_object_set_new(all, "jobs", json_integer((json_int_t)c->jobs));
	(void)json_object_set_new(all, "estimated", json_integer((json_int_t)c->estimated));
	(void)json_object_set_new(all, "last_submit_s", json_real((double)c->last_submit_ns / 1e9));
	(void)json_object_set_new(all, "run_mean_s", tl_json_number(tl_dist_mean(&c->run) / 1e9));
	(void)json_object_set_new(all, "run_median_s",
	                          tl_json_number(tl_dist_quantile(&c->run, 0.5) / 1e9));
	(void)json_object_set_new(all, "gpus_mean", tl_json_number(tl_dist_mean(&c->gpus) / 1000));
	(void)json_object_set_new(all, "gpu_time_s",
	                          tl_json_number((double)c->gpu_time_mgpu_ns / 1e12));
	(void)json_object_set_new(all, "tenants",
	                          json_integer((json_int_t)tl_trace_tenants(trace)->count));
	for (int i = 0; i < TL_KIND_COUNT; i++)
		(void)json_object_set_new(kinds, tl_work_kind_names[i],
		                          json_integer((json_int_t)c->kinds[i]));
	for (int i = 0; i <= TL_OUTCOME_UNKNOWN; i++)
		(void)json_object_set_new(outcomes, outcome_names[i],
		                          json_integer((json_int_t)c->outcomes[i]));
	(void)json_object_set_new(all, "kinds", kinds);
	(void)json_object_set_new(all, "outcomes", outcomes);
	most_frequent(trace, top, show_json, requests);
	(void)json_object_set_new(all, "requests", requests);
	return all;
}

static enum tl_status inspect(const struct tl_command *command, const struct tl_args *args,
                              struct tl_error *error)
{
	const char *asked = tl_args_value(args, "top");
	struct contents contents = {.jobs = 0};
	struct tl_trace_options options;
	struct tl_trace *trace = NULL;
	int64_t top = 10;
	enum tl_status status;

	(void)command;
	if (asked && (tl_parse_int(asked, &top, NULL) != TL_OK || top < 0))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--top: got `%.60s`, wanted a whole number of at least 0",
		                    asked);
	status = tl_trace_options_from_args(args, &options, error);
	if (status == TL_OK)
		status = tl_trace_open(args->operands[0], &options, &trace, error);
	if (status != TL_OK)
		return status;
	tl_dist_init(&contents.run, false);
	tl_dist_init(&contents.gpus, false);
	status = look(trace, &contents, error);
	if (status == TL_OK && tl_args_has(args, "json"))
		tl_print_json(contents_json(trace, &contents, (uint64_t)top), stdout);
	else if (status == TL_OK)
		print_contents(trace, &contents, (uint64_t)top);
	tl_dist_fini(&contents.run);
	tl_dist_fini(&contents.gpus);
	tl_trace_close(trace);
	return status;
}

const struct tl_command tl_command_trace_inspect = {
    .name = "trace inspect",
    .summary = "what a trace holds",
    .operands = "FILE",
    .about = "Quantiles come from a histogram: exact to 1 part in 4,096.",
    .example = "tidelab trace inspect philly.csv --set window=7d",
    TL_FLAGS(inspect_flags),
    .least = 1,
    .most = 1,
    .run = inspect,
};

/* ---- lint ---- */

static const struct tl_flag lint_flags[] = {
    {"json", 'j', NULL, "one JSON object"},
    {"strict", 0, NULL, "exit code 65 where dirt was found; notes do not count"},
    TL_TRACE_FLAGS,
};

static enum tl_status lint(const struct tl_command *command, const struct tl_args *args,
                           struct tl_error *error)
{
	struct tl_trace_options options;
	const struct tl_trace_stats *stats;
	struct tl_trace *trace = NULL;
	size_t dirt;
	enum tl_status status = tl_trace_options_from_args(args, &options, error);

	(void)command;
	if (status == TL_OK)
		status = tl_trace_lint(args->operands[0], &options, &trace, error);
	if (status != TL_OK)
		return status;
	stats = tl_trace_get_stats(trace);
	tl_lint_write(stdout, stats, tl_args_has(args, "json"));
	dirt = tl_lint_dirt_count(stats);
	if (tl_args_has(args, "strict") && dirt > 0)
		status =
		    tl_error_set(error, TL_E_DATA, args->operands[0], 0, 0,
		                 "%zu class%s of dirt, wanted none", dirt, dirt == 1 ? "" : "es");
	tl_trace_close(trace);
	return status;
}

const struct tl_command tl_command_trace_lint = {
    .name = "trace lint",
    .summary = "what is wrong with a trace, and what is done about it",
    .operands = "FILE",
    .about =
	"Each class is dirt (the text breaks its format, a value or row is lost or guessed at,\n"
	"rows contradict each other) or a note (a fact about well-formed rows, a way of writing\n"
	"that loses nothing, what a filter did).",
    .example = "tidelab trace lint philly.csv --strict",
    TL_FLAGS(lint_flags),
    .least = 1,
    .most = 1,
    .run = lint,
};
