/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Keys that are more than a scalar of one type: estimates, windows, tables, speeds. */
#include "sim/config/config.h"

#include "sim/base/units.h"

#include <string.h>

/* ---- estimates: exact | trace | noisy(0.3) ---- */

static enum tl_status set_estimates(struct tl_fill *fill, const struct tl_config_key *key,
                                    const struct tl_tree *node, void *field)
{
	struct tl_estimates_config *estimates = field;
	const char *text = node->text;
	size_t length = strlen(text);
	char number[32];

	*estimates = (struct tl_estimates_config){.how = TL_ESTIMATES_TRACE};
	if (node->kind != TL_TREE_SCALAR)
		return tl_fill_refuse(fill, node, key->custom->type);
	if (strcmp(text, "trace") == 0)
		return TL_OK;
	if (strcmp(text, "exact") == 0) {
		estimates->how = TL_ESTIMATES_EXACT;
		return TL_OK;
	}
	if (strncmp(text, "noisy(", 6) != 0 || text[length - 1] != ')' ||
	    length - 7 >= sizeof number)
		return tl_fill_refuse(fill, node, key->custom->type);
	memcpy(number, text + 6, length - 7);
	number[length - 7] = '\0';
	if (tl_parse_double(number, &estimates->sigma, NULL) != TL_OK || estimates->sigma < 0 ||
	    estimates->sigma > 10)
		return tl_fill_refuse(fill, node, "noisy(σ) with σ from 0 to 10");
	estimates->how = TL_ESTIMATES_NOISY;
	return TL_OK;
}

static void emit_estimates(const struct tl_config_key *key, const void *field, unsigned indent,
                           FILE *out)
{
	const struct tl_estimates_config *estimates = field;
	char sigma[40];

	(void)key;
	(void)indent;
	if (estimates->how == TL_ESTIMATES_NOISY)
		(void)fprintf(out, " noisy(%s)\n",
		              tl_exact_double(estimates->sigma, sigma, sizeof sigma));
	else
		(void)fputs(estimates->how == TL_ESTIMATES_EXACT ? " exact\n" : " trace\n", out);
}

const struct tl_custom tl_custom_estimates = {
    .type = "one of trace|exact|noisy(σ)", .set = set_estimates, .emit = emit_estimates};

/* ---- window: a length, or {start: …, length: …} ---- */

static enum tl_status set_window(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	struct tl_trace_options *trace = field;
	struct tl_window_config window = {0};
	enum tl_status status;

	if (node->kind == TL_TREE_MAP)
		status = tl_section_fill(fill, key->section, node, &window);
	else
		status = tl_key_set(fill, tl_section_find(key->section, "length"), node,
		                    &window.length_ns);
	trace->window_start_ns = window.start_ns;
	trace->window_ns = window.length_ns;
	return status;
}

static void emit_window(const struct tl_config_key *key, const void *field, unsigned indent,
                        FILE *out)
{
	const struct tl_trace_options *trace = field;
	const struct tl_window_config window = {trace->window_start_ns, trace->window_ns};

	(void)fputc('\n', out);
	tl_section_emit(key->section, &window, indent + 2, out);
}

const struct tl_custom tl_custom_window = {
    .type = "a duration or a map of `start` and `length`", .set = set_window, .emit = emit_window};

/* ---- prices: 25, or 2.5 per 1000 ---- */

static const char per_1000[] = " per 1000";

/* tail: what may follow the number, and does where it is written back. */
static enum tl_status set_money(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, const char *tail, int64_t *micros)
{
	size_t length = strlen(node->text), tail_length = strlen(tail);
	char number[64];
	double price = -1;

