/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The reference of the scenario file, generated from the schema. */
#include "sim/config/schema.h"

#include <string.h>

/* In a table cell a bar would end the cell. */
static void cell(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		(void)fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
}

static void row(const struct tl_config_key *key, const char *path, FILE *out)
{
	char wanted[320];

	(void)fprintf(out, "| `%s%s` | ", path, key->name);
	cell(out, tl_key_wanted(key, wanted, sizeof wanted));
	(void)fputs(" | ", out);
	if (!key->standard)
		(void)fputs("(required)", out);
	else if (key->type == TL_KEY_MAP)
		(void)fputs("see below", out);
	else if (strcmp(key->standard, "\"\"") == 0)
		(void)fputs("(empty)", out);
	else {
		(void)fputc('`', out);
		cell(out, key->standard);
		(void)fputc('`', out);
	}
	(void)fputs(" | ", out);
	cell(out, key->help);
	(void)fputs(" |\n", out);
}

static void section(const struct tl_section *table, const char *title, const char *path,
                    const char *help, FILE *out)
{
	(void)fprintf(out, "\n## %s\n\n", title);
	if (help)
		(void)fprintf(out, "%c%s.\n\n", help[0], help + 1);
	if (table->help)
		(void)fprintf(out, "%s\n\n", table->help);
	(void)fputs("| key | value | default | what it is |\n|---|---|---|---|\n", out);
	for (size_t i = 0; i < table->count; i++)
		row(&table->keys[i], path, out);
	if (table->other_help)
		(void)fprintf(out, "\nBesides, %s.\n", table->other_help);
	if (table->reference_other)
		table->reference_other(out);
	for (size_t i = 0; i < TL_SECTION_VARIANTS && table->variants[i].key; i++) {
		char heading[128];

		(void)snprintf(heading, sizeof heading, "`%.*s` with `%s`", (int)strlen(path) - 1,
		               path, table->variants[i].key);
		section(table->variants[i].section, heading, path, NULL, out);
	}
	for (size_t i = 0; i < table->count; i++) {
		const struct tl_config_key *key = &table->keys[i];
		char inner[128], heading[128];

		if (!key->section)
			continue;
		(void)snprintf(inner, sizeof inner, "%s%s%s.", path, key->name,
		               key->type == TL_KEY_LIST ? "[]" : "");
		/* The title is the path without the final dot. */
		(void)snprintf(heading, sizeof heading, "`%.*s`", (int)strlen(inner) - 1, inner);
		section(key->section, heading, inner, key->help, out);
	}
}

void tl_scenario_reference(FILE *out)
{
	(void)fputs(
	    "# The scenario file\n\n"
	    "One YAML file is one experiment. Unknown keys and impossible values are refused with "
	    "file, line and column. Anchors, aliases, tags and a second document are not accepted. "
	    "`--set a.b=value` and `--set workload[0].demand=1.3` edit the file before it is "
	    "validated; `--set workload[*].requests=fluid` edits every entry that takes the key: "
	    "here all services.\n\n"
	    "Durations are `90s`, `5min`, `2h`, `7d`; sizes `40GiB` or `40GB`; GPU shares `0.5` or "
	    "`500m`. Paths in a file are relative to that file; paths in flags to the working folder. "
	    "Marks behind a default say where it comes from: [S] a public source, [D] derived or "
	    "fitted from public data, [R] recalled, [A] assumed.\n",
	    out);
	section(&tl_scenario_section, "Top level", "", NULL, out);
}
