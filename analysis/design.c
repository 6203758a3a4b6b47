/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/design.h"

#include "sim/base/arena.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- by hand ---- */

void tl_design_init(struct tl_design *design, const char *name, const char *const *keys,
                    size_t key_count)
{
	*design = (struct tl_design){.name = tl_strdup(name), .key_count = key_count};
	design->keys = tl_calloc(key_count + 1, sizeof *design->keys);
	for (size_t i = 0; i < key_count; i++)
		design->keys[i] = tl_strdup(keys[i]);
}

void tl_design_fini(struct tl_design *design)
{
	for (size_t i = 0; i < design->key_count; i++)
		free(design->keys[i]);
	for (size_t i = 0; i < design->cell_count * design->key_count; i++)
		free(design->values[i]);
	free(design->name);
	free(design->keys);
	free(design->values);
	free(design->seeds);
	*design = (struct tl_design){.name = NULL};
}

size_t tl_design_add(struct tl_design *design, const char *const *values)
{
	size_t width = design->key_count, cell = design->cell_count;

	if (width > 0)
		design->values = tl_grow(design->values, &design->cell_room, (cell + 1) * width,
		                         sizeof *design->values);
	for (size_t i = 0; i < width; i++)
		design->values[cell * width + i] = values[i] ? tl_strdup(values[i]) : NULL;
	return design->cell_count++;
}

const char *tl_design_value(const struct tl_design *design, size_t cell, size_t key)
{
	return design->values[cell * design->key_count + key];
}

/* ---- parts ---- */

struct cell {
	char *const *values;
	size_t width;
};

static int compare_cells(const void *left, const void *right)
{
	const struct cell *a = left, *b = right;

	for (size_t i = 0; i < a->width; i++) {
		const char *x = a->values[i], *y = b->values[i];
		int order = x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);

		if (order != 0)
			return order;
	}
	return 0;
}

static int compare_seeds(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static struct cell cell_of(const struct tl_design *design, size_t cell)
{
	return (struct cell){design->values + cell * design->key_count, design->key_count};
}

size_t tl_design_find(const struct tl_design *design, const char *const *values)
{
	const struct cell wanted = {(char *const *)values, design->key_count};
	size_t cell = 0;

	while (cell < design->cell_count) {
		const struct cell one = cell_of(design, cell);

		if (compare_cells(&one, &wanted) == 0)
			break;
		cell++;
	}
	return cell;
}

static bool covers_cells(const struct tl_design *whole, const struct tl_design *part)
{
	struct cell *cells = tl_calloc(whole->cell_count + 1, sizeof *cells);
	bool covered = true;

	for (size_t i = 0; i < whole->cell_count; i++)
		cells[i] = cell_of(whole, i);
	qsort(cells, whole->cell_count, sizeof *cells, compare_cells);
	for (size_t i = 0; i < part->cell_count && covered; i++) {
		const struct cell cell = cell_of(part, i);

		covered =
		    bsearch(&cell, cells, whole->cell_count, sizeof cell, compare_cells) != NULL;
	}
	free(cells);
	return covered;
}

static bool covers_seeds(const struct tl_design *whole, const struct tl_design *part)
{
	const size_t size = sizeof *whole->seeds;
	uint64_t *seeds = tl_calloc(whole->seed_count + 1, size);
	bool covered = true;

	memcpy(seeds, whole->seeds, whole->seed_count * size);
	qsort(seeds, whole->seed_count, size, compare_seeds);
	for (size_t i = 0; i < part->seed_count && covered; i++)
		covered =
		    bsearch(&part->seeds[i], seeds, whole->seed_count, size, compare_seeds) != NULL;
	free(seeds);
	return covered;
}

bool tl_design_covers(const struct tl_design *whole, const struct tl_design *part)
{
	if (whole->key_count != part->key_count)
		return false;
	for (size_t i = 0; i < whole->key_count; i++)
		if (strcmp(whole->keys[i], part->keys[i]) != 0)
			return false;
	return covers_cells(whole, part) && covers_seeds(whole, part);
}

/* ---- seeds ---- */

/* The place of one from first to last; seed_count where there is none. */
static size_t find_seed(const struct tl_design *design, uint64_t first, uint64_t last)
{
	size_t i = 0;

	while (i < design->seed_count && (design->seeds[i] < first || design->seeds[i] > last))
		i++;
	return i;
}

void tl_design_seed(struct tl_design *design, uint64_t seed)
{
	design->seeds = tl_grow(design->seeds, &design->seed_room, design->seed_count + 1,
	                        sizeof *design->seeds);
	design->seeds[design->seed_count++] = seed;
}

static bool read_seed(const char **text, uint64_t *out)
{
	const char *p = *text;

	*out = 0;
	while (*p >= '0' && *p <= '9' && p - *text < 19)
		*out = *out * 10 + (uint64_t)(*p++ - '0');
	if (p == *text || *out > INT64_MAX)
		return false;
	*text = p;
	return true;
}

enum tl_status tl_design_seeds_parse(struct tl_design *design, const char *text,
                                     struct tl_error *error)
{
	const char *p = text;

	for (;; p++) {
		uint64_t first, last;

		if (!read_seed(&p, &first))
			break;
		last = first;
		if (strncmp(p, "..", 2) == 0) {
			p += 2;
			if (!read_seed(&p, &last) || last < first)
				break;
		}
		if (*p != ',' && *p != '\0')
			break;
		if (last - first >= TL_DESIGN_RUNS_MAX - design->seed_count)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--seeds: got `%.60s`, wanted at most %d", text,
			                    TL_DESIGN_RUNS_MAX);
		size_t twice = find_seed(design, first, last);

		if (twice < design->seed_count)
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--seeds: got %llu twice",
			                    (unsigned long long)design->seeds[twice]);
		for (uint64_t seed = first; seed <= last; seed++)
			tl_design_seed(design, seed);
		if (*p == '\0')
			return TL_OK;
	}
	return tl_error_set(
	    error, TL_E_USAGE, NULL, 0, 0,
	    "--seeds: got `%.60s`, wanted FIRST..LAST or a list (1..5, or 1,5,9), of 0 to 2^63 - 1",
	    text);
}

