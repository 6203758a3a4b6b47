/* SPDX-License-Identifier: GPL-3.0-or-later */
/* --set workload[0].demand=1.3: edits the tree before it is validated. */
#include "sim/config/config.h"

#include <string.h>

/* One step of a key: `name`, `[index]`, or `[*]`: every element that the key goes on in. */
struct step {
	char name[TL_NAME_MAX]; /* empty: an index */
	size_t index;
	bool all;
};

struct edit {
	struct tl_arena *arena;
	const struct tl_source *source;
	struct tl_error *error;
	const char *next; /* what is left of the key */
	const char *value;
};

/* What the schema knows of the place the walk has come to. */
struct place {
	const struct tl_section *section; /* of the map, or of the list's elements; NULL: free */
	const struct tl_config_key *key;  /* whose value this is; NULL */
};

static enum tl_status malformed(const struct edit *edit)
{
	return tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
	                    "malformed key, wanted such as policy.place or workload[0].demand");
}

/* Takes the next step off the key. */
static enum tl_status take_step(struct edit *edit, bool first, struct step *out)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	const char *p = edit->next;
	size_t length;

	*out = (struct step){.index = 0};
	if (strncmp(p, "[*]", 3) == 0 && !first) {
		out->all = true;
		edit->next = p + 3;
		return TL_OK;
	}
	if (*p == '[' && !first) {
		length = strspn(++p, "0123456789");
		if (length == 0 || length > 6 || p[length] != ']')
			return malformed(edit);
		for (size_t i = 0; i < length; i++)
			out->index = out->index * 10 + (size_t)(p[i] - '0');
		edit->next = p + length + 1;
		return TL_OK;
	}
	if (!first && *p++ != '.')
		return malformed(edit);
	length = strspn(p, letters);
	if (p[length] != '\0' && p[length] != '.' && p[length] != '[')
		return malformed(edit);
	if (length == 0 || length >= sizeof out->name)
		return malformed(edit);
	memcpy(out->name, p, length);
	edit->next = p + length;
	return TL_OK;
}

/* The value there is, or the default, or an empty collection of the kind that the next
 * step needs; a scalar that is short for a map becomes that map. */
static struct tl_tree *materialise(struct edit *edit, struct tl_tree *node,
                                   const struct tl_config_key *key)
{
	enum tl_tree_kind wanted = *edit->next == '[' ? TL_TREE_LIST : TL_TREE_MAP;

	if (node && tl_tree_is_null(node))
		node = NULL;
	if (!node && key && key->standard)
		(void)tl_tree_parse(edit->arena, edit->source, key->standard, strlen(key->standard),
		                    &node, NULL);
	if (node && node->kind == TL_TREE_SCALAR && key && key->shorthand &&
	    wanted == TL_TREE_MAP) {
		struct tl_tree *map =
		    tl_tree_new(edit->arena, TL_TREE_MAP, node->source, node->line, node->column);

		tl_tree_put(edit->arena, map, key->shorthand, node);
		node = map;
	}
	return node ? node : tl_tree_new(edit->arena, wanted, edit->source, 0, 0);
}

static void put(struct edit *edit, struct tl_tree *parent, const struct step *step,
                struct tl_tree *value)
{
	if (step->name[0] != '\0')
		tl_tree_put(edit->arena, parent, step->name, value);
	else if (step->index == parent->count)
		tl_tree_append(edit->arena, parent, value);
	else
		parent->items[step->index] = value;
}

/* The child that a step leads to (NULL: none yet), if such a step can be taken here. */
static enum tl_status child_of(const struct edit *edit, const struct tl_tree *parent,
                               const struct step *step, struct tl_tree **out)
{
	char got[96];

	if (step->name[0] != '\0' && parent->kind != TL_TREE_MAP)
		return tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
		                    "`%s` cannot be set there: got %s, wanted a map of keys",
		                    step->name, tl_tree_describe(parent, got, sizeof got));
	if (step->all && parent->kind != TL_TREE_LIST)
		return tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
		                    "`[*]` cannot be set there: got %s, wanted a list",
		                    tl_tree_describe(parent, got, sizeof got));
	if (step->name[0] == '\0' && parent->kind != TL_TREE_LIST)
		return tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
		                    "`[%zu]` cannot be set there: got %s, wanted a list",
		                    step->index, tl_tree_describe(parent, got, sizeof got));
	if (step->name[0] == '\0' && step->index > parent->count)
		return tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
		                    "index: got %zu, wanted one from 0 to %zu (the list has %zu)",
		                    step->index, parent->count, parent->count);
	if (step->name[0] != '\0')
		*out = tl_tree_get(parent, step->name);
	else
		*out = step->index < parent->count ? parent->items[step->index] : NULL;
	return TL_OK;
}

static struct place descend(struct place place, const struct step *step)
{
	struct place next = {NULL, NULL};

	/* An index leads to an element, whose keys are those of the list's section. */
	if (step->name[0] == '\0')
		return (struct place){place.section, NULL};
	if (place.section)
		next.key = tl_section_find(place.section, step->name);
	if (next.key)
		next.section = next.key->section;
	return next;
}

/* Of its own each time: a later edit may change it in one place. */
static enum tl_status parse_value(const struct edit *edit, struct tl_tree **out)
{
	enum tl_status status = tl_tree_parse(edit->arena, edit->source, edit->value,
	                                      strlen(edit->value), out, edit->error);

