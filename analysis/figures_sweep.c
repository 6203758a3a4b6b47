/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures of a sweep: cost and attainment against a setting, and what else changes. */
#include "analysis/figures_private.h"
#include "analysis/report_sweep.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* That can be told apart. */
enum { LINES_MAX = 6, PLACES_MAX = 16 };

/* ---- data ---- */

static void print_stat(FILE *data, const struct tl_sweep_stat *stat, double scale)
{
	if (!isfinite(stat->mean)) {
		fputs(" NaN NaN NaN", data);
		return;
	}
	bool bounded = isfinite(stat->low);

	fprintf(data, " %.9g %.9g %.9g", scale * stat->mean,
	        scale * (bounded ? stat->low : stat->mean),
	        scale * (bounded ? stat->high : stat->mean));
}

static size_t cells_of(const struct tl_report_sweep *sweep)
{
	return sweep->data->design.cell_count;
}

/* Cells of a line from left to right; returns how many. cells has room for all. */
static size_t line_cells(const struct tl_report_sweep *sweep, size_t line, size_t *cells)
{
	size_t count = 0;

	for (size_t c = 0; c < cells_of(sweep); c++) {
		size_t at = count;

		if (sweep->cells[c].line != line)
			continue;
		for (; at > 0 && sweep->cells[cells[at - 1]].x > sweep->cells[c].x; at--)
			cells[at] = cells[at - 1];
		cells[at] = c;
		count++;
	}
	return count;
}

static size_t main_line(const struct tl_report_sweep *sweep)
{
	return sweep->best < cells_of(sweep) ? sweep->cells[sweep->best].line : 0;
}

/* The recommended one's line, then the others in order. */
static size_t nth_line(const struct tl_report_sweep *sweep, size_t n)
{
	size_t first = main_line(sweep);

	return n == 0 ? first : n <= first ? n - 1 : n;
}

static size_t lines_shown(const struct tl_report_sweep *sweep)
{
	return sweep->line_count < LINES_MAX ? sweep->line_count : LINES_MAX;
}

/* A line's settings in quotes; nothing where there is one line. */
static void print_title(FILE *data, const struct tl_report_sweep *sweep, size_t cell,
                        const char *what)
{
	char *label = tl_report_sweep_label(sweep, cell, false);

	fprintf(data, "\"%s%s%s\"", tl_figure_quotable(label), label[0] && what[0] ? ": " : "",
	        what);
	free(label);
}

/* The last part of the data: the places on the axis and how they are called; of many, some. */
static void print_places(FILE *data, const struct tl_report_sweep *sweep)
{
	double *told = tl_calloc(cells_of(sweep), sizeof(*told));
	size_t count = 0, every;

	for (size_t c = 0; c < cells_of(sweep); c++) {
		size_t at = 0;

		while (at < count && (told[at] < sweep->cells[c].x || told[at] > sweep->cells[c].x))
			at++;
		if (at == count)
			told[count++] = sweep->cells[c].x;
	}
	every = sweep->numeric ? (count + PLACES_MAX - 1) / PLACES_MAX : 1;
	for (size_t i = 0; i<count; i += every> 0 ? every : 1) {
		const char *value = NULL;

		for (size_t c = 0; c < cells_of(sweep); c++)
			if (!(sweep->cells[c].x < told[i] || sweep->cells[c].x > told[i]))
				value = tl_design_value(&sweep->data->design, c, sweep->against);
		char *name = tl_strdup(value ? value : "(the scenario's)");

		fprintf(data, "%.9g \"%s\"\n", told[i], tl_figure_quotable(name));
		free(name);
	}
	free(told);
}

