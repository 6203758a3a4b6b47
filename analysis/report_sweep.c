/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/report_sweep.h"

#include "results/metrics.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t seeds_of(const struct tl_report_sweep *sweep)
{
	return sweep->data->design.seed_count;
}

static size_t cells_of(const struct tl_report_sweep *sweep)
{
	return sweep->data->design.cell_count;
}

/* ---- statistics ---- */

/* Student's t knows nothing of the values that cannot be: what has no sign is not below 0. */
static struct tl_sweep_stat stat_of(const double *values, size_t count, bool is_signed)
{
	struct tl_stats_interval interval =
	    tl_stats_t_interval(values, count, TL_REPORT_CONFIDENCE);

	if (interval.low < 0.0 && !is_signed)
		interval.low = 0.0;
	return (struct tl_sweep_stat){.count = count,
	                              .mean = tl_stats_sample(values, count).mean,
	                              .low = interval.low,
	                              .high = interval.high};
}

struct tl_sweep_stat tl_report_sweep_stat(const struct tl_report_sweep *sweep, size_t cell,
                                          size_t metric)
{
	double *values = tl_calloc(seeds_of(sweep) + 1, sizeof(*values));
	size_t count = 0;

	for (size_t s = 0; s < seeds_of(sweep) && metric < sweep->data->metric_count; s++) {
		double value = tl_sweep_data_value(sweep->data, cell, s, metric);

		if (isfinite(value))
			values[count++] = value;
	}
	struct tl_sweep_stat stat = stat_of(values, count,
	                                    metric < sweep->data->metric_count &&
	                                        tl_metric_is_signed(sweep->data->metrics[metric]));

	free(values);
	return stat;
}

/* ---- names ---- */

char *tl_report_sweep_label(const struct tl_report_sweep *sweep, size_t cell, bool all)
{
	const struct tl_design *design = &sweep->data->design;
	char *label = tl_strdup("");

	for (size_t k = 0; k < design->key_count; k++) {
		const char *value = tl_design_value(design, cell, k);

		if (all || k != sweep->against)
			tl_append(&label, "%s%s = %s", label[0] ? ", " : "", design->keys[k],
			          value ? value : "(the scenario's)");
	}
	return label;
}

char *tl_report_sweep_service(const struct tl_report_sweep *sweep, size_t service)
{
	char *name = tl_strdup(sweep->data->metrics[sweep->services[service]]);

	*strrchr(name, '.') = '\0';
	return name;
}

/* ---- what there is ---- */

static size_t values_of(const struct tl_design *design, size_t key)
{
	size_t different = 0;

	for (size_t a = 0; a < design->cell_count; a++) {
		const char *value = tl_design_value(design, a, key);
		bool seen = false;

		for (size_t b = 0; b < a && !seen; b++) {
			const char *other = tl_design_value(design, b, key);

			seen = value == other || (value && other && strcmp(value, other) == 0);
		}
		different += !seen;
	}
	return different;
}

static enum tl_status choose_axis(struct tl_report_sweep *sweep, const char *asked,
                                  struct tl_error *error)
{
	const struct tl_design *design = &sweep->data->design;

	for (size_t k = 0; k < design->key_count; k++)
		if (strcmp(design->keys[k], asked ? asked : "oversubscription") == 0 &&
		    (asked || values_of(design, k) > 1)) {
			sweep->against = k;
			return TL_OK;
		}
	if (asked)
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--against: got `%.80s`, wanted a key that the sweep varies, such "
		    "as `%s`",
		    asked, design->key_count > 0 ? design->keys[0] : "(none)");
	for (size_t k = design->key_count; k-- > 0;)
		if (sweep->data->numeric[k] && values_of(design, k) > 1)
			sweep->against = k;
	return TL_OK;
}

static bool alike_but_for_axis(const struct tl_report_sweep *sweep, size_t a, size_t b)
{
	const struct tl_design *design = &sweep->data->design;

	for (size_t k = 0; k < design->key_count; k++) {
		const char *x = tl_design_value(design, a, k), *y = tl_design_value(design, b, k);

		if (k != sweep->against && x != y && (!x || !y || strcmp(x, y) != 0))
			return false;
	}
	return true;
}

static bool same_setting(const struct tl_report_sweep *sweep, size_t a, size_t b)
{
	const char *x = tl_design_value(&sweep->data->design, a, sweep->against);
	const char *y = tl_design_value(&sweep->data->design, b, sweep->against);

	return x == y || (x && y && strcmp(x, y) == 0);
}

/* Where a cell lies on the axis, and on which line. */
static void lay_out(struct tl_report_sweep *sweep)
{
	double last = 0.0;

	sweep->numeric = sweep->data->design.key_count > 0;
	for (size_t c = 0; c < cells_of(sweep) && sweep->numeric; c++)
		sweep->numeric = isfinite(tl_sweep_data_setting(sweep->data, c, sweep->against));
	for (size_t c = 0; c < cells_of(sweep); c++) {
		struct tl_report_cell *cell = &sweep->cells[c];

		cell->x =
		    sweep->numeric ? tl_sweep_data_setting(sweep->data, c, sweep->against) : 0;
		for (size_t b = 0; b < c && !sweep->numeric && !(cell->x > 0); b++)
			if (same_setting(sweep, b, c))
				cell->x = sweep->cells[b].x;
		if (!sweep->numeric && !(cell->x > 0))
			cell->x = last += 1.0;
		cell->line = sweep->line_count;
		for (size_t b = 0; b < c; b++)
			if (alike_but_for_axis(sweep, b, c))
				cell->line = sweep->cells[b].line;
		sweep->line_count += cell->line == sweep->line_count;
	}
}

