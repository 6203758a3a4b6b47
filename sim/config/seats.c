/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy: modules in seats, and their options, which are the modules' to judge. */
#include "sim/config/config.h"

#include <string.h>

enum { SETTINGS_MAX = 256 };

/* The flag that a text came from; NULL: a file. */
static char *flag_of(struct tl_fill *fill, const struct tl_source *source)
{
	return source->flag ? tl_arena_strdup(fill->arena, source->name) : NULL;
}

/* Keeps `name: value` for the module; both as written. */
static enum tl_status add_setting(struct tl_fill *fill, struct tl_seat_setting *seat,
                                  const struct tl_tree_key *key, const struct tl_tree *node)
{
	size_t length = tl_fill_enter(fill, key->name);
	char name[TL_NAME_MAX], value[1024];
	const struct tl_tree key_node = {.kind = TL_TREE_SCALAR,
	                                 .text = key->name,
	                                 .source = key->source,
	                                 .line = key->line,
	                                 .column = key->column};
	enum tl_status status;

	if (node->kind != TL_TREE_SCALAR || tl_tree_is_null(node))
		return tl_fill_refuse(fill, node, "one value for an option of the module");
	status = tl_fill_name(fill, &key_node, name, sizeof name);
	if (status == TL_OK)
		status = tl_fill_name(fill, node, value, sizeof value);
	if (status != TL_OK)
		return status;
	for (size_t i = 0; i < seat->count; i++)
		if (strcmp(seat->settings[i].name, name) == 0)
			return tl_fill_fault(fill, node,
			                     "the option is given twice (first at line %ld)",
			                     seat->settings[i].line);
	if (seat->count == SETTINGS_MAX)
		return tl_fill_fault(fill, node, "too many options: wanted at most %d",
		                     SETTINGS_MAX);
	if (!seat->settings)
		seat->settings =
		    tl_arena_alloc(fill->arena, SETTINGS_MAX * sizeof(*seat->settings));
	seat->settings[seat->count++] =
	    (struct tl_setting){.name = tl_arena_strdup(fill->arena, name),
	                        .value = tl_arena_strdup(fill->arena, value),
	                        .flag = flag_of(fill, node->source),
	                        .line = node->line,
	                        .column = node->column};
	tl_fill_leave(fill, length);
	return TL_OK;
}

/* YAML reads `null` as nothing, here it is the module of that name. */
static const struct tl_tree *name_node(const struct tl_tree *node, struct tl_tree *copy)
{
	if (node->kind != TL_TREE_SCALAR || strcmp(node->text, "null") != 0)
		return node;
	*copy = *node;
	copy->plain = false;
	return copy;
}

static enum tl_status set_use(struct tl_fill *fill, const struct tl_tree *written,
                              struct tl_seat_config *config)
{
	struct tl_seat_setting *seat = &config->seat;
	struct tl_tree copy;
	const struct tl_tree *node = name_node(written, &copy);
	enum tl_status status = tl_fill_name(fill, node, seat->use, sizeof seat->use);
	const char *path;

	if (status != TL_OK)
		return status;
	config->written = node->text;
	if (!strchr(node->text, '/'))
		return strlen(node->text) < TL_NAME_MAX
		           ? TL_OK
		           : tl_fill_refuse(fill, node, "the name of a module of at most 63 bytes");
	path = tl_path_from(fill->arena, node->source, node->text);
	if (strlen(path) >= sizeof seat->use)
		return tl_fill_refuse(fill, node, "a path of at most 511 bytes");
	memcpy(seat->use, path, strlen(path) + 1);
	return TL_OK;
}

static enum tl_status set_seat(struct tl_fill *fill, const struct tl_config_key *key,
                               const struct tl_tree *node, void *field)
{
	struct tl_seat_config *config = field;
	const struct tl_tree *use;
	size_t length;
	enum tl_status status;

	config->seat.flag = flag_of(fill, node->source);
	config->seat.line = node->line;
	config->seat.column = node->column;
	if (node->kind == TL_TREE_SCALAR &&
	    (!tl_tree_is_null(node) || strcmp(node->text, "null") == 0))
		return set_use(fill, node, config);
	if (node->kind != TL_TREE_MAP)
		return tl_fill_refuse(fill, node, key->custom->type);
	use = tl_tree_get(node, "use");
	if (!use)
		return tl_fill_fault(fill, node, "key `use` is missing: the name of the module");
	config->seat.flag = flag_of(fill, use->source);
	config->seat.line = use->line;
	config->seat.column = use->column;
	length = tl_fill_enter(fill, "use");
	status = set_use(fill, use, config);
	if (status != TL_OK)
		return status;
	tl_fill_leave(fill, length);
	if (config->seat.use[0] == '\0' && node->count > 1)
		return tl_fill_fault(fill, node, "got options for an empty seat, wanted a module");
	for (size_t i = 0; i < node->count && status == TL_OK; i++)
		if (node->items[i] != use)
			status = add_setting(fill, &config->seat, &node->keys[i], node->items[i]);
	return status;
}

static void emit_settings(const struct tl_seat_setting *seat, unsigned indent, FILE *out)
{
	for (size_t i = 0; i < seat->count; i++) {
		(void)fprintf(out, "%*s", (int)indent, "");
		tl_emit_text(out, seat->settings[i].name);
		(void)fputs(": ", out);
		tl_emit_text(out, seat->settings[i].value);
		(void)fputc('\n', out);
	}
}

/* The scheduler's options stand directly under policy: (tl_policy_emit_other). */
static void emit_seat(const struct tl_config_key *key, const void *field, unsigned indent,
                      FILE *out)
{
	const struct tl_seat_config *config = field;
	bool map = config->seat.count > 0 && strcmp(key->name, "scheduler") != 0;

	if (map)
		(void)fprintf(out, "\n%*suse:", (int)indent + 2, "");
	(void)fputc(' ', out);
	tl_emit_text(out, config->written);
	(void)fputc('\n', out);
	if (map)
		emit_settings(&config->seat, indent + 2, out);
}

const struct tl_custom tl_custom_seat = {
    .type = "the name of a module, or a map of `use` and the module's options",
    .set = set_seat,
    .emit = emit_seat};

enum tl_status tl_policy_other(struct tl_fill *fill, void *base, const struct tl_tree_key *key,
                               const struct tl_tree *node)
{
	struct tl_config *config = base;

	return add_setting(fill, &config->seats[TL_SEAT_SCHEDULER].seat, key, node);
}

void tl_policy_emit_other(const void *base, unsigned indent, FILE *out)
{
	const struct tl_config *config = base;

	emit_settings(&config->seats[TL_SEAT_SCHEDULER].seat, indent, out);
}
