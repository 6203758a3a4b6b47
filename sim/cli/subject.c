/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a sweep varies, and who carries it out, from the command line. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/config/schema.h"
#include "sim/plane/provenance.h"
#include "sim/plane/supervise.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct context {
	const struct tl_args *args;
	struct tl_scenario *base;
	struct tl_checksums known;
	struct tl_override *settings; /* room for those of a cell, and its seed */
	char **flags;                 /* a key: `--vary key`, `--over key`, for messages */
	size_t room;
	bool checked;
};

static const struct tl_flag scenario_flags[] = {TL_SCENARIO_FLAGS};

static bool is_scenario_flag(const char *name)
{
	for (size_t i = 0; i < sizeof scenario_flags / sizeof *scenario_flags; i++)
		if (strcmp(scenario_flags[i].name, name) == 0)
			return true;
	return false;
}

/* This very program, wherever a run is started from. */
static char *own_path(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

	if (length <= 0)
		return tl_strdup("tidelab");
	path[length] = '\0';
	return tl_strdup(path);
}

/* PROGRAM run FLAG... SCENARIO */
static char **command_of(const struct tl_args *args)
{
	char **argv = tl_calloc(2 * args->given_count + 8, sizeof *argv);
	size_t count = 0;

	argv[count++] = own_path();
	argv[count++] = tl_strdup("run");
	for (size_t i = 0; i < args->given_count; i++) {
		const struct tl_given *given = &args->given[i];

		if (is_scenario_flag(given->flag->name))
			argv[count++] = tl_format("--%s=%s", given->flag->name, given->value);
	}
	if (args->operand_count > 0) {
		const char *operand = args->operands[0];

		argv[count++] = tl_format("%s%s", operand[0] == '-' ? "./" : "", operand);
	}
	return argv;
}

static void make_room(struct context *context, const struct tl_design *design)
{
	if (context->room >= design->key_count + 1)
		return;
	context->settings =
	    tl_realloc_array(context->settings, design->key_count + 1, sizeof *context->settings);
	context->flags =
	    tl_realloc_array(context->flags, design->key_count + 1, sizeof *context->flags);
	for (; context->room < design->key_count + 1; context->room++)
		context->flags[context->room] = NULL;
}

/* Traces, modules, their options: what is wrong with every run is told before the first. */
static enum tl_status check(const struct tl_scenario *scenario, struct tl_error *error)
{
	char *text = NULL;
	size_t size = 0;
	FILE *unread = open_memstream(&text, &size);
	enum tl_status status;

	if (!unread)
		tl_out_of_memory(0);
	status = tl_supervise_check(scenario, unread, unread, error);
	(void)fclose(unread);
	free(text);
	return status;
}

static enum tl_status identify(void *self, const struct tl_design *design, size_t cell,
                               uint64_t seed, char hash[TL_SHA256_HEX], struct tl_error *error)
{
	struct context *context = self;
	struct tl_scenario *scenario = NULL;
	enum tl_status status;
	char seed_text[32];
	size_t count = 0;

	make_room(context, design);
	for (size_t key = 0; key < design->key_count; key++) {
		const char *value = tl_design_value(design, cell, key);

		if (!value)
			continue;
		free(context->flags[key]);
		context->flags[key] =
		    tl_format("%s %s", tl_args_has(context->args, "over") ? "--over" : "--vary",
		              design->keys[key]);
		context->settings[count++] =
		    (struct tl_override){design->keys[key], value, context->flags[key]};
	}
	(void)snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
	context->settings[count++] = (struct tl_override){"seed", seed_text, "--seeds"};
	status = tl_scenario_varied(context->args, context->settings, count, &scenario, error);
	if (status == TL_OK)
		status = tl_provenance_foretell(scenario, &context->known, hash, error);
	if (status == TL_OK && !context->checked)
		status = check(scenario, error);
	context->checked = true;
	tl_scenario_destroy(scenario);
	return status;
}

enum tl_status tl_subject_from_args(const struct tl_args *args, struct tl_subject *out,
                                    struct tl_error *error)
{
	struct context *context = tl_calloc(1, sizeof *context);
	enum tl_status status;

