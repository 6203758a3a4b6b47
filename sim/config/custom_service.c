/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys of services that are more than a scalar of one type: short forms, curves, hours,
 * calendars, lists of times, prices. */
#include "sim/base/units.h"
#include "sim/config/config.h"

#include <string.h>

/* ---- a scalar that stands for a map with one key ---- */

static enum tl_status set_short(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, void *base)
{
	const struct tl_config_key *one = tl_section_find(key->section, key->shorthand);
	enum tl_status status;

	if (node->kind == TL_TREE_MAP)
		return tl_section_fill(fill, key->section, node, base);
	status = tl_section_fill(fill, key->section, NULL, base);
	return status == TL_OK ? tl_key_set(fill, one, node, (char *)base + one->offset) : status;
}

static void emit_map(const struct tl_config_key *key, const void *base, unsigned indent, FILE *out)
{
	(void)fputc('\n', out);
	tl_section_emit(key->section, base, indent + 2, out);
}

const struct tl_custom tl_custom_short = {
    .type = "one value or a map of keys", .set = set_short, .emit = emit_map};

/* ---- hours: {0h: 0.3, 8h: 0.5} ---- */

static enum tl_status set_hour(struct tl_fill *fill, const struct tl_tree *map, size_t i,
                               struct tl_hours_config *hours)
{
	const struct tl_tree hour = tl_tree_key_node(&map->keys[i]);
	const struct tl_tree *factor = map->items[i];

	if (tl_parse_duration(hour.text, &hours->at_ns[i], NULL) != TL_OK)
		return tl_fill_refuse(fill, &hour, "a time of the day (such as 8h)");
	if (i == 0 && hours->at_ns[i] != 0)
		return tl_fill_refuse(fill, &hour, "0h first: hours start at zero");
	if (i > 0 && hours->at_ns[i] <= hours->at_ns[i - 1])
		return tl_fill_fault(fill, &hour,
		                     "got `%.60s` after `%.60s`, wanted hours to ascend", hour.text,
		                     map->keys[i - 1].name);
	if (factor->kind != TL_TREE_SCALAR || !factor->plain ||
	    tl_parse_double(factor->text, &hours->points[i].factor, NULL) != TL_OK ||
	    hours->points[i].factor < 0 || hours->points[i].factor > 1000)
		return tl_fill_refuse(fill, factor, "a factor from 0 to 1000");
	hours->points[i].hour = (double)hours->at_ns[i] / (double)TL_NS_PER_HOUR;
	return TL_OK;
}

static enum tl_status set_hours(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, void *field)
{
	struct tl_hours_config *hours = field;
	enum tl_status status = TL_OK;

	if (node->kind != TL_TREE_MAP)
		return tl_fill_refuse(fill, node, key->custom->type);
	hours->count = node->count;
	hours->at_ns = tl_arena_alloc(fill->arena, (node->count + 1) * sizeof *hours->at_ns);
	hours->points = tl_arena_alloc(fill->arena, (node->count + 1) * sizeof *hours->points);
	for (size_t i = 0; i < node->count && status == TL_OK; i++)
		status = set_hour(fill, node, i, hours);
	return status;
}

static void emit_hours(const struct tl_config_key *key, const void *field, unsigned indent,
                       FILE *out)
{
	const struct tl_hours_config *hours = field;
	char at[32], factor[40];

	(void)key;
	(void)indent;
	(void)fputs(" {", out);
	for (size_t i = 0; i < hours->count; i++)
		(void)fprintf(out, "%s%s: %s", i > 0 ? ", " : "",
		              tl_exact_duration(hours->at_ns[i], at, sizeof at),
		              tl_exact_double(hours->points[i].factor, factor, sizeof factor));
	(void)fputs("}\n", out);
}

const struct tl_custom tl_custom_hours = {
    .type = "a map of times and factors", .set = set_hours, .emit = emit_hours};

/* ---- curve: a name, a map, or hours alone ---- */

#define CURVE_WANTED "one of daily|flat|night|season, a map of keys, or hours and factors"

static const struct {
	const char *name, *text;
} curves[] = {
    {"daily", "{}"},
    {"flat", "{peak_trough: 1, weekend: 1}"},
    {"night", "{peak_hour: 8}"},
    {"season", "{launch: {factor: 1.5}}"},
};

