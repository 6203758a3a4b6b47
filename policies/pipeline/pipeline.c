/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The standard scheduler: options, set-up, and the round of one call. */
#include "policies/pipeline/pipeline.h"

#include "policies/lib/module.h"

#include <stdio.h>

enum {
	OPTION_BACKFILL,
	OPTION_DEPTH,
	OPTION_CLAIMS,
	OPTION_DEFRAG_EVERY,
	OPTION_PAIR_BELOW,
	OPTION_REFERENCE,
	OPTION_COUNT
};

enum { MOVES_A_CALL_MAX = 1000 };

static const struct tl_option options[OPTION_COUNT] = {
    [OPTION_BACKFILL] = {.name = "backfill",
                         .type = TL_OPTION_CHOICE,
                         .unit = "",
                         .standard = "easy",
                         .choices = "none|skip|easy|conservative",
                         .help =
                             "what may pass a job that does not fit: nothing, whatever fits (large "
                             "jobs can starve), what does not delay the first, or any waiting one"},
    [OPTION_DEPTH] = {.name = "depth",
                      .type = TL_OPTION_INT,
                      .unit = "jobs",
                      .standard = "64",
                      .min = 1,
                      .max = 1e6,
                      .help =
                          "jobs that conservative backfilling makes promises to; higher is fairer "
                          "and slower, lower leaves the rest waiting until their turn"},
    [OPTION_CLAIMS] = {.name = "claims",
                       .type = TL_OPTION_INT,
                       .unit = "jobs",
                       .standard = "64",
                       .min = 1,
                       .max = 1e5,
                       .help = "jobs that room is made for at a time; 1 lets a service that grows "
                               "by many replicas wait for one save after another, many "
                               "stop much at one instant and cost time in each pass"},
    [OPTION_DEFRAG_EVERY] =
	{.name = "defrag_every",
         .type = TL_OPTION_DURATION,
         .unit = "",
         .standard = "2h",
         .min = 1e9,
         .max = 3.2e16,
         .help = "how often the defrag seat is asked; too often costs more in moves "
                 "than whole nodes are worth, too seldom leaves room in pieces"},
    [OPTION_PAIR_BELOW] =
	{.name = "pair_below",
         .type = TL_OPTION_SHARE,
         .unit = "of a GPU",
         .standard = "1",
         .min = 0,
         .max = 1000,
         .help = "under oversubscription: measured utilisation up to which a job gets a second "
                 "tenant; low shares little, high slows both; 1 leaves all to the ratio"},
    [OPTION_REFERENCE] =
	{.name = "reference",
         .type = TL_OPTION_BOOL,
         .unit = "",
         .standard = "false",
         .help = "the same schedule without any shortcut: slow, to check the quick way"},
};

/* ---- scale, defrag ------------------------------------------------------------------------ */

/* Waiting and holding jobs: how many. */
static uint64_t count_jobs(const struct tl_pipeline *p)
{
	uint32_t waiting = 0, holding = 0;
	p->host->waiting(p->host, &waiting);
	p->host->holding(p->host, &holding);
	return (uint64_t)waiting << 32 | holding;
}

/* 1 where replicas have come or gone by it, of which the host tells in another call at this
 * instant; 0, or -1. */
static int run_scale(struct tl_pipeline *p, const struct tl_changes *changes)
{
	int changed = 0;
	if (p->scale == NULL || (changes->why & (TL_WHY_WINDOW | TL_WHY_WOKEN)) == 0)
		return 0;
	uint32_t services = p->host->service_count(p->host);
	int failed = 0;
	TL_GROW(p->host, p->targets, p->target_room, services + 1, failed);
	if (failed != 0)
		return tl_pipeline_break(p);
	uint32_t count = p->scale->targets(p->seats[TL_SEAT_SCALE].self, p->now_ns, changes,
	                                   p->targets, services);
	for (uint32_t i = 0; i < count && i < services; i++) {
		uint64_t before = count_jobs(p);
		p->host->scale(p->host, p->targets[i].service, p->targets[i].replicas);
		changed |= count_jobs(p) != before;
	}
	return changed;
}

/* The machines as moves may use them: without what is claimed, and without what is promised
 * to the head. NULL where memory is out. */
static const struct tl_view *defrag_view(struct tl_pipeline *p)
{
	const struct tl_view *view = tl_claim_view(p, 0);
	if (view == NULL || p->head == 0 || tl_claim_owned(p, p->head) ||
	    p->backfill < TL_BACKFILL_EASY)
		return view;
	p->shadow.known = 0;
	if (tl_shadow_find(p) != 0)
		return NULL;
	if (p->shadow.at_ns == TL_TIME_NEVER)
		return view;
	if (tl_scratch_copy(&p->trial, p->host, view) != 0)
		return NULL;
	tl_hypo_withhold(&p->trial, tl_pipeline_shape(p, p->head), &p->shadow.spot.where);
	return &p->trial.view;
}

