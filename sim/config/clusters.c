/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cluster: a name, a path, a compact form or a map, until groups or a list are known. */
#include "sim/config/config.h"

#include "sim/base/units.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum tl_status from_text(struct tl_fill *fill, const struct tl_tree *node,
                                struct tl_cluster_config *out);

/* `32x8` or `32x8:…`: where the two numbers end; NULL where it is no such thing. */
static const char *compact_rest(const char *text)
{
	size_t nodes = strspn(text, "0123456789");
	size_t gpus;

	if (nodes == 0 || text[nodes] != 'x')
		return NULL;
	gpus = strspn(text + nodes + 1, "0123456789");
	text += nodes + 1 + gpus;
	return gpus > 0 && (*text == '\0' || *text == ':') ? text : NULL;
}

static const char *copy(struct tl_arena *arena, const char *text, size_t length)
{
	char *out = tl_arena_alloc(arena, length + 1);

	memcpy(out, text, length);
	return out;
}

/* `cpus=64,mem=512GiB` into the group's map. */
static enum tl_status compact_options(struct tl_fill *fill, const struct tl_tree *node,
                                      const char *options, struct tl_tree *group)
{
	static const struct {
		const char *word, *key;
	} words[] = {
	    {"cpus", "cpus"},          {"mem", "memory"},          {"model", "model"},
	    {"gpu_mem", "gpu_memory"}, {"rack", "nodes_per_rack"}, {"leaf", "nodes_per_leaf"},
	    {"pod", "nodes_per_pod"},
	};
	enum { WORDS = sizeof words / sizeof words[0] };
	static const char wanted[] =
	    "cpus, mem, model, gpu_mem, rack, leaf or pod, each as name=value";

	while (*options != '\0') {
		size_t length = strcspn(options, ",");
		const char *equals = memchr(options, '=', length);
		size_t word = 0;

		while (equals && word < WORDS &&
		       (strlen(words[word].word) != (size_t)(equals - options) ||
		        strncmp(words[word].word, options, (size_t)(equals - options)) != 0))
			word++;
		if (!equals || word == WORDS)
			return tl_fill_fault(fill, node, "got `%.*s`, wanted %s",
			                     length > 60 ? 60 : (int)length, options, wanted);
		if (tl_tree_get(group, words[word].key))
			return tl_fill_fault(fill, node, "`%s` is given twice", words[word].word);
		tl_tree_put(fill->arena, group, words[word].key,
		            tl_tree_scalar(fill->arena, node,
		                           copy(fill->arena, equals + 1,
		                                length - (size_t)(equals + 1 - options))));
		options += length;
		if (*options == ',' && options[1] == '\0')
			return tl_fill_fault(fill, node, "got a comma at the end, wanted %s",
			                     wanted);
		options += *options == ',';
	}
	return TL_OK;
}

static enum tl_status from_compact(struct tl_fill *fill, const struct tl_tree *node,
                                   const char *rest, struct tl_cluster_config *out)
{
	struct tl_arena *arena = fill->arena;
	struct tl_tree *map =
	    tl_tree_new(arena, TL_TREE_MAP, node->source, node->line, node->column);
	struct tl_tree *groups =
	    tl_tree_new(arena, TL_TREE_LIST, node->source, node->line, node->column);
	struct tl_tree *group =
	    tl_tree_new(arena, TL_TREE_MAP, node->source, node->line, node->column);
	const char *text = node->text, *x = strchr(text, 'x');
	enum tl_status status;

	tl_tree_put(arena, group, "count",
	            tl_tree_scalar(arena, node, copy(arena, text, (size_t)(x - text))));
	tl_tree_put(arena, group, "gpus",
	            tl_tree_scalar(arena, node, copy(arena, x + 1, (size_t)(rest - x - 1))));
	if (*rest == ':') {
		if (rest[1] == '\0')
			return tl_fill_refuse(fill, node, "NxG, or NxG:option=value,…");
		status = compact_options(fill, node, rest + 1, group);
		if (status != TL_OK)
			return status;
	}
	tl_tree_append(arena, groups, group);
	tl_tree_put(arena, map, "groups", groups);
	tl_tree_put(arena, map, "name",
	            tl_tree_scalar(arena, node, copy(arena, text, (size_t)(rest - text))));
	out->node = map;
	return tl_section_fill(fill, &tl_cluster_section, map, out);
}

/* The file that a name stands for: beside the scenario, then among the shipped ones. */
static const char *find_named(struct tl_fill *fill, const struct tl_tree *node)
{
	const char *file = tl_arena_format(fill->arena, "%s.yaml", node->text);
	const char *beside = tl_path_from(fill->arena, node->source, file);
	char *shipped;

	if (access(beside, F_OK) == 0)
		return beside;
	shipped = tl_paths_data("clusters", node->text);
	if (!shipped)
		return NULL;
	beside = tl_arena_strdup(fill->arena, shipped);
	free(shipped);
	return beside;
}

/* `clusters/small.yaml` is called `small` where the file gives no name. */
static void name_by_file(char *name, size_t size, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	size_t length = strcspn(base, ".");

	if (length == 0 || length >= size)
		return;
	memcpy(name, base, length);
	name[length] = '\0';
}

