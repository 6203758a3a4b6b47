/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pools: walls between nodes, what work may go where, and how much may be asked of each. */
#include "sim/config/config.h"

#include "sim/base/arena.h"

#include <string.h>

/* Pools are joined by `|` and name results. */
static bool is_name(const char *text)
{
	static const char letters[] =
	    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return text[0] != '\0' && text[strspn(text, letters)] == '\0' &&
	       strlen(text) < TL_POOL_NAME_MAX;
}

static const char wanted[] = "the name of a pool, of at most 31 letters, digits, `-` and `_`";

enum tl_status tl_pool_check(struct tl_fill *fill, const struct tl_cluster_group *group)
{
	if (group->pool[0] == '\0' || is_name(group->pool))
		return TL_OK;
	return tl_fill_fault_at(fill, group->node, "pool", "got `%s`, wanted %s", group->pool,
	                        wanted);
}

/* `A|B`, each once. */
static bool has(const char *pools, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = pools; *at != '\0'; at += strcspn(at, "|"), at += *at == '|')
		if (strcspn(at, "|") == length && memcmp(at, name, length) == 0)
			return true;
	return false;
}

static enum tl_status add(struct tl_fill *fill, const struct tl_tree *node, char *pools)
{
	size_t used = strlen(pools);

	if (node->kind != TL_TREE_SCALAR || tl_tree_is_null(node) || !is_name(node->text))
		return tl_fill_refuse(fill, node, wanted);
	if (has(pools, node->text))
		return tl_fill_fault(fill, node, "got `%s` again, wanted each pool once",
		                     node->text);
	if (used + strlen(node->text) + 2 > TL_POOLS_MAX)
		return tl_fill_fault(fill, node, "got too many pools, wanted at most %d bytes",
		                     TL_POOLS_MAX - 1);
	(void)snprintf(pools + used, TL_POOLS_MAX - used, "%s%s", used > 0 ? "|" : "", node->text);
	return TL_OK;
}

static enum tl_status set_pools(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, void *field)
{
	char *pools = field;
	enum tl_status status = TL_OK;

	pools[0] = '\0';
	if (node->kind == TL_TREE_MAP || tl_tree_is_null(node))
		return tl_fill_refuse(fill, node, key->custom->type);
	if (node->kind == TL_TREE_SCALAR)
		return node->text[0] == '\0' ? TL_OK : add(fill, node, pools);
	for (size_t i = 0; i < node->count && status == TL_OK; i++)
		status = add(fill, node->items[i], pools);
	return status;
}

static void emit_pools(const struct tl_config_key *key, const void *field, unsigned indent,
                       FILE *out)
{
	const char *pools = field;
	const bool several = strchr(pools, '|') != NULL;

	(void)key;
	(void)indent;
	(void)fputs(several ? " [" : pools[0] == '\0' ? " \"\"" : " ", out);
	for (const char *at = pools; *at != '\0'; at++)
		if (*at == '|')
			(void)fputs(", ", out);
		else
			(void)fputc(*at, out);
	(void)fputs(several ? "]\n" : "\n", out);
}

const struct tl_custom tl_custom_pools = {
    .type = "the name of a pool, or a list of them", .set = set_pools, .emit = emit_pools};

/* ---- oversubscription: 1.15, or {training: 1.2, others: 1} ---- */

static const struct tl_config_key ratio_keys[] = {
    {.name = "others",
     .type = TL_KEY_FACTOR,
     .standard = "1",
     .min = 1000,
     .max = 2000,
     .offset = offsetof(struct tl_oversubscription_config, others_milli),
     .width = sizeof(int32_t),
     .help = "of each pool that is not named here, and of a cluster without pools; "
             "`oversubscription: R` is short for this one alone"},
};

static enum tl_status set_ratio(struct tl_fill *fill, void *base, const struct tl_tree_key *key,
                                const struct tl_tree *node)
{
	struct tl_oversubscription_config *config = base;
	struct tl_ratio_config *ratio = &config->pools[config->pool_count];
	size_t length = tl_fill_enter(fill, key->name);
	enum tl_status status = tl_key_set(fill, &ratio_keys[0], node, &ratio->ratio_milli);

	if (status != TL_OK)
		return status;
	tl_fill_leave(fill, length);
	ratio->pool = key->name;
	config->pool_count++;
	return TL_OK;
}

static void emit_ratio(const void *base, unsigned indent, FILE *out)
{
	const struct tl_oversubscription_config *config = base;
	char number[40];

	for (size_t i = 0; i < config->pool_count; i++)
		(void)fprintf(out, "%*s%s: %s\n", (int)indent, "", config->pools[i].pool,
		              tl_exact_milli(config->pools[i].ratio_milli, number, sizeof number));
}

const struct tl_section tl_oversubscription_section = {
    .keys = ratio_keys,
    .count = 1,
    .other = set_ratio,
    .emit_other = emit_ratio,
    .other_help = "a pool of the cluster's nodes and its own ratio, such as `training: 1.2`"};

static enum tl_status set_ratios(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	struct tl_oversubscription_config *config = field;

	*config = (struct tl_oversubscription_config){.node = node};
	if (node->kind == TL_TREE_MAP)
		config->pools = tl_arena_alloc(fill->arena, node->count * sizeof *config->pools);
	return tl_custom_short.set(fill, key, node, field);
}

