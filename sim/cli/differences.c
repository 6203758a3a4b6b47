/* SPDX-License-Identifier: GPL-3.0-or-later */
/* In what two scenarios differ. */
#include "sim/cli/compare.h"

#include "results/results.h"
#include "sim/base/arena.h"
#include "sim/config/tree.h"

#include <stdlib.h>
#include <string.h>

enum { KEY_MAX = 256 };

struct setting {
	char *key, *value;
};

/* A scenario as `key`, `value` pairs, in its order. */
struct flat {
	struct setting *items;
	size_t count, capacity;
};

static void flat_fini(struct flat *flat)
{
	for (size_t i = 0; i < flat->count; i++) {
		free(flat->items[i].key);
		free(flat->items[i].value);
	}
	free(flat->items);
}

static const char *find(const struct flat *flat, const char *key)
{
	for (size_t i = 0; i < flat->count; i++)
		if (strcmp(flat->items[i].key, key) == 0)
			return flat->items[i].value;
	return NULL;
}

static void put(struct flat *flat, const char *key, const char *value)
{
	for (size_t i = 0; i < flat->count; i++) {
		if (strcmp(flat->items[i].key, key) != 0)
			continue;
		free(flat->items[i].value);
		flat->items[i].value = tl_strdup(value);
		return;
	}
	flat->items = tl_grow(flat->items, &flat->capacity, flat->count + 1, sizeof *flat->items);
	flat->items[flat->count++] = (struct setting){tl_strdup(key), tl_strdup(value)};
}

/* Trees are at most TL_TREE_DEPTH_MAX deep. */
static void flatten(struct flat *flat, const struct tl_tree *node, const char *key)
{
	char inner[KEY_MAX];

	if (node->kind == TL_TREE_SCALAR) {
		put(flat, key, node->text);
		return;
	}
	for (size_t i = 0; i < node->count; i++) {
		if (node->kind == TL_TREE_LIST)
			(void)snprintf(inner, sizeof inner, "%s[%zu]", key, i);
		else
			(void)snprintf(inner, sizeof inner, "%s%s%s", key, key[0] ? "." : "",
			               node->keys[i].name);
		flatten(flat, node->items[i], inner);
	}
}

static enum tl_status read_scenario(const struct tl_runs *runs, struct flat *out,
                                    struct tl_error *error)
{
	struct tl_arena arena;
	struct tl_tree *tree = NULL;
	enum tl_status status;

	tl_arena_init(&arena);
	status = tl_tree_parse(&arena, tl_source_new(&arena, runs->source, "", false),
	                       runs->scenario, strlen(runs->scenario), &tree, error);
	if (status == TL_OK && tree)
		flatten(out, tree, "");
	tl_arena_fini(&arena);
	for (size_t i = 0; i < runs->setting_count && status == TL_OK; i++) {
		const size_t length = strcspn(runs->settings[i], "=");
		char key[KEY_MAX];

		(void)snprintf(key, sizeof key, "%.*s", (int)length, runs->settings[i]);
		put(out, key, runs->settings[i] + length + 1);
	}
	return status;
}

/* The contents of the traces, as the first run with a file states them. */
static enum tl_status read_traces(const struct tl_runs *runs, struct flat *out,
                                  struct tl_error *error)
{
	struct tl_results_reader *reader = NULL;
	enum tl_status status;
	size_t run = 0;

	while (run < runs->count && !runs->paths[run])
		run++;
	if (run == runs->count)
		return TL_OK;
	status = tl_results_open(runs->paths[run], &reader, error);
	if (status != TL_OK)
		return status;
	for (size_t i = 0;; i++) {
		char name[64], key[64], *sum;

		(void)snprintf(name, sizeof name, "sha256.workload.%zu", i);
		sum = tl_results_get_text(reader, name);
		if (!sum)
			break;
		(void)snprintf(key, sizeof key, "workload[%zu] (content)", i);
		put(out, key, sum);
		free(sum);
	}
	tl_results_reader_close(reader);
	return TL_OK;
}

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *text, const char *suffix)
{
	const size_t length = strlen(text), tail = strlen(suffix);

	return length >= tail && strcmp(text + length - tail, suffix) == 0;
}