	if (status != TL_OK || *out)
		return status;
	*out = tl_tree_new(edit->arena, TL_TREE_SCALAR, edit->source, 0, 0);
	(*out)->plain = true;
	return TL_OK;
}

/* Whether an element is of the kind that has what the key goes on with. */
static bool takes(struct edit edit, const struct tl_section *section, const struct tl_tree *element)
{
	struct step step;

	if (take_step(&edit, false, &step) != TL_OK)
		return true; /* to be told where it is walked */
	if (step.name[0] == '\0')
		return element->kind == TL_TREE_LIST;
	return element->kind == TL_TREE_MAP && (!section || tl_section_find(section, step.name));
}

static enum tl_status walk(struct edit *edit, struct tl_tree *node, struct place place, bool first);

static enum tl_status walk_all(struct edit *edit, struct tl_tree *list, struct place place)
{
	const char *rest = edit->next;
	enum tl_status status = TL_OK;
	size_t taken = 0;

	if (*rest == '\0')
		return malformed(edit);
	for (size_t i = 0; i < list->count && status == TL_OK; i++) {
		const struct tl_section *section =
		    tl_section_variant(place.section, list->items[i]);

		edit->next = rest;
		if (!takes(*edit, section, list->items[i]))
			continue;
		taken++;
		status = walk(edit, list->items[i], (struct place){section, NULL}, false);
	}
	if (status == TL_OK && taken == 0)
		status = tl_error_set(edit->error, TL_E_USAGE, edit->source->name, 0, 0,
		                      "none of the %zu entries takes `%s`", list->count,
		                      rest + (*rest == '.'));
	return status;
}

static enum tl_status walk(struct edit *edit, struct tl_tree *node, struct place place, bool first)
{
	enum tl_status status = TL_OK;

	for (; status == TL_OK; first = false) {
		struct tl_tree *child = NULL;
		struct step step;

		status = take_step(edit, first, &step);
		if (status == TL_OK)
			status = child_of(edit, node, &step, &child);
		if (status != TL_OK)
			break;
		if (step.all)
			return walk_all(edit, node, place);
		if (*edit->next == '\0') {
			status = parse_value(edit, &child);
			if (status == TL_OK)
				put(edit, node, &step, child);
			break;
		}
		place = descend(place, &step);
		child = materialise(edit, child, place.key);
		place.section = tl_section_variant(place.section, child);
		put(edit, node, &step, child);
		node = child;
	}
	return status;
}

enum tl_status tl_set_apply(struct tl_arena *arena, struct tl_tree *root,
                            const struct tl_override *override, struct tl_error *error)
{
	struct edit edit = {
	    .arena = arena, .error = error, .next = override->key, .value = override->value};
	struct tl_tree *value = NULL;
	enum tl_status status;
	char name[TL_ERROR_FILE_MAX];

	(void)snprintf(name, sizeof name, "--set %.200s", override->key);
	edit.source = tl_source_new(arena, override->flag ? override->flag : name, "", true);
	status = parse_value(&edit, &value); /* what is wrong with it is told first */
	if (status != TL_OK)
		return status;
	return walk(&edit, root, (struct place){&tl_scenario_section, NULL}, true);
}

/* What the effective configuration has there, of the arena; NULL: nothing. */
static struct tl_tree *look_up(struct tl_arena *arena, const struct tl_scenario *scenario,
                               const char *key, struct place *place)
{
	struct edit edit = {.arena = arena, .next = key};
	struct tl_tree *node = NULL;

	*place = (struct place){&tl_scenario_section, NULL};
	edit.source = tl_source_new(arena, key, "", true);
	if (tl_tree_parse(arena, edit.source, scenario->text, strlen(scenario->text), &node,
	                  NULL) != TL_OK)
		node = NULL;
	for (bool first = true; node && *edit.next != '\0'; first = false) {
		struct step step;

		/* Of all there is no one value. */
		if (take_step(&edit, first, &step) != TL_OK || step.all ||
		    child_of(&edit, node, &step, &node) != TL_OK)
			node = NULL;
		if (node) {
			*place = descend(*place, &step);
			place->section = tl_section_variant(place->section, node);
		}
	}
	return node;
}

/* A short word for what the effective configuration says in the only group. */
static bool is_short_for_count(struct tl_arena *arena, const struct tl_scenario *scenario,
                               const char *key)
{
	struct place place;

	return strcmp(key, "cluster.nodes") == 0 &&
	       !look_up(arena, scenario, "cluster.groups[1]", &place);
}

char *tl_scenario_own(const struct tl_scenario *scenario, const char *key)
{
	struct place place;
	struct tl_arena arena;
	struct tl_tree *node;
	char *own = NULL;

	tl_arena_init(&arena);
	node = look_up(&arena, scenario,
	               is_short_for_count(&arena, scenario, key) ? "cluster.groups[0].count" : key,
	               &place);
	if (node && node->kind == TL_TREE_MAP && place.key && place.key->shorthand)
		node = tl_tree_get(node, place.key->shorthand);
	if (node && node->kind == TL_TREE_SCALAR && node->plain && !tl_tree_is_null(node))
		own = tl_strdup(node->text);
	tl_arena_fini(&arena);
	return own;
}
