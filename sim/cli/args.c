/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Flags and operands by a command's table, and the --help made of it. */
#include "sim/cli/cli.h"

#include "sim/base/arena.h"
#include "sim/base/assert.h"
#include "sim/base/stop.h"
#include "sim/config/schema.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LONG_BASE = 1000, HELP_CODE = 999, FLAGS_MAX = 64, HELP_COLUMN = 28 };

static enum tl_status usage(const struct tl_command *command, struct tl_error *error,
                            const char *format, const char *what)
{
	char text[256];

	(void)snprintf(text, sizeof text, "%s `%.100s`", format, what);
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0, "%s; see `tidelab %s --help`", text,
	                    command->name);
}

/* The flags of a command: of its own table, then of the other. */
static size_t flags_of(const struct tl_command *command, const struct tl_flag **out)
{
	size_t count = 0, more_count = 0;
	const struct tl_flag *more = command->more_flags ? command->more_flags(&more_count) : NULL;

	TL_ASSERT(command->flag_count + more_count <= FLAGS_MAX);
	for (size_t i = 0; i < command->flag_count; i++)
		out[count++] = &command->flags[i];
	for (size_t i = 0; i < more_count; i++)
		out[count++] = &more[i];
	return count;
}

static enum tl_status unknown_flag(const struct tl_command *command, const char *got,
                                   struct tl_error *error)
{
	const struct tl_flag *known[FLAGS_MAX];
	const char *names[FLAGS_MAX];
	char word[64];
	const char *near;
	size_t count = flags_of(command, known);

	if (strncmp(got, "--", 2) != 0)
		return usage(command, error, "unknown flag", got);
	(void)snprintf(word, sizeof word, "%.*s", (int)strcspn(got + 2, "="), got + 2);
	for (size_t i = 0; i < count; i++)
		names[i] = known[i]->name;
	near = tl_suggest(names, count, word);
	if (!near)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "unknown flag `--%s`; see `tidelab %s --help`", word,
		                    command->name);
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
	                    "unknown flag `--%s`; did you mean `--%s`? See `tidelab %s --help`",
	                    word, near, command->name);
}

/* getopt's tables, from ours. */
struct tables {
	const struct tl_flag *flags[FLAGS_MAX];
	size_t count;
	struct option longs[FLAGS_MAX + 2];
	char letters[3 * FLAGS_MAX + 4];
};

static void make_tables(const struct tl_command *command, struct tables *tables)
{
	char *p = tables->letters;

	tables->count = flags_of(command, tables->flags);
	*p++ = ':'; /* a missing argument is told apart */
	*p++ = 'h';
	for (size_t i = 0; i < tables->count; i++) {
		const struct tl_flag *flag = tables->flags[i];

		tables->longs[i] =
		    (struct option){flag->name, flag->argument ? required_argument : no_argument,
		                    NULL, LONG_BASE + (int)i};
		if (flag->letter) {
			*p++ = flag->letter;
			if (flag->argument)
				*p++ = ':';
		}
	}
	*p = '\0';
	tables->longs[tables->count] = (struct option){"help", no_argument, NULL, HELP_CODE};
	tables->longs[tables->count + 1] = (struct option){NULL, 0, NULL, 0};
}

static const struct tl_flag *flag_of(const struct tables *tables, int code)
{
	if (code >= LONG_BASE)
		return tables->flags[code - LONG_BASE];
	for (size_t i = 0; i < tables->count; i++)
		if (tables->flags[i]->letter == code)
			return tables->flags[i];
	return NULL;
}

static bool names_file(const struct tl_flag *flag)
{
	static const char *const kinds[] = {"FILE", "DIR", "FOLDER"};

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(flag->argument, kinds[i]) == 0)
			return true;
	return false;
}

static enum tl_status take_flags(const struct tl_command *command, int argc, char **argv,
                                 struct tl_args *out, struct tl_error *error)
{
	struct tables tables;
	int code;

