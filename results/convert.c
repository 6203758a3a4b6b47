/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/convert.h"

#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

struct step {
	const struct tl_column *from;
	const struct tl_column *to;
	size_t from_offset;
	size_t from_size;
	size_t choices;
	int16_t map[TL_H5_ENUM_MAX]; /* stored value of an enum to the wanted one; -1: none */
};

struct tl_convert {
	const struct tl_stored *stored;
	const struct tl_table_schema *wanted;
	struct step *steps; /* one a wanted column */
};

static bool is_integer(enum tl_column_type type)
{
	return type != TL_COLUMN_F64 && type != TL_COLUMN_TEXT && type != TL_COLUMN_ENUM;
}

static bool converts(enum tl_column_type from, enum tl_column_type to)
{
	return from == to || (is_integer(from) && (is_integer(to) || to == TL_COLUMN_F64));
}

static const char *type_name(enum tl_column_type type)
{
	static const char *const names[] = {
	    [TL_COLUMN_I64] = "int64",   [TL_COLUMN_U64] = "uint64", [TL_COLUMN_I32] = "int32",
	    [TL_COLUMN_U32] = "uint32",  [TL_COLUMN_U16] = "uint16", [TL_COLUMN_U8] = "uint8",
	    [TL_COLUMN_F64] = "float64", [TL_COLUMN_TEXT] = "text",  [TL_COLUMN_ENUM] = "enum"};

	return names[type];
}

static void map_names(struct step *step)
{
	for (size_t i = 0; i < step->choices; i++) {
		step->map[i] = -1;
		for (int16_t k = 0; step->to->names[k] && k < TL_H5_ENUM_MAX; k++) {
			if (strcmp(step->from->names[i], step->to->names[k]) == 0)
				step->map[i] = k;
		}
	}
}

static enum tl_status plan(struct tl_convert *convert, size_t i, const char *file_name,
                           struct tl_error *error)
{
	const struct tl_stored *stored = convert->stored;
	const struct tl_column *to = &convert->wanted->columns[i];
	struct step *step = &convert->steps[i];
	size_t k = 0;

	while (k < stored->schema.column_count && strcmp(stored->columns[k].name, to->name) != 0)
		k++;
	if (k == stored->schema.column_count)
		return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                    "table %s: got no column `%s`, wanted one", stored->path,
		                    to->name);
	const struct tl_column *from = &stored->columns[k];
	if (!converts(from->type, to->type))
		return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                    "table %s, column `%s`: got %s, wanted %s", stored->path,
		                    to->name, type_name(from->type), type_name(to->type));
	step->from = from;
	step->to = to;
	step->from_offset = stored->places[k].offset;
	step->from_size = stored->places[k].size;
	step->choices = stored->places[k].choices;
	if (to->type == TL_COLUMN_ENUM)
		map_names(step);
	return TL_OK;
}

enum tl_status tl_convert_create(const struct tl_stored *stored,
                                 const struct tl_table_schema *wanted, const char *file_name,
                                 struct tl_convert **out, struct tl_error *error)
{
	struct tl_convert *convert = calloc(1, sizeof(*convert));

	if (convert)
		convert->steps = calloc(wanted->column_count + 1, sizeof(*convert->steps));
	if (!convert || !convert->steps) {
		tl_convert_destroy(convert);
		return tl_error_set(error, TL_E_OS, file_name, 0, 0, "table %s: out of memory",
		                    stored->path);
	}
	convert->stored = stored;
	convert->wanted = wanted;
	for (size_t i = 0; i < wanted->column_count; i++) {
		enum tl_status status = plan(convert, i, file_name, error);

		if (status != TL_OK) {
			tl_convert_destroy(convert);
			return status;
		}
	}
	*out = convert;
	return TL_OK;
}

void tl_convert_destroy(struct tl_convert *convert)
{
	if (!convert)
		return;
	free(convert->steps);
	free(convert);
}

/* Wide enough for every integer column, so that a value is compared before it is cut. */
static tl_i128 load_integer(enum tl_column_type type, const void *from)
{
	union {
		int64_t i64;
		uint64_t u64;
		int32_t i32;
		uint32_t u32;
		uint16_t u16;
		uint8_t u8;
	} value;

	switch (type) {
	case TL_COLUMN_I64:
		memcpy(&value.i64, from, sizeof(value.i64));
		return value.i64;
	case TL_COLUMN_U64:
		memcpy(&value.u64, from, sizeof(value.u64));
		return value.u64;
	case TL_COLUMN_I32:
		memcpy(&value.i32, from, sizeof(value.i32));
		return value.i32;
	case TL_COLUMN_U32:
		memcpy(&value.u32, from, sizeof(value.u32));
		return value.u32;
	case TL_COLUMN_U16:
		memcpy(&value.u16, from, sizeof(value.u16));
		return value.u16;
	default:
		memcpy(&value.u8, from, sizeof(value.u8));
		return value.u8;
	}
}