static int run_defrag(struct tl_pipeline *p)
{
	if (p->defrag == NULL)
		return 0;
	if (p->now_ns >= p->defrag_at_ns) {
		p->defrag_at_ns = p->now_ns + p->defrag_every_ns;
		for (int i = 0; i < MOVES_A_CALL_MAX; i++) {
			struct tl_move move;
			const struct tl_view *view = defrag_view(p);
			if (view == NULL)
				return tl_pipeline_break(p);
			if (p->defrag->next(p->seats[TL_SEAT_DEFRAG].self, view, p->now_ns,
			                    &move) != 1 ||
			    p->host->migrate(p->host, move.job, &move.where) != TL_ACCEPTED)
				break;
			/* Its key as a running job is of no use any more. */
			if (tl_queue_forget(&p->queue, move.job) != 0)
				return tl_pipeline_break(p);
		}
	}
	/* Where nothing runs there is nothing to wake for. */
	uint32_t holding = 0;
	p->host->holding(p->host, &holding);
	if (holding > 0 && p->defrag_at_ns < p->wake_ns)
		p->wake_ns = p->defrag_at_ns;
	return 0;
}

/* ---- the round ------------------------------------------------------------------------------- */

static void schedule(void *self, const struct tl_changes *changes)
{
	struct tl_pipeline *p = self;
	if (p->broken)
		return;
	p->now_ns = p->host->now(p->host);
	p->wake_ns = TL_TIME_NEVER;
	p->shadow.known = 0;
	p->partners.known = 0;
	p->head = 0;
	int scaled = run_scale(p, changes);
	if (scaled < 0 || tl_intake(p, changes) != 0)
		return;
	/* Nobody takes the room of a replica that is asked for now, or makes any for one that is
	 * wanted no more. */
	if (scaled > 0 || tl_claim_review(p) != 0)
		return;
	if ((p->reference ? tl_reference_run(p) : tl_pass_run(p)) != 0)
		return;
	if (p->promised != p->head)
		tl_pipeline_unpromise(p, p->head);
	if (run_defrag(p) != 0)
		return;
	tl_explain_waiting(p);
	if (!p->reference && tl_queue_next_expiry(&p->queue) < p->wake_ns)
		p->wake_ns = tl_queue_next_expiry(&p->queue);
	if (tl_claim_wake(p) < p->wake_ns)
		p->wake_ns = tl_claim_wake(p);
	if (p->wake_ns != TL_TIME_NEVER && p->wake_ns > p->now_ns)
		p->host->wake_at(p->host, p->wake_ns);
}

/* ---- set-up ------------------------------------------------------------------------------------ */

static const void *open_seat(struct tl_pipeline *p, enum tl_seat_kind kind)
{
	p->seats[kind] = p->host->seat(p->host, kind);
	return p->seats[kind].module != NULL ? p->seats[kind].ops : NULL;
}

static int has_quota(const struct tl_host *host)
{
	uint32_t count = host->tenant_count(host);
	for (uint32_t i = 0; i < count; i++)
		if (host->tenant(host, i)->quota_mgpu >= 0)
			return 1;
	return 0;
}

static int create(const struct tl_host *host, const struct tl_create *create, void **self)
{
	if (tl_module_instance(host, create, sizeof(struct tl_pipeline), self) != 0)
		return -1;
	struct tl_pipeline *p = *self;
	p->host = host;
	p->backfill = (enum tl_backfill)create->options[OPTION_BACKFILL].i;
	p->depth = (uint32_t)create->options[OPTION_DEPTH].i;
	p->pair_below_milli = (int32_t)create->options[OPTION_PAIR_BELOW].i;
	p->defrag_every_ns = create->options[OPTION_DEFRAG_EVERY].i;
	p->reference = create->options[OPTION_REFERENCE].i != 0;
	p->defrag_at_ns = p->defrag_every_ns;
	p->claims.most = (uint32_t)create->options[OPTION_CLAIMS].i;
	p->claims.step_node = TL_NO_INDEX;
	p->order = open_seat(p, TL_SEAT_ORDER);
	p->place = open_seat(p, TL_SEAT_PLACE);
	p->admit = open_seat(p, TL_SEAT_ADMIT);
	p->preempt = open_seat(p, TL_SEAT_PREEMPT);
	/* Who stops nobody need not be asked, nor running jobs' keys be known. */
	if (p->preempt != NULL && strcmp(p->seats[TL_SEAT_PREEMPT].module->name, "none") == 0)
		p->preempt = NULL;
	p->scale = open_seat(p, TL_SEAT_SCALE);
	p->defrag = open_seat(p, TL_SEAT_DEFRAG);
	if (p->order == NULL || p->place == NULL)
		return tl_module_fail(
		    create, p->order == NULL ? "the order seat is empty: name a module for it"
					     : "the place seat is empty: name a module for it");
	int gated = p->admit != NULL && p->admit->gate != NULL;
	tl_queue_init(&p->queue, host, gated || has_quota(host));
	return 0;
}

static const struct tl_scheduler_ops ops = {.struct_size = sizeof(ops), .schedule = schedule};

TL_MODULE = {
    TL_MODULE_HEAD(TL_SEAT_SCHEDULER),
    .name = "pipeline",
    .version = "1.0",
    .summary =
	"the standard scheduler: asks the admit, order, place, preempt, scale and defrag seats in turn",
    .options = options,
    .option_count = OPTION_COUNT,
    .option_stride = sizeof(struct tl_option),
    .create = create,
    .ops = &ops,
};
