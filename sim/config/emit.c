/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Writes the structs as YAML by the schema: the effective configuration. */
#include "sim/config/schema.h"

#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_unit sizes[] = {
    {"TiB", 1024 * TL_GIB},
    {"TB", INT64_C(1000000000000)},
    {"GiB", TL_GIB},
    {"GB", INT64_C(1000000000)},
    {"MiB", TL_MIB},
    {"MB", INT64_C(1000000)},
    {"KiB", TL_KIB},
    {"kB", INT64_C(1000)},
    {"B", 1},
};

static const char *exact(const struct tl_unit *units, size_t count, int64_t value, char *buffer,
                         size_t size)
{
	size_t i = 0;

	while (i + 1 < count && value % units[i].factor != 0)
		i++;
	(void)snprintf(buffer, size, "%lld%s", (long long)(value / units[i].factor), units[i].name);
	return buffer;
}

const char *tl_exact_duration(int64_t ns, char *buffer, size_t size)
{
	if (ns == 0)
		(void)snprintf(buffer, size, "0s");
	else
		(void)exact(tl_duration_units, TL_DURATION_UNITS, ns, buffer, size);
	return buffer;
}

const char *tl_exact_size(int64_t bytes, char *buffer, size_t size)
{
	if (bytes == 0)
		(void)snprintf(buffer, size, "0B");
	else
		(void)exact(sizes, sizeof sizes / sizeof sizes[0], bytes, buffer, size);
	return buffer;
}

const char *tl_exact_milli(int64_t milli, char *buffer, size_t size)
{
	int n = snprintf(buffer, size, "%lld.%03lld", (long long)(milli / 1000),
	                 (long long)(milli % 1000));

	while (n > 0 && buffer[n - 1] == '0')
		buffer[--n] = '\0';
	if (n > 0 && buffer[n - 1] == '.')
		buffer[n - 1] = '\0';
	return buffer;
}

const char *tl_exact_double(double value, char *buffer, size_t size)
{
	for (int digits = 6; digits <= 17; digits++) {
		(void)snprintf(buffer, size, "%.*g", digits, value);
		if (!(strtod(buffer, NULL) < value) && !(strtod(buffer, NULL) > value))
			break;
	}
	return buffer;
}

/* Texts that need no quotes: of harmless characters, and no word that YAML reads otherwise. */
static bool is_plain(const char *text)
{
	static const char *const words[] = {"null", "Null", "NULL", "true", "false"};
	static const char harmless[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/+-";

	if (text[0] == '\0' || text[0] == '-' || text[strspn(text, harmless)] != '\0')
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(text, words[i]) == 0)
			return false;
	return true;
}

void tl_emit_text(FILE *out, const char *text)
{
	if (is_plain(text)) {
		(void)fputs(text, out);
		return;
	}
	(void)fputc('"', out);
	for (const char *p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c == '"' || c == '\\')
			(void)fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(out, "\\x%02x", c);
		else
			(void)fputc(c, out);
	}
	(void)fputc('"', out);
}

static int64_t load_int(const void *field, size_t width)
{
	if (width == sizeof(bool))
		return *(const bool *)field;
	if (width == sizeof(int32_t))
		return *(const int32_t *)field;
	return *(const int64_t *)field;
}

static void emit_integer(const struct tl_config_key *key, const void *field, FILE *out)
{
	int64_t value = load_int(field, key->width);
	char text[64];

	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++)
		if (key->words[i].value == value) {
			(void)fputs(key->words[i].word, out);
			return;
		}
	switch (key->type) {
	case TL_KEY_BOOL:
		(void)fputs(value ? "true" : "false", out);
		break;
	case TL_KEY_DURATION:
		(void)fputs(tl_exact_duration(value, text, sizeof text), out);
		break;
	case TL_KEY_SIZE:
		(void)fputs(tl_exact_size(value, text, sizeof text), out);
		break;
	case TL_KEY_BANDWIDTH:
		(void)fprintf(out, "%s/s", tl_exact_size(value, text, sizeof text));
		break;
	case TL_KEY_SHARE:
	case TL_KEY_FACTOR:
		(void)fputs(tl_exact_milli(value, text, sizeof text), out);
		break;
	case TL_KEY_CHOICE:
		(void)fputs(tl_choice_name(key->choices, value - key->base, text, sizeof text),
		            out);
		break;
	default:
		(void)fprintf(out, "%lld", (long long)value);
		break;
	}
}

/* A rate is one a second: the unit is said for whoever reads it. */
static void emit_number(const struct tl_config_key *key, double value, FILE *out)
{
	char text[40];

	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++)
		if (!(value < (double)key->words[i].value) &&
		    !(value > (double)key->words[i].value)) {
			(void)fputs(key->words[i].word, out);
			return;
		}
	(void)fprintf(out, "%s%s", tl_exact_double(value, text, sizeof text),
	              key->type == TL_KEY_RATE ? "/s" : "");
}

static void emit_section(const struct tl_section *section, const void *base, unsigned indent,
                         bool element, FILE *out);

void tl_list_emit(const struct tl_section *section, const void *elements, size_t count,
                  unsigned indent, FILE *out)
{
	if (count == 0) {
		(void)fputs(" []\n", out);
		return;
	}
	(void)fputc('\n', out);
	for (size_t i = 0; i < count; i++) {
		const void *element = (const char *)elements + i * section->size;
		const struct tl_tree *node = *(const struct tl_tree *const *)element;

		emit_section(tl_section_variant(section, node), element, indent + 4, true, out);
	}
}

/* What follows `name:`. */
static void emit_value(const struct tl_config_key *key, const void *base, unsigned indent,
                       FILE *out)
{
	const void *field = (const char *)base + key->offset;

	switch (key->type) {
	case TL_KEY_CUSTOM:
		key->custom->emit(key, field, indent, out);
		return;
	case TL_KEY_LIST:
		tl_list_emit(
		    key->section, *(char *const *)field,
		    *(const size_t *)(const void *)((const char *)base + key->count_offset), indent,
		    out);
		return;
	case TL_KEY_MAP:
		(void)fputc('\n', out);
		tl_section_emit(key->section, field, indent + 2, out);
		return;
	default:
		break;
	}
	(void)fputc(' ', out);
	if (key->type == TL_KEY_NAME)
		tl_emit_text(out, field);
	else if (key->type == TL_KEY_TEXT)
		tl_emit_text(out, *(const char *const *)field);
	else if (key->type == TL_KEY_NUMBER || key->type == TL_KEY_RATE)
		emit_number(key, *(const double *)field, out);
	else
		emit_integer(key, field, out);
	(void)fputc('\n', out);
}

/* The first key of a list's element stands behind its dash. */
static void emit_section(const struct tl_section *section, const void *base, unsigned indent,
                         bool element, FILE *out)
{
	for (size_t i = 0; i < section->count; i++) {
		const struct tl_config_key *key = &section->keys[i];

		if (section->applies && !section->applies(key, base))
			continue;
		if (element && i == 0)
			(void)fprintf(out, "%*s- %s:", (int)indent - 2, "", key->name);
		else
			(void)fprintf(out, "%*s%s:", (int)indent, "", key->name);
		emit_value(key, base, indent, out);
	}
	if (section->emit_other)
		section->emit_other(base, indent, out);
}

void tl_section_emit(const struct tl_section *section, const void *base, unsigned indent, FILE *out)
{
	emit_section(section, base, indent, false, out);
}
