/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A service's windows: latency against its target with the breaches, replicas, traffic. */
#include "analysis/figures_private.h"
#include "analysis/report_run.h"
#include "analysis/report.h"
#include "analysis/report_html.h"

#include "sim/base/arena.h"
#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

enum { POINTS = 1000, INCIDENTS_MAX = 40 }; /* of a curve; of more windows several make one */

/* What several windows come to. */
struct point {
	int64_t worst_ns;  /* of p99; 0: none was served */
	int64_t middle_ns; /* of p99, the median over the windows that served */
	uint64_t arrivals;
	double breached; /* share of the windows; of pooled ones 1 where the promise was missed */
	uint32_t wanted, ready;
};

struct view {
	const struct tl_row_window *rows;
	size_t count;
	int64_t window_ns, begin_ns, end_ns;
	double unit_ns;            /* of time */
	double latency_unit_ns;    /* of latency */
	int64_t least_ns, most_ns; /* of p99 and the target */
	int64_t worst_ns;          /* of p99; 0: none was served */
	size_t group;              /* windows a point */
	bool pooled; /* a window has too few requests for its p99: points are judged as a whole */
};

static enum tl_status look(struct view *view, const char *table, struct tl_error *error)
{
	const struct tl_row_window *rows = view->rows;

	view->window_ns = view->count > 1 ? rows[1].t_ns - rows[0].t_ns : TL_NS_PER_S;
	view->begin_ns = rows[0].t_ns;
	view->end_ns = rows[view->count - 1].t_ns + view->window_ns;
	view->least_ns = view->most_ns = rows[0].target_ns;
	for (size_t i = 0; i < view->count; i++) {
		if (i > 0 && rows[i].t_ns <= rows[i - 1].t_ns)
			return tl_error_set(error, TL_E_DATA, NULL, 0, 0,
			                    "table %s, row %zu: got a time not after that of the "
			                    "row above it, wanted rows in order of time",
			                    table, i);
		if (rows[i].p99_ns <= 0)
			continue;
		view->least_ns = rows[i].p99_ns < view->least_ns ? rows[i].p99_ns : view->least_ns;
		view->worst_ns = rows[i].p99_ns > view->worst_ns ? rows[i].p99_ns : view->worst_ns;
	}
	view->most_ns = view->worst_ns > view->most_ns ? view->worst_ns : view->most_ns;
	view->latency_unit_ns =
	    (double)(view->most_ns < 10 * TL_NS_PER_S ? TL_NS_PER_MS : TL_NS_PER_S);
	return TL_OK;
}

