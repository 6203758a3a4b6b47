/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/figures_private.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

/* What still can be told apart at 1200 by 700; a run with more is shown in part. */
enum { SEGMENTS_MAX = 2000, NODES_MAX = 48 };

/* Colours beyond those of the kinds, as plots/gantt.gp numbers them. */
enum { COLOUR_IDLE = TL_ROW_KIND_COUNT + 1, COLOUR_DOWN };

struct kind_row {
	char kind[TL_ROW_WORD_SIZE];
};

static const struct tl_column kind_column = {
    .name = "kind", .type = TL_COLUMN_TEXT, .size = TL_ROW_WORD_SIZE};
static const struct tl_table_schema kind_schema = {.path = "/jobs",
                                                   .row_size = sizeof(struct kind_row),
                                                   .columns = &kind_column,
                                                   .column_count = 1};

struct part {
	int64_t from_mgpu;
	int64_t to_mgpu;
	int64_t end_ns;
};

struct gantt {
	struct tl_row_placement *segments;
	struct tl_row_node *nodes;
	struct kind_row *kinds;
	struct tl_row_fault *faults;
	size_t segment_count, node_count, job_count, fault_count;
	int64_t begin_ns, end_ns; /* of the run */
	int64_t from_ns, to_ns;   /* of what is shown */
	size_t nodes_with_gpus;
	size_t shown_nodes; /* of those */
	uint32_t *place;    /* line of each node; TL_ROW_NO_NODE: not shown */
	bool kind_shown[TL_ROW_KIND_COUNT];
	bool down_shown;
	double unit_ns;
	/* GPUs in use on the node being laid out, by offset */
	struct part *parts;
	size_t part_count, part_room;
};

/* ---- what is shown ---- */

static enum tl_status load(struct gantt *gantt, struct tl_results_reader *reader,
                           struct tl_error *error)
{
	void *rows[4] = {NULL};
	const struct tl_table_schema *const schemas[4] = {&tl_schema_placements, &tl_schema_nodes,
	                                                  &kind_schema, &tl_schema_faults};
	size_t *const counts[4] = {&gantt->segment_count, &gantt->node_count, &gantt->job_count,
	                           &gantt->fault_count};
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < 4 && status == TL_OK; i++) {
		if (i < 3 || tl_results_has(reader, schemas[i]->path))
			status = tl_results_read(reader, schemas[i], &rows[i], counts[i], error);
	}
	gantt->segments = rows[0];
	gantt->nodes = rows[1];
	gantt->kinds = rows[2];
	gantt->faults = rows[3];
	return status;
}

static enum tl_status check(const struct gantt *gantt, struct tl_error *error)
{
	for (size_t i = 0; i < gantt->segment_count; i++) {
		const struct tl_row_placement *segment = &gantt->segments[i];

		bool is_job = segment->job < gantt->job_count || segment->job == TL_ROW_NO_JOB;

		if (!is_job || segment->node >= gantt->node_count ||
		    segment->end_ns < segment->start_ns || segment->gpus_mgpu < 0)
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "table %s, row %zu: got job %llu, node %u, %lld ns to "
			                    "%lld ns, wanted a row of /jobs and of /nodes and an "
			                    "end after the start",
			                    tl_schema_placements.path, i,
			                    (unsigned long long)segment->job, segment->node,
			                    (long long)segment->start_ns,
			                    (long long)segment->end_ns);
	}
	return TL_OK;
}

struct busy {
	double gpu_ns;
	uint32_t node;
};

