/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "results/pack.h"

#include "results/h5.h"

#include <stdlib.h>
#include <string.h>

/* Numbers that are neighbours both in memory and in the file are copied as one. */
struct run {
	size_t from;
	size_t to;
	size_t size;
};

struct text {
	size_t from;
	size_t to;
	size_t size;  /* in memory */
	size_t width; /* in the file */
	size_t column;
};

struct choice {
	size_t from;
	size_t count; /* values below it have a name */
	size_t column;
};

struct place {
	size_t offset;
	size_t size;
};

struct tl_pack {
	char *path;
	char **names; /* of the columns, for messages */
	size_t column_count;
	size_t from_size;
	size_t to_size;
	size_t run_count;
	size_t text_count;
	size_t choice_count;
	struct run *runs;
	struct text *texts;
	struct choice *choices;
	struct place *places;
};

static enum tl_status check_column(const struct tl_table_schema *schema, size_t i, size_t width,
                                   struct tl_error *error)
{
	const struct tl_column *column = &schema->columns[i];
	size_t size = tl_h5_column_size(column);
	const char *name = column->name ? column->name : "";

	if (!name[0] || size == 0 || width > size)
		return tl_error_set(
		    error, TL_E_INTERNAL, NULL, 0, 0,
		    "table %s, column %zu `%s`: got %zu bytes in memory and %zu in the "
		    "file, wanted a name, a size and a file no wider than memory",
		    schema->path, i, name, size, width);
	if (column->offset > schema->row_size || size > schema->row_size - column->offset)
		return tl_error_set(
		    error, TL_E_INTERNAL, NULL, 0, 0,
		    "table %s, column `%s`: got bytes %zu to %zu, wanted them inside "
		    "a row of %zu",
		    schema->path, name, column->offset, column->offset + size, schema->row_size);
	if (column->type == TL_COLUMN_ENUM) {
		size_t count = 0;

		while (column->names && count <= TL_H5_ENUM_MAX && column->names[count])
			count++;
		if (count == 0 || count > TL_H5_ENUM_MAX)
			return tl_error_set(error, TL_E_INTERNAL, NULL, 0, 0,
			                    "table %s, column `%s`: got %zu names, wanted 1 to %d",
			                    schema->path, name, count, TL_H5_ENUM_MAX);
	}
	return TL_OK;
}

static void add_column(struct tl_pack *pack, const struct tl_column *column, size_t i, size_t width)
{
	size_t to = pack->to_size;

	pack->places[i] = (struct place){.offset = to, .size = width};
	pack->to_size += width;
	if (column->type == TL_COLUMN_TEXT) {
		pack->texts[pack->text_count++] = (struct text){.from = column->offset,
		                                                .to = to,
		                                                .size = column->size,
		                                                .width = width,
		                                                .column = i};
		return;
	}
	if (column->type == TL_COLUMN_ENUM) {
		size_t count = 0;

		while (column->names[count])
			count++;
		pack->choices[pack->choice_count++] =
		    (struct choice){.from = column->offset, .count = count, .column = i};
	}
	struct run *last = pack->run_count > 0 ? &pack->runs[pack->run_count - 1] : NULL;
	if (last && last->from + last->size == column->offset && last->to + last->size == to)
		last->size += width;
	else
		pack->runs[pack->run_count++] =
		    (struct run){.from = column->offset, .to = to, .size = width};
}

static enum tl_status allocate(struct tl_pack *pack, const struct tl_table_schema *schema)
{
	size_t count = schema->column_count;

	pack->path = strdup(schema->path);
	pack->names = calloc(count, sizeof(*pack->names));
	pack->runs = calloc(count, sizeof(*pack->runs));
	pack->texts = calloc(count, sizeof(*pack->texts));
	pack->choices = calloc(count, sizeof(*pack->choices));
	pack->places = calloc(count, sizeof(*pack->places));
	if (!pack->path || !pack->names || !pack->runs || !pack->texts || !pack->choices ||
	    !pack->places)
		return TL_E_OS;
	pack->column_count = count;
	for (size_t i = 0; i < count; i++) {
		pack->names[i] = strdup(schema->columns[i].name);
		if (!pack->names[i])
			return TL_E_OS;
	}
	return TL_OK;
}

