/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/space.h"

#include "sim/base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The least of 1, 2, 5 × 10^k that makes at most `most` steps of the length. */
static double round_step(double length, int most, int *digits)
{
	static const double leads[] = {1, 2, 5, 10};
	double least = length / (most - 1);
	int power = (int)floor(log10(least));
	double scale = pow(10, power);

	size_t i = 0;

	/* A hair, for what division has rounded up. */
	while (leads[i] < 10 && leads[i] * scale < least * (1 - 1e-12))
		i++;
	power += leads[i] > 5;
	*digits = power < 0 ? -power : 0;
	return leads[i] * scale;
}

static char *number_text(double value, int digits, const char *unit)
{
	char *text = tl_format("%.*f", digits, value);

	if (strchr(text, '.')) { /* the shortest form, as of a range */
		size_t length = strlen(text);

		while (text[length - 1] == '0')
			length--;
		length -= text[length - 1] == '.';
		text[length] = '\0';
	}
	tl_append(&text, "%s", unit);
	return text;
}

static void add_rung(struct tl_ladder *ladder, char *text)
{
	ladder->rungs =
	    tl_grow(ladder->rungs, &ladder->room, (size_t)ladder->count + 1, sizeof *ladder->rungs);
	ladder->rungs[ladder->count++] = text;
}

/* From one end to the other; those between are multiples of the step. */
static void climb(const struct tl_axis *axis, int most, struct tl_ladder *ladder)
{
	int digits, end_digits;
	double step = round_step(axis->high - axis->low, most, &digits);

	if (axis->whole && step < 1) {
		step = 1;
		digits = 0;
	}
	/* The ends are as they were written, to fifteen digits. */
	for (end_digits = digits; end_digits < 15; end_digits++)
		if (fabs(axis->low * pow(10, end_digits) - round(axis->low * pow(10, end_digits))) <
		        1e-6 &&
		    fabs(axis->high * pow(10, end_digits) -
		         round(axis->high * pow(10, end_digits))) < 1e-6)
			break;
	add_rung(ladder, number_text(axis->low, end_digits, axis->unit));
	for (double n = floor(axis->low / step) + 1; n * step < axis->high - step * 1e-6; n++)
		if (n * step > axis->low + step * 1e-6)
			add_rung(ladder, number_text(n * step, digits, axis->unit));
	add_rung(ladder, number_text(axis->high, end_digits, axis->unit));
	ladder->ordered = true;
	ladder->smooth = ladder->count >= TL_SPACE_SMOOTH;
}

/* Whether all are numbers, of one unit. */
static bool numbers(const struct tl_axis *axis, double *values)
{
	const char *unit = NULL;

	for (size_t i = 0; i < axis->count; i++) {
		char *end;

		values[i] = strtod(axis->values[i], &end);
		if (end == axis->values[i] || !isfinite(values[i]) ||
		    strpbrk(end, "0123456789:{[\"' ") || (unit && strcmp(unit, end) != 0))
			return false;
		unit = end;
	}
	return true;
}

static enum tl_status take_list(const struct tl_axis *axis, struct tl_ladder *ladder,
                                struct tl_error *error)
{
	double *values = tl_calloc(axis->count, sizeof *values);
	enum tl_status status = TL_OK;

	ladder->ordered = numbers(axis, values);
	for (size_t i = 0; i < axis->count; i++) {
		add_rung(ladder, tl_strdup(axis->values[i]));
		if (ladder->ordered && i > 0 && !(values[i] > values[i - 1]) && status == TL_OK)
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "%s %s: got %.40s after %.40s, wanted numbers "
			                      "that rise",
			                      axis->flag, axis->key, axis->values[i],
			                      axis->values[i - 1]);
	}
	free(values);
	return status;
}

enum tl_status tl_space_of_axes(const struct tl_axis *axes, size_t count, int most,
                                struct tl_space *out, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	*out = (struct tl_space){.ladders = tl_calloc(count + 1, sizeof *out->ladders),
	                         .count = count};
	for (size_t i = 0; i < count && status == TL_OK; i++) {
		struct tl_ladder *ladder = &out->ladders[i];

		ladder->key = axes[i].key;
		for (size_t k = 0; k < i && status == TL_OK; k++)
			if (strcmp(axes[k].key, axes[i].key) == 0)
				status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
				                      "%s %s: given twice, wanted one axis a "
				                      "key",
				                      axes[i].flag, axes[i].key);
		if (status == TL_OK && axes[i].count == 1)
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "%s %s: got the value `%.60s` alone, wanted two "
			                      "at least, or LOW:HIGH",
			                      axes[i].flag, axes[i].key, axes[i].values[0]);
		if (status == TL_OK && axes[i].count > 0)
			status = take_list(&axes[i], ladder, error);
		else if (status == TL_OK)
			climb(&axes[i], most, ladder);
	}
	if (status != TL_OK)
		tl_space_fini(out);
	return status;
}

void tl_space_fini(struct tl_space *space)
{
	for (size_t i = 0; i < space->count; i++) {
		for (int k = 0; k < space->ladders[i].count; k++)
			free(space->ladders[i].rungs[k]);
		free(space->ladders[i].rungs);
	}
	free(space->ladders);
	*space = (struct tl_space){.count = 0};
}

const char *tl_space_value(const struct tl_space *space, size_t axis, int rung)
{
	return rung == TL_SPACE_OWN ? NULL : space->ladders[axis].rungs[rung];
}

double tl_space_place(const struct tl_ladder *ladder, int rung)
{
	return (double)rung / (ladder->count - 1);
}

int tl_space_rung(const struct tl_ladder *ladder, double place)
{
	double clamped = place < 0 ? 0 : (place > 1 ? 1 : place);

	return (int)round(clamped * (ladder->count - 1));
}

int tl_space_near(const struct tl_ladder *ladder, const char *own)
{
	double value, best = (double)INFINITY;
	int near = TL_SPACE_OWN;
	char *unit;

	if (!own)
		return TL_SPACE_OWN;
	for (int i = 0; i < ladder->count; i++)
		if (strcmp(ladder->rungs[i], own) == 0)
			return i;
	value = strtod(own, &unit);
	if (!ladder->ordered || unit == own)
		return TL_SPACE_OWN;
	for (int i = 0; i < ladder->count; i++) {
		char *end;
		double distance = fabs(strtod(ladder->rungs[i], &end) - value);

		if (strcmp(end, unit) == 0 && distance < best) {
			best = distance;
			near = i;
		}
	}
	return near;
}