/* A trace's name is not its content. */
static bool counts(const char *key)
{
	return strcmp(key, "name") != 0 && strcmp(key, "seed") != 0 && !begins(key, "output.") &&
	       !begins(key, "watchdog.") && !(begins(key, "workload[") && ends(key, "].trace"));
}

/* Of a workload entry, what is decided about it and not what it is: how it is served, and
 * where. */
static bool is_decision(const char *key)
{
	static const char *const decisions[] = {"pool",     "queue",       "replicas",
	                                        "requests", "batch",       "hot",
	                                        "routing",  "queue_limit", "gpu_milli"};
	const char *inner = strstr(key, "].");
	size_t length;

	if (!inner)
		return false;
	inner += 2;
	length = strcspn(inner, ".[");
	for (size_t i = 0; i < sizeof decisions / sizeof decisions[0]; i++)
		if (strlen(decisions[i]) == length && strncmp(inner, decisions[i], length) == 0)
			return true;
	return false;
}

static void note(struct tl_differences *out, const char *key, const char *a, const char *b)
{
	if (!counts(key) || (a && b && strcmp(a, b) == 0))
		return;
	out->items = tl_grow(out->items, &out->capacity, out->count + 1, sizeof *out->items);
	out->items[out->count++] =
	    (struct tl_difference){.key = tl_strdup(key),
	                           .a = a ? tl_strdup(a) : NULL,
	                           .b = b ? tl_strdup(b) : NULL,
	                           .decides = strcmp(key, "horizon") == 0 ||
	                                      (begins(key, "workload") && !is_decision(key))};
}

enum tl_status tl_differences_find(const struct tl_runs *a, const struct tl_runs *b,
                                   struct tl_differences *out, struct tl_error *error)
{
	struct flat of_a = {.items = NULL}, of_b = {.items = NULL};
	enum tl_status status = read_scenario(a, &of_a, error);

	*out = (struct tl_differences){.items = NULL};
	if (status == TL_OK)
		status = read_scenario(b, &of_b, error);
	if (status == TL_OK && a->paths[0] && b->paths[0]) {
		status = read_traces(a, &of_a, error);
		if (status == TL_OK)
			status = read_traces(b, &of_b, error);
	}
	for (size_t i = 0; i < of_a.count && status == TL_OK; i++)
		note(out, of_a.items[i].key, of_a.items[i].value, find(&of_b, of_a.items[i].key));
	for (size_t i = 0; i < of_b.count && status == TL_OK; i++)
		if (!find(&of_a, of_b.items[i].key))
			note(out, of_b.items[i].key, NULL, of_b.items[i].value);
	flat_fini(&of_a);
	flat_fini(&of_b);
	return status;
}

enum tl_status tl_differences_check(const struct tl_runs *a, const struct tl_runs *b,
                                    const struct tl_differences *differences,
                                    struct tl_error *error)
{
	for (size_t i = 0; i < differences->count; i++) {
		const struct tl_difference *d = &differences->items[i];

		if (d->decides)
			return tl_error_set(
			    error, TL_E_DATA, b->source, 0, 0,
			    "is not to be compared with %s, %s is another: `%.60s` and `%.60s`; "
			    "--anyway does so all the same",
			    a->source, d->key, d->b ? d->b : "nothing", d->a ? d->a : "nothing");
	}
	return TL_OK;
}

void tl_differences_fini(struct tl_differences *differences)
{
	for (size_t i = 0; i < differences->count; i++) {
		free(differences->items[i].key);
		free(differences->items[i].a);
		free(differences->items[i].b);
	}
	free(differences->items);
}
