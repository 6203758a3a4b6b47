/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the files of the slurm executor share. Tasks go to the cluster as job arrays; an element
 * of an array runs a chunk of tasks one by one. The state of an array is a folder, which the
 * machine that submits and the nodes share:
 *
 *   NAME/script     what sbatch was given
 *   NAME/tasks      a record a task, in the order of their numbers: `ELEMENT OUTPUT`, a NUL
 *   NAME/ended/N    the exit code of task N, there once it has ended
 *   NAME/out-I      what Slurm itself said of element I
 *   NAME/stop       when it is there, no further task of a chunk begins
 *
 * NAME is the name of the job too, so whoever finds the folder finds the job.
 */
#ifndef TIDELAB_ANALYSIS_SLURM_H
#define TIDELAB_ANALYSIS_SLURM_H

#include "analysis/executor.h"

enum { TL_SLURM_NAME_MAX = 48 };

/* ---- text (slurm_script.c) ---- */

/* Splits as sh does, with quotes and backslashes but no expansion; words are malloc'd,
 * NULL-terminated, free with tl_words_free. TL_E_USAGE: a quote that does not end. */
enum tl_status tl_words_split(const char *text, char ***words, struct tl_error *error);
void tl_words_free(char **words);

/* Tasks that become one array: which[] of the list, chunk to an element; elements count
 * from 0. */
struct tl_slurm_plan {
	const struct tl_task *tasks;
	const size_t *which;
	size_t count, chunk;
	const char *folder; /* of the array, absolute */
};
void tl_slurm_script(const struct tl_slurm_plan *plan, FILE *out);
/* How many of the tasks, whole chunks, one array takes; at least a chunk. */
size_t tl_slurm_script_room(const struct tl_slurm_plan *plan, size_t most_elements);
/* The call of sbatch; NULL-terminated, malloc'd words, free with tl_words_free. extra: further
 * arguments; jobs: elements at a time, 0: any; after: the job whose end it waits for, 0: none. */
char **tl_slurm_sbatch_words(const struct tl_slurm_plan *plan, char *const *extra, unsigned jobs,
                             long after);

/* ---- folders (slurm_array.c) ---- */

/* The folder of a new array in parent; malloc'd. */
char *tl_slurm_array_path(const char *parent);
enum tl_status tl_slurm_array_write(const struct tl_slurm_plan *plan, struct tl_error *error);

struct tl_slurm_record {
	size_t element;
	char *output;
};
/* None where the folder is not whole: then there never was a job. */
void tl_slurm_array_read(const char *folder, struct tl_slurm_record **records, size_t *count);
void tl_slurm_records_free(struct tl_slurm_record *records, size_t count);
/* The exit code of a task, once there is one. */
bool tl_slurm_array_ended(const char *folder, size_t number, int *exit_code);
void tl_slurm_array_remove(const char *folder);

/* ---- Slurm's commands (slurm_queue.c) ---- */

/* The most elements an array may have. TL_E_UNAVAILABLE: Slurm is not installed, or does
 * not answer. */
enum tl_status tl_slurm_limits(size_t *most_elements, struct tl_error *error);

enum tl_status tl_slurm_sbatch(char *const *words, long *job, struct tl_error *error);

/* In place of an element's number: those of the array that have no line of their own. */
#define TL_SLURM_REST SIZE_MAX

/* An element that Slurm knows of. */
struct tl_slurm_element {
	char name[TL_SLURM_NAME_MAX];
	long job; /* of the array */
	size_t element;
	bool live;      /* waits, runs, or is on its way to it */
	bool ended_bad; /* by something else than its own script */
	char state[32];
};
/* Those that squeue has listed, a line each (`NAME|JOB|ELEMENT|STATE`, cut to pieces here), in
 * the order of (name, element); a line that is something else is none. free(). */
void tl_slurm_elements_read(char *text, struct tl_slurm_element **elements, size_t *count);
/* Those of the arrays named, in the order of (name, element); free(). Where Slurm has
 * forgotten an array, it has none. undisturbed: whatever signal asks to stop. */
enum tl_status tl_slurm_squeue(const char *const *names, size_t count, bool undisturbed,
                               struct tl_slurm_element **elements, size_t *element_count,
                               struct tl_error *error);
/* Among elements in their order; NULL. */
const struct tl_slurm_element *tl_slurm_find(const struct tl_slurm_element *elements, size_t count,
                                             const char *name, size_t element);
/* ids: `17` or `17_3`. pending: those alone that have not begun. Runs whatever signal asks
 * to stop. */
enum tl_status tl_slurm_scancel(const char *const *ids, size_t count, bool pending,
                                struct tl_error *error);

/* ---- arrays that somebody waits for (slurm_adopt.c) ---- */

enum { TL_SLURM_NOBODY = -1 };

/* A task of an array, as its waiter sees it. */
struct tl_slurm_place {
	size_t element;
	ptrdiff_t task;    /* of the list; TL_SLURM_NOBODY waits for it */
	int64_t missed_ns; /* since when Slurm says that its element is over; 0: it does not */
};

struct tl_slurm_array {
	char *folder;
	const char *name; /* the folder's last part */
	long job;
	struct tl_slurm_place *places;
	size_t count, waited;
	bool leave; /* what becomes of its job is not sure: its folder stays for the next process */
};

struct tl_slurm_arrays {
	struct tl_slurm_array *items;
	size_t count, capacity;
};

/* Takes folder. */
struct tl_slurm_array *tl_slurm_arrays_add(struct tl_slurm_arrays *arrays, char *folder,
                                           size_t count);
/* Frees it, and removes its folder unless that is to be left. */
void tl_slurm_array_drop(struct tl_slurm_array *array);
/* Of all arrays in folder: what the tasks want and is under way, or done, is waited for from now
 * on (taken[task] is set); what else still lives is cancelled. */
enum tl_status tl_slurm_adopt(const char *folder, const struct tl_task *tasks, size_t count,
                              bool *taken, struct tl_slurm_arrays *arrays, struct tl_error *error);

#endif
