/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The standard scheduler: what its files share.
 *
 * One call of schedule() is: take in what changed (intake.c); one pass over the waiting
 * jobs (pass.c, easy.c, conservative.c; or reference.c, which does the same the plain way);
 * room made for the first that found none (claim.c); scale and defrag.
 *
 * The rules of a pass, in which both ways agree start by start:
 *  - Waiting jobs go by (key, sequence). A job that the gate holds is passed over, and with
 *    it the later ones of its tenant and shape.
 *  - In order, each job that fits starts. The first that does not is the head.
 *  - none: nothing behind the head starts. skip: whatever fits starts, in order.
 *  - easy: the head is promised the earliest instant at which it fits by estimates (running
 *    jobs leaving in order of expected end; an unknown end is never). A later job of known
 *    estimate starts if it fits and either ends by then or leaves the head its room then.
 *  - conservative: each waiting job in order, up to `depth` of them, is promised the earliest
 *    stretch that disturbs no earlier promise; it starts where that stretch begins now. A
 *    job of unknown estimate stays for ever, and never starts before an earlier one.
 *  - What a preemption frees is claimed for the job it was made for until that starts, or
 *    another becomes the head.
 */
#ifndef TIDELAB_PIPELINE_PIPELINE_H
#define TIDELAB_PIPELINE_PIPELINE_H

#include "policies/pipeline/hypo.h"
#include "policies/pipeline/queue.h"

enum tl_backfill { TL_BACKFILL_NONE, TL_BACKFILL_SKIP, TL_BACKFILL_EASY, TL_BACKFILL_CONSERVATIVE };

/* A placement with arrays of its own. */
struct tl_spot {
	struct tl_placement where;
};

/* A job that holds GPUs, by expected end. */
struct tl_leaving {
	int64_t end_ns;
	uint64_t sequence;
	tl_job_id id;
};

struct tl_leavers {
	struct tl_leaving *jobs; /* by (end, sequence) */
	uint32_t *places;        /* by slot: index + 1 */
	uint32_t count, room, place_room;
};

/* What is promised to the head under `easy`. */
struct tl_shadow {
	int known;                   /* computed in this pass */
	int64_t at_ns;               /* TL_TIME_NEVER: never by estimates */
	struct tl_scratch_view then; /* the machines at that instant, without the head */
	struct tl_spot spot;         /* where the head would go */
};

struct tl_claim {
	tl_job_id job; /* for whom; 0: no claim */
	struct tl_spot spot;
	struct tl_scratch_view rest; /* the live view without what is claimed */
	uint64_t rest_version;       /* of the live view it was made from; 0: stale */
	tl_job_id *victims;          /* still to be stopped, from `next` on */
	uint32_t victim_room, victim_count, next;
	int64_t step_ns, step_at_ns;
	enum tl_suspend_mode mode;
};

struct tl_promise;

/* The machines' future under `conservative`. */
struct tl_profile {
	struct tl_promise *events;
	struct tl_scratch_view base, at, over, low;
	uint32_t *numbers; /* nodes and GPUs of all placements in it */
	uint32_t event_room, event_count, number_room, number_count;
};

/* A waiting job in the plain way's list, or a candidate for eviction. */
struct tl_listed {
	tl_wide key; /* now */
	uint64_t sequence;
	tl_job_id id;
};

struct tl_pipeline {
	const struct tl_host *host;
	struct tl_seat seats[TL_SEAT_COUNT];
	const struct tl_order_ops *order;
	const struct tl_place_ops *place;
	const struct tl_admit_ops *admit; /* NULL: the seat is empty; so below */
	const struct tl_preempt_ops *preempt;
	const struct tl_scale_ops *scale;
	const struct tl_defrag_ops *defrag;

	enum tl_backfill backfill;
	uint32_t depth;
	int reference;
	int64_t defrag_every_ns;

	int64_t now_ns;
	int64_t wake_ns; /* the earliest wake this call asks for */
	int64_t defrag_at_ns;
	int broken;             /* memory was out: nothing is decided any more */
	tl_job_id head;         /* of this pass: the first in order that found no room; 0 */
	tl_job_id promised;     /* whose reservation the host has been told; 0 */
	uint64_t promised_hash; /* of when and where */

	struct tl_queue queue;
	struct tl_claim claim;
	struct tl_shadow shadow;
	struct tl_leavers leavers;
	struct tl_profile profile;
	struct tl_spot spot, spare; /* of the job in hand; of a dry run */
	struct tl_scratch_view trial, dry, drained;

	tl_job_id *ids;
	struct tl_key *keys;
	struct tl_listed *list;
	int64_t *list_keys;
	struct tl_scale_target *targets;
	uint32_t *cursors, *cursor_places; /* lanes of a walk, by lane */
	uint32_t *cursor_slots, *cursor_tested;
	struct tl_heap walk;
	tl_job_id *watched;      /* waiting jobs somebody asks about */
	struct tl_listed *plain; /* the plain way: waiting jobs in order, */
	tl_job_id *running;      /* running ones, */
	uint64_t *held;          /* and classes held in this pass */
	uint32_t id_room, key_room, list_room, list_key_room, target_room;
	uint32_t cursor_place_room, cursor_slot_room, cursor_tested_room;
	uint32_t watched_room, watched_count, held_room, held_count, plain_room, running_room;
};

enum tl_outcome { TL_STARTED, TL_NO_ROOM, TL_HELD };

/* Marks the instance broken and says so once. Returns -1. */
int tl_pipeline_break(struct tl_pipeline *p);

/* ---- seats.c: questions to the seats ------------------------------------------------ */