	context->args = args;
	*out = (struct tl_subject){.context = context, .identify = identify};
	status = tl_scenario_from_args(args, &context->base, error);
	if (status == TL_OK && !(context->base->tables & TL_TABLE_SUMMARY))
		status = tl_error_set(error, TL_E_CONFIG, context->base->path, 0, 0,
		                      "output.tables: got no `summary`, wanted it among them: a "
		                      "sweep is of metrics");
	if (status != TL_OK) {
		tl_subject_fini(out);
		return status;
	}
	out->name = context->base->name;
	out->text = context->base->text;
	out->argv = command_of(args);
	return TL_OK;
}

void tl_subject_fini(struct tl_subject *subject)
{
	struct context *context = subject->context;

	for (char **word = subject->argv; word && *word; word++)
		free(*word);
	free(subject->argv);
	if (context) {
		for (size_t i = 0; i < context->room; i++)
			free(context->flags[i]);
		free(context->flags);
		free(context->settings);
		tl_checksums_fini(&context->known);
		tl_scenario_destroy(context->base);
		free(context);
	}
	*subject = (struct tl_subject){.context = NULL};
}

char *tl_subject_own(const struct tl_subject *subject, const char *key)
{
	const struct context *context = subject->context;

	return tl_scenario_own(context->base, key);
}

enum tl_status tl_subject_check_seed(const struct tl_args *args, struct tl_error *error)
{
	for (size_t i = 0; i < args->given_count; i++) {
		const char *name = args->given[i].flag->name;

		if (strcmp(name, "seed") == 0 ||
		    (strcmp(name, "set") == 0 && strncmp(args->given[i].value, "seed=", 5) == 0))
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--%s: got the seed of one run, wanted --seeds alone "
			                    "to name those of every setting",
			                    name);
	}
	return TL_OK;
}

uint64_t tl_subject_seed(const struct tl_subject *subject)
{
	const struct context *context = subject->context;

	return context->base->seed;
}

/* ---- who carries it out ---- */

static enum tl_status find_executor(const char *name, const struct tl_executor **out,
                                    struct tl_error *error)
{
	const char *names[8];
	char near[200];
	size_t count = 0;

	for (; tl_executors[count]; count++) {
		names[count] = tl_executors[count]->name;
		*out = tl_executors[count];
		if (strcmp(names[count], name) == 0)
			return TL_OK;
	}
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "--executor: got `%.40s`%s", name,
	                    tl_suggest_text(names, count, name, near, sizeof near));
}

static enum tl_status take_number(const struct tl_args *args, const char *flag, unsigned *out,
                                  struct tl_error *error)
{
	const char *text = tl_args_value(args, flag);
	size_t length = text ? strspn(text, "0123456789") : 0;

	if (!text)
		return TL_OK;
	if (length == 0 || length > 5 || text[length] != '\0' || atol(text) == 0)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "--%s: got `%.40s`, wanted a number from 1 to 99999", flag,
		                    text);
	*out = (unsigned)atol(text);
	return TL_OK;
}

enum tl_status tl_sweep_options_from_args(const struct tl_args *args, struct tl_sweep_options *out,
                                          struct tl_error *error)
{
	static const char *const slurms[] = {"slurm-args", "chunk"};
	const char *name = tl_args_value(args, "executor");
	unsigned chunk = 0;
	enum tl_status status = TL_OK;

	out->executor = tl_executors[0];
	out->arguments = tl_args_value(args, "slurm-args");
	out->progress = isatty(STDERR_FILENO) == 1 ? stderr : NULL;
	if (name)
		status = find_executor(name, &out->executor, error);
	for (size_t i = 0; i < 2 && status == TL_OK; i++)
		if (tl_args_has(args, slurms[i]) && out->executor != &tl_executor_slurm)
			status = tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                      "--%s: goes with --executor slurm", slurms[i]);
	if (status == TL_OK)
		status = take_number(args, "jobs", &out->jobs, error);
	if (status == TL_OK)
		status = take_number(args, "chunk", &chunk, error);
	out->chunk = chunk;
	return status;
}