static int busiest_first(const void *a, const void *b)
{
	const struct busy *x = a;
	const struct busy *y = b;

	if (x->gpu_ns != y->gpu_ns)
		return x->gpu_ns > y->gpu_ns ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

/* Those with GPUs; of too many the busiest, still in the order of the table. */
static void choose_nodes(struct gantt *gantt)
{
	struct busy *busy = tl_calloc(gantt->node_count, sizeof(*busy));

	gantt->place = tl_calloc(gantt->node_count, sizeof(*gantt->place));
	for (size_t i = 0; i < gantt->node_count; i++) {
		/* one without GPUs is less than idle */
		busy[i] = (struct busy){gantt->nodes[i].gpus > 0 ? 0.0 : -1.0, (uint32_t)i};
		gantt->place[i] = TL_ROW_NO_NODE;
		gantt->nodes_with_gpus += gantt->nodes[i].gpus > 0;
	}
	for (size_t i = 0; i < gantt->segment_count; i++) {
		const struct tl_row_placement *segment = &gantt->segments[i];

		busy[segment->node].gpu_ns +=
		    (double)segment->gpus_mgpu * (double)(segment->end_ns - segment->start_ns);
	}
	qsort(busy, gantt->node_count, sizeof(*busy), busiest_first);
	for (size_t i = 0; i < gantt->node_count && i < NODES_MAX; i++) {
		if (busy[i].gpu_ns >= 0)
			gantt->place[busy[i].node] = 0;
	}
	for (size_t i = 0; i < gantt->node_count; i++) {
		if (gantt->place[i] != TL_ROW_NO_NODE)
			gantt->place[i] = (uint32_t)gantt->shown_nodes++;
	}
	free(busy);
}

static bool is_shown(const struct gantt *gantt, const struct tl_row_placement *segment,
                     int64_t from_ns, int64_t to_ns)
{
	return gantt->place[segment->node] != TL_ROW_NO_NODE && segment->gpus_mgpu > 0 &&
	       segment->start_ns < to_ns && segment->end_ns > from_ns;
}

static size_t count_shown(const struct gantt *gantt, int64_t from_ns, int64_t to_ns)
{
	size_t count = 0;

	for (size_t i = 0; i < gantt->segment_count; i++)
		count += is_shown(gantt, &gantt->segments[i], from_ns, to_ns);
	return count;
}

/* The whole run, or else the longest stretch about its middle that can be read. */
static void choose_window(struct gantt *gantt)
{
	bool first = true;

	for (size_t i = 0; i < gantt->segment_count; i++) {
		const struct tl_row_placement *segment = &gantt->segments[i];

		if (!is_shown(gantt, segment, INT64_MIN, INT64_MAX))
			continue;
		if (first || segment->start_ns < gantt->begin_ns)
			gantt->begin_ns = segment->start_ns;
		if (first || segment->end_ns > gantt->end_ns)
			gantt->end_ns = segment->end_ns;
		first = false;
	}
	gantt->from_ns = gantt->begin_ns;
	gantt->to_ns = gantt->end_ns;
	if (count_shown(gantt, gantt->from_ns, gantt->to_ns) <= SEGMENTS_MAX)
		return;
	int64_t middle_ns = gantt->begin_ns + (gantt->end_ns - gantt->begin_ns) / 2;
	int64_t least_ns = TL_NS_PER_S;
	int64_t most_ns = (gantt->end_ns - gantt->begin_ns) / 2;
	while (most_ns - least_ns > TL_NS_PER_S) {
		int64_t half_ns = least_ns + (most_ns - least_ns) / 2;

		if (count_shown(gantt, middle_ns - half_ns, middle_ns + half_ns) <= SEGMENTS_MAX)
			least_ns = half_ns;
		else
			most_ns = half_ns;
	}
	gantt->from_ns = middle_ns - least_ns;
	gantt->to_ns = middle_ns + least_ns;
}

/* ---- laying out ---- */

static void print_box(const struct gantt *gantt, FILE *data, int64_t from_ns, int64_t to_ns,
                      uint32_t line, double low, double high, size_t colour, unsigned tint)
{
	enum { MARGIN_PERCENT = 8 }; /* of a line, above and below */
	double scale = 1.0 - 2.0 * MARGIN_PERCENT / 100.0;
	double offset = line + MARGIN_PERCENT / 100.0;

	if (from_ns < gantt->from_ns)
		from_ns = gantt->from_ns;
	if (to_ns > gantt->to_ns)
		to_ns = gantt->to_ns;
	if (from_ns < to_ns)
		fprintf(data, "%.9g %.9g %.6g %.6g %zu %u\n", (double)from_ns / gantt->unit_ns,
		        (double)to_ns / gantt->unit_ns, offset + scale * low, offset + scale * high,
		        colour, tint);
}

static void release_parts(struct gantt *gantt, int64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < gantt->part_count; i++) {
		if (gantt->parts[i].end_ns > now_ns)
			gantt->parts[kept++] = gantt->parts[i];
	}
	gantt->part_count = kept;
}