	if (length > tail_length && strcmp(node->text + length - tail_length, tail) == 0)
		length -= tail_length;
	if (node->kind == TL_TREE_SCALAR && length < sizeof number) {
		memcpy(number, node->text, length);
		number[length] = '\0';
		if (tl_parse_double(number, &price, NULL) != TL_OK)
			price = -1;
	}
	if (!(price >= 0 && price <= 1e9))
		return tl_fill_refuse(fill, node, key->custom->type);
	*micros = (int64_t)(price * 1e6 + 0.5);
	return TL_OK;
}

static void emit_money(int64_t micros, const char *tail, FILE *out)
{
	char number[40];
	int n = snprintf(number, sizeof number, "%lld.%06lld", (long long)(micros / 1000000),
	                 (long long)(micros % 1000000));

	while (n > 0 && number[n - 1] == '0')
		number[--n] = '\0';
	if (n > 0 && number[n - 1] == '.')
		number[n - 1] = '\0';
	(void)fprintf(out, " %s%s\n", number, tail);
}

static enum tl_status set_price(struct tl_fill *fill, const struct tl_config_key *key,
                                const struct tl_tree *node, void *field)
{
	return set_money(fill, key, node, "", field);
}

static void emit_price(const struct tl_config_key *key, const void *field, unsigned indent,
                       FILE *out)
{
	(void)key;
	(void)indent;
	emit_money(*(const int64_t *)field, "", out);
}

const struct tl_custom tl_custom_price = {
    .type = "a price from 0 to 1e9", .set = set_price, .emit = emit_price};

static enum tl_status set_penalty(struct tl_fill *fill, const struct tl_config_key *key,
                                  const struct tl_tree *node, void *field)
{
	return set_money(fill, key, node, per_1000, field);
}

static void emit_penalty(const struct tl_config_key *key, const void *field, unsigned indent,
                         FILE *out)
{
	(void)key;
	(void)indent;
	emit_money(*(const int64_t *)field, per_1000, out);
}

const struct tl_custom tl_custom_penalty = {.type = "a price from 0 to 1e9 (such as 2.5 per 1000)",
                                            .set = set_penalty,
                                            .emit = emit_penalty};

/* ---- tables ---- */

static const char *const table_names[] = {"jobs",   "transitions", "timeline",   "nodes",
                                          "ledger", "summary",     "placements", "decisions",
                                          "faults", "windows"};
enum { TABLE_COUNT = sizeof table_names / sizeof table_names[0] };

_Static_assert(1u << (TABLE_COUNT - 1) == TL_TABLE_WINDOWS, "a name for each table");

static enum tl_status add_table(struct tl_fill *fill, const struct tl_tree *node, uint32_t *tables)
{
	const char *near;

	if (node->kind != TL_TREE_SCALAR)
		return tl_fill_refuse(fill, node, "the name of a table");
	for (size_t i = 0; i < TABLE_COUNT; i++)
		if (strcmp(node->text, table_names[i]) == 0) {
			*tables |= UINT32_C(1) << i;
			return TL_OK;
		}
	near = tl_suggest(table_names, TABLE_COUNT, node->text);
	return tl_fill_fault(
	    fill, node,
	    "got `%.60s`, wanted standard, all, or a list of jobs, transitions, timeline, "
	    "nodes, ledger, summary, placements, decisions, faults, windows%s%s%s",
	    node->text, near ? "; did you mean `" : "", near ? near : "", near ? "`?" : "");
}

static enum tl_status set_tables(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	uint32_t *tables = field;
	enum tl_status status = TL_OK;

	*tables = 0;
	if (node->kind == TL_TREE_MAP || tl_tree_is_null(node))
		return tl_fill_refuse(fill, node, key->custom->type);
	if (node->kind == TL_TREE_SCALAR && strcmp(node->text, "standard") == 0)
		*tables = TL_TABLES_DEFAULT;
	else if (node->kind == TL_TREE_SCALAR && strcmp(node->text, "all") == 0)
		*tables = (UINT32_C(1) << TABLE_COUNT) - 1;
	else if (node->kind == TL_TREE_SCALAR)
		status = add_table(fill, node, tables);
	for (size_t i = 0; node->kind == TL_TREE_LIST && i < node->count && status == TL_OK; i++)
		status = add_table(fill, node->items[i], tables);
	return status;
}

