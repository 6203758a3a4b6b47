/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workload: - {generate: NAME, …}: the generator's own table of options, as keys. */
#include "sim/config/config.h"
#include "sim/config/table.h"

#include <string.h>

/* clang-format off */
static const struct tl_config_key generate_keys[] = {
    {.name = "generate", .type = TL_KEY_CHOICE,
     .choices = "philly|helios|seren|kalos|pai|rl-training|release-evaluation",
     AT(tl_workload_config, workload.generate.preset),
     .help = "whose arrivals, run times, sizes and outcomes: a published cluster's (model: run times "
             "log-normal, the hour's and the weekday's rate), RL training, or a release's evaluation"},
    {.name = "tenant", .type = TL_KEY_NAME, .standard = "\"\"",
     AT(tl_workload_config, workload.tenant),
     .help = "all jobs belong to this tenant; empty: drawn among `tenants`"},
    {.name = "queue", .type = TL_KEY_NAME, .standard = "\"\"", AT(tl_workload_config, workload.queue),
     .help = "queue of the jobs; empty: high for inference, normal for training, low for the rest"},
    {.name = "pool", .type = TL_KEY_CUSTOM, .standard = "\"\"", .custom = &tl_custom_pools,
     AT(tl_workload_config, workload.pool),
     .help = "the nodes its jobs go to: those of this pool, or of a list of pools; empty: any"},
    {.name = "infeasible", .type = TL_KEY_CHOICE, .standard = "reject", .choices = "reject|clamp",
     AT(tl_workload_config, workload.infeasible),
     .help = "jobs larger than the cluster: reject each, or clamp them to what there is"},
};
/* clang-format on */

/* `limit_gpus` for `limit-gpus`. */
static const char *key_of(const struct tl_generate_option_desc *desc, char *buffer, size_t size)
{
	(void)snprintf(buffer, size, "%s", desc->name);
	for (char *c = buffer; *c != '\0'; c++)
		if (*c == '-')
			*c = '_';
	return buffer;
}

/* The preset is the entry's name, the seed the scenario's. */
static bool is_key(const struct tl_generate_option_desc *desc)
{
	return desc->type != TL_GENERATE_PRESET && strcmp(desc->name, "seed") != 0;
}

enum { NAME_MAX_BYTES = 32, OPTIONS_MAX = 48 };

static enum tl_status unknown(struct tl_fill *fill, const struct tl_tree_key *key)
{
	char names[OPTIONS_MAX][NAME_MAX_BYTES];
	const char *near[OPTIONS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < COUNT(generate_keys); i++)
		near[count++] = generate_keys[i].name;
	for (size_t i = 0; i < tl_generate_option_count && count < OPTIONS_MAX; i++)
		if (is_key(&tl_generate_option_descs[i])) {
			near[count] =
			    key_of(&tl_generate_option_descs[i], names[count], sizeof names[count]);
			count++;
		}
	return tl_fill_unknown(fill, key, tl_suggest(near, count, key->name));
}

/* Defaults are set with the first of the options, as the section knows nothing of them. */
static struct tl_generate_options *options_of(struct tl_workload_config *entry)
{
	if (!entry->workload.is_made)
		tl_generate_options_default(&entry->workload.generate);
	entry->workload.is_made = true;
	return &entry->workload.generate;
}

static enum tl_status set_option(struct tl_fill *fill, void *base, const struct tl_tree_key *key,
                                 const struct tl_tree *node)
{
	const struct tl_generate_option_desc *desc = NULL;
	char name[NAME_MAX_BYTES], wanted[160];
	size_t length;

	for (size_t i = 0; i < tl_generate_option_count && !desc; i++)
		if (is_key(&tl_generate_option_descs[i]) &&
		    strcmp(key_of(&tl_generate_option_descs[i], name, sizeof name), key->name) == 0)
			desc = &tl_generate_option_descs[i];
	if (!desc)
		return unknown(fill, key);
	length = tl_fill_enter(fill, key->name);
	if (node->kind != TL_TREE_SCALAR || tl_tree_is_null(node) ||
	    tl_generate_set(options_of(base), desc->name, node->text, NULL) != TL_OK) {
		(void)snprintf(wanted, sizeof wanted, "%s%s%s", desc->range,
		               desc->unit[0] != '\0' ? " " : "", desc->unit);
		return tl_fill_refuse(fill, node, wanted);
	}
	tl_fill_leave(fill, length);
	return TL_OK;
}

