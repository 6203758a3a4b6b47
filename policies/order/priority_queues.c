/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Several queues, each first come, first served.
 *
 * strict: queue 0 first, then 1 …; a lower queue can starve; services_first puts the replicas
 * of services before the jobs of their queue. weighted: self-clocked fair
 * queueing (Golestani, INFOCOM 1994): a job's tag is max(clock, tag of the last job of its
 * queue) + requested GPUs / weight; the least tag goes first; the clock is the tag of the job
 * started last. So over time started GPUs are shared by weight among queues that wait, and
 * no queue starves.
 *
 * `by` says what a queue is: the scenario's own (with its weights), or one of three by size
 * (up to 1 GPU, up to 8, more) or by kind (inference, training, the rest).
 */
#include "policies/lib/module.h"

enum {
	OPTION_MODE,
	OPTION_BY,
	OPTION_REVERSE,
	OPTION_SERVICES_FIRST,
	OPTION_WEIGHT_0,
	OPTION_WEIGHT_1,
	OPTION_WEIGHT_2,
	OPTION_COUNT
};
enum mode { MODE_WEIGHTED, MODE_STRICT };
enum by { BY_QUEUE, BY_SIZE, BY_KIND };
enum { OWN_QUEUES = 3, SMALL_MGPU = 1000, MIDDLE_MGPU = 8000, TAG_SCALE = 1000 };

#define TAG_MAX (INT64_C(1) << 61)

struct record {
	tl_job_id id;
	int64_t tag;
};

struct lane {
	int64_t last;   /* tag of the last job that came */
	int64_t weight; /* 0: not yet looked up */
};

struct queues {
	const struct tl_host *host;
	enum mode mode;
	enum by by;
	int reverse, services_first;
	uint32_t weights[OWN_QUEUES];
	int64_t clock;
	struct lane *lanes; /* by queue */
	uint32_t lane_room;
	struct record *records; /* by slot */
	uint32_t record_room;
};

#define WEIGHT_OPTION(index, which)                                                                \
	{                                                                                          \
		.name = "weight_" #index, .type = TL_OPTION_INT, .unit = "", .standard = which,    \
		.min = 1, .max = 1000000,                                                          \
		.help = "share of queue " #index                                                   \
			" of the three by size or kind; the others wait longer for it"             \
	}

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_MODE] = {.name = "mode",
                     .type = TL_OPTION_CHOICE,
                     .unit = "",
                     .standard = "weighted",
                     .choices = "weighted|strict",
                     .help =
                         "share by weight, or always the first queue first (the last can starve)"},
    [OPTION_BY] = {.name = "by",
                   .type = TL_OPTION_CHOICE,
                   .unit = "",
                   .standard = "queue",
                   .choices = "queue|size|kind",
                   .help = "the scenario's queues, or three by GPUs asked (1, 8, more) or by kind "
                           "(inference, training, the rest)"},
    [OPTION_REVERSE] = {.name = "reverse",
                        .type = TL_OPTION_BOOL,
                        .unit = "",
                        .standard = "false",
                        .help = "strict: the last queue first"},
    [OPTION_SERVICES_FIRST] = {.name = "services_first",
                               .type = TL_OPTION_BOOL,
                               .unit = "",
                               .standard = "true",
                               .help =
                                   "strict: replicas of services before the jobs of their queue, "
                                   "and their room may be made by stopping those; without it a "
                                   "waiting gang's promise keeps an overload standing"},
    [OPTION_WEIGHT_0] = WEIGHT_OPTION(0, "4"),
    [OPTION_WEIGHT_1] = WEIGHT_OPTION(1, "2"),
    [OPTION_WEIGHT_2] = WEIGHT_OPTION(2, "1"),
};

static uint32_t queue_of(const struct queues *q, const struct tl_job_view *job)
{
	if (q->by == BY_QUEUE)
		return job->queue;
	if (q->by == BY_KIND)
		return job->kind == TL_JOB_INFERENCE ? 0 : job->kind == TL_JOB_TRAINING ? 1 : 2;
	int64_t asked_mgpu = q->host->shape(q->host, job->shape)->total_mgpu;
	return asked_mgpu <= SMALL_MGPU ? 0 : asked_mgpu <= MIDDLE_MGPU ? 1 : 2;
}

static uint32_t queue_total(const struct queues *q)
{
	return q->by == BY_QUEUE ? q->host->queue_count(q->host) : OWN_QUEUES;
}