static bool store_integer(tl_i128 value, enum tl_column_type type, void *to)
{
	static const struct {
		int64_t least;
		uint64_t most;
	} limits[] = {[TL_COLUMN_I64] = {INT64_MIN, INT64_MAX}, [TL_COLUMN_U64] = {0, UINT64_MAX},
	              [TL_COLUMN_I32] = {INT32_MIN, INT32_MAX}, [TL_COLUMN_U32] = {0, UINT32_MAX},
	              [TL_COLUMN_U16] = {0, UINT16_MAX},        [TL_COLUMN_U8] = {0, UINT8_MAX}};

	if (value < limits[type].least || value > limits[type].most)
		return false;
	uint64_t bits = (uint64_t)value;
	uint32_t bits32 = (uint32_t)bits;
	uint16_t bits16 = (uint16_t)bits;
	uint8_t bits8 = (uint8_t)bits;
	switch (type) {
	case TL_COLUMN_I64:
	case TL_COLUMN_U64:
		memcpy(to, &bits, sizeof(bits));
		break;
	case TL_COLUMN_I32:
	case TL_COLUMN_U32:
		memcpy(to, &bits32, sizeof(bits32));
		break;
	case TL_COLUMN_U16:
		memcpy(to, &bits16, sizeof(bits16));
		break;
	default:
		memcpy(to, &bits8, sizeof(bits8));
		break;
	}
	return true;
}

static enum tl_status bad_value(const struct tl_convert *convert, const char *file_name,
                                const struct step *step, uint64_t row, const char *from,
                                struct tl_error *error)
{
	const char *path = convert->stored->path;
	const char *name = step->to->name;
	unsigned long long number = row;

	switch (step->to->type) {
	case TL_COLUMN_TEXT:
		return tl_error_set(
		    error, TL_E_DATA, file_name, 0, 0,
		    "table %s, row %llu, column `%s`: got a text of %zu bytes, wanted "
		    "at most %zu",
		    path, number, name, strnlen(from, step->from_size), step->to->size - 1);
	case TL_COLUMN_ENUM: {
		unsigned value = *(const uint8_t *)from;

		if (value < step->choices)
			return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
			                    "table %s, row %llu, column `%s`: got `%s`, which this "
			                    "version does not know",
			                    path, number, name, step->from->names[value]);
		return tl_error_set(error, TL_E_DATA, file_name, 0, 0,
		                    "table %s, row %llu, column `%s`: got the value %u, wanted one "
		                    "below %zu",
		                    path, number, name, value, step->choices);
	}
	default:
		return tl_error_set(
		    error, TL_E_DATA, file_name, 0, 0,
		    "table %s, row %llu, column `%s`: got a number that does not fit, "
		    "wanted one of type %s",
		    path, number, name, type_name(step->to->type));
	}
}

static bool convert_value(const struct step *step, const char *from, char *to)
{
	enum tl_column_type type = step->to->type;

	if (type == TL_COLUMN_TEXT) {
		size_t length = strnlen(from, step->from_size);

		if (length >= step->to->size)
			return false;
		memcpy(to, from, length); /* the row is zeroed: what follows is the NUL */
		return true;
	}
	if (type == TL_COLUMN_ENUM) {
		uint8_t value = *(const uint8_t *)from;

		if (value >= step->choices || step->map[value] < 0)
			return false;
		*(uint8_t *)to = (uint8_t)step->map[value];
		return true;
	}
	if (type == step->from->type) {
		memcpy(to, from, step->from_size);
		return true;
	}
	tl_i128 value = load_integer(step->from->type, from);
	if (type == TL_COLUMN_F64) {
		double real = (double)value;

		memcpy(to, &real, sizeof(real));
		return true;
	}
	return store_integer(value, type, to);
}

enum tl_status tl_convert_rows(const struct tl_convert *convert, const char *file_name,
                               const void *from, uint64_t first, size_t count, void *to,
                               struct tl_error *error)
{
	const char *source = from;
	char *target = to;

	memset(to, 0, count * convert->wanted->row_size);
	for (size_t row = 0; row < count; row++) {
		for (size_t i = 0; i < convert->wanted->column_count; i++) {
			const struct step *step = &convert->steps[i];
			const char *value = source + step->from_offset;

			if (!convert_value(step, value, target + step->to->offset))
				return bad_value(convert, file_name, step, first + row, value,
				                 error);
		}
		source += convert->stored->row_size;
		target += convert->wanted->row_size;
	}
	return TL_OK;
}