/* ---- designs of axes ---- */

struct making {
	const struct tl_axis *axes;
	size_t axis_count;
	const char *const *own;
	struct tl_design *design;
	const char **cell; /* one value an axis, in the making */
	struct tl_error *error;
};

static enum tl_status too_many(const struct making *making, double cells)
{
	return tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
	                    "--vary: the design has %.4g cells, wanted at most %d", cells,
	                    TL_DESIGN_RUNS_MAX);
}

static enum tl_status refuse_intervals(const struct making *making)
{
	for (size_t i = 0; i < making->axis_count; i++)
		if (making->axes[i].count == 0)
			return tl_error_set(
			    making->error, TL_E_USAGE, NULL, 0, 0,
			    "--vary %s: got an interval without a step, wanted "
			    "FIRST:LAST:STEP; --design sobol:N draws from intervals",
			    making->axes[i].key);
	return TL_OK;
}

/* The last axis turns fastest. */
static enum tl_status make_grid(struct making *making)
{
	enum tl_status status = refuse_intervals(making);
	double cells = 1;

	for (size_t i = 0; i < making->axis_count; i++)
		cells *= (double)making->axes[i].count;
	if (status == TL_OK && cells > TL_DESIGN_RUNS_MAX)
		status = too_many(making, cells);
	for (size_t cell = 0; cell < (size_t)cells && status == TL_OK; cell++) {
		size_t rest = cell;

		for (size_t i = making->axis_count; i-- > 0;) {
			making->cell[i] = making->axes[i].values[rest % making->axes[i].count];
			rest /= making->axes[i].count;
		}
		(void)tl_design_add(making->design, making->cell);
	}
	return status;
}

static enum tl_status make_one_at_a_time(struct making *making)
{
	enum tl_status status = refuse_intervals(making);
	double cells = 1;

	for (size_t i = 0; i < making->axis_count; i++) {
		cells += (double)making->axes[i].count;
		making->cell[i] = making->own[i];
	}
	if (status == TL_OK && cells > TL_DESIGN_RUNS_MAX)
		status = too_many(making, cells);
	if (status == TL_OK)
		(void)tl_design_add(making->design, making->cell);
	for (size_t i = 0; i < making->axis_count && status == TL_OK; i++) {
		for (size_t k = 0; k < making->axes[i].count; k++) {
			making->cell[i] = making->axes[i].values[k];
			/* The scenario's own value is in the first cell. */
			if (!making->own[i] || strcmp(making->own[i], making->cell[i]) != 0)
				(void)tl_design_add(making->design, making->cell);
		}
		making->cell[i] = making->own[i];
	}
	return status;
}

