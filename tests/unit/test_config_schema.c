/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The schema table itself: complete, and every range is kept at both ends. */
#include "sim/base/arena.h"
#include "sim/base/units.h"
#include "sim/config/config.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef void visit(const struct tl_section *section, const struct tl_config_key *key);

static void each_key(const struct tl_section *section, visit *what)
{
	for (size_t i = 0; i < section->count; i++) {
		what(section, &section->keys[i]);
		if (section->keys[i].section)
			each_key(section->keys[i].section, what);
	}
	for (size_t i = 0; i < TL_SECTION_VARIANTS && section->variants[i].key; i++)
		each_key(section->variants[i].section, what);
}

static void is_documented(const struct tl_section *section, const struct tl_config_key *key)
{
	const bool quantity = key->type == TL_KEY_DURATION || key->type == TL_KEY_SIZE ||
	                      key->type == TL_KEY_BANDWIDTH || key->type == TL_KEY_SHARE;

	cr_expect(key->help && strlen(key->help) > 5 && strlen(key->help) < 200, "%s", key->name);
	cr_expect(key->help[strlen(key->help) - 1] != '.', "%s: help ends in a full stop",
	          key->name);
	cr_expect(!quantity || key->unit, "%s has no unit", key->name);
	cr_expect_eq(tl_section_find(section, key->name), key, "%s stands twice", key->name);
	cr_expect_eq(key->name[strspn(key->name, "abcdefghijklmnopqrstuvwxyz0123456789_")], '\0',
	             "%s", key->name);
}

Test(config_schema, every_key_is_documented)
{
	each_key(&tl_scenario_section, is_documented);
}

/* Validates one text for one key. */
static enum tl_status try_text(const struct tl_config_key *key, const char *text)
{
	struct tl_arena arena;
	struct tl_error error = TL_ERROR_INIT;
	struct tl_fill fill = {.arena = &arena, .error = &error};
	struct tl_tree *node = NULL;
	const struct tl_source *source;
	_Alignas(16) char field[1024];
	enum tl_status status;

	tl_arena_init(&arena);
	source = tl_source_new(&arena, "test", "", false);
	cr_assert_eq(tl_tree_parse(&arena, source, text, strlen(text), &node, &error), TL_OK);
	memset(field, 0, sizeof field);
	status = tl_key_set(&fill, key, node, field);
	tl_arena_fini(&arena);
	return status;
}

static const char *quantity_text(const struct tl_config_key *key, int64_t value, char *text,
                                 size_t size)
{
	char number[64];

	switch (key->type) {
	case TL_KEY_DURATION:
		return tl_exact_duration(value, text, size);
	case TL_KEY_SIZE:
		return tl_exact_size(value, text, size);
	case TL_KEY_BANDWIDTH:
		(void)snprintf(text, size, "%s/s", tl_exact_size(value, number, sizeof number));
		return text;
	case TL_KEY_SHARE:
	case TL_KEY_FACTOR:
		return tl_exact_milli(value, text, size);
	default:
		(void)snprintf(text, size, "%lld", (long long)value);
		return text;
	}
}

static void keeps_its_range(const struct tl_section *section, const struct tl_config_key *key)
{
	char text[64];

	(void)section;
	switch (key->type) {
	case TL_KEY_INT:
	case TL_KEY_DURATION:
	case TL_KEY_SIZE:
	case TL_KEY_BANDWIDTH:
	case TL_KEY_SHARE:
	case TL_KEY_FACTOR:
		break;
	default:
		return;
	}
	cr_expect_eq(try_text(key, quantity_text(key, key->min, text, sizeof text)), TL_OK,
	             "%s: %s", key->name, text);
	if (key->min > 0)
		cr_expect_neq(try_text(key, quantity_text(key, key->min - 1, text, sizeof text)),
		              TL_OK, "%s: %s", key->name, text);
	if (key->max > 0) {
		cr_expect_eq(try_text(key, quantity_text(key, key->max, text, sizeof text)), TL_OK,
		             "%s: %s", key->name, text);
	}
	if (key->max > 0 && key->max < INT64_MAX) /* past it, the last line below */
		cr_expect_neq(try_text(key, quantity_text(key, key->max + 1, text, sizeof text)),
		              TL_OK, "%s: %s", key->name, text);
	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++)
		cr_expect_eq(try_text(key, key->words[i].word), TL_OK, "%s: %s", key->name,
		             key->words[i].word);
	cr_expect_neq(try_text(key, "-1"), TL_OK, "%s", key->name);
	cr_expect_neq(try_text(key, "nonsense"), TL_OK, "%s", key->name);
	cr_expect_neq(try_text(key, "[1]"), TL_OK, "%s", key->name);
	cr_expect_neq(try_text(key, "{a: 1}"), TL_OK, "%s", key->name);
	cr_expect_neq(try_text(key, "~"), TL_OK, "%s", key->name);
	cr_expect_neq(try_text(key, "99999999999999999999999999"), TL_OK, "%s", key->name);
}