static void find_metrics(struct tl_report_sweep *sweep)
{
	static const struct {
		const char *name;
		bool more_is_better;
	} costs[] = {{"cost_total_per_useful_gpu_h", false},
	             {"cost_per_useful_gpu_h", false},
	             {"effective_utilisation", true}};
	static const char end[] = ".attainment";
	const struct tl_sweep_data *data = sweep->data;

	sweep->cost_metric = data->metric_count;
	for (size_t i = 0; i < 3 && !sweep->cost_name; i++) {
		sweep->cost_metric = tl_sweep_data_metric(data, costs[i].name);
		if (sweep->cost_metric < data->metric_count) {
			sweep->cost_name = costs[i].name;
			sweep->more_is_better = costs[i].more_is_better;
		}
	}
	sweep->has_plain = sweep->cost_name == costs[0].name &&
	                   tl_sweep_data_metric(data, costs[1].name) < data->metric_count;
	sweep->services = tl_calloc(data->metric_count + 1, sizeof(*sweep->services));
	for (size_t m = 0; m < data->metric_count; m++) {
		size_t length = strlen(data->metrics[m]);

		if (length >= sizeof(end) &&
		    strcmp(data->metrics[m] + length - (sizeof(end) - 1), end) == 0)
			sweep->services[sweep->service_count++] = m;
	}
}

/* ---- each cell ---- */

static void judge(const struct tl_report_sweep *sweep, struct tl_report_cell *cell)
{
	const struct tl_sweep_stat *attainment = &cell->attainment;

	if (sweep->service_count == 0)
		cell->promise = TL_PROMISE_NONE;
	else if (attainment->count == 0)
		cell->promise = TL_PROMISE_UNKNOWN;
	else if ((attainment->count > 1 ? attainment->low : attainment->mean) >= sweep->constraint)
		cell->promise = TL_PROMISE_KEPT;
	else
		cell->promise = TL_PROMISE_BROKEN;
}

static void look_at_cell(struct tl_report_sweep *sweep, size_t number)
{
	struct tl_report_cell *cell = &sweep->cells[number];
	const struct tl_sweep_data *data = sweep->data;
	double *worst = tl_calloc(seeds_of(sweep) + 1, sizeof(*worst)), least = INFINITY;
	size_t count = 0;

	cell->cost = tl_report_sweep_stat(sweep, number, sweep->cost_metric);
	cell->cost_plain = tl_report_sweep_stat(
	    sweep, number,
	    sweep->has_plain ? tl_sweep_data_metric(data, "cost_per_useful_gpu_h")
			     : data->metric_count);
	for (size_t s = 0; s < seeds_of(sweep); s++) {
		double of_run = INFINITY;

		for (size_t v = 0; v < sweep->service_count; v++) {
			double value = tl_sweep_data_value(data, number, s, sweep->services[v]);

			of_run = value < of_run ? value : of_run;
		}
		if (isfinite(of_run))
			worst[count++] = of_run;
	}
	cell->attainment = stat_of(worst, count, false);
	free(worst);
	for (size_t v = 0; v < sweep->service_count; v++) {
		double mean = tl_report_sweep_stat(sweep, number, sweep->services[v]).mean;

		if (mean < least) {
			least = mean;
			cell->worst = v;
		}
	}
	judge(sweep, cell);
}

/* ---- which one ---- */

static void take_metrics(struct tl_report_sweep *sweep)
{
	size_t of = sweep->best < cells_of(sweep) ? sweep->best : sweep->first;
	const struct tl_sweep_data *data = sweep->data;

	sweep->metrics = tl_calloc(data->metric_count + 1, sizeof(*sweep->metrics));
	sweep->metric_count = data->metric_count;
	for (size_t m = 0; m < data->metric_count; m++) {
		struct tl_row_summary *row = &sweep->metrics[m];
		struct tl_sweep_stat stat = tl_report_sweep_stat(sweep, of, m);

		(void)snprintf(row->metric, sizeof(row->metric), "%s", data->metrics[m]);
		(void)snprintf(row->unit, sizeof(row->unit), "%s", data->units[m]);
		row->value = stat.mean;
		row->ci_low = stat.low;
		row->ci_high = stat.high;
	}
}

enum tl_status tl_report_sweep_open(const struct tl_report_options *options,
                                    struct tl_report_sweep *sweep, struct tl_error *error)
{
	memset(sweep, 0, sizeof(*sweep));
	sweep->constraint = options->attainment;
	enum tl_status status = tl_sweep_data_read(options->source, true, &sweep->data, error);

	if (status != TL_OK)
		return status;
	if (cells_of(sweep) == 0 || sweep->data->missing == cells_of(sweep) * seeds_of(sweep))
		return tl_error_set(error, TL_E_DATA, options->source, 0, 0,
		                    "holds no run that has ended well");
	status = choose_axis(sweep, options->against, error);
	if (status != TL_OK)
		return status;
	sweep->cells = tl_calloc(cells_of(sweep), sizeof(*sweep->cells));
	lay_out(sweep);
	find_metrics(sweep);
	for (size_t c = 0; c < cells_of(sweep); c++)
		look_at_cell(sweep, c);
	tl_report_sweep_gather(sweep);
	tl_report_sweep_choose(sweep);
	take_metrics(sweep);
	return TL_OK;
}

void tl_report_sweep_close(struct tl_report_sweep *sweep)
{
	for (size_t c = 0; sweep->runs && c < cells_of(sweep); c++)
		tl_runs_destroy(sweep->runs[c]);
	free(sweep->runs);
	free(sweep->judged);
	if (sweep->data)
		tl_sweep_data_destroy(sweep->data);
	free(sweep->services);
	free(sweep->cells);
	free(sweep->metrics);
}
