/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tidelab trace convert, generate: canonical traces out of others, or out of statistics. */
#include "sim/cli/cli.h"

#include "sim/base/assert.h"
#include "traces/canonical.h"
#include "workloads/generate.h"

/* ---- convert ---- */

static const struct tl_flag convert_flags[] = {
    {"output", 'o', "FILE", "where to, gzipped where it ends in .gz; `-` or none: standard output"},
    {"force", 0, NULL, "replace the file where it exists"},
    TL_TRACE_FLAGS,
};

static enum tl_status convert(const struct tl_command *command, const struct tl_args *args,
                              struct tl_error *error)
{
	struct tl_trace_options options;
	struct tl_output output;
	struct tl_trace *trace;
	enum tl_status status = tl_trace_options_from_args(args, &options, error);

	(void)command;
	if (status == TL_OK)
		status = tl_output_open(&output, tl_args_value(args, "output"),
		                        tl_args_has(args, "force"), error);
	if (status != TL_OK)
		return status;
	status = tl_trace_open(args->operands[0], &options, &trace, error);
	if (status == TL_OK) {
		status = tl_canonical_write(trace, output.file, error);
		tl_trace_close(trace);
	}
	return tl_output_close(&output, status, error);
}

const struct tl_command tl_command_trace_convert = {
    .name = "trace convert",
    .summary = "write a trace in the canonical format, filters applied",
    .operands = "FILE",
    .example = "tidelab trace convert philly.csv --set window=7d -o week.csv",
    TL_FLAGS(convert_flags),
    .least = 1,
    .most = 1,
    .run = convert,
};

/* ---- generate ---- */

static const struct tl_flag generate_flags[] = {
    {"output", 'o', "FILE", "where to, gzipped where it ends in .gz; `-` or none: standard output"},
    {"force", 0, NULL, "replace the file where it exists"},
};

enum { OPTIONS_MAX = 40, HELP_MAX = 240 };

/* The generator's own table, as flags. */
static const struct tl_flag *option_flags(size_t *count)
{
	static struct tl_flag flags[OPTIONS_MAX];
	static char helps[OPTIONS_MAX][HELP_MAX];

	TL_ASSERT(tl_generate_option_count <= OPTIONS_MAX);
	for (size_t i = 0; i < tl_generate_option_count; i++) {
		const struct tl_generate_option_desc *desc = &tl_generate_option_descs[i];

		(void)snprintf(helps[i], HELP_MAX, "%s [%s%s%s; default %s]", desc->help,
		               desc->range, desc->unit[0] ? " " : "", desc->unit,
		               desc->default_text);
		flags[i] = (struct tl_flag){desc->name, 0, "VALUE", helps[i]};
	}
	*count = tl_generate_option_count;
	return flags;
}

static bool is_option(const char *name)
{
	for (size_t i = 0; i < tl_generate_option_count; i++)
		if (tl_generate_option_descs[i].name == name)
			return true;
	return false;
}

/* The generator speaks of its options, `a + b, got …`; here they are flags. */
static enum tl_status name_flags(struct tl_error *error)
{
	char text[TL_ERROR_MESSAGE_MAX + 32] = "--";
	const char *from = error->message;
	size_t used = 2;

	for (; *from != '\0' && *from != ',' && used < TL_ERROR_MESSAGE_MAX; from++) {
		text[used++] = *from;
		if (*from == ' ' && from > error->message && from[-1] == '+') {
			text[used++] = '-';
			text[used++] = '-';
		}
	}
	(void)snprintf(text + used, sizeof text - used, "%s", from);
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "%s", text);
}

static enum tl_status options_from_args(const struct tl_args *args,
                                        struct tl_generate_options *options, struct tl_error *error)
{
	enum tl_status status = TL_OK;

	tl_generate_options_default(options);
	for (size_t i = 0; i < args->given_count && status == TL_OK; i++)
		if (is_option(args->given[i].flag->name))
			status = tl_generate_set(options, args->given[i].flag->name,
			                         args->given[i].value, error);
	if (status == TL_OK) {
		tl_generate_settle(options);
		status = tl_generate_check(options, error);
	}
	return status == TL_OK ? TL_OK : name_flags(error);
}

static enum tl_status generate(const struct tl_command *command, const struct tl_args *args,
                               struct tl_error *error)
{
	struct tl_generate_options options;
	struct tl_output output;
	enum tl_status status = options_from_args(args, &options, error);

	(void)command;
	if (status == TL_OK)
		status = tl_output_open(&output, tl_args_value(args, "output"),
		                        tl_args_has(args, "force"), error);
	if (status != TL_OK)
		return status;
	status = tl_generate(&options, output.file, error);
	if (status == TL_E_CONFIG)
		status = name_flags(error);
	return tl_output_close(&output, status, error);
}

const struct tl_command tl_command_trace_generate = {
    .name = "trace generate",
    .summary = "write days of synthetic jobs that follow published statistics",
    .example = "tidelab trace generate --preset philly --span 2d --rate 40 --seed 7 -o days.csv",
    TL_FLAGS(generate_flags),
    .more_flags = option_flags,
    .run = generate,
};
