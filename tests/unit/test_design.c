/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "analysis/design.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of an axis, joined by blanks. */
static const char *values_of(const char *text)
{
	static char joined[4096];
	static struct tl_error error;
	struct tl_axis axis;
	size_t used = 0;

	joined[0] = '\0';
	if (tl_axis_parse("--vary", text, &axis, &error) != TL_OK)
		return error.message;
	for (size_t i = 0; i < axis.count && used < sizeof joined - 80; i++)
		used += (size_t)snprintf(joined + used, sizeof joined - used, "%s%s", i ? " " : "",
		                         axis.values[i]);
	tl_axis_fini(&axis);
	return joined;
}

Test(design, ranges_are_exact)
{
	cr_expect_str_eq(values_of("k=1.0:1.5:0.05"),
	                 "1 1.05 1.1 1.15 1.2 1.25 1.3 1.35 1.4 1.45 1.5");
	cr_expect_str_eq(values_of("k=0.1:0.7:0.1"), "0.1 0.2 0.3 0.4 0.5 0.6 0.7");
	cr_expect_str_eq(values_of("k=24:32:4"), "24 28 32");
	cr_expect_str_eq(values_of("k=1:2:0.4"), "1 1.4 1.8");
	cr_expect_str_eq(values_of("k=3:1:-1"), "3 2 1");
	cr_expect_str_eq(values_of("k=-0.05:0.05:0.05"), "-0.05 0 0.05");
	cr_expect_str_eq(values_of("k=1d:7d:3d"), "1d 4d 7d");
	cr_expect_str_eq(values_of("k=5:5:1"), "5");
	cr_expect_str_eq(values_of("k=0.5h:1h:0.25h"), "0.5h 0.75h 1h");
	cr_expect_str_eq(values_of("k=999999999999:1000000000001:1"),
	                 "999999999999 1000000000000 1000000000001");
}

Test(design, lists_split_at_the_outer_commas)
{
	cr_expect_str_eq(values_of("policy.place=topology,fgd,best-fit"), "topology fgd best-fit");
	cr_expect_str_eq(values_of("k={use: a, b: [1,2]},c"), "{use: a, b: [1,2]} c");
	cr_expect_str_eq(values_of("k=\"a,b\",'c,d',\"e\\\",f\""), "\"a,b\" 'c,d' \"e\\\",f\"");
	cr_expect_str_eq(values_of("k=4x8:cpus=96"), "4x8:cpus=96");
	cr_expect_str_eq(values_of("workload[0].demand=1.3"), "1.3");
	cr_expect_str_eq(values_of("k=1:2:3:4"), "1:2:3:4");
	cr_expect_str_eq(values_of("k=1e5,2"), "1e5 2");
}

static void refused(const char *text, const char *words)
{
	struct tl_error error = TL_ERROR_INIT;
	struct tl_axis axis;

	cr_assert_eq(tl_axis_parse("--vary", text, &axis, &error), TL_E_USAGE, "%s", text);
	cr_expect(strstr(error.message, words) != NULL, "%s: %s", text, error.message);
}

Test(design, what_never_ends_is_refused)
{
	refused("k=1:2:0", "never ends");
	refused("k=1:2:-0.1", "never ends");
	refused("k=2:1:0.1", "never ends");
	refused("k=1:2:0.00", "never ends");
	refused("k=0:1:0.000001", "1000001 values");
	refused("k=0:999999999999999:1", "values");
	refused("k=0:999999999999999:0.00000000000001", "too many digits");
	refused("k=2:1", "LOW:HIGH");
	refused("k=1d:2h:1d", "one unit");
	refused("k=", "empty");
	refused("k=a,,b", "empty");
	refused("k=a,", "empty");
	refused("k=a,b,a", "twice");
	refused("=1", "KEY=VALUE");
	refused("k", "KEY=VALUE");
	refused("", "KEY=VALUE");
}

/* A design of axes: cells joined by `;`, the values of one by blanks. */
static const char *cells_of(const char *design, const char *const *axes_text, size_t count,
                            const char *const *own)
{
	static char joined[4096];
	struct tl_error error = TL_ERROR_INIT;
	struct tl_axis axes[4];
	struct tl_design made;
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		cr_assert_eq(tl_axis_parse("--vary", axes_text[i], &axes[i], &error), TL_OK, "%s",
		             error.message);
	joined[0] = '\0';
	if (tl_design_of_axes(design, axes, count, own, &made, &error) != TL_OK) {
		snprintf(joined, sizeof joined, "%s", error.message);
	} else {
		for (size_t cell = 0; cell < made.cell_count; cell++) {
			for (size_t key = 0; key < count && used < sizeof joined - 99; key++) {
				const char *value = tl_design_value(&made, cell, key);

				used +=
				    (size_t)snprintf(joined + used, sizeof joined - used, "%s%s",
				                     key ? " " : "", value ? value : "-");
			}
			used += (size_t)snprintf(joined + used, sizeof joined - used, ";");
		}
		tl_design_fini(&made);
	}
	for (size_t i = 0; i < count; i++)
		tl_axis_fini(&axes[i]);
	return joined;
}

Test(design, a_grid_is_every_combination)
{
	const char *const two[] = {"a=1:2:1", "b=x,y,z"};

	cr_expect_str_eq(cells_of(NULL, two, 2, NULL), "1 x;1 y;1 z;2 x;2 y;2 z;");
	cr_expect_str_eq(cells_of("grid", two, 1, NULL), "1;2;");
	cr_expect_str_eq(cells_of("grid", two, 0, NULL), ";");
}

