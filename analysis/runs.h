/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The runs of one setting: one a seed, each with the metrics of its summary. They come from
 * a result file, from a folder of result files that differ in nothing but the seed, or from
 * a cell of a sweep, be it the sweep's folder or the file merged of it.
 */
#ifndef TIDELAB_ANALYSIS_RUNS_H
#define TIDELAB_ANALYSIS_RUNS_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tl_runs {
	char *source;    /* the file or folder */
	char *cell;      /* the settings of a sweep's cell, `key=value, key=value`; "" of others */
	char *scenario;  /* effective, as YAML; of a sweep, without its cells' settings */
	char **settings; /* `key=value` of the cell, setting_count of them */
	size_t setting_count;
	uint64_t *seeds;
	char **paths; /* a run's own file; NULL where it has none (a merged file) */
	size_t count; /* of runs */
	char **metrics, **units;
	size_t metric_count, metric_room;
	double *values; /* [metric × count + run]; NaN where a run has none */
	size_t missing; /* runs of the cell that are not there */
};

struct tl_runs_list {
	struct tl_runs **items;
	size_t count, capacity;
};

/* It has, of every key among these settings (each `key=value`), one of the values. */
bool tl_runs_match(const struct tl_runs *runs, const char *const *where, size_t count);
/* `a=1 or 2 and b=3`; malloc'd. */
char *tl_runs_where_text(const char *const *where, size_t count);

/* Appends what path holds; of a sweep, the cells that match where. TL_E_NOINPUT: not there, or a folder with neither results nor a sweep;
 * TL_E_DATA: damaged, of a newer schema, runs of several scenarios in a folder, a seed
 * twice, no cell of these settings. */
enum tl_status tl_runs_load(const char *path, const char *const *where, size_t where_count,
                            struct tl_runs_list *list, struct tl_error *error);
/* Result files by name, as one setting called source. */
enum tl_status tl_runs_load_results(const char *source, char *const *paths, size_t count,
                                    struct tl_runs_list *list, struct tl_error *error);
void tl_runs_list_fini(struct tl_runs_list *list);

/* By hand: then a value a run for each metric. */
struct tl_runs *tl_runs_new(const char *source, const uint64_t *seeds, size_t count);
/* Its values, all NaN; valid until the next. */
double *tl_runs_add_metric(struct tl_runs *runs, const char *metric, const char *unit);
void tl_runs_destroy(struct tl_runs *runs);

/* The number of a metric; metric_count where there is none of that name. */
size_t tl_runs_metric(const struct tl_runs *runs, const char *metric);
double tl_runs_value(const struct tl_runs *runs, size_t metric, size_t run);
/* `source` or `source [cell]`; malloc'd. */
char *tl_runs_label(const struct tl_runs *runs);

#endif