/* Keys as if they had been written. */
static enum tl_status fill_from(struct tl_fill *fill, const struct tl_section *section,
                                const char *text, void *base)
{
	const struct tl_source *source = tl_source_new(fill->arena, "(default)", "", true);
	struct tl_tree *map = NULL;
	enum tl_status status =
	    tl_tree_parse(fill->arena, source, text, strlen(text), &map, fill->error);

	return status == TL_OK ? tl_section_fill(fill, section, map, base) : status;
}

static enum tl_status set_curve(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, void *field)
{
	struct tl_curve_config *curve = field;
	enum tl_status status;

	if (node->kind == TL_TREE_MAP && node->count > 0 &&
	    strchr("0123456789", node->keys[0].name[0])) {
		status = fill_from(fill, key->section, "{weekend: 1}", curve);
		return status == TL_OK ? set_hours(fill, tl_section_find(key->section, "hours"),
		                                   node, &curve->hours)
		                       : status;
	}
	if (node->kind == TL_TREE_MAP) {
		status = tl_section_fill(fill, key->section, node, curve);
		return status == TL_OK
		           ? tl_section_applies(fill, key->section, node, curve,
		                                curve->hours.count > 0
		                                    ? "`hours`, which are the whole shape"
		                                    : "a curve without `hours`")
		           : status;
	}
	for (size_t i = 0; node->kind == TL_TREE_SCALAR && i < sizeof curves / sizeof curves[0];
	     i++)
		if (strcmp(node->text, curves[i].name) == 0)
			return fill_from(fill, key->section, curves[i].text, curve);
	return tl_fill_refuse(fill, node, CURVE_WANTED);
}

const struct tl_custom tl_custom_curve = {.type = CURVE_WANTED, .set = set_curve, .emit = emit_map};

/* ---- calendar: a list of events, or a file of one ---- */

static enum tl_status set_calendar(struct tl_fill *fill, const struct tl_config_key *key,
                                   const struct tl_tree *node, void *field)
{
	struct tl_calendar_config *calendar = field;
	void *events = NULL;
	struct tl_tree *file;
	enum tl_status status;

	if (node->kind == TL_TREE_SCALAR && !tl_tree_is_null(node) && node->text[0] != '\0') {
		status =
		    tl_tree_read(fill->arena, tl_path_from(fill->arena, node->source, node->text),
		                 &file, fill->error);
		if (status != TL_OK)
			return status;
		node = file;
	}
	if (node->kind != TL_TREE_LIST)
		return tl_fill_refuse(fill, node, key->custom->type);
	status = tl_list_fill(fill, key->section, node, &events, &calendar->count);
	calendar->events = events;
	return status;
}

/* Whole, so that the effective configuration stands by itself. */
static void emit_calendar(const struct tl_config_key *key, const void *field, unsigned indent,
                          FILE *out)
{
	const struct tl_calendar_config *calendar = field;

	tl_list_emit(key->section, calendar->events, calendar->count, indent, out);
}

const struct tl_custom tl_custom_calendar = {.type = "a list of events, or a file that holds one",
                                             .set = set_calendar,
                                             .emit = emit_calendar};

/* ---- values: [8ms, 10ms] ---- */

static enum tl_status set_values(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	struct tl_values_config *values = field;

	if (node->kind != TL_TREE_LIST)
		return tl_fill_refuse(fill, node, key->custom->type);
	values->count = node->count;
	values->ns = tl_arena_alloc(fill->arena, (node->count + 1) * sizeof *values->ns);
	for (size_t i = 0; i < node->count; i++) {
		const struct tl_tree *item = node->items[i];

		if (item->kind != TL_TREE_SCALAR ||
		    tl_parse_duration(item->text, &values->ns[i], NULL) != TL_OK ||
		    values->ns[i] < 1 || values->ns[i] > TL_SERVICE_MAX_NS)
			return tl_fill_refuse(fill, item, "a duration from 1ns to 1000000s");
	}
	return TL_OK;
}

static void emit_values(const struct tl_config_key *key, const void *field, unsigned indent,
                        FILE *out)
{
	const struct tl_values_config *values = field;
	char text[32];

	(void)key;
	(void)indent;
	(void)fputs(" [", out);
	for (size_t i = 0; i < values->count; i++)
		(void)fprintf(out, "%s%s", i > 0 ? ", " : "",
		              tl_exact_duration(values->ns[i], text, sizeof text));
	(void)fputs("]\n", out);
}

const struct tl_custom tl_custom_values = {
    .type = "a list of durations", .set = set_values, .emit = emit_values};