/* ARG6 the key, ARG7 its range with some room. */
static void axis(const struct tl_report_sweep *sweep, struct tl_figure_plot *plot)
{
	double low = INFINITY, high = -INFINITY, room;

	for (size_t c = 0; c < cells_of(sweep); c++) {
		low = sweep->cells[c].x < low ? sweep->cells[c].x : low;
		high = sweep->cells[c].x > high ? sweep->cells[c].x : high;
	}
	room = high > low ? 0.06 * (high - low) : 0.5;
	snprintf(plot->extras[0], TL_FIGURE_EXTRA_SIZE, "%s",
	         sweep->data->design.key_count > 0 ? sweep->data->design.keys[sweep->against]
	                                           : "setting");
	snprintf(plot->extras[1], TL_FIGURE_EXTRA_SIZE, "%.9g:%.9g", low - room, high + room);
}

/* ---- cost ---- */

/* Nowhere apart by what could be seen. */
static bool coincide(const struct tl_report_sweep *sweep)
{
	static const double SEEN = 0.001;
	bool same = true;

	for (size_t c = 0; c < cells_of(sweep); c++) {
		const struct tl_report_cell *cell = &sweep->cells[c];

		same = same && !(fabs(cell->cost.mean - cell->cost_plain.mean) >
		                 SEEN * fabs(cell->cost.mean));
	}
	return same;
}

/* The mean, between the ends of the interval of the difference to the first setting. */
static struct tl_sweep_stat against_first(const struct tl_report_sweep *sweep, size_t cell)
{
	struct tl_sweep_stat stat = sweep->cells[cell].cost;
	struct tl_stats_interval interval =
	    tl_report_sweep_compare(sweep, sweep->first, cell, sweep->cost_name).interval;
	double half = (interval.high - interval.low) / 2.0;

	stat.low = stat.mean - half;
	stat.high = stat.mean + half;
	return stat;
}

static enum tl_status prepare_cost(void *source, FILE *data, struct tl_figure_plot *plot,
                                   struct tl_error *error)
{
	const struct tl_report_sweep *sweep = source;
	size_t *cells = tl_calloc(cells_of(sweep), sizeof(*cells));
	double scale = sweep->more_is_better ? 100.0 : 1.0;
	bool plain = sweep->has_plain && !coincide(sweep);
	bool marked = sweep->best < cells_of(sweep);
	char text[TL_NUMBER_SIZE];

	(void)error;
	if (!sweep->cost_name)
		snprintf(plot->skip, sizeof(plot->skip),
		         "the runs tell no cost_per_useful_gpu_h: their scenario needs `prices: "
		         "{gpu_hour: …}`");
	for (size_t l = 0; l < lines_shown(sweep) && sweep->cost_name; l++) {
		size_t count = line_cells(sweep, nth_line(sweep, l), cells);

		print_title(data, sweep, cells[0],
		            plain              ? "with penalty"
		            : sweep->has_plain ? "with and without penalty: the same"
		                               : "");
		fputs(" low high ", data);
		print_title(data, sweep, cells[0], "without");
		fputs(" low high broken\n", data);
		for (size_t i = 0; i < count; i++) {
			const struct tl_report_cell *cell = &sweep->cells[cells[i]];

			fprintf(data, "%.9g", cell->x);
			struct tl_sweep_stat paired = against_first(sweep, cells[i]);

			print_stat(data, &paired, scale);
			print_stat(data, &cell->cost_plain, scale);
			if (cell->promise == TL_PROMISE_BROKEN && isfinite(cell->cost.mean))
				fprintf(data, " %.9g\n", scale * cell->cost.mean);
			else
				fputs(" NaN\n", data);
		}
		fputs("\n\n", data);
	}
	free(cells);
	if (!sweep->cost_name)
		return TL_OK;
	print_places(data, sweep);
	axis(sweep, plot);
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%zu %d %.9g %.9g %d", lines_shown(sweep),
	         plain, marked ? sweep->cells[sweep->best].x : (double)NAN,
	         marked ? scale * sweep->cells[sweep->best].cost.mean : (double)NAN,
	         !sweep->numeric);
	snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s",
	         sweep->more_is_better ? "productive share of GPU time [%]"
	                               : "cost of useful work [");
	if (!sweep->more_is_better)
		tl_figure_append(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s]",
		                 tl_unit_words(sweep->data->units[sweep->cost_metric], text));
	tl_figure_append(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "|%s",
	                 cells_of(sweep) > 1 ? "bars: 95 % interval of the difference to the first "
	                                       "setting, seed by seed"
	                                     : "");
	snprintf(plot->alt, sizeof(plot->alt),
	         "%s against %s, means over the seeds with the 95 %% interval of the difference to "
	         "the first setting, settings that break the promise crossed.",
	         sweep->more_is_better ? "Productive share of GPU time"
	         : sweep->has_plain    ? "Cost of a useful GPU hour with and without penalties"
	                               : "Cost of a useful GPU hour",
	         plot->extras[0]);
	for (size_t c = 0; c < cells_of(sweep) && sweep->line_count == 1; c++) {
		const char *value = tl_design_value(&sweep->data->design, c, sweep->against);

		tl_figure_append(plot->alt, sizeof(plot->alt), " At %s: %s%s.", value ? value : "–",
		                 tl_number(scale * sweep->cells[c].cost.mean, text),
		                 c == sweep->best ? ", recommended" : "");
	}
	return TL_OK;
}