Test(config_schema, every_range_is_kept_at_both_ends)
{
	each_key(&tl_scenario_section, keeps_its_range);
}

static void fits_its_field(const struct tl_section *section, const struct tl_config_key *key)
{
	(void)section;
	if (key->type == TL_KEY_INT || key->type == TL_KEY_FACTOR || key->type == TL_KEY_CHOICE)
		cr_expect(key->width == 8 || key->width == 4 || (key->width == 1 && !key->max),
		          "%s", key->name);
	if (key->type == TL_KEY_DURATION || key->type == TL_KEY_SIZE || key->type == TL_KEY_SHARE ||
	    key->type == TL_KEY_BANDWIDTH || key->type == TL_KEY_NUMBER || key->type == TL_KEY_RATE)
		cr_expect_eq(key->width, 8, "%s", key->name);
	if (key->width == 4 && key->type == TL_KEY_INT)
		cr_expect(key->max > 0 && key->max <= INT32_MAX, "%s", key->name);
}

Test(config_schema, every_value_fits_its_field)
{
	each_key(&tl_scenario_section, fits_its_field);
}

Test(config_schema, exact_texts_read_back)
{
	static const int64_t values[] = {0,
	                                 1,
	                                 999,
	                                 1000,
	                                 1001,
	                                 1024,
	                                 1536000,
	                                 TL_NS_PER_MS,
	                                 90 * TL_NS_PER_S,
	                                 TL_GIB,
	                                 1000000000,
	                                 132 * TL_NS_PER_MIN,
	                                 INT64_MAX - 1};
	char text[64];

	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
		int64_t back = -1;

		cr_expect_eq(
		    tl_parse_duration(tl_exact_duration(values[i], text, sizeof text), &back, NULL),
		    TL_OK, "%s", text);
		cr_expect_eq(back, values[i], "%s", text);
		cr_expect_eq(
		    tl_parse_size(tl_exact_size(values[i], text, sizeof text), &back, NULL), TL_OK,
		    "%s", text);
		cr_expect_eq(back, values[i], "%s", text);
	}
	cr_expect_str_eq(tl_exact_milli(1020, text, sizeof text), "1.02");
	cr_expect_str_eq(tl_exact_milli(8000, text, sizeof text), "8");
	cr_expect_str_eq(tl_exact_milli(0, text, sizeof text), "0");
	cr_expect_str_eq(tl_exact_double(0.1, text, sizeof text), "0.1");
	cr_expect_float_eq(strtod(tl_exact_double(1.0 / 3, text, sizeof text), NULL), 1.0 / 3, 0);
}

Test(config_schema, the_reference_has_a_line_for_every_key)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	size_t rows = 0;

	cr_assert_not_null(out);
	tl_scenario_reference(out);
	cr_assert_eq(fclose(out), 0);
	cr_assert_not_null(strstr(text, "| `checkpoint.interval` | "));
	cr_assert_not_null(strstr(text, "| `workload[].window.start` | "));
	cr_assert_not_null(strstr(text, "| `cluster.groups[].gpus` | "));
	cr_assert_not_null(strstr(text, "| `workload[].service_time.alpha` | "));
	cr_assert_not_null(strstr(text, "| `workload[].curve.launch.factor` | "));
	for (const char *p = text; (p = strstr(p, "\n| `")); p++)
		rows++;
	cr_assert_gt(rows, 90);
	free(text);
}

Test(config_schema, suggestions)
{
	cr_expect_str_eq(tl_suggest_key(&tl_scenario_section, "nmae"), "name");
	cr_expect_str_eq(tl_suggest_key(&tl_scenario_section, "workloads"), "workload");
	cr_expect_str_eq(tl_suggest_key(&tl_scenario_section, "chec"), "checkpoint");
	cr_expect_null(tl_suggest_key(&tl_scenario_section, "xylophone"));
	cr_expect_null(tl_suggest_key(&tl_scenario_section, ""));
	cr_expect_null(
	    tl_suggest_key(&tl_scenario_section,
	                   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}