	make_tables(command, &tables);
	opterr = 0;
	optind = 1;
	for (;;) {
		int at = optind;

		code = getopt_long(argc, argv, tables.letters, tables.longs, NULL);
		if (code == -1)
			return TL_OK;
		if (code == HELP_CODE || code == 'h') {
			out->help = true;
			return TL_OK;
		}
		if (code == ':')
			return usage(command, error, "a value is missing after", argv[optind - 1]);
		if (code == '?') {
			char letter[3] = {'-', (char)optopt, '\0'};

			/* optopt is the letter, or 0 for a long name, or the code of a flag that
			 * takes no value and was given one. */
			if (optopt >= HELP_CODE)
				return usage(command, error, "no value is wanted by",
				             argv[optind - 1]);
			if (optopt)
				return usage(command, error, "unknown flag", letter);
			return unknown_flag(command, argv[optind - 1 < at ? at : optind - 1],
			                    error);
		}
		const struct tl_flag *flag = flag_of(&tables, code);

		if (flag->argument && optarg[0] == '\0' && names_file(flag))
			return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
			                    "--%s: got an empty name, wanted %s", flag->name,
			                    flag->argument);
		out->given[out->given_count++] = (struct tl_given){flag, optarg};
	}
}

static bool is_output(const struct tl_flag *flag)
{
	return strcmp(flag->name, "output") == 0 || strcmp(flag->name, "junit") == 0;
}

static bool same_file(const char *one, const char *other)
{
	struct stat a, b;

	return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* What is written must not take the place of what is read, by whatever name. */
static enum tl_status check_output(const struct tl_args *args, const char *flag, const char *path,
                                   struct tl_error *error)
{
	bool same = false;

	for (size_t i = 0; i < args->operand_count && !same; i++)
		same = same_file(path, args->operands[i]);
	for (size_t i = 0; i < args->given_count && !same; i++) {
		const struct tl_given *given = &args->given[i];

		same = given->value && !is_output(given->flag) && names_file(given->flag) &&
		       same_file(path, given->value);
	}
	if (!same)
		return TL_OK;
	return tl_error_set(error, TL_E_CANTCREAT, path, 0, 0,
	                    "--%s would replace what is read, wanted another name", flag);
}

enum tl_status tl_args_parse(const struct tl_command *command, int argc, char **argv,
                             struct tl_args *out, struct tl_error *error)
{
	enum tl_status status;

	*out = (struct tl_args){.given = tl_calloc((size_t)argc * 2 + 1, sizeof *out->given)};
	status = take_flags(command, argc, argv, out, error);
	if (status != TL_OK || out->help)
		return status;
	out->operands = argv + optind;
	out->operand_count = (size_t)(argc - optind);
	if (out->operand_count < command->least)
		return usage(command, error, "an operand is missing, wanted", command->operands);
	if (out->operand_count > command->most)
		return usage(command, error, "one operand too many:", out->operands[command->most]);
	for (size_t i = 0; i < out->given_count && status == TL_OK; i++)
		if (is_output(out->given[i].flag))
			status =
			    check_output(out, out->given[i].flag->name, out->given[i].value, error);
	return status;
}

void tl_args_fini(struct tl_args *args)
{
	free(args->given);
}

bool tl_args_has(const struct tl_args *args, const char *flag)
{
	for (size_t i = 0; i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, flag) == 0)
			return true;
	return false;
}

const char *tl_args_value(const struct tl_args *args, const char *flag)
{
	const char *value = NULL;

	for (size_t i = 0; i < args->given_count; i++)
		if (strcmp(args->given[i].flag->name, flag) == 0)
			value = args->given[i].value;
	return value;
}

/* ---- help ---- */

static void help_flag(const struct tl_flag *flag, FILE *out)
{
	char left[96];
	int length =
	    snprintf(left, sizeof left, "  %c%c%s--%s%s%s", flag->letter ? '-' : ' ',
	             flag->letter ? flag->letter : ' ', flag->letter ? ", " : "  ", flag->name,
	             flag->argument ? " " : "", flag->argument ? flag->argument : "");

	if (length < HELP_COLUMN)
		(void)fprintf(out, "%-*s%s\n", HELP_COLUMN, left, flag->help);
	else
		(void)fprintf(out, "%s\n%*s%s\n", left, HELP_COLUMN, "", flag->help);
}

