/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The schedule as a trace in Chrome's JSON format ("Trace Event Format", Google): process 0
 * is the cluster, process i + 1 node i.
 *
 * A result says how many GPUs of a node a job held, not which. Its slots are coloured as
 * intervals are: /placements is in order of end, so read backwards each segment takes the
 * lowest slots that are free at its end, and no more are ever used than were held at once.
 */
#include "analysis/export.h"

#include "analysis/export_private.h"
#include "results/schema.h"
#include "sim/base/arena.h"
#include "sim/base/intern.h"
#include "sim/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of tracks: GPU slots from 1, then shares, then outages. */
enum { SHARES_FROM = 1000, TRACK_DOWN = 100000 };

struct lanes {
	int64_t *begins_ns; /* of the earliest slice on each */
	size_t count, room;
};

struct node {
	char name[TL_ROW_NAME_SIZE];
	uint32_t gpus;
	bool down;
	struct lanes slots, shares;
};

struct job {
	uint32_t tenant;
	uint32_t kind;
};

struct perfetto {
	FILE *out;
	bool begun;
	struct node *nodes;
	size_t node_count, node_room;
	struct job *jobs; /* eight bytes each: the one thing kept of them */
	size_t job_count, job_room;
	struct tl_intern words;
	int64_t end_ns; /* of the segment before, in reverse */
};

/* ---- events ---- */

static void begin(struct perfetto *perfetto, const char *phase, size_t process, size_t track,
                  int64_t at_ns)
{
	(void)fprintf(perfetto->out, "%s{\"ph\": \"%s\", \"pid\": %zu, \"tid\": %zu, \"ts\": ",
	              perfetto->begun ? ",\n" : "\n", phase, process, track);
	perfetto->begun = true;
	tl_export_decimal(at_ns, 3, perfetto->out);
}

static void label(struct perfetto *perfetto, const char *what, size_t process, size_t track,
                  const char *name)
{
	begin(perfetto, "M", process, track, 0);
	(void)fprintf(perfetto->out, ", \"name\": \"%s\", \"args\": {\"name\": ", what);
	tl_export_json_text(name, perfetto->out);
	(void)fputs("}}", perfetto->out);
}

static void slice(struct perfetto *perfetto, const struct tl_row_placement *segment, size_t track)
{
	begin(perfetto, "X", segment->node + (size_t)1, track, segment->start_ns);
	(void)fputs(", \"dur\": ", perfetto->out);
	tl_export_decimal(segment->end_ns - segment->start_ns, 3, perfetto->out);
	if (segment->job == TL_ROW_NO_JOB) {
		(void)fputs(", \"name\": \"replica\", \"cat\": \"inference\", \"args\": {",
		            perfetto->out);
	} else {
		const struct job *job = &perfetto->jobs[segment->job];

		(void)fprintf(perfetto->out,
		              ", \"name\": \"job %" PRIu64 "\", \"cat\": ", segment->job);
		tl_export_json_text(perfetto->words.names[job->kind], perfetto->out);
		(void)fputs(", \"args\": {\"tenant\": ", perfetto->out);
		tl_export_json_text(perfetto->words.names[job->tenant], perfetto->out);
		(void)fputs(", ", perfetto->out);
	}
	(void)fputs("\"gpus_here\": ", perfetto->out);
	tl_export_decimal(segment->gpus_mgpu, 3, perfetto->out);
	(void)fprintf(perfetto->out, ", \"ended\": \"%s\"}}",
	              tl_schema_reason_names[segment->ended]);
}

/* scope: `t` for a track, `p` for a node, `g` for all. */
static void instant(struct perfetto *perfetto, const char *scope, size_t process, size_t track,
                    int64_t at_ns, const char *name)
{
	begin(perfetto, "i", process, track, at_ns);
	(void)fprintf(perfetto->out, ", \"s\": \"%s\", \"name\": ", scope);
	tl_export_json_text(name, perfetto->out);
}

/* ---- who sat where ---- */

/* The lowest lane on which nothing begins before end_ns. */
static size_t take_lane(struct lanes *lanes, const struct tl_row_placement *segment)
{
	size_t lane = 0;

	while (lane < lanes->count && lanes->begins_ns[lane] < segment->end_ns)
		lane++;
	if (lane == lanes->count)
		lanes->begins_ns = tl_grow(lanes->begins_ns, &lanes->room, ++lanes->count,
		                           sizeof *lanes->begins_ns);
	lanes->begins_ns[lane] = segment->start_ns;
	return lane;
}

