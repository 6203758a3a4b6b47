/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/runs.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct tl_runs *tl_runs_new(const char *source, const uint64_t *seeds, size_t count)
{
	struct tl_runs *runs = tl_calloc(1, sizeof *runs);

	runs->source = tl_strdup(source);
	runs->cell = tl_strdup("");
	runs->scenario = tl_strdup("");
	runs->count = count;
	runs->seeds = tl_calloc(count + 1, sizeof *runs->seeds);
	runs->paths = tl_calloc(count + 1, sizeof *runs->paths);
	for (size_t i = 0; i < count; i++)
		runs->seeds[i] = seeds[i];
	return runs;
}

double *tl_runs_add_metric(struct tl_runs *runs, const char *metric, const char *unit)
{
	const size_t number = runs->metric_count++;

	if (runs->metric_count > runs->metric_room) {
		runs->metric_room = 2 * runs->metric_room + 64;
		runs->metrics =
		    tl_realloc_array(runs->metrics, runs->metric_room, sizeof *runs->metrics);
		runs->units = tl_realloc_array(runs->units, runs->metric_room, sizeof *runs->units);
		runs->values = tl_realloc_array(runs->values, runs->metric_room * (runs->count + 1),
		                                sizeof *runs->values);
	}
	runs->metrics[number] = tl_strdup(metric);
	runs->units[number] = tl_strdup(unit);
	for (size_t i = 0; i < runs->count; i++)
		runs->values[number * runs->count + i] = NAN;
	return &runs->values[number * runs->count];
}

void tl_runs_destroy(struct tl_runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->count; i++)
		free(runs->paths[i]);
	for (size_t i = 0; i < runs->metric_count; i++) {
		free(runs->metrics[i]);
		free(runs->units[i]);
	}
	for (size_t i = 0; i < runs->setting_count; i++)
		free(runs->settings[i]);
	free(runs->source);
	free(runs->cell);
	free(runs->scenario);
	free(runs->settings);
	free(runs->seeds);
	free(runs->paths);
	free(runs->metrics);
	free(runs->units);
	free(runs->values);
	free(runs);
}

void tl_runs_list_fini(struct tl_runs_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		tl_runs_destroy(list->items[i]);
	free(list->items);
	*list = (struct tl_runs_list){.items = NULL};
}

size_t tl_runs_metric(const struct tl_runs *runs, const char *metric)
{
	size_t i = 0;

	while (i < runs->metric_count && strcmp(runs->metrics[i], metric) != 0)
		i++;
	return i;
}

double tl_runs_value(const struct tl_runs *runs, size_t metric, size_t run)
{
	return runs->values[metric * runs->count + run];
}

char *tl_runs_label(const struct tl_runs *runs)
{
	return runs->cell[0] == '\0' ? tl_strdup(runs->source)
	                             : tl_format("%s [%s]", runs->source, runs->cell);
}