static void emit_value(const struct tl_generate_option_desc *desc, const void *at, FILE *out)
{
	int64_t integer;
	double real;
	char text[40];

	memcpy(&integer, at, sizeof integer);
	memcpy(&real, at, sizeof real);
	switch (desc->type) {
	case TL_GENERATE_DOUBLE:
	case TL_GENERATE_RATE:
		(void)fputs(tl_exact_double(real, text, sizeof text), out);
		break;
	case TL_GENERATE_DURATION:
		(void)fputs(tl_exact_duration(integer, text, sizeof text), out);
		break;
	case TL_GENERATE_SIZE:
		(void)fputs(tl_exact_size(integer, text, sizeof text), out);
		break;
	case TL_GENERATE_INT:
	case TL_GENERATE_PRESET:
		(void)fprintf(out, "%lld", (long long)integer);
		break;
	}
}

static void emit_options(const void *base, unsigned indent, FILE *out)
{
	const struct tl_workload_config *entry = base;
	const struct tl_generate_options *options = &entry->workload.generate;
	char name[NAME_MAX_BYTES];

	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];

		if (!is_key(desc) || !tl_generate_goes_with(desc, options->preset))
			continue;
		(void)fprintf(out, "%*s%s: ", (int)indent, "", key_of(desc, name, sizeof name));
		emit_value(desc, (const char *)options + desc->offset, out);
		(void)fputc('\n', out);
	}
}

static void reference_options(FILE *out)
{
	char name[NAME_MAX_BYTES];

	(void)fputs("\n| key | value | default | what it is | of |\n|---|---|---|---|---|\n", out);
	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];
		const bool published = tl_generate_goes_with(desc, TL_PRESET_PHILLY);
		const bool rl = tl_generate_goes_with(desc, TL_PRESET_RL_TRAINING);
		const bool release = tl_generate_goes_with(desc, TL_PRESET_RELEASE_EVALUATION);

		if (!is_key(desc))
			continue;
		(void)fprintf(out, "| `workload[].%s` | %s%s%s | %s | %s | ",
		              key_of(desc, name, sizeof name), desc->range,
		              desc->unit[0] != '\0' ? " " : "", desc->unit, desc->default_text,
		              desc->help);
		(void)fprintf(out, "%s |\n",
		              published && rl && release ? "all"
		              : published && rl          ? "all but release-evaluation"
		              : published && release     ? "all but rl-training"
		              : published                ? "the published clusters"
		                                         : "release-evaluation");
	}
}

const struct tl_section tl_generate_section = {
    SECTION(generate_keys),
    .help = "Jobs that are made as the run goes, the same for a seed whatever else the scenario "
	    "holds: the draws of an entry are keyed by its name, and its number among those of "
	    "that name. Time 0 is a Monday 00:00; arrivals end at `span`, the horizon unless told.",
    .other = set_option,
    .emit_other = emit_options,
    .other_help = "the options of the generator, those of `tidelab trace generate`",
    .reference_other = reference_options,
};

void tl_generate_config_derive(struct tl_workload_config *entry, const struct tl_scenario *scenario,
                               uint64_t number)
{
	enum { OF_NAME_BITS = 16 };
	const int32_t preset = entry->workload.generate.preset;
	struct tl_generate_options *options = options_of(entry);
	bool span = false;

	for (size_t i = 0; i < tl_generate_option_count; i++)
		if (strcmp(tl_generate_option_descs[i].name, "span") == 0)
			span = (options->given >> i & 1) != 0;
	options->preset = preset;
	options->seed = scenario->seed;
	options->entity = (uint64_t)preset << OF_NAME_BITS | number;
	if (!span && scenario->horizon_ns != TL_NEVER)
		options->span_ns = scenario->horizon_ns;
	tl_generate_settle(options);
	entry->workload.kind = -1;
	entry->resolved = tl_generate_preset_names[preset];
	tl_trace_options_default(&entry->workload.trace);
}

enum tl_status tl_generate_config_check(struct tl_fill *fill,
                                        const struct tl_workload_config *entry)
{
	struct tl_error cause;

	if (tl_generate_check(&entry->workload.generate, &cause) == TL_OK)
		return TL_OK;
	return tl_fill_fault(fill, entry->node, "%s", cause.message);
}