static int64_t weight_of(const struct queues *q, uint32_t queue)
{
	uint32_t weight =
	    q->by == BY_QUEUE ? q->host->queue(q->host, queue)->weight : q->weights[queue];
	return weight > 0 ? weight : 1;
}

/* An array by number with room for one more; NULL where memory is out. */
static void *grown(const struct tl_host *host, void *array, uint32_t *room, uint32_t index,
                   size_t size)
{
	if (index < *room)
		return array;
	uint32_t wanted = *room > 0 ? *room : 64;
	while (wanted <= index)
		wanted *= 2;
	void *fresh = host->alloc(host, wanted * size);
	if (fresh != NULL && *room > 0)
		memcpy(fresh, array, *room * size);
	if (fresh != NULL)
		*room = wanted;
	return fresh;
}

static void job_submitted(void *self, const struct tl_job_view *job)
{
	struct queues *q = self;
	uint32_t queue = queue_of(q, job), slot = TL_JOB_SLOT(job->id);
	if (q->mode != MODE_WEIGHTED)
		return;
	struct lane *lanes = grown(q->host, q->lanes, &q->lane_room, queue, sizeof(*lanes));
	if (lanes == NULL)
		return;
	q->lanes = lanes;
	struct record *records =
	    grown(q->host, q->records, &q->record_room, slot, sizeof(*records));
	if (records == NULL)
		return;
	q->records = records;
	int64_t asked_mgpu = q->host->shape(q->host, job->shape)->total_mgpu;
	struct lane *lane = &lanes[queue];
	if (lane->weight == 0)
		lane->weight = weight_of(q, queue);
	int64_t cost = (asked_mgpu > 0 ? asked_mgpu : SMALL_MGPU) * TAG_SCALE / lane->weight;
	int64_t from = lane->last > q->clock ? lane->last : q->clock;
	lane->last = from < TAG_MAX - cost ? from + (cost > 0 ? cost : 1) : TAG_MAX;
	q->records[slot] = (struct record){.id = job->id, .tag = lane->last};
}

static int64_t tag_of(const struct queues *q, tl_job_id id)
{
	uint32_t slot = TL_JOB_SLOT(id);
	return slot < q->record_room && q->records[slot].id == id ? q->records[slot].tag : TAG_MAX;
}

static void job_state_changed(void *self, const struct tl_job_view *job, enum tl_job_state from)
{
	struct queues *q = self;
	int starts = job->state == TL_JOB_SCHEDULED || job->state == TL_JOB_RUNNING;
	if (q->mode != MODE_WEIGHTED || from != TL_JOB_PENDING || !starts)
		return;
	int64_t tag = tag_of(q, job->id);
	if (tag < TAG_MAX && tag > q->clock)
		q->clock = tag;
}

static void keys(void *self, const struct tl_jobs *jobs, const tl_job_id *ids, uint32_t n,
                 int64_t now_ns, struct tl_key *out)
{
	const struct queues *q = self;
	(void)now_ns;
	for (uint32_t i = 0; i < n; i++) {
		out[i] = (struct tl_key){.valid_until_ns = TL_TIME_NEVER};
		if (q->mode == MODE_WEIGHTED) {
			out[i].key = tag_of(q, ids[i]);
			continue;
		}
		const struct tl_job_view *job = tl_jobs_at(jobs, ids[i]);
		int64_t queue = queue_of(q, job);
		out[i].key = q->reverse ? (int64_t)queue_total(q) - 1 - queue : queue;
		if (q->services_first)
			out[i].key = 2 * out[i].key + (job->service == TL_NO_INDEX);
	}
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct queues), self) != 0)
		return -1;
	struct queues *q = *self;
	q->host = host;
	q->mode = (enum mode)create->options[OPTION_MODE].i;
	q->by = (enum by)create->options[OPTION_BY].i;
	q->reverse = create->options[OPTION_REVERSE].i != 0;
	q->services_first = create->options[OPTION_SERVICES_FIRST].i != 0;
	for (uint32_t i = 0; i < OWN_QUEUES; i++)
		q->weights[i] = (uint32_t)create->options[OPTION_WEIGHT_0 + (int)i].i;
	return 0;
}

static const struct tl_observer_ops observer = {.struct_size = sizeof(observer),
                                                .job_submitted = job_submitted,
                                                .job_state_changed = job_state_changed};
static const struct tl_order_ops ops = {.struct_size = sizeof(ops), .keys = keys};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_ORDER),
    .name = "priority-queues",
    .version = "1.0",
    .summary = "several queues, shared by weight or strictly in order",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .observer = &observer,
    .ops = &ops,
};
