/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A scenario from a file, from flags alone, or from a file that flags change. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *keep(struct tl_overrides *overrides, const char *text, size_t length)
{
	char *copy = tl_strndup(text, length);

	overrides->texts = tl_grow(overrides->texts, &overrides->text_capacity,
	                           overrides->text_count + 1, sizeof *overrides->texts);
	overrides->texts[overrides->text_count++] = copy;
	return copy;
}

void tl_overrides_add(struct tl_overrides *overrides, const char *key, const char *value,
                      const char *flag)
{
	overrides->items = tl_grow(overrides->items, &overrides->capacity, overrides->count + 1,
	                           sizeof *overrides->items);
	overrides->items[overrides->count++] =
	    (struct tl_override){.key = keep(overrides, key, strlen(key)),
	                         .value = keep(overrides, value, strlen(value)),
	                         .flag = flag};
}

enum tl_status tl_overrides_set(struct tl_overrides *overrides, const char *prefix,
                                const char *text, const char *flag, struct tl_error *error)
{
	const char *equals = strchr(text, '=');
	size_t length = equals ? (size_t)(equals - text) : 0;
	char key[256];

	if (length == 0 || strlen(prefix) + length >= sizeof key)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "%s: got `%.100s`, wanted %s",
		                    flag ? flag : "--set", text,
		                    strcmp(prefix, "policy.") == 0 ? "SEAT=NAME, as in place=fgd"
		                                                   : "KEY=VALUE");
	(void)snprintf(key, sizeof key, "%s%.*s", prefix, (int)length, text);
	tl_overrides_add(overrides, key, equals + 1, flag);
	return TL_OK;
}

void tl_overrides_fini(struct tl_overrides *overrides)
{
	for (size_t i = 0; i < overrides->text_count; i++)
		free(overrides->texts[i]);
	free(overrides->texts);
	free(overrides->items);
}

char *tl_quoted(const char *text)
{
	char *out = tl_alloc(4 * strlen(text) + 3), *p = out;

	*p++ = '"';
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\') {
			*p++ = '\\';
			*p++ = *text;
		} else if (c < 0x20 || c == 0x7f) {
			p += snprintf(p, 5, "\\x%02x", c);
		} else {
			*p++ = *text;
		}
	}
	*p++ = '"';
	*p = '\0';
	return out;
}

static void add_quoted(struct tl_overrides *overrides, const char *key, const char *value,
                       const char *flag)
{
	char *quoted = tl_quoted(value);

	tl_overrides_add(overrides, key, quoted, flag);
	free(quoted);
}

/* --trace A --trace B --format F: the whole workload. */
static enum tl_status add_traces(const struct tl_args *args, struct tl_overrides *overrides,
                                 struct tl_error *error)
{
	const char *format = tl_args_value(args, "format");
	size_t count = 0;
	char key[48];

	for (size_t i = 0; i < args->given_count; i++) {
		if (strcmp(args->given[i].flag->name, "trace") != 0)
			continue;
		if (count == 0)
			tl_overrides_add(overrides, "workload", "[]", "--trace");
		(void)snprintf(key, sizeof key, "workload[%zu].trace", count);
		add_quoted(overrides, key, args->given[i].value, "--trace");
		if (format) {
			(void)snprintf(key, sizeof key, "workload[%zu].format", count);
			tl_overrides_add(overrides, key, format, "--format");
		}
		count++;
	}
	if (format && count == 0)
		return tl_error_set(
		    error, TL_E_USAGE, NULL, 0, 0,
		    "--format: goes with --trace; for the scenario's own traces there is "
		    "--set workload[0].format=%.20s",
		    format);
	return TL_OK;
}