/* Where u of [0, 1) lies on an axis; a list's values share it evenly. */
static const char *value_at(const struct tl_axis *axis, double u, char *buffer, size_t size)
{
	double span = axis->high - axis->low;

	if (axis->count > 0)
		return axis->values[(size_t)(u * (double)axis->count)];
	if (axis->whole)
		(void)snprintf(buffer, size, "%.0f%s", axis->low + floor(u * (span + 1)),
		               axis->unit);
	else
		(void)snprintf(buffer, size, "%.6g%s", axis->low + u * span, axis->unit);
	return buffer;
}

static enum tl_status make_sobol(struct making *making, const char *number)
{
	size_t width = making->axis_count, cells = 0;
	double *point = tl_calloc(width + 1, sizeof *point);
	char(*texts)[64] = tl_calloc(width + 1, sizeof *texts);
	enum tl_status status = TL_OK;
	const char *p = number;
	gsl_qrng *sequence;

	while (*p >= '0' && *p <= '9' && cells <= TL_DESIGN_RUNS_MAX)
		cells = cells * 10 + (size_t)(*p++ - '0');
	if (cells == 0 || cells > TL_DESIGN_RUNS_MAX || *p != '\0')
		status = tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
		                      "--design sobol: got `%.40s`, wanted a number of cells from "
		                      "1 to %d",
		                      number, TL_DESIGN_RUNS_MAX);
	else if (width == 0)
		status = tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
		                      "--design sobol: wanted an axis: --vary KEY=LOW:HIGH");
	sequence = status == TL_OK ? gsl_qrng_alloc(gsl_qrng_sobol, (unsigned)width) : NULL;
	if (status == TL_OK && !sequence)
		tl_out_of_memory(width);
	for (size_t cell = 0; cell < cells && status == TL_OK; cell++) {
		(void)gsl_qrng_get(sequence, point);
		for (size_t i = 0; i < width; i++)
			making->cell[i] =
			    value_at(&making->axes[i], point[i], texts[i], sizeof texts[i]);
		(void)tl_design_add(making->design, making->cell);
	}
	if (sequence)
		gsl_qrng_free(sequence);
	free(texts);
	free(point);
	return status;
}

static enum tl_status check_axes(const struct making *making)
{
	if (making->axis_count > TL_DESIGN_AXES_MAX)
		return tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
		                    "--vary: got %zu axes, wanted at most %d", making->axis_count,
		                    TL_DESIGN_AXES_MAX);
	for (size_t i = 0; i < making->axis_count; i++) {
		if (strcmp(making->axes[i].key, "seed") == 0)
			return tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
			                    "--vary seed: seeds are no axis, --seeds names them");
		for (size_t k = 0; k < i; k++)
			if (strcmp(making->axes[i].key, making->axes[k].key) == 0)
				return tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
				                    "--vary %s: given twice, wanted all its values "
				                    "in one",
				                    making->axes[i].key);
	}
	return TL_OK;
}

static enum tl_status make(struct making *making, const char *text)
{
	enum tl_status status = check_axes(making);

	if (status != TL_OK)
		return status;
	if (strcmp(text, "grid") == 0)
		return make_grid(making);
	if (strcmp(text, "one-at-a-time") == 0)
		return make_one_at_a_time(making);
	if (strncmp(text, "sobol:", 6) == 0)
		return make_sobol(making, text + 6);
	return tl_error_set(making->error, TL_E_USAGE, NULL, 0, 0,
	                    "--design: got `%.40s`, wanted grid, one-at-a-time or sobol:N", text);
}

enum tl_status tl_design_of_axes(const char *text, const struct tl_axis *axes, size_t axis_count,
                                 const char *const *own, struct tl_design *out,
                                 struct tl_error *error)
{
	const char **keys = tl_calloc(axis_count + 1, sizeof *keys);
	struct making making = {.axes = axes,
	                        .axis_count = axis_count,
	                        .own = own,
	                        .design = out,
	                        .cell = tl_calloc(axis_count + 1, sizeof *making.cell),
	                        .error = error};
	enum tl_status status;

	for (size_t i = 0; i < axis_count; i++)
		keys[i] = axes[i].key;
	text = text ? text : "grid";
	tl_design_init(out, text, keys, axis_count);
	status = make(&making, text);
	if (status != TL_OK)
		tl_design_fini(out);
	free(making.cell);
	free(keys);
	return status;
}
