/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shorthand of the tables that make up the schema. */
#ifndef TIDELAB_CONFIG_TABLE_H
#define TIDELAB_CONFIG_TABLE_H

#include "sim/base/units.h"
#include "sim/config/schema.h"

#include <stddef.h>

/* clang-format off */
#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define AT(type, member) .offset = offsetof(struct type, member), .width = sizeof(((struct type *)0)->member)
#define LIST_AT(type, member, number) \
	.offset = offsetof(struct type, member), .count_offset = offsetof(struct type, number)
#define SECTION(table) .keys = (table), .count = COUNT(table)
#define DAYS(n) ((n) * TL_NS_PER_DAY)
/* clang-format on */

#endif