/* order=fifo,place=topology */
static enum tl_status add_policies(struct tl_overrides *overrides, const char *list,
                                   struct tl_error *error)
{
	while (*list != '\0') {
		size_t length = strcspn(list, ",");
		enum tl_status status;
		char *one = tl_strndup(list, length);

		status = tl_overrides_set(overrides, "policy.", one, "--policy", error);
		free(one);
		if (status != TL_OK)
			return status;
		list += length + (list[length] == ',');
	}
	return TL_OK;
}

static void add_tables(struct tl_overrides *overrides, const char *list)
{
	bool word = strcmp(list, "all") == 0 || strcmp(list, "standard") == 0;
	char *flow = tl_format(word ? "%s" : "[%s]", list);

	tl_overrides_add(overrides, "output.tables", flow, "--tables");
	free(flow);
}

static enum tl_status add_flag(const struct tl_given *given, struct tl_overrides *overrides,
                               struct tl_error *error)
{
	const char *name = given->flag->name, *value = given->value;

	if (strcmp(name, "set") == 0)
		return tl_overrides_set(overrides, "", value, NULL, error);
	if (strcmp(name, "policy") == 0)
		return add_policies(overrides, value, error);
	if (strcmp(name, "seed") == 0)
		tl_overrides_add(overrides, "seed", value, "--seed");
	else if (strcmp(name, "name") == 0)
		add_quoted(overrides, "name", value, "--name");
	else if (strcmp(name, "cluster") == 0 && value[0] == '{')
		tl_overrides_add(overrides, "cluster", value, "--cluster");
	else if (strcmp(name, "cluster") == 0)
		add_quoted(overrides, "cluster", value, "--cluster");
	else if (strcmp(name, "physics") == 0)
		tl_overrides_add(overrides, "physics", value, "--physics");
	else if (strcmp(name, "horizon") == 0)
		tl_overrides_add(overrides, "horizon", value, "--horizon");
	else if (strcmp(name, "tables") == 0)
		add_tables(overrides, value);
	return TL_OK;
}

enum tl_status tl_trace_options_from_args(const struct tl_args *args, struct tl_trace_options *out,
                                          struct tl_error *error)
{
	struct tl_overrides overrides = {.count = 0};
	struct tl_scenario *scenario = NULL;
	enum tl_status status = TL_OK;

	for (size_t i = 0; i < args->given_count && status == TL_OK; i++) {
		const char *name = args->given[i].flag->name, *value = args->given[i].value;

		if (strcmp(name, "set") == 0 && strncmp(value, "trace=", 6) == 0)
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "--set: got `%.100s`: the trace is the operand FILE",
			                      value);
		else if (strcmp(name, "set") == 0)
			status =
			    tl_overrides_set(&overrides, "workload[0].", value, "--set", error);
		else if (strcmp(name, "format") == 0)
			tl_overrides_add(&overrides, "workload[0].format", value, "--format");
		else if (strcmp(name, "cluster") == 0)
			status = add_flag(&args->given[i], &overrides, error);
	}
	if (status == TL_OK)
		status = tl_scenario_parse("(flags)", "workload: [{trace: given}]", overrides.items,
		                           overrides.count, &scenario, error);
	if (status == TL_OK)
		*out = scenario->workloads[0].trace;
	tl_scenario_destroy(scenario);
	tl_overrides_fini(&overrides);
	return status;
}

/* The file itself, or the shipped scenario of that name; malloc'd. NULL: neither. */
static char *scenario_path(const char *operand, bool *shipped, struct tl_error *error)
{
	char *path, near[400];

	*shipped = false;
	if (operand[0] == '\0') {
		(void)tl_error_set(error, TL_E_NOINPUT, NULL, 0, 0,
		                   "got an empty name, wanted that of a scenario");
		return NULL;
	}
	if (access(operand, F_OK) == 0 || strchr(operand, '/'))
		return tl_strdup(operand);
	path = tl_paths_data("scenarios", operand);
	*shipped = path != NULL;
	if (!path && strstr(operand, ".yaml"))
		return tl_strdup(operand);
	if (!path)
		(void)tl_error_set(error, TL_E_NOINPUT, NULL, 0, 0,
		                   "no scenario `%.100s`: wanted a file or a shipped one%s",
		                   operand, tl_paths_near("scenarios", operand, near, sizeof near));
	return path;
}

