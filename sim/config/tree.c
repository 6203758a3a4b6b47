/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/config/tree.h"

#include "sim/base/assert.h"
#include "sim/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct tl_source *tl_source_new(struct tl_arena *arena, const char *name, const char *folder,
                                bool flag)
{
	struct tl_source *source = tl_arena_alloc(arena, sizeof *source);

	source->name = tl_arena_strdup(arena, name);
	source->folder = tl_arena_strdup(arena, folder);
	source->flag = flag;
	return source;
}

struct tl_tree *tl_tree_new(struct tl_arena *arena, enum tl_tree_kind kind,
                            const struct tl_source *source, long line, long column)
{
	struct tl_tree *node = tl_arena_alloc(arena, sizeof *node);

	node->kind = kind;
	node->source = source;
	node->line = source->flag ? 0 : line;
	node->column = source->flag ? 0 : column;
	node->text = "";
	return node;
}

struct tl_tree *tl_tree_scalar(struct tl_arena *arena, const struct tl_tree *where,
                               const char *text)
{
	struct tl_tree *node =
	    tl_tree_new(arena, TL_TREE_SCALAR, where->source, where->line, where->column);

	node->text = tl_arena_strdup(arena, text);
	node->plain = true;
	return node;
}

void tl_tree_append(struct tl_arena *arena, struct tl_tree *list, struct tl_tree *item)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 8;
		struct tl_tree **items = tl_arena_alloc(arena, capacity * sizeof(*items));
		struct tl_tree_key *keys = NULL;

		if (list->kind == TL_TREE_MAP)
			keys = tl_arena_alloc(arena, capacity * sizeof(*keys));
		if (list->count > 0) {
			memcpy(items, list->items, list->count * sizeof(*items));
			if (keys)
				memcpy(keys, list->keys, list->count * sizeof(*keys));
		}
		list->items = items;
		list->keys = keys;
		list->capacity = capacity;
	}
	list->items[list->count++] = item;
}

static size_t find_key(const struct tl_tree *map, const char *name)
{
	size_t i = 0;

	while (i < map->count && strcmp(map->keys[i].name, name) != 0)
		i++;
	return i;
}

void tl_tree_put(struct tl_arena *arena, struct tl_tree *map, const char *name,
                 struct tl_tree *value)
{
	size_t at = find_key(map, name);

	TL_ASSERT(map->kind == TL_TREE_MAP);
	if (at == map->count)
		tl_tree_append(arena, map, value);
	map->items[at] = value;
	map->keys[at] = (struct tl_tree_key){.name = tl_arena_strdup(arena, name),
	                                     .source = value->source,
	                                     .line = value->line,
	                                     .column = value->column};
}

struct tl_tree *tl_tree_get(const struct tl_tree *map, const char *name)
{
	size_t at = find_key(map, name);

	return at < map->count ? map->items[at] : NULL;
}

struct tl_tree tl_tree_key_node(const struct tl_tree_key *key)
{
	return (struct tl_tree){.kind = TL_TREE_SCALAR,
	                        .plain = true,
	                        .text = key->name,
	                        .source = key->source,
	                        .line = key->line,
	                        .column = key->column};
}

bool tl_tree_is_null(const struct tl_tree *node)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};

	if (node->kind != TL_TREE_SCALAR || !node->plain)
		return false;
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(node->text, words[i]) == 0)
			return true;
	return false;
}

const char *tl_tree_describe(const struct tl_tree *node, char *buffer, size_t size)
{
	if (node->kind == TL_TREE_LIST)
		return "a list";
	if (node->kind == TL_TREE_MAP)
		return "a map";
	if (tl_tree_is_null(node))
		return "nothing";
	(void)snprintf(buffer, size, node->plain ? "`%.60s`" : "the text \"%.60s\"", node->text);
	return buffer;
}

/* ---- from events --------------------------------------------------------------- */

struct builder {
	struct tl_arena *arena;
	const struct tl_source *source;
	struct tl_tree *open[TL_TREE_DEPTH_MAX]; /* collections not yet ended */
	size_t depth;
	struct tl_tree *root;
	struct tl_tree_key key; /* of the innermost map, waiting for its value; name NULL: none */
	struct tl_error *error;
};

static enum tl_status fault(const struct builder *b, yaml_mark_t mark, const char *what)
{
	bool flag = b->source->flag;

