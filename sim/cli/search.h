/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What `tune` and `plan` share: their flags, and a folder of runs that answers their questions. */
#ifndef TIDELAB_CLI_SEARCH_H
#define TIDELAB_CLI_SEARCH_H

#include "analysis/search.h"
#include "sim/cli/cli.h"

#define TL_SEARCH_FLAGS                                                                            \
	{"output", 'o', "DIR", "the folder of the runs; a search begun there goes on"},            \
	    {"over", 0, "KEY=LOW:HIGH",                                                            \
	     "an axis: an interval, FIRST:LAST:STEP, or x,y,z, of any key --set knows"},           \
	    {"subject-to", 0, "METRIC>=VALUE",                                                     \
	     "what must hold; or METRIC<=VALUE; of a service's metric without its name, of each "  \
	     "service; repeatable"},                                                               \
	    {"seeds", 0, "SEEDS", "that every setting meets; tune: 1..5, plan: 1..10"},            \
	    {"confidence", 0, "SHARE", "with which a constraint is to hold; 0.95"},                \
	    {"json", 0, NULL, "print the outcome as one JSON object"}, TL_EXECUTOR_FLAGS,          \
	    TL_SCENARIO_FLAGS

struct tl_search_setup {
	const struct tl_args *args;
	struct tl_sweep_options options;
	struct tl_subject subject;
	struct tl_axis *axes;
	size_t axis_count;
	struct tl_space space;
	char **own;             /* as in struct tl_search */
	struct tl_design seeds; /* its seeds are those of the search */
	struct tl_constraint *constraints;
	size_t constraint_count;
	double confidence;
	char *objective;             /* NULL: none; resolved to a metric */
	struct tl_measure *measures; /* the objective's, if any, then the constraints' */
	size_t measure_count;
	struct tl_search search;
};

struct tl_search_terms {
	const char *verb;           /* `tune` */
	const char *seeds;          /* where not given: `1..5` */
	size_t fresh_seeds_a_seed;  /* that follow the seeds given: 1: as many; 0: none */
	int most_rungs;             /* of an interval */
	const char *objective_flag; /* `minimize`; NULL: none */
	bool ordered;               /* choices are no axis */
};

/* Reads the flags, and refuses what can be refused before anything is made. To be closed
 * whatever is returned. */
enum tl_status tl_search_setup_read(const struct tl_args *args, const struct tl_search_terms *terms,
                                    struct tl_search_setup *out, struct tl_error *error);
/* Takes the folder, and runs the scenario's own setting with one seed, which tells the metrics
 * there are. */
enum tl_status tl_search_setup_begin(struct tl_search_setup *setup,
                                     const struct tl_search_terms *terms, struct tl_error *error);
void tl_search_setup_close(struct tl_search_setup *setup);

/* A number of 1 to most, by a flag; otherwise where that is not given. */
enum tl_status tl_search_number(const struct tl_args *args, const char *flag, size_t most,
                                size_t otherwise, size_t *out, struct tl_error *error);

/* ---- what they print ---- */

/* A line where the runs are not of the whole work. */
void tl_search_note(const struct tl_search *search, FILE *out);

/* `attainment >= 0.999`; returns buffer. */
const char *tl_search_constraint_text(const struct tl_constraint *constraint, char *buffer,
                                      size_t size);
json_t *tl_search_judgement_json(const struct tl_constraint *constraint,
                                 const struct tl_judgement *judgement);

#endif