enum tl_status tl_pack_create(const struct tl_table_schema *schema, const size_t *text_sizes,
                              struct tl_pack **out, struct tl_error *error)
{
	if (!schema->path || schema->column_count == 0 || !schema->columns)
		return tl_error_set(error, TL_E_INTERNAL, NULL, 0, 0,
		                    "table %s: got no columns, wanted at least one",
		                    schema->path ? schema->path : "without a path");
	for (size_t i = 0; i < schema->column_count; i++) {
		size_t width =
		    text_sizes && schema->columns[i].type == TL_COLUMN_TEXT ? text_sizes[i] : 0;
		enum tl_status status = check_column(schema, i, width, error);

		if (status != TL_OK)
			return status;
	}
	struct tl_pack *pack = calloc(1, sizeof(*pack));
	if (!pack || allocate(pack, schema) != TL_OK) {
		tl_pack_destroy(pack);
		return tl_error_set(error, TL_E_OS, NULL, 0, 0, "table %s: out of memory",
		                    schema->path);
	}
	pack->from_size = schema->row_size;
	for (size_t i = 0; i < schema->column_count; i++) {
		const struct tl_column *column = &schema->columns[i];
		size_t width = tl_h5_column_size(column);

		if (column->type == TL_COLUMN_TEXT && text_sizes && text_sizes[i] > 0)
			width = text_sizes[i];
		add_column(pack, column, i, width);
	}
	*out = pack;
	return TL_OK;
}

void tl_pack_destroy(struct tl_pack *pack)
{
	if (!pack)
		return;
	for (size_t i = 0; i < pack->column_count; i++)
		free(pack->names[i]);
	free(pack->path);
	free(pack->names);
	free(pack->runs);
	free(pack->texts);
	free(pack->choices);
	free(pack->places);
	free(pack);
}

size_t tl_pack_row_size(const struct tl_pack *pack)
{
	return pack->to_size;
}

size_t tl_pack_column_size(const struct tl_pack *pack, size_t column)
{
	return pack->places[column].size;
}

size_t tl_pack_column_offset(const struct tl_pack *pack, size_t column)
{
	return pack->places[column].offset;
}

static enum tl_status bad_text(const struct tl_pack *pack, const struct text *text, uint64_t row,
                               size_t length, struct tl_error *error)
{
	return tl_error_set(error, TL_E_INTERNAL, NULL, 0, 0,
	                    "table %s, row %llu, column `%s`: got a text of %zu bytes%s, wanted at "
	                    "most %zu",
	                    pack->path, (unsigned long long)row, pack->names[text->column], length,
	                    length == text->size ? " or more" : "", text->width);
}

static enum tl_status pack_row(const struct tl_pack *pack, const char *from, char *to, uint64_t row,
                               struct tl_error *error)
{
	for (size_t i = 0; i < pack->run_count; i++) {
		const struct run *run = &pack->runs[i];

		memcpy(to + run->to, from + run->from, run->size);
	}
	for (size_t i = 0; i < pack->text_count; i++) {
		const struct text *text = &pack->texts[i];
		size_t length = strnlen(from + text->from, text->size);

		if (length > text->width || length == text->size)
			return bad_text(pack, text, row, length, error);
		memcpy(to + text->to, from + text->from, length);
		memset(to + text->to + length, 0, text->width - length);
	}
	for (size_t i = 0; i < pack->choice_count; i++) {
		const struct choice *choice = &pack->choices[i];
		uint8_t value = *(const uint8_t *)(from + choice->from);

		if (value >= choice->count)
			return tl_error_set(error, TL_E_INTERNAL, NULL, 0, 0,
			                    "table %s, row %llu, column `%s`: got value %u, wanted "
			                    "one below %zu",
			                    pack->path, (unsigned long long)row,
			                    pack->names[choice->column], (unsigned)value,
			                    choice->count);
	}
	return TL_OK;
}

enum tl_status tl_pack_rows(const struct tl_pack *pack, const void *rows, size_t count,
                            uint64_t first, void *packed, struct tl_error *error)
{
	const char *from = rows;
	char *to = packed;

	for (size_t i = 0; i < count; i++) {
		enum tl_status status = pack_row(pack, from, to, first + i, error);

		if (status != TL_OK)
			return status;
		from += pack->from_size;
		to += pack->to_size;
	}
	return TL_OK;
}