	return tl_error_set(b->error, flag ? TL_E_USAGE : TL_E_CONFIG, b->source->name,
	                    flag ? 0 : (long)mark.line + 1, flag ? 0 : (long)mark.column + 1, "%s",
	                    what);
}

static enum tl_status take_key(struct builder *b, const yaml_event_t *event)
{
	const struct tl_tree *map = b->open[b->depth - 1];
	const char *name = (const char *)event->data.scalar.value;
	char what[160];
	size_t at;

	if (name[0] == '\0')
		return fault(b, event->start_mark, "a key: got nothing, wanted a name");
	if (strlen(name) != event->data.scalar.length)
		return fault(b, event->start_mark, "a key: got a NUL character, wanted text");
	if (map->count == TL_TREE_KEYS_MAX)
		return fault(b, event->start_mark, "too many keys in one map: wanted at most 1024");
	at = find_key(map, name);
	if (at < map->count) {
		/* A value given by a flag has no lines. */
		if (b->source->flag)
			(void)snprintf(what, sizeof what, "duplicate key `%.60s`", name);
		else
			(void)snprintf(what, sizeof what,
			               "duplicate key `%.60s` (first at line %ld)", name,
			               map->keys[at].line);
		return fault(b, event->start_mark, what);
	}
	b->key = (struct tl_tree_key){
	    .name = tl_arena_strdup(b->arena, name),
	    .source = b->source,
	    .line = b->source->flag ? 0 : (long)event->start_mark.line + 1,
	    .column = b->source->flag ? 0 : (long)event->start_mark.column + 1};
	return TL_OK;
}

/* Puts a node where it belongs: under the waiting key, into the list, or at the root. */
static void attach(struct builder *b, struct tl_tree *node)
{
	struct tl_tree *parent;

	if (b->depth == 0) {
		b->root = node;
		return;
	}
	parent = b->open[b->depth - 1];
	tl_tree_append(b->arena, parent, node);
	if (parent->kind == TL_TREE_MAP) {
		parent->keys[parent->count - 1] = b->key;
		b->key.name = NULL;
	}
}

static bool wants_key(const struct builder *b)
{
	return b->depth > 0 && b->open[b->depth - 1]->kind == TL_TREE_MAP && !b->key.name;
}

static enum tl_status take_scalar(struct builder *b, const yaml_event_t *event)
{
	struct tl_tree *node;

	if (wants_key(b))
		return take_key(b, event);
	if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length)
		return fault(b, event->start_mark, "a value: got a NUL character, wanted text");
	node = tl_tree_new(b->arena, TL_TREE_SCALAR, b->source, (long)event->start_mark.line + 1,
	                   (long)event->start_mark.column + 1);
	node->text = tl_arena_strdup(b->arena, (const char *)event->data.scalar.value);
	node->plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	attach(b, node);
	return TL_OK;
}

static enum tl_status open_collection(struct builder *b, const yaml_event_t *event,
                                      enum tl_tree_kind kind)
{
	struct tl_tree *node;

	if (wants_key(b))
		return fault(b, event->start_mark, "a key: got a list or a map, wanted a name");
	if (b->depth == TL_TREE_DEPTH_MAX)
		return fault(b, event->start_mark, "nested too deeply: wanted at most 32 levels");
	node = tl_tree_new(b->arena, kind, b->source, (long)event->start_mark.line + 1,
	                   (long)event->start_mark.column + 1);
	attach(b, node);
	b->open[b->depth++] = node;
	return TL_OK;
}

/* What we do without: it would let a text mean something else than it says. */
static enum tl_status refuse_extras(const struct builder *b, const yaml_event_t *event)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return fault(b, event->start_mark,
		             "aliases (`*name`) are not accepted: write the value out");
	case YAML_SCALAR_EVENT:
		anchor = event->data.scalar.anchor;
		tag = event->data.scalar.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = event->data.sequence_start.anchor;
		tag = event->data.sequence_start.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = event->data.mapping_start.anchor;
		tag = event->data.mapping_start.tag;
		break;
	default:
		break;
	}
	if (anchor)
		return fault(b, event->start_mark, "anchors (`&name`) are not accepted");
	if (tag)
		return fault(b, event->start_mark, "tags (`!name`) are not accepted");
	return TL_OK;
}

static enum tl_status take_event(struct builder *b, const yaml_event_t *event)
{
	enum tl_status status = refuse_extras(b, event);

