/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/sweep_gather.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct tl_sweep_value no_value = {(double)NAN, (double)NAN, (double)NAN};

bool tl_sweep_number(const char *text, double *out)
{
	char *end = NULL;

	if (!text || text[strspn(text, "0123456789+-.eE")] != '\0')
		return false;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && isfinite(*out);
}

void tl_sweep_gather_begin(struct tl_sweep_gather *gather, struct tl_sweep_data *data,
                           struct tl_error *error)
{
	const struct tl_design *design = &data->design;

	*gather = (struct tl_sweep_gather){.data = data, .error = error};
	tl_intern_init(&gather->metrics);
	data->numeric = tl_calloc(design->key_count + 1, sizeof *data->numeric);
	for (size_t key = 0; key < design->key_count; key++) {
		data->numeric[key] = true;
		for (size_t cell = 0; cell < design->cell_count; cell++) {
			double number;

			if (!tl_sweep_number(tl_design_value(design, cell, key), &number))
				data->numeric[key] = false;
		}
	}
	if (!data->runs)
		data->runs = tl_calloc(tl_sweep_data_runs(data) + 1, sizeof *data->runs);
	for (size_t i = 0; i < tl_sweep_data_runs(data); i++) {
		data->runs[i].cell = i / design->seed_count;
		data->runs[i].seed = design->seeds[i % design->seed_count];
	}
}

/* Room for one metric more in every run; a run's metrics are mostly those of the first. */
static void widen(struct tl_sweep_gather *gather)
{
	struct tl_sweep_data *data = gather->data;
	size_t old = gather->width, width = old ? 2 * old : 64, runs = tl_sweep_data_runs(data);
	struct tl_sweep_value *values = tl_calloc(runs * width + 1, sizeof *values);

	for (size_t run = 0; run < runs; run++)
		for (size_t i = 0; i < width; i++)
			values[run * width + i] = i < old ? data->values[run * old + i] : no_value;
	free(data->values);
	data->values = values;
	gather->width = width;
}

void tl_sweep_gather_value(struct tl_sweep_gather *gather, size_t run, const char *metric,
                           const char *unit, const struct tl_sweep_value *value)
{
	struct tl_sweep_data *data = gather->data;
	uint32_t number = tl_intern_put(&gather->metrics, metric);

	if (number == data->metric_count) {
		data->units = tl_grow(data->units, &gather->unit_room, data->metric_count + 1,
		                      sizeof *data->units);
		data->units[data->metric_count++] = tl_strdup(unit);
	}
	if (number >= gather->width)
		widen(gather);
	data->values[run * gather->width + number] = *value;
}

void tl_sweep_gather_summary(struct tl_sweep_gather *gather, size_t run,
                             const struct tl_row_summary *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct tl_sweep_value value = {rows[i].value, rows[i].ci_low,
		                                     rows[i].ci_high};

		tl_sweep_gather_value(gather, run, rows[i].metric, rows[i].unit, &value);
	}
	gather->data->runs[run].state = TL_RUN_DONE;
}

/* No room between the runs any more, and names of one's own. */
void tl_sweep_gather_end(struct tl_sweep_gather *gather)
{
	struct tl_sweep_data *data = gather->data;
	size_t runs = tl_sweep_data_runs(data);

	data->metrics = tl_calloc(data->metric_count + 1, sizeof *data->metrics);
	for (size_t i = 0; i < data->metric_count; i++)
		data->metrics[i] = tl_strdup(gather->metrics.names[i]);
	for (size_t run = 0; run < runs && data->values; run++)
		memmove(&data->values[run * data->metric_count], &data->values[run * gather->width],
		        data->metric_count * sizeof *data->values);
	for (size_t run = 0; run < runs; run++)
		data->missing +=
		    data->runs[run].state != TL_RUN_DONE && data->runs[run].state != TL_RUN_UNASKED;
	tl_intern_fini(&gather->metrics);
}
