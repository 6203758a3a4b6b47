/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario's settings against a module's option table. */
#include "sim/base/arena.h"
#include "sim/base/units.h"
#include "sim/config/schema.h"
#include "sim/plane/module.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tl_option_type_names[] = {"bool", "int",   "real",   "duration",
                                            "size", "share", "choice", "text"};

const struct tl_option *tl_module_option(const struct tl_module *module, uint32_t i)
{
	return (const struct tl_option *)(const void *)((const char *)module->options +
	                                                (size_t)i * module->option_stride);
}

static bool parse_bool(const char *text, int64_t *out)
{
	if (strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "on") == 0)
		*out = 1;
	else if (strcmp(text, "false") == 0 || strcmp(text, "no") == 0 || strcmp(text, "off") == 0)
		*out = 0;
	else
		return false;
	return true;
}

static bool parse_choice(const char *choices, const char *text, int64_t *out)
{
	size_t length = strlen(text);

	*out = 0;
	for (const char *at = choices; *at != '\0'; (*out)++) {
		size_t word = strcspn(at, "|");

		if (word == length && memcmp(at, text, length) == 0)
			return true;
		at += word + (at[word] == '|');
	}
	return false;
}

/* Fills *message where the text is not of the option's type. */
static bool parse_value(const struct tl_option *option, const char *text,
                        struct tl_option_value *out, struct tl_error *why)
{
	*out = (struct tl_option_value){.text = text};
	switch (option->type) {
	case TL_OPTION_BOOL:
		if (parse_bool(text, &out->i))
			return true;
		tl_error_set(why, TL_E_DATA, NULL, 0, 0, "got `%s`, wanted true or false", text);
		return false;
	case TL_OPTION_INT:
		return tl_parse_int(text, &out->i, why) == TL_OK;
	case TL_OPTION_REAL:
		return tl_parse_double(text, &out->f, why) == TL_OK;
	case TL_OPTION_DURATION:
		return tl_parse_duration(text, &out->i, why) == TL_OK;
	case TL_OPTION_SIZE:
		return tl_parse_size(text, &out->i, why) == TL_OK;
	case TL_OPTION_SHARE:
		return tl_parse_share(text, &out->i, why) == TL_OK;
	case TL_OPTION_CHOICE:
		if (parse_choice(option->choices, text, &out->i))
			return true;
		tl_error_set(why, TL_E_DATA, NULL, 0, 0, "got `%s`, wanted one of %s", text,
		             option->choices);
		return false;
	case TL_OPTION_TEXT:
		return true;
	}
	tl_error_set(why, TL_E_DATA, NULL, 0, 0, "option type: got %d, wanted below %d",
	             (int)option->type, TL_OPTION_TEXT + 1);
	return false;
}

static bool in_range(const struct tl_option *option, const struct tl_option_value *value)
{
	if (!(option->min < 0.0 || option->min > 0.0 || option->max < 0.0 || option->max > 0.0) ||
	    option->type == TL_OPTION_TEXT || option->type == TL_OPTION_CHOICE ||
	    option->type == TL_OPTION_BOOL)
		return true;
	double number = option->type == TL_OPTION_REAL ? value->f : (double)value->i;

	return number >= option->min && number <= option->max;
}

const char *tl_option_bound(const struct tl_option *option, double bound, char *buffer, size_t size)
{
	const bool whole = !(fabs(bound - rint(bound)) > 0) && fabs(bound) < 1e15;

	switch (option->type) {
	case TL_OPTION_DURATION:
		return tl_exact_duration((int64_t)bound, buffer, size);
	case TL_OPTION_SIZE:
		return tl_exact_size((int64_t)bound, buffer, size);
	case TL_OPTION_SHARE:
		return tl_exact_milli((int64_t)bound, buffer, size);
	default:
		if (!whole)
			return tl_exact_double(bound, buffer, size);
		(void)snprintf(buffer, size, "%.0f", bound);
		return buffer;
	}
}