static void insert_part(struct gantt *gantt, size_t at, struct part part)
{
	gantt->parts =
	    tl_grow(gantt->parts, &gantt->part_room, gantt->part_count + 1, sizeof(*gantt->parts));
	memmove(&gantt->parts[at + 1], &gantt->parts[at],
	        (gantt->part_count - at) * sizeof(*gantt->parts));
	gantt->parts[at] = part;
	gantt->part_count++;
}

/* First gap that holds at least size; else (size 1) the first there is. */
static bool find_gap(const struct gantt *gantt, int64_t capacity_mgpu, int64_t size, size_t *at,
                     int64_t *from_mgpu, int64_t *to_mgpu)
{
	int64_t begin = 0;

	for (size_t i = 0; i <= gantt->part_count; i++) {
		int64_t end = i < gantt->part_count ? gantt->parts[i].from_mgpu : capacity_mgpu;

		if (end - begin >= size) {
			*at = i;
			*from_mgpu = begin;
			*to_mgpu = end;
			return true;
		}
		if (i < gantt->part_count && gantt->parts[i].to_mgpu > begin)
			begin = gantt->parts[i].to_mgpu;
	}
	return false;
}

/* The file does not say which GPUs a job had: it gets the lowest stretch that holds it,
 * or is split over the gaps there are. What is oversubscribed finds no gap and is left
 * out: it shares GPUs with what is drawn. */
static void lay_segment(struct gantt *gantt, const struct tl_row_placement *segment, FILE *data)
{
	uint32_t line = gantt->place[segment->node];
	int64_t capacity_mgpu = (int64_t)gantt->nodes[segment->node].gpus * TL_MGPU_PER_GPU;
	int64_t left = segment->gpus_mgpu;
	size_t kind = segment->job == TL_ROW_NO_JOB
	                  ? tl_figure_kind("inference")
	                  : tl_figure_kind(gantt->kinds[segment->job].kind);
	size_t at = 0;
	int64_t from = 0;
	int64_t to = 0;

	gantt->kind_shown[kind] = true;
	release_parts(gantt, segment->start_ns);
	while (left > 0 && (find_gap(gantt, capacity_mgpu, left, &at, &from, &to) ||
	                    find_gap(gantt, capacity_mgpu, 1, &at, &from, &to))) {
		if (to - from > left)
			to = from + left;
		left -= to - from;
		insert_part(
		    gantt, at,
		    (struct part){.from_mgpu = from, .to_mgpu = to, .end_ns = segment->end_ns});
		print_box(gantt, data, segment->start_ns, segment->end_ns, line,
		          (double)from / (double)capacity_mgpu, (double)to / (double)capacity_mgpu,
		          kind + 1, (unsigned)(segment->job % 3));
	}
}

static int by_node_and_start(const void *a, const void *b)
{
	const struct tl_row_placement *x = a;
	const struct tl_row_placement *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->job > y->job) - (x->job < y->job);
}

static bool takes_node_down(const struct tl_row_fault *fault)
{
	return strcmp(fault->kind, "node-down") == 0 || strcmp(fault->kind, "node-failure") == 0;
}

static void print_faults(struct gantt *gantt, FILE *data)
{
	for (size_t i = 0; i < gantt->fault_count; i++) {
		const struct tl_row_fault *fault = &gantt->faults[i];
		int64_t end_ns = fault->repaired_ns >= 0 ? fault->repaired_ns : gantt->to_ns;

		if (!takes_node_down(fault) || fault->node >= gantt->node_count ||
		    gantt->place[fault->node] == TL_ROW_NO_NODE || fault->t_ns >= gantt->to_ns ||
		    end_ns <= gantt->from_ns)
			continue;
		print_box(gantt, data, fault->t_ns, end_ns, gantt->place[fault->node], 0.0, 1.0,
		          COLOUR_DOWN, 0);
		gantt->down_shown = true;
	}
}