/* ---- change against the first setting, pair by pair of seeds ---- */

static enum tl_status prepare_change(void *source, FILE *data, struct tl_figure_plot *plot,
                                     struct tl_error *error)
{
	const struct tl_report_sweep *sweep = source;
	size_t *cells = tl_calloc(cells_of(sweep), sizeof(*cells));
	double scale = 100.0 / fabs(sweep->cells[sweep->first].cost.mean);
	char *first = tl_report_sweep_label(sweep, sweep->first, true);

	(void)error;
	if (!sweep->cost_name || !isfinite(scale) || cells_of(sweep) < 2)
		snprintf(plot->skip, sizeof(plot->skip),
		         "there is no cost, or no second setting, to compare with the first");
	for (size_t l = 0; l < lines_shown(sweep) && !plot->skip[0]; l++) {
		size_t count = line_cells(sweep, nth_line(sweep, l), cells);

		print_title(data, sweep, cells[0], "");
		fputs(" low high doubt\n", data);
		for (size_t i = 0; i < count; i++) {
			struct tl_comparison row = tl_report_sweep_compare(
			    sweep, sweep->first, cells[i], sweep->cost_name);
			struct tl_sweep_stat stat = {.mean = row.difference,
			                             .low = row.interval.low,
			                             .high = row.interval.high};

			fprintf(data, "%.9g", sweep->cells[cells[i]].x);
			print_stat(data, &stat, scale);
			fprintf(data, " %d\n", row.verdict == TL_COMPARE_NOT_SHOWN);
		}
		fputs("\n\n", data);
	}
	print_places(data, sweep);
	axis(sweep, plot);
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%zu %.9g %d", lines_shown(sweep),
	         sweep->best < cells_of(sweep) ? sweep->cells[sweep->best].x : (double)NAN,
	         !sweep->numeric);
	snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s [%%]",
	         sweep->more_is_better ? "change of productive GPU time" : "change of cost");
	snprintf(
	    plot->alt, sizeof(plot->alt),
	    "%s against %s, with the 95 %% interval of the differences of the same seeds by itself; hollow: "
	    "not shown once all headline metrics are judged together.",
	    sweep->more_is_better ? "Change of productive GPU time" : "Change of cost", first);
	free(first);
	free(cells);
	return TL_OK;
}

/* ---- attainment, as what is missing of it ---- */

/* The axis is of powers of ten: less than this, in percent, is drawn as none. */
static const double LEAST_LATE = 0.0001;