static enum tl_status check_segment(const struct perfetto *perfetto,
                                    const struct tl_row_placement *segment, struct tl_error *error)
{
	const bool is_job = segment->job < perfetto->job_count || segment->job == TL_ROW_NO_JOB;

	if (is_job && segment->node < perfetto->node_count &&
	    segment->end_ns >= segment->start_ns && segment->end_ns <= perfetto->end_ns &&
	    segment->gpus_mgpu >= 0 && segment->gpus_mgpu < SHARES_FROM * TL_MGPU_PER_GPU)
		return TL_OK;
	return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
	                    "table %s: got job %" PRIu64 " on node %" PRIu32 ", %" PRId64
	                    " ns to %" PRId64 " ns, wanted rows of /jobs and /nodes, in order of "
	                    "their end",
	                    tl_schema_placements.path, segment->job, segment->node,
	                    segment->start_ns, segment->end_ns);
}

/* Ends that someone caused; the others are what was wanted. */
static bool is_told(uint8_t reason)
{
	return reason == TL_REASON_PREEMPTED || reason == TL_REASON_NODE_FAILURE ||
	       reason == TL_REASON_MIGRATED || reason == TL_REASON_KILLED ||
	       reason == TL_REASON_ESTIMATE_EXCEEDED;
}

static void put_segment(struct perfetto *perfetto, const struct tl_row_placement *segment)
{
	struct node *node = &perfetto->nodes[segment->node];
	size_t track = 0;

	for (int64_t g = segment->gpus_mgpu / TL_MGPU_PER_GPU; g > 0; g--) {
		track = take_lane(&node->slots, segment) + 1;
		slice(perfetto, segment, track);
	}
	if (segment->gpus_mgpu % TL_MGPU_PER_GPU > 0) {
		track = take_lane(&node->shares, segment) + SHARES_FROM;
		slice(perfetto, segment, track);
	}
	if (track == 0 || !is_told(segment->ended))
		return;
	instant(perfetto, "t", segment->node + (size_t)1, track, segment->end_ns,
	        tl_schema_reason_names[segment->ended]);
	if (segment->job == TL_ROW_NO_JOB)
		(void)fputs("}", perfetto->out);
	else
		(void)fprintf(perfetto->out, ", \"args\": {\"job\": %" PRIu64 "}}", segment->job);
}

static enum tl_status put_segments(void *context, const void *rows, size_t count,
                                   struct tl_error *error)
{
	struct perfetto *perfetto = context;
	const struct tl_row_placement *segments = rows;
	enum tl_status status = TL_OK;

	while (count-- > 0 && status == TL_OK) {
		status = check_segment(perfetto, &segments[count], error);
		if (status != TL_OK)
			break;
		perfetto->end_ns = segments[count].end_ns;
		put_segment(perfetto, &segments[count]);
	}
	return status;
}

/* ---- the other tables ---- */

static enum tl_status learn_jobs(void *context, const void *rows, size_t count,
                                 struct tl_error *error)
{
	struct perfetto *perfetto = context;
	const struct tl_row_job *jobs = rows;

	(void)error;
	perfetto->jobs = tl_grow(perfetto->jobs, &perfetto->job_room, perfetto->job_count + count,
	                         sizeof *perfetto->jobs);
	for (size_t i = 0; i < count; i++)
		perfetto->jobs[perfetto->job_count++] =
		    (struct job){tl_intern_put(&perfetto->words, jobs[i].tenant),
		                 tl_intern_put(&perfetto->words, jobs[i].kind)};
	return TL_OK;
}

static enum tl_status learn_nodes(void *context, const void *rows, size_t count,
                                  struct tl_error *error)
{
	struct perfetto *perfetto = context;
	const struct tl_row_node *nodes = rows;

	(void)error;
	perfetto->nodes = tl_grow(perfetto->nodes, &perfetto->node_room,
	                          perfetto->node_count + count, sizeof *perfetto->nodes);
	for (size_t i = 0; i < count; i++) {
		struct node *node = &perfetto->nodes[perfetto->node_count++];

		(void)snprintf(node->name, sizeof node->name, "%s", nodes[i].name);
		node->gpus = nodes[i].gpus;
	}
	return TL_OK;
}

static enum tl_status put_faults(void *context, const void *rows, size_t count,
                                 struct tl_error *error)
{
	struct perfetto *perfetto = context;
	const struct tl_row_fault *fault = rows;

