/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab policies: the modules there are, and the options of one. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/config/schema.h"
#include "sim/plane/probe.h"

#include <stdlib.h>
#include <string.h>

static const struct tl_flag flags[] = {
    {"json", 'j', NULL, "a JSON list, or one object for a module"},
};

static const char *range(const struct tl_option *option, char *buffer, size_t size)
{
	char low[40], high[40];

	buffer[0] = '\0';
	if (option->type == TL_OPTION_BOOL)
		(void)snprintf(buffer, size, "true|false");
	else if (option->type == TL_OPTION_CHOICE)
		(void)snprintf(buffer, size, "%s", option->choices);
	else if (option->min < option->max)
		(void)snprintf(buffer, size, "%s to %s",
		               tl_option_bound(option, option->min, low, sizeof low),
		               tl_option_bound(option, option->max, high, sizeof high));
	return buffer;
}

static json_t *option_json(const struct tl_option *option)
{
	json_t *all = json_object();
	char text[160];

	(void)json_object_set_new(all, "name", json_string(option->name));
	(void)json_object_set_new(all, "type", json_string(tl_option_type_names[option->type]));
	(void)json_object_set_new(all, "unit", json_string(option->unit));
	(void)json_object_set_new(all, "default", json_string(option->standard));
	(void)json_object_set_new(all, "range", json_string(range(option, text, sizeof text)));
	(void)json_object_set_new(all, "help", json_string(option->help));
	return all;
}

static json_t *module_json(const struct tl_loaded_module *loaded)
{
	const struct tl_module *module = loaded->module;
	json_t *all = json_object(), *options = json_array();

	(void)json_object_set_new(all, "name", json_string(module->name));
	(void)json_object_set_new(all, "seat", json_string(tl_seat_names[module->seat]));
	(void)json_object_set_new(all, "version", json_string(module->version));
	(void)json_object_set_new(all, "summary", json_string(module->summary));
	(void)json_object_set_new(all, "path", json_string(loaded->path));
	(void)json_object_set_new(all, "sha256", json_string(loaded->sha256));
	for (uint32_t i = 0; i < module->option_count; i++)
		(void)json_array_append_new(options, option_json(tl_module_option(module, i)));
	(void)json_object_set_new(all, "options", options);
	return all;
}

static void describe_text(const struct tl_loaded_module *loaded, FILE *out)
{
	const struct tl_module *module = loaded->module;
	char text[160];

	(void)fprintf(out, "%s %s (%s)\n  %s\n  %s\n", module->name, module->version,
	              tl_seat_names[module->seat], module->summary, loaded->path);
	if (module->option_count == 0) {
		(void)fputs("\nNo options.\n", out);
		return;
	}
	(void)fputs("\nOptions:\n", out);
	for (uint32_t i = 0; i < module->option_count; i++) {
		const struct tl_option *option = tl_module_option(module, i);

		(void)fprintf(out, "  %s: %s%s%s%s, default %s\n", option->name,
		              tl_option_type_names[option->type], option->unit[0] ? " in " : "",
		              option->unit, "", option->standard);
		if (range(option, text, sizeof text)[0] != '\0')
			(void)fprintf(out, "      %s\n", text);
		(void)fprintf(out, "      %s\n", option->help);
	}
}

static void describe_json(const struct tl_loaded_module *loaded, FILE *out)
{
	tl_print_json(module_json(loaded), out);
}

static void describe_line(const struct tl_loaded_module *loaded, FILE *out)
{
	(void)fprintf(out, "%-10s %-20s %-8s %s\n", tl_seat_names[loaded->module->seat],
	              loaded->module->name, loaded->module->version, loaded->module->summary);
}