static void print_late(FILE *data, const struct tl_sweep_stat *attainment)
{
	const double parts[] = {attainment->mean, attainment->high, attainment->low};

	for (size_t i = 0; i < 3; i++) {
		double part = isfinite(parts[i]) ? parts[i] : attainment->mean;
		double late = 100.0 * (1.0 - part);

		fprintf(data, isfinite(late) ? " %.9g" : " NaN",
		        late > LEAST_LATE ? late : LEAST_LATE / 2.0);
	}
}

static void print_service(FILE *data, const struct tl_report_sweep *sweep, const size_t *cells,
                          size_t count, size_t service)
{
	char *name = tl_report_sweep_service(sweep, service);

	fprintf(data, "\"%s\" low high\n", tl_figure_quotable(name));
	for (size_t i = 0; i < count; i++) {
		struct tl_sweep_stat stat =
		    tl_report_sweep_stat(sweep, cells[i], sweep->services[service]);

		fprintf(data, "%.9g", sweep->cells[cells[i]].x);
		print_late(data, &stat);
		fputs("\n", data);
	}
	fputs("\n\n", data);
	free(name);
}

/* One line: each service, the worst first; several: the worst service of each. */
static size_t print_attainment(FILE *data, const struct tl_report_sweep *sweep)
{
	size_t *cells = tl_calloc(cells_of(sweep), sizeof(*cells)), blocks = 0;

	if (sweep->line_count == 1) {
		size_t count = line_cells(sweep, 0, cells);

		for (size_t v = 0; v < sweep->service_count && v < LINES_MAX; v++, blocks++)
			print_service(data, sweep, cells, count, v);
	}
	for (size_t l = 0; l < lines_shown(sweep) && sweep->line_count > 1; l++, blocks++) {
		size_t count = line_cells(sweep, nth_line(sweep, l), cells);

		print_title(data, sweep, cells[0], "worst service");
		fputs(" low high\n", data);
		for (size_t i = 0; i < count; i++) {
			fprintf(data, "%.9g", sweep->cells[cells[i]].x);
			print_late(data, &sweep->cells[cells[i]].attainment);
			fputs("\n", data);
		}
		fputs("\n\n", data);
	}
	free(cells);
	return blocks;
}

static enum tl_status prepare_attainment(void *source, FILE *data, struct tl_figure_plot *plot,
                                         struct tl_error *error)
{
	const struct tl_report_sweep *sweep = source;
	double most = 100.0 * (1.0 - sweep->constraint);
	char text[TL_NUMBER_SIZE];

	(void)error;
	if (sweep->service_count == 0) {
		snprintf(plot->skip, sizeof(plot->skip), "the scenario has no service");
		return TL_OK;
	}
	size_t blocks = print_attainment(data, sweep);
	print_places(data, sweep);
	axis(sweep, plot);
	for (size_t c = 0; c < cells_of(sweep); c++) {
		const struct tl_sweep_stat *stat = &sweep->cells[c].attainment;
		double low = isfinite(stat->low) ? stat->low : stat->mean;

		most = 100.0 * (1.0 - low) > most ? 100.0 * (1.0 - low) : most;
	}
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%zu %.9g %.9g %d", blocks,
	         100.0 * (1.0 - sweep->constraint),
	         sweep->best < cells_of(sweep) ? sweep->cells[sweep->best].x : (double)NAN,
	         !sweep->numeric);
	snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%.9g:%.9g", LEAST_LATE / 3.0,
	         most < 50.0 ? 2.0 * most : 100.0);
	snprintf(
	    plot->alt, sizeof(plot->alt),
	    "Share of requests late or lost against %s, means over the seeds with 95 %% intervals; "
	    "promised in time are %s.",
	    plot->extras[0], tl_number_percent(sweep->constraint, text));
	for (size_t c = 0; c < cells_of(sweep) && sweep->line_count == 1; c++) {
		const char *value = tl_design_value(&sweep->data->design, c, sweep->against);

		tl_figure_append(plot->alt, sizeof(plot->alt), " At %s in time: %s.",
		                 value ? value : "–",
		                 tl_number_percent(sweep->cells[c].attainment.mean, text));
	}
	return TL_OK;
}