	(void)error;
	for (const struct tl_row_fault *end = fault + count; fault < end; fault++) {
		const bool here = fault->node < perfetto->node_count;
		const size_t process = here ? fault->node + (size_t)1 : 0;

		instant(perfetto, here ? "p" : "g", process, TRACK_DOWN, fault->t_ns, fault->kind);
		(void)fprintf(perfetto->out, ", \"args\": {\"jobs_hit\": %" PRIu32 "}}",
		              fault->jobs_hit);
		if (!here)
			continue;
		perfetto->nodes[fault->node].down = true;
		if (fault->repaired_ns < fault->t_ns)
			continue;
		begin(perfetto, "X", process, TRACK_DOWN, fault->t_ns);
		(void)fputs(", \"dur\": ", perfetto->out);
		tl_export_decimal(fault->repaired_ns - fault->t_ns, 3, perfetto->out);
		(void)fputs(", \"name\": ", perfetto->out);
		tl_export_json_text(fault->kind, perfetto->out);
		(void)fputs(", \"cat\": \"outage\"}", perfetto->out);
	}
	return TL_OK;
}

static enum tl_status put_samples(void *context, const void *rows, size_t count,
                                  struct tl_error *error)
{
	struct perfetto *perfetto = context;
	const struct tl_row_timeline *sample = rows;

	(void)error;
	for (const struct tl_row_timeline *end = sample + count; sample < end; sample++) {
		begin(perfetto, "C", 0, 0, sample->t_ns);
		(void)fputs(", \"name\": \"GPUs\", \"args\": {\"allocated\": ", perfetto->out);
		tl_export_decimal(sample->allocated_mgpu, 3, perfetto->out);
		(void)fputs(", \"waited for\": ", perfetto->out);
		tl_export_decimal(sample->pending_mgpu, 3, perfetto->out);
		(void)fputs(", \"down\": ", perfetto->out);
		tl_export_decimal(sample->down_mgpu, 3, perfetto->out);
		(void)fputs("}}", perfetto->out);
	}
	return TL_OK;
}

/* Names of processes and tracks, of those that were used. */
static void put_labels(struct perfetto *perfetto)
{
	char name[80];

	label(perfetto, "process_name", 0, 0, "cluster");
	for (size_t n = 0; n < perfetto->node_count; n++) {
		const struct node *node = &perfetto->nodes[n];

		label(perfetto, "process_name", n + 1, 0, node->name);
		begin(perfetto, "M", n + 1, 0, 0);
		(void)fprintf(
		    perfetto->out,
		    ", \"name\": \"process_sort_index\", \"args\": {\"sort_index\": %zu}}", n + 1);
		for (size_t lane = 0; lane < node->slots.count; lane++) {
			(void)snprintf(name, sizeof name, "GPU slot %zu%s", lane + 1,
			               lane >= node->gpus ? " (oversubscribed)" : "");
			label(perfetto, "thread_name", n + 1, lane + 1, name);
		}
		for (size_t lane = 0; lane < node->shares.count; lane++) {
			(void)snprintf(name, sizeof name, "share %zu", lane + 1);
			label(perfetto, "thread_name", n + 1, lane + SHARES_FROM, name);
		}
		if (node->down)
			label(perfetto, "thread_name", n + 1, TRACK_DOWN, "outages");
	}
}

static enum tl_status put_all(struct perfetto *perfetto, struct tl_results_reader *reader,
                              struct tl_error *error)
{
	const struct step {
		const struct tl_table_schema *schema;
		tl_export_block block;
		bool backwards, optional;
	} steps[] = {
	    {&tl_schema_nodes, learn_nodes, false, false},
	    {&tl_schema_jobs, learn_jobs, false, false},
	    {&tl_schema_placements, put_segments, true, false},
	    {&tl_schema_faults, put_faults, false, true},
	    {&tl_schema_timeline, put_samples, false, true},
	};
	const size_t count = sizeof steps / sizeof steps[0];
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < count && status == TL_OK; i++)
		if (!steps[i].optional)
			status = tl_export_need(reader, steps[i].schema, error);
	if (status != TL_OK)
		return status;
	(void)fputs("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [", perfetto->out);
	for (size_t i = 0; i < count && status == TL_OK; i++)
		if (!steps[i].optional || tl_results_has(reader, steps[i].schema->path))
			status = tl_export_walk(reader, steps[i].schema, steps[i].backwards,
			                        steps[i].block, perfetto, perfetto->out, error);
	return status;
}

enum tl_status tl_export_perfetto(struct tl_results_reader *reader, FILE *out,
                                  struct tl_error *error)
{
	struct perfetto perfetto = {.out = out, .end_ns = INT64_MAX};
	enum tl_status status;

	tl_intern_init(&perfetto.words);
	status = put_all(&perfetto, reader, error);
	if (status == TL_OK) {
		put_labels(&perfetto);
		(void)fputs("\n]}\n", out);
	}
	for (size_t n = 0; n < perfetto.node_count; n++) {
		free(perfetto.nodes[n].slots.begins_ns);
		free(perfetto.nodes[n].shares.begins_ns);
	}
	free(perfetto.nodes);
	free(perfetto.jobs);
	tl_intern_fini(&perfetto.words);
	return status;
}
