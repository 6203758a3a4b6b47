/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line: one table of verbs, each with a table of its flags, from which the
 * parsing and every --help are made. Data goes to stdout, diagnostics to stderr; only here
 * is anything printed, or the process ended.
 */
#ifndef TIDELAB_CLI_CLI_H
#define TIDELAB_CLI_CLI_H

#include "analysis/sweep.h"
#include "results/schema.h"
#include "sim/base/error.h"
#include "sim/config/scenario.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct tl_flag {
	const char *name;     /* without dashes */
	char letter;          /* 0: none */
	const char *argument; /* `FILE`; NULL: takes none */
	const char *help;
};

struct tl_args;

struct tl_command {
	const char *name;     /* `run`, `trace lint` */
	const char *summary;  /* one line */
	const char *operands; /* `SCENARIO`, for the usage line */
	const char *about;    /* a paragraph or more; may be NULL */
	const char *example;
	const struct tl_flag *flags; /* besides --help; flag_count of them */
	size_t flag_count;
	/* Further flags that come from another table; NULL. */
	const struct tl_flag *(*more_flags)(size_t *count);
	size_t least, most; /* operands */
	enum tl_status (*run)(const struct tl_command *command, const struct tl_args *args,
	                      struct tl_error *error);
	const struct tl_command *const *verbs; /* of a command of commands; NULL-terminated */
};

#define TL_FLAGS(table) .flags = (table), .flag_count = sizeof(table) / sizeof(table)[0]

struct tl_given {
	const struct tl_flag *flag;
	const char *value; /* NULL where the flag takes none */
};

/* What stood on the command line, in its order. */
struct tl_args {
	struct tl_given *given;
	size_t given_count;
	char **operands;
	size_t operand_count;
	bool help;
};

/* argv[0] is the verb. */
enum tl_status tl_args_parse(const struct tl_command *command, int argc, char **argv,
                             struct tl_args *out, struct tl_error *error);
void tl_args_fini(struct tl_args *args);
bool tl_args_has(const struct tl_args *args, const char *flag);
/* The last value given, or NULL. */
const char *tl_args_value(const struct tl_args *args, const char *flag);

void tl_command_help(const struct tl_command *command, FILE *out);
/* Parses and runs; returns the exit code. */
int tl_command_main(const struct tl_command *command, int argc, char **argv);
/* Prints `tidelab: …` to stderr. */
void tl_print_error(const struct tl_error *error);

/* ---- scenarios from a file, from flags, or both ---- */

#define TL_SCENARIO_FLAGS                                                                          \
	{"set", 's', "KEY=VALUE",                                                                  \
	 "change a key of the scenario, as in policy.place=fgd; repeatable"},                      \
	    {"seed", 0, "N", "seed of everything drawn, 0 to 2^63 - 1"},                           \
	    {"name", 0, "NAME", "what the results call it; by flags alone `run`"},                 \
	    {"cluster", 'c', "CLUSTER", "a name, a path, or NxG[:cpus=..,mem=..]"},                \
	    {"trace", 't', "FILE",                                                                 \
	     "recorded jobs, instead of the scenario's workload; repeatable"},                     \
	    {"format", 'f', "FORMAT", "of the traces given by --trace"},                           \
	    {"policy", 'p', "SEAT=NAME,..",                                                        \
	     "fill seats, as in order=fifo,place=topology; repeatable"},                           \
	    {"physics", 0, "full|ideal", "what things cost; ideal: nothing"},                      \
	    {"horizon", 0, "DURATION", "end the run there, as in 12h or 7d"},                      \
	{                                                                                          \
		"tables", 0, "TABLE,..", "standard, all, or a list, as in jobs,faults,summary"     \
	}

/* Operand 0, where given, is the scenario's file (or the name of a shipped one). */
enum tl_status tl_scenario_from_args(const struct tl_args *args, struct tl_scenario **out,
                                     struct tl_error *error);
/* The same with further settings behind those of the flags; nothing of them is kept. */
enum tl_status tl_scenario_varied(const struct tl_args *args, const struct tl_override *more,
                                  size_t more_count, struct tl_scenario **out,
                                  struct tl_error *error);
/* Overrides in the making, for commands that add their own. */
struct tl_overrides {
	struct tl_override *items;
	size_t count, capacity;
	char **texts; /* owned */
	size_t text_count, text_capacity;
};
void tl_overrides_add(struct tl_overrides *overrides, const char *key, const char *value,
                      const char *flag); /* all copied but flag */
/* `key=value` of --set. */
enum tl_status tl_overrides_set(struct tl_overrides *overrides, const char *prefix,
                                const char *text, const char *flag, struct tl_error *error);
void tl_overrides_fini(struct tl_overrides *overrides);
/* A text as a YAML scalar whatever is in it; malloc'd. */
char *tl_quoted(const char *text);