static void emit_ratios(const struct tl_config_key *key, const void *field, unsigned indent,
                        FILE *out)
{
	const struct tl_oversubscription_config *config = field;
	char number[40];

	if (config->pool_count > 0)
		tl_custom_short.emit(key, field, indent, out);
	else
		(void)fprintf(out, " %s\n",
		              tl_exact_milli(config->others_milli, number, sizeof number));
}

const struct tl_custom tl_custom_ratios = {
    .type = "a number of at most three decimals from 1 to 2, or a map of pools to such",
    .set = set_ratios,
    .emit = emit_ratios};

/* ---- which models those are ---- */

static uint64_t mask_of(const struct tl_cluster_spec *cluster, const char *pools)
{
	if (pools[0] == '\0' || !tl_cluster_spec_has_pools(cluster))
		return 0;
	return tl_cluster_spec_pools(cluster, pools);
}

void tl_config_pools_derive(struct tl_config *config)
{
	const struct tl_cluster_spec *cluster = &config->scenario.cluster;

	for (size_t i = 0; i < config->workload_count; i++) {
		struct tl_workload_config *entry = &config->workloads[i];

		entry->workload.pool_mask = mask_of(cluster, entry->workload.pool);
		entry->service.setting.pool_mask = mask_of(cluster, entry->service.setting.pool);
	}
	config->scenario.oversubscription_milli = config->oversubscription.others_milli;
}

void tl_config_pools_keep(struct tl_config *config)
{
	const struct tl_oversubscription_config *from = &config->oversubscription;
	struct tl_scenario *scenario = &config->scenario;

	scenario->pools = tl_calloc(from->pool_count, sizeof *scenario->pools);
	scenario->pool_count = from->pool_count;
	for (size_t i = 0; i < from->pool_count; i++) {
		(void)snprintf(scenario->pools[i].name, sizeof scenario->pools[i].name, "%s",
		               from->pools[i].pool);
		scenario->pools[i].oversubscription_milli = from->pools[i].ratio_milli;
	}
}

/* Each once. */
static size_t pool_names(const struct tl_cluster_spec *cluster, const char *names[TL_MODELS_MAX])
{
	size_t count = 0;

	for (size_t m = 0; m < cluster->model_count; m++) {
		const char *pool = cluster->models[m].pool;
		bool known = pool[0] == '\0';

		for (size_t i = 0; i < count && !known; i++)
			known = strcmp(names[i], pool) == 0;
		if (!known)
			names[count++] = pool;
	}
	return count;
}

static enum tl_status check_entry(struct tl_fill *fill, const struct tl_cluster_spec *cluster,
                                  const struct tl_workload_config *entry)
{
	const char *pools = entry->is_service ? entry->service.setting.pool : entry->workload.pool;
	const char *names[TL_MODELS_MAX];
	size_t count = pool_names(cluster, names);
	char name[TL_POOL_NAME_MAX], near[200];

	while (*pools != '\0') {
		size_t length = strcspn(pools, "|");

		(void)snprintf(name, sizeof name, "%.*s", (int)length, pools);
		if (tl_cluster_spec_pools(cluster, name) == 0)
			return tl_fill_fault_at(
			    fill, entry->node, "pool", "got `%s`, wanted a pool of the cluster%s",
			    name, tl_suggest_text(names, count, name, near, sizeof near));
		pools += length;
		pools += *pools == '|';
	}
	return TL_OK;
}

static enum tl_status check_ratios(struct tl_fill *fill, const struct tl_cluster_spec *cluster,
                                   const struct tl_tree *node)
{
	const char *names[TL_MODELS_MAX + 1];
	size_t count = pool_names(cluster, names);
	char near[200];

	names[count++] = ratio_keys[0].name;
	for (size_t i = 0; node->kind == TL_TREE_MAP && i < node->count; i++) {
		const struct tl_tree at = tl_tree_key_node(&node->keys[i]);
		size_t known = 0;

		while (known < count && strcmp(names[known], at.text) != 0)
			known++;
		if (known == count)
			return tl_fill_fault_at(
			    fill, &at, "oversubscription",
			    "got `%.60s`, wanted a pool of the cluster%s%s", at.text,
			    tl_cluster_spec_has_pools(cluster) ? "" : ", which has none",
			    tl_suggest_text(names, count, at.text, near, sizeof near));
	}
	return TL_OK;
}

enum tl_status tl_config_pools_check(struct tl_fill *fill, const struct tl_config *config)
{
	const struct tl_cluster_spec *cluster = &config->scenario.cluster;
	enum tl_status status = check_ratios(fill, cluster, config->oversubscription.node);

	if (!tl_cluster_spec_has_pools(cluster))
		return status; /* one pool for all */
	for (size_t i = 0; i < config->workload_count && status == TL_OK; i++) {
		size_t length = tl_fill_enter(fill, "workload");

		(void)tl_fill_enter_index(fill, i);
		status = check_entry(fill, cluster, &config->workloads[i]);
		if (status == TL_OK)
			tl_fill_leave(fill, length);
	}
	return status;
}
