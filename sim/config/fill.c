/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Validates a tree by the schema and fills the structs. */
#include "sim/config/schema.h"
#include "sim/config/scenario.h"

#include "sim/base/assert.h"
#include "sim/base/units.h"

#include <stdarg.h>
#include <string.h>

/* ---- messages ------------------------------------------------------------------- */

size_t tl_fill_enter(struct tl_fill *fill, const char *name)
{
	size_t length = strlen(fill->path);

	(void)snprintf(fill->path + length, sizeof fill->path - length, "%s%.60s",
	               length ? "." : "", name);
	return length;
}

size_t tl_fill_enter_index(struct tl_fill *fill, size_t index)
{
	size_t length = strlen(fill->path);

	(void)snprintf(fill->path + length, sizeof fill->path - length, "[%zu]", index);
	return length;
}

void tl_fill_leave(struct tl_fill *fill, size_t length)
{
	fill->path[length] = '\0';
}

bool tl_flag_names_key(const char *flag, const char *key)
{
	size_t flag_length = strlen(flag), length = strlen(key);

	return flag_length > length && strchr("- ", flag[flag_length - length - 1]) &&
	       strcmp(flag + flag_length - length, key) == 0;
}

static enum tl_status at_place(struct tl_fill *fill, const struct tl_source *source, long line,
                               long column, const char *text)
{
	bool rooted =
	    fill->path[0] != '\0' && !(source->flag && tl_flag_names_key(source->name, fill->path));

	return tl_error_set(fill->error, source->flag ? TL_E_USAGE : TL_E_CONFIG, source->name,
	                    line, column, "%s%s%s", rooted ? fill->path : "", rooted ? ": " : "",
	                    text);
}

enum tl_status tl_fill_fault(struct tl_fill *fill, const struct tl_tree *node, const char *format,
                             ...)
{
	char text[TL_ERROR_MESSAGE_MAX];
	va_list arguments;

	va_start(arguments, format);
	if (vsnprintf(text, sizeof text, format, arguments) < 0)
		text[0] = '\0';
	va_end(arguments);
	return at_place(fill, node->source, node->line, node->column, text);
}

enum tl_status tl_fill_refuse(struct tl_fill *fill, const struct tl_tree *node, const char *wanted)
{
	char got[96];

	return tl_fill_fault(fill, node, "got %s, wanted %s",
	                     tl_tree_describe(node, got, sizeof got), wanted);
}