/* ---- side effects ---- */

/* In the units that plots/sweep-effects.gp names. */
static const struct panel {
	const char *metric;
	double scale;
} panels[] = {
    {"useful_gpu_h", 1.0},
    {"wait_mean_s", 1.0 / 60.0},
    {"jct_mean_s", 1.0 / 3600.0},
    {"preemptions_per_day", 1.0},
};
enum { PANELS = sizeof(panels) / sizeof(panels[0]) };

static enum tl_status prepare_effects(void *source, FILE *data, struct tl_figure_plot *plot,
                                      struct tl_error *error)
{
	const struct tl_report_sweep *sweep = source;
	size_t *cells = tl_calloc(cells_of(sweep), sizeof(*cells));
	size_t count = line_cells(sweep, main_line(sweep), cells);

	(void)error;
	snprintf(plot->extras[2], TL_FIGURE_EXTRA_SIZE, "%.9g %d",
	         sweep->best < cells_of(sweep) ? sweep->cells[sweep->best].x : (double)NAN,
	         !sweep->numeric);
	for (size_t p = 0; p < PANELS; p++) {
		size_t metric = tl_sweep_data_metric(sweep->data, panels[p].metric);
		bool is_there = false;

		for (size_t i = 0; i < count; i++) {
			struct tl_sweep_stat stat = tl_report_sweep_stat(sweep, cells[i], metric);

			fprintf(data, "%.9g", sweep->cells[cells[i]].x);
			print_stat(data, &stat, panels[p].scale);
			fputs("\n", data);
			is_there = is_there || isfinite(stat.mean);
		}
		fputs("\n\n", data);
		tl_figure_append(plot->extras[2], TL_FIGURE_EXTRA_SIZE, " %d", is_there);
	}
	print_places(data, sweep);
	axis(sweep, plot);
	char *rest = tl_report_sweep_label(sweep, cells[0], false);
	snprintf(plot->extras[3], TL_FIGURE_EXTRA_SIZE, "%s", rest);
	snprintf(plot->alt, sizeof(plot->alt),
	         "Useful work, mean wait, mean completion time and preemptions a day against "
	         "%s%s%s, means over the seeds with 95 %% intervals.",
	         plot->extras[0], rest[0] ? ", at " : "", rest);
	free(rest);
	free(cells);
	return TL_OK;
}

/* ---- all of them ---- */

enum tl_status tl_report_sweep_draw(const struct tl_report_sweep *sweep, const char *source,
                                    const char *out_dir, const char *plots_dir,
                                    struct tl_figures *figures, struct tl_error *error)
{
	static const struct {
		const char *name, *title;
		tl_figure_prepare prepare;
	} known[] = {{"sweep-cost", "what it costs", prepare_cost},
	             {"sweep-change", "what changes against the first setting, seed by seed",
	              prepare_change},
	             {"sweep-attainment", "requests late", prepare_attainment},
	             {"sweep-effects", "what else changes", prepare_effects}};
	struct tl_report_sweep looked_at = *sweep;
	char *scripts = NULL, *folder = tl_figure_plain_path(out_dir);
	enum tl_status status = tl_figure_scripts(plots_dir, &scripts, error);
	struct tl_drawing drawing = {.source_path = source,
	                             .out_dir = folder,
	                             .plots_dir = scripts,
	                             .of = sweep->data->scenario_name ? sweep->data->scenario_name
	                                                              : "",
	                             .figures = figures};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && status == TL_OK; i++) {
		struct tl_figure_plot plot = {.table = NULL};

		status = tl_figure_draw(&drawing, known[i].name, known[i].name, known[i].title,
		                        known[i].prepare, &looked_at, &plot, error);
	}
	free(scripts);
	free(folder);
	return status;
}