static void describe_reference(const struct tl_loaded_module *loaded, FILE *out)
{
	const struct tl_module *module = loaded->module;
	char text[160];

	(void)fprintf(out, "\n## %s `%s`\n\n%s\n", tl_seat_names[module->seat], module->name,
	              module->summary);
	if (module->option_count == 0)
		return;
	(void)fputs("\n| option | type | default | range | what it does |\n|---|---|---|---|---|\n",
	            out);
	for (uint32_t i = 0; i < module->option_count; i++) {
		const struct tl_option *option = tl_module_option(module, i);

		(void)fprintf(out, "| `%s` | %s%s%s | `%s` | ", option->name,
		              tl_option_type_names[option->type], option->unit[0] ? ", " : "",
		              option->unit, option->standard);
		for (const char *p = range(option, text, sizeof text); *p != '\0'; p++)
			(void)fprintf(out, *p == '|' ? "\\%c" : "%c", *p);
		(void)fprintf(out, " | %s |\n", option->help);
	}
}

static enum tl_status show_one(const char *name, bool json, struct tl_error *error)
{
	uint32_t seat;
	char *text = NULL;
	enum tl_status status =
	    tl_module_probe(name, json ? describe_json : describe_text, &seat, &text, error);

	if (status == TL_OK)
		(void)fputs(text, stdout);
	free(text);
	return status;
}

/* Has each module described, then shows what was said by seat and name. A module that is
 * refused is told of on stderr; the others are shown all the same. */
static enum tl_status each_module(void (*describe)(const struct tl_loaded_module *, FILE *),
                                  void (*show)(const char *text, void *context), void *context,
                                  struct tl_error *error)
{
	char **names = tl_paths_modules();
	size_t count = 0;
	enum tl_status worst = TL_OK;

	while (names[count])
		count++;
	char **texts = tl_calloc(count + 1, sizeof *texts);
	uint32_t *seats = tl_calloc(count + 1, sizeof *seats);
	if (count == 0)
		worst = tl_error_set(
		    error, TL_E_UNAVAILABLE, NULL, 0, 0,
		    "no policy module was found; TIDELAB_POLICY_PATH names further folders");
	for (size_t i = 0; i < count; i++) {
		struct tl_error cause = TL_ERROR_INIT;

		if (tl_module_probe(names[i], describe, &seats[i], &texts[i], &cause) == TL_OK)
			continue;
		tl_print_error(&cause);
		worst = tl_error_set(error, TL_E_UNAVAILABLE, NULL, 0, 0,
		                     "not every module could be loaded");
	}
	for (uint32_t seat = 0; seat < TL_SEAT_COUNT; seat++)
		for (size_t i = 0; i < count; i++)
			if (texts[i] && seats[i] == seat)
				show(texts[i], context);
	for (size_t i = 0; i < count; i++)
		free(texts[i]);
	free(texts);
	free(seats);
	tl_paths_free(names);
	return worst;
}

static void show_text(const char *text, void *context)
{
	(void)fputs(text, context);
}

static void show_json(const char *text, void *context)
{
	(void)json_array_append_new(context, json_loads(text, 0, NULL));
}

enum tl_status tl_policies_reference(FILE *out, struct tl_error *error)
{
	(void)fputs("# Policy modules\n\nBy seat. Written by `tidelab reference policies`; "
	            "`tidelab policies NAME` shows one of them.\n",
	            out);
	return each_module(describe_reference, show_text, out, error);
}

static enum tl_status run(const struct tl_command *command, const struct tl_args *args,
                          struct tl_error *error)
{
	const bool json = tl_args_has(args, "json");
	enum tl_status status;
	json_t *all;

	(void)command;
	if (args->operand_count > 0)
		return show_one(args->operands[0], json, error);
	if (!json)
		return each_module(describe_line, show_text, stdout, error);
	all = json_array();
	status = each_module(describe_json, show_json, all, error);
	tl_print_json(all, stdout);
	return status;
}

const struct tl_command tl_command_policies = {
    .name = "policies",
    .summary = "the policy modules there are, and the options of one",
    .operands = "[NAME]",
    .about = "Modules are looked for beside the executable, in the folders of TIDELAB_POLICY_PATH\n"
	     "(colons between), and where `make install` puts them. A NAME with a slash is a path.",
    .example = "tidelab policies fgd",
    TL_FLAGS(flags),
    .most = 1,
    .run = run,
};