enum tl_status tl_fill_unknown(struct tl_fill *fill, const struct tl_tree_key *key,
                               const char *near)
{
	char text[200];

	(void)snprintf(text, sizeof text, "unknown key `%.60s`%s%s%s", key->name,
	               near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
	return at_place(fill, key->source, key->line, key->column, text);
}

/* `from 1s to 2h`, appended. */
static void add_range(const struct tl_config_key *key, char *buffer, size_t size)
{
	size_t used = strlen(buffer);
	char low[40], high[40];

	switch (key->type) {
	case TL_KEY_DURATION:
		(void)tl_exact_duration(key->min, low, sizeof low);
		(void)tl_exact_duration(key->max, high, sizeof high);
		break;
	case TL_KEY_SIZE:
	case TL_KEY_BANDWIDTH:
		(void)tl_exact_size(key->min, low, sizeof low);
		(void)tl_exact_size(key->max, high, sizeof high);
		break;
	case TL_KEY_SHARE:
	case TL_KEY_FACTOR:
		(void)tl_exact_milli(key->min, low, sizeof low);
		(void)tl_exact_milli(key->max, high, sizeof high);
		break;
	case TL_KEY_NUMBER:
	case TL_KEY_RATE:
		(void)tl_exact_double(key->low, low, sizeof low);
		(void)tl_exact_double(key->high, high, sizeof high);
		if (key->low < key->high)
			(void)snprintf(buffer + used, size - used, " %s %s and at most %s",
			               key->open_low ? "above" : "of at least", low, high);
		return;
	default:
		(void)snprintf(low, sizeof low, "%lld", (long long)key->min);
		(void)snprintf(high, sizeof high, "%lld", (long long)key->max);
		break;
	}
	if (key->max > 0)
		(void)snprintf(buffer + used, size - used, " from %s to %s", low, high);
	else if (key->min > 0)
		(void)snprintf(buffer + used, size - used, " of at least %s", low);
}

static const char *type_wanted(const struct tl_config_key *key)
{
	switch (key->type) {
	case TL_KEY_NAME:
		return "a name";
	case TL_KEY_TEXT:
		return "a text";
	case TL_KEY_BOOL:
		return "true or false";
	case TL_KEY_INT:
		return "a whole number";
	case TL_KEY_NUMBER:
		return "a number";
	case TL_KEY_RATE:
		return "a rate (such as 80/s, 6/min or a number a second)";
	case TL_KEY_DURATION:
		return "a duration (such as 90s, 5min, 2h, 7d)";
	case TL_KEY_SIZE:
		return "a size (such as 40GiB)";
	case TL_KEY_BANDWIDTH:
		return "bytes a second (such as 10GB/s)";
	case TL_KEY_SHARE:
		return "GPUs (such as 8, 0.5 or 500m)";
	case TL_KEY_FACTOR:
		return "a number of at most three decimals";
	case TL_KEY_CHOICE:
		return "one of ";
	case TL_KEY_MAP:
		return "a map of keys";
	case TL_KEY_LIST:
		return "a list";
	case TL_KEY_CUSTOM:
		return key->custom->type;
	}
	return "";
}

const char *tl_key_wanted(const struct tl_config_key *key, char *buffer, size_t size)
{
	(void)snprintf(buffer, size, "%s%s", type_wanted(key),
	               key->type == TL_KEY_CHOICE ? key->choices : "");
	if (key->type != TL_KEY_CHOICE)
		add_range(key, buffer, size);
	if (key->type == TL_KEY_NAME) {
		size_t used = strlen(buffer);

		(void)snprintf(buffer + used, size - used, " of at most %zu bytes", key->width - 1);
	}
	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++) {
		size_t used = strlen(buffer);

		(void)snprintf(buffer + used, size - used, ", or `%s`", key->words[i].word);
	}
	return buffer;
}

static enum tl_status refuse_value(struct tl_fill *fill, const struct tl_config_key *key,
                                   const struct tl_tree *node)
{
	char wanted[320];

	return tl_fill_refuse(fill, node, tl_key_wanted(key, wanted, sizeof wanted));
}

/* ---- scalars --------------------------------------------------------------------- */

int tl_choice_index(const char *choices, const char *name)
{
	size_t length = strlen(name);
	int index = 0;

	for (const char *p = choices; *p != '\0'; index++) {
		size_t n = strcspn(p, "|");

		if (n == length && strncmp(p, name, n) == 0)
			return index;
		p += n + (p[n] == '|');
	}
	return -1;
}

const char *tl_choice_name(const char *choices, int64_t index, char *buffer, size_t size)
{
	const char *p = choices;

	for (int64_t i = 0; i < index && *p != '\0'; i++) {
		p += strcspn(p, "|");
		p += *p == '|';
	}
	(void)snprintf(buffer, size, "%.*s", (int)strcspn(p, "|"), p);
	return buffer;
}

static void store_int(void *field, size_t width, int64_t value)
{
	if (width == sizeof(bool))
		*(bool *)field = value != 0;
	else if (width == sizeof(int32_t))
		*(int32_t *)field = (int32_t)value;
	else
		*(int64_t *)field = value;
}

/* Control characters of ASCII and of Unicode's C1, and its line separators: none belongs
 * into a name, and YAML folds some of them. */
static bool has_control(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p != '\0'; p++)
		if (*p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f) ||
		    (p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)))
			return true;
	return false;
}

enum tl_status tl_fill_name(struct tl_fill *fill, const struct tl_tree *node, char *out,
                            size_t size)
{
	char wanted[64];
	size_t length;

	(void)snprintf(wanted, sizeof wanted, "a name of at most %zu bytes", size - 1);
	if (node->kind != TL_TREE_SCALAR || tl_tree_is_null(node))
		return tl_fill_refuse(fill, node, wanted);
	length = strlen(node->text);
	if (length >= size)
		return tl_fill_fault(fill, node, "got %zu bytes, wanted %s", length, wanted);
	if (has_control(node->text))
		return tl_fill_fault(fill, node, "got a control character, wanted %s", wanted);
	memcpy(out, node->text, length + 1);
	return TL_OK;
}

