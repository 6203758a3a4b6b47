/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One iterator over recorded work, whatever the format, and over made records.
 *
 * tl_trace_open() reads the file once (the scan): it counts rows, applies repair
 * and filters, collects the request mix, and notes whether submit times ascend.
 * Compact records are kept while they are few (TL_TRACE_HOLD_MAX) or once the file
 * was seen to step back in time; a longer file that ascends drops them and
 * tl_trace_next() reads it a second time, so that memory does not grow with its
 * length. Where the first step back comes after the drop, the scan starts over and
 * holds. Held records are sorted by (submit, input row). tl_trace_next() hands out
 * records in submit order either way.
 *
 * Order of what is done to a row: repair (the reader; rules in traces/README.md),
 * tenant and size filters, clamp to limit_gpus_mgpu; then, in submit order: static
 * times, origin, window, limit, scale. The origin of time is the earliest submit of
 * the rows that survive repair, whatever the filters keep: two selections of one
 * file stay aligned. With a window start, time 0 is origin + start.
 *
 * Static inputs (is_static): kept row i is submitted at i seconds and never departs;
 * time columns are not needed. `demand` then works on the kept rows: all stay, and
 * rows drawn with replacement (TL_STREAM_RESAMPLE) are added until the sum of GPUs
 * first reaches demand × capacity; where the rows alone ask for more, they are drawn
 * in random order until the target is reached and the rest is left out. The k-th
 * copy of a row is called `<id>#k`. `shuffle` then permutes the whole (Fisher–Yates,
 * TL_STREAM_SHUFFLE). Both are refused without is_static.
 *
 * Duplicates are found through a 64-bit hash of a row's fields, of the first
 * TL_TRACE_SEEN_MAX rows (of all with `lint` or `drop_duplicates`, at up to 64 bytes
 * of scan memory a row); where the check ends, the lint class `duplicates-unchecked`
 * says so.
 */
#ifndef TIDELAB_TRACES_TRACE_H
#define TIDELAB_TRACES_TRACE_H

#include "sim/base/error.h"
#include "sim/base/intern.h"
#include "sim/base/units.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sizes of names with their NUL, as result files have them; longer ones are refused. */
enum { TL_TRACE_ID_MAX = 64, TL_TRACE_NAME_MAX = 64, TL_TRACE_QUEUE_MAX = 32 };
enum { TL_TRACE_LINE_MAX = 1 << 20 };
enum {
	TL_TRACE_HOLD_MAX = 16384,   /* records of an ascending file kept in memory */
	TL_TRACE_SEEN_MAX = 1 << 17, /* rows checked for duplicates unless asked for all */
	TL_TRACE_MIX_MAX = 1 << 16   /* distinct requests told apart */
};

enum tl_trace_format {
	TL_FORMAT_AUTO, /* by header line, then by name; refused where unclear */
	TL_FORMAT_PHILLY,
	TL_FORMAT_OPENB,
	TL_FORMAT_SWF,
	TL_FORMAT_TIRESIAS,
	TL_FORMAT_CANONICAL
};

/* How the recorded job ended. */
enum tl_outcome {
	TL_OUTCOME_COMPLETED,
	TL_OUTCOME_FAILED,
	TL_OUTCOME_CANCELLED,
	TL_OUTCOME_UNKNOWN
};
extern const char *const tl_outcome_names[TL_OUTCOME_UNKNOWN + 1];

enum tl_work_kind {
	TL_KIND_TRAINING,
	TL_KIND_INFERENCE,
	TL_KIND_EVALUATION,
	TL_KIND_SIMULATION,
	TL_KIND_OTHER,
	TL_KIND_COUNT
};
extern const char *const tl_work_kind_names[TL_KIND_COUNT];

/* One job as recorded, after repair and filters. Quantities a format does not have
 * are TL_NONE (-1); names are numbers in the trace's intern tables. */
struct tl_trace_record {
	char id[TL_TRACE_ID_MAX]; /* the trace's own, else the line number */
	long line;                /* in the file, 1-based; header is line 1 */
	uint64_t row;             /* among kept jobs, in input order, 0-based */
	int64_t submit_ns;        /* since time 0, see above */
	int64_t duration_ns;      /* reference run time; TL_NEVER: never departs (static) */
	int64_t estimate_ns;      /* what the user asked for; TL_NONE */
	int64_t deadline_ns;      /* on submit_ns's clock; TL_NONE */
	/* total over the job: whole GPUs × 1000, or one share < 1000; 0: CPU only */
	int64_t gpus_mgpu;
	uint32_t workers;          /* stated by the trace; 0: derive from the cluster */
	int64_t gpu_memory_bytes;  /* per GPU; TL_NONE */
	int64_t cpu_milli;         /* total over the job; TL_NONE: the cluster's default */
	int64_t ram_bytes;         /* total over the job; TL_NONE */
	int64_t state_bytes;       /* checkpoint state; TL_NONE */
	int32_t utilisation_milli; /* mean GPU utilisation alone, 0–1000; -1 unknown */
	uint32_t tenant;           /* in tl_trace_tenants() */
	uint32_t queue;            /* in tl_trace_queues(); UINT32_MAX: none stated */
	uint32_t models;           /* `A|B` request, in tl_trace_models(); UINT32_MAX: any */
	uint32_t role;             /* in tl_trace_roles(); UINT32_MAX: none */
	int32_t priority;          /* higher is more urgent; 0 */
	enum tl_work_kind kind;
	enum tl_outcome outcome;
};

