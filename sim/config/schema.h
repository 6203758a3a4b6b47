/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a scenario may say. schema.c holds the one table; fill.c validates and fills the
 * structs by it, emit.c writes the effective configuration by it, reference.c the
 * reference for people, and set.c finds its way by it.
 */
#ifndef TIDELAB_CONFIG_SCHEMA_H
#define TIDELAB_CONFIG_SCHEMA_H

#include "sim/base/error.h"
#include "sim/config/tree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum tl_key_type {
	TL_KEY_NAME,      /* char[width] */
	TL_KEY_TEXT,      /* const char *, in the arena */
	TL_KEY_BOOL,      /* bool */
	TL_KEY_INT,       /* integer of width bytes */
	TL_KEY_NUMBER,    /* double */
	TL_KEY_RATE,      /* double, events a second */
	TL_KEY_DURATION,  /* int64 ns */
	TL_KEY_SIZE,      /* int64 bytes */
	TL_KEY_BANDWIDTH, /* int64 bytes a second */
	TL_KEY_SHARE,     /* int64 milli-GPU */
	TL_KEY_FACTOR,    /* integer of width bytes, thousandths of a plain number */
	TL_KEY_CHOICE,    /* integer of width bytes: number of the choice + base */
	TL_KEY_MAP,       /* a section's keys, relative to this field */
	TL_KEY_LIST,      /* pointer to elements, size_t count at count_offset */
	TL_KEY_CUSTOM
};

struct tl_config_key;
struct tl_section;

/* The state of a validation: where we are, for messages. */
struct tl_fill {
	struct tl_arena *arena;
	struct tl_error *error;
	char path[192]; /* `workload[0].window` */
};

struct tl_custom {
	const char *type; /* for the reference */
	enum tl_status (*set)(struct tl_fill *fill, const struct tl_config_key *key,
	                      const struct tl_tree *node, void *field);
	/* Writes what follows `name:`, with the final newline. */
	void (*emit)(const struct tl_config_key *key, const void *field, unsigned indent,
	             FILE *out);
};

/* A word that stands for a value of its own, such as `none`. */
struct tl_word {
	const char *word;
	int64_t value;
};

enum { TL_KEY_WORDS = 2 };

struct tl_config_key {
	const char *name;
	enum tl_key_type type;
	bool open_low;        /* NUMBER, RATE: low itself is excluded */
	const char *unit;     /* for people; NULL */
	const char *standard; /* the default as one would write it; NULL: required */
	const char *help;     /* one line, with the source mark of the default where it has one */
	size_t offset, width;
	size_t count_offset; /* LIST */
	int64_t min, max;    /* of integers and quantities, inclusive; max 0: no bound above */
	double low, high;    /* NUMBER, RATE; both 0: any */
	const char *choices; /* CHOICE: `a|b|c` */
	int64_t base;        /* CHOICE: value of the first */
	struct tl_word words[TL_KEY_WORDS];
	const struct tl_section *section; /* MAP, LIST */
	const struct tl_custom *custom;   /* CUSTOM */
	const char *shorthand;            /* a scalar here stands for a map with this one key */
};

enum { TL_SECTION_VARIANTS = 2 };

struct tl_variant {
	const char *key; /* NULL: no more of them */
	const struct tl_section *section;
};

struct tl_section {
	const struct tl_config_key *keys;
	size_t count;
	size_t size; /* LIST: of an element, whose first member is const struct tl_tree *node */
	const char *help;
	/* Whether a key says anything, given the others of its map; NULL: always. */
	bool (*applies)(const struct tl_config_key *key, const void *base);
	/* A key that is not in the table; NULL: refused. */
	enum tl_status (*other)(struct tl_fill *fill, void *base, const struct tl_tree_key *key,
	                        const struct tl_tree *node);
	void (*emit_other)(const void *base, unsigned indent, FILE *out);
	const char *other_help;
	void (*reference_other)(FILE *out); /* tables of what those are; NULL: help says it all */
	/* LIST: elements with such a key are of another section, of the same size. */
	struct tl_variant variants[TL_SECTION_VARIANTS];
};

