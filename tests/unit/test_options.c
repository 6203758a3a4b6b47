/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's settings against a module's own option table. */
#include "sim/base/units.h"
#include "sim/plane/module.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAST, DEPTH, RATIO, GRACE, ROOM, SHARE, MODE, LABEL, OPTIONS };

static const struct tl_option table[OPTIONS] = {
    [FAST] = {.name = "fast", .type = TL_OPTION_BOOL, .standard = "false"},
    [DEPTH] = {.name = "depth", .type = TL_OPTION_INT, .standard = "8", .min = 1, .max = 64},
    [RATIO] = {.name = "ratio", .type = TL_OPTION_REAL, .standard = "0.8", .max = 1},
    [GRACE] = {.name = "grace", .type = TL_OPTION_DURATION, .standard = "30s", .max = 60e9},
    [ROOM] = {.name = "room", .type = TL_OPTION_SIZE, .standard = "1GiB", .max = 1099511627776.0},
    [SHARE] = {.name = "share", .type = TL_OPTION_SHARE, .standard = "0.5", .min = 1, .max = 1000},
    [MODE] = {.name = "mode",
              .type = TL_OPTION_CHOICE,
              .standard = "soft",
              .choices = "hard|soft|no"},
    [LABEL] = {.name = "label", .type = TL_OPTION_TEXT, .standard = "none"},
};
static struct tl_module module;
static struct tl_option_value *values;
static struct tl_error error;

static void setup(void)
{
	module = (struct tl_module){.name = "probe",
	                            .options = table,
	                            .option_count = OPTIONS,
	                            .option_stride = sizeof(struct tl_option)};
	values = NULL;
	error = TL_ERROR_INIT;
}

static void teardown(void)
{
	free(values);
}

TestSuite(options, .init = setup, .fini = teardown);

static char names[2][32], texts[2][64];

static enum tl_status set(const char *name, const char *value)
{
	struct tl_setting setting = {.name = names[0], .value = texts[0], .line = 12, .column = 5};

	strncpy(names[0], name, sizeof names[0] - 1);
	strncpy(texts[0], value, sizeof texts[0] - 1);
	return tl_module_options(&module, &setting, 1, "s.yaml", &values, &error);
}