static enum tl_status parse_bandwidth(const char *text, int64_t *out)
{
	size_t length = strlen(text);
	char size[64];

	if (length < 3 || length >= sizeof size || strcmp(text + length - 2, "/s") != 0)
		return TL_E_DATA;
	memcpy(size, text, length - 2);
	size[length - 2] = '\0';
	return tl_parse_size(size, out, NULL);
}

/* The value of a scalar of an integer-like type, before its range is looked at. */
static enum tl_status parse_integer(const struct tl_config_key *key, const struct tl_tree *node,
                                    int64_t *value)
{
	int choice;

	switch (key->type) {
	case TL_KEY_BOOL:
		if (!node->plain ||
		    (strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0))
			return TL_E_DATA;
		*value = node->text[0] == 't';
		return TL_OK;
	case TL_KEY_INT:
		return node->plain ? tl_parse_int(node->text, value, NULL) : TL_E_DATA;
	case TL_KEY_DURATION:
		return tl_parse_duration(node->text, value, NULL);
	case TL_KEY_SIZE:
		return tl_parse_size(node->text, value, NULL);
	case TL_KEY_BANDWIDTH:
		return parse_bandwidth(node->text, value);
	case TL_KEY_SHARE:
	case TL_KEY_FACTOR:
		return tl_parse_share(node->text, value, NULL);
	default:
		TL_ASSERT(key->type == TL_KEY_CHOICE);
		choice = tl_choice_index(key->choices, node->text);
		*value = choice + key->base;
		return choice < 0 ? TL_E_DATA : TL_OK;
	}
}

static enum tl_status set_integer(struct tl_fill *fill, const struct tl_config_key *key,
                                  const struct tl_tree *node, void *field)
{
	int64_t value = 0;

	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++)
		if (strcmp(node->text, key->words[i].word) == 0) {
			store_int(field, key->width, key->words[i].value);
			return TL_OK;
		}
	if (parse_integer(key, node, &value) != TL_OK)
		return refuse_value(fill, key, node);
	if (key->type != TL_KEY_CHOICE && key->type != TL_KEY_BOOL &&
	    (value < key->min || (key->max > 0 && value > key->max)))
		return refuse_value(fill, key, node);
	store_int(field, key->width, value);
	return TL_OK;
}

static enum tl_status set_number(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	double value = 0;

	for (size_t i = 0; i < TL_KEY_WORDS && key->words[i].word; i++)
		if (strcmp(node->text, key->words[i].word) == 0) {
			*(double *)field = (double)key->words[i].value;
			return TL_OK;
		}
	if (!node->plain || (key->type == TL_KEY_RATE ? tl_parse_rate : tl_parse_double)(
				node->text, &value, NULL) != TL_OK)
		return refuse_value(fill, key, node);
	if (key->low < key->high &&
	    (value < key->low || value > key->high || (key->open_low && !(value > key->low))))
		return refuse_value(fill, key, node);
	*(double *)field = value;
	return TL_OK;
}

static enum tl_status set_text(struct tl_fill *fill, const struct tl_config_key *key,
                               const struct tl_tree *node, void *field)
{
	if (has_control(node->text))
		return tl_fill_fault(fill, node, "got a control character, wanted a text");
	if (node->text[0] == '\0' && !(key->standard && key->standard[0] == '"'))
		return tl_fill_fault(fill, node, "got an empty text, wanted a text");
	*(const char **)field = node->text;
	return TL_OK;
}

/* ---- collections ----------------------------------------------------------------- */

const struct tl_section *tl_section_variant(const struct tl_section *section,
                                            const struct tl_tree *node)
{
	if (!section || !node || node->kind != TL_TREE_MAP)
		return section;
	for (size_t i = 0; i < TL_SECTION_VARIANTS && section->variants[i].key; i++)
		if (tl_tree_get(node, section->variants[i].key))
			return section->variants[i].section;
	return section;
}

enum tl_status tl_list_fill(struct tl_fill *fill, const struct tl_section *section,
                            const struct tl_tree *node, void **out, size_t *count)
{
	char *elements;

	if (node->kind != TL_TREE_LIST)
		return tl_fill_refuse(fill, node, "a list");
	elements = tl_arena_alloc(fill->arena, node->count * section->size);
	for (size_t i = 0; i < node->count; i++) {
		size_t length = tl_fill_enter_index(fill, i);
		void *element = elements + i * section->size;
		enum tl_status status;

		*(const struct tl_tree **)element = node->items[i];
		status = tl_section_fill(fill, tl_section_variant(section, node->items[i]),
		                         node->items[i], element);
		if (status != TL_OK)
			return status;
		tl_fill_leave(fill, length);
	}
	*out = elements;
	*count = node->count;
	return TL_OK;
}