	if (status != TL_OK)
		return status;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if (b->root)
			return fault(b, event->start_mark, "a second document begins: wanted one");
		return TL_OK;
	case YAML_SCALAR_EVENT:
		return take_scalar(b, event);
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(b, event, TL_TREE_LIST);
	case YAML_MAPPING_START_EVENT:
		return open_collection(b, event, TL_TREE_MAP);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return TL_OK;
	default:
		return TL_OK;
	}
}

static enum tl_status syntax_fault(const struct builder *b, const yaml_parser_t *parser,
                                   const char *text, size_t size)
{
	yaml_mark_t mark = parser->problem_mark;
	char what[256];

	if (parser->error == YAML_MEMORY_ERROR)
		tl_out_of_memory(size);
	if (parser->error == YAML_READER_ERROR) {
		/* The reader knows an offset only. */
		mark = (yaml_mark_t){0};
		for (size_t i = 0; i < size && i < parser->problem_offset; i++) {
			mark.column = text[i] == '\n' ? 0 : mark.column + 1;
			mark.line += text[i] == '\n';
		}
	}
	(void)snprintf(what, sizeof what, "not YAML: %s%s%s",
	               parser->problem ? parser->problem : "unreadable", parser->context ? " " : "",
	               parser->context ? parser->context : "");
	return fault(b, mark, what);
}

enum tl_status tl_tree_parse(struct tl_arena *arena, const struct tl_source *source,
                             const char *text, size_t size, struct tl_tree **out,
                             struct tl_error *error)
{
	struct builder b = {.arena = arena, .source = source, .error = error};
	enum tl_status status = TL_OK;
	yaml_parser_t parser;
	bool done = false;

	if (!yaml_parser_initialize(&parser))
		tl_out_of_memory(sizeof parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	while (status == TL_OK && !done) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			status = syntax_fault(&b, &parser, text, size);
			break;
		}
		done = event.type == YAML_STREAM_END_EVENT;
		status = take_event(&b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (status == TL_OK)
		*out = b.root;
	return status;
}

/* ---- files ---------------------------------------------------------------------- */

static enum tl_status read_all(const char *path, char **out, size_t *size, struct tl_error *error)
{
	char *text = NULL;
	size_t capacity = 0, used = 0, got;
	FILE *file = NULL;
	enum tl_status status = tl_file_open(path, &file, error);
	int failed;

	if (status != TL_OK)
		return status;
	do {
		text = tl_grow(text, &capacity, used + 65536, 1);
		got = fread(text + used, 1, capacity - used, file);
		used += got;
	} while (got > 0 && used <= TL_TREE_BYTES_MAX);
	failed = ferror(file) ? errno : 0;
	(void)fclose(file);
	if (failed) {
		free(text);
		return tl_error_set(error, TL_E_IO, path, 0, 0, "cannot be read: %s",
		                    strerror(failed));
	}
	if (used >= 4 && memcmp(text, "\x89HDF", 4) == 0) {
		free(text);
		return tl_error_set(
		    error, TL_E_CONFIG, path, 0, 0,
		    "is a result file, wanted the scenario (YAML) that it was made from");
	}
	if (used > TL_TREE_BYTES_MAX) {
		free(text);
		return tl_error_set(error, TL_E_CONFIG, path, 0, 0,
		                    "is larger than 4 MiB, wanted a scenario or cluster file");
	}
	*out = text;
	*size = used;
	return TL_OK;
}

enum tl_status tl_tree_read(struct tl_arena *arena, const char *path, struct tl_tree **out,
                            struct tl_error *error)
{
	const struct tl_source *source =
	    tl_source_new(arena, path, tl_folder_of(arena, path), false);
	struct tl_tree *root = NULL;
	enum tl_status status;
	char *text = NULL;
	size_t size = 0;

	status = read_all(path, &text, &size, error);
	if (status != TL_OK)
		return status;
	status = tl_tree_parse(arena, source, text, size, &root, error);
	free(text);
	if (status != TL_OK)
		return status;
	if (!root)
		return tl_error_set(error, TL_E_CONFIG, path, 0, 0,
		                    "is empty, wanted a map of keys");
	*out = root;
	return TL_OK;
}

const char *tl_folder_of(struct tl_arena *arena, const char *path)
{
	char *folder = tl_arena_strdup(arena, path);
	char *slash = strrchr(folder, '/');

	if (!slash)
		return "";
	slash[1] = '\0';
	return folder;
}

const char *tl_path_from(struct tl_arena *arena, const struct tl_source *source, const char *path)
{
	return tl_arena_format(arena, "%s%s", path[0] == '/' ? "" : source->folder, path);
}