Test(design, one_at_a_time_leaves_the_others)
{
	const char *const two[] = {"a=1:3:1", "b=x,y"};
	const char *const own[] = {"2", NULL};

	cr_expect_str_eq(cells_of("one-at-a-time", two, 2, own), "2 -;1 -;3 -;2 x;2 y;");
}

Test(design, sobol_fills_the_space)
{
	const char *const axes_text[] = {"a=0:9", "b=0.0:1.0", "c=x,y"};
	struct tl_error error = TL_ERROR_INIT;
	size_t whole[10] = {0}, lower = 0, x = 0;
	struct tl_design made;
	struct tl_axis axes[3];

	for (size_t i = 0; i < 3; i++)
		cr_assert_eq(tl_axis_parse("--vary", axes_text[i], &axes[i], &error), TL_OK);
	cr_assert_eq(tl_design_of_axes("sobol:1000", axes, 3, NULL, &made, &error), TL_OK, "%s",
	             error.message);
	cr_assert_eq(made.cell_count, 1000);
	for (size_t cell = 0; cell < made.cell_count; cell++) {
		int number = atoi(tl_design_value(&made, cell, 0));

		cr_assert(number >= 0 && number <= 9);
		whole[number]++;
		lower += strtod(tl_design_value(&made, cell, 1), NULL) < 0.25;
		x += strcmp(tl_design_value(&made, cell, 2), "x") == 0;
	}
	/* Far more even than chance, which would stray by about 10 (one deviation). */
	for (int i = 0; i < 10; i++)
		cr_expect(whole[i] >= 96 && whole[i] <= 104, "%d: %zu", i, whole[i]);
	cr_expect(lower >= 248 && lower <= 252, "%zu", lower);
	cr_expect(x >= 498 && x <= 502, "%zu", x);
	for (size_t i = 0; i < 3; i++)
		tl_axis_fini(&axes[i]);
	tl_design_fini(&made);
}

Test(design, bad_designs_are_refused)
{
	const char *const interval[] = {"a=1.0:2.0"}, *const twice[] = {"a=1", "a=2"};
	const char *const seed[] = {"seed=1,2"}, *const large[] = {"a=1:1000:1", "b=1:1000:1"};
	const char *const own[] = {NULL, NULL};

	cr_expect(strstr(cells_of("grid", interval, 1, own), "without a step"));
	cr_expect(strstr(cells_of("one-at-a-time", interval, 1, own), "without a step"));
	cr_expect(strstr(cells_of("grid", twice, 2, own), "given twice"));
	cr_expect(strstr(cells_of("grid", seed, 1, own), "--seeds"));
	cr_expect(strstr(cells_of("grid", large, 2, own), "1e+06 cells"));
	cr_expect(strstr(cells_of("square", large, 2, own), "wanted grid, one-at-a-time"));
	cr_expect(strstr(cells_of("sobol:0", large, 2, own), "number of cells"));
	cr_expect(strstr(cells_of("sobol:x", large, 2, own), "number of cells"));
	cr_expect(strstr(cells_of("sobol:99999999999999999999", large, 2, own), "number of cells"));
	cr_expect(strstr(cells_of("sobol:3", large, 0, own), "wanted an axis"));
}

Test(design, seeds)
{
	struct tl_error error = TL_ERROR_INIT;
	const char *const bad[] = {"",     "a",       "1..",       "..3",
	                           "3..1", "1,,2",    "1,",        "1.5",
	                           "-1",   "1..2..3", "1..200000", "99999999999999999999",
	                           "1,1",  "1..3,2"};
	struct tl_design design;

	tl_design_init(&design, "grid", NULL, 0);
	cr_assert_eq(tl_design_seeds_parse(&design, "7,1..3,9223372036854775807", &error), TL_OK);
	cr_assert_eq(design.seed_count, 5);
	cr_expect_eq(design.seeds[0], 7);
	cr_expect_eq(design.seeds[3], 3);
	cr_expect_eq(design.seeds[4], INT64_MAX);
	tl_design_fini(&design);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tl_design_init(&design, "grid", NULL, 0);
		cr_expect_eq(tl_design_seeds_parse(&design, bad[i], &error), TL_E_USAGE, "%s",
		             bad[i]);
		tl_design_fini(&design);
	}
}

static struct tl_design made(const char *const *keys, size_t key_count, const char *const *values,
                             size_t cell_count, uint64_t seeds)
{
	struct tl_design design;

	tl_design_init(&design, "grid", keys, key_count);
	for (size_t i = 0; i < cell_count; i++)
		(void)tl_design_add(&design, values + i * key_count);
	for (uint64_t seed = 1; seed <= seeds; seed++)
		tl_design_seed(&design, seed);
	return design;
}

Test(design, a_part_has_the_same_keys_and_no_run_beside)
{
	static const char *const keys[] = {"a", "b"}, *const other[] = {"b", "a"};
	static const char *const values[] = {"1", "x", "2", "x", "1", NULL};
	struct tl_design whole = made(keys, 2, values, 3, 3);
	struct tl_design part = made(keys, 2, values + 2, 2, 2);
	struct tl_design turned = made(other, 2, values, 1, 1);
	struct tl_design narrow = made(keys, 1, values, 1, 1);
	struct tl_design later = made(keys, 2, values, 1, 4);

	cr_expect(tl_design_covers(&whole, &whole));
	cr_expect(tl_design_covers(&whole, &part));
	cr_expect_not(tl_design_covers(&part, &whole));
	cr_expect_not(tl_design_covers(&whole, &turned));
	cr_expect_not(tl_design_covers(&whole, &narrow));
	cr_expect_not(tl_design_covers(&whole, &later));
	tl_design_fini(&whole);
	tl_design_fini(&part);
	tl_design_fini(&turned);
	tl_design_fini(&narrow);
	tl_design_fini(&later);
}