static enum tl_status from_file(struct tl_fill *outer, const char *path,
                                struct tl_cluster_config *out)
{
	struct tl_fill fill = {.arena = outer->arena, .error = outer->error};
	struct tl_tree *map;
	enum tl_status status = tl_tree_read(fill.arena, path, &map, fill.error);

	if (status == TL_OK)
		status = tl_section_fill(&fill, &tl_cluster_section, map, out);
	if (status != TL_OK)
		return status;
	if (out->use[0] != '\0')
		return tl_fill_fault(
		    &fill, tl_tree_get(map, "use"),
		    "`use` stands in a scenario only, wanted `groups` or `list` here");
	if (!tl_tree_get(map, "name"))
		name_by_file(out->name, sizeof out->name, path);
	out->node = map;
	return TL_OK;
}

static enum tl_status from_text(struct tl_fill *fill, const struct tl_tree *node,
                                struct tl_cluster_config *out)
{
	const char *rest = compact_rest(node->text);
	size_t length = strlen(node->text);
	const char *path;
	char near[400];

	if (rest)
		return from_compact(fill, node, rest, out);
	if (strchr(node->text, '/') ||
	    (length > 5 && strcmp(node->text + length - 5, ".yaml") == 0))
		return from_file(fill, tl_path_from(fill->arena, node->source, node->text), out);
	path = find_named(fill, node);
	if (!path)
		return tl_fill_fault(
		    fill, node,
		    "no cluster `%.60s`: wanted a shipped one, NAME.yaml beside the "
		    "scenario, a path, or NxG%s",
		    node->text, tl_paths_near("clusters", node->text, near, sizeof near));
	return from_file(fill, path, out);
}

/* One of groups, list; and the number of nodes of a single group. */
static enum tl_status settle(struct tl_fill *fill, struct tl_cluster_config *out, uint32_t nodes)
{
	const struct tl_tree *where = out->node;

	if (out->list[0] != '\0' && out->group_count > 0)
		return tl_fill_fault(fill, where,
		                     "got both `groups` and `list`, wanted one of them");
	if (tl_tree_get(where, "groups") && out->group_count == 0)
		return tl_fill_fault_at(fill, where, "groups",
		                        "got an empty list, wanted at least one group of nodes");
	if (out->list[0] == '\0' && out->group_count == 0)
		return tl_fill_fault(fill, where, "got no machines, wanted `groups` or `list`");
	if (out->list[0] == '\0' && out->gpu_memory_bytes >= 0)
		return tl_fill_fault(
		    fill, where, "got `gpu_memory` beside `groups`, wanted it inside each group");
	if (nodes == 0)
		return TL_OK;
	if (out->group_count != 1)
		return tl_fill_fault(fill, where,
		                     "`nodes` is for a cluster of one group, this one has %s",
		                     out->group_count ? "several" : "a list");
	out->groups[0].count = nodes;
	out->nodes = 0;
	return TL_OK;
}

static enum tl_status set_cluster(struct tl_fill *fill, const struct tl_config_key *key,
                                  const struct tl_tree *node, void *field)
{
	struct tl_cluster_config *out = field;
	static const char *const instead[] = {"groups", "list"};
	struct tl_cluster_config map = {.node = node};
	enum tl_status status;
	size_t length;

	if (node->kind == TL_TREE_SCALAR && !tl_tree_is_null(node)) {
		status = from_text(fill, node, out);
		return status == TL_OK ? settle(fill, out, out->nodes) : status;
	}
	if (node->kind != TL_TREE_MAP)
		return tl_fill_refuse(fill, node, key->custom->type);
	status = tl_section_fill(fill, &tl_cluster_section, node, &map);
	if (status != TL_OK)
		return status;
	if (map.use[0] == '\0') {
		*out = map;
		return settle(fill, out, map.nodes);
	}
	for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
		if (tl_tree_get(node, instead[i]))
			return tl_fill_fault_at(fill, node, instead[i],
			                        "goes instead of another cluster's name (`use`), "
			                        "not with it");
	length = tl_fill_enter(fill, "use");
	status = from_text(fill, tl_tree_get(node, "use"), out);
	if (status != TL_OK)
		return status;
	tl_fill_leave(fill, length);
	if (tl_tree_get(node, "name"))
		memcpy(out->name, map.name, sizeof out->name);
	return settle(fill, out, map.nodes ? map.nodes : out->nodes);
}

/* As it came out, whatever it was read from. */
static void emit_cluster(const struct tl_config_key *key, const void *field, unsigned indent,
                         FILE *out)
{
	const struct tl_cluster_config *cluster = field;
	const bool listed = cluster->list[0] != '\0';

	(void)fputc('\n', out);
	for (size_t i = 0; i < key->section->count; i++) {
		const struct tl_section one = {.keys = &key->section->keys[i], .count = 1};
		const char *name = one.keys->name;

		if (strcmp(name, "name") == 0 ||
		    (listed ? strcmp(name, "list") == 0 || strcmp(name, "format") == 0 ||
		                  strcmp(name, "gpu_memory") == 0
		            : strcmp(name, "groups") == 0))
			tl_section_emit(&one, cluster, indent + 2, out);
	}
}

const struct tl_custom tl_custom_cluster = {.type =
                                                "a name, a path, NxG[:option=value,…], or a map",
                                            .set = set_cluster,
                                            .emit = emit_cluster};
