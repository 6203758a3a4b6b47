/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A YAML text as a tree in which every node and key knows where it was written, so that
 * each refusal can name file, line and column. One document of maps, lists and scalars:
 * anchors, aliases, tags and duplicate keys are refused (libyaml's own document tree
 * resolves them unseen, so the tree is built from its events).
 */
#ifndef TIDELAB_CONFIG_TREE_H
#define TIDELAB_CONFIG_TREE_H

#include "sim/base/arena.h"
#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	TL_TREE_DEPTH_MAX = 32,
	TL_TREE_KEYS_MAX = 1024,    /* of one map */
	TL_TREE_BYTES_MAX = 4 << 20 /* of one file */
};

/* Where nodes come from; in the arena of the tree. */
struct tl_source {
	const char *name;   /* file as given, or `--set key` */
	const char *folder; /* what relative paths in it are relative to; "": the working folder */
	bool flag;          /* from the command line: has no lines */
};

enum tl_tree_kind { TL_TREE_SCALAR, TL_TREE_LIST, TL_TREE_MAP };

struct tl_tree_key {
	const char *name;
	const struct tl_source *source;
	long line, column;
};

struct tl_tree {
	enum tl_tree_kind kind;
	bool plain;       /* scalar without quotes */
	const char *text; /* scalar */
	const struct tl_source *source;
	long line, column;        /* 1-based; 0 where the source is a flag */
	struct tl_tree **items;   /* of a list; values of a map */
	struct tl_tree_key *keys; /* of a map */
	size_t count, capacity;
};

struct tl_source *tl_source_new(struct tl_arena *arena, const char *name, const char *folder,
                                bool flag);

/* Text to tree. *out is NULL where the text holds no document. All memory is the arena's. */
enum tl_status tl_tree_parse(struct tl_arena *arena, const struct tl_source *source,
                             const char *text, size_t size, struct tl_tree **out,
                             struct tl_error *error);
/* The same of a file; *out is never NULL: an empty file is refused. */
enum tl_status tl_tree_read(struct tl_arena *arena, const char *path, struct tl_tree **out,
                            struct tl_error *error);

struct tl_tree *tl_tree_scalar(struct tl_arena *arena, const struct tl_tree *where,
                               const char *text);
struct tl_tree *tl_tree_new(struct tl_arena *arena, enum tl_tree_kind kind,
                            const struct tl_source *source, long line, long column);
void tl_tree_append(struct tl_arena *arena, struct tl_tree *list, struct tl_tree *item);
/* Adds or replaces. */
void tl_tree_put(struct tl_arena *arena, struct tl_tree *map, const char *name,
                 struct tl_tree *value);
/* The value of a key, or NULL. */
struct tl_tree *tl_tree_get(const struct tl_tree *map, const char *name);

/* A map's key as a node, for messages. */
struct tl_tree tl_tree_key_node(const struct tl_tree_key *key);

/* `null`, `~` or nothing at all. */
bool tl_tree_is_null(const struct tl_tree *node);
/* What stands there, for a message: `text`, `a list`, `a map`, `nothing`. */
const char *tl_tree_describe(const struct tl_tree *node, char *buffer, size_t size);

/* The folder of a path with its final slash ("" where it has none), in the arena. */
const char *tl_folder_of(struct tl_arena *arena, const char *path);
/* A path written in a source, as seen from the working folder; in the arena. */
const char *tl_path_from(struct tl_arena *arena, const struct tl_source *source, const char *path);

#endif