static void print(struct gantt *gantt, FILE *data)
{
	uint32_t node = TL_ROW_NO_NODE;

	for (uint32_t line = 0; line < gantt->shown_nodes; line++)
		print_box(gantt, data, gantt->from_ns, gantt->to_ns, line, 0.0, 1.0, COLOUR_IDLE,
		          0);
	qsort(gantt->segments, gantt->segment_count, sizeof(*gantt->segments), by_node_and_start);
	for (size_t i = 0; i < gantt->segment_count; i++) {
		if (!is_shown(gantt, &gantt->segments[i], gantt->from_ns, gantt->to_ns))
			continue;
		if (gantt->segments[i].node != node) {
			node = gantt->segments[i].node;
			gantt->part_count = 0;
		}
		lay_segment(gantt, &gantt->segments[i], data);
	}
	print_faults(gantt, data);
	fputs("\n\n", data);
	for (size_t i = 0; i < gantt->node_count; i++) {
		if (gantt->place[i] != TL_ROW_NO_NODE)
			fprintf(data, "%.1f \"%s\"\n", gantt->place[i] + 0.5,
			        tl_figure_quotable(gantt->nodes[i].name));
	}
}

static void describe(const struct gantt *gantt, struct tl_figure_plot *plot, const char *unit)
{
	char *axis = plot->extras[0];
	char *kinds = plot->extras[3];
	bool part = gantt->from_ns > gantt->begin_ns || gantt->to_ns < gantt->end_ns;

	snprintf(axis, TL_FIGURE_EXTRA_SIZE, "[%s]", unit);
	if (part)
		tl_figure_append(axis, TL_FIGURE_EXTRA_SIZE, "; part of a run of %.4g",
		                 (double)(gantt->end_ns - gantt->begin_ns) / gantt->unit_ns);
	if (gantt->nodes_with_gpus > gantt->shown_nodes)
		tl_figure_append(axis, TL_FIGURE_EXTRA_SIZE, "; the busiest %zu of %zu nodes",
		                 gantt->shown_nodes, gantt->nodes_with_gpus);
	snprintf(plot->extras[1], TL_FIGURE_EXTRA_SIZE, "%.9g:%.9g",
	         (double)gantt->from_ns / gantt->unit_ns, (double)gantt->to_ns / gantt->unit_ns);
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%zu", gantt->shown_nodes);
	for (size_t k = 0; k < TL_ROW_KIND_COUNT; k++) {
		if (gantt->kind_shown[k])
			tl_figure_append(kinds, TL_FIGURE_EXTRA_SIZE, "%zu ", k + 1);
	}
	tl_figure_append(kinds, TL_FIGURE_EXTRA_SIZE, "%d", COLOUR_IDLE);
	if (gantt->down_shown)
		tl_figure_append(kinds, TL_FIGURE_EXTRA_SIZE, " %d", COLOUR_DOWN);
	snprintf(
	    plot->alt, sizeof(plot->alt),
	    "Which job held how much of which node, a line a node, by kind of work (its shades tell "
	    "one job from the next), from %.4g to %.4g %s; %zu of %zu nodes with GPUs are shown%s.",
	    (double)gantt->from_ns / gantt->unit_ns, (double)gantt->to_ns / gantt->unit_ns, unit,
	    gantt->shown_nodes, gantt->nodes_with_gpus, part ? ", and a part of the run" : "");
}

enum tl_status tl_figure_gantt(struct tl_results_reader *reader, FILE *data,
                               struct tl_figure_plot *plot, struct tl_error *error)
{
	const char *const tables[] = {tl_schema_placements.path, tl_schema_nodes.path,
	                              kind_schema.path, NULL};
	struct gantt gantt = {.unit_ns = 1.0};

	if (!tl_figure_has(reader, tables, plot))
		return TL_OK;
	enum tl_status status = load(&gantt, reader, error);
	if (status == TL_OK)
		status = check(&gantt, error);
	if (status == TL_OK) {
		choose_nodes(&gantt);
		choose_window(&gantt);
		if (gantt.from_ns >= gantt.to_ns) {
			snprintf(plot->skip, sizeof(plot->skip), "no job ever held a GPU");
		} else {
			/* that of the whole run, to find the place in the other pictures */
			const char *unit =
			    tl_figure_time_unit(gantt.end_ns - gantt.begin_ns, &gantt.unit_ns);

			print(&gantt, data);
			describe(&gantt, plot, unit);
		}
	}
	free(gantt.segments);
	free(gantt.nodes);
	free(gantt.kinds);
	free(gantt.faults);
	free(gantt.place);
	free(gantt.parts);
	return status;
}