/* What a sweep or a search varies (analysis/sweep.h): the scenario of these arguments, to be
 * run by this program. args must outlive it. TL_E_CONFIG where it writes no summary. */
enum tl_status tl_subject_from_args(const struct tl_args *args, struct tl_subject *out,
                                    struct tl_error *error);
void tl_subject_fini(struct tl_subject *subject);
/* The scenario's own value of a key, as one would write it; malloc'd; NULL where it is no
 * scalar or not set. */
char *tl_subject_own(const struct tl_subject *subject, const char *key);
/* Refuses --seed and --set seed=N, for commands where --seeds names the seeds. */
enum tl_status tl_subject_check_seed(const struct tl_args *args, struct tl_error *error);
/* The scenario's own seed. */
uint64_t tl_subject_seed(const struct tl_subject *subject);

/* Who carries runs out: --jobs, --executor, --chunk, --slurm-args, of commands that sweep. */
#define TL_EXECUTOR_FLAGS                                                                          \
	{"jobs", 'j', "N",                                                                         \
	 "runs at a time; as many as there are cores, or as the cluster has room for"},            \
	    {"executor", 'x', "NAME", "who runs them: local (default), or slurm: job arrays"},     \
	    {"chunk", 0, "N",                                                                      \
	     "slurm: runs to a task of the array, one by one; chosen by default"},                 \
	{                                                                                          \
		"slurm-args", 0, "ARGS", "handed on to sbatch, as in '-p day -t 60'"               \
	}
/* Fills executor, jobs, chunk, arguments and progress. */
enum tl_status tl_sweep_options_from_args(const struct tl_args *args, struct tl_sweep_options *out,
                                          struct tl_error *error);

/* A trace's filters from --format, --cluster and --set, each a key of a workload entry. */
#define TL_TRACE_FLAGS                                                                             \
	{"format", 'f', "FORMAT",                                                                  \
	 "philly, openb, swf, tiresias or canonical; auto where not given"},                       \
	    {"set", 's', "KEY=VALUE", "a key of a workload entry, as in window=7d; repeatable"},   \
	{                                                                                          \
		"cluster", 'c', "CLUSTER",                                                         \
		    "what `demand` is measured by; a100-32x8 where not given"                      \
	}
enum tl_status tl_trace_options_from_args(const struct tl_args *args, struct tl_trace_options *out,
                                          struct tl_error *error);

/* ---- output ---- */

/* A file that takes its name only when it is whole; gzipped where that ends in `.gz`. */
struct tl_output {
	FILE *file;
	char *partial; /* NULL: stdout */
	const char *path;
	bool force;
};
/* path NULL or `-`: stdout. From here on a signal ends the writing (sim/base/stop.h).
 * TL_E_CANTCREAT where it exists and force is not given, or is no plain file. */
enum tl_status tl_output_open(struct tl_output *output, const char *path, bool force,
                              struct tl_error *error);
/* status is that of the writing: anything but TL_OK, or a signal, leaves no file. */
enum tl_status tl_output_close(struct tl_output *output, enum tl_status status,
                               struct tl_error *error);

/* Prints and frees. */
void tl_print_json(json_t *json, FILE *out);
/* A number, or null where there is none. */
json_t *tl_json_number(double value);

/* ---- the summary of a result ---- */

enum tl_status tl_summary_read(const char *path, struct tl_row_summary **rows, size_t *count,
                               struct tl_error *error);
void tl_summary_print(const struct tl_row_summary *rows, size_t count, FILE *out);
/* A line where what they tell is not of the whole work. */
void tl_summary_note(const struct tl_row_summary *rows, size_t count, FILE *out);
json_t *tl_summary_json(const struct tl_row_summary *rows, size_t count);

/* ---- the verbs ---- */

extern const struct tl_command tl_command_run;
extern const struct tl_command tl_command_check;
extern const struct tl_command tl_command_summary;
extern const struct tl_command tl_command_sweep;
extern const struct tl_command tl_command_merge;
extern const struct tl_command tl_command_tune;
extern const struct tl_command tl_command_plan;
extern const struct tl_command tl_command_policies;
extern const struct tl_command tl_command_explain;
extern const struct tl_command tl_command_trace;
extern const struct tl_command tl_command_trace_inspect;
extern const struct tl_command tl_command_trace_lint;
extern const struct tl_command tl_command_trace_convert;
extern const struct tl_command tl_command_trace_generate;
extern const struct tl_command tl_command_figures;
extern const struct tl_command tl_command_report;
extern const struct tl_command tl_command_export;
extern const struct tl_command tl_command_compare;
extern const struct tl_command tl_command_regress;
extern const struct tl_command tl_command_reference;
extern const struct tl_command tl_command_version;
extern const struct tl_command tl_command_help_verb;
extern const struct tl_command *const tl_commands[]; /* NULL-terminated */

/* The reference of every module found, as Markdown. */
enum tl_status tl_policies_reference(FILE *out, struct tl_error *error);

#endif