/* Wrong at the place of a setting: its flag, or its line of the file. */
static enum tl_status fault(const struct tl_setting *setting, const char *file, const char *text,
                            struct tl_error *error)
{
	if (setting->flag != NULL)
		return tl_error_set(error, TL_E_USAGE, setting->flag, 0, 0, "%s", text);
	return tl_error_set(error, TL_E_CONFIG, file, setting->line, setting->column, "%s", text);
}

static enum tl_status set_value(const struct tl_module *module, const struct tl_option *option,
                                const struct tl_setting *setting, const char *file,
                                struct tl_option_value *out, struct tl_error *error)
{
	char text[TL_ERROR_MESSAGE_MAX];
	struct tl_error why = TL_ERROR_INIT;
	char low[48], high[48];

	if (!parse_value(option, setting->value, out, &why))
		(void)snprintf(text, sizeof text, "%s: option `%s`: %.400s", module->name,
		               option->name, why.message);
	else if (!in_range(option, out))
		(void)snprintf(text, sizeof text, "%s: option `%s`: got %.200s, wanted %s to %s",
		               module->name, option->name, setting->value,
		               tl_option_bound(option, option->min, low, sizeof low),
		               tl_option_bound(option, option->max, high, sizeof high));
	else
		return TL_OK;
	return fault(setting, file, text, error);
}

static enum tl_status unknown_option(const struct tl_module *module,
                                     const struct tl_setting *setting, const char *file,
                                     struct tl_error *error)
{
	/* Beside the scheduler's options stand the seats. */
	const uint32_t seats_from =
	    module->seat == TL_SEAT_SCHEDULER ? TL_SEAT_SCHEDULER + 1 : TL_SEAT_COUNT;
	char known[512] = "", text[TL_ERROR_MESSAGE_MAX];
	const char **names = tl_calloc(module->option_count + (size_t)TL_SEAT_COUNT, sizeof *names);
	size_t used = 0, count = 0;

	for (uint32_t i = 0; i < module->option_count; i++)
		names[count++] = tl_module_option(module, i)->name;
	for (uint32_t s = seats_from; s < TL_SEAT_COUNT; s++)
		names[count++] = tl_seat_names[s];
	const char *near = tl_suggest(names, count, setting->name);

	for (size_t i = 0; i < count && used < sizeof(known); i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
		                         i == 0                      ? ""
		                         : i == module->option_count ? "; or of the seats "
		                                                     : ", ",
		                         names[i]);
	free(names);
	if (near)
		(void)snprintf(text, sizeof text, "%s: got option `%.63s`; did you mean `%s`?",
		               module->name, setting->name, near);
	else
		(void)snprintf(text, sizeof text, "%s: got option `%.63s`, wanted %s%s",
		               module->name, setting->name,
		               module->option_count > 0 ? "one of " : "none", known);
	return fault(setting, file, text, error);
}

enum tl_status tl_module_options(const struct tl_module *module, const struct tl_setting *settings,
                                 size_t count, const char *file, struct tl_option_value **values,
                                 struct tl_error *error)
{
	struct tl_option_value *filled = tl_calloc(module->option_count + 1u, sizeof(*filled));
	enum tl_status status = TL_OK;

	for (uint32_t i = 0; i < module->option_count && status == TL_OK; i++) {
		const struct tl_option *option = tl_module_option(module, i);

		const struct tl_setting standard = {.value = (char *)(uintptr_t)option->standard};

		status = set_value(module, option, &standard, NULL, &filled[i], error);
	}
	for (size_t s = 0; s < count && status == TL_OK; s++) {
		uint32_t i = 0;

		while (i < module->option_count &&
		       strcmp(tl_module_option(module, i)->name, settings[s].name) != 0)
			i++;
		status = i == module->option_count
		             ? unknown_option(module, &settings[s], file, error)
		             : set_value(module, tl_module_option(module, i), &settings[s], file,
		                         &filled[i], error);
	}
	if (status != TL_OK) {
		free(filled);
		return status;
	}
	*values = filled;
	return TL_OK;
}
