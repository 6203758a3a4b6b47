/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Least attained service in two dimensions (GPUs × time run), discretised into levels, as in
 * Tiresias (Gu et al., NSDI 2019): a job moves down a level each time its service crosses
 * the next threshold; within a level, jobs that have started go by first start, then the
 * others by submission. Needs no estimates; needs a preempt module to take effect.
 *
 * With `promote` > 0, a job suspended for at least promote × the time it has run since it was
 * last promoted returns to the first level, its service counted anew.
 */
#include "policies/lib/module.h"

__extension__ typedef __int128 wide;

enum { OPTION_QUEUES, OPTION_THRESHOLD, OPTION_FACTOR, OPTION_PROMOTE, OPTION_COUNT };
enum { LEVEL_MAX = 16, WHOLE_MGPU = 1000 };

#define LEVEL_KEY (INT64_C(1) << 57) /* a level apart; within it, time of first start */
#define NOT_STARTED_KEY (INT64_C(1) << 56)

struct record {
	tl_job_id id;
	int64_t base_ns;      /* attained when last promoted */
	int64_t suspended_ns; /* since when; -1 */
};

struct las {
	const struct tl_host *host;
	uint32_t levels;
	wide threshold[LEVEL_MAX]; /* mgpu × ns; of levels − 1 */
	double promote;
	struct record *records; /* by slot */
	uint32_t record_room;
};

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_QUEUES] = {.name = "queues",
                       .type = TL_OPTION_INT,
                       .unit = "levels",
                       .standard = "2",
                       .min = 1,
                       .max = LEVEL_MAX,
                       .help =
                           "levels of attained service; more preempts more often, 1 is first come, "
                           "first served"},
    [OPTION_THRESHOLD] = {.name = "threshold",
                          .type = TL_OPTION_DURATION,
                          .unit = "GPU-time",
                          .standard = "3200s",
                          .min = 1e9,
                          .max = 1e18,
                          .help =
                              "service at which the first level ends; too low and short jobs are "
                              "preempted, too high and long ones hold them up"},
    [OPTION_FACTOR] =
	{.name = "factor",
         .type = TL_OPTION_REAL,
         .unit = "",
         .standard = "10",
         .min = 1.01,
         .max = 1000,
         .help = "each further level ends at so many times the service of the one before"},
    [OPTION_PROMOTE] =
	{.name = "promote",
         .type = TL_OPTION_REAL,
         .unit = "",
         .standard = "0",
         .min = 0,
         .max = 1e6,
         .help = "back to the first level after a wait of so many times the time run; 0 is "
                 "never; low values preempt much, high ones let long jobs starve"},
};

static struct record *record_of(struct las *las, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	return slot < las->record_room && las->records[slot].id == id ? &las->records[slot] : NULL;
}

static struct record *make_record(struct las *las, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	if (slot >= las->record_room) {
		uint32_t room = las->record_room > 0 ? las->record_room : 64;
		while (room <= slot)
			room *= 2;
		struct record *fresh = las->host->alloc(las->host, room * sizeof(*fresh));
		if (fresh == NULL)
			return NULL;
		if (las->record_room > 0)
			memcpy(fresh, las->records, las->record_room * sizeof(*fresh));
		las->records = fresh;
		las->record_room = room;
	}
	if (las->records[slot].id != id)
		las->records[slot] = (struct record){.id = id, .suspended_ns = -1};
	return &las->records[slot];
}

/* Waiting time after which a suspended job is promoted; TL_TIME_NEVER. */
static int64_t patience_ns(const struct las *las, int64_t run_ns)
{
	double wait_ns = las->promote * (double)run_ns;
	if (!(las->promote > 0) || wait_ns >= 4e18)
		return TL_TIME_NEVER;
	return wait_ns < 1 ? 1 : (int64_t)wait_ns;
}

static struct tl_key key_of(struct las *las, const struct tl_job_view *job, int64_t now_ns)
{
	const struct tl_shape *shape = las->host->shape(las->host, job->shape);
	const struct record *record = record_of(las, job->id);
	int64_t gpus_mgpu = shape->total_mgpu > 0 ? shape->total_mgpu : WHOLE_MGPU;
	int64_t run_ns = job->attained_ns - (record != NULL ? record->base_ns : 0);
	int running = job->state == TL_JOB_RUNNING;
	if (running)
		run_ns += now_ns - job->attained_mark_ns;
	run_ns = run_ns > 0 ? run_ns : 0;
	wide service = (wide)run_ns * gpus_mgpu;
	uint32_t level = 0;
	while (level + 1 < las->levels && service >= las->threshold[level])
		level++;

	struct tl_key key = {.valid_until_ns = TL_TIME_NEVER};
	if (running && level + 1 < las->levels) {
		wide to_go = (las->threshold[level] - service + gpus_mgpu - 1) / gpus_mgpu;
		if (to_go < TL_TIME_NEVER - now_ns)
			key.valid_until_ns = now_ns + (int64_t)to_go;
	}
	if (job->state == TL_JOB_SUSPENDED && level > 0 && job->waiting_since_ns >= 0) {
		int64_t patience = patience_ns(las, run_ns);
		int64_t at_ns = patience < TL_TIME_NEVER - job->waiting_since_ns
		                    ? job->waiting_since_ns + patience
		                    : TL_TIME_NEVER;
		if (at_ns <= now_ns)
			level = 0;
		else
			key.valid_until_ns = at_ns;
	}
	int started = job->first_start_ns >= 0 && job->first_start_ns < NOT_STARTED_KEY;
	key.key = (int64_t)level * LEVEL_KEY + (started ? job->first_start_ns : NOT_STARTED_KEY);
	return key;
}

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = key_of(self, tl_jobs_at(jobs, ids[i]), now_ns);
}

/* A job that resumes after it was promoted starts its service anew. */
static void job_state_changed(void *self, const struct tl_job_view *job, enum tl_job_state from)
{
	struct las *las = self;
	if (!(las->promote > 0))
		return;
	int64_t now_ns = las->host->now(las->host);
	if (job->state == TL_JOB_SUSPENDED) {
		struct record *record = make_record(las, job->id);
		if (record != NULL)
			record->suspended_ns = now_ns;
		return;
	}
	struct record *record = record_of(las, job->id);
	if (from != TL_JOB_SUSPENDED || record == NULL || record->suspended_ns < 0)
		return;
	if (now_ns - record->suspended_ns >= patience_ns(las, job->attained_ns - record->base_ns))
		record->base_ns = job->attained_ns;
	record->suspended_ns = -1;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct las), self) != 0)
		return -1;
	struct las *las = *self;
	las->host = host;
	las->levels = (uint32_t)create->options[OPTION_QUEUES].i;
	las->promote = create->options[OPTION_PROMOTE].f;
	double threshold_ns = (double)create->options[OPTION_THRESHOLD].i;
	for (uint32_t i = 0; i + 1 < las->levels; i++) {
		/* Beyond any service a job could attain, the levels are one. */
		if (threshold_ns > 1e30)
			threshold_ns = 1e30;
		las->threshold[i] = (wide)threshold_ns * WHOLE_MGPU;
		threshold_ns *= create->options[OPTION_FACTOR].f;
	}
	return 0;
}

static const struct tl_observer_ops observer = {.struct_size = sizeof(observer),
                                                .job_state_changed = job_state_changed};
static const struct tl_order_ops ops = {.struct_size = sizeof(ops), .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .name = "las",
    .version = "1.0",
    .summary = "least attained service (GPUs x time), in levels: Tiresias",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
