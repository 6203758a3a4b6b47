/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/base/intern.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(intern, numbers_by_first_sight)
{
	struct tl_intern intern;

	tl_intern_init(&intern);
	cr_assert_eq(tl_intern_find(&intern, "a"), -1);
	cr_assert_eq(tl_intern_put(&intern, "zulu"), 0);
	cr_assert_eq(tl_intern_put(&intern, "alpha"), 1);
	cr_assert_eq(tl_intern_put(&intern, ""), 2);
	cr_assert_eq(tl_intern_put(&intern, "zulu"), 0);
	cr_assert_eq(tl_intern_find(&intern, "alpha"), 1);
	cr_assert_eq(tl_intern_find(&intern, ""), 2);
	cr_assert_eq(tl_intern_find(&intern, "alph"), -1);
	cr_assert_eq(intern.count, 3);
	cr_assert_str_eq(intern.names[1], "alpha");
	tl_intern_fini(&intern);
	cr_assert_eq(intern.count, 0);
}

Test(intern, keeps_its_own_copy)
{
	struct tl_intern intern;
	char name[] = "first";

	tl_intern_init(&intern);
	tl_intern_put(&intern, name);
	name[0] = 'F';
	cr_assert_str_eq(intern.names[0], "first");
	cr_assert_eq(tl_intern_find(&intern, "First"), -1);
	tl_intern_fini(&intern);
}

Test(intern, many_names)
{
	enum { NAMES = 50000 };
	struct tl_intern intern;
	char name[32];

	tl_intern_init(&intern);
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < NAMES; i++) {
			(void)snprintf(name, sizeof name, "job-%u", i * 7919u);
			cr_assert_eq(tl_intern_put(&intern, name), i);
		}
	for (uint32_t i = 0; i < NAMES; i++)
		cr_assert_eq(tl_intern_find(&intern, intern.names[i]), i);
	cr_assert_eq(tl_intern_find(&intern, "job-1"), -1);
	tl_intern_fini(&intern);
}