struct tl_trace_options {
	enum tl_trace_format format;
	/* keep submits in [start, start + window); window 0: all */
	int64_t window_start_ns, window_ns;
	uint64_t limit;                       /* first N kept jobs in submit order; 0: all */
	double scale_time;                    /* inter-arrival times × this; > 0; 1 */
	double scale_size;                    /* run times × this; > 0; 1 */
	int64_t min_gpus_mgpu, max_gpus_mgpu; /* keep min ≤ gpus ≤ max; max 0: no bound */
	char tenant[TL_TRACE_NAME_MAX];       /* keep this tenant only; empty: all */
	int64_t limit_gpus_mgpu;              /* larger jobs are clamped to this; 0: off */
	/* for the linter: an unreadable value is counted and its row dropped, where a run
	 * refuses the file */
	bool lint;
	bool drop_duplicates; /* exact duplicate rows: reported, kept unless set */
	bool drop_zero_gpu;   /* leave CPU-only jobs out */
	bool is_static;       /* no times: row i is submitted at i seconds, never departs */
	bool shuffle;         /* order drawn from the seed (TL_STREAM_SHUFFLE, entity) */
	/* > 0: resample rows with replacement (TL_STREAM_RESAMPLE) until Σ gpus first
	 * reaches demand × capacity; 0: off */
	double demand;
	int64_t capacity_mgpu; /* the cluster's, for demand */
	uint64_t seed, entity;
};
void tl_trace_options_default(struct tl_trace_options *options);

/* One class of dirt: how often, where first, what was done. */
enum { TL_LINT_LINES = 5 };
struct tl_lint_class {
	const char *name; /* `backward-time`, `duplicate-row`, … (static) */
	const char *rule; /* what the reader does about it (static) */
	uint64_t count;
	long lines[TL_LINT_LINES]; /* first ones; 0 unused */
};

/* What the scan saw. */
struct tl_trace_stats {
	/* kept = read − dropped + added (by demand); lint has what was dropped, class by class */
	uint64_t rows_read, rows_kept, rows_dropped, rows_added;
	bool ascending, held; /* held: records sit in memory */
	int64_t origin_ns;    /* time 0 on the file's own clock (Philly: since 1970, local time) */
	int64_t first_submit_ns, last_submit_ns; /* of kept rows, as handed out */
	/* Σ gpus × duration of kept rows, as handed out; those that never depart left out */
	tl_i128 gpu_time_mgpu_ns;
	const struct tl_lint_class *lint; /* those with count > 0, in a fixed order */
	size_t lint_count;
	char sha256[65]; /* of the file's bytes */
};

/* One distinct request of the kept rows, and how many rows ask it; in order of first
 * sight. Beyond TL_TRACE_MIX_MAX distinct ones the rest is counted under the lint
 * class `request-mix-cut` alone. */
struct tl_trace_request {
	int64_t gpus_mgpu, gpu_memory_bytes, cpu_milli, ram_bytes;
	uint32_t workers, models;
	uint64_t count;
	long first_line;
};

struct tl_trace; /* opaque */

/* Opens and scans path (.gz accepted). Nothing is created on failure. */
enum tl_status tl_trace_open(const char *path, const struct tl_trace_options *options,
                             struct tl_trace **out, struct tl_error *error);

/* A record that is made, not read. Names are valid until the next one is made. */
struct tl_trace_made {
	struct tl_trace_record record; /* its tenant and queue are set by the names */
	const char *tenant, *queue;
};

/* What makes records: the same ones each time it is begun, by ascending submit. Time 0 is
 * the maker's own, whatever comes first. */
struct tl_trace_maker {
	const char *name; /* stands for the path in messages */
	const void *of;   /* handed to begin */
	/* TL_OK with a state of its own, to be ended. */
	enum tl_status (*begin)(const void *of, void **out, struct tl_error *error);
	/* TL_OK, TL_END, or an error. */
	enum tl_status (*next)(void *state, struct tl_trace_made *out, struct tl_error *error);
	void (*end)(void *state);
	void (*forget)(const void *of); /* at the trace's close; NULL: nothing */
};

/* The same iterator over made records; sha256 in its statistics is empty. On failure the
 * maker is forgotten too. */
enum tl_status tl_trace_open_made(const struct tl_trace_maker *maker,
                                  const struct tl_trace_options *options, struct tl_trace **out,
                                  struct tl_error *error);
void tl_trace_close(struct tl_trace *trace);
/* The next record by (submit, row): TL_OK, TL_END, or an error. */
enum tl_status tl_trace_next(struct tl_trace *trace, struct tl_trace_record *out,
                             struct tl_error *error);
/* Valid until close. */
const struct tl_trace_stats *tl_trace_get_stats(const struct tl_trace *trace);
const struct tl_trace_request *tl_trace_requests(const struct tl_trace *trace, size_t *count);
const struct tl_intern *tl_trace_tenants(const struct tl_trace *trace);
const struct tl_intern *tl_trace_queues(const struct tl_trace *trace);
const struct tl_intern *tl_trace_models(
    const struct tl_trace *trace); /* names are `A|B`, repeats removed */
const struct tl_intern *tl_trace_roles(const struct tl_trace *trace);
const char *tl_trace_path(const struct tl_trace *trace);
enum tl_trace_format tl_trace_format_of(const struct tl_trace *trace); /* AUTO resolved */

/* `philly` … to enum; false where unknown. Names listed by tl_trace_format_names[]. */
bool tl_trace_format_parse(const char *name, enum tl_trace_format *out);
extern const char *const tl_trace_format_names[]; /* NULL-terminated, indexed by the enum */

#endif