enum tl_status tl_key_set(struct tl_fill *fill, const struct tl_config_key *key,
                          const struct tl_tree *node, void *field)
{
	if (key->type == TL_KEY_CUSTOM)
		return key->custom->set(fill, key, node, field);
	if (key->type == TL_KEY_MAP)
		return tl_section_fill(fill, key->section, node, field);
	if (node->kind != TL_TREE_SCALAR || tl_tree_is_null(node))
		return refuse_value(fill, key, node);
	if (key->type == TL_KEY_NAME) {
		if (node->text[0] == '\0' && !(key->standard && key->standard[0] == '"'))
			return refuse_value(fill, key, node);
		return tl_fill_name(fill, node, field, key->width);
	}
	if (key->type == TL_KEY_TEXT)
		return set_text(fill, key, node, field);
	if (key->type == TL_KEY_NUMBER || key->type == TL_KEY_RATE)
		return set_number(fill, key, node, field);
	return set_integer(fill, key, node, field);
}

/* The default of a key goes through the same validation as what a user writes. */
static enum tl_status standard_node(struct tl_fill *fill, const struct tl_config_key *key,
                                    struct tl_tree **out)
{
	const struct tl_source *source = tl_source_new(fill->arena, "(default)", "", true);

	return tl_tree_parse(fill->arena, source, key->standard, strlen(key->standard), out,
	                     fill->error);
}

static enum tl_status fill_key(struct tl_fill *fill, const struct tl_config_key *key,
                               const struct tl_tree *map, void *base)
{
	struct tl_tree *node = map ? tl_tree_get(map, key->name) : NULL;
	size_t length;
	enum tl_status status;

	if (!node && !key->standard)
		return tl_fill_fault(fill, map, "key `%s` is missing: %s", key->name, key->help);
	length = tl_fill_enter(fill, key->name);
	if (!node) {
		status = standard_node(fill, key, &node);
		if (status != TL_OK)
			return status;
	}
	if (key->type == TL_KEY_LIST)
		status = tl_list_fill(fill, key->section, node,
		                      (void **)(void *)((char *)base + key->offset),
		                      (size_t *)(void *)((char *)base + key->count_offset));
	else
		status = tl_key_set(fill, key, node, (char *)base + key->offset);
	if (status == TL_OK)
		tl_fill_leave(fill, length);
	return status;
}

const struct tl_config_key *tl_section_find(const struct tl_section *section, const char *name)
{
	for (size_t i = 0; i < section->count; i++)
		if (strcmp(section->keys[i].name, name) == 0)
			return &section->keys[i];
	return NULL;
}

enum tl_status tl_section_applies(struct tl_fill *fill, const struct tl_section *section,
                                  const struct tl_tree *node, const void *base, const char *reason)
{
	for (size_t i = 0; i < section->count && node; i++) {
		const struct tl_config_key *key = &section->keys[i];
		const struct tl_tree *written = tl_tree_get(node, key->name);

		if (written && !section->applies(key, base))
			return tl_fill_fault(fill, written, "%s: does not go with %s", key->name,
			                     reason);
	}
	return TL_OK;
}

enum tl_status tl_section_fill(struct tl_fill *fill, const struct tl_section *section,
                               const struct tl_tree *node, void *base)
{
	enum tl_status status = TL_OK;

	if (node && node->kind != TL_TREE_MAP)
		return tl_fill_refuse(fill, node, "a map of keys");
	for (size_t i = 0; node && i < node->count && status == TL_OK; i++) {
		if (tl_section_find(section, node->keys[i].name))
			continue;
		status = section->other
		             ? section->other(fill, base, &node->keys[i], node->items[i])
		             : tl_fill_unknown(fill, &node->keys[i],
		                               tl_suggest_key(section, node->keys[i].name));
	}
	for (size_t i = 0; i < section->count && status == TL_OK; i++)
		status = fill_key(fill, &section->keys[i], node, base);
	return status;
}