/* Room in a spot for any placement of the shape: 0 or -1. */
int tl_spot_reserve(struct tl_spot *spot, const struct tl_host *host, const struct tl_shape *shape);
/* 1 with the spot filled. */
int tl_pipeline_choose(struct tl_pipeline *p, const struct tl_view *view,
                       const struct tl_shape *shape, struct tl_spot *spot);
/* Whether the gate lets the job start. */
int tl_pipeline_admits(struct tl_pipeline *p, const struct tl_job_view *job);
/* Starts a job at p->spot. */
enum tl_outcome tl_pipeline_start(struct tl_pipeline *p, tl_job_id id);
/* Whether a job that found no room is dropped by the host: packing input. */
int tl_pipeline_drops(const struct tl_pipeline *p, tl_job_id id);
/* Keys of p->ids[0 … count) into p->keys: 0 or -1. */
int tl_pipeline_keys(struct tl_pipeline *p, uint32_t count);
const struct tl_shape *tl_pipeline_shape(const struct tl_pipeline *p, tl_job_id id);
/* When a job that holds GPUs leaves them by its estimate. */
int64_t tl_pipeline_end(const struct tl_pipeline *p, const struct tl_job_view *job);
/* Now + start-up + estimated time to go of a waiting job; TL_TIME_NEVER unknown. */
int64_t tl_pipeline_end_if_started(const struct tl_pipeline *p, const struct tl_job_view *job);
/* Tells the host what is promised to a waiting job, in place of what was promised before. */
void tl_pipeline_promise(struct tl_pipeline *p, tl_job_id id, int64_t at_ns,
                         const struct tl_spot *spot);
/* Withdraws what was promised to any other than this job. */
void tl_pipeline_unpromise(struct tl_pipeline *p, tl_job_id but);

/* ---- intake.c ------------------------------------------------------------------------ */

/* Takes in the changes and asks keys that are new or have expired: 0 or -1. */
int tl_intake(struct tl_pipeline *p, const struct tl_changes *changes);

/* ---- passes: 0, or -1 where memory is out ---------------------------------------------- */

int tl_pass_run(struct tl_pipeline *p);
int tl_easy_run(struct tl_pipeline *p, const struct tl_position *head);
int tl_reference_run(struct tl_pipeline *p);

/* A walk over the lanes that are not held (or only the open ones) in order, from after a
 * position on, over jobs whose estimate is at most so much. Starts or blocks in between call
 * for a new walk. */
int tl_walk_begin(struct tl_pipeline *p, const struct tl_position *after, int open_only,
                  int64_t most_ns);
/* The lane whose job is next (the job: p->cursor_slots[lane]); TL_NO_INDEX: none. */
uint32_t tl_walk_lane(const struct tl_pipeline *p);
/* Goes on in that lane, to at most so much; or leaves the lane. */
void tl_walk_next(struct tl_pipeline *p, int64_t most_ns);
void tl_walk_leave(struct tl_pipeline *p);

/* ---- shadow.c ---------------------------------------------------------------------------- */

/* Brings p->leavers up to date: who holds GPUs, by expected end. About O(holding): 0 or -1. */
int tl_leavers_sort(struct tl_pipeline *p);

/* Computes p->shadow for the head, unless known: 0 or -1. */
int tl_shadow_find(struct tl_pipeline *p);
/* Whether the head keeps its room at the shadow if the shape sits at p->spot from now on. */
int tl_shadow_keeps(struct tl_pipeline *p, const struct tl_shape *shape);
/* A job just started at p->spot stays beyond the shadow. */
void tl_shadow_take(struct tl_pipeline *p, const struct tl_shape *shape);

/* ---- profile.c, conservative.c ------------------------------------------------------------- */

/* The future as it stands: the live view, and who leaves when. */
int tl_profile_begin(struct tl_pipeline *p);
/* The start of the earliest stretch so long (TL_TIME_NEVER: for ever) in which the shape fits
 * in one place, p->spot, that no promise disturbs; TL_TIME_NEVER: none; -1: memory is out.
 * Now itself is looked at only if `now_too`. */
int64_t tl_profile_find(struct tl_pipeline *p, const struct tl_shape *shape, int64_t long_ns,
                        int now_too);
/* Promises p->spot over a stretch. From now on: to a job that has just started. 0 or -1. */
int tl_profile_take(struct tl_pipeline *p, const struct tl_shape *shape, int64_t at_ns,
                    int64_t long_ns);
int tl_conservative_run(struct tl_pipeline *p, const struct tl_position *head);

/* ---- claim.c --------------------------------------------------------------------------------- */

/* Drops the claim if it cannot come true; stops further victims when their time has come. */
int tl_claim_review(struct tl_pipeline *p);
/* The machines as this job may use them; NULL where memory is out. */
const struct tl_view *tl_claim_view(struct tl_pipeline *p, tl_job_id id);
void tl_claim_drop(struct tl_pipeline *p);
/* Makes room for p->head, whose key now is given. 1 if that let it start at once (its
 * victims were killed), 0, or -1. */
int tl_claim_make(struct tl_pipeline *p, tl_wide key);

/* ---- explain.c --------------------------------------------------------------------------------- */

void tl_explain_start(struct tl_pipeline *p, tl_job_id id);
void tl_explain_hold(struct tl_pipeline *p, tl_job_id id, const char *why);
/* Remembers a waiting job that somebody asks about: 0 or -1. */
int tl_explain_watch(struct tl_pipeline *p, tl_job_id id);
/* Says of each watched job why it still waits. */
void tl_explain_waiting(struct tl_pipeline *p);

#endif