static enum tl_status not_shipped(const char *operand, const char *path, const char *key,
                                  struct tl_error *error)
{
	return tl_error_set(error, TL_E_NOINPUT, path, 0, 0,
	                    "is not there: what `%.60s` reads is public, and not shipped "
	                    "(NOTICE names the source); name your copy with --set %s=FILE",
	                    operand, key);
}

/* Named by the scenario itself, not by a flag. */
static bool stands_beside(const char *path, const char *scenario)
{
	size_t folder = (size_t)(strrchr(scenario, '/') - scenario) + 1;

	return strncmp(path, scenario, folder) == 0 && access(path, F_OK) != 0;
}

/* Some shipped scenarios are about public data that everybody gets for himself. */
static enum tl_status load_shipped(const char *operand, const char *path,
                                   const struct tl_overrides *overrides, struct tl_scenario **out,
                                   struct tl_error *error)
{
	enum tl_status status =
	    tl_scenario_load(path, overrides->items, overrides->count, out, error);
	char key[48], missing[TL_ERROR_FILE_MAX];

	if (status == TL_E_NOINPUT && stands_beside(error->file, path)) {
		memcpy(missing, error->file, sizeof missing);
		return not_shipped(operand, missing, "cluster.list", error);
	}
	for (size_t i = 0; status == TL_OK && i < (*out)->workload_count; i++) {
		if (!stands_beside((*out)->workloads[i].path, path))
			continue;
		(void)snprintf(key, sizeof key, "workload[%zu].trace", i);
		status = not_shipped(operand, (*out)->workloads[i].path, key, error);
	}
	if (status != TL_OK) {
		tl_scenario_destroy(*out);
		*out = NULL;
	}
	return status;
}

static enum tl_status load(const char *operand, const struct tl_overrides *overrides,
                           struct tl_scenario **out, struct tl_error *error)
{
	bool shipped;
	char *path = scenario_path(operand, &shipped, error);
	enum tl_status status;

	if (!path)
		return error->code;
	status = shipped ? load_shipped(operand, path, overrides, out, error)
	                 : tl_scenario_load(path, overrides->items, overrides->count, out, error);
	free(path);
	return status;
}

static bool sets_workload(const struct tl_args *args)
{
	for (size_t i = 0; i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, "set") == 0 &&
		    strncmp(args->given[i].value, "workload", 8) == 0)
			return true;
	return false;
}

enum tl_status tl_scenario_from_args(const struct tl_args *args, struct tl_scenario **out,
                                     struct tl_error *error)
{
	return tl_scenario_varied(args, NULL, 0, out, error);
}

enum tl_status tl_scenario_varied(const struct tl_args *args, const struct tl_override *more,
                                  size_t more_count, struct tl_scenario **out,
                                  struct tl_error *error)
{
	struct tl_overrides overrides = {.count = 0};
	enum tl_status status;

	if (args->operand_count == 0 && !tl_args_has(args, "trace") && !sets_workload(args))
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "no work is named, wanted a SCENARIO or --trace FILE");
	status = add_traces(args, &overrides, error);
	for (size_t i = 0; i < args->given_count && status == TL_OK; i++)
		status = add_flag(&args->given[i], &overrides, error);
	for (size_t i = 0; i < more_count && status == TL_OK; i++)
		tl_overrides_add(&overrides, more[i].key, more[i].value, more[i].flag);
	if (status == TL_OK && args->operand_count > 0) {
		status = load(args->operands[0], &overrides, out, error);
	} else if (status == TL_OK) {
		status = tl_scenario_parse("(flags)", "name: run\n", overrides.items,
		                           overrides.count, out, error);
	}
	tl_overrides_fini(&overrides);
	return status;
}
