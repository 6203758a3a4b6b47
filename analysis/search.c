/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/search.h"

#include "analysis/sweep_data.h"
#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start_design(const struct tl_search *search, size_t first_seed, size_t seed_count,
                         struct tl_design *out)
{
	const struct tl_space *space = search->space;
	const char **keys = tl_calloc(space->count + 1, sizeof *keys);

	for (size_t i = 0; i < space->count; i++)
		keys[i] = space->ladders[i].key;
	tl_design_init(out, "search", keys, space->count);
	for (size_t i = 0; i < seed_count; i++)
		tl_design_seed(out, search->seeds[first_seed + i]);
	free(keys);
}

static void add_point(const struct tl_search *search, const int *rungs, struct tl_design *design)
{
	const struct tl_space *space = search->space;
	const char **values = tl_calloc(space->count + 1, sizeof *values);

	for (size_t i = 0; i < space->count; i++)
		values[i] =
		    rungs[i] == TL_SPACE_OWN ? search->own[i] : tl_space_value(space, i, rungs[i]);
	(void)tl_design_add(design, values);
	free(values);
}

/* Runs of settings that fail are an answer, once it is known that not all do. */
static enum tl_status run(struct tl_search *search, const struct tl_design *design,
                          struct tl_sweep_data **out, struct tl_error *error)
{
	struct tl_sweep_run *runs = NULL;
	bool missing = false, done = false;
	size_t count = 0;
	enum tl_status status = tl_sweep_run(search->sweep, design, &runs, &count, error);

	for (size_t i = 0; i < count; i++) {
		missing |= runs[i].state == TL_RUN_MISSING;
		done |= runs[i].state == TL_RUN_DONE;
	}
	search->begun |= done;
	if (status == TL_OK || (runs && !missing && search->begun))
		status = tl_sweep_data_of_runs(search->sweep, design, runs, out, error);
	if (status == TL_OK) {
		double most;

		(void)tl_sweep_data_short(*out, &most);
		search->left_out = fmax(search->left_out, most);
	}
	tl_sweep_runs_free(runs, count);
	return status;
}

/* Whether the scenario takes this setting at all: two values may contradict each other. */
static bool possible(const struct tl_search *search, const int *rungs)
{
	struct tl_error unwanted = TL_ERROR_INIT;
	char hash[TL_SHA256_HEX];
	struct tl_design design;
	enum tl_status status;

	start_design(search, 0, 1, &design);
	add_point(search, rungs, &design);
	status = search->subject->identify(search->subject->context, &design, 0, search->seeds[0],
	                                   hash, &unwanted);
	tl_design_fini(&design);
	return status == TL_OK;
}

static double value_of(const struct tl_sweep_data *data, const struct tl_measure *measure,
                       size_t cell, size_t seed)
{
	double worst = (double)NAN;

	for (size_t i = 0; i < measure->count; i++) {
		size_t metric = tl_sweep_data_metric(data, measure->metrics[i]);
		double value = metric < data->metric_count
		                   ? tl_sweep_data_value(data, cell, seed, metric)
		                   : (double)NAN;

		if (!isfinite(value))
			return (double)NAN;
		if (i == 0 || (measure->high_is_worse ? value > worst : value < worst))
			worst = value;
	}
	return worst;
}

static void take_answers(const struct tl_search *search, const struct tl_sweep_data *data,
                         size_t cell, size_t seed_count, double *answers)
{
	for (size_t seed = 0; seed < seed_count; seed++)
		for (size_t i = 0; i < search->measure_count; i++)
			*answers++ = value_of(data, &search->measures[i], cell, seed);
}

enum tl_status tl_search_ask(void *context, const struct tl_search_question *question,
                             double *answers, struct tl_error *error)
{
	struct tl_search *search = context;
	size_t axes = search->space->count, width = question->seed_count * search->measure_count;
	bool *left_out = tl_calloc(question->point_count + 1, sizeof *left_out);
	struct tl_sweep_data *data = NULL;
	struct tl_design design;
	enum tl_status status = TL_OK;
	size_t cells = 0;

	for (int try = 0; try < 2; try++) {
		start_design(search, question->first_seed, question->seed_count, &design);
		for (size_t i = 0; i < question->point_count; i++)
			if (!left_out[i])
				add_point(search, question->points + i * axes, &design);
		cells = design.cell_count;
		status = cells > 0 ? run(search, &design, &data, error) : TL_OK;
		tl_design_fini(&design);
		if (!search->begun || (status != TL_E_CONFIG && status != TL_E_DATA))
			break;
		for (size_t i = 0; i < question->point_count; i++)
			left_out[i] = !possible(search, question->points + i * axes);
	}
	cells = 0;
	for (size_t i = 0; i < question->point_count && status == TL_OK; i++) {
		if (!left_out[i])
			take_answers(search, data, cells++, question->seed_count,
			             answers + i * width);
		else
			for (size_t k = 0; k < width; k++)
				answers[i * width + k] = (double)NAN;
	}
	tl_sweep_data_destroy(data);
	free(left_out);
	return status;
}

enum tl_status tl_search_names(struct tl_search *search, char ***names, size_t *count,
                               struct tl_error *error)
{
	int *own = tl_calloc(search->space->count + 1, sizeof *own);
	struct tl_sweep_data *data = NULL;
	struct tl_design design;
	enum tl_status status;

	for (size_t i = 0; i < search->space->count; i++)
		own[i] = TL_SPACE_OWN;
	start_design(search, 0, 1, &design);
	add_point(search, own, &design);
	status = run(search, &design, &data, error);
	if (status == TL_OK) {
		*count = data->metric_count;
		*names = tl_calloc(*count + 1, sizeof **names);
		for (size_t i = 0; i < *count; i++)
			(*names)[i] = tl_strdup(data->metrics[i]);
	}
	tl_sweep_data_destroy(data);
	tl_design_fini(&design);
	free(own);
	return status;
}

void tl_search_names_free(char **names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(names);
}