static void emit_tables(const struct tl_config_key *key, const void *field, unsigned indent,
                        FILE *out)
{
	const uint32_t *tables = field;
	const char *comma = "";

	(void)key;
	(void)indent;
	(void)fputs(" [", out);
	for (size_t i = 0; i < TABLE_COUNT; i++)
		if (*tables & UINT32_C(1) << i) {
			(void)fprintf(out, "%s%s", comma, table_names[i]);
			comma = ", ";
		}
	(void)fputs("]\n", out);
}

const struct tl_custom tl_custom_tables = {
    .type = "standard, all, or a list of tables", .set = set_tables, .emit = emit_tables};

/* ---- speeds: {0.6: 0.99, 1: 0.85} ---- */

static enum tl_status set_step(struct tl_fill *fill, const struct tl_tree *map, size_t i,
                               struct tl_sharing_step *step)
{
	const struct tl_tree at = tl_tree_key_node(&map->keys[i]);
	const struct tl_tree *speed = map->items[i];

	if (tl_parse_share(at.text, &step->up_to_milli, NULL) != TL_OK || step->up_to_milli < 1 ||
	    step->up_to_milli > 64000)
		return tl_fill_refuse(fill, &at,
		                      "a sum of utilisations above 0 and at most 64, of "
		                      "at most three decimals");
	if (i > 0 && step->up_to_milli <= step[-1].up_to_milli)
		return tl_fill_fault(fill, &at, "got `%.60s` after `%.60s`, wanted them to ascend",
		                     at.text, map->keys[i - 1].name);
	if (speed->kind != TL_TREE_SCALAR || !speed->plain ||
	    tl_parse_share(speed->text, &step->speed_milli, NULL) != TL_OK ||
	    step->speed_milli < 1 || step->speed_milli > 1000)
		return tl_fill_refuse(fill, speed,
		                      "a speed above 0 and at most 1, of at most "
		                      "three decimals");
	if (i > 0 && step->speed_milli > step[-1].speed_milli)
		return tl_fill_fault(fill, speed,
		                     "got %.60s after a slower one, wanted speeds not to rise",
		                     speed->text);
	return TL_OK;
}

static enum tl_status set_speeds(struct tl_fill *fill, const struct tl_config_key *key,
                                 const struct tl_tree *node, void *field)
{
	struct tl_sharing *sharing = field;
	enum tl_status status = TL_OK;

	if (node->kind != TL_TREE_MAP)
		return tl_fill_refuse(fill, node, key->custom->type);
	if (node->count > TL_SHARING_STEPS_MAX)
		return tl_fill_fault(fill, node, "got %zu steps, wanted at most %d", node->count,
		                     TL_SHARING_STEPS_MAX);
	sharing->step_count = node->count;
	for (size_t i = 0; i < node->count && status == TL_OK; i++)
		status = set_step(fill, node, i, &sharing->steps[i]);
	return status;
}

static void emit_speeds(const struct tl_config_key *key, const void *field, unsigned indent,
                        FILE *out)
{
	const struct tl_sharing *sharing = field;
	char at[32], speed[32];

	(void)key;
	(void)indent;
	(void)fputs(" {", out);
	for (size_t i = 0; i < sharing->step_count; i++)
		(void)fprintf(out, "%s%s: %s", i > 0 ? ", " : "",
		              tl_exact_milli(sharing->steps[i].up_to_milli, at, sizeof at),
		              tl_exact_milli(sharing->steps[i].speed_milli, speed, sizeof speed));
	(void)fputs("}\n", out);
}

const struct tl_custom tl_custom_speeds = {
    .type = "a map of utilisations and speeds", .set = set_speeds, .emit = emit_speeds};