static int by_latency(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Several windows as one: latencies, the most replicas wanted and the fewest ready. */
static struct point point_of(const struct view *view, size_t from, size_t to)
{
	struct point point = {.ready = UINT32_MAX};
	int64_t *latencies = tl_calloc(to - from, sizeof(*latencies));
	uint64_t attained = 0, judged = 0;
	size_t served = 0, breached = 0;

	for (size_t i = from; i < to; i++) {
		const struct tl_row_window *row = &view->rows[i];

		if (row->p99_ns > 0)
			latencies[served++] = row->p99_ns;
		point.wanted = row->replicas > point.wanted ? row->replicas : point.wanted;
		point.ready = row->ready < point.ready ? row->ready : point.ready;
		point.arrivals += row->arrivals;
		attained += row->attained;
		judged += row->served + row->dropped;
		breached += row->overload != 0;
	}
	if (served > 0) {
		qsort(latencies, served, sizeof(*latencies), by_latency);
		point.worst_ns = latencies[served - 1];
		point.middle_ns = latencies[served / 2];
	}
	free(latencies);
	point.breached = view->pooled
	                     ? (double)attained < TL_REPORT_PROMISE * (double)judged ? 1.0 : 0.0
	                     : (double)breached / (double)(to - from);
	return point;
}

static void print_latency(const struct view *view, FILE *data, int64_t latency_ns)
{
	if (latency_ns > 0)
		fprintf(data, " %.6g", (double)latency_ns / view->latency_unit_ns);
	else
		fputs(" NaN", data);
}

/* Time, p99 (of the worst window, or where they are pooled of the middle one), replicas,
 * requests a second, and where they are pooled p99 of the worst. */
static void print_point(const struct view *view, FILE *data, size_t from, size_t to)
{
	const struct point point = point_of(view, from, to);
	double span_s = (double)((int64_t)(to - from) * view->window_ns) / (double)TL_NS_PER_S;

	fprintf(data, "%.9g", (double)view->rows[from].t_ns / view->unit_ns);
	print_latency(view, data, view->pooled ? point.middle_ns : point.worst_ns);
	fprintf(data, " %u %u %.6g", point.wanted, point.ready, (double)point.arrivals / span_s);
	print_latency(view, data, view->pooled ? point.worst_ns : 0);
	fputs("\n", data);
}

/* From, to, and the share of that time in breach; of nothing, nothing. */
static void print_stretch(const struct view *view, FILE *data, size_t from, size_t to, double share)
{
	int64_t to_ns = to < view->count ? view->rows[to].t_ns : view->end_ns;

	if (share > 0.0)
		fprintf(data, "%.9g %.9g %.3g\n", (double)view->rows[from].t_ns / view->unit_ns,
		        (double)to_ns / view->unit_ns, share);
}

static size_t end_of_point(const struct view *view, size_t from)
{
	return from + view->group < view->count ? from + view->group : view->count;
}

/* By the points of the curve, neighbours of one share together; returns the time in breach. */
static int64_t print_breaches(const struct view *view, FILE *data)
{
	size_t begin = 0;
	double share = 0.0, sum = 0.0;

	for (size_t from = 0, to; from < view->count; from = to) {
		to = end_of_point(view, from);
		double here = point_of(view, from, to).breached;

		sum += here * (double)(to - from);
		if (here < share || here > share) {
			print_stretch(view, data, begin, from, share);
			begin = from;
			share = here;
		}
	}
	print_stretch(view, data, begin, view->count, share);
	if (!(sum > 0.0))
		fputs("NaN NaN 0\n", data); /* an empty part of the data would be none */
	return (int64_t)(sum * (double)view->window_ns + 0.5);
}

/* So many windows a point that all find room, and that each has requests enough. */
static void choose_points(struct view *view)
{
	double median = tl_report_median_requests(view->rows, view->count);

	view->group = (view->count + POINTS - 1) / POINTS;
	view->pooled = median < TL_REPORT_FEW_REQUESTS;
	while (view->pooled && (double)view->group * median < TL_REPORT_FEW_REQUESTS &&
	       view->group < view->count)
		view->group++;
}

/* When something struck: the service itself, or nodes and jobs of the cluster. */
static enum tl_status print_incidents(struct tl_results_reader *reader, const struct view *view,
                                      const char *table, FILE *data, size_t *shown,
                                      struct tl_error *error)
{
	struct tl_row_fault *faults;
	void *rows = NULL;
	size_t count = 0;
	enum tl_status status = TL_OK;

	if (tl_results_has(reader, tl_schema_faults.path))
		status = tl_results_read(reader, &tl_schema_faults, &rows, &count, error);
	faults = rows;
	fputs("\n\n", data);
	for (size_t i = 0; i < count && *shown < INCIDENTS_MAX; i++) {
		char of[TL_ROW_NAME_SIZE + sizeof("/services//windows")];

		snprintf(of, sizeof(of), "/services/%s/windows", faults[i].service);
		if (faults[i].service[0] && strcmp(of, table) != 0)
			continue;
		fprintf(data, "%.9g\n", (double)faults[i].t_ns / view->unit_ns);
		++*shown;
	}
	if (*shown == 0)
		fputs("NaN\n", data);
	free(rows);
	return status;
}

static void describe(const struct view *view, int64_t breach_ns, size_t incidents,
                     struct tl_figure_plot *plot)
{
	enum { LOG_FROM = 15 }; /* wider than this, and a straight axis shows its top alone */
	double unit_ns = view->latency_unit_ns;
	double target = (double)view->rows[0].target_ns / unit_ns;
	double least = (double)view->least_ns / unit_ns, most = (double)view->most_ns / unit_ns;
	bool is_log = view->most_ns > LOG_FROM * view->least_ns && view->least_ns > 0;
	const char *unit = unit_ns < 1e9 ? "ms" : "s";
	char window[TL_NUMBER_SIZE], pool[TL_NUMBER_SIZE], aim[TL_NUMBER_SIZE],
	    breach[TL_NUMBER_SIZE], worst[TL_NUMBER_SIZE];
	double share = 100.0 * (double)breach_ns / (double)(view->end_ns - view->begin_ns);

	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%.6g %s %s %.6g %.6g %zu %d", target, unit,
	         is_log ? "log" : "straight", is_log ? least * 0.8 : 0.0,
	         is_log ? most * 1.3 : most * 1.08, incidents, view->pooled);
	(void)tl_number_duration((double)view->window_ns / 1e9, window);
	if (view->pooled) {
		(void)tl_number_duration((double)view->window_ns * (double)view->group / 1e9, pool);
		snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE,
		         "over 1 %% late: %.3g %% of the time|p99, middle of %zu windows of %s",
		         share, view->group, window);
	} else {
		snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE,
		         "in breach %.3g %% of the time%s|p99 of each window of %s", share,
		         view->group > 1 ? " (darker: more)" : "", window);
		if (view->group > 1)
			tl_figure_append(plot->extras[3], TL_FIGURE_EXTRA_SIZE, ", worst of %zu",
			                 view->group);
	}
	(void)tl_number_duration((double)view->rows[0].target_ns / 1e9, aim);
	tl_figure_append(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "|target %s", aim);
	snprintf(plot->alt, sizeof(plot->alt),
	         "99th percentile of latency over time against the target of %s, with replicas "
	         "wanted and ready, and requests per second: in breach for %s, %.3g %% of the "
	         "time%s%s%s; the worst window has %s.",
	         aim, tl_number_duration((double)breach_ns / 1e9, breach), share,
	         view->pooled ? ", judged over stretches of " : "", view->pooled ? pool : "",
	         view->pooled ? ", as a window has few requests" : "",
	         tl_number_duration((double)view->worst_ns / 1e9, worst));
}

enum tl_status tl_figure_service(struct tl_results_reader *reader, FILE *data,
                                 struct tl_figure_plot *plot, struct tl_error *error)
{
	struct tl_table_schema schema = tl_schema_windows;
	struct view view = {.rows = NULL};
	void *rows = NULL;

	schema.path = plot->table;
	enum tl_status status = tl_results_read(reader, &schema, &rows, &view.count, error);
	view.rows = rows;
	if (status == TL_OK && view.count == 0)
		snprintf(plot->skip, sizeof(plot->skip), "no window was closed");
	else if (status == TL_OK)
		status = look(&view, plot->table, error);
	if (status == TL_OK && view.count > 0) {
		choose_points(&view);
		view.unit_ns = tl_figure_time_axis(plot, view.begin_ns, view.end_ns);
		for (size_t i = 0; i < view.count; i = end_of_point(&view, i))
			print_point(&view, data, i, end_of_point(&view, i));
		fputs("\n\n", data);
		int64_t breach_ns = print_breaches(&view, data);
		size_t incidents = 0;

		status = print_incidents(reader, &view, plot->table, data, &incidents, error);
		describe(&view, breach_ns, incidents, plot);
	}
	free(rows);
	return status;
}