extern const struct tl_section tl_scenario_section;
extern const struct tl_section tl_cluster_section;

/* Validates a map and fills base by the section; node NULL: all defaults. */
enum tl_status tl_section_fill(struct tl_fill *fill, const struct tl_section *section,
                               const struct tl_tree *node, void *base);
/* The section of a list's element that was read from node: its variant, or itself. */
const struct tl_section *tl_section_variant(const struct tl_section *section,
                                            const struct tl_tree *node);
/* A list of such maps, into elements of the arena: *out. */
enum tl_status tl_list_fill(struct tl_fill *fill, const struct tl_section *section,
                            const struct tl_tree *node, void **out, size_t *count);
/* Whether every key that is written goes with the others; `reason` is what it does not go with. */
enum tl_status tl_section_applies(struct tl_fill *fill, const struct tl_section *section,
                                  const struct tl_tree *node, const void *base, const char *reason);
/* `path: got X, wanted <wanted>` at the node. */
enum tl_status tl_fill_refuse(struct tl_fill *fill, const struct tl_tree *node, const char *wanted);
/* `path: <text>` at the node. */
enum tl_status tl_fill_fault(struct tl_fill *fill, const struct tl_tree *node, const char *format,
                             ...) __attribute__((format(printf, 3, 4)));
/* `unknown key …` at the key, with the nearest there is (NULL: none). */
enum tl_status tl_fill_unknown(struct tl_fill *fill, const struct tl_tree_key *key,
                               const char *near);
/* Adds a step to the path and returns the length to go back to with tl_fill_leave. */
size_t tl_fill_enter(struct tl_fill *fill, const char *name);
size_t tl_fill_enter_index(struct tl_fill *fill, size_t index);
void tl_fill_leave(struct tl_fill *fill, size_t length);
/* A scalar of a simple type into *field; for customs that are made of such. */
enum tl_status tl_key_set(struct tl_fill *fill, const struct tl_config_key *key,
                          const struct tl_tree *node, void *field);
/* A name of at most size − 1 bytes without control characters. */
enum tl_status tl_fill_name(struct tl_fill *fill, const struct tl_tree *node, char *out,
                            size_t size);

const struct tl_config_key *tl_section_find(const struct tl_section *section, const char *name);
/* What the key wants, in words. Returns buffer. */
const char *tl_key_wanted(const struct tl_config_key *key, char *buffer, size_t size);

/* Of `a|b|c`: the number of a name, or -1; the name of a number into buffer. */
int tl_choice_index(const char *choices, const char *name);
const char *tl_choice_name(const char *choices, int64_t index, char *buffer, size_t size);

/* The nearest of the section's keys, or of `a|b|c`; NULL where none is near. */
const char *tl_suggest_key(const struct tl_section *section, const char *got);
const char *tl_suggest(const char *const *names, size_t count, const char *got);
/* `; did you mean `x`?`, or where none is near `; there are a, b, c` as far as it fits;
 * returns buffer. */
const char *tl_suggest_text(const char *const *names, size_t count, const char *got, char *buffer,
                            size_t size);

/* Writes the section's keys with the values of base, in the table's order. */
void tl_section_emit(const struct tl_section *section, const void *base, unsigned indent,
                     FILE *out);
/* What follows the name of a key whose value is a list of such maps. */
void tl_list_emit(const struct tl_section *section, const void *elements, size_t count,
                  unsigned indent, FILE *out);
/* A scalar as YAML, quoted where it has to be. */
void tl_emit_text(FILE *out, const char *text);
/* Exact, in the largest unit that leaves a whole number; 32 bytes hold any. */
const char *tl_exact_duration(int64_t ns, char *buffer, size_t size);
const char *tl_exact_size(int64_t bytes, char *buffer, size_t size);
const char *tl_exact_milli(int64_t milli, char *buffer, size_t size);
/* The shortest decimal that reads back as the same number. */
const char *tl_exact_double(double value, char *buffer, size_t size);

/* The reference of all keys, as Markdown. */
void tl_scenario_reference(FILE *out);

#endif