Test(options, defaults_fill_every_row)
{
	cr_assert_eq(tl_module_options(&module, NULL, 0, "s.yaml", &values, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(values[FAST].i, 0);
	cr_assert_eq(values[DEPTH].i, 8);
	cr_assert(fabs(values[RATIO].f - 0.8) < 1e-15);
	cr_assert_eq(values[GRACE].i, 30 * TL_NS_PER_S);
	cr_assert_eq(values[ROOM].i, TL_GIB);
	cr_assert_eq(values[SHARE].i, 500);
	cr_assert_eq(values[MODE].i, 1);
	cr_assert_str_eq(values[LABEL].text, "none");
}

Test(options, a_flag_is_named_in_place_of_the_file)
{
	struct tl_setting setting = {.name = (char[]){"depth"},
	                             .value = (char[]){"many"},
	                             .flag = (char[]){"--set policy.depth"}};

	cr_assert_eq(tl_module_options(&module, &setting, 1, "s.yaml", &values, &error),
	             TL_E_USAGE);
	cr_assert_str_eq(error.file, "--set policy.depth");
	cr_assert_eq(error.line, 0);
	cr_assert_not_null(strstr(error.message, "option `depth`: got `many`"));
}

Test(options, settings_replace_defaults_whatever_their_order)
{
	struct tl_setting settings[] = {{.name = (char[]){"mode"}, .value = (char[]){"no"}},
	                                {.name = (char[]){"fast"}, .value = (char[]){"yes"}},
	                                {.name = (char[]){"grace"}, .value = (char[]){"1min"}},
	                                {.name = (char[]){"share"}, .value = (char[]){"1000m"}}};

	cr_assert_eq(tl_module_options(&module, settings, 4, "s.yaml", &values, &error), TL_OK,
	             "%s", error.message);
	cr_assert_eq(values[MODE].i, 2);
	cr_assert_eq(values[FAST].i, 1);
	cr_assert_eq(values[GRACE].i, TL_NS_PER_MIN);
	cr_assert_eq(values[SHARE].i, 1000);
	cr_assert_eq(values[DEPTH].i, 8);
}

Test(options, what_is_refused_says_where_what_and_what_was_wanted)
{
	static const struct {
		const char *name, *value, *wanted;
	} rows[] = {
	    {"speed", "1", "wanted one of fast, depth"},
	    {"Fast", "true", "got option `Fast`; did you mean `fast`?"},
	    {"fast", "1", "wanted true or false"},
	    {"fast", "", "wanted true or false"},
	    {"depth", "0", "wanted 1 to 64"},
	    {"depth", "65", "wanted 1 to 64"},
	    {"depth", "8.5", "`depth`"},
	    {"depth", "8 ", "`depth`"},
	    {"ratio", "1.0001", "wanted 0 to 1"},
	    {"ratio", "-0.1", "wanted 0 to 1"},
	    {"ratio", "nan", "`ratio`"},
	    {"grace", "61s", "wanted"},
	    {"grace", "-1s", "`grace`"},
	    {"grace", "30", "`grace`"},
	    {"room", "2TiB", "wanted"},
	    {"room", "much", "`room`"},
	    {"share", "0", "wanted 0.001 to 1"},
	    {"share", "1.5", "wanted 0.001 to 1"},
	    {"mode", "har", "wanted one of hard|soft|no"},
	    {"mode", "hard|soft", "wanted one of"},
	    {"mode", "", "wanted one of"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		error = TL_ERROR_INIT;
		cr_assert_eq(set(rows[i].name, rows[i].value), TL_E_CONFIG, "%s: %s was taken",
		             rows[i].name, rows[i].value);
		cr_assert_not_null(strstr(error.message, rows[i].wanted), "%s: %s says: %s",
		                   rows[i].name, rows[i].value, error.message);
		cr_assert_str_eq(error.file, "s.yaml");
		cr_assert(error.line == 12 && error.column == 5);
		cr_assert_null(values, "nothing is handed out on failure");
	}
}

Test(options, a_module_without_options_takes_none)
{
	module.option_count = 0;
	cr_assert_eq(set("depth", "1"), TL_E_CONFIG);
	cr_assert_not_null(strstr(error.message, "wanted none"), "%s", error.message);
	cr_assert_eq(tl_module_options(&module, NULL, 0, NULL, &values, &error), TL_OK);
}

Test(options, a_default_out_of_the_module_s_own_range_is_refused)
{
	static const struct tl_option bad = {
	    .name = "depth", .type = TL_OPTION_INT, .standard = "0", .min = 1, .max = 64};

	module.options = &bad;
	module.option_count = 1;
	cr_assert_eq(tl_module_options(&module, NULL, 0, "s.yaml", &values, &error), TL_E_CONFIG);
	cr_assert_not_null(strstr(error.message, "probe: option `depth`: got 0"), "%s",
	                   error.message);
}

Test(options, rows_are_walked_by_the_module_s_stride)
{
	struct wide {
		struct tl_option option;
		uint64_t added_by_a_later_minor[3];
	};
	static const struct wide wide[2] = {
	    {.option = {.name = "a", .type = TL_OPTION_INT, .standard = "1"},
	     .added_by_a_later_minor = {7, 7, 7}},
	    {.option = {.name = "b", .type = TL_OPTION_INT, .standard = "2"}}};

	module.options = &wide[0].option;
	module.option_count = 2;
	module.option_stride = sizeof(struct wide);
	cr_assert_eq(set("b", "-5"), TL_OK, "%s", error.message);
	cr_assert_eq(values[0].i, 1);
	cr_assert_eq(values[1].i, -5, "no range stated, none checked");
}

Test(options, a_long_list_of_options_is_cut_in_the_message_and_never_overrun)
{
	enum { MANY = 200 };
	static struct tl_option many[MANY];

	for (size_t i = 0; i < MANY; i++)
		many[i] = (struct tl_option){.name = "an-option-with-a-rather-long-name",
		                             .type = TL_OPTION_INT,
		                             .standard = "1"};
	module.options = many;
	module.option_count = MANY;
	cr_assert_eq(set("x", "1"), TL_E_CONFIG);
	cr_assert_lt(strlen(error.message), sizeof error.message);
}