void tl_command_help(const struct tl_command *command, FILE *out)
{
	static const struct tl_flag help = {"help", 'h', NULL, "this text"};

	const struct tl_flag *flags[FLAGS_MAX];
	size_t count = flags_of(command, flags);

	(void)fprintf(out, "tidelab %s: %s\n\nUsage: tidelab %s%s%s%s\n", command->name,
	              command->summary, command->name, count ? " [FLAG]..." : "",
	              command->operands ? " " : "", command->operands ? command->operands : "");
	if (command->about)
		(void)fprintf(out, "\n%s\n", command->about);
	(void)fputs("\n", out);
	if (command->verbs) {
		for (size_t i = 0; command->verbs[i]; i++)
			(void)fprintf(out, "  %-18s%s\n", command->verbs[i]->name,
			              command->verbs[i]->summary);
		(void)fputs("\n", out);
	}
	(void)fputs("Flags:\n", out);
	for (size_t i = 0; i < count; i++)
		help_flag(flags[i], out);
	help_flag(&help, out);
	if (command->example)
		(void)fprintf(out, "\nExample:\n  %s\n", command->example);
}

/* ---- running ---- */

void tl_print_error(const struct tl_error *error)
{
	char text[TL_ERROR_FILE_MAX + TL_ERROR_MESSAGE_MAX + 48];

	(void)fflush(stdout);
	(void)fprintf(stderr, "tidelab: %s\n", tl_error_text(error, text, sizeof text));
}

static enum tl_status run_verb(const struct tl_command *command, int argc, char **argv,
                               struct tl_error *error)
{
	struct tl_args args;
	enum tl_status status = tl_args_parse(command, argc, argv, &args, error);

	if (status == TL_OK && args.help)
		tl_command_help(command, stdout);
	else if (status == TL_OK)
		status = command->run(command, &args, error);
	tl_args_fini(&args);
	return status;
}

static enum tl_status choose_verb(const struct tl_command *command, int argc, char **argv,
                                  struct tl_error *error)
{
	const size_t prefix = strlen(command->name) + 1;
	const char *names[16];
	const char *near;
	size_t count = 0;

	if (argc < 2)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "a verb is missing; see `tidelab %s --help`", command->name);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		tl_command_help(command, stdout);
		return TL_OK;
	}
	for (; command->verbs[count]; count++) {
		names[count] = command->verbs[count]->name + prefix;
		if (strcmp(names[count], argv[1]) == 0)
			return run_verb(command->verbs[count], argc - 1, argv + 1, error);
	}
	near = tl_suggest(names, count, argv[1]);
	if (!near)
		return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
		                    "unknown verb `%s %.60s`; see `tidelab %s --help`",
		                    command->name, argv[1], command->name);
	return tl_error_set(error, TL_E_USAGE, NULL, 0, 0,
	                    "unknown verb `%s %.60s`; did you mean `%s`? See `tidelab %s --help`",
	                    command->name, argv[1], near, command->name);
}

int tl_command_main(const struct tl_command *command, int argc, char **argv)
{
	struct tl_error error = TL_ERROR_INIT;
	enum tl_status status = command->verbs ? choose_verb(command, argc, argv, &error)
	                                       : run_verb(command, argc, argv, &error);

	bool unwritten = fflush(stdout) != 0 || ferror(stdout);

	tl_stop_end();
	/* A full disk behind stdout is a failure too. */
	if (unwritten && status == TL_OK)
		status =
		    tl_error_set(&error, TL_E_IO, "standard output", 0, 0, "cannot be written");
	if (status != TL_OK && error.code != TL_OK)
		tl_print_error(&error);
	return tl_status_exit_code(status);
}
